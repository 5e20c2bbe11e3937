/* SPDX-License-Identifier: GPL-2.0-only */
/* hold.h - what hold.bpf.c tells hold.c. */
#pragma once

#include <linux/types.h>

#define HOLD_NS 1000000ull /* that each takes */
#define HOLD_MOST 1024

struct hold {
	__u64 cpu, begin_ns, end_ns; /* end_ns 0: not known */
};

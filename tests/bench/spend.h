/* SPDX-License-Identifier: GPL-2.0-only */
/* spend.h - takes time in a BPF program. */
#pragma once

#include "bpf/compat.h"

#define MOST_LOOKS (1 << 22) /* at the clock: some 100 ms */

static long look(__u32 index, __u64 *until_ns)
{
	return bpf_ktime_get_ns() >= *until_ns;
}

static __always_inline void spend_until(__u64 ns)
{
	bpf_loop(MOST_LOOKS, look, &ns, 0);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* flows_naive.h - what flows_naive.c tells the programs of flows_naive.bpf.c. */
#pragma once

#include "schema/flow_key.h"

#define NAIVE_ROWS 4
#define NAIVE_COLUMNS 512 /* a power of two */

struct naive_config {
	__u64 draw_below; /* a row is updated if a random number of 32 bits is below: p * 2^32 */
	struct nt_flow_hash hashes[NAIVE_ROWS];
};

/* SPDX-License-Identifier: GPL-2.0-only */
/* histogram.h - the keys of the histograms that histogram.bpf.c keeps and histogram.c adds up. */
#pragma once

#include "schema/event.h"

#define MAX_BUCKET 34
#define SUM_BUCKET (MAX_BUCKET + 1) /* holds the sum of the latencies, in ns */

struct bucket_key {
	__u64 cgroup;
	__u32 ifindex;
	__u16 hook;
	__u16 bucket;
};

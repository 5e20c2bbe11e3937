/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recent.h - what programs, cgroups and ports cost in the last minutes, and how many records were read and lost. In
 * slots of time, of which the oldest falls out when it has become too old. Pure.
 *
 * Memory: of each slot and kind, NT_RECENT_NAMES names at most. What others cost there counts as `other`.
 */
#pragma once

#include <stdint.h>

#include "report/export/prometheus/parts.h"

#define NT_RECENT_SLOTS 60
#define NT_RECENT_NAMES 256

struct nt_recent_slot {
	int64_t from_ts, to_ts;
	double records, lost;
	struct nt_prometheus_groups groups[NT_PROMETHEUS_KINDS]; /* of struct nt_prometheus_cost */
};

/* Zero-initialise but for the span. Owner frees with nt_recent_release. */
struct nt_recent {
	int64_t span_ns; /* so long is remembered, and up to one part of it of NT_RECENT_SLOTS more */
	struct nt_recent_slot slots[NT_RECENT_SLOTS + 2]; /* from the oldest on */
	size_t n;
};

/* What came at the end: news->groups, and what they are of, up to news->to_ts. 0 or -ENOMEM. */
int nt_recent_add(struct nt_recent *recent, const struct nt_recent_slot *news);
/* All slots together; the caller's to release. 0 or -ENOMEM: *sum is empty. */
int nt_recent_sum(const struct nt_recent *recent, struct nt_recent_slot *sum);
void nt_recent_slot_release(struct nt_recent_slot *slot);
void nt_recent_release(struct nt_recent *recent);

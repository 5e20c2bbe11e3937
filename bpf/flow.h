/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flow.h - the keys of flows, the places where those that were sent are remembered, and how many new ones may be sent:
 * a bound for each, whatever comes. Pure: the programs and their test share it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bpf/shared.h"

static __always_inline __u32 nt_flow_set_of(__u64 key)
{
	return key >> 1 & (NT_FLOW_SETS - 1);
}

/* NULL: the flow has no place. */
static __always_inline struct nt_seen_flow *nt_flow_find(struct nt_flow_set *set, __u64 key)
{
	for (__u32 i = 0; i < NT_FLOW_WAYS; i++) {
		if (set->ways[i].flow == key)
			return &set->ways[i];
	}
	return NULL;
}

/* The flow has been looked for. Of a busy one nothing is written: several CPUs read it. */
static __always_inline void nt_flow_use(struct nt_seen_flow *seen)
{
	if (seen->uses < NT_FLOW_MAX_USES)
		seen->uses++;
}

/*
 * The place for a flow that has none: a free one, else that of the flow with the fewest uses. These are then taken from
 * all, and one more at each fourth such call. So a flow of few packets drives out others like it; flows that go on
 * stay; and one that has ended goes some time.
 */
static __always_inline struct nt_seen_flow *nt_flow_victim(struct nt_flow_set *set)
{
	__u32 first = set->n_driven_out, victim = first & (NT_FLOW_WAYS - 1), less;

	for (__u32 i = 0; i < NT_FLOW_WAYS; i++) {
		if (!set->ways[i].flow)
			return &set->ways[i];
	}
	for (__u32 i = 1; i < NT_FLOW_WAYS; i++) {
		__u32 way = (first + i) & (NT_FLOW_WAYS - 1);

		if (set->ways[way].uses < set->ways[victim & (NT_FLOW_WAYS - 1)].uses)
			victim = way;
	}
	victim &= NT_FLOW_WAYS - 1;
	less = set->ways[victim].uses + !(set->n_driven_out++ & 3);
	for (__u32 i = 0; i < NT_FLOW_WAYS && less; i++)
		set->ways[i].uses = set->ways[i].uses > less ? set->ways[i].uses - less : 0;
	set->ways[victim].uses = 0;
	return &set->ways[victim];
}

/* Whether one more may be written in this second (of 2^30 ns). `n`: the number of its sort in the budget. */
static __always_inline bool nt_flow_may_add(struct nt_flow_budget *budget, __u64 now_ns, __u32 *n, __u32 most)
{
	__u64 second = now_ns >> 30;

	if (budget->second != second) {
		budget->second = second;
		budget->n_flows = budget->n_local = budget->n_bound = budget->n_connected = 0;
	}
	if (*n >= most)
		return false;
	++*n;
	return true;
}

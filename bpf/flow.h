/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flow.h - the keys of flows, the places where those that were sent are remembered, and how many new ones may be sent:
 * a bound for each, whatever comes. Pure: the programs and their test share it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bpf/shared.h"

#define NT_AF_INET6 10

/*
 * Multiply-shift for vectors (Dietzfelbinger 1996): of all factors, one in 2^32 gives two flows the same half. IPv4 has
 * fewer words that are not 0.
 */
static __always_inline __u32 nt_flow_half(const volatile struct nt_flow_hash *hash, const struct nt_flow_tuple *tuple,
					  enum nt_many many)
{
	const volatile __u64 *factors = hash->factors;
	bool is_v6 = tuple->family == NT_AF_INET6;
	__u64 sum = hash->addend;

	sum += factors[0] * many + factors[1] * (__u32)tuple->device + factors[2] * (tuple->device >> 32);
	if (many == NT_MANY_DEVICE)
		return sum >> 32;
	sum += factors[3] * (tuple->ethertype | (__u32)tuple->family << 16 | (__u32)tuple->protocol << 24);
	sum += factors[4] * (many ? tuple->ports >> 16 : tuple->ports) + factors[5] * (__u32)tuple->dst[0];
	if (is_v6)
		sum += factors[6] * (tuple->dst[0] >> 32) + factors[7] * (__u32)tuple->dst[1] +
		       factors[8] * (tuple->dst[1] >> 32);
	if (many)
		return sum >> 32;
	sum += factors[9] * (__u32)tuple->src[0];
	if (is_v6)
		sum += factors[10] * (tuple->src[0] >> 32) + factors[11] * (__u32)tuple->src[1] +
		       factors[12] * (tuple->src[1] >> 32);
	return sum >> 32;
}

/*
 * The key of the flow that a packet is counted with, never 0. Two flows of one key would show as one: among a million,
 * once in 18 million recordings. Nobody can make such who does not know the factors.
 */
static __always_inline __u64 nt_flow_key(const volatile struct nt_flow_hash hashes[2],
					 const struct nt_flow_tuple *tuple, enum nt_many many)
{
	return ((__u64)nt_flow_half(&hashes[0], tuple, many) << 32 | nt_flow_half(&hashes[1], tuple, many)) | 1;
}

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

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * bios.h - the places where bios are noted until their requests complete. Without a lock: of one bio only one CPU
 * writes at a time, as the kernel hands it on. Pure: the programs and their test share it.
 */
#pragma once

#include <stdbool.h>

#include "bpf/shared.h"

static __always_inline __u32 nt_bio_set_of(__u64 key)
{
	return (__u32)(key * 0x9e3779b97f4a7c15ull >> 40) & (NT_BIO_SETS - 1);
}

/* Where it stands; NT_BIO_WAYS: it is not noted. */
static __always_inline __u32 nt_bio_find(const struct nt_bio_set *set, __u64 key)
{
	__u32 way = 0;

	while (way < NT_BIO_WAYS && set->keys[way] != key)
		way++;
	return way;
}

/*
 * Whether this one makes room for another before that one does: what is merged into another's request is never issued.
 */
static __always_inline bool nt_bio_goes_before(const struct nt_noted_bio *one, const struct nt_noted_bio *other)
{
	if (!one->issue_ns != !other->issue_ns)
		return !one->issue_ns;
	return one->queue_ns < other->queue_ns;
}

/* Its place: the one that it has, a free one, or that of another, which is no longer noted. */
static __always_inline __u32 nt_bio_place(struct nt_bio_set *set, __u64 key)
{
	__u32 victim = nt_bio_find(set, key);

	if (victim < NT_BIO_WAYS)
		return victim;
	victim = 0;
	for (__u32 way = 0; way < NT_BIO_WAYS; way++) {
		/* Another CPU may want the same place. */
		if (!set->keys[way] && !__sync_val_compare_and_swap(&set->keys[way], 0, key))
			return way;
		if (nt_bio_goes_before(&set->ways[way], &set->ways[victim]))
			victim = way;
	}
	set->keys[victim] = key;
	return victim;
}

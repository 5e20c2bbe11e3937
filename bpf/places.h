/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * places.h - a set of places where what is on its way is noted, by a key that is a kernel address. Without a lock: of
 * one key only one CPU writes at a time, as the kernel hands on what it stands for. Pure: the programs and their test
 * share it.
 */
#pragma once

#include <stdbool.h>

#include "bpf/shared.h"

/* In which of so many sets, a power of two, a key has its place. */
static __always_inline __u32 nt_places_set_of(__u64 key, __u32 n_sets)
{
	return (__u32)(key * 0x9e3779b97f4a7c15ull >> 40) & (n_sets - 1);
}

/* Where it stands; NT_PLACES: it is not noted. */
static __always_inline __u32 nt_places_find(const struct nt_places *places, __u64 key)
{
	__u32 way = 0;

	while (way < NT_PLACES && places->keys[way] != key)
		way++;
	return way;
}

/* Its place: the one that it has, a free one, or that of the one with the least age, which is no longer noted. */
static __always_inline __u32 nt_places_take(struct nt_places *places, __u64 key, __u64 age)
{
	__u32 victim = nt_places_find(places, key);

	if (victim == NT_PLACES) {
		victim = 0;
		for (__u32 way = 0; way < NT_PLACES; way++) {
			/* Another CPU may want the same place. */
			if (!places->keys[way] && !__sync_val_compare_and_swap(&places->keys[way], 0, key)) {
				victim = way;
				break;
			}
			if (places->ages[way] < places->ages[victim])
				victim = way;
		}
		places->keys[victim & (NT_PLACES - 1)] = key;
	}
	victim &= NT_PLACES - 1;
	places->ages[victim] = age;
	return victim;
}

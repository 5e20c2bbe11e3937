/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * places.h - a set of places where what is on its way is noted, by a key that is a kernel address. Without a lock: of
 * one key only one CPU writes at a time, as the kernel hands on what it stands for. Where several may, a key can get
 * two places, and the first is found. Pure: the programs and their test share it.
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
static __always_inline __u32 nt_places_find(const __u64 keys[NT_PLACES], __u64 key)
{
	__u32 way = 0;

	while (way < NT_PLACES && keys[way] != key)
		way++;
	return way;
}

/* What is noted begins with its age: the time, and above it what must stay for longer. */
static __always_inline __u64 nt_places_age(const void *ways, __u32 size, __u32 way)
{
	return *(const __u64 *)((const char *)ways + way * size);
}

/*
 * Its place: the one that it has, a free one, or that of the one with the least age, which is no longer noted. `ways`:
 * what is noted at the places, `size` bytes each.
 */
static __always_inline __u32 nt_places_take(__u64 keys[NT_PLACES], const void *ways, __u32 size, __u64 key)
{
	__u32 victim = nt_places_find(keys, key);

	if (victim < NT_PLACES)
		return victim;
	victim = 0;
	for (__u32 way = 0; way < NT_PLACES; way++) {
		/* Another CPU may want the same place. */
		if (!keys[way] && !__sync_val_compare_and_swap(&keys[way], 0, key))
			return way;
		if (nt_places_age(ways, size, way) < nt_places_age(ways, size, victim & (NT_PLACES - 1)))
			victim = way;
	}
	victim &= NT_PLACES - 1;
	keys[victim] = key;
	return victim;
}

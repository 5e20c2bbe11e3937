/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * id_map.h - from the ids of a tape to numbers. Ids are dense on an honest tape, which this is made for
 * (8.5 bytes an id), and anything on a hostile one, which it survives (160 bytes an id): a number drawn for each map
 * decides where an id is looked for, so that nobody can write a tape whose ids are all looked for in one place.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/util/array.h"

#define NT_ID_PAGE 16

struct nt_id_page {
	uint64_t number; /* id / NT_ID_PAGE */
	uint64_t values[NT_ID_PAGE]; /* 0: absent */
};

/* Zero-initialised is empty. Owner frees with nt_id_map_release. */
struct nt_id_map {
	struct nt_id_page *pages;
	size_t n_pages, pages_size;
	uint32_t *slots; /* page index + 1, found by hash; a power of two of them */
	size_t n_slots;
	uint64_t key; /* drawn with the first page */
	size_t last; /* the page found last */
};

/* The value of an id, 0 when it has none. */
uint64_t nt_id_map_get(struct nt_id_map *map, uint64_t id);
/* Where the value of an id stands, to be read or set, good until the next call; NULL: out of memory. */
uint64_t *nt_id_map_at(struct nt_id_map *map, uint64_t id);
/* The value of an id, where values are numbers from 1 on: one without a value gets ++*n. 0: out of memory. */
uint64_t nt_id_map_number(struct nt_id_map *map, uint64_t id, uint64_t *n);
/* 0 or -ENOMEM. */
int nt_id_map_set(struct nt_id_map *map, uint64_t id, uint64_t value);
void nt_id_map_release(struct nt_id_map *map);
/*
 * The index of the id's element in `array`, which has n elements and room for `size`; -1: out of memory. An id that has
 * none gets a new one, with what follows in braces. The map holds indexes + 1.
 */
#define NT_INDEX(map, id, array, size, n, ...)                                                                         \
	({                                                                                                             \
		uint64_t *index_ = nt_id_map_at(map, id);                                                              \
		if (index_ && !*index_ && !NT_ROOM(array, size, (n) + 1)) {                                            \
			(array)[n] = (__typeof__(*(array)))__VA_ARGS__;                                                \
			*index_ = ++(n);                                                                               \
		}                                                                                                      \
		index_ ? (int64_t)*index_ - 1 : -1;                                                                    \
	})
/*
 * Calls visit with each id that has a value, in no special order, until it gives non-zero; that, or 0.
 * visit may change the value through nt_id_map_at for ids that have one.
 */
int nt_id_map_each(const struct nt_id_map *map, int (*visit)(void *arg, uint64_t id, uint64_t value), void *arg);

// SPDX-License-Identifier: GPL-2.0-only
/*
 * id_map.c - see id_map.h: pages of 16 values, found through a hash of the page's number.
 */
#include "report/util/id_map.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "report/util/array.h"

/* As splitmix64 mixes. */
static size_t slot_of(const struct nt_id_map *map, uint64_t number)
{
	number = (number ^ map->key) * 0xbf58476d1ce4e5b9ull;
	number = (number ^ number >> 31) * 0x94d049bb133111ebull;
	return (size_t)(number ^ number >> 32) & (map->n_slots - 1);
}

/* Without random numbers an address has to do, which is no secret but not the tape's choice either. */
static uint64_t draw_key(const struct nt_id_map *map)
{
	uint64_t key;

	return getrandom(&key, sizeof(key), GRND_NONBLOCK) == sizeof(key) ? key : (uintptr_t)map;
}

static struct nt_id_page *find(struct nt_id_map *map, uint64_t number)
{
	if (!map->n_pages)
		return NULL;
	if (map->pages[map->last].number == number)
		return &map->pages[map->last];
	for (size_t slot = slot_of(map, number); map->slots[slot]; slot = (slot + 1) & (map->n_slots - 1)) {
		size_t index = map->slots[slot] - 1;

		if (map->pages[index].number == number) {
			map->last = index;
			return &map->pages[index];
		}
	}
	return NULL;
}

static void fill_slot(struct nt_id_map *map, size_t index)
{
	size_t slot = slot_of(map, map->pages[index].number);

	while (map->slots[slot])
		slot = (slot + 1) & (map->n_slots - 1);
	map->slots[slot] = (uint32_t)index + 1;
}

/* Makes room for one more page: slots are kept at most half full. */
static int grow(struct nt_id_map *map)
{
	uint32_t *slots;

	if (map->n_pages == UINT32_MAX / 2 || NT_ROOM(map->pages, map->pages_size, map->n_pages + 1))
		return -1;
	if (map->n_pages < map->n_slots / 2)
		return 0;
	if (!map->n_pages)
		map->key = draw_key(map);
	slots = calloc(map->pages_size * 2, sizeof(*slots));
	if (!slots)
		return -1;
	free(map->slots);
	map->slots = slots;
	map->n_slots = map->pages_size * 2;
	for (size_t i = 0; i < map->n_pages; i++)
		fill_slot(map, i);
	return 0;
}

uint64_t nt_id_map_get(struct nt_id_map *map, uint64_t id)
{
	struct nt_id_page *page = find(map, id / NT_ID_PAGE);

	return page ? page->values[id % NT_ID_PAGE] : 0;
}

uint64_t *nt_id_map_at(struct nt_id_map *map, uint64_t id)
{
	uint64_t number = id / NT_ID_PAGE;
	struct nt_id_page *page = find(map, number);

	if (!page) {
		if (grow(map))
			return NULL;
		map->last = map->n_pages++;
		page = &map->pages[map->last];
		*page = (struct nt_id_page){.number = number};
		fill_slot(map, map->last);
	}
	return &page->values[id % NT_ID_PAGE];
}

uint64_t nt_id_map_number(struct nt_id_map *map, uint64_t id, uint64_t *n)
{
	uint64_t *number = nt_id_map_at(map, id);

	if (number && !*number)
		*number = ++*n;
	return number ? *number : 0;
}

int nt_id_map_set(struct nt_id_map *map, uint64_t id, uint64_t value)
{
	uint64_t *at = nt_id_map_at(map, id);

	if (!at)
		return -ENOMEM;
	*at = value;
	return 0;
}

void nt_id_map_release(struct nt_id_map *map)
{
	free(map->pages);
	free(map->slots);
	*map = (struct nt_id_map){0};
}

int nt_id_map_each(const struct nt_id_map *map, int (*visit)(void *arg, uint64_t id, uint64_t value), void *arg)
{
	for (size_t i = 0; i < map->n_pages; i++) {
		for (unsigned int k = 0; k < NT_ID_PAGE; k++) {
			uint64_t value = map->pages[i].values[k];
			int error = value ? visit(arg, map->pages[i].number * NT_ID_PAGE + k, value) : 0;

			if (error)
				return error;
		}
	}
	return 0;
}

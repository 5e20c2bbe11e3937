// SPDX-License-Identifier: GPL-2.0-only
/*
 * arena.c - see arena.h: a list of parts that are filled one after another.
 */
#include "report/arena.h"

#include <stdlib.h>

#define PART_SIZE 16384

struct nt_arena_part {
	struct nt_arena_part *next;
	size_t used, size;
	char data[];
};

static struct nt_arena_part *add_part(struct nt_arena *arena, size_t size)
{
	struct nt_arena_part *part;

	if (size < PART_SIZE)
		size = PART_SIZE;
	part = malloc(sizeof(*part) + size);
	if (!part) {
		arena->failed = true;
		return NULL;
	}
	part->used = 0;
	part->size = size;
	part->next = NULL;
	if (arena->current) {
		part->next = arena->current->next;
		arena->current->next = part;
	} else {
		arena->first = part;
	}
	arena->current = part;
	return part;
}

char *nt_arena_get(struct nt_arena *arena, size_t size)
{
	struct nt_arena_part *part = arena->current;
	char *piece;

	while (part && part->size - part->used < size) {
		if (!part->next)
			break;
		part = part->next;
		arena->current = part;
	}
	if (!part || part->size - part->used < size)
		part = add_part(arena, size);
	if (!part)
		return NULL;
	piece = part->data + part->used;
	part->used += size;
	return piece;
}

void nt_arena_reset(struct nt_arena *arena)
{
	for (struct nt_arena_part *part = arena->first; part; part = part->next)
		part->used = 0;
	arena->current = arena->first;
}

void nt_arena_release(struct nt_arena *arena)
{
	struct nt_arena_part *part = arena->first;

	while (part) {
		struct nt_arena_part *next = part->next;

		free(part);
		part = next;
	}
	arena->first = arena->current = NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * arena.c - see arena.h: a list of parts that are filled one after another.
 */
#include "report/util/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *nt_arena_format(struct nt_arena *arena, const char *format, ...)
{
	char text[512];
	va_list args;
	int size;
	char *copy;

	va_start(args, format);
	size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (size < 0)
		return NULL;
	if ((size_t)size >= sizeof(text))
		size = sizeof(text) - 1;
	copy = nt_arena_get(arena, (size_t)size + 1);
	if (copy)
		memcpy(copy, text, (size_t)size + 1);
	if (copy)
		copy[size] = 0;
	return copy;
}

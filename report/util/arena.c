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

/* Behind the current one. */
static struct nt_arena_part *add_part(struct nt_arena *arena, size_t size)
{
	struct nt_arena_part **link = arena->current ? &arena->current->next : &arena->first, *part;

	if (size < PART_SIZE)
		size = PART_SIZE;
	part = malloc(sizeof(*part) + size);
	if (!part) {
		arena->failed = true;
		return NULL;
	}
	*part = (struct nt_arena_part){.next = *link, .size = size};
	*link = part;
	return part;
}

char *nt_arena_get(struct nt_arena *arena, size_t size)
{
	struct nt_arena_part *part = arena->current;

	while (part && part->size - part->used < size)
		part = part->next;
	if (!part)
		part = add_part(arena, size);
	if (!part)
		return NULL;
	arena->current = part;
	part->used += size;
	return part->data + part->used - size;
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
	char *copy;
	int size;

	va_start(args, format);
	size = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	copy = size < 0 ? NULL : nt_arena_get(arena, strlen(text) + 1);
	return copy ? strcpy(copy, text) : NULL;
}

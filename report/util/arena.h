/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arena.h - memory for the texts of rows: many small pieces that live and die together. Pieces never
 * move. Not shared between threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct nt_arena_part;

/* Zero-initialised is empty. Owner frees with nt_arena_release. */
struct nt_arena {
	struct nt_arena_part *first, *current;
	bool failed; /* memory ran out at some time */
};

/* `size` bytes, not cleared, good until the next reset; NULL: out of memory. */
char *nt_arena_get(struct nt_arena *arena, size_t size);
/* Gives up all pieces at once and keeps the memory for the next. */
void nt_arena_reset(struct nt_arena *arena);
void nt_arena_release(struct nt_arena *arena);
/* As printf, into the arena, up to 511 bytes. NULL: out of memory. */
const char *nt_arena_format(struct nt_arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

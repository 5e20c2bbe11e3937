/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * utf8.h - texts of a tape, which may hold any bytes, as valid UTF-8. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/util/arena.h"

/* How many bytes the valid UTF-8 character at `text` has; 0: not one. size > 0. */
size_t nt_utf8_length(const char *text, size_t size);
/* The code point of a valid character. */
uint32_t nt_utf8_code(const char *text, size_t length);
/*
 * Whether a code point has no picture of its own but does something to what stands around it: controls (ISO 6429, which
 * terminals obey), marks that turn the direction of text or take no room, ends of lines. A name that holds one could
 * pass for another.
 */
bool nt_utf8_is_control(uint32_t code);
/*
 * A copy in the arena that is valid UTF-8: ends at the first zero byte or after `size` bytes; each byte that is no
 * UTF-8 becomes U+FFFD. NULL: out of memory.
 */
const char *nt_arena_clean(struct nt_arena *arena, const char *text, size_t size);

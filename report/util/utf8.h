/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * utf8.h - texts of a tape, which may hold any bytes, as valid UTF-8. Pure.
 */
#pragma once

#include <stddef.h>

#include "report/util/arena.h"

/* How many bytes the valid UTF-8 character at `text` has; 0: not one. size > 0. */
size_t nt_utf8_length(const char *text, size_t size);
/*
 * A copy in the arena that is valid UTF-8: ends at the first zero byte or after `size` bytes; each byte that is no
 * UTF-8 becomes U+FFFD. NULL: out of memory.
 */
const char *nt_arena_clean(struct nt_arena *arena, const char *text, size_t size);

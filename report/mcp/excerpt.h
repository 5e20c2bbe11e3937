/* SPDX-License-Identifier: GPL-2.0-only */
/* excerpt.h - a text that is too long to read, without its middle. Pure. */
#pragma once

#include <stddef.h>

/*
 * A copy, if it is no longer than `most` bytes; else its first and last lines, and between them how much is left out.
 * *cut_size is about `most` at most. The caller frees it. NULL: out of memory.
 */
char *nt_mcp_excerpt(const char *text, size_t size, size_t most, size_t *cut_size);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ends.h - whether a text ends in another: a column's unit is the end of its name.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

static inline bool nt_ends_in(const char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);

	return size >= end_size && !strcmp(text + size - end_size, end);
}

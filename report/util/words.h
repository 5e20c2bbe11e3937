/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * words.h - whether a word stands in a list like "sched,socket".
 */
#pragma once

#include <stdbool.h>
#include <string.h>

static inline bool nt_has_word(const char *list, const char *word)
{
	const size_t size = strlen(word);

	while (*list) {
		const size_t length = strcspn(list, ",");

		if (length == size && !memcmp(list, word, size))
			return true;
		list += length + (list[length] == ',');
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * texts.c - see texts.h.
 */
#include "report/texts.h"

#include <stdlib.h>
#include <string.h>

void nt_texts_release(struct nt_texts *texts)
{
	free(texts->bytes);
	free(texts->entries);
	free(texts->slots);
	*texts = (struct nt_texts){0};
}

void nt_texts_reset(struct nt_texts *texts)
{
	texts->n = 0;
	texts->n_bytes = 0;
	if (texts->slots)
		memset(texts->slots, 0, texts->n_slots * sizeof(*texts->slots));
}

/* FNV-1a. A tape with texts of one hash makes this slow and nothing else: as many texts as are kept are few. */
static uint64_t hash_of(const char *text, size_t *size)
{
	uint64_t hash = 0xcbf29ce484222325;
	size_t i = 0;

	for (; text[i]; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3;
	*size = i;
	return hash ^ hash >> 29;
}

static uint32_t *find_slot(const struct nt_texts *texts, const char *text, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & (texts->n_slots - 1);

	for (;; at = (at + 1) & (texts->n_slots - 1)) {
		uint32_t number = texts->slots[at];

		if (!number || (texts->entries[number - 1].hash == hash &&
				!strcmp(texts->bytes + texts->entries[number - 1].at, text)))
			return &texts->slots[at];
	}
}

static bool grow_slots(struct nt_texts *texts)
{
	const uint32_t n_slots = texts->n_slots ? 2 * texts->n_slots : 64;
	uint32_t *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return false;
	free(texts->slots);
	texts->slots = slots;
	texts->n_slots = n_slots;
	for (uint32_t i = 0; i < texts->n; i++) {
		uint32_t at = (uint32_t)texts->entries[i].hash & (n_slots - 1);

		while (slots[at])
			at = (at + 1) & (n_slots - 1);
		slots[at] = i + 1;
	}
	return true;
}

static bool grow_entries(struct nt_texts *texts)
{
	const uint32_t size = texts->entries_size ? 2 * texts->entries_size : 64;
	struct nt_texts_entry *entries = reallocarray(texts->entries, size, sizeof(*entries));

	if (!entries)
		return false;
	texts->entries = entries;
	texts->entries_size = size;
	return true;
}

static bool grow_bytes(struct nt_texts *texts, size_t more)
{
	const size_t size = 2 * texts->bytes_size + more + 1024;
	char *bytes = realloc(texts->bytes, size);

	if (!bytes)
		return false;
	texts->bytes = bytes;
	texts->bytes_size = size;
	return true;
}

uint32_t nt_texts_number(struct nt_texts *texts, const char *text, bool *is_new)
{
	size_t size;
	const uint64_t hash = hash_of(text, &size);
	uint32_t *slot = texts->n_slots ? find_slot(texts, text, hash) : NULL;

	*is_new = false;
	if (slot && *slot)
		return *slot;
	if ((texts->n == texts->entries_size && !grow_entries(texts)) ||
	    (texts->n_bytes + size >= texts->bytes_size && !grow_bytes(texts, size)) ||
	    (2 * texts->n >= texts->n_slots && !grow_slots(texts)))
		return 0;
	slot = find_slot(texts, text, hash);
	memcpy(texts->bytes + texts->n_bytes, text, size + 1);
	texts->entries[texts->n] = (struct nt_texts_entry){texts->n_bytes, hash};
	texts->n_bytes += size + 1;
	*slot = ++texts->n;
	*is_new = true;
	return texts->n;
}

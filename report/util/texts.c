// SPDX-License-Identifier: GPL-2.0-only
/*
 * texts.c - see texts.h.
 */
#include "report/util/texts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "report/util/array.h"

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

/* Without random numbers an address has to do, which is no secret but not the tape's choice either. */
static void draw_key(struct nt_texts *texts)
{
	if (getrandom(texts->key, sizeof(texts->key), GRND_NONBLOCK) != sizeof(texts->key))
		texts->key[0] = (uintptr_t)texts;
}

/* ---- SipHash (Aumasson, Bernstein: SipHash, a fast short-input PRF, 2012), 1 and 3 rounds, as the kernel has it ----
 */

static uint64_t turn(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static void mix(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = turn(v[1], 13) ^ v[0];
	v[3] = turn(v[3], 16) ^ v[2];
	v[0] = turn(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = turn(v[1], 17) ^ v[2];
	v[3] = turn(v[3], 21) ^ v[0];
	v[2] = turn(v[2], 32);
}

static void mix_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	mix(v);
	v[0] ^= word;
}

/* A hash that starts from a key only at its begin will not do: with FNV texts that collide do so from any start. */
static uint64_t hash_of(const struct nt_texts *texts, const char *text, size_t size)
{
	const uint64_t *key = texts->key;
	uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
			 key[1] ^ 0x7465646279746573};
	uint64_t word;
	size_t at = 0;

	for (; size - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, text + at, sizeof(word));
		mix_word(v, word);
	}
	word = (uint64_t)size << 56;
	for (unsigned int shift = 0; at < size; at++, shift += 8)
		word |= (uint64_t)(unsigned char)text[at] << shift;
	mix_word(v, word);
	v[2] ^= 0xff;
	for (unsigned int i = 0; i < 3; i++)
		mix(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint32_t *find_slot(const struct nt_texts *texts, const char *text, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & (texts->n_slots - 1);

	for (;; at = (at + 1) & (texts->n_slots - 1)) {
		uint32_t number = texts->slots[at];

		if (!number || (texts->entries[number - 1].hash == hash && !strcmp(nt_texts_text(texts, number), text)))
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

uint32_t nt_texts_number(struct nt_texts *texts, const char *text, bool *is_new)
{
	const size_t size = strlen(text);
	uint64_t hash;
	uint32_t *slot;

	*is_new = false;
	if (!texts->n_slots) {
		draw_key(texts);
		if (!grow_slots(texts))
			return 0;
	}
	hash = hash_of(texts, text, size);
	slot = find_slot(texts, text, hash);
	if (*slot)
		return *slot;
	if (NT_ROOM(texts->entries, texts->entries_size, texts->n + 1) ||
	    NT_ROOM(texts->bytes, texts->bytes_size, texts->n_bytes + size + 1) ||
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

const char *nt_texts_text(const struct nt_texts *texts, uint32_t number)
{
	return texts->bytes + texts->entries[number - 1].at;
}

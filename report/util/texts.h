/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * texts.h - gives each different text a number: 1, 2, 3, .... Pure. For formats that write a text once and its number
 * after that. A key drawn for each set decides where a text is looked for, so that nobody can write a tape whose texts
 * are all looked for in one place.
 */
#ifndef NT_REPORT_UTIL_TEXTS_H
#define NT_REPORT_UTIL_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty. Owner frees with nt_texts_release. */
struct nt_texts {
	char *bytes; /* of all texts, each with its zero */
	size_t n_bytes, bytes_size;
	struct nt_texts_entry {
		size_t at; /* in bytes */
		uint64_t hash;
	} * entries; /* number - 1 */
	uint32_t n;
	size_t entries_size;
	uint32_t *slots; /* numbers, found by hash; 0: free */
	uint32_t n_slots; /* a power of two */
	uint64_t key[2]; /* drawn with the first slots */
};

void nt_texts_release(struct nt_texts *texts);
/* Forgets all texts and keeps the memory. */
void nt_texts_reset(struct nt_texts *texts);
/* The text's number; *is_new: it was given by this call. 0: out of memory. */
uint32_t nt_texts_number(struct nt_texts *texts, const char *text, bool *is_new);
/* The text of a number, good until the next text is added. */
const char *nt_texts_text(const struct nt_texts *texts, uint32_t number);

#endif

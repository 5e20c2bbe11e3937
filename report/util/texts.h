/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * texts.h - gives each different text a number: 1, 2, 3, .... Pure. For formats that write a text once and its number
 * after that. Texts stand in a balanced tree, so that nobody can write a tape whose texts are found slowly.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialised is empty. Owner frees with nt_texts_release. */
struct nt_texts {
	void *tree; /* see tsearch(3) */
	struct nt_text **texts; /* number - 1 */
	uint32_t n;
	size_t size;
	uint32_t lately[32]; /* numbers, by the addresses of what was asked: constants come again and again */
};

void nt_texts_release(struct nt_texts *texts);
/* Forgets all texts. */
void nt_texts_reset(struct nt_texts *texts);
/* The text's number; *is_new: it was given by this call. 0: out of memory. */
uint32_t nt_texts_number(struct nt_texts *texts, const char *text, bool *is_new);
/* The number of a text that has one; 0: it has none. */
uint32_t nt_texts_find(const struct nt_texts *texts, const char *text);
/* The text of a number, good until the reset or release. */
const char *nt_texts_text(const struct nt_texts *texts, uint32_t number);

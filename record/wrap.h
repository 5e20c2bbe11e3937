/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wrap.h - text in lines of at most 79 characters: broken between words, indented below its head.
 */
#pragma once

#include <stdio.h>

struct nt_wrap {
	FILE *to;
	unsigned int indent;
	unsigned int column; /* where the next character goes */
};

/* Begins a paragraph: `head`, which is "" or shorter than the indent, stands before the first line. */
void nt_wrap_begin(struct nt_wrap *wrap, FILE *to, unsigned int indent, const char *head);
/* Adds words. Between two calls is a space or a new line. */
void nt_wrap_words(struct nt_wrap *wrap, const char *text);
void nt_wrap_end(struct nt_wrap *wrap);

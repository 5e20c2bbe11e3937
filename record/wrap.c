// SPDX-License-Identifier: GPL-2.0-only
/*
 * wrap.c - see wrap.h.
 */
#include "record/wrap.h"

#include <string.h>

#define WIDTH 79

void nt_wrap_begin(struct nt_wrap *wrap, FILE *to, unsigned int indent, const char *head)
{
	*wrap = (struct nt_wrap){.to = to, .indent = indent, .column = indent};
	fprintf(to, "%-*s", (int)indent, head);
}

static void put_word(struct nt_wrap *wrap, const char *word, unsigned int size)
{
	if (wrap->column > wrap->indent && wrap->column + 1 + size > WIDTH) {
		fprintf(wrap->to, "\n%*s", (int)wrap->indent, "");
		wrap->column = wrap->indent;
	}
	if (wrap->column > wrap->indent) {
		fputc(' ', wrap->to);
		wrap->column++;
	}
	fprintf(wrap->to, "%.*s", (int)size, word);
	wrap->column += size;
}

void nt_wrap_words(struct nt_wrap *wrap, const char *text)
{
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t size = strcspn(text, " ");

		put_word(wrap, text, (unsigned int)size);
		text += size;
	}
}

void nt_wrap_end(struct nt_wrap *wrap)
{
	fputc('\n', wrap->to);
}

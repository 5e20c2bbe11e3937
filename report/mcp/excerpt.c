// SPDX-License-Identifier: GPL-2.0-only
/* excerpt.c - see excerpt.h. */
#include "report/mcp/excerpt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD(most) ((most) / 4 * 3) /* its part of what is shown: a report begins with the answer */

/* Where the last line begins that does not fit into `most` bytes; at `most`, if there is none. */
static size_t end_of_head(const char *text, size_t most)
{
	const char *end = memrchr(text, '\n', most);

	return end ? (size_t)(end - text) + 1 : most;
}

static size_t begin_of_tail(const char *text, size_t size, size_t most)
{
	const char *begin = memchr(text + size - most, '\n', most);

	return begin ? (size_t)(begin - text) + 1 : size - most;
}

static size_t count_lines(const char *text, size_t size)
{
	const char *const end = text + size;
	size_t n = 0;

	for (; (text = memchr(text, '\n', (size_t)(end - text))); text++)
		n++;
	return n;
}

char *nt_mcp_excerpt(const char *text, size_t size, size_t most, size_t *cut_size)
{
	char *cut = NULL;
	FILE *out = open_memstream(&cut, cut_size);
	size_t head, tail;

	if (!out)
		return NULL;
	if (size <= most) {
		fwrite(text, 1, size, out);
	} else {
		head = end_of_head(text, HEAD(most));
		tail = begin_of_tail(text, size, most - HEAD(most));
		fwrite(text, 1, head, out);
		fprintf(out, "\n[%zu lines are left out here, of %zu: an answer has room for %zu bytes.]\n\n",
			count_lines(text + head, tail - head), count_lines(text, size), most);
		fwrite(text + tail, 1, size - tail, out);
	}
	if (ferror(out) | fclose(out)) {
		free(cut);
		return NULL;
	}
	return cut;
}

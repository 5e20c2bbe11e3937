// SPDX-License-Identifier: GPL-2.0-only
/*
 * arg.c - see arg.h.
 */
#include "schema/cli/arg.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SECOND 1000000000ll

const char *nt_arg_number(const char *text, int64_t *whole, int64_t *billionths)
{
	int64_t scale = SECOND / 10;
	const char *begin = text;

	*whole = *billionths = 0;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (__builtin_mul_overflow(*whole, 10, whole) || __builtin_add_overflow(*whole, *text - '0', whole))
			return NULL;
	}
	if (text == begin)
		return NULL;
	if (*text != '.')
		return text;
	for (text++; *text >= '0' && *text <= '9'; text++, scale /= 10)
		*billionths += (*text - '0') * scale;
	return text;
}

/* billionths of `unit` ns, in ns, rounded down; without a product that overflows. */
static int64_t fraction_ns(int64_t billionths, int64_t unit)
{
	return unit < SECOND ? billionths / (SECOND / unit) : billionths * (unit / SECOND);
}

int nt_arg_duration(const char *text, int64_t *ns)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {{"", SECOND}, {"s", SECOND}, {"h", 3600 * SECOND}, {"m", 60 * SECOND}, {"ms", 1000000},
		     {"us", 1000}, {"ns", 1}};
	int64_t whole, billionths;
	const char *behind = nt_arg_number(text, &whole, &billionths);

	for (size_t i = 0; behind && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(behind, units[i].name) != 0)
			continue;
		if (__builtin_mul_overflow(whole, units[i].ns, ns) ||
		    __builtin_add_overflow(*ns, fraction_ns(billionths, units[i].ns), ns))
			return -1;
		return 0;
	}
	return -1;
}

#define LONGEST 63 /* letters of a word that is compared: longer ones are nobody's slip */

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* The distance that has also swapped neighbours (Damerau's, restricted to one edit a place): three rows of its table.
 */
static unsigned int distance(const char *a, size_t a_size, const char *b, size_t b_size)
{
	unsigned int rows[3][LONGEST + 1];

	for (size_t j = 0; j <= b_size; j++)
		rows[0][j] = (unsigned int)j;
	for (size_t i = 1; i <= a_size; i++) {
		unsigned int *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_size; j++) {
			row[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
	}
	return rows[a_size % 3][b_size];
}

const char *nt_arg_nearest(const char *word, const char *const *known)
{
	size_t size = strlen(word);
	/* A third of the word may be wrong, so that a word of two letters is never taken for another. */
	unsigned int bound = (unsigned int)(size / 3) + 1;
	const char *nearest = NULL;

	if (!size || size > LONGEST)
		return NULL;
	for (; *known; known++) {
		size_t known_size = strlen(*known);
		unsigned int edits;

		if (known_size > LONGEST)
			continue;
		edits = distance(word, size, *known, known_size);
		/* The begin of a known word ("sum") is near, too. */
		if (size >= 3 && known_size > size && !memcmp(word, *known, size))
			edits = 1;
		if (edits < bound) {
			bound = edits;
			nearest = *known;
		}
	}
	return nearest;
}

/* ---- back to a shell ---- */

static bool is_plain(const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+=,-";

	return *word && word[strspn(word, plain)] == 0;
}

static bool has_control(const char *word)
{
	for (; *word; word++) {
		if ((unsigned char)*word < ' ' || *word == 127)
			return true;
	}
	return false;
}

/* One byte of a quoted word. With `escaped`, within $'...': control characters reach no terminal. */
static void quote_byte(char out[8], unsigned char byte, bool escaped)
{
	if (escaped && (byte < ' ' || byte == 127))
		snprintf(out, 8, "\\%03o", byte);
	else if (escaped && (byte == '\'' || byte == '\\'))
		snprintf(out, 8, "\\%c", byte);
	else if (byte == '\'')
		strcpy(out, "'\\''");
	else
		snprintf(out, 8, "%c", byte);
}

const char *nt_arg_shell(char *out, size_t size, const char *word)
{
	const char *here = word[0] == '-' ? "./" : ""; /* else it would be an option */
	bool escaped = has_control(word);
	size_t at;

	if (is_plain(word)) {
		snprintf(out, size, "%s%s", here, word);
		return out;
	}
	at = (size_t)snprintf(out, size, "%s'%s", escaped ? "$" : "", here);
	for (; *word && at + 8 < size; word++) {
		char quoted[8];

		quote_byte(quoted, (unsigned char)*word, escaped);
		at += (size_t)snprintf(out + at, size - at, "%s", quoted);
	}
	if (at + 1 < size)
		strcpy(out + at, "'");
	return out;
}

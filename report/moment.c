// SPDX-License-Identifier: GPL-2.0-only
/*
 * moment.c - see moment.h.
 */
#include "report/moment.h"

#include <string.h>
#include <time.h>

#define SECOND 1000000000ll

/* Digits with a fraction, in units of `unit` ns for the whole. Gives what stands behind, or NULL: no number, or too
 * great. */
static const char *parse_number(const char *text, const char **digits_end, int64_t *whole, int64_t *billionths)
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
	*digits_end = text;
	if (*text != '.')
		return text;
	for (text++; *text >= '0' && *text <= '9'; text++, scale /= 10)
		*billionths += (*text - '0') * scale;
	return text;
}

static int parse_since_start(const char *text, struct nt_moment *moment)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {{"", SECOND}, {"s", SECOND}, {"ms", 1000000}, {"us", 1000}, {"ns", 1}};
	int64_t whole, billionths;
	const char *end, *behind = parse_number(text, &end, &whole, &billionths);

	for (size_t i = 0; behind && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(behind, units[i].name) != 0)
			continue;
		if (__builtin_mul_overflow(whole, units[i].ns, &moment->ns) ||
		    __builtin_add_overflow(moment->ns, billionths / (SECOND / units[i].ns), &moment->ns))
			return -1;
		return 0;
	}
	return -1;
}

static int parse_wall(const char *text, struct nt_moment *moment)
{
	struct tm parts = {0};
	int64_t whole, billionths = 0;
	const char *end, *behind = strptime(text, "%Y-%m-%dT%H:%M:", &parts);

	if (!behind)
		return -1;
	text = behind;
	behind = parse_number(text, &end, &whole, &billionths);
	if (!behind || end != text + 2 || whole > 60 || strcmp(behind, "Z") != 0)
		return -1;
	whole += timegm(&parts);
	if (whole < 0 || __builtin_mul_overflow(whole, SECOND, &moment->ns) ||
	    __builtin_add_overflow(moment->ns, billionths, &moment->ns))
		return -1;
	moment->is_wall = true;
	return 0;
}

int nt_moment_parse(const char *text, struct nt_moment *moment)
{
	*moment = (struct nt_moment){.is_given = true};
	return strchr(text, 'T') ? parse_wall(text, moment) : parse_since_start(text, moment);
}

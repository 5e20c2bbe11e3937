// SPDX-License-Identifier: GPL-2.0-only
/*
 * text.c - see text.h.
 */
#include "report/export/prometheus/text.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/utf8.h"

void nt_prometheus_escape(FILE *out, const char *text)
{
	size_t size = strlen(text);

	for (size_t i = 0; i < size;) {
		size_t n = nt_utf8_length(text + i, size - i);

		if (!n)
			fputs("\xef\xbf\xbd", out);
		else if (text[i] == '\\' || text[i] == '"')
			fprintf(out, "\\%c", text[i]);
		else if (text[i] == '\n')
			fputs("\\n", out);
		else
			fwrite(text + i, 1, n, out);
		i += n ? n : 1;
	}
}

/* 17 digits would do, but a tenth would be 0.10000000000000001 with them: the fewest that say this number and no other.
 */
static const char *fewest_digits(char text[32], double value)
{
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, 32, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	return text;
}

#define MAX_EXACT 9007199254740992.0 /* 2^53: a double has every integer up to here */

const char *nt_prometheus_number(char text[32], double value)
{
	if (value > -MAX_EXACT && value < MAX_EXACT && value == (double)(long long)value) {
		snprintf(text, 32, "%lld", (long long)value);
		return text;
	}
	return fewest_digits(text, value);
}

const char *nt_prometheus_seconds(char text[32], double ns)
{
	return fewest_digits(text, ns / 1e9);
}

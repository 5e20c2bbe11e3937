// SPDX-License-Identifier: GPL-2.0-only
/*
 * human.c - the part of output.h that is for people: numbers with units, and texts that are safe on a terminal.
 */
#include "report/out/output.h"

#include <string.h>
#include <time.h>

#include "report/util/utf8.h"

struct unit {
	uint64_t size;
	const char *name;
};

/* Four significant digits or all there are, in the greatest unit that fits. `units` fall, the last is 1. */
static const char *with_unit(char text[NT_HUMAN_MAX], uint64_t value, const struct unit *units)
{
	unsigned int milli;
	uint64_t whole;
	int digits;

	while (units->size > 1 && value < units->size)
		units++;
	if (units->size == 1) {
		snprintf(text, NT_HUMAN_MAX, "%llu %s", (unsigned long long)value, units->name);
		return text;
	}
	whole = value / units->size;
	milli = (unsigned int)((double)(value % units->size) * 1000 / (double)units->size);
	digits = whole < 10 ? 3 : whole < 100 ? 2 : 1;
	for (int i = digits; i < 3; i++)
		milli /= 10;
	snprintf(text, NT_HUMAN_MAX, "%llu.%0*u %s", (unsigned long long)whole, digits, milli, units->name);
	return text;
}

const char *nt_human_ns(char text[NT_HUMAN_MAX], uint64_t ns)
{
	static const struct unit units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};

	return with_unit(text, ns, units);
}

const char *nt_human_others(char text[NT_HUMAN_MAX], int64_t count)
{
	char number[NT_HUMAN_MAX];

	snprintf(text, NT_HUMAN_MAX, "%.30s %s", nt_human_count(number, count), count == 1 ? "other" : "others");
	return text;
}

const char *nt_human_seconds(char text[NT_HUMAN_MAX], uint64_t ns)
{
	unsigned long long whole = ns / 1000000000, fraction = ns % 1000000000;
	int digits = 9;

	for (; digits && fraction % 10 == 0; digits--)
		fraction /= 10;
	if (digits)
		snprintf(text, NT_HUMAN_MAX, "%llu.%0*llu s", whole, digits, fraction);
	else
		snprintf(text, NT_HUMAN_MAX, "%llu s", whole);
	return text;
}

const char *nt_human_bytes(char text[NT_HUMAN_MAX], uint64_t bytes)
{
	static const struct unit units[] = {
		{1000000000000, "TB"}, {1000000000, "GB"}, {1000000, "MB"}, {1000, "kB"}, {1, "B"}};

	return with_unit(text, bytes, units);
}

const char *nt_human_uj(char text[NT_HUMAN_MAX], uint64_t uj)
{
	static const struct unit units[] = {{1000000000, "kJ"}, {1000000, "J"}, {1000, "mJ"}, {1, "uJ"}};

	return with_unit(text, uj, units);
}

const char *nt_human_share(char text[NT_HUMAN_MAX], uint64_t part, uint64_t whole)
{
	if (whole)
		snprintf(text, NT_HUMAN_MAX, "%.2f %%", 100.0 * (double)part / (double)whole);
	else
		snprintf(text, NT_HUMAN_MAX, "-");
	return text;
}

const char *nt_human_count(char text[NT_HUMAN_MAX], int64_t count)
{
	char digits[NT_HUMAN_MAX];
	uint64_t magnitude = count < 0 ? 0 - (uint64_t)count : (uint64_t)count;
	int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)magnitude);
	char *to = text;

	if (count < 0)
		*to++ = '-';
	for (int i = 0; i < n; i++) {
		*to++ = digits[i];
		if (i + 1 < n && (n - i - 1) % 3 == 0)
			*to++ = ',';
	}
	*to = 0;
	return text;
}

const char *nt_human_time(char text[NT_HUMAN_MAX], uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	struct tm parts;

	if (!gmtime_r(&seconds, &parts) || !strftime(text, NT_HUMAN_MAX, "%Y-%m-%d %H:%M:%S UTC", &parts))
		snprintf(text, NT_HUMAN_MAX, "-");
	return text;
}

void nt_print_clean(FILE *out, const char *text, size_t size)
{
	for (size_t i = 0, n; i < size; i += n) {
		n = nt_utf8_length(text + i, size - i);
		if (n && !nt_utf8_is_control(nt_utf8_code(text + i, n))) {
			fwrite(text + i, 1, n, out);
			continue;
		}
		n = n ? n : 1;
		for (size_t byte = 0; byte < n; byte++)
			fprintf(out, "\\x%02x", (unsigned char)text[i + byte]);
	}
}

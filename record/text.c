// SPDX-License-Identifier: GPL-2.0-only
/*
 * text.c - see text.h.
 */
#include "record/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NSEC_PER_SEC 1000000000ull

void nt_duration_text(char *out, size_t size, uint64_t ns)
{
	const uint64_t minute = 60 * NSEC_PER_SEC;

	if (ns < NSEC_PER_SEC)
		snprintf(out, size, "%.10g ms", ns / 1e6);
	else if (ns % (60 * minute) == 0)
		snprintf(out, size, "%llu h", (unsigned long long)(ns / (60 * minute)));
	else if (ns % minute == 0)
		snprintf(out, size, "%llu min", (unsigned long long)(ns / minute));
	else
		snprintf(out, size, "%.10g s", ns / 1e9);
}

const char *nt_count_text(char out[NT_TEXT_MAX], uint64_t n)
{
	char digits[24];
	int size = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	char *to = out;

	for (int i = 0; i < size; i++) {
		if (i && (size - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = 0;
	return out;
}

const char *nt_bytes_text(char out[NT_TEXT_MAX], uint64_t bytes)
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	double value = bytes;
	size_t unit = 0;

	for (; value >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
		value /= 1000;
	snprintf(out, NT_TEXT_MAX, value < 99.95 && unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
	return out;
}

__attribute__((format(printf, 3, 4))) static bool add(char *line, size_t width, const char *format, ...)
{
	char part[80];
	size_t at = strlen(line);
	va_list args;
	int size;

	va_start(args, format);
	size = vsnprintf(part, sizeof(part), format, args);
	va_end(args);
	if (size < 0 || (size_t)size >= sizeof(part) || at + (size_t)size > width)
		return false;
	strcpy(line + at, part);
	return true;
}

void nt_status_text(char *line, size_t width, const struct nt_status_figures *progress)
{
	char number[NT_TEXT_MAX];

	line[0] = 0;
	if (add(line, width, "%s s", nt_count_text(number, progress->duration_ns / NSEC_PER_SEC)) &&
	    add(line, width, ", %s events", nt_count_text(number, progress->events)) &&
	    add(line, width, ", %s lost", nt_count_text(number, progress->lost)))
		add(line, width, ", %s", nt_bytes_text(number, progress->bytes));
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * heatmap_text.c - the part of heatmap.h that draws with characters: for a terminal by the colour of the background,
 * else by letters that grow darker.
 */
#include "report/query/latency/heatmap.h"

#include <string.h>

#include "report/out/output.h"
#include "report/out/prose.h"
#include "report/util/histogram.h"
#include "report/util/weighted.h"

/* By level. Colours are those of the usual palette of 256, from dark blue to yellow. */
static const char letters[NT_HEAT_LEVELS + 1] = {' ', '.', ':', '-', '=', '+', '*', '%', '#', '@'};
static const unsigned char colours[NT_HEAT_LEVELS + 1] = {0, 17, 18, 20, 26, 32, 37, 71, 149, 226};

#define LABEL 9 /* characters before the axis */
#define LEGEND "           " /* what lines of the legend begin with */

static void print_level(FILE *out, unsigned int level, unsigned int before, bool colour)
{
	if (!colour)
		fputc(letters[level], out);
	else if (level == before)
		fputc(' ', out);
	else if (level)
		fprintf(out, "\033[48;5;%dm ", colours[level]);
	else
		fputs("\033[0m ", out);
}

/* One row of buckets; its label is the bound that all of it is at most. */
static void print_row(const struct nt_heatmap *map, FILE *out, uint32_t bucket, bool colour)
{
	char text[NT_HUMAN_MAX];
	unsigned int level = 0, before = 0;
	uint32_t end = map->columns;

	while (!colour && end && !(nt_heatmap_cell(map, end - 1, bucket) > 0))
		end--; /* no blanks at the end of a line */
	fprintf(out, "%*s |", LABEL, nt_human_ns(text, (uint64_t)nt_bucket_upper(map->per_octave, bucket)));
	for (uint32_t column = 0; column < end; column++, before = level) {
		level = nt_heat_level(nt_heatmap_cell(map, column, bucket), map->most);
		print_level(out, level, before, colour);
	}
	fputs(colour && before ? "\033[0m\n" : "\n", out);
}

/* Rounded to the unit. */
static uint64_t to_unit(uint64_t ns, uint64_t unit)
{
	return (ns + unit / 2) / unit * unit;
}

/* Times below the first column and the last. */
static void print_axis(const struct nt_heatmap *map, FILE *out, int64_t since_ts)
{
	char left[NT_HUMAN_MAX], right[NT_HUMAN_MAX];
	uint64_t begin = (uint64_t)map->begin_ts - (uint64_t)since_ts;
	uint64_t span = (uint64_t)map->end_ts - (uint64_t)map->begin_ts, unit = (nt_heat_step(span) + 9) / 10;
	size_t room;

	fprintf(out, "%*s +", LABEL, "");
	for (uint32_t column = 0; column < map->columns; column++)
		fputc('-', out);
	nt_human_seconds(left, to_unit(begin, unit));
	nt_human_seconds(right, to_unit(begin + span, unit));
	room = map->columns > strlen(left) ? map->columns - strlen(left) : 1;
	fprintf(out, "\n%*s  %s%*s\n", LABEL, "", left, (int)room, right);
}

static void print_legend(const struct nt_heatmap *map, FILE *out, bool colour)
{
	struct nt_prose prose;
	char text[NT_HUMAN_MAX];

	nt_prose_begin(&prose, out);
	fputs("packets:", prose.line);
	for (unsigned int level = 1; level <= NT_HEAT_LEVELS; level++) {
		/* Levels that no whole number of packets can have are left out. */
		if (level < NT_HEAT_LEVELS &&
		    nt_heat_level_begin(level, map->most) >= nt_heat_level_begin(level + 1, map->most))
			continue;
		if (colour)
			fprintf(prose.line, " \033[48;5;%dm" NT_STUCK "\033[0m", colours[level]);
		else
			fprintf(prose.line, " %c", letters[level]);
		fprintf(prose.line, NT_STUCK "%s",
			nt_human_count(text, nt_round(nt_heat_level_begin(level, map->most))));
	}
	fputs(" and more", prose.line);
	nt_prose_end(&prose, LEGEND);
}

void nt_heatmap_print(const struct nt_heatmap *map, FILE *out, int64_t since_ts, bool colour)
{
	if (!map->high) {
		fputs("none\n", out);
		return;
	}
	for (uint32_t bucket = map->high; bucket-- > map->low;) {
		/* Where an octave has fewer nanoseconds than rows, some of these can hold nothing. */
		if (!bucket || nt_bucket_upper(map->per_octave, bucket) > nt_bucket_lower(map->per_octave, bucket))
			print_row(map, out, bucket, colour);
	}
	print_axis(map, out, since_ts);
	print_legend(map, out, colour);
}

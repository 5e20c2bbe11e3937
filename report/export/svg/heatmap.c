// SPDX-License-Identifier: GPL-2.0-only
/*
 * heatmap.c - the part of query/latency/heatmap.h that draws SVG: one self-contained file, without scripts and fonts. A
 * cell tells its numbers when the pointer rests on it.
 */
#include "report/query/latency/heatmap.h"

#include <string.h>

#include "report/export/svg/svg.h"
#include "report/out/output.h"
#include "report/util/histogram.h"
#include "report/util/weighted.h"

#define WIDTH 960
#define HEAD 40 /* above the first panel */
#define PANEL 432 /* of which PLOT_HEIGHT are the plot */
#define PLOT_LEFT 104
#define PLOT_TOP 62
#define PLOT_WIDTH 800 /* what is left at the right is for half of a label */
#define PLOT_HEIGHT 230
#define LEGEND_TOP (PLOT_TOP + PLOT_HEIGHT + 64)
#define LEGEND_WIDTH ((double)PLOT_WIDTH / NT_HEAT_LEVELS)
#define LETTER 6.8 /* of a label, about */
#define LETTER_NARROW 11.5 /* on a narrow screen */

/* By level, from few to many: readable in print and without telling red from green. */
static const char *const colours[NT_HEAT_LEVELS + 1] = {"#ffffff", "#e4ecf7", "#c8daee", "#a3c4e3", "#78a9d4",
							"#4f8cc3", "#2f6eae", "#1d5394", "#123a73", "#0a2350"};

/* The picture is scaled to its window; where that makes letters small, they grow, and every second label is left out.
 */
static const char style[] = ":root { max-width: 1300px }\ntext.title { font-weight: 600 }\n"
			    "@media (max-width: 900px) { text { font-size: 14px } }\n"
			    "@media (max-width: 650px) { text { font-size: 19px } .second { display: none } }\n";
static const char dark[] = ".plot { fill: #191e24 }\n"
			   ".l1 { fill: #14293f } .l2 { fill: #173a5c } .l3 { fill: #1b4d7a } .l4 { fill: #216199 } "
			   ".l5 { fill: #2f78b6 }\n"
			   ".l6 { fill: #4b92cc } .l7 { fill: #74afdd } .l8 { fill: #a5cdec } .l9 { fill: #dceefb }\n";

void nt_svg_begin(FILE *out, unsigned int panels, const char *title)
{
	const struct nt_svg svg = {.width = WIDTH,
				   .height = HEAD + PANEL * (int)panels,
				   .title = title,
				   .attributes = "",
				   .style = style,
				   .dark = dark};

	nt_svg_open(out, &svg);
	nt_svg_text(out, PLOT_LEFT, 26, " class=\"title\" font-size=\"16\"", title, 60);
}

void nt_svg_end(FILE *out)
{
	nt_svg_close(out);
}

/* Where a time lies between the lowest (0) and the highest (1) row that is drawn. */
static double height_of(const struct nt_heatmap *map, int64_t ns)
{
	uint32_t bucket = nt_bucket_of(map->per_octave, ns);
	double lower = (double)nt_bucket_lower(map->per_octave, bucket);
	double upper = (double)nt_bucket_upper(map->per_octave, bucket);
	double at = bucket + ((double)ns - lower) / (upper - lower);

	return (at - map->low) / (map->high - map->low);
}

static const char *share_of(char text[NT_HUMAN_MAX], double part, double whole)
{
	double percent = whole > 0 ? 100 * part / whole : 0;

	snprintf(text, NT_HUMAN_MAX, percent > 0 && percent < 0.01 ? "<0.01 %%" : "%.2f %%", percent);
	return text;
}

static void draw_cell(const struct nt_heatmap *map, FILE *out, int64_t since_ts, uint32_t column, uint32_t bucket,
		      double all)
{
	double count = nt_heatmap_cell(map, column, bucket), rows = map->high - map->low;
	double left = PLOT_LEFT + (double)PLOT_WIDTH * column / map->columns;
	double top = PLOT_HEIGHT * (map->high - 1 - bucket) / rows;
	unsigned int level = nt_heat_level(count, map->most);
	char from[NT_HUMAN_MAX], to[NT_HUMAN_MAX], number[NT_HUMAN_MAX], share[NT_HUMAN_MAX];

	fprintf(out, "<rect class=\"l%u\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"><title>",
		level, left, PLOT_TOP + top, (double)PLOT_WIDTH / map->columns, PLOT_HEIGHT / rows, colours[level]);
	fprintf(out, "%s packets (", nt_human_count(number, nt_round(count)));
	nt_xml_text(out, share_of(share, count, all));
	fprintf(out, "), %s to %s late, %.6f to %.6f s</title></rect>\n",
		nt_human_ns(from, (uint64_t)nt_bucket_lower(map->per_octave, bucket)),
		nt_human_ns(to, (uint64_t)nt_bucket_upper(map->per_octave, bucket)),
		(double)(nt_heatmap_column_ts(map, column) - since_ts) / 1e9,
		(double)(nt_heatmap_column_ts(map, column + 1) - since_ts) / 1e9);
}

/* A line at each tick; a label at each `every`th, if there is room to the right of it. */
static void draw_time_axis(const struct nt_heatmap *map, FILE *out, int64_t since_ts)
{
	uint64_t begin = (uint64_t)map->begin_ts - (uint64_t)since_ts;
	uint64_t span = (uint64_t)map->end_ts - (uint64_t)map->begin_ts, step = nt_heat_step(span);
	uint64_t first = begin / step + (begin % step != 0), last = (begin + span) / step;
	double apart = PLOT_WIDTH * (double)step / (double)span;
	uint64_t every = 1;
	char text[NT_HUMAN_MAX];

	for (uint64_t tick = first; tick <= last; tick++) {
		double room = LETTER * (double)strlen(nt_human_seconds(text, tick * step)) + 8;

		while ((double)every * apart < room && every < last)
			every++;
	}
	for (uint64_t tick = first; tick <= last; tick++) {
		double x = PLOT_LEFT + PLOT_WIDTH * (double)(tick * step - begin) / (double)span;

		fprintf(out, "<line class=\"line\" x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\" stroke=\"%s\"/>", x,
			PLOT_TOP + PLOT_HEIGHT, x, PLOT_TOP + PLOT_HEIGHT + 5, NT_SVG_SOFT);
		nt_human_seconds(text, tick * step);
		if ((tick - first) % every || x + LETTER_NARROW * (double)strlen(text) / 2 > WIDTH)
			continue;
		fprintf(out,
			"<text class=\"soft%s\" x=\"%.2f\" y=\"%d\" fill=\"%s\" text-anchor=\"middle\">%s</text>\n",
			(tick - first) / every % 2 ? " second" : "", x, PLOT_TOP + PLOT_HEIGHT + 22, NT_SVG_SOFT, text);
	}
	nt_svg_text(out, PLOT_LEFT + PLOT_WIDTH / 2, PLOT_TOP + PLOT_HEIGHT + 45,
		    " class=\"soft\" fill=\"" NT_SVG_SOFT "\" text-anchor=\"middle\"",
		    "time since the start of the recording", 60);
}

/* `height` is from 0, at the bottom, to 1. The label is left out where it would lie on the one at *label_y. */
static void draw_tick(FILE *out, double height, int64_t ns, double *label_y)
{
	double y = PLOT_TOP + PLOT_HEIGHT * (1 - height);
	char text[NT_HUMAN_MAX];

	fprintf(out, "<line class=\"line\" x1=\"%d\" y1=\"%.2f\" x2=\"%d\" y2=\"%.2f\" stroke=\"%s\"/>", PLOT_LEFT - 5,
		y, PLOT_LEFT, y, NT_SVG_SOFT);
	if (*label_y - y >= 22 || height <= 0) {
		fprintf(out, "<text class=\"soft\" x=\"%d\" y=\"%.2f\" fill=\"%s\" text-anchor=\"end\">%s</text>\n",
			PLOT_LEFT - 8, y + 5, NT_SVG_SOFT, nt_human_ns(text, (uint64_t)ns));
		*label_y = y;
	}
}

/* A tick at each power of ten; where the rows span less than two of them, at both ends. */
static void draw_latency_axis(const struct nt_heatmap *map, FILE *out)
{
	int64_t lower = nt_bucket_lower(map->per_octave, map->low);
	int64_t upper = nt_bucket_upper(map->per_octave, map->high - 1);
	double label_y = PLOT_TOP + PLOT_HEIGHT + 22;

	nt_svg_text(out, PLOT_LEFT - 8, PLOT_TOP - 16, " class=\"soft\" fill=\"" NT_SVG_SOFT "\" text-anchor=\"end\"",
		    "late by", 20);
	if (upper < 100 || upper / 100 < lower) {
		draw_tick(out, 0, lower, &label_y);
		draw_tick(out, 1, upper, &label_y);
		return;
	}
	for (int64_t ns = 1; ns <= upper; ns *= 10) {
		if (ns > lower)
			draw_tick(out, height_of(map, ns), ns, &label_y);
		if (ns > INT64_MAX / 10)
			break;
	}
}

/* ---- legend: the least count of each shade, and which part of all packets lies in cells of it ---- */

/* Packets in cells of each level; gives all. */
static double count_levels(const struct nt_heatmap *map, double of_level[NT_HEAT_LEVELS + 1])
{
	double all = 0;

	for (uint32_t column = 0; column < map->columns; column++) {
		for (uint32_t bucket = map->low; bucket < map->high; bucket++) {
			double count = nt_heatmap_cell(map, column, bucket);

			of_level[nt_heat_level(count, map->most)] += count;
			all += count;
		}
	}
	return all;
}

/* As the box with this place; `begin` is the least count. */
static void draw_level(FILE *out, unsigned int level, unsigned int place, double begin, const char *share)
{
	char count[NT_HUMAN_MAX + 1];
	double x = PLOT_LEFT + LEGEND_WIDTH * place;
	int middle = (int)(x + LEGEND_WIDTH / 2);

	if (begin >= 1e6)
		snprintf(count, NT_HUMAN_MAX, "%.0e", begin);
	else
		nt_human_count(count, nt_round(begin));
	strcat(count, "+");
	fprintf(out,
		"<rect class=\"line l%u\" x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"14\" fill=\"%s\" "
		"stroke=\"%s\"/>\n",
		level, x, LEGEND_TOP, LEGEND_WIDTH, colours[level], NT_SVG_SOFT);
	nt_svg_text(out, middle, LEGEND_TOP + 37, " text-anchor=\"middle\"", count, 20);
	nt_svg_text(out, middle, LEGEND_TOP + 59, " class=\"soft\" fill=\"" NT_SVG_SOFT "\" text-anchor=\"middle\"",
		    share, 20);
}

static void draw_legend(const struct nt_heatmap *map, FILE *out, const double of_level[NT_HEAT_LEVELS + 1], double all)
{
	unsigned int place = 0; /* where there are few packets, some levels are of none */

	nt_svg_text(out, PLOT_LEFT - 8, LEGEND_TOP + 37, " text-anchor=\"end\"", "packets", 20);
	nt_svg_text(out, PLOT_LEFT - 8, LEGEND_TOP + 59, " class=\"soft\" fill=\"" NT_SVG_SOFT "\" text-anchor=\"end\"",
		    "of all", 20);
	for (unsigned int level = 1; level <= NT_HEAT_LEVELS; level++) {
		double begin = nt_heat_level_begin(level, map->most);
		char share[NT_HUMAN_MAX];

		if (level == NT_HEAT_LEVELS || begin < nt_heat_level_begin(level + 1, map->most))
			draw_level(out, level, place++, begin, share_of(share, of_level[level], all));
	}
}

void nt_svg_panel(FILE *out, unsigned int number, const struct nt_heatmap *map, int64_t since_ts, const char *title,
		  const char *session)
{
	double of_level[NT_HEAT_LEVELS + 1] = {0}, all = map->high ? count_levels(map, of_level) : 0;

	fprintf(out, "<g transform=\"translate(0 %d)\">\n", HEAD + PANEL * (int)number);
	nt_svg_text(out, PLOT_LEFT, PLOT_TOP - 38, " class=\"title\" font-size=\"14\"", title, 60);
	nt_svg_text(out, PLOT_LEFT, PLOT_TOP - 16, " class=\"soft\" fill=\"" NT_SVG_SOFT "\"", session, 74);
	fprintf(out,
		"<rect class=\"plot line\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"%s\"/>\n"
		"<g shape-rendering=\"crispEdges\">\n",
		PLOT_LEFT, PLOT_TOP, PLOT_WIDTH, PLOT_HEIGHT, colours[0], NT_SVG_SOFT);
	for (uint32_t column = 0; map->high && column < map->columns; column++) {
		for (uint32_t bucket = map->low; bucket < map->high; bucket++) {
			if (nt_heatmap_cell(map, column, bucket) > 0)
				draw_cell(map, out, since_ts, column, bucket, all);
		}
	}
	fputs("</g>\n", out);
	draw_time_axis(map, out, since_ts);
	if (map->high) {
		draw_latency_axis(map, out);
		draw_legend(map, out, of_level, all);
	}
	fputs("</g>\n", out);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * heatmap.c - the part of query/latency/heatmap.h that draws SVG: one self-contained file, nothing from elsewhere. It
 * shows the whole as it is; heat.js, which is part of it, tells the numbers of the cell at the pointer.
 */
#include "report/query/latency/heatmap.h"

#include <string.h>

#include "report/export/svg/svg.h"
#include "report/out/output.h"
#include "report/util/histogram.h"
#include "report/util/weighted.h"

static const char script[] =
#include "text/heat_js.h"
	;

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
	fprintf(out, "<script><![CDATA[\n%s]]></script>\n", script);
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

/* ---- cells: in units of a cell, from the top left; those of a shade are one path, those below each other one piece
 * ---- */

static unsigned int level_of(const struct nt_heatmap *map, uint32_t column, uint32_t row)
{
	return nt_heat_level(nt_heatmap_cell(map, column, map->high - 1 - row), map->most);
}

static void draw_column(const struct nt_heatmap *map, FILE *out, uint32_t column, unsigned int level)
{
	const uint32_t rows = map->high - map->low;

	for (uint32_t row = 0, last; row < rows; row = last + 1) {
		for (last = row; last < rows && level_of(map, column, last) == level; last++)
			;
		if (last > row)
			fprintf(out, "M%u %uh1v%uh-1z", column, row, last - row);
	}
}

static void draw_levels(const struct nt_heatmap *map, FILE *out)
{
	for (unsigned int level = 1; level <= NT_HEAT_LEVELS; level++) {
		fprintf(out, "<path class=\"l%u\" fill=\"%s\" d=\"", level, colours[level]);
		for (uint32_t column = 0; column < map->columns; column++)
			draw_column(map, out, column, level);
		fputs("\"/>\n", out);
	}
}

/* The numbers, for the script. */
static void write_bounds(const struct nt_heatmap *map, FILE *out)
{
	char text[NT_HUMAN_MAX];

	fputs(nt_human_ns(text, (uint64_t)nt_bucket_lower(map->per_octave, map->low)), out);
	for (uint32_t bucket = map->low; bucket < map->high; bucket++)
		fprintf(out, ";%s", nt_human_ns(text, (uint64_t)nt_bucket_upper(map->per_octave, bucket)));
}

static void write_cells(const struct nt_heatmap *map, FILE *out)
{
	for (uint32_t column = 0; column < map->columns; column++) {
		const char *between = column ? ";" : "";

		for (uint32_t bucket = map->low; bucket < map->high; bucket++) {
			const double packets = nt_heatmap_cell(map, column, bucket);

			if (!(packets > 0))
				continue;
			fprintf(out, "%s%u %lld", between, bucket - map->low, (long long)nt_round(packets));
			between = " ";
		}
		if (between[0] == ';')
			fputc(';', out);
	}
}

static void draw_cells(const struct nt_heatmap *map, FILE *out, int64_t since_ts)
{
	fprintf(out,
		"<g class=\"map\" shape-rendering=\"crispEdges\" pointer-events=\"none\" "
		"transform=\"translate(%d %d) scale(%.6f %.6f)\" data-begin=\"%.9f\" data-end=\"%.9f\" data-bounds=\"",
		PLOT_LEFT, PLOT_TOP, (double)PLOT_WIDTH / map->columns, (double)PLOT_HEIGHT / (map->high - map->low),
		(double)(nt_heatmap_column_ts(map, 0) - since_ts) / 1e9,
		(double)(nt_heatmap_column_ts(map, map->columns) - since_ts) / 1e9);
	write_bounds(map, out);
	fputs("\" data-cells=\"", out);
	write_cells(map, out);
	fputs("\">\n", out);
	draw_levels(map, out);
	fputs("</g>\n", out);
}

/* ---- axes ---- */

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
		    " class=\"soft at\" fill=\"" NT_SVG_SOFT "\" text-anchor=\"middle\"",
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
		"<rect class=\"plot line\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\" stroke=\"%s\"/>\n",
		PLOT_LEFT, PLOT_TOP, PLOT_WIDTH, PLOT_HEIGHT, colours[0], NT_SVG_SOFT);
	if (map->high)
		draw_cells(map, out, since_ts);
	draw_time_axis(map, out, since_ts);
	if (map->high) {
		draw_latency_axis(map, out);
		draw_legend(map, out, of_level, all);
	}
	fputs("</g>\n", out);
}

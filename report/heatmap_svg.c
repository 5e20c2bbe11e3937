// SPDX-License-Identifier: GPL-2.0-only
/*
 * heatmap_svg.c - the part of heatmap.h that draws SVG: one self-contained file, no scripts, no fonts, nothing from
 * elsewhere. What the pointer rests on tells its numbers.
 */
#include "report/heatmap.h"

#include <string.h>

#include "report/histogram.h"
#include "report/output.h"
#include "report/samples.h"
#include "report/words.h"
#include "report/xml.h"

#define WIDTH 980
#define HEAD 44 /* above the first panel */
#define PANEL 320 /* of which PLOT_HEIGHT are the plot */
#define PLOT_LEFT 90
#define PLOT_TOP 30
#define PLOT_WIDTH 720
#define PLOT_HEIGHT 230
#define LEGEND_LEFT (PLOT_LEFT + PLOT_WIDTH + 30)

/* By level, from few to many: light to dark, readable in print and without telling red from green. */
static const char *const colours[NT_HEAT_LEVELS + 1] = {"#ffffff", "#e4ecf7", "#c8daee", "#a3c4e3", "#78a9d4",
							"#4f8cc3", "#2f6eae", "#1d5394", "#123a73", "#0a2350"};

void nt_svg_begin(FILE *out, unsigned int panels, const char *title)
{
	int height = HEAD + PANEL * (int)panels;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		"font-family=\"sans-serif\" font-size=\"12\">\n<title>",
		WIDTH, height, WIDTH, height);
	nt_xml_text(out, title);
	fprintf(out,
		"</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n"
		"<text x=\"%d\" y=\"26\" font-size=\"16\">",
		WIDTH, height, PLOT_LEFT);
	nt_xml_text(out, title);
	fputs("</text>\n", out);
}

void nt_svg_end(FILE *out)
{
	fputs("</svg>\n", out);
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

static void draw_cell(const struct nt_heatmap *map, FILE *out, int64_t since_ts, uint32_t column, uint32_t bucket)
{
	double count = nt_heatmap_cell(map, column, bucket), rows = map->high - map->low;
	double left = PLOT_LEFT + (double)PLOT_WIDTH * column / map->columns;
	double top = PLOT_HEIGHT * (map->high - 1 - bucket) / rows;
	char from[NT_HUMAN_MAX], to[NT_HUMAN_MAX], number[NT_HUMAN_MAX];

	fprintf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"><title>", left,
		PLOT_TOP + top, (double)PLOT_WIDTH / map->columns, PLOT_HEIGHT / rows,
		colours[nt_heat_level(count, map->most)]);
	fprintf(out, "%s packets, ", nt_human_count(number, nt_round(count)));
	fprintf(out, "%s to %s late, %.6f to %.6f s</title></rect>\n",
		nt_human_ns(from, (uint64_t)nt_bucket_lower(map->per_octave, bucket)),
		nt_human_ns(to, (uint64_t)nt_bucket_upper(map->per_octave, bucket)),
		(double)(nt_heatmap_column_ts(map, column) - since_ts) / 1e9,
		(double)(nt_heatmap_column_ts(map, column + 1) - since_ts) / 1e9);
}

static void draw_time_axis(const struct nt_heatmap *map, FILE *out, int64_t since_ts)
{
	uint64_t begin = (uint64_t)map->begin_ts - (uint64_t)since_ts;
	uint64_t span = (uint64_t)map->end_ts - (uint64_t)map->begin_ts, step = nt_heat_step(span);
	uint64_t first = begin / step + (begin % step != 0), last = (begin + span) / step;
	char text[NT_HUMAN_MAX];

	for (uint64_t tick = first; tick <= last; tick++) {
		double x = PLOT_LEFT + PLOT_WIDTH * (double)(tick * step - begin) / (double)span;

		fprintf(out,
			"<line x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\" stroke=\"#444444\"/>"
			"<text x=\"%.2f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n",
			x, PLOT_TOP + PLOT_HEIGHT, x, PLOT_TOP + PLOT_HEIGHT + 5, x, PLOT_TOP + PLOT_HEIGHT + 19,
			nt_heat_seconds(text, tick * step));
	}
	fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">time since the start of the recording</text>\n",
		PLOT_LEFT + PLOT_WIDTH / 2, PLOT_TOP + PLOT_HEIGHT + 36);
}

/* `height` is from 0, at the bottom, to 1. */
static void draw_tick(FILE *out, double height, int64_t ns)
{
	double y = PLOT_TOP + PLOT_HEIGHT * (1 - height);
	char text[NT_HUMAN_MAX];

	fprintf(out,
		"<line x1=\"%d\" y1=\"%.2f\" x2=\"%d\" y2=\"%.2f\" stroke=\"#444444\"/>"
		"<text x=\"%d\" y=\"%.2f\" text-anchor=\"end\">%s</text>\n",
		PLOT_LEFT - 5, y, PLOT_LEFT, y, PLOT_LEFT - 8, y + 4, nt_human_ns(text, (uint64_t)ns));
}

/* A tick at each power of ten; where the rows span less than two of them, at both ends. */
static void draw_latency_axis(const struct nt_heatmap *map, FILE *out)
{
	int64_t lower = nt_bucket_lower(map->per_octave, map->low);
	int64_t upper = nt_bucket_upper(map->per_octave, map->high - 1);

	fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">late by</text>\n", PLOT_LEFT - 8, PLOT_TOP - 10);
	if (upper < 100 || upper / 100 < lower) {
		draw_tick(out, 0, lower);
		draw_tick(out, 1, upper);
		return;
	}
	for (int64_t ns = 1; ns <= upper; ns *= 10) {
		if (ns > lower)
			draw_tick(out, height_of(map, ns), ns);
		if (ns > INT64_MAX / 10)
			break;
	}
}

static void draw_legend(const struct nt_heatmap *map, FILE *out)
{
	char text[NT_HUMAN_MAX];
	int y = PLOT_TOP;

	fprintf(out, "<text x=\"%d\" y=\"%d\">packets</text>\n", LEGEND_LEFT, y + 4);
	for (unsigned int level = NT_HEAT_LEVELS; level > 0; level--) {
		double begin = nt_heat_level_begin(level, map->most);

		if (level < NT_HEAT_LEVELS && begin >= nt_heat_level_begin(level + 1, map->most))
			continue;
		y += 20;
		fprintf(out,
			"<rect x=\"%d\" y=\"%d\" width=\"18\" height=\"16\" fill=\"%s\" stroke=\"#888888\"/>"
			"<text x=\"%d\" y=\"%d\">%s and more</text>\n",
			LEGEND_LEFT, y - 6, colours[level], LEGEND_LEFT + 25, y + 7,
			nt_human_count(text, nt_round(begin)));
	}
}

void nt_svg_panel(FILE *out, unsigned int number, const struct nt_heatmap *map, int64_t since_ts, const char *title)
{
	fprintf(out, "<g transform=\"translate(0 %d)\">\n<text x=\"%d\" y=\"%d\" font-size=\"14\">",
		HEAD + PANEL * (int)number, PLOT_LEFT, PLOT_TOP - 10);
	nt_xml_text(out, title);
	fputs("</text>\n<g shape-rendering=\"crispEdges\">\n", out);
	for (uint32_t column = 0; map->high && column < map->columns; column++) {
		for (uint32_t bucket = map->low; bucket < map->high; bucket++) {
			if (nt_heatmap_cell(map, column, bucket) > 0)
				draw_cell(map, out, since_ts, column, bucket);
		}
	}
	fprintf(out, "</g>\n<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#444444\"/>\n",
		PLOT_LEFT, PLOT_TOP, PLOT_WIDTH, PLOT_HEIGHT);
	draw_time_axis(map, out, since_ts);
	if (map->high) {
		draw_latency_axis(map, out);
		draw_legend(map, out);
	}
	fputs("</g>\n", out);
}

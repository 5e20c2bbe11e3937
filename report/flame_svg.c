// SPDX-License-Identifier: GPL-2.0-only
/*
 * flame_svg.c - the part of flame.h that draws: one self-contained file, nothing from elsewhere. It shows the whole as
 * it is; flame.js, which is part of it, zooms and searches. Names are a tape's, so anybody's: they are texts and
 * attributes, never part of the script.
 */
#include "report/flame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/output.h"
#include "report/xml.h"

static const char script[] =
#include "report/flame_js.h"
	;

#define WIDTH 1200
#define LEFT 10
#define PLOT (WIDTH - 2 * LEFT)
#define ROW 18
#define HEAD 60 /* above the frames */
#define FOOT 10
#define LETTER 6.6 /* pixels, about */
#define LEAST 2e-5 /* of the whole, to be drawn */

struct drawing {
	const struct nt_flame *flame;
	FILE *out;
	bool is_diff;
	double *begin; /* of each node, as a part of the whole */
	double *used; /* of each node: where its next child begins */
	uint16_t *stage; /* its own, or that of its caller */
	int height;
};

/* Its part of the whole: of a difference, the mean of both. */
static double share(const struct drawing *drawing, uint32_t node, unsigned int side)
{
	const struct nt_flame_node *nodes = drawing->flame->nodes;

	return nodes[0].ns[side] ? (double)nodes[node].ns[side] / (double)nodes[0].ns[side] : 0;
}

static double width_of(const struct drawing *drawing, uint32_t node)
{
	return drawing->is_diff ? (share(drawing, node, 0) + share(drawing, node, 1)) / 2 : share(drawing, node, 0);
}

/* ---- colours ---- */

/* A hue for each stage; what has none is grey. Shades by depth tell frames of one stage apart. */
static void write_stage_colour(const struct drawing *drawing, uint32_t node)
{
	unsigned int stage = drawing->stage[node], shade = drawing->flame->nodes[node].depth % 3;

	if (!stage)
		fprintf(drawing->out, "hsl(210,10%%,%u%%)", 80 + 3 * shade);
	else
		fprintf(drawing->out, "hsl(%u,%u%%,%u%%)", stage * 137 % 360, 60, 68 + 4 * shade);
}

/* More of the second is red, less is blue, the same is white: by ten points of share and more, as strong as can be. */
static void write_change_colour(const struct drawing *drawing, uint32_t node)
{
	double change = share(drawing, node, 1) - share(drawing, node, 0);
	double strength = fmin(1, sqrt(fabs(change) / 0.1));
	int light = (int)(255 - 155 * strength);

	if (change > 0)
		fprintf(drawing->out, "#ff%02x%02x", light, light);
	else
		fprintf(drawing->out, "#%02x%02xff", light, light);
}

/* ---- frames ---- */

static const char *name_of(const struct drawing *drawing, uint32_t node)
{
	return drawing->flame->names[drawing->flame->nodes[node].name];
}

static void write_title(const struct drawing *drawing, uint32_t node)
{
	const struct nt_flame_node *at = &drawing->flame->nodes[node];
	char time[NT_HUMAN_MAX], count[NT_HUMAN_MAX];

	nt_xml_text(drawing->out, name_of(drawing, node));
	if (drawing->is_diff) {
		fprintf(drawing->out, ": %.2f %% before, %.2f %% after, %+.2f points", 100 * share(drawing, node, 0),
			100 * share(drawing, node, 1), 100 * (share(drawing, node, 1) - share(drawing, node, 0)));
		return;
	}
	fprintf(drawing->out, ": %s, %.2f %%, %s samples", nt_human_ns(time, at->ns[0]), 100 * share(drawing, node, 0),
		nt_human_count(count, (int64_t)at->samples[0]));
}

/* As much of a name as there is room for: so many letters of UTF-8. */
static void write_label(const struct drawing *drawing, uint32_t node, double room)
{
	const char *name = name_of(drawing, node);
	int letters = (int)((room - 4) / LETTER);
	char text[256];
	size_t n = 0;

	if (letters < 3)
		return;
	for (int i = 0; name[n] && n < sizeof(text) - 8 && i < letters; i++) {
		text[n] = name[n];
		n++;
		while (n < sizeof(text) - 8 && ((unsigned char)name[n] & 0xc0) == 0x80) {
			text[n] = name[n];
			n++;
		}
	}
	text[n] = 0;
	nt_xml_text(drawing->out, text);
}

static void draw_frame(const struct drawing *drawing, uint32_t node)
{
	const double begin = drawing->begin[node], width = width_of(drawing, node);
	int y = drawing->height - FOOT - ROW * (int)(drawing->flame->nodes[node].depth + 1);
	FILE *out = drawing->out;

	fprintf(out, "<g class=\"f\" data-a=\"%.9f\" data-b=\"%.9f\" data-d=\"%u\" data-n=\"", begin, begin + width,
		drawing->flame->nodes[node].depth);
	nt_xml_text(out, name_of(drawing, node));
	fputs("\"><title>", out);
	write_title(drawing, node);
	fprintf(out, "</title><rect x=\"%.3f\" y=\"%d\" width=\"%.3f\" height=\"%d\" fill=\"", LEFT + begin * PLOT, y,
		width * PLOT, ROW - 1);
	if (drawing->is_diff)
		write_change_colour(drawing, node);
	else
		write_stage_colour(drawing, node);
	fprintf(out, "\"/><text x=\"%.3f\" y=\"%d\">", LEFT + begin * PLOT + 3, y + ROW - 5);
	write_label(drawing, node, width * PLOT);
	fputs("</text></g>\n", out);
}

/* Children stand side by side in the order in which they were found; a parent comes before them. */
static void draw_frames(struct drawing *drawing)
{
	const struct nt_flame *flame = drawing->flame;

	for (uint32_t node = 0; node < flame->n; node++) {
		uint32_t parent = flame->nodes[node].parent;
		double width = width_of(drawing, node);

		drawing->stage[node] = flame->nodes[node].stage ? flame->nodes[node].stage
				       : node			? drawing->stage[parent]
								: 0;
		if (node) {
			drawing->begin[node] = drawing->used[parent];
			drawing->used[parent] += width;
		}
		drawing->used[node] = drawing->begin[node];
		if (width >= LEAST || !node)
			draw_frame(drawing, node);
	}
}

static void write_head(const struct drawing *drawing, const char *title)
{
	FILE *out = drawing->out;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		"data-left=\"%d\" data-width=\"%d\" "
		"font-family=\"monospace\" font-size=\"11\">\n<title>",
		WIDTH, drawing->height, WIDTH, drawing->height, LEFT, PLOT);
	nt_xml_text(out, title);
	fputs("</title>\n<style>text { pointer-events: none } .f { cursor: pointer } .f:hover rect, .chosen rect { "
	      "stroke: #000000 }\n"
	      ".below { opacity: 0.6 } .hit rect { fill: #e040fb !important } #found, #reset { pointer-events: all; "
	      "cursor: pointer }</style>\n",
	      out);
	fprintf(out,
		"<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n<text x=\"%d\" y=\"20\" font-size=\"15\" "
		"font-family=\"sans-serif\">",
		WIDTH, drawing->height, LEFT);
	nt_xml_text(out, title);
	fprintf(out,
		"</text>\n<text id=\"found\" x=\"%d\" y=\"20\" text-anchor=\"end\">search (/)</text>\n"
		"<text id=\"reset\" x=\"%d\" y=\"20\" style=\"display:none\" text-anchor=\"end\">reset (Esc)</text>\n"
		"<text id=\"details\" x=\"%d\" y=\"44\"></text>\n",
		WIDTH - LEFT, WIDTH - 420, LEFT);
}

int nt_flame_svg(const struct nt_flame *flame, bool is_diff, const char *title, FILE *out)
{
	struct drawing drawing = {.flame = flame, .out = out, .is_diff = is_diff};

	drawing.height = HEAD + FOOT + ROW * (int)(flame->deepest + 1);
	drawing.begin = calloc(flame->n + 1, sizeof(drawing.begin[0]));
	drawing.used = calloc(flame->n + 1, sizeof(drawing.used[0]));
	drawing.stage = calloc(flame->n + 1, sizeof(drawing.stage[0]));
	if (drawing.begin && drawing.used && drawing.stage) {
		write_head(&drawing, title);
		draw_frames(&drawing);
		fprintf(out, "<script><![CDATA[\n%s]]></script>\n</svg>\n", script);
	}
	free(drawing.begin);
	free(drawing.used);
	free(drawing.stage);
	return drawing.begin && drawing.used && drawing.stage ? 0 : -1;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * flame.c - the part of query/stages/flame.h that draws: one self-contained file, nothing from elsewhere. It shows the
 * whole as it is; flame.js, which is part of it, zooms and searches. Names are a tape's, so anybody's: they are texts
 * and attributes, never part of the script.
 */
#include "report/query/stages/flame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/svg/svg.h"
#include "report/out/output.h"
#include "report/symbols/stages.h"
#include "report/util/array.h"

static const char script[] =
#include "text/flame_js.h"
	;

#define WIDTH 1200 /* until the script fits it to the window */
#define LEFT 10
#define PLOT (WIDTH - 2 * LEFT)
#define ROW 18
#define TITLE 22 /* from the top to the feet of the letters, as the next */
#define LINES 42 /* the first of those that say what was recorded */
#define LEGEND_ROW 20
#define TOOLS 48 /* below the legend: search, and what is chosen */
#define FOOT 10
#define LETTER 6.6 /* pixels of a frame's name, about */
#define WIDE_LETTER 7.2 /* of a legend's */
#define LAST_LETTER 9 /* of the title's */
#define LEAST 2e-5 /* of the whole, to be drawn */
#define LEAST_LEGEND 0.005 /* of the whole, to be named in the legend */
#define SHADES 3 /* of a colour */
#define CHANGES 10 /* how many colours tell less, and how many more */

struct drawing {
	const struct nt_flame *flame;
	FILE *out;
	bool is_diff;
	struct place {
		double begin, used; /* as parts of the whole; where its next child begins */
		uint16_t stage; /* its own, or that of its caller */
	} * places; /* of each node */
	struct nt_stage_rules *rules; /* which know the stages' names */
	uint64_t stage_ns[NT_STAGES_MAX + 1]; /* of frames of each stage, without what they called */
	int head; /* above the frames */
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

/* ---- colours: as attributes; of a difference also as rules of a style sheet for the dark ---- */

/* "#rrggbb" of hue 0 .. 359, saturation and lightness in percent. */
static void write_hsl(FILE *out, unsigned int hue, double saturation, double lightness)
{
	const double l = lightness / 100, chroma = (1 - fabs(2 * l - 1)) * saturation / 100;
	int parts[3];

	for (unsigned int i = 0; i < 3; i++) {
		/* Of red, green and blue: full about 0, 120 and 240 degrees, falling from 60 degrees off on. */
		double off = fabs(fmod((double)hue + 540 - 120 * i, 360) - 180) / 60;

		parts[i] = (int)(255 * (l + chroma * (fmin(1, fmax(0, 2 - off)) - 0.5)) + 0.5);
	}
	fprintf(out, "#%02x%02x%02x", parts[0], parts[1], parts[2]);
}

/*
 * A hue and a strength for each stage; what has none is grey. They are so chosen that the stages that take most time
 * on most hosts are far apart, and that dark letters can be read on each. Shades by depth tell frames of one stage
 * apart.
 */
static void write_stage_colour(FILE *out, unsigned int stage, unsigned int shade)
{
	static const struct {
		double saturation, lightness;
	} strengths[] = {{45, 64}, {65, 72}, {80, 60}, {75, 84}};
	const unsigned int strength = stage % NT_COUNT(strengths);

	if (stage)
		write_hsl(out, stage * 185 % 360, strengths[strength].saturation,
			  strengths[strength].lightness + 2 * ((double)shade - 1));
	else
		write_hsl(out, 210, 10, 80 + 3 * shade);
}

/* How much a share has changed, from -CHANGES to CHANGES: ten points of share are as strong as can be. */
static int change_of(const struct drawing *drawing, uint32_t node)
{
	double change = share(drawing, node, 1) - share(drawing, node, 0);

	return (int)copysign(round(CHANGES * fmin(1, sqrt(fabs(change) / 0.1))), change);
}

/* More of the second is red, less is blue, the same is white. */
static void write_change_colour(FILE *out, int change, bool is_dark)
{
	double strength = (double)abs(change) / CHANGES;
	int full = is_dark ? (int)(50 + 110 * strength) : 255;
	int rest = is_dark ? (int)(50 - 10 * strength) : (int)(255 - 155 * strength);

	fprintf(out, "#%02x%02x%02x", change < 0 ? rest : full, change ? rest : full, change > 0 ? rest : full);
}

static void write_fill(const struct drawing *drawing, uint32_t node)
{
	if (drawing->is_diff)
		write_change_colour(drawing->out, change_of(drawing, node), false);
	else
		write_stage_colour(drawing->out, drawing->places[node].stage,
				   drawing->flame->nodes[node].depth % SHADES);
}

/* The style sheet's rules for the dark; gives a string that the caller frees, or NULL. */
static char *dark_rules(const struct drawing *drawing)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (int change = -CHANGES; drawing->is_diff && change <= CHANGES; change++) {
		fprintf(out, ".c%d > rect { fill: ", change + CHANGES);
		write_change_colour(out, change, true);
		fputs(" }\n", out);
	}
	if (!drawing->is_diff)
		fputs("#frames text { fill: #1b1f24 }\n"
		      ".below rect { opacity: 0.35 } #frames .below text { fill: #e3e8ee }\n",
		      out);
	fputs(".f:hover rect, .chosen rect { stroke: #ffffff }\n", out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

/* ---- frames ---- */

static const char *name_of(const struct drawing *drawing, uint32_t node)
{
	return nt_texts_text(&drawing->flame->names, drawing->flame->nodes[node].name);
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

/* As much of a name as there is room for: so many letters of UTF-8. Where there is room, its share of the whole too. */
static void write_label(const struct drawing *drawing, uint32_t node, double room)
{
	const char *name = name_of(drawing, node);
	int letters = (int)((room - 6) / LETTER), used = 0;
	char text[256];
	size_t n = 0;

	if (letters < 3)
		return;
	for (; name[n] && n < sizeof(text) - 8 && used < letters; used++) {
		text[n] = name[n];
		n++;
		while (n < sizeof(text) - 8 && ((unsigned char)name[n] & 0xc0) == 0x80) {
			text[n] = name[n];
			n++;
		}
	}
	text[n] = 0;
	nt_xml_text(drawing->out, text);
	if (!drawing->is_diff && !name[n] && used + 8 <= letters)
		fprintf(drawing->out, " %.1f %%", 100 * share(drawing, node, 0));
}

static void draw_frame(const struct drawing *drawing, uint32_t node)
{
	const double begin = drawing->places[node].begin, width = width_of(drawing, node);
	int y = drawing->height - FOOT - ROW * (int)(drawing->flame->nodes[node].depth + 1);
	FILE *out = drawing->out;

	fputs("<g class=\"f", out);
	if (drawing->is_diff)
		fprintf(out, " c%d", change_of(drawing, node) + CHANGES);
	fprintf(out, "\" data-a=\"%.9f\" data-b=\"%.9f\" data-d=\"%u\" data-n=\"", begin, begin + width,
		drawing->flame->nodes[node].depth);
	nt_xml_text(out, name_of(drawing, node));
	fputs("\"><title>", out);
	write_title(drawing, node);
	fprintf(out, "</title><rect x=\"%.3f\" y=\"%d\" width=\"%.3f\" height=\"%d\" fill=\"", LEFT + begin * PLOT, y,
		width * PLOT, ROW - 1);
	write_fill(drawing, node);
	fprintf(out, "\"/><text x=\"%.3f\" y=\"%d\">", LEFT + begin * PLOT + 3, y + ROW - 5);
	write_label(drawing, node, width * PLOT);
	fputs("</text></g>\n", out);
}

/* Children stand side by side in the order in which they were found; a parent comes before them. */
static void place_frames(struct drawing *drawing)
{
	const struct nt_flame *flame = drawing->flame;

	for (uint32_t node = 0; node < flame->n; node++) {
		const struct nt_flame_node *at = &flame->nodes[node];
		struct place *place = &drawing->places[node], *parent = &drawing->places[at->parent];

		place->stage = at->stage ? at->stage : node ? parent->stage : 0;
		if (place->stage >= NT_STAGES_MAX + 1)
			place->stage = 0;
		drawing->stage_ns[place->stage] += at->ns[0] - at->below[0];
		if (node) {
			place->begin = parent->used;
			parent->used += width_of(drawing, node);
		}
		place->used = place->begin;
	}
}

static void draw_frames(const struct drawing *drawing)
{
	fputs("<g id=\"frames\" font-family=\"monospace\" font-size=\"11\">\n", drawing->out);
	for (uint32_t node = 0; node < drawing->flame->n; node++) {
		if (width_of(drawing, node) >= LEAST || !node)
			draw_frame(drawing, node);
	}
	fputs("</g>\n", drawing->out);
}

/* ---- the legend: items side by side, in as many rows as they need; the script places them anew for the window ---- */

struct legend {
	FILE *out; /* NULL: only counted */
	double x;
	int y; /* of the row */
};

/* Takes room for an item; what is drawn goes into a group that is moved there. */
static void begin_item(struct legend *legend, const char *text)
{
	double width = 17 + WIDE_LETTER * (double)strlen(text) + 12;

	if (legend->x > LEFT && legend->x + width > LEFT + PLOT) {
		legend->x = LEFT;
		legend->y += LEGEND_ROW;
	}
	if (legend->out)
		fprintf(legend->out, "<g class=\"k\" data-w=\"%.0f\" transform=\"translate(%.0f %d)\">", width,
			legend->x, legend->y);
	legend->x += width;
}

static void end_item(const struct legend *legend, const char *text)
{
	if (!legend->out)
		return;
	fputs("<text x=\"17\" y=\"11\" font-size=\"12\">", legend->out);
	nt_xml_text(legend->out, text);
	fputs("</text></g>\n", legend->out);
}

static void stage_item(const struct drawing *drawing, struct legend *legend, unsigned int stage)
{
	uint64_t all = drawing->flame->nodes[0].ns[0];
	const char *name = stage ? nt_stage_name(drawing->rules, stage - 1) : "no stage";
	char text[128], number[NT_HUMAN_MAX];

	snprintf(text, sizeof(text), "%s %s", name, nt_human_share(number, drawing->stage_ns[stage], all));
	begin_item(legend, text);
	if (legend->out) {
		fputs("<rect y=\"1\" width=\"12\" height=\"12\" fill=\"", legend->out);
		write_stage_colour(legend->out, stage, 1);
		fputs("\"/>", legend->out);
	}
	end_item(legend, text);
}

/* Those that have most time first; those with next to none are one item. */
static void stages_legend(const struct drawing *drawing, struct legend *legend)
{
	uint64_t left[NT_STAGES_MAX + 1], all = drawing->flame->nodes[0].ns[0], rest = 0;
	unsigned int n_rest = 0;
	char text[64], number[NT_HUMAN_MAX];

	memcpy(left, drawing->stage_ns, sizeof(left));
	for (;;) {
		unsigned int most = 0;

		for (unsigned int i = 1; i < NT_STAGES_MAX + 1; i++)
			most = left[i] > left[most] ? i : most;
		if ((double)left[most] < LEAST_LEGEND * (double)all || !left[most])
			break;
		stage_item(drawing, legend, most);
		left[most] = 0;
	}
	for (unsigned int i = 0; i < NT_STAGES_MAX + 1; i++) {
		n_rest += left[i] > 0;
		rest += left[i];
	}
	if (!n_rest)
		return;
	snprintf(text, sizeof(text), "%u other%s %s", n_rest, n_rest > 1 ? "s" : "", nt_human_share(number, rest, all));
	begin_item(legend, text);
	end_item(legend, text);
}

static void changes_legend(struct legend *legend)
{
	static const struct {
		int change;
		const char *text;
	} items[] = {{-CHANGES, "at least 10 points less"},
		     {-5, "2.5 points less"},
		     {0, "the same share"},
		     {5, "2.5 points more"},
		     {CHANGES, "at least 10 points more"}};

	for (size_t i = 0; i < NT_COUNT(items); i++) {
		begin_item(legend, items[i].text);
		if (legend->out) {
			fprintf(legend->out,
				"<g class=\"c%d\"><rect class=\"line\" y=\"1\" width=\"12\" height=\"12\" "
				"stroke=\"" NT_SVG_SOFT "\" fill=\"",
				items[i].change + CHANGES);
			write_change_colour(legend->out, items[i].change, false);
			fputs("\"/></g>", legend->out);
		}
		end_item(legend, items[i].text);
	}
}

/* Below `top`; gives where it ends. `out` NULL: draws nothing. */
static int draw_legend(const struct drawing *drawing, FILE *out, int top)
{
	struct legend legend = {out, LEFT, top};

	if (drawing->is_diff)
		changes_legend(&legend);
	else
		stages_legend(drawing, &legend);
	return legend.y + LEGEND_ROW;
}

/* ---- the head ---- */

static const char style[] =
	"text { pointer-events: none } .f { cursor: pointer } .f:hover rect, .chosen rect { stroke: #000000 }\n"
	".below rect { opacity: 0.55 } .hit rect { fill: #e040fb !important } .hit text { fill: #000000 !important }\n"
	"#found, #reset { pointer-events: all; cursor: pointer }\n";

/* A line that the script cuts to the window: data-t has all of it. */
static void write_line(FILE *out, int y, const char *attributes, const char *text, double letter)
{
	fputs("<g class=\"t\" data-t=\"", out);
	nt_xml_text(out, text);
	fputs("\">", out);
	nt_svg_text(out, LEFT, y, attributes, text, (size_t)(PLOT / letter));
	fputs("</g>", out);
}

static int write_head(const struct drawing *drawing, const struct nt_flame_head *head)
{
	const int legend_top = LINES + ROW * (int)head->n_lines - 10;
	FILE *out = drawing->out;
	char attributes[128], *dark = dark_rules(drawing);
	const struct nt_svg svg = {WIDTH, drawing->height, head->title, attributes, style, dark};
	int tools;

	if (!dark)
		return -1;
	snprintf(attributes, sizeof(attributes),
		 " data-left=\"%d\" data-legend=\"%d\" data-row=\"%d\" data-end=\"%d\"%s", LEFT, legend_top, LEGEND_ROW,
		 drawing->head - TOOLS, drawing->is_diff ? " data-diff=\"1\"" : "");
	nt_svg_open(out, &svg);
	write_line(out, TITLE, " font-size=\"15\" font-weight=\"600\"", head->title, LAST_LETTER);
	for (unsigned int i = 0; i < head->n_lines; i++)
		write_line(out, LINES + ROW * (int)i, " class=\"soft\" fill=\"" NT_SVG_SOFT "\"", head->lines[i],
			   WIDE_LETTER);
	tools = draw_legend(drawing, out, legend_top);
	fprintf(out,
		"<g id=\"tools\" font-family=\"monospace\" font-size=\"11\"><text id=\"found\" x=\"%d\" y=\"%d\" "
		"text-decoration=\"underline\">search (/)</text>\n"
		"<text id=\"reset\" x=\"%d\" y=\"%d\" style=\"display:none\" text-anchor=\"end\" "
		"text-decoration=\"underline\">reset (Esc)</text>\n"
		"<text id=\"details\" x=\"%d\" y=\"%d\"></text></g>\n",
		LEFT, tools + 18, WIDTH - LEFT, tools + 18, LEFT, tools + 36);
	free(dark);
	return 0;
}

int nt_flame_svg(const struct nt_flame *flame, bool is_diff, const struct nt_flame_head *head, FILE *out)
{
	struct drawing drawing = {.flame = flame, .out = out, .is_diff = is_diff, .rules = nt_stage_rules_new()};
	int error = -1;

	drawing.places = calloc(flame->n + 1, sizeof(drawing.places[0]));
	if (drawing.places && drawing.rules) {
		place_frames(&drawing);
		drawing.head = draw_legend(&drawing, NULL, LINES + ROW * (int)head->n_lines - 10) + TOOLS;
		drawing.height = drawing.head + FOOT + ROW * (int)(flame->deepest + 1);
		error = write_head(&drawing, head);
	}
	if (!error) {
		draw_frames(&drawing);
		fprintf(out, "<script><![CDATA[\n%s]]></script>\n", script);
		nt_svg_close(out);
	}
	free(drawing.places);
	nt_stage_rules_free(drawing.rules);
	return error;
}

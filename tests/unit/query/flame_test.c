// SPDX-License-Identifier: GPL-2.0-only
/*
 * flame_test.c - pictures of trees that are made by hand: where frames stand, what their titles say, and the legend.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/output.h"
#include "report/query/stages/flame.h"
#include "report/symbols/stages.h"
#include "tests/support/svg_places.h"

#define LEFT 10
#define RIGHT 1190

/* A frame below `parent`, which has this much time already; gives its number. */
static uint32_t add(struct nt_flame *flame, uint32_t parent, const char *name, uint64_t ns, uint16_t stage)
{
	uint32_t number = (uint32_t)flame->n;
	struct nt_flame_node *node;
	bool is_new;

	flame->nodes = realloc(flame->nodes, (flame->n + 1) * sizeof(flame->nodes[0]));
	assert_non_null(flame->nodes);
	node = &flame->nodes[flame->n++];
	*node = (struct nt_flame_node){.parent = parent, .ns = {ns}, .samples = {ns / 100}, .stage = stage};
	node->name = nt_texts_number(&flame->names, name, &is_new);
	if (number) {
		node->depth = flame->nodes[parent].depth + 1;
		flame->nodes[parent].below[0] += ns;
	}
	flame->deepest = node->depth > flame->deepest ? node->depth : flame->deepest;
	return number;
}

static char *drawn(const struct nt_flame *flame, bool is_diff)
{
	const struct nt_flame_head head = {.title = "title", .lines = {"a line"}, .n_lines = 1};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(nt_flame_svg(flame, is_diff, &head, out), 0);
	fclose(out);
	return text;
}

/* The text has this so many times. */
static void expect(const char *text, unsigned int times, const char *part)
{
	unsigned int n = 0;

	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	if (n != times)
		fail_msg("'%s' is there %u times and not %u:\n%s", part, n, times, text);
}

/* Children stand side by side above their parent, in rows of 18 from the bottom of the picture. */
static void frames_have_places(void **state)
{
	struct nt_flame flame = {0};
	uint32_t half;
	char *text;

	(void)state;
	add(&flame, 0, "all", 100000, 0);
	half = add(&flame, 0, "half", 50000, 0);
	add(&flame, 0, "quarter", 25000, 0);
	add(&flame, half, "a fifth of it", 10000, 0);
	add(&flame, half, "too little", 1, 0);
	add(&flame, half, "just enough", 2, 0);
	text = drawn(&flame, false);
	expect(text, 1, "viewBox=\"0 0 1200 182\"");
	expect(text, 1, "data-left=\"10\" data-legend=\"50\" data-row=\"20\" data-end=\"70\">");
	expect(text, 1,
	       "<g class=\"f\" data-a=\"0.000000000\" data-b=\"1.000000000\" data-d=\"0\" "
	       "data-n=\"all\"><title>all: 100.0 us, 100.00 %, 1,000 samples</title><rect x=\"10.000\" y=\"154\" "
	       "width=\"1180.000\" "
	       "height=\"17\" fill=\"");
	expect(text, 1, "<text x=\"13.000\" y=\"167\">all 100.0 %</text>");
	expect(text, 1, "data-b=\"0.500000000\" data-d=\"1\" data-n=\"half\">");
	expect(text, 1, "<rect x=\"10.000\" y=\"136\" width=\"590.000\" height=\"17\"");
	expect(text, 1, "data-a=\"0.500000000\" data-b=\"0.750000000\" data-d=\"1\" data-n=\"quarter\">");
	expect(text, 1, "<rect x=\"600.000\" y=\"136\" width=\"295.000\" height=\"17\"");
	expect(text, 1, "data-a=\"0.000000000\" data-b=\"0.100000000\" data-d=\"2\" data-n=\"a fifth of it\">");
	expect(text, 1, "<rect x=\"10.000\" y=\"118\" width=\"118.000\" height=\"17\"");
	expect(text, 0, "too little");
	/* Above them: title, lines, legend, and two lines for the script. */
	expect(text, 1, "<text x=\"10\" y=\"22\" font-size=\"15\" font-weight=\"600\">title</text>");
	expect(text, 1, "<text x=\"10\" y=\"42\" class=\"soft\" fill=\"#59636e\">a line</text>");
	expect(text, 1, "<text id=\"found\" x=\"10\" y=\"88\" ");
	expect(text, 1, "<text id=\"reset\" x=\"1190\" y=\"88\" style=\"display:none\" text-anchor=\"end\" ");
	expect(text, 1, "<text id=\"details\" x=\"10\" y=\"106\"></text>");
	svg_places_check(text);
	expect(text, 1, "data-a=\"0.100010000\" data-b=\"0.100030000\" data-d=\"2\" data-n=\"just enough\">");
	free(text);
	nt_flame_release(&flame);
}

/* Two pixels of a frame's edge, and 6.6 for a letter: a name is cut to its room, and has its share where there is room
 * for that, too. */
static void names_fit_frames(void **state)
{
	static const struct {
		uint64_t ns; /* of 118000: hundreds are pixels */
		const char *text;
	} frames[] = {
		{2500, "></text>"}, /* 19 pixels are 2 letters */
		{2600, ">abc</text>"}, /* 20 are 3 */
		{7800, ">abcdefghij</text>"}, /* 72 are 10 */
		{12450, ">abcdefghij</text>"}, /* 118.5 are 17: the share lacks one */
		{12500, ">abcdefghij 10.6 %</text>"}, /* 18 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		struct nt_flame flame = {0};
		char *text, *at;

		add(&flame, 0, "all", 118000, 0);
		add(&flame, 0, "abcdefghij", frames[i].ns, 0);
		text = drawn(&flame, false);
		at = strstr(text, "data-n=\"abcdefghij\"");
		assert_non_null(at);
		at = strstr(at, "<text ");
		at = strchr(at, '>');
		if (strncmp(at, frames[i].text, strlen(frames[i].text)) != 0)
			fail_msg("%llu: '%.40s' and not '%s'", (unsigned long long)frames[i].ns, at, frames[i].text);
		free(text);
		nt_flame_release(&flame);
	}
}

/* The text of an item of the legend, and its width with its square. */
static double item(const struct nt_stage_rules *rules, unsigned int stage, uint64_t ns, uint64_t all, char text[200])
{
	char share[NT_HUMAN_MAX];

	snprintf(text, 200, "%s %s", nt_stage_name(rules, stage - 1), nt_human_share(share, ns, all));
	return 17 + 7.2 * (double)strlen(text) + 12;
}

/* The greatest first, in as many rows as they need. A frame without a stage has that of its caller. */
static void the_legend_has_rows(void **state)
{
	enum { STAGES = 20 };
	struct nt_stage_rules *rules = nt_stage_rules_new();
	struct nt_flame flame = {0};
	double x = LEFT;
	int y = 50, rows = 1;
	char *text;

	(void)state;
	assert_non_null(rules);
	add(&flame, 0, "all", 10000, 0);
	for (unsigned int stage = STAGES; stage; stage--) {
		uint32_t frame = add(&flame, 0, "frame", 100 + 10 * stage, (uint16_t)stage);

		add(&flame, frame, "callee", 50, 0);
	}
	text = drawn(&flame, false);
	/* The root's own time has no stage. */
	expect(text, 1, "<g class=\"k\" data-w=\"144\" transform=\"translate(10 50)\">");
	expect(text, 1, ">no stage 59.00 %</text></g>");
	x += 17 + 7.2 * (double)strlen("no stage 59.00 %") + 12;
	for (unsigned int stage = STAGES; stage; stage--) {
		char name[200], part[400];
		double width = item(rules, stage, 100 + 10 * stage, 10000, name);

		if (x + width > RIGHT) {
			x = LEFT;
			y += 20;
			rows++;
		}
		snprintf(part, sizeof(part), "<g class=\"k\" data-w=\"%.0f\" transform=\"translate(%.0f %d)\">", width,
			 x, y);
		expect(text, 1, part);
		snprintf(part, sizeof(part), ">%s</text></g>", name);
		expect(text, 1, part);
		x += width;
	}
	assert_true(rows > 2);
	svg_places_check(text);
	free(text);
	nt_flame_release(&flame);
	nt_stage_rules_free(rules);
}

/* ---- colours ---- */

struct colour {
	double lightness, a, b, luminance; /* of CIE Lab, and of WCAG */
};

static double root(double part)
{
	return part > 0.008856 ? cbrt(part) : 7.787 * part + 16.0 / 116;
}

/* Of "#rrggbb". */
static struct colour colour_of(const char *hex)
{
	const unsigned long rgb = strtoul(hex + 1, NULL, 16);
	double parts[3], x, y, z;

	for (unsigned int i = 0; i < 3; i++) {
		const double part = (double)(rgb >> 8 * (2 - i) & 0xff) / 255;

		parts[i] = part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4);
	}
	y = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
	x = root((0.4124 * parts[0] + 0.3576 * parts[1] + 0.1805 * parts[2]) / 0.9505);
	z = root((0.0193 * parts[0] + 0.1192 * parts[1] + 0.9505 * parts[2]) / 1.089);
	return (struct colour){116 * root(y) - 16, 500 * (x - root(y)), 200 * (root(y) - z), y};
}

/* The stages that take most time on most hosts are told apart, and letters can be read on each. */
static void stages_have_their_colours(void **state)
{
	static const char *const names[] = {"softirq",	       "tracing",	 "gro",		"receive",
					    "ip_receive",      "local_delivery", "tcp_receive", "udp_receive",
					    "wakeup",	       "socket",	 "tcp_send",	"udp_send",
					    "tcp_read",	       "udp_read",	 "ip_send",	"transmit",
					    "driver_transmit", "skb_memory",	 "copy",	"socket_filter"};
	enum { N = sizeof(names) / sizeof(names[0]) };
	const double ink = colour_of("#1b1f24").luminance;
	struct nt_stage_rules *rules = nt_stage_rules_new();
	struct colour colours[N];

	(void)state;
	assert_non_null(rules);
	for (unsigned int i = 0; i < N; i++) {
		const int stage = nt_stage_number(rules, names[i]);
		struct nt_flame flame = {0};
		char *text, *at;

		assert_true(stage >= 0);
		add(&flame, 0, "all", 1000, 0);
		add(&flame, 0, "frame", 1000, (uint16_t)(stage + 1));
		text = drawn(&flame, false);
		at = strstr(text, "<g class=\"k\"");
		assert_non_null(at);
		colours[i] = colour_of(strstr(at, "fill=\"#") + 6);
		assert_true((colours[i].luminance + 0.05) / (ink + 0.05) >= 4.5);
		free(text);
		nt_flame_release(&flame);
	}
	for (unsigned int i = 0; i < N; i++) {
		for (unsigned int k = 0; k < i; k++) {
			const struct colour *one = &colours[i], *other = &colours[k];
			const double apart = sqrt(pow(one->lightness - other->lightness, 2) +
						  pow(one->a - other->a, 2) + pow(one->b - other->b, 2));

			if (apart < 10)
				fail_msg("%s and %s: %.1f apart", names[i], names[k], apart);
		}
	}
	nt_stage_rules_free(rules);
}

/* Stages of less than half a percent are one item. */
static void the_legend_sums_up_the_least(void **state)
{
	struct nt_flame flame = {0};
	char *text;

	(void)state;
	add(&flame, 0, "all", 100000, 1);
	add(&flame, 0, "a", 500, 2);
	add(&flame, 0, "b", 499, 3);
	text = drawn(&flame, false);
	expect(text, 3, "<g class=\"k\" data-w=");
	expect(text, 1, ">1 other 0.50 %</text></g>");
	free(text);
	add(&flame, 0, "c", 1, 4);
	text = drawn(&flame, false);
	expect(text, 3, "<g class=\"k\" data-w=");
	expect(text, 1, ">2 others 0.50 %</text></g>");
	free(text);
	nt_flame_release(&flame);
}

/* Widths are by both sides; ten points of share are the strongest colour. */
static void differences_have_colours(void **state)
{
	struct nt_flame flame = {0};
	char *text;

	(void)state;
	add(&flame, 0, "all", 1000, 0);
	add(&flame, 0, "less", 500, 0);
	add(&flame, 0, "more", 200, 0);
	add(&flame, 0, "same", 100, 0);
	flame.nodes[0].ns[1] = 2000;
	flame.nodes[1].ns[1] = 800;
	flame.nodes[2].ns[1] = 450;
	flame.nodes[3].ns[1] = 200;
	text = drawn(&flame, true);
	expect(text, 1, " data-diff=\"1\"");
	svg_places_check(text);
	expect(text, 1,
	       "<g class=\"f c0\" data-a=\"0.000000000\" data-b=\"0.450000000\" data-d=\"1\" data-n=\"less\">");
	expect(text, 1, "less: 50.00 % before, 40.00 % after, -10.00 points");
	expect(text, 1, "<g class=\"f c15\" data-a=\"0.450000000\" data-b=\"0.662500000\"");
	expect(text, 1, "more: 20.00 % before, 22.50 % after, +2.50 points");
	expect(text, 1, "<g class=\"f c10\" data-a=\"0.662500000\" data-b=\"0.762500000\"");
	expect(text, 5, "<g class=\"k\" data-w=");
	expect(text, 21, " > rect { fill: ");
	/* Blue is less, white the same, red more: of the light, and of the dark. */
	expect(text, 1, ".c0 > rect { fill: #2828a0 }");
	expect(text, 1, ".c10 > rect { fill: #323232 }");
	expect(text, 1, ".c20 > rect { fill: #a02828 }");
	expect(text, 2, "fill=\"#6464ff\"");
	expect(text, 1, "fill=\"#ff6464\"");
	free(text);
	nt_flame_release(&flame);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_have_places),	    cmocka_unit_test(names_fit_frames),
		cmocka_unit_test(the_legend_has_rows),	    cmocka_unit_test(the_legend_sums_up_the_least),
		cmocka_unit_test(differences_have_colours), cmocka_unit_test(stages_have_their_colours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

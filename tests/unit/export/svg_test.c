// SPDX-License-Identifier: GPL-2.0-only
/*
 * svg_test.c - what pictures have in common: texts as XML has them, and the line that says what was recorded; and the
 * places of axes and legends of a heat map.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/svg/svg.h"
#include "report/query/latency/heatmap.h"
#include "tests/support/svg_places.h"

static char *drawn;
static size_t size;
static FILE *out;

static int begin(void **state)
{
	(void)state;
	out = open_memstream(&drawn, &size);
	return out ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	if (out)
		fclose(out);
	out = NULL;
	free(drawn);
	return 0;
}

static void begin_anew(void)
{
	end(NULL);
	assert_int_equal(begin(NULL), 0);
}

static void is_drawn(const char *wanted)
{
	fflush(out);
	assert_string_equal(drawn, wanted);
	begin_anew();
}

static void has(unsigned int times, const char *part)
{
	unsigned int n = 0;

	fflush(out);
	for (const char *at = drawn; (at = strstr(at, part)); at += strlen(part))
		n++;
	if (n != times)
		fail_msg("'%s' is there %u times and not %u:\n%s", part, n, times, drawn);
}

/* ---- texts ---- */

static void texts_are_xml(void **state)
{
	(void)state;
	nt_xml_text(out, "a<b>&\"c\"'\t\n "
			 "\x1f\x7f\x01|\xff\xc3\xa9\xe2\x82\xac\xef\xbf\xbd\xef\xbf\xbe\xef\xbf\xbf\xf0\x9f\x98\x80");
	is_drawn("a&lt;b&gt;&amp;&quot;c&quot;'\t\n &#xfffd;&#xfffd;&#xfffd;|&#xfffd;\xc3\xa9\xe2\x82\xac\xef\xbf\xbd"
		 "&#xfffd;&#xfffd;\xf0\x9f\x98\x80");
	nt_xml_text(out, "\xc3\xbf\xef\xbf\xbd"
			 "ab\xef\xbf\xbe\xef\xbf");
	is_drawn("\xc3\xbf\xef\xbf\xbd"
		 "ab&#xfffd;&#xfffd;&#xfffd;");
}

static void texts_are_cut_at_characters(void **state)
{
	char text[1001];

	(void)state;
	nt_svg_text(out, 3, -4, " class=\"soft\"", "\xc3\xa9t\xc3\xa9", 3);
	nt_svg_text(out, 0, 0, "", "\xc3\xa9t\xc3\xa9", 2);
	nt_svg_text(out, 0, 0, "", "abc", 0);
	fflush(out);
	assert_string_equal(drawn, "<text x=\"3\" y=\"-4\" class=\"soft\">\xc3\xa9t\xc3\xa9</text>\n"
				   "<text x=\"0\" y=\"0\">\xc3\xa9t..</text>\n<text x=\"0\" y=\"0\">..</text>\n");
	/* However many characters there may be. */
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	for (size_t most = 507; most <= 1000; most += most < 510 ? 1 : 490) {
		size_t n;

		begin_anew();
		nt_svg_text(out, 0, 0, "", text, most);
		fflush(out);
		n = strspn(strchr(drawn, '>') + 1, "x");
		assert_int_equal(n, most < 508 ? most : 508);
		assert_memory_equal(strchr(drawn, '>') + 1 + n, "..</text>", 9);
	}
}

static const char *described(const struct nt_selection *selection)
{
	static char text[NT_SVG_SESSION_MAX];
	const struct nt_session session = {
		.start_ts = 1000, .end_ts = 1000 + 2014000000, .start_realtime_ns = 1763721651000000000, .host = "vm"};

	nt_svg_session(&session, selection, text);
	return text;
}

#define VM "vm, 2025-11-21 10:40:51 UTC, 2.014 s"

static void says_what_was_selected(void **state)
{
	const struct nt_session unknown = {.end_ts = 1000, .host = "vm"};
	struct nt_selection selection = {.process = "a name of more than thirty letters"};
	char text[NT_SVG_SESSION_MAX];

	(void)state;
	assert_string_equal(described(&(struct nt_selection){0}), VM);
	assert_string_equal(described(&selection), VM ", process a name of more than thirty let");
	selection = (struct nt_selection){.from = {.is_given = true, .ns = 500000000},
					  .to = {.is_given = true, .ns = 1250000000},
					  .cpus = {{0, 0}, {2, 3}},
					  .n_cpus = 2,
					  .process = "nginx"};
	assert_string_equal(described(&selection), VM ", from 0.5 s, to 1.25 s, CPU 0,2-3, process nginx");
	selection.from = (struct nt_moment){.is_given = true, .is_wall = true, .ns = 1763721652500000000};
	selection.to.is_given = false;
	assert_string_equal(described(&selection), VM ", from 1.5 s, CPU 0,2-3, process nginx");
	nt_svg_session(&unknown, &(struct nt_selection){0}, text);
	assert_string_equal(text, "vm, at an unknown time, 1.000 us");
}

/* As many CPUs as there is room for, and no more bytes. */
static void long_selections_are_cut(void **state)
{
	struct nt_selection selection = {.n_cpus = NT_MAX_CPU_RANGES, .process = "nginx"};
	size_t length;

	(void)state;
	for (unsigned int i = 0; i < NT_MAX_CPU_RANGES; i++) {
		selection.cpus[i].first = 4000000000u + i;
		selection.cpus[i].last = 4000000000u + i;
	}
	length = strlen(described(&selection));
	assert_in_range(length, NT_SVG_SESSION_MAX - 60, NT_SVG_SESSION_MAX - 20);
	assert_null(strstr(described(&selection), "nginx"));
	/* With one of them less by a range's room, the process has room again. */
	selection.n_cpus = 20;
	assert_non_null(strstr(described(&selection), ",4000000019, process nginx"));
}

/* ---- heat maps ---- */

static void draw(const struct nt_heatmap *map, int64_t since_ts)
{
	nt_svg_begin(out, 2, "title");
	nt_svg_panel(out, 0, map, since_ts, "hook", VM);
	nt_svg_panel(out, 1, map, since_ts, "other", VM);
	nt_svg_end(out);
	fflush(out);
}

/* Ten powers of ten, from the lowest row on: all have their labels. */
static void parts_have_places(void **state)
{
	struct nt_heatmap map;

	(void)state;
	assert_int_equal(nt_heatmap_init(&map, 0, 1000000000, 120, 4), 0);
	for (int64_t ns = 900, n = 1; ns < 1000000000; ns *= 10, n *= 3)
		nt_heatmap_add(&map, ns, ns, (double)n);
	draw(&map, 0);
	nt_heatmap_release(&map);
	has(2, "<rect class=\"plot line\" x=\"104\" y=\"62\" width=\"800\" height=\"230\"");
	has(1, "<title>title</title>");
	has(1, ">hook</text>");
	has(1, ">other</text>");
	has(2, ">late by</text>");
	/* By time: each tenth of a second, from 0 to 1. */
	has(22, "y1=\"292\"");
	has(22, "y2=\"297\"");
	has(2, " x=\"104.00\" y=\"314\" fill=\"#59636e\" text-anchor=\"middle\">0 s</text>");
	has(2, " x=\"904.00\" y=\"314\" fill=\"#59636e\" text-anchor=\"middle\">1 s</text>");
	/* By latency: 1 us to 100 ms, of which the first is near the lowest row. */
	has(12, "x1=\"99\"");
	has(12, "<text class=\"soft\" x=\"96\" y=\"");
	has(2, ">1.000 us</text>");
	has(2, ">100.0 ms</text>");
	svg_places_check(drawn);
}

/* Where rows span little there are ticks at both ends alone; where ticks are near each other, some have no label. */
static void few_rows_and_many(void **state)
{
	struct nt_heatmap map;

	(void)state;
	assert_int_equal(nt_heatmap_init(&map, 5000, 5999, 100, 4), 0);
	nt_heatmap_add(&map, 5500, 500, 1);
	draw(&map, 0);
	has(4, "x1=\"99\"");
	has(2, "y=\"297.00\" fill=\"#59636e\" text-anchor=\"end\">448 ns</text>");
	has(2, "y=\"67.00\" fill=\"#59636e\" text-anchor=\"end\">512 ns</text>");
	svg_places_check(drawn);
	nt_heatmap_add(&map, 5500, 1, 1);
	nt_heatmap_add(&map, 5500, INT64_MAX, 1);
	begin_anew();
	draw(&map, 0);
	has(2 * 19, "x1=\"99\"");
	has(2 * 10, "<text class=\"soft\" x=\"96\" y=\""); /* every second has room */
	has(2, ">1 ns</text>");
	svg_places_check(drawn);
	nt_heatmap_release(&map);
}

/* Ticks are at whole steps since the recording began; where their labels are long, some have none. */
static void times_count_from_the_start(void **state)
{
	struct nt_heatmap map;

	(void)state;
	assert_int_equal(nt_heatmap_init(&map, 3350000000, 4350000000, 100, 4), 0);
	nt_heatmap_add(&map, 3400000000, 500, 1);
	draw(&map, 1000000000);
	has(2 * 10, "y1=\"292\"");
	has(2, " x=\"144.00\" y=\"314\" fill=\"#59636e\" text-anchor=\"middle\">2.4 s</text>");
	has(2, " x=\"864.00\" y=\"314\" fill=\"#59636e\" text-anchor=\"middle\">3.3 s</text>");
	svg_places_check(drawn);
	nt_heatmap_release(&map);

	begin_anew();
	assert_int_equal(nt_heatmap_init(&map, 10000001000000, 10000011000000, 100, 4), 0);
	nt_heatmap_add(&map, 10000005000000, 500, 1);
	draw(&map, 0);
	has(2 * 11, "y1=\"292\"");
	has(2 * 5, "text-anchor=\"middle\">1000"); /* the sixth would reach beyond the picture */
	has(2 * 2, "class=\"soft second\"");
	svg_places_check(drawn);
	nt_heatmap_release(&map);
}

static void nothing_to_draw(void **state)
{
	struct nt_heatmap map;

	(void)state;
	assert_int_equal(nt_heatmap_init(&map, 0, 1000, 10, 4), 0);
	draw(&map, 0);
	has(0, "<path class=\"l");
	has(0, ">packets</text>");
	svg_places_check(drawn);
	nt_heatmap_release(&map);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(texts_are_xml),
		TEST(texts_are_cut_at_characters),
		TEST(says_what_was_selected),
		TEST(long_selections_are_cut),
		TEST(parts_have_places),
		TEST(few_rows_and_many),
		TEST(times_count_from_the_start),
		TEST(nothing_to_draw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

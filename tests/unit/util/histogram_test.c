// SPDX-License-Identifier: GPL-2.0-only
/*
 * histogram_test.c - buckets, heat maps and the scale of their shades, beside slow and obvious ways to find the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/latency/heatmap.h"
#include "report/util/histogram.h"
#include "tests/support/rand.h"

/* The first bucket whose bound is not below the time: the definition. */
static uint32_t slow_bucket(uint32_t per_octave, int64_t ns)
{
	uint32_t bucket = 0;

	while (nt_bucket_upper(per_octave, bucket) < ns)
		bucket++;
	return bucket;
}

static void test_powers_of_two(void **state)
{
	(void)state;
	assert_int_equal(nt_bucket_of(1, -5), 0);
	assert_int_equal(nt_bucket_of(1, 0), 0);
	assert_int_equal(nt_bucket_of(1, 1), 0);
	for (unsigned int octave = 1; octave < 63; octave++) {
		int64_t bound = (int64_t)1 << octave;

		/* A value equal to a bound belongs to the bucket that ends there. */
		assert_int_equal(nt_bucket_upper(1, octave), bound);
		assert_int_equal(nt_bucket_of(1, bound), octave);
		assert_int_equal(nt_bucket_of(1, bound + 1), octave + 1);
	}
	assert_int_equal(nt_bucket_of(1, INT64_MAX), 63);
	assert_int_equal(nt_bucket_upper(1, 63), INT64_MAX);
	assert_int_equal(nt_bucket_lower(1, 0), 0);
	assert_int_equal(nt_bucket_lower(1, 11), 1024);
}

static void test_buckets_by_definition(void **state)
{
	(void)state;
	for (uint32_t per_octave = 1; per_octave <= NT_MAX_PER_OCTAVE; per_octave++) {
		for (int64_t ns = 0; ns < 300; ns++)
			assert_int_equal(nt_bucket_of(per_octave, ns), slow_bucket(per_octave, ns));
		for (uint32_t bucket = 1; bucket < nt_bucket_count(per_octave, 63); bucket++) {
			int64_t upper = nt_bucket_upper(per_octave, bucket);

			assert_true(upper >= nt_bucket_lower(per_octave, bucket));
			if (upper == nt_bucket_lower(per_octave, bucket))
				continue;
			assert_int_equal(nt_bucket_of(per_octave, upper), bucket);
			assert_true(upper == INT64_MAX || nt_bucket_of(per_octave, upper + 1) > bucket);
		}
	}
}

static void test_random_times(void **state)
{
	struct nt_rand rand = {3};

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		uint32_t per_octave = 1 + (uint32_t)nt_rand_below(&rand, NT_MAX_PER_OCTAVE);
		int64_t ns = (int64_t)(nt_rand_any(&rand) >> 1);
		uint32_t bucket = nt_bucket_of(per_octave, ns);

		assert_true(bucket < nt_bucket_count(per_octave, 63));
		assert_true(ns <= nt_bucket_upper(per_octave, bucket));
		assert_true(!bucket || ns > nt_bucket_lower(per_octave, bucket));
	}
}

/* ---- heat maps ---- */

static void test_columns(void **state)
{
	struct nt_heatmap map;
	struct nt_rand rand = {9};

	(void)state;
	for (unsigned int round = 0; round < 200; round++) {
		int64_t begin = (int64_t)nt_rand_below(&rand, 1ull << 40);
		int64_t end = begin + 1 + (int64_t)nt_rand_below(&rand, round % 2 ? 50 : 1ull << 40);
		uint32_t columns = 1 + (uint32_t)nt_rand_below(&rand, 100);

		assert_int_equal(nt_heatmap_init(&map, begin, end, columns, 1), 0);
		assert_int_equal(nt_heatmap_column_ts(&map, 0), begin);
		assert_int_equal(nt_heatmap_column_ts(&map, columns), end);
		for (unsigned int i = 0; i < 20; i++) {
			int64_t ts = begin + (int64_t)nt_rand_below(&rand, (uint64_t)(end - begin));
			uint32_t column = 0;

			while (column + 1 < columns && nt_heatmap_column_ts(&map, column + 1) <= ts)
				column++;
			nt_heatmap_add(&map, ts, 1000, 2);
			assert_true(nt_heatmap_cell(&map, column, nt_bucket_of(1, 1000)) >= 2);
		}
		nt_heatmap_release(&map);
	}
}

static void test_counts(void **state)
{
	struct nt_heatmap map;

	(void)state;
	assert_int_equal(nt_heatmap_init(&map, 1000, 2000, 10, 1), 0);
	assert_int_equal(map.high, 0);
	nt_heatmap_add(&map, 1000, 5, 1);
	nt_heatmap_add(&map, 1099, 5, 3);
	nt_heatmap_add(&map, 1100, 5, 1);
	nt_heatmap_add(&map, 0, 700, 1);
	nt_heatmap_add(&map, INT64_MAX, 700, 1);
	assert_true(nt_heatmap_cell(&map, 0, 3) == 4);
	assert_true(nt_heatmap_cell(&map, 1, 3) == 1);
	assert_true(nt_heatmap_cell(&map, 0, 10) == 1);
	assert_true(nt_heatmap_cell(&map, 9, 10) == 1);
	assert_true(map.most == 4);
	assert_int_equal(map.low, 3);
	assert_int_equal(map.high, 11);
	nt_heatmap_release(&map);
}

static void test_levels(void **state)
{
	static const double greatest[] = {1, 2, 3, 10, 512, 1000, 1e6, 1e12};

	(void)state;
	assert_int_equal(nt_heat_level(0, 10), 0);
	assert_int_equal(nt_heat_level(1, 1), NT_HEAT_LEVELS);
	for (size_t i = 0; i < sizeof(greatest) / sizeof(greatest[0]); i++) {
		unsigned int before = 0;

		assert_int_equal(nt_heat_level(greatest[i], greatest[i]), NT_HEAT_LEVELS);
		for (double count = 1; count <= greatest[i] && count < 3000; count++) {
			unsigned int level = nt_heat_level(count, greatest[i]);

			/* They rise, and the legend says where each begins. */
			assert_in_range(level, 1, NT_HEAT_LEVELS);
			assert_true(level >= before);
			assert_true(count >= nt_heat_level_begin(level, greatest[i]));
			before = level;
		}
	}
}

/* ---- drawing ---- */

static char *drawn(const struct nt_heatmap *map, bool colour)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	nt_heatmap_print(map, out, 1000, colour);
	fclose(out);
	return text;
}

static void test_characters(void **state)
{
	struct nt_heatmap map;
	char *text;

	(void)state;
	assert_int_equal(nt_heatmap_init(&map, 1000, 2000001000, 20, 1), 0);
	text = drawn(&map, false);
	assert_string_equal(text, "none\n");
	free(text);
	nt_heatmap_add(&map, 1000, 300, 1);
	nt_heatmap_add(&map, 1500000000, 300, 9);
	nt_heatmap_add(&map, 1000, 1500, 3);
	text = drawn(&map, false);
	assert_string_equal(text, " 2.048 us |+\n"
				  " 1.024 us |\n"
				  "   512 ns |.             @\n"
				  "          +--------------------\n"
				  "           0 s              2 s\n"
				  "           packets: . 1 - 2 + 3 * 4 % 5 # 6 @ 8 and more\n");
	free(text);
	text = drawn(&map, true);
	assert_non_null(strstr(text, " 2.048 us |\033[48;5;32m \033[0m "));
	free(text);
	nt_heatmap_release(&map);
}

/* Four rows for each octave, of which the least octaves have fewer nanoseconds: rows that can hold none are not there.
 */
static void test_rows_of_few_nanoseconds(void **state)
{
	const char *rows = "     4 ns |@\n"
			   "     3 ns |\n"
			   "     2 ns |\n"
			   "     1 ns |@\n"
			   "          +-----\n";
	struct nt_heatmap map;
	char *text;

	(void)state;
	assert_int_equal(nt_heatmap_init(&map, 1000, 2000001000, 5, 4), 0);
	nt_heatmap_add(&map, 1000, 1, 1);
	nt_heatmap_add(&map, 1000, 4, 1);
	text = drawn(&map, false);
	if (strncmp(text, rows, strlen(rows)) != 0)
		fail_msg("other rows:\n%s", text);
	free(text);
	nt_heatmap_release(&map);
}

/* How often a part stands in a text. */
static unsigned int count_of(const char *text, const char *part)
{
	unsigned int n = 0;

	for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
		n++;
	return n;
}

static void test_svg(void **state)
{
	struct nt_heatmap map;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(nt_heatmap_init(&map, 1000, 2000001000, 20, 4), 0);
	nt_heatmap_add(&map, 1000, 300, 1);
	nt_heatmap_add(&map, 1500000000, 1000000, 9);
	/* U+FFFD, and two that XML has no place for. */
	nt_svg_begin(out, 1, "a <b> & \"c\" \xff\x01 \xef\xbf\xbd \xef\xbf\xbe\xef\xbf\xbf");
	nt_svg_panel(out, 0, &map, 1000, "ip-start", "host <x>, today");
	nt_svg_end(out);
	fclose(out);
	assert_non_null(strstr(text, "<title>a &lt;b&gt; &amp; &quot;c&quot; &#xfffd;&#xfffd; \xef\xbf\xbd "
				     "&#xfffd;&#xfffd;</title>"));
	/* Of 20 columns the first and the 15th; of the rows the lowest and the highest. */
	assert_non_null(
		strstr(text, "data-begin=\"0.000000000\" data-end=\"2.000000000\" data-bounds=\"256 ns;320 ns;"));
	assert_non_null(strstr(text, ";917.5 us;1.048 ms\" data-cells=\"0 1;;;;;;;;;;;;;;47 9;;;;;\">"));
	assert_int_equal(count_of(text, "<title>"), 1);
	assert_int_equal(count_of(text, "<g"), count_of(text, "</g>"));
	assert_int_equal(count_of(text, "<text"), count_of(text, "</text>"));
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
	free(text);
	nt_heatmap_release(&map);
}

/* However late packets were, the axis has an end. */
static void test_svg_of_any_latency(void **state)
{
	static const int64_t least[] = {-1, 0, 1, 2, 5, 1000, INT64_MAX / 3, INT64_MAX};
	static const int64_t greatest[] = {0, 3, 1000, 99999, INT64_MAX - 5, INT64_MAX};
	struct nt_heatmap map;
	char *text;
	size_t size;

	(void)state;
	for (size_t i = 0; i < sizeof(least) / sizeof(least[0]); i++) {
		for (size_t j = 0; j < sizeof(greatest) / sizeof(greatest[0]); j++) {
			FILE *out = open_memstream(&text, &size);

			assert_int_equal(nt_heatmap_init(&map, 0, INT64_MAX, 20, 7), 0);
			nt_heatmap_add(&map, 5, least[i], 1);
			nt_heatmap_add(&map, INT64_MAX, greatest[j], 1e30);
			nt_svg_panel(out, 0, &map, 0, "", "");
			nt_heatmap_print(&map, out, 0, true);
			fclose(out);
			assert_true(size < 500000);
			assert_true(count_of(text, "text-anchor=\"end\"") >= 2);
			assert_null(strstr(text, "nan"));
			free(text);
			nt_heatmap_release(&map);
		}
	}
}

/* By trying one after the other. */
static void test_steps(void **state)
{
	struct nt_rand rand = {7};

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		uint64_t span = nt_rand_any(&rand), step = 1;

		for (unsigned int i = 0; span / step > 10 || (span / step == 10 && span % step); i++)
			step = i % 3 == 1 ? step / 2 * 5 : step * 2;
		assert_int_equal(nt_heat_step(span), step);
	}
}

static void test_seconds(void **state)
{
	char text[NT_HUMAN_MAX];

	(void)state;
	assert_string_equal(nt_human_seconds(text, 0), "0 s");
	assert_string_equal(nt_human_seconds(text, 1), "0.000000001 s");
	assert_string_equal(nt_human_seconds(text, 1000005000000), "1000.005 s");
	assert_string_equal(nt_human_seconds(text, INT64_MAX), "9223372036.854775807 s");
}

/* The ticks of a map of this time; no two have the same label. Those that have no room for one have none. */
static int ticks_of(int64_t begin_ts, int64_t end_ts)
{
	static const char label[] = "text-anchor=\"middle\">";
	struct nt_heatmap map;
	size_t size = 0;
	char *text = NULL, *last = NULL;
	FILE *out = open_memstream(&text, &size);
	int n;

	assert_int_equal(nt_heatmap_init(&map, begin_ts, end_ts, 10, 1), 0);
	nt_svg_panel(out, 0, &map, 0, "", "");
	fclose(out);
	for (char *at = strstr(text, label); at; at = strstr(at + 1, label)) {
		size_t length = strcspn(at, "<");

		assert_false(last && !strncmp(at, last, length + 1));
		last = at;
	}
	assert_non_null(last);
	n = (int)count_of(text, "<line");
	free(text);
	nt_heatmap_release(&map);
	return n;
}

static void test_ticks(void **state)
{
	struct nt_rand rand = {3};

	(void)state;
	assert_int_equal(ticks_of(1795284000000000000, 1795284000000000001), 2);
	assert_int_equal(ticks_of(1000000000000, 1000010000000), 11);
	assert_int_equal(ticks_of(INT64_MAX - 1, INT64_MAX), 2);
	for (unsigned int round = 0; round < 1000; round++) {
		int64_t begin = (int64_t)(nt_rand_any(&rand) / 4), end = begin + 1 + (int64_t)(nt_rand_any(&rand) / 4);
		int n = ticks_of(begin, end);

		assert_true(n >= (end - begin > 1 ? 2 : 1) && n <= 11);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_powers_of_two), cmocka_unit_test(test_buckets_by_definition),
		cmocka_unit_test(test_random_times),  cmocka_unit_test(test_columns),
		cmocka_unit_test(test_counts),	      cmocka_unit_test(test_levels),
		cmocka_unit_test(test_characters),    cmocka_unit_test(test_rows_of_few_nanoseconds),
		cmocka_unit_test(test_svg),	      cmocka_unit_test(test_svg_of_any_latency),
		cmocka_unit_test(test_steps),	      cmocka_unit_test(test_seconds),
		cmocka_unit_test(test_ticks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

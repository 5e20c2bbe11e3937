// SPDX-License-Identifier: GPL-2.0-only
/*
 * prose_test.c - text that fits: widths, names without their middle, sentences that wrap, and which columns of a table
 * a line has room for.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/prose.h"
#include "report/out/table.h"
#include "tests/support/rand.h"

static void widths(void **state)
{
	(void)state;
	assert_int_equal(nt_text_width(""), 0);
	assert_int_equal(nt_text_width("abc"), 3);
	assert_int_equal(nt_text_width("\xc3\xa9t\xc3\xa9"), 3); /* two letters of two bytes */
	assert_int_equal(nt_text_width("\xe6\xbc\xa2"), 2); /* a wide one */
	assert_int_equal(nt_text_width("e\xcc\x81"), 1); /* an accent of its own */
	assert_int_equal(nt_text_width("\033[1;36mab\033[0m"), 2);
	assert_int_equal(nt_text_width("\xff\xffz"), 3); /* no UTF-8 at all */
	assert_int_equal(nt_text_upto("a\xe6\xbc\xa2z", 2), 1); /* the wide one does not fit */
	assert_int_equal(nt_text_upto("a\xe6\xbc\xa2z", 3), 4);
}

static void expect_short(const char *text, size_t width, const char *ellipsis, const char *wanted)
{
	char copy[100];

	snprintf(copy, sizeof(copy), "%s", text);
	assert_string_equal(nt_text_shorten(copy, width, ellipsis), wanted);
}

static void shortens(void **state)
{
	(void)state;
	expect_short("nginx", 5, "...", "nginx");
	expect_short("/system.slice/web.service", 15, "...", "/syste...ervice");
	expect_short("/system.slice/web.service", 15, "\xe2\x80\xa6", "/system\xe2\x80\xa6service");
	expect_short("abcdef", 4, "...", "abcd"); /* no room for an ellipsis */
	expect_short("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", 7, "...",
		     "\xe6\xbc\xa2...\xe6\xbc\xa2");
}

/* Whatever is in a text, it gets no wider than asked for, and no longer than it was. */
static void shortens_anything(void **state)
{
	static const char *const pieces[] = {"a",   "/", "\xc3\xa9", "\xe6\xbc\xa2", "\xcc\x81", "\xf0\x9f\x98\x80",
					     "\xff"};
	struct nt_rand rand = {nt_rand_seed()};

	(void)state;
	for (int round = 0; round < 20000; round++) {
		char text[256] = "", *copy;
		size_t width = 1 + nt_rand_below(&rand, 30), n = nt_rand_below(&rand, 40);

		for (size_t i = 0; i < n; i++)
			strcat(text, pieces[nt_rand_below(&rand, sizeof(pieces) / sizeof(pieces[0]))]);
		copy = strdup(text); /* of its own size: sanitizers see what is written behind it */
		nt_text_shorten(copy, width, round % 2 ? "..." : "\xe2\x80\xa6");
		assert_true(nt_text_width(copy) <= width || nt_text_width(text) <= width);
		assert_true(strlen(copy) <= strlen(text));
		free(copy);
	}
}

static void expect_prose(const char *lead, const char *text, const char *wanted)
{
	char *got = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&got, &size);

	nt_print_prose(out, lead, "%s", text);
	fclose(out);
	assert_string_equal(got, wanted);
	free(got);
}

static void wraps(void **state)
{
	(void)state;
	expect_prose("", "short", "short\n");
	expect_prose(
		"  ok  ",
		"It wraps at words, and what follows begins below the end of what led, where there is room for it.",
		"  ok  It wraps at words, and what follows begins below the end of what led,\n"
		"      where there is room for it.\n");
	/* A number is not parted from its unit. */
	expect_prose("", "This sentence is made so that its line ends just there, behind the number: 12.34 ms of it.",
		     "This sentence is made so that its line ends just there, behind the number:\n12.34 ms of it.\n");
	/* Nothing that a terminal would act on; what no line has room for is cut. */
	expect_prose("", "a\033[1mb\nc", "a\\x1b[1mb\\x0ac\n");
	expect_prose("  ", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		     "  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n  xxxxxxxx\n");
}

static void wraps_commands(void **state)
{
	struct nt_prose prose;
	char *got = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&got, &size);

	(void)state;
	nt_prose_begin(&prose, out);
	fputs("nettape-report timeline 'a" NT_STUCK "name" NT_STUCK "with" NT_STUCK "blanks' --from" NT_STUCK
	      "1.2345 --to" NT_STUCK "2.3456 --cpu" NT_STUCK "0",
	      prose.line);
	nt_prose_end_command(&prose, "  ");
	fclose(out);
	assert_string_equal(got, "  nettape-report timeline 'a name with blanks' --from 1.2345 --to 2.3456 \\\n"
				 "  --cpu 0\n");
	free(got);
}

static size_t width_of(const struct nt_table_column *columns, size_t n)
{
	size_t width = 0;

	for (size_t i = 0; i < n; i++)
		width += columns[i].is_shown ? columns[i].width + (i ? NT_TABLE_GAP : 0) : 0;
	return width;
}

static void fits_tables(void **state)
{
	struct nt_table_column columns[] = {{.natural = 60, .least = 10},
					    {.natural = 8, .least = 8, .rank = 2},
					    {.natural = 8, .least = 8, .rank = 1}};

	(void)state;
	nt_table_fit(columns, 3, 100);
	assert_true(columns[0].width == 60 && columns[1].is_shown && columns[2].is_shown);
	/* A name is shortened before a column is left out. */
	nt_table_fit(columns, 3, 60);
	assert_true(columns[0].width == 40 && columns[1].is_shown && columns[2].is_shown);
	/* But not to nothing: then the column of the lowest rank goes. */
	nt_table_fit(columns, 3, 45);
	assert_true(columns[0].width == 35 && columns[1].is_shown && !columns[2].is_shown);
	nt_table_fit(columns, 3, 20);
	assert_true(columns[0].width == 20 && !columns[1].is_shown && !columns[2].is_shown);
	nt_table_fit(columns, 0, 20);
}

/* No table is wider than the room, unless its first column alone is; no number gets less than it takes. */
static void fits_any_table(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};

	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct nt_table_column columns[12];
		size_t n = 1 + nt_rand_below(&rand, 12), room = 1 + nt_rand_below(&rand, 200);

		for (size_t i = 0; i < n; i++) {
			columns[i] = (struct nt_table_column){.natural = nt_rand_below(&rand, 60),
							      .rank = (unsigned int)nt_rand_below(&rand, 5)};
			columns[i].least = nt_rand_below(&rand, 2) ? columns[i].natural
								   : nt_rand_below(&rand, columns[i].natural + 1);
		}
		nt_table_fit(columns, n, room);
		assert_true(columns[0].is_shown);
		assert_true(width_of(columns, n) <= room ||
			    (columns[0].least > room && width_of(columns, n) == columns[0].width));
		for (size_t i = 0; i < n; i++)
			assert_true(!columns[i].is_shown ||
				    (columns[i].width >= columns[i].least && columns[i].width <= columns[i].natural));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths),	  cmocka_unit_test(shortens),	    cmocka_unit_test(shortens_anything),
		cmocka_unit_test(wraps),	  cmocka_unit_test(wraps_commands), cmocka_unit_test(fits_tables),
		cmocka_unit_test(fits_any_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * text_test.c - what the recorder prints for people: times, the status line in every width, and text in lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/text.h"
#include "record/wrap.h"
#include "tests/support/rand.h"

static void test_durations(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{10000000000, "10 s"}, {500000000, "500 ms"},	 {2500000000, "2.5 s"},	       {120000000000, "2 min"},
		{90000000000, "90 s"}, {3600000000000, "1 h"},	 {5400000000000, "90 min"},    {1, "1e-06 ms"},
		{1500000, "1.5 ms"},   {86400000000000, "24 h"}, {999999999, "999.999999 ms"}, {1000000000, "1 s"},
	};
	char out[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		nt_duration_text(out, sizeof(out), cases[i].ns);
		assert_string_equal(out, cases[i].text);
	}
}

/* Three digits, rounded: never "100.0", and never 1,000 of a unit. */
static void test_bytes(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{0, "0 B"},	    {999, "999 B"},	   {1000, "1.0 kB"},
		{99949, "99.9 kB"}, {99950, "100 kB"},	   {999499, "999 kB"},
		{999500, "1.0 MB"}, {33100000, "33.1 MB"}, {UINT64_MAX, "18.4 EB"},
	};
	char out[NT_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(nt_bytes_text(out, cases[i].bytes), cases[i].text);
}

static void test_status_text(void **state)
{
	static const char whole[] = "12 s, 28,797,145 events, 0 lost, 76.5 MB";
	struct nt_status_figures progress = {.duration_ns = 12999999999, .events = 28797145, .bytes = 76496460};
	char line[256];

	(void)state;
	for (size_t width = 0; width < 100; width++) {
		nt_status_text(line, width, &progress);
		assert_true(strlen(line) <= width);
		assert_memory_equal(line, whole, strlen(line));
		/* Cut at a comma between two numbers, or not at all. */
		assert_true(!line[0] || strlen(line) == strlen(whole) || !strncmp(whole + strlen(line), ", ", 2));
		assert_true(width < strlen(whole) || strlen(line) == strlen(whole));
	}
	progress = (struct nt_status_figures){
		.duration_ns = UINT64_MAX, .events = UINT64_MAX, .lost = UINT64_MAX, .bytes = UINT64_MAX};
	nt_status_text(line, sizeof(line) - 1, &progress);
	assert_string_equal(line, "18,446,744,073 s, 18,446,744,073,709,551,615 events, "
				  "18,446,744,073,709,551,615 lost, 18.4 EB");
	progress = (struct nt_status_figures){.events = 999, .lost = 1000, .bytes = 999949};
	nt_status_text(line, sizeof(line) - 1, &progress);
	assert_string_equal(line, "0 s, 999 events, 1,000 lost, 1.0 MB");
	progress.bytes = 999;
	nt_status_text(line, sizeof(line) - 1, &progress);
	assert_string_equal(line, "0 s, 999 events, 1,000 lost, 999 B");
}

static void test_wrap(void **state)
{
	struct nt_wrap wrap;
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	(void)state;
	assert_non_null(to);
	nt_wrap_begin(&wrap, to, 12, "socket");
	nt_wrap_words(&wrap, "send and receive operations on network sockets, which are counted,");
	nt_wrap_words(&wrap, "  here  too ");
	nt_wrap_end(&wrap);
	nt_wrap_begin(&wrap, to, 2, "");
	nt_wrap_words(&wrap,
		      "a_word_that_is_longer_than_the_line_has_room_for_and_that_stays_whole_nevertheless_as_it_is b");
	nt_wrap_end(&wrap);
	fclose(to);
	assert_string_equal(
		text, "socket      send and receive operations on network sockets, which are counted,\n"
		      "            here too\n"
		      "  a_word_that_is_longer_than_the_line_has_room_for_and_that_stays_whole_nevertheless_as_it_is\n"
		      "  b\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_status_text),
		cmocka_unit_test(test_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

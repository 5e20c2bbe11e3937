// SPDX-License-Identifier: GPL-2.0-only
/*
 * arguments_test.c - the recorder's command line, walked: values, abbreviations, where options end, and the sentence
 * for each way to write an option wrongly.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <getopt.h>
#include <string.h>

#include "record/arguments.h"

static const struct nt_argument known[] = {
	{"output", 'o', "busy.tape"}, {"duration", 'd', "10s"}, {"probes", 300, "default,latency"},
	{"pid", 'p', "1234"},	      {"quiet", 'q', NULL},	{"user", 301, "alice"},
	{"user-stacks", 302, NULL},   {NULL, 0, NULL},
};

/* Walks "a b c" to its end, or to what is wrong; gives the sentence on that, or "". */
static const char *walk(const char *line, int *ids, const char **values)
{
	static char error[256], words[256];
	char *argv[16] = {"nettape-record"};
	int argc = 1, id;

	strcpy(words, line);
	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	optind = 0; /* glibc: from the beginning */
	error[0] = 0;
	while ((id = nt_arguments_next(argc, argv, known, error, sizeof(error))) != -1 && id != NT_ARGUMENTS_WRONG) {
		*ids++ = id;
		*values++ = optarg;
	}
	*ids = 0;
	return error;
}

static void test_right(void **state)
{
	const char *values[16];
	int ids[16];

	(void)state;
	assert_string_equal(walk("-qo t.tape --duration=10s --prob sched -d 5 -- sleep --quiet", ids, values), "");
	assert_int_equal(ids[0], 'q');
	assert_int_equal(ids[1], 'o');
	assert_string_equal(values[1], "t.tape");
	assert_int_equal(ids[2], 'd');
	assert_string_equal(values[2], "10s");
	assert_int_equal(ids[3], 300);
	assert_string_equal(values[3], "sched");
	assert_string_equal(values[4], "5");
	assert_int_equal(ids[5], 0);
	assert_int_equal(optind, 9);
	assert_string_equal(walk("--user bob --user-s", ids, values), "");
	assert_int_equal(ids[0], 301);
	assert_int_equal(ids[1], 302);
	/* A value may begin with a dash; what is no option ends them. */
	assert_string_equal(walk("-o -x a -q", ids, values), "");
	assert_int_equal(ids[1], 0);
	assert_int_equal(optind, 3);
}

static void test_wrong(void **state)
{
	static const struct {
		const char *line, *error;
	} cases[] = {
		{"--porbes x", "unknown option '--porbes' (did you mean '--probes'?)"},
		{"--durration=5", "unknown option '--durration' (did you mean '--duration'?)"},
		{"--frobnicate", "unknown option '--frobnicate'"},
		{"-x", "unknown option '-x'"},
		{"-qx", "unknown option '-x'"},
		{"-\x01", "unknown option '-?'"},
		{"--p 5", "option '--p' is ambiguous: --probes, --pid"},
		{"--us=5", "option '--us' is ambiguous: --user, --user-stacks"},
		{"-d", "option '-d' needs a value, such as 10s"},
		{"-q --duration", "option '--duration' needs a value, such as 10s"},
		{"--dur", "option '--dur' needs a value, such as 10s"},
		{"-o -- sleep 5", "option '-o' needs a value, such as busy.tape"},
		{"--output -- sleep 5", "option '--output' needs a value, such as busy.tape"},
		{"--quiet=yes", "option '--quiet' takes no value"},
		{"--user-stacks=yes", "option '--user-stacks' takes no value"},
	};
	const char *values[16];
	int ids[16];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(walk(cases[i].line, ids, values), cases[i].error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

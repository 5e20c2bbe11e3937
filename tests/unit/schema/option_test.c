// SPDX-License-Identifier: GPL-2.0-only
/*
 * option_test.c - a command line, read and completed by a table: values, abbreviations, where options end, the sentence
 * for each way to write an option wrongly, and what a word may become.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "schema/cli/option.h"

struct values {
	const char *output, *probes, *user, *both[2];
	bool quiet, user_stacks;
	int n_pids;
};

static bool add_pid(void *member, const struct nt_option_values *values)
{
	int *n = member;

	if (*n == 2)
		snprintf(values->error, values->error_size, "that is too often");
	return values->text[0] != 'x' && (*n)++ < 2;
}

static const char *probe_choice(unsigned int i)
{
	static const char *const probes[] = {"sched", "socket", "stacks", NULL};

	return probes[i];
}

#define TO(set, member) NT_TO(set, struct values, member)
static const struct nt_option table[] = {
	NT_OPTION("output", 'o', "FILE", "busy.tape", TO(nt_option_set_text, output), "writes", .is_needed = true),
	NT_OPTION("probes", 0, "LIST", "sched,irq", TO(nt_option_set_text, probes), "probes", .choice = probe_choice),
	NT_OPTION("pid", 'p', "PID", "1234", TO(add_pid, n_pids), "process", .wants = "a number"),
	NT_OPTION("quiet", 'q', NULL, NULL, TO(nt_option_set_true, quiet), "is quiet"),
	NT_OPTION("quite", 0, NULL, NULL, TO(nt_option_set_true, quiet), NULL),
	NT_OPTION("user", 0, "NAME", "alice", TO(nt_option_set_text, user), "whose"),
	NT_OPTION("user-stacks", 0, NULL, NULL, TO(nt_option_set_true, user_stacks), "more"),
	NT_OPTION("between", 0, "HOOK HOOK", "a b", TO(nt_option_set_both, both), "from one to the other",
		  .choice = probe_choice),
	NT_OPTIONS_END,
};

/* Words of a line, which stay valid until the next call; _ is an empty one. Gives how many. */
static int split(const char *line, char **words)
{
	static char text[256];
	int n = 0;

	strcpy(text, line);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		words[n++] = strcmp(word, "_") ? word : word + 1;
	words[n] = NULL;
	return n;
}

static struct values values;
static char error[256];
static char *argv[32] = {"program"};
static struct nt_option_reader reader;

static int walk(const char *line, bool stops)
{
	values = (struct values){0};
	reader = (struct nt_option_reader){
		.options = table, .into = &values, .stops = stops, .error = error, .error_size = sizeof(error)};
	return nt_option_read(&reader, 1 + split(line, argv + 1), argv);
}

static void test_right(void **state)
{
	(void)state;
	assert_int_equal(walk("-qo t.tape --prob=sched a -p1 -p 2 --between x y b -", false), 3);
	assert_string_equal(values.output, "t.tape");
	assert_string_equal(values.probes, "sched");
	assert_int_equal(values.n_pids, 2);
	assert_true(values.quiet);
	assert_string_equal(values.both[1], "y");
	assert_string_equal(argv[1], "a");
	assert_string_equal(argv[3], "-");
	assert_null(argv[4]);
	assert_false(reader.has_dashes);
	assert_true(reader.given == (1u << 0 | 1u << 1 | 1u << 2 | 1u << 3 | 1u << 7));
	assert_null(nt_option_missing(&reader));
	/* A whole name is no abbreviation of a longer one; an old name still works, and makes no other ambiguous. */
	assert_int_equal(walk("--user bob --user-s --qui --quite", false), 0);
	assert_string_equal(values.user, "bob");
	assert_true(values.user_stacks);
	assert_ptr_equal(nt_option_missing(&reader), &table[0]);
	/* A value may begin with one dash, and with two in the same word. */
	assert_int_equal(walk("-o -x --user=--y", false), 0);
	assert_string_equal(values.output, "-x");
	assert_string_equal(values.user, "--y");
	assert_int_equal(walk("--user=", false), 0);
	assert_string_equal(values.user, "");
}

static void test_end(void **state)
{
	(void)state;
	assert_int_equal(walk("a -- -q", false), 2);
	assert_string_equal(argv[2], "-q");
	assert_true(reader.has_dashes);
	assert_int_equal(walk("-q a --user -- b", true), 4);
	assert_false(reader.has_dashes);
	assert_string_equal(argv[2], "--user");
	assert_int_equal(walk("-q -- sleep --user", true), 2);
	assert_true(reader.has_dashes);
	assert_int_equal(walk("--", true), 0);
	assert_true(reader.has_dashes);
}

static void test_wrong(void **state)
{
	static const struct {
		const char *line, *error, *unknown;
	} cases[] = {
		{"--porbes x", "unknown option '--porbes' (did you mean '--probes'?)", "--porbes"},
		{"--oputut=5", "unknown option '--oputut' (did you mean '--output'?)", "--oputut"},
		{"--frobnicate", "unknown option '--frobnicate'", "--frobnicate"},
		{"-x", "unknown option '-x'", "-x"},
		{"-qx", "unknown option '-x'", "-x"},
		{"-\x01", "unknown option '-?'", "-?"},
		{"--p 5", "option '--p' is ambiguous: --probes, --pid", ""},
		{"--us=5", "option '--us' is ambiguous: --user, --user-stacks", ""},
		{"--=5",
		 "option '--' is ambiguous: --output, --probes, --pid, --quiet, --user, --user-stacks, "
		 "--between",
		 ""},
		{"-o", "option '-o' needs a value, such as busy.tape", ""},
		{"-q --output", "option '--output' needs a value, such as busy.tape", ""},
		{"--out", "option '--output' needs a value, such as busy.tape", ""},
		{"-o -- sleep 5", "option '-o' needs a value, such as busy.tape", ""},
		{"--output --quiet", "option '--output' needs a value, such as busy.tape", ""},
		{"--between a", "option '--between' needs two values, such as a b", ""},
		{"--quiet=yes", "option '--quiet' takes no value", ""},
		{"--user-stacks=yes", "option '--user-stacks' takes no value", ""},
		{"-p x", "-p wants a number: x", ""},
		{"--pid=x", "--pid wants a number: x", ""},
		{"-p 1 -p 2 -p 3", "that is too often", ""},
	};
	char line[300] = "--";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(walk(cases[i].line, false), -1);
		assert_string_equal(error, cases[i].error);
		assert_string_equal(reader.unknown, cases[i].unknown);
	}
	memset(line + 2, 'x', 200);
	assert_int_equal(walk(line, false), -1);
	assert_int_equal(strlen(reader.unknown), 63);
}

static void test_label(void **state)
{
	char text[64];

	(void)state;
	assert_int_equal(nt_option_label(&table[0], text, sizeof(text)), 17);
	assert_string_equal(text, "-o, --output FILE");
	nt_option_label(&table[6], text, sizeof(text));
	assert_string_equal(text, "    --user-stacks");
	assert_int_equal(nt_option_label(&table[0], text, 8), 7);
	nt_option_short(&table[0], text, sizeof(text));
	assert_string_equal(text, "-o");
	nt_option_short(&table[5], text, sizeof(text));
	assert_string_equal(text, "--user");
}

/* The completions of the last word; or "N" or "N behind": it is the N-th of those that are no options. */
static const char *complete(const char *line, bool stops)
{
	static char *text;
	char *words[32];
	bool is_behind;
	size_t size;
	FILE *out;
	int n = split(line, words), at;

	free(text);
	text = NULL;
	out = open_memstream(&text, &size);
	at = nt_option_complete(out, table, stops, n, words, &is_behind);
	if (at >= 0)
		fprintf(out, "%d%s", at, is_behind ? " behind" : "");
	fclose(out);
	return text;
}

static void test_complete(void **state)
{
	(void)state;
	assert_string_equal(complete("--us", false), "--user\twhose\n--user-stacks\tmore\n");
	assert_string_equal(complete("--qui", false), "--quiet\tis quiet\n");
	assert_string_equal(complete("a -q -o", false), "");
	assert_string_equal(complete("-qo _", false), ":files\n");
	assert_string_equal(complete("-o x _", false), "0");
	assert_string_equal(complete("-ox a _", false), "1");
	assert_string_equal(complete("--user _", false), "");
	assert_string_equal(complete("--probes s", false), "sched\t\nsocket\t\nstacks\t\n");
	assert_string_equal(complete("--probes so", false), "socket\t\n");
	assert_string_equal(complete("--probes sched,st", false), "sched,stacks\t\n");
	assert_string_equal(complete("--probes=sched,st", false), "--probes=sched,stacks\t\n");
	assert_string_equal(complete("--between sched so", false), "socket\t\n");
	assert_string_equal(complete("--between=sched so", false), "socket\t\n");
	assert_string_equal(complete("--between a b _", false), "0");
	assert_string_equal(complete("--quiet=x _", false), "0");
	assert_string_equal(complete("--quiet=", false), "");
	assert_string_equal(complete("--frobnicate -x _", false), "0");
	assert_string_equal(complete("_", false), "0");
	assert_string_equal(complete("", false), "0");
	assert_string_equal(complete("a b _", false), "2");
	assert_string_equal(complete("a -- -", false), "1 behind");
	assert_string_equal(complete("-q -- _", true), "0 behind");
	assert_string_equal(complete("-q -- sleep --us", true), "1 behind");
	assert_string_equal(complete("sleep --us", true), "1");
	/* A word that is longer than any option. */
	assert_string_equal(
		complete("--outputoutputoutputoutputoutputoutputoutputoutputoutputoutputoutputoutput=", false), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right), cmocka_unit_test(test_end),      cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_label), cmocka_unit_test(test_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

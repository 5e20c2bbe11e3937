// SPDX-License-Identifier: GPL-2.0-only
/*
 * arg_test.c - arguments: lengths of time with their units and limits; the word that was meant, beside a recursive
 * model of the distance, on random words; and paths that a shell reads back as they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/cli/arg.h"
#include "tests/support/rand.h"

static void test_durations(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{"2.5", 2500000000},
		{"10s", 10000000000},
		{"2m", 120000000000},
		{"1.5m", 90000000000},
		{"1h", 3600000000000},
		{"0.000000001h", 3600},
		{"300ms", 300000000},
		{"20us", 20000},
		{"7ns", 7},
		{"0.0000000019", 1},
		{"0", 0},
		{"1.", 1000000000},
		{"1.5us", 1500},
		{"9223372036s", 9223372036000000000},
	};
	static const char *const bad[] = {"",
					  "s",
					  "-1",
					  "1x",
					  "1 s",
					  "2.5 ",
					  ".5",
					  "1ms2",
					  "1M",
					  "1min",
					  "0x10",
					  "inf",
					  "9223372037s",
					  "9223372036854775808ns",
					  "2562048h",
					  "99999999999999999999"};
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(nt_arg_duration(good[i].text, &ns), 0);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(nt_arg_duration(bad[i], &ns), -1);
}

static void test_slips(void **state)
{
	static const char *const known[] = {"info",   "check", "import", "summary", "timeline",
					    "stages", "from",  "to",	 NULL};
	static const struct {
		const char *word, *meant;
	} words[] = {
		{"sumary", "summary"},
		{"summray", "summary"},
		{"sum", "summary"},
		{"ifno", "info"},
		{"inport", "import"},
		{"timelines", "timeline"},
		{"fron", "from"},
		{"stage", "stages"},
		{"check", "check"},
		{"xyz", NULL},
		{"ta", NULL},
		{"", NULL},
		{"su", NULL},
		{"record", NULL},
		{"summarysummarysummarysummarysummarysummarysummarysummarysummarysummary", NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *nearest = nt_arg_nearest(words[i].word, known);

		if (words[i].meant)
			assert_string_equal(nearest ? nearest : "(none)", words[i].meant);
		else
			assert_null(nearest);
	}
}

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* The slow and obvious way: all edits of the first letters, tried. */
static unsigned int model(const char *a, size_t n, const char *b, size_t m)
{
	unsigned int best;

	if (!n || !m)
		return (unsigned int)(n + m);
	best = model(a + 1, n - 1, b + 1, m - 1) + (a[0] != b[0]);
	best = least(best, model(a + 1, n - 1, b, m) + 1);
	best = least(best, model(a, n, b + 1, m - 1) + 1);
	if (n > 1 && m > 1 && a[0] == b[1] && a[1] == b[0])
		best = least(best, model(a + 2, n - 2, b + 2, m - 2) + 1);
	return best;
}

static void random_word(struct nt_rand *rand, char word[8])
{
	size_t size = 1 + nt_rand_below(rand, 6);

	for (size_t i = 0; i < size; i++)
		word[i] = "abc"[nt_rand_below(rand, 3)];
	word[size] = 0;
}

/* Whatever is near enough, and nothing that is farther than another. */
static void test_random(void **state)
{
	struct nt_rand rand = {.state = 1};
	unsigned int found = 0;

	(void)state;
	for (int i = 0; i < 5000; i++) {
		char word[8], texts[3][8];
		const char *known[4] = {texts[0], texts[1], texts[2], NULL}, *nearest;
		unsigned int best = UINT32_MAX, edits[3];

		random_word(&rand, word);
		for (int k = 0; k < 3; k++) {
			size_t size = strlen(word);

			random_word(&rand, texts[k]);
			edits[k] = model(word, size, texts[k], strlen(texts[k]));
			if (size >= 3 && strlen(texts[k]) > size && !strncmp(word, texts[k], size))
				edits[k] = 1;
			best = least(best, edits[k]);
		}
		nearest = nt_arg_nearest(word, known);
		assert_true((nearest != NULL) == (best <= strlen(word) / 3));
		for (int k = 0; k < 3 && nearest; k++)
			if (nearest == known[k])
				assert_int_equal(edits[k], best);
		found += nearest != NULL;
	}
	assert_in_range(found, 500, 4500);
}

static void test_shell_words(void **state)
{
	static const struct {
		const char *word, *quoted;
	} cases[] = {
		{"busy.tape", "busy.tape"},
		{"/var/tmp/a-b_c@1:2%,+=.tape", "/var/tmp/a-b_c@1:2%,+=.tape"},
		{"", "''"},
		{"my tape", "'my tape'"},
		{"it's", "'it'\\''s'"},
		{"~/x", "'~/x'"},
		{"$(reboot)", "'$(reboot)'"},
		{"a\\b", "'a\\b'"},
		{"\xc3\xa9.tape", "'\xc3\xa9.tape'"},
		{"a\nb", "$'a\\012b'"},
		{"\033[2J'\\", "$'\\033[2J\\'\\\\'"},
		{"\177", "$'\\177'"},
		{"-x.tape", "./-x.tape"},
		{"-x y", "'./-x y'"},
	};
	char out[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(nt_arg_shell(out, sizeof(out), cases[i].word), cases[i].quoted);
}

/* bash reads back each word, of whatever bytes. */
static void test_shell_reads_it(void **state)
{
	struct nt_rand rand = {.state = 1};

	(void)state;
	if (system("bash -c 'exit 0' 2>/dev/null")) {
		print_message("SKIP: bash is not installed, which would read words back\n");
		skip();
	}
	for (int i = 0; i < 100; i++) {
		char word[24], quoted[128], got[64] = "";
		size_t size = 1 + nt_rand_below(&rand, sizeof(word) - 2), n;
		FILE *shell;

		for (size_t at = 0; at < size; at++)
			word[at] = (char)(1 + nt_rand_below(&rand, i % 2 ? 255 : 127));
		word[size] = 0;
		if (word[0] == '-')
			word[0] = '_';
		nt_arg_shell(quoted, sizeof(quoted), word);
		setenv("NT_QUOTED", quoted, 1);
		shell = popen("LC_ALL=C bash -c 'eval \"printf %s $NT_QUOTED\"'", "r");
		assert_non_null(shell);
		n = fread(got, 1, sizeof(got) - 1, shell);
		pclose(shell);
		assert_int_equal(n, size);
		assert_memory_equal(got, word, size);
	}
}

/* A buffer that is too small: cut, ended, and never written past. */
static void test_short_buffers(void **state)
{
	char out[64];

	(void)state;
	for (size_t size = 1; size < 40; size++) {
		memset(out, 'x', sizeof(out));
		nt_arg_shell(out, size, "a b\n'c'\001\002\003 and more of it");
		assert_non_null(memchr(out, 0, size));
		assert_int_equal(out[size], 'x');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations),      cmocka_unit_test(test_slips),
		cmocka_unit_test(test_random),	       cmocka_unit_test(test_shell_words),
		cmocka_unit_test(test_shell_reads_it), cmocka_unit_test(test_short_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

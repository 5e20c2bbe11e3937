// SPDX-License-Identifier: GPL-2.0-only
/*
 * record_options_test.c - the command line of nettape-record: where each value goes, the bounds of each, and what is
 * said of one that is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "record/options.h"

static uid_t euid;

uid_t geteuid(void)
{
	return euid;
}

char *secure_getenv(const char *name)
{
	return getenv(name);
}

static struct nt_record_options options;
static int exit_status;
static char said[2][8192]; /* on standard output, on standard error */

static int set_up(void **state)
{
	(void)state;
	euid = 0;
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	unsetenv("PKEXEC_UID");
	return 0;
}

static int parse_words(int n, char **words)
{
	int saved[2], result;

	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		saved[i] = dup(STDOUT_FILENO + i);
		assert_true(dup2(memfd_create("output", 0), STDOUT_FILENO + i) >= 0);
	}
	exit_status = -1;
	result = nt_record_options_parse(&options, n, words, &exit_status);
	fflush(NULL);
	for (int i = 0; i < 2; i++) {
		ssize_t size = pread(STDOUT_FILENO + i, said[i], sizeof(said[i]) - 1, 0);

		said[i][size > 0 ? size : 0] = 0;
		dup2(saved[i], STDOUT_FILENO + i);
		close(saved[i]);
	}
	return result;
}

/* The words after the program's name, with spaces between them. They stay: options.command points to some of them. */
static int parse(const char *line)
{
	static char copy[8192], *words[64];
	int n = 1;

	words[0] = (char *)"nettape-record";
	strcpy(copy, line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[n++] = word;
	words[n] = NULL;
	return parse_words(n, words);
}

static void takes(const char *line)
{
	if (parse(line))
		fail_msg("'%s' is refused: %s", line, said[1]);
	assert_string_equal(said[0], "");
}

static void is_refused(const char *line, const char *why)
{
	assert_int_equal(parse(line), 1);
	assert_int_equal(exit_status, 2);
	if (!strstr(said[1], why))
		fail_msg("'%s' is refused by '%s', not by '%s'", line, said[1], why);
}

static void defaults(void **state)
{
	char before[64], after[64];
	time_t begin = time(NULL), end;
	struct tm local;

	(void)state;
	takes("");
	end = time(NULL);
	strftime(before, sizeof(before), "nettape-%Y%m%d-%H%M%S.tape", localtime_r(&begin, &local));
	strftime(after, sizeof(after), "nettape-%Y%m%d-%H%M%S.tape", localtime_r(&end, &local));
	assert_true(strcmp(options.output, before) >= 0 && strcmp(options.output, after) <= 0);
	assert_int_equal(options.duration_ns, 0);
	assert_int_equal(options.ring_size, 256 << 10);
	assert_int_equal(options.stacks_hz, 999);
	assert_false(options.stacks_all || options.user_stacks || options.quiet || options.list_probes ||
		     options.bpf_stats || options.no_realtime);
	assert_null(options.command);
	assert_string_equal(options.program, "nettape-record");
	assert_string_equal(options.command_line, "nettape-record");
	assert_true(options.plan.on[NT_PROBE_SCHED] && options.plan.on[NT_PROBE_IRQ]);
	assert_false(options.plan.on[NT_PROBE_STACKS]);
	assert_false(options.owner.is_other || options.owner.is_asked);
	assert_false(nt_filter_is_set(&options.filter));
}

static void each_value_goes_where_it_belongs(void **state)
{
	(void)state;
	takes("-o a.tape -d 500ms --probes stacks,latency --plan tracepoints --ring-size 1M --user 0 --bpf-stats "
	      "--no-realtime -q -p 7 -i eth0 --netns /n --cgroup /c --min-queue 5 --latency-sample 0.5 -F 99 --stacks "
	      "all "
	      "--user-stacks -- sleep -q 5");
	assert_string_equal(options.output, "a.tape");
	assert_int_equal(options.duration_ns, 500000000);
	assert_true(options.plan.on[NT_PROBE_STACKS] && options.plan.on[NT_PROBE_LATENCY]);
	assert_false(options.plan.on[NT_PROBE_IRQ]);
	assert_string_equal(options.plan.only, "tracepoints");
	assert_int_equal(options.ring_size, 1 << 20);
	assert_true(options.owner.is_asked);
	assert_true(options.bpf_stats && options.no_realtime && options.quiet);
	assert_int_equal(options.filter.pids[0], 7);
	assert_string_equal(options.filter.devices[0], "eth0");
	assert_string_equal(options.filter.netns_text, "/n");
	assert_string_equal(options.filter.cgroup_path, "/c");
	assert_int_equal(options.filter.min_queue, 5);
	assert_true(options.filter.sample == 0.5);
	assert_int_equal(options.stacks_hz, 99);
	assert_true(options.stacks_all && options.user_stacks);
	assert_string_equal(options.command[0], "sleep");
	assert_string_equal(options.command[1], "-q");
	assert_string_equal(options.command[2], "5");
	assert_null(options.command[3]);
	assert_non_null(strstr(options.command_line, "nettape-record -o a.tape -d 500ms "));
	assert_non_null(strstr(options.command_line, " -- sleep -q 5"));
	takes("--probes stacks --stacks network");
	assert_false(options.stacks_all);
	takes("--list-probes");
	assert_true(options.list_probes);
}

static void ring_sizes(void **state)
{
	static const struct {
		const char *text;
		size_t size;
	} sizes[] = {
		{"64k", 65536},	    {"64K", 65536},	   {"65536", 65536},	    {"65537", 131072}, {"100k", 131072},
		{"1m", 1 << 20},    {"1M", 1 << 20},	   {"3M", 4 << 20},	    {"1g", 1 << 30},   {"1G", 1 << 30},
		{"1024M", 1 << 30}, {"1048576k", 1 << 30}, {"1073741824", 1 << 30},
	};
	static const char *const bad[] = {"65535",
					  "63k",
					  "0",
					  "x",
					  "k",
					  "-64k",
					  "64kB",
					  "64 k",
					  "2G",
					  "1025M",
					  "1073741825",
					  "64t",
					  "18446744073709551617"};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *words[] = {(char *)"nettape-record", (char *)"--ring-size", (char *)sizes[i].text, NULL};

		assert_int_equal(parse_words(3, words), 0);
		assert_int_equal(options.ring_size, sizes[i].size);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *words[] = {(char *)"nettape-record", (char *)"--ring-size", (char *)bad[i], NULL};

		assert_int_equal(parse_words(3, words), 1);
		assert_non_null(strstr(said[1], "--ring-size wants 64k to 1G"));
	}
}

static void how_much_is_kept(void **state)
{
	(void)state;
	takes("");
	assert_int_equal(options.retention.keep_ns, 0);
	assert_int_equal(options.retention.max_bytes, 0);
	assert_true(options.retention.min_free_bytes == NT_MIN_FREE_USUAL);
	takes("--keep 10m --max-size 2T --min-free 5g");
	assert_int_equal(options.retention.keep_ns, 600000000000);
	assert_int_equal(options.retention.max_bytes, 2ull << 40);
	assert_int_equal(options.retention.min_free_bytes, 5ull << 30);
	takes("--keep 1 --min-free 0");
	assert_int_equal(options.retention.keep_ns, 1000000000);
	assert_int_equal(options.retention.min_free_bytes, 0);
	is_refused("--keep 999ms", "--keep wants a time of 1s or more");
	is_refused("--keep 0", "--keep wants");
	is_refused("--max-size 0", "--max-size wants a size such as 200M or 2G");
	is_refused("--max-size 8388608T", "--max-size wants a size");
	is_refused("--max-size 2.", "--max-size wants a size");
	is_refused("--min-free -1", "--min-free wants a size such as 5G, or 0");
	is_refused("--min-free x", "--min-free wants");
	/* Room for what the rings of all CPUs hold, and some. */
	is_refused("--max-size 16M", "--max-size wants 1");
	is_refused("--max-size 1G --ring-size 1G", "M or more, with this many CPUs and this --ring-size");
}

static void frequencies(void **state)
{
	(void)state;
	takes("--probes stacks -F 1");
	assert_int_equal(options.stacks_hz, 1);
	takes("--probes stacks -F 100000");
	assert_int_equal(options.stacks_hz, 100000);
	is_refused("--probes stacks -F 100001", "-F wants samples a second, 1 to 100000");
	is_refused("--probes stacks -F 0", "-F wants");
	is_refused("--probes stacks -F -5", "-F wants");
	is_refused("--probes stacks -F 5x", "-F wants");
	is_refused("--probes stacks -F x", "-F wants");
	is_refused("--probes stacks --stacks some", "--stacks wants network or all");
}

static void sketches(void **state)
{
	static const char *const wrong[] = {"3x512", "4x500", "4x32", "9x64", "4x16384", "8x256", "4x512x", "4x", "x"};
	char words[64];

	(void)state;
	takes("--probes flows");
	assert_int_equal(options.flows.shape.rows, 4);
	assert_int_equal(options.flows.shape.column_bits, 9);
	assert_true(options.flows.sample == 0.01);
	takes("--probes flows --flow-sketch 8x128 --flow-sample 1");
	assert_int_equal(options.flows.shape.rows, 8);
	assert_int_equal(options.flows.shape.column_bits, 7);
	assert_true(options.flows.sample == 1);
	takes("--probes flows --flow-sketch 4x8192");
	takes("--probes flows --flow-sketch 1x64");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		snprintf(words, sizeof(words), "--probes flows --flow-sketch %s", wrong[i]);
		is_refused(words, "--flow-sketch wants rows and columns");
	}
	is_refused("--probes flows --flow-sample 0", "--flow-sample wants a probability");
	is_refused("--probes flows --flow-sample 1.1", "--flow-sample wants a probability");
}

static void keys_of_flows(void **state)
{
	(void)state;
	takes("--probes flows");
	assert_int_equal(options.flows.keys, 1u << NT_FLOW_KEY_FLOW);
	takes("--probes flows --flows port,src --flow-sample 0.5");
	assert_int_equal(options.flows.keys, 1u << NT_FLOW_KEY_FLOW | 1u << NT_FLOW_KEY_SRC | 1u << NT_FLOW_KEY_PORT);
	assert_true(options.flows.sample == 0.5);
	takes("--probes flows --flows flow,exact");
	assert_int_equal(options.flows.keys, 1u << NT_FLOW_KEY_FLOW);
	assert_int_equal(options.flows.shape.rows, 0);
	assert_true(options.flows.sample == 1);
	is_refused("--probes flows --flows exact --flow-sample 0.1", "--flows exact counts each packet");
	is_refused("--probes flows --flow-sketch 4x512 --flows exact", "--flows exact counts each packet");
	is_refused("--probes flows --flows src,", "--flows wants a list");
	is_refused("--probes flows --flows srcs", "--flows wants a list");
	is_refused("--flows src", "--flows needs the probe flows");
}

static int parse_output(const char *path)
{
	char *words[] = {(char *)"nettape-record", (char *)"-o", (char *)path, NULL};

	return parse_words(3, words);
}

static void output_paths(void **state)
{
	char path[NT_OUTPUT_MAX];

	(void)state;
	memset(path, 'a', sizeof(path));
	path[NT_OUTPUT_MAX - 64] = 0;
	assert_int_equal(parse_output(path), 0);
	assert_string_equal(options.output, path);
	path[NT_OUTPUT_MAX - 64] = 'a';
	path[NT_OUTPUT_MAX - 63] = 0;
	assert_int_equal(parse_output(path), 1);
	assert_non_null(strstr(said[1], "this path is too long for -o"));
	assert_int_equal(parse_output(""), 1);
	is_refused("-o -x", "-o wants a directory");
}

static void options_of_a_probe_that_is_off(void **state)
{
	(void)state;
	is_refused("-p 7", "-p needs the probe latency, which is off: add --probes default,latency");
	takes("--probes transmit -p 7 --latency-sample 0.1");
	is_refused("--probes transmit --min-queue 9", "--min-queue needs the probe latency");
	is_refused("--user-stacks", "--user-stacks needs the probe stacks, which is off: add --probes default,stacks");
	is_refused("--probes latency -p 7 --stacks all", "--stacks needs the probe stacks");
	takes("--probes all -p 7 --stacks all");
	/* Whichever comes first. */
	takes("-p 7 --probes latency");
}

static void command_behind_dashes(void **state)
{
	(void)state;
	is_refused("busy.tape", "write -o before the name of a tape, and -- before a command: busy.tape");
	is_refused("--", "there is no command after --");
	takes("-- true");
	assert_string_equal(options.command[0], "true");
}

static void helps(void **state)
{
	(void)state;
	assert_int_equal(parse("--version"), 1);
	assert_int_equal(exit_status, 0);
	assert_string_equal(said[0], "nettape-record " NT_VERSION "\n");
	assert_int_equal(parse("--help"), 1);
	assert_int_equal(exit_status, 0);
	assert_string_equal(said[1], "");
	/* Three sections; a label that leaves no room has a line of its own. */
	assert_non_null(strstr(said[0], "\n  -o, --output DIR      the directory to make for the tape"));
	assert_non_null(strstr(said[0], "\n  -- COMMAND ...        record while COMMAND runs; exit with its status\n"
					"\nOf the packets that the probes latency and transmit see, record only those\n"
					"  -p, --pid PID         that this process reads"));
	assert_non_null(strstr(said[0], "\nWith the probe stacks\n  -F, --frequency HZ"));
	assert_non_null(strstr(said[0], "\n                        "));
	/* Help is help, whatever else is wrong. */
	assert_int_equal(parse("--help -p 7"), 1);
	assert_int_equal(exit_status, 0);
}

static void completes(void **state)
{
	(void)state;
	assert_int_equal(parse("--complete --qu"), 1);
	assert_int_equal(exit_status, 0);
	assert_non_null(strstr(said[0], "--quiet"));
	assert_null(strstr(said[0], "--plan"));
	parse("--complete --plan f");
	assert_non_null(strstr(said[0], "fentry"));
	assert_null(strstr(said[0], "tracepoints"));
	parse("--complete --stacks a");
	assert_string_equal(said[0], "all\t\n");
	parse("--complete --probes na");
	assert_non_null(strstr(said[0], "napi"));
	parse("--complete --probes def");
	assert_non_null(strstr(said[0], "default"));
	parse("--complete --probes al");
	assert_non_null(strstr(said[0], "all"));
	parse("--complete -o x");
	assert_string_equal(said[0], ":directories\n");
	parse("--complete -- x");
	assert_string_equal(said[0], ":commands\n");
	parse("--complete");
	assert_non_null(strstr(said[0], "--output"));
	parse("--complete -d 5");
	assert_null(strstr(said[0], ":files"));
}

static void command_line_is_one_line(void **state)
{
	static char long_word[2000];
	char *words[] = {(char *)"nettape-record", (char *)"--", (char *)"a\nb", long_word, (char *)"c", NULL};

	(void)state;
	memset(long_word, 'x', sizeof(long_word) - 1);
	assert_int_equal(parse_words(5, words), 0);
	assert_null(strchr(options.command_line, '\n'));
	assert_int_equal(strncmp(options.command_line, "nettape-record -- a b xxx", 25), 0);
	assert_int_equal(strlen(options.command_line), sizeof(options.command_line) - 1);
}

static void owner_of_the_tape(void **state)
{
	(void)state;
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "54321", 1);
	takes("");
	assert_true(options.owner.is_other);
	assert_int_equal(options.owner.uid, 12345);
	assert_int_equal(options.owner.gid, 54321);
	takes("--user 0");
	assert_false(options.owner.is_other);
	setenv("SUDO_UID", "x", 1);
	takes("");
	assert_non_null(strstr(said[1], "nettape-record: SUDO_UID is not a user's number"));
	takes("-q");
	assert_string_equal(said[1], "");
	/* A run that only asks makes no tape. */
	takes("--list-probes");
	assert_string_equal(said[1], "");
	assert_string_equal(options.output, "");
}

static void server_is_never_root(void **state)
{
	(void)state;
	is_refused("--serve", "--serve never shows a tape as root");
	is_refused("--serve --user 0", "--serve never shows a tape as root");
	takes("--serve --user 12345");
	assert_true(options.serves);
	setenv("SUDO_UID", "12345", 1);
	takes("--serve");
	is_refused("--serve --user 0", "--serve never shows a tape as root");
	unsetenv("SUDO_UID");
	euid = 12345;
	takes("--serve");
}

static void nearest_probe(void **state)
{
	(void)state;
	is_refused("--probes sokcet", "unknown probe 'sokcet' (did you mean 'socket'?): --list-probes names them");
	is_refused("--probes stakcs", "unknown probe 'stakcs' (did you mean 'stacks'?)");
	is_refused("--probes xyzzyxyzzy", "unknown probe 'xyzzyxyzzy': --list-probes names them");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(defaults, set_up),
		cmocka_unit_test_setup(each_value_goes_where_it_belongs, set_up),
		cmocka_unit_test_setup(ring_sizes, set_up),
		cmocka_unit_test_setup(how_much_is_kept, set_up),
		cmocka_unit_test_setup(frequencies, set_up),
		cmocka_unit_test_setup(sketches, set_up),
		cmocka_unit_test_setup(keys_of_flows, set_up),
		cmocka_unit_test_setup(output_paths, set_up),
		cmocka_unit_test_setup(options_of_a_probe_that_is_off, set_up),
		cmocka_unit_test_setup(command_behind_dashes, set_up),
		cmocka_unit_test_setup(helps, set_up),
		cmocka_unit_test_setup(completes, set_up),
		cmocka_unit_test_setup(command_line_is_one_line, set_up),
		cmocka_unit_test_setup(owner_of_the_tape, set_up),
		cmocka_unit_test_setup(server_is_never_root, set_up),
		cmocka_unit_test_setup(nearest_probe, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

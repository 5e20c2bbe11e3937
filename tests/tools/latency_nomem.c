// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency_nomem.c - runs `latency`, `export prometheus` and `export html` on a database, `timeline` on another, and
 * `stages` and `flame` on a third, again and again, each time with another allocation failing: either they say so, or
 * what they print is what they print otherwise; and nothing leaks. latency_nomem DB DB DB.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "report/cmd/command.h"
#include "tests/support/must.h"
#include "tests/tools/failing_malloc.h"

#define MAX_OUTPUT (1 << 20)
#define STEP 3 /* every so many allocations: most are SQLite's */

static char wanted[MAX_OUTPUT], got[MAX_OUTPUT];
static int out; /* what stdout is */

/* Runs the command; gives its exit code, and what it printed. */
static int run(const struct nt_command *command, const struct nt_options *options, long failing, char *text)
{
	ssize_t size;
	int code;

	MUST(!ftruncate(out, 0) && !lseek(out, 0, SEEK_SET));
	until_failure = failing;
	code = command->run(options);
	/* As main() does. */
	if (fflush(stdout) || ferror(stdout))
		code = NT_EXIT_FAILED;
	clearerr(stdout);
	size = pread(out, text, MAX_OUTPUT - 1, 0);
	MUST(size >= 0 && size < MAX_OUTPUT - 1);
	text[size] = 0;
	return code;
}

/* How often an allocation failed. */
static long try_all(const struct nt_command *command, const struct nt_options *options)
{
	long before, runs = 0;

	MUST(!run(command, options, -1, wanted) && wanted[0]);
	before = live;
	for (long k = 0;; k += STEP, runs++) {
		int code = run(command, options, k, got);

		if (live != before)
			fprintf(stderr, "allocation %ld: %ld pieces left\n", k, live - before);
		MUST(live == before);
		/* Libraries can do without some of their allocations. */
		MUST(code == NT_EXIT_FAILED || (code == NT_EXIT_DONE && !strcmp(got, wanted)));
		if (until_failure >= 0)
			return runs;
	}
}

int main(int argc, char **argv)
{
	char **args = argv + 1;
	const struct nt_options options[] = {
		{.args = args, .n_args = 1, .samples = {.by = "socket"}, .histogram = true},
		{.args = args, .n_args = 1, .format = NT_FORMAT_JSON, .histogram = true, .over_time = true},
		{.args = args, .n_args = 1, .format = NT_FORMAT_CSV, .samples = {.by = "process"}},
		{.args = args, .n_args = 1, .over_time = true, .svg = "/dev/null"},
		{.args = args, .n_args = 1, .samples = {.between = {"udp-start", "udp-socket-read"}}},
	};
	const struct nt_options export = {.args = args, .n_args = 1, .samples = {.by = "iface"}};
	const struct nt_options page = {.args = args, .n_args = 1, .output = NULL, .selection = {.to = "2ms"}};
	const struct nt_options timelines[] = {
		{.args = args + 1, .n_args = 1},
		{.args = args + 1, .n_args = 1, .format = NT_FORMAT_JSON, .selection = {.process = "web"}},
		{.args = args + 1, .n_args = 1, .lanes = {.worst = "network", .window = "100us", .each_cpu = true}},
		{.args = args + 1, .n_args = 1, .format = NT_FORMAT_CSV, .lanes = {.worst = "task", .window = "100us"}},
	};
	const struct nt_options stacks = {.args = args + 2, .n_args = 1, .stages = {.folded = true}};
	FILE *file = tmpfile();
	long runs = 0;
	int report;

	MUST(argc == 4 && file);
	report = dup(STDOUT_FILENO);
	MUST(dup2(fileno(file), STDOUT_FILENO) >= 0);
	out = fileno(file);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		runs += try_all(&nt_cmd_latency, &options[i]);
	runs += try_all(&nt_cmd_export_prometheus, &export);
	runs += try_all(&nt_cmd_export_html, &page);
	for (size_t i = 0; i < sizeof(timelines) / sizeof(timelines[0]); i++)
		runs += try_all(&nt_cmd_timeline, &timelines[i]);
	runs += try_all(&nt_cmd_stages, &stacks) + try_all(&nt_cmd_flame, &stacks);
	until_failure = -1;
	dprintf(report, "allocations failed %ld times\n", runs);
	return 0;
}

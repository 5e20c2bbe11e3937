// SPDX-License-Identifier: GPL-2.0-only
/*
 * status_test.c - what the recorder says about a recording that goes well: the line at the start, the status line on a
 * terminal that is made here, the totals, and the ring size that would have been enough.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/status.h"
#include "tests/support/heard.h"
#include "tests/support/scratch.h"

/* ---- the host ---- */

static bool is_terminal[3];
static bool is_behind; /* the terminal is another job's */
static int columns; /* 0: it does not say */

int isatty(int fd)
{
	return fd < 3 && is_terminal[fd];
}

pid_t tcgetpgrp(int fd)
{
	(void)fd;
	return is_behind ? getpgrp() + 1 : getpgrp();
}

int ioctl(int fd, unsigned long request, ...)
{
	struct winsize *size;
	va_list args;

	(void)fd;
	assert_int_equal(request, TIOCGWINSZ);
	va_start(args, request);
	size = va_arg(args, struct winsize *);
	va_end(args);
	memset(size, 0, sizeof(*size));
	size->ws_col = (unsigned short)columns;
	return columns < 0 ? -1 : 0;
}

/* ---- standard error, and a pipe for a terminal ---- */

static struct nt_record_options options;
static struct nt_status status;
static struct nt_totals totals;

static int set_up(void **state)
{
	(void)state;
	memset(&options, 0, sizeof(options));
	memset(&totals, 0, sizeof(totals));
	memset(is_terminal, 0, sizeof(is_terminal));
	is_behind = false;
	columns = 80;
	status = (struct nt_status){.terminal = -1};
	strcpy(options.output, "a tape");
	options.program = "nettape-record";
	options.ring_size = 256 << 10;
	setenv("TERM", "xterm", 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nt_status_release(&status);
	assert_int_equal(status.terminal, -1);
	return 0;
}

/* ---- the start ---- */

static const char *begin(void)
{
	heard_begin();
	nt_status_begin(&status, &options);
	return heard_end();
}

static void says_what_begins(void **state)
{
	static char *const command[] = {"iperf3", "-c", "host", NULL};

	(void)state;
	assert_string_equal(begin(), "recording to 'a tape'; Ctrl-C stops\n");
	options.plan.chosen[NT_PROBE_SCHED] = nt_probes[NT_PROBE_SCHED].candidates;
	options.plan.chosen[NT_PROBE_STACKS] = nt_probes[NT_PROBE_STACKS].candidates;
	options.duration_ns = 2500000000;
	assert_string_equal(begin(), "recording sched, stacks to 'a tape' for 2.5 s; Ctrl-C stops\n");
	options.command = command;
	assert_string_equal(begin(),
			    "recording sched, stacks to 'a tape' until iperf3 ends, for 2.5 s at most; Ctrl-C stops\n");
	options.duration_ns = 0;
	options.plan.on[NT_PROBE_SCHED] = options.plan.on[NT_PROBE_DROPS] = true;
	strcpy(options.plan.refused[NT_PROBE_DROPS], "it has it not");
	assert_string_equal(begin(), "recording sched, stacks to 'a tape' until iperf3 ends; Ctrl-C stops\n"
				     "not recorded: drops is not available on this kernel (it has it not)\n");
	options.quiet = true;
	assert_string_equal(begin(), "");
	assert_int_equal(status.terminal, -1);
}

static bool has_status_line(void)
{
	begin();
	if (status.terminal < 0)
		return false;
	nt_status_release(&status);
	return true;
}

/* A command has the terminal for itself, if it has it at all. */
static void has_a_status_line_where_it_can(void **state)
{
	static char *const command[] = {"true", NULL};

	(void)state;
	assert_false(has_status_line());
	is_terminal[2] = true;
	assert_true(has_status_line());
	setenv("TERM", "dumb", 1);
	assert_false(has_status_line());
	setenv("TERM", "", 1);
	assert_false(has_status_line());
	unsetenv("TERM");
	assert_false(has_status_line());
	setenv("TERM", "xterm", 1);
	options.command = command;
	assert_true(has_status_line());
	is_terminal[0] = true;
	assert_false(has_status_line());
	is_terminal[0] = false;
	is_terminal[1] = true;
	assert_false(has_status_line());
	options.command = NULL;
	assert_true(has_status_line());
	options.quiet = true;
	assert_false(has_status_line());
}

/* ---- the status line ---- */

static int terminal_end;

static void open_terminal(void)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	terminal_end = fds[0];
	status.terminal = fds[1];
}

static const char *shown(void)
{
	static char said[4096];
	ssize_t n = read(terminal_end, said, sizeof(said) - 1);

	said[n > 0 ? n : 0] = 0;
	return said;
}

static void rewrites_the_line(void **state)
{
	(void)state;
	open_terminal();
	totals = (struct nt_totals){.duration_ns = 3000000000, .events = 1000, .lost = 20, .missed = 3};
	nt_status_show(&status, &totals, 4096);
	assert_string_equal(shown(), "\r3 s, 1,000 events, 23 lost, 4.1 kB\033[K");
	assert_true(status.is_shown);
	nt_status_hide(&status);
	assert_string_equal(shown(), "\r\033[K");
	assert_false(status.is_shown);
	/* It is not there any more. */
	nt_status_hide(&status);
	assert_string_equal(shown(), "");
	is_behind = true;
	nt_status_show(&status, &totals, 4096);
	assert_string_equal(shown(), "");
	assert_false(status.is_shown);
	close(terminal_end);
}

/* The last column stays free. */
static void fits_the_terminal(void **state)
{
	static const struct {
		int columns;
		const char *line;
	} cases[] = {
		{36, "\r3 s, 1,000 events, 23 lost, 4.1 kB\033[K"},
		{35, "\r3 s, 1,000 events, 23 lost, 4.1 kB\033[K"},
		{34, "\r3 s, 1,000 events, 23 lost\033[K"},
		{5, "\r3 s\033[K"},
		{2, "\r\033[K"},
		{0, "\r3 s, 1,000 events, 23 lost, 4.1 kB\033[K"},
		{-1, "\r3 s, 1,000 events, 23 lost, 4.1 kB\033[K"},
		{65000, "\r3 s, 1,000 events, 23 lost, 4.1 kB\033[K"},
	};

	(void)state;
	open_terminal();
	totals = (struct nt_totals){.duration_ns = 3000000000, .events = 1000, .lost = 20, .missed = 3};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		columns = cases[i].columns;
		nt_status_show(&status, &totals, 4096);
		assert_string_equal(shown(), cases[i].line);
	}
	close(terminal_end);
}

/* Without a terminal nothing is written, wherever that would go. */
static void no_terminal(void **state)
{
	(void)state;
	heard_begin();
	nt_status_show(&status, &totals, 1);
	nt_status_hide(&status);
	assert_string_equal(heard_end(), "");
	assert_false(status.is_shown);
}

/* ---- the end ---- */

static const char *end(uint64_t bytes)
{
	status.options = &options;
	heard_begin();
	nt_status_end(&status, &totals, bytes);
	return heard_end();
}

static void says_the_totals(void **state)
{
	(void)state;
	totals = (struct nt_totals){.duration_ns = 5000000000, .events = 2000};
	totals.own = (struct nt_own_cost){
		.loading_ns = 750000000, .recording_ns = 400000000, .ending_ns = 12000000, .recorded_ns = 4000000000};
	assert_string_equal(
		end(5000),
		"'a tape': 5.000 s, 2,000 events, 0 lost, 5.0 kB (2.50 bytes an event)\n"
		"own CPU time: 0.400 s while recording (10.00 % of one CPU), 0.750 s to load, 0.012 s to end\n"
		"next: nettape-report summary 'a tape'\n");
	totals = (struct nt_totals){};
	assert_string_equal(end(5000), "'a tape': 0.000 s, 0 events, 0 lost, 5.0 kB (0.00 bytes an event)\n"
				       "own CPU time: 0.000 s to load, 0.000 s to end\n"
				       "next: nettape-report summary 'a tape'\n");
	options.quiet = true;
	assert_string_equal(end(5000), "");
}

static void says_which_ring_would_do(void **state)
{
	const char *said;

	(void)state;
	totals = (struct nt_totals){.lost = 7, .missed = 2, .lost_bytes_max = 1};
	said = end(1);
	assert_non_null(strstr(said, "0 events, 9 lost, "));
	assert_non_null(
		strstr(said, "\nlost: 7 records found the rings full; --ring-size 512k would have held them\n"));
	assert_non_null(strstr(said, "\nlost: 2 context switches that this kernel does not show to the programs\n"));
	totals.lost_bytes_max = 256 << 10;
	assert_non_null(strstr(end(1), "--ring-size 512k "));
	totals.lost_bytes_max = (256 << 10) + 1;
	assert_non_null(strstr(end(1), "--ring-size 1024k "));
	totals.missed = 0;
	assert_null(strstr(end(1), "context switches"));
	totals.lost = 0;
	assert_null(strstr(end(1), "lost: "));
	/* It is the reason for the program's exit status, so it is said in any case; what is no fault of the rings not.
	 */
	options.quiet = true;
	totals = (struct nt_totals){.lost = 7, .missed = 2, .lost_bytes_max = 1};
	assert_string_equal(end(1), "lost: 7 records found the rings full; --ring-size 512k would have held them\n");
	totals.lost = 0;
	assert_string_equal(end(1), "");
	totals.left_out = 4321;
	totals.left_out_most = 4000;
	totals.most_left_out = "nt_sys_enter";
	assert_string_equal(end(1), "lost: 4,321 runs of programs that the kernel left out, 4,000 of them of "
				    "nt_sys_enter: what they would have recorded is missing\n");
}

/* The report program beside a recorder that was called by its path. */
static void names_the_next_command(void **state)
{
	char dir[SCRATCH_MAX], program[2 * SCRATCH_MAX], beside[2 * SCRATCH_MAX], wanted[3 * SCRATCH_MAX];

	(void)state;
	scratch_make(dir);
	options.program = scratch_path(program, dir, "nettape-record");
	assert_non_null(strstr(end(1), "\nnext: nettape-report summary 'a tape'\n"));
	scratch_write(scratch_path(beside, dir, "nettape-report"), "x", 1);
	assert_int_equal(chmod(beside, 0755), 0);
	snprintf(wanted, sizeof(wanted), "\nnext: %s summary 'a tape'\n", beside);
	assert_non_null(strstr(end(1), wanted));
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(says_what_begins, set_up, tear_down),
		cmocka_unit_test_setup_teardown(has_a_status_line_where_it_can, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rewrites_the_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fits_the_terminal, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_terminal, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_the_totals, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_which_ring_would_do, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_the_next_command, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

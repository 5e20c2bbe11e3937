// SPDX-License-Identifier: GPL-2.0-only
/*
 * interrupt_test.c - signals while a file is written, each sent to a process of its own: how that ends, what it leaves
 * and what it says. (The same of the whole program: tests/cli/report_interrupt.sh.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/out/interrupt.h"
#include "report/util/array.h"
#include "tests/support/must.h"
#include "tests/support/scratch.h"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXCPU, SIGXFSZ};
static char directory[SCRATCH_MAX], partial[2 * SCRATCH_MAX], said[2 * SCRATCH_MAX];

static int setup(void **state)
{
	(void)state;
	scratch_make(directory);
	scratch_path(partial, directory, "x.db.partial");
	scratch_path(said, directory, "said");
	scratch_write(partial, "half", 4);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scratch_remove(directory);
	return 0;
}

static bool raise_exits;

/* Lines are counted only in processes that end by themselves: for that, it may end this one as a shell tells it. */
int raise(int signal)
{
	if (raise_exits)
		exit(128 + signal);
	return kill(getpid(), signal);
}

static void send(int signal)
{
	MUST(!kill(getpid(), signal));
}

/* Runs it in a process whose standard error is a file. Returns the status that a shell tells. */
static int end_of(void (*work)(int signal), int signal)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		/* A child of a shell may ignore some. */
		for (size_t i = 0; i < NT_COUNT(signals); i++)
			MUST(sigaction(signals[i], &(struct sigaction){.sa_handler = SIG_DFL}, NULL) == 0);
		MUST(freopen(said, "w", stderr));
		work(signal);
		exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void expect_said(const char *text)
{
	size_t size;
	char *all = scratch_read(said, &size);

	assert_int_equal(size, strlen(text));
	assert_memory_equal(all, text, size);
	free(all);
}

/* ---- a signal removes the file ---- */

#define MESSAGE "nettape-report: interrupted: x.db was not written.\n"

static void is_removing(int signal)
{
	nt_interrupt_removes(partial, "x.db");
	send(signal);
}

static void removes_the_file(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * NT_COUNT(signals); i++) {
		raise_exits = i % 2;
		scratch_write(partial, "half", 4);
		assert_int_equal(end_of(is_removing, signals[i / 2]), 128 + signals[i / 2]);
		assert_int_equal(access(partial, F_OK), -1);
		expect_said(MESSAGE);
	}
	raise_exits = false;
}

/* Once it is gone, or has another name, it is not the signal that removed it. */
static void says_nothing_of_a_file_that_is_gone(void **state)
{
	(void)state;
	assert_int_equal(unlink(partial), 0);
	assert_int_equal(end_of(is_removing, SIGTERM), 128 + SIGTERM);
	expect_said("");
}

/* A file that has no name is gone with the program. */
static void is_writing_without_a_name(int signal)
{
	nt_interrupt_removes(partial, "other.db");
	nt_interrupt_removes(NULL, "x.db");
	send(signal);
}

static void says_that_a_file_without_a_name_is_gone(void **state)
{
	(void)state;
	assert_int_equal(end_of(is_writing_without_a_name, SIGTERM), 128 + SIGTERM);
	assert_int_equal(access(partial, F_OK), 0);
	expect_said(MESSAGE);
}

/* The one that came first ends it, as if it had come alone. */
static void is_removing_for_all(int signal)
{
	sigset_t all;

	nt_interrupt_removes(partial, "x.db");
	sigfillset(&all);
	MUST(!sigprocmask(SIG_BLOCK, &all, NULL));
	for (size_t i = 0; i < NT_COUNT(signals); i++)
		send(signals[i]);
	MUST(!sigprocmask(SIG_UNBLOCK, &all, NULL));
	MUST(!signal);
}

static void takes_one_signal_at_a_time(void **state)
{
	(void)state;
	/* Of those that wait, Linux gives the one of the least number first. */
	assert_int_equal(end_of(is_removing_for_all, 0), 128 + SIGHUP);
	expect_said(MESSAGE);
}

/* The longest path that there is of the file; is_too_long: one more letter. */
static bool is_too_long;

static void is_removing_by_a_long_path(int signal)
{
	static char path[PATH_MAX + 1];
	const size_t n = strlen(directory), name = strlen("/x.db.partial");

	memset(path, '/', PATH_MAX - 1);
	memcpy(path, directory, n);
	memcpy(path + PATH_MAX - 1 - name, "/x.db.partial", name);
	path[PATH_MAX - 1] = is_too_long ? 'x' : 0;
	nt_interrupt_removes(path, "x.db");
	send(signal);
}

static void takes_paths_as_long_as_there_are(void **state)
{
	(void)state;
	is_too_long = true;
	assert_int_equal(end_of(is_removing_by_a_long_path, SIGTERM), 128 + SIGTERM);
	assert_int_equal(access(partial, F_OK), 0);
	expect_said("");
	is_too_long = false;
	assert_int_equal(end_of(is_removing_by_a_long_path, SIGTERM), 128 + SIGTERM);
	assert_int_equal(access(partial, F_OK), -1);
	expect_said(MESSAGE);
}

/* ---- a signal is noted ---- */

static void is_waiting(int signal)
{
	nt_interrupt_waits();
	MUST(!nt_interrupted());
	send(signal);
	MUST(nt_interrupted());
	nt_interrupt_end();
}

static void ends_by_a_signal_that_was_noted(void **state)
{
	(void)state;
	for (size_t i = 0; i < 2 * NT_COUNT(signals); i++) {
		raise_exits = i % 2;
		assert_int_equal(end_of(is_waiting, signals[i / 2]), 128 + signals[i / 2]);
		assert_int_equal(access(partial, F_OK), 0);
		expect_said("");
	}
	raise_exits = false;
}

static void is_waiting_twice(int signal)
{
	nt_interrupt_waits();
	send(signal);
	nt_interrupt_waits();
	MUST(!nt_interrupted());
	nt_interrupt_end();
}

static void forgets_what_was_noted_before(void **state)
{
	(void)state;
	assert_int_equal(end_of(is_waiting_twice, SIGINT), 0);
}

static void is_impatient(int signal)
{
	nt_interrupt_waits();
	send(signal);
	send(signal);
}

static void ends_by_a_second_signal_at_once(void **state)
{
	(void)state;
	assert_int_equal(end_of(is_impatient, SIGINT), 128 + SIGINT);
}

/* ---- neither any more ---- */

static void has_ended(int signal)
{
	nt_interrupt_removes(partial, "x.db");
	nt_interrupt_end();
	send(signal);
}

static void ends_at_once_again(void **state)
{
	(void)state;
	assert_int_equal(end_of(has_ended, SIGTERM), 128 + SIGTERM);
	assert_int_equal(access(partial, F_OK), 0);
	expect_said("");
}

/* The signal is raised once, however often the end is told. */
static void ends_twice(int signal)
{
	sigset_t set;
	int got;

	nt_interrupt_waits();
	send(signal);
	sigemptyset(&set);
	sigaddset(&set, signal);
	MUST(!sigprocmask(SIG_BLOCK, &set, NULL));
	nt_interrupt_end();
	MUST(!sigwait(&set, &got) && got == signal);
	nt_interrupt_end();
	MUST(!nt_interrupted() && !sigpending(&set) && !sigismember(&set, signal));
}

static void raises_a_signal_once(void **state)
{
	(void)state;
	assert_int_equal(end_of(ends_twice, SIGHUP), 0);
}

static void is_ignoring(int signal)
{
	MUST(sigaction(signal, &(struct sigaction){.sa_handler = SIG_IGN}, NULL) == 0);
	nt_interrupt_removes(partial, "x.db");
	send(signal);
	nt_interrupt_waits();
	send(signal);
	MUST(!nt_interrupted());
	nt_interrupt_end();
	send(signal);
}

static void ignores_what_is_ignored(void **state)
{
	(void)state;
	assert_int_equal(end_of(is_ignoring, SIGINT), 0);
	assert_int_equal(access(partial, F_OK), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(removes_the_file),
		TEST(says_nothing_of_a_file_that_is_gone),
		TEST(says_that_a_file_without_a_name_is_gone),
		TEST(takes_one_signal_at_a_time),
		TEST(takes_paths_as_long_as_there_are),
		TEST(ends_by_a_signal_that_was_noted),
		TEST(forgets_what_was_noted_before),
		TEST(ends_by_a_second_signal_at_once),
		TEST(ends_at_once_again),
		TEST(raises_a_signal_once),
		TEST(ignores_what_is_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * child_test.c - the command that a recording runs: it begins when it is let go, with the signals that it would have
 * had, and its status is as a shell gives it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "record/child.h"

static struct nt_child child;
static sigset_t signals;

static int set_up(void **state)
{
	(void)state;
	memset(&child, 0, sizeof(child));
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	return sigprocmask(SIG_BLOCK, &signals, NULL);
}

static void prepare(const char *script)
{
	char *const argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};

	memset(&child, 0xff, sizeof(child));
	assert_int_equal(nt_child_prepare(&child, argv, &signals), 0);
	assert_true(child.pid > 0);
}

static int status_of(const char *script)
{
	prepare(script);
	nt_child_go(&child);
	assert_int_equal(nt_child_wait(&child, &signals), 0);
	assert_true(child.ended);
	return child.status;
}

static void gives_its_status(void **state)
{
	(void)state;
	assert_int_equal(status_of("exit 0"), 0);
	assert_int_equal(status_of("exit 3"), 3);
	assert_int_equal(status_of("kill -KILL $$"), 128 + SIGKILL);
	/* Blocked here, but not there. */
	assert_int_equal(status_of("kill -TERM $$"), 128 + SIGTERM);
}

static void command_that_cannot_be_run(void **state)
{
	char *const nowhere[] = {(char *)"/nonexistent/command", NULL}, *const no_program[] = {(char *)"/proc/self",
											       NULL};

	(void)state;
	assert_int_equal(nt_child_prepare(&child, nowhere, &signals), 0);
	nt_child_go(&child);
	assert_int_equal(nt_child_wait(&child, &signals), 0);
	assert_int_equal(child.status, 127);
	assert_int_equal(nt_child_prepare(&child, no_program, &signals), 0);
	nt_child_go(&child);
	assert_int_equal(nt_child_wait(&child, &signals), 0);
	assert_int_equal(child.status, 126);
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static bool ends_in_time(void)
{
	for (int tries = 0; tries < 1000; tries++, pause_ms(10))
		if (nt_child_has_ended(&child))
			return true;
	return false;
}

static void waits_to_be_let_go(void **state)
{
	(void)state;
	prepare("exit 5");
	pause_ms(50);
	assert_false(nt_child_has_ended(&child));
	nt_child_go(&child);
	assert_int_equal(child.go_fd, 0);
	/* Once more is harmless. */
	nt_child_go(&child);
	assert_true(ends_in_time());
	assert_int_equal(child.status, 5);
	assert_true(nt_child_has_ended(&child));
	assert_int_equal(nt_child_wait(&child, &signals), 0);
	assert_int_equal(child.status, 5);
	/* It has ended: no signal finds anybody. */
	nt_child_end(&child, SIGKILL);
	assert_int_equal(child.status, 5);
}

/* A signal to us ends the waiting, whenever it came; the command is what it was. */
static void a_signal_ends_the_waiting(void **state)
{
	(void)state;
	prepare("exec sleep 100");
	nt_child_go(&child);
	assert_int_equal(kill(getpid(), SIGTERM), 0);
	assert_int_equal(nt_child_wait(&child, &signals), SIGTERM);
	assert_false(nt_child_has_ended(&child));
	nt_child_end(&child, SIGTERM);
	assert_int_equal(child.status, 128 + SIGTERM);
}

static void is_ended_by_a_signal(void **state)
{
	(void)state;
	prepare("exec sleep 100");
	nt_child_go(&child);
	nt_child_end(&child, SIGTERM);
	assert_true(child.ended);
	assert_int_equal(child.status, 128 + SIGTERM);
	/* Before it was let go. */
	prepare("exec sleep 100");
	nt_child_end(&child, SIGKILL);
	assert_int_equal(child.status, 128 + SIGKILL);
	nt_child_go(&child);
}

/* One that does not listen is waited for half a second. */
static void ignores_the_signal(void **state)
{
	struct timespec begin, end;
	pid_t pid;

	(void)state;
	prepare("trap '' TERM; exec sleep 100");
	nt_child_go(&child);
	pause_ms(200);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	nt_child_end(&child, SIGTERM);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_false(child.ended);
	assert_true((end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000 >= 490);
	pid = child.pid;
	nt_child_end(&child, SIGKILL);
	assert_true(child.ended);
	assert_int_equal(kill(pid, 0), -1);
}

static void recording_without_a_command(void **state)
{
	(void)state;
	memset(&child, 0, sizeof(child));
	nt_child_go(&child);
	assert_int_equal(nt_child_wait(&child, &signals), 0);
	nt_child_end(&child, SIGTERM);
	assert_false(nt_child_has_ended(&child));
	assert_int_equal(child.status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(gives_its_status, set_up),
		cmocka_unit_test_setup(command_that_cannot_be_run, set_up),
		cmocka_unit_test_setup(waits_to_be_let_go, set_up),
		cmocka_unit_test_setup(a_signal_ends_the_waiting, set_up),
		cmocka_unit_test_setup(is_ended_by_a_signal, set_up),
		cmocka_unit_test_setup(ignores_the_signal, set_up),
		cmocka_unit_test_setup(recording_without_a_command, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

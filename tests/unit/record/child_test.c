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
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/child.h"

static struct nt_child child;
static sigset_t signals;
static bool heeds_signals; /* the command ends of the signal that it is sent */
static int64_t paused_ns; /* all pauses together */
static bool forks; /* the host has room for a process */

pid_t fork(void)
{
	pid_t (*real)(void) = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");

	if (forks)
		return real();
	errno = EAGAIN;
	return -1;
}

/* A pause while a command is about to end lasts until it has ended, however long that takes on this machine. */
int nanosleep(const struct timespec *time, struct timespec *left)
{
	siginfo_t info;

	(void)left;
	paused_ns += time->tv_sec * 1000000000 + time->tv_nsec;
	if (heeds_signals)
		assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	memset(&child, 0, sizeof(child));
	heeds_signals = true;
	paused_ns = 0;
	forks = true;
	/* As the recorder does. */
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	return sigprocmask(SIG_BLOCK, &signals, NULL);
}

static void prepare(const char *script)
{
	char *const argv[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};

	memset(&child, 0xff, sizeof(child));
	assert_int_equal(nt_child_prepare(&child, argv, &signals, NULL, NULL), 0);
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
	/* Blocked or ignored here, but not there. */
	assert_int_equal(status_of("kill -TERM $$"), 128 + SIGTERM);
	assert_int_equal(status_of("kill -PIPE $$"), 128 + SIGPIPE);
}

static void command_that_cannot_be_run(void **state)
{
	char *const nowhere[] = {(char *)"/nonexistent/command", NULL}, *const no_program[] = {(char *)"/proc/self",
											       NULL};

	(void)state;
	assert_int_equal(nt_child_prepare(&child, nowhere, &signals, NULL, NULL), 0);
	nt_child_go(&child);
	assert_int_equal(nt_child_wait(&child, &signals), 0);
	assert_int_equal(child.status, 127);
	assert_int_equal(nt_child_prepare(&child, no_program, &signals, NULL, NULL), 0);
	nt_child_go(&child);
	assert_int_equal(nt_child_wait(&child, &signals), 0);
	assert_int_equal(child.status, 126);
}

/* Until the child is the program: then sh has done all that it does before. */
static void wait_for_program(const char *name)
{
	char path[64], is[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", child.pid);
	for (int tries = 0; tries < 6000; tries++, usleep(10000)) {
		file = fopen(path, "r");
		if (file && fgets(is, sizeof(is), file))
			is[strcspn(is, "\n")] = 0;
		if (file)
			fclose(file);
		if (!strcmp(is, name))
			return;
	}
	fail_msg("the command does not become %s, but is %s", name, is);
}

static void waits_to_be_let_go(void **state)
{
	siginfo_t info;

	(void)state;
	prepare("exit 5");
	usleep(50000);
	assert_false(nt_child_has_ended(&child));
	nt_child_go(&child);
	assert_int_equal(child.go_fd, 0);
	/* Once more is harmless. */
	nt_child_go(&child);
	assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
	assert_true(nt_child_has_ended(&child));
	assert_int_equal(child.status, 5);
	assert_true(nt_child_has_ended(&child));
	assert_int_equal(nt_child_wait(&child, &signals), 0);
	assert_int_equal(child.status, 5);
	/* It has ended: no signal finds anybody. */
	nt_child_end(&child, SIGKILL);
	assert_int_equal(child.status, 5);
}

/* A recorder that has ended before it recorded runs nothing. */
static void ends_with_us(void **state)
{
	(void)state;
	prepare("exit 5");
	close(child.go_fd);
	child.go_fd = 0;
	assert_int_equal(nt_child_wait(&child, &signals), 0);
	assert_int_equal(child.status, 126);
}

static bool set_variable(void *arg)
{
	return arg && !setenv("SET_UP", arg, 1);
}

static void is_set_up(void **state)
{
	char *const argv[] = {(char *)"sh", (char *)"-c", (char *)"exit $SET_UP", NULL};
	char *const values[] = {(char *)"7", NULL};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(nt_child_prepare(&child, argv, &signals, set_variable, values[i]), 0);
		nt_child_go(&child);
		assert_int_equal(nt_child_wait(&child, &signals), 0);
		assert_int_equal(child.status, values[i] ? 7 : 126);
	}
}

/* To end it then must not reach other processes: -1 would be all of them. */
static void no_room_for_a_process(void **state)
{
	char *const argv[] = {(char *)"true", NULL};
	const int next_fd = dup(STDIN_FILENO);

	(void)state;
	close(next_fd);
	memset(&child, 0xff, sizeof(child));
	forks = false;
	assert_int_equal(nt_child_prepare(&child, argv, &signals, NULL, NULL), -EAGAIN);
	assert_int_equal(dup(STDIN_FILENO), next_fd);
	close(next_fd);
	assert_int_equal(child.pid, 0);
	nt_child_go(&child);
	assert_int_equal(nt_child_wait(&child, &signals), 0);
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
	/* Then it needs no signal. */
	prepare("exec sleep 100");
	nt_child_end(&child, 0);
	assert_int_equal(child.status, 126);
}

/* One that does not listen is waited for half a second. */
static void ignores_the_signal(void **state)
{
	pid_t pid;

	(void)state;
	prepare("trap '' TERM; exec sleep 100");
	nt_child_go(&child);
	wait_for_program("sleep");
	heeds_signals = false;
	nt_child_end(&child, SIGTERM);
	assert_false(child.ended);
	assert_int_equal(paused_ns, 500000000);
	heeds_signals = true;
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
		cmocka_unit_test_setup(ends_with_us, set_up),
		cmocka_unit_test_setup(is_set_up, set_up),
		cmocka_unit_test_setup(no_room_for_a_process, set_up),
		cmocka_unit_test_setup(a_signal_ends_the_waiting, set_up),
		cmocka_unit_test_setup(is_ended_by_a_signal, set_up),
		cmocka_unit_test_setup(ignores_the_signal, set_up),
		cmocka_unit_test_setup(recording_without_a_command, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

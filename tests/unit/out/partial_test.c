// SPDX-License-Identifier: GPL-2.0-only
/*
 * partial_test.c - files before they have their names: what is in the directory meanwhile, what a killed program
 * leaves, and whose file is taken for left behind. Each test also where the file system has no files without names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/out/partial.h"
#include "tests/support/must.h"
#include "tests/support/scratch.h"

static char directory[SCRATCH_MAX], path[2 * SCRATCH_MAX], left[2 * SCRATCH_MAX];

/* ---- a file system ---- */

static bool has_nameless;
static int n_pauses;
static void (*on_pause)(void);

int open(const char *name, int flags, ...)
{
	va_list arguments;
	int mode = 0;

	va_start(arguments, flags);
	if (flags & (O_CREAT | __O_TMPFILE))
		mode = va_arg(arguments, int);
	va_end(arguments);
	if (!has_nameless && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

int nanosleep(const struct timespec *time, struct timespec *rest)
{
	(void)time, (void)rest;
	n_pauses++;
	if (on_pause)
		on_pause();
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	scratch_make(directory);
	scratch_path(path, directory, "x.html");
	scratch_path(left, directory, "x.html.partial");
	has_nameless = true;
	n_pauses = 0;
	on_pause = NULL;
	return 0;
}

static int set_up_named(void **state)
{
	set_up(state);
	has_nameless = false;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_remove(directory);
	return 0;
}

static bool is_there(const char *name)
{
	struct stat status;

	return !lstat(name, &status);
}

static int files_there(void)
{
	DIR *dir = opendir(directory);
	int n = 0;

	MUST(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

static void has_text(const char *name, const char *text)
{
	size_t size;
	char *all = scratch_read(name, &size);

	assert_int_equal(size, strlen(text));
	assert_memory_equal(all, text, size);
	free(all);
}

static void make(struct nt_partial *partial, bool needs_name)
{
	assert_int_equal(nt_partial_open(partial, path, needs_name), 0);
	/* The scratch directory's file system, and not this test, may have none. */
	if (!needs_name && has_nameless && partial->has_name)
		has_nameless = false;
	MUST(write(partial->fd, "new", 3) == 3);
}

static void refuses(struct nt_partial *partial, bool needs_name, int error, const char *part)
{
	char text[NT_ERROR_MAX];

	assert_int_equal(nt_partial_open(partial, path, needs_name), error);
	nt_partial_explain(partial, path, error, text);
	nt_partial_release(partial);
	if (!strstr(text, part))
		fail_msg("'%s' is not in: %s", part, text);
}

/* ---- tests ---- */

static void has_its_name_when_it_is_whole(void **state)
{
	struct nt_partial partial;
	struct stat status;

	(void)state;
	for (int i = 0; i < 2; i++) {
		make(&partial, false);
		assert_int_equal(is_there(left), !has_nameless);
		assert_int_equal(files_there(), i + !has_nameless);
		if (i)
			has_text(path, "new");
		assert_int_equal(nt_partial_finish(&partial, path, true), 0);
		nt_partial_release(&partial);
		has_text(path, "new");
		assert_int_equal(files_there(), 1);
		assert_int_equal(stat(path, &status), 0);
		assert_int_equal(status.st_mode, S_IFREG | 0600);
	}
}

static void leaves_nothing_unfinished(void **state)
{
	struct nt_partial partial;

	(void)state;
	for (int needs_name = 0; needs_name < 2; needs_name++) {
		make(&partial, needs_name);
		nt_partial_release(&partial);
		assert_int_equal(files_there(), 0);
	}
}

/* As the name is taken meanwhile. */
static void replaces_only_if_it_may(void **state)
{
	struct nt_partial partial;

	(void)state;
	make(&partial, true);
	scratch_write(path, "theirs", 6);
	assert_int_equal(nt_partial_finish(&partial, path, false), -EEXIST);
	nt_partial_release(&partial);
	has_text(path, "theirs");
	make(&partial, false);
	assert_int_equal(nt_partial_finish(&partial, path, true), 0);
	nt_partial_release(&partial);
	has_text(path, "new");
	assert_int_equal(files_there(), 1);
}

static void be_killed(bool needs_name)
{
	struct nt_partial partial;
	const pid_t pid = fork();
	int status;

	if (!pid) {
		MUST(!nt_partial_open(&partial, path, needs_name));
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
}

static void replaces_what_a_killed_program_left(void **state)
{
	struct nt_partial partial;

	(void)state;
	for (int i = 0; i < 4; i++) {
		make(&partial, false);
		nt_partial_release(&partial);
		be_killed(i & 1);
		assert_int_equal(is_there(left), i & 1 || !has_nameless);
		make(&partial, i & 2);
		nt_partial_release(&partial);
		assert_int_equal(files_there(), 0);
	}
}

static void leaves_what_another_writes(void **state)
{
	struct nt_partial partial, other;

	(void)state;
	make(&other, true);
	refuses(&partial, true, -EBUSY, "x.html is being written by another nettape-report: wait until it ends");
	has_text(left, "new");
	/* A file that needs no name is not in its way. */
	if (has_nameless) {
		make(&partial, false);
		assert_int_equal(nt_partial_finish(&partial, path, true), 0);
		nt_partial_release(&partial);
		assert_true(is_there(left));
		/* But to replace a file takes that name for a moment. */
		make(&partial, false);
		assert_int_equal(nt_partial_finish(&partial, path, true), -EBUSY);
		nt_partial_release(&partial);
		assert_int_equal(n_pauses, 100);
	} else {
		refuses(&partial, false, -EBUSY, "wait until it ends");
	}
	has_text(left, "new");
	nt_partial_release(&other);
	assert_false(is_there(left));
}

static struct nt_partial first;

static void first_is_done(void)
{
	if (n_pauses == 3)
		assert_int_equal(rename(left, path), 0);
}

/* Two that replace one file: the second waits until the first has its name. */
static void waits_for_another_to_finish(void **state)
{
	struct nt_partial partial;

	(void)state;
	make(&first, false);
	if (!has_nameless)
		skip();
	make(&partial, false);
	scratch_write(path, "old", 3);
	/* The first, between its two steps. */
	first.has_name = !linkat(first.fd, "", AT_FDCWD, left, AT_EMPTY_PATH);
	if (!first.has_name)
		skip();
	on_pause = first_is_done;
	assert_int_equal(nt_partial_finish(&partial, path, true), 0);
	assert_int_equal(n_pauses, 3);
	first.has_name = false;
	nt_partial_release(&partial);
	nt_partial_release(&first);
	assert_int_equal(files_there(), 1);
}

/* A program of before has SQLite's lock alone, which is not on the first byte. */
static void leaves_what_sqlite_has_locked(void **state)
{
	struct flock sqlite = {.l_type = F_WRLCK, .l_start = 0x40000002, .l_len = 510};
	struct nt_partial partial;
	int locked[2], end[2];
	char byte;
	pid_t pid;

	(void)state;
	scratch_write(left, "theirs", 6);
	MUST(!pipe(locked) && !pipe(end));
	pid = fork();
	if (!pid) {
		const int fd = open(left, O_RDWR);

		close(end[1]);
		MUST(!fcntl(fd, F_SETLK, &sqlite) && write(locked[1], "x", 1) == 1 && !read(end[0], &byte, 1));
		_exit(0);
	}
	MUST(read(locked[0], &byte, 1) == 1);
	refuses(&partial, true, -EBUSY, "wait until it ends");
	has_text(left, "theirs");
	close(end[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	make(&partial, true);
	nt_partial_release(&partial);
	assert_false(is_there(left));
	close(end[0]), close(locked[0]), close(locked[1]);
}

/* Links and pipes of that name: neither followed nor opened. */
static void removes_links_and_pipes(void **state)
{
	char precious[2 * SCRATCH_MAX];
	struct nt_partial partial;

	(void)state;
	scratch_write(scratch_path(precious, directory, "precious"), "precious", 8);
	for (int needs_name = 0; needs_name < 2; needs_name++) {
		assert_int_equal(symlink("precious", left), 0);
		make(&partial, needs_name);
		nt_partial_release(&partial);
		assert_int_equal(mkfifo(left, 0600), 0);
		make(&partial, needs_name);
		nt_partial_release(&partial);
		assert_int_equal(files_there(), 1);
	}
	has_text(precious, "precious");
}

static void says_what_cannot_be(void **state)
{
	struct nt_partial partial;

	(void)state;
	assert_int_equal(mkdir(left, 0700), 0);
	refuses(&partial, false, -EISDIR, "x.html.partial cannot be replaced: Is a directory.");
	assert_int_equal(rmdir(left), 0);
	scratch_path(path, directory, "no/x.html");
	refuses(&partial, false, -ENOENT,
		"no/x.html cannot be made: No such file or directory: give another place for it.");
}

#define TEST(name)                                                                                                     \
	cmocka_unit_test_setup_teardown(name, set_up, tear_down),                                                      \
		cmocka_unit_test_setup_teardown(name, set_up_named, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(has_its_name_when_it_is_whole),
		TEST(leaves_nothing_unfinished),
		TEST(replaces_only_if_it_may),
		TEST(replaces_what_a_killed_program_left),
		TEST(leaves_what_another_writes),
		cmocka_unit_test_setup_teardown(waits_for_another_to_finish, set_up, tear_down),
		TEST(leaves_what_sqlite_has_locked),
		TEST(removes_links_and_pipes),
		TEST(says_what_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

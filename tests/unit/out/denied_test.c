// SPDX-License-Identifier: GPL-2.0-only
/*
 * denied_test.c - the messages on files that may not be read, made or changed, word for word. Permissions, our user and
 * the names of users are made here, so that the answers are the same for root and everybody else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/out/denied.h"
#include "tests/support/scratch.h"

/* The refused accesses: a NULL path ends them. */
static struct refusal {
	const char *path;
	int mode, error;
} refusals[4];
static bool is_theirs, has_name;
static char directory[SCRATCH_MAX], text[NT_DENIED_MAX], wanted[NT_DENIED_MAX];

int faccessat(int at, const char *path, int mode, int flags)
{
	(void)at;
	assert_int_equal(flags, AT_EACCESS);
	for (const struct refusal *refusal = refusals; refusal->path; refusal++) {
		if (!strcmp(refusal->path, path) && refusal->mode & mode) {
			errno = refusal->error;
			return -1;
		}
	}
	return 0;
}

/* Files here are made by getuid(). */
uid_t geteuid(void)
{
	return is_theirs ? getuid() + 1 : getuid();
}

struct passwd *getpwuid(uid_t uid)
{
	static char name[] = "maria";
	static struct passwd user = {.pw_name = name};

	assert_int_equal(uid, getuid());
	return has_name ? &user : NULL;
}

static void refuse(const char *path, int mode, int error)
{
	size_t n = 0;

	while (refusals[n].path)
		n++;
	assert_true(n + 1 < sizeof(refusals) / sizeof(refusals[0]));
	refusals[n] = (struct refusal){path, mode, error};
}

static void make_file(const char *path, mode_t mode)
{
	scratch_write(path, "x", 1);
	assert_int_equal(chmod(path, mode), 0);
}

static void make_directory(const char *path)
{
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0700), 0);
}

static int setup(void **state)
{
	(void)state;
	memset(refusals, 0, sizeof(refusals));
	is_theirs = false;
	has_name = true;
	scratch_make(directory);
	return chdir(directory);
}

static int teardown(void **state)
{
	(void)state;
	scratch_remove(directory);
	return chdir("/");
}

/* ---- whose it is ---- */

static void says_whose_it_is(void **state)
{
	(void)state;
	make_file("file", 0640);
	assert_string_equal(nt_denied_read(text, "file", EACCES),
			    "permission denied: it belongs to you, with mode 0640; run `chmod u+rwX file`");
	is_theirs = true;
	assert_string_equal(
		nt_denied_read(text, "file", EPERM),
		"permission denied: it belongs to maria; run `sudo chown $USER file`, or read it with sudo");
	has_name = false;
	snprintf(wanted, sizeof(wanted),
		 "permission denied: it belongs to user %u; run `sudo chown $USER file`, or read it with sudo",
		 (unsigned int)getuid());
	assert_string_equal(nt_denied_read(text, "file", EACCES), wanted);
}

/* Nobody's mode is to be changed of what is not to be seen. */
static void says_that_it_is_not_known_whose_it_is(void **state)
{
	(void)state;
	assert_string_equal(nt_denied_read(text, "file", EACCES),
			    "permission denied: it belongs to somebody else; run `sudo chown $USER file`, or read it "
			    "with sudo");
}

/* ---- reading ---- */

static void says_what_is_no_matter_of_permission(void **state)
{
	(void)state;
	assert_string_equal(nt_denied_read(text, "file", ENOENT), "No such file or directory");
	assert_string_equal(nt_denied_make(text, "file", EIO), "Input/output error");
	assert_string_equal(nt_denied_change(text, "file", ENOSPC), "No space left on device");
}

/* Of a tape: the file in it that may not be read, and the remedy for all of it. */
static void says_which_file_of_a_directory(void **state)
{
	(void)state;
	make_directory("tape");
	make_file("tape/chunk", 0600);
	refuse("tape/chunk", R_OK, EACCES);
	assert_string_equal(nt_denied_read(text, "tape", EACCES),
			    "permission denied: chunk belongs to you, with mode 0600; run `chmod -R u+rwX tape`");
	/* A directory that may not be listed. */
	refuse("tape", R_OK, EACCES);
	assert_string_equal(nt_denied_read(text, "tape", EACCES),
			    "permission denied: it belongs to you, with mode 0700; run `chmod -R u+rwX tape`");
	is_theirs = true;
	assert_string_equal(
		nt_denied_read(text, "tape", EACCES),
		"permission denied: it belongs to maria; run `sudo chown -R $USER tape`, or read it with sudo");
}

static void says_it_of_a_directory_whose_files_may_be_read(void **state)
{
	(void)state;
	make_directory("tape");
	make_file("tape/chunk", 0600);
	assert_string_equal(nt_denied_read(text, "tape", EACCES),
			    "permission denied: it belongs to you, with mode 0700; run `chmod -R u+rwX tape`");
}

static void says_which_directory_is_closed(void **state)
{
	(void)state;
	make_directory("a");
	make_directory("a/b");
	make_directory("a/b/c");
	make_file("a/b/c/file", 0600);
	refuse("a/b", X_OK, EACCES);
	refuse("a/b/c", X_OK, EACCES);
	assert_string_equal(nt_denied_read(text, "a/b/c/file", EACCES),
			    "permission denied: the directory a/b belongs to you, with mode 0700; change that with "
			    "chmod");
	is_theirs = true;
	assert_string_equal(nt_denied_read(text, "a/b/c/file", EACCES),
			    "permission denied: the directory a/b belongs to maria; read it with sudo, or copy it to a "
			    "directory of yours");
	assert_string_equal(nt_denied_make(text, "a/b/c/new", EACCES),
			    "permission denied: the directory a/b belongs to maria; write to a directory of yours");
}

/* ---- making ---- */

static void says_that_there_is_no_place(void **state)
{
	(void)state;
	assert_string_equal(nt_denied_make(text, "no/file", ENOENT),
			    "No such file or directory: give another place for it");
	assert_string_equal(nt_denied_make(text, "no/file", ENOTDIR), "Not a directory: give another place for it");
	assert_string_equal(nt_denied_make(text, "no/file", EROFS), "Read-only file system: give another place for it");
}

static void says_which_directory_may_not_be_written(void **state)
{
	static const char *const wanted_of_directory =
		"permission denied: the directory d belongs to maria; write to a directory of yours";

	(void)state;
	make_directory("d");
	is_theirs = true;
	assert_string_equal(nt_denied_make(text, "d/new", EACCES), wanted_of_directory);
	make_file("d/old", 0600);
	assert_string_equal(nt_denied_make(text, "d/old", EACCES),
			    "permission denied: it belongs to maria; run `sudo chown $USER d/old`, or write elsewhere");
	refuse("d", W_OK, EACCES);
	assert_string_equal(nt_denied_make(text, "d/old", EACCES), wanted_of_directory);
	is_theirs = false;
	assert_string_equal(nt_denied_make(text, "new", EACCES),
			    "permission denied: the directory . belongs to you, with mode 0700; change that with "
			    "chmod");
}

/* ---- changing ---- */

static void says_what_may_not_be_changed(void **state)
{
	(void)state;
	make_directory("d");
	make_file("d/file", 0600);
	is_theirs = true;
	/* It may be written; its directory may not. */
	refuse("d", W_OK, EACCES);
	assert_string_equal(nt_denied_change(text, "d/file", EACCES),
			    "permission denied: the directory d belongs to maria; write to a directory of yours");
	refuse("d/file", W_OK, EACCES);
	assert_string_equal(nt_denied_change(text, "d/file", EACCES),
			    "permission denied: it belongs to maria; run `sudo chown $USER d/file`, or change a copy "
			    "of it");
	refusals[1].error = EROFS;
	assert_string_equal(nt_denied_change(text, "d/file", EACCES),
			    "it is on a read-only file system; change a copy of it");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(says_whose_it_is),
		TEST(says_that_it_is_not_known_whose_it_is),
		TEST(says_what_is_no_matter_of_permission),
		TEST(says_which_file_of_a_directory),
		TEST(says_it_of_a_directory_whose_files_may_be_read),
		TEST(says_which_directory_is_closed),
		TEST(says_that_there_is_no_place),
		TEST(says_which_directory_may_not_be_written),
		TEST(says_what_may_not_be_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

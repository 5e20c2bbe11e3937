// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_directory_test.c - the directory of a tape: made or taken, refused with a sentence that says why, and held, also
 * when somebody puts another in its place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/tape_directory.h"
#include "tests/support/scratch.h"

static char dir[SCRATCH_MAX];
static char message[1024];

static int make_scratch(void **state)
{
	(void)state;
	scratch_make(dir);
	return 0;
}

static int remove_scratch(void **state)
{
	(void)state;
	scratch_remove(dir);
	return 0;
}

/* "DIR/NAME", good until the next call. */
static const char *in_dir(const char *name)
{
	static char path[2 * SCRATCH_MAX];

	return scratch_path(path, dir, name);
}

static int try_owner(struct nt_tape_directory *directory, const char *path, const struct nt_tape_owner *owner)
{
	message[0] = 0;
	return nt_tape_directory_open(directory, path, owner, "-o", message, sizeof(message));
}

static int try_open(struct nt_tape_directory *directory, const char *path)
{
	return try_owner(directory, path, &(struct nt_tape_owner){0});
}

static mode_t mode_of(const char *name)
{
	struct stat stat;

	assert_int_equal(lstat(in_dir(name), &stat), 0);
	return stat.st_mode & 07777;
}

static bool is_there(const char *name)
{
	struct stat stat;

	return !lstat(in_dir(name), &stat);
}

/* The path is refused so, and nothing was made. */
static void refused(const char *name, int error, const char *why)
{
	struct nt_tape_directory directory;
	const bool was_there = is_there(name);

	assert_int_equal(try_open(&directory, in_dir(name)), error);
	assert_non_null(strstr(message, in_dir(name)));
	assert_non_null(strstr(message, why));
	nt_tape_directory_discard(&directory);
	nt_tape_directory_release(&directory);
	assert_int_equal(is_there(name), was_there);
}

static void test_new(void **state)
{
	struct nt_tape_directory directory;

	(void)state;
	assert_int_equal(try_open(&directory, in_dir("new///")), 0);
	assert_true(directory.is_new);
	assert_string_equal(directory.name, "new");
	assert_string_equal(message, "");
	assert_int_equal(mode_of("new"), 0700);
	nt_tape_directory_discard(&directory);
	nt_tape_directory_release(&directory);
	assert_false(is_there("new"));
}

/* One that was there keeps its mode, and is not removed. */
static void test_taken(void **state)
{
	struct nt_tape_directory directory;

	(void)state;
	assert_int_equal(mkdir(in_dir("empty"), 0755), 0);
	assert_int_equal(chmod(in_dir("empty"), 0750), 0);
	assert_int_equal(try_open(&directory, in_dir("empty")), 0);
	assert_false(directory.is_new);
	assert_int_equal(mode_of("empty"), 0750);
	nt_tape_directory_discard(&directory);
	nt_tape_directory_release(&directory);
	assert_true(is_there("empty"));
}

/* As long as one recorder has it, no other gets it, be it empty or not; and it does not go with the one refused. */
static void test_locked(void **state)
{
	struct nt_tape_directory first;

	(void)state;
	assert_int_equal(try_open(&first, in_dir("locked")), 0);
	refused("locked", -EBUSY, "another nettape-record is writing ");
	close(nt_tape_directory_create(&first, "chunk"));
	refused("locked", -EBUSY, "another nettape-record is writing ");
	nt_tape_directory_release(&first);
	refused("locked", -ENOTEMPTY, "is not empty");
}

static void test_relative(void **state)
{
	struct nt_tape_directory directory;
	char before[PATH_MAX];

	(void)state;
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(dir), 0);
	assert_int_equal(try_open(&directory, "relative"), 0);
	assert_int_equal(mode_of("relative"), 0700);
	nt_tape_directory_release(&directory);
	assert_int_equal(chdir(before), 0);
}

static void test_refused(void **state)
{
	static char longest[2 * NAME_MAX];
	struct nt_tape_directory directory;

	(void)state;
	assert_int_equal(mkdir(in_dir("full"), 0700), 0);
	scratch_write(in_dir("full/file"), "x", 1);
	scratch_write(in_dir("file"), "x", 1);
	assert_int_equal(mkdir(in_dir("target"), 0700), 0);
	assert_int_equal(symlink("target", in_dir("link")), 0);
	assert_int_equal(symlink("nowhere", in_dir("dangling")), 0);
	refused("full", -ENOTEMPTY, "exists and is not empty");
	refused("file", -ENOTDIR, "exists and is not a directory");
	refused("link", -ENOTDIR, "is a link, and links are not followed");
	refused("dangling", -ENOTDIR, "is a link, and links are not followed");
	refused("none/at/all", -ENOENT, "/none does not exist: make it first");
	refused("file/tape", -ENOTDIR, "/file is not a directory");
	memset(longest, 'x', sizeof(longest) - 1);
	assert_int_equal(try_open(&directory, longest), -ENAMETOOLONG);
	nt_tape_directory_release(&directory);
	assert_int_equal(try_open(&directory, "/"), -ENOTEMPTY);
	nt_tape_directory_release(&directory);
}

/* Root, who may write everywhere, becomes somebody else for this. */
static void test_not_ours(void **state)
{
	const bool is_root = !geteuid();

	(void)state;
	assert_int_equal(mkdir(in_dir("closed"), 0700), 0);
	assert_int_equal(mkdir(in_dir("shut"), 0700), 0);
	assert_int_equal(chmod(in_dir("closed"), 0555), 0);
	assert_int_equal(chmod(in_dir("shut"), 0), 0);
	if (is_root)
		assert_int_equal(chmod(dir, 0711) || seteuid(65534), 0);
	refused("closed/tape", -EACCES, "may not write in it: choose another -o, or use sudo");
	refused("shut/deeper/tape", -EACCES, "/shut belongs to");
	assert_non_null(strstr(message, "may not enter it"));
	if (is_root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(in_dir("closed"), 0700) || chmod(in_dir("shut"), 0700), 0);
}

static void opens(const char *name, const struct nt_tape_owner *owner)
{
	struct nt_tape_directory directory;

	assert_int_equal(try_owner(&directory, in_dir(name), owner), 0);
	nt_tape_directory_discard(&directory);
	nt_tape_directory_release(&directory);
}

/* Root follows its own links and those of the tape's owner, and takes directories of these; others all that they may.
 */
static void test_others(void **state)
{
	const struct nt_tape_owner nobody = {0}, owner = {.is_other = true, .uid = 12345, .gid = 12345};
	char to[2 * SCRATCH_MAX];

	(void)state;
	assert_int_equal(mkdir(in_dir("way"), 0755), 0);
	assert_int_equal(mkdir(in_dir("way/on"), 0755), 0);
	assert_int_equal(symlink("way", in_dir("way-link")), 0);
	assert_int_equal(symlink(in_dir("way/on/"), scratch_path(to, dir, "absolute")), 0);
	assert_int_equal(symlink("../way-link/on//../on", in_dir("way/again")), 0);
	assert_int_equal(symlink("round", in_dir("round")), 0);
	opens("way-link/tape", &nobody);
	opens("absolute/tape", &nobody);
	opens("way-link/again/./tape", &nobody);
	assert_true(!is_there("way/on/tape"));
	refused("round/tape", -ELOOP, "Too many levels of symbolic links");
	refused("way/on/nothing/tape", -ENOENT, "/nothing does not exist: make it first");
	if (geteuid())
		return;
	assert_int_equal(lchown(in_dir("way/again"), 12345, 12345), 0);
	assert_int_equal(mkdir(in_dir("theirs"), 0755), 0);
	assert_int_equal(chown(in_dir("theirs"), 12345, 12345), 0);
	refused("way-link/again/tape", -EPERM, "the link again belongs to user 12345");
	refused("theirs", -EPERM, "belongs to user 12345, who could then replace the tape");
	opens("way-link/again/tape", &owner);
	opens("theirs", &owner);
}

static void test_files(void **state)
{
	struct nt_tape_directory directory;
	int fd;

	(void)state;
	assert_int_equal(try_open(&directory, in_dir("files")), 0);
	fd = nt_tape_directory_create(&directory, "chunk");
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(close(fd), 0);
	assert_int_equal(mode_of("files/chunk"), 0600);
	assert_int_equal(nt_tape_directory_create(&directory, "chunk"), -EEXIST);
	assert_int_equal(symlink("../elsewhere", in_dir("files/link")), 0);
	assert_int_equal(nt_tape_directory_create(&directory, "link"), -EEXIST);
	assert_false(is_there("elsewhere"));
	/* A directory that is not empty stays. */
	nt_tape_directory_discard(&directory);
	assert_true(is_there("files/chunk"));
	nt_tape_directory_release(&directory);
}

/* Files go where the directory is now, and what stands in its place is not removed. */
static void test_moved(void **state)
{
	struct nt_tape_directory directory;
	char to[2 * SCRATCH_MAX];
	int fd;

	(void)state;
	assert_int_equal(try_open(&directory, in_dir("here")), 0);
	assert_int_equal(rename(in_dir("here"), scratch_path(to, dir, "there")), 0);
	assert_int_equal(mkdir(in_dir("here"), 0700), 0);
	fd = nt_tape_directory_create(&directory, "chunk");
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_true(is_there("there/chunk"));
	assert_false(is_there("here/chunk"));
	nt_tape_directory_discard(&directory);
	assert_true(is_there("here"));
	nt_tape_directory_release(&directory);
}

/* Root gives it away; whoever may not is told only if he asked. */
static void test_given(void **state)
{
	struct nt_tape_owner owner = {.is_other = true, .uid = 12345, .gid = 23456};
	const bool is_root = !geteuid();
	struct nt_tape_directory directory;
	struct stat stat;

	(void)state;
	assert_int_equal(try_owner(&directory, in_dir("given"), &owner), 0);
	assert_int_equal(lstat(in_dir("given"), &stat), 0);
	assert_int_equal(stat.st_uid, is_root ? 12345 : geteuid());
	assert_int_equal(directory.kept, is_root ? 0 : -EPERM);
	nt_tape_directory_release(&directory);
	owner.is_asked = true;
	assert_int_equal(try_owner(&directory, in_dir("asked"), &owner), is_root ? 0 : -EPERM);
	assert_true(is_root || strstr(message, "leave --user out"));
	nt_tape_directory_discard(&directory);
	assert_false(is_there("asked"));
	nt_tape_directory_release(&directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new),    cmocka_unit_test(test_taken),	cmocka_unit_test(test_relative),
		cmocka_unit_test(test_locked), cmocka_unit_test(test_refused),	cmocka_unit_test(test_files),
		cmocka_unit_test(test_moved),  cmocka_unit_test(test_not_ours), cmocka_unit_test(test_given),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, make_scratch, remove_scratch);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_writer_test.c - where the recorder writes: the directory and its chunks, their modes and owner; links and other
 * things in the way, put there before or while it writes; and the sentence on each directory that cannot be had.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/tape_writer.h"
#include "tests/support/scratch.h"

static const struct nt_retention_limits all_is_kept;

#define SOMEBODY 12345
#define HIS_GROUP 23456

struct fixture {
	char dir[SCRATCH_MAX];
	char path[2 * SCRATCH_MAX]; /* DIR/t.tape, not made */
	char other[2 * SCRATCH_MAX]; /* DIR/other */
	char error[1024];
	struct nt_tape_writer *tape;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	scratch_make(fixture->dir);
	scratch_path(fixture->path, fixture->dir, "t.tape");
	scratch_path(fixture->other, fixture->dir, "other");
	umask(022);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	nt_tape_writer_free(fixture->tape);
	scratch_remove(fixture->dir);
	free(fixture);
	return 0;
}

static int open_at(struct fixture *fixture, const char *path, bool is_other)
{
	struct nt_tape_owner owner = {.is_other = is_other, .uid = SOMEBODY, .gid = HIS_GROUP};
	struct nt_chunk_header header = {0};

	return nt_tape_writer_new(&fixture->tape, path, &owner, &all_is_kept, &header, fixture->error,
				  sizeof(fixture->error));
}

static struct stat stat_of(const char *dir, const char *name)
{
	char path[2 * SCRATCH_MAX];
	struct stat stat;

	snprintf(path, sizeof(path), "%s%s%s", dir, *name ? "/" : "", name);
	assert_int_equal(lstat(path, &stat), 0);
	return stat;
}

static bool is_there(const char *dir, const char *name)
{
	char path[4 * SCRATCH_MAX];
	struct stat stat;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !lstat(path, &stat);
}

static void finish(struct fixture *fixture)
{
	assert_int_equal(nt_tape_writer_finish_chunk(fixture->tape), 0);
	assert_int_equal(nt_tape_writer_wait(fixture->tape), 0);
}

static void test_makes_it(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(open_at(fixture, fixture->path, false), 0);
	assert_int_equal(stat_of(fixture->path, "").st_mode, S_IFDIR | 0700);
	assert_int_equal(nt_tape_writer_begin_chunk(fixture->tape), 0);
	assert_int_equal(stat_of(fixture->path, "chunk-000000.ntc.partial").st_mode, S_IFREG | 0600);
	finish(fixture);
	assert_int_equal(nt_tape_writer_begin_chunk(fixture->tape), 0);
	assert_true(is_there(fixture->path, "chunk-000000.ntc"));
	assert_true(is_there(fixture->path, "chunk-000001.ntc.partial"));
	assert_false(is_there(fixture->path, "chunk-000000.ntc.partial"));
	assert_int_equal(nt_tape_writer_kept(fixture->tape), 0);
	/* A directory with something in it is a tape, and stays. */
	nt_tape_writer_discard(fixture->tape);
	assert_true(is_there(fixture->path, "chunk-000000.ntc"));
}

static void test_paths(void **state)
{
	static const char *const good[] = {"t.tape/", "t.tape///", ".//t.tape", "./t.tape", "a/../t.tape", "a//b"};
	struct fixture *fixture = *state;
	int here = open(".", O_PATH);

	assert_int_equal(chdir(fixture->dir), 0);
	assert_int_equal(mkdir("a", 0755), 0);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(open_at(fixture, good[i], false), 0);
		assert_true(is_there(".", good[i]));
		nt_tape_writer_discard(fixture->tape);
		assert_false(is_there(".", good[i]));
		nt_tape_writer_free(fixture->tape);
		fixture->tape = NULL;
	}
	/* They are there, with something in them; and stay. */
	assert_int_equal(open_at(fixture, ".", false), -ENOTEMPTY);
	assert_int_equal(open_at(fixture, "/", false), -ENOTEMPTY);
	assert_int_equal(open_at(fixture, "a/..", false), -ENOTEMPTY);
	assert_int_equal(fchdir(here), 0);
	close(here);
}

/* refused PATH, with a sentence that has this part; nothing is made. */
static void refused(struct fixture *fixture, const char *path, const char *part)
{
	assert_true(open_at(fixture, path, false) < 0);
	assert_null(fixture->tape);
	if (!strstr(fixture->error, part))
		fail_msg("'%s' is not in: %s", part, fixture->error);
	assert_non_null(strstr(fixture->error, "-o"));
}

static void test_refuses(void **state)
{
	struct fixture *fixture = *state;
	char path[2 * SCRATCH_MAX], deep[3 * SCRATCH_MAX], name[400];

	scratch_write(scratch_path(path, fixture->dir, "file"), "x", 1);
	refused(fixture, path, "exists and is not a directory");
	snprintf(deep, sizeof(deep), "%s/t.tape", path);
	refused(fixture, deep, "file is not a directory");
	snprintf(deep, sizeof(deep), "%s/none/of/these", fixture->dir);
	refused(fixture, deep, "/none does not exist");
	refused(fixture, fixture->dir, "not empty");
	assert_int_equal(mkdir(fixture->other, 0755), 0);
	assert_int_equal(symlink("other", fixture->path), 0);
	refused(fixture, fixture->path, "is a link");
	snprintf(deep, sizeof(deep), "%s/", fixture->path);
	refused(fixture, deep, "is a link");
	assert_int_equal(symlink("nothing", scratch_path(path, fixture->dir, "dangling")), 0);
	refused(fixture, path, "is a link");
	assert_false(is_there(fixture->dir, "nothing"));
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	refused(fixture, name, "too long");
}

/* A user who may not write there. Root may, so as root the test becomes somebody else. */
static void test_whose(void **state)
{
	struct fixture *fixture = *state;
	char deep[3 * SCRATCH_MAX];

	if (geteuid() == 0) {
		assert_int_equal(chmod(fixture->dir, 0755), 0);
		assert_int_equal(seteuid(SOMEBODY), 0);
	} else {
		assert_int_equal(chmod(fixture->dir, 0500), 0);
	}
	refused(fixture, fixture->path, "may not write in it");
	if (geteuid() == SOMEBODY) {
		assert_non_null(strstr(fixture->error, "belongs to root (mode 0755), and user 12345"));
		assert_int_equal(seteuid(0), 0);
	}
	assert_int_equal(chmod(fixture->dir, 0700), 0);
	assert_int_equal(mkdir(fixture->other, geteuid() ? 0600 : 0700), 0);
	assert_int_equal(chmod(fixture->dir, 0755), 0);
	snprintf(deep, sizeof(deep), "%s/a/t.tape", fixture->other);
	if (geteuid() == 0)
		assert_int_equal(seteuid(SOMEBODY), 0);
	refused(fixture, deep, "may not enter it");
	if (geteuid() == SOMEBODY)
		assert_int_equal(seteuid(0), 0);
	chmod(fixture->other, 0700);
}

/* Things that are put into the way of the files: never written through, nor taken for ours. */
static void test_planted_files(void **state)
{
	struct fixture *fixture = *state;
	char link[3 * SCRATCH_MAX];
	char *text;
	size_t size;

	scratch_write(fixture->other, "precious", 8);
	assert_int_equal(open_at(fixture, fixture->path, false), 0);
	snprintf(link, sizeof(link), "%s/chunk-000000.ntc.partial", fixture->path);
	assert_int_equal(symlink("../other", link), 0);
	assert_int_equal(nt_tape_writer_begin_chunk(fixture->tape), -EEXIST);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("../made", link), 0);
	assert_int_equal(nt_tape_writer_begin_chunk(fixture->tape), -EEXIST);
	assert_false(is_there(fixture->dir, "made"));
	assert_int_equal(unlink(link), 0);
	assert_int_equal(nt_tape_writer_begin_chunk(fixture->tape), 0);
	/* In the way of the final name: it stays, with what it leads to, and the chunk stays unfinished. */
	snprintf(link, sizeof(link), "%s/chunk-000000.ntc", fixture->path);
	assert_int_equal(symlink("../other", link), 0);
	nt_tape_writer_finish_chunk(fixture->tape);
	assert_int_equal(nt_tape_writer_wait(fixture->tape), -EEXIST);
	assert_true(S_ISLNK(stat_of(fixture->path, "chunk-000000.ntc").st_mode));
	assert_true(S_ISREG(stat_of(fixture->path, "chunk-000000.ntc.partial").st_mode));
	text = scratch_read(fixture->other, &size);
	assert_int_equal(size, 8);
	assert_memory_equal(text, "precious", 8);
	free(text);
}

/* The directory is moved away while it is written, and a link to another stands in its place. */
static void test_moved(void **state)
{
	struct fixture *fixture = *state;
	char moved[2 * SCRATCH_MAX];

	assert_int_equal(mkdir(fixture->other, 0755), 0);
	assert_int_equal(open_at(fixture, fixture->path, geteuid() == 0), 0);
	assert_int_equal(nt_tape_writer_begin_chunk(fixture->tape), 0);
	assert_int_equal(rename(fixture->path, scratch_path(moved, fixture->dir, "moved")), 0);
	assert_int_equal(symlink("other", fixture->path), 0);
	finish(fixture);
	assert_int_equal(nt_tape_writer_begin_chunk(fixture->tape), 0);
	finish(fixture);
	assert_true(is_there(moved, "chunk-000000.ntc"));
	assert_true(is_there(moved, "chunk-000001.ntc"));
	assert_int_equal(rmdir(fixture->other), 0);
}

/* Another directory in its place is not removed for it. */
static void test_discards_its_own(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(open_at(fixture, fixture->path, false), 0);
	assert_int_equal(rename(fixture->path, fixture->other), 0);
	assert_int_equal(mkdir(fixture->path, 0700), 0);
	nt_tape_writer_discard(fixture->tape);
	assert_true(is_there(fixture->path, ""));
	nt_tape_writer_free(fixture->tape);
	fixture->tape = NULL;
	/* Nor is a directory that was there. */
	assert_int_equal(open_at(fixture, fixture->path, false), 0);
	nt_tape_writer_discard(fixture->tape);
	assert_true(is_there(fixture->path, ""));
}

static void is_of(const struct stat *stat, uid_t uid, gid_t gid)
{
	assert_int_equal(stat->st_uid, uid);
	assert_int_equal(stat->st_gid, gid);
}

static void test_gives_it(void **state)
{
	struct fixture *fixture = *state;
	struct stat stat;

	if (geteuid())
		skip();
	assert_int_equal(open_at(fixture, fixture->path, true), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(nt_tape_writer_begin_chunk(fixture->tape), 0);
		finish(fixture);
	}
	stat = stat_of(fixture->path, "");
	is_of(&stat, SOMEBODY, HIS_GROUP);
	assert_int_equal(stat.st_mode, S_IFDIR | 0700);
	for (int i = 0; i < 2; i++) {
		stat = stat_of(fixture->path, i ? "chunk-000001.ntc" : "chunk-000000.ntc");
		is_of(&stat, SOMEBODY, HIS_GROUP);
		assert_int_equal(stat.st_mode, S_IFREG | 0600);
	}
	stat = stat_of(fixture->dir, "");
	is_of(&stat, 0, 0);
}

/* A directory that was there keeps its owner and its mode; what is made in it is given. */
static void test_gives_no_directory_that_was_there(void **state)
{
	struct fixture *fixture = *state;
	struct stat stat;

	if (geteuid())
		skip();
	assert_int_equal(mkdir(fixture->path, 0700), 0);
	assert_int_equal(open_at(fixture, fixture->path, true), 0);
	assert_int_equal(nt_tape_writer_begin_chunk(fixture->tape), 0);
	stat = stat_of(fixture->path, "");
	is_of(&stat, 0, 0);
	assert_int_equal(stat.st_mode, S_IFDIR | 0700);
	stat = stat_of(fixture->path, "chunk-000000.ntc.partial");
	is_of(&stat, SOMEBODY, HIS_GROUP);
}

/* A user who may not give a tape away keeps it, and can tell. With --user it is an error, and leaves nothing. */
static void test_cannot_give(void **state)
{
	struct nt_tape_owner owner = {
		.is_other = true, .is_asked = true, .uid = geteuid() ? 0 : SOMEBODY + 1, .gid = HIS_GROUP};
	struct nt_chunk_header header = {0};
	struct fixture *fixture = *state;
	bool is_root = geteuid() == 0;

	if (is_root) {
		assert_int_equal(chmod(fixture->dir, 0777), 0);
		assert_int_equal(seteuid(SOMEBODY), 0);
	}
	assert_int_equal(nt_tape_writer_new(&fixture->tape, fixture->path, &owner, &all_is_kept, &header,
					    fixture->error, sizeof(fixture->error)),
			 -EPERM);
	assert_non_null(strstr(fixture->error, "--user"));
	assert_false(is_there(fixture->path, ""));
	owner.is_asked = false;
	assert_int_equal(nt_tape_writer_new(&fixture->tape, fixture->path, &owner, &all_is_kept, &header,
					    fixture->error, sizeof(fixture->error)),
			 0);
	assert_int_equal(nt_tape_writer_begin_chunk(fixture->tape), 0);
	assert_int_equal(nt_tape_writer_kept(fixture->tape), -EPERM);
	if (is_root)
		assert_int_equal(seteuid(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_makes_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_paths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refuses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_whose, setup, teardown),
		cmocka_unit_test_setup_teardown(test_planted_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_discards_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gives_it, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gives_no_directory_that_was_there, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cannot_give, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

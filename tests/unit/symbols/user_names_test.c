// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_names_test.c - where files are looked for, place by place; that another build id is never taken; and that a tape
 * cannot lead out of the directory that it was given. The file is one of the corpus: `inner` lies at 0x10c of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/symbols/user_names.h"

#define PLACE 0x10d
#define NOTE "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU" /* with the zero behind it: 16 bytes, then the id */

static char directory[64];
static uint8_t file[2048], id[NT_BUILD_ID_LEN];
static size_t file_size, id_at;

static void remove_all(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", directory);
	assert_int_equal(system(command), 0);
}

static int read_file(void **state)
{
	FILE *in = fopen("tests/fuzz/corpus/program_fuzz/static", "re");
	uint8_t *note;

	(void)state;
	if (!in)
		return -1;
	file_size = fread(file, 1, sizeof(file), in);
	fclose(in);
	note = memmem(file, file_size, NOTE, 16);
	if (!note)
		return -1;
	id_at = (size_t)(note + 16 - file);
	memcpy(id, file + id_at, sizeof(id));
	strcpy(directory, "/tmp/user_names_test.XXXXXX");
	return mkdtemp(directory) && !setenv("DEBUGINFOD_CACHE_PATH", "/nowhere", 1) ? 0 : -1;
}

static int clean_up(void **state)
{
	(void)state;
	remove_all();
	return 0;
}

/* Puts the file to directory/..., with all directories before it. */
static void put(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void put(const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	FILE *out;
	int at;

	remove_all();
	at = snprintf(path, sizeof(path), "%s/", directory);
	va_start(args, format);
	vsnprintf(path + at, sizeof(path) - (size_t)at, format, args);
	va_end(args);
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
	out = fopen(path, "we");
	assert_non_null(out);
	assert_int_equal(fwrite(file, 1, file_size, out), file_size);
	fclose(out);
}

static const char *hex(size_t from, size_t to)
{
	static char texts[4][2 * NT_BUILD_ID_LEN + 1];
	static unsigned int next;
	char *text = texts[next++ % 4];

	text[0] = 0;
	for (size_t i = from; i < to; i++)
		sprintf(text + 2 * (i - from), "%02x", id[i]);
	return text;
}

static bool is_found_with(const struct nt_symbol_args *args, const char *path)
{
	struct nt_user_names *names;
	struct nt_user_name name;
	char error[NT_ERROR_MAX];
	bool found;

	assert_int_equal(nt_user_names_new(&names, args, error), 0);
	/* The second answer is the one that was kept. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(nt_user_names_find(names, id, path, PLACE, &name), 0);
		found = name.function != NULL;
		if (found) {
			assert_string_equal(name.function, "inner");
			assert_int_equal(name.offset, 1);
			assert_int_equal(strncmp(name.files[0], directory, strlen(directory)), 0);
		}
	}
	nt_user_names_free(names);
	return found;
}

static bool is_found(const char *path)
{
	mkdir(directory, 0700);
	return is_found_with(&(struct nt_symbol_args){.dirs = {directory}, .n_dirs = 1}, path);
}

static void looks_where_it_says(void **state)
{
	(void)state;
	put("opt/x/server");
	assert_true(is_found("/opt/x/server"));
	assert_true(is_found("/opt/x/server (deleted)"));
	assert_false(is_found("/opt/y/server"));
	assert_false(is_found(NULL));
	put("server");
	assert_true(is_found("/opt/x/server"));
	/* As the tape keeps the end of a long path. */
	assert_true(is_found("ngpath/server"));
	assert_false(is_found("/opt/x/client"));
	put("server.debug");
	assert_true(is_found("/opt/x/server"));
	put(".build-id/%s/%s", hex(0, 1), hex(1, 20));
	assert_true(is_found(NULL));
	put(".build-id/%s/%s.debug", hex(0, 1), hex(1, 20));
	assert_true(is_found("/opt/x/server"));
	put("usr/lib/.build-id/%s/%s", hex(0, 1), hex(1, 20));
	assert_true(is_found(NULL));
	put("usr/lib/debug/.build-id/%s/%s.debug", hex(0, 1), hex(1, 20));
	assert_true(is_found(NULL));
	remove_all();
	assert_false(is_found("/opt/x/server"));
}

static void looks_at_the_place_itself_and_what_was_fetched(void **state)
{
	const struct nt_symbol_args nothing = {0}, none = {.none = true};
	char path[128];

	(void)state;
	put("server");
	snprintf(path, sizeof(path), "%s/server", directory);
	assert_true(is_found_with(&nothing, path));
	assert_false(is_found_with(&none, path));
	assert_false(is_found_with(&nothing, NULL));
	put("cache/%s/executable", hex(0, 20));
	assert_false(is_found_with(&nothing, path));
	snprintf(path, sizeof(path), "%s/cache", directory);
	setenv("DEBUGINFOD_CACHE_PATH", path, 1);
	assert_true(is_found_with(&nothing, NULL));
	put("cache/%s/debuginfo", hex(0, 20));
	assert_true(is_found_with(&nothing, NULL));
	unsetenv("DEBUGINFOD_CACHE_PATH");
	put("home/debuginfod_client/%s/debuginfo", hex(0, 20));
	snprintf(path, sizeof(path), "%s/home", directory);
	setenv("XDG_CACHE_HOME", path, 1);
	assert_true(is_found_with(&nothing, NULL));
	unsetenv("XDG_CACHE_HOME");
	setenv("DEBUGINFOD_CACHE_PATH", "/nowhere", 1);
}

/* Whether it is found by this path, by those who have looked for it before. */
static bool finds(struct nt_user_names *names, const char *path)
{
	struct nt_user_name name;

	assert_int_equal(nt_user_names_find(names, id, path, PLACE, &name), 0);
	return name.function && !strncmp(name.files[0], directory, strlen(directory));
}

/* A known program is known by all its paths, and is not read again: its file may be gone. */
static void knows_a_program_by_its_id(void **state)
{
	const struct nt_symbol_args args = {.dirs = {directory}, .n_dirs = 1};
	struct nt_user_names *names;
	char error[NT_ERROR_MAX];

	(void)state;
	put("opt/x/server");
	assert_int_equal(nt_user_names_new(&names, &args, error), 0);
	assert_false(finds(names, NULL));
	assert_false(finds(names, "/opt/y/client"));
	assert_true(finds(names, "/opt/x/server"));
	remove_all();
	assert_true(finds(names, "/opt/y/client"));
	assert_true(finds(names, NULL));
	assert_true(finds(names, "/opt/z/new"));
	nt_user_names_free(names);
}

/* MD5 has 16 bytes: on tape there are zeroes behind them. */
static void knows_shorter_ids(void **state)
{
	(void)state;
	file[id_at - 12] = 16;
	memset(id + 16, 0, 4);
	put("usr/lib/debug/.build-id/%s/%s.debug", hex(0, 1), hex(1, 16));
	assert_true(is_found(NULL));
	file[id_at - 12] = 20;
	memcpy(id, file + id_at, sizeof(id));
}

static void takes_no_other_file(void **state)
{
	(void)state;
	id[3] ^= 1;
	put("server");
	assert_false(is_found("/opt/x/server"));
	memset(id, 0, sizeof(id));
	assert_false(is_found("/opt/x/server"));
	memcpy(id, file + id_at, sizeof(id));
	assert_true(is_found("/opt/x/server"));
}

static void does_not_leave_the_directory(void **state)
{
	char path[128];
	const struct nt_symbol_args args = {.dirs = {path}, .n_dirs = 1};

	(void)state;
	put("server");
	snprintf(path, sizeof(path), "%s/sub", directory);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_false(is_found_with(&args, "/../server"));
	assert_false(is_found_with(&args, "/x/../../server"));
}

/* A path that is too long is none, though there may be a file by the part of it that fits. */
static void takes_no_part_of_a_path(void **state)
{
	const size_t begin = strlen(directory), end = PATH_MAX - 1 - strlen("/server");
	char dir[PATH_MAX];
	const struct nt_symbol_args args = {.dirs = {dir}, .n_dirs = 1};

	(void)state;
	strcpy(dir, directory);
	for (size_t i = begin; i < end; i++)
		dir[i] = (i - begin) % 200 ? 'd' : '/';
	dir[end] = 0;
	put("%s/server", dir + strlen(directory) + 1);
	assert_true(is_found_with(&args, "/server"));
	assert_false(is_found_with(&args, "/serverX"));
}

static void says_that_a_directory_is_missing(void **state)
{
	const struct nt_symbol_args args = {.dirs = {"/nowhere"}, .n_dirs = 1};
	struct nt_user_names *names;
	char error[NT_ERROR_MAX];

	(void)state;
	assert_int_equal(nt_user_names_new(&names, &args, error), -1);
	assert_null(names);
	assert_non_null(strstr(error, "/nowhere"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_where_it_says),
		cmocka_unit_test(looks_at_the_place_itself_and_what_was_fetched),
		cmocka_unit_test(knows_a_program_by_its_id),
		cmocka_unit_test(knows_shorter_ids),
		cmocka_unit_test(takes_no_other_file),
		cmocka_unit_test(does_not_leave_the_directory),
		cmocka_unit_test(takes_no_part_of_a_path),
		cmocka_unit_test(says_that_a_directory_is_missing),
	};

	return cmocka_run_group_tests(tests, read_file, clean_up);
}

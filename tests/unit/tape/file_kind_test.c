// SPDX-License-Identifier: GPL-2.0-only
/*
 * file_kind_test.c - what a path is that holds no tape: by the first bytes of a file, and by what is in a directory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/tape/file_kind.h"
#include "tests/support/scratch.h"

static char directory[SCRATCH_MAX], path[2 * SCRATCH_MAX];

static int setup(void **state)
{
	(void)state;
	scratch_make(directory);
	scratch_path(path, directory, "file");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scratch_remove(directory);
	return 0;
}

static const char *kind_of(const void *bytes, size_t size)
{
	const char *kind;

	scratch_write(path, bytes, size);
	kind = nt_file_kind(path);
	return kind ? kind : "unknown";
}

static void knows_files_by_their_first_bytes(void **state)
{
	static const struct {
		size_t size;
		const char *bytes, *kind;
	} files[] = {
		{0, "", "an empty file"},
		{8, "PERFILE2", "a recording of perf: perf report reads it"},
		{10, "\x17\x08\x44tracing", "a recording of trace-cmd: trace-cmd report reads it"},
		{9, "\x17\x08\x44tracing", "unknown"},
		{4, "\x0a\x0d\x0d\x0a", "a capture of packets: tcpdump and wireshark read it"},
		{2, "\x1f\x8b", "a compressed file: unpack it first"},
		{1, "\x1f", "unknown"},
		{5, "\177ELF\1", "a program"},
		{5, "hello", "a text file"},
		{5, "\t\n\r\f\033", "a text file"},
		{2, "a\x7f", "unknown"},
		{2, "a\x1f", "unknown"},
		{2, "a", "unknown"}, /* with a zero */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (strcmp(kind_of(files[i].bytes, files[i].size), files[i].kind))
			fail_msg("file %zu is not %s but %s", i, files[i].kind, nt_file_kind(path));
}

static void knows_archives(void **state)
{
	char archive[512] = "name";

	(void)state;
	memcpy(archive + 257, "ustar", 5);
	assert_string_equal(kind_of(archive, sizeof(archive)), "an archive: unpack it first");
	assert_string_equal(kind_of(archive, 262), "an archive: unpack it first");
	assert_string_equal(kind_of(archive, 261), "unknown");
}

static void knows_databases(void **state)
{
	uint8_t head[100] = "SQLite format 3";

	(void)state;
	assert_string_equal(kind_of(head, sizeof(head)), "an SQLite database of another program");
	assert_string_equal(kind_of(head, 72), "an SQLite database of another program");
	assert_string_equal(kind_of(head, 71), "an SQLite database that was cut off");
	assert_string_equal(kind_of(head, 16), "an SQLite database that was cut off");
	assert_string_equal(kind_of(head, 15), "a text file");
	for (size_t i = 0; i < 4; i++)
		head[68 + i] = (uint8_t)(NT_DB_APPLICATION_ID >> (24 - 8 * i));
	assert_string_equal(
		kind_of(head, sizeof(head)),
		"a database that nettape-report import made: look at it with nettape-report summary or query");
}

static const char trace[] = "a trace for Perfetto: https://ui.perfetto.dev opens it";

/* A packet is its field's number, its length in groups of seven bits, and so many bytes. */
static void knows_traces_by_their_first_packet(void **state)
{
	uint8_t bytes[400] = {0x0a, 2, 1, 1, 0x0a, 0};

	(void)state;
	assert_string_equal(kind_of(bytes, 4), trace); /* one packet, and the file's end */
	assert_string_equal(kind_of(bytes, 6), trace); /* another behind it */
	assert_string_equal(kind_of(bytes, 3), "unknown");
	bytes[4] = 0x0b;
	assert_string_equal(kind_of(bytes, 6), "unknown");
	/* 300 is two groups: 44, and 2 of 128. */
	memcpy(bytes, (const uint8_t[]){0x0a, 0x80 | 44, 2, 1}, 4);
	bytes[303] = 0x0a;
	assert_string_equal(kind_of(bytes, 303), trace);
	assert_string_equal(kind_of(bytes, 304), trace);
	assert_string_equal(kind_of(bytes, 302), "unknown");
	bytes[303] = 0;
	assert_string_equal(kind_of(bytes, 304), "unknown");
	/* The same behind another field. */
	assert_string_equal(kind_of("\x0b\2\1\1", 4), "unknown");
	/* A length has four groups at most. */
	assert_string_equal(kind_of("\x0a\x82\x80\x80\x80\0\1", 7), trace);
	memset(bytes + 1, 0x80, 30);
	assert_string_equal(kind_of(bytes, 40), "unknown");
	/* Nothing is in it: that says nothing of what follows. */
	memcpy(bytes, (const uint8_t[]){0x0a, 0, 0x0a, 0}, 4);
	assert_string_equal(kind_of(bytes, 4), "unknown");
}

static void knows_directories(void **state)
{
	char chunk[2 * SCRATCH_MAX];

	(void)state;
	assert_string_equal(nt_file_kind(directory), "an empty directory");
	scratch_write(path, "x", 1);
	assert_string_equal(nt_file_kind(directory), "a directory without chunk files (chunk-000000.ntc)");
	scratch_write(scratch_path(chunk, directory, "chunk-7"), "x", 1);
	assert_null(nt_file_kind(directory));
	/* The other one is found first, or last. */
	assert_int_equal(unlink(path), 0);
	assert_null(nt_file_kind(directory));
}

static void waits_for_no_pipe(void **state)
{
	(void)state;
	assert_null(nt_file_kind(path));
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_string_equal(nt_file_kind(path), "neither a file nor a directory");
}

/* Whoever has closed standard input gets its number. */
static void a_file_may_be_number_0(void **state)
{
	(void)state;
	scratch_write(path, "hello", 5);
	close(STDIN_FILENO);
	assert_string_equal(nt_file_kind(path), "a text file");
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(knows_files_by_their_first_bytes),
		TEST(knows_archives),
		TEST(knows_databases),
		TEST(knows_traces_by_their_first_packet),
		TEST(knows_directories),
		TEST(waits_for_no_pipe),
		TEST(a_file_may_be_number_0),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

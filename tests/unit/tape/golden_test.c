// SPDX-License-Identifier: GPL-2.0-only
/*
 * golden_test.c - tapes written once, by the version that they are named after: the good ones read as they always did,
 * the broken ones are refused or lose no more than what is broken. Runs in the project's root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/chunk_dump.h"
#include "tests/support/chunk_memory.h"

static void read_file(struct nt_buf *out, const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t n;

	if (!file)
		fail_msg("cannot read %s", path);
	out->size = 0;
	do {
		assert_int_equal(nt_buf_reserve(out, 4096), 0);
		n = fread(out->data + out->size, 1, 4096, file);
		out->size += n;
	} while (n);
	fclose(file);
}

static void dump_chunk(FILE *out, const char *directory, const char *name, bool scan)
{
	struct nt_source source;
	struct nt_buf bytes = {0};
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	read_file(&bytes, path);
	source = chunk_memory_source(&bytes);
	fprintf(out, "chunk %s\n", name);
	chunk_dump(out, &source, scan);
	nt_buf_release(&bytes);
}

/* The tape of `n` chunks reads as the file of expected text says, with its index and without. */
static void expect_tape(const char *tape, int n, const char *expected_path)
{
	struct nt_buf expected = {0};
	char *text, *indexed, name[32];
	size_t size;
	FILE *out;

	read_file(&expected, expected_path);
	for (int scan = 0; scan < 2; scan++) {
		out = open_memstream(&text, &size);
		for (int i = 0; i < n; i++) {
			snprintf(name, sizeof(name), "chunk-%06d.ntc", i);
			dump_chunk(out, tape, name, scan);
		}
		fclose(out);
		/* Without the index all is the same but this. */
		for (char *at = text; scan && (indexed = strstr(at, " indexed=0\n")); at = indexed)
			memcpy(indexed, " indexed=1", 10);
		assert_int_equal(size, expected.size);
		assert_memory_equal(text, expected.data, size);
		free(text);
	}
	nt_buf_release(&expected);
}

static void test_version_1(void **state)
{
	(void)state;
	expect_tape("tests/golden/v1.tape", 2, "tests/golden/v1.expected");
	expect_tape("tests/golden/v1-polls.tape", 1, "tests/golden/v1-polls.expected");
	expect_tape("tests/golden/v1-samples.tape", 1, "tests/golden/v1-samples.expected");
	expect_tape("tests/golden/v1-wakeups.tape", 1, "tests/golden/v1-wakeups.expected");
	expect_tape("tests/golden/v1-stacks.tape", 1, "tests/golden/v1-stacks.expected");
	expect_tape("tests/golden/v1-flows.tape", 1, "tests/golden/v1-flows.expected");
	expect_tape("tests/golden/v1-charges.tape", 1, "tests/golden/v1-charges.expected");
	expect_tape("tests/golden/v1-fates.tape", 1, "tests/golden/v1-fates.expected");
	expect_tape("tests/golden/v1-holders.tape", 1, "tests/golden/v1-holders.expected");
	expect_tape("tests/golden/v1-elsewhere.tape", 1, "tests/golden/v1-elsewhere.expected");
	expect_tape("tests/golden/v1-sketch.tape", 1, "tests/golden/v1-sketch.expected");
	expect_tape("tests/golden/v1-waits.tape", 1, "tests/golden/v1-waits.expected");
	expect_tape("tests/golden/v1-disks.tape", 1, "tests/golden/v1-disks.expected");
	expect_tape("tests/golden/v1-transmit.tape", 1, "tests/golden/v1-transmit.expected");
	expect_tape("tests/golden/v1-memory.tape", 1, "tests/golden/v1-memory.expected");
	expect_tape("tests/golden/v1-kmem.tape", 1, "tests/golden/v1-kmem.expected");
	expect_tape("tests/golden/v1-readings.tape", 1, "tests/golden/v1-readings.expected");
}

static const struct {
	const char *name;
	int err; /* of nt_chunk_open */
	size_t n_blocks, n_loaded, n_damage;
	const char *what; /* the first damage */
} bad[] = {
	{"cut-header.ntc", -EBADMSG, 0, 0, 0, NULL},
	{"cut-block.ntc", 0, 1, 1, 1, "block is cut short"},
	{"flipped-chunk-header.ntc", 0, 2, 2, 1, "chunk header does not match its checksum"},
	{"flipped-block-header.ntc", 0, 2, 1, 0, NULL},
	{"flipped-payload.ntc", 0, 2, 1, 0, NULL},
	{"flipped-trailer.ntc", 0, 2, 2, 1, "trailer is damaged or cut short"},
	{"other-version.ntc", -ENOTSUP, 0, 0, 0, NULL},
	{"empty.ntc", -EPROTO, 0, 0, 0, NULL},
	{"not-a-tape.ntc", -EPROTO, 0, 0, 0, NULL},
};

static void expect_bad(size_t i)
{
	struct nt_chunk_contents contents;
	struct nt_source source;
	struct nt_buf bytes = {0}, raw = {0};
	char path[256];
	size_t loaded = 0;

	snprintf(path, sizeof(path), "tests/golden/bad/%s", bad[i].name);
	read_file(&bytes, path);
	source = chunk_memory_source(&bytes);
	if (nt_chunk_open(&source, false, &contents) != bad[i].err)
		fail_msg("%s: another outcome of nt_chunk_open", bad[i].name);
	if (bad[i].err) {
		nt_buf_release(&bytes);
		return;
	}
	for (size_t block = 0; block < contents.n_blocks; block++)
		loaded += !nt_chunk_load(&source, &contents.blocks[block], &raw);
	if (contents.n_blocks != bad[i].n_blocks || loaded != bad[i].n_loaded || contents.n_damage != bad[i].n_damage)
		fail_msg("%s: %zu blocks, %zu loaded, %zu damaged", bad[i].name, contents.n_blocks, loaded,
			 contents.n_damage);
	if (bad[i].what)
		assert_string_equal(contents.damage[0].what, bad[i].what);
	nt_chunk_contents_release(&contents);
	nt_buf_release(&bytes);
	nt_buf_release(&raw);
}

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_bad(i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_version_1),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

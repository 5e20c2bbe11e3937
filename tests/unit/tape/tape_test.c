// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_test.c - opening recordings: what is whole, what is not, and what is none.
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
#include <sys/stat.h>

#include "report/rows/rows.h"
#include "tests/support/scratch.h"
#include "tests/support/tape_gen.h"

struct fixture {
	char dir[SCRATCH_MAX];
	char path[2 * SCRATCH_MAX];
	struct nt_tape *tape;
	char error[NT_ERROR_MAX];
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	scratch_make(fixture->dir);
	scratch_path(fixture->path, fixture->dir, "t.tape");
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	nt_tape_close(fixture->tape);
	scratch_remove(fixture->dir);
	free(fixture);
	return 0;
}

/* Three chunks, CPUs 0 and 2 of 0-3 online, records on CPUs 0 and 1. */
static void make(struct fixture *fixture, uint8_t session, bool whole)
{
	const struct tape_gen_config config = {.dir = fixture->path, .n_cpus = 4, .online = "0,2", .session = session};
	struct tape_gen *gen = tape_gen_new(&config);

	for (unsigned int i = 0; i < 3; i++) {
		gen_state(gen, 0, 10 * i, 0, NT_STATE_PERIODIC, 0);
		gen_state(gen, 1, 10 * i + 5, 0, NT_STATE_PERIODIC, 0);
		if (i < 2)
			tape_gen_next_chunk(gen);
	}
	tape_gen_finish(gen, GEN_START_NS + 1000, whole);
}

static int open_tape(struct fixture *fixture)
{
	return nt_tape_open(&fixture->tape, fixture->path, fixture->error);
}

static bool has_problem(const struct fixture *fixture, const char *text)
{
	for (size_t i = 0; i < fixture->tape->n_problems; i++) {
		if (!strcmp(fixture->tape->problems[i].text, text))
			return true;
	}
	return false;
}

static void knows_a_whole_tape(void **state)
{
	struct fixture *fixture = *state;
	static const uint8_t present[] = {1, 1, 1}, online[] = {1, 0, 1};
	char text[64], uuid[33];

	make(fixture, 0xab, true);
	assert_int_equal(open_tape(fixture), 0);
	assert_true(fixture->tape->has_end);
	assert_int_equal(fixture->tape->n_problems, 0);
	assert_int_equal(fixture->tape->n_chunks, 3);
	assert_int_equal(fixture->tape->start_ns, GEN_START_NS);
	assert_int_equal(fixture->tape->end_ns, GEN_START_NS + 1000);
	assert_int_equal(fixture->tape->n_cpus, 3);
	assert_memory_equal(fixture->tape->present, present, 3);
	assert_memory_equal(fixture->tape->online, online, 3);
	assert_int_equal(fixture->tape->lag_max_ns, 1000);
	assert_int_equal(nt_tape_meta(fixture->tape, "stop", text, sizeof(text)), 0);
	assert_string_equal(text, "duration");
	assert_int_equal(nt_tape_meta(fixture->tape, "os", text, 5), 0);
	assert_string_equal(text, "Test");
	assert_int_equal(nt_tape_meta(fixture->tape, "sto", text, sizeof(text)), -ENOENT);
	assert_int_equal(nt_tape_meta_number(fixture->tape, "clock_ticks", 7), 100);
	assert_int_equal(nt_tape_meta_number(fixture->tape, "os", 7), 7);
	nt_session_uuid(fixture->tape, uuid);
	assert_string_equal(uuid, "abababababababababababababababab");
}

static void knows_an_unfinished_tape(void **state)
{
	struct fixture *fixture = *state;

	make(fixture, 1, false);
	assert_int_equal(open_tape(fixture), 0);
	assert_false(fixture->tape->has_end);
	assert_int_equal(fixture->tape->end_ns, GEN_START_NS + 25);
	assert_true(has_problem(
		fixture, "chunk-000002.ntc.partial was never finished: the recorder was killed, or is still at work."));
	assert_true(has_problem(fixture, "The session's end is not on the tape: it ends with the last record."));
}

/* A chunk that was finished while its unfinished name was left behind is read once. */
static void prefers_the_finished_chunk(void **state)
{
	struct fixture *fixture = *state;
	char from[2 * SCRATCH_MAX], to[2 * SCRATCH_MAX], *data;
	size_t size;

	make(fixture, 1, true);
	data = scratch_read(scratch_path(from, fixture->path, "chunk-000001.ntc"), &size);
	scratch_write(scratch_path(to, fixture->path, "chunk-000001.ntc.partial"), data, size / 2);
	free(data);
	assert_int_equal(open_tape(fixture), 0);
	assert_int_equal(fixture->tape->n_chunks, 3);
	assert_true(has_problem(fixture, "chunk-000001.ntc.partial is left out: the same chunk is there, finished."));
}

/* Also where a later chunk says that the recording was whole. */
static void knows_an_unfinished_chunk_within(void **state)
{
	struct fixture *fixture = *state;
	char from[2 * SCRATCH_MAX], to[2 * SCRATCH_MAX];

	make(fixture, 1, true);
	assert_int_equal(rename(scratch_path(from, fixture->path, "chunk-000001.ntc"),
				scratch_path(to, fixture->path, "chunk-000001.ntc.partial")),
			 0);
	assert_int_equal(open_tape(fixture), 0);
	assert_int_equal(fixture->tape->n_chunks, 3);
	assert_int_equal(fixture->tape->end_ns, GEN_START_NS + 1000);
	assert_false(fixture->tape->has_end);
}

/* The recorder finishes a chunk while it is read. */
static void reads_a_chunk_under_its_final_name(void **state)
{
	struct fixture *fixture = *state;
	char partial[2 * SCRATCH_MAX], final[2 * SCRATCH_MAX];
	const struct nt_chunk_contents *contents;
	size_t n_blocks;

	make(fixture, 1, true);
	scratch_path(partial, fixture->path, "chunk-000001.ntc.partial");
	scratch_path(final, fixture->path, "chunk-000001.ntc");
	assert_int_equal(rename(final, partial), 0);
	assert_int_equal(open_tape(fixture), 0);
	assert_int_equal(nt_tape_hold(fixture->tape, 1, &contents), 0);
	n_blocks = contents->n_blocks;
	assert_true(n_blocks > 0);
	nt_tape_drop(fixture->tape, 1);
	assert_int_equal(rename(partial, final), 0);
	assert_int_equal(nt_tape_hold(fixture->tape, 1, &contents), 0);
	assert_int_equal(contents->n_blocks, n_blocks);
	nt_tape_drop(fixture->tape, 1);
	assert_int_equal(remove(final), 0);
	assert_int_equal(nt_tape_hold(fixture->tape, 1, &contents), -ENOENT);
}

static void leaves_out_chunks_of_others(void **state)
{
	struct fixture *fixture = *state;
	char from[2 * SCRATCH_MAX], to[2 * SCRATCH_MAX], other[2 * SCRATCH_MAX], *data;
	size_t size;

	make(fixture, 1, true);
	scratch_path(other, fixture->dir, "other.tape");
	snprintf(to, sizeof(to), "%s", fixture->path);
	snprintf(fixture->path, sizeof(fixture->path), "%s", other);
	make(fixture, 2, true);
	data = scratch_read(scratch_path(from, other, "chunk-000001.ntc"), &size);
	snprintf(fixture->path, sizeof(fixture->path), "%s", to);
	scratch_write(scratch_path(to, fixture->path, "chunk-000001.ntc"), data, size);
	free(data);
	assert_int_equal(open_tape(fixture), 0);
	assert_int_equal(fixture->tape->n_chunks, 2);
	assert_false(fixture->tape->has_end);
	assert_true(has_problem(fixture, "chunk-000001.ntc is left out: it is of another recording."));
	assert_true(has_problem(fixture, "chunk-000001.ntc is missing."));
	assert_true(has_problem(fixture, "chunk-000002.ntc: CPU 0: 1 of its blocks are missing before its block 2."));
}

static void survives_a_chunk_that_is_none(void **state)
{
	struct fixture *fixture = *state;
	char path[2 * SCRATCH_MAX];

	make(fixture, 1, true);
	scratch_write(scratch_path(path, fixture->path, "chunk-000000.ntc"), "garbage", 7);
	assert_int_equal(open_tape(fixture), 0);
	assert_int_equal(fixture->tape->n_chunks, 2);
	assert_true(has_problem(fixture, "chunk-000000.ntc is left out: not a nettape chunk."));
	/* Another chunk opens with the same meta block. */
	assert_int_equal(fixture->tape->start_ns, GEN_START_NS);
}

static void refuse(struct fixture *fixture, int code, const char *part)
{
	assert_int_equal(open_tape(fixture), code);
	if (!strstr(fixture->error, part) || !strstr(fixture->error, fixture->path))
		fail_msg("unclear: %s", fixture->error);
	assert_true(fixture->error[strlen(fixture->error) - 1] == '.');
}

static void refuses_what_is_no_tape(void **state)
{
	struct fixture *fixture = *state;
	char path[2 * SCRATCH_MAX];

	refuse(fixture, -ENOENT, "No such file");
	scratch_write(fixture->path, "hello", 5);
	refuse(fixture, -EPROTO, "not a nettape tape");
	assert_int_equal(remove(fixture->path), 0);
	assert_int_equal(mkdir(fixture->path, 0700), 0);
	refuse(fixture, -EPROTO, "is an empty directory: nettape-record was killed before it recorded anything");
	/* Names that only look like chunks. */
	scratch_write(scratch_path(path, fixture->path, "chunk-1.ntc"), "", 0);
	scratch_write(scratch_path(path, fixture->path, "chunk-000000.ntcx"), "", 0);
	refuse(fixture, -EPROTO, "not a nettape tape");
	scratch_write(scratch_path(path, fixture->path, "chunk-000000.ntc"), "", 0);
	assert_true(open_tape(fixture) < 0);
}

/* A chunk is read as far as it went when it was opened, also where that was nowhere. */
static void takes_no_block_that_came_later(void **state)
{
	struct fixture *fixture = *state;
	const struct nt_chunk_contents *contents;
	char path[2 * SCRATCH_MAX];
	size_t size;
	char *data;

	scratch_path(path, fixture->path, "chunk-000000.ntc.partial");
	data = scratch_read("tests/golden/v1.tape/chunk-000000.ntc", &size);
	assert_int_equal(mkdir(fixture->path, 0700), 0);
	scratch_write(path, "", 0);
	assert_int_equal(open_tape(fixture), 0);
	assert_true(has_problem(fixture,
				"chunk-000000.ntc.partial holds no block, so nothing was recorded: the recorder was "
				"killed before it wrote the first one, or is still at work."));
	assert_int_equal(fixture->tape->n_problems, 1);
	scratch_write(path, data, size);
	assert_int_equal(nt_tape_hold(fixture->tape, 0, &contents), 0);
	assert_int_equal(contents->n_blocks, 0);
	nt_tape_drop(fixture->tape, 0);
	free(data);
}

static void refuses_another_version(void **state)
{
	struct fixture *fixture = *state;
	char from[2 * SCRATCH_MAX], *data;
	size_t size;

	data = scratch_read("tests/golden/bad/other-version.ntc", &size);
	assert_int_equal(mkdir(fixture->path, 0700), 0);
	scratch_write(scratch_path(from, fixture->path, "chunk-000000.ntc"), data, size);
	free(data);
	refuse(fixture, -ENOTSUP, "another version");
}

/* A chunk file cut anywhere, and then with any one byte changed, opens or is refused; blocks that load are as they
 * were. */
static void survives_cuts_and_flips(void **state)
{
	struct fixture *fixture = *state;
	char path[2 * SCRATCH_MAX], *data;
	size_t size;

	make(fixture, 1, true);
	data = scratch_read(scratch_path(path, fixture->path, "chunk-000002.ntc"), &size);
	for (size_t at = 0; at < size; at += 7) {
		scratch_write(path, data, at);
		if (!open_tape(fixture))
			nt_tape_close(fixture->tape);
		fixture->tape = NULL;
		data[at] ^= 0x10;
		scratch_write(path, data, size);
		data[at] ^= 0x10;
		assert_int_equal(open_tape(fixture), 0);
		nt_tape_close(fixture->tape);
		fixture->tape = NULL;
	}
	free(data);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(knows_a_whole_tape),
		TEST(knows_an_unfinished_tape),
		TEST(prefers_the_finished_chunk),
		TEST(knows_an_unfinished_chunk_within),
		TEST(reads_a_chunk_under_its_final_name),
		TEST(leaves_out_chunks_of_others),
		TEST(survives_a_chunk_that_is_none),
		TEST(takes_no_block_that_came_later),
		TEST(refuses_what_is_no_tape),
		TEST(refuses_another_version),
		TEST(survives_cuts_and_flips),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * merge_test.c - the order in which the records of a tape come: within a CPU, across CPUs, and where something is
 * missing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report/tape/merge.h"
#include "report/timeline/timeline.h"
#include "report/util/array.h"
#include "schema/chunk_format.h"
#include "tests/support/rand.h"
#include "tests/support/scratch.h"
#include "tests/support/tape_gen.h"

#define SECOND 1000000000ull

/* Bytes read of tapes, by whichever thread. */
static atomic_size_t n_read;

ssize_t pread(int fd, void *to, size_t size, off_t at)
{
	ssize_t n = syscall(SYS_pread64, fd, to, size, at);

	n_read += n > 0 ? (size_t)n : 0;
	return n;
}

struct fixture {
	char dir[SCRATCH_MAX];
	char path[2 * SCRATCH_MAX];
	struct nt_tape *tape;
	struct nt_merge *merge;
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

	nt_merge_free(fixture->merge);
	nt_tape_close(fixture->tape);
	scratch_remove(fixture->dir);
	free(fixture);
	return 0;
}

static struct tape_gen *new_tape(struct fixture *fixture, uint32_t n_cpus, uint64_t drop)
{
	const struct tape_gen_config config = {
		.dir = fixture->path, .n_cpus = n_cpus, .drop = drop, .block_events = 1000};

	return tape_gen_new(&config);
}

static void open_merge(struct fixture *fixture, const char *path)
{
	char error[NT_ERROR_MAX];

	if (nt_tape_open(&fixture->tape, path, error))
		fail_msg("%s", error);
	fixture->merge = nt_merge_new(fixture->tape, NULL);
	assert_non_null(fixture->merge);
}

static void close_merge(struct fixture *fixture)
{
	nt_merge_free(fixture->merge);
	nt_tape_close(fixture->tape);
	fixture->merge = NULL;
	fixture->tape = NULL;
}

/* The next is a record of this kind, CPU and end (since GEN_START_NS). */
static void expect(struct fixture *fixture, uint32_t cpu, unsigned int kind, uint64_t end)
{
	struct nt_merged merged;

	assert_int_equal(nt_merge_next(fixture->merge, &merged), 0);
	assert_false(merged.is_gap);
	assert_int_equal(merged.record->record.kind, kind);
	assert_int_equal(merged.cpu, cpu);
	assert_int_equal(merged.record->record.end_ns - GEN_START_NS, end);
}

static void expect_gap(struct fixture *fixture, uint32_t cpu, uint64_t resume, uint64_t task, const char *why)
{
	struct nt_merged merged;

	assert_int_equal(nt_merge_next(fixture->merge, &merged), 0);
	assert_true(merged.is_gap);
	assert_int_equal(merged.cpu, cpu);
	assert_int_equal(merged.resume_ns - GEN_START_NS, resume);
	assert_int_equal(merged.task, task);
	assert_string_equal(merged.why, why);
}

static void expect_end(struct fixture *fixture)
{
	struct nt_merged merged;

	assert_int_equal(nt_merge_next(fixture->merge, &merged), 1);
	assert_int_equal(nt_merge_next(fixture->merge, &merged), 1);
}

/* A record that ended earlier but was written later is put right; what ended together stays as it was. */
static void sorts_a_cpu(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1, 0);

	gen_irq(gen, 0, 10, 30, NT_IRQ_VECTOR, 1);
	gen_softirq(gen, 0, 15, 20, 1, 1);
	gen_open(gen, 0, 40, NT_OPEN_OP, NT_SEND, 0, 35, 1);
	gen_switch(gen, 0, 40, 0, 0, 1, 1);
	gen_irq(gen, 0, 39, 40, NT_IRQ_VECTOR, 1);
	tape_gen_finish(gen, GEN_START_NS + 100, true);
	open_merge(fixture, fixture->path);
	expect(fixture, 0, NT_SOFTIRQ, 20);
	expect(fixture, 0, NT_IRQ, 30);
	expect(fixture, 0, NT_OPEN, 40);
	expect(fixture, 0, NT_SWITCH, 40);
	expect(fixture, 0, NT_IRQ, 40);
	expect_end(fixture);
}

static void merges_cpus(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 3, 0);

	gen_state(gen, 0, 10, 0, NT_STATE_START, 0);
	gen_state(gen, 0, 40, 0, NT_STATE_STOP, 0);
	gen_state(gen, 2, 10, 0, NT_STATE_START, 0);
	gen_state(gen, 2, 30, 0, NT_STATE_STOP, 0);
	gen_state(gen, 1, 20, 0, NT_STATE_START, 0);
	tape_gen_finish(gen, GEN_START_NS + 100, true);
	open_merge(fixture, fixture->path);
	expect(fixture, 0, NT_STATE, 10);
	expect(fixture, 2, NT_STATE, 10);
	expect(fixture, 1, NT_STATE, 20);
	expect(fixture, 2, NT_STATE, 30);
	expect(fixture, 0, NT_STATE, 40);
	expect_end(fixture);
}

/* Samples and their losses come as they are read, and what stands about them is put right over them. */
static void samples_go_past_the_order(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 2, 0);

	gen_irq(gen, 0, 10, 30, NT_IRQ_VECTOR, 1);
	tape_gen_event(gen, 0, &(union nt_any){.as_drop = {.end_ns = GEN_START_NS + 90, .kind = NT_DROP}});
	gen_loss(gen, 0, 95, NT_LATENCY, 3, 20, 80, 0);
	gen_softirq(gen, 0, 15, 20, 1, 1);
	gen_irq(gen, 1, 20, 25, NT_IRQ_VECTOR, 1);
	tape_gen_event(gen, 0, &(union nt_any){.as_latency = {.end_ns = GEN_START_NS + 15, .kind = NT_LATENCY}});
	tape_gen_finish(gen, GEN_START_NS + 100, true);
	open_merge(fixture, fixture->path);
	expect(fixture, 0, NT_DROP, 90);
	expect(fixture, 0, NT_LOSS, 95);
	expect(fixture, 0, NT_LATENCY, 15);
	expect(fixture, 0, NT_SOFTIRQ, 20);
	expect(fixture, 1, NT_IRQ, 25);
	expect(fixture, 0, NT_IRQ, 30);
	expect_end(fixture);
}

/* Nothing moves over a loss, and it comes before what happened elsewhere since the record before it. */
static void loss_comes_early_and_stays(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 2, 0);

	gen_state(gen, 0, 10, 0, NT_STATE_START, 0);
	gen_loss(gen, 0, 90, NT_SWITCH, 3, 20, 80, 20);
	gen_switch(gen, 0, 85, 0, 0, 1, 0);
	gen_state(gen, 1, 15, 0, NT_STATE_START, 0);
	gen_state(gen, 1, 50, 0, NT_STATE_PERIODIC, 0);
	tape_gen_finish(gen, GEN_START_NS + 100, true);
	open_merge(fixture, fixture->path);
	expect(fixture, 0, NT_STATE, 10);
	expect(fixture, 0, NT_LOSS, 90);
	expect(fixture, 1, NT_STATE, 15);
	expect(fixture, 1, NT_STATE, 50);
	expect(fixture, 0, NT_SWITCH, 85);
	expect_end(fixture);
}

/* Nor does a loss move over what stands before it, whatever its time. */
static void loss_stays_where_it_was_written(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1, 0);

	gen_state(gen, 0, 10, 0, NT_STATE_START, 0);
	gen_irq(gen, 0, 20, 60, NT_IRQ_VECTOR, 1);
	gen_loss(gen, 0, 50, NT_IRQ, 3, 30, 45, 25);
	gen_state(gen, 0, 70, 0, NT_STATE_PERIODIC, 0);
	tape_gen_finish(gen, GEN_START_NS + 100, true);
	open_merge(fixture, fixture->path);
	expect(fixture, 0, NT_STATE, 10);
	expect(fixture, 0, NT_IRQ, 60);
	expect(fixture, 0, NT_LOSS, 50);
	expect(fixture, 0, NT_STATE, 70);
	expect_end(fixture);
}

/* A record without a time of its own in the order comes at its CPU's position, which never goes back. */
static void hotplug_comes_where_its_cpu_is(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 2, 0);

	gen_state(gen, 0, 10, 0, NT_STATE_START, 0);
	gen_loss(gen, 0, 90, NT_SWITCH, 3, 20, 80, 20);
	gen_switch(gen, 0, 85, 0, 0, 1, 0);
	tape_gen_event(gen, 0, &(union nt_any){.as_hotplug = {.end_ns = GEN_START_NS + 99, .kind = NT_HOTPLUG}});
	gen_state(gen, 1, 50, 0, NT_STATE_START, 0);
	gen_state(gen, 1, 86, 0, NT_STATE_PERIODIC, 0);
	gen_state(gen, 1, 95, 0, NT_STATE_PERIODIC, 0);
	tape_gen_finish(gen, GEN_START_NS + 100, true);
	open_merge(fixture, fixture->path);
	expect(fixture, 0, NT_STATE, 10);
	expect(fixture, 0, NT_LOSS, 90);
	expect(fixture, 1, NT_STATE, 50);
	expect(fixture, 0, NT_SWITCH, 85);
	expect(fixture, 1, NT_STATE, 86);
	expect(fixture, 0, NT_HOTPLUG, 99);
	expect(fixture, 1, NT_STATE, 95);
	expect_end(fixture);
}

/* A span of more than a second stands in a block of its own, before the one whose time it shares. */
static void long_spans_fall_into_place(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1, 0);

	gen_state(gen, 0, 10, 1, NT_STATE_START, 0);
	gen_irq(gen, 0, 2 * SECOND, 2 * SECOND + 5, NT_IRQ_VECTOR, 1);
	gen_op(gen, 0, 100, 3 * SECOND, NT_RECV, 0, 1, 1, 0);
	gen_state(gen, 0, 3 * SECOND, 1, NT_STATE_PERIODIC, 0);
	gen_state(gen, 0, 4 * SECOND, 1, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 4 * SECOND, true);
	open_merge(fixture, fixture->path);
	expect(fixture, 0, NT_STATE, 10);
	expect(fixture, 0, NT_IRQ, 2 * SECOND + 5);
	expect(fixture, 0, NT_OP, 3 * SECOND);
	expect(fixture, 0, NT_STATE, 3 * SECOND);
	expect(fixture, 0, NT_STATE, 4 * SECOND);
	expect_end(fixture);
}

/* A sample that ended late, before what ended early, changes nothing of where a long span falls. */
static void samples_do_not_move_long_spans(void **state)
{
	struct fixture *fixture = *state;

	for (int with_sample = 0; with_sample < 2; with_sample++) {
		struct tape_gen *gen;

		scratch_path(fixture->path, fixture->dir, with_sample ? "with.tape" : "without.tape");
		gen = new_tape(fixture, 1, 0);
		gen_state(gen, 0, 10, 1, NT_STATE_START, 0);
		gen_op(gen, 0, 20, 2 * SECOND + 90, NT_RECV, 0, 1, 1, 0);
		if (with_sample)
			tape_gen_event(gen, 0,
				       &(union nt_any){.as_latency = {.end_ns = GEN_START_NS + 2 * SECOND + 100,
								      .kind = NT_LATENCY}});
		gen_loss(gen, 0, 2 * SECOND + 85, NT_SWITCH, 3, 2 * SECOND, 2 * SECOND + 80, 20);
		tape_gen_finish(gen, GEN_START_NS + 3 * SECOND, true);
		open_merge(fixture, fixture->path);
		if (with_sample)
			expect(fixture, 0, NT_LATENCY, 2 * SECOND + 100);
		expect(fixture, 0, NT_STATE, 10);
		expect(fixture, 0, NT_LOSS, 2 * SECOND + 85);
		expect(fixture, 0, NT_OP, 2 * SECOND + 90);
		expect_end(fixture);
		nt_merge_free(fixture->merge);
		nt_tape_close(fixture->tape);
		fixture->merge = NULL;
		fixture->tape = NULL;
	}
}

/* Five blocks of two records on CPU 0: states at 10, 20, ..., 100 of tasks 1, 2, ...; blocks may lie in chunks. */
static void five_blocks(struct fixture *fixture, uint64_t drop, bool chunks)
{
	struct tape_gen *gen = new_tape(fixture, 1, drop);

	for (unsigned int i = 1; i <= 10; i++) {
		gen_state(gen, 0, 10 * i, i, NT_STATE_PERIODIC, 0);
		if (i % 2)
			continue;
		if (chunks && i < 10)
			tape_gen_next_chunk(gen);
		else
			tape_gen_flush(gen, 0);
	}
	tape_gen_finish(gen, GEN_START_NS + 200, true);
}

static void missing_block_is_a_gap(void **state)
{
	struct fixture *fixture = *state;

	five_blocks(fixture, 2, false);
	open_merge(fixture, fixture->path);
	assert_int_equal(fixture->tape->n_problems, 1);
	for (unsigned int end = 10; end <= 40; end += 10)
		expect(fixture, 0, NT_STATE, end);
	expect_gap(fixture, 0, 60, 6, "missing block");
	for (unsigned int end = 70; end <= 100; end += 10)
		expect(fixture, 0, NT_STATE, end);
	expect_end(fixture);
}

/* When it was a block of long spans that is missing, the whole next block is doubtful. */
static void missing_long_block_is_a_gap(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1, 1);

	gen_state(gen, 0, 10, 1, NT_STATE_START, 0);
	tape_gen_flush(gen, 0);
	gen_op(gen, 0, 100, 2 * SECOND, NT_RECV, 0, 1, 1, 0);
	gen_state(gen, 0, 3 * SECOND, 1, NT_STATE_PERIODIC, 0);
	tape_gen_finish(gen, GEN_START_NS + 3 * SECOND, true);
	open_merge(fixture, fixture->path);
	expect(fixture, 0, NT_STATE, 10);
	expect_gap(fixture, 0, 3 * SECOND, NT_NO_TASK, "missing block");
	expect(fixture, 0, NT_STATE, 3 * SECOND);
	expect_end(fixture);
}

/* Where the n-th block of events begins in a chunk file. */
static size_t event_block(const char *path, size_t n, size_t *payload_end)
{
	char error[NT_ERROR_MAX];
	const struct nt_chunk_contents *contents;
	struct nt_tape *tape;
	size_t offset = 0;

	assert_int_equal(nt_tape_open(&tape, path, error), 0);
	assert_int_equal(nt_tape_hold(tape, 0, &contents), 0);
	for (size_t i = 0; i < contents->n_blocks; i++) {
		if (contents->blocks[i].header.type != NT_BLOCK_EVENTS || n--)
			continue;
		offset = contents->blocks[i].offset;
		*payload_end = contents->blocks[i + 1].offset;
		break;
	}
	nt_tape_drop(tape, 0);
	nt_tape_close(tape);
	assert_true(offset > 0);
	return offset;
}

static void flip(const char *path, size_t at)
{
	size_t size;
	char *data = scratch_read(path, &size);

	assert_true(at < size);
	data[at] ^= 0x20;
	scratch_write(path, data, size);
	free(data);
}

/* The n-th block of events gets another number; the chunk loses its index, which has the number too. */
static void renumber(const char *path, size_t n, uint64_t sequence)
{
	size_t size, end, at = event_block(path, n, &end);
	uint8_t *data = (uint8_t *)scratch_read(path, &size);
	struct nt_trailer trailer;
	struct nt_block_head head;

	assert_int_equal(nt_trailer_parse(data + size - NT_TRAILER_SIZE, &trailer), 0);
	assert_int_equal(nt_block_head_parse(data + at, size - at, &head), 0);
	head.header.sequence = sequence;
	nt_block_head_pack(data + at, &head.header, head.payload_crc);
	scratch_write(path, data, trailer.index_offset);
	free(data);
}

/* The chunk loses its n-th block of events. Its index does not fit it then, and is not used. */
static void cut_out(const char *path, size_t n)
{
	size_t size, end, at = event_block(path, n, &end);
	char *data = scratch_read(path, &size);

	memmove(data + at, data + end, size - end);
	scratch_write(path, data, size - (end - at));
	free(data);
}

/* Of a CPU: three normal blocks, the last two with long spans, which are operations of tasks 2 and 3. */
static void long_spans_twice(struct fixture *fixture, bool chunks)
{
	struct tape_gen *gen = new_tape(fixture, 1, 0);

	gen_state(gen, 0, 10, 1, NT_STATE_START, 0);
	tape_gen_flush(gen, 0);
	gen_op(gen, 0, 100, 2 * SECOND, NT_RECV, 0, 1, 1, 0);
	gen_state(gen, 0, 3 * SECOND, 2, NT_STATE_PERIODIC, 0);
	if (chunks)
		tape_gen_next_chunk(gen);
	else
		tape_gen_flush(gen, 0);
	gen_op(gen, 0, 3 * SECOND, 5 * SECOND, NT_RECV, 0, 1, 1, 0);
	gen_state(gen, 0, 6 * SECOND, 3, NT_STATE_PERIODIC, 0);
	tape_gen_flush(gen, 0);
	gen_state(gen, 0, 7 * SECOND, 3, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 7 * SECOND, true);
}

/* Opens long_spans_twice() without these of its five blocks of events: a bit for each. */
static void open_without(struct fixture *fixture, unsigned int blocks)
{
	char path[2 * SCRATCH_MAX];

	long_spans_twice(fixture, false);
	scratch_path(path, fixture->path, "chunk-000000.ntc");
	for (unsigned int block = 5; block--;) {
		if (blocks & 1u << block)
			cut_out(path, block);
	}
	open_merge(fixture, fixture->path);
	expect(fixture, 0, NT_STATE, 10);
}

/* A normal block, and the next one's long spans, or so it may be: nothing tells that it were the first one's. */
static void missing_blocks_in_a_row_may_be_of_long_spans(void **state)
{
	struct fixture *fixture = *state;

	for (unsigned int with_first = 0; with_first < 2; with_first++) {
		open_without(fixture, with_first ? 0x0c : 0x0e);
		expect_gap(fixture, 0, 6 * SECOND, NT_NO_TASK, "missing block");
		expect(fixture, 0, NT_STATE, 6 * SECOND);
		expect(fixture, 0, NT_STATE, 7 * SECOND);
		expect_end(fixture);
		close_merge(fixture);
	}
}

/* The next block's own long spans are there: nothing of its time is missing. */
static void missing_blocks_before_long_spans_are_a_gap(void **state)
{
	struct fixture *fixture = *state;

	open_without(fixture, 0x06);
	expect_gap(fixture, 0, 3 * SECOND, 2, "missing block");
	expect(fixture, 0, NT_OP, 5 * SECOND);
	expect(fixture, 0, NT_STATE, 6 * SECOND);
	expect(fixture, 0, NT_STATE, 7 * SECOND);
	expect_end(fixture);
}

/* A damaged normal block, whose end is known, and one that is missing: that was the next one's long spans. */
static void missing_long_block_behind_a_damaged_block_is_a_gap(void **state)
{
	struct fixture *fixture = *state;
	char path[2 * SCRATCH_MAX];
	size_t end;

	long_spans_twice(fixture, false);
	scratch_path(path, fixture->path, "chunk-000000.ntc");
	cut_out(path, 3);
	event_block(path, 2, &end);
	flip(path, end - 1);
	open_merge(fixture, fixture->path);
	expect(fixture, 0, NT_STATE, 10);
	expect_gap(fixture, 0, 6 * SECOND, NT_NO_TASK, "missing block");
	expect(fixture, 0, NT_STATE, 6 * SECOND);
	expect(fixture, 0, NT_STATE, 7 * SECOND);
	expect_end(fixture);
}

/* Damage before the first block that a chunk has of the CPU may have been its long spans. */
static void damage_before_the_first_block_of_a_chunk_may_be_long_spans(void **state)
{
	struct fixture *fixture = *state;
	char path[2 * SCRATCH_MAX];
	size_t end;

	long_spans_twice(fixture, true);
	assert_int_equal(remove(scratch_path(path, fixture->path, "chunk-000000.ntc")), 0);
	scratch_path(path, fixture->path, "chunk-000001.ntc");
	cut_out(path, 2);
	flip(path, event_block(path, 0, &end) + 30);
	open_merge(fixture, fixture->path);
	expect_gap(fixture, 0, 6 * SECOND, NT_NO_TASK, "missing block");
	expect(fixture, 0, NT_STATE, 6 * SECOND);
	expect_end(fixture);
}

/* Where it should stand, other long spans do. */
static void long_spans_without_a_normal_block_are_a_gap(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1, 0);

	gen_state(gen, 0, 10, 1, NT_STATE_START, 0);
	tape_gen_flush(gen, 0);
	gen_op(gen, 0, 100, 2 * SECOND, NT_RECV, 0, 1, 1, 0);
	tape_gen_flush(gen, 0);
	gen_op(gen, 0, 3 * SECOND, 5 * SECOND, NT_RECV, 0, 1, 1, 0);
	gen_state(gen, 0, 6 * SECOND, 3, NT_STATE_PERIODIC, 0);
	tape_gen_flush(gen, 0);
	gen_state(gen, 0, 7 * SECOND, 3, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 7 * SECOND, true);
	open_merge(fixture, fixture->path);
	expect(fixture, 0, NT_STATE, 10);
	expect_gap(fixture, 0, 6 * SECOND, NT_NO_TASK, "missing block");
	expect(fixture, 0, NT_OP, 5 * SECOND);
	expect(fixture, 0, NT_STATE, 6 * SECOND);
	expect(fixture, 0, NT_STATE, 7 * SECOND);
	expect_end(fixture);
}

static void chunks_follow_one_another(void **state)
{
	struct fixture *fixture = *state;

	five_blocks(fixture, 0, true);
	open_merge(fixture, fixture->path);
	assert_int_equal(fixture->tape->n_chunks, 5);
	assert_int_equal(fixture->tape->n_problems, 0);
	assert_true(fixture->tape->has_end);
	for (unsigned int end = 10; end <= 100; end += 10)
		expect(fixture, 0, NT_STATE, end);
	expect_end(fixture);
}

static void missing_chunk_is_a_gap(void **state)
{
	struct fixture *fixture = *state;
	char path[2 * SCRATCH_MAX];

	five_blocks(fixture, 0, true);
	assert_int_equal(remove(scratch_path(path, fixture->path, "chunk-000001.ntc")), 0);
	open_merge(fixture, fixture->path);
	assert_false(fixture->tape->has_end);
	assert_int_equal(fixture->tape->n_problems, 2);
	assert_string_equal(fixture->tape->problems[1].text, "chunk-000001.ntc is missing.");
	expect(fixture, 0, NT_STATE, 10);
	expect(fixture, 0, NT_STATE, 20);
	expect_gap(fixture, 0, 40, 4, "missing block");
	for (unsigned int end = 50; end <= 100; end += 10)
		expect(fixture, 0, NT_STATE, end);
	expect_end(fixture);
}

/* The beginning is missing: what is there begins where its first block says. */
static void missing_first_chunk_is_a_gap(void **state)
{
	struct fixture *fixture = *state;
	char path[2 * SCRATCH_MAX];

	five_blocks(fixture, 0, true);
	assert_int_equal(remove(scratch_path(path, fixture->path, "chunk-000000.ntc")), 0);
	open_merge(fixture, fixture->path);
	expect_gap(fixture, 0, 20, 2, "missing block");
	for (unsigned int end = 30; end <= 100; end += 10)
		expect(fixture, 0, NT_STATE, end);
	expect_end(fixture);
}

static void one_chunk_can_be_read_alone(void **state)
{
	struct fixture *fixture = *state;
	char path[2 * SCRATCH_MAX];

	five_blocks(fixture, 0, true);
	open_merge(fixture, scratch_path(path, fixture->path, "chunk-000002.ntc"));
	assert_int_equal(fixture->tape->start_ns, GEN_START_NS + 40);
	assert_int_equal(fixture->tape->end_ns, GEN_START_NS + 60);
	expect_gap(fixture, 0, 40, 4, "missing block");
	expect(fixture, 0, NT_STATE, 50);
	expect(fixture, 0, NT_STATE, 60);
	expect_end(fixture);
}

/* The third block of five says that it is another one, which was there before: it is left out, and so missing. */
static void expect_left_out(struct fixture *fixture, uint64_t sequence)
{
	char path[2 * SCRATCH_MAX], problem[200];

	five_blocks(fixture, 0, false);
	renumber(scratch_path(path, fixture->path, "chunk-000000.ntc"), 2, sequence);
	open_merge(fixture, fixture->path);
	assert_int_equal(fixture->tape->n_problems, 3);
	assert_string_equal(fixture->tape->problems[2].text,
			    "chunk-000000.ntc lacks its end, index and trailer: it was cut.");
	snprintf(problem, sizeof(problem),
		 "chunk-000000.ntc: block %llu of CPU 0 occurs twice or out of order and is left out.",
		 (unsigned long long)sequence);
	assert_string_equal(fixture->tape->problems[0].text, problem);
	for (unsigned int end = 10; end <= 40; end += 10)
		expect(fixture, 0, NT_STATE, end);
	expect_gap(fixture, 0, 60, 6, "missing block");
	for (unsigned int end = 70; end <= 100; end += 10)
		expect(fixture, 0, NT_STATE, end);
	expect_end(fixture);
}

static void repeated_block_is_left_out(void **state)
{
	expect_left_out(*state, 1);
}

static void older_block_is_left_out(void **state)
{
	expect_left_out(*state, 0);
}

static void damaged_payload_is_a_gap(void **state)
{
	struct fixture *fixture = *state;
	char path[2 * SCRATCH_MAX];
	size_t end;

	five_blocks(fixture, 0, false);
	scratch_path(path, fixture->path, "chunk-000000.ntc");
	event_block(path, 1, &end);
	flip(path, end - 1);
	open_merge(fixture, fixture->path);
	assert_int_equal(fixture->tape->n_problems, 0);
	expect(fixture, 0, NT_STATE, 10);
	expect(fixture, 0, NT_STATE, 20);
	expect_gap(fixture, 0, 40, 4, "damaged block");
	assert_int_equal(fixture->tape->n_problems, 1);
	for (unsigned int at = 50; at <= 100; at += 10)
		expect(fixture, 0, NT_STATE, at);
	expect_end(fixture);
}

/*
 * A normal block and the long spans of the next one are damaged: these may lie anywhere up to that one's end. The long
 * spans before them go with their own normal block.
 */
static void damaged_long_spans_behind_a_damaged_block_are_a_gap(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1, 0);
	char path[2 * SCRATCH_MAX];
	size_t end;

	gen_state(gen, 0, 10, 1, NT_STATE_START, 0);
	tape_gen_flush(gen, 0);
	gen_op(gen, 0, 100, 2 * SECOND, NT_RECV, 0, 1, 1, 0);
	gen_state(gen, 0, 3 * SECOND, 1, NT_STATE_PERIODIC, 0);
	tape_gen_flush(gen, 0);
	gen_op(gen, 0, 3 * SECOND, 5 * SECOND, NT_RECV, 0, 1, 1, 0);
	gen_state(gen, 0, 6 * SECOND, 1, NT_STATE_PERIODIC, 0);
	tape_gen_flush(gen, 0);
	gen_state(gen, 0, 7 * SECOND, 1, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 7 * SECOND, true);
	scratch_path(path, fixture->path, "chunk-000000.ntc");
	for (size_t block = 2; block <= 3; block++) {
		event_block(path, block, &end);
		flip(path, end - 1);
	}
	open_merge(fixture, fixture->path);
	expect(fixture, 0, NT_STATE, 10);
	expect_gap(fixture, 0, 6 * SECOND, NT_NO_TASK, "damaged block");
	expect(fixture, 0, NT_STATE, 6 * SECOND);
	expect(fixture, 0, NT_STATE, 7 * SECOND);
	expect_end(fixture);
}

static void damaged_header_is_a_gap(void **state)
{
	struct fixture *fixture = *state;
	char path[2 * SCRATCH_MAX];
	size_t end;

	five_blocks(fixture, 0, false);
	scratch_path(path, fixture->path, "chunk-000000.ntc");
	flip(path, event_block(path, 1, &end) + 30);
	open_merge(fixture, fixture->path);
	expect(fixture, 0, NT_STATE, 10);
	expect(fixture, 0, NT_STATE, 20);
	expect_gap(fixture, 0, 40, 4, "damaged block");
	for (unsigned int at = 50; at <= 100; at += 10)
		expect(fixture, 0, NT_STATE, at);
	expect_end(fixture);
}

static void damage_at_the_end_reaches_to_the_end(void **state)
{
	struct fixture *fixture = *state;
	char path[2 * SCRATCH_MAX];
	size_t end;

	five_blocks(fixture, 0, false);
	scratch_path(path, fixture->path, "chunk-000000.ntc");
	event_block(path, 4, &end);
	flip(path, end - 1);
	open_merge(fixture, fixture->path);
	for (unsigned int at = 10; at <= 80; at += 10)
		expect(fixture, 0, NT_STATE, at);
	expect_gap(fixture, 0, 200, NT_NO_TASK, "damaged block");
	expect_end(fixture);
}

/* Random records with ends inverted over less than the window come out sorted, none lost, in blocks and chunks. */
static void random_inversions_are_sorted(void **state)
{
	struct fixture *fixture = *state;
	uint64_t seed = nt_rand_seed();
	struct nt_rand rand = {seed};
	struct tape_gen *gen = new_tape(fixture, 3, 0);
	uint64_t last[3] = {0}, n = 0;
	struct nt_merged merged;

	for (unsigned int i = 0; i < 20000; i++) {
		uint64_t end = 1000 + 10ull * i + nt_rand_below(&rand, 300);

		gen_irq(gen, (uint32_t)nt_rand_below(&rand, 3), end - 5, end, NT_IRQ_DEVICE, 1);
		if (!nt_rand_below(&rand, 5000))
			tape_gen_next_chunk(gen);
	}
	tape_gen_finish(gen, GEN_START_NS + SECOND, true);
	open_merge(fixture, fixture->path);
	while (!nt_merge_next(fixture->merge, &merged)) {
		if (merged.record->record.end_ns < last[0])
			fail_msg("out of order (NT_SEED=%llu)", (unsigned long long)seed);
		last[0] = merged.record->record.end_ns;
		n++;
	}
	assert_int_equal(n, 20000);
}

/* ---- reading ahead ---- */

#define MANY_CPUS 300

/* Blocks on many CPUs, some of which cannot be read. */
static void damaged_tape(struct fixture *fixture, struct nt_rand *rand, uint32_t n_cpus)
{
	struct tape_gen *gen = new_tape(fixture, n_cpus, 0);
	char path[2 * SCRATCH_MAX];
	size_t size;

	for (uint64_t i = 1; i <= 60000; i++)
		gen_irq(gen, (uint32_t)nt_rand_below(rand, n_cpus), 10 * i - 5, 10 * i, NT_IRQ_DEVICE, 1);
	tape_gen_finish(gen, GEN_START_NS + SECOND, true);
	scratch_path(path, fixture->path, "chunk-000000.ntc");
	for (unsigned int i = 0; i < 20; i++) {
		free(scratch_read(path, &size));
		flip(path, size / 10 + nt_rand_below(rand, size / 2));
	}
}

static uint64_t mix(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * 0x9e3779b97f4a7c15ull;
}

/* A sum of what comes and of what is wrong, in its order; and how much comes. */
static uint64_t sum_of(struct fixture *fixture, uint64_t *n)
{
	struct nt_merged merged;
	uint64_t sum = 1;

	open_merge(fixture, fixture->path);
	for (*n = 0; !nt_merge_next(fixture->merge, &merged); ++*n) {
		sum = mix(mix(sum, merged.cpu), merged.is_gap ? merged.resume_ns : merged.record->record.end_ns);
		sum = mix(sum, merged.is_gap ? merged.task : merged.record->record.kind);
	}
	for (size_t i = 0; i < fixture->tape->n_problems; i++) {
		for (const char *text = fixture->tape->problems[i].text; *text; text++)
			sum = mix(sum, (uint64_t)*text);
	}
	assert_true(fixture->tape->n_problems > 5);
	close_merge(fixture);
	return sum;
}

/* A process with one CPU has no workers. */
static uint64_t sum_on_one_cpu(struct fixture *fixture, uint64_t *n)
{
	cpu_set_t all, one;
	uint64_t sum;

	CPU_ZERO(&one);
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_SET((size_t)sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	sum = sum_of(fixture, n);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	return sum;
}

static void threads_change_nothing(void **state)
{
	static const uint32_t n_cpus[] = {1, 2, MANY_CPUS};
	struct fixture *fixture = *state;
	struct nt_rand rand = {nt_rand_seed()};

	for (size_t i = 0; i < NT_COUNT(n_cpus); i++) {
		char name[32];
		uint64_t n, n_alone, sum;

		snprintf(name, sizeof(name), "%zu.tape", i);
		scratch_path(fixture->path, fixture->dir, name);
		damaged_tape(fixture, &rand, n_cpus[i]);
		sum = sum_on_one_cpu(fixture, &n_alone);
		assert_true(n_alone > 1000);
		for (unsigned int again = 0; again < 3; again++) {
			assert_int_equal(sum_of(fixture, &n), sum);
			assert_int_equal(n, n_alone);
		}
	}
}

/* How much comes of CPU 1 when CPU 0 is stopped after so much of its own. */
static unsigned int count_beside(struct fixture *fixture, unsigned int stop_after)
{
	unsigned int n[2] = {0};
	struct nt_merged merged;

	open_merge(fixture, fixture->path);
	while (!nt_merge_next(fixture->merge, &merged)) {
		if (++n[merged.cpu] == stop_after && !merged.cpu)
			nt_merge_stop(fixture->merge, 0);
		if (n[0] > stop_after)
			fail_msg("something of a CPU that was stopped after %u", stop_after);
	}
	close_merge(fixture);
	return n[1];
}

static void stops_one_cpu(void **state)
{
	struct fixture *fixture = *state;
	struct nt_rand rand = {nt_rand_seed()};
	unsigned int all;

	damaged_tape(fixture, &rand, 2);
	all = count_beside(fixture, UINT32_MAX);
	for (unsigned int stop_after = 1; stop_after < all; stop_after = 3 * stop_after + 1)
		assert_int_equal(count_beside(fixture, stop_after), all);
}

/* Blocks that were read ahead in vain are not told of. */
static void stops_all_cpus(void **state)
{
	struct fixture *fixture = *state;
	struct nt_rand rand = {nt_rand_seed()};

	damaged_tape(fixture, &rand, 2);
	for (unsigned int n = 0; n < 20000; n = 3 * n + 1) {
		struct nt_merged merged;
		size_t n_problems;

		open_merge(fixture, fixture->path);
		for (unsigned int i = 0; i < n; i++)
			(void)nt_merge_next(fixture->merge, &merged);
		n_problems = fixture->tape->n_problems;
		for (uint32_t cpu = 0; cpu < 2; cpu++)
			nt_merge_stop(fixture->merge, cpu);
		expect_end(fixture);
		assert_int_equal(fixture->tape->n_problems, n_problems);
		close_merge(fixture);
	}
}

/* Records that end at from and later: so many at most, then the CPU is stopped. Gives how many bytes were read. */
static size_t read_part(struct fixture *fixture, uint64_t from, unsigned int n)
{
	const size_t before = n_read;
	struct nt_merged merged;
	struct nt_place place;
	bool is_begun = false;

	nt_merge_free(fixture->merge);
	assert_int_equal(nt_place_find(fixture->tape, 0, GEN_START_NS + from, &place), 0);
	fixture->merge = nt_merge_new(fixture->tape, &place);
	assert_non_null(fixture->merge);
	while (n && !nt_merge_next(fixture->merge, &merged)) {
		assert_false(merged.is_gap);
		if (merged.record->record.end_ns >= GEN_START_NS + from) {
			assert_true(is_begun || merged.record->record.end_ns == GEN_START_NS + from);
			is_begun = true;
			n--;
		}
	}
	nt_merge_stop(fixture->merge, 0);
	expect_end(fixture);
	return n_read - before;
}

static void reads_little_for_a_part(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1, 0);
	struct nt_rand rand = {nt_rand_seed()};
	size_t all;

	for (uint64_t i = 1; i <= 60000; i++)
		gen_irq(gen, 0, 10 * i - 1 - nt_rand_below(&rand, 9), 10 * i, NT_IRQ_DEVICE,
			(uint32_t)nt_rand_below(&rand, 99));
	tape_gen_finish(gen, GEN_START_NS + SECOND, true);
	open_merge(fixture, fixture->path);
	all = read_part(fixture, 10, UINT32_MAX);
	assert_in_range(read_part(fixture, 10, 100), 1, all / 4);
	assert_in_range(read_part(fixture, 300000, 100), 1, all / 4);
	assert_in_range(read_part(fixture, 600000, 100), 1, all / 4);
}

/* Whoever stops early waits for no more than what is being read. */
static void can_be_left_at_any_time(void **state)
{
	struct fixture *fixture = *state;
	struct nt_rand rand = {nt_rand_seed()};

	damaged_tape(fixture, &rand, 4);
	for (unsigned int n = 0; n < 50; n++) {
		struct nt_merged merged;

		open_merge(fixture, fixture->path);
		/* The last go far enough for threads to begin. */
		for (unsigned int i = 0; i < 20 * n * n; i++)
			(void)nt_merge_next(fixture->merge, &merged);
		close_merge(fixture);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(sorts_a_cpu),
		TEST(merges_cpus),
		TEST(samples_go_past_the_order),
		TEST(loss_comes_early_and_stays),
		TEST(loss_stays_where_it_was_written),
		TEST(hotplug_comes_where_its_cpu_is),
		TEST(long_spans_fall_into_place),
		TEST(samples_do_not_move_long_spans),
		TEST(missing_block_is_a_gap),
		TEST(missing_long_block_is_a_gap),
		TEST(missing_blocks_in_a_row_may_be_of_long_spans),
		TEST(missing_blocks_before_long_spans_are_a_gap),
		TEST(missing_long_block_behind_a_damaged_block_is_a_gap),
		TEST(damage_before_the_first_block_of_a_chunk_may_be_long_spans),
		TEST(long_spans_without_a_normal_block_are_a_gap),
		TEST(chunks_follow_one_another),
		TEST(missing_chunk_is_a_gap),
		TEST(missing_first_chunk_is_a_gap),
		TEST(one_chunk_can_be_read_alone),
		TEST(repeated_block_is_left_out),
		TEST(older_block_is_left_out),
		TEST(damaged_payload_is_a_gap),
		TEST(damaged_long_spans_behind_a_damaged_block_are_a_gap),
		TEST(damaged_header_is_a_gap),
		TEST(damage_at_the_end_reaches_to_the_end),
		TEST(random_inversions_are_sorted),
		TEST(threads_change_nothing),
		TEST(stops_one_cpu),
		TEST(stops_all_cpus),
		TEST(reads_little_for_a_part),
		TEST(can_be_left_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

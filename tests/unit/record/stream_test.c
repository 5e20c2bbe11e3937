// SPDX-License-Identifier: GPL-2.0-only
/*
 * stream_test.c - from items of a ring to blocks on a tape: when a block is cut, and what its header says of the CPU
 * at its begin, of loss and of how late the reader was; and that many identities take several blocks.
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

#include "record/stream.h"
#include "tests/support/chunk_memory.h"
#include "tests/support/scratch.h"
#include "tests/support/failing_memory.h"

#define CPU 3
#define MS 1000000ull

static char directory[SCRATCH_MAX], tape_path[2 * SCRATCH_MAX];
static struct nt_ids ids;
static struct nt_user_files files;
static struct nt_tape_writer *tape;
static const struct nt_tape_owner nobody_else;
static const struct nt_retention_limits all_is_kept;
static char error[1024];
static struct nt_stream stream;

static int set_up(void **state)
{
	const struct nt_chunk_header header = {.version = NT_CHUNK_VERSION};

	(void)state;
	scratch_make(directory);
	scratch_path(tape_path, directory, "a.tape");
	return nt_ids_init(&ids) ||
	       nt_tape_writer_new(&tape, tape_path, &nobody_else, &all_is_kept, &header, error, sizeof(error)) ||
	       nt_tape_writer_begin_chunk(tape) || nt_stream_init(&stream, CPU, &ids, &files, tape);
}

static int tear_down(void **state)
{
	(void)state;
	nt_stream_release(&stream);
	nt_tape_writer_free(tape);
	tape = NULL;
	nt_user_files_release(&files);
	memset(&files, 0, sizeof(files));
	nt_ids_release(&ids);
	scratch_remove(directory);
	return 0;
}

/* ---- samples ---- */

static union nt_any record_of(unsigned int kind, uint64_t end_ns)
{
	union nt_any record;

	memset(&record, 0, sizeof(record));
	record.record.kind = (uint8_t)kind;
	record.record.end_ns = end_ns;
	return record;
}

static void give(const union nt_any *record)
{
	assert_int_equal(nt_stream_take_item(&stream, (const uint8_t *)record, nt_kind(record->record.kind)->size), 0);
}

static void give_switch(uint64_t end_ns, uint64_t prev, uint64_t next)
{
	union nt_any record = record_of(NT_SWITCH, end_ns);

	record.as_switch.prev = prev;
	record.as_switch.next = next;
	give(&record);
}

static void give_softirq(uint64_t end_ns, uint64_t dur_ns)
{
	union nt_any record = record_of(NT_SOFTIRQ, end_ns);

	record.as_softirq.vec = NT_VEC_NET_RX;
	record.as_softirq.dur_ns = dur_ns;
	give(&record);
}

static void give_loss(uint64_t end_ns, unsigned int kind, unsigned int why, uint32_t count)
{
	union nt_any record = record_of(NT_LOSS, end_ns);

	record.as_loss.lost_kind = (uint8_t)kind;
	record.as_loss.why = (uint8_t)why;
	record.as_loss.count = count;
	record.as_loss.first_ns = record.as_loss.last_ns = record.as_loss.begin_ns = end_ns;
	give(&record);
}

static void drain_at(uint64_t now_ns)
{
	nt_stream_end_drain(&stream);
	nt_stream_begin_drain(&stream, now_ns);
}

static void flush(void)
{
	assert_int_equal(nt_stream_flush(&stream), 0);
}

/* ---- what is on the tape then ---- */

static struct nt_block_header blocks[64];
static size_t n_blocks;

static struct nt_source finished_chunk(struct nt_buf *bytes, struct nt_chunk_contents *contents)
{
	char path[2 * SCRATCH_MAX + 32];
	struct nt_source source;

	assert_int_equal(nt_tape_writer_finish_chunk(tape), 0);
	assert_int_equal(nt_tape_writer_wait(tape), 0);
	snprintf(path, sizeof(path), "%s/chunk-000000.ntc", tape_path);
	bytes->data = (uint8_t *)scratch_read(path, &bytes->size);
	source = chunk_memory_source(bytes);
	assert_int_equal(nt_chunk_open(&source, false, contents), 0);
	return source;
}

/* The headers of all event blocks, in the order in which they stand there. */
static void read_tape(void)
{
	struct nt_chunk_contents contents;
	struct nt_buf bytes = {0};

	finished_chunk(&bytes, &contents);
	n_blocks = 0;
	for (size_t i = 0; i < contents.n_blocks; i++) {
		assert_true(n_blocks < sizeof(blocks) / sizeof(blocks[0]));
		if (contents.blocks[i].header.type == NT_BLOCK_EVENTS)
			blocks[n_blocks++] = contents.blocks[i].header;
	}
	nt_chunk_contents_release(&contents);
	nt_buf_release(&bytes);
}

/* ---- tests ---- */

static void says_who_was_there(void **state)
{
	uint64_t first, second;

	(void)state;
	drain_at(100 * MS);
	give_switch(10 * MS, 0x111, 0x222);
	give_softirq(11 * MS, 1000);
	flush();
	give_switch(12 * MS, 0x222, 0x333);
	flush();
	give_softirq(13 * MS, 1000);
	flush();
	read_tape();
	first = nt_ids_get(&ids, NT_ROLE_TASK, 0x222);
	second = nt_ids_get(&ids, NT_ROLE_TASK, 0x333);
	assert_int_equal(n_blocks, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(blocks[i].cpu, CPU);
		assert_int_equal(blocks[i].sequence, i);
		assert_int_equal(blocks[i].flags, 0);
	}
	assert_int_equal(blocks[0].since_ns, 0);
	assert_int_equal(blocks[0].task, 0);
	assert_int_equal(blocks[0].count, 2);
	assert_int_equal(blocks[1].since_ns, 11 * MS);
	assert_int_equal(blocks[1].task, first);
	assert_int_equal(blocks[2].since_ns, 12 * MS);
	assert_int_equal(blocks[2].task, second);
}

/* A lost switch: nobody knows who is there, until a state record says so. */
static void a_lost_switch_is_nobody(void **state)
{
	union nt_any record = record_of(NT_STATE, 15 * MS);

	(void)state;
	drain_at(100 * MS);
	give_switch(10 * MS, 0x111, 0x222);
	give_loss(11 * MS, NT_SOFTIRQ, NT_LOSS_RING_FULL, 2);
	flush();
	give_loss(12 * MS, NT_SWITCH, NT_LOSS_RING_FULL, 1);
	flush();
	give_softirq(13 * MS, 1000);
	flush();
	record.as_state.task = 0x444;
	give(&record);
	flush();
	give_softirq(16 * MS, 1000);
	flush();
	read_tape();
	assert_int_equal(n_blocks, 5);
	assert_int_equal(blocks[1].task, nt_ids_get(&ids, NT_ROLE_TASK, 0x222));
	assert_true(blocks[2].task == NT_NO_TASK);
	assert_true(blocks[3].task == NT_NO_TASK);
	assert_int_equal(blocks[4].task, nt_ids_get(&ids, NT_ROLE_TASK, 0x444));
	/* Just the blocks that hold a loss say so. */
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(blocks[i].flags, i < 2 ? NT_BLOCK_HAS_LOSS : 0);
}

static void cuts_by_age(void **state)
{
	(void)state;
	/* Nothing is no block, however old. */
	drain_at(1);
	assert_int_equal(nt_stream_flush_old(&stream, 1 + 10 * NT_BLOCK_CUT_NS), 0);
	drain_at(100 * MS);
	give_softirq(99 * MS, 1000);
	drain_at(120 * MS);
	give_softirq(119 * MS, 1000);
	assert_int_equal(nt_stream_flush_old(&stream, 100 * MS + NT_BLOCK_CUT_NS - 1), 0);
	assert_int_equal(nt_tape_writer_blocks(tape), 0);
	assert_int_equal(nt_stream_flush_old(&stream, 100 * MS + NT_BLOCK_CUT_NS), 0);
	assert_int_equal(nt_tape_writer_blocks(tape), 1);
	/* The age of the next counts from its own first record. */
	drain_at(400 * MS);
	give_softirq(400 * MS, 1000);
	assert_int_equal(nt_stream_flush_old(&stream, 400 * MS + NT_BLOCK_CUT_NS - 1), 0);
	assert_int_equal(nt_tape_writer_blocks(tape), 1);
	flush();
	read_tape();
	assert_int_equal(n_blocks, 2);
	assert_int_equal(blocks[0].count, 2);
	/* How late the reader was: of the first record of each. */
	assert_int_equal(blocks[0].lag_ns, MS);
	assert_int_equal(blocks[1].lag_ns, 0);
	assert_int_equal(stream.lag_max_ns, MS);
}

/* A full block is cut, between samples only. */
static void cuts_by_size(void **state)
{
	uint8_t item[16 * sizeof(struct nt_softirq)];
	struct nt_rand rand = {.state = 3};
	uint64_t end_ns = MS, given = 0, counted = 0;

	(void)state;
	drain_at(MS);
	while (nt_tape_writer_blocks(tape) < 3) {
		for (size_t i = 0; i < 16; i++) {
			union nt_any record = record_of(NT_SOFTIRQ, end_ns += 1 + nt_rand_below(&rand, 1u << 30));

			record.as_softirq.dur_ns = nt_rand_below(&rand, NT_BLOCK_LONG_NS);
			memcpy(item + i * sizeof(struct nt_softirq), &record, sizeof(struct nt_softirq));
		}
		assert_int_equal(nt_stream_take_item(&stream, item, sizeof(item)), 0);
		given += 16;
	}
	flush();
	read_tape();
	for (size_t i = 0; i < n_blocks; i++) {
		counted += blocks[i].count;
		assert_int_equal(blocks[i].count % 16, 0);
		assert_in_range(blocks[i].raw_size, 0, NT_BLOCK_CUT_BYTES + sizeof(item) * 2);
	}
	assert_int_equal(counted, given);
	assert_int_equal(nt_stream_events(&stream), given);
}

/* Spans over a second have a block of their own, ahead of the others, which says nothing of where those begin. */
static void long_spans_stand_alone(void **state)
{
	(void)state;
	drain_at(9000 * MS);
	give_switch(100 * MS, 0x1, 0x2);
	flush();
	give_softirq(4000 * MS, NT_BLOCK_LONG_NS + 1);
	give_softirq(4001 * MS, NT_BLOCK_LONG_NS);
	flush();
	give_softirq(5000 * MS, 1);
	flush();
	read_tape();
	assert_int_equal(n_blocks, 4);
	assert_int_equal(blocks[1].flags, NT_BLOCK_LONG);
	assert_int_equal(blocks[1].count, 1);
	assert_int_equal(blocks[1].since_ns, 100 * MS);
	assert_int_equal(blocks[2].flags, 0);
	assert_int_equal(blocks[2].count, 1);
	assert_int_equal(blocks[2].since_ns, 100 * MS);
	assert_int_equal(blocks[3].since_ns, 4001 * MS);
	for (size_t i = 0; i < n_blocks; i++)
		assert_int_equal(blocks[i].sequence, i);
}

/* For the advice on the ring's size: the room that was missing between two drains, at its worst; of full rings alone.
 */
static void counts_what_was_lost(void **state)
{
	uint64_t a_switch = sizeof(struct nt_switch) + 8;

	(void)state;
	drain_at(1 * MS);
	give_loss(1 * MS, NT_SWITCH, NT_LOSS_RING_FULL, 10);
	give_loss(2 * MS, NT_SWITCH, NT_LOSS_RING_FULL, 5);
	drain_at(2 * MS);
	assert_int_equal(stream.lost_bytes_max, 15 * a_switch);
	give_loss(3 * MS, NT_SWITCH, NT_LOSS_RING_FULL, 14);
	give_loss(3 * MS, NT_SWITCH, NT_LOSS_NOT_RUN, 1000);
	drain_at(3 * MS);
	assert_int_equal(stream.lost_bytes_max, 15 * a_switch);
	give_loss(4 * MS, NT_SWITCH, NT_LOSS_RING_FULL, 16);
	drain_at(4 * MS);
	assert_int_equal(stream.lost_bytes_max, 16 * a_switch);
	assert_int_equal(stream.lost_total, 45);
	assert_int_equal(stream.missed_total, 1000);
}

/* Bytes that are no record are counted and left out; the records before them in the item are kept. */
static void counts_what_is_no_record(void **state)
{
	uint8_t item[2 * sizeof(struct nt_softirq)] = {0};
	union nt_any record = record_of(NT_SOFTIRQ, 5);

	(void)state;
	drain_at(10);
	memcpy(item, &record, sizeof(struct nt_softirq));
	memcpy(item + sizeof(struct nt_softirq), &record, sizeof(struct nt_softirq));
	assert_int_equal(nt_stream_take_item(&stream, item, sizeof(item)), 0);
	assert_int_equal(stream.malformed, 0);
	/* Cut short. */
	assert_int_equal(nt_stream_take_item(&stream, item, sizeof(item) - 1), 0);
	assert_int_equal(stream.malformed, 1);
	item[sizeof(struct nt_softirq) + offsetof(struct nt_record, kind)] = 0xee;
	assert_int_equal(nt_stream_take_item(&stream, item, sizeof(item)), 0);
	assert_int_equal(stream.malformed, 2);
	assert_int_equal(nt_stream_events(&stream), 4);
}

static void sees_a_cpu_come(void **state)
{
	union nt_any record = record_of(NT_HOTPLUG, 5);

	(void)state;
	drain_at(10);
	give(&record);
	assert_false(stream.came_online);
	record.as_hotplug.online = 1;
	give(&record);
	assert_true(stream.came_online);
}

/* Where a record's task has no id for want of memory, the record is not taken, and may be given again. */
static void needs_memory_for_ids(void **state)
{
	const struct nt_id_space *tasks = &ids.spaces[NT_ROLE_TASK];
	union nt_any record = record_of(NT_SWITCH, 5);
	int failed = 0;

	(void)state;
	drain_at(10);
	failing_size = 2 * tasks->capacity * sizeof(tasks->entries[0]);
	for (uint64_t task = 1; task <= tasks->capacity && !failed; task++) {
		record = record_of(NT_SWITCH, 5);
		record.as_switch.next = task;
		failed = nt_stream_take_item(&stream, (const uint8_t *)&record, sizeof(record.as_switch));
	}
	failing_size = 0;
	assert_int_equal(failed, -ENOMEM);
	assert_int_equal(nt_stream_events(&stream), tasks->capacity - 1);
	give_switch(5, 0, tasks->capacity);
	assert_int_equal(nt_stream_events(&stream), tasks->capacity / 2);
}

/* Of a large host, all tasks and sockets at once: more than a block may hold. */
static void many_identities(void **state)
{
	struct nt_chunk_contents contents;
	size_t n = 0, offset, read = 0;
	struct nt_buf bytes = {0}, raw = {0};
	struct nt_source source;

	(void)state;
	for (uint64_t i = 1; i <= 150000; i++) {
		union nt_any record = record_of(NT_SOCKET, 5 * MS);

		record.as_socket.socket = record.as_socket.cookie = 1000000000000 + i;
		memset(record.as_socket.src, 1, 16);
		assert_int_equal(nt_ids_put(&ids, &record), 0);
	}
	assert_true(ids.pending.size > NT_BLOCK_MAX_RAW);
	assert_int_equal(nt_flush_identities(&ids, tape, true), 0);
	assert_int_equal(ids.pending.size, 0);
	source = finished_chunk(&bytes, &contents);
	for (size_t i = 0; i < contents.n_blocks; i++, n++) {
		union nt_any record;

		assert_int_equal(nt_chunk_load(&source, &contents.blocks[i], &raw), 0);
		for (offset = 0; nt_identity_next(raw.data, raw.size, &offset, &record) == 0; read++)
			assert_int_equal(record.as_socket.socket, read + 1);
		assert_int_equal(offset, raw.size);
	}
	assert_in_range(n, 5, 20);
	assert_int_equal(read, 150000);
	nt_chunk_contents_release(&contents);
	nt_buf_release(&bytes);
	nt_buf_release(&raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(says_who_was_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_lost_switch_is_nobody, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cuts_by_age, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cuts_by_size, set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_spans_stand_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counts_what_was_lost, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counts_what_is_no_record, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sees_a_cpu_come, set_up, tear_down),
		cmocka_unit_test_setup_teardown(needs_memory_for_ids, set_up, tear_down),
		cmocka_unit_test_setup_teardown(many_identities, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * schema_rows_test.c - the payloads that are not columns: identities, clocks, snapshots, meta lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/chunk_memory.h"

static const unsigned int identity_kinds[] = {NT_TASK, NT_SOCKET, NT_CGROUP, NT_IRQ_NAME};

#define APPEND(buf, ...)                                                                                               \
	assert_int_equal(nt_buf_append(buf, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})), 0)

/* nt_identity_next on a copy of just the size, so that a read beyond it is seen. */
static int next_of(const struct nt_buf *payload, size_t *offset, union nt_any *out)
{
	uint8_t *exact = malloc(payload->size ? payload->size : 1);
	int err;

	if (payload->size)
		memcpy(exact, payload->data, payload->size);
	err = nt_identity_next(exact, payload->size, offset, out);
	free(exact);
	return err;
}

static void test_identity_round_trip(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};
	uint64_t seed = rand.state;
	union nt_any records[100], got;

	(void)state;
	for (int run = 0; run < 50; run++) {
		struct nt_buf payload = {0};
		size_t offset = 0;

		for (int i = 0; i < 100; i++) {
			chunk_random_record(&rand, identity_kinds[nt_rand_below(&rand, 4)], 0, &records[i]);
			assert_int_equal(nt_identity_encode(&payload, &records[i]), 0);
		}
		for (int i = 0; i < 100; i++) {
			memset(&got, 0xee, sizeof(got));
			assert_int_equal(nt_identity_next(payload.data, payload.size, &offset, &got), 0);
			if (memcmp(&got, &records[i], nt_kind(got.record.kind)->size))
				fail_msg("record %d differs (NT_SEED=%llu)", i, (unsigned long long)seed);
		}
		assert_int_equal(nt_identity_next(payload.data, payload.size, &offset, &got), 1);
		nt_buf_release(&payload);
	}
}

/* Section 7 of docs/chunk-format.md, byte for byte. */
static void test_identity_example(void **state)
{
	static const uint8_t example[] = {32, 22, 0, 0xc0, 0x84, 0x3d, 2,    1,	   6,  0xd2, 0x09, 8,
					  5,  10, 5, 14,   2,	 16,   0xd2, 0x09, 21, 2,    'n',  'c'};
	union nt_any got, task = {.as_task = {.end_ns = 1000000,
					      .kind = NT_TASK,
					      .why = NT_TASK_SEED,
					      .tid = 1234,
					      .task = 5,
					      .process = 5,
					      .cgroup = 2,
					      .pid = 1234,
					      .comm = "nc"}};
	struct nt_buf payload = {0};
	size_t offset = 0;

	(void)state;
	assert_int_equal(nt_identity_encode(&payload, &task), 0);
	assert_int_equal(payload.size, sizeof(example));
	assert_memory_equal(payload.data, example, payload.size);
	assert_int_equal(next_of(&payload, &offset, &got), 0);
	assert_memory_equal(&got, &task, sizeof(got.as_task));
	nt_buf_release(&payload);
}

static void test_identity_texts_end(void **state)
{
	union nt_any record = {.record.kind = NT_TASK}, got;
	struct nt_buf payload = {0};
	size_t offset = 0;

	(void)state;
	memset(record.as_task.comm, 'x', NT_COMM_LEN);
	assert_int_equal(nt_identity_encode(&payload, &record), 0);
	assert_int_equal(next_of(&payload, &offset, &got), 0);
	assert_string_equal(got.as_task.comm, "xxxxxxxxxxxxxxx");
	/* All sixteen bytes of an address are its own. */
	record = (union nt_any){.record.kind = NT_SOCKET};
	memset(record.as_socket.dst, 0xff, 16);
	payload.size = offset = 0;
	assert_int_equal(nt_identity_encode(&payload, &record), 0);
	assert_int_equal(next_of(&payload, &offset, &got), 0);
	assert_memory_equal(got.as_socket.dst, record.as_socket.dst, 16);
	nt_buf_release(&payload);
}

static void test_identity_skips(void **state)
{
	struct nt_buf payload = {0};
	union nt_any got;
	size_t offset = 0;

	(void)state;
	APPEND(&payload, 60, 3, 1, 2, 3);
	APPEND(&payload, NT_SOFTIRQ, 0);
	APPEND(&payload, 200, 0);
	/* A cgroup with two fields of a later version. */
	APPEND(&payload, NT_CGROUP, 11, 2, 9, 7, 1, '/', 8, 0xff, 0x01, 11, 1, 0x55);
	APPEND(&payload, 61, 0);
	assert_int_equal(next_of(&payload, &offset, &got), 0);
	assert_int_equal(got.record.kind, NT_CGROUP);
	assert_int_equal(got.as_cgroup.cgroup, 9);
	assert_string_equal(got.as_cgroup.path, "/");
	assert_int_equal(next_of(&payload, &offset, &got), 1);
	nt_buf_release(&payload);
}

static void expect_bad_row(const char *what, const uint8_t *row, size_t size)
{
	struct nt_buf payload = {.data = (uint8_t *)row, .size = size};
	union nt_any got;
	size_t offset = 0;

	if (next_of(&payload, &offset, &got) != -EBADMSG)
		fail_msg("%s was not refused", what);
}
#define BAD_ROW(what, ...) expect_bad_row(what, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void test_identity_damage(void **state)
{
	(void)state;
	BAD_ROW("no size", NT_TASK);
	BAD_ROW("row cut short", NT_TASK, 2, 2);
	BAD_ROW("row far too long", NT_TASK, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
	BAD_ROW("tag without value", NT_TASK, 1, 2);
	BAD_ROW("256 in one byte", NT_TASK, 3, 2, 0x80, 2);
	BAD_ROW("a field twice", NT_TASK, 4, 2, 1, 2, 1);
	BAD_ROW("fields out of order", NT_TASK, 4, 4, 1, 2, 1);
	BAD_ROW("bytes in an integer", NT_TASK, 3, 3, 1, 1);
	BAD_ROW("an integer in bytes", NT_TASK, 2, 20, 1);
	BAD_ROW("bytes cut short", NT_TASK, 2, 21, 1);
	BAD_ROW("a text without room for its zero", NT_TASK, 18, 21, 16, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1);
	BAD_ROW("a text with a zero in it", NT_TASK, 5, 21, 3, 'a', 0, 'b');
	BAD_ROW("an address of 17 bytes", NT_SOCKET, 19, 19, 17, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
}

static void test_identity_refuses_events(void **state)
{
	union nt_any record = {.record.kind = NT_SOFTIRQ};
	struct nt_buf payload = {0};

	(void)state;
	assert_int_equal(nt_identity_encode(&payload, &record), -EINVAL);
	record.record.kind = 63;
	assert_int_equal(nt_identity_encode(&payload, &record), -EINVAL);
	assert_int_equal(payload.size, 0);
}

static void test_clock(void **state)
{
	struct nt_clock clock = {1, UINT64_MAX, 3, 4, 5}, got;
	struct nt_buf payload = {0};

	(void)state;
	assert_int_equal(nt_clock_encode(&payload, &clock), 0);
	assert_int_equal(nt_clock_decode(payload.data, payload.size, &got), 0);
	assert_memory_equal(&got, &clock, sizeof(got));
	assert_int_equal(nt_clock_decode(payload.data, payload.size - 1, &got), -EBADMSG);
	APPEND(&payload, 1, 2, 3);
	assert_int_equal(nt_clock_decode(payload.data, payload.size, &got), 0);
	nt_buf_release(&payload);
}

static void test_snapshot(void **state)
{
	struct nt_proc_snapshot snapshot = {7, 9, "/proc/stat", "cpu 1\n\0x", 8}, got;
	struct nt_buf payload = {0};
	char longest[257];

	(void)state;
	assert_int_equal(nt_proc_snapshot_encode(&payload, &snapshot), 0);
	assert_int_equal(nt_proc_snapshot_decode(payload.data, payload.size, &got), 0);
	assert_true(got.begin_ns == 7 && got.end_ns == 9);
	assert_string_equal(got.name, "/proc/stat");
	assert_int_equal(got.text_size, 8);
	assert_memory_equal(got.text, snapshot.text, 8);
	/* Without its text it is whole, without a part of its name not. */
	assert_int_equal(nt_proc_snapshot_decode(payload.data, payload.size - 8, &got), 0);
	assert_int_equal(got.text_size, 0);
	for (size_t size = 0; size < payload.size - 8; size++)
		assert_int_equal(nt_proc_snapshot_decode(payload.data, size, &got), -EBADMSG);
	payload.data[16]--;
	assert_int_equal(nt_proc_snapshot_decode(payload.data, payload.size, &got), -EBADMSG);
	payload.data[16] = payload.data[17] = 0;
	assert_int_equal(nt_proc_snapshot_decode(payload.data, payload.size, &got), -EBADMSG);
	memset(longest, 'n', 256);
	longest[256] = 0;
	snapshot.name = longest;
	assert_int_equal(nt_proc_snapshot_encode(&payload, &snapshot), -EINVAL);
	snapshot.name = longest + 1;
	payload.size = 0;
	assert_int_equal(nt_proc_snapshot_encode(&payload, &snapshot), 0);
	assert_int_equal(nt_proc_snapshot_decode(payload.data, payload.size, &got), 0);
	assert_string_equal(got.name, longest + 1);
	snapshot.text_size = NT_BLOCK_MAX_RAW + 1;
	assert_int_equal(nt_proc_snapshot_encode(&payload, &snapshot), -E2BIG);
	nt_buf_release(&payload);
}

static void expect_line(const struct nt_buf *payload, size_t *offset, const char *want_key, const char *want_value)
{
	const char *key, *value;
	size_t key_size, value_size;

	assert_int_equal(nt_meta_next(payload->data, payload->size, offset, &key, &key_size, &value, &value_size), 0);
	assert_int_equal(key_size, strlen(want_key));
	assert_memory_equal(key, want_key, key_size);
	assert_int_equal(value_size, strlen(want_value));
	assert_memory_equal(value, want_value, value_size);
}

static void test_meta(void **state)
{
	struct nt_buf payload = {0};
	const char *key, *value;
	size_t key_size, value_size, offset = 0;

	(void)state;
	assert_int_equal(nt_meta_append(&payload, "tool", "nettape-record 0.1.0"), 0);
	assert_int_equal(nt_meta_append(&payload, "command", "a=b c=d"), 0);
	assert_int_equal(nt_meta_append(&payload, "uncovered", ""), 0);
	expect_line(&payload, &offset, "tool", "nettape-record 0.1.0");
	expect_line(&payload, &offset, "command", "a=b c=d");
	expect_line(&payload, &offset, "uncovered", "");
	assert_int_equal(nt_meta_next(payload.data, payload.size, &offset, &key, &key_size, &value, &value_size), 1);
	assert_int_equal(nt_meta_append(&payload, "", "x"), -EINVAL);
	assert_int_equal(nt_meta_append(&payload, "a=b", "x"), -EINVAL);
	assert_int_equal(nt_meta_append(&payload, "a\n", "x"), -EINVAL);
	assert_int_equal(nt_meta_append(&payload, "a", "x\n"), -EINVAL);
	nt_buf_release(&payload);
}

static void test_meta_damage(void **state)
{
	static const char *const lines[] = {"no newline=1", "no equals\n", "=no key\n", "\n",
					    "newline too late\nx=1\n"};
	const char *key, *value;
	size_t key_size, value_size;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		size_t offset = 0;

		assert_int_equal(
			nt_meta_next(lines[i], strlen(lines[i]), &offset, &key, &key_size, &value, &value_size),
			-EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_identity_round_trip),
		cmocka_unit_test(test_identity_example),
		cmocka_unit_test(test_identity_texts_end),
		cmocka_unit_test(test_identity_skips),
		cmocka_unit_test(test_identity_damage),
		cmocka_unit_test(test_identity_refuses_events),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_meta),
		cmocka_unit_test(test_meta_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

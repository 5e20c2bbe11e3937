// SPDX-License-Identifier: GPL-2.0-only
/*
 * identity_test.c - identities as rows of tagged fields (schema/identity.c): every kind comes back as it went, a row
 * that is cut anywhere or holds what its field cannot is refused, and bytes that are no text may be any.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "schema/block.h"
#include "tests/support/chunk_memory.h"
#include "tests/support/rand.h"

static bool is_identity(unsigned int kind)
{
	return nt_kind(kind) && nt_kind(kind)->place == NT_PLACE_IDENTITY;
}

static void test_round_trip(void **state)
{
	struct nt_rand rand = {7};

	(void)state;
	for (unsigned int kind = 0; kind < NT_KIND_MAX; kind++) {
		for (int i = 0; is_identity(kind) && i < 200; i++) {
			struct nt_buf rows = {0};
			union nt_any in, out;
			size_t offset = 0;

			chunk_random_record(&rand, kind, 1000000, &in);
			assert_int_equal(nt_identity_encode(&rows, &in), 0);
			assert_int_equal(nt_identity_next(rows.data, rows.size, &offset, &out), 0);
			assert_memory_equal(&in, &out, nt_kind(kind)->size);
			assert_int_equal(nt_identity_next(rows.data, rows.size, &offset, &out), 1);
			nt_buf_release(&rows);
		}
	}
}

/* Each kind with all that it can hold, cut behind each byte. */
static void test_cut(void **state)
{
	struct nt_rand rand = {8};

	(void)state;
	for (unsigned int kind = 0; kind < NT_KIND_MAX; kind++) {
		struct nt_buf rows = {0};
		union nt_any record;

		if (!is_identity(kind))
			continue;
		chunk_random_record(&rand, kind, 1000000, &record);
		assert_int_equal(nt_identity_encode(&rows, &record), 0);
		for (size_t size = 0; size < rows.size; size++) {
			uint8_t copy[2048];
			size_t offset = 0;

			memcpy(copy, rows.data, size);
			assert_int_equal(nt_identity_next(copy, size, &offset, &record), size ? -EBADMSG : 1);
		}
		nt_buf_release(&rows);
	}
}

static int read_one(const uint8_t *row, size_t size, union nt_any *out)
{
	size_t offset = 0;

	return nt_identity_next(row, size, &offset, out);
}

static void test_hostile(void **state)
{
	/* A build id may hold zeros, and be short; not longer than its field, nor a text hold a zero. */
	static const uint8_t build_id[] = {NT_USER_SYMBOL, 5, 4 << 1 | 1, 3, 1, 0, 2};
	static const uint8_t long_id[] = {NT_USER_SYMBOL,
					  23,
					  4 << 1 | 1,
					  21,
					  1,
					  2,
					  3,
					  4,
					  5,
					  6,
					  7,
					  8,
					  9,
					  10,
					  11,
					  12,
					  13,
					  14,
					  15,
					  16,
					  17,
					  18,
					  19,
					  20,
					  21};
	static const uint8_t path[] = {NT_USER_SYMBOL, 5, 5 << 1 | 1, 3, 'a', 0, 'b'};
	/* Numbers that do not fit, stand twice, or are of another sort; a length that is none. */
	static const uint8_t flags[] = {NT_STACK, 3, 1 << 1, 0x80, 2};
	static const uint8_t twice[] = {NT_STACK, 4, 2 << 1, 5, 2 << 1, 6};
	static const uint8_t bytes[] = {NT_STACK, 3, 2 << 1 | 1, 1, 7};
	static const uint8_t endless[] = {NT_STACK, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1};
	/* Additions of a later version are stepped over: field 9 of a stack, and kind 63. */
	static const uint8_t later[] = {63, 2, 9, 9, NT_STACK, 6, 2 << 1, 5, 9 << 1 | 1, 2, 'x', 'y'};
	union nt_any out;

	(void)state;
	assert_int_equal(read_one(build_id, sizeof(build_id), &out), 0);
	assert_memory_equal(out.as_user_symbol.build_id, "\1\0\2\0", 4);
	assert_int_equal(read_one(long_id, sizeof(long_id), &out), -EBADMSG);
	assert_int_equal(read_one(path, sizeof(path), &out), -EBADMSG);
	assert_int_equal(read_one(flags, sizeof(flags), &out), -EBADMSG);
	assert_int_equal(read_one(twice, sizeof(twice), &out), -EBADMSG);
	assert_int_equal(read_one(bytes, sizeof(bytes), &out), -EBADMSG);
	assert_int_equal(read_one(endless, sizeof(endless), &out), -EBADMSG);
	assert_int_equal(read_one(later, sizeof(later), &out), 0);
	assert_int_equal(out.as_stack.stack, 5);
}

/* Beside a walk through all rows: as many whole ones as fit, and one in any case. */
static void test_pieces(void **state)
{
	struct nt_rand rand = {9};
	struct nt_buf rows = {0};
	size_t ends[200], n = 0;

	(void)state;
	for (; n < 200; n++) {
		union nt_any record;

		chunk_random_record(&rand, n % 2 ? NT_SOCKET : NT_TASK, 1000000, &record);
		assert_int_equal(nt_identity_encode(&rows, &record), 0);
		ends[n] = rows.size;
	}
	for (size_t most = 0; most < rows.size + 10; most += 1 + nt_rand_below(&rand, 20)) {
		size_t expected = ends[0];

		for (size_t i = 0; i < n && ends[i] <= most; i++)
			expected = ends[i];
		assert_int_equal(nt_identity_cut(rows.data, rows.size, most), expected);
	}
	/* No row ends where the last is cut short. */
	assert_int_equal(nt_identity_cut(rows.data, rows.size - 1, rows.size), rows.size - 1);
	assert_int_equal(nt_identity_cut(rows.data, 1, 0), 1);
	assert_int_equal(nt_identity_cut(rows.data, 0, 0), 0);
	nt_buf_release(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

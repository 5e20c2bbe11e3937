// SPDX-License-Identifier: GPL-2.0-only
/*
 * op_begins_test.c - op_begins.c beside all operations: never later than the earliest, and not earlier than the
 * earliest of those that end a piece away.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/query/cpus/op_begins.h"
#include "tests/support/rand.h"

#define MAX_OPS 50

struct op {
	int64_t ts, end_ts;
};

/* The least begin of those that ended within both, if it is before from_ts. */
static int64_t least_of(const struct op *ops, unsigned int n, int64_t from_ts, int64_t to_ts)
{
	int64_t least_ts = from_ts;

	for (unsigned int i = 0; i < n; i++) {
		if (ops[i].end_ts >= from_ts && ops[i].end_ts <= to_ts && ops[i].ts < least_ts)
			least_ts = ops[i].ts;
	}
	return least_ts;
}

static void test_against_all(void **state)
{
	static const int64_t spans[] = {0, 1, 100, NT_OP_BEGINS_PIECES, 1000000, INT64_MAX - 1000};
	struct nt_rand rand = {nt_rand_seed()};
	static struct nt_op_begins begins;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		const int64_t span = spans[nt_rand_below(&rand, 6)], from = (int64_t)nt_rand_below(&rand, 1000);
		const int64_t piece = span / NT_OP_BEGINS_PIECES + 1;
		struct op ops[MAX_OPS];
		int64_t from_ts, to_ts, least_ts;

		nt_op_begins_init(&begins, from, from + span);
		for (unsigned int i = 0; i < MAX_OPS; i++) {
			ops[i].end_ts = (int64_t)nt_rand_below(&rand, (uint64_t)span + 1000);
			ops[i].ts = ops[i].end_ts - (int64_t)nt_rand_below(&rand, (uint64_t)ops[i].end_ts + 1);
			nt_op_begins_add(&begins, ops[i].ts, ops[i].end_ts);
		}
		from_ts = from + (int64_t)nt_rand_below(&rand, (uint64_t)span + 1);
		to_ts = from_ts + (int64_t)nt_rand_below(&rand, (uint64_t)(from + span - from_ts) + 1);
		least_ts = nt_op_begins_least(&begins, from_ts, to_ts);
		assert_true(least_ts <= least_of(ops, MAX_OPS, from_ts, to_ts));
		from_ts = from_ts - from < piece ? from : from_ts - piece;
		to_ts = from + span - to_ts < piece ? from + span : to_ts + piece;
		assert_true(least_ts >= least_of(ops, MAX_OPS, from_ts, to_ts));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_against_all)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * cut_test.c - sums that one slice fills over many buckets, cut to a window: only the window's part is left, and what
 * is outside of it is not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/db/cut.h"

static struct nt_cut cut;

static int set_up(void **state)
{
	(void)state;
	cut = (struct nt_cut){.session_ts = 1000, .window = {2000, 3000}};
	return 0;
}

/* A row from `begin` to `end` is there from `from` to `to`; not at all if these are equal. */
static void expect_cost(int64_t begin, int64_t end, int64_t from, int64_t to)
{
	struct nt_row row = {.table = NT_TABLE_CPU_COST, .n = nt_table(NT_TABLE_CPU_COST)->n_columns};
	const struct nt_row *got;

	*NT_VALUE(&row, cpu_cost, ts) = (struct nt_value){.type = NT_VALUE_INTEGER, .integer = begin};
	*NT_VALUE(&row, cpu_cost, dur) = (struct nt_value){.type = NT_VALUE_INTEGER, .integer = end - begin};
	*NT_VALUE(&row, cpu_cost, spent_ns) = (struct nt_value){.type = NT_VALUE_INTEGER, .integer = end - begin};
	got = nt_cut_row(&cut, &row);
	if (from == to) {
		assert_null(got);
		return;
	}
	assert_non_null(got);
	assert_int_equal(NT_VALUE(got, cpu_cost, ts)->integer, from);
	assert_int_equal(NT_VALUE(got, cpu_cost, dur)->integer, to - from);
	assert_int_equal(NT_VALUE(got, cpu_cost, spent_ns)->integer, to - from);
}

static void cuts_what_fills_many_buckets(void **state)
{
	(void)state;
	expect_cost(2100, 2200, 2100, 2200);
	expect_cost(2000, 3000, 2000, 3000);
	expect_cost(1000, 4000, 2000, 3000);
	expect_cost(1900, 2100, 2000, 2100);
	expect_cost(2900, 3100, 2900, 3000);
	expect_cost(1900, 2000, 0, 0);
	expect_cost(3000, 3100, 0, 0);
}

/* Of a charge over several buckets the window has its part of the times, and the packets that came in the first. */
static void expect_charge(int64_t begin, int64_t end, int64_t from, int64_t to, int64_t packets)
{
	const struct nt_rx_cost cost = {.ts_ns = (uint64_t)begin,
					.dur_ns = (uint64_t)(end - begin),
					.packets = 5,
					.segments = 6,
					.bytes = 7,
					.spent_ns = (uint64_t)(end - begin) / 2,
					.exact_ns = (uint64_t)(end - begin) / 4,
					.most_ns = (uint64_t)(end - begin)};
	const struct nt_rx_paid paid = {.cost = &cost};
	struct nt_arena arena = {0};
	const struct nt_row *got;
	struct nt_row row;

	assert_int_equal(nt_table_fill(&row, &arena, NT_TABLE_RX_COST, 1, &paid), 0);
	row.table = NT_TABLE_RX_COST;
	got = nt_cut_row(&cut, &row);
	assert_int_equal(got != NULL, from < to);
	if (got) {
		assert_int_equal(NT_VALUE(got, rx_cost, ts)->integer, from);
		assert_int_equal(NT_VALUE(got, rx_cost, dur)->integer, to - from);
		assert_int_equal(NT_VALUE(got, rx_cost, spent_ns)->integer, (to - from) / 2);
		assert_int_equal(NT_VALUE(got, rx_cost, exact_ns)->integer, (to - from) / 4);
		assert_int_equal(NT_VALUE(got, rx_cost, most_ns)->integer, to - from);
		assert_int_equal(NT_VALUE(got, rx_cost, packets)->integer, packets);
		assert_int_equal(NT_VALUE(got, rx_cost, segments)->integer, packets ? 6 : 0);
		assert_int_equal(NT_VALUE(got, rx_cost, bytes)->integer, packets ? 7 : 0);
	}
	nt_arena_release(&arena);
}

static void cuts_charges(void **state)
{
	(void)state;
	expect_charge(2100, 2200, 2100, 2200, 5);
	expect_charge(2000, 3000, 2000, 3000, 5);
	expect_charge(1000, 5000, 2000, 3000, 0);
	expect_charge(1900, 2100, 2000, 2100, 0);
	expect_charge(2900, 3100, 2900, 3000, 5);
	expect_charge(1900, 2000, 0, 0, 0);
	expect_charge(3000, 3100, 0, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(cuts_what_fills_many_buckets, set_up),
		cmocka_unit_test_setup(cuts_charges, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

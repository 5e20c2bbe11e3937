// SPDX-License-Identifier: GPL-2.0-only
/*
 * rx_rest_test.c - rows of small flows against an array that has a place for each payer: however many are given, and
 * when, nothing is missing or twice, and a row has a flow if only that one has its payer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "report/rows/rx_rest.h"
#include "tests/support/rand.h"

#define N_ROWS 30000u
#define N_KEYS 6000u /* more than are kept at a time */
#define DUR 1000

/* What has one payer. */
struct sum {
	uint64_t packets, segments, bytes, spent, exact, most, flow;
	bool has_several;
};

static struct sum given[N_KEYS], expected[N_KEYS];
static size_t n_given, fail_at;

/* Each field tells keys apart: two keys differ in one of them at least. */
static void set_key(struct nt_rx_paid *paid, struct nt_rx_cost *cost, uint64_t key)
{
	cost->ts_ns = key & 1;
	cost->dur_ns = DUR + (key >> 1 & 1);
	cost->cpu = (uint32_t)(key >> 2 & 1);
	paid->payer = key >> 3 & 1 ? NT_PAYER_SOCKET : NT_PAYER_DROPPED;
	paid->socket = key >> 4 & 3;
	paid->process = key >> 6 & 3;
	paid->device = key >> 8 & 3;
	paid->has_reason = key >> 10 & 1;
	paid->reason = (uint32_t)(key >> 11);
}

static uint64_t key_of(const struct nt_rx_paid *paid)
{
	return paid->cost->ts_ns | (paid->cost->dur_ns - DUR) << 1 | (uint64_t)paid->cost->cpu << 2 |
	       (uint64_t)(paid->payer == NT_PAYER_SOCKET) << 3 | paid->socket << 4 | paid->process << 6 |
	       paid->device << 8 | (uint64_t)paid->has_reason << 10 | (uint64_t)paid->reason << 11;
}

static void add(struct sum *sum, const struct nt_rx_cost *cost)
{
	sum->has_several |= !cost->flow || (sum->flow && sum->flow != cost->flow);
	sum->flow = cost->flow;
	sum->packets += cost->packets;
	sum->segments += cost->segments;
	sum->bytes += cost->bytes;
	sum->spent += cost->spent_ns;
	sum->exact += cost->exact_ns;
	sum->most += cost->most_ns;
}

static int take(void *arg, const struct nt_rx_paid *paid)
{
	assert_ptr_equal(arg, given);
	assert_true(key_of(paid) < N_KEYS);
	assert_true(paid->cost->most_ns <= paid->cost->dur_ns);
	add(&given[key_of(paid)], paid->cost);
	return ++n_given == fail_at ? -EIO : 0;
}

static void test_sums(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};
	struct nt_rx_rest rest = {0};

	(void)state;
	assert_int_equal(nt_rx_rest_give(&rest, take, given), 0);
	for (unsigned int i = 0; i < N_ROWS; i++) {
		const uint64_t key = nt_rand_below(&rand, nt_rand_below(&rand, N_KEYS) + 1);
		struct nt_rx_cost cost = {.flow = 1 + nt_rand_below(&rand, 2), .packets = nt_rand_below(&rand, 9)};
		struct nt_rx_paid paid = {.cost = &cost};

		cost.segments = 2 * cost.packets;
		cost.bytes = nt_rand_below(&rand, 100000);
		cost.spent_ns = nt_rand_below(&rand, 10);
		cost.exact_ns = nt_rand_below(&rand, 10);
		cost.most_ns = nt_rand_below(&rand, 3);
		set_key(&paid, &cost, key);
		add(&expected[key], &cost);
		assert_int_equal(nt_rx_rest_add(&rest, &paid, take, given), 0);
		if (!nt_rand_below(&rand, N_ROWS / 4))
			assert_int_equal(nt_rx_rest_give(&rest, take, given), 0);
	}
	assert_int_equal(nt_rx_rest_give(&rest, take, given), 0);
	assert_true(n_given < N_ROWS);
	for (unsigned int key = 0; key < N_KEYS; key++) {
		const struct sum *got = &given[key], *want = &expected[key];

		assert_true(got->packets == want->packets && got->segments == want->segments &&
			    got->bytes == want->bytes);
		assert_true(got->spent == want->spent && got->exact == want->exact);
		assert_true(got->most == want->most || want->most > DUR);
		assert_int_equal(got->has_several, want->has_several);
		assert_true(got->has_several || got->flow == want->flow);
	}
	nt_rx_rest_release(&rest);
}

/* An error of `give` ends the giving. */
static void test_refused(void **state)
{
	struct nt_rx_cost cost = {.dur_ns = DUR};
	struct nt_rx_paid paid = {.cost = &cost};
	struct nt_rx_rest rest = {0};

	(void)state;
	n_given = 0;
	fail_at = 1;
	for (int i = 0; i < 2; i++, cost.ts_ns++)
		assert_int_equal(nt_rx_rest_add(&rest, &paid, take, given), 0);
	assert_int_equal(nt_rx_rest_give(&rest, take, given), -EIO);
	assert_int_equal(n_given, 1);
	nt_rx_rest_release(&rest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

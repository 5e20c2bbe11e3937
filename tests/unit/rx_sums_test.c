// SPDX-License-Identifier: GPL-2.0-only
/*
 * rx_sums_test.c - what payers pay in a part, from sums of buckets (report/query/cpus/rx_sums.h), beside who paid for
 * each nanosecond. NT_SEED=... repeats a run (tests/support/rand.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/cpus/rx_sums.h"
#include "tests/support/rand.h"

#define START 5000
#define WIDTH 50 /* of a bucket */
#define N_BUCKETS 6
#define DUR (N_BUCKETS * WIDTH - 17)
#define N_CPUS 2
#define N_PAYERS 3 /* processes, from 1 on; 0: it is no net_rx */

struct fixture {
	struct nt_session session;
	struct nt_selection selection;
	struct nt_lanes_filter filter;
	struct nt_part part;
	struct nt_rx_sums sums;
	int payer[N_CPUS][DUR];
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	fixture->session = (struct nt_session){.start_ts = START, .end_ts = START + DUR, .bucket_ns = WIDTH};
	fixture->part = (struct nt_part){.session = &fixture->session, .selection = &fixture->selection};
	fixture->filter.part = &fixture->part;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	nt_rx_sums_release(&fixture->sums);
	nt_lanes_filter_release(&fixture->filter);
	free(fixture);
	return 0;
}

static void begin(struct fixture *fixture, int64_t from, int64_t to)
{
	fixture->part.from_ts = START + from;
	fixture->part.to_ts = START + to;
	nt_rx_sums_release(&fixture->sums);
	nt_rx_sums_begin(&fixture->sums, &fixture->filter, &fixture->part);
}

static struct nt_row new_row(enum nt_table_id table)
{
	return (struct nt_row){.table = table, .n = nt_table(table)->n_columns};
}

static void set(struct nt_row *row, const char *column, int64_t number)
{
	*nt_row_value(row, column) = (struct nt_value){.type = NT_VALUE_INTEGER, .integer = number};
}

static void set_text(struct nt_row *row, const char *column, const char *text)
{
	*nt_row_value(row, column) = (struct nt_value){.type = NT_VALUE_TEXT, .text = text};
}

static int slice(struct fixture *fixture, int64_t cpu, int64_t from, int64_t to, const char *owner)
{
	struct nt_row row = new_row(NT_TABLE_CPU_SLICE);

	set(&row, "ts", START + from);
	set(&row, "dur", to - from);
	set(&row, "cpu", cpu);
	set_text(&row, "owner", owner);
	return nt_rx_sums_slice(&fixture->sums, &row);
}

/* Of that time: what process `upid` paid, and its bounds. */
static int cost(struct fixture *fixture, int64_t cpu, int64_t from, int64_t to, int64_t upid,
		const struct nt_rx_figures *figures)
{
	struct nt_row row = new_row(NT_TABLE_RX_COST);

	set(&row, "ts", START + from);
	set(&row, "dur", to - from);
	set(&row, "cpu", cpu);
	set(&row, "upid", upid);
	set_text(&row, "payer", "socket");
	set(&row, "packets", figures->packets);
	set(&row, "segments", figures->segments);
	set(&row, "bytes", figures->bytes);
	set(&row, "spent_ns", figures->spent_ns);
	set(&row, "exact_ns", figures->exact_ns);
	set(&row, "most_ns", figures->most_ns);
	return nt_rx_sums_row(&fixture->sums, &row);
}

static struct nt_rx_figures exactly(int64_t ns)
{
	return (struct nt_rx_figures){.spent_ns = ns, .exact_ns = ns, .most_ns = ns, .packets = ns};
}

static const struct nt_rx_figures *sum_of(const struct fixture *fixture, int64_t upid)
{
	static const struct nt_rx_figures none;

	for (size_t i = 0; i < fixture->sums.n; i++) {
		if (fixture->sums.sums[i].upid.integer == upid)
			return &fixture->sums.sums[i].figures;
	}
	return &none;
}

static void expect(const struct fixture *fixture, int64_t upid, int64_t spent, int64_t exact, int64_t most)
{
	const struct nt_rx_figures *sum = sum_of(fixture, upid);

	assert_int_equal(sum->spent_ns, spent);
	assert_int_equal(sum->exact_ns, exact);
	assert_int_equal(sum->most_ns, most);
}

/* ---- by hand ---- */

/* In the bucket 1 paid 30 ns and 2 paid 10. 8 of these 40 are in the part: anybody's. */
static void test_cut_bucket(void **state)
{
	struct fixture *fixture = *state;
	const struct nt_rx_figures thirty = exactly(30), ten = exactly(10);

	begin(fixture, 20, 30);
	assert_int_equal(slice(fixture, 0, 15, 28, "net_rx"), 0);
	assert_int_equal(slice(fixture, 0, 28, 30, "send"), 0);
	assert_int_equal(slice(fixture, 1, 20, 30, "net_rx"), 0);
	cost(fixture, 0, 0, WIDTH, 1, &thirty);
	cost(fixture, 0, 0, WIDTH, 2, &ten);
	assert_int_equal(nt_rx_sums_end(&fixture->sums), 0);
	expect(fixture, 1, 6, 0, 8);
	expect(fixture, 2, 2, 0, 8);
	assert_int_equal(sum_of(fixture, 1)->packets, 6);
	assert_true(fixture->sums.is_estimate);
}

/* Who pays alone, or more than the rest can be, pays that at least. */
static void test_bounds(void **state)
{
	struct fixture *fixture = *state;
	const struct nt_rx_figures forty = exactly(40), two = exactly(2);

	begin(fixture, 10, WIDTH);
	slice(fixture, 0, 5, 47, "net_rx");
	slice(fixture, 1, 0, 40, "net_rx");
	cost(fixture, 0, 0, WIDTH, 1, &forty);
	cost(fixture, 0, 0, WIDTH, 2, &two);
	cost(fixture, 1, 0, WIDTH, 3, &forty);
	assert_int_equal(nt_rx_sums_end(&fixture->sums), 0);
	/* 37 of 42 are in the part. */
	expect(fixture, 1, 35, 35, 37);
	expect(fixture, 2, 2, 0, 2);
	expect(fixture, 3, 30, 30, 30);
}

/* What fills several buckets is cut by its length; whole buckets of the part are as they are; others are none of it. */
static void test_rows(void **state)
{
	struct fixture *fixture = *state;
	const struct nt_rx_figures full = exactly(2 * WIDTH), seven = {10, 7, 30, 1, 2, 3};

	begin(fixture, WIDTH + 10, 4 * WIDTH);
	cost(fixture, 0, WIDTH, 3 * WIDTH, 1, &full);
	cost(fixture, 0, 3 * WIDTH, 4 * WIDTH, 2, &seven);
	cost(fixture, 1, 4 * WIDTH, 5 * WIDTH, 3, &seven);
	cost(fixture, 1, 0, WIDTH, 3, &seven);
	assert_int_equal(nt_rx_sums_end(&fixture->sums), 0);
	expect(fixture, 1, 2 * WIDTH - 10, 2 * WIDTH - 10, 2 * WIDTH - 10);
	expect(fixture, 2, 10, 7, 30);
	expect(fixture, 3, 0, 0, 0);
	assert_false(fixture->sums.is_estimate);
}

static void test_selections(void **state)
{
	struct fixture *fixture = *state;
	const struct nt_rx_figures ten = exactly(10);

	fixture->selection.n_cpus = 1;
	fixture->selection.cpus[0].first = fixture->selection.cpus[0].last = 1;
	fixture->selection.process = "two";
	assert_int_equal(nt_id_map_set(&fixture->filter.processes, 2, 1), 0);
	begin(fixture, 0, 20);
	slice(fixture, 1, 0, 16, "net_rx");
	for (int64_t upid = 1; upid <= 2; upid++) {
		cost(fixture, 0, 0, WIDTH, upid, &ten);
		cost(fixture, 1, 0, WIDTH, upid, &ten);
	}
	assert_int_equal(nt_rx_sums_end(&fixture->sums), 0);
	/* It shares with the other, which is not asked about. */
	expect(fixture, 2, 8, 6, 10);
	expect(fixture, 1, 0, 0, 0);
}

/* No recorder writes this. */
static void test_hostile(void **state)
{
	static const struct nt_rx_figures bad[] = {{.spent_ns = -1}, {.most_ns = -5}, {.bytes = INT64_MIN}};
	struct fixture *fixture = *state;
	const struct nt_rx_figures large = exactly(INT64_MAX);

	begin(fixture, 10, DUR);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(cost(fixture, 0, 0, WIDTH, 1, &bad[i]), -ERANGE);
	assert_int_equal(cost(fixture, 0, WIDTH, 2 * WIDTH, 1, &large), 0);
	assert_int_equal(cost(fixture, 0, WIDTH, 2 * WIDTH, 1, &large), -ERANGE);
	begin(fixture, 10, 20);
	assert_int_equal(cost(fixture, 0, 0, WIDTH, 1, &large), 0);
	assert_int_equal(cost(fixture, 0, 0, WIDTH, 2, &large), 0);
	assert_int_equal(nt_rx_sums_end(&fixture->sums), -ERANGE);
	/* More net_rx in the part than was paid for in all of the bucket; and a bucket that nobody paid for. */
	begin(fixture, 10, 20);
	slice(fixture, 0, 0, INT64_MAX - START, "net_rx");
	cost(fixture, 0, 0, WIDTH, 1, &(struct nt_rx_figures){.spent_ns = 3, .most_ns = 3});
	cost(fixture, 1, 0, WIDTH, 1, &(struct nt_rx_figures){.packets = 9});
	assert_int_equal(nt_rx_sums_end(&fixture->sums), 0);
	expect(fixture, 1, 3, 0, 3);
}

/* ---- random ---- */

/* Each CPU's time in runs of one payer, or of none. */
static void make_payers(struct fixture *fixture, struct nt_rand *rand)
{
	for (int cpu = 0; cpu < N_CPUS; cpu++) {
		for (int at = 0; at < DUR;) {
			const int payer = (int)nt_rand_below(rand, N_PAYERS + 1);
			int end = at + 1 + (int)nt_rand_below(rand, 20);

			for (; at < end && at < DUR; at++)
				fixture->payer[cpu][at] = payer;
		}
	}
}

static void tell_slices(struct fixture *fixture, int cpu)
{
	for (int at = 0, end; at < DUR; at = end) {
		for (end = at; end < DUR && !fixture->payer[cpu][end] == !fixture->payer[cpu][at];)
			end++;
		assert_int_equal(slice(fixture, cpu, at, end, fixture->payer[cpu][at] ? "net_rx" : "task"), 0);
	}
}

/* In any order of payers; some of it is a guess. */
static void tell_costs(struct fixture *fixture, struct nt_rand *rand, int cpu)
{
	for (int from = 0; from < DUR; from += WIDTH) {
		const int to = from + WIDTH < DUR ? from + WIDTH : DUR;
		const int first = (int)nt_rand_below(rand, N_PAYERS);

		for (int i = 0; i < N_PAYERS; i++) {
			const int payer = 1 + (first + i) % N_PAYERS;
			struct nt_rx_figures figures = exactly(0);

			for (int at = from; at < to; at++)
				figures.spent_ns += fixture->payer[cpu][at] == payer;
			figures.exact_ns =
				figures.spent_ns - (int64_t)nt_rand_below(rand, (uint64_t)figures.spent_ns + 1);
			figures.most_ns = figures.spent_ns + (int64_t)nt_rand_below(rand, 5);
			if (figures.spent_ns)
				assert_int_equal(cost(fixture, cpu, from, to, payer, &figures), 0);
		}
	}
}

static void check_random(struct fixture *fixture, uint64_t seed)
{
	struct nt_rand rand = {seed};
	const int from = (int)nt_rand_below(&rand, DUR),
		  to = from + 1 + (int)nt_rand_below(&rand, (uint64_t)(DUR - from));
	int64_t truth[N_PAYERS + 1] = {0}, all = 0, spent = 0;

	make_payers(fixture, &rand);
	begin(fixture, from, to);
	for (int cpu = 0; cpu < N_CPUS; cpu++) {
		tell_costs(fixture, &rand, cpu);
		tell_slices(fixture, cpu);
		for (int at = from; at < to; at++)
			truth[fixture->payer[cpu][at]]++;
	}
	assert_int_equal(nt_rx_sums_end(&fixture->sums), 0);
	for (int payer = 1; payer <= N_PAYERS; payer++) {
		const struct nt_rx_figures *sum = sum_of(fixture, payer);

		if (truth[payer] < sum->exact_ns || truth[payer] > sum->most_ns)
			fail_msg("seed %" PRIu64 ": payer %d: %" PRId64 " is not from %" PRId64 " to %" PRId64, seed,
				 payer, truth[payer], sum->exact_ns, sum->most_ns);
		assert_true(sum->exact_ns <= sum->spent_ns && sum->spent_ns <= sum->most_ns);
		all += truth[payer];
		spent += sum->spent_ns;
	}
	assert_int_equal(spent, all);
}

static void test_random(void **state)
{
	const uint64_t seed = nt_rand_seed();

	for (uint64_t i = 0; i < 2000; i++)
		check_random(*state, seed + i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_cut_bucket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(test_selections, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

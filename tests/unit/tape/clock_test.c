// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock_test.c - stamps of the realtime clock as times of the monotonic one: by hand, beside clocks that are stepped at
 * random, whose whole history the test knows, and with numbers that no clock gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "report/tape/clock.h"
#include "tests/support/rand.h"

#define US 1000ll
#define MS 1000000ll
#define S 1000000000ll
#define REAL (1700000000ll * S) /* realtime at monotonic 0 */

static void add(struct nt_clocks *clocks, int64_t monotonic_ns, int64_t realtime_ns, uint64_t uncertainty_ns)
{
	const struct nt_clock clock = {.monotonic_ns = (uint64_t)monotonic_ns,
				       .realtime_ns = (uint64_t)realtime_ns,
				       .uncertainty_ns = uncertainty_ns};

	assert_int_equal(nt_clocks_add(clocks, &clock), 0);
}

static void expect(const struct nt_clocks *clocks, int64_t end_ns, int64_t stamp_ns, enum nt_late late,
		   int64_t latency_ns)
{
	uint64_t got = 0;
	enum nt_late got_late = nt_clocks_latency(clocks, (uint64_t)end_ns, (uint64_t)stamp_ns, &got);

	if (got_late != late || (int64_t)got != latency_ns)
		fail_msg("end %lld, stamp %lld: %d, %lld and not %d, %lld", (long long)end_ns,
			 (long long)(stamp_ns - REAL), got_late, (long long)got, late, (long long)latency_ns);
}

/* ---- by hand ---- */

static void test_no_clock(void **state)
{
	struct nt_clocks clocks = {0};

	(void)state;
	nt_clocks_settle(&clocks);
	expect(&clocks, S, REAL, NT_LATE_NO_CLOCK, 0);
	assert_true(nt_clocks_uncertainty(&clocks) == UINT64_MAX);
	assert_int_equal(nt_clocks_steps(&clocks, NULL, 0), 0);
	nt_clocks_release(&clocks);
}

/* Each snapshot alone is good to 100 ns; together they are good to 30, about an offset of REAL. */
static void test_snapshots_sharpen_each_other(void **state)
{
	struct nt_clocks clocks = {0};

	(void)state;
	add(&clocks, 2 * S, REAL + 2 * S + 71, 200);
	add(&clocks, 1 * S, REAL + 1 * S - 71, 200);
	add(&clocks, 3 * S, REAL + 3 * S, 200);
	nt_clocks_settle(&clocks);
	assert_int_equal(clocks.n_eras, 1);
	assert_int_equal(nt_clocks_uncertainty(&clocks), 30);
	expect(&clocks, 2 * S, REAL + 2 * S - 5000, NT_LATE_KNOWN, 5000);
	/* Before all snapshots, and behind them. */
	expect(&clocks, S / 2, REAL + 1, NT_LATE_KNOWN, S / 2 - 1);
	expect(&clocks, 9 * S, REAL + 8 * S, NT_LATE_KNOWN, S);
	/* As far in the future as the clocks' uncertainty goes, and farther. */
	expect(&clocks, 2 * S, REAL + 2 * S + 30, NT_LATE_KNOWN, 0);
	expect(&clocks, 2 * S, REAL + 2 * S + 31, NT_LATE_FUTURE, 0);
	nt_clocks_release(&clocks);
}

/* Snapshots at 1, 2, 3, 4 s; the clock is set by `step_ns` between 2 and 3. */
static void stepped(struct nt_clocks *clocks, int64_t step_ns)
{
	for (int i = 1; i <= 4; i++)
		add(clocks, i * S, REAL + i * S + (i > 2 ? step_ns : 0), 100);
	nt_clocks_settle(clocks);
}

static void test_set_forward(void **state)
{
	struct nt_clocks clocks = {0};
	struct nt_clock_step step;

	(void)state;
	stepped(&clocks, 10 * S);
	assert_int_equal(nt_clocks_steps(&clocks, &step, 1), 1);
	assert_true(step.after_ns == 2 * S && step.before_ns == 3 * S && step.change_ns == 10 * S);
	/* Between the snapshots, before and after the step. */
	expect(&clocks, 2400 * MS, REAL + 2400 * MS - 7 * US, NT_LATE_KNOWN, 7 * US);
	expect(&clocks, 2600 * MS, REAL + 12600 * MS - 7 * US, NT_LATE_KNOWN, 7 * US);
	/* As early as it can have been set. */
	expect(&clocks, 2 * S, REAL + 12 * S, NT_LATE_KNOWN, 0);
	/* Received before and read after. */
	expect(&clocks, 3500 * MS, REAL + 2200 * MS, NT_LATE_KNOWN, 1300 * MS);
	expect(&clocks, 3500 * MS, REAL + 1200 * MS, NT_LATE_KNOWN, 2300 * MS);
	/* The clock never showed this. */
	expect(&clocks, 20 * S, REAL + 8 * S, NT_LATE_JUMPED, 0);
	/* To the nanosecond: the clock was set after 2 s and before 3 s, and each offset is good to 51 ns. */
	assert_int_equal(nt_clocks_uncertainty(&clocks), 51);
	expect(&clocks, 20 * S, REAL + 12 * S - 51, NT_LATE_KNOWN, 18 * S + 51);
	expect(&clocks, 20 * S, REAL + 12 * S - 52, NT_LATE_JUMPED, 0);
	expect(&clocks, 20 * S, REAL + 3 * S + 51, NT_LATE_KNOWN, 17 * S - 51);
	expect(&clocks, 20 * S, REAL + 3 * S + 52, NT_LATE_JUMPED, 0);
	expect(&clocks, 20 * S, REAL + 31 * S, NT_LATE_FUTURE, 0);
	nt_clocks_release(&clocks);
}

/* As with a leap second: the clock shows a second twice. */
static void test_set_back(void **state)
{
	struct nt_clocks clocks = {0};

	(void)state;
	stepped(&clocks, -1 * S);
	expect(&clocks, 2400 * MS, REAL + 2400 * MS - 7 * US, NT_LATE_KNOWN, 7 * US);
	/* May be of the first time, a second ago: not believed, and said. */
	expect(&clocks, 3600 * MS, REAL + 2600 * MS - 7 * US, NT_LATE_LEAST, 7 * US);
	/* Between, the time of the second showing has not come yet. */
	expect(&clocks, 2900 * MS, REAL + 2300 * MS, NT_LATE_KNOWN, 600 * MS);
	/* When it was shown first is out of the question. */
	expect(&clocks, 8 * S, REAL + 7 * S - 7 * US, NT_LATE_KNOWN, 7 * US);
	nt_clocks_release(&clocks);
	/* Set back by a minute: a packet is not believed to have waited for it, and this is not said of each. */
	stepped(&clocks, -60 * S);
	expect(&clocks, 10 * S, REAL - 50 * S - 7 * US, NT_LATE_KNOWN, 7 * US);
	nt_clocks_release(&clocks);
}

/* Readings that miss each other by nanoseconds are no step: only the uncertainty grows. */
static void test_small_disagreement(void **state)
{
	struct nt_clocks clocks = {0};

	(void)state;
	add(&clocks, 1 * S, REAL + 1 * S, 98);
	add(&clocks, 2 * S, REAL + 2 * S + 150, 98);
	nt_clocks_settle(&clocks);
	assert_int_equal(clocks.n_eras, 2);
	assert_int_equal(nt_clocks_steps(&clocks, NULL, 0), 0);
	assert_int_equal(nt_clocks_uncertainty(&clocks), 200);
	expect(&clocks, 1500 * MS, REAL + 1400 * MS, NT_LATE_KNOWN, 100 * MS);
	nt_clocks_release(&clocks);
}

/* ---- beside a clock whose history is known ---- */

#define MAX_STEPS 8

struct history {
	struct nt_rand rand;
	int64_t end_ns;
	size_t n;
	int64_t at_ns[MAX_STEPS], change_ns[MAX_STEPS]; /* steps, in order */
};

static int64_t below(struct history *history, int64_t bound)
{
	return (int64_t)nt_rand_below(&history->rand, (uint64_t)bound);
}

/* The obvious way: what the realtime clock shows at a time. */
static int64_t shown(const struct history *history, int64_t ns)
{
	int64_t realtime_ns = REAL + 100 * 3600 * S + ns;

	for (size_t i = 0; i < history->n; i++)
		realtime_ns += history->at_ns[i] <= ns ? history->change_ns[i] : 0;
	return realtime_ns;
}

static int64_t random_change(struct history *history)
{
	static const int64_t sizes[] = {20 * US, 300 * US, 50 * MS, S, 20 * S, 3600 * S};
	int64_t size = sizes[below(history, 6)];
	int64_t change_ns = below(history, 2) ? size : size / 2 + 10 * US + below(history, size);

	return below(history, 2) ? change_ns : -change_ns;
}

/* A snapshot about each second, and not more than one step between two. */
static void make_history(struct history *history, struct nt_clocks *clocks)
{
	int64_t at_ns = 5 * S, snapshots[64];
	size_t n = 4 + (size_t)below(history, 40);

	history->n = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t next_ns = at_ns + S / 2 + below(history, S);

		snapshots[i] = at_ns;
		if (i + 1 < n && history->n < MAX_STEPS && !below(history, 6)) {
			history->at_ns[history->n] = at_ns + 10 * US + below(history, next_ns - at_ns - 20 * US);
			history->change_ns[history->n++] = random_change(history);
		}
		at_ns = next_ns;
	}
	history->end_ns = at_ns;
	/* In no order; the realtime clock is read anywhere between the two readings of the other. */
	for (size_t i = n; i > 0; i--) {
		size_t pick = (size_t)below(history, (int64_t)i);
		int64_t width = 40 + below(history, 20) * below(history, 150), begin_ns = snapshots[pick] - width / 2;

		add(clocks, snapshots[pick], shown(history, begin_ns + below(history, width + 1)), (uint64_t)width);
		snapshots[pick] = snapshots[i - 1];
	}
	nt_clocks_settle(clocks);
}

/* Whether the clock was stepped between these, at the latest or the earliest that the snapshots (at most 1.5 s apart)
 * allow. */
static bool stepped_between(const struct history *history, int64_t from_ns, int64_t to_ns)
{
	for (size_t i = 0; i < history->n; i++) {
		if (history->at_ns[i] > from_ns - 2 * S && history->at_ns[i] < to_ns + 2 * S)
			return true;
	}
	return false;
}

static void expect_true_latency(struct history *history, const struct nt_clocks *clocks, uint64_t seed)
{
	static const int64_t longest[] = {100, 10 * US, MS, S, 5 * S};
	const int64_t uncertainty_ns = (int64_t)nt_clocks_uncertainty(clocks);
	int64_t latency_ns = below(history, longest[below(history, 5)]);
	int64_t made_ns = 3 * S + below(history, history->end_ns), end_ns = made_ns + latency_ns;
	uint64_t got = 0;
	enum nt_late late = nt_clocks_latency(clocks, (uint64_t)end_ns, (uint64_t)shown(history, made_ns), &got);
	int64_t off_ns = (int64_t)got - latency_ns;

	if (late == NT_LATE_KNOWN && off_ns >= -uncertainty_ns && off_ns <= uncertainty_ns)
		return;
	/* In doubt only after a step, and then too small if anything. */
	if (late == NT_LATE_LEAST && off_ns <= uncertainty_ns &&
	    stepped_between(history, end_ns - NT_CLOCKS_LONG_NS, end_ns))
		return;
	fail_msg("NT_SEED=%llu: made %lld, end %lld: %d, off by %lld ns, and the uncertainty is %lld",
		 (unsigned long long)seed, (long long)made_ns, (long long)end_ns, late, (long long)off_ns,
		 (long long)uncertainty_ns);
}

static void expect_future(struct history *history, const struct nt_clocks *clocks, uint64_t seed)
{
	const int64_t uncertainty_ns = (int64_t)nt_clocks_uncertainty(clocks);
	int64_t end_ns = 3 * S + below(history, history->end_ns);
	int64_t ahead_ns = 2 * uncertainty_ns + 1 + below(history, S);
	uint64_t got = 0;
	enum nt_late late;

	/* Near a step such a stamp may be one of the past. */
	if (stepped_between(history, 0, end_ns + ahead_ns))
		return;
	late = nt_clocks_latency(clocks, (uint64_t)end_ns, (uint64_t)shown(history, end_ns + ahead_ns), &got);
	if (late != NT_LATE_FUTURE)
		fail_msg("NT_SEED=%llu: end %lld, %lld ns ahead: %d", (unsigned long long)seed, (long long)end_ns,
			 (long long)ahead_ns, late);
}

static void test_random_histories(void **state)
{
	uint64_t seed = nt_rand_seed();
	struct history history = {.rand = {seed}};
	size_t steps = 0;

	(void)state;
	for (int run = 0; run < 400; run++) {
		struct nt_clocks clocks = {0};

		make_history(&history, &clocks);
		assert_int_equal(nt_clocks_steps(&clocks, NULL, 0), history.n);
		assert_true(nt_clocks_uncertainty(&clocks) < 3000);
		steps += history.n;
		for (int i = 0; i < 300; i++)
			expect_true_latency(&history, &clocks, seed);
		for (int i = 0; i < 20; i++)
			expect_future(&history, &clocks, seed);
		nt_clocks_release(&clocks);
	}
	assert_true(steps > 500);
}

/* ---- what no clock gives ---- */

static void test_any_numbers(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};
	uint64_t latency_ns;

	(void)state;
	for (int run = 0; run < 3000; run++) {
		struct nt_clocks clocks = {0};

		for (uint64_t n = nt_rand_below(&rand, 40); n--;) {
			const struct nt_clock clock = {.monotonic_ns = nt_rand_any(&rand),
						       .realtime_ns = nt_rand_any(&rand),
						       .uncertainty_ns = nt_rand_any(&rand)};

			assert_int_equal(nt_clocks_add(&clocks, &clock), 0);
		}
		nt_clocks_settle(&clocks);
		nt_clocks_uncertainty(&clocks);
		nt_clocks_steps(&clocks, NULL, 0);
		for (int i = 0; i < 30; i++) {
			uint64_t end_ns = nt_rand_any(&rand);

			latency_ns = 0;
			nt_clocks_latency(&clocks, end_ns, nt_rand_any(&rand), &latency_ns);
			assert_true(latency_ns <= INT64_MAX);
		}
		nt_clocks_release(&clocks);
	}
}

/* Memory is bounded, and a long recording's snapshots do not come to the bound. */
static void test_many_snapshots(void **state)
{
	struct nt_clocks clocks = {0};
	uint64_t latency_ns;

	(void)state;
	for (int64_t i = 0; i < 5 * NT_CLOCKS_MAX_ERAS; i++)
		add(&clocks, i * S, REAL + i * S, 50);
	assert_true(clocks.eras_size <= NT_CLOCKS_MAX_ERAS);
	nt_clocks_settle(&clocks);
	assert_int_equal(clocks.n_eras, 1);
	assert_true(clocks.eras[0].last_ns == (5 * NT_CLOCKS_MAX_ERAS - 1) * S);
	nt_clocks_release(&clocks);
	for (int64_t i = 0; i < 5 * NT_CLOCKS_MAX_ERAS; i++)
		add(&clocks, i * S, REAL + i * S * 2, 50);
	nt_clocks_settle(&clocks);
	assert_true(clocks.n_eras <= NT_CLOCKS_MAX_ERAS && clocks.n_eras >= NT_CLOCKS_MAX_ERAS / 2);
	nt_clocks_latency(&clocks, 5 * S, (uint64_t)REAL, &latency_ns);
	nt_clocks_release(&clocks);
}

/* Times up to a bound are reckoned with. Snapshots beyond it are left out, and so are those after too many steps. */
static void test_bounds(void **state)
{
	const uint64_t most = INT64_MAX / 4;
	struct nt_clocks clocks = {0};

	(void)state;
	for (int i = 0; i < 6; i++) {
		uint64_t value = most + i % 2;
		const struct nt_clock clock = {.monotonic_ns = i / 2 == 0 ? value : 1,
					       .realtime_ns = i / 2 == 1 ? value : 1,
					       .uncertainty_ns = i / 2 == 2 ? value : 1};

		assert_int_equal(nt_clocks_add(&clocks, &clock), 0);
		assert_int_equal(clocks.n_eras, 1 - i % 2);
		clocks.n_eras = 0;
	}
	clocks.is_full = true;
	add(&clocks, 1, 1, 1);
	assert_int_equal(clocks.n_eras, 0);
	clocks.is_full = false;
	add(&clocks, S, S, 0);
	expect(&clocks, (int64_t)most, (int64_t)most - 5, NT_LATE_KNOWN, 5);
	expect(&clocks, (int64_t)most, (int64_t)most, NT_LATE_KNOWN, 0);
	expect(&clocks, (int64_t)most + 1, (int64_t)most - 5, NT_LATE_JUMPED, 0);
	expect(&clocks, (int64_t)most + 1, (int64_t)most + 1, NT_LATE_JUMPED, 0);
	expect(&clocks, (int64_t)most, (int64_t)most + 1, NT_LATE_FUTURE, 0);
	nt_clocks_release(&clocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_clock),
		cmocka_unit_test(test_snapshots_sharpen_each_other),
		cmocka_unit_test(test_set_forward),
		cmocka_unit_test(test_set_back),
		cmocka_unit_test(test_small_disagreement),
		cmocka_unit_test(test_random_histories),
		cmocka_unit_test(test_any_numbers),
		cmocka_unit_test(test_many_snapshots),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

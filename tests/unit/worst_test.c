// SPDX-License-Identifier: GPL-2.0-only
/*
 * worst_test.c - worst.c beside the obvious way: the window begins at each nanosecond once, and each of its nanoseconds
 * is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "report/query/cpus/worst.h"
#include "tests/support/rand.h"

#define MAX_SPAN 300
#define MAX_CURVES 3
#define MAX_WINDOWS 8

struct model {
	int64_t from_ts, span;
	uint64_t length;
	unsigned int running[MAX_CURVES][MAX_SPAN]; /* in each nanosecond */
	bool is_taken[MAX_CURVES][MAX_SPAN]; /* a window has it */
};

/* False: the window would overlap one before. */
static bool model_window(const struct model *model, unsigned int curve, int64_t since, uint64_t *ns)
{
	*ns = 0;
	for (uint64_t i = 0; i < model->length; i++) {
		if (model->is_taken[curve][(uint64_t)since + i])
			return false;
		*ns += model->running[curve][(uint64_t)since + i];
	}
	return true;
}

/* The next: most ns, then earliest, then the lowest curve. False: there is none. */
static bool model_next(struct model *model, struct nt_worst_window *window)
{
	*window = (struct nt_worst_window){0};
	for (int64_t since = 0; since + (int64_t)model->length <= model->span; since++) {
		for (unsigned int curve = 0; curve < MAX_CURVES; curve++) {
			uint64_t ns;

			if (model_window(model, curve, since, &ns) && ns > window->ns)
				*window = (struct nt_worst_window){
					.curve = curve, .ts = model->from_ts + since, .ns = ns};
		}
	}
	for (uint64_t i = 0; window->ns && i < model->length; i++)
		model->is_taken[window->curve][(uint64_t)(window->ts - model->from_ts) + i] = true;
	return window->ns > 0;
}

static void any_stretches(struct nt_rand *rand, struct model *model, struct nt_worst *worst, bool in_order)
{
	unsigned int n = (unsigned int)nt_rand_below(rand, 40);
	int64_t next = -10;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int curve = (unsigned int)nt_rand_below(rand, MAX_CURVES);
		int64_t begin = in_order ? next + (int64_t)nt_rand_below(rand, 20)
					 : (int64_t)nt_rand_below(rand, (uint64_t)model->span + 20) - 10;
		int64_t end = begin + (int64_t)nt_rand_below(rand, nt_rand_below(rand, 4) ? 10 : 100);

		next = end;
		assert_int_equal(nt_worst_add(worst, curve, model->from_ts + begin, model->from_ts + end), 0);
		for (int64_t at = begin < 0 ? 0 : begin; at < end && at < model->span; at++)
			model->running[curve][at]++;
	}
}

static void compare(struct model *model, struct nt_worst *worst)
{
	struct nt_worst_window windows[MAX_WINDOWS], wanted;
	int n = nt_worst_find(worst, windows, MAX_WINDOWS), i;

	memset(model->is_taken, 0, sizeof(model->is_taken));
	for (i = 0; i < n; i++) {
		assert_true(model_next(model, &wanted));
		assert_int_equal(windows[i].ns, wanted.ns);
		assert_int_equal(windows[i].ts, wanted.ts);
		assert_int_equal(windows[i].curve, wanted.curve);
	}
	assert_true(i == MAX_WINDOWS || !model_next(model, &wanted));
}

static void test_against_the_model(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};
	static struct model model;

	(void)state;
	printf("NT_SEED=%llu\n", (unsigned long long)rand.state);
	for (unsigned int round = 0; round < 1000; round++) {
		struct nt_worst worst;

		memset(&model, 0, sizeof(model));
		model.from_ts = (int64_t)nt_rand_below(&rand, 1000);
		model.span = 1 + (int64_t)nt_rand_below(&rand, MAX_SPAN);
		model.length = 1 + nt_rand_below(&rand, nt_rand_below(&rand, 3) ? (uint64_t)(model.span + 7) / 8
										: (uint64_t)model.span);
		nt_worst_init(&worst, model.from_ts, model.from_ts + model.span, model.length);
		any_stretches(&rand, &model, &worst, round % 2);
		compare(&model, &worst);
		/* More may be added after that. */
		any_stretches(&rand, &model, &worst, round % 3);
		compare(&model, &worst);
		nt_worst_release(&worst);
	}
}

/* All that there can be, at the ends of time. */
static void test_the_longest_time(void **state)
{
	struct nt_worst_window windows[4];
	struct nt_worst worst;

	(void)state;
	nt_worst_init(&worst, 0, INT64_MAX, (uint64_t)INT64_MAX);
	assert_int_equal(nt_worst_add(&worst, 9, INT64_MIN, INT64_MAX), 0);
	assert_int_equal(nt_worst_find(&worst, windows, 4), 1);
	assert_int_equal(windows[0].ns, INT64_MAX);
	assert_int_equal(windows[0].curve, 9);
	nt_worst_release(&worst);

	nt_worst_init(&worst, INT64_MAX - 10, INT64_MAX, 5);
	assert_int_equal(nt_worst_add(&worst, 0, INT64_MAX - 3, INT64_MAX), 0);
	assert_int_equal(nt_worst_find(&worst, windows, 4), 1);
	assert_int_equal(windows[0].ns, 3);
	assert_int_equal(windows[0].ts, INT64_MAX - 5);
	nt_worst_release(&worst);
}

/* What begins where others ended goes on with one of them, not with all. */
static void test_touching(void **state)
{
	struct nt_worst_window windows[1];
	struct nt_worst worst;

	(void)state;
	nt_worst_init(&worst, 0, 100, 100);
	assert_int_equal(nt_worst_add(&worst, 0, 0, 10), 0);
	assert_int_equal(nt_worst_add(&worst, 0, 10, 20), 0);
	assert_int_equal(nt_worst_add(&worst, 0, 5, 20), 0);
	for (uint64_t ns = 35; ns < 65; ns += 10) {
		assert_int_equal(nt_worst_find(&worst, windows, 1), 1);
		assert_int_equal(windows[0].ns, ns);
		assert_int_equal(nt_worst_add(&worst, 0, (int64_t)ns - 15, (int64_t)ns - 5), 0);
	}
	nt_worst_release(&worst);
}

static void test_nothing(void **state)
{
	struct nt_worst_window windows[1];
	struct nt_worst worst;

	(void)state;
	nt_worst_init(&worst, 0, 100, 10);
	assert_int_equal(nt_worst_add(&worst, 0, 100, 200), 0);
	assert_int_equal(nt_worst_add(&worst, 0, 50, 50), 0);
	assert_int_equal(nt_worst_find(&worst, windows, 1), 0);
	nt_worst_release(&worst);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_the_model),
		cmocka_unit_test(test_the_longest_time),
		cmocka_unit_test(test_touching),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

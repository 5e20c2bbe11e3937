// SPDX-License-Identifier: GPL-2.0-only
/*
 * split_test.c - split.c beside the obvious way, which looks through all samples for each bucket; every nanosecond is
 * given to somebody; and the interval of a share holds what it is to hold.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "report/query/stages/result.h"
#include "report/query/stages/split.h"
#include "tests/support/rand.h"

#define SERIES 4
#define BUCKETS 40
#define CATEGORIES 5
#define SAMPLES 600

struct model {
	uint32_t kind[SERIES];
	uint64_t ns[SERIES][BUCKETS];
	unsigned int n[SERIES][BUCKETS][CATEGORIES];
	uint64_t given[SERIES][BUCKETS][CATEGORIES + 1]; /* by split.c; the last: unsampled */
	uint64_t run[SERIES][BUCKETS];
	bool has_run[SERIES][BUCKETS];
};

static unsigned int samples_in(const struct model *model, int series, int from, int to)
{
	unsigned int n = 0;

	for (int bucket = from; bucket < to; bucket++) {
		for (int category = 0; category < CATEGORIES; category++)
			n += model->n[series][bucket][category];
	}
	return n;
}

/* How often 30 samples are full before the bucket's last one; if there is none yet, before the last of the first bucket
 * that has some. */
static unsigned int model_run(const struct model *model, int series, int bucket)
{
	unsigned int upto = samples_in(model, series, 0, bucket + 1);

	while (!upto && ++bucket < BUCKETS)
		upto = samples_in(model, series, 0, bucket + 1);
	return upto ? (upto - 1) / NT_SPLIT_RUN : 0;
}

/* Samples by category that a bucket is split by. */
static unsigned int model_pool(const struct model *model, int series, int bucket, unsigned int pool[CATEGORIES])
{
	bool is_borrowed = !samples_in(model, series, 0, BUCKETS);
	unsigned int n = 0;

	memset(pool, 0, CATEGORIES * sizeof(pool[0]));
	for (int other = 0; other < SERIES; other++) {
		for (int at = 0; at < BUCKETS; at++) {
			bool is_of = is_borrowed ? model->kind[other] == model->kind[series]
						 : other == series && model_run(model, series, at) ==
									      model_run(model, series, bucket);

			for (int category = 0; is_of && category < CATEGORIES; category++) {
				pool[category] += model->n[other][at][category];
				n += model->n[other][at][category];
			}
		}
	}
	return n;
}

static int keep(void *arg, const struct nt_split_part *part)
{
	struct model *model = arg;
	uint32_t category = part->category == NT_SPLIT_UNSAMPLED ? CATEGORIES : part->category;

	assert_in_range(part->series, 0, SERIES - 1);
	assert_in_range(part->n, 1, BUCKETS - part->bucket);
	assert_in_range(category, 0, CATEGORIES);
	for (uint32_t bucket = part->bucket; bucket < part->bucket + part->n; bucket++) {
		model->given[part->series][bucket][category] += part->ns;
		model->run[part->series][bucket] = part->run;
		model->has_run[part->series][bucket] = true;
	}
	return 0;
}

/* Time in single buckets, and the same in several in a row. */
static void any_times(struct nt_rand *rand, struct model *model, struct nt_split *split, int series)
{
	uint32_t n;

	for (uint32_t bucket = 0; bucket < BUCKETS; bucket += n) {
		uint64_t ns = nt_rand_below(rand, 3) ? nt_rand_below(rand, 100000001) : 0;

		n = nt_rand_below(rand, 3) ? 1 : 1 + (uint32_t)nt_rand_below(rand, BUCKETS - bucket);
		for (uint32_t i = 0; i < n; i++)
			model->ns[series][bucket + i] = ns;
		assert_int_equal(nt_split_add_time(split, (uint32_t)series, bucket, n, ns / 2), 0);
		assert_int_equal(nt_split_add_time(split, (uint32_t)series, bucket, n, ns - ns / 2), 0);
	}
}

static void any_model(struct nt_rand *rand, struct model *model, struct nt_split *split)
{
	unsigned int n = (unsigned int)nt_rand_below(rand, SAMPLES);

	*model = (struct model){0};
	for (int series = 0; series < SERIES; series++) {
		model->kind[series] = (uint32_t)nt_rand_below(rand, 2);
		assert_int_equal(nt_split_new_series(split, model->kind[series]), series);
		any_times(rand, model, split, series);
	}
	/* Some series have none, some have all in a few buckets. */
	for (unsigned int i = 0; i < n; i++) {
		uint32_t series = (uint32_t)nt_rand_below(rand, nt_rand_below(rand, SERIES) + 1);
		uint32_t bucket = (uint32_t)nt_rand_below(rand, nt_rand_below(rand, BUCKETS) + 1);
		uint32_t category = (uint32_t)nt_rand_below(rand, CATEGORIES);

		model->n[series][bucket][category]++;
		assert_int_equal(nt_split_add_sample(split, series, bucket, category), 0);
	}
}

static void compare_bucket(const struct model *model, int series, int bucket)
{
	unsigned int pool[CATEGORIES], n = model_pool(model, series, bucket, pool), upto = 0;
	uint64_t ns = model->ns[series][bucket], sum = 0;

	for (int category = 0; category < CATEGORIES; category++) {
		uint64_t begin = n ? ns * upto / n : 0;

		upto += pool[category];
		assert_int_equal(model->given[series][bucket][category], n ? ns * upto / n - begin : 0);
		sum += model->given[series][bucket][category];
	}
	assert_int_equal(model->given[series][bucket][CATEGORIES], n ? 0 : ns);
	assert_int_equal(sum + model->given[series][bucket][CATEGORIES], ns);
}

static void test_against_the_model(void **state)
{
	uint64_t seed = nt_rand_seed();
	struct nt_rand rand = {seed};
	static struct model model;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct nt_split split = {0};

		any_model(&rand, &model, &split);
		assert_int_equal(nt_split_each(&split, keep, &model), 0);
		for (int series = 0; series < SERIES; series++) {
			for (int bucket = 0; bucket < BUCKETS; bucket++) {
				compare_bucket(&model, series, bucket);
				if (bucket && model.has_run[series][bucket] && model.has_run[series][bucket - 1] &&
				    samples_in(&model, series, 0, BUCKETS))
					assert_int_equal(model.run[series][bucket] != model.run[series][bucket - 1],
							 model_run(&model, series, bucket) !=
								 model_run(&model, series, bucket - 1));
			}
		}
		nt_split_release(&split);
	}
}

static void test_too_much(void **state)
{
	struct nt_split split = {0};

	(void)state;
	assert_int_equal(nt_split_new_series(&split, 0), 0);
	assert_int_equal(nt_split_add_time(&split, 0, NT_SPLIT_BUCKETS_MAX, 1, 1), -ERANGE);
	assert_int_equal(nt_split_add_time(&split, 0, 1, NT_SPLIT_BUCKETS_MAX, 1), -ERANGE);
	assert_int_equal(nt_split_add_sample(&split, 0, UINT32_MAX, 1), -ERANGE);
	assert_int_equal(nt_split_add_time(&split, 0, 7, 1, UINT32_MAX), 0);
	assert_int_equal(nt_split_add_time(&split, 0, 7, 1, 1), -ERANGE);
	nt_split_release(&split);
}

/* Wilson's interval of 10 of 100 and of 0 of 10, worked out with other programs: 0.0552 to 0.1744, and 0 to 0.2775. */
static void test_interval(void **state)
{
	struct nt_split_bounds bounds = nt_split_interval(0.1, 100);

	(void)state;
	assert_true(fabs(bounds.low - 0.05523) < 1e-4 && fabs(bounds.high - 0.17437) < 1e-4);
	bounds = nt_split_interval(0, 10);
	assert_true(bounds.low == 0 && fabs(bounds.high - 0.27753) < 1e-4);
	bounds = nt_split_interval(1, 10);
	assert_true(bounds.high == 1 && fabs(bounds.low - (1 - 0.27753)) < 1e-4);
	/* Rounding takes none below 0. */
	for (double share = 1e-5; share > 1e-21; share /= 10)
		for (int samples = 1; samples <= 100; samples++)
			assert_true(nt_split_interval(share, samples).low >= 0);
	bounds = nt_split_interval(0.5, 0);
	assert_true(bounds.low == 0 && bounds.high == 1);
}

/* Of many recordings of the same, the true share lies between the bounds in about 95 of a hundred, here at least 92. */
static void test_coverage(void **state)
{
	static const double truths[] = {0.01, 0.1, 0.5, 0.9};
	struct nt_rand rand = {1};

	(void)state;
	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		int held = 0, rounds = 3000;

		for (int round = 0; round < rounds; round++) {
			struct nt_split_worth worth = {0};
			struct nt_split_bounds bounds;
			double spent = 0;

			/* Twenty runs of 25 to 35 samples of a millisecond each. */
			for (int run = 0; run < 20; run++) {
				int n = 25 + (int)nt_rand_below(&rand, 11), in = 0;

				for (int sample = 0; sample < n; sample++)
					in += nt_rand_below(&rand, 1000000) < truths[i] * 1000000;
				spent += 30e6 * in / n;
				nt_split_worth_add(&worth, 30e6, n);
			}
			bounds = nt_split_interval(spent / 600e6, nt_split_worth(&worth));
			held += bounds.low <= truths[i] && truths[i] <= bounds.high;
		}
		assert_in_range(held, rounds * 92 / 100, rounds * 99 / 100);
	}
}

/* Time comes as it does in anybody's database: in no order, a bucket more than once, and the last bucket of all. */
static void test_no_order(void **state)
{
	static const struct {
		uint32_t bucket, ns;
	} times[] = {{39, 5}, {3, 100}, {39, 7}, {0, 1}, {3, 11}};
	struct nt_split split = {0};
	static struct model model;

	(void)state;
	model = (struct model){0};
	assert_int_equal(nt_split_new_series(&split, 0), 0);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		model.ns[0][times[i].bucket] += times[i].ns;
		assert_int_equal(nt_split_add_time(&split, 0, times[i].bucket, 1, times[i].ns), 0);
	}
	for (uint32_t i = 0; i < 70; i++) {
		model.n[0][i % BUCKETS][i % 3]++;
		assert_int_equal(nt_split_add_sample(&split, 0, i % BUCKETS, i % 3), 0);
	}
	assert_int_equal(nt_split_each(&split, keep, &model), 0);
	for (int bucket = 0; bucket < BUCKETS; bucket++)
		compare_bucket(&model, 0, bucket);
	nt_split_release(&split);
}

static int add_up(void *arg, const struct nt_split_part *part)
{
	uint64_t *sums = arg;

	sums[part->category] += part->ns * part->n;
	return 0;
}

/*
 * Thirteen years: a bucket late in a recording takes no memory for those before it, in which its series has no time,
 * and buckets that a span fills take no more than one.
 */
static void test_sparse(void **state)
{
	const uint32_t most = NT_SPLIT_BUCKETS_MAX;
	struct nt_split split = {0};
	uint64_t sums[2] = {0};

	(void)state;
	assert_int_equal(nt_split_new_series(&split, 0), 0);
	assert_int_equal(nt_split_add_time(&split, 0, 1, 1, 5), 0);
	assert_int_equal(nt_split_add_time(&split, 0, 2, most - 3, 100000000), 0);
	assert_int_equal(nt_split_add_time(&split, 0, most - 1, 1, 7), 0);
	assert_in_range(split.series[0].cells_size, 1, 64);
	/* Thirty are a run, which ends where the bucket of the next one begins. */
	for (uint32_t i = 0; i < NT_SPLIT_RUN; i++)
		assert_int_equal(nt_split_add_sample(&split, 0, 1000 * i, 0), 0);
	assert_int_equal(nt_split_add_sample(&split, 0, most - 10, 1), 0);
	assert_int_equal(nt_split_each(&split, add_up, sums), 0);
	assert_int_equal(sums[0], 5 + 100000000ull * (most - 12));
	assert_int_equal(sums[1], 100000000ull * 9 + 7);
	nt_split_release(&split);
}

static void test_time_twice(void **state)
{
	struct nt_split split = {0};
	uint64_t sums[1] = {0};

	(void)state;
	assert_int_equal(nt_split_new_series(&split, 0), 0);
	assert_int_equal(nt_split_add_time(&split, 0, 10, 5, 1), 0);
	assert_int_equal(nt_split_add_time(&split, 0, 14, 1, 1), 0);
	assert_int_equal(nt_split_add_sample(&split, 0, 12, 0), 0);
	assert_int_equal(nt_split_each(&split, add_up, sums), -ERANGE);
	nt_split_release(&split);
}

/* The same forty samples lent to a hundred CPUs are still forty. */
static void test_lent_worth(void **state)
{
	struct nt_split_worth worth = {0};

	(void)state;
	for (int cpu = 0; cpu < 100; cpu++)
		nt_split_worth_lend(&worth, 1e6 * (cpu + 1), 40);
	assert_true(fabs(nt_split_worth(&worth) - 40) < 1e-6);
}

/* Time that has no samples makes a share no surer: 40 ns, of which 30 have 3 samples of a weight of 10. */
/* Of time with samples of its own, and time that others' samples are lent to: (sum)^2 / (sum of squares). */
static void test_worth_of_both(void **state)
{
	struct nt_split_worth worth = {0};

	(void)state;
	nt_split_worth_add(&worth, 100, 10);
	nt_split_worth_add(&worth, 200, 0);
	nt_split_worth_lend(&worth, 50, 5);
	/* Ten samples weigh 10 each, and each of the pool's five 10 of the 350 ns; 200 ns have none. */
	assert_true(fabs(nt_split_worth(&worth) - 350.0 * 350 / (1000 + 10 * (600 + 50))) < 1e-9);
}

static void test_worth_of_none(void **state)
{
	struct nt_split_worth worth = {0};

	(void)state;
	assert_true(nt_split_worth(&worth) == 0);
	nt_split_worth_add(&worth, 10, 0);
	assert_true(nt_split_worth(&worth) == 0);
	nt_split_worth_add(&worth, 30, 3);
	assert_true(fabs(nt_split_worth(&worth) - 40.0 * 40 / (3 * 10 * 10)) < 1e-9);
}

/* As test_coverage, where five times as much time as has samples is lent them. */
static void test_coverage_lent(void **state)
{
	struct nt_rand rand = {2};
	int held = 0, rounds = 3000;

	(void)state;
	for (int round = 0; round < rounds; round++) {
		struct nt_split_worth worth = {0};
		struct nt_split_bounds bounds;
		double spent = 0, all_in = 0, all = 0;

		for (int run = 0; run < 10; run++) {
			int n = 25 + (int)nt_rand_below(&rand, 11), in = 0;

			for (int sample = 0; sample < n; sample++)
				in += nt_rand_below(&rand, 100) < 30;
			spent += 30e6 * in / n;
			all_in += in;
			all += n;
			nt_split_worth_add(&worth, 30e6, n);
		}
		for (int cpu = 0; cpu < 50; cpu++) {
			spent += 30e6 * all_in / all;
			nt_split_worth_lend(&worth, 30e6, all);
		}
		bounds = nt_split_interval(spent / 1800e6, nt_split_worth(&worth));
		held += bounds.low <= 0.3 && 0.3 <= bounds.high;
	}
	assert_in_range(held, rounds * 92 / 100, rounds * 99 / 100);
}

/* By hand, in nanoseconds: the interval of what was sampled, all or nothing of the rest, and never past the whole. */
static void test_bounds(void **state)
{
	struct nt_rand rand = {5};

	(void)state;
	for (unsigned int round = 0; round < 20000; round++) {
		const uint64_t most = round % 3 ? 1000 : 1ull << 62;
		const uint64_t whole_ns = 1 + nt_rand_below(&rand, most);
		struct nt_stage_whole whole = {.ns = whole_ns,
					       .unsampled_ns = nt_rand_below(&rand, round % 2 ? 1 : whole_ns + 1)};
		const uint64_t sampled = whole_ns - whole.unsampled_ns;
		struct nt_stage_part part = {.ns = nt_rand_below(&rand, sampled + 1)}, rest;
		struct nt_split_bounds bounds;

		/* Up to so many samples that the interval is nothing, and what is rounded decides. */
		nt_split_worth_add(&whole.worth, (double)sampled, (double)(1ull << nt_rand_below(&rand, 60)));
		if (round % 5 == 0)
			part.ns = sampled;
		nt_stage_bounds(&part, &whole);
		assert_true(part.low_ns <= part.ns && part.ns <= part.high_ns && part.high_ns <= whole_ns);
		bounds = nt_split_interval(sampled ? (double)part.ns / (double)sampled : 0,
					   nt_split_worth(&whole.worth));
		if (most == 1000) {
			assert_int_equal(part.low_ns, fmin(floor(bounds.low * (double)sampled), (double)part.ns));
			assert_int_equal(part.high_ns,
					 fmin(fmax(ceil(bounds.high * (double)sampled) + (double)whole.unsampled_ns,
						   (double)part.ns),
					      (double)whole_ns));
		}
		rest = (struct nt_stage_part){.category = NT_SPLIT_UNSAMPLED, .ns = whole.unsampled_ns};
		nt_stage_bounds(&rest, &whole);
		assert_int_equal(rest.low_ns, whole.unsampled_ns);
		assert_int_equal(rest.high_ns, whole.unsampled_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_the_model),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_coverage),
		cmocka_unit_test(test_no_order),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_time_twice),
		cmocka_unit_test(test_lent_worth),
		cmocka_unit_test(test_worth_of_both),
		cmocka_unit_test(test_worth_of_none),
		cmocka_unit_test(test_coverage_lent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracing_test.c - what tracing took of the time of several owners: sums, and bounds that keep what they promise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "report/query/stages/tracing.h"
#include "tests/support/rand.h"

#define N_OWNERS 3
#define DRAWS 4000

/* An owner, as it truly is: of `ns`, `permille` is tracing; `samples` were taken of all but unsampled_ns. */
struct truth {
	uint64_t ns, unsampled_ns, permille, samples;
};

enum { TRACING, TRACING_INET, OTHER, N_CATEGORIES };

static struct nt_stage_category categories[N_CATEGORIES] = {
	[TRACING] = {.stage = (char *)"tracing", .family = (char *)""},
	[TRACING_INET] = {.stage = (char *)"tracing", .family = (char *)"inet"},
	[OTHER] = {.stage = (char *)"copy", .family = (char *)""},
};

static struct nt_tracing draw(struct nt_rand *rand, const struct truth truths[N_OWNERS])
{
	static const struct nt_stage_choice choice = {.owners = NT_NETWORK_OWNERS};
	struct nt_stage_whole wholes[N_OWNERS] = {0};
	struct nt_stage_part parts[N_OWNERS * N_CATEGORIES];
	const struct nt_stage_result result = {
		.choice = &choice,
		.data = {.categories = categories, .n_categories = N_CATEGORIES},
		.wholes = wholes,
		.n_wholes = N_OWNERS,
		.parts = parts,
		.n_parts = N_OWNERS * N_CATEGORIES,
	};

	for (uint32_t i = 0; i < N_OWNERS; i++) {
		const struct truth *truth = &truths[i];
		const uint64_t sampled_ns = truth->ns - truth->unsampled_ns;
		uint64_t counts[N_CATEGORIES] = {0};

		for (uint64_t k = 0; k < truth->samples; k++)
			counts[nt_rand_below(rand, 1000) < truth->permille ? nt_rand_below(rand, 2) : OTHER]++;
		wholes[i] = (struct nt_stage_whole){.ns = truth->ns, .unsampled_ns = truth->unsampled_ns};
		nt_split_worth_add(&wholes[i].worth, (double)sampled_ns, (double)truth->samples);
		for (uint32_t k = 0; k < N_CATEGORIES; k++)
			parts[i * N_CATEGORIES + k] = (struct nt_stage_part){
				.whole = i, .category = k, .ns = sampled_ns * counts[k] / truth->samples};
	}
	return nt_tracing_of(&result);
}

static void test_bounds(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};
	unsigned int within = 0;

	(void)state;
	for (unsigned int i = 0; i < DRAWS; i++) {
		struct truth truths[N_OWNERS];
		uint64_t ns = 0, network_ns = 0;
		struct nt_tracing tracing;

		for (unsigned int k = 0; k < N_OWNERS; k++) {
			truths[k] = (struct truth){.ns = 1000 + nt_rand_below(&rand, 1000000000),
						   .permille = 20 + nt_rand_below(&rand, 500),
						   .samples = 40 + nt_rand_below(&rand, 400)};
			if (!nt_rand_below(&rand, 4))
				truths[k].unsampled_ns = truths[k].ns / 10;
			network_ns += truths[k].ns;
			/* As much of the time that was not sampled as of the rest. */
			ns += truths[k].ns * truths[k].permille / 1000;
		}
		tracing = draw(&rand, truths);
		assert_true(tracing.is_known);
		assert_int_equal(tracing.network_ns, network_ns);
		assert_true(tracing.low_ns <= tracing.ns && tracing.ns <= tracing.high_ns &&
			    tracing.high_ns <= network_ns);
		within += tracing.low_ns <= ns && ns <= tracing.high_ns;
	}
	printf("within the bounds: %.4f\n", (double)within / DRAWS);
	/* 95 % are promised; four deviations of so many draws are 1.4 %. */
	assert_true(within >= DRAWS * 936 / 1000);
	assert_true(within <= DRAWS * 985 / 1000);
}

/* Without a sample of an owner, all of its time may have been tracing's. */
static void test_unsampled(void **state)
{
	static const struct nt_stage_choice choice = {.owners = NT_NETWORK_OWNERS};
	struct nt_stage_whole whole = {.ns = 700, .unsampled_ns = 700};
	struct nt_stage_part part = {.category = NT_SPLIT_UNSAMPLED, .ns = 700};
	const struct nt_stage_result result = {
		.choice = &choice, .wholes = &whole, .n_wholes = 1, .parts = &part, .n_parts = 1};
	const struct nt_tracing tracing = nt_tracing_of(&result);

	(void)state;
	assert_int_equal(tracing.ns, 0);
	assert_int_equal(tracing.low_ns, 0);
	assert_int_equal(tracing.high_ns, 700);
	assert_int_equal(tracing.network_ns, 700);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_bounds), cmocka_unit_test(test_unsampled)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

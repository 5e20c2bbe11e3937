// SPDX-License-Identifier: GPL-2.0-only
/*
 * sample_owners_test.c - the owner of a stack sample, as samples and slices come one by one
 * (report/rows/sample_owners.h), beside one that has all slices at hand and goes back from the sample.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/sample_owners.h"
#include "tests/support/rand.h"

#define N_CPUS 3
#define N_SLICES 400
#define N_SAMPLES 600

struct world {
	struct nt_cpu_slice slices[N_CPUS][N_SLICES];
	struct nt_stack_sample samples[N_CPUS][N_SAMPLES]; /* .stack is the sample's number */
	size_t due[N_CPUS][N_SAMPLES]; /* given when so many slices have been */
	int got[N_CPUS][N_SAMPLES]; /* owner + 1; 0: not yet */
	int stop_at; /* of the callback; 0: never */
};

/* ---- the model ---- */

static enum nt_owner model(const struct nt_cpu_slice *slices, const struct nt_stack_sample *sample)
{
	int i = 0;

	while (i < N_SLICES && slices[i].ts_ns + slices[i].dur_ns <= sample->end_ns)
		i++;
	if (i == N_SLICES || slices[i].ts_ns > sample->end_ns)
		return NT_OWNER_UNKNOWN;
	if (sample->context == NT_STACK_IN_HARDIRQ)
		return slices[i].owner;
	while (slices[i].owner == NT_OWNER_HARDIRQ) {
		if (!i || slices[i - 1].ts_ns + slices[i - 1].dur_ns != slices[i].ts_ns)
			return NT_OWNER_UNKNOWN;
		i--;
	}
	return slices[i].owner;
}

/* ---- random worlds ---- */

static void make_slices(struct nt_rand *rand, uint32_t cpu, struct nt_cpu_slice *slices)
{
	uint64_t at_ns = 1000 + nt_rand_below(rand, 100);

	for (int i = 0; i < N_SLICES; i++) {
		/* A true timeline has no holes; this one has some. */
		if (!nt_rand_below(rand, 30))
			at_ns += nt_rand_below(rand, 50);
		slices[i] = (struct nt_cpu_slice){
			.ts_ns = at_ns,
			.dur_ns = 1 + nt_rand_below(rand, 100),
			.cpu = cpu,
			.owner = nt_rand_below(rand, 3) ? nt_rand_below(rand, NT_OWNER_COUNT) : NT_OWNER_HARDIRQ,
		};
		at_ns += slices[i].dur_ns;
	}
}

static int by_due(const void *a, const void *b)
{
	const size_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

/* Samples in the order of their slices' coming, but for some neighbours; each comes before its slice, or at most one
 * after it. */
static void make_samples(struct nt_rand *rand, struct world *world, uint32_t cpu)
{
	const struct nt_cpu_slice *slices = world->slices[cpu];
	size_t place[N_SAMPLES];

	for (size_t i = 0; i < N_SAMPLES; i++)
		place[i] = nt_rand_below(rand, N_SLICES);
	qsort(place, N_SAMPLES, sizeof(*place), by_due);
	for (size_t i = 0; i < N_SAMPLES; i++) {
		const struct nt_cpu_slice *slice = &slices[place[i]];
		uint64_t away = nt_rand_below(rand, 6);

		world->samples[cpu][i] = (struct nt_stack_sample){
			.end_ns = slice->ts_ns + nt_rand_below(rand, slice->dur_ns),
			.context = nt_rand_below(rand, 5) ? NT_STACK_IN_TASK : NT_STACK_IN_HARDIRQ,
			.stack = i,
		};
		world->due[cpu][i] = place[i] + 2 > away ? place[i] + 2 - away : 0;
	}
	/* Some that no slice holds. */
	world->samples[cpu][0].end_ns = 3;
	world->due[cpu][0] = 0;
	world->samples[cpu][N_SAMPLES - 1].end_ns = UINT64_MAX;
}

static int take(void *arg, uint32_t cpu, const struct nt_stack_sample *sample, enum nt_owner owner)
{
	struct world *world = arg;

	assert_in_range(sample->stack, 0, N_SAMPLES - 1);
	assert_int_equal(world->got[cpu][sample->stack], 0);
	world->got[cpu][sample->stack] = (int)owner + 1;
	return world->stop_at && !--world->stop_at ? 7 : 0;
}

static int give_samples(struct nt_sample_owners *owners, const struct world *world, uint32_t cpu, size_t slices,
			bool *given)
{
	int error = 0;

	for (size_t i = 0; i < N_SAMPLES && !error; i++) {
		if (given[i] || world->due[cpu][i] > slices)
			continue;
		given[i] = true;
		error = nt_sample_owners_add(owners, cpu, &world->samples[cpu][i]);
	}
	return error;
}

/* CPUs go on by turns, of random lengths. */
static int play(struct nt_rand *rand, struct world *world)
{
	struct nt_sample_owners *owners = nt_sample_owners_new(N_CPUS, take, world);
	size_t done[N_CPUS] = {0};
	bool given[N_CPUS][N_SAMPLES] = {{false}};
	int left = N_CPUS * N_SLICES, error = 0;

	assert_non_null(owners);
	while (left && !error) {
		uint32_t cpu = (uint32_t)nt_rand_below(rand, N_CPUS);

		if (done[cpu] == N_SLICES)
			continue;
		error = give_samples(owners, world, cpu, done[cpu], given[cpu]);
		if (!error)
			error = nt_sample_owners_slice(owners, &world->slices[cpu][done[cpu]]);
		done[cpu]++;
		left--;
	}
	for (uint32_t cpu = 0; cpu < N_CPUS && !error; cpu++)
		error = give_samples(owners, world, cpu, SIZE_MAX, given[cpu]);
	if (!error)
		error = nt_sample_owners_finish(owners);
	nt_sample_owners_free(owners);
	return error;
}

static void make_world(struct nt_rand *rand, struct world *world)
{
	memset(world, 0, sizeof(*world));
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++) {
		make_slices(rand, cpu, world->slices[cpu]);
		make_samples(rand, world, cpu);
	}
}

static void equals_the_model(void **state)
{
	static struct world world;
	size_t unlike = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct nt_rand rand = {seed};

		make_world(&rand, &world);
		assert_int_equal(play(&rand, &world), 0);
		for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
			for (size_t i = 0; i < N_SAMPLES; i++) {
				const struct nt_stack_sample *sample = &world.samples[cpu][i];
				int wanted = (int)model(world.slices[cpu], sample) + 1;

				if (world.got[cpu][i] != wanted)
					fail_msg("seed %llu, CPU %u, sample %zu: %d, not %d", (unsigned long long)seed,
						 cpu, i, world.got[cpu][i] - 1, wanted - 1);
				unlike += wanted - 1 != (int)NT_OWNER_UNKNOWN;
			}
	}
	/* The worlds are no trivial ones. */
	assert_in_range(unlike, 50000, 72000);
}

static void stops_when_told(void **state)
{
	static struct world world;
	struct nt_rand rand = {5};

	(void)state;
	make_world(&rand, &world);
	world.stop_at = 100;
	assert_int_equal(play(&rand, &world), 7);
}

static int count(void *arg, uint32_t cpu, const struct nt_stack_sample *sample, enum nt_owner owner)
{
	(void)cpu;
	assert_int_equal(owner, NT_OWNER_UNKNOWN);
	assert_int_equal(sample->end_ns, ++*(uint64_t *)arg);
	return 0;
}

/* A tape on which no slice ever comes. */
static void waits_within_bounds(void **state)
{
	uint64_t given = 0;
	struct nt_sample_owners *owners = nt_sample_owners_new(1, count, &given);
	struct nt_stack_sample sample = {.context = NT_STACK_IN_TASK};

	(void)state;
	for (uint64_t i = 1; i <= NT_WAITING_MAX + 10; i++) {
		sample.end_ns = i;
		assert_int_equal(nt_sample_owners_add(owners, 0, &sample), 0);
	}
	assert_int_equal(given, 10);
	assert_int_equal(nt_sample_owners_finish(owners), 0);
	assert_int_equal(given, NT_WAITING_MAX + 10);
	nt_sample_owners_free(owners);
	nt_sample_owners_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_the_model),
		cmocka_unit_test(stops_when_told),
		cmocka_unit_test(waits_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

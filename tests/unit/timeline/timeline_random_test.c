// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeline_random_test.c - the timeline against its model, against the truth that a simulation knows, and against
 * conservation, on random traces. NT_SEED=... repeats a run (tests/support/rand.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/trace_gen.h"

#define N_SIMULATED 5000
#define N_SPOILED 1500
#define N_GARBAGE 5000

static struct trace trace;

/* The uncovered time of a CPU is what its loss rows tell, each stretch once. Both sorted. */
static bool losses_fit(const struct rows *rows)
{
	uint64_t uncovered[TRACE_CPUS] = {0}, told[TRACE_CPUS] = {0};

	for (size_t i = 0; i < rows->n[ROW_CPU_SLICE]; i++) {
		const uint64_t *f = rows->rows[ROW_CPU_SLICE][i].field;

		if (f[CPU_SLICE_OWNER] == NT_OWNER_UNCOVERED)
			uncovered[f[CPU_SLICE_CPU]] += f[ROW_DUR];
	}
	for (size_t i = 0; i < rows->n[ROW_LOSS]; i++) {
		const uint64_t *f = rows->rows[ROW_LOSS][i].field;

		if (i == 0 || memcmp(f, rows->rows[ROW_LOSS][i - 1].field, (LOSS_CPU + 1) * sizeof(*f)))
			told[f[LOSS_CPU]] += f[ROW_DUR];
	}
	if (memcmp(uncovered, told, sizeof(told))) {
		fprintf(stderr, "loss rows do not tell all uncovered time\n");
		return false;
	}
	return true;
}

static bool check_trace(struct rows *rows, struct rows *model)
{
	struct nt_timeline_sink sink = rows_sink(rows), model_sink = rows_sink(model);
	bool good;

	rows_clear(rows);
	rows_clear(model);
	good = timeline_run(&trace.config, trace.items, trace.n, &sink, &rows->counts) == 0;
	timeline_model_run(&trace.config, trace.items, trace.n, &model_sink, &model->counts);
	good = rows_conserve(rows, &trace.config, stderr) && good;
	if (trace.true_known)
		good = trace_check(&trace, rows, stderr) && good;
	rows_sort(rows);
	rows_sort(model);
	good = rows_equal(rows, "timeline", model, "model", stderr) && good;
	return losses_fit(rows) && good;
}

/* Gives the cases that occurred. */
static uint64_t run(void (*make)(struct trace *, uint64_t), const char *name, unsigned int n, uint64_t seed)
{
	struct rows rows = {0}, model = {0};
	uint64_t cases = 0;

	for (unsigned int i = 0; i < n; i++) {
		memset(&trace, 0, sizeof(trace));
		make(&trace, seed + i);
		if (!check_trace(&rows, &model)) {
			trace_print(&trace, stderr);
			fprintf(stderr, "%s trace: NT_SEED=%" PRIu64 "\n", name, seed + i);
			fail();
		}
		cases |= trace.cases;
		trace_release(&trace);
	}
	rows_release(&rows);
	rows_release(&model);
	return cases;
}

static void test_simulated(void **state)
{
	uint64_t cases = run(trace_simulate, "simulated", N_SIMULATED, nt_rand_seed());

	(void)state;
	for (int i = 0; i < TRACE_CASE_COUNT; i++) {
		if (!(cases >> i & 1))
			fail_msg("none of %d traces had a case of %s", N_SIMULATED, trace_case_names[i]);
	}
}

static void test_spoiled(void **state)
{
	(void)state;
	run(trace_spoil, "spoiled", N_SPOILED, nt_rand_seed());
}

static void test_garbage(void **state)
{
	(void)state;
	run(trace_garbage, "garbage", N_GARBAGE, nt_rand_seed());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_simulated),
		cmocka_unit_test(test_spoiled),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * worst_test.c - worst.c beside two other ways: for short times the obvious one, where the window begins at each
 * nanosecond once and each of its nanoseconds is counted; for long ones that of tests/support/worst_model.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/cpus/worst.h"
#include "tests/support/rand.h"
#include "tests/support/worst_model.h"

#define MAX_SPAN 300
#define MAX_CPUS 4
#define MAX_WINDOWS 8
#define MAX_SLICES 60000

struct slice {
	uint32_t cpu;
	int64_t ts, end_ts;
	enum nt_worst_kind kind;
};

/* Slices in the order in which they come. */
struct trace {
	struct nt_worst_want want;
	uint32_t cpus; /* that there are */
	struct slice slices[MAX_SLICES];
	size_t n;
};

/* ---- traces ---- */

struct shape {
	int64_t span;
	uint64_t longest; /* slice */
	uint64_t lengths; /* how many different ones: few make ties */
	uint64_t behind; /* how far a CPU may be behind the others */
	bool has_gaps;
};

static enum nt_worst_kind any_kind(struct nt_rand *rand, uint64_t own)
{
	const uint64_t at = nt_rand_below(rand, 10);

	if (at < own)
		return NT_WORST_OWN;
	return at == 9 && nt_rand_below(rand, 2) ? NT_WORST_UNCOVERED : NT_WORST_OTHER;
}

/* The CPU whose next slice comes: one that is not too far before the last one. */
static uint32_t next_cpu(struct nt_rand *rand, const int64_t *next, uint32_t cpus, uint64_t behind)
{
	uint32_t least = 0, cpu = (uint32_t)nt_rand_below(rand, cpus);

	for (uint32_t i = 1; i < cpus; i++)
		least = next[i] < next[least] ? i : least;
	return (uint64_t)next[cpu] - (uint64_t)next[least] > behind ? least : cpu;
}

/* Each CPU's slices follow one another through the span, and some more at both ends. */
static void any_slices(struct nt_rand *rand, struct trace *trace, const struct shape *shape)
{
	const int64_t begin = trace->want.from_ts - 5, end = trace->want.to_ts + 5;
	const uint64_t unit = 1 + shape->longest / shape->lengths;
	const uint64_t own = nt_rand_below(rand, 10);
	uint64_t left = trace->cpus;
	int64_t next[MAX_CPUS];

	for (uint32_t cpu = 0; cpu < trace->cpus; cpu++)
		next[cpu] = begin;
	trace->n = 0;
	while (left && trace->n < MAX_SLICES) {
		const uint32_t cpu = next_cpu(rand, next, trace->cpus, shape->behind);
		struct slice *slice = &trace->slices[trace->n++];
		const bool has_gap = shape->has_gaps && !nt_rand_below(rand, 5);

		slice->cpu = cpu * 3;
		slice->ts = next[cpu] + (has_gap ? (int64_t)nt_rand_below(rand, 2 * unit) : 0);
		slice->end_ts = slice->ts + (int64_t)(unit * (1 + nt_rand_below(rand, shape->lengths)));
		slice->kind = any_kind(rand, own);
		next[cpu] = slice->end_ts;
		if (next[cpu] >= end) {
			next[cpu] = INT64_MAX;
			left--;
		}
	}
}

static void any_trace(struct nt_rand *rand, struct trace *trace, const struct shape *shape)
{
	const uint64_t span = (uint64_t)shape->span;

	trace->cpus = 1 + (uint32_t)nt_rand_below(rand, MAX_CPUS);
	trace->want = (struct nt_worst_want){
		.from_ts = 5 + (int64_t)nt_rand_below(rand, 1000),
		.length = 1 + nt_rand_below(rand, nt_rand_below(rand, 4) ? (span + 7) / 8 : span),
		.most = 1 + (unsigned int)nt_rand_below(rand, MAX_WINDOWS),
		.each_cpu = nt_rand_below(rand, 2),
		.cpus = trace->cpus + !nt_rand_below(rand, 4),
		.in_memory = 1 + nt_rand_below(rand, 1 << 18),
	};
	trace->want.to_ts = trace->want.from_ts + shape->span;
	any_slices(rand, trace, shape);
}

static struct nt_worst *search(const struct trace *trace)
{
	struct nt_worst *worst = nt_worst_new(&trace->want);

	assert_non_null(worst);
	for (size_t i = 0; i < trace->n; i++) {
		const struct slice *slice = &trace->slices[i];

		assert_int_equal(nt_worst_add(worst, slice->cpu, slice->ts, slice->end_ts, slice->kind), 0);
	}
	return worst;
}

/* ---- each nanosecond ---- */

#define MAX_CURVES (3 * MAX_CPUS)

struct nanoseconds {
	const struct nt_worst_want *want;
	unsigned int own[MAX_CURVES][MAX_SPAN], uncovered[MAX_CURVES][MAX_SPAN]; /* how many CPUs */
	bool is_taken[MAX_CURVES][MAX_SPAN]; /* a window has it */
};

static void fill_nanoseconds(struct nanoseconds *all, const struct trace *trace)
{
	memset(all, 0, sizeof(*all));
	all->want = &trace->want;
	for (size_t i = 0; i < trace->n; i++) {
		const struct slice *slice = &trace->slices[i];
		const uint32_t curve = trace->want.each_cpu ? slice->cpu : 0;

		for (int64_t ts = slice->ts; ts < slice->end_ts; ts++) {
			if (ts < trace->want.from_ts || ts >= trace->want.to_ts)
				continue;
			all->own[curve][ts - trace->want.from_ts] += slice->kind == NT_WORST_OWN;
			all->uncovered[curve][ts - trace->want.from_ts] += slice->kind == NT_WORST_UNCOVERED;
		}
	}
}

/* The time in a window. False: it would overlap one before. */
static bool window_at(const struct nanoseconds *all, unsigned int curve, int64_t since, uint64_t *own, uint64_t *most)
{
	bool is_free = true;

	*own = *most = 0;
	for (int64_t at = since; at < since + (int64_t)all->want->length; at++) {
		is_free = is_free && !all->is_taken[curve][at];
		*own += all->own[curve][at];
		*most += all->own[curve][at] + all->uncovered[curve][at];
	}
	return is_free;
}

/* The next: most ns, then earliest, then the lowest curve. False: there is none. `bound` is of all windows. */
static bool next_window(struct nanoseconds *all, struct nt_worst_window *window, uint64_t *bound)
{
	const int64_t span = all->want->to_ts - all->want->from_ts;

	*window = (struct nt_worst_window){0};
	*bound = 0;
	for (int64_t since = 0; since + (int64_t)all->want->length <= span; since++) {
		for (unsigned int curve = 0; curve < MAX_CURVES; curve++) {
			uint64_t own, most;

			if (window_at(all, curve, since, &own, &most) && own > window->ns)
				*window = (struct nt_worst_window){
					.curve = curve, .ts = all->want->from_ts + since, .ns = own};
			*bound = most > *bound ? most : *bound;
		}
	}
	for (uint64_t i = 0; window->ns && i < all->want->length; i++)
		all->is_taken[window->curve][(uint64_t)(window->ts - all->want->from_ts) + i] = true;
	return window->ns > 0;
}

static void compare_window(const struct nt_worst_window *window, const struct nt_worst_window *wanted)
{
	assert_int_equal(window->ns, wanted->ns);
	assert_int_equal(window->ts, wanted->ts);
	assert_int_equal(window->curve, wanted->curve);
}

static void test_each_nanosecond(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};
	static struct nanoseconds all;
	static struct trace trace;

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		const int64_t span = 1 + (int64_t)nt_rand_below(&rand, MAX_SPAN);
		struct nt_worst_window windows[MAX_WINDOWS], wanted = {0};
		uint64_t bound;
		struct nt_worst *worst;
		unsigned int n;

		any_trace(&rand, &trace,
			  &(struct shape){span, 1 + nt_rand_below(&rand, 50), 1 + nt_rand_below(&rand, 10),
					  nt_rand_below(&rand, 400), round % 3 == 0});
		worst = search(&trace);
		fill_nanoseconds(&all, &trace);
		n = (unsigned int)nt_worst_find(worst, windows);
		for (unsigned int i = 0; i < n; i++) {
			assert_true(next_window(&all, &wanted, &bound));
			compare_window(&windows[i], &wanted);
		}
		assert_true(n == trace.want.most || !next_window(&all, &wanted, &bound));
		if (!n)
			next_window(&all, &wanted, &bound);
		assert_int_equal(nt_worst_bound(worst), bound);
		nt_worst_free(worst);
	}
}

/* ---- all slices ---- */

static void add_to_model(struct nt_worst_model *model, const struct trace *trace, enum nt_worst_kind kind)
{
	for (size_t i = 0; i < trace->n; i++) {
		const struct slice *slice = &trace->slices[i];

		if (slice->kind == kind)
			assert_int_equal(nt_worst_model_add(model, trace->want.each_cpu ? slice->cpu : 0, slice->ts,
							    slice->end_ts),
					 0);
	}
}

static void compare_with_model(const struct trace *trace)
{
	struct nt_worst_window windows[MAX_WINDOWS], wanted[MAX_WINDOWS];
	struct nt_worst *worst = search(trace);
	struct nt_worst_model model;
	int n;

	nt_worst_model_init(&model, trace->want.from_ts, trace->want.to_ts, trace->want.length);
	add_to_model(&model, trace, NT_WORST_OWN);
	n = nt_worst_model_find(&model, wanted, trace->want.most);
	assert_int_equal(nt_worst_find(worst, windows), n);
	for (int i = 0; i < n; i++)
		compare_window(&windows[i], &wanted[i]);
	add_to_model(&model, trace, NT_WORST_UNCOVERED);
	n = nt_worst_model_find(&model, wanted, 1);
	assert_int_equal(nt_worst_bound(worst), n ? wanted[0].ns : 0);
	nt_worst_model_release(&model);
	nt_worst_free(worst);
}

/* Many blocks, in memory and in the database, of which most are forgotten. */
static void test_many_slices(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};
	static struct trace trace;

	(void)state;
	for (unsigned int round = 0; round < 60; round++) {
		const int64_t span = 1 + (int64_t)nt_rand_below(&rand, 2000000);

		any_trace(&rand, &trace,
			  &(struct shape){
				  span, 1 + nt_rand_below(&rand, round % 4 ? 60 : 400), 1 + nt_rand_below(&rand, 100),
				  nt_rand_below(&rand, nt_rand_below(&rand, 2) ? 1000 : 3000000), round % 3 == 0});
		/* From a part of a block to several blocks. */
		trace.want.length = 1 + (uint64_t)span / (6 + nt_rand_below(&rand, round % 5 ? 30 : 3000));
		compare_with_model(&trace);
	}
}

/* ---- single cases ---- */

/*
 * More and more until the end: the worst window is the last one, and the others are those that end where the one behind
 * begins. Cells have many blocks, and the parts of them that matter are known only at the end.
 */
static void test_rising(void **state)
{
	static struct trace trace;
	const int64_t step = 40;

	(void)state;
	trace.cpus = 1;
	trace.want = (struct nt_worst_want){.most = 4, .cpus = 1, .in_memory = 1 << 16};
	for (trace.n = 0; trace.n < MAX_SLICES; trace.n += 2) {
		const int64_t ts = (int64_t)trace.n / 2 * step, own = 1 + (step - 2) * (int64_t)trace.n / MAX_SLICES;

		trace.slices[trace.n] = (struct slice){0, ts, ts + own, NT_WORST_OWN};
		trace.slices[trace.n + 1] = (struct slice){0, ts + own, ts + step, NT_WORST_OTHER};
	}
	trace.want.to_ts = MAX_SLICES / 2 * step;
	for (uint64_t part = 3; part < 8; part++) {
		trace.want.length = (uint64_t)trace.want.to_ts / part - 7;
		compare_with_model(&trace);
	}
}

/* Windows that are tiny beside what is the same for long: nobody walks from one to the next. */
static void test_tiny_windows(void **state)
{
	const int64_t year = 365 * 86400 * 1000000000ll;
	static struct trace trace;

	(void)state;
	trace.cpus = 1;
	trace.want = (struct nt_worst_want){.from_ts = 0, .to_ts = year, .length = 3, .most = 4, .cpus = 1};
	trace.slices[0] = (struct slice){0, 0, year / 2, NT_WORST_OTHER};
	trace.slices[1] = (struct slice){0, year / 2, year - 100, NT_WORST_OWN};
	trace.slices[2] = (struct slice){0, year - 100, year, NT_WORST_UNCOVERED};
	trace.n = 3;
	compare_with_model(&trace);
	trace.slices[0].kind = NT_WORST_OWN;
	trace.slices[1].kind = NT_WORST_OTHER;
	compare_with_model(&trace);
	/* The last window is all uncovered, and the cell before may end where it begins. */
	trace.n = 4;
	for (int64_t length = 2; length < 6; length++) {
		for (int64_t end = year; end < year + length; end++) {
			const int64_t own = end - 2 * length - 1;

			trace.slices[0] = (struct slice){0, 0, own, NT_WORST_OTHER};
			trace.slices[1] = (struct slice){0, own, own + 1, NT_WORST_OWN};
			trace.slices[2] = (struct slice){0, own + 1, end - length, NT_WORST_OTHER};
			trace.slices[3] = (struct slice){0, end - length, end, NT_WORST_UNCOVERED};
			trace.want.to_ts = end;
			trace.want.length = (uint64_t)length;
			compare_with_model(&trace);
		}
	}
}

/* All that there can be, at the ends of time. */
static void test_the_longest_time(void **state)
{
	static struct trace trace;
	struct nt_worst_window windows[4];
	struct nt_worst *worst;

	(void)state;
	trace.want = (struct nt_worst_want){.to_ts = INT64_MAX, .length = INT64_MAX, .most = 4, .cpus = 1};
	trace.slices[0] = (struct slice){0, INT64_MIN, INT64_MAX, NT_WORST_OWN};
	trace.n = 1;
	worst = search(&trace);
	assert_int_equal(nt_worst_find(worst, windows), 1);
	assert_int_equal(windows[0].ns, INT64_MAX);
	assert_int_equal(nt_worst_bound(worst), INT64_MAX);
	nt_worst_free(worst);

	trace.want.from_ts = INT64_MAX - 10;
	trace.want.length = 5;
	trace.slices[0].ts = INT64_MAX - 3;
	worst = search(&trace);
	assert_int_equal(nt_worst_find(worst, windows), 1);
	assert_int_equal(windows[0].ns, 3);
	assert_int_equal(windows[0].ts, INT64_MAX - 5);
	nt_worst_free(worst);
}

static void test_nothing(void **state)
{
	const struct nt_worst_want want = {.to_ts = 100, .length = 10, .most = 1, .cpus = 2};
	struct nt_worst_window windows[1];
	struct nt_worst *worst = nt_worst_new(&want);

	(void)state;
	assert_int_equal(nt_worst_find(worst, windows), 0);
	nt_worst_free(worst);
	worst = nt_worst_new(&want);
	assert_int_equal(nt_worst_add(worst, 0, 100, 200, NT_WORST_OWN), 0);
	assert_int_equal(nt_worst_add(worst, 0, 50, 50, NT_WORST_OWN), 0);
	assert_int_equal(nt_worst_add(worst, 1, 0, 100, NT_WORST_LEFT_OUT), 0);
	assert_int_equal(nt_worst_find(worst, windows), 0);
	assert_int_equal(nt_worst_bound(worst), 0);
	nt_worst_free(worst);
	nt_worst_free(NULL);
}

/* Slices that no recording has. */
static void test_refused(void **state)
{
	struct nt_worst_want want = {.to_ts = 1 << 20, .length = 10, .most = 1, .cpus = 1};
	struct nt_worst *worst = nt_worst_new(&want);

	(void)state;
	assert_int_equal(nt_worst_add(worst, 0, 10, 20, NT_WORST_OTHER), 0);
	assert_int_equal(nt_worst_add(worst, 0, 19, 30, NT_WORST_OWN), -ERANGE);
	for (int64_t ts = 20; ts < 3000; ts++)
		assert_int_equal(nt_worst_add(worst, 0, ts, ts + 1, NT_WORST_OWN), 0);
	assert_int_equal(nt_worst_add(worst, 1, 0, 30, NT_WORST_OWN), -ERANGE);
	nt_worst_free(worst);

	want.each_cpu = true;
	worst = nt_worst_new(&want);
	for (uint32_t cpu = 0; cpu < 8192; cpu++)
		assert_int_equal(nt_worst_add(worst, cpu, 0, 30, NT_WORST_OTHER), 0);
	assert_int_equal(nt_worst_add(worst, 8192, 0, 30, NT_WORST_OTHER), -ERANGE);
	nt_worst_free(worst);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_nanosecond),	 cmocka_unit_test(test_many_slices),
		cmocka_unit_test(test_rising),		 cmocka_unit_test(test_tiny_windows),
		cmocka_unit_test(test_the_longest_time), cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency_test.c - the pure parts of `latency` and `export prometheus`: times and choices as people give them, pairs of
 * samples, how far figures may be off, numbers and labels of Prometheus.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/prometheus/sheet.h"
#include "report/export/prometheus/text.h"
#include "report/query/latency/pairing.h"
#include "report/query/latency/series.h"
#include "schema/kind.h"
#include "tests/support/rand.h"

/* ---- times ---- */

static void test_moments(void **state)
{
	static const struct {
		const char *text;
		bool is_wall;
		int64_t ns;
	} good[] = {
		{"2.5", false, 2500000000},
		{"0", false, 0},
		{"3s", false, 3000000000},
		{"300ms", false, 300000000},
		{"1.5us", false, 1500},
		{"7ns", false, 7},
		{"0.1234567899", false, 123456789},
		{"9223372036.854775807", false, INT64_MAX},
		{"1970-01-01T00:00:01Z", true, 1000000000},
		{"2023-11-14T22:13:20.25Z", true, 1700000000250000000},
	};
	static const char *const bad[] = {"",
					  "x",
					  "-1",
					  ".5",
					  "1d",
					  "1 s",
					  "9223372037",
					  "99999999999999999999",
					  "1e9",
					  "2023-11-14T22:13:20",
					  "2023-11-14T22:13Z",
					  "2023-11-14T22:13:2Z",
					  "2023-13-14T22:13:20Z",
					  "1960-01-01T00:00:00Z",
					  "2023-11-14T22:13:20+01"};
	struct nt_moment moment;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(nt_moment_parse(good[i].text, &moment), 0);
		assert_true(moment.is_given);
		assert_int_equal(moment.is_wall, good[i].is_wall);
		assert_int_equal(moment.ns, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(nt_moment_parse(bad[i], &moment), -1);
}

static void test_choices(void **state)
{
	struct nt_latency_args args = {.by = "cgroup", .hooks = {"ip-start", "udp-socket-read"}, .n_hooks = 2};
	struct nt_selection_args selection = {.from = "1", .to = "2"};
	struct nt_latency_choice choice;
	struct nt_window window;
	char error[NT_ERROR_MAX];

	(void)state;
	assert_int_equal(nt_latency_choose(&args, &selection, &choice, error), 0);
	assert_int_equal(choice.by, NT_BY_CGROUP);
	assert_int_equal(choice.hooks, 1u << NT_HOOK_ip_start | 1u << NT_HOOK_udp_socket_read);
	window = nt_selection_window(&choice.selection, 500, 0);
	assert_int_equal(window.from_ts, 1000000500);
	assert_int_equal(window.to_ts, 2000000500);
	selection.to = "2ms";
	assert_int_equal(nt_latency_choose(&args, &selection, &choice, error), -1);
	assert_string_equal(error, "--from is not before --to: there is no time between them.");
	selection.to = "2";
	args.hooks[1] = "udp-read";
	assert_int_equal(nt_latency_choose(&args, &selection, &choice, error), -1);
	assert_string_equal(error,
			    "--hook udp-read: there is no such hook; choose from ip-start, tcp-start, udp-start, "
			    "tcp-socket-enqueued, udp-socket-enqueued, tcp-socket-read, udp-socket-read, tx-queued, "
			    "tx-started.");
	args = (struct nt_latency_args){.between = {"udp-start", "udp-socket-read"}};
	selection = (struct nt_selection_args){.to = "1970-01-01T00:00:02Z"};
	assert_int_equal(nt_latency_choose(&args, &selection, &choice, error), 0);
	window = nt_selection_window(&choice.selection, 700, 1999999900);
	assert_int_equal(window.from_ts, INT64_MIN);
	assert_int_equal(window.to_ts, 800);
	args.between[1] = "ip-start";
	assert_int_equal(nt_latency_choose(&args, &selection, &choice, error), -1);
	for (unsigned int hook = 1; hook < NT_HOOK_COUNT; hook++)
		assert_int_equal(nt_hook_number(nt_hook_name(hook)), hook);
}

/* ---- pairs ---- */

#define MAX_SAMPLES 40

struct either {
	struct nt_pairing_sample sample;
	bool is_second, is_taken;
};

static int by_stamp(const void *a, const void *b)
{
	const struct either *one = a, *two = b;

	if (one->sample.stamp_ns != two->sample.stamp_ns)
		return one->sample.stamp_ns < two->sample.stamp_ns ? -1 : 1;
	return one->sample.ts < two->sample.ts ? -1 : 1;
}

/* The partner by trying all: the oldest of the first hook before it that is free and may be the same packet. */
static struct either *partner(struct either *all, size_t at)
{
	const struct nt_pairing_sample *second = &all[at].sample;

	for (size_t i = 0; i < at; i++) {
		const struct nt_pairing_sample *first = &all[i].sample;

		if (!all[i].is_second && !all[i].is_taken && first->stamp_ns == second->stamp_ns &&
		    (!first->socket_id || !second->socket_id || first->socket_id == second->socket_id))
			return &all[i];
	}
	return NULL;
}

static void test_pairs_against_the_model(void **state)
{
	struct nt_rand rand = {5};

	(void)state;
	for (unsigned int round = 0; round < 2000; round++) {
		struct either all[MAX_SAMPLES] = {0};
		size_t n = nt_rand_below(&rand, MAX_SAMPLES + 1);
		uint64_t first_alone = 0, second_alone = 0;
		struct nt_pairing pairing = {0};

		for (size_t i = 0; i < n; i++)
			all[i] = (struct either){.sample = {.stamp_ns = (int64_t)nt_rand_below(&rand, 6),
							    .ts = (int64_t)i,
							    .socket_id = (int64_t)nt_rand_below(&rand, 3),
							    .is_beside = nt_rand_below(&rand, 4) == 0},
						 .is_second = nt_rand_below(&rand, 2)};
		qsort(all, n, sizeof(*all), by_stamp);
		for (size_t i = 0; i < n; i++) {
			struct nt_pairing_sample first;
			struct either *wanted;

			if (!all[i].is_second) {
				nt_pairing_first(&pairing, &all[i].sample);
				continue;
			}
			wanted = partner(all, i);
			assert_int_equal(nt_pairing_second(&pairing, &all[i].sample, &first), wanted != NULL);
			if (wanted) {
				assert_int_equal(first.ts, wanted->sample.ts);
				wanted->is_taken = true;
			}
			second_alone += !wanted && !all[i].sample.is_beside;
		}
		for (size_t i = 0; i < n; i++)
			first_alone += !all[i].is_second && !all[i].is_taken && !all[i].sample.is_beside;
		nt_pairing_end(&pairing);
		assert_int_equal(pairing.first_alone, first_alone);
		assert_int_equal(pairing.second_alone, second_alone);
	}
}

/* However many carry the same stamp, memory and time are bounded. */
static void test_many_with_one_stamp(void **state)
{
	struct nt_pairing pairing = {0};
	struct nt_pairing_sample sample = {.stamp_ns = 1}, first;

	(void)state;
	for (int64_t i = 0; i < 1000; i++) {
		sample.ts = i;
		nt_pairing_first(&pairing, &sample);
	}
	assert_true(nt_pairing_second(&pairing, &sample, &first));
	assert_int_equal(first.ts, 1000 - NT_PAIRING_WAITING);
	nt_pairing_end(&pairing);
	assert_int_equal(pairing.first_alone, 999);
}

/* ---- how far off ---- */

/* The chance of at most k of n, by the sum of all paths. */
static double at_most(unsigned int n, double p, unsigned int k)
{
	double chances[200] = {1}, sum = 0;

	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int j = i + 1; j > 0; j--)
			chances[j] = chances[j] * (1 - p) + chances[j - 1] * p;
		chances[0] *= 1 - p;
	}
	for (unsigned int i = 0; i <= k; i++)
		sum += chances[i];
	return sum;
}

static void test_ranks_by_definition(void **state)
{
	static const double fractions[] = {0.01, 0.5, 0.9, 0.99, 0.999};

	(void)state;
	for (unsigned int n = 1; n < 150; n += n < 20 ? 1 : 13) {
		for (size_t i = 0; i < sizeof(fractions) / sizeof(fractions[0]); i++) {
			double f = fractions[i];
			uint64_t low, high;

			nt_rank_interval(n, f, &low, &high);
			assert_true(low < high);
			/* Sure enough, and no closer ranks would be. */
			assert_true(low == 0 || at_most(n, f, (unsigned int)low - 1) <= 0.025 + 1e-9);
			assert_true(low == n || at_most(n, f, (unsigned int)low) > 0.025 - 1e-9);
			assert_true(high == n + 1ull || 1 - at_most(n, f, (unsigned int)high - 1) <= 0.025 + 1e-9);
			assert_true(high == 1 || 1 - at_most(n, f, (unsigned int)high - 2) > 0.025 - 1e-9);
		}
	}
}

static void test_ranks_of_many(void **state)
{
	uint64_t low, high;

	(void)state;
	nt_rank_interval(1000000, 0.5, &low, &high);
	assert_in_range(low, 499010, 499030); /* 500,000 - 1.96 * 500 */
	assert_in_range(high, 500970, 500990);
	nt_rank_interval(1000000, 0, &low, &high);
	assert_int_equal(low, 0);
	nt_rank_interval(0, 0.5, &low, &high);
	assert_int_equal(high, 1);
}

#define PACKETS 20000
#define ROUNDS 400

static int compare(const void *a, const void *b)
{
	int64_t one = *(const int64_t *)a, two = *(const int64_t *)b;

	return (one > two) - (one < two);
}

struct seen {
	double count_squares, count_errors, mean_squares, mean_errors; /* what was off, what was said, squared */
	unsigned int within; /* quantiles that were in their interval */
};

/* Samples the packets with a chance of one in 20; a quarter of them, by chance, are of the group that is asked for. */
static void sample_once(struct nt_rand *rand, const int64_t *packets, const bool *is_ours, struct seen *seen,
			const int64_t *truth, double mean, double count)
{
	struct nt_series_set set;
	struct nt_figures figures;
	double gap = 0;

	assert_int_equal(nt_series_set_init(&set, 2, false), 0);
	for (size_t i = 0; i < PACKETS; i++) {
		struct nt_latency_sample sample = {
			.hook = NT_HOOK_ip_start, .group = is_ours[i], .ns = packets[i], .is_known = true};

		gap++;
		if (nt_rand_below(rand, 20))
			continue;
		sample.weight = gap;
		gap = 0;
		assert_int_equal(nt_series_set_add(&set, &sample), 0);
	}
	nt_series_figures(&set, set.by_hook[NT_HOOK_ip_start][1], &figures);
	assert_true(figures.is_sampled);
	seen->count_squares += (figures.packets - count) * (figures.packets - count);
	seen->count_errors += figures.packets_error * figures.packets_error;
	seen->mean_squares += (figures.mean - mean) * (figures.mean - mean);
	seen->mean_errors += figures.mean_error * figures.mean_error;
	for (unsigned int i = 0; i < NT_QUANTILES; i++)
		seen->within += (!figures.intervals[i].has_low || figures.intervals[i].low <= truth[i]) &&
				(!figures.intervals[i].has_high || figures.intervals[i].high >= truth[i]);
	nt_series_set_release(&set);
}

/* The error that is told is the true one, as many recordings of the same packets show. */
static void test_errors_by_simulation(void **state)
{
	static int64_t packets[PACKETS], ours[PACKETS];
	static bool is_ours[PACKETS];
	struct nt_rand rand = {11};
	int64_t truth[NT_QUANTILES];
	struct seen seen = {0};
	double mean = 0;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < PACKETS; i++) {
		packets[i] = (int64_t)(1000 / (1 - (double)nt_rand_below(&rand, 1000000) / 1000001));
		packets[i] = packets[i] > 100000 ? 100000 : packets[i];
		is_ours[i] = !nt_rand_below(&rand, 4);
		if (is_ours[i]) {
			ours[n++] = packets[i];
			mean += (double)packets[i];
		}
	}
	mean /= (double)n;
	qsort(ours, n, sizeof(*ours), compare);
	for (unsigned int i = 0; i < NT_QUANTILES; i++)
		truth[i] = ours[(size_t)(ceil(nt_latency_quantiles[i] * (double)n)) - 1];
	for (unsigned int round = 0; round < ROUNDS; round++)
		sample_once(&rand, packets, is_ours, &seen, truth, mean, (double)n);
	printf("squares of errors, seen / said: packets %.3f, mean %.3f; quantiles within their interval %.4f\n",
	       seen.count_squares / seen.count_errors, seen.mean_squares / seen.mean_errors,
	       (double)seen.within / (ROUNDS * NT_QUANTILES));
	assert_true(seen.count_squares / seen.count_errors > 0.75 && seen.count_squares / seen.count_errors < 1.33);
	assert_true(seen.mean_squares / seen.mean_errors > 0.75 && seen.mean_squares / seen.mean_errors < 1.33);
	assert_true((double)seen.within / (ROUNDS * NT_QUANTILES) > 0.93);
}

/* The packets since the last sample of each CPU are not counted: what is said of that is so. */
static void test_edges_by_simulation(void **state)
{
	struct nt_rand rand = {13};
	double squares = 0, said = 0;

	(void)state;
	for (unsigned int round = 0; round < 1000; round++) {
		struct nt_samples samples = {0};
		struct nt_weights hook = {0};
		const struct nt_counted counted = {.share = 1, .edges = 4};
		double error;

		for (unsigned int cpu = 0; cpu < 4; cpu++) {
			double gap = 0;

			for (unsigned int i = 0; i < 1000; i++) {
				gap++;
				if (nt_rand_below(&rand, 20))
					continue;
				assert_int_equal(nt_samples_add(&samples, 1, gap), 0);
				nt_weights_add(&hook, gap);
				gap = 0;
			}
		}
		error = nt_count_error(&samples, &hook, &counted);
		squares += (samples.weight - 4000) * (samples.weight - 4000);
		said += error * error;
		nt_samples_release(&samples);
	}
	printf("squares of errors, seen / said: %.3f\n", squares / said);
	assert_true(squares / said > 0.75 && squares / said < 1.33);
}

/*
 * Recordings of packets as sampling sees them, at gaps that each program counts on each CPU: `rejected` of 100 are
 * drawn and then left out without a record, `late` of 100 are samples that the figures leave out, `ours` of 100 of the
 * rest are of the group that is asked for; or groups are CPUs.
 */
struct recordings {
	unsigned int rejected, late, ours;
	unsigned int cpus, programs;
	unsigned int before, n; /* packets of each of these, before the time that is asked for and in it */
	unsigned int rate; /* one of how many is a sample */
	bool is_by_cpu;
};

/* Gives how many packets of group 1 there were. */
static double draw_gaps(struct nt_rand *rand, const struct recordings *recordings, unsigned int cpu,
			struct nt_series_set *set, uint64_t *judged)
{
	double count = 0, gap = 0;

	for (unsigned int i = 0; i < recordings->before + recordings->n; i++) {
		struct nt_latency_sample sample = {.hook = NT_HOOK_ip_start, .ns = 1, .is_known = true, .group = cpu};
		unsigned int kind = (unsigned int)nt_rand_below(rand, 100);
		bool is_rejected = kind < recordings->rejected;

		sample.is_hol = kind < recordings->rejected + recordings->late;
		if (!recordings->is_by_cpu)
			sample.group = nt_rand_below(rand, 100) < recordings->ours;
		count += i >= recordings->before && !sample.is_hol && sample.group == 1;
		gap++;
		if (nt_rand_below(rand, recordings->rate))
			continue;
		sample.weight = gap;
		gap = 0;
		*judged += i >= recordings->before;
		if (i >= recordings->before && !is_rejected)
			assert_int_equal(nt_series_set_add(set, &sample), 0);
	}
	return count;
}

static double draw_all(struct nt_rand *rand, const struct recordings *recordings, struct nt_series_set *set)
{
	uint64_t judged = 0;
	double count = 0;

	for (unsigned int i = 0; i < recordings->cpus * recordings->programs; i++)
		count += draw_gaps(rand, recordings, i % recordings->cpus, set, &judged);
	set->cpus = recordings->cpus;
	set->programs[NT_HOOK_ip_start] = recordings->programs;
	set->is_cut = recordings->before > 0;
	set->is_by_cpu = recordings->is_by_cpu;
	set->kept[NT_HOOK_ip_start] = set->weights[NT_HOOK_ip_start].n / (double)judged;
	return count;
}

/* The squares of how far the number of packets was off, as a share of what was said. */
static double seen_to_said(const struct recordings *recordings, uint64_t seed)
{
	struct nt_rand rand = {seed};
	double squares = 0, said = 0;

	for (unsigned int round = 0; round < 1000; round++) {
		struct nt_series_set set;
		struct nt_figures figures;
		double count;

		assert_int_equal(nt_series_set_init(&set, 8, false), 0);
		count = draw_all(&rand, recordings, &set);
		nt_series_figures(&set, set.by_hook[NT_HOOK_ip_start][1], &figures);
		squares += (figures.packets - count) * (figures.packets - count);
		said += figures.packets_error * figures.packets_error;
		nt_series_set_release(&set);
	}
	printf("squares of errors, seen / said: %.3f\n", squares / said);
	return squares / said;
}

static bool is_near_one(double ratio)
{
	return ratio > 0.75 && ratio < 1.33;
}

/* Sampling draws first: what is rejected afterwards takes its weight along. */
static void test_errors_with_rejects(void **state)
{
	static const struct recordings all[] = {
		{.rejected = 50, .ours = 100, .cpus = 2, .programs = 1, .n = 2000, .rate = 20},
		{.late = 50, .ours = 100, .cpus = 2, .programs = 1, .n = 2000, .rate = 20},
		{.rejected = 30, .late = 30, .ours = 50, .cpus = 2, .programs = 1, .n = 2000, .rate = 20},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_true(is_near_one(seen_to_said(&all[i], 17 + i)));
}

/* Where many CPUs and programs see few packets each, what is cut at the edges is the greater part. */
static void test_errors_of_cut_stretches(void **state)
{
	static const struct recordings all[] = {
		{.ours = 30, .cpus = 16, .programs = 1, .n = 100, .rate = 20},
		{.ours = 100, .cpus = 4, .programs = 2, .n = 300, .rate = 20},
		{.ours = 100, .cpus = 8, .programs = 1, .before = 200, .n = 300, .rate = 20},
		{.ours = 30, .cpus = 4, .programs = 2, .before = 200, .n = 300, .rate = 20},
		{.ours = 60, .rejected = 40, .cpus = 8, .programs = 1, .n = 300, .rate = 20},
		{.is_by_cpu = true, .cpus = 8, .programs = 1, .n = 600, .rate = 20},
		{.is_by_cpu = true, .cpus = 8, .programs = 2, .n = 600, .rate = 20},
		{.is_by_cpu = true, .rejected = 40, .cpus = 8, .programs = 1, .before = 200, .n = 600, .rate = 20},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_true(is_near_one(seen_to_said(&all[i], 23 + i)));
}

static void add(struct nt_series_set *set, uint32_t group, int64_t ns, double weight)
{
	struct nt_latency_sample sample = {
		.hook = NT_HOOK_ip_start, .group = group, .ns = ns, .weight = weight, .is_known = true};

	assert_int_equal(nt_series_set_add(set, &sample), 0);
}

static void expect_order(struct nt_series_set *set, bool by_number, const uint32_t *groups, size_t n)
{
	assert_int_equal(set->n, n);
	assert_int_equal(nt_series_set_order(set, by_number, SIZE_MAX), 0);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(set->all[i]->group, groups[i]);
}

/* The group that is none stands last, however many packets it has. */
static void test_order_of_groups(void **state)
{
	static const uint32_t by_packets[] = {2, 3, 1, 0}, by_number[] = {1, 2, 3, 0};

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct nt_series_set set;

		assert_int_equal(nt_series_set_init(&set, 4, false), 0);
		add(&set, 0, 1, 9);
		add(&set, 1, 1, 1);
		add(&set, 2, 1, 3);
		add(&set, 3, 1, 2);
		expect_order(&set, i, i ? by_number : by_packets, 4);
		nt_series_set_release(&set);
	}
}

#define MANY_GROUPS 12

struct drawn_sample {
	uint32_t group;
	int64_t ns;
	double weight;
	bool is_hol, is_known;
};

static void add_drawn(struct nt_series_set *set, const struct drawn_sample *drawn, uint32_t group)
{
	struct nt_latency_sample sample = {.hook = NT_HOOK_ip_start,
					   .group = group,
					   .ns = drawn->ns,
					   .weight = drawn->weight,
					   .is_hol = drawn->is_hol,
					   .is_known = drawn->is_known};

	assert_int_equal(nt_series_set_add(set, &sample), 0);
}

static void expect_same_figures(const struct nt_series_set *set, struct nt_series *series,
				const struct nt_series_set *model_set, struct nt_series *model)
{
	struct nt_figures figures, expected;

	nt_series_figures(set, series, &figures);
	nt_series_figures(model_set, model, &expected);
	assert_int_equal(series->hol, model->hol);
	assert_int_equal(series->unknown, model->unknown);
	assert_int_equal(figures.samples, expected.samples);
	assert_true(figures.packets == expected.packets);
	assert_true(fabs(figures.packets_error - expected.packets_error) <= 1e-9 * expected.packets_error);
	assert_int_equal(figures.any, expected.any);
	if (!figures.any)
		return;
	/* Sums of reals in another order are the same but for rounding. */
	assert_true(figures.mean == expected.mean);
	assert_true(fabs(figures.mean_error - expected.mean_error) <= 1e-9 * expected.mean_error);
	assert_int_equal(figures.min, expected.min);
	assert_int_equal(figures.max, expected.max);
	for (unsigned int i = 0; i < NT_QUANTILES; i++) {
		assert_int_equal(figures.quantiles[i], expected.quantiles[i]);
		assert_int_equal(figures.intervals[i].low, expected.intervals[i].low);
		assert_int_equal(figures.intervals[i].high, expected.intervals[i].high);
	}
}

/* The series of a group; NULL: it has none. */
static struct nt_series *series_of(const struct nt_series_set *set, uint32_t group)
{
	for (size_t i = 0; i < set->n; i++) {
		if (set->all[i]->group == group)
			return set->all[i];
	}
	return NULL;
}

/* All that are not among the first, against a set in which they were one group from the beginning. */
static void try_others(struct nt_rand *rand, size_t most, size_t room, bool is_by_cpu)
{
	static struct drawn_sample drawn[3000];
	struct nt_series_set set, model;
	double packets[MANY_GROUPS] = {0}, least = INFINITY, greatest = 0;
	struct nt_series *others;
	uint32_t n_others = 0;

	assert_int_equal(nt_series_set_init(&set, MANY_GROUPS, false), 0);
	assert_int_equal(nt_series_set_init(&model, MANY_GROUPS + 1, false), 0);
	set.pool.most = room;
	set.is_by_cpu = model.is_by_cpu = is_by_cpu;
	set.cpus = model.cpus = MANY_GROUPS;
	for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++) {
		drawn[i] = (struct drawn_sample){
			.group = (uint32_t)nt_rand_below(rand, nt_rand_below(rand, MANY_GROUPS) + 1),
			.ns = (int64_t)nt_rand_below(rand, 1000),
			.weight = (double)(nt_rand_below(rand, 2) ? 1 : 1 + nt_rand_below(rand, 5)),
			.is_hol = !nt_rand_below(rand, 20),
			.is_known = nt_rand_below(rand, 20) > 0,
		};
		add_drawn(&set, &drawn[i], drawn[i].group);
		if (drawn[i].is_known && !drawn[i].is_hol)
			packets[drawn[i].group] += drawn[i].weight;
	}
	assert_int_equal(nt_series_set_order(&set, is_by_cpu, most), 0);
	for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++)
		add_drawn(&model, &drawn[i], series_of(&set, drawn[i].group) ? drawn[i].group : MANY_GROUPS);
	assert_int_equal(nt_series_set_order(&model, is_by_cpu, SIZE_MAX), 0);
	assert_int_equal(set.n, model.n);
	assert_int_equal(set.n, most + 2);
	assert_int_equal(set.all[most]->group, MANY_GROUPS);
	assert_int_equal(set.all[most + 1]->group, 0);

	others = series_of(&model, MANY_GROUPS);
	for (uint32_t group = 0; group < MANY_GROUPS; group++) {
		struct nt_series *series = series_of(&set, group);

		if (series)
			expect_same_figures(&set, series, &model, series_of(&model, group));
		if (series && group && packets[group] < least)
			least = packets[group];
		if (!series && packets[group] > greatest)
			greatest = packets[group];
		n_others += !series;
	}
	assert_true(least >= greatest);
	assert_int_equal(set.all[most]->of_groups, n_others);
	/* Each CPU counts its own gaps; so does each program. */
	model.programs[NT_HOOK_ip_start] = is_by_cpu ? n_others : 1;
	expect_same_figures(&set, set.all[most], &model, others);
	nt_series_set_release(&set);
	nt_series_set_release(&model);
}

static void test_others_against_one_group(void **state)
{
	struct nt_rand rand = {.state = 31};

	(void)state;
	for (unsigned int i = 0; i < 40; i++)
		try_others(&rand, 1 + nt_rand_below(&rand, MANY_GROUPS - 3), i % 2 ? 64 : 0, i % 4 > 1);
}

/* Packets that pass two hooks, each of which samples for itself: a pair stands for as many as both weights make. */
static double pair_once(struct nt_rand *rand, unsigned int n, double *error)
{
	struct nt_series_set set;
	struct nt_figures figures;
	double gaps[2] = {0};

	assert_int_equal(nt_series_set_init(&set, 1, false), 0);
	set.cpus = 1;
	set.is_pairs = true;
	for (unsigned int i = 0; i < n; i++) {
		double weight = 1;
		unsigned int drawn = 0;

		for (unsigned int hook = 0; hook < 2; hook++) {
			gaps[hook]++;
			if (nt_rand_below(rand, 10))
				continue;
			drawn++;
			weight *= gaps[hook];
			gaps[hook] = 0;
		}
		if (drawn == 2)
			add(&set, 0, 1, weight);
	}
	nt_series_figures(&set, set.by_hook[NT_HOOK_ip_start][0], &figures);
	*error = figures.packets_error;
	nt_series_set_release(&set);
	return figures.packets;
}

static void test_errors_of_pairs(void **state)
{
	struct nt_rand rand = {41};
	double squares = 0, said = 0;

	(void)state;
	for (unsigned int round = 0; round < 500; round++) {
		double error, off = pair_once(&rand, 20000, &error) - 20000;

		squares += off * off;
		said += error * error;
	}
	printf("squares of errors, seen / said: %.3f\n", squares / said);
	assert_true(is_near_one(squares / said));
}

static void test_no_error_where_all_are_samples(void **state)
{
	struct nt_samples samples = {0};
	struct nt_weights hook = {0};
	const struct nt_counted counted = {.share = 0.5, .edges = 2};

	(void)state;
	for (int64_t i = 1; i <= 100; i++) {
		assert_int_equal(nt_samples_add(&samples, i, 1), 0);
		nt_weights_add(&hook, 1);
	}
	assert_false(nt_is_sampled(&hook));
	assert_true(nt_count_error(&samples, &hook, &counted) == 0);
	assert_true(nt_mean_error(&samples, &hook, 50) == 0);
	assert_int_equal(nt_quantile_interval(&samples, &hook, 0.9).low, 90);
	assert_int_equal(nt_quantile_interval(&samples, &hook, 0.9).high, 90);
	nt_samples_release(&samples);
}

/* Samples that happen to weigh 1 are no sign that nothing was left out: the hook's other samples say so. */
static void test_errors_of_small_groups(void **state)
{
	struct nt_series_set set;
	struct nt_figures figures;

	(void)state;
	assert_int_equal(nt_series_set_init(&set, 3, false), 0);
	for (int64_t i = 0; i < 998; i++)
		add(&set, 0, i, 21);
	add(&set, 1, 100, 1);
	add(&set, 1, 200, 1);
	add(&set, 2, 100, 1);
	nt_series_figures(&set, set.by_hook[NT_HOOK_ip_start][1], &figures);
	assert_true(figures.is_sampled && figures.has_mean_error);
	/* Of 420 left out with each sample, 2 samples; and the mean of two of a variance of 5000. */
	assert_true(figures.packets_error > 28 && figures.packets_error < 30);
	assert_true(figures.mean_error > 48 && figures.mean_error < 50);
	assert_false(figures.intervals[0].has_low || figures.intervals[0].has_high);
	nt_series_figures(&set, set.by_hook[NT_HOOK_ip_start][2], &figures);
	assert_true(figures.is_sampled && figures.packets_error > 20);
	assert_false(figures.has_mean_error);
	/* Weights that no recorder gives. */
	add(&set, 2, 100, 0x1p64);
	nt_series_figures(&set, set.by_hook[NT_HOOK_ip_start][2], &figures);
	assert_true(figures.has_mean_error && figures.mean_error == 0);
	nt_series_set_release(&set);
}

/* ---- Prometheus ---- */

static void test_numbers_and_labels(void **state)
{
	char text[32], *label;
	size_t size;
	FILE *out = open_memstream(&label, &size);

	(void)state;
	assert_string_equal(nt_prometheus_seconds(text, 1), "1e-09");
	assert_string_equal(nt_prometheus_seconds(text, 17179869184), "17.179869184");
	assert_string_equal(nt_prometheus_seconds(text, 100000000), "0.1");
	for (unsigned int octave = 0; octave <= NT_PROMETHEUS_OCTAVES; octave++)
		assert_true(strtod(nt_prometheus_seconds(text, (double)(1ull << octave)), NULL) ==
			    (double)(1ull << octave) / 1e9);
	nt_prometheus_escape(out, "a\"b\\c\nd\xff \xc3\xa4");
	fclose(out);
	assert_string_equal(label, "a\\\"b\\\\c\\nd\xef\xbf\xbd \xc3\xa4");
	free(label);
}

/* As many CPUs as may be named, the longest numbers, and one more. */
static void test_many_ranges(void)
{
	char cpus[NT_MAX_CPU_RANGES * 22 + 22], error[NT_ERROR_MAX], sql[NT_CPUS_SQL_MAX];
	struct nt_selection_args args = {.cpus = cpus};
	struct nt_selection selection;
	size_t at = 0;

	for (unsigned int i = 0; i < NT_MAX_CPU_RANGES; i++)
		at += (size_t)snprintf(cpus + at, sizeof(cpus) - at, "%s4000000000-4000000001", i ? "," : "");
	assert_int_equal(nt_select(&args, &selection, error), 0);
	assert_int_equal(selection.n_cpus, NT_MAX_CPU_RANGES);
	nt_selection_cpus_sql(&selection, sql);
	assert_string_equal(sql + strlen(sql) - 13, " 4000000001))");
	snprintf(cpus + at, sizeof(cpus) - at, ",1");
	assert_int_equal(nt_select(&args, &selection, error), -1);
}

static void test_selections(void **state)
{
	static const char *const bad[] = {"",	 "x",  "1,", "3-2",	    "-1",	  "1;2",
					  "2-x", "2-", ",1", "99999999999", "4294967295", "0-4294967295"};
	struct nt_selection_args args = {.cpus = "0,2-5,7-7,4294967294", .process = "42"};
	struct nt_selection selection;
	char error[NT_ERROR_MAX], sql[NT_CPUS_SQL_MAX];

	(void)state;
	assert_int_equal(nt_select(&args, &selection, error), 0);
	for (uint32_t cpu = 0; cpu < 9; cpu++)
		assert_int_equal(nt_selection_has_cpu(&selection, cpu), cpu == 0 || (cpu >= 2 && cpu <= 5) || cpu == 7);
	assert_true(nt_selection_has_cpu(&selection, UINT32_MAX - 1));
	assert_string_equal(nt_selection_cpus_sql(&selection, sql),
			    "(cpu BETWEEN 0 AND 4294967294 AND (0 OR cpu BETWEEN 0 AND 0 OR cpu BETWEEN 2 AND 5 OR cpu "
			    "BETWEEN 7 AND 7 OR cpu BETWEEN "
			    "4294967294 AND 4294967294))");
	assert_int_equal(nt_selection_count_cpus(&selection, 4), 3);
	assert_int_equal(nt_selection_count_cpus(&selection, 100), 6);
	assert_true(nt_selection_has_process(&selection, 42, NULL));
	assert_true(nt_selection_has_process(&selection, -1, "42"));
	assert_false(nt_selection_has_process(&selection, -1, NULL));
	assert_false(nt_selection_has_process(&selection, 4, "nginx"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		args.cpus = bad[i];
		assert_int_equal(nt_select(&args, &selection, error), -1);
	}
	test_many_ranges();
	args = (struct nt_selection_args){.process = ""};
	assert_int_equal(nt_select(&args, &selection, error), -1);
	args.process = NULL;
	assert_int_equal(nt_select(&args, &selection, error), 0);
	assert_true(nt_selection_has_cpu(&selection, 77) && nt_selection_has_process(&selection, -1, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moments),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_selections),
		cmocka_unit_test(test_pairs_against_the_model),
		cmocka_unit_test(test_many_with_one_stamp),
		cmocka_unit_test(test_ranks_by_definition),
		cmocka_unit_test(test_ranks_of_many),
		cmocka_unit_test(test_errors_by_simulation),
		cmocka_unit_test(test_edges_by_simulation),
		cmocka_unit_test(test_errors_with_rejects),
		cmocka_unit_test(test_errors_of_cut_stretches),
		cmocka_unit_test(test_order_of_groups),
		cmocka_unit_test(test_others_against_one_group),
		cmocka_unit_test(test_errors_of_pairs),
		cmocka_unit_test(test_no_error_where_all_are_samples),
		cmocka_unit_test(test_errors_of_small_groups),
		cmocka_unit_test(test_numbers_and_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * flow_estimates_test.c - probe flows without a kernel: the draws, the sketch and the flows that were sampled most, as
 * the BPF programs keep them, and the estimates and sums of the reader, against exact counts of every packet.
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

#include "record/gaps.h"
#include "report/rows/flow_times.h"
#include "tests/support/rand.h"

#define N_FLOWS (1u << 20)
#define MILLION 1000000u
#define N_SETS (1u << NT_SAMPLED_SET_BITS)
#define N_PLACES (N_SETS * NT_SAMPLED_WAYS)

static struct nt_rand rnd;

/* ---- traffic: flows by number, each as often as its weight says (Walker's alias method) ---- */

static struct {
	uint32_t limit[N_FLOWS], other[N_FLOWS];
} * drawn_from;
static uint32_t *exact; /* packets, by flow */

/* The flow number i has the weight 1 / (i + 1)^exponent. */
static void set_up_flows(double exponent)
{
	double *weights = malloc(N_FLOWS * sizeof(*weights)), sum = 0;
	uint32_t *small = malloc(N_FLOWS * sizeof(*small)), *large = malloc(N_FLOWS * sizeof(*large));
	uint32_t n_small = 0, n_large = 0;

	for (uint32_t i = 0; i < N_FLOWS; i++)
		sum += weights[i] = pow(i + 1, -exponent);
	for (uint32_t i = 0; i < N_FLOWS; i++) {
		weights[i] *= N_FLOWS / sum;
		drawn_from->limit[i] = UINT32_MAX;
		drawn_from->other[i] = i;
		*(weights[i] < 1 ? &small[n_small++] : &large[n_large++]) = i;
	}
	while (n_small && n_large) {
		const uint32_t less = small[--n_small], more = large[n_large - 1];

		drawn_from->limit[less] = (uint32_t)(weights[less] * UINT32_MAX);
		drawn_from->other[less] = more;
		weights[more] -= 1 - weights[less];
		if (weights[more] < 1) {
			n_large--;
			small[n_small++] = more;
		}
	}
	free(weights);
	free(small);
	free(large);
}

/* Without checks: this runs a hundred million times. */
__attribute__((no_sanitize("address", "undefined"))) static inline uint32_t next_flow(uint64_t *state)
{
	uint64_t number;
	uint32_t flow;

	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	number = *state * 0x2545f4914f6cdd1dull;
	flow = number & (N_FLOWS - 1);
	if (number >> 32 > drawn_from->limit[flow])
		flow = drawn_from->other[flow];
	exact[flow]++;
	return flow;
}

static uint32_t bytes_of(uint32_t flow)
{
	return 64 + flow * 7919 % 1400;
}

/* ---- one second of one CPU ---- */

static struct {
	struct nt_sketch_shape shape;
	uint32_t gaps[NT_GAPS];
	struct nt_sketch_draw draw;
	struct nt_sketch_cell cells[NT_SKETCH_MAX_CELLS];
	struct {
		uint64_t samples;
		struct nt_sampled_set sets[N_SETS];
	} sampled; /* struct nt_sampled_flows */
	struct nt_flow_hash hashes[2];
	uint64_t updates[NT_SKETCH_MAX_ROWS]; /* by row */
	uint32_t samples_of[N_FLOWS]; /* exactly */
} * cpu;

static uint32_t random_number(void *arg)
{
	(void)arg;
	return (uint32_t)nt_rand_u64(&rnd);
}

static void begin(double p)
{
	uint64_t *words = (uint64_t *)cpu->hashes;

	memset(cpu, 0, sizeof(*cpu));
	memset(exact, 0, N_FLOWS * sizeof(*exact));
	cpu->shape = (struct nt_sketch_shape){.rows = 4, .column_bits = 9};
	nt_gaps_draw(p, cpu->gaps, random_number, NULL);
	cpu->draw.left = cpu->gaps[0];
	for (size_t i = 0; i < sizeof(cpu->hashes) / (sizeof(*words)); i++)
		words[i] = nt_rand_u64(&rnd);
}

static struct nt_flow_tuple tuple_of(uint32_t flow)
{
	return (struct nt_flow_tuple){.src = {flow},
				      .dst = {1},
				      .device = 1,
				      .ports = 80 << 16,
				      .ethertype = 0x800,
				      .family = 2,
				      .protocol = 6};
}

static uint64_t hash_of(const struct nt_flow_tuple *tuple)
{
	return nt_sketch_hash(nt_flow_key(cpu->hashes, tuple, NT_MANY_NOT));
}

static void sample(uint32_t flow, uint32_t rows)
{
	const struct nt_flow_tuple tuple = tuple_of(flow);
	const uint64_t hash = hash_of(&tuple);
	const uint32_t n = (uint32_t)__builtin_popcount(rows);

	for (uint32_t row = 0; row < cpu->shape.rows; row++) {
		if (!(rows >> row & 1))
			continue;
		cpu->updates[row]++;
		nt_sketch_add(&cpu->cells[nt_sketch_cell(&cpu->shape, hash, row)],
			      nt_sketch_is_negative(&cpu->shape, hash, row), 1, bytes_of(flow));
	}
	cpu->samples_of[flow] += n;
	cpu->sampled.samples += n;
	nt_sampled_add(&cpu->sampled.sets[nt_sampled_set_of(hash, NT_SAMPLED_SET_BITS)], &tuple, n, 1, bytes_of(flow));
}

static void count(double p, uint32_t n_packets)
{
	uint64_t state = nt_rand_u64(&rnd) | 1;

	begin(p);
	for (uint32_t i = 0; i < n_packets; i++) {
		const uint32_t flow = next_flow(&state);
		const uint32_t rows = nt_sketch_draw_rows(&cpu->draw, cpu->gaps, cpu->shape.rows);

		if (rows)
			sample(flow, rows);
	}
}

/* ---- what the reader makes of it ---- */

struct named {
	uint32_t flow;
	struct nt_flow_estimate estimate;
};

static int by_packets(const void *a, const void *b)
{
	const struct named *left = a, *right = b;

	return (left->estimate.packets < right->estimate.packets) - (left->estimate.packets > right->estimate.packets);
}

/* All flows that have a place, the largest first. Gives how many. */
static uint32_t estimate(double p, struct named *named)
{
	struct nt_flow_estimates estimates;
	char text[32];
	uint32_t n = 0;

	snprintf(text, sizeof(text), "%g", p);
	assert_int_equal(nt_flow_estimates_init(&estimates, text, "4x512"), 0);
	for (uint32_t i = 0; i < 4 * 512; i++)
		assert_true(nt_flow_estimates_add(&estimates, i, cpu->cells[i].packets, cpu->cells[i].bytes));
	for (uint32_t i = 0; i < N_PLACES; i++) {
		const struct nt_sampled_flow *flow = &cpu->sampled.sets[i / NT_SAMPLED_WAYS].ways[i % NT_SAMPLED_WAYS];
		const struct nt_flow_samples samples = {.packets = flow->packets,
							.missed = flow->missed,
							.bytes = flow->bytes,
							.most_packets = flow->most_packets,
							.most_bytes = flow->most_bytes};

		if (!flow->packets)
			continue;
		named[n].flow = (uint32_t)flow->tuple.src[0];
		nt_flow_estimates_of(&estimates, hash_of(&flow->tuple), &samples, &named[n++].estimate);
	}
	nt_flow_estimates_release(&estimates);
	qsort(named, n, sizeof(*named), by_packets);
	return n;
}

static uint32_t rank_of(uint32_t flow)
{
	uint32_t rank = 0;

	for (uint32_t i = 0; i < 1000; i++)
		rank += exact[i] > exact[flow];
	return rank;
}

/* How many of the truly largest `most` are among the first `most`. */
static uint32_t found(const struct named *named, uint32_t most)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < most; i++)
		n += rank_of(named[i].flow) < most;
	return n;
}

static int ascending(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static double median_error(const struct named *named)
{
	double errors[30];

	for (int i = 0; i < 30; i++)
		errors[i] = fabs((double)named[i].estimate.packets / exact[named[i].flow] - 1);
	qsort(errors, 30, sizeof(errors[0]), ascending);
	return errors[15];
}

/* ---- the tests ---- */

/* The obvious way: number all updates, and make those that the gaps end at. */
static void draws_are_the_gaps(void **state)
{
	(void)state;
	for (int run = 0; run < 200; run++) {
		const uint32_t n_rows = 1u << nt_rand_below(&rnd, 4);
		struct nt_sketch_draw draw = {.at = (uint32_t)nt_rand_u64(&rnd)}, gap = draw;
		uint64_t next, number = 0;

		nt_gaps_draw(run % 4 ? 1.0 / (1 + (double)nt_rand_below(&rnd, 30)) : 1, cpu->gaps, random_number, NULL);
		draw.left = nt_sketch_next_gap(&draw, cpu->gaps);
		next = nt_sketch_next_gap(&gap, cpu->gaps);
		for (int packet = 0; packet < 2000; packet++) {
			uint32_t rows = 0;

			for (uint32_t row = 0; row < n_rows; row++) {
				if (++number != next)
					continue;
				rows |= 1u << row;
				next += nt_sketch_next_gap(&gap, cpu->gaps);
			}
			assert_int_equal(nt_sketch_draw_rows(&draw, cpu->gaps, n_rows), rows);
		}
	}
}

/* Within chance, the carry from packet to packet prefers no row. */
static void rows_are_sampled_alike(double p, uint32_t n_packets)
{
	for (uint32_t row = 0; row < cpu->shape.rows; row++) {
		const double expected = n_packets * p, sigma = sqrt(n_packets * p * (1 - p));

		assert_true(fabs((double)cpu->updates[row] - expected) <= 5 * sigma);
	}
}

/* A flow was sampled as often as its place says, and so often more, at most, as may have been missed; so was one
 * without. */
static void places_bound_the_samples(void)
{
	static uint8_t has_place[N_FLOWS];
	uint32_t least[N_SETS];

	memset(has_place, 0, sizeof(has_place));
	for (uint32_t set = 0; set < N_SETS; set++) {
		least[set] = UINT32_MAX;
		for (uint32_t way = 0; way < NT_SAMPLED_WAYS; way++) {
			const struct nt_sampled_flow *flow = &cpu->sampled.sets[set].ways[way];
			const uint32_t number = (uint32_t)flow->tuple.src[0];

			if (flow->packets + flow->missed < least[set])
				least[set] = flow->packets + flow->missed;
			if (!flow->packets)
				continue;
			has_place[number] = true;
			assert_in_range(cpu->samples_of[number], flow->packets, flow->packets + flow->missed);
		}
	}
	for (uint32_t flow = 0; flow < N_FLOWS; flow++) {
		const struct nt_flow_tuple tuple = tuple_of(flow);

		if (cpu->samples_of[flow] && !has_place[flow])
			assert_true(cpu->samples_of[flow] <=
				    least[nt_sampled_set_of(hash_of(&tuple), NT_SAMPLED_SET_BITS)]);
	}
}

static void ten_million_packets_of_a_million_flows(void **state)
{
	static struct named named[N_PLACES];

	(void)state;
	set_up_flows(1);
	for (int run = 0; run < 3; run++) {
		count(0.01, 10 * MILLION);
		rows_are_sampled_alike(0.01, 10 * MILLION);
		places_bound_the_samples();
		assert_true(estimate(0.01, named) >= 30);
		print_message("of 10: %u, of 20: %u, of 30: %u; median error %.2f %%\n", found(named, 10),
			      found(named, 20), found(named, 30), 100 * median_error(named));
		assert_int_equal(found(named, 10), 10);
		assert_true(found(named, 20) >= 19);
		assert_true(found(named, 30) >= 28);
		assert_true(median_error(named) <= 0.1);
	}
}

static uint32_t held(const struct named *named, uint32_t n)
{
	uint32_t n_held = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct nt_flow_estimate *is = &named[i].estimate;
		const uint64_t packets = exact[named[i].flow], bytes = packets * bytes_of(named[i].flow);

		assert_true(is->packets_low <= is->packets && is->packets <= is->packets_high);
		assert_true(is->bytes_low <= is->bytes && is->bytes <= is->bytes_high);
		n_held += is->packets_low <= packets && packets <= is->packets_high && is->bytes_low <= bytes &&
			  bytes <= is->bytes_high;
	}
	return n_held;
}

/* `least`: of the ten largest. */
static void bounds_hold(double exponent, double p, int runs, uint32_t least)
{
	static struct named named[N_PLACES];
	uint64_t n_named = 0, n_held = 0;

	set_up_flows(exponent);
	for (int run = 0; run < runs; run++) {
		uint32_t n;

		count(p, MILLION);
		n = estimate(p, named);
		n_named += n;
		n_held += held(named, n);
		assert_true(n >= 10 && found(named, 10) >= least);
	}
	print_message("exponent %g, p %g: the bounds of %.2f %% of %llu flows hold\n", exponent, p,
		      100.0 * (double)n_held / (double)n_named, (unsigned long long)n_named);
	assert_true((double)n_held >= 0.95 * (double)n_named);
}

static void bounds_hold_in_a_hundred_runs(void **state)
{
	(void)state;
	bounds_hold(1, 0.01, 100, 9);
	bounds_hold(0, 0.01, 100, 0);
	bounds_hold(1, 1, 2, 10);
	bounds_hold(0, 0.1, 2, 0);
}

/* ---- several seconds ---- */

#define SECONDS 8
#define NAMED 256

/* The next second of the same flows. */
static void next_second(uint32_t n_packets, uint64_t *state)
{
	memset(cpu->cells, 0, sizeof(cpu->cells));
	memset(&cpu->sampled, 0, sizeof(cpu->sampled));
	memset(cpu->samples_of, 0, sizeof(cpu->samples_of));
	for (uint32_t i = 0; i < n_packets; i++) {
		const uint32_t flow = next_flow(state);
		const uint32_t rows = nt_sketch_draw_rows(&cpu->draw, cpu->gaps, cpu->shape.rows);

		if (rows)
			sample(flow, rows);
	}
}

static int by_samples(const void *a, const void *b)
{
	const struct nt_sampled_flow *left = a, *right = b;

	return (left->packets < right->packets) - (left->packets > right->packets);
}

/* The flows that were sampled most go to the tape: their records, and how many samples any other had at most. */
static uint32_t name_flows(struct nt_sampled_flow *flows, uint32_t *unnamed)
{
	static bool is_named[N_FLOWS];
	uint32_t n = 0;

	for (uint32_t set = 0; set < N_SETS; set++)
		memcpy(flows + (size_t)set * NT_SAMPLED_WAYS, cpu->sampled.sets[set].ways,
		       sizeof(cpu->sampled.sets[set].ways));
	qsort(flows, N_PLACES, sizeof(*flows), by_samples);
	memset(is_named, 0, sizeof(is_named));
	for (; n < NAMED && flows[n].packets * 1000ull >= cpu->sampled.samples; n++)
		is_named[flows[n].tuple.src[0]] = true;
	*unnamed = 0;
	for (uint32_t flow = 0; flow < N_FLOWS; flow++)
		*unnamed = !is_named[flow] && cpu->samples_of[flow] > *unnamed ? cpu->samples_of[flow] : *unnamed;
	return n;
}

static uint32_t n_cells(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < 4 * 512; i++)
		n += cpu->cells[i].packets || cpu->cells[i].bytes;
	return n;
}

static void give_cells(struct nt_flow_times *times, uint64_t end_ns, bool but_one)
{
	for (uint32_t i = 0; i < 4 * 512; i++) {
		const struct nt_flow_cell cell = {
			.end_ns = end_ns, .cell = i, .packets = cpu->cells[i].packets, .bytes = cpu->cells[i].bytes};

		if (!cell.packets && !cell.bytes)
			continue;
		if (!but_one)
			nt_flow_times_cell(times, &cell);
		but_one = false;
	}
}

/* `widths`: of the bounds of all seconds that a flow has a record of, added up. */
static void give_second(struct nt_flow_times *times, uint32_t second, bool lacks_cell, bool lacks_flow, double *widths)
{
	static struct nt_sampled_flow flows[N_PLACES];
	const uint64_t end_ns = (second + 1) * 1000000000ull;
	struct nt_flow_sketch sketch = {.end_ns = end_ns, .dur_ns = 1000000000, .samples = cpu->sampled.samples};

	sketch.flows = name_flows(flows, &sketch.unnamed);
	sketch.cells = n_cells();
	nt_flow_times_begin(times, &sketch, true);
	give_cells(times, end_ns, lacks_cell);
	for (uint32_t i = lacks_flow; i < sketch.flows; i++) {
		const struct nt_flow_count count = {.end_ns = end_ns,
						    .flow = flows[i].tuple.src[0] + 1,
						    .packets = flows[i].packets,
						    .missed = flows[i].missed,
						    .bytes = flows[i].bytes,
						    .most_packets = flows[i].most_packets,
						    .most_bytes = flows[i].most_bytes};
		struct nt_flow_estimate estimate;

		assert_int_equal(nt_flow_times_count(times, &count, hash_of(&flows[i].tuple), true, &estimate), 0);
		widths[flows[i].tuple.src[0]] += (double)(estimate.packets_high - estimate.packets_low);
	}
}

/* All bounds of a sum hold as often as those of one second, also with lost records, and the sum is better known. */
static void sums_hold(double exponent, bool with_loss, uint64_t *n_named, uint64_t *n_held)
{
	static double widths[N_FLOWS];
	struct nt_flow_times times;
	uint64_t state = nt_rand_u64(&rnd) | 1;
	double width = 0, added = 0;

	set_up_flows(exponent);
	begin(0.01);
	memset(widths, 0, sizeof(widths));
	assert_int_equal(nt_flow_times_init(&times, "0.01", "4x512"), 0);
	for (uint32_t second = 0; second < SECONDS; second++) {
		next_second(MILLION / SECONDS, &state);
		give_second(&times, second, with_loss && second == 2, with_loss && second == 5, widths);
	}
	nt_flow_times_finish(&times);
	for (size_t i = 0; i < times.n; i++) {
		struct named named = {.flow = (uint32_t)times.flows[i].flow - 1};

		nt_flow_times_of(&times, i, &named.estimate);
		*n_named += 1;
		*n_held += held(&named, 1);
		/* The largest flow, of which a record is lost: beyond chance. */
		if (!named.flow)
			assert_true((double)named.estimate.packets_high > 0.97 * exact[0]);
		if (named.flow < 10) {
			width += (double)(named.estimate.packets_high - named.estimate.packets_low);
			added += widths[named.flow];
		}
	}
	nt_flow_times_release(&times);
	if (exponent > 0 && !with_loss)
		assert_true(width < added / 2);
}

static void sums_of_seconds_hold(void **state)
{
	uint64_t n_named = 0, n_held = 0;

	(void)state;
	for (int run = 0; run < 10; run++)
		sums_hold(run % 3 ? 1 : 0, run % 2, &n_named, &n_held);
	print_message("the bounds of %.2f %% of %llu flows hold over %d seconds\n",
		      100.0 * (double)n_held / (double)n_named, (unsigned long long)n_named, SECONDS);
	assert_true((double)n_held >= 0.95 * (double)n_named);
}

/* As long as places suffice, all is exact. */
static void few_flows_are_exact_without_sampling(void **state)
{
	static struct named named[N_PLACES];
	uint32_t n;

	(void)state;
	begin(1);
	for (uint32_t i = 0; i < 10000; i++) {
		const uint32_t flow = (uint32_t)nt_rand_below(&rnd, 1 + nt_rand_below(&rnd, 40));

		exact[flow]++;
		sample(flow, nt_sketch_draw_rows(&cpu->draw, cpu->gaps, cpu->shape.rows));
	}
	n = estimate(1, named);
	assert_int_equal(held(named, n), n);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(named[i].estimate.packets_low, exact[named[i].flow]);
		assert_int_equal(named[i].estimate.packets_high, exact[named[i].flow]);
	}
}

/* Without a sketch nothing is estimated, whatever the hash. */
static void counts_are_exact(void **state)
{
	const struct nt_flow_samples samples = {
		.packets = 70, .missed = 5, .bytes = 9000, .most_packets = 3, .most_bytes = 1000};
	struct nt_flow_estimates estimates;
	struct nt_flow_estimate is;

	(void)state;
	assert_int_equal(nt_flow_estimates_init(&estimates, "1", "none"), 0);
	assert_false(nt_flow_estimates_add(&estimates, 0, 1, 1));
	nt_flow_estimates_of(&estimates, nt_rand_u64(&rnd), &samples, &is);
	assert_int_equal(is.packets, 70);
	assert_int_equal(is.bytes, 9000);
	assert_int_equal(is.packets_low, 70);
	assert_int_equal(is.packets_high, 75);
	assert_int_equal(is.bytes_low, 9000);
	assert_int_equal(is.bytes_high, 14000);
	nt_flow_estimates_release(&estimates);
}

/* "At most 200 KB a CPU": of both buffers. */
static void memory_is_bounded(void **state)
{
	(void)state;
	assert_true(2 * (4 * 512 * sizeof(struct nt_sketch_cell) + nt_sampled_size(NT_SAMPLED_SET_BITS)) <= 200000);
}

static int set_up(void **state)
{
	(void)state;
	rnd.state = nt_rand_seed();
	drawn_from = malloc(sizeof(*drawn_from));
	exact = malloc(N_FLOWS * sizeof(*exact));
	cpu = calloc(1, sizeof(*cpu));
	return drawn_from && exact && cpu ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	free(drawn_from);
	free(exact);
	free(cpu);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_are_the_gaps),
		cmocka_unit_test(ten_million_packets_of_a_million_flows),
		cmocka_unit_test(bounds_hold_in_a_hundred_runs),
		cmocka_unit_test(sums_of_seconds_hold),
		cmocka_unit_test(few_flows_are_exact_without_sampling),
		cmocka_unit_test(counts_are_exact),
		cmocka_unit_test(memory_is_bounded),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

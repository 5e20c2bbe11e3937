// SPDX-License-Identifier: GPL-2.0-only
/*
 * thinning_test.c - which of many events are recorded, at rates that jump: sums by weight are what came, for the rare
 * events among them too; all are recorded while they are few; and a period has a bounded number of records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "bpf/thinning.h"
#include "record/gaps.h"
#include "tests/support/rand.h"

#define STREAMS 300
#define PHASES 12 /* of a stream: each has a rate of its own */
#define SIGMAS 6

static struct nt_rand rnd;
static struct nt_thinning_config config;

static uint32_t random_word(void *arg)
{
	return (uint32_t)nt_rand_u64(arg);
}

/* Of one sort of events. */
struct sums {
	double came, by_weight, variance;
};

struct stream {
	struct nt_thinning thinning;
	uint64_t now_ns, recent_ns; /* the latter: a time before, at which something else was seen */
	bool sees_others; /* now and then; else recent_ns stays */
	uint64_t n_came, n_recorded, n_left_out;
	struct sums all, rare;
};

static void add(struct sums *sums, double weight)
{
	sums->by_weight += weight;
	sums->variance += weight * (weight - 1);
}

/* As the programs do it. */
static void see(struct stream *stream, bool is_rare)
{
	uint32_t counted;

	stream->n_came++;
	stream->all.came++;
	stream->rare.came += is_rare;
	if (stream->sees_others && !nt_rand_below(&rnd, 50))
		stream->recent_ns = stream->now_ns;
	if (!nt_thinning_leaves_out(&stream->thinning, &config, stream->recent_ns, &counted)) {
		const double weight = ldexp(1, (int)stream->thinning.shift);

		add(&stream->all, weight);
		if (is_rare)
			add(&stream->rare, weight);
		stream->n_recorded++;
		counted += nt_thinning_recorded(&stream->thinning, &config, stream->now_ns);
	}
	stream->n_left_out += counted;
}

/* Each event is either recorded or counted, at the latest when its gap ends. */
static void check_counts(const struct stream *stream)
{
	const uint32_t open = nt_left_out(stream->thinning.gap, stream->thinning.left);

	assert_int_equal(stream->n_recorded + stream->n_left_out + open, stream->n_came);
}

/* Rare events come in bunches, where the rate has just changed, and anywhere. */
static void run(struct stream *stream)
{
	for (int phase = 0; phase < PHASES; phase++) {
		const uint64_t apart_ns = 1ull << nt_rand_below(&rnd, 26);
		const uint64_t n = 1 + nt_rand_below(&rnd, apart_ns < 100000 ? 30000 : 300);

		for (uint64_t i = 0; i < n; i++) {
			stream->now_ns += nt_rand_below(&rnd, 2 * apart_ns + 1);
			see(stream, i < 20 || !nt_rand_below(&rnd, 200));
		}
		check_counts(stream);
	}
}

static void start(struct stream *stream)
{
	*stream = (struct stream){.now_ns = nt_rand_below(&rnd, 1ull << 40)};
	stream->recent_ns = stream->now_ns;
	stream->sees_others = nt_rand_below(&rnd, 2);
	stream->thinning.at = (uint32_t)nt_rand_u64(&rnd);
}

static void total(struct sums *sums, const struct sums *of)
{
	sums->came += of->came;
	sums->by_weight += of->by_weight;
	sums->variance += of->variance;
}

static void is_about(const struct sums *sums, const char *what)
{
	const double off = fabs(sums->by_weight - sums->came);

	if (off > SIGMAS * sqrt(sums->variance))
		fail_msg("%s: %.0f by weight, %.0f came: %.1f standard deviations", what, sums->by_weight, sums->came,
			 off / sqrt(sums->variance));
	/* So the test can tell: a few percent would show. */
	assert_true(sqrt(sums->variance) < sums->came / 100);
}

static void weights_stand_for_what_came(void **state)
{
	struct sums all = {}, rare = {};
	struct stream stream;

	(void)state;
	for (int i = 0; i < STREAMS; i++) {
		start(&stream);
		run(&stream);
		total(&all, &stream.all);
		total(&rare, &stream.rare);
	}
	assert_true(sqrt(all.variance) > 0);
	is_about(&all, "all");
	is_about(&rare, "the rare");
}

/*
 * At one rate: all if that is small; else not many more than NT_THINNING_MANY a period, nor much fewer. Behind a lull:
 * all.
 */
static void rate_decides(void **state)
{
	(void)state;
	for (uint64_t apart_ns = 16; apart_ns < NT_THINNING_PERIOD_NS; apart_ns *= 4) {
		const uint64_t per_period = NT_THINNING_PERIOD_NS / apart_ns;
		struct stream stream;
		uint64_t before = 0;

		start(&stream);
		for (int period = 0; period < (apart_ns < 256 ? 14 : 40); period++) {
			before = stream.n_recorded;
			for (uint64_t i = 0; i < per_period; i++) {
				stream.now_ns += apart_ns;
				see(&stream, false);
			}
			assert_in_range(stream.n_recorded - before, 0, NT_THINNING_MANY * NT_THINNING_SHIFTS);
		}
		if (per_period < NT_THINNING_MANY / 2)
			assert_int_equal(stream.n_recorded, stream.n_came);
		else if (per_period > 4 * NT_THINNING_MANY)
			assert_in_range(stream.n_recorded - before, NT_THINNING_MANY / 4 - 100, NT_THINNING_MANY + 300);
		stream.now_ns += NT_THINNING_FORGET_NS + NT_THINNING_PERIOD_NS;
		stream.recent_ns = stream.now_ns;
		before = stream.n_recorded;
		see(&stream, false);
		assert_int_equal(stream.n_recorded, before + 1);
	}
}

/* So many that 1 << shift is the weight of the one at the end. */
static void gaps_are_as_long_as_weights(void **state)
{
	(void)state;
	for (uint32_t shift = 0; shift < NT_THINNING_SHIFTS; shift++) {
		struct nt_thinning thinning = {.shift = shift};
		double sum = 0;

		for (uint32_t i = 0; i < NT_GAPS; i++) {
			thinning.left = thinning.gap;
			nt_thinning_draw(&thinning, &config);
			sum += thinning.gap;
		}
		assert_true(fabs(sum / NT_GAPS / ldexp(1, (int)shift) - 1) < 0.01);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gaps_are_as_long_as_weights),
		cmocka_unit_test(weights_stand_for_what_came),
		cmocka_unit_test(rate_decides),
	};

	rnd.state = nt_rand_seed();
	nt_gaps_draw_thinning(&config, random_word, &rnd);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

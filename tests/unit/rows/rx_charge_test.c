// SPDX-License-Identifier: GPL-2.0-only
/*
 * rx_charge_test.c - who is charged for receive runs, and whose their samples are (report/rows/rx_charge.h): by hand,
 * and on random runs beside one that looks at each nanosecond by itself. NT_SEED=... repeats a run
 * (tests/support/rand.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/rollup.h"
#include "report/rows/rx_charge.h"
#include "report/util/array.h"
#include "tests/support/rand.h"

#define START 1000000000000ull
#define DUR (4 * NT_BUCKET_NS + 5000)
#define N_CPUS 2
#define N_FLOWS 13 /* 0: none; the last: the driver's time */
#define BY_DRIVER (N_FLOWS - 1)
#define N_PAYERS (2 * N_FLOWS) /* flows, and flows by the time that the kernel delivers them to a socket */
#define N_BUCKETS 5
#define N_ROUNDS 300
#define N_SAMPLES 10000

/* The charges of one payer in one bucket of one CPU. */
struct sum {
	uint64_t spent, exact, most, packets, segments, bytes;
};

typedef struct sum sums_of[N_CPUS][N_BUCKETS][N_PAYERS];

struct fixture {
	struct nt_rx_charges *charges;
	sums_of sums;
	uint64_t charged[N_CPUS][N_BUCKETS][N_PAYERS]; /* how often */
	size_t n, fail_at; /* charges; this one is refused, 0: none */
	struct nt_rx_charge last, last_time; /* of packets, of time */
	/* The answers for samples: .stack is the sample's number. */
	struct {
		bool is_given, is_exact;
		uint64_t flow;
	} samples[N_SAMPLES];
	struct nt_view_time time;
	bool has_sockets;
};

/* From a time on, for each flow another, its packets go to socket 1. */
static uint64_t socket_of(void *arg, uint64_t flow, uint64_t at_ns)
{
	const struct fixture *fixture = arg;

	return fixture->has_sockets && flow && at_ns >= START + flow * 9000;
}

static int on_charge(void *arg, const struct nt_rx_charge *charge)
{
	struct fixture *fixture = arg;
	const uint64_t flow = charge->flow == NT_RX_DRIVER ? BY_DRIVER : charge->flow;
	const uint64_t at = charge->ts_ns - fixture->time.from_ns, payer = flow + N_FLOWS * charge->socket,
		       n = charge->dur_ns > NT_BUCKET_NS ? charge->dur_ns / NT_BUCKET_NS : 1;

	if (++fixture->n == fixture->fail_at)
		return -EIO;
	if (charge->dur_ns)
		fixture->last_time = *charge;
	else
		fixture->last = *charge;
	assert_true(flow < N_FLOWS && charge->socket < 2 && charge->cpu < N_CPUS &&
		    charge->ts_ns >= fixture->time.from_ns && charge->ts_ns < fixture->time.to_ns &&
		    charge->dur_ns <= fixture->time.to_ns - charge->ts_ns);
	/* Within a bucket, or whole ones. */
	if (charge->dur_ns > NT_BUCKET_NS)
		assert_true(at % NT_BUCKET_NS == 0 && charge->dur_ns % NT_BUCKET_NS == 0);
	else
		assert_true(at % NT_BUCKET_NS + charge->dur_ns <= NT_BUCKET_NS);
	assert_true(charge->exact_ns <= charge->spent_ns && charge->spent_ns <= charge->most_ns);
	for (uint64_t i = 0; i < n; i++) {
		struct sum *sum = &fixture->sums[charge->cpu][at / NT_BUCKET_NS + i][payer];

		fixture->charged[charge->cpu][at / NT_BUCKET_NS + i][payer]++;
		sum->spent += charge->spent_ns / n;
		sum->exact += charge->exact_ns / n;
		sum->most += charge->most_ns / n;
		sum->packets += charge->packets;
		sum->segments += charge->segments;
		sum->bytes += charge->bytes;
	}
	return 0;
}

static int on_sample(void *arg, const struct nt_rx_sample *sample)
{
	struct fixture *fixture = arg;
	const uint64_t number = sample->sample->stack;

	if (++fixture->n == fixture->fail_at)
		return -EIO;
	assert_true(number < N_SAMPLES && !fixture->samples[number].is_given);
	fixture->samples[number].is_given = true;
	fixture->samples[number].is_exact = sample->is_exact;
	fixture->samples[number].flow = sample->flow;
	return 0;
}

static uint8_t sort_of(void *arg, uint64_t flow)
{
	(void)arg;
	return flow % 2;
}

static void begin_view(struct fixture *fixture, const struct nt_view_time *time)
{
	const struct nt_rx_charges_config config = {.time = *time,
						    .n_cpus = N_CPUS,
						    .arg = fixture,
						    .charge = on_charge,
						    .sample = on_sample,
						    .sort_of = sort_of,
						    .socket_of = socket_of};

	nt_rx_charges_free(fixture->charges);
	*fixture = (struct fixture){.charges = nt_rx_charges_new(&config), .time = *time};
	assert_non_null(fixture->charges);
}

static void begin(struct fixture *fixture)
{
	begin_view(fixture, &(struct nt_view_time){START, START + DUR, true, true, START});
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	if (*state)
		begin(*state);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	nt_rx_charges_free(((struct fixture *)*state)->charges);
	free(*state);
	return 0;
}

/* Times by hand count from START. */
static int part(struct fixture *fixture, uint64_t run, uint64_t from, uint64_t to)
{
	const struct nt_rx_part one = {.ts_ns = START + from, .dur_ns = to - from, .cpu = 1, .run_ns = START + run};

	return nt_rx_charges_part(fixture->charges, &one);
}

static int stretch(struct fixture *fixture, uint64_t end, uint64_t flow, uint32_t packets, uint8_t flags)
{
	const struct nt_rx_stretch one = {.end_ns = START + end,
					  .kind = NT_RX_STRETCH,
					  .flow = flow,
					  .packets = packets,
					  .segments = 2 * packets,
					  .bytes = 100 * packets,
					  .flags = flags};

	return nt_rx_charges_stretch(fixture->charges, 1, &one);
}

static int sample(struct fixture *fixture, uint64_t at, uint64_t number)
{
	const struct nt_stack_sample one = {.end_ns = START + at, .kind = NT_STACK_SAMPLE, .stack = number};

	return nt_rx_charges_sample(fixture->charges, 1, &one);
}

static void expect_sample(const struct fixture *fixture, uint64_t number, uint64_t flow)
{
	assert_true(fixture->samples[number].is_given);
	assert_int_equal(fixture->samples[number].flow, flow);
	assert_true(!flow || fixture->samples[number].is_exact);
}

static void finish(struct fixture *fixture)
{
	assert_int_equal(nt_rx_charges_finish(fixture->charges), 0);
}

static void expect_in(const struct fixture *fixture, int bucket, uint64_t flow, uint64_t spent, uint64_t exact,
		      uint64_t most, uint64_t packets)
{
	const struct sum *got = &fixture->sums[1][bucket][flow];

	assert_int_equal(got->spent, spent);
	assert_int_equal(got->exact, exact);
	assert_int_equal(got->most, most);
	assert_int_equal(got->packets, packets);
	assert_int_equal(got->segments, 2 * packets);
	assert_int_equal(got->bytes, 100 * packets);
}

static void expect(const struct fixture *fixture, uint64_t flow, uint64_t spent, uint64_t exact, uint64_t most,
		   uint64_t packets)
{
	expect_in(fixture, 0, flow, spent, exact, most, packets);
}

#define FIRST NT_RX_STRETCH_FIRST
#define LISTED NT_RX_STRETCH_LISTED
#define AFTER_LOSS NT_RX_STRETCH_AFTER_LOSS
#define AGAIN NT_RX_STRETCH_AGAIN
#define FORWARDED NT_RX_STRETCH_FORWARDED
#define STEERED NT_RX_STRETCH_STEERED
#define DRIVER NT_RX_STRETCH_DRIVER
#define AMID NT_RX_STRETCH_AMID
#define BEGINS NT_RX_LIST_BEGINS
#define CUT NT_RX_LIST_CUT
#define MORE NT_RX_LIST_MORE

/* ---- by hand ---- */

/* An interrupt in between is none of the run's time. */
static void test_one_by_one(void **state)
{
	struct fixture *fixture = *state;

	stretch(fixture, 160, 1, 3, FIRST);
	stretch(fixture, 200, 2, 1, 0);
	part(fixture, 100, 100, 130);
	part(fixture, 100, 150, 200);
	stretch(fixture, 400, 1, 1, FIRST);
	part(fixture, 300, 300, 400);
	finish(fixture);
	expect(fixture, 1, 30 + 10 + 100, 140, 140, 4);
	expect(fixture, 2, 40, 40, 40, 1);
	expect(fixture, 0, 0, 0, 0, 0);
}

/* Nobody is charged for runs without packets, and for what follows a run's last stretch. */
static void test_nobody(void **state)
{
	struct fixture *fixture = *state;
	const struct nt_rx_part unknown = {.ts_ns = START + 140, .dur_ns = 5, .cpu = 1, .run_ns = START + 150};

	part(fixture, 100, 100, 130);
	assert_int_equal(nt_rx_charges_nobodys(fixture->charges, &unknown), 0);
	stretch(fixture, 180, 1, 1, FIRST);
	part(fixture, 150, 150, 190);
	/* Another run between two parts ends a run: the kernel begins a new one, too. */
	part(fixture, 200, 200, 210);
	part(fixture, 210, 210, 220);
	stretch(fixture, 240, 2, 1, FIRST);
	part(fixture, 200, 220, 240);
	finish(fixture);
	expect(fixture, 0, 30 + 5 + 10 + 10 + 10, 65, 65, 0);
	expect(fixture, 1, 30, 30, 30, 1);
	expect(fixture, 2, 20, 20, 20, 1);
}

/* A NAPI thread's run may go on for minutes: no part of it is forgotten, and no packets. */
static void test_endless(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t n = 30000;

	for (uint64_t i = 0; i < n; i++) {
		part(fixture, 100, 100 + 10 * i, 100 + 10 * i + 9);
		if (i % 3 == 2)
			stretch(fixture, 100 + 10 * i + 9, 1 + i % 2, 1, i == 2 ? FIRST : 0);
	}
	finish(fixture);
	expect(fixture, 1, 9 * n / 2, 9 * n / 2, 9 * n / 2, n / 6);
	expect(fixture, 2, 9 * n / 2, 9 * n / 2, 9 * n / 2, n / 6);
	/* Without any packets it is nobody's, in as many pieces as come. */
	for (uint64_t i = 0; i < n; i++)
		part(fixture, 1000000, 1000000 + 10 * i, 1000000 + 10 * i + 9);
	finish(fixture);
	expect(fixture, 0, 9 * n, 9 * n, 9 * n, 0);
}

/* A packet that comes again, out of a tunnel or by a bridge, pays for its whole way under its last flow. */
static void test_again(void **state)
{
	struct fixture *fixture = *state;

	stretch(fixture, 130, 1, 1, FIRST);
	stretch(fixture, 150, 2, 1, AGAIN);
	stretch(fixture, 160, 3, 1, AGAIN);
	stretch(fixture, 170, 4, 1, 0);
	part(fixture, 100, 100, 170);
	/* Also in lists. */
	stretch(fixture, 310, 1, 1, FIRST | LISTED);
	stretch(fixture, 320, 5, 1, LISTED);
	stretch(fixture, 400, 5, 1, AGAIN | LISTED);
	part(fixture, 300, 300, 400);
	finish(fixture);
	/* By the costs of 1, which are known, and of its sort. */
	expect(fixture, 1, 42, 0, 100, 2);
	expect(fixture, 2, 0, 0, 0, 1);
	expect(fixture, 3, 60, 60, 60, 1);
	expect(fixture, 4, 10, 10, 10, 1);
	expect(fixture, 5, 58, 0, 100, 2);
}

/* Packets for other CPUs cost their flow time here, count there, and tell nothing of what receiving them costs. */
static void test_steered(void **state)
{
	struct fixture *fixture = *state;

	stretch(fixture, 110, 1, 1, FIRST | STEERED);
	stretch(fixture, 190, 2, 4, STEERED);
	stretch(fixture, 200, 1, 1, 0);
	part(fixture, 100, 100, 205);
	/* 10 ns a packet of 1; of its own sort nothing is known of 2, so the same. */
	stretch(fixture, 310, 1, 1, FIRST | LISTED);
	stretch(fixture, 400, 2, 1, LISTED);
	part(fixture, 300, 300, 400);
	finish(fixture);
	expect(fixture, 1, 10 + 10 + 50, 20, 20 + 100, 1 + 1);
	expect(fixture, 2, 80 + 50, 80, 80 + 100, 1);
	expect(fixture, 0, 5, 5, 5, 0);
}

/* Where the driver may have worked amid packets, it has what they do not cost; and nothing is exact. */
static void test_driver(void **state)
{
	struct fixture *fixture = *state;

	/* Of no flow a cost is known. */
	stretch(fixture, 50, 3, 1, FIRST | LISTED | AMID);
	part(fixture, 10, 10, 50);
	stretch(fixture, 140, 0, 0, FIRST | DRIVER);
	stretch(fixture, 163, 1, 3, LISTED);
	stretch(fixture, 165, 0, 0, DRIVER);
	/* 6 ns a packet of 1, and so of 2. */
	stretch(fixture, 170, 1, 1, LISTED);
	stretch(fixture, 200, 2, 2, LISTED | AMID);
	part(fixture, 100, 100, 150);
	part(fixture, 100, 155, 205);
	/* Two of 1 have less than that. */
	stretch(fixture, 308, 1, 2, FIRST | LISTED | AMID);
	part(fixture, 300, 300, 308);
	finish(fixture);
	expect(fixture, 3, 40, 0, 40, 1);
	expect(fixture, 1, 18 + 6 + 8, 18, 18 + 35 + 8, 3 + 1 + 2);
	expect(fixture, 2, 12, 0, 35, 2);
	expect(fixture, BY_DRIVER, 42 + 17, 42, 40 + 42 + 35 + 8, 0);
	expect(fixture, 0, 5, 5, 5, 0);
}

/* The fate of what is charged first for a stretch alone: of `dropped` packets of 4 for reason 7. */
static uint32_t fate_alone(struct fixture *fixture, uint64_t at, uint8_t flags, uint32_t dropped, uint32_t reason)
{
	const struct nt_rx_stretch one = {.end_ns = START + at + 10,
					  .flow = 1,
					  .packets = 4,
					  .flags = flags,
					  .dropped = dropped,
					  .reason = reason};

	assert_int_equal(nt_rx_charges_stretch(fixture->charges, 1, &one), 0);
	assert_int_equal(part(fixture, at, at, at + 10), 0);
	finish(fixture);
	assert_int_equal(fixture->last.packets, 4);
	assert_int_equal(fixture->last.fate, fixture->last_time.fate);
	return fixture->last_time.fate;
}

/* Packets are charged with what became of most of them. Of a list the last was seen, or one of the flow before. */
static void test_fates(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(fate_alone(fixture, 100, FIRST, 0, 0), NT_RX_FATE_NONE);
	assert_int_equal(fate_alone(fixture, 200, FIRST, 1, 7), NT_RX_FATE_NONE);
	assert_int_equal(fate_alone(fixture, 300, FIRST, 2, 7), NT_RX_FATE_DROPPED + 7);
	assert_int_equal(fate_alone(fixture, 400, FIRST, 4, UINT32_MAX), UINT32_MAX);
	assert_int_equal(fate_alone(fixture, 500, FIRST | FORWARDED, 4, 7), NT_RX_FATE_FORWARDED);
	assert_int_equal(fate_alone(fixture, 600, FIRST | LISTED, 0, 0), NT_RX_FATE_FORWARDED);
	assert_int_equal(fate_alone(fixture, 700, FIRST | LISTED, 4, 7), NT_RX_FATE_DROPPED + 7);
	assert_int_equal(fate_alone(fixture, 800, FIRST | LISTED, 0, 0), NT_RX_FATE_DROPPED + 7);
	assert_int_equal(fate_alone(fixture, 900, FIRST, 0, 0), NT_RX_FATE_NONE);
	assert_int_equal(fate_alone(fixture, 1000, FIRST | LISTED, 0, 0), NT_RX_FATE_NONE);
}

/* Where a stretch is missing, the time up to the end of the next is nobody's; its packets are its flow's. */
static void test_losses(void **state)
{
	struct fixture *fixture = *state;

	stretch(fixture, 120, 1, 1, 0); /* the run's first is missing */
	stretch(fixture, 130, 2, 1, 0);
	stretch(fixture, 150, 1, 1, AFTER_LOSS);
	stretch(fixture, 160, 3, 1, 0);
	stretch(fixture, 170, 4, 1, FIRST); /* the end of a run is missing */
	part(fixture, 100, 100, 200);
	/* Of a run that is lost. */
	stretch(fixture, 250, 5, 7, FIRST);
	stretch(fixture, 350, 1, 1, FIRST);
	part(fixture, 300, 300, 350);
	finish(fixture);
	expect(fixture, 0, 20 + 20 + 10 + 30, 80, 80, 0);
	expect(fixture, 1, 50, 50, 50, 3);
	expect(fixture, 2, 10, 10, 10, 1);
	expect(fixture, 3, 10, 10, 10, 1);
	expect(fixture, 4, 0, 0, 0, 1);
	expect(fixture, 5, 0, 0, 0, 7);
}

/* One run of `packets` packets of a flow that cost so much together. */
static void alone(struct fixture *fixture, uint64_t at, uint64_t flow, uint32_t packets, uint64_t cost)
{
	assert_int_equal(stretch(fixture, at + cost, flow, packets, FIRST), 0);
	assert_int_equal(part(fixture, at, at, at + cost), 0);
}

/* A batch is divided by what a packet of each flow cost alone: here 30 and 10 ns. */
static void test_batches(void **state)
{
	struct fixture *fixture = *state;

	alone(fixture, 100, 1, 2, 60);
	alone(fixture, 200, 2, 1, 10);
	stretch(fixture, 305, 1, 1, FIRST | LISTED);
	stretch(fixture, 310, 2, 5, LISTED);
	stretch(fixture, 400, 1, 1, LISTED);
	/* Here the batch is over, since the kernel hands on what follows one by one. */
	stretch(fixture, 410, 3, 1, 0);
	/* The next batch has one flow only: so it is exact. */
	stretch(fixture, 430, 1, 4, LISTED);
	part(fixture, 300, 300, 430);
	finish(fixture);
	/* 100 ns by 2 x 30 to 5 x 10, and what rounding leaves. */
	expect(fixture, 1, 60 + 54 + 20, 60 + 20, 60 + 100 + 20, 2 + 2 + 4);
	expect(fixture, 2, 10 + 46, 10, 10 + 100, 1 + 5);
	expect(fixture, 3, 10, 10, 10, 1);
	expect(fixture, 0, 0, 0, 0, 0);
}

/* A flow that was never alone costs what others of its sort do; and if there are none, what any does. */
static void test_unknown_costs(void **state)
{
	struct fixture *fixture = *state;

	/* Nothing is known. */
	stretch(fixture, 110, 1, 1, FIRST | LISTED);
	stretch(fixture, 200, 2, 3, LISTED);
	part(fixture, 100, 100, 200);
	expect(fixture, 1, 0, 0, 0, 0);
	alone(fixture, 300, 4, 1, 30);
	expect(fixture, 1, 25, 0, 100, 1);
	expect(fixture, 2, 75, 0, 100, 3);
	/* 2 as 4, 1 as any. */
	stretch(fixture, 410, 1, 1, FIRST | LISTED);
	stretch(fixture, 500, 2, 3, LISTED);
	part(fixture, 400, 400, 500);
	alone(fixture, 600, 5, 1, 12);
	expect(fixture, 1, 25 + 25, 0, 200, 2);
	/* 1 as 5, and 2 as 4: 12 to 3 x 30. */
	stretch(fixture, 710, 1, 1, FIRST | LISTED);
	stretch(fixture, 802, 2, 3, LISTED);
	part(fixture, 700, 700, 802);
	finish(fixture);
	expect(fixture, 1, 25 + 25 + 12, 0, 302, 3);
	expect(fixture, 2, 75 + 75 + 90, 0, 302, 9);
}

/* The mean is of all so far, up to 64. */
static void test_means(void **state)
{
	struct fixture *fixture = *state;

	alone(fixture, 1000, 2, 1, 100);
	alone(fixture, 2000, 1, 1, 800);
	alone(fixture, 3000, 1, 1, 100); /* 450 */
	alone(fixture, 4000, 1, 0, 100); /* tells nothing, and nobody is charged */
	stretch(fixture, 5010, 1, 1, FIRST | LISTED);
	stretch(fixture, 5550, 2, 1, LISTED);
	part(fixture, 5000, 5000, 5550);
	finish(fixture);
	expect(fixture, 1, 800 + 100 + 450, 900, 900 + 550, 3);
	expect(fixture, 2, 100 + 100, 100, 650, 2);
	expect(fixture, 0, 100, 100, 100, 0);
}

/*
 * Where the work on packets of a list is seen, it is known whose the time between two of one flow is, and of two flows
 * that it is theirs. The time before is of all in the list.
 */
static void test_cuts(void **state)
{
	struct fixture *fixture = *state;
	const struct nt_rx_stretch list[] = {
		/* The work on its packet is seen at 130. */
		{.end_ns = START + 150, .flow = 1, .packets = 1, .flags = FIRST | LISTED, .list = CUT, .since_ns = 20},
		/* At 150 and 180. */
		{.end_ns = START + 190, .flow = 2, .packets = 2, .flags = LISTED, .list = CUT, .since_ns = 10},
		/* At 190; the next list begins behind it. */
		{.end_ns = START + 300, .flow = 3, .packets = 1, .flags = LISTED, .list = CUT, .since_ns = 110},
		/* At 300. */
		{.end_ns = START + 360, .flow = 3, .packets = 2, .flags = LISTED, .list = BEGINS, .since_ns = 60},
	};

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(nt_rx_charges_stretch(fixture->charges, 1, &list[i]), 0);
	part(fixture, 100, 100, 360);
	finish(fixture);
	assert_int_equal(fixture->sums[1][0][1].exact, 0);
	assert_int_equal(fixture->sums[1][0][1].most, 30 + 20);
	assert_int_equal(fixture->sums[1][0][2].exact, 30);
	assert_int_equal(fixture->sums[1][0][2].most, 30 + 20 + 30 + 10);
	assert_int_equal(fixture->sums[1][0][3].exact, 110 + 60);
	assert_int_equal(fixture->sums[1][0][3].most, 30 + 10 + 110 + 60);
	assert_int_equal(fixture->sums[1][0][0].spent, 0);
}

/*
 * Two flows of which neither is ever alone, one packet of the first to two of the second in each list: 20 and 30 ns
 * before the work on a packet is seen, and 40 and 10 after it; and 25 ns a packet of all before that.
 */
static void test_never_alone(void **state)
{
	struct fixture *fixture = *state;
	const int n = 400;
	uint64_t at = 1000;

	for (int i = 0; i < n; i++, at += 1000) {
		const struct nt_rx_stretch first = {.end_ns = START + at + 75 + 20 + 40 + 30,
						    .flow = 1,
						    .packets = 1,
						    .flags = FIRST | LISTED,
						    .list = BEGINS | CUT,
						    .since_ns = 40 + 30};
		const struct nt_rx_stretch second = {.end_ns = first.end_ns + 10 + 30 + 10,
						     .flow = 2,
						     .packets = 2,
						     .flags = LISTED,
						     .since_ns = 10};

		assert_int_equal(nt_rx_charges_stretch(fixture->charges, 1, &first), 0);
		assert_int_equal(nt_rx_charges_stretch(fixture->charges, 1, &second), 0);
		assert_int_equal(part(fixture, at, at, second.end_ns - START), 0);
	}
	finish(fixture);
	assert_in_range(fixture->sums[1][0][1].spent, n * (25 + 60) * 9 / 10, n * (25 + 60) * 11 / 10);
	assert_in_range(fixture->sums[1][0][2].spent, n * (50 + 80) * 9 / 10, n * (50 + 80) * 11 / 10);
}

/* A run that lasts over several buckets is charged in each, whole ones at once. */
static void test_buckets(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t from = NT_BUCKET_NS - 10, to = 3 * NT_BUCKET_NS + 20;

	stretch(fixture, from + 4, 1, 1, FIRST | LISTED);
	stretch(fixture, to, 2, 1, LISTED);
	part(fixture, from, from, to);
	finish(fixture);
	expect_in(fixture, 0, 1, 5, 0, 10, 1);
	expect_in(fixture, 0, 2, 5, 0, 10, 0);
	for (int bucket = 1; bucket < 3; bucket++) {
		expect_in(fixture, bucket, 1, NT_BUCKET_NS / 2, 0, NT_BUCKET_NS, 0);
		expect_in(fixture, bucket, 2, NT_BUCKET_NS / 2, 0, NT_BUCKET_NS, 0);
	}
	expect_in(fixture, 3, 2, 10, 0, 20, 1);
	assert_int_equal(fixture->n, 6 + 2);
}

/* One whole bucket is one charge, also where the time ends with it. */
static void test_whole_bucket(void **state)
{
	struct fixture *fixture = *state;

	stretch(fixture, 2 * NT_BUCKET_NS, 1, 1, FIRST);
	part(fixture, NT_BUCKET_NS, NT_BUCKET_NS, 2 * NT_BUCKET_NS);
	part(fixture, 2 * NT_BUCKET_NS, 2 * NT_BUCKET_NS, 4 * NT_BUCKET_NS);
	finish(fixture);
	expect_in(fixture, 1, 1, NT_BUCKET_NS, NT_BUCKET_NS, NT_BUCKET_NS, 0);
	expect_in(fixture, 2, 1, 0, 0, 0, 1);
	expect_in(fixture, 2, 0, NT_BUCKET_NS, NT_BUCKET_NS, NT_BUCKET_NS, 0);
	expect_in(fixture, 3, 0, NT_BUCKET_NS, NT_BUCKET_NS, NT_BUCKET_NS, 0);
	assert_int_equal(fixture->n, 3);
}

/* Packets outside of the session count in its first or last bucket; none before or after. */
static void test_packets_outside(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(stretch(fixture, (uint64_t)-5, 1, 2, FIRST), 0);
	finish(fixture);
	expect(fixture, 1, 0, 0, 0, 2);
	stretch(fixture, DUR, 1, 3, FIRST);
	stretch(fixture, DUR + 9, 1, 4, FIRST);
	finish(fixture);
	expect_in(fixture, 4, 1, 0, 0, 0, 7);
	assert_int_equal(fixture->last.ts_ns, START + DUR - 1);
}

/* A sample is of the flow whose stretch ends next. */
static void test_samples(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(sample(fixture, 90, 0), 0);
	stretch(fixture, 160, 1, 3, FIRST);
	stretch(fixture, 200, 2, 1, 0);
	part(fixture, 100, 100, 130);
	sample(fixture, 140, 1);
	sample(fixture, 135, 2); /* not in order */
	part(fixture, 100, 150, 210);
	sample(fixture, 200, 3);
	sample(fixture, 199, 4);
	assert_false(fixture->samples[1].is_given);
	stretch(fixture, 400, 1, 1, FIRST);
	part(fixture, 300, 300, 390);
	assert_true(fixture->samples[1].is_given);
	sample(fixture, 150, 5); /* too late */
	sample(fixture, 390, 6);
	part(fixture, 300, 392, 400);
	finish(fixture);
	for (uint64_t i = 0; i < 7; i++)
		expect_sample(fixture, i, (const uint64_t[]){0, 1, 1, 0, 2, 0, 1}[i]);
}

/* A batch's samples are drawn: of each flow as many as it pays for, here 30 : 10. */
static void test_drawn_samples(void **state)
{
	struct fixture *fixture = *state;
	size_t n = 0;

	alone(fixture, 100, 1, 1, 30);
	alone(fixture, 200, 2, 1, 10);
	stretch(fixture, 305, 1, 1, FIRST | LISTED);
	stretch(fixture, 300 + N_SAMPLES, 2, 1, LISTED);
	part(fixture, 300, 300, 300 + N_SAMPLES);
	for (uint64_t i = 0; i < N_SAMPLES; i++)
		sample(fixture, 300 + i, i);
	finish(fixture);
	for (uint64_t i = 0; i < N_SAMPLES; i++) {
		assert_true(fixture->samples[i].is_given && !fixture->samples[i].is_exact);
		assert_in_range(fixture->samples[i].flow, 1, 2);
		n += fixture->samples[i].flow == 1;
	}
	assert_in_range(n, N_SAMPLES * 3 / 4 - 200, N_SAMPLES * 3 / 4 + 200);
	/* And it is no matter of where in the batch. */
	for (uint64_t i = n = 0; i < N_SAMPLES / 2; i++)
		n += fixture->samples[i].flow == 1;
	assert_in_range(n, N_SAMPLES * 3 / 8 - 150, N_SAMPLES * 3 / 8 + 150);
}

/* Numbers that no kernel writes: weights that fill 128 bits, and more waiting than a run ever has. */
static void test_large(void **state)
{
	struct fixture *fixture = *state;
	uint64_t packets = 0, spent = 0;

	assert_int_equal(stretch(fixture, 90000000, 1, 1, FIRST), 0);
	part(fixture, 1, 1, 90000000);
	for (unsigned int i = 0; i < 70000; i++) {
		const uint8_t flags = LISTED | (i ? 0 : FIRST);

		assert_int_equal(stretch(fixture, 3 * NT_BUCKET_NS + i / 100, 1 + i % 3, UINT32_MAX / 70000, flags), 0);
	}
	part(fixture, 3 * NT_BUCKET_NS - 1, 3 * NT_BUCKET_NS - 1, 3 * NT_BUCKET_NS + 1000);
	for (unsigned int i = 0; i < 70000; i++)
		assert_int_equal(
			part(fixture, 4 * NT_BUCKET_NS, 4 * NT_BUCKET_NS + i % 10, 4 * NT_BUCKET_NS + 1 + i % 10), 0);
	finish(fixture);
	for (int bucket = 2; bucket < N_BUCKETS; bucket++) {
		for (int flow = 0; flow < N_FLOWS; flow++) {
			packets += fixture->sums[1][bucket][flow].packets;
			spent += fixture->sums[1][bucket][flow].spent;
		}
	}
	assert_int_equal(packets, 70000 * (UINT32_MAX / 70000));
	assert_int_equal(spent, 1001 + 70000);
}

/* No kernel receives more than 1,024 flows in turn in one run: nobody is charged for what says so. */
static void test_large_batches(void **state)
{
	for (uint64_t n = 1024; n <= 1025; n++) {
		struct fixture *fixture = *state;

		begin(fixture);
		for (uint64_t i = 0; i < n; i++)
			stretch(fixture, 101 + i, 1 + i % 2, 1, LISTED | (i ? 0 : FIRST));
		part(fixture, 100, 100, 100 + n);
		finish(fixture);
		expect(fixture, 0, n == 1024 ? 0 : n, n == 1024 ? 0 : n, n == 1024 ? 0 : n, 0);
		expect(fixture, 1, n == 1024 ? n / 2 : 0, 0, n == 1024 ? n : 0, (n + 1) / 2);
		expect(fixture, 2, n == 1024 ? n / 2 : 0, 0, n == 1024 ? n : 0, n / 2);
	}
}

static void test_refused(void **state)
{
	for (size_t fail_at = 1; fail_at <= 8; fail_at++) {
		struct fixture *fixture = *state;
		int error;

		begin(fixture);
		fixture->fail_at = fail_at;
		stretch(fixture, 110, 1, 1, FIRST | LISTED);
		stretch(fixture, 200, 2, 1, LISTED);
		part(fixture, 100, 100, 200);
		sample(fixture, 110, 0);
		stretch(fixture, 400, 3, 1, FIRST);
		error = part(fixture, 300, 300, 410);
		if (!error)
			error = sample(fixture, 405, 1);
		if (!error)
			error = nt_rx_charges_finish(fixture->charges);
		assert_int_equal(error, -EIO);
		assert_int_equal(fixture->n, fail_at);
	}
}

/* ---- the model: nanosecond by nanosecond ---- */

#define MAX_RUN_NS 3000
#define MAX_STRETCHES 12

struct model_run {
	uint32_t cpu;
	uint64_t run;
	uint64_t from, to;
	uint8_t self[MAX_RUN_NS]; /* whether the ns is its own, from `from` on */
	struct nt_rx_stretch stretches[MAX_STRETCHES];
	int n;
};

struct model {
	struct nt_view_time time;
	sums_of sums; /* .spent is without what is divided */
	const struct fixture *fixture; /* for socket_of() */
	double divided[N_CPUS][N_BUCKETS][N_PAYERS];
	uint64_t all[N_CPUS][N_BUCKETS];
	struct mean {
		double cost;
		int n;
	} of_flow[N_CPUS][N_FLOWS][3], of_sort[N_CPUS][2][3], of_any[N_CPUS][3]; /* by the parts of steps */
	unsigned int payers[N_SAMPLES]; /* of each sample: 1 << payer for all that it may be of; 0: none is known */
	size_t n_samples;
};

static double model_cost(const struct model *model, uint32_t cpu, uint64_t flow, int part)
{
	if (model->of_flow[cpu][flow][part].n)
		return model->of_flow[cpu][flow][part].cost;
	if (model->of_sort[cpu][flow % 2][part].n)
		return model->of_sort[cpu][flow % 2][part].cost;
	if (model->of_any[cpu][part].n)
		return model->of_any[cpu][part].cost;
	for (int other = 0; other < 3; other++) {
		if (model->of_any[cpu][other].n)
			return model->of_any[cpu][other].cost;
	}
	return 1. / (1 << 20);
}

static void model_learn(struct mean *mean, double cost)
{
	mean->n += mean->n < 64;
	mean->cost += (cost - mean->cost) / mean->n;
}

static bool is_listed(const struct model_run *run, int i)
{
	return i >= 0 && i < run->n && run->stretches[i].flags & LISTED;
}

/* The stretches [*i, *j) that the ns is of one of, or of several; false: of none. */
static bool model_batch(const struct model_run *run, uint64_t ns, int *i, int *j)
{
	*i = 0;
	while (*i < run->n && run->stretches[*i].end_ns <= ns)
		++*i;
	*j = *i + 1;
	if (*i == run->n)
		return false;
	while (is_listed(run, *i) && is_listed(run, *i - 1))
		--*i;
	while (is_listed(run, *j) && is_listed(run, *j - 1))
		++*j;
	return true;
}

/*
 * What the kernel does in a batch, one after another: it receives all packets of a list; then for each, it works on
 * it until that is seen, and afterwards. Behind some of these steps the time is known.
 */
#define MAX_STEPS (MAX_STRETCHES * 20)
struct step {
	int stretch;
	int part; /* 0: all packets of the stretch are received; 1, 2: until the work on one is seen, and after that */
	double packets;
	uint64_t until_ns; /* the time behind it; 0: not known */
};

struct piece {
	struct step steps[MAX_STEPS];
	int n;
	uint64_t from_ns, to_ns;
	bool has_driver; /* it may have worked, too */
	bool is_learnt; /* tells what its steps cost */
};

static int add_list_steps(const struct model_run *run, int at, int j, struct step *steps)
{
	int n = 0;

	do {
		const bool is_driver = run->stretches[at].flags & DRIVER;

		steps[n++] = (struct step){at, 0, is_driver ? 1 : run->stretches[at].packets, 0};
		at++;
	} while (at < j && !(run->stretches[at].list & BEGINS));
	return n;
}

static bool has_cuts(const struct model_run *run, int i, int j)
{
	return NT_ANY((size_t)(j - i), at, run->stretches[(size_t)i + at].list & CUT);
}

/* When the work on the last packet of the stretch is seen; 0: it is not, or it tells nothing. */
static uint64_t seen_ns(const struct model_run *run, int i, int j, int at, uint64_t cut_ns)
{
	const struct nt_rx_stretch *stretch = &run->stretches[at];

	if (!has_cuts(run, i, j) || (at < j - 1 && !(stretch->list & CUT)) || !stretch->since_ns ||
	    stretch->since_ns > stretch->end_ns - cut_ns)
		return 0;
	return stretch->end_ns - stretch->since_ns;
}

static int make_steps(const struct model_run *run, int i, int j, struct step *steps)
{
	uint64_t cut_ns = 0;
	int n = 0;

	for (int at = i; at < j; at++) {
		const struct nt_rx_stretch *stretch = &run->stretches[at];
		const bool is_behind_cut = at > i && stretch[-1].list & CUT;

		if (at == i || stretch->list & BEGINS)
			n += add_list_steps(run, at, j, steps + n);
		if (is_behind_cut)
			cut_ns = stretch[-1].end_ns;
		for (uint32_t k = 0; k < stretch->packets; k++) {
			steps[n++] = (struct step){at, 1, 1, k || !is_behind_cut ? 0 : cut_ns};
			if (k + 1 == stretch->packets)
				steps[n++] = (struct step){at, 1, 0, seen_ns(run, i, j, at, cut_ns)};
			steps[n++] = (struct step){at, 2, 1, 0};
		}
	}
	steps[n - 1].until_ns = run->stretches[j - 1].end_ns;
	return n;
}

/* Whether the driver may have worked amid the stretches between two cuts, where [i, j) are cut, that end by then. */
static bool is_amid(const struct model_run *run, int i, int j, uint64_t by_ns)
{
	int from = i, to;

	while (run->stretches[from].end_ns < by_ns)
		from++;
	for (to = from; to < j - 1 && !(run->stretches[to].list & CUT);)
		to++;
	while (from > i && !(run->stretches[from - 1].list & CUT))
		from--;
	return NT_ANY((size_t)(to + 1 - from), at, run->stretches[(size_t)from + at].flags & AMID);
}

/* Whether no record is missing before the stretch. */
static bool is_whole(const struct model_run *run, int at)
{
	return !(run->stretches[at].flags & AFTER_LOSS) && !(run->stretches[at].flags & FIRST) == (at > 0);
}

/* Whether nothing is missing in the piece of [i, j), nor in a list that it has the begin of. */
static bool is_known(const struct model_run *run, int j, const struct piece *piece)
{
	for (int n = 0; n < piece->n; n++) {
		int at = piece->steps[n].stretch;

		if (!is_whole(run, at))
			return false;
		if (piece->steps[n].part)
			continue;
		for (at++; at < j && !(run->stretches[at].list & BEGINS);)
			at++;
		if (at < j ? !is_whole(run, at) : run->stretches[j - 1].list & (CUT | MORE))
			return false;
	}
	return true;
}

/* The steps that the ns may be of; false: nobody knows. */
static bool model_piece(const struct model_run *run, uint64_t ns, struct piece *piece)
{
	struct step steps[MAX_STEPS];
	int i, j, n, from = 0, to = 0;

	if (!model_batch(run, ns, &i, &j))
		return false;
	n = make_steps(run, i, j, steps);
	*piece = (struct piece){.from_ns = i ? run->stretches[i - 1].end_ns : run->from};
	for (; to < n; to++) {
		if (!steps[to].until_ns)
			continue;
		if (steps[to].until_ns > ns)
			break;
		if (steps[to].until_ns > piece->from_ns)
			piece->from_ns = steps[to].until_ns;
		from = to + 1;
	}
	piece->to_ns = steps[to].until_ns;
	for (int at = from; at <= to; at++) {
		if (steps[at].packets)
			piece->steps[piece->n++] = steps[at];
	}
	piece->has_driver = is_amid(run, i, j, piece->to_ns);
	for (int at = 0; at < piece->n; at++) {
		const struct nt_rx_stretch *stretch = &run->stretches[piece->steps[at].stretch];

		if (!piece->steps[at].part && (piece->steps[at].stretch == i || stretch->list & BEGINS))
			piece->has_driver = piece->has_driver || stretch->flags & AMID;
	}
	piece->has_driver = piece->has_driver && (to == n - 1 || NT_ANY((size_t)piece->n, at, !piece->steps[at].part));
	piece->is_learnt =
		!piece->has_driver && !(run->stretches[i].flags & DRIVER) && (has_cuts(run, i, j) || j == i + 1);
	return is_known(run, j, piece) && (to < n - 1 || !(run->stretches[j - 1].list & (CUT | MORE)));
}

/* A list is delivered after all of it was seen. */
static uint64_t payer_of(const struct model *model, const struct model_run *run, int i, uint64_t end_ns)
{
	const uint64_t flow = run->stretches[i].flow;
	const uint64_t own_ns = run->stretches[i].end_ns;

	if (run->stretches[i].flags & DRIVER)
		return BY_DRIVER;
	return flow + N_FLOWS * socket_of((void *)(uintptr_t)model->fixture, flow, own_ns > end_ns ? own_ns : end_ns);
}

static uint64_t end_of_list(const struct model_run *run, int i)
{
	while (is_listed(run, i) && is_listed(run, i + 1) && !(run->stretches[i].list & CUT) &&
	       !(run->stretches[i + 1].flags & (FIRST | AFTER_LOSS)))
		i++;
	return run->stretches[i].end_ns;
}

/* The payer of a stretch: its last packet may be received again, under another flow. */
static uint64_t model_payer(const struct model *model, const struct model_run *run, int i)
{
	const uint64_t end_ns = end_of_list(run, i);

	while (!(run->stretches[i].flags & DRIVER) && i + 1 < run->n && run->stretches[i + 1].flags & AGAIN)
		i++;
	return payer_of(model, run, i, end_ns);
}

/* The only one that pays for the piece; 0: there are several, or none. */
static uint64_t model_alone(const struct model *model, const struct model_run *run, const struct piece *piece)
{
	const uint64_t payer = piece->n ? model_payer(model, run, piece->steps[0].stretch) : 0;

	if (piece->has_driver ||
	    NT_ANY((size_t)piece->n, at, model_payer(model, run, piece->steps[at].stretch) != payer))
		return 0;
	return payer;
}

/* The run's own ns of the piece. */
static double time_of(const struct model_run *run, const struct piece *piece)
{
	uint64_t ns = 0;

	for (uint64_t at = piece->from_ns; at < piece->to_ns; at++)
		ns += run->self[at - run->from];
	return (double)ns;
}

static double step_weight(const struct model *model, const struct model_run *run, const struct step *step)
{
	return step->packets * model_cost(model, run->cpu, run->stretches[step->stretch].flow, step->part);
}

/* The driver has what is left of the time, if the cost of any packets is known. */
static double driver_weight(const struct model *model, const struct model_run *run, const struct piece *piece,
			    double of_packets)
{
	const struct mean *any = model->of_any[run->cpu];
	const double ns = time_of(run, piece);

	return piece->has_driver && (any[0].n || any[1].n || any[2].n) && ns > of_packets ? ns - of_packets : 0;
}

/* Adds one ns of the run. */
static void model_ns(struct model *model, const struct model_run *run, uint64_t ns)
{
	const uint64_t bucket = (ns - model->time.from_ns) / NT_BUCKET_NS;
	struct sum *sums = model->sums[run->cpu][bucket];
	bool seen[N_PAYERS] = {false};
	double weight = 0, driver;
	uint64_t alone = 0;
	struct piece piece;
	bool is_known;

	model->all[run->cpu][bucket]++;
	is_known = model_piece(run, ns, &piece);
	if (is_known)
		alone = model_alone(model, run, &piece);
	if (!is_known || !piece.n || alone) {
		sums[alone].spent++;
		sums[alone].exact++;
		sums[alone].most++;
		return;
	}
	for (int at = 0; at < piece.n; at++)
		weight += step_weight(model, run, &piece.steps[at]);
	driver = driver_weight(model, run, &piece, weight);
	weight += driver;
	model->divided[run->cpu][bucket][BY_DRIVER] += driver / weight;
	sums[BY_DRIVER].most += piece.has_driver;
	for (int at = 0; at < piece.n; at++) {
		const uint64_t payer = model_payer(model, run, piece.steps[at].stretch);

		model->divided[run->cpu][bucket][payer] += step_weight(model, run, &piece.steps[at]) / weight;
		sums[payer].most += !seen[payer];
		seen[payer] = true;
	}
}

/*
 * Of a piece that ends with this ns: its steps cost as much more or less as they all do together. After its ns have
 * been added.
 */
static void model_learn_at(struct model *model, const struct model_run *run, uint64_t ns)
{
	struct piece piece;
	double all = 0, costs[MAX_STEPS], time;

	if (!model_piece(run, ns, &piece) || piece.to_ns != ns + 1 || !piece.is_learnt ||
	    !nt_view_has(&model->time, piece.to_ns))
		return;
	time = time_of(run, &piece);
	for (int at = 0; at < piece.n; at++) {
		const struct step *step = &piece.steps[at];

		all += step_weight(model, run, step);
		costs[at] = model_cost(model, run->cpu, run->stretches[step->stretch].flow, step->part);
	}
	for (int at = 0; at < piece.n && time > 0; at++) {
		const uint64_t flow = run->stretches[piece.steps[at].stretch].flow;
		const int part = piece.steps[at].part;

		if (NT_ANY((size_t)at, other,
			   run->stretches[piece.steps[other].stretch].flow == flow && piece.steps[other].part == part))
			continue; /* each flow once */
		model_learn(&model->of_flow[run->cpu][flow][part], costs[at] * time / all);
		model_learn(&model->of_sort[run->cpu][flow % 2][part], costs[at] * time / all);
		model_learn(&model->of_any[run->cpu][part], costs[at] * time / all);
	}
}

/* A sample is of those who pay for its own ns, whoever has the CPU then. */
static unsigned int model_payers(const struct model *model, const struct model_run *run, uint64_t ns)
{
	unsigned int payers = 0;
	struct piece piece;

	if (!model_piece(run, ns, &piece))
		return 0;
	for (int at = 0; at < piece.n; at++)
		payers |= 1u << model_payer(model, run, piece.steps[at].stretch);
	/* The driver's samples are of no flow. */
	if (piece.has_driver)
		return payers | 1;
	return payers & 1u << BY_DRIVER ? 0 : payers;
}

static void model_add(struct model *model, const struct model_run *run)
{
	for (uint64_t ns = run->from; ns < run->to; ns++) {
		if (run->self[ns - run->from] && ns >= model->time.from_ns && ns < model->time.to_ns)
			model_ns(model, run, ns);
		model_learn_at(model, run, ns);
	}
	for (int i = 0; i < run->n; i++) {
		const uint64_t at = run->stretches[i].end_ns - model->time.from_ns;
		struct sum *sum = &model->sums[run->cpu][at / NT_BUCKET_NS % N_BUCKETS]
					      [payer_of(model, run, i, end_of_list(run, i))];

		if (!nt_view_has(&model->time, run->stretches[i].end_ns))
			continue;
		sum->packets += run->stretches[i].packets;
		sum->segments += run->stretches[i].segments;
		sum->bytes += run->stretches[i].bytes;
	}
}

/* ---- random runs ---- */

static void give_to_driver(struct nt_rx_stretch *stretch)
{
	stretch->flags = (stretch->flags & (FIRST | AFTER_LOSS)) | DRIVER;
	stretch->flow = stretch->packets = stretch->segments = stretch->bytes = 0;
}

static void cut_lists(struct nt_rand *rand, struct model_run *run)
{
	for (int i = 0; i < run->n; i++) {
		struct nt_rx_stretch *stretch = &run->stretches[i];

		if (!(stretch->flags & LISTED))
			continue;
		stretch->list = (uint8_t)nt_rand_below(rand, 2) * BEGINS;
		if (is_listed(run, i + 1) ? nt_rand_below(rand, 3) : !nt_rand_below(rand, 20))
			stretch->list |= CUT;
		if (!nt_rand_below(rand, 10))
			stretch->list |= MORE;
		if (nt_rand_below(rand, 3))
			stretch->since_ns = (uint32_t)nt_rand_below(rand, 200);
		/* The work on several was not seen. */
		if (is_listed(run, i + 1) && !nt_rand_below(rand, 5))
			stretch->end_ns = stretch[1].end_ns;
	}
}

static void make_stretches(struct nt_rand *rand, struct model_run *run)
{
	const bool has_lists = nt_rand_below(rand, 2), has_driver = nt_rand_below(rand, 2);
	uint64_t at = run->from, before = 0;

	while (run->n < MAX_STRETCHES && at < run->to && nt_rand_below(rand, 8)) {
		struct nt_rx_stretch *next = &run->stretches[run->n];

		at += 1 + nt_rand_below(rand, 400);
		if (at > run->to || !nt_rand_below(rand, 4))
			at = run->to;
		*next = (struct nt_rx_stretch){.end_ns = at,
					       .flow = 1 + nt_rand_below(rand, N_FLOWS - 2),
					       .packets = 1 + (uint32_t)nt_rand_below(rand, 9),
					       .segments = (uint32_t)nt_rand_below(rand, 99),
					       .bytes = (uint32_t)nt_rand_below(rand, 99999),
					       .flags = run->n ? 0 : FIRST};
		if (next->flow == before) /* neighbours differ */
			next->flow = next->flow % (N_FLOWS - 2) + 1;
		before = next->flow;
		if (has_lists && nt_rand_below(rand, 4))
			next->flags |= LISTED;
		if (!nt_rand_below(rand, 30))
			next->flags |= AFTER_LOSS;
		if (!nt_rand_below(rand, 30))
			next->flags ^= FIRST;
		if (!run->n && !(next->flags & FIRST))
			next->flags |= AFTER_LOSS;
		if (run->n && !nt_rand_below(rand, 4))
			next->flags |= AGAIN;
		if (!nt_rand_below(rand, 4))
			next->flags |= FORWARDED;
		if (!nt_rand_below(rand, 4))
			next->dropped = (uint32_t)nt_rand_below(rand, 10);
		if (has_driver && !nt_rand_below(rand, 4))
			next->flags |= AMID;
		else if (has_driver && !nt_rand_below(rand, 4))
			give_to_driver(next);
		run->n++;
	}
	if (nt_rand_below(rand, 2))
		cut_lists(rand, run);
}

/* A run some time after `at`. Its first ns and its last are its own. */
static void make_run(struct nt_rand *rand, struct model_run *run, uint32_t cpu, uint64_t at)
{
	*run = (struct model_run){.cpu = cpu, .from = at + 1 + nt_rand_below(rand, 50)};
	run->to = run->from + 2 + nt_rand_below(rand, MAX_RUN_NS - 2);
	run->run = run->from;
	for (uint64_t ns = run->from, end; ns < run->to; ns = end) {
		const bool is_self = ns == run->from || nt_rand_below(rand, 3);

		end = ns + 1 + nt_rand_below(rand, 700);
		end = end < run->to ? end : run->to;
		memset(run->self + (ns - run->from), is_self, end - ns);
	}
	run->self[run->to - run->from - 1] = 1;
	if (nt_rand_below(rand, 8))
		make_stretches(rand, run);
}

static void tell_sample(struct fixture *fixture, struct model *model, const struct model_run *run, uint64_t ns)
{
	const struct nt_stack_sample sample = {.end_ns = ns, .kind = NT_STACK_SAMPLE, .stack = model->n_samples};

	assert_true(model->n_samples < N_SAMPLES);
	model->payers[model->n_samples++] = model_payers(model, run, ns);
	assert_int_equal(nt_rx_charges_sample(fixture->charges, run->cpu, &sample), 0);
}

/* Stretches before the parts, as on a tape; parts may be cut anywhere. */
static void tell_run(struct fixture *fixture, struct nt_rand *rand, struct model *model, const struct model_run *run)
{
	for (int i = 0; i < run->n; i++)
		assert_int_equal(nt_rx_charges_stretch(fixture->charges, run->cpu, &run->stretches[i]), 0);
	for (uint64_t ns = run->from, end; ns < run->to; ns = end) {
		struct nt_rx_part one = {.ts_ns = ns, .cpu = run->cpu, .run_ns = run->run};

		for (end = ns; end < run->to && run->self[end - run->from] == run->self[ns - run->from];)
			end++;
		if (end > ns + 1 && !nt_rand_below(rand, 3))
			end = ns + 1 + nt_rand_below(rand, end - ns - 1);
		one.dur_ns = end - ns;
		if (run->self[ns - run->from])
			assert_int_equal(nt_rx_charges_part(fixture->charges, &one), 0);
		if (nt_rand_below(rand, 2))
			tell_sample(fixture, model, run, ns + nt_rand_below(rand, end - ns));
	}
}

/* Each charge may have been rounded by 1 ns, and means are rounded, too. */
static void compare_payer(const struct fixture *fixture, const struct model *model, int cpu, int bucket, int payer)
{
	const struct sum *got = &fixture->sums[cpu][bucket][payer], *want = &model->sums[cpu][bucket][payer];
	const double spent = (double)want->spent + model->divided[cpu][bucket][payer];
	const double slack = (double)fixture->charged[cpu][bucket][payer] + spent * 0.01;

	assert_int_equal(got->exact, want->exact);
	assert_int_equal(got->most, want->most);
	assert_int_equal(got->packets, want->packets);
	assert_int_equal(got->segments, want->segments);
	assert_int_equal(got->bytes, want->bytes);
	if ((double)got->spent < spent - slack || (double)got->spent > spent + slack)
		fail_msg("cpu %d bucket %d payer %d: %" PRIu64 ", not %.1f", cpu, bucket, payer, got->spent, spent);
}

static void compare_samples(const struct fixture *fixture, const struct model *model)
{
	for (size_t i = 0; i < model->n_samples; i++) {
		const unsigned int payers = model->payers[i], flow = 1u << fixture->samples[i].flow;

		if (!fixture->samples[i].is_given || (payers ? !(payers & (flow | flow << N_FLOWS)) : flow != 1) ||
		    (payers && fixture->samples[i].is_exact != !(payers & (payers - 1))))
			fail_msg("sample %zu: flow %" PRIu64 "%s, not of %#x", i, fixture->samples[i].flow,
				 fixture->samples[i].is_exact ? " alone" : "", payers);
	}
}

static void compare(const struct fixture *fixture, const struct model *model)
{
	compare_samples(fixture, model);
	for (int cpu = 0; cpu < N_CPUS; cpu++) {
		for (int bucket = 0; bucket < N_BUCKETS; bucket++) {
			uint64_t spent = 0;

			for (int payer = 0; payer < N_PAYERS; payer++) {
				compare_payer(fixture, model, cpu, bucket, payer);
				spent += fixture->sums[cpu][bucket][payer].spent;
			}
			assert_int_equal(spent, model->all[cpu][bucket]);
		}
	}
}

/* Now and then to just before the edge of a bucket. */
static uint64_t time_off(struct nt_rand *rand, uint64_t at)
{
	const uint64_t left = NT_BUCKET_NS - at % NT_BUCKET_NS, before = 1 + nt_rand_below(rand, MAX_RUN_NS);

	return nt_rand_below(rand, 10) || at > 3 * NT_BUCKET_NS || left < before ? 0 : left - before;
}

/* All, or a part; its edges are where the first runs are, or anywhere. */
static struct nt_view_time choose_view(struct nt_rand *rand)
{
	struct nt_view view = {0};

	if (nt_rand_below(rand, 4)) {
		view.from_ns = START - 5 + nt_rand_below(rand, nt_rand_below(rand, 2) ? 40000 : DUR);
		view.to_ns = view.from_ns + 1 + nt_rand_below(rand, nt_rand_below(rand, 2) ? 40000 : DUR);
	}
	return nt_view_time(&view, START, START + DUR);
}

static void check_random(struct fixture *fixture, uint64_t seed)
{
	struct nt_rand rand = {seed};
	struct model *model = calloc(1, sizeof(*model));
	struct model_run *run = malloc(sizeof(*run));
	uint64_t at[N_CPUS] = {START, START};

	assert_true(model && run);
	model->time = choose_view(&rand);
	model->fixture = fixture;
	begin_view(fixture, &model->time);
	fixture->has_sockets = true;
	for (int i = 0; i < 40; i++) {
		const uint32_t cpu = (uint32_t)nt_rand_below(&rand, N_CPUS);

		at[cpu] += time_off(&rand, at[cpu] - START);
		make_run(&rand, run, cpu, at[cpu]);
		at[cpu] = run->to;
		model_add(model, run);
		tell_run(fixture, &rand, model, run);
	}
	finish(fixture);
	compare(fixture, model);
	free(run);
	free(model);
}

static void test_random(void **state)
{
	const uint64_t seed = nt_rand_seed();

	for (int i = 0; i < N_ROUNDS; i++)
		check_random(*state, seed + (uint64_t)i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_by_one, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody, setup, teardown),
		cmocka_unit_test_setup_teardown(test_endless, setup, teardown),
		cmocka_unit_test_setup_teardown(test_again, setup, teardown),
		cmocka_unit_test_setup_teardown(test_steered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_driver, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fates, setup, teardown),
		cmocka_unit_test_setup_teardown(test_losses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_batches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown_costs, setup, teardown),
		cmocka_unit_test_setup_teardown(test_means, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cuts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_never_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_buckets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_whole_bucket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_packets_outside, setup, teardown),
		cmocka_unit_test_setup_teardown(test_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(test_drawn_samples, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large_batches, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_random, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

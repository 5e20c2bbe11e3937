// SPDX-License-Identifier: GPL-2.0-only
/*
 * sums_charges_test.c - who pays for net_rx, condensed (report/db/sums.h): nothing is lost, a minute has what its rows
 * had, and its largest rows keep the name of their process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/sums.h"
#include "tests/support/rand.h"

#define START 1000000000000ull
#define MINUTE ((uint64_t)NT_SUMS_BUCKET_NS)
#define STEP 100000000ull
#define MINUTES 70
#define DUR (MINUTES * MINUTE - MINUTE / 2)
#define CPUS 2
#define PAYERS (NT_PAYER_UNATTRIBUTED + 1)
#define PROCESSES 60 /* 0: none; the last one stands for the others */
#define OTHERS (PROCESSES - 1)

struct sum {
	uint64_t spent, exact, most, packets, segments, bytes;
};

struct world {
	struct nt_sums *sums;
	struct nt_arena arena;
	struct sum in[MINUTES][CPUS][PAYERS][PROCESSES], out[MINUTES][CPUS][PAYERS][PROCESSES];
	size_t n, fail_at; /* rows; this one is refused, 0: none */
	size_t others, named;
	int64_t dur; /* of the row that came last */
};

static uint64_t number(const struct nt_row *row, const char *column)
{
	const struct nt_value *value = nt_row_value(row, column);

	return value->type == NT_VALUE_INTEGER ? (uint64_t)value->integer : 0;
}

static void add(struct sum *to, const struct nt_row *row, uint64_t part, uint64_t parts)
{
	to->spent += number(row, "spent_ns") / parts;
	to->exact += number(row, "exact_ns") / parts;
	to->most += number(row, "most_ns") / parts;
	to->packets += part ? 0 : number(row, "packets");
	to->segments += part ? 0 : number(row, "segments");
	to->bytes += part ? 0 : number(row, "bytes");
}

static int on_row(void *arg, const struct nt_row *row)
{
	struct world *world = arg;
	uint64_t process, at, n;

	if (row->table != NT_TABLE_RX_COST) {
		world->others += row->table == NT_TABLE_PROCESS && number(row, "upid") == NT_SUMS_OTHERS;
		return 0;
	}
	if (++world->n == world->fail_at)
		return -EIO;
	assert_int_equal(nt_row_value(row, "socket_id")->type, NT_VALUE_NULL);
	assert_int_equal(nt_row_value(row, "flow_id")->type, NT_VALUE_NULL);
	process = number(row, "upid");
	world->named += process && process != NT_SUMS_OTHERS;
	at = number(row, "ts") - START;
	world->dur = (int64_t)number(row, "dur");
	n = (uint64_t)world->dur > MINUTE ? (uint64_t)world->dur / MINUTE : 1;
	assert_true(at % MINUTE == 0);
	assert_true(world->dur % (int64_t)MINUTE == 0 || at + (uint64_t)world->dur == DUR);
	for (uint64_t i = 0; i < n; i++)
		add(&world->out[at / MINUTE + i][number(row, "cpu")][nt_payer_number(nt_row_value(row, "payer")->text)]
			       [process == NT_SUMS_OTHERS ? OTHERS : process],
		    row, i, n);
	return 0;
}

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	const struct nt_sums_sink sink = {world, on_row};

	world->sums = nt_sums_new(START, START + DUR, &sink);
	*state = world;
	return world->sums ? 0 : -1;
}

static int teardown(void **state)
{
	struct world *world = *state;

	nt_sums_free(world->sums);
	nt_arena_release(&world->arena);
	free(world);
	return 0;
}

/* A row of that time; a process of 0 is none. */
static int charge(struct world *world, uint64_t at, uint64_t dur, uint32_t cpu, enum nt_payer payer, uint64_t process,
		  const struct sum *sum)
{
	const struct nt_rx_cost cost = {.ts_ns = START + at,
					.dur_ns = dur,
					.cpu = cpu,
					.flow = 9,
					.packets = sum->packets,
					.segments = sum->segments,
					.bytes = sum->bytes,
					.spent_ns = sum->spent,
					.exact_ns = sum->exact,
					.most_ns = sum->most};
	const struct nt_rx_paid paid = {.cost = &cost,
					.payer = payer,
					.socket = 5,
					.process = process ? process : NT_NO_TASK,
					.device = 1 + cpu % 2};
	struct nt_row row;
	int error;

	assert_int_equal(nt_table_fill(&row, &world->arena, NT_TABLE_RX_COST, 1, &paid), 0);
	error = nt_sums_row(world->sums, &row);
	nt_arena_reset(&world->arena);
	if (!error)
		add(&world->in[at / MINUTE][cpu][payer][process], &row, 0, 1);
	return error;
}

static void finish(struct world *world)
{
	assert_int_equal(nt_sums_finish(world->sums), 0);
}

static bool is_same(const struct sum *a, const struct sum *b)
{
	return a->spent == b->spent && a->exact == b->exact && a->most == b->most && a->packets == b->packets &&
	       a->segments == b->segments && a->bytes == b->bytes;
}

static void add_sum(struct sum *to, const struct sum *more)
{
	to->spent += more->spent;
	to->exact += more->exact;
	to->most += more->most;
	to->packets += more->packets;
	to->segments += more->segments;
	to->bytes += more->bytes;
}

/* Those that kept their name have all of their time, or none of it; the rest have what is missing. */
static void compare(const struct world *world)
{
	for (int i = 0; i < MINUTES * CPUS * PAYERS; i++) {
		const struct sum *in = (const struct sum *)world->in + i * PROCESSES;
		const struct sum *out = (const struct sum *)world->out + i * PROCESSES;
		static const struct sum nothing;
		struct sum rest = {0};

		assert_true(is_same(&in[0], &out[0]));
		for (int process = 1; process < OTHERS; process++) {
			if (!is_same(&in[process], &out[process])) {
				assert_true(is_same(&out[process], &nothing));
				add_sum(&rest, &in[process]);
			}
		}
		assert_true(is_same(&rest, &out[OTHERS]));
	}
}

static struct sum random_sum(struct nt_rand *rand)
{
	const struct sum sum = {.exact = nt_rand_below(rand, 1000),
				.packets = nt_rand_below(rand, 9),
				.segments = nt_rand_below(rand, 99),
				.bytes = nt_rand_below(rand, 999)};

	return (struct sum){
		sum.exact + nt_rand_below(rand, 50), sum.exact, sum.exact + 50, sum.packets, sum.segments, sum.bytes};
}

/* Rows of each minute in any order, some of them late by less than a minute. */
static void test_random(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};
	struct world *world = *state;

	for (uint64_t at = 0; at + 2 * MINUTE < DUR; at += nt_rand_below(&rand, MINUTE / 40)) {
		const struct sum sum = random_sum(&rand);
		const uint64_t late = nt_rand_below(&rand, 2) ? 0 : nt_rand_below(&rand, MINUTE);
		const uint64_t then = at > late ? at - late : 0;
		const enum nt_payer payer = (enum nt_payer)nt_rand_below(&rand, PAYERS);
		/* Few enough, on all CPUs, that each keeps its name. */
		const uint64_t process = payer == NT_PAYER_SOCKET ? nt_rand_below(&rand, NT_SUMS_TOP / CPUS + 1) : 0;

		assert_int_equal(charge(world, then - then % STEP, STEP, (uint32_t)nt_rand_below(&rand, CPUS), payer,
					process, &sum),
				 0);
	}
	finish(world);
	compare(world);
	assert_true(world->named > MINUTES && !world->others);
}

/* Of more processes than keep a name in a minute, the smallest lose it. */
static void test_names(void **state)
{
	struct world *world = *state;

	for (uint64_t process = 1; process < OTHERS; process++) {
		const struct sum sum = {.spent = 100 + process, .exact = 1, .most = 200, .packets = 1};

		assert_int_equal(charge(world, STEP * process, STEP, 1, NT_PAYER_SOCKET, process, &sum), 0);
	}
	finish(world);
	compare(world);
	assert_int_equal(world->named, NT_SUMS_TOP);
	assert_int_equal(world->others, 1);
	for (uint64_t process = 1; process < OTHERS; process++)
		assert_int_equal(world->out[0][1][NT_PAYER_SOCKET][process].spent,
				 process < OTHERS - NT_SUMS_TOP ? 0 : 100 + process);
}

/* A row of several buckets is cut at minutes; one of many minutes stays one. */
static void test_long(void **state)
{
	const struct sum all = {.spent = 3 * MINUTE, .exact = MINUTE, .most = 3 * MINUTE, .packets = 7};
	const struct sum many = {.spent = 61 * MINUTE + STEP, .exact = 61 * MINUTE + STEP, .most = 61 * MINUTE + STEP};
	struct world *world = *state;

	charge(world, MINUTE - STEP, 3 * MINUTE, 0, NT_PAYER_SOCKET, 3, &all);
	finish(world);
	assert_int_equal(world->n, 4);
	assert_int_equal(world->out[0][0][0][3].spent, STEP);
	assert_int_equal(world->out[0][0][0][3].packets, 7);
	assert_int_equal(world->out[1][0][0][3].spent, MINUTE);
	assert_int_equal(world->out[2][0][0][3].exact + world->out[1][0][0][3].exact + world->out[0][0][0][3].exact +
				 world->out[3][0][0][3].exact,
			 MINUTE);
	assert_int_equal(world->out[3][0][0][3].spent, MINUTE - STEP);
	assert_int_equal(world->out[3][0][0][3].packets, 0);
	charge(world, 5 * MINUTE, 61 * MINUTE + STEP, 1, NT_PAYER_UNATTRIBUTED, 0, &many);
	assert_int_equal(world->n, 5);
	assert_int_equal(world->dur, 61 * MINUTE);
	finish(world);
	assert_int_equal(world->n, 6);
	assert_int_equal(world->out[65][1][NT_PAYER_UNATTRIBUTED][0].spent, MINUTE);
	assert_int_equal(world->out[66][1][NT_PAYER_UNATTRIBUTED][0].spent, STEP);
}

/* More different rows in a minute than are noted: they are put early, and add up. */
static void test_many(void **state)
{
	struct world *world = *state;
	const struct sum sum = {.spent = 2, .exact = 1, .most = 3, .packets = 1};
	uint64_t spent = 0, n = 0;

	for (uint64_t round = 0; round < 2 * NT_SUMS_NOTED / (CPUS * OTHERS) + 1; round++) {
		for (uint64_t key = 0; key < CPUS * OTHERS; key++, n++)
			charge(world, STEP, STEP, key % CPUS, NT_PAYER_SOCKET, key / CPUS, &sum);
	}
	finish(world);
	for (int process = 0; process < PROCESSES; process++)
		spent += world->out[0][0][0][process].spent + world->out[0][1][0][process].spent;
	assert_int_equal(spent, 2 * n);
}

static void test_refused(void **state)
{
	struct world *world = *state;
	const struct sum sum = {.spent = 2};
	int error = 0;

	world->fail_at = 2;
	for (uint64_t minute = 0; minute < 9 && !error; minute++)
		error = charge(world, minute * MINUTE, STEP, 0, NT_PAYER_OTHER, 0, &sum);
	assert_int_equal(error, -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_random, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

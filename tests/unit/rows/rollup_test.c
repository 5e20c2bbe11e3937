// SPDX-License-Identifier: GPL-2.0-only
/*
 * rollup_test.c - the sums of slices and operations in buckets, by hand: which bucket counts what, however many sums
 * there are, and that nothing is counted twice or not at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/rollup.h"
#include "report/rows/rx_charge.h"
#include "report/timeline/timeline.h"
#include "schema/event.h"
#include "tests/support/rand.h"

#define START 1000000000000ull
#define BUCKET NT_BUCKET_NS
#define MANY 25000u /* more keys than a rollup keeps at a time, three times over */

/* The output. Rows of one key add up. */
struct sums {
	size_t rows, fail_at; /* fail_at: this row is refused; 0: none */
	uint64_t ns, ops, bytes, failed, untimed, lower_bound;
	uint64_t by_task[MANY]; /* ns of slices, or operations */
	bool is_late[MANY]; /* flows */
	struct nt_cpu_cost slice; /* the last row of each kind */
	struct nt_sock_cost op;
	struct nt_rx_cost rx;
	struct nt_elsewhere_cost elsewhere;
};

struct fixture {
	struct sums sums;
	struct nt_rollup *rollup;
};

static int take_slices(void *arg, const struct nt_cpu_cost *cost)
{
	struct sums *sums = arg;

	if (++sums->rows == sums->fail_at)
		return -EIO;
	sums->ns += cost->spent_ns;
	if (cost->task < MANY)
		sums->by_task[cost->task] += cost->spent_ns;
	sums->slice = *cost;
	return 0;
}

static int take_ops(void *arg, const struct nt_sock_cost *cost)
{
	struct sums *sums = arg;

	if (++sums->rows == sums->fail_at)
		return -EIO;
	sums->ns += cost->cpu_ns;
	sums->ops += cost->ops;
	sums->bytes += cost->bytes;
	sums->failed += cost->failed;
	sums->untimed += cost->untimed;
	sums->lower_bound += cost->lower_bound;
	if (cost->task < MANY)
		sums->by_task[cost->task] += cost->ops;
	sums->op = *cost;
	return 0;
}

static int take_rx(void *arg, const struct nt_rx_cost *cost)
{
	struct sums *sums = arg;

	if (++sums->rows == sums->fail_at)
		return -EIO;
	sums->ns += cost->spent_ns;
	sums->bytes += cost->bytes;
	if (cost->flow < MANY)
		sums->by_task[cost->flow] += cost->spent_ns;
	if (cost->flow < MANY)
		sums->is_late[cost->flow] = cost->is_late;
	sums->rx = *cost;
	return 0;
}

static int take_elsewhere(void *arg, const struct nt_elsewhere_cost *cost)
{
	struct sums *sums = arg;

	if (++sums->rows == sums->fail_at)
		return -EIO;
	sums->ns += cost->spent_ns;
	sums->elsewhere = *cost;
	return 0;
}

/* A session of so many nanoseconds. */
static void begin(struct fixture *fixture, uint64_t dur_ns)
{
	const struct nt_rollup_sink sink = {&fixture->sums, take_slices, take_ops, take_rx, take_elsewhere};

	nt_rollup_free(fixture->rollup);
	fixture->sums = (struct sums){0};
	fixture->rollup = nt_rollup_new(&(struct nt_view_time){START, START + dur_ns, true, true, START}, &sink);
	assert_non_null(fixture->rollup);
}

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	nt_rollup_free(fixture->rollup);
	free(fixture);
	return 0;
}

static void slice(struct fixture *fixture, uint64_t from, uint64_t to, uint64_t task)
{
	const struct nt_cpu_slice one = {
		.ts_ns = START + from, .dur_ns = to - from, .cpu = 3, .owner = NT_OWNER_SEND, .task = task};

	assert_int_equal(nt_rollup_slice(fixture->rollup, &one), 0);
}

static struct nt_op_row op_until(uint64_t end)
{
	return (struct nt_op_row){.ts_ns = START + end - 10,
				  .dur_ns = 10,
				  .cpu_ns = 7,
				  .timed = true,
				  .task = 5,
				  .dir = NT_RECV,
				  .socket = 9,
				  .result = 100};
}

static void add(struct fixture *fixture, const struct nt_op_row *op)
{
	assert_int_equal(nt_rollup_op(fixture->rollup, op), 0);
}

/* ---- how many there are ---- */

/* Memory holds some thousand sums: when there are more in one bucket, those so far are given, and all add up. */
static void gives_slices_of_any_number_of_tasks(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, BUCKET);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int task = 0; task < MANY; task++)
			slice(fixture, round * MANY + task, round * MANY + task + 1, task);
	}
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.ns, 2 * MANY);
	for (unsigned int task = 0; task < MANY; task++)
		assert_int_equal(fixture->sums.by_task[task], 2);
}

static void gives_operations_of_any_number_of_tasks(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, BUCKET);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int task = 0; task < MANY; task++) {
			struct nt_op_row op = op_until(1000);

			op.task = task;
			add(fixture, &op);
		}
	}
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.ops, 2 * MANY);
	assert_int_equal(fixture->sums.bytes, 2 * MANY * 100);
	for (unsigned int task = 0; task < MANY; task++)
		assert_int_equal(fixture->sums.by_task[task], 2);
}

/* A charge from that time on; also of packets. */
static struct nt_rx_charge charge_of(uint64_t from, uint64_t to, uint64_t flow)
{
	return (struct nt_rx_charge){.ts_ns = START + from,
				     .dur_ns = to - from,
				     .cpu = 3,
				     .flow = flow,
				     .spent_ns = (to - from) / 2,
				     .exact_ns = (to - from) / 3,
				     .most_ns = to - from,
				     .packets = 1,
				     .segments = 2,
				     .bytes = 100};
}

static void gives_charges_of_any_number_of_flows(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, BUCKET);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int flow = 0; flow < MANY; flow++) {
			const struct nt_rx_charge one = charge_of(flow, flow + 6, flow);

			assert_int_equal(nt_rollup_rx(fixture->rollup, &one), 0);
		}
	}
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.ns, 2 * MANY * 3);
	assert_int_equal(fixture->sums.bytes, 2 * MANY * 100);
	for (unsigned int flow = 0; flow < MANY; flow++)
		assert_int_equal(fixture->sums.by_task[flow], 6);
}

/* All numbers of a charge add up, in the bucket of its begin; one of several buckets is a row as it is. */
static void adds_charges_up(void **state)
{
	struct fixture *fixture = *state;
	struct nt_rx_charge one = charge_of(2 * BUCKET, 2 * BUCKET + 60, 7);
	const struct nt_rx_charge whole = charge_of(BUCKET, 2 * BUCKET, 7), several = charge_of(BUCKET, 4 * BUCKET, 7);
	const struct nt_rx_cost *row = &fixture->sums.rx;

	begin(fixture, 4 * BUCKET + 10);
	for (int change = 0; change < 4; change++) {
		one.cpu = change & 1;
		one.flow = 7 + (change & 2);
		assert_int_equal(nt_rollup_rx(fixture->rollup, &one), 0);
		assert_int_equal(nt_rollup_rx(fixture->rollup, &one), 0);
	}
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.rows, 4);
	assert_true(row->ts_ns == START + 2 * BUCKET && row->dur_ns == BUCKET && row->cpu == 1 && row->flow == 9);
	assert_true(row->spent_ns == 60 && row->exact_ns == 40 && row->most_ns == 120);
	assert_true(row->packets == 2 && row->segments == 4 && row->bytes == 200);
	assert_int_equal(nt_rollup_rx(fixture->rollup, &whole), 0);
	assert_int_equal(fixture->sums.rows, 4);
	assert_int_equal(nt_rollup_rx(fixture->rollup, &several), 0);
	assert_int_equal(fixture->sums.rows, 5);
	assert_true(row->ts_ns == START + BUCKET && row->dur_ns == 3 * BUCKET && row->cpu == 3 && row->flow == 7);
	assert_true(row->spent_ns == 3 * BUCKET / 2 && row->exact_ns == BUCKET && row->most_ns == 3 * BUCKET);
	one = charge_of(4 * BUCKET, 4 * BUCKET + 10, 0);
	assert_int_equal(nt_rollup_rx(fixture->rollup, &one), 0);
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.rows, 7);
	assert_true(row->ts_ns == START + 4 * BUCKET && row->dur_ns == 10 && row->flow == 0);
}

#define N_FLOWS 24000u
#define FLOW_CPUS 8u

/*
 * In a bucket and on a CPU the first flows have sums, and the others have none, however many there are in all: each row
 * of theirs is late. What is no flow has a sum in any case.
 */
static void names_so_many_flows(void **state)
{
	struct fixture *fixture = *state;
	struct nt_rand rand = {nt_rand_seed()};
	unsigned int n_named[FLOW_CPUS] = {0};
	static bool is_named[N_FLOWS];

	begin(fixture, 4 * BUCKET);
	memset(is_named, 0, sizeof(is_named));
	for (unsigned int i = 0; i < 2 * N_FLOWS; i++) {
		const unsigned int flow = (unsigned int)nt_rand_below(&rand, N_FLOWS), cpu = flow % FLOW_CPUS;
		struct nt_rx_charge charge = charge_of(BUCKET, BUCKET + 10, flow);

		charge.cpu = cpu;
		assert_int_equal(nt_rollup_rx(fixture->rollup, &charge), 0);
		if (flow && !is_named[flow] && n_named[cpu] < NT_NAMED_FLOWS)
			is_named[flow] = ++n_named[cpu];
	}
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	for (unsigned int flow = 1; flow < N_FLOWS; flow++)
		assert_true(!fixture->sums.by_task[flow] || fixture->sums.is_late[flow] == !is_named[flow]);
	assert_false(fixture->sums.is_late[0]);
	assert_int_equal(fixture->sums.bytes, 2 * N_FLOWS * 100);
	assert_int_equal(n_named[FLOW_CPUS - 1], NT_NAMED_FLOWS);
}

/* A key that differs in one part is another sum; the same key is one. */
/* Interrupts and functions of one number are two; whole buckets in a row are a row as they are. */
static void adds_up_elsewhere(void **state)
{
	struct fixture *fixture = *state;
	struct nt_elsewhere_cost time = {.ts_ns = START + BUCKET - 10, .dur_ns = 3 * BUCKET, .cpu = 2, .number = 7};
	const struct nt_elsewhere_cost *row = &fixture->sums.elsewhere;

	begin(fixture, 4 * BUCKET);
	assert_int_equal(nt_rollup_elsewhere(fixture->rollup, &time), 0);
	assert_int_equal(fixture->sums.rows, 1);
	assert_true(row->ts_ns == START + BUCKET && row->dur_ns == 2 * BUCKET && row->spent_ns == 2 * BUCKET);
	assert_true(row->cpu == 2 && row->what == NT_ELSEWHERE_HARDIRQ && row->number == 7);
	time.ts_ns = START + 5;
	time.dur_ns = 20;
	time.what = NT_ELSEWHERE_TIMER;
	assert_int_equal(nt_rollup_elsewhere(fixture->rollup, &time), 0);
	assert_int_equal(nt_rollup_elsewhere(fixture->rollup, &time), 0);
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.rows, 4);
	assert_true(row->ts_ns == START && row->dur_ns == BUCKET && row->spent_ns == 40 &&
		    row->what == NT_ELSEWHERE_TIMER);
	assert_int_equal(fixture->sums.ns, 3 * BUCKET + 40);
	fixture->sums.fail_at = 5;
	time.dur_ns = 3 * BUCKET;
	assert_int_equal(nt_rollup_elsewhere(fixture->rollup, &time), -EIO);
}

static void keeps_keys_apart(void **state)
{
	struct fixture *fixture = *state;
	struct nt_op_row op = op_until(1000);

	begin(fixture, 2 * BUCKET);
	for (unsigned int change = 0; change < 16; change++) {
		op.task = 5 + (change & 1);
		op.socket = 9 + (change >> 1 & 1);
		op.dir = change & 4 ? NT_SEND : NT_RECV;
		op.ts_ns = START + (change & 8 ? BUCKET : 0);
		add(fixture, &op);
		add(fixture, &op);
	}
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.rows, 16);
	assert_int_equal(fixture->sums.ops, 32);
	begin(fixture, BUCKET);
	for (unsigned int change = 0; change < 8; change++) {
		const struct nt_cpu_slice one = {.ts_ns = START,
						 .dur_ns = 1,
						 .cpu = change & 1,
						 .owner = change & 2 ? NT_OWNER_SEND : NT_OWNER_RECV,
						 .task = change & 4};

		assert_int_equal(nt_rollup_slice(fixture->rollup, &one), 0);
		assert_int_equal(nt_rollup_slice(fixture->rollup, &one), 0);
	}
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.rows, 8);
	assert_int_equal(fixture->sums.ns, 16);
}

/* Sums of long ago do not wait for the end: memory is for a few buckets. */
static void gives_what_is_long_past(void **state)
{
	struct fixture *fixture = *state;

	begin(fixture, 1000 * BUCKET);
	slice(fixture, 0, 10, 1);
	slice(fixture, BUCKET, BUCKET + 10, 1);
	assert_int_equal(fixture->sums.rows, 0);
	slice(fixture, 100 * BUCKET, 100 * BUCKET + 10, 1);
	assert_int_equal(fixture->sums.rows, 2);
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.rows, 3);
}

/* ---- which bucket ---- */

static void splits_slices_at_the_nanosecond(void **state)
{
	struct fixture *fixture = *state;

	/* Just up to the bound: one bucket; a nanosecond more: two. */
	begin(fixture, 10 * BUCKET);
	slice(fixture, 30, BUCKET, 1);
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.rows, 1);
	assert_int_equal(fixture->sums.slice.ts_ns, START);
	assert_int_equal(fixture->sums.slice.dur_ns, BUCKET);
	assert_int_equal(fixture->sums.slice.spent_ns, BUCKET - 30);
	begin(fixture, 10 * BUCKET);
	slice(fixture, 30, BUCKET + 1, 1);
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.rows, 2);
	assert_int_equal(fixture->sums.slice.ts_ns, START + BUCKET);
	assert_int_equal(fixture->sums.slice.spent_ns, 1);
	/* Whole buckets are one row. */
	begin(fixture, 10 * BUCKET);
	slice(fixture, BUCKET, 4 * BUCKET, 1);
	assert_int_equal(fixture->sums.rows, 1);
	assert_int_equal(fixture->sums.slice.ts_ns, START + BUCKET);
	assert_int_equal(fixture->sums.slice.dur_ns, 3 * BUCKET);
	assert_int_equal(fixture->sums.slice.spent_ns, 3 * BUCKET);
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.rows, 1);
}

/* The bucket of an operation that ends so long after the start, in a session of dur_ns. */
static void expect_bucket(struct fixture *fixture, uint64_t dur_ns, int64_t end, uint64_t ts, uint64_t bucket_dur)
{
	struct nt_op_row op = op_until((uint64_t)end);

	begin(fixture, dur_ns);
	add(fixture, &op);
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.rows, 1);
	if (fixture->sums.op.ts_ns != START + ts || fixture->sums.op.dur_ns != bucket_dur)
		fail_msg("an operation that ends at %lld of %llu ns is in the bucket at %lld, %llu ns long, and not at "
			 "%llu",
			 (long long)end, (unsigned long long)dur_ns, (long long)(fixture->sums.op.ts_ns - START),
			 (unsigned long long)fixture->sums.op.dur_ns, (unsigned long long)ts);
}

static void counts_operations_where_they_end(void **state)
{
	struct fixture *fixture = *state;

	expect_bucket(fixture, 3 * BUCKET, BUCKET - 1, 0, BUCKET);
	expect_bucket(fixture, 3 * BUCKET, BUCKET, BUCKET, BUCKET);
	/* The session's end belongs to its last bucket: there is none behind it. */
	expect_bucket(fixture, 3 * BUCKET, 3 * BUCKET - 1, 2 * BUCKET, BUCKET);
	expect_bucket(fixture, 3 * BUCKET, 3 * BUCKET, 2 * BUCKET, BUCKET);
	expect_bucket(fixture, 2 * BUCKET + 5, 2 * BUCKET + 5, 2 * BUCKET, 5);
	/* Times that no session has count at its ends. */
	expect_bucket(fixture, 3 * BUCKET, 9 * BUCKET, 2 * BUCKET, BUCKET);
	expect_bucket(fixture, 3 * BUCKET, -5, 0, BUCKET);
	expect_bucket(fixture, 0, 0, 0, 0);
}

/* One whose begin is not known stands at its end. */
static void counts_untimed_operations_where_they_end(void **state)
{
	struct fixture *fixture = *state;
	struct nt_op_row op = op_until(BUCKET);

	begin(fixture, 3 * BUCKET);
	op.timed = false;
	add(fixture, &op);
	assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
	assert_int_equal(fixture->sums.op.ts_ns, START);
	assert_int_equal(fixture->sums.untimed, 1);
	assert_int_equal(fixture->sums.ns, 0);
	assert_int_equal(fixture->sums.bytes, 100);
}

/* ---- what is summed ---- */

static void sums_what_operations_moved(void **state)
{
	static const struct {
		const char *what;
		enum nt_op_end end;
		int32_t result;
		uint8_t flags;
		uint64_t bytes, failed;
	} cases[] = {
		{"done", NT_OP_DONE, 100, 0, 100, 0},
		{"of no bytes", NT_OP_DONE, 0, 0, 0, 0},
		{"failed", NT_OP_DONE, -11, 0, 0, 1},
		{"still open", NT_OP_OPEN, 100, 0, 0, 1},
		{"left by its task's exit", NT_OP_EXIT, 100, 0, 0, 1},
		{"a peek", NT_OP_DONE, 100, NT_OP_PEEK, 0, 0},
		{"of the error queue", NT_OP_DONE, 100, NT_OP_ERRQUEUE, 0, 0},
		{"a peek into the error queue", NT_OP_DONE, 100, NT_OP_PEEK | NT_OP_ERRQUEUE, 0, 0},
		{"made by the kernel", NT_OP_DONE, 100, NT_OP_KERNEL, 100, 0},
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nt_op_row op = op_until(1000);

		op.end = cases[i].end;
		op.result = cases[i].result;
		op.flags = cases[i].flags;
		op.lower_bound = i % 2;
		begin(fixture, BUCKET);
		add(fixture, &op);
		assert_int_equal(nt_rollup_finish(fixture->rollup), 0);
		if (fixture->sums.bytes != cases[i].bytes || fixture->sums.failed != cases[i].failed)
			fail_msg("an operation that is %s: %llu bytes and %llu failed, not %llu and %llu",
				 cases[i].what, (unsigned long long)fixture->sums.bytes,
				 (unsigned long long)fixture->sums.failed, (unsigned long long)cases[i].bytes,
				 (unsigned long long)cases[i].failed);
		assert_int_equal(fixture->sums.ops, 1);
		assert_int_equal(fixture->sums.ns, 7);
		assert_int_equal(fixture->sums.untimed, 0);
		assert_int_equal(fixture->sums.lower_bound, i % 2);
	}
}

/* ---- against sums in an array for each key ---- */

#define N_BUCKETS 12
#define N_CPUS 6
#define N_TASKS 9
#define N_SOCKETS 7

struct model {
	int64_t ns[N_BUCKETS][N_CPUS][NT_OWNER_COUNT][N_TASKS];
	int64_t ops[N_BUCKETS][N_TASKS][N_SOCKETS][2], bytes[N_BUCKETS][N_TASKS][N_SOCKETS][2];
	int64_t charged[N_BUCKETS][N_CPUS][N_SOCKETS];
	int64_t elsewhere[N_BUCKETS][N_CPUS][2][N_SOCKETS];
};

static int take_slices_off(void *arg, const struct nt_cpu_cost *cost)
{
	struct model *model = arg;
	uint64_t bucket = (cost->ts_ns - START) / BUCKET, left = cost->spent_ns;

	for (; left > BUCKET; left -= BUCKET)
		model->ns[bucket++][cost->cpu][cost->owner][cost->task] -= (int64_t)BUCKET;
	model->ns[bucket][cost->cpu][cost->owner][cost->task] -= (int64_t)left;
	return 0;
}

static int take_ops_off(void *arg, const struct nt_sock_cost *cost)
{
	const uint64_t bucket = (cost->ts_ns - START) / BUCKET;
	struct model *model = arg;

	model->ops[bucket][cost->task][cost->socket][cost->dir == NT_SEND] -= (int64_t)cost->ops;
	model->bytes[bucket][cost->task][cost->socket][cost->dir == NT_SEND] -= (int64_t)cost->bytes;
	return 0;
}

static int take_rx_off(void *arg, const struct nt_rx_cost *cost)
{
	struct model *model = arg;

	model->charged[(cost->ts_ns - START) / BUCKET][cost->cpu][cost->flow] -= (int64_t)cost->spent_ns;
	return 0;
}

static int take_elsewhere_off(void *arg, const struct nt_elsewhere_cost *cost)
{
	struct model *model = arg;
	uint64_t bucket = (cost->ts_ns - START) / BUCKET, left = cost->spent_ns;

	for (; left > BUCKET; left -= BUCKET)
		model->elsewhere[bucket++][cost->cpu][cost->what][cost->number] -= (int64_t)BUCKET;
	model->elsewhere[bucket][cost->cpu][cost->what][cost->number] -= (int64_t)left;
	return 0;
}

/* The same time as the slice that was just added, of an interrupt or a timer. */
static void add_elsewhere(struct nt_rollup *rollup, struct model *model, struct nt_rand *rand, uint32_t cpu,
			  uint64_t from, uint64_t to)
{
	const struct nt_elsewhere_cost time = {.ts_ns = START + from,
					       .dur_ns = to - from,
					       .cpu = cpu,
					       .what = nt_rand_below(rand, 2) ? NT_ELSEWHERE_TIMER
									      : NT_ELSEWHERE_HARDIRQ,
					       .number = (uint32_t)nt_rand_below(rand, N_SOCKETS)};

	assert_int_equal(nt_rollup_elsewhere(rollup, &time), 0);
	while (from < to) {
		const uint64_t edge = (from / BUCKET + 1) * BUCKET, until = to < edge ? to : edge;

		model->elsewhere[from / BUCKET][cpu][time.what][time.number] += (int64_t)(until - from);
		from = until;
	}
}

/* A slice from that time on: mostly short, at times to the end of its bucket, or over several. Gives its end. */
static uint64_t add_random_slice(struct nt_rollup *rollup, struct model *model, struct nt_rand *rand, uint32_t cpu,
				 uint64_t at)
{
	const uint64_t most = nt_rand_below(rand, 400) ? BUCKET / 200 : 3 * BUCKET;
	uint64_t end = nt_rand_below(rand, 50) ? at + 1 + nt_rand_below(rand, most) : (at / BUCKET + 1) * BUCKET;
	struct nt_cpu_slice slice = {.ts_ns = START + at,
				     .cpu = cpu,
				     .owner = (enum nt_owner)nt_rand_below(rand, NT_OWNER_COUNT),
				     .task = nt_rand_below(rand, N_TASKS)};

	end = end < N_BUCKETS * BUCKET ? end : N_BUCKETS * BUCKET;
	slice.dur_ns = end - at;
	assert_int_equal(nt_rollup_slice(rollup, &slice), 0);
	while (at < end) {
		const uint64_t edge = (at / BUCKET + 1) * BUCKET, until = end < edge ? end : edge;

		model->ns[at / BUCKET][cpu][slice.owner][slice.task] += (int64_t)(until - at);
		at = until;
	}
	return end;
}

static void add_random_op(struct nt_rollup *rollup, struct model *model, struct nt_rand *rand, uint64_t end)
{
	struct nt_op_row op = op_until(end);

	op.task = nt_rand_below(rand, N_TASKS);
	op.socket = nt_rand_below(rand, N_SOCKETS);
	op.dir = nt_rand_below(rand, 2) ? NT_SEND : NT_RECV;
	op.result = (int32_t)nt_rand_below(rand, 1000);
	assert_int_equal(nt_rollup_op(rollup, &op), 0);
	end = end < N_BUCKETS * BUCKET ? end : N_BUCKETS * BUCKET - 1;
	model->ops[end / BUCKET][op.task][op.socket][op.dir == NT_SEND]++;
	model->bytes[end / BUCKET][op.task][op.socket][op.dir == NT_SEND] += op.result;
}

/* In the bucket before `end`, or one before it. */
static void add_random_charge(struct nt_rollup *rollup, struct model *model, struct nt_rand *rand, uint64_t end)
{
	const uint64_t bucket = (end - 1) / BUCKET, back = nt_rand_below(rand, 3);
	const uint64_t at = (bucket > back ? bucket - back : 0) * BUCKET + nt_rand_below(rand, BUCKET / 2);
	struct nt_rx_charge charge =
		charge_of(at, at + nt_rand_below(rand, BUCKET / 2), nt_rand_below(rand, N_SOCKETS));

	charge.cpu = (uint32_t)nt_rand_below(rand, N_CPUS);
	assert_int_equal(nt_rollup_rx(rollup, &charge), 0);
	model->charged[at / BUCKET][charge.cpu][charge.flow] += (int64_t)charge.spent_ns;
}

/* What was added of buckets that have ended has been given, all of it. */
static void give_until(struct nt_rollup *rollup, const struct model *model, uint64_t at)
{
	static const struct model none;
	const size_t n = at / BUCKET;

	assert_int_equal(nt_rollup_give(rollup, START + at), 0);
	assert_memory_equal(model->ns, none.ns, n * sizeof(none.ns[0]));
	assert_memory_equal(model->ops, none.ops, n * sizeof(none.ops[0]));
	assert_memory_equal(model->bytes, none.bytes, n * sizeof(none.bytes[0]));
	assert_memory_equal(model->charged, none.charged, n * sizeof(none.charged[0]));
	assert_memory_equal(model->elsewhere, none.elsewhere, n * sizeof(none.elsewhere[0]));
}

static void equals_sums_in_an_array(void **state)
{
	struct model *model = calloc(1, sizeof(*model));
	const struct nt_rollup_sink sink = {model, take_slices_off, take_ops_off, take_rx_off, take_elsewhere_off};
	struct nt_rollup *rollup =
		nt_rollup_new(&(struct nt_view_time){START, START + N_BUCKETS * BUCKET, true, true, START}, &sink);
	const uint64_t seed = nt_rand_seed();
	struct nt_rand rand = {seed};
	uint64_t at[N_CPUS] = {0}, from;

	(void)state;
	assert_non_null(model);
	assert_non_null(rollup);
	for (int left = N_CPUS; left;) {
		const uint32_t cpu = (uint32_t)nt_rand_below(&rand, N_CPUS);

		if (at[cpu] == N_BUCKETS * BUCKET)
			continue;
		from = at[cpu];
		at[cpu] = add_random_slice(rollup, model, &rand, cpu, at[cpu]);
		add_elsewhere(rollup, model, &rand, cpu, from, at[cpu]);
		add_random_op(rollup, model, &rand, at[cpu]);
		add_random_charge(rollup, model, &rand, at[cpu]);
		left -= at[cpu] == N_BUCKETS * BUCKET;
		if (!nt_rand_below(&rand, 100))
			give_until(rollup, model, at[cpu]);
	}
	assert_int_equal(nt_rollup_finish(rollup), 0);
	for (size_t i = 0; i < sizeof(*model) / sizeof(int64_t); i++) {
		if (((const int64_t *)model)[i])
			fail_msg("seed %llu: sum %zu is off by %lld", (unsigned long long)seed, i,
				 (long long)((const int64_t *)model)[i]);
	}
	nt_rollup_free(rollup);
	free(model);
}

/* ---- a sink that fails ---- */

static void stops_when_a_row_is_refused(void **state)
{
	const struct nt_cpu_slice whole = {.ts_ns = START, .dur_ns = 3 * BUCKET, .cpu = 1, .task = 2};
	struct fixture *fixture = *state;
	struct nt_op_row op = op_until(1000);
	struct nt_rx_charge charge;

	/* A row of whole buckets goes out at once, the others at the end. */
	begin(fixture, 3 * BUCKET);
	fixture->sums.fail_at = 1;
	assert_int_equal(nt_rollup_slice(fixture->rollup, &whole), -EIO);
	begin(fixture, 3 * BUCKET);
	fixture->sums.fail_at = 1;
	slice(fixture, 0, 10, 1);
	assert_int_equal(nt_rollup_finish(fixture->rollup), -EIO);
	begin(fixture, 3 * BUCKET);
	fixture->sums.fail_at = 1;
	add(fixture, &op);
	assert_int_equal(nt_rollup_finish(fixture->rollup), -EIO);
	begin(fixture, 3 * BUCKET);
	fixture->sums.fail_at = 1;
	charge = charge_of(0, 3 * BUCKET, 1);
	assert_int_equal(nt_rollup_rx(fixture->rollup, &charge), -EIO);
	charge = charge_of(0, 10, 1);
	fixture->sums.fail_at = 2;
	assert_int_equal(nt_rollup_rx(fixture->rollup, &charge), 0);
	assert_int_equal(nt_rollup_finish(fixture->rollup), -EIO);
	/* Where there is no room for one key more. */
	begin(fixture, BUCKET);
	fixture->sums.fail_at = 1;
	for (charge.flow = 0; charge.flow < MANY && !nt_rollup_rx(fixture->rollup, &charge); charge.flow++)
		;
	assert_true(charge.flow > 0 && charge.flow < MANY);
	assert_int_equal(fixture->sums.rows, 1);
	begin(fixture, BUCKET);
	fixture->sums.fail_at = 1;
	for (op.task = 0; op.task < MANY && !nt_rollup_op(fixture->rollup, &op); op.task++)
		;
	assert_true(op.task > 0 && op.task < MANY);
	assert_int_equal(fixture->sums.rows, 1);
	begin(fixture, BUCKET);
	fixture->sums.fail_at = 1;
	for (uint64_t task = 0; task < MANY && !fixture->sums.rows; task++) {
		const struct nt_cpu_slice one = {.ts_ns = START, .dur_ns = 1, .task = task};
		int error = nt_rollup_slice(fixture->rollup, &one);

		assert_int_equal(error, fixture->sums.rows ? -EIO : 0);
	}
	assert_int_equal(fixture->sums.rows, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(gives_slices_of_any_number_of_tasks),
		TEST(gives_operations_of_any_number_of_tasks),
		TEST(gives_charges_of_any_number_of_flows),
		TEST(adds_charges_up),
		TEST(names_so_many_flows),
		TEST(adds_up_elsewhere),
		TEST(keeps_keys_apart),
		TEST(gives_what_is_long_past),
		TEST(splits_slices_at_the_nanosecond),
		TEST(counts_operations_where_they_end),
		TEST(counts_untimed_operations_where_they_end),
		TEST(sums_what_operations_moved),
		TEST(equals_sums_in_an_array),
		TEST(stops_when_a_row_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * rows_test.c - a tape as rows of all tables: their shape, their sums, and who is who.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/rollup.h"
#include "report/rows/rows.h"
#include "tests/support/scratch.h"
#include "tests/support/traffic.h"

#define MS 1000000ull
#define MAX_CPUS 4

struct fixture {
	char dir[SCRATCH_MAX];
	char path[2 * SCRATCH_MAX];
	char error[NT_ERROR_MAX];
	char *text; /* the rows of one table, as collect() writes them */
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	scratch_make(fixture->dir);
	scratch_path(fixture->path, fixture->dir, "t.tape");
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	scratch_remove(fixture->dir);
	free(fixture->text);
	free(fixture);
	return 0;
}

static struct tape_gen *new_tape(struct fixture *fixture, uint32_t n_cpus)
{
	const struct tape_gen_config config = {.dir = fixture->path, .n_cpus = n_cpus};

	return tape_gen_new(&config);
}

/*
 * Gives all rows to visit; checks that each has the shape that its table says, that the session's is the last, and that
 * the other tables that are wanted are told to be empty.
 */
static void each_row_of(struct fixture *fixture, const struct nt_rows_want *want,
			void (*visit)(void *arg, const struct nt_row *row), void *arg)
{
	enum nt_table_id last = NT_TABLE_SESSION;
	uint64_t seen = 0, empty = 0;
	bool left_out = false;
	struct nt_rows_want wanted = *want;
	const struct nt_row *row;
	struct nt_row_iter *rows;
	struct nt_tape *tape;
	int result;

	if (nt_tape_open(&tape, fixture->path, fixture->error))
		fail_msg("%s", fixture->error);
	wanted.empty = &empty;
	assert_int_equal(nt_rows_open(&rows, tape, NULL, 7, &wanted), 0);
	while (!(result = nt_row_next(rows, &row))) {
		const struct nt_table *table = nt_table(row->table);

		assert_true(want->tables >> row->table & 1);
		assert_int_equal(row->n, table->n_columns);
		assert_int_equal(row->values[0].integer, 7);
		for (uint32_t i = 0; i < row->n; i++) {
			const struct nt_value *value = &row->values[i];

			if (value->type == NT_VALUE_NULL)
				assert_false(table->columns[i].required);
			else
				assert_int_equal(value->type, table->columns[i].type);
			if (value->type == NT_VALUE_TEXT)
				assert_non_null(value->text);
		}
		assert_true(nt_row_progress(rows) <= 1000);
		visit(arg, row);
		last = row->table;
		seen |= NT_TABLE_BIT(row->table);
		left_out |= row->table == NT_TABLE_SESSION && NT_VALUE(row, session, malformed)->integer;
	}
	assert_int_equal(result, 1);
	assert_int_equal(empty & seen, 0);
	if (!left_out)
		assert_int_equal(empty & want->tables, want->tables & ~seen);
	if (want->tables & NT_TABLE_BIT(NT_TABLE_SESSION))
		assert_int_equal(last, NT_TABLE_SESSION);
	assert_int_equal(nt_row_next(rows, &row), 1);
	nt_row_close(rows);
	nt_tape_close(tape);
}

static const struct nt_rows_want everything = {.tables = NT_ALL_TABLES};

static void each_row(struct fixture *fixture, void (*visit)(void *arg, const struct nt_row *row), void *arg)
{
	each_row_of(fixture, &everything, visit, arg);
}

struct collect {
	enum nt_table_id table;
	FILE *out;
};

static void collect_row(void *arg, const struct nt_row *row)
{
	struct collect *collect = arg;

	if (row->table != collect->table)
		return;
	for (uint32_t i = 1; i < row->n; i++) {
		const struct nt_value *value = &row->values[i];

		if (i > 1)
			fputc(' ', collect->out);
		if (value->type == NT_VALUE_INTEGER)
			fprintf(collect->out, "%lld", (long long)value->integer);
		else
			fputs(value->type == NT_VALUE_TEXT ? value->text : "-", collect->out);
	}
	fputc('\n', collect->out);
}

static void expect_rows(struct fixture *fixture, enum nt_table_id table, const char *text)
{
	struct collect collect = {.table = table};
	size_t size;

	free(fixture->text);
	collect.out = open_memstream(&fixture->text, &size);
	each_row(fixture, collect_row, &collect);
	fclose(collect.out);
	assert_string_equal(fixture->text, text);
}

/* ---- events ---- */

static void makes_rows_of_events(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1);

	gen_irq_name(gen, NT_IRQ_VECTOR, 236, "LOC");
	gen_state(gen, 0, 0, 1, NT_STATE_START, 0);
	gen_irq(gen, 0, 100, 110, NT_IRQ_VECTOR, 236);
	gen_irq(gen, 0, 120, 125, NT_IRQ_DEVICE, 9);
	gen_softirq(gen, 0, 200, 240, NT_VEC_NET_RX, NT_SOFTIRQ_IRQ_EXIT);
	gen_softirq(gen, 0, 320, 330, NT_VEC_NET_TX, NT_SOFTIRQ_BH_ENABLE);
	gen_op(gen, 0, 300, 350, NT_SEND, NT_CALL_sendto, 3, -32, NT_OP_KERNEL);
	gen_op(gen, 0, 400, 410, NT_RECV, NT_CALL_OTHER, 0, 12, NT_OP_NO_BEGIN);
	gen_switch(gen, 0, 500, 1, 0x402, 0, 0);
	gen_state(gen, 0, 1000, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 1000, true);

	expect_rows(fixture, NT_TABLE_IRQ_SLICE,
		    "1000000000100 10 0 236 LOC vector 1\n1000000000120 5 0 9 irq 9 device 1\n");
	expect_rows(fixture, NT_TABLE_SOFTIRQ_SLICE,
		    "1000000000200 40 0 NET_RX irq_exit 1\n1000000000320 10 0 NET_TX op 1\n");
	expect_rows(fixture, NT_TABLE_SOCK_OP,
		    "1000000000300 50 40 1 send sendto 3 - EPIPE kernel 0\n"
		    "1000000000410 - - 1 recv other - 12 ok  0\n");
	expect_rows(fixture, NT_TABLE_SCHED_SLICE, "1000000000000 500 0 1 I 120\n1000000000500 500 0 0 - -\n");
	expect_rows(fixture, NT_TABLE_SOCK_COST,
		    "1000000000000 1000 1 send 3 1 1 0 0 0 40\n1000000000000 1000 1 recv - 1 0 1 0 12 0\n");
	expect_rows(fixture, NT_TABLE_RECORD_COUNT, "0 state 2 0\n0 switch 1 0\n0 softirq 2 0\n0 irq 2 0\n0 op 2 0\n");
	expect_rows(fixture, NT_TABLE_LOSS, "");
}

static void makes_rows_of_losses(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1);

	gen_state(gen, 0, 0, 0, NT_STATE_START, 0);
	gen_loss(gen, 0, 500, NT_OP, 3, 200, 400, 150);
	gen_loss(gen, 0, 500, 60, 2, 200, 400, 200);
	gen_state(gen, 0, 500, 0, NT_STATE_PERIODIC, 0);
	gen_state(gen, 0, 1000, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 1000, true);
	expect_rows(fixture, NT_TABLE_LOSS,
		    "1000000000000 500 0 op 3 ring full\n1000000000000 500 0 unknown 2 ring full\n");
	expect_rows(fixture, NT_TABLE_RECORD_COUNT, "0 state 3 0\n0 op 0 3\n0 loss 2 0\n0 unknown 0 2\n");
}

/* ---- snapshots, clocks, the session ---- */

static void makes_rows_of_snapshots(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1);

	gen_state(gen, 0, 0, 0, NT_STATE_START, 0);
	tape_gen_clock(gen, GEN_START_NS + 5);
	tape_gen_proc_snapshot(gen, 10, 20, "/proc/stat", "cpu0 1 2\nnonsense\n");
	tape_gen_proc_snapshot(gen, 30, 40, "nettape/self", "user_ns=5\n");
	tape_gen_proc_snapshot(gen, 30, 40, "nettape/programs", "nt_x recorded=6 lost=0\n");
	gen_state(gen, 0, 1000, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 1000, true);
	expect_rows(fixture, NT_TABLE_CLOCK_SNAPSHOT,
		    "1000000000005 1700000000000000005 1700000037000000005 1000000005005 100\n");
	expect_rows(fixture, NT_TABLE_PROC_COUNTER, "10 20 /proc/stat 0 user 1\n10 20 /proc/stat 0 nice 2\n");
	expect_rows(fixture, NT_TABLE_SELF_COST, "40 - user_ns 5\n40 nt_x recorded 6\n40 nt_x lost 0\n");
	expect_rows(fixture, NT_TABLE_PROBLEM, "");
}

struct last_session {
	struct nt_row row;
	char uuid[40];
};

static void keep_session(void *arg, const struct nt_row *row)
{
	struct last_session *last = arg;

	if (row->table != NT_TABLE_SESSION)
		return;
	last->row = *row;
	snprintf(last->uuid, sizeof(last->uuid), "%s", row->values[1].text);
}

static int64_t session_value(const struct last_session *last, const char *name)
{
	const struct nt_table *table = nt_table(NT_TABLE_SESSION);

	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (!strcmp(table->columns[i].name, name))
			return last->row.values[i].integer;
	}
	fail_msg("no column %s", name);
	return 0;
}

static void makes_a_session(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 2);
	struct last_session last;

	gen_state(gen, 0, 0, 0, NT_STATE_START, 0);
	gen_loss(gen, 0, 500, NT_OP, 3, 200, 400, 150);
	gen_state(gen, 0, 1000, 0, NT_STATE_STOP, 0);
	tape_gen_proc_snapshot(gen, 10, 20, "/proc/stat", "bad\nbad\n");
	tape_gen_finish(gen, GEN_START_NS + 1000, true);
	each_row(fixture, keep_session, &last);
	assert_string_equal(last.uuid, "00000000000000000000000000000000");
	assert_int_equal(session_value(&last, "start_ts"), GEN_START_NS);
	assert_int_equal(session_value(&last, "dur"), 1000);
	assert_int_equal(session_value(&last, "start_realtime_ns"), GEN_REALTIME_NS);
	assert_int_equal(session_value(&last, "cpus"), 2);
	assert_int_equal(session_value(&last, "events"), 3);
	assert_int_equal(session_value(&last, "lost"), 3);
	assert_int_equal(session_value(&last, "complete"), 1);
	assert_int_equal(session_value(&last, "bad_lines"), 2);
	assert_int_equal(session_value(&last, "bucket_ns"), NT_BUCKET_NS);
}

/* ---- samples ---- */

#define SAMPLE(gen, cpu, type, constant, ...)                                                                          \
	tape_gen_event(                                                                                                \
		gen, cpu,                                                                                              \
		&(union nt_any){.as_##type = {.end_ns = GEN_START_NS + 500, .kind = NT_##constant, __VA_ARGS__}})

static void makes_rows_of_samples(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1);
	union nt_any reason = {.as_drop_reason = {.kind = NT_DROP_REASON, .number = 6, .name = "SOCKET_RCVBUFF"}};
	union nt_any symbol = {
		.as_symbol = {.kind = NT_SYMBOL, .symbol = 4, .offset = 255, .name = "f", .module = "m\xff"}};

	gen_state(gen, 0, 0, 1, NT_STATE_START, 0);
	tape_gen_clock(gen, GEN_START_NS + 5);
	/* The second name of either is no name. */
	for (int i = 0; i < 2; i++) {
		tape_gen_identity(gen, &reason);
		tape_gen_identity(gen, &symbol);
		strcpy(reason.as_drop_reason.name, "other");
		strcpy(symbol.as_symbol.name, "other");
	}
	SAMPLE(gen, 0, latency, LATENCY, .hook = NT_HOOK_tcp_socket_read, .flags = 0xfc | NT_LATENCY_HOL,
	       .stamp_ns = GEN_REALTIME_NS + 400, .device = 2, .socket = 3, .task = 9, .length = 1, .queue_len = 5,
	       .weight = 7);
	SAMPLE(gen, 0, latency, LATENCY, .hook = NT_HOOK_ip_start, .flags = NT_LATENCY_IPV6,
	       .stamp_ns = GEN_REALTIME_NS + 552, .weight = 1);
	SAMPLE(gen, 0, latency, LATENCY, .hook = 99, .stamp_ns = UINT64_MAX, .device = UINT64_MAX,
	       .socket = 1ull << 63);
	SAMPLE(gen, 0, drop, DROP, .protocol = 0xffff, .length = 9, .reason = 6, .location = 4, .device = 2,
	       .socket = 3);
	SAMPLE(gen, 0, drop, DROP, .reason = UINT32_MAX, .location = UINT64_MAX);
	SAMPLE(gen, 0, retransmit, RETRANSMIT, .what = NT_RETRANSMIT_DATA, .state = 4, .length = 8, .socket = 3);
	SAMPLE(gen, 0, retransmit, RETRANSMIT, .what = 9, .state = 200);
	SAMPLE(gen, 0, retransmit, RETRANSMIT, .what = NT_RETRANSMIT_SYNACK);
	SAMPLE(gen, 0, wakeup, WAKEUP, .what = NT_WAKEUP_NEW, .context = NT_CPU_IN_HARDIRQ, .target_cpu = 65535,
	       .priority = 139, .task = 11, .waker = 10);
	SAMPLE(gen, 0, wakeup, WAKEUP, .what = 3, .context = 4, .flags = 0xff, .task = UINT64_MAX);
	gen_state(gen, 0, 1000, 1, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 1000, true);

	expect_rows(fixture, NT_TABLE_SKB_LATENCY,
		    "1000000000500 0 tcp-socket-read 100 1700000000000000400 2 3 9 1 5 7 hol -\n"
		    "1000000000500 0 ip-start - 1700000000000000552 - - - - 0 1 ipv6,future -\n"
		    "1000000000500 0 unknown - - - - - - 0 0 future -\n");
	expect_rows(fixture, NT_TABLE_SKB_DROP,
		    "1000000000500 0 SOCKET_RCVBUFF f+0xff [m\xef\xbf\xbd] 2 3 9 65535\n"
		    "1000000000500 0 reason 4294967295 unknown - - 0 -\n");
	expect_rows(fixture, NT_TABLE_TCP_RETRANSMIT,
		    "1000000000500 0 data 3 8 FIN_WAIT1\n1000000000500 0 unknown - 0 200\n"
		    "1000000000500 0 synack - 0 -\n");
	expect_rows(fixture, NT_TABLE_SCHED_WAKEUP,
		    "1000000000500 0 11 65535 10 139 new hardirq 0\n1000000000500 0 - 0 0 0 unknown unknown 1\n");
	expect_rows(fixture, NT_TABLE_RECORD_COUNT,
		    "0 state 2 0\n0 latency 3 0\n0 drop 2 0\n0 retransmit 3 0\n0 wakeup 2 0\n");
	/* A thread that reads, wakes or is woken has a row, known or not. */
	expect_rows(fixture, NT_TABLE_THREAD,
		    "0 0 0 swapper - - 1\n1 - - - - - -\n9 - - - - - -\n10 - - - - - -\n11 - - - - - -\n");
}

/* ---- stacks ---- */

/* A chain of n stacks, each the parent of the one before it: the last of them has no parent. */
static void gen_chain(struct tape_gen *gen, uint64_t first, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		union nt_any stack = {.as_stack = {.kind = NT_STACK, .stack = first + i, .symbol = 1}};

		stack.as_stack.parent = i + 1 < n ? first + i + 1 : 0;
		tape_gen_identity(gen, &stack);
	}
}

struct depths {
	uint64_t frames;
	int64_t deepest;
};

static void keep_depths(void *arg, const struct nt_row *row)
{
	struct depths *depths = arg;

	depths->frames += row->table == NT_TABLE_FRAME;
	if (row->table == NT_TABLE_STACK && row->values[2].integer > depths->deepest)
		depths->deepest = row->values[2].integer;
}

static void cuts_stacks_that_have_no_end(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1);
	union nt_any self = {.as_stack = {.kind = NT_STACK, .stack = 9000, .parent = 9000, .symbol = UINT64_MAX}};
	struct depths depths = {0};
	struct last_session last;

	gen_state(gen, 0, 0, 1, NT_STATE_START, 0);
	gen_chain(gen, 1, NT_STACK_MAX_FRAMES + 3);
	tape_gen_identity(gen, &self);
	/* Nobody's: 0 is none. */
	self.as_stack.stack = 0;
	tape_gen_identity(gen, &self);
	SAMPLE(gen, 0, stack_sample, STACK_SAMPLE, .context = NT_STACK_IN_TASK, .task = 1, .stack = 1,
	       .user_stack = 9000);
	SAMPLE(gen, 0, stack_sample, STACK_SAMPLE, .context = NT_STACK_IN_TASK, .task = 1, .stack = 4,
	       .user_stack = 7777);
	gen_state(gen, 0, 1000, 1, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 1000, true);

	each_row(fixture, keep_depths, &depths);
	assert_int_equal(depths.frames, 3 * NT_STACK_MAX_FRAMES);
	assert_int_equal(depths.deepest, NT_STACK_MAX_FRAMES);
	expect_rows(
		fixture, NT_TABLE_STACK_SAMPLE,
		"1000000000500 0 1 task other - task - 0 1 9000 - -  - -\n1000000000500 0 1 task other - task - 0 4 "
		"7777 - -  - -\n");
	/* Stacks 1 to 3, and the one that is its own parent. */
	each_row(fixture, keep_session, &last);
	assert_int_equal(session_value(&last, "malformed"), 4);
}

/* They uncover nothing; those whose times are not known stand where they were told. */
static void makes_rows_of_lost_samples(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1);
	struct last_session last;

	gen_state(gen, 0, 0, 0, NT_STATE_START, 0);
	gen_loss(gen, 0, 500, NT_LATENCY, 3, 200, 400, 150);
	tape_gen_event(
		gen, 0,
		&(union nt_any){
			.as_loss = {.end_ns = GEN_START_NS + 500, .kind = NT_LOSS, .lost_kind = NT_DROP, .count = 2}});
	gen_loss(gen, 0, 500, NT_RETRANSMIT, 1, 400, 200, 0);
	/* A sample before the session's start stays, one at a time that SQL cannot hold does not. */
	tape_gen_event(gen, 0, &(union nt_any){.as_drop = {.end_ns = GEN_START_NS - 7, .kind = NT_DROP, .reason = 1}});
	tape_gen_event(gen, 0, &(union nt_any){.as_drop = {.end_ns = UINT64_MAX, .kind = NT_DROP, .reason = 1}});
	gen_state(gen, 0, 1000, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 1000, true);
	expect_rows(fixture, NT_TABLE_LOSS,
		    "1000000000200 200 0 latency 3 ring full\n1000000000500 0 0 drop 2 ring full\n"
		    "1000000000400 0 0 retransmit 1 ring full\n");
	expect_rows(fixture, NT_TABLE_CPU_SLICE, "1000000000000 1000 0 idle 0\n");
	expect_rows(fixture, NT_TABLE_SKB_DROP, "999999999993 0 reason 1 unknown - - 0 -\n");
	each_row(fixture, keep_session, &last);
	assert_int_equal(session_value(&last, "malformed"), 1);
	assert_int_equal(session_value(&last, "lost"), 6);
}

/* ---- who is who ---- */

/* The newest record of an id counts, wherever on the tape it stands, and each id has one row. */
static void takes_the_newest_identity(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1);

	gen_state(gen, 0, 0, 0, NT_STATE_START, 0);
	gen_task(gen, 900, 100, 1, 1, 10, 10, 5, NT_TASK_EXIT, "newest");
	gen_task(gen, 100, 100, 1, 1, 10, 10, 4, NT_TASK_FORK, "oldest");
	tape_gen_next_chunk(gen);
	gen_task(gen, 500, 100, 1, 1, 10, 10, 4, NT_TASK_RENAME, "middle");
	gen_task(gen, 0, GEN_BEFORE, 2, 1, 11, 10, 4, NT_TASK_SEED, "thread");
	tape_gen_next_chunk(gen);
	gen_state(gen, 0, 1000, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 1000, true);
	expect_rows(fixture, NT_TABLE_THREAD,
		    "1 10 1 newest 1000000000100 1000000000900 0\n2 11 1 thread - - 0\n"
		    "0 0 0 swapper - - 1\n");
	expect_rows(fixture, NT_TABLE_PROCESS, "1 10 1 newest 5 1000000000100 1000000000900\n0 0 0 swapper - - -\n");
}

/* Tasks of which the tape knows nothing have a row; a process whose main thread is not known has one, without a name.
 */
static void has_rows_for_strangers(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1);

	gen_state(gen, 0, 0, 8, NT_STATE_START, 0);
	gen_switch(gen, 0, 300, 8, 1, 9, 0);
	gen_switch(gen, 0, 500, 9, 1, 3, 0);
	gen_state(gen, 0, 1000, 3, NT_STATE_STOP, 0);
	gen_task(gen, 0, GEN_BEFORE, 3, 2, 11, 10, 4, NT_TASK_SEED, "thread");
	gen_task(gen, 0, GEN_BEFORE, 4, 2, 12, 10, 4, NT_TASK_SEED, "other");
	gen_task(gen, 0, GEN_BEFORE, 5, 0, 13, 1, 0, NT_TASK_SEED, "lost");
	tape_gen_finish(gen, GEN_START_NS + 1000, true);
	expect_rows(fixture, NT_TABLE_THREAD,
		    "3 11 2 thread - - 0\n4 12 2 other - - 0\n5 13 - lost - - 0\n0 0 0 swapper - - 1\n"
		    "8 - - - - - -\n9 - - - - - -\n");
	expect_rows(fixture, NT_TABLE_PROCESS, "2 10 1 - 4 - -\n0 0 0 swapper - - -\n");
}

static void makes_rows_of_sockets_and_cgroups(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1);
	union nt_any packet = {.as_socket = {.end_ns = GEN_START_NS,
					     .kind = NT_SOCKET,
					     .family = 17,
					     .type = 3,
					     .socket = 9,
					     .protocol = 768,
					     .src = {1},
					     .process = 5,
					     .cgroup = 6}};

	gen_state(gen, 0, 0, 0, NT_STATE_START, 0);
	gen_socket(gen, 1, 6, "10.0.0.1", 80, "10.0.0.2", 40000);
	gen_socket(gen, 2, 17, "::1", 53, "::", 0);
	tape_gen_identity(gen, &packet);
	gen_cgroup(gen, 1,
		   "/a\xff"
		   "b");
	tape_gen_finish(gen, GEN_START_NS + 1000, true);
	expect_rows(fixture, NT_TABLE_SOCKET,
		    "1 inet stream tcp 10.0.0.1 80 10.0.0.2 40000 4026531840 1001 - -\n"
		    "2 inet6 dgram udp ::1 53 - - 4026531840 1002 - -\n9 packet raw 768 - - - - - - 5 6\n");
	expect_rows(fixture, NT_TABLE_CGROUP,
		    "1 /a\xef\xbf\xbd"
		    "b 7001 - - - - - /a\xef\xbf\xbd"
		    "b\n");
}

/* Ids that SQL cannot hold cost their row, not the import. */
static void leaves_out_what_sql_cannot_hold(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1);
	struct last_session last;

	gen_state(gen, 0, 0, 1ull << 63, NT_STATE_START, 0);
	gen_state(gen, 0, 1000, 1ull << 63, NT_STATE_STOP, 0);
	gen_task(gen, 0, GEN_BEFORE, 1ull << 63, 1, 11, 10, 4, NT_TASK_SEED, "x");
	gen_cgroup(gen, UINT64_MAX, "/x");
	tape_gen_finish(gen, GEN_START_NS + 1000, true);
	expect_rows(fixture, NT_TABLE_CPU_SLICE, "1000000000000 1000 0 task -\n");
	expect_rows(fixture, NT_TABLE_CGROUP, "");
	each_row(fixture, keep_session, &last);
	assert_int_equal(session_value(&last, "malformed"), 2);
}

/* ---- sums ---- */

static void splits_at_buckets(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1);

	gen_state(gen, 0, 0, 0, NT_STATE_START, 0);
	gen_switch(gen, 0, 50 * MS, 0, 0, 1, 0);
	gen_switch(gen, 0, 450 * MS, 1, 1, 0, 0);
	gen_switch(gen, 0, 500 * MS, 0, 1, 1, 0);
	gen_state(gen, 0, 630 * MS, 1, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 630 * MS, true);
	expect_rows(fixture, NT_TABLE_CPU_COST,
		    "1000100000000 300000000 0 task 1 300000000\n"
		    "1000500000000 100000000 0 task 1 100000000\n"
		    "1000000000000 100000000 0 idle 0 50000000\n"
		    "1000000000000 100000000 0 task 1 50000000\n"
		    "1000400000000 100000000 0 task 1 50000000\n"
		    "1000400000000 100000000 0 idle 0 50000000\n"
		    "1000600000000 30000000 0 task 1 30000000\n");
}

struct sums {
	int64_t slices[MAX_CPUS], costs[MAX_CPUS]; /* weighted by owner and task, so that a mixture shows */
	int64_t ops, op_ns, op_bytes, cost_ops, cost_ns, cost_bytes;
	int64_t bad;
};

static int64_t weight(const struct nt_row *row, uint32_t owner, uint32_t task)
{
	int64_t sum = row->values[task].type == NT_VALUE_NULL ? 77 : row->values[task].integer + 1;

	for (const char *at = row->values[owner].text; *at; at++)
		sum = sum * 31 % 1000003 + *at;
	return sum;
}

static void sum_row(void *arg, const struct nt_row *row)
{
	const struct nt_value *values = row->values;
	struct sums *sums = arg;

	switch (row->table) {
	case NT_TABLE_CPU_SLICE:
		sums->slices[values[3].integer] += weight(row, 4, 5) * values[2].integer;
		break;
	case NT_TABLE_CPU_COST:
		sums->costs[values[3].integer] += weight(row, 4, 5) * values[6].integer;
		sums->bad += values[6].integer > values[2].integer;
		sums->bad += ((uint64_t)values[1].integer - GEN_START_NS) % NT_BUCKET_NS != 0;
		break;
	case NT_TABLE_SOCK_OP:
		sums->ops++;
		sums->op_ns += values[3].type == NT_VALUE_NULL ? 0 : values[3].integer;
		if (!strstr(values[10].text, "peek") && !strstr(values[10].text, "errqueue") &&
		    values[8].type != NT_VALUE_NULL)
			sums->op_bytes += values[8].integer;
		break;
	case NT_TABLE_SOCK_COST:
		sums->cost_ops += values[6].integer;
		sums->cost_bytes += values[10].integer;
		sums->cost_ns += values[11].integer;
		break;
	default:
		break;
	}
}

static void sums_are_those_of_slices(void **state)
{
	struct fixture *fixture = *state;
	const struct traffic_config traffic = {.seed = 3,
					       .dur_ns = 700 * MS,
					       .n_tasks = 40,
					       .lose_from_ns = 200 * MS,
					       .lose_to_ns = 210 * MS,
					       .chunk_ns = 200 * MS};
	struct tape_gen *gen = new_tape(fixture, 3);
	struct sums sums = {.bad = 0};

	traffic_record(gen, 3, &traffic);
	tape_gen_finish(gen, GEN_START_NS + traffic.dur_ns, true);
	each_row(fixture, sum_row, &sums);
	for (int cpu = 0; cpu < 3; cpu++)
		assert_int_equal(sums.slices[cpu], sums.costs[cpu]);
	assert_true(sums.ops > 10000);
	assert_int_equal(sums.ops, sums.cost_ops);
	assert_int_equal(sums.op_ns, sums.cost_ns);
	assert_int_equal(sums.op_bytes, sums.cost_bytes);
	assert_int_equal(sums.bad, 0);
}

/* ---- the other order ---- */

struct ordered {
	struct collect collect; /* of one table */
	bool is_checked; /* identities, snapshots and events must come so */
	unsigned int phase;
};

static unsigned int phase_of(enum nt_table_id table)
{
	switch (table) {
	case NT_TABLE_PROCESS:
	case NT_TABLE_THREAD:
	case NT_TABLE_CGROUP:
	case NT_TABLE_SOCKET:
	case NT_TABLE_NET_DEVICE:
	case NT_TABLE_CLOCK_SNAPSHOT:
		return 0;
	case NT_TABLE_PROC_COUNTER:
	case NT_TABLE_SELF_COST:
		return 1;
	case NT_TABLE_SESSION:
	case NT_TABLE_SESSION_META:
	case NT_TABLE_PROBLEM:
	case NT_TABLE_RECORD_COUNT:
		return 3;
	default:
		return 2;
	}
}

static void order_row(void *arg, const struct nt_row *row)
{
	struct ordered *ordered = arg;
	const bool is_last = row->table == NT_TABLE_THREAD || row->table == NT_TABLE_PROCESS;

	collect_row(&ordered->collect, row);
	/* The idle task, and who is only referred to, come with the last. */
	if (ordered->is_checked && !(is_last && ordered->phase >= 2)) {
		assert_true(phase_of(row->table) >= ordered->phase);
		ordered->phase = phase_of(row->table);
	}
}

static char *table_in(struct fixture *fixture, enum nt_rows_order order, enum nt_table_id table)
{
	struct ordered ordered = {.collect.table = table, .is_checked = order == NT_ROWS_IDENTITIES_FIRST};
	char *text;
	size_t size;

	ordered.collect.out = open_memstream(&text, &size);
	each_row_of(fixture, &(struct nt_rows_want){.tables = NT_ALL_TABLES, .order = order}, order_row, &ordered);
	fclose(ordered.collect.out);
	return text;
}

/* The rows of one table, of those of `tables`. */
static char *wanted(struct fixture *fixture, uint64_t tables, enum nt_table_id table)
{
	struct collect collect = {.table = table};
	char *text;
	size_t size;

	collect.out = open_memstream(&text, &size);
	each_row_of(fixture, &(struct nt_rows_want){.tables = tables}, collect_row, &collect);
	fclose(collect.out);
	return text;
}

static void count_row(void *arg, const struct nt_row *row)
{
	unsigned int *n = arg;

	(void)row;
	(*n)++;
}

/* Rows that share what was learned of the tape are those of rows that learn for themselves, identities too. */
static void shares_what_is_learned(void **state)
{
	struct fixture *fixture = *state;
	struct nt_rows_want want = {.tables = NT_ALL_TABLES};
	const struct nt_row *row;
	struct nt_row_iter *rows[2];
	struct nt_tape *tape;
	unsigned int n = 0, n_each[2] = {0};

	snprintf(fixture->path, sizeof(fixture->path), "tests/golden/v1-stacks.tape");
	each_row_of(fixture, &want, count_row, &n);
	assert_int_equal(nt_tape_open(&tape, fixture->path, fixture->error), 0);
	assert_int_equal(nt_learned_new(&want.learned, tape), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(nt_rows_open(&rows[i], tape, NULL, 7, &want), 0);
	for (int i = 0, ended = 0; ended < 2; i = !i) {
		int result = nt_row_next(rows[i], &row);

		assert_true(result >= 0);
		n_each[i] += !result;
		ended += result;
	}
	assert_int_equal(n_each[0], n);
	assert_int_equal(n_each[1], n);
	for (int i = 0; i < 2; i++)
		nt_row_close(rows[i]);
	nt_learned_free(want.learned);
	nt_tape_close(tape);
}

/* Each table's rows are the same whether it is wanted alone, with others, or with all. */
static void check_wanted(struct fixture *fixture)
{
	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		char *all = wanted(fixture, NT_ALL_TABLES, (enum nt_table_id)id);
		char *alone = wanted(fixture, NT_TABLE_BIT(id), (enum nt_table_id)id);
		char *with_next = wanted(fixture, 3ull << id & NT_ALL_TABLES, (enum nt_table_id)id);

		if (strcmp(all, alone) != 0 || strcmp(all, with_next) != 0)
			fail_msg("%s: %s differs when it is wanted alone", fixture->path, nt_table(id)->name);
		free(all);
		free(alone);
		free(with_next);
	}
}

static void gives_what_is_wanted(void **state)
{
	static const char *const golden[] = {"v1",	  "v1-polls",	"v1-samples", "v1-stacks",  "v1-wakeups",
					     "v1-flows",  "v1-charges", "v1-fates",   "v1-holders", "v1-elsewhere",
					     "v1-sketch", "v1-waits",	"v1-disks"};
	const struct traffic_config config = {.seed = 6,
					      .dur_ns = 20 * MS,
					      .n_tasks = 5,
					      .snapshot_ns = 5 * MS,
					      .lose_from_ns = 7 * MS,
					      .lose_to_ns = 9 * MS};
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 2);

	traffic_record(gen, 2, &config);
	tape_gen_finish(gen, GEN_START_NS + 20 * MS, true);
	check_wanted(fixture);
	for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
		snprintf(fixture->path, sizeof(fixture->path), "tests/golden/%s.tape", golden[i]);
		check_wanted(fixture);
	}
}

static void gives_the_same_rows_identities_first(void **state)
{
	const struct traffic_config config = {
		.seed = 5, .dur_ns = 20 * MS, .n_tasks = 5, .snapshot_ns = 5 * MS, .chunk_ns = 6 * MS};
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 2);

	traffic_record(gen, 2, &config);
	tape_gen_finish(gen, GEN_START_NS + 20 * MS, true);
	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		char *usual = table_in(fixture, NT_ROWS_EVENTS_FIRST, (enum nt_table_id)id);
		char *other = table_in(fixture, NT_ROWS_IDENTITIES_FIRST, (enum nt_table_id)id);

		assert_string_equal(usual, other);
		free(usual);
		free(other);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(makes_rows_of_events),
		TEST(makes_rows_of_losses),
		TEST(makes_rows_of_samples),
		TEST(cuts_stacks_that_have_no_end),
		TEST(makes_rows_of_lost_samples),
		TEST(makes_rows_of_snapshots),
		TEST(makes_a_session),
		TEST(takes_the_newest_identity),
		TEST(has_rows_for_strangers),
		TEST(makes_rows_of_sockets_and_cgroups),
		TEST(leaves_out_what_sql_cannot_hold),
		TEST(splits_at_buckets),
		TEST(sums_are_those_of_slices),
		TEST(gives_the_same_rows_identities_first),
		TEST(gives_what_is_wanted),
		TEST(shares_what_is_learned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

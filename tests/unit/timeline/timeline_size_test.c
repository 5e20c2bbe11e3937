// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeline_size_test.c - the timeline where there is much of something: spans in a segment, losses in a stretch, tasks
 * with an operation open; where memory ends; and the table of open operations by itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/timeline/state.h"
#include "tests/support/trace_gen.h"
#include "tests/support/failing_memory.h"

static const uint8_t one[1] = {1};

static struct nt_timeline_config config_until(uint64_t end_ns)
{
	return (struct nt_timeline_config){.end_ns = end_ns, .n_cpus = 1, .present = one, .online = one};
}

static void add(struct nt_timeline *timeline, union nt_any record)
{
	assert_int_equal(nt_timeline_add(timeline, 0, &record), 0);
}

static union nt_any state(uint64_t end_ns, uint64_t task, enum nt_state_reason reason)
{
	return (union nt_any){
		.as_state = {.end_ns = end_ns, .kind = NT_STATE, .task = task, .reason = (uint8_t)reason}};
}

static union nt_any random_span(uint64_t end_ns, struct nt_rand *rand)
{
	uint64_t dur_ns = nt_rand_below(rand, nt_rand_below(rand, 10) ? 40 : end_ns + 1);

	switch (nt_rand_below(rand, 3)) {
	case 0:
		return (union nt_any){.as_irq = {.end_ns = end_ns, .kind = NT_IRQ, .dur_ns = dur_ns}};
	case 1:
		return (union nt_any){.as_softirq = {.end_ns = end_ns,
						     .kind = NT_SOFTIRQ,
						     .vec = (uint8_t)nt_rand_below(rand, 5),
						     .context = NT_SOFTIRQ_BH_ENABLE,
						     .dur_ns = dur_ns}};
	default:
		return (union nt_any){.as_op = {.end_ns = end_ns,
						.kind = NT_OP,
						.dir = (uint8_t)(1 + nt_rand_below(rand, 2)),
						.dur_ns = dur_ns,
						.socket = nt_rand_u64(rand)}};
	}
}

/* One segment with so many spans, nested and not, against the model. */
static void check_large_segment(unsigned int n, struct nt_rand *rand)
{
	struct trace_item *items = calloc(n + 2, sizeof(*items));
	struct rows rows = {0}, model = {0};
	struct nt_timeline_sink sink = rows_sink(&rows), model_sink = rows_sink(&model);
	struct nt_timeline_config config = config_until(n + 10);

	assert_non_null(items);
	items[0].record = state(0, 5, NT_STATE_START);
	for (unsigned int i = 0; i < n; i++)
		items[i + 1].record = random_span(i + 2, rand);
	items[n + 1].record = state(n + 10, 5, NT_STATE_STOP);
	assert_int_equal(timeline_run(&config, items, n + 2, &sink, &rows.counts), 0);
	timeline_model_run(&config, items, n + 2, &model_sink, &model.counts);
	assert_true(rows_conserve(&rows, &config, stderr));
	rows_sort(&rows);
	rows_sort(&model);
	assert_true(rows_equal(&rows, "timeline", &model, "model", stderr));
	rows_release(&rows);
	rows_release(&model);
	free(items);
}

static void test_large_segments(void **unused)
{
	static const unsigned int sizes[] = {0, 1, 2, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 500, 1000};
	struct nt_rand rand = {1};

	(void)unused;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		check_large_segment(sizes[i], &rand);
}

/* Twice a segment longer than any writer makes one: uncovered, but every span has its row. */
static void test_too_long_segments(void **unused)
{
	const uint64_t n = 2 * NT_SEGMENT_MAX + 10, end_ns = 2 * n + 200;
	struct nt_timeline_config config = config_until(end_ns);
	struct rows rows = {0};
	struct nt_timeline_sink sink = rows_sink(&rows);
	struct nt_timeline *timeline = nt_timeline_new(&config, &sink);
	struct nt_rand rand = {2};

	(void)unused;
	assert_non_null(timeline);
	add(timeline, state(0, 5, NT_STATE_START));
	for (uint64_t begin = 10; begin < end_ns - 100; begin += n + 50) {
		add(timeline, state(begin, 5, NT_STATE_PERIODIC));
		for (uint64_t i = 1; i <= n; i++)
			add(timeline, random_span(begin + i, &rand));
		add(timeline, state(begin + n + 40, 5, NT_STATE_PERIODIC));
	}
	add(timeline, state(end_ns, 5, NT_STATE_STOP));
	assert_int_equal(nt_timeline_finish(timeline), 0);
	nt_timeline_free(timeline);
	assert_true(rows_conserve(&rows, &config, stderr));
	assert_int_equal(rows.n[ROW_OP] + rows.n[ROW_SOFTIRQ] + rows.n[ROW_IRQ], 2 * n);
	assert_int_equal(rows.n[ROW_CPU_SLICE], 5);
	assert_int_equal(rows.n[ROW_LOSS], 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(rows.rows[ROW_LOSS][i].field[ROW_TS], 10 + i * (n + 50));
		assert_int_equal(rows.rows[ROW_LOSS][i].field[ROW_DUR], n + 40);
		assert_int_equal(rows.rows[ROW_LOSS][i].field[LOSS_WHY], rows_why("segment too long"));
	}
	rows_release(&rows);
}

static int refuse(void *arg, const struct nt_span_row *row)
{
	(void)arg;
	(void)row;
	return -77;
}

/* Its rows come before its end, and what becomes of them does too. */
static void test_refused_row_of_too_long_segment(void **unused)
{
	struct nt_timeline_config config = config_until(2 * NT_SEGMENT_MAX);
	const struct nt_timeline_sink sink = {.irq = refuse};
	struct nt_timeline *timeline = nt_timeline_new(&config, &sink);
	uint64_t n = 1;
	int error = 0;

	(void)unused;
	assert_non_null(timeline);
	add(timeline, state(0, 5, NT_STATE_START));
	for (; !error; n++)
		error = nt_timeline_add(timeline, 0, &(union nt_any){.as_irq = {.end_ns = n, .kind = NT_IRQ}});
	assert_int_equal(error, -77);
	assert_in_range(n, NT_SEGMENT_MAX, NT_SEGMENT_MAX + 10);
	nt_timeline_free(timeline);
}

static union nt_any lost(uint8_t kind)
{
	return (union nt_any){
		.as_loss = {.kind = NT_LOSS, .lost_kind = kind, .count = 2, .first_ns = 500, .last_ns = 600}};
}

/*
 * More losses in one stretch than are told one by one: their number stays right. The last row is of the rest. It is of
 * no kind if that is of several.
 */
static void check_many_losses(unsigned int n_kinds, uint8_t kind_of_rest)
{
	struct nt_timeline_config config = config_until(1000);
	struct rows rows = {0};
	struct nt_timeline_sink sink = rows_sink(&rows);
	struct nt_timeline *timeline = nt_timeline_new(&config, &sink);

	assert_non_null(timeline);
	add(timeline, state(0, 5, NT_STATE_START));
	for (unsigned int i = 0; i < 5000; i++)
		add(timeline, lost((uint8_t)(2 + i % n_kinds)));
	add(timeline, state(700, 5, NT_STATE_PERIODIC));
	add(timeline, state(1000, 5, NT_STATE_STOP));
	assert_int_equal(nt_timeline_finish(timeline), 0);
	nt_timeline_free(timeline);
	assert_int_equal(rows.n[ROW_LOSS], NT_MAX_LOSSES);
	for (unsigned int i = 0; i < NT_MAX_LOSSES; i++) {
		const uint64_t *loss = rows.rows[ROW_LOSS][i].field;
		const bool is_rest = i == NT_MAX_LOSSES - 1;

		assert_int_equal(loss[LOSS_KIND], is_rest ? kind_of_rest : 2 + i % n_kinds);
		assert_int_equal(loss[LOSS_COUNT], is_rest ? 2 * (5000 - i) : 2);
	}
	assert_true(rows_conserve(&rows, &config, stderr));
	rows_release(&rows);
}

static void test_many_losses(void **unused)
{
	(void)unused;
	check_many_losses(3, 0);
	check_many_losses(1, 2);
}

/* A loss that there is no room for is an error. */
static void test_loss_without_memory(void **unused)
{
	struct nt_timeline_config config = config_until(1000);
	const struct nt_timeline_sink sink = {.arg = NULL};
	struct nt_timeline *timeline = nt_timeline_new(&config, &sink);
	const union nt_any loss = lost(2);

	(void)unused;
	assert_non_null(timeline);
	add(timeline, state(0, 5, NT_STATE_START));
	for (unsigned int i = 0; i < 16; i++)
		add(timeline, loss);
	failing_size = 32 * sizeof(struct nt_pending_loss);
	assert_int_equal(nt_timeline_add(timeline, 0, &loss), -ENOMEM);
	failing_size = 0;
	add(timeline, loss);
	nt_timeline_free(timeline);
}

static union nt_any leaves(uint64_t end_ns, uint64_t prev, uint64_t next, uint8_t n_open)
{
	return (union nt_any){
		.as_switch = {.end_ns = end_ns, .kind = NT_SWITCH, .prev = prev, .next = next, .n_open = n_open}};
}

/* Each of many tasks blocks in an operation, and later ends it: 3 ns before, 2 ns after. */
static void test_many_open_ops(void **unused)
{
	const uint64_t n = 3000, round = n * 10;
	struct nt_timeline_config config = config_until(2 * round);
	struct rows rows = {0};
	struct nt_timeline_sink sink = rows_sink(&rows);
	struct nt_timeline *timeline = nt_timeline_new(&config, &sink);

	(void)unused;
	assert_non_null(timeline);
	add(timeline, state(0, 1, NT_STATE_START));
	for (uint64_t i = 1; i <= n; i++) {
		uint64_t end_ns = i * 10;

		add(timeline, (union nt_any){.as_open = {.end_ns = end_ns,
							 .kind = NT_OPEN,
							 .what = NT_OPEN_OP,
							 .detail = NT_RECV,
							 .begin_ns = end_ns - 3,
							 .socket = i}});
		add(timeline, leaves(end_ns, i, i < n ? i + 1 : 1, 1));
	}
	for (uint64_t i = 1; i <= n; i++) {
		uint64_t from_ns = round + (i - 1) * 10;

		add(timeline, (union nt_any){.as_op = {.end_ns = from_ns + 2,
						       .kind = NT_OP,
						       .dir = NT_RECV,
						       .dur_ns = from_ns + 2 - (i * 10 - 3),
						       .socket = i}});
		add(timeline, leaves(from_ns + 10, i, i < n ? i + 1 : 0, 0));
	}
	assert_int_equal(nt_timeline_finish(timeline), 0);
	nt_timeline_free(timeline);
	assert_true(rows_conserve(&rows, &config, stderr));
	assert_int_equal(rows.n[ROW_OP], n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(rows.rows[ROW_OP][i].field[OP_CPU_NS], 5);
		assert_int_equal(rows.rows[ROW_OP][i].field[OP_TASK], i + 1);
		assert_int_equal(rows.rows[ROW_OP][i].field[OP_LOWER_BOUND], 0);
	}
	rows_release(&rows);
}

/* The table against an array: 40 tasks with up to 5 operations each, in random order. */
static void test_open_ops_table(void **unused)
{
	struct nt_open_ops ops = {0};
	uint64_t there[40][5] = {{0}}; /* cpu_ns, by task and begin; 0: none */
	struct nt_rand rand = {3};
	uint32_t count = 0;

	(void)unused;
	for (uint64_t i = 1; i < 50000; i++) {
		uint64_t task = nt_rand_below(&rand, 40), begin = nt_rand_below(&rand, 5);
		struct nt_op_key key = {.begin_ns = begin, .dir = NT_SEND, .before = begin == 0};
		struct nt_open_op *op = nt_open_ops_find(&ops, task, &key);

		assert_int_equal(op ? op->cpu_ns : 0, there[task][begin]);
		if (op) {
			nt_open_ops_remove(&ops, op);
			there[task][begin] = 0;
			count--;
		} else {
			assert_non_null(nt_open_ops_add(&ops, &(struct nt_open_op){.task = task,
										   .begin_ns = begin,
										   .dir = NT_SEND,
										   .before = key.before,
										   .socket = task + 1,
										   .cpu_ns = i,
										   .last_ns = i}));
			there[task][begin] = i;
			count++;
		}
		assert_int_equal(ops.count, count);
		op = nt_open_ops_find_any(&ops, &key, task + 1);
		assert_true(begin == 0 ? !op : (op != NULL) == (there[task][begin] != 0));
	}
	assert_int_equal(nt_open_ops_move(&ops, 7, 8), 0);
	for (uint64_t begin = 0; begin < 5; begin++) {
		struct nt_op_key key = {.begin_ns = begin, .dir = NT_SEND, .before = begin == 0};
		struct nt_open_op *op = nt_open_ops_find(&ops, 8, &key);

		uint64_t later = there[7][begin] > there[8][begin] ? there[7][begin] : there[8][begin];

		assert_int_equal(op ? op->cpu_ns : 0, there[7][begin] + there[8][begin]);
		assert_int_equal(op ? op->last_ns : 0, later);
		assert_null(nt_open_ops_find(&ops, 7, &key));
	}
	nt_open_ops_release(&ops);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large_segments),
		cmocka_unit_test(test_too_long_segments),
		cmocka_unit_test(test_refused_row_of_too_long_segment),
		cmocka_unit_test(test_many_losses),
		cmocka_unit_test(test_loss_without_memory),
		cmocka_unit_test(test_many_open_ops),
		cmocka_unit_test(test_open_ops_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * loose_test.c - loose records go around the timeline: each is a row, and all other rows are the same with and without
 * them, also where records are lost and blocks are missing, and where a record is a span of more than a second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/rows.h"
#include "schema/kind.h"
#include "tests/support/rand.h"
#include "tests/support/scratch.h"
#include "tests/support/traffic.h"

#define MS 1000000ull
#define N_CPUS 3

/* Kinds that a table has the records of. Not all are loose. */
static const struct {
	enum nt_kind kind;
	enum nt_table_id table;
} kept[] = {{NT_LATENCY, NT_TABLE_SKB_LATENCY},
	    {NT_TRANSMIT, NT_TABLE_SKB_LATENCY},
	    {NT_DROP, NT_TABLE_SKB_DROP},
	    {NT_STACK_SAMPLE, NT_TABLE_STACK_SAMPLE},
	    {NT_FLOW_COUNT, NT_TABLE_FLOW_COUNT},
	    {NT_BLOCK_IO, NT_TABLE_BLOCK_IO},
	    {NT_KMEM, NT_TABLE_KMEM},
#define X(kind, table) {NT_##kind, NT_TABLE_##table},
	    NT_RECORD_TABLES(X)
#undef X
};
#define N_KINDS (sizeof(kept) / sizeof(kept[0]))

/* The outcome of one tape. */
struct outcome {
	char *text; /* all rows that the timeline has a part in, in order */
	size_t size;
	FILE *out;
	int64_t samples[N_KINDS], lost[N_KINDS]; /* rows, and what rows of table loss count */
	int64_t known, unexplained; /* latencies with a number; others without the word future */
	/* The counts that were written. */
	uint64_t written[N_KINDS], declared[N_KINDS];
};

static void print_row(FILE *out, const struct nt_row *row)
{
	fputs(nt_table(row->table)->name, out);
	for (uint32_t i = 1; i < row->n; i++) {
		if (row->values[i].type == NT_VALUE_INTEGER)
			fprintf(out, " %lld", (long long)row->values[i].integer);
		else
			fprintf(out, " %s", row->values[i].type == NT_VALUE_TEXT ? row->values[i].text : "-");
	}
	fputc('\n', out);
}

static bool is_loose_loss(struct outcome *outcome, const struct nt_row *row)
{
	for (size_t kind = 0; kind < N_KINDS; kind++) {
		if (!nt_kind_is_loose(kept[kind].kind) ||
		    strcmp(row->values[4].text, nt_kind(kept[kind].kind)->name) != 0)
			continue;
		outcome->lost[kind] += row->values[5].type == NT_VALUE_NULL ? 0 : row->values[5].integer;
		return true;
	}
	return false;
}

/* Of the two kinds in one table, TRANSMIT has a wait. */
static bool is_of(const struct nt_row *row, size_t kind)
{
	const bool has_wait = row->table == NT_TABLE_SKB_LATENCY && row->values[13].type != NT_VALUE_NULL;

	return row->table == kept[kind].table && has_wait == (kept[kind].kind == NT_TRANSMIT);
}

static void take_row(struct outcome *outcome, const struct nt_row *row)
{
	for (size_t kind = 0; kind < N_KINDS; kind++)
		outcome->samples[kind] += is_of(row, kind);
	switch (row->table) {
	case NT_TABLE_SKB_LATENCY:
		if (!is_of(row, 0))
			break;
		outcome->known += row->values[4].type != NT_VALUE_NULL;
		outcome->unexplained += row->values[4].type == NT_VALUE_NULL && !strstr(row->values[12].text, "future");
		break;
	case NT_TABLE_LOSS:
		if (!is_loose_loss(outcome, row))
			print_row(outcome->out, row);
		break;
	case NT_TABLE_SCHED_SLICE:
	case NT_TABLE_SOFTIRQ_SLICE:
	case NT_TABLE_IRQ_SLICE:
	case NT_TABLE_SOCK_OP:
	case NT_TABLE_NAPI_POLL:
	case NT_TABLE_CPU_SLICE:
	case NT_TABLE_CPU_COST:
	case NT_TABLE_SOCK_COST:
		print_row(outcome->out, row);
		break;
	default:
		break;
	}
}

static void read_rows(struct outcome *outcome, const char *path)
{
	char error[NT_ERROR_MAX];
	const struct nt_row *row;
	struct nt_row_iter *rows;
	struct nt_tape *tape;
	int result;

	if (nt_tape_open(&tape, path, error))
		fail_msg("%s", error);
	assert_int_equal(nt_rows_open(&rows, tape, NULL, 1, &(struct nt_rows_want){.tables = NT_ALL_TABLES}), 0);
	while (!(result = nt_row_next(rows, &row)))
		take_row(outcome, row);
	assert_int_equal(result, 1);
	nt_row_close(rows);
	nt_tape_close(tape);
}

static void record_and_read(struct outcome *outcome, const struct traffic_config *traffic,
			    const struct tape_gen_config *config)
{
	struct tape_gen *gen = tape_gen_new(config);

	*outcome = (struct outcome){.size = 0};
	traffic_record(gen, N_CPUS, traffic);
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++) {
		for (size_t kind = 0; kind < N_KINDS; kind++) {
			outcome->written[kind] += tape_gen_written(gen, cpu, kept[kind].kind);
			outcome->declared[kind] += tape_gen_lost(gen, cpu, kept[kind].kind);
		}
	}
	tape_gen_finish(gen, GEN_START_NS + traffic->dur_ns, true);
	outcome->out = open_memstream(&outcome->text, &outcome->size);
	read_rows(outcome, config->dir);
	fclose(outcome->out);
}

static void expect_same(const struct traffic_config *traffic, uint64_t drop, uint64_t samples)
{
	struct outcome without, with;
	char dir[SCRATCH_MAX], path[2 * SCRATCH_MAX];
	struct tape_gen_config config = {.dir = path,
					 .n_cpus = N_CPUS,
					 .block_events = 500,
					 .drop = drop,
					 .probes = "sched,softirq,irq,socket,deliver"};

	scratch_make(dir);
	scratch_path(path, dir, "without.tape");
	record_and_read(&without, traffic, &config);
	scratch_path(path, dir, "with.tape");
	config.samples = samples;
	config.all_loose = true;
	/* Another block of long spans would change which block goes missing. */
	config.longest_ns = drop ? NT_BLOCK_LONG_NS : 0;
	record_and_read(&with, traffic, &config);
	scratch_remove(dir);

	assert_true(without.size > 10000 && with.samples[0] > 1000);
	assert_int_equal(with.size, without.size);
	assert_string_equal(with.text, without.text);
	for (size_t kind = 0; kind < N_KINDS && !drop; kind++) {
		assert_int_equal(with.written[kind] > 0, nt_kind_is_loose(kept[kind].kind));
		assert_int_equal(with.samples[kind], with.written[kind]);
		assert_int_equal(with.lost[kind], with.declared[kind]);
		assert_int_equal(without.samples[kind], 0);
	}
	assert_true(with.known * 2 > with.samples[0]);
	assert_int_equal(with.unexplained, 0);
	free(without.text);
	free(with.text);
}

static void test_whole_tapes(void **state)
{
	struct traffic_config traffic = {
		.dur_ns = 100 * MS, .n_tasks = 20, .chunk_ns = 40 * MS, .snapshot_ns = 20 * MS};
	struct nt_rand rand = {nt_rand_seed()};

	(void)state;
	for (int run = 0; run < 2; run++) {
		traffic.seed = 1 + nt_rand_below(&rand, 1000000);
		expect_same(&traffic, 0, nt_rand_u64(&rand) | 1);
	}
}

static void test_lost_records(void **state)
{
	struct traffic_config traffic = {.dur_ns = 100 * MS,
					 .n_tasks = 20,
					 .lose_from_ns = 30 * MS,
					 .lose_to_ns = 45 * MS,
					 .snapshot_ns = 20 * MS};
	struct nt_rand rand = {nt_rand_seed()};

	(void)state;
	for (int run = 0; run < 2; run++) {
		traffic.seed = 1 + nt_rand_below(&rand, 1000000);
		expect_same(&traffic, 0, nt_rand_u64(&rand) | 1);
	}
}

static void test_missing_blocks(void **state)
{
	struct traffic_config traffic = {.dur_ns = 100 * MS, .n_tasks = 20, .snapshot_ns = 20 * MS};
	struct nt_rand rand = {nt_rand_seed()};

	(void)state;
	for (int run = 0; run < 2; run++) {
		traffic.seed = 1 + nt_rand_below(&rand, 1000000);
		expect_same(&traffic, 1 + nt_rand_below(&rand, 4), nt_rand_u64(&rand) | 1);
	}
}

/* Loose spans of seconds stand in blocks of long spans, also alone: each is a row, and nothing else knows of them. */
static void read_long_spans(struct outcome *outcome, bool with_loose)
{
	char dir[SCRATCH_MAX], path[2 * SCRATCH_MAX];
	const struct tape_gen_config config = {.dir = path, .n_cpus = 1};
	struct tape_gen *gen;

	scratch_make(dir);
	scratch_path(path, dir, "long.tape");
	gen = tape_gen_new(&config);
	gen_state(gen, 0, 0, 1, NT_STATE_START, 0);
	/* Its place is between two operations that ended earlier, in the same block. */
	gen_op(gen, 0, 10 * MS, 1020 * MS, NT_RECV, NT_CALL_read, 1, 5, 0);
	if (with_loose)
		gen_loose_span(gen, 0, -500 * (int64_t)MS, 3500 * MS);
	gen_op(gen, 0, 1030 * MS, 2040 * MS, NT_RECV, NT_CALL_read, 1, 5, 0);
	gen_switch(gen, 0, 2100 * MS, 1, 1, 0, 0);
	/* More than the reader sorts. */
	for (uint64_t i = 1; i <= 130; i++)
		gen_state(gen, 0, (2100 + 10 * i) * MS, 0, NT_STATE_PERIODIC, 0);
	for (uint64_t i = 0; i < 3; i++) {
		tape_gen_flush(gen, 0);
		if (with_loose)
			gen_loose_span(gen, 0, (int64_t)(1000 * i * MS), (3501 + 10 * i) * MS);
	}
	tape_gen_flush(gen, 0);
	gen_state(gen, 0, 4000 * MS, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 4000 * MS, true);
	*outcome = (struct outcome){.size = 0};
	outcome->out = open_memstream(&outcome->text, &outcome->size);
	read_rows(outcome, path);
	fclose(outcome->out);
	scratch_remove(dir);
}

static void test_long_spans(void **state)
{
	struct outcome without, with;

	(void)state;
	read_long_spans(&without, false);
	read_long_spans(&with, true);
	assert_string_equal(with.text, without.text);
	for (size_t kind = 0; kind < N_KINDS; kind++)
		assert_int_equal(with.samples[kind], kept[kind].kind == gen_loose_span_kind() ? 4 : 0);
	free(without.text);
	free(with.text);
}

/* A window waits for the end of rows with a duration. */
static void test_rows_of_spans_have_a_duration(void **state)
{
	(void)state;
	for (size_t kind = 0; kind < N_KINDS; kind++) {
		const struct nt_table *table = nt_table(kept[kind].table);
		bool has_dur = false;

		for (uint32_t i = 0; i < table->n_columns; i++)
			has_dur = has_dur || !strcmp(table->columns[i].name, "dur");
		assert_int_equal(has_dur, nt_kind(kept[kind].kind)->shape == NT_SHAPE_SPAN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_tapes),
		cmocka_unit_test(test_lost_records),
		cmocka_unit_test(test_missing_blocks),
		cmocka_unit_test(test_long_spans),
		cmocka_unit_test(test_rows_of_spans_have_a_duration),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

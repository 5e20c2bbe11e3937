// SPDX-License-Identifier: GPL-2.0-only
/*
 * sums_model_test.c - costs condensed as a slow model of sums.h does it, row for row: times that are often the same or
 * 0, minutes that are known late, rows over many minutes, and a sink that fails. And what is left when more different
 * costs come than are noted at a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/sums.h"
#include "report/util/array.h"
#include "tests/support/rand.h"

#define START 1000000000000ll
#define MINUTE NT_SUMS_BUCKET_NS
#define MINUTES 140 /* the last one is a half */
#define END (MINUTES * MINUTE - MINUTE / 2)
#define CPUS 4
#define TASKS 40
#define SOCKETS 12
#define ROUNDS 100
#define REFUSED (-77)

/* A slice or an operation; as a row that came out, too. */
struct cost {
	bool is_op;
	int64_t at, dur; /* from the start of the session */
	uint64_t place, task;
	uint32_t what;
	uint64_t sums[6]; /* of a slice only the first */
};

struct costs {
	struct cost *list;
	size_t n, size;
};

static void append(struct costs *to, const struct cost *cost)
{
	assert_int_equal(NT_ROOM(to->list, to->size, to->n + 1), 0);
	to->list[to->n++] = *cost;
}

static uint64_t time_of(const struct cost *cost)
{
	return cost->sums[cost->is_op ? 5 : 0];
}

/* ---- the model ---- */

struct model {
	struct costs pending, rows;
	int64_t newest;
	bool is_chosen[MINUTES], chosen[MINUTES][TASKS];
};

static int order(const struct cost *a, const struct cost *b)
{
	const uint64_t keys[][2] = {{a->is_op, b->is_op}, {a->place, b->place}, {a->task, b->task}, {a->what, b->what}};

	for (size_t i = 0; i < NT_COUNT(keys); i++) {
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	}
	return 0;
}

/* Adds it to the one with its key, else where it belongs. */
static void add_sorted(struct costs *to, const struct cost *cost)
{
	size_t at = 0;

	while (at < to->n && order(&to->list[at], cost) < 0)
		at++;
	if (at < to->n && !order(&to->list[at], cost)) {
		for (size_t k = 0; k < 6; k++)
			to->list[at].sums[k] += cost->sums[k];
		return;
	}
	append(to, cost);
	for (size_t i = to->n - 1; i > at; i--)
		to->list[i] = to->list[i - 1];
	to->list[at] = *cost;
}

static bool is_network(const struct cost *cost)
{
	return cost->task != NT_NO_TASK && (cost->is_op || cost->what == NT_OWNER_SEND || cost->what == NT_OWNER_RECV);
}

/* The thread with the most time of those that are not chosen, or -1. */
static int next_thread(const struct costs *cells, const bool *chosen)
{
	int64_t most = -1;
	int best = -1;

	for (int task = 0; task < TASKS; task++) {
		int64_t time = -1;

		for (size_t i = 0; i < cells->n && !chosen[task]; i++) {
			if (is_network(&cells->list[i]) && cells->list[i].task == (uint64_t)task)
				time = (time < 0 ? 0 : time) + (int64_t)time_of(&cells->list[i]);
		}
		if (time > most) {
			most = time;
			best = task;
		}
	}
	return best;
}

static unsigned int slices_of(const struct costs *cells, uint64_t task)
{
	unsigned int n = 0;

	for (size_t i = 0; i < cells->n; i++)
		n += is_network(&cells->list[i]) && !cells->list[i].is_op && cells->list[i].task == task;
	return n;
}

static void model_choose(const struct costs *cells, bool *chosen)
{
	unsigned int rows = 0;
	int task;

	for (int n = 0; n < NT_SUMS_TOP && (task = next_thread(cells, chosen)) >= 0; n++) {
		rows += slices_of(cells, (uint64_t)task);
		if (n > 0 && rows > NT_SUMS_ROWS)
			return;
		chosen[task] = true;
	}
}

/* Those that have a rank: computing threads, and operations of the chosen ones. */
static bool is_ranked(const struct cost *cost, const bool *chosen)
{
	return cost->task != NT_NO_TASK && (cost->is_op ? chosen[cost->task] : cost->what == NT_OWNER_TASK);
}

static bool is_of_the_largest(const struct costs *cells, size_t at, const bool *chosen)
{
	const struct cost *cost = &cells->list[at];
	size_t larger = 0;

	for (size_t i = 0; i < cells->n; i++) {
		const struct cost *other = &cells->list[i];

		if (other->is_op == cost->is_op && is_ranked(other, chosen))
			larger += time_of(other) > time_of(cost) || (time_of(other) == time_of(cost) && i < at);
	}
	return is_ranked(cost, chosen) && larger < NT_SUMS_TOP;
}

static uint64_t without_name(const struct cost *cost)
{
	if (cost->task == NT_NO_TASK || (!cost->is_op && cost->what == NT_OWNER_IDLE))
		return cost->task;
	return is_network(cost) || cost->what == NT_OWNER_TASK ? NT_SUMS_OTHERS : NT_NO_TASK;
}

static struct cost model_name(const struct costs *cells, size_t at, const bool *chosen)
{
	const bool is_large = is_of_the_largest(cells, at, chosen);
	struct cost cost = cells->list[at];

	if (!(is_network(&cost) ? chosen[cost.task] : is_large))
		cost.task = without_name(&cost);
	if (cost.is_op && !is_large)
		cost.place = 0;
	return cost;
}

/* All that waits of this minute. */
static void model_put(struct model *model, int64_t minute)
{
	struct costs cells = {0}, named = {0};
	size_t left = 0;

	for (size_t i = 0; i < model->pending.n; i++) {
		if (model->pending.list[i].at / MINUTE == minute)
			add_sorted(&cells, &model->pending.list[i]);
		else
			model->pending.list[left++] = model->pending.list[i];
	}
	model->pending.n = left;
	if (cells.n && !model->is_chosen[minute]) {
		model_choose(&cells, model->chosen[minute]);
		model->is_chosen[minute] = true;
	}
	for (size_t i = 0; i < cells.n; i++) {
		const struct cost cost = model_name(&cells, i, model->chosen[minute]);

		add_sorted(&named, &cost);
	}
	for (size_t i = 0; i < named.n; i++) {
		named.list[i].at = minute * MINUTE;
		named.list[i].dur = minute == MINUTES - 1 ? MINUTE / 2 : MINUTE;
		append(&model->rows, &named.list[i]);
	}
	free(cells.list);
	free(named.list);
}

static void model_put_before(struct model *model, int64_t end)
{
	for (int64_t minute = 0; minute < end; minute++)
		model_put(model, minute);
}

static void model_note(struct model *model, const struct cost *cost)
{
	const int64_t minute = cost->at / MINUTE;

	if (minute > model->newest) {
		model_put_before(model, model->newest);
		model->newest = minute;
	}
	append(&model->pending, cost);
}

/* From the edge of a minute on, an hour's whole minutes are one row. */
static void model_slice(struct model *model, const struct cost *slice)
{
	const int64_t end = slice->at + (int64_t)slice->sums[0];
	int64_t at = slice->at;

	while (at < end) {
		const int64_t edge = (at / MINUTE + 1) * MINUTE;
		struct cost part = *slice;

		part.at = at;
		if (at % MINUTE == 0 && end - at >= 60 * MINUTE) {
			part.dur = (end - at) / MINUTE * MINUTE;
			part.sums[0] = (uint64_t)part.dur;
			if (!is_network(&part) && part.what != NT_OWNER_TASK)
				part.task = without_name(&part);
			append(&model->rows, &part);
			at += part.dur;
		} else {
			part.sums[0] = (uint64_t)((end < edge ? end : edge) - at);
			model_note(model, &part);
			at = edge;
		}
	}
}

/* ---- the code ---- */

struct code {
	struct nt_sums *sums;
	struct costs rows;
	struct nt_arena arena; /* of the row that goes in */
	bool has_task[TASKS + 1], has_socket[SOCKETS + 1]; /* named by a row of its own; the last task: the others */
	size_t n_put, fail_at; /* fail_at: this row is refused; 0: none */
};

static int64_t integer(const struct nt_row *row, const char *column, int64_t otherwise)
{
	const struct nt_value *value = nt_row_value(row, column);

	return value->type == NT_VALUE_INTEGER ? value->integer : otherwise;
}

static void take_slice(struct code *code, const struct nt_row *row, struct cost *cost)
{
	cost->place = (uint64_t)integer(row, "cpu", -1);
	cost->what = nt_owner_number(nt_row_value(row, "owner")->text);
	cost->sums[0] = (uint64_t)integer(row, "spent_ns", -1);
	append(&code->rows, cost);
}

static void take_op(struct code *code, const struct nt_row *row, struct cost *cost)
{
	static const char *const columns[] = {"ops", "failed", "untimed", "lower_bound", "bytes", "cpu_ns"};

	cost->is_op = true;
	cost->place = (uint64_t)integer(row, "socket_id", 0);
	cost->what = strcmp(nt_row_value(row, "op")->text, "send") ? NT_RECV : NT_SEND;
	for (size_t i = 0; i < NT_COUNT(columns); i++)
		cost->sums[i] = (uint64_t)integer(row, columns[i], -1);
	append(&code->rows, cost);
}

static int put(void *arg, const struct nt_row *row)
{
	struct code *code = arg;
	struct cost cost = {.at = -1};
	int64_t task;

	if (++code->n_put == code->fail_at)
		return REFUSED;
	if (row->table == NT_TABLE_CPU_COST || row->table == NT_TABLE_SOCK_COST) {
		cost.at = integer(row, "ts", -1) - START;
		cost.dur = integer(row, "dur", -1);
		cost.task = (uint64_t)integer(row, "utid", (int64_t)NT_NO_TASK);
	}
	if (row->table == NT_TABLE_CPU_COST) {
		take_slice(code, row, &cost);
	} else if (row->table == NT_TABLE_SOCK_COST) {
		take_op(code, row, &cost);
	} else if (row->table == NT_TABLE_THREAD) {
		task = integer(row, "utid", -1);
		code->has_task[task == NT_SUMS_OTHERS ? TASKS : task] = true;
	} else if (row->table == NT_TABLE_SOCKET) {
		code->has_socket[integer(row, "id", -1)] = true;
	}
	return 0;
}

static int give(struct code *code, enum nt_table_id table, const void *from)
{
	struct nt_row row;

	nt_arena_reset(&code->arena);
	assert_int_equal(nt_table_fill(&row, &code->arena, table, 1, from), 0);
	return nt_sums_row(code->sums, &row);
}

static int give_cost(struct code *code, const struct cost *cost)
{
	const struct nt_cpu_cost slice = {.ts_ns = (uint64_t)(START + cost->at),
					  .dur_ns = 1,
					  .cpu = (uint32_t)cost->place,
					  .owner = (enum nt_owner)cost->what,
					  .task = cost->task,
					  .spent_ns = cost->sums[0]};
	const struct nt_sock_cost op = {.ts_ns = (uint64_t)(START + cost->at),
					.dur_ns = 1,
					.task = cost->task,
					.dir = (uint8_t)cost->what,
					.socket = cost->place,
					.ops = cost->sums[0],
					.failed = cost->sums[1],
					.untimed = cost->sums[2],
					.lower_bound = cost->sums[3],
					.bytes = cost->sums[4],
					.cpu_ns = cost->sums[5]};

	return cost->is_op ? give(code, NT_TABLE_SOCK_COST, &op) : give(code, NT_TABLE_CPU_COST, &slice);
}

static int give_names(struct code *code)
{
	int error = 0;

	for (uint64_t task = 0; task < TASKS && !error; task++)
		error = give(code, NT_TABLE_THREAD, &(struct nt_thread_info){.task = task, .known = true});
	for (uint64_t socket = 1; socket <= SOCKETS && !error; socket++)
		error = give(code, NT_TABLE_SOCKET, &(struct nt_socket){.socket = socket, .family = 1, .type = 1});
	return error;
}

static void begin(struct code *code)
{
	const struct nt_sums_sink sink = {code, put};

	code->sums = nt_sums_new(START, START + END, &sink);
	assert_non_null(code->sums);
}

static void end(struct code *code)
{
	nt_sums_free(code->sums);
	nt_arena_release(&code->arena);
	free(code->rows.list);
}

/* Gives the error of a row that is refused, with which it ends. */
static int condense(struct code *code, const struct costs *costs)
{
	int error = 0;

	begin(code);
	for (size_t i = 0; i < costs->n && !error; i++)
		error = give_cost(code, &costs->list[i]);
	if (!error)
		error = give_names(code);
	return error ? error : nt_sums_finish(code->sums);
}

/* ---- random costs ---- */

/* The numbers of each: they differ between rounds, so that one limit or another is met. */
struct mix {
	struct nt_rand *rand;
	uint64_t costs, cpus, tasks, values, minutes;
};

/* About these many minutes, or an hour of them, and beside them. */
static int64_t long_time(struct nt_rand *rand)
{
	static const int64_t minutes[] = {1, 2, 60, 61, 62};

	return minutes[nt_rand_below(rand, NT_COUNT(minutes))] * MINUTE + (int64_t)nt_rand_below(rand, 3) - 1;
}

static void random_cost(struct cost *cost, const struct mix *mix, size_t i)
{
	static const int64_t offsets[] = {0, 0, 1, MINUTE - 2, MINUTE - 1};
	struct nt_rand *rand = mix->rand;
	const int64_t newest = (int64_t)(i * mix->minutes / mix->costs), late = (int64_t)nt_rand_below(rand, 6) - 2;

	*cost = (struct cost){.is_op = !nt_rand_below(rand, 3)};
	cost->at = (late < 0 || late > newest ? newest : newest - late) * MINUTE;
	cost->at += offsets[nt_rand_below(rand, NT_COUNT(offsets))];
	cost->task = nt_rand_below(rand, 20) ? nt_rand_below(rand, mix->tasks) : NT_NO_TASK;
	for (size_t k = 0; k < (cost->is_op ? 6 : 1); k++)
		cost->sums[k] = nt_rand_below(rand, mix->values);
	if (cost->is_op) {
		cost->place = nt_rand_below(rand, SOCKETS + 1);
		cost->what = nt_rand_below(rand, 2) ? NT_SEND : NT_RECV;
		return;
	}
	cost->place = nt_rand_below(rand, mix->cpus);
	cost->what = (uint32_t)(nt_rand_below(rand, 3) ? NT_OWNER_SEND + nt_rand_below(rand, 3)
						       : nt_rand_below(rand, NT_OWNER_COUNT));
	/* Where there are few, some are all that names a thread. */
	if (!nt_rand_below(rand, 1 + mix->costs / 15))
		cost->sums[0] = (uint64_t)long_time(rand);
	if (i > mix->costs * 3 / 4 && !nt_rand_below(rand, 40))
		cost->at = END - (int64_t)cost->sums[0] - (int64_t)nt_rand_below(rand, 2);
}

static void random_costs(struct costs *costs, struct nt_rand *rand)
{
	const struct mix mix = {.rand = rand,
				.costs = nt_rand_below(rand, 2) ? 500 : 10,
				.cpus = 1 + nt_rand_below(rand, CPUS),
				.tasks = 1 + nt_rand_below(rand, TASKS),
				.values = nt_rand_below(rand, 2) ? 3 : 50,
				.minutes = 1 + nt_rand_below(rand, 6)};
	struct cost cost;

	for (size_t i = 0; i < mix.costs; i++) {
		random_cost(&cost, &mix, i);
		append(costs, &cost);
	}
}

/* ---- tests ---- */

static void expect_rows(const struct costs *rows, const struct costs *wanted)
{
	for (size_t i = 0; i < rows->n && i < wanted->n; i++) {
		const struct cost *a = &rows->list[i], *b = &wanted->list[i];

		if (order(a, b) || a->at != b->at || a->dur != b->dur || memcmp(a->sums, b->sums, sizeof(a->sums)))
			fail_msg("row %zu: at %lld task %llu place %llu what %u, not at %lld task %llu place %llu "
				 "what %u, or other sums",
				 i, (long long)a->at, (unsigned long long)a->task, (unsigned long long)a->place,
				 a->what, (long long)b->at, (unsigned long long)b->task, (unsigned long long)b->place,
				 b->what);
	}
	assert_int_equal(rows->n, wanted->n);
}

/* Threads and sockets have rows of their own if these speak of them, and so have the others. */
static void expect_names(const struct code *code, const struct costs *rows)
{
	bool has_task[TASKS + 1] = {false}, has_socket[SOCKETS + 1] = {false};

	for (size_t i = 0; i < rows->n; i++) {
		const struct cost *row = &rows->list[i];

		if (row->task != NT_NO_TASK)
			has_task[row->task == NT_SUMS_OTHERS ? TASKS : row->task] = true;
		if (row->is_op && row->place)
			has_socket[row->place] = true;
	}
	assert_memory_equal(code->has_task, has_task, sizeof(has_task));
	assert_memory_equal(code->has_socket, has_socket, sizeof(has_socket));
}

static void refuse_one(const struct costs *costs, size_t n_put, struct nt_rand *rand)
{
	struct code code = {.fail_at = 1 + nt_rand_below(rand, n_put)};

	assert_int_equal(condense(&code, costs), REFUSED);
	assert_int_equal(code.n_put, code.fail_at);
	end(&code);
}

static void rows_are_the_models(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct model *model = calloc(1, sizeof(*model));
		struct code code = {.fail_at = 0};
		struct costs costs = {0};

		assert_non_null(model);
		random_costs(&costs, &rand);
		for (size_t i = 0; i < costs.n; i++)
			(costs.list[i].is_op ? model_note : model_slice)(model, &costs.list[i]);
		model_put_before(model, MINUTES);
		assert_int_equal(condense(&code, &costs), 0);
		expect_rows(&code.rows, &model->rows);
		expect_names(&code, &model->rows);
		refuse_one(&costs, code.n_put, &rand);
		free(model->pending.list);
		free(model->rows.list);
		free(model);
		free(costs.list);
		end(&code);
	}
}

/* So many rows are made of these: `times` of each of n keys, one round after the other, and then one of each again. */
static size_t rows_of(size_t n, size_t times, size_t again)
{
	struct code code = {.fail_at = 0};
	size_t rows;

	begin(&code);
	for (size_t i = 0; i < n * times + again; i++) {
		const struct cost cost = {.place = i % n, .task = NT_NO_TASK, .what = NT_OWNER_UNCOVERED, .sums = {1}};

		assert_int_equal(give_cost(&code, &cost), 0);
	}
	assert_int_equal(nt_sums_finish(code.sums), 0);
	rows = code.rows.n;
	end(&code);
	return rows;
}

/* Notes are added up when there are as many as there may be; they are put if more than half are left then. */
static void a_limit_to_what_is_noted(void **state)
{
	const size_t most = NT_SUMS_NOTED, half = most / 2;

	(void)state;
	assert_int_equal(rows_of(half, 2, half), half);
	assert_int_equal(rows_of(half + 1, 1, half - 1), half + 1);
	assert_int_equal(rows_of(half + 1, 1, half), half + 2);
	assert_int_equal(rows_of(most - 1, 1, 1), most - 1);
	assert_int_equal(rows_of(most, 1, 1), most + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_the_models),
		cmocka_unit_test(a_limit_to_what_is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

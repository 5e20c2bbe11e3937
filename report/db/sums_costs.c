// SPDX-License-Identifier: GPL-2.0-only
/*
 * sums_costs.c - the part of sums.h that adds costs up. They are noted as they come; when there are many, or a bucket
 * is over, they are sorted, and those with one key become one. Both tables' costs of a bucket are put together: then
 * its threads are chosen that keep their names. Sums of a bucket that are known late are rows of their own, with the
 * names that were chosen.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/sums_state.h"

#define LONG_NS (60 * NT_SUMS_BUCKET_NS)

/* ---- adding up ---- */

#define COMPARE(member)                                                                                                \
	if (a->member != b->member)                                                                                    \
	return a->member < b->member ? -1 : 1

static int compare(const void *first, const void *second)
{
	const struct nt_sums_cost *a = first, *b = second;

	COMPARE(bucket);
	COMPARE(place);
	COMPARE(task);
	COMPARE(what);
	return 0;
}

/* Sorts the first n, and makes one of those with the same key. Gives how many are left. */
static size_t merge(struct nt_sums_cost *costs, size_t n)
{
	size_t left = 0;

	if (n)
		qsort(costs, n, sizeof(*costs), compare);
	for (size_t i = 0; i < n; i++) {
		if (left && !compare(&costs[left - 1], &costs[i])) {
			for (size_t k = 0; k < NT_COUNT(costs->sums); k++)
				costs[left - 1].sums[k] += costs[i].sums[k];
		} else {
			costs[left++] = costs[i];
		}
	}
	return left;
}

/* ---- the threads of a bucket ---- */

/* Time in sends and receives, by both tables, and the rows of cpu_cost that this takes. */
struct thread_time {
	uint64_t task, ns;
	unsigned int rows;
};

static bool is_network(const struct nt_sums_cost *cost, bool is_op)
{
	return cost->task != NT_NO_TASK && (is_op || cost->what == NT_OWNER_SEND || cost->what == NT_OWNER_RECV);
}

static uint64_t time_of(const struct nt_sums_cost *cost, bool is_op)
{
	return cost->sums[is_op ? 5 : 0];
}

static int by_task(const void *first, const void *second)
{
	const struct thread_time *a = first, *b = second;

	COMPARE(task);
	return 0;
}

static int by_time(const void *first, const void *second)
{
	const struct thread_time *a = second, *b = first;

	COMPARE(ns);
	return -by_task(a, b);
}

static size_t list_threads(const struct nt_sums_part *part, bool is_op, struct thread_time *out)
{
	size_t n = 0;

	for (size_t i = 0; i < part->n; i++) {
		if (is_network(&part->costs[i], is_op))
			out[n++] = (struct thread_time){part->costs[i].task, time_of(&part->costs[i], is_op), !is_op};
	}
	return n;
}

/* One entry for each thread, most time first. Gives how many are left. */
static size_t order_threads(struct thread_time *threads, size_t n)
{
	size_t left = 0;

	if (n)
		qsort(threads, n, sizeof(*threads), by_task);
	for (size_t i = 0; i < n; i++) {
		if (left && threads[left - 1].task == threads[i].task) {
			threads[left - 1].ns += threads[i].ns;
			threads[left - 1].rows += threads[i].rows;
		} else {
			threads[left++] = threads[i];
		}
	}
	if (left)
		qsort(threads, left, sizeof(*threads), by_time);
	return left;
}

/* Those with the most time. */
static void choose_first(struct nt_sums_choice *choice, const struct thread_time *threads, size_t n)
{
	unsigned int rows = 0;

	for (; choice->n < n && choice->n < NT_SUMS_TOP; choice->n++) {
		rows += threads[choice->n].rows;
		if (choice->n && rows > NT_SUMS_ROWS)
			break;
		choice->tasks[choice->n] = threads[choice->n].task;
	}
	choice->is_made = true;
}

/* By both parts of a bucket. */
static int choose(struct nt_sums_choice *choice, const struct nt_sums_part *slices, const struct nt_sums_part *ops)
{
	struct thread_time *threads = malloc((slices->n + ops->n) * sizeof(*threads));
	size_t n;

	if (!threads)
		return -ENOMEM;
	n = list_threads(slices, false, threads);
	n += list_threads(ops, true, threads + n);
	choose_first(choice, threads, order_threads(threads, n));
	free(threads);
	return 0;
}

static bool is_chosen(const struct nt_sums_choice *choice, uint64_t task)
{
	return NT_ANY(choice->n, i, choice->tasks[i] == task);
}

/* ---- the largest rows ---- */

struct ranking {
	struct nt_sums_cost *top[NT_SUMS_TOP];
	size_t n;
};

/* Keeps the NT_SUMS_TOP largest, by time and then as they come, in their order. */
static void rank(struct ranking *ranking, struct nt_sums_cost *cost, bool is_op)
{
	size_t at = ranking->n;

	while (at && time_of(ranking->top[at - 1], is_op) < time_of(cost, is_op))
		at--;
	if (at == NT_SUMS_TOP)
		return;
	ranking->n += ranking->n < NT_SUMS_TOP;
	memmove(ranking->top + at + 1, ranking->top + at, (ranking->n - at - 1) * sizeof(*ranking->top));
	ranking->top[at] = cost;
}

static bool is_in(const struct ranking *ranking, const struct nt_sums_cost *cost)
{
	return NT_ANY(ranking->n, i, ranking->top[i] == cost);
}

/* The time of interrupts is in no thread's account. */
static void forget_thread(struct nt_sums_cost *cost)
{
	if (cost->what == NT_OWNER_SEND || cost->what == NT_OWNER_RECV || cost->what == NT_OWNER_TASK)
		cost->task = cost->task == NT_NO_TASK ? NT_NO_TASK : NT_SUMS_OTHERS;
	else if (cost->what != NT_OWNER_IDLE)
		cost->task = NT_NO_TASK;
}

/* A thread that computes is no rival of one that sends. */
static void name_slices(const struct nt_sums_part *part, const struct nt_sums_choice *choice)
{
	struct ranking computing = {.n = 0};

	for (size_t i = 0; i < part->n; i++) {
		if (part->costs[i].what == NT_OWNER_TASK && part->costs[i].task != NT_NO_TASK)
			rank(&computing, &part->costs[i], false);
	}
	for (size_t i = 0; i < part->n; i++) {
		struct nt_sums_cost *cost = &part->costs[i];

		if (!is_in(&computing, cost) && !(is_network(cost, false) && is_chosen(choice, cost->task)))
			forget_thread(cost);
	}
}

static void name_ops(const struct nt_sums_part *part, const struct nt_sums_choice *choice)
{
	struct ranking largest = {.n = 0};

	for (size_t i = 0; i < part->n; i++) {
		struct nt_sums_cost *cost = &part->costs[i];

		if (cost->task != NT_NO_TASK && !is_chosen(choice, cost->task))
			cost->task = NT_SUMS_OTHERS;
		else if (cost->task != NT_NO_TASK)
			rank(&largest, cost, true);
	}
	for (size_t i = 0; i < part->n; i++) {
		if (!is_in(&largest, &part->costs[i]))
			part->costs[i].place = 0;
	}
}

/* ---- putting ---- */

static int put_slices(struct nt_sums *sums, const struct nt_sums_cost *cost, int64_t ts, int64_t dur)
{
	const struct nt_cpu_cost row = {
		.ts_ns = (uint64_t)ts,
		.dur_ns = (uint64_t)dur,
		.cpu = (uint32_t)cost->place,
		.owner = (enum nt_owner)cost->what,
		.task = cost->task,
		.spent_ns = cost->sums[0],
	};

	return nt_sums_put(sums, NT_TABLE_CPU_COST, &row);
}

static int put_ops(struct nt_sums *sums, const struct nt_sums_cost *cost, int64_t ts, int64_t dur)
{
	const struct nt_sock_cost row = {
		.ts_ns = (uint64_t)ts,
		.dur_ns = (uint64_t)dur,
		.task = cost->task,
		.dir = (uint8_t)cost->what,
		.socket = cost->place,
		.ops = cost->sums[0],
		.failed = cost->sums[1],
		.untimed = cost->sums[2],
		.lower_bound = cost->sums[3],
		.bytes = cost->sums[4],
		.cpu_ns = cost->sums[5],
	};

	if (row.socket && nt_id_map_set(&sums->sockets, row.socket, 1))
		return -ENOMEM;
	return nt_sums_put(sums, NT_TABLE_SOCK_COST, &row);
}

static int put_cost(struct nt_sums *sums, const struct nt_sums_cost *cost, bool is_op)
{
	const int64_t ts = sums->start_ts + cost->bucket * NT_SUMS_BUCKET_NS;
	const int64_t left = sums->end_ts - ts, dur = left < NT_SUMS_BUCKET_NS ? left : NT_SUMS_BUCKET_NS;

	if (cost->task != NT_NO_TASK && nt_id_map_set(&sums->tasks, cost->task, 1))
		return -ENOMEM;
	return is_op ? put_ops(sums, cost, ts, dur) : put_slices(sums, cost, ts, dur);
}

static int put_part(struct nt_sums *sums, const struct nt_sums_part *part, bool is_op)
{
	const size_t n = merge(part->costs, part->n);
	int error = 0;

	for (size_t i = 0; i < n && !error; i++)
		error = put_cost(sums, &part->costs[i], is_op);
	return error;
}

/* All costs of one bucket. */
static int put_bucket(struct nt_sums *sums, int64_t bucket, const struct nt_sums_part *slices,
		      const struct nt_sums_part *ops)
{
	const int64_t i = NT_INDEX(&sums->chosen, (uint64_t)bucket, sums->choices, sums->choices_size, sums->n_choices,
				   {.is_made = false});
	struct nt_sums_choice *choice;
	int error = 0;

	if (i < 0)
		return -ENOMEM;
	choice = &sums->choices[i];
	if (!choice->is_made)
		error = choose(choice, slices, ops);
	if (error)
		return error;
	name_slices(slices, choice);
	name_ops(ops, choice);
	error = put_part(sums, slices, false);
	return error ? error : put_part(sums, ops, true);
}

/* The costs from `done` on that are of this bucket; they are sorted. */
static struct nt_sums_part part_of(const struct nt_sums_costs *costs, size_t done, int64_t bucket)
{
	struct nt_sums_part part = {0};

	if (done < costs->n)
		part.costs = &costs->costs[done];
	while (done + part.n < costs->n && part.costs[part.n].bucket == bucket)
		part.n++;
	return part;
}

static int64_t bucket_at(const struct nt_sums_costs *costs, size_t at)
{
	return at < costs->n ? costs->costs[at].bucket : INT64_MAX;
}

static void drop(struct nt_sums_costs *costs, size_t n)
{
	costs->n -= n;
	if (costs->n)
		memmove(costs->costs, costs->costs + n, costs->n * sizeof(*costs->costs));
}

/* Puts the costs of buckets before this one; they are sorted. */
static int put_until(struct nt_sums *sums, int64_t end)
{
	size_t n_slices = 0, n_ops = 0;
	int error = 0;

	while (!error) {
		const int64_t slice = bucket_at(&sums->slices, n_slices), op = bucket_at(&sums->ops, n_ops);
		const int64_t bucket = slice < op ? slice : op;
		struct nt_sums_part slices, ops;

		if (bucket >= end)
			break;
		slices = part_of(&sums->slices, n_slices, bucket);
		ops = part_of(&sums->ops, n_ops, bucket);
		n_slices += slices.n;
		n_ops += ops.n;
		error = put_bucket(sums, bucket, &slices, &ops);
	}
	drop(&sums->slices, n_slices);
	drop(&sums->ops, n_ops);
	return error;
}

static void merge_both(struct nt_sums *sums)
{
	sums->slices.n = merge(sums->slices.costs, sums->slices.n);
	sums->ops.n = merge(sums->ops.costs, sums->ops.n);
}

static int make_room(struct nt_sums *sums, const struct nt_sums_costs *costs)
{
	merge_both(sums);
	/* Too many different ones for a bucket: it gets several rows of a key. */
	return costs->n > NT_SUMS_NOTED / 2 ? put_until(sums, INT64_MAX) : 0;
}

/* ---- noting ---- */

static int note(struct nt_sums *sums, struct nt_sums_costs *costs, const struct nt_sums_cost *cost)
{
	int error = 0;

	if (cost->bucket > sums->newest) {
		merge_both(sums);
		/* The one before may still get some. */
		error = put_until(sums, sums->newest);
		sums->newest = cost->bucket;
	}
	if (!error && costs->n == NT_SUMS_NOTED)
		error = make_room(sums, costs);
	if (error || NT_ROOM(costs->costs, costs->size, costs->n + 1))
		return error ? error : -ENOMEM;
	costs->costs[costs->n++] = *cost;
	return 0;
}

static uint64_t task_of(const struct nt_row *row)
{
	return (uint64_t)nt_sums_integer(row, "utid", (int64_t)NT_NO_TASK);
}

/* Whole minutes of one key as one row, so that a tape that claims centuries makes no row for each of their minutes. */
static int put_whole(struct nt_sums *sums, struct nt_sums_cost *cost, int64_t at, int64_t dur)
{
	if (cost->what != NT_OWNER_TASK && !is_network(cost, false))
		forget_thread(cost);
	if (cost->task != NT_NO_TASK && nt_id_map_set(&sums->tasks, cost->task, 1))
		return -ENOMEM;
	return put_slices(sums, cost, sums->start_ts + at, dur);
}

/* A row of several buckets in a row belongs to one key wholly; it may lie in several of the wider ones. */
int nt_sums_add_slice(struct nt_sums *sums, const struct nt_row *row)
{
	int64_t at = nt_sums_integer(row, "ts", 0) - sums->start_ts, left = nt_sums_integer(row, "spent_ns", 0);
	struct nt_sums_cost cost = {
		.place = (uint64_t)nt_sums_integer(row, "cpu", 0),
		.task = task_of(row),
		.what = nt_owner_number(nt_row_value(row, "owner")->text),
	};
	int error = 0;

	for (; left > 0 && !error; left -= (int64_t)cost.sums[0], at += (int64_t)cost.sums[0]) {
		const int64_t room = NT_SUMS_BUCKET_NS - at % NT_SUMS_BUCKET_NS;

		if (room == NT_SUMS_BUCKET_NS && left >= LONG_NS) {
			struct nt_sums_cost whole = cost;

			cost.sums[0] = whole.sums[0] = (uint64_t)(left - left % NT_SUMS_BUCKET_NS);
			error = put_whole(sums, &whole, at, (int64_t)whole.sums[0]);
			continue;
		}
		cost.bucket = at / NT_SUMS_BUCKET_NS;
		cost.sums[0] = (uint64_t)(left < room ? left : room);
		error = note(sums, &sums->slices, &cost);
	}
	return error;
}

int nt_sums_add_op(struct nt_sums *sums, const struct nt_row *row)
{
	static const char *const columns[] = {"ops", "failed", "untimed", "lower_bound", "bytes", "cpu_ns"};
	struct nt_sums_cost cost = {
		.bucket = (nt_sums_integer(row, "ts", 0) - sums->start_ts) / NT_SUMS_BUCKET_NS,
		.place = (uint64_t)nt_sums_integer(row, "socket_id", 0),
		.task = task_of(row),
		.what = strcmp(nt_row_value(row, "op")->text, nt_dir_name(NT_SEND)) ? NT_RECV : NT_SEND,
	};

	for (size_t i = 0; i < NT_COUNT(columns); i++)
		cost.sums[i] = (uint64_t)nt_sums_integer(row, columns[i], 0);
	return note(sums, &sums->ops, &cost);
}

int nt_sums_finish_costs(struct nt_sums *sums)
{
	merge_both(sums);
	return put_until(sums, INT64_MAX);
}

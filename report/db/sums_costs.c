// SPDX-License-Identifier: GPL-2.0-only
/*
 * sums_costs.c - the part of sums.h that adds costs up. They are noted as they come; when there are many, or a bucket
 * is over, they are sorted, and those with one key become one. Sums of a bucket that are known late are rows of their
 * own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/sums_state.h"

#define MAX_COSTS 65536 /* noted at a time */
#define LONG_NS (60 * NT_SUMS_BUCKET_NS)

static bool is_op(const struct nt_sums *sums, const struct nt_sums_costs *costs)
{
	return costs == &sums->ops;
}

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

/* ---- the largest of a bucket ---- */

static bool is_own(const struct nt_sums_cost *cost)
{
	return cost->what == NT_OWNER_SEND || cost->what == NT_OWNER_RECV || cost->what == NT_OWNER_TASK;
}

/* What names its thread if it is among the largest. The time of interrupts is in no thread's account. */
static bool is_ranked(const struct nt_sums_cost *cost, bool is_op)
{
	return cost->task != NT_NO_TASK && (is_op || is_own(cost));
}

static uint64_t time_of(const struct nt_sums_cost *cost, bool is_op)
{
	return cost->sums[is_op ? 5 : 0];
}

/* Keeps the NT_SUMS_TOP largest, by time and then as they come, in their order; n_top so far. Gives the new n_top. */
static size_t rank(const struct nt_sums_cost **top, size_t n_top, const struct nt_sums_cost *cost, bool is_op)
{
	size_t at = n_top;

	while (at && time_of(top[at - 1], is_op) < time_of(cost, is_op))
		at--;
	if (at == NT_SUMS_TOP)
		return n_top;
	n_top += n_top < NT_SUMS_TOP;
	memmove(top + at + 1, top + at, (n_top - at - 1) * sizeof(*top));
	top[at] = cost;
	return n_top;
}

/* The rest together. */
static void forget_name(struct nt_sums_cost *cost, bool is_op)
{
	if (is_ranked(cost, is_op))
		cost->task = NT_SUMS_OTHERS;
	else if (is_op || cost->what != NT_OWNER_IDLE)
		cost->task = NT_NO_TASK;
	if (is_op)
		cost->place = 0;
}

/* The largest of one kind. */
struct ranking {
	const struct nt_sums_cost *top[NT_SUMS_TOP];
	size_t n;
};

/* A thread that computes is no rival of one that sends. */
static struct ranking *ranking_of(struct ranking both[2], const struct nt_sums_cost *cost, bool is_op)
{
	return &both[!is_op && cost->what == NT_OWNER_TASK];
}

static void forget_names(struct nt_sums_cost *costs, size_t n, bool is_op)
{
	struct ranking both[2] = {0};

	for (size_t i = 0; i < n; i++) {
		struct ranking *ranking = ranking_of(both, &costs[i], is_op);

		if (is_ranked(&costs[i], is_op))
			ranking->n = rank(ranking->top, ranking->n, &costs[i], is_op);
	}
	for (size_t i = 0; i < n; i++) {
		const struct ranking *ranking = ranking_of(both, &costs[i], is_op);

		if (!NT_ANY(ranking->n, k, ranking->top[k] == &costs[i]))
			forget_name(&costs[i], is_op);
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

/* All costs of one bucket. */
static int put_bucket(struct nt_sums *sums, struct nt_sums_cost *costs, size_t n, bool is_op)
{
	int error = 0;

	forget_names(costs, n, is_op);
	n = merge(costs, n);
	for (size_t i = 0; i < n && !error; i++)
		error = put_cost(sums, &costs[i], is_op);
	return error;
}

/* Puts the costs of buckets before this one; they are sorted. */
static int put_until(struct nt_sums *sums, struct nt_sums_costs *costs, int64_t bucket)
{
	size_t done = 0, n;
	int error = 0;

	for (; done < costs->n && costs->costs[done].bucket < bucket && !error; done += n) {
		for (n = 1; done + n < costs->n && costs->costs[done + n].bucket == costs->costs[done].bucket; n++)
			;
		error = put_bucket(sums, costs->costs + done, n, is_op(sums, costs));
	}
	costs->n -= done;
	if (costs->n)
		memmove(costs->costs, costs->costs + done, costs->n * sizeof(*costs->costs));
	return error;
}

static int make_room(struct nt_sums *sums, struct nt_sums_costs *costs)
{
	costs->n = merge(costs->costs, costs->n);
	/* Too many different ones for a bucket: it gets several rows of a key. */
	return costs->n > MAX_COSTS / 2 ? put_until(sums, costs, INT64_MAX) : 0;
}

/* ---- noting ---- */

static int note(struct nt_sums *sums, struct nt_sums_costs *costs, const struct nt_sums_cost *cost)
{
	int error = 0;

	if (cost->bucket > costs->newest) {
		costs->n = merge(costs->costs, costs->n);
		/* The one before may still get some. */
		error = put_until(sums, costs, costs->newest);
		costs->newest = cost->bucket;
	}
	if (!error && costs->n == MAX_COSTS)
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
	if (!is_ranked(cost, false))
		forget_name(cost, false);
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
	struct nt_sums_costs *const both[] = {&sums->slices, &sums->ops};
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(both) && !error; i++) {
		both[i]->n = merge(both[i]->costs, both[i]->n);
		error = put_until(sums, both[i], INT64_MAX);
	}
	return error;
}

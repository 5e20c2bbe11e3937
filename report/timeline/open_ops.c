// SPDX-License-Identifier: GPL-2.0-only
/*
 * open_ops.c - see open_ops.h. Two hash tables of lists: by task, and by begin for those that have one.
 */
#include "report/timeline/open_ops.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_BUCKETS 64
#define FIND_ANY_MAX 64 /* same begin, to the nanosecond: more than a few only on a forged tape */

static uint32_t bucket_of(const struct nt_open_ops *ops, uint64_t value)
{
	value *= 0x9e3779b97f4a7c15ull;
	return (uint32_t)(value >> 32) & (ops->n_buckets - 1);
}

void nt_open_ops_release(struct nt_open_ops *ops)
{
	while (!LIST_EMPTY(&ops->all))
		nt_open_ops_remove(ops, LIST_FIRST(&ops->all));
	free(ops->by_task);
	free(ops->by_begin);
	*ops = (struct nt_open_ops){.count = 0};
}

static void link_in(struct nt_open_ops *ops, struct nt_open_op *op)
{
	LIST_INSERT_HEAD(&ops->by_task[bucket_of(ops, op->task)], op, of_task);
	/* Those from before the recording all have one begin: a list of them would be long and of no use. */
	if (!op->before)
		LIST_INSERT_HEAD(&ops->by_begin[bucket_of(ops, op->begin_ns)], op, of_begin);
}

/* Twice the buckets, so that lists stay short. */
static int grow(struct nt_open_ops *ops)
{
	uint32_t n_buckets = ops->n_buckets ? ops->n_buckets * 2 : FIRST_BUCKETS;
	struct nt_open_op_list *by_task = calloc(n_buckets, sizeof(*by_task));
	struct nt_open_op_list *by_begin = calloc(n_buckets, sizeof(*by_begin));
	struct nt_open_op *op;

	if (!n_buckets || !by_task || !by_begin) {
		free(by_task);
		free(by_begin);
		return -ENOMEM;
	}
	free(ops->by_task);
	free(ops->by_begin);
	ops->by_task = by_task;
	ops->by_begin = by_begin;
	ops->n_buckets = n_buckets;
	LIST_FOREACH (op, &ops->all, of_all)
		link_in(ops, op);
	return 0;
}

/* The task's next operation behind `op`; NULL as `op`: its first. */
static struct nt_open_op *next_of(const struct nt_open_ops *ops, uint64_t task, struct nt_open_op *op)
{
	if (!ops->count)
		return NULL;
	op = op ? LIST_NEXT(op, of_task) : LIST_FIRST(&ops->by_task[bucket_of(ops, task)]);
	while (op && op->task != task)
		op = LIST_NEXT(op, of_task);
	return op;
}

struct nt_open_op *nt_open_ops_find(struct nt_open_ops *ops, uint64_t task, const struct nt_op_key *key)
{
	struct nt_open_op *op = NULL;

	while ((op = next_of(ops, task, op))) {
		if (op->dir == key->dir && op->before == key->before && (op->before || op->begin_ns == key->begin_ns))
			break;
	}
	return op;
}

struct nt_open_op *nt_open_ops_find_any(struct nt_open_ops *ops, const struct nt_op_key *key, uint64_t socket)
{
	struct nt_open_op *op, *found = NULL;
	int steps = FIND_ANY_MAX;

	if (!ops->count || key->before)
		return NULL;
	op = LIST_FIRST(&ops->by_begin[bucket_of(ops, key->begin_ns)]);
	for (; op && steps--; op = LIST_NEXT(op, of_begin)) {
		if (op->begin_ns == key->begin_ns && op->dir == key->dir && (!op->socket || op->socket == socket) &&
		    (!found || op->task < found->task))
			found = op;
	}
	return found;
}

struct nt_open_op *nt_open_ops_add(struct nt_open_ops *ops, const struct nt_open_op *op)
{
	struct nt_open_op *added = ops->count < ops->n_buckets || !grow(ops) ? malloc(sizeof(*added)) : NULL;

	if (!added)
		return NULL;
	*added = *op;
	LIST_INSERT_HEAD(&ops->all, added, of_all);
	link_in(ops, added);
	ops->count++;
	return added;
}

void nt_open_ops_remove(struct nt_open_ops *ops, struct nt_open_op *op)
{
	LIST_REMOVE(op, of_all);
	LIST_REMOVE(op, of_task);
	if (!op->before)
		LIST_REMOVE(op, of_begin);
	ops->count--;
	free(op);
}

struct nt_open_op *nt_open_ops_unlisted(struct nt_open_ops *ops, uint64_t task)
{
	struct nt_open_op *op = NULL;

	while ((op = next_of(ops, task, op)) && (op->listed || op->claimed))
		;
	return op;
}

void nt_open_ops_unlist(struct nt_open_ops *ops, uint64_t task)
{
	struct nt_open_op *op = NULL;

	while ((op = next_of(ops, task, op)))
		op->listed = false;
}

int nt_open_ops_move(struct nt_open_ops *ops, uint64_t from, uint64_t to)
{
	struct nt_open_op *op;

	while (from != to && (op = next_of(ops, from, NULL))) {
		struct nt_op_key key = {op->begin_ns, op->dir, op->before};
		struct nt_open_op *there, moved = *op;

		nt_open_ops_remove(ops, op);
		there = nt_open_ops_find(ops, to, &key);
		moved.task = to;
		if (there) {
			there->cpu_ns += moved.cpu_ns;
			if (moved.last_ns > there->last_ns)
				there->last_ns = moved.last_ns;
		} else if (!nt_open_ops_add(ops, &moved)) {
			return -ENOMEM;
		}
	}
	return 0;
}

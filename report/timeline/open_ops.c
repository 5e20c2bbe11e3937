// SPDX-License-Identifier: GPL-2.0-only
/*
 * open_ops.c - see open_ops.h. A pool of places with two hash tables over it, both chained through the
 * places: by task, and by begin for those that have one.
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

static struct nt_open_op *at(const struct nt_open_ops *ops, uint32_t place)
{
	return place ? &ops->pool[place - 1] : NULL;
}

static uint32_t place_of(const struct nt_open_ops *ops, const struct nt_open_op *op)
{
	return (uint32_t)(op - ops->pool) + 1;
}

void nt_open_ops_release(struct nt_open_ops *ops)
{
	free(ops->pool);
	free(ops->by_task);
	free(ops->by_begin);
	*ops = (struct nt_open_ops){0};
}

static void link_in(struct nt_open_ops *ops, struct nt_open_op *op)
{
	uint32_t *by_task = &ops->by_task[bucket_of(ops, op->task)];
	uint32_t *by_begin = &ops->by_begin[bucket_of(ops, op->begin_ns)];

	op->next_of_task = *by_task;
	*by_task = place_of(ops, op);
	op->next_of_begin = op->prev_of_begin = 0;
	/* Those from before the recording all have one begin: a chain of them would be long and of no use. */
	if (op->before)
		return;
	op->next_of_begin = *by_begin;
	if (op->next_of_begin)
		at(ops, op->next_of_begin)->prev_of_begin = place_of(ops, op);
	*by_begin = place_of(ops, op);
}

static void unlink_task(struct nt_open_ops *ops, struct nt_open_op *op)
{
	uint32_t *link = &ops->by_task[bucket_of(ops, op->task)];

	while (*link != place_of(ops, op))
		link = &at(ops, *link)->next_of_task;
	*link = op->next_of_task;
}

static void unlink_begin(struct nt_open_ops *ops, struct nt_open_op *op)
{
	if (op->before)
		return;
	if (op->next_of_begin)
		at(ops, op->next_of_begin)->prev_of_begin = op->prev_of_begin;
	if (op->prev_of_begin)
		at(ops, op->prev_of_begin)->next_of_begin = op->next_of_begin;
	else
		ops->by_begin[bucket_of(ops, op->begin_ns)] = op->next_of_begin;
}

/* As many buckets as places, so that chains stay short. */
static int grow(struct nt_open_ops *ops)
{
	uint32_t capacity = ops->capacity ? ops->capacity * 2 : FIRST_BUCKETS;
	struct nt_open_op *pool;
	uint32_t *by_task, *by_begin;

	if (capacity == 0)
		return -ENOMEM;
	pool = realloc(ops->pool, capacity * sizeof(*pool));
	if (!pool)
		return -ENOMEM;
	ops->pool = pool;
	by_task = calloc(capacity, sizeof(*by_task));
	by_begin = calloc(capacity, sizeof(*by_begin));
	if (!by_task || !by_begin) {
		free(by_task);
		free(by_begin);
		return -ENOMEM;
	}
	free(ops->by_task);
	free(ops->by_begin);
	ops->by_task = by_task;
	ops->by_begin = by_begin;
	ops->n_buckets = ops->capacity = capacity;
	for (uint32_t i = 0; i < ops->n; i++) {
		if (pool[i].used)
			link_in(ops, &pool[i]);
	}
	return 0;
}

struct nt_open_op *nt_open_ops_find(struct nt_open_ops *ops, uint64_t task, const struct nt_op_key *key)
{
	struct nt_open_op *op;

	if (!ops->count)
		return NULL;
	for (op = at(ops, ops->by_task[bucket_of(ops, task)]); op; op = at(ops, op->next_of_task)) {
		if (op->task == task && op->dir == key->dir && op->before == key->before &&
		    (op->before || op->begin_ns == key->begin_ns))
			return op;
	}
	return NULL;
}

struct nt_open_op *nt_open_ops_find_any(struct nt_open_ops *ops, const struct nt_op_key *key, uint64_t socket)
{
	struct nt_open_op *op, *found = NULL;
	int steps = FIND_ANY_MAX;

	if (!ops->count || key->before)
		return NULL;
	op = at(ops, ops->by_begin[bucket_of(ops, key->begin_ns)]);
	for (; op && steps--; op = at(ops, op->next_of_begin)) {
		if (op->begin_ns == key->begin_ns && op->dir == key->dir && (!op->socket || op->socket == socket) &&
		    (!found || op->task < found->task))
			found = op;
	}
	return found;
}

struct nt_open_op *nt_open_ops_add(struct nt_open_ops *ops, const struct nt_open_op *op)
{
	struct nt_open_op *added;

	if (ops->free) {
		added = at(ops, ops->free);
		ops->free = added->next_of_task;
	} else {
		if (ops->n == ops->capacity && grow(ops))
			return NULL;
		added = &ops->pool[ops->n++];
	}
	*added = *op;
	added->used = true;
	ops->count++;
	link_in(ops, added);
	return added;
}

void nt_open_ops_remove(struct nt_open_ops *ops, struct nt_open_op *op)
{
	unlink_task(ops, op);
	unlink_begin(ops, op);
	op->used = false;
	op->next_of_task = ops->free;
	ops->free = place_of(ops, op);
	ops->count--;
}

struct nt_open_op *nt_open_ops_unlisted(struct nt_open_ops *ops, uint64_t task)
{
	struct nt_open_op *op;

	if (!ops->count)
		return NULL;
	for (op = at(ops, ops->by_task[bucket_of(ops, task)]); op; op = at(ops, op->next_of_task)) {
		if (op->task == task && !op->listed && !op->claimed)
			return op;
	}
	return NULL;
}

void nt_open_ops_unlist(struct nt_open_ops *ops, uint64_t task)
{
	struct nt_open_op *op;

	if (!ops->count)
		return;
	for (op = at(ops, ops->by_task[bucket_of(ops, task)]); op; op = at(ops, op->next_of_task)) {
		if (op->task == task)
			op->listed = false;
	}
}

static struct nt_open_op *first_of(const struct nt_open_ops *ops, uint64_t task)
{
	struct nt_open_op *op = ops->count ? at(ops, ops->by_task[bucket_of(ops, task)]) : NULL;

	while (op && op->task != task)
		op = at(ops, op->next_of_task);
	return op;
}

int nt_open_ops_move(struct nt_open_ops *ops, uint64_t from, uint64_t to)
{
	struct nt_open_op *op;

	while (from != to && (op = first_of(ops, from))) {
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

struct nt_open_op *nt_open_ops_next(struct nt_open_ops *ops, uint32_t *place)
{
	while (*place < ops->n) {
		struct nt_open_op *op = &ops->pool[(*place)++];

		if (op->used)
			return op;
	}
	return NULL;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * open_ops.h - the operations that were open when their task left a CPU, or at a state record: what they
 * have cost so far. Memory is for these only. Pure; for timeline.c only.
 *
 * Within a task an operation is known by its begin, its direction, and whether it began before the
 * recording (then the begin says nothing, and there is one of each direction).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct nt_open_op {
	uint64_t task;
	uint64_t begin_ns;
	uint64_t socket;
	uint64_t cpu_ns; /* owned until last_ns */
	uint64_t last_ns; /* the last state record that listed it */
	uint32_t cpu; /* of that record */
	uint8_t dir, call, flags;
	bool before;
	bool listed; /* for the caller: seen in the state record at hand */
	bool claimed; /* for the caller: the record of its end has come */
	LIST_ENTRY(nt_open_op) of_all, of_task, of_begin;
};

LIST_HEAD(nt_open_op_list, nt_open_op);

/* Zero-initialised is empty. The owner releases it. */
struct nt_open_ops {
	struct nt_open_op_list all; /* in no special order */
	uint32_t count;
	uint32_t n_buckets; /* a power of two */
	struct nt_open_op_list *by_task, *by_begin;
};

/* The key of an operation of a task. */
struct nt_op_key {
	uint64_t begin_ns;
	uint8_t dir;
	bool before;
};

void nt_open_ops_release(struct nt_open_ops *ops);
/* The operation of the task with this key, or NULL. */
struct nt_open_op *nt_open_ops_find(struct nt_open_ops *ops, uint64_t task, const struct nt_op_key *key);
/*
 * The operation of whatever task with this begin, direction and socket (or, as yet, none), for a record whose task
 * is not known; NULL if there is none, or if it began before the recording. Of several, the one of the lowest task.
 */
struct nt_open_op *nt_open_ops_find_any(struct nt_open_ops *ops, const struct nt_op_key *key, uint64_t socket);
/* Copies one in (its links are set here). The caller has seen that its key is new to the task. NULL: out of memory. */
struct nt_open_op *nt_open_ops_add(struct nt_open_ops *ops, const struct nt_open_op *op);
void nt_open_ops_remove(struct nt_open_ops *ops, struct nt_open_op *op);
/* Any operation of the task that is not marked as listed or claimed, or NULL. */
struct nt_open_op *nt_open_ops_unlisted(struct nt_open_ops *ops, uint64_t task);
/* Takes the marks from all of the task's. */
void nt_open_ops_unlist(struct nt_open_ops *ops, uint64_t task);
/* Gives the operations of one task to another; one of the same key adds to the one there. 0, or -ENOMEM. */
int nt_open_ops_move(struct nt_open_ops *ops, uint64_t from, uint64_t to);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timeline_model_state.h - what the two halves of the model share: timeline_model_read.c reads each CPU's records
 * into chapters, timeline_model.c tells them in the order in which they closed.
 */
#pragma once

#include "tests/support/timeline_model.h"

#define NEVER SIZE_MAX

enum model_base { NOBODY, A_TASK, OFFLINE };

#define MODEL_POLL 100 /* beside enum nt_open_what: a poll, which is never open */

struct model_span {
	uint64_t begin, end;
	size_t index; /* of its record in the trace */
	int what; /* enum nt_open_what, or MODEL_POLL */
	uint8_t detail, call, flags;
	uint32_t number;
	uint64_t socket;
	int32_t result;
	uint32_t work, budget;
	bool timed, known, open, in_lost;
	bool known_at_first; /* when its record came */
	uint64_t own; /* ns counted */
	bool in_op;
};

struct model_loss {
	uint8_t kind;
	uint64_t count;
	const char *why;
};

struct chapter {
	uint32_t cpu;
	enum model_base base; /* who has [from, paint) where no span has it */
	uint64_t task, first_task; /* first_task: as believed at its begin */
	uint64_t from, paint, to; /* [paint, to) is uncovered */
	size_t closed_at; /* place in the trace */
	bool manned; /* a task was believed on the CPU when it began, */
	size_t manned_at; /* as was known from here on */
	bool lost;
	size_t lost_at; /* when it was first known that some of the session is uncovered */
	size_t suspended_at; /* when it was first known to be lost at all */
	struct model_span *spans;
	size_t n_spans;
	struct model_loss *losses;
	size_t n_losses;
	uint64_t moved_from; /* exec: the task that became `task` */
	bool exec;
	/* How it closed. */
	bool has_state; /* by a state record of this task: */
	uint64_t state_task;
	const struct nt_switch *by;
	bool stop, goes_offline, finish;
};

/* An operation that a state record listed as open. */
struct model_op {
	uint64_t task, begin, socket, cpu_ns, last;
	uint32_t cpu;
	uint8_t dir, call, flags;
	bool listed, gone;
	bool claimed; /* the record of its end has come, but its chapter has not closed */
};

struct stay {
	uint32_t cpu;
	uint64_t task, begin, end;
	size_t begun_at, ended_at; /* places in the trace */
	bool cut; /* its end lay in the past when it was known */
	const struct nt_switch *by;
};

struct model {
	const struct nt_timeline_config *config;
	const struct trace_item *items;
	size_t n;
	uint64_t s0, s1;
	const struct nt_timeline_sink *sink;
	struct nt_timeline_counts *counts;
	struct chapter *chapters;
	size_t n_chapters;
	struct model_op *ops;
	size_t n_ops;
	struct stay *stays;
	size_t n_stays;
	uint8_t *owner; /* [cpu][ns] */
	uint64_t *owner_task;
	uint64_t *run; /* of net_rx in a softirq: when that began; of hardirq: type << 32 | number */
};

/* Adds one zeroed element to an array and gives it. */
#define APPEND(array, n) (array = model_grow(array, n, sizeof(*(array))), &(array)[(n)++])
void *model_grow(void *array, size_t n, size_t size);

static inline uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Counts a time inverted by so much. */
void model_inversion(struct model *m, uint64_t by);
/* Whether two spans are the same one, once as open and once as ended. */
bool model_same_span(const struct model_span *a, const struct model_span *b);
/* Adds the chapters of one CPU. */
void model_read_cpu(struct model *m, uint32_t cpu);

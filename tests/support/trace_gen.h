/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_gen.h - random traces for the timeline. A simulation of CPUs and tasks (trace_sim.h) knows the
 * true owner of every nanosecond and what every operation cost, and writes records as the kernel side
 * does; its tape may then be damaged and is merged as report/tape/merge.h says (trace_tape.c); what a timeline
 * makes of it is held against the truth (trace_check.c). Garbage has no truth.
 */
#pragma once

#include <stdio.h>

#include "tests/support/rand.h"
#include "tests/support/timeline_model.h"
#include "tests/support/timeline_rows.h"

#define TRACE_CPUS 5
#define TRACE_END_NS 2400 /* nothing happens later than this */

/* The cases that a trace may contain. Tests ensure that each did occur. */
/* clang-format off */
#define TRACE_CASES(X) \
	X(NESTED_IRQ) X(NESTED_OP) X(OP_MIGRATED) X(OP_BLOCKED) X(OP_PREEMPTED) X(OP_EXIT) X(OP_BEFORE) \
	X(OP_AT_END) X(OP_BATCH) X(OP_ABANDONED) X(OP_IN_SOFTIRQ) X(NO_BEGIN) X(SOFTIRQ_IN_OP) \
	X(SOFTIRQ_PREEMPTED) X(IRQ_AT_STATE) X(PERIODIC_IN_OP) X(STALE_OPEN) X(ORDER_INVERTED) \
	X(CLOCKS_DIFFER) X(EXEC) X(HOTPLUG) X(STARTS_OFFLINE) X(NOT_PRESENT) X(LOSS) X(LOSS_OF_PART) \
	X(LOSS_AT_END) X(GAP_TASK_KNOWN) X(GAP_TASK_UNKNOWN) X(TORN) X(SILENT) X(UNDECLARED) X(NAPI_THREAD) \
	X(POLL) X(BUSY_POLL) X(BUSY_POLL_IN_OP)
/* clang-format on */

enum trace_case {
#define X(name) TRACE_##name,
	TRACE_CASES(X)
#undef X
		TRACE_CASE_COUNT
};
extern const char *const trace_case_names[TRACE_CASE_COUNT];

/* An operation as it was. Its socket in records is its place in trace.ops + 1. */
struct true_op {
	uint64_t task;
	uint64_t begin_ns, end_ns; /* end: of its record; or the last state record that listed it */
	uint64_t cpu_ns; /* within the session */
	uint8_t dir, call, flags;
	int32_t result;
	enum nt_op_end end;
	bool recorded; /* a record told of it, ended or open */
	uint32_t cpu; /* it last had time on */
};

struct trace {
	struct nt_timeline_config config;
	uint8_t present[TRACE_CPUS], online[TRACE_CPUS];
	struct trace_item *items; /* in feed order */
	size_t n, size;
	bool true_known; /* the next ones say how it was */
	uint8_t owner[TRACE_CPUS][TRACE_END_NS];
	uint64_t task[TRACE_CPUS][TRACE_END_NS];
	struct true_op *ops;
	size_t n_ops;
	bool lossless; /* all is covered, but what a CPU that came online brings */
	bool loss_told_late; /* operations may end before it is known that a piece of theirs was lost */
	uint64_t cases; /* bits of enum trace_case */
};

/* Tasks of one process are 10 * process + thread, its main thread is thread 0. */
bool trace_is_main_of(void *arg, uint64_t main, uint64_t task);
/* A process's last thread is taken for one that polls network devices. */
bool trace_is_napi(void *arg, uint64_t task);

/* Each fills a zeroed trace; the same seed gives the same one. */
void trace_simulate(struct trace *trace, uint64_t seed);
/* A simulated one with records changed, dropped, doubled, moved. */
void trace_spoil(struct trace *trace, uint64_t seed);
/* Records of any kind in any order. */
void trace_garbage(struct trace *trace, uint64_t seed);
void trace_release(struct trace *trace);
void trace_print(const struct trace *trace, FILE *out);

/* Whether the rows of the trace, in any order, agree with what is known to be true. Says to `out` where not. */
bool trace_check(const struct trace *trace, const struct rows *rows, FILE *out);

/* ---- between the parts ---- */

/*
 * One CPU's records as they stood in its ring. One whose `why` is TRACE_GLUED is kept together with the next: a state
 * record that lists a span whose record, just behind it, says that it had ended.
 */
#define TRACE_GLUED "glued"
struct trace_ring {
	struct trace_item *items;
	size_t n, size;
};

struct trace_item *trace_append(struct trace_item **items, size_t *n, size_t *size);
static inline void trace_mark(struct trace *trace, enum trace_case which)
{
	trace->cases |= 1ull << which;
}
/* Damages the rings at random, merges them into trace->items, and frees them. */
void trace_tape(struct trace *trace, struct trace_ring *rings, struct nt_rand *rand);

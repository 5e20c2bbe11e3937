/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timeline_rows.h - collects the rows of a timeline, or of its model, as plain numbers, to compare them
 * and to look at them. For tests.
 */
#pragma once

#include <stdio.h>

#include "report/timeline/timeline.h"

enum row_kind {
	ROW_CPU_SLICE,
	ROW_RX_PART,
	ROW_IRQ_PART,
	ROW_SCHED_SLICE,
	ROW_SOFTIRQ,
	ROW_IRQ,
	ROW_OP,
	ROW_NAPI,
	ROW_LOSS,
	ROW_KINDS
};

#define ROW_FIELDS 14

/*
 * The fields of the row structs in their order in timeline.h; a `why` as a hash of its text. Parts of one run, or of
 * one interrupt, that follow one another without gap are one: where they are cut is the timeline's own affair.
 */
struct row {
	uint64_t field[ROW_FIELDS];
};

/* Places of fields. */
enum { ROW_TS, ROW_DUR };
enum { CPU_SLICE_CPU = 2, CPU_SLICE_OWNER, CPU_SLICE_TASK };
enum { RX_PART_CPU = 2, RX_PART_RUN };
enum { IRQ_PART_CPU = 2, IRQ_PART_IRQ }; /* type << 32 | number */
enum { SCHED_CPU = 2, SCHED_TASK, SCHED_BY_SWITCH, SCHED_STATE, SCHED_PRIORITY };
enum { SPAN_CPU = 2, SPAN_TASK, SPAN_DETAIL, SPAN_NUMBER, SPAN_STILL_OPEN };
enum {
	OP_CPU_NS = 2,
	OP_TIMED,
	OP_BEFORE,
	OP_LOWER_BOUND,
	OP_CPU,
	OP_TASK,
	OP_DIR,
	OP_CALL,
	OP_FLAGS,
	OP_SOCKET,
	OP_END,
	OP_RESULT
};
enum { NAPI_TIMED = 2, NAPI_CPU, NAPI_TASK, NAPI_CONTEXT, NAPI_DEVICE, NAPI_ID, NAPI_WORK, NAPI_BUDGET };
enum { LOSS_CPU = 2, LOSS_KIND, LOSS_COUNT, LOSS_WHY };

struct rows {
	struct row *rows[ROW_KINDS];
	size_t n[ROW_KINDS], size[ROW_KINDS];
	struct nt_timeline_counts counts;
};

/* A sink that adds to `rows`, which is zero-initialised or cleared. Aborts when memory is out. */
struct nt_timeline_sink rows_sink(struct rows *rows);
void rows_clear(struct rows *rows); /* keeps the memory */
void rows_release(struct rows *rows);
/* Brings each kind into one order, so that sets can be compared. */
void rows_sort(struct rows *rows);
/* Whether two sorted sets and their counts are equal; says to `out` where they differ. */
bool rows_equal(const struct rows *a, const char *name_a, const struct rows *b, const char *name_b, FILE *out);
void rows_print(const struct rows *rows, FILE *out);
uint64_t rows_why(const char *why);

/*
 * The promise: the cpu_slices of each present CPU, in the order they came in (not sorted), begin at the session's
 * start, follow each other without gap, differ from their neighbour, and end at its end; others give none. And the
 * operations' own time is what send and recv own, that of runs what net_rx owns, and of interrupts what hardirq owns.
 * Says to `out` what is wrong.
 */
bool rows_conserve(const struct rows *rows, const struct nt_timeline_config *config, FILE *out);

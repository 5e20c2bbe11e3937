/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worst.h - finds the windows of a given length with the most of something: a window that slides over all times,
 * exactly, in one pass over slices as they come. Prints nothing; keeps in a temporary database what memory has no room
 * for (stretches.h).
 *
 * While a window slides, what it holds changes evenly, but where one of its ends passes the begin or the end of a
 * slice. So it holds most at such a place, and only those are tried. For that, the slices are read at two places at
 * once, a window apart (a walk); what lies between the two is kept.
 *
 * The windows are chosen one after the other: each is the worst that overlaps none before it; of equals, the earliest;
 * then the lowest curve. To choose the first k, few others matter:
 *
 *   The begins of windows are cut into cells as long as a window. A chosen window forbids begins that are less than a
 *   window away from its own: some of its cell, of the one before and of the one behind. So where j windows are chosen,
 *   at most 3 j cells have lost any begin. Of the 3 j + 1 cells whose worst windows come first, at least one is whole;
 *   its worst is allowed, and comes before all windows of all other cells. Hence the next window begins in one of those
 *   3 j + 1 cells; and the first k in the first 3 k - 2.
 *
 * So only the slices of these cells are kept beside the walk. Since nothing of a cell is left behind a window that was
 * chosen in it, and a part at one end behind one chosen beside it, choosing needs no more than to walk through parts of
 * kept cells once more.
 *
 * Memory: some hundred bytes for each CPU and kept cell, NT_WORST_IN_MEMORY, and 40 bytes for each 8 KiB of the
 * database. The database has the slices of two windows for each kept cell, and of the time by which one CPU is behind
 * another, at 16 bytes each.
 *
 * tests/unit/query/worst_test.c has the obvious way, which tries each nanosecond, and another, which keeps all slices.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/util/fail.h"

#define NT_WORST_IN_MEMORY (8 << 20) /* bytes of slices */

struct nt_worst_window {
	uint64_t curve; /* the CPU; 0: all of them */
	int64_t ts; /* its begin */
	uint64_t ns; /* so much of its length, of as many CPUs as the curve is of */
};

struct nt_worst_want {
	int64_t from_ts, to_ts; /* not negative */
	uint64_t length; /* 0 < length <= to_ts - from_ts */
	unsigned int most; /* windows, at least 1 */
	bool each_cpu; /* windows of single CPUs; those of different ones may overlap */
	/*
	 * How many CPUs there are. Windows of all together can be looked at when so many are known; if fewer come, at
	 * the end; more that come late are -ERANGE.
	 */
	uint32_t cpus;
	size_t in_memory; /* bytes of slices; 0: NT_WORST_IN_MEMORY */
};

/* The kind of a slice. */
enum nt_worst_kind {
	NT_WORST_OTHER,
	NT_WORST_OWN, /* what is looked for */
	NT_WORST_UNCOVERED, /* may have been that */
	NT_WORST_LEFT_OUT /* its CPU is not asked about: such are no more than counted */
};

struct nt_worst;

/* NULL: out of memory. */
struct nt_worst *nt_worst_new(const struct nt_worst_want *want);
/* Safe on NULL. */
void nt_worst_free(struct nt_worst *worst);
/*
 * A slice; those of one CPU in order of time. 0; -ENOMEM; -ERANGE: it begins before the last one of its CPU ended, or
 * there are too many CPUs; -1: nt_worst_error says what is wrong with the database.
 */
int nt_worst_add(struct nt_worst *worst, uint32_t cpu, int64_t ts, int64_t end_ts, enum nt_worst_kind kind);
/* When all are added, once: the windows that hold anything, at most `most`, worst first. How many, or as above. */
int nt_worst_find(struct nt_worst *worst, struct nt_worst_window *windows);
/* After that: no window can have had more, if all uncovered time was what is looked for. */
uint64_t nt_worst_bound(const struct nt_worst *worst);
const char *nt_worst_error(const struct nt_worst *worst);

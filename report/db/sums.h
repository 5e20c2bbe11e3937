/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sums.h - a tape's rows, condensed for a database that keeps hours in megabytes: sums of costs in buckets of a minute,
 * with the largest of each bucket by name and the rest together, the names that these need, and counters. All sums stay
 * exact. docs/sql-schema.md says what is left of each table (Databases of a part). Memory as rows/rows.h, and that for
 * the different tasks and sockets of some minutes and the names of all. Pure; functions give 0, a negative errno, or
 * what `put` gave.
 */
#pragma once

#include "report/rows/tables.h"

#define NT_SUMS_BUCKET_NS 60000000000ll
/*
 * In each bucket, so many threads at most keep their names in send and recv of cpu_cost, and in sock_cost: those with
 * the most time there. There are fewer if they would take more rows of cpu_cost than NT_SUMS_ROWS, but one at least.
 * And so many rows of task in cpu_cost name a thread, of sock_cost a socket, and of rx_cost a process.
 */
#define NT_SUMS_TOP 25
#define NT_SUMS_ROWS 64
#define NT_SUMS_OTHERS INT64_MAX /* the thread and the process that stand for the rest */
#define NT_SUMS_NOTED 65536 /* costs at a time; of more than half as many in a minute, a key may get several rows */

struct nt_sums;

/* Where condensed rows go; a row is good during the call. */
struct nt_sums_sink {
	void *arg;
	int (*put)(void *arg, const struct nt_row *row);
};

/* Buckets begin at start_ts, the last one ends at end_ts. NULL: out of memory. *sink is copied. */
struct nt_sums *nt_sums_new(int64_t start_ts, int64_t end_ts, const struct nt_sums_sink *sink);
void nt_sums_free(struct nt_sums *sums);
/* The next row of the tape, of one of the tables that something is left of (nt_tables_kept with NT_KEPT_WITH_SUMS);
 * identities come after all costs (NT_ROWS_EVENTS_FIRST). */
int nt_sums_row(struct nt_sums *sums, const struct nt_row *row);
/* Puts whatever is left. */
int nt_sums_finish(struct nt_sums *sums);

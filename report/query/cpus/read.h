/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * read.h - reads a part of a session from the database: its slices, its threads, and what else happened in it. The only
 * place of `timeline` with SQL. Prints nothing.
 *
 * Functions give 0, or -1 and a sentence in db->error, unless they say otherwise.
 */
#pragma once

#include "report/db/db.h"
#include "report/query/cpus/lanes.h"
#include "report/query/session.h"

/*
 * Calls visit with each slice that has some of the part's time on its CPUs, those of one CPU in the order of time,
 * until it gives non-zero. Slices are not clipped; what is not of the chosen process is NT_LANE_OTHER, but for offline
 * and uncovered. visit gives 0, or -ENOMEM or -ERANGE as nt_lanes_add.
 */
int nt_lanes_scan(const struct nt_part *part, int (*visit)(void *arg, const struct nt_lane_slice *slice), void *arg);
/* Says that of `what` memory ran out (-ENOMEM), or that they are no recorder's. Always -1. */
int nt_lanes_fail(const struct nt_part *part, int error, const char *what);
/* If the session has not the chosen process, or no slices of the chosen CPUs, `why_not` says so. 0, or -1 and
 * db->error. */
int nt_lanes_check_process(const struct nt_part *part, char why_not[NT_ERROR_MAX]);
int nt_lanes_check_cpus(const struct nt_part *part, char why_not[NT_ERROR_MAX]);

/* What happened beside, each the rows of one query, with names that tell units, see out/output.h. */
enum nt_lanes_rows {
	NT_LANES_OPERATIONS, /* of processes, those that ended in the part */
	NT_LANES_SOFTIRQS, /* runs by vector, clipped */
	NT_LANES_LOSSES, /* uncovered stretches, clipped */
	NT_LANES_ROWS
};
/* `most` rows at most; -1: all. NULL: see db->error. */
sqlite3_stmt *nt_lanes_rows(const struct nt_part *part, enum nt_lanes_rows what, int most);

/*
 * Stack samples of the part whose owner is known: rows of cpu, ts, owner, utid, stage ("no_stack"), family (""),
 * stack_id (-1), user_stack_id
 * (-1), where in brackets is what stands for NULL. NULL: see db->error.
 */
sqlite3_stmt *nt_lanes_samples(const struct nt_part *part);

/* Names of threads: of each, a row of thread, tid, process, pid. NULL: see db->error. */
sqlite3_stmt *nt_lanes_names(const struct nt_part *part);
/* The row of one, which stays until the next call. It may be that nothing is known. */
int nt_lanes_name(const struct nt_part *part, sqlite3_stmt *names, int64_t utid, bool *found);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * read.h - reads a part of a session: its slices in a scan (db/scan.h), its threads and losses from the database. The
 * only place of `timeline` with SQL, beside beside.c. Prints nothing.
 *
 * Functions give 0, or -1 and a sentence in db->error, unless they say otherwise.
 */
#pragma once

#include "report/db/scan.h"
#include "report/query/cpus/lanes.h"
#include "report/query/session.h"

/* ---- rows that belong to a part ---- */

struct nt_lanes_filter {
	const struct nt_part *part;
	struct nt_id_map threads; /* those chosen: 1 */
	bool has_threads;
	unsigned int of_all; /* owners whose slices all belong to the part: 1 << enum nt_owner for each */
};

/* Reads the threads. To be released even on failure. */
int nt_lanes_filter_init(struct nt_lanes_filter *filter, const struct nt_part *part);
void nt_lanes_filter_release(struct nt_lanes_filter *filter);
bool nt_lanes_has_cpu(const struct nt_part *part, const struct nt_value *cpu);
bool nt_lanes_has_thread(struct nt_lanes_filter *filter, const struct nt_value *utid);

/*
 * A reader of the slices that have some of the part's time on its CPUs, those of one CPU in the order of time. Slices
 * may reach out of it; what is not of the chosen process is NT_LANE_OTHER, but for offline and uncovered. visit gives
 * 0, or -ENOMEM or -ERANGE as nt_lanes_add, which ends the scan. The reader is good as long as *reading.
 */
struct nt_lanes_reading {
	struct nt_lanes_filter *filter;
	int (*visit)(void *arg, const struct nt_lane_slice *slice);
	void *arg;
};
struct nt_scan_reader nt_lanes_reader(struct nt_lanes_reading *reading);
/* Says what an error of a scan means: -1, that said it itself; that of `what` memory ran out (-ENOMEM), or that they
 * are no recorder's. Always -1. */
int nt_lanes_fail(const struct nt_part *part, int error, const char *what);

/* If the session has not the chosen process, or no slices of the chosen CPUs, `why_not` says so. */
int nt_lanes_check_process(const struct nt_part *part, char why_not[NT_ERROR_MAX]);
int nt_lanes_check_cpus(const struct nt_part *part, char why_not[NT_ERROR_MAX]);

/* ---- rows for people, with names that tell units, see out/output.h. NULL: see db->error ---- */

/* Uncovered stretches, clipped. */
sqlite3_stmt *nt_lanes_losses(const struct nt_part *part);
/* Names of threads: of each, a row of thread, tid, process, pid. */
sqlite3_stmt *nt_lanes_names(const struct nt_part *part);
/* The row of one, which stays until the next call. It may be that nothing is known. */
int nt_lanes_name(const struct nt_part *part, sqlite3_stmt *names, int64_t utid, bool *found);

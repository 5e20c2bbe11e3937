/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waits.h - how long softirqs waited for a CPU, for every command that shows it. Prints nothing.
 */
#pragma once

#include "report/query/session.h"

#define NT_WAITS_TITLE "Softirqs by how long they waited"
#define NT_WAITS_NOTE                                                                                                  \
	"A wait is from the first raise of a vector on a CPU, since its handler last began there, to its next run. "   \
	"Of all processes."

/* Rows of softirq_raise of session ?1 that began in the time from ?2 to ?3, on some CPUs: a condition on `cpu`. */
#define NT_WAITS_OF_SQL(cpus)                                                                                          \
	"(SELECT * FROM softirq_raise WHERE session_id = ?1 AND ts >= ?2 AND ts < ?3 AND " cpus ") "
/* A row for each vector of such rows, the one that waited longest in sum first: before FROM, and behind it. */
#define NT_WAITS_FIGURES_SQL                                                                                           \
	"SELECT vec, count(*) AS waits_count, sum(dur) AS wait_ns, percentile(dur, 0.5) AS p50_ns, "                   \
	"percentile(dur, 0.99) AS p99_ns, max(dur) AS longest_ns, cpu AS longest_cpu "
#define NT_WAITS_GROUP_SQL "GROUP BY vec ORDER BY wait_ns DESC, vec"

/* Whether the session has the probe, and its database the table. 0, or -1 and db->error. */
int nt_waits_are_known(const struct nt_part *part, bool *are_known);
/* The rows of this part: SQL before FROM, and behind it. NULL: db->error. */
sqlite3_stmt *nt_waits_query(const struct nt_part *part, const char *select, const char *group);

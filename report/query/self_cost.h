/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * self_cost.h - the recorder's own cost: two queries for every command that shows it, and the sentences of summary.
 *
 * The two are measured in different ways and do not add up. The threads' time is the kernel's account of the process.
 * The programs run in the time of whatever they interrupt, so their time is inside the owners' already.
 */
#pragma once

#include "report/db/db.h"
#include "report/db/load.h"

/*
 * The recorder's threads, by getrusage(2); ?1 is the session. One row, none where the tape has no such snapshot. From
 * its start on: cpu_ns, of which user_ns and system_ns (the sum is measured, the split is the kernel's estimate on most
 * kernels), max_rss_kib. Of cpu_ns, loading_cpu_ns until its first snapshot, recording_cpu_ns from there to the last
 * one in the recording, and ending_cpu_ns from there to the last. recording_cpu_ns is the cost of recording_ns, of
 * which it is the share recording_share; the three are NULL where there is one snapshot only.
 */
#define NT_SELF_RECORDER_SQL                                                                                           \
	"WITH snapshot AS (SELECT ts, max(CASE name WHEN 'user_ns' THEN value END) AS user_ns, "                       \
	"max(CASE name WHEN 'system_ns' THEN value END) AS system_ns, "                                                \
	"max(CASE name WHEN 'max_rss_kib' THEN value END) AS max_rss_kib "                                             \
	"FROM self_cost WHERE session_id = ?1 AND program IS NULL GROUP BY ts "                                        \
	"HAVING user_ns IS NOT NULL AND system_ns IS NOT NULL), "                                                      \
	"recording_end AS (SELECT coalesce((SELECT CAST(value AS INTEGER) FROM session_meta WHERE session_id = ?1 "    \
	"AND key = '" NT_LOAD_RECORDING_END "'), (SELECT start_ts + dur FROM session WHERE session_id = ?1)) AS ts), " \
	"span AS (SELECT l.user_ns, l.system_ns, l.max_rss_kib, f.user_ns + f.system_ns AS first_ns, "                 \
	"r.user_ns + r.system_ns AS recorded_ns, l.user_ns + l.system_ns AS last_ns, "                                 \
	"nullif(r.ts - f.ts, 0) AS recording_ns FROM snapshot AS f, snapshot AS r, snapshot AS l "                     \
	"WHERE f.ts = (SELECT min(ts) FROM snapshot) AND l.ts = (SELECT max(ts) FROM snapshot) "                       \
	"AND r.ts = coalesce((SELECT max(s.ts) FROM snapshot AS s, recording_end AS e WHERE s.ts <= e.ts), f.ts)) "    \
	"SELECT last_ns AS cpu_ns, user_ns, system_ns, max_rss_kib, first_ns AS loading_cpu_ns, recording_ns, "        \
	"CASE WHEN recording_ns > 0 THEN recorded_ns - first_ns END AS recording_cpu_ns, "                             \
	"CAST(recorded_ns - first_ns AS REAL) / recording_ns AS recording_share, "                                     \
	"last_ns - recorded_ns AS ending_cpu_ns FROM span "

/*
 * Its programs in the kernel, the most expensive first; ?1 is the session. runs_count: as they counted themselves since
 * they were attached, exactly. timed_count and run_ns: runs and time by the kernel's statistics, with a part of what
 * measuring takes; NULL unless it kept some (nettape-record --bpf-stats). lost_count: records that found no room.
 * misses_count: runs that the kernel left out.
 */
#define NT_SELF_PROGRAMS_SQL                                                                                           \
	"SELECT program, sum(CASE WHEN name IN ('runs', 'run_ns', 'misses') THEN 0 ELSE value END) AS runs_count, "    \
	"nullif(sum(CASE name WHEN 'runs' THEN value ELSE 0 END), 0) AS timed_count, "                                 \
	"nullif(sum(CASE name WHEN 'run_ns' THEN value ELSE 0 END), 0) AS run_ns, "                                    \
	"sum(CASE name WHEN 'lost' THEN value ELSE 0 END) AS lost_count, "                                             \
	"sum(CASE name WHEN 'misses' THEN value ELSE 0 END) AS misses_count "                                          \
	"FROM self_cost_last WHERE session_id = ?1 AND program IS NOT NULL GROUP BY program "                          \
	"HAVING runs_count > 0 OR timed_count > 0 ORDER BY run_ns DESC, runs_count DESC, program "

/*
 * How many ends of TCP connections the probe `drops` left out in the whole recording ?1: they have no bytes. A value;
 * NULL: they were not counted.
 */
#define NT_SELF_ENDS_SQL                                                                                               \
	"(SELECT sum(value) FROM self_cost_last WHERE session_id = ?1 AND program = 'nt_kfree_skb' AND name = "        \
	"'skipped_empty')"

/* Runs of the recorder's programs that the kernel left out, if any: on stdout. 0, or -1 and db->error. */
int nt_self_misses_print(struct nt_db *db, int64_t session_id);
/*
 * Sentences for people, on stdout; none where the tape has no such snapshots. 0, or -1 and db->error. `is_dropped`: the
 * recording began before the tape does, and what is counted is counted since then.
 */
int nt_self_cost_print(struct nt_db *db, int64_t session_id, bool is_dropped);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memory.h - the memory and page faults of processes, pressure, and the memory of sockets, for every command that shows
 * them. Prints nothing. All are of all CPUs: memory is of none.
 */
#pragma once

#include "report/query/session.h"
#include "report/rows/sql_lists.h"

#define NT_MEMORY_TITLE "Memory by process"
#define NT_MEMORY_NOTE                                                                                                 \
	"Resident memory at most and last, of pages of files, anonymous and shared ones together: processes that "     \
	"share pages each have them. swapped: anonymous pages that are swapped out last. taken: resident memory that " \
	"others took, reclaim mostly. A process that has ended has none, whatever it had last. A major fault waited "  \
	"for its page to be read."

/*
 * Rows of mem_rss of session ?1 up to ?3; those before ?2 all stand there: what a process has does not begin with the
 * part that is shown.
 */
#define NT_MEMORY_CHANGES_SQL                                                                                          \
	"change AS (SELECT upid, kind, max(ts, ?2) AS ts, ts >= ?2 AS is_in, bytes, is_external, "                     \
	"bytes - lag(bytes, 1, 0) OVER w AS delta, row_number() OVER (PARTITION BY upid, kind ORDER BY ts DESC) "      \
	"AS back, row_number() OVER w AS nth FROM mem_rss WHERE session_id = ?1 AND ts < ?3 "                          \
	"WINDOW w AS (PARTITION BY upid, kind ORDER BY ts)), "
/* Each process, by resident memory at most: its sums of such changes, and of page faults that ended from ?2 to ?3. */
#define NT_MEMORY_SUMS_SQL                                                                                             \
	NT_MEMORY_CHANGES_SQL                                                                                          \
	"step AS (SELECT upid, ts, sum(delta) AS delta FROM change WHERE kind <> 'swap' GROUP BY 1, 2), "              \
	"resident AS (SELECT upid, max(bytes) AS peak_bytes FROM (SELECT upid, sum(delta) OVER (PARTITION BY upid "    \
	"ORDER BY ts) AS bytes FROM step) GROUP BY 1), "                                                               \
	"last AS (SELECT upid, sum(CASE WHEN kind <> 'swap' AND back = 1 THEN bytes ELSE 0 END) AS last_bytes, "       \
	"sum(CASE WHEN kind = 'swap' AND back = 1 THEN bytes ELSE 0 END) AS swapped_bytes, "                           \
	"sum(CASE WHEN kind <> 'swap' AND is_external AND is_in AND nth > 1 AND delta < 0 THEN -delta ELSE 0 END) "    \
	"AS taken_bytes FROM change GROUP BY 1), "                                                                     \
	"faults AS (SELECT t.upid, sum(f.minor) AS minor, sum(f.major) AS major FROM page_fault AS f "                 \
	"LEFT JOIN thread AS t ON t.session_id = ?1 AND t.utid = f.utid WHERE f.session_id = ?1 AND "                  \
	"f.ts + f.dur >= ?2 AND f.ts + f.dur < ?3 GROUP BY 1), "                                                       \
	"ids AS (SELECT upid FROM last UNION SELECT upid FROM faults), "                                               \
	"sums AS (SELECT i.upid, p.name, p.pid, r.peak_bytes, l.last_bytes, l.swapped_bytes, l.taken_bytes, "          \
	"coalesce(f.minor, 0) AS minor, coalesce(f.major, 0) AS major FROM ids AS i "                                  \
	"LEFT JOIN resident AS r ON r.upid = i.upid LEFT JOIN last AS l ON l.upid = i.upid "                           \
	"LEFT JOIN faults AS f ON f.upid IS i.upid LEFT JOIN process AS p ON p.session_id = ?1 AND p.upid = i.upid) "
#define NT_MEMORY_SQL                                                                                                  \
	NT_MEMORY_SUMS_SQL                                                                                             \
	"SELECT coalesce(name, '(unknown)') AS name, pid, peak_bytes, last_bytes, swapped_bytes, taken_bytes, "        \
	"minor AS minor_faults_count, major AS major_faults_count FROM sums "                                          \
	"ORDER BY peak_bytes DESC, minor + major DESC, 1, 2"

#define NT_PRESSURE_TITLE "Pressure on the host"
#define NT_PRESSURE_NOTE                                                                                               \
	"some: the time when some tasks waited for want of CPU, I/O or memory, or for interrupts; full: when all did " \
	"that were not idle. Means over CPUs, as the kernel counts between readings. Of all processes and CPUs."
/* Each resource of session ?1: the readings that lie within the time from ?2 to ?3. */
#define NT_PRESSURE_SQL                                                                                                \
	"SELECT resource, CAST(sum(some_ns) AS REAL) / sum(dur) AS some_share, "                                       \
	"CAST(sum(full_ns) AS REAL) / sum(dur) AS full_share, sum(some_ns) AS some_ns, sum(full_ns) AS full_ns, "      \
	"sum(dur) AS time_ns FROM pressure WHERE session_id = ?1 AND ts >= ?2 AND ts + dur <= ?3 "                     \
	"GROUP BY resource ORDER BY coalesce(sum(some_ns), sum(full_ns)) DESC, resource"

#define NT_SOCKET_MEMORY_TITLE "Memory of sockets"
#define NT_SOCKET_MEMORY_NOTE                                                                                          \
	"Of all TCP and UDP sockets of the host, as read once a second; of fragments, those of the recorder's "        \
	"network namespace."
#define NT_SOCKET_MEMORY_SQL                                                                                           \
	"SELECT CASE name WHEN 'FRAG.memory' THEN 'IPv4 fragments' ELSE replace(name, '.mem', '') END AS protocol, "   \
	"max(bytes) AS peak_bytes, max(CASE back WHEN 1 THEN bytes END) AS last_bytes FROM (SELECT name, "             \
	"value * CASE name WHEN 'FRAG.memory' THEN 1 ELSE (" NT_META_SQL(                                              \
		NT_META_PAGE_BYTES) ") END AS bytes, "                                                                 \
				    "row_number() OVER (PARTITION BY name ORDER BY ts_end DESC) AS back FROM "         \
				    "proc_counter "                                                                    \
				    "WHERE session_id = ?1 AND source = '/proc/net/sockstat' AND (name GLOB '*.mem' "  \
				    "OR name = 'FRAG.memory') "                                                        \
				    "AND ts_end >= ?2 AND ts_end < ?3) GROUP BY name ORDER BY peak_bytes DESC, name"

/* Whether the session has the probe, and its database the tables. 0, or -1 and db->error. */
int nt_memory_is_known(const struct nt_part *part, bool *is_known);
/* The same of pressure, and of the memory of sockets. */
int nt_pressure_is_known(const struct nt_part *part, bool *is_known);
int nt_socket_memory_is_known(const struct nt_part *part, bool *is_known);

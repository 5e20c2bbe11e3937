// SPDX-License-Identifier: GPL-2.0-only
/*
 * read.c - see read.h. cpu_slice has no index, and needs none: one pass through it reads some millions of
 * rows a second.
 */
#include "report/query/cpus/read.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The threads of the chosen process, ?4. */
#define OF_PROCESS "utid IN (" NT_PROCESS_THREADS_SQL ")"
/* In all queries: ?1 session, ?2 and ?3 the time, ?4 the process, ?5 how many rows; %s ends the condition. */
#define OVERLAPS "session_id = ?1 AND ts < ?3 AND ts + dur > ?2 %s"
#define CLIPPED "min(ts + dur, ?3) - max(ts, ?2)"

static const char slices_sql[] = "SELECT cpu, ts, dur, owner, utid, ?4 IS NULL OR " OF_PROCESS
				 " FROM cpu_slice WHERE " OVERLAPS " ORDER BY rowid LIMIT ?5";

static const char *const rows_sql[NT_LANES_ROWS] = {
	/* An operation counts where it ended, as in sock_cost; what its begin is not known of, has `ts` for its end. */
	[NT_LANES_OPERATIONS] =
		"WITH done AS (SELECT utid, op, syscall, count(*) AS ops, sum(result <> 'ok') AS failed, "
		"sum(CASE WHEN flags = '' THEN bytes WHEN flags LIKE '%%peek%%' OR flags LIKE '%%errqueue%%' THEN 0 "
		"ELSE bytes END) AS bytes, "
		"sum(cpu_ns) AS cpu_ns, max(cpu_ns) AS most_ns, max(dur) AS longest_ns, sum(cpu_ns IS NULL) AS untimed "
		"FROM sock_op WHERE session_id = ?1 AND ts <= ?3 AND ts + coalesce(dur, 0) > ?2 "
		"AND ts + coalesce(dur, 0) <= ?3 %s GROUP BY utid, op, syscall) "
		"SELECT coalesce(p.name, '(unknown)') AS process, p.pid, op, syscall, sum(ops) AS ops_count, "
		"sum(failed) AS failed_count, coalesce(sum(bytes), 0) AS moved_bytes, coalesce(sum(cpu_ns), 0) AS "
		"cpu_ns, "
		"max(most_ns) AS dearest_ns, max(longest_ns) AS longest_ns, sum(untimed) AS untimed_count "
		"FROM done LEFT JOIN thread AS t ON t.session_id = ?1 AND t.utid = done.utid "
		"LEFT JOIN process AS p ON p.session_id = ?1 AND p.upid = t.upid "
		"GROUP BY t.upid, op, syscall ORDER BY cpu_ns DESC, ops_count DESC, p.pid, op, syscall LIMIT ?5",
	[NT_LANES_SOFTIRQS] = "SELECT vec, context, count(*) AS runs_count, sum(" CLIPPED ") AS total_ns, max(" CLIPPED
			      ") AS longest_ns FROM softirq_slice WHERE " OVERLAPS
			      " GROUP BY vec, context ORDER BY total_ns DESC, vec, context LIMIT ?5",
	[NT_LANES_LOSSES] =
		"SELECT cpu, max(ts, ?2) - (SELECT start_ts FROM session WHERE session_id = ?1) AS "
		"since_start_ns, " CLIPPED
		" AS uncovered_ns, min(why) AS why, group_concat(kind || ' ' || coalesce(count, '?'), ', ') AS "
		"records FROM loss WHERE " OVERLAPS " AND kind NOT IN " NT_SAMPLES_SQL
		" GROUP BY cpu, ts ORDER BY uncovered_ns DESC, cpu, ts LIMIT ?5",
};

/* `format` has one %s, for more of its condition. */
static sqlite3_stmt *prepare(const struct nt_part *part, const char *format, bool of_process, int most)
{
	char cpus[NT_CPUS_SQL_MAX], more[sizeof(cpus) + 400], sql[sizeof(more) + 2000];
	const char *process = part->selection->process;
	sqlite3_stmt *statement;

	snprintf(more, sizeof(more), "AND %s%s", nt_selection_cpus_sql(part->selection, cpus),
		 of_process && process ? " AND " OF_PROCESS : "");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(sql, sizeof(sql), format, more);
#pragma GCC diagnostic pop
	statement = nt_db_query(part->db, sql, part->session->id);
	sqlite3_bind_int64(statement, 2, part->from_ts);
	sqlite3_bind_int64(statement, 3, part->to_ts);
	if (process)
		sqlite3_bind_text(statement, 4, process, -1, SQLITE_STATIC);
	sqlite3_bind_int(statement, 5, most);
	return statement;
}

sqlite3_stmt *nt_lanes_rows(const struct nt_part *part, enum nt_lanes_rows what, int most)
{
	return prepare(part, rows_sql[what], what != NT_LANES_LOSSES, most);
}

sqlite3_stmt *nt_lanes_samples(const struct nt_part *part)
{
	return prepare(part,
		       "SELECT cpu, ts, owner, utid, coalesce(stage, 'no_stack'), coalesce(family, ''), "
		       "coalesce(stack_id, -1), coalesce(user_stack_id, -1) FROM stack_sample WHERE session_id = ?1 "
		       "AND ts >= ?2 AND ts < ?3 AND owner IS NOT NULL %s ORDER BY rowid LIMIT ?5",
		       true, -1);
}

sqlite3_stmt *nt_lanes_names(const struct nt_part *part)
{
	return nt_db_query(part->db,
			   "SELECT t.name, t.tid, p.name, p.pid FROM thread AS t LEFT JOIN process AS p ON "
			   "p.session_id = t.session_id AND p.upid = t.upid WHERE t.session_id = ?1 AND t.utid = ?2",
			   part->session->id);
}

int nt_lanes_name(const struct nt_part *part, sqlite3_stmt *names, int64_t utid, bool *found)
{
	int step;

	sqlite3_reset(names);
	sqlite3_bind_int64(names, 2, utid);
	step = sqlite3_step(names);
	*found = step == SQLITE_ROW;
	return step == SQLITE_ROW || step == SQLITE_DONE ? 0 : nt_db_fail(part->db, "the threads cannot be read");
}

int nt_lanes_check_process(const struct nt_part *part, char why_not[NT_ERROR_MAX])
{
	const char *process = part->selection->process;
	sqlite3_stmt *row;

	if (!process)
		return 0;
	row = nt_db_query(part->db, "SELECT 1 FROM thread WHERE session_id = ?1 AND " OF_PROCESS " LIMIT 1",
			  part->session->id);
	sqlite3_bind_text(row, 4, process, -1, SQLITE_STATIC);
	if (!nt_db_next(row))
		snprintf(why_not, NT_ERROR_MAX,
			 "session %lld has no process %.100s: nettape-report query lists those in the table process",
			 (long long)part->session->id, process);
	return nt_db_end(part->db, row, "the recording cannot be read");
}

int nt_lanes_check_cpus(const struct nt_part *part, char why_not[NT_ERROR_MAX])
{
	sqlite3_stmt *row = prepare(part, "SELECT 1 FROM cpu_slice WHERE " OVERLAPS " LIMIT 1", false, 1);

	if (!nt_db_next(row))
		snprintf(why_not, NT_ERROR_MAX, "session %lld has %s: it had %lld", (long long)part->session->id,
			 part->selection->n_cpus ? "none of these CPUs" : "no CPUs", (long long)part->session->cpus);
	return nt_db_end(part->db, row, "the recording cannot be read");
}

/* ---- slices ---- */

/* False: it is none. A database may be anybody's. */
static bool read_slice(sqlite3_stmt *row, struct nt_lane_slice *slice)
{
	int64_t cpu = sqlite3_column_int64(row, 0), end;

	*slice = (struct nt_lane_slice){.ts = sqlite3_column_int64(row, 1), .dur = sqlite3_column_int64(row, 2)};
	slice->cpu = (uint32_t)cpu;
	slice->kind = nt_owner_number(nt_db_text(row, 3));
	slice->utid = sqlite3_column_type(row, 4) == SQLITE_NULL ? -1 : sqlite3_column_int64(row, 4);
	if (slice->kind == NT_OWNER_COUNT || cpu < 0 || cpu > UINT32_MAX || slice->dur < 0 ||
	    __builtin_add_overflow(slice->ts, slice->dur, &end))
		return false;
	if (slice->kind != NT_OWNER_OFFLINE && slice->kind != NT_OWNER_UNCOVERED && !sqlite3_column_int(row, 5))
		slice->kind = NT_LANE_OTHER;
	return true;
}

int nt_lanes_fail(const struct nt_part *part, int error, const char *what)
{
	struct nt_db *db = part->db;

	if (error == -ENOMEM)
		return nt_db_refuse(db, "out of memory: choose less of it with --from and --to.");
	return nt_db_refuse(db, "%s: session %lld: its %s are not those of a recording: see nettape-report check.",
			    db->path[0] ? db->path : "the tape", (long long)part->session->id, what);
}

int nt_lanes_scan(const struct nt_part *part, int (*visit)(void *arg, const struct nt_lane_slice *slice), void *arg)
{
	sqlite3_stmt *statement = prepare(part, slices_sql, false, -1);
	struct nt_lane_slice slice;
	int error = 0;

	while (!error && nt_db_next(statement))
		error = read_slice(statement, &slice) ? visit(arg, &slice) : -ERANGE;
	if (nt_db_end(part->db, statement, "the slices cannot be read"))
		return -1;
	return error ? nt_lanes_fail(part, error, "slices") : 0;
}

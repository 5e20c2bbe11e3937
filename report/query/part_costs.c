// SPDX-License-Identifier: GPL-2.0-only
/*
 * part_costs.c - see part_costs.h. A database may be anybody's: what does not add up in it is an error of SQLite's, or
 * a wrong sum, but nothing worse.
 */
#include "report/query/part_costs.h"

#include <stdio.h>
#include <string.h>

#include "report/util/array.h"

/* ?1 is the session, ?2 and ?3 the part's time, ?4 the process or NULL, ?5 and ?6 the session's time, ?7 its bucket. */

#define OF_PART "session_id = ?1 AND ts < ?3 AND ts + dur > ?2 AND %s "
#define WITHIN "min(ts + dur, ?3) - max(ts, ?2)"

static const char cpu_cost[] = "INSERT INTO temp.cpu_cost(session_id, ts, dur, cpu, owner, utid, spent_ns) "
			       "SELECT ?1, ?2, ?3 - ?2, cpu, owner, utid, sum(" WITHIN ") FROM main.cpu_slice "
			       "WHERE " OF_PART "GROUP BY cpu, owner, utid";

#define HAS_FLAG(flag) "',' || flags || ',' LIKE '%%," flag ",%%'"
/* The rule of nt_view_has. */
static const char sock_cost[] =
	"INSERT INTO temp.sock_cost(session_id, ts, dur, utid, op, socket_id, ops, failed, untimed, lower_bound, "
	"bytes, "
	"cpu_ns) SELECT ?1, ?2, ?3 - ?2, utid, op, socket_id, count(*), sum(result <> 'ok'), sum(dur IS NULL), "
	"coalesce(sum(" HAS_FLAG(
		"lower_bound") "), 0), "
			       "coalesce(sum(CASE WHEN " HAS_FLAG("peek") " OR " HAS_FLAG(
				       "errqueue") " THEN 0 ELSE bytes END), 0), "
						   "coalesce(sum(cpu_ns), 0) FROM main.sock_op WHERE session_id = ?1 "
						   "AND (?2 = ?5 OR ts + coalesce(dur, 0) >= ?2) "
						   "AND (?3 = ?6 OR ts + coalesce(dur, 0) < ?3) AND %s GROUP BY utid, "
						   "op, socket_id";

/*
 * `edge` is the part of the first bucket and that of the last one, `had` the net_rx in these. Of the time that a
 * bucket's payers paid, all_ns, within_ns lies in the part. One who paid exact_ns of it at least paid there what is
 * left when all that lies outside is taken from that. A row that fills more than a bucket has the same share of each.
 */
static const char rx_cost[] =
	"WITH edge AS (SELECT ?2 AS lo, min(?3, ?5 + ((?2 - ?5) / ?7 + 1) * ?7) AS hi UNION "
	"SELECT max(?2, ?5 + (?3 - 1 - ?5) / ?7 * ?7), ?3), "
	"had AS (SELECT cpu, lo, sum(min(ts + dur, hi) - max(ts, lo)) AS ns FROM main.cpu_slice CROSS JOIN edge "
	"WHERE owner = 'net_rx' AND ts < hi AND ts + dur > lo AND " OF_PART "GROUP BY cpu, lo), "
	"hit AS (SELECT *, rowid AS id, " WITHIN " AS stretch_ns FROM main.rx_cost WHERE " OF_PART "), "
	"cut AS (SELECT *, sum(spent_ns) OVER (PARTITION BY cpu, ts, dur) AS all_ns, "
	"sum(spent_ns) OVER (PARTITION BY cpu, ts, dur ORDER BY id) AS upto_ns, CASE WHEN dur > ?7 THEN stretch_ns "
	"ELSE "
	"coalesce((SELECT ns FROM had WHERE had.cpu = hit.cpu AND had.lo = max(hit.ts, ?2)), 0) END AS had_ns "
	"FROM hit WHERE stretch_ns < dur), "
	"share AS (SELECT *, min(had_ns, all_ns) AS within_ns, "
	"CAST(min(had_ns, all_ns) * upto_ns / all_ns AS INTEGER) - "
	"CAST(min(had_ns, all_ns) * (upto_ns - spent_ns) / all_ns AS INTEGER) AS part_ns FROM cut WHERE all_ns > 0) "
	"INSERT INTO temp.rx_cost(session_id, ts, dur, cpu, payer, upid, socket_id, flow_id, device_id, reason, "
	"packets, "
	"segments, bytes, spent_ns, exact_ns, most_ns, was_exact) "
	"SELECT session_id, ts, dur, cpu, payer, upid, socket_id, flow_id, device_id, reason, packets, segments, "
	"bytes, "
	"spent_ns, exact_ns, most_ns, 0 FROM hit WHERE stretch_ns = dur UNION ALL "
	"SELECT session_id, max(ts, ?2), stretch_ns, cpu, payer, upid, socket_id, flow_id, device_id, reason, "
	"CAST(packets * within_ns / all_ns AS INTEGER), CAST(segments * within_ns / all_ns AS INTEGER), "
	"CAST(bytes * within_ns / all_ns AS INTEGER), part_ns, max(0, min(exact_ns - (all_ns - within_ns), part_ns)), "
	"max(part_ns, min(most_ns, within_ns)), exact_ns = most_ns FROM share";

static const struct {
	enum nt_table_id id;
	const char *sql; /* puts the part's sums into the temporary table; one or two %s for the CPUs */
	const char *more; /* columns of the temporary table behind those of the table */
} sums[] = {
	{NT_TABLE_CPU_COST, cpu_cost, ""},
	{NT_TABLE_SOCK_COST, sock_cost, ""},
	{NT_TABLE_RX_COST, rx_cost, ", was_exact INTEGER"},
};

#define SQL_MAX (4096 + 2 * NT_CPUS_SQL_MAX)

static int run(const struct nt_part *part, const char *sql)
{
	sqlite3_stmt *statement = nt_db_query(part->db, sql, part->session->id);

	sqlite3_bind_int64(statement, 2, part->from_ts);
	sqlite3_bind_int64(statement, 3, part->to_ts);
	sqlite3_bind_int64(statement, 5, part->session->start_ts);
	sqlite3_bind_int64(statement, 6, part->session->end_ts);
	sqlite3_bind_int64(statement, 7, part->session->bucket_ns);
	nt_db_next(statement);
	return nt_db_end(part->db, statement, "the costs of the part cannot be summed up");
}

/* There, and empty. Not dropped: a statement that reads the sessions may be under way. */
static int make_table(const struct nt_part *part, size_t i)
{
	const char *name = nt_table(sums[i].id)->name;
	char whole[NT_DB_TABLE_MAX], sql[NT_DB_TABLE_MAX + 100];

	nt_db_write_table(nt_table(sums[i].id), whole);
	snprintf(sql, sizeof(sql), "CREATE TEMP TABLE IF NOT EXISTS %s%.*s%s)", name,
		 (int)(strlen(strchr(whole, '(')) - 1), strchr(whole, '('), sums[i].more);
	if (run(part, sql))
		return -1;
	snprintf(sql, sizeof(sql), "DELETE FROM temp.%s", name);
	return run(part, sql);
}

static int sum_up(const struct nt_part *part, uint64_t tables)
{
	char cpus[NT_CPUS_SQL_MAX], sql[SQL_MAX];

	nt_selection_cpus_sql(part->selection, cpus);
	for (size_t i = 0; i < NT_COUNT(sums); i++) {
		if (!(tables & NT_TABLE_BIT(sums[i].id)))
			continue;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(sql, sizeof(sql), sums[i].sql, cpus, cpus);
#pragma GCC diagnostic pop
		if (make_table(part, i) || run(part, sql))
			return -1;
	}
	return 0;
}

static int find_estimate(const struct nt_part *part, bool *is_estimate)
{
	sqlite3_stmt *row = nt_db_query(part->db,
					"SELECT 1 FROM temp.rx_cost WHERE was_exact AND exact_ns < most_ns "
					"AND (?4 IS NULL OR upid IN (" NT_PROCESSES_SQL ")) LIMIT 1",
					part->session->id);

	sqlite3_bind_text(row, 4, part->selection->process, -1, SQLITE_STATIC);
	*is_estimate = nt_db_next(row);
	return nt_db_end(part->db, row, "the costs of the part cannot be summed up");
}

int nt_part_costs(const struct nt_part *part, uint64_t tables, bool *is_estimate)
{
	int error;

	if (is_estimate)
		*is_estimate = false;
	if (part->db->source)
		return nt_part_limit(part);
	nt_db_allow_temporary(part->db, true);
	error = sum_up(part, tables);
	nt_db_allow_temporary(part->db, false);
	return error || !is_estimate ? error : find_estimate(part, is_estimate);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * part_costs.c - see part_costs.h. Slices and operations of a database are summed up as those of a tape
 * (rows/rollup.h). A database may be anybody's: a row that no recorder wrote is left out, or refused.
 */
#include "report/query/cpus/part_costs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/db/scan.h"
#include "report/query/cpus/read.h"
#include "report/query/part_tables.h"
#include "report/rows/rollup.h"
#include "report/util/array.h"
#include "report/util/words.h"

/* ---- temporary tables ---- */

/* ?1 is the session, ?2 and ?3 the part's time, ?4 the process or NULL, ?5 the session's start, ?6 its bucket. */
static sqlite3_stmt *prepare(const struct nt_part *part, const char *sql)
{
	sqlite3_stmt *statement = nt_db_query(part->db, sql, part->session->id);

	nt_part_bind(part, statement);
	sqlite3_bind_int64(statement, 5, part->session->start_ts);
	sqlite3_bind_int64(statement, 6, part->session->bucket_ns);
	return statement;
}

static int end(const struct nt_part *part, sqlite3_stmt *statement)
{
	return nt_db_end(part->db, statement, "the costs of the part cannot be summed up");
}

/* Whether it gives a row. */
static int run(const struct nt_part *part, const char *sql, bool *has_row)
{
	sqlite3_stmt *statement = prepare(part, sql);

	*has_row = nt_db_next(statement);
	return end(part, statement);
}

/* ---- cpu_cost and sock_cost ---- */

struct summing {
	const struct nt_part *part;
	struct nt_view_time time;
	struct nt_rollup *rollup;
	sqlite3_stmt *cpu_cost, *sock_cost; /* INSERTs */
};

static int on_cpu_cost(void *arg, const struct nt_cpu_cost *cost)
{
	const struct summing *summing = arg;

	return nt_part_table_put(summing->part, summing->cpu_cost, NT_TABLE_CPU_COST, cost);
}

static int on_sock_cost(void *arg, const struct nt_sock_cost *cost)
{
	const struct summing *summing = arg;

	return nt_part_table_put(summing->part, summing->sock_cost, NT_TABLE_SOCK_COST, cost);
}

static uint64_t task_of(const struct nt_value *utid)
{
	return (uint64_t)nt_integer(utid, (int64_t)NT_NO_TASK);
}

/* A row that no recorder wrote counts nowhere. */
static int take_slice(void *arg, const struct nt_row *row)
{
	const struct summing *summing = arg;
	const struct nt_value *cpu = NT_VALUE(row, cpu_slice, cpu);
	const int64_t ts = nt_integer(NT_VALUE(row, cpu_slice, ts), -1);
	const int64_t dur = nt_integer(NT_VALUE(row, cpu_slice, dur), -1);
	struct nt_cpu_slice slice = {
		.ts_ns = (uint64_t)ts,
		.dur_ns = (uint64_t)dur,
		.cpu = (uint32_t)nt_integer(cpu, 0),
		.owner = nt_owner_number(nt_text(NT_VALUE(row, cpu_slice, owner), "")),
		.task = task_of(NT_VALUE(row, cpu_slice, utid)),
	};

	if (ts < 0 || dur < 0 || nt_integer(cpu, -1) != slice.cpu || slice.owner == NT_OWNER_COUNT ||
	    !nt_lanes_has_cpu(summing->part, cpu) || !nt_view_clip(&summing->time, &slice.ts_ns, &slice.dur_ns))
		return 0;
	return nt_rollup_slice(summing->rollup, &slice);
}

static int take_op(void *arg, const struct nt_row *row)
{
	const struct summing *summing = arg;
	const struct nt_value *dur = NT_VALUE(row, sock_op, dur);
	const char *flags = nt_text(NT_VALUE(row, sock_op, flags), "");
	const int64_t ts = nt_integer(NT_VALUE(row, sock_op, ts), -1),
		      bytes = nt_integer(NT_VALUE(row, sock_op, bytes), 0);
	const struct nt_op_row op = {
		.ts_ns = (uint64_t)ts,
		.dur_ns = (uint64_t)nt_integer(dur, 0),
		.cpu_ns = (uint64_t)nt_integer(NT_VALUE(row, sock_op, cpu_ns), 0),
		.timed = dur->type == NT_VALUE_INTEGER,
		.lower_bound = nt_has_word(flags, "lower_bound"),
		.task = task_of(NT_VALUE(row, sock_op, utid)),
		.dir = strcmp(nt_text(NT_VALUE(row, sock_op, op), ""), nt_dir_name(NT_SEND)) ? NT_RECV : NT_SEND,
		.flags = (nt_has_word(flags, "peek") ? NT_OP_PEEK : 0) |
			 (nt_has_word(flags, "errqueue") ? NT_OP_ERRQUEUE : 0),
		.socket = (uint64_t)nt_integer(NT_VALUE(row, sock_op, socket_id), 0),
		.end = NT_OP_DONE,
		.result = strcmp(nt_text(NT_VALUE(row, sock_op, result), ""), "ok") ? -1 : (int32_t)bytes,
	};

	if (ts < 0 || nt_integer(dur, 0) < 0 || (int64_t)op.cpu_ns < 0 || bytes != (int32_t)bytes ||
	    !nt_lanes_has_cpu(summing->part, NT_VALUE(row, sock_op, cpu)) ||
	    !nt_view_has(&summing->time, op.ts_ns + op.dur_ns))
		return 0;
	return nt_rollup_op(summing->rollup, &op);
}

static int read_sums(struct summing *summing)
{
	const struct nt_part *part = summing->part;
	const struct nt_scan_reader readers[] = {
		{NT_TABLE_CPU_SLICE, 0, take_slice, summing},
		{NT_TABLE_SOCK_OP, 0, take_op, summing},
	};
	int error = nt_scan_all(part->db, part->session->id, 0, readers, NT_COUNT(readers));

	if (!error)
		error = nt_rollup_finish(summing->rollup);
	return error ? nt_lanes_fail(part, error, "costs") : 0;
}

/* Without slices, the database's own will do for all of a session. */
static int copy(const struct nt_part *part)
{
	bool has_row;

	return run(part, "INSERT INTO temp.cpu_cost SELECT * FROM main.cpu_cost WHERE session_id = ?1", &has_row) ||
	       run(part, "INSERT INTO temp.sock_cost SELECT * FROM main.sock_cost WHERE session_id = ?1", &has_row);
}

static int sum_up(const struct nt_part *part)
{
	struct summing summing = {.part = part, .time = nt_part_time(part)};
	const struct nt_rollup_sink sink = {.arg = &summing, .cpu_cost = on_cpu_cost, .sock_cost = on_sock_cost};
	bool has_slices;
	int error = -1;

	if (nt_part_table_make(part, NT_TABLE_CPU_COST, "") || nt_part_table_make(part, NT_TABLE_SOCK_COST, "") ||
	    nt_load_is_at_hand(part->db, NT_TABLE_CPU_SLICE, &has_slices))
		return -1;
	if (nt_part_is_whole(part) && !has_slices)
		return copy(part);
	summing.time.buckets_ns = (uint64_t)part->session->start_ts;
	summing.rollup = nt_rollup_new(&summing.time, &sink);
	summing.cpu_cost = nt_db_prepare(part->db, "INSERT INTO temp.cpu_cost VALUES(?, ?, ?, ?, ?, ?, ?)", NULL);
	summing.sock_cost =
		nt_db_prepare(part->db, "INSERT INTO temp.sock_cost VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", NULL);
	if (!summing.rollup)
		nt_db_no_memory(part->db);
	else if (summing.cpu_cost && summing.sock_cost)
		error = read_sums(&summing);
	nt_rollup_free(summing.rollup);
	sqlite3_finalize(summing.cpu_cost);
	sqlite3_finalize(summing.sock_cost);
	return error;
}

/* ---- rx_cost ---- */

#define SQL_MAX (4096 + NT_CPUS_SQL_MAX)
#define COLUMNS(ts, dur) "session_id, " ts ", " dur ", cpu, payer, upid, socket_id, flow_id, device_id, reason, "
#define NUMBERS "packets, segments, bytes, spent_ns, exact_ns, most_ns"
#define INSERT "INSERT INTO temp.rx_cost(" COLUMNS("ts", "dur") NUMBERS ", was_exact) "
#define OF_PART "FROM main.rx_cost WHERE session_id = ?1 AND ts < ?3 AND ts + dur > ?2 AND %s "
#define IS_CUT "(ts < ?2 OR ts + dur > ?3) "

/* Kept for the windows of a session that come after this one. */
static const char net_rx[] = "CREATE TEMP TABLE IF NOT EXISTS net_rx AS SELECT session_id, cpu, ts, dur "
			     "FROM main.cpu_slice WHERE owner = 'net_rx'";
static const char is_any_cut[] = "SELECT 1 " OF_PART "AND " IS_CUT "LIMIT 1";
static const char insert_whole[] = INSERT "SELECT " COLUMNS("ts", "dur") NUMBERS ", 0 " OF_PART "AND NOT " IS_CUT;
/*
 * `edge` is what the part has of the first bucket and of the last one, `had` the net_rx in these. Of the time that a
 * bucket's payers paid, all_ns, within_ns lies in the part. One who paid exact_ns of it at least paid there what is
 * left when all that lies outside is taken from that. A row that fills more than a bucket has the same share of each.
 */
#define SHARE_OF(number) "CAST(" number " * within_ns / all_ns AS INTEGER), "
#define SHARES SHARE_OF("packets") SHARE_OF("segments") SHARE_OF("bytes")
/* Long times are multiplied as floating-point numbers: all of it is exact in any case. */
#define UPTO(number)                                                                                                   \
	"CASE WHEN " number " = all_ns THEN within_ns ELSE min(within_ns, CAST(within_ns * " number                    \
	" / all_ns AS INTEGER)) END "
#define PART_NS UPTO("upto_ns") "- " UPTO("(upto_ns - spent_ns)") "AS part_ns "
static const char insert_cut[] =
	"WITH edge AS (SELECT ?2 AS lo, min(?3, ?5 + ((?2 - ?5) / ?6 + 1) * ?6) AS hi UNION "
	"SELECT max(?2, ?5 + (?3 - 1 - ?5) / ?6 * ?6), ?3), "
	"had AS (SELECT cpu, lo, sum(min(ts + dur, hi) - max(ts, lo)) AS ns FROM temp.net_rx CROSS JOIN edge "
	"WHERE session_id = ?1 AND ts < hi AND ts + dur > lo GROUP BY cpu, lo), "
	"cut AS (SELECT *, rowid AS id, max(ts, ?2) AS lo, min(ts + dur, ?3) - max(ts, ?2) AS stretch_ns " OF_PART
	"AND " IS_CUT "), "
	"paid AS (SELECT cut.*, sum(spent_ns) OVER (PARTITION BY cut.cpu, ts, dur) AS all_ns, "
	"sum(spent_ns) OVER (PARTITION BY cut.cpu, ts, dur ORDER BY id) AS upto_ns, "
	"CASE WHEN dur > ?6 THEN stretch_ns ELSE coalesce(had.ns, 0) END AS had_ns "
	"FROM cut LEFT JOIN had ON had.cpu = cut.cpu AND had.lo = cut.lo), "
	"within AS (SELECT *, min(had_ns, all_ns) AS within_ns FROM paid WHERE all_ns > 0), "
	"share AS (SELECT *, " PART_NS "FROM within) " INSERT "SELECT " COLUMNS("lo", "stretch_ns") SHARES
	"part_ns, max(0, min(exact_ns - (all_ns - within_ns), part_ns)), max(part_ns, min(most_ns, within_ns)), "
	"exact_ns = most_ns FROM share";
/* A row that no recorder wrote. */
#define IS_ODD(number) "typeof(" number ") <> 'integer' OR " number " < 0 "
static const char is_any_odd[] = "SELECT 1 " OF_PART "AND (" IS_ODD("packets") "OR " IS_ODD("segments") "OR " IS_ODD(
	"bytes") "OR " IS_ODD("spent_ns") "OR " IS_ODD("exact_ns") "OR " IS_ODD("most_ns") ") LIMIT 1";

/* `format` has one %s, for the CPUs. */
static int run_on_cpus(const struct nt_part *part, const char *format, bool *has_row)
{
	char cpus[NT_CPUS_SQL_MAX], sql[SQL_MAX];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(sql, sizeof(sql), format, nt_selection_cpus_sql(part->selection, cpus));
#pragma GCC diagnostic pop
	return run(part, sql, has_row);
}

static int charge(const struct nt_part *part)
{
	bool is_odd, is_cut, has_row;

	if (run_on_cpus(part, is_any_odd, &is_odd))
		return -1;
	if (is_odd)
		return nt_lanes_fail(part, -ERANGE, "costs");
	if (nt_part_table_make(part, NT_TABLE_RX_COST, ", was_exact INTEGER") ||
	    run_on_cpus(part, insert_whole, &has_row) || run_on_cpus(part, is_any_cut, &is_cut))
		return -1;
	return is_cut ? run(part, net_rx, &has_row) || run_on_cpus(part, insert_cut, &has_row) : 0;
}

static int find_estimate(const struct nt_part *part, bool *is_estimate)
{
	return run(part,
		   "SELECT 1 FROM temp.rx_cost WHERE was_exact AND exact_ns < most_ns "
		   "AND (?4 IS NULL OR upid IN (" NT_PROCESSES_SQL ")) LIMIT 1",
		   is_estimate);
}

/* ---- all ---- */

static int make_costs(const struct nt_part *part, bool only_charges, bool *is_estimate)
{
	if ((!only_charges && sum_up(part)) || charge(part))
		return -1;
	return find_estimate(part, is_estimate);
}

int nt_part_costs(const struct nt_part *part, bool only_charges, bool *is_estimate)
{
	int error;

	*is_estimate = false;
	if (part->db->source)
		return only_charges ? nt_part_charge(part) : nt_part_limit(part);
	nt_db_allow_temporary(part->db, true);
	error = make_costs(part, only_charges, is_estimate);
	nt_db_allow_temporary(part->db, false);
	return error ? -1 : 0;
}

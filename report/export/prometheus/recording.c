// SPDX-License-Identifier: GPL-2.0-only
/*
 * recording.c - how good a recording is: its records and losses, the recorder's own cost, whether it is whole, and up
 * to when it goes.
 */
#include <math.h>

#include "report/export/prometheus/parts.h"
#include "report/query/self_cost.h"
#include "report/query/whole.h"
#include "report/util/array.h"

/* ---- records, and the recorder's own cost ---- */

#define RECORDER_CPU_SQL(column, mode) "SELECT " column ", '" mode "' AS mode FROM (" NT_SELF_RECORDER_SQL ")"
#define MAX_PROGRAMS "200" /* as on no honest tape */

static const struct nt_prometheus_query records[] = {
	{NT_TABLE_RECORD_COUNT,
	 "SELECT total(records), total(lost), kind FROM record_count WHERE session_id = ?1 GROUP BY kind ORDER BY kind",
	 2,
	 {NT_METRIC_RECORDS, NT_METRIC_RECORDS_LOST}},
};
static const struct nt_prometheus_query own_cost[] = {
	{NT_TABLE_SELF_COST, RECORDER_CPU_SQL("user_ns", "user"), 1, {NT_METRIC_RECORDER_CPU}},
	{NT_TABLE_SELF_COST, RECORDER_CPU_SQL("system_ns", "system"), 1, {NT_METRIC_RECORDER_CPU}},
	{NT_TABLE_SELF_COST,
	 "SELECT max(CASE name WHEN 'max_rss_kib' THEN value * 1024.0 END), "
	 "max(CASE name WHEN 'bytes_written' THEN value END) FROM self_cost_last "
	 "WHERE session_id = ?1 AND program IS NULL",
	 2,
	 {NT_METRIC_RECORDER_MEMORY, NT_METRIC_RECORDER_WRITTEN}},
	{NT_TABLE_SELF_COST,
	 "SELECT runs_count, misses_count, run_ns, program FROM (" NT_SELF_PROGRAMS_SQL ") LIMIT " MAX_PROGRAMS,
	 3,
	 {NT_METRIC_RECORDER_RUNS, NT_METRIC_RECORDER_MISSES, NT_METRIC_RECORDER_RUN_SECONDS}},
};

int nt_prometheus_records(const struct nt_part *part, uint64_t tables, struct nt_sheet *sheet)
{
	return nt_prometheus_add_queries(part, tables, records, NT_COUNT(records), sheet);
}

int nt_prometheus_recorder(const struct nt_part *part, uint64_t tables, struct nt_sheet *sheet)
{
	return nt_prometheus_add_queries(part, tables, own_cost, NT_COUNT(own_cost), sheet);
}

/* ---- whether it is whole ---- */

int nt_prometheus_recording(const struct nt_part *part, struct nt_sheet *sheet)
{
	const struct nt_session *session = part->session;
	struct nt_whole whole;
	bool is_known;

	if (nt_whole_find(part->db, session, part->selection, &whole))
		return -1;
	is_known = whole.is_whole || whole.has_touched;
	if (nt_sheet_add(sheet, NT_METRIC_WHOLE, whole.is_whole, NT_NO_LABELS) ||
	    nt_sheet_add(sheet, NT_METRIC_PROBLEMS, (double)whole.n_problems, NT_NO_LABELS) ||
	    nt_sheet_add(sheet, NT_METRIC_TOUCHED, is_known ? (double)whole.touched_ns : NAN, NT_NO_LABELS) ||
	    nt_sheet_add(sheet, NT_METRIC_SESSIONS, 1, NT_NO_LABELS) ||
	    nt_sheet_add(
		    sheet, NT_METRIC_SESSION_INFO, 1,
		    NT_LABELS({"session", session->uuid}, {"kernel", session->kernel}, {"machine", session->machine})))
		return nt_db_no_memory(part->db);
	if (session->start_realtime_ns <= 0)
		return 0;
	return nt_sheet_add(
		       sheet, NT_METRIC_COMPLETE_UNTIL,
		       (double)((uint64_t)session->start_realtime_ns + (uint64_t)(part->to_ts - session->start_ts)),
		       NT_NO_LABELS)
		       ? nt_db_no_memory(part->db)
		       : 0;
}

void nt_prometheus_forget_recording(struct nt_sheet *sheet)
{
	static const enum nt_metric metrics[] = {
		NT_METRIC_WHOLE,	  NT_METRIC_PROBLEMS, NT_METRIC_TOUCHED,
		NT_METRIC_COMPLETE_UNTIL, NT_METRIC_SESSIONS, NT_METRIC_SESSION_INFO,
	};

	for (size_t i = 0; i < NT_COUNT(metrics); i++)
		nt_sheet_forget(sheet, metrics[i]);
	for (size_t i = 0; i < NT_COUNT(own_cost); i++) {
		for (int k = 0; k < own_cost[i].n_metrics; k++)
			nt_sheet_forget(sheet, own_cost[i].metrics[k]);
	}
}

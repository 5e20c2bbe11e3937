// SPDX-License-Identifier: GPL-2.0-only
/*
 * summary.c - nettape-report summary: what the network stack cost, who made it work, and the owners of each CPU. Each
 * section is one query; programs get its rows whole, people the first with units, and the sums of the others. Of a part
 * of a session, its costs are summed up first (query/cpus/part_costs.h).
 */
#include <stdio.h>
#include <string.h>

#include "report/cmd/command.h"
#include "report/cmd/each_session.h"
#include "report/cmd/options.h"
#include "report/db/result.h"
#include "report/out/prose.h"
#include "report/query/cpus/part_costs.h"
#include "report/query/cpus/read.h"
#include "report/query/cpus/summary.h"
#include "report/query/disks.h"
#include "report/query/elsewhere.h"
#include "report/query/energy.h"
#include "report/query/flows.h"
#include "report/query/groups.h"
#include "report/query/kmem.h"
#include "report/query/memory.h"
#include "report/query/part_time.h"
#include "report/query/payers.h"
#include "report/query/self_cost.h"
#include "report/query/session.h"
#include "report/query/stages/tracing.h"
#include "report/query/uncovered.h"
#include "report/query/waits.h"
#include "report/query/whole.h"
#include "report/util/array.h"
#include "schema/meta_keys.h"

#define TOP 10 /* rows of the first grouping */
#define TOP_NEXT 5 /* of those after it */
#define TOP_ASKED 25 /* of what --by asked for */
#define TEXTS 20

/* In JSON: objects; the same, of costs by CPU and by group, which a part has sums of; members of the session; one
 * object; texts. */
enum shape { SHAPE_ROWS, SHAPE_CPUS, SHAPE_GROUPS, SHAPE_ONE, SHAPE_OBJECT, SHAPE_TEXTS };

struct section {
	enum shape shape;
	const char *name;
	const char *sql; /* ?1 is the session; of texts, ?2 is how many at most, -1 for all */
};

#define SESSION                                                                                                        \
	"SELECT uuid, host, kernel, machine, os, virtual, tool, start_ts, dur AS duration_ns, start_realtime_ns, "     \
	"cpus AS n_cpus"
static const struct section session_section = {
	SHAPE_ONE, "session",
	SESSION ", events, lost, complete AND NOT n_problems AS complete, n_problems FROM (SELECT *, (SELECT count(*) "
		"FROM problem AS p WHERE p.session_id = s.session_id) AS n_problems FROM session AS s) "
		"WHERE session_id = ?1"};
/*
 * Of a part, only its blocks are read. So nobody counts the records of the recording, nor looks for all its problems:
 * ?9 says whether one is known.
 */
static const struct section session_of_part = {
	SHAPE_ONE, "session", SESSION ", complete AND ?9 AS complete FROM session WHERE session_id = ?1"};
static const struct section part_section = {SHAPE_OBJECT, "part", "SELECT ?2 AS from_ts, ?3 AS to_ts"};
static const struct section cpus_section = {SHAPE_CPUS, "cpus", NT_SUMMARY_CPUS_SQL};
static const struct section payers_section = {SHAPE_GROUPS, "payers", NT_PAYERS_SQL};
static const struct section elsewhere_section = {SHAPE_ROWS, "elsewhere", NT_ELSEWHERE_SQL};
static const struct section elsewhere_first_section = {SHAPE_ROWS, "elsewhere", NT_ELSEWHERE_FIRST_SQL("?2")};
static const struct section flows_section = {SHAPE_ROWS, "flows", "WITH " NT_FLOWS_OF_ALL_SQL NT_FLOWS_ROWS_SQL};
static const struct section waits_section = {SHAPE_ROWS, "softirq_waits", NULL}; /* nt_waits_query() */
static const struct section disks_section = {SHAPE_ROWS, "block_devices", NT_DISKS_SQL};
static const struct section disk_payers_section = {SHAPE_ROWS, "block_payers", NT_DISK_PAYERS_SQL};
static const struct section memory_section = {SHAPE_ROWS, "memory", "WITH " NT_MEMORY_SQL};
static const struct section kmem_section = {SHAPE_ROWS, "kmem", "WITH " NT_KMEM_SQL};
static const struct section pressure_section = {SHAPE_ROWS, "pressure", NT_PRESSURE_SQL};
static const struct section socket_memory_section = {SHAPE_ROWS, "socket_memory", NT_SOCKET_MEMORY_SQL};
static const struct section energy_section = {SHAPE_ROWS, "energy", NT_ENERGY_SQL};
static const struct section recorder_section = {SHAPE_OBJECT, "recorder", NT_SELF_RECORDER_SQL};
static const struct section recorder_programs_section = {SHAPE_ROWS, "recorder_programs", NT_SELF_PROGRAMS_SQL};
static const struct section uncovered_section = {
	SHAPE_TEXTS, "uncovered",
	"SELECT value AS text FROM session_meta WHERE session_id = ?1 AND key = '" NT_META_UNCOVERED
	"' ORDER BY rowid LIMIT ?2"};
static const struct section problems_section = {
	SHAPE_TEXTS, "problems", "SELECT text FROM problem WHERE session_id = ?1 ORDER BY rowid LIMIT ?2"};

/* The groupings that a summary has without being asked. */
static const enum nt_by usual[] = {NT_BY_PROGRAM, NT_BY_PROCESS, NT_BY_CGROUP, NT_BY_SOCKET, NT_BY_IFACE};

static struct section group_section(enum nt_by group, const char *name)
{
	return (struct section){SHAPE_GROUPS, name ? name : nt_group(group)->rows, nt_group(group)->sql};
}

struct summary {
	struct nt_sessions sessions;
	enum nt_by by; /* NT_BY_NONE: no table is asked for */
	int64_t limit; /* --limit */
	struct nt_selection selection;
	bool is_of_part; /* something is selected */
	struct nt_whole whole; /* of the session at hand */
	bool has_payers; /* it says whose packets were received */
	bool has_bounds; /* what processes pay may be off */
	bool has_flows; /* their packets were counted, and are shown */
	bool has_waits; /* the same of softirqs' waits */
	bool has_disks; /* of requests to block devices */
	bool has_memory; /* of processes' memory */
	bool has_kmem;
	bool has_pressure, has_socket_memory, has_energy; /* the host's readings of them, and these are shown */
	struct nt_tracing tracing; /* of what is shown of it */
	bool is_estimate; /* what they pay, of a part in a database */
	struct nt_part part; /* what of the session at hand */
};

#define SQL_MAX 8192

static sqlite3_stmt *prepare_groups(const struct summary *summary, const char *query, int64_t session_id)
{
	sqlite3_stmt *statement;
	char sql[SQL_MAX];

	snprintf(sql, sizeof(sql), "WITH " NT_GROUP_SQL "%s", query);
	statement = nt_db_query(summary->sessions.db, sql, session_id);
	nt_part_bind(&summary->part, statement);
	return statement;
}

/* How many rows people get of a table. */
static int64_t limit_of(const struct summary *summary, int64_t usual_limit)
{
	return summary->limit ? summary->limit : usual_limit;
}

static sqlite3_stmt *prepare(const struct summary *summary, const struct section *section, int64_t session_id)
{
	sqlite3_stmt *statement;

	if (section->shape == SHAPE_CPUS)
		return nt_summary_query(&summary->part, !summary->is_of_part, section->sql);
	if (section->shape == SHAPE_GROUPS)
		return prepare_groups(summary, section->sql, session_id);
	if (section == &waits_section)
		return nt_waits_query(&summary->part, NT_WAITS_FIGURES_SQL, NT_WAITS_GROUP_SQL);
	statement = nt_db_query(summary->sessions.db, section->sql, session_id);
	if (section->shape == SHAPE_TEXTS)
		sqlite3_bind_int(statement, 2, summary->sessions.format == NT_FORMAT_TABLE ? TEXTS : -1);
	else if (section == &elsewhere_first_section)
		sqlite3_bind_int64(statement, 2, limit_of(summary, TOP_NEXT));
	else
		nt_part_bind(&summary->part, statement);
	sqlite3_bind_int(statement, 9, summary->whole.is_whole);
	return statement;
}

/* ---- for programs ---- */

static int end(struct nt_db *db, sqlite3_stmt *statement)
{
	return nt_db_end(db, statement, "the summary cannot be made");
}

static void json_row(struct nt_json *json, sqlite3_stmt *row, enum shape shape)
{
	const bool is_object = shape == SHAPE_ROWS || shape == SHAPE_CPUS || shape == SHAPE_GROUPS;

	if (shape == SHAPE_TEXTS) {
		nt_json_text(json, NULL, nt_db_text(row, 0));
		return;
	}
	if (is_object)
		nt_json_open(json, NULL, '{');
	nt_result_json(json, row);
	if (is_object)
		nt_json_close(json, '}');
}

static int json_section(struct summary *summary, const struct section *section, int64_t session_id)
{
	sqlite3_stmt *statement = prepare(summary, section, session_id);
	struct nt_json *json = &summary->sessions.json;
	char bracket = section->shape == SHAPE_OBJECT ? '{' : '[';

	if (section->shape != SHAPE_ONE)
		nt_json_open(json, section->name, bracket);
	while (nt_db_next(statement))
		json_row(json, statement, section->shape);
	if (section->shape != SHAPE_ONE)
		nt_json_close(json, bracket == '{' ? '}' : ']');
	return end(summary->sessions.db, statement);
}

static int csv_section(struct summary *summary, const struct section *section, int64_t session_id)
{
	sqlite3_stmt *statement = prepare(summary, section, session_id);

	for (int64_t row = 1; nt_db_next(statement); row++) {
		for (int i = 0; i < sqlite3_column_count(statement); i++)
			nt_sessions_csv_value(&summary->sessions, session_id, section->name, row,
					      sqlite3_column_name(statement, i), nt_result_cell(statement, i));
	}
	return end(summary->sessions.db, statement);
}

static void give_tracing(struct summary *summary, int64_t session_id)
{
	struct nt_line line;

	if (summary->sessions.format == NT_FORMAT_JSON) {
		nt_tracing_json(&summary->tracing, &summary->sessions.json);
		return;
	}
	nt_tracing_line(&summary->tracing, &line);
	for (size_t i = 0; i < line.n; i++)
		nt_sessions_csv_value(&summary->sessions, session_id, "tracing", 1, line.names[i], line.cells[i]);
}

static int give_section(struct summary *summary, const struct section *section, int64_t session_id)
{
	return summary->sessions.format == NT_FORMAT_JSON ? json_section(summary, section, session_id)
							  : csv_section(summary, section, session_id);
}

/* All rows of what people get the first of; what --by asked for beside them. */
static int give_groups(struct summary *summary, int64_t session_id)
{
	struct section section;
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(usual) && !error; i++) {
		section = group_section(usual[i], NULL);
		error = give_section(summary, &section, session_id);
	}
	if (error || summary->by == NT_BY_NONE)
		return error;
	if (summary->sessions.format == NT_FORMAT_JSON)
		nt_json_text(&summary->sessions.json, "by", nt_by_name(summary->by));
	section = group_section(summary->by, "groups");
	return give_section(summary, &section, session_id);
}

static int give_readings(struct summary *summary, int64_t session_id)
{
	return (summary->has_pressure && give_section(summary, &pressure_section, session_id)) ||
	       (summary->has_socket_memory && give_section(summary, &socket_memory_section, session_id)) ||
	       (summary->has_energy && give_section(summary, &energy_section, session_id));
}

static int give_session(struct summary *summary, int64_t session_id)
{
	static const struct section *const last[] = {&recorder_section, &recorder_programs_section, &uncovered_section,
						     &problems_section};
	const size_t n = NT_COUNT(last) - summary->is_of_part;
	int error;

	if (summary->sessions.format == NT_FORMAT_JSON) {
		nt_json_open(&summary->sessions.json, NULL, '{');
		nt_whole_json(&summary->whole, &summary->sessions.json);
		nt_json_integer(&summary->sessions.json, "session_id", session_id);
	}
	error = give_section(summary, summary->is_of_part ? &session_of_part : &session_section, session_id) ||
		(summary->is_of_part && give_section(summary, &part_section, session_id)) ||
		give_section(summary, &cpus_section, session_id) || give_groups(summary, session_id) ||
		give_section(summary, &payers_section, session_id) ||
		(summary->has_flows && give_section(summary, &flows_section, session_id)) ||
		(summary->has_waits && give_section(summary, &waits_section, session_id)) ||
		(summary->has_disks && (give_section(summary, &disks_section, session_id) ||
					give_section(summary, &disk_payers_section, session_id))) ||
		(summary->has_memory && give_section(summary, &memory_section, session_id)) ||
		(summary->has_kmem && give_section(summary, &kmem_section, session_id)) ||
		give_readings(summary, session_id) ||
		(!summary->is_of_part && give_section(summary, &elsewhere_section, session_id));
	if (!error)
		give_tracing(summary, session_id);
	for (size_t i = 0; i < n && !error; i++)
		error = give_section(summary, last[i], session_id);
	if (summary->sessions.format == NT_FORMAT_JSON)
		nt_json_close(&summary->sessions.json, '}');
	return error;
}

/* ---- for people ---- */

static const char *or_unknown(const char *text)
{
	return text[0] ? text : "(unknown)";
}

/* Of a part of a recording (import --from), counts of records are the whole recording's. */
static int print_part(struct nt_db *db, int64_t session_id)
{
	sqlite3_stmt *row = nt_db_query(db, NT_META_SQL(NT_LOAD_RECORDING_START), session_id);

	if (nt_db_next(row))
		nt_print_prose(stdout, "",
			       "This is a part of a longer recording. Events and losses are counted over all of it.");
	return end(db, row);
}

/* Of sums of minutes (import --sums). */
static int print_others(struct nt_db *db, int64_t session_id)
{
	sqlite3_stmt *row = nt_db_query(db, "SELECT 1 FROM process WHERE session_id = ?1 AND upid = ?2", session_id);

	sqlite3_bind_int64(row, 2, NT_SUMS_OTHERS);
	if (nt_db_next(row))
		nt_print_prose(
			stdout, "",
			"These are sums of minutes, and small processes are together in `others`. A process that "
			"has a row of its own may have some of its time, operations and bytes there, too.");
	return end(db, row);
}

/* The selected part of the session. */
static void print_selection(const struct summary *summary)
{
	const struct nt_part *part = &summary->part;
	struct nt_prose prose;

	if (!summary->is_of_part)
		return;
	nt_prose_begin(&prose, stdout);
	nt_part_put_time(prose.line, part->session, part->from_ts, part->to_ts);
	if (part->selection->process)
		fprintf(prose.line, ", only process %s: of interrupts, what came in its time",
			part->selection->process);
	fputs(". The recorder's own cost is that of the whole recording.", prose.line);
	nt_prose_end(&prose, "");
	putchar('\n');
}

/* Columns of SESSION that are printed, and those behind it. */
enum { HOST = 1, KERNEL, VIRTUAL = 5, DURATION = 8, START, N_CPUS, EVENTS, LOST };

static void print_counts(FILE *line, sqlite3_stmt *row)
{
	char events[NT_HUMAN_MAX], lost[NT_HUMAN_MAX];

	fprintf(line, ", %s events, %s lost", nt_human_count(events, sqlite3_column_int64(row, EVENTS)),
		nt_human_count(lost, sqlite3_column_int64(row, LOST)));
}

static void print_recording(const struct summary *summary, sqlite3_stmt *row)
{
	char start[NT_HUMAN_MAX], length[NT_HUMAN_MAX];
	struct nt_prose prose;

	nt_prose_begin(&prose, stdout);
	if (sqlite3_column_type(row, START) != SQLITE_NULL)
		fprintf(prose.line, "%s, ", nt_human_time(start, (uint64_t)sqlite3_column_int64(row, START)));
	fputs(nt_human_ns(length, (uint64_t)sqlite3_column_int64(row, DURATION)), prose.line);
	nt_session_put_kept(prose.line, summary->part.session);
	if (!summary->is_of_part)
		print_counts(prose.line, row);
	fprintf(prose.line, ", %s", summary->whole.is_whole ? "complete" : "NOT COMPLETE");
	nt_prose_end(&prose, "");
}

static int print_head(const struct summary *summary, int64_t session_id)
{
	struct nt_db *db = summary->sessions.db;
	sqlite3_stmt *row = prepare(summary, summary->is_of_part ? &session_of_part : &session_section, session_id);
	const char *virtual;

	if (!nt_db_next(row))
		return end(db, row);
	virtual = nt_db_text(row, VIRTUAL);
	virtual = strcmp(virtual, "none") ? virtual : "";
	nt_whole_print(&summary->whole, stdout);
	nt_print_prose(stdout, "", "host %s, Linux %s%s%s, %d CPUs", or_unknown(nt_db_text(row, HOST)),
		       or_unknown(nt_db_text(row, KERNEL)), virtual[0] ? ", virtual: " : "", virtual,
		       sqlite3_column_int(row, N_CPUS));
	print_recording(summary, row);
	putchar('\n');
	return end(db, row);
}

/* Columns that would say nothing. Of interfaces, packets that are no process's have bounds, too. */
static const char *idle_columns(const struct summary *summary, enum nt_by group)
{
	if (group == NT_BY_IFACE)
		return NULL;
	if (!summary->has_payers)
		return "rx_ns,at_least_ns,at_most_ns";
	return summary->has_bounds ? NULL : "at_least_ns,at_most_ns";
}

static int print_group(struct summary *summary, enum nt_by group, int64_t top, int64_t session_id)
{
	const struct section section = group_section(group, NULL);
	sqlite3_stmt *statement = prepare(summary, &section, session_id);
	int error;

	if (!statement)
		return -1;
	nt_print_heading(stdout, "\n%s", nt_group(group)->title);
	nt_printer_hide(summary->sessions.printer, idle_columns(summary, group));
	nt_printer_leave_out(summary->sessions.printer, "lower_bound_count,untimed_count,task_ns,segments_count,"
							"packets_count,cpu_share,ops_count,received_bytes&sent_bytes,"
							"side,recv_ns&send_ns,rx_ns,at_least_ns&at_most_ns");
	error = nt_result_print_top(summary->sessions.db, statement, summary->sessions.printer, limit_of(summary, top),
				    NULL);
	sqlite3_finalize(statement);
	return error;
}

static int print_groups(struct summary *summary, int64_t session_id)
{
	int error = 0;

	if (summary->by != NT_BY_NONE) {
		error = print_group(summary, summary->by, TOP_ASKED, session_id);
		if (!error && nt_group(summary->by)->note[0])
			nt_print_prose(stdout, "", "%s", nt_group(summary->by)->note);
	}
	for (size_t i = 0; i < NT_COUNT(usual) && summary->by == NT_BY_NONE && !error; i++) {
		if (usual[i] != NT_BY_IFACE || summary->has_payers)
			error = print_group(summary, usual[i], i ? TOP_NEXT : TOP, session_id);
	}
	return error;
}

static int find_payers(struct summary *summary, int64_t session_id)
{
	struct nt_db *db = summary->sessions.db;
	sqlite3_stmt *row;

	if (nt_payers_are_known(db, session_id, &summary->has_payers))
		return -1;
	row = prepare_groups(summary, "SELECT 1 FROM charged WHERE least_ns <> most_ns LIMIT 1", session_id);
	summary->has_bounds = nt_db_next(row);
	return end(db, row);
}

/* The first rows of a section whose columns all say something. */
static int print_rows(struct summary *summary, const struct section *section, const char *leave_out, int64_t top,
		      int64_t session_id)
{
	struct nt_printer *printer = summary->sessions.printer;
	sqlite3_stmt *statement = prepare(summary, section, session_id);
	int error;

	if (!statement)
		return -1;
	nt_printer_hide(printer, NULL);
	nt_printer_leave_out(printer, leave_out);
	error = nt_result_print_top(summary->sessions.db, statement, printer, limit_of(summary, top), NULL);
	sqlite3_finalize(statement);
	return error;
}

static int print_payers(struct summary *summary, int64_t session_id)
{
	if (!summary->has_payers)
		return 0;
	nt_print_heading(stdout, "\n" NT_PAYERS_TITLE);
	return print_rows(summary, &payers_section, NT_PAYERS_LEAVE_OUT, TOP, session_id);
}

static int print_flows(struct summary *summary, int64_t session_id)
{
	if (!summary->has_flows || summary->by != NT_BY_NONE)
		return 0;
	nt_print_heading(stdout, "\n" NT_FLOWS_TITLE);
	if (print_rows(summary, &flows_section, NT_FLOWS_LEAVE_OUT, TOP_NEXT, session_id))
		return -1;
	nt_print_prose(stdout, "", "%s", NT_FLOWS_NOTE);
	return 0;
}

/* All rows, without a sum: nobody asks for that of different vectors, or of reads and writes. */
static int print_all_rows(struct summary *summary, const struct section *section, const char *leave_out,
			  const char *note, int64_t session_id)
{
	sqlite3_stmt *statement = prepare(summary, section, session_id);
	int error;

	if (!statement)
		return -1;
	nt_printer_hide(summary->sessions.printer, NULL);
	nt_printer_leave_out(summary->sessions.printer, leave_out);
	error = nt_result_print(summary->sessions.db, statement, summary->sessions.printer);
	sqlite3_finalize(statement);
	if (!error)
		nt_print_prose(stdout, "", "%s", note);
	return error;
}

static int print_waits(struct summary *summary, int64_t session_id)
{
	if (!summary->has_waits || summary->by != NT_BY_NONE)
		return 0;
	nt_print_heading(stdout, "\n" NT_WAITS_TITLE);
	return print_all_rows(summary, &waits_section, "longest_cpu,p50_ns,wait_ns", NT_WAITS_NOTE, session_id);
}

static int print_disks(struct summary *summary, int64_t session_id)
{
	if (!summary->has_disks || summary->by != NT_BY_NONE)
		return 0;
	nt_print_heading(stdout, "\n" NT_DISKS_TITLE);
	if (print_all_rows(summary, &disks_section, "failed_count,p50_ns", NT_DISKS_NOTE, session_id))
		return -1;
	nt_print_heading(stdout, "\n" NT_DISK_PAYERS_TITLE);
	if (print_rows(summary, &disk_payers_section, "queue_ns,device_ns", TOP_NEXT, session_id))
		return -1;
	nt_print_prose(stdout, "", "%s", NT_DISK_PAYERS_NOTE);
	return 0;
}

static int print_memory(struct summary *summary, int64_t session_id)
{
	if (!summary->has_memory || summary->by != NT_BY_NONE)
		return 0;
	nt_print_heading(stdout, "\n" NT_MEMORY_TITLE);
	if (print_rows(summary, &memory_section, "taken_bytes", TOP_NEXT, session_id))
		return -1;
	nt_print_prose(stdout, "", "%s", NT_MEMORY_NOTE);
	return 0;
}

static int print_kmem(struct summary *summary, int64_t session_id)
{
	if (!summary->has_kmem || summary->by != NT_BY_NONE)
		return 0;
	nt_print_heading(stdout, "\n" NT_KMEM_TITLE);
	if (print_rows(summary, &kmem_section, "failed_count,most_by,objects_count", TOP_NEXT, session_id))
		return -1;
	nt_print_prose(stdout, "", "%s", NT_KMEM_NOTE);
	return 0;
}

/* The host's readings. */
static int print_readings(struct summary *summary, int64_t session_id)
{
	const struct {
		bool is_there;
		const struct section *section;
		const char *title, *leave_out, *note;
	} all[] = {
		{summary->has_pressure, &pressure_section, NT_PRESSURE_TITLE, "time_ns,some_ns&full_ns",
		 NT_PRESSURE_NOTE},
		{summary->has_socket_memory, &socket_memory_section, NT_SOCKET_MEMORY_TITLE, NULL,
		 NT_SOCKET_MEMORY_NOTE},
		{summary->has_energy, &energy_section, NT_ENERGY_TITLE, "time_ns,network_share", NT_ENERGY_NOTE},
	};

	for (size_t i = 0; summary->by == NT_BY_NONE && i < NT_COUNT(all); i++) {
		if (!all[i].is_there)
			continue;
		nt_print_heading(stdout, "\n%s", all[i].title);
		if (print_all_rows(summary, all[i].section, all[i].leave_out, all[i].note, session_id))
			return -1;
	}
	return 0;
}

/* Without a sum: one of the lines is in the network's time above, and one may be unknown. */
static int print_elsewhere(struct summary *summary, int64_t session_id)
{
	sqlite3_stmt *statement;
	int error;

	if (summary->is_of_part || summary->by != NT_BY_NONE)
		return 0;
	statement = prepare(summary, &elsewhere_first_section, session_id);
	if (!statement)
		return -1;
	nt_print_heading(stdout, "\nCaused by the network elsewhere");
	nt_printer_leave_out(summary->sessions.printer, "cpu_share,device");
	error = nt_result_print(summary->sessions.db, statement, summary->sessions.printer);
	sqlite3_finalize(statement);
	if (!error)
		nt_print_prose(stdout, "", "%s", NT_ELSEWHERE_NOTE);
	return error;
}

/* Sentences, one a line, below a title; nothing if there are none. */
static int print_sentences(const struct summary *summary, const struct section *section, const char *title,
			   int64_t session_id)
{
	sqlite3_stmt *statement = prepare(summary, section, session_id);
	int n = 0;

	while (nt_db_next(statement)) {
		if (!n++)
			printf("\n%s\n", title);
		nt_print_prose(stdout, "  ", "%s", nt_db_text(statement, 0));
	}
	return end(summary->sessions.db, statement);
}

static void print_remarks(struct summary *summary)
{
	char words[NT_BY_WORDS_MAX];

	putchar('\n');
	nt_printer_say_left_out(summary->sessions.printer, "", "--json and --csv have");
	if (summary->by == NT_BY_NONE)
		nt_print_prose(stdout, "", "--by %s shows more of one table%s.", nt_by_words(NT_BY_OF_COSTS, words),
			       summary->limit ? "" : ", --limit more of each");
	nt_print_prose(stdout, "",
		       "net_rx is the work of receiving packets for all processes, in the time of others. %s Bytes are "
		       "those of operations that succeeded, without peeks and error queues. `cpu` is a share of one "
		       "CPU.",
		       summary->has_payers ? NT_PAYERS_TOTAL " " NT_PAYERS_MEAN " `rest` is these three."
					   : NT_PAYERS_TOTAL_UNPAID " " NT_PAYERS_UNKNOWN);
	if (summary->has_bounds)
		nt_print_prose(stdout, "", NT_PAYERS_BOUNDS);
	if (summary->has_payers && summary->is_estimate)
		nt_print_prose(stdout, "", NT_PAYERS_ESTIMATED);
}

/* How much time the network stack took, and how sure that is. */
static int print_answer(const struct summary *summary, const struct nt_summary_cpus *cpus, int64_t session_id)
{
	struct nt_db *db = summary->sessions.db;

	nt_summary_print_network(cpus);
	nt_tracing_print(&summary->tracing);
	return nt_summary_print_doubts(db, cpus, session_id) || nt_self_misses_print(db, session_id);
}

/* The answer stands first, then who made it work: CPUs may be so many that they fill the screen. */
static int print_costs(struct summary *summary, const struct nt_summary_cpus *cpus, int64_t session_id)
{
	if (print_answer(summary, cpus, session_id) || print_groups(summary, session_id) ||
	    print_payers(summary, session_id))
		return -1;
	return nt_summary_print_cpus(cpus, summary->sessions.printer) ? nt_db_no_memory(summary->sessions.db) : 0;
}

static int print_session(struct summary *summary, int64_t session_id)
{
	struct nt_db *db = summary->sessions.db;
	struct nt_summary_cpus cpus;
	int error;

	if (print_head(summary, session_id) || print_part(db, session_id) || print_others(db, session_id))
		return -1;
	print_selection(summary);
	error = find_payers(summary, session_id);
	if (!error) {
		error = nt_summary_read_cpus(&summary->part, !summary->is_of_part, &cpus) ||
			print_costs(summary, &cpus, session_id);
		nt_summary_release_cpus(&cpus);
	}
	if (error || print_flows(summary, session_id) || print_waits(summary, session_id) ||
	    print_disks(summary, session_id) || print_memory(summary, session_id) || print_kmem(summary, session_id) ||
	    print_readings(summary, session_id) || print_elsewhere(summary, session_id))
		return -1;
	print_remarks(summary);
	return nt_self_cost_print(db, session_id, summary->part.session->dropped_ns) ||
	       nt_uncovered_print(stdout, db, session_id, NULL, "this recording") ||
	       (!summary->is_of_part &&
		print_sentences(summary, &problems_section, "Problems of the tape:", session_id));
}

/* ---- a part of a session ---- */

/* Of all of a session: to ask how many records it has is to read all of a tape, as what is shown does anyway. Where
 * tracing was looked for, that is done already. */
static int read_all(struct summary *summary, int64_t session_id)
{
	sqlite3_stmt *row =
		nt_db_query(summary->sessions.db, "SELECT events FROM session WHERE session_id = ?1", session_id);

	nt_db_next(row);
	return end(summary->sessions.db, row);
}

static int find_readings(struct summary *summary)
{
	return nt_pressure_is_known(&summary->part, &summary->has_pressure) ||
	       nt_socket_memory_is_known(&summary->part, &summary->has_socket_memory) ||
	       nt_energy_is_known(&summary->part, &summary->has_energy);
}

/* They are of all processes. Before anything is read of a tape. */
static int find_other_probes(struct summary *summary)
{
	if (nt_flows_are_known(&summary->part, &summary->has_flows) ||
	    nt_waits_are_known(&summary->part, &summary->has_waits) ||
	    nt_disks_are_known(&summary->part, &summary->has_disks) ||
	    nt_memory_is_known(&summary->part, &summary->has_memory) ||
	    nt_kmem_is_known(&summary->part, &summary->has_kmem))
		return -1;
	summary->has_flows &= !summary->selection.process;
	summary->has_waits &= !summary->selection.process;
	summary->has_disks &= !summary->selection.process;
	summary->has_memory &= !summary->selection.process;
	summary->has_kmem &= !summary->selection.process;
	if (summary->has_flows && nt_flows_sum(&summary->part))
		return -1;
	return summary->selection.process ? 0 : find_readings(summary);
}

static int show_session(struct summary *summary, const struct nt_session *session)
{
	const int64_t session_id = session->id;

	if (find_other_probes(summary) ||
	    nt_tracing_find(summary->sessions.db, session, &summary->selection, &summary->tracing) ||
	    (!summary->is_of_part && read_all(summary, session_id)) ||
	    nt_whole_find(summary->sessions.db, session, &summary->selection, &summary->whole))
		return -1;
	if (summary->sessions.format != NT_FORMAT_TABLE)
		return give_session(summary, session_id);
	if (summary->sessions.shown)
		puts("\n");
	return print_session(summary, session_id);
}

/* The CPUs have time, or `why_not` says that they are not there. 0, or -1 and db->error. */
static int check_cpus(struct summary *summary)
{
	struct nt_db *db = summary->sessions.db;
	sqlite3_stmt *row =
		nt_db_query(db, "SELECT 1 FROM cpu_cost WHERE session_id = ?1 LIMIT 1", summary->part.session->id);
	const bool have_time = nt_db_next(row);

	if (end(db, row))
		return -1;
	return have_time ? 0 : nt_lanes_check_cpus(&summary->part, summary->sessions.why_not);
}

static int show_part(struct summary *summary)
{
	const struct nt_part *part = &summary->part;
	char *why_not = summary->sessions.why_not;

	if (nt_lanes_check_process(part, why_not))
		return -1;
	if (why_not[0])
		return 0;
	if (nt_part_costs(part, false, &summary->is_estimate) || check_cpus(summary))
		return -1;
	return why_not[0] ? 0 : show_session(summary, part->session);
}

/* ---- all sessions ---- */

/* Where one of these was left out, nothing is printed. */
#define NEEDS_OF_WHOLE nt_tables_kept(NT_KEPT_WITH_SUMS)
#define NEEDS_OF_PART                                                                                                  \
	(NT_TABLE_BIT(NT_TABLE_CPU_SLICE) | NT_TABLE_BIT(NT_TABLE_SOCK_OP) | NT_TABLE_BIT(NT_TABLE_SELF_COST))

static int one_session(void *arg, const struct nt_session *session)
{
	struct summary *summary = arg;
	struct nt_sessions *sessions = &summary->sessions;

	summary->part = (struct nt_part){.db = sessions->db, .session = session, .selection = &summary->selection};
	nt_part_choose(&summary->part, sessions->why_not);
	if (!summary->is_of_part) {
		sessions->why_not[0] = 0;
		return show_session(summary, session);
	}
	return sessions->why_not[0] ? 0 : show_part(summary);
}

static int run(const struct nt_options *options)
{
	struct summary summary = {.limit = options->limit};
	char error[NT_ERROR_MAX];
	int code;

	if (nt_by_choose(options->samples.by, NT_BY_OF_COSTS, &summary.by, error))
		return nt_complain_misused(error);
	if (nt_select(&options->selection, &summary.selection, error))
		return nt_complain_misused(error);
	summary.is_of_part = nt_selection_is_given(&summary.selection);
	code = nt_sessions_open(&summary.sessions, options->args[0], NULL, options->names, NULL, options->format);
	if (!code && nt_db_need(summary.sessions.db, summary.is_of_part ? NEEDS_OF_PART : NEEDS_OF_WHOLE))
		code = nt_complain("%s", summary.sessions.db->error);
	if (!code)
		code = nt_sessions_csv_begin(&summary.sessions);
	if (!code)
		code = nt_sessions_show(&summary.sessions, one_session, &summary);
	nt_sessions_close(&summary.sessions);
	return code;
}

static const struct nt_option options[] = {
	NT_OPTIONS_TIME,   NT_OPTIONS_WHO,
	NT_OPTION_BY_COST, NT_OPTION_LIMIT("N rows of each table but that of CPUs, or all (10 or 5; of --by 25)"),
	NT_OPTION_NAMES,   NT_OPTION_JSON,
	NT_OPTION_CSV,	   NT_OPTION_HELP,
	NT_OPTIONS_END,
};

const struct nt_command nt_cmd_summary = {
	.name = "summary",
	.group = NT_GROUP_LOOK,
	.usage = "TAPE|DB [--by WHAT] [OPTION]... [--json|--csv]",
	.what = "show what the network stack cost, by CPU, program, process, socket",
	.help = "Each nanosecond of a CPU has one owner, so times add up. CSV has one line for each value.",
	.example = "summary busy.tape",
	.wants = "a tape or a database",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

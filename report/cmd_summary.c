// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmd_summary.c - nettape-report summary: what the network stack cost, per CPU and in all, then who made it work. Each
 * section is one query; programs get its rows whole, people the first ten with units.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/command.h"
#include "report/load.h"
#include "report/result.h"
#include "report/summary_cpus.h"

#define TOP 10

enum shape { SHAPE_ROWS, SHAPE_ONE, SHAPE_TEXTS }; /* in JSON: objects; members of the session; texts */

struct section {
	enum shape shape;
	const char *name;
	const char *title; /* for people; NULL: not shown to them as a table */
	const char *sql; /* ?1 is the session, ?2 how many rows at most, -1 for all */
};

/* What send and receive cost, in the columns of net_cost_process and its like. */
#define COSTS                                                                                                          \
	"net_ns AS total_ns, share AS cpu_share, send_ns, recv_ns, send_ops + recv_ops AS ops_count, "                 \
	"send_bytes AS sent_bytes, recv_bytes AS received_bytes "
#define DEAREST "ORDER BY net_ns DESC, send_ops + recv_ops DESC, "
#define NOT_NOTHING "AND (net_ns > 0 OR send_ops + recv_ops > 0) "
/* Address and port, the address in brackets if it is one of IPv6. */
#define ENDPOINT(address, port)                                                                                        \
	"CASE WHEN family = 'inet6' THEN '[' || " address " || ']' ELSE " address " END || ':' || " port " "

static const struct section sections[] = {
	{SHAPE_ONE, "session", NULL,
	 "SELECT uuid, host, kernel, machine, os, virtual, tool, start_ts, dur AS duration_ns, start_realtime_ns, "
	 "cpus AS n_cpus, events, lost, complete, "
	 "(SELECT count(*) FROM problem AS p WHERE p.session_id = s.session_id) AS n_problems "
	 "FROM session AS s WHERE session_id = ?1 LIMIT ?2"},
	{SHAPE_ROWS, "cpus", NULL, NT_SUMMARY_CPUS_SQL},
	{SHAPE_ROWS, "processes", "Processes by CPU time in send and receive (share of one CPU)",
	 "SELECT coalesce(name, '(unknown)') AS process, pid, " COSTS
	 "FROM net_cost_process WHERE session_id = ?1 " NOT_NOTHING DEAREST "upid LIMIT ?2"},
	{SHAPE_ROWS, "cgroups", "Control groups",
	 "SELECT coalesce(path, '(unknown)') AS cgroup, processes AS processes_count, " COSTS
	 "FROM net_cost_cgroup WHERE session_id = ?1 " NOT_NOTHING DEAREST "cgroup_id LIMIT ?2"},
	{SHAPE_ROWS, "sockets", "Sockets",
	 "SELECT coalesce(proto, '(unknown)') AS proto, " ENDPOINT("src", "sport") "AS local, " ENDPOINT(
		 "dst", "dport") "AS peer, coalesce(name, '(unknown)') AS process, " COSTS
				 "FROM net_cost_socket WHERE session_id = ?1 " DEAREST "socket_id LIMIT ?2"},
	{SHAPE_TEXTS, "uncovered", NULL,
	 "SELECT value AS text FROM session_meta WHERE session_id = ?1 AND key = 'uncovered' ORDER BY rowid LIMIT ?2"},
	{SHAPE_TEXTS, "problems", NULL, "SELECT text FROM problem WHERE session_id = ?1 ORDER BY rowid LIMIT ?2"},
};
#define N_SECTIONS (sizeof(sections) / sizeof(sections[0]))

static sqlite3_stmt *prepare(struct nt_db *db, const char *sql, int64_t session_id, int limit)
{
	sqlite3_stmt *statement = nt_db_prepare(db, sql, NULL);

	if (statement) {
		sqlite3_bind_int64(statement, 1, session_id);
		sqlite3_bind_int(statement, 2, limit);
	}
	return statement;
}

/* ---- for programs ---- */

static void json_row(struct nt_json *json, sqlite3_stmt *row, enum shape shape)
{
	if (shape == SHAPE_ROWS)
		nt_json_open(json, NULL, '{');
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		struct nt_cell cell = nt_result_cell(row, i);

		nt_json_cell(json, shape == SHAPE_TEXTS ? NULL : sqlite3_column_name(row, i), &cell);
	}
	if (shape == SHAPE_ROWS)
		nt_json_close(json, '}');
}

static int json_section(struct nt_db *db, struct nt_json *json, const struct section *section, int64_t session_id)
{
	sqlite3_stmt *statement = prepare(db, section->sql, session_id, -1);
	int step;

	if (!statement)
		return -1;
	if (section->shape != SHAPE_ONE)
		nt_json_open(json, section->name, '[');
	while ((step = sqlite3_step(statement)) == SQLITE_ROW)
		json_row(json, statement, section->shape);
	if (section->shape != SHAPE_ONE)
		nt_json_close(json, ']');
	sqlite3_finalize(statement);
	return step == SQLITE_DONE ? 0 : nt_db_fail(db, "the summary cannot be made");
}

static int json_session(struct nt_db *db, struct nt_json *json, int64_t session_id)
{
	int error = 0;

	nt_json_open(json, NULL, '{');
	nt_json_integer(json, "session_id", session_id);
	for (size_t i = 0; i < N_SECTIONS && !error; i++)
		error = json_section(db, json, &sections[i], session_id);
	nt_json_close(json, '}');
	return error;
}

/* One line for each value: what has many shapes would need many tables. */
static int csv_section(struct nt_db *db, struct nt_printer *printer, const struct section *section, int64_t session_id)
{
	sqlite3_stmt *statement = prepare(db, section->sql, session_id, -1);
	int step;

	if (!statement)
		return -1;
	for (int64_t row = 1; (step = sqlite3_step(statement)) == SQLITE_ROW; row++) {
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *name = sqlite3_column_name(statement, i);
			const struct nt_cell cells[] = {
				nt_cell_integer(session_id), nt_cell_text(section->name),  nt_cell_integer(row),
				nt_cell_text(name),	     nt_result_cell(statement, i),
			};

			nt_printer_row(printer, cells);
		}
	}
	sqlite3_finalize(statement);
	return step == SQLITE_DONE ? 0 : nt_db_fail(db, "the summary cannot be made");
}

static int csv_session(struct nt_db *db, struct nt_printer *printer, int64_t session_id)
{
	int error = 0;

	for (size_t i = 0; i < N_SECTIONS && !error; i++)
		error = csv_section(db, printer, &sections[i], session_id);
	return error;
}

/* ---- for people ---- */

static void print_text(const char *before, const char *text)
{
	fputs(before, stdout);
	nt_print_clean(stdout, text[0] ? text : "(unknown)", strlen(text[0] ? text : "(unknown)"));
}

static int print_head(struct nt_db *db, int64_t session_id)
{
	sqlite3_stmt *statement = prepare(db, sections[0].sql, session_id, 1);
	char text[NT_HUMAN_MAX];

	if (!statement)
		return -1;
	if (sqlite3_step(statement) != SQLITE_ROW) {
		nt_db_fail(db, "the summary cannot be made");
		sqlite3_finalize(statement);
		return -1;
	}
	print_text("host ", nt_db_text(statement, 1));
	print_text(", Linux ", nt_db_text(statement, 2));
	if (nt_db_text(statement, 5)[0] && strcmp(nt_db_text(statement, 5), "none") != 0)
		print_text(", virtual: ", nt_db_text(statement, 5));
	printf(", %d CPUs\n", sqlite3_column_int(statement, 10));
	if (sqlite3_column_type(statement, 9) != SQLITE_NULL)
		printf("%s, ", nt_human_time(text, (uint64_t)sqlite3_column_int64(statement, 9)));
	printf("%s", nt_human_ns(text, (uint64_t)sqlite3_column_int64(statement, 8)));
	printf(", %s events", nt_human_count(text, sqlite3_column_int64(statement, 11)));
	printf(", %s lost", nt_human_count(text, sqlite3_column_int64(statement, 12)));
	printf(", %s\n\n", sqlite3_column_int(statement, 13) ? "complete" : "NOT COMPLETE");
	sqlite3_finalize(statement);
	return 0;
}

static int print_table(struct nt_db *db, struct nt_printer *printer, const struct section *section, int64_t session_id)
{
	sqlite3_stmt *statement = prepare(db, section->sql, session_id, TOP);
	int error;

	if (!statement)
		return -1;
	printf("\n%s\n", section->title);
	error = nt_result_print(db, statement, printer);
	sqlite3_finalize(statement);
	return error;
}

/* Sentences, one a line, below a title; nothing if there are none. */
static int print_sentences(struct nt_db *db, const struct section *section, const char *title, int64_t session_id)
{
	sqlite3_stmt *statement = prepare(db, section->sql, session_id, 2 * TOP);
	const char *before = title;
	int step;

	if (!statement)
		return -1;
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		print_text(before, nt_db_text(statement, 0));
		putchar('\n');
		before = "  ";
	}
	sqlite3_finalize(statement);
	return step == SQLITE_DONE ? 0 : nt_db_fail(db, "the summary cannot be made");
}

static int print_session(struct nt_db *db, struct nt_printer *printer, int64_t session_id)
{
	int error = print_head(db, session_id);

	if (!error)
		error = nt_summary_print_cpus(db, session_id);
	for (size_t i = 0; i < N_SECTIONS && !error; i++) {
		if (sections[i].title)
			error = print_table(db, printer, &sections[i], session_id);
	}
	puts("\nnet_rx is not attributed to processes yet: it is the work of receiving for all of them, and runs in "
	     "the time of\n"
	     "whoever was interrupted. Bytes are those of operations that succeeded, without peeks and error queues.");
	if (!error)
		error = print_sentences(db, &sections[N_SECTIONS - 2], "\nNot covered by this recording:\n  ",
					session_id);
	return error ? error
		     : print_sentences(db, &sections[N_SECTIONS - 1], "\nProblems of the tape:\n  ", session_id);
}

/* ---- all sessions ---- */

struct summary {
	struct nt_db *db;
	enum nt_format format;
	struct nt_printer *printer;
	struct nt_json json;
	bool printed;
};

static int one_session(struct summary *summary, int64_t session_id)
{
	if (summary->format == NT_FORMAT_JSON)
		return json_session(summary->db, &summary->json, session_id);
	if (summary->format == NT_FORMAT_CSV)
		return csv_session(summary->db, summary->printer, session_id);
	if (summary->printed)
		puts("\n");
	summary->printed = true;
	return print_session(summary->db, summary->printer, session_id);
}

static int all_sessions(struct summary *summary)
{
	sqlite3_stmt *statement =
		nt_db_prepare(summary->db, "SELECT session_id FROM session ORDER BY session_id", NULL);
	int step = SQLITE_DONE, error = 0;

	if (!statement)
		return -1;
	while (!error && (step = sqlite3_step(statement)) == SQLITE_ROW)
		error = one_session(summary, sqlite3_column_int64(statement, 0));
	if (!error && step != SQLITE_DONE)
		error = nt_db_fail(summary->db, "the summary cannot be made");
	sqlite3_finalize(statement);
	return error;
}

static int summarize(struct nt_db *db, enum nt_format format)
{
	static const char *const csv_names[] = {"session_id", "section", "row", "name", "value"};
	struct summary summary = {.db = db, .format = format, .json = {.out = stdout, .lines = 4}};
	int error = 0;

	summary.printer = nt_printer_new(stdout, format, true);
	if (!summary.printer || (format == NT_FORMAT_CSV && nt_printer_begin(summary.printer, 5, csv_names))) {
		nt_printer_free(summary.printer);
		return nt_complain("out of memory.");
	}
	if (format == NT_FORMAT_JSON) {
		nt_json_open(&summary.json, NULL, '{');
		nt_json_open(&summary.json, "sessions", '[');
	}
	error = all_sessions(&summary);
	if (format == NT_FORMAT_JSON) {
		nt_json_close(&summary.json, ']');
		nt_json_close(&summary.json, '}');
	}
	nt_printer_free(summary.printer);
	return error ? nt_complain("%s", db->error) : NT_EXIT_DONE;
}

static int run(const struct nt_options *options)
{
	struct nt_db *db;
	char error[512];
	int code;

	if (nt_load_open(&db, options->args[0], NULL, error, sizeof(error)))
		return nt_complain("%s", error);
	code = summarize(db, options->format);
	nt_db_close(db);
	return code;
}

const struct nt_command nt_cmd_summary = {
	.name = "summary",
	.usage = "TAPE|DB [--json|--csv]",
	.what = "prints what the network stack cost, per CPU and in all",
	.help = "Times add up: each nanosecond of a CPU has one owner. CSV has one line for each value.\n",
	.takes = NT_TAKES_JSON | NT_TAKES_CSV,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

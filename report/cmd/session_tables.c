// SPDX-License-Identifier: GPL-2.0-only
/*
 * session_tables.c - see session_tables.h.
 */
#include "report/cmd/session_tables.h"

#include <stdlib.h>

#include "report/db/result.h"
#include "report/out/prose.h"
#include "report/query/cpus/read.h"
#include "report/query/session_head.h"

struct command {
	const struct nt_session_tables *all;
	struct nt_sessions sessions;
	struct nt_selection selection;
	int64_t limit; /* --limit */
	/* Of the session at hand: */
	const struct nt_session *session;
	struct nt_session_tables tables;
	struct nt_tables_total total;
	char *digest; /* NULL: there is none, or not yet */
};

/* ---- asking ---- */

#define PICKED "WITH picked AS (SELECT * FROM %s WHERE session_id = ?1 AND ts >= ?2 AND ts < ?3 AND %s) %s"
#define SQL_MAX (NT_CPUS_SQL_MAX + 4096)

/* A statement of a session, with what stands before it in all SQL of the command. NULL: db->error. */
static sqlite3_stmt *ask(const struct command *command, const char *query)
{
	const struct nt_session *session = command->session;
	struct nt_db *db = command->sessions.db;
	const struct nt_window window =
		nt_selection_window(&command->selection, session->start_ts, session->start_realtime_ns);
	char cpus[NT_CPUS_SQL_MAX], sql[SQL_MAX];
	sqlite3_stmt *statement;

	if (command->digest)
		snprintf(sql, sizeof(sql), "%s", query);
	else
		snprintf(sql, sizeof(sql), PICKED, command->tables.rows,
			 nt_selection_cpus_sql(&command->selection, cpus), query);
	statement = nt_db_query(db, sql, session->id);
	sqlite3_bind_int64(statement, 2, window.from_ts);
	sqlite3_bind_int64(statement, 3, window.to_ts);
	sqlite3_bind_text(statement, 5, command->tables.word, -1, SQLITE_STATIC);
	if (!statement || !command->digest ||
	    sqlite3_bind_text(statement, 4, command->digest, -1, SQLITE_STATIC) == SQLITE_OK)
		return statement;
	nt_db_no_memory(db);
	sqlite3_finalize(statement);
	return NULL;
}

static int end(const struct command *command, sqlite3_stmt *statement)
{
	return nt_db_end(command->sessions.db, statement, "the tables cannot be made");
}

static int find_probe(const struct command *command, bool *has)
{
	sqlite3_stmt *row = nt_db_query(command->sessions.db, command->tables.has_probe, command->session->id);

	*has = nt_db_next(row) && sqlite3_column_int(row, 0);
	return end(command, row);
}

static int make_digest(struct command *command)
{
	struct nt_db *db = command->sessions.db;
	sqlite3_stmt *statement;
	char *digest;
	int error;

	if (!command->tables.digest)
		return 0;
	statement = ask(command, command->tables.digest);
	digest = statement ? nt_result_array(statement) : NULL;
	error = end(command, statement);
	if (!error && (!digest || !nt_foreign_fits(db, digest)))
		error = nt_db_no_memory(db);
	if (!error)
		command->digest = digest;
	else
		free(digest);
	return error;
}

static int read_total(struct command *command)
{
	struct nt_tables_total *total = &command->total;
	sqlite3_stmt *row = ask(command, command->tables.total);

	*total = (struct nt_tables_total){.is_of_part = nt_selection_is_given(&command->selection) ||
							command->session->recording_ns > 0 ||
							command->session->dropped_ns > 0};
	if (nt_db_next(row)) {
		for (int i = 0; i < sqlite3_column_count(row) && i < NT_TOTALS_MAX; i++) {
			total->values[i] = sqlite3_column_int64(row, i);
			total->is_known[i] = sqlite3_column_type(row, i) != SQLITE_NULL;
		}
	}
	return end(command, row);
}

/* ---- for programs ---- */

static void put_total(const struct command *command, struct nt_line *line)
{
	const char *const *names = command->tables.total_names;

	for (size_t i = 0; names[i]; i++)
		nt_line_put(line, names[i], nt_cell_if(command->total.is_known[i], command->total.values[i]));
}

static int json_section(struct command *command, const struct nt_tables_section *section)
{
	struct nt_json *json = &command->sessions.json;
	sqlite3_stmt *row = ask(command, section->sql);

	nt_json_open(json, section->name, '[');
	while (nt_db_next(row)) {
		nt_json_open(json, NULL, '{');
		nt_result_json(json, row);
		nt_json_close(json, '}');
	}
	nt_json_close(json, ']');
	return end(command, row);
}

static int json_session(struct command *command)
{
	struct nt_json *json = &command->sessions.json;
	struct nt_line total = {0};
	int error;

	nt_json_open(json, NULL, '{');
	error = nt_sessions_say_whole(&command->sessions, command->session, &command->selection);
	nt_json_integer(json, "session_id", command->session->id);
	put_total(command, &total);
	nt_json_open(json, "total", '{');
	nt_json_line(json, &total);
	nt_json_close(json, '}');
	for (const struct nt_tables_section *section = command->tables.sections; section->name && !error; section++)
		error = json_section(command, section);
	nt_json_close(json, '}');
	return error;
}

static int csv_section(struct command *command, const struct nt_tables_section *section)
{
	sqlite3_stmt *row = ask(command, section->sql);

	for (int64_t n = 1; nt_db_next(row); n++) {
		for (int i = 0; i < sqlite3_column_count(row); i++)
			nt_sessions_csv_value(&command->sessions, command->session->id, section->name, n,
					      sqlite3_column_name(row, i), nt_result_cell(row, i));
	}
	return end(command, row);
}

static int csv_session(struct command *command)
{
	struct nt_line total = {0};
	int error = 0;

	put_total(command, &total);
	for (size_t i = 0; i < total.n; i++)
		nt_sessions_csv_value(&command->sessions, command->session->id, "total", 1, total.names[i],
				      total.cells[i]);
	for (const struct nt_tables_section *section = command->tables.sections; section->name && !error; section++)
		error = csv_section(command, section);
	return error;
}

/* ---- for people ---- */

static void say(const struct command *command, void (*put)(FILE *line, const struct nt_tables_total *total))
{
	struct nt_prose prose;

	nt_prose_begin(&prose, stdout);
	put(prose.line, &command->total);
	nt_prose_end(&prose, "");
}

static int print_section(struct command *command, const struct nt_tables_section *section)
{
	struct nt_printer *printer = command->sessions.printer;
	struct nt_db *db = command->sessions.db;
	const int64_t limit = command->limit ? command->limit : section->limit;
	sqlite3_stmt *statement = ask(command, section->sql);
	int error;

	if (!statement)
		return -1;
	nt_printer_leave_out(printer, section->leave_out);
	if (section->has_no_sums)
		error = nt_result_print_first(db, statement, printer, limit, section->title);
	else
		error = nt_result_print_top(db, statement, printer, limit, section->title);
	sqlite3_finalize(statement);
	return error;
}

static int print_session(struct command *command)
{
	int error = 0;

	if (command->sessions.shown)
		puts("\n");
	if (nt_sessions_say_whole(&command->sessions, command->session, &command->selection))
		return -1;
	nt_session_head_print(stdout, command->session, &command->selection);
	say(command, command->tables.say_total);
	for (const struct nt_tables_section *section = command->tables.sections; section->name && !error; section++)
		error = print_section(command, section);
	if (error)
		return -1;
	putchar('\n');
	nt_printer_say_left_out(command->sessions.printer, "", "--json and --csv have");
	say(command, command->tables.say_rest);
	return 0;
}

void nt_tables_say_lost(FILE *line, const struct nt_tables_total *total, int64_t lost, const char *record)
{
	const char *where = total->is_of_part ? " in the whole recording" : "";
	char count[NT_HUMAN_MAX];

	if (lost)
		fprintf(line, "%s %s%s lost%s: no figure has %s.", nt_human_count(count, lost), record,
			lost == 1 ? " was" : "s were", where, lost == 1 ? "it" : "them");
	else
		fprintf(line, "No %s was lost%s.", record, where);
}

/* ---- sessions ---- */

static int show_session(struct command *command)
{
	switch (command->sessions.format) {
	case NT_FORMAT_JSON:
		return json_session(command);
	case NT_FORMAT_CSV:
		return csv_session(command);
	default:
		return print_session(command);
	}
}

static int one_session(void *arg, const struct nt_session *session)
{
	struct command *command = arg;
	struct nt_sessions *sessions = &command->sessions;
	struct nt_part part = {.db = sessions->db, .session = session, .selection = &command->selection};
	bool has_probe;
	int error;

	command->session = session;
	command->tables = *command->all;
	if (find_probe(command, &has_probe))
		return -1;
	if (!has_probe)
		nt_session_lacks(session, command->tables.need, sessions->why_not);
	else
		nt_part_choose(&part, sessions->why_not);
	if (sessions->why_not[0])
		return 0;
	if (command->tables.begin && command->tables.begin(&part, &command->tables, sessions->why_not))
		return -1;
	if (sessions->why_not[0])
		return 0;
	error = make_digest(command) || read_total(command);
	if (!error && !command->total.values[0])
		error = nt_lanes_check_cpus(&part, sessions->why_not);
	if (!error && !sessions->why_not[0])
		error = show_session(command);
	free(command->digest);
	command->digest = NULL;
	return error ? -1 : 0;
}

int nt_session_tables_run(const struct nt_session_tables *tables, const struct nt_options *options)
{
	struct command command = {.all = tables, .limit = options->limit};
	struct nt_sessions *sessions = &command.sessions;
	char error[NT_ERROR_MAX];
	int code;

	if (nt_select(&options->selection, &command.selection, error))
		return nt_complain_misused(error);
	code = nt_sessions_open(sessions, options->args[0], NULL, NULL, tables->need, options->format);
	if (!code && nt_db_need(sessions->db, tables->tables))
		code = nt_complain("%s", sessions->db->error);
	if (!code)
		code = nt_sessions_csv_begin(sessions);
	if (!code)
		code = nt_sessions_show(sessions, one_session, &command);
	nt_sessions_close(sessions);
	return code;
}

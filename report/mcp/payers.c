// SPDX-License-Identifier: GPL-2.0-only
/* payers.c - the tool `payers`: who pays for net_rx, in the words and with the SQL of `summary`. */
#include "report/cmd/each_session.h"
#include "report/cmd/options.h"
#include "report/db/result.h"
#include "report/mcp/tools.h"
#include "report/out/prose.h"
#include "report/query/cpus/part_costs.h"
#include "report/query/cpus/read.h"
#include "report/query/groups.h"
#include "report/query/session_head.h"
#include "report/query/uncovered.h"

#define TOP 25

struct payers {
	struct nt_sessions sessions;
	struct nt_selection selection;
	struct nt_part part;
	int64_t limit;
	bool is_estimate;
};

#define FROM_PAID "WITH " NT_PAID_SQL ", " NT_PART_SPAN_SQL

/* The first rows. `rows` is SQL behind FROM_PAID. */
static int print_rows(struct payers *payers, const char *title, const char *rows)
{
	struct nt_db *db = payers->sessions.db;
	sqlite3_stmt *statement;
	char sql[8192];
	int error;

	snprintf(sql, sizeof(sql), FROM_PAID "%s", rows);
	statement = nt_db_query(db, sql, payers->part.session->id);
	if (!statement)
		return -1;
	nt_part_bind(&payers->part, statement);
	nt_print_heading(stdout, "\n%s", title);
	nt_printer_leave_out(payers->sessions.printer, NT_PAYERS_LEAVE_OUT);
	error = nt_result_print_top(db, statement, payers->sessions.printer, payers->limit, NULL);
	sqlite3_finalize(statement);
	return error;
}

/* The rows are read: what is missing on a tape is known from then on. */
static int read_rows(struct payers *payers)
{
	sqlite3_stmt *row = nt_db_query(payers->sessions.db, "SELECT count(*) FROM rx_cost WHERE session_id = ?1",
					payers->part.session->id);

	nt_db_next(row);
	return nt_db_end(payers->sessions.db, row, "who pays cannot be read");
}

static int print_session(struct payers *payers)
{
	const struct nt_session *session = payers->part.session;
	struct nt_sessions *sessions = &payers->sessions;

	if (sessions->shown)
		puts("\n");
	if (read_rows(payers) || nt_sessions_say_whole(sessions, session, &payers->selection))
		return -1;
	nt_session_head_print(stdout, session, &payers->selection);
	if (print_rows(payers, NT_PAYERS_TITLE, NT_PAYERS_SQL) ||
	    print_rows(payers, nt_group(NT_BY_IFACE)->title, nt_group(NT_BY_IFACE)->sql))
		return -1;
	putchar('\n');
	nt_printer_say_left_out(sessions->printer, "", "rx_cost has");
	nt_print_prose(stdout, "", "%s %s `cpu` is a share of one CPU.", NT_PAYERS_MEAN, nt_group(NT_BY_IFACE)->note);
	nt_print_prose(stdout, "", "at_least and at_most bound what is not known exactly.");
	if (payers->is_estimate)
		nt_print_prose(stdout, "", NT_PAYERS_ESTIMATED);
	return nt_uncovered_print(stdout, sessions->db, session->id, NULL, "this recording");
}

static int show_session(struct payers *payers)
{
	char *why_not = payers->sessions.why_not;
	bool are_known;

	if (nt_payers_are_known(payers->sessions.db, payers->part.session->id, &are_known))
		return -1;
	if (!are_known) {
		nt_fail(why_not, "the probe deliver was off: record with --probes default");
		return 0;
	}
	if (nt_lanes_check_process(&payers->part, why_not))
		return -1;
	if (why_not[0])
		return 0;
	if (nt_selection_is_given(&payers->selection) && nt_part_costs(&payers->part, true, &payers->is_estimate))
		return -1;
	return print_session(payers);
}

static int one_session(void *arg, const struct nt_session *session)
{
	struct payers *payers = arg;
	char *why_not = payers->sessions.why_not;

	payers->part = (struct nt_part){.db = payers->sessions.db, .session = session, .selection = &payers->selection};
	nt_part_choose(&payers->part, why_not);
	if (!nt_selection_is_given(&payers->selection))
		why_not[0] = 0;
	return why_not[0] ? 0 : show_session(payers);
}

static int run(const struct nt_options *options)
{
	struct payers payers = {.limit = options->limit ? options->limit : TOP};
	char error[NT_ERROR_MAX];
	int code;

	if (nt_select(&options->selection, &payers.selection, error))
		return nt_complain_misused(error);
	code = nt_sessions_open(&payers.sessions, options->args[0], NULL, options->names, NULL, options->format);
	if (!code && nt_db_need(payers.sessions.db, NT_TABLE_BIT(NT_TABLE_RX_COST)))
		code = nt_complain("%s", payers.sessions.db->error);
	if (!code)
		code = nt_sessions_show(&payers.sessions, one_session, &payers);
	nt_sessions_close(&payers.sessions);
	return code;
}

static const struct nt_option options[] = {
	NT_OPTIONS_TIME,
	NT_OPTIONS_WHO,
	NT_OPTION_LIMIT("N rows of each table, or all (25)"),
	NT_OPTIONS_END,
};

const struct nt_command nt_mcp_payers = {.name = "payers", .options = options, .run = run};

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session_tables.h - the frame of commands that show what one probe saw, in a few tables: `drops`, `retransmits` and
 * `wakeups`. A command is SQL and sentences; this chooses the rows, and writes text, JSON and CSV.
 *
 * Parameters of all SQL: ?1 the session, ?2 and ?3 the selected time, ?5 a word of the command.
 */
#pragma once

#include <stdio.h>

#include "report/cmd/each_session.h"
#include "report/cmd/options.h"
#include "report/query/groups.h"

struct nt_tables_section {
	const char *name; /* in JSON and CSV; NULL ends the list */
	const char *title; /* for people */
	int64_t limit; /* rows that people get without --limit */
	const char *leave_out; /* of a narrow line, as nt_printer_leave_out has it */
	const char *sql;
	bool has_no_sums; /* for people */
};

#define NT_TOTALS_MAX 8

/* The figures of a session that the sentences are made of. */
struct nt_tables_total {
	int64_t values[NT_TOTALS_MAX]; /* in the order of struct nt_session_tables */
	bool is_known[NT_TOTALS_MAX];
	bool is_of_part; /* a part of the recording is shown: what counts all of it must say so */
};

struct nt_session_tables {
	const struct nt_need *need;
	const char *word; /* or NULL */
	/*
	 * NULL; or what comes before all other SQL. `own`: a copy of this one, which it may change for the session.
	 * `why_not`: the session has not what was asked for. 0, or -1 and db->error.
	 */
	int (*begin)(const struct nt_part *part, struct nt_session_tables *own, char why_not[NT_ERROR_MAX]);
	const char *has_probe; /* SQL: whether the recording has what is needed */
	uint64_t tables; /* that must be there, one NT_TABLE_BIT each */
	const char *rows; /* a table or view with ts, and cpu where the command has --cpu: its selected rows are
			     `picked`, for the SQL below */
	/*
	 * NULL; or SQL over `picked` that is run once, where reading these rows takes long. The SQL below then has no
	 * `picked`, but this result: json_each(?4), of which each value is a row, an array.
	 */
	const char *digest;
	const char *total; /* SQL of one row of integers, and their names */
	const char *total_names[NT_TOTALS_MAX + 1];
	const struct nt_tables_section *sections;
	/* For people, whole sentences: the answer; and what stands below the tables. */
	void (*say_total)(FILE *line, const struct nt_tables_total *total);
	void (*say_rest)(FILE *line, const struct nt_tables_total *total);
};

/* Runs the command. Gives an exit code. */
int nt_session_tables_run(const struct nt_session_tables *tables, const struct nt_options *options);

/* The options that each of them has. */
#define NT_OPTIONS_TABLES(limits)                                                                                      \
	NT_OPTIONS_TIME, NT_OPTION_CPU, NT_OPTION_LIMIT("N rows of each table, or all (" limits ")"), NT_OPTION_JSON,  \
		NT_OPTION_CSV, NT_OPTION_HELP, NT_OPTIONS_END

/* How many records of a kind the tape declares lost: a value of `total`, of the whole recording. */
#define NT_TABLES_LOST_SQL(kind)                                                                                       \
	"(SELECT ifnull(sum(lost), 0) FROM record_count WHERE session_id = ?1 AND kind = '" kind "')"
/* The sentence about it. `record`: "drop record". */
void nt_tables_say_lost(FILE *line, const struct nt_tables_total *total, int64_t lost, const char *record);

/*
 * Behind rows `d` that have socket_id: the socket, and its process `p`: the one that it cost most in the whole
 * recording. Of a socket that no process used it is the one that holds it.
 */
#define NT_TABLES_PROCESS_OF_SOCKET_SQL                                                                                \
	"LEFT JOIN socket AS k ON k.session_id = ?1 AND k.id = d.socket_id "                                           \
	"LEFT JOIN net_cost_socket AS n ON n.session_id = ?1 AND n.socket_id = d.socket_id "                           \
	"LEFT JOIN process AS p ON p.session_id = ?1 AND p.upid = coalesce(n.upid, k.upid) "
/* The tables that this needs. */
#define NT_TABLES_OF_SOCKETS (NT_TABLE_BIT(NT_TABLE_SOCK_COST) | NT_TABLE_BIT(NT_TABLE_RX_COST))
#define NT_TABLES_SOCKET_SQL NT_SOCKET_ENDS_SQL ", k.proto AS proto, p.name AS process"
#define NT_TABLES_PROCESS_SQL "coalesce(p.name, '(unknown)') AS process, p.pid AS pid"

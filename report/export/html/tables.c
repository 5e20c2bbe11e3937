// SPDX-License-Identifier: GPL-2.0-only
/*
 * tables.c - see parts.h. All queries stand after the same common table expressions, which are what was
 * selected.
 */
#include "report/export/html/parts.h"

#include <stdlib.h>
#include <string.h>

#include "report/db/result.h"
#include "report/query/disks.h"
#include "report/query/elsewhere.h"
#include "report/query/energy.h"
#include "report/query/flows.h"
#include "report/query/groups.h"
#include "report/query/kmem.h"
#include "report/query/memory.h"
#include "report/query/self_cost.h"
#include "report/query/waits.h"
#include "report/util/array.h"
#include "report/util/ends.h"

/* ---- what all queries build on: what NT_GROUP_SQL has, and the rows of skb_drop, tcp_retransmit and loss ---- */

#define SAMPLES                                                                                                        \
	", dropped AS (SELECT * FROM skb_drop "                                                                        \
	"WHERE session_id = ?1 AND ts >= ?2 AND ts < ?3 AND %s), "                                                     \
	"resent AS (SELECT * FROM tcp_retransmit "                                                                     \
	"WHERE session_id = ?1 AND ts >= ?2 AND ts < ?3 AND %s), "                                                     \
	"missed AS (SELECT * FROM loss "                                                                               \
	"WHERE session_id = ?1 AND ts < ?3 AND ts + dur >= ?2 AND %s), waited AS " NT_WAITS_OF_SQL("%s")

/* The query behind all that it may build on; the caller's to free. NULL: out of memory. */
static char *make_sql(const struct nt_html_scope *scope, const char *query)
{
	const char *cpus = scope->cpus;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fputs("WITH " NT_GROUP_SQL, out);
	fprintf(out, SAMPLES, cpus, cpus, cpus, cpus);
	fputs(query, out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static sqlite3_stmt *prepare(const struct nt_html_scope *scope, const char *query)
{
	char *sql = make_sql(scope, query);
	sqlite3_stmt *statement = NULL;

	if (sql)
		statement = nt_html_prepare(scope, sql);
	else
		nt_db_no_memory(scope->db);
	free(sql);
	return statement;
}

/* Ends a statement of which all rows were read. */
static int finish(const struct nt_html_scope *scope, sqlite3_stmt *statement)
{
	return nt_db_end(scope->db, statement, "the page cannot be made");
}

/* The row at hand. Texts on a tape have bounds; in a database, which may be anybody's, they have none. */
static void write_cells(struct nt_json *json, sqlite3_stmt *row, int columns, bool has_names)
{
	for (int i = 0; i < columns; i++) {
		struct nt_cell cell = nt_result_cell(row, i);

		if (cell.type >= NT_CELL_TEXT && cell.size > NT_HTML_TEXT_BYTES)
			cell.size = NT_HTML_TEXT_BYTES;
		nt_json_cell(json, has_names ? sqlite3_column_name(row, i) : NULL, &cell);
	}
}

/* ---- facts ---- */

static const char facts_sql[] =
	"SELECT session_id, uuid, host, kernel, machine, os, virtual, tool, stop, start_realtime_ns, "
	"dur AS dur_ns, cpus AS cpus_count, events AS events_count, lost AS lost_count, "
	"complete AND NOT EXISTS (SELECT 1 FROM problem AS p WHERE p.session_id = s.session_id) AS complete, "
	"(SELECT sum(lost) FROM record_count WHERE session_id = ?1 AND kind IN " NT_LOOSE_KINDS_SQL
	") AS lost_samples_count, "
	"(SELECT sum(most - least) * (1000000000 / s.clock_ticks) FROM "
	"(SELECT max(value) AS most, min(value) AS least FROM proc_counter WHERE session_id = ?1 "
	"AND source = '/proc/stat' AND name = 'steal' AND cpu IS NOT NULL GROUP BY cpu)) AS stolen_ns, "
	"CAST((" NT_META_SQL(NT_TAPE_DROPPED_NS) ") AS INTEGER) AS dropped_ns, (" NT_META_SQL(
		NT_META_PROBES) ") AS probes "
				"FROM session AS s WHERE session_id = ?1";

/* The first row's cells as the members of an object. Takes the statement, which may be NULL. */
static int write_object(const struct nt_html_scope *scope, struct nt_json *json, const char *name,
			sqlite3_stmt *statement)
{
	nt_json_open(json, name, '{');
	if (nt_db_next(statement))
		write_cells(json, statement, sqlite3_column_count(statement), true);
	nt_json_close(json, '}');
	return finish(scope, statement);
}

int nt_html_facts(const struct nt_html_scope *scope, struct nt_json *json)
{
	int error = write_object(scope, json, "session", prepare(scope, facts_sql));

	return error ? error : write_object(scope, json, "recorder", nt_html_prepare(scope, NT_SELF_RECORDER_SQL));
}

/* ---- tables ---- */

struct table {
	const char *name, *title;
	const char *note; /* what its figures mean and leave out; "" if that is plain */
	const char *sql;
	const char *by; /* of a grouping: its word for --by; else NULL */
	const char *more; /* a query for one more sentence, also where there is no row; or NULL */
};

#define LOCAL NT_ENDPOINT_SQL("k.", "src", "sport") "AS local, "
#define PEER NT_ENDPOINT_SQL("k.", "dst", "dport") "AS peer, "
#define JOIN_SOCKET "LEFT JOIN socket AS k ON k.session_id = ?1 AND k.id = socket_id "

#define FLOW_ENDS                                                                                                      \
	NT_ENDPOINT_SQL("f.", "src", "sport") "AS source, " NT_ENDPOINT_SQL("f.", "dst", "dport") "AS destination, "
#define NET_RX NT_PAID_FIGURES_SQL("net_rx_ns")

static const struct table tables[] = {
	{"payers", NT_PAYERS_TITLE,
	 "Each process for its sockets, and packets that are no process's: forwarded, dropped, to no known socket "
	 "(other), or not known at all (unattributed). The driver's time is that of drivers and XDP. Of a database, "
	 "what a part pays is estimated in the 100 ms that it cuts, between the bounds.",
	 NT_PAYERS_WHERE_SQL("net_rx_ns", NT_IF_PAYERS_ARE_KNOWN_SQL), NULL, NULL},
	{"rx_flows", "Flows by what receiving their packets cost",
	 "Times are those of net_rx. A row without a source is of several flows, or of none.",
	 "SELECT r.payer AS payer, f.proto, " FLOW_ENDS "v.name AS device, " NET_RX "FROM paid AS r "
	 "LEFT JOIN flow AS f ON f.session_id = ?1 AND f.id = r.flow_id "
	 "LEFT JOIN net_device AS v ON v.session_id = ?1 AND v.id = r.device_id " NT_IF_PAYERS_ARE_KNOWN_SQL
	 "GROUP BY r.flow_id, r.payer, r.device_id ORDER BY net_rx_ns DESC, packets_count DESC, 1, 2, 3, 4",
	 NULL, NULL},
	{"flows", NT_FLOWS_TITLE,
	 NT_FLOWS_NOTE
	 " Of all processes and CPUs. Flows are counted about once a second: of a part, such times count as "
	 "began in it.",
	 ", " NT_FLOWS_OF_ALL_SQL NT_FLOWS_ROWS_SQL, NULL, NULL},
	{"drops", "Dropped packets",
	 "Packets that the kernel freed undelivered, by reason and place, without ends of TCP connections: those have "
	 "no bytes.",
	 "SELECT coalesce(p.reason, '(unknown)') AS reason, coalesce(p.location, '(unknown)') AS location, "
	 "v.name AS device, v.netns, count(*) AS packets_count, sum(p.length) AS length_bytes FROM dropped AS p "
	 "LEFT JOIN net_device AS v ON v.session_id = ?1 AND v.id = p.device_id "
	 "GROUP BY p.reason, p.location, p.device_id ORDER BY packets_count DESC, 1, 2, 3",
	 NULL,
	 "SELECT printf('%,d end%s of TCP connections without bytes %s left out in the whole recording.', n, "
	 "CASE n WHEN 1 THEN '' ELSE 's' END, CASE n WHEN 1 THEN 'was' ELSE 'were' END) FROM (SELECT " NT_SELF_ENDS_SQL
	 " AS n) WHERE n > 0"},
	{"retransmits", "Retransmits", "Segments that TCP sent again.",
	 "SELECT p.what, p.state, " LOCAL PEER "count(*) AS segments_count, sum(p.length) AS payload_bytes "
	 "FROM resent AS p " JOIN_SOCKET
	 "GROUP BY p.what, p.state, p.socket_id ORDER BY segments_count DESC, 1, 2, 3, 4",
	 NULL, NULL},
	{"softirq_waits", NT_WAITS_TITLE, NT_WAITS_NOTE, NT_WAITS_FIGURES_SQL "FROM waited " NT_WAITS_GROUP_SQL, NULL,
	 NULL},
	{"block_devices", NT_DISKS_TITLE, NT_DISKS_NOTE, NT_DISKS_SQL, NULL, NULL},
	{"block_payers", NT_DISK_PAYERS_TITLE, NT_DISK_PAYERS_NOTE " Of all processes and CPUs.", NT_DISK_PAYERS_SQL,
	 NULL, NULL},
	{"memory", NT_MEMORY_TITLE, NT_MEMORY_NOTE " Of all processes and CPUs.", ", " NT_MEMORY_SQL, NULL, NULL},
	{"kmem", NT_KMEM_TITLE, NT_KMEM_NOTE, ", " NT_KMEM_SQL, NULL, NULL},
	{"pressure", NT_PRESSURE_TITLE, NT_PRESSURE_NOTE, NT_PRESSURE_SQL, NULL, NULL},
	{"socket_memory", NT_SOCKET_MEMORY_TITLE, NT_SOCKET_MEMORY_NOTE, NT_SOCKET_MEMORY_SQL, NULL, NULL},
	{"energy", NT_ENERGY_TITLE, NT_ENERGY_NOTE, NT_ENERGY_SQL, NULL, NULL},
	{"elsewhere", "Caused by the network elsewhere",
	 NT_ELSEWHERE_NOTE " Sums of the whole recording and all CPUs, whatever was selected.",
	 NT_ELSEWHERE_FIRST_SQL("5"), NULL, NULL},
	{"loss", "Lost records",
	 "Stretches of time about lost records. A lost sample (latency, drop, retransmit, wakeup, raise, block_io, "
	 "memory, kmem) leaves no time uncovered.",
	 "SELECT kind, why, count(*) AS stretches_count, sum(count) AS records_count, "
	 "sum(count IS NULL) AS of_unknown_number_count FROM missed "
	 "GROUP BY kind, why ORDER BY records_count DESC, stretches_count DESC, 1, 2",
	 NULL, NULL},
	{"records", "Records on the tape", "Counts of the whole recording and all CPUs, whatever was selected.",
	 "SELECT kind, sum(records) AS records_count, sum(lost) AS lost_count FROM record_count "
	 "WHERE session_id = ?1 GROUP BY kind ORDER BY records_count DESC, kind",
	 NULL, NULL},
	{"recorder_programs", "The recorder's programs in the kernel", "", NT_SELF_PROGRAMS_SQL, NULL, NULL},
};
#define MAX_COLUMNS 32

/* A row for all that were left out. */
struct rest {
	int64_t rows;
	struct {
		bool is_there;
		double sum; /* as SQLite's total(): from 2^53 on rounded, as numbers of the page are */
	} columns[MAX_COLUMNS];
};

/* Whether the column's values can be added up. */
static bool is_sum(const char *name)
{
	return nt_ends_in(name, "_ns") || nt_ends_in(name, "_bytes") || nt_ends_in(name, "_count") ||
	       nt_ends_in(name, "_share");
}

static void add_rest(struct rest *rest, sqlite3_stmt *row, int columns)
{
	rest->rows++;
	for (int i = 0; i < columns; i++) {
		if (!is_sum(sqlite3_column_name(row, i)) || sqlite3_column_type(row, i) == SQLITE_NULL)
			continue;
		rest->columns[i].is_there = true;
		rest->columns[i].sum += sqlite3_column_double(row, i);
	}
}

static void write_rest(struct nt_json *json, const struct rest *rest, int columns)
{
	nt_json_integer(json, "rest_rows", rest->rows);
	nt_json_open(json, "rest", '[');
	for (int i = 0; rest->rows && i < columns; i++) {
		if (rest->columns[i].is_there)
			nt_json_real(json, NULL, rest->columns[i].sum);
		else
			nt_json_text(json, NULL, NULL);
	}
	nt_json_close(json, ']');
}

static int write_note(const struct nt_html_scope *scope, const struct table *table, struct nt_json *json)
{
	sqlite3_stmt *row;

	nt_json_text(json, "note", table->note);
	if (!table->more)
		return 0;
	row = prepare(scope, table->more);
	if (nt_db_next(row))
		nt_json_text(json, "more", nt_db_text(row, 0));
	return finish(scope, row);
}

static void write_columns(struct nt_json *json, sqlite3_stmt *statement, int columns)
{
	nt_json_open(json, "columns", '[');
	for (int i = 0; i < columns; i++)
		nt_json_text(json, NULL, sqlite3_column_name(statement, i));
	nt_json_close(json, ']');
}

static int write_rows(const struct nt_html_scope *scope, const struct table *table, struct nt_json *json)
{
	sqlite3_stmt *statement = prepare(scope, table->sql);
	struct rest rest = {0};
	int columns = sqlite3_column_count(statement);

	columns = columns < MAX_COLUMNS ? columns : MAX_COLUMNS;
	write_columns(json, statement, columns);
	nt_json_open(json, "rows", '[');
	for (int row = 0; nt_db_next(statement); row++) {
		if (row >= NT_HTML_ROWS) {
			add_rest(&rest, statement, columns);
			continue;
		}
		nt_json_open(json, NULL, '[');
		write_cells(json, statement, columns, false);
		nt_json_close(json, ']');
	}
	nt_json_close(json, ']');
	write_rest(json, &rest, columns);
	return finish(scope, statement);
}

static int write_table(const struct nt_html_scope *scope, const struct table *table, struct nt_json *json)
{
	int error;

	nt_json_open(json, NULL, '{');
	nt_json_text(json, "name", table->name);
	nt_json_text(json, "by", table->by);
	nt_json_text(json, "title", table->title);
	error = write_note(scope, table, json) || write_rows(scope, table, json) ? -1 : 0;
	nt_json_close(json, '}');
	return error;
}

static int write_group(const struct nt_html_scope *scope, enum nt_by by, struct nt_json *json)
{
	const struct nt_group_info *group = nt_group(by);
	const struct table table = {group->rows, group->title, group->note, group->sql, nt_by_name(by), NULL};

	return write_table(scope, &table, json);
}

/* Energy is that of all CPUs and processes: not where some were selected. */
static bool is_known(const struct nt_html_scope *scope, const struct table *table)
{
	return !(scope->selection->n_cpus || scope->selection->process) || strcmp(table->name, "energy");
}

int nt_html_tables(const struct nt_html_scope *scope, struct nt_json *json)
{
	enum nt_by by;
	int error = 0;

	nt_json_open(json, "tables", '[');
	for (size_t i = 0; (by = nt_by_nth(NT_BY_OF_COSTS, i)) != NT_BY_NONE && !error; i++)
		error = write_group(scope, by, json);
	for (size_t i = 0; i < NT_COUNT(tables) && !error; i++)
		if (is_known(scope, &tables[i]))
			error = write_table(scope, &tables[i], json);
	nt_json_close(json, ']');
	return error;
}

/* ---- texts ---- */

static int write_texts(const struct nt_html_scope *scope, struct nt_json *json, const char *name, const char *sql)
{
	sqlite3_stmt *statement = prepare(scope, sql);
	int n = 0;

	nt_json_open(json, name, '[');
	for (; n < NT_HTML_TEXTS && nt_db_next(statement); n++)
		write_cells(json, statement, 1, false);
	if (n == NT_HTML_TEXTS && nt_db_next(statement))
		nt_json_text(json, NULL, "There are more: `nettape-report info` of the tape lists all.");
	nt_json_close(json, ']');
	return finish(scope, statement);
}

int nt_html_texts(const struct nt_html_scope *scope, struct nt_json *json)
{
	int error = write_texts(scope, json, "uncovered", NT_META_SQL(NT_META_UNCOVERED) " ORDER BY rowid");

	return error ? error
		     : write_texts(scope, json, "problems",
				   "SELECT text FROM problem WHERE session_id = ?1 ORDER BY rowid");
}

/* ---- what happened over time ---- */

static const struct {
	const char *name, *title;
	const char *rows; /* of which common table expression */
} events[] = {
	{"drops", "Dropped packets", "dropped"},
	{"retransmits", "Retransmits", "resent"},
};

static int write_counts(const struct nt_html_scope *scope, struct nt_json *json, const char *name, const char *title,
			const char *sql)
{
	sqlite3_stmt *statement = prepare(scope, sql);

	nt_json_open(json, NULL, '{');
	nt_json_text(json, "name", name);
	nt_json_text(json, "title", title);
	nt_json_open(json, "counts", '[');
	while (nt_db_next(statement)) {
		nt_json_integer(json, NULL, sqlite3_column_int64(statement, 0));
		nt_json_integer(json, NULL, sqlite3_column_int64(statement, 1));
	}
	nt_json_close(json, ']');
	nt_json_close(json, '}');
	return finish(scope, statement);
}

int nt_html_events(const struct nt_html_scope *scope, const struct nt_html_costs *costs, struct nt_json *json)
{
	int error = 0;

	nt_json_open(json, "events", '[');
	for (size_t i = 0; costs->steps && i < NT_COUNT(events) && !error; i++) {
		char sql[128];

		snprintf(sql, sizeof(sql), "SELECT (ts - ?2) / %lld, count(*) FROM %s GROUP BY 1",
			 (long long)costs->step_ns, events[i].rows);
		error = write_counts(scope, json, events[i].name, events[i].title, sql);
	}
	nt_json_close(json, ']');
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * summary.c - see summary.h.
 */
#include "report/query/cpus/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/prose.h"
#include "report/out/terminal.h"
#include "report/query/groups.h"
#include "report/timeline/timeline.h"
#include "report/util/array.h"

#define WIDTH_WITH_TIMES 130 /* of a line that has room for times of each owner, which take more than shares */

/* Columns of NT_SUMMARY_CPUS_SQL behind the owners. */
enum { COLUMN_ALL = 1 + NT_OWNER_COUNT, COLUMN_EVENTS, COLUMN_LOST, COLUMN_LOST_SAMPLES, COLUMN_STOLEN };

static struct nt_summary_line read_line(sqlite3_stmt *statement)
{
	struct nt_summary_line line = {.is_total = sqlite3_column_type(statement, 0) == SQLITE_NULL};

	line.cpu = sqlite3_column_int(statement, 0);
	for (int owner = 0; owner < NT_OWNER_COUNT; owner++)
		line.ns[owner] = (uint64_t)sqlite3_column_int64(statement, 1 + owner);
	line.there_ns = (uint64_t)sqlite3_column_int64(statement, COLUMN_ALL) - line.ns[NT_OWNER_OFFLINE];
	line.events = sqlite3_column_int64(statement, COLUMN_EVENTS);
	line.lost = sqlite3_column_int64(statement, COLUMN_LOST);
	line.lost_samples = sqlite3_column_int64(statement, COLUMN_LOST_SAMPLES);
	line.has_stolen = sqlite3_column_type(statement, COLUMN_STOLEN) != SQLITE_NULL;
	line.stolen_ns = (uint64_t)sqlite3_column_int64(statement, COLUMN_STOLEN);
	return line;
}

/* `offline` has a column only where a CPU was: rare, and the line is long. */
static bool is_shown(int owner, bool with_offline)
{
	return owner != NT_OWNER_OFFLINE || with_offline;
}

#define COLUMNS (1 + NT_OWNER_COUNT + 2)

struct table {
	struct nt_printer *printer;
	bool with_offline, with_times, with_counts;
};

static int begin(const struct table *table)
{
	const char *names[COLUMNS];
	size_t n = 0;

	names[n++] = "CPU";
	for (int owner = 0; owner < NT_OWNER_COUNT; owner++) {
		if (is_shown(owner, table->with_offline))
			names[n++] = nt_owner_name((enum nt_owner)owner);
	}
	if (table->with_counts) {
		names[n++] = "events_count";
		names[n++] = "lost_count";
	}
	nt_printer_leave_out(table->printer,
			     "events_count,lost_count,net_tx,hardirq,softirq,offline,idle,task,uncovered");
	return nt_printer_begin(table->printer, n, names);
}

/* Without its sign: the heading has it. */
static const char *percent(char text[NT_HUMAN_MAX], uint64_t part, uint64_t whole)
{
	nt_human_share(text, part, whole);
	if (strchr(text, ' '))
		*strchr(text, ' ') = 0;
	return text;
}

/* A row of shares, or of times below it. */
static int print_row(const struct table *table, const struct nt_summary_line *line, bool of_times)
{
	struct nt_cell cells[COLUMNS];
	char texts[NT_OWNER_COUNT][NT_HUMAN_MAX], label[NT_HUMAN_MAX] = "all";
	size_t n = 0;

	if (!line->is_total)
		snprintf(label, sizeof(label), "%d", line->cpu);
	cells[n++] = nt_cell_label(of_times ? "" : label);
	for (int owner = 0; owner < NT_OWNER_COUNT; owner++) {
		uint64_t whole = line->there_ns + (owner == NT_OWNER_OFFLINE ? line->ns[NT_OWNER_OFFLINE] : 0);

		if (is_shown(owner, table->with_offline))
			cells[n++] = nt_cell_figure(of_times ? nt_human_ns(texts[owner], line->ns[owner])
							     : percent(texts[owner], line->ns[owner], whole));
	}
	if (table->with_counts) {
		cells[n++] = of_times ? nt_cell_figure("") : nt_cell_integer(line->events);
		cells[n++] = of_times ? nt_cell_figure("") : nt_cell_integer(line->lost);
	}
	return nt_printer_row(table->printer, cells);
}

static int print_line(const struct table *table, const struct nt_summary_line *line)
{
	int error = print_row(table, line, false);

	return error || !table->with_times ? error : print_row(table, line, true);
}

static uint64_t sum_of_network(const uint64_t ns[NT_OWNER_COUNT])
{
	uint64_t sum = 0;

	for (unsigned int owner = 0; owner < NT_OWNER_COUNT; owner++)
		sum += NT_NETWORK_OWNERS >> owner & 1 ? ns[owner] : 0;
	return sum;
}

static const struct nt_summary_line *total_of(const struct nt_summary_cpus *cpus)
{
	static const struct nt_summary_line none;

	return cpus->n ? &cpus->lines[cpus->n - 1] : &none;
}

void nt_summary_print_network(const struct nt_summary_cpus *cpus)
{
	const struct nt_summary_line *total = total_of(cpus);
	const uint64_t *ns = total->ns;
	uint64_t net = sum_of_network(ns);
	char part[NT_HUMAN_MAX], whole[NT_HUMAN_MAX], share[NT_HUMAN_MAX], most[NT_HUMAN_MAX];

	nt_human_share(most, net + ns[NT_OWNER_UNCOVERED], total->there_ns);
	nt_print_prose(stdout, "", "Network stack (net_rx + net_tx + send + recv): %s of %s of CPU time, %s%s%s%s.",
		       nt_human_ns(part, net), nt_human_ns(whole, total->there_ns),
		       nt_human_share(share, net, total->there_ns), ns[NT_OWNER_UNCOVERED] ? "; up to " : "",
		       ns[NT_OWNER_UNCOVERED] ? most : "",
		       ns[NT_OWNER_UNCOVERED] ? " if all uncovered time was the network's" : "");
}

static void print_lost_and_stolen(const struct nt_summary_line *total)
{
	char part[NT_HUMAN_MAX], whole[NT_HUMAN_MAX], share[NT_HUMAN_MAX];

	if (total->lost > total->lost_samples)
		nt_print_prose(stdout, "", "%s records were lost; the time about them is uncovered and has no owner.",
			       nt_human_count(part, total->lost - total->lost_samples));
	if (total->lost_samples)
		nt_print_prose(stdout, "", "%s samples were lost; no time is uncovered by that.",
			       nt_human_count(part, total->lost_samples));
	if (total->has_stolen && total->stolen_ns)
		nt_print_prose(stdout, "",
			       "Of the %s of CPU time, up to %s (%s) was stolen by the hypervisor; it counts as time "
			       "of the owners that ran.",
			       nt_human_ns(whole, total->there_ns), nt_human_ns(part, total->stolen_ns),
			       nt_human_share(share, total->stolen_ns, total->there_ns));
}

/* Whether the recording saw operations begin: a tape that does not name its probes did. */
#define BEGINS_SQL                                                                                                     \
	"SELECT " NT_HAS_PROBE_SQL("socket") " AND NOT EXISTS "                                                        \
					     "(" NT_META_SQL(NT_META_PLAN) " AND value || ' ' LIKE "                   \
									   "'socket ends %')"

/* Without their begins, operations have no time: zeros there would mislead. */
static int print_unknown(struct nt_db *db, int64_t session_id)
{
	sqlite3_stmt *statement = nt_db_query(db, BEGINS_SQL, session_id);

	if (nt_db_next(statement) && !sqlite3_column_int(statement, 0))
		nt_print_prose(stdout, "",
			       "When sends and receives began was not recorded: their time is in task, and not in the "
			       "network's.");
	return nt_db_end(db, statement, "the summary cannot be made");
}

int nt_summary_print_doubts(struct nt_db *db, const struct nt_summary_cpus *cpus, int64_t session_id)
{
	print_lost_and_stolen(total_of(cpus));
	return print_unknown(db, session_id);
}

/* Where no rows have them: the times of all CPUs together. */
static void print_times(const struct nt_summary_line *total, bool with_offline)
{
	char text[NT_OWNER_COUNT * (NT_HUMAN_MAX + 16)], time[NT_HUMAN_MAX];
	size_t at = 0;

	for (int owner = 0; owner < NT_OWNER_COUNT; owner++) {
		if (is_shown(owner, with_offline))
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %s", at ? ", " : "",
					       nt_owner_name((enum nt_owner)owner),
					       nt_human_ns(time, total->ns[owner]));
	}
	nt_print_prose(stdout, "", "Time of all CPUs: %s.", text);
}

#define OWNED_SQL                                                                                                      \
	"owned AS (SELECT cpu, owner, sum(spent_ns) AS ns FROM cpu_cost WHERE session_id = "                           \
	"?1 " NT_GROUP_OF_PROCESS_SQL "GROUP BY cpu, owner), "
/* Of a part of a recording (import --from), too, nobody knows what was stolen. */
#define WHOLE_SQL                                                                                                      \
	"counted AS (SELECT cpu, sum(records) AS events, sum(lost) AS lost, "                                          \
	"sum(CASE WHEN kind IN " NT_LOOSE_KINDS_SQL " THEN lost ELSE 0 END) AS lost_samples FROM record_count "        \
	"WHERE session_id = ?1 GROUP BY cpu), "                                                                        \
	"stolen AS (SELECT cpu, (max(value) - min(value)) * (1000000000 / "                                            \
	"(SELECT clock_ticks FROM session WHERE session_id = ?1)) AS stolen_ns FROM proc_counter "                     \
	"WHERE session_id = ?1 AND source = '/proc/stat' AND name = 'steal' AND cpu IS NOT NULL "                      \
	"AND NOT EXISTS (" NT_META_SQL(NT_LOAD_RECORDING_START) ") GROUP BY cpu) "
#define PART_SQL                                                                                                       \
	"counted AS (SELECT NULL AS cpu, NULL AS events, NULL AS lost, NULL AS lost_samples "                          \
	"WHERE 0), stolen AS (SELECT NULL AS cpu, NULL AS stolen_ns WHERE 0) "
#define SQL_MAX 8192

sqlite3_stmt *nt_summary_query(const struct nt_part *part, bool is_whole, const char *query)
{
	sqlite3_stmt *statement;
	char sql[SQL_MAX];

	snprintf(sql, sizeof(sql), "WITH " OWNED_SQL "%s%s", is_whole ? WHOLE_SQL : PART_SQL, query);
	statement = nt_db_query(part->db, sql, part->session->id);
	nt_part_bind(part, statement);
	return statement;
}

int nt_summary_read_cpus(const struct nt_part *part, bool is_whole, struct nt_summary_cpus *cpus)
{
	struct nt_db *db = part->db;
	sqlite3_stmt *statement = nt_summary_query(part, is_whole, NT_SUMMARY_CPUS_SQL);
	int error = 0;

	*cpus = (struct nt_summary_cpus){.with_counts = is_whole};
	while (!error && nt_db_next(statement)) {
		error = NT_ROOM(cpus->lines, cpus->room, cpus->n + 1);
		if (!error)
			cpus->lines[cpus->n++] = read_line(statement);
	}
	if (nt_db_end(db, statement, "the summary cannot be made"))
		return -1;
	return error ? nt_db_no_memory(db) : 0;
}

void nt_summary_release_cpus(struct nt_summary_cpus *cpus)
{
	free(cpus->lines);
	*cpus = (struct nt_summary_cpus){0};
}

int nt_summary_print_cpus(const struct nt_summary_cpus *cpus, struct nt_printer *printer)
{
	const struct nt_summary_line *total = total_of(cpus);
	const struct table table = {
		.printer = printer,
		.with_counts = cpus->with_counts,
		.with_offline = total->ns[NT_OWNER_OFFLINE] > 0,
		.with_times = nt_terminal_find(stdout, NT_FORMAT_TABLE).width >= WIDTH_WITH_TIMES,
	};
	int error;

	nt_print_heading(stdout, "\nOwners of each CPU's time, in %%%s", table.with_times ? " and as time" : "");
	error = begin(&table);
	for (size_t i = 0; i < cpus->n && !error; i++)
		error = print_line(&table, &cpus->lines[i]);
	if (error)
		return error;
	nt_printer_end(printer);
	if (!table.with_times)
		print_times(total, table.with_offline);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * self_cost.c - see self_cost.h.
 */
#include "report/query/self_cost.h"

#include <stdio.h>

#include "report/out/output.h"
#include "report/out/prose.h"
#include "schema/spared.h"

enum { LOADING_CPU = 4, RECORDING, RECORDING_CPU, RECORDING_SHARE, ENDING_CPU };

/* A database may be anybody's: less than nothing is nothing. */
static uint64_t number(sqlite3_stmt *row, int column)
{
	int64_t value = sqlite3_column_int64(row, column);

	return value > 0 ? (uint64_t)value : 0;
}

/* The figures that the recorder printed at its end. */
static void say_threads(sqlite3_stmt *row, bool is_dropped)
{
	char loading[NT_HUMAN_MAX], recording[NT_HUMAN_MAX], ending[NT_HUMAN_MAX];

	nt_human_ns(loading, number(row, LOADING_CPU));
	nt_human_ns(ending, number(row, ENDING_CPU));
	if (sqlite3_column_type(row, RECORDING) != SQLITE_NULL)
		nt_print_prose(
			stdout, "  ",
			"Its threads took %s of CPU time while recording, %.2f %% of one CPU; %s before, to load "
			"its programs%s, and %s after.",
			nt_human_ns(recording, number(row, RECORDING_CPU)),
			100 * sqlite3_column_double(row, RECORDING_SHARE), loading,
			is_dropped ? " and to record what was dropped" : "", ending);
	else
		nt_print_prose(stdout, "  ", "Its threads took %s of CPU time to load its programs.", loading);
}

static void say_programs(int64_t runs, int64_t timed, uint64_t run_ns, bool is_dropped)
{
	const char *since = is_dropped ? " since the recording began" : "";
	char count[NT_HUMAN_MAX], time[NT_HUMAN_MAX], each[NT_HUMAN_MAX];

	nt_human_count(count, runs);
	if (timed > 0)
		nt_print_prose(stdout, "  ",
			       "Its programs in the kernel ran %s times%s and took %s, %s a run. The kernel measured "
			       "this, and it includes a part of the measuring. This time is inside the owners above.",
			       count, since, nt_human_ns(time, run_ns), nt_human_ns(each, run_ns / (uint64_t)timed));
	else
		nt_print_prose(
			stdout, "  ",
			"Its programs in the kernel ran %s times%s. Their time is inside the owners above, and was "
			"not measured: nettape-record --bpf-stats does that, and the probe stacks samples it.",
			count, since);
}

static int sum_programs(struct nt_db *db, int64_t session_id, bool is_dropped)
{
	sqlite3_stmt *row = nt_db_query(
		db, "SELECT total(runs_count), total(timed_count), total(run_ns) FROM (" NT_SELF_PROGRAMS_SQL ")",
		session_id);

	if (nt_db_next(row) && sqlite3_column_int64(row, 0) > 0)
		say_programs(sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), number(row, 2), is_dropped);
	return nt_db_end(db, row, "the recorder's own cost cannot be read");
}

int nt_self_cost_print(struct nt_db *db, int64_t session_id, bool is_dropped)
{
	sqlite3_stmt *row = nt_db_query(db, NT_SELF_RECORDER_SQL, session_id);
	bool has = nt_db_next(row);

	if (has) {
		puts("\nThe recorder's own cost:");
		say_threads(row, is_dropped);
	}
	if (nt_db_end(db, row, "the recorder's own cost cannot be read"))
		return -1;
	return has ? sum_programs(db, session_id, is_dropped) : 0;
}

/* As `check` counts them: from the first snapshot on. */
#define MISSES_SQL                                                                                                     \
	"WITH missed AS (SELECT program, max(value) - min(value) AS n FROM self_cost WHERE session_id = ?1 "           \
	"AND name = 'misses' AND program NOT IN " NT_SPARED_SQL " GROUP BY program) "                                  \
	"SELECT CAST(min(total(n) OVER (), 9e18) AS INTEGER), n, program FROM missed WHERE n > 0 ORDER BY n DESC, "    \
	"program LIMIT 1"

int nt_self_misses_print(struct nt_db *db, int64_t session_id)
{
	sqlite3_stmt *row = nt_db_query(db, MISSES_SQL, session_id);
	char all[NT_HUMAN_MAX], most[NT_HUMAN_MAX];

	if (nt_db_next(row))
		nt_print_prose(stdout, "",
			       "The kernel left out %s runs of the recorder's programs in the whole recording, %s of "
			       "them of %s. What they would have recorded is missing, and no time is uncovered for it; "
			       "`check` says when.",
			       nt_human_count(all, (int64_t)number(row, 0)),
			       nt_human_count(most, (int64_t)number(row, 1)), nt_db_text(row, 2));
	return nt_db_end(db, row, "the recorder's own cost cannot be read");
}

// SPDX-License-Identifier: GPL-2.0-only
/* check.c - see check.h. */
#include "report/query/check/check.h"

#include <stdarg.h>
#include <stdio.h>

#include "report/util/array.h"

/* ---- findings ---- */

void nt_check_say(struct nt_check *check, enum nt_verdict verdict, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	check->found[verdict]++;
	check->on_finding(check->arg, &(struct nt_finding){verdict, check->name, text});
}

sqlite3_stmt *nt_check_query(struct nt_check *check, const char *sql)
{
	sqlite3_stmt *statement = nt_db_query(check->db, sql, check->session.id);

	if (sqlite3_bind_parameter_count(statement) == 3) {
		sqlite3_bind_int64(statement, 2, check->from_ts);
		sqlite3_bind_int64(statement, 3, check->to_ts);
	}
	return statement;
}

int nt_check_end(struct nt_check *check, sqlite3_stmt *statement)
{
	return nt_db_end(check->db, statement, "the check cannot be made");
}

int nt_check_rows(struct nt_check *check, const char *name, const char *sql,
		  void (*judge)(struct nt_check *check, sqlite3_stmt *row))
{
	sqlite3_stmt *row = nt_check_query(check, sql);

	check->name = name;
	for (check->rows = 0; nt_db_next(row); check->rows++)
		judge(check, row);
	return nt_check_end(check, row);
}

/* ---- all checks ---- */

static int tell_left_out(struct nt_check *check)
{
	check->name = "left out";
	nt_check_say(check, NT_FOUND_NOTE,
		     "what compares with sums and counters, which are of the whole recording: check it without a "
		     "selection");
	return 0;
}

/* Those that a part can answer. */
static int (*const checks_of_part[])(struct nt_check *check) = {
	nt_check_whole, nt_check_conservation, nt_check_threads, nt_check_operations, nt_check_losses, tell_left_out,
};
static int (*const checks[])(struct nt_check *check) = {
	nt_check_whole,	  nt_check_conservation, nt_check_threads, nt_check_operations,
	nt_check_charges, nt_check_elsewhere,	 nt_check_losses,  nt_check_oddities,
	nt_check_clocks,  nt_check_written,	 nt_check_hooks,   nt_check_wakeups,
	nt_check_stacks,  nt_check_softirqs,	 nt_check_misses,  nt_check_stat,
};

int nt_check_make(struct nt_check *check)
{
	const size_t n = check->part ? NT_COUNT(checks_of_part) : NT_COUNT(checks);
	int error = check->part ? nt_lanes_filter_init(&check->filter, check->part) : 0;

	if (!error)
		error = nt_check_read(check);
	for (size_t i = 0; i < n && !error; i++)
		error = (check->part ? checks_of_part : checks)[i](check);
	nt_check_release(check);
	nt_lanes_filter_release(&check->filter);
	return error;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * result.h - prints the result of a query.
 */
#pragma once

#include "report/db/db.h"
#include "report/out/output.h"

/* Runs the statement to its end and prints its rows as one set. 0, or -1 and db->error. */
int nt_result_print(struct nt_db *db, sqlite3_stmt *statement, struct nt_printer *printer);
/* One column of the row at hand; good until the statement moves on. */
struct nt_cell nt_result_cell(sqlite3_stmt *statement, int column);
/* The members of an object: the row that the statement is at. */
void nt_result_json(struct nt_json *json, sqlite3_stmt *row);
/* The same row as an array, in an array. */
void nt_result_json_array(struct nt_json *json, sqlite3_stmt *row);
/*
 * Runs the statement to its end. Gives its rows as a text for SQL's json_each: an array of arrays. The caller frees it.
 * NULL: out of memory. Whether all rows could be read nt_db_end tells.
 */
char *nt_result_array(sqlite3_stmt *statement);

/*
 * The same of the first `top` rows. Below stand a row "N others" that sums those that follow, if there are any, and a
 * row "total", if there is more than one. Times, bytes, counts and shares of one CPU are summed; of columns named
 * longest_ and dearest_ the greatest stands there, of means (mean_) and percentiles (p99_) nothing. `heading`: printed
 * above, and where there is no row nothing is; NULL: no heading.
 */
int nt_result_print_top(struct nt_db *db, sqlite3_stmt *statement, struct nt_printer *printer, int64_t top,
			const char *heading);
/* The same without sums: of rows that tell of the same things in several ways. */
int nt_result_print_first(struct nt_db *db, sqlite3_stmt *statement, struct nt_printer *printer, int64_t top,
			  const char *heading);

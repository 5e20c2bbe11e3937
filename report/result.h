/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * result.h - from the result of a query to a printer.
 */
#ifndef NT_REPORT_RESULT_H
#define NT_REPORT_RESULT_H

#include "report/db.h"
#include "report/output.h"

/* Runs the statement to its end and prints its rows as one set. 0, or -1 and db->error. */
int nt_result_print(struct nt_db *db, sqlite3_stmt *statement, struct nt_printer *printer);
/* One column of the row at hand; good until the statement moves on. */
struct nt_cell nt_result_cell(sqlite3_stmt *statement, int column);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tape_tables.h - the tables and views of a tape in an SQLite connection, without an import: each table is a virtual
 * one over the rows of rows/rows.h (tape_source.h). So the same statements run on a tape and on a database.
 */
#pragma once

#include "report/db/tape_source.h"

/*
 * Makes the tables and views in the schema `schema` ("main", "temp"): all, or none. They read `source`, which the
 * connection owns from now on, also on failure, and frees when it is closed. 0, or -1 and what SQLite says in `error`.
 */
int nt_tape_tables_make(sqlite3 *db, struct nt_tape_source *source, const char *schema, char error[NT_ERROR_MAX]);

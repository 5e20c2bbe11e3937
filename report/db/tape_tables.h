/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tape_tables.h - the tables of a tape in an SQLite connection, without an import: each is a virtual table over the
 * rows of rows/rows.h (tape_source.h). So the same statements run on a tape and on a database.
 */
#pragma once

#include "report/db/tape_source.h"

/*
 * Makes the tables in the schema `schema` ("main", "temp"). They read `source`, which the connection owns from now on,
 * also on failure, and frees when it is closed. Gives SQLite's result code.
 */
int nt_tape_tables_register(sqlite3 *db, struct nt_tape_source *source, const char *schema);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * part_tables.h - temporary tables of a part of a session in a database, which hide the database's own. For who makes
 * their rows: nt_db_allow_temporary comes first. Prints nothing.
 */
#pragma once

#include "report/query/session.h"

/* The table is there, and empty. `more`: columns behind its own, with a comma before. 0, or -1 and db->error. */
int nt_part_table_make(const struct nt_part *part, enum nt_table_id id, const char *more);
/*
 * Gives `insert`, of as many parameters as the table has columns, the row that `from` makes: its texts must be
 * constants. 0; -1 and db->error; -ENOMEM; or -ERANGE: a number is none that SQL can hold.
 */
int nt_part_table_put(const struct nt_part *part, sqlite3_stmt *insert, enum nt_table_id id, const void *from);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * older.h - a database of an earlier version of the schema, for reading. A temporary database takes its place, with the
 * tables and views of the present version, and a copy of the rows. So no query knows of older forms. For db.c.
 *
 * 1. A table of ours may lack columns, and is else what the present version makes, to the letter. The columns that it
 *    lacks are NULL in the copy, but for a cgroup's label, which is its path, and flows' `counted_by`, which is `flow`.
 * 2. A table that came with a later version is in the copy, empty, or with the rows that follow from others; and
 *    session_meta says so (NT_OLDER_LACKS). One that the import left out is not there, as in any database.
 * 3. Views of the file are not read: the present ones take their place. Tables that are not ours are not copied.
 */
#pragma once

#include "report/db/db.h"

/* A key of session_meta, in the copy alone: a table that its version did not have. */
#define NT_OLDER_LACKS "lacks"
/* In SQL: whether this table is so in the session ?1. */
#define NT_OLDER_LACKS_SQL(table)                                                                                      \
	"EXISTS (SELECT 1 FROM session_meta WHERE session_id = ?1 AND key = '" NT_OLDER_LACKS "' AND "                 \
	"value = '" table "')"

/*
 * Makes the tables of the copy, of the file at db->path whose version is db->older.version. db->handle has a temporary
 * database open, without tables. 0, or -1 and db->error.
 */
int nt_older_copy(struct nt_db *db);
/* Says in sentences which version such a database has, what it lacks, and what to do. */
#define NT_OLDER_TEXT_MAX 1024
void nt_older_tell(struct nt_db *db, char text[NT_OLDER_TEXT_MAX]);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * foreign.h - a database that is there may be anybody's. Here are the checks before a command believes it, and bounds
 * for the work that it can cause. For db.c and those who know that a statement is not the database's doing.
 *
 * 1. Each table and view that has a name of ours is made by our own statement, to the letter. So it is no view or
 *    virtual table in the place of a table, it has no generated column, CHECK or default, and our views are ours. Other
 *    tables, views and triggers may be there: nothing reads them but a user's query, and no trigger runs. Of an older
 *    database, a copy is read (older.h).
 * 2. An index on our tables, of a database that is written to, computes nothing: it would do so for each row.
 * 3. No text is longer than what import could have written.
 * 4. The rows of a file can be without end all the same: a page may be the child of many, and times may be any number.
 *    So a command has an allowance of CPU time and memory, by the size of the file. It is a multiple of what the most
 *    expensive report takes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct nt_db;

struct nt_foreign {
	int64_t begun_ns, begun_kib; /* CPU time and peak memory of the program when the database was opened */
	int64_t allowed_ns, allowed_kib; /* beyond these */
	int64_t looked_ns; /* when this was looked at last */
	int64_t allowed_pages; /* to write, while it is copied; 0: no bound */
	const char *spent; /* which of them is; NULL: none */
	bool is_lifted;
};

/* Before the first statement on a database that is there. 0, or -1 and db->error. */
int nt_foreign_begin(struct nt_db *db);
/* Of its schema and number of sessions. `is_written`: rows will be changed. 0, or -1 and db->error. */
int nt_foreign_check(struct nt_db *db, bool is_written);
/*
 * Before a copy of it is made (older.h), and behind: the allowance is that of nt_foreign_check, and a bound on what is
 * written. 0, or -1 and db->error.
 */
int nt_foreign_allow_copy(struct nt_db *db);
void nt_foreign_end_copy(struct nt_db *db);
/* Says that a table or view, the word `what`, is not as import made it. Always -1. */
int nt_foreign_refuse_made(struct nt_db *db, const char *what, const char *name);
/* From now on statements are the user's own, or write: they may take time and memory as they like. */
void nt_foreign_lift(struct nt_db *db);
/* Whether a text of the program's own can be a value in a statement, of any database: the bound 3 gives way to it. */
bool nt_foreign_fits(struct nt_db *db, const char *text);
/* The message for SQLITE_TOOBIG. */
const char *nt_foreign_too_long(const struct nt_db *db);
/* Says in db->error that the allowance is spent. Always -1. */
int nt_foreign_refuse_spent(struct nt_db *db);

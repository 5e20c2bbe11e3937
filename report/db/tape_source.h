/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tape_source.h - a tape that SQL asks without an import (tape_tables.h). Tables of events are read from the tape each
 * time they are asked, and nothing of them stays. Small tables, and tables that a query reads again and again, are read
 * once and kept in a database of their own, in memory, or in TMPDIR when it is large.
 *
 * Functions give 0, or -1 and one sentence in nt_tape_source_error.
 */
#pragma once

#include "report/db/db.h"
#include "report/rows/rows.h"

struct nt_tape_source;

/* Owns the tape and the names from now on, also on failure: then memory ran out, and *out is NULL. */
int nt_tape_source_new(struct nt_tape_source **out, struct nt_tape *tape, struct nt_user_names *names,
		       struct nt_cgroup_names *cgroup_names);
/* From now on it shows progress on stderr. */
void nt_tape_source_show(struct nt_tape_source *source);
/* Safe on NULL. */
void nt_tape_source_free(struct nt_tape_source *source);
/* "": none. */
char *nt_tape_source_error(struct nt_tape_source *source);
/*
 * From now on it asks this while it reads and keeps, some times a second. Where it says true, whatever runs ends as an
 * error.
 */
void nt_tape_source_ask(struct nt_tape_source *source, bool (*is_interrupted)(void *arg), void *arg);
/* Whether the last error was this. */
bool nt_tape_source_was_interrupted(const struct nt_tape_source *source);

const char *nt_tape_source_path(const struct nt_tape_source *source);
/* As nt_tape_problem_at. */
size_t nt_tape_source_problem_at(const struct nt_tape_source *source, size_t at, char text[NT_ERROR_MAX]);
/* Of the tape: numbers of CPUs are below. */
uint32_t nt_tape_source_cpus(const struct nt_tape_source *source);
/* Whether the table is small: then it is always kept. */
bool nt_tape_source_is_small(enum nt_table_id table);
/* Whether its rows have been read and are kept: then nothing is read for them. */
bool nt_tape_source_keeps(const struct nt_tape_source *source, enum nt_table_id table);
#define NT_TAPE_SOURCE_ROWID (-1)
/*
 * The rows of the table out of the store; those for which each of the n columns equals its parameter (?1, ?2, ...), in
 * order. A column may be NT_TAPE_SOURCE_ROWID, if the table has one. Behind the columns comes the rowid, if the table
 * has one: the row's number in the table. `columns` has a bit for each column whose value is asked for (bit 63: any
 * from there on); others may be NULL. `again`: it will be asked in this way many times. NULL: an error. The caller
 * finalizes the statement.
 */
sqlite3_stmt *nt_tape_source_kept(struct nt_tape_source *source, enum nt_table_id table, uint64_t columns,
				  const int *equal, unsigned int n, bool again);

/*
 * From now on the tables `loss`, `cpu_cost`, `sock_cost` and `rx_cost` are those of this view, `thread` and `frame`
 * have the names of its rows (names_within in rows/rows.h), and nt_tape_source_read without a view is of this one.
 * `cpus` is copied.
 */
int nt_tape_source_limit(struct nt_tape_source *source, const struct nt_view *view);
/* From now on rx_cost alone is that of this view. */
int nt_tape_source_charge(struct nt_tape_source *source, const struct nt_view *view);

/*
 * One pass over the tape: the rows of some tables as they are read. It looks whether the user wants to stop. Several
 * may be open. *out is NULL on failure. An error among the rows is -1.
 *
 * With EVENTS_FIRST it also keeps those of the tables `small` that come out of such a pass, so that these cost none of
 * their own. While it is open, nobody else may ask for what is kept; where it is closed before its end and keeps
 * tables, nothing stays kept of any table.
 */
int nt_tape_source_read(struct nt_row_iter **out, struct nt_tape_source *source, const struct nt_rows_want *want,
			uint64_t small);
/* The same of rows that a thread makes while they are used, of all of the tape or of its own window, and without
 * `small`. */
int nt_tape_source_read_ahead(struct nt_row_iter **out, struct nt_tape_source *source, const struct nt_rows_want *want);

/* The row of the session as far as it is known without reading the events. It stays. */
int nt_tape_source_head(struct nt_tape_source *source, const struct nt_row **row);

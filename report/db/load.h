/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * load.h - imports a tape: puts every row of rows/rows.h into a database (db.h). Also gives most commands what they ask
 * by SQL, a database or the tables of a tape (tape_tables.h).
 */
#pragma once

#include "report/db/db.h"
#include "report/db/sums.h"
#include "report/db/tape_source.h"
#include "report/symbols/user_names.h"
#include "report/tape/tape.h"

/* Keys of session_meta: the times of the whole recording, where its session is a part. */
#define NT_LOAD_RECORDING_START "recording_start_ts"
#define NT_LOAD_RECORDING_END "recording_end_ts"
/*
 * Adds a tape as a new session, inside the database's transaction: rows of the tables that it has. Refuses one that is
 * there already. Shows progress on stderr. `names` as for nt_rows_open. `part`: NULL: all of the tape. *n_rows may be
 * NULL. 0, or -1 and db->error.
 */
struct nt_load_part {
	struct nt_view view; /* the session is this view of the recording */
	bool only_sums; /* of the tables of sums.h */
	const struct nt_cgroup_names *cgroup_names; /* that have met the tape's (name_cgroups.h); or NULL */
};
int nt_load(struct nt_db *db, struct nt_tape *tape, struct nt_user_names *names, const struct nt_load_part *part,
	    uint64_t *n_rows);
/*
 * Samples that a command cannot do without: one of `probes` must have taken them. NULL as a struct nt_need *: it needs
 * none.
 */
struct nt_need {
	const char *probes[3]; /* ends with NULL */
	const char *samples; /* "stack samples" */
	const char *record; /* what --probes takes then */
};
extern const struct nt_need nt_need_stacks, nt_need_latency, nt_need_drops, nt_need_retransmits, nt_need_wakeups,
	nt_need_flows;
#define NT_NEED_MAX 192
/* "no stack samples: record with ...", without a full stop. Gives text. */
const char *nt_need_text(const struct nt_need *need, char text[NT_NEED_MAX]);
/*
 * A database for reading: the one at `path`, or one whose tables read the tape at `path`. 0, or -1 and a sentence in
 * `error`; then *out is NULL. Close with nt_db_close. `args` says where functions of a tape's
 * programs are looked for; NULL: nowhere, nobody asks for them. (A database has the names that it was given.)
 * `names_file` has names of cgroups (rows/cgroup_names.h); NULL: none. A tape that was recorded without what is
 * needed is refused before its events are read. Of an older database (older.h) stderr says what it lacks.
 */
int nt_load_open(struct nt_db **out, const char *path, const struct nt_symbol_args *args, const char *names_file,
		 const struct nt_need *need, char error[NT_ERROR_MAX]);
/* The same of a tape, for tables in any connection. */
int nt_load_source(struct nt_tape_source **out, const char *path, const struct nt_symbol_args *args,
		   const char *names_file, const struct nt_need *need, char error[NT_ERROR_MAX]);
/*
 * How many problems are known by now of what is open, a tape or a database; and the text of the one at `at`, "" if
 * there is none. A database without the table has none; that it cannot be read is one.
 */
size_t nt_load_problem_at(struct nt_db *db, size_t at, char text[NT_ERROR_MAX]);
/* Whether the rows of a small table are there without reading a tape for them. 0, or -1 and db->error. */
int nt_load_is_at_hand(struct nt_db *db, enum nt_table_id table, bool *is);
/* Whether --symbols is given (`args` may be NULL) for what has its names already. 0, or -1 and a sentence in `error`.
 */
int nt_load_refuse_symbols(const char *path, const struct nt_symbol_args *args, char error[NT_ERROR_MAX]);
/* Refuses to add to a database whose sessions have buckets of another width: those of --sums, or the others. */
int nt_load_refuse_buckets(struct nt_db *db, bool only_sums);
/* Refuses a database that has only a part of a recording (a window): what looks at the whole would be wrong. */
int nt_load_refuse_part(struct nt_db *db);
/* Whether there is a database at `path` and not a tape: by its first bytes. */
bool nt_load_is_database(const char *path);

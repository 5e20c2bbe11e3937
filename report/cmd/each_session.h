/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * each_session.h - the frame of commands that show the sessions of a tape or database one after the other: opening it,
 * counting, complaints and exit codes. A command fills in how one session is shown.
 */
#pragma once

#include "report/db/load.h"
#include "report/out/output.h"
#include "report/query/latency/scan.h"
#include "report/symbols/user_names.h"

/* A session that has not what was asked for. */
struct nt_session_left {
	int64_t id;
	char why[NT_ERROR_MAX];
};

/* Zero-initialised. */
struct nt_sessions {
	struct nt_db *db;
	enum nt_format format;
	struct nt_json json; /* with NT_FORMAT_JSON */
	struct nt_printer *printer; /* with the others */
	const char *path; /* as given, not copied */
	size_t told; /* problems of it that have been said (damage.h) */
	int64_t n; /* that it holds */
	int64_t shown; /* of these, so far */
	char why_not[NT_ERROR_MAX]; /* set by `show`: the session has not what was asked for */
	struct nt_session_left *left; /* these, in the order of sessions */
	size_t n_left, left_size;
};

/* These give an exit code (out/complain.h), and have complained if that is not 0. */

/* To be closed even on failure. `args`, `names_file` and `need` as for nt_load_open. */
int nt_sessions_open(struct nt_sessions *sessions, const char *path, const struct nt_symbol_args *args,
		     const char *names_file, const struct nt_need *need, enum nt_format format);
/*
 * Calls `show` with each session; it gives 0, or -1 and a sentence in db->error. Of several sessions it is enough that
 * one has what was asked for; how many have not, and why, is said on standard error, and of each in JSON. Around what
 * is shown in JSON comes the object of all sessions.
 */
int nt_sessions_show(struct nt_sessions *sessions, int (*show)(void *arg, const struct nt_session *session), void *arg);

/*
 * Before what is shown of a session, when it has been read: says whether it is whole (query/whole.h), to people if it
 * is not, and as members of the object at hand in JSON. 0, or -1 and db->error.
 */
int nt_sessions_say_whole(struct nt_sessions *sessions, const struct nt_session *session,
			  const struct nt_selection *selection);

/*
 * CSV with one line for each value: what has many shapes would need many tables. The first does nothing with another
 * format, and gives an exit code.
 */
int nt_sessions_csv_begin(struct nt_sessions *sessions);
void nt_sessions_csv_value(struct nt_sessions *sessions, int64_t session_id, const char *section, int64_t row,
			   const char *name, struct nt_cell value);

void nt_sessions_close(struct nt_sessions *sessions);

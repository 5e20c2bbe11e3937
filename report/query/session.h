/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session.h - the sessions of a database, and the part of one that a command is about. Prints nothing.
 *
 * Functions give 0, or -1 and a sentence in db->error.
 */
#pragma once

#include <stdio.h>

#include "report/db/load.h"
#include "report/query/selection.h"

struct nt_session {
	int64_t id, start_ts, end_ts, start_realtime_ns; /* 0: the last is not known */
	int64_t cpus, clock_ticks;
	int64_t recording_ns; /* the length of all of the recording, of which the session may be a part; or 0 */
	int64_t dropped_ns; /* so much of the recording was before it, and a flight recorder has dropped it */
	int64_t bucket_ns; /* of sums; 0 or less: such a session has none */
	bool is_complete; /* it has its end and all its chunks */
	bool is_snapshot; /* its end is that of a snapshot, behind which the recording went on */
	bool open_end; /* the recording went on behind the last record: nothing there says what ended it */
	bool is_odd; /* no clock shows times like its own, or nettape-report makes no such buckets */
	char uuid[33];
	char host[256], kernel[256], machine[64]; /* "": not known */
};

/* Puts ", kept of a recording of 2.500 h", if a flight recorder has dropped what was before. */
void nt_session_put_kept(FILE *out, const struct nt_session *session);
/* Says that it has no such samples: recorded without them, or a part of a recording in which there are none. */
void nt_session_lacks(const struct nt_session *session, const struct nt_need *need, char why_not[NT_ERROR_MAX]);
/* Calls visit with each session of the database, in order, until it gives non-zero, which is then what this gives. */
int nt_session_each(struct nt_db *db, int (*visit)(void *arg, const struct nt_session *session), void *arg);
int nt_session_count(struct nt_db *db, int64_t *n);
/* The only session; none and several are refused, and so is one whose times are odd. */
int nt_session_only(struct nt_db *db, struct nt_session *session);

/* The part of a session that is asked about. */
struct nt_part {
	struct nt_db *db;
	const struct nt_session *session;
	const struct nt_selection *selection;
	int64_t from_ts, to_ts; /* from_ts < to_ts, within the session */
};
/* Its time as that of a view: nt_view_has says whether an operation counts in it, for instance. */
struct nt_view_time nt_part_time(const struct nt_part *part);
/* The selected time, as far as the session has it: from_ts may be the greater one. */
struct nt_window nt_session_window(const struct nt_session *session, const struct nt_selection *selection);
/*
 * The command asks no more about the session than the selected part of it: of a tape, only that is read from now on
 * (nt_scan_limit).
 */
int nt_session_limit(struct nt_db *db, const struct nt_session *session, const struct nt_selection *selection);
/*
 * Text for what of the session is selected: ", from 2.5 s, to 3 s, CPU 0,2-3, process nginx", as far as there is room
 * for it; "" for all. NT_SELECTED_MAX is room for all but very long lists of CPUs. The name may hold anything.
 */
#define NT_SELECTED_MAX 300
void nt_session_selected(const struct nt_session *session, const struct nt_selection *selection, char *text,
			 size_t size);
/* Whether it is all of the session, but for a process that may be selected. */
bool nt_part_is_whole(const struct nt_part *part);
/* As nt_session_limit, of a part; or of who pays for net_rx alone. */
int nt_part_limit(const struct nt_part *part);
int nt_part_charge(const struct nt_part *part);
/* Binds ?2 and ?3, its time, and ?4, the process that is meant or NULL. The statement may be NULL. */
void nt_part_bind(const struct nt_part *part, sqlite3_stmt *statement);
/* Sets the times of a part. Where there are none, `why_not` says so; else it is empty. */
void nt_part_choose(struct nt_part *part, char why_not[NT_ERROR_MAX]);

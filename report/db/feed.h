/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * feed.h - the rows of one session, one by one, from a tape or from a database of imported tapes. Rows of identities
 * (process, thread, cgroup, socket, net_device), of symbols and stacks, and of clocks come first, then snapshots, then
 * events; not the session's own row, nor sums of rows that are given (cpu_cost, sock_cost, elsewhere_cost). In
 * cpu_slice and sched_slice the rows of one CPU come in time order. Prints nothing. Memory as rows/rows.h: independent
 * of the length of the recording.
 *
 * A database may be anybody's. A row has the columns of its table, but the values may have been changed. A value of a
 * wrong type is given as NULL; a row without a value that it must have is an error.
 */
#pragma once

#include "report/rows/tables.h"
#include "report/symbols/user_names.h"

struct nt_feed;

struct nt_feed_session {
	char uuid[33];
	char host[256], kernel[256], machine[64]; /* "": not known */
	int64_t start_ts, end_ts; /* CLOCK_MONOTONIC, 0 <= start_ts <= end_ts <= 2^62 */
	int64_t start_realtime_ns; /* 0: not known */
	int64_t bucket_ns; /* 1 ms at least */
	bool is_complete; /* it has its end and all its chunks */
	bool open_end; /* the recording went on behind the last record: nothing there says what ended it */
	uint32_t cpus; /* present at some time */
};

/*
 * The file at `path` must hold one session: 0, or -1 and a sentence in `error` that says what to do. *out is NULL then.
 * `args` and `names_file` as for nt_load_open.
 */
int nt_feed_open(struct nt_feed **out, const char *path, const struct nt_symbol_args *args, const char *names_file,
		 char error[NT_ERROR_MAX]);
void nt_feed_close(struct nt_feed *feed);
const struct nt_feed_session *nt_feed_session(const struct nt_feed *feed);
/* 0: *row is the next row, good until the next call; 1: there are no more; -1: see nt_feed_error. */
int nt_feed_next(struct nt_feed *feed, const struct nt_row **row);
/* One sentence. */
const char *nt_feed_error(const struct nt_feed *feed);
/* As nt_load_problem_at. */
size_t nt_feed_problem_at(const struct nt_feed *feed, size_t at, char text[NT_ERROR_MAX]);
/* How far it is, of 1000: for showing progress. */
unsigned int nt_feed_progress(const struct nt_feed *feed);

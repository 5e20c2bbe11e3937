/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * check.h - the checks of nettape-report check. Each looks at one side of the promise in a session, and gives what it
 * found to whoever asked. Of a part of a session, those are made that a part can answer: slices, threads, operations,
 * losses. All others compare with counts of the whole recording. Prints nothing.
 */
#pragma once

#include "report/db/db.h"
#include "report/out/output.h"
#include "report/query/check/events.h"
#include "report/query/cpus/read.h"
#include "report/query/session.h"

#define NT_CHECK_SHOWN 5 /* findings of one sort, then only their number */

enum nt_verdict {
	NT_FOUND_OK, /* proven */
	NT_FOUND_NOTE, /* worth knowing, or could not be looked at */
	NT_FOUND_LOSS, /* something is missing, and declared so */
	NT_FOUND_FAILED /* the promise is broken */
};

struct nt_finding {
	enum nt_verdict verdict;
	const char *check; /* its name: "conservation" */
	const char *text; /* for people */
};

/* The first five members are set by whoever asks; the rest begins as zero. */
struct nt_check {
	struct nt_db *db;
	struct nt_session session;
	const struct nt_part *part; /* of it, that is checked; NULL: all of it */
	void (*on_finding)(void *arg, const struct nt_finding *finding);
	void *arg;
	uint64_t found[NT_FOUND_FAILED + 1]; /* how many of each verdict, given or only counted */
	int64_t from_ts, to_ts; /* what of its time is: set by nt_check_read */
	struct nt_lanes_filter filter; /* which rows belong to the part */
	const char *name; /* of the check at hand */
	uint64_t rows; /* of its query, so far */
	struct nt_check_events events;
};

/* Makes all checks. 0, or -1 and db->error: then some were not made. */
int nt_check_make(struct nt_check *check);

/* ---- for the checks ---- */

/* Gives one finding of the check at hand. */
void nt_check_say(struct nt_check *check, enum nt_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A query with ?1 bound to the session; ?2 and ?3, if there are both, to what of its time is checked. NULL: see
 * db->error. */
sqlite3_stmt *nt_check_query(struct nt_check *check, const char *sql);
/* As nt_db_end. */
int nt_check_end(struct nt_check *check, sqlite3_stmt *statement);
/* Begins the check `name`: judges each row of a query, whose ?1 is the session. 0, or -1 and db->error. */
int nt_check_rows(struct nt_check *check, const char *name, const char *sql,
		  void (*judge)(struct nt_check *check, sqlite3_stmt *row));

/* Each 0, or -1 and db->error. */

/* Takes in all rows of events, before the first check that looks at them. To be released also on failure. */
int nt_check_read(struct nt_check *check);
void nt_check_release(struct nt_check *check);

/* recording.c: what the recording says of itself. */
int nt_check_whole(struct nt_check *check);
int nt_check_losses(struct nt_check *check);
int nt_check_oddities(struct nt_check *check);
int nt_check_clocks(struct nt_check *check);
/* cpus.c, threads.c, operations.c: every nanosecond has one owner; sums agree with what they are sums of. The first
 * three also of a part. */
int nt_check_conservation(struct nt_check *check);
int nt_check_threads(struct nt_check *check);
int nt_check_operations(struct nt_check *check);
/* charges.c: all of net_rx is charged. */
int nt_check_charges(struct nt_check *check);
/* elsewhere.c: what the network causes elsewhere is a part of what these owners had. */
int nt_check_elsewhere(struct nt_check *check);
/* counters.c, softirqs.c: what the kernel and the recorder counted. */
int nt_check_written(struct nt_check *check);
int nt_check_hooks(struct nt_check *check);
int nt_check_wakeups(struct nt_check *check);
int nt_check_stacks(struct nt_check *check);
int nt_check_softirqs(struct nt_check *check);
int nt_check_misses(struct nt_check *check);
int nt_check_stat(struct nt_check *check);

/* ---- for nt_check_read: `arg` is the check ---- */

/* Snapshots and stacks: the rows are compared with them while they are read. */
int nt_check_read_snapshots(struct nt_check *check);
int nt_check_read_stacks(struct nt_check *check);
int nt_check_take_slice(void *arg, const struct nt_row *slice);
int nt_check_take_stay(void *arg, const struct nt_row *stay);
int nt_check_take_op(void *arg, const struct nt_row *op);
int nt_check_take_softirq(void *arg, const struct nt_row *row);
int nt_check_take_latency(void *arg, const struct nt_row *row);
int nt_check_take_wakeup(void *arg, const struct nt_row *row);
int nt_check_take_stack(void *arg, const struct nt_row *row);
void nt_check_release_threads(struct nt_check_threads *threads);
void nt_check_release_softirqs(struct nt_check_softirqs *softirqs);
/* Counts by sorting. nt_check_take_stay counts in passing, until a stay is out of order or overlaps. */
int nt_check_sort_threads(struct nt_check *check, struct nt_check_threads *threads);
/* Whether operations are checked: on some CPUs only they are not, since they may move from one to another. */
bool nt_check_has_operations(const struct nt_check *check);
/* Whether any of [ts, ts + dur) is checked; cuts it to that. False also where that is no time. */
bool nt_check_clip(const struct nt_check *check, int64_t *ts, int64_t *dur);
/* Adds to *sum; false: there is no such number. */
bool nt_check_add(int64_t *sum, int64_t more);

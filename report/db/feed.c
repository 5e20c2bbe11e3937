// SPDX-License-Identifier: GPL-2.0-only
/*
 * feed.c - see feed.h.
 */
#include "report/db/feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/load.h"
#include "report/db/name_cgroups.h"
#include "report/db/scan.h"
#include "report/rows/rollup.h"
#include "report/rows/rows.h"
#include "report/util/array.h"

#define MAX_TS (1ll << 62) /* 146 years of uptime */
#define MIN_BUCKET_NS 1000000

struct nt_feed {
	struct nt_feed_session session;
	char error[NT_ERROR_MAX];
	/* A tape, */
	struct nt_tape *tape;
	struct nt_user_names *names;
	struct nt_cgroup_names *cgroup_names;
	struct nt_rows *rows;
	/* or a database: */
	struct nt_db *db;
	int64_t session_id;
	struct nt_scan *scan;
};

/* Sums of rows that are given, and what has been told already, cost time to make and say nothing new. */
static uint64_t given(void)
{
	return NT_ALL_TABLES & ~nt_tables_of(NT_FROM(SUMS) | NT_FROM(ALL));
}

/* ---- a tape ---- */

static int open_tape(struct nt_feed *feed, const char *path, const struct nt_symbol_args *args, const char *names_file)
{
	struct nt_feed_session *session = &feed->session;
	const struct nt_tape *tape;
	char stop[64];
	int error;

	if (args && nt_user_names_new(&feed->names, args, feed->error))
		return -1;
	if (nt_tape_open(&feed->tape, path, feed->error))
		return -1;
	tape = feed->tape;
	nt_session_uuid(tape, session->uuid);
	snprintf(session->host, sizeof(session->host), "%.*s", (int)sizeof(tape->header.host), tape->header.host);
	nt_tape_meta(tape, NT_META_KERNEL, session->kernel, sizeof(session->kernel));
	nt_tape_meta(tape, NT_META_MACHINE, session->machine, sizeof(session->machine));
	session->start_ts = (int64_t)tape->start_ns;
	session->end_ts = (int64_t)tape->end_ns;
	session->start_realtime_ns = (int64_t)nt_tape_meta_number(tape, NT_META_START_REALTIME_NS, 0);
	session->bucket_ns = NT_BUCKET_NS;
	session->is_complete = tape->has_end;
	session->open_end = !tape->has_end && nt_tape_meta(tape, NT_META_STOP, stop, sizeof(stop));
	for (uint32_t cpu = 0; cpu < tape->n_cpus; cpu++)
		session->cpus += tape->present[cpu];
	if (tape->end_ns > MAX_TS || tape->start_ns > tape->end_ns)
		return nt_fail(feed->error, "%s: no clock shows times like those in it: is it damaged?", path);
	if (nt_name_cgroups_of_tape(&feed->cgroup_names, names_file, feed->tape, feed->error))
		return -1;
	error = nt_rows_open(&feed->rows, feed->tape, feed->names, 1,
			     &(struct nt_rows_want){.tables = given(),
						    .order = NT_ROWS_IDENTITIES_FIRST,
						    .cgroup_names = feed->cgroup_names});
	if (!error)
		return 0;
	return nt_fail(feed->error, "%s cannot be read: %s.", path, nt_tape_error_text(error));
}

static int next_of_tape(struct nt_feed *feed, const struct nt_row **row)
{
	int error = nt_rows_next(feed->rows, row);

	if (error >= 0)
		return error;
	return nt_fail(feed->error, "the rest of %s cannot be read: %s.", feed->tape->path, nt_tape_error_text(error));
}

/* ---- a database ---- */

static void copy_text(char *to, size_t size, sqlite3_stmt *statement, int column)
{
	snprintf(to, size, "%s", nt_db_text(statement, column));
}

static int set_session(struct nt_feed *feed, sqlite3_stmt *statement)
{
	struct nt_feed_session *session = &feed->session;

	feed->session_id = sqlite3_column_int64(statement, 0);
	copy_text(session->uuid, sizeof(session->uuid), statement, 1);
	copy_text(session->host, sizeof(session->host), statement, 2);
	copy_text(session->kernel, sizeof(session->kernel), statement, 3);
	copy_text(session->machine, sizeof(session->machine), statement, 4);
	session->start_ts = sqlite3_column_int64(statement, 5);
	session->end_ts = sqlite3_column_int64(statement, 6);
	session->start_realtime_ns = sqlite3_column_int64(statement, 7);
	session->bucket_ns = sqlite3_column_int64(statement, 8);
	session->cpus = (uint32_t)sqlite3_column_int64(statement, 9);
	session->is_complete = sqlite3_column_int(statement, 10);
	session->open_end = sqlite3_column_int(statement, 11);
	if (session->start_ts < 0 || session->end_ts < session->start_ts || session->end_ts > MAX_TS ||
	    session->bucket_ns < MIN_BUCKET_NS || session->bucket_ns > MAX_TS)
		return nt_db_refuse(
			feed->db,
			"%s: its table session holds times that nettape-report did not write: import the tape "
			"again, into a new database.",
			feed->db->path);
	return 0;
}

/* There must be exactly one. */
static int find_session(struct nt_feed *feed)
{
	sqlite3_stmt *statement =
		nt_db_prepare(feed->db,
			      "SELECT session_id, uuid, host, kernel, machine, start_ts, end_ts, "
			      "start_realtime_ns, bucket_ns, cpus, complete, NOT complete AND stop "
			      "IS NULL AND NOT EXISTS (SELECT 1 FROM session_meta AS m WHERE "
			      "m.session_id = session.session_id AND key = '" NT_LOAD_RECORDING_END "') FROM session",
			      NULL);
	bool has_one = nt_db_next(statement);
	int error = has_one ? set_session(feed, statement) : 0;
	bool has_more = has_one && !error && nt_db_next(statement);

	if (nt_db_end(feed->db, statement, "the sessions cannot be read") || error)
		return -1;
	if (!has_one)
		return nt_db_refuse(feed->db, "%s: there is no session in it: import a tape first.", feed->db->path);
	if (has_more)
		return nt_db_refuse(feed->db,
				    "%s: it has several sessions, each with its own clocks: give one of the tapes, or "
				    "a database of one.",
				    feed->db->path);
	return 0;
}

static int open_database(struct nt_feed *feed, const char *path, const struct nt_symbol_args *args,
			 const char *names_file)
{
	if (nt_load_refuse_symbols(path, args, feed->error))
		return -1;
	if (nt_db_open(&feed->db, path, NT_DB_READ))
		return feed->db ? -1 : nt_fail(feed->error, "out of memory.");
	if (nt_name_cgroups_of_db(feed->db, names_file) || nt_db_forbid_writing(feed->db))
		return -1;
	if (find_session(feed))
		return -1;
	return nt_scan_open(&feed->scan, feed->db, feed->session_id,
			    &(struct nt_scan_want){.tables = given(), .names_first = true});
}

static int check_row(struct nt_feed *feed, const struct nt_row *row)
{
	const struct nt_table *table = nt_table(row->table);
	const size_t lacks = NT_FIRST(row->n, i, table->columns[i].required && row->values[i].type == NT_VALUE_NULL);

	if (lacks == row->n)
		return 0;
	return nt_db_refuse(feed->db,
			    "%s: its table %s holds a row without %s, which nettape-report did not write: import the "
			    "tape again, into a new database.",
			    feed->db->path, table->name, table->columns[lacks].name);
}

static int next_of_database(struct nt_feed *feed, const struct nt_row **row)
{
	const int result = nt_scan_next(feed->scan, row);

	return result ? result : check_row(feed, *row);
}

/* ---- either ---- */

int nt_feed_open(struct nt_feed **out, const char *path, const struct nt_symbol_args *args, const char *names_file,
		 char error[NT_ERROR_MAX])
{
	struct nt_feed *feed = calloc(1, sizeof(*feed));
	int result;

	*out = NULL;
	if (!feed)
		return nt_fail(error, "out of memory.");
	result = nt_load_is_database(path) ? open_database(feed, path, args, names_file)
					   : open_tape(feed, path, args, names_file);
	if (result) {
		nt_fail(error, "%s", nt_feed_error(feed));
		nt_feed_close(feed);
		return -1;
	}
	*out = feed;
	return 0;
}

void nt_feed_close(struct nt_feed *feed)
{
	if (!feed)
		return;
	nt_rows_close(feed->rows);
	nt_user_names_free(feed->names);
	nt_cgroup_names_free(feed->cgroup_names);
	nt_tape_close(feed->tape);
	nt_scan_close(feed->scan);
	nt_db_close(feed->db);
	free(feed);
}

const struct nt_feed_session *nt_feed_session(const struct nt_feed *feed)
{
	return &feed->session;
}

int nt_feed_next(struct nt_feed *feed, const struct nt_row **row)
{
	return feed->rows ? next_of_tape(feed, row) : next_of_database(feed, row);
}

const char *nt_feed_error(const struct nt_feed *feed)
{
	return feed->db ? feed->db->error : feed->error;
}

unsigned int nt_feed_progress(const struct nt_feed *feed)
{
	return feed->rows ? nt_rows_progress(feed->rows) : nt_scan_progress(feed->scan);
}

size_t nt_feed_problem_at(const struct nt_feed *feed, size_t at, char text[NT_ERROR_MAX])
{
	return feed->tape ? nt_tape_problem_at(feed->tape, at, text) : nt_load_problem_at(feed->db, at, text);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * session.c - see session.h.
 */
#include "report/query/session.h"

#include <stdio.h>
#include <string.h>

#include "report/db/scan.h"
#include "report/out/output.h"
#include "schema/meta_keys.h"

#define MAX_TS (1ll << 62) /* 146 years of uptime */
#define MIN_BUCKET_NS 1000000

static bool is_odd(const struct nt_session *session)
{
	return session->start_ts < 0 || session->end_ts < session->start_ts || session->end_ts > MAX_TS ||
	       session->bucket_ns < MIN_BUCKET_NS || session->bucket_ns > MAX_TS;
}

static void copy_text(char *to, size_t size, sqlite3_stmt *row, int column)
{
	snprintf(to, size, "%s", nt_db_text(row, column));
}

/* A database may be anybody's: times that are no host's become such that can be reckoned with. */
static struct nt_session read_session(sqlite3_stmt *row)
{
	struct nt_session session = {
		.id = sqlite3_column_int64(row, 0),
		.start_ts = sqlite3_column_int64(row, 1),
		.end_ts = sqlite3_column_int64(row, 2),
		.start_realtime_ns = sqlite3_column_int64(row, 3),
		.cpus = sqlite3_column_int64(row, 4),
		.clock_ticks = sqlite3_column_int64(row, 5),
		.is_complete = sqlite3_column_int(row, 6),
	};

	session.recording_ns = sqlite3_column_int64(row, 9);
	session.dropped_ns = sqlite3_column_int64(row, 14);
	session.bucket_ns = sqlite3_column_int64(row, 10);
	session.open_end = !session.is_complete && !session.recording_ns && sqlite3_column_type(row, 13) == SQLITE_NULL;
	session.is_snapshot = !strcmp(nt_db_text(row, 13), NT_STOP_SNAPSHOT);
	session.is_odd = is_odd(&session);
	copy_text(session.host, sizeof(session.host), row, 7);
	copy_text(session.kernel, sizeof(session.kernel), row, 8);
	copy_text(session.uuid, sizeof(session.uuid), row, 11);
	copy_text(session.machine, sizeof(session.machine), row, 12);
	if (session.start_ts < 0)
		session.start_ts = 0;
	if (session.end_ts < session.start_ts)
		session.end_ts = session.start_ts;
	if (session.start_realtime_ns < 0)
		session.start_realtime_ns = 0;
	if (session.dropped_ns < 0)
		session.dropped_ns = 0;
	if (session.cpus < 0 || session.cpus > UINT16_MAX)
		session.cpus = 1;
	return session;
}

/* A time that a line of session_meta tells; NULL: none does. */
#define TIME_SQL(key)                                                                                                  \
	"(SELECT CAST(value AS INTEGER) FROM session_meta AS m WHERE m.session_id = session.session_id AND key = "     \
	"'" key "')"
/* The length of the recording that a session is a part of (import --from, --to); NULL: it is all of it. */
#define RECORDING_SQL TIME_SQL(NT_LOAD_RECORDING_END) " - " TIME_SQL(NT_LOAD_RECORDING_START)
#define DROPPED_SQL TIME_SQL(NT_TAPE_DROPPED_NS)
#define SESSIONS_SQL(recording)                                                                                        \
	"SELECT session_id, start_ts, end_ts, start_realtime_ns, cpus, clock_ticks, complete, host, "                  \
	"kernel, " recording ", bucket_ns, uuid, machine, stop, " DROPPED_SQL " FROM session ORDER BY session_id"

void nt_session_lacks(const struct nt_session *session, const struct nt_need *need, char why_not[NT_ERROR_MAX])
{
	char text[NT_NEED_MAX];

	if (session->recording_ns > 0)
		snprintf(why_not, NT_ERROR_MAX, "session %lld is a part of its recording, and has no %s",
			 (long long)session->id, need->samples);
	else
		snprintf(why_not, NT_ERROR_MAX, "session %lld has %s", (long long)session->id,
			 nt_need_text(need, text));
}

void nt_session_put_kept(FILE *out, const struct nt_session *session)
{
	/* A database may have a part of what was kept. */
	const int64_t kept_ns = session->recording_ns > 0 ? session->recording_ns : session->end_ts - session->start_ts;
	char all[NT_HUMAN_MAX];

	if (session->dropped_ns)
		fprintf(out, ", kept of a recording of %s",
			nt_human_ns(all, (uint64_t)session->dropped_ns + (uint64_t)kept_ns));
}

int nt_session_each(struct nt_db *db, int (*visit)(void *arg, const struct nt_session *session), void *arg)
{
	/* A tape is whole. */
	static const char of_tape[] = SESSIONS_SQL("NULL"), of_database[] = SESSIONS_SQL(RECORDING_SQL);
	sqlite3_stmt *row = nt_db_prepare(db, db->source ? of_tape : of_database, NULL);
	int error = 0;

	while (!error && nt_db_next(row)) {
		const struct nt_session session = read_session(row);

		error = visit(arg, &session);
	}
	return nt_db_end(db, row, "the sessions cannot be read") ? -1 : error;
}

struct only {
	struct nt_session *session;
	unsigned int n;
};

static int take_only(void *arg, const struct nt_session *session)
{
	struct only *only = arg;

	if (!only->n++)
		*only->session = *session;
	return 0;
}

int nt_session_only(struct nt_db *db, struct nt_session *session)
{
	struct only only = {.session = session};

	if (nt_session_each(db, take_only, &only))
		return -1;
	if (!only.n)
		return nt_db_refuse(db, "%s: there is no session in it: import a tape first.", db->name);
	if (only.n > 1)
		return nt_db_refuse(db,
				    "%s: it has several sessions, each with its own clocks: give one of the tapes, or "
				    "a database of one.",
				    db->name);
	if (!session->is_odd)
		return 0;
	return db->source ? nt_db_refuse(db, "%s: no clock shows times like those in it: is it damaged?", db->name)
			  : nt_db_refuse(db,
					 "%s: its table session holds times that nettape-report did not write: import "
					 "the tape again, into a new database.",
					 db->name);
}

int nt_session_count(struct nt_db *db, int64_t *n)
{
	sqlite3_stmt *row = nt_db_prepare(db, "SELECT count(session_id) FROM session", NULL); /* see db/foreign.c */

	*n = nt_db_next(row) ? sqlite3_column_int64(row, 0) : 0;
	return nt_db_end(db, row, "the sessions cannot be read");
}

struct nt_window nt_session_window(const struct nt_session *session, const struct nt_selection *selection)
{
	return nt_selection_within(selection, session->start_ts, session->end_ts, session->start_realtime_ns);
}

static bool has_cpu(const void *selection, uint32_t cpu)
{
	return nt_selection_has_cpu(selection, cpu);
}

void nt_part_bind(const struct nt_part *part, sqlite3_stmt *statement)
{
	sqlite3_bind_int64(statement, 2, part->from_ts);
	sqlite3_bind_int64(statement, 3, part->to_ts);
	sqlite3_bind_text(statement, 4, part->selection->process, -1, SQLITE_STATIC);
}

struct nt_view_time nt_part_time(const struct nt_part *part)
{
	const struct nt_view view = {(uint64_t)part->from_ts, (uint64_t)part->to_ts, NULL};

	return nt_view_time(&view, (uint64_t)part->session->start_ts, (uint64_t)part->session->end_ts);
}

bool nt_part_is_whole(const struct nt_part *part)
{
	return part->from_ts == part->session->start_ts && part->to_ts == part->session->end_ts &&
	       !part->selection->n_cpus;
}

static int limit(const struct nt_part *part, int (*set)(struct nt_db *db, const struct nt_scan_part *part))
{
	const struct nt_scan_part selected = {.from_ns = (uint64_t)part->from_ts,
					      .to_ns = (uint64_t)part->to_ts,
					      .has_cpu = part->selection->n_cpus ? has_cpu : NULL,
					      .arg = part->selection};
	const struct nt_scan_part none = {0};

	return set(part->db, nt_part_is_whole(part) ? &none : &selected);
}

int nt_part_limit(const struct nt_part *part)
{
	return limit(part, nt_scan_limit);
}

int nt_part_charge(const struct nt_part *part)
{
	return limit(part, nt_scan_charge);
}

int nt_session_limit(struct nt_db *db, const struct nt_session *session, const struct nt_selection *selection)
{
	const struct nt_window window = nt_session_window(session, selection);
	const struct nt_part part = {db, session, selection, window.from_ts, window.to_ts};

	/* Of a time that the session has not, nothing is read. */
	return window.from_ts < window.to_ts ? nt_part_limit(&part) : 0;
}

void nt_session_selected(const struct nt_session *session, const struct nt_selection *selection, char *text,
			 size_t size)
{
	struct nt_window window = nt_selection_window(selection, session->start_ts, session->start_realtime_ns);
	size_t at = 0;

	text[0] = 0;
	if (selection->from.is_given)
		at += (size_t)snprintf(text + at, size - at, ", from %.9g s",
				       (double)(window.from_ts - session->start_ts) / 1e9);
	if (selection->to.is_given)
		at += (size_t)snprintf(text + at, size - at, ", to %.9g s",
				       (double)(window.to_ts - session->start_ts) / 1e9);
	for (unsigned int i = 0; i < selection->n_cpus && at + 40 < size; i++) {
		const char *before = i ? "," : ", CPU ";

		if (selection->cpus[i].first == selection->cpus[i].last)
			at += (size_t)snprintf(text + at, size - at, "%s%u", before, selection->cpus[i].first);
		else
			at += (size_t)snprintf(text + at, size - at, "%s%u-%u", before, selection->cpus[i].first,
					       selection->cpus[i].last);
	}
	if (selection->process && at + 40 < size)
		snprintf(text + at, size - at, ", process %.30s", selection->process);
}

void nt_part_choose(struct nt_part *part, char why_not[NT_ERROR_MAX])
{
	const struct nt_session *session = part->session;
	struct nt_window window = nt_session_window(session, part->selection);
	char length[NT_HUMAN_MAX], start[NT_HUMAN_MAX];

	part->from_ts = window.from_ts;
	part->to_ts = window.to_ts;
	why_not[0] = 0;
	if (part->from_ts >= part->to_ts)
		snprintf(why_not, NT_ERROR_MAX, "nothing of session %lld is in that time: it began at %s and lasted %s",
			 (long long)session->id, nt_human_time(start, (uint64_t)session->start_realtime_ns),
			 nt_human_ns(length, (uint64_t)session->end_ts - (uint64_t)session->start_ts));
}

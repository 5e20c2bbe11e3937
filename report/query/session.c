// SPDX-License-Identifier: GPL-2.0-only
/*
 * session.c - see session.h.
 */
#include "report/query/session.h"

/* A database may be anybody's: times that are no host's become such that can be reckoned with. */
static struct nt_session read_session(sqlite3_stmt *row)
{
	struct nt_session session = {
		.id = sqlite3_column_int64(row, 0),
		.start_ts = sqlite3_column_int64(row, 1),
		.end_ts = sqlite3_column_int64(row, 2),
		.start_realtime_ns = sqlite3_column_int64(row, 3),
		.cpus = sqlite3_column_int64(row, 4),
	};

	if (session.start_ts < 0)
		session.start_ts = 0;
	if (session.end_ts < session.start_ts)
		session.end_ts = session.start_ts;
	if (session.start_realtime_ns < 0)
		session.start_realtime_ns = 0;
	if (session.cpus < 0 || session.cpus > UINT16_MAX)
		session.cpus = 1;
	return session;
}

int nt_session_each(struct nt_db *db, int (*visit)(void *arg, const struct nt_session *session),
			    void *arg)
{
	sqlite3_stmt *statement = nt_db_prepare(
		db, "SELECT session_id, start_ts, end_ts, start_realtime_ns, cpus FROM session ORDER BY session_id",
		NULL);
	int step = SQLITE_DONE, error = 0;

	if (!statement)
		return -1;
	while (!error && (step = sqlite3_step(statement)) == SQLITE_ROW) {
		const struct nt_session session = read_session(statement);

		error = visit(arg, &session);
	}
	if (!error && step != SQLITE_DONE)
		error = nt_db_fail(db, "the sessions cannot be read");
	sqlite3_finalize(statement);
	return error;
}

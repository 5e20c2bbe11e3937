// SPDX-License-Identifier: GPL-2.0-only
/*
 * scratch_db.c - see scratch_db.h.
 */
#include "tests/support/scratch_db.h"

#include <stdarg.h>

#include "report/db/views.h"
#include "report/out/partial.h"
#include "tests/support/must.h"

struct nt_db *scratch_db_new(const char *path)
{
	struct nt_db *db;

	MUST(!nt_db_open(&db, path, path ? NT_DB_NEW : NT_DB_TEMPORARY));
	for (size_t i = 0; !path && i < nt_views_count(); i++)
		MUST(nt_view_make(db->handle, "main", i) == SQLITE_OK);
	MUST(!nt_db_begin(db));
	return db;
}

void scratch_db_run(struct nt_db *db, const char *format, ...)
{
	va_list args;
	char *sql, *why = NULL;

	va_start(args, format);
	MUST(vasprintf(&sql, format, args) >= 0);
	va_end(args);
	if (sqlite3_exec(db->handle, sql, NULL, NULL, &why) != SQLITE_OK)
		fprintf(stderr, "%s\n%s\n", sql, why);
	MUST(!why);
	free(sql);
}

void scratch_db_session(struct nt_db *db, int64_t id, int64_t start_ts, int64_t end_ts, int cpus)
{
	scratch_db_run(
		db,
		"INSERT INTO session(session_id, uuid, host, boot_id, kernel, start_ts, end_ts, dur, "
		"start_realtime_ns, "
		"bucket_ns, cpus, clock_ticks, bytes, chunks, complete, events, lost, outside, unknown, undeclared, "
		"clamped, clamped_max_ns, malformed, bad_lines, clock_steps) VALUES (%lld, '%032llx', 'host', '', "
		"'6.1.0', %lld, %lld, %lld, %lld, 100000000, %d, 100, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)",
		(long long)id, (long long)id, (long long)start_ts, (long long)end_ts, (long long)(end_ts - start_ts),
		SCRATCH_DB_REALTIME_NS, cpus);
}

/* As nt_db_finish, but for waiting until it is on the disk: there it is for a moment only. */
void scratch_db_finish(struct nt_db *db)
{
	scratch_db_run(db, "COMMIT");
	db->in_transaction = false;
	MUST(!nt_partial_finish(db->partial, db->path, false));
	nt_db_close(db);
}

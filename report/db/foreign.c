// SPDX-License-Identifier: GPL-2.0-only
/*
 * foreign.c - see foreign.h.
 */
#include "report/db/foreign.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "report/db/db.h"
#include "report/db/views.h"
#include "report/out/interrupt.h"
#include "schema/block.h"

#define AGAIN "import the tape again, into a new database."

/* The longest texts are those of a tape's meta block. Bytes that are no UTF-8 become longer, at most threefold. */
#define MAX_TEXT (4 * NT_BLOCK_MAX_RAW)
#define MAX_TEXT_OF_QUERY (64 << 20)

#define STEPS_PER_LOOK 256 /* a few microseconds, or some of the longest texts */

/*
 * A report takes at most 0.04 s for a megabyte of its database (export perfetto), or 0.3 s where the view `energy` is
 * asked; and for each session, as it may read all tables for one; and far less memory than the database has bytes. A
 * session that import wrote takes 32 KiB or more in a file of many.
 */
#define SECOND 1000000000ll
#define OPEN_NS SECOND
#define LEAST_NS (3 * SECOND)
#define NS_PER_MIB SECOND
#define LEAST_KIB (1 << 20)
#define KIB_PER_KIB 8
#define KIB_PER_SESSION 32
#define MAX_SESSIONS 4096
#define MAX_MIB (1 << 20)
/* A copy has a few more columns than the file. Its pages are those of db.c. */
#define COPY_KIB_PER_KIB 2
#define LEAST_COPY_KIB 8192
#define COPY_PAGE_KIB 8

/* ---- the allowance ---- */

static int64_t now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * SECOND + now.tv_nsec;
}

static int64_t peak_kib(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? 0 : usage.ru_maxrss;
}

/* Pages that SQLite has written, of all its files. */
static int64_t written_pages(sqlite3 *handle)
{
	int pages = 0, most;

	sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &most, 0);
	return pages;
}

/* For SQLite: other than 0 ends the statement. Most calls find that no time has passed, which costs next to nothing. */
static int look(void *arg)
{
	struct nt_db *db = arg;
	struct nt_foreign *foreign = &db->foreign;
	int64_t now;

	if (nt_interrupted())
		return 1;
	if (foreign->is_lifted || foreign->spent)
		return foreign->spent != NULL;
	now = now_ns(CLOCK_MONOTONIC_COARSE);
	if (now == foreign->looked_ns)
		return 0;
	foreign->looked_ns = now;
	if (now_ns(CLOCK_THREAD_CPUTIME_ID) - foreign->begun_ns > foreign->allowed_ns)
		foreign->spent = "time";
	else if (peak_kib() - foreign->begun_kib > foreign->allowed_kib)
		foreign->spent = "memory";
	else if (foreign->allowed_pages && written_pages(db->handle) > foreign->allowed_pages)
		foreign->spent = "space";
	return foreign->spent != NULL;
}

int nt_foreign_refuse_spent(struct nt_db *db)
{
	return nt_db_refuse(db,
			    "%s: reading it takes more %s than a database of its size needs, so it is not as "
			    "nettape-report made it: " AGAIN,
			    db->path, db->foreign.spent);
}

/* The file's, but no more than it has on disk: holes cost who made it nothing. Some file systems do not tell that. */
static int64_t size_kib(const char *path)
{
	struct stat status;
	int64_t on_disk;

	if (stat(path, &status))
		return 0;
	on_disk = status.st_blocks / 2;
	return on_disk && on_disk < status.st_size / 1024 ? on_disk : status.st_size / 1024;
}

/* Sessions are counted row by row: SQLite counts with count(*) in one step, which nothing ends. */
static int allow(struct nt_db *db)
{
	const int64_t kib = size_kib(db->path), mib = kib / 1024 < MAX_MIB ? kib / 1024 : MAX_MIB;
	sqlite3_stmt *row = nt_db_prepare(db, "SELECT count(session_id) FROM session", NULL);
	int64_t sessions = nt_db_next(row) ? sqlite3_column_int64(row, 0) : 0;

	if (nt_db_end(db, row, "the sessions cannot be read"))
		return -1;
	if (sessions > kib / KIB_PER_SESSION)
		sessions = kib / KIB_PER_SESSION;
	if (sessions > MAX_SESSIONS)
		sessions = MAX_SESSIONS;
	db->foreign.allowed_ns = LEAST_NS + NS_PER_MIB * mib * (sessions > 1 ? sessions : 1);
	db->foreign.allowed_kib = LEAST_KIB + KIB_PER_KIB * kib;
	return 0;
}

void nt_foreign_lift(struct nt_db *db)
{
	db->foreign.is_lifted = true;
	/* A tape's tables have no limit. */
	if (sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, -1) < MAX_TEXT_OF_QUERY)
		sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, MAX_TEXT_OF_QUERY);
}

/* ---- texts ---- */

bool nt_foreign_fits(struct nt_db *db, const char *text)
{
	const size_t size = strlen(text);
	const bool is_foreign = db->foreign.allowed_ns;

	if (size > INT32_MAX)
		return false;
	/* SQLite holds it to its own limit. */
	if (is_foreign && sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, -1) < (int)size)
		sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, (int)size);
	return sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, -1) >= (int)size;
}

const char *nt_foreign_too_long(const struct nt_db *db)
{
	return db->foreign.is_lifted ? "a value is longer than 64 MiB"
				     : "a value in it is longer than any that nettape-report writes: import the tape "
				       "again, into a new database";
}

/* ---- opening ---- */

int nt_foreign_begin(struct nt_db *db)
{
	static const struct {
		int what, is_on;
	} configs[] = {
		{SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
		{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
		{SQLITE_DBCONFIG_DEFENSIVE, 1},
	};

	db->foreign = (struct nt_foreign){.begun_ns = now_ns(CLOCK_THREAD_CPUTIME_ID),
					  .begun_kib = peak_kib(),
					  .allowed_ns = OPEN_NS,
					  .allowed_kib = LEAST_KIB};
	sqlite3_progress_handler(db->handle, STEPS_PER_LOOK, look, db);
	sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, MAX_TEXT);
	sqlite3_limit(db->handle, SQLITE_LIMIT_ATTACHED, 0);
	for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++)
		if (sqlite3_db_config(db->handle, configs[i].what, configs[i].is_on, NULL) != SQLITE_OK)
			return nt_db_fail(db, "it cannot be opened safely");
	return 0;
}

int nt_foreign_refuse_made(struct nt_db *db, const char *what, const char *name)
{
	return nt_db_refuse(db, "%s: its %s %s is not as nettape-report made it: " AGAIN, db->path, what, name);
}

/* One of the schema, by its name and what SQLite keeps of the statement that made it. */
static int check_made(struct nt_db *db, const char *name, const char *sql)
{
	const enum nt_table_id id = nt_table_named(name);
	char own[NT_DB_TABLE_MAX];

	if (id == NT_TABLE_COUNT)
		return nt_view_differs(name, sql) ? nt_foreign_refuse_made(db, "view", name) : 0;
	nt_db_write_table(nt_table(id), own);
	return strcmp(sql, own) ? nt_foreign_refuse_made(db, "table", nt_table(id)->name) : 0;
}

static int check_schema(struct nt_db *db)
{
	sqlite3_stmt *row = nt_db_prepare(db, "SELECT name, sql FROM sqlite_master", NULL);
	int error = 0;

	while (!error && nt_db_next(row))
		error = check_made(db, nt_db_text(row, 0), nt_db_text(row, 1));
	if (!error)
		return nt_db_end(db, row, "its tables cannot be read");
	sqlite3_finalize(row);
	return -1;
}

/* Its expressions would run for each row that is written. */
static int check_indexes(struct nt_db *db, const char *table)
{
	sqlite3_stmt *row = nt_db_prepare(db,
					  "SELECT i.name FROM pragma_index_list(?1) AS i, pragma_index_xinfo(i.name) "
					  "AS c WHERE i.partial OR c.cid = -2",
					  NULL);
	int error = 0;

	sqlite3_bind_text(row, 1, table, -1, SQLITE_STATIC);
	if (nt_db_next(row))
		error = nt_db_refuse(db,
				     "%s: its index %.100s on %s computes something for each row: drop that index, or "
				     "import the tapes again, into a new database.",
				     db->path, nt_db_text(row, 0), table);
	if (!error)
		return nt_db_end(db, row, "its indexes cannot be read");
	sqlite3_finalize(row);
	return -1;
}

int nt_foreign_allow_copy(struct nt_db *db)
{
	db->foreign.allowed_pages = (LEAST_COPY_KIB + COPY_KIB_PER_KIB * size_kib(db->path)) / COPY_PAGE_KIB;
	return allow(db);
}

void nt_foreign_end_copy(struct nt_db *db)
{
	db->foreign.allowed_pages = 0;
}

int nt_foreign_check(struct nt_db *db, bool is_written)
{
	if (check_schema(db))
		return -1;
	for (int id = 0; id < NT_TABLE_COUNT && is_written; id++)
		if (check_indexes(db, nt_table((enum nt_table_id)id)->name))
			return -1;
	return allow(db);
}

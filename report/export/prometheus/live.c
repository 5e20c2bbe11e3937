// SPDX-License-Identifier: GPL-2.0-only
/*
 * live.c - see live.h. The rows of the tape go into a temporary database. Now and then those that are complete move
 * into temporary tables, which hide the database's own: so the SQL of any export adds up what is new.
 */
#include "report/export/prometheus/live.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/export/prometheus/live_probes.h"
#include "report/query/part_tables.h"
#include "report/query/whole.h"
#include "report/rows/rows.h"
#include "report/tape/follow.h"
#include "report/util/array.h"

#define SESSION_ID 1

struct nt_prometheus_live {
	char *path;
	struct nt_prometheus_choice choice;
	struct nt_tape *tape; /* NULL: there is nothing to be read yet */
	struct nt_row_iter *rows;
	struct nt_db *db;
	size_t n_problems; /* of the tape's, in the database */
	size_t n_told; /* of them, to the caller */
	struct nt_sheet sheet;
	struct nt_prometheus_named named[NT_PROMETHEUS_KINDS];
	struct nt_latency_accounting told_latency; /* of this tape */
	uint64_t probes; /* the tables of probes that have had rows, or that have figures without any */
	size_t n_rows; /* of them, since sums were made */
	size_t most_identities; /* with more, those that nothing needs are forgotten */
	bool has_forgotten; /* just now */
	bool has_told; /* something of this tape, to choice->add */
};

/* ---- opening ---- */

struct nt_prometheus_live *nt_prometheus_live_new(const char *path, const struct nt_prometheus_choice *choice)
{
	struct nt_prometheus_live *live = calloc(1, sizeof(*live));

	if (!live)
		return NULL;
	live->choice = *choice;
	live->path = strdup(path);
	if (live->path)
		return live;
	free(live);
	return NULL;
}

/* All but the names that groups have got. */
static void forget(struct nt_prometheus_live *live)
{
	nt_row_close(live->rows);
	nt_tape_close(live->tape);
	nt_db_close(live->db);
	live->rows = NULL;
	live->tape = NULL;
	live->db = NULL;
	live->n_problems = 0;
	live->n_told = 0;
	live->most_identities = 0;
	live->has_forgotten = false;
	live->has_told = false;
	live->told_latency = (struct nt_latency_accounting){0};
	live->probes = 0;
	live->n_rows = 0;
	nt_sheet_release(&live->sheet);
}

void nt_prometheus_live_free(struct nt_prometheus_live *live)
{
	if (!live)
		return;
	forget(live);
	for (size_t i = 0; i < NT_COUNT(live->named); i++)
		nt_prometheus_release_named(&live->named[i]);
	free(live->path);
	free(live);
}

static int fail(const struct nt_prometheus_live *live, char error_text[NT_ERROR_MAX])
{
	return nt_fail(error_text, "%s",
		       live->db && live->db->error[0] ? live->db->error
						      : "the tape cannot be followed: out of memory.");
}

#define TABLES                                                                                                         \
	(NT_PROMETHEUS_TABLES | NT_LIVE_PROBES_TABLES | NT_LIVE_PROBES_NAMES | NT_TABLE_BIT(NT_TABLE_SESSION) |        \
	 NT_TABLE_BIT(NT_TABLE_SESSION_META) | NT_TABLE_BIT(NT_TABLE_PROCESS) | NT_TABLE_BIT(NT_TABLE_THREAD) |        \
	 NT_TABLE_BIT(NT_TABLE_CGROUP) | NT_TABLE_BIT(NT_TABLE_SOCKET) | NT_TABLE_BIT(NT_TABLE_LOSS))

static int open_rows(struct nt_prometheus_live *live, char error_text[NT_ERROR_MAX])
{
	/* Only threads with a name, and what is known of the session at its begin: the rest costs a reader more. */
	const char *host = "";
	const struct nt_rows_want want = {.tables = TABLES,
					  .order = NT_ROWS_FOLLOWED,
					  .head = true,
					  .names_within = true,
					  .is_stopped = live->choice.is_stopped,
					  .stopped_arg = live->choice.arg};
	int error = nt_rows_open(&live->rows, live->tape, NULL, SESSION_ID, &want);

	if (error)
		return nt_fail(error_text, "'%s' cannot be read: %s.", live->path, nt_tape_error_text(error));
	if (nt_db_open(&live->db, live->path, NT_DB_LIVE) || nt_live_probes_begin(live->db))
		return fail(live, error_text);
	if (nt_tape_has_probe(live->tape, "latency") || nt_tape_has_probe(live->tape, "transmit"))
		live->probes = NT_TABLE_BIT(NT_TABLE_SKB_LATENCY);
	if (live->choice.names_host)
		host = live->tape->header.host[0] ? live->tape->header.host : "-";
	return nt_sheet_begin(&live->sheet, host, 0) ? fail(live, error_text) : 0;
}

/* ---- reading ---- */

/* As nt_prometheus_live_look. */
static int read_rows(struct nt_prometheus_live *live, char error_text[NT_ERROR_MAX])
{
	const struct nt_row *row;
	int error;

	while (!(error = nt_row_next(live->rows, &row))) {
		if (nt_db_insert(live->db, row))
			return fail(live, error_text);
		live->probes |= NT_TABLE_BIT(row->table) & NT_LIVE_PROBES_TABLES;
		live->n_rows += NT_LIVE_PROBES_TABLES >> row->table & 1;
	}
	if (error == 1 || error == -EAGAIN || error == -ECANCELED)
		return error == 1;
	return nt_fail(error_text, "the rest of '%s' cannot be read: %s.", live->path, nt_tape_error_text(error));
}

static int read_new(struct nt_prometheus_live *live, char error_text[NT_ERROR_MAX])
{
	int result;

	if (nt_db_begin(live->db))
		return fail(live, error_text);
	result = read_rows(live, error_text);
	if (result >= 0 && nt_db_finish(live->db))
		return fail(live, error_text);
	return result;
}

bool nt_prometheus_live_problem(struct nt_prometheus_live *live, char text[NT_ERROR_MAX])
{
	if (!live->tape || live->n_told >= nt_tape_problem_at(live->tape, live->n_told, text))
		return false;
	live->n_told++;
	return true;
}

/* ---- adding up ---- */

static int run(struct nt_db *db, const char *sql, int64_t ts)
{
	sqlite3_stmt *statement = nt_db_query(db, sql, SESSION_ID);

	sqlite3_bind_int64(statement, 3, ts);
	nt_db_next(statement);
	return nt_db_end(db, statement, "what is complete cannot be added up");
}

#define SQL_MAX 4096

struct sql {
	char text[SQL_MAX];
	size_t n;
};

static void put(struct sql *sql, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct sql *sql, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	sql->n += (size_t)vsnprintf(sql->text + sql->n, sizeof(sql->text) - sql->n, format, args);
	va_end(args);
}

static bool is_time(const char *column)
{
	static const char *const times[] = {"spent_ns", "exact_ns", "most_ns"};

	return NT_ANY(NT_COUNT(times), i, !strcmp(times[i], column));
}

/* Whether all of a row counts before ?3: a sum of one bucket is not divided, also where the session ends in it. */
#define IS_WHOLE "(ts + dur <= ?3 OR dur <= 100000000)"
_Static_assert(NT_BUCKET_NS == 100000000, "IS_WHOLE");

/*
 * The part of a row that lies before ?3. A sum of several buckets is that of one owner, or flow, all the time, and is
 * divided; nothing else of such a row is.
 */
static void put_part(struct sql *sql, const char *column)
{
	if (!strcmp(column, "dur"))
		put(sql, "min(dur, ?3 - ts)");
	else if (is_time(column))
		put(sql,
		    "CASE WHEN " IS_WHOLE " THEN %s WHEN %s = dur THEN ?3 - ts "
		    "ELSE CAST(CAST(%s AS REAL) * (?3 - ts) / dur AS INTEGER) END",
		    column, column, column);
	else
		put(sql, "%s", column);
}

/* Rows that are complete go from the database's table into the temporary one. */
static int move(const struct nt_part *part, enum nt_table_id id)
{
	const struct nt_table *table = nt_table(id);
	struct sql insert = {.n = 0}, keep = {.n = 0};
	char delete[200];

	put(&insert, "INSERT INTO temp.%s SELECT ", table->name);
	put(&keep, "UPDATE main.%s SET ts = ?3, dur = ts + dur - ?3", table->name);
	for (uint32_t i = 0; i < table->n_columns; i++) {
		const char *column = table->columns[i].name;

		put(&insert, i ? ", " : "");
		put_part(&insert, column);
		if (is_time(column)) {
			put(&keep, ", %s = %s - ", column, column);
			put_part(&keep, column);
		}
	}
	put(&insert, " FROM main.%s WHERE session_id = ?1 AND ts < ?3", table->name);
	put(&keep, " WHERE session_id = ?1 AND ts < ?3");
	snprintf(delete, sizeof(delete), "DELETE FROM main.%s WHERE session_id = ?1 AND ts < ?3 AND " IS_WHOLE,
		 table->name);
	return nt_part_table_make(part, id, "") || run(part->db, insert.text, part->to_ts) ||
	       run(part->db, delete, part->to_ts) || run(part->db, keep.text, part->to_ts);
}

static int tell(struct nt_prometheus_live *live, const struct nt_part *part, const struct nt_prometheus_groups *groups)
{
	const struct nt_prometheus_news news = {part, groups, !live->has_told};

	live->has_told = true;
	return live->choice.add ? live->choice.add(live->choice.arg, &news) : 0;
}

static int add_costs(struct nt_prometheus_live *live, const struct nt_part *part)
{
	static const enum nt_table_id costs[] = {NT_TABLE_CPU_COST, NT_TABLE_SOCK_COST, NT_TABLE_RX_COST};
	struct nt_prometheus_groups groups[NT_PROMETHEUS_KINDS] = {0};
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(costs) && !error; i++)
		error = move(part, costs[i]);
	if (!error)
		error = nt_prometheus_costs(part, NT_PROMETHEUS_COSTS, groups, &live->sheet);
	if (!error)
		error = tell(live, part, groups);
	if (!error && nt_prometheus_name_new_costs(groups, live->choice.limit, live->named, &live->sheet))
		error = nt_db_no_memory(live->db);
	for (size_t i = 0; i < NT_COUNT(groups); i++)
		nt_prometheus_release_groups(&groups[i], NULL);
	return error;
}

/* At the tape's end all that there is counts: no more can come. */
static int add_probes(struct nt_prometheus_live *live, const struct nt_part *part)
{
	const bool is_over = !nt_tape_is_followed(live->tape) && part->to_ts == (int64_t)live->tape->end_ns;

	live->n_rows = 0;
	return nt_live_probes_add(part, live->probes, is_over ? INT64_MAX : part->to_ts, &live->told_latency,
				  &live->sheet);
}

/* Records come on top of those before; of the recorder's own cost the tape tells all each time. */
static int add_recording(struct nt_prometheus_live *live, const struct nt_part *part)
{
	nt_prometheus_forget_recording(&live->sheet);
	return nt_prometheus_records(part, NT_PROMETHEUS_TABLES, &live->sheet) ||
	       nt_prometheus_recorder(part, NT_PROMETHEUS_TABLES, &live->sheet) ||
	       nt_prometheus_recording(part, &live->sheet);
}

static int add_session(void *arg, const struct nt_session *session)
{
	static const struct nt_selection all;
	struct nt_prometheus_live *live = arg;
	struct nt_part part = {.db = live->db,
			       .session = session,
			       .selection = &all,
			       .from_ts = session->start_ts,
			       .to_ts = session->end_ts};

	return add_costs(live, &part) || add_probes(live, &part) || add_recording(live, &part) ? -1 : 0;
}

/* The session as it would be if it had ended when its figures do. */
static int put_session(struct nt_prometheus_live *live)
{
	const bool is_complete = nt_tape_is_followed(live->tape) || live->tape->has_end;

	return run(live->db,
		   is_complete ? "UPDATE session SET end_ts = ?3, dur = ?3 - start_ts, complete = 1"
			       : "UPDATE session SET end_ts = ?3, dur = ?3 - start_ts, complete = 0",
		   (int64_t)nt_rows_known_until(live->rows));
}

static int put_problems(struct nt_prometheus_live *live)
{
	struct nt_arena arena = {0};
	int error = 0;

	for (; live->n_problems < live->tape->n_problems && !error; live->n_problems++) {
		struct nt_row row;

		error = nt_table_fill(&row, &arena, NT_TABLE_PROBLEM, SESSION_ID,
				      live->tape->problems[live->n_problems].text)
				? nt_db_no_memory(live->db)
				: nt_db_insert(live->db, &row);
	}
	nt_arena_release(&arena);
	return error;
}

/*
 * Forgets what no figure needs any more: counts that were added; losses, but for those of damage; readings before the
 * last; and threads that ended a minute ago. A process may pay for a socket long after its end.
 */
static int drop_old(struct nt_prometheus_live *live)
{
	static const char *const all[] = {
		"DELETE FROM record_count",
		"DELETE FROM loss WHERE why NOT IN " NT_MISSING_SQL,
		("DELETE FROM self_cost WHERE rowid NOT IN "
		 "(SELECT rowid FROM (SELECT rowid, max(ts) FROM self_cost GROUP BY program, name))"),
		"DELETE FROM thread WHERE end_ts < ?3 - 60000000000",
	};
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(all) && !error; i++)
		error = run(live->db, all[i], (int64_t)nt_rows_known_until(live->rows));
	return error;
}

/*
 * A state record of each CPU stands on the tape at least every 12 s, and tells of the task and the operations at hand.
 * So chunks of this time tell of whatever the slices and operations of later times speak of.
 */
#define KEPT_NS 30000000000ull
#define MANY_IDENTITIES 65536

/* Not again before there are twice as many as the last time has left: so each is read twice or so. */
static bool knows_too_many(struct nt_prometheus_live *live)
{
	const size_t n = nt_rows_n_identities(live->rows);

	if (live->has_forgotten)
		live->most_identities = 2 * n;
	live->has_forgotten = false;
	return n > MANY_IDENTITIES && n > live->most_identities;
}

/* The rows of those that are left come again, before the next are added up. */
static int forget_identities(struct nt_prometheus_live *live)
{
	static const char *const all[] = {"DELETE FROM thread", "DELETE FROM process", "DELETE FROM cgroup",
					  "DELETE FROM socket", "DELETE FROM net_device"};
	const uint64_t known_ns = nt_rows_known_until(live->rows);
	int result = 0, error = 0;

	if (knows_too_many(live) && known_ns > KEPT_NS)
		result = nt_rows_forget(live->rows, known_ns - KEPT_NS);
	nt_tape_let_go(live->tape, known_ns);
	live->has_forgotten = result == 1;
	for (size_t i = 0; i < NT_COUNT(all) && live->has_forgotten && !error; i++)
		error = run(live->db, all[i], 0);
	return result < 0 ? nt_db_no_memory(live->db) : error;
}

int nt_prometheus_live_sum(struct nt_prometheus_live *live, char error_text[NT_ERROR_MAX])
{
	/* Nothing is complete yet. */
	if (!live->rows || nt_rows_known_until(live->rows) <= live->tape->start_ns)
		return 0;
	if (nt_db_begin(live->db) || put_session(live) || put_problems(live) ||
	    nt_session_each(live->db, add_session, live) || drop_old(live) || forget_identities(live) ||
	    nt_db_finish(live->db))
		return fail(live, error_text);
	return 1;
}

/* ---- looking ---- */

bool nt_prometheus_live_is_behind(const struct nt_prometheus_live *live)
{
	return live->rows && nt_rows_is_behind(live->rows);
}

#define MANY_ROWS 100000 /* each takes a hundred bytes */

/* As nt_prometheus_live_look. Rows that were added up need no room any more. */
static int read_a_part(struct nt_prometheus_live *live, char error_text[NT_ERROR_MAX])
{
	const int result = read_new(live, error_text);

	if (!result && (nt_prometheus_live_is_behind(live) || live->n_rows > MANY_ROWS) &&
	    nt_prometheus_live_sum(live, error_text) < 0)
		return -1;
	return result;
}

int nt_prometheus_live_look(struct nt_prometheus_live *live, char error_text[NT_ERROR_MAX])
{
	int error;

	if (live->tape)
		error = nt_tape_look(live->tape, error_text);
	else
		error = nt_tape_follow(&live->tape, live->path, error_text);
	if (error == -EAGAIN)
		return 0;
	if (error == -ESTALE) {
		forget(live);
		return 0;
	}
	if (error || (!live->rows && open_rows(live, error_text)))
		return -1;
	return read_a_part(live, error_text);
}

void nt_prometheus_live_write(const struct nt_prometheus_live *live, FILE *out)
{
	nt_sheet_write(&live->sheet, out);
}

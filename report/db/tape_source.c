// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_source.c - see tape_source.h.
 */
#include "report/db/tape_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/interrupt.h"
#include "report/out/progress.h"
#include "report/rows/ahead.h"
#include "report/util/array.h"

#define SESSION_ID 1
#define ROWS_PER_LOOK 8192 /* rows between two looks at the progress */
#define STEPS_PER_LOOK 100000 /* steps of SQLite between two looks whether to stop */

/* A table of events that is kept: some columns of it. */
struct copy {
	enum nt_table_id table;
	uint64_t columns;
};

struct nt_tape_source {
	struct nt_tape *tape;
	struct nt_user_names *names; /* or NULL */
	struct nt_cgroup_names *cgroup_names; /* or NULL */
	struct nt_learned *learned; /* NULL: nothing was read yet */
	struct nt_db *store; /* NULL: not needed yet */
	uint64_t kept; /* small tables whose rows are in the store */
	uint64_t empty; /* tables that have no rows, as far as that is known */
	struct copy *copies;
	size_t n_copies, copies_size;
	struct nt_row_iter *head; /* NULL: not needed yet */
	const struct nt_row *head_row; /* one of `head`, or NULL */
	struct nt_progress progress;
	uint64_t n_rows; /* since the last look */
	struct nt_ahead_turn turn; /* of its passes */
	struct nt_rows_want part; /* nt_tape_source_limit; without tables */
	uint8_t *part_cpus;
	struct nt_rows_want charged; /* the same of rx_cost */
	uint8_t *charged_cpus;
	bool (*is_interrupted)(void *arg); /* NULL: nobody is asked */
	void *interrupted_arg;
	bool was_interrupted;
	char error[NT_ERROR_MAX];
};

/* Rows as many as the recording is long, and not as hosts have threads or sockets. */
static uint64_t large(void)
{
	return nt_tables_of(NT_FROM(LOOSE) | NT_FROM(FLOWS) | NT_FROM(SPANS) | NT_FROM(SLICES) | NT_FROM(SAMPLES) |
			    NT_FROM(STAYS) | NT_FROM(OPERATIONS));
}

/* Small tables that one pass over the events makes together. To name symbols takes time of its own. */
static uint64_t of_one_pass(void)
{
	return NT_ALL_TABLES & ~(large() | nt_tables_of(NT_FROM(META) | NT_FROM(BLOCKS)));
}

/*
 * Those of which a part is enough for who asks about a part. The time that the network causes elsewhere is told of all
 * of the tape.
 */
static uint64_t of_part(void)
{
	return nt_tables_of(NT_FROM(TASKS) | NT_FROM(FRAMES) | NT_FROM(LOSSES) | NT_FROM(SUMS) | NT_FROM(CHARGES) |
			    NT_FROM(FLOW_SUMS)) &
	       ~NT_TABLE_BIT(NT_TABLE_ELSEWHERE_COST);
}

bool nt_tape_source_is_small(enum nt_table_id table)
{
	return !(large() >> table & 1);
}

bool nt_tape_source_keeps(const struct nt_tape_source *source, enum nt_table_id table)
{
	return source->kept >> table & 1;
}

int nt_tape_source_new(struct nt_tape_source **out, struct nt_tape *tape, struct nt_user_names *names,
		       struct nt_cgroup_names *cgroup_names)
{
	struct nt_tape_source *source = calloc(1, sizeof(*source));

	*out = source;
	if (!source) {
		nt_tape_close(tape);
		nt_user_names_free(names);
		nt_cgroup_names_free(cgroup_names);
		return -1;
	}
	source->tape = tape;
	source->names = names;
	source->cgroup_names = cgroup_names;
	return 0;
}

size_t nt_tape_source_problem_at(const struct nt_tape_source *source, size_t at, char text[NT_ERROR_MAX])
{
	return nt_tape_problem_at(source->tape, at, text);
}

const char *nt_tape_source_path(const struct nt_tape_source *source)
{
	return source->tape->path;
}

uint32_t nt_tape_source_cpus(const struct nt_tape_source *source)
{
	return source->tape->n_cpus;
}

void nt_tape_source_show(struct nt_tape_source *source)
{
	nt_progress_begin(&source->progress, source->tape->path);
}

void nt_tape_source_free(struct nt_tape_source *source)
{
	if (!source)
		return;
	nt_progress_end(&source->progress);
	nt_row_close(source->head);
	nt_learned_free(source->learned);
	nt_db_close(source->store);
	nt_tape_close(source->tape);
	nt_user_names_free(source->names);
	nt_cgroup_names_free(source->cgroup_names);
	free(source->copies);
	free(source->part_cpus);
	free(source->charged_cpus);
	free(source);
}

char *nt_tape_source_error(struct nt_tape_source *source)
{
	return source->error;
}

void nt_tape_source_ask(struct nt_tape_source *source, bool (*is_interrupted)(void *arg), void *arg)
{
	source->is_interrupted = is_interrupted;
	source->interrupted_arg = arg;
}

bool nt_tape_source_was_interrupted(const struct nt_tape_source *source)
{
	return source->was_interrupted;
}

/* ---- reading ---- */

static bool is_interrupted(void *arg)
{
	const struct nt_tape_source *source = arg;

	return nt_interrupted() || (source->is_interrupted && source->is_interrupted(source->interrupted_arg));
}

static int fail_no_memory(struct nt_tape_source *source)
{
	return nt_fail(source->error, "%s: out of memory.", source->tape->path);
}

static int fail_interrupted(struct nt_tape_source *source)
{
	source->was_interrupted = true;
	return nt_fail(source->error, "interrupted.");
}

/* `ahead`: made by a thread. */
static int open_rows(struct nt_tape_source *source, const struct nt_rows_want *want, bool ahead,
		     struct nt_row_iter **out)
{
	struct nt_rows_want of_tape = *want;
	int error = 0;

	*out = NULL;
	source->was_interrupted = false;
	nt_ahead_pause(&source->turn);
	if (!source->learned)
		error = nt_learned_new(&source->learned, source->tape);
	of_tape.learned = source->learned;
	of_tape.cgroup_names = source->cgroup_names;
	of_tape.is_stopped = is_interrupted;
	of_tape.stopped_arg = source;
	if (!error)
		error = ahead ? nt_ahead_open(out, &source->turn, source->tape, source->names, SESSION_ID, &of_tape)
			      : nt_rows_open(out, source->tape, source->names, SESSION_ID, &of_tape);
	if (!error)
		return 0;
	return nt_fail(source->error, "%s cannot be read: %s.", source->tape->path, nt_tape_error_text(error));
}

static int next_row(struct nt_tape_source *source, struct nt_row_iter *rows, const struct nt_row **row)
{
	int error = nt_row_next(rows, row);

	if (error == -ECANCELED)
		return fail_interrupted(source);
	if (error < 0)
		return nt_fail(source->error, "the rest of %s cannot be read: %s.", source->tape->path,
			       nt_tape_error_text(error));
	if (++source->n_rows % ROWS_PER_LOOK && !error)
		return 0;
	if (error)
		nt_progress_end(&source->progress);
	else
		nt_progress_show(&source->progress, nt_row_progress(rows), source->n_rows);
	return is_interrupted(source) ? fail_interrupted(source) : error;
}

int nt_tape_source_head(struct nt_tape_source *source, const struct nt_row **row)
{
	if (!source->head &&
	    open_rows(source, &(struct nt_rows_want){.tables = NT_TABLE_BIT(NT_TABLE_SESSION), .head = true}, false,
		      &source->head))
		return -1;
	if (!source->head_row && next_row(source, source->head, &source->head_row)) {
		nt_row_close(source->head);
		source->head = NULL;
		source->head_row = NULL;
		return -1;
	}
	*row = source->head_row;
	return 0;
}

/* ---- keeping ---- */

static int fail_store(struct nt_tape_source *source)
{
	if (source->store && sqlite3_errcode(source->store->handle) == SQLITE_INTERRUPT)
		return fail_interrupted(source);
	return source->store ? nt_fail(source->error, "%s", source->store->error) : fail_no_memory(source);
}

static int is_stopped_in_store(void *arg)
{
	return is_interrupted(arg);
}

static int run_in_store(struct nt_tape_source *source, const char *sql)
{
	if (sqlite3_exec(source->store->handle, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	nt_db_fail(source->store, "rows cannot be kept");
	return fail_store(source);
}

static int open_store(struct nt_tape_source *source)
{
	if (source->store)
		return 0;
	if (nt_db_open(&source->store, source->tape->path, NT_DB_TEMPORARY))
		return fail_store(source);
	/* An index of many rows takes its time, too. */
	sqlite3_progress_handler(source->store->handle, STEPS_PER_LOOK, is_stopped_in_store, source);
	return 0;
}

/*
 * It has no journal, so nothing that failed can be taken back: then all that is kept goes. Statements that read it
 * still have it until they end.
 */
static void discard_store(struct nt_tape_source *source)
{
	nt_db_close(source->store);
	source->store = NULL;
	source->kept = 0;
	source->n_copies = 0;
}

static bool is_same_view(const struct nt_tape_source *source, const struct nt_view *a, const struct nt_view *b)
{
	return a->from_ns == b->from_ns && a->to_ns == b->to_ns && !a->cpus == !b->cpus &&
	       (!a->cpus || !memcmp(a->cpus, b->cpus, source->tape->n_cpus));
}

/* Drops the kept rows of another view. */
static int forget(struct nt_tape_source *source, uint64_t tables)
{
	char sql[64];

	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		if (!(source->kept & tables & NT_TABLE_BIT(id)))
			continue;
		snprintf(sql, sizeof(sql), "DELETE FROM %s", nt_table((enum nt_table_id)id)->name);
		if (run_in_store(source, sql))
			return -1;
		source->kept &= ~NT_TABLE_BIT(id);
	}
	return 0;
}

/* `want` is of this view from now on, and the kept tables are no longer what it says. */
static int set_view(struct nt_tape_source *source, struct nt_rows_want *want, uint8_t **cpus,
		    const struct nt_view *view, uint64_t tables)
{
	uint8_t *copy = view->cpus ? calloc(source->tape->n_cpus + 1, 1) : NULL;

	if (view->cpus && !copy)
		return fail_no_memory(source);
	if (view->cpus)
		memcpy(copy, view->cpus, source->tape->n_cpus);
	free(*cpus);
	*cpus = copy;
	*want = (struct nt_rows_want){.view = {view->from_ns, view->to_ns, copy},
				      .buckets_of_recording = true,
				      .names_within = nt_view_is_part(view)};
	return forget(source, tables);
}

int nt_tape_source_charge(struct nt_tape_source *source, const struct nt_view *view)
{
	return is_same_view(source, &source->charged.view, view)
		       ? 0
		       : set_view(source, &source->charged, &source->charged_cpus, view,
				  NT_TABLE_BIT(NT_TABLE_RX_COST));
}

/* Names are the same in all views. */
int nt_tape_source_limit(struct nt_tape_source *source, const struct nt_view *view)
{
	if (!is_same_view(source, &source->part.view, view) &&
	    set_view(source, &source->part, &source->part_cpus, view, of_part() & ~nt_tables_of(NT_FROM(TASKS))))
		return -1;
	return nt_tape_source_charge(source, view);
}

static bool is_limited(const struct nt_rows_want *want)
{
	return nt_view_is_part(&want->view);
}

/* The tables that are of another view than the rest. */
static uint64_t apart(const struct nt_tape_source *source)
{
	return is_same_view(source, &source->charged.view, &source->part.view) ? 0 : NT_TABLE_BIT(NT_TABLE_RX_COST);
}

/* The small tables that a pass can make, of all of the tape or of the part. */
static uint64_t kept_by_pass(const struct nt_tape_source *source, bool is_of_part)
{
	const uint64_t tables = !is_limited(&source->part) ? of_one_pass()
				: is_of_part		   ? of_part()
							   : of_one_pass() & ~of_part();

	return tables & ~(source->kept | apart(source));
}

struct pass {
	struct nt_row_iter iter;
	struct nt_tape_source *source;
	struct nt_row_iter *rows; /* NULL: there are none */
	bool is_ahead; /* a thread makes them */
	bool is_whole; /* not of a window, nor of some CPUs */
	uint64_t gives, keeps; /* tables: those of its rows, and those whose rows it still puts into the store */
	uint64_t empty; /* of its rows, at their end */
};

/* All rows were given. */
static int finish_pass(struct pass *pass)
{
	struct nt_tape_source *source = pass->source;

	if (pass->is_whole)
		source->empty |= pass->empty;
	if (pass->keeps && nt_db_finish(source->store))
		return fail_store(source);
	source->kept |= pass->keeps;
	pass->keeps = 0;
	return 1;
}

static int next_of_pass(struct nt_row_iter *iter, const struct nt_row **row)
{
	struct pass *pass = (struct pass *)iter;

	if (!pass->rows)
		return 1;
	/* A thread may have begun to read the tape for somebody else. */
	if (!pass->is_ahead)
		nt_ahead_pause(&pass->source->turn);
	for (;;) {
		const int error = next_row(pass->source, pass->rows, row);
		uint64_t bit;

		if (error)
			return error < 0 ? error : finish_pass(pass);
		bit = NT_TABLE_BIT((*row)->table);
		if (pass->keeps & bit && nt_db_insert(pass->source->store, *row))
			return fail_store(pass->source);
		if (pass->gives & bit)
			return 0;
	}
}

static unsigned int progress_of_pass(const struct nt_row_iter *iter)
{
	const struct pass *pass = (const struct pass *)iter;

	return pass->rows ? nt_row_progress(pass->rows) : 1000;
}

static void close_pass(struct nt_row_iter *iter)
{
	struct pass *pass = (struct pass *)iter;

	if (pass->keeps)
		discard_store(pass->source);
	nt_row_close(pass->rows);
	free(pass);
}

static int open_rows_of_pass(struct pass *pass, const struct nt_rows_want *want)
{
	struct nt_tape_source *source = pass->source;
	struct nt_rows_want rest = *want;

	source->was_interrupted = false;
	rest.tables = pass->gives | pass->keeps;
	rest.empty = &pass->empty;
	if (!rest.tables)
		return 0;
	if (pass->keeps && (open_store(source) || nt_db_begin(source->store)))
		return fail_store(source);
	return open_rows(source, &rest, pass->is_ahead, &pass->rows);
}

static int open_pass(struct nt_row_iter **out, struct nt_tape_source *source, const struct nt_rows_want *want,
		     uint64_t keeps, bool ahead)
{
	struct pass *pass = malloc(sizeof(*pass));

	*out = NULL;
	if (!pass)
		return fail_no_memory(source);
	*pass = (struct pass){.iter = {next_of_pass, progress_of_pass, close_pass},
			      .source = source,
			      .is_ahead = ahead,
			      .is_whole = !is_limited(want),
			      .gives = want->tables & ~source->empty,
			      .keeps = keeps};
	if (open_rows_of_pass(pass, want)) {
		close_pass(&pass->iter);
		return -1;
	}
	*out = &pass->iter;
	return 0;
}

int nt_tape_source_read(struct nt_row_iter **out, struct nt_tape_source *source, const struct nt_rows_want *want,
			uint64_t small)
{
	const bool is_of_part = !is_limited(want) && is_limited(&source->part);
	struct nt_rows_want wanted = is_of_part ? source->part : *want;

	wanted.tables = want->tables;
	wanted.order = want->order;
	wanted.all_ops = want->all_ops;
	if (want->order != NT_ROWS_EVENTS_FIRST || is_limited(want))
		small = 0;
	return open_pass(out, source, &wanted, small & kept_by_pass(source, is_of_part), false);
}

int nt_tape_source_read_ahead(struct nt_row_iter **out, struct nt_tape_source *source, const struct nt_rows_want *want)
{
	return open_pass(out, source, want, 0, true);
}

static int keep_small(struct nt_tape_source *source, enum nt_table_id table)
{
	const uint64_t bit = NT_TABLE_BIT(table);
	const bool is_apart = bit & apart(source);
	const struct nt_rows_want *of = is_apart ? &source->charged : &source->part;
	const bool is_of_part = is_limited(of) && bit & of_part();
	const struct nt_rows_want whole = {0};
	struct nt_row_iter *rows;
	uint64_t keeps = bit;
	const struct nt_row *row;
	int error;

	if (source->kept & bit)
		return 0;
	/* Of a part samples cost much; of all of the tape one pass makes them all. */
	if (is_of_part && bit & nt_tables_of(NT_FROM(SUMS)))
		keeps = kept_by_pass(source, true) & ~nt_tables_of(NT_FROM(FRAMES));
	else if (!is_of_part && !is_apart && bit & of_one_pass())
		keeps = kept_by_pass(source, false);
	error = open_pass(&rows, source, is_of_part ? of : &whole, keeps, true);
	if (!error)
		error = nt_row_next(rows, &row);
	nt_row_close(rows);
	return error < 0 ? error : 0;
}

/* ---- keeping parts of what is large ---- */

#define IS_USED(columns, i) ((columns) >> ((i) < 63 ? (i) : 63) & 1)
#define COPY_NAME_MAX 64
#define SQL_MAX 2048

static void name_copy(const struct copy *copy, char name[COPY_NAME_MAX])
{
	snprintf(name, COPY_NAME_MAX, "%s_%llx", nt_table(copy->table)->name, (unsigned long long)copy->columns);
}

/* A kept copy that has these columns, or NULL. */
static const struct copy *find_copy(const struct nt_tape_source *source, enum nt_table_id table, uint64_t columns)
{
	for (size_t i = 0; i < source->n_copies; i++) {
		if (source->copies[i].table == table && !(columns & ~source->copies[i].columns))
			return &source->copies[i];
	}
	return NULL;
}

static int make_copy(struct nt_tape_source *source, const struct copy *copy)
{
	const struct nt_table *table = nt_table(copy->table);
	char sql[SQL_MAX], name[COPY_NAME_MAX];
	const char *separator = "";
	int at;

	name_copy(copy, name);
	at = snprintf(sql, sizeof(sql), "CREATE TABLE %s(", name);
	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (!IS_USED(copy->columns, i))
			continue;
		at += snprintf(sql + at, sizeof(sql) - (size_t)at, "%s%s %s", separator, table->columns[i].name,
			       table->columns[i].type == NT_VALUE_TEXT ? "TEXT" : "INTEGER");
		separator = ", ";
	}
	snprintf(sql + at, sizeof(sql) - (size_t)at, ")");
	return run_in_store(source, sql);
}

static sqlite3_stmt *prepare_copying(struct nt_tape_source *source, const struct copy *copy)
{
	char sql[SQL_MAX], name[COPY_NAME_MAX];
	sqlite3_stmt *statement;
	const char *separator = "?";
	int at;

	name_copy(copy, name);
	at = snprintf(sql, sizeof(sql), "INSERT INTO %s VALUES(", name);
	for (uint32_t i = 0; i < nt_table(copy->table)->n_columns; i++) {
		if (!IS_USED(copy->columns, i))
			continue;
		at += snprintf(sql + at, sizeof(sql) - (size_t)at, "%s", separator);
		separator = ", ?";
	}
	snprintf(sql + at, sizeof(sql) - (size_t)at, ")");
	statement = nt_db_prepare(source->store, sql, NULL);
	if (!statement)
		fail_store(source);
	return statement;
}

static int copy_row(struct nt_tape_source *source, const struct copy *copy, sqlite3_stmt *insert,
		    const struct nt_row *row)
{
	int to = 1;

	for (uint32_t i = 0; i < row->n; i++) {
		if (IS_USED(copy->columns, i))
			nt_db_bind(insert, to++, &row->values[i]);
	}
	sqlite3_step(insert);
	if (sqlite3_reset(insert) == SQLITE_OK)
		return 0;
	nt_db_fail(source->store, "rows cannot be kept");
	return fail_store(source);
}

static int fill_copy(struct nt_tape_source *source, const struct copy *copy)
{
	sqlite3_stmt *insert = prepare_copying(source, copy);
	const struct nt_rows_want want = {.tables = NT_TABLE_BIT(copy->table)};
	struct nt_row_iter *rows = NULL;
	const struct nt_row *row;
	int error = insert ? nt_tape_source_read_ahead(&rows, source, &want) : -1;

	while (!error) {
		error = nt_row_next(rows, &row);
		if (!error)
			error = copy_row(source, copy, insert, row);
	}
	nt_row_close(rows);
	sqlite3_finalize(insert);
	return error < 0 ? error : 0;
}

static int add_copy(struct nt_tape_source *source, const struct copy *copy)
{
	if (NT_ROOM(source->copies, source->copies_size, source->n_copies + 1))
		return fail_no_memory(source);
	/* It is looked into again and again, unlike the small tables. */
	if (run_in_store(source, "PRAGMA cache_size = -32768; PRAGMA cache_spill = ON"))
		return -1;
	if (nt_db_begin(source->store))
		return fail_store(source);
	if (make_copy(source, copy) || fill_copy(source, copy))
		return -1;
	if (nt_db_finish(source->store))
		return fail_store(source);
	source->copies[source->n_copies++] = *copy;
	return 0;
}

/* ---- asking what is kept ---- */

static const char *column_name(const struct nt_table *table, int column)
{
	return column == NT_TAPE_SOURCE_ROWID ? "rowid" : table->columns[column].name;
}

/* " WHERE a = ?1 AND b = ?2", or the columns of an index. */
static int list_columns(char *text, size_t size, const struct nt_table *table, const int *columns, unsigned int n,
			bool is_where)
{
	int at = 0;

	text[0] = 0;
	for (unsigned int i = 0; i < n; i++) {
		if (is_where)
			at += snprintf(text + at, size - (size_t)at, "%s%s = ?%u", i ? " AND " : " WHERE ",
				       column_name(table, columns[i]), i + 1);
		else
			at += snprintf(text + at, size - (size_t)at, "%s%s", i ? ", " : "",
				       column_name(table, columns[i]));
	}
	return at;
}

/* Whether the columns have the table's key, or its rowid: SQLite finds rows by these. */
static bool have_key(const struct nt_table *table, const int *columns, unsigned int n)
{
	if (NT_ANY(n, i, columns[i] == NT_TAPE_SOURCE_ROWID))
		return true;
	return table->key && NT_ANY(n, i, columns[i] == 0) &&
	       NT_ANY(n, i, !strcmp(table->columns[columns[i]].name, table->key));
}

/* An index over the columns, if it is needed. */
static int make_index(struct nt_tape_source *source, enum nt_table_id id, const char *name, const int *equal,
		      unsigned int n)
{
	const struct nt_table *table = nt_table(id);
	char sql[SQL_MAX], columns[SQL_MAX / 4], words[SQL_MAX / 4];

	if (have_key(table, equal, n))
		return 0;
	list_columns(columns, sizeof(columns), table, equal, n, false);
	snprintf(words, sizeof(words), "%s", columns);
	for (char *at = words; *at; at++)
		*at = *at == ',' || *at == ' ' ? '_' : *at;
	snprintf(sql, sizeof(sql), "CREATE INDEX IF NOT EXISTS %s_by_%s ON %s(%s)", name, words, name, columns);
	return run_in_store(source, sql);
}

/* The name of what keeps these columns of the table. */
static int keep(struct nt_tape_source *source, enum nt_table_id table, uint64_t columns, char name[COPY_NAME_MAX])
{
	const struct copy *copy, wanted = {table, columns};

	if (open_store(source))
		return -1;
	if (nt_tape_source_is_small(table)) {
		snprintf(name, COPY_NAME_MAX, "%s", nt_table(table)->name);
		return keep_small(source, table);
	}
	copy = find_copy(source, table, columns);
	if (!copy && add_copy(source, &wanted))
		return -1;
	name_copy(copy ? copy : &wanted, name);
	return 0;
}

sqlite3_stmt *nt_tape_source_kept(struct nt_tape_source *source, enum nt_table_id id, uint64_t columns,
				  const int *equal, unsigned int n, bool again)
{
	const struct nt_table *table = nt_table(id);
	char sql[SQL_MAX], name[COPY_NAME_MAX], where[SQL_MAX / 4];
	sqlite3_stmt *statement;
	int at;

	source->was_interrupted = false;
	for (unsigned int i = 0; i < n; i++) {
		if (equal[i] != NT_TAPE_SOURCE_ROWID)
			columns |= 1ull << (equal[i] < 63 ? equal[i] : 63);
	}
	/* A copy without columns could not be made. Of a small table SQLite may ask for the key without saying so
	 * before. */
	columns |= nt_tape_source_is_small(id) ? UINT64_MAX : 1;
	if (keep(source, id, columns, name) || (again && n && make_index(source, id, name, equal, n))) {
		discard_store(source);
		return NULL;
	}
	at = snprintf(sql, sizeof(sql), "SELECT ");
	for (uint32_t i = 0; i < table->n_columns; i++)
		at += snprintf(sql + at, sizeof(sql) - (size_t)at, "%s%s", i ? ", " : "",
			       IS_USED(columns, i) ? table->columns[i].name : "NULL");
	list_columns(where, sizeof(where), table, equal, n, true);
	snprintf(sql + at, sizeof(sql) - (size_t)at, "%s FROM %s%s%s", table->key ? "" : ", rowid", name, where,
		 table->key ? "" : " ORDER BY rowid");
	statement = nt_db_prepare(source->store, sql, NULL);
	if (!statement)
		fail_store(source);
	return statement;
}

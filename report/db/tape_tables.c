// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_tables.c - see tape_tables.h. A small table is kept, and looked into by its columns. A table of events is read
 * from the tape; conditions that compare one of its columns with a value drop rows before SQLite sees them. If a
 * statement comes back to a table of events it has joined it: then the columns that it uses are kept with an index.
 *
 * The plan of a look into a table is a text: the set of columns asked for, and for each parameter the comparison and
 * the column ("1f=2<1"), after a '*' if all of the tape must be read. SQLite checks all conditions again, so a row too
 * many is no mistake.
 */
#include "report/db/tape_tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/views.h"
#include "report/util/array.h"

#define MODULE "nettape"
#define MAX_CONDITIONS 16
#define ROWID NT_TAPE_SOURCE_ROWID
#define PLAN_MAX (24 + 4 * MAX_CONDITIONS)
#define MAX_PLANS 8
#define ROWS_PER_STEP 8192 /* SQLite is interrupted only between two rows that it gets */

struct condition {
	char comparison; /* '=', '<', '>', or 'l' and 'g' for <= and >= */
	int column; /* or ROWID, which SQLite calls -1, too */
};

struct plan {
	bool is_whole; /* rows are asked for by their numbers: conditions leave nothing of the tape out */
	uint64_t columns; /* as nt_tape_source_kept */
	unsigned int n;
	struct condition conditions[MAX_CONDITIONS];
};

struct table {
	sqlite3_vtab base;
	struct nt_tape_source *source;
	enum nt_table_id id;
	/* How often rows were asked for by a plan, while there is a cursor: a subquery may have a new one each time. */
	struct {
		char plan[PLAN_MAX];
		unsigned int n;
	} looks[MAX_PLANS];
	unsigned int n_looks, n_cursors;
};

struct cursor {
	sqlite3_vtab_cursor base;
	char text[PLAN_MAX]; /* of the plan */
	struct plan plan;
	sqlite3_value *values[MAX_CONDITIONS]; /* of the plan's conditions */
	int64_t rowid;
	bool at_end;
	/* Rows as they are read, or of the session's head, */
	bool is_reading;
	struct nt_row_iter *rows;
	bool is_part; /* not all of the tape is read */
	uint8_t *cpus; /* as in struct nt_rows_want, or NULL */
	const struct nt_row *row;
	/* or out of the store. */
	sqlite3_stmt *kept;
	uint32_t kept_by; /* a bit for each of the plan's conditions that it chooses rows by */
	bool kept_again;
};

static int fail(struct table *table)
{
	sqlite3_free(table->base.zErrMsg);
	table->base.zErrMsg = sqlite3_mprintf("%s", nt_tape_source_error(table->source));
	return nt_tape_source_was_interrupted(table->source) ? SQLITE_INTERRUPT : SQLITE_ERROR;
}

/* ---- plans ---- */

static char comparison_of(unsigned char op)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		return '=';
	case SQLITE_INDEX_CONSTRAINT_LT:
		return '<';
	case SQLITE_INDEX_CONSTRAINT_GT:
		return '>';
	case SQLITE_INDEX_CONSTRAINT_LE:
		return 'l';
	case SQLITE_INDEX_CONSTRAINT_GE:
		return 'g';
	default:
		return 0;
	}
}

/* Whether a condition is one that rows can be chosen by. Lists (IN) would need a look for each of their values. */
static bool is_useful(const struct table *table, sqlite3_index_info *info, int i, char *comparison)
{
	const struct sqlite3_index_constraint *constraint = &info->aConstraint[i];

	*comparison = comparison_of(constraint->op);
	if (!constraint->usable || !*comparison || strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0)
		return false;
	return nt_tape_source_is_small(table->id) ? *comparison == '=' : !sqlite3_vtab_in(info, i, -1);
}

/* The cost of a look, in reads of a row. */
static void set_cost(const struct table *table, sqlite3_index_info *info, const struct plan *plan)
{
	const double size = nt_tape_source_is_small(table->id) ? 1e3 : 1e6;
	unsigned int equal = 0, other = 0;

	for (unsigned int i = 0; i < plan->n; i++) {
		if (plan->conditions[i].comparison == '=')
			equal += plan->conditions[i].column != 0; /* all rows are of one session */
		else
			other++;
	}
	/*
	 * Kept rows are found by conditions of equality; of other tables all rows are read. There, conditions make no
	 * look so much cheaper that two of them, each for one side of an OR, cost less than one without.
	 */
	if (nt_tape_source_is_small(table->id)) {
		info->estimatedRows = (sqlite3_int64)(size / (equal ? 100 : 1));
		info->estimatedCost = equal ? 10 : size;
	} else {
		info->estimatedRows = (sqlite3_int64)size;
		info->estimatedCost = size * 10 * (equal ? 0.9 : 1) * (other ? 0.9 : 1);
	}
}

/* Whether a condition or ORDER BY names the rowid. SQLite does not say so of a column of the result. */
static bool names_rowid(const sqlite3_index_info *info)
{
	return NT_ANY((size_t)info->nConstraint, i, info->aConstraint[i].iColumn < 0) ||
	       NT_ANY((size_t)info->nOrderBy, i, info->aOrderBy[i].iColumn < 0);
}

static int best_plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct table *table = (const struct table *)base;
	struct plan plan = {.columns = info->colUsed};
	char text[PLAN_MAX];
	int at =
		snprintf(text, sizeof(text), "%s%llx", names_rowid(info) ? "*" : "", (unsigned long long)info->colUsed);

	for (int i = 0; i < info->nConstraint && plan.n < MAX_CONDITIONS; i++) {
		struct condition condition = {.column = info->aConstraint[i].iColumn};

		if (!is_useful(table, info, i, &condition.comparison))
			continue;
		plan.conditions[plan.n++] = condition;
		info->aConstraintUsage[i].argvIndex = (int)plan.n;
		at += snprintf(text + at, sizeof(text) - (size_t)at, "%c%d", condition.comparison, condition.column);
	}
	set_cost(table, info, &plan);
	/* They come in the order of their rowids. */
	info->orderByConsumed = info->nOrderBy == 1 && info->aOrderBy[0].iColumn < 0 && !info->aOrderBy[0].desc;
	info->idxStr = sqlite3_mprintf("%s", text);
	info->needToFreeIdxStr = 1;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

static void parse_plan(const char *text, struct plan *plan)
{
	char *at;

	*plan = (struct plan){.is_whole = *text == '*'};
	plan->columns = strtoull(text + plan->is_whole, &at, 16);
	while (*at && plan->n < MAX_CONDITIONS) {
		struct condition *condition = &plan->conditions[plan->n++];

		condition->comparison = *at;
		condition->column = (int)strtol(at + 1, &at, 10);
	}
}

/* ---- conditions on rows that are read ---- */

static int compare_integers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static bool is_same_text(const struct nt_value *value, sqlite3_value *with)
{
	const char *text = (const char *)sqlite3_value_text(with);

	/* Without memory SQLite compares them, if it can. */
	return !text || (strlen(text) == (size_t)sqlite3_value_bytes(with) && !strcmp(value->text, text));
}

static bool holds(char comparison, int order)
{
	switch (comparison) {
	case '=':
		return order == 0;
	case '<':
		return order < 0;
	case '>':
		return order > 0;
	case 'l':
		return order <= 0;
	default:
		return order >= 0;
	}
}

/* Values of other types than the column's are left to SQLite, and so is the order of texts: it depends on its encoding.
 */
static bool may_fit(const struct condition *condition, const struct nt_value *value, sqlite3_value *with)
{
	const int type = sqlite3_value_type(with);

	if (value->type == NT_VALUE_NULL || type == SQLITE_NULL)
		return false;
	if (value->type == NT_VALUE_INTEGER && type == SQLITE_INTEGER)
		return holds(condition->comparison, compare_integers(value->integer, sqlite3_value_int64(with)));
	if (value->type == NT_VALUE_TEXT && type == SQLITE_TEXT && condition->comparison == '=')
		return is_same_text(value, with);
	return true;
}

static bool row_may_fit(const struct cursor *cursor)
{
	const struct nt_value rowid = {.type = NT_VALUE_INTEGER, .integer = cursor->rowid};

	for (unsigned int i = 0; i < cursor->plan.n; i++) {
		const struct condition *condition = &cursor->plan.conditions[i];
		const struct nt_value *value =
			condition->column == ROWID ? &rowid : &cursor->row->values[condition->column];

		if (!may_fit(condition, value, cursor->values[i]))
			return false;
	}
	return true;
}

/* ---- cursors ---- */

static struct table *table_of(struct cursor *cursor)
{
	return (struct table *)cursor->base.pVtab;
}

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
	struct cursor *cursor = calloc(1, sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	((struct table *)base)->n_cursors++;
	*out = &cursor->base;
	return SQLITE_OK;
}

static void forget_values(struct cursor *cursor)
{
	for (unsigned int i = 0; i < MAX_CONDITIONS; i++) {
		sqlite3_value_free(cursor->values[i]);
		cursor->values[i] = NULL;
	}
}

static void end_look(struct cursor *cursor)
{
	nt_row_close(cursor->rows);
	cursor->rows = NULL;
	free(cursor->cpus);
	cursor->cpus = NULL;
	cursor->is_reading = cursor->is_part = false;
	sqlite3_finalize(cursor->kept);
	cursor->kept = NULL;
	forget_values(cursor);
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;
	struct table *table = table_of(cursor);

	if (!--table->n_cursors)
		table->n_looks = 0;
	end_look(cursor);
	free(cursor);
	return SQLITE_OK;
}

static int next_kept(struct cursor *cursor)
{
	const int code = sqlite3_step(cursor->kept);

	cursor->at_end = code == SQLITE_DONE;
	if (code == SQLITE_ROW || code == SQLITE_DONE)
		return SQLITE_OK;
	table_of(cursor)->base.zErrMsg = sqlite3_mprintf("%s", sqlite3_errmsg(sqlite3_db_handle(cursor->kept)));
	return code;
}

static int next_read(struct cursor *cursor)
{
	int result;

	do {
		cursor->rowid++;
		result = nt_row_next(cursor->rows, &cursor->row);
	} while (!result && !row_may_fit(cursor) && cursor->rowid % ROWS_PER_STEP);
	cursor->at_end = result == 1;
	return result < 0 ? fail(table_of(cursor)) : SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	if (cursor->is_reading)
		return next_read(cursor);
	if (cursor->kept)
		return next_kept(cursor);
	cursor->at_end = true; /* the head is one row */
	return SQLITE_OK;
}

/* ---- what need not be read of the tape ---- */

/* The first and the last integer that a condition leaves. */
static void narrow(char comparison, int64_t value, int64_t *first, int64_t *last)
{
	const bool is_least = comparison == '=' || comparison == 'g', is_most = comparison == '=' || comparison == 'l';

	if (is_least && value > *first)
		*first = value;
	if (is_most && value < *last)
		*last = value;
	if (comparison == '>' && value >= *first)
		*first = value < INT64_MAX ? value + 1 : value;
	if (comparison == '<' && value <= *last)
		*last = value > INT64_MIN ? value - 1 : value;
}

/* The same of all conditions on the column of this name. */
static void narrow_column(const struct cursor *cursor, const char *name, int64_t *first, int64_t *last)
{
	const struct nt_table *table = nt_table(table_of((struct cursor *)cursor)->id);

	for (unsigned int i = 0; i < cursor->plan.n; i++) {
		const struct condition *condition = &cursor->plan.conditions[i];

		if (condition->column != ROWID && !strcmp(table->columns[condition->column].name, name) &&
		    sqlite3_value_type(cursor->values[i]) == SQLITE_INTEGER)
			narrow(condition->comparison, sqlite3_value_int64(cursor->values[i]), first, last);
	}
}

/*
 * Blocks are not read where conditions on ts and cpu leave nothing of them. False: they leave no row at all. Where part
 * of the tape is read, nobody knows the numbers of its rows.
 */
static bool choose_part(struct cursor *cursor, struct nt_rows_want *want)
{
	int64_t from_ts = 0, last_ts = INT64_MAX, first_cpu = 0, last_cpu = INT64_MAX;

	narrow_column(cursor, "ts", &from_ts, &last_ts);
	narrow_column(cursor, "cpu", &first_cpu, &last_cpu);
	if (from_ts > last_ts || first_cpu > last_cpu)
		return false;
	if (cursor->plan.is_whole)
		return true;
	if (from_ts > 0 || last_ts < INT64_MAX) {
		want->view.from_ns = (uint64_t)from_ts;
		want->view.to_ns = (uint64_t)last_ts + 1;
		want->begun_within = true;
	}
	if (first_cpu > 0 || last_cpu < INT64_MAX) {
		const uint32_t n = nt_tape_source_cpus(table_of(cursor)->source);

		cursor->cpus = calloc(n + 1, 1);
		for (int64_t cpu = first_cpu; cursor->cpus && cpu <= last_cpu && cpu < n; cpu++)
			cursor->cpus[cpu] = 1;
		want->view.cpus = cursor->cpus; /* NULL for want of memory: all are read */
	}
	cursor->is_part = want->begun_within || want->view.cpus;
	return true;
}

static int begin_reading(struct cursor *cursor, int n, sqlite3_value **values)
{
	struct nt_rows_want want = {.tables = NT_TABLE_BIT(table_of(cursor)->id)};

	end_look(cursor);
	cursor->rowid = 0;
	for (int i = 0; i < n; i++) {
		cursor->values[i] = sqlite3_value_dup(values[i]);
		if (!cursor->values[i])
			return SQLITE_NOMEM;
	}
	cursor->is_reading = true;
	if (!choose_part(cursor, &want)) {
		cursor->at_end = true;
		return SQLITE_OK;
	}
	if (nt_tape_source_read_ahead(&cursor->rows, table_of(cursor)->source, &want))
		return fail(table_of(cursor));
	return next_read(cursor);
}

/*
 * Whether rows of the store can be chosen by a condition: it may not choose too few. A number is another text than the
 * column's, but SQLite may have to compare the two as numbers. All rows are of one session: an index of many rows would
 * only grow by it, but keys of small tables begin with it.
 */
static bool is_choosing(const struct table *table, const struct condition *condition, sqlite3_value *value)
{
	const int type = sqlite3_value_type(value);

	if (condition->comparison != '=' || (condition->column == 0 && !nt_tape_source_is_small(table->id)))
		return false;
	return condition->column == ROWID || nt_table(table->id)->columns[condition->column].type != NT_VALUE_TEXT ||
	       (type != SQLITE_INTEGER && type != SQLITE_FLOAT);
}

/* A statement that gives the rows for which the conditions hold that have a bit in `chosen`. */
static int prepare_kept(struct cursor *cursor, uint32_t chosen, bool again)
{
	const struct table *table = table_of(cursor);
	int equal[MAX_CONDITIONS];
	unsigned int n = 0;

	for (unsigned int i = 0; i < cursor->plan.n; i++) {
		if (chosen >> i & 1)
			equal[n++] = cursor->plan.conditions[i].column;
	}
	end_look(cursor);
	cursor->kept = nt_tape_source_kept(table->source, table->id, cursor->plan.columns, equal, n, again);
	cursor->kept_by = chosen;
	cursor->kept_again = again;
	return cursor->kept ? SQLITE_OK : fail(table_of(cursor));
}

static int begin_keeping(struct cursor *cursor, bool again, sqlite3_value **values)
{
	uint32_t chosen = 0;
	int code = SQLITE_OK, parameter = 0;

	for (unsigned int i = 0; i < cursor->plan.n; i++)
		chosen |= (uint32_t)is_choosing(table_of(cursor), &cursor->plan.conditions[i], values[i]) << i;
	if (!cursor->kept || chosen != cursor->kept_by || again != cursor->kept_again)
		code = prepare_kept(cursor, chosen, again);
	if (code != SQLITE_OK)
		return code;
	sqlite3_reset(cursor->kept);
	for (unsigned int i = 0; i < cursor->plan.n; i++) {
		if (chosen >> i & 1)
			code = sqlite3_bind_value(cursor->kept, ++parameter, values[i]);
		if (code != SQLITE_OK)
			return code;
	}
	return next_kept(cursor);
}

/* Whether nothing is asked for but what is known before the events are read. */
static bool is_head(const struct table *table, const struct plan *plan)
{
	uint32_t first = 0;

	if (table->id != NT_TABLE_SESSION)
		return false;
	while (strcmp(nt_table(table->id)->columns[first].name, NT_SESSION_FIRST_COUNT) != 0)
		first++;
	return !(plan->columns >> first) && !NT_ANY(plan->n, i, (uint32_t)plan->conditions[i].column >= first);
}

/* Counts a look into a table by this plan. With more plans than are known one by one, each look may be the second. */
static unsigned int count_look(struct table *table, const char *plan)
{
	const size_t i = NT_FIRST(table->n_looks, k, !strcmp(table->looks[k].plan, plan));

	if (i == MAX_PLANS)
		return 2;
	if (i == table->n_looks) {
		snprintf(table->looks[i].plan, PLAN_MAX, "%s", plan);
		table->looks[i].n = 0;
		table->n_looks++;
	}
	return ++table->looks[i].n;
}

/* The parts of a condition with OR come with plans of their own. */
static void take_plan(struct cursor *cursor, const char *text)
{
	if (!strcmp(cursor->text, text))
		return;
	end_look(cursor);
	snprintf(cursor->text, PLAN_MAX, "%s", text);
	parse_plan(text, &cursor->plan);
}

static int begin(sqlite3_vtab_cursor *base, int number, const char *text, int n, sqlite3_value **values)
{
	struct cursor *cursor = (struct cursor *)base;
	struct table *table = table_of(cursor);
	bool again;

	(void)number;
	/* No row compares with NULL: such a look costs nothing, and so it does not count. */
	cursor->at_end = NT_ANY((size_t)n, i, sqlite3_value_type(values[i]) == SQLITE_NULL);
	if (cursor->at_end)
		return SQLITE_OK;
	again = count_look(table, text) > 1;
	take_plan(cursor, text);
	if (is_head(table, &cursor->plan))
		return nt_tape_source_head(table->source, &cursor->row) ? fail(table) : SQLITE_OK;
	if (!nt_tape_source_is_small(table->id) && !again)
		return begin_reading(cursor, n, values);
	return begin_keeping(cursor, again, values);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
	return ((const struct cursor *)base)->at_end;
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	const struct cursor *cursor = (const struct cursor *)base;
	const struct nt_value *value;

	if (cursor->kept) {
		sqlite3_result_value(context, sqlite3_column_value(cursor->kept, column));
		return SQLITE_OK;
	}
	value = &cursor->row->values[column];
	if (value->type == NT_VALUE_INTEGER)
		sqlite3_result_int64(context, value->integer);
	else if (value->type == NT_VALUE_TEXT)
		sqlite3_result_text(context, value->text, -1, value->is_word ? SQLITE_STATIC : SQLITE_TRANSIENT);
	return SQLITE_OK;
}

static int give_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
	struct cursor *cursor = (struct cursor *)base;

	if (cursor->is_part) {
		sqlite3_free(base->pVtab->zErrMsg);
		base->pVtab->zErrMsg = sqlite3_mprintf(
			"rowid is not known where conditions on ts or cpu leave out a part of the tape: write +ts and "
			"+cpu there to read all of it");
		return SQLITE_ERROR;
	}
	*rowid = cursor->kept ? sqlite3_column_int64(cursor->kept, (int)nt_table(table_of(cursor)->id)->n_columns)
			      : cursor->rowid;
	return SQLITE_OK;
}

/* ---- tables ---- */

/* Arguments: module, schema, name of the table. */
static int connect_table(sqlite3 *db, void *source, int n, const char *const *words, sqlite3_vtab **out, char **error)
{
	const char *name = n > 2 ? words[2] : "";
	const enum nt_table_id id = nt_table_named(name);
	char sql[NT_DB_TABLE_MAX];
	struct table *table;
	int code;

	if (id == NT_TABLE_COUNT) {
		*error = sqlite3_mprintf("%s is no table of a tape.", name);
		return SQLITE_ERROR;
	}
	nt_db_write_table(nt_table(id), sql);
	code = sqlite3_declare_vtab(db, sql);
	if (code != SQLITE_OK)
		return code;
	table = calloc(1, sizeof(*table));
	if (!table)
		return SQLITE_NOMEM;
	table->source = source;
	table->id = id;
	*out = &table->base;
	sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
	return SQLITE_OK;
}

static int disconnect_table(sqlite3_vtab *base)
{
	sqlite3_free(base->zErrMsg);
	free(base);
	return SQLITE_OK;
}

static void free_source(void *source)
{
	nt_tape_source_free(source);
}

static const sqlite3_module module = {
	.xCreate = connect_table,
	.xConnect = connect_table,
	.xBestIndex = best_plan,
	.xDisconnect = disconnect_table,
	.xDestroy = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = begin,
	.xNext = next,
	.xEof = is_at_end,
	.xColumn = give_column,
	.xRowid = give_rowid,
};

/* Makes, or removes, the i-th of all tables and views. */
static int make(sqlite3 *db, const char *schema, size_t i)
{
	char sql[128];

	if (i >= NT_TABLE_COUNT)
		return nt_view_make(db, schema, i - NT_TABLE_COUNT);
	snprintf(sql, sizeof(sql), "CREATE VIRTUAL TABLE %s.%s USING " MODULE, schema,
		 nt_table((enum nt_table_id)i)->name);
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static void drop(sqlite3 *db, const char *schema, size_t i)
{
	char sql[128];

	if (i >= NT_TABLE_COUNT) {
		nt_view_drop(db, schema, i - NT_TABLE_COUNT);
		return;
	}
	snprintf(sql, sizeof(sql), "DROP TABLE %s.%s", schema, nt_table((enum nt_table_id)i)->name);
	sqlite3_exec(db, sql, NULL, NULL, NULL);
}

/*
 * Whether sqlite3_interrupt was called while a statement of the connection runs. SQLite 3.41 could say so; with any
 * other, a statement that is begun then is interrupted as well. If even that cannot be asked, the answer is yes too.
 * But a program may forbid its own statements to read; and where memory is out, SQLite says that.
 */
static bool is_interrupted(void *db)
{
	const int result = sqlite3_exec(db, "SELECT 1", NULL, NULL, NULL);

	return result != SQLITE_OK && result != SQLITE_AUTH && result != SQLITE_NOMEM;
}

int nt_tape_tables_make(sqlite3 *db, struct nt_tape_source *source, const char *schema, char error[NT_ERROR_MAX])
{
	const size_t count = NT_TABLE_COUNT + nt_views_count();
	int code = SQLITE_OK;
	size_t n = 0;

	if (sqlite3_create_module_v2(db, MODULE, &module, source, free_source) != SQLITE_OK)
		return nt_fail(error, "the tape's tables cannot be made: %s.", sqlite3_errmsg(db));
	while (n < count && (code = make(db, schema, n)) == SQLITE_OK)
		n++;
	if (n == count) {
		nt_tape_source_ask(source, is_interrupted, db);
		return 0;
	}
	nt_fail(error, "the tape's tables cannot be made: %s.",
		code == SQLITE_NOMEM ? sqlite3_errstr(code) : sqlite3_errmsg(db));
	while (n--)
		drop(db, schema, n);
	sqlite3_create_module_v2(db, MODULE, NULL, NULL, NULL);
	return -1;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * insert-rate - how fast SQLite inserts the rows of a database when they stand ready in memory.
 *
 *   insert-rate FROM.db TO.db [ROWS]
 *
 * Reads at most ROWS (1,000,000) rows of each table of FROM into memory, then makes the same tables, without
 * indexes, in the new file TO, with FROM's page size, and inserts all rows: one transaction, one prepared statement a
 * table, no journal, no syncing, what an importer can have at best. Prints "ROWS NS" of the inserting, the commit
 * included. Knows nothing of nettape's tables: the bar that an importer of the same rows is held against.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/clock.h"

struct value {
	int type; /* SQLITE_* */
	int size;
	union {
		sqlite3_int64 integer;
		double real;
		char *text; /* of a text or blob; never freed: the program ends soon */
	};
};

struct table {
	char *name;
	int n_columns;
	size_t n_rows, capacity;
	struct value *values; /* row by row */
};

static void fail(sqlite3 *db, const char *what)
{
	fprintf(stderr, "insert-rate: %s: %s\n", what, db ? sqlite3_errmsg(db) : "out of memory");
	exit(1);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL))
		fail(db, sql);
	return statement;
}

static void run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL))
		fail(db, sql);
}

static void copy_page_size(sqlite3 *from, sqlite3 *to)
{
	sqlite3_stmt *statement = prepare(from, "PRAGMA page_size");
	char sql[64];

	if (sqlite3_step(statement) != SQLITE_ROW)
		fail(from, "page size");
	snprintf(sql, sizeof(sql), "PRAGMA page_size = %d", sqlite3_column_int(statement, 0));
	sqlite3_finalize(statement);
	run(to, sql);
}

static struct value value_of(sqlite3_stmt *statement, int column)
{
	struct value value = {.type = sqlite3_column_type(statement, column)};

	switch (value.type) {
	case SQLITE_INTEGER:
		value.integer = sqlite3_column_int64(statement, column);
		break;
	case SQLITE_FLOAT:
		value.real = sqlite3_column_double(statement, column);
		break;
	case SQLITE_TEXT:
	case SQLITE_BLOB:
		value.size = sqlite3_column_bytes(statement, column);
		value.text = malloc((size_t)value.size + 1);
		if (!value.text)
			fail(NULL, "reading");
		if (value.size)
			memcpy(value.text, sqlite3_column_blob(statement, column), (size_t)value.size);
		break;
	}
	return value;
}

static void table_read(struct table *table, sqlite3 *db, long long rows)
{
	char *sql = sqlite3_mprintf("SELECT * FROM \"%w\" LIMIT %lld", table->name, rows);
	sqlite3_stmt *statement = prepare(db, sql);
	size_t n = 0;

	table->n_columns = sqlite3_column_count(statement);
	while (sqlite3_step(statement) == SQLITE_ROW) {
		if (n + (size_t)table->n_columns > table->capacity) {
			table->capacity = table->capacity ? table->capacity * 2 : 1024;
			table->values = realloc(table->values, table->capacity * sizeof(*table->values));
			if (!table->values)
				fail(NULL, "reading");
		}
		for (int i = 0; i < table->n_columns; i++)
			table->values[n++] = value_of(statement, i);
		table->n_rows++;
	}
	if (sqlite3_finalize(statement))
		fail(db, sql);
	sqlite3_free(sql);
}

static void bind(sqlite3_stmt *statement, int at, const struct value *value)
{
	switch (value->type) {
	case SQLITE_INTEGER:
		sqlite3_bind_int64(statement, at, value->integer);
		break;
	case SQLITE_FLOAT:
		sqlite3_bind_double(statement, at, value->real);
		break;
	case SQLITE_TEXT:
		sqlite3_bind_text(statement, at, value->text, value->size, SQLITE_STATIC);
		break;
	case SQLITE_BLOB:
		sqlite3_bind_blob(statement, at, value->text, value->size, SQLITE_STATIC);
		break;
	default:
		sqlite3_bind_null(statement, at);
	}
}

static void table_insert(const struct table *table, sqlite3 *db)
{
	char *marks = calloc(1, (size_t)table->n_columns * 2 + 1);
	sqlite3_stmt *statement;
	char *sql;

	if (!marks)
		fail(NULL, "inserting");
	for (int i = 0; i < table->n_columns; i++)
		strcat(marks, i ? ",?" : "?");
	sql = sqlite3_mprintf("INSERT INTO \"%w\" VALUES (%s)", table->name, marks);
	statement = prepare(db, sql);
	for (size_t row = 0; row < table->n_rows; row++) {
		for (int i = 0; i < table->n_columns; i++)
			bind(statement, i + 1, &table->values[row * (size_t)table->n_columns + (size_t)i]);
		if (sqlite3_step(statement) != SQLITE_DONE || sqlite3_reset(statement))
			fail(db, sql);
	}
	sqlite3_finalize(statement);
	sqlite3_free(sql);
	free(marks);
}

int main(int argc, char **argv)
{
	long long rows = argc > 3 ? strtoll(argv[3], NULL, 10) : 1000000;
	struct table tables[64] = {0};
	sqlite3_stmt *statement;
	uint64_t begin, sum = 0;
	size_t n = 0;
	sqlite3 *from, *to;

	if (argc < 3 || argc > 4 || rows <= 0) {
		fprintf(stderr, "usage: insert-rate FROM.db TO.db [ROWS]\n");
		return 2;
	}
	unlink(argv[2]);
	if (sqlite3_open_v2(argv[1], &from, SQLITE_OPEN_READONLY, NULL))
		fail(from, argv[1]);
	if (sqlite3_open(argv[2], &to))
		fail(to, argv[2]);
	copy_page_size(from, to);
	run(to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE");
	statement =
		prepare(from, "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
	while (n < 64 && sqlite3_step(statement) == SQLITE_ROW) {
		tables[n].name = strdup((const char *)sqlite3_column_text(statement, 0));
		run(to, (const char *)sqlite3_column_text(statement, 1));
		table_read(&tables[n++], from, rows);
	}
	sqlite3_finalize(statement);
	begin = clock_ns(CLOCK_MONOTONIC);
	run(to, "BEGIN");
	for (size_t i = 0; i < n; i++) {
		table_insert(&tables[i], to);
		sum += tables[i].n_rows;
	}
	run(to, "COMMIT");
	printf("%llu %llu\n", (unsigned long long)sum, (unsigned long long)(clock_ns(CLOCK_MONOTONIC) - begin));
	sqlite3_close(to);
	sqlite3_close(from);
	return 0;
}

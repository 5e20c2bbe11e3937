// SPDX-License-Identifier: GPL-2.0-only
/*
 * extension.c - nettape_sqlite.so, an extension that any program with SQLite can load: nettape_open(TAPE) makes the
 * tables and views of a tape, and percentile comes with it, unless there is another. It changes nothing else of the
 * connection, and prints nothing. docs/sql-schema.md describes it.
 */
#include "report/db/sqlite.h"
SQLITE_EXTENSION_INIT1

#include <stdlib.h>
#include <string.h>

#include "report/db/load.h"
#include "report/db/percentile.h"
#include "report/db/tape_tables.h"

#define LEAST_SQLITE 3038000 /* sqlite3_vtab_in */

/* One connection. */
struct connection {
	char *path; /* of its tape; NULL: none is open */
	char *symbols; /* directory that names of functions are looked for in, or NULL */
};

static void free_connection(void *arg)
{
	struct connection *connection = arg;

	free(connection->path);
	free(connection->symbols);
	free(connection);
}

static void forget_tape(struct connection *connection)
{
	free(connection->path);
	free(connection->symbols);
	*connection = (struct connection){0};
}

/* The second argument, if there is one, is as --symbols, and as --no-symbols if it is NULL. */
static int take_arguments(struct connection *connection, int n, sqlite3_value **values, struct nt_symbol_args *symbols,
			  char error[NT_ERROR_MAX])
{
	const char *path = (const char *)sqlite3_value_text(values[0]);
	const char *directory = n > 1 ? (const char *)sqlite3_value_text(values[1]) : NULL;

	if (connection->path)
		return nt_fail(error, "this connection has the tape %s: open another in a connection of its own.",
			       connection->path);
	if (!path)
		return nt_fail(error, "nettape_open needs the path of a tape.");
	if (nt_load_is_database(path))
		return nt_fail(error, "%s is a database and no tape: open it as any database.", path);
	/* The program may go to another directory. If nothing is there, the error has the path as given. */
	connection->path = realpath(path, NULL);
	if (!connection->path)
		connection->path = strdup(path);
	connection->symbols = directory ? strdup(directory) : NULL;
	if (!connection->path || (directory && !connection->symbols)) {
		forget_tape(connection);
		return nt_fail(error, "out of memory.");
	}
	*symbols = (struct nt_symbol_args){.none = n > 1 && !directory};
	if (directory)
		symbols->dirs[symbols->n_dirs++] = connection->symbols;
	return 0;
}

/* A rollback would take back the tables of a transaction, and the tape would stay. */
static int refuse_transaction(sqlite3 *db, char error[NT_ERROR_MAX])
{
	return sqlite3_get_autocommit(db) && sqlite3_txn_state(db, NULL) != SQLITE_TXN_WRITE
		       ? 0
		       : nt_fail(error, "nettape_open cannot run in a transaction or in a statement that writes: end "
					"it first.");
}

static void open_tape(sqlite3_context *context, int n, sqlite3_value **values)
{
	struct connection *connection = sqlite3_user_data(context);
	sqlite3 *db = sqlite3_context_db_handle(context);
	struct nt_tape_source *source;
	struct nt_symbol_args symbols;
	char error[NT_ERROR_MAX] = "";
	int result = refuse_transaction(db, error) || take_arguments(connection, n, values, &symbols, error);

	if (!result) {
		result = nt_load_source(&source, connection->path, &symbols, NULL, NULL, error) ||
			 nt_tape_tables_make(db, source, "temp", error);
		if (result)
			forget_tape(connection);
	}
	if (result)
		sqlite3_result_error(context, error, -1);
	else
		sqlite3_result_value(context, values[0]);
}

static bool has_function(sqlite3 *db, const char *name)
{
	sqlite3_stmt *statement = NULL;
	bool is;

	sqlite3_prepare_v2(db, "SELECT 1 FROM pragma_function_list WHERE name = ?1", -1, &statement, NULL);
	sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
	is = sqlite3_step(statement) == SQLITE_ROW;
	sqlite3_finalize(statement);
	return is;
}

static int add_functions(sqlite3 *db, struct connection *connection)
{
	const int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
	int code = sqlite3_create_function_v2(db, "nettape_open", 1, flags, connection, open_tape, NULL, NULL,
					      free_connection);

	if (code == SQLITE_OK)
		code = sqlite3_create_function_v2(db, "nettape_open", 2, flags, connection, open_tape, NULL, NULL,
						  NULL);
	if (code == SQLITE_OK)
		code = nt_percentile_register(db, NT_PERCENTILE_OWN);
	/* One that is there stays: the program's own statements mean that. */
	if (code == SQLITE_OK && !has_function(db, NT_PERCENTILE))
		code = nt_percentile_register(db, NT_PERCENTILE);
	return code;
}

__attribute__((visibility("default"))) int sqlite3_nettapesqlite_init(sqlite3 *db, char **error,
								      const sqlite3_api_routines *api);

int sqlite3_nettapesqlite_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
	struct connection *connection;

	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < LEAST_SQLITE) {
		*error = sqlite3_mprintf("nettape_sqlite needs SQLite 3.38 or later.");
		return SQLITE_ERROR;
	}
	if (has_function(db, "nettape_open")) /* it was loaded before */
		return SQLITE_OK;
	connection = calloc(1, sizeof(*connection));
	return connection ? add_functions(db, connection) : SQLITE_NOMEM;
}

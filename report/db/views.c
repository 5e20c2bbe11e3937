// SPDX-License-Identifier: GPL-2.0-only
/*
 * views.c - see views.h.
 */
#include "report/db/views.h"

#include <string.h>

#include "report/rows/sql_lists.h"

static const char views_sql[] =
#include "text/views_sql.h"
	;

#define BEGIN "\nCREATE VIEW "

/* Where the name of the i-th view stands, or NULL. */
static const char *find_view(size_t i)
{
	const char *at = views_sql;

	do {
		at = strstr(at, BEGIN);
		at = at ? at + strlen(BEGIN) : NULL;
	} while (at && i--);
	return at;
}

size_t nt_views_count(void)
{
	size_t n = 0;

	while (find_view(n))
		n++;
	return n;
}

static int run(sqlite3 *handle, char *sql)
{
	int code = sql ? sqlite3_exec(handle, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	return code;
}

int nt_view_make(sqlite3 *handle, const char *schema, size_t i)
{
	const char *view = find_view(i), *end = strstr(view, ";\n");

	return run(handle, sqlite3_mprintf("CREATE VIEW %s.%.*s", schema, (int)(end - view), view));
}

int nt_view_drop(sqlite3 *handle, const char *schema, size_t i)
{
	const char *view = find_view(i);

	return run(handle, sqlite3_mprintf("DROP VIEW %s.%.*s", schema, (int)strcspn(view, " "), view));
}

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

#define CREATE "CREATE VIEW "
#define BEGIN "\n" CREATE

/* Where the name of the next view stands, or NULL. */
static const char *next_view(const char *at)
{
	at = strstr(at, BEGIN);
	return at ? at + strlen(BEGIN) : NULL;
}

/* The same of the i-th view. */
static const char *find_view(size_t i)
{
	const char *at = next_view(views_sql);

	while (at && i--)
		at = next_view(at);
	return at;
}

size_t nt_views_count(void)
{
	size_t n = 0;

	for (const char *at = next_view(views_sql); at; at = next_view(at))
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

static bool is_same(const char *view, const char *sql)
{
	const size_t size = (size_t)(strstr(view, ";\n") - view);

	return !strncmp(sql, CREATE, strlen(CREATE)) && !strncmp(sql + strlen(CREATE), view, size) &&
	       !sql[strlen(CREATE) + size];
}

bool nt_view_differs(const char *name, const char *sql)
{
	for (const char *view = next_view(views_sql); view; view = next_view(view)) {
		const size_t size = strcspn(view, " ");

		if (strlen(name) == size && !sqlite3_strnicmp(view, name, (int)size))
			return !is_same(view, sql);
	}
	return false;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * sqlite_fails.c - to be preloaded: one call of SQLite fails.
 *
 *   NT_FAIL=prepare:N   the N-th statement cannot be prepared
 *   NT_FAIL=begin:N     the N-th statement that begins is interrupted at once
 *   NT_FAIL=go_on:N     the N-th step of a statement that has begun is interrupted
 *
 * The file NT_FAIL_COUNTS gets how many calls of each sort there were: "prepare N", "begin N", "go_on N".
 */
#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum sort { PREPARE, BEGIN, GO_ON, N_SORTS };

static const char *const names[N_SORTS] = {"prepare", "begin", "go_on"};
static unsigned long counts[N_SORTS];

/* Counts a call. Whether it is the one that fails. */
static int fails(enum sort sort)
{
	const char *text = getenv("NT_FAIL");
	size_t size = strlen(names[sort]);

	counts[sort]++;
	return text && !strncmp(text, names[sort], size) && text[size] == ':' &&
	       counts[sort] == strtoul(text + size + 1, NULL, 10);
}

int sqlite3_prepare_v2(sqlite3 *db, const char *sql, int size, sqlite3_stmt **statement, const char **rest)
{
	int (*real)(sqlite3 *, const char *, int, sqlite3_stmt **, const char **) =
		dlsym(RTLD_NEXT, "sqlite3_prepare_v2");

	return fails(PREPARE) ? real(db, "no SQL", -1, statement, rest) : real(db, sql, size, statement, rest);
}

static int stop(void *unused)
{
	(void)unused;
	return 1;
}

/* SQLite itself gives the error, so that what it says of it afterwards agrees. */
int sqlite3_step(sqlite3_stmt *statement)
{
	int (*real)(sqlite3_stmt *) = dlsym(RTLD_NEXT, "sqlite3_step");
	sqlite3 *db = sqlite3_db_handle(statement);
	int result;

	if (!fails(sqlite3_stmt_busy(statement) ? GO_ON : BEGIN))
		return real(statement);
	sqlite3_progress_handler(db, 1, stop, NULL);
	result = real(statement);
	sqlite3_progress_handler(db, 0, NULL, NULL);
	return result;
}

__attribute__((destructor)) static void write_counts(void)
{
	const char *path = getenv("NT_FAIL_COUNTS");
	FILE *file = path ? fopen(path, "w") : NULL;

	for (int sort = 0; file && sort < N_SORTS; sort++)
		fprintf(file, "%s %lu\n", names[sort], counts[sort]);
	if (file)
		fclose(file);
}

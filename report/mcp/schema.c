// SPDX-License-Identifier: GPL-2.0-only
/*
 * schema.c - the tool `schema`: what the tables and views mean, in the words of docs/sql-schema.md and
 * docs/cookbook.md, which are part of the program.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "report/cmd/options.h"
#include "report/cmd/sql.h"
#include "report/db/load.h"
#include "report/mcp/tools.h"
#include "report/util/array.h"
#include "schema/cli/arg.h"

static const char sql_schema[] =
#include "text/sql_schema_md.h"
	;
static const char cookbook[] =
#include "text/cookbook_md.h"
	;

#define MAX_KNOWN 400

/* ---- sections ---- */

/* How many # begin the line, if a blank follows them: 0: it is no heading. */
static size_t level_of(const char *line)
{
	const size_t n = strspn(line, "#");

	return line[n] == ' ' ? n : 0;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* The next heading, of any level from 2 on, at `line` or behind it; the end of the text if there is none. */
static const char *find_heading(const char *line)
{
	bool is_code = false;

	for (; *line; line = next_line(line)) {
		is_code ^= !strncmp(line, "```", 3);
		if (!is_code && level_of(line) >= 2)
			break;
	}
	return line;
}

/* Whether a heading has this title, in whatever case. */
static bool is_titled(const char *heading, const char *title)
{
	const char *begin = heading + level_of(heading) + 1;
	const size_t size = strcspn(begin, "\n");

	return size == strlen(title) && !strncasecmp(begin, title, size);
}

/* The section of this title, with those inside it. NULL: there is none. */
static const char *find_section(const char *text, const char *title, size_t *size)
{
	const char *section = find_heading(text), *end;

	while (*section && !is_titled(section, title))
		section = find_heading(next_line(section));
	if (!*section)
		return NULL;
	for (end = find_heading(next_line(section)); *end && level_of(end) > level_of(section);)
		end = find_heading(next_line(end));
	*size = (size_t)(end - section);
	return section;
}

/* Prints it; or, of a long one, what stands before the first of `until`. */
static void print_section(const char *title, const char *until)
{
	size_t size = 0;
	const char *section = find_section(sql_schema, title, &size);
	const char *end = section && until ? memmem(section, size, until, strlen(until)) : NULL;

	if (section)
		printf("%.*s\n", (int)(end ? (size_t)(end - section) : size), section);
}

/* ---- answers ---- */

static void print_all(void)
{
	print_section("Conventions", NULL);
	print_section("Owners of CPU time", NULL);
	print_section("Tables", NULL);
	print_section("Views", "**");
	puts("`of` a table or a view describes it, with its columns. `of` Windows, Views, or another heading of this "
	     "manual gives that section. `of` cookbook gives queries that answer common questions.");
}

/* Whether there is such a table or view, of ours or somebody else's. -1: it cannot be read. */
static int is_table(struct nt_db *db, const char *name)
{
	struct nt_sql_names tables = {0};
	int is = nt_sql_tables(db, NULL, &tables);

	for (size_t i = 0; i < tables.n && !is; i++)
		is = !strcmp(tables.list[i], name);
	nt_sql_names_release(&tables);
	return is;
}

/* 0, or -1 and db->error. */
static int print_columns(struct nt_db *db, const char *name)
{
	struct nt_sql_names columns = {0};
	char title[160];
	const int error = nt_sql_columns(db, name, &columns);

	snprintf(title, sizeof(title), "Columns of %.100s", name);
	nt_sql_names_print(stdout, title, &columns);
	nt_sql_names_release(&columns);
	putchar('\n');
	return error;
}

static void add_headings(const char *text, const char **known, char names[MAX_KNOWN][64], size_t *n)
{
	for (const char *at = find_heading(text); *at && *n < MAX_KNOWN; at = find_heading(next_line(at))) {
		const char *title = at + level_of(at) + 1;

		snprintf(names[*n], sizeof(names[*n]), "%.*s", (int)strcspn(title, "\n"), title);
		known[*n] = names[*n];
		++*n;
	}
}

static int complain_unknown(struct nt_db *db, const char *name)
{
	static char titles[MAX_KNOWN][64];
	const char *known[2 * MAX_KNOWN + 1], *nearest;
	struct nt_sql_names tables = {0};
	size_t n = 0;

	add_headings(sql_schema, known, titles, &n);
	if (!nt_sql_tables(db, NULL, &tables)) {
		for (size_t i = 0; i < tables.n && n < 2 * MAX_KNOWN; i++)
			known[n++] = tables.list[i];
	}
	known[n] = NULL;
	nearest = nt_arg_nearest(name, known);
	nt_complain("there is no table, view or section '%s'%s%s%s", name, nearest ? "; did you mean '" : ".",
		    nearest ? nearest : "", nearest ? "'?" : " Without `of`, schema lists them.");
	nt_sql_names_release(&tables);
	return NT_EXIT_MISUSED;
}

/* The section of views, which are described together, if this is one of ours. */
static const char *find_views(const char *name, size_t *size)
{
	const char *section = find_section(sql_schema, "Views", size);
	char quoted[128];

	snprintf(quoted, sizeof(quoted), "`%.100s`", name);
	return section && memmem(section, *size, quoted, strlen(quoted)) ? section : NULL;
}

static int print_one(struct nt_db *db, const char *name)
{
	const int has_columns = is_table(db, name);
	size_t size = 0;
	const char *section = find_section(sql_schema, name, &size);

	if (has_columns < 0 || (has_columns && print_columns(db, name)))
		return nt_complain("%s", db->error);
	if (has_columns && !section)
		section = find_views(name, &size);
	if (!has_columns && !section)
		return complain_unknown(db, name);
	if (section)
		printf("%.*s", (int)size, section);
	return NT_EXIT_DONE;
}

static int run(const struct nt_options *options)
{
	static const struct nt_symbol_args nothing = {.none = true};
	char error[NT_ERROR_MAX];
	struct nt_db *db;
	int code;

	if (!options->of || !strcasecmp(options->of, "cookbook")) {
		options->of ? (void)fputs(cookbook, stdout) : print_all();
		return NT_EXIT_DONE;
	}
	if (nt_load_open(&db, options->args[0], &nothing, NULL, NULL, error))
		return nt_complain("%s", error);
	code = print_one(db, options->of);
	nt_db_close(db);
	return code;
}

static const struct nt_option options[] = {
	NT_TEXT("of", "NAME", "sock_op", of, "a table, a view, a heading of the manual, or cookbook"),
	NT_OPTIONS_END,
};

const struct nt_command nt_mcp_schema = {.name = "schema", .options = options, .run = run};

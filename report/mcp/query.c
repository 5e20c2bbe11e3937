// SPDX-License-Identifier: GPL-2.0-only
/* query.c - the tool `query`: one statement of SQL, and an answer that is small enough to read. */
#include "report/cmd/answer.h"
#include "report/cmd/options.h"
#include "report/mcp/tools.h"

#define ROWS 100
#define ROWS_MAX 1000
#define BYTES 16384u

static int run(const struct nt_options *options)
{
	const int64_t rows = options->limit ? options->limit : ROWS;
	const struct nt_sql_bounds bounds = {.rows = rows < ROWS_MAX ? (size_t)rows : ROWS_MAX, .bytes = BYTES};

	return nt_answer(options->args[0], options->names, options->sql, &bounds);
}

static const struct nt_option options[] = {
	NT_TEXT("sql", "SQL", "SELECT name, net_ns FROM net_cost_process ORDER BY net_ns DESC", sql,
		"one statement that reads", .is_needed = true),
	NT_OPTION_LIMIT("at most N rows (100), up to 1000 and 16 KiB"),
	NT_OPTIONS_END,
};

const struct nt_command nt_mcp_query = {.name = "query", .options = options, .run = run};

// SPDX-License-Identifier: GPL-2.0-only
/* part_tables.c - see part_tables.h. */
#include "report/query/part_tables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define CANNOT "the sums of the part cannot be made"

static int run(const struct nt_part *part, const char *sql)
{
	sqlite3_stmt *statement = nt_db_prepare(part->db, sql, NULL);

	nt_db_next(statement);
	return nt_db_end(part->db, statement, CANNOT);
}

/* Not dropped: a statement that reads the sessions may be under way. */
int nt_part_table_make(const struct nt_part *part, enum nt_table_id id, const char *more)
{
	const char *name = nt_table(id)->name;
	char whole[NT_DB_TABLE_MAX], sql[NT_DB_TABLE_MAX + 100];
	const char *columns;

	nt_db_write_table(nt_table(id), whole);
	columns = strchr(whole, '(');
	snprintf(sql, sizeof(sql), "CREATE TEMP TABLE IF NOT EXISTS %s%.*s%s)", name, (int)strlen(columns) - 1, columns,
		 more);
	if (run(part, sql))
		return -1;
	snprintf(sql, sizeof(sql), "DELETE FROM temp.%s", name);
	return run(part, sql);
}

int nt_part_table_put(const struct nt_part *part, sqlite3_stmt *insert, enum nt_table_id id, const void *from)
{
	struct nt_arena arena = {0};
	struct nt_row row;
	int error = nt_table_fill(&row, &arena, id, part->session->id, from);

	if (error)
		return error == -ENOMEM ? error : -ERANGE;
	for (uint32_t i = 0; i < row.n; i++)
		nt_db_bind(insert, (int)i + 1, &row.values[i]);
	sqlite3_step(insert);
	return sqlite3_reset(insert) == SQLITE_OK ? 0 : nt_db_fail(part->db, CANNOT);
}

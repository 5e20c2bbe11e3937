// SPDX-License-Identifier: GPL-2.0-only
/*
 * waits.c - see waits.h.
 */
#include "report/query/waits.h"

#include <stdio.h>

#include "report/query/probe_rows.h"

int nt_waits_are_known(const struct nt_part *part, bool *are_known)
{
	return nt_probe_rows_are_known(part, "raise", NT_TABLE_SOFTIRQ_RAISE, are_known);
}

sqlite3_stmt *nt_waits_query(const struct nt_part *part, const char *select, const char *group)
{
	static const char format[] = "%sFROM " NT_WAITS_OF_SQL("%s") "%s";
	char cpus[NT_CPUS_SQL_MAX],
		sql[sizeof(format) + sizeof(NT_WAITS_FIGURES_SQL NT_WAITS_GROUP_SQL) + sizeof(cpus)];
	sqlite3_stmt *statement;

	snprintf(sql, sizeof(sql), format, select, nt_selection_cpus_sql(part->selection, cpus), group);
	statement = nt_db_query(part->db, sql, part->session->id);
	nt_part_bind(part, statement);
	return statement;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * waits.c - see waits.h.
 */
#include "report/query/waits.h"

#include <stdio.h>

#include "report/db/load.h"
#include "report/util/words.h"
#include "schema/meta_keys.h"

int nt_waits_are_known(const struct nt_part *part, bool *are_known)
{
	uint64_t tables = NT_ALL_TABLES;
	sqlite3_stmt *row;

	*are_known = false;
	if (!part->db->source && nt_db_tables(part->db, &tables))
		return -1;
	if (!(tables & NT_TABLE_BIT(NT_TABLE_SOFTIRQ_RAISE)))
		return 0;
	row = nt_db_query(part->db, NT_META_SQL(NT_META_PROBES), part->session->id);
	*are_known = nt_db_next(row) && nt_has_word(nt_db_text(row, 0), "raise");
	return nt_db_end(part->db, row, "the session cannot be read");
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

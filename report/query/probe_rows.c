// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe_rows.c - see probe_rows.h.
 */
#include "report/query/probe_rows.h"

#include "report/db/load.h"
#include "report/util/words.h"
#include "schema/meta_keys.h"

int nt_probe_rows_are_known(const struct nt_part *part, const char *probe, enum nt_table_id table, bool *are_known)
{
	uint64_t tables = NT_ALL_TABLES;
	sqlite3_stmt *row;

	*are_known = false;
	if (!part->db->source && nt_db_tables(part->db, &tables))
		return -1;
	if (!(tables & NT_TABLE_BIT(table)))
		return 0;
	row = nt_db_query(part->db, NT_META_SQL(NT_META_PROBES), part->session->id);
	*are_known = nt_db_next(row) && nt_has_word(nt_db_text(row, 0), probe);
	return nt_db_end(part->db, row, "the session cannot be read");
}

int nt_probe_readings_are_known(const struct nt_part *part, const char *probe, const char *source, bool *are_known)
{
	sqlite3_stmt *row;

	if (nt_probe_rows_are_known(part, probe, NT_TABLE_PROC_COUNTER, are_known))
		return -1;
	if (!*are_known)
		return 0;
	row = nt_db_query(part->db, "SELECT 1 FROM proc_counter WHERE session_id = ?1 AND source GLOB ?2 LIMIT 1",
			  part->session->id);
	sqlite3_bind_text(row, 2, source, -1, SQLITE_STATIC);
	*are_known = nt_db_next(row);
	return nt_db_end(part->db, row, "the readings cannot be read");
}

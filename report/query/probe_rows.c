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

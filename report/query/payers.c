// SPDX-License-Identifier: GPL-2.0-only
/*
 * payers.c - see payers.h.
 */
#include "report/query/payers.h"

#include "report/db/load.h"
#include "report/util/words.h"
#include "schema/meta_keys.h"

int nt_payers_are_known(struct nt_db *db, int64_t session_id, bool *are_known)
{
	sqlite3_stmt *row = nt_db_query(db, NT_META_SQL(NT_META_PROBES), session_id);

	*are_known = nt_db_next(row) && nt_has_word(nt_db_text(row, 0), "deliver");
	return nt_db_end(db, row, "the session cannot be read");
}

// SPDX-License-Identifier: GPL-2.0-only
/* uncovered.c - see uncovered.h. */
#include "report/query/uncovered.h"

#include <stdio.h>

#include "report/out/output.h"
#include "report/out/prose.h"
#include "schema/meta_keys.h"

int nt_uncovered_print(FILE *out, struct nt_db *db, int64_t session_id, const char *these, const char *by_what)
{
	char sql[1024], count[NT_HUMAN_MAX];
	struct nt_prose prose;
	sqlite3_stmt *row;
	int64_t n;

	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM session_meta WHERE session_id = ?1 AND key = '" NT_META_UNCOVERED "' AND (%s)",
		 these ? these : "1");
	row = nt_db_query(db, sql, session_id);
	if (nt_db_next(row) && (n = sqlite3_column_int64(row, 0)) > 0) {
		nt_prose_begin(&prose, out);
		fprintf(prose.line, "%s %s not covered by %s: `nettape-report info` of the tape lists %s.",
			nt_human_count(count, n), n == 1 ? "thing is" : "things are", by_what, n == 1 ? "it" : "them");
		nt_prose_end(&prose, "\n");
	}
	return nt_db_end(db, row, "what the recording does not cover cannot be read");
}

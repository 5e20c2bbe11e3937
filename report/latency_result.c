// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency_result.c - see latency_result.h: what people and programs are told alike.
 */
#include "report/latency_result.h"

#include "schema/kind.h"

const char *nt_latency_hook_text(const struct nt_latency_choice *choice, enum nt_hook hook, char text[64])
{
	if (!choice->first)
		return nt_hook_name(hook);
	snprintf(text, 64, "%s to %s", nt_hook_name(choice->first), nt_hook_name(choice->second));
	return text;
}

int nt_latency_accounting(struct nt_db *db, int64_t session_id, struct nt_latency_accounting *accounting)
{
	sqlite3_stmt *statement;
	bool has;
	int step;

	*accounting = (struct nt_latency_accounting){0};
	if (nt_latency_has(db, "latency_hook", &has))
		return -1;
	if (!has)
		return 0;
	statement = nt_db_prepare(db,
				  "SELECT hook, no_stamp, transmit_stamp, skipped_filter, skipped_sample, lost "
				  "FROM latency_hook WHERE session_id = ?1",
				  NULL);
	if (!statement)
		return -1;
	sqlite3_bind_int64(statement, 1, session_id);
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		enum nt_hook hook = nt_hook_number(nt_db_text(statement, 0));

		accounting->is_there[hook] = true;
		accounting->is_counted[hook] = sqlite3_column_type(statement, 1) != SQLITE_NULL;
		for (int i = 0; i < NT_REASON_COUNT; i++)
			accounting->counts[hook][i] = sqlite3_column_int64(statement, 1 + i);
	}
	sqlite3_finalize(statement);
	return step == SQLITE_DONE ? 0 : nt_db_fail(db, "the accounting of the hooks cannot be read");
}

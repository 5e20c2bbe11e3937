// SPDX-License-Identifier: GPL-2.0-only
/*
 * result.c - see result.h: what people and programs are told alike.
 */
#include "report/query/latency/result.h"

#include "schema/kind.h"

const char *nt_latency_hook_text(const struct nt_latency_choice *choice, enum nt_hook hook, char text[64])
{
	if (!choice->first)
		return nt_hook_name(hook);
	snprintf(text, 64, "%s to %s", nt_hook_name(choice->first), nt_hook_name(choice->second));
	return text;
}

/*
 * As in the view latency_hook, which would count all samples too: here they have been read already. Packets of another
 * protocol than the program's were looked at too.
 */
#define REASON(constant, outcome) ", " NT_SQL_SUM_OF(#outcome)
#define REASONS NT_LATENCY_REASONS(REASON)
#define RECORDED NT_SQL_SUM_OF("recorded")
#define OUTCOME(outcome, passed, looked) " WHEN '" #outcome "' THEN value * " #looked
#define LOOKED "sum(CASE name WHEN 'skipped_family' THEN value" NT_HOOK_OUTCOMES(OUTCOME) " ELSE 0 END)"
#define SAMPLING "count(DISTINCT CASE WHEN name = 'skipped_sample' AND value > 0 THEN program END)"
static const char accounting_sql[] =
	"SELECT " NT_HOOK_SQL " AS hook" REASONS ", " RECORDED ", " LOOKED ", " SAMPLING " FROM self_cost_last "
	"WHERE session_id = ?1 AND hook IS NOT NULL GROUP BY hook";

/* A database may be anybody's. */
static double kept(double recorded, double judged)
{
	return recorded > 0 && recorded < judged ? recorded / judged : 1;
}

int nt_latency_accounting(struct nt_db *db, int64_t session_id, struct nt_latency_accounting *accounting)
{
	sqlite3_stmt *statement = nt_db_prepare(db, accounting_sql, NULL);
	int64_t programs;
	int step;

	*accounting = (struct nt_latency_accounting){0};
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		accounting->kept[hook] = 1;
		accounting->programs[hook] = 1;
	}
	if (!statement)
		return -1;
	sqlite3_bind_int64(statement, 1, session_id);
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		enum nt_hook hook = nt_hook_number(nt_db_text(statement, 0));

		accounting->is_there[hook] = true;
		for (int i = 0; i < NT_REASON_COUNT; i++)
			accounting->counts[hook][i] = sqlite3_column_int64(statement, 1 + i);
		accounting->kept[hook] = kept(sqlite3_column_double(statement, 1 + NT_REASON_COUNT),
					      sqlite3_column_double(statement, 2 + NT_REASON_COUNT));
		programs = sqlite3_column_int64(statement, 3 + NT_REASON_COUNT);
		accounting->programs[hook] = programs < 1 ? 1 : programs > 16 ? 16 : (unsigned int)programs;
	}
	sqlite3_finalize(statement);
	return step == SQLITE_DONE ? 0 : nt_db_fail(db, "the accounting of the hooks cannot be read");
}

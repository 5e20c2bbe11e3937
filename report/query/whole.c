// SPDX-License-Identifier: GPL-2.0-only
/*
 * whole.c - see whole.h.
 */
#include "report/query/whole.h"

#include <string.h>

#include "report/out/prose.h"
#include "report/util/array.h"

bool nt_whole_is_missing(const char *why)
{
#define ITEM(text) text,
	static const char *const whys[] = {NT_MISSING_WHYS(ITEM)};
#undef ITEM

	return NT_ANY(NT_COUNT(whys), i, !strcmp(why, whys[i]));
}

/* ---- finding ---- */

/* A database may hold several sessions, each with its problems. Of a tape, SQL would read all of it for them. */
static int count_problems(struct nt_db *db, int64_t session_id, struct nt_whole *whole)
{
	sqlite3_stmt *row;
	bool has;

	if (db->source) {
		whole->n_problems = (int64_t)nt_load_problem_at(db, 0, whole->first);
		return 0;
	}
	if (nt_load_is_at_hand(db, NT_TABLE_PROBLEM, &has))
		return -1;
	if (!has)
		return 0;
	row = nt_db_query(db, "SELECT text FROM problem WHERE session_id = ?1 ORDER BY rowid", session_id);
	for (; nt_db_next(row); whole->n_problems++) {
		if (!whole->n_problems)
			snprintf(whole->first, sizeof(whole->first), "%s", nt_db_text(row, 0));
	}
	return nt_db_end(db, row, "the problems cannot be read");
}

/* A stretch in which records of several kinds are missing has a row for each. */
static int sum_touched(struct nt_db *db, const struct nt_session *session, const struct nt_selection *selection,
		       const struct nt_window *window, struct nt_whole *whole)
{
	char cpus[NT_CPUS_SQL_MAX], sql[sizeof(cpus) + 500];
	sqlite3_stmt *row;

	if (nt_load_is_at_hand(db, NT_TABLE_LOSS, &whole->has_touched))
		return -1;
	if (!whole->has_touched || window->from_ts >= window->to_ts)
		return 0;
	snprintf(sql, sizeof(sql),
		 "SELECT coalesce(sum(ns), 0) FROM (SELECT DISTINCT cpu, ts, min(ts + dur, ?3) - max(ts, ?2) AS ns "
		 "FROM loss WHERE session_id = ?1 AND ts < ?3 AND ts + dur > ?2 AND why IN " NT_MISSING_SQL " AND %s)",
		 nt_selection_cpus_sql(selection, cpus));
	row = nt_db_query(db, sql, session->id);
	sqlite3_bind_int64(row, 2, window->from_ts);
	sqlite3_bind_int64(row, 3, window->to_ts);
	if (nt_db_next(row))
		whole->touched_ns = sqlite3_column_int64(row, 0);
	/* The numbers of CPUs may have gaps: how much time a choice of them has is not known here. */
	if (selection->n_cpus || __builtin_mul_overflow(window->to_ts - window->from_ts, session->cpus, &whole->of_ns))
		whole->of_ns = 0;
	return nt_db_end(db, row, "the losses cannot be read");
}

int nt_whole_find(struct nt_db *db, const struct nt_session *session, const struct nt_selection *selection,
		  struct nt_whole *whole)
{
	const struct nt_window window = nt_session_window(session, selection);

	*whole = (struct nt_whole){0};
	if (count_problems(db, session->id, whole))
		return -1;
	whole->is_whole = session->is_complete && !whole->n_problems;
	if (whole->is_whole)
		return 0;
	whole->open_end = session->open_end && window.to_ts >= session->end_ts;
	return sum_touched(db, session, selection, &window, whole);
}

/* ---- saying ---- */

static void put_touched(FILE *out, const struct nt_whole *whole)
{
	char time[NT_HUMAN_MAX], share[NT_HUMAN_MAX];

	if (!whole->has_touched) {
		fputs("an unknown amount of CPU time", out);
		return;
	}
	if (whole->touched_ns > 0)
		fprintf(out, "%s of CPU time", nt_human_ns(time, (uint64_t)whole->touched_ns));
	else if (!whole->open_end)
		fputs("no CPU time", out);
	if (whole->touched_ns > 0 && whole->of_ns > 0)
		fprintf(out, " (%s)", nt_human_share(share, (uint64_t)whole->touched_ns, (uint64_t)whole->of_ns));
	if (whole->open_end)
		fprintf(out, "%s after the last record", whole->touched_ns > 0 ? ", and all" : "all CPU time");
}

const char *nt_whole_text(const struct nt_whole *whole, char text[NT_WHOLE_MAX])
{
	char count[NT_HUMAN_MAX];
	FILE *out;

	text[0] = 0;
	if (whole->is_whole)
		return text;
	out = fmemopen(text, NT_WHOLE_MAX, "w");
	if (!out) {
		snprintf(text, NT_WHOLE_MAX, "NOT WHOLE.");
		return text;
	}
	if (!whole->n_problems) {
		fputs("NOT WHOLE: the end or a chunk is missing.", out);
	} else {
		fprintf(out, "NOT WHOLE: %s problem%s ", nt_human_count(count, whole->n_problems),
			whole->n_problems == 1 ? " touches" : "s touch");
		put_touched(out, whole);
		fprintf(out, "%s %s", whole->n_problems == 1 ? ":" : ". The first:", whole->first);
	}
	fclose(out);
	text[NT_WHOLE_MAX - 1] = 0;
	return text;
}

void nt_whole_print(const struct nt_whole *whole, FILE *out)
{
	char text[NT_WHOLE_MAX];

	if (whole->is_whole)
		return;
	nt_print_prose(out, "", "%s", nt_whole_text(whole, text));
	fputc('\n', out);
}

void nt_whole_json(const struct nt_whole *whole, struct nt_json *json)
{
	nt_json_bool(json, "whole", whole->is_whole);
	if (whole->is_whole) {
		nt_json_text(json, "damage", NULL);
		return;
	}
	nt_json_open(json, "damage", '{');
	nt_json_integer(json, "problems", whole->n_problems);
	nt_json_text(json, "first", whole->first[0] ? whole->first : NULL);
	nt_json_if(json, "touched_ns", whole->has_touched, whole->touched_ns);
	nt_json_bool(json, "open_end", whole->open_end);
	nt_json_close(json, '}');
}

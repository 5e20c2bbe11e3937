// SPDX-License-Identifier: GPL-2.0-only
/*
 * result.c - see result.h: the part that is the same for people and programs.
 */
#include "report/query/latency/result.h"

#include <errno.h>
#include <string.h>

#include "schema/kind.h"

const char *nt_latency_hook_text(const struct nt_latency_choice *choice, enum nt_hook hook, char text[64])
{
	if (!choice->first)
		return nt_hook_name(hook);
	snprintf(text, 64, "%s to %s", nt_hook_name(choice->first), nt_hook_name(choice->second));
	return text;
}

void nt_latency_put_key(struct nt_line *line, const struct nt_latency_choice *choice, const char *hook,
			const char *group)
{
	nt_line_put(line, "hook", nt_cell_label(hook));
	if (choice->by)
		nt_line_put(line, nt_by_name(choice->by), nt_cell_text(group));
}

void nt_latency_put_figures(struct nt_line *line, const char *const names[NT_FIGURES], const struct nt_figures *figures)
{
	bool any = figures->any;

	nt_line_put(line, *names++, nt_cell_integer(nt_round(figures->packets)));
	nt_line_put(line, *names++, nt_cell_integer((int64_t)figures->samples));
	nt_line_put(line, *names++, nt_cell_if(any, figures->min));
	nt_line_put(line, *names++, nt_cell_if(any, nt_round(figures->mean)));
	for (unsigned int i = 0; i < NT_QUANTILES; i++)
		nt_line_put(line, *names++, nt_cell_if(any, figures->quantiles[i]));
	nt_line_put(line, *names, nt_cell_if(any, figures->max));
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
	sqlite3_stmt *row = nt_db_query(db, accounting_sql, session_id);
	int64_t programs;

	*accounting = (struct nt_latency_accounting){0};
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		accounting->kept[hook] = 1;
		accounting->programs[hook] = 1;
	}
	while (nt_db_next(row)) {
		enum nt_hook hook = nt_hook_number(nt_db_text(row, 0));

		accounting->is_there[hook] = true;
		for (int i = 0; i < NT_REASON_COUNT; i++)
			accounting->counts[hook][i] = sqlite3_column_int64(row, 1 + i);
		accounting->kept[hook] = kept(sqlite3_column_double(row, 1 + NT_REASON_COUNT),
					      sqlite3_column_double(row, 2 + NT_REASON_COUNT));
		programs = sqlite3_column_int64(row, 3 + NT_REASON_COUNT);
		accounting->programs[hook] = programs < 1 ? 1 : programs > 16 ? 16 : (unsigned int)programs;
	}
	return nt_db_end(db, row, "the accounting of the hooks cannot be read");
}

/* ---- reading ---- */

struct reading {
	struct nt_latency_result *result;
	int (*visit)(void *arg, const struct nt_latency_sample *sample);
	void *arg;
};

static int take_sample(void *arg, const struct nt_latency_sample *sample)
{
	const struct reading *reading = arg;
	struct nt_series_set *set = &reading->result->set;

	if (nt_series_set_add(set, sample))
		return -1;
	return nt_series_set_takes(set, sample) ? reading->visit(reading->arg, sample) : 0;
}

static void set_window(struct nt_latency_result *result)
{
	struct nt_window window = nt_session_window(result->session, &result->choice->selection);

	result->begin_ts = window.from_ts;
	result->end_ts = window.to_ts;
	if (result->end_ts <= result->begin_ts)
		result->end_ts = result->begin_ts < INT64_MAX ? result->begin_ts + 1 : INT64_MAX;
}

/* Sets the numbers from which the errors of counts are calculated. */
static void set_counted(struct nt_latency_result *result)
{
	const uint32_t cpus = nt_selection_count_cpus(&result->choice->selection, (uint32_t)result->session->cpus);
	struct nt_series_set *set = &result->set;

	set->cpus = cpus ? cpus : 1;
	set->is_cut = result->begin_ts > result->session->start_ts;
	set->is_pairs = result->choice->first != NT_HOOK_NONE;
	set->is_by_cpu = result->choice->by == NT_BY_CPU;
	memcpy(set->kept, result->accounting.kept, sizeof(set->kept));
	memcpy(set->programs, result->accounting.programs, sizeof(set->programs));
}

/* Whether the recording was made with the probe, even if no packet came. */
static int find_probe(struct nt_latency_result *result)
{
	result->has_probe = result->set.n > 0;
	if (!result->has_probe && nt_db_has_rows(result->db, "skb_latency", result->session->id, &result->has_probe))
		return -1;
	return result->has_probe ? 0
				 : nt_db_has_rows(result->db, "latency_hook", result->session->id, &result->has_probe);
}

/* `error` of what used the samples: -1, that has said why, or did not as their file failed. */
int nt_latency_end(struct nt_latency_result *result, int error)
{
	const int why = result->set.pool.spill.error;

	if (why == ENOMEM)
		return nt_db_no_memory(result->db);
	if (why)
		return nt_db_refuse(result->db, NT_SPILL_FAILED, result->db->name, strerror(why));
	return error;
}

int nt_latency_read(struct nt_latency_result *result, int (*visit)(void *arg, const struct nt_latency_sample *sample),
		    void *arg)
{
	const struct nt_latency_choice *choice = result->choice;
	struct reading reading = {result, visit, arg};
	struct nt_db *db = result->db;
	bool has_table;

	if (nt_db_has(db, "skb_latency", &has_table) ||
	    nt_latency_accounting(db, result->session->id, &result->accounting) ||
	    nt_groups_read(db, result->session->id, has_table ? choice->by : NT_BY_NONE, &result->groups))
		return -1;
	if (nt_series_set_init(&result->set, result->groups.texts.n, choice->include_hol))
		return nt_db_no_memory(db);
	set_window(result);
	set_counted(result);
	if (has_table &&
	    nt_latency_scan(db, result->session, choice, &result->groups, take_sample, &reading, &result->alone))
		return nt_latency_end(result, -1);
	if (nt_series_set_order(&result->set, choice->by == NT_BY_CPU,
				result->view->most ? result->view->most : SIZE_MAX))
		return nt_db_no_memory(db);
	return find_probe(result);
}

void nt_latency_release(struct nt_latency_result *result)
{
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++)
		nt_heatmap_release(&result->maps[hook]);
	nt_series_set_release(&result->set);
	nt_labels_release(&result->groups);
}

int nt_latency_map(const struct nt_latency_result *result, struct nt_heatmap *map, uint32_t columns,
		   uint32_t per_octave, const struct nt_latency_sample *sample)
{
	if (!map->cells && nt_heatmap_init(map, result->begin_ts, result->end_ts, columns, per_octave))
		return -1;
	nt_heatmap_add(map, sample->ts, sample->ns, sample->weight);
	return 0;
}

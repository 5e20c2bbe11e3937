// SPDX-License-Identifier: GPL-2.0-only
/*
 * costs.c - see parts.h. One pass through the table; memory is for the cells. A database may be anybody's: no
 * number in it is trusted to fit.
 */
#include "report/export/html/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/latency/heatmap.h"
#include "report/util/array.h"

/* ---- scope ---- */

void nt_html_scope_init(struct nt_html_scope *scope, struct nt_db *db, const struct nt_selection *selection,
			const struct nt_session *session)
{
	struct nt_window window = nt_session_window(session, selection);

	*scope = (struct nt_html_scope){.db = db, .selection = selection, .session = *session};
	scope->from_ts = window.from_ts;
	scope->to_ts = window.to_ts > window.from_ts ? window.to_ts : window.from_ts;
	scope->is_whole = scope->from_ts == session->start_ts && scope->to_ts == session->end_ts;
	scope->part = (struct nt_part){.db = db,
				       .session = &scope->session,
				       .selection = selection,
				       .from_ts = scope->from_ts,
				       .to_ts = scope->to_ts};
	nt_selection_cpus_sql(selection, scope->cpus);
}

sqlite3_stmt *nt_html_prepare(const struct nt_html_scope *scope, const char *sql)
{
	sqlite3_stmt *statement = nt_db_query(scope->db, sql, scope->session.id);

	nt_part_bind(&scope->part, statement);
	return statement;
}

/* ---- CPUs ---- */

static int add_cpu(struct nt_db *db, struct nt_html_costs *costs, int64_t cpu)
{
	if (costs->n_cpus == NT_HTML_MAX_CPUS)
		return nt_db_refuse(db, "there are more than %d CPUs: choose some with --cpu.", NT_HTML_MAX_CPUS);
	if (NT_ROOM(costs->cpus, costs->cpus_size, costs->n_cpus + 1))
		return nt_db_no_memory(db);
	costs->cpus[costs->n_cpus++] = (uint32_t)cpu;
	return 0;
}

int nt_html_costs_cpus(const struct nt_html_scope *scope, struct nt_html_costs *costs)
{
	struct nt_db *db = scope->db;
	sqlite3_stmt *row;
	int error = 0;
	char *sql;

	if (asprintf(&sql,
		     "SELECT DISTINCT cpu FROM cpu_cost WHERE session_id = ?1 AND cpu BETWEEN 0 AND 4294967294 AND %s "
		     "ORDER BY cpu",
		     scope->cpus) < 0)
		return nt_db_no_memory(db);
	row = nt_html_prepare(scope, sql);
	free(sql);
	while (!error && nt_db_next(row))
		error = add_cpu(db, costs, sqlite3_column_int64(row, 0));
	return nt_db_end(db, row, "the CPUs cannot be read") ? -1 : error;
}

/* The place of a CPU; -1: it is none of these. */
static int64_t find_cpu(const struct nt_html_costs *costs, int64_t cpu)
{
	uint32_t wanted = (uint32_t)cpu;
	const uint32_t *found;

	if (cpu < 0 || cpu > UINT32_MAX)
		return -1;
	found = bsearch(&wanted, costs->cpus, costs->n_cpus, sizeof(wanted), nt_compare_u32);
	return found ? found - costs->cpus : -1;
}

/* ---- steps ---- */

/* The least of 1, 2, 5 times a power of ten nanoseconds that makes at most so many steps; `most` is a multiple of ten.
 */
static int64_t least_step(int64_t span_ns, uint32_t most)
{
	uint64_t tenth = most / 10;

	return (int64_t)nt_heat_step(((uint64_t)span_ns + tenth - 1) / tenth);
}

static void choose_steps(const struct nt_html_scope *scope, uint32_t most_cells, struct nt_html_costs *costs)
{
	uint32_t most = costs->n_cpus ? most_cells / costs->n_cpus / 10 * 10 : NT_HTML_MAX_STEPS;
	int64_t span = scope->to_ts - scope->from_ts;

	if (most > NT_HTML_MAX_STEPS)
		most = NT_HTML_MAX_STEPS;
	if (most < NT_HTML_MIN_STEPS)
		most = NT_HTML_MIN_STEPS;
	costs->from_ts = scope->from_ts;
	costs->to_ts = scope->to_ts;
	costs->step_ns = least_step(span, most);
	costs->steps = (uint32_t)((span - 1) / costs->step_ns + 1);
}

/* cpu_cost will do where each of its buckets lies in one step. */
static int choose_source(const struct nt_html_scope *scope, struct nt_html_costs *costs)
{
	sqlite3_stmt *statement = nt_html_prepare(scope, "SELECT bucket_ns FROM session WHERE session_id = ?1");
	int64_t bucket_ns = nt_db_next(statement) ? sqlite3_column_int64(statement, 0) : 0;

	if (nt_db_end(scope->db, statement, "the session cannot be read"))
		return -1;
	costs->from_slices = !scope->is_whole || bucket_ns <= 0 || costs->step_ns % bucket_ns != 0;
	return 0;
}

/* ---- cells ---- */

int64_t *nt_html_cell(const struct nt_html_costs *costs, uint32_t cpu, uint32_t owner, uint32_t step)
{
	return &costs->cells[((size_t)cpu * NT_HTML_OWNERS + owner) * costs->room + step];
}

int nt_html_costs_make_room(struct nt_html_costs *costs, uint32_t steps)
{
	costs->room = steps;
	costs->cells = calloc((size_t)costs->n_cpus * NT_HTML_OWNERS * steps, sizeof(*costs->cells));
	return costs->cells ? 0 : -ENOMEM;
}

/* All rows of cells go `gone` steps to the left. */
static void move_cells(struct nt_html_costs *costs, uint32_t gone)
{
	const uint32_t left = costs->room - gone;

	if (!gone)
		return;
	for (size_t row = 0; row < (size_t)costs->n_cpus * NT_HTML_OWNERS; row++) {
		int64_t *cells = costs->cells + row * costs->room;

		memmove(cells, cells + gone, left * sizeof(*cells));
		memset(cells + left, 0, gone * sizeof(*cells));
	}
}

void nt_html_costs_go_on(struct nt_html_costs *costs, int64_t to_ts)
{
	const int64_t span = to_ts - costs->from_ts;
	const int64_t steps = span > 0 ? (span - 1) / costs->step_ns + 1 : 0;
	const int64_t gone = steps > costs->room ? steps - costs->room : 0;

	move_cells(costs, gone < costs->room ? (uint32_t)gone : costs->room);
	costs->from_ts += gone * costs->step_ns;
	costs->to_ts = to_ts;
	costs->steps = (uint32_t)(steps - gone);
}

/* The time of the network in a step. */
static int64_t net_of_cpu(const struct nt_html_costs *costs, uint32_t cpu, uint32_t step)
{
	int64_t sum = 0;

	for (uint32_t owner = 0; owner < NT_OWNER_COUNT; owner++)
		sum += NT_NETWORK_OWNERS >> owner & 1 ? *nt_html_cell(costs, cpu, owner, step) : 0;
	return sum;
}

/* More in a step than it is long is no recording's: it is held down, so that no sum runs over. */
static void add(struct nt_html_costs *costs, uint32_t cpu, uint32_t owner, uint32_t step, int64_t ns)
{
	int64_t *cell = nt_html_cell(costs, cpu, owner, step);

	*cell = ns > costs->step_ns - *cell ? costs->step_ns : *cell + ns;
}

/* A stretch of one owner, cut to the selected time and at the edges of steps. */
static void add_stretch(struct nt_html_costs *costs, uint32_t cpu, uint32_t owner, int64_t ts, int64_t dur)
{
	int64_t from = ts > costs->from_ts ? ts : costs->from_ts, to;

	if (__builtin_add_overflow(ts, dur, &to) || to > costs->to_ts)
		to = costs->to_ts;
	while (from < to) {
		int64_t step = (from - costs->from_ts) / costs->step_ns;
		int64_t end = to;

		if (to - costs->from_ts > (step + 1) * costs->step_ns)
			end = costs->from_ts + (step + 1) * costs->step_ns;
		add(costs, cpu, owner, (uint32_t)step, end - from);
		from = end;
	}
}

void nt_html_costs_add(struct nt_html_costs *costs, int64_t cpu, uint32_t owner, int64_t ts, int64_t dur,
		       int64_t spent_ns)
{
	const int64_t place = find_cpu(costs, cpu);

	if (place < 0 || dur <= 0 || spent_ns <= 0)
		return;
	if (spent_ns >= dur) /* a slice; or a row of cpu_cost that is filled, and may be many buckets long */
		add_stretch(costs, (uint32_t)place, owner, ts, dur);
	else if (ts >= costs->from_ts && ts < costs->to_ts)
		add(costs, (uint32_t)place, owner, (uint32_t)((ts - costs->from_ts) / costs->step_ns), spent_ns);
}

/* With --process, time of other tasks is `other`; no task has offline and uncovered. */
static uint32_t owner_of(struct nt_lanes_filter *filter, const struct nt_value *name, const struct nt_value *utid)
{
	const enum nt_owner owner = nt_owner_number(nt_text(name, ""));

	if (owner == NT_OWNER_OFFLINE || owner == NT_OWNER_UNCOVERED || nt_lanes_has_thread(filter, utid))
		return owner;
	return NT_OWNER_COUNT;
}

static int take_slice(void *arg, const struct nt_row *row)
{
	struct nt_html_costs *costs = arg;
	const int64_t dur = nt_integer(NT_VALUE(row, cpu_slice, dur), 0);

	nt_html_costs_add(costs, nt_integer(NT_VALUE(row, cpu_slice, cpu), -1),
			  owner_of(&costs->filter, NT_VALUE(row, cpu_slice, owner), NT_VALUE(row, cpu_slice, utid)),
			  nt_integer(NT_VALUE(row, cpu_slice, ts), 0), dur, dur);
	return 0;
}

static int take_sum(void *arg, const struct nt_row *row)
{
	struct nt_html_costs *costs = arg;

	nt_html_costs_add(costs, nt_integer(NT_VALUE(row, cpu_cost, cpu), -1),
			  owner_of(&costs->filter, NT_VALUE(row, cpu_cost, owner), NT_VALUE(row, cpu_cost, utid)),
			  nt_integer(NT_VALUE(row, cpu_cost, ts), 0), nt_integer(NT_VALUE(row, cpu_cost, dur), 0),
			  nt_integer(NT_VALUE(row, cpu_cost, spent_ns), 0));
	return 0;
}

struct nt_scan_reader nt_html_costs_reader(struct nt_html_costs *costs)
{
	return costs->from_slices ? (struct nt_scan_reader){NT_TABLE_CPU_SLICE, 0, take_slice, costs}
				  : (struct nt_scan_reader){NT_TABLE_CPU_COST, 0, take_sum, costs};
}

/* ---- the peak ---- */

static int64_t net_of(const struct nt_html_costs *costs, int64_t cpu, uint32_t step)
{
	int64_t sum = 0;

	if (cpu >= 0)
		return net_of_cpu(costs, (uint32_t)cpu, step);
	for (uint32_t i = 0; i < costs->n_cpus; i++)
		sum += net_of_cpu(costs, i, step);
	return sum;
}

/* Of all runs of peak->steps steps, the first in which the network took most. `cpu` -1: of all together. */
static void look_for_peak(const struct nt_html_costs *costs, int64_t cpu, struct nt_html_peak *peak)
{
	int64_t sum = 0;

	for (uint32_t step = 0; step < costs->steps; step++) {
		sum += net_of(costs, cpu, step);
		if (step >= peak->steps)
			sum -= net_of(costs, cpu, step - peak->steps);
		if (step + 1 < peak->steps || sum <= peak->net_ns)
			continue;
		peak->is_there = true;
		peak->cpu = cpu < 0 ? 0 : costs->cpus[cpu];
		peak->first_step = step + 1 - peak->steps;
		peak->net_ns = sum;
	}
}

/* Over about a hundredth of the time: of shorter ones, some would be full on any busy CPU. */
void nt_html_costs_end(struct nt_html_costs *costs)
{
	uint32_t steps = (uint32_t)(least_step(costs->to_ts - costs->from_ts, 100) / costs->step_ns);

	costs->peak = costs->peak_all = (struct nt_html_peak){.is_there = false};
	if (!steps)
		steps = 1;
	costs->peak.steps = costs->peak_all.steps = steps < costs->steps ? steps : costs->steps;
	for (uint32_t cpu = 0; cpu < costs->n_cpus; cpu++)
		look_for_peak(costs, cpu, &costs->peak);
	look_for_peak(costs, -1, &costs->peak_all);
}

int nt_html_costs_begin(const struct nt_html_scope *scope, uint32_t most_cells, struct nt_html_costs *costs)
{
	*costs = (struct nt_html_costs){0};
	if (nt_html_costs_cpus(scope, costs))
		return -1;
	if (scope->to_ts <= scope->from_ts || !costs->n_cpus)
		return 0;
	if (scope->to_ts - scope->from_ts > INT64_MAX / 4 / costs->n_cpus)
		return nt_db_refuse(scope->db,
				    "the time is too long to be added up: choose a part of it with --from and --to.");
	choose_steps(scope, most_cells, costs);
	if (nt_html_costs_make_room(costs, costs->steps))
		return nt_db_no_memory(scope->db);
	return choose_source(scope, costs) || nt_lanes_filter_init(&costs->filter, &scope->part) ? -1 : 0;
}

void nt_html_costs_release(struct nt_html_costs *costs)
{
	nt_lanes_filter_release(&costs->filter);
	free(costs->cpus);
	free(costs->cells);
	*costs = (struct nt_html_costs){0};
}

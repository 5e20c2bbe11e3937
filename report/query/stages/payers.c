// SPDX-License-Identifier: GPL-2.0-only
/*
 * payers.c - see payers.h.
 */
#include "report/query/stages/payers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/cpus/lanes.h"
#include "report/rows/rollup.h"
#include "report/rows/rx_payers.h"
#include "report/util/array.h"
#include "report/util/lot.h"

void nt_stage_payers_release(struct nt_stage_payers *payers)
{
	nt_id_map_release(&payers->groups);
	nt_id_map_release(&payers->chosen);
	nt_id_map_release(&payers->by_cpu);
	nt_id_map_release(&payers->by_flow);
	for (size_t i = 0; i < payers->n_cpus; i++)
		free(payers->cpus[i].cells);
	free(payers->cpus);
	free(payers->paid);
	free(payers->flows);
}

/* ---- groups ---- */

static int read_chosen(struct nt_stage_payers *payers)
{
	const struct nt_part *part = payers->part;
	sqlite3_stmt *row = nt_db_query(part->db, NT_PROCESSES_SQL, part->session->id);
	int error = 0;

	sqlite3_bind_text(row, 4, part->selection->process, -1, SQLITE_STATIC);
	while (!error && nt_db_next(row)) {
		if (nt_id_map_set(&payers->chosen, (uint64_t)sqlite3_column_int64(row, 0), 1))
			error = nt_db_no_memory(part->db);
	}
	return nt_db_end(part->db, row, "the processes cannot be read") ? -1 : error;
}

/* Time that no process pays goes by the word for its payer. The driver's samples cannot be told from nobody's. */
static int name_payers(struct nt_stage_payers *payers, struct nt_labels *groups)
{
	_Static_assert(NT_PAYER_UNATTRIBUTED < NT_COUNT(payers->of_payers), "each payer has a group");
	for (enum nt_payer payer = 0; payer <= NT_PAYER_UNATTRIBUTED; payer++) {
		const enum nt_payer named = payer == NT_PAYER_DRIVER ? NT_PAYER_UNATTRIBUTED : payer;
		const char *name = payer == NT_PAYER_SOCKET ? "[kernel]" : nt_payer_name(named);
		char word[32];

		snprintf(word, sizeof(word), payer == NT_PAYER_SOCKET ? "%s" : "[%s]", name);
		if (nt_labels_number(groups, word, &payers->of_payers[payer]))
			return nt_db_no_memory(payers->part->db);
	}
	payers->nobodys = payers->of_payers[NT_PAYER_UNATTRIBUTED];
	return 0;
}

static int read_groups(struct nt_stage_payers *payers, struct nt_labels *groups)
{
	const enum nt_by by = payers->by == NT_BY_CGROUP ? NT_BY_CGROUP : NT_BY_PROCESS;

	if (!nt_stage_by_is_labelled(payers->by))
		return 0;
	if (nt_groups_of_processes(payers->part->db, payers->part->session->id, by, groups, &payers->groups))
		return -1;
	return payers->by == NT_BY_PAYER ? name_payers(payers, groups) : 0;
}

int nt_stage_payers_init(struct nt_stage_payers *payers, const struct nt_part *part,
			 const struct nt_stage_choice *choice, struct nt_labels *groups)
{
	const uint64_t since_start = (uint64_t)part->from_ts - (uint64_t)part->session->start_ts;
	bool has_flows = false;

	*payers = (struct nt_stage_payers){.part = part, .by = choice->by, .first_bucket = since_start / NT_BUCKET_NS};
	if (!(choice->owners >> NT_OWNER_NET_RX & 1) ||
	    (!nt_stage_by_is_labelled(choice->by) && !part->selection->process))
		return 0;
	if (nt_db_has_rows(part->db, "flow", part->session->id, &has_flows))
		return -1;
	payers->is_told = has_flows || choice->by == NT_BY_PAYER;
	if (payers->is_told && part->selection->process && read_chosen(payers))
		return -1;
	return payers->is_told ? read_groups(payers, groups) : 0;
}

/* `process`: -1: none. */
static uint32_t group_of(struct nt_stage_payers *payers, enum nt_payer payer, int64_t process)
{
	const uint64_t group = process >= 0 ? nt_id_map_get(&payers->groups, (uint64_t)process) : 0;

	if (payers->part->selection->process && (process < 0 || !nt_id_map_get(&payers->chosen, (uint64_t)process)))
		return NT_STAGE_NOT_CHOSEN;
	return group ? (uint32_t)group - 1 : payers->of_payers[payer];
}

/* ---- time ---- */

int nt_stage_payers_add(struct nt_stage_payers *payers, uint32_t cpu, uint32_t bucket, uint32_t n, uint64_t ns)
{
	struct nt_stage_payers_cpu *of_cpu;
	struct nt_split_cell *last;
	int64_t i;

	if (cpu >= NT_LANE_MAX_CPUS || ns > UINT32_MAX)
		return -ERANGE;
	i = NT_INDEX(&payers->by_cpu, cpu, payers->cpus, payers->cpus_size, payers->n_cpus, {.cpu = cpu});
	if (i < 0)
		return -ENOMEM;
	of_cpu = &payers->cpus[i];
	last = of_cpu->n ? &of_cpu->cells[of_cpu->n - 1] : NULL;
	if (last && last->bucket == bucket && last->n == n) {
		last->ns += ns;
		return last->ns <= UINT32_MAX ? 0 : -ERANGE;
	}
	if (NT_ROOM(of_cpu->cells, of_cpu->size, of_cpu->n + 1))
		return -ENOMEM;
	of_cpu->cells[of_cpu->n++] = (struct nt_split_cell){bucket, n, ns};
	return 0;
}

struct dividing {
	struct nt_stage_payers *payers;
	nt_stage_paid_fn give;
	void *arg;
};

static int give_share(struct dividing *dividing, uint32_t cpu, uint32_t group, struct nt_split_cell cell, uint64_t ns)
{
	cell.ns = ns;
	return !ns || group == NT_STAGE_NOT_CHOSEN ? 0 : dividing->give(dividing->arg, cpu, group, &cell);
}

/* By the rows at hand; if there are none, nobody pays. A fraction of a ns goes to the next share. */
static int divide_cell(struct dividing *dividing, uint32_t cpu, const struct nt_split_cell *cell)
{
	const struct nt_stage_payers *payers = dividing->payers;
	unsigned __int128 all = 0, paid = 0;
	uint64_t given_ns = 0;
	int error = 0;

	for (size_t i = 0; i < payers->n_paid; i++)
		all += payers->paid[i].ns;
	if (!all)
		return give_share(dividing, cpu, group_of(dividing->payers, NT_PAYER_UNATTRIBUTED, -1), *cell,
				  cell->ns);
	for (size_t i = 0; i < payers->n_paid && !error; i++) {
		uint64_t until_ns;

		paid += payers->paid[i].ns;
		until_ns = (uint64_t)(cell->ns * paid / all);
		error = give_share(dividing, cpu, payers->paid[i].group, *cell, until_ns - given_ns);
		given_ns = until_ns;
	}
	return error;
}

/* Divides the CPU's cells that are left, as far as they lie before a bucket. */
static int divide_until(struct dividing *dividing, struct nt_stage_payers_cpu *cpu, uint64_t until)
{
	int error = 0;

	while (cpu->next < cpu->n && cpu->cells[cpu->next].bucket < until && !error) {
		struct nt_split_cell *left = &cpu->cells[cpu->next], cell = *left;

		if (cell.n > until - cell.bucket)
			cell.n = (uint32_t)(until - cell.bucket);
		error = divide_cell(dividing, cpu->cpu, &cell);
		left->bucket += cell.n;
		left->n -= cell.n;
		cpu->next += !left->n;
	}
	return error;
}

/* ---- rx_cost ---- */

/* Rows of one CPU and time. */
struct span {
	int64_t cpu, ts, dur;
};

/* The bucket that a time lies in, counted from the part's first; one before that is that. */
static uint64_t bucket_of(const struct nt_stage_payers *payers, int64_t ts)
{
	const int64_t start_ts = payers->part->session->start_ts;
	const uint64_t bucket = ts > start_ts ? ((uint64_t)ts - (uint64_t)start_ts) / NT_BUCKET_NS : 0;

	return bucket > payers->first_bucket ? bucket - payers->first_bucket : 0;
}

/* All rows of the span are at hand: they divide its time. Nobody pays for cells before it. */
static int end_span(struct dividing *dividing, const struct span *span)
{
	struct nt_stage_payers *payers = dividing->payers;
	const uint64_t i = span->cpu >= 0 ? nt_id_map_get(&payers->by_cpu, (uint64_t)span->cpu) : 0;
	const size_t n = payers->n_paid;
	int error = 0;

	if (i) {
		payers->n_paid = 0;
		error = divide_until(dividing, &payers->cpus[i - 1], bucket_of(payers, span->ts));
		payers->n_paid = n;
		if (!error)
			error = divide_until(dividing, &payers->cpus[i - 1],
					     bucket_of(payers, span->ts + span->dur - 1) + 1);
	}
	payers->n_paid = 0;
	return error;
}

static int note_flow(struct nt_stage_payers *payers, uint64_t flow, uint32_t group, uint64_t ns)
{
	uint64_t *first = nt_id_map_at(&payers->by_flow, flow);
	size_t at;

	if (!first)
		return -ENOMEM;
	for (at = *first; at; at = payers->flows[at - 1].next) {
		if (payers->flows[at - 1].group == group) {
			payers->flows[at - 1].ns += ns;
			return 0;
		}
	}
	if (NT_ROOM(payers->flows, payers->flows_size, payers->n_flows + 1))
		return -ENOMEM;
	payers->flows[payers->n_flows] = (struct nt_stage_flow_payer){.group = group, .ns = ns, .next = *first};
	*first = ++payers->n_flows;
	return 0;
}

/* The flows of rows without one: they came after many others in their bucket. */
#define REST UINT64_MAX

static bool is_of_flows(enum nt_payer payer)
{
	return payer != NT_PAYER_DRIVER && payer != NT_PAYER_UNATTRIBUTED;
}

static int add_row(struct dividing *dividing, sqlite3_stmt *row, struct span *span)
{
	enum { CPU, TS, DUR, PAYER, UPID, FLOW, SPENT };
	struct nt_stage_payers *payers = dividing->payers;
	const struct span next = {sqlite3_column_int64(row, CPU), sqlite3_column_int64(row, TS),
				  sqlite3_column_int64(row, DUR)};
	const int64_t ns = sqlite3_column_int64(row, SPENT);
	const char *word = nt_db_text(row, PAYER);
	const enum nt_payer payer = word ? nt_payer_number(word) : NT_PAYER_UNATTRIBUTED;
	const uint32_t group = group_of(
		payers, payer, sqlite3_column_type(row, UPID) == SQLITE_INTEGER ? sqlite3_column_int64(row, UPID) : -1);
	int64_t end;
	int error = 0;

	if (next.dur <= 0 || ns <= 0 || __builtin_add_overflow(next.ts, next.dur, &end))
		return -ERANGE;
	if (memcmp(&next, span, sizeof(next)) != 0)
		error = end_span(dividing, span);
	*span = next;
	if (!error && NT_ROOM(payers->paid, payers->paid_size, payers->n_paid + 1))
		return -ENOMEM;
	if (error)
		return error;
	payers->paid[payers->n_paid++] = (struct nt_stage_paid){group, (uint64_t)ns};
	if (sqlite3_column_type(row, FLOW) == SQLITE_INTEGER)
		return note_flow(payers, (uint64_t)sqlite3_column_int64(row, FLOW), group, (uint64_t)ns);
	return is_of_flows(payer) ? note_flow(payers, REST, group, (uint64_t)ns) : 0;
}

static int divide_rows(struct dividing *dividing)
{
	const struct nt_part *part = dividing->payers->part;
	/* Sums are kept: conditions on the time save no reading. */
	sqlite3_stmt *row =
		nt_db_query(part->db,
			    "SELECT cpu, ts, dur, payer, upid, flow_id, spent_ns FROM rx_cost WHERE session_id = ?1 "
			    "AND +ts < ?3 AND +ts + dur > ?2 AND spent_ns > 0 ORDER BY cpu, +ts, dur, rowid",
			    part->session->id);
	struct span span = {.cpu = -1};
	int error = 0;

	sqlite3_bind_int64(row, 2, part->from_ts);
	sqlite3_bind_int64(row, 3, part->to_ts);
	while (!error && nt_db_next(row))
		error = add_row(dividing, row, &span);
	if (nt_db_end(part->db, row, "what net_rx cost cannot be read"))
		return -1;
	return error ? error : end_span(dividing, &span);
}

int nt_stage_payers_divide(struct nt_stage_payers *payers, nt_stage_paid_fn give, void *arg)
{
	struct dividing dividing = {payers, give, arg};
	int error;

	for (size_t i = 0; i < payers->n_cpus; i++)
		qsort(payers->cpus[i].cells, payers->cpus[i].n, sizeof(*payers->cpus[i].cells), nt_compare_u32);
	error = divide_rows(&dividing);
	for (size_t i = 0; i < payers->n_cpus && !error; i++)
		error = divide_until(&dividing, &payers->cpus[i], UINT64_MAX);
	return error;
}

/* ---- samples ---- */

uint32_t nt_stage_payers_of(struct nt_stage_payers *payers, int64_t flow, uint64_t number)
{
	size_t first = flow >= 0 ? nt_id_map_get(&payers->by_flow, (uint64_t)flow) : 0;
	const struct nt_stage_flow_payer *payer = NULL;
	unsigned __int128 all = 0, at;

	if (flow >= 0 && !first)
		first = nt_id_map_get(&payers->by_flow, REST);
	for (size_t i = first; i; i = payers->flows[i - 1].next)
		all += payers->flows[i - 1].ns;
	at = (unsigned __int128)(uint64_t)all * nt_lot(number, 2) >> 64;
	for (size_t i = first; i; i = payer->next) {
		payer = &payers->flows[i - 1];
		if (at < payer->ns)
			break;
		at -= payer->ns;
	}
	return payer ? payer->group : group_of(payers, NT_PAYER_UNATTRIBUTED, -1);
}

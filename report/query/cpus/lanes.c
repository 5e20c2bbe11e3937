// SPDX-License-Identifier: GPL-2.0-only
/*
 * lanes.c - see lanes.h.
 */
#include "report/query/cpus/lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

void nt_lanes_init(struct nt_lanes *lanes, int64_t from_ts, int64_t to_ts, uint32_t columns)
{
	uint64_t span = (uint64_t)to_ts - (uint64_t)from_ts;

	*lanes = (struct nt_lanes){.from_ts = from_ts, .to_ts = to_ts};
	lanes->columns = columns > span ? (uint32_t)span : columns;
}

void nt_lanes_release(struct nt_lanes *lanes)
{
	for (size_t i = 0; i < lanes->n; i++)
		free(lanes->lanes[i].cells);
	free(lanes->lanes);
	free(lanes->who);
	nt_id_map_release(&lanes->by_cpu);
	nt_id_map_release(&lanes->by_utid);
	memset(lanes, 0, sizeof(*lanes));
}

int64_t nt_lanes_column_ts(const struct nt_lanes *lanes, uint32_t column)
{
	unsigned __int128 span = (uint64_t)lanes->to_ts - (uint64_t)lanes->from_ts;

	return (int64_t)((uint64_t)lanes->from_ts + (uint64_t)(span * column / lanes->columns));
}

uint32_t nt_lanes_column_of(const struct nt_lanes *lanes, int64_t ts)
{
	uint64_t span = (uint64_t)lanes->to_ts - (uint64_t)lanes->from_ts;
	uint64_t since = (uint64_t)ts - (uint64_t)lanes->from_ts;
	uint32_t column = (uint32_t)((unsigned __int128)since * lanes->columns / span);

	/* Borders are rounded down, so the next one may be here already. */
	while (column + 1 < lanes->columns && nt_lanes_column_ts(lanes, column + 1) <= ts)
		column++;
	return column;
}

static void set_column(const struct nt_lanes *lanes, struct nt_lane *lane, uint32_t column)
{
	lane->column = column;
	lane->column_ts = nt_lanes_column_ts(lanes, column);
	lane->column_end = nt_lanes_column_ts(lanes, column + 1);
}

static int find_lane(struct nt_lanes *lanes, uint32_t cpu, struct nt_lane **lane)
{
	int64_t i;

	if (lanes->n == NT_LANE_MAX_CPUS && !nt_id_map_get(&lanes->by_cpu, cpu))
		return -ERANGE;
	i = NT_INDEX(&lanes->by_cpu, cpu, lanes->lanes, lanes->size, lanes->n, {.cpu = cpu});
	if (i < 0)
		return -ENOMEM;
	*lane = &lanes->lanes[i];
	if ((*lane)->cells)
		return 0;
	set_column(lanes, *lane, 0);
	(*lane)->cells = calloc((size_t)lanes->columns * NT_LANE_KINDS, sizeof(*(*lane)->cells));
	return (*lane)->cells ? 0 : -ENOMEM;
}

static int add_to_who(struct nt_lanes *lanes, int64_t utid, unsigned int kind, uint64_t ns)
{
	int64_t i =
		NT_INDEX(&lanes->by_utid, (uint64_t)utid, lanes->who, lanes->who_size, lanes->n_who, {.utid = utid});

	if (i < 0)
		return -ENOMEM;
	lanes->who[i].ns[kind] += ns;
	return 0;
}

/* Slices of a CPU follow one another, so a division is seldom needed to find the column. */
static uint32_t column_of_next(const struct nt_lanes *lanes, const struct nt_lane *lane, int64_t ts)
{
	if (ts >= lane->column_ts && ts < lane->column_end)
		return lane->column;
	return nt_lanes_column_of(lanes, ts);
}

static void add_to_cells(const struct nt_lanes *lanes, struct nt_lane *lane, int64_t begin, int64_t end,
			 unsigned int kind)
{
	uint32_t column = column_of_next(lanes, lane, begin);

	for (; begin < end; column++) {
		int64_t until;

		if (column != lane->column)
			set_column(lanes, lane, column);
		until = lane->column_end < end ? lane->column_end : end;
		lane->cells[(size_t)column * NT_LANE_KINDS + kind] += (uint64_t)until - (uint64_t)begin;
		begin = until;
	}
}

int nt_lanes_add(struct nt_lanes *lanes, const struct nt_lane_slice *slice)
{
	int64_t end = slice->ts + slice->dur, begin = slice->ts;
	struct nt_lane *lane;
	uint64_t ns;
	int error;

	if (begin < lanes->from_ts)
		begin = lanes->from_ts;
	if (end > lanes->to_ts)
		end = lanes->to_ts;
	if (begin >= end)
		return 0;
	error = find_lane(lanes, slice->cpu, &lane);
	if (error)
		return error;
	ns = (uint64_t)end - (uint64_t)begin;
	lane->total[slice->kind] += ns;
	add_to_cells(lanes, lane, begin, end, slice->kind);
	if (slice->kind == NT_LANE_OTHER || slice->utid < 0)
		return 0;
	return add_to_who(lanes, slice->utid, slice->kind, ns);
}

static int compare_who(const void *one, const void *two)
{
	const struct nt_lane_who *a = one, *b = two;
	uint64_t ran_a = nt_lane_who_ran(a), ran_b = nt_lane_who_ran(b);

	return ran_a == ran_b ? (a->utid > b->utid) - (a->utid < b->utid) : ran_a < ran_b ? 1 : -1;
}

void nt_lanes_order(struct nt_lanes *lanes)
{
	if (lanes->n)
		qsort(lanes->lanes, lanes->n, sizeof(*lanes->lanes), nt_compare_u32);
	if (lanes->n_who)
		qsort(lanes->who, lanes->n_who, sizeof(*lanes->who), compare_who);
	/* The indexes are no longer those of the arrays. */
	nt_id_map_release(&lanes->by_cpu);
	nt_id_map_release(&lanes->by_utid);
}

uint64_t nt_lane_sum(const uint64_t ns[NT_LANE_KINDS], unsigned int kinds)
{
	uint64_t sum = 0;

	for (unsigned int kind = 0; kind < NT_LANE_KINDS; kind++)
		sum += kinds >> kind & 1 ? ns[kind] : 0;
	return sum;
}

uint64_t nt_lane_cell(const struct nt_lane *lane, uint32_t column, unsigned int kinds)
{
	return nt_lane_sum(&lane->cells[(size_t)column * NT_LANE_KINDS], kinds);
}

/* Of some kinds, the one that had most; of equals the first; NT_LANE_KINDS: none had any. */
static unsigned int most_of(const uint64_t ns[NT_LANE_KINDS], unsigned int kinds)
{
	unsigned int most = NT_LANE_KINDS;

	for (unsigned int kind = 0; kind < NT_LANE_KINDS; kind++) {
		if (kinds >> kind & 1 && ns[kind] && (most == NT_LANE_KINDS || ns[kind] > ns[most]))
			most = kind;
	}
	return most;
}

unsigned int nt_lane_most(const struct nt_lane *lane, uint32_t column)
{
	const uint64_t *ns = &lane->cells[(size_t)column * NT_LANE_KINDS];
	unsigned int network = most_of(ns, NT_NETWORK_OWNERS), other = most_of(ns, ~NT_NETWORK_OWNERS);

	if (network == NT_LANE_KINDS || other == NT_LANE_KINDS)
		return network == NT_LANE_KINDS ? other : network;
	return nt_lane_sum(ns, NT_NETWORK_OWNERS) >= ns[other] ? network : other;
}

void nt_lanes_total(const struct nt_lanes *lanes, uint64_t total[NT_LANE_KINDS])
{
	memset(total, 0, NT_LANE_KINDS * sizeof(*total));
	for (size_t i = 0; i < lanes->n; i++) {
		for (unsigned int kind = 0; kind < NT_LANE_KINDS; kind++)
			total[kind] += lanes->lanes[i].total[kind];
	}
}

uint64_t nt_lane_who_ran(const struct nt_lane_who *who)
{
	return nt_lane_sum(who->ns, ~(1u << NT_OWNER_IDLE));
}

const char *nt_lane_kind_name(unsigned int kind)
{
	return kind == NT_LANE_OTHER ? "other" : nt_owner_name((enum nt_owner)kind);
}

unsigned int nt_lane_kinds_of(const char *word)
{
	enum nt_owner owner = nt_owner_number(word);

	if (!strcmp(word, "network"))
		return NT_NETWORK_OWNERS;
	return owner < NT_OWNER_COUNT ? 1u << owner : 0;
}

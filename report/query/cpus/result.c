// SPDX-License-Identifier: GPL-2.0-only
/*
 * result.c - the part of result.h that finds: one pass through the slices for lanes; for the worst one that looks for
 * the windows, and then one for each that looks at it, or one for all: of a database, or where there are many.
 */
#include "report/query/cpus/result.h"

#include <errno.h>
#include <stdlib.h>

#include "report/query/payers.h"
#include "report/util/array.h"

uint64_t nt_lanes_worst_whole(const struct nt_lanes_result *result, const struct nt_lanes_worst *worst)
{
	return result->choice->window_ns * worst->lanes.n;
}

/* The window as a part of its own. */
static struct nt_part part_of(const struct nt_lanes_result *result, struct nt_lanes_worst *worst)
{
	struct nt_part part = result->part;

	part.from_ts = worst->lanes.from_ts;
	part.to_ts = worst->lanes.to_ts;
	if (result->choice->each_cpu) {
		worst->selection = *part.selection;
		worst->selection.n_cpus = 1;
		worst->selection.cpus[0].first = worst->selection.cpus[0].last = (uint32_t)worst->window.curve;
		part.selection = &worst->selection;
	}
	return part;
}

/* ---- reading ---- */

/* Names of threads, uncovered time, and of the whole part who pays. */
static const uint64_t small = NT_TABLE_BIT(NT_TABLE_THREAD) | NT_TABLE_BIT(NT_TABLE_LOSS);
static const uint64_t small_of_part =
	NT_TABLE_BIT(NT_TABLE_THREAD) | NT_TABLE_BIT(NT_TABLE_LOSS) | NT_TABLE_BIT(NT_TABLE_RX_COST);

static int add_op(void *arg, const struct nt_row *row)
{
	struct nt_lanes_result *result = arg;

	return nt_lanes_beside_op(&result->beside, row);
}

static int add_softirq(void *arg, const struct nt_row *row)
{
	struct nt_lanes_result *result = arg;

	return nt_lanes_beside_softirq(&result->beside, row);
}

static int add_to_lanes(void *arg, const struct nt_lane_slice *slice)
{
	return nt_lanes_add(arg, slice);
}

static int read_lanes(struct nt_lanes_result *result)
{
	const struct nt_part *part = &result->part;
	struct nt_lanes_reading slices = {&result->filter, add_to_lanes, &result->lanes};
	const struct nt_scan_reader readers[] = {
		nt_lanes_reader(&slices),
		{NT_TABLE_SOFTIRQ_SLICE, 0, add_softirq, result},
		{NT_TABLE_SOCK_OP, 0, add_op, result},
	};
	const struct nt_scan_want want = {.small = small_of_part};
	const int error = nt_scan_within(part->db, part->session->id, &want, readers, NT_COUNT(readers));

	nt_lanes_order(&result->lanes);
	return error ? nt_lanes_fail(part, error, "slices") : 0;
}

/* ---- the worst: which they are ---- */

struct searching {
	struct nt_lanes_result *result;
	struct nt_worst *worst;
};

static int add_to_worst(const struct searching *searching, uint32_t cpu, int64_t ts, int64_t end_ts,
			enum nt_worst_kind kind)
{
	int error = nt_worst_add(searching->worst, cpu, ts, end_ts, kind);

	return error == -1 ? nt_db_refuse(searching->result->part.db, "%s", nt_worst_error(searching->worst)) : error;
}

static int search_slice(void *arg, const struct nt_lane_slice *slice)
{
	const struct searching *searching = arg;
	enum nt_worst_kind kind = slice->kind == NT_OWNER_UNCOVERED ? NT_WORST_UNCOVERED : NT_WORST_OTHER;

	if (searching->result->choice->worst_kinds >> slice->kind & 1)
		kind = NT_WORST_OWN;
	return add_to_worst(searching, slice->cpu, slice->ts, slice->ts + slice->dur, kind);
}

/* The search must know of all CPUs, also of those that nobody asked about. */
static int count_cpu(void *arg, const struct nt_row *row)
{
	const struct searching *searching = arg;
	const struct nt_value *cpu = NT_VALUE(row, cpu_slice, cpu);
	const int64_t number = nt_integer(cpu, -1);

	if (number < 0 || number > UINT32_MAX || nt_lanes_has_cpu(&searching->result->part, cpu))
		return 0;
	return add_to_worst(searching, (uint32_t)number, 0, 0, NT_WORST_LEFT_OUT);
}

static int search_all(struct searching *searching)
{
	const struct nt_part *part = &searching->result->part;
	struct nt_lanes_reading slices = {&searching->result->filter, search_slice, searching};
	struct nt_scan_reader readers[2] = {nt_lanes_reader(&slices)};
	size_t n = 1;
	int error;

	if (part->selection->n_cpus)
		readers[n++] = (struct nt_scan_reader){NT_TABLE_CPU_SLICE, NT_COLUMN_BIT(cpu_slice, cpu), count_cpu,
						       searching};
	error = nt_scan_all(part->db, part->session->id, small, readers, n);
	return error ? nt_lanes_fail(part, error, "slices") : 0;
}

static int take_windows(struct searching *searching)
{
	struct nt_lanes_result *result = searching->result;
	struct nt_worst_window windows[NT_WORST_MAX];
	int n = nt_worst_find(searching->worst, windows);

	if (n == -1)
		return nt_db_refuse(result->part.db, "%s", nt_worst_error(searching->worst));
	if (n < 0)
		return nt_lanes_fail(&result->part, n, "slices");
	for (int i = 0; i < n; i++)
		result->worst[i].window = windows[i];
	result->n_worst = (unsigned int)n;
	result->at_most_ns = nt_worst_bound(searching->worst);
	return 0;
}

static int find_windows(struct nt_lanes_result *result)
{
	const struct nt_worst_want want = {
		.from_ts = result->part.from_ts,
		.to_ts = result->part.to_ts,
		.length = result->choice->window_ns,
		.most = result->choice->top,
		.each_cpu = result->choice->each_cpu,
		.cpus = (uint32_t)result->part.session->cpus,
	};
	struct searching searching = {result, nt_worst_new(&want)};
	int error;

	if (!searching.worst)
		return nt_db_no_memory(result->part.db);
	error = search_all(&searching);
	if (!error)
		error = take_windows(&searching);
	nt_worst_free(searching.worst);
	return error;
}

/* ---- the worst: what was in them ---- */

#define ALONE_NS 500000000 /* to read a window alone costs about as much as to read so long */

static int add_to_windows(void *arg, const struct nt_lane_slice *slice)
{
	struct nt_lanes_result *result = arg;
	int error = 0;

	for (unsigned int i = 0; i < result->n_worst && !error; i++) {
		struct nt_lanes_worst *worst = &result->worst[i];

		if (worst->is_read && (!result->choice->each_cpu || worst->window.curve == slice->cpu))
			error = nt_lanes_add(&worst->lanes, slice);
	}
	return error;
}

static int add_op_to_windows(void *arg, const struct nt_row *row)
{
	struct nt_lanes_result *result = arg;
	int error = 0;

	for (unsigned int i = 0; i < result->n_worst && !error; i++) {
		if (result->worst[i].is_read)
			error = nt_lanes_beside_op(&result->worst[i].beside, row);
	}
	return error;
}

static int add_softirq_to_windows(void *arg, const struct nt_row *row)
{
	struct nt_lanes_result *result = arg;
	int error = 0;

	for (unsigned int i = 0; i < result->n_worst && !error; i++) {
		if (result->worst[i].is_read)
			error = nt_lanes_beside_softirq(&result->worst[i].beside, row);
	}
	return error;
}

#define N_READERS 3

/* Of a tape, few windows are read one by one. */
static int read_alone(struct nt_lanes_result *result, const struct nt_scan_reader readers[N_READERS])
{
	const struct nt_part *part = &result->part;
	int error = 0;

	for (unsigned int i = 0; i < result->n_worst && !error; i++) {
		struct nt_lanes_worst *worst = &result->worst[i];
		const struct nt_scan_want want = {
			.view = {(uint64_t)worst->lanes.from_ts, (uint64_t)worst->lanes.to_ts, NULL}};

		worst->is_read = true;
		error = nt_scan_within(part->db, part->session->id, &want, readers, N_READERS);
		worst->is_read = false;
	}
	return error;
}

static int read_together(struct nt_lanes_result *result, const struct nt_scan_reader readers[N_READERS])
{
	const struct nt_part *part = &result->part;
	const struct nt_scan_want want = {.small = small};

	for (unsigned int i = 0; i < result->n_worst; i++)
		result->worst[i].is_read = true;
	return nt_scan_within(part->db, part->session->id, &want, readers, N_READERS);
}

static int read_windows(struct nt_lanes_result *result, uint32_t columns)
{
	struct nt_lanes_reading slices = {&result->filter, add_to_windows, result};
	const struct nt_scan_reader readers[N_READERS] = {
		nt_lanes_reader(&slices),
		{NT_TABLE_SOFTIRQ_SLICE, 0, add_softirq_to_windows, result},
		{NT_TABLE_SOCK_OP, 0, add_op_to_windows, result},
	};
	const int64_t part_ns = result->part.to_ts - result->part.from_ts;
	const bool are_few = result->part.db->source && result->n_worst < part_ns / ALONE_NS;
	int error;

	for (unsigned int i = 0; i < result->n_worst; i++) {
		struct nt_lanes_worst *worst = &result->worst[i];
		int64_t end = (int64_t)((uint64_t)worst->window.ts + result->choice->window_ns);
		struct nt_part part;

		nt_lanes_init(&worst->lanes, worst->window.ts, end, i ? 1 : columns);
		part = part_of(result, worst);
		nt_lanes_beside_begin(&worst->beside, &result->filter, &part);
	}
	error = are_few ? read_alone(result, readers) : read_together(result, readers);
	for (unsigned int i = 0; i < result->n_worst; i++)
		nt_lanes_order(&result->worst[i].lanes);
	return error ? nt_lanes_fail(&result->part, error, "slices") : 0;
}

/* ---- all ---- */

int nt_lanes_find(struct nt_lanes_result *result, uint32_t columns)
{
	nt_lanes_init(&result->lanes, result->part.from_ts, result->part.to_ts, result->choice->worst ? 1 : columns);
	nt_lanes_beside_begin(&result->beside, &result->filter, &result->part);
	if (nt_lanes_filter_init(&result->filter, &result->part) ||
	    nt_payers_are_known(result->part.db, result->part.session->id, &result->has_payers))
		return -1;
	if (result->choice->worst)
		return find_windows(result) || read_windows(result, columns) ? -1 : 0;
	return read_lanes(result);
}

void nt_lanes_result_release(struct nt_lanes_result *result)
{
	nt_lanes_filter_release(&result->filter);
	nt_lanes_release(&result->lanes);
	nt_lanes_beside_release(&result->beside);
	for (unsigned int i = 0; i < result->n_worst; i++) {
		nt_lanes_release(&result->worst[i].lanes);
		nt_lanes_beside_release(&result->worst[i].beside);
	}
}

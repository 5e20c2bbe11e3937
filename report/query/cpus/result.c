// SPDX-License-Identifier: GPL-2.0-only
/*
 * result.c - the part of result.h that finds: one pass through the slices for lanes; for the worst one that looks for
 * the windows, and then one for each that looks at it, or for all in a database.
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

/* Names of threads, and uncovered time. */
static const uint64_t small = NT_TABLE_BIT(NT_TABLE_THREAD) | NT_TABLE_BIT(NT_TABLE_LOSS);

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

static int add_rx_slice(void *arg, const struct nt_row *row)
{
	struct nt_lanes_result *result = arg;

	return nt_rx_sums_slice(&result->beside.rx, row);
}

static int add_rx(void *arg, const struct nt_row *row)
{
	struct nt_lanes_result *result = arg;

	return nt_rx_sums_row(&result->beside.rx, row);
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
		{NT_TABLE_CPU_SLICE, 0, add_rx_slice, result},
		{NT_TABLE_SOFTIRQ_SLICE, 0, add_softirq, result},
		{NT_TABLE_SOCK_OP, 0, add_op, result},
		{NT_TABLE_RX_COST, 0, add_rx, result},
	};
	const bool is_limited = nt_session_is_limited(part->db, part->session, part->selection);
	const size_t n = NT_COUNT(readers);
	int error = nt_scan_all(part->db, part->session->id, small, readers, is_limited ? n - 2 : n);

	/* An operation counts where it ended. */
	if (!error && is_limited)
		error = nt_lanes_read_ops(part, part->from_ts, &readers[n - 2], 2);
	if (!error)
		error = nt_rx_sums_end(&result->beside.rx);
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

static int note_op(void *arg, const struct nt_row *row)
{
	const struct searching *searching = arg;
	const int64_t ts = nt_integer(NT_VALUE(row, sock_op, ts), 0);
	int64_t end_ts;

	if (!__builtin_add_overflow(ts, nt_integer(NT_VALUE(row, sock_op, dur), 0), &end_ts))
		nt_op_begins_add(&searching->result->op_begins, ts, end_ts);
	return 0;
}

static int search_all(struct searching *searching)
{
	const struct nt_part *part = &searching->result->part;
	struct nt_lanes_reading slices = {&searching->result->filter, search_slice, searching};
	struct nt_scan_reader readers[3] = {nt_lanes_reader(&slices)};
	size_t n = 1;
	int error;

	if (part->selection->n_cpus)
		readers[n++] = (struct nt_scan_reader){NT_TABLE_CPU_SLICE, NT_COLUMN_BIT(cpu_slice, cpu), count_cpu,
						       searching};
	if (part->db->source)
		readers[n++] = (struct nt_scan_reader){
			NT_TABLE_SOCK_OP, NT_COLUMN_BIT(sock_op, ts) | NT_COLUMN_BIT(sock_op, dur), note_op, searching};
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

	nt_op_begins_init(&result->op_begins, want.from_ts, want.to_ts);
	if (!searching.worst)
		return nt_db_no_memory(result->part.db);
	error = search_all(&searching);
	if (!error)
		error = take_windows(&searching);
	nt_worst_free(searching.worst);
	return error;
}

/* ---- the worst: what was in them ---- */

#define APART_NS 500000000 /* windows that are nearer are read together */

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

static int add_rx_slice_to_windows(void *arg, const struct nt_row *row)
{
	struct nt_lanes_result *result = arg;
	int error = 0;

	for (unsigned int i = 0; i < result->n_worst && !error; i++) {
		if (result->worst[i].is_read)
			error = nt_rx_sums_slice(&result->worst[i].beside.rx, row);
	}
	return error;
}

static int add_rx_to_windows(void *arg, const struct nt_row *row)
{
	struct nt_lanes_result *result = arg;
	int error = 0;

	for (unsigned int i = 0; i < result->n_worst && !error; i++) {
		if (result->worst[i].is_read)
			error = nt_rx_sums_row(&result->worst[i].beside.rx, row);
	}
	return error;
}

/* What must be read for a window. */
struct span {
	uint64_t from_ns, to_ns;
	struct nt_lanes_worst *worst;
};

static int compare_spans(const void *one, const void *two)
{
	const struct span *a = one, *b = two;

	return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

/* How spans are read, and by whom. */
struct reading {
	bool begun_within;
	struct nt_cuts rx_cuts;
	const struct nt_scan_reader *readers;
	size_t n;
};

/* Reads the first spans that are near to each other, in one pass. Gives how many, or an error. */
static int read_near(const struct nt_part *part, const struct span *spans, unsigned int n,
		     const struct reading *reading)
{
	struct nt_scan_want want = {.from_ns = spans[0].from_ns,
				    .to_ns = spans[0].to_ns,
				    .begun_within = reading->begun_within,
				    .rx_cuts = reading->rx_cuts};
	unsigned int near = 0;
	int error;

	for (; near < n && spans[near].from_ns < want.to_ns + APART_NS; near++) {
		spans[near].worst->is_read = true;
		want.to_ns = spans[near].to_ns > want.to_ns ? spans[near].to_ns : want.to_ns;
	}
	error = nt_scan_within(part->db, part->session->id, &want, reading->readers, reading->n);
	for (unsigned int i = 0; i < near; i++)
		spans[i].worst->is_read = false;
	return error ? nt_lanes_fail(part, error, "slices") : (int)near;
}

static int read_spans(const struct nt_part *part, struct span *spans, unsigned int n, const struct reading *reading)
{
	qsort(spans, n, sizeof(*spans), compare_spans);
	for (unsigned int at = 0; at < n;) {
		int near = read_near(part, spans + at, n - at, reading);

		if (near < 0)
			return -1;
		at += (unsigned int)near;
	}
	return 0;
}

static int compare_times(const void *one, const void *two)
{
	const uint64_t *a = one, *b = two;

	return (*a > *b) - (*a < *b);
}

/* The readers of slices come first. */
#define N_OF_SLICES 3
#define N_READERS 5

/*
 * Of a tape only what the windows need is read. An operation counts where it ended, so it is read from where the first
 * began of those that did.
 */
static int read_tape(struct nt_lanes_result *result, const struct nt_scan_reader readers[N_READERS])
{
	struct span slices[NT_WORST_MAX], ops[NT_WORST_MAX];
	uint64_t edges[2 * NT_WORST_MAX];
	const struct reading of_slices = {.readers = readers, .n = N_OF_SLICES};
	const struct reading of_ops = {.begun_within = true,
				       .rx_cuts = {edges, 2 * (size_t)result->n_worst},
				       .readers = readers + N_OF_SLICES,
				       .n = N_READERS - N_OF_SLICES};

	for (unsigned int i = 0; i < result->n_worst; i++) {
		struct nt_lanes_worst *worst = &result->worst[i];
		const int64_t from_ts = worst->lanes.from_ts, to_ts = worst->lanes.to_ts;

		slices[i] = (struct span){(uint64_t)from_ts, (uint64_t)to_ts, worst};
		ops[i] = (struct span){(uint64_t)nt_op_begins_least(&result->op_begins, from_ts, to_ts),
				       (uint64_t)to_ts + 1, worst};
		edges[2 * i] = (uint64_t)from_ts;
		edges[2 * i + 1] = (uint64_t)to_ts;
	}
	qsort(edges, 2 * (size_t)result->n_worst, sizeof(*edges), compare_times);
	if (read_spans(&result->part, slices, result->n_worst, &of_slices))
		return -1;
	return read_spans(&result->part, ops, result->n_worst, &of_ops);
}

static int read_database(struct nt_lanes_result *result, const struct nt_scan_reader readers[N_READERS])
{
	const struct nt_part *part = &result->part;
	int error;

	for (unsigned int i = 0; i < result->n_worst; i++)
		result->worst[i].is_read = true;
	error = nt_scan_all(part->db, part->session->id, small, readers, N_READERS);
	return error ? nt_lanes_fail(part, error, "slices") : 0;
}

static int read_windows(struct nt_lanes_result *result, uint32_t columns)
{
	struct nt_lanes_reading slices = {&result->filter, add_to_windows, result};
	const struct nt_scan_reader readers[N_READERS] = {
		nt_lanes_reader(&slices),
		{NT_TABLE_CPU_SLICE, 0, add_rx_slice_to_windows, result},
		{NT_TABLE_SOFTIRQ_SLICE, 0, add_softirq_to_windows, result},
		{NT_TABLE_SOCK_OP, 0, add_op_to_windows, result},
		{NT_TABLE_RX_COST, 0, add_rx_to_windows, result},
	};
	int error = 0;

	for (unsigned int i = 0; i < result->n_worst; i++) {
		struct nt_lanes_worst *worst = &result->worst[i];
		int64_t end = (int64_t)((uint64_t)worst->window.ts + result->choice->window_ns);
		struct nt_part part;

		nt_lanes_init(&worst->lanes, worst->window.ts, end, i ? 1 : columns);
		part = part_of(result, worst);
		nt_lanes_beside_begin(&worst->beside, &result->filter, &part);
	}
	if (result->n_worst)
		error = result->part.db->source ? read_tape(result, readers) : read_database(result, readers);
	for (unsigned int i = 0; i < result->n_worst && !error; i++) {
		nt_lanes_order(&result->worst[i].lanes);
		error = nt_rx_sums_end(&result->worst[i].beside.rx);
		if (error)
			return nt_lanes_fail(&result->part, error, "costs");
	}
	return error;
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

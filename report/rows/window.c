// SPDX-License-Identifier: GPL-2.0-only
/*
 * window.c - the part of rows.h that knows what a window in time and a choice of CPUs need: where reading begins and
 * ends on each CPU, and which rows are in the window (docs/sql-schema.md says which those are).
 *
 * Where to begin is found by trying. A timeline that begins in the middle of a CPU's records knows the CPU from its
 * first state record on, and the rows that begin there may have begun before. So some time before the window is read,
 * and if one of those rows reaches into the window, four times as much.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/state.h"

#define FIRST_MARGIN_NS 100000000ull /* a CPU that does something has a state record each 50 ms */
#define LOOK_NS 5000000ull /* between two looks whether all operations have ended: there may be many */
/* A loose record stands no further behind records that ended later, nor does the record of its loss. */
#define LATE_NS 100000000ull
_Static_assert(LATE_NS >= NT_USERS_NEAR_NS, "who used a socket behind the view is read");

/* Of a window's samples come the frames that are wanted of it only. */
static uint32_t sources_read(const struct nt_rows *rows)
{
	const bool of_samples = rows->want.names_within && rows->sources & NT_FROM(FRAMES);

	return of_samples ? (rows->sources & ~NT_FROM(FRAMES)) | NT_FROM(SAMPLES) : rows->sources;
}

static bool needs(const struct nt_rows *rows, uint32_t sources)
{
	return sources_read(rows) & sources;
}

/* Operations, which tell who receives, are spread over all CPUs, and the end of a task's stay on one may move the begin
 * of its next on another.
 */
static bool needs_all_cpus(const struct nt_rows *rows)
{
	return needs(rows, NT_FROM(STAYS) | NT_FROM(OPERATIONS) | NT_FROM(SUMS) | NT_FROM(CHARGES) | NT_FROM(FLOWS) |
				   NT_FROM(FLOW_SUMS));
}

/* Whether operations must be whole. */
static bool needs_ops(const struct nt_rows *rows)
{
	return needs(rows, NT_FROM(OPERATIONS) | NT_FROM(SUMS));
}

/* Whether rows of stays, or of slices, must be known that began before the window. */
static bool needs_whole_stays(const struct nt_rows *rows)
{
	return needs(rows, NT_FROM(STAYS)) && !rows->want.begun_within;
}

static bool needs_whole_slices(const struct nt_rows *rows)
{
	const uint32_t of_slices = NT_FROM(SLICES) | NT_FROM(SUMS) | NT_FROM(CHARGES);

	return needs(rows, NT_FROM(SAMPLES) | (rows->want.begun_within ? 0 : of_slices));
}

static bool is_limited(const struct nt_rows *rows)
{
	return nt_view_is_timed(&rows->want.view);
}

/* ---- rows ---- */

/* The number of the table's column of this name; 0, which is the session's, if it has none. */
static uint8_t column_of(const struct nt_table *table, const char *name)
{
	uint32_t at = (uint32_t)NT_FIRST(table->n_columns, i, !strcmp(table->columns[i].name, name));

	return at < table->n_columns ? (uint8_t)at : 0;
}

static void find_columns(struct nt_rows_window *window)
{
	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		const struct nt_table *table = nt_table((enum nt_table_id)id);

		window->columns[id] = (struct nt_window_columns){
			.ts = column_of(table, "ts"), .dur = column_of(table, "dur"), .cpu = column_of(table, "cpu")};
	}
}

static bool has_cpu(const struct nt_rows *rows, const struct nt_value *cpu)
{
	return cpu->type == NT_VALUE_INTEGER && (uint64_t)cpu->integer < rows->tape->n_cpus &&
	       rows->want.view.cpus[cpu->integer];
}

/* Counters of the recorder grow from its start, and clocks are compared over all of it. */
static bool is_of_all_time(const struct nt_rows *rows, enum nt_table_id table)
{
	return rows->is_view && nt_tables_of(NT_FROM(BLOCKS)) >> table & 1;
}

bool nt_window_has(const struct nt_rows *rows, const struct nt_row *row)
{
	const struct nt_window_columns *columns = &rows->window.columns[row->table];
	const struct nt_view *view = &rows->want.view;
	uint64_t ts_ns, dur_ns = 0;

	if (view->cpus && columns->cpu && !has_cpu(rows, &row->values[columns->cpu]))
		return false;
	if (!is_limited(rows) || !columns->ts || is_of_all_time(rows, row->table))
		return true;
	ts_ns = (uint64_t)row->values[columns->ts].integer;
	if (columns->dur && row->values[columns->dur].type == NT_VALUE_INTEGER)
		dur_ns = (uint64_t)row->values[columns->dur].integer;
	if (row->table == NT_TABLE_SOCK_OP && rows->is_view) {
		const bool has_ended = nt_view_has(&rows->time, ts_ns + dur_ns);

		if (has_ended || !rows->want.all_ops)
			return has_ended;
	}
	if (rows->want.begun_within || !dur_ns)
		return view->from_ns <= ts_ns && ts_ns < view->to_ns;
	return ts_ns < view->to_ns && ts_ns + dur_ns > view->from_ns;
}

/* ---- operations that ended in a time ---- */

/*
 * When the operation began that the record tells of; UINT64_MAX: it tells of none. An operation ends with its own
 * record, or where it was listed for the last time.
 */
static uint64_t op_begin(const union nt_any *record)
{
	if (record->record.kind == NT_OP && !(record->as_op.flags & NT_OP_NO_BEGIN))
		return record->as_op.flags & NT_OP_BEFORE || record->as_op.dur_ns > record->as_op.end_ns
			       ? 0
			       : record->as_op.end_ns - record->as_op.dur_ns;
	if (record->record.kind == NT_OPEN && record->as_open.what == NT_OPEN_OP)
		return record->as_open.flags & NT_OP_BEFORE ? 0 : record->as_open.begin_ns;
	return UINT64_MAX;
}

static int find_op_begin(struct nt_merge *merge, uint64_t to_ns, uint64_t *since_ns)
{
	struct nt_merged merged;
	int error;

	while (!(error = nt_merge_next(merge, &merged))) {
		/* Records that ended earlier may stand behind a loose one. */
		if (merged.is_gap || nt_kind_is_loose(merged.record->record.kind))
			continue;
		if (merged.record->record.end_ns > to_ns)
			nt_merge_stop(merge, merged.cpu);
		else if (op_begin(merged.record) < *since_ns)
			*since_ns = op_begin(merged.record);
	}
	return error < 0 ? error : 0;
}

/* A time before which no operation began that ended in the view. Reads the records of the view. */
static int find_ops_since(struct nt_rows *rows, uint64_t *since_ns)
{
	struct nt_place *places = calloc(rows->tape->n_cpus + 1, sizeof(*places));
	struct nt_merge *merge = NULL;
	int error = places ? 0 : -ENOMEM;

	/* With the recording those end that are open then, and nothing tells of one whose task sleeps. */
	*since_ns = rows->time.ends ? 0 : rows->want.view.from_ns;
	for (uint32_t cpu = 0; cpu < rows->tape->n_cpus && !error; cpu++)
		error = nt_place_find(rows->tape, cpu, *since_ns, &places[cpu]);
	if (!error && *since_ns) {
		merge = nt_merge_new(rows->tape, places);
		error = merge ? find_op_begin(merge, rows->time.to_ns, since_ns) : -ENOMEM;
	}
	nt_merge_free(merge);
	free(places);
	return error;
}

/* ---- where to begin ---- */

/* A search for places from which all rows are whole that reach beyond by_ns. */
struct search {
	struct nt_rows *rows;
	uint64_t by_ns;
	uint8_t *settled; /* a flag for each CPU: its place is found */
	uint64_t *known_ns; /* for each of these: nt_timeline_known_since */
	uint64_t stay_ns; /* least begin of a task's stay at by_ns */
};

/* The timeline knows from these callbacks which rows must be whole; the rows themselves are of no use. */
static int ignore_cpu_slice(void *arg, const struct nt_cpu_slice *slice)
{
	(void)arg;
	(void)slice;
	return 0;
}

static int ignore_sched_slice(void *arg, const struct nt_sched_slice *slice)
{
	(void)arg;
	(void)slice;
	return 0;
}

static struct nt_timeline *new_timeline(struct nt_rows *rows)
{
	const struct nt_timeline_sink sink = {
		.cpu_slice = needs_whole_slices(rows) ? ignore_cpu_slice : NULL,
		.sched_slice = needs_whole_stays(rows) ? ignore_sched_slice : NULL,
	};

	return nt_rows_timeline_new(rows, &sink);
}

/* Feeds all that ends by by_ns. */
static int feed(struct search *search, struct nt_merge *merge, struct nt_timeline *timeline)
{
	struct nt_merged merged;
	int error;

	while (!(error = nt_merge_next(merge, &merged))) {
		if (!merged.is_gap && nt_rows_is_loose(merged.record))
			continue;
		if ((merged.is_gap ? merged.resume_ns : merged.record->record.end_ns) > search->by_ns)
			nt_merge_stop(merge, merged.cpu);
		else if (merged.is_gap)
			error = nt_timeline_gap(timeline, merged.cpu, merged.resume_ns, merged.task, merged.why);
		else
			error = nt_timeline_add(timeline, merged.cpu, merged.record);
		if (error)
			return error;
	}
	return error < 0 ? error : 0;
}

/* Whether all rows have ended that may have begun before the CPU was known. */
static bool is_whole_since(const struct nt_timeline *timeline, uint32_t cpu, uint64_t known_ns)
{
	return known_ns < UINT64_MAX && nt_timeline_is_past(timeline, cpu, known_ns + 1);
}

static void judge(struct search *search, const struct nt_timeline *timeline)
{
	for (uint32_t cpu = 0; cpu < search->rows->tape->n_cpus; cpu++) {
		uint64_t known_ns = nt_timeline_known_since(timeline, cpu);
		bool is_first = !search->rows->window.places[cpu].end_ns;

		if (search->settled[cpu] || !(is_first || is_whole_since(timeline, cpu, known_ns)))
			continue;
		search->settled[cpu] = true;
		search->known_ns[cpu] = known_ns;
		if (nt_timeline_stay_since(timeline, cpu) < search->stay_ns)
			search->stay_ns = nt_timeline_stay_since(timeline, cpu);
	}
}

/* Reads from the places that are not settled yet and settles those that will do. */
static int try_places(struct search *search)
{
	struct nt_rows *rows = search->rows;
	struct nt_place *places = calloc(rows->tape->n_cpus + 1, sizeof(*places));
	struct nt_timeline *timeline = new_timeline(rows);
	struct nt_merge *merge = NULL;
	int error = -ENOMEM;

	for (uint32_t cpu = 0; places && cpu < rows->tape->n_cpus; cpu++) {
		places[cpu] = rows->window.places[cpu];
		places[cpu].leave_out = search->settled[cpu];
	}
	if (places && timeline)
		merge = nt_merge_new(rows->tape, places);
	if (merge)
		error = feed(search, merge, timeline);
	if (!error)
		judge(search, timeline);
	nt_merge_free(merge);
	nt_timeline_free(timeline);
	free(places);
	return error;
}

/* Gives each CPU that is not settled a place so long before by_ns; the tape's begin needs no trial. */
static int go_back(struct search *search, uint64_t margin_ns, bool *is_done)
{
	struct nt_rows *rows = search->rows;
	int error = 0;

	*is_done = true;
	for (uint32_t cpu = 0; cpu < rows->tape->n_cpus && !error; cpu++) {
		struct nt_place *place = &rows->window.places[cpu];

		if (search->settled[cpu])
			continue;
		error = nt_place_find(rows->tape, cpu, search->by_ns > margin_ns ? search->by_ns - margin_ns : 0,
				      place);
		search->settled[cpu] = !place->end_ns && !needs_whole_stays(rows);
		*is_done = *is_done && search->settled[cpu];
	}
	return error;
}

static int settle(struct search *search)
{
	bool is_done = false;
	int error = 0;

	for (uint64_t margin_ns = FIRST_MARGIN_NS; !error && !is_done; margin_ns *= 4) {
		error = go_back(search, margin_ns, &is_done);
		if (!error && !is_done)
			error = try_places(search);
	}
	return error;
}

/*
 * Since the end of a stay may move another's begin, all CPUs must be known when the first stay begins that reaches into
 * the window.
 */
static int settle_before_stays(struct search *search)
{
	for (uint32_t cpu = 0; cpu < search->rows->tape->n_cpus; cpu++)
		search->settled[cpu] =
			search->rows->window.places[cpu].leave_out || search->known_ns[cpu] < search->stay_ns;
	search->by_ns = search->stay_ns;
	return settle(search);
}

static int settle_places(struct search *search)
{
	struct nt_rows *rows = search->rows;
	int error;

	for (uint32_t cpu = 0; cpu < rows->tape->n_cpus; cpu++)
		search->settled[cpu] = rows->window.places[cpu].leave_out;
	error = settle(search);
	if (!error && needs_whole_stays(rows) && search->stay_ns < search->by_ns)
		error = settle_before_stays(search);
	return error;
}

/* Rows of the view are made of what happened since then. */
static uint64_t first_of_interest(const struct nt_rows *rows)
{
	const uint64_t from_ns = rows->want.view.from_ns, ops_ns = rows->window.ops_from_ns;
	const bool has_users = !rows->want.begun_within && needs(rows, NT_FROM(CHARGES));
	const uint64_t users_ns = from_ns > NT_USERS_NEAR_NS ? from_ns - NT_USERS_NEAR_NS : 0;

	return has_users && users_ns < ops_ns ? users_ns : ops_ns;
}

static int find_places(struct nt_rows *rows)
{
	uint32_t n_cpus = rows->tape->n_cpus;
	const uint64_t by_ns = first_of_interest(rows);
	struct search search = {.rows = rows, .by_ns = by_ns, .stay_ns = by_ns};
	int error = -ENOMEM;

	search.settled = calloc(n_cpus + 1, sizeof(*search.settled));
	search.known_ns = calloc(n_cpus + 1, sizeof(*search.known_ns));
	if (search.settled && search.known_ns)
		error = settle_places(&search);
	free(search.settled);
	free(search.known_ns);
	return error;
}

/* Without a timeline each record is what it is. */
static int find_records(struct nt_rows *rows)
{
	int error = 0;

	for (uint32_t cpu = 0; cpu < rows->tape->n_cpus && !error; cpu++) {
		struct nt_place *place = &rows->window.places[cpu];

		if (!place->leave_out)
			error = nt_place_find(rows->tape, cpu, rows->want.view.from_ns, place);
	}
	return error;
}

/* ---- where to end ---- */

/* The kinds of spans at a place in NT_KINDS. */
static uint64_t span_kinds(enum nt_kind_place place)
{
#define X(number, constant, name, shape, at)                                                                           \
	| (uint64_t)(NT_SHAPE_##shape == NT_SHAPE_SPAN && NT_PLACE_##at == place) << number
	return 0 NT_KINDS(X);
#undef X
}

/* The kinds of spans that wanted rows are made of one by one: such a row may end long after the window. */
static uint64_t awaited_kinds(const struct nt_rows *rows)
{
	uint64_t tables = rows->want.tables & nt_tables_of(NT_FROM(SPANS) | NT_FROM(LOOSE) | NT_FROM(FLOWS)), kinds = 0,
		 others = 1ull << NT_OP;

	for (int id = 0; id < NT_TABLE_COUNT; id++)
		tables &= ~(rows->window.columns[id].dur ? 0 : NT_TABLE_BIT(id));
#define X(kind, table)                                                                                                 \
	kinds |= tables >> NT_TABLE_##table & 1 ? 1ull << NT_##kind : 0;                                               \
	tables &= ~NT_TABLE_BIT(NT_TABLE_##table);                                                                     \
	others |= 1ull << NT_##kind;
	NT_RECORD_TABLES(X)
#undef X
	/* For rows that need more than their record, nothing tells which kind that is. */
	if (tables & nt_tables_of(NT_FROM(SPANS)))
		kinds |= span_kinds(NT_PLACE_TIMELINE) & ~others;
	if (tables & nt_tables_of(NT_FROM(LOOSE) | NT_FROM(FLOWS)))
		kinds |= span_kinds(NT_PLACE_LOOSE) & ~others;
	if (needs(rows, NT_FROM(FLOW_SUMS)))
		kinds |= 1ull << NT_FLOW_SKETCH | 1ull << NT_FLOW_CELL | 1ull << NT_FLOW_COUNT;
	return kinds;
}

static int find_ends(struct nt_rows *rows)
{
	const uint32_t late = NT_FROM(LOOSE) | NT_FROM(FLOWS) | NT_FROM(FLOW_SUMS) | NT_FROM(SAMPLES) |
			      NT_FROM(LOSSES) | NT_FROM(SUMS) | NT_FROM(CHARGES);
	const struct nt_spans_wanted spans = {.kinds = awaited_kinds(rows),
					      .from_ns = rows->want.begun_within ? rows->want.view.from_ns : 0,
					      .to_ns = rows->want.view.to_ns};
	int error = 0;

	for (uint32_t cpu = 0; cpu < rows->tape->n_cpus && !error; cpu++) {
		uint64_t *until_ns = &rows->window.until_ns[cpu];

		*until_ns = spans.to_ns;
		if (spans.kinds && !rows->window.places[cpu].leave_out)
			error = nt_place_last_span(rows->tape, cpu, &spans, until_ns);
		if (needs(rows, late))
			*until_ns = *until_ns < UINT64_MAX - LATE_NS ? *until_ns + LATE_NS : UINT64_MAX;
	}
	return error;
}

void nt_window_lost(struct nt_rows *rows, const struct nt_loss_row *loss)
{
	if (loss->ts_ns < rows->want.view.to_ns && loss->ts_ns + loss->dur_ns > rows->window.ops_from_ns)
		rows->window.has_loss = true;
}

/* Whether no operation of the window comes any more. In uncovered time one may have begun that is told of much later.
 */
static bool has_ended_with_ops(struct nt_rows *rows, uint64_t now_ns)
{
	/* Operations open since before the recording begin with it, and nothing tells of those whose task sleeps. */
	if (rows->window.ops_from_ns <= rows->tape->start_ns)
		return false;
	if (rows->window.has_ended || now_ns < rows->window.look_ns || rows->window.has_loss)
		return rows->window.has_ended;
	rows->window.look_ns = now_ns + LOOK_NS;
	rows->window.has_ended =
		nt_timeline_is_past_ops(rows->timeline, rows->window.ops_from_ns, rows->want.view.to_ns);
	return rows->window.has_ended;
}

static void stop_all(struct nt_rows *rows)
{
	for (uint32_t cpu = 0; cpu < rows->tape->n_cpus; cpu++)
		nt_merge_stop(rows->merge, cpu);
}

void nt_window_fed(struct nt_rows *rows, uint32_t cpu, const union nt_any *record)
{
	uint64_t end_ns = record->record.end_ns;

	if (!rows->window.until_ns || end_ns <= rows->window.until_ns[cpu])
		return;
	if (needs_ops(rows) && !has_ended_with_ops(rows, end_ns))
		return;
	if (needs(rows, NT_FROM(OPERATIONS)) && !needs(rows, ~(NT_FROM(META) | NT_FROM(BLOCKS) | NT_FROM(OPERATIONS))))
		stop_all(rows);
	else if (!rows->timeline || nt_timeline_is_past(rows->timeline, cpu, rows->want.view.to_ns))
		nt_merge_stop(rows->merge, cpu);
}

/* ---- how far it is ---- */

uint64_t nt_window_begin(const struct nt_rows *rows)
{
	const bool is_part = rows->window.places && rows->want.view.from_ns > rows->tape->start_ns;

	return is_part ? rows->want.view.from_ns : rows->tape->start_ns;
}

uint64_t nt_window_end(const struct nt_rows *rows)
{
	const bool is_part = rows->window.until_ns && rows->want.view.to_ns < rows->tape->end_ns;

	return is_part ? rows->want.view.to_ns : rows->tape->end_ns;
}

/* ---- opening ---- */

/* Whether all that is wanted needs only a part of the events. */
static bool is_narrow(const struct nt_rows *rows)
{
	const uint32_t none = NT_FROM(META) | NT_FROM(BLOCKS), of_view = NT_FROM(SUMS) | NT_FROM(CHARGES);
	const uint32_t each = none | NT_FROM(LOOSE) | NT_FROM(FLOWS) | NT_FROM(FLOW_SUMS) | NT_FROM(SPANS) |
			      NT_FROM(LOSSES) | NT_FROM(SLICES) | NT_FROM(SAMPLES) | NT_FROM(STAYS);

	if (!nt_view_is_part(&rows->want.view))
		return false;
	if (rows->want.begun_within)
		return !needs(rows, ~each) || !needs(rows, ~(none | NT_FROM(OPERATIONS) | NT_FROM(CHARGES)));
	/* Of operations that overlap the view, nothing tells where to begin (docs/sql-schema.md). */
	return !needs(rows, ~(each | of_view | (rows->want.all_ops ? 0 : NT_FROM(OPERATIONS))));
}

static int limit_time(struct nt_rows *rows, bool needs_timeline)
{
	int error = 0;

	rows->window.ops_from_ns = rows->want.view.from_ns;
	if (rows->is_view && needs_ops(rows))
		error = find_ops_since(rows, &rows->window.ops_from_ns);
	if (!error)
		error = needs_timeline ? find_places(rows) : find_records(rows);
	if (error || rows->want.view.to_ns > INT64_MAX)
		return error;
	rows->window.until_ns = calloc(rows->tape->n_cpus + 1, sizeof(*rows->window.until_ns));
	return rows->window.until_ns ? find_ends(rows) : -ENOMEM;
}

int nt_window_open(struct nt_rows *rows, bool needs_timeline)
{
	find_columns(&rows->window);
	rows->window.leaves_out = nt_view_is_part(&rows->want.view);
	if (!is_narrow(rows))
		return 0;
	rows->window.places = calloc(rows->tape->n_cpus + 1, sizeof(*rows->window.places));
	if (!rows->window.places)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < rows->tape->n_cpus; cpu++)
		rows->window.places[cpu].leave_out =
			rows->want.view.cpus && !rows->want.view.cpus[cpu] && !needs_all_cpus(rows);
	return is_limited(rows) ? limit_time(rows, needs_timeline) : 0;
}

void nt_window_release(struct nt_rows *rows)
{
	free(rows->window.places);
	free(rows->window.until_ns);
}

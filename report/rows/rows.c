// SPDX-License-Identifier: GPL-2.0-only
/*
 * rows.c - see rows.h. A pass over the identities and clocks learns names and offsets (learned.c). Then each call for a
 * row that finds the queue empty makes some more: first the events go through merge and timeline, whose callbacks fill
 * the queue (loose records go past the timeline, loose.c), then the other blocks of each chunk (blocks.c; before the
 * events for who wants that), then what is known only at the end.
 */
#include "report/rows/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/rollup.h"
#include "report/rows/state.h"
#include "report/util/array.h"
#include "report/util/utf8.h"
#include "schema/kind.h"
#include "schema/meta_keys.h"

/* ---- what the wanted tables need ---- */

/* The session's row has counts of everything; tasks that are only referred to have rows; sampled stacks have frames. */
static const uint32_t with_owners = NT_FROM(SAMPLES) | NT_FROM(FRAMES) | NT_FROM(TASKS) | NT_FROM(ALL);
static const uint32_t with_sums = NT_FROM(SUMS) | NT_FROM(CHARGES) | NT_FROM(ALL);
static const uint32_t with_tasks = NT_FROM(TASKS) | NT_FROM(ALL);

static bool wants(const struct nt_rows *rows, enum nt_table_id table)
{
	return rows->want.tables & NT_TABLE_BIT(table);
}

/* Whether rows are wanted that come from one of these. */
static bool needs(const struct nt_rows *rows, uint32_t sources)
{
	return rows->sources & sources;
}

static bool needs_events(const struct nt_rows *rows)
{
	return needs(rows, ~(NT_FROM(META) | NT_FROM(BLOCKS)));
}

/* Loose records go past the timeline. */
static bool needs_timeline(const struct nt_rows *rows)
{
	return needs(rows, ~(NT_FROM(META) | NT_FROM(BLOCKS) | NT_FROM(COUNTS) | NT_FROM(LOOSE) | NT_FROM(FLOWS) |
			     NT_FROM(FLOW_SUMS)));
}

/* Of samples the flow is told, if there are flows. */
static bool needs_charges(const struct nt_rows *rows)
{
	return needs(rows, NT_FROM(CHARGES) | NT_FROM(ALL)) || (rows->has_flows && needs(rows, NT_FROM(SAMPLES)));
}

static uint32_t sources_of(const struct nt_rows_want *want)
{
	uint32_t sources = 0;

	for (int id = 0; id < NT_TABLE_COUNT; id++)
		sources |= want->tables >> id & 1 ? NT_SOURCE_BIT(nt_table((enum nt_table_id)id)->source) : 0;
	/* Rows that are known without reading need no source. */
	return sources & ~((want->head ? NT_FROM(ALL) : 0) | (want->names_within ? NT_FROM(TASKS) : 0));
}

/* The row of the session says how many do not fit, wanted or not. */
static int leave_out(struct nt_rows *rows, enum nt_table_id table, const void *from)
{
	rows->unfit += !nt_table(table)->fits(from);
	return 0;
}

static int put(struct nt_rows *rows, enum nt_table_id table, const void *from)
{
	int error;

	if (NT_ROOM(rows->queue, rows->queue_size, rows->n_queue + 1))
		return -ENOMEM;
	error = nt_table_fill(&rows->queue[rows->n_queue], &rows->arena, table, rows->session_id, from);
	if (error == -EBADMSG) {
		rows->unfit++;
		return 0;
	}
	if (!error && (!rows->window.leaves_out || nt_window_has(rows, &rows->queue[rows->n_queue])))
		rows->n_queue++;
	return error;
}

int nt_rows_push(struct nt_rows *rows, enum nt_table_id table, const void *from)
{
	rows->met |= NT_TABLE_BIT(table);
	return wants(rows, table) ? put(rows, table, from) : leave_out(rows, table, from);
}

int nt_rows_see(struct nt_rows *rows, uint64_t task)
{
	uint64_t *lately = &rows->seen_lately[task % NT_COUNT(rows->seen_lately)];

	/* Where names come as they are known, nobody asks at the end who had none. */
	if (task == NT_NO_TASK || task == *lately || rows->want.order == NT_ROWS_FOLLOWED)
		return 0;
	*lately = task;
	return nt_identity_marks_see(&rows->marks, task);
}

/* ---- what the timeline gives ---- */

static bool has_cpu(const struct nt_rows *rows, uint32_t cpu)
{
	return !rows->want.view.cpus || rows->want.view.cpus[cpu];
}

static int take_slice(struct nt_rows *rows, const struct nt_cpu_slice *slice)
{
	int error = rows->rollup ? nt_rollup_slice(rows->rollup, slice) : 0;

	return error ? error : nt_rows_push(rows, NT_TABLE_CPU_SLICE, slice);
}

/* The part of it that lies in the view. */
static int take_part_of_slice(struct nt_rows *rows, const struct nt_cpu_slice *slice)
{
	struct nt_cpu_slice part = *slice;

	return has_cpu(rows, part.cpu) && nt_view_clip(&rows->time, &part.ts_ns, &part.dur_ns) ? take_slice(rows, &part)
											       : 0;
}

static int on_cpu_slice(void *arg, const struct nt_cpu_slice *slice)
{
	struct nt_rows *rows = arg;
	int error = nt_rows_see(rows, slice->task);

	if (!error && rows->owners)
		error = nt_sample_owners_slice(rows->owners, slice);
	if (error)
		return error;
	return rows->is_view ? take_part_of_slice(rows, slice) : take_slice(rows, slice);
}

static int on_sched_slice(void *arg, const struct nt_sched_slice *slice)
{
	struct nt_rows *rows = arg;
	int error = nt_rows_see(rows, slice->task);

	return error ? error : nt_rows_push(rows, NT_TABLE_SCHED_SLICE, slice);
}

static int on_softirq(void *arg, const struct nt_span_row *span)
{
	return nt_rows_push(arg, NT_TABLE_SOFTIRQ_SLICE, span);
}

static int on_irq(void *arg, const struct nt_span_row *span)
{
	struct nt_rows *rows = arg;
	struct nt_irq_info info = {.span = span};

	if (wants(rows, NT_TABLE_IRQ_SLICE) &&
	    !(info.name = nt_identities_irq_name(&rows->learned->ids, span->detail, span->number)))
		return -ENOMEM;
	return nt_rows_push(rows, NT_TABLE_IRQ_SLICE, &info);
}

static int on_op(void *arg, const struct nt_op_row *op)
{
	struct nt_rows *rows = arg;
	const bool counts = nt_view_has(&rows->time, op->ts_ns + op->dur_ns);
	int error = nt_rows_see(rows, op->task);

	if (!error && rows->rollup && counts && (!rows->is_view || has_cpu(rows, op->cpu)))
		error = nt_rollup_op(rows->rollup, op);
	if (!error && rows->charges && rows->rollup)
		error = nt_rx_rows_op(rows, op);
	return error ? error : nt_rows_push(rows, NT_TABLE_SOCK_OP, op);
}

static int on_napi(void *arg, const struct nt_napi_row *poll)
{
	struct nt_rows *rows = arg;
	int error = nt_rows_see(rows, poll->task);

	return error ? error : nt_rows_push(rows, NT_TABLE_NAPI_POLL, poll);
}

static int on_loss(void *arg, const struct nt_loss_row *loss)
{
	nt_window_lost(arg, loss);
	return nt_rows_push(arg, NT_TABLE_LOSS, loss);
}

static int on_event(void *arg, uint32_t cpu, uint64_t task, const union nt_any *record)
{
	return nt_rows_push_record(arg, &(struct nt_cpu_record){cpu, task, record});
}

static int on_cpu_cost(void *arg, const struct nt_cpu_cost *cost)
{
	return nt_rows_push(arg, NT_TABLE_CPU_COST, cost);
}

static int on_sock_cost(void *arg, const struct nt_sock_cost *cost)
{
	return nt_rows_push(arg, NT_TABLE_SOCK_COST, cost);
}

static bool is_main_of(void *arg, uint64_t main, uint64_t task)
{
	struct nt_rows *rows = arg;

	return nt_identities_process_of(&rows->learned->ids, task) == main;
}

static bool is_napi(void *arg, uint64_t task)
{
	struct nt_rows *rows = arg;

	return nt_identities_is_napi(&rows->learned->ids, task);
}

/* ---- opening ---- */

struct nt_timeline *nt_rows_timeline_new(struct nt_rows *rows, const struct nt_timeline_sink *sink)
{
	const struct nt_timeline_config config = {
		.start_ns = rows->tape->start_ns,
		.end_ns = rows->tape->end_ns,
		.n_cpus = rows->tape->n_cpus,
		.present = rows->tape->present,
		.online = rows->tape->online,
		.is_main_of = is_main_of,
		.is_napi = is_napi,
		.arg = rows,
	};
	struct nt_timeline *timeline = nt_timeline_new(&config, sink);

	for (uint32_t cpu = 0; timeline && rows->window.places && cpu < rows->tape->n_cpus; cpu++) {
		if (rows->window.places[cpu].end_ns)
			nt_timeline_begin_at(timeline, cpu, rows->window.places[cpu].end_ns);
	}
	return timeline;
}

static int make_timeline(struct nt_rows *rows)
{
	const bool counts_all = needs(rows, NT_FROM(ALL));
	const struct nt_timeline_sink sink = {
		.arg = rows,
		.cpu_slice = needs(rows, NT_FROM(SLICES) | with_owners | with_sums) ? on_cpu_slice : NULL,
		.rx_part = needs_charges(rows) ? nt_rx_rows_part : NULL,
		.irq_part = counts_all || wants(rows, NT_TABLE_ELSEWHERE_COST) ? nt_elsewhere_irq_part : NULL,
		.sched_slice = needs(rows, NT_FROM(STAYS) | with_tasks) ? on_sched_slice : NULL,
		.softirq = counts_all || wants(rows, NT_TABLE_SOFTIRQ_SLICE) ? on_softirq : NULL,
		.irq = counts_all || wants(rows, NT_TABLE_IRQ_SLICE) ? on_irq : NULL,
		.op = needs(rows, NT_FROM(OPERATIONS) | with_sums | with_tasks) ? on_op : NULL,
		.napi = needs(rows, with_tasks) || wants(rows, NT_TABLE_NAPI_POLL) ? on_napi : NULL,
		.loss = needs(rows, NT_FROM(LOSSES) | NT_FROM(OPERATIONS) | NT_FROM(SUMS) | NT_FROM(ALL)) ? on_loss
													  : NULL,
		.event = on_event,
	};
	const struct nt_rollup_sink rollup_sink = {
		.arg = rows,
		.cpu_cost = on_cpu_cost,
		.sock_cost = on_sock_cost,
		.rx_cost = nt_rx_rows_cost,
		.elsewhere_cost = nt_elsewhere_cost,
	};

	rows->timeline = nt_rows_timeline_new(rows, &sink);
	if (!rows->timeline)
		return -ENOMEM;
	if (needs(rows, with_owners) &&
	    !(rows->owners = nt_sample_owners_new(rows->tape->n_cpus, nt_rows_push_owned, rows)))
		return -ENOMEM;
	if (needs(rows, with_sums) && !(rows->rollup = nt_rollup_new(&rows->time, &rollup_sink)))
		return -ENOMEM;
	if (needs_charges(rows) && nt_rx_rows_new(rows))
		return -ENOMEM;
	return 0;
}

static int make_readers(struct nt_rows *rows)
{
	int error = nt_window_open(rows, needs_timeline(rows));

	if (error)
		return error;
	rows->counts = calloc(rows->tape->n_cpus + 1, sizeof(*rows->counts));
	rows->merge = needs_events(rows) ? nt_merge_new(rows->tape, rows->window.places) : NULL;
	if (!rows->counts || (needs_events(rows) && !rows->merge) || nt_flow_rows_open(rows))
		return -ENOMEM;
	return needs_timeline(rows) ? make_timeline(rows) : 0;
}

/* ---- making more rows ---- */

#define EVENTS_A_STEP 256

static int count_record(struct nt_rows *rows, uint32_t cpu, const union nt_any *record)
{
	struct nt_rows_counts *counts = rows->counts[cpu];

	if (!counts)
		counts = rows->counts[cpu] = calloc(1, sizeof(*counts));
	if (!counts)
		return -ENOMEM;
	counts->records[record->record.kind % NT_KIND_MAX]++;
	if (record->record.kind == NT_LOSS)
		counts->lost[record->as_loss.lost_kind % NT_KIND_MAX] += record->as_loss.count;
	return 0;
}

int nt_rows_take_event(struct nt_rows *rows, const struct nt_merged *merged)
{
	int error;

	if (merged->is_gap)
		return rows->timeline ? nt_timeline_gap(rows->timeline, merged->cpu, merged->resume_ns, merged->task,
							merged->why)
				      : 0;
	rows->at_ns = merged->record->record.end_ns;
	error = count_record(rows, merged->cpu, merged->record);
	if (error)
		return error;
	if (nt_rows_is_loose(merged->record))
		return nt_rows_push_loose(rows, merged->cpu, merged->record);
	if (rows->timeline)
		error = nt_timeline_add(rows->timeline, merged->cpu, merged->record);
	if (!error && rows->window.until_ns)
		nt_window_fed(rows, merged->cpu, merged->record);
	return error;
}

static int step_event(struct nt_rows *rows)
{
	struct nt_merged merged;
	int error = rows->merge ? nt_merge_next(rows->merge, &merged) : 1;

	return error ? error : nt_rows_take_event(rows, &merged);
}

/* Until there are rows, but not for long: rows that are left out may have put texts into the arena. */
static int step_events(struct nt_rows *rows)
{
	int error = 0;

	for (int i = 0; i < EVENTS_A_STEP && !rows->n_queue && !error; i++)
		error = step_event(rows);
	return error;
}

static int step_finish(struct nt_rows *rows)
{
	int error = rows->timeline ? nt_timeline_finish(rows->timeline) : 0;

	rows->events_done = true;
	if (!error && rows->owners)
		error = nt_sample_owners_finish(rows->owners);
	if (!error && rows->charges)
		error = nt_rx_charges_finish(rows->charges);
	if (!error && rows->rollup)
		error = nt_rollup_finish(rows->rollup);
	if (!error && rows->charges)
		error = nt_rx_rows_finish(rows);
	return error ? error : 1;
}

static int step_blocks(struct nt_rows *rows)
{
	return needs(rows, NT_FROM(BLOCKS) | with_owners) || wants(rows, NT_TABLE_PROBLEM) ||
			       wants(rows, NT_TABLE_THREAD)
		       ? nt_rows_step_block(rows)
		       : 1;
}

int nt_rows_push_counts(struct nt_rows *rows)
{
	int error = 0;

	for (uint32_t cpu = 0; cpu < rows->tape->n_cpus; cpu++) {
		for (unsigned int kind = 0; rows->counts[cpu] && kind < NT_KIND_MAX && !error; kind++) {
			const struct nt_record_count count = {
				.cpu = cpu,
				.kind = (uint8_t)kind,
				.records = rows->counts[cpu]->records[kind],
				.lost = rows->counts[cpu]->lost[kind],
			};

			rows->events += count.records;
			rows->lost += count.lost;
			if (count.records || count.lost)
				error = nt_rows_push(rows, NT_TABLE_RECORD_COUNT, &count);
		}
	}
	return error;
}

/* The texts live in the arena for as long as the row. */
static const char *meta_text(struct nt_rows *rows, const char *key)
{
	char value[256];

	if (nt_tape_meta(rows->tape, key, value, sizeof(value)))
		return NULL;
	return nt_arena_clean(&rows->arena, value, sizeof(value));
}

int nt_rows_push_session(struct nt_rows *rows)
{
	const struct nt_tape *tape = rows->tape;
	const uint64_t realtime_ns = tape->start_realtime_ns;
	char uuid[33];
	struct nt_session_info info = {
		.uuid = uuid,
		.host = nt_arena_clean(&rows->arena, tape->header.host, sizeof(tape->header.host)),
		.boot_id = nt_arena_clean(&rows->arena, tape->header.boot_id, sizeof(tape->header.boot_id)),
		.kernel = meta_text(rows, NT_META_KERNEL),
		.machine = meta_text(rows, NT_META_MACHINE),
		.os = meta_text(rows, NT_META_OS),
		.virtual = meta_text(rows, NT_META_VIRTUAL),
		.tool = meta_text(rows, NT_META_TOOL),
		.stop = meta_text(rows, NT_META_STOP),
		.start_ns = rows->time.from_ns,
		.end_ns = rows->time.to_ns,
		.start_realtime_ns = realtime_ns ? realtime_ns + (rows->time.from_ns - tape->start_ns) : 0,
		.bucket_ns = NT_BUCKET_NS,
		.bytes = tape->bytes,
		.chunks = tape->n_chunks,
		.clock_ticks = (uint32_t)nt_tape_meta_number(tape, NT_META_CLOCK_TICKS, 0),
		.complete = tape->has_end,
		.counts = rows->timeline ? *nt_timeline_counts(rows->timeline) : (struct nt_timeline_counts){0},
		.unknown = rows->merge ? nt_merge_unknown(rows->merge) : 0,
		.events = rows->events,
		.lost = rows->lost,
		.bad_lines = rows->bad_lines,
		.clock_uncertainty_ns = nt_clocks_uncertainty(&rows->learned->clocks),
		.clock_steps = nt_clocks_steps(&rows->learned->clocks, NULL, 0),
	};

	nt_session_uuid(tape, uuid);
	info.uuid = nt_arena_clean(&rows->arena, uuid, sizeof(uuid));
	info.counts.malformed += rows->unfit;
	for (uint32_t cpu = 0; cpu < tape->n_cpus; cpu++)
		info.cpus += tape->present[cpu];
	return nt_rows_push(rows, NT_TABLE_SESSION, &info);
}

/* How long the part of the recording was that a flight recorder has dropped, as if it stood on the tape. */
static int push_dropped(struct nt_rows *rows)
{
	const uint64_t dropped_ns = nt_tape_dropped_ns(rows->tape);
	struct nt_meta_line line = {.key = NT_TAPE_DROPPED_NS};
	char text[24];

	if (!dropped_ns)
		return 0;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)dropped_ns);
	line.value = nt_arena_clean(&rows->arena, text, strlen(text));
	return nt_rows_push(rows, NT_TABLE_SESSION_META, &line);
}

int nt_rows_push_meta(struct nt_rows *rows)
{
	const char *key, *value;
	size_t offset = 0, key_size, value_size;
	int error = 0;

	while (!error && !nt_meta_next(rows->tape->meta.data, rows->tape->meta.size, &offset, &key, &key_size, &value,
				       &value_size)) {
		const struct nt_meta_line line = {nt_arena_clean(&rows->arena, key, key_size),
						  nt_arena_clean(&rows->arena, value, value_size)};

		error = nt_rows_push(rows, NT_TABLE_SESSION_META, &line);
	}
	return error ? error : push_dropped(rows);
}

/* Everything that is known only when the tape has been read. */
static int step_last(struct nt_rows *rows)
{
	int error = nt_rows_push_unknown(rows);

	if (!error)
		error = nt_rows_push_meta(rows);
	if (!error)
		error = nt_rows_push_counts(rows);
	for (size_t i = 0; i < rows->tape->n_problems && !error; i++)
		error = nt_rows_push(rows, NT_TABLE_PROBLEM, rows->tape->problems[i].text);
	if (!error && wants(rows, NT_TABLE_SESSION))
		error = nt_rows_push_session(rows);
	return error ? error : 1;
}

/* Steps give 0: again; 1: on to the next; below 0: an error. */
#define MAX_STEPS 7
#define STEPS_PER_LOOK 512 /* steps between two questions whether to stop */
static int (*const steps[][MAX_STEPS])(struct nt_rows *rows) = {
	[NT_ROWS_EVENTS_FIRST] = {step_events, step_finish, nt_flow_rows_step, step_blocks, step_last, NULL},
	[NT_ROWS_IDENTITIES_FIRST] = {nt_rows_step_identities, nt_rows_step_proc_snapshots, step_events, step_finish,
				      nt_flow_rows_step, step_last, NULL},
	[NT_ROWS_FOLLOWED] = {nt_rows_step_new, nt_rows_step_events_so_far, nt_rows_step_known, nt_rows_step_wait,
			      step_finish, nt_rows_step_ended, NULL},
};

static bool is_time_to_stop(struct nt_rows *rows)
{
	return !(++rows->n_steps % STEPS_PER_LOOK) && rows->want.is_stopped &&
	       rows->want.is_stopped(rows->want.stopped_arg);
}

/* The row of the session counts everything, so what it is made of is looked at whole. */
static void tell_empty(struct nt_rows *rows)
{
	if (rows->want.empty)
		*rows->want.empty = (needs(rows, NT_FROM(ALL)) ? NT_ALL_TABLES : rows->want.tables) & ~rows->met;
}

static int next(struct nt_row_iter *iter, const struct nt_row **out)
{
	struct nt_rows *rows = nt_rows_of(iter);

	if (rows->next_queue == rows->n_queue)
		rows->next_queue = rows->n_queue = 0;
	while (!rows->n_queue) {
		int error;

		if (is_time_to_stop(rows))
			return -ECANCELED;
		nt_arena_reset(&rows->arena);
		if (!steps[rows->want.order][rows->step]) {
			tell_empty(rows);
			return 1;
		}
		error = steps[rows->want.order][rows->step](rows);
		if (error < 0)
			return error;
		rows->step += (unsigned int)error;
	}
	*out = &rows->queue[rows->next_queue++];
	return 0;
}

static unsigned int progress(const struct nt_row_iter *iter)
{
	const struct nt_rows *rows = (const struct nt_rows *)iter;
	const uint64_t from_ns = nt_window_begin(rows), to_ns = nt_window_end(rows);

	if (rows->events_done || rows->at_ns >= to_ns)
		return 1000;
	if (rows->at_ns <= from_ns)
		return 0;
	return (unsigned int)((double)(rows->at_ns - from_ns) * 1000 / (double)(to_ns - from_ns));
}

/* ---- all of it ---- */

static void close_rows(struct nt_row_iter *iter)
{
	struct nt_rows *rows = nt_rows_of(iter);

	nt_block_pass_release(&rows->pass);
	nt_timeline_free(rows->timeline);
	nt_rollup_free(rows->rollup);
	nt_rx_rows_free(rows);
	nt_sample_owners_free(rows->owners);
	nt_flow_times_release(&rows->flows);
	nt_merge_free(rows->merge);
	nt_window_release(rows);
	for (uint32_t cpu = 0; rows->counts && cpu < rows->tape->n_cpus; cpu++)
		free(rows->counts[cpu]);
	free(rows->counts);
	nt_learned_free(rows->own);
	nt_identity_marks_release(&rows->marks);
	nt_arena_release(&rows->arena);
	free(rows->queue);
	free(rows);
}

int nt_rows_open(struct nt_row_iter **out, struct nt_tape *tape, struct nt_user_names *names, int64_t session_id,
		 const struct nt_rows_want *want)
{
	struct nt_rows *rows = calloc(1, sizeof(*rows));
	int error;

	*out = NULL;
	if (!rows)
		return -ENOMEM;
	rows->iter = (struct nt_row_iter){next, progress, close_rows};
	rows->tape = rows->pass.tape = tape;
	rows->names = names;
	rows->session_id = session_id;
	rows->want = *want;
	rows->sources = sources_of(want);
	rows->is_view = !want->begun_within && nt_view_is_part(&want->view);
	rows->time = nt_view_time(&(struct nt_view){0}, tape->start_ns, tape->end_ns);
	if (rows->is_view)
		rows->time = nt_view_time(&want->view, tape->start_ns, tape->end_ns);
	if (want->buckets_of_recording)
		rows->time.buckets_ns = tape->start_ns;
	memset(rows->seen_lately, 0xff, sizeof(rows->seen_lately));
	rows->learned = want->learned;
	if (want->order == NT_ROWS_FOLLOWED)
		error = (rows->own = nt_learned_begin(tape)) ? 0 : -ENOMEM;
	else
		error = rows->learned ? 0 : nt_learned_new(&rows->own, tape);
	if (rows->own)
		rows->learned = rows->own;
	if (!error) {
		rows->has_flows = nt_rx_rows_has_flows(rows);
		error = make_readers(rows);
	}
	if (error)
		close_rows(&rows->iter);
	else
		*out = &rows->iter;
	return error;
}

uint64_t nt_rows_known_until(const struct nt_row_iter *iter)
{
	return ((const struct nt_rows *)iter)->known_ns;
}

bool nt_rows_is_behind(const struct nt_row_iter *iter)
{
	return ((const struct nt_rows *)iter)->is_behind;
}

void nt_session_uuid(const struct nt_tape *tape, char uuid[33])
{
	for (int i = 0; i < 16; i++)
		snprintf(uuid + 2 * i, 3, "%02x", tape->header.session[i]);
}

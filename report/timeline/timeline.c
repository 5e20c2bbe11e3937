// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeline.c - see timeline.h: takes the records of each CPU, keeps the CPU's state, and closes its segments. state.h
 * says what the other files of the timeline do.
 */
#include "report/timeline/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "report/timeline/state.h"
#include "report/util/array.h"
#include "schema/kind.h"

/* ---- segments ---- */

/* Of a task that is not idle. A CPU has mostly one of these for a while. */
static bool is_napi(const struct nt_timeline *timeline, struct nt_cpu_line *line)
{
	if (line->task != line->asked_task) {
		line->asked_task = line->task;
		line->asked_is_napi = timeline->is_napi && timeline->is_napi(timeline->callback_arg, line->task);
	}
	return line->asked_is_napi;
}

/* Whose the CPU's time is where no span says anything else. */
static enum nt_owner base_owner(const struct nt_timeline *timeline, struct nt_cpu_line *line)
{
	if (line->base == NT_BASE_OFFLINE)
		return NT_OWNER_OFFLINE;
	if (line->base == NT_BASE_TASK && !line->task)
		return NT_OWNER_IDLE;
	return line->base == NT_BASE_TASK && is_napi(timeline, line) ? NT_OWNER_NET_RX : NT_OWNER_TASK;
}

/* Gives [start, paint_ns) its owners, and [paint_ns, to_ns) to nobody; rows for the spans that ended. */
static int settle(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t paint_ns, uint64_t to_ns)
{
	uint64_t task = line->base == NT_BASE_TASK ? line->task : NT_NO_TASK;
	uint64_t limit_ns = nt_min_ns(paint_ns, timeline->end_ns);
	const struct nt_segment_base base = {base_owner(timeline, line), line->came_ns};
	int error = nt_segment_paint(&line->segment, line->start_ns, limit_ns, base);

	if (error)
		return error;
	timeline->counts.malformed += line->segment.overlaps;
	for (uint32_t i = 0; i < line->segment.n_pieces && !error; i++) {
		const struct nt_piece *piece = &line->segment.pieces[i];

		if (piece->owner == NT_OWNER_NET_RX && timeline->sink.rx_part)
			error = nt_cpu_line_rx_part(timeline, line, piece);
		else if (piece->owner == NT_OWNER_HARDIRQ && timeline->sink.irq_part)
			error = nt_cpu_line_irq_part(timeline, line, piece);
		if (!error)
			error = nt_cpu_line_slice(timeline, line, piece->until_ns, piece->owner, task);
	}
	if (!error && to_ns > paint_ns)
		error = nt_cpu_line_slice(timeline, line, to_ns, NT_OWNER_UNCOVERED, NT_NO_TASK);
	if (!error)
		error = nt_cpu_line_spans(timeline, line, paint_ns);
	return error;
}

static void begin_segment(struct nt_cpu_line *line, enum nt_base base, uint64_t task, uint64_t start_ns)
{
	line->base = base;
	line->task = task;
	line->start_ns = start_ns;
	line->segment.n = line->n_before_loss = 0;
	line->known_ns = nt_min_ns(line->known_ns, start_ns);
}

/* Ends an uncovered stretch and the segment it is in. */
static int settle_lost(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t to_ns)
{
	uint64_t paint_ns = nt_min_ns(line->lost_ns, to_ns);
	int error = settle(timeline, line, paint_ns, to_ns);

	if (!error)
		error = nt_cpu_line_end_stay(timeline, line, paint_ns, NULL);
	return error ? error : nt_loss_end(timeline, line, paint_ns, to_ns);
}

/* ---- state records ---- */

/*
 * The task that left is not the one believed. A thread that executed a program has taken over its main
 * thread's identity; anything else is a switch that was lost without a word.
 */
static int meet_stranger(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_closing *closing)
{
	if (timeline->is_main_of && timeline->is_main_of(timeline->callback_arg, closing->task, line->task)) {
		int error = nt_open_ops_move(&timeline->open_ops, line->task, closing->task);

		line->task = closing->task;
		return error;
	}
	timeline->counts.undeclared++;
	nt_loss_of_segment(timeline, line);
	for (uint32_t i = 0; i < line->segment.n; i++) {
		struct nt_span *span = &line->segment.spans[i];

		if (span->marks & NT_MARK_KNOWN)
			nt_cpu_line_claim(timeline, line, span, false);
		span->marks &= (uint8_t)~NT_MARK_KNOWN;
	}
	line->base = NT_BASE_NONE;
	return nt_loss_push(line, 0, 0, "undeclared");
}

/* A CPU's first record is of reason START: its task was there since the session's start. */
static void believe_start(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t task)
{
	line->n_losses = 0;
	line->lost = line->initial = false;
	if (line->counted)
		timeline->n_lost--;
	line->counted = false;
	line->base = NT_BASE_TASK;
	line->task = task;
	for (uint32_t i = 0; i < line->segment.n; i++)
		line->segment.spans[i].marks |= NT_MARK_KNOWN;
	nt_cpu_line_begin_stay(timeline, line, line->start_ns, task);
}

/* Ends the segment at hand with what is now known of it. */
static int close_segment(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_closing *closing)
{
	int error = nt_spans_list_opens(timeline, line, closing);

	if (error)
		return error;
	if (line->lost)
		return settle_lost(timeline, line, closing->at_ns);
	return settle(timeline, line, closing->at_ns, closing->at_ns);
}

static int on_closing(struct nt_timeline *timeline, struct nt_cpu_line *line, struct nt_closing *closing)
{
	uint64_t believed;
	int error = 0;

	closing->at_ns = nt_max_ns(closing->end_ns, line->start_ns);
	if (line->initial && closing->reason == NT_STATE_START)
		believe_start(timeline, line, closing->task);
	believed = line->task;
	if (line->lost && closing->end_ns < line->lost_until_ns) {
		line->task_lost = true;
		line->initial = false;
		line->n_opens = 0;
		return 0;
	}
	if (line->base == NT_BASE_TASK && line->task != closing->task && !(line->lost && line->task_lost))
		error = meet_stranger(timeline, line, closing);
	closing->covered = !line->lost && line->base == NT_BASE_TASK && believed == closing->task;
	if (!error)
		error = close_segment(timeline, line, closing);
	if (!error)
		error = nt_spans_update_ops(timeline, line, closing);
	if (!error && closing->by)
		error = nt_cpu_line_end_stay(timeline, line, closing->at_ns, closing->by);
	if (error)
		return error;
	nt_spans_note_unended(timeline, line, closing);
	if (!line->staying)
		nt_cpu_line_begin_stay(timeline, line, closing->at_ns, closing->next);
	begin_segment(line, NT_BASE_TASK, closing->next, closing->at_ns);
	line->stopped = closing->reason == NT_STATE_STOP;
	return 0;
}

static int on_state(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_state *state)
{
	struct nt_closing closing = {
		.end_ns = state->end_ns,
		.task = state->task,
		.next = state->task,
		.n_open = state->n_open,
		.reason = state->reason ? state->reason : NT_STATE_PERIODIC,
	};

	return on_closing(timeline, line, &closing);
}

static int on_switch(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_switch *by)
{
	struct nt_closing closing = {
		.end_ns = by->end_ns,
		.task = by->prev,
		.next = by->next,
		.n_open = by->n_open,
		.by = by,
	};

	return on_closing(timeline, line, &closing);
}

/* ---- gaps and CPUs that come and go ---- */

int nt_timeline_gap(struct nt_timeline *timeline, uint32_t cpu, uint64_t resume_ns, uint64_t task, const char *why)
{
	struct nt_cpu_line *line = cpu < timeline->n_lines ? &timeline->lines[cpu] : NULL;
	int error;

	if (!line)
		return -EINVAL;
	if (!line->present)
		return 0;
	error = nt_loss_push(line, 0, 0, why);
	if (error)
		return error;
	nt_spans_drop_opens(timeline, line);
	/*
	 * Spans that stood open at the last record may have ended in the gap, and their begins are not
	 * known: all since the last state record is uncertain.
	 */
	nt_loss_of_segment(timeline, line);
	line->task_lost = true;
	if (task == NT_NO_TASK)
		nt_loss_until(line, resume_ns);
	if (task == NT_NO_TASK || resume_ns < line->lost_until_ns)
		return 0;
	resume_ns = nt_max_ns(resume_ns, line->start_ns);
	error = settle_lost(timeline, line, resume_ns);
	if (error)
		return error;
	nt_cpu_line_begin_stay(timeline, line, resume_ns, task);
	begin_segment(line, NT_BASE_TASK, task, resume_ns);
	line->stopped = false;
	return 0;
}

static int go_offline(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t end_ns)
{
	struct nt_closing closing = {
		.end_ns = end_ns,
		.at_ns = nt_max_ns(end_ns, line->start_ns),
		.task = line->task,
		.covered = !line->lost,
	};
	bool known = !line->lost;
	int error;

	if (line->lost && end_ns < line->lost_until_ns) {
		line->task_lost = true;
		line->initial = false;
		return 0;
	}
	if (!line->lost && line->base == NT_BASE_OFFLINE)
		return 0;
	nt_spans_drop_opens(timeline, line);
	error = close_segment(timeline, line, &closing);
	if (!error && known)
		error = nt_spans_update_ops(timeline, line, &closing);
	if (!error)
		error = nt_cpu_line_end_stay(timeline, line, closing.at_ns, NULL);
	if (error)
		return error;
	line->n_unended = 0;
	begin_segment(line, NT_BASE_OFFLINE, NT_NO_TASK, closing.at_ns);
	return 0;
}

/* The task on a CPU that came back is known from its first state record on. */
static int come_online(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t end_ns)
{
	uint64_t at_ns = nt_max_ns(end_ns, line->start_ns);
	int error;

	if (line->lost || line->base != NT_BASE_OFFLINE)
		return 0;
	error = settle(timeline, line, at_ns, at_ns);
	if (error)
		return error;
	begin_segment(line, NT_BASE_NONE, NT_NO_TASK, at_ns);
	nt_loss_begin(timeline, line, at_ns);
	return nt_loss_push(line, 0, 0, "came online");
}

/* ---- the interface ---- */

static bool line_init(struct nt_timeline *timeline, struct nt_cpu_line *line, bool online)
{
	line->present = true;
	line->start_ns = line->slice.ts_ns = timeline->start_ns;
	line->slice.cpu = line->number;
	line->base = online ? NT_BASE_NONE : NT_BASE_OFFLINE;
	if (!online)
		return true;
	nt_loss_begin(timeline, line, line->start_ns);
	line->initial = true;
	return nt_loss_push(line, 0, 0, "no state record") == 0;
}

struct nt_timeline *nt_timeline_new(const struct nt_timeline_config *config, const struct nt_timeline_sink *sink)
{
	struct nt_timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return NULL;
	timeline->start_ns = config->start_ns;
	timeline->end_ns = nt_max_ns(config->start_ns, config->end_ns);
	timeline->is_main_of = config->is_main_of;
	timeline->is_napi = config->is_napi;
	timeline->callback_arg = config->arg;
	timeline->sink = *sink;
	timeline->n_running = 1;
	while (timeline->n_running < config->n_cpus && timeline->n_running < 1u << 30)
		timeline->n_running *= 2;
	timeline->running = calloc(timeline->n_running, sizeof(*timeline->running));
	timeline->lines = calloc(config->n_cpus ? config->n_cpus : 1, sizeof(*timeline->lines));
	if (!timeline->running || !timeline->lines)
		goto no_memory;
	timeline->n_lines = config->n_cpus;
	for (uint32_t i = 0; i < config->n_cpus; i++) {
		timeline->lines[i].number = i;
		if (config->present[i] && !line_init(timeline, &timeline->lines[i], config->online[i]))
			goto no_memory;
	}
	return timeline;
no_memory:
	nt_timeline_free(timeline);
	return NULL;
}

void nt_timeline_free(struct nt_timeline *timeline)
{
	if (!timeline)
		return;
	for (uint32_t i = 0; i < timeline->n_lines; i++) {
		nt_segment_release(&timeline->lines[i].segment);
		free(timeline->lines[i].losses);
	}
	nt_open_ops_release(&timeline->open_ops);
	free(timeline->running);
	free(timeline->lines);
	free(timeline);
}

void nt_timeline_begin_at(struct nt_timeline *timeline, uint32_t cpu, uint64_t after_ns)
{
	struct nt_cpu_line *line = &timeline->lines[cpu];

	if (!line->present)
		return;
	line->base = NT_BASE_NONE;
	line->start_ns = line->slice.ts_ns = nt_max_ns(after_ns, timeline->start_ns);
	line->known_ns = UINT64_MAX;
	line->n_losses = 0;
	nt_loss_begin(timeline, line, line->start_ns);
	line->initial = false;
	nt_loss_until(line, after_ns);
}

uint64_t nt_timeline_known_since(const struct nt_timeline *timeline, uint32_t cpu)
{
	return timeline->lines[cpu].known_ns;
}

uint64_t nt_timeline_stay_since(const struct nt_timeline *timeline, uint32_t cpu)
{
	return timeline->lines[cpu].running ? timeline->lines[cpu].stay_ns : UINT64_MAX;
}

bool nt_timeline_is_past(const struct nt_timeline *timeline, uint32_t cpu, uint64_t ns)
{
	const struct nt_cpu_line *line = &timeline->lines[cpu];

	if (!line->present)
		return true;
	if (line->start_ns < ns || NT_ANY(line->n_unended, i, line->unended[i].begin_ns < ns))
		return false;
	if (timeline->sink.cpu_slice && line->slice.ts_ns < ns)
		return false;
	return !timeline->sink.sched_slice || !line->staying || line->stay_ns >= ns;
}

/* Whether an operation that began before ns may be in the CPU's segment at hand. The idle task begins none. */
static bool may_hide_op(const struct nt_cpu_line *line, uint64_t ns)
{
	if (!line->present || line->start_ns >= ns)
		return false;
	return line->lost || (line->base == NT_BASE_TASK && line->task) ||
	       NT_ANY(line->segment.n, i, line->segment.spans[i].layer == NT_LAYER_OP);
}

bool nt_timeline_is_past_ops(const struct nt_timeline *timeline, uint64_t from_ns, uint64_t ns)
{
	const struct nt_open_op *op;

	if (NT_ANY(timeline->n_lines, i, may_hide_op(&timeline->lines[i], ns)))
		return false;
	LIST_FOREACH (op, &timeline->open_ops.all, of_all) {
		if (op->begin_ns >= from_ns && op->begin_ns < ns)
			return false;
	}
	return true;
}

/* Times are sorted within a CPU before they come here: what is still inverted is counted. */
static void check_order(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t end_ns)
{
	if (end_ns < line->last_end_ns)
		nt_count_inversion(timeline, line->last_end_ns - end_ns);
	else
		line->last_end_ns = end_ns;
}

static int give_event(struct nt_timeline *timeline, const struct nt_cpu_line *line, const union nt_any *record)
{
	uint64_t task = line->base == NT_BASE_TASK && !line->lost ? line->task : NT_NO_TASK;

	return timeline->sink.event ? timeline->sink.event(timeline->sink.arg, line->number, task, record) : 0;
}

int nt_timeline_add(struct nt_timeline *timeline, uint32_t cpu, const union nt_any *record)
{
	struct nt_cpu_line *line;

	if (cpu >= timeline->n_lines)
		return -EINVAL;
	line = &timeline->lines[cpu];
	timeline->counts.records++;
	if (!line->present) {
		timeline->counts.malformed++;
		return 0;
	}
	if (record->record.kind != NT_LOSS && record->record.kind != NT_OPEN)
		check_order(timeline, line, record->record.end_ns);
	switch (record->record.kind) {
	case NT_STATE:
		return on_state(timeline, line, &record->as_state);
	case NT_SWITCH:
		return on_switch(timeline, line, &record->as_switch);
	case NT_OPEN:
		nt_spans_open(timeline, line, &record->as_open);
		return 0;
	case NT_SOFTIRQ:
		return nt_spans_softirq(timeline, line, &record->as_softirq);
	case NT_IRQ:
		return nt_spans_irq(timeline, line, &record->as_irq);
	case NT_OP:
		return nt_spans_op(timeline, line, &record->as_op);
	case NT_NAPI:
		return nt_spans_napi(timeline, line, &record->as_napi);
	case NT_LOSS:
		return nt_loss_record(timeline, line, &record->as_loss);
	case NT_HOTPLUG:
		if (record->as_hotplug.online)
			return come_online(timeline, line, record->as_hotplug.end_ns);
		return go_offline(timeline, line, record->as_hotplug.end_ns);
	default:
		return nt_kind_is_of_cpu(record->record.kind) ? give_event(timeline, line, record) : -EINVAL;
	}
}

/* ---- while it goes on ---- */

void nt_timeline_end_at(struct nt_timeline *timeline, uint64_t end_ns)
{
	timeline->end_ns = nt_max_ns(timeline->start_ns, end_ns);
}

static int give_line(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t fed_ns)
{
	int error = 0;

	if (!line->lost && line->base == NT_BASE_OFFLINE && fed_ns > line->start_ns) {
		error = settle(timeline, line, fed_ns, fed_ns);
		begin_segment(line, NT_BASE_OFFLINE, NT_NO_TASK, fed_ns);
	}
	if (!error)
		error = nt_cpu_line_last_slice(timeline, line);
	line->slice.dur_ns = 0;
	return error;
}

int nt_timeline_give(struct nt_timeline *timeline, uint64_t fed_ns)
{
	int error = 0;

	fed_ns = nt_min_ns(fed_ns, timeline->end_ns);
	for (uint32_t i = 0; i < timeline->n_lines && !error; i++)
		error = timeline->lines[i].present ? give_line(timeline, &timeline->lines[i], fed_ns) : 0;
	return error;
}

uint64_t nt_timeline_given_until(const struct nt_timeline *timeline, uint32_t cpu)
{
	const struct nt_cpu_line *line = &timeline->lines[cpu];

	return line->present ? line->start_ns : UINT64_MAX;
}

bool nt_timeline_run_goes_on(const struct nt_timeline *timeline, uint32_t cpu, uint64_t run_ns)
{
	const struct nt_cpu_line *line = &timeline->lines[cpu];
	const bool is_of_thread = line->base == NT_BASE_TASK && line->task && line->came_ns == run_ns;

	/* One whose end has been recorded has its last parts with the next state record. */
	return is_of_thread || NT_ANY(line->n_unended, i, line->unended[i].begin_ns == run_ns) ||
	       NT_ANY(line->segment.n, i, line->segment.spans[i].begin_ns == run_ns);
}

/* ---- the end ---- */

static int finish_line(struct nt_timeline *timeline, struct nt_cpu_line *line)
{
	uint64_t end_ns = nt_max_ns(timeline->end_ns, line->start_ns);
	int error = 0;

	nt_spans_drop_opens(timeline, line);
	if (!line->lost && line->base == NT_BASE_TASK && line->start_ns < timeline->end_ns && !line->stopped)
		error = nt_loss_push(line, 0, 0, "no last state record");
	/* The state record that would have confirmed the segment never came: nothing of it is certain. */
	if (line->lost || line->n_losses)
		nt_loss_of_segment(timeline, line);
	if (!error && line->lost)
		error = settle_lost(timeline, line, end_ns);
	else if (!error)
		error = settle(timeline, line, end_ns, end_ns);
	if (!error)
		error = nt_cpu_line_end_stay(timeline, line, end_ns, NULL);
	if (!error)
		error = nt_cpu_line_last_slice(timeline, line);
	return error ? error : nt_cpu_line_unended(timeline, line);
}

int nt_timeline_finish(struct nt_timeline *timeline)
{
	struct nt_open_op *op;

	for (uint32_t i = 0; i < timeline->n_lines; i++) {
		int error = timeline->lines[i].present ? finish_line(timeline, &timeline->lines[i]) : 0;

		if (error)
			return error;
	}
	LIST_FOREACH (op, &timeline->open_ops.all, of_all) {
		int error = nt_cpu_line_open_op(timeline, op, NT_OP_OPEN, timeline->end_ns,
						nt_crosses_loss(timeline, op->begin_ns));

		if (error)
			return error;
	}
	return 0;
}

const struct nt_timeline_counts *nt_timeline_counts(const struct nt_timeline *timeline)
{
	return &timeline->counts;
}

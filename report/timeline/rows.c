// SPDX-License-Identifier: GPL-2.0-only
/*
 * rows.c - the rows of a timeline: clipped to the session, merged, given to the sink.
 */
#include <string.h>

#include "report/timeline/state.h"
#include "report/util/array.h"

static const char *const owner_names[NT_OWNER_COUNT] = {
#define X(number, constant, name, sort) [number] = #name,
	NT_OWNERS(X)
#undef X
};

const char *nt_owner_name(enum nt_owner owner)
{
	return (unsigned int)owner < NT_OWNER_COUNT ? owner_names[owner] : "unknown";
}

enum nt_owner nt_owner_number(const char *name)
{
	/* Rows made of a tape have our own texts, and there are many. */
	size_t owner = NT_FIRST(NT_OWNER_COUNT, i, name == owner_names[i]);

	if (owner == NT_OWNER_COUNT)
		owner = NT_FIRST(NT_OWNER_COUNT, i, !strcmp(name, owner_names[i]));
	return (enum nt_owner)owner;
}

void nt_count_inversion(struct nt_timeline *timeline, uint64_t by_ns)
{
	if (by_ns > NT_INVERSION_MAX_NS) {
		timeline->counts.malformed++;
		return;
	}
	timeline->counts.clamped++;
	timeline->counts.clamped_max_ns = nt_max_ns(timeline->counts.clamped_max_ns, by_ns);
}

bool nt_crosses_loss(const struct nt_timeline *timeline, uint64_t begin_ns)
{
	return timeline->n_lost || timeline->uncovered_until_ns > nt_max_ns(begin_ns, timeline->start_ns);
}

/* ---- cpu_slice ---- */

int nt_cpu_line_last_slice(struct nt_timeline *timeline, struct nt_cpu_line *line)
{
	struct nt_cpu_slice *slice = &line->slice;
	int error = 0;

	if (slice->dur_ns && timeline->sink.cpu_slice)
		error = timeline->sink.cpu_slice(timeline->sink.arg, slice);
	slice->ts_ns += slice->dur_ns;
	return error;
}

int nt_cpu_line_slice(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t until_ns, enum nt_owner owner,
		      uint64_t task)
{
	struct nt_cpu_slice *slice = &line->slice;
	uint64_t end_ns = nt_min_ns(until_ns, timeline->end_ns);
	int error;

	if (end_ns <= slice->ts_ns + slice->dur_ns)
		return 0;
	if (slice->dur_ns && (slice->owner != owner || slice->task != task)) {
		error = nt_cpu_line_last_slice(timeline, line);
		if (error)
			return error;
	}
	slice->owner = owner;
	slice->task = task;
	slice->dur_ns = end_ns - slice->ts_ns;
	return 0;
}

int nt_cpu_line_rx_part(struct nt_timeline *timeline, const struct nt_cpu_line *line, const struct nt_piece *piece)
{
	const uint64_t end_ns = nt_min_ns(piece->until_ns, timeline->end_ns);
	struct nt_rx_part part = {
		.ts_ns = line->slice.ts_ns + line->slice.dur_ns,
		.cpu = line->number,
		.run_ns = piece->run_ns,
	};

	if (end_ns <= part.ts_ns)
		return 0;
	part.dur_ns = end_ns - part.ts_ns;
	return timeline->sink.rx_part(timeline->sink.arg, &part);
}

int nt_cpu_line_irq_part(struct nt_timeline *timeline, const struct nt_cpu_line *line, const struct nt_piece *piece)
{
	const uint64_t end_ns = nt_min_ns(piece->until_ns, timeline->end_ns);
	struct nt_irq_part part = {
		.ts_ns = line->slice.ts_ns + line->slice.dur_ns,
		.cpu = line->number,
		.type = piece->irq_type,
		.number = piece->irq_number,
	};

	if (end_ns <= part.ts_ns)
		return 0;
	part.dur_ns = end_ns - part.ts_ns;
	return timeline->sink.irq_part(timeline->sink.arg, &part);
}

/* ---- spans ---- */

static bool is_outside(const struct nt_timeline *timeline, uint64_t begin_ns, uint64_t end_ns)
{
	return end_ns <= timeline->start_ns || begin_ns >= timeline->end_ns;
}

static int give_interruption(struct nt_timeline *timeline, const struct nt_cpu_line *line, const struct nt_span *span,
			     uint64_t task)
{
	int (*give)(void *, const struct nt_span_row *) =
		span->layer == NT_LAYER_IRQ ? timeline->sink.irq : timeline->sink.softirq;
	struct nt_span_row row = {
		.ts_ns = nt_max_ns(span->begin_ns, timeline->start_ns),
		.cpu = line->number,
		.task = task,
		.detail = span->detail,
		.number = span->marks & NT_MARK_IN_OP ? NT_CONTEXT_OP : span->number,
		.still_open = span->marks & NT_MARK_OPEN,
	};

	row.dur_ns = nt_min_ns(span->end_ns, timeline->end_ns) - row.ts_ns;
	return give ? give(timeline->sink.arg, &row) : 0;
}

static int give_poll(struct nt_timeline *timeline, const struct nt_cpu_line *line, const struct nt_span *span)
{
	struct nt_napi_row row = {
		.ts_ns = nt_max_ns(span->begin_ns, timeline->start_ns),
		.timed = !(span->flags & NT_SPAN_NO_BEGIN),
		.cpu = line->number,
		.task = span->marks & NT_MARK_KNOWN ? line->task : NT_NO_TASK,
		.context = span->detail,
		.device = span->socket,
		.napi_id = span->number,
		.work = (uint32_t)span->result,
		.budget = span->budget,
	};

	row.dur_ns = nt_min_ns(span->end_ns, timeline->end_ns) - row.ts_ns;
	return timeline->sink.napi ? timeline->sink.napi(timeline->sink.arg, &row) : 0;
}

/* The remembered part of an operation whose record arrived, or NULL. */
static struct nt_open_op *remembered(struct nt_timeline *timeline, const struct nt_cpu_line *line,
				     const struct nt_span *span)
{
	struct nt_op_key key = {span->begin_ns, span->detail, span->flags & NT_OP_BEFORE};

	if (!(span->marks & NT_MARK_TIMED))
		return NULL;
	if (!(span->marks & NT_MARK_KNOWN))
		return nt_open_ops_find_any(&timeline->open_ops, &key, span->socket);
	if (span->begin_ns > line->start_ns)
		return NULL;
	return nt_open_ops_find(&timeline->open_ops, line->task, &key);
}

void nt_cpu_line_claim(struct nt_timeline *timeline, const struct nt_cpu_line *line, const struct nt_span *span,
		       bool claim)
{
	struct nt_open_op *part = span->layer == NT_LAYER_OP ? remembered(timeline, line, span) : NULL;

	if (part)
		part->claimed = claim;
}

static int give_op(struct nt_timeline *timeline, const struct nt_cpu_line *line, const struct nt_span *span,
		   uint64_t paint_ns)
{
	struct nt_open_op *part = remembered(timeline, line, span);
	uint64_t begin_ns = span->begin_ns, end_ns = span->end_ns;
	struct nt_op_row row = {
		.cpu_ns = span->own_ns,
		.timed = !(span->flags & NT_OP_NO_BEGIN),
		.before = span->flags & NT_OP_BEFORE || begin_ns < timeline->start_ns,
		.cpu = line->number,
		.task = span->marks & NT_MARK_KNOWN && !(span->flags & NT_OP_IN_SOFTIRQ) ? line->task : NT_NO_TASK,
		.dir = span->detail,
		.call = span->call,
		.flags = span->flags,
		.socket = span->socket,
		.end = NT_OP_DONE,
		.result = span->result,
	};

	row.lower_bound = span->marks & NT_MARK_LOWER || !(span->marks & NT_MARK_KNOWN) ||
			  nt_min_ns(end_ns, timeline->end_ns) > nt_min_ns(paint_ns, timeline->end_ns);
	if (part) {
		row.cpu_ns += part->cpu_ns;
		row.task = part->task;
		end_ns = nt_max_ns(end_ns, part->last_ns);
		nt_open_ops_remove(&timeline->open_ops, part);
	}
	if (is_outside(timeline, begin_ns, end_ns)) {
		timeline->counts.outside++;
		return 0;
	}
	row.ts_ns = nt_max_ns(begin_ns, timeline->start_ns);
	row.dur_ns = nt_min_ns(end_ns, timeline->end_ns) - row.ts_ns;
	return timeline->sink.op ? timeline->sink.op(timeline->sink.arg, &row) : 0;
}

int nt_cpu_line_spans(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t paint_ns)
{
	for (uint32_t i = 0; i < line->segment.n; i++) {
		const struct nt_span *span = &line->segment.spans[i];
		int error = 0;

		if (span->marks & NT_MARK_OPEN)
			continue;
		if (span->layer == NT_LAYER_OP)
			error = give_op(timeline, line, span, paint_ns);
		else if (is_outside(timeline, span->begin_ns, span->end_ns))
			timeline->counts.outside++;
		else if (span->layer == NT_LAYER_POLL)
			error = give_poll(timeline, line, span);
		else
			error = give_interruption(timeline, line, span,
						  span->marks & NT_MARK_KNOWN ? line->task : NT_NO_TASK);
		if (error)
			return error;
	}
	return 0;
}

int nt_cpu_line_unended(struct nt_timeline *timeline, struct nt_cpu_line *line)
{
	for (uint32_t i = 0; line->unended_last && i < line->n_unended; i++) {
		int error = give_interruption(timeline, line, &line->unended[i], line->unended_task);

		if (error)
			return error;
	}
	return 0;
}

int nt_cpu_line_open_op(struct nt_timeline *timeline, const struct nt_open_op *op, enum nt_op_end end,
			uint64_t until_ns, bool lower_bound)
{
	struct nt_op_row row = {
		.ts_ns = nt_max_ns(op->begin_ns, timeline->start_ns),
		.cpu_ns = op->cpu_ns,
		.timed = true,
		.before = op->before || op->begin_ns < timeline->start_ns,
		.lower_bound = lower_bound,
		.cpu = op->cpu,
		.task = op->task,
		.dir = op->dir,
		.call = op->call,
		.flags = op->flags,
		.socket = op->socket,
		.end = end,
	};

	if (is_outside(timeline, op->begin_ns, until_ns) || !timeline->sink.op)
		return 0;
	row.dur_ns = nt_min_ns(until_ns, timeline->end_ns) - row.ts_ns;
	return timeline->sink.op(timeline->sink.arg, &row);
}

/* ---- loss ---- */

int nt_cpu_line_losses(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t n = line->n_losses;
	struct nt_loss_row row = {
		.ts_ns = nt_min_ns(nt_max_ns(from_ns, timeline->start_ns), timeline->end_ns),
		.cpu = line->number,
	};

	row.dur_ns = nt_min_ns(nt_max_ns(to_ns, row.ts_ns), timeline->end_ns) - row.ts_ns;
	line->n_losses = 0;
	for (uint32_t i = 0; timeline->sink.loss && i < n; i++) {
		int error;

		/* Where nothing is known to be lost but time, and no time was lost, there is nothing to say. */
		if (!row.dur_ns && !line->losses[i].kind && !line->losses[i].count)
			continue;
		row.kind = line->losses[i].kind;
		row.count = line->losses[i].count;
		row.why = line->losses[i].why;
		error = timeline->sink.loss(timeline->sink.arg, &row);
		if (error)
			return error;
	}
	return 0;
}

/* ---- sched_slice ---- */

/* The CPUs that the task stays on, among others. */
static struct nt_running *running_of(struct nt_timeline *timeline, uint64_t task)
{
	return &timeline->running[(uint32_t)(task * 0x9e3779b97f4a7c15ull >> 32) & (timeline->n_running - 1)];
}

void nt_cpu_line_begin_stay(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t begin_ns, uint64_t task)
{
	line->staying = true;
	line->stay_task = task;
	line->stay_ns = line->came_ns = begin_ns;
	/* Every CPU has an idle task of its own, but they share one id. */
	line->running = task != 0;
	if (line->running)
		LIST_INSERT_HEAD(running_of(timeline, task), line, of_running);
}

void nt_cpu_line_suspend_stay(struct nt_cpu_line *line)
{
	if (line->running)
		LIST_REMOVE(line, of_running);
	line->running = false;
}

/*
 * Two CPUs' clocks may differ by some ns, so that a task seems to begin on one before it left the other.
 * The stay that ends here is believed, the one that began before its end is moved.
 */
static void part_stays(struct nt_timeline *timeline, const struct nt_cpu_line *line, uint64_t end_ns)
{
	struct nt_cpu_line *other;

	LIST_FOREACH (other, running_of(timeline, line->stay_task), of_running) {
		if (other == line || other->stay_task != line->stay_task)
			continue;
		if (other->stay_ns < line->stay_ns) {
			timeline->counts.malformed += end_ns > line->stay_ns;
		} else if (other->stay_ns < end_ns) {
			nt_count_inversion(timeline, end_ns - other->stay_ns);
			if (end_ns - other->stay_ns <= NT_INVERSION_MAX_NS)
				other->stay_ns = end_ns;
		}
	}
}

int nt_cpu_line_end_stay(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t end_ns,
			 const struct nt_switch *by)
{
	struct nt_sched_slice row = {.ts_ns = line->stay_ns, .cpu = line->number, .task = line->stay_task};

	if (!line->staying)
		return 0;
	end_ns = nt_max_ns(end_ns, line->stay_ns);
	if (line->running) {
		part_stays(timeline, line, end_ns);
		nt_cpu_line_suspend_stay(line);
	}
	line->staying = false;
	if (by && end_ns <= timeline->end_ns) {
		row.ended_by_switch = true;
		row.end_state = by->prev_state;
		row.priority = by->prev_prio;
	}
	end_ns = nt_min_ns(end_ns, timeline->end_ns);
	if (is_outside(timeline, row.ts_ns, end_ns) || (row.ts_ns == end_ns && !row.ended_by_switch))
		return 0;
	row.dur_ns = end_ns - row.ts_ns;
	return timeline->sink.sched_slice ? timeline->sink.sched_slice(timeline->sink.arg, &row) : 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * spans.c - softirqs, interrupts and operations, ended or open, from their records into the segment
 * at hand; and operations over several segments.
 */
#include <errno.h>
#include <string.h>

#include "report/timeline/state.h"

#define TASK_DEAD 0x80u /* the kernel's: the task will not run again */

/* ---- spans ---- */

/* Room for one more. 0, -ENOMEM, or what a callback gave: a segment that is too long ends here. */
static int make_room(struct nt_timeline *timeline, struct nt_cpu_line *line, struct nt_span **out)
{
	if (line->segment.n >= NT_SEGMENT_MAX) {
		int error = nt_loss_of_long(timeline, line);

		if (error)
			return error;
	}
	*out = nt_segment_room(&line->segment);
	return *out ? 0 : -ENOMEM;
}

/* Counts the span that has been filled in where there was room. */
static void add(struct nt_cpu_line *line, struct nt_span *span)
{
	if (line->base == NT_BASE_TASK && !(line->lost && line->task_lost))
		span->marks |= NT_MARK_KNOWN;
	line->segment.n++;
}

/* Without a begin (NT_SPAN_NO_BEGIN) a span is all at its end. */
static uint64_t begin_of(uint64_t end_ns, uint64_t dur_ns, uint8_t flags)
{
	if (flags & NT_SPAN_NO_BEGIN)
		return end_ns;
	return dur_ns < end_ns ? end_ns - dur_ns : 0;
}

static bool is_same_span(const struct nt_span *a, const struct nt_span *b)
{
	if (a->layer != b->layer || a->detail != b->detail)
		return false;
	if (a->layer == NT_LAYER_OP && (a->flags & NT_OP_BEFORE) != (b->flags & NT_OP_BEFORE))
		return false;
	if (a->layer == NT_LAYER_IRQ && a->number != b->number)
		return false;
	return a->begin_ns == b->begin_ns;
}

/* A softirq or interrupt that was open at the last state record has ended. */
static void end_unended(struct nt_cpu_line *line, const struct nt_span *span)
{
	for (uint32_t i = 0; i < line->n_unended; i++) {
		if (is_same_span(&line->unended[i], span)) {
			line->n_unended--;
			memmove(&line->unended[i], &line->unended[i + 1],
				(line->n_unended - i) * sizeof(line->unended[0]));
			return;
		}
	}
}

static uint32_t known_context(uint32_t context)
{
	return context <= NT_SOFTIRQ_BH_ENABLE ? context : NT_SOFTIRQ_UNKNOWN;
}

int nt_spans_softirq(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_softirq *softirq)
{
	struct nt_span *span;
	int error = make_room(timeline, line, &span);

	if (error)
		return error;
	*span = (struct nt_span){
		.begin_ns = begin_of(softirq->end_ns, softirq->dur_ns, softirq->flags),
		.end_ns = softirq->end_ns,
		.layer = NT_LAYER_SOFTIRQ,
		.detail = softirq->vec,
		.number = known_context(softirq->context),
		.marks = softirq->flags & NT_SPAN_NO_BEGIN ? 0 : NT_MARK_TIMED,
	};
	end_unended(line, span);
	add(line, span);
	return 0;
}

int nt_spans_irq(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_irq *irq)
{
	struct nt_span *span;
	int error = make_room(timeline, line, &span);

	if (error)
		return error;
	*span = (struct nt_span){
		.begin_ns = begin_of(irq->end_ns, irq->dur_ns, irq->flags),
		.end_ns = irq->end_ns,
		.layer = NT_LAYER_IRQ,
		.detail = irq->type,
		.number = irq->number,
		.marks = irq->flags & NT_SPAN_NO_BEGIN ? 0 : NT_MARK_TIMED,
	};
	end_unended(line, span);
	add(line, span);
	return 0;
}

/* Before the recording is before all that began since the first CPU was recorded: outside of it. */
static uint64_t begin_of_op(const struct nt_op *op)
{
	if (op->flags & NT_OP_NO_BEGIN)
		return op->end_ns;
	return op->flags & NT_OP_BEFORE ? 0 : begin_of(op->end_ns, op->dur_ns, 0);
}

static uint8_t marks_of_op(const struct nt_timeline *timeline, const struct nt_cpu_line *line, const struct nt_op *op)
{
	const uint64_t begin_ns = begin_of_op(op);
	uint8_t marks = line->lost ? NT_MARK_LOWER : 0;

	if (op->flags & NT_OP_NO_BEGIN)
		return marks;
	if (!(op->flags & NT_OP_IN_SOFTIRQ))
		marks |= NT_MARK_TIMED;
	/* Contained in this segment, an operation has no pieces elsewhere. */
	if (nt_max_ns(begin_ns, timeline->start_ns) < line->start_ns && nt_crosses_loss(timeline, begin_ns))
		marks |= NT_MARK_LOWER;
	return marks;
}

int nt_spans_op(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_op *op)
{
	const uint8_t marks = marks_of_op(timeline, line, op);
	struct nt_span *span;
	int error;

	if (op->dir != NT_SEND && op->dir != NT_RECV) {
		timeline->counts.malformed++;
		return 0;
	}
	error = make_room(timeline, line, &span);
	if (error)
		return error;
	*span = (struct nt_span){
		.begin_ns = begin_of_op(op),
		.end_ns = op->end_ns,
		.socket = op->socket,
		.result = op->result,
		.layer = NT_LAYER_OP,
		.detail = op->dir,
		.call = op->call,
		.flags = op->flags,
		.marks = marks,
	};
	add(line, span);
	nt_cpu_line_claim(timeline, line, span, true);
	return 0;
}

/*
 * Only a poll that a task makes itself has time of its own to be given: those in softirqs are the softirq's, and those
 * of NAPI threads their thread's.
 */
int nt_spans_napi(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_napi *napi)
{
	const bool is_own = napi->context == NT_NAPI_BUSY && !(napi->flags & NT_SPAN_NO_BEGIN);
	struct nt_span *span;
	int error = make_room(timeline, line, &span);

	if (error)
		return error;
	*span = (struct nt_span){
		.begin_ns = begin_of(napi->end_ns, napi->dur_ns, napi->flags),
		.end_ns = napi->end_ns,
		.socket = napi->device,
		.result = (int32_t)napi->work,
		.number = napi->napi_id,
		.budget = napi->budget,
		.layer = NT_LAYER_POLL,
		.detail = napi->context,
		.flags = napi->flags,
		.marks = is_own ? NT_MARK_TIMED : 0,
	};
	add(line, span);
	return 0;
}

/* ---- what stands open at a state record ---- */

void nt_spans_drop_opens(struct nt_timeline *timeline, struct nt_cpu_line *line)
{
	timeline->counts.malformed += line->n_opens;
	line->n_opens = 0;
}

void nt_spans_open(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_open *open)
{
	if (line->n_opens && line->opens[0].end_ns != open->end_ns)
		nt_spans_drop_opens(timeline, line);
	if (line->n_opens == NT_MAX_OPEN)
		timeline->counts.malformed++;
	else
		line->opens[line->n_opens++] = *open;
}

/* Gives the OPEN records that belong to a state record, the last of those read, and counts misfits. */
static const struct nt_open *match_opens(struct nt_timeline *timeline, struct nt_cpu_line *line, uint64_t end_ns,
					 uint32_t n_open, uint32_t *n)
{
	uint32_t have, want = n_open < NT_MAX_OPEN ? n_open : NT_MAX_OPEN;

	if (line->n_opens && line->opens[0].end_ns != end_ns)
		nt_spans_drop_opens(timeline, line);
	have = line->n_opens;
	timeline->counts.malformed += have > n_open ? have - n_open : n_open - have;
	line->n_opens = 0;
	*n = have < want ? have : want;
	return line->opens + (have - *n);
}

static bool span_of_open(const struct nt_open *open, struct nt_span *span)
{
	*span = (struct nt_span){
		.begin_ns = open->begin_ns,
		.end_ns = UINT64_MAX,
		.detail = open->detail,
		.marks = NT_MARK_OPEN | NT_MARK_TIMED,
	};
	switch (open->what) {
	case NT_OPEN_OP:
		span->layer = NT_LAYER_OP;
		span->socket = open->socket;
		span->flags = open->flags;
		span->call = open->number < NT_CALL_MAX ? (uint8_t)open->number : NT_CALL_OTHER;
		if (open->flags & NT_OP_BEFORE)
			span->begin_ns = 0;
		if (open->flags & (NT_OP_NO_BEGIN | NT_OP_IN_SOFTIRQ) ||
		    (open->detail != NT_SEND && open->detail != NT_RECV))
			return false;
		break;
	case NT_OPEN_SOFTIRQ:
		span->layer = NT_LAYER_SOFTIRQ;
		span->number = known_context(open->number);
		break;
	case NT_OPEN_IRQ:
		span->layer = NT_LAYER_IRQ;
		span->number = open->number;
		break;
	default:
		return false;
	}
	return span->begin_ns <= open->end_ns;
}

/*
 * The program that ends a span reads the clock first; an interrupt before it has noted the end may write a state record
 * that still lists the span. The end as recorded is right, however long the interrupt took.
 */
static bool is_stale(const struct nt_cpu_line *line, const struct nt_span *open, uint32_t n_ended)
{
	const uint8_t needed = NT_MARK_TIMED | NT_MARK_KNOWN;

	for (uint32_t i = n_ended; i--;) {
		const struct nt_span *span = &line->segment.spans[i];

		if ((span->marks & needed) == needed && is_same_span(span, open) &&
		    (span->end_ns > span->begin_ns || span->flags & NT_OP_BEFORE))
			return true;
	}
	return false;
}

static bool is_listed_already(const struct nt_cpu_line *line, const struct nt_span *open, uint32_t n_ended)
{
	for (uint32_t i = n_ended; i < line->segment.n; i++) {
		if (open->layer == NT_LAYER_OP && is_same_span(&line->segment.spans[i], open))
			return true;
	}
	return false;
}

int nt_spans_list_opens(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_closing *closing)
{
	uint32_t n, n_ended = line->segment.n;
	const struct nt_open *opens = match_opens(timeline, line, closing->end_ns, closing->n_open, &n);
	bool known = line->base == NT_BASE_TASK && line->task == closing->task;

	for (uint32_t i = 0; i < n; i++) {
		struct nt_span *span = nt_segment_room(&line->segment);

		if (!span)
			return -ENOMEM;
		if (!span_of_open(&opens[i], span) || is_listed_already(line, span, n_ended)) {
			timeline->counts.malformed++;
			continue;
		}
		if (is_stale(line, span, n_ended))
			continue;
		if (known)
			span->marks |= NT_MARK_KNOWN;
		line->segment.n++;
	}
	return 0;
}

/* The spans of the segment that ended; those after them were added by nt_spans_list_opens. */
static uint32_t n_ended_spans(const struct nt_cpu_line *line)
{
	uint32_t n = line->segment.n;

	while (n && line->segment.spans[n - 1].marks & NT_MARK_OPEN)
		n--;
	return n;
}

/* ---- operations over segments ---- */

/* Adds what an open operation owned in this segment to what is remembered of it. */
static int remember_op(struct nt_timeline *timeline, const struct nt_cpu_line *line, const struct nt_closing *closing,
		       const struct nt_span *span)
{
	struct nt_op_key key = {span->begin_ns, span->detail, span->flags & NT_OP_BEFORE};
	struct nt_open_op *op = nt_open_ops_find(&timeline->open_ops, closing->task, &key);

	if (!op) {
		op = nt_open_ops_add(&timeline->open_ops, &(struct nt_open_op){
								  .task = closing->task,
								  .begin_ns = span->begin_ns,
								  .dir = span->detail,
								  .before = key.before,
							  });
		if (!op)
			return -ENOMEM;
	}
	op->socket = span->socket;
	op->call = span->call;
	op->flags = span->flags;
	op->cpu_ns += span->own_ns;
	op->last_ns = closing->at_ns;
	op->cpu = line->number;
	op->listed = true;
	return 0;
}

/* Ends what is remembered of the task and not listed any more, all of it when the task has died. */
static int forget_ops(struct nt_timeline *timeline, const struct nt_cpu_line *line, const struct nt_closing *closing,
		      bool dead)
{
	struct nt_open_op *op;

	if (dead)
		nt_open_ops_unlist(&timeline->open_ops, closing->task);
	while ((op = nt_open_ops_unlisted(&timeline->open_ops, closing->task))) {
		bool contained = closing->covered && nt_max_ns(op->begin_ns, timeline->start_ns) >= line->start_ns;
		int error = nt_cpu_line_open_op(timeline, op, dead ? NT_OP_EXIT : NT_OP_ABANDONED, op->last_ns,
						!contained && nt_crosses_loss(timeline, op->begin_ns));

		nt_open_ops_remove(&timeline->open_ops, op);
		if (error)
			return error;
	}
	nt_open_ops_unlist(&timeline->open_ops, closing->task);
	return 0;
}

int nt_spans_update_ops(struct nt_timeline *timeline, struct nt_cpu_line *line, const struct nt_closing *closing)
{
	bool dead = closing->by && (closing->by->prev_state & (NT_SWITCH_PREEMPTED | TASK_DEAD)) == TASK_DEAD;

	for (uint32_t i = n_ended_spans(line); i < line->segment.n; i++) {
		const struct nt_span *span = &line->segment.spans[i];
		int error;

		if (span->layer != NT_LAYER_OP)
			continue;
		error = remember_op(timeline, line, closing, span);
		if (error)
			return error;
	}
	return forget_ops(timeline, line, closing, dead);
}

void nt_spans_note_unended(const struct nt_timeline *timeline, struct nt_cpu_line *line,
			   const struct nt_closing *closing)
{
	line->n_unended = 0;
	line->unended_task = closing->task;
	line->unended_last = closing->reason == NT_STATE_STOP || closing->at_ns >= timeline->end_ns;
	for (uint32_t i = n_ended_spans(line); i < line->segment.n; i++) {
		const struct nt_span *span = &line->segment.spans[i];

		if (span->layer != NT_LAYER_OP && span->begin_ns < timeline->end_ns)
			line->unended[line->n_unended++] = *span;
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeline.c - see timeline.h: takes the records of each CPU, keeps what is believed of it, and closes
 * its segments. Rows are made in timeline_rows.c, owners are found in segment.c.
 */
#include "report/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/timeline_state.h"
#include "schema/kind.h"

#define TASK_DEAD 0x80u		/* the kernel's: the task will not run again */

/* A state record, of either kind, and what it means. */
struct closing {
	uint64_t end_ns;	/* as recorded */
	uint64_t at_ns;		/* the same, not before the segment's start */
	uint64_t task;		/* was on the CPU until then */
	uint64_t next;		/* is from then on */
	uint8_t n_open;
	uint8_t reason;		/* enum nt_state_reason; 0: a switch */
	const struct nt_switch *by;	/* NULL: not a switch */
	bool covered;		/* the segment is of one known task and has nothing uncovered in it */
};

/* ---- uncovered stretches ---- */

static int push_loss(struct nt_line *line, uint8_t kind, uint64_t count, const char *why)
{
	struct nt_pending_loss *last;

	if (line->n_losses == line->losses_size && line->n_losses < NT_MAX_LOSSES) {
		uint32_t size = line->losses_size ? line->losses_size * 2 : 4;
		struct nt_pending_loss *grown = realloc(line->losses, size * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		line->losses = grown;
		line->losses_size = size;
	}
	if (line->n_losses < NT_MAX_LOSSES) {
		line->losses[line->n_losses++] = (struct nt_pending_loss){count, kind, why};
		return 0;
	}
	last = &line->losses[NT_MAX_LOSSES - 1];
	if (last->kind != kind)
		last->kind = 0;
	last->count += count;
	return 0;
}

static void set_lost_begin(struct nt_timeline *timeline, struct nt_line *line, uint64_t from_ns)
{
	line->lost_ns = from_ns;
	if (!line->counted && from_ns < timeline->end_ns) {
		line->counted = true;
		timeline->n_lost++;
	}
}

static void enter_lost(struct nt_timeline *timeline, struct nt_line *line, uint64_t from_ns)
{
	line->lost = true;
	line->task_lost = false;
	line->too_long = false;
	line->lost_until_ns = 0;
	set_lost_begin(timeline, line, from_ns);
	nt_line_suspend_stay(timeline, line);
}

static int leave_lost(struct nt_timeline *timeline, struct nt_line *line, uint64_t from_ns, uint64_t to_ns)
{
	to_ns = nt_min_ns(to_ns, timeline->end_ns);
	if (line->counted)
		timeline->n_lost--;
	line->counted = line->lost = line->initial = false;
	if (from_ns < to_ns)
		timeline->uncovered_until_ns = nt_max_ns(timeline->uncovered_until_ns, to_ns);
	return nt_line_losses(timeline, line, from_ns, to_ns);
}

/* Everything since the segment's start is not to be relied on. */
static void lose_segment(struct nt_timeline *timeline, struct nt_line *line)
{
	if (line->lost)
		set_lost_begin(timeline, line, line->start_ns);
	else
		enter_lost(timeline, line, line->start_ns);
	line->initial = false;
	line->n_before_loss = 0;
}

/* ---- segments ---- */

/* Gives [start, paint_ns) its owners, and [paint_ns, to_ns) to nobody; rows for the spans that ended. */
static int settle(struct nt_timeline *timeline, struct nt_line *line, uint64_t paint_ns, uint64_t to_ns)
{
	uint64_t task = line->base == NT_BASE_TASK ? line->task : NT_NO_TASK;
	enum nt_owner base = line->base == NT_BASE_OFFLINE ? NT_OWNER_OFFLINE : task ? NT_OWNER_TASK : NT_OWNER_IDLE;
	uint64_t limit_ns = nt_min_ns(paint_ns, timeline->end_ns);
	int error = nt_segment_paint(&line->segment, line->start_ns, limit_ns, base);

	if (error)
		return error;
	timeline->counts.malformed += line->segment.overlaps;
	for (uint32_t i = 0; i < line->segment.n_pieces && !error; i++) {
		const struct nt_piece *piece = &line->segment.pieces[i];

		error = nt_line_slice(timeline, line, piece->until_ns, piece->owner, task);
	}
	if (!error)
		error = nt_line_slice(timeline, line, to_ns, NT_OWNER_UNCOVERED, NT_NO_TASK);
	if (!error)
		error = nt_line_spans(timeline, line, paint_ns);
	return error;
}

static void begin_segment(struct nt_line *line, enum nt_base base, uint64_t task, uint64_t start_ns)
{
	line->base = base;
	line->task = task;
	line->start_ns = start_ns;
	line->segment.n = 0;
}

/* Ends an uncovered stretch and the segment it is in. */
static int settle_lost(struct nt_timeline *timeline, struct nt_line *line, uint64_t to_ns)
{
	uint64_t paint_ns = nt_min_ns(line->lost_ns, to_ns);
	int error = settle(timeline, line, paint_ns, to_ns);

	if (!error)
		error = nt_line_end_stay(timeline, line, paint_ns, NULL);
	return error ? error : leave_lost(timeline, line, paint_ns, to_ns);
}

/* The segment grew beyond what a writer makes: gives its rows and goes on without it. */
static int cut_long_segment(struct nt_timeline *timeline, struct nt_line *line)
{
	int error = 0;

	lose_segment(timeline, line);
	if (!line->too_long)
		error = push_loss(line, 0, 0, "segment too long");
	line->too_long = true;
	if (!error)
		error = nt_line_spans(timeline, line, line->start_ns);
	line->segment.n = 0;
	return error;
}

/* ---- spans ---- */

static int add_span(struct nt_timeline *timeline, struct nt_line *line, struct nt_span *span)
{
	if (line->segment.n >= NT_SEGMENT_MAX) {
		int error = cut_long_segment(timeline, line);

		if (error)
			return error;
	}
	if (line->base == NT_BASE_TASK && !(line->lost && line->task_lost))
		span->marks |= NT_MARK_KNOWN;
	nt_line_claim(timeline, line, span, true);
	return nt_segment_add(&line->segment, span);
}

static uint64_t begin_of(uint64_t end_ns, uint64_t dur_ns)
{
	return dur_ns < end_ns ? end_ns - dur_ns : 0;
}

/* A softirq or interrupt that was open at the last state record has ended. */
static void end_unended(struct nt_line *line, const struct nt_span *span)
{
	for (uint32_t i = 0; i < line->n_unended; i++) {
		const struct nt_span *open = &line->unended[i];

		if (open->layer == span->layer && open->detail == span->detail && open->begin_ns == span->begin_ns &&
		    (span->layer == NT_LAYER_SOFTIRQ || open->number == span->number)) {
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

static int on_softirq(struct nt_timeline *timeline, struct nt_line *line, const struct nt_softirq *softirq)
{
	struct nt_span span = {
		.begin_ns = softirq->end_ns,
		.end_ns = softirq->end_ns,
		.layer = NT_LAYER_SOFTIRQ,
		.detail = softirq->vec,
		.number = known_context(softirq->context),
	};

	if (!(softirq->flags & NT_SPAN_NO_BEGIN)) {
		span.begin_ns = begin_of(softirq->end_ns, softirq->dur_ns);
		span.marks = NT_MARK_TIMED;
	}
	end_unended(line, &span);
	return add_span(timeline, line, &span);
}

static int on_irq(struct nt_timeline *timeline, struct nt_line *line, const struct nt_irq *irq)
{
	struct nt_span span = {
		.begin_ns = irq->end_ns,
		.end_ns = irq->end_ns,
		.layer = NT_LAYER_IRQ,
		.detail = irq->type,
		.number = irq->number,
	};

	if (!(irq->flags & NT_SPAN_NO_BEGIN)) {
		span.begin_ns = begin_of(irq->end_ns, irq->dur_ns);
		span.marks = NT_MARK_TIMED;
	}
	end_unended(line, &span);
	return add_span(timeline, line, &span);
}

static int on_op(struct nt_timeline *timeline, struct nt_line *line, const struct nt_op *op)
{
	struct nt_span span = {
		.begin_ns = op->end_ns,
		.end_ns = op->end_ns,
		.socket = op->socket,
		.result = op->result,
		.layer = NT_LAYER_OP,
		.detail = op->dir,
		.call = op->call,
		.flags = op->flags,
	};

	if (op->dir != NT_SEND && op->dir != NT_RECV) {
		timeline->counts.malformed++;
		return 0;
	}
	if (!(op->flags & NT_OP_NO_BEGIN)) {
		/* Before the recording is before all that began since the first CPU was recorded: outside of it. */
		span.begin_ns = op->flags & NT_OP_BEFORE ? 0 : begin_of(op->end_ns, op->dur_ns);
		if (!(op->flags & NT_OP_IN_SOFTIRQ))
			span.marks |= NT_MARK_TIMED;
		/* Contained in this segment, an operation has no pieces elsewhere. */
		if (nt_max_ns(span.begin_ns, timeline->start_ns) < line->start_ns &&
		    nt_crosses_loss(timeline, span.begin_ns))
			span.marks |= NT_MARK_LOWER;
	}
	if (line->lost)
		span.marks |= NT_MARK_LOWER;
	return add_span(timeline, line, &span);
}

/* ---- what stands open at a state record ---- */

static void drop_opens(struct nt_timeline *timeline, struct nt_line *line)
{
	timeline->counts.malformed += line->n_opens;
	line->n_opens = 0;
}

static void on_open(struct nt_timeline *timeline, struct nt_line *line, const struct nt_open *open)
{
	if (line->n_opens && line->opens[0].end_ns != open->end_ns)
		drop_opens(timeline, line);
	if (line->n_opens == NT_MAX_OPEN)
		timeline->counts.malformed++;
	else
		line->opens[line->n_opens++] = *open;
}

/* Gives the OPEN records that belong to a state record, the last of those read, and counts misfits. */
static const struct nt_open *match_opens(struct nt_timeline *timeline, struct nt_line *line, uint64_t end_ns,
					 uint32_t n_open, uint32_t *n)
{
	uint32_t have, want = n_open < NT_MAX_OPEN ? n_open : NT_MAX_OPEN;

	if (line->n_opens && line->opens[0].end_ns != end_ns)
		drop_opens(timeline, line);
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
		if (open->flags & (NT_OP_NO_BEGIN | NT_OP_IN_SOFTIRQ))
			return false;
		if (open->detail != NT_SEND && open->detail != NT_RECV)
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

/*
 * The program that ends a span reads the clock first; an interrupt before it has noted the end may
 * write a state record that still lists the span. The end as recorded is right.
 */
static bool is_stale(struct nt_timeline *timeline, const struct nt_line *line, const struct nt_span *open,
		     uint32_t n_ended, uint64_t at_ns)
{
	for (uint32_t i = n_ended; i--;) {
		const struct nt_span *span = &line->segment.spans[i];
		const uint8_t needed = NT_MARK_TIMED | NT_MARK_KNOWN;

		if ((span->marks & needed) == needed && is_same_span(span, open) &&
		    (span->end_ns > span->begin_ns || span->flags & NT_OP_BEFORE)) {
			if (at_ns > span->end_ns)
				nt_count_inversion(timeline, at_ns - span->end_ns);
			return true;
		}
	}
	return false;
}

static bool is_listed_already(const struct nt_line *line, const struct nt_span *open, uint32_t n_ended)
{
	for (uint32_t i = n_ended; i < line->segment.n; i++) {
		if (open->layer == NT_LAYER_OP && is_same_span(&line->segment.spans[i], open))
			return true;
	}
	return false;
}

/* Adds the spans open at a state record to the segment it closes. */
static int list_opens(struct nt_timeline *timeline, struct nt_line *line, const struct closing *closing)
{
	uint32_t n, n_ended = line->segment.n;
	const struct nt_open *opens = match_opens(timeline, line, closing->end_ns, closing->n_open, &n);
	bool known = line->base == NT_BASE_TASK && line->task == closing->task;

	for (uint32_t i = 0; i < n; i++) {
		struct nt_span span;
		int error;

		if (!span_of_open(&opens[i], &span) || is_listed_already(line, &span, n_ended)) {
			timeline->counts.malformed++;
			continue;
		}
		if (is_stale(timeline, line, &span, n_ended, closing->at_ns))
			continue;
		if (known)
			span.marks |= NT_MARK_KNOWN;
		error = nt_segment_add(&line->segment, &span);
		if (error)
			return error;
	}
	return 0;
}

/* The spans of the segment that ended; those after them were added by list_opens. */
static uint32_t n_ended_spans(const struct nt_line *line)
{
	uint32_t n = line->segment.n;

	while (n && line->segment.spans[n - 1].marks & NT_MARK_OPEN)
		n--;
	return n;
}

/* ---- operations over segments ---- */

/* Adds what an open operation owned in this segment to what is remembered of it. */
static int remember_op(struct nt_timeline *timeline, const struct nt_line *line, const struct closing *closing,
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
static int forget_ops(struct nt_timeline *timeline, const struct nt_line *line, const struct closing *closing,
		      bool dead)
{
	struct nt_open_op *op;

	if (dead)
		nt_open_ops_unlist(&timeline->open_ops, closing->task);
	while ((op = nt_open_ops_unlisted(&timeline->open_ops, closing->task))) {
		bool contained = closing->covered && nt_max_ns(op->begin_ns, timeline->start_ns) >= line->start_ns;
		int error = nt_line_open_op(timeline, op, dead ? NT_OP_EXIT : NT_OP_ABANDONED, op->last_ns,
					    !contained && nt_crosses_loss(timeline, op->begin_ns));

		nt_open_ops_remove(&timeline->open_ops, op);
		if (error)
			return error;
	}
	nt_open_ops_unlist(&timeline->open_ops, closing->task);
	return 0;
}

/* Brings what is remembered of a task's operations up to date with its state record. */
static int update_ops(struct nt_timeline *timeline, struct nt_line *line, const struct closing *closing)
{
	bool dead = closing->by && (closing->by->prev_state & (NT_SWITCH_PREEMPTED | TASK_DEAD)) == TASK_DEAD;

	for (uint32_t i = n_ended_spans(line); i < line->segment.n; i++) {
		const struct nt_span *span = &line->segment.spans[i];
		int error;

		if (span->layer != NT_LAYER_OP || span->begin_ns >= timeline->end_ns)
			continue;
		error = remember_op(timeline, line, closing, span);
		if (error)
			return error;
	}
	return forget_ops(timeline, line, closing, dead);
}

/* The softirqs and interrupts open at a state record, which may be the session's last. */
static void note_unended(const struct nt_timeline *timeline, struct nt_line *line, const struct closing *closing)
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

/* ---- state records ---- */

/*
 * The task that left is not the one believed. A thread that executed a program has taken over its main
 * thread's identity; anything else is a switch that was lost without a word.
 */
static int meet_stranger(struct nt_timeline *timeline, struct nt_line *line, const struct closing *closing)
{
	if (timeline->is_main_of && timeline->is_main_of(timeline->is_main_arg, closing->task, line->task)) {
		int error = nt_open_ops_move(&timeline->open_ops, line->task, closing->task);

		line->task = closing->task;
		return error;
	}
	timeline->counts.undeclared++;
	lose_segment(timeline, line);
	for (uint32_t i = 0; i < line->segment.n; i++) {
		struct nt_span *span = &line->segment.spans[i];

		if (span->marks & NT_MARK_KNOWN)
			nt_line_claim(timeline, line, span, false);
		span->marks &= (uint8_t)~NT_MARK_KNOWN;
	}
	line->base = NT_BASE_NONE;
	return push_loss(line, 0, 0, "undeclared");
}

/* A CPU's first record is of reason START: its task was there since the session's start. */
static void believe_start(struct nt_timeline *timeline, struct nt_line *line, uint64_t task)
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
	nt_line_begin_stay(timeline, line, line->start_ns, task);
}

/* Ends the segment at hand with what is now known of it. */
static int close_segment(struct nt_timeline *timeline, struct nt_line *line, const struct closing *closing)
{
	int error = list_opens(timeline, line, closing);

	if (error)
		return error;
	if (line->lost)
		return settle_lost(timeline, line, closing->at_ns);
	return settle(timeline, line, closing->at_ns, closing->at_ns);
}

static int on_closing(struct nt_timeline *timeline, struct nt_line *line, struct closing *closing)
{
	int error = 0;

	closing->at_ns = nt_max_ns(closing->end_ns, line->start_ns);
	if (line->initial && closing->reason == NT_STATE_START)
		believe_start(timeline, line, closing->task);
	if (line->lost && closing->end_ns < line->lost_until_ns) {
		line->task_lost = true;
		line->initial = false;
		line->n_opens = 0;
		return 0;
	}
	if (line->base == NT_BASE_TASK && line->task != closing->task && !(line->lost && line->task_lost))
		error = meet_stranger(timeline, line, closing);
	closing->covered = !line->lost && line->base == NT_BASE_TASK;
	if (!error)
		error = close_segment(timeline, line, closing);
	if (!error)
		error = update_ops(timeline, line, closing);
	if (!error && closing->by)
		error = nt_line_end_stay(timeline, line, closing->at_ns, closing->by);
	if (error)
		return error;
	note_unended(timeline, line, closing);
	if (!line->staying)
		nt_line_begin_stay(timeline, line, closing->at_ns, closing->next);
	begin_segment(line, NT_BASE_TASK, closing->next, closing->at_ns);
	line->stopped = closing->reason == NT_STATE_STOP;
	return 0;
}

static int on_state(struct nt_timeline *timeline, struct nt_line *line, const struct nt_state *state)
{
	struct closing closing = {
		.end_ns = state->end_ns,
		.task = state->task,
		.next = state->task,
		.n_open = state->n_open,
		.reason = state->reason ? state->reason : NT_STATE_PERIODIC,
	};

	return on_closing(timeline, line, &closing);
}

static int on_switch(struct nt_timeline *timeline, struct nt_line *line, const struct nt_switch *by)
{
	struct closing closing = {
		.end_ns = by->end_ns,
		.task = by->prev,
		.next = by->next,
		.n_open = by->n_open,
		.by = by,
	};

	return on_closing(timeline, line, &closing);
}

/* ---- gaps ---- */

/*
 * Where a stretch begins, of which records that ended at first_ns or later were lost: at the end of the last record
 * before. Further losses of the same stretch can only move that back, so that each record is looked at once.
 */
static uint64_t last_end_by(struct nt_line *line, uint64_t first_ns)
{
	for (; line->n_before_loss; line->n_before_loss--) {
		uint64_t end_ns = line->segment.spans[line->n_before_loss - 1].end_ns;

		if (end_ns <= first_ns)
			return nt_max_ns(line->start_ns, end_ns);
	}
	return line->start_ns;
}

/* The stretch lasts to the first state record after last_ns. */
static void lose_until(struct nt_line *line, uint64_t last_ns)
{
	line->lost_until_ns = nt_max_ns(line->lost_until_ns, last_ns < UINT64_MAX ? last_ns + 1 : last_ns);
}

/* Whether the task on the CPU may have changed when records of this kind were lost. */
static bool kind_tells_task(uint8_t kind)
{
	return kind != NT_STATE && kind != NT_OPEN && kind != NT_SOFTIRQ && kind != NT_IRQ && kind != NT_OP;
}

static int on_loss(struct nt_timeline *timeline, struct nt_line *line, const struct nt_loss *loss)
{
	uint64_t first_ns = loss->first_ns ? loss->first_ns : UINT64_MAX;
	uint64_t last_ns = loss->last_ns ? loss->last_ns : line->last_end_ns;
	uint64_t begin_ns = loss->begin_ns ? loss->begin_ns : UINT64_MAX;
	uint64_t from_ns;

	if (!line->lost)
		line->n_before_loss = line->segment.n;
	from_ns = nt_min_ns(line->lost ? line->lost_ns : UINT64_MAX, last_end_by(line, first_ns));
	from_ns = nt_max_ns(line->start_ns, nt_min_ns(from_ns, begin_ns));
	if (line->lost)
		set_lost_begin(timeline, line, from_ns);
	else
		enter_lost(timeline, line, from_ns);
	line->initial = false;
	line->task_lost = line->task_lost || kind_tells_task(loss->lost_kind);
	lose_until(line, last_ns);
	return push_loss(line, loss->lost_kind, loss->count, nt_loss_why_name(loss->why));
}

static int gap(struct nt_timeline *timeline, struct nt_line *line, uint64_t resume_ns, uint64_t task, const char *why)
{
	int error = push_loss(line, 0, 0, why);

	if (error)
		return error;
	drop_opens(timeline, line);
	/*
	 * Spans that stood open at the last record may have ended in the gap, and their begins are not
	 * known: all since the last state record is uncertain.
	 */
	lose_segment(timeline, line);
	line->task_lost = true;
	if (task == NT_NO_TASK)
		lose_until(line, resume_ns);
	if (task == NT_NO_TASK || resume_ns < line->lost_until_ns)
		return 0;
	resume_ns = nt_max_ns(resume_ns, line->start_ns);
	error = settle_lost(timeline, line, resume_ns);
	if (error)
		return error;
	nt_line_begin_stay(timeline, line, resume_ns, task);
	begin_segment(line, NT_BASE_TASK, task, resume_ns);
	line->stopped = false;
	return 0;
}

int nt_timeline_gap(struct nt_timeline *timeline, uint32_t cpu, uint64_t resume_ns, uint64_t task, const char *why)
{
	if (cpu >= timeline->n_lines)
		return -EINVAL;
	if (!timeline->lines[cpu].present)
		return 0;
	return gap(timeline, &timeline->lines[cpu], resume_ns, task, why);
}

static int go_offline(struct nt_timeline *timeline, struct nt_line *line, uint64_t end_ns)
{
	struct closing closing = {
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
	drop_opens(timeline, line);
	error = close_segment(timeline, line, &closing);
	if (!error && known)
		error = update_ops(timeline, line, &closing);
	if (!error)
		error = nt_line_end_stay(timeline, line, closing.at_ns, NULL);
	if (error)
		return error;
	line->n_unended = 0;
	begin_segment(line, NT_BASE_OFFLINE, NT_NO_TASK, closing.at_ns);
	return 0;
}

/* Who is on a CPU that came back is known from its first state record on. */
static int come_online(struct nt_timeline *timeline, struct nt_line *line, uint64_t end_ns)
{
	uint64_t at_ns = nt_max_ns(end_ns, line->start_ns);
	int error;

	if (line->lost || line->base != NT_BASE_OFFLINE)
		return 0;
	error = settle(timeline, line, at_ns, at_ns);
	if (error)
		return error;
	begin_segment(line, NT_BASE_NONE, NT_NO_TASK, at_ns);
	enter_lost(timeline, line, at_ns);
	return push_loss(line, 0, 0, "came online");
}

/* ---- the interface ---- */

static bool line_init(struct nt_timeline *timeline, struct nt_line *line, bool online)
{
	line->present = true;
	line->start_ns = line->slice.ts_ns = timeline->start_ns;
	line->slice.cpu = line->number;
	line->base = online ? NT_BASE_NONE : NT_BASE_OFFLINE;
	if (!online)
		return true;
	enter_lost(timeline, line, line->start_ns);
	line->initial = true;
	return push_loss(line, 0, 0, "no state record") == 0;
}

struct nt_timeline *nt_timeline_new(const struct nt_timeline_config *config, const struct nt_timeline_sink *sink)
{
	struct nt_timeline *timeline = calloc(1, sizeof(*timeline));

	if (!timeline)
		return NULL;
	timeline->start_ns = config->start_ns;
	timeline->end_ns = nt_max_ns(config->start_ns, config->end_ns);
	timeline->is_main_of = config->is_main_of;
	timeline->is_main_arg = config->arg;
	timeline->sink = *sink;
	timeline->n_running = 1;
	while (timeline->n_running < config->n_cpus && timeline->n_running < 1u << 30)
		timeline->n_running *= 2;
	timeline->running = calloc(timeline->n_running, sizeof(*timeline->running));
	timeline->lines = calloc(config->n_cpus ? config->n_cpus : 1, sizeof(*timeline->lines));
	if (!timeline->running || !timeline->lines) {
		nt_timeline_free(timeline);
		return NULL;
	}
	timeline->n_lines = config->n_cpus;
	for (uint32_t i = 0; i < config->n_cpus; i++) {
		timeline->lines[i].number = i;
		if (config->present[i] && !line_init(timeline, &timeline->lines[i], config->online[i])) {
			nt_timeline_free(timeline);
			return NULL;
		}
	}
	return timeline;
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

/* Times are sorted within a CPU before they come here: what is still inverted is counted. */
static void check_order(struct nt_timeline *timeline, struct nt_line *line, uint64_t end_ns)
{
	if (end_ns < line->last_end_ns)
		nt_count_inversion(timeline, line->last_end_ns - end_ns);
	else
		line->last_end_ns = end_ns;
}

int nt_timeline_add(struct nt_timeline *timeline, uint32_t cpu, const union nt_any *record)
{
	struct nt_line *line;

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
		on_open(timeline, line, &record->as_open);
		return 0;
	case NT_SOFTIRQ:
		return on_softirq(timeline, line, &record->as_softirq);
	case NT_IRQ:
		return on_irq(timeline, line, &record->as_irq);
	case NT_OP:
		return on_op(timeline, line, &record->as_op);
	case NT_LOSS:
		return on_loss(timeline, line, &record->as_loss);
	case NT_HOTPLUG:
		if (record->as_hotplug.online)
			return come_online(timeline, line, record->as_hotplug.end_ns);
		return go_offline(timeline, line, record->as_hotplug.end_ns);
	default:
		return -EINVAL;
	}
}

static int finish_line(struct nt_timeline *timeline, struct nt_line *line)
{
	uint64_t end_ns = nt_max_ns(timeline->end_ns, line->start_ns);
	int error = 0;

	drop_opens(timeline, line);
	if (!line->lost && line->base == NT_BASE_TASK && line->start_ns < timeline->end_ns && !line->stopped)
		error = push_loss(line, 0, 0, "no last state record");
	/* What would have told of the segment's spans never came: nothing of it is certain. */
	if (line->lost || line->n_losses)
		lose_segment(timeline, line);
	if (!error && line->lost)
		error = settle_lost(timeline, line, end_ns);
	else if (!error)
		error = settle(timeline, line, end_ns, end_ns);
	if (!error)
		error = nt_line_end_stay(timeline, line, end_ns, NULL);
	if (!error)
		error = nt_line_last_slice(timeline, line);
	return error ? error : nt_line_unended(timeline, line);
}

int nt_timeline_finish(struct nt_timeline *timeline)
{
	struct nt_open_op *op;
	uint32_t place = 0;

	for (uint32_t i = 0; i < timeline->n_lines; i++) {
		int error = timeline->lines[i].present ? finish_line(timeline, &timeline->lines[i]) : 0;

		if (error)
			return error;
	}
	while ((op = nt_open_ops_next(&timeline->open_ops, &place))) {
		int error = nt_line_open_op(timeline, op, NT_OP_OPEN, timeline->end_ns,
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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeline_model.c - see timeline_model.h.
 *
 * First each CPU's records are read into chapters: a chapter is what lies between two state records that
 * count, with everything that was recorded in it. Then the chapters of all CPUs are told in the order in
 * which they closed.
 */
#include "tests/support/timeline_model.h"

#include <stdlib.h>
#include <string.h>

#include "schema/kind.h"

#define NEVER SIZE_MAX

enum model_base { NOBODY, A_TASK, OFFLINE };

struct model_span {
	uint64_t begin, end;
	size_t index;		/* of its record in the trace */
	int what;		/* enum nt_open_what */
	uint8_t detail, call, flags;
	uint32_t number;
	uint64_t socket;
	int32_t result;
	bool timed, known, open, in_lost;
	bool known_at_first;	/* when its record came */
	uint64_t own;		/* ns counted */
	bool in_op;
};

struct model_loss {
	uint8_t kind;
	uint64_t count;
	const char *why;
};

struct chapter {
	uint32_t cpu;
	enum model_base base;	/* who has [from, paint) where no span has it */
	uint64_t task, first_task;	/* first_task: as believed at its begin */
	uint64_t from, paint, to;	/* [paint, to) is uncovered */
	size_t closed_at;		/* place in the trace */
	bool manned;			/* a task was believed on the CPU when it began, */
	size_t manned_at;		/* as was known from here on */
	bool lost;
	size_t lost_at;		/* when it was first known that some of the session is uncovered */
	size_t suspended_at;	/* when it was first known to be lost at all */
	struct model_span *spans;
	size_t n_spans;
	struct model_loss *losses;
	size_t n_losses;
	uint64_t moved_from;	/* exec: the task that became `task` */
	bool exec;
	/* How it closed. */
	bool has_state;		/* by a state record of this task: */
	uint64_t state_task;
	const struct nt_switch *by;
	bool stop, goes_offline, finish;
};

struct model_op {
	uint64_t task, begin, socket, cpu_ns, last;
	uint32_t cpu;
	uint8_t dir, call, flags;
	bool listed, gone;
	bool claimed;		/* the record of its end has come, but its chapter has not closed */
};

struct stay {
	uint32_t cpu;
	uint64_t task, begin, end;
	size_t begun_at, ended_at;	/* places in the trace */
	bool cut;			/* its end lay in the past when it was known */
	const struct nt_switch *by;
};

struct model {
	const struct nt_timeline_config *config;
	const struct trace_item *items;
	size_t n;
	uint64_t s0, s1;
	const struct nt_timeline_sink *sink;
	struct nt_timeline_counts *counts;
	struct chapter *chapters;
	size_t n_chapters;
	struct model_op *ops;
	size_t n_ops;
	struct stay *stays;
	size_t n_stays;
	uint8_t *owner;		/* [cpu][ns] */
	uint64_t *owner_task;
};

/* Adds one zeroed element to an array and gives it. */
#define APPEND(array, n) (array = grow_by_one(array, n, sizeof(*(array))), &(array)[(n)++])

static void *grow_by_one(void *array, size_t n, size_t size)
{
	/* Grows when n is a power of two, or 0. */
	if ((n & (n - 1)) == 0) {
		array = realloc(array, (n ? 2 * n : 1) * size);
		if (!array)
			abort();
	}
	memset((char *)array + n * size, 0, size);
	return array;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t clip(const struct model *m, uint64_t ns)
{
	return greater(m->s0, lesser(ns, m->s1));
}

static void inversion(struct model *m, uint64_t by)
{
	if (by > 1000) {
		m->counts->malformed++;
	} else {
		m->counts->clamped++;
		m->counts->clamped_max_ns = greater(m->counts->clamped_max_ns, by);
	}
}

/* ---- reading a CPU's records into chapters ---- */

struct reader {
	struct model *m;
	uint32_t cpu;
	size_t index;			/* of the item at hand */
	const struct nt_open *opens[NT_MAX_OPEN];
	size_t n_opens;
	uint64_t last_end;
	/* The chapter being read; it moves into the model when it closes. */
	struct chapter chapter;
	bool first, task_lost;
	uint64_t lost_from, lost_until;
	uint64_t first_lost;	/* least end of a lost record */
	size_t n_before;	/* spans before the loss */
};

static void open_chapter(struct reader *r, enum model_base base, uint64_t task, uint64_t from)
{
	r->chapter = (struct chapter){.cpu = r->cpu,
				      .base = base,
				      .task = task,
				      .first_task = task,
				      .from = from,
				      .manned = base == A_TASK,
				      .manned_at = r->index,
				      .lost_at = NEVER,
				      .suspended_at = NEVER};
	r->first = r->task_lost = false;
	r->lost_from = r->lost_until = 0;
	r->first_lost = UINT64_MAX;
	r->n_before = 0;
}

static void add_loss(struct reader *r, uint8_t kind, uint64_t count, const char *why)
{
	*APPEND(r->chapter.losses, r->chapter.n_losses) = (struct model_loss){kind, count, why};
}

/* From here on the chapter has an uncovered stretch, or it begins earlier than was thought. */
static void lose(struct reader *r, uint64_t from)
{
	r->lost_from = from;
	if (!r->chapter.lost)
		r->chapter.suspended_at = r->index;
	r->chapter.lost = true;
	if (from < r->m->s1 && r->chapter.lost_at == NEVER)
		r->chapter.lost_at = r->index;
	r->first = false;
}

static void close_chapter(struct reader *r, uint64_t to)
{
	struct chapter *c = &r->chapter;

	c->to = to;
	c->paint = c->lost ? lesser(r->lost_from, to) : to;
	c->closed_at = r->index;
	*APPEND(r->m->chapters, r->m->n_chapters) = *c;
}

static void orphan_opens(struct reader *r)
{
	r->m->counts->malformed += r->n_opens;
	r->n_opens = 0;
}

static void read_open(struct reader *r, const struct nt_open *open)
{
	if (r->n_opens && r->opens[0]->end_ns != open->end_ns)
		orphan_opens(r);
	if (r->n_opens < NT_MAX_OPEN)
		r->opens[r->n_opens++] = open;
	else
		r->m->counts->malformed++;
}

static struct model_span *add_span(struct reader *r, int what, uint64_t end, uint64_t dur, bool no_begin)
{
	struct model_span *span = APPEND(r->chapter.spans, r->chapter.n_spans);

	span->what = what;
	span->index = r->index;
	span->end = end;
	span->begin = no_begin ? end : dur > end ? 0 : end - dur;
	span->timed = !no_begin;
	span->in_lost = r->chapter.lost;
	span->known = r->chapter.base == A_TASK && !(r->chapter.lost && r->task_lost);
	span->known_at_first = span->known;
	return span;
}

static void read_op(struct reader *r, const struct nt_op *op)
{
	struct model_span *span;

	if (op->dir < NT_SEND || op->dir > NT_RECV) {
		r->m->counts->malformed++;
		return;
	}
	span = add_span(r, NT_OPEN_OP, op->end_ns, op->dur_ns, op->flags & NT_OP_NO_BEGIN);
	if (op->flags & NT_OP_BEFORE && !(op->flags & NT_OP_NO_BEGIN))
		span->begin = 0;
	if (op->flags & NT_OP_IN_SOFTIRQ)
		span->timed = false;
	span->detail = op->dir;
	span->call = op->call;
	span->flags = op->flags;
	span->socket = op->socket;
	span->result = op->result;
}

static void read_softirq(struct reader *r, const struct nt_softirq *s)
{
	struct model_span *span = add_span(r, NT_OPEN_SOFTIRQ, s->end_ns, s->dur_ns, s->flags & NT_SPAN_NO_BEGIN);

	span->detail = s->vec;
	span->number = s->context > NT_SOFTIRQ_BH_ENABLE ? NT_SOFTIRQ_UNKNOWN : s->context;
}

static void read_irq(struct reader *r, const struct nt_irq *irq)
{
	struct model_span *span = add_span(r, NT_OPEN_IRQ, irq->end_ns, irq->dur_ns, irq->flags & NT_SPAN_NO_BEGIN);

	span->detail = irq->type;
	span->number = irq->number;
}

static bool same_span(const struct model_span *a, const struct model_span *b)
{
	bool same = a->what == b->what && a->detail == b->detail && a->begin == b->begin;

	if (a->what == NT_OPEN_OP)
		same = same && (a->flags & NT_OP_BEFORE) == (b->flags & NT_OP_BEFORE);
	if (a->what == NT_OPEN_IRQ)
		same = same && a->number == b->number;
	return same;
}

/* An OPEN record as a span; false: it makes no sense. */
static bool open_span(const struct nt_open *open, struct model_span *span)
{
	*span = (struct model_span){.begin = open->begin_ns,
				    .end = UINT64_MAX,
				    .what = open->what,
				    .detail = open->detail,
				    .number = open->number,
				    .open = true,
				    .timed = true};
	if (open->what < NT_OPEN_OP || open->what > NT_OPEN_IRQ)
		return false;
	if (open->what == NT_OPEN_SOFTIRQ && open->number > NT_SOFTIRQ_BH_ENABLE)
		span->number = NT_SOFTIRQ_UNKNOWN;
	if (open->what == NT_OPEN_OP) {
		span->flags = open->flags;
		span->call = open->number >= NT_CALL_MAX ? 0 : (uint8_t)open->number;
		span->socket = open->socket;
		if (open->flags & NT_OP_BEFORE)
			span->begin = 0;
		if (open->flags & (NT_OP_NO_BEGIN | NT_OP_IN_SOFTIRQ) || open->detail < NT_SEND ||
		    open->detail > NT_RECV)
			return false;
	}
	return span->begin <= open->end_ns;
}

static void read_one_open(struct reader *r, const struct nt_open *open, size_t n_ended, uint64_t at, bool known)
{
	struct chapter *c = &r->chapter;
	struct model_span span;
	bool good = open_span(open, &span);

	for (size_t i = n_ended; good && i < c->n_spans; i++) {
		if (span.what == NT_OPEN_OP && same_span(&c->spans[i], &span))
			good = false;
	}
	if (!good) {
		r->m->counts->malformed++;
		return;
	}
	/* Listed as open although it has ended: the record of the end is right. The last such. */
	for (size_t i = n_ended; i-- > 0;) {
		const struct model_span *ended = &c->spans[i];

		if (ended->known && ended->timed && same_span(ended, &span) &&
		    (ended->end > ended->begin || ended->flags & NT_OP_BEFORE)) {
			if (at > ended->end)
				inversion(r->m, at - ended->end);
			return;
		}
	}
	span.known = known;
	*APPEND(c->spans, c->n_spans) = span;
}

static void read_opens(struct reader *r, uint64_t end, uint64_t at, size_t n_open, uint64_t task)
{
	size_t n_ended = r->chapter.n_spans, have, take, skip;

	if (r->n_opens && r->opens[0]->end_ns != end)
		orphan_opens(r);
	have = r->n_opens;
	r->m->counts->malformed += have > n_open ? have - n_open : n_open - have;
	take = have < n_open ? have : n_open;
	skip = have - take;
	for (size_t i = skip; i < have; i++)
		read_one_open(r, r->opens[i], n_ended, at, r->chapter.base == A_TASK && r->chapter.task == task);
	r->n_opens = 0;
}

/* The task is not the one believed. */
static void read_stranger(struct reader *r, uint64_t task)
{
	const struct nt_timeline_config *config = r->m->config;

	if (config->is_main_of && config->is_main_of(config->arg, task, r->chapter.task)) {
		r->chapter.exec = true;
		r->chapter.moved_from = r->chapter.task;
		r->chapter.task = task;
		return;
	}
	r->m->counts->undeclared++;
	lose(r, r->chapter.from);
	r->chapter.base = NOBODY;
	for (size_t i = 0; i < r->chapter.n_spans; i++)
		r->chapter.spans[i].known = false;
	add_loss(r, 0, 0, "undeclared");
}

static void read_closing(struct reader *r, uint64_t end, uint64_t task, uint64_t next, uint8_t n_open, uint8_t reason,
			 const struct nt_switch *by)
{
	struct chapter *c = &r->chapter;
	uint64_t at = greater(end, c->from);

	if (r->first && reason == NT_STATE_START) {
		c->lost = false;
		c->base = A_TASK;
		c->task = c->first_task = task;
		c->suspended_at = NEVER;
		c->manned = true;
		c->manned_at = r->index;
		c->n_losses = 0;
		for (size_t i = 0; i < c->n_spans; i++)
			c->spans[i].known = true;
	}
	if (c->lost && end < r->lost_until) {
		r->task_lost = true;
		r->first = false;
		r->n_opens = 0;
		return;
	}
	if (c->base == A_TASK && c->task != task && !(c->lost && r->task_lost))
		read_stranger(r, task);
	read_opens(r, end, at, n_open, task);
	c->has_state = true;
	c->state_task = task;
	c->by = by;
	c->stop = reason == NT_STATE_STOP;
	close_chapter(r, at);
	open_chapter(r, A_TASK, next, at);
}

static void read_loss(struct reader *r, const struct nt_loss *loss)
{
	struct chapter *c = &r->chapter;
	uint64_t last = loss->last_ns ? loss->last_ns : r->last_end;
	uint64_t from = c->from;

	/* The last record before the stretch that ended by the time of the first that was lost, of all losses so far. */
	if (!c->lost) {
		r->n_before = c->n_spans;
		r->lost_from = UINT64_MAX;
	}
	if (loss->first_ns && loss->first_ns < r->first_lost)
		r->first_lost = loss->first_ns;
	for (size_t i = 0; i < r->n_before; i++) {
		if (c->spans[i].end <= r->first_lost)
			from = greater(c->from, c->spans[i].end);
	}
	from = lesser(from, r->lost_from);
	if (loss->begin_ns)
		from = lesser(from, loss->begin_ns);
	lose(r, greater(from, c->from));
	switch (loss->lost_kind) {
	case NT_STATE:
	case NT_OPEN:
	case NT_SOFTIRQ:
	case NT_IRQ:
	case NT_OP:
		break;
	default:
		r->task_lost = true;
	}
	r->lost_until = greater(r->lost_until, last == UINT64_MAX ? last : last + 1);
	add_loss(r, loss->lost_kind, loss->count, nt_loss_why_name(loss->why));
}

static void read_gap(struct reader *r, const struct trace_item *gap)
{
	uint64_t resume = greater(gap->resume_ns, r->chapter.from);

	add_loss(r, 0, 0, gap->why);
	orphan_opens(r);
	lose(r, r->chapter.from);
	r->task_lost = true;
	if (gap->task == NT_NO_TASK) {
		r->lost_until = greater(r->lost_until, gap->resume_ns == UINT64_MAX ? UINT64_MAX : gap->resume_ns + 1);
	} else if (gap->resume_ns >= r->lost_until) {
		close_chapter(r, resume);
		open_chapter(r, A_TASK, gap->task, resume);
	}
}

static void read_hotplug(struct reader *r, const struct nt_hotplug *hotplug)
{
	struct chapter *c = &r->chapter;
	uint64_t at = greater(hotplug->end_ns, c->from);

	if (hotplug->online) {
		if (!c->lost && c->base == OFFLINE) {
			close_chapter(r, at);
			open_chapter(r, NOBODY, NT_NO_TASK, at);
			lose(r, at);
			add_loss(r, 0, 0, "came online");
		}
		return;
	}
	if (c->lost && hotplug->end_ns < r->lost_until) {
		r->task_lost = true;
		r->first = false;
		return;
	}
	if (!c->lost && c->base == OFFLINE)
		return;
	orphan_opens(r);
	c->goes_offline = true;
	if (!c->lost) {
		c->has_state = true;
		c->state_task = c->task;
	}
	close_chapter(r, at);
	open_chapter(r, OFFLINE, NT_NO_TASK, at);
}

static void read_record(struct reader *r, const union nt_any *any)
{
	const struct nt_state *state = &any->as_state;

	if (any->record.kind != NT_OPEN && any->record.kind != NT_LOSS) {
		if (any->record.end_ns < r->last_end)
			inversion(r->m, r->last_end - any->record.end_ns);
		r->last_end = greater(r->last_end, any->record.end_ns);
	}
	switch (any->record.kind) {
	case NT_STATE:
		read_closing(r, state->end_ns, state->task, state->task, state->n_open,
			     state->reason ? state->reason : NT_STATE_PERIODIC, NULL);
		break;
	case NT_SWITCH:
		read_closing(r, any->as_switch.end_ns, any->as_switch.prev, any->as_switch.next,
			     any->as_switch.n_open, 0, &any->as_switch);
		break;
	case NT_OPEN:
		read_open(r, &any->as_open);
		break;
	case NT_SOFTIRQ:
		read_softirq(r, &any->as_softirq);
		break;
	case NT_IRQ:
		read_irq(r, &any->as_irq);
		break;
	case NT_OP:
		read_op(r, &any->as_op);
		break;
	case NT_LOSS:
		read_loss(r, &any->as_loss);
		break;
	case NT_HOTPLUG:
		read_hotplug(r, &any->as_hotplug);
		break;
	}
}

static void read_cpu(struct model *m, uint32_t cpu)
{
	struct reader r = {.m = m, .cpu = cpu};
	bool stopped = false;

	if (m->config->online[cpu]) {
		open_chapter(&r, NOBODY, NT_NO_TASK, m->s0);
		lose(&r, m->s0);
		add_loss(&r, 0, 0, "no state record");
		r.first = true;
	} else {
		open_chapter(&r, OFFLINE, NT_NO_TASK, m->s0);
	}
	for (r.index = 0; r.index < m->n; r.index++) {
		const struct trace_item *item = &m->items[r.index];

		if (item->cpu != cpu)
			continue;
		if (item->is_gap)
			read_gap(&r, item);
		else
			read_record(&r, &item->record);
	}
	r.index = m->n + cpu;
	orphan_opens(&r);
	for (size_t i = 0; i < m->n_chapters; i++) {
		if (m->chapters[i].cpu == cpu)
			stopped = m->chapters[i].stop;
	}
	if (!r.chapter.lost && r.chapter.base == A_TASK && r.chapter.from < m->s1 && !stopped) {
		lose(&r, r.chapter.from);
		add_loss(&r, 0, 0, "no last state record");
	}
	if (r.chapter.lost)
		lose(&r, r.chapter.from);
	r.chapter.finish = true;
	close_chapter(&r, greater(m->s1, r.chapter.from));
}

/* ---- telling the chapters ---- */

/* Whether uncovered time was known by then that an operation begun at `begin` may have run in. */
static bool crosses(const struct model *m, size_t index, uint64_t begin)
{
	for (size_t i = 0; i < m->n_chapters; i++) {
		const struct chapter *c = &m->chapters[i];

		if (c->lost_at <= index && index < c->closed_at)
			return true;
		if (c->lost && c->closed_at <= index && clip(m, c->paint) < clip(m, c->to) &&
		    clip(m, c->to) > greater(begin, m->s0))
			return true;
	}
	return false;
}

static bool takes_part(const struct model *m, const struct chapter *c, const struct model_span *span)
{
	return span->timed && span->known && span->begin < lesser(c->paint, m->s1);
}

static bool covers(const struct model_span *span, uint64_t ns)
{
	return span->begin <= ns && ns < span->end;
}

/* Whether operation a is inside b, of the same chapter, where both cover a nanosecond. */
static bool is_inside(const struct model_span *a, const struct model_span *b)
{
	if (a->begin != b->begin)
		return a->begin > b->begin;
	if (a->open != b->open)
		return b->open;
	if (a->end != b->end)
		return a->end < b->end;
	/* They stand in one array, in the order in which they were recorded. */
	return a->open ? a > b : a < b;
}

/* The operation that has this nanosecond, leaving out those that are inside `limit` or it itself. */
static struct model_span *op_at(const struct model *m, const struct chapter *c, uint64_t ns,
				const struct model_span *limit)
{
	struct model_span *found = NULL;

	for (size_t i = 0; i < c->n_spans; i++) {
		struct model_span *span = &c->spans[i];

		if (span->what != NT_OPEN_OP || !takes_part(m, c, span) || !covers(span, ns))
			continue;
		if (limit && (span == limit || is_inside(span, limit)))
			continue;
		if (!found || is_inside(span, found))
			found = span;
	}
	return found;
}

static enum nt_owner owner_at(const struct model *m, const struct chapter *c, uint64_t ns)
{
	bool irq = false, rx = false, tx = false, other = false;
	struct model_span *op;

	if (c->base == OFFLINE)
		return NT_OWNER_OFFLINE;
	for (size_t i = 0; i < c->n_spans; i++) {
		const struct model_span *span = &c->spans[i];

		if (span->what == NT_OPEN_OP || !takes_part(m, c, span) || !covers(span, ns))
			continue;
		if (span->what == NT_OPEN_IRQ)
			irq = true;
		else if (span->detail == NT_VEC_NET_RX)
			rx = true;
		else if (span->detail == NT_VEC_NET_TX)
			tx = true;
		else
			other = true;
	}
	if (irq)
		return NT_OWNER_HARDIRQ;
	if (rx)
		return NT_OWNER_NET_RX;
	if (tx)
		return NT_OWNER_NET_TX;
	if (other)
		return NT_OWNER_SOFTIRQ;
	op = op_at(m, c, ns, NULL);
	if (op) {
		op->own++;
		return op->detail == NT_SEND ? NT_OWNER_SEND : NT_OWNER_RECV;
	}
	return c->task ? NT_OWNER_TASK : NT_OWNER_IDLE;
}

static void paint_chapter(struct model *m, struct chapter *c)
{
	uint64_t length = m->s1 - m->s0;

	for (uint64_t ns = c->from; ns < lesser(c->to, m->s1); ns++) {
		bool covered = ns < c->paint;
		size_t at = c->cpu * length + (ns - m->s0);

		m->owner[at] = covered ? owner_at(m, c, ns) : NT_OWNER_UNCOVERED;
		m->owner_task[at] = covered && c->base == A_TASK ? c->task : NT_NO_TASK;
	}
	for (size_t i = 0; i < c->n_spans; i++) {
		struct model_span *span = &c->spans[i];
		const struct model_span *outer;

		if (!takes_part(m, c, span))
			continue;
		if (span->what == NT_OPEN_SOFTIRQ)
			span->in_op = op_at(m, c, span->begin, NULL) != NULL;
		if (span->what != NT_OPEN_OP)
			continue;
		outer = op_at(m, c, span->begin, span);
		if (outer && outer->end < span->end)
			m->counts->malformed++;
	}
}

static bool outside(const struct model *m, uint64_t begin, uint64_t end)
{
	return end <= m->s0 || begin >= m->s1;
}

static void tell_interruption(struct model *m, const struct chapter *c, const struct model_span *span, uint64_t task)
{
	struct nt_span_row row = {.ts_ns = clip(m, span->begin),
				  .dur_ns = clip(m, span->end) - clip(m, span->begin),
				  .cpu = c->cpu,
				  .task = task,
				  .detail = span->detail,
				  .number = span->in_op ? NT_CONTEXT_OP : span->number,
				  .still_open = span->open};

	if (span->what == NT_OPEN_SOFTIRQ)
		m->sink->softirq(m->sink->arg, &row);
	else
		m->sink->irq(m->sink->arg, &row);
}

static struct model_op *find_op(struct model *m, uint64_t task, const struct model_span *span)
{
	for (size_t i = 0; i < m->n_ops; i++) {
		struct model_op *op = &m->ops[i];
		bool before = span->flags & NT_OP_BEFORE;

		if (!op->gone && op->task == task && op->dir == span->detail &&
		    !!(op->flags & NT_OP_BEFORE) == before && (before || op->begin == span->begin))
			return op;
	}
	return NULL;
}

/* For a record whose task is not known: by its begin and socket (as far as that was known), of whatever task. */
static struct model_op *find_op_of_any(struct model *m, const struct model_span *span)
{
	struct model_op *found = NULL;

	for (size_t i = 0; i < m->n_ops; i++) {
		struct model_op *op = &m->ops[i];

		if (op->gone || (op->flags | span->flags) & NT_OP_BEFORE || op->dir != span->detail ||
		    op->begin != span->begin || (op->socket && op->socket != span->socket))
			continue;
		if (!found || op->task < found->task)
			found = op;
	}
	return found;
}

static void tell_ended_op(struct model *m, const struct chapter *c, const struct model_span *span)
{
	struct model_op *part = NULL;
	uint64_t end = span->end;
	struct nt_op_row row = {.cpu_ns = span->own,
				.timed = !(span->flags & NT_OP_NO_BEGIN),
				.before = span->flags & NT_OP_BEFORE || span->begin < m->s0,
				.lower_bound = span->in_lost || !span->known || lesser(end, m->s1) > lesser(c->paint, m->s1),
				.cpu = c->cpu,
				.task = NT_NO_TASK,
				.dir = span->detail,
				.call = span->call,
				.flags = span->flags,
				.socket = span->socket,
				.end = NT_OP_DONE,
				.result = span->result};

	if (row.timed && greater(span->begin, m->s0) < c->from && crosses(m, span->index, span->begin))
		row.lower_bound = true;
	if (span->known && !(span->flags & NT_OP_IN_SOFTIRQ))
		row.task = c->task;
	if (span->timed && !span->known)
		part = find_op_of_any(m, span);
	else if (span->timed && span->begin <= c->from)
		part = find_op(m, c->task, span);
	if (part) {
		part->gone = true;
		row.task = part->task;
		row.cpu_ns += part->cpu_ns;
		end = greater(end, part->last);
	}
	if (outside(m, span->begin, end)) {
		m->counts->outside++;
		return;
	}
	row.ts_ns = clip(m, span->begin);
	row.dur_ns = clip(m, end) - row.ts_ns;
	m->sink->op(m->sink->arg, &row);
}

static void tell_unended_op(struct model *m, struct model_op *op, enum nt_op_end end, uint64_t until, bool lower)
{
	struct nt_op_row row = {.ts_ns = clip(m, op->begin),
				.dur_ns = clip(m, until) - clip(m, op->begin),
				.cpu_ns = op->cpu_ns,
				.timed = true,
				.before = op->flags & NT_OP_BEFORE || op->begin < m->s0,
				.lower_bound = lower,
				.cpu = op->cpu,
				.task = op->task,
				.dir = op->dir,
				.call = op->call,
				.flags = op->flags,
				.socket = op->socket,
				.end = end};

	op->gone = true;
	if (!outside(m, op->begin, until))
		m->sink->op(m->sink->arg, &row);
}

static void tell_spans(struct model *m, const struct chapter *c)
{
	for (size_t i = 0; i < c->n_spans; i++) {
		const struct model_span *span = &c->spans[i];

		if (span->open)
			continue;
		if (span->what == NT_OPEN_OP)
			tell_ended_op(m, c, span);
		else if (outside(m, span->begin, span->end))
			m->counts->outside++;
		else
			tell_interruption(m, c, span, span->known ? c->task : NT_NO_TASK);
	}
}

/* The task took over another's identity, and with it what was open. */
static void move_ops(struct model *m, const struct chapter *c)
{
	for (size_t i = 0; i < m->n_ops; i++) {
		struct model_op *op = &m->ops[i], *there;
		struct model_span like = {.begin = op->begin, .detail = op->dir, .flags = op->flags};

		if (op->gone || op->task != c->moved_from)
			continue;
		there = find_op(m, c->task, &like);
		if (there) {
			there->cpu_ns += op->cpu_ns;
			op->gone = true;
		} else {
			op->task = c->task;
		}
	}
}

static void remember_opens(struct model *m, const struct chapter *c)
{
	for (size_t i = 0; i < c->n_spans; i++) {
		const struct model_span *span = &c->spans[i];
		struct model_op *op;

		if (!span->open || span->what != NT_OPEN_OP || span->begin >= m->s1)
			continue;
		op = find_op(m, c->state_task, span);
		if (!op) {
			op = APPEND(m->ops, m->n_ops);
			op->task = c->state_task;
			op->begin = span->begin;
			op->dir = span->detail;
		}
		op->socket = span->socket;
		op->call = span->call;
		op->flags = span->flags;
		op->cpu_ns += span->own;
		op->last = c->to;
		op->cpu = c->cpu;
		op->listed = true;
	}
}

static void tell_ops_of_state(struct model *m, const struct chapter *c)
{
	bool dead = c->by && c->by->prev_state & 0x80 && !(c->by->prev_state & NT_SWITCH_PREEMPTED);
	bool covered = !c->lost && c->base == A_TASK;

	remember_opens(m, c);
	for (size_t i = 0; i < m->n_ops; i++) {
		struct model_op *op = &m->ops[i];
		bool lower = crosses(m, c->closed_at, op->begin);

		if (covered && greater(op->begin, m->s0) >= c->from)
			lower = false;
		if (!op->gone && !op->claimed && op->task == c->state_task && (dead || !op->listed))
			tell_unended_op(m, op, dead ? NT_OP_EXIT : NT_OP_ABANDONED, op->last, lower);
		op->listed = false;
	}
}

static void tell_losses(struct model *m, const struct chapter *c)
{
	for (size_t i = 0; c->lost && i < c->n_losses; i++) {
		const struct model_loss *loss = &c->losses[i];
		struct nt_loss_row row = {.ts_ns = clip(m, c->paint),
					  .dur_ns = clip(m, c->to) - clip(m, c->paint),
					  .cpu = c->cpu,
					  .kind = loss->kind,
					  .count = loss->count,
					  .why = loss->why};

		if (row.dur_ns || row.kind || row.count)
			m->sink->loss(m->sink->arg, &row);
	}
}

/* An interruption listed as open has a record of its end after all: it is taken from the list. */
static size_t end_listed(const struct model_span **list, size_t n, const struct model_span *ended)
{
	for (size_t i = 0; i < n; i++) {
		if (same_span(list[i], ended)) {
			memmove(list + i, list + i + 1, (n - i - 1) * sizeof(*list));
			return n - 1;
		}
	}
	return n;
}

/* Softirqs and interrupts that the CPU's last state record lists, if nothing says that they ended. */
static void tell_unended_interruptions(struct model *m, uint32_t cpu)
{
	const struct model_span *list[NT_MAX_OPEN];
	const struct chapter *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < m->n_chapters; i++) {
		if (m->chapters[i].cpu == cpu && (m->chapters[i].goes_offline || m->chapters[i].has_state))
			last = &m->chapters[i];
	}
	if (!last || last->goes_offline || !(last->stop || last->to >= m->s1))
		return;
	for (size_t i = 0; i < last->n_spans; i++) {
		const struct model_span *span = &last->spans[i];

		if (span->open && span->what != NT_OPEN_OP && span->begin < m->s1)
			list[n++] = span;
	}
	for (const struct chapter *c = last + 1; c < m->chapters + m->n_chapters; c++) {
		for (size_t i = 0; c->cpu == cpu && i < c->n_spans; i++)
			n = end_listed(list, n, &c->spans[i]);
	}
	for (size_t i = 0; i < n; i++)
		tell_interruption(m, last, list[i], last->state_task);
}

/* ---- slices ---- */

static void tell_cpu_slices(struct model *m, uint32_t cpu)
{
	uint64_t length = m->s1 - m->s0;
	const uint8_t *owner = m->owner + cpu * length;
	const uint64_t *task = m->owner_task + cpu * length;

	for (uint64_t at = 0, end; at < length; at = end) {
		for (end = at + 1; end < length && owner[end] == owner[at] && task[end] == task[at];)
			end++;
		m->sink->cpu_slice(m->sink->arg,
				   &(struct nt_cpu_slice){m->s0 + at, end - at, cpu, (enum nt_owner)owner[at], task[at]});
	}
}

static void find_stays(struct model *m, uint32_t cpu)
{
	struct stay stay = {.cpu = cpu};
	bool staying = false;

	for (size_t i = 0; i < m->n_chapters; i++) {
		const struct chapter *c = &m->chapters[i];
		bool covered = !c->lost && c->base == A_TASK;

		if (c->cpu != cpu)
			continue;
		if (!staying && c->manned) {
			stay = (struct stay){.cpu = cpu, .task = c->first_task, .begin = c->from, .begun_at = c->manned_at};
			staying = true;
		}
		if (!staying || (covered && !c->by && !c->goes_offline && !c->finish))
			continue;
		stay.cut = !covered;
		stay.end = greater(covered ? c->to : c->paint, stay.begin);
		stay.ended_at = covered ? c->closed_at : c->suspended_at;
		stay.by = covered ? c->by : NULL;
		*APPEND(m->stays, m->n_stays) = stay;
		staying = false;
	}
}

static int earlier_end(const void *a, const void *b)
{
	const struct stay *x = a, *y = b;

	return x->ended_at < y->ended_at ? -1 : x->ended_at > y->ended_at;
}

/* A task cannot be on two CPUs: when a stay ends, others of the task that are going on give way. */
static void part_stays(struct model *m, struct stay *ends)
{
	for (size_t i = 0; i < m->n_stays && !ends->cut && ends->task; i++) {
		struct stay *other = &m->stays[i];

		if (other->cpu == ends->cpu || other->task != ends->task || other->begun_at > ends->ended_at ||
		    other->ended_at < ends->ended_at)
			continue;
		if (other->begin < ends->begin) {
			m->counts->malformed += ends->end > ends->begin;
		} else if (other->begin < ends->end) {
			inversion(m, ends->end - other->begin);
			if (ends->end - other->begin <= 1000) {
				other->begin = ends->end;
				other->end = greater(other->end, other->begin);
			}
		}
	}
}

static void tell_stay(struct model *m, const struct stay *stay)
{
	bool by = stay->by && stay->end <= m->s1;
	struct nt_sched_slice row = {.ts_ns = stay->begin,
				     .dur_ns = clip(m, stay->end) - clip(m, stay->begin),
				     .cpu = stay->cpu,
				     .task = stay->task,
				     .ended_by_switch = by,
				     .end_state = by ? stay->by->prev_state : 0,
				     .priority = by ? stay->by->prev_prio : 0};

	if (!outside(m, stay->begin, clip(m, stay->end)) && (row.dur_ns || by))
		m->sink->sched_slice(m->sink->arg, &row);
}

/* ---- all together ---- */

static int earlier_close(const void *a, const void *b)
{
	const struct chapter *x = a, *y = b;

	return x->closed_at < y->closed_at ? -1 : x->closed_at > y->closed_at;
}

/* Notes that the record of an operation has come, so that nobody takes it for left without one. */
static void claim_op(struct model *m, const struct chapter *c, struct model_span *span)
{
	struct model_op *op = NULL;

	if (span->what != NT_OPEN_OP || !span->timed)
		return;
	if (!span->known_at_first)
		op = find_op_of_any(m, span);
	else if (span->begin <= c->from)
		op = find_op(m, c->first_task, span);
	if (op)
		op->claimed = true;
}

/* What was believed when the records came turned out wrong, so they may be of other operations. */
static void unclaim_ops(struct model *m, const struct chapter *c)
{
	for (size_t i = 0; i < c->n_spans; i++) {
		const struct model_span *span = &c->spans[i];
		struct model_op *op = NULL;

		if (span->what == NT_OPEN_OP && span->timed && span->known_at_first && !span->known && span->begin <= c->from)
			op = find_op(m, c->first_task, span);
		if (op)
			op->claimed = false;
	}
}

/* Where each record of a span stands. */
struct place {
	struct chapter *chapter;
	struct model_span *span;
};

static struct place *find_places(struct model *m)
{
	struct place *places = calloc(m->n + 1, sizeof(*places));

	if (!places)
		abort();
	for (size_t i = 0; i < m->n_chapters; i++) {
		for (size_t j = 0; j < m->chapters[i].n_spans; j++) {
			struct model_span *span = &m->chapters[i].spans[j];

			if (!span->open)
				places[span->index] = (struct place){&m->chapters[i], span};
		}
	}
	return places;
}

static void tell_chapters(struct model *m)
{
	struct place *places = find_places(m);
	size_t index = 0;

	for (size_t i = 0; i < m->n_chapters; i++) {
		struct chapter *c = &m->chapters[i];

		for (; index < m->n && index <= c->closed_at; index++) {
			if (places[index].span)
				claim_op(m, places[index].chapter, places[index].span);
		}
		paint_chapter(m, c);
		if (c->exec)
			move_ops(m, c);
		unclaim_ops(m, c);
		tell_spans(m, c);
		if (c->has_state)
			tell_ops_of_state(m, c);
		tell_losses(m, c);
	}
	for (size_t i = 0; i < m->n_ops; i++) {
		if (!m->ops[i].gone)
			tell_unended_op(m, &m->ops[i], NT_OP_OPEN, m->s1,
					crosses(m, m->n + m->config->n_cpus, m->ops[i].begin));
	}
	free(places);
}

static void tell_slices(struct model *m)
{
	for (uint32_t cpu = 0; cpu < m->config->n_cpus; cpu++) {
		if (!m->config->present[cpu])
			continue;
		tell_cpu_slices(m, cpu);
		tell_unended_interruptions(m, cpu);
		find_stays(m, cpu);
	}
	if (m->n_stays)
		qsort(m->stays, m->n_stays, sizeof(*m->stays), earlier_end);
	for (size_t i = 0; i < m->n_stays; i++)
		part_stays(m, &m->stays[i]);
	for (size_t i = 0; i < m->n_stays; i++)
		tell_stay(m, &m->stays[i]);
}

void timeline_model_run(const struct nt_timeline_config *config, const struct trace_item *items, size_t n,
			const struct nt_timeline_sink *sink, struct nt_timeline_counts *counts)
{
	struct model m = {.config = config,
			  .items = items,
			  .n = n,
			  .s0 = config->start_ns,
			  .s1 = greater(config->start_ns, config->end_ns),
			  .sink = sink,
			  .counts = counts};
	uint64_t cells = (m.s1 - m.s0) * config->n_cpus;

	m.owner = calloc(cells + 1, 1);
	m.owner_task = calloc(cells + 1, sizeof(*m.owner_task));
	if (!m.owner || !m.owner_task)
		abort();
	*counts = (struct nt_timeline_counts){0};
	for (size_t i = 0; i < n; i++) {
		counts->records += !items[i].is_gap;
		counts->malformed += !items[i].is_gap && !config->present[items[i].cpu];
	}
	for (uint32_t cpu = 0; cpu < config->n_cpus; cpu++) {
		if (config->present[cpu])
			read_cpu(&m, cpu);
	}
	if (m.n_chapters)
		qsort(m.chapters, m.n_chapters, sizeof(*m.chapters), earlier_close);
	tell_chapters(&m);
	tell_slices(&m);
	for (size_t i = 0; i < m.n_chapters; i++) {
		free(m.chapters[i].spans);
		free(m.chapters[i].losses);
	}
	free(m.chapters);
	free(m.ops);
	free(m.stays);
	free(m.owner);
	free(m.owner_task);
}

int timeline_run(const struct nt_timeline_config *config, const struct trace_item *items, size_t n,
		 const struct nt_timeline_sink *sink, struct nt_timeline_counts *counts)
{
	struct nt_timeline *timeline = nt_timeline_new(config, sink);
	int error = 0;

	if (!timeline)
		abort();
	for (size_t i = 0; i < n && !error; i++) {
		if (items[i].is_gap)
			error = nt_timeline_gap(timeline, items[i].cpu, items[i].resume_ns, items[i].task, items[i].why);
		else
			error = nt_timeline_add(timeline, items[i].cpu, &items[i].record);
	}
	if (!error)
		error = nt_timeline_finish(timeline);
	*counts = *nt_timeline_counts(timeline);
	nt_timeline_free(timeline);
	return error;
}

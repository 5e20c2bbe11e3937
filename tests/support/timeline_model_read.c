// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeline_model_read.c - each CPU's records into chapters: a chapter is what lies between two state records that
 * count, with everything that was recorded in it. See timeline_model.h.
 */
#include <stdlib.h>
#include <string.h>

#include "schema/kind.h"
#include "tests/support/timeline_model_state.h"

void *model_grow(void *array, size_t n, size_t size)
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

void model_inversion(struct model *m, uint64_t by)
{
	if (by > 1000) {
		m->counts->malformed++;
	} else {
		m->counts->clamped++;
		m->counts->clamped_max_ns = greater(m->counts->clamped_max_ns, by);
	}
}

struct reader {
	struct model *m;
	uint32_t cpu;
	size_t index; /* of the item at hand */
	const struct nt_open *opens[NT_MAX_OPEN];
	size_t n_opens;
	uint64_t last_end;
	/* The chapter being read; it moves into the model when it closes. */
	struct chapter chapter;
	bool first, task_lost;
	uint64_t lost_from, lost_until;
	uint64_t first_lost; /* least end of a lost record */
	size_t n_before; /* spans before the loss */
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

static void read_napi(struct reader *r, const struct nt_napi *napi)
{
	struct model_span *span = add_span(r, MODEL_POLL, napi->end_ns, napi->dur_ns, napi->flags & NT_SPAN_NO_BEGIN);

	span->flags = napi->flags;
	span->detail = napi->context;
	span->socket = napi->device;
	span->number = napi->napi_id;
	span->work = napi->work;
	span->budget = napi->budget;
}

bool model_same_span(const struct model_span *a, const struct model_span *b)
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

static void read_one_open(struct reader *r, const struct nt_open *open, size_t n_ended, bool known)
{
	struct chapter *c = &r->chapter;
	struct model_span span;
	bool good = open_span(open, &span);

	for (size_t i = n_ended; good && i < c->n_spans; i++) {
		if (span.what == NT_OPEN_OP && model_same_span(&c->spans[i], &span))
			good = false;
	}
	if (!good) {
		r->m->counts->malformed++;
		return;
	}
	/* Listed as open although it has ended: the record of the end is right. */
	for (size_t i = n_ended; i-- > 0;) {
		const struct model_span *ended = &c->spans[i];

		if (ended->known && ended->timed && model_same_span(ended, &span) &&
		    (ended->end > ended->begin || ended->flags & NT_OP_BEFORE))
			return;
	}
	span.known = known;
	*APPEND(c->spans, c->n_spans) = span;
}

static void read_opens(struct reader *r, uint64_t end, size_t n_open, uint64_t task)
{
	size_t n_ended = r->chapter.n_spans, have, take, skip;

	if (r->n_opens && r->opens[0]->end_ns != end)
		orphan_opens(r);
	have = r->n_opens;
	r->m->counts->malformed += have > n_open ? have - n_open : n_open - have;
	take = have < n_open ? have : n_open;
	skip = have - take;
	for (size_t i = skip; i < have; i++)
		read_one_open(r, r->opens[i], n_ended, r->chapter.base == A_TASK && r->chapter.task == task);
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
	read_opens(r, end, n_open, task);
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

	/* The last record before the stretch that ended by the time of the first that was lost, of all losses so far.
	 */
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
	case NT_NAPI:
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
			model_inversion(r->m, r->last_end - any->record.end_ns);
		r->last_end = greater(r->last_end, any->record.end_ns);
	}
	switch (any->record.kind) {
	case NT_STATE:
		read_closing(r, state->end_ns, state->task, state->task, state->n_open,
			     state->reason ? state->reason : NT_STATE_PERIODIC, NULL);
		break;
	case NT_SWITCH:
		read_closing(r, any->as_switch.end_ns, any->as_switch.prev, any->as_switch.next, any->as_switch.n_open,
			     0, &any->as_switch);
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
	case NT_NAPI:
		read_napi(r, &any->as_napi);
		break;
	case NT_LOSS:
		read_loss(r, &any->as_loss);
		break;
	case NT_HOTPLUG:
		read_hotplug(r, &any->as_hotplug);
		break;
	}
}

void model_read_cpu(struct model *m, uint32_t cpu)
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

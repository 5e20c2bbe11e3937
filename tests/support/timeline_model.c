// SPDX-License-Identifier: GPL-2.0-only
/*
 * timeline_model.c - see timeline_model.h. The chapters of all CPUs, nanosecond by nanosecond, and then in the
 * order in which they closed.
 */
#include <stdlib.h>
#include <string.h>

#include "schema/kind.h"
#include "tests/support/timeline_model_state.h"

static uint64_t clip(const struct model *m, uint64_t ns)
{
	return greater(m->s0, lesser(ns, m->s1));
}

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

/* Whether the stay that the chapter is in ends with it. */
static bool ends_stay(const struct chapter *c)
{
	return c->lost || c->base != A_TASK || c->by || c->goes_offline || c->finish;
}

/* When the task came that is on the CPU in this chapter. */
static uint64_t stay_begin(const struct model *m, const struct chapter *c)
{
	bool staying = false;
	uint64_t begin = 0;

	for (const struct chapter *x = m->chapters; x <= c; x++) {
		if (x->cpu != c->cpu)
			continue;
		if (!staying && x->manned)
			begin = x->from;
		staying = (staying || x->manned) && !ends_stay(x);
	}
	return begin;
}

/*
 * The receive run, or interrupt, of this sort that has the ns: the one that ends last; of these, the outermost.
 * `detail` below 0: any.
 */
static const struct model_span *run_in(const struct model *m, const struct chapter *c, uint64_t ns, uint8_t what,
				       int detail)
{
	const struct model_span *found = NULL;

	for (size_t i = 0; i < c->n_spans; i++) {
		const struct model_span *span = &c->spans[i];

		if (span->what != what || (detail >= 0 && span->detail != detail) || !takes_part(m, c, span) ||
		    !covers(span, ns))
			continue;
		if (!found || span->end > found->end || (span->end == found->end && is_inside(found, span)))
			found = span;
	}
	return found;
}

/* Of a softirq, else of a task's own poll, else the NAPI thread's stay. */
static uint64_t rx_run_at(const struct model *m, const struct chapter *c, uint64_t ns)
{
	const struct model_span *run = run_in(m, c, ns, NT_OPEN_SOFTIRQ, NT_VEC_NET_RX);

	if (!run)
		run = run_in(m, c, ns, MODEL_POLL, NT_NAPI_BUSY);
	return run ? run->begin : stay_begin(m, c);
}

/* A number that tells a part of an owner's time from the part before it. */
static uint64_t run_at(const struct model *m, const struct chapter *c, uint64_t ns, enum nt_owner owner)
{
	const struct model_span *irq = run_in(m, c, ns, NT_OPEN_IRQ, -1);

	if (owner == NT_OWNER_NET_RX)
		return rx_run_at(m, c, ns);
	return owner == NT_OWNER_HARDIRQ ? (uint64_t)irq->detail << 32 | irq->number : 0;
}

static enum nt_owner owner_at(const struct model *m, const struct chapter *c, uint64_t ns)
{
	bool irq = false, rx = false, tx = false, other = false, poll = false;
	struct model_span *op;

	if (c->base == OFFLINE)
		return NT_OWNER_OFFLINE;
	for (size_t i = 0; i < c->n_spans; i++) {
		const struct model_span *span = &c->spans[i];

		if (span->what == NT_OPEN_OP || !takes_part(m, c, span) || !covers(span, ns))
			continue;
		if (span->what == MODEL_POLL)
			poll = poll || span->detail == NT_NAPI_BUSY;
		else if (span->what == NT_OPEN_IRQ)
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
	if (poll)
		return NT_OWNER_NET_RX;
	op = op_at(m, c, ns, NULL);
	if (op) {
		op->own++;
		return op->detail == NT_SEND ? NT_OWNER_SEND : NT_OWNER_RECV;
	}
	if (!c->task)
		return NT_OWNER_IDLE;
	return m->config->is_napi && m->config->is_napi(m->config->arg, c->task) ? NT_OWNER_NET_RX : NT_OWNER_TASK;
}

static void paint_chapter(struct model *m, struct chapter *c)
{
	uint64_t length = m->s1 - m->s0;

	for (uint64_t ns = c->from; ns < lesser(c->to, m->s1); ns++) {
		bool covered = ns < c->paint;
		size_t at = c->cpu * length + (ns - m->s0);

		m->owner[at] = covered ? owner_at(m, c, ns) : NT_OWNER_UNCOVERED;
		m->owner_task[at] = covered && c->base == A_TASK ? c->task : NT_NO_TASK;
		m->run[at] = run_at(m, c, ns, (enum nt_owner)m->owner[at]);
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

static void tell_poll(struct model *m, const struct chapter *c, const struct model_span *span)
{
	struct nt_napi_row row = {.ts_ns = clip(m, span->begin),
				  .dur_ns = clip(m, span->end) - clip(m, span->begin),
				  .timed = !(span->flags & NT_SPAN_NO_BEGIN),
				  .cpu = c->cpu,
				  .task = span->known ? c->task : NT_NO_TASK,
				  .context = span->detail,
				  .device = span->socket,
				  .napi_id = span->number,
				  .work = span->work,
				  .budget = span->budget};

	m->sink->napi(m->sink->arg, &row);
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
				.lower_bound =
					span->in_lost || !span->known || lesser(end, m->s1) > lesser(c->paint, m->s1),
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
		else if (span->what == MODEL_POLL)
			tell_poll(m, c, span);
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
			there->last = greater(there->last, op->last);
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
	/* If not, the main thread whose id was taken over may have been on another CPU meanwhile. */
	bool one_id = c->first_task == c->state_task;
	bool covered = !c->lost && c->base == A_TASK && one_id;

	remember_opens(m, c);
	for (size_t i = 0; i < m->n_ops; i++) {
		struct model_op *op = &m->ops[i];
		bool contained = covered && greater(op->begin, m->s0) >= c->from;

		if (!op->gone && !op->claimed && op->task == c->state_task && (dead || !op->listed))
			tell_unended_op(m, op, dead ? NT_OP_EXIT : NT_OP_ABANDONED, op->last,
					!contained && crosses(m, c->closed_at, op->begin));
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
		if (model_same_span(list[i], ended)) {
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
		m->sink->cpu_slice(m->sink->arg, &(struct nt_cpu_slice){m->s0 + at, end - at, cpu,
									(enum nt_owner)owner[at], task[at]});
	}
}

static void tell_parts(struct model *m, uint32_t cpu)
{
	uint64_t length = m->s1 - m->s0;
	const uint8_t *owner = m->owner + cpu * length;
	const uint64_t *run = m->run + cpu * length;

	for (uint64_t at = 0, end; at < length; at = end) {
		for (end = at + 1; end < length && owner[end] == owner[at] && run[end] == run[at];)
			end++;
		if (owner[at] == NT_OWNER_NET_RX)
			m->sink->rx_part(m->sink->arg, &(struct nt_rx_part){m->s0 + at, end - at, cpu, run[at]});
		if (owner[at] == NT_OWNER_HARDIRQ)
			m->sink->irq_part(m->sink->arg,
					  &(struct nt_irq_part){m->s0 + at, end - at, cpu, (uint32_t)(run[at] >> 32),
								(uint32_t)run[at]});
	}
}

static void find_stays(struct model *m, uint32_t cpu)
{
	struct stay stay = {.cpu = cpu};
	bool staying = false;

	for (size_t i = 0; i < m->n_chapters; i++) {
		const struct chapter *c = &m->chapters[i];
		const bool covered = !c->lost && c->base == A_TASK;

		if (c->cpu != cpu)
			continue;
		if (!staying && c->manned) {
			stay = (struct stay){
				.cpu = cpu, .task = c->first_task, .begin = c->from, .begun_at = c->manned_at};
			staying = true;
		}
		if (!staying || !ends_stay(c))
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
			model_inversion(m, ends->end - other->begin);
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

/* An assumption made when the records came turned out wrong, so they may be of other operations. */
static void unclaim_ops(struct model *m, const struct chapter *c)
{
	for (size_t i = 0; i < c->n_spans; i++) {
		const struct model_span *span = &c->spans[i];
		struct model_op *op = NULL;

		if (span->what == NT_OPEN_OP && span->timed && span->known_at_first && !span->known &&
		    span->begin <= c->from)
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
		tell_parts(m, cpu);
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
	m.run = calloc(cells + 1, sizeof(*m.run));
	if (!m.owner || !m.owner_task || !m.run)
		abort();
	*counts = (struct nt_timeline_counts){0};
	for (size_t i = 0; i < n; i++) {
		counts->records += !items[i].is_gap;
		counts->malformed += !items[i].is_gap && !config->present[items[i].cpu];
	}
	for (uint32_t cpu = 0; cpu < config->n_cpus; cpu++) {
		if (config->present[cpu])
			model_read_cpu(&m, cpu);
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
	free(m.run);
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
			error = nt_timeline_gap(timeline, items[i].cpu, items[i].resume_ns, items[i].task,
						items[i].why);
		else
			error = nt_timeline_add(timeline, items[i].cpu, &items[i].record);
	}
	if (!error)
		error = nt_timeline_finish(timeline);
	*counts = *nt_timeline_counts(timeline);
	nt_timeline_free(timeline);
	return error;
}

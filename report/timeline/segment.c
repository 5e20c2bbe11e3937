// SPDX-License-Identifier: GPL-2.0-only
/*
 * segment.c - see segment.h.
 *
 * One sweep over the spans by begin. Softirqs and interrupts need no more than the latest end of each
 * class so far; operations stand on a stack, the innermost on top. One that ended under another that
 * outlasts it is only found when it comes to the top, so each is pushed and popped once.
 */
#include "report/timeline/segment.h"

#include <errno.h>
#include <stdlib.h>

#include "report/util/array.h"
#include "schema/kind.h"

#define CLASS_POLL (NT_OWNER_SOFTIRQ + 1)
#define N_CLASSES (CLASS_POLL + 1)

#define NEAR 8

/* The owners above the operations are the classes of softirqs and interrupts; below these are the task's own polls. */
_Static_assert(NT_OWNER_HARDIRQ == 0 && NT_OWNER_SOFTIRQ == 3, "classes come first, in the order in which they win");

struct sweep {
	struct nt_segment *segment;
	struct nt_segment_base base;
	uint64_t at_ns;
	uint64_t class_end_ns[N_CLASSES];
	uint64_t classes_end_ns; /* the latest of these */
	/* Of the softirq, and of the poll, that these classes have their ends from. */
	uint64_t rx_begin_ns, poll_begin_ns;
	const struct nt_span *irq; /* that class HARDIRQ has its end from */
	/*
	 * The operations that are open, as indices of spans. They stand in those places of segment->order that the
	 * sweep has passed: each place that it passes holds one more at most.
	 */
	uint32_t *stack, depth;
};

void nt_segment_release(struct nt_segment *segment)
{
	free(segment->spans);
	free(segment->pieces);
	free(segment->order);
	*segment = (struct nt_segment){0};
}

/* By begin; of those that begin together, the outermost first. */
static int compare(const void *one, const void *other, void *arg)
{
	const struct nt_segment *segment = arg;
	const uint32_t i = *(const uint32_t *)one, j = *(const uint32_t *)other;
	const struct nt_span *a = &segment->spans[i], *b = &segment->spans[j];

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns ? -1 : 1;
	if (a->layer != b->layer)
		return a->layer < b->layer ? -1 : 1;
	if ((a->marks ^ b->marks) & NT_MARK_OPEN)
		return a->marks & NT_MARK_OPEN ? -1 : 1;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	if (i == j)
		return 0;
	return (a->marks & NT_MARK_OPEN ? i < j : i > j) ? -1 : 1;
}

/*
 * The spans that take part, by begin and outermost first, into segment->order. Gives how many. They come by end, so
 * each belongs near the last place: most segments are in order after a few steps, and the others are sorted.
 */
static uint32_t put_in_order(struct nt_segment *segment, uint64_t to_ns)
{
	uint32_t n = 0, at;
	bool sorted = true;

	for (uint32_t i = 0; i < segment->n; i++) {
		const struct nt_span *span = &segment->spans[i];
		const uint8_t needed = NT_MARK_TIMED | NT_MARK_KNOWN;

		if ((span->marks & needed) != needed || span->begin_ns >= to_ns)
			continue;
		for (at = n++; at && n - at <= NEAR && compare(&segment->order[at - 1], &i, segment) > 0; at--)
			segment->order[at] = segment->order[at - 1];
		segment->order[at] = i;
		sorted = sorted && (!at || n - at <= NEAR);
	}
	if (!sorted)
		qsort_r(segment->order, n, sizeof(*segment->order), compare, segment);
	return n;
}

/* The innermost operation that has not ended at the time, or NULL. */
static struct nt_span *innermost(struct sweep *sweep, uint64_t at_ns)
{
	const struct nt_segment *segment = sweep->segment;

	while (sweep->depth) {
		struct nt_span *top = &segment->spans[sweep->stack[sweep->depth - 1]];

		if (top->end_ns > at_ns)
			return top;
		sweep->depth--;
	}
	return NULL;
}

/* Adds [sweep->at_ns, until_ns) to the pieces. */
static void put_piece(struct sweep *sweep, uint64_t until_ns, enum nt_owner owner, uint64_t run_ns)
{
	sweep->segment->pieces[sweep->segment->n_pieces++] =
		(struct nt_piece){.until_ns = until_ns, .run_ns = run_ns, .owner = owner};
	sweep->at_ns = until_ns;
}

static void put_class(struct sweep *sweep, uint64_t until_ns, int class)
{
	struct nt_segment *segment = sweep->segment;
	struct nt_piece *piece;

	if (class == CLASS_POLL)
		put_piece(sweep, until_ns, NT_OWNER_NET_RX, sweep->poll_begin_ns);
	else
		put_piece(sweep, until_ns, (enum nt_owner) class, sweep->rx_begin_ns);
	if (class == NT_OWNER_HARDIRQ) {
		piece = &segment->pieces[segment->n_pieces - 1];
		piece->irq_type = sweep->irq->detail;
		piece->irq_number = sweep->irq->number;
	}
}

/* Gives [sweep->at_ns, until_ns), in which no span begins, to its owners. */
static void advance(struct sweep *sweep, uint64_t until_ns)
{
	while (sweep->at_ns < until_ns) {
		uint64_t end_ns = until_ns;
		struct nt_span *op;

		if (sweep->classes_end_ns > sweep->at_ns) {
			int class = 0;

			while (sweep->class_end_ns[class] <= sweep->at_ns)
				class ++;
			if (sweep->class_end_ns[class] < end_ns)
				end_ns = sweep->class_end_ns[class];
			put_class(sweep, end_ns, class);
			continue;
		}
		op = innermost(sweep, sweep->at_ns);
		if (op && op->end_ns < end_ns)
			end_ns = op->end_ns;
		if (op)
			op->own_ns += end_ns - sweep->at_ns;
		put_piece(sweep, end_ns,
			  !op			  ? sweep->base.owner
			  : op->detail == NT_SEND ? NT_OWNER_SEND
						  : NT_OWNER_RECV,
			  sweep->base.run_ns);
	}
}

static void begin_op(struct sweep *sweep, uint32_t index)
{
	struct nt_segment *segment = sweep->segment;
	const struct nt_span *span = &segment->spans[index];
	const struct nt_span *outer = innermost(sweep, span->begin_ns);

	if (outer && outer->end_ns < span->end_ns)
		segment->overlaps++;
	sweep->stack[sweep->depth++] = index;
}

static int class_of(const struct nt_span *span)
{
	if (span->layer == NT_LAYER_IRQ)
		return NT_OWNER_HARDIRQ;
	if (span->layer == NT_LAYER_POLL)
		return CLASS_POLL;
	if (span->detail == NT_VEC_NET_RX)
		return NT_OWNER_NET_RX;
	return span->detail == NT_VEC_NET_TX ? NT_OWNER_NET_TX : NT_OWNER_SOFTIRQ;
}

static void begin_interruption(struct sweep *sweep, struct nt_span *span)
{
	int class = class_of(span);

	if (span->end_ns > sweep->class_end_ns[class]) {
		sweep->class_end_ns[class] = span->end_ns;
		if (class == NT_OWNER_NET_RX)
			sweep->rx_begin_ns = span->begin_ns;
		else if (class == CLASS_POLL)
			sweep->poll_begin_ns = span->begin_ns;
		else if (class == NT_OWNER_HARDIRQ)
			sweep->irq = span;
	}
	if (span->end_ns > sweep->classes_end_ns)
		sweep->classes_end_ns = span->end_ns;
	if (span->layer == NT_LAYER_SOFTIRQ && innermost(sweep, span->begin_ns))
		span->marks |= NT_MARK_IN_OP;
}

int nt_segment_paint(struct nt_segment *segment, uint64_t from_ns, uint64_t to_ns, struct nt_segment_base base)
{
	struct sweep sweep = {.segment = segment, .base = base, .at_ns = from_ns};
	uint32_t n;

	/* Each span begins one piece and ends one; one more is the last. */
	if (NT_ROOM(segment->order, segment->order_size, segment->n) ||
	    NT_ROOM(segment->pieces, segment->pieces_size, 2 * (size_t)segment->n + 1))
		return -ENOMEM;
	n = put_in_order(segment, to_ns);
	sweep.stack = segment->order;
	segment->n_pieces = 0;
	segment->overlaps = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct nt_span *span = &segment->spans[segment->order[i]];

		advance(&sweep, span->begin_ns);
		if (span->layer == NT_LAYER_OP)
			begin_op(&sweep, segment->order[i]);
		else
			begin_interruption(&sweep, span);
	}
	advance(&sweep, to_ns);
	return 0;
}

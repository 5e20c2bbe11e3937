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

#include "schema/kind.h"

#define INSERTION_MAX 32 /* spans; above, merging is faster even if they are nearly sorted */
#define CLASS_POLL (NT_OWNER_SOFTIRQ + 1)
#define N_CLASSES (CLASS_POLL + 1)

/* The owners above the operations are the classes of softirqs and interrupts; below these are the task's own polls. */
_Static_assert(NT_OWNER_HARDIRQ == 0 && NT_OWNER_SOFTIRQ == 3, "classes come first, in the order in which they win");

struct sweep {
	struct nt_segment *segment;
	enum nt_owner base;
	uint64_t at_ns;
	uint64_t class_end_ns[N_CLASSES];
	uint32_t depth; /* of segment->stack */
};

void nt_segment_release(struct nt_segment *segment)
{
	free(segment->spans);
	free(segment->pieces);
	free(segment->order);
	free(segment->other);
	free(segment->stack);
	*segment = (struct nt_segment){0};
}

static int resize(void *array, size_t count, size_t size)
{
	void **at = array;
	void *grown = realloc(*at, count * size);

	if (!grown)
		return -ENOMEM;
	*at = grown;
	return 0;
}

/* Each span begins one piece and ends one; one more is the last. */
static int grow(struct nt_segment *segment)
{
	uint32_t capacity = segment->capacity ? segment->capacity * 2 : 32;

	if (resize(&segment->spans, capacity, sizeof(*segment->spans)) ||
	    resize(&segment->pieces, 2 * (size_t)capacity + 1, sizeof(*segment->pieces)) ||
	    resize(&segment->order, capacity, sizeof(*segment->order)) ||
	    resize(&segment->other, capacity, sizeof(*segment->other)) ||
	    resize(&segment->stack, capacity, sizeof(*segment->stack)))
		return -ENOMEM;
	segment->capacity = capacity;
	return 0;
}

int nt_segment_add(struct nt_segment *segment, const struct nt_span *span)
{
	if (segment->n == segment->capacity) {
		int error = grow(segment);

		if (error)
			return error;
	}
	segment->spans[segment->n++] = *span;
	return 0;
}

/* Whether span i begins before span j or, begun together, is outside it. */
static bool comes_before(const struct nt_segment *segment, uint32_t i, uint32_t j)
{
	const struct nt_span *a = &segment->spans[i], *b = &segment->spans[j];

	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns;
	if (a->layer != b->layer)
		return a->layer < b->layer;
	if ((a->marks ^ b->marks) & NT_MARK_OPEN)
		return a->marks & NT_MARK_OPEN;
	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns;
	return a->marks & NT_MARK_OPEN ? i < j : i > j;
}

static void insertion_sort(const struct nt_segment *segment, uint32_t *order, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t moving = order[i], to = i;

		for (; to > 0 && comes_before(segment, moving, order[to - 1]); to--)
			order[to] = order[to - 1];
		order[to] = moving;
	}
}

static void merge(const struct nt_segment *segment, const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b,
		  uint32_t *out)
{
	while (n_a && n_b) {
		if (comes_before(segment, *b, *a)) {
			*out++ = *b++;
			n_b--;
		} else {
			*out++ = *a++;
			n_a--;
		}
	}
	while (n_a--)
		*out++ = *a++;
	while (n_b--)
		*out++ = *b++;
}

/* Leaves the result in segment->order. */
static void merge_sort(struct nt_segment *segment, uint32_t n)
{
	for (uint32_t at = 0; at < n; at += INSERTION_MAX)
		insertion_sort(segment, segment->order + at, n - at < INSERTION_MAX ? n - at : INSERTION_MAX);
	for (uint32_t width = INSERTION_MAX; width < n; width *= 2) {
		uint32_t *swap = segment->order;

		for (uint32_t at = 0; at < n; at += 2 * width) {
			uint32_t n_a = n - at < width ? n - at : width;
			uint32_t n_b = n - at - n_a < width ? n - at - n_a : width;

			merge(segment, segment->order + at, n_a, segment->order + at + n_a, n_b, segment->other + at);
		}
		segment->order = segment->other;
		segment->other = swap;
	}
}

/* The spans that take part, by begin and outermost first, into segment->order. Gives how many. */
static uint32_t put_in_order(struct nt_segment *segment, uint64_t to_ns)
{
	uint32_t n = 0;
	bool sorted = true;

	for (uint32_t i = 0; i < segment->n; i++) {
		const struct nt_span *span = &segment->spans[i];
		const uint8_t needed = NT_MARK_TIMED | NT_MARK_KNOWN;

		if ((span->marks & needed) != needed || span->begin_ns >= to_ns)
			continue;
		sorted = sorted && (n == 0 || comes_before(segment, segment->order[n - 1], i));
		segment->order[n++] = i;
	}
	if (!sorted && n <= INSERTION_MAX)
		insertion_sort(segment, segment->order, n);
	else if (!sorted)
		merge_sort(segment, n);
	return n;
}

/* The innermost operation that has not ended at the time, or NULL. */
static struct nt_span *innermost(struct sweep *sweep, uint64_t at_ns)
{
	const struct nt_segment *segment = sweep->segment;

	while (sweep->depth) {
		struct nt_span *top = &segment->spans[segment->stack[sweep->depth - 1]];

		if (top->end_ns > at_ns)
			return top;
		sweep->depth--;
	}
	return NULL;
}

/* Adds [sweep->at_ns, until_ns) to the pieces. */
static void put_piece(struct sweep *sweep, uint64_t until_ns, enum nt_owner owner)
{
	sweep->segment->pieces[sweep->segment->n_pieces++] = (struct nt_piece){until_ns, owner};
	sweep->at_ns = until_ns;
}

/* Gives [sweep->at_ns, until_ns), in which no span begins, to its owners. */
static void advance(struct sweep *sweep, uint64_t until_ns)
{
	while (sweep->at_ns < until_ns) {
		uint64_t end_ns = until_ns;
		struct nt_span *op;
		int class = 0;

		while (class < N_CLASSES && sweep->class_end_ns[class] <= sweep->at_ns)
			class ++;
		if (class < N_CLASSES) {
			if (sweep->class_end_ns[class] < end_ns)
				end_ns = sweep->class_end_ns[class];
			put_piece(sweep, end_ns, class == CLASS_POLL ? NT_OWNER_NET_RX : (enum nt_owner) class);
			continue;
		}
		op = innermost(sweep, sweep->at_ns);
		if (op && op->end_ns < end_ns)
			end_ns = op->end_ns;
		if (op)
			op->own_ns += end_ns - sweep->at_ns;
		put_piece(sweep, end_ns, !op ? sweep->base : op->detail == NT_SEND ? NT_OWNER_SEND : NT_OWNER_RECV);
	}
}

static void begin_op(struct sweep *sweep, uint32_t index)
{
	struct nt_segment *segment = sweep->segment;
	const struct nt_span *span = &segment->spans[index];
	const struct nt_span *outer = innermost(sweep, span->begin_ns);

	if (outer && outer->end_ns < span->end_ns)
		segment->overlaps++;
	segment->stack[sweep->depth++] = index;
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

	if (span->end_ns > sweep->class_end_ns[class])
		sweep->class_end_ns[class] = span->end_ns;
	if (span->layer == NT_LAYER_SOFTIRQ && innermost(sweep, span->begin_ns))
		span->marks |= NT_MARK_IN_OP;
}

int nt_segment_paint(struct nt_segment *segment, uint64_t from_ns, uint64_t to_ns, enum nt_owner base)
{
	struct sweep sweep = {.segment = segment, .base = base, .at_ns = from_ns};
	uint32_t n = put_in_order(segment, to_ns);

	/* An empty segment is one piece, which needs its place too. */
	if (from_ns < to_ns && !segment->capacity && grow(segment))
		return -ENOMEM;
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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * merge.c - see merge.h. Layers: `cpu_reader.c` gives the records of one CPU in order, with its gaps; `read_ahead.c`
 * has that done in time; here a heap keeps the streams of all CPUs by the time of what each gives next.
 */
#include "report/tape/merge.h"

#include <errno.h>
#include <stdlib.h>

#include "report/tape/read_ahead.h"

/* A CPU. */
struct source {
	struct nt_stream *stream;
	uint32_t cpu;
	const uint8_t *at, *end; /* the items of the batch in use that come next */
	uint64_t key_ns; /* where the first of them stands in the order of all CPUs */
	uint64_t last_ns; /* greatest end of the CPU's events so far, up to that */
	bool stopped; /* no more of it is wanted */
	bool waits; /* what comes next is not there yet: it is not in the heap */
};

struct nt_merge {
	struct nt_tape *tape;
	struct nt_read_ahead *ahead;
	struct source *sources;
	struct source **heap; /* least key first; those that have ended are gone from it */
	size_t n_heap;
	bool begun;
	size_t n_waiting; /* of the sources */
	bool any_stopped; /* a CPU: then it is asked each time which */
	/* 0; -EAGAIN: the first of the heap has not been given; else what nt_merge_next gives from now on. */
	int status;
	uint64_t given_ns; /* nt_merge_given_until, as it was when it gave -EAGAIN last */
};

static void begin_source(struct source *source, struct nt_stream *stream, const struct nt_place *places)
{
	source->stream = stream;
	source->cpu = stream->cpu;
	source->last_ns = places ? places[source->cpu].end_ns : 0;
}

struct nt_merge *nt_merge_new(struct nt_tape *tape, const struct nt_place *places)
{
	struct nt_merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		return NULL;
	merge->tape = tape;
	merge->ahead = nt_read_ahead_new(tape, places);
	if (merge->ahead) {
		merge->sources = calloc(merge->ahead->n_streams + 1, sizeof(*merge->sources));
		merge->heap = calloc(merge->ahead->n_streams + 1, sizeof(struct source *));
	}
	if (!merge->sources || !merge->heap) {
		nt_merge_free(merge);
		return NULL;
	}
	for (size_t i = 0; i < merge->ahead->n_streams; i++)
		begin_source(&merge->sources[i], &merge->ahead->streams[i], places);
	return merge;
}

void nt_merge_free(struct nt_merge *merge)
{
	if (!merge)
		return;
	nt_read_ahead_free(merge->ahead);
	free(merge->sources);
	free(merge->heap);
	free(merge);
}

/* ---- the heap ---- */

/* Streams with equal times go by CPU, so that a tape always gives the same order. */
static bool is_before(const struct source *a, const struct source *b)
{
	if (a->key_ns != b->key_ns)
		return a->key_ns < b->key_ns;
	return a->cpu < b->cpu;
}

static void sift_down(struct nt_merge *merge, size_t at)
{
	struct source *source = merge->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= merge->n_heap)
			break;
		if (child + 1 < merge->n_heap && is_before(merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!is_before(merge->heap[child], source))
			break;
		merge->heap[at] = merge->heap[child];
		at = child;
	}
	merge->heap[at] = source;
}

/* Whether the first may stay where it is. */
static inline bool stays_first(const struct nt_merge *merge)
{
	struct source *const *heap = merge->heap;

	return (merge->n_heap < 2 || !is_before(heap[1], heap[0])) &&
	       (merge->n_heap < 3 || !is_before(heap[2], heap[0]));
}

/* ---- one CPU ---- */

static const union nt_item *item_of(const struct source *source)
{
	return (const union nt_item *)source->at;
}

static void step_over(struct source *source)
{
	source->at += nt_item_sizes[item_of(source)->record.kind];
}

/* Whether it is a record whose place in the order is its end, as nearly all are. */
static bool is_plain(const union nt_item *item)
{
#define X(number, constant, name, shape, place) | (uint64_t)(NT_PLACE_##place == NT_PLACE_TIMELINE) << number
	const uint64_t plain = (0 NT_KINDS(X)) & ~(1ull << NT_LOSS | 1ull << NT_HOTPLUG);
#undef X
	return item->record.kind < NT_KIND_MAX && plain >> item->record.kind & 1;
}

static void set_key(struct source *source)
{
	const union nt_item *item = item_of(source);
	const unsigned int kind = item->record.kind;

	/* A loose item goes at once: no event of another CPU may depend on it. */
	if (nt_item_is_loose(item)) {
		source->key_ns = 0;
		return;
	}
	/* A gap, a loss or a hotplug goes before the events of other CPUs in the meantime. */
	source->key_ns = source->last_ns;
	if (kind == NT_ITEM_GAP)
		return;
	if (kind != NT_LOSS && kind != NT_HOTPLUG)
		source->key_ns = item->record.end_ns;
	if (item->record.end_ns > source->last_ns)
		source->last_ns = item->record.end_ns;
}

static int note_wrong_block(struct nt_tape *tape, const struct nt_wrong_block *wrong)
{
	return wrong->damaged ? nt_tape_damaged_block(tape, wrong->chunk, wrong->offset)
			      : nt_tape_bad_block(tape, wrong->chunk, wrong->offset);
}

/* Goes to the next batch. 0; 1: the CPU has ended; or a negative errno. */
static int turn(struct nt_merge *merge, struct source *source)
{
	const struct nt_item_batch *batch;
	int error = nt_read_ahead_turn(merge->ahead, source->stream, &batch);

	if (error)
		return error;
	source->at = batch->bytes;
	source->end = batch->bytes + batch->size;
	return 0;
}

/*
 * Makes sure that the CPU stands at a record or a gap, and knows its key. 0; 1: it has ended, or was stopped; or a
 * negative errno.
 */
static int prepare(struct nt_merge *merge, struct source *source)
{
	for (;;) {
		int error = source->stopped ? 1 : 0;

		if (!error && source->at == source->end)
			error = turn(merge, source);
		if (error)
			return error;
		if (item_of(source)->record.kind != NT_ITEM_WRONG_BLOCK)
			break;
		error = note_wrong_block(merge->tape, &item_of(source)->wrong);
		if (error)
			return error;
		step_over(source);
	}
	set_key(source);
	return 0;
}

/* ---- all CPUs ---- */

static void sift_up(struct nt_merge *merge, size_t at)
{
	struct source *source = merge->heap[at];

	while (at && is_before(source, merge->heap[(at - 1) / 2])) {
		merge->heap[at] = merge->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	merge->heap[at] = source;
}

static void wait_for(struct nt_merge *merge, struct source *source)
{
	source->waits = true;
	merge->n_waiting++;
}

/* 1: no CPU has anything more; -EAGAIN: none has anything yet. */
static int status_of_heap(const struct nt_merge *merge)
{
	if (merge->n_heap)
		return 0;
	return merge->n_waiting ? -EAGAIN : 1;
}

/* The CPU stands at what comes next of it: puts it into the heap, if it has not ended. 0, or a negative errno. */
static int join(struct nt_merge *merge, struct source *source)
{
	const int error = prepare(merge, source);

	if (error == -EAGAIN)
		wait_for(merge, source);
	if (error)
		return error == -EAGAIN || error == 1 ? 0 : error;
	merge->heap[merge->n_heap++] = source;
	sift_up(merge, merge->n_heap - 1);
	return 0;
}

/* Reads the first of each CPU. */
__attribute__((noinline)) static int begin(struct nt_merge *merge)
{
	for (size_t i = 0; i < merge->ahead->n_streams; i++) {
		const int error = join(merge, &merge->sources[i]);

		if (error)
			return error;
	}
	merge->begun = true;
	return status_of_heap(merge);
}

static void remove_first(struct nt_merge *merge)
{
	merge->heap[0] = merge->heap[--merge->n_heap];
	if (merge->n_heap)
		sift_down(merge, 0);
}

/* The first stands at what comes next: puts it where that belongs. As status_of_heap, or another negative errno. */
__attribute__((noinline)) static int prepare_first(struct nt_merge *merge)
{
	struct source *first = merge->heap[0];
	const int error = prepare(merge, first);

	if (error < 0 && error != -EAGAIN)
		return error;
	if (error == -EAGAIN)
		wait_for(merge, first);
	if (error)
		remove_first(merge);
	else
		sift_down(merge, 0);
	while (merge->n_heap && merge->heap[0]->stopped)
		remove_first(merge);
	return status_of_heap(merge);
}

/* A record that ended before others that have been given: what an operation cost on several CPUs may be wrong. */
static int note_late(struct nt_merge *merge, const struct source *source)
{
	if (!is_plain(item_of(source)) || source->key_ns >= merge->given_ns)
		return 0;
	return nt_tape_problem(merge->tape,
			       "CPU %u: records came onto the tape very late, while it was followed: of operations on "
			       "several CPUs at that time, the costs may be wrong.",
			       source->cpu);
}

/* The tape has been looked at: those that were waited for may have more. */
__attribute__((noinline)) static int resume(struct nt_merge *merge)
{
	for (size_t i = 0; i < merge->ahead->n_streams; i++) {
		struct source *source = &merge->sources[i];
		int error;

		if (!source->waits)
			continue;
		source->waits = false;
		merge->n_waiting--;
		error = join(merge, source);
		if (!error && !source->waits && !source->stopped && source->at != source->end)
			error = note_late(merge, source);
		if (error)
			return error;
	}
	return status_of_heap(merge);
}

/* Goes on behind what was given last. */
static int advance(struct nt_merge *merge)
{
	struct source *source = merge->heap[0];

	step_over(source);
	if (merge->any_stopped || source->at == source->end || !is_plain(item_of(source)))
		return prepare_first(merge);
	source->key_ns = item_of(source)->record.end_ns;
	source->last_ns = source->key_ns > source->last_ns ? source->key_ns : source->last_ns;
	if (!stays_first(merge))
		sift_down(merge, 0);
	return 0;
}

/*
 * A CPU's last state. The session ended with the first one: when that was must be known before anything that came then
 * is used.
 */
static bool is_stop(const union nt_item *item)
{
	return item->record.kind == NT_STATE && ((const union nt_any *)item)->as_state.reason == NT_STATE_STOP;
}

/* Whether what comes next of a tape that is followed must wait. */
static inline bool must_wait(const struct nt_merge *merge)
{
	const struct source *first = merge->heap[0];

	return merge->tape->settled_ns != UINT64_MAX &&
	       (first->key_ns > merge->tape->settled_ns || is_stop(item_of(first)));
}

uint64_t nt_merge_given_until(const struct nt_merge *merge)
{
	const uint64_t settled_ns = merge->tape->settled_ns;

	return merge->n_heap && merge->heap[0]->key_ns < settled_ns ? merge->heap[0]->key_ns : settled_ns;
}

/* Goes to what comes next: the heap's first, if nothing can come any more that goes before it. */
static int move(struct nt_merge *merge)
{
	int status = !merge->begun ? begin(merge) : merge->status == -EAGAIN ? resume(merge) : advance(merge);

	if (!status && must_wait(merge))
		status = -EAGAIN;
	if (status == -EAGAIN)
		merge->given_ns = nt_merge_given_until(merge);
	return status;
}

static void give_gap(const struct nt_gap *gap, struct nt_merged *out)
{
	out->resume_ns = gap->resume_ns;
	out->task = gap->task;
	out->why = gap->why;
}

int nt_merge_next(struct nt_merge *merge, struct nt_merged *out)
{
	const struct source *first;

	if (!merge->status || merge->status == -EAGAIN)
		merge->status = move(merge);
	if (merge->status)
		return merge->status;
	first = merge->heap[0];
	out->cpu = first->cpu;
	out->is_gap = item_of(first)->record.kind == NT_ITEM_GAP;
	out->record = (const union nt_any *)first->at;
	if (out->is_gap)
		give_gap(&item_of(first)->gap, out);
	return 0;
}

void nt_merge_stop(struct nt_merge *merge, uint32_t cpu)
{
	merge->any_stopped = true;
	for (size_t i = 0; i < merge->ahead->n_streams; i++) {
		if (merge->sources[i].cpu != cpu)
			continue;
		merge->sources[i].stopped = true;
		nt_read_ahead_stop(merge->ahead, merge->sources[i].stream);
	}
}

uint64_t nt_merge_unknown(const struct nt_merge *merge)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < merge->ahead->n_streams; i++) {
		const struct nt_item_batch *used = merge->ahead->streams[i].used;

		sum += used ? used->unknown : 0;
	}
	return sum;
}

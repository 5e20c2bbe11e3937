// SPDX-License-Identifier: GPL-2.0-only
/*
 * merge.c - see merge.h. Two layers: `cpu_reader.c` gives the records of one CPU in order, with its gaps; here a heap
 * keeps the readers of all CPUs by the time of what each gives next.
 */
#include "report/tape/merge.h"

#include <stdlib.h>

#include "report/tape/cpu_reader.h"
#include "report/util/array.h"

struct nt_merge {
	struct nt_cpu_reader **heap; /* least key first; those that have ended are gone from it */
	size_t n_heap;
	struct nt_cpu_reader **readers; /* all, for freeing and counting */
	size_t n_readers;
	bool begun;
	uint8_t *stopped; /* a flag for each CPU */
};

static bool has_blocks(const struct nt_tape *tape, uint32_t cpu)
{
	return NT_ANY(tape->n_chunks, i, nt_tape_chunk_has(&tape->chunks[i], cpu));
}

struct nt_merge *nt_merge_new(struct nt_tape *tape, const struct nt_place *places)
{
	struct nt_merge *merge = calloc(1, sizeof(*merge));

	if (!merge)
		return NULL;
	merge->heap = calloc(tape->n_cpus + 1, sizeof(struct nt_cpu_reader *));
	merge->readers = calloc(tape->n_cpus + 1, sizeof(struct nt_cpu_reader *));
	merge->stopped = calloc(tape->n_cpus + 1, 1);
	if (!merge->heap || !merge->readers || !merge->stopped)
		goto no_memory;
	for (uint32_t cpu = 0; cpu < tape->n_cpus; cpu++) {
		if (!has_blocks(tape, cpu) || (places && places[cpu].leave_out))
			continue;
		merge->readers[merge->n_readers] = nt_cpu_reader_new(tape, cpu);
		if (!merge->readers[merge->n_readers++])
			goto no_memory;
		if (places)
			nt_cpu_reader_begin_at(merge->readers[merge->n_readers - 1], &places[cpu]);
	}
	return merge;
no_memory:
	nt_merge_free(merge);
	return NULL;
}

void nt_merge_free(struct nt_merge *merge)
{
	if (!merge)
		return;
	for (size_t i = 0; i < merge->n_readers; i++)
		nt_cpu_reader_free(merge->readers[i]);
	free(merge->readers);
	free(merge->heap);
	free(merge->stopped);
	free(merge);
}

/* Streams with equal times go by CPU, so that a tape always gives the same order. */
static bool is_before(const struct nt_cpu_reader *a, const struct nt_cpu_reader *b)
{
	if (a->key_ns != b->key_ns)
		return a->key_ns < b->key_ns;
	return a->cpu < b->cpu;
}

static void sift_down(struct nt_merge *merge, size_t at)
{
	struct nt_cpu_reader *reader = merge->heap[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= merge->n_heap)
			break;
		if (child + 1 < merge->n_heap && is_before(merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!is_before(merge->heap[child], reader))
			break;
		merge->heap[at] = merge->heap[child];
		at = child;
	}
	merge->heap[at] = reader;
}

/* Reads the first of each CPU. */
static int begin(struct nt_merge *merge)
{
	for (size_t i = 0; i < merge->n_readers; i++) {
		int error = nt_cpu_reader_prepare(merge->readers[i]);

		if (error < 0)
			return error;
		if (!error)
			merge->heap[merge->n_heap++] = merge->readers[i];
	}
	for (size_t i = merge->n_heap / 2; i-- > 0;)
		sift_down(merge, i);
	merge->begun = true;
	return 0;
}

static void remove_first(struct nt_merge *merge)
{
	merge->heap[0] = merge->heap[--merge->n_heap];
	if (merge->n_heap)
		sift_down(merge, 0);
}

int nt_merge_next(struct nt_merge *merge, struct nt_merged *out)
{
	int error = merge->begun ? 0 : begin(merge);

	if (error)
		return error;
	while (merge->n_heap && merge->stopped[merge->heap[0]->cpu])
		remove_first(merge);
	if (!merge->n_heap)
		return 1;
	nt_cpu_reader_take(merge->heap[0], out);
	error = nt_cpu_reader_prepare(merge->heap[0]);
	if (error < 0)
		return error;
	if (error)
		remove_first(merge);
	else
		sift_down(merge, 0);
	return 0;
}

void nt_merge_stop(struct nt_merge *merge, uint32_t cpu)
{
	merge->stopped[cpu] = true;
}

uint64_t nt_merge_unknown(const struct nt_merge *merge)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < merge->n_readers; i++)
		sum += merge->readers[i]->unknown;
	return sum;
}

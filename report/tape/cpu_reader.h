/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpu_reader.h - the records of one CPU of a tape, in the order of their ends, and the gaps between its blocks. For
 * merge.c, which says more about the order.
 */
#pragma once

#include "report/tape/merge.h"
#include "report/tape/place.h"

#define NT_EVENT_SIZE 56 /* of the largest record that is no identity */

/* One kind of block of the CPU, being decoded. */
struct nt_cpu_reader_input {
	struct nt_buf raw;
	struct nt_event_decoder *decoder;
	uint64_t offset; /* of the block, for messages */
	bool open; /* more may come */
	bool has_head;
	union nt_any head; /* what comes next, if has_head */
};

/* A record that is no identity: union nt_any is nearly five times as large. */
union nt_event {
	struct nt_record record;
	uint8_t bytes[NT_EVENT_SIZE];
};

struct nt_cpu_reader {
	uint64_t key_ns; /* where the next stands in the order of all CPUs; after nt_cpu_reader_prepare */
	uint32_t cpu;
	struct nt_tape *tape;
	/* Where in the tape: the next block to look at. */
	const struct nt_chunk_contents *contents; /* NULL: no chunk is held */
	size_t chunk, block;
	uint64_t expected; /* sequence of the CPU's next block */
	uint64_t normal_end_ns; /* of the last normal block read */
	bool missing; /* a block before the next normal one could not be had */
	const char *missing_why;
	uint64_t without_long; /* sequence of the normal block whose long spans could not be read last; 0: none */
	struct nt_cpu_reader_input normal, longer;
	/* The gap that stands between what is in the window and what is in the inputs. */
	bool has_gap;
	uint64_t gap_resume_ns, gap_task;
	const char *gap_why;
	bool ended; /* no more blocks */
	/* A record that is no part of the order: it comes next. */
	bool has_loose;
	union nt_event loose;
	/* Records in order, a ring. */
	union nt_event window[NT_REORDER];
	unsigned int first, n;
	uint64_t given_ns; /* end of the record given last */
	uint64_t unknown; /* of the blocks decoded to their end */
};

/* NULL: out of memory. */
struct nt_cpu_reader *nt_cpu_reader_new(struct nt_tape *tape, uint32_t cpu);
/* Before the first record: the blocks before the place are left out, and are no gap. */
void nt_cpu_reader_begin_at(struct nt_cpu_reader *reader, const struct nt_place *place);
void nt_cpu_reader_free(struct nt_cpu_reader *reader);
/* Makes sure that the next is known, and its key_ns. 0; 1: end; below 0: a negative errno of reading. */
int nt_cpu_reader_prepare(struct nt_cpu_reader *reader);
/* Gives the next. Only after nt_cpu_reader_prepare gave 0. */
void nt_cpu_reader_take(struct nt_cpu_reader *reader, struct nt_merged *out);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpu_reader.h - the records of one CPU of a tape, in the order of their ends, the gaps between its blocks, and the
 * blocks that are wrong. For merge.c, which says more about the order. A reader belongs to one thread at a time.
 */
#pragma once

#include "report/tape/place.h"
#include "report/tape/tape.h"
#include "schema/kind.h"

#define NT_REORDER 64 /* records among which those of a CPU are sorted */
#define NT_WINDOW (2 * NT_REORDER) /* places for them, and for one that is being decoded; a power of two */
#define NT_EVENT_SIZE 64 /* of the largest record that is no identity */

/* Items of a reader that are no records, as kinds that are on no tape. */
enum { NT_ITEM_GAP = NT_KIND_MAX, NT_ITEM_WRONG_BLOCK, NT_ITEM_KINDS };

/* A gap in the blocks of a CPU: as nt_timeline_gap. */
struct nt_gap {
	uint64_t resume_ns;
	uint8_t kind;
	uint64_t task;
	const char *why;
};

/* A block that is wrong: for nt_tape_damaged_block, or nt_tape_bad_block. */
struct nt_wrong_block {
	uint64_t offset;
	uint8_t kind;
	bool damaged;
	size_t chunk;
};

/* A record that is no identity (union nt_any is nearly five times as large), or one of these two. */
union nt_item {
	struct nt_record record; /* its kind says which it is */
	struct nt_loss loss;
	struct nt_gap gap;
	struct nt_wrong_block wrong;
	uint8_t bytes[NT_EVENT_SIZE];
};

/* How long an item of each kind is. */
extern const uint8_t nt_item_sizes[NT_ITEM_KINDS];

/* Whether it is loose, or the loss of what is: these have no place in the order of events, and must not change it. */
static inline bool nt_item_is_loose(const union nt_item *item)
{
	return nt_kind_is_loose(item->record.kind == NT_LOSS ? item->loss.lost_kind : item->record.kind);
}

/* One kind of block of the CPU, being decoded. */
struct nt_cpu_reader_input {
	struct nt_buf raw;
	struct nt_event_decoder *decoder;
	uint64_t offset; /* of the block, for messages */
	bool open; /* more may come */
	bool has_head;
	union nt_item *head; /* what comes next, if has_head */
};

struct nt_cpu_reader {
	uint32_t cpu;
	struct nt_tape *tape;
	/* Where in the tape: the next block to look at. */
	const struct nt_chunk_contents *contents; /* NULL: no chunk is held */
	size_t chunk, block;
	uint64_t expected; /* sequence of the CPU's next block */
	uint64_t normal_end_ns; /* of the last normal block read */
	uint64_t listed_end_ns; /* of the last normal block that the tape has, read or not */
	uint64_t n_absent; /* blocks directly before the one opened last that the tape does not have */
	bool missing; /* a block before the next normal one could not be had */
	const char *missing_why;
	uint64_t long_of; /* sequence of the normal block that the long spans opened last belong to; 0: none */
	uint64_t without_long; /* sequence of the normal block whose long spans could not be read last; 0: none */
	bool between_blocks; /* the next normal block is wanted, and is not open */
	struct nt_cpu_reader_input normal, longer;
	/* The gap that stands between what is in the window and what is in the inputs. */
	bool has_gap;
	union nt_item gap;
	bool ended; /* no more blocks */
	/* The block that was opened last is wrong: that comes next. */
	bool has_wrong;
	union nt_item wrong;
	/* A record that is no part of the order: it comes next. */
	bool has_loose;
	union nt_item loose;
	/* Records in order, a ring. Behind the last is the head of `normal`: most records stay where they are decoded.
	 */
	union nt_item window[NT_WINDOW];
	unsigned int first, n;
	union nt_item longer_head;
	uint64_t unknown; /* records of unknown kinds, of the blocks decoded to their end */
};

/* NULL: out of memory. */
struct nt_cpu_reader *nt_cpu_reader_new(struct nt_tape *tape, uint32_t cpu);
/* Before the first record: the blocks before the place are left out, and are no gap. */
void nt_cpu_reader_begin_at(struct nt_cpu_reader *reader, const struct nt_place *place);
void nt_cpu_reader_free(struct nt_cpu_reader *reader);
/*
 * 0: *out is the next, in those of its bytes that nt_item_sizes tells; 1: end; -EAGAIN: what comes next is not there
 * yet (follow.h); else below 0: a negative errno of reading. Loose items go before others.
 */
int nt_cpu_reader_next(struct nt_cpu_reader *reader, union nt_item *out);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stream.h - turns the items of one CPU's ring into its blocks on the tape: keys become ids, identities go into blocks
 * of their own, events into columns. A block is cut when it is full or old. Measured in nanoseconds per event: the path
 * of an event allocates nothing and makes no system call.
 */
#pragma once

#include "record/ids.h"
#include "record/tape_writer.h"
#include "record/user_files.h"
#include "schema/block.h"

#define NT_BLOCK_CUT_BYTES 65536
#define NT_BLOCK_CUT_NS 250000000ull

struct nt_stream {
	uint32_t cpu;
	struct nt_ids *ids;
	struct nt_user_files *files;
	struct nt_tape_writer *tape;
	struct nt_event_encoder *events, *longs; /* longs: spans over NT_BLOCK_LONG_NS */
	struct nt_buf raw;
	uint64_t sequence;
	uint64_t since_ns, since_task; /* where the block being filled begins, and who was on the CPU */
	uint64_t task; /* who is, by the last state record */
	uint64_t state_ns; /* when that was */
	uint64_t opened_ns; /* when the block got its first record; 0: it has none */
	uint64_t drain_ns; /* clock at the begin of this drain, set by the caller */
	uint64_t lag_ns; /* of the block */
	bool has_loss;
	bool came_online; /* the CPU has, since the caller last cleared this */
	uint64_t records[NT_KIND_MAX]; /* of each kind */
	uint64_t lost[NT_KIND_MAX]; /* that are declared lost, for whatever reason */
	/* for the report at the end */
	uint64_t lost_total; /* records that found the ring full */
	uint64_t missed_total; /* switches for which the kernel did not run the program */
	uint64_t lost_before, missed_before; /* of these, those of blocks that are cut already */
	uint64_t lost_bytes; /* room that the losses seen in this drain would have taken */
	uint64_t lost_bytes_max; /* most in one drain */
	uint64_t lag_max_ns;
	uint64_t malformed; /* items that are no records: a fault of ours */
};

int nt_stream_init(struct nt_stream *stream, uint32_t cpu, struct nt_ids *ids, struct nt_user_files *files,
		   struct nt_tape_writer *tape);
void nt_stream_release(struct nt_stream *stream);
/* One item (nt_ring_item_fn; arg is the stream). 0 or a negative errno of writing. */
int nt_stream_take_item(void *arg, const uint8_t *data, size_t size);
/* One record of the recorder's own, of now_ns, with the kernel's keys. As nt_stream_take_item. */
int nt_stream_put(struct nt_stream *stream, union nt_any *record, uint64_t now_ns);
/* How many records, of all kinds together. */
uint64_t nt_stream_events(const struct nt_stream *stream);
/* Lines "CPU KIND RECORDS LOST". 0 or -ENOMEM. */
int nt_stream_print(const struct nt_stream *stream, struct nt_buf *text);
/* Call at the begin and end of each drain of this CPU's ring. */
void nt_stream_begin_drain(struct nt_stream *stream, uint64_t now_ns);
void nt_stream_end_drain(struct nt_stream *stream);
/* Writes what is pending: identities first, then long spans, then events. */
int nt_stream_flush(struct nt_stream *stream);
/* The same, if the block is older than NT_BLOCK_CUT_NS. */
int nt_stream_flush_old(struct nt_stream *stream, uint64_t now_ns);
/*
 * Writes the identities that are pending, from whichever CPU; stacks and symbols only if they fill a block, or `all`.
 */
int nt_flush_identities(struct nt_ids *ids, struct nt_tape_writer *tape, bool all);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tape_writer.h - writes a tape: the directory, its chunk files from `.partial` to finished, and getting them onto the
 * disk. Everything that waits for the disk runs in one thread, in order, from a queue of 64 MiB, so that a slow disk
 * does not delay the drain of the rings. So a later call reports the disk's errors.
 */
#pragma once

#include <stdint.h>

#include "record/retention.h"
#include "record/snapshot.h"
#include "record/tape_owner.h"
#include "schema/chunk.h"

struct nt_tape_writer;

/* How much of a tape is on its way or on the disk. */
struct nt_tape_totals {
	uint64_t bytes;
	uint64_t events; /* records in event blocks */
	uint64_t lost, missed; /* of what these declare lost: the rings were full; the kernel did not run the program */
	uint64_t last_end_ns; /* greatest end of an event; 0: there is none */
	/* Of these, what is not there any more (retention.h). */
	uint64_t dropped_chunks, dropped_bytes, dropped_events;
	uint64_t dropped_until_ns; /* the tape begins here now; 0: nothing was dropped */
	bool is_low; /* others find less free on the disk than they should, and nothing is left to drop */
};

/*
 * Makes the directory, or takes an empty one (tape_directory.h). Of the tape is kept what the limits say. The header's
 * number and times are filled in per chunk. On failure gives a negative errno, and a sentence with the remedy in
 * `message`.
 */
int nt_tape_writer_new(struct nt_tape_writer **out, const char *path, const struct nt_tape_owner *owner,
		       const struct nt_retention_limits *limits, const struct nt_chunk_header *header, char *message,
		       size_t size);
/* Opens the next chunk. One must not be open. */
int nt_tape_writer_begin_chunk(struct nt_tape_writer *tape);
/* Queues one block for the open chunk. After a failure the file ends with the last whole block. */
int nt_tape_writer_block(struct nt_tape_writer *tape, struct nt_block_header *header, const void *raw, size_t size);
/* The same of an event block, whose records declare so many lost and missed (struct nt_tape_totals). */
int nt_tape_writer_events(struct nt_tape_writer *tape, struct nt_block_header *header, const void *raw, size_t size,
			  uint64_t lost, uint64_t missed);
/* Queues the index and what ends a chunk: fdatasync, rename, fsync of the directory. */
int nt_tape_writer_finish_chunk(struct nt_tape_writer *tape);
/*
 * Queues links to all finished chunks, and takes the snapshot, one at a time: the next one when this has been taken
 * back, after it is done. NULL: it is not done yet, or there is none.
 */
int nt_tape_writer_snapshot(struct nt_tape_writer *tape, struct nt_snapshot *snapshot);
struct nt_snapshot *nt_tape_writer_take_snapshot(struct nt_tape_writer *tape);
/* Queues an fdatasync, and a look at how much is free on the disk. */
int nt_tape_writer_sync(struct nt_tape_writer *tape);
/* Waits until the queue is empty, and gives the first error. */
int nt_tape_writer_wait(struct nt_tape_writer *tape);
uint64_t nt_tape_writer_chunk_size(const struct nt_tape_writer *tape);
uint64_t nt_tape_writer_bytes(const struct nt_tape_writer *tape); /* all chunks, also queued and dropped ones */
/*
 * The totals written so far, of all chunks: the files' size and their records, and what of them was dropped. A queued
 * block counts only when it is written, so after nt_tape_writer_wait the totals are complete.
 */
void nt_tape_writer_written(struct nt_tape_writer *tape, struct nt_tape_totals *out);
uint64_t nt_tape_writer_blocks(const struct nt_tape_writer *tape);
uint32_t nt_tape_writer_number(const struct nt_tape_writer *tape); /* of the open chunk */
const char *nt_tape_writer_path(const struct nt_tape_writer *tape); /* of the open chunk, for messages */
uint64_t nt_tape_writer_min_free(const struct nt_tape_writer *tape); /* bytes that others find free; 0: no matter */
/* Why something of the tape could not be given to its owner, as a negative errno; 0: all was. */
int nt_tape_writer_kept(const struct nt_tape_writer *tape);
/*
 * Removes the directory, if we made it and nothing is in it but a first chunk without a byte. The queue must be empty.
 * Safe on NULL.
 */
void nt_tape_writer_discard(struct nt_tape_writer *tape);
/* Closes without finishing: an open chunk stays `.partial`. Safe on NULL. */
void nt_tape_writer_free(struct nt_tape_writer *tape);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tape_writer.h - a tape being written: the directory, its chunk files from `.partial` to finished, and
 * getting them onto the disk. Everything that waits for the disk runs in a thread of its own, in order, from
 * a queue that holds 64 MiB, so that a slow disk does not delay the drain of the rings. Errors of the disk
 * are therefore told by a later call.
 */
#ifndef NT_RECORD_TAPE_WRITER_H
#define NT_RECORD_TAPE_WRITER_H

#include <stdint.h>

#include "schema/chunk.h"

struct nt_tape_writer;

/*
 * Makes the directory (0700), or takes an empty one. The header's number is filled in per chunk. On failure
 * gives a negative errno: -ENOTEMPTY if something is in it.
 */
int nt_tape_writer_new(struct nt_tape_writer **out, const char *directory, const struct nt_chunk_header *header);
/* Opens the next chunk. One must not be open. */
int nt_tape_writer_begin_chunk(struct nt_tape_writer *tape);
/* Queues one block for the open chunk. After a failure the file ends with the last whole block. */
int nt_tape_writer_block(struct nt_tape_writer *tape, struct nt_block_header *header, const void *raw, size_t size);
/* Queues the index and what ends a chunk: fdatasync, rename, fsync of the directory. */
int nt_tape_writer_finish_chunk(struct nt_tape_writer *tape);
/* Queues an fdatasync. */
int nt_tape_writer_sync(struct nt_tape_writer *tape);
/* Waits until the queue is empty, and gives the first error. */
int nt_tape_writer_wait(struct nt_tape_writer *tape);
uint64_t nt_tape_writer_chunk_size(const struct nt_tape_writer *tape);
uint64_t nt_tape_writer_bytes(const struct nt_tape_writer *tape);	/* all chunks */
uint64_t nt_tape_writer_blocks(const struct nt_tape_writer *tape);
uint32_t nt_tape_writer_number(const struct nt_tape_writer *tape);	/* of the open chunk */
const char *nt_tape_writer_path(const struct nt_tape_writer *tape);	/* of the open chunk, for messages */
/* Closes without finishing: an open chunk stays `.partial`. Safe on NULL. */
void nt_tape_writer_free(struct nt_tape_writer *tape);

#endif

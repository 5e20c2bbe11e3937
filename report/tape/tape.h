/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tape.h - a recording as a whole: the chunk files of a directory, in order, with what was found wrong
 * with them. Opens files; does not decode events (merge.h) and prints nothing.
 *
 * Memory does not grow with the blocks of a tape: where they stand is read again for the chunks that
 * somebody holds, and only for those. Errors as in schema/block.h.
 *
 * Threads: nt_tape_hold, nt_tape_drop and nt_tape_read may be called by any; all else by the tape's owner alone.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/util/fail.h"
#include "schema/chunk.h"

/* The event blocks that a chunk has of one CPU. */
struct nt_chunk_cpu {
	bool has; /* any; else the rest means nothing */
	uint64_t last_end_ns; /* greatest end of a record */
	/* Least begin of a block, as its header says it; of normal ones and of those of long spans. UINT64_MAX: none */
	uint64_t least_begin_ns, least_long_ns;
};

struct nt_tape_chunk {
	char *name; /* of the file, without its directory: for messages */
	uint32_t number;
	uint64_t size; /* bytes */
	bool partial; /* named `.partial`: never finished */
	bool is_sized; /* `size` is known */
	int kept_fd; /* of a file that may be removed while it is read; or -1 */
	struct nt_chunk_cpu *cpus; /* n_cpus of them */
	uint32_t n_cpus;
	/* While it is held (nt_tape_hold); under the tape's lock: */
	unsigned int holds;
	int fd;
	struct nt_chunk_contents *contents; /* stay where they are when there are more chunks */
	bool grows; /* it is the last of a tape that is followed, and being written; then it stays open */
	uint64_t grown_to; /* then: the bytes whose blocks are listed */
};

struct nt_tape {
	char *path;
	bool is_file; /* one chunk file, not a directory */
	struct nt_tape_chunk *chunks; /* by number; all of one session */
	size_t n_chunks, chunks_size;
	struct nt_tape_problem { /* chunks left out, missing numbers, damage: for people */
		char *text; /* one sentence that names the file, without its directory */
	} * problems;
	size_t n_problems, problems_size;
	/* From the chunk headers, meta blocks and block headers: */
	struct nt_chunk_header header; /* of the first chunk that was read */
	struct nt_buf meta; /* a meta payload: the opening one and the closing one; nt_meta_next reads it */
	uint64_t start_ns, end_ns; /* the session, CLOCK_MONOTONIC; end is the last record when incomplete */
	uint64_t start_realtime_ns; /* CLOCK_REALTIME at start_ns; 0: not known */
	bool drops; /* a flight recorder's: the oldest chunks go while it records */
	size_t n_kept; /* files of such chunks that are kept open (kept_fd) */
	uint32_t n_dropped; /* so many chunks a flight recorder has dropped: the session is what the others cover */
	bool has_end; /* the closing meta block is there and no chunk is missing or partial */
	uint32_t n_cpus; /* highest CPU number + 1 */
	uint8_t *present, *online; /* flags of CPUs: was there at some time; online at the session's start */
	uint64_t bytes; /* of all chunks */
	uint64_t lag_max_ns; /* greatest lag of any block */
	pthread_mutex_t lock; /* of what chunks are held */
	/*
	 * All records that ended by then are on the tape (but for some that came very late). UINT64_MAX: all that ever
	 * will be.
	 */
	uint64_t settled_ns;
	struct nt_tape_growth *growth; /* of a tape that is followed (follow.h); or NULL */
};

/*
 * Opens a tape directory, or one chunk file alone; then the session is what that chunk covers. On failure gives a
 * negative errno and writes one sentence into `error` that names the path and the remedy. Damaged chunks are no failure
 * so long as one chunk can be read: they are in `problems`.
 */
int nt_tape_open(struct nt_tape **out, const char *path, char error[NT_ERROR_MAX]);
void nt_tape_close(struct nt_tape *tape);
/* Whether the directory holds files that are named as chunks are: 1, 0, or a negative errno of one that cannot be read.
 */
int nt_tape_has_chunks(const char *path);
/* How many problems are known by now; and the text of the one at `at`, "" if there is none. */
size_t nt_tape_problem_at(const struct nt_tape *tape, size_t at, char text[NT_ERROR_MAX]);
/* Whether it has its end and all its chunks, and nothing that is wrong has been found so far. */
static inline bool nt_tape_is_complete(const struct nt_tape *tape)
{
	return tape->has_end && !tape->n_problems;
}
/* Whether the chunk has event blocks of this CPU. */
static inline bool nt_tape_chunk_has(const struct nt_tape_chunk *chunk, uint32_t cpu)
{
	return cpu < chunk->n_cpus && chunk->cpus[cpu].has;
}

/*
 * The blocks of one chunk, good until as many nt_tape_drop as nt_tape_hold; *out may be NULL. A file that has
 * gone or changed since nt_tape_open is a negative errno.
 */
int nt_tape_hold(struct nt_tape *tape, size_t chunk, const struct nt_chunk_contents **out);
void nt_tape_drop(struct nt_tape *tape, size_t chunk);
/*
 * Of a tape whose oldest chunks are removed while they are read: what ended before until_ns is not read any more. Its
 * files were kept open, and took room on the disk.
 */
void nt_tape_let_go(struct nt_tape *tape, uint64_t until_ns);
/* Loads one block of a chunk that is held. -EBADMSG: damaged. */
int nt_tape_read(struct nt_tape *tape, size_t chunk, const struct nt_block_ref *block, struct nt_buf *raw);
/* The same; a damaged block is one problem more of the tape. */
int nt_tape_load(struct nt_tape *tape, size_t chunk, const struct nt_block_ref *block, struct nt_buf *raw);
/* The value of the first `key` of the session's meta blocks into `value` (zero-terminated). 0, or -ENOENT. */
int nt_tape_meta(const struct nt_tape *tape, const char *key, char *value, size_t size);
/* The same as a number; `otherwise` when it is missing or none that SQL can hold. */
uint64_t nt_tape_meta_number(const struct nt_tape *tape, const char *key, uint64_t otherwise);
/* How long a flight recorder had recorded what it has dropped; 0: nothing was dropped. Its key in session_meta. */
#define NT_TAPE_DROPPED_NS "dropped_ns"
uint64_t nt_tape_dropped_ns(const struct nt_tape *tape);
/* Whether the session says that it was recorded with this probe. */
bool nt_tape_has_probe(const struct nt_tape *tape, const char *probe);
/* Notes something wrong; a sentence that is noted already is not noted again. 0, or -ENOMEM. */
int nt_tape_problem(struct nt_tape *tape, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same of a block that begins at this byte of the chunk: it is damaged. */
int nt_tape_damaged_block(struct nt_tape *tape, size_t chunk, uint64_t offset);
/* The same: its checksum is right and its contents are not. */
int nt_tape_bad_block(struct nt_tape *tape, size_t chunk, uint64_t offset);
/* Why an operation on the tape failed, in words: a constant or the text of an errno. */
const char *nt_tape_error_text(int error);

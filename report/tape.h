/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tape.h - a recording as a whole: the chunk files of a directory, in order, with what was found wrong
 * with them. Opens files; does not decode events (merge.h) and prints nothing.
 */
#ifndef NT_REPORT_TAPE_H
#define NT_REPORT_TAPE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "schema/chunk.h"

struct nt_tape_chunk {
	char *path;			/* as opened, for messages */
	uint32_t number;
	uint64_t size;			/* bytes */
	bool partial;			/* named `.partial`: never finished */
	int fd;
	struct nt_chunk_contents contents;
};

struct nt_tape {
	char *path;
	struct nt_tape_chunk *chunks;	/* by number; all of one session */
	size_t n_chunks;
	struct nt_tape_problem {	/* chunks left out, missing numbers, damage: for people */
		char *text;		/* one sentence that names the file */
	} *problems;
	size_t n_problems;
	/* From the meta blocks and state records: */
	uint64_t start_ns, end_ns;	/* the session, CLOCK_MONOTONIC; end is the last record when incomplete */
	bool complete;			/* the closing meta block is there and no chunk is missing or partial */
	uint32_t n_cpus;		/* highest CPU number + 1 */
	uint8_t *present, *online;	/* n_cpus flags, at the start of the session */
};

/*
 * Opens a tape directory, or one chunk file alone. On failure gives a negative errno and writes one
 * sentence into `error` that names the path and the remedy. Damaged chunks are no failure so long as one
 * chunk can be read: they are in `problems`.
 */
int nt_tape_open(struct nt_tape **out, const char *path, char *error, size_t error_size);
void nt_tape_close(struct nt_tape *tape);
/* Loads one block of one chunk. -EBADMSG: damaged. */
int nt_tape_load(struct nt_tape *tape, size_t chunk, const struct nt_block_ref *block, struct nt_buf *raw);
/* The value of the first `key` of the session's meta blocks into `value` (zero-terminated). 0, or -ENOENT. */
int nt_tape_meta(struct nt_tape *tape, const char *key, char *value, size_t size);

#endif

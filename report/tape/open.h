/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * open.h - what tape.c, open.c and follow.c share. For those only.
 */
#pragma once

#include "report/tape/tape.h"

/* A descriptor for reading the chunk file, or a negative errno. */
int nt_tape_chunk_fd(const struct nt_tape *tape, const char *name);
/* The name that the recorder gives a chunk when it has finished it. Gives `name`. */
#define NT_CHUNK_NAME_MAX 32
const char *nt_tape_final_name(const struct nt_tape_chunk *chunk, char name[NT_CHUNK_NAME_MAX]);
/* The chunk has got it. 0, or -ENOMEM. */
int nt_tape_take_final_name(struct nt_tape_chunk *chunk);
/* Opens the file and reads where its blocks stand. The chunk needs its name. 0 or a negative errno. */
int nt_tape_chunk_open(const struct nt_tape *tape, struct nt_tape_chunk *chunk);
/* Safe on one that is not open. */
void nt_tape_chunk_close(struct nt_tape_chunk *chunk);
/* All of it. */
void nt_tape_chunk_release(struct nt_tape_chunk *chunk);
/*
 * Keeps the file open, since the recorder may remove it while it is to be read. A command that takes so long that more
 * chunks go than it may keep fails, and says why.
 */
void nt_tape_keep_file(struct nt_tape *tape, struct nt_tape_chunk *chunk);
/* For reading it while it is open. */
struct nt_source nt_tape_chunk_source(struct nt_tape_chunk *chunk);
/* follow.c; safe on NULL. */
void nt_tape_growth_free(struct nt_tape_growth *growth);

/* The findings while the chunks are gone over. */
struct nt_tape_opening {
	struct nt_tape *tape;
	uint64_t *expected; /* of NT_CHUNK_MAX_CPUS: the next block's sequence, 0 when none was seen */
	uint64_t first_ns, last_ns; /* of all records */
	struct nt_buf closing; /* the last meta payload, if it is not the first of its chunk */
	size_t closing_chunk;
	struct nt_buf again; /* what later chunks say of the session */
	uint32_t first_number; /* of the chunks that there are, also of one that is left out */
	int first_error; /* of a chunk that was left out */
	uint64_t n_blocks;
	bool is_begun; /* its first chunk was begun, and no more */
	/* Of the chunk at hand: so many of its blocks and damaged stretches were gone over, and of its bytes counted.
	 */
	size_t n_gone_over, n_noted;
	uint64_t n_counted;
	bool has_meta; /* its first meta block was among these */
	uint64_t clock_ns; /* the latest that a clock block tells */
	uint64_t lag_ns; /* of the blocks of late; what was longer ago counts less */
};

/* The tape at the path, of which nothing has been read: opening->tape. 0, or -ENOMEM, and then there is none. */
int nt_tape_opening_begin(struct nt_tape_opening *opening, const char *path);
/* Not its tape. */
void nt_tape_opening_release(struct nt_tape_opening *opening);
/* The chunk files that there are, by number, none of which has been opened. */
int nt_tape_find_chunks(struct nt_tape_opening *opening);
/*
 * The files of a directory that have a chunk's name, added to those that there are: of numbers from `least` on. Two may
 * have the same number; then the finished one comes first.
 */
int nt_tape_list_chunks(struct nt_tape *tape, uint32_t least);
/* Takes a chunk from the list again. */
void nt_tape_remove_chunk(struct nt_tape *tape, size_t at);
/* Goes over the chunks from `at` on. Those that cannot be read, or are of another recording, are left out. */
int nt_tape_go_over_chunks(struct nt_tape_opening *opening, size_t at);
/* Goes over what is new of a chunk that grows; and, when it has been finished, says how it ended. */
int nt_tape_go_over_new(struct nt_tape_opening *opening, size_t at);
int nt_tape_note_end(struct nt_tape_opening *opening, const struct nt_tape_chunk *chunk);
/* The session's times and CPUs, as far as they are known while it is recorded; and when there is no more to come. */
int nt_tape_settle_begin(struct nt_tape_opening *opening);
int nt_tape_settle_end(struct nt_tape_opening *opening);
/* Why the tape cannot be opened, as a sentence. */
void nt_tape_say_why(const struct nt_tape_opening *opening, int error, char text[NT_ERROR_MAX]);

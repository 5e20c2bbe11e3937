/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stretches.h - stretches of time of one CPU in order, as a queue in blocks: written at one end, read at any number of
 * places, forgotten where nobody needs them any more. Blocks beyond what memory has room for are in a database of their
 * own, in TMPDIR, which is made when the first one is. Prints nothing.
 *
 * Functions give 0, -ENOMEM, or -1 and a sentence in store->error, unless they say otherwise.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/db/db.h"

#define NT_STRETCHES_IN_BLOCK 512 /* 8 KiB */

struct nt_stretch {
	int64_t ts;
	uint64_t ns : 63; /* at least 1, and ts + ns is a time */
	uint64_t is_uncovered : 1;
};

/* Where the blocks of several queues are. Set most_in_memory. Owner frees with nt_stretch_store_release. */
struct nt_stretch_store {
	size_t most_in_memory; /* blocks; and the last one of each queue */
	size_t n_in_memory;
	struct nt_db *spill; /* NULL: not needed yet */
	sqlite3_stmt *put, *get, *drop;
	int64_t last_key;
	char error[NT_ERROR_MAX];
};

void nt_stretch_store_release(struct nt_stretch_store *store);

struct nt_stretch_block {
	int64_t ts, end_ts; /* from the first one's begin to the last one's end */
	uint32_t n;
	struct nt_stretch *stretches; /* NULL: in the database, */
	int64_t key; /* under this */
};

/* Initialise `store`. Owner frees with nt_stretches_release, before the store. */
struct nt_stretches {
	struct nt_stretch_store *store;
	struct nt_stretch_block *blocks; /* in order of time; only the last one grows */
	size_t n, size;
};

void nt_stretches_release(struct nt_stretches *stretches);
/* It must not begin before the last one ended. */
int nt_stretches_add(struct nt_stretches *stretches, const struct nt_stretch *stretch);
/* The last one lasts longer. There must be one, and nobody must have read it. */
void nt_stretches_lengthen(struct nt_stretches *stretches, int64_t end_ts);
/*
 * Of the first n blocks, which must not be all, forgets those that nobody needs. Gives how many: the blocks behind have
 * numbers so much lower.
 */
size_t nt_stretches_forget(struct nt_stretches *stretches, size_t n,
			   bool (*is_needed)(const void *arg, const struct nt_stretch_block *block), const void *arg);

/* A place in a queue. Owner frees with nt_stretch_cursor_release. */
struct nt_stretch_cursor {
	const struct nt_stretches *stretches;
	size_t block; /* its number */
	uint32_t at;
	struct nt_stretch *copy; /* of a block in the database; NULL: not needed yet */
	int64_t copied; /* its key; 0: none */
};

/* Goes to the first one that ends after ts. */
void nt_stretch_cursor_set(struct nt_stretch_cursor *cursor, const struct nt_stretches *stretches, int64_t ts);
void nt_stretch_cursor_release(struct nt_stretch_cursor *cursor);
/* Takes the next one. 1: there is none yet. */
int nt_stretch_cursor_next(struct nt_stretch_cursor *cursor, struct nt_stretch *out);

// SPDX-License-Identifier: GPL-2.0-only
/*
 * stretches.c - see stretches.h.
 */
#include "report/query/cpus/stretches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

#define BLOCK_BYTES (NT_STRETCHES_IN_BLOCK * sizeof(struct nt_stretch))

/* ---- the database ---- */

static int fail_spill(struct nt_stretch_store *store)
{
	if (!store->spill)
		return -ENOMEM;
	return nt_fail(store->error, "%s", store->spill->error);
}

static int fail_statement(struct nt_stretch_store *store)
{
	nt_db_fail(store->spill, "slices cannot be kept");
	return fail_spill(store);
}

static int prepare(struct nt_stretch_store *store, const char *sql, sqlite3_stmt **out)
{
	*out = nt_db_prepare(store->spill, sql, NULL);
	return *out ? 0 : fail_spill(store);
}

static int open_spill(struct nt_stretch_store *store)
{
	int error;

	if (nt_db_open(&store->spill, "", NT_DB_BARE))
		return fail_spill(store);
	if (sqlite3_exec(store->spill->handle,
			 "PRAGMA journal_mode = OFF; CREATE TABLE block(key INTEGER PRIMARY KEY, stretches BLOB)", NULL,
			 NULL, NULL) != SQLITE_OK)
		return fail_statement(store);
	error = prepare(store, "INSERT INTO block VALUES(?1, ?2)", &store->put);
	if (!error)
		error = prepare(store, "SELECT stretches FROM block WHERE key = ?1", &store->get);
	return error ? error : prepare(store, "DELETE FROM block WHERE key = ?1", &store->drop);
}

void nt_stretch_store_release(struct nt_stretch_store *store)
{
	sqlite3_finalize(store->put);
	sqlite3_finalize(store->get);
	sqlite3_finalize(store->drop);
	nt_db_close(store->spill);
	memset(store, 0, sizeof(*store));
}

/* Runs a statement that has no rows. */
static int run(struct nt_stretch_store *store, sqlite3_stmt *statement)
{
	sqlite3_step(statement);
	return sqlite3_reset(statement) == SQLITE_OK ? 0 : fail_statement(store);
}

static int put_block(struct nt_stretch_store *store, struct nt_stretch_block *block)
{
	int error = store->drop ? 0 : open_spill(store);

	if (error)
		return error;
	sqlite3_bind_int64(store->put, 1, store->last_key + 1);
	sqlite3_bind_blob(store->put, 2, block->stretches, (int)(block->n * sizeof(*block->stretches)), SQLITE_STATIC);
	error = run(store, store->put);
	if (error)
		return error;
	block->key = ++store->last_key;
	free(block->stretches);
	block->stretches = NULL;
	return 0;
}

static int get_block(struct nt_stretch_store *store, const struct nt_stretch_block *block, struct nt_stretch *out)
{
	const size_t bytes = block->n * sizeof(*out);
	bool is_there;

	sqlite3_bind_int64(store->get, 1, block->key);
	is_there = sqlite3_step(store->get) == SQLITE_ROW;
	if (is_there) {
		const void *blob = sqlite3_column_blob(store->get, 0);

		is_there = blob && (size_t)sqlite3_column_bytes(store->get, 0) == bytes;
		if (is_there)
			memcpy(out, blob, bytes);
	}
	if (!is_there) {
		int error = fail_statement(store);

		sqlite3_reset(store->get);
		return error;
	}
	return sqlite3_reset(store->get) == SQLITE_OK ? 0 : fail_statement(store);
}

/* ---- blocks ---- */

/* A block that could not be deleted is not asked for again. */
static void drop_block(struct nt_stretch_store *store, struct nt_stretch_block *block)
{
	if (block->stretches) {
		free(block->stretches);
		store->n_in_memory--;
		return;
	}
	sqlite3_bind_int64(store->drop, 1, block->key);
	sqlite3_step(store->drop);
	sqlite3_reset(store->drop);
}

void nt_stretches_release(struct nt_stretches *stretches)
{
	for (size_t i = 0; i < stretches->n; i++)
		free(stretches->blocks[i].stretches);
	free(stretches->blocks);
	memset(stretches, 0, sizeof(*stretches));
}

/* The last block is full: it stays in memory if there is room. */
static int settle_last(struct nt_stretches *stretches)
{
	struct nt_stretch_store *store = stretches->store;

	if (store->n_in_memory >= store->most_in_memory)
		return put_block(store, &stretches->blocks[stretches->n - 1]);
	store->n_in_memory++;
	return 0;
}

static int begin_block(struct nt_stretches *stretches)
{
	struct nt_stretch_block block = {0};
	int error;

	if (NT_ROOM(stretches->blocks, stretches->size, stretches->n + 1))
		return -ENOMEM;
	block.stretches = malloc(BLOCK_BYTES);
	if (!block.stretches)
		return -ENOMEM;
	error = stretches->n ? settle_last(stretches) : 0;
	if (error)
		free(block.stretches);
	else
		stretches->blocks[stretches->n++] = block;
	return error;
}

int nt_stretches_add(struct nt_stretches *stretches, const struct nt_stretch *stretch)
{
	struct nt_stretch_block *last;

	if (!stretches->n || stretches->blocks[stretches->n - 1].n == NT_STRETCHES_IN_BLOCK) {
		int error = begin_block(stretches);

		if (error)
			return error;
	}
	last = &stretches->blocks[stretches->n - 1];
	if (!last->n)
		last->ts = stretch->ts;
	last->end_ts = stretch->ts + (int64_t)stretch->ns;
	last->stretches[last->n++] = *stretch;
	return 0;
}

void nt_stretches_lengthen(struct nt_stretches *stretches, int64_t end_ts)
{
	struct nt_stretch_block *last = &stretches->blocks[stretches->n - 1];
	struct nt_stretch *stretch = &last->stretches[last->n - 1];

	stretch->ns = (uint64_t)end_ts - (uint64_t)stretch->ts;
	last->end_ts = end_ts;
}

size_t nt_stretches_forget(struct nt_stretches *stretches, size_t n,
			   bool (*is_needed)(const void *arg, const struct nt_stretch_block *block), const void *arg)
{
	size_t kept = 0, forgotten;

	for (size_t i = 0; i < n; i++) {
		struct nt_stretch_block *block = &stretches->blocks[i];

		if (is_needed(arg, block))
			stretches->blocks[kept++] = *block;
		else
			drop_block(stretches->store, block);
	}
	forgotten = n - kept;
	memmove(&stretches->blocks[kept], &stretches->blocks[n], (stretches->n - n) * sizeof(*stretches->blocks));
	stretches->n -= forgotten;
	return forgotten;
}

/* ---- reading ---- */

void nt_stretch_cursor_set(struct nt_stretch_cursor *cursor, const struct nt_stretches *stretches, int64_t ts)
{
	cursor->stretches = stretches;
	cursor->block = NT_COUNT_BEFORE(stretches->n, i, stretches->blocks[i].end_ts > ts);
	cursor->at = 0;
}

void nt_stretch_cursor_release(struct nt_stretch_cursor *cursor)
{
	free(cursor->copy);
	memset(cursor, 0, sizeof(*cursor));
}

static int copy_block(struct nt_stretch_cursor *cursor, const struct nt_stretch_block *block)
{
	int error;

	if (cursor->copied == block->key)
		return 0;
	if (!cursor->copy)
		cursor->copy = malloc(BLOCK_BYTES);
	if (!cursor->copy)
		return -ENOMEM;
	cursor->copied = 0;
	error = get_block(cursor->stretches->store, block, cursor->copy);
	if (!error)
		cursor->copied = block->key;
	return error;
}

int nt_stretch_cursor_next(struct nt_stretch_cursor *cursor, struct nt_stretch *out)
{
	const struct nt_stretches *stretches = cursor->stretches;
	const struct nt_stretch_block *block;

	if (cursor->block < stretches->n && cursor->at == stretches->blocks[cursor->block].n &&
	    cursor->block + 1 < stretches->n) {
		cursor->block++;
		cursor->at = 0;
	}
	if (cursor->block >= stretches->n || cursor->at == stretches->blocks[cursor->block].n)
		return 1;
	block = &stretches->blocks[cursor->block];
	if (!block->stretches) {
		int error = copy_block(cursor, block);

		if (error)
			return error;
	}
	*out = block->stretches ? block->stretches[cursor->at] : cursor->copy[cursor->at];
	cursor->at++;
	return 0;
}

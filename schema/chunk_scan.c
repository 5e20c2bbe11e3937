// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunk_scan.c - reads a chunk without its index: steps from block to block, and after damage searches for the
 * next valid header (docs/chunk-format.md section 12). Memory: one window, beside what it finds.
 */
#include "schema/chunk_format.h"
#include "schema/varint.h"

#include <stdlib.h>

/* Blocks are mostly found nearby: the search begins with little and reads more from step to step. */
#define WINDOW_FIRST 1024
#define WINDOW_MOST 65536

/* 1: the trailer stands at the offset; 0: it does not; else the error of reading there. */
static int trailer_at(const struct nt_source *source, uint64_t offset)
{
	uint8_t bytes[NT_TRAILER_SIZE];
	struct nt_trailer trailer;
	int err;

	if (offset > source->size || source->size - offset != sizeof(bytes))
		return 0;
	err = nt_source_read(source, offset, bytes, sizeof(bytes));
	return err ? err : !nt_trailer_parse(bytes, &trailer);
}

/* A part of the file in memory. */
struct window {
	uint8_t *bytes;
	size_t size;
	uint64_t offset; /* in the file */
	bool last; /* ends where the file ends */
};

/* Looks at each block magic in a window. 0: *found; 1: none, and *next is where the next window must begin. */
static int search_window(const struct window *window, uint64_t *found, uint64_t *next)
{
	const uint8_t *at = window->bytes, *end = at + window->size;

	while ((at = memmem(at, (size_t)(end - at), NT_BLOCK_MAGIC, NT_BLOCK_MAGIC_SIZE))) {
		struct nt_block_head head;

		*found = *next = window->offset + (uint64_t)(at - window->bytes);
		/* A header that may reach over the window's end is for the next window. */
		if (!window->last && end - at < NT_BLOCK_HEAD_MAX)
			return 1;
		if (!nt_block_head_parse(at, (size_t)(end - at), &head))
			return 0;
		at++;
	}
	*next = window->offset + window->size - (window->last ? 0 : NT_BLOCK_MAGIC_SIZE - 1);
	return 1;
}

int nt_chunk_find_block(const struct nt_source *source, uint64_t offset, uint64_t *found)
{
	struct window window = {.bytes = malloc(WINDOW_MOST)};
	size_t most = WINDOW_FIRST;
	int err = window.bytes ? 1 : -ENOMEM;

	while (err == 1 && offset < source->size) {
		uint64_t left = source->size - offset;

		window.last = left <= most;
		window.size = window.last ? (size_t)left : most;
		window.offset = offset;
		err = nt_source_read(source, offset, window.bytes, window.size);
		if (!err)
			err = search_window(&window, found, &offset);
		most = most * 2 < WINDOW_MOST ? most * 2 : WINDOW_MOST;
	}
	free(window.bytes);
	if (err != 1)
		return err;
	err = source->size < NT_TRAILER_SIZE ? 0 : trailer_at(source, source->size - NT_TRAILER_SIZE);
	*found = source->size - (err == 1 ? NT_TRAILER_SIZE : 0);
	return err < 0 ? err : 0;
}

/* Adds the damage at *offset and moves on to where the chunk can be read again. */
static int step_over(const struct nt_source *source, uint64_t *offset, const char *what,
		     struct nt_chunk_contents *contents)
{
	uint64_t next;
	int err = nt_chunk_find_block(source, *offset + 1, &next);

	if (err)
		return err;
	/* The trailer may begin before *offset + 1 only if *offset is inside it: then the rest is damage. */
	if (next <= *offset)
		next = source->size;
	err = nt_contents_add_damage(contents, *offset, next - *offset, what);
	*offset = next;
	return err;
}

/* Index blocks are not listed, but checked. */
static int check_index_block(const struct nt_source *source, uint64_t offset, const struct nt_block_head *head,
			     struct nt_chunk_contents *contents)
{
	struct nt_block_ref ref = {.offset = offset, .header = head->header};
	struct nt_buf raw = {0};
	int err = nt_chunk_load(source, &ref, &raw);

	nt_buf_release(&raw);
	if (err == -EBADMSG)
		err = nt_contents_add_damage(contents, offset, head->head_size + (uint64_t)head->header.stored_size,
					     "index does not match its checksum");
	return err;
}

struct scan {
	uint32_t n_index;
	bool finished; /* the trailer was met */
};

/* Says of a place without a valid block header, from where `left` bytes are left, what it is. */
static const char *what_is_wrong(const struct scan *scan, uint64_t left)
{
	if (scan->n_index && left <= NT_TRAILER_SIZE)
		return "trailer is damaged or cut short";
	return left < NT_BLOCK_HEAD_SIZE ? "block header is cut short" : "block header does not match its checksum";
}

/* Adds the block or the damage at *offset, and moves over it. The trailer is not there. */
static int scan_step(const struct nt_source *source, struct scan *scan, uint64_t *offset,
		     struct nt_chunk_contents *contents)
{
	uint64_t left = source->size - *offset;
	struct nt_block_head head;
	int err = nt_source_block_head(source, *offset, &head);

	if (err == -EBADMSG)
		return step_over(source, offset, what_is_wrong(scan, left), contents);
	if (err)
		return err;
	if (head.header.stored_size > left - head.head_size)
		return step_over(source, offset, "block is cut short", contents);
	if (head.header.type == NT_BLOCK_INDEX) {
		scan->n_index++;
		err = check_index_block(source, *offset, &head, contents);
	} else {
		err = nt_contents_add_block(contents, *offset, &head.header);
	}
	*offset += head.head_size + (uint64_t)head.header.stored_size;
	return err;
}

static bool ends_in_damage(const struct nt_source *source, const struct nt_chunk_contents *contents)
{
	const struct nt_damage *last;

	if (!contents->n_damage)
		return false;
	last = &contents->damage[contents->n_damage - 1];
	return last->offset + last->size == source->size;
}

/* ---- a chunk that grows ---- */

/* The header, if all of it is there. 0; 1: not yet; or a negative errno. */
static int grow_header(const struct nt_source *source, uint64_t *offset, struct nt_chunk_contents *contents)
{
	uint8_t bytes[NT_CHUNK_HEAD_MAX];
	const size_t size = source->size < sizeof(bytes) ? (size_t)source->size : sizeof(bytes);
	size_t head_size;
	int err = nt_chunk_is_begun(source);

	if (err)
		return err;
	err = nt_source_read(source, 0, bytes, size);
	if (!err)
		err = nt_chunk_head_parse(bytes, size, &contents->header, &head_size);
	if (!err)
		*offset = head_size;
	return err;
}

/* Whether a whole block, and not one of the index, stands there: 1 or 0. -EBADMSG: no block does, whole or not. */
static int block_at(const struct nt_source *source, uint64_t offset)
{
	struct nt_block_head head;
	int err = nt_source_block_head(source, offset, &head);

	if (err)
		return err;
	return head.header.type != NT_BLOCK_INDEX && head.header.stored_size <= source->size - offset - head.head_size;
}

/* As block_at. Moves over damage first, if a block, whole or not, is behind it already; else it is not known as such.
 */
static int find_whole(const struct nt_source *source, uint64_t *offset, struct nt_chunk_contents *contents)
{
	uint64_t next;
	int found = block_at(source, *offset), err;

	if (found != -EBADMSG || *offset == source->size)
		return found == -EBADMSG ? 0 : found;
	err = nt_chunk_find_block(source, *offset + 1, &next);
	if (err)
		return err;
	/* It may be the trailer, or the end. */
	found = block_at(source, next);
	if (found < 0)
		return found == -EBADMSG ? 0 : found;
	err = nt_contents_add_damage(contents, *offset, next - *offset, "block header does not match its checksum");
	*offset = next;
	return err ? err : found;
}

int nt_chunk_grow(const struct nt_source *source, uint64_t *offset, struct nt_chunk_contents *contents)
{
	struct scan scan = {0};
	int err = 0;

	if (!*offset)
		err = grow_header(source, offset, contents);
	if (err)
		return err < 0 ? err : 0;
	while (!(err < 0) && (err = find_whole(source, offset, contents)) == 1)
		err = scan_step(source, &scan, offset, contents);
	return err;
}

int nt_chunk_grown(const struct nt_source *source, uint64_t offset, struct nt_chunk_contents *contents)
{
	int err = nt_chunk_grow(source, &offset, contents);

	if (!err && !offset)
		err = -EPROTO;
	if (!err)
		err = nt_chunk_scan(source, offset, contents);
	if (!err && source->size >= NT_TRAILER_SIZE)
		err = trailer_at(source, source->size - NT_TRAILER_SIZE);
	contents->indexed = err == 1;
	return err < 0 ? err : 0;
}

/* ---- a chunk as it is ---- */

int nt_chunk_scan(const struct nt_source *source, uint64_t offset, struct nt_chunk_contents *contents)
{
	struct scan scan = {0};
	int err = 0;

	while (!err && offset < source->size && !scan.finished) {
		err = trailer_at(source, offset);
		scan.finished = err == 1;
		if (!err)
			err = scan_step(source, &scan, &offset, contents);
	}
	if (err < 0)
		return err;
	/* An index with nothing behind it. */
	if (scan.n_index && !scan.finished && !ends_in_damage(source, contents))
		return nt_contents_add_damage(contents, source->size, 0, "trailer is damaged or cut short");
	return 0;
}

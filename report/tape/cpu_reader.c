// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpu_reader.c - see cpu_reader.h. From the bottom up: which block comes next; opening a normal block together with the
 * block of long spans before it, and seeing what is missing; the two as one row of records; the window that sorts it.
 */
#include "report/tape/cpu_reader.h"

#include <errno.h>
#include <stdlib.h>

#include "report/tape/follow.h"

#define FITS_TIMELINE(name) _Static_assert(sizeof(struct nt_##name) <= NT_EVENT_SIZE, "NT_EVENT_SIZE and " #name);
#define FITS_LOOSE FITS_TIMELINE
#define FITS_IDENTITY(name)
#define X(number, constant, name, shape, place) FITS_##place(name)
NT_KINDS(X)
#undef X

#define SIZE_TIMELINE(number, name) [number] = sizeof(struct nt_##name),
#define SIZE_LOOSE SIZE_TIMELINE
#define SIZE_IDENTITY(number, name)
#define X(number, constant, name, shape, place) SIZE_##place(number, name)
const uint8_t nt_item_sizes[NT_ITEM_KINDS] = {
	NT_KINDS(X)[NT_ITEM_GAP] = sizeof(struct nt_gap),
	[NT_ITEM_WRONG_BLOCK] = sizeof(struct nt_wrong_block),
};
#undef X

struct nt_cpu_reader *nt_cpu_reader_new(struct nt_tape *tape, uint32_t cpu)
{
	struct nt_cpu_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->tape = tape;
	reader->cpu = cpu;
	reader->between_blocks = true;
	reader->normal.head = reader->window;
	reader->longer.head = &reader->longer_head;
	reader->normal.decoder = nt_event_decoder_new();
	reader->longer.decoder = nt_event_decoder_new();
	if (!reader->normal.decoder || !reader->longer.decoder) {
		nt_cpu_reader_free(reader);
		return NULL;
	}
	return reader;
}

void nt_cpu_reader_begin_at(struct nt_cpu_reader *reader, const struct nt_place *place)
{
	reader->chunk = place->chunk;
	reader->expected = place->sequence;
	reader->normal_end_ns = reader->listed_end_ns = place->end_ns;
}

void nt_cpu_reader_free(struct nt_cpu_reader *reader)
{
	if (!reader)
		return;
	if (reader->contents)
		nt_tape_drop(reader->tape, reader->chunk);
	nt_event_decoder_free(reader->normal.decoder);
	nt_event_decoder_free(reader->longer.decoder);
	nt_buf_release(&reader->normal.raw);
	nt_buf_release(&reader->longer.raw);
	free(reader);
}

/* ---- blocks ---- */

/*
 * The CPU's next block, which stays where it is until the next call. 0; 1: there is none; -EAGAIN: not yet; or another
 * negative errno.
 */
static int next_block(struct nt_cpu_reader *reader, const struct nt_block_ref **out)
{
	while (reader->chunk < reader->tape->n_chunks) {
		const struct nt_tape_chunk *chunk = &reader->tape->chunks[reader->chunk];

		if (!reader->contents && nt_tape_chunk_has(chunk, reader->cpu)) {
			int error = nt_tape_hold(reader->tape, reader->chunk, &reader->contents);

			if (error)
				return error;
			reader->block = 0;
		}
		while (reader->contents && reader->block < reader->contents->n_blocks) {
			const struct nt_block_ref *block = &reader->contents->blocks[reader->block++];

			if (block->header.type == NT_BLOCK_EVENTS && block->header.cpu == reader->cpu &&
			    block->header.sequence >= reader->expected) {
				*out = block;
				return 0;
			}
		}
		if (chunk->grows)
			return -EAGAIN;
		if (reader->contents)
			nt_tape_drop(reader->tape, reader->chunk);
		reader->contents = NULL;
		reader->chunk++;
	}
	return nt_tape_is_followed(reader->tape) ? -EAGAIN : 1;
}

static void miss(struct nt_cpu_reader *reader, const char *why)
{
	reader->missing = true;
	reader->missing_why = why;
}

static void set_gap(struct nt_cpu_reader *reader, uint64_t resume_ns, uint64_t task)
{
	reader->has_gap = true;
	reader->gap.gap =
		(struct nt_gap){.resume_ns = resume_ns, .kind = NT_ITEM_GAP, .task = task, .why = reader->missing_why};
	reader->missing = false;
}

/* The block cannot be had, or not all of it. Only one such is there at a time: fill_window stops. */
static void set_wrong(struct nt_cpu_reader *reader, uint64_t offset, bool damaged)
{
	miss(reader, "damaged block");
	reader->has_wrong = true;
	reader->wrong.wrong = (struct nt_wrong_block){
		.offset = offset, .kind = NT_ITEM_WRONG_BLOCK, .damaged = damaged, .chunk = reader->chunk};
}

/*
 * The rest of the block cannot be decoded although its checksum is right. Of a normal block, what follows is missing up
 * to the next one, which says so; of long spans, they may have been anywhere in the time of the normal block now open.
 */
static void spoiled(struct nt_cpu_reader *reader, struct nt_cpu_reader_input *input)
{
	input->open = input->has_head = false;
	set_wrong(reader, input->offset, false);
	if (input == &reader->normal)
		reader->normal_end_ns = 0;
	else if (reader->normal.open)
		set_gap(reader, reader->normal_end_ns, NT_NO_TASK);
}

/* Reads the next record of the input into its head. */
static int advance(struct nt_cpu_reader *reader, struct nt_cpu_reader_input *input)
{
	/* It writes no more than the record. */
	int error = nt_event_decoder_next(input->decoder, (union nt_any *)input->head);

	input->has_head = !error;
	if (!error)
		return 0;
	if (error == -EBADMSG) {
		spoiled(reader, input);
		return 0;
	}
	input->open = false;
	if (error < 0)
		return error;
	reader->unknown += nt_event_decoder_unknown(input->decoder);
	return 0;
}

/* 0: the input is open; 1: the block is damaged. */
static int open_input(struct nt_cpu_reader *reader, struct nt_cpu_reader_input *input, const struct nt_block_ref *block)
{
	int error;

	input->open = input->has_head = false;
	input->offset = block->offset;
	error = nt_tape_read(reader->tape, reader->chunk, block, &input->raw);
	if (error == -EBADMSG) {
		set_wrong(reader, block->offset, true);
		return 1;
	}
	if (!error)
		error = nt_event_decoder_open(input->decoder, input->raw.data, input->raw.size);
	if (error == -EBADMSG) {
		spoiled(reader, input);
		return 1;
	}
	if (error)
		return error;
	input->open = true;
	return advance(reader, input);
}

/* Whether the CPU's part of the chunk begins with the block: then only blocks of other chunks are absent before it. */
static bool begins_chunk(const struct nt_cpu_reader *reader, const struct nt_block_ref *block)
{
	const struct nt_chunk_contents *contents = reader->contents;

	if (contents->n_damage && contents->damage[0].offset < block->offset)
		return false;
	for (const struct nt_block_ref *before = contents->blocks; before < block; before++) {
		if (before->header.type == NT_BLOCK_EVENTS && before->header.cpu == reader->cpu)
			return false;
	}
	return true;
}

/* Whether the normal block may have had a block of long spans that could not be had. */
static bool may_lack_long(const struct nt_cpu_reader *reader, const struct nt_block_ref *block)
{
	if (!reader->n_absent)
		return block->header.sequence == reader->without_long;
	/* Some time is in none of the blocks that the tape has: one that is absent was a normal one. */
	if (block->header.since_ns > reader->listed_end_ns)
		return reader->n_absent > 1 && !begins_chunk(reader, block);
	return true;
}

/*
 * A normal block after missing ones. If records of normal blocks are missing, the block says until when, and who was on
 * the CPU then. Else, or if the block's own long spans may be missing too, those may lie anywhere in its time.
 */
static void gap_before(struct nt_cpu_reader *reader, const struct nt_block_ref *block)
{
	const struct nt_block_header *header = &block->header;

	if (header->since_ns > reader->normal_end_ns && !may_lack_long(reader, block))
		set_gap(reader, header->since_ns, header->task);
	else
		set_gap(reader, header->last_end_ns, NT_NO_TASK);
}

static void begin_normal(struct nt_cpu_reader *reader, const struct nt_block_ref *block, bool is_damaged)
{
	if (reader->long_of != block->header.sequence)
		reader->longer.open = reader->longer.has_head = false;
	if (!is_damaged) {
		if (reader->missing)
			gap_before(reader, block);
		reader->normal_end_ns = block->header.last_end_ns;
		reader->between_blocks = false;
	}
	reader->listed_end_ns = block->header.last_end_ns;
}

/*
 * Opens the CPU's next block: a normal one, or the block of long spans that belongs to the normal one behind it. Long
 * spans whose normal block is missing are left out with it: they lie in time that is uncovered. It is missing too where
 * another block of long spans follows at once. 0, 1: the CPU has no more, or a negative errno.
 */
static int open_block(struct nt_cpu_reader *reader)
{
	const struct nt_block_ref *block;
	const struct nt_block_header *header;
	bool is_long;
	int error = next_block(reader, &block);

	if (error)
		return error;
	header = &block->header;
	is_long = header->flags & NT_BLOCK_LONG;
	reader->n_absent = header->sequence - reader->expected;
	if (reader->n_absent || (is_long && reader->longer.has_head && !reader->missing))
		miss(reader, "missing block");
	reader->expected = header->sequence + 1;
	error = open_input(reader, is_long ? &reader->longer : &reader->normal, block);
	if (error < 0)
		return error;
	if (!is_long) {
		begin_normal(reader, block, error);
		return 0;
	}
	reader->long_of = reader->expected;
	if (!reader->longer.has_head)
		reader->without_long = reader->expected;
	return 0;
}

/* ---- records ---- */

/*
 * Gives the input whose record comes next; a long span goes before what ended at the same time, as its ring had it.
 * A loose record goes at once: it says nothing of when those behind it ended.
 */
static struct nt_cpu_reader_input *next_input(struct nt_cpu_reader *reader)
{
	if (reader->normal.has_head && nt_item_is_loose(reader->normal.head))
		return &reader->normal;
	if (!reader->longer.has_head)
		return reader->normal.has_head ? &reader->normal : NULL;
	if (nt_item_is_loose(reader->longer.head))
		return &reader->longer;
	if (!reader->normal.has_head || reader->longer.head->record.end_ns <= reader->normal.head->record.end_ns)
		return &reader->longer;
	return &reader->normal;
}

static union nt_item *window_at(struct nt_cpu_reader *reader, unsigned int i)
{
	return &reader->window[(reader->first + i) % NT_WINDOW];
}

/* Whether a record goes before another that the window has. Nothing is moved over a loss. */
static bool goes_before(const union nt_item *item, const union nt_item *other)
{
	return other->record.end_ns > item->record.end_ns && other->record.kind != NT_LOSS &&
	       item->record.kind != NT_LOSS;
}

/* Moves the record at the end of the window behind those that ended no later. */
static void put_in_order(struct nt_cpu_reader *reader)
{
	unsigned int at = reader->n - 1;
	const union nt_item item = *window_at(reader, at);

	for (; at && goes_before(&item, window_at(reader, at - 1)); at--)
		*window_at(reader, at) = *window_at(reader, at - 1);
	*window_at(reader, at) = item;
}

/* Puts the head of an input into the window. */
static void insert(struct nt_cpu_reader *reader, struct nt_cpu_reader_input *input)
{
	union nt_item *const end = reader->normal.head, *const next = window_at(reader, reader->n + 1);

	if (input == &reader->longer) {
		*next = *end;
		*end = *input->head;
	}
	reader->normal.head = next;
	reader->n++;
	if (reader->n > 1 && goes_before(end, window_at(reader, reader->n - 2)))
		put_in_order(reader);
}

/* The last blocks of the CPU could not be had: what was in them reaches to the end. */
static void end_reader(struct nt_cpu_reader *reader)
{
	reader->ended = true;
	if (reader->missing)
		set_gap(reader, reader->tape->end_ns, NT_NO_TASK);
}

/* Puts the next record where it belongs; without one, blocks are to be opened. */
static int take_record(struct nt_cpu_reader *reader)
{
	struct nt_cpu_reader_input *input = next_input(reader);

	if (!input) {
		reader->between_blocks = true;
		return 0;
	}
	reader->has_loose = nt_item_is_loose(input->head);
	if (reader->has_loose)
		reader->loose = *input->head;
	else
		insert(reader, input);
	return advance(reader, input);
}

/* Whether a loose record of a long block comes next: it needs no normal block. */
static bool has_loose_ahead(const struct nt_cpu_reader *reader)
{
	return reader->longer.has_head && nt_item_is_loose(reader->longer.head);
}

static int fill_window(struct nt_cpu_reader *reader)
{
	int error = 0;

	while (!error && reader->n < NT_REORDER && !reader->has_gap && !reader->ended && !reader->has_loose &&
	       !reader->has_wrong) {
		error = reader->between_blocks && !has_loose_ahead(reader) ? open_block(reader) : take_record(reader);
		if (error == 1) {
			end_reader(reader);
			error = 0;
		}
	}
	return error;
}

/* Whether no record may come that goes before the first of the window. */
static bool is_settled(const struct nt_cpu_reader *reader)
{
	return reader->n && reader->window[reader->first].record.end_ns <= reader->tape->settled_ns;
}

int nt_cpu_reader_next(struct nt_cpu_reader *reader, union nt_item *out)
{
	int error = fill_window(reader);

	if (error && !(error == -EAGAIN && is_settled(reader)))
		return error;
	if (reader->has_wrong) {
		*out = reader->wrong;
		reader->has_wrong = false;
	} else if (reader->has_loose) {
		*out = reader->loose;
		reader->has_loose = false;
	} else if (reader->n) {
		*out = reader->window[reader->first];
		reader->first = (reader->first + 1) % NT_WINDOW;
		reader->n--;
	} else if (reader->has_gap) {
		*out = reader->gap;
		reader->has_gap = false;
	} else {
		return 1;
	}
	return 0;
}

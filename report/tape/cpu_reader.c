// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpu_reader.c - see cpu_reader.h. From the bottom up: which block comes next; opening a normal block together with the
 * block of long spans before it, and seeing what is missing; the two as one row of records; the window that sorts it.
 */
#include "report/tape/cpu_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FITS_EVENT(name) _Static_assert(sizeof(struct nt_##name) <= NT_EVENT_SIZE, "NT_EVENT_SIZE and " #name);
#define FITS_SPAN FITS_EVENT
#define FITS_SAMPLE FITS_EVENT
#define FITS_IDENTITY(name)
#define X(number, constant, name, class) FITS_##class(name)
NT_KINDS(X)
#undef X

struct nt_cpu_reader *nt_cpu_reader_new(struct nt_tape *tape, uint32_t cpu)
{
	struct nt_cpu_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->tape = tape;
	reader->cpu = cpu;
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
	reader->normal_end_ns = reader->given_ns = place->end_ns;
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

/* The CPU's next block, which stays where it is until the next call. 0, 1: there is none, or a negative errno. */
static int next_block(struct nt_cpu_reader *reader, const struct nt_block_ref **out)
{
	while (reader->chunk < reader->tape->n_chunks) {
		if (!reader->contents && nt_tape_chunk_has(&reader->tape->chunks[reader->chunk], reader->cpu)) {
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
		if (reader->contents)
			nt_tape_drop(reader->tape, reader->chunk);
		reader->contents = NULL;
		reader->chunk++;
	}
	return 1;
}

static void miss(struct nt_cpu_reader *reader, const char *why)
{
	reader->missing = true;
	reader->missing_why = why;
}

static void set_gap(struct nt_cpu_reader *reader, uint64_t resume_ns, uint64_t task)
{
	reader->has_gap = true;
	reader->gap_resume_ns = resume_ns;
	reader->gap_task = task;
	reader->gap_why = reader->missing_why;
	reader->missing = false;
}

/*
 * The rest of the block cannot be decoded although its checksum is right. Of a normal block, what follows is missing up
 * to the next one, which says so; of long spans, they may have been anywhere in the time of the normal block now open.
 */
static int spoiled(struct nt_cpu_reader *reader, struct nt_cpu_reader_input *input)
{
	input->open = input->has_head = false;
	miss(reader, "damaged block");
	if (input == &reader->normal)
		reader->normal_end_ns = 0;
	else if (reader->normal.open)
		set_gap(reader, reader->normal_end_ns, NT_NO_TASK);
	return nt_tape_bad_block(reader->tape, reader->chunk, input->offset);
}

/* Reads the next record of the input into its head. */
static int advance(struct nt_cpu_reader *reader, struct nt_cpu_reader_input *input)
{
	int error = nt_event_decoder_next(input->decoder, &input->head);

	input->has_head = !error;
	if (!error)
		return 0;
	if (error == -EBADMSG)
		return spoiled(reader, input);
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
	error = nt_tape_load(reader->tape, reader->chunk, block, &input->raw);
	if (error == -EBADMSG) {
		miss(reader, "damaged block");
		return 1;
	}
	if (!error)
		error = nt_event_decoder_open(input->decoder, input->raw.data, input->raw.size);
	if (error == -EBADMSG) {
		error = spoiled(reader, input);
		return error ? error : 1;
	}
	if (error)
		return error;
	input->open = true;
	return advance(reader, input);
}

/*
 * A normal block after missing ones. If records of normal blocks are missing, the block says until when, and who was on
 * the CPU then. Else, or if that is known to be missing too, it was a block of long spans, and those may lie anywhere
 * in the time of this block.
 */
static void gap_before(struct nt_cpu_reader *reader, const struct nt_block_header *header)
{
	if (header->since_ns > reader->normal_end_ns && header->sequence != reader->without_long)
		set_gap(reader, header->since_ns, header->task);
	else
		set_gap(reader, header->last_end_ns, NT_NO_TASK);
}

/*
 * Opens the next normal block and the block of long spans that belongs to it. Long spans whose normal block is missing
 * are left out with it: they lie in time that is uncovered. 0, 1: the CPU has no more, or a negative errno.
 */
static int open_blocks(struct nt_cpu_reader *reader)
{
	for (;;) {
		const struct nt_block_ref *block;
		const struct nt_block_header *header;
		bool is_long;
		int error = next_block(reader, &block);

		if (error)
			return error;
		header = &block->header;
		is_long = header->flags & NT_BLOCK_LONG;
		if (header->sequence != reader->expected)
			miss(reader, "missing block");
		reader->expected = header->sequence + 1;
		error = open_input(reader, is_long ? &reader->longer : &reader->normal, block);
		if (error < 0)
			return error;
		if (is_long && !reader->longer.has_head)
			reader->without_long = reader->expected;
		if (is_long || error)
			continue;
		if (reader->missing)
			gap_before(reader, header);
		reader->normal_end_ns = header->last_end_ns;
		return 0;
	}
}

/* ---- records ---- */

/* A sample, or the loss of samples: they have no place in the order of events, and must not change it. */
static bool is_loose(const union nt_any *record)
{
	return nt_kind_is_sample(record->record.kind == NT_LOSS ? record->as_loss.lost_kind : record->record.kind);
}

/*
 * Gives the input whose record comes next; a long span goes before what ended at the same time, as its ring had it.
 * What is loose goes at once: it says nothing of when what stands behind it ended. (No long span is.)
 */
static struct nt_cpu_reader_input *next_input(struct nt_cpu_reader *reader)
{
	if (reader->normal.has_head && is_loose(&reader->normal.head))
		return &reader->normal;
	if (!reader->longer.has_head)
		return reader->normal.has_head ? &reader->normal : NULL;
	if (!reader->normal.has_head || reader->longer.head.record.end_ns <= reader->normal.head.record.end_ns)
		return &reader->longer;
	return &reader->normal;
}

/* Puts a record into the window, behind those that ended no later. */
static void insert(struct nt_cpu_reader *reader, const union nt_any *record)
{
	unsigned int at = (reader->first + reader->n++) % NT_REORDER;
	uint64_t end_ns = record->record.end_ns;
	bool fixed = record->record.kind == NT_LOSS;

	while (!fixed && at != reader->first) {
		unsigned int before = (at + NT_REORDER - 1) % NT_REORDER;

		if (reader->window[before].record.end_ns <= end_ns || reader->window[before].record.kind == NT_LOSS)
			break;
		reader->window[at] = reader->window[before];
		at = before;
	}
	memcpy(&reader->window[at], record, NT_EVENT_SIZE);
}

/* The last blocks of the CPU could not be had: what was in them reaches to the end. */
static void end_reader(struct nt_cpu_reader *reader)
{
	reader->ended = true;
	if (reader->missing)
		set_gap(reader, reader->tape->end_ns, NT_NO_TASK);
}

static int fill_window(struct nt_cpu_reader *reader)
{
	while (reader->n < NT_REORDER && !reader->has_gap && !reader->ended && !reader->has_loose) {
		struct nt_cpu_reader_input *input = next_input(reader);
		int error;

		if (!input) {
			error = open_blocks(reader);
			if (error < 0)
				return error;
			if (error)
				end_reader(reader);
			continue;
		}
		reader->has_loose = is_loose(&input->head);
		if (reader->has_loose)
			memcpy(&reader->loose, &input->head, NT_EVENT_SIZE);
		else
			insert(reader, &input->head);
		error = advance(reader, input);
		if (error)
			return error;
	}
	return 0;
}

int nt_cpu_reader_prepare(struct nt_cpu_reader *reader)
{
	int error = fill_window(reader);
	const struct nt_record *first;

	if (error)
		return error;
	if (!reader->n && !reader->has_gap && !reader->has_loose)
		return 1;
	/* What has no place in the order goes at once: no event of another CPU may depend on it. */
	if (reader->has_loose) {
		reader->key_ns = 0;
		return 0;
	}
	/* What says that something is missing goes before what happened elsewhere meanwhile. */
	first = &reader->window[reader->first].record;
	if (!reader->n || first->kind == NT_LOSS || first->kind == NT_HOTPLUG)
		reader->key_ns = reader->given_ns;
	else
		reader->key_ns = first->end_ns;
	return 0;
}

void nt_cpu_reader_take(struct nt_cpu_reader *reader, struct nt_merged *out)
{
	const union nt_event *event = &reader->window[reader->first];

	out->cpu = reader->cpu;
	out->is_gap = !reader->n && !reader->has_loose;
	if (reader->has_loose) {
		memcpy(&out->record, &reader->loose, NT_EVENT_SIZE);
		reader->has_loose = false;
		return;
	}
	if (out->is_gap) {
		out->resume_ns = reader->gap_resume_ns;
		out->task = reader->gap_task;
		out->why = reader->gap_why;
		reader->has_gap = false;
		return;
	}
	memcpy(&out->record, event, NT_EVENT_SIZE);
	if (event->record.end_ns > reader->given_ns)
		reader->given_ns = event->record.end_ns;
	reader->first = (reader->first + 1) % NT_REORDER;
	reader->n--;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpu_reader.c - see cpu_reader.h. From the bottom up: which block comes next; opening a normal block together with the block
 * of long spans before it, and seeing what is missing; the two as one row of records; the window that sorts it.
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

struct nt_stream *nt_stream_new(struct nt_tape *tape, uint32_t cpu)
{
	struct nt_stream *stream = calloc(1, sizeof(*stream));

	if (!stream)
		return NULL;
	stream->tape = tape;
	stream->cpu = cpu;
	stream->normal.decoder = nt_event_decoder_new();
	stream->longer.decoder = nt_event_decoder_new();
	if (!stream->normal.decoder || !stream->longer.decoder) {
		nt_stream_free(stream);
		return NULL;
	}
	return stream;
}

void nt_stream_free(struct nt_stream *stream)
{
	if (!stream)
		return;
	if (stream->contents)
		nt_tape_drop(stream->tape, stream->chunk);
	nt_event_decoder_free(stream->normal.decoder);
	nt_event_decoder_free(stream->longer.decoder);
	nt_buf_release(&stream->normal.raw);
	nt_buf_release(&stream->longer.raw);
	free(stream);
}

/* ---- blocks ---- */

static bool chunk_has(const struct nt_stream *stream)
{
	const struct nt_tape_chunk *chunk = &stream->tape->chunks[stream->chunk];

	return stream->cpu < chunk->n_cpus && chunk->cpus[stream->cpu];
}

/* The CPU's next block, which stays where it is until the next call. 0, 1: there is none, or a negative errno. */
static int next_block(struct nt_stream *stream, const struct nt_block_ref **out)
{
	while (stream->chunk < stream->tape->n_chunks) {
		if (!stream->contents && chunk_has(stream)) {
			int error = nt_tape_hold(stream->tape, stream->chunk, &stream->contents);

			if (error)
				return error;
			stream->block = 0;
		}
		while (stream->contents && stream->block < stream->contents->n_blocks) {
			const struct nt_block_ref *block = &stream->contents->blocks[stream->block++];

			if (block->header.type == NT_BLOCK_EVENTS && block->header.cpu == stream->cpu &&
			    block->header.sequence >= stream->expected) {
				*out = block;
				return 0;
			}
		}
		if (stream->contents)
			nt_tape_drop(stream->tape, stream->chunk);
		stream->contents = NULL;
		stream->chunk++;
	}
	return 1;
}

static void miss(struct nt_stream *stream, const char *why)
{
	stream->missing = true;
	stream->missing_why = why;
}

static void set_gap(struct nt_stream *stream, uint64_t resume_ns, uint64_t task)
{
	stream->has_gap = true;
	stream->gap_resume_ns = resume_ns;
	stream->gap_task = task;
	stream->gap_why = stream->missing_why;
	stream->missing = false;
}

/*
 * The rest of the block cannot be decoded although its checksum is right. Of a normal block, what follows is missing up
 * to the next one, which says so; of long spans, they may have been anywhere in the time of the normal block now open.
 */
static int spoiled(struct nt_stream *stream, struct nt_stream_input *input)
{
	input->open = input->has_head = false;
	miss(stream, "damaged block");
	if (input == &stream->normal)
		stream->normal_end_ns = 0;
	else if (stream->normal.open)
		set_gap(stream, stream->normal_end_ns, NT_NO_TASK);
	return nt_tape_problem(stream->tape, "%s: the block at byte %llu does not hold what the chunk format says.",
			       stream->tape->chunks[stream->chunk].name, (unsigned long long)input->offset);
}

/* Reads the next record of the input into its head. */
static int advance(struct nt_stream *stream, struct nt_stream_input *input)
{
	int error = nt_event_decoder_next(input->decoder, &input->head);

	input->has_head = !error;
	if (!error)
		return 0;
	if (error == -EBADMSG)
		return spoiled(stream, input);
	input->open = false;
	if (error < 0)
		return error;
	stream->unknown += nt_event_decoder_unknown(input->decoder);
	return 0;
}

/* 0: the input is open; 1: the block is damaged. */
static int open_input(struct nt_stream *stream, struct nt_stream_input *input, const struct nt_block_ref *block)
{
	int error;

	input->open = input->has_head = false;
	input->offset = block->offset;
	error = nt_tape_load(stream->tape, stream->chunk, block, &input->raw);
	if (error == -EBADMSG) {
		miss(stream, "damaged block");
		return 1;
	}
	if (!error)
		error = nt_event_decoder_open(input->decoder, input->raw.data, input->raw.size);
	if (error == -EBADMSG) {
		error = spoiled(stream, input);
		return error ? error : 1;
	}
	if (error)
		return error;
	input->open = true;
	return advance(stream, input);
}

/*
 * A normal block after missing ones. If records of normal blocks are missing, the block says until when, and who was on
 * the CPU then. Else, or if that is known to be missing too, it was a block of long spans, and those may lie anywhere in
 * the time of this block.
 */
static void gap_before(struct nt_stream *stream, const struct nt_block_header *header)
{
	if (header->since_ns > stream->normal_end_ns && header->sequence != stream->without_long)
		set_gap(stream, header->since_ns, header->task);
	else
		set_gap(stream, header->last_end_ns, NT_NO_TASK);
}

/*
 * Opens the next normal block and the block of long spans that belongs to it. Long spans whose normal block is missing
 * are left out with it: they lie in time that is uncovered. 0, 1: the CPU has no more, or a negative errno.
 */
static int open_blocks(struct nt_stream *stream)
{
	for (;;) {
		const struct nt_block_ref *block;
		const struct nt_block_header *header;
		bool is_long;
		int error = next_block(stream, &block);

		if (error)
			return error;
		header = &block->header;
		is_long = header->flags & NT_BLOCK_LONG;
		if (header->sequence != stream->expected)
			miss(stream, "missing block");
		stream->expected = header->sequence + 1;
		error = open_input(stream, is_long ? &stream->longer : &stream->normal, block);
		if (error < 0)
			return error;
		if (is_long && !stream->longer.has_head)
			stream->without_long = stream->expected;
		if (is_long || error)
			continue;
		if (stream->missing)
			gap_before(stream, header);
		stream->normal_end_ns = header->last_end_ns;
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
static struct nt_stream_input *next_input(struct nt_stream *stream)
{
	if (stream->normal.has_head && is_loose(&stream->normal.head))
		return &stream->normal;
	if (!stream->longer.has_head)
		return stream->normal.has_head ? &stream->normal : NULL;
	if (!stream->normal.has_head || stream->longer.head.record.end_ns <= stream->normal.head.record.end_ns)
		return &stream->longer;
	return &stream->normal;
}

/* Puts a record into the window, behind those that ended no later. */
static void insert(struct nt_stream *stream, const union nt_any *record)
{
	unsigned int at = (stream->first + stream->n++) % NT_REORDER;
	uint64_t end_ns = record->record.end_ns;
	bool fixed = record->record.kind == NT_LOSS;

	while (!fixed && at != stream->first) {
		unsigned int before = (at + NT_REORDER - 1) % NT_REORDER;

		if (stream->window[before].end_ns <= end_ns || stream->window[before].kind == NT_LOSS)
			break;
		stream->window[at] = stream->window[before];
		at = before;
	}
	stream->window[at].end_ns = end_ns;
	stream->window[at].kind = record->record.kind;
	memcpy(stream->window[at].bytes, record, NT_EVENT_SIZE);
}

/* The last blocks of the CPU could not be had: what was in them reaches to the end. */
static void end_stream(struct nt_stream *stream)
{
	stream->ended = true;
	if (stream->missing)
		set_gap(stream, stream->tape->end_ns, NT_NO_TASK);
}

static int fill_window(struct nt_stream *stream)
{
	while (stream->n < NT_REORDER && !stream->has_gap && !stream->ended && !stream->has_loose) {
		struct nt_stream_input *input = next_input(stream);
		int error;

		if (!input) {
			error = open_blocks(stream);
			if (error < 0)
				return error;
			if (error)
				end_stream(stream);
			continue;
		}
		stream->has_loose = is_loose(&input->head);
		if (stream->has_loose)
			memcpy(stream->loose, &input->head, NT_EVENT_SIZE);
		else
			insert(stream, &input->head);
		error = advance(stream, input);
		if (error)
			return error;
	}
	return 0;
}

int nt_stream_prepare(struct nt_stream *stream)
{
	int error = fill_window(stream);

	if (error)
		return error;
	if (!stream->n && !stream->has_gap && !stream->has_loose)
		return 1;
	/* What has no place in the order goes at once: no event of another CPU may depend on it. */
	if (stream->has_loose) {
		stream->key_ns = 0;
		return 0;
	}
	/* What says that something is missing goes before what happened elsewhere meanwhile. */
	if (!stream->n || stream->window[stream->first].kind == NT_LOSS ||
	    stream->window[stream->first].kind == NT_HOTPLUG)
		stream->key_ns = stream->given_ns;
	else
		stream->key_ns = stream->window[stream->first].end_ns;
	return 0;
}

void nt_stream_take(struct nt_stream *stream, struct nt_merged *out)
{
	const struct nt_stream_slot *slot = &stream->window[stream->first];

	out->cpu = stream->cpu;
	out->is_gap = !stream->n && !stream->has_loose;
	if (stream->has_loose) {
		memcpy(&out->record, stream->loose, NT_EVENT_SIZE);
		stream->has_loose = false;
		return;
	}
	if (out->is_gap) {
		out->resume_ns = stream->gap_resume_ns;
		out->task = stream->gap_task;
		out->why = stream->gap_why;
		stream->has_gap = false;
		return;
	}
	memcpy(&out->record, slot->bytes, NT_EVENT_SIZE);
	if (slot->end_ns > stream->given_ns)
		stream->given_ns = slot->end_ns;
	stream->first = (stream->first + 1) % NT_REORDER;
	stream->n--;
}

uint64_t nt_stream_unknown(const struct nt_stream *stream)
{
	return stream->unknown;
}

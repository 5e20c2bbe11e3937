// SPDX-License-Identifier: GPL-2.0-only
/* place.c - see place.h. */
#include "report/tape/place.h"

#include <errno.h>

#include "report/util/array.h"
#include "schema/span.h"

/* The CPU's last normal block of the chunk before the first that has a record of at_ns or later. *found: there is one.
 */
static int find_in_chunk(struct nt_tape *tape, size_t chunk, uint32_t cpu, uint64_t at_ns, struct nt_place *out,
			 bool *found)
{
	const struct nt_chunk_contents *contents;
	int error = nt_tape_hold(tape, chunk, &contents);

	if (error)
		return error;
	for (size_t i = 0; i < contents->n_blocks; i++) {
		const struct nt_block_header *header = &contents->blocks[i].header;

		if (header->type != NT_BLOCK_EVENTS || header->cpu != cpu)
			continue;
		if (header->last_end_ns >= at_ns)
			break;
		if (header->flags & NT_BLOCK_LONG)
			continue;
		*out = (struct nt_place){
			.chunk = chunk, .sequence = header->sequence + 1, .end_ns = header->last_end_ns};
		*found = true;
	}
	nt_tape_drop(tape, chunk);
	return 0;
}

int nt_place_find(struct nt_tape *tape, uint32_t cpu, uint64_t at_ns, struct nt_place *out)
{
	size_t chunk =
		NT_FIRST(tape->n_chunks, i,
			 nt_tape_chunk_has(&tape->chunks[i], cpu) && tape->chunks[i].cpus[cpu].last_end_ns >= at_ns);
	bool found = false;
	int error = 0;

	*out = (struct nt_place){.chunk = 0};
	for (chunk += chunk < tape->n_chunks; chunk-- && !found && !error;) {
		if (nt_tape_chunk_has(&tape->chunks[chunk], cpu))
			error = find_in_chunk(tape, chunk, cpu, at_ns, out, &found);
	}
	return error;
}

/* ---- spans ---- */

static bool is_wanted(const struct nt_spans_wanted *wanted, const union nt_any *record)
{
	const uint64_t begin_ns = nt_span_begin(record);

	return wanted->kinds >> record->record.kind & 1 && wanted->from_ns <= begin_ns && begin_ns < wanted->to_ns;
}

/* The last end of a wanted span in a block of long ones; *until_ns: none later. */
static int last_long_span(struct nt_tape *tape, size_t chunk, const struct nt_block_ref *block,
			  const struct nt_spans_wanted *wanted, uint64_t *until_ns)
{
	struct nt_event_decoder *decoder = nt_event_decoder_new();
	struct nt_buf raw = {0};
	union nt_any record;
	int error = decoder ? nt_tape_load(tape, chunk, block, &raw) : -ENOMEM;

	if (!error)
		error = nt_event_decoder_open(decoder, raw.data, raw.size);
	while (!error && !(error = nt_event_decoder_next(decoder, &record))) {
		if (is_wanted(wanted, &record) && record.record.end_ns > *until_ns)
			*until_ns = record.record.end_ns;
	}
	nt_event_decoder_free(decoder);
	nt_buf_release(&raw);
	/* The reader of the block will tell of its damage. */
	return error == 1 || error == -EBADMSG ? 0 : error;
}

static int last_span_in_chunk(struct nt_tape *tape, size_t chunk, uint32_t cpu, const struct nt_spans_wanted *wanted,
			      uint64_t *until_ns)
{
	const struct nt_chunk_contents *contents;
	int error = nt_tape_hold(tape, chunk, &contents);

	if (error)
		return error;
	for (size_t i = 0; i < contents->n_blocks && !error; i++) {
		const struct nt_block_ref *block = &contents->blocks[i];
		const struct nt_block_header *header = &block->header;

		if (header->type != NT_BLOCK_EVENTS || header->cpu != cpu || header->least_begin_ns >= wanted->to_ns ||
		    header->last_end_ns <= *until_ns)
			continue;
		if (header->flags & NT_BLOCK_LONG)
			error = last_long_span(tape, chunk, block, wanted, until_ns);
		else
			*until_ns = header->last_end_ns;
	}
	nt_tape_drop(tape, chunk);
	return error;
}

/* Whether a span may have begun before ns and ended after until_ns. */
static bool may_hold_span(const struct nt_tape_chunk *chunk, uint32_t cpu, uint64_t ns, uint64_t until_ns)
{
	if (!nt_tape_chunk_has(chunk, cpu) || chunk->cpus[cpu].last_end_ns <= until_ns)
		return false;
	return chunk->cpus[cpu].least_begin_ns < ns || chunk->cpus[cpu].least_long_ns < ns;
}

int nt_place_last_span(struct nt_tape *tape, uint32_t cpu, const struct nt_spans_wanted *wanted, uint64_t *until_ns)
{
	int error = 0;

	*until_ns = wanted->to_ns;
	for (size_t chunk = tape->n_chunks; chunk-- && !error;) {
		if (may_hold_span(&tape->chunks[chunk], cpu, wanted->to_ns, *until_ns))
			error = last_span_in_chunk(tape, chunk, cpu, wanted, until_ns);
	}
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * stream.c - see stream.h.
 */
#include "record/stream.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "record/stacks.h"
#include "schema/span.h"

#define IDENTITIES_CUT_BYTES (1u << 20)

int nt_stream_init(struct nt_stream *stream, uint32_t cpu, struct nt_ids *ids, struct nt_user_files *files,
		   struct nt_tape_writer *tape)
{
	memset(stream, 0, sizeof(*stream));
	stream->cpu = cpu;
	stream->ids = ids;
	stream->files = files;
	stream->tape = tape;
	stream->events = nt_event_encoder_new();
	stream->longs = nt_event_encoder_new();
	return stream->events && stream->longs ? 0 : -ENOMEM;
}

void nt_stream_release(struct nt_stream *stream)
{
	nt_event_encoder_free(stream->events);
	nt_event_encoder_free(stream->longs);
	nt_buf_release(&stream->raw);
	memset(stream, 0, sizeof(*stream));
}

/* Blocks are bounded, and a large host has more tasks and sockets at the start than one may hold. */
static int flush_buffer(struct nt_buf *rows, struct nt_tape_writer *tape)
{
	size_t from = 0, size;
	int error = 0;

	while (from < rows->size && !error) {
		struct nt_block_header header = {.type = NT_BLOCK_IDENTITIES};

		size = nt_identity_cut(rows->data + from, rows->size - from, IDENTITIES_CUT_BYTES);
		error = nt_tape_writer_block(tape, &header, rows->data + from, size);
		from += size;
	}
	rows->size = 0;
	return error;
}

int nt_flush_identities(struct nt_ids *ids, struct nt_tape_writer *tape, bool all)
{
	int error = flush_buffer(&ids->pending, tape);

	return error || (!all && ids->dictionary.size < NT_BLOCK_CUT_BYTES) ? error
									    : flush_buffer(&ids->dictionary, tape);
}

/* Losses are no spans, so they are never in a block of long ones. */
static int put_block(struct nt_stream *stream, struct nt_block_header *header)
{
	const struct nt_buf *raw = &stream->raw;
	uint64_t lost = stream->lost_total - stream->lost_before;
	uint64_t missed = stream->missed_total - stream->missed_before;

	if (header->flags & NT_BLOCK_LONG)
		return nt_tape_writer_events(stream->tape, header, raw->data, raw->size, 0, 0);
	stream->lost_before = stream->lost_total;
	stream->missed_before = stream->missed_total;
	return nt_tape_writer_events(stream->tape, header, raw->data, raw->size, lost, missed);
}

static int write_events(struct nt_stream *stream, struct nt_event_encoder *encoder, uint8_t flags)
{
	struct nt_event_stats stats = *nt_event_encoder_stats(encoder);
	struct nt_block_header header = {
		.type = NT_BLOCK_EVENTS,
		.flags = flags,
		.cpu = stream->cpu,
		.sequence = stream->sequence,
		.count = stats.count,
		.least_begin_ns = stats.least_begin_ns,
		.first_end_ns = stats.first_end_ns,
		.last_end_ns = stats.last_end_ns,
		.since_ns = stream->since_ns,
		.task = stream->since_task,
		.lag_ns = stream->lag_ns,
	};
	int error;

	if (!stats.count)
		return 0;
	stream->raw.size = 0;
	error = nt_event_encoder_finish(encoder, &stream->raw);
	if (!error)
		error = put_block(stream, &header);
	stream->sequence++;
	if (!(flags & NT_BLOCK_LONG)) {
		stream->since_ns = stats.last_end_ns;
		stream->since_task = stream->task;
	}
	return error;
}

int nt_stream_flush(struct nt_stream *stream)
{
	int error = nt_flush_identities(stream->ids, stream->tape, false);

	if (!error)
		error = write_events(stream, stream->longs, NT_BLOCK_LONG);
	if (!error)
		error = write_events(stream, stream->events, stream->has_loss ? NT_BLOCK_HAS_LOSS : 0);
	stream->has_loss = false;
	stream->opened_ns = 0;
	stream->lag_ns = 0;
	return error;
}

int nt_stream_flush_old(struct nt_stream *stream, uint64_t now_ns)
{
	if (!stream->opened_ns || now_ns - stream->opened_ns < NT_BLOCK_CUT_NS)
		return 0;
	return nt_stream_flush(stream);
}

void nt_stream_begin_drain(struct nt_stream *stream, uint64_t now_ns)
{
	stream->drain_ns = now_ns;
	stream->lost_bytes = 0;
}

void nt_stream_end_drain(struct nt_stream *stream)
{
	if (stream->lost_bytes > stream->lost_bytes_max)
		stream->lost_bytes_max = stream->lost_bytes;
}

static void observe_loss(struct nt_stream *stream, const struct nt_loss *loss)
{
	const struct nt_kind_info *kind = nt_kind(loss->lost_kind);

	stream->has_loss = true;
	stream->lost[loss->lost_kind % NT_KIND_MAX] += loss->count;
	if (loss->lost_kind == NT_SWITCH)
		stream->task = NT_NO_TASK;
	if (loss->why == NT_LOSS_NOT_RUN) {
		stream->missed_total += loss->count;
		return;
	}
	stream->lost_total += loss->count;
	stream->lost_bytes += loss->count * (uint64_t)((kind ? kind->size : 0) + 8);
}

/* Updates the stream's own state by an event that goes by. */
static void observe(struct nt_stream *stream, const union nt_any *record)
{
	switch (record->record.kind) {
	case NT_STATE:
		stream->task = record->as_state.task;
		stream->state_ns = record->record.end_ns;
		break;
	case NT_SWITCH:
		stream->task = record->as_switch.next;
		stream->state_ns = record->record.end_ns;
		break;
	case NT_LOSS:
		observe_loss(stream, &record->as_loss);
		break;
	case NT_HOTPLUG:
		stream->came_online |= record->as_hotplug.online;
		break;
	}
}

/* A block's age counts from its first record; how late the reader is shows there too. */
static void open_block(struct nt_stream *stream, uint64_t end_ns)
{
	uint64_t lag = stream->drain_ns > end_ns ? stream->drain_ns - end_ns : 0;

	stream->opened_ns = stream->drain_ns;
	stream->lag_ns = lag;
	if (lag > stream->lag_max_ns)
		stream->lag_max_ns = lag;
}

static int add_event(struct nt_stream *stream, union nt_any *record)
{
	struct nt_event_encoder *encoder = stream->events;
	int error = nt_ids_translate(stream->ids, record);

	if (error)
		return error;
	if (!stream->opened_ns)
		open_block(stream, record->record.end_ns);
	observe(stream, record);
	stream->records[record->record.kind]++;
	if (nt_span_dur(record) > NT_BLOCK_LONG_NS)
		encoder = stream->longs;
	return nt_event_encoder_add(encoder, record);
}

uint64_t nt_stream_events(const struct nt_stream *stream)
{
	uint64_t n = 0;

	for (int kind = 0; kind < NT_KIND_MAX; kind++)
		n += stream->records[kind];
	return n;
}

int nt_stream_print(const struct nt_stream *stream, struct nt_buf *text)
{
	int error = 0;

	for (unsigned int kind = 0; kind < NT_KIND_MAX && !error; kind++) {
		const uint64_t records = stream->records[kind], lost = stream->lost[kind];

		if (nt_kind(kind) && (records || lost))
			error = nt_buf_print(text, "%u %s %" PRIu64 " %" PRIu64 "\n", stream->cpu, nt_kind(kind)->name,
					     records, lost);
	}
	return error;
}

static bool is_full(const struct nt_stream *stream)
{
	return nt_event_encoder_size(stream->events) >= NT_BLOCK_CUT_BYTES ||
	       nt_event_encoder_size(stream->longs) >= NT_BLOCK_CUT_BYTES;
}

int nt_stream_take_item(void *arg, const uint8_t *data, size_t size)
{
	struct nt_stream *stream = arg;
	size_t at = 0;
	int error = 0;

	/* A stack is larger than any record, and alone in its item. */
	if (nt_stacks_is_message(data, size)) {
		error = nt_stacks_put(stream->ids, stream->files, data, size);
		if (error != -EBADMSG)
			return error;
		stream->malformed++;
		return 0;
	}
	while (at + sizeof(struct nt_record) <= size && !error) {
		const uint8_t kind = data[at + offsetof(struct nt_record, kind)];
		const size_t record_size = nt_kind_size(kind);
		union nt_any record;

		if (!record_size || kind == NT_STACK || at + record_size > size) {
			stream->malformed++;
			return 0;
		}
		memcpy(&record, data + at, record_size);
		at += record_size;
		if (nt_kind_is_of_cpu(kind))
			error = add_event(stream, &record);
		else
			error = nt_ids_put(stream->ids, &record);
	}
	/* Cut between items only: what is open must not be parted from its state record. */
	return error || !is_full(stream) ? error : nt_stream_flush(stream);
}

int nt_stream_put(struct nt_stream *stream, union nt_any *record, uint64_t now_ns)
{
	int error;

	/* No ring has kept it waiting. */
	if (!stream->opened_ns)
		stream->opened_ns = now_ns;
	error = add_event(stream, record);
	return error || !is_full(stream) ? error : nt_stream_flush(stream);
}

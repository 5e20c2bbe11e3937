// SPDX-License-Identifier: GPL-2.0-only
/*
 * events.c - events on tracks (TrackEvent), written small: a sequence of packets has its own clock, which each
 * event moves on, and a number for each text that it has used.
 */
#include "report/export/perfetto/state.h"

/* So many texts a sequence numbers before it begins anew: what it keeps is bounded, and what its reader keeps. */
#define MAX_TEXTS 65536

void nt_sequence_release(struct nt_sequence *sequence)
{
	nt_texts_release(&sequence->names);
	nt_texts_release(&sequence->annotation_names);
	nt_texts_release(&sequence->texts);
	nt_proto_release(&sequence->interned);
}

/* The first packet: its clock begins at `ts`, as CLOCK_MONOTONIC. */
static void write_clock(struct nt_packets *packets, const struct nt_sequence *sequence, int64_t ts)
{
	size_t packet, snapshot, clock;
	struct nt_proto *proto = nt_packets_begin(packets, &packet);

	nt_proto_uint(proto, NT_PACKET_SEQUENCE_ID, sequence->id);
	snapshot = nt_proto_begin(proto, NT_PACKET_CLOCK_SNAPSHOT);
	clock = nt_proto_begin(proto, NT_CLOCK_SNAPSHOT_CLOCKS);
	nt_proto_uint(proto, NT_CLOCK_ID, NT_CLOCK_OF_SEQUENCE);
	nt_proto_uint(proto, NT_CLOCK_TIMESTAMP, (uint64_t)ts);
	nt_proto_uint(proto, NT_CLOCK_IS_INCREMENTAL, 1);
	nt_proto_end(proto, clock);
	clock = nt_proto_begin(proto, NT_CLOCK_SNAPSHOT_CLOCKS);
	nt_proto_uint(proto, NT_CLOCK_ID, NT_CLOCK_MONOTONIC);
	nt_proto_uint(proto, NT_CLOCK_TIMESTAMP, (uint64_t)ts);
	nt_proto_end(proto, clock);
	nt_proto_end(proto, snapshot);
	nt_packets_end(packets, packet);
}

/* From here on packets mean this clock and this track, and numbers of texts begin at 1. */
static void write_defaults(struct nt_packets *packets, struct nt_sequence *sequence)
{
	size_t packet, defaults, event;
	struct nt_proto *proto = nt_packets_begin(packets, &packet);

	nt_proto_uint(proto, NT_PACKET_SEQUENCE_ID, sequence->id);
	nt_proto_uint(proto, NT_PACKET_SEQUENCE_FLAGS, NT_SEQUENCE_CLEARED);
	defaults = nt_proto_begin(proto, NT_PACKET_DEFAULTS);
	nt_proto_uint(proto, NT_DEFAULTS_CLOCK_ID, NT_CLOCK_OF_SEQUENCE);
	if (sequence->track) {
		event = nt_proto_begin(proto, NT_DEFAULTS_TRACK_EVENT);
		nt_proto_uint(proto, NT_EVENT_DEFAULTS_TRACK_UUID, sequence->track);
		nt_proto_end(proto, event);
	}
	nt_proto_end(proto, defaults);
	nt_packets_end(packets, packet);
	nt_texts_reset(&sequence->names);
	nt_texts_reset(&sequence->annotation_names);
	nt_texts_reset(&sequence->texts);
}

static void begin_sequence(struct nt_packets *packets, struct nt_sequence *sequence, int64_t ts)
{
	if (!sequence->has_begun) {
		write_clock(packets, sequence, ts);
		sequence->at_ts = ts;
	}
	if (!sequence->has_begun || sequence->texts.n > MAX_TEXTS || sequence->names.n > MAX_TEXTS)
		write_defaults(packets, sequence);
	sequence->has_begun = true;
}

void nt_event_begin(struct nt_event *event, struct nt_packets *packets, struct nt_sequence *sequence, int64_t ts,
		    enum nt_event_type type, uint64_t track)
{
	struct nt_proto *proto;

	begin_sequence(packets, sequence, ts);
	proto = nt_packets_begin(packets, &event->packet);
	event->packets = packets;
	event->sequence = sequence;
	event->proto = proto;
	/* The clock of a sequence only goes on: what lies before it is told by the clock of all. */
	if (ts >= sequence->at_ts) {
		nt_proto_uint(proto, NT_PACKET_TIMESTAMP, (uint64_t)(ts - sequence->at_ts));
		sequence->at_ts = ts;
	} else {
		nt_proto_uint(proto, NT_PACKET_TIMESTAMP, (uint64_t)ts);
		nt_proto_uint(proto, NT_PACKET_TIMESTAMP_CLOCK_ID, NT_CLOCK_MONOTONIC);
	}
	nt_proto_uint(proto, NT_PACKET_SEQUENCE_ID, sequence->id);
	nt_proto_uint(proto, NT_PACKET_SEQUENCE_FLAGS, NT_SEQUENCE_NEEDS_STATE);
	event->event = nt_proto_begin(proto, NT_PACKET_TRACK_EVENT);
	nt_proto_uint(proto, NT_EVENT_TYPE, type);
	if (track)
		nt_proto_uint(proto, NT_EVENT_TRACK_UUID, track);
}

/* The number of a text in the sequence; a new one is told in this packet. */
static uint32_t number_of(struct nt_event *event, struct nt_texts *texts, enum nt_interned_field field,
			  const char *text)
{
	struct nt_proto *interned = &event->sequence->interned;
	bool is_new;
	uint32_t number = nt_texts_number(texts, text, &is_new);
	size_t entry;

	if (!number)
		event->packets->failed = true;
	if (!is_new)
		return number;
	entry = nt_proto_begin(interned, field);
	nt_proto_uint(interned, NT_INTERNED_IID, number);
	nt_proto_text(interned, NT_INTERNED_VALUE, text);
	nt_proto_end(interned, entry);
	return number;
}

void nt_event_name(struct nt_event *event, const char *name)
{
	nt_proto_uint(event->proto, NT_EVENT_NAME_IID,
		      number_of(event, &event->sequence->names, NT_INTERNED_NAMES, name));
}

static size_t begin_annotation(struct nt_event *event, const char *name)
{
	size_t annotation = nt_proto_begin(event->proto, NT_EVENT_ANNOTATIONS);

	nt_proto_uint(event->proto, NT_ANNOTATION_NAME_IID,
		      number_of(event, &event->sequence->annotation_names, NT_INTERNED_ANNOTATION_NAMES, name));
	return annotation;
}

void nt_event_integer(struct nt_event *event, const char *name, int64_t value)
{
	size_t annotation = begin_annotation(event, name);

	nt_proto_uint(event->proto, NT_ANNOTATION_INT, (uint64_t)value);
	nt_proto_end(event->proto, annotation);
}

void nt_event_text(struct nt_event *event, const char *name, const char *text)
{
	size_t annotation = begin_annotation(event, name);

	nt_proto_uint(event->proto, NT_ANNOTATION_TEXT_IID,
		      number_of(event, &event->sequence->texts, NT_INTERNED_TEXTS, text));
	nt_proto_end(event->proto, annotation);
}

void nt_event_put_integer(struct nt_event *event, const char *name, const struct nt_value *value)
{
	if (nt_is_there(value))
		nt_event_integer(event, name, nt_integer(value, 0));
}

void nt_event_put_text(struct nt_event *event, const char *name, const struct nt_value *value)
{
	const char *text = nt_text(value, "");

	if (text[0])
		nt_event_text(event, name, text);
}

void nt_event_end(struct nt_event *event)
{
	struct nt_proto *interned = &event->sequence->interned;

	nt_proto_end(event->proto, event->event);
	if (interned->failed)
		event->packets->failed = true;
	if (interned->size)
		nt_proto_bytes(event->proto, NT_PACKET_INTERNED_DATA, interned->data, interned->size);
	nt_proto_reset(interned);
	nt_packets_end(event->packets, event->packet);
}

/* ---- tracks ---- */

struct nt_proto *nt_track_begin(struct nt_packets *packets, uint64_t uuid, uint64_t parent, const char *name,
				uint32_t rank, size_t marks[2])
{
	struct nt_proto *proto = nt_packets_begin(packets, &marks[0]);

	nt_proto_uint(proto, NT_PACKET_SEQUENCE_ID, NT_SEQUENCE_HEAD);
	marks[1] = nt_proto_begin(proto, NT_PACKET_TRACK_DESCRIPTOR);
	nt_proto_uint(proto, NT_TRACK_UUID, uuid);
	if (parent)
		nt_proto_uint(proto, NT_TRACK_PARENT_UUID, parent);
	if (name)
		nt_proto_text(proto, NT_TRACK_NAME, name);
	if (rank)
		nt_proto_uint(proto, NT_TRACK_RANK, rank);
	return proto;
}

void nt_track_end(struct nt_packets *packets, const size_t marks[2])
{
	struct nt_proto *proto = &packets->batch;

	/* Else tracks of one name are shown as one, and their slices interleave. */
	nt_proto_uint(proto, NT_TRACK_MERGE, NT_TRACK_MERGE_NONE);
	nt_proto_end(proto, marks[1]);
	nt_packets_end(packets, marks[0]);
}

void nt_track(struct nt_packets *packets, uint64_t uuid, uint64_t parent, const char *name, uint32_t rank)
{
	size_t marks[2];

	nt_track_begin(packets, uuid, parent, name, rank, marks);
	nt_track_end(packets, marks);
}

void nt_counter_track(struct nt_packets *packets, uint64_t uuid, uint64_t parent, const char *name, const char *unit)
{
	size_t marks[2], counter;
	struct nt_proto *proto = nt_track_begin(packets, uuid, parent, name, 0, marks);

	counter = nt_proto_begin(proto, NT_TRACK_COUNTER);
	if (unit)
		nt_proto_text(proto, NT_COUNTER_UNIT_NAME, unit);
	else
		nt_proto_uint(proto, NT_COUNTER_UNIT, NT_COUNTER_UNIT_COUNT);
	nt_proto_end(proto, counter);
	nt_track_end(packets, marks);
}

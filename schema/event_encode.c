// SPDX-License-Identifier: GPL-2.0-only
/*
 * event_encode.c - records of a CPU into the columns of an event block (docs/chunk-format.md section
 * 6). nt_event_encoder_add runs for every event of a host: one function per kind is made from the field lists
 * of event.h, so that nothing is looked up for a field, and room is checked once for many records.
 */
#include "schema/column.h"
#include "schema/span.h"
#include "schema/varint.h"

#include <stdlib.h>

#define MAX_FIELDS 11 /* of a kind that is no identity */
#define FIRST_CAPACITY 1024 /* of a column */
#define LEAST_ROOM 64 /* records that must fit after a refill */
/* The most bytes before all columns, and in front of each: bounds for nt_event_encoder_size. */
#define PROLOGUE_MAX (2 * NT_VARINT_MAX)
#define COLUMN_HEADER_MAX (3 + NT_VARINT_MAX)
/* A record added at this size, be it the first of its kind, keeps the payload under the bound. */
#define SIZE_LIMIT (NT_BLOCK_MAX_RAW - 1 - MAX_FIELDS * (NT_VARINT_MAX + COLUMN_HEADER_MAX))

struct out_column {
	uint8_t *data;
	uint8_t *at; /* end of what is written */
	size_t capacity;
	uint64_t last; /* coding DELTA: the value before */
};

struct out_kind {
	uint32_t count;
	uint32_t room; /* records that fit without a look at the capacities */
	struct out_column columns[MAX_FIELDS];
};

struct nt_event_encoder {
	struct nt_event_stats stats;
	uint64_t base_ns; /* end of the first record */
	uint64_t last_ns; /* end of the record before */
	size_t size;
	struct nt_buf kinds; /* the kind of each record; .size counts them */
	struct out_kind out[NT_KIND_MAX];
};

struct nt_event_encoder *nt_event_encoder_new(void)
{
	struct nt_event_encoder *encoder = calloc(1, sizeof(*encoder));

	if (encoder)
		encoder->size = PROLOGUE_MAX;
	return encoder;
}

void nt_event_encoder_free(struct nt_event_encoder *encoder)
{
	if (!encoder)
		return;
	for (size_t kind = 0; kind < NT_KIND_MAX; kind++)
		for (size_t field = 0; field < MAX_FIELDS; field++)
			free(encoder->out[kind].columns[field].data);
	nt_buf_release(&encoder->kinds);
	free(encoder);
}

static int column_grow(struct out_column *column)
{
	size_t used = (size_t)(column->at - column->data);
	size_t capacity = column->capacity ? column->capacity * 2 : FIRST_CAPACITY;
	uint8_t *data = realloc(column->data, capacity);

	if (!data)
		return -ENOMEM;
	column->data = data;
	column->at = data + used;
	column->capacity = capacity;
	return 0;
}

/* Makes room in all columns of a kind and counts how many records it is good for at the least. */
static int make_room(struct nt_event_encoder *encoder, unsigned int kind)
{
	struct out_kind *out = &encoder->out[kind];
	size_t room = NT_BLOCK_MAX_EVENTS;

	for (size_t field = 0; field < nt_kind(kind)->n_fields; field++) {
		struct out_column *column = &out->columns[field];
		size_t fit;

		while ((fit = (column->capacity - (size_t)(column->at - column->data)) / NT_VARINT_MAX) < LEAST_ROOM)
			if (column_grow(column))
				return -ENOMEM;
		if (fit < room)
			room = fit;
	}
	if (!out->count)
		encoder->size += nt_kind(kind)->n_fields * COLUMN_HEADER_MAX;
	out->room = (uint32_t)room;
	return 0;
}

#define VALUE_TIME(field) nt_zigzag((field)-encoder->last_ns)
#define VALUE_AGO(field) nt_zigzag(record->end_ns - (field))
#define VALUE_PLAIN(field) (field)
#define VALUE_SIGNED(field) nt_zigzag((uint64_t)(int64_t)(field))
#define VALUE_DELTA(field)                                                                                             \
	({                                                                                                             \
		uint64_t before_ = column->last;                                                                       \
                                                                                                                       \
		column->last = (field);                                                                                \
		nt_zigzag(column->last - before_);                                                                     \
	})

/* Writes one value and gives the number of bytes. */
static inline size_t put(struct out_column *column, uint64_t value)
{
	uint8_t *before = column->at;

	column->at = nt_varint_put(before, value);
	return (size_t)(column->at - before);
}

#define F(field, coding, role)                                                                                         \
	size += put(column, VALUE_##coding(record->field));                                                            \
	column++;
#define COUNT(field, coding, role) +1
#define DEFINE_TIMELINE(name)                                                                                          \
	_Static_assert(0 NT_FIELDS_##name(COUNT) <= MAX_FIELDS, "fields of nt_" #name);                                \
	static inline size_t put_##name(struct nt_event_encoder *encoder, struct out_column *column,                   \
					const struct nt_##name *record)                                                \
	{                                                                                                              \
		size_t size = 1;                                                                                       \
                                                                                                                       \
		NT_FIELDS_##name(F) return size;                                                                       \
	}
#define DEFINE_LOOSE DEFINE_TIMELINE
#define DEFINE_IDENTITY(name)
#define X(number, constant, name, shape, place) DEFINE_##place(name)
NT_KINDS(X)
#undef X

#define CASE_TIMELINE(number, name)                                                                                    \
	case number:                                                                                                   \
		return put_##name(encoder, encoder->out[number].columns, &any->as_##name);
#define CASE_LOOSE CASE_TIMELINE
#define CASE_IDENTITY(number, name)

/* Gives the number of bytes written, 0 for a kind that is no event. Room has been made. */
static size_t put_record(struct nt_event_encoder *encoder, const union nt_any *any)
{
	switch (any->record.kind) {
#define X(number, constant, name, shape, place) CASE_##place(number, name)
		NT_KINDS(X)
#undef X
	default:
		return 0;
	}
}

static void count(struct nt_event_encoder *encoder, const union nt_any *any)
{
	struct nt_event_stats *stats = &encoder->stats;
	uint64_t end_ns = any->record.end_ns, begin_ns = nt_span_begin(any);

	if (!stats->count++)
		stats->first_end_ns = stats->last_end_ns = stats->least_begin_ns = end_ns;
	if (end_ns > stats->last_end_ns)
		stats->last_end_ns = end_ns;
	if (begin_ns < stats->least_begin_ns)
		stats->least_begin_ns = begin_ns;
}

/* The part of adding a record that not every record needs. */
static int prepare(struct nt_event_encoder *encoder, unsigned int kind)
{
	int err;

	if (!nt_kind_is_of_cpu(kind))
		return -EINVAL;
	if (encoder->size > SIZE_LIMIT || encoder->stats.count >= NT_BLOCK_MAX_EVENTS)
		return -E2BIG;
	err = nt_buf_reserve(&encoder->kinds, LEAST_ROOM);
	if (err || encoder->out[kind].room)
		return err;
	return make_room(encoder, kind);
}

int nt_event_encoder_add(struct nt_event_encoder *encoder, const void *record)
{
	const union nt_any *any = record;
	unsigned int kind = any->record.kind;

	if (__builtin_expect(kind >= NT_KIND_MAX || !encoder->out[kind].room || encoder->size > SIZE_LIMIT ||
				     encoder->kinds.size == encoder->kinds.capacity,
			     0)) {
		int err = prepare(encoder, kind);

		if (err)
			return err;
	}
	if (!encoder->stats.count)
		encoder->base_ns = encoder->last_ns = any->record.end_ns;
	encoder->size += put_record(encoder, any);
	encoder->last_ns = any->record.end_ns;
	encoder->out[kind].room--;
	encoder->out[kind].count++;
	encoder->kinds.data[encoder->kinds.size++] = (uint8_t)kind;
	count(encoder, any);
	return 0;
}

size_t nt_event_encoder_size(const struct nt_event_encoder *encoder)
{
	return encoder->size;
}

const struct nt_event_stats *nt_event_encoder_stats(const struct nt_event_encoder *encoder)
{
	return &encoder->stats;
}

/* Times, durations and sizes jitter: no compressor finds much in their bytes. Ids and flags repeat: LZ4 does. */
static bool is_noise(const struct nt_field *field)
{
	return field->role == NT_ROLE_NONE && field->size >= 4;
}

/* The columns of one kind, and the kind made ready for the next block. */
static int finish_kind(struct nt_event_encoder *encoder, unsigned int kind, struct nt_buf *payload)
{
	struct out_kind *out = &encoder->out[kind];
	const struct nt_kind_info *info = nt_kind(kind);
	int err;

	if (!out->count)
		return 0;
	for (unsigned int field = 0; field < info->n_fields; field++) {
		struct out_column *from = &out->columns[field];
		struct nt_block_column column = {
			.kind = (uint8_t)kind,
			.field = (uint8_t)field,
			.coding = info->fields[field].coding,
			.data = from->data,
			.size = (size_t)(from->at - from->data),
		};

		err = nt_block_column_write(payload, &column, out->count, is_noise(&info->fields[field]));
		if (err)
			return err;
		from->at = from->data;
		from->last = 0;
	}
	out->count = 0;
	out->room = 0;
	return 0;
}

int nt_event_encoder_finish(struct nt_event_encoder *encoder, struct nt_buf *out)
{
	uint8_t *at;
	int err;

	/* encoder->size is a bound: nothing below can fail for want of memory and leave half a block. */
	err = nt_buf_reserve(out, encoder->size);
	if (err)
		return err;
	at = nt_varint_put(out->data + out->size, encoder->stats.count);
	at = nt_varint_put(at, encoder->base_ns);
	out->size = (size_t)(at - out->data);
	err = nt_buf_append(out, encoder->kinds.data, encoder->kinds.size);
	for (unsigned int kind = 0; !err && kind < NT_KIND_MAX; kind++)
		err = finish_kind(encoder, kind, out);
	encoder->kinds.size = 0;
	encoder->base_ns = encoder->last_ns = 0;
	encoder->size = PROLOGUE_MAX;
	encoder->stats = (struct nt_event_stats){0};
	return err;
}

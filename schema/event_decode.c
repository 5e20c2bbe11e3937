// SPDX-License-Identifier: GPL-2.0-only
/*
 * event_decode.c - the columns of an event block back into records (docs/chunk-format.md section 6). The payload is
 * hostile: all bounds are checked when it is opened, all values when their batch is read.
 */
#include "schema/column.h"
#include "schema/pack.h"
#include "schema/varint.h"

#include <stdlib.h>

#define BATCH NT_PACK_GROUP /* values of a column that are decoded at a time */

struct in_column {
	struct nt_block_column_cursor cursor;
	uint8_t coding;
	bool present;
	uint64_t last; /* coding DELTA: the value before */
	uint64_t *values; /* BATCH of them */
};

struct in_kind {
	const struct nt_kind_info *info; /* NULL: not known to this version; then only field 0 is read */
	uint32_t n_fields;
	uint32_t left; /* records not yet in a batch */
	uint32_t next, filled; /* in the batch */
	struct in_column *columns;
};

struct nt_event_decoder {
	const uint8_t *kinds, *kinds_end; /* not yet given */
	uint64_t last_ns;
	uint64_t unknown;
	int err; /* sticky */
	struct in_kind in[NT_KIND_MAX];
};

/* Of an unknown kind the time is needed all the same: the times of all records chain. */
static uint32_t fields_to_read(unsigned int kind)
{
	return nt_kind_is_of_cpu(kind) ? nt_kind(kind)->n_fields : 1;
}

struct nt_event_decoder *nt_event_decoder_new(void)
{
	struct nt_event_decoder *decoder;
	struct in_column *columns;
	uint64_t *values;
	size_t n = 0;

	for (unsigned int kind = 1; kind < NT_KIND_MAX; kind++)
		n += fields_to_read(kind);
	decoder = calloc(1, sizeof(*decoder) + n * (sizeof(*columns) + BATCH * sizeof(*values)));
	if (!decoder)
		return NULL;
	columns = (struct in_column *)(decoder + 1);
	values = (uint64_t *)(columns + n);
	for (unsigned int kind = 1; kind < NT_KIND_MAX; kind++) {
		struct in_kind *in = &decoder->in[kind];

		in->info = nt_kind_is_of_cpu(kind) ? nt_kind(kind) : NULL;
		in->n_fields = fields_to_read(kind);
		in->columns = columns;
		for (uint32_t field = 0; field < in->n_fields; field++, values += BATCH)
			(columns++)->values = values;
	}
	return decoder;
}

void nt_event_decoder_free(struct nt_event_decoder *decoder)
{
	free(decoder);
}

static void reset(struct nt_event_decoder *decoder)
{
	decoder->kinds = decoder->kinds_end = NULL;
	decoder->last_ns = 0;
	decoder->unknown = 0;
	decoder->err = 0;
	for (unsigned int kind = 1; kind < NT_KIND_MAX; kind++) {
		struct in_kind *in = &decoder->in[kind];

		in->left = in->next = in->filled = 0;
		for (uint32_t field = 0; field < in->n_fields; field++)
			in->columns[field] = (struct in_column){.values = in->columns[field].values};
	}
}

/* Counts the records of each kind. */
static int open_kinds(struct nt_event_decoder *decoder)
{
	for (const uint8_t *at = decoder->kinds; at < decoder->kinds_end; at++) {
		if (*at == NT_NONE || *at >= NT_KIND_MAX)
			return -EBADMSG;
		decoder->in[*at].left++;
	}
	return 0;
}

static bool coding_fits(const struct nt_block_column *column, const struct nt_field *field)
{
	switch (column->coding) {
	case NT_CODING_TIME:
		return column->field == 0;
	case NT_CODING_AGO:
		return column->field != 0 && field && field->size == 8;
	case NT_CODING_PLAIN:
	case NT_CODING_SIGNED:
	case NT_CODING_DELTA:
		return column->field != 0;
	default:
		return false;
	}
}

static int open_column(struct nt_event_decoder *decoder, const struct nt_block_column *column)
{
	struct in_column *to;
	struct in_kind *in;

	if (column->kind == NT_NONE || column->kind >= NT_KIND_MAX)
		return -EBADMSG;
	in = &decoder->in[column->kind];
	if (!in->left)
		return -EBADMSG;
	if (column->field >= in->n_fields)
		return 0;
	to = &in->columns[column->field];
	if (to->present || !coding_fits(column, in->info ? &in->info->fields[column->field] : NULL))
		return -EBADMSG;
	to->present = true;
	to->coding = column->coding;
	return nt_block_column_start(&to->cursor, column);
}

static int open_payload(struct nt_event_decoder *decoder, const uint8_t *at, const uint8_t *end)
{
	struct nt_block_column column;
	uint64_t count;
	int err;

	if (nt_varint_get(&at, end, &count) || nt_varint_get(&at, end, &decoder->last_ns))
		return -EBADMSG;
	if (count > NT_BLOCK_MAX_EVENTS || count > (size_t)(end - at))
		return -EBADMSG;
	decoder->kinds = at;
	decoder->kinds_end = at = at + count;
	err = open_kinds(decoder);
	while (!err) {
		err = nt_block_column_parse(&at, end, &column);
		if (!err)
			err = open_column(decoder, &column);
	}
	return err < 0 ? err : 0;
}

int nt_event_decoder_open(struct nt_event_decoder *decoder, const void *payload, size_t size)
{
	reset(decoder);
	if (!payload || size > NT_BLOCK_MAX_RAW)
		decoder->err = -EBADMSG;
	else
		decoder->err = open_payload(decoder, payload, (const uint8_t *)payload + size);
	return decoder->err;
}

/* Undoes the codings that need no other column, in place. */
static void decode_values(struct in_column *column, uint32_t n)
{
	uint64_t *values = column->values;

	switch (column->coding) {
	case NT_CODING_TIME:
	case NT_CODING_AGO:
	case NT_CODING_SIGNED:
		for (uint32_t i = 0; i < n; i++)
			values[i] = nt_unzigzag(values[i]);
		break;
	case NT_CODING_DELTA:
		for (uint32_t i = 0; i < n; i++)
			column->last = values[i] = column->last + nt_unzigzag(values[i]);
		break;
	default:
		break;
	}
}

/* Whether all values fit into the field that they are for. */
static bool values_fit(const struct in_column *column, const struct nt_field *field, uint32_t n)
{
	const unsigned int bits = field->size * 8;
	const uint64_t *values = column->values;
	uint64_t least, over = 0;

	if (bits == 64)
		return true;
	least = field->coding == NT_CODING_SIGNED ? 1ull << (bits - 1) : 0;
	for (uint32_t i = 0; i < n; i++)
		over |= (values[i] + least) >> bits;
	return !over;
}

/* Reads the next batch of all columns of a kind. */
static int fill(struct in_kind *in)
{
	uint32_t n = in->left < BATCH ? in->left : BATCH;

	for (uint32_t field = 0; field < in->n_fields; field++) {
		struct in_column *column = &in->columns[field];

		/* An absent column gives zeros, without a coding to undo. */
		if (nt_block_column_read(&column->cursor, column->values, n))
			return -EBADMSG;
		decode_values(column, n);
		if (in->info && !values_fit(column, &in->info->fields[field], n))
			return -EBADMSG;
		if (n == in->left && !nt_block_column_is_done(&column->cursor))
			return -EBADMSG;
	}
	in->left -= n;
	in->next = 0;
	in->filled = n;
	return 0;
}

#define F(field, coding_, role)                                                                                        \
	value = column->values[i];                                                                                     \
	if (__builtin_expect(column->coding == NT_CODING_AGO, 0))                                                      \
		value = end_ns - value;                                                                                \
	record->field = (__typeof__(record->field))value;                                                              \
	column++;
#define DEFINE_TIMELINE(number_, name)                                                                                 \
	static inline void get_##name(const struct in_column *column, uint32_t i, uint64_t end_ns,                     \
				      struct nt_##name *record)                                                        \
	{                                                                                                              \
		uint64_t value;                                                                                        \
                                                                                                                       \
		*record = (struct nt_##name){0};                                                                       \
		NT_FIELDS_##name(F) record->end_ns = end_ns;                                                           \
		record->kind = number_;                                                                                \
	}
#define DEFINE_LOOSE DEFINE_TIMELINE
#define DEFINE_IDENTITY(number, name)
#define X(number, constant, name, shape, place) DEFINE_##place(number, name)
NT_KINDS(X)
#undef X

#define CASE_TIMELINE(number, name)                                                                                    \
	case number:                                                                                                   \
		get_##name(in->columns, i, end_ns, &out->as_##name);                                                   \
		break;
#define CASE_LOOSE CASE_TIMELINE
#define CASE_IDENTITY(number, name)

static void get_record(const struct in_kind *in, uint32_t i, uint64_t end_ns, union nt_any *out)
{
	switch (in->info->number) {
#define X(number, constant, name, shape, place) CASE_##place(number, name)
		NT_KINDS(X)
#undef X
	}
}

int nt_event_decoder_next(struct nt_event_decoder *decoder, union nt_any *out)
{
	while (!decoder->err && decoder->kinds < decoder->kinds_end) {
		struct in_kind *in = &decoder->in[*decoder->kinds++];
		uint32_t i;

		if (in->next == in->filled) {
			decoder->err = fill(in);
			if (decoder->err)
				break;
		}
		i = in->next++;
		decoder->last_ns += in->columns[0].values[i];
		if (in->info) {
			get_record(in, i, decoder->last_ns, out);
			return 0;
		}
		decoder->unknown++;
	}
	return decoder->err ? decoder->err : 1;
}

uint64_t nt_event_decoder_unknown(const struct nt_event_decoder *decoder)
{
	return decoder->unknown;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunk_dump.c - see chunk_dump.h.
 */
#include "tests/support/chunk_dump.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct dump {
	FILE *out;
	struct nt_event_decoder *decoder;
	struct nt_buf raw;
};

static const char *words_for(int err)
{
	switch (err) {
	case -EPROTO:
		return "not a tape";
	case -ENOTSUP:
		return "another version";
	case -EBADMSG:
		return "damaged";
	default:
		return strerror(-err);
	}
}

/* In double quotes; what is not printable ASCII as \xNN. */
static void print_text(struct dump *dump, const char *text, size_t size)
{
	fputc('"', dump->out);
	for (size_t i = 0; i < size; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '\n')
			fprintf(dump->out, "\\n");
		else if (c < 0x20 || c > 0x7e || c == '"' || c == '\\')
			fprintf(dump->out, "\\x%02x", c);
		else
			fputc(c, dump->out);
	}
	fputc('"', dump->out);
}

static void print_hex(struct dump *dump, const uint8_t *bytes, size_t size)
{
	while (size--)
		fprintf(dump->out, "%02x", *bytes++);
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	while (size && !*bytes) {
		bytes++;
		size--;
	}
	return !size;
}

/* A field that is 0 is left out, so that one added later changes nothing in the dump of an older tape. */
static void print_field(struct dump *dump, unsigned int kind, const struct nt_field *field, const union nt_any *record)
{
	const uint8_t *at = (const uint8_t *)record + field->offset;

	if (is_zero(at, field->size))
		return;
	fprintf(dump->out, " %s=", field->name);
	if (field->coding == NT_CODING_SIGNED)
		fprintf(dump->out, "%" PRId64, (int64_t)nt_field_get(field, record));
	else if (field->coding != NT_CODING_BYTES)
		fprintf(dump->out, "%" PRIu64, nt_field_get(field, record));
	else if (!nt_field_is_text(kind, field))
		print_hex(dump, at, field->size);
	else
		print_text(dump, (const char *)at, strnlen((const char *)at, field->size));
}

static void print_record(struct dump *dump, const union nt_any *record)
{
	const struct nt_kind_info *info = nt_kind(record->record.kind);

	fprintf(dump->out, "  %s", info->name);
	for (unsigned int i = 0; i < info->n_fields; i++)
		print_field(dump, info->number, &info->fields[i], record);
	fputc('\n', dump->out);
}

static int print_events(struct dump *dump)
{
	union nt_any record;
	int err = nt_event_decoder_open(dump->decoder, dump->raw.data, dump->raw.size);

	while (!err) {
		err = nt_event_decoder_next(dump->decoder, &record);
		if (!err)
			print_record(dump, &record);
	}
	if (nt_event_decoder_unknown(dump->decoder))
		fprintf(dump->out, "  unknown records=%" PRIu64 "\n", nt_event_decoder_unknown(dump->decoder));
	return err;
}

static int print_identities(struct dump *dump)
{
	union nt_any record;
	size_t offset = 0;
	int err;

	while (!(err = nt_identity_next(dump->raw.data, dump->raw.size, &offset, &record)))
		print_record(dump, &record);
	return err;
}

static int print_clock(struct dump *dump)
{
	struct nt_clock clock;
	int err = nt_clock_decode(dump->raw.data, dump->raw.size, &clock);

	if (!err)
		fprintf(dump->out,
			"  clock monotonic_ns=%" PRIu64 " realtime_ns=%" PRIu64 " tai_ns=%" PRIu64 " boot_ns=%" PRIu64
			" uncertainty_ns=%" PRIu64 "\n",
			clock.monotonic_ns, clock.realtime_ns, clock.tai_ns, clock.boot_ns, clock.uncertainty_ns);
	return err;
}

/* The golden dumps call it a reading. */
static int print_snapshot(struct dump *dump)
{
	struct nt_proc_snapshot snapshot;
	int err = nt_proc_snapshot_decode(dump->raw.data, dump->raw.size, &snapshot);

	if (err)
		return err;
	fprintf(dump->out, "  reading begin_ns=%" PRIu64 " end_ns=%" PRIu64 " name=", snapshot.begin_ns,
		snapshot.end_ns);
	print_text(dump, snapshot.name, strlen(snapshot.name));
	fprintf(dump->out, " text=");
	print_text(dump, snapshot.text, snapshot.text_size);
	fputc('\n', dump->out);
	return 0;
}

static int print_meta(struct dump *dump)
{
	const char *key, *value;
	size_t key_size, value_size, offset = 0;
	int err;

	while (!(err = nt_meta_next(dump->raw.data, dump->raw.size, &offset, &key, &key_size, &value, &value_size))) {
		fprintf(dump->out, "  meta key=");
		print_text(dump, key, key_size);
		fprintf(dump->out, " value=");
		print_text(dump, value, value_size);
		fputc('\n', dump->out);
	}
	return err;
}

static const struct {
	const char *name;
	int (*print)(struct dump *dump);
} types[] = {
	[NT_BLOCK_META] = {"meta", print_meta},
	[NT_BLOCK_EVENTS] = {"events", print_events},
	[NT_BLOCK_IDENTITIES] = {"identities", print_identities},
	[NT_BLOCK_CLOCK] = {"clock", print_clock},
	[NT_BLOCK_PROC_SNAPSHOT] = {"reading", print_snapshot},
};

static void print_block(struct dump *dump, const struct nt_source *source, size_t number,
			const struct nt_block_ref *block)
{
	const struct nt_block_header *h = &block->header;
	bool known = h->type < sizeof(types) / sizeof(types[0]) && types[h->type].name;
	int err;

	fprintf(dump->out, "block %zu offset=%" PRIu64 " type=", number, block->offset);
	if (known)
		fprintf(dump->out, "%s", types[h->type].name);
	else
		fprintf(dump->out, "%u", h->type);
	fprintf(dump->out,
		" flags=%u raw_size=%" PRIu32 " stored_size=%" PRIu32 " cpu=%" PRIu32 " sequence=%" PRIu64
		" count=%" PRIu32 " least_begin_ns=%" PRIu64 " first_end_ns=%" PRIu64 " last_end_ns=%" PRIu64
		" since_ns=%" PRIu64 " task=%" PRIu64 " lag_ns=%" PRIu64 "\n",
		h->flags, h->raw_size, h->stored_size, h->cpu, h->sequence, h->count, h->least_begin_ns,
		h->first_end_ns, h->last_end_ns, h->since_ns, h->task, h->lag_ns);
	err = nt_chunk_load(source, block, &dump->raw);
	if (!err && known)
		err = types[h->type].print(dump);
	if (err < 0)
		fprintf(dump->out, "  %s\n", words_for(err));
}

static void print_contents(struct dump *dump, const struct nt_source *source, const struct nt_chunk_contents *contents)
{
	const struct nt_chunk_header *h = &contents->header;

	fprintf(dump->out, "header version=%" PRIu32 " number=%" PRIu32 " session=", h->version, h->number);
	print_hex(dump, h->session, sizeof(h->session));
	fprintf(dump->out,
		" created_monotonic_ns=%" PRIu64 " created_realtime_ns=%" PRIu64 " boot_id=", h->created_monotonic_ns,
		h->created_realtime_ns);
	print_text(dump, h->boot_id, strlen(h->boot_id));
	fprintf(dump->out, " host=");
	print_text(dump, h->host, strlen(h->host));
	fprintf(dump->out, " indexed=%d\n", contents->indexed);
	for (size_t i = 0; i < contents->n_damage; i++)
		fprintf(dump->out, "damage offset=%" PRIu64 " size=%" PRIu64 " what=\"%s\"\n",
			contents->damage[i].offset, contents->damage[i].size, contents->damage[i].what);
	for (size_t i = 0; i < contents->n_blocks; i++)
		print_block(dump, source, i, &contents->blocks[i]);
}

int chunk_dump(FILE *out, const struct nt_source *source, bool scan)
{
	struct dump dump = {.out = out, .decoder = nt_event_decoder_new()};
	struct nt_chunk_contents contents;
	int err = dump.decoder ? nt_chunk_open(source, scan, &contents) : -ENOMEM;

	if (!err) {
		print_contents(&dump, source, &contents);
		nt_chunk_contents_release(&contents);
	} else {
		fprintf(out, "error: %s\n", words_for(err));
	}
	nt_event_decoder_free(dump.decoder);
	nt_buf_release(&dump.raw);
	return err;
}

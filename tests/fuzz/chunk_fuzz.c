// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunk_fuzz.c - any bytes as a chunk, as the same chunk with its checksums set right (or nothing would get past them),
 * and as the payload of each type of block.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/chunk_format.h"
#include "schema/varint.h"
#include "tests/support/chunk_memory.h"
#include "tests/support/chunk_seal.h"
#include "tests/support/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Raw bytes decoded for one input: enough for many blocks, too little for one input to take long. */
#define RAW_BUDGET (16u << 20)

struct codec {
	struct nt_event_encoder *encoder;
	struct nt_event_decoder *decoder, *second;
	struct nt_buf raw, again;
	size_t budget;
};

/* Decoded records, encoded again, decode to the same. */
static void events(struct codec *codec, const void *payload, size_t size)
{
	union nt_any record, same;
	uint32_t n = 0;

	codec->again.size = 0;
	if (nt_event_decoder_open(codec->decoder, payload, size))
		return;
	while (!nt_event_decoder_next(codec->decoder, &record) && n++ < 5000)
		MUST(!nt_event_encoder_add(codec->encoder, &record));
	MUST(!nt_event_encoder_finish(codec->encoder, &codec->again));
	MUST(!nt_event_decoder_open(codec->decoder, payload, size));
	MUST(!nt_event_decoder_open(codec->second, codec->again.data, codec->again.size));
	while (!nt_event_decoder_next(codec->second, &same)) {
		MUST(!nt_event_decoder_next(codec->decoder, &record));
		MUST(record.record.kind == same.record.kind);
		MUST(!memcmp(&record, &same, nt_kind(record.record.kind)->size));
	}
}

static void identities(struct codec *codec, const void *payload, size_t size)
{
	size_t offset = 0, offset_again = 0;
	union nt_any record, same;

	codec->again.size = 0;
	while (!nt_identity_next(payload, size, &offset, &record)) {
		MUST(offset <= size);
		MUST(!nt_identity_encode(&codec->again, &record));
		MUST(!nt_identity_next(codec->again.data, codec->again.size, &offset_again, &same));
		MUST(!memcmp(&record, &same, nt_kind(record.record.kind)->size));
	}
}

static void texts(const void *payload, size_t size)
{
	struct nt_proc_snapshot snapshot;
	struct nt_clock clock;
	const char *key, *value;
	size_t key_size, value_size, offset = 0;

	nt_clock_decode(payload, size, &clock);
	if (!nt_proc_snapshot_decode(payload, size, &snapshot))
		MUST(strlen(snapshot.name) + snapshot.text_size < size);
	while (!nt_meta_next(payload, size, &offset, &key, &key_size, &value, &value_size))
		MUST(key_size + value_size + 2 <= offset && offset <= size);
}

static void payload_of(struct codec *codec, const struct nt_block_ref *block)
{
	switch (block->header.type) {
	case NT_BLOCK_EVENTS:
		events(codec, codec->raw.data, codec->raw.size);
		break;
	case NT_BLOCK_IDENTITIES:
		identities(codec, codec->raw.data, codec->raw.size);
		break;
	default:
		texts(codec->raw.data, codec->raw.size);
	}
}

static void chunk(struct codec *codec, const struct nt_buf *bytes, bool scan)
{
	struct nt_source source = chunk_memory_source(bytes);
	struct nt_chunk_contents contents;

	codec->budget = RAW_BUDGET;
	if (nt_chunk_open(&source, scan, &contents)) {
		MUST(!contents.blocks && !contents.damage);
		return;
	}
	for (size_t i = 0; i < contents.n_damage; i++)
		MUST(contents.damage[i].offset + contents.damage[i].size <= bytes->size && contents.damage[i].what);
	for (size_t i = 0; i < contents.n_blocks && codec->budget; i++) {
		const struct nt_block_ref *block = &contents.blocks[i];

		MUST(block->offset + NT_BLOCK_HEAD_SIZE + block->header.stored_size <= bytes->size);
		codec->budget -= block->header.raw_size < codec->budget ? block->header.raw_size : codec->budget;
		if (!nt_chunk_load(&source, block, &codec->raw))
			payload_of(codec, block);
	}
	nt_chunk_contents_release(&contents);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct codec codec = {
		.encoder = nt_event_encoder_new(),
		.decoder = nt_event_decoder_new(),
		.second = nt_event_decoder_new(),
	};
	struct nt_buf as_is = {.data = (uint8_t *)data, .size = size}, sealed = {0};

	MUST(codec.encoder && codec.decoder && codec.second && !nt_buf_append(&sealed, data, size));
	chunk(&codec, &as_is, false);
	chunk_seal(&sealed);
	chunk(&codec, &sealed, false);
	chunk(&codec, &sealed, true);
	events(&codec, data, size);
	identities(&codec, data, size);
	texts(data, size);
	nt_event_encoder_free(codec.encoder);
	nt_event_decoder_free(codec.decoder);
	nt_event_decoder_free(codec.second);
	nt_buf_release(&codec.raw);
	nt_buf_release(&codec.again);
	nt_buf_release(&sealed);
	return 0;
}

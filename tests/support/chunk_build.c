// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunk_build.c - see chunk_build.h.
 */
#include "tests/support/chunk_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/chunk_memory.h"
#include "tests/support/must.h" /* programs without cmocka use this file too */

static void events(struct nt_rand *rand, struct nt_buf *raw, struct nt_block_header *header, unsigned int n)
{
	struct nt_event_encoder *encoder = nt_event_encoder_new();
	const struct nt_event_stats *stats = nt_event_encoder_stats(encoder);
	union nt_any record;

	for (unsigned int i = 0; i < n; i++) {
		chunk_random_record(rand, chunk_random_event_kind(rand), 5000000000, &record);
		MUST(!nt_event_encoder_add(encoder, &record));
	}
	header->count = stats->count;
	header->first_end_ns = stats->first_end_ns;
	header->last_end_ns = stats->last_end_ns;
	header->least_begin_ns = stats->least_begin_ns;
	header->cpu = (uint32_t)nt_rand_below(rand, NT_CHUNK_MAX_CPUS);
	header->sequence = nt_rand_any(rand);
	header->since_ns = nt_rand_any(rand);
	header->task = nt_rand_any(rand);
	header->lag_ns = nt_rand_any(rand);
	header->flags = (uint8_t)nt_rand_u64(rand);
	MUST(!nt_event_encoder_finish(encoder, raw));
	nt_event_encoder_free(encoder);
}

static void payload(struct nt_rand *rand, struct nt_buf *raw, struct nt_block_header *header)
{
	struct nt_clock clock = {1, 2, 3, 4, 5};
	struct nt_proc_snapshot snapshot = {.name = "/proc/stat", .text = "cpu 0 0 0 0 0 0 0 0 0 0\n", .text_size = 24};
	union nt_any record;

	switch (header->type) {
	case NT_BLOCK_META:
		MUST(!nt_meta_append(raw, "tool", "chunk_build"));
		break;
	case NT_BLOCK_EVENTS:
		events(rand, raw, header, 1 + (unsigned int)nt_rand_below(rand, 20));
		break;
	case NT_BLOCK_IDENTITIES:
		chunk_random_record(rand, NT_SOCKET, 0, &record);
		MUST(!nt_identity_encode(raw, &record));
		break;
	case NT_BLOCK_CLOCK:
		MUST(!nt_clock_encode(raw, &clock));
		break;
	case NT_BLOCK_PROC_SNAPSHOT:
		MUST(!nt_proc_snapshot_encode(raw, &snapshot));
		break;
	default:
		/* Of a type that no version knows, without a payload. */
		break;
	}
}

void chunk_build(struct chunk_build *build, struct nt_rand *rand, bool finished)
{
	static const uint8_t types[] = {NT_BLOCK_META,	     NT_BLOCK_CLOCK,  NT_BLOCK_PROC_SNAPSHOT, NT_BLOCK_EVENTS,
					NT_BLOCK_IDENTITIES, NT_BLOCK_EVENTS, NT_BLOCK_EVENTS,	      99,
					NT_BLOCK_META};
	struct nt_chunk_writer *writer;

	*build = (struct chunk_build){.n = sizeof(types)};
	build->header = (struct nt_chunk_header){
		.version = NT_CHUNK_VERSION,
		.number = (uint32_t)nt_rand_u64(rand),
		.created_monotonic_ns = nt_rand_any(rand),
		.created_realtime_ns = nt_rand_any(rand),
		.boot_id = "6c7d2d9a-2f54-4e7c-9a5e-0123456789ab",
		.host = "host.example",
	};
	nt_rand_bytes(rand, build->header.session, sizeof(build->header.session));
	MUST(!nt_chunk_writer_new(&writer, &build->header, chunk_memory_write, &build->file));
	for (size_t i = 0; i < build->n; i++) {
		struct nt_block_ref *block = &build->blocks[i];

		block->offset = build->file.size;
		block->header.type = types[i];
		payload(rand, &build->payloads[i], &block->header);
		MUST(!nt_chunk_writer_block(writer, &block->header, build->payloads[i].data, build->payloads[i].size));
	}
	build->end_of_blocks = build->file.size;
	if (finished)
		MUST(!nt_chunk_writer_finish(writer));
	MUST(nt_chunk_writer_size(writer) == build->file.size);
	nt_chunk_writer_free(writer);
	build->source = chunk_memory_source(&build->file);
}

void chunk_build_release(struct chunk_build *build)
{
	for (size_t i = 0; i < build->n; i++)
		nt_buf_release(&build->payloads[i]);
	nt_buf_release(&build->file);
	nt_chunk_contents_release(&build->contents);
}

bool chunk_build_header_is_right(const struct chunk_build *build)
{
	const struct nt_chunk_header *got = &build->contents.header, *want = &build->header;

	return got->version == want->version && got->number == want->number &&
	       !memcmp(got->session, want->session, sizeof(want->session)) &&
	       got->created_monotonic_ns == want->created_monotonic_ns &&
	       got->created_realtime_ns == want->created_realtime_ns && !strcmp(got->boot_id, want->boot_id) &&
	       !strcmp(got->host, want->host);
}

static void must_be_same(const struct nt_block_header *a, const struct nt_block_header *b)
{
	MUST(a->type == b->type);
	MUST(a->flags == b->flags);
	MUST(a->raw_size == b->raw_size);
	MUST(a->stored_size == b->stored_size);
	MUST(a->cpu == b->cpu);
	MUST(a->count == b->count);
	MUST(a->sequence == b->sequence);
	MUST(a->least_begin_ns == b->least_begin_ns);
	MUST(a->first_end_ns == b->first_end_ns);
	MUST(a->last_end_ns == b->last_end_ns);
	MUST(a->since_ns == b->since_ns);
	MUST(a->task == b->task);
	MUST(a->lag_ns == b->lag_ns);
}

int chunk_build_open(struct chunk_build *build, bool scan)
{
	nt_chunk_contents_release(&build->contents);
	build->source = chunk_memory_source(&build->file);
	return nt_chunk_open(&build->source, scan, &build->contents);
}

size_t chunk_build_intact(const struct chunk_build *build)
{
	struct nt_buf raw = {0};
	size_t n = 0;

	for (size_t i = 0; i < build->contents.n_blocks; i++) {
		const struct nt_block_ref *block = &build->contents.blocks[i];
		size_t which = 0;

		if (nt_chunk_load(&build->source, block, &raw))
			continue;
		while (which < build->n && build->blocks[which].offset != block->offset)
			which++;
		MUST(which < build->n);
		must_be_same(&block->header, &build->blocks[which].header);
		MUST(raw.size == build->payloads[which].size);
		MUST(!raw.size || !memcmp(raw.data, build->payloads[which].data, raw.size));
		n++;
	}
	nt_buf_release(&raw);
	return n;
}

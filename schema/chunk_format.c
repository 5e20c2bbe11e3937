// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunk_format.c - packs and parses the fixed parts of a chunk file. Bytes in, values out; no I/O. The bytes may be
 * hostile.
 */
#include "schema/chunk_format.h"
#include "schema/varint.h"

/* A high bit, CR LF, ^Z and LF: whoever transfers the file as text breaks this first. */
static const uint8_t chunk_magic[NT_MAGIC_SIZE] = {0x89, 'N', 'T', 'C', '\r', '\n', 0x1a, '\n'};
static const uint8_t trailer_magic[NT_MAGIC_SIZE] = {0x89, 'N', 'T', 'C', 'E', 'N', 'D', '\n'};

#define CHUNK_BOOT_ID 56
#define CHUNK_HOST 96

void nt_chunk_head_pack(uint8_t bytes[NT_CHUNK_HEAD_SIZE], const struct nt_chunk_header *header)
{
	memset(bytes, 0, NT_CHUNK_HEAD_SIZE);
	memcpy(bytes, chunk_magic, NT_MAGIC_SIZE);
	nt_put_u32(bytes + 8, header->version);
	nt_put_u32(bytes + 12, NT_CHUNK_HEAD_SIZE);
	nt_put_u32(bytes + 16, header->number);
	nt_put_u32(bytes + 20, header->flags);
	memcpy(bytes + 24, header->session, sizeof(header->session));
	nt_put_u64(bytes + 40, header->created_monotonic_ns);
	nt_put_u64(bytes + 48, header->created_realtime_ns);
	memcpy(bytes + CHUNK_BOOT_ID, header->boot_id, strnlen(header->boot_id, sizeof(header->boot_id) - 1));
	memcpy(bytes + CHUNK_HOST, header->host, strnlen(header->host, sizeof(header->host) - 1));
	nt_put_u32(bytes + NT_CHUNK_HEAD_SIZE - 4, nt_crc32c(0, bytes, NT_CHUNK_HEAD_SIZE - 4));
}

int nt_chunk_head_parse(const uint8_t *bytes, size_t size, struct nt_chunk_header *out, size_t *head_size)
{
	uint32_t version;

	if (size < NT_MAGIC_SIZE || memcmp(bytes, chunk_magic, NT_MAGIC_SIZE))
		return -EPROTO;
	if (size < NT_MAGIC_SIZE + 8)
		return -EBADMSG;
	/* Magic, version, size and the place of the checksum are the same in every version. */
	version = nt_get_u32(bytes + 8);
	*head_size = nt_get_u32(bytes + 12);
	if (*head_size < NT_MAGIC_SIZE + 12 || *head_size > NT_CHUNK_HEAD_MAX || *head_size > size ||
	    nt_get_u32(bytes + *head_size - 4) != nt_crc32c(0, bytes, *head_size - 4))
		return -EBADMSG;
	if (version != NT_CHUNK_VERSION)
		return -ENOTSUP;
	if (*head_size < NT_CHUNK_HEAD_SIZE)
		return -EBADMSG;
	*out = (struct nt_chunk_header){
		.version = version,
		.number = nt_get_u32(bytes + 16),
		.flags = nt_get_u32(bytes + 20),
		.created_monotonic_ns = nt_get_u64(bytes + 40),
		.created_realtime_ns = nt_get_u64(bytes + 48),
	};
	memcpy(out->session, bytes + 24, sizeof(out->session));
	memcpy(out->boot_id, bytes + CHUNK_BOOT_ID, sizeof(out->boot_id) - 1);
	memcpy(out->host, bytes + CHUNK_HOST, sizeof(out->host) - 1);
	return 0;
}

void nt_block_head_pack(uint8_t bytes[NT_BLOCK_HEAD_SIZE], const struct nt_block_header *header, uint32_t payload_crc)
{
	memcpy(bytes, NT_BLOCK_MAGIC, NT_BLOCK_MAGIC_SIZE);
	bytes[4] = header->type;
	bytes[5] = header->flags;
	nt_put_u16(bytes + 6, NT_BLOCK_HEAD_SIZE);
	nt_put_u32(bytes + 8, header->raw_size);
	nt_put_u32(bytes + 12, header->stored_size);
	nt_put_u32(bytes + 16, header->cpu);
	nt_put_u32(bytes + 20, header->count);
	nt_put_u64(bytes + 24, header->sequence);
	nt_put_u64(bytes + 32, header->least_begin_ns);
	nt_put_u64(bytes + 40, header->first_end_ns);
	nt_put_u64(bytes + 48, header->last_end_ns);
	nt_put_u64(bytes + 56, header->since_ns);
	nt_put_u64(bytes + 64, header->task);
	nt_put_u64(bytes + 72, header->lag_ns);
	nt_put_u32(bytes + 80, payload_crc);
	nt_put_u32(bytes + 84, nt_crc32c(0, bytes, NT_BLOCK_HEAD_SIZE - 4));
}

int nt_block_head_parse(const uint8_t *bytes, size_t size, struct nt_block_head *out)
{
	struct nt_block_header *header = &out->header;

	if (size < NT_BLOCK_HEAD_SIZE || memcmp(bytes, NT_BLOCK_MAGIC, NT_BLOCK_MAGIC_SIZE))
		return -EBADMSG;
	out->head_size = nt_get_u16(bytes + 6);
	if (out->head_size < NT_BLOCK_HEAD_SIZE || out->head_size > NT_BLOCK_HEAD_MAX || out->head_size > size ||
	    nt_get_u32(bytes + out->head_size - 4) != nt_crc32c(0, bytes, out->head_size - 4))
		return -EBADMSG;
	*header = (struct nt_block_header){
		.type = bytes[4],
		.flags = bytes[5],
		.raw_size = nt_get_u32(bytes + 8),
		.stored_size = nt_get_u32(bytes + 12),
		.cpu = nt_get_u32(bytes + 16),
		.count = nt_get_u32(bytes + 20),
		.sequence = nt_get_u64(bytes + 24),
		.least_begin_ns = nt_get_u64(bytes + 32),
		.first_end_ns = nt_get_u64(bytes + 40),
		.last_end_ns = nt_get_u64(bytes + 48),
		.since_ns = nt_get_u64(bytes + 56),
		.task = nt_get_u64(bytes + 64),
		.lag_ns = nt_get_u64(bytes + 72),
	};
	out->payload_crc = nt_get_u32(bytes + 80);
	if (header->raw_size > NT_BLOCK_MAX_RAW || header->stored_size > header->raw_size ||
	    header->cpu >= NT_CHUNK_MAX_CPUS || header->count > NT_BLOCK_MAX_EVENTS)
		return -EBADMSG;
	return 0;
}

void nt_trailer_pack(uint8_t bytes[NT_TRAILER_SIZE], const struct nt_trailer *trailer)
{
	memcpy(bytes, trailer_magic, NT_MAGIC_SIZE);
	nt_put_u64(bytes + 8, trailer->index_offset);
	nt_put_u64(bytes + 16, trailer->n_blocks);
	nt_put_u32(bytes + 24, trailer->n_index);
	nt_put_u32(bytes + 28, nt_crc32c(0, bytes, NT_TRAILER_SIZE - 4));
}

int nt_trailer_parse(const uint8_t bytes[NT_TRAILER_SIZE], struct nt_trailer *out)
{
	if (memcmp(bytes, trailer_magic, NT_MAGIC_SIZE) ||
	    nt_get_u32(bytes + 28) != nt_crc32c(0, bytes, NT_TRAILER_SIZE - 4))
		return -EBADMSG;
	*out = (struct nt_trailer){
		.index_offset = nt_get_u64(bytes + 8),
		.n_blocks = nt_get_u64(bytes + 16),
		.n_index = nt_get_u32(bytes + 24),
	};
	return 0;
}

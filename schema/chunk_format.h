/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chunk_format.h - the fixed parts of a chunk file as bytes: chunk header, block header, trailer. Internal to
 * schema/. docs/chunk-format.md sections 3 to 5 give the offsets.
 */
#pragma once

#include "schema/chunk.h"

#define NT_MAGIC_SIZE 8 /* of chunk header and trailer */
#define NT_CHUNK_HEAD_SIZE 176 /* as this version writes it */
#define NT_CHUNK_HEAD_MAX 4096 /* a reader allows for fields added by others */
#define NT_BLOCK_MAGIC "\xb7NB\n"
#define NT_BLOCK_MAGIC_SIZE 4
#define NT_BLOCK_HEAD_SIZE 88
#define NT_BLOCK_HEAD_MAX 256
#define NT_TRAILER_SIZE 32
#define NT_INDEX_RAW_MAX (1u << 16) /* an index longer than this is written as several blocks: readers hold one */

void nt_chunk_head_pack(uint8_t bytes[NT_CHUNK_HEAD_SIZE], const struct nt_chunk_header *header);
/*
 * -EPROTO: no magic. -ENOTSUP: whole, of another version. -EBADMSG: cut or damaged. *head_size is where the blocks
 * begin.
 */
int nt_chunk_head_parse(const uint8_t *bytes, size_t size, struct nt_chunk_header *out, size_t *head_size);

/* A block's header as it stands in the file. */
struct nt_block_head {
	struct nt_block_header header;
	uint32_t head_size;
	uint32_t payload_crc;
};

void nt_block_head_pack(uint8_t bytes[NT_BLOCK_HEAD_SIZE], const struct nt_block_header *header, uint32_t payload_crc);
/* -EBADMSG: `size` bytes do not begin with a valid block header. */
int nt_block_head_parse(const uint8_t *bytes, size_t size, struct nt_block_head *out);

struct nt_trailer {
	uint64_t index_offset; /* of the first index block */
	uint64_t n_blocks; /* without the index blocks */
	uint32_t n_index; /* index blocks */
};

void nt_trailer_pack(uint8_t bytes[NT_TRAILER_SIZE], const struct nt_trailer *trailer);
int nt_trailer_parse(const uint8_t bytes[NT_TRAILER_SIZE], struct nt_trailer *out);

/* ---- shared by chunk_reader.c and chunk_scan.c ---- */

/* Reads exactly `size` bytes. -EBADMSG: there are fewer. */
int nt_source_read(const struct nt_source *source, uint64_t offset, void *data, size_t size);
/* Reads and parses the block header at `offset`. */
int nt_source_block_head(const struct nt_source *source, uint64_t offset, struct nt_block_head *out);
int nt_contents_add_block(struct nt_chunk_contents *contents, uint64_t offset, const struct nt_block_header *header);
int nt_contents_add_damage(struct nt_chunk_contents *contents, uint64_t offset, uint64_t size, const char *what);
/* Steps through the chunk from `offset` and adds the blocks and the damage that it finds. */
int nt_chunk_scan(const struct nt_source *source, uint64_t offset, struct nt_chunk_contents *contents);
/* The first place at or after `offset` where a valid block header or the trailer stands; else the end. */
int nt_chunk_find_block(const struct nt_source *source, uint64_t offset, uint64_t *found);

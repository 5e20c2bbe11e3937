// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunk_writer.c - writes a chunk file through a callback: header, blocks, index, trailer
 * (docs/chunk-format.md sections 3 to 5).
 */
#include "schema/chunk_format.h"
#include "schema/varint.h"

#include <lz4.h>
#include <stdlib.h>

struct nt_chunk_writer {
	nt_write_fn write;
	void *arg;
	uint64_t size; /* written so far */
	int err; /* given by all later calls: a write failed, or (-EINVAL) the chunk is finished */
	uint64_t n_blocks;
	struct nt_buf index; /* chunk header and block headers as they stand in the file */
	struct nt_buf block; /* the block being written */
	void *lz4;
};

static int write_out(struct nt_chunk_writer *writer, const void *data, size_t size)
{
	writer->err = writer->write(writer->arg, data, size);
	if (!writer->err)
		writer->size += size;
	return writer->err;
}

int nt_chunk_writer_new(struct nt_chunk_writer **out, const struct nt_chunk_header *header, nt_write_fn write,
			void *arg)
{
	uint8_t head[NT_CHUNK_HEAD_SIZE];
	struct nt_chunk_writer *writer;
	int err = -ENOMEM;

	*out = NULL;
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return -ENOMEM;
	writer->write = write;
	writer->arg = arg;
	writer->lz4 = malloc((size_t)LZ4_sizeofState());
	if (writer->lz4) {
		nt_chunk_head_pack(head, header);
		err = nt_buf_append(&writer->index, head, sizeof(head));
	}
	if (!err)
		err = write_out(writer, head, sizeof(head));
	if (err) {
		nt_chunk_writer_free(writer);
		return err;
	}
	*out = writer;
	return 0;
}

/* Puts the payload behind the place for the header, compressed if that makes it smaller. Gives its size there. */
static uint32_t store(struct nt_chunk_writer *writer, const void *raw, uint32_t raw_size)
{
	uint8_t *to = writer->block.data + NT_BLOCK_HEAD_SIZE;
	int stored = LZ4_compress_fast_extState(writer->lz4, raw, (char *)to, (int)raw_size,
						LZ4_compressBound((int)raw_size), 1);

	if (stored > 0 && (uint32_t)stored < raw_size)
		return (uint32_t)stored;
	if (raw_size)
		memcpy(to, raw, raw_size);
	return raw_size;
}

static int write_block(struct nt_chunk_writer *writer, struct nt_block_header *header, const void *raw, size_t raw_size)
{
	int err;

	if (writer->err)
		return writer->err;
	if (raw_size > NT_BLOCK_MAX_RAW)
		return -E2BIG;
	writer->block.size = 0;
	err = nt_buf_reserve(&writer->block, NT_BLOCK_HEAD_SIZE + (size_t)LZ4_compressBound((int)raw_size));
	if (err)
		return err;
	header->raw_size = (uint32_t)raw_size;
	header->stored_size = store(writer, raw, header->raw_size);
	nt_block_head_pack(writer->block.data, header,
			   nt_crc32c(0, writer->block.data + NT_BLOCK_HEAD_SIZE, header->stored_size));
	return write_out(writer, writer->block.data, NT_BLOCK_HEAD_SIZE + (size_t)header->stored_size);
}

int nt_chunk_writer_block(struct nt_chunk_writer *writer, struct nt_block_header *header, const void *raw,
			  size_t raw_size)
{
	int err;

	if (!header->type || header->type == NT_BLOCK_INDEX || header->cpu >= NT_CHUNK_MAX_CPUS ||
	    header->count > NT_BLOCK_MAX_EVENTS)
		return -EINVAL;
	/* First the room in the index: a block that is written must not be missing there. */
	err = nt_buf_reserve(&writer->index, NT_BLOCK_HEAD_SIZE);
	if (!err)
		err = write_block(writer, header, raw, raw_size);
	if (err)
		return err;
	nt_buf_append(&writer->index, writer->block.data, NT_BLOCK_HEAD_SIZE);
	writer->n_blocks++;
	return 0;
}

int nt_chunk_writer_finish(struct nt_chunk_writer *writer)
{
	struct nt_trailer trailer = {.index_offset = writer->size, .n_blocks = writer->n_blocks};
	/* The cuts between several index blocks fall between two headers. */
	size_t most = NT_CHUNK_HEAD_SIZE + (NT_INDEX_RAW_MAX / NT_BLOCK_HEAD_SIZE) * NT_BLOCK_HEAD_SIZE;
	uint8_t bytes[NT_TRAILER_SIZE];
	size_t at = 0;
	int err;

	while (at < writer->index.size) {
		struct nt_block_header header = {.type = NT_BLOCK_INDEX};
		size_t size = writer->index.size - at;

		if (size > most)
			size = most;
		err = write_block(writer, &header, writer->index.data + at, size);
		if (err)
			return err;
		trailer.n_index++;
		at += size;
		most = (NT_INDEX_RAW_MAX / NT_BLOCK_HEAD_SIZE) * NT_BLOCK_HEAD_SIZE;
	}
	nt_trailer_pack(bytes, &trailer);
	err = write_out(writer, bytes, sizeof(bytes));
	if (!err)
		writer->err = -EINVAL;
	return err;
}

uint64_t nt_chunk_writer_size(const struct nt_chunk_writer *writer)
{
	return writer->size;
}

void nt_chunk_writer_free(struct nt_chunk_writer *writer)
{
	if (!writer)
		return;
	nt_buf_release(&writer->index);
	nt_buf_release(&writer->block);
	free(writer->lz4);
	free(writer);
}

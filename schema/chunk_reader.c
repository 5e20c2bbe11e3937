// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunk_reader.c - opens a chunk file by its index, and loads the payloads of blocks (docs/chunk-format.md sections 3
 * to 5 and 11). Everything read is hostile until checked.
 */
#include "schema/chunk_format.h"
#include "schema/varint.h"

#include <lz4.h>
#include <stdlib.h>

int nt_source_read(const struct nt_source *source, uint64_t offset, void *data, size_t size)
{
	int64_t n;

	if (offset > source->size || size > source->size - offset)
		return -EBADMSG;
	if (!size)
		return 0;
	n = source->read(source->arg, offset, data, size);
	if (n < 0)
		return (int)n;
	return (uint64_t)n == size ? 0 : -EBADMSG;
}

int nt_source_block_head(const struct nt_source *source, uint64_t offset, struct nt_block_head *out)
{
	uint8_t bytes[NT_BLOCK_HEAD_MAX];
	uint64_t left = offset < source->size ? source->size - offset : 0;
	size_t size = left < sizeof(bytes) ? (size_t)left : sizeof(bytes);
	int err = nt_source_read(source, offset, bytes, size);

	return err ? err : nt_block_head_parse(bytes, size, out);
}

int nt_contents_add_block(struct nt_chunk_contents *contents, uint64_t offset, const struct nt_block_header *header)
{
	size_t n = contents->n_blocks;

	/* Grows at each power of two. */
	if (!(n & (n - 1))) {
		struct nt_block_ref *blocks = reallocarray(contents->blocks, n ? n * 2 : 1, sizeof(*blocks));

		if (!blocks)
			return -ENOMEM;
		contents->blocks = blocks;
	}
	contents->blocks[contents->n_blocks++] = (struct nt_block_ref){.offset = offset, .header = *header};
	return 0;
}

int nt_contents_add_damage(struct nt_chunk_contents *contents, uint64_t offset, uint64_t size, const char *what)
{
	if (!contents->damage) {
		contents->damage = calloc(NT_MAX_DAMAGE, sizeof(*contents->damage));
		if (!contents->damage)
			return -ENOMEM;
	}
	if (contents->n_damage == NT_MAX_DAMAGE) {
		struct nt_damage *last = &contents->damage[NT_MAX_DAMAGE - 1];

		last->size = offset + size - last->offset;
		return 0;
	}
	contents->damage[contents->n_damage++] = (struct nt_damage){.offset = offset, .size = size, .what = what};
	return 0;
}

void nt_chunk_contents_release(struct nt_chunk_contents *contents)
{
	free(contents->blocks);
	free(contents->damage);
	*contents = (struct nt_chunk_contents){0};
}

/* Whether two headers say the same. */
static bool same_header(const struct nt_block_header *a, const struct nt_block_header *b)
{
	uint8_t bytes_a[NT_BLOCK_HEAD_SIZE], bytes_b[NT_BLOCK_HEAD_SIZE];

	nt_block_head_pack(bytes_a, a, 0);
	nt_block_head_pack(bytes_b, b, 0);
	return !memcmp(bytes_a, bytes_b, sizeof(bytes_a));
}

static int load_stored(const struct nt_source *source, uint64_t offset, const struct nt_block_head *head, uint8_t *to)
{
	int err = nt_source_read(source, offset + head->head_size, to, head->header.stored_size);

	if (err)
		return err;
	return nt_crc32c(0, to, head->header.stored_size) == head->payload_crc ? 0 : -EBADMSG;
}

static int load_compressed(const struct nt_source *source, uint64_t offset, const struct nt_block_head *head,
			   uint8_t *to)
{
	uint32_t stored_size = head->header.stored_size, raw_size = head->header.raw_size;
	uint8_t *stored = malloc(stored_size + 1);
	int err;

	if (!stored)
		return -ENOMEM;
	err = load_stored(source, offset, head, stored);
	if (!err &&
	    LZ4_decompress_safe((const char *)stored, (char *)to, (int)stored_size, (int)raw_size) != (int)raw_size)
		err = -EBADMSG;
	free(stored);
	return err;
}

int nt_chunk_load(const struct nt_source *source, const struct nt_block_ref *block, struct nt_buf *raw)
{
	struct nt_block_head head;
	int err = nt_source_block_head(source, block->offset, &head);

	raw->size = 0;
	if (err)
		return err;
	/* An index that says something else than the block is as bad as a damaged block. */
	if (!same_header(&head.header, &block->header))
		return -EBADMSG;
	err = nt_buf_reserve(raw, head.header.raw_size + 1);
	if (err)
		return err;
	if (head.header.stored_size == head.header.raw_size)
		err = load_stored(source, block->offset, &head, raw->data);
	else
		err = load_compressed(source, block->offset, &head, raw->data);
	if (!err)
		raw->size = head.header.raw_size;
	return err;
}

/* The state of the reader of an index. */
struct index_reader {
	const struct nt_source *source;
	struct nt_trailer trailer;
	uint64_t at; /* where the next block must stand */
	bool has_header;
	struct nt_chunk_contents *contents;
};

/* The first index block begins with a copy of the chunk's header. */
static int index_chunk_head(struct index_reader *reader, const struct nt_buf *raw, size_t *offset)
{
	size_t head_size;

	if (reader->has_header)
		return 0;
	if (nt_chunk_head_parse(raw->data, raw->size, &reader->contents->header, &head_size))
		return -EBADMSG;
	reader->has_header = true;
	reader->at = *offset = head_size;
	return 0;
}

/* Then come the block headers, and the blocks must lie one behind the other up to the index. */
static int index_entries(struct index_reader *reader, const struct nt_buf *raw)
{
	size_t offset = 0;
	int err = index_chunk_head(reader, raw, &offset);

	while (!err && offset < raw->size) {
		struct nt_block_head head;

		err = nt_block_head_parse(raw->data + offset, raw->size - offset, &head);
		if (err)
			return err;
		if (head.header.type == NT_BLOCK_INDEX || reader->at > reader->trailer.index_offset ||
		    head.head_size + (uint64_t)head.header.stored_size > reader->trailer.index_offset - reader->at)
			return -EBADMSG;
		err = nt_contents_add_block(reader->contents, reader->at, &head.header);
		offset += head.head_size;
		reader->at += head.head_size + (uint64_t)head.header.stored_size;
	}
	return err;
}

/* One index block at *offset. */
static int index_block(struct index_reader *reader, uint64_t *offset)
{
	struct nt_block_head head;
	struct nt_block_ref ref;
	struct nt_buf raw = {0};
	int err = nt_source_block_head(reader->source, *offset, &head);

	if (err)
		return err;
	if (head.header.type != NT_BLOCK_INDEX)
		return -EBADMSG;
	ref = (struct nt_block_ref){.offset = *offset, .header = head.header};
	err = nt_chunk_load(reader->source, &ref, &raw);
	if (!err)
		err = index_entries(reader, &raw);
	nt_buf_release(&raw);
	*offset += head.head_size + (uint64_t)head.header.stored_size;
	return err;
}

/* Reads the whole index. 0: done; 1: there is no trailer; -EBADMSG: the index is not valid. */
static int read_index(const struct nt_source *source, struct nt_chunk_contents *contents)
{
	struct index_reader reader = {.source = source, .contents = contents};
	uint8_t bytes[NT_TRAILER_SIZE];
	uint64_t offset;
	int err;

	if (source->size < NT_TRAILER_SIZE)
		return 1;
	err = nt_source_read(source, source->size - NT_TRAILER_SIZE, bytes, sizeof(bytes));
	if (err)
		return err;
	if (nt_trailer_parse(bytes, &reader.trailer))
		return 1;
	offset = reader.trailer.index_offset;
	for (uint32_t i = 0; !err && i < reader.trailer.n_index; i++)
		err = index_block(&reader, &offset);
	if (err)
		return err;
	if (offset != source->size - NT_TRAILER_SIZE || reader.at != reader.trailer.index_offset ||
	    !reader.has_header || contents->n_blocks != reader.trailer.n_blocks)
		return -EBADMSG;
	return 0;
}

/* Of the chunk's own header: what nt_chunk_head_parse gave. */
struct own_header {
	struct nt_chunk_header header;
	size_t size;
	int err;
};

static int read_own_header(const struct nt_source *source, struct own_header *own)
{
	uint8_t bytes[NT_CHUNK_HEAD_MAX];
	size_t size = source->size < sizeof(bytes) ? (size_t)source->size : sizeof(bytes);
	int err = nt_source_read(source, 0, bytes, size);

	if (err)
		return err;
	own->err = nt_chunk_head_parse(bytes, size, &own->header, &own->size);
	return 0;
}

int nt_chunk_is_begun(const struct nt_source *source)
{
	uint8_t bytes[NT_CHUNK_HEAD_MAX], magic[NT_CHUNK_HEAD_SIZE];
	const size_t size = (size_t)source->size;
	int err;

	if (source->size >= sizeof(bytes))
		return 0;
	err = nt_source_read(source, 0, bytes, size);
	if (err)
		return err;
	nt_chunk_head_pack(magic, &(struct nt_chunk_header){0});
	if (memcmp(bytes, magic, size < NT_MAGIC_SIZE ? size : NT_MAGIC_SIZE))
		return 0;
	/* How long the header is stands behind magic and version. */
	return size < NT_MAGIC_SIZE + 8 || nt_get_u32(bytes + 12) > size;
}

/* The index's copy of the chunk's header must agree with the header itself, if that is whole. */
static bool headers_agree(const struct own_header *own, const struct nt_chunk_header *copy)
{
	uint8_t bytes_own[NT_CHUNK_HEAD_SIZE], bytes_copy[NT_CHUNK_HEAD_SIZE];

	if (own->err)
		return true;
	nt_chunk_head_pack(bytes_own, &own->header);
	nt_chunk_head_pack(bytes_copy, copy);
	return !memcmp(bytes_own, bytes_copy, sizeof(bytes_own));
}

static bool same_blocks(const struct nt_chunk_contents *a, const struct nt_chunk_contents *b)
{
	if (a->n_blocks != b->n_blocks)
		return false;
	for (size_t i = 0; i < a->n_blocks; i++)
		if (a->blocks[i].offset != b->blocks[i].offset ||
		    !same_header(&a->blocks[i].header, &b->blocks[i].header))
			return false;
	return true;
}

/* Where the scan begins: behind the chunk's header, or where the first block is found if that is damaged. */
static int find_first(const struct nt_source *source, const struct own_header *own, struct nt_chunk_contents *out,
		      uint64_t *first)
{
	int err;

	if (!own->err) {
		*first = own->size;
		return 0;
	}
	err = nt_chunk_find_block(source, NT_MAGIC_SIZE, first);
	return err ? err : nt_contents_add_damage(out, 0, *first, "chunk header does not match its checksum");
}

/* `index` is what read_index made of the index, with the error index_err. */
static int scan(const struct nt_source *source, const struct own_header *own, const struct nt_chunk_contents *index,
		int index_err, struct nt_chunk_contents *out)
{
	uint64_t first;
	int err;

	if (!own->err)
		out->header = own->header;
	else if (!index_err)
		out->header = index->header;
	else if (own->err == -EPROTO)
		return -EPROTO;
	err = find_first(source, own, out, &first);
	if (!err)
		err = nt_chunk_scan(source, first, out);
	if (err)
		return err;
	if (!out->header.version && !out->n_blocks)
		return -EBADMSG;
	/* Where blocks are damaged the index cannot agree; where all are whole it must. */
	if (!out->n_damage && index_err != 1 && (index_err || !same_blocks(index, out)))
		return nt_contents_add_damage(out, source->size - NT_TRAILER_SIZE, NT_TRAILER_SIZE,
					      "index does not agree with the blocks");
	return 0;
}

/* Takes the index for the contents. */
static int take_index(const struct own_header *own, struct nt_chunk_contents *index, struct nt_chunk_contents *out)
{
	*out = *index;
	*index = (struct nt_chunk_contents){0};
	out->indexed = true;
	if (!own->err)
		return 0;
	return nt_contents_add_damage(out, 0, NT_CHUNK_HEAD_SIZE, "chunk header does not match its checksum");
}

int nt_chunk_open(const struct nt_source *source, bool scan_it, struct nt_chunk_contents *out)
{
	struct nt_chunk_contents index = {0};
	struct own_header own = {0};
	int err, index_err;

	*out = (struct nt_chunk_contents){0};
	err = read_own_header(source, &own);
	if (err)
		return err;
	if (own.err == -ENOTSUP)
		return own.err;
	index_err = read_index(source, &index);
	if (!index_err && !headers_agree(&own, &index.header))
		index_err = -EBADMSG;
	if (index_err < 0 && index_err != -EBADMSG)
		err = index_err;
	else if (!index_err && !scan_it)
		err = take_index(&own, &index, out);
	else
		err = scan(source, &own, &index, index_err, out);
	nt_chunk_contents_release(&index);
	if (err)
		nt_chunk_contents_release(out);
	return err;
}

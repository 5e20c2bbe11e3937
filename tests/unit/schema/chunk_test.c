// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunk_test.c - the chunk file: written data is read, with its index and without; another version or untrue data is
 * refused; errors of the callbacks come through. For damage see chunk_damage_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schema/chunk_format.h"
#include "schema/crc32c.h"
#include "schema/varint.h"
#include "tests/support/chunk_build.h"
#include "tests/support/chunk_memory.h"

struct built {
	struct nt_rand rand;
	struct chunk_build chunk; /* finished */
};

static int setup(void **state)
{
	struct built *built = calloc(1, sizeof(*built));

	built->rand.state = nt_rand_seed();
	chunk_build(&built->chunk, &built->rand, true);
	*state = built;
	return 0;
}

static int teardown(void **state)
{
	struct built *built = *state;

	chunk_build_release(&built->chunk);
	free(built);
	return 0;
}

/* ---- the checksum ---- */

static void test_crc32c(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};
	uint8_t bytes[300];

	(void)state;
	assert_int_equal(nt_crc32c_portable(0, "123456789", 9), 0xe3069283);
	assert_int_equal(nt_crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(nt_crc32c(nt_crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
	/* 32 zeros and 32 ones, from RFC 3720. */
	memset(bytes, 0, sizeof(bytes));
	assert_int_equal(nt_crc32c_portable(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(nt_crc32c_portable(0, bytes, 32), 0x62a8ab43);
	if (!nt_crc32c_has_hardware()) {
		print_message("SKIP: this CPU has no instruction for CRC32C: only the portable code was tested\n");
		skip();
	}
	assert_int_equal(nt_crc32c_hardware(0, "123456789", 9), 0xe3069283);
	for (int i = 0; i < 2000; i++) {
		size_t from = nt_rand_below(&rand, 20), size = nt_rand_below(&rand, sizeof(bytes) - from);
		uint32_t crc = (uint32_t)nt_rand_u64(&rand);

		nt_rand_bytes(&rand, bytes, sizeof(bytes));
		assert_int_equal(nt_crc32c_portable(crc, bytes + from, size),
				 nt_crc32c_hardware(crc, bytes + from, size));
	}
}

/* ---- whole chunks ---- */

static void test_index_and_scan_agree(void **state)
{
	struct built *built = *state;

	for (int scan = 0; scan < 2; scan++) {
		assert_int_equal(chunk_build_open(&built->chunk, scan), 0);
		assert_int_equal(built->chunk.contents.indexed, !scan);
		assert_int_equal(built->chunk.contents.n_damage, 0);
		assert_int_equal(built->chunk.contents.n_blocks, built->chunk.n);
		assert_int_equal(chunk_build_intact(&built->chunk), built->chunk.n);
		assert_true(chunk_build_header_is_right(&built->chunk));
	}
}

/* Section 17 of docs/chunk-format.md: what is not shown there is zeros. */
static const struct {
	size_t at;
	uint8_t bytes[16];
} example[] = {
	{0x000, {0x89, 0x4e, 0x54, 0x43, 0x0d, 0x0a, 0x1a, 0x0a, 0x01, 0, 0, 0, 0xb0, 0, 0, 0}},
	{0x0a0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xe4, 0x7c, 0xd1, 0xaa}},
	{0x0b0, {0xb7, 0x4e, 0x42, 0x0a, 0x01, 0, 0x58, 0, 0x07, 0, 0, 0, 0x07, 0, 0, 0}},
	{0x100, {0x64, 0x0a, 0x5c, 0xc3, 0xbd, 0x35, 0xfd, 0xf9, 0x74, 0x6f, 0x6f, 0x6c, 0x3d, 0x78, 0x0a, 0xb7}},
	{0x110, {0x4e, 0x42, 0x0a, 0x06, 0, 0x58, 0, 0x08, 0x01, 0, 0, 0x32, 0, 0, 0, 0}},
	{0x150, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x75}},
	{0x160, {0x1b, 0x17, 0xaf, 0xd3, 0x70, 0xc6, 0x25, 0xef, 0x89, 0x4e, 0x54, 0x43, 0x0d, 0x0a, 0x1a, 0x0a}},
	{0x170, {0x01, 0, 0, 0, 0xb0, 0, 0x01, 0, 0x8b, 0xf1, 0, 0xe4, 0x7c, 0xd1, 0xaa, 0xb7}},
	{0x180, {0x4e, 0x42, 0x0a, 0x01, 0, 0x58, 0, 0x07, 0, 0, 0x04, 0, 0x0f, 0x02, 0, 0x2d}},
	{0x190, {0x80, 0x64, 0x0a, 0x5c, 0xc3, 0xbd, 0x35, 0xfd, 0xf9, 0x89, 0x4e, 0x54, 0x43, 0x45, 0x4e, 0x44}},
	{0x1a0, {0x0a, 0x0f, 0x01, 0, 0, 0, 0, 0, 0, 0x01, 0, 0, 0, 0, 0, 0}},
	{0x1b0, {0, 0x01, 0, 0, 0, 0xd1, 0x99, 0x53, 0x98}},
};
#define EXAMPLE_INDEX 0x10f
#define EXAMPLE_SIZE 0x1b9

static void test_example(void **state)
{
	struct built *built = *state;
	struct nt_chunk_header chunk_header = {.version = NT_CHUNK_VERSION};
	struct nt_block_header header = {.type = NT_BLOCK_META};
	uint8_t bytes[EXAMPLE_SIZE + 16] = {0};
	struct nt_buf *file = &built->chunk.file, raw = {0};
	struct nt_chunk_writer *writer;

	for (size_t i = 0; i < sizeof(example) / sizeof(example[0]); i++)
		memcpy(bytes + example[i].at, example[i].bytes, 16);
	file->size = 0;
	assert_int_equal(nt_buf_append(file, bytes, EXAMPLE_SIZE), 0);
	for (int scan = 0; scan < 2; scan++) {
		assert_int_equal(chunk_build_open(&built->chunk, scan), 0);
		assert_int_equal(built->chunk.contents.indexed, !scan);
		assert_int_equal(built->chunk.contents.n_damage, 0);
		assert_int_equal(built->chunk.contents.n_blocks, 1);
		assert_int_equal(nt_chunk_load(&built->chunk.source, &built->chunk.contents.blocks[0], &raw), 0);
		assert_int_equal(raw.size, 7);
		assert_memory_equal(raw.data, "tool=x\n", 7);
	}
	/* And what is written is that, but for how the index is compressed, which is up to liblz4. */
	file->size = 0;
	assert_int_equal(nt_chunk_writer_new(&writer, &chunk_header, chunk_memory_write, file), 0);
	assert_int_equal(nt_chunk_writer_block(writer, &header, "tool=x\n", 7), 0);
	assert_int_equal(nt_chunk_writer_finish(writer), 0);
	nt_chunk_writer_free(writer);
	assert_memory_equal(file->data, bytes, EXAMPLE_INDEX);
	assert_memory_equal(file->data + file->size - NT_TRAILER_SIZE, bytes + EXAMPLE_SIZE - NT_TRAILER_SIZE,
			    NT_TRAILER_SIZE);
	nt_buf_release(&raw);
}

static void test_unfinished(void **state)
{
	struct built *built = *state;

	built->chunk.file.size = built->chunk.end_of_blocks;
	assert_int_equal(chunk_build_open(&built->chunk, false), 0);
	assert_false(built->chunk.contents.indexed);
	assert_int_equal(built->chunk.contents.n_damage, 0);
	assert_int_equal(chunk_build_intact(&built->chunk), built->chunk.n);
}

static void test_long_names_are_cut(void **state)
{
	struct built *built = *state;
	struct nt_chunk_header header = {.version = NT_CHUNK_VERSION};
	struct nt_chunk_writer *writer;

	memset(header.host, 'h', sizeof(header.host));
	memset(header.boot_id, 'b', sizeof(header.boot_id));
	built->chunk.file.size = 0;
	assert_int_equal(nt_chunk_writer_new(&writer, &header, chunk_memory_write, &built->chunk.file), 0);
	nt_chunk_writer_free(writer);
	assert_int_equal(chunk_build_open(&built->chunk, false), 0);
	assert_int_equal(strlen(built->chunk.contents.header.host), sizeof(header.host) - 1);
	assert_int_equal(strlen(built->chunk.contents.header.boot_id), sizeof(header.boot_id) - 1);
	assert_int_equal(built->chunk.contents.n_blocks, 0);
}

/* So many blocks that the index takes several blocks: of headers one more than two blocks of it hold. */
static void test_long_index(void **state)
{
	struct built *built = *state;
	struct nt_buf *file = &built->chunk.file;
	struct nt_chunk_writer *writer;
	struct nt_trailer trailer;
	const size_t n = 2 * (NT_INDEX_RAW_MAX / NT_BLOCK_HEAD_SIZE) + 1;

	file->size = 0;
	assert_int_equal(nt_chunk_writer_new(&writer, &built->chunk.header, chunk_memory_write, file), 0);
	for (size_t i = 0; i < n; i++) {
		struct nt_block_header header = {.type = NT_BLOCK_EVENTS, .sequence = i};

		assert_int_equal(nt_chunk_writer_block(writer, &header, "xyz", i % 4), 0);
	}
	assert_int_equal(nt_chunk_writer_finish(writer), 0);
	nt_chunk_writer_free(writer);
	assert_int_equal(nt_trailer_parse(file->data + file->size - NT_TRAILER_SIZE, &trailer), 0);
	assert_int_equal(trailer.n_index, 3);
	for (int scan = 0; scan < 2; scan++) {
		assert_int_equal(chunk_build_open(&built->chunk, scan), 0);
		assert_int_equal(built->chunk.contents.indexed, !scan);
		assert_int_equal(built->chunk.contents.n_damage, 0);
		assert_int_equal(built->chunk.contents.n_blocks, n);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(built->chunk.contents.blocks[i].header.sequence, i);
	}
}

/* ---- what is no tape of this version ---- */

/* Sets the checksum right after a change to the chunk header. */
static void seal_chunk_head(uint8_t *head, size_t size)
{
	nt_put_u32(head + size - 4, nt_crc32c(0, head, size - 4));
}

static void test_other_version(void **state)
{
	struct built *built = *state;

	nt_put_u32(built->chunk.file.data + 8, 2);
	seal_chunk_head(built->chunk.file.data, NT_CHUNK_HEAD_SIZE);
	assert_int_equal(chunk_build_open(&built->chunk, false), -ENOTSUP);
	assert_int_equal(chunk_build_open(&built->chunk, true), -ENOTSUP);
	assert_null(built->chunk.contents.blocks);
}

static void insert(struct nt_buf *file, uint64_t at, const uint8_t *bytes, size_t size)
{
	assert_int_equal(nt_buf_reserve(file, size), 0);
	memmove(file->data + at + size, file->data + at, file->size - at);
	memcpy(file->data + at, bytes, size);
	file->size += size;
}

/* A header that another writer made longer. */
static void test_longer_headers(void **state)
{
	static const uint8_t more[12] = {1, 2, 3};
	struct built *built = *state;
	struct nt_buf *file = &built->chunk.file;
	uint64_t block = built->chunk.blocks[3].offset;

	file->size = built->chunk.end_of_blocks;
	insert(file, block + NT_BLOCK_HEAD_SIZE - 4, more, sizeof(more));
	nt_put_u16(file->data + block + 6, NT_BLOCK_HEAD_SIZE + sizeof(more));
	seal_chunk_head(file->data + block, NT_BLOCK_HEAD_SIZE + sizeof(more));
	insert(file, NT_CHUNK_HEAD_SIZE - 4, more, sizeof(more));
	nt_put_u32(file->data + 12, NT_CHUNK_HEAD_SIZE + sizeof(more));
	seal_chunk_head(file->data, NT_CHUNK_HEAD_SIZE + sizeof(more));
	assert_int_equal(chunk_build_open(&built->chunk, false), 0);
	assert_int_equal(built->chunk.contents.n_damage, 0);
	assert_int_equal(built->chunk.contents.n_blocks, built->chunk.n);
	assert_true(chunk_build_header_is_right(&built->chunk));
	for (size_t i = 0; i < built->chunk.n; i++) {
		struct nt_buf raw = {0};

		assert_int_equal(nt_chunk_load(&built->chunk.source, &built->chunk.contents.blocks[i], &raw), 0);
		assert_int_equal(raw.size, built->chunk.payloads[i].size);
		nt_buf_release(&raw);
	}
}

static void test_no_tape(void **state)
{
	static const char *const texts[] = {"", "\x89", "SQLite format 3", "\x89NTC\n\x1a\n no carriage return",
					    "\x89NTC\r\r\n\x1a\n line ends changed"};
	struct built *built = *state;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		built->chunk.file.size = strlen(texts[i]);
		memcpy(built->chunk.file.data, texts[i], strlen(texts[i]));
		assert_int_equal(chunk_build_open(&built->chunk, false), -EPROTO);
		assert_int_equal(chunk_build_open(&built->chunk, true), -EPROTO);
	}
	/* A trailer that agrees with itself, and nothing else. */
	nt_trailer_pack(built->chunk.file.data, &(struct nt_trailer){.index_offset = 0});
	built->chunk.file.size = NT_TRAILER_SIZE;
	assert_int_equal(chunk_build_open(&built->chunk, false), -EPROTO);
	assert_int_equal(chunk_build_open(&built->chunk, true), -EPROTO);
}

/* Headers with valid checksums that are over the bounds. */
static void test_bounds(void **state)
{
	static const struct {
		unsigned int at;
		uint32_t value;
	} over[] = {{6, 87},
		    {6, 257},
		    {8, NT_BLOCK_MAX_RAW + 1},
		    {12, 100000},
		    {16, NT_CHUNK_MAX_CPUS},
		    {20, NT_BLOCK_MAX_EVENTS + 1}};
	struct nt_block_header header = {.type = NT_BLOCK_EVENTS, .raw_size = 3, .stored_size = 3};
	uint8_t bytes[NT_BLOCK_HEAD_MAX + 1] = {0};
	struct nt_block_head head;

	(void)state;
	nt_block_head_pack(bytes, &header, 0);
	assert_int_equal(nt_block_head_parse(bytes, NT_BLOCK_HEAD_SIZE, &head), 0);
	assert_int_equal(nt_block_head_parse(bytes, NT_BLOCK_HEAD_SIZE - 1, &head), -EBADMSG);
	for (size_t i = 0; i < sizeof(over) / sizeof(over[0]); i++) {
		nt_block_head_pack(bytes, &header, 0);
		if (over[i].at == 6) {
			nt_put_u16(bytes + 6, (uint16_t)over[i].value);
			seal_chunk_head(bytes, over[i].value);
		} else {
			nt_put_u32(bytes + over[i].at, over[i].value);
			seal_chunk_head(bytes, NT_BLOCK_HEAD_SIZE);
		}
		assert_int_equal(nt_block_head_parse(bytes, sizeof(bytes), &head), -EBADMSG);
	}
}

/* ---- what is untrue under valid checksums ---- */

/* Rewrites the index of the chunk: `entries` are the bytes of its payload. */
static void put_index(struct built *built, const struct nt_buf *entries, uint64_t n_blocks)
{
	struct nt_block_header header = {
		.type = NT_BLOCK_INDEX, .raw_size = (uint32_t)entries->size, .stored_size = (uint32_t)entries->size};
	struct nt_trailer trailer = {.index_offset = built->chunk.end_of_blocks, .n_blocks = n_blocks, .n_index = 1};
	uint8_t head[NT_BLOCK_HEAD_SIZE], tail[NT_TRAILER_SIZE];
	struct nt_buf *file = &built->chunk.file;

	nt_block_head_pack(head, &header, nt_crc32c(0, entries->data, entries->size));
	nt_trailer_pack(tail, &trailer);
	file->size = built->chunk.end_of_blocks;
	assert_int_equal(nt_buf_append(file, head, sizeof(head)), 0);
	assert_int_equal(nt_buf_append(file, entries->data, entries->size), 0);
	assert_int_equal(nt_buf_append(file, tail, sizeof(tail)), 0);
}

static void true_index(const struct built *built, struct nt_buf *entries)
{
	entries->size = 0;
	assert_int_equal(nt_buf_append(entries, built->chunk.file.data, NT_CHUNK_HEAD_SIZE), 0);
	for (size_t i = 0; i < built->chunk.n; i++)
		assert_int_equal(nt_buf_append(entries, built->chunk.file.data + built->chunk.blocks[i].offset,
					       NT_BLOCK_HEAD_SIZE),
				 0);
}

/* However the index is wrong: the blocks are found by scanning, and that it is wrong is said. */
static void expect_untrue(struct built *built, const char *what)
{
	for (int scan = 0; scan < 2; scan++) {
		if (chunk_build_open(&built->chunk, scan) || built->chunk.contents.indexed ||
		    built->chunk.contents.n_damage != 1 || chunk_build_intact(&built->chunk) != built->chunk.n)
			fail_msg("%s was not noticed", what);
		assert_true(chunk_build_header_is_right(&built->chunk));
	}
}

static void test_untrue_index(void **state)
{
	struct built *built = *state;
	struct nt_buf entries = {0};
	size_t n = built->chunk.n;

	true_index(built, &entries);
	put_index(built, &entries, n);
	assert_int_equal(chunk_build_open(&built->chunk, false), 0);
	assert_true(built->chunk.contents.indexed && built->chunk.contents.n_damage == 0);
	insert(&built->chunk.file, built->chunk.file.size - NT_TRAILER_SIZE, (const uint8_t[]){0}, 1);
	expect_untrue(built, "a byte between the index and the trailer");
	put_index(built, &entries, n + 1);
	expect_untrue(built, "a wrong number of blocks");
	entries.size -= NT_BLOCK_HEAD_SIZE;
	put_index(built, &entries, n - 1);
	expect_untrue(built, "a missing entry");
	entries.size += NT_BLOCK_HEAD_SIZE - 1;
	put_index(built, &entries, n);
	expect_untrue(built, "an entry cut short");
	entries.size = NT_CHUNK_HEAD_SIZE - 1;
	put_index(built, &entries, 0);
	expect_untrue(built, "a chunk header cut short");
	entries.size = 0;
	put_index(built, &entries, 0);
	expect_untrue(built, "an empty index");
	true_index(built, &entries);
	entries.data[16] ^= 1;
	seal_chunk_head(entries.data, NT_CHUNK_HEAD_SIZE);
	put_index(built, &entries, n);
	expect_untrue(built, "another chunk's number");
	true_index(built, &entries);
	entries.data[NT_CHUNK_HEAD_SIZE + 4] = NT_BLOCK_INDEX;
	seal_chunk_head(entries.data + NT_CHUNK_HEAD_SIZE, NT_BLOCK_HEAD_SIZE);
	put_index(built, &entries, n);
	expect_untrue(built, "an index block in the index");
	nt_buf_release(&entries);
}

/* An entry with the right sizes that says something else than the block: seen by a scan, and when the block is loaded.
 */
static void test_untrue_entry(void **state)
{
	struct built *built = *state;
	struct nt_buf entries = {0}, raw = {0};
	uint8_t *entry;

	true_index(built, &entries);
	entry = entries.data + NT_CHUNK_HEAD_SIZE + 3 * NT_BLOCK_HEAD_SIZE;
	entry[64] ^= 1;
	seal_chunk_head(entry, NT_BLOCK_HEAD_SIZE);
	put_index(built, &entries, built->chunk.n);
	assert_int_equal(chunk_build_open(&built->chunk, false), 0);
	assert_int_equal(nt_chunk_load(&built->chunk.source, &built->chunk.contents.blocks[3], &raw), -EBADMSG);
	assert_int_equal(nt_chunk_load(&built->chunk.source, &built->chunk.contents.blocks[4], &raw), 0);
	assert_int_equal(chunk_build_open(&built->chunk, true), 0);
	assert_int_equal(built->chunk.contents.n_damage, 1);
	assert_int_equal(chunk_build_intact(&built->chunk), built->chunk.n);
	nt_buf_release(&entries);
	nt_buf_release(&raw);
}

static void expect_payload_damage(struct built *built, uint32_t raw_size, const uint8_t *stored, uint32_t stored_size)
{
	struct nt_block_ref ref = {
		.offset = 0, .header = {.type = NT_BLOCK_EVENTS, .raw_size = raw_size, .stored_size = stored_size}};
	uint8_t head[NT_BLOCK_HEAD_SIZE];
	struct nt_buf raw = {0};

	nt_block_head_pack(head, &ref.header, nt_crc32c(0, stored, stored_size));
	built->chunk.file.size = 0;
	assert_int_equal(nt_buf_append(&built->chunk.file, head, sizeof(head)), 0);
	assert_int_equal(nt_buf_append(&built->chunk.file, stored, stored_size), 0);
	built->chunk.source = chunk_memory_source(&built->chunk.file);
	assert_int_equal(nt_chunk_load(&built->chunk.source, &ref, &raw), -EBADMSG);
	assert_int_equal(raw.size, 0);
	nt_buf_release(&raw);
}

static void test_untrue_compression(void **state)
{
	/* LZ4: one literal, then 19 bytes from one back, then five literals: 25 bytes. */
	static const uint8_t lz4[] = {0x1f, 'a', 1, 0, 0, 0x50, 'b', 'b', 'b', 'b', 'b'};
	struct built *built = *state;

	expect_payload_damage(built, 26, lz4, sizeof(lz4));
	expect_payload_damage(built, 24, lz4, sizeof(lz4));
	expect_payload_damage(built, NT_BLOCK_MAX_RAW, lz4, sizeof(lz4));
	expect_payload_damage(built, 25, lz4, sizeof(lz4) - 1);
	expect_payload_damage(built, 25, lz4, 0);
}

/* ---- errors of the callbacks, and misuse ---- */

struct limited {
	size_t left;
	struct nt_buf file;
};

static int write_limited(void *arg, const void *data, size_t size)
{
	struct limited *limited = arg;

	if (size > limited->left) {
		nt_buf_append(&limited->file, data, limited->left);
		limited->left = 0;
		return -ENOSPC;
	}
	limited->left -= size;
	return nt_buf_append(&limited->file, data, size);
}

static void test_write_error(void **state)
{
	struct nt_chunk_header chunk_header = {.version = NT_CHUNK_VERSION};
	struct limited limited = {.left = 100};
	struct nt_chunk_writer *writer;
	struct nt_chunk_contents contents;
	struct nt_source source;

	(void)state;
	assert_int_equal(nt_chunk_writer_new(&writer, &chunk_header, write_limited, &limited), -ENOSPC);
	assert_null(writer);
	limited.file.size = 0;
	limited.left = NT_CHUNK_HEAD_SIZE + 150;
	assert_int_equal(nt_chunk_writer_new(&writer, &chunk_header, write_limited, &limited), 0);
	for (int i = 0; i < 3; i++) {
		struct nt_block_header header = {.type = NT_BLOCK_META};

		assert_int_equal(nt_chunk_writer_block(writer, &header, "a=b\n", 4), i ? -ENOSPC : 0);
		/* Even if there is room again: what stands in the file is not known. */
		if (i)
			limited.left = 10000;
	}
	assert_int_equal(nt_chunk_writer_finish(writer), -ENOSPC);
	nt_chunk_writer_free(writer);
	source = chunk_memory_source(&limited.file);
	assert_int_equal(nt_chunk_open(&source, false, &contents), 0);
	assert_int_equal(contents.n_blocks, 1);
	assert_int_equal(contents.n_damage, 1);
	nt_chunk_contents_release(&contents);
	nt_buf_release(&limited.file);
}

static void test_writer_misuse(void **state)
{
	struct built *built = *state;
	struct nt_block_header header = {.type = NT_BLOCK_INDEX};
	struct nt_chunk_writer *writer;
	void *much = calloc(1, NT_BLOCK_MAX_RAW + 1);

	built->chunk.file.size = 0;
	assert_int_equal(nt_chunk_writer_new(&writer, &built->chunk.header, chunk_memory_write, &built->chunk.file), 0);
	assert_int_equal(nt_chunk_writer_block(writer, &header, "", 0), -EINVAL);
	header.type = 0;
	assert_int_equal(nt_chunk_writer_block(writer, &header, "", 0), -EINVAL);
	header = (struct nt_block_header){.type = NT_BLOCK_EVENTS, .cpu = NT_CHUNK_MAX_CPUS};
	assert_int_equal(nt_chunk_writer_block(writer, &header, "", 0), -EINVAL);
	header = (struct nt_block_header){.type = NT_BLOCK_PROC_SNAPSHOT};
	assert_int_equal(nt_chunk_writer_block(writer, &header, much, NT_BLOCK_MAX_RAW + 1), -E2BIG);
	assert_int_equal(nt_chunk_writer_size(writer), NT_CHUNK_HEAD_SIZE);
	assert_int_equal(nt_chunk_writer_block(writer, &header, much, NT_BLOCK_MAX_RAW), 0);
	assert_int_equal(nt_chunk_writer_finish(writer), 0);
	assert_int_equal(nt_chunk_writer_finish(writer), -EINVAL);
	assert_int_equal(nt_chunk_writer_block(writer, &header, "", 0), -EINVAL);
	nt_chunk_writer_free(writer);
	nt_chunk_writer_free(NULL);
	assert_int_equal(chunk_build_open(&built->chunk, false), 0);
	assert_int_equal(built->chunk.contents.n_blocks, 1);
	free(much);
}

struct failing {
	struct nt_source whole;
	int64_t reads_left;
};

static int64_t read_failing(void *arg, uint64_t offset, void *data, size_t size)
{
	struct failing *failing = arg;

	if (!failing->reads_left--)
		return -EIO;
	return failing->whole.read(failing->whole.arg, offset, data, size);
}

/* An error of the source is given as it is, at whichever read it comes. */
static void test_read_error(void **state)
{
	struct built *built = *state;
	int64_t by_index = 0;

	for (int scan = 0; scan < 2; scan++) {
		int64_t reads = 0;
		int err = -EIO;

		while (err) {
			struct failing failing = {.whole = built->chunk.source, .reads_left = reads++};
			struct nt_source source = {
				.arg = &failing, .size = built->chunk.source.size, .read = read_failing};

			err = nt_chunk_open(&source, scan, &built->chunk.contents);
			assert_true(err == 0 || err == -EIO);
			/* It succeeds when all that it reads can be read, and not sooner. */
			if (!err)
				assert_int_equal(failing.reads_left, 0);
		}
		assert_in_range(reads, 5, 100);
		/* A scan reads each block's header, too, and the first error there is one as well. */
		if (scan)
			assert_true(reads > by_index + (int64_t)built->chunk.contents.n_blocks);
		by_index = reads;
		nt_chunk_contents_release(&built->chunk.contents);
	}
}

/* A source that is shorter than it said: as if it were cut. */
static void test_shrunk_source(void **state)
{
	struct built *built = *state;

	built->chunk.source.size += 1000;
	assert_int_equal(nt_chunk_open(&built->chunk.source, false, &built->chunk.contents), -EBADMSG);
	assert_null(built->chunk.contents.blocks);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crc32c),
		TEST(test_index_and_scan_agree),
		TEST(test_example),
		TEST(test_unfinished),
		TEST(test_long_names_are_cut),
		TEST(test_long_index),
		TEST(test_other_version),
		TEST(test_longer_headers),
		TEST(test_no_tape),
		cmocka_unit_test(test_bounds),
		TEST(test_untrue_index),
		TEST(test_untrue_entry),
		TEST(test_untrue_compression),
		cmocka_unit_test(test_write_error),
		TEST(test_writer_misuse),
		TEST(test_read_error),
		TEST(test_shrunk_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunk_damage_test.c - a chunk that was damaged or cut: that is noticed, and costs no more than it must.
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
#include "tests/support/chunk_build.h"
#include "tests/support/chunk_memory.h"

struct built {
	struct nt_rand rand;
	uint64_t seed;
	struct chunk_build chunk; /* finished */
};

static int setup(void **state)
{
	struct built *built = calloc(1, sizeof(*built));

	built->seed = built->rand.state = nt_rand_seed();
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

static void check_at(const struct built *built, bool ok, const char *what, size_t at)
{
	if (!ok)
		fail_msg("%s at %zu (NT_SEED=%llu)", what, at, (unsigned long long)built->seed);
}

/* Of a chunk with one byte changed: all that is whole is read, and that something is not is said. */
static void expect_noticed(struct built *built, bool scan, size_t at, size_t least)
{
	int err = chunk_build_open(&built->chunk, scan);
	uint64_t size = built->chunk.source.size;
	size_t n;

	check_at(built, !err, "open", at);
	n = chunk_build_intact(&built->chunk);
	check_at(built, n >= least, "a whole block was not read", at);
	check_at(built, n < built->chunk.n || built->chunk.contents.n_damage > 0, "a changed byte was not noticed", at);
	check_at(built, built->chunk.contents.n_blocks <= built->chunk.n, "more blocks than there are", at);
	for (size_t i = 0; i < built->chunk.contents.n_damage; i++) {
		const struct nt_damage *damage = &built->chunk.contents.damage[i];

		check_at(built, damage->offset <= size && damage->size <= size - damage->offset,
			 "damage beyond the end", at);
		/* A trailer that is whole is found again behind damage. */
		if (scan && at < size - NT_TRAILER_SIZE && size > built->chunk.end_of_blocks)
			check_at(built, damage->offset + damage->size <= size - NT_TRAILER_SIZE,
				 "damage in the trailer", at);
	}
}

static void test_each_changed_byte(void **state)
{
	struct built *built = *state;
	struct nt_buf *file = &built->chunk.file;
	size_t whole = file->size;

	for (size_t at = 0; at < whole; at++) {
		uint8_t change = (uint8_t)(1 + nt_rand_below(&built->rand, 255)), was = file->data[at];
		size_t least = built->chunk.n - (at >= NT_CHUNK_HEAD_SIZE && at < built->chunk.end_of_blocks);

		file->data[at] = was ^ change;
		expect_noticed(built, false, at, least);
		/* The index, or its copy of the header, still says what the chunk is. */
		assert_true(chunk_build_header_is_right(&built->chunk));
		expect_noticed(built, true, at, least);
		/* The same without an index; then a broken magic makes it no tape. */
		file->size = built->chunk.end_of_blocks;
		if (at < NT_MAGIC_SIZE)
			check_at(built, chunk_build_open(&built->chunk, false) == -EPROTO, "magic", at);
		else if (at < file->size)
			expect_noticed(built, false, at, least);
		file->size = whole;
		file->data[at] = was;
	}
}

/* How many of the built blocks lie wholly before the end. */
static size_t blocks_before(const struct built *built, uint64_t end)
{
	size_t n = 0;

	while (n < built->chunk.n &&
	       (n + 1 < built->chunk.n ? built->chunk.blocks[n + 1].offset : built->chunk.end_of_blocks) <= end)
		n++;
	return n;
}

static bool is_boundary(const struct built *built, uint64_t end)
{
	for (size_t i = 0; i < built->chunk.n; i++)
		if (built->chunk.blocks[i].offset == end)
			return true;
	return end == built->chunk.end_of_blocks;
}

static void test_cut_anywhere(void **state)
{
	struct built *built = *state;
	size_t whole = built->chunk.file.size;

	for (size_t size = 0; size < whole; size++) {
		bool scan = size % 2;
		int want = size < NT_MAGIC_SIZE ? -EPROTO : size < NT_CHUNK_HEAD_SIZE ? -EBADMSG : 0;

		built->chunk.file.size = size;
		check_at(built, chunk_build_open(&built->chunk, scan) == want, "open", size);
		if (want)
			continue;
		check_at(built, chunk_build_intact(&built->chunk) == blocks_before(built, size), "blocks", size);
		check_at(built, built->chunk.contents.n_blocks == blocks_before(built, size), "blocks listed", size);
		check_at(built, built->chunk.contents.n_damage == !is_boundary(built, size), "damage", size);
		if (built->chunk.contents.n_damage)
			assert_non_null(strstr(built->chunk.contents.damage[0].what, "cut short"));
	}
}

static bool same_contents(const struct nt_chunk_contents *one, const struct nt_chunk_contents *other)
{
	if (one->n_blocks != other->n_blocks || one->n_damage != other->n_damage)
		return false;
	for (size_t i = 0; i < one->n_blocks; i++)
		if (one->blocks[i].offset != other->blocks[i].offset)
			return false;
	for (size_t i = 0; i < one->n_damage; i++)
		if (one->damage[i].offset != other->damage[i].offset || one->damage[i].size != other->damage[i].size)
			return false;
	return true;
}

/* Lists the chunk while it grows to `end`, in steps of any size; whole blocks at once, if nothing is damaged. */
static void grow(struct built *built, size_t end, bool is_damaged, struct nt_chunk_contents *contents)
{
	struct nt_buf *file = &built->chunk.file;
	struct nt_source source;
	uint64_t offset = 0;

	for (size_t size = 0; size < end; size += 1 + nt_rand_below(&built->rand, end / 4)) {
		file->size = size;
		source = chunk_memory_source(file);
		check_at(built, !nt_chunk_grow(&source, &offset, contents), "grow", size);
		check_at(built, offset <= size, "offset", size);
		check_at(built, is_damaged || contents->n_blocks == blocks_before(built, size), "listed", size);
	}
	file->size = end;
	source = chunk_memory_source(file);
	check_at(built, !nt_chunk_grown(&source, offset, contents), "grown", end);
}

/* What was listed while it grew is what a scan of the whole finds; also of chunks that are damaged, or cut. */
static void test_grows(void **state)
{
	struct built *built = *state;
	struct nt_buf *file = &built->chunk.file;
	const size_t whole = file->size;

	for (unsigned int round = 0; round < 2000; round++) {
		const size_t at = NT_CHUNK_HEAD_SIZE + nt_rand_below(&built->rand, whole - NT_CHUNK_HEAD_SIZE);
		const uint8_t change = round % 2 ? (uint8_t)(1 + nt_rand_below(&built->rand, 255)) : 0;
		const size_t end = round % 3 ? whole : at;
		struct nt_chunk_contents contents = {0}, *scanned = &built->chunk.contents;

		file->data[at] ^= change;
		grow(built, end, change, &contents);
		check_at(built, change || contents.indexed == (end == whole), "its end", end);
		check_at(built, !chunk_build_open(&built->chunk, true), "open", end);
		/* Whether the index agrees with the blocks is not asked: they were listed without it. */
		if (scanned->n_damage && strstr(scanned->damage[scanned->n_damage - 1].what, "does not agree"))
			scanned->n_damage--;
		check_at(built, same_contents(&contents, scanned), "contents", at);
		nt_chunk_contents_release(&contents);
		file->data[at] ^= change;
		file->size = whole;
	}
}

/* A stretch overwritten: the blocks beyond it are found again. */
static void test_overwritten(void **state)
{
	struct built *built = *state;
	struct nt_buf *file = &built->chunk.file;

	for (int run = 0; run < 300; run++) {
		uint64_t from = nt_rand_below(&built->rand, file->size), to = from + nt_rand_below(&built->rand, 400);
		uint8_t *copy = malloc(file->size);
		size_t least = 0;

		if (to > file->size)
			to = file->size;
		memcpy(copy, file->data, file->size);
		nt_rand_bytes(&built->rand, file->data + from, to - from);
		for (size_t i = 0; i < built->chunk.n; i++) {
			uint64_t begin = built->chunk.blocks[i].offset;
			uint64_t end =
				i + 1 < built->chunk.n ? built->chunk.blocks[i + 1].offset : built->chunk.end_of_blocks;

			least += end <= from || begin >= to;
		}
		for (int scan = 0; scan < 2; scan++) {
			int err = chunk_build_open(&built->chunk, scan);

			/* Both the magic and the index gone: no tape. */
			if (err == -EPROTO && from < NT_MAGIC_SIZE)
				continue;
			check_at(built, !err, "open", from);
			check_at(built, chunk_build_intact(&built->chunk) >= least, "a whole block was not read", from);
		}
		memcpy(file->data, copy, file->size);
		free(copy);
	}
}

/* More damaged places than are listed, far apart and near: the last entry covers the rest. */
static void test_much_damage(void **state)
{
	struct built *built = *state;
	struct nt_chunk_writer *writer;
	struct nt_buf *file = &built->chunk.file;
	const size_t n = 2 * NT_MAX_DAMAGE + 10;
	const struct nt_damage *last;

	file->size = 0;
	assert_int_equal(nt_chunk_writer_new(&writer, &built->chunk.header, chunk_memory_write, file), 0);
	for (size_t i = 0; i < n; i++) {
		struct nt_block_header header = {.type = NT_BLOCK_EVENTS, .sequence = i};

		assert_int_equal(nt_chunk_writer_block(writer, &header, "abc", 3), 0);
		if (i % 2)
			file->data[file->size - 3 - NT_BLOCK_HEAD_SIZE + 30] ^= 0x10;
		if (i == 5) {
			assert_int_equal(nt_buf_reserve(file, 200000), 0);
			memset(file->data + file->size, '\n', 200000);
			file->size += 200000;
		}
	}
	nt_chunk_writer_free(writer);
	assert_int_equal(chunk_build_open(&built->chunk, false), 0);
	assert_int_equal(built->chunk.contents.n_blocks, n / 2);
	assert_int_equal(built->chunk.contents.n_damage, NT_MAX_DAMAGE);
	last = &built->chunk.contents.damage[NT_MAX_DAMAGE - 1];
	assert_int_equal(last->offset + last->size, file->size);
	assert_in_range(built->chunk.contents.damage[2].size, 200000, 200000 + 3 + NT_BLOCK_HEAD_SIZE);
}

/* Rubbish of any size, then a block: it is found where it is, however it lies to the windows of the search. */
static void test_search(void **state)
{
	struct built *built = *state;
	struct nt_block_ref block = built->chunk.blocks[3];
	uint64_t end = built->chunk.blocks[4].offset;
	struct nt_buf *file = &built->chunk.file, copy = {0};

	assert_int_equal(nt_buf_append(&copy, file->data, end), 0);
	for (size_t rubbish = 1; rubbish < 8000; rubbish += rubbish < 3500 ? 1 : 7) {
		file->size = NT_CHUNK_HEAD_SIZE;
		assert_int_equal(nt_buf_reserve(file, rubbish), 0);
		memset(file->data + file->size, NT_BLOCK_MAGIC[rubbish % 4], rubbish);
		file->size += rubbish;
		assert_int_equal(nt_buf_append(file, copy.data + block.offset, end - block.offset), 0);
		check_at(built, !chunk_build_open(&built->chunk, false), "open", rubbish);
		check_at(built, built->chunk.contents.n_blocks == 1, "not found", rubbish);
		check_at(built, built->chunk.contents.blocks[0].offset == NT_CHUNK_HEAD_SIZE + rubbish, "where",
			 rubbish);
		check_at(built, built->chunk.contents.n_damage == 1, "damage", rubbish);
		check_at(built, built->chunk.contents.damage[0].size == rubbish, "size of damage", rubbish);
	}
	nt_buf_release(&copy);
}

/* A block that says that it reaches into the trailer. */
static void test_block_over_trailer(void **state)
{
	struct built *built = *state;
	struct nt_buf *file = &built->chunk.file;
	uint64_t block = built->chunk.blocks[2].offset;
	struct nt_block_header header = {.type = NT_BLOCK_PROC_SNAPSHOT};

	header.raw_size = header.stored_size = (uint32_t)(file->size - block - NT_BLOCK_HEAD_SIZE - 10);
	nt_block_head_pack(file->data + block, &header, 0);
	assert_int_equal(chunk_build_open(&built->chunk, true), 0);
	assert_int_equal(built->chunk.contents.n_blocks, 3);
	assert_int_equal(built->chunk.contents.n_damage, 1);
	assert_int_equal(built->chunk.contents.damage[0].size, 10);
}

/* A block that lies in the payload of another is not taken for one, so long as the other is whole. */
static void test_block_in_a_payload(void **state)
{
	struct built *built = *state;
	struct nt_block_header header = {.type = NT_BLOCK_PROC_SNAPSHOT};
	struct nt_chunk_writer *writer;
	struct nt_buf file = {0};

	assert_int_equal(nt_chunk_writer_new(&writer, &built->chunk.header, chunk_memory_write, &file), 0);
	assert_int_equal(nt_chunk_writer_block(writer, &header, built->chunk.file.data + built->chunk.blocks[5].offset,
					       NT_BLOCK_HEAD_SIZE),
			 0);
	nt_chunk_writer_free(writer);
	nt_buf_release(&built->chunk.file);
	built->chunk.file = file;
	assert_int_equal(chunk_build_open(&built->chunk, false), 0);
	assert_int_equal(built->chunk.contents.n_blocks, 1);
	assert_int_equal(built->chunk.contents.n_damage, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_each_changed_byte),  TEST(test_cut_anywhere),	      TEST(test_grows),
		TEST(test_overwritten),	       TEST(test_much_damage),	      TEST(test_search),
		TEST(test_block_over_trailer), TEST(test_block_in_a_payload),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

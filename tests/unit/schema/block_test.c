// SPDX-License-Identifier: GPL-2.0-only
/*
 * block_test.c - event blocks: what goes in comes out, what is not known is stepped over, and what breaks a condition
 * of docs/chunk-format.md is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "schema/column.h"
#include "schema/pack.h"
#include "schema/span.h"
#include "schema/varint.h"
#include "tests/support/chunk_memory.h"

#define MOST 3000

struct codec {
	struct nt_rand rand;
	uint64_t seed;
	struct nt_event_encoder *encoder;
	struct nt_event_decoder *decoder;
	struct nt_buf payload;
	union nt_any records[MOST];
	size_t n;
};

static int setup(void **state)
{
	struct codec *codec = calloc(1, sizeof(*codec));

	codec->seed = codec->rand.state = nt_rand_seed();
	codec->encoder = nt_event_encoder_new();
	codec->decoder = nt_event_decoder_new();
	*state = codec;
	return 0;
}

static int teardown(void **state)
{
	struct codec *codec = *state;

	nt_event_encoder_free(codec->encoder);
	nt_event_decoder_free(codec->decoder);
	nt_buf_release(&codec->payload);
	free(codec);
	return 0;
}

static void check_at(struct codec *codec, bool ok, const char *what)
{
	if (!ok)
		fail_msg("%s (NT_SEED=%llu)", what, (unsigned long long)codec->seed);
}

static void add(struct codec *codec, const union nt_any *record)
{
	codec->records[codec->n++] = *record;
	check_at(codec, nt_event_encoder_add(codec->encoder, record) == 0, "add");
}

static void finish(struct codec *codec)
{
	size_t bound = nt_event_encoder_size(codec->encoder);

	codec->payload.size = 0;
	check_at(codec, nt_event_encoder_finish(codec->encoder, &codec->payload) == 0, "finish");
	check_at(codec, codec->payload.size <= bound, "size is a bound");
	check_at(codec, nt_event_encoder_stats(codec->encoder)->count == 0, "finish empties");
}

static void expect_records(struct codec *codec)
{
	union nt_any got;

	check_at(codec, nt_event_decoder_open(codec->decoder, codec->payload.data, codec->payload.size) == 0, "open");
	for (size_t i = 0; i < codec->n; i++) {
		memset(&got, 0xee, sizeof(got));
		check_at(codec, nt_event_decoder_next(codec->decoder, &got) == 0, "next");
		check_at(codec, !memcmp(&got, &codec->records[i], nt_kind(got.record.kind)->size), "record");
	}
	check_at(codec, nt_event_decoder_next(codec->decoder, &got) == 1, "end");
	check_at(codec, nt_event_decoder_next(codec->decoder, &got) == 1, "end again");
	check_at(codec, nt_event_decoder_unknown(codec->decoder) == 0, "nothing unknown");
	codec->n = 0;
}

static void random_block(struct codec *codec, size_t n, uint64_t near_ns)
{
	union nt_any record;

	for (size_t i = 0; i < n; i++) {
		chunk_random_record(&codec->rand, chunk_random_event_kind(&codec->rand), near_ns, &record);
		add(codec, &record);
	}
	finish(codec);
	expect_records(codec);
}

static void test_round_trip(void **state)
{
	struct codec *codec = *state;

	for (size_t n = 0; n < 20; n++)
		random_block(codec, n, 0);
	for (size_t i = 0; i < 30; i++)
		random_block(codec, nt_rand_below(&codec->rand, MOST), i % 2 ? 1000000000000 : 0);
}

/* A decoder that was left in the middle of a block begins the next one afresh. */
static void test_reuse(void **state)
{
	struct codec *codec = *state;
	union nt_any got;

	for (int i = 0; i < 50; i++) {
		random_block(codec, 1 + nt_rand_below(&codec->rand, 40), 0);
		check_at(codec, !nt_event_decoder_open(codec->decoder, codec->payload.data, codec->payload.size),
			 "open");
		check_at(codec, !nt_event_decoder_next(codec->decoder, &got), "next");
	}
}

/* One kind, all its fields at one extreme; then mixed with the other; times equal and inverted come with it. */
static void test_extremes(void **state)
{
	static const uint64_t values[] = {
		0,	   1,	       0x7f,	   0x80, 0xff, 0x7fffffff, 0x80000000, 0xffffffff, UINT32_MAX + 1ull,
		INT64_MAX, 1ull << 63, UINT64_MAX,
	};
	struct codec *codec = *state;

	for (unsigned int kind = 0; kind < NT_KIND_MAX; kind++) {
		const struct nt_kind_info *info = nt_kind(kind);

		if (!nt_kind_is_of_cpu(kind))
			continue;
		for (size_t i = 0; i < 3 * sizeof(values) / sizeof(values[0]); i++) {
			union nt_any record = {.record.kind = (uint8_t)kind};

			for (unsigned int f = 0; f < info->n_fields; f++)
				nt_field_set(&info->fields[f], &record, values[i / 3]);
			add(codec, &record);
		}
		finish(codec);
		expect_records(codec);
	}
}

/* Durations that jitter, with outliers, in numbers around the group's size: the packed layout. */
static void test_noise(void **state)
{
	static const size_t counts[] = {2, 7, 255, 256, 257, 512, 513, 1000};
	struct codec *codec = *state;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]) * 8; i++) {
		uint64_t now_ns = 1000000, width = 1ull << nt_rand_below(&codec->rand, 60);

		for (size_t n = 0; n < counts[i / 8]; n++) {
			union nt_any record = {.as_softirq = {.kind = NT_SOFTIRQ, .vec = NT_VEC_NET_RX}};

			record.record.end_ns = now_ns += 2 * nt_rand_below(&codec->rand, 500);
			record.as_softirq.dur_ns = 600 + nt_rand_below(&codec->rand, width);
			if (!nt_rand_below(&codec->rand, 40))
				record.as_softirq.dur_ns = nt_rand_any(&codec->rand);
			add(codec, &record);
		}
		finish(codec);
		expect_records(codec);
	}
}

static void test_stats(void **state)
{
	struct codec *codec = *state;
	const struct nt_event_stats *stats = nt_event_encoder_stats(codec->encoder);

	for (int block = 0; block < 50; block++) {
		uint64_t last_ns = 0, begin_ns = 0;
		union nt_any record;

		for (uint32_t i = 0; i < 20; i++) {
			chunk_random_record(&codec->rand, chunk_random_event_kind(&codec->rand), 1000000000000,
					    &record);
			if (i == 0)
				begin_ns = record.record.end_ns;
			if (nt_span_begin(&record) < begin_ns)
				begin_ns = nt_span_begin(&record);
			if (record.record.end_ns > last_ns)
				last_ns = record.record.end_ns;
			add(codec, &record);
			check_at(codec, stats->count == i + 1, "count");
			check_at(codec, stats->first_end_ns == codec->records[0].record.end_ns, "first end");
			check_at(codec, stats->last_end_ns == last_ns, "last end");
			check_at(codec, stats->least_begin_ns == begin_ns, "least begin");
		}
		finish(codec);
		codec->n = 0;
	}
}

static void test_refuses_what_is_no_event(void **state)
{
	struct codec *codec = *state;
	union nt_any record = {0};

	for (unsigned int kind = 0; kind < 256; kind++) {
		record.record.kind = (uint8_t)kind;
		assert_int_equal(nt_event_encoder_add(codec->encoder, &record), nt_kind_is_of_cpu(kind) ? 0 : -EINVAL);
	}
	finish(codec);
}

static void test_bounds(void **state)
{
	struct codec *codec = *state;
	union nt_any record;
	uint64_t n = 0;

	/* As many as may be, small. */
	record = (union nt_any){.record = {.kind = NT_HOTPLUG, .end_ns = 5}};
	while (!nt_event_encoder_add(codec->encoder, &record))
		n++;
	assert_int_equal(n, NT_BLOCK_MAX_EVENTS);
	assert_int_equal(nt_event_encoder_add(codec->encoder, &record), -E2BIG);
	finish(codec);
	assert_int_equal(nt_event_decoder_open(codec->decoder, codec->payload.data, codec->payload.size), 0);
	while (!nt_event_decoder_next(codec->decoder, &record))
		n--;
	assert_int_equal(n, 0);
	/* Fewer, but large. */
	do
		chunk_random_record(&codec->rand, chunk_random_event_kind(&codec->rand), 0, &record);
	while (!nt_event_encoder_add(codec->encoder, &record));
	assert_int_equal(nt_event_encoder_add(codec->encoder, &record), -E2BIG);
	finish(codec);
	assert_in_range(codec->payload.size, NT_BLOCK_MAX_RAW / 2, NT_BLOCK_MAX_RAW);
}

/* ---- blocks by hand ---- */

static void put(struct codec *codec, const void *bytes, size_t size)
{
	assert_int_equal(nt_buf_append(&codec->payload, bytes, size), 0);
}
#define PUT(...) put(codec, (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))
#define COLUMN(kind, field, coding, layout, ...)                                                                       \
	PUT(kind, field, NT_CODING_##coding | NT_LAYOUT_##layout << 4, sizeof((const uint8_t[]){__VA_ARGS__}),         \
	    __VA_ARGS__)
#define START(...)                                                                                                     \
	do {                                                                                                           \
		codec->payload.size = 0;                                                                               \
		PUT(__VA_ARGS__);                                                                                      \
	} while (0)

/* Decodes to the end: 1, or the error. */
static int decode_all(struct codec *codec)
{
	/* A copy of just the size, so that a read beyond it is seen. */
	uint8_t *exact = malloc(codec->payload.size + 1);
	int err;
	union nt_any record;

	if (codec->payload.size)
		memcpy(exact + 1, codec->payload.data, codec->payload.size);
	err = nt_event_decoder_open(codec->decoder, exact + 1, codec->payload.size);
	while (!err) {
		err = nt_event_decoder_next(codec->decoder, &record);
		if (!err && codec->n < MOST)
			codec->records[codec->n++] = record;
	}
	free(exact);
	return err;
}

/* Section 6.6 of docs/chunk-format.md, byte for byte. */
static const uint8_t example[] = {
	0x03, 0xc0, 0x84, 0x3d, 0x04, 0x06, 0x04, 0x04, 0x00, 0x11, 0x03, 0x00, 0xd0, 0x0f, 0x04, 0x01,
	0x23, 0x01, 0x03, 0x04, 0x02, 0x23, 0x01, 0x03, 0x04, 0x04, 0x13, 0x04, 0xbc, 0x05, 0xee, 0x05,
	0x06, 0x00, 0x21, 0x02, 0x90, 0x03, 0x06, 0x01, 0x23, 0x01, 0x01, 0x06, 0x02, 0x23, 0x01, 0x07,
	0x06, 0x04, 0x24, 0x01, 0x15, 0x06, 0x05, 0x23, 0x02, 0xd0, 0x0f, 0x06, 0x06, 0x23, 0x01, 0x05,
};

static void example_records(union nt_any records[3])
{
	records[0] = (union nt_any){
		.as_softirq = {.end_ns = 1000000, .kind = NT_SOFTIRQ, .vec = 3, .context = 3, .dur_ns = 700}};
	records[1] = (union nt_any){.as_op = {.end_ns = 1000200,
					      .kind = NT_OP,
					      .dir = NT_SEND,
					      .call = NT_CALL_write,
					      .result = -11,
					      .dur_ns = 2000,
					      .socket = 5}};
	records[2] = (union nt_any){
		.as_softirq = {.end_ns = 1001200, .kind = NT_SOFTIRQ, .vec = 3, .context = 3, .dur_ns = 750}};
}

static void test_example(void **state)
{
	struct codec *codec = *state;
	union nt_any records[3];

	example_records(records);
	for (int i = 0; i < 3; i++)
		add(codec, &records[i]);
	finish(codec);
	assert_int_equal(codec->payload.size, sizeof(example));
	assert_memory_equal(codec->payload.data, example, sizeof(example));
	expect_records(codec);
}

/* The middle record's kind is made one that this version does not know: the others, and their times, stay. */
static void test_unknown_kind(void **state)
{
	struct codec *codec = *state;
	union nt_any records[3], got;

	example_records(records);
	START(0x03, 0xc0, 0x84, 0x3d, 0x04, 60, 0x04);
	put(codec, example + 7, 25);
	PUT(60, 0x00, 0x21, 0x02, 0x90, 0x03);
	PUT(60, 0x01, 0xff, 0x03, 1, 2, 3);
	PUT(60, 0x01, 0xff, 0x01, 1);
	PUT(60, 0xff, 0x00, 0x00);
	assert_int_equal(nt_event_decoder_open(codec->decoder, codec->payload.data, codec->payload.size), 0);
	assert_int_equal(nt_event_decoder_next(codec->decoder, &got), 0);
	assert_memory_equal(&got, &records[0], sizeof(got.as_softirq));
	assert_int_equal(nt_event_decoder_next(codec->decoder, &got), 0);
	assert_memory_equal(&got, &records[2], sizeof(got.as_softirq));
	assert_int_equal(nt_event_decoder_unknown(codec->decoder), 1);
	assert_int_equal(nt_event_decoder_next(codec->decoder, &got), 1);
}

/* So many records of the highest kind, which this version does not know, that their times are read in several goes. */
static void test_many_of_the_last_kind(void **state)
{
	struct codec *codec = *state;
	uint8_t zeros[1000] = {0}, kinds[1000];

	memset(kinds, NT_KIND_MAX - 1, sizeof(kinds));
	START(0xe8, 0x07, 0);
	put(codec, kinds, sizeof(kinds));
	PUT(NT_KIND_MAX - 1, 0, NT_CODING_TIME | NT_LAYOUT_VARINT << 4, 0xe8, 0x07);
	put(codec, zeros, sizeof(zeros));
	assert_int_equal(decode_all(codec), 1);
	assert_int_equal(codec->n, 0);
	assert_int_equal(nt_event_decoder_unknown(codec->decoder), 1000);
}

static void test_unknown_field(void **state)
{
	struct codec *codec = *state;

	example_records(codec->records);
	codec->n = 3;
	codec->payload.size = 0;
	put(codec, example, sizeof(example));
	PUT(NT_SOFTIRQ, 5, 0xff, 2, 9, 9);
	PUT(NT_OP, 200, 0x00, 0);
	expect_records(codec);
}

/* A tape says how its fields are coded; a reader goes by that, and takes what is absent for 0. */
static void test_other_codings(void **state)
{
	struct codec *codec = *state;

	START(3, 100, NT_LOSS, NT_LOSS, NT_LOSS);
	COLUMN(NT_LOSS, 2, DELTA, VARINT, 10, 1, 4);
	COLUMN(NT_LOSS, 3, PLAIN, CONSTANT, 7);
	COLUMN(NT_LOSS, 4, AGO, VARINT, 4, 3, 0);
	COLUMN(NT_LOSS, 5, SIGNED, VARINT, 0, 1, 2);
	assert_int_equal(decode_all(codec), 1);
	assert_int_equal(codec->n, 3);
	for (int i = 0; i < 3; i++) {
		const struct nt_loss *loss = &codec->records[i].as_loss;

		assert_int_equal(loss->end_ns, 100);
		assert_int_equal(loss->lost_kind, 0);
		assert_int_equal(loss->count, ((uint32_t[]){5, 4, 6})[i]);
		assert_int_equal(loss->first_ns, 7);
		assert_int_equal(loss->last_ns, ((uint64_t[]){98, 102, 100})[i]);
		assert_true(loss->begin_ns == ((uint64_t[]){0, UINT64_MAX, 1})[i]);
	}
}

/* Section 6.4 of docs/chunk-format.md: ten values in one group, one of them an exception. */
static void test_packed_example(void **state)
{
	static const uint64_t expected[] = {600, 602, 604, 606, 6000, 608, 610, 612, 614, 600};
	struct codec *codec = *state;
	uint8_t group[NT_PACK_GROUP_MAX];

	START(10, 0, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4);
	COLUMN(NT_SOFTIRQ, 4, PLAIN, PACKED, 3, 1, 1, 0xd8, 0x04, 0x88, 0x46, 0xd6, 0x07, 0x04, 0xd1, 0x02);
	assert_int_equal(decode_all(codec), 1);
	assert_int_equal(codec->n, 10);
	for (int i = 0; i < 10; i++)
		assert_int_equal(codec->records[i].as_softirq.dur_ns, expected[i]);
	assert_int_equal(nt_pack_group(group, expected, 10), 12);
	assert_memory_equal(group, codec->payload.data + codec->payload.size - 12, 12);
}

/* The column of these values as it is written, in a layout that is given with its bytes; 0: left out. */
static void expect_layout(struct codec *codec, const uint64_t *values, uint32_t count, bool is_noise,
			  enum nt_layout layout, const void *bytes, size_t size)
{
	uint8_t varints[NT_VARINT_MAX * 1000], *end = varints;
	struct nt_block_column column = {NT_SOFTIRQ, 4, NT_CODING_PLAIN, 0, varints, 0}, got;
	const uint8_t *at;

	for (uint32_t i = 0; i < count; i++)
		end = nt_varint_put(end, values[i]);
	column.size = (size_t)(end - varints);
	codec->payload.size = 0;
	assert_int_equal(nt_block_column_write(&codec->payload, &column, count, is_noise), 0);
	at = codec->payload.data;
	if (!layout) {
		assert_int_equal(codec->payload.size, 0);
		return;
	}
	assert_int_equal(nt_block_column_parse(&at, codec->payload.data + codec->payload.size, &got), 0);
	assert_ptr_equal(at, codec->payload.data + codec->payload.size);
	assert_int_equal(got.kind, NT_SOFTIRQ);
	assert_int_equal(got.field, 4);
	assert_int_equal(got.coding, NT_CODING_PLAIN);
	assert_int_equal(got.layout, layout);
	assert_int_equal(got.size, bytes ? size : column.size);
	assert_memory_equal(got.data, bytes ? bytes : varints, got.size);
}

/* Groups where they are smaller; of what a compressor can work on, only where they are less than a third. */
static void test_layouts(void **state)
{
	static const uint64_t few[] = {10, 11, 10, 11, 10, 11};
	static const uint64_t jitter[] = {600, 602, 604, 606, 6000, 608, 610, 612, 614, 600};
	uint64_t many[1000], far[] = {1, UINT64_MAX};
	uint8_t group[2 * NT_PACK_GROUP_MAX];
	struct codec *codec = *state;
	size_t size = nt_pack_group(group, jitter, 10), second;

	expect_layout(codec, jitter, 10, true, NT_LAYOUT_PACKED, group, size);
	expect_layout(codec, jitter, 10, false, NT_LAYOUT_VARINT, NULL, 0);
	/* As large as the varints, which are quicker to read. */
	assert_int_equal(nt_pack_group(group, few, 5), 5);
	expect_layout(codec, few, 5, true, NT_LAYOUT_VARINT, NULL, 0);
	size = nt_pack_group(group, few, 6);
	assert_int_equal(size, 5);
	expect_layout(codec, few, 6, true, NT_LAYOUT_PACKED, group, size);
	expect_layout(codec, far, 2, true, NT_LAYOUT_VARINT, NULL, 0);
	/* 300 of two bytes, in two groups of one bit each: 600 bytes are some 50. */
	for (size_t i = 0; i < 300; i++)
		many[i] = 600 + i % 2;
	size = nt_pack_group(group, many, NT_PACK_GROUP);
	second = nt_pack_group(group + size, many + NT_PACK_GROUP, 300 - NT_PACK_GROUP);
	assert_true(size && second && size + second < 60);
	expect_layout(codec, many, 300, false, NT_LAYOUT_PACKED, group, size + second);
	for (size_t i = 0; i < 300; i++)
		many[i] = 700;
	expect_layout(codec, many, 300, true, NT_LAYOUT_CONSTANT, (const uint8_t[]){0xbc, 0x05}, 2);
	memset(many, 0, sizeof(many));
	expect_layout(codec, many, 300, true, 0, NULL, 0);
	expect_layout(codec, many, 0, true, 0, NULL, 0);
}

/* Not more than NT_BLOCK_MAX_RAW bytes, whatever is in them; and none is no block. */
static void test_sizes(void **state)
{
	struct codec *codec = *state;
	size_t size = NT_BLOCK_MAX_RAW - 3 - 3 - 4;
	uint8_t varint[NT_VARINT_MAX];

	START(1, 0, 60);
	PUT(60, 1, 0xff);
	put(codec, varint, (size_t)(nt_varint_put(varint, size) - varint));
	assert_int_equal(codec->payload.size, 10);
	assert_int_equal(nt_buf_reserve(&codec->payload, size + 1), 0);
	memset(codec->payload.data + 10, 0, size + 1);
	codec->payload.size = NT_BLOCK_MAX_RAW;
	assert_int_equal(decode_all(codec), 1);
	nt_varint_put(codec->payload.data + 6, size + 1);
	codec->payload.size++;
	assert_int_equal(decode_all(codec), -EBADMSG);
	assert_int_equal(nt_event_decoder_open(codec->decoder, NULL, 0), -EBADMSG);
	assert_int_equal(nt_event_decoder_open(codec->decoder, NULL, 5), -EBADMSG);
}

static void expect_damage(struct codec *codec, const char *what)
{
	if (decode_all(codec) != -EBADMSG)
		fail_msg("%s was not refused", what);
}

#define ONE START(1, 0, NT_SOFTIRQ)
#define TWO START(2, 0, NT_SOFTIRQ, NT_SOFTIRQ)

static void test_damaged_prologue(void **state)
{
	struct codec *codec = *state;

	codec->payload.size = 0;
	expect_damage(codec, "nothing");
	START(0);
	expect_damage(codec, "no base");
	START(2, 0, NT_SOFTIRQ);
	expect_damage(codec, "fewer kinds than records");
	START(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0, 4);
	expect_damage(codec, "2^64 - 1 records");
	START(0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02, 0, 4);
	expect_damage(codec, "more than 64 bits");
	START(0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0, 4);
	expect_damage(codec, "eleven bytes");
	START(1, 0, 0);
	expect_damage(codec, "kind 0");
	START(1, 0, 64);
	expect_damage(codec, "kind 64");
	START(0, 0);
	assert_int_equal(decode_all(codec), 1);
	START(0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00, 0, 4);
	assert_int_equal(decode_all(codec), 1);
	ONE;
	assert_int_equal(decode_all(codec), 1);
}

static void test_damaged_columns(void **state)
{
	struct codec *codec = *state;

	ONE;
	PUT(NT_SOFTIRQ, 4, 0x13);
	expect_damage(codec, "column header cut short");
	ONE;
	PUT(NT_SOFTIRQ, 4, 0x13, 2, 1);
	expect_damage(codec, "column cut short");
	ONE;
	COLUMN(NT_SOFTIRQ, 4, PLAIN, VARINT, 1);
	COLUMN(NT_SOFTIRQ, 4, PLAIN, VARINT, 1);
	expect_damage(codec, "column twice");
	ONE;
	COLUMN(NT_IRQ, 4, PLAIN, VARINT, 1);
	expect_damage(codec, "column of a kind without records");
	ONE;
	COLUMN(64, 4, PLAIN, VARINT, 1);
	expect_damage(codec, "column of kind 64");
	ONE;
	COLUMN(NT_SOFTIRQ, 4, PLAIN, VARINT, 1, 2);
	expect_damage(codec, "a value too many");
	ONE;
	COLUMN(NT_SOFTIRQ, 4, PLAIN, CONSTANT, 1, 2);
	expect_damage(codec, "a constant too many");
	TWO;
	COLUMN(NT_SOFTIRQ, 4, PLAIN, VARINT, 1);
	expect_damage(codec, "a value too few");
	ONE;
	COLUMN(NT_SOFTIRQ, 1, PLAIN, VARINT, 0x80, 0x02);
	expect_damage(codec, "256 in one byte");
	ONE;
	COLUMN(NT_SOFTIRQ, 1, SIGNED, VARINT, 1);
	expect_damage(codec, "-1 in an unsigned byte");
	START(1, 0, NT_OP);
	COLUMN(NT_OP, 4, SIGNED, VARINT, 0x80, 0x80, 0x80, 0x80, 0x10);
	expect_damage(codec, "2^31 in a signed field of four bytes");
	START(1, 0, NT_OP);
	COLUMN(NT_OP, 4, SIGNED, VARINT, 0xff, 0xff, 0xff, 0xff, 0x0f);
	assert_int_equal(decode_all(codec), 1);
	assert_int_equal(codec->records[codec->n - 1].as_op.result, INT32_MIN);
}

static void test_damaged_codings(void **state)
{
	struct codec *codec = *state;

	ONE;
	COLUMN(NT_SOFTIRQ, 0, PLAIN, VARINT, 1);
	expect_damage(codec, "a time that is not coded as one");
	ONE;
	COLUMN(NT_SOFTIRQ, 4, TIME, VARINT, 1);
	expect_damage(codec, "TIME in another field");
	/* Each gives a time that the field could hold. */
	ONE;
	COLUMN(NT_SOFTIRQ, 1, AGO, VARINT, 0);
	expect_damage(codec, "AGO in a field of one byte");
	START(1, 100, NT_DROP);
	COLUMN(NT_DROP, 1, AGO, VARINT, 0);
	expect_damage(codec, "AGO in a field of two bytes");
	START(1, 100, NT_LOSS);
	COLUMN(NT_LOSS, 2, AGO, VARINT, 0);
	expect_damage(codec, "AGO in a field of four bytes");
	START(1, 100, NT_LOSS);
	COLUMN(NT_LOSS, 0, AGO, VARINT, 0);
	expect_damage(codec, "AGO for the record's own time");
	ONE;
	COLUMN(NT_SOFTIRQ, 4, BYTES, VARINT, 1);
	expect_damage(codec, "BYTES");
	ONE;
	PUT(NT_SOFTIRQ, 4, 0x10 | 7, 1, 1);
	expect_damage(codec, "coding 7");
	ONE;
	PUT(NT_SOFTIRQ, 4, 0x40 | 3, 1, 1);
	expect_damage(codec, "layout 4");
	ONE;
	PUT(NT_SOFTIRQ, 4, 0x03, 1, 1);
	expect_damage(codec, "layout 0");
	START(1, 0, 60);
	COLUMN(60, 0, PLAIN, VARINT, 1);
	expect_damage(codec, "the time of an unknown kind, not coded as one");
}

static void test_damaged_groups(void **state)
{
	struct codec *codec = *state;

	TWO;
	COLUMN(NT_SOFTIRQ, 4, PLAIN, PACKED, 57, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	expect_damage(codec, "width 57");
	TWO;
	COLUMN(NT_SOFTIRQ, 4, PLAIN, PACKED, 4, 64, 0, 0, 0x21);
	expect_damage(codec, "shift 64");
	TWO;
	COLUMN(NT_SOFTIRQ, 4, PLAIN, PACKED, 8, 0, 0, 0, 1);
	expect_damage(codec, "bits cut short");
	TWO;
	COLUMN(NT_SOFTIRQ, 4, PLAIN, PACKED, 4, 0, 0);
	expect_damage(codec, "head cut short");
	TWO;
	COLUMN(NT_SOFTIRQ, 4, PLAIN, PACKED, 4, 0, 1, 0, 0x21);
	expect_damage(codec, "exception missing");
	TWO;
	COLUMN(NT_SOFTIRQ, 4, PLAIN, PACKED, 4, 0, 1, 0, 0x21, 2, 1);
	expect_damage(codec, "exception of the third of two");
	TWO;
	COLUMN(NT_SOFTIRQ, 4, PLAIN, PACKED, 4, 0, 2, 0, 0x21, 1, 1, 1, 1);
	expect_damage(codec, "exception twice");
	TWO;
	COLUMN(NT_SOFTIRQ, 4, PLAIN, PACKED, 4, 0, 0, 0, 0x21, 0);
	expect_damage(codec, "a byte too many");
	TWO;
	COLUMN(NT_SOFTIRQ, 4, PLAIN, PACKED, 56, 63, 2, 5, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	       0xff, 0xff, 0xff, 0xff, 0, 0xff, 0x01, 1, 0xff, 0x01);
	assert_int_equal(decode_all(codec), 1);
}

/* A block cut anywhere, and a block with a changed byte: refused or read, never read beyond its end. */
static void test_mutations(void **state)
{
	struct codec *codec = *state;
	union nt_any record;
	size_t size;

	for (int i = 0; i < 300; i++) {
		chunk_random_record(&codec->rand, chunk_random_event_kind(&codec->rand), 1000000000, &record);
		add(codec, &record);
	}
	finish(codec);
	size = codec->payload.size;
	for (codec->payload.size = 0; codec->payload.size < size; codec->payload.size++)
		check_at(codec, decode_all(codec) == -EBADMSG || codec->payload.size > 300, "cut");
	for (size_t i = 0; i < size; i++) {
		uint8_t was = codec->payload.data[i];

		codec->payload.data[i] ^= (uint8_t)(1 + nt_rand_below(&codec->rand, 255));
		codec->n = 0;
		decode_all(codec);
		check_at(codec, codec->n <= 300, "more records than there are");
		codec->payload.data[i] = was;
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_round_trip),	    TEST(test_reuse),
		TEST(test_extremes),	    TEST(test_noise),
		TEST(test_stats),	    TEST(test_refuses_what_is_no_event),
		TEST(test_bounds),	    TEST(test_example),
		TEST(test_unknown_kind),    TEST(test_many_of_the_last_kind),
		TEST(test_unknown_field),   TEST(test_other_codings),
		TEST(test_packed_example),  TEST(test_layouts),
		TEST(test_sizes),	    TEST(test_damaged_prologue),
		TEST(test_damaged_columns), TEST(test_damaged_codings),
		TEST(test_damaged_groups),  TEST(test_mutations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

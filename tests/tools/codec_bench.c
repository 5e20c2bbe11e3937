// SPDX-License-Identifier: GPL-2.0-only
/*
 * codec_bench.c - what the codec costs on records like those of a UDP flood: time per record for adding, for
 * finishing and compressing a block, for reading it back, and bytes per record in the file.
 *
 *   codec_bench [RECORDS] [RAW BYTES PER BLOCK]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schema/chunk.h"
#include "tests/support/chunk_memory.h"
#include "tests/support/clock.h"

struct flood {
	struct nt_rand rand;
	uint64_t now_ns;
	uint8_t *records; /* one behind the other, as they stand in a ring */
	size_t n, most, size;
};

/* least .. least + width, and now and then several times as much: caches, interrupts, a host that shares its CPUs. */
static uint64_t noise(struct flood *flood, uint64_t least, uint64_t width)
{
	uint64_t value = least + nt_rand_below(&flood->rand, width);

	if (nt_rand_below(&flood->rand, 50) == 0)
		value *= 2 + nt_rand_below(&flood->rand, 6);
	return value;
}

static union nt_any *next(struct flood *flood, unsigned int kind, uint64_t later_ns)
{
	union nt_any *record = (union nt_any *)(flood->records + flood->size);

	flood->size += nt_kind(kind)->size;
	flood->n++;
	flood->now_ns += later_ns;
	record->record.end_ns = flood->now_ns;
	record->record.kind = (uint8_t)kind;
	return record;
}

static void softirq(struct flood *flood)
{
	struct nt_softirq *record = &next(flood, NT_SOFTIRQ, noise(flood, 1200, 600))->as_softirq;

	record->vec = NT_VEC_NET_RX;
	record->context = NT_SOFTIRQ_BH_ENABLE;
	record->dur_ns = noise(flood, 600, 300);
}

static void op(struct flood *flood, unsigned int dir)
{
	bool send = dir == NT_SEND;
	struct nt_op *record = &next(flood, NT_OP, send ? noise(flood, 150, 150) : noise(flood, 600, 400))->as_op;

	record->dir = (uint8_t)dir;
	record->call = send ? NT_CALL_write : NT_CALL_read;
	record->result = 200;
	record->dur_ns = send ? noise(flood, 1900, 500) : noise(flood, 350, 250);
	record->socket = send ? 17 : 18;
}

static void change(struct flood *flood, uint64_t prev, uint64_t to)
{
	uint64_t later_ns = noise(flood, 500, 500);
	struct nt_open *open = &next(flood, NT_OPEN, later_ns)->as_open;
	struct nt_switch *record;

	open->what = NT_OPEN_OP;
	open->detail = NT_RECV;
	open->number = NT_CALL_read;
	open->begin_ns = flood->now_ns - noise(flood, 300, 200);
	open->socket = 18;
	record = &next(flood, NT_SWITCH, 0)->as_switch;
	record->n_open = 1;
	record->prev_prio = 120;
	record->prev_state = 1;
	record->prev = prev;
	record->next = to;
}

/* A sender and a receiver share a CPU: some packets are sent, then read, about three a time. */
static void make_flood(struct flood *flood)
{
	while (flood->n < flood->most) {
		uint64_t packets = 1 + nt_rand_below(&flood->rand, 5);

		for (uint64_t i = 0; i < packets; i++) {
			softirq(flood);
			op(flood, NT_SEND);
		}
		change(flood, 41, 42);
		for (uint64_t i = 0; i < packets; i++)
			op(flood, NT_RECV);
	}
}

static int finish_block(struct nt_event_encoder *encoder, struct nt_chunk_writer *writer, struct nt_buf *raw)
{
	const struct nt_event_stats *stats = nt_event_encoder_stats(encoder);
	struct nt_block_header header = {.type = NT_BLOCK_EVENTS, .count = stats->count};

	raw->size = 0;
	if (nt_event_encoder_finish(encoder, raw))
		return -1;
	return nt_chunk_writer_block(writer, &header, raw->data, raw->size);
}

static int encode(const struct flood *flood, size_t block_size, struct nt_buf *file)
{
	struct nt_event_encoder *encoder = nt_event_encoder_new();
	struct nt_chunk_header header = {.version = NT_CHUNK_VERSION};
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), finish_ns = 0, raw_size = 0, blocks = 0;
	struct nt_chunk_writer *writer;
	struct nt_buf raw = {0};
	int err = encoder ? nt_chunk_writer_new(&writer, &header, chunk_memory_write, file) : -1;

	for (size_t at = 0; !err && at < flood->size;) {
		const struct nt_record *record = (const struct nt_record *)(flood->records + at);

		err = nt_event_encoder_add(encoder, record);
		at += nt_kind(record->kind)->size;
		if (!err && (nt_event_encoder_size(encoder) >= block_size || at == flood->size)) {
			uint64_t from_ns = clock_ns(CLOCK_MONOTONIC);

			err = finish_block(encoder, writer, &raw);
			finish_ns += clock_ns(CLOCK_MONOTONIC) - from_ns;
			raw_size += raw.size;
			blocks++;
		}
	}
	begin_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	if (!err)
		err = nt_chunk_writer_finish(writer);
	printf("add %.1f ns/record, finish+LZ4+CRC %.1f, together %.1f; raw %.2f bytes/record, %.0f records/block\n",
	       (double)(begin_ns - finish_ns) / (double)flood->n, (double)finish_ns / (double)flood->n,
	       (double)begin_ns / (double)flood->n, (double)raw_size / (double)flood->n,
	       (double)flood->n / (double)blocks);
	printf("file %.3f bytes/record\n", (double)file->size / (double)flood->n);
	nt_chunk_writer_free(writer);
	nt_event_encoder_free(encoder);
	nt_buf_release(&raw);
	return err;
}

static int decode(const struct flood *flood, const struct nt_buf *file)
{
	struct nt_source source = chunk_memory_source(file);
	struct nt_event_decoder *decoder = nt_event_decoder_new();
	struct nt_chunk_contents contents;
	struct nt_buf raw = {0};
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	size_t n = 0, at = 0;
	int err = nt_chunk_open(&source, false, &contents);

	for (size_t i = 0; !err && i < contents.n_blocks; i++) {
		union nt_any record;

		err = nt_chunk_load(&source, &contents.blocks[i], &raw);
		if (!err)
			err = nt_event_decoder_open(decoder, raw.data, raw.size);
		while (!err) {
			err = nt_event_decoder_next(decoder, &record);
			if (err)
				break;
			if (memcmp(&record, flood->records + at, nt_kind(record.record.kind)->size))
				err = -1;
			at += nt_kind(record.record.kind)->size;
			n++;
		}
		err = err == 1 ? 0 : err;
	}
	printf("decode %.1f ns/record\n", (double)(clock_ns(CLOCK_MONOTONIC) - begin_ns) / (double)n);
	nt_chunk_contents_release(&contents);
	nt_event_decoder_free(decoder);
	nt_buf_release(&raw);
	return err || n != flood->n;
}

int main(int argc, char **argv)
{
	struct flood flood = {.rand = {1}, .now_ns = 123456789012345, .most = 2000000};
	size_t block_size = argc > 2 ? strtoull(argv[2], NULL, 0) : 65536;
	struct nt_buf file = {0};
	int err;

	if (argc > 1)
		flood.most = strtoull(argv[1], NULL, 0);
	/* The last burst may go over. */
	flood.records = calloc(flood.most + 64, sizeof(struct nt_op));
	if (!flood.records || !flood.most)
		return 1;
	make_flood(&flood);
	/* Pages are touched before they are timed. */
	nt_buf_reserve(&file, flood.n * 8 + 4096);
	err = encode(&flood, block_size, &file) || decode(&flood, &file);
	if (err)
		fprintf(stderr, "codec_bench: failed\n");
	nt_buf_release(&file);
	free(flood.records);
	return err;
}

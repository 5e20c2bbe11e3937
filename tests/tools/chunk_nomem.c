// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunk_nomem.c - writes and reads a chunk again and again, each time with another allocation failing: the answer is
 * -ENOMEM, nothing leaks, nothing is lost by it that could be tried again, and when none fails all is well.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/chunk.h"
#include "tests/support/chunk_memory.h"
#include "tests/support/must.h"
#include "tests/tools/failing_malloc.h"

#define N_RECORDS 600

/* A call that fails for want of memory is tried once more, and must then go well: no half-done state is left behind. */
#define TRY(call)                                                                                                      \
	do {                                                                                                           \
		int try_ = call;                                                                                       \
                                                                                                                       \
		if (try_ == -ENOMEM) {                                                                                 \
			(*failures)++;                                                                                 \
			try_ = call;                                                                                   \
		}                                                                                                      \
		MUST(!try_);                                                                                           \
	} while (0)

/* The file is memory that never fails. */
static uint8_t file[1 << 20];
static size_t file_size;

static int write_file(void *arg, const void *data, size_t size)
{
	(void)arg;
	MUST(size <= sizeof(file) - file_size);
	memcpy(file + file_size, data, size);
	file_size += size;
	return 0;
}

static int64_t read_file(void *arg, uint64_t offset, void *data, size_t size)
{
	(void)arg;
	memcpy(data, file + offset, size);
	return (int64_t)size;
}

static void write_chunk(const union nt_any *records, int *failures)
{
	struct nt_chunk_header header = {.version = NT_CHUNK_VERSION};
	struct nt_event_encoder *encoder = nt_event_encoder_new();
	struct nt_chunk_writer *writer = NULL;
	struct nt_buf raw = {0};

	if (!encoder) {
		(*failures)++;
		MUST(encoder = nt_event_encoder_new());
	}
	file_size = 0;
	TRY(nt_chunk_writer_new(&writer, &header, write_file, NULL));
	for (int i = 0; i < N_RECORDS; i++)
		TRY(nt_event_encoder_add(encoder, &records[i]));
	for (int i = 0; i < 5; i++) {
		struct nt_block_header block = {.type = NT_BLOCK_EVENTS, .count = N_RECORDS};

		if (!i)
			TRY(nt_event_encoder_finish(encoder, &raw));
		TRY(nt_chunk_writer_block(writer, &block, raw.data, raw.size));
	}
	TRY(nt_chunk_writer_finish(writer));
	nt_chunk_writer_free(writer);
	nt_event_encoder_free(encoder);
	nt_buf_release(&raw);
}

static void read_chunk(const union nt_any *records, bool scan, int *failures)
{
	struct nt_source source = {.size = file_size, .read = read_file};
	struct nt_event_decoder *decoder = nt_event_decoder_new();
	struct nt_chunk_contents contents;
	struct nt_buf raw = {0};

	if (!decoder) {
		(*failures)++;
		MUST(decoder = nt_event_decoder_new());
	}
	TRY(nt_chunk_open(&source, scan, &contents));
	MUST(contents.n_blocks == 5 && contents.n_damage == scan);
	for (size_t i = 0; i < contents.n_blocks; i++) {
		union nt_any got;

		TRY(nt_chunk_load(&source, &contents.blocks[i], &raw));
		MUST(!nt_event_decoder_open(decoder, raw.data, raw.size));
		for (int k = 0; k < N_RECORDS; k++) {
			MUST(!nt_event_decoder_next(decoder, &got));
			MUST(!memcmp(&got, &records[k], nt_kind(got.record.kind)->size));
		}
	}
	nt_chunk_contents_release(&contents);
	nt_event_decoder_free(decoder);
	nt_buf_release(&raw);
}

static void small_payloads(int *failures)
{
	union nt_any task = {.as_task = {.kind = NT_TASK, .task = 1, .comm = "x"}};
	struct nt_proc_snapshot snapshot = {.name = "name", .text = "text", .text_size = 4};
	struct nt_clock clock = {0};
	struct nt_buf raw = {0};

	TRY(nt_identity_encode(&raw, &task));
	nt_buf_release(&raw);
	TRY(nt_proc_snapshot_encode(&raw, &snapshot));
	nt_buf_release(&raw);
	TRY(nt_clock_encode(&raw, &clock));
	nt_buf_release(&raw);
	TRY(nt_meta_append(&raw, "key", "value"));
	MUST(raw.size == 10);
	nt_buf_release(&raw);
}

int main(void)
{
	static union nt_any records[N_RECORDS];
	struct nt_rand rand = {1};
	long n = 0, before = live;
	int failures;

	for (int i = 0; i < N_RECORDS; i++)
		chunk_random_record(&rand, chunk_random_event_kind(&rand), 1000000000, &records[i]);
	do {
		failures = 0;
		until_failure = n++;
		write_chunk(records, &failures);
		read_chunk(records, false, &failures);
		/* Damage too takes memory. */
		file[file_size++] = 0;
		read_chunk(records, true, &failures);
		small_payloads(&failures);
		MUST(failures == (until_failure < 0));
		MUST(live == before);
	} while (failures);
	until_failure = -1;
	printf("each of %ld allocations failed once\n", n - 1);
	return 0;
}

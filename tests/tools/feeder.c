// SPDX-License-Identifier: GPL-2.0-only
/*
 * feeder.c - how many events a second the recorder's reader keeps up with: the records of a tape, again and again, as
 * they stand in rings, through all that happens to an event until its block is handed to the thread that writes.
 *
 *   feeder TAPE DIRECTORY [SECONDS [COPIES]]
 *
 * COPIES: each CPU of the tape is so many (1), with tasks, sockets and flows of its own: 32 copies of two CPUs are a
 * host of 64. Writes a tape into DIRECTORY, which must not be there. Prints the events, the CPU time that an event took
 * the reading thread, and the bytes of an event.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/stream.h"
#include "report/tape/tape.h"
#include "tests/support/clock.h"
#include "tests/support/must.h"

#define ITEM_BYTES 480 /* as the programs write them: bpf/shared.h, NT_BATCH_FLUSH */
#define PIECE_BYTES 65536 /* of one CPU before the next one's: a quarter of a ring */

struct cpu {
	struct nt_buf records; /* one behind the other */
	size_t at; /* of the next to be fed */
	struct nt_stream stream;
};

/* Ids become keys again: numbers that look like a kernel's. */
static void make_keys(union nt_any *record, uint64_t copy)
{
	const struct nt_kind_info *kind = nt_kind(record->record.kind);

	for (uint16_t i = 1; i < kind->n_fields; i++) {
		const struct nt_field *field = &kind->fields[i];
		const uint64_t id = nt_field_get(field, record);

		if (field->role != NT_ROLE_NONE && id)
			nt_field_set(field, record, (id << 16 | copy) * 0x9e3779b97f4a7c15ull);
	}
}

static void take_block(struct nt_event_decoder *decoder, const struct nt_buf *raw, struct cpu *cpu, uint64_t copy)
{
	union nt_any record;

	MUST(!nt_event_decoder_open(decoder, raw->data, raw->size));
	while (!nt_event_decoder_next(decoder, &record)) {
		make_keys(&record, copy);
		MUST(!nt_buf_append(&cpu->records, &record, nt_kind(record.record.kind)->size));
	}
}

static void read_tape(const char *path, struct cpu **cpus, uint32_t *n_cpus, uint32_t copies)
{
	struct nt_event_decoder *decoder = nt_event_decoder_new();
	const struct nt_chunk_contents *contents;
	struct nt_buf raw = {0};
	char error[NT_ERROR_MAX];
	struct nt_tape *tape;

	if (nt_tape_open(&tape, path, error)) {
		fprintf(stderr, "feeder: %s\n", error);
		exit(1);
	}
	*n_cpus = tape->n_cpus * copies;
	*cpus = calloc(*n_cpus, sizeof(**cpus));
	MUST(*cpus && decoder);
	for (size_t chunk = 0; chunk < tape->n_chunks; chunk++) {
		MUST(!nt_tape_hold(tape, chunk, &contents));
		for (size_t i = 0; i < contents->n_blocks; i++) {
			const struct nt_block_ref *block = &contents->blocks[i];

			if (block->header.type != NT_BLOCK_EVENTS || block->header.flags & NT_BLOCK_LONG)
				continue;
			MUST(!nt_tape_load(tape, chunk, block, &raw));
			for (uint32_t copy = 0; copy < copies; copy++)
				take_block(decoder, &raw, &(*cpus)[block->header.cpu * copies + copy], copy);
		}
		nt_tape_drop(tape, chunk);
	}
	nt_event_decoder_free(decoder);
	nt_buf_release(&raw);
	nt_tape_close(tape);
}

/* Some of a CPU's records, in items of whole records. From the end it goes on at the begin: time goes back there. */
static void feed(struct cpu *cpu)
{
	size_t fed = 0;

	if (!cpu->records.size)
		return;
	nt_stream_begin_drain(&cpu->stream, clock_ns(CLOCK_MONOTONIC));
	while (fed < PIECE_BYTES) {
		const uint8_t *item = cpu->records.data + cpu->at;
		size_t size = 0;

		while (size < ITEM_BYTES && cpu->at + size < cpu->records.size)
			size += nt_kind_size(item[size + offsetof(struct nt_record, kind)]);
		MUST(!nt_stream_take_item(&cpu->stream, item, size));
		cpu->at = cpu->at + size == cpu->records.size ? 0 : cpu->at + size;
		fed += size;
	}
	nt_stream_end_drain(&cpu->stream);
}

int main(int argc, char **argv)
{
	const struct nt_chunk_header header = {.version = NT_CHUNK_VERSION};
	const uint64_t for_ns = argc > 3 ? (uint64_t)(atof(argv[3]) * 1e9) : 2000000000;
	const uint32_t copies = argc > 4 ? (uint32_t)atoi(argv[4]) : 1;
	const struct nt_tape_owner nobody_else = {0};
	const struct nt_retention_limits all_is_kept = {0};
	struct nt_user_files files = {0};
	struct nt_tape_writer *tape;
	uint64_t events = 0, spent_ns = 0;
	struct nt_ids ids;
	struct cpu *cpus;
	uint32_t n_cpus;
	char error[1024];

	if (argc < 3 || !copies) {
		fprintf(stderr, "usage: feeder TAPE DIRECTORY [SECONDS [COPIES]]\n");
		return 2;
	}
	read_tape(argv[1], &cpus, &n_cpus, copies);
	if (nt_tape_writer_new(&tape, argv[2], &nobody_else, &all_is_kept, &header, error, sizeof(error))) {
		fprintf(stderr, "feeder: %s\n", error);
		return 1;
	}
	MUST(!nt_ids_init(&ids) && !nt_tape_writer_begin_chunk(tape));
	for (uint32_t i = 0; i < n_cpus; i++)
		MUST(!nt_stream_init(&cpus[i].stream, i, &ids, &files, tape));
	/* The first round makes room, and the ids. */
	for (uint32_t i = 0; i < n_cpus; i++)
		feed(&cpus[i]);
	while (spent_ns < for_ns) {
		const uint64_t from_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

		for (uint32_t i = 0; i < n_cpus; i++) {
			events -= nt_stream_events(&cpus[i].stream);
			feed(&cpus[i]);
			events += nt_stream_events(&cpus[i].stream);
		}
		spent_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - from_ns;
	}
	printf("%lu events, %.1f ns of CPU time an event: %.1f million a second; %.3f bytes an event\n",
	       (unsigned long)events, (double)spent_ns / (double)events, (double)events / (double)spent_ns * 1000,
	       (double)nt_tape_writer_bytes(tape) / (double)events);
	for (uint32_t i = 0; i < n_cpus; i++) {
		nt_stream_release(&cpus[i].stream);
		nt_buf_release(&cpus[i].records);
	}
	nt_tape_writer_free(tape);
	nt_user_files_release(&files);
	nt_ids_release(&ids);
	free(cpus);
	return 0;
}

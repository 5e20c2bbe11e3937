// SPDX-License-Identifier: GPL-2.0-only
/*
 * read_bench.c - how fast the steps that read a tape are, each by itself.
 *
 *   read_bench [-n TIMES] TAPE [STEP...]
 *
 *   load      event blocks read from the file, checked and decompressed; its records are not decoded
 *   decode    load, and every record decoded, block by block in file order
 *   merge     the records of all CPUs in the timeline's order
 *   timeline  merge, and the timeline, whose rows nobody takes
 *   rows      the rows of all tables
 *
 * Without a STEP all of them. Opening the tape is part of each. Each runs TIMES times (3), in turns, and is one line:
 * "STEP MILLIONS_A_SECOND million a second: THINGS THINGS' NAME in NS ns", NS the median. Run it under `taskset -c 0`
 * to see one core.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/rows/rows.h"
#include "report/tape/merge.h"
#include "report/timeline/timeline.h"
#include "schema/kind.h"
#include "tests/support/clock.h"
#include "tests/support/must.h"

#define TIMES_MAX 99

static uint64_t decode_block(struct nt_event_decoder *decoder, const struct nt_buf *raw)
{
	union nt_any record;
	uint64_t n = 0;

	MUST(!nt_event_decoder_open(decoder, raw->data, raw->size));
	while (!nt_event_decoder_next(decoder, &record))
		n++;
	return n;
}

/* `decoder` NULL: blocks are loaded, and their headers tell how many records they hold. */
static uint64_t read_blocks(struct nt_tape *tape, struct nt_event_decoder *decoder)
{
	const struct nt_chunk_contents *contents;
	struct nt_buf raw = {0};
	uint64_t n = 0;

	for (size_t chunk = 0; chunk < tape->n_chunks; chunk++) {
		MUST(!nt_tape_hold(tape, chunk, &contents));
		for (size_t i = 0; i < contents->n_blocks; i++) {
			const struct nt_block_ref *block = &contents->blocks[i];

			if (block->header.type != NT_BLOCK_EVENTS)
				continue;
			MUST(!nt_tape_load(tape, chunk, block, &raw));
			n += decoder ? decode_block(decoder, &raw) : block->header.count;
		}
		nt_tape_drop(tape, chunk);
	}
	nt_buf_release(&raw);
	return n;
}

static uint64_t load(struct nt_tape *tape)
{
	return read_blocks(tape, NULL);
}

static uint64_t decode(struct nt_tape *tape)
{
	struct nt_event_decoder *decoder = nt_event_decoder_new();
	uint64_t n;

	MUST(decoder);
	n = read_blocks(tape, decoder);
	nt_event_decoder_free(decoder);
	return n;
}

static struct nt_timeline *timeline_of(const struct nt_tape *tape)
{
	const struct nt_timeline_config config = {
		.start_ns = tape->start_ns,
		.end_ns = tape->end_ns,
		.n_cpus = tape->n_cpus,
		.present = tape->present,
		.online = tape->online,
	};
	const struct nt_timeline_sink nobody = {0};
	struct nt_timeline *timeline = nt_timeline_new(&config, &nobody);

	MUST(timeline);
	return timeline;
}

static void tell(struct nt_timeline *timeline, const struct nt_merged *merged)
{
	if (merged->is_gap)
		MUST(!nt_timeline_gap(timeline, merged->cpu, merged->resume_ns, merged->task, merged->why));
	else if (!nt_kind_is_loose(merged->record->record.kind))
		MUST(!nt_timeline_add(timeline, merged->cpu, merged->record));
}

/* `timeline` NULL: the records are not told to one. */
static uint64_t read_merged(struct nt_tape *tape, struct nt_timeline *timeline)
{
	struct nt_merge *merge = nt_merge_new(tape, NULL);
	struct nt_merged merged;
	uint64_t n = 0;

	MUST(merge);
	for (; !nt_merge_next(merge, &merged); n++)
		if (timeline)
			tell(timeline, &merged);
	nt_merge_free(merge);
	return n;
}

static uint64_t merge(struct nt_tape *tape)
{
	return read_merged(tape, NULL);
}

static uint64_t timeline(struct nt_tape *tape)
{
	struct nt_timeline *timeline = timeline_of(tape);
	uint64_t n = read_merged(tape, timeline);

	MUST(!nt_timeline_finish(timeline));
	nt_timeline_free(timeline);
	return n;
}

static uint64_t rows(struct nt_tape *tape)
{
	const struct nt_rows_want all = {.tables = NT_ALL_TABLES, .order = NT_ROWS_EVENTS_FIRST};
	const struct nt_row *row;
	struct nt_row_iter *rows;
	uint64_t n = 0;

	MUST(!nt_rows_open(&rows, tape, NULL, 1, &all));
	while (!nt_row_next(rows, &row))
		n++;
	nt_row_close(rows);
	return n;
}

static const struct step {
	const char *name, *things;
	uint64_t (*run)(struct nt_tape *tape);
} steps[] = {
	{"load", "records", load},	   {"decode", "records", decode}, {"merge", "records", merge},
	{"timeline", "records", timeline}, {"rows", "rows", rows},
};
#define N_STEPS (sizeof(steps) / sizeof(steps[0]))

/* Gives how many things there were, and how long it took. */
static uint64_t run(const struct step *step, const char *path, uint64_t *ns)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), n;
	char error[NT_ERROR_MAX];
	struct nt_tape *tape;

	if (nt_tape_open(&tape, path, error)) {
		fprintf(stderr, "read_bench: %s\n", error);
		exit(1);
	}
	n = step->run(tape);
	nt_tape_close(tape);
	*ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	return n;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return *left < *right ? -1 : *left > *right;
}

static void print(const struct step *step, uint64_t things, uint64_t *ns, size_t times)
{
	qsort(ns, times, sizeof(*ns), compare);
	printf("%s %.2f million a second: %llu %s in %llu ns\n", step->name,
	       (double)things * 1e3 / (double)ns[times / 2], (unsigned long long)things, step->things,
	       (unsigned long long)ns[times / 2]);
}

static bool is_asked(const struct step *step, char **names, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(names[i], step->name))
			return true;
	return !n;
}

static bool are_steps(char **names, int n)
{
	for (int i = 0; i < n; i++) {
		size_t known = 0;

		while (known < N_STEPS && strcmp(names[i], steps[known].name) != 0)
			known++;
		if (known == N_STEPS)
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	uint64_t ns[N_STEPS][TIMES_MAX], things[N_STEPS];
	int option, times = 3;

	while ((option = getopt(argc, argv, "n:")) == 'n')
		times = atoi(optarg);
	if (option != -1 || optind == argc || times < 1 || times > TIMES_MAX ||
	    !are_steps(argv + optind + 1, argc - optind - 1)) {
		fputs("usage: read_bench [-n TIMES] TAPE [load|decode|merge|timeline|rows]...\n", stderr);
		return 2;
	}
	for (int time = 0; time < times; time++)
		for (size_t i = 0; i < N_STEPS; i++)
			if (is_asked(&steps[i], argv + optind + 1, argc - optind - 1))
				things[i] = run(&steps[i], argv[optind], &ns[i][time]);
	for (size_t i = 0; i < N_STEPS; i++)
		if (is_asked(&steps[i], argv + optind + 1, argc - optind - 1))
			print(&steps[i], things[i], ns[i], (size_t)times);
	return 0;
}

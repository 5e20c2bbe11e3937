// SPDX-License-Identifier: GPL-2.0-only
/*
 * lengthen.c - makes a long tape of a recorded one, for measuring what reads it.
 *
 *   lengthen TAPE TIMES OUT
 *
 * OUT is a new tape with the records of TAPE told TIMES times. Times, sequence numbers of blocks and the session's end
 * move on; identities stay, so the long tape has no more names than the short one. `nettape-report check` finds in it
 * what it finds in TAPE, TIMES times, and nothing new. Memory does not grow with either.
 *
 * A seam of 10 ms joins two repetitions. The spans and operations that were open at the end of the first end in it: a
 * thread that slept in a receive wakes up and gets -EINTR. Then all CPUs are idle, and switch to the thread that the
 * next repetition begins with. In that one, a span that began before the session has no begin. (One of a block of long
 * spans is left out.)
 *
 * Counters of snapshots grow as they did from the first snapshot to the last. Those of /proc/softirqs grow by the
 * records, and by the softirqs that TAPE has no records of. Of the kernel side's own counts there is one snapshot, at
 * the end, which is counted here. /proc/net/softnet_stat is left out after the first repetition.
 *
 * TAPE must be whole, and its CPUs must have been there from begin to end.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/tape/tape.h"
#include "report/util/array.h"
#include "schema/meta_keys.h"
#include "schema/span.h"
#include "tests/support/grow_text.h"
#include "tests/support/must.h"

#define SEAM_NS 10000000ull
#define STEP_NS 100ull /* between two records of a seam */
#define CHUNK_BYTES (64ull << 20)
#define MAX_TASKS (1u << 24)
#define MAX_NAMES 16

/* The operations that a thread was in when it left its CPU last, or none. */
struct sleeper {
	uint64_t left_ns;
	uint32_t cpu;
	uint8_t n;
	struct nt_open ops[NT_MAX_OPEN];
};

struct cpu {
	/* Of TAPE. */
	bool has_records, is_stopped;
	uint64_t first_task, last_task;
	struct nt_open open[NT_MAX_OPEN]; /* before the state record that comes next; at the end: then */
	uint8_t n_open;
	/* Of OUT. */
	struct nt_event_encoder *events, *longs;
	uint64_t sequence, since_ns, since_task, task;
	bool has_loss;
	uint64_t written[NT_KIND_MAX], lost[NT_KIND_MAX];
};

/* The first and the last snapshot of a name. */
struct snapshots {
	char name[64];
	struct nt_buf first, last; /* their texts */
	uint64_t first_begin_ns, begin_ns, end_ns; /* the latter two of the last */
};

struct lengthen {
	struct nt_tape *tape;
	const struct nt_chunk_contents *contents; /* of the chunk that is read */
	size_t chunk;
	struct nt_event_decoder *decoder;
	struct nt_buf raw, again, text;
	struct cpu *cpus;
	struct sleeper *sleepers; /* by task */
	size_t n_sleepers, sleepers_size;
	struct snapshots names[MAX_NAMES];
	size_t n_names;
	uint64_t first_ns, last_ns; /* of all records */
	/* Where it is. */
	uint64_t repetition, repetitions, later_ns;
	/* Softirqs by CPU and vector: written, and before this repetition; those of one that have no record. */
	uint64_t *softirqs, *softirqs_before;
	int64_t *softirqs_missing;
	/* The chunk that is written. */
	const char *out;
	struct nt_chunk_writer *writer;
	uint32_t n_chunks;
	int fd;
};

static void die(const char *path, const char *why)
{
	fprintf(stderr, "lengthen: %s: %s\n", path, why);
	exit(1);
}

static struct text text_of(const struct nt_buf *buf)
{
	return (struct text){(const char *)buf->data, buf->size};
}

/* Loads each block of the tape into all->raw and calls visit with it, in the order of the files. */
static void each_block(struct lengthen *all, void (*visit)(struct lengthen *all, const struct nt_block_ref *block))
{
	for (all->chunk = 0; all->chunk < all->tape->n_chunks; all->chunk++) {
		MUST(!nt_tape_hold(all->tape, all->chunk, &all->contents));
		for (size_t i = 0; i < all->contents->n_blocks; i++) {
			if (nt_tape_load(all->tape, all->chunk, &all->contents->blocks[i], &all->raw))
				die(all->tape->path, "a block cannot be read");
			visit(all, &all->contents->blocks[i]);
		}
		nt_tape_drop(all->tape, all->chunk);
	}
}

/* ---- what must be known of the tape before it is told again ---- */

/* The thread that leaves the CPU, or is on it at the end, takes these operations with it. */
static void leave(struct lengthen *all, uint32_t number, uint64_t task, uint64_t at_ns, uint8_t n_ops)
{
	struct cpu *cpu = &all->cpus[number];
	struct sleeper *sleeper;

	if (!task || task >= MAX_TASKS)
		return;
	MUST(!NT_ROOM(all->sleepers, all->sleepers_size, task + 1));
	while (all->n_sleepers <= task)
		all->sleepers[all->n_sleepers++] = (struct sleeper){0};
	sleeper = &all->sleepers[task];
	if (at_ns < sleeper->left_ns)
		return;
	sleeper->left_ns = at_ns;
	sleeper->cpu = number;
	sleeper->n = n_ops;
	memcpy(sleeper->ops, cpu->open, sizeof(cpu->open));
}

static void learn_state(struct lengthen *all, uint32_t number, const struct nt_state *state)
{
	struct cpu *cpu = &all->cpus[number];

	if (!cpu->has_records && state->reason != NT_STATE_START)
		die(all->tape->path, "a CPU has no state record at its begin");
	if (!cpu->has_records)
		cpu->first_task = state->task;
	cpu->has_records = true;
	cpu->is_stopped = state->reason == NT_STATE_STOP;
	cpu->last_task = state->task;
	if (cpu->is_stopped)
		leave(all, number, state->task, state->end_ns, 0);
	else
		cpu->n_open = 0;
}

static struct snapshots *snapshots_of(struct lengthen *all, const char *name)
{
	size_t at = NT_FIRST(all->n_names, i, !strcmp(all->names[i].name, name));

	return at < all->n_names ? &all->names[at] : NULL;
}

/* One that may have begun between the first snapshot and the last explains one of what the kernel counted there. */
static void learn_softirq(struct lengthen *all, uint32_t number, const union nt_any *record)
{
	const struct snapshots *snapshots = snapshots_of(all, "/proc/softirqs");
	uint64_t begin_ns = nt_span_begin(record);

	if (snapshots && begin_ns >= snapshots->first_begin_ns && begin_ns <= snapshots->end_ns &&
	    record->as_softirq.vec < NT_VEC_COUNT)
		all->softirqs_missing[number * NT_VEC_COUNT + record->as_softirq.vec]--;
}

static void learn_record(struct lengthen *all, uint32_t number, const union nt_any *record)
{
	struct cpu *cpu = &all->cpus[number];

	if (record->record.end_ns < all->first_ns)
		all->first_ns = record->record.end_ns;
	if (record->record.end_ns > all->last_ns)
		all->last_ns = record->record.end_ns;
	switch (record->record.kind) {
	case NT_OPEN:
		if (cpu->n_open < NT_MAX_OPEN)
			cpu->open[cpu->n_open++] = record->as_open;
		break;
	case NT_STATE:
		learn_state(all, number, &record->as_state);
		break;
	case NT_SWITCH:
		leave(all, number, record->as_switch.prev, record->record.end_ns, cpu->n_open);
		cpu->n_open = 0;
		break;
	case NT_SOFTIRQ:
		learn_softirq(all, number, record);
		break;
	case NT_HOTPLUG:
		die(all->tape->path, "a CPU came or went");
		break;
	}
}

static void learn_snapshot(struct lengthen *all, const struct nt_proc_snapshot *snapshot)
{
	struct snapshots *name = snapshots_of(all, snapshot->name);

	if (!name) {
		MUST(all->n_names < MAX_NAMES);
		name = &all->names[all->n_names++];
		name->first_begin_ns = snapshot->begin_ns;
		snprintf(name->name, sizeof(name->name), "%s", snapshot->name);
		/* Counts from the begin of the session were 0 then. */
		if (strcmp(name->name, "nettape/programs") != 0)
			MUST(!nt_buf_append(&name->first, snapshot->text, snapshot->text_size));
	}
	name->last.size = 0;
	MUST(!nt_buf_append(&name->last, snapshot->text, snapshot->text_size));
	name->begin_ns = snapshot->begin_ns;
	name->end_ns = snapshot->end_ns;
}

static void learn_snapshots(struct lengthen *all, const struct nt_block_ref *block)
{
	struct nt_proc_snapshot snapshot;

	if (block->header.type != NT_BLOCK_PROC_SNAPSHOT)
		return;
	MUST(!nt_proc_snapshot_decode(all->raw.data, all->raw.size, &snapshot));
	learn_snapshot(all, &snapshot);
}

static void learn_events(struct lengthen *all, const struct nt_block_ref *block)
{
	union nt_any record;

	if (block->header.type != NT_BLOCK_EVENTS)
		return;
	MUST(!nt_event_decoder_open(all->decoder, all->raw.data, all->raw.size));
	while (!nt_event_decoder_next(all->decoder, &record))
		learn_record(all, block->header.cpu, &record);
}

/* Adds what the kernel counted from the first snapshot to the last. */
static void learn_counted(struct lengthen *all)
{
	const struct snapshots *snapshots = snapshots_of(all, "/proc/softirqs");
	size_t n = all->tape->n_cpus * NT_VEC_COUNT;

	if (snapshots)
		read_softirqs(all->softirqs_missing, text_of(&snapshots->last), text_of(&snapshots->first),
			      all->tape->n_cpus);
	for (size_t i = 0; i < n; i++)
		if (all->softirqs_missing[i] < 0)
			all->softirqs_missing[i] = 0;
}

static void learn(struct lengthen *all)
{
	all->first_ns = UINT64_MAX;
	each_block(all, learn_snapshots);
	each_block(all, learn_events);
	learn_counted(all);
	for (uint32_t cpu = 0; cpu < all->tape->n_cpus; cpu++)
		if (all->cpus[cpu].has_records && !all->cpus[cpu].is_stopped)
			die(all->tape->path, "a CPU has no state record at its end");
	if (!nt_tape_is_complete(all->tape) || all->first_ns > all->last_ns)
		die(all->tape->path, "it is not whole");
}

/* ---- chunks ---- */

static int write_file(void *arg, const void *data, size_t size)
{
	struct lengthen *all = arg;

	return write(all->fd, data, size) == (ssize_t)size ? 0 : -EIO;
}

static void end_chunk(struct lengthen *all)
{
	MUST(!nt_chunk_writer_finish(all->writer));
	MUST(!close(all->fd));
	nt_chunk_writer_free(all->writer);
	all->writer = NULL;
}

/* The same chunk as the one that is read, later. */
static void begin_chunk(struct lengthen *all)
{
	struct nt_chunk_header header = all->contents->header;
	char path[4096];

	snprintf(path, sizeof(path), "%s/chunk-%06" PRIu32 ".ntc", all->out, all->n_chunks);
	all->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (all->fd < 0)
		die(path, strerror(errno));
	header.number = all->n_chunks++;
	header.created_monotonic_ns += all->later_ns;
	header.created_realtime_ns += all->later_ns;
	MUST(!nt_chunk_writer_new(&all->writer, &header, write_file, all));
}

static void put_block(struct lengthen *all, struct nt_block_header *header, const struct nt_buf *raw)
{
	if (nt_chunk_writer_block(all->writer, header, raw->data, raw->size))
		die(all->out, "cannot be written");
}

static void put_plain(struct lengthen *all, enum nt_block_type type, const struct nt_buf *raw)
{
	struct nt_block_header header = {.type = (uint8_t)type};

	put_block(all, &header, raw);
}

/* ---- records ---- */

static void put_events(struct lengthen *all, uint32_t number, struct nt_event_encoder *encoder, uint8_t flags,
		       uint64_t lag_ns)
{
	struct cpu *cpu = &all->cpus[number];
	const struct nt_event_stats *stats = nt_event_encoder_stats(encoder);
	struct nt_block_header header = {
		.type = NT_BLOCK_EVENTS,
		.flags = flags,
		.cpu = number,
		.sequence = cpu->sequence,
		.count = stats->count,
		.least_begin_ns = stats->least_begin_ns,
		.first_end_ns = stats->first_end_ns,
		.last_end_ns = stats->last_end_ns,
		.since_ns = cpu->since_ns,
		.task = cpu->since_task,
		.lag_ns = lag_ns,
	};

	if (!header.count)
		return;
	cpu->sequence++;
	if (!(flags & NT_BLOCK_LONG)) {
		cpu->since_ns = header.last_end_ns;
		cpu->since_task = cpu->task;
	}
	all->again.size = 0;
	MUST(!nt_event_encoder_finish(encoder, &all->again));
	put_block(all, &header, &all->again);
}

/* Writes the records that were added. */
static void flush(struct lengthen *all, uint32_t number, uint64_t lag_ns)
{
	struct cpu *cpu = &all->cpus[number];

	put_events(all, number, cpu->longs, NT_BLOCK_LONG, lag_ns);
	put_events(all, number, cpu->events, cpu->has_loss ? NT_BLOCK_HAS_LOSS : 0, lag_ns);
	cpu->has_loss = false;
}

/* Notes the record, for later blocks and snapshots. */
static void observe(struct lengthen *all, uint32_t number, const union nt_any *record)
{
	struct cpu *cpu = &all->cpus[number];

	cpu->written[record->record.kind]++;
	switch (record->record.kind) {
	case NT_STATE:
		cpu->task = record->as_state.task;
		break;
	case NT_SWITCH:
		cpu->task = record->as_switch.next;
		break;
	case NT_SOFTIRQ:
		if (record->as_softirq.vec < NT_VEC_COUNT)
			all->softirqs[number * NT_VEC_COUNT + record->as_softirq.vec]++;
		break;
	case NT_LOSS:
		cpu->has_loss = true;
		cpu->lost[record->as_loss.lost_kind % NT_KIND_MAX] += record->as_loss.count;
		if (record->as_loss.lost_kind == NT_SWITCH)
			cpu->task = NT_NO_TASK;
		break;
	}
}

static void put_record(struct lengthen *all, uint32_t number, const union nt_any *record)
{
	struct cpu *cpu = &all->cpus[number];

	MUST(!nt_event_encoder_add(nt_span_dur(record) > NT_BLOCK_LONG_NS ? cpu->longs : cpu->events, record));
	observe(all, number, record);
}

/* Whether a span of TAPE began before the session, so that a later repetition does not know its begin. */
static bool is_older(const struct lengthen *all, uint64_t begin_ns)
{
	return all->repetition && begin_ns < all->tape->start_ns;
}

/* A span without a begin: what it was is not known. */
static void lose_begin(union nt_any *record)
{
	switch (record->record.kind) {
	case NT_SOFTIRQ:
		record->as_softirq.flags |= NT_SPAN_NO_BEGIN;
		record->as_softirq.dur_ns = 0;
		break;
	case NT_IRQ:
		record->as_irq.flags |= NT_SPAN_NO_BEGIN;
		record->as_irq.dur_ns = 0;
		break;
	case NT_NAPI:
		record->as_napi.flags |= NT_SPAN_NO_BEGIN;
		record->as_napi.dur_ns = 0;
		break;
	case NT_OP:
		record->as_op.flags = (uint8_t)((record->as_op.flags & ~NT_OP_BEFORE) | NT_OP_NO_BEGIN);
		record->as_op.dur_ns = 0;
		break;
	}
}

static bool is_op_from_before(const union nt_any *record)
{
	return record->record.kind == NT_OP && record->as_op.flags & NT_OP_BEFORE;
}

static void later(__u64 *time_ns, uint64_t later_ns)
{
	if (*time_ns)
		*time_ns += later_ns;
}

/* Moves the times within a record on. */
static void move_on(union nt_any *record, uint64_t later_ns)
{
	record->record.end_ns += later_ns;
	switch (record->record.kind) {
	case NT_OPEN:
		later(&record->as_open.begin_ns, later_ns);
		break;
	case NT_LATENCY:
		later(&record->as_latency.stamp_ns, later_ns);
		break;
	case NT_LOSS:
		later(&record->as_loss.first_ns, later_ns);
		later(&record->as_loss.last_ns, later_ns);
		later(&record->as_loss.begin_ns, later_ns);
		break;
	}
}

/* Between two repetitions a CPU neither starts nor stops. */
static uint8_t reason_of(const struct lengthen *all, uint8_t reason)
{
	bool is_within = (reason == NT_STATE_START && all->repetition) ||
			 (reason == NT_STATE_STOP && all->repetition + 1 < all->repetitions);

	return is_within ? NT_STATE_PERIODIC : reason;
}

/* Writes one record of TAPE again. *left_out counts the open spans that its state record will not have. */
static void retell(struct lengthen *all, const struct nt_block_header *header, union nt_any *record, uint8_t *left_out)
{
	uint64_t begin_ns = nt_span_begin(record);

	switch (record->record.kind) {
	case NT_OPEN:
		if (is_older(all, record->as_open.begin_ns)) {
			++*left_out;
			return;
		}
		break;
	case NT_STATE:
		record->as_state.n_open = (uint8_t)(record->as_state.n_open - *left_out);
		record->as_state.reason = reason_of(all, record->as_state.reason);
		*left_out = 0;
		break;
	case NT_SWITCH:
		record->as_switch.n_open = (uint8_t)(record->as_switch.n_open - *left_out);
		*left_out = 0;
		break;
	default:
		if (!is_older(all, is_op_from_before(record) ? 0 : begin_ns))
			break;
		if (header->flags & NT_BLOCK_LONG)
			return;
		lose_begin(record);
	}
	move_on(record, all->later_ns);
	put_record(all, header->cpu, record);
}

static void retell_events(struct lengthen *all, const struct nt_block_header *header)
{
	union nt_any record;
	uint8_t left_out = 0;

	MUST(!nt_event_decoder_open(all->decoder, all->raw.data, all->raw.size));
	while (!nt_event_decoder_next(all->decoder, &record))
		retell(all, header, &record, &left_out);
	flush(all, header->cpu, header->lag_ns);
}

/* ---- seams ---- */

static uint64_t put_switch(struct lengthen *all, uint32_t cpu, uint64_t at_ns, uint64_t next)
{
	union nt_any record = {.as_switch = {.end_ns = at_ns,
					     .kind = NT_SWITCH,
					     .prev_prio = 120,
					     .prev_state = all->cpus[cpu].task ? 1 : 0,
					     .prev = all->cpus[cpu].task,
					     .next = next}};

	if (all->cpus[cpu].task != next)
		put_record(all, cpu, &record);
	return at_ns + STEP_NS;
}

/* The span that was open ends. */
static union nt_any end_of(const struct nt_open *open, uint64_t at_ns, uint64_t dur_ns)
{
	union nt_any record = {.record = {.end_ns = at_ns}};

	switch (open->what) {
	case NT_OPEN_SOFTIRQ:
		record.as_softirq = (struct nt_softirq){.end_ns = at_ns,
							.kind = NT_SOFTIRQ,
							.vec = open->detail,
							.context = (uint8_t)open->number,
							.dur_ns = dur_ns};
		break;
	case NT_OPEN_IRQ:
		record.as_irq = (struct nt_irq){.end_ns = at_ns,
						.kind = NT_IRQ,
						.type = open->detail,
						.number = open->number,
						.dur_ns = dur_ns};
		break;
	default:
		record.as_op = (struct nt_op){.end_ns = at_ns,
					      .kind = NT_OP,
					      .dir = open->detail,
					      .call = (uint8_t)open->number,
					      .flags = open->flags,
					      .result = -EINTR,
					      .dur_ns = open->flags & NT_OP_BEFORE ? 0 : dur_ns,
					      .socket = open->socket};
	}
	return record;
}

/* Ends what is open, the innermost first. */
static uint64_t close_all(struct lengthen *all, uint32_t cpu, uint64_t at_ns, const struct nt_open *open, uint8_t n)
{
	while (n--) {
		union nt_any record;

		if (is_older(all, open[n].begin_ns))
			continue;
		record = end_of(&open[n], at_ns, at_ns - all->later_ns - open[n].begin_ns);
		put_record(all, cpu, &record);
		at_ns += STEP_NS;
	}
	return at_ns;
}

/* From the end of this repetition to just before the begin of the next. */
static void put_seam(struct lengthen *all, uint32_t number)
{
	struct cpu *cpu = &all->cpus[number];
	uint64_t begin_ns = all->last_ns + all->later_ns, at_ns = begin_ns + STEP_NS;

	at_ns = close_all(all, number, at_ns, cpu->open, cpu->n_open);
	for (size_t task = 1; task < all->n_sleepers; task++) {
		const struct sleeper *sleeper = &all->sleepers[task];

		if (!sleeper->n || sleeper->cpu != number)
			continue;
		at_ns = put_switch(all, number, at_ns, task);
		at_ns = close_all(all, number, at_ns, sleeper->ops, sleeper->n);
	}
	put_switch(all, number, at_ns, 0);
	/* Only now, when all others are surely idle: the thread may have been on another CPU. */
	MUST(at_ns < begin_ns + SEAM_NS / 2);
	put_switch(all, number, begin_ns + SEAM_NS - STEP_NS, cpu->first_task);
	flush(all, number, 0);
}

/* ---- what is not events ---- */

static void retell_identities(struct lengthen *all)
{
	union nt_any record;
	size_t offset = 0;

	all->again.size = 0;
	while (!nt_identity_next(all->raw.data, all->raw.size, &offset, &record)) {
		later(&record.record.end_ns, all->later_ns);
		MUST(!nt_identity_encode(&all->again, &record));
	}
	put_plain(all, NT_BLOCK_IDENTITIES, &all->again);
}

static void retell_clock(struct lengthen *all)
{
	struct nt_clock clock;

	MUST(!nt_clock_decode(all->raw.data, all->raw.size, &clock));
	clock.monotonic_ns += all->later_ns;
	clock.realtime_ns += all->later_ns;
	clock.tai_ns += all->later_ns;
	clock.boot_ns += all->later_ns;
	all->again.size = 0;
	MUST(!nt_clock_encode(&all->again, &clock));
	put_plain(all, NT_BLOCK_CLOCK, &all->again);
}

static void put_snapshot(struct lengthen *all, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
	const struct nt_proc_snapshot snapshot = {
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.name = name,
		.text = (const char *)all->text.data,
		.text_size = all->text.size,
	};

	all->again.size = 0;
	MUST(!nt_proc_snapshot_encode(&all->again, &snapshot));
	put_plain(all, NT_BLOCK_PROC_SNAPSHOT, &all->again);
}

static void retell_snapshot(struct lengthen *all)
{
	struct nt_proc_snapshot snapshot;
	const struct snapshots *name;
	struct text text;

	MUST(!nt_proc_snapshot_decode(all->raw.data, all->raw.size, &snapshot));
	if (!strcmp(snapshot.name, "nettape/cpus") ||
	    (all->repetition && !strcmp(snapshot.name, "/proc/net/softnet_stat")))
		return;
	name = snapshots_of(all, snapshot.name);
	text = (struct text){snapshot.text, snapshot.text_size};
	all->text.size = 0;
	if (!strcmp(snapshot.name, "/proc/softirqs"))
		grow_softirqs(&all->text, text, all->softirqs_before, all->tape->n_cpus);
	else
		grow_text(&all->text, text, text_of(&name->first), text_of(&name->last), all->repetition);
	put_snapshot(all, name->name, snapshot.begin_ns + all->later_ns, snapshot.end_ns + all->later_ns);
}

/* The kernel side's counts: lines "CPU KIND WRITTEN LOST". */
static void put_counts(struct lengthen *all)
{
	const struct snapshots *last = snapshots_of(all, "nettape/cpus");
	char line[128];

	if (!last)
		return;
	all->text.size = 0;
	for (uint32_t number = 0; number < all->tape->n_cpus; number++) {
		const struct cpu *cpu = &all->cpus[number];

		for (unsigned int kind = 0; kind < NT_KIND_MAX; kind++) {
			if (!cpu->written[kind] && !cpu->lost[kind])
				continue;
			snprintf(line, sizeof(line), "%" PRIu32 " %s %" PRIu64 " %" PRIu64 "\n", number,
				 nt_kind(kind)->name, cpu->written[kind], cpu->lost[kind]);
			MUST(!nt_buf_append(&all->text, line, strlen(line)));
		}
	}
	put_snapshot(all, last->name, last->begin_ns + all->later_ns, last->end_ns + all->later_ns);
}

static uint64_t sum_of(const struct lengthen *all, bool lost)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < all->tape->n_cpus; cpu++)
		for (unsigned int kind = 0; kind < NT_KIND_MAX; kind++)
			sum += lost ? all->cpus[cpu].lost[kind] : all->cpus[cpu].written[kind];
	return sum;
}

/* One line of the closing meta block. */
static void put_meta_line(struct lengthen *all, const char *key, const char *value)
{
	char number[24];
	uint64_t changed = 0;

	if (!strcmp(key, NT_META_END_NS))
		changed = all->tape->end_ns + all->later_ns;
	else if (!strcmp(key, NT_META_EVENTS))
		changed = sum_of(all, false);
	else if (!strcmp(key, NT_META_LOST))
		changed = sum_of(all, true);
	snprintf(number, sizeof(number), "%" PRIu64, changed);
	MUST(!nt_meta_append(&all->again, key, changed ? number : value));
}

static void put_closing_meta(struct lengthen *all)
{
	const char *key, *value;
	size_t offset = 0, key_size, value_size;

	all->again.size = 0;
	while (!nt_meta_next(all->raw.data, all->raw.size, &offset, &key, &key_size, &value, &value_size)) {
		char *key_copy = strndup(key, key_size), *value_copy = strndup(value, value_size);

		MUST(key_copy && value_copy);
		put_meta_line(all, key_copy, value_copy);
		free(key_copy);
		free(value_copy);
	}
	put_plain(all, NT_BLOCK_META, &all->again);
}

/* The first block of a chunk may begin one of OUT; the closing one is only in the last. */
static void retell_meta(struct lengthen *all, const struct nt_block_ref *block)
{
	if (block != all->contents->blocks) {
		if (all->repetition + 1 < all->repetitions)
			return;
		put_counts(all);
		put_closing_meta(all);
		return;
	}
	if (all->writer && nt_chunk_writer_size(all->writer) < CHUNK_BYTES)
		return;
	if (all->writer)
		end_chunk(all);
	begin_chunk(all);
	put_plain(all, NT_BLOCK_META, &all->raw);
}

static void retell_block(struct lengthen *all, const struct nt_block_ref *block)
{
	switch (block->header.type) {
	case NT_BLOCK_META:
		retell_meta(all, block);
		break;
	case NT_BLOCK_EVENTS:
		retell_events(all, &block->header);
		break;
	case NT_BLOCK_IDENTITIES:
		retell_identities(all);
		break;
	case NT_BLOCK_CLOCK:
		retell_clock(all);
		break;
	case NT_BLOCK_PROC_SNAPSHOT:
		retell_snapshot(all);
		break;
	}
}

/* ---- all of it ---- */

static void begin_repetition(struct lengthen *all)
{
	size_t n = all->tape->n_cpus * NT_VEC_COUNT;

	all->later_ns = all->repetition * (all->last_ns - all->first_ns + SEAM_NS);
	for (size_t i = 0; i < n; i++)
		all->softirqs_before[i] = all->softirqs[i] + all->repetition * (uint64_t)all->softirqs_missing[i];
}

static void repeat(struct lengthen *all)
{
	for (; all->repetition < all->repetitions; all->repetition++) {
		begin_repetition(all);
		each_block(all, retell_block);
		for (uint32_t cpu = 0; cpu < all->tape->n_cpus && all->repetition + 1 < all->repetitions; cpu++)
			if (all->cpus[cpu].has_records)
				put_seam(all, cpu);
	}
	end_chunk(all);
}

static void open_all(struct lengthen *all, const char *path)
{
	char error[NT_ERROR_MAX];
	size_t n_softirqs;

	if (nt_tape_open(&all->tape, path, error)) {
		fprintf(stderr, "lengthen: %s\n", error);
		exit(1);
	}
	n_softirqs = (all->tape->n_cpus + 1) * NT_VEC_COUNT;
	all->decoder = nt_event_decoder_new();
	all->cpus = calloc(all->tape->n_cpus + 1, sizeof(*all->cpus));
	all->softirqs = calloc(n_softirqs, sizeof(*all->softirqs));
	all->softirqs_before = calloc(n_softirqs, sizeof(*all->softirqs));
	all->softirqs_missing = calloc(n_softirqs, sizeof(*all->softirqs_missing));
	MUST(all->decoder && all->cpus && all->softirqs && all->softirqs_before && all->softirqs_missing);
	for (uint32_t cpu = 0; cpu < all->tape->n_cpus; cpu++) {
		all->cpus[cpu].events = nt_event_encoder_new();
		all->cpus[cpu].longs = nt_event_encoder_new();
		MUST(all->cpus[cpu].events && all->cpus[cpu].longs);
	}
}

static void release(struct lengthen *all)
{
	for (uint32_t cpu = 0; cpu < all->tape->n_cpus; cpu++) {
		nt_event_encoder_free(all->cpus[cpu].events);
		nt_event_encoder_free(all->cpus[cpu].longs);
	}
	for (size_t i = 0; i < all->n_names; i++) {
		nt_buf_release(&all->names[i].first);
		nt_buf_release(&all->names[i].last);
	}
	nt_buf_release(&all->raw);
	nt_buf_release(&all->again);
	nt_buf_release(&all->text);
	nt_event_decoder_free(all->decoder);
	nt_tape_close(all->tape);
	free(all->cpus);
	free(all->sleepers);
	free(all->softirqs);
	free(all->softirqs_before);
	free(all->softirqs_missing);
}

int main(int argc, char **argv)
{
	struct lengthen all = {0};

	if (argc != 4 || !(all.repetitions = strtoull(argv[2], NULL, 10))) {
		fputs("usage: lengthen TAPE TIMES OUT\n", stderr);
		return 2;
	}
	all.out = argv[3];
	open_all(&all, argv[1]);
	learn(&all);
	if (mkdir(all.out, 0755))
		die(all.out, strerror(errno));
	repeat(&all);
	printf("%" PRIu64 " records, %.3f s\n", sum_of(&all, false),
	       (double)(all.tape->end_ns + all.later_ns - all.tape->start_ns) / 1e9);
	release(&all);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * followed.c - the part of rows.h that follows a tape while it grows. Each round has the new blocks, so that names are
 * known, then the events that no other can go before any more, then the sums that these make known. Where several
 * chunks are behind, the blocks of each are read when events get there: so hardly more is known than these need.
 */
#include <errno.h>
#include <string.h>

#include "report/rows/rollup.h"
#include "report/rows/state.h"
#include "report/tape/follow.h"

/* ---- new blocks ---- */

/* From now on records come that may end behind the end. */
static void note_end(struct nt_rows *rows)
{
	rows->time.to_ns = rows->tape->end_ns;
	if (rows->timeline)
		nt_timeline_end_at(rows->timeline, rows->tape->end_ns);
	if (rows->rollup)
		nt_rollup_end_at(rows->rollup, rows->tape->end_ns);
	if (rows->charges)
		nt_rx_charges_end_at(rows->charges, rows->tape->end_ns);
}

/* The session, without its end; and the idle task, of which no identity tells. */
static int push_begun(struct nt_rows *rows)
{
	int error = nt_rows_push_unknown(rows);

	rows->is_begun = true;
	if (!error)
		error = nt_rows_push_meta(rows);
	return error ? error : nt_rows_push_session(rows);
}

/* Whether the block was loaded before the pass began anew. */
static bool is_again(const struct nt_rows *rows)
{
	return rows->pass.chunk < rows->told_chunk ||
	       (rows->pass.chunk == rows->told_chunk && rows->pass.block <= rows->told_block);
}

static int take_block(struct nt_rows *rows, const struct nt_block_ref *block)
{
	int error = 0;

	if (block->header.type != NT_BLOCK_PROC_SNAPSHOT)
		error = nt_learned_block(rows->learned, &rows->pass, block);
	/* Some more will come, but records do not wait for these. */
	if (block->header.type == NT_BLOCK_CLOCK)
		nt_clocks_settle(&rows->learned->clocks);
	if (error || (is_again(rows) && block->header.type != NT_BLOCK_IDENTITIES))
		return error;
	return nt_rows_push_block(rows, block);
}

int nt_rows_step_new(struct nt_rows *rows)
{
	const unsigned int wanted = 1u << NT_BLOCK_IDENTITIES | 1u << NT_BLOCK_CLOCK | 1u << NT_BLOCK_PROC_SNAPSHOT;
	const struct nt_block_ref *block;
	int error = rows->is_begun ? 0 : push_begun(rows);

	if (!nt_tape_is_followed(rows->tape) && rows->time.to_ns != rows->tape->end_ns)
		note_end(rows);
	if (error || rows->pass_is_over || rows->pass.chunk > rows->learned_to)
		return error ? error : 1;
	error = nt_block_pass_next(&rows->pass, wanted, &block);
	rows->pass_is_over = error == 1;
	if (error)
		return error == -EAGAIN ? 1 : error;
	return take_block(rows, block);
}

/* ---- events ---- */

#define EVENTS_A_ROUND (1u << 20) /* unless told otherwise: about as many rows may come before the next sums */
#define EVENTS_A_STEP 256

/* The next event is held, and the identities of one chunk more are learned first. */
#define LEARN_FIRST 2

/* Of what the tape has so far. */
static bool has_learned_all(const struct nt_rows *rows)
{
	return rows->learned_to + 1 >= rows->tape->n_chunks;
}

/* 1: there are no more; -EAGAIN: not yet. Then blocks are left in the last chunks, without events. */
static int find_event(struct nt_rows *rows)
{
	int error = rows->merge ? nt_merge_next(rows->merge, &rows->held) : 1;

	rows->holds = !error;
	if (!error || has_learned_all(rows))
		return error;
	rows->learned_to = rows->tape->n_chunks - 1;
	return error == 1 ? LEARN_FIRST : error;
}

static uint64_t held_at(const struct nt_rows *rows)
{
	return rows->held.is_gap ? rows->held.resume_ns : rows->held.record->record.end_ns;
}

/* Whether the event that is held may be of a chunk that comes after those learned. */
static bool is_of_later_chunk(struct nt_rows *rows)
{
	if (has_learned_all(rows) || held_at(rows) <= rows->learned_until_ns)
		return false;
	rows->learned_until_ns = nt_tape_settled_by(rows->tape, rows->learned_to);
	return held_at(rows) > rows->learned_until_ns;
}

static int step_event(struct nt_rows *rows)
{
	int error = rows->holds ? 0 : find_event(rows);

	if (error)
		return error;
	if (is_of_later_chunk(rows)) {
		rows->learned_to++;
		rows->learned_until_ns = 0;
		return LEARN_FIRST;
	}
	rows->holds = false;
	return nt_rows_take_event(rows, &rows->held);
}

int nt_rows_step_events_so_far(struct nt_rows *rows)
{
	const uint64_t most = rows->want.events_a_round ? rows->want.events_a_round : EVENTS_A_ROUND;
	int error = 0;

	for (int i = 0; i < EVENTS_A_STEP && !rows->n_queue && !error && rows->n_of_round < most; i++) {
		error = step_event(rows);
		rows->n_of_round += !error;
	}
	if (error == LEARN_FIRST) {
		rows->step = 0;
		return 0;
	}
	rows->is_behind = !error && rows->n_of_round == most;
	if (!error && !rows->is_behind)
		return 0;
	rows->n_of_round = 0;
	return error == -EAGAIN || !error ? 1 : error;
}

/* ---- what is known ---- */

/* Charges the runs of the CPU that are over. */
static int charge(struct nt_rows *rows, uint32_t cpu)
{
	const uint64_t run_ns = nt_rx_charges_run(rows->charges, cpu);

	return nt_rx_charges_known(rows->charges, cpu, nt_timeline_given_until(rows->timeline, cpu),
				   nt_timeline_run_goes_on(rows->timeline, cpu, run_ns));
}

/* Up to when all slices of the CPU, and the charges of its receive runs, have been given. */
static uint64_t known_until(const struct nt_rows *rows, uint32_t cpu)
{
	const uint64_t given_ns = nt_timeline_given_until(rows->timeline, cpu);
	const uint64_t since_ns = rows->charges ? nt_rx_charges_since(rows->charges, cpu) : UINT64_MAX;

	return since_ns < given_ns ? since_ns : given_ns;
}

/* Of all CPUs, and whole buckets. */
static void note_known(struct nt_rows *rows)
{
	const uint64_t start_ns = rows->tape->start_ns;
	uint64_t known_ns = rows->time.to_ns;

	for (uint32_t cpu = 0; cpu < rows->tape->n_cpus; cpu++) {
		const uint64_t of_cpu_ns = known_until(rows, cpu);

		known_ns = of_cpu_ns < known_ns ? of_cpu_ns : known_ns;
	}
	if (known_ns < start_ns)
		return;
	known_ns -= (known_ns - start_ns) % NT_BUCKET_NS;
	rows->known_ns = known_ns > rows->known_ns ? known_ns : rows->known_ns;
}

static int push_known(struct nt_rows *rows)
{
	int error = nt_timeline_give(rows->timeline, nt_merge_given_until(rows->merge));

	for (uint32_t cpu = 0; rows->charges && cpu < rows->tape->n_cpus && !error; cpu++)
		error = charge(rows, cpu);
	note_known(rows);
	if (!error && rows->rollup)
		error = nt_rollup_give(rows->rollup, rows->known_ns);
	return !error && rows->charges ? nt_rx_rows_known(rows, rows->known_ns) : error;
}

/* The counts since the last time. */
static int push_new_counts(struct nt_rows *rows)
{
	int error = nt_rows_push_counts(rows);

	for (uint32_t cpu = 0; cpu < rows->tape->n_cpus; cpu++) {
		if (rows->counts[cpu])
			memset(rows->counts[cpu], 0, sizeof(*rows->counts[cpu]));
	}
	return error;
}

int nt_rows_step_known(struct nt_rows *rows)
{
	int error = rows->timeline ? push_known(rows) : 0;

	if (!error)
		error = push_new_counts(rows);
	return error ? error : 1;
}

/* ---- waiting ---- */

/* The tape may have grown meanwhile: so the next round, too, begins with blocks. */
int nt_rows_step_wait(struct nt_rows *rows)
{
	if (!nt_tape_is_followed(rows->tape) && !rows->is_behind)
		return 1;
	rows->step = 0;
	return -EAGAIN;
}

int nt_rows_step_ended(struct nt_rows *rows)
{
	rows->known_ns = rows->tape->end_ns;
	return 1;
}

/* ---- forgetting ---- */

static bool ended_before(const struct nt_tape_chunk *chunk, uint64_t before_ns)
{
	return !NT_ANY(chunk->n_cpus, i, chunk->cpus[i].has && chunk->cpus[i].last_end_ns >= before_ns);
}

/* A flight recorder has dropped it. */
static bool has_gone(struct nt_tape *tape, size_t chunk)
{
	const int error = tape->drops ? nt_tape_hold(tape, chunk, NULL) : 0;

	if (tape->drops && !error)
		nt_tape_drop(tape, chunk);
	return error == -ENOENT;
}

/* The first chunk that is still needed, and is there. Each tells again whatever it refers to. */
static size_t first_needed(const struct nt_rows *rows, uint64_t before_ns)
{
	struct nt_tape *tape = rows->tape;
	size_t at = rows->learned_from;

	while (at + 1 < tape->n_chunks && (ended_before(&tape->chunks[at], before_ns) || has_gone(tape, at)))
		at++;
	return at;
}

/* The pass over the blocks begins anew, at this chunk. */
static int learn_from(struct nt_rows *rows, size_t chunk)
{
	struct nt_learned *learned = nt_learned_begin(rows->tape);

	if (!learned)
		return -ENOMEM;
	nt_learned_free(rows->own);
	rows->own = rows->learned = learned;
	if (!is_again(rows)) {
		rows->told_chunk = rows->pass.chunk;
		rows->told_block = rows->pass.block;
	}
	nt_identity_marks_release(&rows->marks);
	nt_block_pass_release(&rows->pass);
	rows->pass = (struct nt_block_pass){.tape = rows->tape, .chunk = chunk};
	rows->learned_from = chunk;
	rows->step = 0;
	return nt_rows_push_unknown(rows);
}

size_t nt_rows_n_identities(const struct nt_row_iter *iter)
{
	return ((const struct nt_rows *)iter)->learned->ids.n;
}

int nt_rows_forget(struct nt_row_iter *iter, uint64_t before_ns)
{
	struct nt_rows *rows = nt_rows_of(iter);
	const size_t chunk = first_needed(rows, before_ns);
	int error;

	if (!nt_tape_is_followed(rows->tape) || chunk == rows->learned_from)
		return 0;
	error = nt_socket_users_forget(&rows->users, before_ns);
	if (!error)
		error = learn_from(rows, chunk);
	return error ? error : 1;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * merge.h - the records of a whole tape in the order in which the timeline wants them (timeline/timeline.h).
 *
 * Two steps. Within a CPU: a record may stand a little after one that ended later (a program was
 * interrupted between reading the clock and reserving space), so a window of NT_REORDER records is sorted by
 * end, ties in ring order; the CPU's blocks of long spans are merged in. Nothing is moved over a LOSS record: what
 * stands behind it was written after the loss. Across CPUs: least end first, but gaps as early as they can be told.
 * Loose records and their losses are given as they are read, past all this: they change nothing in the order of events.
 * The blocks are read ahead by other threads (read_ahead.h). Memory: per CPU, one block (and one of long spans) being
 * decoded, one window, and some records ahead.
 */
#pragma once

#include "report/tape/place.h"
#include "report/tape/tape.h"
#include "schema/event.h"

/* An item of the merge: a record, or a gap in the blocks of a CPU. */
struct nt_merged {
	uint32_t cpu;
	bool is_gap;
	/* !is_gap. Only the part that its kind has may be read, and only until the next call. */
	const union nt_any *record;
	uint64_t resume_ns; /* is_gap: as nt_timeline_gap */
	uint64_t task;
	const char *why;
};

struct nt_merge;

/*
 * `places` say where reading begins, one for each of the tape's n_cpus; NULL: everything is read. NULL: out of memory.
 * The tape must outlive the merge, and not the places.
 */
struct nt_merge *nt_merge_new(struct nt_tape *tape, const struct nt_place *places);
void nt_merge_free(struct nt_merge *merge);
/*
 * 0: *out holds the next; 1: end; -EAGAIN: of a tape that is followed there is nothing more yet, or something may still
 * come that goes before it, or the session may have ended: look at the tape (follow.h), then ask again; else below 0: a
 * negative errno of reading. Damage is a gap, not an error.
 */
int nt_merge_next(struct nt_merge *merge, struct nt_merged *out);
/* All records of the timeline that ended before have been given, and those that a CPU that is offline has. */
uint64_t nt_merge_given_until(const struct nt_merge *merge);
/* No more of this CPU is wanted. */
void nt_merge_stop(struct nt_merge *merge, uint32_t cpu);
/* Records of unknown kinds that were skipped so far. */
uint64_t nt_merge_unknown(const struct nt_merge *merge);

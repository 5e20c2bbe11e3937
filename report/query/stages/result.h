/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * result.h - what `stages` finds in one session: an owner's time in each of its stages, with bounds; in all, or in
 * groups. The parts of each owner and group sum to its exact time.
 */
#pragma once

#include "report/out/output.h"
#include "report/query/stages/due.h"
#include "report/query/stages/frames.h"
#include "report/query/stages/read.h"

/* The time of an owner in a group. */
struct nt_stage_whole {
	uint32_t group; /* by cpu: the CPU; by time: the column, from 0 on; else the number of a label */
	unsigned int owner; /* enum nt_owner */
	uint64_t ns, unsampled_ns, samples;
	struct nt_split_worth worth;
	/* The run that is added to it. */
	uint64_t run, run_ns, run_samples;
};

/* The part of it that was spent in one stage, or one stack. */
struct nt_stage_part {
	uint32_t whole; /* index */
	uint32_t category; /* index; NT_SPLIT_UNSAMPLED; with --inclusive the stage's number */
	uint64_t ns, samples;
	uint64_t low_ns, high_ns; /* 95 %: so much at least, and at most */
};

/* An owner in all groups together. */
struct nt_stage_owner {
	bool is_there; /* has time or samples */
	uint64_t ns, samples;
	bool has_due; /* how many samples were due is known */
	uint64_t due;
	bool is_short; /* there are too few: see nt_stage_is_short */
};

struct nt_stage_result {
	struct nt_part part;
	const struct nt_stage_choice *choice;
	struct nt_stage_reading *reading; /* while it is read */
	struct nt_stage_data data;
	struct nt_frames frames; /* with --inclusive and --other */
	struct nt_stage_whole *wholes;
	size_t n_wholes, wholes_size;
	uint64_t *group_ns; /* by group, if they have labels: the time of all owners */
	/* Sorted: by group, those with labels by their time, the most first; then by owner; then the dearest first. */
	struct nt_stage_part *parts;
	size_t n_parts, parts_size;
	struct nt_id_map by_whole, by_part;
	uint32_t step; /* by time: buckets in a column */
	struct nt_stage_clock clock;
	struct nt_stage_owner owners[NT_OWNER_COUNT];
};

/* Reads and sums up; `part` and `choice` are set. 0, or -1 and a sentence in db->error. To be released in either case.
 */
int nt_stage_find(struct nt_stage_result *result);
/* The same with the scan left to the caller, as nt_stage_reading_begin (read.h) and so on. */
int nt_stage_find_begin(struct nt_stage_result *result);
int nt_stage_find_end(struct nt_stage_result *result, int error);
void nt_stage_result_release(struct nt_stage_result *result);
/* Sets low_ns and high_ns by the other figures of a part, which may be a sum of several of the same whole. */
void nt_stage_bounds(struct nt_stage_part *part, const struct nt_stage_whole *whole);
/* Names for a part: of its stage (also `unsampled`), and of the address family, NULL if it is not told. */
const char *nt_stage_part_name(const struct nt_stage_result *result, const struct nt_stage_part *part,
			       const char **family);
/* The group of a whole: a label, or NULL and a number (the CPU; by time, ns since the session's start). */
const char *nt_stage_group(const struct nt_stage_result *result, const struct nt_stage_whole *whole, uint64_t *number);
/* Whether an owner has too few samples. */
bool nt_stage_any_short(const struct nt_stage_result *result);

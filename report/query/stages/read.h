/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * read.h - reads the time of a part of a session and its stack samples from the database, ready to be split (split.h).
 * One scan of cpu_slice and stack_sample. Prints nothing.
 *
 * Functions give 0, or -1 and a sentence in db->error.
 */
#pragma once

#include "report/query/cpus/read.h"
#include "report/query/latency/scan.h"
#include "report/query/stages/choice.h"
#include "report/query/stages/split.h"

/* The kind of a sample: time is split into these. In the order of these columns. */
struct nt_stage_category {
	char *stage, *family; /* "no_stack": there are no frames of the kernel's; "": not told */
	int64_t stack_id, user_stack_id; /* -1: none, or not asked for */
};

/* An owner's time on a CPU, of all or of one group. */
struct nt_stage_series {
	unsigned int owner; /* enum nt_owner */
	uint32_t cpu;
	uint32_t group; /* number of a label; 0: all, and what is not told apart */
};

struct nt_stage_data {
	struct nt_split split;
	struct nt_stage_series *series; /* as many as the split has */
	size_t n_series, series_size;
	struct nt_stage_category *categories;
	size_t n_categories, categories_size;
	struct nt_labels groups; /* by process, by cgroup: their labels */
	/* Buckets are those of the views, counted from the session's start; the split counts them from the part's
	 * first. */
	uint64_t first_bucket;
	uint32_t n_buckets;
};

/* `by_stack`: categories are single stacks, else stages. To be released also on failure. */
int nt_stage_read(const struct nt_part *part, const struct nt_stage_choice *choice, bool by_stack,
		  struct nt_stage_data *data);
/*
 * The same in steps: the work before the scan; the scan; the work after it, which gets the scan's result. A caller that
 * makes one scan for more than this takes its readers into that. To be freed also on failure; safe on NULL.
 */
struct nt_stage_reading;
#define NT_STAGE_READERS 2
int nt_stage_reading_begin(struct nt_stage_reading **out, const struct nt_part *part,
			   const struct nt_stage_choice *choice, bool by_stack, struct nt_stage_data *data);
int nt_stage_reading_scan(struct nt_stage_reading *reading);
/* The same of all of a session without groups, whose sums are of 100 ms: the time is that of cpu_cost. On a tape, all
 * small tables (db/tape_source.h) come out of the scan. */
int nt_stage_reading_scan_sums(struct nt_stage_reading *reading);
void nt_stage_readers(struct nt_stage_reading *reading, struct nt_scan_reader readers[NT_STAGE_READERS]);
int nt_stage_reading_end(struct nt_stage_reading *reading, int error);
void nt_stage_reading_free(struct nt_stage_reading *reading);
void nt_stage_data_release(struct nt_stage_data *data);
/* Says what an error of nt_split_each means: the sentence is put into db->error. Gives -1. */
int nt_stage_fail(const struct nt_part *part, int error);

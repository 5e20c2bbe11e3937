/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * frames.h - the stacks of a session from the database, function by function: for flame graphs, and for all stages that
 * a stack passes through. Memory: 4 bytes a frame of each distinct stack, which has NT_STACK_MAX_FRAMES at most, and
 * the names. Prints nothing.
 */
#pragma once

#include "report/db/db.h"
#include "report/symbols/stages.h"
#include "report/util/id_map.h"
#include "report/util/texts.h"

struct nt_frames {
	struct nt_texts names; /* of functions: valid UTF-8, as the database has them */
	struct nt_frames_function {
		uint32_t name;
		struct nt_stage_function rules; /* a program's function has none, whatever its name */
	} * functions; /* by number, one a symbol; 0 is what is not known */
	size_t n_functions, functions_size;
	uint32_t *numbers; /* all stacks, one behind the other, each from the innermost function on */
	size_t n_numbers, numbers_size;
	struct nt_id_map by_symbol; /* number of its function */
	struct nt_frames_part {
		size_t begin, n; /* in numbers */
	} * stacks; /* in the order in which they stand in the table */
	size_t n_stacks, stacks_size;
	struct nt_id_map by_stack;
	struct nt_stage_rules *stages;
};

/* A stack's functions, the innermost first. */
struct nt_frames_stack {
	const uint32_t *numbers;
	size_t n;
};

/* 0, or -1 and a sentence in db->error. To be released in either case. */
int nt_frames_read(struct nt_db *db, int64_t session_id, struct nt_frames *frames);
void nt_frames_release(struct nt_frames *frames);
/* Of one that is not known: no frames. */
struct nt_frames_stack nt_frames_of(struct nt_frames *frames, int64_t stack_id);
/* 1 << stage for all stages that it passes through. */
uint64_t nt_frames_stages(struct nt_frames *frames, int64_t stack_id);
const char *nt_frames_name(const struct nt_frames *frames, uint32_t number);

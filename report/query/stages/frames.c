// SPDX-License-Identifier: GPL-2.0-only
/*
 * frames.c - see frames.h.
 */
#include "report/query/stages/frames.h"

#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"
#include "schema/event.h"

void nt_frames_release(struct nt_frames *frames)
{
	nt_texts_release(&frames->names);
	free(frames->functions);
	free(frames->numbers);
	free(frames->stacks);
	nt_id_map_release(&frames->by_symbol);
	nt_id_map_release(&frames->by_stack);
	nt_stage_rules_free(frames->stages);
}

/* ---- names ---- */

/* -1: out of memory. */
static int add_function(struct nt_frames *frames, const char *name, bool is_kernel)
{
	bool is_new;
	uint32_t number = nt_texts_number(&frames->names, name, &is_new);
	struct nt_frames_function *function;

	if (!number || NT_ROOM(frames->functions, frames->functions_size, frames->n_functions + 1))
		return -1;
	function = &frames->functions[frames->n_functions++];
	*function = (struct nt_frames_function){.name = number};
	if (is_kernel)
		function->rules = nt_stage_function(frames->stages, name);
	return 0;
}

static int read_symbols(struct nt_db *db, int64_t session_id, struct nt_frames *frames)
{
	sqlite3_stmt *row = nt_db_query(db, "SELECT id, kind, name FROM symbol WHERE session_id = ?1", session_id);
	int error = 0;

	while (!error && nt_db_next(row)) {
		const uint64_t symbol = (uint64_t)sqlite3_column_int64(row, 0);

		if (nt_id_map_set(&frames->by_symbol, symbol, frames->n_functions) ||
		    add_function(frames, nt_db_text(row, 2), !strcmp(nt_db_text(row, 1), "kernel")))
			error = nt_db_no_memory(db);
	}
	return nt_db_end(db, row, "the symbols cannot be read") ? -1 : error;
}

/* ---- stacks ---- */

/*
 * Frames of a stack stand together in the table, as they were put in; of one that is torn apart the first part counts.
 * A recording has no stack of more than NT_STACK_MAX_FRAMES: in a hostile database the rest would make a picture
 * without an end.
 */
static int add_frame(struct nt_frames *frames, uint64_t stack, uint64_t symbol)
{
	int64_t i = NT_INDEX(&frames->by_stack, stack, frames->stacks, frames->stacks_size, frames->n_stacks,
			     {.begin = frames->n_numbers});

	if (i < 0)
		return -1;
	if ((size_t)i + 1 < frames->n_stacks || frames->stacks[i].n >= NT_STACK_MAX_FRAMES)
		return 0;
	if (NT_ROOM(frames->numbers, frames->numbers_size, frames->n_numbers + 1))
		return -1;
	frames->numbers[frames->n_numbers++] = (uint32_t)nt_id_map_get(&frames->by_symbol, symbol);
	frames->stacks[i].n++;
	return 0;
}

static int read_frames(struct nt_db *db, int64_t session_id, struct nt_frames *frames)
{
	sqlite3_stmt *row = nt_db_query(
		db, "SELECT stack_id, coalesce(symbol_id, 0) FROM frame WHERE session_id = ?1 ORDER BY rowid",
		session_id);
	int error = 0;

	while (!error && nt_db_next(row)) {
		if (add_frame(frames, (uint64_t)sqlite3_column_int64(row, 0), (uint64_t)sqlite3_column_int64(row, 1)))
			error = nt_db_no_memory(db);
	}
	return nt_db_end(db, row, "the stacks cannot be read") ? -1 : error;
}

int nt_frames_read(struct nt_db *db, int64_t session_id, struct nt_frames *frames)
{
	*frames = (struct nt_frames){.stages = nt_stage_rules_new()};
	if (!frames->stages || add_function(frames, "[unknown]", false))
		return nt_db_no_memory(db);
	return read_symbols(db, session_id, frames) || read_frames(db, session_id, frames) ? -1 : 0;
}

struct nt_frames_stack nt_frames_of(struct nt_frames *frames, int64_t stack_id)
{
	uint64_t number = nt_id_map_get(&frames->by_stack, (uint64_t)stack_id);

	if (!number)
		return (struct nt_frames_stack){0};
	return (struct nt_frames_stack){&frames->numbers[frames->stacks[number - 1].begin],
					frames->stacks[number - 1].n};
}

uint64_t nt_frames_stages(struct nt_frames *frames, int64_t stack_id)
{
	struct nt_frames_stack stack = nt_frames_of(frames, stack_id);
	struct nt_stage_walk walk;

	nt_stage_walk_begin(&walk, frames->stages);
	for (size_t i = 0; i < stack.n && nt_stage_walk_on(&walk, &frames->functions[stack.numbers[i]].rules); i++)
		continue;
	nt_stage_walk_end(&walk);
	return walk.stages;
}

const char *nt_frames_name(const struct nt_frames *frames, uint32_t number)
{
	return nt_texts_text(&frames->names, frames->functions[number].name);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * frames.c - see frames.h. Functions of one name are one, whatever the place in them; but a program's is none of the
 * kernel's, whatever its name.
 */
#include "report/query/stages/frames.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/event.h"

static int no_memory(struct nt_db *db)
{
	snprintf(db->error, sizeof(db->error), "out of memory.");
	return -1;
}

static void keep_node(void *node)
{
	free(node);
}

void nt_frames_release(struct nt_frames *frames)
{
	tdestroy(frames->by_name, keep_node);
	nt_arena_release(&frames->arena);
	free(frames->names);
	free(frames->rules);
	free(frames->numbers);
	nt_id_map_release(&frames->by_symbol);
	nt_id_map_release(&frames->begins);
	nt_id_map_release(&frames->sizes);
	nt_stage_rules_free(frames->stages);
}

/* ---- names ---- */

struct named {
	const char *name;
	bool is_kernel;
	uint32_t number;
};

static int compare_names(const void *a, const void *b)
{
	const struct named *one = a, *other = b;

	return one->is_kernel != other->is_kernel ? one->is_kernel - other->is_kernel : strcmp(one->name, other->name);
}

static int make_room(struct nt_frames *frames)
{
	size_t size = frames->names_size ? 2 * frames->names_size : 512;
	const char **names;
	struct nt_stage_function *rules;

	if (frames->n_names < frames->names_size)
		return 0;
	names = reallocarray(frames->names, size, sizeof(*names));
	if (names)
		frames->names = names;
	rules = reallocarray(frames->rules, size, sizeof(*rules));
	if (rules)
		frames->rules = rules;
	if (!names || !rules)
		return -1;
	frames->names_size = size;
	return 0;
}

/* Copies the name into the arena. */
static const char *keep_name(struct nt_frames *frames, const char *name)
{
	size_t size = strlen(name) + 1;
	char *copy = nt_arena_get(&frames->arena, size);

	if (copy)
		memcpy(copy, name, size);
	return copy;
}

/* The number of a function, new or known. -1: out of memory. */
static int64_t number_of(struct nt_frames *frames, const char *name, bool is_kernel)
{
	struct named *named = malloc(sizeof(*named)), **found;

	if (!named || make_room(frames)) {
		free(named);
		return -1;
	}
	*named = (struct named){name, is_kernel, (uint32_t)frames->n_names};
	found = tsearch(named, &frames->by_name, compare_names);
	if (found && *found != named) {
		free(named);
		return (*found)->number;
	}
	if (!found) {
		free(named);
		return -1;
	}
	named->name = keep_name(frames, name);
	if (!named->name) {
		named->name = "";
		return -1;
	}
	frames->names[frames->n_names] = named->name;
	frames->rules[frames->n_names] = (struct nt_stage_function){0};
	if (is_kernel)
		frames->rules[frames->n_names] = nt_stage_function(frames->stages, name);
	return (int64_t)frames->n_names++;
}

static int read_symbols(struct nt_db *db, int64_t session_id, struct nt_frames *frames)
{
	sqlite3_stmt *row = nt_db_prepare(db, "SELECT id, kind, name FROM symbol WHERE session_id = ?1", NULL);
	int step = SQLITE_DONE, error = 0;

	if (!row)
		return -1;
	sqlite3_bind_int64(row, 1, session_id);
	while (!error && (step = sqlite3_step(row)) == SQLITE_ROW) {
		bool is_kernel = !strcmp(nt_db_text(row, 1), "kernel");
		int64_t number = number_of(frames, nt_db_text(row, 2), is_kernel);
		uint64_t *value = nt_id_map_at(&frames->by_symbol, (uint64_t)sqlite3_column_int64(row, 0));

		if (number < 0 || !value)
			error = no_memory(db);
		else
			*value = (uint64_t)number + 1;
	}
	if (!error && step != SQLITE_DONE)
		error = nt_db_fail(db, "the symbols cannot be read");
	sqlite3_finalize(row);
	return error;
}

/* ---- stacks ---- */

static int add_number(struct nt_frames *frames, uint32_t number)
{
	if (frames->n_numbers == frames->numbers_size) {
		size_t size = frames->numbers_size ? 2 * frames->numbers_size : 4096;
		uint32_t *larger = reallocarray(frames->numbers, size, sizeof(*larger));

		if (!larger)
			return -1;
		frames->numbers = larger;
		frames->numbers_size = size;
	}
	frames->numbers[frames->n_numbers++] = number;
	return 0;
}

/*
 * Frames of a stack stand together in the table, as they were put in; of one that is torn apart the first part counts.
 * A recording has no stack of more than NT_STACK_MAX_FRAMES: in a hostile database the rest would make a picture
 * without an end.
 */
static int add_frame(struct nt_frames *frames, uint64_t stack, uint64_t symbol, uint64_t *last)
{
	uint64_t *begin = nt_id_map_at(&frames->begins, stack), *size;

	if (!begin)
		return -1;
	if (*begin && stack != *last)
		return 0;
	if (!*begin)
		*begin = frames->n_numbers + 1;
	*last = stack;
	size = nt_id_map_at(&frames->sizes, stack);
	if (size && *size >= NT_STACK_MAX_FRAMES)
		return 0;
	if (!size || add_number(frames, (uint32_t)nt_id_map_get(&frames->by_symbol, symbol)))
		return -1;
	++*size;
	return 0;
}

static int read_frames(struct nt_db *db, int64_t session_id, struct nt_frames *frames)
{
	sqlite3_stmt *row = nt_db_prepare(
		db, "SELECT stack_id, coalesce(symbol_id, 0) FROM frame WHERE session_id = ?1 ORDER BY rowid", NULL);
	uint64_t last = 0;
	int step = SQLITE_DONE, error = 0;

	if (!row)
		return -1;
	sqlite3_bind_int64(row, 1, session_id);
	while (!error && (step = sqlite3_step(row)) == SQLITE_ROW) {
		if (add_frame(frames, (uint64_t)sqlite3_column_int64(row, 0), (uint64_t)sqlite3_column_int64(row, 1),
			      &last))
			error = no_memory(db);
	}
	if (!error && step != SQLITE_DONE)
		error = nt_db_fail(db, "the stacks cannot be read");
	sqlite3_finalize(row);
	/* In by_symbol numbers are one higher, and what is not there is 0: number 0 is that of an unknown function. */
	for (size_t i = 0; i < frames->n_numbers; i++)
		frames->numbers[i] -= frames->numbers[i] > 0;
	return error;
}

int nt_frames_read(struct nt_db *db, int64_t session_id, struct nt_frames *frames)
{
	*frames = (struct nt_frames){.stages = nt_stage_rules_new()};
	if (!frames->stages || number_of(frames, "[unknown]", false) < 0)
		return no_memory(db);
	return read_symbols(db, session_id, frames) || read_frames(db, session_id, frames) ? -1 : 0;
}

struct nt_frames_stack nt_frames_of(struct nt_frames *frames, int64_t stack_id)
{
	uint64_t begin = nt_id_map_get(&frames->begins, (uint64_t)stack_id);

	if (!begin)
		return (struct nt_frames_stack){0};
	return (struct nt_frames_stack){&frames->numbers[begin - 1], nt_id_map_get(&frames->sizes, (uint64_t)stack_id)};
}

uint64_t nt_frames_stages(struct nt_frames *frames, int64_t stack_id)
{
	struct nt_frames_stack stack = nt_frames_of(frames, stack_id);
	struct nt_stage_walk walk;

	nt_stage_walk_begin(&walk, frames->stages);
	for (size_t i = 0; i < stack.n && nt_stage_walk_on(&walk, &frames->rules[stack.numbers[i]]); i++)
		continue;
	nt_stage_walk_end(&walk);
	return walk.stages;
}

unsigned int nt_frames_stage(const struct nt_frames *frames, uint32_t number)
{
	uint16_t stage = frames->rules[number].stage;

	return stage ? stage - 1u : NT_STAGE_OTHER;
}

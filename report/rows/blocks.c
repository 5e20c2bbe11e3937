// SPDX-License-Identifier: GPL-2.0-only
/*
 * blocks.c - the part of rows.h that makes rows of identity, clock and snapshot blocks.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/rows/proc_snapshot.h"
#include "report/rows/state.h"
#include "report/util/utf8.h"

/* ---- identities as rows ---- */

/* A time of a task's life, if it lies in the recording; else 0. */
static uint64_t within(const struct nt_rows *rows, uint64_t ns)
{
	return ns >= rows->tape->start_ns && ns <= rows->tape->end_ns ? ns : 0;
}

static int push_task(struct nt_rows *rows, const struct nt_task *task)
{
	const char *name = nt_arena_clean(&rows->arena, task->comm, sizeof(task->comm));
	const uint64_t start_ns = within(rows, task->start_ns);
	const uint64_t end_ns = task->why == NT_TASK_EXIT ? within(rows, task->end_ns) : 0;
	const bool is_main = task->process == task->task;
	const struct nt_thread_info thread = {
		.task = task->task,
		.tid = task->tid,
		.known = true,
		.process = task->process,
		.name = name,
		.start_ns = start_ns,
		.end_ns = end_ns,
		.is_kernel = task->flags & NT_TASK_KTHREAD,
	};
	const struct nt_process_info process = {
		.process = task->process,
		.pid = task->pid,
		.parent_pid = task->parent_pid,
		.has_pid = true,
		.name = is_main ? name : NULL,
		.cgroup = task->cgroup,
		.start_ns = is_main ? start_ns : 0,
		.end_ns = is_main ? end_ns : 0,
	};
	int error = nt_rows_push(rows, NT_TABLE_THREAD, &thread);

	/* A process of id 0 is not known: only the idle tasks have that. */
	if (error || !task->process)
		return error;
	if (!is_main) {
		uint64_t *made;

		if (nt_identities_knows_task(&rows->learned->ids, task->process))
			return 0;
		made = nt_id_map_at(&rows->marks.made, task->process);
		if (!made)
			return -ENOMEM;
		if ((*made)++)
			return 0;
	}
	return nt_rows_push(rows, NT_TABLE_PROCESS, &process);
}

/* The frames of a stack that was sampled. */
static int push_frames(struct nt_rows *rows, uint64_t stack)
{
	struct nt_frame_info frame = {.stack = stack};
	int error = 0;

	while (stack && frame.pos < NT_STACK_MAX_FRAMES && !error) {
		stack = nt_identities_unwind(&rows->learned->ids, stack, &frame.symbol);
		error = nt_rows_push(rows, NT_TABLE_FRAME, &frame);
		frame.pos++;
	}
	return error;
}

/* How many frames a stack has. One that has no end, or too many, contradicts itself: it is cut there. */
static uint32_t depth_of(struct nt_rows *rows, uint64_t stack)
{
	uint64_t symbol;
	uint32_t depth = 0;

	for (; stack && depth < NT_STACK_MAX_FRAMES; depth++)
		stack = nt_identities_unwind(&rows->learned->ids, stack, &symbol);
	rows->unfit += stack != 0;
	return depth;
}

static int push_stack(struct nt_rows *rows, const struct nt_stack *stack)
{
	const struct nt_stack_info info = {.stack = stack, .depth = depth_of(rows, stack->stack)};
	int error = nt_rows_push(rows, NT_TABLE_STACK, &info);

	if (error || !nt_identity_marks_is_sampled(&rows->marks, stack->stack))
		return error;
	return push_frames(rows, stack->stack);
}

static int name_function(struct nt_rows *rows, struct nt_symbol_info *info)
{
	const struct nt_user_symbol *symbol = info->user;
	struct nt_user_name name;
	char path[sizeof(symbol->path) + 1];
	int error;

	if (!rows->names || !(rows->want.tables & NT_TABLE_BIT(NT_TABLE_SYMBOL)) ||
	    symbol->flags & NT_USER_SYMBOL_ADDRESS)
		return 0;
	snprintf(path, sizeof(path), "%.*s", (int)sizeof(symbol->path), symbol->path);
	error = nt_user_names_find(rows->names, symbol->build_id, path, symbol->place, &name);
	info->function = name.function;
	info->offset = name.offset;
	return error;
}

static int push_symbol(struct nt_rows *rows, const union nt_any *record)
{
	const bool is_kernel = record->record.kind == NT_SYMBOL;
	struct nt_symbol_info info = {
		.symbol = is_kernel ? record->as_symbol.symbol : record->as_user_symbol.symbol,
		.kernel = is_kernel ? &record->as_symbol : NULL,
		.user = is_kernel ? NULL : &record->as_user_symbol,
	};
	int error = is_kernel ? 0 : name_function(rows, &info);

	return error ? error : nt_rows_push(rows, NT_TABLE_SYMBOL, &info);
}

static int push_cgroup(struct nt_rows *rows, const struct nt_cgroup *cgroup)
{
	struct nt_cgroup_info info = {.record = cgroup};

	info.path = nt_arena_clean(&rows->arena, cgroup->path, sizeof(cgroup->path));
	if (info.path)
		nt_cgroup_describe(&info.words, rows->want.cgroup_names, &rows->arena, info.path);
	return nt_rows_push(rows, NT_TABLE_CGROUP, &info);
}

static int push_identity(void *arg, const union nt_any *record)
{
	struct nt_rows *rows = arg;

	const int is_newest = rows->want.order == NT_ROWS_FOLLOWED
				      ? nt_identities_is_newest(&rows->learned->ids, record)
				      : nt_identities_take_newest(&rows->learned->ids, &rows->marks, record);

	if (is_newest <= 0)
		return is_newest;
	switch (record->record.kind) {
	case NT_TASK:
		return push_task(rows, &record->as_task);
	case NT_SOCKET:
		return nt_rows_push(rows, NT_TABLE_SOCKET, &record->as_socket);
	case NT_CGROUP:
		return push_cgroup(rows, &record->as_cgroup);
	case NT_DEVICE:
		return nt_rows_push(rows, NT_TABLE_NET_DEVICE, &record->as_device);
	case NT_FLOW:
		return nt_rows_push(rows, NT_TABLE_FLOW, &record->as_flow);
	case NT_SYMBOL:
	case NT_USER_SYMBOL:
		return push_symbol(rows, record);
	case NT_STACK:
		return push_stack(rows, &record->as_stack);
	default:
		return 0;
	}
}

static int push_unknown_task(void *arg, uint64_t task, uint64_t value)
{
	struct nt_rows *rows = arg;
	const struct nt_thread_info thread = {.task = task};

	(void)value;
	if (!task || rows->want.names_within || nt_identities_knows_task(&rows->learned->ids, task))
		return 0;
	return nt_rows_push(rows, NT_TABLE_THREAD, &thread);
}

int nt_rows_push_unknown(struct nt_rows *rows)
{
	const struct nt_thread_info idle_thread = {.known = true, .name = "swapper", .is_kernel = true};
	const struct nt_process_info idle = {.has_pid = true, .name = "swapper"};
	int error = nt_rows_push(rows, NT_TABLE_THREAD, &idle_thread);

	if (!error)
		error = nt_rows_push(rows, NT_TABLE_PROCESS, &idle);
	return error ? error : nt_id_map_each(&rows->marks.seen, push_unknown_task, rows);
}

/* ---- snapshots and clocks as rows ---- */

struct snapshot_rows {
	struct nt_rows *rows;
	struct nt_counter_info info;
	bool is_self;
};

static int push_counter(void *arg, const struct nt_counter *counter)
{
	struct snapshot_rows *snapshot = arg;
	struct nt_arena *arena = &snapshot->rows->arena;
	struct nt_counter_info info = snapshot->info;

	info.cpu = counter->cpu;
	info.value = counter->value;
	info.name = nt_arena_clean(arena, counter->name, NT_COUNTER_NAME_MAX);
	if (snapshot->is_self)
		info.source = counter->program ? nt_arena_clean(arena, counter->program, NT_COUNTER_NAME_MAX) : NULL;
	return nt_rows_push(snapshot->rows, snapshot->is_self ? NT_TABLE_SELF_COST : NT_TABLE_PROC_COUNTER, &info);
}

static int push_snapshot(struct nt_rows *rows, const struct nt_proc_snapshot *snapshot)
{
	struct snapshot_rows to = {
		.rows = rows,
		.info = {.begin_ns = snapshot->begin_ns,
			 .end_ns = snapshot->end_ns,
			 .source = nt_arena_clean(&rows->arena, snapshot->name, strlen(snapshot->name))},
		.is_self = nt_proc_snapshot_is_self(snapshot),
	};

	return nt_proc_snapshot_parse(snapshot, push_counter, &to, &rows->bad_lines);
}

int nt_rows_push_block(struct nt_rows *rows, const struct nt_block_ref *block)
{
	struct nt_proc_snapshot snapshot;
	struct nt_clock clock;
	int error;

	switch (block->header.type) {
	case NT_BLOCK_CLOCK:
		error = nt_clock_decode(rows->pass.raw.data, rows->pass.raw.size, &clock);
		if (!error)
			error = nt_rows_push(rows, NT_TABLE_CLOCK_SNAPSHOT, &clock);
		break;
	case NT_BLOCK_PROC_SNAPSHOT:
		error = nt_proc_snapshot_decode(rows->pass.raw.data, rows->pass.raw.size, &snapshot);
		if (!error)
			error = push_snapshot(rows, &snapshot);
		break;
	default:
		error = nt_block_pass_identities(&rows->pass, push_identity, rows);
		/* Damage was noted when the block was read first. */
		return error == -EBADMSG ? 0 : error;
	}
	return error == -EBADMSG ? nt_tape_bad_block(rows->tape, rows->pass.chunk, block->offset) : error;
}

/* The rows of the next block of one of these types. */
static int step_block(struct nt_rows *rows, unsigned int wanted)
{
	const struct nt_block_ref *block;
	int error = nt_block_pass_next(&rows->pass, wanted, &block);

	return error ? error : nt_rows_push_block(rows, block);
}

#define WHO_AND_WHEN (1u << NT_BLOCK_IDENTITIES | 1u << NT_BLOCK_CLOCK)

int nt_rows_step_block(struct nt_rows *rows)
{
	return step_block(rows, WHO_AND_WHEN | 1u << NT_BLOCK_PROC_SNAPSHOT);
}

int nt_rows_step_identities(struct nt_rows *rows)
{
	return step_block(rows, WHO_AND_WHEN);
}

int nt_rows_step_proc_snapshots(struct nt_rows *rows)
{
	return step_block(rows, 1u << NT_BLOCK_PROC_SNAPSHOT);
}

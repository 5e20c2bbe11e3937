// SPDX-License-Identifier: GPL-2.0-only
/*
 * stacks.c - stack samples (PerfSample). A stack is written with its first sample, from the outermost frame on: user
 * frames, if recorded, and above them the kernel's.
 */
#include <stdio.h>
#include <string.h>

#include "report/export/perfetto/state.h"
#include "schema/event.h"

/* So many stacks are told before all is told anew: what is kept here is bounded, and what the reader of a trace keeps.
 */
#define MAX_TOLD 65536

enum { MODE_KERNEL = 1, MODE_USER = 2 };

/* ---- what stacks are made of ---- */

/* The holder of the code: the file; or the module, or the kernel. Perfetto puts a slash before it. */
static const char *holder_of(const struct nt_value *path, const struct nt_value *module, const struct nt_value *kind)
{
	const char *text = nt_text(path, NULL);

	if (text)
		return *text == '/' ? text + 1 : text;
	return nt_text(module, strcmp(nt_text(kind, ""), "kernel") ? "[unknown]" : "[kernel]");
}

static int take_symbol(struct nt_perfetto *trace, const struct nt_value *const *values)
{
	enum { ID, NAME, MODULE, PATH, KIND };
	struct nt_stacks *stacks = &trace->stacks;
	const int64_t id = nt_integer(values[ID], 0);

	if (nt_labels_set(&stacks->functions, id, nt_text(values[NAME], "[unknown]")) ||
	    nt_labels_set(&stacks->modules, id, holder_of(values[PATH], values[MODULE], values[KIND])))
		return nt_perfetto_nomem(trace);
	return 0;
}

static int take_stack(struct nt_perfetto *trace, const struct nt_value *const *values)
{
	enum { ID, PARENT, SYMBOL };
	struct nt_stacks *stacks = &trace->stacks;
	const uint64_t id = (uint64_t)nt_integer(values[ID], 0);
	const int64_t symbol_id = nt_integer(values[SYMBOL], 0); /* negative: no tape has such, it is taken for none */

	if (nt_id_map_set(&stacks->parents, id, (uint64_t)nt_integer(values[PARENT], 0)) ||
	    nt_id_map_set(&stacks->symbols, id, symbol_id < 0 ? 1 : (uint64_t)symbol_id + 1))
		return nt_perfetto_nomem(trace);
	return 0;
}

/* ---- telling them ---- */

/* A text under its number. */
static void intern_text(struct nt_proto *interned, enum nt_interned_field field, uint64_t iid, const char *text)
{
	const size_t entry = nt_proto_begin(interned, field);

	nt_proto_uint(interned, NT_INTERNED_IID, iid);
	nt_proto_text(interned, NT_INTERNED_VALUE, text);
	nt_proto_end(interned, entry);
}

/* The number of what holds the function, which Perfetto calls a mapping; 0: out of memory. */
static uint32_t module_of(struct nt_stacks *stacks, const char *name)
{
	bool is_new;
	const uint32_t number = nt_texts_number(&stacks->module_numbers, name, &is_new);
	size_t entry;

	if (!number || !is_new)
		return number;
	intern_text(&stacks->interned, NT_INTERNED_MAPPING_PATHS, number, name);
	entry = nt_proto_begin(&stacks->interned, NT_INTERNED_MAPPINGS);
	nt_proto_uint(&stacks->interned, NT_INTERNED_IID, number);
	nt_proto_uint(&stacks->interned, NT_MAPPING_PATH_IIDS, number);
	nt_proto_end(&stacks->interned, entry);
	return number;
}

/*
 * The number of a frame, and of its function's name, goes by its symbol: the symbol's id + 1, or 0 where a stack's
 * caller is not on the tape. 0: out of memory.
 */
static uint64_t frame_of(struct nt_stacks *stacks, uint64_t symbol)
{
	const char *function = nt_labels_of(&stacks->functions, (int64_t)(symbol - 1));
	const char *module = nt_labels_of(&stacks->modules, (int64_t)(symbol - 1));
	uint64_t *told = nt_id_map_at(&stacks->told, symbol);
	size_t entry;

	if (!told || *told)
		return told ? symbol + 1 : 0;
	*told = module_of(stacks, module ? module : "[unknown]");
	if (!*told)
		return 0;
	intern_text(&stacks->interned, NT_INTERNED_FUNCTION_NAMES, symbol + 1, function ? function : "[unknown]");
	entry = nt_proto_begin(&stacks->interned, NT_INTERNED_FRAMES);
	nt_proto_uint(&stacks->interned, NT_INTERNED_IID, symbol + 1);
	nt_proto_uint(&stacks->interned, NT_FRAME_FUNCTION_NAME_IID, symbol + 1);
	nt_proto_uint(&stacks->interned, NT_FRAME_MAPPING_IID, *told);
	nt_proto_end(&stacks->interned, entry);
	return symbol + 1;
}

/* Whether the frames of a stack are on the tape: they may have been lost. */
static bool is_known(struct nt_stacks *stacks, uint64_t stack)
{
	return stack && nt_id_map_get(&stacks->symbols, stack);
}

/* Adds the frames of a stack to the *n there are, innermost first. A stack without an end is cut. False: out of memory.
 */
static bool unwind(struct nt_stacks *stacks, uint64_t stack, uint64_t *frames, size_t *n)
{
	const size_t most = *n + NT_STACK_MAX_FRAMES;

	for (; stack && *n < most; stack = nt_id_map_get(&stacks->parents, stack)) {
		frames[*n] = frame_of(stacks, nt_id_map_get(&stacks->symbols, stack));
		if (!frames[(*n)++])
			return false;
	}
	return true;
}

/* False: out of memory. */
static bool tell_stack(struct nt_stacks *stacks, uint32_t number, uint64_t kernel, uint64_t user)
{
	uint64_t frames[2 * NT_STACK_MAX_FRAMES];
	size_t n = 0, entry;

	if (!unwind(stacks, kernel, frames, &n) || !unwind(stacks, user, frames, &n))
		return false;
	entry = nt_proto_begin(&stacks->interned, NT_INTERNED_CALLSTACKS);
	nt_proto_uint(&stacks->interned, NT_INTERNED_IID, number);
	while (n)
		nt_proto_uint(&stacks->interned, NT_CALLSTACK_FRAME_IIDS, frames[--n]);
	nt_proto_end(&stacks->interned, entry);
	return true;
}

/* From the next packet on numbers mean nothing that was told before. */
static void begin_anew(struct nt_stacks *stacks)
{
	nt_texts_reset(&stacks->numbers);
	nt_texts_reset(&stacks->module_numbers);
	nt_id_map_release(&stacks->told);
	stacks->has_begun = false;
}

/* The number of these two stacks as one. 0: out of memory. */
static uint32_t number_of(struct nt_stacks *stacks, uint64_t kernel, uint64_t user)
{
	uint32_t number;
	char pair[48];
	bool is_new;

	if (stacks->numbers.n >= MAX_TOLD)
		begin_anew(stacks);
	snprintf(pair, sizeof(pair), "%llx %llx", (unsigned long long)kernel, (unsigned long long)user);
	number = nt_texts_number(&stacks->numbers, pair, &is_new);
	return number && is_new && !tell_stack(stacks, number, kernel, user) ? 0 : number;
}

static void put_interned(struct nt_proto *proto, struct nt_proto *interned)
{
	if (interned->size) {
		const size_t message = nt_proto_begin(proto, NT_PACKET_INTERNED_DATA);

		nt_proto_append(proto, interned);
		nt_proto_end(proto, message);
	}
	proto->failed |= interned->failed;
	nt_proto_reset(interned);
}

static void write_sample(struct nt_perfetto *trace, int64_t ts, int64_t cpu, const struct nt_perfetto_thread *thread,
			 uint32_t stack, bool in_user)
{
	struct nt_stacks *stacks = &trace->stacks;
	size_t packet, sample;
	struct nt_proto *proto = nt_packets_begin(&trace->packets, &packet);

	nt_proto_uint(proto, NT_PACKET_TIMESTAMP, (uint64_t)ts);
	nt_proto_uint(proto, NT_PACKET_TIMESTAMP_CLOCK_ID, NT_CLOCK_MONOTONIC);
	nt_proto_uint(proto, NT_PACKET_SEQUENCE_ID, NT_SEQUENCE_STACKS);
	nt_proto_uint(proto, NT_PACKET_SEQUENCE_FLAGS,
		      NT_SEQUENCE_NEEDS_STATE | (stacks->has_begun ? 0 : NT_SEQUENCE_CLEARED));
	stacks->has_begun = true;
	put_interned(proto, &stacks->interned);
	sample = nt_proto_begin(proto, NT_PACKET_PERF_SAMPLE);
	nt_proto_uint(proto, NT_SAMPLE_CPU, (uint64_t)cpu);
	nt_proto_uint(proto, NT_SAMPLE_PID, thread->tgid);
	nt_proto_uint(proto, NT_SAMPLE_TID, thread->tid);
	if (stack)
		nt_proto_uint(proto, NT_SAMPLE_CALLSTACK_IID, stack);
	nt_proto_uint(proto, NT_SAMPLE_MODE, in_user ? MODE_USER : MODE_KERNEL);
	nt_proto_end(proto, sample);
	nt_packets_end(&trace->packets, packet);
}

static int take_sample(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, UTID, STACK, USER_STACK, IN_USER };
	const int64_t ts = nt_integer(values[TS], -1);
	const uint64_t kernel = (uint64_t)nt_integer(values[STACK], 0),
		       user = (uint64_t)nt_integer(values[USER_STACK], 0);
	const struct nt_perfetto_thread *thread;
	uint32_t number = 0; /* none */

	if (!nt_perfetto_has(trace, ts) || !nt_is_there(values[UTID]) || (!kernel && !user))
		return 0;
	thread = nt_thread_of(trace, nt_integer(values[UTID], 0));
	if (!thread)
		return -1;
	if (!thread->is_selected && trace->selection->process)
		return 0;
	if (is_known(&trace->stacks, kernel) || is_known(&trace->stacks, user)) {
		number = number_of(&trace->stacks, kernel, user);
		if (!number)
			return nt_perfetto_nomem(trace);
	}
	write_sample(trace, ts, cpu->number, thread, number, nt_integer(values[IN_USER], 0) != 0);
	return 0;
}

void nt_stacks_release(struct nt_stacks *stacks)
{
	nt_labels_release(&stacks->functions);
	nt_labels_release(&stacks->modules);
	nt_id_map_release(&stacks->parents);
	nt_id_map_release(&stacks->symbols);
	nt_id_map_release(&stacks->told);
	nt_texts_release(&stacks->module_numbers);
	nt_texts_release(&stacks->numbers);
	nt_proto_release(&stacks->interned);
}

const struct nt_perfetto_reader nt_stacks_name_readers[] = {
	{"symbol", {"id", "name", "module", "path", "kind"}, .take = take_symbol},
	{"stack", {"id", "parent_id", "symbol_id"}, .take = take_stack},
	{0},
};

const struct nt_perfetto_reader nt_stacks_readers[] = {
	{"stack_sample", {"ts", "utid", "stack_id", "user_stack_id", "in_user"}, .take_of_cpu = take_sample},
	{0},
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * bundle.c - bundles of ftrace events, Perfetto's form of the kernel's own tracing: single events, and switches and
 * wakings as columns of numbers (CompactSched). There each time counts from the one before it, and names have numbers
 * of the bundle's own.
 *
 * All times in bundles are CLOCK_BOOTTIME (head.c).
 */
#include "report/export/perfetto/state.h"
#include "report/util/array.h"

/* A bundle is written when it has so much. */
#define MAX_EVENT_BYTES 65536
#define MAX_COMPACT 8192

enum { SWITCH_TS, SWITCH_STATE, SWITCH_PID, SWITCH_PRIO, SWITCH_NAME };
enum { WAKING_TS, WAKING_PID, WAKING_CPU, WAKING_PRIO, WAKING_NAME, WAKING_FLAGS };

size_t nt_bundle_begin(struct nt_perfetto *trace, uint32_t cpu, size_t *packet)
{
	struct nt_proto *proto = nt_packets_begin(&trace->packets, packet);
	size_t bundle;

	nt_proto_uint(proto, NT_PACKET_SEQUENCE_ID, NT_SEQUENCE_BUNDLES);
	bundle = nt_proto_begin(proto, NT_PACKET_FTRACE_EVENTS);
	nt_proto_uint(proto, NT_BUNDLE_CPU, cpu);
	return bundle;
}

void nt_bundle_end(struct nt_perfetto *trace, size_t packet, size_t bundle)
{
	nt_proto_end(&trace->packets.batch, bundle);
	nt_packets_end(&trace->packets, packet);
}

static void put_packed(struct nt_proto *proto, uint32_t field, struct nt_proto *numbers)
{
	if (numbers->size)
		nt_proto_bytes(proto, field, numbers->data, numbers->size);
	proto->failed |= numbers->failed;
	nt_proto_reset(numbers);
}

static void put_compact(struct nt_proto *proto, struct nt_bundle *bundle)
{
	static const uint32_t switch_fields[] = {NT_COMPACT_SWITCH_TIMESTAMP, NT_COMPACT_SWITCH_PREV_STATE,
						 NT_COMPACT_SWITCH_NEXT_PID, NT_COMPACT_SWITCH_NEXT_PRIO,
						 NT_COMPACT_SWITCH_NEXT_COMM};
	static const uint32_t waking_fields[] = {NT_COMPACT_WAKING_TIMESTAMP,  NT_COMPACT_WAKING_PID,
						 NT_COMPACT_WAKING_TARGET_CPU, NT_COMPACT_WAKING_PRIO,
						 NT_COMPACT_WAKING_COMM,       NT_COMPACT_WAKING_FLAGS};
	const size_t compact = nt_proto_begin(proto, NT_BUNDLE_COMPACT_SCHED);

	for (size_t i = 0; i < NT_COUNT(switch_fields); i++)
		put_packed(proto, switch_fields[i], &bundle->switches[i]);
	for (size_t i = 0; i < NT_COUNT(waking_fields); i++)
		put_packed(proto, waking_fields[i], &bundle->wakings[i]);
	/* The table's entries are written as they come, each under its tag. */
	nt_proto_append(proto, &bundle->name_table);
	nt_proto_end(proto, compact);
}

void nt_bundle_write(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu)
{
	struct nt_bundle *bundle = &cpu->sched.bundle;
	struct nt_proto *proto = &trace->packets.batch;
	size_t packet, message;

	if (!bundle->n && !bundle->events.size && !bundle->has_lost)
		return;
	message = nt_bundle_begin(trace, cpu->number, &packet);
	if (bundle->has_lost)
		nt_proto_uint(proto, NT_BUNDLE_LOST_EVENTS, 1);
	if (bundle->n)
		put_compact(proto, bundle);
	nt_proto_append(proto, &bundle->events);
	nt_bundle_end(trace, packet, message);
	nt_proto_reset(&bundle->events);
	nt_proto_reset(&bundle->name_table);
	nt_texts_reset(&bundle->names);
	bundle->n = 0;
	bundle->switch_ns = bundle->waking_ns = 0;
	bundle->has_lost = false;
}

void nt_bundle_write_if_full(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu)
{
	if (cpu->sched.bundle.n >= MAX_COMPACT || cpu->sched.bundle.events.size >= MAX_EVENT_BYTES)
		nt_bundle_write(trace, cpu);
}

void nt_ftrace_begin(struct nt_perfetto *trace, struct nt_proto *proto, int64_t ts, uint32_t tid, uint32_t field,
		     size_t marks[2])
{
	marks[0] = nt_proto_begin(proto, NT_BUNDLE_EVENT);
	nt_proto_uint(proto, NT_FTRACE_TIMESTAMP, (uint64_t)(ts + trace->boot_ns));
	nt_proto_uint(proto, NT_FTRACE_PID, tid);
	marks[1] = nt_proto_begin(proto, field);
}

void nt_ftrace_end(struct nt_proto *proto, const size_t marks[2])
{
	nt_proto_end(proto, marks[1]);
	nt_proto_end(proto, marks[0]);
}

/* ---- columns ---- */

/* The index of a thread's name in the bundle's table. */
static uint32_t name_of(struct nt_perfetto *trace, struct nt_bundle *bundle, const char *name)
{
	bool is_new;
	const uint32_t number = nt_texts_number(&bundle->names, name, &is_new);

	if (!number) {
		trace->packets.failed = true;
		return 0;
	}
	if (is_new)
		nt_proto_text(&bundle->name_table, NT_COMPACT_INTERN_TABLE, name);
	return number - 1;
}

void nt_bundle_switch(struct nt_perfetto *trace, struct nt_bundle *bundle, int64_t ts, uint32_t state,
		      const struct nt_ftrace_task *next)
{
	const int64_t at = ts + trace->boot_ns;

	nt_proto_varint(&bundle->switches[SWITCH_TS], (uint64_t)(at - bundle->switch_ns));
	nt_proto_varint(&bundle->switches[SWITCH_STATE], state);
	nt_proto_varint(&bundle->switches[SWITCH_PID], next->tid);
	nt_proto_varint(&bundle->switches[SWITCH_PRIO], next->priority);
	nt_proto_varint(&bundle->switches[SWITCH_NAME], name_of(trace, bundle, next->name));
	bundle->switch_ns = at;
	bundle->n++;
}

void nt_bundle_waking(struct nt_perfetto *trace, struct nt_bundle *bundle, int64_t ts,
		      const struct nt_ftrace_task *task, uint32_t target, uint32_t flags)
{
	const int64_t at = ts + trace->boot_ns;

	nt_proto_varint(&bundle->wakings[WAKING_TS], (uint64_t)(at - bundle->waking_ns));
	nt_proto_varint(&bundle->wakings[WAKING_PID], task->tid);
	nt_proto_varint(&bundle->wakings[WAKING_CPU], target);
	nt_proto_varint(&bundle->wakings[WAKING_PRIO], task->priority);
	nt_proto_varint(&bundle->wakings[WAKING_NAME], name_of(trace, bundle, task->name));
	nt_proto_varint(&bundle->wakings[WAKING_FLAGS], flags);
	bundle->waking_ns = at;
	bundle->n++;
}

void nt_bundle_release(struct nt_bundle *bundle)
{
	nt_proto_release(&bundle->events);
	nt_proto_release(&bundle->name_table);
	for (size_t i = 0; i < NT_COUNT(bundle->switches); i++)
		nt_proto_release(&bundle->switches[i]);
	for (size_t i = 0; i < NT_COUNT(bundle->wakings); i++)
		nt_proto_release(&bundle->wakings[i]);
	nt_texts_release(&bundle->names);
}

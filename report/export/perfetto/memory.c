// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.c - what memory processes have, as the counters by which Perfetto itself shows it (mem.rss.anon), and page
 * faults, on the tracks of their threads; and memory that the kernel took, there or on the CPU's.
 */
#include <string.h>

#include "report/export/perfetto/state.h"

/* The field of a kind; 0: Perfetto has none. */
static uint32_t field_of(const char *kind)
{
	static const struct {
		const char *kind;
		enum nt_process_stats_process_field field;
	} fields[] = {
		{"anon", NT_PROCESS_STATS_RSS_ANON_KB},
		{"file", NT_PROCESS_STATS_RSS_FILE_KB},
		{"shmem", NT_PROCESS_STATS_RSS_SHMEM_KB},
		{"swap", NT_PROCESS_STATS_SWAP_KB},
	};

	for (size_t i = 0; i < NT_COUNT(fields); i++)
		if (!strcmp(kind, fields[i].kind))
			return fields[i].field;
	return 0;
}

static void write_memory(struct nt_perfetto *trace, int64_t ts, int64_t pid, uint32_t field, int64_t bytes)
{
	size_t packet, stats, process;
	struct nt_proto *proto = nt_packets_begin(&trace->packets, &packet);

	nt_proto_uint(proto, NT_PACKET_SEQUENCE_ID, NT_SEQUENCE_MEMORY);
	nt_proto_uint(proto, NT_PACKET_TIMESTAMP, (uint64_t)ts);
	nt_proto_uint(proto, NT_PACKET_TIMESTAMP_CLOCK_ID, NT_CLOCK_MONOTONIC);
	stats = nt_proto_begin(proto, NT_PACKET_PROCESS_STATS);
	process = nt_proto_begin(proto, NT_PROCESS_STATS_PROCESSES);
	nt_proto_uint(proto, NT_PROCESS_STATS_PID, (uint64_t)pid);
	nt_proto_uint(proto, field, (uint64_t)bytes / 1024);
	nt_proto_end(proto, process);
	nt_proto_end(proto, stats);
	nt_packets_end(&trace->packets, packet);
}

static int take_memory(struct nt_perfetto *trace, const struct nt_value *const *values)
{
	enum { TS, UPID, KIND, BYTES };
	const int64_t ts = nt_integer(values[TS], -1), bytes = nt_integer(values[BYTES], -1);
	const uint32_t field = field_of(nt_text(values[KIND], ""));
	const struct nt_perfetto_process *process;

	if (!nt_is_there(values[UPID]) || !field || bytes < 0 || !nt_perfetto_has(trace, ts))
		return 0;
	process = nt_process_of(trace, nt_integer(values[UPID], 0));
	if (process && process->pid > 0 && process->pid < NT_TID_UNCOVERED &&
	    (!trace->selection->process || process->is_selected))
		write_memory(trace, ts, process->pid, field, bytes);
	return 0;
}

/* They were taken at any time of the thread's stay on the CPU: they are told at its end. */
static int take_faults(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, DUR, UTID, MINOR, MAJOR };
	const int64_t ts = nt_integer(values[TS], -1) + nt_integer(values[DUR], 0);
	struct nt_perfetto_thread *thread;
	struct nt_event event;

	if (nt_thread_if(trace, values[UTID], &thread))
		return -1;
	if (!thread || (trace->selection->process && !thread->is_selected) || !nt_perfetto_has(trace, ts))
		return 0;
	nt_event_begin(&event, &trace->packets, &cpu->events, ts, NT_EVENT_INSTANT, nt_thread_track(trace, thread));
	nt_event_name(&event, "page faults");
	nt_event_put_integer(&event, "minor", values[MINOR]);
	nt_event_put_integer(&event, "major", values[MAJOR]);
	nt_event_end(&event);
	return 0;
}

static int take_kmem(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, KIND, CONTEXT, VEC, UTID, LOCATION, BYTES, WEIGHT, FAILED };
	const int64_t ts = nt_integer(values[TS], -1);
	struct nt_perfetto_thread *thread;
	struct nt_event event;

	if (nt_thread_if(trace, values[UTID], &thread))
		return -1;
	if ((trace->selection->process && !(thread && thread->is_selected)) || !nt_perfetto_has(trace, ts))
		return 0;
	nt_event_begin(&event, &trace->packets, &cpu->events, ts, NT_EVENT_INSTANT,
		       thread ? nt_thread_track(trace, thread) : nt_cpu_track(trace, cpu, NT_TRACK_SAMPLES));
	nt_event_name(&event, "kmem");
	nt_event_put_text(&event, "kind", values[KIND]);
	nt_event_put_text(&event, "context", values[CONTEXT]);
	nt_event_put_text(&event, "vec", values[VEC]);
	nt_event_put_text(&event, "location", values[LOCATION]);
	nt_event_put_integer(&event, "bytes", values[BYTES]);
	nt_event_put_integer(&event, "weight", values[WEIGHT]);
	nt_event_put_integer(&event, "is_failed", values[FAILED]);
	nt_event_end(&event);
	return 0;
}

const struct nt_perfetto_reader nt_memory_readers[] = {
	{"mem_rss", {"ts", "upid", "kind", "bytes"}, .take = take_memory},
	{"kmem",
	 {"ts", "kind", "context", "vec", "utid", "location", "bytes", "weight", "is_failed"},
	 .take_of_cpu = take_kmem},
	{"page_fault", {"ts", "dur", "utid", "minor", "major"}, .take_of_cpu = take_faults},
	{0},
};

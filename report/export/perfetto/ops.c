// SPDX-License-Identifier: GPL-2.0-only
/*
 * ops.c - socket operations on the tracks of their threads, and packets (samples of latency, drops,
 * retransmits) as instants: of a thread where one reads, else of the CPU. A packet's way from where its socket took it
 * to where it was read is a flow between the two: they have socket and stamp in common.
 */
#include <stdio.h>
#include <string.h>

#include "report/export/perfetto/state.h"
#include "report/util/ends.h"

/* ---- tracks ---- */

uint64_t nt_thread_track(struct nt_perfetto *trace, struct nt_perfetto_thread *thread)
{
	size_t marks[2], descriptor;
	struct nt_proto *proto;

	if (thread->track)
		return thread->track;
	thread->track = NT_TRACK_OTHERS + trace->n_tracks++;
	proto = nt_track_begin(&trace->packets, thread->track, 0, NULL, 0, marks);
	descriptor = nt_proto_begin(proto, NT_TRACK_THREAD);
	nt_proto_uint(proto, NT_TRACK_THREAD_PID, thread->tgid);
	nt_proto_uint(proto, NT_TRACK_THREAD_TID, thread->tid);
	nt_proto_text(proto, NT_TRACK_THREAD_NAME, thread->name);
	nt_proto_end(proto, descriptor);
	nt_track_end(&trace->packets, marks);
	return thread->track;
}

/* ---- arguments ---- */

static void put_socket(struct nt_perfetto *trace, struct nt_event *event, const struct nt_value *id)
{
	const char *text = nt_is_there(id) ? nt_labels_of(&trace->names.sockets, nt_integer(id, 0)) : NULL;

	if (text)
		nt_event_text(event, "socket", text);
	else
		nt_event_put_integer(event, "socket_id", id);
}

static void put_device(struct nt_perfetto *trace, struct nt_event *event, const struct nt_value *id)
{
	const char *text = nt_is_there(id) ? nt_labels_of(&trace->names.devices, nt_integer(id, 0)) : NULL;

	if (text)
		nt_event_text(event, "device", text);
}

/* ---- operations ---- */

enum { OP_TS, OP_DUR, OP_CPU_NS, OP_UTID, OP_OP, OP_SYSCALL, OP_SOCKET, OP_BYTES, OP_RESULT, OP_FLAGS };

static void put_op(struct nt_perfetto *trace, struct nt_event *event, const struct nt_value *const *values)
{
	nt_event_name(event, nt_text(values[OP_OP], ""));
	put_socket(trace, event, values[OP_SOCKET]);
	nt_event_put_integer(event, "bytes", values[OP_BYTES]);
	nt_event_put_integer(event, "cpu_ns", values[OP_CPU_NS]);
	nt_event_put_text(event, "result", values[OP_RESULT]);
	nt_event_put_text(event, "syscall", values[OP_SYSCALL]);
	nt_event_put_text(event, "flags", values[OP_FLAGS]);
}

/* One whose begin is not known is an instant at its end. */
static void write_op(struct nt_perfetto *trace, struct nt_sequence *sequence, uint64_t track, int64_t begin,
		     int64_t end, const struct nt_value *const *values)
{
	const bool is_timed = nt_is_there(values[OP_DUR]);
	struct nt_event event;

	nt_event_begin(&event, &trace->packets, sequence, begin, is_timed ? NT_EVENT_BEGIN : NT_EVENT_INSTANT, track);
	put_op(trace, &event, values);
	nt_event_end(&event);
	if (!is_timed)
		return;
	nt_event_begin(&event, &trace->packets, sequence, end, NT_EVENT_END, track);
	nt_event_end(&event);
}

static int select_socket(struct nt_perfetto *trace, const struct nt_value *id)
{
	uint64_t *is_selected;

	if (!trace->selection->process || !nt_is_there(id))
		return 0;
	is_selected = nt_id_map_at(&trace->names.selected_sockets, (uint64_t)nt_integer(id, 0));
	if (!is_selected)
		return nt_perfetto_nomem(trace);
	*is_selected = 1;
	return 0;
}

static int take_op(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	struct nt_perfetto_thread *thread;
	int64_t begin, end;

	if (nt_thread_if(trace, values[OP_UTID], &thread))
		return -1;
	if (trace->selection->process && (!thread || !thread->is_selected))
		return 0;
	if (select_socket(trace, values[OP_SOCKET]))
		return -1;
	if (nt_perfetto_clip(trace, nt_integer(values[OP_TS], -1), nt_integer(values[OP_DUR], 0), &begin, &end))
		write_op(trace, &cpu->events,
			 thread ? nt_thread_track(trace, thread) : nt_cpu_track(trace, cpu, NT_TRACK_NO_THREAD), begin,
			 end, values);
	return 0;
}

/* ---- packets ---- */

/* Whether a row that may speak of a thread, or only of a socket, is of what was asked for. 1, 0, or -1. */
static int is_selected(struct nt_perfetto *trace, const struct nt_value *socket,
		       const struct nt_perfetto_thread *thread)
{
	if (!trace->selection->process)
		return 1;
	if (thread)
		return thread->is_selected;
	return nt_is_there(socket) && nt_id_map_get(&trace->names.selected_sockets, (uint64_t)nt_integer(socket, 0));
}

/* The id of a packet at both ends of its way; never 0. */
static uint64_t flow_of(int64_t socket, int64_t stamp)
{
	uint64_t mixed = (uint64_t)stamp ^ (uint64_t)socket * 0x9e3779b97f4a7c15;

	mixed = (mixed ^ mixed >> 31) * 0xbf58476d1ce4e5b9;
	return (mixed ^ mixed >> 29) | 1;
}

static void put_flow(struct nt_event *event, const char *hook, const struct nt_value *socket,
		     const struct nt_value *stamp)
{
	if (!nt_is_there(socket) || !nt_is_there(stamp))
		return;
	if (nt_ends_in(hook, "-socket-enqueued"))
		nt_proto_fixed64(event->proto, NT_EVENT_FLOW_IDS, flow_of(nt_integer(socket, 0), nt_integer(stamp, 0)));
	else if (nt_ends_in(hook, "-socket-read"))
		nt_proto_fixed64(event->proto, NT_EVENT_TERMINATING_FLOW_IDS,
				 flow_of(nt_integer(socket, 0), nt_integer(stamp, 0)));
}

static int take_latency(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, HOOK, LATENCY, STAMP, DEVICE, SOCKET, UTID, LENGTH, QUEUE, WEIGHT, FLAGS, WAIT };
	const int64_t ts = nt_integer(values[TS], -1);
	const char *hook = nt_text(values[HOOK], "");
	struct nt_perfetto_thread *thread;
	struct nt_event event;

	if (!nt_perfetto_has(trace, ts))
		return 0;
	if (nt_thread_if(trace, values[UTID], &thread))
		return -1;
	if (!is_selected(trace, values[SOCKET], thread))
		return 0;
	nt_event_begin(&event, &trace->packets, &cpu->events, ts, NT_EVENT_INSTANT,
		       thread ? nt_thread_track(trace, thread) : nt_cpu_track(trace, cpu, NT_TRACK_SAMPLES));
	nt_event_name(&event, hook);
	put_flow(&event, hook, values[SOCKET], values[STAMP]);
	nt_event_put_integer(&event, "latency_ns", values[LATENCY]);
	nt_event_put_integer(&event, "wait_ns", values[WAIT]);
	put_socket(trace, &event, values[SOCKET]);
	put_device(trace, &event, values[DEVICE]);
	nt_event_put_integer(&event, "length", values[LENGTH]);
	nt_event_put_integer(&event, "queue_len", values[QUEUE]);
	nt_event_put_integer(&event, "weight", values[WEIGHT]);
	nt_event_put_text(&event, "flags", values[FLAGS]);
	nt_event_end(&event);
	return 0;
}

/* Begins an instant on the CPU's track of packets. False: it was not asked for. */
static bool begin_instant(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, struct nt_event *event,
			  const struct nt_value *ts, const struct nt_value *socket)
{
	if (!nt_perfetto_has(trace, nt_integer(ts, -1)) || !is_selected(trace, socket, NULL))
		return false;
	nt_event_begin(event, &trace->packets, &cpu->events, nt_integer(ts, 0), NT_EVENT_INSTANT,
		       nt_cpu_track(trace, cpu, NT_TRACK_SAMPLES));
	return true;
}

static int take_drop(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, REASON, LOCATION, DEVICE, SOCKET, LENGTH, PROTOCOL };
	struct nt_event event;

	if (!begin_instant(trace, cpu, &event, values[TS], values[SOCKET]))
		return 0;
	nt_event_name(&event, "drop");
	nt_event_put_text(&event, "reason", values[REASON]);
	nt_event_put_text(&event, "location", values[LOCATION]);
	put_socket(trace, &event, values[SOCKET]);
	put_device(trace, &event, values[DEVICE]);
	nt_event_put_integer(&event, "length", values[LENGTH]);
	nt_event_put_integer(&event, "protocol", values[PROTOCOL]);
	nt_event_end(&event);
	return 0;
}

static int take_retransmit(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, WHAT, SOCKET, LENGTH, STATE };
	struct nt_event event;

	if (!begin_instant(trace, cpu, &event, values[TS], values[SOCKET]))
		return 0;
	nt_event_name(&event, "retransmit");
	nt_event_put_text(&event, "what", values[WHAT]);
	put_socket(trace, &event, values[SOCKET]);
	nt_event_put_integer(&event, "length", values[LENGTH]);
	nt_event_put_text(&event, "state", values[STATE]);
	nt_event_end(&event);
	return 0;
}

const struct nt_perfetto_reader nt_ops_readers[] = {
	{"sock_op",
	 {"ts", "dur", "cpu_ns", "utid", "op", "syscall", "socket_id", "bytes", "result", "flags"},
	 .take_of_cpu = take_op},
	{"skb_latency",
	 {"ts", "hook", "latency_ns", "stamp_ns", "device_id", "socket_id", "utid", "length", "queue_len", "weight",
	  "flags", "wait_ns"},
	 .take_of_cpu = take_latency},
	{"skb_drop",
	 {"ts", "reason", "location", "device_id", "socket_id", "length", "protocol"},
	 .take_of_cpu = take_drop},
	{"tcp_retransmit", {"ts", "what", "socket_id", "length", "state"}, .take_of_cpu = take_retransmit},
	{0},
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * head.c - the head of a trace for Perfetto: clocks, the system, processes and threads.
 *
 * Times in the trace are those of the tape, CLOCK_MONOTONIC, so that they are found again with `query`. Perfetto reads
 * the scheduler's events by CLOCK_BOOTTIME: these are moved by one difference, which the snapshot of clocks here
 * states.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/perfetto/state.h"

/* The first kernel whose task states Perfetto reads as this program writes them (sched.c). */
#define RELEASE_IF_UNKNOWN "5.0 (not known)"

#define MAX_BOOT_NS (1ll << 60)

/* The snapshot whose clocks were read closest together is the one that counts. */
int nt_head_clock(struct nt_perfetto *trace, const struct nt_value *const *values)
{
	enum { TS, BOOT, UNCERTAINTY };
	const int64_t ts = nt_integer(values[TS], -1), boot = nt_integer(values[BOOT], -1);
	const int64_t uncertainty = nt_integer(values[UNCERTAINTY], INT64_MAX);

	if (ts < 0 || boot < ts || boot - ts > MAX_BOOT_NS || uncertainty < 0 ||
	    uncertainty >= trace->boot_uncertainty_ns)
		return 0;
	trace->boot_uncertainty_ns = uncertainty;
	/* A host that never slept: what differs is the time between two readings. */
	trace->boot_ns = boot - ts > uncertainty ? boot - ts : 0;
	return 0;
}

static void put_clock(struct nt_proto *proto, enum nt_clock_id id, int64_t ns)
{
	const size_t clock = nt_proto_begin(proto, NT_CLOCK_SNAPSHOT_CLOCKS);

	nt_proto_uint(proto, NT_CLOCK_ID, id);
	nt_proto_uint(proto, NT_CLOCK_TIMESTAMP, (uint64_t)ns);
	nt_proto_end(proto, clock);
}

static struct nt_proto *begin_packet(struct nt_perfetto *trace, size_t *packet)
{
	struct nt_proto *proto = nt_packets_begin(&trace->packets, packet);

	nt_proto_uint(proto, NT_PACKET_SEQUENCE_ID, NT_SEQUENCE_HEAD);
	return proto;
}

static void write_clocks(struct nt_perfetto *trace)
{
	const struct nt_session *session = trace->session;
	size_t packet, snapshot;
	struct nt_proto *proto = begin_packet(trace, &packet);

	snapshot = nt_proto_begin(proto, NT_PACKET_CLOCK_SNAPSHOT);
	put_clock(proto, NT_CLOCK_MONOTONIC, session->start_ts);
	put_clock(proto, NT_CLOCK_BOOTTIME, session->start_ts + trace->boot_ns);
	if (session->start_realtime_ns > 0)
		put_clock(proto, NT_CLOCK_REALTIME, session->start_realtime_ns);
	nt_proto_uint(proto, NT_CLOCK_SNAPSHOT_PRIMARY, NT_CLOCK_MONOTONIC);
	nt_proto_end(proto, snapshot);
	nt_packets_end(&trace->packets, packet);
}

/* The session's own id, so that a trace can be told from others and led back to its tape. */
static void write_uuid(struct nt_perfetto *trace)
{
	char half[17] = "";
	uint64_t msb, lsb;
	size_t packet, uuid;
	struct nt_proto *proto;

	if (strlen(trace->session->uuid) != 32)
		return;
	memcpy(half, trace->session->uuid, 16);
	msb = strtoull(half, NULL, 16);
	lsb = strtoull(trace->session->uuid + 16, NULL, 16);
	proto = begin_packet(trace, &packet);
	uuid = nt_proto_begin(proto, NT_PACKET_TRACE_UUID);
	nt_proto_uint(proto, NT_TRACE_UUID_MSB, msb);
	nt_proto_uint(proto, NT_TRACE_UUID_LSB, lsb);
	nt_proto_end(proto, uuid);
	nt_packets_end(&trace->packets, packet);
}

static void write_system(struct nt_perfetto *trace)
{
	const struct nt_session *session = trace->session;
	const bool has_release = isdigit((unsigned char)session->kernel[0]) && strchr(session->kernel, '.');
	size_t packet, info, name;
	struct nt_proto *proto = begin_packet(trace, &packet);

	info = nt_proto_begin(proto, NT_PACKET_SYSTEM_INFO);
	name = nt_proto_begin(proto, NT_SYSTEM_INFO_UTSNAME);
	nt_proto_text(proto, NT_UTSNAME_SYSNAME, "Linux");
	nt_proto_text(proto, NT_UTSNAME_RELEASE, has_release ? session->kernel : RELEASE_IF_UNKNOWN);
	if (session->machine[0])
		nt_proto_text(proto, NT_UTSNAME_MACHINE, session->machine);
	nt_proto_end(proto, name);
	if (session->cpus)
		nt_proto_uint(proto, NT_SYSTEM_INFO_NUM_CPUS, session->cpus);
	nt_proto_end(proto, info);
	nt_packets_end(&trace->packets, packet);
}

/* ---- who there is ---- */

static void put_process(struct nt_proto *proto, uint32_t pid, int64_t ppid, const char *name)
{
	const size_t process = nt_proto_begin(proto, NT_PROCESS_TREE_PROCESSES);

	nt_proto_uint(proto, NT_PROCESS_PID, pid);
	nt_proto_uint(proto, NT_PROCESS_PPID, (uint64_t)ppid);
	nt_proto_text(proto, NT_PROCESS_CMDLINE, name);
	/* A command line of one word with spaces in it would be taken for several, and the first for the name. */
	if (strchr(name, ' '))
		nt_proto_text(proto, NT_PROCESS_CMDLINE, "");
	nt_proto_end(proto, process);
}

static void put_thread(struct nt_proto *proto, uint32_t tid, uint32_t tgid, const char *name)
{
	const size_t thread = nt_proto_begin(proto, NT_PROCESS_TREE_THREADS);

	nt_proto_uint(proto, NT_THREAD_TID, tid);
	nt_proto_text(proto, NT_THREAD_NAME, name);
	nt_proto_uint(proto, NT_THREAD_TGID, tgid);
	nt_proto_end(proto, thread);
}

/* When a process began in what is exported; -1: before that. */
static int64_t start_of(struct nt_perfetto *trace, const struct nt_perfetto_process *process)
{
	const uint64_t number = nt_id_map_get(&trace->names.thread_numbers, process->upid);
	const int64_t start_ts = number ? trace->names.threads[number - 1]->start_ts : -1;

	return start_ts > trace->from_ts ? start_ts : -1;
}

/* The threads that were there at the begin. One that began later is told at its begin: nt_sched_life. */
static void write_processes(struct nt_perfetto *trace)
{
	struct nt_names *names = &trace->names;
	size_t packet, tree;
	struct nt_proto *proto = begin_packet(trace, &packet);

	nt_proto_uint(proto, NT_PACKET_TIMESTAMP, (uint64_t)(trace->from_ts + trace->boot_ns));
	nt_proto_uint(proto, NT_PACKET_TIMESTAMP_CLOCK_ID, NT_CLOCK_BOOTTIME);
	tree = nt_proto_begin(proto, NT_PACKET_PROCESS_TREE);
	put_process(proto, NT_PID_MADE_UP, 0, "not known");
	for (size_t i = 0; i < names->n_processes; i++) {
		const struct nt_perfetto_process *process = &names->processes[i];

		if (process->pid > 0 && process->pid < NT_TID_UNCOVERED && start_of(trace, process) < 0)
			put_process(proto, (uint32_t)process->pid, process->ppid > 0 ? process->ppid : 0,
				    process->name ? process->name : "not known");
	}
	for (size_t i = 0; i < names->n_threads; i++) {
		const struct nt_perfetto_thread *thread = names->threads[i];

		if (thread->utid && thread->start_ts <= trace->from_ts)
			put_thread(proto, thread->tid, thread->tgid, thread->name);
	}
	nt_proto_end(proto, tree);
	nt_packets_end(&trace->packets, packet);
}

/* A process's cgroup is a label of it, as soon as there is the process. */
static void write_cgroup(struct nt_perfetto *trace, const struct nt_perfetto_process *process, const char *name)
{
	const int64_t start_ts = start_of(trace, process);
	size_t packet, track, descriptor;
	struct nt_proto *proto;
	char label[4096];

	if (process->pid <= 0 || process->pid >= NT_TID_UNCOVERED)
		return;
	snprintf(label, sizeof(label), "cgroup %s", name);
	proto = begin_packet(trace, &packet);
	if (start_ts >= 0) {
		nt_proto_uint(proto, NT_PACKET_TIMESTAMP, (uint64_t)start_ts + 1);
		nt_proto_uint(proto, NT_PACKET_TIMESTAMP_CLOCK_ID, NT_CLOCK_MONOTONIC);
	}
	track = nt_proto_begin(proto, NT_PACKET_TRACK_DESCRIPTOR);
	nt_proto_uint(proto, NT_TRACK_UUID, NT_TRACK_OTHERS + trace->n_tracks++);
	descriptor = nt_proto_begin(proto, NT_TRACK_PROCESS);
	nt_proto_uint(proto, NT_TRACK_PROCESS_PID, (uint64_t)process->pid);
	if (process->name)
		nt_proto_text(proto, NT_TRACK_PROCESS_NAME, process->name);
	nt_proto_text(proto, NT_TRACK_PROCESS_LABELS, label);
	nt_proto_end(proto, descriptor);
	nt_proto_end(proto, track);
	nt_packets_end(&trace->packets, packet);
}

void nt_head_write(struct nt_perfetto *trace)
{
	struct nt_names *names = &trace->names;

	write_clocks(trace);
	write_uuid(trace);
	write_system(trace);
	write_processes(trace);
	for (size_t i = 0; i < names->n_processes; i++) {
		const char *name = nt_labels_of(&names->cgroups, names->processes[i].cgroup_id);

		if (name && names->processes[i].cgroup_id >= 0)
			write_cgroup(trace, &names->processes[i], name);
	}
}

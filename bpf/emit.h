/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * emit.h - takes a record from the stack to the ring of this CPU: counts it, puts loss records ahead of it and a due
 * state record after it, and wakes the reader now and then. Also declares the maps and configuration, which core.bpf.c
 * defines.
 */
#pragma once

#include "bpf/compat.h"
#include "bpf/shared.h"

struct nt_cpus_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the recorder sets the number of possible CPUs */
	__type(key, __u32);
	__type(value, struct nt_cpu);
};

struct nt_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct nt_rings_map {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* as above; a CPU that has never been online has no ring */
	__type(key, __u32);
	__array(values, struct nt_ring);
};

extern struct nt_cpus_map nt_cpus SEC(".maps");
extern struct nt_rings_map nt_rings SEC(".maps");
extern const volatile struct nt_config nt_config;

/* In core.bpf.c; global functions, so that the verifier checks them once. */
int nt_flush_losses(__u32 cpu_id, __u64 now_ns);
int nt_flush_kind(__u32 cpu_id, __u32 kind, __u64 now_ns);
int nt_write_state(__u32 cpu_id, __u64 now_ns, __u32 reason);
int nt_missed_switch(__u32 cpu_id, __u64 now_ns);
int nt_batch_flush(__u32 cpu_id);

/* Counts how a run of a program ended: exactly once per run. */
static __always_inline void nt_count(struct nt_cpu *cpu, __u32 program, __u32 outcome)
{
	cpu->counts.outcome[outcome][program]++;
}

static __always_inline struct nt_cpu *nt_this_cpu(__u32 *cpu_id)
{
	*cpu_id = bpf_get_smp_processor_id();
	return bpf_map_lookup_elem(&nt_cpus, cpu_id);
}

/*
 * The state of this CPU, if the recording is on; else NULL, and the run is counted. For programs that keep nothing
 * between runs.
 */
static __always_inline struct nt_cpu *nt_this_cpu_if_on(__u32 program, __u32 *cpu_id)
{
	struct nt_cpu *cpu = nt_this_cpu(cpu_id);

	if (cpu && !cpu->gate) {
		nt_count(cpu, program, NT_OUTCOME_skipped_gate);
		return NULL;
	}
	return cpu;
}

/* Remembers a record that found no room. An interrupt may do the same in between: hence the atomic add. */
static __always_inline void nt_note_loss(struct nt_cpu *cpu, __u32 kind, __u64 end_ns, __u64 begin_ns)
{
	struct nt_lost *lost = &cpu->losses[kind & (NT_KIND_MAX - 1)];

	if (!lost->first_ns || end_ns < lost->first_ns)
		lost->first_ns = end_ns;
	if (end_ns > lost->last_ns)
		lost->last_ns = end_ns;
	if (begin_ns && (!lost->begin_ns || begin_ns < lost->begin_ns))
		lost->begin_ns = begin_ns;
	__sync_fetch_and_add(&lost->count, 1);
	cpu->lossy = 1;
}

/* Copies bytes into the ring of this CPU, past the batch: for identities, whose place among events is free. */
static __always_inline bool nt_ring_write(struct nt_cpu *cpu, __u32 cpu_id, void *data, __u32 size)
{
	void *ring = bpf_map_lookup_elem(&nt_rings, &cpu_id);
	__u64 wake = BPF_RB_NO_WAKEUP;

	if (!ring)
		return false;
	cpu->wake_bytes += size + 8;
	if (cpu->wake_bytes >= nt_config.wake_bytes) {
		cpu->wake_bytes = 0;
		wake = BPF_RB_FORCE_WAKEUP;
	}
	return bpf_ringbuf_output(ring, data, size, wake) == 0;
}

/* Takes room in the batch of this CPU, where the caller then writes. False: neither there nor in the ring is any. */
static __always_inline bool nt_batch_reserve(struct nt_cpu *cpu, __u32 cpu_id, __u32 size, __u32 *at)
{
	struct nt_batch *batch = &cpu->batch;

	if (batch->end > NT_BATCH_LIMIT && (batch->adding || !nt_batch_flush(cpu_id)))
		return false;
	batch->adding++;
	barrier();
	*at = __sync_fetch_and_add(&batch->end, size);
	return true;
}

static __always_inline void nt_batch_submit(struct nt_cpu *cpu, __u32 cpu_id, __u32 end)
{
	barrier();
	cpu->batch.adding--;
	if (end >= NT_BATCH_FLUSH && !cpu->batch.adding)
		nt_batch_flush(cpu_id);
}

/* Adds one record to the batch. `size`: a constant. */
static __always_inline bool nt_batch_write(struct nt_cpu *cpu, __u32 cpu_id, const void *data, __u32 size)
{
	__u32 at;

	if (!nt_batch_reserve(cpu, cpu_id, size, &at))
		return false;
	__builtin_memcpy(&cpu->batch.data[(at & (NT_BATCH_BYTES - 1)) / 8], data, size);
	nt_batch_submit(cpu, cpu_id, at + size);
	return true;
}

/* The same for a size that is known when it happens: slower, but one copy of the code serves all sizes. */
static __always_inline bool nt_batch_write_scratch(struct nt_cpu *cpu, __u32 cpu_id, const struct nt_scratch *scratch,
						   __u32 size)
{
	const __u64 *from = (const __u64 *)scratch;
	__u32 at;

	if (!nt_batch_reserve(cpu, cpu_id, size, &at))
		return false;
	for (__u32 i = 0; i < sizeof(*scratch) / 8 && i < size / 8; i++)
		cpu->batch.data[(at / 8 + i) & (NT_BATCH_BYTES / 8 - 1)] = from[i];
	nt_batch_submit(cpu, cpu_id, at + size);
	return true;
}

/*
 * The control program's counters also stand for records that several programs write (states, sockets), so
 * for them, and only them, an interrupt may come in between.
 */
static __always_inline void nt_add(__u64 *counter, __u32 program, __u32 n)
{
	if (program == NT_PROGRAM_control)
		__sync_fetch_and_add(counter, n);
	else
		*counter += n;
}

/*
 * Tells the reader of what was lost, before a record is written after it. False: it found no room, and so that record
 * must be lost too, though the reader may have made room by now.
 */
static __always_inline bool nt_tell_losses(struct nt_cpu *cpu, __u32 cpu_id, __u64 now_ns)
{
	if (cpu->lossy)
		nt_flush_losses(cpu_id, now_ns);
	return !cpu->lossy;
}

/*
 * Counts `n_open` OPEN records and the one of `kind` behind them, all ending at end_ns, as written or lost.
 * begin_ns: the least begin among them, 0 if none. Gives `stored` back.
 */
static __always_inline bool nt_count_records(struct nt_cpu *cpu, __u32 program, bool stored, __u32 kind, __u32 n_open,
					     __u64 end_ns, __u64 begin_ns)
{
	struct nt_counts *counts = &cpu->counts;

	kind &= NT_KIND_MAX - 1; /* for the verifier */

	if (!stored) {
		nt_add(&counts->lost[kind][program], program, 1);
		nt_note_loss(cpu, kind, end_ns, begin_ns);
		if (n_open) {
			nt_add(&counts->lost[NT_OPEN][program], program, n_open);
			nt_note_loss(cpu, NT_OPEN, end_ns, begin_ns);
			__sync_fetch_and_add(&cpu->losses[NT_OPEN].count, n_open - 1);
		}
		return false;
	}
	nt_add(&counts->written[kind][program], program, 1);
	if (n_open)
		nt_add(&counts->written[NT_OPEN][program], program, n_open);
	return true;
}

/*
 * Writes one record of a constant size, on the timeline or loose, after what was lost before it. True if it is in the
 * ring. An identity is nobody's follower, and a program that may be preempted writes some: so nothing of the batch is
 * touched for it.
 */
static __always_inline bool nt_emit_record(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, void *data, __u32 size,
					   __u32 kind, __u64 end_ns, __u64 begin_ns)
{
	bool stored = kind < NT_TASK ? nt_tell_losses(cpu, cpu_id, end_ns) && nt_batch_write(cpu, cpu_id, data, size)
				     : nt_ring_write(cpu, cpu_id, data, size);

	return nt_count_records(cpu, program, stored, kind, 0, end_ns, begin_ns);
}

/*
 * Writes an event of `size` bytes that stands in the scratch area behind its OPEN records. True if it is in the ring.
 */
static __always_inline bool nt_emit_with_opens(struct nt_cpu *cpu, __u32 cpu_id, __u32 program,
					       const struct nt_scratch *scratch, __u32 size, __u32 kind, __u32 n_open,
					       __u64 end_ns, __u64 begin_ns)
{
	bool stored = nt_tell_losses(cpu, cpu_id, end_ns) &&
		      nt_batch_write_scratch(cpu, cpu_id, scratch, n_open * sizeof(struct nt_open) + size);

	return nt_count_records(cpu, program, stored, kind, n_open, end_ns, begin_ns);
}

/* A state record, and nothing held back: what is on this CPU's part of the tape is then known up to now. */
static __always_inline void nt_refresh(struct nt_cpu *cpu, __u32 cpu_id, __u64 now_ns)
{
	nt_write_state(cpu_id, now_ns, NT_STATE_PERIODIC);
	if (!cpu->batch.adding)
		nt_batch_flush(cpu_id);
}

static __always_inline void nt_state_due(struct nt_cpu *cpu, __u32 cpu_id, __u64 now_ns)
{
	/* Signed: an interrupted program may bring a time just before the last state record's. */
	if (++cpu->since_state >= NT_STATE_EVERY_RECORDS || (__s64)(now_ns - cpu->state_ns) > (__s64)NT_STATE_EVERY_NS)
		nt_refresh(cpu, cpu_id, now_ns);
}

/* Writes one event, counts how the run ended, and writes a state record if one is due. */
static __always_inline void nt_emit_event(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, void *record, __u32 size,
					  __u64 begin_ns)
{
	struct nt_record *header = record;
	bool written = nt_emit_record(cpu, cpu_id, program, record, size, header->kind, header->end_ns, begin_ns);

	nt_count(cpu, program, written ? NT_OUTCOME_recorded : NT_OUTCOME_lost);
	nt_state_due(cpu, cpu_id, header->end_ns);
}

/* Writes one identity if the recording is on, or about to begin, and counts how the run ended. */
static __always_inline void nt_emit_identity(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, void *record, __u32 size)
{
	struct nt_record *header = record;
	bool written;

	if (!cpu->identity_gate) {
		nt_count(cpu, program, NT_OUTCOME_skipped_gate);
		return;
	}
	written = nt_emit_record(cpu, cpu_id, program, record, size, header->kind, header->end_ns, 0);
	nt_count(cpu, program, written ? NT_OUTCOME_recorded : NT_OUTCOME_lost);
}

/*
 * Whether this program came between two instructions of one that is adding to the batch. Until that goes on, the batch
 * cannot be emptied, and a softirq may bring hundreds of packets: loose records, whose place is free, then go past it.
 */
static __always_inline bool nt_batch_is_held(const struct nt_cpu *cpu)
{
	return *(const volatile __u32 *)&cpu->batch.adding;
}

/*
 * Writes one loose record. True if it is in the ring. It is no part of the timeline, so no state record is due for
 * it. A loss tells only of ends.
 */
static __always_inline bool nt_write_loose(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, void *record, __u32 size,
					   __u32 kind)
{
	__u64 end_ns = ((struct nt_record *)record)->end_ns;

	if (nt_batch_is_held(cpu))
		return nt_count_records(cpu, program, nt_ring_write(cpu, cpu_id, record, size), kind, 0, end_ns, 0);
	return nt_emit_record(cpu, cpu_id, program, record, size, kind, end_ns, 0);
}

/*
 * The same for a program that may be preempted where the kernel preempts those at tracepoints: it must not hold the
 * batch then, which others of its CPU need.
 */
static __always_inline bool nt_write_loose_apart(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, void *record,
						 __u32 size, __u32 kind)
{
	__u64 end_ns = ((struct nt_record *)record)->end_ns;

	if (nt_config.is_preempted)
		return nt_count_records(cpu, program, nt_ring_write(cpu, cpu_id, record, size), kind, 0, end_ns, 0);
	return nt_write_loose(cpu, cpu_id, program, record, size, kind);
}

/* The same, and counts how the run ended. */
static __always_inline void nt_emit_loose_apart(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, void *record,
						__u32 size, __u32 kind)
{
	bool written = nt_write_loose_apart(cpu, cpu_id, program, record, size, kind);

	nt_count(cpu, program, written ? NT_OUTCOME_recorded : NT_OUTCOME_lost);
}

/* As nt_write_loose, and counts how the run ended. */
static __always_inline void nt_emit_loose(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, void *record, __u32 size,
					  __u32 kind)
{
	bool written = nt_write_loose(cpu, cpu_id, program, record, size, kind);

	nt_count(cpu, program, written ? NT_OUTCOME_recorded : NT_OUTCOME_lost);
}

static __always_inline void nt_state_written(struct nt_cpu *cpu, __u64 now_ns)
{
	cpu->since_state = 0;
	cpu->state_ns = now_ns;
}

/*
 * A kernel may not run the programs while some task is on the CPU (a hardened host hides a process of its
 * own so): then the switch away from it is never seen. Whoever next runs on the CPU finds another task
 * there than the last switch put on it.
 */
static __always_inline void nt_check_current(struct nt_cpu *cpu, __u32 cpu_id, struct task_struct *task, __u64 now_ns)
{
	if (cpu->current != (unsigned long)task)
		nt_missed_switch(cpu_id, now_ns);
}

/* This CPU's context, as the programs of softirqs and interrupts keep it. */
static __always_inline __u8 nt_context_of(const struct nt_cpu *cpu)
{
	if (!nt_config.knows_context)
		return NT_CPU_UNKNOWN;
	if (cpu->irq_depth)
		return NT_CPU_IN_HARDIRQ;
	return cpu->softirq_begin_ns ? NT_CPU_IN_SOFTIRQ : NT_CPU_IN_TASK;
}

/* Forgets which softirqs wait: some may have run unseen. */
static __always_inline void nt_forget_raised(struct nt_cpu *cpu)
{
	if (nt_config.probe_raise)
		__builtin_memset(cpu->raised, 0, sizeof(cpu->raised));
}

/* Whether a task's name begins so. */
static __always_inline bool nt_begins_with(const char *comm, const char *name, int size)
{
	for (int i = 0; i < size; i++)
		if (comm[i] != name[i])
			return false;
	return true;
}

/* NAPI threads are named napi/DEVICE-ID; those of a CPU's backlog, backlog_napi/CPU. */
static __always_inline bool nt_is_napi_thread(const struct task_struct *task)
{
	if (!(task->flags & PF_KTHREAD))
		return false;
	return nt_begins_with(task->comm, "napi/", 5) || nt_begins_with(task->comm, "backlog_napi/", 13);
}

/*
 * A key made of a kernel's address: its distance from a map's first element. The verifier lets programs compute with no
 * address of the kernel's, but with the distance of two.
 */
static __always_inline __u64 nt_address_key(const void *address, void *map)
{
	const __u32 first = 0;
	const void *at = bpf_map_lookup_elem(map, &first);

	return at ? (__u64)address - (__u64)at : 0;
}

/*
 * A thread that executes a program takes the tid and the start time of its main thread, and gives it its own tid. The
 * main thread may still be on its way off a CPU. It keeps its key: a thread that has its process's start time is one.
 */
static __always_inline __u64 nt_key_of(struct task_struct *task)
{
	int tid = task->pid;

	if (tid != task->tgid && task->exit_state && BPF_CORE_READ(task, group_leader, start_time) == task->start_time)
		tid = task->tgid;
	return nt_task_key(tid, task->start_time);
}

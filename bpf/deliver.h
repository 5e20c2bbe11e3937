/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * deliver.h - the stretch of packets of one flow that is open in a CPU's receive run. deliver.bpf.c adds packets to it;
 * it ends there, where another flow comes, or with the run: of a softirq (softirq.bpf.c), of a NAPI thread, which is
 * its stay on the CPU (sched.bpf.c), or of a poll that a task makes by itself (napi.bpf.c). In a list of several flows
 * it is queued where another flow comes, and ends where the work on the next one's packets is seen.
 */
#pragma once

#include "bpf/emit.h"
#include "bpf/flow.h"

struct nt_seen_flows_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NT_FLOW_SETS);
	__type(key, __u32);
	__type(value, struct nt_flow_set);
};

extern struct nt_seen_flows_map nt_seen_flows SEC(".maps");

static __always_inline struct nt_flow_set *nt_flow_set(__u64 key)
{
	__u32 number = nt_flow_set_of(key);

	return bpf_map_lookup_elem(&nt_seen_flows, &number);
}

/* NULL: the flow has no place. */
static __always_inline struct nt_seen_flow *nt_seen_flow(__u64 key)
{
	struct nt_flow_set *set = nt_flow_set(key);

	return set ? nt_flow_find(set, key) : NULL;
}

/* Whether the identity of the flow has been written in this generation. */
static __always_inline bool nt_is_written(const struct nt_cpu *cpu, const struct nt_seen_flow *seen)
{
	return seen && seen->generation == cpu->generation;
}

/* What a reader on another CPU finds is of one flow: the key is gone while the rest is changed. */
static __always_inline void nt_change_place(struct nt_seen_flow *seen)
{
	*(volatile __u64 *)&seen->flow = 0;
	barrier();
}

/* Notes that the flow's identity has been written, with this socket. `seen`: its place, or NULL. */
static __always_inline void nt_set_flow(const struct nt_cpu *cpu, struct nt_seen_flow *seen, __u64 key, __u64 socket,
					__u8 n_sockets, bool is_partly)
{
	if (!seen) {
		struct nt_flow_set *set = nt_flow_set(key);

		if (!set)
			return;
		seen = nt_flow_victim(set);
		nt_change_place(seen);
	}
	seen->socket = socket;
	seen->n_sockets = n_sockets;
	seen->is_partly = is_partly;
	seen->generation = cpu->generation;
	barrier();
	*(volatile __u64 *)&seen->flow = key;
}

/*
 * Writes the identity of a flow, and that its packets go to this socket from now on; 0: nothing is known of that.
 * `flags`: NT_FLOW_*. False: there is no room.
 */
static __always_inline bool nt_write_flow(struct nt_cpu *cpu, __u32 cpu_id, const struct nt_flow_tuple *tuple,
					  enum nt_many many, __u64 key, __u64 socket, __u8 flags, __u64 now_ns)
{
	struct nt_flow record = {
		.end_ns = now_ns,
		.kind = NT_FLOW,
		.netns = tuple->device >> 32,
		.flow = key,
		.device = tuple->device,
		.flags = flags | (many ? NT_FLOW_MANY : 0),
		.socket = socket,
	};

	if (many != NT_MANY_DEVICE) {
		record.family = tuple->family;
		record.protocol = tuple->protocol;
		record.ethertype = tuple->ethertype;
		record.dst_port = __builtin_bswap16(tuple->ports >> 16);
		__builtin_memcpy(record.dst, tuple->dst, sizeof(record.dst));
	}
	if (!many) {
		record.src_port = __builtin_bswap16(tuple->ports & 0xffff);
		__builtin_memcpy(record.src, tuple->src, sizeof(record.src));
	}
	return nt_emit_record(cpu, cpu_id, NT_PROGRAM_control, &record, sizeof(record), NT_FLOW, now_ns, 0);
}

#define NT_OPEN_STRETCH NT_LISTED /* as a place */

/* The stretch in that place of the queue, or the open one. */
static __always_inline struct nt_open_stretch *nt_stretch_at(struct nt_cpu *cpu, __u32 place)
{
	return place == NT_OPEN_STRETCH ? &cpu->stretch : &cpu->queued[place & (NT_LISTED - 1)];
}

/* In deliver.bpf.c: writes the identity of the stretch's flow, if none has been written. */
int nt_announce_flow(__u32 cpu_id, __u32 place, __u64 now_ns);
/* In deliver.bpf.c: writes that not all packets of the stretch, which are of many flows, went to their socket. */
int nt_tell_partly(__u32 cpu_id, __u32 place, __u64 now_ns);
/* In deliver.bpf.c: writes the queued stretches before that number; the last of them has these flags NT_RX_LIST_*. */
int nt_end_queued(__u32 cpu_id, __u32 before, __u32 list, __u64 now_ns);

/* Whether packets of many flows were not seen to go to their socket. */
static __always_inline bool nt_is_partly(const struct nt_open_stretch *stretch)
{
	return stretch->many && stretch->delivered != stretch->packets;
}

static __always_inline void nt_end_many(struct nt_open_stretch *stretch, __u32 cpu_id, __u32 place, __u64 now_ns)
{
	if (nt_is_partly(stretch))
		nt_tell_partly(cpu_id, place, now_ns);
	if (stretch->forwarded >= stretch->packets - stretch->packets / 2)
		stretch->flags |= NT_RX_STRETCH_FORWARDED;
}

/* 0: not at all, or too long ago for the field. */
static __always_inline __u32 nt_since(__u64 then_ns, __u64 now_ns)
{
	__u64 ns = now_ns - then_ns;

	return then_ns && ns <= 0xffffffff ? ns : 0;
}

/* The stretch in this place as a record; none is there then. */
static __always_inline void nt_take_stretch(struct nt_cpu *cpu, __u32 cpu_id, __u32 place, __u64 now_ns,
					    struct nt_rx_stretch *record)
{
	struct nt_open_stretch *stretch = nt_stretch_at(cpu, place);

	if (stretch->is_new)
		nt_announce_flow(cpu_id, place, now_ns);
	if (stretch->many && !(stretch->flags & NT_RX_STRETCH_DRIVER))
		nt_end_many(stretch, cpu_id, place, now_ns);
	record->end_ns = now_ns;
	record->kind = NT_RX_STRETCH;
	record->flags = stretch->flags;
	record->list = stretch->list;
	if (cpu->stretch.is_lost && !(stretch->flags & NT_RX_STRETCH_FIRST))
		record->flags |= NT_RX_STRETCH_AFTER_LOSS;
	/* GRO gave packets to the stack amid a poll. */
	if (nt_config.cuts_polls && stretch->polled >= nt_config.gro_batch)
		record->flags |= NT_RX_STRETCH_AMID;
	record->packets = stretch->packets;
	record->flow = stretch->flow;
	if (stretch->flags & NT_RX_STRETCH_DRIVER)
		record->packets = record->flow = 0;
	record->segments = stretch->segments;
	record->bytes = stretch->bytes;
	record->dropped = stretch->dropped;
	record->reason = stretch->reason;
	record->since_ns = nt_since(stretch->reached_ns, now_ns);
	record->zero_a = record->zero_b = 0;
	stretch->packets = 0;
}

/*
 * Writes the stretch in this place. Its record counts as the marks' program's whoever writes it: none of these programs
 * interrupts another.
 */
static __always_inline void nt_write_stretch(struct nt_cpu *cpu, __u32 cpu_id, __u32 place, __u8 list, __u64 now_ns)
{
	struct nt_rx_stretch record;

	nt_take_stretch(cpu, cpu_id, place, now_ns, &record);
	record.list |= list;
	cpu->stretch.is_lost =
		!nt_write_loose(cpu, cpu_id, NT_PROGRAM_netif_receive_skb, &record, sizeof(record), NT_RX_STRETCH);
}

static __always_inline bool nt_has_queued(const struct nt_cpu *cpu)
{
	return (__s32)(cpu->queue_end - cpu->queue_begin) > 0;
}

/* Whether the list at hand has packets of several flows. */
static __always_inline bool nt_has_several(const struct nt_cpu *cpu)
{
	return nt_has_queued(cpu) || cpu->stretch.is_queued_behind;
}

/* Writes those that are queued before the open stretch, which ends now, too. */
static __always_inline void nt_end_queue(struct nt_cpu *cpu, __u32 cpu_id, __u64 now_ns)
{
	if (nt_has_queued(cpu))
		nt_end_queued(cpu_id, cpu->queue_end, NT_RX_LIST_MORE, now_ns);
	cpu->queue_begin = ++cpu->queue_end;
}

/* Writes the open stretch, if there is one, and those that are queued before it. */
static __always_inline void nt_end_stretch(struct nt_cpu *cpu, __u32 cpu_id, __u64 now_ns)
{
	if (!cpu->stretch.packets)
		return;
	nt_end_queue(cpu, cpu_id, now_ns);
	nt_write_stretch(cpu, cpu_id, NT_OPEN_STRETCH, 0, now_ns);
}

/*
 * Takes the packet that has this buffer out of those that came in lists: the work on it is seen. *number: its number.
 * NULL: none has it. If several do, the last is meant: a bridge or a tunnel lets one packet be received twice, and a
 * dropped packet's buffer is another's soon.
 */
static __always_inline struct nt_listed *nt_take_listed(struct nt_cpu *cpu, __u64 skb, __u64 *number)
{
	__u64 n = cpu->listed_run_ns == cpu->stretch.run_ns ? cpu->n_listed : 0;
	struct nt_listed *found = NULL;

	for (__u32 i = 1; i <= NT_LISTED; i++) {
		struct nt_listed *listed = &cpu->listed[(n - i) & (NT_LISTED - 1)];

		if (i > n)
			break;
		if (listed->skb != skb)
			continue;
		listed->skb = 0;
		if (!found) {
			found = listed;
			*number = n - i;
		}
		if (!nt_has_several(cpu))
			break; /* most packets: that others wait matters only where lists are cut */
	}
	return found;
}

static __always_inline bool nt_any_waits(const struct nt_cpu *cpu)
{
	__u64 n = cpu->n_listed, waiting = 0;

	for (__u32 i = 1; i <= NT_LISTED && i <= n; i++)
		waiting |= cpu->listed[(n - i) & (NT_LISTED - 1)].skb;
	return waiting;
}

/*
 * The work on this packet is seen, and nt_take_listed() has taken it. So that on those before it is over, and their
 * stretches end. One case tells nothing: it is the last that was received, and others wait. A bridge may have sent it
 * on at once, before the work on the list begins.
 */
static __always_inline void nt_reach(struct nt_cpu *cpu, __u32 cpu_id, const struct nt_listed *listed, __u64 number)
{
	bool has_several = nt_has_several(cpu);
	__u32 stretch = listed->stretch;
	__u64 now_ns;

	if (number < cpu->next_listed || (has_several && number + 1 == cpu->n_listed && nt_any_waits(cpu)))
		return;
	cpu->next_listed = number + 1;
	cpu->list_is_reached = 1;
	if (!has_several)
		return;
	now_ns = bpf_ktime_get_ns();
	if ((__s32)(stretch - cpu->queue_begin) > 0)
		nt_end_queued(cpu_id, stretch, NT_RX_LIST_CUT, now_ns);
	if (stretch == cpu->queue_begin)
		nt_stretch_at(cpu, nt_has_queued(cpu) ? stretch & (NT_LISTED - 1) : NT_OPEN_STRETCH)->reached_ns =
			now_ns;
}

/* A receive softirq and the last stretch of its run, for most runs the only one. */
struct nt_run_end {
	struct nt_rx_stretch stretch;
	struct nt_softirq softirq;
};

/* Writes both at once, which costs little more than one, and counts how the run of the softirq's program ended. */
static __always_inline void nt_emit_run_end(struct nt_cpu *cpu, __u32 cpu_id, struct nt_run_end *records,
					    __u64 begin_ns)
{
	struct nt_open_stretch *stretch = &cpu->stretch;
	__u64 now_ns = records->softirq.end_ns;
	bool stored;

	nt_end_queue(cpu, cpu_id, now_ns);
	nt_take_stretch(cpu, cpu_id, NT_OPEN_STRETCH, now_ns, &records->stretch);
	stored = nt_tell_losses(cpu, cpu_id, now_ns) && nt_batch_write(cpu, cpu_id, records, sizeof(*records));
	nt_count_records(cpu, NT_PROGRAM_netif_receive_skb, stored, NT_RX_STRETCH, 0, now_ns, 0);
	nt_count_records(cpu, NT_PROGRAM_softirq_exit, stored, NT_SOFTIRQ, 0, now_ns, begin_ns);
	nt_count(cpu, NT_PROGRAM_softirq_exit, stored ? NT_OUTCOME_recorded : NT_OUTCOME_lost);
	stretch->is_lost = !stored;
	stretch->run_ns = 0;
	nt_state_due(cpu, cpu_id, now_ns);
}

/* The run at hand ends. */
static __always_inline void nt_end_run(struct nt_cpu *cpu, __u32 cpu_id, __u64 now_ns)
{
	nt_end_stretch(cpu, cpu_id, now_ns);
	cpu->stretch.run_ns = 0;
}

/*
 * A run outside of softirqs ends, if there is one: its task leaves the CPU, or a receive softirq interrupts it. If a
 * task received packets and has ended no poll since, that was no receive run.
 */
static __always_inline void nt_leave_run(struct nt_cpu *cpu, __u32 cpu_id, __u64 now_ns)
{
	/* On PREEMPT_RT a softirq may be away with its task; its run goes on. */
	if (!cpu->stretch.run_ns || !cpu->stretch.in_task)
		return;
	if (cpu->is_busy_run || !cpu->gate) {
		cpu->stretch.packets = 0;
		cpu->queue_begin = ++cpu->queue_end;
	}
	nt_end_run(cpu, cpu_id, now_ns);
}

/* The same where a poll that a task made by itself has ended. Its time is known to be a receive run's, or is not. */
static __always_inline void nt_end_busy_run(struct nt_cpu *cpu, __u32 cpu_id, bool is_run, __u64 now_ns)
{
	cpu->is_busy_run = !is_run;
	nt_leave_run(cpu, cpu_id, now_ns);
}

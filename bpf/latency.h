/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency.h - what a hook of probe `latency` does, in every program: asks whether the packet is wanted and has a
 * receive timestamp, and writes the sample. The cheapest question comes first, and each run counts one outcome.
 */
#pragma once

#include "bpf/device.h"
#include "bpf/socket_op.h"

struct nt_filter_pids_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NT_FILTER_PIDS);
	__type(key, __u32);
	__type(value, __u8);
};

struct nt_filter_devices_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, NT_FILTER_DEVICES);
	__type(key, __u64);
	__type(value, __u8);
};

extern struct nt_filter_pids_map nt_filter_pids SEC(".maps");
extern struct nt_filter_devices_map nt_filter_devices SEC(".maps");

static __always_inline bool nt_is_internet(__u16 family)
{
	return family == AF_INET || family == AF_INET6;
}

/* Everything that a hook knows of its packet. */
struct nt_seen_packet {
	__u64 stamp_ns;
	__u64 device; /* key */
	struct net *net; /* the network namespace that the device is in */
	__u32 netns;
	__u32 ifindex; /* 0: not known */
	__u32 length;
	__u32 queue_len;
	__u8 hook; /* enum nt_hook */
	__u8 flags; /* NT_LATENCY_* */
	bool is_of_sending; /* stamp_ns is */
	bool has_task; /* the current task is the reader */
};

/* Whether --latency-sample leaves this packet out; else *weight is how many it stands for. */
static __always_inline bool nt_leaves_out(struct nt_cpu *cpu, __u32 program, __u32 *weight)
{
	struct nt_gaps *gaps = &cpu->gaps;
	__u32 i = program - NT_FIRST_LATENCY, left = gaps->left[i];

	if (left > 1) {
		gaps->left[i] = left - 1;
		return true;
	}
	*weight = gaps->gap[i];
	cpu->counts.outcome[NT_OUTCOME_skipped_sample][program] += *weight - 1;
	gaps->gap[i] = gaps->left[i] = nt_config.latency.gaps[++gaps->at[i] & (NT_GAPS - 1)];
	return false;
}

/*
 * Begins a run: NULL if it is over already, and counted. Most are, if packets are sampled: programs do nothing before.
 */
static __always_inline struct nt_cpu *nt_hook_begin(__u32 program, __u32 *cpu_id, __u32 *weight)
{
	struct nt_cpu *cpu = nt_this_cpu_if_on(program, cpu_id);

	*weight = 1;
	return cpu && nt_config.latency.is_sampled && nt_leaves_out(cpu, program, weight) ? NULL : cpu;
}

/* The reader is asked for. At hooks without one these filters have no program attached (record/plan.c). */
static __always_inline bool nt_reader_is_wanted(void)
{
	if (nt_config.latency.by_pid) {
		__u32 pid = bpf_get_current_pid_tgid() >> 32;

		if (!bpf_map_lookup_elem(&nt_filter_pids, &pid))
			return false;
	}
	return !nt_config.latency.cgroup ||
	       bpf_get_current_ancestor_cgroup_id(nt_config.latency.cgroup_level) == nt_config.latency.cgroup;
}

static __always_inline bool nt_is_wanted(const struct nt_seen_packet *seen)
{
	if (nt_config.latency.netns && seen->netns != nt_config.latency.netns)
		return false;
	if (nt_config.latency.by_device && !bpf_map_lookup_elem(&nt_filter_devices, &seen->device))
		return false;
	if (seen->queue_len < nt_config.latency.min_queue)
		return false;
	return !seen->has_task || nt_reader_is_wanted();
}

static __always_inline void nt_see_device(struct nt_seen_packet *seen, struct net *net, __u32 ifindex)
{
	seen->net = net;
	seen->netns = net->ns.inum;
	seen->ifindex = ifindex;
	seen->device = ifindex ? nt_device_key(seen->netns, ifindex) : 0;
}

/* The fields that a packet has anywhere on its way. Its `dev` is valid only until a socket has the packet. */
static __always_inline void nt_see_packet(struct nt_seen_packet *seen, const struct sk_buff *skb)
{
	seen->stamp_ns = skb->tstamp;
	seen->is_of_sending = nt_stamp_is_of_sending(skb);
	seen->length = skb->len;
}

static __always_inline void nt_see_socket(struct nt_seen_packet *seen, const struct sock *sk, __u32 ifindex)
{
	nt_see_device(seen, sk->__sk_common.skc_net.net, ifindex);
	seen->queue_len = sk->sk_receive_queue.qlen;
	if (sk->__sk_common.skc_family == AF_INET6)
		seen->flags |= NT_LATENCY_IPV6;
}

/* The rare case: a device that has not been seen yet. */
static __always_inline void nt_announce_device_of(const struct nt_seen_packet *seen, __u64 now_ns)
{
	struct net *net = seen->net;
	__u64 address = 0;

	/* From a pointer that the verifier tracks to a plain number, as a global function takes it. */
	bpf_probe_read_kernel(&address, sizeof(address), &net);
	nt_announce_ifindex(address, seen->ifindex, now_ns);
}

/*
 * The socket by its cookie, announced. `can_make`: the kernel lets this program give it one. An announced socket is not
 * compared: a socket that gets packets has its addresses. If it is connected anew, its owner's next use announces it.
 */
static __always_inline __u64 nt_hook_socket(struct sock *sk, __u64 now_ns, bool can_make)
{
	__u64 cookie = sk->__sk_common.skc_cookie.counter;
	struct nt_seen_socket *slot;

	if (!cookie && can_make)
		cookie = bpf_get_socket_cookie(sk);
	slot = seen_slot(cookie);
	if (cookie && slot && slot->cookie != cookie)
		announce(sk, cookie, now_ns);
	return cookie;
}

/* The stamp's reason against a sample; NT_OUTCOME_recorded: none. */
static __always_inline __u32 nt_judge_stamp(const struct nt_seen_packet *seen)
{
	if (!seen->stamp_ns)
		return NT_OUTCOME_no_stamp;
	return seen->is_of_sending ? NT_OUTCOME_transmit_stamp : NT_OUTCOME_recorded;
}

/*
 * Ends the run of a packet that has no good stamp, before more is asked of it; but only if no filter has to be asked
 * first whether it counts at all.
 */
static __always_inline bool nt_is_rejected(struct nt_cpu *cpu, __u32 program, const struct nt_seen_packet *seen)
{
	__u32 outcome;

	if (nt_config.latency.is_filtered)
		return false;
	outcome = nt_judge_stamp(seen);
	if (outcome == NT_OUTCOME_recorded)
		return false;
	nt_count(cpu, program, outcome);
	return true;
}

static __always_inline void nt_fill_latency(struct nt_latency *record, const struct nt_seen_packet *seen, __u64 now_ns,
					    __u64 socket, __u32 weight)
{
	record->end_ns = now_ns;
	record->kind = NT_LATENCY;
	record->hook = seen->hook;
	record->flags = seen->flags;
	record->zero_a = 0;
	record->length = seen->length;
	record->stamp_ns = seen->stamp_ns;
	record->device = seen->device;
	record->socket = socket;
	record->task = seen->has_task ? nt_key_of(bpf_get_current_task_btf()) : 0;
	record->queue_len = seen->queue_len;
	record->weight = weight;
}

/* Into the batch, after what was lost before it: put together where it will stand. */
static __always_inline bool nt_batch_latency(struct nt_cpu *cpu, __u32 cpu_id, const struct nt_seen_packet *seen,
					     __u64 now_ns, __u64 socket, __u32 weight)
{
	__u32 at;

	if (!nt_tell_losses(cpu, cpu_id, now_ns) || !nt_batch_reserve(cpu, cpu_id, sizeof(struct nt_latency), &at))
		return false;
	nt_fill_latency((struct nt_latency *)&cpu->batch.data[(at & (NT_BATCH_BYTES - 1)) / 8], seen, now_ns, socket,
			weight);
	nt_batch_submit(cpu, cpu_id, at + sizeof(struct nt_latency));
	return true;
}

/*
 * Whoever may be preempted must leave the batch alone, and so does who finds it held; what was lost before is then told
 * ahead of the next event. The ring takes samples from any number of programs.
 */
static __always_inline bool nt_write_latency(struct nt_cpu *cpu, __u32 cpu_id, const struct nt_seen_packet *seen,
					     __u64 now_ns, __u64 socket, __u32 weight)
{
	struct nt_latency record;

	if (!nt_config.latency.is_preempted && !nt_batch_is_held(cpu))
		return nt_batch_latency(cpu, cpu_id, seen, now_ns, socket, weight);
	nt_fill_latency(&record, seen, now_ns, socket, weight);
	return nt_ring_write(cpu, cpu_id, &record, sizeof(record));
}

/* Ends the run of a packet that nt_is_rejected let pass: the sample, if it is asked for. */
static __always_inline int nt_hook_end(struct nt_cpu *cpu, __u32 cpu_id, __u32 program,
				       const struct nt_seen_packet *seen, struct sock *sk, bool can_make, __u32 weight)
{
	__u64 now_ns, socket = 0;
	__u32 outcome;
	bool written;

	if (nt_config.latency.is_filtered) {
		outcome = nt_is_wanted(seen) ? nt_judge_stamp(seen) : NT_OUTCOME_skipped_filter;
		if (outcome != NT_OUTCOME_recorded) {
			nt_count(cpu, program, outcome);
			return 0;
		}
	}
	now_ns = bpf_ktime_get_ns();
	if (seen->device && !nt_device_is_announced(seen->device))
		nt_announce_device_of(seen, now_ns);
	if (sk)
		socket = nt_hook_socket(sk, now_ns, can_make);
	written = nt_count_records(cpu, program, nt_write_latency(cpu, cpu_id, seen, now_ns, socket, weight),
				   NT_LATENCY, 0, now_ns, 0);
	nt_count(cpu, program, written ? NT_OUTCOME_recorded : NT_OUTCOME_lost);
	return 0;
}

/* The rest of a run at a hook where the packet is still its device's. */
static __always_inline int nt_hook_of_device(struct nt_cpu *cpu, __u32 cpu_id, __u32 program,
					     struct nt_seen_packet *seen, struct sk_buff *skb, __u32 weight)
{
	struct net_device *dev;

	nt_see_packet(seen, skb);
	if (nt_is_rejected(cpu, program, seen))
		return 0;
	dev = skb->dev;
	if (dev)
		nt_see_device(seen, dev->nd_net.net, dev->ifindex);
	return nt_hook_end(cpu, cpu_id, program, seen, NULL, false, weight);
}

/* The same where it is a socket's. */
static __always_inline int nt_hook_of_socket(struct nt_cpu *cpu, __u32 cpu_id, __u32 program,
					     struct nt_seen_packet *seen, struct sock *sk, struct sk_buff *skb,
					     bool can_make, __u32 weight)
{
	nt_see_packet(seen, skb);
	if (nt_is_rejected(cpu, program, seen))
		return 0;
	nt_see_socket(seen, sk, skb->skb_iif);
	return nt_hook_end(cpu, cpu_id, program, seen, sk, can_make, weight);
}

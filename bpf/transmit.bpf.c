// SPDX-License-Identifier: GPL-2.0-only
/*
 * transmit.bpf.c - probe `transmit`: how late packets are on their way down, when they are queued at a device and when
 * its driver gets them. Whether a packet makes samples is decided once for a device, when it is queued there: it is
 * noted then, and the driver's start looks for it.
 *
 * A packet's send is known where the task that queues it is inside a send on its socket, and TCP had not taken a byte
 * of it before. Elsewhere it is not: ACKs, timers and other sends let TCP's bytes go, and what a packet was cut from,
 * or waited for in a neighbour's queue, is not told.
 */
#include "bpf/latency.h"
#include "bpf/places.h"

#define ETH_P_IPV6 0x86dd
#define SOCK_STREAM 1
#define SOCK_RAW 3
#define SOCK_PACKET 10

struct nt_noted_packets_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NT_PACKET_SETS);
	__type(key, __u32);
	__type(value, struct nt_packet_set);
};

struct nt_noted_packets_map nt_noted_packets SEC(".maps");

static __always_inline __u64 packet_key(const struct sk_buff *skb)
{
	return nt_address_key(skb, &nt_noted_packets);
}

static __always_inline struct nt_packet_set *packet_set(__u64 key)
{
	__u32 number = nt_places_set_of(key, NT_PACKET_SETS);

	return bpf_map_lookup_elem(&nt_noted_packets, &number);
}

/* Takes a packet out, and gives what was noted of it. False: nothing was. */
static __always_inline bool take_packet(const struct sk_buff *skb, struct nt_noted_packet *noted)
{
	const __u64 key = packet_key(skb);
	struct nt_packet_set *set = packet_set(key);
	__u32 way = set ? nt_places_find(set->keys, key) : NT_PLACES;

	if (!set || way == NT_PLACES)
		return false;
	way &= NT_PLACES - 1;
	if (noted)
		*noted = set->ways[way];
	set->keys[way] = 0;
	return true;
}

static __always_inline void note_packet(const struct sk_buff *skb, const struct nt_noted_packet *noted)
{
	const __u64 key = packet_key(skb);
	struct nt_packet_set *set = packet_set(key);

	if (set)
		set->ways[nt_places_take(set->keys, set->ways, sizeof(*noted), key) & (NT_PLACES - 1)] = *noted;
}

/* The send that the current task is inside. */
struct open_send {
	__u64 begin_ns;
	__u32 write_seq;
};

static __always_inline bool find_task_send(struct task_struct *task, const struct sock *sk, struct open_send *send)
{
	struct nt_task_stack *stack = bpf_task_storage_get(&nt_task_stacks, task, NULL, 0);
	bool found = false;

	if (!stack)
		return false;
#pragma unroll
	for (__u32 i = 0; i < NT_OP_DEPTH; i++) {
		const struct nt_task_op *op = &stack->op[i];

		if (i >= stack->n || op->sk != (unsigned long)sk || op->dir != NT_SEND)
			continue;
		send->begin_ns = op->begin_ns;
		send->write_seq = op->write_seq;
		found = true;
	}
	return found;
}

static __always_inline bool find_send(struct nt_cpu *cpu, const struct sock *sk, struct open_send *send)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const volatile struct nt_noted_op *op = &cpu->op;

	if (nt_config.ops_by_task)
		return find_task_send(task, sk, send);
	if (op->sk != (unsigned long)sk || op->flags & NT_OP_BEFORE || !nt_op_is_open(&cpu->op, task) ||
	    nt_call_info(op->call_nr)->dir != NT_SEND)
		return false;
	send->begin_ns = op->begin_ns;
	send->write_seq = op->write_seq;
	/* Where the program is preempted, another task's may have stood here meanwhile. */
	return op->sk == (unsigned long)sk && op->begin_ns == send->begin_ns;
}

/* The begin of a TCP header. */
struct tcp_header {
	__be16 source, dest;
	__be32 seq, ack_seq;
	__u8 length, flags; /* length: of the header, in 4 bytes, in the upper half */
};

/*
 * Whether all bytes of a TCP segment were given to the socket from `write_seq` on. What stands elsewhere than the
 * socket's own header, as below a tunnel's, has other ports.
 */
static __always_inline bool is_from(const struct sk_buff *skb, const struct sock *sk, __u32 write_seq)
{
	const unsigned char *at = skb->head + skb->transport_header;
	struct tcp_header header;
	__s64 bytes;

	if (bpf_probe_read_kernel(&header, sizeof(header), at) ||
	    header.source != __builtin_bswap16(sk->__sk_common.skc_num) || header.dest != sk->__sk_common.skc_dport)
		return false;
	bytes = (__s64)skb->len - (at - (const unsigned char *)skb->data) - (header.length >> 4) * 4;
	return bytes > 0 && (__s32)(__builtin_bswap32(header.seq) - write_seq) >= 0;
}

/* When the send of a packet began; 0: not known. Of what is no message, only TCP tells where a send's bytes are. */
static __always_inline __u64 send_of(struct nt_cpu *cpu, const struct sk_buff *skb, const struct sock *sk)
{
	struct open_send send;

	if (!sk || nt_in_softirq(cpu) || !find_send(cpu, sk, &send))
		return 0;
	if (sk->sk_type == SOCK_STREAM) {
		if (sk->sk_protocol != IPPROTO_TCP || !is_from(skb, sk, send.write_seq))
			return 0;
	} else if (sk->sk_type > SOCK_RAW && sk->sk_type != SOCK_PACKET) {
		return 0;
	}
	return send.begin_ns;
}

static __always_inline bool is_wanted(const struct nt_seen_packet *seen)
{
	if (nt_config.latency.netns && seen->netns != nt_config.latency.netns)
		return false;
	if (nt_config.latency.by_device && !bpf_map_lookup_elem(&nt_filter_devices, &seen->device))
		return false;
	if (nt_config.latency.by_pid || nt_config.latency.cgroup)
		return seen->has_task && nt_reader_is_wanted();
	return true;
}

static __always_inline void write_sample(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, __u8 hook, __u64 now_ns,
					 const struct nt_noted_packet *noted)
{
	struct nt_transmit record = {
		.end_ns = now_ns,
		.kind = NT_TRANSMIT,
		.hook = hook,
		.flags = noted->flags,
		.length = noted->length,
		.send_ns = noted->send_ns,
		.wait_ns = now_ns - noted->queue_ns,
		.device = noted->device,
		.socket = noted->socket,
		.task = noted->task,
		.weight = noted->weight,
	};

	nt_emit_loose_apart(cpu, cpu_id, program, &record, sizeof(record), NT_TRANSMIT);
}

static __always_inline void see_queued(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, struct sk_buff *skb,
				       __u32 weight)
{
	struct nt_noted_packet noted = {.length = skb->len, .weight = weight};
	struct net_device *dev = skb->dev;
	struct nt_seen_packet seen = {};
	struct sock *sk = skb->sk;

	nt_see_device(&seen, dev->nd_net.net, dev->ifindex);
	noted.send_ns = send_of(cpu, skb, sk);
	seen.has_task = noted.send_ns;
	if (nt_config.latency.is_filtered && !is_wanted(&seen)) {
		take_packet(skb, NULL);
		nt_count(cpu, program, NT_OUTCOME_skipped_filter);
		return;
	}
	noted.queue_ns = bpf_ktime_get_ns();
	if (!nt_device_is_announced(seen.device))
		nt_announce_device_of(&seen, noted.queue_ns);
	noted.device = seen.device;
	noted.sk = (unsigned long)sk;
	if (sk && nt_is_whole_socket(sk, true))
		noted.socket = nt_hook_socket(sk, noted.queue_ns, false);
	if (noted.send_ns)
		noted.task = nt_key_of(bpf_get_current_task_btf());
	noted.flags = skb->protocol == __builtin_bswap16(ETH_P_IPV6) ? NT_LATENCY_IPV6 : 0;
	note_packet(skb, &noted);
	write_sample(cpu, cpu_id, program, NT_HOOK_tx_queued, noted.queue_ns, &noted);
}

/* One that is left out takes out what was noted of an earlier packet at its address. */
SEC("tp_btf/net_dev_queue")
int BPF_PROG(nt_latency_tx_queued__net_dev_queue, struct sk_buff *skb)
{
	__u32 program = NT_PROGRAM_latency_tx_queued__net_dev_queue, cpu_id, weight = 1;
	struct nt_cpu *cpu;

	cpu = nt_this_cpu_if_on(program, &cpu_id);
	if (!cpu)
		return 0;
	if (nt_config.latency.is_sampled && nt_leaves_out(cpu, program, &weight))
		take_packet(skb, NULL);
	else
		see_queued(cpu, cpu_id, program, skb, weight);
	return 0;
}

/* The kernel may have made this packet of another one since, at an address that was another's. */
static __always_inline bool is_noted(const struct nt_noted_packet *noted, const struct sk_buff *skb)
{
	const struct net_device *dev = skb->dev;

	return noted->length == skb->len && noted->sk == (unsigned long)skb->sk &&
	       noted->device == nt_device_key(dev->nd_net.net->ns.inum, dev->ifindex);
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(nt_latency_tx_started__net_dev_start_xmit, struct sk_buff *skb)
{
	__u32 program = NT_PROGRAM_latency_tx_started__net_dev_start_xmit, cpu_id;
	struct nt_noted_packet noted;
	struct nt_cpu *cpu;

	cpu = nt_this_cpu_if_on(program, &cpu_id);
	if (!cpu)
		return 0;
	if (take_packet(skb, &noted) && is_noted(&noted, skb))
		write_sample(cpu, cpu_id, program, NT_HOOK_tx_started, bpf_ktime_get_ns(), &noted);
	else
		nt_count(cpu, program, NT_OUTCOME_skipped_unnoted);
	return 0;
}

/* A packet that is dropped, most often because its device's queue is full, gives its address to another one. */
SEC("tp_btf/kfree_skb")
int BPF_PROG(nt_transmit_drop, struct sk_buff *skb)
{
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_transmit_drop, &cpu_id);
	if (!cpu)
		return 0;
	nt_count(cpu, NT_PROGRAM_transmit_drop, take_packet(skb, NULL) ? NT_OUTCOME_noted : NT_OUTCOME_skipped_unnoted);
	return 0;
}

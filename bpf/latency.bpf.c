// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency.bpf.c - probe `latency` where the kernel allows programs before and after functions: the seven hooks, each at
 * the function that a packet passes there. The latency itself is computed when the tape is read (schema/event.h).
 */
#include "bpf/latency.h"
#include "bpf/tcp_order.h"

struct nt_filter_pids_map nt_filter_pids SEC(".maps");
struct nt_filter_devices_map nt_filter_devices SEC(".maps");
struct nt_tcp_orders_map nt_tcp_orders SEC(".maps");

/* A packet on its way up, still its device's. */
static __always_inline int see_arriving(__u32 program, __u8 hook, struct sk_buff *skb, __u8 flags)
{
	struct nt_cpu *cpu;
	__u32 cpu_id, weight;

	cpu = nt_hook_begin(program, &cpu_id, &weight);
	if (!cpu)
		return 0;
	return nt_hook_of_device(cpu, cpu_id, program, &(struct nt_seen_packet){.hook = hook, .flags = flags}, skb,
				 weight);
}

#define ARRIVING(hook, function, flags)                                                                                \
	SEC("fentry/" #function)                                                                                       \
	int BPF_PROG(nt_latency_##hook##__##function, struct sk_buff *skb)                                             \
	{                                                                                                              \
		return see_arriving(NT_PROGRAM_latency_##hook##__##function, NT_HOOK_##hook, skb, flags);              \
	}

ARRIVING(ip_start, ip_rcv_core, 0)
ARRIVING(ip_start, ip6_rcv_core, NT_LATENCY_IPV6)
ARRIVING(tcp_start, tcp_v4_rcv, 0)
ARRIVING(tcp_start, tcp_v6_rcv, NT_LATENCY_IPV6)
ARRIVING(udp_start, udp_rcv, 0)
ARRIVING(udp_start, udpv6_rcv, NT_LATENCY_IPV6)

/* The socket is locked, so nobody has read the packet yet. */
SEC("fexit/tcp_queue_rcv")
int BPF_PROG(nt_latency_tcp_socket_enqueued__tcp_queue_rcv, struct sock *sk, struct sk_buff *skb)
{
	__u32 program = NT_PROGRAM_latency_tcp_socket_enqueued__tcp_queue_rcv, cpu_id, weight;
	struct nt_cpu *cpu;

	cpu = nt_hook_begin(program, &cpu_id, &weight);
	if (!cpu)
		return 0;
	return nt_hook_of_socket(cpu, cpu_id, program, &(struct nt_seen_packet){.hook = NT_HOOK_tcp_socket_enqueued},
				 sk, skb, true, weight);
}

/*
 * Nothing keeps a reader on another CPU from having the packet already: what it says of itself is good as long as its
 * memory is not in use again, which takes longer than we do.
 */
SEC("fexit/__udp_enqueue_schedule_skb")
int BPF_PROG(nt_latency_udp_socket_enqueued____udp_enqueue_schedule_skb, struct sock *sk, struct sk_buff *skb,
	     int result)
{
	__u32 program = NT_PROGRAM_latency_udp_socket_enqueued____udp_enqueue_schedule_skb, cpu_id, weight;
	struct nt_cpu *cpu;

	cpu = nt_hook_begin(program, &cpu_id, &weight);
	if (!cpu)
		return 0;
	if (result) {
		nt_count(cpu, program, NT_OUTCOME_skipped_unqueued);
		return 0;
	}
	return nt_hook_of_socket(cpu, cpu_id, program, &(struct nt_seen_packet){.hook = NT_HOOK_udp_socket_enqueued},
				 sk, skb, true, weight);
}

/* Called once for each receive call that took something, with the time of the last segment that it took from. */
SEC("fentry/tcp_recv_timestamp")
int BPF_PROG(nt_latency_tcp_socket_read__tcp_recv_timestamp, struct msghdr *msg, struct sock *sk,
	     struct scm_timestamping_internal *tss)
{
	__u32 program = NT_PROGRAM_latency_tcp_socket_read__tcp_recv_timestamp, cpu_id, weight;
	struct nt_seen_packet seen = {.hook = NT_HOOK_tcp_socket_read, .has_task = true};
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct nt_cpu *cpu;

	if (tp && tp->rcv_ooopack && nt_has_waited(sk, tp->rcv_ooopack, tp->copied_seq))
		seen.flags = NT_LATENCY_HOL;
	cpu = nt_hook_begin(program, &cpu_id, &weight);
	if (!cpu)
		return 0;
	seen.stamp_ns = nt_stamp_of_read(tss);
	if (nt_is_rejected(cpu, program, &seen))
		return 0;
	nt_see_socket(&seen, sk, nt_last_ifindex(sk));
	return nt_hook_end(cpu, cpu_id, program, &seen, sk, true, weight);
}

SEC("fentry/skb_consume_udp")
int BPF_PROG(nt_latency_udp_socket_read__skb_consume_udp, struct sock *sk, struct sk_buff *skb, int length)
{
	__u32 program = NT_PROGRAM_latency_udp_socket_read__skb_consume_udp, cpu_id, weight;
	struct nt_cpu *cpu;

	cpu = nt_hook_begin(program, &cpu_id, &weight);
	if (!cpu)
		return 0;
	if (length < 0) {
		nt_count(cpu, program, NT_OUTCOME_skipped_peek);
		return 0;
	}
	return nt_hook_of_socket(cpu, cpu_id, program,
				 &(struct nt_seen_packet){.hook = NT_HOOK_udp_socket_read, .has_task = true}, sk, skb,
				 true, weight);
}

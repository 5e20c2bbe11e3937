// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency_points.bpf.c - probe `latency` by tracepoints, where the kernel refuses programs before functions: at the
 * points closest to the hooks. The plan (record/plan.c) and the tape tell how they differ.
 */
#include "bpf/latency.h"
#include "bpf/tcp_order.h"

#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(nt_latency_ip_start__netif_receive_skb, struct sk_buff *skb)
{
	__u32 program = NT_PROGRAM_latency_ip_start__netif_receive_skb, cpu_id, weight;
	struct nt_cpu *cpu;
	__u16 protocol;

	cpu = nt_hook_begin(program, &cpu_id, &weight);
	if (!cpu)
		return 0;
	protocol = __builtin_bswap16(skb->protocol);
	if (protocol != ETH_P_IP && protocol != ETH_P_IPV6) {
		nt_count(cpu, program, NT_OUTCOME_skipped_family);
		return 0;
	}
	return nt_hook_of_device(cpu, cpu_id, program,
				 &(struct nt_seen_packet){.hook = NT_HOOK_ip_start,
							  .flags = protocol == ETH_P_IPV6 ? NT_LATENCY_IPV6 : 0},
				 skb, weight);
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(nt_latency_tcp_start__tcp_probe, struct sock *sk, struct sk_buff *skb)
{
	__u32 program = NT_PROGRAM_latency_tcp_start__tcp_probe, cpu_id, weight;
	struct nt_cpu *cpu;

	cpu = nt_hook_begin(program, &cpu_id, &weight);
	if (!cpu)
		return 0;
	return nt_hook_of_socket(cpu, cpu_id, program, &(struct nt_seen_packet){.hook = NT_HOOK_tcp_start}, sk, skb,
				 true, weight);
}

/*
 * The socket tells its reader that there is something to read: the last packet of its queue. A reader on another CPU
 * may take it from under us, so the queue is asked again afterwards.
 */
static __always_inline int see_ready(__u32 program, __u8 hook, struct sock *sk, __u16 protocol)
{
	struct nt_seen_packet seen;
	struct sk_buff *last, *again;
	struct nt_cpu *cpu;
	__u32 cpu_id, weight;

	cpu = nt_hook_begin(program, &cpu_id, &weight);
	if (!cpu)
		return 0;
	if (sk->sk_protocol != protocol || !nt_is_internet(sk->__sk_common.skc_family)) {
		nt_count(cpu, program, NT_OUTCOME_skipped_family);
		return 0;
	}
	seen = (struct nt_seen_packet){.hook = hook};
	last = sk->sk_receive_queue.prev;
	if (sk->sk_receive_queue.qlen) {
		nt_see_packet(&seen, last);
		nt_see_socket(&seen, sk, last->skb_iif);
	}
	again = *(struct sk_buff *volatile *)&sk->sk_receive_queue.prev;
	if (!seen.netns || again != last) {
		nt_count(cpu, program, NT_OUTCOME_skipped_unqueued);
		return 0;
	}
	if (nt_is_rejected(cpu, program, &seen))
		return 0;
	return nt_hook_end(cpu, cpu_id, program, &seen, sk, true, weight);
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(nt_latency_tcp_socket_enqueued__sk_data_ready, struct sock *sk)
{
	return see_ready(NT_PROGRAM_latency_tcp_socket_enqueued__sk_data_ready, NT_HOOK_tcp_socket_enqueued, sk,
			 IPPROTO_TCP);
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(nt_latency_udp_socket_enqueued__sk_data_ready, struct sock *sk)
{
	return see_ready(NT_PROGRAM_latency_udp_socket_enqueued__sk_data_ready, NT_HOOK_udp_socket_enqueued, sk,
			 IPPROTO_UDP);
}

/* A segment is copied to its reader: those of TCP know their socket while they are in its queue, datagrams do not. */
SEC("tp_btf/skb_copy_datagram_iovec")
int BPF_PROG(nt_latency_tcp_socket_read__skb_copy_datagram_iovec, struct sk_buff *skb)
{
	__u32 program = NT_PROGRAM_latency_tcp_socket_read__skb_copy_datagram_iovec, cpu_id, weight, disorder;
	struct nt_seen_packet seen = {.hook = NT_HOOK_tcp_socket_read, .has_task = true};
	struct sock *sk = skb->sk;
	struct nt_cpu *cpu;
	bool is_tcp;

	is_tcp = sk && sk->sk_protocol == IPPROTO_TCP && nt_is_internet(sk->__sk_common.skc_family);
	disorder = is_tcp ? BPF_CORE_READ((struct tcp_sock *)sk, rcv_ooopack) : 0;
	/* Also of those that sampling leaves out. */
	if (disorder && nt_has_waited(sk, disorder, BPF_CORE_READ((struct tcp_skb_cb *)skb->cb, end_seq)))
		seen.flags = NT_LATENCY_HOL;
	cpu = nt_hook_begin(program, &cpu_id, &weight);
	if (!cpu)
		return 0;
	if (!is_tcp) {
		nt_count(cpu, program, NT_OUTCOME_skipped_family);
		return 0;
	}
	return nt_hook_of_socket(cpu, cpu_id, program, &seen, sk, skb, false, weight);
}

/*
 * Gives a socket that is being read its cookie: the program above is not let do so. Needed only where no program sees
 * packets before they are read.
 */
SEC("tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(nt_tcp_rcv_space_adjust, struct sock *sk)
{
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu(&cpu_id);
	if (!cpu)
		return 0;
	if (!sk->__sk_common.skc_cookie.counter)
		bpf_get_socket_cookie(sk);
	nt_count(cpu, NT_PROGRAM_tcp_rcv_space_adjust, NT_OUTCOME_noted);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * receiver.bpf.c - the part of probe `deliver` that sees which socket a flow's packets go to, where the kernel has
 * found it: after NAT and redirection, in the socket's own namespace. The packet is then given to the socket's filter:
 * there a program sees it, before that function or, where the kernel lets none be put there, as a filter of the root
 * cgroup, which lets all pass.
 */
#include "bpf/deliver.h"
#include "bpf/socket_op.h"

#define PASS 1
#define PACKET_HOST 0
#define MAX_SOCKETS 64 /* that a flow names in one generation */

/*
 * The packet of a list that this is, which is delivered with that; NULL: it is of none. The last that had this buffer
 * is meant: a bridge or a tunnel lets one packet be seen twice, and a dropped packet's buffer is another's soon.
 */
static __always_inline struct nt_listed *take_listed(struct nt_cpu *cpu, __u64 skb)
{
	__u64 n = cpu->listed_run_ns == cpu->stretch.run_ns ? cpu->n_listed : 0;

	for (__u32 i = 1; i <= NT_LISTED; i++) {
		struct nt_listed *listed = &cpu->listed[(n - i) & (NT_LISTED - 1)];

		if (i > n)
			break;
		if (listed->skb == skb) {
			listed->skb = 0;
			return listed;
		}
	}
	return NULL;
}

/* If nobody has used the socket yet, the recorder is to ask who holds it. `sk`: NULL, the packet has it. */
static __always_inline void announce_receiver(const struct sk_buff *skb, struct sock *sk, __u64 cookie, __u64 now_ns)
{
	struct nt_seen_socket *slot = seen_slot(cookie);
	bool is_new = slot && slot->cookie != cookie;

	if (sk)
		announce(sk, cookie, now_ns);
	else
		nt_announce_socket((__u64)BPF_CORE_READ(skb, sk), cookie, now_ns);
	if (is_new && slot->cookie == cookie)
		slot->process = NT_PROCESS_WANTED;
}

/*
 * Whether packets of the flow are for one socket: they have its ports, and are for one receiver. (Of those for several,
 * each gets a copy, and who gets the packet itself says nothing of the others.)
 */
static __always_inline bool is_for_one(const struct sk_buff *skb, const struct nt_flow_tuple *tuple)
{
	__u8 first = tuple->dst[0];

	return tuple->ports && (tuple->family == AF_INET6 ? first != 0xff : first >> 4 != 14) &&
	       BPF_CORE_READ_BITFIELD_PROBED(skb, pkt_type) == PACKET_HOST;
}

/*
 * Writes that the flow goes to this socket. One that has named so many goes to none from then on: nothing that comes
 * may fill the tape.
 */
static __always_inline __u32 bind_flow(struct nt_cpu *cpu, __u32 cpu_id, const struct sk_buff *skb, struct sock *sk,
				       __u64 cookie, __u64 flow, const struct nt_flow_tuple *tuple,
				       struct nt_seen_flow *seen)
{
	__u64 n = seen->flow == nt_flow_now(cpu, flow) ? seen->n_sockets : 0;
	bool is_last = n + 1 == MAX_SOCKETS;
	__u64 now_ns;

	if (n == MAX_SOCKETS)
		return NT_OUTCOME_skipped_filter;
	now_ns = bpf_ktime_get_ns();
	if (!is_last)
		announce_receiver(skb, sk, cookie, now_ns);
	if (!nt_write_flow(cpu, cpu_id, tuple, flow, is_last ? 0 : cookie, is_last ? NT_FLOW_SCATTERED : 0, now_ns))
		return NT_OUTCOME_lost;
	nt_set_flow(cpu, seen, flow, cookie, n + 1);
	if (cpu->stretch.flow == flow)
		cpu->stretch.is_new = 0;
	return NT_OUTCOME_recorded;
}

/* The path of most packets: their flow names their socket. */
static __always_inline __u32 see_flow(struct nt_cpu *cpu, __u32 cpu_id, const struct sk_buff *skb, struct sock *sk,
				      __u64 cookie, __u64 flow, const struct nt_flow_tuple *tuple)
{
	struct nt_seen_flow *seen = nt_seen_flow(flow);

	if (!seen)
		return NT_OUTCOME_skipped_failed;
	if (seen->socket == cookie && seen->flow == nt_flow_now(cpu, flow))
		return NT_OUTCOME_skipped_part;
	if (!is_for_one(skb, tuple))
		return NT_OUTCOME_skipped_filter;
	return bind_flow(cpu, cpu_id, skb, sk, cookie, flow, tuple, seen);
}

static __always_inline __u32 see_packet(struct nt_cpu *cpu, __u32 cpu_id, const struct sk_buff *skb, struct sock *sk,
					__u64 cookie)
{
	struct nt_open_stretch *stretch = &cpu->stretch;
	struct nt_listed *listed;

	if (!stretch->packets)
		return NT_OUTCOME_skipped_context;
	if (stretch->flags & NT_RX_STRETCH_LISTED) {
		listed = take_listed(cpu, (unsigned long)skb);
		if (listed)
			return see_flow(cpu, cpu_id, skb, sk, cookie, listed->flow, &listed->tuple);
	}
	if (stretch->skb != (unsigned long)skb)
		return NT_OUTCOME_skipped_context;
	return see_flow(cpu, cpu_id, skb, sk, cookie, stretch->flow, &stretch->tuple);
}

SEC("fentry/sk_filter_trim_cap")
int BPF_PROG(nt_enter_sk_filter_trim_cap, struct sock *sk, struct sk_buff *skb)
{
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_enter_sk_filter_trim_cap, &cpu_id);
	if (cpu)
		nt_count(cpu, NT_PROGRAM_enter_sk_filter_trim_cap,
			 see_packet(cpu, cpu_id, skb, sk, bpf_get_socket_cookie(sk)));
	return 0;
}

/* A program's context is the packet itself: its address tells it. */
SEC("cgroup_skb/ingress")
int nt_rx_socket(struct __sk_buff *context)
{
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_rx_socket, &cpu_id);
	if (cpu)
		nt_count(
			cpu, NT_PROGRAM_rx_socket,
			see_packet(cpu, cpu_id, (const struct sk_buff *)context, NULL, bpf_get_socket_cookie(context)));
	return PASS;
}

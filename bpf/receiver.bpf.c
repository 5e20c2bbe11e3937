// SPDX-License-Identifier: GPL-2.0-only
/*
 * receiver.bpf.c - the part of probe `deliver` that sees which socket a flow's packets go to, where the kernel has
 * found it: after NAT and redirection, in the socket's own namespace. The program stands in the way of each packet to a
 * socket, as a filter of the root cgroup, and lets all pass.
 */
#include "bpf/deliver.h"
#include "bpf/socket_op.h"

#define PASS 1
#define PACKET_HOST 0
#define MAX_SOCKETS 16 /* that a flow names in one generation */

/* The packet of the list at hand; NULL: it is none of them. They are delivered in their order, but for some. */
static __always_inline struct nt_listed *find_listed(struct nt_cpu *cpu, __u64 skb)
{
	struct nt_listed *listed = &cpu->listed[cpu->n_delivered & (NT_LISTED - 1)];

	if (listed->skb == skb)
		return listed;
	for (__u32 i = 0; i < NT_LISTED; i++) {
		listed = &cpu->listed[i];
		if (listed->skb == skb)
			return listed;
	}
	return NULL;
}

/* The same, and it is delivered. */
static __always_inline struct nt_listed *take_listed(struct nt_cpu *cpu, __u64 skb)
{
	struct nt_listed *listed = find_listed(cpu, skb);

	if (listed) {
		listed->skb = 0;
		cpu->n_delivered++;
	}
	return listed;
}

/* The socket that has the packet at this address. If nobody has used it, the recorder is to ask who holds it. */
static __always_inline void announce_receiver(__u64 skb, __u64 cookie, __u64 now_ns)
{
	struct nt_seen_socket *slot = seen_slot(cookie);
	bool is_new = slot && slot->cookie != cookie;

	nt_announce_socket((__u64)BPF_CORE_READ((struct sk_buff *)skb, sk), cookie, now_ns);
	if (is_new && slot->cookie == cookie)
		slot->process = NT_PROCESS_WANTED;
}

/* Writes that the flow goes to this socket, unless that is written. A flow that changes too often goes to none. */
static __always_inline __u32 bind_flow(struct nt_cpu *cpu, __u32 cpu_id, __u64 skb, __u64 flow,
				       const struct nt_flow_tuple *tuple, __u64 cookie)
{
	struct nt_seen_flow *seen = nt_seen_flow(flow);
	__u64 now_ns, n;

	if (!seen || !flow)
		return NT_OUTCOME_skipped_failed;
	n = seen->flow == nt_flow_now(cpu, flow) ? seen->n_sockets : 0;
	if (n && seen->socket == cookie)
		return NT_OUTCOME_skipped_part;
	if (n == MAX_SOCKETS)
		return NT_OUTCOME_skipped_filter;
	now_ns = bpf_ktime_get_ns();
	if (++n == MAX_SOCKETS)
		cookie = 0;
	else
		announce_receiver(skb, cookie, now_ns);
	if (!nt_write_flow(cpu, cpu_id, tuple, flow, cookie, now_ns))
		return NT_OUTCOME_lost;
	nt_set_flow(cpu, seen, flow, cookie, n);
	return NT_OUTCOME_recorded;
}

/* A packet that is for several has copies: who gets the packet itself says nothing of the others. */
static __always_inline __u32 see_delivered(struct nt_cpu *cpu, __u32 cpu_id, struct __sk_buff *context)
{
	struct nt_open_stretch *stretch = &cpu->stretch;
	__u64 skb = (unsigned long)context, cookie;
	struct nt_listed *listed;
	__u32 outcome;

	if (!stretch->packets)
		return NT_OUTCOME_skipped_context;
	if (context->pkt_type != PACKET_HOST)
		return NT_OUTCOME_skipped_filter;
	cookie = bpf_get_socket_cookie(context);
	listed = stretch->flags & NT_RX_STRETCH_LISTED ? take_listed(cpu, skb) : NULL;
	if (listed && listed->flow != stretch->flow)
		return bind_flow(cpu, cpu_id, skb, listed->flow, &listed->tuple, cookie);
	if (!listed && stretch->skb != skb)
		return NT_OUTCOME_skipped_context;
	if (stretch->socket == cookie)
		return NT_OUTCOME_skipped_part;
	outcome = bind_flow(cpu, cpu_id, skb, stretch->flow, &stretch->tuple, cookie);
	if (outcome != NT_OUTCOME_lost) {
		stretch->socket = cookie;
		stretch->is_new = 0;
	}
	return outcome;
}

SEC("cgroup_skb/ingress")
int nt_rx_socket(struct __sk_buff *context)
{
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_rx_socket, &cpu_id);
	if (cpu)
		nt_count(cpu, NT_PROGRAM_rx_socket, see_delivered(cpu, cpu_id, context));
	return PASS;
}

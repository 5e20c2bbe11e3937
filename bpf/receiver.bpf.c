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
#define TCP_CLOSE 7
#define TCP_LISTEN 10
#define TCP_NEW_SYN_RECV 12
#define MAX_SOCKETS 64 /* that a flow names in one generation */

/*
 * The socket whose data a process reads: the one that the packet is given to, or that of MPTCP which the kernel put it
 * below. `sk`: NULL, the packet has it. A function of its own, for a stack of its own.
 */
static __noinline __u64 find_receiver(const struct sk_buff *skb, struct sock *sk)
{
	struct mptcp_subflow_context *subflow;
	struct sock *above;
	__u64 address = 0;

	if (sk)
		bpf_probe_read_kernel(&address, sizeof(address), &sk);
	else
		address = (__u64)BPF_CORE_READ(skb, sk);
	sk = (struct sock *)address;
	if (!bpf_core_field_exists(struct tcp_sock, is_mptcp) || BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP ||
	    !BPF_CORE_READ((struct tcp_sock *)sk, is_mptcp))
		return address;
	subflow = BPF_CORE_READ((struct inet_connection_sock *)sk, icsk_ulp_data);
	above = BPF_CORE_READ(subflow, conn);
	return above ? (__u64)above : address;
}

/* 0: it has none yet. */
static __noinline __u64 cookie_at(__u64 address)
{
	return BPF_CORE_READ((struct sock *)address, __sk_common.skc_cookie.counter);
}

/* If nobody has used the socket yet, the recorder is to ask who holds it. */
static __always_inline void announce_receiver(__u64 receiver, __u64 cookie, __u64 now_ns)
{
	struct nt_seen_socket *slot = seen_slot(cookie);
	bool is_new = slot && slot->cookie != cookie;

	nt_announce_socket(receiver, cookie, now_ns);
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

/* A packet as its mark has counted it. */
struct counted_packet {
	const struct nt_flow_tuple *tuple;
	__u64 flow; /* key */
	__u8 many; /* enum nt_many */
};

/*
 * Writes that the flow goes to this socket. One that has named so many goes to none from then on: nothing that comes
 * may fill the tape.
 */
static __always_inline __u32 bind_flow(struct nt_cpu *cpu, __u32 cpu_id, const struct sk_buff *skb, struct sock *sk,
				       __u64 cookie, const struct counted_packet *packet, struct nt_seen_flow *seen)
{
	bool is_known = nt_is_written(cpu, seen), is_partly = is_known && seen->is_partly;
	__u8 n = is_known ? seen->n_sockets : 0;
	bool is_last = n + 1 == MAX_SOCKETS;
	__u64 receiver, named, now_ns;

	if (n == MAX_SOCKETS)
		return NT_OUTCOME_skipped_filter;
	receiver = find_receiver(skb, sk);
	named = cookie_at(receiver);
	if (!named)
		return NT_OUTCOME_skipped_filter;
	now_ns = bpf_ktime_get_ns();
	if (!is_last)
		announce_receiver(receiver, named, now_ns);
	if (!nt_write_flow(cpu, cpu_id, packet->tuple, packet->many, packet->flow, is_last ? 0 : named,
			   (is_last ? NT_FLOW_SCATTERED : 0) | (is_partly ? NT_FLOW_PARTLY : 0), now_ns))
		return NT_OUTCOME_lost;
	nt_set_flow(cpu, seen, packet->flow, cookie, n + 1, is_partly);
	if (cpu->stretch.flow == packet->flow)
		cpu->stretch.is_new = 0;
	return NT_OUTCOME_recorded;
}

/* Whether the socket has one peer, so that only one flow goes to it. */
static __always_inline bool is_connected(const struct sk_buff *skb, struct sock *sk)
{
	__u8 state = sk ? sk->__sk_common.skc_state : BPF_CORE_READ(skb, sk, __sk_common.skc_state);

	return state != TCP_CLOSE && state != TCP_LISTEN && state != TCP_NEW_SYN_RECV;
}

/*
 * Counts a packet anew that was counted with more flows than this, and later ones of its flow. If the stretch has only
 * this packet, it is of that flow from now on.
 */
static __always_inline void count_anew(struct nt_cpu *cpu, const struct sk_buff *skb, struct counted_packet *packet,
				       enum nt_many many)
{
	__u64 flow = nt_flow_key(nt_config.flow_hashes, packet->tuple, many), now_ns = bpf_ktime_get_ns();
	struct nt_flow_budget *budget = &cpu->new_flows;
	struct nt_open_stretch *stretch = &cpu->stretch;
	__u32 *n = many ? &budget->n_bound : &budget->n_connected;

	if (!nt_seen_flow(flow) && !nt_flow_may_add(budget, now_ns, n, many ? NT_NEW_BOUND : NT_NEW_CONNECTED))
		return;
	if (stretch->packets == 1 && stretch->skb == (unsigned long)skb) {
		stretch->flow = flow;
		stretch->many = many;
		stretch->is_new = true;
	}
	packet->flow = flow;
	packet->many = many;
}

/*
 * A packet that was counted with many flows goes to a socket. If that is connected, its flow is told apart; else, those
 * to its address and port are. False: that is one too many.
 */
static __always_inline bool tell_apart(struct nt_cpu *cpu, const struct sk_buff *skb, struct sock *sk,
				       struct counted_packet *packet)
{
	enum nt_many many = is_connected(skb, sk) ? NT_MANY_NOT : NT_MANY_LOCAL;

	if (packet->many > many)
		count_anew(cpu, skb, packet, many);
	if (packet->many > many)
		return false;
	if (packet->many && cpu->stretch.flow == packet->flow)
		cpu->stretch.delivered++;
	return true;
}

/* The path of most packets: their flow names their socket. */
static __always_inline __u32 see_flow(struct nt_cpu *cpu, __u32 cpu_id, const struct sk_buff *skb, struct sock *sk,
				      __u64 cookie, struct counted_packet *packet)
{
	struct nt_seen_flow *seen;

	if (packet->many && (!is_for_one(skb, packet->tuple) || !tell_apart(cpu, skb, sk, packet)))
		return NT_OUTCOME_skipped_filter;
	seen = nt_seen_flow(packet->flow);
	if (nt_is_written(cpu, seen) && seen->socket == cookie) {
		nt_flow_use(seen);
		return NT_OUTCOME_skipped_part;
	}
	if (!is_for_one(skb, packet->tuple))
		return NT_OUTCOME_skipped_filter;
	return bind_flow(cpu, cpu_id, skb, sk, cookie, packet, seen);
}

static __always_inline __u32 see_packet(struct nt_cpu *cpu, __u32 cpu_id, const struct sk_buff *skb, struct sock *sk,
					__u64 cookie)
{
	struct nt_open_stretch *stretch = &cpu->stretch;
	struct counted_packet packet = {.tuple = &stretch->tuple, .flow = stretch->flow, .many = stretch->many};
	struct nt_listed *listed = NULL;
	__u64 number;

	if (!stretch->packets)
		return NT_OUTCOME_skipped_context;
	if (stretch->flags & NT_RX_STRETCH_LISTED)
		listed = nt_take_listed(cpu, (unsigned long)skb, &number);
	if (listed) {
		nt_reach(cpu, cpu_id, listed, number);
		packet = (struct counted_packet){&listed->tuple, listed->flow, listed->many};
	} else if (stretch->skb != (unsigned long)skb) {
		return NT_OUTCOME_skipped_context;
	}
	return see_flow(cpu, cpu_id, skb, sk, cookie, &packet);
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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * drop.bpf.c - probe `drops`: packets that the kernel frees undelivered, why and where in its code; and probe
 * `retransmits`: segments that TCP sends again.
 */
#include "bpf/device.h"
#include "bpf/socket_op.h"

/*
 * The key of the device that a packet is at. Where the packet waits in a socket's queue, other things stand in the
 * place of its device: so only what its network namespace knows by that index is one.
 */
static __always_inline __u64 device_of(const struct sk_buff *skb, __u64 now_ns)
{
	struct net_device *dev = skb->dev;
	__u64 address = 0, key;
	struct net *net;
	__u32 ifindex;

	if (!dev)
		return 0;
	net = BPF_CORE_READ(dev, nd_net.net);
	ifindex = BPF_CORE_READ(dev, ifindex);
	key = nt_device_key(BPF_CORE_READ(net, ns.inum), ifindex);
	if (!net || !ifindex || !(key >> 32))
		return 0;
	if (nt_device_is_announced(key))
		return key;
	bpf_probe_read_kernel(&address, sizeof(address), &net);
	return nt_announce_ifindex(address, ifindex, now_ns) ? key : 0;
}

/* The socket that a packet is for or from. */
static __always_inline __u64 socket_of(struct sock *sk, __u64 now_ns)
{
	__u64 address = 0, cookie;

	if (!sk)
		return 0;
	cookie = BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);
	if (!cookie || !nt_is_whole_socket(sk, false))
		return 0;
	bpf_probe_read_kernel(&address, sizeof(address), &sk);
	nt_announce_socket(address, cookie, now_ns);
	return cookie;
}

/*
 * The end of a connection stays in the socket's queue as a packet that has no bytes, until the socket is closed. So
 * each connection that ends well would look like one that loses a packet. An empty datagram is one that is lost.
 */
static __always_inline bool is_end_of_stream(const struct sk_buff *skb)
{
	struct sock *sk = skb->sk;

	if (skb->len || !sk)
		return false;
	return nt_is_whole_socket(sk, false) && BPF_CORE_READ(sk, sk_protocol) == IPPROTO_TCP;
}

SEC("tp_btf/kfree_skb")
int nt_kfree_skb(__u64 *ctx)
{
	struct sk_buff *skb = (struct sk_buff *)ctx[0];
	struct nt_drop record = {};
	struct sock *sk = NULL;
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_kfree_skb, &cpu_id);
	if (!cpu)
		return 0;
	if (is_end_of_stream(skb)) {
		nt_count(cpu, NT_PROGRAM_kfree_skb, NT_OUTCOME_skipped_empty);
		return 0;
	}
	record.end_ns = bpf_ktime_get_ns();
	record.kind = NT_DROP;
	record.protocol = __builtin_bswap16(skb->protocol);
	record.length = skb->len;
	record.location = ctx[1];
	if (nt_config.drop_args >= 3)
		record.reason = ctx[2];
	record.device = device_of(skb, record.end_ns);
	if (nt_config.drop_args >= 4)
		sk = (struct sock *)ctx[3];
	record.socket = socket_of(sk ? sk : skb->sk, record.end_ns);
	nt_emit_loose_apart(cpu, cpu_id, NT_PROGRAM_kfree_skb, &record, sizeof(record), NT_DROP);
	return 0;
}

static __always_inline int see_retransmit(__u32 program, __u8 what, struct sock *sk, __u32 length)
{
	struct nt_retransmit record = {};
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(program, &cpu_id);
	if (!cpu)
		return 0;
	record.end_ns = bpf_ktime_get_ns();
	record.kind = NT_RETRANSMIT;
	record.what = what;
	record.state = sk->__sk_common.skc_state;
	record.length = length;
	record.socket = sk->__sk_common.skc_cookie.counter;
	if (!record.socket)
		record.socket = bpf_get_socket_cookie(sk);
	if (!is_announced(cpu, sk, true, record.socket))
		announce(sk, record.socket, record.end_ns);
	nt_emit_loose_apart(cpu, cpu_id, program, &record, sizeof(record), NT_RETRANSMIT);
	return 0;
}

/* Since 6.17 it is told of attempts too that failed, with the error as a third argument. */
SEC("tp_btf/tcp_retransmit_skb")
int nt_tcp_retransmit_skb(__u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct sk_buff *skb = (struct sk_buff *)ctx[1];
	struct nt_cpu *cpu;
	__u32 cpu_id;

	if (nt_config.retransmit_args >= 3 && (int)ctx[2]) {
		cpu = nt_this_cpu(&cpu_id);
		if (cpu)
			nt_count(cpu, NT_PROGRAM_tcp_retransmit_skb, NT_OUTCOME_skipped_failed);
		return 0;
	}
	return see_retransmit(NT_PROGRAM_tcp_retransmit_skb, NT_RETRANSMIT_DATA, sk, skb->len);
}

SEC("tp_btf/tcp_retransmit_synack")
int BPF_PROG(nt_tcp_retransmit_synack, struct sock *sk)
{
	return see_retransmit(NT_PROGRAM_tcp_retransmit_synack, NT_RETRANSMIT_SYNACK, sk, 0);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * delay.bpf.c - makes each packet late: burns time between its stamp and the first hook that sees the stamp, so long
 * that what programs at the hooks take themselves is nothing beside it. histogram.c attaches it.
 */
#include "bpf/compat.h"

char LICENSE[] SEC("license") = "GPL";

#define DELAY_NS 10000000ull
#define MOST_LOOKS (1 << 22) /* at the clock */

static long look(__u32 index, __u64 *until_ns)
{
	return bpf_ktime_get_ns() >= *until_ns;
}

static __always_inline int delay(void)
{
	__u64 until_ns = bpf_ktime_get_ns() + DELAY_NS;

	bpf_loop(MOST_LOOKS, look, &until_ns, 0);
	return 0;
}

SEC("fentry/ip_rcv")
int BPF_PROG(delay_ip, struct sk_buff *skb)
{
	return nt_stamp_is_of_sending(skb) ? 0 : delay();
}

/* A TCP packet that came by veth carries the time of its sending up to here, where it gets a stamp. */
SEC("fentry/ip_protocol_deliver_rcu")
int BPF_PROG(delay_tcp, struct net *net, struct sk_buff *skb, int protocol)
{
	return protocol == IPPROTO_TCP ? delay() : 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * delay.bpf.c - makes each packet late: burns time between its stamp and the first hook that sees the stamp, so long
 * that what programs at the hooks take themselves is nothing beside it. histogram.c attaches it.
 */
#include "bpf/compat.h"
#include "tests/bench/spend.h"

char LICENSE[] SEC("license") = "GPL";

#define DELAY_NS 10000000ull

static __always_inline int delay(void)
{
	spend_until(bpf_ktime_get_ns() + DELAY_NS);
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

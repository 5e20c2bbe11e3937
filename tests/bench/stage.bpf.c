// SPDX-License-Identifier: GPL-2.0-only
/*
 * stage.bpf.c - programs that cost something and let everything pass: for tests/live/stage_causes.sh, which looks for
 * their time where it belongs. One for XDP, one for traffic control.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

static __always_inline __u64 work(__u64 value)
{
	for (int i = 0; i < 400; i++)
		value = value * 6364136223846793005ull + 1442695040888963407ull;
	return value;
}

SEC("xdp")
int stage_xdp(struct xdp_md *context)
{
	return work(bpf_ktime_get_ns()) == 1 ? XDP_DROP : XDP_PASS;
}

SEC("tc")
int stage_tc(struct __sk_buff *skb)
{
	return work(bpf_ktime_get_ns()) == 1 ? 2 : 0; /* TC_ACT_SHOT, TC_ACT_OK */
}

char LICENSE[] SEC("license") = "GPL";

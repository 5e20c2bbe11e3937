// SPDX-License-Identifier: GPL-2.0-only
/*
 * charge.bpf.c - a prototype for docs/charging.md: who pays for receiving. Two groups of programs. `trace_*` write each
 * event inside a receive run, for charge.c to see in which order they come. `cost_*` are candidates for a probe; each
 * is attached alone, to be timed. Tracepoints only.
 */
#include "bpf/compat.h"
#include "tests/bench/charge.h"

char LICENSE[] SEC("license") = "GPL";

#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define NET_RX 3

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct sk_buff___charge {
	unsigned char *head, *data;
	__u32 end;
	__u16 network_header;
};
#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1u << 29);
} events SEC(".maps");

struct charge_shared shared SEC(".data.shared");

/* A CPU's run. */
struct {
	__u64 flow, ns;
	__u32 packets, segments, bytes;
	__u8 is_open;
} __attribute__((aligned(64))) runs[CHARGE_MAX_CPUS];

#define THIS_RUN() (&runs[bpf_get_smp_processor_id() & (CHARGE_MAX_CPUS - 1)])

static __always_inline __u64 mix(__u64 a, __u64 b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15ull;
	return a ^ a >> 29;
}

static __always_inline __u64 flow_of_v4(__u32 src, __u32 dst, __u16 sport, __u16 dport, __u8 protocol)
{
	return mix(mix((__u64)src << 32 | dst, (__u64)sport << 32 | dport), protocol) | 1;
}

struct header_v4 {
	__u8 version_length, tos;
	__u16 length, id, fragment;
	__u8 ttl, protocol;
	__u16 checksum;
	__u32 src, dst;
	__u16 sport, dport;
};

struct header_v6 {
	__u32 version_class;
	__u16 length;
	__u8 protocol, hops;
	__u64 src[2], dst[2];
	__u16 sport, dport;
};

/* By source, destination, protocol and ports; of fragments and packets with options, without ports. */
static __always_inline __u64 flow_at(const void *header, __u16 protocol)
{
	struct header_v4 v4;
	struct header_v6 v6;

	if (protocol == __builtin_bswap16(ETH_P_IP)) {
		if (bpf_probe_read_kernel(&v4, sizeof(v4), header))
			return 0;
		if (v4.version_length != 0x45 || v4.fragment & __builtin_bswap16(0x3fff) ||
		    (v4.protocol != IPPROTO_TCP && v4.protocol != IPPROTO_UDP))
			v4.sport = v4.dport = 0;
		return flow_of_v4(v4.src, v4.dst, v4.sport, v4.dport, v4.protocol);
	}
	if (protocol == __builtin_bswap16(ETH_P_IPV6)) {
		if (bpf_probe_read_kernel(&v6, sizeof(v6), header))
			return 0;
		if (v6.protocol != IPPROTO_TCP && v6.protocol != IPPROTO_UDP)
			v6.sport = v6.dport = 0;
		return mix(mix(mix(v6.src[0], v6.src[1]), mix(v6.dst[0], v6.dst[1])),
			   mix((__u64)v6.sport << 32 | v6.dport, v6.protocol)) |
		       1;
	}
	return mix(protocol, 0) | 1;
}

static __always_inline __u64 in_netns(__u64 flow, struct net *net)
{
	return mix(flow, net->ns.inum) | 1;
}

/* Of a packet whose data begins with the network header. */
static __always_inline __u64 flow_of(const struct sk_buff *skb)
{
	__u64 flow = flow_at(((const struct sk_buff___charge *)skb)->data, skb->protocol);

	return in_netns(flow, skb->dev->nd_net.net);
}

static __always_inline __u16 segments_of(const struct sk_buff *skb)
{
	const struct sk_buff___charge *layout = (const void *)skb;
	struct skb_shared_info *info = (void *)(layout->head + layout->end);

	return BPF_CORE_READ(info, gso_segs);
}

/* ---- the trace ---- */

static __always_inline void write_event(__u8 kind, __u64 id, __u32 size, __u16 segments)
{
	struct charge_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);

	if (!event) {
		__sync_fetch_and_add(&shared.lost, 1);
		return;
	}
	event->ns = bpf_ktime_get_ns();
	event->id = id;
	event->size = size;
	event->segments = segments;
	event->kind = kind;
	event->cpu = bpf_get_smp_processor_id();
	bpf_ringbuf_submit(event, BPF_RB_NO_WAKEUP);
}

/* Whether this CPU is in a receive run. */
static __always_inline bool in_run(__u8 kind)
{
	if (!shared.gate)
		return false;
	if (THIS_RUN()->is_open)
		return true;
	__sync_fetch_and_add(&shared.outside[kind], 1);
	return false;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(trace_entry, unsigned int vec)
{
	if (vec != NET_RX || !shared.gate)
		return 0;
	THIS_RUN()->is_open = 1;
	write_event(CHARGE_ENTRY, 0, 0, 0);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(trace_exit, unsigned int vec)
{
	if (vec != NET_RX || !THIS_RUN()->is_open)
		return 0;
	THIS_RUN()->is_open = 0;
	write_event(CHARGE_EXIT, 0, 0, 0);
	return 0;
}

SEC("tp_btf/napi_poll")
int BPF_PROG(trace_poll, struct napi_struct *napi, int work)
{
	if (in_run(CHARGE_POLL))
		write_event(CHARGE_POLL, !napi->dev, work, 0);
	return 0;
}

static __always_inline int see_gro(struct sk_buff *skb)
{
	if (in_run(CHARGE_GRO))
		write_event(CHARGE_GRO, flow_of(skb), skb->len, 0);
	return 0;
}

SEC("tp_btf/napi_gro_receive_entry")
int BPF_PROG(trace_gro, struct sk_buff *skb)
{
	return see_gro(skb);
}

SEC("tp_btf/napi_gro_frags_entry")
int BPF_PROG(trace_frags, struct sk_buff *skb)
{
	return see_gro(skb);
}

SEC("tp_btf/netif_receive_skb_list_entry")
int BPF_PROG(trace_list, struct sk_buff *skb)
{
	if (in_run(CHARGE_LIST))
		write_event(CHARGE_LIST, 0, 0, 0);
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(trace_receive, struct sk_buff *skb)
{
	if (in_run(CHARGE_RECEIVE))
		write_event(CHARGE_RECEIVE, flow_of(skb), skb->len, segments_of(skb));
	return 0;
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(trace_probe, struct sock *sk, struct sk_buff *skb)
{
	struct sock_common *common = &sk->__sk_common;

	if (in_run(CHARGE_PROBE))
		write_event(CHARGE_PROBE,
			    in_netns(flow_of_v4(common->skc_daddr, common->skc_rcv_saddr, common->skc_dport,
						__builtin_bswap16(common->skc_num), IPPROTO_TCP),
				     common->skc_net.net),
			    skb->len, 0);
	return 0;
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(trace_ready, struct sock *sk)
{
	if (in_run(CHARGE_READY))
		write_event(CHARGE_READY, bpf_get_socket_cookie(sk), sk->sk_protocol, 0);
	return 0;
}

static __always_inline __u64 flow_of_freed(struct sk_buff *skb)
{
	const struct sk_buff___charge *layout = (const void *)skb;

	return flow_at(layout->head + layout->network_header, skb->protocol);
}

SEC("tp_btf/kfree_skb")
int trace_drop(__u64 *ctx)
{
	if (in_run(CHARGE_DROP))
		write_event(CHARGE_DROP, flow_of_freed((struct sk_buff *)ctx[0]), ctx[2], 0);
	return 0;
}

SEC("tp_btf/consume_skb")
int BPF_PROG(trace_consume, struct sk_buff *skb)
{
	if (in_run(CHARGE_CONSUME))
		write_event(CHARGE_CONSUME, flow_of_freed(skb), skb->len, 0);
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(trace_xmit, struct sk_buff *skb)
{
	if (in_run(CHARGE_XMIT))
		write_event(CHARGE_XMIT, flow_of_freed(skb), skb->len, 0);
	return 0;
}

SEC("tp_btf/sock_rcvqueue_full")
int BPF_PROG(trace_full, struct sock *sk)
{
	if (in_run(CHARGE_REFUSE))
		write_event(CHARGE_REFUSE, 0, 0, 0);
	return 0;
}

SEC("tp_btf/udp_fail_queue_rcv_skb")
int BPF_PROG(trace_fail, int err, struct sock *sk)
{
	if (in_run(CHARGE_REFUSE))
		write_event(CHARGE_REFUSE, 0, 0, 0);
	return 0;
}

/* ---- candidates, for their cost ---- */

/* An empty program: the kernel's cost of calling and timing it. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(cost_empty__receive, struct sk_buff *skb)
{
	return 0;
}

/* The least: the clock at each packet. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(cost_clock__receive, struct sk_buff *skb)
{
	THIS_RUN()->ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void end_stretch(__u64 now_ns)
{
	struct charge_stretch *record;
	typeof(&runs[0]) run = THIS_RUN();

	if (!run->packets)
		return;
	record = bpf_ringbuf_reserve(&events, sizeof(*record), 0);
	if (record) {
		record->end_ns = now_ns;
		record->flow = run->flow;
		record->packets = run->packets;
		record->segments = run->segments;
		record->bytes = run->bytes;
		record->cpu = bpf_get_smp_processor_id();
		bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
	} else {
		__sync_fetch_and_add(&shared.lost, 1);
	}
	run->packets = run->segments = run->bytes = 0;
}

/* Counts a packet for its flow; where the flow changes, the clock tells when. */
static __always_inline void add_packet(struct sk_buff *skb, __u64 flow, bool each)
{
	typeof(&runs[0]) run = THIS_RUN();

	if (each || (run->flow != flow && run->packets))
		end_stretch(bpf_ktime_get_ns());
	run->flow = flow;
	run->packets++;
	run->segments += segments_of(skb);
	run->bytes += skb->len;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(cost_flow__receive, struct sk_buff *skb)
{
	add_packet(skb, flow_of(skb), false);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(cost_flow__exit, unsigned int vec)
{
	if (vec == NET_RX)
		end_stretch(bpf_ktime_get_ns());
	return 0;
}

/* A record for each packet. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(cost_each__receive, struct sk_buff *skb)
{
	add_packet(skb, flow_of(skb), true);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(cost_deliver__exit, unsigned int vec)
{
	if (vec == NET_RX)
		end_stretch(bpf_ktime_get_ns());
	return 0;
}

/* By the socket where it is delivered to: established TCP, and whatever wakes its reader. */
static __always_inline void add_delivery(__u64 cookie, __u32 bytes)
{
	typeof(&runs[0]) run = THIS_RUN();

	if (run->flow != cookie && run->packets)
		end_stretch(bpf_ktime_get_ns());
	run->flow = cookie;
	run->packets++;
	run->bytes += bytes;
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(cost_deliver__probe, struct sock *sk, struct sk_buff *skb)
{
	add_delivery(sk->__sk_common.skc_cookie.counter, skb->len);
	return 0;
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(cost_deliver__ready, struct sock *sk)
{
	if (sk->sk_protocol != IPPROTO_TCP)
		add_delivery(sk->__sk_common.skc_cookie.counter, 0);
	return 0;
}

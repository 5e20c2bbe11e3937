// SPDX-License-Identifier: GPL-2.0-only
/*
 * deliver.bpf.c - probe `deliver`: which flows' packets each receive run had, in which order. A packet is seen once,
 * where the stack receives it: after GRO, and after RPS has brought it to its CPU. Neighbours of one flow are one
 * record.
 */
#include "bpf/deliver.h"
#include "bpf/device.h"
#include "bpf/kernel.h"

#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define IPPROTO_DCCP 33
#define IPPROTO_SCTP 132
#define IPPROTO_UDPLITE 136
#define IS_FRAGMENT 0x3fff /* more fragments, or an offset */

struct nt_seen_flows_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, NT_SEEN_FLOWS);
	__type(key, __u32);
	__type(value, __u64);
};

struct nt_seen_flows_map nt_seen_flows SEC(".maps");

struct header_v4 {
	__u8 version_length, tos;
	__u16 length, id, fragment;
	__u8 ttl, protocol;
	__u16 checksum;
	__u32 src, dst;
	__u32 ports; /* where there are no options */
};

struct header_v6 {
	__u32 version_class;
	__u16 length;
	__u8 protocol, hops;
	__u64 src[2], dst[2];
	__u32 ports;
};

/* What tells a flow from others. */
struct tuple {
	__u64 src[2], dst[2];
	__u64 device; /* with its network namespace: nt_device_key() */
	__u32 ports; /* as in the packet: source, destination */
	__u16 ethertype;
	__u8 family, protocol;
};

static __always_inline bool has_ports(__u8 protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP ||
	       protocol == IPPROTO_UDPLITE || protocol == IPPROTO_DCCP;
}

/* `n`: so many bytes of the packet stand at `data`. False: the header is not there. */
static __always_inline bool read_v4(const unsigned char *data, __u32 n, struct tuple *tuple)
{
	struct header_v4 header;
	__u32 length;

	if (n < offsetof(struct header_v4, ports) || bpf_probe_read_kernel(&header, sizeof(header), data))
		return false;
	length = (header.version_length & 15) * 4;
	tuple->family = AF_INET;
	tuple->protocol = header.protocol;
	tuple->src[0] = header.src;
	tuple->dst[0] = header.dst;
	if (!has_ports(header.protocol) || header.fragment & __builtin_bswap16(IS_FRAGMENT) ||
	    n < length + sizeof(tuple->ports))
		return true;
	tuple->ports = header.ports;
	return length == 20 || !bpf_probe_read_kernel(&tuple->ports, sizeof(tuple->ports), data + length);
}

static __always_inline bool read_v6(const unsigned char *data, __u32 n, struct tuple *tuple)
{
	struct header_v6 header;

	if (n < offsetof(struct header_v6, ports) || bpf_probe_read_kernel(&header, sizeof(header), data))
		return false;
	tuple->family = AF_INET6;
	tuple->protocol = header.protocol;
	__builtin_memcpy(tuple->src, header.src, sizeof(header.src));
	__builtin_memcpy(tuple->dst, header.dst, sizeof(header.dst));
	if (has_ports(header.protocol) && n >= sizeof(header))
		tuple->ports = header.ports;
	return true;
}

/* Here a packet's data begins with its network header. */
static __always_inline bool read_tuple(const struct sk_buff *skb, struct tuple *tuple)
{
	__u32 n = skb->len - skb->data_len;

	tuple->ethertype = __builtin_bswap16(skb->protocol);
	tuple->device = nt_device_key(skb->dev->nd_net.net->ns.inum, skb->dev->ifindex);
	if (tuple->ethertype == ETH_P_IP)
		return read_v4(skb->data, n, tuple);
	return tuple->ethertype != ETH_P_IPV6 || read_v6(skb->data, n, tuple);
}

static __always_inline __u64 mix(__u64 a, __u64 b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15ull;
	return a ^ a >> 29;
}

/* The flow's key, never 0. Two flows of one key would show as one: among a million, once in 40 million recordings. */
static __always_inline __u64 key_of(const struct tuple *tuple)
{
	__u64 key = mix(tuple->device, (__u64)tuple->ports << 32 | (__u64)tuple->ethertype << 16 |
					       (__u64)tuple->family << 8 | tuple->protocol);

	key = mix(mix(key, tuple->src[0]), tuple->dst[0]);
	if (tuple->family == AF_INET6)
		key = mix(mix(key, tuple->src[1]), tuple->dst[1]);
	return key | 1;
}

static __always_inline void announce_flow(struct nt_cpu *cpu, __u32 cpu_id, const struct sk_buff *skb,
					  const struct tuple *tuple, __u64 key)
{
	__u32 slot = key >> 1 & (NT_SEEN_FLOWS - 1);
	__u64 *seen = bpf_map_lookup_elem(&nt_seen_flows, &slot);
	struct nt_flow record = {};

	if (!seen || *seen == key)
		return;
	record.end_ns = bpf_ktime_get_ns();
	record.kind = NT_FLOW;
	record.family = tuple->family;
	record.protocol = tuple->protocol;
	record.netns = tuple->device >> 32;
	record.flow = key;
	record.device = nt_key_of_device(skb->dev, record.end_ns);
	record.ethertype = tuple->ethertype;
	record.src_port = __builtin_bswap16(tuple->ports & 0xffff);
	record.dst_port = __builtin_bswap16(tuple->ports >> 16);
	__builtin_memcpy(record.src, tuple->src, sizeof(record.src));
	__builtin_memcpy(record.dst, tuple->dst, sizeof(record.dst));
	if (nt_emit_record(cpu, cpu_id, NT_PROGRAM_control, &record, sizeof(record), NT_FLOW, record.end_ns, 0))
		*seen = key;
}

/* What GRO, a card or a local sender merged has data in fragments: so most packets need not be asked. */
static __always_inline __u32 segments_of(const struct sk_buff *skb)
{
	struct skb_shared_info *shared;
	__u32 n;

	if (!skb->data_len)
		return 1;
	shared = (void *)(skb->head + skb->end);
	n = BPF_CORE_READ(shared, gso_segs);
	return n ? n : 1;
}

static __always_inline void add_packet(struct nt_cpu *cpu, __u32 cpu_id, const struct sk_buff *skb, __u64 flow)
{
	struct nt_open_stretch *stretch = &cpu->stretch;

	if (stretch->packets && (stretch->flow != flow || stretch->run_ns != cpu->softirq_begin_ns))
		nt_end_stretch(cpu, cpu_id, bpf_ktime_get_ns());
	if (!stretch->packets) {
		if (stretch->run_ns != cpu->softirq_begin_ns)
			stretch->flags = NT_RX_STRETCH_FIRST;
		else
			stretch->flags = stretch->is_lost ? NT_RX_STRETCH_AFTER_LOSS : 0;
		stretch->run_ns = cpu->softirq_begin_ns;
		stretch->flow = flow;
		stretch->segments = stretch->bytes = 0;
	}
	if (skb->prev)
		stretch->flags |= NT_RX_STRETCH_LISTED;
	stretch->packets++;
	stretch->segments += segments_of(skb);
	stretch->bytes += skb->len;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(nt_netif_receive_skb, struct sk_buff *skb)
{
	struct tuple tuple = {};
	struct nt_cpu *cpu;
	__u64 flow = 0;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_netif_receive_skb, &cpu_id);
	if (!cpu)
		return 0;
	/* In a NAPI thread, or polled by a task: there is no run. */
	if (!cpu->softirq_begin_ns || cpu->softirq_vec != NET_RX_SOFTIRQ) {
		nt_count(cpu, NT_PROGRAM_netif_receive_skb, NT_OUTCOME_skipped_context);
		return 0;
	}
	/* A packet without headers takes time, too: it is of no flow. */
	if (read_tuple(skb, &tuple)) {
		flow = key_of(&tuple);
		announce_flow(cpu, cpu_id, skb, &tuple, flow);
	}
	add_packet(cpu, cpu_id, skb, flow);
	nt_count(cpu, NT_PROGRAM_netif_receive_skb, flow ? NT_OUTCOME_noted : NT_OUTCOME_skipped_failed);
	return 0;
}

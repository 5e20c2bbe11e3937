/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * packet.h - what programs read of a packet: the fields that tell its flow, and how many packets of the wire it is.
 */
#pragma once

#include "bpf/device.h"
#include "bpf/kernel.h"

#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define IPPROTO_DCCP 33
#define IPPROTO_SCTP 132
#define IPPROTO_UDPLITE 136
#define IS_FRAGMENT 0x3fff /* more fragments, or an offset */

struct nt_header_v4 {
	__u8 version_length, tos;
	__u16 length, id, fragment;
	__u8 ttl, protocol;
	__u16 checksum;
	__u32 src, dst;
	__u32 ports; /* where there are no options */
};

struct nt_header_v6 {
	__u32 version_class;
	__u16 length;
	__u8 protocol, hops;
	__u64 src[2], dst[2];
	__u32 ports;
};

/* The same as the kernel has it. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct iphdr {
	__u8 protocol;
	__u16 frag_off;
	__u32 saddr, daddr;
};

struct ipv6hdr {
	__u8 nexthdr;
	struct in6_addr saddr, daddr;
};

struct udphdr {
	__u16 source, dest;
};
#pragma clang attribute pop

/*
 * How a program reads: constants, so that each program has only the code of its way. A function of the kernel may be
 * named in one object only, else bpftool cannot link them: so only deliver.bpf.c casts.
 */
struct nt_reads {
	bool is_typed; /* as for NT_FIELD: the packet is a pointer that the verifier knows */
	bool can_cast;
};

/* Since 6.2: what is at an address is one of the kernel's structs, and so read by plain loads. Nothing is called. */
extern void *bpf_rdonly_cast(const void *address, __u32 type) __ksym __weak;

static __always_inline __u32 nt_cast_ports(const unsigned char *data)
{
	const struct udphdr *udp = bpf_rdonly_cast(data, bpf_core_type_id_kernel(struct udphdr));

	return udp->source | (__u32)udp->dest << 16;
}

static __always_inline bool nt_load_v4(struct nt_reads reads, const unsigned char *data, struct nt_header_v4 *header)
{
	const struct iphdr *ip;

	if (!reads.can_cast || !nt_config.has_casts)
		return !bpf_probe_read_kernel(header, sizeof(*header), data);
	ip = bpf_rdonly_cast(data, bpf_core_type_id_kernel(struct iphdr));
	header->version_length = *(const volatile __u8 *)ip;
	header->protocol = ip->protocol;
	header->fragment = ip->frag_off;
	header->src = ip->saddr;
	header->dst = ip->daddr;
	header->ports = nt_cast_ports(data + offsetof(struct nt_header_v4, ports));
	return true;
}

static __always_inline void nt_load_address(const struct in6_addr *from, __u64 to[2])
{
	to[0] = from->in6_u.u6_addr32[0] | (__u64)from->in6_u.u6_addr32[1] << 32;
	to[1] = from->in6_u.u6_addr32[2] | (__u64)from->in6_u.u6_addr32[3] << 32;
}

static __always_inline bool nt_load_v6(struct nt_reads reads, const unsigned char *data, struct nt_header_v6 *header)
{
	const struct ipv6hdr *ip;

	if (!reads.can_cast || !nt_config.has_casts)
		return !bpf_probe_read_kernel(header, sizeof(*header), data);
	ip = bpf_rdonly_cast(data, bpf_core_type_id_kernel(struct ipv6hdr));
	header->protocol = ip->nexthdr;
	nt_load_address(&ip->saddr, header->src);
	nt_load_address(&ip->daddr, header->dst);
	header->ports = nt_cast_ports(data + offsetof(struct nt_header_v6, ports));
	return true;
}

static __always_inline bool nt_has_ports(__u8 protocol)
{
	return protocol == IPPROTO_TCP || protocol == IPPROTO_UDP || protocol == IPPROTO_SCTP ||
	       protocol == IPPROTO_UDPLITE || protocol == IPPROTO_DCCP;
}

/* `n`: so many bytes of the packet stand at `data`. False: the header is not there. */
static __always_inline bool nt_read_v4(struct nt_reads reads, const unsigned char *data, __u32 n,
				       struct nt_flow_tuple *tuple)
{
	struct nt_header_v4 header;
	__u32 length;

	if (n < offsetof(struct nt_header_v4, ports) || !nt_load_v4(reads, data, &header))
		return false;
	length = (header.version_length & 15) * 4;
	tuple->family = AF_INET;
	tuple->protocol = header.protocol;
	tuple->src[0] = header.src;
	tuple->dst[0] = header.dst;
	if (!nt_has_ports(header.protocol) || header.fragment & __builtin_bswap16(IS_FRAGMENT) ||
	    n < length + sizeof(tuple->ports))
		return true;
	tuple->ports = header.ports;
	return length == 20 || !bpf_probe_read_kernel(&tuple->ports, sizeof(tuple->ports), data + length);
}

static __always_inline bool nt_read_v6(struct nt_reads reads, const unsigned char *data, __u32 n,
				       struct nt_flow_tuple *tuple)
{
	struct nt_header_v6 header;

	if (n < offsetof(struct nt_header_v6, ports) || !nt_load_v6(reads, data, &header))
		return false;
	tuple->family = AF_INET6;
	tuple->protocol = header.protocol;
	__builtin_memcpy(tuple->src, header.src, sizeof(header.src));
	__builtin_memcpy(tuple->dst, header.dst, sizeof(header.dst));
	if (nt_has_ports(header.protocol) && n >= sizeof(header))
		tuple->ports = header.ports;
	return true;
}

/*
 * The fields that tell the packet's flow. `data`: where its network header is, in front of which the packet's own data
 * may have a link header. False: that header is not there.
 */
static __always_inline bool nt_read_tuple(const struct sk_buff *skb, struct nt_reads reads, const unsigned char *data,
					  struct nt_flow_tuple *tuple)
{
	struct net_device *dev = NT_FIELD(skb, reads.is_typed, dev);
	struct net *net = NT_FIELD(dev, reads.is_typed, nd_net.net);
	__u32 n = NT_FIELD(skb, reads.is_typed, len) - NT_FIELD(skb, reads.is_typed, data_len) -
		  (data - NT_FIELD(skb, reads.is_typed, data));

	tuple->ethertype = __builtin_bswap16(NT_FIELD(skb, reads.is_typed, protocol));
	tuple->device = nt_device_key(NT_FIELD(net, reads.is_typed, ns.inum), NT_FIELD(dev, reads.is_typed, ifindex));
	if (tuple->ethertype == ETH_P_IP)
		return nt_read_v4(reads, data, n, tuple);
	return tuple->ethertype != ETH_P_IPV6 || nt_read_v6(reads, data, n, tuple);
}

/* A packet that GRO, a card or a local sender merged has data in fragments. So most packets need no read here. */
static __always_inline __u32 nt_segments_of(const struct sk_buff *skb, struct nt_reads reads)
{
	struct skb_shared_info *shared;
	__u32 n;

	if (!NT_FIELD(skb, reads.is_typed, data_len))
		return 1;
	shared = (void *)(NT_FIELD(skb, reads.is_typed, head) + NT_FIELD(skb, reads.is_typed, end));
	n = BPF_CORE_READ(shared, gso_segs);
	return n ? n : 1;
}

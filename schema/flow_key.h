/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flow_key.h - the fields that tell a flow from others, and the function that makes 64 bits of them, drawn anew for
 * each recording. Pure: the BPF programs, both user-space programs and their tests share it.
 */
#pragma once

#include <stdbool.h>

#include <linux/types.h>

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#define NT_AF_INET6 10

/* A device that sends the packet and not one that receives it: in the low half of a key, where an index has 31 bits. */
#define NT_DEVICE_SENDS 0x80000000ull

struct nt_flow_tuple {
	__u64 src[2], dst[2];
	__u64 device; /* with its network namespace: nt_device_key(); of probe flows perhaps with NT_DEVICE_SENDS */
	__u32 ports; /* as in the packet: source, destination */
	__u16 ethertype;
	__u8 family, protocol;
};

/* How many flows a packet is counted with. */
enum nt_many {
	NT_MANY_NOT, /* its own alone */
	NT_MANY_LOCAL, /* all others of the device to the same address and port */
	NT_MANY_DEVICE, /* all others of the device */
	/* Of probe flows: all others of the device and direction that have the same. */
	NT_MANY_SRC,
	NT_MANY_DST,
	NT_MANY_PORT,
};

/* X(NAME, name, how many): the keys that probe flows counts by. Append only: their numbers are on tapes. */
#define NT_FLOW_KEYS(X)                                                                                                \
	X(FLOW, flow, NT_MANY_NOT)                                                                                     \
	X(SRC, src, NT_MANY_SRC)                                                                                       \
	X(DST, dst, NT_MANY_DST)                                                                                       \
	X(PORT, port, NT_MANY_PORT) /* nt_flow_port_of() */

enum nt_flow_key_sort {
#define X(NAME, name, many) NT_FLOW_KEY_##NAME,
	NT_FLOW_KEYS(X)
#undef X
		NT_FLOW_KEY_SORTS
};
_Static_assert(NT_FLOW_KEY_SORTS <= 4, "NT_FLOW_KEY_MASK");

static __always_inline enum nt_many nt_flow_many(enum nt_flow_key_sort sort)
{
	switch (sort) {
#define X(NAME, name, many)                                                                                            \
	case NT_FLOW_KEY_##NAME:                                                                                       \
		return many;
		NT_FLOW_KEYS(X)
#undef X
	default:
		return NT_MANY_NOT;
	}
}

#define NT_FLOW_WORDS 13 /* of 32 bits, that tell a flow: its tuple, and how many it is (enum nt_many) */

/* One half of the function that gives flows their keys: drawn for each recording, so no sender knows it. */
struct nt_flow_hash {
	__u64 addend, factors[NT_FLOW_WORDS];
};

/*
 * Multiply-shift for vectors (Dietzfelbinger 1996): of all factors, one in 2^32 gives two flows the same half. IPv4 has
 * fewer words that are not 0.
 */
static __always_inline __u32 nt_flow_half(const volatile struct nt_flow_hash *hash, const struct nt_flow_tuple *tuple,
					  enum nt_many many)
{
	const volatile __u64 *factors = hash->factors;
	bool is_v6 = tuple->family == NT_AF_INET6;
	__u64 sum = hash->addend;

	sum += factors[0] * many + factors[1] * (__u32)tuple->device + factors[2] * (tuple->device >> 32);
	if (many == NT_MANY_DEVICE)
		return sum >> 32;
	sum += factors[3] * (tuple->ethertype | (__u32)tuple->family << 16 | (__u32)tuple->protocol << 24);
	sum += factors[4] * (many == NT_MANY_LOCAL ? tuple->ports >> 16 : tuple->ports) +
	       factors[5] * (__u32)tuple->dst[0];
	if (is_v6)
		sum += factors[6] * (tuple->dst[0] >> 32) + factors[7] * (__u32)tuple->dst[1] +
		       factors[8] * (tuple->dst[1] >> 32);
	if (many == NT_MANY_LOCAL)
		return sum >> 32;
	sum += factors[9] * (__u32)tuple->src[0];
	if (is_v6)
		sum += factors[10] * (tuple->src[0] >> 32) + factors[11] * (__u32)tuple->src[1] +
		       factors[12] * (tuple->src[1] >> 32);
	return sum >> 32;
}

/*
 * The key of the flow that a packet is counted with, never 0. Two flows of one key would show as one: among a million,
 * once in 18 million recordings. Nobody can make such who does not know the factors.
 */
static __always_inline __u64 nt_flow_key(const volatile struct nt_flow_hash hashes[2],
					 const struct nt_flow_tuple *tuple, enum nt_many many)
{
	return ((__u64)nt_flow_half(&hashes[0], tuple, many) << 32 | nt_flow_half(&hashes[1], tuple, many)) | 1;
}

static __always_inline bool nt_flow_is_same(const struct nt_flow_tuple *a, const struct nt_flow_tuple *b)
{
	const __u64 *left = (const __u64 *)a, *right = (const __u64 *)b;
	__u64 differ = 0;

	for (int i = 0; i < (int)(sizeof(*a) / sizeof(*left)); i++)
		differ |= left[i] ^ right[i];
	return !differ;
}

/*
 * The smaller one of the two, at its place: so packets to a port and from it are told apart, and a device sees either
 * in one direction. Where both are the same, the smaller address has it.
 */
static __always_inline __u32 nt_flow_port_of(const struct nt_flow_tuple *flow)
{
	const __u16 src = __builtin_bswap16(flow->ports), dst = __builtin_bswap16(flow->ports >> 16);
	bool is_src = src < dst;

	if (src == dst)
		is_src = flow->src[0] != flow->dst[0] ? flow->src[0] < flow->dst[0] : flow->src[1] < flow->dst[1];
	return flow->ports & (is_src ? 0xffff : 0xffff0000);
}

/* What a packet of this flow is counted by: the rest is 0. Of a packet that is not of IP it is the ethertype. */
static __always_inline void nt_flow_take_key(enum nt_flow_key_sort sort, const struct nt_flow_tuple *flow,
					     struct nt_flow_tuple *key)
{
	*key = (struct nt_flow_tuple){.device = flow->device};
	if (sort == NT_FLOW_KEY_FLOW) {
		*key = *flow;
	} else if (!flow->family) {
		key->ethertype = flow->ethertype;
	} else if (sort == NT_FLOW_KEY_PORT) {
		key->ports = nt_flow_port_of(flow);
		key->protocol = flow->protocol;
	} else {
		const __u64 *address = sort == NT_FLOW_KEY_SRC ? flow->src : flow->dst;
		__u64 *to = sort == NT_FLOW_KEY_SRC ? key->src : key->dst;

		key->family = flow->family;
		to[0] = address[0];
		to[1] = address[1];
	}
}

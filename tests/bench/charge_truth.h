/* SPDX-License-Identifier: GPL-2.0-only */
/* charge_truth.h - what charge_truth.bpf.c writes and charge_truth.c reads. */
#pragma once

#include <linux/types.h>

/* Clock reads of a receive run. Each packet of IP has a TRUTH_IN, most also others. */
enum truth_kind {
	TRUTH_NONE,
	TRUTH_ENTRY, /* the softirq NET_RX begins */
	TRUTH_EXIT,
	TRUTH_POLL, /* a NAPI poll ends */
	TRUTH_GRO, /* a segment goes into GRO */
	TRUTH_GRO_END,
	TRUTH_LIST, /* IP is given a list of packets */
	TRUTH_PRE, /* IP is given a packet, or has come to it in a list */
	TRUTH_IN, /* the packet is for this host: from here on packets are handled one by one */
	TRUTH_CHAINS, /* it is through the chains of nft */
	TRUTH_OUT, /* it is where it goes */
	TRUTH_KINDS,
};

/* Of which flow: by the port of its packets that is one of two. */
enum truth_flow { TRUTH_OTHER, TRUTH_FIRST, TRUTH_SECOND, TRUTH_FLOWS };

struct truth_event {
	__u64 ns; /* of a clock that stands still in interrupts */
	__u32 skb; /* tells it from its neighbours */
	__u8 kind, flow;
};

#define TRUTH_MAX_CPUS 256 /* a power of two */

struct truth_shared {
	__u64 gate; /* 1: events are written */
	__u64 lost;
	__u32 max_events; /* of each CPU */
	__u16 ports[TRUTH_FLOWS]; /* to which the two flows go, in network order */
};

/* SPDX-License-Identifier: GPL-2.0-only */
/* charge.h - what charge.bpf.c writes and charge.c reads. */
#pragma once

#include <linux/types.h>

/* Events of a receive run, the softirq NET_RX. */
enum charge_kind {
	CHARGE_ENTRY, /* the run begins */
	CHARGE_EXIT,
	CHARGE_POLL, /* a NAPI poll ends; id: 1 it was the CPU's backlog; size: packets */
	CHARGE_GRO, /* napi_gro_receive or napi_gro_frags begins; flow */
	CHARGE_LIST, /* a driver hands up a list */
	CHARGE_RECEIVE, /* netif_receive_skb, the mark; flow; size: bytes; segments */
	CHARGE_PROBE, /* tcp_probe; flow of the socket, seen by the receiver */
	CHARGE_READY, /* sk_data_ready; id: the socket's cookie; size: its protocol */
	CHARGE_DROP, /* kfree_skb; flow of the packet; size: the reason */
	CHARGE_CONSUME, /* consume_skb; flow of the packet */
	CHARGE_XMIT, /* net_dev_queue; flow of the packet that is sent */
	CHARGE_REFUSE, /* sock_rcvqueue_full and udp_fail_queue_rcv_skb */
	CHARGE_KINDS,
};

struct charge_event {
	__u64 ns;
	__u64 id; /* 0: not known */
	__u32 size;
	__u16 segments;
	__u8 kind;
	__u8 cpu;
};

/* The result of the candidate probe: packets of one flow that came one after the other in one run. */
struct charge_stretch {
	__u64 end_ns;
	__u64 flow;
	__u32 packets, segments, bytes;
	__u32 cpu;
};

#define CHARGE_MAX_CPUS 256 /* a power of two */

struct charge_shared {
	__u64 outside[16]; /* runs of programs outside of receive runs, by kind */
	__u64 lost;
	__u64 gate; /* 1: events are written */
};

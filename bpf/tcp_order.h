/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tcp_order.h - whether data read from a TCP socket had to wait for a late segment: head-of-line blocking. Such packets
 * are late because of the network and not of this host, so a report may leave them out.
 *
 * The kernel counts the segments that come before one that they follow (rcv_ooopack), keeps them aside until that one
 * comes, and then has no more to tell of them. So at each read the socket's state is compared with that at the read
 * before it:
 *
 *   the count has not moved   no segment has had to wait since: the stretch that is known to have waited stays as it is
 *   it has, and some wait     they end where the last of them ends. The stretch begins at the gap before them, which is
 *                             where the next byte in order is due (rcv_nxt); if one was open already, at its begin
 *   it has, and none waits    the late segment has come. The segments that waited end at or before rcv_nxt, and
 *                             begin at or after the end of the read before: all between counts
 *
 * A read has waited if the last byte that it took, which its time is of, lies in the stretch. A segment that came in
 * order in the same stretch, between the late one and the read, counts too, and so does the late one; nothing that
 * waited is missed. Sequence numbers wrap, hence the differences.
 */
#pragma once

#include "bpf/compat.h"

struct nt_tcp_order {
	__u32 count; /* rcv_ooopack at the last read */
	__u32 taken; /* read up to here by then */
	__u32 from, until; /* the stretch that waited; empty if they are equal */
};

/*
 * By cookie, which is never given twice. Not in the socket's storage: not every program that sees a read is let near
 * that. Only sockets that have seen disorder are here; those that have not been read for longest make room. One that is
 * looked at for the first time, or again, may have seen it since its last read or long ago: its first read counts as
 * one that has waited.
 */
struct nt_tcp_orders_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, struct nt_tcp_order);
};

extern struct nt_tcp_orders_map nt_tcp_orders SEC(".maps");

static __always_inline bool nt_seq_before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

#define LARGEST_WINDOW (1u << 30)

/*
 * Where the last of the segments ends that wait now. The socket may not be locked, and the segment be gone already:
 * what stands there then is believed as far as a window reaches.
 */
static __always_inline __u32 nt_end_of_waiting(const struct tcp_sock *tp)
{
	struct tcp_skb_cb *cb = (void *)BPF_CORE_READ(tp, ooo_last_skb) + bpf_core_field_offset(struct sk_buff, cb);
	__u32 end = BPF_CORE_READ(cb, end_seq), due = BPF_CORE_READ(tp, rcv_nxt);

	return end - due <= LARGEST_WINDOW ? end : due;
}

static __always_inline bool nt_has_waited_until(const struct nt_tcp_order *order, __u32 end)
{
	return nt_seq_before(order->from, end) && !nt_seq_before(order->until, end);
}

static __always_inline void nt_note_disorder(struct nt_tcp_order *order, const struct tcp_sock *tp, __u32 count)
{
	bool is_open = nt_seq_before(order->taken, order->until);

	order->count = count;
	if (BPF_CORE_READ(tp, out_of_order_queue.rb_node)) {
		if (!is_open)
			order->from = BPF_CORE_READ(tp, rcv_nxt);
		order->until = nt_end_of_waiting(tp);
	} else {
		if (!is_open)
			order->from = order->taken;
		order->until = BPF_CORE_READ(tp, rcv_nxt);
	}
}

/*
 * For each read of a socket that has ever seen disorder (`count`, its rcv_ooopack), those too that make no sample:
 * whether it has waited. `end`: the sequence number after the last byte that it took.
 */
static __always_inline bool nt_has_waited(const struct sock *sk, __u32 count, __u32 end)
{
	const struct tcp_sock *tp = (const struct tcp_sock *)sk;
	__u64 cookie = sk->__sk_common.skc_cookie.counter;
	struct nt_tcp_order *order, fresh = {};
	bool has_waited;

	/* Nothing has asked for its name yet: there is nothing to know it by at its next read. */
	if (!cookie)
		return false;
	order = bpf_map_lookup_elem(&nt_tcp_orders, &cookie);
	if (!order) {
		fresh.taken = fresh.from = fresh.until = end - 1; /* nothing before is known */
		nt_note_disorder(&fresh, tp, count);
		fresh.taken = end;
		bpf_map_update_elem(&nt_tcp_orders, &cookie, &fresh, BPF_ANY);
		return nt_has_waited_until(&fresh, end);
	}
	if (order->count != count)
		nt_note_disorder(order, tp, count);
	has_waited = nt_has_waited_until(order, end);
	order->taken = end;
	return has_waited;
}

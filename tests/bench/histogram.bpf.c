// SPDX-License-Identifier: GPL-2.0-only
/*
 * histogram.bpf.c - the other way to measure how late packets are, to compare costs with: the latency is worked out on
 * the spot, and a histogram of powers of two kept in the kernel, in a hash of each CPU's own, by hook and device. At
 * the hooks of probe `latency` (bpf/latency.bpf.c), or at the tracepoints that stand in for them. histogram.c attaches
 * them.
 */
#include "bpf/compat.h"
#include "tests/bench/histogram.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct bucket_key);
	__type(value, __u64);
} histogram SEC(".maps");

const volatile __s64 tai_offset_ns = 0;

static __always_inline void add(struct bucket_key *key, __u64 n)
{
	__u64 *value = bpf_map_lookup_elem(&histogram, key), zero = 0;

	if (!value) {
		bpf_map_update_elem(&histogram, key, &zero, BPF_NOEXIST);
		value = bpf_map_lookup_elem(&histogram, key);
	}
	if (value)
		*value += n;
}

/* The power of two that holds a latency, found by halves: there is no instruction for it. */
static __always_inline __u16 bucket_of(__u64 ns)
{
	__u16 bucket = 0;

	if (ns >> 32) {
		ns >>= 32;
		bucket += 32;
	}
	if (ns >> 16) {
		ns >>= 16;
		bucket += 16;
	}
	if (ns >> 8) {
		ns >>= 8;
		bucket += 8;
	}
	if (ns >> 4) {
		ns >>= 4;
		bucket += 4;
	}
	if (ns >> 2) {
		ns >>= 2;
		bucket += 2;
	}
	bucket += ns >> 1;
	return bucket < MAX_BUCKET ? bucket : MAX_BUCKET;
}

static __always_inline int count(__u16 hook, __s64 stamp_ns, __u32 ifindex)
{
	__s64 latency_ns = bpf_ktime_get_tai_ns() - tai_offset_ns - stamp_ns;
	struct bucket_key key = {.hook = hook, .ifindex = ifindex};

	if (!stamp_ns || latency_ns < 0)
		return 0;
	key.bucket = bucket_of(latency_ns);
	add(&key, 1);
	key.bucket = SUM_BUCKET;
	add(&key, latency_ns);
	return 0;
}

static __always_inline int count_packet(__u16 hook, struct sk_buff *skb)
{
	return nt_stamp_is_of_sending(skb) ? 0 : count(hook, skb->tstamp, skb->skb_iif);
}

#define ARRIVING(hook, function)                                                                                       \
	SEC("fentry/" #function)                                                                                       \
	int BPF_PROG(ref_##hook##__##function, struct sk_buff *skb)                                                    \
	{                                                                                                              \
		return count_packet(NT_HOOK_##hook, skb);                                                              \
	}

ARRIVING(ip_start, ip_rcv_core)
ARRIVING(tcp_start, tcp_v4_rcv)
ARRIVING(udp_start, udp_rcv)

SEC("fexit/tcp_queue_rcv")
int BPF_PROG(ref_tcp_socket_enqueued__tcp_queue_rcv, struct sock *sk, struct sk_buff *skb)
{
	return count_packet(NT_HOOK_tcp_socket_enqueued, skb);
}

SEC("fexit/__udp_enqueue_schedule_skb")
int BPF_PROG(ref_udp_socket_enqueued____udp_enqueue_schedule_skb, struct sock *sk, struct sk_buff *skb, int result)
{
	return result ? 0 : count_packet(NT_HOOK_udp_socket_enqueued, skb);
}

SEC("fentry/tcp_recv_timestamp")
int BPF_PROG(ref_tcp_socket_read__tcp_recv_timestamp, struct msghdr *msg, struct sock *sk,
	     struct scm_timestamping_internal *tss)
{
	return count(NT_HOOK_tcp_socket_read, nt_stamp_of_read(tss), nt_last_ifindex(sk));
}

SEC("fentry/skb_consume_udp")
int BPF_PROG(ref_udp_socket_read__skb_consume_udp, struct sock *sk, struct sk_buff *skb, int length)
{
	return length < 0 ? 0 : count_packet(NT_HOOK_udp_socket_read, skb);
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(ref_ip_start__netif_receive_skb, struct sk_buff *skb)
{
	return count_packet(NT_HOOK_ip_start, skb);
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(ref_tcp_start__tcp_probe, struct sock *sk, struct sk_buff *skb)
{
	return count_packet(NT_HOOK_tcp_start, skb);
}

/* The last packet of the queue. That of a UDP socket; TCP's is as good. */
SEC("tp_btf/sk_data_ready")
int BPF_PROG(ref_udp_socket_enqueued__sk_data_ready, struct sock *sk)
{
	return sk->sk_protocol == 17 && sk->sk_receive_queue.qlen
		       ? count_packet(NT_HOOK_udp_socket_enqueued, sk->sk_receive_queue.prev)
		       : 0;
}

SEC("tp_btf/skb_copy_datagram_iovec")
int BPF_PROG(ref_tcp_socket_read__skb_copy_datagram_iovec, struct sk_buff *skb)
{
	return count_packet(NT_HOOK_tcp_socket_read, skb);
}

/* Empty programs: the cost of counting and timing a program's run. */
SEC("fentry/ip_rcv_core")
int nothing__ip_rcv_core(void *ctx)
{
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int nothing__netif_receive_skb(void *ctx)
{
	return 0;
}

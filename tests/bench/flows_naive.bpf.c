// SPDX-License-Identifier: GPL-2.0-only
/*
 * flows_naive.bpf.c - a count sketch of a packet's flow as one would write it at first, to compare costs with those of
 * probe `flows` (bpf/flows.bpf.c). Each packet's headers are read, and each row has a hash and a draw of its own. The
 * probe's exact totals and its table of flows are not kept here. flows_naive.c attaches one of the programs.
 */
#include "bpf/packet.h"
#include "tests/bench/flows_naive.h"

char LICENSE[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NAIVE_ROWS *NAIVE_COLUMNS);
	__type(key, __u32);
	__type(value, struct nt_sketch_cell);
} cells SEC(".maps");

const volatile struct naive_config naive_config = {};

static __always_inline void update_row(__u32 row, __u32 hash, __u32 packets, __u32 bytes)
{
	__u32 index = row * NAIVE_COLUMNS + (hash >> 1 & (NAIVE_COLUMNS - 1));
	struct nt_sketch_cell *cell = bpf_map_lookup_elem(&cells, &index);

	if (cell)
		nt_sketch_add(cell, hash & 1, packets, bytes);
}

/* `is_drawn`, `is_early`: constants. */
static __always_inline int count(const struct sk_buff *skb, bool is_drawn, bool is_early)
{
	const struct nt_reads reads = {.is_typed = true};
	__u32 packets = nt_segments_of(skb, reads), bytes = skb->len + skb->dev->hard_header_len, hash = 0;
	struct nt_flow_tuple tuple = {};

	nt_read_tuple(skb, reads, skb->data, &tuple);
	for (__u32 row = 0; row < NAIVE_ROWS; row++) {
		if (!is_early)
			hash = nt_flow_half(&naive_config.hashes[row], &tuple, NT_MANY_NOT);
		if (is_drawn && bpf_get_prandom_u32() >= naive_config.draw_below)
			continue;
		if (is_early)
			hash = nt_flow_half(&naive_config.hashes[row], &tuple, NT_MANY_NOT);
		update_row(row, hash, packets, bytes);
	}
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(naive, struct sk_buff *skb)
{
	return count(skb, true, false);
}

/* The draw comes before the hash, which most rows then do without. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(naive_early, struct sk_buff *skb)
{
	return count(skb, true, true);
}

/* Each packet updates each row, and nothing is drawn. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(naive_all, struct sk_buff *skb)
{
	return count(skb, false, false);
}

/* The cost of counting and timing a program's run. */
SEC("tp_btf/netif_receive_skb")
int empty(void *ctx)
{
	return 0;
}

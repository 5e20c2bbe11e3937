// SPDX-License-Identifier: GPL-2.0-only
/*
 * charge_truth.bpf.c - clock reads around the work on each packet, for charge_truth.c. `run__*` see runs, polls and GRO
 * by tracepoints. Packets are seen by netfilter programs (`netfilter__*`, Linux 6.4) or at functions (`fentry__*`).
 * Nothing of the probe `deliver` is used, nor the tracepoint that it is at.
 */
#include "bpf/compat.h"
#include "tests/bench/charge_truth.h"

char LICENSE[] SEC("license") = "GPL";

#define NET_RX 3
#define NF_ACCEPT 1

/* So many of each CPU as shared.max_events, in order. The cheapest way out: what we take is in the times that we read.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set when it is loaded */
	__type(key, __u32);
	__type(value, struct truth_event);
} events SEC(".maps");

struct truth_shared shared SEC(".data.shared");

struct {
	__u64 irq_begin_ns, irq_ns; /* of all interrupts in the run */
	__u32 irq_depth;
	__u32 n_events;
	__u8 is_open; /* in a receive run */
	__u8 flow; /* of the packet at hand */
} __attribute__((aligned(64))) cpus[TRUTH_MAX_CPUS];

#define THIS_CPU() (&cpus[bpf_get_smp_processor_id() & (TRUTH_MAX_CPUS - 1)])

/* Less the run's interrupts. One between the two reads would count too much: then once more. */
static __always_inline __u64 own_clock(void)
{
	volatile __u64 *irq_ns = &THIS_CPU()->irq_ns;
	__u64 before_ns = *irq_ns, now_ns = bpf_ktime_get_ns();

	if (*irq_ns != before_ns) {
		before_ns = *irq_ns;
		now_ns = bpf_ktime_get_ns();
	}
	return now_ns - before_ns;
}

static __always_inline void write_event(__u8 kind, __u8 flow, const struct sk_buff *skb)
{
	__u32 cpu = bpf_get_smp_processor_id() & (TRUTH_MAX_CPUS - 1), at = cpus[cpu].n_events;
	__u32 key = cpu * shared.max_events + at;
	struct truth_event *event = bpf_map_lookup_elem(&events, &key);

	if (!event || at == shared.max_events) {
		__sync_fetch_and_add(&shared.lost, 1);
		return;
	}
	cpus[cpu].n_events = at + 1;
	event->skb = (__u32)(__u64)skb;
	event->kind = kind;
	event->flow = flow;
	event->ns = own_clock();
}

/* Of a packet whose data begins with the network header. */
static __always_inline __u8 flow_of(const struct sk_buff *skb)
{
	__u16 ports[2] = {};
	__u8 version = 0;

	bpf_probe_read_kernel(&version, sizeof(version), skb->data);
	bpf_probe_read_kernel(ports, sizeof(ports), skb->data + (version >> 4 == 6 ? 40 : 20));
	if (ports[1] == shared.ports[TRUTH_FIRST])
		return TRUTH_FIRST;
	return ports[1] == shared.ports[TRUTH_SECOND] ? TRUTH_SECOND : TRUTH_OTHER;
}

static __always_inline void see_packet(__u8 kind, const struct sk_buff *skb)
{
	typeof(&cpus[0]) cpu = THIS_CPU();

	if (!cpu->is_open)
		return;
	cpu->flow = flow_of(skb);
	write_event(kind, cpu->flow, skb);
}

static __always_inline void see(__u8 kind)
{
	if (THIS_CPU()->is_open)
		write_event(kind, THIS_CPU()->flow, NULL);
}

/* ---- runs, polls, GRO ---- */

SEC("tp_btf/softirq_entry")
int BPF_PROG(run__entry, unsigned int vec)
{
	typeof(&cpus[0]) cpu = THIS_CPU();

	if (vec != NET_RX || !shared.gate)
		return 0;
	cpu->is_open = 1;
	cpu->flow = TRUTH_OTHER;
	write_event(TRUTH_ENTRY, TRUTH_OTHER, NULL);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(run__exit, unsigned int vec)
{
	if (vec != NET_RX)
		return 0;
	see(TRUTH_EXIT);
	THIS_CPU()->is_open = 0;
	return 0;
}

SEC("tp_btf/napi_poll")
int BPF_PROG(run__poll)
{
	see(TRUTH_POLL);
	return 0;
}

SEC("tp_btf/napi_gro_receive_entry")
int BPF_PROG(run__gro, struct sk_buff *skb)
{
	see_packet(TRUTH_GRO, skb);
	return 0;
}

SEC("tp_btf/napi_gro_receive_exit")
int BPF_PROG(run__gro_end)
{
	see(TRUTH_GRO_END);
	return 0;
}

/* ---- interrupts: the clock stands still ---- */

static __always_inline int irq_begin(void)
{
	typeof(&cpus[0]) cpu = THIS_CPU();

	if (!cpu->irq_depth++)
		cpu->irq_begin_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int irq_end(void)
{
	typeof(&cpus[0]) cpu = THIS_CPU();

	/* One may have begun before we were there. */
	if (cpu->irq_depth && !--cpu->irq_depth && cpu->is_open)
		cpu->irq_ns += bpf_ktime_get_ns() - cpu->irq_begin_ns;
	return 0;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(run__irq_begin)
{
	return irq_begin();
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(run__irq_end)
{
	return irq_end();
}

SEC("raw_tp")
int vector__begin(void *ctx)
{
	return irq_begin();
}

SEC("raw_tp")
int vector__end(void *ctx)
{
	return irq_end();
}

/* ---- packets, by hooks of netfilter ---- */

struct bpf_nf_ctx {
	const struct nf_hook_state *state;
	struct sk_buff *skb;
};

SEC("netfilter")
int netfilter__pre(struct bpf_nf_ctx *ctx)
{
	see_packet(TRUTH_PRE, ctx->skb);
	return NF_ACCEPT;
}

SEC("netfilter")
int netfilter__in(struct bpf_nf_ctx *ctx)
{
	see_packet(TRUTH_IN, ctx->skb);
	return NF_ACCEPT;
}

SEC("netfilter")
int netfilter__chains(struct bpf_nf_ctx *ctx)
{
	see_packet(TRUTH_CHAINS, ctx->skb);
	return NF_ACCEPT;
}

/* ---- packets, at functions ---- */

SEC("fentry/ip_rcv")
int BPF_PROG(fentry__pre, struct sk_buff *skb)
{
	see_packet(TRUTH_PRE, skb);
	return 0;
}

SEC("fentry/ipv6_rcv")
int BPF_PROG(fentry__pre6, struct sk_buff *skb)
{
	see_packet(TRUTH_PRE, skb);
	return 0;
}

SEC("fentry/ip_list_rcv")
int BPF_PROG(fentry__list)
{
	see(TRUTH_LIST);
	return 0;
}

SEC("fentry/ipv6_list_rcv")
int BPF_PROG(fentry__list6)
{
	see(TRUTH_LIST);
	return 0;
}

SEC("fentry/ip_local_deliver")
int BPF_PROG(fentry__in, struct sk_buff *skb)
{
	see_packet(TRUTH_IN, skb);
	return 0;
}

SEC("fentry/ip6_input")
int BPF_PROG(fentry__in6, struct sk_buff *skb)
{
	see_packet(TRUTH_IN, skb);
	return 0;
}

SEC("fexit/ip_local_deliver")
int BPF_PROG(fentry__out)
{
	see(TRUTH_OUT);
	return 0;
}

SEC("fexit/ip6_input")
int BPF_PROG(fentry__out6)
{
	see(TRUTH_OUT);
	return 0;
}

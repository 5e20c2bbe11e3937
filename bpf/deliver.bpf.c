// SPDX-License-Identifier: GPL-2.0-only
/*
 * deliver.bpf.c - probe `deliver`: which flows' packets each receive run had, in which order, and what became of them.
 * A packet is seen where the stack receives it: after GRO, and after RPS has brought it to its CPU. Where RPS takes
 * packets to other CPUs, they are also seen before GRO, on the CPU that they leave. Neighbours of one flow are one
 * record.
 */
#include "bpf/deliver.h"
#include "bpf/device.h"
#include "bpf/kernel.h"
#include "bpf/packet.h"

struct nt_seen_flows_map nt_seen_flows SEC(".maps");

static const struct nt_reads deliver_reads = {.is_typed = true, .can_cast = true};

#define NO_FLOW 0 /* as an ethertype: no packet has it */

int nt_announce_flow(__u32 cpu_id, __u32 place, __u64 now_ns)
{
	struct nt_cpu *cpu = bpf_map_lookup_elem(&nt_cpus, &cpu_id);
	struct nt_open_stretch *stretch;
	struct nt_seen_flow *seen;
	bool is_partly;

	if (!cpu)
		return 0;
	stretch = nt_stretch_at(cpu, place);
	stretch->is_new = 0;
	is_partly = nt_is_partly(stretch);
	seen = nt_seen_flow(stretch->flow);
	/* Another CPU may have written it meanwhile. */
	if (nt_is_written(cpu, seen))
		return 0;
	if (nt_write_flow(cpu, cpu_id, &stretch->tuple, stretch->many, stretch->flow, 0, is_partly ? NT_FLOW_PARTLY : 0,
			  now_ns))
		nt_set_flow(cpu, seen, stretch->flow, 0, 0, is_partly);
	else
		stretch->tuple.ethertype = NO_FLOW; /* so that its next packet tries again */
	return 0;
}

int nt_tell_partly(__u32 cpu_id, __u32 place, __u64 now_ns)
{
	struct nt_cpu *cpu = bpf_map_lookup_elem(&nt_cpus, &cpu_id);
	struct nt_open_stretch *stretch;
	struct nt_seen_flow *seen;

	if (!cpu)
		return 0;
	stretch = nt_stretch_at(cpu, place);
	seen = nt_seen_flow(stretch->flow);
	if (!seen || !nt_is_written(cpu, seen) || seen->is_partly)
		return 0;
	if (nt_write_flow(cpu, cpu_id, &stretch->tuple, stretch->many, stretch->flow, 0, NT_FLOW_PARTLY, now_ns))
		seen->is_partly = true;
	return 0;
}

int nt_end_queued(__u32 cpu_id, __u32 before, __u32 list, __u64 now_ns)
{
	struct nt_cpu *cpu = bpf_map_lookup_elem(&nt_cpus, &cpu_id);

	if (!cpu)
		return 0;
	for (int i = 0; i < NT_LISTED && (__s32)(before - cpu->queue_begin) > 0; i++) {
		__u32 place = cpu->queue_begin++ & (NT_LISTED - 1);

		nt_write_stretch(cpu, cpu_id, place, cpu->queue_begin == before ? list : NT_RX_LIST_MORE, now_ns);
	}
	return 0;
}

/* The flow that a packet is counted with. */
struct counted_flow {
	__u64 key; /* 0: it has no headers */
	__u8 many; /* enum nt_many */
	bool is_new; /* its identity is to be written */
};

/* Whether the flow of that key has a place, and if so, whether it is to be written again. */
static __always_inline bool has_place(const struct nt_cpu *cpu, struct counted_flow *flow)
{
	struct nt_seen_flow *seen = nt_seen_flow(flow->key);

	flow->is_new = !nt_is_written(cpu, seen);
	if (seen)
		nt_flow_use(seen);
	return seen;
}

/* Whether a queued stretch is of the flow: its identity is written with that, and was counted. */
static __always_inline bool is_queued(const struct nt_cpu *cpu, __u64 key)
{
	__u32 number = cpu->queue_begin;

	for (int i = 0; i < NT_LISTED && (__s32)(cpu->queue_end - number) > 0; i++, number++) {
		if (cpu->queued[number & (NT_LISTED - 1)].flow == key)
			return true;
	}
	return false;
}

/* Whether the flow's identity may be written, if it has not been. `n`, `most`: of its sort in the budget. */
static __always_inline bool may_tell(struct nt_cpu *cpu, struct counted_flow *flow, __u64 now_ns, __u32 *n, __u32 most)
{
	return is_queued(cpu, flow->key) || nt_flow_may_add(&cpu->new_flows, now_ns, n, most);
}

/* A flow that is one too many. The flows of many most likely have places. */
static __always_inline void count_with_many(struct nt_cpu *cpu, const struct nt_flow_tuple *tuple, __u64 now_ns,
					    struct counted_flow *flow)
{
	flow->many = NT_MANY_LOCAL;
	flow->key = nt_flow_key(nt_config.flow_hashes, tuple, NT_MANY_LOCAL);
	if (has_place(cpu, flow) || may_tell(cpu, flow, now_ns, &cpu->new_flows.n_local, NT_NEW_LOCAL))
		return;
	flow->many = NT_MANY_DEVICE;
	flow->key = nt_flow_key(nt_config.flow_hashes, tuple, NT_MANY_DEVICE);
	has_place(cpu, flow);
}

/* Most packets are of the flow before: for these nothing need be computed. */
static __always_inline struct counted_flow flow_of(struct nt_cpu *cpu, const struct sk_buff *skb,
						   const struct nt_flow_tuple *tuple)
{
	const struct nt_open_stretch *stretch = &cpu->stretch;
	struct counted_flow flow = {};

	if (!stretch->many && stretch->generation == cpu->generation && nt_flow_is_same(&stretch->tuple, tuple)) {
		flow.key = stretch->flow;
		flow.is_new = stretch->is_new; /* still, if its stretch was given up */
		return flow;
	}
	flow.key = nt_flow_key(nt_config.flow_hashes, tuple, NT_MANY_NOT);
	if (!has_place(cpu, &flow)) {
		__u64 now_ns = bpf_ktime_get_ns();

		if (!may_tell(cpu, &flow, now_ns, &cpu->new_flows.n_flows, NT_NEW_FLOWS))
			count_with_many(cpu, tuple, now_ns, &flow);
	}
	if (flow.is_new)
		nt_key_of_device(skb->dev, true, bpf_ktime_get_ns());
	return flow;
}

/*
 * Whether this packet is the stretch's last one, which a tunnel or a bridge gives to another device of its host. A
 * buffer that was freed and used again has other data, or comes from the same device.
 */
static __always_inline bool is_again(const struct nt_open_stretch *stretch, const struct sk_buff *skb, __u64 device)
{
	return stretch->skb == (unsigned long)skb && stretch->tuple.device != device && !stretch->is_forwarded &&
	       stretch->head == (unsigned long)skb->head && stretch->tail == skb->tail;
}

static __always_inline void begin_stretch(struct nt_cpu *cpu, __u64 run_ns, __u8 flags)
{
	struct nt_open_stretch *stretch = &cpu->stretch;

	if (stretch->run_ns != run_ns) {
		flags = NT_RX_STRETCH_FIRST;
		cpu->listed_run_ns = 0;
	}
	stretch->flags = flags;
	stretch->list = 0;
	stretch->is_queued_behind = false;
	stretch->reached_ns = 0;
	stretch->run_ns = run_ns;
	stretch->in_task = !cpu->softirq_begin_ns;
	stretch->segments = stretch->bytes = stretch->dropped = stretch->reason = 0;
	stretch->forwarded = stretch->delivered = 0;
}

/* Until a packet comes, the driver works. The flow of the last one stays known. */
static __always_inline void begin_driver(struct nt_cpu *cpu, __u64 run_ns)
{
	struct nt_open_stretch *stretch = &cpu->stretch;

	begin_stretch(cpu, run_ns, 0);
	stretch->flags |= NT_RX_STRETCH_DRIVER;
	stretch->packets = 1;
	stretch->skb = 0;
	stretch->polled = 0;
	stretch->after_full = 0;
}

/* Keeps a packet of a list until its delivery. */
static __always_inline void add_listed(struct nt_cpu *cpu, const struct sk_buff *skb, __u64 run_ns,
				       const struct counted_flow *flow, const struct nt_flow_tuple *tuple)
{
	struct nt_listed *listed;

	if (cpu->listed_run_ns != run_ns)
		cpu->n_listed = cpu->next_listed = 0;
	if (cpu->list_is_reached)
		cpu->next_listed = cpu->n_listed;
	cpu->listed_run_ns = run_ns;
	listed = &cpu->listed[cpu->n_listed++ & (NT_LISTED - 1)];
	listed->skb = (unsigned long)skb;
	listed->flow = flow->key;
	listed->many = flow->many;
	listed->stretch = cpu->queue_end;
	listed->tuple = *tuple;
	cpu->list_is_reached = 0;
}

/*
 * On PREEMPT_RT the programs that see deliveries may be preempted, and then must not write what is the CPU's. A
 * constant: it is known when the programs are loaded.
 */
static __always_inline bool cuts_lists(void)
{
	return !nt_kernel_is_rt((struct task_struct *)0);
}

/* The open stretch waits for the work on the next one, which is of the same list or of the one behind it. */
static __always_inline void queue_stretch(struct nt_cpu *cpu, __u32 cpu_id)
{
	if (nt_config.cuts_polls && cpu->stretch.after_full)
		cpu->stretch.flags |= NT_RX_STRETCH_AMID;
	if (cpu->queue_end - cpu->queue_begin == NT_LISTED)
		nt_end_queued(cpu_id, cpu->queue_begin + 1, NT_RX_LIST_MORE, bpf_ktime_get_ns());
	cpu->queued[cpu->queue_end++ & (NT_LISTED - 1)] = cpu->stretch;
	cpu->stretch.packets = 0;
}

/* Whether a task receives packets that polls by itself, as far as is known (nt_leave_run). */
static __always_inline bool is_in_busy_run(const struct nt_cpu *cpu)
{
	return !cpu->softirq_begin_ns && cpu->is_busy_run;
}

/*
 * AMID, if the driver may work between this packet and the next mark: where each is given to another CPU; where a task
 * polls, and GRO gives it the packets of each poll after that; where the driver does so one by one, without lists.
 */
static __always_inline __u8 amid_flag(const struct nt_cpu *cpu, const struct sk_buff *skb, __u8 flags)
{
	bool is_amid;

	if (flags & NT_RX_STRETCH_STEERED)
		is_amid = true;
	else if (flags & NT_RX_STRETCH_LISTED)
		is_amid = is_in_busy_run(cpu);
	else
		is_amid = skb->dev->xdp_state[XDP_IN_DRIVER].prog != NULL;
	return is_amid ? NT_RX_STRETCH_AMID : 0;
}

/* Whether a list begins with this packet, behind one of several flows. Lists of one flow go on as one stretch. */
static __always_inline bool is_next_list(const struct nt_cpu *cpu, __u8 flags)
{
	return flags & NT_RX_STRETCH_LISTED && cpu->list_is_reached && cpu->stretch.is_queued_behind;
}

/*
 * Whether the open stretch is to wait for the work on this packet. Not if it has its list alone, and the packet is of
 * the same flow: nothing need tell them apart.
 */
static __always_inline bool goes_on_in_list(const struct nt_cpu *cpu, __u64 flow, __u8 flags)
{
	const struct nt_open_stretch *stretch = &cpu->stretch;

	if (!cuts_lists() || !(stretch->flags & flags & NT_RX_STRETCH_LISTED))
		return false;
	return stretch->flow != flow || nt_has_queued(cpu) || !(stretch->list & NT_RX_LIST_BEGINS);
}

/* Counts are of 32 bits: so a run that does not end, as a NAPI thread's, has several stretches of one flow. */
#define MAX_PACKETS 1024

/* `flags`: LISTED or STEERED. */
static __always_inline void add_packet(struct nt_cpu *cpu, __u32 cpu_id, const struct sk_buff *skb, __u64 run_ns,
				       const struct counted_flow *flow, const struct nt_flow_tuple *tuple, __u8 flags)
{
	struct nt_open_stretch *stretch = &cpu->stretch;
	bool is_other, again = false, goes_on = false;
	__u32 segments;

	is_other = stretch->flow != flow->key || stretch->run_ns != run_ns || stretch->packets == MAX_PACKETS ||
		   (stretch->flags ^ flags) & (NT_RX_STRETCH_STEERED | NT_RX_STRETCH_DRIVER) ||
		   is_next_list(cpu, flags);
	if (stretch->packets && is_other) {
		again = is_again(stretch, skb, tuple->device);
		/* The list came behind a full poll, and the packet from the next one. */
		if (nt_config.cuts_polls && stretch->after_full && stretch->flags & ~flags & NT_RX_STRETCH_LISTED)
			stretch->flags |= NT_RX_STRETCH_AMID;
		goes_on = stretch->run_ns == run_ns && goes_on_in_list(cpu, flow->key, flags);
		if (goes_on)
			queue_stretch(cpu, cpu_id);
		else
			nt_end_stretch(cpu, cpu_id, bpf_ktime_get_ns());
	}
	if (nt_config.cuts_polls && stretch->run_ns != run_ns && !is_in_busy_run(cpu)) {
		begin_driver(cpu, run_ns);
		nt_end_stretch(cpu, cpu_id, bpf_ktime_get_ns());
	}
	if (!stretch->packets) {
		begin_stretch(cpu, run_ns, again ? NT_RX_STRETCH_AGAIN : 0);
		if (cuts_lists() && flags & NT_RX_STRETCH_LISTED && !(goes_on && !cpu->list_is_reached))
			stretch->list = NT_RX_LIST_BEGINS;
		stretch->is_queued_behind = goes_on;
		stretch->flow = flow->key;
		stretch->many = flow->many;
		stretch->is_new = flow->is_new;
		stretch->tuple = *tuple;
		stretch->generation = cpu->generation;
	} else if (flow->many) {
		stretch->tuple = *tuple;
	}
	segments = nt_segments_of(skb, deliver_reads);
	stretch->flags |= flags;
	if (nt_config.cuts_polls) {
		stretch->flags |= amid_flag(cpu, skb, flags);
		stretch->polled += flags & NT_RX_STRETCH_LISTED ? segments : 0;
	}
	stretch->packets++;
	stretch->segments += segments;
	stretch->bytes += skb->len;
	stretch->is_forwarded = false;
	stretch->skb = (unsigned long)skb;
	stretch->head = (unsigned long)skb->head;
	stretch->tail = skb->tail;
	if (flags & NT_RX_STRETCH_LISTED)
		add_listed(cpu, skb, run_ns, flow, tuple);
}

/* When the receive run began that this CPU is in; 0: it is in none. Outside of softirqs it only tells runs apart. */
static __always_inline __u64 run_at_hand(struct nt_cpu *cpu)
{
	struct task_struct *task;

	if (cpu->softirq_begin_ns)
		return cpu->softirq_vec == NET_RX_SOFTIRQ ? cpu->softirq_begin_ns : 0;
	task = bpf_get_current_task_btf();
	cpu->is_busy_run = !nt_is_napi_thread(task);
	return !cpu->is_busy_run || cpu->polls_busily ? cpu->switch_ns | 1 : 0;
}

/* Adds a packet to the stretch, and counts how the run of the program ended. */
static __always_inline void see_packet(struct nt_cpu *cpu, __u32 cpu_id, __u32 program, const struct sk_buff *skb,
				       __u8 flags)
{
	__u64 run_ns = run_at_hand(cpu);
	struct nt_flow_tuple tuple = {};
	struct counted_flow flow = {};

	if (!run_ns) {
		nt_count(cpu, program, NT_OUTCOME_skipped_context);
		return;
	}
	/* A packet without headers takes time, too: it is of no flow. */
	if (nt_read_tuple(skb, deliver_reads, skb->data, &tuple))
		flow = flow_of(cpu, skb, &tuple);
	else
		tuple.ethertype = NO_FLOW;
	add_packet(cpu, cpu_id, skb, run_ns, &flow, &tuple, flags);
	if (!flow.key)
		nt_count(cpu, program, NT_OUTCOME_skipped_failed);
	else
		nt_count(cpu, program, flow.many ? NT_OUTCOME_noted_many : NT_OUTCOME_noted);
}

static __always_inline int see_received(const struct sk_buff *skb)
{
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_netif_receive_skb, &cpu_id);
	if (cpu)
		see_packet(cpu, cpu_id, NT_PROGRAM_netif_receive_skb, skb, skb->prev ? NT_RX_STRETCH_LISTED : 0);
	return 0;
}

/* Whether packets of this one's queue are given to other CPUs. */
static __always_inline bool is_steered(const struct sk_buff *skb)
{
	__u32 number = skb->queue_mapping ? skb->queue_mapping - 1 : 0;
	struct netdev_rx_queue *queue = skb->dev->_rx;

	queue = (void *)queue + (__u64)number * bpf_core_type_size(struct netdev_rx_queue);
	return BPF_CORE_READ(queue, rps_map) || nt_queue_has_flow_table(queue);
}

/*
 * A packet comes from the device, before GRO. If its queue is steered, the run that it costs time here gets no mark for
 * it: another CPU does.
 */
static __always_inline int see_entry(__u32 program, const struct sk_buff *skb)
{
	struct nt_cpu *cpu;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(program, &cpu_id);
	if (!cpu)
		return 0;
	if (is_steered(skb))
		see_packet(cpu, cpu_id, program, skb, NT_RX_STRETCH_STEERED);
	else
		nt_count(cpu, program, NT_OUTCOME_skipped_context);
	return 0;
}

/* A packet by the address in a tracepoint's event. */
static __always_inline const struct sk_buff *packet_at(const void *address)
{
	return bpf_rdonly_cast(address, bpf_core_type_id_kernel(struct sk_buff));
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(nt_netif_receive_skb, struct sk_buff *skb)
{
	return see_received(skb);
}

SEC("tp/net/netif_receive_skb")
int nt_netif_receive_skb__event(struct trace_event_raw_net_dev_template *event)
{
	return see_received(packet_at(event->skbaddr));
}

SEC("tp_btf/napi_gro_receive_entry")
int BPF_PROG(nt_rx_steer, struct sk_buff *skb)
{
	return see_entry(NT_PROGRAM_rx_steer, skb);
}

SEC("tp/net/napi_gro_receive_entry")
int nt_rx_steer__event(struct trace_event_raw_net_dev_rx_verbose_template *event)
{
	return see_entry(NT_PROGRAM_rx_steer, packet_at(event->skbaddr));
}

SEC("tp_btf/napi_gro_frags_entry")
int BPF_PROG(nt_rx_steer_frags, struct sk_buff *skb)
{
	return see_entry(NT_PROGRAM_rx_steer_frags, skb);
}

SEC("tp/net/napi_gro_frags_entry")
int nt_rx_steer_frags__event(struct trace_event_raw_net_dev_rx_verbose_template *event)
{
	return see_entry(NT_PROGRAM_rx_steer_frags, packet_at(event->skbaddr));
}

/*
 * A driver's poll has ended. If the poll before used up its budget, GRO gave its last packets to the stack after its
 * end, and this poll's driver has worked since. Where a thread polls busily, GRO does so after each poll.
 */
static __always_inline int see_poll_end(struct napi_struct *napi, bool is_typed, int work, int budget)
{
	struct nt_open_stretch *stretch;
	struct nt_cpu *cpu;
	bool is_device, is_busy;
	__u64 run_ns;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_rx_poll, &cpu_id);
	if (!cpu)
		return 0;
	stretch = &cpu->stretch;
	/* Netpoll's receives nothing. A task's own is a run. */
	run_ns = budget ? run_at_hand(cpu) : 0;
	if (!run_ns || is_in_busy_run(cpu)) {
		nt_count(cpu, NT_PROGRAM_rx_poll, NT_OUTCOME_skipped_context);
		return 0;
	}
	if (stretch->packets && !(stretch->flags & NT_RX_STRETCH_DRIVER)) {
		stretch->flags |= stretch->after_full ? NT_RX_STRETCH_AMID : 0;
		nt_end_stretch(cpu, cpu_id, bpf_ktime_get_ns());
	}
	if (!stretch->packets)
		begin_driver(cpu, run_ns);
	is_device = NT_FIELD(napi, is_typed, dev) != NULL;
	is_busy = NT_FIELD(napi, is_typed, state) & NAPI_IN_BUSY_POLL;
	stretch->after_full = is_device && (work >= budget || is_busy);
	nt_count(cpu, NT_PROGRAM_rx_poll, NT_OUTCOME_noted);
	return 0;
}

SEC("tp_btf/napi_poll")
int BPF_PROG(nt_rx_poll, struct napi_struct *napi, int work, int budget)
{
	return see_poll_end(napi, true, work, budget);
}

SEC("tp/napi/napi_poll")
int nt_rx_poll__event(struct trace_event_raw_napi_poll *event)
{
	return see_poll_end(event->napi, false, event->work, event->budget);
}

/*
 * The open stretch, if this is its last packet: one that a device received. (Another packet may have the same buffer by
 * now, but such a one is of the host's own making.)
 */
static __always_inline struct nt_open_stretch *stretch_of(struct nt_cpu *cpu, const struct sk_buff *skb)
{
	struct nt_open_stretch *stretch = &cpu->stretch;

	return stretch->packets && stretch->skb == (unsigned long)skb && skb->skb_iif ? stretch : NULL;
}

/* Whether this may be a packet that a list brought. Of such ones a device has received all. */
static __always_inline bool may_be_listed(const struct nt_cpu *cpu, const struct sk_buff *skb)
{
	return cpu->stretch.packets && cpu->stretch.flags & NT_RX_STRETCH_LISTED && skb->skb_iif;
}

/* A device is to send the packet. */
static __always_inline int see_forwarded(const struct sk_buff *skb)
{
	struct nt_open_stretch *stretch;
	struct nt_listed *listed = NULL;
	struct nt_cpu *cpu;
	__u64 number;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_rx_forward, &cpu_id);
	if (!cpu)
		return 0;
	if (may_be_listed(cpu, skb))
		listed = nt_take_listed(cpu, (unsigned long)skb, &number);
	if (listed)
		nt_reach(cpu, cpu_id, listed, number);
	stretch = stretch_of(cpu, skb);
	if (stretch && !stretch->is_forwarded) {
		stretch->is_forwarded = true;
		stretch->forwarded++;
		/* Of many flows all need not go the same way. */
		stretch->flags |= stretch->many ? 0 : NT_RX_STRETCH_FORWARDED;
	}
	nt_count(cpu, NT_PROGRAM_rx_forward, stretch ? NT_OUTCOME_noted : NT_OUTCOME_skipped_context);
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(nt_rx_forward, struct sk_buff *skb)
{
	return see_forwarded(skb);
}

SEC("tp/net/net_dev_queue")
int nt_rx_forward__event(struct trace_event_raw_net_dev_template *event)
{
	return see_forwarded(packet_at(event->skbaddr));
}

static __always_inline int see_dropped(const struct sk_buff *skb, __u32 reason)
{
	struct nt_open_stretch *stretch;
	struct nt_cpu *cpu;
	__u64 number;
	__u32 cpu_id;

	cpu = nt_this_cpu_if_on(NT_PROGRAM_rx_drop, &cpu_id);
	if (!cpu)
		return 0;
	/* Others before it may wait for their work: that some are dropped early cuts nothing. */
	if (may_be_listed(cpu, skb))
		nt_take_listed(cpu, (unsigned long)skb, &number);
	stretch = stretch_of(cpu, skb);
	if (stretch) {
		stretch->dropped++;
		stretch->reason = reason;
	}
	nt_count(cpu, NT_PROGRAM_rx_drop, stretch ? NT_OUTCOME_noted : NT_OUTCOME_skipped_context);
	return 0;
}

SEC("tp_btf/kfree_skb")
int nt_rx_drop(__u64 *ctx)
{
	return see_dropped((const struct sk_buff *)ctx[0], nt_config.drop_args >= 3 ? ctx[2] : 0);
}

SEC("tp/skb/kfree_skb")
int nt_rx_drop__event(struct trace_event_raw_kfree_skb *event)
{
	return see_dropped(packet_at(event->skbaddr), event->reason);
}

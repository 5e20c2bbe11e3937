// SPDX-License-Identifier: GPL-2.0-only
/*
 * flows.bpf.c - probe `flows`: packets and bytes by flow, in bounded memory, whatever comes (schema/flow_sketch.h); and
 * exactly by device and direction. Packets are seen where the stack receives them, and where a driver is given them.
 * The recorder reads the maps each second: no record is written here.
 */
#include "bpf/packet.h"

/* The recorder sets the numbers of entries: of possible CPUs; of the next two maps, twice that for each key. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct nt_flows_cpu);
} nt_flows_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__uint(value_size, sizeof(struct nt_sketch_cell)); /* the recorder sets it: of all cells */
} nt_flow_cells SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__uint(value_size, sizeof(struct nt_sampled_flows)); /* the recorder sets it: of all sets */
} nt_sampled SEC(".maps");

#define PROBES 8 /* places of a device, from the first on */

static __always_inline __u32 find_place(struct nt_flows_cpu *flows, struct net_device *dev, __u64 key, bool is_typed)
{
	for (__u32 i = 0; i < PROBES; i++) {
		__u32 place = ((__u32)(key * 0x9e3779b97f4a7c15ull >> 40) + i) & (NT_FLOW_DEVICES - 1);
		struct nt_flow_device *device = &flows->devices[place];

		if (device->key == key)
			return place;
		if (!device->key) {
			device->key = key;
			nt_key_of_device(dev, is_typed, bpf_ktime_get_ns());
			return place;
		}
	}
	return NT_FLOW_DEVICES;
}

/*
 * Takes another device than that of the packet before, and its place in the totals: a new one if need be; the last one,
 * if there is none. This and add_sample() are functions, so that most packets run through little code.
 */
static __noinline int change_device(struct nt_flows_cpu *flows, struct nt_flow_last *last, struct net_device *dev,
				    bool is_typed, bool is_sent)
{
	struct net *net = NT_FIELD(dev, is_typed, nd_net.net);

	last->device = (unsigned long)dev;
	last->ifindex = NT_FIELD(dev, is_typed, ifindex);
	last->link_bytes = is_sent ? 0 : NT_FIELD(dev, is_typed, hard_header_len);
	last->place = find_place(flows, dev, nt_device_key(NT_FIELD(net, is_typed, ns.inum), last->ifindex), is_typed);
	return 0;
}

struct sample {
	__u32 rows; /* as nt_sketch_draw_rows() gives them */
	__u32 packets, bytes;
};

static __always_inline void add_to_sketch(__u32 place, __u64 hash, const struct sample *sample)
{
	const struct nt_sketch_shape shape = {nt_config.flows.shape.rows, nt_config.flows.shape.column_bits};
	struct nt_sketch_cell *cells = bpf_map_lookup_elem(&nt_flow_cells, &place);

	if (!cells)
		return;
	for (__u32 row = 0; row < NT_SKETCH_MAX_ROWS && row < shape.rows; row++) {
		__u32 cell = nt_sketch_cell(&shape, hash, row) & (nt_sketch_cells(&shape) - 1);

		if (sample->rows >> row & 1)
			nt_sketch_add(&cells[cell], nt_sketch_is_negative(&shape, hash, row), sample->packets,
				      sample->bytes);
	}
}

/* `place`: of the key, in the maps. */
static __noinline int add_to_key(__u32 place, enum nt_flow_key_sort sort, const struct nt_flow_tuple *flow,
				 const struct sample *sample)
{
	struct nt_sampled_flows *sampled = bpf_map_lookup_elem(&nt_sampled, &place);
	struct nt_sampled_set *set;
	struct nt_flow_tuple key;
	__u32 n_rows = 0;
	__u64 hash;

	if (!sampled)
		return 0;
	nt_flow_take_key(sort, flow, &key);
	hash = nt_sketch_hash(nt_flow_key(nt_config.flow_hashes, &key, nt_flow_many(sort)));
	set = &sampled->sets[nt_sampled_set_of(hash, nt_config.flows.set_bits)];
	if (!nt_config.flows.shape.rows) {
		sampled->samples++;
		nt_sampled_keep(set, &key, sample->packets, sample->bytes);
		return 0;
	}
	add_to_sketch(place, hash, sample);
	for (int row = 0; row < NT_SKETCH_MAX_ROWS; row++)
		n_rows += sample->rows >> row & 1;
	sampled->samples += n_rows;
	nt_sampled_add(set, &key, n_rows, sample->packets, sample->bytes);
	return 0;
}

static __noinline int add_sample(const struct nt_flows_cpu *flows, const struct sk_buff *skb, bool is_typed,
				 bool is_sent, const struct sample *sample)
{
	const unsigned char *data = is_sent ? NT_FIELD(skb, is_typed, head) + NT_FIELD(skb, is_typed, network_header)
					    : NT_FIELD(skb, is_typed, data);
	__u32 place = (bpf_get_smp_processor_id() * 2 + (flows->buffer & 1)) * nt_config.flows.n_keys;
	struct nt_flow_tuple flow = {};

	nt_read_tuple(skb, (struct nt_reads){.is_typed = is_typed}, data, &flow);
	if (is_sent)
		flow.device |= NT_DEVICE_SENDS;
	for (__u32 sort = 0; sort < NT_FLOW_KEY_SORTS; sort++)
		if (nt_config.flows.keys >> sort & 1)
			add_to_key(place++, sort, &flow, sample);
	return 0;
}

static __always_inline int count_packet(__u32 program, const struct sk_buff *skb, bool is_typed, bool is_sent)
{
	struct net_device *dev = NT_FIELD(skb, is_typed, dev);
	struct nt_flows_cpu *flows;
	struct nt_flow_last *last;
	struct nt_flow_sums *sums;
	struct sample sample;
	struct nt_cpu *cpu;
	__u32 cpu_id, place;

	cpu = nt_this_cpu_if_on(program, &cpu_id);
	flows = cpu ? bpf_map_lookup_elem(&nt_flows_cpus, &cpu_id) : NULL;
	if (!cpu || !flows)
		return 0;
	last = is_sent ? &flows->sent : &flows->received;
	if (last->device != (unsigned long)dev || last->ifindex != (__u32)NT_FIELD(dev, is_typed, ifindex))
		change_device(flows, last, dev, is_typed, is_sent);
	place = last->place;
	if (place >= NT_FLOW_DEVICES + 1) /* for the verifier */
		return 0;
	sums = is_sent ? &flows->devices[place].sent : &flows->devices[place].received;
	sample.packets = nt_segments_of(skb, (struct nt_reads){.is_typed = is_typed});
	sample.bytes = NT_FIELD(skb, is_typed, len) + last->link_bytes;
	sums->buffers++;
	sums->packets += sample.packets;
	sums->bytes += sample.bytes;
	sample.rows = nt_sketch_draw_rows(&flows->draw, nt_config.flows.gaps, nt_config.flows.shape.rows);
	if (sample.rows || !nt_config.flows.shape.rows)
		add_sample(flows, skb, is_typed, is_sent, &sample);
	nt_count(cpu, program, NT_OUTCOME_noted);
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(nt_flow_received, struct sk_buff *skb)
{
	return count_packet(NT_PROGRAM_flow_received, skb, true, false);
}

SEC("tp/net/netif_receive_skb")
int nt_flow_received__event(struct trace_event_raw_net_dev_template *event)
{
	return count_packet(NT_PROGRAM_flow_received, event->skbaddr, false, false);
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(nt_flow_sent, struct sk_buff *skb)
{
	return count_packet(NT_PROGRAM_flow_sent, skb, true, true);
}

SEC("tp/net/net_dev_start_xmit")
int nt_flow_sent__event(struct trace_event_raw_net_dev_start_xmit *event)
{
	return count_packet(NT_PROGRAM_flow_sent, event->skbaddr, false, true);
}

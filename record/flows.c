// SPDX-License-Identifier: GPL-2.0-only
/*
 * flows.c - see flows.h.
 */
#include "record/flows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>

#include "record/gaps.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "bpf/nettape.skel.h"
#pragma GCC diagnostic pop

#define LEAST_NS 500000000ull /* that a buffer is counted into */
#define REST_NS 20000000ull /* from a turn on, until no program is at the buffer any more */

uint32_t nt_flows_set_bits(const struct nt_flows_options *options)
{
	return options->shape.rows ? NT_SAMPLED_SET_BITS : NT_EXACT_SET_BITS;
}

void nt_flows_configure(const struct nt_flows_options *options, struct nt_flows_config *config)
{
	config->shape = options->shape;
	config->keys = options->keys;
	config->set_bits = nt_flows_set_bits(options);
	config->n_keys = (uint32_t)__builtin_popcount(options->keys);
	nt_gaps_draw(options->sample, config->gaps, nt_gaps_random, NULL);
}

/* ---- beginning ---- */

static int map_one(void **out, size_t *size, size_t wanted, const struct bpf_map *map)
{
	void *at = mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (at == MAP_FAILED)
		return -errno;
	*out = at;
	*size = wanted;
	return 0;
}

static int map_all(struct nt_flows *flows)
{
	const struct nettape *skeleton = flows->kernel->skeleton;
	const size_t n_cpus = flows->kernel->n_cpus, n = 2 * n_cpus * flows->n_keys;
	int error = map_one((void **)&flows->cpus, &flows->cpus_size, n_cpus * sizeof(*flows->cpus),
			    skeleton->maps.nt_flows_cpus);

	if (!error && flows->shape.rows)
		error = map_one((void **)&flows->cells, &flows->cells_size,
				n * nt_sketch_cells(&flows->shape) * sizeof(*flows->cells),
				skeleton->maps.nt_flow_cells);
	return error ? error
		     : map_one((void **)&flows->sampled, &flows->sampled_size, n * nt_sampled_size(flows->set_bits),
			       skeleton->maps.nt_sampled);
}

static int make_room(struct nt_flows *flows)
{
	const size_t n = flows->kernel->n_cpus, n_devices = n * (NT_FLOW_DEVICES + 1);

	flows->sum = calloc(nt_sketch_cells(&flows->shape) + 1, sizeof(*flows->sum));
	flows->named_size = flows->shape.rows ? NT_FLOWS_NAMED : NT_FLOWS_EXACT;
	flows->named = calloc(flows->named_size, sizeof(*flows->named));
	flows->set = calloc(n * NT_SAMPLED_WAYS, sizeof(*flows->set));
	flows->totals = calloc(n_devices, sizeof(*flows->totals));
	flows->totals_before = calloc(n_devices, sizeof(*flows->totals_before));
	return flows->sum && flows->named && flows->set && flows->totals && flows->totals_before ? 0 : -ENOMEM;
}

int nt_flows_init(struct nt_flows *flows, struct nt_kernel *kernel)
{
	const struct nt_config *config = (const struct nt_config *)(uintptr_t)&kernel->skeleton->rodata->nt_config;
	int error;

	flows->kernel = kernel;
	flows->shape = config->flows.shape;
	flows->set_bits = config->flows.set_bits;
	flows->keys = config->flows.keys;
	flows->n_keys = config->flows.n_keys;
	flows->hashes = nt_kernel_flow_hashes(kernel);
	error = map_all(flows);
	if (!error)
		error = make_room(flows);
	for (uint32_t cpu = 0; cpu < kernel->n_cpus && !error; cpu++) {
		struct nt_sketch_draw *draw = &flows->cpus[cpu].draw;

		/* Each CPU begins somewhere else. */
		draw->at = nt_gaps_random(NULL);
		draw->left = nt_sketch_next_gap(draw, config->flows.gaps);
	}
	return error;
}

/* ---- adding up ---- */

/* Of the key at hand, in both maps. */
static size_t place_of(const struct nt_flows *flows, uint32_t cpu, uint32_t buffer)
{
	return (size_t)(2 * cpu + buffer) * flows->n_keys + flows->key;
}

static struct nt_sampled_flows *sampled_of(const struct nt_flows *flows, uint32_t cpu, uint32_t buffer)
{
	return (void *)(flows->sampled + place_of(flows, cpu, buffer) * nt_sampled_size(flows->set_bits));
}

/* There may be many more CPUs possible than there are. */
static bool has_samples(const struct nt_flows *flows, uint32_t cpu, uint32_t buffer)
{
	return sampled_of(flows, cpu, buffer)->samples != 0;
}

static void add_cells(struct nt_flows *flows, uint32_t buffer)
{
	const uint32_t n = nt_sketch_cells(&flows->shape);

	memset(flows->sum, 0, n * sizeof(*flows->sum));
	for (uint32_t cpu = 0; cpu < flows->kernel->n_cpus && n; cpu++) {
		struct nt_sketch_cell *cells = &flows->cells[place_of(flows, cpu, buffer) * n];

		if (!has_samples(flows, cpu, buffer))
			continue;
		for (uint32_t i = 0; i < n; i++) {
			flows->sum[i].packets += cells[i].packets;
			flows->sum[i].bytes += cells[i].bytes;
		}
		memset(cells, 0, n * sizeof(*cells));
	}
}

static int compare_flows(const void *a, const void *b)
{
	return memcmp(&((const struct nt_sampled_flow *)a)->tuple, &((const struct nt_sampled_flow *)b)->tuple,
		      sizeof(struct nt_flow_tuple));
}

/*
 * A flow that has no place in a CPU's set was sampled there no more often than the least of those that have. Without a
 * sketch, it had no more packets than found no place.
 */
static uint32_t least_of(const struct nt_flows *flows, const struct nt_sampled_set *set)
{
	uint32_t least = UINT32_MAX;

	if (!flows->shape.rows)
		return set->unplaced;
	for (int way = 0; way < NT_SAMPLED_WAYS; way++) {
		const struct nt_sampled_flow *flow = &set->ways[way];

		least = flow->packets + flow->missed < least ? flow->packets + flow->missed : least;
	}
	return least;
}

/* What a flow may have had on CPUs where it has no place. */
struct elsewhere {
	uint32_t packets;
	uint32_t most_bytes; /* of one packet; 0: not known */
};

/*
 * Puts one set of all CPUs into flows->set, sorted. `missed` is for now what a flow may have more on the CPUs that have
 * it than on those that do not; the latter is in *elsewhere. Gives how many.
 */
static size_t gather(struct nt_flows *flows, uint32_t buffer, uint32_t number, struct elsewhere *elsewhere)
{
	size_t n = 0;

	memset(elsewhere, 0, sizeof(*elsewhere));
	for (uint32_t cpu = 0; cpu < flows->kernel->n_cpus; cpu++) {
		struct nt_sampled_set *set = &sampled_of(flows, cpu, buffer)->sets[number];
		uint32_t least;

		if (!has_samples(flows, cpu, buffer))
			continue;
		least = least_of(flows, set);
		elsewhere->packets += least;
		if (set->most_bytes > elsewhere->most_bytes)
			elsewhere->most_bytes = set->most_bytes;
		for (int way = 0; way < NT_SAMPLED_WAYS; way++) {
			if (!set->ways[way].packets)
				continue;
			flows->set[n] = set->ways[way];
			flows->set[n++].missed -= least;
		}
		memset(set, 0, sizeof(*set));
	}
	qsort(flows->set, n, sizeof(*flows->set), compare_flows);
	return n;
}

static void add_flow(struct nt_sampled_flow *to, const struct nt_sampled_flow *from)
{
	to->packets += from->packets;
	to->missed += from->missed;
	to->bytes += from->bytes;
	if (from->most_packets > to->most_packets)
		to->most_packets = from->most_packets;
	if (from->most_bytes > to->most_bytes)
		to->most_bytes = from->most_bytes;
}

static void leave_unnamed(struct nt_flows *flows, const struct nt_sampled_flow *flow)
{
	if (flow->packets + flow->missed > flows->unnamed)
		flows->unnamed = flow->packets + flow->missed;
}

/* The flow is one of those that were sampled most, so far, or is not. */
static void name(struct nt_flows *flows, const struct nt_sampled_flow *flow)
{
	const bool is_exact = !flows->shape.rows;
	uint32_t least = 0;

	if (!is_exact && (uint64_t)flow->packets * NT_FLOWS_LEAST < flows->samples) {
		leave_unnamed(flows, flow);
		return;
	}
	if (flows->n_named < flows->named_size) {
		flows->named[flows->n_named++] = *flow;
		return;
	}
	if (is_exact) { /* then there are too many to look for the least */
		leave_unnamed(flows, flow);
		return;
	}
	for (uint32_t i = 1; i < flows->n_named; i++)
		least = flows->named[i].packets < flows->named[least].packets ? i : least;
	if (flow->packets <= flows->named[least].packets) {
		leave_unnamed(flows, flow);
		return;
	}
	leave_unnamed(flows, &flows->named[least]);
	flows->named[least] = *flow;
}

static void name_set(struct nt_flows *flows, uint32_t buffer, uint32_t number)
{
	struct elsewhere elsewhere;
	size_t n = gather(flows, buffer, number, &elsewhere);

	if (elsewhere.packets > flows->unnamed)
		flows->unnamed = elsewhere.packets;
	for (size_t i = 0; i < n;) {
		struct nt_sampled_flow flow = flows->set[i++];

		while (i < n && !compare_flows(&flow, &flows->set[i]))
			add_flow(&flow, &flows->set[i++]);
		flow.missed += elsewhere.packets;
		if (flow.missed && elsewhere.most_bytes > flow.most_bytes)
			flow.most_bytes = elsewhere.most_bytes;
		name(flows, &flow);
	}
}

static void add_flows(struct nt_flows *flows, uint32_t buffer)
{
	flows->samples = flows->n_named = flows->unnamed = 0;
	for (uint32_t cpu = 0; cpu < flows->kernel->n_cpus; cpu++)
		flows->samples += sampled_of(flows, cpu, buffer)->samples;
	for (uint32_t number = 0; number < 1u << flows->set_bits; number++)
		name_set(flows, buffer, number);
	for (uint32_t cpu = 0; cpu < flows->kernel->n_cpus; cpu++)
		sampled_of(flows, cpu, buffer)->samples = 0;
}

static int compare_devices(const void *a, const void *b)
{
	const struct nt_flow_device *left = a, *right = b;

	return (left->key > right->key) - (left->key < right->key);
}

static void add_sums(struct nt_flow_sums *to, const struct nt_flow_sums *from)
{
	to->buffers += from->buffers;
	to->packets += from->packets;
	to->bytes += from->bytes;
}

/* All places of all CPUs, and then one for each device. */
static void add_devices(struct nt_flows *flows)
{
	struct nt_flow_device *before = flows->totals_before;
	size_t n = 0, n_sums = 0;

	flows->totals_before = flows->totals;
	flows->n_totals_before = flows->n_totals;
	flows->totals = before;
	for (uint32_t cpu = 0; cpu < flows->kernel->n_cpus; cpu++)
		for (uint32_t place = 0; place <= NT_FLOW_DEVICES; place++) {
			struct nt_flow_device device = flows->cpus[cpu].devices[place];

			if (device.received.buffers || device.sent.buffers)
				flows->totals[n++] = device;
		}
	qsort(flows->totals, n, sizeof(*flows->totals), compare_devices);
	for (size_t i = 0; i < n; i++) {
		if (n_sums && flows->totals[n_sums - 1].key == flows->totals[i].key) {
			add_sums(&flows->totals[n_sums - 1].received, &flows->totals[i].received);
			add_sums(&flows->totals[n_sums - 1].sent, &flows->totals[i].sent);
		} else {
			flows->totals[n_sums++] = flows->totals[i];
		}
	}
	flows->n_totals = n_sums;
}

/* ---- onto the tape ---- */

/* Where records go: all of one time. */
struct target {
	struct nt_stream *stream;
	struct nt_counts *counts; /* of the stream's CPU */
	uint64_t begin_ns, end_ns;
};

/* Counted as what the programs write, so that the tape can be compared. */
static int put(const struct target *to, union nt_any *record)
{
	__atomic_fetch_add(&to->counts->written[record->record.kind][NT_PROGRAM_control], 1, __ATOMIC_RELAXED);
	return nt_stream_put(to->stream, record, to->end_ns);
}

static bool is_empty(const struct nt_sketch_cell *cell)
{
	return !cell->packets && !cell->bytes;
}

static int put_sketch(struct nt_flows *flows, const struct target *to)
{
	union nt_any any = {.as_flow_sketch = {.end_ns = to->end_ns,
					       .kind = NT_FLOW_SKETCH,
					       .flags = flows->sort,
					       .dur_ns = to->end_ns - to->begin_ns,
					       .unnamed = flows->unnamed,
					       .samples = flows->samples,
					       .flows = flows->n_named}};

	for (uint32_t i = 0; i < nt_sketch_cells(&flows->shape); i++)
		any.as_flow_sketch.cells += !is_empty(&flows->sum[i]);
	return put(to, &any);
}

static int put_cells(struct nt_flows *flows, const struct target *to)
{
	int error = 0;

	for (uint32_t i = 0; i < nt_sketch_cells(&flows->shape) && !error; i++) {
		const struct nt_sketch_cell *cell = &flows->sum[i];
		union nt_any any = {.as_flow_cell = {.end_ns = to->end_ns,
						     .kind = NT_FLOW_CELL,
						     .flags = flows->sort,
						     .dur_ns = to->end_ns - to->begin_ns,
						     .cell = i,
						     .packets = cell->packets,
						     .bytes = cell->bytes}};

		if (!is_empty(cell))
			error = put(to, &any);
	}
	return error;
}

/* The identity goes before the first count, if probe `deliver` has not told of the flow. */
static int put_identity(const struct nt_flows *flows, const struct nt_flow_tuple *tuple, uint64_t key,
			const struct target *to)
{
	const uint8_t by = (uint8_t)(flows->sort << NT_FLOW_KEY_SHIFT);
	union nt_any any = {.as_flow = {.end_ns = to->end_ns,
					.kind = NT_FLOW,
					.family = tuple->family,
					.protocol = tuple->protocol,
					.flags = by | (tuple->device & NT_DEVICE_SENDS ? NT_FLOW_SENT : 0),
					.netns = tuple->device >> 32,
					.flow = key,
					.ethertype = tuple->ethertype,
					.src_port = __builtin_bswap16(tuple->ports & 0xffff),
					.dst_port = __builtin_bswap16(tuple->ports >> 16),
					.device = tuple->device & ~NT_DEVICE_SENDS}};

	if (nt_ids_knows(to->stream->ids, NT_ROLE_FLOW, key))
		return 0;
	memcpy(any.as_flow.src, tuple->src, sizeof(any.as_flow.src));
	memcpy(any.as_flow.dst, tuple->dst, sizeof(any.as_flow.dst));
	return nt_ids_put(to->stream->ids, &any);
}

static int put_flow(struct nt_flows *flows, const struct nt_sampled_flow *flow, const struct target *to)
{
	const uint64_t key = nt_flow_key(flows->hashes, &flow->tuple, nt_flow_many(flows->sort));
	union nt_any any = {.as_flow_count = {.end_ns = to->end_ns,
					      .kind = NT_FLOW_COUNT,
					      .flags = flows->sort,
					      .dur_ns = to->end_ns - to->begin_ns,
					      .flow = key,
					      .packets = flow->packets,
					      .missed = flow->missed,
					      .bytes = flow->bytes,
					      .most_packets = flow->most_packets,
					      .most_bytes = flow->most_bytes}};
	int error = put_identity(flows, &flow->tuple, key, to);

	return error ? error : put(to, &any);
}

static int put_sums(const struct nt_flow_sums *now, const struct nt_flow_sums *before, uint64_t device, uint8_t flags,
		    const struct target *to)
{
	union nt_any any = {.as_flow_total = {.end_ns = to->end_ns,
					      .kind = NT_FLOW_TOTAL,
					      .flags = flags,
					      .dur_ns = to->end_ns - to->begin_ns,
					      .device = device,
					      .buffers = now->buffers - before->buffers,
					      .packets = now->packets - before->packets,
					      .bytes = now->bytes - before->bytes}};

	return any.as_flow_total.buffers ? put(to, &any) : 0;
}

/* What has come since the last time. Both lists are sorted, and no device ever leaves. */
static int put_totals(struct nt_flows *flows, const struct target *to)
{
	size_t before = 0;
	int error = 0;

	for (size_t i = 0; i < flows->n_totals && !error; i++) {
		const struct nt_flow_device *device = &flows->totals[i];
		struct nt_flow_device last = {};

		if (before < flows->n_totals_before && flows->totals_before[before].key == device->key)
			last = flows->totals_before[before++];
		error = put_sums(&device->received, &last.received, device->key, 0, to);
		if (!error)
			error = put_sums(&device->sent, &last.sent, device->key, NT_FLOW_TOTAL_SENT, to);
	}
	return error;
}

static int put_key(struct nt_flows *flows, uint32_t buffer, const struct target *to)
{
	int error;

	add_cells(flows, buffer);
	add_flows(flows, buffer);
	error = put_sketch(flows, to);
	if (!error)
		error = put_cells(flows, to);
	for (uint32_t i = 0; i < flows->n_named && !error; i++)
		error = put_flow(flows, &flows->named[i], to);
	return error;
}

static int put_all(struct nt_flows *flows, uint32_t buffer, const struct target *to)
{
	int error = 0;

	flows->key = 0;
	for (uint32_t sort = 0; sort < NT_FLOW_KEY_SORTS && !error; sort++) {
		if (!(flows->keys >> sort & 1))
			continue;
		flows->sort = sort;
		error = put_key(flows, buffer, to);
		flows->key++;
	}
	return error ? error : put_totals(flows, to);
}

/* ---- the two buffers ---- */

/* The totals go on, so they are read now. */
static void turn(struct nt_flows *flows, uint64_t now_ns)
{
	flows->buffer = !flows->buffer;
	for (uint32_t cpu = 0; cpu < flows->kernel->n_cpus; cpu++)
		__atomic_store_n(&flows->cpus[cpu].buffer, flows->buffer, __ATOMIC_RELEASE);
	flows->turned_ns = now_ns;
	add_devices(flows);
}

void nt_flows_start(struct nt_flows *flows)
{
	flows->begin_ns = flows->kernel ? flows->kernel->start_ns : 0;
}

void nt_flows_turn(struct nt_flows *flows, uint64_t now_ns)
{
	if (flows->kernel && !flows->turned_ns && now_ns >= flows->begin_ns + LEAST_NS)
		turn(flows, now_ns);
}

static int take(struct nt_flows *flows, struct nt_stream *stream)
{
	const struct target to = {.stream = stream,
				  .counts = &flows->kernel->cpus[stream->cpu].counts,
				  .begin_ns = flows->begin_ns,
				  .end_ns = flows->turned_ns};

	flows->begin_ns = flows->turned_ns;
	flows->turned_ns = 0;
	return put_all(flows, !flows->buffer, &to);
}

int nt_flows_take(struct nt_flows *flows, struct nt_stream *stream, uint64_t now_ns)
{
	return flows->turned_ns && now_ns >= flows->turned_ns + REST_NS ? take(flows, stream) : 0;
}

int nt_flows_end(struct nt_flows *flows, struct nt_stream *stream)
{
	const uint64_t end_ns = flows->kernel ? flows->kernel->end_ns : 0;
	int error = flows->turned_ns ? take(flows, stream) : 0;

	if (error || end_ns <= flows->begin_ns)
		return error;
	turn(flows, end_ns);
	return take(flows, stream);
}

static void unmap(void *at, size_t size)
{
	if (at)
		munmap(at, size);
}

void nt_flows_release(struct nt_flows *flows)
{
	unmap(flows->cpus, flows->cpus_size);
	unmap(flows->cells, flows->cells_size);
	unmap(flows->sampled, flows->sampled_size);
	free(flows->sum);
	free(flows->named);
	free(flows->set);
	free(flows->totals);
	free(flows->totals_before);
	memset(flows, 0, sizeof(*flows));
}

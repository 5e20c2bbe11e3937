// SPDX-License-Identifier: GPL-2.0-only
/*
 * flows_test.c - what the recorder makes of the programs' counts of flows, against every sample: random traffic on
 * several CPUs, of many flows and of few, over several turns of the buffers; by flow and by source, which here are the
 * same; with a sketch, and where each packet is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/flows.h"
#include "report/tape/identities.h"
#include "schema/kind.h"
#include "tests/support/rand.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "bpf/nettape.skel.h"
#pragma GCC diagnostic pop

#define N_CPUS 3
#define N_FLOWS 4000
#define N_DEVICES 5
#define SECOND 1000000000ull

static struct nt_rand rnd;

/* ---- the kernel ---- */

struct bpf_map {
	int fd;
};

static struct bpf_map maps[3];
static struct nettape__rodata rodata;
static struct nettape skeleton;
static struct nt_cpu *kernel_cpus;
static struct nt_kernel kernel;
static struct nt_flows flows;
static struct nt_stream stream = {.cpu = 1};

int bpf_map__fd(const struct bpf_map *map)
{
	return map->fd;
}

const struct nt_flow_hash *nt_kernel_flow_hashes(const struct nt_kernel *of)
{
	assert_ptr_equal(of, &kernel);
	return ((const struct nt_config *)(const void *)&rodata.nt_config)->flow_hashes;
}

/* ---- the tape ---- */

static struct {
	/* By flow, and by source. */
	struct {
		struct nt_flow_sketch sketch;
		struct nt_sketch_cell cells[NT_SKETCH_MAX_CELLS];
		struct nt_flow_count counts[N_FLOWS];
		uint32_t n_cells, n_counts, n_sketches;
	} by[NT_FLOW_KEY_DST];
	struct nt_flow_sums received[N_DEVICES + 1], sent[N_DEVICES + 1];
	uint64_t begin_ns, end_ns;
} tape;

static uint64_t known[2 * N_FLOWS + 1];
static uint32_t n_known;

bool nt_ids_knows(const struct nt_ids *ids, enum nt_role role, uint64_t flow)
{
	(void)ids;
	assert_int_equal(role, NT_ROLE_FLOW);
	for (uint32_t i = 0; i < n_known; i++)
		if (known[i] == flow)
			return true;
	return false;
}

static struct nt_flow_tuple tuple_of(uint32_t flow, enum nt_flow_key_sort by);
static uint64_t key_of(uint32_t flow, enum nt_flow_key_sort by);

/* The reader makes the same of the identity as the programs have made of the packet. */
static void reader_knows(const union nt_any *record, uint32_t number)
{
	const enum nt_flow_key_sort by = nt_flow_sort_of(&record->as_flow);
	const struct nt_flow_tuple tuple = tuple_of(number, by);
	enum nt_flow_key_sort sort;
	struct nt_identities identities = {.keeps_flows = true};
	struct nt_flow_tuple got;
	union nt_any device = {
		.as_device = {.kind = NT_DEVICE, .ifindex = 3, .netns = 77, .device = record->as_flow.device}};

	assert_int_equal(nt_identities_learn(&identities, record), 0);
	assert_false(nt_identities_flow_tuple(&identities, record->as_flow.flow, &sort, &got));
	assert_int_equal(nt_identities_learn(&identities, &device), 0);
	assert_true(nt_identities_flow_tuple(&identities, record->as_flow.flow, &sort, &got));
	assert_int_equal(sort, by);
	assert_memory_equal(&got, &tuple, sizeof(got));
	nt_identities_release(&identities);
}

int nt_ids_put(struct nt_ids *ids, union nt_any *record)
{
	const struct nt_flow *flow = &record->as_flow;
	const uint32_t number = flow->src[0] | (uint32_t)flow->src[1] << 8;
	const bool is_source = nt_flow_sort_of(flow) == NT_FLOW_KEY_SRC;

	(void)ids;
	assert_int_equal(flow->kind, NT_FLOW);
	assert_int_equal(flow->flow, key_of(number, nt_flow_sort_of(flow)));
	assert_int_equal(flow->device, 77ull << 32 | 3);
	assert_int_equal(flow->netns, 77);
	assert_int_equal(flow->flags & ~NT_FLOW_KEY_MASK, number & 1 ? NT_FLOW_SENT : 0);
	assert_int_equal(flow->src_port, is_source ? 0 : 1000);
	assert_int_equal(flow->dst_port, is_source ? 0 : 80);
	reader_knows(record, number);
	known[n_known++] = flow->flow;
	return 0;
}

/* The device 0 is that of none. */
static void take_total(const struct nt_flow_total *total)
{
	struct nt_flow_sums *sums =
		&(total->flags & NT_FLOW_TOTAL_SENT ? tape.sent : tape.received)[total->device & 0xff];

	assert_int_equal(sums->buffers, 0);
	*sums = (struct nt_flow_sums){total->buffers, total->packets, total->bytes};
}

int nt_stream_put(struct nt_stream *to, union nt_any *record, uint64_t now_ns)
{
	uint32_t at;

	assert_ptr_equal(to, &stream);
	assert_int_equal(now_ns, record->record.end_ns);
	assert_true(tape.by[0].n_sketches || record->record.kind == NT_FLOW_SKETCH);
	if (tape.by[0].n_sketches)
		assert_int_equal(record->record.end_ns, tape.end_ns);
	switch (record->record.kind) {
	case NT_FLOW_SKETCH:
		tape.by[record->as_flow_sketch.flags].n_sketches++;
		tape.by[record->as_flow_sketch.flags].sketch = record->as_flow_sketch;
		tape.end_ns = record->record.end_ns;
		tape.begin_ns = record->record.end_ns - record->as_flow_sketch.dur_ns;
		break;
	case NT_FLOW_CELL:
		tape.by[record->as_flow_cell.flags].cells[record->as_flow_cell.cell] =
			(struct nt_sketch_cell){record->as_flow_cell.packets, record->as_flow_cell.bytes};
		tape.by[record->as_flow_cell.flags].n_cells++;
		break;
	case NT_FLOW_COUNT:
		at = tape.by[record->as_flow_count.flags].n_counts++;
		tape.by[record->as_flow_count.flags].counts[at] = record->as_flow_count;
		break;
	case NT_FLOW_TOTAL:
		take_total(&record->as_flow_total);
		break;
	default:
		fail_msg("kind %u", record->record.kind);
	}
	return 0;
}

/* ---- the programs ---- */

static struct {
	uint32_t samples[N_FLOWS], bytes[N_FLOWS];
	struct nt_sketch_cell cells[NT_FLOW_KEY_DST][NT_SKETCH_MAX_CELLS];
	uint64_t n_samples;
	struct nt_flow_sums received[N_DEVICES + 1], sent[N_DEVICES + 1];
} model;

static struct nt_flow_tuple tuple_of(uint32_t flow, enum nt_flow_key_sort by)
{
	if (by == NT_FLOW_KEY_SRC)
		return (struct nt_flow_tuple){.src = {flow},
					      .device = 77ull << 32 | 3 | (flow & 1 ? NT_DEVICE_SENDS : 0),
					      .family = flow & 2 ? 10 : 2};
	return (struct nt_flow_tuple){.src = {flow},
				      .dst = {9, flow & 2 ? 1ull << 63 : 0},
				      .device = 77ull << 32 | 3 | (flow & 1 ? NT_DEVICE_SENDS : 0),
				      .ports = __builtin_bswap16(1000) | (uint32_t)__builtin_bswap16(80) << 16,
				      .ethertype = flow & 2 ? 0x86dd : 0x800,
				      .family = flow & 2 ? 10 : 2,
				      .protocol = 6};
}

static uint64_t key_of(uint32_t flow, enum nt_flow_key_sort by)
{
	const struct nt_flow_tuple tuple = tuple_of(flow, by);

	return nt_flow_key(nt_kernel_flow_hashes(&kernel), &tuple, by ? NT_MANY_SRC : NT_MANY_NOT);
}

static void count_by(enum nt_flow_key_sort by, uint32_t cpu, uint32_t flow, uint32_t rows, uint32_t packets,
		     uint32_t bytes)
{
	const struct nt_flow_tuple tuple = tuple_of(flow, by);
	const uint64_t hash = nt_sketch_hash(key_of(flow, by));
	const uint32_t place = 2 * (2 * cpu + (flows.cpus[cpu].buffer & 1)) + by,
		       n = (uint32_t)__builtin_popcount(rows);
	struct nt_sampled_flows *sampled = (void *)(flows.sampled + place * nt_sampled_size(flows.set_bits));
	struct nt_sampled_set *set = &sampled->sets[nt_sampled_set_of(hash, flows.set_bits)];

	sampled->samples += n;
	if (!flows.shape.rows) {
		nt_sampled_keep(set, &tuple, packets, bytes);
		return;
	}
	nt_sampled_add(set, &tuple, n, packets, bytes);
	for (uint32_t row = 0; row < flows.shape.rows; row++) {
		const uint32_t cell = nt_sketch_cell(&flows.shape, hash, row);
		const bool is_negative = nt_sketch_is_negative(&flows.shape, hash, row);

		if (!(rows >> row & 1))
			continue;
		nt_sketch_add(&flows.cells[place * nt_sketch_cells(&flows.shape) + cell], is_negative, packets, bytes);
		nt_sketch_add(&model.cells[by][cell], is_negative, packets, bytes);
	}
}

static void count_sample(uint32_t cpu, uint32_t flow, uint32_t rows, uint32_t packets, uint32_t bytes)
{
	const uint32_t n = (uint32_t)__builtin_popcount(rows);

	count_by(NT_FLOW_KEY_FLOW, cpu, flow, rows, packets, bytes);
	count_by(NT_FLOW_KEY_SRC, cpu, flow, rows, packets, bytes);
	model.n_samples += n;
	model.samples[flow] += n * packets;
	model.bytes[flow] += n * bytes;
}

static void count_packet(uint32_t cpu)
{
	struct nt_flow_device *device = &flows.cpus[cpu].devices[nt_rand_below(&rnd, NT_FLOW_DEVICES)];
	const uint32_t number = (uint32_t)nt_rand_below(&rnd, N_DEVICES + 1), packets = 1 + nt_rand_below(&rnd, 3);
	struct nt_flow_sums *sums, *also;

	if (!number)
		device = &flows.cpus[cpu].devices[NT_FLOW_DEVICES];
	else if (!device->key)
		device->key = 55ull << 32 | number;
	also = &(nt_rand_below(&rnd, 2) ? model.sent : model.received)[device->key & 0xff];
	sums = also >= model.sent && also <= &model.sent[N_DEVICES] ? &device->sent : &device->received;
	sums->buffers++, also->buffers++;
	sums->packets += packets, also->packets += packets;
	sums->bytes += 100, also->bytes += 100;
}

/* Few flows have most of the traffic. `n_flows`: so many there are. */
static void run_programs(uint32_t n_flows, uint32_t n_packets)
{
	for (uint32_t i = 0; i < n_packets; i++) {
		const uint32_t cpu = (uint32_t)nt_rand_below(&rnd, N_CPUS);
		const uint32_t flow = (uint32_t)nt_rand_below(&rnd, 1 + nt_rand_below(&rnd, n_flows));

		count_packet(cpu);
		count_sample(cpu, flow, flows.shape.rows ? 1 + (uint32_t)nt_rand_below(&rnd, 15) : 1, 1 + flow % 3,
			     60 + flow % 900);
	}
}

/* ---- held against each other ---- */

static void has_cells(enum nt_flow_key_sort by)
{
	const uint32_t n = flows.shape.rows ? nt_sketch_cells(&flows.shape) : 0;

	assert_int_equal(tape.by[by].sketch.cells, tape.by[by].n_cells);
	assert_memory_equal(tape.by[by].cells, model.cells[by], n * sizeof(tape.by[by].cells[0]));
}

static void has_flow(const struct nt_flow_count *count, uint32_t flow)
{
	assert_in_range(model.samples[flow], count->packets, count->packets + count->missed);
	assert_true(count->bytes <= model.bytes[flow]);
	assert_true(model.bytes[flow] <= count->bytes + (uint64_t)count->missed * count->most_bytes);
	assert_int_equal(count->most_packets, 1 + flow % 3);
	if (flows.shape.rows || !count->missed)
		assert_int_equal(count->most_bytes, 60 + flow % 900);
	if (flows.shape.rows)
		assert_true((uint64_t)count->packets * NT_FLOWS_LEAST >= model.n_samples);
}

/*
 * Named flows are bounded by their own counts, and all others by `unnamed`. Where flows are few, and each has a place,
 * that is what is too little to be named; if each packet is counted, nothing.
 */
static void has_flows(enum nt_flow_key_sort by, bool are_few)
{
	const struct nt_flow_sketch *sketch = &tape.by[by].sketch;
	static bool is_named[N_FLOWS];

	memset(is_named, 0, sizeof(is_named));
	assert_int_equal(sketch->flows, tape.by[by].n_counts);
	assert_int_equal(sketch->samples, model.n_samples);
	for (uint32_t flow = 0; flow < N_FLOWS; flow++) {
		const uint64_t key = model.samples[flow] ? key_of(flow, by) : 0;

		for (uint32_t i = 0; i < sketch->flows && key; i++) {
			if (tape.by[by].counts[i].flow != key)
				continue;
			assert_false(is_named[flow]);
			is_named[flow] = true;
			has_flow(&tape.by[by].counts[i], flow);
		}
	}
	for (uint32_t flow = 0; flow < N_FLOWS; flow++)
		assert_true(is_named[flow] || model.samples[flow] <= sketch->unnamed);
	assert_true(!are_few || (uint64_t)sketch->unnamed * NT_FLOWS_LEAST <= model.n_samples);
	if (!flows.shape.rows && are_few)
		assert_int_equal(sketch->unnamed, 0);
}

static void has_totals(void)
{
	assert_memory_equal(tape.received, model.received, sizeof(model.received));
	assert_memory_equal(tape.sent, model.sent, sizeof(model.sent));
}

static void begin_second(void)
{
	memset(&model, 0, sizeof(model));
	memset(&tape, 0, sizeof(tape));
}

static void check_second(uint64_t begin_ns, uint64_t end_ns, bool are_few)
{
	assert_int_equal(tape.begin_ns, begin_ns);
	assert_int_equal(tape.end_ns, end_ns);
	for (enum nt_flow_key_sort by = 0; by < NT_FLOW_KEY_DST; by++) {
		assert_int_equal(tape.by[by].n_sketches, 1);
		has_cells(by);
		has_flows(by, are_few);
	}
	has_totals();
}

static void adds_up_what_programs_count(void **state)
{
	uint64_t now_ns = 5 * SECOND;

	(void)state;
	kernel.start_ns = now_ns;
	nt_flows_start(&flows);
	for (int second = 0; second < 12; second++) {
		const uint64_t begin_ns = now_ns;

		begin_second();
		run_programs(second % 3 ? N_FLOWS : 1 + (uint32_t)nt_rand_below(&rnd, 50), second % 4 ? 20000 : 300);
		now_ns += SECOND;
		nt_flows_turn(&flows, now_ns);
		/* Too early, and again too early for another turn. */
		assert_int_equal(nt_flows_take(&flows, &stream, now_ns + 1000000), 0);
		nt_flows_turn(&flows, now_ns + 2000000);
		assert_int_equal(tape.by[0].n_sketches, 0);
		assert_int_equal(nt_flows_take(&flows, &stream, now_ns + SECOND / 10), 0);
		assert_int_equal(nt_flows_take(&flows, &stream, now_ns + SECOND / 9), 0);
		nt_flows_turn(&flows, now_ns + SECOND / 8);
		check_second(begin_ns, now_ns, second % 3 == 0);
	}
	/* What was counted since, before and after a turn, is there at the end. */
	begin_second();
	run_programs(50, 1000);
	nt_flows_turn(&flows, now_ns + SECOND);
	kernel.end_ns = now_ns + SECOND;
	assert_int_equal(nt_flows_end(&flows, &stream), 0);
	check_second(now_ns, now_ns + SECOND, true);
	begin_second();
	run_programs(50, 1000);
	kernel.end_ns += SECOND / 4;
	assert_int_equal(nt_flows_end(&flows, &stream), 0);
	check_second(now_ns + SECOND, kernel.end_ns, true);
	assert_int_equal(kernel_cpus[1].counts.written[NT_FLOW_SKETCH][NT_PROGRAM_control], 2 * 14);
}

static void without_the_probe_nothing_happens(void **state)
{
	struct nt_flows none = {.kernel = NULL};

	(void)state;
	begin_second();
	nt_flows_start(&none);
	nt_flows_turn(&none, SECOND);
	assert_int_equal(nt_flows_take(&none, &stream, 2 * SECOND), 0);
	assert_int_equal(nt_flows_end(&none, &stream), 0);
	assert_int_equal(tape.by[0].n_sketches, 0);
	nt_flows_release(&none);
}

static int memory(size_t size)
{
	int fd = memfd_create("map", 0);

	assert_true(fd >= 0 && !ftruncate(fd, (off_t)size));
	return fd;
}

static int set_up_with(const struct nt_flows_options *options, uint32_t set_bits)
{
	struct nt_config *config = (struct nt_config *)(void *)&rodata.nt_config;
	uint64_t *words = (uint64_t *)config->flow_hashes;

	n_known = 0;
	for (size_t i = 0; i < sizeof(config->flow_hashes) / (sizeof(uint64_t)); i++)
		words[i] = nt_rand_u64(&rnd);
	nt_flows_configure(options, &config->flows);
	config->flows.set_bits = set_bits;
	maps[0].fd = memory(N_CPUS * sizeof(struct nt_flows_cpu));
	maps[1].fd = memory(2 * 2 * N_CPUS * 1024 * sizeof(struct nt_sketch_cell));
	maps[2].fd = memory(2 * 2 * N_CPUS * (size_t)nt_sampled_size(set_bits));
	skeleton.rodata = &rodata;
	skeleton.maps.nt_flows_cpus = &maps[0];
	skeleton.maps.nt_flow_cells = &maps[1];
	skeleton.maps.nt_sampled = &maps[2];
	kernel_cpus = calloc(N_CPUS, sizeof(*kernel_cpus));
	kernel = (struct nt_kernel){.skeleton = &skeleton, .n_cpus = N_CPUS, .cpus = kernel_cpus};
	return nt_flows_init(&flows, &kernel);
}

static int set_up(void **state)
{
	(void)state;
	return set_up_with(
		&(struct nt_flows_options){.sample = 0.01, .shape = {.rows = 4, .column_bits = 8}, .keys = 3},
		NT_SAMPLED_SET_BITS);
}

/* Fewer places than many flows need, and more than few do. */
static int set_up_exact(void **state)
{
	(void)state;
	return set_up_with(&(struct nt_flows_options){.sample = 1, .keys = 3}, 8);
}

static int tear_down(void **state)
{
	(void)state;
	nt_flows_release(&flows);
	for (int i = 0; i < 3; i++)
		close(maps[i].fd);
	free(kernel_cpus);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(adds_up_what_programs_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(adds_up_what_programs_count, set_up_exact, tear_down),
		cmocka_unit_test(without_the_probe_nothing_happens),
	};

	rnd.state = nt_rand_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

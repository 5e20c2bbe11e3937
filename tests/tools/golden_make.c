// SPDX-License-Identifier: GPL-2.0-only
/*
 * golden_make.c - writes the golden tapes of this version of the format, and the damaged chunks beside it. It was run
 * once; what it wrote is kept and never written again, so that a later version must read it as it is
 * (tests/golden/README.md).
 *
 *   golden_make DIRECTORY
 *
 * The tape tells of two CPUs in two seconds, in two chunks: every kind of record, every type of block, a block of
 * long spans, a loss, every layout of a column.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "schema/chunk_format.h"
#include "schema/flow_sketch.h"
#include "schema/varint.h"
#include "tests/support/chunk_memory.h"
#include "tests/support/must.h"

#define MS 1000000ull
#define US 1000ull
#define START_NS 10000000000ull
#define END_NS 12000000000ull

struct maker {
	struct nt_chunk_header header;
	struct nt_rand rand;
	struct nt_buf file, raw;
	struct nt_chunk_writer *writer;
	struct cpu {
		struct nt_event_encoder *encoder;
		uint64_t sequence, since_ns, since_task, task;
		bool has_loss;
		uint64_t written[NT_KIND_MAX];
	} cpus[2];
	uint64_t events, lost;
	uint64_t recv_since_ns; /* CPU 0: the receive that is open, or 0 */
};

/* ---- blocks ---- */

static void put_block(struct maker *maker, struct nt_block_header *header)
{
	MUST(!nt_chunk_writer_block(maker->writer, header, maker->raw.data, maker->raw.size));
	maker->raw.size = 0;
}

static void put_plain(struct maker *maker, enum nt_block_type type)
{
	struct nt_block_header header = {.type = (uint8_t)type};

	put_block(maker, &header);
}

static void put_events(struct maker *maker, uint32_t number, uint8_t flags)
{
	struct cpu *cpu = &maker->cpus[number];
	const struct nt_event_stats *stats = nt_event_encoder_stats(cpu->encoder);
	struct nt_block_header header = {
		.type = NT_BLOCK_EVENTS,
		.flags = flags | (cpu->has_loss ? NT_BLOCK_HAS_LOSS : 0),
		.cpu = number,
		.sequence = cpu->sequence++,
		.count = stats->count,
		.least_begin_ns = stats->least_begin_ns,
		.first_end_ns = stats->first_end_ns,
		.last_end_ns = stats->last_end_ns,
		.since_ns = cpu->since_ns,
		.task = cpu->since_task,
		.lag_ns = 1500000 + number,
	};

	if (!(flags & NT_BLOCK_LONG)) {
		cpu->since_ns = stats->last_end_ns;
		cpu->since_task = cpu->task;
		cpu->has_loss = false;
	}
	MUST(!nt_event_encoder_finish(cpu->encoder, &maker->raw));
	put_block(maker, &header);
}

static void add(struct maker *maker, uint32_t number, const void *record)
{
	struct cpu *cpu = &maker->cpus[number];
	const union nt_any *any = record;

	MUST(!nt_event_encoder_add(cpu->encoder, record));
	cpu->written[any->record.kind]++;
	maker->events++;
	if (any->record.kind == NT_SWITCH)
		cpu->task = any->as_switch.next;
	if (any->record.kind == NT_STATE)
		cpu->task = any->as_state.task;
	if (any->record.kind == NT_LOSS) {
		cpu->has_loss = true;
		maker->lost += any->as_loss.count;
	}
}
#define ADD(cpu, type, constant, ...) add(maker, cpu, &(struct nt_##type){.kind = NT_##constant, __VA_ARGS__})

/* ---- CPU 0: a sender that answers, beside timers ---- */

static uint64_t jitter(struct maker *maker, uint64_t width)
{
	uint64_t value = nt_rand_below(&maker->rand, width);

	return nt_rand_below(&maker->rand, 40) ? value : value + 20 * width;
}

static void wake_up(struct maker *maker, uint64_t at_ns)
{
	uint64_t dur_ns = 1000 + jitter(maker, 300);

	ADD(0, irq, IRQ, .end_ns = at_ns, .type = NT_IRQ_VECTOR, .number = 236, .dur_ns = dur_ns);
	ADD(0, softirq, SOFTIRQ, .end_ns = at_ns + 20 * US, .vec = NT_VEC_NET_RX, .context = NT_SOFTIRQ_IRQ_EXIT,
	    .dur_ns = 700 + jitter(maker, 300));
	ADD(0, switch, SWITCH, .end_ns = at_ns + 30 * US, .prev_prio = 120, .prev = 0, .next = 1);
	if (maker->recv_since_ns)
		ADD(0, op, OP, .end_ns = at_ns + 32 * US, .dir = NT_RECV, .call = NT_CALL_recvfrom, .result = 200,
		    .dur_ns = at_ns + 32 * US - maker->recv_since_ns, .socket = 1);
	maker->recv_since_ns = 0;
}

static void answer(struct maker *maker, uint64_t at_ns, uint64_t round)
{
	for (uint64_t i = 1; i < 4; i++)
		ADD(0, softirq, SOFTIRQ, .end_ns = at_ns + i * 30 * US, .vec = NT_VEC_NET_RX,
		    .context = NT_SOFTIRQ_BH_ENABLE, .dur_ns = 600 + jitter(maker, 400));
	ADD(0, op, OP, .end_ns = at_ns + 100 * US, .dir = NT_SEND, .call = NT_CALL_sendto, .result = 200,
	    .dur_ns = 95 * US + jitter(maker, 2000), .socket = 1);
	ADD(0, op, OP, .end_ns = at_ns + 250 * US, .dir = NT_RECV, .call = NT_CALL_recvfrom, .result = -11,
	    .flags = NT_OP_PEEK, .dur_ns = 500 + jitter(maker, 100), .socket = round % 5 ? 1 : 2);
}

static void go_to_sleep(struct maker *maker, uint64_t at_ns, bool in_receive)
{
	if (in_receive) {
		maker->recv_since_ns = at_ns - 5 * US;
		ADD(0, open, OPEN, .end_ns = at_ns, .what = NT_OPEN_OP, .detail = NT_RECV, .number = NT_CALL_recvfrom,
		    .begin_ns = maker->recv_since_ns, .socket = 1);
	}
	ADD(0, switch, SWITCH, .end_ns = at_ns, .n_open = in_receive, .prev_prio = 120, .prev_state = 1, .prev = 1,
	    .next = 0);
}

static void rounds(struct maker *maker, uint64_t from, uint64_t to)
{
	for (uint64_t round = from; round < to; round++) {
		uint64_t at_ns = START_NS + (round + 1) * 19 * MS + nt_rand_below(&maker->rand, 1000000);

		wake_up(maker, at_ns);
		answer(maker, at_ns + 100 * US, round);
		go_to_sleep(maker, at_ns + 500 * US, round % 3 == 0);
	}
}

/* ---- CPU 1: a receive from before the recording, a long one, an absence, a loss ---- */

static void cpu1_begin(struct maker *maker)
{
	ADD(1, open, OPEN, .end_ns = START_NS + 1000, .what = NT_OPEN_OP, .detail = NT_RECV, .flags = NT_OP_BEFORE,
	    .number = NT_CALL_read, .begin_ns = 0, .socket = 2);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .n_open = 1, .reason = NT_STATE_START, .task = 2);
	ADD(1, op, OP, .end_ns = START_NS + 50 * MS, .dir = NT_RECV, .call = NT_CALL_read, .flags = NT_OP_BEFORE,
	    .result = 1448, .socket = 2);
	ADD(1, irq, IRQ, .end_ns = START_NS + 60 * MS, .type = NT_IRQ_DEVICE, .number = 25, .dur_ns = 2345);
	ADD(1, switch, SWITCH, .end_ns = START_NS + 100 * MS, .prev_prio = 120, .prev_state = NT_SWITCH_PREEMPTED,
	    .prev = 2, .next = 3);
	ADD(1, op, OP, .end_ns = START_NS + 110 * MS, .dir = NT_SEND, .call = NT_CALL_sendmsg, .flags = NT_OP_NO_BEGIN,
	    .result = INT32_MIN, .socket = 3);
	ADD(1, open, OPEN, .end_ns = START_NS + 201 * MS, .what = NT_OPEN_OP, .detail = NT_RECV,
	    .number = NT_CALL_recvmsg, .begin_ns = START_NS + 200 * MS, .socket = 3);
	ADD(1, switch, SWITCH, .end_ns = START_NS + 201 * MS, .n_open = 1, .prev_prio = 98, .prev_state = 1, .prev = 3,
	    .next = 0);
	ADD(1, hotplug, HOTPLUG, .end_ns = START_NS + 500 * MS, .online = 0);
	ADD(1, hotplug, HOTPLUG, .end_ns = START_NS + 600 * MS, .online = 1);
	ADD(1, state, STATE, .end_ns = START_NS + 600 * MS + 500, .reason = NT_STATE_PERIODIC, .task = 0);
}

static void cpu1_end(struct maker *maker)
{
	ADD(1, loss, LOSS, .end_ns = START_NS + 1000 * MS, .lost_kind = NT_SOFTIRQ, .count = 5,
	    .first_ns = START_NS + 950 * MS, .last_ns = START_NS + 960 * MS, .begin_ns = START_NS + 949 * MS);
	ADD(1, state, STATE, .end_ns = START_NS + 1000 * MS + 100, .reason = NT_STATE_PERIODIC, .task = 0);
	ADD(1, loss, LOSS, .end_ns = START_NS + 1050 * MS, .lost_kind = NT_SWITCH, .why = NT_LOSS_NOT_RUN, .count = 1,
	    .first_ns = START_NS + 201 * MS, .last_ns = START_NS + 201 * MS);
	ADD(1, state, STATE, .end_ns = START_NS + 1050 * MS + 100, .reason = NT_STATE_RESYNC, .task = 0);
	ADD(1, softirq, SOFTIRQ, .end_ns = START_NS + 1100 * MS, .vec = 1, .context = NT_SOFTIRQ_KSOFTIRQD,
	    .flags = NT_SPAN_NO_BEGIN);
	ADD(1, switch, SWITCH, .end_ns = START_NS + 1699 * MS, .prev_prio = 120, .prev = 0, .next = 3);
	ADD(1, switch, SWITCH, .end_ns = START_NS + 1800 * MS, .prev_prio = 98, .prev_state = 1, .prev = 3, .next = 0);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 0);
}

/* ---- what is not events ---- */

#define CORE_PROBES "sched,softirq,irq,socket"

static void meta_lines(struct maker *maker, const char *probes)
{
	const char *const lines[][2] = {
		{"tool", "nettape-record 0.1.0"},
		{"kernel", "6.1.0-golden"},
		{"machine", "x86_64"},
		{"os", "Golden OS 1"},
		{"cpus_possible", "0-1"},
		{"cpus_online", "0-1"},
		{"start_ns", "10000001000"},
		{"start_realtime_ns", "1700000000000001000"},
		{"ring_size", "4194304"},
		{"probes", probes},
		{"attach", "sched sched_switch tp_btf/sched_switch"},
		{"attach", "socket sock_send_length tp_btf/sock_send_length"},
		{"uncovered", "Splice out of a socket has no length event."},
		{"command", "nettape-record -d 2 -o golden.tape"},
		{"virtual", "kvm"},
		{"clock_ticks", "100"},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		MUST(!nt_meta_append(&maker->raw, lines[i][0], lines[i][1]));
}

static void meta(struct maker *maker)
{
	meta_lines(maker, CORE_PROBES);
	put_plain(maker, NT_BLOCK_META);
}

static void closing_meta(struct maker *maker)
{
	char number[24];

	MUST(!nt_meta_append(&maker->raw, "end_ns", "12000000600"));
	MUST(!nt_meta_append(&maker->raw, "stop", "duration"));
	snprintf(number, sizeof(number), "%" PRIu64, maker->events);
	MUST(!nt_meta_append(&maker->raw, "events", number));
	snprintf(number, sizeof(number), "%" PRIu64, maker->lost);
	MUST(!nt_meta_append(&maker->raw, "lost", number));
	MUST(!nt_meta_append(&maker->raw, "complete", "1"));
	put_plain(maker, NT_BLOCK_META);
}

static void snapshot(struct maker *maker, const char *name, const char *text, uint64_t at_ns)
{
	struct nt_proc_snapshot snapshot = {at_ns, at_ns + 20000, name, text, strlen(text)};

	MUST(!nt_proc_snapshot_encode(&maker->raw, &snapshot));
	put_plain(maker, NT_BLOCK_PROC_SNAPSHOT);
}

static void snapshots(struct maker *maker, uint64_t at_ns)
{
	char text[2000] = "";

	snapshot(maker, "/proc/stat",
		 "cpu  10 0 20 3000 0 0 5 0 0 0\ncpu0 5 0 10 1500 0 0 3 0 0 0\ncpu1 5 0 10 1500 0 0 2 0 0 0\n", at_ns);
	for (size_t cpu = 0; cpu < 2; cpu++)
		for (unsigned int kind = 0; kind < NT_KIND_MAX; kind++)
			if (maker->cpus[cpu].written[kind])
				snprintf(text + strlen(text), sizeof(text) - strlen(text), "%zu %s %" PRIu64 " %d\n",
					 cpu, nt_kind(kind)->name, maker->cpus[cpu].written[kind],
					 !cpu		      ? 0
					 : kind == NT_SOFTIRQ ? 5
							      : kind == NT_SWITCH);
	snapshot(maker, "nettape/cpus", text, at_ns);
}

static void clocks(struct maker *maker, uint64_t at_ns)
{
	struct nt_clock clock = {at_ns, 1700000000000000000 + at_ns - START_NS, 1700000037000000000 + at_ns - START_NS,
				 at_ns + 5000000, 150};

	MUST(!nt_clock_encode(&maker->raw, &clock));
	put_plain(maker, NT_BLOCK_CLOCK);
}

#define IDENTITY(type, constant, ...)                                                                                  \
	do {                                                                                                           \
		struct nt_##type record_ = {.end_ns = START_NS - 5 * MS, .kind = NT_##constant, __VA_ARGS__};          \
		MUST(!nt_identity_encode(&maker->raw, &record_));                                                      \
	} while (0)

static void identities(struct maker *maker)
{
	IDENTITY(task, TASK, .why = NT_TASK_SEED, .tid = 101, .task = 1, .process = 1, .start_ns = 1 * MS, .cgroup = 1,
		 .pid = 101, .parent_pid = 1, .comm = "responder");
	IDENTITY(task, TASK, .why = NT_TASK_SEED, .tid = 202, .task = 2, .process = 2, .start_ns = 2 * MS, .cgroup = 2,
		 .pid = 202, .parent_pid = 1, .comm = "reader");
	IDENTITY(task, TASK, .why = NT_TASK_FORK, .tid = 203, .task = 3, .process = 2, .start_ns = 3 * MS, .cgroup = 2,
		 .pid = 202, .parent_pid = 1, .comm = "reader/2");
	IDENTITY(cgroup, CGROUP, .cgroup = 1, .kernel_id = 1, .path = "/");
	IDENTITY(cgroup, CGROUP, .cgroup = 2, .kernel_id = 4711, .path = "/system.slice/reader.service");
	IDENTITY(socket, SOCKET, .family = 2, .type = 2, .netns = 4026531840, .socket = 1, .cookie = 65, .protocol = 17,
		 .src_port = 7, .dst_port = 40000, .src = {192, 0, 2, 1}, .dst = {192, 0, 2, 2});
	IDENTITY(socket, SOCKET, .family = 2, .type = 1, .netns = 4026531840, .socket = 2, .cookie = 66, .protocol = 6,
		 .src_port = 22, .dst_port = 65535, .src = {198, 51, 100, 1}, .dst = {198, 51, 100, 255});
	IDENTITY(socket, SOCKET, .family = 10, .type = 1, .netns = 4026532000, .socket = 3, .cookie = UINT64_MAX,
		 .protocol = 6, .src_port = 443, .dst_port = 50000, .src = {0x20, 1, 0x0d, 0xb8, [15] = 1},
		 .dst = {0x20, 1, 0x0d, 0xb8, [15] = 0xff});
	IDENTITY(irq_name, IRQ_NAME, .type = NT_IRQ_DEVICE, .number = 25, .name = "virtio0-input.0");
	IDENTITY(irq_name, IRQ_NAME, .type = NT_IRQ_VECTOR, .number = 236, .name = "local_timer");
	put_plain(maker, NT_BLOCK_IDENTITIES);
}

/* ---- files ---- */

static void begin_chunk(struct maker *maker, uint32_t number)
{
	maker->header.number = number;
	maker->header.created_monotonic_ns = START_NS + number * 1500 * MS;
	maker->header.created_realtime_ns = 1700000000000000000 + number * 1500 * MS;
	maker->file.size = 0;
	MUST(!nt_chunk_writer_new(&maker->writer, &maker->header, chunk_memory_write, &maker->file));
}

static void end_chunk(struct maker *maker)
{
	MUST(!nt_chunk_writer_finish(maker->writer));
	nt_chunk_writer_free(maker->writer);
	maker->writer = NULL;
}

static void save(const struct maker *maker, const char *directory, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "wb");
	MUST(file && fwrite(maker->file.data, 1, maker->file.size, file) == maker->file.size);
	MUST(!fclose(file));
}

static void first_chunk(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta(maker);
	clocks(maker, START_NS);
	snapshots(maker, START_NS);
	identities(maker);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 0);
	rounds(maker, 0, 70);
	cpu1_begin(maker);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	end_chunk(maker);
	save(maker, directory, "v1.tape/chunk-000000.ntc");
}

static void second_chunk(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 1);
	meta(maker);
	clocks(maker, START_NS + 1500 * MS);
	identities(maker);
	rounds(maker, 70, 75);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .n_open = 0, .reason = NT_STATE_STOP, .task = 0);
	put_events(maker, 0, 0);
	ADD(1, op, OP, .end_ns = START_NS + 1700 * MS, .dir = NT_RECV, .call = NT_CALL_recvmsg, .result = 1,
	    .dur_ns = 1500 * MS, .socket = 3);
	put_events(maker, 1, NT_BLOCK_LONG);
	cpu1_end(maker);
	put_events(maker, 1, 0);
	snapshots(maker, END_NS);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1.tape/chunk-000001.ntc");
}

/* A chunk of two blocks, broken in one way in each file. */
static void bad_chunks(struct maker *maker, const char *directory)
{
	size_t second, whole;

	begin_chunk(maker, 0);
	meta(maker);
	second = maker->file.size;
	ADD(0, state, STATE, .end_ns = START_NS, .reason = NT_STATE_START, .task = 0);
	rounds(maker, 0, 3);
	put_events(maker, 0, 0);
	end_chunk(maker);
	whole = maker->file.size;
	maker->file.size = 100;
	save(maker, directory, "bad/cut-header.ntc");
	maker->file.size = second + NT_BLOCK_HEAD_SIZE + 10;
	save(maker, directory, "bad/cut-block.ntc");
	maker->file.size = whole;
	maker->file.data[20] ^= 1;
	save(maker, directory, "bad/flipped-chunk-header.ntc");
	maker->file.data[20] ^= 1;
	maker->file.data[second + 16] ^= 1;
	save(maker, directory, "bad/flipped-block-header.ntc");
	maker->file.data[second + 16] ^= 1;
	maker->file.data[second + NT_BLOCK_HEAD_SIZE + 20] ^= 0x40;
	save(maker, directory, "bad/flipped-payload.ntc");
	maker->file.data[second + NT_BLOCK_HEAD_SIZE + 20] ^= 0x40;
	maker->file.data[whole - 10] ^= 2;
	save(maker, directory, "bad/flipped-trailer.ntc");
	nt_put_u32(maker->file.data + 8, NT_CHUNK_VERSION + 1);
	nt_put_u32(maker->file.data + NT_CHUNK_HEAD_SIZE - 4, nt_crc32c(0, maker->file.data, NT_CHUNK_HEAD_SIZE - 4));
	save(maker, directory, "bad/other-version.ntc");
	maker->file.size = 0;
	save(maker, directory, "bad/empty.ntc");
	MUST(!nt_buf_append(&maker->file, "This is a text.\n", 16));
	save(maker, directory, "bad/not-a-tape.ntc");
}

/* ---- polls: a tape of its own, since the kinds are younger ---- */

static void poll_identities(struct maker *maker)
{
	IDENTITY(task, TASK, .why = NT_TASK_SEED, .tid = 101, .task = 1, .process = 1, .start_ns = 1 * MS, .pid = 101,
		 .parent_pid = 1, .comm = "poller");
	IDENTITY(task, TASK, .why = NT_TASK_SEED, .flags = NT_TASK_KTHREAD, .tid = 99, .task = 2, .process = 2,
		 .start_ns = 2 * MS, .pid = 99, .parent_pid = 2, .comm = "napi/eth1-8193");
	IDENTITY(socket, SOCKET, .family = 2, .type = 2, .netns = 4026531840, .socket = 1, .cookie = 65, .protocol = 17,
		 .src_port = 7, .dst_port = 40000, .src = {192, 0, 2, 1}, .dst = {192, 0, 2, 2});
	IDENTITY(device, DEVICE, .ifindex = 2, .device = 1, .netns = 4026531840, .name = "eth0");
	IDENTITY(device, DEVICE, .ifindex = 3, .device = 2, .netns = 4026531840, .name = "fifteen-letters");
	put_plain(maker, NT_BLOCK_IDENTITIES);
}

/* A receive of 200 us of which 150 are polls, one of them without begin. */
static void busy_receive(struct maker *maker, uint64_t at_ns)
{
	for (uint64_t i = 1; i <= 3; i++)
		ADD(0, napi, NAPI, .end_ns = at_ns + i * 50 * US, .context = NT_NAPI_BUSY, .napi_id = 8193,
		    .dur_ns = 50 * US, .device = 1, .work = i == 3, .budget = 8);
	ADD(0, napi, NAPI, .end_ns = at_ns + 180 * US, .context = NT_NAPI_BUSY, .flags = NT_SPAN_NO_BEGIN,
	    .napi_id = 8193, .device = 1, .budget = 8);
	ADD(0, op, OP, .end_ns = at_ns + 200 * US, .dir = NT_RECV, .call = NT_CALL_recvfrom, .result = 200,
	    .dur_ns = 200 * US, .socket = 1);
}

/* The thread is on the CPU for 300 us, a softirq of 100 polls the backlog in 60. */
static void thread_polls(struct maker *maker, uint64_t at_ns)
{
	ADD(0, switch, SWITCH, .end_ns = at_ns, .prev_prio = 120, .prev_state = 1, .prev = 1, .next = 2);
	ADD(0, napi, NAPI, .end_ns = at_ns + 100 * US, .context = NT_NAPI_THREAD, .napi_id = 8194, .dur_ns = 100 * US,
	    .device = 2, .work = 64, .budget = 64);
	ADD(0, napi, NAPI, .end_ns = at_ns + 210 * US, .context = NT_NAPI_SOFTIRQ, .dur_ns = 60 * US, .work = 1,
	    .budget = 64);
	ADD(0, softirq, SOFTIRQ, .end_ns = at_ns + 250 * US, .vec = NT_VEC_NET_RX, .context = NT_SOFTIRQ_BH_ENABLE,
	    .dur_ns = 100 * US);
	ADD(0, napi, NAPI, .end_ns = at_ns + 260 * US, .context = NT_NAPI_NETPOLL, .flags = NT_SPAN_NO_BEGIN,
	    .napi_id = 8194, .device = 2);
	ADD(0, switch, SWITCH, .end_ns = at_ns + 300 * US, .prev_prio = 120, .prev_state = 1, .prev = 2, .next = 1);
}

static void poll_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta(maker);
	clocks(maker, START_NS);
	snapshots(maker, START_NS);
	poll_identities(maker);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 0);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 1);
	busy_receive(maker, START_NS + 1 * MS);
	thread_polls(maker, START_NS + 2 * MS);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 1);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 0);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	snapshots(maker, END_NS);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-polls.tape/chunk-000000.ntc");
}

/* ---- samples: a tape of its own too ---- */

#define OFFSET_NS (1700000000000000000 - START_NS) /* realtime - monotonic, to begin with */
#define SECOND_NS 1000000000ull

/* The realtime clock is set forward by 3 s after 700 ms, and back by one after 1750. */
static uint64_t realtime(uint64_t at_ns)
{
	uint64_t step_ns = at_ns < START_NS + 700 * MS	  ? 0
			   : at_ns < START_NS + 1750 * MS ? 3 * SECOND_NS
							  : 2 * SECOND_NS;

	return OFFSET_NS + at_ns + step_ns;
}

/* A snapshot whose realtime was not read in the middle, but `aside_ns` from there. */
static void uneven_clocks(struct maker *maker, uint64_t at_ns, int aside_ns)
{
	struct nt_clock clock = {at_ns, realtime(at_ns) + (uint64_t)aside_ns,
				 realtime(at_ns) + (uint64_t)aside_ns + 37 * SECOND_NS, at_ns + 5000000, 150};

	MUST(!nt_clock_encode(&maker->raw, &clock));
	put_plain(maker, NT_BLOCK_CLOCK);
}

static void sample_identities(struct maker *maker)
{
	identities(maker);
	IDENTITY(device, DEVICE, .ifindex = 2, .device = 1, .netns = 4026531840, .name = "eth0");
	IDENTITY(symbol, SYMBOL, .symbol = 1, .offset = 0x1a, .name = "tcp_v4_rcv");
	IDENTITY(symbol, SYMBOL, .symbol = 2, .offset = 0x20, .name = "nft_do_chain", .module = "nf_tables");
	IDENTITY(symbol, SYMBOL, .symbol = 3, .offset = 9);
	IDENTITY(drop_reason, DROP_REASON, .number = 3, .name = "NO_SOCKET");
	IDENTITY(drop_reason, DROP_REASON, .number = 9, .name = "NETFILTER_DROP");
	put_plain(maker, NT_BLOCK_IDENTITIES);
}

static void sample_meta(struct maker *maker)
{
	meta_lines(maker, CORE_PROBES ",latency,drops,retransmits");
	MUST(!nt_meta_append(&maker->raw, "latency_sample", "0.5"));
	MUST(!nt_meta_append(&maker->raw, "latency_filter", "interface eth0"));
	MUST(!nt_meta_append(&maker->raw, "latency_filter", "pid 101"));
	MUST(!nt_meta_append(&maker->raw, "netdev_tstamp_prequeue", "1"));
	put_plain(maker, NT_BLOCK_META);
}

#define SAMPLE(cpu, hook_, at_ns, stamp, ...)                                                                          \
	ADD(cpu, latency, LATENCY, .end_ns = (at_ns), .hook = NT_HOOK_##hook_, .stamp_ns = (stamp), .weight = 1,       \
	    .device = 1, __VA_ARGS__)

/* Two packets on their way up: one of UDP that is read 5 ms late, one of TCP over IPv6 whose read had to wait. */
static void two_packets(struct maker *maker, uint64_t at_ns)
{
	uint64_t stamp_ns = realtime(at_ns), other_ns = realtime(at_ns + 100 * MS);

	SAMPLE(0, ip_start, at_ns + 1 * US, stamp_ns, .length = 228);
	SAMPLE(0, udp_start, at_ns + 2 * US, stamp_ns, .length = 208);
	SAMPLE(0, udp_socket_enqueued, at_ns + 3 * US, stamp_ns, .length = 200, .socket = 1, .queue_len = 2);
	SAMPLE(0, udp_socket_read, at_ns + 5 * MS, stamp_ns, .length = 200, .socket = 1, .task = 1, .queue_len = 1);
	at_ns += 100 * MS;
	SAMPLE(0, ip_start, at_ns + 1 * US, other_ns, .flags = NT_LATENCY_IPV6, .length = 1500);
	SAMPLE(0, tcp_start, at_ns + 2 * US, other_ns, .flags = NT_LATENCY_IPV6, .length = 1460);
	SAMPLE(0, tcp_socket_enqueued, at_ns + 4 * US, other_ns, .flags = NT_LATENCY_IPV6, .length = 1428, .socket = 3,
	       .queue_len = 1);
	SAMPLE(0, tcp_socket_read, at_ns + 40 * MS, other_ns, .flags = NT_LATENCY_IPV6 | NT_LATENCY_HOL, .socket = 3,
	       .task = 3);
}

/* The samples that steps of the clock make difficult: see realtime(). */
static void about_steps(struct maker *maker)
{
	/* Set forward between the snapshots at 500 and 1000 ms. */
	SAMPLE(0, ip_start, START_NS + 900 * MS, realtime(START_NS + 900 * MS - 5 * US), .length = 60);
	SAMPLE(0, udp_socket_read, START_NS + 1200 * MS, realtime(START_NS + 600 * MS), .length = 60, .socket = 1,
	       .task = 1);
	/* In the future by a millisecond, and of a time that the clock was set past. */
	SAMPLE(0, ip_start, START_NS + 1300 * MS, realtime(START_NS + 1301 * MS), .length = 60);
	SAMPLE(0, ip_start, START_NS + 1400 * MS, OFFSET_NS + START_NS + 1300 * MS, .length = 60);
	/* Set back: the clock showed this time twice. */
	SAMPLE(0, ip_start, START_NS + 1900 * MS, realtime(START_NS + 1900 * MS - 10 * US), .length = 60);
}

static void drops_and_retransmits(struct maker *maker, uint64_t at_ns)
{
	ADD(1, drop, DROP, .end_ns = at_ns, .protocol = 0x0800, .length = 60, .reason = 3, .location = 1, .device = 1);
	ADD(1, drop, DROP, .end_ns = at_ns + 1 * MS, .protocol = 0x86dd, .length = 1500, .reason = 9, .location = 2,
	    .device = 1, .socket = 3);
	ADD(1, drop, DROP, .end_ns = at_ns + 2 * MS, .length = 40, .reason = 77, .location = 3);
	ADD(1, drop, DROP, .end_ns = at_ns + 3 * MS, .length = 40, .reason = 77, .location = 99);
	ADD(1, retransmit, RETRANSMIT, .end_ns = at_ns + 4 * MS, .what = NT_RETRANSMIT_DATA, .state = 1, .length = 1448,
	    .socket = 2);
	ADD(1, retransmit, RETRANSMIT, .end_ns = at_ns + 5 * MS, .what = NT_RETRANSMIT_SYNACK, .state = 12,
	    .socket = 2);
	/* Five samples were lost, and stand for more; the next is one of three packets. */
	ADD(1, loss, LOSS, .end_ns = at_ns + 9 * MS, .lost_kind = NT_LATENCY, .count = 5, .first_ns = at_ns + 6 * MS,
	    .last_ns = at_ns + 8 * MS);
	ADD(1, latency, LATENCY, .end_ns = at_ns + 10 * MS, .hook = NT_HOOK_tcp_start, .length = 60,
	    .stamp_ns = realtime(at_ns + 10 * MS - 3 * US), .weight = 3);
}

/* By the programs' counters, with what became of the packets that are no samples. */
static void sample_snapshots(struct maker *maker, uint64_t at_ns, bool is_last)
{
	char text[2000] = "";

	for (size_t cpu = 0; cpu < 2; cpu++)
		for (unsigned int kind = 0; kind < NT_KIND_MAX; kind++)
			if (maker->cpus[cpu].written[kind])
				snprintf(text + strlen(text), sizeof(text) - strlen(text), "%zu %s %" PRIu64 " %d\n",
					 cpu, nt_kind(kind)->name, maker->cpus[cpu].written[kind],
					 cpu && kind == NT_LATENCY ? 5 : 0);
	snapshot(maker, "nettape/cpus", text, at_ns);
	snapshot(maker, "nettape/programs",
		 is_last ? "nt_latency_ip_start__ip_rcv_core recorded=6 lost=0 no_stamp=40 transmit_stamp=2 "
			   "skipped_gate=1 "
			   "skipped_sample=50 skipped_filter=7 misses=0\n"
			   "nt_latency_ip_start__ip6_rcv_core recorded=1 lost=0 no_stamp=3 misses=0\n"
			   "nt_latency_tcp_start__tcp_v4_rcv recorded=1 lost=5 misses=0\n"
			   "nt_latency_tcp_start__tcp_v6_rcv recorded=1 lost=0 misses=0\n"
			   "nt_latency_udp_start__udp_rcv recorded=1 lost=0 misses=0\n"
			   "nt_latency_udp_socket_read__skb_consume_udp recorded=2 lost=0 skipped_peek=4 misses=0\n"
			   "nt_latency_udp_socket_enqueued__udp_enqueue recorded=1 lost=0 skipped_unqueued=1 misses=0\n"
			   "nt_latency_tcp_socket_enqueued__tcp_queue_rcv recorded=1 lost=0 misses=0\n"
			   "nt_latency_tcp_socket_read__tcp_recv_timestamp recorded=1 lost=0 misses=0\n"
			 : "nt_latency_ip_start__ip_rcv_core recorded=1 lost=0 misses=0\n",
		 at_ns);
}

static void sample_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	sample_meta(maker);
	uneven_clocks(maker, START_NS, 50);
	uneven_clocks(maker, START_NS + 500 * MS, -50);
	sample_identities(maker);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 0);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 1);
	/* Before the last CPU's gate has opened, so before the session. */
	SAMPLE(0, ip_start, START_NS + 950, realtime(START_NS + 450), .length = 60);
	sample_snapshots(maker, START_NS + 2 * MS, false);
	two_packets(maker, START_NS + 100 * MS);
	about_steps(maker);
	drops_and_retransmits(maker, START_NS + 300 * MS);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 1);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 0);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	uneven_clocks(maker, START_NS + 1000 * MS, 30);
	uneven_clocks(maker, START_NS + 1500 * MS, -30);
	sample_snapshots(maker, END_NS, true);
	uneven_clocks(maker, END_NS, 0);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-samples.tape/chunk-000000.ntc");
}

/* ---- wake-ups: a tape of its own too ---- */

/* Of a task of nice 0 that was on CPU 1 last. */
static void woken(struct maker *maker, uint32_t cpu, uint64_t at_ns, uint64_t task, uint64_t waker, uint8_t what,
		  uint8_t context, uint8_t flags)
{
	ADD(cpu, wakeup, WAKEUP, .end_ns = at_ns, .what = what, .context = context, .flags = flags, .target_cpu = 1,
	    .priority = 120, .task = task, .waker = waker);
}

static void woken_by_task(struct maker *maker, uint32_t cpu, uint64_t at_ns, uint64_t task, uint64_t waker)
{
	woken(maker, cpu, at_ns, task, waker, NT_WAKEUP_WAKING, NT_CPU_IN_TASK, 0);
}

#define SWITCH(cpu, at_ns, from, state, to)                                                                            \
	ADD(cpu, switch, SWITCH, .end_ns = (at_ns), .prev_prio = 120, .prev_state = (state), .prev = (from),           \
	    .next = (to))

/* Task 1 stays on CPU 0; 2 and 3 come and go on CPU 1. */
static void woken_and_preempted(struct maker *maker, uint64_t at_ns)
{
	woken_by_task(maker, 0, at_ns, 2, 1);
	SWITCH(1, at_ns + 50 * US, 0, 0, 2);
	woken(maker, 1, at_ns + 1 * MS, 3, 2, NT_WAKEUP_NEW, NT_CPU_IN_TASK, 0);
	SWITCH(1, at_ns + 2 * MS, 2, NT_SWITCH_PREEMPTED, 3);
	SWITCH(1, at_ns + 3 * MS, 3, 1, 2);
	SWITCH(1, at_ns + 5 * MS, 2, 1, 0);
}

/* Woken by an interrupt; by a softirq before it had gone to sleep, so not woken; and while it was leaving its CPU. */
static void woken_early(struct maker *maker, uint64_t at_ns)
{
	woken(maker, 0, at_ns, 3, 1, NT_WAKEUP_WAKING, NT_CPU_IN_HARDIRQ, 0);
	SWITCH(1, at_ns + 30 * US, 0, 0, 3);
	woken(maker, 0, at_ns + 1 * MS, 3, 1, NT_WAKEUP_WAKING, NT_CPU_IN_SOFTIRQ, NT_WAKEUP_RUNNABLE);
	woken_by_task(maker, 0, at_ns + 2 * MS - 2 * US, 3, 1);
	SWITCH(1, at_ns + 2 * MS, 3, 1, 0);
	SWITCH(1, at_ns + 2 * MS + 40 * US, 0, 0, 3);
	SWITCH(1, at_ns + 3 * MS, 3, 1, 0);
}

/* Two wake-ups were lost, so one stay has none; then switches, so time is uncovered, and no wait that reaches into it
 * is known. */
static void woken_unseen(struct maker *maker, uint64_t at_ns)
{
	SWITCH(1, at_ns + 1 * MS, 0, 0, 3);
	SWITCH(1, at_ns + 2 * MS, 3, 1, 0);
	ADD(0, loss, LOSS, .end_ns = at_ns + 3 * MS, .lost_kind = NT_WAKEUP, .count = 2, .first_ns = at_ns,
	    .last_ns = at_ns + 1 * MS - 5 * US);
	woken_by_task(maker, 0, at_ns + 10 * MS, 2, 1);
	ADD(1, loss, LOSS, .end_ns = at_ns + 12 * MS - 1, .lost_kind = NT_SWITCH, .count = 2,
	    .first_ns = at_ns + 10 * MS + 500 * US, .last_ns = at_ns + 11 * MS);
	ADD(1, state, STATE, .end_ns = at_ns + 12 * MS, .reason = NT_STATE_PERIODIC, .task = 2);
	woken_by_task(maker, 1, at_ns + 13 * MS, 3, 2);
	SWITCH(1, at_ns + 13 * MS + 200 * US, 2, NT_SWITCH_PREEMPTED, 3);
	SWITCH(1, at_ns + 14 * MS, 3, 1, 2);
	SWITCH(1, at_ns + 15 * MS, 2, 1, 0);
}

/* Preempted on CPU 0 while something of CPU 1 is uncovered: it may have been there meanwhile. And what no reader knows.
 */
static void preempted_unseen(struct maker *maker, uint64_t at_ns)
{
	woken(maker, 0, at_ns - 10 * US, 2, 1, NT_WAKEUP_WAKING, NT_CPU_UNKNOWN, 0);
	SWITCH(0, at_ns, 1, NT_SWITCH_PREEMPTED, 2);
	ADD(1, loss, LOSS, .end_ns = at_ns + 600 * US, .lost_kind = NT_SOFTIRQ, .count = 1,
	    .first_ns = at_ns + 500 * US, .last_ns = at_ns + 500 * US, .begin_ns = at_ns + 400 * US);
	ADD(1, state, STATE, .end_ns = at_ns + 600 * US, .reason = NT_STATE_PERIODIC, .task = 0);
	SWITCH(0, at_ns + 1 * MS, 2, 1, 1);
	ADD(0, wakeup, WAKEUP, .end_ns = at_ns + 2 * MS, .what = 9, .context = 77, .flags = 0xfe, .target_cpu = 65535,
	    .priority = 255, .task = 99, .waker = 0);
}

static void wakeup_snapshots(struct maker *maker, uint64_t at_ns)
{
	char text[2000] = "";

	for (size_t cpu = 0; cpu < 2; cpu++)
		for (unsigned int kind = 0; kind < NT_KIND_MAX; kind++)
			if (maker->cpus[cpu].written[kind] || (cpu && kind == NT_SOFTIRQ))
				snprintf(text + strlen(text), sizeof(text) - strlen(text), "%zu %s %" PRIu64 " %d\n",
					 cpu, nt_kind(kind)->name, maker->cpus[cpu].written[kind],
					 !cpu		     ? 2 * (kind == NT_WAKEUP)
					 : kind == NT_SWITCH ? 2
							     : kind == NT_SOFTIRQ);
	snapshot(maker, "nettape/cpus", text, at_ns);
	snapshot(maker, "nettape/programs",
		 "nt_sched_waking recorded=8 lost=2 misses=0\nnt_sched_wakeup_new recorded=1 lost=0 misses=0\n", at_ns);
}

static void wakeup_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",wakeups");
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	identities(maker);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 1);
	/* Before the last CPU's gate has opened: where task 3 is since then is not known. */
	woken_by_task(maker, 0, START_NS + 950, 3, 1);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 0);
	SWITCH(1, START_NS + 1 * MS, 0, 0, 3);
	SWITCH(1, START_NS + 2 * MS, 3, 1, 0);
	woken_and_preempted(maker, START_NS + 10 * MS);
	woken_early(maker, START_NS + 20 * MS);
	woken_unseen(maker, START_NS + 30 * MS);
	preempted_unseen(maker, START_NS + 50 * MS);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 1);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 0);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	wakeup_snapshots(maker, END_NS);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-wakeups.tape/chunk-000000.ntc");
}

/* ---- flows: a tape of their own too ---- */

static void flow_identities(struct maker *maker)
{
	IDENTITY(flow, FLOW, .family = 2, .protocol = 17, .netns = 4026531840, .flow = 1, .ethertype = 0x0800,
		 .src_port = 40000, .dst_port = 7, .src = {192, 0, 2, 2}, .dst = {192, 0, 2, 1});
	IDENTITY(flow, FLOW, .family = 10, .protocol = 6, .netns = 4026532000, .flow = 2, .ethertype = 0x86dd,
		 .src_port = 65535, .dst_port = 443, .src = {0x20, 0x01, 0x0d, 0xb8, [15] = 2},
		 .dst = {0x20, 0x01, 0x0d, 0xb8, [15] = 1});
	IDENTITY(flow, FLOW, .netns = 4026531840, .flow = 3, .ethertype = 0x0806);
	/* A request of DHCP has addresses, too; of ICMP nothing has ports. */
	IDENTITY(flow, FLOW, .family = 2, .protocol = 17, .netns = 4026531840, .flow = 4, .ethertype = 0x0800,
		 .src_port = 68, .dst_port = 67, .dst = {255, 255, 255, 255});
	IDENTITY(flow, FLOW, .family = 2, .protocol = 1, .netns = 4026531840, .flow = 5, .ethertype = 0x0800,
		 .src = {192, 0, 2, 2}, .dst = {192, 0, 2, 1});
	put_plain(maker, NT_BLOCK_IDENTITIES);
}

static void stretch(struct maker *maker, uint32_t cpu, uint64_t at_ns, uint64_t flow, uint32_t packets, bool is_first)
{
	ADD(cpu, rx_stretch, RX_STRETCH, .end_ns = at_ns, .flags = is_first ? NT_RX_STRETCH_FIRST : 0,
	    .packets = packets, .flow = flow, .segments = 2 * packets, .bytes = 100 * packets);
}

static void receive_run(struct maker *maker, uint32_t cpu, uint64_t end_ns, uint64_t dur_ns)
{
	ADD(cpu, softirq, SOFTIRQ, .end_ns = end_ns, .vec = NT_VEC_NET_RX, .context = NT_SOFTIRQ_IRQ_EXIT,
	    .dur_ns = dur_ns);
}

/* Runs of one flow, of several, of none; a stretch that was lost; and numbers that no recorder writes. */
static void flow_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",deliver");
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	flow_identities(maker);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 0);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 0);
	stretch(maker, 0, START_NS + 1 * MS, 1, 1, true);
	receive_run(maker, 0, START_NS + 1 * MS, 10 * US);
	stretch(maker, 0, START_NS + 2 * MS - 30 * US, 1, 3, true);
	stretch(maker, 0, START_NS + 2 * MS - 20 * US, 2, 1, false);
	stretch(maker, 0, START_NS + 2 * MS, 1, 2, false);
	receive_run(maker, 0, START_NS + 2 * MS, 60 * US);
	receive_run(maker, 0, START_NS + 3 * MS, 2 * US);
	stretch(maker, 1, START_NS + 4 * MS - 5 * US, 3, 1, true);
	stretch(maker, 1, START_NS + 4 * MS, 4, 1, false);
	receive_run(maker, 1, START_NS + 4 * MS, 15 * US);
	stretch(maker, 1, START_NS + 5 * MS - 1 * US, 5, 1, true);
	ADD(1, loss, LOSS, .end_ns = START_NS + 5 * MS, .lost_kind = NT_RX_STRETCH, .count = 1,
	    .first_ns = START_NS + 5 * MS, .last_ns = START_NS + 5 * MS);
	receive_run(maker, 1, START_NS + 5 * MS, 8 * US);
	ADD(1, rx_stretch, RX_STRETCH, .end_ns = START_NS + 6 * MS, .flags = 0xfe, .packets = UINT32_MAX, .flow = 99,
	    .segments = UINT32_MAX, .bytes = UINT32_MAX);
	ADD(1, rx_stretch, RX_STRETCH, .end_ns = START_NS + 7 * MS);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 0);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 0);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-flows.tape/chunk-000000.ntc");
}

/* ---- who pays for receiving: a tape of its own too ---- */

#define BUCKET (100 * MS)
#define BOUND(id, port, cookie_)                                                                                       \
	IDENTITY(socket, SOCKET, .family = 2, .type = 2, .netns = 4026531840, .socket = (id), .cookie = (cookie_),     \
		 .protocol = 17, .src_port = (port), .src = {192, 0, 2, 1})
#define UDP_FLOW(id, port, device_)                                                                                    \
	IDENTITY(flow, FLOW, .family = 2, .protocol = 17, .netns = 4026531840, .flow = (id), .ethertype = 0x0800,      \
		 .src_port = 40000, .dst_port = (port), .src = {192, 0, 2, 2}, .dst = {192, 0, 2, 1},                  \
		 .device = (device_))

/* One socket of its own, a connection, and two sockets at one address, of two processes. */
static void charge_identities(struct maker *maker)
{
	IDENTITY(task, TASK, .why = NT_TASK_SEED, .tid = 101, .task = 1, .process = 1, .start_ns = 1 * MS, .cgroup = 1,
		 .pid = 101, .parent_pid = 1, .comm = "server");
	IDENTITY(task, TASK, .why = NT_TASK_SEED, .tid = 202, .task = 2, .process = 2, .start_ns = 2 * MS, .cgroup = 1,
		 .pid = 202, .parent_pid = 1, .comm = "worker");
	IDENTITY(cgroup, CGROUP, .cgroup = 1, .kernel_id = 1, .path = "/");
	IDENTITY(device, DEVICE, .ifindex = 2, .device = 1, .netns = 4026531840, .name = "eth0");
	BOUND(1, 7, 65);
	IDENTITY(socket, SOCKET, .family = 10, .type = 1, .netns = 4026531840, .socket = 2, .cookie = 66, .protocol = 6,
		 .src_port = 443, .dst_port = 50000, .src = {0x20, 1, 0x0d, 0xb8, [15] = 1},
		 .dst = {0x20, 1, 0x0d, 0xb8, [15] = 2});
	BOUND(3, 53, 67);
	BOUND(4, 53, 68);
	UDP_FLOW(1, 7, 1);
	IDENTITY(flow, FLOW, .family = 10, .protocol = 6, .netns = 4026531840, .flow = 2, .ethertype = 0x86dd,
		 .src_port = 50000, .dst_port = 443, .src = {0x20, 1, 0x0d, 0xb8, [15] = 2},
		 .dst = {0x20, 1, 0x0d, 0xb8, [15] = 1}, .device = 1);
	IDENTITY(flow, FLOW, .netns = 4026531840, .flow = 3, .ethertype = 0x0806, .device = 1);
	UDP_FLOW(4, 53, 1);
	UDP_FLOW(5, 9, 0); /* to no socket */
	put_plain(maker, NT_BLOCK_IDENTITIES);
}

static void use_socket(struct maker *maker, uint32_t cpu, uint64_t at_ns, uint64_t socket, uint8_t dir, int32_t result)
{
	ADD(cpu, op, OP, .end_ns = at_ns, .dir = dir, .call = dir == NT_SEND ? NT_CALL_sendto : NT_CALL_recvfrom,
	    .result = result, .dur_ns = 5 * US, .socket = socket);
}

static void listed(struct maker *maker, uint32_t cpu, uint64_t at_ns, uint64_t flow, uint32_t packets, uint8_t flags)
{
	ADD(cpu, rx_stretch, RX_STRETCH, .end_ns = at_ns, .flags = NT_RX_STRETCH_LISTED | flags, .packets = packets,
	    .flow = flow, .segments = 3 * packets, .bytes = 1000 * packets);
}

/* One by one, with an interrupt in between; a list of three flows; a run over the edge of a bucket, and none. */
static void charged_runs(struct maker *maker)
{
	stretch(maker, 0, START_NS + 2 * MS, 1, 1, true);
	receive_run(maker, 0, START_NS + 2 * MS, 10 * US);
	stretch(maker, 0, START_NS + 3 * MS - 40 * US, 1, 3, true);
	ADD(0, irq, IRQ, .end_ns = START_NS + 3 * MS - 20 * US, .type = NT_IRQ_VECTOR, .number = 236,
	    .dur_ns = 10 * US);
	stretch(maker, 0, START_NS + 3 * MS - 15 * US, 2, 1, false);
	stretch(maker, 0, START_NS + 3 * MS, 1, 2, false);
	receive_run(maker, 0, START_NS + 3 * MS, 60 * US);
	receive_run(maker, 0, START_NS + 4 * MS, 2 * US);
	listed(maker, 0, START_NS + 5 * MS - 61 * US, 1, 2, NT_RX_STRETCH_FIRST);
	listed(maker, 0, START_NS + 5 * MS - 60 * US, 2, 1, 0);
	listed(maker, 0, START_NS + 5 * MS, 4, 4, 0);
	receive_run(maker, 0, START_NS + 5 * MS, 62 * US);
	stretch(maker, 0, START_NS + BUCKET + 30 * US, 4, 1, true);
	receive_run(maker, 0, START_NS + BUCKET + 30 * US, 101 * US);
}

/* Packets to nobody; a run's first stretch lost, and one of its next; packets without a header; more than one bucket.
 */
static void odd_runs(struct maker *maker)
{
	stretch(maker, 1, START_NS + 2 * MS - 4 * US, 3, 1, true);
	stretch(maker, 1, START_NS + 2 * MS, 5, 1, false);
	receive_run(maker, 1, START_NS + 2 * MS, 9 * US);
	ADD(1, loss, LOSS, .end_ns = START_NS + 3 * MS - 10 * US, .lost_kind = NT_RX_STRETCH, .count = 2,
	    .first_ns = START_NS + 3 * MS - 40 * US, .last_ns = START_NS + 3 * MS - 20 * US);
	stretch(maker, 1, START_NS + 3 * MS - 30 * US, 1, 1, false);
	ADD(1, rx_stretch, RX_STRETCH, .end_ns = START_NS + 3 * MS - 9 * US, .flags = NT_RX_STRETCH_AFTER_LOSS,
	    .packets = 1, .flow = 2, .segments = 1, .bytes = 60);
	stretch(maker, 1, START_NS + 3 * MS, 4, 1, false);
	receive_run(maker, 1, START_NS + 3 * MS, 50 * US);
	stretch(maker, 1, START_NS + 4 * MS, 0, 1, true);
	receive_run(maker, 1, START_NS + 4 * MS, 3 * US);
	stretch(maker, 1, START_NS + 4 * BUCKET + 7 * US, 2, 1, true);
	receive_run(maker, 1, START_NS + 4 * BUCKET + 7 * US, 3 * BUCKET + 9 * US);
}

/* A stretch of one packet, and what became of it. */
static void followed(struct maker *maker, uint32_t cpu, uint64_t at_ns, uint64_t flow, uint8_t flags, uint32_t reason)
{
	ADD(cpu, rx_stretch, RX_STRETCH, .end_ns = at_ns, .flags = flags, .packets = 1, .flow = flow, .segments = 1,
	    .bytes = 60, .dropped = reason > 0, .reason = reason);
}

/*
 * Forwarded, dropped by a rule, refused where there was a socket, out of a tunnel, in a list; all of a NAPI thread's
 * stay, with a softirq in it; a poll of a task's own.
 */
static void followed_runs(struct maker *maker)
{
	followed(maker, 0, START_NS + 2 * MS - 8 * US, 5, NT_RX_STRETCH_FIRST | NT_RX_STRETCH_FORWARDED, 0);
	followed(maker, 0, START_NS + 2 * MS - 5 * US, 5, 0, 8);
	followed(maker, 0, START_NS + 2 * MS - 3 * US, 1, 0, 3);
	followed(maker, 0, START_NS + 2 * MS, 5, 0, 900);
	receive_run(maker, 0, START_NS + 2 * MS, 12 * US);
	followed(maker, 0, START_NS + 3 * MS - 4 * US, 5, NT_RX_STRETCH_FIRST, 0);
	followed(maker, 0, START_NS + 3 * MS, 2, NT_RX_STRETCH_AGAIN, 0);
	receive_run(maker, 0, START_NS + 3 * MS, 9 * US);
	listed(maker, 0, START_NS + 4 * MS - 10 * US, 5, 7, NT_RX_STRETCH_FIRST);
	listed(maker, 0, START_NS + 4 * MS, 4, 7, 0);
	receive_run(maker, 0, START_NS + 4 * MS, 20 * US);
	ADD(1, switch, SWITCH, .end_ns = START_NS + 2 * MS, .prev_prio = 120, .prev_state = 1, .prev = 2, .next = 3);
	stretch(maker, 1, START_NS + 2 * MS + 30 * US, 1, 4, true);
	stretch(maker, 1, START_NS + 2 * MS + 40 * US, 4, 1, true);
	receive_run(maker, 1, START_NS + 2 * MS + 40 * US, 10 * US);
	stretch(maker, 1, START_NS + 3 * MS, 2, 900, true);
	ADD(1, switch, SWITCH, .end_ns = START_NS + 3 * MS, .prev_prio = 120, .prev_state = 1, .prev = 3, .next = 2);
	stretch(maker, 1, START_NS + 4 * MS, 4, 2, true);
	ADD(1, napi, NAPI, .end_ns = START_NS + 4 * MS, .context = NT_NAPI_BUSY, .napi_id = 8, .work = 2, .budget = 8,
	    .dur_ns = 20 * US, .device = 1);
}

static void fate_identities(struct maker *maker)
{
	charge_identities(maker);
	IDENTITY(task, TASK, .why = NT_TASK_SEED, .flags = NT_TASK_KTHREAD, .tid = 303, .task = 3, .process = 3,
		 .start_ns = 3 * MS, .cgroup = 1, .pid = 303, .parent_pid = 2, .comm = "napi/eth0-8");
	IDENTITY(drop_reason, DROP_REASON, .number = 3, .name = "NO_SOCKET");
	IDENTITY(drop_reason, DROP_REASON, .number = 8, .name = "NETFILTER_DROP");
	put_plain(maker, NT_BLOCK_IDENTITIES);
}

static void fate_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",deliver,busypoll");
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	fate_identities(maker);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 1);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 2);
	use_socket(maker, 0, START_NS + 1000 * US, 1, NT_RECV, 200);
	use_socket(maker, 0, START_NS + 1200 * US, 2, NT_SEND, 50);
	use_socket(maker, 1, START_NS + 1000 * US, 4, NT_RECV, 300);
	followed_runs(maker);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 1);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 2);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-fates.tape/chunk-000000.ntc");
}

static void charge_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",deliver");
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	charge_identities(maker);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 1);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 2);
	use_socket(maker, 0, START_NS + 1000 * US, 1, NT_RECV, 200);
	use_socket(maker, 0, START_NS + 1100 * US, 3, NT_RECV, 100);
	use_socket(maker, 0, START_NS + 1200 * US, 2, NT_SEND, 50);
	use_socket(maker, 1, START_NS + 1000 * US, 4, NT_RECV, 300);
	charged_runs(maker);
	odd_runs(maker);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 1);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 2);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-charges.tape/chunk-000000.ntc");
}

/* ---- who holds sockets: a tape of its own too ---- */

#define HELD(id, port, process_, cgroup_)                                                                              \
	IDENTITY(socket, SOCKET, .family = 2, .type = 2, .netns = 4026531840, .socket = (id), .cookie = 64 + (id),     \
		 .protocol = 17, .src_port = (port), .src = {192, 0, 2, 1}, .process = (process_),                     \
		 .cgroup = (cgroup_))

/*
 * Sockets that are used and held, that are held alone, that have a cgroup alone, and neither; two at one address; a
 * process and a cgroup that have no row.
 */
static void holder_identities(struct maker *maker)
{
	IDENTITY(task, TASK, .why = NT_TASK_SEED, .tid = 101, .task = 1, .process = 1, .start_ns = 1 * MS, .cgroup = 1,
		 .pid = 101, .parent_pid = 1, .comm = "master");
	IDENTITY(task, TASK, .why = NT_TASK_SEED, .tid = 202, .task = 2, .process = 2, .start_ns = 2 * MS, .cgroup = 2,
		 .pid = 202, .parent_pid = 101, .comm = "worker");
	IDENTITY(cgroup, CGROUP, .cgroup = 1, .kernel_id = 1, .path = "/");
	IDENTITY(cgroup, CGROUP, .cgroup = 2, .kernel_id = 4711, .path = "/system.slice/worker.service");
	IDENTITY(cgroup, CGROUP, .cgroup = 3, .kernel_id = 4712, .path = "/machine.slice");
	HELD(1, 7, 1, 1);
	HELD(2, 53, 1, 2);
	HELD(3, 53, 2, 2);
	HELD(4, 67, 0, 3);
	HELD(5, 68, 0, 0);
	HELD(6, 69, 1, 2);
	HELD(7, 70, 99, 98);
	for (uint64_t id = 1; id < 8; id++) {
		static const uint16_t ports[] = {0, 7, 53, 67, 68, 69, 70, 71};

		UDP_FLOW(id, ports[id], 0);
	}
	put_plain(maker, NT_BLOCK_IDENTITIES);
}

static void holder_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",deliver");
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	holder_identities(maker);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 1);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 2);
	use_socket(maker, 1, START_NS + 1000 * US, 6, NT_RECV, 300);
	for (uint64_t id = 1; id < 8; id++) {
		stretch(maker, 0, START_NS + (1 + id) * MS, id, (uint32_t)id, true);
		receive_run(maker, 0, START_NS + (1 + id) * MS, (10 + id) * US);
	}
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 1);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 2);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-holders.tape/chunk-000000.ntc");
}

/* ---- what the network causes elsewhere: a tape of its own too ---- */

#define THREAD(id, flags_, comm_)                                                                                      \
	IDENTITY(task, TASK, .why = NT_TASK_SEED, .flags = (flags_), .tid = 100 + (id), .task = (id), .process = (id), \
		 .start_ns = (id)*MS, .pid = 100 + (id), .comm = (comm_))
#define DEVICE_IRQ(number_, flags_, name_, device_)                                                                    \
	IDENTITY(irq_name, IRQ_NAME, .type = NT_IRQ_DEVICE, .number = (number_), .flags = (flags_), .name = (name_),   \
		 .device = (device_))

/* A process may have any name; an interrupt may be called as a card's is, and be another device's. */
static void elsewhere_identities(struct maker *maker)
{
	THREAD(1, NT_TASK_KTHREAD, "irq/24-eth0");
	THREAD(2, NT_TASK_KTHREAD, "irq/27-nvme0q1");
	THREAD(3, NT_TASK_KTHREAD, "kpktgend_0");
	THREAD(4, 0, "kpktgend_1");
	DEVICE_IRQ(24, NT_IRQ_NAME_ASKED, "eth0-rx-0", "eth0");
	DEVICE_IRQ(25, 0, "virtio2-input.0", "");
	DEVICE_IRQ(26, NT_IRQ_NAME_ASKED, "virtio3-input.0", "");
	DEVICE_IRQ(27, NT_IRQ_NAME_ASKED, "nvme0q1", "");
	DEVICE_IRQ(28, 0, "eth2, ehci_hcd:usb1", "");
	IDENTITY(irq_name, IRQ_NAME, .type = NT_IRQ_VECTOR, .number = 236, .flags = NT_IRQ_NAME_ASKED,
		 .name = "local_timer");
	put_plain(maker, NT_BLOCK_IDENTITIES);
}

static void device_irq(struct maker *maker, uint32_t cpu, uint64_t end_ns, uint32_t number, uint64_t dur_ns)
{
	ADD(cpu, irq, IRQ, .end_ns = end_ns, .type = NT_IRQ_DEVICE, .number = number, .dur_ns = dur_ns);
}

static void net_timer(struct maker *maker, uint64_t end_ns, uint8_t function, uint64_t took_ns, uint64_t own_ns)
{
	ADD(0, net_timer, NET_TIMER, .end_ns = end_ns, .function = function, .took_ns = took_ns, .own_ns = own_ns);
}

static void timer_run(struct maker *maker, uint32_t cpu, uint64_t end_ns, uint64_t dur_ns)
{
	ADD(cpu, softirq, SOFTIRQ, .end_ns = end_ns, .vec = 1, .context = NT_SOFTIRQ_IRQ_EXIT, .dur_ns = dur_ns);
}

/* One after the other, one with an interrupt inside, over the edge of a bucket; lost; from before the session. */
static void timers(struct maker *maker)
{
	net_timer(maker, START_NS + 10 * US, NT_NET_TIMER_tcp_write_timer, 30 * US, 30 * US);
	timer_run(maker, 0, START_NS + 20 * US, 60 * US);
	device_irq(maker, 0, START_NS + 1 * MS - 30 * US, 24, 10 * US);
	net_timer(maker, START_NS + 1 * MS - 20 * US, NT_NET_TIMER_tcp_write_timer, 30 * US, 20 * US);
	net_timer(maker, START_NS + 1 * MS - 10 * US, NT_NET_TIMER_tcp_delack_timer, 4 * US, 4 * US);
	timer_run(maker, 0, START_NS + 1 * MS, 60 * US);
	ADD(0, loss, LOSS, .end_ns = START_NS + 2 * MS - 5 * US, .lost_kind = NT_NET_TIMER, .count = 2,
	    .first_ns = START_NS + 2 * MS - 40 * US, .last_ns = START_NS + 2 * MS - 20 * US);
	net_timer(maker, START_NS + 2 * MS - 4 * US, NT_NET_TIMER_est_timer, 1 * US, 1 * US);
	timer_run(maker, 0, START_NS + 2 * MS, 50 * US);
	net_timer(maker, START_NS + BUCKET + 4 * US, NT_NET_TIMER_tcp_pace_kick, 10 * US, 10 * US);
	timer_run(maker, 0, START_NS + BUCKET + 5 * US, 20 * US);
}

/* Preempted; functions that are none; more of its own than it took, which counts as what it took. */
static void odd_timers(struct maker *maker)
{
	ADD(0, net_timer, NET_TIMER, .end_ns = START_NS + BUCKET + 1 * MS, .function = NT_NET_TIMER_tcp_delack_timer,
	    .flags = NT_NET_TIMER_PREEMPTED, .took_ns = 500 * US);
	net_timer(maker, START_NS + BUCKET + 2 * MS - 5 * US, 0, 1 * US, 1 * US);
	net_timer(maker, START_NS + BUCKET + 2 * MS - 3 * US, UINT8_MAX, 1 * US, 1 * US);
	net_timer(maker, START_NS + BUCKET + 2 * MS, NT_NET_TIMER_dev_watchdog, 2 * US, UINT64_MAX);
	timer_run(maker, 0, START_NS + BUCKET + 2 * MS, 20 * US);
}

/* Of cards and of others; inside a run of NET_TX; over edges of buckets. */
static void device_irqs(struct maker *maker)
{
	device_irq(maker, 1, START_NS + 1 * MS, 24, 10 * US);
	device_irq(maker, 1, START_NS + 2 * MS, 25, 5 * US);
	device_irq(maker, 1, START_NS + 3 * MS, 26, 7 * US);
	device_irq(maker, 1, START_NS + 4 * MS, 27, 3 * US);
	device_irq(maker, 1, START_NS + 5 * MS, 28, 3 * US);
	ADD(1, irq, IRQ, .end_ns = START_NS + 6 * MS, .type = NT_IRQ_VECTOR, .number = 236, .dur_ns = 4 * US);
	device_irq(maker, 1, START_NS + 7 * MS - 5 * US, 24, 2 * US);
	ADD(1, softirq, SOFTIRQ, .end_ns = START_NS + 7 * MS, .vec = NT_VEC_NET_TX, .context = NT_SOFTIRQ_IRQ_EXIT,
	    .dur_ns = 20 * US);
	device_irq(maker, 1, START_NS + BUCKET + 40 * US, 24, 100 * US);
	device_irq(maker, 1, START_NS + 5 * BUCKET + 30 * US, 25, 3 * BUCKET);
}

static void threads(struct maker *maker)
{
	for (uint64_t id = 0; id <= 4; id++)
		ADD(0, switch, SWITCH, .end_ns = START_NS + 3 * BUCKET + id * MS, .prev_prio = 120, .prev_state = 1,
		    .prev = id, .next = (id + 1) % 5);
}

static void elsewhere_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",nettimers");
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	elsewhere_identities(maker);
	ADD(0, state, STATE, .end_ns = START_NS - 900, .reason = NT_STATE_START, .task = 0);
	ADD(1, state, STATE, .end_ns = START_NS - 800, .reason = NT_STATE_START, .task = 0);
	timers(maker);
	odd_timers(maker);
	threads(maker);
	device_irqs(maker);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 0);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 0);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-elsewhere.tape/chunk-000000.ntc");
}

/* ---- counts of flows: a tape of its own too ---- */

#define N_COUNTED 6 /* flows; of them the last is never named */

#define HASH_WORDS (2 * (1 + NT_FLOW_WORDS))

/* A sketch of 4 rows of 64, and what updates it, with the probability 0.1. */
struct counted {
	uint64_t hash, flow_samples;
	uint32_t packets, bytes_each, most;
};

/* The numbers 1, 3, 5, ... times one that is odd. */
static void hash_words(uint64_t words[HASH_WORDS])
{
	for (uint64_t i = 0; i < HASH_WORDS; i++)
		words[i] = (2 * i + 1) * 0x9e3779b97f4a7c15ull;
}

static uint64_t hash_of_flow(const struct nt_flow *flow)
{
	struct nt_flow_tuple tuple = {.device = 77ull << 32 | 2 | (flow->flags ? NT_DEVICE_SENDS : 0),
				      .ports = htons(flow->src_port) | (uint32_t)htons(flow->dst_port) << 16,
				      .ethertype = flow->ethertype,
				      .family = flow->family,
				      .protocol = flow->protocol};
	uint64_t words[HASH_WORDS];

	hash_words(words);
	memcpy(tuple.src, flow->src, sizeof(tuple.src));
	memcpy(tuple.dst, flow->dst, sizeof(tuple.dst));
	return nt_sketch_hash(nt_flow_key((const struct nt_flow_hash *)words, &tuple, NT_MANY_NOT));
}

/* Received and sent, of IPv4 and IPv6, and one without addresses. */
static void sketch_identities(struct maker *maker, struct counted flows[N_COUNTED])
{
	static const uint8_t v6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
	struct nt_flow flow = {.end_ns = START_NS - 5 * MS, .kind = NT_FLOW, .netns = 77, .device = 1};

	IDENTITY(device, DEVICE, .ifindex = 2, .device = 1, .netns = 77, .name = "eth0");
	for (uint64_t id = 1; id <= N_COUNTED; id++) {
		flow.flow = id;
		flow.flags = id & 1 ? 0 : NT_FLOW_SENT;
		flow.family = id == 5 ? 0 : id == 4 ? 10 : 2;
		flow.ethertype = id == 5 ? 0x806 : id == 4 ? 0x86dd : 0x800;
		flow.protocol = id == 5 ? 0 : id == 2 ? 17 : 6;
		flow.src_port = flow.protocol ? (uint16_t)(1000 + id) : 0;
		flow.dst_port = flow.protocol ? 80 : 0;
		memcpy(flow.src, id == 4 ? v6 : (const uint8_t[16]){10, 0, 0, (uint8_t)id}, sizeof(flow.src));
		memcpy(flow.dst, id == 4 ? v6 : (const uint8_t[16]){10, 0, 0, 99}, sizeof(flow.dst));
		if (id == 5) {
			memset(flow.src, 0, sizeof(flow.src));
			memset(flow.dst, 0, sizeof(flow.dst));
		}
		flows[id - 1].hash = hash_of_flow(&flow);
		MUST(!nt_identity_encode(&maker->raw, &flow));
	}
	put_plain(maker, NT_BLOCK_IDENTITIES);
}

/* `keeps`: of the cells, all but the last are on the tape if it is false. */
static void sketch_second(struct maker *maker, struct counted flows[N_COUNTED], uint64_t end_ns, uint64_t dur_ns,
			  bool keeps)
{
	const struct nt_sketch_shape shape = {.rows = 4, .column_bits = 6};
	struct nt_sketch_cell cells[4 * 64] = {};
	uint32_t n_cells = 0, last = 0;
	uint64_t samples = 0;

	for (uint32_t i = 0; i < N_COUNTED; i++) {
		flows[i].flow_samples = 0;
		for (uint32_t update = 0; update < 4 * flows[i].packets; update++) {
			if (nt_rand_below(&maker->rand, 10))
				continue;
			flows[i].flow_samples++;
			nt_sketch_add(&cells[nt_sketch_cell(&shape, flows[i].hash, update % 4)],
				      nt_sketch_is_negative(&shape, flows[i].hash, update % 4), flows[i].most,
				      flows[i].most * flows[i].bytes_each);
		}
		samples += flows[i].flow_samples;
	}
	for (uint32_t i = 0; i < 4 * 64; i++)
		if (cells[i].packets) {
			n_cells++;
			last = i;
		}
	ADD(0, flow_sketch, FLOW_SKETCH, .end_ns = end_ns, .dur_ns = dur_ns, .samples = samples,
	    .unnamed = (uint32_t)flows[N_COUNTED - 1].flow_samples, .cells = n_cells, .flows = N_COUNTED - 1);
	for (uint32_t i = 0; i < 4 * 64; i++)
		if (cells[i].packets && (keeps || i != last))
			ADD(0, flow_cell, FLOW_CELL, .end_ns = end_ns, .dur_ns = dur_ns, .cell = i,
			    .packets = cells[i].packets, .bytes = cells[i].bytes);
	for (uint32_t i = 0; i + 1 < N_COUNTED; i++)
		ADD(0, flow_count, FLOW_COUNT, .end_ns = end_ns, .dur_ns = dur_ns, .flow = i + 1,
		    .packets = (uint32_t)flows[i].flow_samples * flows[i].most, .missed = i * 3,
		    .bytes = flows[i].flow_samples * flows[i].most * flows[i].bytes_each, .most_packets = flows[i].most,
		    .most_bytes = flows[i].most * flows[i].bytes_each);
	ADD(0, flow_total, FLOW_TOTAL, .end_ns = end_ns, .dur_ns = dur_ns, .device = 1, .buffers = 900, .packets = 1000,
	    .bytes = 100000);
	ADD(0, flow_total, FLOW_TOTAL, .end_ns = end_ns, .dur_ns = dur_ns, .flags = NT_FLOW_TOTAL_SENT, .device = 1,
	    .buffers = 500, .packets = 4000, .bytes = 5000000);
	ADD(0, flow_total, FLOW_TOTAL, .end_ns = end_ns, .dur_ns = dur_ns, .buffers = 3, .packets = 3, .bytes = 180);
}

static void sketch_tape(struct maker *maker, const char *directory)
{
	struct counted flows[N_COUNTED] = {
		{.packets = 600, .bytes_each = 1000, .most = 1}, {.packets = 100, .bytes_each = 100, .most = 40},
		{.packets = 90, .bytes_each = 1500, .most = 1},	 {.packets = 80, .bytes_each = 60, .most = 1},
		{.packets = 20, .bytes_each = 42, .most = 1},	 {.packets = 5, .bytes_each = 42, .most = 1}};
	uint64_t words[HASH_WORDS];
	char hash[16 * HASH_WORDS + 1];

	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",flows");
	MUST(!nt_meta_append(&maker->raw, "flow_sample", "0.1"));
	MUST(!nt_meta_append(&maker->raw, "flow_sketch", "4x64"));
	hash_words(words);
	for (size_t i = 0; i < HASH_WORDS; i++)
		snprintf(hash + 16 * i, sizeof(hash) - 16 * i, "%016" PRIx64, words[i]);
	MUST(!nt_meta_append(&maker->raw, "flow_hash", hash));
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	sketch_identities(maker, flows);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 0);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 0);
	sketch_second(maker, flows, START_NS + 900 * MS, 900 * MS - 1000, true);
	sketch_second(maker, flows, START_NS + 1500 * MS, 600 * MS, false);
	sketch_second(maker, flows, END_NS + 600, 500 * MS + 600, true);
	/* What only damage or a fault brings: no such cell; no such flow, of another time than the sketch. */
	ADD(0, flow_cell, FLOW_CELL, .end_ns = END_NS + 600, .dur_ns = MS, .cell = UINT32_MAX, .packets = INT64_MAX,
	    .bytes = INT64_MIN);
	ADD(0, flow_count, FLOW_COUNT, .end_ns = END_NS + 500, .dur_ns = MS, .flow = 99, .packets = UINT32_MAX,
	    .missed = UINT32_MAX, .bytes = INT64_MAX);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 0);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 0);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-sketch.tape/chunk-000000.ntc");
}

/* ---- stacks: a tape of their own too ---- */

#define NODE(stack_, parent_, symbol_, ...)                                                                            \
	IDENTITY(stack, STACK, .stack = (stack_), .parent = (parent_), .symbol = (symbol_), __VA_ARGS__)

/*
 * Of the kernel 1 <- 2 <- 3 and 1 <- 2 <- 4, of a program 5 <- 6 <- 10. Only damage or a fault brings the rest: 7 and 8
 * go round in a circle, 9 goes on from a stack that nobody knows, and has a symbol that nobody knows either.
 */
static void stack_identities(struct maker *maker)
{
	static const uint8_t build_id[NT_BUILD_ID_LEN] = {0xde, 0xad, 0xbe, 0xef, 5, 6, 7, 8, 9, 10,
							  0,	0,    0,    0,	  0, 0, 0, 0, 0, 20};
	struct nt_user_symbol libc = {
		.kind = NT_USER_SYMBOL, .symbol = 5, .place = 0x91b4f, .path = "/usr/lib/libc.so.6"};
	struct nt_user_symbol nameless = {.kind = NT_USER_SYMBOL, .symbol = 6, .place = 0x1234};

	identities(maker);
	IDENTITY(symbol, SYMBOL, .symbol = 1, .offset = 0x5e, .name = "entry_SYSCALL_64_after_hwframe");
	IDENTITY(symbol, SYMBOL, .symbol = 2, .offset = 0x1a, .name = "ip_rcv");
	IDENTITY(symbol, SYMBOL, .symbol = 3, .offset = 0x20, .name = "nft_do_chain", .module = "nf_tables");
	IDENTITY(symbol, SYMBOL, .symbol = 4);
	memcpy(libc.build_id, build_id, sizeof(build_id));
	memcpy(nameless.build_id, build_id, sizeof(build_id));
	MUST(!nt_identity_encode(&maker->raw, &libc));
	MUST(!nt_identity_encode(&maker->raw, &nameless));
	IDENTITY(user_symbol, USER_SYMBOL, .symbol = 7, .place = 0x7ffc12345678, .flags = NT_USER_SYMBOL_ADDRESS);
	NODE(3, 2, 3);
	NODE(4, 2, 4);
	NODE(1, 0, 1);
	NODE(2, 1, 2);
	NODE(5, 0, 5, .flags = NT_STACK_USER);
	NODE(6, 5, 6, .flags = NT_STACK_USER);
	NODE(10, 6, 7, .flags = NT_STACK_USER);
	NODE(7, 8, 1);
	NODE(8, 7, 2);
	NODE(9, 77, 99);
	put_plain(maker, NT_BLOCK_IDENTITIES);
}

static void stack_sample(struct maker *maker, uint32_t cpu, uint64_t at_ns, uint8_t context, uint8_t vec,
			 uint64_t stack)
{
	ADD(cpu, stack_sample, STACK_SAMPLE, .end_ns = at_ns, .context = context, .vec = vec, .task = cpu ? 2 : 1,
	    .stack = stack);
}

#define TIMER(cpu, begin_ns, end)                                                                                      \
	ADD(cpu, irq, IRQ, .end_ns = (end), .type = NT_IRQ_VECTOR, .number = 236, .dur_ns = (end) - (begin_ns))

/* The clock comes during NET_RX, during a send, in user space, in an interrupt of a device's, and with no interrupt
 * recorded. */
static void stacks_on_cpu_0(struct maker *maker, uint64_t at_ns)
{
	stack_sample(maker, 0, at_ns + 110 * US, NT_STACK_IN_NET_RX, NT_VEC_NET_RX, 3);
	TIMER(0, at_ns + 109 * US, at_ns + 112 * US);
	ADD(0, softirq, SOFTIRQ, .end_ns = at_ns + 200 * US, .vec = NT_VEC_NET_RX, .context = NT_SOFTIRQ_IRQ_EXIT,
	    .dur_ns = 100 * US);
	stack_sample(maker, 0, at_ns + 310 * US, NT_STACK_IN_SEND, 0, 4);
	TIMER(0, at_ns + 309 * US, at_ns + 312 * US);
	ADD(0, op, OP, .end_ns = at_ns + 400 * US, .dir = NT_SEND, .call = NT_CALL_sendto, .result = 100,
	    .dur_ns = 100 * US, .socket = 1);
	ADD(0, stack_sample, STACK_SAMPLE, .end_ns = at_ns + 510 * US, .context = NT_STACK_IN_TASK, .task = 1,
	    .flags = NT_STACK_SAMPLE_USER | NT_STACK_SAMPLE_CUT_USER, .user_stack = 10);
	TIMER(0, at_ns + 509 * US, at_ns + 512 * US);
	stack_sample(maker, 0, at_ns + 610 * US, NT_STACK_IN_HARDIRQ, 0, 2);
	TIMER(0, at_ns + 605 * US, at_ns + 615 * US);
	stack_sample(maker, 0, at_ns + 700 * US, NT_STACK_IN_TASK, 0, 1);
}

/* A stack that could not be taken; one lost; what contradicts itself, and what no reader knows. */
static void stacks_on_cpu_1(struct maker *maker, uint64_t at_ns)
{
	ADD(1, stack_sample, STACK_SAMPLE, .end_ns = at_ns + 10 * US, .context = NT_STACK_IN_SOFTIRQ, .vec = 9,
	    .task = 2, .error = 14, .user_error = 22);
	ADD(1, loss, LOSS, .end_ns = at_ns + 20 * US, .lost_kind = NT_STACK_SAMPLE, .count = 3,
	    .first_ns = at_ns + 11 * US, .last_ns = at_ns + 13 * US);
	stack_sample(maker, 1, at_ns + 30 * US, NT_STACK_IN_NAPI, 0, 7);
	stack_sample(maker, 1, at_ns + 40 * US, NT_STACK_IN_IDLE, 0, 9);
	stack_sample(maker, 1, at_ns + 50 * US, NT_STACK_IN_RECV, 0, 1000);
	ADD(1, stack_sample, STACK_SAMPLE, .end_ns = at_ns + 60 * US, .context = 200, .vec = 200, .flags = 0xf8,
	    .task = 99, .stack = 2, .user_stack = UINT64_MAX);
}

static void stack_snapshots(struct maker *maker, uint64_t at_ns)
{
	char text[2000] = "";

	for (size_t cpu = 0; cpu < 2; cpu++)
		for (unsigned int kind = 0; kind < NT_KIND_MAX; kind++)
			if (maker->cpus[cpu].written[kind])
				snprintf(text + strlen(text), sizeof(text) - strlen(text), "%zu %s %" PRIu64 " %d\n",
					 cpu, nt_kind(kind)->name, maker->cpus[cpu].written[kind],
					 3 * (cpu && kind == NT_STACK_SAMPLE));
	snapshot(maker, "nettape/cpus", text, at_ns);
	snapshot(maker, "nettape/programs", "nt_stack_sample recorded=10 lost=3 skipped_owner=5 misses=0\n", at_ns);
}

static void stack_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",stacks");
	MUST(!nt_meta_append(&maker->raw, "stacks_hz", "999"));
	MUST(!nt_meta_append(&maker->raw, "stacks", "all"));
	MUST(!nt_meta_append(&maker->raw, "user_stacks", "1"));
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	stack_identities(maker);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 1);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 2);
	stacks_on_cpu_0(maker, START_NS + 10 * MS);
	stacks_on_cpu_1(maker, START_NS + 20 * MS);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 1);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 2);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	stack_snapshots(maker, END_NS);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-stacks.tape/chunk-000000.ntc");
}

static void make_directory(const char *directory, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	MUST(!mkdir(path, 0777) || errno == EEXIST);
}

static void forget(struct maker *maker)
{
	for (int i = 0; i < 2; i++) {
		struct nt_event_encoder *encoder = maker->cpus[i].encoder;

		maker->cpus[i] = (struct cpu){.encoder = encoder};
	}
	maker->events = maker->lost = 0;
}

/* ---- softirqs that wait: a tape of its own too ---- */

/* The run of a softirq, and what it had waited. */
static void waited(struct maker *maker, uint32_t cpu, uint64_t begin_ns, uint8_t vec, uint64_t wait_ns,
		   uint8_t raised_in, uint8_t context)
{
	ADD(cpu, raise, RAISE, .end_ns = begin_ns, .vec = vec, .raised_in = raised_in, .context = context,
	    .dur_ns = wait_ns);
	ADD(cpu, softirq, SOFTIRQ, .end_ns = begin_ns + 10 * US, .vec = vec, .context = context, .dur_ns = 10 * US);
}

static void wait_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",raise");
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	identities(maker);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 1);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 0);
	for (uint32_t i = 1; i <= 5; i++)
		waited(maker, 0, START_NS + i * MS, NT_VEC_NET_RX, i * i * 10 * US, NT_CPU_IN_HARDIRQ,
		       NT_SOFTIRQ_IRQ_EXIT);
	/* Longer than the state before it is old; without the probe that tells where; by who waits for the CPU. */
	waited(maker, 0, START_NS + 200 * MS, NT_VEC_NET_RX, 150 * MS, NT_CPU_IN_SOFTIRQ, NT_SOFTIRQ_KSOFTIRQD);
	waited(maker, 1, START_NS + 201 * MS, NT_VEC_NET_TX, 30 * US, NT_CPU_UNKNOWN, NT_SOFTIRQ_UNKNOWN);
	waited(maker, 1, START_NS + 202 * MS, 1, 0, NT_CPU_IN_TASK, NT_SOFTIRQ_BH_ENABLE);
	/* One that no kernel has; and two that were lost. */
	waited(maker, 1, START_NS + 203 * MS, 15, 1 * US, 77, 99);
	ADD(1, loss, LOSS, .end_ns = START_NS + 300 * MS, .lost_kind = NT_RAISE, .count = 2,
	    .first_ns = START_NS + 250 * MS, .last_ns = START_NS + 260 * MS);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 1);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 0);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-waits.tape/chunk-000000.ntc");
}

/* ---- requests to block devices: a tape of its own too ---- */

#define VDA (254u << 20)
#define LOOP1 (7u << 20 | 1)

static void disk_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",block");
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	IDENTITY(block_device, BLOCK_DEVICE, .number = VDA, .name = "vda");
	IDENTITY(block_device, BLOCK_DEVICE, .number = LOOP1, .name = "loop1");
	identities(maker);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 1);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 0);
	/* Reads of two processes that overlap, and complete on both CPUs. */
	for (uint32_t i = 1; i <= 6; i++)
		ADD(i % 2, block_io, BLOCK_IO, .end_ns = START_NS + i * 100 * US, .op = 0, .device = VDA,
		    .payer = NT_IO_PAYER_task, .dur_ns = 150 * US, .queue_ns = i * US, .task = 1 + i % 3,
		    .bytes = i << 12);
	/* Each payer; each operation that has a word, and others; each flag; results that kernels share, and one not.
	 */
	for (uint32_t i = 0; i <= NT_IO_PAYER_COUNT; i++)
		ADD(0, block_io, BLOCK_IO, .end_ns = START_NS + 10 * MS + i * US, .op = i == 7 ? 35 : i,
		    .device = LOOP1, .payer = i, .status = i * 2, .dur_ns = i == 3 ? 0 : 500 * US,
		    .queue_ns = i == 1 ? 0 : MS, .task = i == 0 || i == 6 ? 0 : 2, .cgroup = i == 2 || i == 5 ? 2 : 0,
		    .bytes = 512 * i,
		    .flags = i == 1   ? NT_IO_UNQUEUED
			     : i == 3 ? NT_IO_UNISSUED
			     : i == 4 ? NT_IO_REQUEUED | NT_IO_PARTIAL
				      : 0);
	/* Of a device without a name, issued before the recording; of none; and two that were lost. */
	ADD(1, block_io, BLOCK_IO, .end_ns = START_NS + 20 * MS, .op = 9, .device = 8u << 20 | 16, .payer = 77,
	    .dur_ns = 30 * MS, .bytes = UINT32_MAX, .flags = 0xf0);
	ADD(1, block_io, BLOCK_IO, .end_ns = START_NS + 21 * MS, .op = 34, .flags = NT_IO_UNQUEUED);
	ADD(1, loss, LOSS, .end_ns = START_NS + 30 * MS, .lost_kind = NT_BLOCK_IO, .count = 2,
	    .first_ns = START_NS + 25 * MS, .last_ns = START_NS + 26 * MS);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 1);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 0);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-disks.tape/chunk-000000.ntc");
}

/* ---- packets on their way down: a tape of its own too ---- */

static void transmit_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",transmit");
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	identities(maker);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 1);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 0);
	/* One send of several packets, which start on another CPU, each 5 ms and a little later. The last is dropped.
	 */
	for (uint32_t i = 1; i <= 6; i++)
		ADD(0, transmit, TRANSMIT, .end_ns = START_NS + MS + i * 10 * US, .hook = NT_HOOK_tx_queued,
		    .length = 1500, .send_ns = START_NS + MS, .device = 1, .socket = 1, .task = 1, .weight = 1);
	for (uint32_t i = 1; i <= 5; i++)
		ADD(1, transmit, TRANSMIT, .end_ns = START_NS + 6 * MS + i * 12 * US, .hook = NT_HOOK_tx_started,
		    .length = 1500, .send_ns = START_NS + MS, .wait_ns = 5 * MS + i * 2 * US, .device = 1, .socket = 1,
		    .task = 1, .weight = 1);
	/* Packets whose send is not known; one that was queued before the recording. */
	for (uint32_t i = 1; i <= 3; i++)
		ADD(1, transmit, TRANSMIT, .end_ns = START_NS + 20 * MS + i * US, .hook = NT_HOOK_tx_queued,
		    .flags = NT_LATENCY_IPV6, .length = 60 + i, .device = 2, .weight = i);
	for (uint32_t i = 1; i <= 3; i++)
		ADD(1, transmit, TRANSMIT, .end_ns = START_NS + 20 * MS + i * 4 * US, .hook = NT_HOOK_tx_started,
		    .flags = NT_LATENCY_IPV6, .length = 60 + i, .wait_ns = i * 3 * US, .device = 2, .weight = i);
	ADD(1, transmit, TRANSMIT, .end_ns = START_NS + 30 * MS, .hook = NT_HOOK_tx_started, .length = UINT32_MAX,
	    .send_ns = START_NS - MS, .wait_ns = 40 * MS, .socket = 2, .task = 2, .weight = 1);
	/* A send after its packet is no recorder's. And two that were lost. */
	ADD(1, transmit, TRANSMIT, .end_ns = START_NS + 31 * MS, .hook = NT_HOOK_tx_queued, .flags = 0xff,
	    .send_ns = START_NS + 32 * MS, .weight = 1);
	ADD(1, loss, LOSS, .end_ns = START_NS + 40 * MS, .lost_kind = NT_TRANSMIT, .count = 2,
	    .first_ns = START_NS + 35 * MS, .last_ns = START_NS + 36 * MS);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 1);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 0);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-transmit.tape/chunk-000000.ntc");
}

/* ---- memory and page faults: a tape of its own too ---- */

#define RSS(cpu, us, which, why, of, has, ...)                                                                         \
	ADD(cpu, mem_rss, MEM_RSS, .end_ns = START_NS + (us)*US, .what = NT_RSS_##which, .cause = NT_RSS_CAUSE_##why,  \
	    .process = (of), .kib = (has), ##__VA_ARGS__)

static void memory_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",memory");
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	identities(maker);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 1);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 0);
	/* Two processes; one grows by anonymous pages on both CPUs, and another takes pages of it, which are swapped.
	 */
	RSS(0, 10, file, start, 1, 4096);
	RSS(0, 10, anon, start, 1, 8192);
	RSS(0, 11, file, start, 2, 1024);
	for (uint32_t i = 1; i <= 4; i++)
		RSS(i % 2, 100 * i, anon, change, 1, 8192 + 128 * i);
	RSS(1, 1000, anon, change, 1, 8192, .flags = NT_RSS_EXTERNAL);
	RSS(1, 1000, swap, change, 1, 512, .flags = NT_RSS_EXTERNAL);
	/* One that begins with what its parent has, and then runs another program. */
	RSS(0, 2000, file, fork, 3, 1024);
	RSS(0, 2000, anon, fork, 3, 256);
	RSS(0, 3000, file, exec, 3, 64);
	RSS(0, 3000, anon, exec, 3, 0);
	RSS(0, 3000, swap, exec, 3, 0);
	RSS(0, 3000, shmem, exec, 3, 0);
	RSS(1, 3500, shmem, change, 3, 2048);
	ADD(0, page_fault, PAGE_FAULT, .end_ns = START_NS + 900 * US, .dur_ns = 800 * US, .task = 1, .minor = 100);
	ADD(1, page_fault, PAGE_FAULT, .end_ns = START_NS + 1500 * US, .dur_ns = 100 * US, .task = 2, .minor = 7,
	    .major = 2);
	ADD(1, page_fault, PAGE_FAULT, .end_ns = START_NS + 4000 * US, .dur_ns = 2 * MS, .task = 1, .minor = 28);
	/* A kind and a cause of a later version, more than any machine has, and what was lost. */
	ADD(1, mem_rss, MEM_RSS, .end_ns = START_NS + 5 * MS, .what = 77, .cause = 78, .flags = 0xff, .process = 2,
	    .kib = 4);
	ADD(1, mem_rss, MEM_RSS, .end_ns = START_NS + 6 * MS, .what = NT_RSS_anon, .process = 2, .kib = 1ull << 42);
	ADD(1, loss, LOSS, .end_ns = START_NS + 30 * MS, .lost_kind = NT_MEM_RSS, .count = 2,
	    .first_ns = START_NS + 25 * MS, .last_ns = START_NS + 26 * MS);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 1);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 0);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-memory.tape/chunk-000000.ntc");
}

/* ---- memory that the kernel took: a tape of its own too ---- */

#define TOOK(cpu, us, which, in, of, ...)                                                                              \
	ADD(cpu, kmem, KMEM, .end_ns = START_NS + (us)*US, .what = NT_KMEM_##which, .context = NT_CPU_IN_##in,         \
	    .bytes = (of), ##__VA_ARGS__)

static void kmem_tape(struct maker *maker, const char *directory)
{
	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",kmem");
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	identities(maker);
	IDENTITY(symbol, SYMBOL, .symbol = 1, .offset = 0x79, .name = "__alloc_skb");
	IDENTITY(symbol, SYMBOL, .symbol = 2, .offset = 0x32, .name = "sk_prot_alloc");
	IDENTITY(symbol, SYMBOL, .symbol = 3, .offset = 0x20, .name = "nft_do_chain", .module = "nf_tables");
	put_plain(maker, NT_BLOCK_IDENTITIES);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 1);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 0);
	/* A process makes sockets and takes pages, the last of them in samples; softirqs make more of both. */
	TOOK(0, 10, cache, TASK, 2304, .task = 1, .location = 2, .weight = 1);
	TOOK(0, 20, cache, TASK, 2304, .task = 1, .location = 2, .weight = 16);
	TOOK(0, 30, pages, TASK, 4096, .task = 1, .weight = 1);
	TOOK(0, 40, pages, TASK, 2 << 20, .task = 1, .weight = 2);
	TOOK(0, 50, kmalloc, TASK, 64, .task = 2, .location = 1, .weight = 4);
	TOOK(1, 100, cache, SOFTIRQ, 256, .vec = 3, .location = 1, .weight = 8);
	TOOK(1, 110, kmalloc, SOFTIRQ, 1024, .vec = 3, .location = 1, .weight = 8);
	TOOK(1, 120, cache, SOFTIRQ, 2304, .vec = 3, .location = 2, .weight = 8);
	TOOK(1, 130, pages, SOFTIRQ, 32768, .vec = 9, .weight = 1);
	TOOK(1, 140, kmalloc, HARDIRQ, 128, .location = 3, .weight = 1);
	/* There was no memory; it is not known in what; and an idle CPU. */
	TOOK(0, 200, kmalloc, SOFTIRQ, 512, .vec = 3, .location = 3, .weight = 2, .flags = NT_KMEM_FAILED);
	TOOK(0, 210, kmalloc, TASK, 32, .task = 0, .location = 1, .weight = 1);
	ADD(1, kmem, KMEM, .end_ns = START_NS + 220 * US, .bytes = 96, .task = 2, .location = 4, .weight = 1);
	/* A kind and a context of a later version, and what was lost. */
	ADD(1, kmem, KMEM, .end_ns = START_NS + 5 * MS, .what = 77, .context = 78, .vec = 200, .flags = 0xfffffffe,
	    .bytes = 16, .weight = 1);
	ADD(1, loss, LOSS, .end_ns = START_NS + 30 * MS, .lost_kind = NT_KMEM, .count = 2,
	    .first_ns = START_NS + 25 * MS, .last_ns = START_NS + 26 * MS);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 1);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 0);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-kmem.tape/chunk-000000.ntc");
}

/* ---- the readings of the probes memory and energy: a tape of its own too ---- */

static void reading(struct maker *maker, uint64_t at_ns, unsigned int n)
{
	char text[256];

	snprintf(text, sizeof(text), "package-0-die-0 %u\npackage-0-die-0.dram %u\npackage-0-die-1 %u\npsys %u\n",
		 4000000 * n, 300000 * n, 2000000 * n, 9000000 * n);
	snapshot(maker, "/sys/class/powercap", text, at_ns);
}

static void readings_of_memory(struct maker *maker, uint64_t at_ns, unsigned int n)
{
	char text[256];

	snprintf(text, sizeof(text),
		 "sockets: used 90\nTCP: inuse 5 orphan 0 tw 0 alloc 7 mem %u\nUDP: inuse 2 mem 3\nFRAG: inuse 0 "
		 "memory 4096\n",
		 300 - 100 * n);
	snapshot(maker, "/proc/net/sockstat", text, at_ns);
	snprintf(text, sizeof(text),
		 "some avg10=1.00 avg60=0.50 avg300=0.10 total=%u\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
		 1000000 + 250000 * n);
	snapshot(maker, "/proc/pressure/cpu", text, at_ns + 50 * US);
	snapshot(maker, "/proc/pressure/memory", "", at_ns + 100 * US);
	snprintf(text, sizeof(text), "full avg10=1.00 avg60=0.50 avg300=0.10 total=%u\n", 7 + 1000 * n);
	snapshot(maker, "/proc/pressure/irq", text, at_ns + 150 * US);
}

static void readings_tape(struct maker *maker, const char *directory)
{
	static const uint64_t at_ms[] = {2, 100, 201, 240, 1990};

	begin_chunk(maker, 0);
	meta_lines(maker, CORE_PROBES ",memory,energy");
	MUST(!nt_meta_append(&maker->raw, "page_bytes", "4096"));
	put_plain(maker, NT_BLOCK_META);
	clocks(maker, START_NS);
	snapshot(maker, "/sys/devices/system/cpu", "0 package=0 die=0 core=0\n1 package=0 die=1 core=0\n",
		 START_NS + 10 * US);
	identities(maker);
	ADD(0, state, STATE, .end_ns = START_NS + 900, .reason = NT_STATE_START, .task = 1);
	ADD(1, state, STATE, .end_ns = START_NS + 1000, .reason = NT_STATE_START, .task = 0);
	/* CPU 0 receives in half of its time, up to the second second; CPU 1 in a fifth of the time when it is busy. */
	for (uint64_t ms = 1; ms < 1000; ms += 2) {
		const union nt_any run = {.as_softirq = {.kind = NT_SOFTIRQ,
							 .end_ns = START_NS + ms * MS,
							 .vec = NT_VEC_NET_RX,
							 .context = NT_SOFTIRQ_IRQ_EXIT,
							 .dur_ns = MS}};

		add(maker, 0, &run);
	}
	ADD(1, switch, SWITCH, .end_ns = START_NS + 50 * MS, .prev_prio = 120, .prev = 0, .next = 3);
	ADD(1, softirq, SOFTIRQ, .end_ns = START_NS + 90 * MS, .vec = NT_VEC_NET_RX, .context = NT_SOFTIRQ_IRQ_EXIT,
	    .dur_ns = 10 * MS);
	ADD(1, switch, SWITCH, .end_ns = START_NS + 100 * MS, .prev_prio = 120, .prev_state = 1, .prev = 3, .next = 0);
	ADD(0, state, STATE, .end_ns = END_NS + 600, .reason = NT_STATE_STOP, .task = 1);
	ADD(1, state, STATE, .end_ns = END_NS + 700, .reason = NT_STATE_STOP, .task = 0);
	put_events(maker, 0, 0);
	put_events(maker, 1, 0);
	for (unsigned int i = 0; i < sizeof(at_ms) / sizeof(at_ms[0]); i++)
		reading(maker, START_NS + at_ms[i] * MS, i);
	for (unsigned int i = 0; i < 3; i++)
		readings_of_memory(maker, START_NS + (3 + i * 900) * MS, i);
	clocks(maker, END_NS);
	closing_meta(maker);
	end_chunk(maker);
	save(maker, directory, "v1-readings.tape/chunk-000000.ntc");
}

int main(int argc, char **argv)
{
	struct maker maker = {
		.header = {.version = NT_CHUNK_VERSION,
			   .session = {0x67, 0x6f, 0x6c, 0x64, 0x65, 0x6e, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
			   .boot_id = "6c7d2d9a-2f54-4e7c-9a5e-0123456789ab",
			   .host = "golden.example"},
		.rand = {1},
	};

	if (argc != 2) {
		fprintf(stderr, "usage: golden_make DIRECTORY\n");
		return 2;
	}
	for (int i = 0; i < 2; i++)
		MUST(maker.cpus[i].encoder = nt_event_encoder_new());
	make_directory(argv[1], "v1.tape");
	make_directory(argv[1], "bad");
	first_chunk(&maker, argv[1]);
	second_chunk(&maker, argv[1]);
	bad_chunks(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-polls.tape");
	poll_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-samples.tape");
	sample_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-wakeups.tape");
	wakeup_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-stacks.tape");
	stack_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-flows.tape");
	flow_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-charges.tape");
	charge_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-fates.tape");
	fate_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-holders.tape");
	holder_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-elsewhere.tape");
	elsewhere_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-sketch.tape");
	sketch_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-waits.tape");
	wait_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-disks.tape");
	disk_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-transmit.tape");
	transmit_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-memory.tape");
	memory_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-readings.tape");
	readings_tape(&maker, argv[1]);
	forget(&maker);
	make_directory(argv[1], "v1-kmem.tape");
	kmem_tape(&maker, argv[1]);
	for (int i = 0; i < 2; i++)
		nt_event_encoder_free(maker.cpus[i].encoder);
	nt_buf_release(&maker.file);
	nt_buf_release(&maker.raw);
	return 0;
}

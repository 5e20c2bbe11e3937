// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_gen.c - see tape_gen.h: the blocks and chunks. tape_gen_records.c has the records.
 */
#include "tests/support/tape_gen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/span.h"
#include "tests/support/rand.h"

struct gen_cpu {
	struct nt_event_encoder *encoder, *longer;
	size_t in_block; /* events since the last block */
	uint64_t sequence, since_ns;
	uint64_t task, next_task; /* at the end of the last block; now */
	bool has_loss;
	uint64_t written[NT_KIND_MAX], lost[NT_KIND_MAX];
};

struct tape_gen {
	char *dir;
	struct nt_chunk_header header;
	size_t block_events;
	uint64_t drop;
	bool with_samples, all_loose;
	uint64_t longest_ns;
	uint8_t loose_kinds[NT_KIND_MAX + 1]; /* of samples; LOSS is the last */
	size_t n_loose_kinds;
	struct nt_rand rand; /* of samples */
	uint64_t last_ns; /* greatest end of any record */
	uint32_t n_cpus;
	struct gen_cpu *cpus;
	int fd;
	struct nt_chunk_writer *writer;
	struct nt_buf meta, identities, raw;
	bool begun;
};

static void must(bool done, const char *what)
{
	if (done)
		return;
	fprintf(stderr, "tape_gen: %s: %s\n", what, strerror(errno));
	abort();
}

static int write_file(void *arg, const void *data, size_t size)
{
	struct tape_gen *gen = arg;

	must(write(gen->fd, data, size) == (ssize_t)size, "write");
	return 0;
}

static void chunk_path(const struct tape_gen *gen, char path[512], const char *end)
{
	snprintf(path, 512, "%s/chunk-%06u.ntc%s", gen->dir, gen->header.number, end);
}

static void put_block(struct tape_gen *gen, struct nt_block_header *header, const struct nt_buf *raw)
{
	must(!nt_chunk_writer_block(gen->writer, header, raw->data, raw->size), "block");
}

static void put_plain(struct tape_gen *gen, unsigned int type, const struct nt_buf *raw)
{
	struct nt_block_header header = {.type = (uint8_t)type};

	put_block(gen, &header, raw);
}

static void begin_chunk(struct tape_gen *gen)
{
	char path[512];

	chunk_path(gen, path, ".partial");
	gen->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	must(gen->fd >= 0, path);
	must(!nt_chunk_writer_new(&gen->writer, &gen->header, write_file, gen), "chunk");
	put_plain(gen, NT_BLOCK_META, &gen->meta);
	if (gen->identities.size)
		put_plain(gen, NT_BLOCK_IDENTITIES, &gen->identities);
	gen->begun = true;
}

static void end_chunk(struct tape_gen *gen, bool whole)
{
	char from[512], to[512];

	if (whole) {
		must(!nt_chunk_writer_finish(gen->writer), "index");
		chunk_path(gen, from, ".partial");
		chunk_path(gen, to, "");
		must(!rename(from, to), to);
	}
	nt_chunk_writer_free(gen->writer);
	close(gen->fd);
}

static void begin(struct tape_gen *gen)
{
	if (!gen->begun)
		begin_chunk(gen);
}

static void default_meta(struct tape_gen *gen, const struct tape_gen_config *config)
{
	char text[64];

	tape_gen_meta(gen, "tool", "nettape-record 0.1.0");
	tape_gen_meta(gen, "kernel", "6.1.0-test");
	tape_gen_meta(gen, "machine", "x86_64");
	tape_gen_meta(gen, "os", "Test Linux 1");
	snprintf(text, sizeof(text), "0-%u", gen->n_cpus - 1);
	tape_gen_meta(gen, "cpus_possible", text);
	tape_gen_meta(gen, "cpus_online", config->online ? config->online : text);
	snprintf(text, sizeof(text), "%llu", GEN_START_NS);
	tape_gen_meta(gen, "start_ns", text);
	snprintf(text, sizeof(text), "%llu", GEN_REALTIME_NS);
	tape_gen_meta(gen, "start_realtime_ns", text);
	tape_gen_meta(gen, "ring_size", "1048576");
	if (config->keeps)
		tape_gen_meta(gen, "keep_ns", "60000000000");
	tape_gen_meta(gen, "probes", config->probes ? config->probes : "sched,softirq,irq,socket");
	tape_gen_meta(gen, "attach", "sched nt_sched_switch tp_btf/sched_switch");
	tape_gen_meta(gen, "attach", "socket nt_send_length tp_btf/sock_send_length");
	tape_gen_meta(gen, "uncovered", "Splicing out of a socket is not seen.");
	tape_gen_meta(gen, "command", "nettape-record -o test.tape");
	tape_gen_meta(gen, "virtual", config->virtual ? config->virtual : "none");
	tape_gen_meta(gen, "clock_ticks", "100");
}

static void choose_loose_kinds(struct tape_gen *gen, const struct tape_gen_config *config)
{
	static const uint8_t some[] = {NT_LATENCY, NT_LATENCY, NT_DROP, NT_RETRANSMIT, NT_WAKEUP, NT_STACK_SAMPLE};
	uint8_t *to = gen->loose_kinds;

	if (config->probes && strstr(config->probes, "deliver"))
		*to++ = NT_RX_STRETCH;
	memcpy(to, some, sizeof(some));
	to += sizeof(some);
	/* Samples are of stretches: some of both must come near each other. */
	for (int i = 0; i < 4 && config->all_loose && to != gen->loose_kinds + sizeof(some); i++)
		*to++ = i & 1 ? NT_RX_STRETCH : NT_STACK_SAMPLE;
	for (unsigned int kind = 0; kind < NT_KIND_MAX && config->all_loose; kind++) {
		if (nt_kind_is_loose(kind) && kind != NT_RX_STRETCH && !memchr(some, (int)kind, sizeof(some)))
			*to++ = (uint8_t)kind;
	}
	*to++ = NT_LOSS;
	gen->n_loose_kinds = (size_t)(to - gen->loose_kinds);
}

struct tape_gen *tape_gen_new(const struct tape_gen_config *config)
{
	struct tape_gen *gen = calloc(1, sizeof(*gen));

	must(gen != NULL, "memory");
	gen->dir = strdup(config->dir);
	gen->n_cpus = config->n_cpus;
	gen->block_events = config->block_events ? config->block_events : 2000;
	gen->drop = config->drop;
	gen->with_samples = config->samples != 0;
	gen->all_loose = config->all_loose;
	gen->longest_ns = config->longest_ns ? config->longest_ns : 4 * NT_BLOCK_LONG_NS;
	choose_loose_kinds(gen, config);
	gen->rand.state = config->samples;
	gen->cpus = calloc(config->n_cpus, sizeof(*gen->cpus));
	must(gen->dir && gen->cpus, "memory");
	must(!mkdir(config->dir, 0700) || errno == EEXIST, config->dir);
	for (uint32_t cpu = 0; cpu < config->n_cpus; cpu++) {
		gen->cpus[cpu].encoder = nt_event_encoder_new();
		gen->cpus[cpu].longer = nt_event_encoder_new();
		must(gen->cpus[cpu].encoder && gen->cpus[cpu].longer, "memory");
	}
	gen->header = (struct nt_chunk_header){
		.version = NT_CHUNK_VERSION,
		.flags = config->keeps ? NT_CHUNK_DROPS : 0,
		.created_monotonic_ns = GEN_START_NS,
		.created_realtime_ns = GEN_REALTIME_NS,
		.boot_id = "01234567-89ab-cdef-0123-456789abcdef",
	};
	memset(gen->header.session, config->session, sizeof(gen->header.session));
	snprintf(gen->header.host, sizeof(gen->header.host), "%s", config->host ? config->host : "testhost");
	default_meta(gen, config);
	return gen;
}

void tape_gen_meta(struct tape_gen *gen, const char *key, const char *value)
{
	must(!nt_meta_append(&gen->meta, key, value), "meta");
}

/* ---- events ---- */

static void put_events(struct tape_gen *gen, uint32_t cpu, struct nt_event_encoder *encoder, unsigned int flags)
{
	struct gen_cpu *state = &gen->cpus[cpu];
	struct nt_event_stats stats = *nt_event_encoder_stats(encoder);
	struct nt_block_header header = {
		.type = NT_BLOCK_EVENTS,
		.flags = (uint8_t)flags,
		.cpu = cpu,
		.sequence = state->sequence,
		.count = stats.count,
		.least_begin_ns = stats.least_begin_ns,
		.first_end_ns = stats.first_end_ns,
		.last_end_ns = stats.last_end_ns,
		.since_ns = flags & NT_BLOCK_LONG ? 0 : state->since_ns,
		.task = flags & NT_BLOCK_LONG ? 0 : state->task,
		.lag_ns = 1000,
	};

	if (!stats.count)
		return;
	gen->raw.size = 0;
	must(!nt_event_encoder_finish(encoder, &gen->raw), "encode");
	if (cpu || !gen->drop || state->sequence != gen->drop)
		put_block(gen, &header, &gen->raw);
	state->sequence++;
	if (!(flags & NT_BLOCK_LONG)) {
		state->since_ns = stats.last_end_ns;
		state->task = state->next_task;
	}
}

void tape_gen_flush(struct tape_gen *gen, uint32_t cpu)
{
	struct gen_cpu *state = &gen->cpus[cpu];

	begin(gen);
	put_events(gen, cpu, state->longer, NT_BLOCK_LONG);
	put_events(gen, cpu, state->encoder, state->has_loss ? NT_BLOCK_HAS_LOSS : 0);
	state->has_loss = false;
	state->in_block = 0;
}

/* Any loose record, or a loss of such: some ended before what stands before them, some after
 * what stands behind; `late_ns` at most. */
static void random_sample(struct tape_gen *gen, uint64_t end_ns, uint64_t late_ns, union nt_any *out)
{
	const uint8_t *kinds = gen->loose_kinds;
	const size_t n = gen->n_loose_kinds;
	struct nt_rand *rand = &gen->rand;
	const struct nt_kind_info *kind = nt_kind(kinds[nt_rand_below(rand, n)]);

	memset(out, 0, sizeof(*out));
	for (unsigned int i = 1; i < kind->n_fields; i++) {
		const bool is_odd = !nt_rand_below(rand, 300);

		if (!strcmp(kind->fields[i].name, "dur_ns"))
			nt_field_set(&kind->fields[i], out, nt_rand_any(rand) % gen->longest_ns);
		else
			nt_field_set(&kind->fields[i], out,
				     is_odd ? nt_rand_any(rand) >> gen->all_loose : 1 + nt_rand_below(rand, 7));
	}
	out->record.kind = kind->number;
	out->record.end_ns = end_ns + late_ns - nt_rand_below(rand, 3000 + late_ns);
	if (kind->number == NT_LATENCY)
		out->as_latency.stamp_ns =
			out->record.end_ns - GEN_START_NS + GEN_REALTIME_NS - nt_rand_below(rand, 99999);
	if (kind->number == NT_MEM_RSS)
		out->as_mem_rss.kib &= (1ull << 42) - 1; /* as much as a row may have */
	if (kind->number == NT_TRANSMIT)
		out->as_transmit.hook = NT_HOOK_tx_started;
	if (kind->number != NT_LOSS)
		return;
	out->as_loss.lost_kind = kinds[nt_rand_below(rand, n - 1)];
	out->as_loss.count = (uint32_t)nt_rand_below(rand, 9);
	out->as_loss.first_ns = end_ns - 5000;
	out->as_loss.last_ns = end_ns - 3000 - nt_rand_below(rand, 3000);
}

static void add_event(struct tape_gen *gen, uint32_t cpu, const union nt_any *any)
{
	struct gen_cpu *state = &gen->cpus[cpu];
	bool is_loss = any->record.kind == NT_LOSS, is_long = nt_span_dur(any) > NT_BLOCK_LONG_NS;
	bool is_sample = nt_kind_is_loose(is_loss ? any->as_loss.lost_kind : any->record.kind);

	must(!nt_event_encoder_add(is_long ? state->longer : state->encoder, any), "event");
	state->in_block += !is_long && !is_sample;
	state->written[any->record.kind]++;
	gen->last_ns = any->record.end_ns > gen->last_ns ? any->record.end_ns : gen->last_ns;
	if (any->record.kind == NT_SWITCH)
		state->next_task = any->as_switch.next;
	if (any->record.kind == NT_STATE)
		state->next_task = any->as_state.task;
	if (any->record.kind == NT_LOSS) {
		state->lost[any->as_loss.lost_kind] += any->as_loss.count;
		state->has_loss = true;
	}
}

void tape_gen_event(struct tape_gen *gen, uint32_t cpu, const void *record)
{
	const union nt_any *any = record;

	while (gen->with_samples && nt_span_dur(any) <= NT_BLOCK_LONG_NS && nt_rand_below(&gen->rand, 2)) {
		union nt_any sample;

		/* Not late where a block goes missing: how far that reaches, the next one says by its greatest end. */
		random_sample(gen, any->record.end_ns, gen->drop ? 0 : 1000, &sample);
		add_event(gen, cpu, &sample);
	}
	add_event(gen, cpu, any);
	if (gen->cpus[cpu].in_block >= gen->block_events)
		tape_gen_flush(gen, cpu);
}

uint64_t tape_gen_written(const struct tape_gen *gen, uint32_t cpu, unsigned int kind)
{
	return gen->cpus[cpu].written[kind];
}

uint64_t tape_gen_lost(const struct tape_gen *gen, uint32_t cpu, unsigned int kind)
{
	return gen->cpus[cpu].lost[kind];
}

/* ---- the rest ---- */

void tape_gen_identity(struct tape_gen *gen, const void *record)
{
	struct nt_buf one = {0};

	begin(gen);
	must(!nt_identity_encode(&gen->identities, record), "identity");
	must(!nt_identity_encode(&one, record), "identity");
	put_plain(gen, NT_BLOCK_IDENTITIES, &one);
	nt_buf_release(&one);
}

void tape_gen_forget(struct tape_gen *gen)
{
	gen->identities.size = 0;
}

void tape_gen_clock(struct tape_gen *gen, uint64_t monotonic_ns)
{
	tape_gen_clock_set(gen, monotonic_ns, 0);
}

void tape_gen_clock_set(struct tape_gen *gen, uint64_t monotonic_ns, uint64_t forward_ns)
{
	struct nt_clock clock = {
		.monotonic_ns = monotonic_ns,
		.realtime_ns = monotonic_ns - GEN_START_NS + GEN_REALTIME_NS + forward_ns,
		.tai_ns = monotonic_ns - GEN_START_NS + GEN_REALTIME_NS + forward_ns + 37000000000ull,
		.boot_ns = monotonic_ns + 5000,
		.uncertainty_ns = 100,
	};

	begin(gen);
	gen->raw.size = 0;
	must(!nt_clock_encode(&gen->raw, &clock), "clock");
	put_plain(gen, NT_BLOCK_CLOCK, &gen->raw);
}

void tape_gen_proc_snapshot(struct tape_gen *gen, uint64_t begin_ns, uint64_t end_ns, const char *name,
			    const char *text)
{
	struct nt_proc_snapshot snapshot = {begin_ns, end_ns, name, text, strlen(text)};

	begin(gen);
	gen->raw.size = 0;
	must(!nt_proc_snapshot_encode(&gen->raw, &snapshot), "snapshot");
	put_plain(gen, NT_BLOCK_PROC_SNAPSHOT, &gen->raw);
}

void tape_gen_counters(struct tape_gen *gen, uint64_t at_ns)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	must(out != NULL, "memory");
	for (uint32_t cpu = 0; cpu < gen->n_cpus; cpu++) {
		for (unsigned int kind = 1; kind < 32; kind++) {
			if (nt_kind(kind))
				fprintf(out, "%u %s %llu %llu\n", cpu, nt_kind(kind)->name,
					(unsigned long long)tape_gen_written(gen, cpu, kind),
					(unsigned long long)tape_gen_lost(gen, cpu, kind));
		}
	}
	fclose(out);
	tape_gen_proc_snapshot(gen, at_ns, at_ns + 1000, "nettape/cpus", text);
	free(text);
}

void tape_gen_next_chunk(struct tape_gen *gen)
{
	begin(gen);
	for (uint32_t cpu = 0; cpu < gen->n_cpus; cpu++)
		tape_gen_flush(gen, cpu);
	end_chunk(gen, true);
	gen->header.number++;
	gen->header.created_monotonic_ns = gen->last_ns;
	gen->header.created_realtime_ns = GEN_REALTIME_NS + (gen->last_ns - GEN_START_NS);
	gen->begun = false;
}

static void closing_meta(struct tape_gen *gen, uint64_t end_ns)
{
	char text[64];

	gen->raw.size = 0;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)end_ns);
	must(!nt_meta_append(&gen->raw, "end_ns", text), "meta");
	must(!nt_meta_append(&gen->raw, "stop", "duration"), "meta");
	must(!nt_meta_append(&gen->raw, "complete", "1"), "meta");
	put_plain(gen, NT_BLOCK_META, &gen->raw);
}

void tape_gen_finish(struct tape_gen *gen, uint64_t end_ns, bool whole)
{
	begin(gen);
	for (uint32_t cpu = 0; cpu < gen->n_cpus; cpu++)
		tape_gen_flush(gen, cpu);
	if (whole)
		closing_meta(gen, end_ns);
	end_chunk(gen, whole);
	for (uint32_t cpu = 0; cpu < gen->n_cpus; cpu++) {
		nt_event_encoder_free(gen->cpus[cpu].encoder);
		nt_event_encoder_free(gen->cpus[cpu].longer);
	}
	nt_buf_release(&gen->meta);
	nt_buf_release(&gen->identities);
	nt_buf_release(&gen->raw);
	free(gen->cpus);
	free(gen->dir);
	free(gen);
}

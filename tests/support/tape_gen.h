/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tape_gen.h - makes tapes for tests, as the recorder would write them: a directory of chunk files, through the writer
 * of schema/. The same calls give the same bytes. Fails by abort(): a test cannot go on without its tape.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schema/chunk.h"

#define GEN_START_NS 1000000000000ull /* CLOCK_MONOTONIC at the start of the session */
#define GEN_REALTIME_NS 1700000000000000000ull /* 2023-11-14 22:13:20 UTC at the same time */

struct tape_gen;

struct tape_gen_config {
	const char *dir; /* the tape's directory; made if need be */
	uint32_t n_cpus;
	const char *online; /* CPUs online at the start; NULL: all */
	uint8_t session; /* byte that the session id is made of */
	const char *host; /* NULL: "testhost" */
	size_t block_events; /* a block is cut after so many records, samples not counted; 0: 2,000 */
	const char *virtual; /* NULL: "none" */
	const char *probes; /* what it says that was recorded; NULL: "sched,softirq,irq,socket" */
	bool keeps; /* a flight recorder's: its oldest chunks may be missing */
	uint64_t drop; /* this event block of CPU 0 is left out, by its sequence; 0: none */
	/*
	 * Seed of samples and losses of samples that are put between all other records, which stay what they are and in
	 * the same blocks; 0: none. Stretches of received packets are among them if `probes` names deliver.
	 */
	uint64_t samples;
	/* They are of every loose kind that there is, in numbers that SQL can hold. So new kinds change the tape. */
	bool all_loose;
	uint64_t longest_ns; /* that one lasts, if its kind is a span; 0: 4 s */
};

struct tape_gen *tape_gen_new(const struct tape_gen_config *config);
/* One more line for the meta block that opens each chunk. Before the first block. */
void tape_gen_meta(struct tape_gen *gen, const char *key, const char *value);
/* One record of a CPU. Spans over NT_BLOCK_LONG_NS go to blocks of their own. */
void tape_gen_event(struct tape_gen *gen, uint32_t cpu, const void *record);
/* One identity; it is written to this chunk now and to each later one. */
void tape_gen_identity(struct tape_gen *gen, const void *record);
/* Later chunks refer to none of the identities so far, and do not have them. */
void tape_gen_forget(struct tape_gen *gen);
void tape_gen_clock(struct tape_gen *gen, uint64_t monotonic_ns);
/* After the realtime clock was set forward by so much, in all. */
void tape_gen_clock_set(struct tape_gen *gen, uint64_t monotonic_ns, uint64_t forward_ns);
void tape_gen_proc_snapshot(struct tape_gen *gen, uint64_t begin_ns, uint64_t end_ns, const char *name,
			    const char *text);
/* Writes the CPU's block now. */
void tape_gen_flush(struct tape_gen *gen, uint32_t cpu);
/* Ends the chunk and begins the next. */
void tape_gen_next_chunk(struct tape_gen *gen);
/* Records of each kind given for this CPU so far, and lost according to its LOSS records. */
uint64_t tape_gen_written(const struct tape_gen *gen, uint32_t cpu, unsigned int kind);
uint64_t tape_gen_lost(const struct tape_gen *gen, uint32_t cpu, unsigned int kind);
/* Writes the snapshot nettape/cpus that agrees with those. */
void tape_gen_counters(struct tape_gen *gen, uint64_t at_ns);
/* Ends the session and frees the generator. `whole`: else the last chunk stays `.partial`, as after a crash. */
void tape_gen_finish(struct tape_gen *gen, uint64_t end_ns, bool whole);

/* ---- records in one call; times in ns since GEN_START_NS ---- */

#define GEN_BEFORE UINT64_MAX

void gen_state(struct tape_gen *gen, uint32_t cpu, uint64_t at, uint64_t task, unsigned int reason,
	       unsigned int n_open);
void gen_switch(struct tape_gen *gen, uint32_t cpu, uint64_t at, uint64_t prev, uint32_t prev_state, uint64_t next,
		unsigned int n_open);
void gen_open(struct tape_gen *gen, uint32_t cpu, uint64_t at, unsigned int what, unsigned int detail, uint32_t number,
	      uint64_t begin, uint64_t socket);
void gen_softirq(struct tape_gen *gen, uint32_t cpu, uint64_t begin, uint64_t end, unsigned int vec,
		 unsigned int context);
void gen_irq(struct tape_gen *gen, uint32_t cpu, uint64_t begin, uint64_t end, unsigned int type, uint32_t number);
void gen_op(struct tape_gen *gen, uint32_t cpu, uint64_t begin, uint64_t end, unsigned int dir, unsigned int call,
	    uint64_t socket, int32_t result, unsigned int flags);
/* A record of some loose kind that is a span; false: there is no such kind. `begin` may be before GEN_START_NS. */
bool gen_loose_span(struct tape_gen *gen, uint32_t cpu, int64_t begin, uint64_t end);
/* That kind, or 0. */
unsigned int gen_loose_span_kind(void);
void gen_loss(struct tape_gen *gen, uint32_t cpu, uint64_t at, unsigned int kind, uint32_t count, uint64_t first,
	      uint64_t last, uint64_t begin);
/* `start`: when it was forked; GEN_BEFORE: before the recording. */
void gen_task(struct tape_gen *gen, uint64_t at, uint64_t start, uint64_t task, uint64_t process, uint32_t tid,
	      uint32_t pid, uint64_t cgroup, unsigned int why, const char *comm);
void gen_socket(struct tape_gen *gen, uint64_t socket, unsigned int protocol, const char *src, unsigned int src_port,
		const char *dst, unsigned int dst_port);
void gen_cgroup(struct tape_gen *gen, uint64_t cgroup, const char *path);
void gen_irq_name(struct tape_gen *gen, unsigned int type, uint32_t number, const char *name);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * traffic.h - a simulated host, for tests: tasks that sleep, are preempted and migrate, send and receive, softirqs
 * inside and outside of operations, interrupts, losses. The result is a correct recording of it, with snapshots that
 * agree; the same for the same parameters.
 */
#pragma once

#include "tests/support/tape_gen.h"

struct traffic_config {
	uint64_t seed;
	uint64_t dur_ns; /* of the session */
	uint32_t n_tasks; /* two processes for each five */
	uint64_t snapshot_ns; /* between snapshots; 0: 1 s */
	uint64_t lose_from_ns, lose_to_ns; /* records that end within are lost on CPU 0; equal: none */
	uint64_t chunk_ns; /* a chunk lasts; 0: all in one */
	uint64_t steal_ticks; /* at the end, according to /proc/stat */
};

/* Fills the tape from its first record to its last; tape_gen_finish(gen, GEN_START_NS + dur_ns, ...) is the caller's.
 */
void traffic_record(struct tape_gen *gen, uint32_t n_cpus, const struct traffic_config *config);

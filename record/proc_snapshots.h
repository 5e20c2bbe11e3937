/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * proc_snapshots.h - the snapshots that go onto the tape once a second: counters of /proc to check against, counters of
 * the BPF programs, the recorder's cost, and the clocks; and more often, energy counters. Each is taken between two
 * readings of the clock.
 */
#pragma once

#include <stdbool.h>

#include <bpf/libbpf.h>

#include "bpf/shared.h"
#include "record/energy.h"
#include "record/meta.h"
#include "record/tape_writer.h"

struct nt_proc_snapshots {
	struct nt_tape_writer *tape;
	const struct nt_cpu *cpus; /* shared with the kernel side */
	uint32_t n_cpus;
	struct bpf_object *object;
	bool has_memory; /* the readings of the probe memory are wanted too */
	struct nt_energy *energy; /* NULL: not wanted */
	uint64_t flush_lag_max_ns;
	uint64_t first_misses[NT_PROGRAM_COUNT], misses[NT_PROGRAM_COUNT]; /* in the first snapshot and the last */
	bool has_first;
	/* Of the recorder's threads, in the first snapshot, the last that took those of /proc too, and the last. */
	struct nt_own_cpu {
		uint64_t at_ns, cpu_ns;
	} own_first, own_recorded, own_last;
	struct nt_buf text, raw;
};

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t nt_now(void);
/* Reads all clocks at one instant and writes them as a block. 0 or a negative errno. */
int nt_proc_snapshots_clock(struct nt_proc_snapshots *snapshots);
enum nt_proc_snapshots_which { NT_PROC_SNAPSHOTS_OWN = 1, NT_PROC_SNAPSHOTS_ALL = 2 };
/*
 * Takes the recorder's own snapshots, or those of /proc too, and writes them. 0 or a negative errno of writing;
 * a file that is not there is left out.
 */
int nt_proc_snapshots_take(struct nt_proc_snapshots *snapshots, enum nt_proc_snapshots_which which,
			   uint64_t flush_lag_max_ns);
/* The same of the energy counters, and of which package each CPU is of. Without the first, nothing happens. */
int nt_proc_snapshots_energy(struct nt_proc_snapshots *snapshots);
int nt_proc_snapshots_packages(struct nt_proc_snapshots *snapshots);
/* Writes a text on what earlier chunks have (nt_stream_print). */
int nt_proc_snapshots_earlier(struct nt_proc_snapshots *snapshots, const struct nt_buf *text);
/* A sentence on a reading of /proc that is wanted and that this kernel does not have; NULL: it has all. */
const char *nt_proc_snapshots_uncovered(const struct nt_proc_snapshots *snapshots);
/*
 * How many runs of the programs the kernel has left out between the first snapshot and the last, but for those that
 * lose nothing (schema/spared.h); in *most the program
 * that has most of them, and in *of_most how many.
 */
uint64_t nt_proc_snapshots_left_out(const struct nt_proc_snapshots *snapshots, const char **most, uint64_t *of_most);
/* The recorder's cost up to the last snapshot. */
void nt_proc_snapshots_own_cost(const struct nt_proc_snapshots *snapshots, struct nt_own_cost *cost);
void nt_proc_snapshots_release(struct nt_proc_snapshots *snapshots);

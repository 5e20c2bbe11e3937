/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clock.h - matches timestamps of the realtime clock with times of the monotonic one, by the tape's clock snapshots.
 * Pure: numbers in, numbers out. Everything is hostile: no number of a snapshot or a record is trusted.
 *
 * Both clocks are slewed alike, so their difference (the offset, realtime - monotonic) is constant but for steps:
 * somebody sets the clock, or a leap second is inserted. A snapshot knows the offset as well as its readings lie
 * together; all snapshots of the time between two steps (an era) must agree, and together know it to some nanoseconds.
 * Two neighbours that do not agree show that the clock was stepped between them, but not when.
 *
 * A step smaller than a snapshot's uncertainty is not seen. Clocks are slewed, not stepped, for so little.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schema/block.h"

#define NT_CLOCKS_MAX_ERAS 65536 /* snapshots or eras kept; of a forged tape with more steps the rest is left out */
/* Eras whose offsets differ by less are no step of the clock but the unevenness of its readings. */
#define NT_CLOCKS_STEP_NS 1000
/* A packet is not believed to have waited for longer, if the clock's steps leave a shorter time too. */
#define NT_CLOCKS_LONG_NS (1ll << 34)

/* A stretch of time of one offset; at first of one snapshot. */
struct nt_era {
	int64_t first_ns, last_ns; /* monotonic: of its snapshots */
	int64_t low_ns, high_ns; /* the offset lies between */
};

/* Zero-initialised is empty. Owner frees with nt_clocks_release. */
struct nt_clocks {
	struct nt_era *eras; /* after nt_clocks_settle: in order of first_ns */
	size_t n_eras, eras_size;
	bool is_full; /* no more are taken */
};

void nt_clocks_release(struct nt_clocks *clocks);
/* Takes one snapshot, in any order. 0 or -ENOMEM. */
int nt_clocks_add(struct nt_clocks *clocks, const struct nt_clock *snapshot);
/* After the last snapshot, before what stands below. */
void nt_clocks_settle(struct nt_clocks *clocks);

enum nt_late {
	NT_LATE_KNOWN, /* *latency_ns is good to nt_clocks_uncertainty() */
	NT_LATE_LEAST, /* the clock was stepped shortly before, and two times may be meant: *latency_ns is the smaller
			  latency */
	NT_LATE_FUTURE, /* the stamp lies in the future, by more than the uncertainty */
	NT_LATE_JUMPED, /* the clock never showed the stamp: a step went over it */
	NT_LATE_NO_CLOCK /* the tape has no snapshot */
};

/* How long before end_ns (monotonic) the realtime clock showed stamp_ns. *latency_ns is set for KNOWN and LEAST only.
 */
enum nt_late nt_clocks_latency(const struct nt_clocks *clocks, uint64_t end_ns, uint64_t stamp_ns,
			       uint64_t *latency_ns);
/* The offset is known to +- so many nanoseconds, in every era; UINT64_MAX: not at all. */
uint64_t nt_clocks_uncertainty(const struct nt_clocks *clocks);

struct nt_clock_step {
	int64_t after_ns, before_ns; /* monotonic: it was between */
	int64_t change_ns; /* so much was added to the realtime clock */
};
/* The number of steps, and the first `size` of them into `steps`. */
size_t nt_clocks_steps(const struct nt_clocks *clocks, struct nt_clock_step *steps, size_t size);

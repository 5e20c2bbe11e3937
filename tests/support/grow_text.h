/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grow_text.h - the text of a snapshot, with its counters as they would be later. For tapes that are made longer.
 */
#pragma once

#include "schema/block.h"

/* A text, not terminated. */
struct text {
	const char *at;
	size_t size;
};

/*
 * Appends `text` with `times` as much added to each decimal number as it grew from `first` to `last`; what fell is
 * no counter and stays. A number is a word, or what stands behind the "=" of a word. It is the same number in another
 * text if it stands in the same line, and there is the same word, or has the same name before its "=". One that `first`
 * or `last` lacks is 0 there.
 */
void grow_text(struct nt_buf *out, struct text text, struct text first, struct text last, uint64_t times);

/*
 * Appends a text of /proc/softirqs with more[cpu * NT_VEC_COUNT + vector] added to each number of a CPU below n_cpus.
 */
void grow_softirqs(struct nt_buf *out, struct text text, const uint64_t *more, uint32_t n_cpus);

/* Adds to sums[cpu * NT_VEC_COUNT + vector] how much more stands in `last` than in `first`, texts of /proc/softirqs. */
void read_softirqs(int64_t *sums, struct text last, struct text first, uint32_t n_cpus);

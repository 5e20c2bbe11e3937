/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thinning.h - which of many events are recorded: all while they are few, and where they are many, one in a power of
 * two at random. That one stands for so many. So sums by weight are right on average, whatever the rate does: how
 * likely an event is recorded depends on what came before it, and never on itself. Pure: the programs and their test
 * share it.
 */
#pragma once

#include <stdbool.h>

#include "bpf/shared.h"

/* Ends a gap, also one that has not passed, and draws the next. Gives how many events the old one left out. */
static __always_inline __u32 nt_thinning_draw(struct nt_thinning *thinning,
					      const volatile struct nt_thinning_config *to)
{
	const __u32 left_out = thinning->gap - thinning->left;
	const __u64 drawn = to->exponentials[++thinning->at & (NT_GAPS - 1)];

	thinning->gap = thinning->left =
		1 + (__u32)(drawn * to->means[thinning->shift & (NT_THINNING_SHIFTS - 1)] >> 32);
	return left_out;
}

/* The last period is over. One with few records makes the next one finer; one that is long gone says nothing. */
static __always_inline void nt_thinning_next_period(struct nt_thinning *thinning, __u64 now_ns)
{
	if (now_ns - thinning->until_ns >= NT_THINNING_FORGET_NS)
		thinning->shift = 0;
	else if (thinning->shift && thinning->n < NT_THINNING_MANY / 4)
		thinning->shift--;
	thinning->n = 0;
	thinning->until_ns = now_ns + NT_THINNING_PERIOD_NS;
}

/*
 * Whether the event at hand is left out; else 1 << shift is its weight, and nt_thinning_recorded() follows. *counted:
 * the events left out that are known to be, now. `recent_ns`: a time before now that costs nothing to know.
 */
static __always_inline bool nt_thinning_leaves_out(struct nt_thinning *thinning,
						   const volatile struct nt_thinning_config *to, __u64 recent_ns,
						   __u32 *counted)
{
	*counted = 0;
	if (recent_ns >= thinning->until_ns) {
		nt_thinning_next_period(thinning, recent_ns);
		*counted = nt_thinning_draw(thinning, to);
	}
	if (thinning->left <= 1)
		return false;
	thinning->left--;
	return true;
}

/* An event was recorded at now_ns. As many more make the next gaps longer. Gives what nt_thinning_draw() does. */
static __always_inline __u32 nt_thinning_recorded(struct nt_thinning *thinning,
						  const volatile struct nt_thinning_config *to, __u64 now_ns)
{
	if (now_ns >= thinning->until_ns)
		nt_thinning_next_period(thinning, now_ns);
	else if (!(++thinning->n & (NT_THINNING_MANY - 1)) && thinning->shift < NT_THINNING_SHIFTS - 1)
		thinning->shift++;
	return nt_thinning_draw(thinning, to);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * clock.c - see clock.h. A snapshot is an era of its own at first; settling sorts them and unites neighbours that
 * agree.
 */
#include "report/tape/clock.h"

#include <stdlib.h>

#include "report/util/array.h"

/* Times of this size and below can be added and subtracted in threes without leaving 64 bits. */
#define SANE_NS (INT64_MAX / 4)
/* So many eras are looked at for the one in which a stamp was made: a packet does not wait through more steps. */
#define LOOK_BACK 16

void nt_clocks_release(struct nt_clocks *clocks)
{
	free(clocks->eras);
	*clocks = (struct nt_clocks){0};
}

static int by_time(const void *a, const void *b)
{
	const struct nt_era *one = a, *other = b;

	if (one->first_ns != other->first_ns)
		return one->first_ns < other->first_ns ? -1 : 1;
	return (one->last_ns > other->last_ns) - (one->last_ns < other->last_ns);
}

/* Narrows the offset to the bounds of both eras. False: they exclude each other. */
static bool unite(struct nt_era *era, const struct nt_era *next)
{
	int64_t low_ns = era->low_ns > next->low_ns ? era->low_ns : next->low_ns;
	int64_t high_ns = era->high_ns < next->high_ns ? era->high_ns : next->high_ns;

	if (low_ns > high_ns)
		return false;
	era->low_ns = low_ns;
	era->high_ns = high_ns;
	if (next->last_ns > era->last_ns)
		era->last_ns = next->last_ns;
	return true;
}

void nt_clocks_settle(struct nt_clocks *clocks)
{
	size_t n = 0;

	if (clocks->n_eras)
		qsort(clocks->eras, clocks->n_eras, sizeof(*clocks->eras), by_time);
	for (size_t i = 0; i < clocks->n_eras; i++) {
		if (!n || !unite(&clocks->eras[n - 1], &clocks->eras[i]))
			clocks->eras[n++] = clocks->eras[i];
	}
	clocks->n_eras = n;
}

/* Room for one more. 1: there is none, for the snapshots say that the clock was stepped too often. */
static int make_room(struct nt_clocks *clocks)
{
	if (clocks->n_eras == NT_CLOCKS_MAX_ERAS) {
		/* A long recording has many snapshots, but few eras. */
		nt_clocks_settle(clocks);
		clocks->is_full = clocks->n_eras > NT_CLOCKS_MAX_ERAS / 2;
		return clocks->is_full;
	}
	return NT_ROOM(clocks->eras, clocks->eras_size, clocks->n_eras + 1);
}

int nt_clocks_add(struct nt_clocks *clocks, const struct nt_clock *snapshot)
{
	int64_t begin_ns, end_ns;
	int error;

	if (clocks->is_full || snapshot->monotonic_ns > SANE_NS || snapshot->realtime_ns > SANE_NS ||
	    snapshot->uncertainty_ns > SANE_NS)
		return 0;
	error = make_room(clocks);
	if (error)
		return error < 0 ? error : 0;
	/* The realtime clock was read between these; one nanosecond is for the rounding of either. */
	begin_ns = (int64_t)snapshot->monotonic_ns - (int64_t)(snapshot->uncertainty_ns / 2);
	end_ns = begin_ns + (int64_t)snapshot->uncertainty_ns;
	clocks->eras[clocks->n_eras++] = (struct nt_era){
		.first_ns = (int64_t)snapshot->monotonic_ns,
		.last_ns = (int64_t)snapshot->monotonic_ns,
		.low_ns = (int64_t)snapshot->realtime_ns - end_ns - 1,
		.high_ns = (int64_t)snapshot->realtime_ns - begin_ns + 1,
	};
	return 0;
}

/* ---- what is known ---- */

static int64_t offset(const struct nt_era *era)
{
	return era->low_ns + (era->high_ns - era->low_ns) / 2;
}

static uint64_t half_width(const struct nt_era *era)
{
	return ((uint64_t)(era->high_ns - era->low_ns) + 1) / 2;
}

static uint64_t distance(int64_t a, int64_t b)
{
	return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

static bool is_step(const struct nt_era *era, const struct nt_era *next)
{
	return distance(offset(era), offset(next)) >= NT_CLOCKS_STEP_NS;
}

uint64_t nt_clocks_uncertainty(const struct nt_clocks *clocks)
{
	uint64_t worst = clocks->n_eras ? 0 : UINT64_MAX;

	for (size_t i = 0; i < clocks->n_eras; i++) {
		const struct nt_era *era = &clocks->eras[i];
		uint64_t width = half_width(era);

		/* Which of two eras a time between them is of does not matter, if this is said. */
		if (i && !is_step(era - 1, era))
			width += distance(offset(era - 1), offset(era));
		worst = width > worst ? width : worst;
	}
	return worst;
}

size_t nt_clocks_steps(const struct nt_clocks *clocks, struct nt_clock_step *steps, size_t size)
{
	size_t n = 0;

	for (size_t i = 1; i < clocks->n_eras; i++) {
		const struct nt_era *era = &clocks->eras[i];

		if (!is_step(era - 1, era))
			continue;
		if (n < size)
			steps[n] = (struct nt_clock_step){
				.after_ns = era[-1].last_ns,
				.before_ns = era->first_ns,
				.change_ns = offset(era) - offset(era - 1),
			};
		n++;
	}
	return n;
}

/* ---- one stamp ---- */

/* The last era that may have begun by then: its offset was in force at the latest from its first snapshot on, at the
 * earliest from the last snapshot of the era before. */
static size_t last_begun(const struct nt_clocks *clocks, int64_t ns)
{
	return NT_COUNT_BEFORE(clocks->n_eras - 1, i, clocks->eras[i].last_ns > ns);
}

/*
 * Whether the stamp can have been made in this era: at a time before the era's end and after its begin, each taken as
 * far out as can be, and not after the record. *made_ns is that time, in the record's past.
 */
static bool made_in(const struct nt_clocks *clocks, size_t index, int64_t end_ns, int64_t stamp_ns, int64_t *made_ns)
{
	const struct nt_era *era = &clocks->eras[index];
	int64_t at_ns = stamp_ns - offset(era), tolerance_ns = (int64_t)half_width(era);

	*made_ns = at_ns < end_ns ? at_ns : end_ns;
	if (at_ns - tolerance_ns > end_ns)
		return false;
	if (index && at_ns + tolerance_ns < era[-1].last_ns)
		return false;
	return index + 1 == clocks->n_eras || at_ns - tolerance_ns <= era[1].first_ns;
}

/* The times that the eras leave possible. */
struct choice {
	bool found, is_ambiguous;
	int64_t made_ns; /* the latest possible */
};

static void consider(struct choice *choice, int64_t end_ns, int64_t made_ns)
{
	int64_t later_ns = made_ns > choice->made_ns ? made_ns : choice->made_ns;
	int64_t earlier_ns = made_ns > choice->made_ns ? choice->made_ns : made_ns;

	if (!choice->found) {
		*choice = (struct choice){.found = true, .made_ns = made_ns};
		return;
	}
	choice->made_ns = later_ns;
	if (later_ns - earlier_ns >= NT_CLOCKS_STEP_NS && end_ns - earlier_ns < NT_CLOCKS_LONG_NS)
		choice->is_ambiguous = true;
}

/*
 * A stamp was made by the offset of its own time, which is looked for from the record's time backwards. Between the
 * last snapshot of an era and the first of the next either offset may have been in force. If the clock was set forward
 * by more than this stretch, only one of the two gives a time on its era's side. If it was set back, it showed some
 * times twice. Where two times are possible that are both before the record, the smaller latency is taken: packets that
 * wait for as long as clocks are set by are rare.
 */
enum nt_late nt_clocks_latency(const struct nt_clocks *clocks, uint64_t end_ns, uint64_t stamp_ns, uint64_t *latency_ns)
{
	const int64_t end = (int64_t)end_ns, stamp = (int64_t)stamp_ns;
	struct choice choice = {.found = false};
	size_t last;

	if (!clocks->n_eras)
		return NT_LATE_NO_CLOCK;
	if (end_ns > SANE_NS || stamp_ns > SANE_NS)
		return stamp_ns > end_ns ? NT_LATE_FUTURE : NT_LATE_JUMPED;
	last = last_begun(clocks, end);
	for (size_t i = last + 1, looks = 0; i-- > 0 && looks < LOOK_BACK; looks++) {
		int64_t made_ns;

		if (choice.found && end - clocks->eras[i + 1].first_ns >= NT_CLOCKS_LONG_NS)
			break;
		if (made_in(clocks, i, end, stamp, &made_ns))
			consider(&choice, end, made_ns);
	}
	if (choice.found) {
		*latency_ns = (uint64_t)(end - choice.made_ns);
		return choice.is_ambiguous ? NT_LATE_LEAST : NT_LATE_KNOWN;
	}
	/* The era of the record's time did not fit: the stamp is behind the record, or before that era's begin. */
	if (stamp - offset(&clocks->eras[last]) > end)
		return NT_LATE_FUTURE;
	return NT_LATE_JUMPED;
}

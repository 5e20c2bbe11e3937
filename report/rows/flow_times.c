// SPDX-License-Identifier: GPL-2.0-only
/* flow_times.c - see flow_times.h. */
#include "report/rows/flow_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

int nt_flow_times_init(struct nt_flow_times *times, const char *sample, const char *sketch)
{
	int error;

	memset(times, 0, sizeof(*times));
	error = nt_flow_estimates_init(&times->now, sample, sketch);
	return error ? error : nt_flow_estimates_init(&times->all, sample, sketch);
}

void nt_flow_times_release(struct nt_flow_times *times)
{
	nt_flow_estimates_release(&times->now);
	nt_flow_estimates_release(&times->all);
	nt_id_map_release(&times->by_flow);
	free(times->named);
	free(times->flows);
	memset(times, 0, sizeof(*times));
}

/* Which part the time at hand belongs to. */
static int part_of(const struct nt_flow_times *times)
{
	return times->is_open && !times->sketch.cells ? NT_FLOW_OF_SKETCH : NT_FLOW_OF_SAMPLES;
}

/*
 * A flow without a record of a time was sampled there `unnamed` times at most; where records of flows are lost, any
 * sample may have been its own.
 */
static void end_time(struct nt_flow_times *times)
{
	const uint64_t missed = times->sketch.flows ? times->sketch.samples : times->sketch.unnamed;
	const int part = part_of(times);

	if (times->is_open && times->counts) {
		times->missed[part] += missed;
		for (size_t i = 0; i < times->n_named; i++)
			times->flows[times->named[i]].others_missed[part] += missed;
		if (part == NT_FLOW_OF_SKETCH)
			nt_flow_estimates_add_all(&times->all, &times->now);
	}
	times->is_open = false;
	times->n_named = 0;
}

void nt_flow_times_begin(struct nt_flow_times *times, const struct nt_flow_sketch *sketch, bool counts)
{
	end_time(times);
	nt_flow_estimates_clear(&times->now);
	times->sketch = *sketch;
	times->is_open = true;
	times->counts = counts;
}

void nt_flow_times_cell(struct nt_flow_times *times, const struct nt_flow_cell *cell)
{
	if (times->is_open && cell->end_ns == times->sketch.end_ns && times->sketch.cells &&
	    nt_flow_estimates_add(&times->now, cell->cell, cell->packets, cell->bytes))
		times->sketch.cells--;
}

static void add_samples(struct nt_flow_samples *to, const struct nt_flow_samples *more)
{
	to->packets += more->packets;
	to->missed += more->missed;
	to->bytes += more->bytes;
	if (to->most_packets < more->most_packets)
		to->most_packets = more->most_packets;
	if (to->most_bytes < more->most_bytes)
		to->most_bytes = more->most_bytes;
}

static int add_to_sum(struct nt_flow_times *times, uint64_t flow, uint64_t hash, const struct nt_flow_samples *samples)
{
	const int64_t at =
		NT_INDEX(&times->by_flow, flow, times->flows, times->size, times->n, {.flow = flow, .hash = hash});

	if (at < 0 || NT_ROOM(times->named, times->named_size, times->n_named + 1))
		return -ENOMEM;
	add_samples(&times->flows[at].samples[part_of(times)], samples);
	if (times->is_open)
		times->named[times->n_named++] = (size_t)at;
	return 0;
}

int nt_flow_times_count(struct nt_flow_times *times, const struct nt_flow_count *count, uint64_t hash, bool counts,
			struct nt_flow_estimate *out)
{
	const struct nt_flow_samples samples = {count->packets, count->missed, count->bytes, count->most_packets,
						count->most_bytes};

	if (times->is_open && count->end_ns != times->sketch.end_ns)
		end_time(times);
	if (times->is_open && times->sketch.flows)
		times->sketch.flows--;
	nt_flow_estimates_of(&times->now, part_of(times) == NT_FLOW_OF_SKETCH ? hash : 0, &samples, out);
	return counts ? add_to_sum(times, count->flow, hash, &samples) : 0;
}

void nt_flow_times_finish(struct nt_flow_times *times)
{
	end_time(times);
}

static void add_estimate(struct nt_flow_estimate *to, const struct nt_flow_estimate *more)
{
	to->packets += more->packets;
	to->packets_low += more->packets_low;
	to->packets_high += more->packets_high;
	to->bytes += more->bytes;
	to->bytes_low += more->bytes_low;
	to->bytes_high += more->bytes_high;
}

void nt_flow_times_of(struct nt_flow_times *times, size_t i, struct nt_flow_estimate *out)
{
	const struct nt_flow_sum *flow = &times->flows[i];

	memset(out, 0, sizeof(*out));
	for (int part = 0; part < NT_FLOW_PARTS; part++) {
		struct nt_flow_samples samples = flow->samples[part];
		struct nt_flow_estimate estimate;

		samples.missed += times->missed[part] - flow->others_missed[part];
		/* Where it was never sampled nothing tells how large its packets are: elsewhere they were so large. */
		samples.most_packets = flow->samples[!part].most_packets > samples.most_packets
					       ? flow->samples[!part].most_packets
					       : samples.most_packets;
		samples.most_bytes = flow->samples[!part].most_bytes > samples.most_bytes
					     ? flow->samples[!part].most_bytes
					     : samples.most_bytes;
		if (!samples.packets && !samples.missed)
			continue;
		nt_flow_estimates_of(&times->all, part == NT_FLOW_OF_SKETCH ? flow->hash : 0, &samples, &estimate);
		add_estimate(out, &estimate);
	}
}

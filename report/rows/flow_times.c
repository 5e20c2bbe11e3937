// SPDX-License-Identifier: GPL-2.0-only
/* flow_times.c - see flow_times.h. */
#include "report/rows/flow_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

int nt_flow_times_init(struct nt_flow_times *times, const char *sample, const char *sketch)
{
	int error = 0;

	memset(times, 0, sizeof(*times));
	for (int sort = 0; sort < NT_FLOW_KEY_SORTS && !error; sort++) {
		error = nt_flow_estimates_init(&times->keys[sort].now, sample, sketch);
		if (!error)
			error = nt_flow_estimates_init(&times->keys[sort].all, sample, sketch);
	}
	return error;
}

void nt_flow_times_release(struct nt_flow_times *times)
{
	for (int sort = 0; sort < NT_FLOW_KEY_SORTS; sort++) {
		nt_flow_estimates_release(&times->keys[sort].now);
		nt_flow_estimates_release(&times->keys[sort].all);
		free(times->keys[sort].named);
	}
	nt_id_map_release(&times->by_flow);
	free(times->flows);
	memset(times, 0, sizeof(*times));
}

/* NULL: a tape may have any number. */
static struct nt_flow_key_times *key_of(struct nt_flow_times *times, uint8_t sort)
{
	return sort < NT_FLOW_KEY_SORTS ? &times->keys[sort] : NULL;
}

/* Which part the time at hand belongs to. */
static int part_of(const struct nt_flow_key_times *key)
{
	return key->is_open && !key->sketch.cells ? NT_FLOW_OF_SKETCH : NT_FLOW_OF_SAMPLES;
}

/*
 * A flow without a record of a time was sampled there `unnamed` times at most; where records of flows are lost, any
 * sample may have been its own.
 */
static void end_time(struct nt_flow_times *times, struct nt_flow_key_times *key)
{
	const uint64_t missed = key->sketch.flows ? key->sketch.samples : key->sketch.unnamed;
	const int part = part_of(key);

	if (key->is_open && key->counts) {
		key->missed[part] += missed;
		for (size_t i = 0; i < key->n_named; i++)
			times->flows[key->named[i]].others_missed[part] += missed;
		if (part == NT_FLOW_OF_SKETCH)
			nt_flow_estimates_add_all(&key->all, &key->now);
	}
	key->is_open = false;
	key->n_named = 0;
}

void nt_flow_times_begin(struct nt_flow_times *times, const struct nt_flow_sketch *sketch, bool counts)
{
	struct nt_flow_key_times *key = key_of(times, sketch->flags);

	if (!key)
		return;
	end_time(times, key);
	nt_flow_estimates_clear(&key->now);
	key->sketch = *sketch;
	key->is_open = true;
	key->counts = counts;
}

void nt_flow_times_cell(struct nt_flow_times *times, const struct nt_flow_cell *cell)
{
	struct nt_flow_key_times *key = key_of(times, cell->flags);

	if (key && key->is_open && cell->end_ns == key->sketch.end_ns && key->sketch.cells &&
	    nt_flow_estimates_add(&key->now, cell->cell, cell->packets, cell->bytes))
		key->sketch.cells--;
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

static int add_to_sum(struct nt_flow_times *times, const struct nt_flow_count *count, uint64_t hash,
		      const struct nt_flow_samples *samples)
{
	struct nt_flow_key_times *key = key_of(times, count->flags);
	const int64_t at = NT_INDEX(&times->by_flow, count->flow, times->flows, times->size, times->n,
				    {.flow = count->flow, .sort = count->flags, .hash = hash});

	if (at < 0 || NT_ROOM(key->named, key->named_size, key->n_named + 1))
		return -ENOMEM;
	add_samples(&times->flows[at].samples[part_of(key)], samples);
	if (key->is_open)
		key->named[key->n_named++] = (size_t)at;
	return 0;
}

int nt_flow_times_count(struct nt_flow_times *times, const struct nt_flow_count *count, uint64_t hash, bool counts,
			struct nt_flow_estimate *out)
{
	const struct nt_flow_samples samples = {count->packets, count->missed, count->bytes, count->most_packets,
						count->most_bytes};
	struct nt_flow_key_times *key = key_of(times, count->flags);

	if (!key)
		return -EINVAL;
	if (key->is_open && count->end_ns != key->sketch.end_ns)
		end_time(times, key);
	if (key->is_open && key->sketch.flows)
		key->sketch.flows--;
	nt_flow_estimates_of(&key->now, part_of(key) == NT_FLOW_OF_SKETCH ? hash : 0, &samples, out);
	return counts ? add_to_sum(times, count, hash, &samples) : 0;
}

void nt_flow_times_finish(struct nt_flow_times *times)
{
	for (int sort = 0; sort < NT_FLOW_KEY_SORTS; sort++)
		end_time(times, &times->keys[sort]);
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
	struct nt_flow_key_times *key = &times->keys[flow->sort];

	memset(out, 0, sizeof(*out));
	for (int part = 0; part < NT_FLOW_PARTS; part++) {
		struct nt_flow_samples samples = flow->samples[part];
		struct nt_flow_estimate estimate;

		samples.missed += key->missed[part] - flow->others_missed[part];
		/* Where it was never sampled nothing tells how large its packets are: elsewhere they were so large. */
		samples.most_packets = flow->samples[!part].most_packets > samples.most_packets
					       ? flow->samples[!part].most_packets
					       : samples.most_packets;
		samples.most_bytes = flow->samples[!part].most_bytes > samples.most_bytes
					     ? flow->samples[!part].most_bytes
					     : samples.most_bytes;
		if (!samples.packets && !samples.missed)
			continue;
		nt_flow_estimates_of(&key->all, part == NT_FLOW_OF_SKETCH ? flow->hash : 0, &samples, &estimate);
		add_estimate(out, &estimate);
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * owners.c - a lane for each CPU with the owner of every nanosecond (cpu_slice), and beside it how much of the
 * CPU's time the network had, bucket by bucket.
 */
#include <stdio.h>
#include <string.h>

#include "report/export/perfetto/state.h"

/* ---- the share ---- */

static void write_share(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu)
{
	struct nt_owners *owners = &cpu->owners;
	const struct nt_session *session = trace->session;
	int64_t ts = session->start_ts + owners->bucket * session->bucket_ns;
	struct nt_event event;
	uint64_t track;

	if (!owners->known_ns)
		return;
	if (ts < trace->from_ts)
		ts = trace->from_ts;
	track = nt_cpu_track(trace, cpu, NT_TRACK_SHARE);
	nt_event_begin(&event, &trace->packets, &trace->marks, ts, NT_EVENT_COUNTER, track);
	nt_proto_double(event.proto, NT_EVENT_DOUBLE_COUNTER_VALUE,
			100.0 * (double)owners->net_ns / (double)owners->known_ns);
	nt_event_end(&event);
}

/*
 * Adds a stretch of time to its buckets, each of which is written when the next begins. Of several that it fills whole
 * the first and the last say it all: there may be as many as a damaged tape likes.
 */
static void add_share(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, int64_t begin, int64_t end,
		      enum nt_owner owner)
{
	struct nt_owners *owners = &cpu->owners;
	const int64_t start = trace->session->start_ts, width = trace->session->bucket_ns;
	const bool is_known = owner != NT_OWNER_UNCOVERED && owner != NT_OWNER_OFFLINE;

	while (begin < end) {
		const int64_t bucket = (begin - start) / width;
		const int64_t bucket_end = end - start > (bucket + 1) * width ? start + (bucket + 1) * width : end;

		const bool is_whole = bucket_end - begin == width;

		if (bucket != owners->bucket) {
			write_share(trace, cpu);
			owners->bucket = bucket;
			owners->net_ns = owners->known_ns = 0;
		}
		if (is_known)
			owners->known_ns += bucket_end - begin;
		if (NT_NETWORK_OWNERS >> owner & 1)
			owners->net_ns += bucket_end - begin;
		begin = bucket_end;
		if (is_whole && (end - begin) / width > 1)
			begin += ((end - begin) / width - 1) * width;
	}
}

/* ---- the lane ---- */

static void write_slice(struct nt_perfetto *trace, struct nt_owners *owners, int64_t begin, int64_t end,
			const char *owner)
{
	struct nt_event event;

	nt_event_begin(&event, &trace->packets, &owners->lane, begin, NT_EVENT_BEGIN, 0);
	nt_event_name(&event, owner);
	nt_event_end(&event);
	nt_event_begin(&event, &trace->packets, &owners->lane, end, NT_EVENT_END, 0);
	nt_event_end(&event);
}

static int take_slice(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, DUR, OWNER, UTID };
	const char *owner = nt_text(values[OWNER], "");
	struct nt_owners *owners = &cpu->owners;
	struct nt_perfetto_thread *thread = NULL;
	int64_t begin, end;

	if (!nt_perfetto_clip(trace, nt_integer(values[TS], -1), nt_integer(values[DUR], -1), &begin, &end))
		return 0;
	if (begin < owners->at_ts)
		return nt_perfetto_disorder(trace, "cpu_slice");
	owners->lane.id = NT_SEQUENCE_OWNERS + cpu->number;
	owners->lane.track = nt_cpu_track(trace, cpu, NT_TRACK_OWNER);
	add_share(trace, cpu, begin, end, nt_owner_number(owner));
	owners->at_ts = end;
	/* The lane shows all of it, or what was while the process that was asked for was on the CPU. */
	if (trace->selection->process && nt_thread_if(trace, values[UTID], &thread))
		return -1;
	if (!trace->selection->process || (thread && thread->is_selected))
		write_slice(trace, owners, begin, end, owner);
	return 0;
}

void nt_owners_finish(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu)
{
	write_share(trace, cpu);
}

const struct nt_perfetto_reader nt_owners_readers[] = {
	{"cpu_slice", {"ts", "dur", "owner", "utid"}, .take_of_cpu = take_slice},
	{0},
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * disks.c - requests to block devices. Many of a device are at hand at once, and slices of one track must not overlap:
 * so each device has as many tracks as it needs, of one name, which Perfetto shows as one.
 */
#include <stdlib.h>
#include <string.h>

#include "report/export/perfetto/state.h"
#include "report/util/array.h"

enum { TS, DUR, DEVICE, OP, BYTES, QUEUE_NS, PAYER, UTID, RESULT, FLAGS };

void nt_disks_release(struct nt_disks *disks)
{
	nt_texts_release(&disks->names);
	free(disks->lanes);
	*disks = (struct nt_disks){0};
}

/*
 * A track of the device that has no slice after `begin`. Rows come by their ends, as far as they are of one CPU: so a
 * device gets about as many tracks for each CPU as it has requests at a time. NULL: out of memory.
 */
static struct nt_disk_lane *lane_of(struct nt_perfetto *trace, const char *name, int64_t begin)
{
	struct nt_disks *disks = &trace->disks;
	struct nt_disk_lane *lane;
	bool is_new;
	const uint32_t device = nt_texts_number(&disks->names, name, &is_new);

	if (!device)
		return NULL;
	for (size_t i = 0; i < disks->n_lanes; i++)
		if (disks->lanes[i].device == device && disks->lanes[i].end <= begin)
			return &disks->lanes[i];
	if (NT_ROOM(disks->lanes, disks->lanes_size, disks->n_lanes + 1))
		return NULL;
	nt_perfetto_group(trace, NT_TRACK_OF_DISKS);
	lane = &disks->lanes[disks->n_lanes++];
	*lane = (struct nt_disk_lane){.device = device, .track = NT_TRACK_OTHERS + trace->n_tracks++};
	nt_track(&trace->packets, lane->track, NT_TRACK_OF_DISKS, name, device);
	return lane;
}

static void put_request(struct nt_event *event, const struct nt_perfetto_thread *thread,
			const struct nt_value *const *values)
{
	nt_event_name(event, nt_text(values[OP], ""));
	nt_event_put_integer(event, "bytes", values[BYTES]);
	nt_event_put_integer(event, "queue_ns", values[QUEUE_NS]);
	nt_event_put_text(event, "payer", values[PAYER]);
	if (thread) {
		nt_event_text(event, "thread", thread->name);
		nt_event_integer(event, "tid", thread->tid);
	}
	nt_event_put_text(event, "result", values[RESULT]);
	nt_event_put_text(event, "flags", values[FLAGS]);
}

/* What was never issued has no time at the device: it is left out. */
static int take_request(struct nt_perfetto *trace, const struct nt_value *const *values)
{
	struct nt_perfetto_thread *thread;
	struct nt_disk_lane *lane;
	struct nt_event event;
	int64_t begin, end;

	if (strstr(nt_text(values[FLAGS], ""), "unissued"))
		return 0;
	if (nt_thread_if(trace, values[UTID], &thread))
		return -1;
	if (trace->selection->process && (!thread || !thread->is_selected))
		return 0;
	if (!nt_perfetto_clip(trace, nt_integer(values[TS], -1), nt_integer(values[DUR], -1), &begin, &end))
		return 0;
	lane = lane_of(trace, nt_text(values[DEVICE], "no device"), begin);
	if (!lane)
		return nt_perfetto_nomem(trace);
	lane->end = end;
	nt_event_begin(&event, &trace->packets, &trace->marks, begin, NT_EVENT_BEGIN, lane->track);
	put_request(&event, thread, values);
	nt_event_end(&event);
	nt_event_begin(&event, &trace->packets, &trace->marks, end, NT_EVENT_END, lane->track);
	nt_event_end(&event);
	return 0;
}

const struct nt_perfetto_reader nt_disks_readers[] = {
	{"block_io",
	 {"ts", "dur", "device", "op", "bytes", "queue_ns", "payer", "utid", "result", "flags"},
	 .take = take_request},
	{0},
};

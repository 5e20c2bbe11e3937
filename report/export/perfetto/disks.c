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
	for (size_t i = 0; i < disks->n_disks; i++)
		free(disks->disks[i].lanes);
	free(disks->disks);
	nt_texts_release(&disks->names);
	*disks = (struct nt_disks){0};
}

/* NULL: out of memory. */
static struct nt_disk *disk_of(struct nt_disks *disks, const char *name)
{
	bool is_new;
	const uint32_t number = nt_texts_number(&disks->names, name, &is_new);

	if (!number || (is_new && NT_ROOM(disks->disks, disks->disks_size, number)))
		return NULL;
	if (is_new)
		disks->disks[disks->n_disks++] = (struct nt_disk){0};
	return &disks->disks[number - 1];
}

/* The first lane got a later end: it goes to its place in the heap, where each lane ends before the two below it. */
static void sift_down(struct nt_disk_lane *lanes, size_t n)
{
	for (size_t at = 0, next; (next = 2 * at + 1) < n; at = next) {
		const struct nt_disk_lane lane = lanes[at];

		if (next + 1 < n && lanes[next + 1].end < lanes[next].end)
			next++;
		if (lane.end <= lanes[next].end)
			return;
		lanes[at] = lanes[next];
		lanes[next] = lane;
	}
}

static void sift_up(struct nt_disk_lane *lanes, size_t at)
{
	for (size_t above; at && lanes[above = (at - 1) / 2].end > lanes[at].end; at = above) {
		const struct nt_disk_lane lane = lanes[at];

		lanes[at] = lanes[above];
		lanes[above] = lane;
	}
}

/*
 * A track of the device for a slice: one whose last slice has ended by then, else a new one. Rows come by their ends,
 * as far as they are of one CPU: so a device gets about as many for each CPU as it has requests at a time. 0: out of
 * memory.
 */
static uint64_t track_for(struct nt_perfetto *trace, const char *name, int64_t begin, int64_t end)
{
	struct nt_disk *disk = disk_of(&trace->disks, name);
	uint64_t track;

	if (!disk)
		return 0;
	if (disk->n_lanes && disk->lanes[0].end <= begin) {
		track = disk->lanes[0].track;
		disk->lanes[0].end = end;
		sift_down(disk->lanes, disk->n_lanes);
		return track;
	}
	if (NT_ROOM(disk->lanes, disk->lanes_size, disk->n_lanes + 1))
		return 0;
	nt_perfetto_group(trace, NT_TRACK_OF_DISKS);
	track = NT_TRACK_OTHERS + trace->n_tracks++;
	nt_track(&trace->packets, track, NT_TRACK_OF_DISKS, name, (uint32_t)(disk - trace->disks.disks) + 1);
	disk->lanes[disk->n_lanes] = (struct nt_disk_lane){.end = end, .track = track};
	sift_up(disk->lanes, disk->n_lanes++);
	return track;
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
	struct nt_event event;
	int64_t begin, end;
	uint64_t track;

	if (strstr(nt_text(values[FLAGS], ""), "unissued"))
		return 0;
	if (nt_thread_if(trace, values[UTID], &thread))
		return -1;
	if (trace->selection->process && (!thread || !thread->is_selected))
		return 0;
	if (!nt_perfetto_clip(trace, nt_integer(values[TS], -1), nt_integer(values[DUR], -1), &begin, &end))
		return 0;
	track = track_for(trace, nt_text(values[DEVICE], "no device"), begin, end);
	if (!track)
		return nt_perfetto_nomem(trace);
	nt_event_begin(&event, &trace->packets, &trace->marks, begin, NT_EVENT_BEGIN, track);
	put_request(&event, thread, values);
	nt_event_end(&event);
	nt_event_begin(&event, &trace->packets, &trace->marks, end, NT_EVENT_END, track);
	nt_event_end(&event);
	return 0;
}

const struct nt_perfetto_reader nt_disks_readers[] = {
	{"block_io",
	 {"ts", "dur", "device", "op", "bytes", "queue_ns", "payer", "utid", "result", "flags"},
	 .take = take_request},
	{0},
};

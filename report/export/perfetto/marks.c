// SPDX-License-Identifier: GPL-2.0-only
/*
 * marks.c - the host's own counters; softirqs that wait; losses: ranges of time, and the number of lost
 * records so far; and that the recording is not whole: one range for that, and ranges of what is missing from the tape.
 */
#include <stdio.h>
#include <string.h>

#include "report/export/perfetto/state.h"
#include "report/util/array.h"
#include "schema/kind.h"

/* The track of this name, described at its first use; *is_new says so. 0: out of memory. */
static uint64_t track_of(struct nt_perfetto *trace, const char *name, bool *is_new)
{
	const uint32_t number = nt_texts_number(&trace->mark_names, name, is_new);

	if (!number || !*is_new)
		return number ? trace->mark_tracks[number - 1] : 0;
	if (NT_ROOM(trace->mark_tracks, trace->mark_tracks_size, number))
		return 0;
	return trace->mark_tracks[number - 1] = NT_TRACK_OTHERS + trace->n_tracks++;
}

/* ---- the host's counters ---- */

/* Which counters of a source are shown, and how their tracks are named. */
static const struct source {
	const char *name;
	const char *prefix; /* of the track's name */
	const char *counters[9]; /* the first is NULL: all */
} sources[] = {
	{"/proc/net/softnet_stat", "softnet ", {"processed", "dropped", "time_squeeze"}},
	{"/proc/net/snmp",
	 "",
	 {"Ip.InReceives", "Ip.OutRequests", "Udp.InDatagrams", "Udp.OutDatagrams", "Udp.InErrors", "Udp.RcvbufErrors",
	  "Tcp.InSegs", "Tcp.OutSegs", "Tcp.RetransSegs"}},
	{"/proc/net/sockstat", "pages of ", {"TCP.mem", "UDP.mem"}},
	{"/proc/pressure/cpu", "pressure cpu ", {NULL}},
	{"/proc/pressure/io", "pressure io ", {NULL}},
	{"/proc/pressure/memory", "pressure memory ", {NULL}},
	{"/proc/pressure/irq", "pressure irq ", {NULL}},
	{"/sys/class/powercap", "energy uJ ", {NULL}},
};

/* NULL: it is not shown. */
static const struct source *source_of(const char *source, const char *name)
{
	const size_t found = NT_FIRST(NT_COUNT(sources), i, !strcmp(source, sources[i].name));
	const struct source *shown = &sources[found];

	if (found == NT_COUNT(sources))
		return NULL;
	return !shown->counters[0] || NT_ANY(NT_COUNT(shown->counters), i,
					     shown->counters[i] && !strcmp(name, shown->counters[i]))
		       ? shown
		       : NULL;
}

/* A snapshot was made between two times: the counter had the value by the second. */
static int take_counter(struct nt_perfetto *trace, const struct nt_value *const *values)
{
	enum { TS_END, SOURCE, CPU, NAME, VALUE };
	const char *name = nt_text(values[NAME], "");
	const struct source *source = source_of(nt_text(values[SOURCE], ""), name);
	const int64_t ts = nt_integer(values[TS_END], -1);
	struct nt_event event;
	char full[128];
	uint64_t track;
	bool is_new;

	if (!source || !nt_perfetto_has(trace, ts))
		return 0;
	if (nt_is_there(values[CPU]) && !nt_selection_has_cpu(trace->selection, (uint32_t)nt_integer(values[CPU], 0)))
		return 0;
	if (nt_is_there(values[CPU]))
		snprintf(full, sizeof(full), "%s%s, CPU %lld", source->prefix, name,
			 (long long)nt_integer(values[CPU], 0));
	else
		snprintf(full, sizeof(full), "%s%s", source->prefix, name);
	track = track_of(trace, full, &is_new);
	if (!track)
		return nt_perfetto_nomem(trace);
	if (is_new) {
		nt_perfetto_group(trace, NT_TRACK_OF_COUNTERS);
		nt_counter_track(&trace->packets, track, NT_TRACK_OF_COUNTERS, full, NULL);
	}
	nt_event_begin(&event, &trace->packets, &trace->marks, ts, NT_EVENT_COUNTER, track);
	nt_proto_uint(event.proto, NT_EVENT_COUNTER_VALUE, (uint64_t)nt_integer(values[VALUE], 0));
	nt_event_end(&event);
	return 0;
}

/* ---- softirqs that wait ---- */

/* Waits of one vector on one CPU never overlap: each such pair has its track. */
static int take_wait(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, DUR, VEC, RAISED_IN, CONTEXT };
	const char *vec = nt_text(values[VEC], "");
	struct nt_event event;
	int64_t begin, end;
	char name[64];
	uint64_t track;
	bool is_new;

	/* They are nobody's. */
	if (trace->selection->process ||
	    !nt_perfetto_clip(trace, nt_integer(values[TS], -1), nt_integer(values[DUR], -1), &begin, &end))
		return 0;
	nt_perfetto_group(trace, NT_TRACK_OF_WAITS);
	snprintf(name, sizeof(name), "CPU %u: %.16s waits", cpu->number, vec);
	track = track_of(trace, name, &is_new);
	if (!track)
		return nt_perfetto_nomem(trace);
	if (is_new)
		nt_track(&trace->packets, track, NT_TRACK_OF_WAITS, name, cpu->number + 1);
	nt_event_begin(&event, &trace->packets, &trace->marks, begin, NT_EVENT_BEGIN, track);
	nt_event_name(&event, vec);
	if (nt_is_there(values[RAISED_IN]))
		nt_event_text(&event, "raised_in", nt_text(values[RAISED_IN], ""));
	nt_event_text(&event, "context", nt_text(values[CONTEXT], ""));
	nt_event_end(&event);
	nt_event_begin(&event, &trace->packets, &trace->marks, end, NT_EVENT_END, track);
	nt_event_end(&event);
	return 0;
}

/* ---- losses ---- */

static bool is_loose(const char *kind)
{
	return NT_ANY(NT_KIND_MAX, i, nt_kind_is_loose(i) && !strcmp(nt_kind(i)->name, kind));
}

static void write_range(struct nt_perfetto *trace, uint64_t track, int64_t begin, int64_t end, const char *kind,
			const struct nt_value *count, const struct nt_value *why)
{
	struct nt_event event;
	char name[80];

	snprintf(name, sizeof(name), "lost: %.64s", kind);
	nt_event_begin(&event, &trace->packets, &trace->marks, begin, NT_EVENT_BEGIN, track);
	nt_event_name(&event, name);
	if (nt_is_there(count))
		nt_event_integer(&event, "count", nt_integer(count, 0));
	nt_event_text(&event, "why", nt_text(why, ""));
	nt_event_end(&event);
	nt_event_begin(&event, &trace->packets, &trace->marks, end, NT_EVENT_END, track);
	nt_event_end(&event);
}

/*
 * How many records of the CPU were lost so far. Ranges of different kinds overlap, and the one that comes later may end
 * earlier: the count is told of no earlier time than before, or it would seem to go back.
 */
static void write_lost(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, int64_t ts)
{
	uint64_t track = nt_cpu_track(trace, cpu, NT_TRACK_LOST);
	struct nt_event event;

	if (ts > cpu->lost_ts)
		cpu->lost_ts = ts;
	nt_event_begin(&event, &trace->packets, &trace->marks, cpu->lost_ts, NT_EVENT_COUNTER, track);
	nt_proto_uint(event.proto, NT_EVENT_COUNTER_VALUE, (uint64_t)cpu->lost);
	nt_event_end(&event);
}

/*
 * The part of a range that was asked for. Ranges of loose records may begin and end outside the session, as these do:
 * their begin decides.
 */
static bool clip_range(const struct nt_perfetto *trace, int64_t ts, int64_t dur, const char *kind, int64_t *begin,
		       int64_t *end)
{
	if (!is_loose(kind))
		return nt_perfetto_clip(trace, ts, dur, begin, end);
	*begin = ts;
	if (dur < 0 || !nt_perfetto_has(trace, ts) || __builtin_add_overflow(ts, dur, end))
		return false;
	if (*end > trace->session->end_ts + NT_PERFETTO_NEAR_NS)
		*end = trace->session->end_ts + NT_PERFETTO_NEAR_NS;
	return true;
}

/* A stretch in which records of several kinds are missing comes once for each. */
static int add_missing(struct nt_perfetto *trace, const struct nt_perfetto_cpu *cpu, int64_t ts, int64_t begin,
		       int64_t end, const char *why)
{
	const struct nt_perfetto_missing *last = trace->n_missing ? &trace->missing[trace->n_missing - 1] : NULL;
	struct nt_perfetto_missing *missing;

	if (begin >= end || (last && last->cpu == cpu->number && last->ts == ts))
		return 0;
	if (NT_ROOM(trace->missing, trace->missing_size, trace->n_missing + 1))
		return nt_perfetto_nomem(trace);
	missing = &trace->missing[trace->n_missing++];
	*missing = (struct nt_perfetto_missing){.cpu = cpu->number, .ts = ts, .begin = begin, .end = end};
	snprintf(missing->why, sizeof(missing->why), "%s", why);
	/* Of a database that is nobody's recording, as much as can be told. */
	if (__builtin_add_overflow(trace->whole.touched_ns, end - begin, &trace->whole.touched_ns))
		trace->whole.touched_ns = INT64_MAX;
	return 0;
}

/* Ranges of one kind on one CPU never overlap, those of different kinds may: each has its track. */
static int take_loss(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, const struct nt_value *const *values)
{
	enum { TS, DUR, KIND, COUNT, WHY };
	const char *kind = nt_text(values[KIND], "");
	const int64_t count = nt_integer(values[COUNT], 0);
	int64_t begin, end;
	char name[96];
	uint64_t track;
	bool is_new;

	if (!clip_range(trace, nt_integer(values[TS], -1), nt_integer(values[DUR], -1), kind, &begin, &end))
		return 0;
	nt_perfetto_group(trace, NT_TRACK_OF_LOSSES);
	snprintf(name, sizeof(name), "CPU %u: %.64s", cpu->number, kind);
	track = track_of(trace, name, &is_new);
	if (!track)
		return nt_perfetto_nomem(trace);
	if (is_new)
		nt_track(&trace->packets, track, NT_TRACK_OF_LOSSES, name, cpu->number + 1);
	write_range(trace, track, begin, end, kind, values[COUNT], values[WHY]);
	if (count > 0 && count < INT64_MAX - cpu->lost)
		cpu->lost += count;
	write_lost(trace, cpu, end);
	if (is_loose(kind))
		return 0;
	cpu->sched.bundle.has_lost = true;
	return nt_whole_is_missing(nt_text(values[WHY], ""))
		       ? add_missing(trace, cpu, nt_integer(values[TS], -1), begin, end, nt_text(values[WHY], ""))
		       : 0;
}

/* ---- what is missing from the tape ---- */

static int take_problem(struct nt_perfetto *trace, const struct nt_value *const *values)
{
	struct nt_whole *whole = &trace->whole;

	if (!whole->n_problems++)
		snprintf(whole->first, sizeof(whole->first), "%s", nt_text(values[0], ""));
	return 0;
}

static void settle_whole(struct nt_perfetto *trace)
{
	const struct nt_session *session = trace->session;
	struct nt_whole *whole = &trace->whole;

	whole->is_whole = session->is_complete && !whole->n_problems;
	whole->has_touched = true;
	whole->open_end = session->open_end && trace->to_ts == session->end_ts;
	if (trace->selection->n_cpus ||
	    __builtin_mul_overflow(trace->to_ts - trace->from_ts, (int64_t)session->cpus, &whole->of_ns))
		whole->of_ns = 0;
}

/* All of what is exported, under a name that says why it is not all. */
static int write_not_whole(struct nt_perfetto *trace)
{
	const struct nt_whole *whole = &trace->whole;
	char name[NT_WHOLE_MAX];
	struct nt_event event;
	uint64_t track;
	bool is_new;

	nt_perfetto_group(trace, NT_TRACK_OF_MISSING);
	track = track_of(trace, "the recording", &is_new);
	if (!track)
		return nt_perfetto_nomem(trace);
	nt_track(&trace->packets, track, NT_TRACK_OF_MISSING, "the recording", 1);
	nt_event_begin(&event, &trace->packets, &trace->marks, trace->from_ts, NT_EVENT_BEGIN, track);
	nt_event_name(&event, nt_whole_text(whole, name));
	nt_event_integer(&event, "problems", whole->n_problems);
	nt_event_text(&event, "first", whole->first);
	nt_event_integer(&event, "touched_ns", whole->touched_ns);
	nt_event_integer(&event, "open_end", whole->open_end);
	nt_event_end(&event);
	nt_event_begin(&event, &trace->packets, &trace->marks, trace->to_ts, NT_EVENT_END, track);
	nt_event_end(&event);
	return 0;
}

static int write_missing(struct nt_perfetto *trace, const struct nt_perfetto_missing *missing)
{
	struct nt_event event;
	char name[64];
	uint64_t track;
	bool is_new;

	snprintf(name, sizeof(name), "CPU %u: missing", missing->cpu);
	track = track_of(trace, name, &is_new);
	if (!track)
		return nt_perfetto_nomem(trace);
	if (is_new)
		nt_track(&trace->packets, track, NT_TRACK_OF_MISSING, name, missing->cpu + 2);
	nt_event_begin(&event, &trace->packets, &trace->marks, missing->begin, NT_EVENT_BEGIN, track);
	nt_event_name(&event, missing->why);
	nt_event_end(&event);
	nt_event_begin(&event, &trace->packets, &trace->marks, missing->end, NT_EVENT_END, track);
	nt_event_end(&event);
	return 0;
}

int nt_marks_finish(struct nt_perfetto *trace)
{
	int error;

	settle_whole(trace);
	if (trace->whole.is_whole)
		return 0;
	error = write_not_whole(trace);
	for (size_t i = 0; i < trace->n_missing && !error; i++)
		error = write_missing(trace, &trace->missing[i]);
	return error;
}

const struct nt_perfetto_reader nt_marks_readers[] = {
	{"proc_counter", {"ts_end", "source", "cpu", "name", "value"}, .take = take_counter},
	{"softirq_raise", {"ts", "dur", "vec", "raised_in", "context"}, .take_of_cpu = take_wait},
	{"loss", {"ts", "dur", "kind", "count", "why"}, .take_of_cpu = take_loss},
	{"problem", {"text"}, .take = take_problem},
	{0},
};

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h - the state of an export to Perfetto, and what its files give each other. Private to this folder.
 *
 * packets.c: packets; deflater.c: their compression; fields.h: the numbers of Perfetto's fields; events.c: events on
 * tracks, with their arguments; names.c: threads, processes, sockets; head.c: clocks, the system, the process tree;
 * bundle.c: bundles of ftrace events; sched.c: the scheduler and interrupts as such events; owners.c: a lane for each
 * CPU with its owners; ops.c: socket operations, packets, flows; marks.c: counters, softirqs that wait, losses, and
 * what is missing; payers.c: who pays for net_rx; stacks.c: stack samples; disks.c: requests to block
 * devices; memory.c: memory and page faults; perfetto.c: which row goes where.
 *
 * Functions give 0, or -1 and a sentence in trace->error; what only writes gives nothing, for packets keep their
 * failures until the end (packets.h).
 */
#pragma once

#include <stdio.h>

#include "report/export/perfetto/fields.h"
#include "report/export/perfetto/packets.h"
#include "report/query/selection.h"
#include "report/query/whole.h"
#include "report/util/id_map.h"
#include "report/util/labels.h"
#include "report/util/texts.h"

#define NT_PERFETTO_MAX_CPUS 1024 /* Perfetto refuses the whole trace for a CPU of this number or a higher one */

/* Samples are told of moments just before the session's start and after its end, too; of none further away than this.
 */
#define NT_PERFETTO_NEAR_NS 1000000000

/* Numbers that no thread has: the kernel gives none above 2^22. */
#define NT_TID_UNCOVERED 0x40000000u /* + the CPU: who had it is not known */
#define NT_TID_OTHERS 0x41000000u /* + the CPU: processes that were not asked for */
#define NT_TID_UNKNOWN 0x50000000u /* + a number: a thread of which the tape has no more */
#define NT_PID_MADE_UP 0x40000000u /* the process of all these */

/* Tracks. Those of a CPU: + the CPU. */
enum nt_perfetto_track {
	NT_TRACK_OF_OWNERS = 1, /* the group of all lanes */
	NT_TRACK_OF_SHARES,
	NT_TRACK_OF_PACKETS,
	NT_TRACK_OF_LOSSES,
	NT_TRACK_OF_COUNTERS,
	NT_TRACK_OF_PAYERS,
	NT_TRACK_OF_MISSING,
	NT_TRACK_OF_WAITS,
	NT_TRACK_OF_DISKS,
	NT_TRACK_OWNER = 0x400,
	NT_TRACK_SHARE = 0x800,
	NT_TRACK_SAMPLES = 0xc00,
	NT_TRACK_LOST = 0x1000,
	NT_TRACK_NO_THREAD = 0x1400,
	NT_TRACK_OTHERS = 0x1800 /* + a number: threads, processes, counters, losses */
};

/* Sequences of packets. Those of a CPU: + the CPU. */
enum nt_perfetto_sequence {
	NT_SEQUENCE_HEAD = 1,
	NT_SEQUENCE_MARKS,
	NT_SEQUENCE_BUNDLES,
	NT_SEQUENCE_STACKS,
	NT_SEQUENCE_MEMORY,
	NT_SEQUENCE_OWNERS = 0x400,
	NT_SEQUENCE_EVENTS = 0x800
};

/* ---- events.c ---- */

/* Events whose packets share a clock and the numbers of texts. */
struct nt_sequence {
	uint32_t id;
	uint64_t track; /* of events that name none; 0: they all do */
	bool has_begun;
	int64_t at_ts; /* the clock of the sequence: the time of its last event that did not lie before it */
	struct nt_texts names, annotation_names, texts;
	struct nt_proto interned; /* of the packet being written */
};

enum nt_event_type { NT_EVENT_BEGIN = 1, NT_EVENT_END = 2, NT_EVENT_INSTANT = 3, NT_EVENT_COUNTER = 4 };

/* An event that is being written. */
struct nt_event {
	struct nt_sequence *sequence;
	struct nt_packets *packets;
	struct nt_proto *proto;
	size_t packet, event;
};

void nt_sequence_release(struct nt_sequence *sequence);
/* `track` 0: the sequence's. */
void nt_event_begin(struct nt_event *event, struct nt_packets *packets, struct nt_sequence *sequence, int64_t ts,
		    enum nt_event_type type, uint64_t track);
void nt_event_name(struct nt_event *event, const char *name);
void nt_event_integer(struct nt_event *event, const char *name, int64_t value);
void nt_event_text(struct nt_event *event, const char *name, const char *text);
/* The same of values that may not be there; and of a text that may be empty: then nothing is put. */
void nt_event_put_integer(struct nt_event *event, const char *name, const struct nt_value *value);
void nt_event_put_text(struct nt_event *event, const char *name, const struct nt_value *value);
void nt_event_end(struct nt_event *event);

/* A track that is described. `parent` and `rank` may be 0. The message is open: what else belongs to it may be added.
 */
struct nt_proto *nt_track_begin(struct nt_packets *packets, uint64_t uuid, uint64_t parent, const char *name,
				uint32_t rank, size_t marks[2]);
void nt_track_end(struct nt_packets *packets, const size_t marks[2]);
void nt_track(struct nt_packets *packets, uint64_t uuid, uint64_t parent, const char *name, uint32_t rank);
void nt_counter_track(struct nt_packets *packets, uint64_t uuid, uint64_t parent, const char *name, const char *unit);

/* ---- names.c ---- */

struct nt_perfetto_thread {
	uint64_t utid;
	int64_t upid; /* -1: not known */
	uint32_t tid, tgid;
	char *name;
	int64_t start_ts; /* -1: not within the recording */
	int priority; /* as it was last; 120 before that is known */
	bool is_selected;
	uint64_t track; /* 0: not described yet */
};

struct nt_perfetto_process {
	uint64_t upid;
	int64_t pid, ppid; /* -1: not known */
	char *name; /* NULL: not known */
	int64_t cgroup_id; /* -1: not known */
	bool is_selected;
};

struct nt_names {
	struct nt_id_map thread_numbers, process_numbers; /* index + 1 */
	struct nt_perfetto_thread **threads;
	struct nt_perfetto_process *processes;
	size_t n_threads, threads_size, n_processes, processes_size;
	struct nt_labels cgroups, sockets, devices;
	struct nt_id_map selected_sockets; /* of operations of the process that was asked for: 1 */
	struct nt_perfetto_thread *last; /* found last */
	uint32_t n_unknown;
};

struct nt_perfetto;
struct nt_perfetto_cpu;

void nt_names_release(struct nt_names *names);
/* All names are read: sets each thread's process, and the selected ones. False: no process is the one that was asked
 * for.
 */
bool nt_names_settle(struct nt_perfetto *trace);
/* The thread, one that is made up where the recording knows no more than its number. NULL: out of memory. */
struct nt_perfetto_thread *nt_thread_of(struct nt_perfetto *trace, int64_t utid);
/* The same of a value that may not be there: then *thread is NULL. */
int nt_thread_if(struct nt_perfetto *trace, const struct nt_value *utid, struct nt_perfetto_thread **thread);
const struct nt_perfetto_process *nt_process_of(struct nt_perfetto *trace, int64_t upid);

/* ---- bundle.c ---- */

/* The events of a CPU that are not written yet. */
struct nt_bundle {
	struct nt_proto events; /* one by one */
	struct nt_proto switches[5]; /* timestamps, states, pids, priorities, names; each packed, as wakings are */
	struct nt_proto wakings[6]; /* timestamps, pids, CPUs, priorities, names, flags */
	struct nt_texts names; /* of both */
	struct nt_proto name_table;
	int64_t switch_ns, waking_ns; /* of the last one; the first counts from 0 */
	uint32_t n; /* switches and wakings */
	bool has_lost;
};

/* A thread as switches and wake-ups tell of it. */
struct nt_ftrace_task {
	uint32_t tid, priority;
	const char *name;
};

void nt_bundle_release(struct nt_bundle *bundle);
/* A switch to `next`; the thread before leaves the CPU in this state. */
void nt_bundle_switch(struct nt_perfetto *trace, struct nt_bundle *bundle, int64_t ts, uint32_t state,
		      const struct nt_ftrace_task *next);
void nt_bundle_waking(struct nt_perfetto *trace, struct nt_bundle *bundle, int64_t ts,
		      const struct nt_ftrace_task *task, uint32_t target, uint32_t flags);
/* An event of its own, in `proto`: between these the fields of its message `field` are written. */
void nt_ftrace_begin(struct nt_perfetto *trace, struct nt_proto *proto, int64_t ts, uint32_t tid, uint32_t field,
		     size_t marks[2]);
void nt_ftrace_end(struct nt_proto *proto, const size_t marks[2]);
/* Writes what there is of a CPU, and its bundle is empty. */
void nt_bundle_write(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu);
void nt_bundle_write_if_full(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu);
/* A bundle of events that are written at once, between these. */
size_t nt_bundle_begin(struct nt_perfetto *trace, uint32_t cpu, size_t *packet);
void nt_bundle_end(struct nt_perfetto *trace, size_t packet, size_t bundle);

/* ---- sched.c ---- */

struct nt_sched {
	struct nt_bundle bundle;
	bool has_begun;
	int64_t first_ts; /* of the first switch */
	int64_t at_ts; /* so far it is known who was on the CPU */
	uint32_t state; /* in which the last one left it */
	bool is_others; /* processes that were not asked for */
};

/* ---- owners.c ---- */

struct nt_owners {
	struct nt_sequence lane;
	int64_t at_ts;
	int64_t bucket, net_ns, known_ns; /* the bucket's number, and of its time the network's */
};

/* ---- ops.c ---- */

/* The track of a thread's slices, described at its first use. */
uint64_t nt_thread_track(struct nt_perfetto *trace, struct nt_perfetto_thread *thread);

/* ---- stacks.c ---- */

struct nt_stacks {
	struct nt_labels functions, modules; /* by symbol */
	struct nt_id_map parents, symbols; /* by stack: the stack of the caller, 0: none; the innermost symbol + 1 */
	struct nt_id_map told; /* symbols that are frames to Perfetto */
	struct nt_texts module_numbers, numbers; /* of modules; of pairs of a kernel's and a user's stack */
	struct nt_proto interned; /* for the next packet */
	bool has_begun;
};

void nt_stacks_release(struct nt_stacks *stacks);

/* ---- disks.c ---- */

struct nt_disk_lane {
	int64_t end; /* of the last slice */
	uint64_t track;
};

struct nt_disk {
	struct nt_disk_lane *lanes; /* a heap: the first ends first */
	size_t n_lanes, lanes_size;
};

struct nt_disks {
	struct nt_texts names;
	struct nt_disk *disks; /* by the number of the name, less 1 */
	size_t n_disks, disks_size;
};

void nt_disks_release(struct nt_disks *disks);

/* ---- payers.c ---- */

struct nt_payers {
	struct nt_texts words;
	struct nt_perfetto_payer *payers;
	size_t n_payers, payers_size;
	struct nt_id_map by_key; /* index + 1 */
	struct nt_payer_change *changes; /* of what they pay; in any order */
	size_t n_changes, changes_size;
};

void nt_payers_release(struct nt_payers *payers);

/* ---- all of it ---- */

struct nt_perfetto_cpu {
	uint32_t number;
	struct nt_sched sched;
	struct nt_owners owners;
	struct nt_sequence events;
	uint32_t described; /* a bit for each of its tracks that is: nt_cpu_track */
	int64_t lost, lost_ts; /* records, so far, and of which time that was told last */
};

/* A stretch of which records are missing from the tape: known as such when the problems are, which come last. */
struct nt_perfetto_missing {
	uint32_t cpu;
	int64_t ts, begin, end; /* where it begins, and what of it was asked for */
	char why[32];
};

struct nt_perfetto {
	const struct nt_session *session;
	const struct nt_selection *selection;
	int64_t from_ts, to_ts; /* within the session */
	bool has_head;
	int64_t boot_ns; /* CLOCK_BOOTTIME less CLOCK_MONOTONIC */
	int64_t boot_uncertainty_ns;
	struct nt_packets packets;
	struct nt_names names;
	struct nt_stacks stacks;
	struct nt_payers payers;
	struct nt_disks disks;
	struct nt_perfetto_cpu *cpus[NT_PERFETTO_MAX_CPUS]; /* NULL: nothing of it yet */
	struct nt_sequence marks;
	struct nt_texts mark_names; /* of counters and losses; the tracks of these: */
	uint64_t *mark_tracks;
	size_t mark_tracks_size;
	struct nt_whole whole; /* as far as its rows have come */
	struct nt_perfetto_missing *missing;
	size_t n_missing, missing_size;
	uint32_t described; /* 1 << enum nt_perfetto_track: groups that are */
	uint64_t n_tracks; /* given out above NT_TRACK_OTHERS */
	char error[NT_ERROR_MAX];
};

/* A value that a reader asked for by its name. */
static inline bool nt_is_there(const struct nt_value *value)
{
	return value->type != NT_VALUE_NULL;
}

/* ---- perfetto.c ---- */

#define NT_MAX_TAKEN 16 /* columns that a reader asks for */

/* Takes the rows of a table: `take` gets the values of these columns, in this order. */
struct nt_perfetto_reader {
	const char *table;
	const char *columns[NT_MAX_TAKEN + 1];
	int (*take)(struct nt_perfetto *trace, const struct nt_value *const *values);
	/* Instead, of a table whose rows are each of a CPU: it gets those of CPUs that were asked for. */
	int (*take_of_cpu)(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu,
			   const struct nt_value *const *values);
};

/* Those of each file, ended by one without a table. */
extern const struct nt_perfetto_reader nt_names_readers[], nt_sched_readers[], nt_owners_readers[], nt_ops_readers[],
	nt_marks_readers[], nt_payers_readers[], nt_stacks_name_readers[], nt_stacks_readers[], nt_disks_readers[],
	nt_memory_readers[];

int nt_perfetto_nomem(struct nt_perfetto *trace);
/* The part of a span that was asked for; false: none. */
bool nt_perfetto_clip(const struct nt_perfetto *trace, int64_t ts, int64_t dur, int64_t *begin, int64_t *end);
/* Whether an instant lies in the time that was asked for. */
bool nt_perfetto_has(const struct nt_perfetto *trace, int64_t ts);
/* A row that contradicts the one before it. */
int nt_perfetto_disorder(struct nt_perfetto *trace, const char *table);
/* Describes the group of tracks, once. */
void nt_perfetto_group(struct nt_perfetto *trace, enum nt_perfetto_track group);
/* The same of a CPU's track, which is one from NT_TRACK_OWNER on, + the CPU. Gives that number. */
uint64_t nt_cpu_track(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, enum nt_perfetto_track track);

/* ---- head.c ---- */

void nt_head_write(struct nt_perfetto *trace);
int nt_head_clock(struct nt_perfetto *trace, const struct nt_value *const *values);

/* ---- the ends ---- */

void nt_sched_finish(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu);
void nt_owners_finish(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu);
int nt_payers_finish(struct nt_perfetto *trace);
int nt_marks_finish(struct nt_perfetto *trace);
/* A thread begins in the recording: a bundle of its own. */
void nt_sched_life(struct nt_perfetto *trace, const struct nt_perfetto_thread *thread, uint32_t source_tid);

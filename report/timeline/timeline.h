/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timeline.h - from the records of all CPUs to the one owner of every nanosecond. Pure: records in, rows out through
 * callbacks; no file, no SQL, no clock. Uses schema/ and util/ only.
 *
 * How it works. The time of a CPU is cut into segments by its state records (STATE, SWITCH). When the
 * state record that closes a segment arrives, everything about the segment is known from that CPU's
 * records alone: the spans that ended in it came before, the spans still open come as OPEN records
 * directly before the closing record, and one task was on the CPU all the while. Spans are clipped to the
 * segment, and each nanosecond goes to the first that matches:
 *   hardirq > softirq (net_rx, net_tx or softirq by vector) > a poll by the task itself (net_rx) > innermost
 *   operation > task or idle; but what would be a NAPI thread's own is net_rx: polling is all that it does.
 * Memory is for the CPUs, the records since each CPU's last state record (a writer keeps them under
 * 4,096), and the tasks with an operation open at a switch.
 *
 * Feed order: records of all CPUs merged by end_ns, each CPU's own order kept; but a gap (a LOSS record, a
 * missing block, an offline CPU) directly after the record that precedes it on its CPU, so that it is known
 * before any operation that may have pieces in it is finished. report/tape/merge.h does that.
 *
 * tests/support/timeline_model.c is the slow, obvious second implementation that this one must equal.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "schema/event.h"

/*
 * Whose a nanosecond can be. X(NUMBER, CONSTANT, name, NETWORK or OTHER): together the owners of NETWORK are the cost
 * of the network stack. Numbers count from 0 and are this program's own; the names are in databases.
 */
#define NT_OWNERS(X)                                                                                                   \
	X(0, HARDIRQ, hardirq, OTHER)                                                                                  \
	X(1, NET_RX, net_rx, NETWORK)                                                                                  \
	X(2, NET_TX, net_tx, NETWORK)                                                                                  \
	X(3, SOFTIRQ, softirq, OTHER)                                                                                  \
	X(4, SEND, send, NETWORK)                                                                                      \
	X(5, RECV, recv, NETWORK)                                                                                      \
	X(6, TASK, task, OTHER)                                                                                        \
	X(7, IDLE, idle, OTHER)                                                                                        \
	X(8, OFFLINE, offline, OTHER)                                                                                  \
	X(9, UNCOVERED, uncovered, OTHER)

enum nt_owner {
#define X(number, constant, name, sort) NT_OWNER_##constant = number,
	NT_OWNERS(X)
#undef X
#define X(number, constant, name, sort) +1
		NT_OWNER_COUNT = NT_OWNERS(X)
#undef X
};

/* Sets of owners have bit 1 << owner for each. This one is the network's. */
#define NT_OWNER_BIT_OTHER(number) 0u
#define NT_OWNER_BIT_NETWORK(number) 1u << (number)
#define NT_OWNER_BIT(number, constant, name, sort) | (NT_OWNER_BIT_##sort(number))
#define NT_NETWORK_OWNERS (0u NT_OWNERS(NT_OWNER_BIT))

/* "unknown" for what is no owner. */
const char *nt_owner_name(enum nt_owner owner);
/* NT_OWNER_COUNT: none has this name. */
enum nt_owner nt_owner_number(const char *name);

/* A maximal stretch of one CPU with one owner and one task. */
struct nt_cpu_slice {
	uint64_t ts_ns, dur_ns;
	uint32_t cpu;
	enum nt_owner owner;
	uint64_t task; /* on the CPU, also during interrupts; NT_NO_TASK in offline and uncovered */
};

/* Time of a CPU whose owner is net_rx, and the run that it is of. One run has as many parts as it takes. */
struct nt_rx_part {
	uint64_t ts_ns, dur_ns;
	uint32_t cpu;
	/* When the softirq began, the poll that a task made by itself, or the NAPI thread's stay on the CPU. */
	uint64_t run_ns;
};

/* Time of a CPU whose owner is hardirq, and the interrupt that it is of. One may have several parts. */
struct nt_irq_part {
	uint64_t ts_ns, dur_ns;
	uint32_t cpu;
	uint32_t type, number; /* as nt_irq */
};

/*
 * A task's stay on a CPU, the idle task's too. A thread that executed a program and so became its process's main
 * thread stays under its old id until it leaves the CPU: the main thread may have been on another until just then.
 * (cpu_slice has the new id from the last state record before.)
 */
struct nt_sched_slice {
	uint64_t ts_ns, dur_ns;
	uint32_t cpu;
	uint64_t task;
	bool ended_by_switch; /* false: cut by the end of the recording or by a gap; then the next two are 0 */
	uint32_t end_state; /* as nt_switch.prev_state */
	uint8_t priority;
};

/* A softirq or an interrupt, its duration inclusive of what nested in it, clipped to the session. */
struct nt_span_row {
	uint64_t ts_ns, dur_ns;
	uint32_t cpu;
	uint64_t task; /* that it interrupted, or NT_NO_TASK */
	uint32_t detail; /* softirq: vector; irq: enum nt_irq_type */
	uint32_t number; /* softirq: enum nt_softirq_context, NT_CONTEXT_OP if inside an operation; irq: number */
	bool still_open; /* at the end of the recording */
};
#define NT_CONTEXT_OP 0x100 /* the softirq ran by bh_enable inside an open operation of the task */

/* One poll of a network device's queue (enum nt_napi_context says by whom). */
struct nt_napi_row {
	uint64_t ts_ns, dur_ns; /* clipped to the session */
	bool timed; /* false: begin unknown, dur_ns is 0 and means nothing; ts_ns is the end */
	uint32_t cpu;
	uint64_t task; /* on the CPU, or NT_NO_TASK */
	uint8_t context; /* enum nt_napi_context */
	uint64_t device; /* 0: none, a CPU's backlog */
	uint32_t napi_id, work, budget;
};

enum nt_op_end {
	NT_OP_DONE, /* result is the record's */
	NT_OP_OPEN, /* still open when the recording ended */
	NT_OP_EXIT, /* its task exited inside it */
	NT_OP_ABANDONED /* left without a record, or that was lost; dur is to where it was last open */
};

/* A socket operation. */
struct nt_op_row {
	uint64_t ts_ns, dur_ns;
	uint64_t cpu_ns; /* own time on CPUs: without sleep, preemption, and what interrupted it or nested in it */
	bool timed; /* false: begin unknown, dur_ns and cpu_ns are 0 and mean nothing; ts_ns is the end */
	bool before; /* begun before the recording: clipped to its start */
	bool lower_bound; /* pieces of it may lie in uncovered time: cpu_ns is at least this */
	uint32_t cpu; /* where it ended or was last seen */
	uint64_t task; /* NT_NO_TASK for one made by a softirq, or in uncovered time if nothing tells whose */
	uint8_t dir, call, flags; /* as nt_op */
	uint64_t socket;
	enum nt_op_end end;
	int32_t result; /* NT_OP_DONE only */
};

/*
 * A stretch lost. ts..ts+dur is the uncovered stretch it caused, clipped to the session; count 0: not known. When
 * several losses cause one stretch, each row gives all of it. Every uncovered slice has such rows.
 */
struct nt_loss_row {
	uint64_t ts_ns, dur_ns;
	uint32_t cpu;
	uint8_t kind; /* enum nt_kind, or 0: all kinds (a missing block, an undeclared loss) */
	uint64_t count;
	/*
	 * A constant: nt_loss_why_name(), what nt_timeline_gap was given, or "undeclared", "no state record" (yet),
	 * "no last state record", "came online" (until its first state record), "segment too long".
	 */
	const char *why;
};

/* Things that a correct tape has few or none of. */
struct nt_timeline_counts {
	uint64_t records; /* fed */
	uint64_t outside; /* of those: wholly outside the session, left out */
	uint64_t undeclared; /* a switch from another task than the believed one: check fails */
	uint64_t clamped; /* times inverted between CPUs or records, by at most 1 us each */
	uint64_t clamped_max_ns;
	uint64_t malformed; /* operations that overlap without nesting, OPENs without state record, ... */
};

/*
 * Any callback may be NULL. Rows of one CPU come in time order for cpu_slice, rx_part, irq_part and sched_slice;
 * others come when they are known. A callback that gives non-zero stops the timeline, which gives that number.
 */
struct nt_timeline_sink {
	void *arg;
	int (*cpu_slice)(void *arg, const struct nt_cpu_slice *slice);
	int (*rx_part)(void *arg, const struct nt_rx_part *part);
	int (*irq_part)(void *arg, const struct nt_irq_part *part);
	int (*sched_slice)(void *arg, const struct nt_sched_slice *slice);
	int (*softirq)(void *arg, const struct nt_span_row *row);
	int (*irq)(void *arg, const struct nt_span_row *row);
	int (*op)(void *arg, const struct nt_op_row *row);
	int (*napi)(void *arg, const struct nt_napi_row *row);
	int (*loss)(void *arg, const struct nt_loss_row *row);
	/* A record that changes nobody's time, as it comes. `task`: believed on its CPU; NT_NO_TASK: not known. */
	int (*event)(void *arg, uint32_t cpu, uint64_t task, const union nt_any *record);
};

struct nt_timeline_config {
	uint64_t start_ns, end_ns; /* the session; slices of each CPU sum to end - start */
	uint32_t n_cpus; /* CPU numbers are below this */
	const uint8_t *present; /* n_cpus flags: CPUs that exist; a present CPU without records is uncovered */
	const uint8_t *online; /* n_cpus flags: online at start; a present CPU that is not is offline at first */
	/*
	 * Whether two tasks are of one process, and `main` its main thread: a thread that execs takes over
	 * its main thread's identity between two switches, which is no loss. May be NULL.
	 */
	bool (*is_main_of)(void *arg, uint64_t main, uint64_t task);
	/* Whether a task is a kernel thread that polls network devices in place of a softirq. May be NULL. */
	bool (*is_napi)(void *arg, uint64_t task);
	void *arg;
};

struct nt_timeline;

/* NULL: out of memory. *config and *sink are copied, the arrays in config too. */
struct nt_timeline *nt_timeline_new(const struct nt_timeline_config *config, const struct nt_timeline_sink *sink);
void nt_timeline_free(struct nt_timeline *timeline);
/* One record of the timeline of one CPU. 0, a negative errno, or what a callback gave. */
int nt_timeline_add(struct nt_timeline *timeline, uint32_t cpu, const union nt_any *record);
/*
 * A gap that the tape's structure shows, not a LOSS record: everything of this CPU after its last record
 * fed until resume_ns is missing, and `task` was on it at resume_ns (NT_NO_TASK: not known; then the gap lasts
 * until the first state record after resume_ns). Uncovered is all since the last state record fed: spans that were
 * open at the last record may have ended in the gap, and nothing tells their begins. `why`: a constant.
 * A CPU whose records end before the session does, with no state record of reason STOP, is best told of so too, as
 * early as the rest, with the session's end: else operations that end elsewhere are not known to have pieces in it.
 */
int nt_timeline_gap(struct nt_timeline *timeline, uint32_t cpu, uint64_t resume_ns, uint64_t task, const char *why);
/*
 * Before the first record of this CPU: those that end by after_ns, or some more, are left out on purpose. Nothing is
 * known of the CPU until its first state record, and that is no loss: rows that begin later are as if all had been fed.
 */
void nt_timeline_begin_at(struct nt_timeline *timeline, uint32_t cpu, uint64_t after_ns);
/* When that state record was; UINT64_MAX: it has not come yet. 0 of a CPU that all records are fed of. */
uint64_t nt_timeline_known_since(const struct nt_timeline *timeline, uint32_t cpu);
/* Since when the task on the CPU stays there; of an idle CPU, or one that nothing is known of, UINT64_MAX. */
uint64_t nt_timeline_stay_since(const struct nt_timeline *timeline, uint32_t cpu);
/*
 * Whether all rows of the CPU that begin before ns have been given, of those that the sink takes, and all that they
 * depend on has been fed. Operations are left out of account, and spans of which nothing has been fed yet.
 */
bool nt_timeline_is_past(const struct nt_timeline *timeline, uint32_t cpu, uint64_t ns);
/*
 * The same for operations, of all CPUs: whether none that began at from_ns or later, and before ns, is open, or may
 * turn up; but in uncovered time between the two one may have begun of which nothing has been fed yet, and of those
 * open since before the recording whose task sleeps nothing has been fed either.
 */
bool nt_timeline_is_past_ops(const struct nt_timeline *timeline, uint64_t from_ns, uint64_t ns);
/*
 * For a session that is going on: its end was not known yet, and INT64_MAX in the config. Before records that end later
 * are fed.
 */
void nt_timeline_end_at(struct nt_timeline *timeline, uint64_t end_ns);
/*
 * Gives what is known by now of slices, in parts if need be. All records of all CPUs that ended by fed_ns have been
 * fed: a CPU that is offline then is known until then.
 */
int nt_timeline_give(struct nt_timeline *timeline, uint64_t fed_ns);
/* Up to when the CPU's slices, and what depends on them, were given; UINT64_MAX of one that is not there. */
uint64_t nt_timeline_given_until(const struct nt_timeline *timeline, uint32_t cpu);
/* Whether parts of the CPU's receive run that began then may come yet (struct nt_rx_part). */
bool nt_timeline_run_goes_on(const struct nt_timeline *timeline, uint32_t cpu, uint64_t run_ns);
/* Ends all CPUs at the session's end and gives the last rows. Call once. */
int nt_timeline_finish(struct nt_timeline *timeline);
const struct nt_timeline_counts *nt_timeline_counts(const struct nt_timeline *timeline);

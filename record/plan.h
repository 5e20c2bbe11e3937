/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * plan.h - the attach plan: all probes, the programs and attach points that serve each, and which of them this kernel
 * offers. A probe lists its candidates in order of preference; the first that the kernel has in full is used. The
 * kernel is asked (its type information, and for functions a trial attach of an empty program), never its version.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <bpf/libbpf.h>

#include "record/hierarchy.h"

#define NT_PLAN_MAX_POINTS 64
#define NT_PLAN_WHY_MAX 480 /* bytes of a clause that says why not */

enum nt_attach_how {
	NT_AT_TRACEPOINT, /* by the kernel's type information */
	NT_AT_NAMED, /* a raw tracepoint, attached by name: one program at many points */
	NT_AT_ENTRY, /* before a function */
	NT_AT_EXIT, /* after a function */
	NT_AT_CLOCK, /* when a clock of each CPU's comes: attached by sampler.h */
	NT_AT_ITERATOR, /* for each that there is, when kernel.h asks */
	NT_AT_CGROUP /* a packet that a socket gets: at the root of the cgroup2 hierarchy */
};

/*
 * Where the kernel may preempt a program at a tracepoint. It then runs that program for no other task of the CPU, and
 * two programs may be changing the CPU's state at once.
 */
enum nt_preempted {
	NT_PREEMPTED_NEVER, /* before 7.0 */
	NT_PREEMPTED_IN_TASKS,
	NT_PREEMPTED_IN_SOFTIRQS /* there too: PREEMPT_RT */
};

/* The facts that are known where a program runs: a filter that asks for one can be answered there only. */
#define NT_KNOWS_TASK 0x01 /* the current task is the packet's reader */
#define NT_KNOWS_QUEUE 0x02 /* the packet's socket */
#define NT_KNOWS_NAMELESS                                                                                              \
	0x04 /* runs only with a filter that asks for the task: sockets have no name then, but by it */

#define NT_SEED_SOCKETS "nt_seed_sockets" /* the program that lists the sockets that tasks hold */

/* One program at one point. */
struct nt_attach_point {
	const char *program; /* name of the BPF function */
	const char *point; /* tracepoint or function */
	enum nt_attach_how how;
	bool optional; /* the probe does without, if the kernel has it not */
	bool (*is_wanted)(void); /* whether this host has any use for it; NULL: always */
	unsigned int knows; /* probe latency: NT_KNOWS_* */
	const char *without; /* sentence: what is not seen if the kernel has it not; NULL: nothing to speak of */
	/*
	 * NT_AT_TRACEPOINT: from this degree of preemption on event_program is attached instead, to the perf event
	 * EVENT_GROUP/POINT, where it is not preempted. NT_PREEMPTED_NEVER: never.
	 */
	enum nt_preempted event_from;
	const char *event_group, *event_program;
	bool may_be_preempted; /* without perf events it stays at the tracepoint */
	bool is_beside_event; /* attached only beside event_program, and before it; or beside any, if that is NULL */
};

/* One way to do what a probe is for. */
struct nt_candidate {
	const char *name; /* "tracepoints", "fentry", "ends": several may share one */
	const struct nt_attach_point *points; /* ends with a NULL program; ends before begins */
	const char *const *uncovered; /* sentences: what this way does not see. NULL-terminated */
	bool ops_by_task; /* probe socket: nt_config.ops_by_task */
	bool only_ends; /* probe socket: begins are not seen */
	bool not_preempted; /* only on a kernel that does not preempt itself */
	bool by_events; /* only if --plan asks for it: no program that the kernel could preempt */
};

/*
 * X(NUMBER, name, needs, what, without): the probes, numbered as they stand here, and all that is said of one but how
 * it is served: NAME_candidates in plan.c. `needs`: SOFTIRQ, if it must know when a softirq is running, and so switches
 * that probe on; else NOTHING. `what` is for --list-probes. `without` says what is wrong when it is off; NULL: nothing,
 * so it is not on by default.
 */
/* clang-format off */
#define NT_PROBES(X)                                                                                                   \
	X(SCHED, sched, NOTHING,                                                                                       \
	  "context switches; tasks, processes and cgroups (always on)",                                                \
	  "Nothing can be attributed without context switches.")                                                       \
	X(SOFTIRQ, softirq, NOTHING,                                                                                   \
	  "runs of softirq handlers, by vector",                                                                       \
	  "Softirqs are not recorded: their time counts as that of the owner that they interrupted.")                  \
	X(IRQ, irq, NOTHING,                                                                                           \
	  "hard interrupts: device handlers and interrupt vectors",                                                    \
	  "Hard interrupts are not recorded: their time counts as that of the owner that they interrupted.")           \
	X(SOCKET, socket, SOFTIRQ,                                                                                     \
	  "send and receive operations on network sockets (switches softirq on)",                                      \
	  "Socket operations are not recorded: their time belongs to the task.")                                       \
	X(BUSYPOLL, busypoll, SOFTIRQ,                                                                                 \
	  "polls of network devices by tasks that wait for packets: busy polling (switches softirq on)",               \
	  "Busy polling is not recorded: its time belongs to the task or its receive.")                                \
	X(NAPI, napi, SOFTIRQ,                                                                                         \
	  "polls of network devices by softirqs and NAPI threads, by device (off by default; switches softirq on)",    \
	  NULL)                                                                                                        \
	X(DELIVER, deliver, SOFTIRQ,                                                                                   \
	  "whose packets were received: who pays for net_rx (switches softirq on)",                                    \
	  "Received packets are not recorded: nobody knows who pays for net_rx.")                                      \
	X(NETTIMERS, nettimers, SOFTIRQ,                                                                               \
	  "runs of the network's timers in softirqs, TCP's first of all (switches softirq on)",                        \
	  "The network's timers are not recorded: what of the softirqs' time they took is not known.")                 \
	X(LATENCY, latency, NOTHING,                                                                                   \
	  "how late packets are at seven points on their way up (off by default; makes the kernel timestamp packets)", \
	  NULL)                                                                                                        \
	X(TRANSMIT, transmit, SOFTIRQ,                                                                                 \
	  "how late packets are on their way down: when a device queues them, and when its driver gets them (off by "  \
	  "default; switches softirq on)",                                                                             \
	  NULL)                                                                                                        \
	X(DROPS, drops, NOTHING,                                                                                       \
	  "packets that the kernel does not deliver: why, and where in its code (off by default)",                     \
	  NULL)                                                                                                        \
	X(RETRANSMITS, retransmits, NOTHING,                                                                           \
	  "TCP segments that are sent again (off by default)",                                                         \
	  NULL)                                                                                                        \
	X(FLOWS, flows, NOTHING,                                                                                       \
	  "packets and bytes by flow, estimated in bounded memory, and exactly by device (off by default)",            \
	  NULL)                                                                                                        \
	X(WAKEUPS, wakeups, NOTHING,                                                                                   \
	  "who wakes whom, and how long a woken task waited for a CPU (off by default)",                               \
	  NULL)                                                                                                        \
	X(RAISE, raise, SOFTIRQ,                                                                                       \
	  "how long softirqs waited for a CPU after they were raised (off by default; switches softirq on)",           \
	  NULL)                                                                                                        \
	X(BLOCK, block, NOTHING,                                                                                       \
	  "requests to block devices: who made them, how long they waited and took (off by default)",                  \
	  NULL)                                                                                                        \
	X(MEMORY, memory, NOTHING,                                                                                     \
	  "memory of processes, page faults of threads; pressure, and memory of sockets (off by default)",             \
	  NULL)                                                                                                        \
	X(KMEM, kmem, SOFTIRQ,                                                                                         \
	  "memory that the kernel takes, and in whose time; sampled where that is often (off by default; switches "    \
	  "softirq on)",                                                                                               \
	  NULL)                                                                                                        \
	X(ENERGY, energy, NOTHING,                                                                                     \
	  "energy of the host's processors, by its own counters (off by default)",                                     \
	  NULL)                                                                                                        \
	X(STACKS, stacks, SOFTIRQ,                                                                                     \
	  "stacks of the kernel, and of user space on request, sampled at a fixed rate (off by default; switches "     \
	  "softirq on)",                                                                                               \
	  NULL)

enum nt_probe_number {
#define X(number, name, needs, what, without) NT_PROBE_##number,
	NT_PROBES(X)
#undef X
	NT_PROBE_COUNT
};
/* clang-format on */

/* "sched, softirq, ... stacks, ": a literal, for the help. */
#define NT_PROBE_NAMES NT_PROBES(NT_PROBE_AND_COMMA)
#define NT_PROBE_AND_COMMA(number, name, needs, what, without) #name ", "

struct nt_probe {
	const char *name;
	const char *what;
	const struct nt_candidate *candidates; /* ends with a NULL name */
	const char *without;
	bool needs_softirq;
};

extern const struct nt_probe nt_probes[NT_PROBE_COUNT];

/* A program that the kernel was seen to refuse. */
struct nt_refused_program {
	char name[64];
	char why[200]; /* a clause */
};

struct nt_plan {
	bool on[NT_PROBE_COUNT]; /* asked for */
	const char *only; /* candidates of this name only; NULL: any */
	const struct nt_candidate *chosen[NT_PROBE_COUNT]; /* NULL: off, or this kernel has none */
	bool has[NT_PROBE_COUNT][NT_PLAN_MAX_POINTS]; /* which points of the chosen one exist */
	bool by_event[NT_PROBE_COUNT][NT_PLAN_MAX_POINTS]; /* of those: by event_program */
	char refused[NT_PROBE_COUNT][NT_PLAN_WHY_MAX]; /* why not by a preferred candidate, or "" */
	bool given_up[NT_PROBE_COUNT]; /* the kernel takes no candidate, and names no program */
	struct nt_refused_program refused_programs[NT_PLAN_MAX_POINTS];
	size_t n_refused_programs;
	unsigned int must_know; /* NT_KNOWS_*: latency is recorded only where that is known */
	int switch_args; /* of the tracepoint sched_switch */
	int drop_args; /* of kfree_skb */
	int retransmit_args; /* of tcp_retransmit_skb */
	bool has_casts; /* the kernel has bpf_rdonly_cast */
	bool reads_cookies; /* the kernel numbers no socket that a program finds by itself (socket_cookies.h) */
	struct nt_hierarchy hierarchy; /* of the cgroups that processes are recorded with */
	int root_error; /* why a program cannot be at the root cgroup (cgroup_root.h); 0: it can, or is not wanted */
	enum nt_preempted preempted;
	enum nt_preempted events; /* points with this event_from, or a lower one, use event_program */
	struct bpf_link *links[NT_PROBE_COUNT * NT_PLAN_MAX_POINTS];
	size_t n_links;
};

/* Turns "sched,softirq", "all" or "default" into plan->on. False: *bad is the first word that is no probe. */
bool nt_plan_parse(struct nt_plan *plan, const char *list, char *bad, size_t bad_size);
/* Has the probe socket served in the way of this name. False: there is no such way. */
bool nt_plan_only(struct nt_plan *plan, const char *name);
/* How the chosen way of a probe attaches to its point of this number, as libbpf's section names have it: "tp_btf". */
const char *nt_plan_how_name(const struct nt_plan *plan, int probe, int number);
/* Asks the kernel. A probe without a candidate stays unchosen. Gives a negative errno if the kernel has no BTF. */
int nt_plan_choose(struct nt_plan *plan);
/*
 * The kernel refused this program when it was loaded or attached. Chooses again: without the point, if the probe does
 * without it, else another candidate, else no candidate. False: nothing can be recorded without that program, or it was
 * not in the plan.
 */
bool nt_plan_refuse(struct nt_plan *plan, const char *program, const char *why);
/* The kernel refused a probe, and it is not known by which program. False: nothing can be recorded without it. */
bool nt_plan_give_up(struct nt_plan *plan, int probe, const char *why);
/*
 * Gives each sentence on what the chosen way of a probe does not see, until `put` returns non-zero; returns that, or 0.
 */
int nt_plan_uncovered(const struct nt_plan *plan, int probe, int (*put)(void *arg, const char *sentence), void *arg);
/* Whether the kernel may preempt a program that is attached to a function. */
bool nt_kernel_preempts_itself(void);
/* Whether the plan, once chosen, runs this program, itself or as a perf event. */
bool nt_plan_attaches(const struct nt_plan *plan, const char *program);
/* Marks the programs of chosen probes, and only those, for loading. */
void nt_plan_set_autoload(const struct nt_plan *plan, struct bpf_object *object);
/* A program that could not be attached. */
struct nt_attach_failure {
	const char *program, *point;
	bool may_be_forbidden; /* by the host: perf events; or by another program at the root cgroup */
};

/* Attaches all. On failure tells what failed. */
int nt_plan_attach(struct nt_plan *plan, struct bpf_object *object, struct nt_attach_failure *failure);
void nt_plan_detach(struct nt_plan *plan);

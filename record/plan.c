// SPDX-License-Identifier: GPL-2.0-only
/* plan.c - see plan.h. The tables here are the one place that names attach points. */
#include "record/plan.h"

#include <errno.h>
#include <string.h>

#include <bpf/btf.h>

#define POINT(name) { .program = "nt_" #name, .point = #name }
#define OPTIONAL(name) { .program = "nt_" #name, .point = #name, .optional = true }
#define VECTOR(end, name) { .program = "nt_vector_" #end, .point = name "_" #end, .by_name = true, .optional = true }
#define VECTORS(end)                                                                                      \
	VECTOR(end, "local_timer"), VECTOR(end, "reschedule"), VECTOR(end, "call_function"),              \
	VECTOR(end, "call_function_single"), VECTOR(end, "irq_work"), VECTOR(end, "x86_platform_ipi"),    \
	VECTOR(end, "error_apic"), VECTOR(end, "spurious_apic"), VECTOR(end, "thermal_apic"),             \
	VECTOR(end, "threshold_apic"), VECTOR(end, "deferred_error_apic")

static const struct nt_attach_point sched_points[] = {
	POINT(sched_switch),
	POINT(task_newtask),
	POINT(sched_process_exec),
	POINT(task_rename),
	POINT(sched_process_exit),
	OPTIONAL(cgroup_attach_task),
	OPTIONAL(cgroup_mkdir),
	{}
};

static const struct nt_attach_point softirq_points[] = { POINT(softirq_exit), POINT(softirq_entry), {} };

static const struct nt_attach_point irq_points[] = {
	POINT(irq_handler_exit),
	POINT(irq_handler_entry),
	VECTORS(exit),
	VECTORS(entry),
	{}
};

static const struct nt_attach_point socket_points[] = {
	POINT(sock_send_length),
	POINT(sock_recv_length),
	POINT(sys_enter),
	{}
};

static const struct nt_attach_point busypoll_points[] = { { .program = "nt_busy_poll", .point = "napi_poll" }, {} };

static const struct nt_attach_point napi_points[] = { POINT(napi_poll), {} };

static const char *const irq_uncovered[] = {
	"The entry and exit code around an interrupt, vectors without tracepoints and NMIs are in the time of whoever they interrupted.",
	NULL
};

static const char *const socket_uncovered[] = {
	"Splice out of a socket makes no record; its time is the task's.",
	"The begin of an operation made by io_uring, by a kernel thread, in a softirq or by a 32-bit task is not known: it is counted, its time is the task's or the softirq's.",
	NULL
};

static const char *const busypoll_uncovered[] = {
	"A busy-polling task's first poll after it was switched out, and every poll of an io_uring thread, are counted, but in the time of the task or of its receive.",
	NULL
};

static const struct nt_candidate sched_candidates[] = { { "tracepoints", sched_points, NULL }, {} };
static const struct nt_candidate softirq_candidates[] = { { "tracepoints", softirq_points, NULL }, {} };
static const struct nt_candidate irq_candidates[] = { { "tracepoints", irq_points, irq_uncovered }, {} };
static const struct nt_candidate socket_candidates[] = { { "tracepoints", socket_points, socket_uncovered }, {} };
static const struct nt_candidate busypoll_candidates[] = { { "tracepoints", busypoll_points, busypoll_uncovered }, {} };
static const struct nt_candidate napi_candidates[] = { { "tracepoints", napi_points, NULL }, {} };

const struct nt_probe nt_probes[] = {
	{ "sched", "context switches; tasks, processes and cgroups (always on)", sched_candidates,
	  "Nothing can be attributed without context switches." },
	{ "softirq", "runs of softirq handlers, by vector", softirq_candidates,
	  "Softirqs are not recorded: their time is that of whoever they interrupted." },
	{ "irq", "hard interrupts: device handlers and interrupt vectors", irq_candidates,
	  "Hard interrupts are not recorded: their time is that of whoever they interrupted." },
	{ "socket", "send and receive operations on network sockets (switches softirq on)", socket_candidates,
	  "Socket operations are not recorded: their time is the task's." },
	{ "busypoll", "polls of network devices by tasks that wait for packets: busy polling (switches softirq on)",
	  busypoll_candidates,
	  "Busy polling is not recorded: what a task does for the network by it is its own time or its receive's." },
	{ "napi", "polls of network devices by softirqs and NAPI threads, by device (off by default; switches softirq on)",
	  napi_candidates, NULL },
	{}
};
_Static_assert(sizeof(nt_probes) / sizeof(nt_probes[0]) == NT_PROBE_COUNT + 1, "NT_PROBE_COUNT");

static int probe_number(const char *name, size_t size)
{
	int i;

	for (i = 0; i < NT_PROBE_COUNT; i++)
		if (strlen(nt_probes[i].name) == size && !memcmp(nt_probes[i].name, name, size))
			return i;
	return -1;
}

bool nt_plan_parse(struct nt_plan *plan, const char *list, char *bad, size_t bad_size)
{
	memset(plan->on, 0, sizeof(plan->on));
	plan->on[NT_PROBE_SCHED] = true;
	while (*list) {
		size_t size = strcspn(list, ",");
		int number = probe_number(list, size);

		if (size == 3 && !memcmp(list, "all", 3)) {
			memset(plan->on, true, sizeof(plan->on));
		} else if (size == 7 && !memcmp(list, "default", 7)) {
			for (number = 0; number < NT_PROBE_COUNT; number++)
				plan->on[number] |= nt_probes[number].without != NULL;
		} else if (number >= 0) {
			plan->on[number] = true;
		} else {
			snprintf(bad, bad_size, "%.*s", (int)size, list);
			return false;
		}
		list += size;
		list += *list == ',';
	}
	plan->on[NT_PROBE_SOFTIRQ] |= plan->on[NT_PROBE_SOCKET] || plan->on[NT_PROBE_BUSYPOLL] || plan->on[NT_PROBE_NAPI];
	return true;
}

/* The kernel's type information has a prototype, btf_trace_NAME, for each tracepoint that it has. */
static bool kernel_has(const struct btf *btf, const char *point)
{
	char name[128];

	snprintf(name, sizeof(name), "btf_trace_%s", point);
	return btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF) > 0;
}

/* Fills in which points exist. False if one that is needed does not. */
static bool try_candidate(const struct btf *btf, const struct nt_candidate *candidate, bool *has)
{
	size_t i;

	for (i = 0; candidate->points[i].program; i++) {
		has[i] = kernel_has(btf, candidate->points[i].point);
		if (!has[i] && !candidate->points[i].optional)
			return false;
	}
	return true;
}

int nt_plan_choose(struct nt_plan *plan)
{
	struct btf *btf = btf__load_vmlinux_btf();
	const struct nt_candidate *candidate;
	int probe;

	if (!btf)
		return -errno;
	for (probe = 0; probe < NT_PROBE_COUNT; probe++) {
		plan->chosen[probe] = NULL;
		for (candidate = nt_probes[probe].candidates; candidate->name && !plan->chosen[probe]; candidate++)
			if (plan->on[probe] && try_candidate(btf, candidate, plan->has[probe]))
				plan->chosen[probe] = candidate;
	}
	btf__free(btf);
	return 0;
}

bool nt_plan_attaches(const struct nt_plan *plan, const char *program)
{
	const struct nt_attach_point *points;
	int probe, i;

	for (probe = 0; probe < NT_PROBE_COUNT; probe++) {
		if (!plan->chosen[probe])
			continue;
		points = plan->chosen[probe]->points;
		for (i = 0; points[i].program; i++)
			if (plan->has[probe][i] && !strcmp(points[i].program, program))
				return true;
	}
	return false;
}

void nt_plan_set_autoload(const struct nt_plan *plan, struct bpf_object *object)
{
	const struct nt_attach_point *point;
	struct bpf_program *program;
	int probe;

	bpf_object__for_each_program(program, object) {
		const char *name = bpf_program__name(program);

		bpf_program__set_autoload(program, !strcmp(name, "nt_control") || !strcmp(name, "nt_seed"));
	}
	for (probe = 0; probe < NT_PROBE_COUNT; probe++) {
		if (!plan->chosen[probe])
			continue;
		for (point = plan->chosen[probe]->points; point->program; point++)
			if (plan->has[probe][point - plan->chosen[probe]->points])
				bpf_program__set_autoload(bpf_object__find_program_by_name(object, point->program), true);
	}
}

static int attach_point(struct nt_plan *plan, struct bpf_object *object, const struct nt_attach_point *point)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, point->program);
	struct bpf_link *link;

	if (!program)
		return -ENOENT;
	link = point->by_name ? bpf_program__attach_raw_tracepoint(program, point->point) : bpf_program__attach(program);
	if (!link)
		return -errno;
	plan->links[plan->n_links++] = link;
	return 0;
}

int nt_plan_attach(struct nt_plan *plan, struct bpf_object *object, const char **failed)
{
	const struct nt_attach_point *point;
	int probe, err;

	for (probe = 0; probe < NT_PROBE_COUNT; probe++) {
		if (!plan->chosen[probe])
			continue;
		for (point = plan->chosen[probe]->points; point->program; point++) {
			if (!plan->has[probe][point - plan->chosen[probe]->points])
				continue;
			err = attach_point(plan, object, point);
			if (err) {
				*failed = point->point;
				return err;
			}
		}
	}
	return 0;
}

void nt_plan_detach(struct nt_plan *plan)
{
	while (plan->n_links)
		bpf_link__destroy(plan->links[--plan->n_links]);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * names.c - names, kept for an export to Perfetto: rows of process, thread, cgroup, socket and net_device, which come
 * before the rows that refer to them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/perfetto/state.h"
#include "report/util/array.h"

#define USUAL_PRIORITY 120 /* nice 0 */

/* ---- texts by id ---- */

void nt_names_release(struct nt_names *names)
{
	for (size_t i = 0; i < names->n_threads; i++) {
		free(names->threads[i]->name);
		free(names->threads[i]);
	}
	for (size_t i = 0; i < names->n_processes; i++)
		free(names->processes[i].name);
	free(names->threads);
	free(names->processes);
	nt_id_map_release(&names->thread_numbers);
	nt_id_map_release(&names->process_numbers);
	nt_id_map_release(&names->selected_sockets);
	nt_labels_release(&names->cgroups);
	nt_labels_release(&names->sockets);
	nt_labels_release(&names->devices);
}

/* ---- threads and processes ---- */

/* A thread of which nothing is known yet. NULL: out of memory. */
static struct nt_perfetto_thread *add_thread(struct nt_perfetto *trace, int64_t utid, char *name)
{
	struct nt_names *names = &trace->names;
	uint64_t *number = name ? nt_id_map_at(&names->thread_numbers, (uint64_t)utid) : NULL;
	struct nt_perfetto_thread *thread = number ? calloc(1, sizeof(*thread)) : NULL;

	if (!thread || NT_ROOM(names->threads, names->threads_size, names->n_threads + 1)) {
		free(thread);
		free(name);
		nt_perfetto_nomem(trace);
		return NULL;
	}
	*thread = (struct nt_perfetto_thread){
		.utid = (uint64_t)utid,
		.upid = -1,
		.tgid = NT_PID_MADE_UP,
		.name = name,
		.start_ts = -1,
		.priority = USUAL_PRIORITY,
	};
	names->threads[names->n_threads++] = thread;
	*number = names->n_threads;
	return thread;
}

/* A thread's number as the kernel gives them; one that is made up, and that no other has, where the row has none. */
static uint32_t tid_of(struct nt_perfetto *trace, const struct nt_value *tid)
{
	const int64_t number = nt_integer(tid, -1);

	return number >= 0 && number < NT_TID_UNCOVERED ? (uint32_t)number : NT_TID_UNKNOWN + trace->names.n_unknown++;
}

static int take_thread(struct nt_perfetto *trace, const struct nt_value *const *values)
{
	enum { UTID, TID, UPID, NAME, START };
	const int64_t utid = nt_integer(values[UTID], 0);
	struct nt_perfetto_thread *thread;

	/* A thread without a row is made up when something refers to it; the idle task is known without a row. */
	if (trace->has_head || !utid || !nt_is_there(values[TID]) ||
	    nt_id_map_get(&trace->names.thread_numbers, (uint64_t)utid))
		return 0;
	thread = add_thread(trace, utid, strdup(nt_text(values[NAME], "not known")));
	if (!thread)
		return -1;
	thread->tid = tid_of(trace, values[TID]);
	thread->upid = nt_integer(values[UPID], -1);
	thread->start_ts = nt_integer(values[START], -1);
	return 0;
}

/* One that has no row: the idle task, or a thread that is only referred to. */
static struct nt_perfetto_thread *make_up(struct nt_perfetto *trace, int64_t utid)
{
	struct nt_perfetto_thread *thread;
	char *name = NULL;

	if (utid && asprintf(&name, "thread %lld", (long long)utid) < 0)
		name = NULL;
	thread = add_thread(trace, utid, utid ? name : strdup("swapper"));
	if (!thread)
		return NULL;
	if (utid)
		thread->tid = NT_TID_UNKNOWN + trace->names.n_unknown++;
	else
		thread->tgid = 0;
	thread->is_selected = !trace->selection->process;
	return thread;
}

struct nt_perfetto_thread *nt_thread_of(struct nt_perfetto *trace, int64_t utid)
{
	struct nt_names *names = &trace->names;
	uint64_t number;

	if (names->last && names->last->utid == (uint64_t)utid)
		return names->last;
	number = nt_id_map_get(&names->thread_numbers, (uint64_t)utid);
	names->last = number ? names->threads[number - 1] : make_up(trace, utid);
	return names->last;
}

int nt_thread_if(struct nt_perfetto *trace, const struct nt_value *utid, struct nt_perfetto_thread **thread)
{
	*thread = nt_is_there(utid) ? nt_thread_of(trace, nt_integer(utid, 0)) : NULL;
	return nt_is_there(utid) && !*thread ? -1 : 0;
}

static int take_process(struct nt_perfetto *trace, const struct nt_value *const *values)
{
	enum { UPID, PID, PPID, NAME, CGROUP };
	struct nt_names *names = &trace->names;
	const int64_t upid = nt_integer(values[UPID], 0);
	const char *name = nt_text(values[NAME], NULL);
	uint64_t *number;

	if (trace->has_head || !upid || nt_id_map_get(&names->process_numbers, (uint64_t)upid))
		return 0;
	number = nt_id_map_at(&names->process_numbers, (uint64_t)upid);
	if (!number || NT_ROOM(names->processes, names->processes_size, names->n_processes + 1))
		return nt_perfetto_nomem(trace);
	names->processes[names->n_processes] = (struct nt_perfetto_process){
		.upid = (uint64_t)upid,
		.pid = nt_integer(values[PID], -1),
		.ppid = nt_integer(values[PPID], -1),
		.name = name ? strdup(name) : NULL,
		.cgroup_id = nt_integer(values[CGROUP], -1),
	};
	*number = ++names->n_processes;
	return name && !names->processes[names->n_processes - 1].name ? nt_perfetto_nomem(trace) : 0;
}

const struct nt_perfetto_process *nt_process_of(struct nt_perfetto *trace, int64_t upid)
{
	const uint64_t number = upid < 0 ? 0 : nt_id_map_get(&trace->names.process_numbers, (uint64_t)upid);

	return number ? &trace->names.processes[number - 1] : NULL;
}

bool nt_names_settle(struct nt_perfetto *trace)
{
	struct nt_names *names = &trace->names;
	bool has_any = !trace->selection->process;

	for (size_t i = 0; i < names->n_processes; i++) {
		struct nt_perfetto_process *process = &names->processes[i];

		process->is_selected = nt_selection_has_process(trace->selection, process->pid, process->name);
		has_any |= process->is_selected;
	}
	for (size_t i = 0; i < names->n_threads; i++) {
		struct nt_perfetto_thread *thread = names->threads[i];
		const struct nt_perfetto_process *process = nt_process_of(trace, thread->upid);

		if (process && process->pid >= 0 && process->pid < NT_TID_UNCOVERED)
			thread->tgid = (uint32_t)process->pid;
		thread->is_selected =
			process ? process->is_selected : nt_selection_has_process(trace->selection, -1, NULL);
	}
	return has_any;
}

/* ---- the others ---- */

static int set_label(struct nt_perfetto *trace, struct nt_labels *labels, const struct nt_value *id, const char *text)
{
	return nt_labels_set(labels, nt_integer(id, 0), text) ? nt_perfetto_nomem(trace) : 0;
}

static int take_cgroup(struct nt_perfetto *trace, const struct nt_value *const *values)
{
	return set_label(trace, &trace->names.cgroups, values[0], nt_text(values[1], ""));
}

static int take_device(struct nt_perfetto *trace, const struct nt_value *const *values)
{
	return set_label(trace, &trace->names.devices, values[0], nt_text(values[1], "-"));
}

/* "10.0.0.1:80", "[::1]:80", "*" for none. */
static void put_address(char *out, size_t size, const struct nt_value *address, const struct nt_value *port)
{
	const char *text = nt_text(address, NULL);

	if (!text)
		snprintf(out, size, "*");
	else
		snprintf(out, size, strchr(text, ':') ? "[%s]:%lld" : "%s:%lld", text, (long long)nt_integer(port, 0));
}

/* "tcp 10.0.0.1:80 to 10.0.0.2:40000"; where there are no addresses, the family and the type say what it is. */
static int take_socket(struct nt_perfetto *trace, const struct nt_value *const *values)
{
	enum { ID, FAMILY, TYPE, PROTO, SRC, SPORT, DST, DPORT };
	char src[256], dst[256], text[640];

	put_address(src, sizeof(src), values[SRC], values[SPORT]);
	put_address(dst, sizeof(dst), values[DST], values[DPORT]);
	if (nt_is_there(values[SRC]) || nt_is_there(values[DST]))
		snprintf(text, sizeof(text), "%.64s %s to %s", nt_text(values[PROTO], ""), src, dst);
	else
		snprintf(text, sizeof(text), "%.64s %.64s %.64s, socket %lld", nt_text(values[FAMILY], ""),
			 nt_text(values[TYPE], ""), nt_text(values[PROTO], ""), (long long)nt_integer(values[ID], 0));
	return set_label(trace, &trace->names.sockets, values[ID], text);
}

const struct nt_perfetto_reader nt_names_readers[] = {
	{"process", {"upid", "pid", "ppid", "name", "cgroup_id"}, .take = take_process},
	{"thread", {"utid", "tid", "upid", "name", "start_ts"}, .take = take_thread},
	{"cgroup", {"id", "label"}, .take = take_cgroup},
	{"socket", {"id", "family", "type", "proto", "src", "sport", "dst", "dport"}, .take = take_socket},
	{"net_device", {"id", "name"}, .take = take_device},
	{"clock_snapshot", {"ts", "boot_ns", "uncertainty_ns"}, .take = nt_head_clock},
	{0},
};

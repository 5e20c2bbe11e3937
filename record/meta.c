// SPDX-License-Identifier: GPL-2.0-only
/*
 * meta.c - see meta.h. The keys are specified in docs/chunk-format.md.
 */
#include "record/meta.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "record/first_line.h"
#include "record/proc_snapshots.h"
#include "record/text.h"
#include "schema/meta_keys.h"

static uint64_t realtime_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

void nt_meta_header(struct nt_chunk_header *header)
{
	memset(header, 0, sizeof(*header));
	header->version = NT_CHUNK_VERSION;
	if (getrandom(header->session, sizeof(header->session), 0) != sizeof(header->session))
		snprintf((char *)header->session, sizeof(header->session), "%llx", (unsigned long long)realtime_ns());
	nt_first_line("/proc/sys/kernel/random/boot_id", header->boot_id, sizeof(header->boot_id));
	gethostname(header->host, sizeof(header->host) - 1);
}

static int add_number(struct nt_buf *out, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return nt_meta_append(out, key, text);
}

static int add_file(struct nt_buf *out, const char *key, const char *path)
{
	char line[512];

	nt_first_line(path, line, sizeof(line));
	return nt_meta_append(out, key, line);
}

/* PRETTY_NAME of os-release, without its quotes. */
static void os_name(char *name, size_t size)
{
	FILE *file = fopen("/etc/os-release", "re");
	char line[256];

	snprintf(name, size, "unknown");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "PRETTY_NAME=\"%127[^\"]\"", name) == 1)
			break;
	if (file)
		fclose(file);
}

/* Of x86: whether the CPU's flags in /proc/cpuinfo have the hypervisor's, 0 or 1. -1: there are no such flags. */
static int hypervisor_bit(void)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	char line[4096];
	int bit = -1;

	while (file && bit < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, "flags", 5))
			bit = strstr(line, " hypervisor") != NULL;
	if (file)
		fclose(file);
	return bit;
}

/*
 * Whether this is a virtual machine, so that time may be stolen from it; its hypervisor, if the firmware says. Without
 * the bit, only the device tree of a virtual machine tells.
 */
static void virtual_name(char *name, size_t size)
{
	int bit = hypervisor_bit();
	char vendor[64], tree[64];

	nt_first_line("/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor));
	nt_first_line("/sys/firmware/devicetree/base/compatible", tree, sizeof(tree));
	if (bit == 0)
		snprintf(name, size, "none");
	else if (bit == 1)
		snprintf(name, size, "%s", vendor[0] ? vendor : "hypervisor");
	else if (!strcmp(tree, "linux,dummy-virt"))
		snprintf(name, size, "hypervisor");
	else if (vendor[0])
		snprintf(name, size, "unknown (%s)", vendor);
	else
		snprintf(name, size, "unknown");
}

static int add_host(struct nt_buf *out)
{
	char os[128], virtual[96];
	struct utsname names;
	int error;

	uname(&names);
	os_name(os, sizeof(os));
	virtual_name(virtual, sizeof(virtual));
	error = nt_meta_append(out, NT_META_KERNEL, names.release);
	if (!error)
		error = nt_meta_append(out, NT_META_MACHINE, names.machine);
	if (!error)
		error = nt_meta_append(out, NT_META_OS, os);
	if (!error)
		error = nt_meta_append(out, NT_META_VIRTUAL, virtual);
	if (!error)
		error = add_file(out, NT_META_CPUS_POSSIBLE, "/sys/devices/system/cpu/possible");
	if (!error)
		error = add_file(out, NT_META_CPUS_ONLINE, "/sys/devices/system/cpu/online");
	if (!error)
		error = add_number(out, NT_META_CLOCK_TICKS, sysconf(_SC_CLK_TCK));
	return error ? error : add_number(out, NT_META_PAGE_BYTES, sysconf(_SC_PAGESIZE));
}

static int add_points(struct nt_buf *out, const struct nt_plan *plan, int probe)
{
	const struct nt_attach_point *points = plan->chosen[probe]->points;
	char line[256];
	int error = 0;

	for (int i = 0; points[i].program && !error; i++) {
		if (!plan->has[probe][i])
			continue;
		snprintf(line, sizeof(line), "%s %s %s:%s", nt_probes[probe].name, points[i].program,
			 nt_plan_how_name(plan, probe, i), points[i].point);
		error = nt_meta_append(out, NT_META_ATTACH, line);
	}
	return error;
}

static int put_uncovered(void *arg, const char *sentence)
{
	return nt_meta_append(arg, NT_META_UNCOVERED, sentence);
}

/* Which way serves the probe, and why not the one that would be better. */
static int add_way(struct nt_buf *out, const struct nt_plan *plan, int probe)
{
	const char *better = nt_probes[probe].candidates->name, *why = plan->refused[probe];
	char line[NT_PLAN_WHY_MAX + 128];

	if (!plan->chosen[probe])
		return 0;
	if (why[0])
		snprintf(line, sizeof(line), "%s %s (not %s: %s)", nt_probes[probe].name, plan->chosen[probe]->name,
			 better, why);
	else
		snprintf(line, sizeof(line), "%s %s", nt_probes[probe].name, plan->chosen[probe]->name);
	return nt_meta_append(out, NT_META_PLAN, line);
}

/* Busy polling that the host asks of every socket, and that nothing records. */
static int add_busy_polling(struct nt_buf *out, const struct nt_plan *plan)
{
	char read[32], poll[32], sentence[256];
	int error;

	nt_first_line("/proc/sys/net/core/busy_read", read, sizeof(read));
	nt_first_line("/proc/sys/net/core/busy_poll", poll, sizeof(poll));
	error = nt_meta_append(out, NT_META_BUSY_READ, read);
	if (!error)
		error = nt_meta_append(out, NT_META_BUSY_POLL, poll);
	if (error || plan->chosen[NT_PROBE_BUSYPOLL] || (!atoi(read) && !atoi(poll)))
		return error;
	snprintf(sentence, sizeof(sentence),
		 "Busy polling is on (net.core.busy_read %s, net.core.busy_poll %s), but was not recorded: its time is "
		 "inside that of tasks and receives.",
		 read, poll);
	return nt_meta_append(out, NT_META_UNCOVERED, sentence);
}

static int add_plan(struct nt_buf *out, const struct nt_plan *plan)
{
	char list[sizeof(NT_PROBE_NAMES)] = "";
	int error = 0;

	for (int probe = 0; probe < NT_PROBE_COUNT; probe++)
		if (plan->chosen[probe])
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", list[0] ? "," : "",
				 nt_probes[probe].name);
	error = nt_meta_append(out, NT_META_PROBES, list);
	for (int probe = 0; probe < NT_PROBE_COUNT && !error; probe++)
		error = add_way(out, plan, probe);
	for (int probe = 0; probe < NT_PROBE_COUNT && !error; probe++)
		if (plan->chosen[probe])
			error = add_points(out, plan, probe);
	for (int probe = 0; probe < NT_PROBE_COUNT && !error; probe++)
		error = nt_plan_uncovered(plan, probe, put_uncovered, out);
	return error;
}

/* The sampling and the filter of packets, and whether their time was noted before or after the backlog's queue. */
static int add_latency(struct nt_buf *out, const struct nt_record_options *options)
{
	int error = nt_filter_describe(&options->filter, out);

	if (error || !options->plan.chosen[NT_PROBE_LATENCY])
		return error;
	return add_file(out, NT_META_TSTAMP_PREQUEUE, "/proc/sys/net/core/netdev_tstamp_prequeue");
}

static int add_flow_keys(struct nt_buf *out, uint32_t keys)
{
	char line[64] = "";
	int at = 0;

#define X(NAME, name, many)                                                                                            \
	if (keys >> NT_FLOW_KEY_##NAME & 1)                                                                            \
		at += snprintf(line + at, sizeof(line) - (size_t)at, "%s" #name, at ? "," : "");
	NT_FLOW_KEYS(X)
#undef X
	return nt_meta_append(out, NT_META_FLOW_KEYS, line);
}

static int add_flow_sketch(struct nt_buf *out, const struct nt_sketch_shape *shape)
{
	char line[64];

	if (!shape->rows)
		return nt_meta_append(out, NT_META_FLOW_SKETCH, NT_FLOW_SKETCH_NONE);
	snprintf(line, sizeof(line), "%ux%u", shape->rows, 1u << shape->column_bits);
	return nt_meta_append(out, NT_META_FLOW_SKETCH, line);
}

/* How flows were counted: with the hash, anybody can ask the sketch for a flow of his own (docs/flows.md). */
static int add_flows(struct nt_buf *out, const struct nt_record_options *options, const struct nt_flow_hash hashes[2])
{
	const uint64_t *words = (const uint64_t *)hashes;
	char line[512];
	int error = add_flow_keys(out, options->flows.keys);

	snprintf(line, sizeof(line), "%g", options->flows.sample);
	if (!error)
		error = nt_meta_append(out, NT_META_FLOW_SAMPLE, line);
	if (!error)
		error = add_flow_sketch(out, &options->flows.shape);
	for (size_t i = 0; i < 2 * sizeof(*hashes) / sizeof(*words); i++)
		snprintf(line + 16 * i, sizeof(line) - 16 * i, "%016" PRIx64, words[i]);
	return error ? error : nt_meta_append(out, NT_META_FLOW_HASH, line);
}

/* How often stacks were taken, and of what. */
static int add_stacks(struct nt_buf *out, const struct nt_record_options *options)
{
	int error = add_number(out, NT_META_STACKS_HZ, options->stacks_hz);

	if (!error)
		error = nt_meta_append(out, NT_META_STACKS, options->stacks_all ? "all" : "network");
	return error ? error : nt_meta_append(out, NT_META_USER_STACKS, options->user_stacks ? "1" : "0");
}

/* What becomes of the oldest chunks. So a tape without its first ones can be told from one that has lost them. */
static int add_retention(struct nt_buf *out, const struct nt_retention_limits *limits)
{
	int error = 0;

	if (limits->keep_ns)
		error = add_number(out, NT_META_KEEP_NS, limits->keep_ns);
	if (!error && limits->max_bytes)
		error = add_number(out, NT_META_MAX_BYTES, limits->max_bytes);
	return error;
}

int nt_meta_open(struct nt_buf *out, const struct nt_record_options *options, const struct nt_kernel *kernel,
		 const char *hidden)
{
	uint64_t start_realtime_ns = realtime_ns() - (nt_now() - kernel->start_ns);
	int error = nt_meta_append(out, NT_META_TOOL, "nettape-record " NT_VERSION);

	if (!error)
		error = add_number(out, NT_META_START_NS, kernel->start_ns);
	if (!error)
		error = add_number(out, NT_META_START_REALTIME_NS, start_realtime_ns);
	if (!error)
		error = add_host(out);
	if (!error)
		error = add_number(out, NT_META_RING_SIZE, options->ring_size);
	if (!error)
		error = add_retention(out, &options->retention);
	if (!error)
		error = add_plan(out, &options->plan);
	if (!error)
		error = add_busy_polling(out, &options->plan);
	if (!error && (options->plan.chosen[NT_PROBE_LATENCY] || options->plan.chosen[NT_PROBE_TRANSMIT]))
		error = add_latency(out, options);
	if (!error && options->plan.chosen[NT_PROBE_FLOWS])
		error = add_flows(out, options, nt_kernel_flow_hashes(kernel));
	if (!error && options->plan.chosen[NT_PROBE_STACKS])
		error = add_stacks(out, options);
	if (!error && hidden[0])
		error = nt_meta_append(out, NT_META_UNCOVERED, hidden);
	return error ? error : nt_meta_append(out, NT_META_COMMAND, options->command_line);
}

static int add_many(struct nt_buf *out, uint64_t many)
{
	char text[512], count[NT_TEXT_MAX];

	snprintf(text, sizeof(text),
		 "Up to %s received packets are of more flows than are told apart: a CPU tells of %d new ones in a "
		 "second. "
		 "These packets are counted together, by the address and port that they came to, or by their device. "
		 "Their time is exact only where all of them went to one socket.",
		 nt_count_text(count, many), NT_NEW_FLOWS);
	return nt_meta_append(out, NT_META_UNCOVERED, text);
}

int nt_meta_close(struct nt_buf *out, uint64_t end_ns, const char *stop, const struct nt_totals *totals)
{
	int error = add_number(out, NT_META_END_NS, end_ns);

	if (!error)
		error = nt_meta_append(out, NT_META_STOP, stop);
	if (!error)
		error = add_number(out, NT_META_EVENTS, totals->events);
	if (!error)
		error = add_number(out, NT_META_LOST, totals->lost + totals->missed);
	if (!error && totals->many)
		error = add_many(out, totals->many);
	return error ? error : nt_meta_append(out, NT_META_COMPLETE, "1");
}

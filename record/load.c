// SPDX-License-Identifier: GPL-2.0-only
/*
 * load.c - nt_kernel_load of kernel.h: what the programs are told, and how they are loaded and attached. The kernel may
 * refuse any of them: the recording does without those that it can do without (plan.h).
 */
#include "record/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "record/cpu_list.h"
#include "record/flows.h"
#include "record/gaps.h"
#include "record/refusal.h"
#include "record/stamps.h"
#include "record/symbols.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "bpf/nettape.skel.h"
#pragma GCC diagnostic pop

#define PRESENT "/sys/devices/system/cpu/present"
#define GRO_BATCH 8 /* where the kernel does not tell */
#define NT_KERNELS "Linux 6.1 to 7.3" /* where the tests have run; README.md has the table */

/* The possible operation of each system call on a socket. A call that this architecture lacks is not in its headers. */
/* clang-format off */
#define CALL(name, fd_arg, dir, flags) { SYS_##name, { NT_CALL_##name, fd_arg, dir, flags } }
#define WAITS(name) { SYS_##name, { .flags = NT_CALL_WAITS } }
/* clang-format on */
static const struct {
	int nr;
	struct nt_call_info info;
} calls[] = {
	CALL(read, 0, NT_RECV, NT_CALL_MAY_NEST),
	CALL(readv, 0, NT_RECV, NT_CALL_MAY_NEST),
	CALL(preadv2, 0, NT_RECV, NT_CALL_MAY_NEST),
	CALL(recvfrom, 0, NT_RECV, 0),
	CALL(recvmsg, 0, NT_RECV, 0),
	CALL(recvmmsg, 0, NT_RECV, NT_CALL_SEVERAL),
	CALL(write, 0, NT_SEND, NT_CALL_MAY_NEST),
	CALL(writev, 0, NT_SEND, NT_CALL_MAY_NEST),
	CALL(pwritev2, 0, NT_SEND, NT_CALL_MAY_NEST),
	CALL(sendto, 0, NT_SEND, 0),
	CALL(sendmsg, 0, NT_SEND, 0),
	CALL(sendmmsg, 0, NT_SEND, NT_CALL_SEVERAL),
	CALL(sendfile, 0, NT_SEND, NT_CALL_SEVERAL | NT_CALL_MAY_NEST),
	CALL(splice, 2, NT_SEND, NT_CALL_SEVERAL | NT_CALL_MAY_NEST),
	CALL(io_uring_enter, 0, 0, NT_CALL_WAITS),
#ifdef SYS_poll
	WAITS(poll),
	WAITS(select),
	WAITS(epoll_wait),
#endif
	WAITS(ppoll),
	WAITS(pselect6),
	WAITS(epoll_pwait),
#ifdef SYS_epoll_pwait2
	WAITS(epoll_pwait2),
#endif
};
#undef CALL
#undef WAITS

/* Root may lack capabilities, in a container above all; and what locks the kernel down asks nobody who he is. */
static int explain(int error, const char *what, char *message, size_t size)
{
	bool is_root = !geteuid();

	if (error == -EPERM || error == -EACCES)
		snprintf(message, size, "the kernel refuses BPF (%s: %s): %s CAP_BPF and CAP_PERFMON%s", what,
			 strerror(-error), is_root ? "grant this root" : "run as root, or grant",
			 is_root ? ", or record outside the container; a kernel that is locked down refuses BPF to all"
				 : "");
	else
		snprintf(message, size, "cannot %s: %s", what, strerror(-error));
	return error;
}

static void fill_latency(struct nt_latency_config *config, const struct nt_record_options *options)
{
	const struct nt_candidate *way = options->plan.chosen[NT_PROBE_LATENCY];

	nt_filter_configure(&options->filter, config);
	if (way)
		config->is_preempted =
			!strcmp(way->name, "fentry") ? nt_kernel_preempts_itself() : options->plan.preempted != 0;
}

/* Puts the filter's pids and device keys into its maps. */
static int fill_filters(struct nt_kernel *kernel, const struct nt_filter *filter)
{
	int pids = bpf_map__fd(kernel->skeleton->maps.nt_filter_pids), error = 0;
	int devices = bpf_map__fd(kernel->skeleton->maps.nt_filter_devices);
	uint8_t there = 1;

	for (uint32_t i = 0; i < filter->n_pids && !error; i++)
		error = bpf_map_update_elem(pids, &filter->pids[i], &there, 0) ? -errno : 0;
	for (uint32_t i = 0; i < filter->n_devices && !error; i++)
		error = bpf_map_update_elem(devices, &filter->device_keys[i], &there, 0) ? -errno : 0;
	return error;
}

/* Whether single packets are recorded, of which the filter leaves some out. */
static bool has_hooks(const struct nt_plan *plan)
{
	return plan->chosen[NT_PROBE_LATENCY] || plan->chosen[NT_PROBE_TRANSMIT];
}

/* What is thinned takes its gaps in one order: each begins somewhere else in it. */
static void spread_thinnings(struct nt_kernel *kernel)
{
	for (uint32_t cpu = 0; cpu < kernel->n_cpus; cpu++)
		for (int what = 0; what < NT_KMEM_KIND_COUNT; what++)
			for (int is_large = 0; is_large < 2; is_large++)
				kernel->cpus[cpu].kmem[what][is_large].at = nt_gaps_random(NULL);
}

/* Everything that the probes latency and transmit need beside their programs. An error is explained in `message`. */
static int prepare_hooks(struct nt_kernel *kernel, const struct nt_record_options *options, char *message,
			 size_t message_size)
{
	bool stamps_come;
	int error;

	if (!has_hooks(&options->plan))
		return 0;
	error = fill_filters(kernel, &options->filter);
	if (error)
		return explain(error, "tell the programs what to record", message, message_size);
	nt_filter_spread((const struct nt_latency_config *)(uintptr_t)&kernel->skeleton->rodata->nt_config.latency,
			 kernel->cpus, kernel->n_cpus);
	if (!options->plan.chosen[NT_PROBE_LATENCY])
		return 0;
	kernel->stamps_fd = nt_stamps_open(&stamps_come);
	if (kernel->stamps_fd < 0) {
		snprintf(message, message_size,
			 "cannot make the kernel timestamp packets (SO_TIMESTAMPING): %s: a sandbox or security module "
			 "may forbid such sockets; record without the probe latency, or allow them",
			 strerror(-kernel->stamps_fd));
		return kernel->stamps_fd;
	}
	if (!stamps_come && !options->quiet)
		fprintf(stderr, "nettape-record: the kernel does not timestamp packets yet: those without a timestamp "
				"are counted as no_stamp and make no sample\n");
	return 0;
}

/* A file's number; if there is none, `otherwise`. */
static unsigned int number_in(const char *path, unsigned int otherwise)
{
	FILE *file = fopen(path, "re");
	unsigned int number = otherwise;

	if (file && fscanf(file, "%u", &number) != 1)
		number = otherwise;
	if (file)
		fclose(file);
	return number;
}

/* How many frames of a stack the kernel keeps, if it was told to keep fewer than fit. */
static unsigned int stack_frames(void)
{
	const unsigned int frames = number_in("/proc/sys/kernel/perf_event_max_stack", NT_STACK_MAX_FRAMES);

	return frames < NT_STACK_MAX_FRAMES ? frames : NT_STACK_MAX_FRAMES;
}

static void fill_stacks(struct nt_config *config, const struct nt_record_options *options)
{
	config->stacks_all = options->stacks_all;
	config->user_stacks = options->user_stacks;
	config->stack_frames = stack_frames();
	config->sees_ticks = nt_plan_attaches(&options->plan, "nt_tick_end");
}

/* So that nobody outside knows which flows share a place. */
static int draw_hashes(struct nt_kernel *kernel)
{
	struct nt_config *config = (struct nt_config *)(uintptr_t)&kernel->skeleton->rodata->nt_config;
	const ssize_t size = sizeof(config->flow_hashes);

	return getrandom(config->flow_hashes, size, 0) == size ? 0 : -errno;
}

static void fill_config(struct nt_kernel *kernel, const struct nt_record_options *options)
{
	struct nt_config *config = (struct nt_config *)(uintptr_t)&kernel->skeleton->rodata->nt_config;
	const struct nt_candidate *socket = options->plan.chosen[NT_PROBE_SOCKET];

	config->wake_bytes = options->ring_size / 4;
	config->notes_begins = socket && !socket->only_ends;
	config->ops_by_task = socket && socket->ops_by_task;
	config->busy_loops = nt_plan_attaches(&options->plan, "nt_enter_napi_busy_loop");
	config->busy_begins = options->plan.chosen[NT_PROBE_BUSYPOLL] &&
			      (config->busy_loops || nt_plan_attaches(&options->plan, "nt_sys_enter"));
	config->switch_args = options->plan.switch_args;
	config->drop_args = options->plan.drop_args;
	config->retransmit_args = options->plan.retransmit_args;
	config->has_casts = options->plan.has_casts;
	config->reads_cookies = options->plan.reads_cookies;
	config->is_preempted = options->plan.preempted != 0;
	config->cgroups_of = options->plan.hierarchy.of;
	config->hierarchy = options->plan.hierarchy.number;
	fill_latency(&config->latency, options);
	fill_stacks(config, options);
	if (options->plan.chosen[NT_PROBE_FLOWS])
		nt_flows_configure(&options->flows, &config->flows);
	config->probe_irq = options->plan.chosen[NT_PROBE_IRQ] != NULL;
	config->probe_memory = options->plan.chosen[NT_PROBE_MEMORY] != NULL;
	if (options->plan.chosen[NT_PROBE_KMEM])
		nt_gaps_draw_thinning(&config->thinning, nt_gaps_random, NULL);
	config->page_kib_shift = (uint8_t)(__builtin_ctzl((unsigned long)sysconf(_SC_PAGESIZE)) - 10);
	config->probe_transmit = options->plan.chosen[NT_PROBE_TRANSMIT] != NULL;
	config->probe_raise = options->plan.chosen[NT_PROBE_RAISE] != NULL;
	config->probe_deliver = options->plan.chosen[NT_PROBE_DELIVER] != NULL;
	config->cuts_polls = nt_plan_attaches(&options->plan, "nt_rx_poll");
	config->gro_batch = number_in("/proc/sys/net/core/gro_normal_batch", GRO_BATCH);
	config->knows_context = config->probe_irq && options->plan.chosen[NT_PROBE_SOFTIRQ];
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].nr < NT_MAX_CALL_NR)
			config->calls[calls[i].nr] = calls[i].info;
}

/* The programs know functions by their addresses: without any they have nothing to do. */
static void find_net_timers(struct nt_kernel *kernel, struct nt_plan *plan)
{
	static const char *const names[NT_NET_TIMER_COUNT] = {
#define X(number, function) [number] = #function,
		NT_NET_TIMERS(X)
#undef X
	};
	struct nt_config *config = (struct nt_config *)(uintptr_t)&kernel->skeleton->rodata->nt_config;
	uint64_t addresses[NT_NET_TIMER_COUNT];
	bool is_found = false;

	if (!plan->chosen[NT_PROBE_NETTIMERS])
		return;
	nt_symbols_look_up(names, NT_NET_TIMER_COUNT, addresses);
	for (size_t i = 0; i < NT_NET_TIMER_COUNT; i++) {
		config->net_timers[i] = addresses[i];
		is_found |= addresses[i] != 0;
	}
	if (is_found)
		return;
	plan->chosen[NT_PROBE_NETTIMERS] = NULL;
	snprintf(plan->refused[NT_PROBE_NETTIMERS], sizeof(plan->refused[NT_PROBE_NETTIMERS]),
		 "it hides the addresses of its functions: /proc/kallsyms");
}

/* Also for CPUs that are there and offline: they may come online at any time. */
static int make_rings(struct nt_kernel *kernel, size_t size)
{
	uint8_t *present = calloc(kernel->n_cpus, 1);
	int error = present ? nt_read_cpu_list(PRESENT, present, kernel->n_cpus) : -ENOMEM;

	for (uint32_t cpu = 0; cpu < kernel->n_cpus && !error; cpu++)
		if (present[cpu])
			error = nt_kernel_make_ring(kernel, cpu, size);
	free(present);
	return error;
}

static int map_cpus(struct nt_kernel *kernel)
{
	void *map = mmap(NULL, kernel->n_cpus * sizeof(struct nt_cpu), PROT_READ | PROT_WRITE, MAP_SHARED,
			 bpf_map__fd(kernel->skeleton->maps.nt_cpus), 0);

	if (map == MAP_FAILED)
		return -errno;
	kernel->cpus = map;
	return 0;
}

/* A map takes its memory even if no program uses it. */
static void leave_out_maps(struct nt_kernel *kernel, const struct nt_plan *plan)
{
	struct bpf_map *of_hooks[] = {
		kernel->skeleton->maps.nt_filter_pids,
		kernel->skeleton->maps.nt_filter_devices,
	};
	struct bpf_map *of_flows[] = {
		kernel->skeleton->maps.nt_flows_cpus,
		kernel->skeleton->maps.nt_flow_cells,
		kernel->skeleton->maps.nt_sampled,
	};

	for (size_t i = 0; i < sizeof(of_hooks) / sizeof(of_hooks[0]); i++)
		bpf_map__set_autocreate(of_hooks[i], has_hooks(plan));
	bpf_map__set_autocreate(kernel->skeleton->maps.nt_tcp_orders, plan->chosen[NT_PROBE_LATENCY] != NULL);
	bpf_map__set_autocreate(kernel->skeleton->maps.nt_noted_packets, plan->chosen[NT_PROBE_TRANSMIT] != NULL);
	bpf_map__set_autocreate(kernel->skeleton->maps.nt_noted_memories, plan->chosen[NT_PROBE_MEMORY] != NULL);
	bpf_map__set_autocreate(kernel->skeleton->maps.nt_noted_bios, plan->chosen[NT_PROBE_BLOCK] != NULL);
	for (size_t i = 0; i < sizeof(of_flows) / sizeof(of_flows[0]); i++)
		bpf_map__set_autocreate(of_flows[i], plan->chosen[NT_PROBE_FLOWS] != NULL);
	bpf_map__set_autocreate(kernel->skeleton->maps.nt_seen_stacks, plan->chosen[NT_PROBE_STACKS] != NULL);
	bpf_map__set_autocreate(kernel->skeleton->maps.nt_stack_buffers, plan->chosen[NT_PROBE_STACKS] != NULL);
	/* Global functions have it, and older kernels check these even where nothing calls them. */
	if (!plan->chosen[NT_PROBE_DELIVER])
		bpf_map__set_max_entries(kernel->skeleton->maps.nt_seen_flows, 1);
}

static void size_flow_maps(struct nt_kernel *kernel, const struct nt_record_options *options)
{
	const uint32_t n = 2 * kernel->n_cpus * (uint32_t)__builtin_popcount(options->flows.keys);
	const uint32_t n_cells = nt_sketch_cells(&options->flows.shape);

	bpf_map__set_max_entries(kernel->skeleton->maps.nt_flows_cpus, kernel->n_cpus);
	bpf_map__set_max_entries(kernel->skeleton->maps.nt_flow_cells, n);
	/* A map of nothing cannot be made. */
	bpf_map__set_value_size(kernel->skeleton->maps.nt_flow_cells,
				(n_cells ? n_cells : 1) * sizeof(struct nt_sketch_cell));
	bpf_map__set_max_entries(kernel->skeleton->maps.nt_sampled, n);
	bpf_map__set_value_size(kernel->skeleton->maps.nt_sampled, nt_sampled_size(nt_flows_set_bits(&options->flows)));
}

static int open_skeleton(struct nt_kernel *kernel, struct nt_record_options *options)
{
	int possible = libbpf_num_possible_cpus();

	if (possible < 0)
		return possible;
	kernel->n_cpus = possible;
	kernel->rings = calloc(kernel->n_cpus, sizeof(*kernel->rings));
	kernel->skeleton = kernel->rings ? nettape__open() : NULL;
	if (!kernel->skeleton)
		return kernel->rings ? -errno : -ENOMEM;
	kernel->object = kernel->skeleton->obj;
	fill_config(kernel, options);
	find_net_timers(kernel, &options->plan);
	bpf_map__set_max_entries(kernel->skeleton->maps.nt_cpus, kernel->n_cpus);
	bpf_map__set_max_entries(kernel->skeleton->maps.nt_rings, kernel->n_cpus);
	size_flow_maps(kernel, options);
	nt_plan_set_autoload(&options->plan, kernel->object);
	leave_out_maps(kernel, &options->plan);
	return draw_hashes(kernel);
}

static int start_sampler(struct nt_kernel *kernel, const struct nt_record_options *options, char *message,
			 size_t message_size)
{
	int error;

	if (!options->plan.chosen[NT_PROBE_STACKS])
		return 0;
	error = nt_sampler_start(&kernel->sampler, kernel->skeleton->progs.nt_stack_sample, kernel->n_cpus,
				 options->stacks_hz);
	if (error == -EINVAL)
		snprintf(message, message_size,
			 "cannot take %u stacks a second: the kernel allows fewer "
			 "(/proc/sys/kernel/perf_event_max_sample_rate): choose a lower -F",
			 options->stacks_hz);
	else if (error == -EMFILE)
		snprintf(message, message_size,
			 "cannot start a clock on each CPU: %s: allow more open files (ulimit -n)", strerror(EMFILE));
	else if (error)
		explain(error, "start a clock on each CPU (perf_event_open)", message, message_size);
	return error;
}

/* ---- what the kernel refuses ---- */

/* A right or a resource is missing, and the kernel refuses no program: another would fail, too. */
static bool is_want(int error)
{
	return error == -EPERM || error == -ENOMEM || error == -EMFILE || error == -ENFILE || error == -EINTR ||
	       error == -EAGAIN;
}

static int choose(struct nt_record_options *options, char *message, size_t message_size)
{
	int error = nt_plan_choose(&options->plan);

	if (error)
		snprintf(message, message_size,
			 "this kernel has no type information (/sys/kernel/btf/vmlinux): it must be built with "
			 "CONFIG_DEBUG_INFO_BTF=y");
	return error;
}

/* --plan asks for one way, and no other will do. */
static int check_only(const struct nt_plan *plan, char *message, size_t message_size)
{
	if (!plan->only || !plan->on[NT_PROBE_SOCKET] || plan->chosen[NT_PROBE_SOCKET])
		return 0;
	snprintf(message, message_size, "this kernel cannot serve the probe socket by --plan %s (%s)", plan->only,
		 plan->refused[NT_PROBE_SOCKET]);
	return -EOPNOTSUPP;
}

static int explain_refusal(int error, const struct nt_refusal *refusal, char *message, size_t message_size)
{
	struct utsname name = {};

	uname(&name);
	snprintf(message, message_size,
		 "this kernel (%s) refuses what nothing can be recorded without (%s%s%s): record on " NT_KERNELS,
		 name.release, refusal->program, refusal->program[0] ? ": " : "",
		 refusal->why[0] ? refusal->why : strerror(-error));
	return error;
}

static int open_and_load(struct nt_kernel *kernel, struct nt_record_options *options, struct nt_refusal *refusal,
			 const char **what)
{
	int error;

	*what = "open the BPF programs";
	error = open_skeleton(kernel, options);
	if (error)
		return error;
	*what = "load the BPF programs";
	nt_refusal_listen(refusal);
	error = nettape__load(kernel->skeleton);
	nt_refusal_listen(NULL);
	return error;
}

/*
 * The kernel refuses something, and libbpf names no program. So the probes are loaded one after the other, and those
 * with which it fails are left out. False: none can be.
 */
static bool leave_out_by_trial(struct nt_record_options *options, struct nt_refusal *refusal)
{
	const struct nt_candidate *chosen[NT_PROBE_COUNT];
	struct nt_plan *plan = &options->plan;
	struct nt_kernel trial = {.stats_fd = -1, .stamps_fd = -1};
	const char *what;
	bool is_left_out = false;
	int error;

	memcpy(chosen, plan->chosen, sizeof(chosen));
	memset(plan->chosen, 0, sizeof(plan->chosen));
	for (int probe = 0; probe < NT_PROBE_COUNT; probe++) {
		if (!chosen[probe] || plan->given_up[probe])
			continue;
		plan->chosen[probe] = chosen[probe];
		error = open_and_load(&trial, options, refusal, &what);
		nt_kernel_release(&trial);
		if (!error)
			continue;
		if (!nt_plan_give_up(plan, probe, refusal->why))
			return false;
		is_left_out = true;
	}
	/* Probes that need one that is left out go with it. */
	return is_left_out && !nt_plan_choose(plan);
}

static int attach(struct nt_kernel *kernel, struct nt_record_options *options, struct nt_refusal *refusal,
		  bool *is_refused, char *message, size_t message_size)
{
	struct nt_attach_failure failure = {};
	char what[128];
	int error = nt_plan_attach(&options->plan, kernel->object, &failure);

	if (!error)
		return 0;
	nt_plan_detach(&options->plan);
	snprintf(what, sizeof(what), "attach to %s", failure.point);
	snprintf(refusal->program, sizeof(refusal->program), "%s", failure.program);
	snprintf(refusal->why, sizeof(refusal->why), "attaching it gives: %s", strerror(-error));
	/* A container may forbid perf events, and allow the rest. */
	*is_refused = (failure.may_be_forbidden && (error == -EPERM || error == -EACCES)) ||
		      (!is_want(error) && error != -EACCES);
	return explain(error, what, message, message_size);
}

static int enable_stats(struct nt_kernel *kernel, char *message, size_t message_size)
{
	int error;

	kernel->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (kernel->stats_fd >= 0)
		return 0;
	error = -errno;
	snprintf(message, message_size, "--bpf-stats needs root or CAP_SYS_ADMIN: %s", strerror(-error));
	return error;
}

/* Loads and attaches the whole plan, or nothing. Sets *is_refused if the kernel refuses what `refusal` tells of. */
static int load_plan(struct nt_kernel *kernel, struct nt_record_options *options, bool is_trial,
		     struct nt_refusal *refusal, bool *is_refused, char *message, size_t message_size)
{
	const char *what;
	int error = options->bpf_stats && !is_trial ? enable_stats(kernel, message, message_size) : 0;

	if (error)
		return error;
	error = open_and_load(kernel, options, refusal, &what);
	if (error) {
		/* Without a program's name it may be a right that is missing. */
		*is_refused = kernel->skeleton && !is_want(error) && (error != -EACCES || refusal->program[0]);
		return explain(error, what, message, message_size);
	}
	if (is_trial)
		return 0;
	error = map_cpus(kernel);
	if (!error)
		error = make_rings(kernel, options->ring_size);
	if (error) {
		snprintf(message, message_size, "cannot make a ring of %zu KiB for each CPU: %s: %s",
			 options->ring_size >> 10, strerror(-error),
			 error == -EMFILE ? "allow more open files (ulimit -n)" : "choose a smaller --ring-size");
		return error;
	}
	if (options->plan.chosen[NT_PROBE_KMEM])
		spread_thinnings(kernel);
	error = prepare_hooks(kernel, options, message, message_size);
	if (error)
		return error;
	return attach(kernel, options, refusal, is_refused, message, message_size);
}

/*
 * A kernel may trust no pointer that a program reads by itself, even from what it trusts. Then no helper takes the
 * sockets that tasks hold, and their cookies are read.
 */
static bool can_read_cookies(struct nt_plan *plan, const struct nt_refusal *refusal)
{
	if (plan->reads_cookies || strcmp(refusal->program, NT_SEED_SOCKETS) != 0)
		return false;
	plan->reads_cookies = true;
	return true;
}

/* The probe or program that the kernel refused leaves the plan. False: nothing can be recorded without it. */
static bool go_without(struct nt_record_options *options, struct nt_refusal *refusal)
{
	if (can_read_cookies(&options->plan, refusal))
		return true;
	return refusal->program[0] ? nt_plan_refuse(&options->plan, refusal->program, refusal->why)
				   : leave_out_by_trial(options, refusal);
}

/* Loads the plan, and whenever the kernel refuses something, the plan without it. */
static int load_what_goes(struct nt_kernel *kernel, struct nt_record_options *options, bool is_trial, char *message,
			  size_t message_size)
{
	struct nt_refusal refusal = {};
	bool is_refused;
	int error = choose(options, message, message_size);

	if (error)
		return error;
	for (;;) {
		is_refused = false;
		/* A trial is to tell of the other probes, too. */
		error = is_trial ? 0 : check_only(&options->plan, message, message_size);
		if (!error)
			error = load_plan(kernel, options, is_trial, &refusal, &is_refused, message, message_size);
		if (!is_refused)
			return error;
		if (!go_without(options, &refusal))
			return explain_refusal(error, &refusal, message, message_size);
		nt_kernel_release(kernel);
	}
}

static void begin(struct nt_kernel *kernel)
{
	memset(kernel, 0, sizeof(*kernel));
	kernel->stats_fd = kernel->stamps_fd = -1;
	nt_refusal_listen(NULL);
}

int nt_kernel_load(struct nt_kernel *kernel, struct nt_record_options *options, char *message, size_t message_size)
{
	int error;

	begin(kernel);
	options->plan.must_know = nt_filter_must_know(&options->filter);
	error = nt_filter_resolve(&options->filter, message, message_size);
	if (!error)
		error = load_what_goes(kernel, options, false, message, message_size);
	return error ? error : start_sampler(kernel, options, message, message_size);
}

int nt_kernel_try(struct nt_record_options *options, char *message, size_t message_size)
{
	struct nt_kernel kernel;
	int error;

	begin(&kernel);
	error = load_what_goes(&kernel, options, true, message, message_size);
	nt_kernel_release(&kernel);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel.c - see kernel.h.
 */
#include "record/kernel.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "record/cpu_list.h"
#include "record/stamps.h"
#include "record/symbols.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "bpf/nettape.skel.h"
#pragma GCC diagnostic pop

#define ONLINE "/sys/devices/system/cpu/online"
#define PRESENT "/sys/devices/system/cpu/present"
#define MAX_SEEDED_SOCKETS 262144 /* 40 MB of memory, 5 MB of tape */

/* What each system call can do to a socket. Whatever this architecture lacks, its headers lack. */
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

/*
 * libbpf's first complaint, the one that says why; its callback takes no argument, hence the variable. With
 * NETTAPE_DEBUG set all of them are printed, the verifier's log too.
 */
static char complaint[256];

__attribute__((format(printf, 2, 0))) static int keep_complaint(enum libbpf_print_level level, const char *format,
								va_list args)
{
	if (getenv("NETTAPE_DEBUG"))
		return vfprintf(stderr, format, args);
	if (level == LIBBPF_WARN && !complaint[0]) {
		vsnprintf(complaint, sizeof(complaint), format, args);
		complaint[strcspn(complaint, "\n")] = 0;
	}
	return 0;
}

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
		snprintf(message, size, "cannot %s: %s%s%s", what, strerror(-error), complaint[0] ? ": " : "",
			 complaint);
	return error;
}

/* Programs at tracepoints are never preempted. */
static void fill_latency(struct nt_latency_config *config, const struct nt_record_options *options)
{
	const struct nt_candidate *way = options->plan.chosen[NT_PROBE_LATENCY];

	if (!way)
		return;
	nt_filter_configure(&options->filter, config);
	config->is_preempted = !strcmp(way->name, "fentry") && nt_kernel_preempts_itself();
}

/* What is asked for by number or key. */
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

/* What probe latency needs beside its programs. What it gives is explained in `message`. */
static int prepare_latency(struct nt_kernel *kernel, const struct nt_record_options *options, char *message,
			   size_t message_size)
{
	bool stamps_come;
	int error;

	if (!options->plan.chosen[NT_PROBE_LATENCY])
		return 0;
	error = fill_filters(kernel, &options->filter);
	if (error)
		return explain(error, "tell the programs what to record", message, message_size);
	nt_filter_spread((const struct nt_latency_config *)(uintptr_t)&kernel->skeleton->rodata->nt_config.latency,
			 kernel->cpus, kernel->n_cpus);
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

/* How many frames of a stack the kernel keeps, if it was told to keep fewer than fit. */
static unsigned int stack_frames(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned int frames = NT_STACK_MAX_FRAMES;

	if (file && fscanf(file, "%u", &frames) != 1)
		frames = NT_STACK_MAX_FRAMES;
	if (file)
		fclose(file);
	return frames < NT_STACK_MAX_FRAMES ? frames : NT_STACK_MAX_FRAMES;
}

static void fill_stacks(struct nt_config *config, const struct nt_record_options *options)
{
	config->stacks_all = options->stacks_all;
	config->user_stacks = options->user_stacks;
	config->stack_frames = stack_frames();
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
	config->drop_args = options->plan.drop_args;
	config->retransmit_args = options->plan.retransmit_args;
	config->has_casts = options->plan.has_casts;
	fill_latency(&config->latency, options);
	fill_stacks(config, options);
	config->probe_irq = options->plan.chosen[NT_PROBE_IRQ] != NULL;
	config->probe_deliver = options->plan.chosen[NT_PROBE_DELIVER] != NULL;
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

static int make_ring(struct nt_kernel *kernel, uint32_t cpu, size_t size)
{
	int error = nt_ring_reader_init(&kernel->rings[cpu], size);

	if (error)
		return error;
	return bpf_map_update_elem(bpf_map__fd(kernel->skeleton->maps.nt_rings), &cpu, &kernel->rings[cpu].fd, 0)
		       ? -errno
		       : 0;
}

/* Also for CPUs that are there and offline: they may come online at any time. */
static int make_rings(struct nt_kernel *kernel, size_t size)
{
	uint8_t *present = calloc(kernel->n_cpus, 1);
	int error = present ? nt_read_cpu_list(PRESENT, present, kernel->n_cpus) : -ENOMEM;

	for (uint32_t cpu = 0; cpu < kernel->n_cpus && !error; cpu++)
		if (present[cpu])
			error = make_ring(kernel, cpu, size);
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
	struct bpf_map *maps[] = {
		kernel->skeleton->maps.nt_filter_pids,
		kernel->skeleton->maps.nt_filter_devices,
		kernel->skeleton->maps.nt_tcp_orders,
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		bpf_map__set_autocreate(maps[i], plan->chosen[NT_PROBE_LATENCY] != NULL);
	bpf_map__set_autocreate(kernel->skeleton->maps.nt_seen_stacks, plan->chosen[NT_PROBE_STACKS] != NULL);
	bpf_map__set_autocreate(kernel->skeleton->maps.nt_seen_flows, plan->chosen[NT_PROBE_DELIVER] != NULL);
	bpf_map__set_autocreate(kernel->skeleton->maps.nt_stack_buffers, plan->chosen[NT_PROBE_STACKS] != NULL);
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
	nt_plan_set_autoload(&options->plan, kernel->object);
	leave_out_maps(kernel, &options->plan);
	return 0;
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

int nt_kernel_load(struct nt_kernel *kernel, struct nt_record_options *options, char *message, size_t message_size)
{
	const char *failed = "";
	char what[128];
	int error;

	memset(kernel, 0, sizeof(*kernel));
	kernel->stats_fd = kernel->stamps_fd = -1;
	libbpf_set_print(keep_complaint);
	options->plan.must_know = nt_filter_must_know(&options->filter);
	error = nt_filter_resolve(&options->filter, message, message_size);
	if (error)
		return error;
	error = nt_plan_choose(&options->plan);
	if (error) {
		snprintf(message, message_size,
			 "this kernel has no type information (/sys/kernel/btf/vmlinux): it must be built with "
			 "CONFIG_DEBUG_INFO_BTF=y");
		return error;
	}
	if (options->plan.only && options->plan.on[NT_PROBE_SOCKET] && !options->plan.chosen[NT_PROBE_SOCKET]) {
		snprintf(message, message_size, "this kernel cannot serve the probe socket by --plan %s (%s)",
			 options->plan.only, options->plan.refused[NT_PROBE_SOCKET]);
		return -EOPNOTSUPP;
	}
	error = open_skeleton(kernel, options);
	if (error)
		return explain(error, "open the BPF programs", message, message_size);
	if (options->bpf_stats) {
		kernel->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
		if (kernel->stats_fd < 0) {
			error = -errno;
			snprintf(message, message_size, "--bpf-stats needs root or CAP_SYS_ADMIN: %s",
				 strerror(-error));
			return error;
		}
	}
	error = nettape__load(kernel->skeleton);
	if (error)
		return explain(error, "load the BPF programs", message, message_size);
	error = map_cpus(kernel);
	if (!error)
		error = make_rings(kernel, options->ring_size);
	if (error) {
		snprintf(message, message_size, "cannot make a ring of %zu KiB for each CPU: %s: %s",
			 options->ring_size >> 10, strerror(-error),
			 error == -EMFILE ? "allow more open files (ulimit -n)" : "choose a smaller --ring-size");
		return error;
	}
	error = prepare_latency(kernel, options, message, message_size);
	if (error)
		return error;
	error = nt_plan_attach(&options->plan, kernel->object, &failed);
	if (error) {
		snprintf(what, sizeof(what), "attach to %s", failed);
		return explain(error, what, message, message_size);
	}
	return start_sampler(kernel, options, message, message_size);
}

/* A socket that is known stays as it is: many may hold it, and the first is taken. */
static bool is_new_socket(const struct nt_ids *ids, const union nt_any *record)
{
	return record->record.kind == NT_SOCKET && !nt_ids_knows(ids, NT_ROLE_SOCKET, record->as_socket.socket);
}

/* Idle tasks need no identity. */
static bool is_seed(const struct nt_ids *ids, const union nt_any *record)
{
	return record->record.kind == NT_TASK ? record->as_task.task : is_new_socket(ids, record);
}

/* Reads records of one size from an iterator, and takes up to `most` of them. */
static int read_seeds(int fd, size_t record_size, size_t most, struct nt_ids *ids)
{
	uint8_t buffer[sizeof(union nt_any) * 64];
	size_t have = 0, at, taken = 0;
	ssize_t n;
	int error = 0;

	while (!error && taken < most && (n = read(fd, buffer + have, sizeof(buffer) - have)) != 0) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		have += n;
		for (at = 0; at + record_size <= have && taken < most && !error; at += record_size) {
			union nt_any record;

			memcpy(&record, buffer + at, record_size);
			if (!is_seed(ids, &record))
				continue;
			error = nt_ids_put(ids, &record);
			taken++;
		}
		memmove(buffer, buffer + at, have - at);
		have -= at;
	}
	return error;
}

static int seed(struct bpf_program *program, size_t record_size, size_t most, struct nt_ids *ids)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	int fd, error;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	error = fd < 0 ? fd : read_seeds(fd, record_size, most, ids);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return error;
}

int nt_kernel_seed(struct nt_kernel *kernel, struct nt_ids *ids)
{
	return seed(kernel->skeleton->progs.nt_seed, sizeof(struct nt_task), SIZE_MAX, ids);
}

int nt_kernel_seed_sockets(struct nt_kernel *kernel, const struct nt_plan *plan, struct nt_ids *ids)
{
	return plan->chosen[NT_PROBE_DELIVER] ? seed(kernel->skeleton->progs.nt_seed_sockets, sizeof(struct nt_socket),
						     MAX_SEEDED_SOCKETS, ids)
					      : 0;
}

static int control(struct nt_kernel *kernel, uint32_t cpu, uint64_t command)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = &command, .ctx_size_in = sizeof(command),
		    .flags = BPF_F_TEST_RUN_ON_CPU, .cpu = cpu);

	return bpf_prog_test_run_opts(bpf_program__fd(kernel->skeleton->progs.nt_control), &opts) ? -errno : 0;
}

/* The state of a CPU is written by itself; what we read of it must not be kept in a register. */
static uint64_t load(const __u64 *value)
{
	return __atomic_load_n(value, __ATOMIC_RELAXED);
}

int nt_kernel_start(struct nt_kernel *kernel)
{
	int error;

	for (uint32_t cpu = 0; cpu < kernel->n_cpus; cpu++) {
		if (!kernel->rings[cpu].fd)
			continue;
		error = control(kernel, cpu, NT_CONTROL_START);
		/* Offline: nothing runs there to open its gate. What brings it up will say on the tape that it came. */
		if (error == -ENXIO)
			kernel->cpus[cpu].gate = 1;
		else if (error)
			return error;
		if (load(&kernel->cpus[cpu].start_ns) > kernel->start_ns)
			kernel->start_ns = load(&kernel->cpus[cpu].start_ns);
	}
	return 0;
}

void nt_kernel_begin_generation(struct nt_kernel *kernel, uint32_t generation)
{
	for (uint32_t cpu = 0; cpu < kernel->n_cpus; cpu++)
		__atomic_store_n(&kernel->cpus[cpu].generation, generation, __ATOMIC_RELAXED);
}

void nt_kernel_stop(struct nt_kernel *kernel, struct nt_plan *plan)
{
	for (uint32_t cpu = 0; cpu < kernel->n_cpus; cpu++) {
		uint64_t stop_ns;

		/* A CPU that has gone offline cannot answer; it writes nothing either. */
		if (!kernel->rings[cpu].fd || control(kernel, cpu, NT_CONTROL_STOP))
			continue;
		stop_ns = load(&kernel->cpus[cpu].stop_ns);
		if (stop_ns && (!kernel->end_ns || stop_ns < kernel->end_ns))
			kernel->end_ns = stop_ns;
	}
	nt_sampler_release(&kernel->sampler);
	nt_plan_detach(plan);
}

void nt_kernel_flush_losses(struct nt_kernel *kernel)
{
	for (uint32_t cpu = 0; cpu < kernel->n_cpus; cpu++)
		if (kernel->rings[cpu].fd && kernel->cpus[cpu].lossy)
			control(kernel, cpu, NT_CONTROL_FLUSH);
}

void nt_kernel_refresh(struct nt_kernel *kernel, uint64_t now_ns, uint64_t idle_ns)
{
	for (uint32_t cpu = 0; cpu < kernel->n_cpus; cpu++) {
		const struct nt_cpu *state = &kernel->cpus[cpu];

		if (kernel->rings[cpu].fd && __atomic_load_n(&state->batch.end, __ATOMIC_RELAXED) &&
		    load(&state->state_ns) + idle_ns < now_ns)
			control(kernel, cpu, NT_CONTROL_REFRESH);
	}
}

int nt_kernel_drain_batch(struct nt_kernel *kernel, uint32_t cpu, nt_ring_item_fn take, void *arg)
{
	struct nt_batch *batch = &kernel->cpus[cpu].batch;
	uint32_t begin = batch->begin, end = batch->end;

	batch->begin = batch->end = 0;
	return end > begin && end <= sizeof(batch->data) ? take(arg, (const uint8_t *)batch->data + begin, end - begin)
							 : 0;
}

/* For CPUs that were not even present at the start: plugged in since, by hand or by a hypervisor. */
int nt_kernel_follow_hotplug(struct nt_kernel *kernel, size_t ring_size, unsigned int *changed)
{
	uint8_t online[4096];
	uint32_t n = kernel->n_cpus < sizeof(online) ? kernel->n_cpus : sizeof(online);
	int error = nt_read_cpu_list(ONLINE, online, n);

	*changed = 0;
	for (uint32_t cpu = 0; cpu < n && !error; cpu++) {
		if (!online[cpu] || kernel->rings[cpu].fd)
			continue;
		error = make_ring(kernel, cpu, ring_size);
		if (!error)
			error = control(kernel, cpu, NT_CONTROL_START);
		(*changed)++;
	}
	/* Without a clock there are no stacks of that CPU: the recording goes on. */
	nt_sampler_follow_hotplug(&kernel->sampler);
	return error;
}

void nt_kernel_release(struct nt_kernel *kernel)
{
	nt_sampler_release(&kernel->sampler);
	if (kernel->cpus)
		munmap(kernel->cpus, kernel->n_cpus * sizeof(struct nt_cpu));
	for (uint32_t cpu = 0; cpu < kernel->n_cpus && kernel->rings; cpu++)
		nt_ring_reader_release(&kernel->rings[cpu]);
	free(kernel->rings);
	if (kernel->stats_fd >= 0)
		close(kernel->stats_fd);
	if (kernel->stamps_fd >= 0)
		close(kernel->stamps_fd);
	nettape__destroy(kernel->skeleton);
	memset(kernel, 0, sizeof(*kernel));
	kernel->stats_fd = kernel->stamps_fd = -1;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel.c - see kernel.h.
 */
#include "record/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "record/cpu_list.h"
#include "record/socket_cookies.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "bpf/nettape.skel.h"
#pragma GCC diagnostic pop

#define ONLINE "/sys/devices/system/cpu/online"
#define MAX_SEEDED_SOCKETS 262144 /* 40 MB of memory, 5 MB of tape */

int nt_kernel_make_ring(struct nt_kernel *kernel, uint32_t cpu, size_t size)
{
	int error = nt_ring_reader_init(&kernel->rings[cpu], size);

	if (error)
		return error;
	return bpf_map_update_elem(bpf_map__fd(kernel->skeleton->maps.nt_rings), &cpu, &kernel->rings[cpu].fd, 0)
		       ? -errno
		       : 0;
}

const struct nt_flow_hash *nt_kernel_flow_hashes(const struct nt_kernel *kernel)
{
	return ((const struct nt_config *)(uintptr_t)&kernel->skeleton->rodata->nt_config)->flow_hashes;
}

/* Many may hold a socket, and the first is taken. */
static bool is_new_socket(const struct nt_ids *ids, const union nt_any *record)
{
	return record->record.kind == NT_SOCKET && !nt_ids_knows_holder(ids, record->as_socket.socket);
}

/* Idle tasks need no identity. */
static bool is_seed(const struct nt_ids *ids, const union nt_any *record)
{
	return record->record.kind == NT_TASK ? record->as_task.task : is_new_socket(ids, record);
}

/* Reads records of one size from an iterator, until `most` of them were taken. */
static int read_seeds(int fd, size_t record_size, size_t most, nt_seed_fn *take, void *arg)
{
	uint8_t buffer[sizeof(union nt_any) * 64];
	size_t have = 0, at, taken = 0;
	ssize_t n;
	int result = 0;

	while (result >= 0 && taken < most && (n = read(fd, buffer + have, sizeof(buffer) - have)) != 0) {
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		have += n;
		for (at = 0; at + record_size <= have && taken < most && result >= 0; at += record_size) {
			union nt_any record;

			memcpy(&record, buffer + at, record_size);
			result = take(arg, &record);
			taken += result > 0;
		}
		memmove(buffer, buffer + at, have - at);
		have -= at;
	}
	return result < 0 ? result : 0;
}

static int seed(struct bpf_program *program, size_t record_size, size_t most, nt_seed_fn *take, void *arg)
{
	struct bpf_link *link = bpf_program__attach_iter(program, NULL);
	int fd, error;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	error = fd < 0 ? fd : read_seeds(fd, record_size, most, take, arg);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return error;
}

static int put_seed(void *arg, union nt_any *record)
{
	struct nt_ids *ids = arg;
	int error;

	if (!is_seed(ids, record))
		return 0;
	error = nt_ids_put(ids, record);
	return error ? error : 1;
}

int nt_kernel_seed(struct nt_kernel *kernel, struct nt_ids *ids)
{
	/* From here on, so that no task comes between this list and what the programs tell. */
	for (uint32_t cpu = 0; cpu < kernel->n_cpus; cpu++)
		kernel->cpus[cpu].identity_gate = kernel->rings[cpu].fd != 0;
	return seed(kernel->skeleton->progs.nt_seed, sizeof(struct nt_task), SIZE_MAX, put_seed, ids);
}

int nt_kernel_seed_sockets(struct nt_kernel *kernel, const struct nt_plan *plan, struct nt_ids *ids)
{
	int error;

	if (!nt_plan_attaches(plan, NT_SEED_SOCKETS))
		return 0;
	error = plan->reads_cookies ? nt_socket_cookies_make() : 0;
	if (error)
		return error;
	return seed(kernel->skeleton->progs.nt_seed_sockets, sizeof(struct nt_socket), MAX_SEEDED_SOCKETS, put_seed,
		    ids);
}

int nt_kernel_seed_memory(struct nt_kernel *kernel, nt_seed_fn *take, void *arg)
{
	return seed(kernel->skeleton->progs.nt_seed_memory, sizeof(struct nt_mem_rss), SIZE_MAX, take, arg);
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
		/* Offline: nothing runs there to open its gate. A HOTPLUG record will tell when it comes. */
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

void nt_kernel_refresh(struct nt_kernel *kernel, uint64_t now_ns, uint64_t idle_ns, uint64_t silent_ns)
{
	for (uint32_t cpu = 0; cpu < kernel->n_cpus; cpu++) {
		const struct nt_cpu *state = &kernel->cpus[cpu];
		const uint64_t state_ns = load(&state->state_ns);
		const bool holds = __atomic_load_n(&state->batch.end, __ATOMIC_RELAXED);

		if (kernel->rings[cpu].fd && ((holds && state_ns + idle_ns < now_ns) || state_ns + silent_ns < now_ns))
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
		error = nt_kernel_make_ring(kernel, cpu, ring_size);
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

// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel_test.c - the life of the kernel side over a libbpf that is made here: what the programs are told, which CPUs
 * get a ring, when gates open and close, and the sentence on each thing that can fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>

#include "record/kernel.h"
#include "record/stamps.h"
#include "tests/support/fake_files.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include "bpf/nettape.skel.h"
#pragma GCC diagnostic pop

#define N_CPUS 5
#define RING_SIZE 262144u

/* ---- libbpf ---- */

struct bpf_map {
	const char *name;
	int fd;
	bool is_left_out;
	uint32_t entries, value_size;
};

struct bpf_program {
	const char *name;
};

struct bpf_link {
	int fd;
};

struct update {
	int fd;
	uint64_t key;
	uint32_t value;
};

static struct {
	struct bpf_map maps[40];
	struct bpf_program programs[128];
	_Alignas(64) uint8_t rodata[1 << 17];
	struct update updates[64];
	struct bpf_link link;
	int n_maps, n_updates;
	/* what a test asks for: negative errnos */
	int possible, open, load, stats, rings, attach, sampler, stamps, update, iter, choose;
	bool (*takes)(void); /* whether this load succeeds; it says why not as libbpf does. NULL: all do */
	bool needs_all; /* nothing can be done without */
	bool fails_by_event; /* what cannot be attached is a perf event */
	bool stamps_come, preempts;
	int control[N_CPUS]; /* by CPU */
	/* what has been seen */
	struct {
		uint32_t cpu;
		uint64_t command;
	} controls[64];
	int n_controls, n_detached, n_sampler_released, n_followed, n_destroyed, n_links_destroyed, n_rings_released;
	int n_loads, n_refused, given_up; /* given_up: bits by probe */
	char refused[64], why[256];
	unsigned int hz;
	libbpf_print_fn_t print;
	const char *attaches, *iterated;
} bpf;

int libbpf_num_possible_cpus(void)
{
	return bpf.possible;
}

libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t print)
{
	bpf.print = print;
	return NULL;
}

/* One of a skeleton's array: bpftool made the array, and its elements may be shorter than in libbpf's header. */
static void *element(void *array, int i, int size)
{
	return (char *)array + (ptrdiff_t)i * size;
}

int bpf_object__open_skeleton(struct bpf_object_skeleton *skeleton, const struct bpf_object_open_opts *opts)
{
	(void)opts;
	errno = -bpf.open;
	if (bpf.open)
		return bpf.open;
	for (int i = 0; i < skeleton->map_cnt; i++) {
		const struct bpf_map_skeleton *named = element(skeleton->maps, i, skeleton->map_skel_sz);
		struct bpf_map *map = &bpf.maps[bpf.n_maps];

		*map = (struct bpf_map){.name = named->name, .fd = 1000 + bpf.n_maps};
		bpf.n_maps++;
		*named->map = map;
		if (named->mmaped)
			*named->mmaped = bpf.rodata;
		if (!strcmp(map->name, "nt_cpus")) {
			map->fd = memfd_create("cpus", MFD_CLOEXEC);
			assert_int_equal(ftruncate(map->fd, sizeof(struct nt_cpu) * N_CPUS), 0);
		}
	}
	for (int i = 0; i < skeleton->prog_cnt; i++) {
		const struct bpf_prog_skeleton *named = element(skeleton->progs, i, skeleton->prog_skel_sz);

		bpf.programs[i].name = named->name;
		*named->prog = &bpf.programs[i];
	}
	return 0;
}

int bpf_object__load_skeleton(struct bpf_object_skeleton *skeleton)
{
	(void)skeleton;
	bpf.n_loads++;
	return bpf.takes && !bpf.takes() ? -EINVAL : bpf.load;
}

void bpf_object__destroy_skeleton(struct bpf_object_skeleton *skeleton)
{
	bpf.n_destroyed++;
	for (int i = 0; i < bpf.n_maps; i++)
		if (bpf.maps[i].fd < 1000)
			close(bpf.maps[i].fd);
	bpf.n_maps = 0;
	if (!skeleton)
		return;
	free(skeleton->maps);
	free(skeleton->progs);
	free(skeleton);
}

static struct bpf_map *map_named(const char *name)
{
	for (int i = 0; i < bpf.n_maps; i++)
		if (!strcmp(bpf.maps[i].name, name))
			return &bpf.maps[i];
	fail_msg("there is no map %s", name);
	return NULL;
}

int bpf_map__fd(const struct bpf_map *map)
{
	return map->fd;
}

int bpf_map__set_max_entries(struct bpf_map *map, uint32_t entries)
{
	map->entries = entries;
	return 0;
}

int bpf_map__set_value_size(struct bpf_map *map, uint32_t size)
{
	map->value_size = size;
	return 0;
}

int bpf_map__set_autocreate(struct bpf_map *map, bool is_made)
{
	map->is_left_out = !is_made;
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	struct update *update = &bpf.updates[bpf.n_updates++];
	bool is_ring = fd == map_named("nt_rings")->fd;

	assert_int_equal(flags, 0);
	*update = (struct update){.fd = fd};
	memcpy(&update->key, key, fd == map_named("nt_filter_devices")->fd ? 8 : 4);
	memcpy(&update->value, value, is_ring ? 4 : 1);
	errno = -bpf.update;
	return bpf.update ? -1 : 0;
}

int bpf_enable_stats(enum bpf_stats_type type)
{
	assert_int_equal(type, BPF_STATS_RUN_TIME);
	errno = -bpf.stats;
	return bpf.stats ? -1 : dup(0);
}

struct bpf_link *bpf_program__attach_iter(const struct bpf_program *program, const struct bpf_iter_attach_opts *opts)
{
	(void)opts;
	assert_string_equal(program->name, bpf.iterated);
	errno = -bpf.attach;
	return bpf.attach ? NULL : &bpf.link;
}

int bpf_link__fd(const struct bpf_link *link)
{
	return link->fd;
}

int bpf_link__destroy(struct bpf_link *link)
{
	bpf.n_links_destroyed += link != NULL;
	return 0;
}

int bpf_iter_create(int link_fd)
{
	assert_int_equal(link_fd, bpf.link.fd);
	return bpf.iter;
}

int bpf_program__fd(const struct bpf_program *program)
{
	assert_string_equal(program->name, "nt_control");
	return 77;
}

int bpf_prog_test_run_opts(int program, struct bpf_test_run_opts *opts)
{
	assert_int_equal(program, 77);
	assert_int_equal(opts->flags, BPF_F_TEST_RUN_ON_CPU);
	assert_int_equal(opts->ctx_size_in, 8);
	bpf.controls[bpf.n_controls].cpu = opts->cpu;
	memcpy(&bpf.controls[bpf.n_controls++].command, opts->ctx_in, 8);
	errno = -bpf.control[opts->cpu];
	return bpf.control[opts->cpu] ? -1 : 0;
}

/* ---- the recorder's other parts ---- */

int nt_ring_reader_init(struct nt_ring_reader *ring, size_t size)
{
	assert_int_equal(size, RING_SIZE);
	ring->fd = 500;
	ring->size = size;
	return bpf.rings;
}

void nt_ring_reader_release(struct nt_ring_reader *ring)
{
	bpf.n_rings_released += ring->size != 0;
	memset(ring, 0, sizeof(*ring));
}

int nt_sampler_start(struct nt_sampler *sampler, struct bpf_program *program, uint32_t n_cpus, unsigned int hz)
{
	(void)sampler;
	assert_string_equal(program->name, "nt_stack_sample");
	assert_int_equal(n_cpus, N_CPUS);
	bpf.hz = hz;
	return bpf.sampler;
}

int nt_sampler_follow_hotplug(struct nt_sampler *sampler)
{
	(void)sampler;
	bpf.n_followed++;
	return 0;
}

void nt_sampler_release(struct nt_sampler *sampler)
{
	(void)sampler;
	bpf.n_sampler_released++;
}

int nt_stamps_open(bool *come)
{
	*come = bpf.stamps_come;
	return bpf.stamps ? bpf.stamps : dup(0);
}

int nt_plan_choose(struct nt_plan *plan)
{
	(void)plan;
	return bpf.choose;
}

bool nt_plan_attaches(const struct nt_plan *plan, const char *program)
{
	(void)plan;
	return bpf.attaches && !strcmp(bpf.attaches, program);
}

void nt_plan_set_autoload(const struct nt_plan *plan, struct bpf_object *object)
{
	(void)plan, (void)object;
}

bool nt_plan_refuse(struct nt_plan *plan, const char *program, const char *why)
{
	(void)plan;
	bpf.n_refused++;
	snprintf(bpf.refused, sizeof(bpf.refused), "%s", program);
	snprintf(bpf.why, sizeof(bpf.why), "%s", why);
	return !bpf.needs_all;
}

bool nt_plan_give_up(struct nt_plan *plan, int probe, const char *why)
{
	plan->chosen[probe] = NULL;
	plan->given_up[probe] = true;
	bpf.given_up |= 1 << probe;
	snprintf(bpf.why, sizeof(bpf.why), "%s", why);
	return probe != NT_PROBE_SCHED;
}

int nt_plan_attach(struct nt_plan *plan, struct bpf_object *object, struct nt_attach_failure *failure)
{
	(void)plan, (void)object;
	*failure = (struct nt_attach_failure){"nt_sched_switch", "sched_switch", bpf.fails_by_event};
	return bpf.attach;
}

void nt_plan_detach(struct nt_plan *plan)
{
	(void)plan;
	bpf.n_detached++;
}

bool nt_kernel_preempts_itself(void)
{
	return bpf.preempts;
}

/* ---- a recording ---- */

static struct fake_file files[] = {{"/sys/devices/system/cpu/present", "0,2-3\n"},
				   {"/sys/devices/system/cpu/online", "0,2\n"},
				   {"/proc/sys/kernel/perf_event_max_stack", "127\n"},
				   {"/proc/kallsyms", NULL},
				   {}};
static const struct nt_candidate fentry = {.name = "fentry", .ops_by_task = true},
				 tracepoints = {.name = "tracepoints"}, ends = {.name = "ends", .only_ends = true};

static struct nt_record_options options;
static struct nt_kernel kernel;
static char message[512];
static uid_t euid;

uid_t geteuid(void)
{
	return euid;
}

static int set_up(void **state)
{
	(void)state;
	memset(&bpf, 0, sizeof(bpf));
	memset(&options, 0, sizeof(options));
	memset(&kernel, 0xee, sizeof(kernel));
	bpf.possible = N_CPUS;
	bpf.stamps_come = true;
	bpf.link.fd = 33;
	files[0].text = "0,2-3\n";
	files[1].text = "0,2\n";
	files[2].text = "127\n";
	files[3].text = NULL;
	fake_files = files;
	options.ring_size = RING_SIZE;
	options.quiet = true;
	options.plan.on[NT_PROBE_SCHED] = true;
	options.plan.chosen[NT_PROBE_SCHED] = &tracepoints;
	euid = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nt_kernel_release(&kernel);
	return 0;
}

static void load(void)
{
	int error;

	bpf.n_controls = bpf.n_updates = 0;
	error = nt_kernel_load(&kernel, &options, message, sizeof(message));
	if (error)
		fail_msg("%s: %s", strerror(-error), message);
}

static const struct nt_config *config(void)
{
	return (const struct nt_config *)(uintptr_t)&kernel.skeleton->rodata->nt_config;
}

static void load_again(void)
{
	nt_kernel_release(&kernel);
	memset(bpf.rodata, 0, sizeof(bpf.rodata));
	load();
}

static void present_cpus_get_rings(void **state)
{
	const int fd = 500;
	static const uint32_t cpus[] = {0, 2, 3};

	(void)state;
	load();
	assert_int_equal(kernel.n_cpus, N_CPUS);
	assert_int_equal(map_named("nt_cpus")->entries, N_CPUS);
	assert_int_equal(map_named("nt_rings")->entries, N_CPUS);
	assert_int_equal(bpf.n_updates, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(bpf.updates[i].fd, map_named("nt_rings")->fd);
		assert_int_equal(bpf.updates[i].key, cpus[i]);
		assert_int_equal(bpf.updates[i].value, fd);
		assert_int_equal(kernel.rings[cpus[i]].fd, fd);
	}
	assert_int_equal(kernel.rings[1].fd, 0);
	assert_int_equal(kernel.rings[4].fd, 0);
	assert_int_equal(kernel.stats_fd, -1);
	assert_int_equal(kernel.stamps_fd, -1);
	assert_true(map_named("nt_filter_pids")->is_left_out);
	assert_true(map_named("nt_filter_devices")->is_left_out);
	assert_true(map_named("nt_tcp_orders")->is_left_out);
	assert_true(map_named("nt_seen_stacks")->is_left_out);
	assert_true(map_named("nt_stack_buffers")->is_left_out);
	assert_int_equal(bpf.hz, 0);
	nt_kernel_release(&kernel);
	assert_int_equal(bpf.n_rings_released, 3);
	assert_int_equal(bpf.n_destroyed, 1);
	assert_null(kernel.cpus);
	assert_int_equal(kernel.stats_fd, -1);
	assert_int_equal(kernel.stamps_fd, -1);
}

static void programs_are_told(void **state)
{
	(void)state;
	load();
	assert_int_equal(config()->wake_bytes, RING_SIZE / 4);
	assert_false(config()->notes_begins || config()->probe_irq || config()->ops_by_task || config()->has_casts ||
		     config()->knows_context || config()->busy_begins || config()->busy_loops || config()->stacks_all ||
		     config()->user_stacks);
	assert_int_equal(config()->calls[SYS_sendto].dir, NT_SEND);
	assert_int_equal(config()->calls[SYS_splice].fd_arg, 2);
	assert_int_equal(config()->calls[SYS_ppoll].flags, NT_CALL_WAITS);

	options.plan.chosen[NT_PROBE_SOCKET] = &tracepoints;
	options.plan.chosen[NT_PROBE_IRQ] = options.plan.chosen[NT_PROBE_BUSYPOLL] = &tracepoints;
	options.plan.switch_args = 4;
	options.plan.drop_args = 4;
	options.plan.retransmit_args = 3;
	options.plan.has_casts = true;
	options.stacks_all = true;
	bpf.attaches = "nt_sys_enter";
	load_again();
	assert_true(config()->notes_begins && config()->probe_irq && config()->busy_begins && config()->stacks_all);
	assert_false(config()->ops_by_task || config()->busy_loops || config()->knows_context || config()->user_stacks);
	assert_int_equal(config()->switch_args, 4);
	assert_int_equal(config()->drop_args, 4);
	assert_int_equal(config()->retransmit_args, 3);
	assert_true(config()->has_casts);

	options.plan.chosen[NT_PROBE_SOCKET] = &fentry;
	options.plan.chosen[NT_PROBE_SOFTIRQ] = &tracepoints;
	options.user_stacks = true;
	bpf.attaches = "nt_enter_napi_busy_loop";
	load_again();
	assert_true(config()->ops_by_task && config()->busy_loops && config()->busy_begins && config()->knows_context &&
		    config()->user_stacks);
	options.plan.chosen[NT_PROBE_SOCKET] = &ends;
	load_again();
	assert_false(config()->notes_begins || config()->ops_by_task);
	options.plan.chosen[NT_PROBE_BUSYPOLL] = options.plan.chosen[NT_PROBE_IRQ] = NULL;
	load_again();
	assert_false(config()->busy_begins || config()->probe_irq || config()->knows_context);
	options.plan.chosen[NT_PROBE_BUSYPOLL] = &tracepoints;
	bpf.attaches = NULL;
	load_again();
	assert_false(config()->busy_begins);
}

static void functions_of_timers_are_told(void **state)
{
	(void)state;
	files[3].text = "ffffffff81000100 T tcp_v4_rcv\nffffffff81000200 t tcp_write_timer\n"
			"ffffffffc0000000 t mptcp_timeout_timer\t[mptcp]\n";
	load();
	assert_int_equal(config()->net_timers[NT_NET_TIMER_tcp_write_timer], 0);
	options.plan.chosen[NT_PROBE_NETTIMERS] = &tracepoints;
	load_again();
	assert_int_equal(config()->net_timers[NT_NET_TIMER_tcp_write_timer], 0xffffffff81000200ull);
	assert_int_equal(config()->net_timers[NT_NET_TIMER_mptcp_timeout_timer], 0xffffffffc0000000ull);
	assert_int_equal(config()->net_timers[NT_NET_TIMER_tcp_delack_timer], 0);
	assert_ptr_equal(options.plan.chosen[NT_PROBE_NETTIMERS], &tracepoints);
	/* Without any it is not recorded, and says why. */
	files[3].text = "0000000000000000 t tcp_write_timer\n";
	load_again();
	assert_null(options.plan.chosen[NT_PROBE_NETTIMERS]);
	assert_non_null(strstr(options.plan.refused[NT_PROBE_NETTIMERS], "/proc/kallsyms"));
}

static void frames_that_the_kernel_keeps(void **state)
{
	static const struct {
		const char *text;
		unsigned int frames;
	} cases[] = {{"20\n", 20},
		     {"100000\n", NT_STACK_MAX_FRAMES},
		     {"x", NT_STACK_MAX_FRAMES},
		     {NULL, NT_STACK_MAX_FRAMES}};

	(void)state;
	load();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		files[2].text = cases[i].text;
		load_again();
		assert_int_equal(config()->stack_frames, cases[i].frames);
	}
}

static void latency_is_prepared(void **state)
{
	(void)state;
	options.plan.chosen[NT_PROBE_LATENCY] = &fentry;
	options.filter.n_pids = 1;
	options.filter.pids[0] = (uint32_t)getpid();
	options.filter.min_queue = 9;
	load();
	assert_int_equal(options.plan.must_know, NT_KNOWS_TASK | NT_KNOWS_QUEUE);
	assert_int_equal(bpf.n_updates, 4);
	assert_int_equal(bpf.updates[3].fd, map_named("nt_filter_pids")->fd);
	assert_int_equal(bpf.updates[3].key, getpid());
	assert_int_equal(bpf.updates[3].value, 1);
	assert_true(kernel.stamps_fd >= 0);
	assert_true(nt_filter_add_device(&options.filter, "lo"));
	load_again();
	assert_int_equal(bpf.n_updates, 5);
	assert_int_equal(bpf.updates[4].fd, map_named("nt_filter_devices")->fd);
	assert_true(bpf.updates[4].key == options.filter.device_keys[0] && bpf.updates[4].key);
	assert_int_equal(bpf.updates[4].value, 1);
	assert_false(map_named("nt_filter_pids")->is_left_out);
	assert_false(config()->latency.is_preempted);
	assert_int_equal(config()->latency.min_queue, 9);
	/* Programs at tracepoints are not, before 7.0. */
	bpf.preempts = true;
	load_again();
	assert_true(config()->latency.is_preempted);
	options.plan.chosen[NT_PROBE_LATENCY] = &tracepoints;
	load_again();
	assert_false(config()->latency.is_preempted);
	assert_false(config()->is_preempted);
	options.plan.preempted = NT_PREEMPTED_IN_TASKS;
	load_again();
	assert_true(config()->latency.is_preempted);
	assert_true(config()->is_preempted);
}

static void stacks_are_prepared(void **state)
{
	(void)state;
	options.plan.chosen[NT_PROBE_STACKS] = &tracepoints;
	options.stacks_hz = 99;
	load();
	assert_int_equal(bpf.hz, 99);
	assert_false(map_named("nt_seen_stacks")->is_left_out);
	assert_false(map_named("nt_stack_buffers")->is_left_out);
	assert_int_equal(kernel.stamps_fd, -1);
	options.bpf_stats = true;
	load_again();
	assert_true(kernel.stats_fd >= 0);
}

static void flows_are_prepared(void **state)
{
	(void)state;
	load();
	assert_true(map_named("nt_flow_cells")->is_left_out && map_named("nt_sampled")->is_left_out);
	options.plan.chosen[NT_PROBE_FLOWS] = &tracepoints;
	options.flows = (struct nt_flows_options){.sample = 1, .shape = {.rows = 2, .column_bits = 7}, .keys = 0xb};
	load_again();
	assert_false(map_named("nt_flows_cpus")->is_left_out || map_named("nt_flow_cells")->is_left_out ||
		     map_named("nt_sampled")->is_left_out);
	assert_int_equal(map_named("nt_flows_cpus")->entries, N_CPUS);
	assert_int_equal(map_named("nt_sampled")->entries, 3 * 2 * N_CPUS);
	assert_int_equal(map_named("nt_sampled")->value_size, 8 + (512 << 7));
	assert_int_equal(map_named("nt_flow_cells")->entries, 3 * 2 * N_CPUS);
	assert_int_equal(map_named("nt_flow_cells")->value_size, 2 * 128 * sizeof(struct nt_sketch_cell));
	assert_int_equal(config()->flows.shape.rows, 2);
	assert_int_equal(config()->flows.gaps[NT_GAPS - 1], 1);
}

/* ---- what can fail ---- */

static void fails(int error, const char *part)
{
	message[0] = 0;
	assert_int_equal(nt_kernel_load(&kernel, &options, message, sizeof(message)), error);
	if (!strstr(message, part))
		fail_msg("'%s' does not say '%s'", message, part);
	nt_kernel_release(&kernel);
	bpf.possible = N_CPUS;
	bpf.open = bpf.load = bpf.stats = bpf.rings = bpf.attach = bpf.sampler = bpf.stamps = bpf.update = bpf.choose =
		0;
}

static void each_failure_has_a_sentence(void **state)
{
	(void)state;
	bpf.choose = -ENOENT;
	fails(-ENOENT, "this kernel has no type information (/sys/kernel/btf/vmlinux)");
	bpf.possible = -EIO;
	fails(-EIO, "cannot open the BPF programs: Input/output error");
	bpf.open = -ENOMEM;
	fails(-ENOMEM, "cannot open the BPF programs: Cannot allocate memory");
	bpf.load = -EPERM;
	fails(-EPERM,
	      "the kernel refuses BPF (load the BPF programs: Operation not permitted): grant this root CAP_BPF and "
	      "CAP_PERFMON, or record outside the container; a kernel that is locked down refuses BPF to all");
	euid = 1000;
	bpf.load = -EACCES;
	fails(-EACCES,
	      "the kernel refuses BPF (load the BPF programs: Permission denied): run as root, or grant CAP_BPF "
	      "and CAP_PERFMON");
	assert_null(strstr(message, "container"));
	bpf.load = -ENOMEM;
	fails(-ENOMEM, "cannot load the BPF programs: Cannot allocate memory");
	bpf.rings = -EMFILE;
	fails(-EMFILE,
	      "cannot make a ring of 256 KiB for each CPU: Too many open files: allow more open files (ulimit -n)");
	bpf.rings = -ENOMEM;
	fails(-ENOMEM,
	      "cannot make a ring of 256 KiB for each CPU: Cannot allocate memory: choose a smaller --ring-size");
	bpf.update = -E2BIG;
	fails(-E2BIG, "cannot make a ring of 256 KiB for each CPU: Argument list too long");
	bpf.attach = -ENOMEM;
	fails(-ENOMEM, "cannot attach to sched_switch: Cannot allocate memory");
	files[0].text = NULL;
	fails(-ENOENT, "cannot make a ring of 256 KiB for each CPU: No such file or directory");
	files[0].text = "0";
	options.bpf_stats = true;
	bpf.stats = -EPERM;
	fails(-EPERM, "--bpf-stats needs root or CAP_SYS_ADMIN: Operation not permitted");
	options.bpf_stats = false;
	options.filter.cgroup_path = "/nothing";
	fails(-EINVAL, "/nothing is not a cgroup");
}

static void plan_that_cannot_be(void **state)
{
	(void)state;
	options.plan.only = "fentry";
	options.plan.on[NT_PROBE_SOCKET] = true;
	strcpy(options.plan.refused[NT_PROBE_SOCKET], "because");
	fails(-EOPNOTSUPP, "this kernel cannot serve the probe socket by --plan fentry (because)");
	options.plan.on[NT_PROBE_SOCKET] = false;
	load();
	nt_kernel_release(&kernel);
	options.plan.on[NT_PROBE_SOCKET] = true;
	options.plan.chosen[NT_PROBE_SOCKET] = &fentry;
	load();
	nt_kernel_release(&kernel);
	options.plan.only = NULL;
	options.plan.chosen[NT_PROBE_SOCKET] = NULL;
	load();
}

static void failures_of_latency_and_stacks(void **state)
{
	(void)state;
	options.plan.chosen[NT_PROBE_LATENCY] = &fentry;
	bpf.stamps = -EACCES;
	fails(-EACCES, "cannot make the kernel timestamp packets (SO_TIMESTAMPING): Permission denied");
	options.plan.chosen[NT_PROBE_STACKS] = &tracepoints;
	options.stacks_hz = 5000;
	bpf.sampler = -EINVAL;
	fails(-EINVAL, "cannot take 5000 stacks a second: the kernel allows fewer");
	bpf.sampler = -EMFILE;
	fails(-EMFILE, "cannot start a clock on each CPU: Too many open files: allow more open files (ulimit -n)");
	bpf.sampler = -EPERM;
	fails(-EPERM, "the kernel refuses BPF (start a clock on each CPU (perf_event_open): Operation not permitted)");
}

static void say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	bpf.print(LIBBPF_WARN, format, args);
	va_end(args);
}

static bool takes_all_but_a_program(void)
{
	if (bpf.n_refused)
		return true;
	say("libbpf: prog '%s': failed to load: %d\n", "nt_b", -22);
	return false;
}

/* It is loaded again without, from the start. */
static void program_that_is_refused(void **state)
{
	(void)state;
	bpf.takes = takes_all_but_a_program;
	load();
	assert_int_equal(bpf.n_loads, 2);
	assert_int_equal(bpf.n_destroyed, 1);
	assert_string_equal(bpf.refused, "nt_b");
	assert_string_equal(bpf.why, "failed to load: -22");
	nt_kernel_release(&kernel);

	bpf.n_refused = 0;
	bpf.needs_all = true;
	fails(-EINVAL,
	      ") refuses what nothing can be recorded without (nt_b: failed to load: -22): record on Linux 6.1 ");
	assert_non_null(strstr(message, "this kernel ("));
}

static bool takes_cookies_that_are_read(void)
{
	if (options.plan.reads_cookies)
		return true;
	say("libbpf: prog '%s': failed to load: %d\n", NT_SEED_SOCKETS, -EACCES);
	return false;
}

/* It is loaded again with the program, told to read sockets' cookies. */
static void cookies_that_are_refused(void **state)
{
	(void)state;
	bpf.takes = takes_cookies_that_are_read;
	load();
	assert_int_equal(bpf.n_loads, 2);
	assert_int_equal(bpf.n_refused, 0);
	assert_true(config()->reads_cookies);
}

static bool takes_all_but_deliver(void)
{
	if (!options.plan.chosen[NT_PROBE_DELIVER])
		return true;
	say("libbpf: Error in bpf_create_map_xattr(nt_seen_flows)\n");
	say("libbpf: map '%s': failed to create: Invalid argument(-22)\n", "nt_seen_flows");
	return false;
}

static bool takes_nothing(void)
{
	say("libbpf: no\n");
	return false;
}

/* No program is named: the probes are tried one after the other. */
static void probe_that_is_refused(void **state)
{
	(void)state;
	bpf.takes = takes_all_but_deliver;
	options.plan.chosen[NT_PROBE_DELIVER] = options.plan.chosen[NT_PROBE_WAKEUPS] = &tracepoints;
	load();
	assert_int_equal(bpf.given_up, 1 << NT_PROBE_DELIVER);
	assert_string_equal(bpf.why, "map 'nt_seen_flows': failed to create: Invalid argument(-22)");
	assert_ptr_equal(options.plan.chosen[NT_PROBE_WAKEUPS], &tracepoints);
	/* All, sched, deliver, wakeups, and what is left. */
	assert_int_equal(bpf.n_loads, 5);
	assert_int_equal(bpf.n_refused, 0);
	nt_kernel_release(&kernel);
	bpf.takes = takes_nothing;
	fails(-EINVAL, "refuses what nothing can be recorded without (no): record on ");
}

/* A right that is missing ends it, but for perf events: they may be forbidden alone. */
static void event_that_is_forbidden(void **state)
{
	(void)state;
	bpf.attach = -EACCES;
	fails(-EACCES, "attach to sched_switch");
	assert_int_equal(bpf.n_refused, 0);
	bpf.attach = -EACCES;
	bpf.fails_by_event = bpf.needs_all = true;
	fails(-EACCES, "(nt_sched_switch: attaching it gives: Permission denied): record on ");
	assert_int_equal(bpf.n_refused, 1);
}

static void point_that_is_refused(void **state)
{
	(void)state;
	bpf.attach = -EBUSY;
	bpf.needs_all = true;
	fails(-EBUSY, "(nt_sched_switch: attaching it gives: Device or resource busy): record on ");
	assert_int_equal(bpf.n_detached, 1);
}

/* Nothing is attached, and no ring is made. */
static void tries(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	bpf.takes = takes_all_but_a_program;
	bpf.attach = bpf.rings = -EIO;
	assert_int_equal(nt_kernel_try(&options, message, sizeof(message)), 0);
	assert_string_equal(bpf.refused, "nt_b");
	assert_int_equal(bpf.n_destroyed, 2);
	bpf.attach = bpf.rings = 0;
	bpf.choose = -ENOENT;
	assert_int_equal(nt_kernel_try(&options, message, sizeof(message)), -ENOENT);
}

/* ---- seeds ---- */

static int interruptions[2]; /* what reads fail with before they succeed; 0: nothing */

ssize_t read(int fd, void *buffer, size_t size)
{
	for (size_t i = 0; i < 2; i++) {
		if (interruptions[i]) {
			errno = interruptions[i];
			interruptions[i] = 0;
			return -1;
		}
	}
	return syscall(SYS_read, fd, buffer, size);
}

static void seeds_are_taken(void **state)
{
	struct nt_task tasks[100] = {};
	struct nt_ids ids;
	int fds[2];

	(void)state;
	load();
	assert_int_equal(nt_ids_init(&ids), 0);
	for (uint32_t i = 0; i < 100; i++)
		tasks[i] = (struct nt_task){.kind = NT_TASK, .task = i * 7, .process = i * 7, .tid = i};
	/* It comes in three pieces, cut within a record. */
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	for (size_t at = 0, piece = sizeof(tasks) / 3 + 3; at < sizeof(tasks); at += piece) {
		size_t size = sizeof(tasks) - at < piece ? sizeof(tasks) - at : piece;

		assert_int_equal(write(fds[1], (const uint8_t *)tasks + at, size), size);
	}
	close(fds[1]);
	bpf.iter = fds[0];
	bpf.iterated = "nt_seed";
	interruptions[0] = EINTR;
	interruptions[1] = EAGAIN;
	assert_int_equal(nt_kernel_seed(&kernel, &ids), 0);
	assert_int_equal(bpf.n_links_destroyed, 1);
	assert_int_equal(fcntl(fds[0], F_GETFD), -1);
	/* But for the idle task, whose key is 0. */
	assert_int_equal(ids.spaces[NT_ROLE_TASK].n_places, 100);
	for (uint32_t i = 1; i < 100; i++)
		assert_int_equal(ids.spaces[NT_ROLE_TASK].entries[i].identity->as_task.tid, i);
	bpf.iter = -ENOMEM;
	assert_int_equal(nt_kernel_seed(&kernel, &ids), -ENOMEM);
	assert_int_equal(bpf.n_links_destroyed, 2);
	bpf.iter = open("/proc/self", O_RDONLY);
	assert_int_equal(nt_kernel_seed(&kernel, &ids), -EISDIR);
	bpf.attach = -EACCES;
	assert_int_equal(nt_kernel_seed(&kernel, &ids), -EACCES);
	nt_ids_release(&ids);
}

/* Sockets with these cookies, in a file that is read from its begin. */
static int sockets_from(uint64_t first, uint64_t n)
{
	FILE *file = tmpfile();
	int fd;

	assert_non_null(file);
	for (uint64_t i = 0; i < n; i++) {
		const struct nt_socket socket = {
			.kind = NT_SOCKET, .socket = first + i, .cookie = first + i, .process = first, .src_port = 80};

		assert_int_equal(fwrite(&socket, sizeof(socket), 1, file), 1);
	}
	rewind(file);
	fd = dup(fileno(file));
	fclose(file);
	return fd;
}

static const struct nt_socket *socket_of(struct nt_ids *ids, uint64_t key)
{
	return &ids->spaces[NT_ROLE_SOCKET].entries[nt_ids_get(ids, NT_ROLE_SOCKET, key)].identity->as_socket;
}

/* Only those that are not known, only so many, and only for the probe that needs them. */
static void sockets_are_taken(void **state)
{
	const uint64_t most = 262144;
	struct nt_ids ids;

	(void)state;
	load();
	assert_int_equal(nt_ids_init(&ids), 0);
	bpf.iterated = "nt_seed_sockets";
	bpf.iter = -ENOMEM;
	assert_int_equal(nt_kernel_seed_sockets(&kernel, &options.plan, &ids), 0);
	bpf.attaches = "nt_seed_sockets";
	assert_int_equal(nt_kernel_seed_sockets(&kernel, &options.plan, &ids), -ENOMEM);
	bpf.iter = sockets_from(1000, 100);
	assert_int_equal(nt_kernel_seed_sockets(&kernel, &options.plan, &ids), 0);
	bpf.iter = sockets_from(1050, 100);
	assert_int_equal(nt_kernel_seed_sockets(&kernel, &options.plan, &ids), 0);
	assert_int_equal(ids.spaces[NT_ROLE_SOCKET].n_places, 151);
	assert_int_equal(socket_of(&ids, 1099)->process, 1000);
	assert_int_equal(socket_of(&ids, 1100)->process, 1050);
	/* Those that are known take nobody's place. */
	bpf.iter = sockets_from(1050, most + 200);
	assert_int_equal(nt_kernel_seed_sockets(&kernel, &options.plan, &ids), 0);
	assert_int_equal(ids.spaces[NT_ROLE_SOCKET].n_places, 151 + most);
	nt_ids_release(&ids);
}

/* ---- gates ---- */

static void controlled(int n, uint32_t cpu, uint64_t command)
{
	assert_true(n < bpf.n_controls);
	assert_int_equal(bpf.controls[n].cpu, cpu);
	assert_int_equal(bpf.controls[n].command, command);
}

static void gates_open_and_close(void **state)
{
	(void)state;
	load();
	bpf.control[2] = -ENXIO;
	kernel.cpus[0].start_ns = 500;
	kernel.cpus[3].start_ns = 400;
	assert_int_equal(nt_kernel_start(&kernel), 0);
	assert_int_equal(bpf.n_controls, 3);
	controlled(0, 0, NT_CONTROL_START);
	controlled(1, 2, NT_CONTROL_START);
	controlled(2, 3, NT_CONTROL_START);
	assert_int_equal(kernel.start_ns, 500);
	/* One that is offline has nobody to open its gate. */
	assert_int_equal(kernel.cpus[2].gate, 1);
	assert_int_equal(kernel.cpus[0].gate, 0);

	bpf.n_controls = 0;
	kernel.cpus[0].stop_ns = 900;
	kernel.cpus[2].stop_ns = 100; /* of an offline one this means nothing */
	kernel.cpus[3].stop_ns = 800;
	nt_kernel_stop(&kernel, &options.plan);
	assert_int_equal(bpf.n_controls, 3);
	controlled(2, 3, NT_CONTROL_STOP);
	assert_int_equal(kernel.end_ns, 800);
	assert_int_equal(bpf.n_detached, 1);
	assert_int_equal(bpf.n_sampler_released, 1);
	bpf.control[2] = 0;
	kernel.cpus[2].stop_ns = 0;
	nt_kernel_stop(&kernel, &options.plan);
	assert_int_equal(kernel.end_ns, 800);

	bpf.control[2] = -EPERM;
	assert_int_equal(nt_kernel_start(&kernel), -EPERM);
}

static void losses_are_flushed_where_there_are_some(void **state)
{
	(void)state;
	load();
	kernel.cpus[1].lossy = kernel.cpus[3].lossy = 1;
	nt_kernel_flush_losses(&kernel);
	assert_int_equal(bpf.n_controls, 1);
	controlled(0, 3, NT_CONTROL_FLUSH);
}

static void silent_cpus_are_refreshed(void **state)
{
	(void)state;
	load();
	for (int cpu = 0; cpu < N_CPUS; cpu++) {
		kernel.cpus[cpu].batch.end = 8;
		kernel.cpus[cpu].state_ns = 1000;
	}
	nt_kernel_refresh(&kernel, 1500, 500, 2000);
	assert_int_equal(bpf.n_controls, 0);
	kernel.cpus[0].state_ns = 1001;
	kernel.cpus[2].batch.end = 0;
	nt_kernel_refresh(&kernel, 1501, 500, 2000);
	assert_int_equal(bpf.n_controls, 1);
	controlled(0, 3, NT_CONTROL_REFRESH);
	/* After long it does not matter whether it holds records. */
	nt_kernel_refresh(&kernel, 3000, 5000, 2000);
	assert_int_equal(bpf.n_controls, 1);
	nt_kernel_refresh(&kernel, 3001, 5000, 2000);
	assert_int_equal(bpf.n_controls, 3);
	controlled(1, 2, NT_CONTROL_REFRESH);
	controlled(2, 3, NT_CONTROL_REFRESH);
}

static struct {
	const uint8_t *data;
	size_t size;
	int n;
} taken;

static int take(void *arg, const uint8_t *data, size_t size)
{
	assert_ptr_equal(arg, &taken);
	taken.data = data;
	taken.size = size;
	taken.n++;
	return -7;
}

static int drain(uint32_t begin, uint32_t end)
{
	struct nt_batch *batch = &kernel.cpus[2].batch;
	int result;

	batch->begin = begin;
	batch->end = end;
	result = nt_kernel_drain_batch(&kernel, 2, take, &taken);
	assert_int_equal(batch->begin, 0);
	assert_int_equal(batch->end, 0);
	return result;
}

static void rest_of_a_batch_is_given_once(void **state)
{
	(void)state;
	load();
	memset(&taken, 0, sizeof(taken));
	assert_int_equal(drain(16, 48), -7);
	assert_ptr_equal(taken.data, (const uint8_t *)kernel.cpus[2].batch.data + 16);
	assert_int_equal(taken.size, 32);
	assert_int_equal(drain(0, sizeof(kernel.cpus[2].batch.data)), -7);
	assert_int_equal(taken.n, 2);
	assert_int_equal(drain(0, 0), 0);
	assert_int_equal(drain(24, 24), 0);
	assert_int_equal(drain(32, 24), 0);
	assert_int_equal(drain(0, sizeof(kernel.cpus[2].batch.data) + 1), 0);
	assert_int_equal(taken.n, 2);
}

static void plugged_cpus_get_a_ring(void **state)
{
	unsigned int changed = 9;

	(void)state;
	load();
	bpf.n_updates = 0;
	assert_int_equal(nt_kernel_follow_hotplug(&kernel, RING_SIZE, &changed), 0);
	assert_int_equal(changed, 0);
	assert_int_equal(bpf.n_controls, 0);
	assert_int_equal(bpf.n_followed, 1);
	files[1].text = "0-2,4,9-10\n";
	assert_int_equal(nt_kernel_follow_hotplug(&kernel, RING_SIZE, &changed), 0);
	assert_int_equal(changed, 2);
	assert_int_equal(bpf.n_controls, 2);
	controlled(0, 1, NT_CONTROL_START);
	controlled(1, 4, NT_CONTROL_START);
	assert_int_equal(bpf.n_updates, 2);
	assert_int_equal(nt_kernel_follow_hotplug(&kernel, RING_SIZE, &changed), 0);
	assert_int_equal(changed, 0);
	files[1].text = NULL;
	assert_int_equal(nt_kernel_follow_hotplug(&kernel, RING_SIZE, &changed), -ENOENT);
	assert_int_equal(bpf.n_followed, 4);
}

static void failed_ring_opens_no_gate(void **state)
{
	unsigned int changed;

	(void)state;
	load();
	bpf.rings = -ENOMEM;
	files[1].text = "0-4\n";
	assert_int_equal(nt_kernel_follow_hotplug(&kernel, RING_SIZE, &changed), -ENOMEM);
	assert_int_equal(bpf.n_controls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(present_cpus_get_rings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(programs_are_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(functions_of_timers_are_told, set_up, tear_down),
		cmocka_unit_test_setup_teardown(frames_that_the_kernel_keeps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(latency_is_prepared, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stacks_are_prepared, set_up, tear_down),
		cmocka_unit_test_setup_teardown(flows_are_prepared, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_failure_has_a_sentence, set_up, tear_down),
		cmocka_unit_test_setup_teardown(plan_that_cannot_be, set_up, tear_down),
		cmocka_unit_test_setup_teardown(failures_of_latency_and_stacks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(program_that_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cookies_that_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(probe_that_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(point_that_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(event_that_is_forbidden, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tries, set_up, tear_down),
		cmocka_unit_test_setup_teardown(seeds_are_taken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(sockets_are_taken, set_up, tear_down),
		cmocka_unit_test_setup_teardown(gates_open_and_close, set_up, tear_down),
		cmocka_unit_test_setup_teardown(losses_are_flushed_where_there_are_some, set_up, tear_down),
		cmocka_unit_test_setup_teardown(silent_cpus_are_refreshed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rest_of_a_batch_is_given_once, set_up, tear_down),
		cmocka_unit_test_setup_teardown(plugged_cpus_get_a_ring, set_up, tear_down),
		cmocka_unit_test_setup_teardown(failed_ring_opens_no_gate, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

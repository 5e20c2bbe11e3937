// SPDX-License-Identifier: GPL-2.0-only
/*
 * proc_snapshots.c - see proc_snapshots.h.
 */
#include "record/proc_snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "schema/spared.h"

#define NSEC_PER_SEC 1000000000ull

#define SYS "/sys"

static const char *const files[] = {"/proc/stat", "/proc/softirqs", "/proc/net/softnet_stat", "/proc/net/snmp"};
static const char *const files_of_memory[] = {"/proc/net/sockstat", "/proc/pressure/cpu", "/proc/pressure/io",
					      "/proc/pressure/memory", "/proc/pressure/irq"};

static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

uint64_t nt_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#define TRIES 9

/* A clock's time between two readings of the monotonic clock. */
struct beside {
	uint64_t ns;
	uint64_t monotonic_ns; /* the middle of these two */
	uint64_t uncertainty_ns; /* how far apart they are */
};

static struct beside read_once(clockid_t id)
{
	uint64_t begin_ns = nt_now(), now_ns = clock_ns(id), took_ns = nt_now() - begin_ns;

	return (struct beside){.ns = now_ns, .monotonic_ns = begin_ns + took_ns / 2, .uncertainty_ns = took_ns};
}

/* The tightest of a few readings: the recorder may be interrupted within one. */
static struct beside read_beside(clockid_t id)
{
	struct beside best = read_once(id);

	for (int i = 1; i < TRIES; i++) {
		struct beside next = read_once(id);

		if (next.uncertainty_ns < best.uncertainty_ns)
			best = next;
	}
	return best;
}

/*
 * One instant on all clocks. Only the realtime clock is read then, since packets are stamped by it. TAI is whole
 * seconds away from it; the clock that also counts suspension is read a little later, and goes at the monotonic clock's
 * rate.
 */
static struct nt_clock read_clocks(void)
{
	struct beside realtime = read_beside(CLOCK_REALTIME);
	/* Below 0 if the clocks were set back between the two. */
	int64_t ahead_ns = clock_ns(CLOCK_TAI) - realtime.ns;
	struct beside boot = read_beside(CLOCK_BOOTTIME);

	return (struct nt_clock){
		.monotonic_ns = realtime.monotonic_ns,
		.realtime_ns = realtime.ns,
		.tai_ns = realtime.ns + llround(ahead_ns / 1e9) * (int64_t)NSEC_PER_SEC,
		.boot_ns = boot.ns - (boot.monotonic_ns - realtime.monotonic_ns),
		.uncertainty_ns =
			boot.uncertainty_ns > realtime.uncertainty_ns ? boot.uncertainty_ns : realtime.uncertainty_ns,
	};
}

int nt_proc_snapshots_clock(struct nt_proc_snapshots *snapshots)
{
	struct nt_block_header header = {.type = NT_BLOCK_CLOCK};
	struct nt_clock clock = read_clocks();
	int error;

	snapshots->raw.size = 0;
	error = nt_clock_encode(&snapshots->raw, &clock);
	return error ? error : nt_tape_writer_block(snapshots->tape, &header, snapshots->raw.data, snapshots->raw.size);
}

static int write_snapshot(struct nt_proc_snapshots *snapshots, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
	struct nt_block_header header = {.type = NT_BLOCK_PROC_SNAPSHOT};
	struct nt_proc_snapshot snapshot = {
		.begin_ns = begin_ns,
		.end_ns = end_ns,
		.name = name,
		.text = (const char *)snapshots->text.data,
		.text_size = snapshots->text.size,
	};
	int error;

	snapshots->raw.size = 0;
	error = nt_proc_snapshot_encode(&snapshots->raw, &snapshot);
	return error ? error : nt_tape_writer_block(snapshots->tape, &header, snapshots->raw.data, snapshots->raw.size);
}

static int read_whole(struct nt_buf *text, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	text->size = 0;
	while (n > 0 && !error) {
		error = nt_buf_reserve(text, 16384);
		if (!error) {
			n = read(fd, text->data + text->size, 16384);
			text->size += n > 0 ? n : 0;
		}
	}
	close(fd);
	return error;
}

static uint64_t sum_over_programs(const struct nt_cpu *cpu, unsigned int kind, bool lost)
{
	uint64_t sum = 0;

	for (int program = 0; program < NT_PROGRAM_COUNT; program++)
		sum += lost ? cpu->counts.lost[kind][program] : cpu->counts.written[kind][program];
	return sum;
}

/* Lines "CPU KIND WRITTEN LOST". */
static int print_cpus(struct nt_proc_snapshots *snapshots)
{
	int error = 0;

	for (uint32_t cpu = 0; cpu < snapshots->n_cpus; cpu++)
		for (unsigned int kind = 1; kind < NT_KIND_MAX && !error; kind++) {
			uint64_t written = sum_over_programs(&snapshots->cpus[cpu], kind, false);
			uint64_t lost = sum_over_programs(&snapshots->cpus[cpu], kind, true);

			if (written || lost)
				error = nt_buf_print(&snapshots->text, "%u %s %llu %llu\n", cpu, nt_kind(kind)->name,
						     (unsigned long long)written, (unsigned long long)lost);
		}
	return error;
}

static const char *const program_names[] = {
#define X(name) "nt_" #name,
	NT_PROGRAMS(X)
#undef X
};

static const char *const outcome_names[] = {
#define X(name) #name,
	NT_OUTCOMES(X)
#undef X
};

/* The programs of probe kmem follow one another as its kinds do. */
_Static_assert(NT_PROGRAM_mm_page_alloc - NT_PROGRAM_kmalloc == NT_KMEM_KIND_COUNT - 1, "probe kmem");

/* Those that reports ask for by name are there. */
#define X(name, passed, looked) _Static_assert(NT_OUTCOME_##name < NT_OUTCOME_COUNT, "outcome " #name);
NT_HOOK_OUTCOMES(X)
#undef X

static uint64_t outcome_of(const struct nt_cpu *cpu, int program, int outcome)
{
	uint64_t count = cpu->counts.outcome[outcome][program];
	const int hook = program - NT_FIRST_LATENCY, what = program - NT_PROGRAM_kmalloc;

	if (outcome != NT_OUTCOME_skipped_sample)
		return count;
	if (hook >= 0)
		return count + nt_left_out(cpu->gaps.gap[hook], cpu->gaps.left[hook]);
	if (what < 0 || what >= NT_KMEM_KIND_COUNT)
		return count;
	for (int is_large = 0; is_large < 2; is_large++)
		count += nt_left_out(cpu->kmem[what][is_large].gap, cpu->kmem[what][is_large].left);
	return count;
}

static uint64_t sum_over_cpus(const struct nt_proc_snapshots *snapshots, int program, int outcome)
{
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < snapshots->n_cpus; cpu++)
		sum += outcome_of(&snapshots->cpus[cpu], program, outcome);
	return sum;
}

/* The program that is loaded under this name, itself or as a perf event; NULL: none is. */
static struct bpf_program *find_loaded(const struct bpf_object *object, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);
	char event[128];

	if (program && bpf_program__fd(program) >= 0)
		return program;
	snprintf(event, sizeof(event), "%s__event", name);
	program = bpf_object__find_program_by_name(object, event);
	return program && bpf_program__fd(program) >= 0 ? program : NULL;
}

/* Lines "NAME outcome=N ... runs=N run_ns=N misses=N", the last three by the kernel's count. */
static int print_programs(struct nt_proc_snapshots *snapshots)
{
	int error = 0;

	for (int program = 0; program < NT_PROGRAM_COUNT && !error; program++) {
		struct bpf_program *bpf = find_loaded(snapshots->object, program_names[program]);
		struct bpf_prog_info info = {};
		__u32 size = sizeof(info);

		if (!bpf || bpf_obj_get_info_by_fd(bpf_program__fd(bpf), &info, &size))
			continue;
		snapshots->misses[program] = info.recursion_misses;
		if (!snapshots->has_first)
			snapshots->first_misses[program] = info.recursion_misses;
		error = nt_buf_print(&snapshots->text, "%s", program_names[program]);
		for (int outcome = 0; outcome < NT_OUTCOME_COUNT && !error; outcome++) {
			uint64_t count = sum_over_cpus(snapshots, program, outcome);

			if (count || outcome == NT_OUTCOME_recorded || outcome == NT_OUTCOME_lost)
				error = nt_buf_print(&snapshots->text, " %s=%llu", outcome_names[outcome],
						     (unsigned long long)count);
		}
		if (!error)
			error = nt_buf_print(&snapshots->text, " runs=%llu run_ns=%llu misses=%llu\n",
					     (unsigned long long)info.run_cnt, (unsigned long long)info.run_time_ns,
					     (unsigned long long)info.recursion_misses);
	}
	snapshots->has_first = true;
	return error;
}

static const bool is_spared[NT_PROGRAM_COUNT] = {
#define X(name) [NT_PROGRAM_##name] = true,
	NT_SPARED(X)
#undef X
};

uint64_t nt_proc_snapshots_left_out(const struct nt_proc_snapshots *snapshots, const char **most, uint64_t *of_most)
{
	uint64_t sum = 0, left_out;

	*of_most = 0;
	for (int program = 0; program < NT_PROGRAM_COUNT; program++) {
		left_out = is_spared[program] ? 0 : snapshots->misses[program] - snapshots->first_misses[program];
		sum += left_out;
		if (left_out <= *of_most)
			continue;
		*of_most = left_out;
		*most = program_names[program];
	}
	return sum;
}

static uint64_t timeval_ns(struct timeval time)
{
	return time.tv_sec * 1000000000ull + time.tv_usec * 1000ull;
}

static int print_self(struct nt_proc_snapshots *snapshots)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	snapshots->own_last.cpu_ns = timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
	return nt_buf_print(
		&snapshots->text,
		"user_ns=%llu\nsystem_ns=%llu\nmax_rss_kib=%ld\nbytes_written=%llu\nblocks=%llu\nflush_lag_max_"
		"ns=%llu\n",
		(unsigned long long)timeval_ns(usage.ru_utime), (unsigned long long)timeval_ns(usage.ru_stime),
		usage.ru_maxrss, (unsigned long long)nt_tape_writer_bytes(snapshots->tape),
		(unsigned long long)nt_tape_writer_blocks(snapshots->tape),
		(unsigned long long)snapshots->flush_lag_max_ns);
}

static int take_these(struct nt_proc_snapshots *snapshots, const char *const *paths, size_t n)
{
	int error = 0;

	for (size_t i = 0; i < n && !error; i++) {
		uint64_t begin_ns = nt_now();

		if (!read_whole(&snapshots->text, paths[i]))
			error = write_snapshot(snapshots, paths[i], begin_ns, nt_now());
	}
	return error;
}

static int take_files(struct nt_proc_snapshots *snapshots)
{
	int error = take_these(snapshots, files, sizeof(files) / sizeof(files[0]));

	if (error || !snapshots->has_memory)
		return error;
	return take_these(snapshots, files_of_memory, sizeof(files_of_memory) / sizeof(files_of_memory[0]));
}

const char *nt_proc_snapshots_uncovered(const struct nt_proc_snapshots *snapshots)
{
	struct nt_buf text = {};
	bool has_pressure;

	if (!snapshots->has_memory)
		return NULL;
	/* Where it is switched off, the file is missing, or cannot be read. */
	has_pressure = !read_whole(&text, "/proc/pressure/memory") && text.size;
	nt_buf_release(&text);
	return has_pressure ? NULL
			    : "Pressure was not recorded: this kernel does not tell it (/proc/pressure; some need "
			      "psi=1 when booted).";
}

int nt_proc_snapshots_energy(struct nt_proc_snapshots *snapshots)
{
	uint64_t begin_ns = nt_now();
	int error;

	if (!snapshots->energy || !snapshots->energy->n)
		return 0;
	snapshots->text.size = 0;
	error = nt_energy_print(snapshots->energy, &snapshots->text);
	return error ? error : write_snapshot(snapshots, SYS "/class/powercap", begin_ns, nt_now());
}

int nt_proc_snapshots_packages(struct nt_proc_snapshots *snapshots)
{
	uint64_t begin_ns = nt_now();
	int error;

	if (!snapshots->energy || !snapshots->energy->n)
		return 0;
	snapshots->text.size = 0;
	error = nt_energy_print_cpus(SYS, snapshots->n_cpus, &snapshots->text);
	return error ? error : write_snapshot(snapshots, SYS "/devices/system/cpu", begin_ns, nt_now());
}

int nt_proc_snapshots_earlier(struct nt_proc_snapshots *snapshots, const struct nt_buf *text)
{
	const uint64_t now_ns = nt_now();
	int error;

	snapshots->text.size = 0;
	error = nt_buf_append(&snapshots->text, text->data, text->size);
	return error ? error : write_snapshot(snapshots, "nettape/earlier", now_ns, now_ns);
}

static int take_own(struct nt_proc_snapshots *snapshots, const char *name,
		    int (*print)(struct nt_proc_snapshots *snapshots))
{
	uint64_t begin_ns = nt_now();
	int error;

	snapshots->text.size = 0;
	error = print(snapshots);
	snapshots->own_last.at_ns = nt_now();
	return error ? error : write_snapshot(snapshots, name, begin_ns, snapshots->own_last.at_ns);
}

int nt_proc_snapshots_take(struct nt_proc_snapshots *snapshots, enum nt_proc_snapshots_which which,
			   uint64_t flush_lag_max_ns)
{
	int error = which == NT_PROC_SNAPSHOTS_ALL ? take_files(snapshots) : 0;

	snapshots->flush_lag_max_ns = flush_lag_max_ns;
	if (!error)
		error = take_own(snapshots, "nettape/cpus", print_cpus);
	if (!error)
		error = take_own(snapshots, "nettape/programs", print_programs);
	if (!error)
		error = take_own(snapshots, "nettape/self", print_self);
	if (!snapshots->own_first.at_ns)
		snapshots->own_first = snapshots->own_recorded = snapshots->own_last;
	if (which == NT_PROC_SNAPSHOTS_ALL)
		snapshots->own_recorded = snapshots->own_last;
	return error;
}

void nt_proc_snapshots_own_cost(const struct nt_proc_snapshots *snapshots, struct nt_own_cost *cost)
{
	const struct nt_own_cpu *first = &snapshots->own_first, *recorded = &snapshots->own_recorded;

	*cost = (struct nt_own_cost){
		.loading_ns = first->cpu_ns,
		.recording_ns = recorded->cpu_ns - first->cpu_ns,
		.recorded_ns = recorded->at_ns - first->at_ns,
		.ending_ns = snapshots->own_last.cpu_ns - recorded->cpu_ns,
	};
}

void nt_proc_snapshots_release(struct nt_proc_snapshots *snapshots)
{
	nt_buf_release(&snapshots->text);
	nt_buf_release(&snapshots->raw);
}

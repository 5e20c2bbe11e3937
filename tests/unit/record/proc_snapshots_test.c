// SPDX-License-Identifier: GPL-2.0-only
/*
 * proc_snapshots_test.c - the snapshots of a recording, as they are on the tape: the clocks, read beside each other
 * while time goes by; files of /proc, also long ones and such as are not there; and the counters of programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include <bpf/bpf.h>

#include "record/proc_snapshots.h"
#include "schema/block.h"
#include "schema/spared.h"
#include "tests/support/scratch.h"
#include "tests/support/fake_files.h"

static const struct nt_retention_limits all_is_kept;

#define SEC 1000000000ull
#define START (50 * SEC)
#define REALTIME (1700000000 * SEC) /* ahead of the monotonic clock */
#define SUSPENDED (7 * SEC)
#define N_CPUS 2

/* ---- the host ---- */

static struct {
	uint64_t now_ns;
	int64_t tai_ahead_ns;
	unsigned int n_readings, quick_at; /* three readings from there on take no time to speak of */
	unsigned int quick_too_at;
	unsigned int takes_ns; /* each of the others */
	const char *no_program, *no_fd, *no_info; /* a program that is not loaded */
	uint64_t more_misses;
	time_t more_cpu_s;
} host;

static unsigned int reading_takes_ns(void)
{
	const unsigned int n = host.n_readings++;

	if (host.quick_at && n >= host.quick_at && n < host.quick_at + 3)
		return 10;
	return host.quick_too_at && n >= host.quick_too_at && n < host.quick_too_at + 3 ? 15 : host.takes_ns;
}

int clock_gettime(clockid_t id, struct timespec *now)
{
	uint64_t ns = host.now_ns;

	if (id == CLOCK_REALTIME || id == CLOCK_TAI)
		ns += REALTIME;
	if (id == CLOCK_TAI)
		ns += (uint64_t)host.tai_ahead_ns;
	if (id == CLOCK_BOOTTIME)
		ns += SUSPENDED;
	host.now_ns += reading_takes_ns();
	*now = (struct timespec){(time_t)(ns / SEC), (long)(ns % SEC)};
	return 0;
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
	assert_int_equal(who, RUSAGE_SELF);
	*usage = (struct rusage){.ru_utime = {2 + host.more_cpu_s, 3}, .ru_stime = {4, 5}, .ru_maxrss = 6};
	return 0;
}

/* A program is its name. */
struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *object, const char *name)
{
	assert_ptr_equal(object, &host);
	if (strstr(name, "__event"))
		return NULL;
	return host.no_program && !strcmp(name, host.no_program) ? NULL : (struct bpf_program *)name;
}

int bpf_program__fd(const struct bpf_program *program)
{
	const char *name = (const char *)program;

	if (host.no_fd && !strcmp(name, host.no_fd))
		return -1;
	return !strcmp(name, "nt_control") ? 0 : host.no_info && !strcmp(name, host.no_info) ? 1 : 2;
}

int bpf_obj_get_info_by_fd(int fd, void *to, __u32 *size)
{
	struct bpf_prog_info *info = to;

	assert_int_equal(*size, sizeof(*info));
	*info = (struct bpf_prog_info){.run_cnt = 11, .run_time_ns = 12, .recursion_misses = 13 + host.more_misses};
	return fd == 1 ? -1 : 0;
}

/* ---- a tape of them ---- */

struct fixture {
	char dir[SCRATCH_MAX], path[2 * SCRATCH_MAX];
	struct nt_cpu *cpus;
	struct nt_proc_snapshots snapshots;
	/* what is on the tape */
	struct nt_buf raws[32];
	struct nt_proc_snapshot taken[32];
	size_t n_taken, n_clocks;
	struct nt_clock clock; /* the last */
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	struct nt_tape_owner owner = {0};
	struct nt_chunk_header header = {.version = NT_CHUNK_VERSION};
	char error[1024];

	memset(&host, 0, sizeof(host));
	host.now_ns = START;
	host.takes_ns = 100;
	host.tai_ahead_ns = 37 * SEC;
	fake_files = NULL;
	scratch_make(fixture->dir);
	scratch_path(fixture->path, fixture->dir, "t.tape");
	fixture->cpus = aligned_alloc(64, N_CPUS * sizeof(*fixture->cpus));
	memset(fixture->cpus, 0, N_CPUS * sizeof(*fixture->cpus));
	fixture->snapshots = (struct nt_proc_snapshots){
		.cpus = fixture->cpus, .n_cpus = N_CPUS, .object = (struct bpf_object *)&host};
	assert_int_equal(nt_tape_writer_new(&fixture->snapshots.tape, fixture->path, &owner, &all_is_kept, &header,
					    error, sizeof(error)),
			 0);
	assert_int_equal(nt_tape_writer_begin_chunk(fixture->snapshots.tape), 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	nt_tape_writer_free(fixture->snapshots.tape);
	nt_proc_snapshots_release(&fixture->snapshots);
	for (size_t i = 0; i < 32; i++)
		nt_buf_release(&fixture->raws[i]);
	scratch_remove(fixture->dir);
	free(fixture->cpus);
	free(fixture);
	return 0;
}

static int64_t read_memory(void *arg, uint64_t offset, void *data, size_t size)
{
	memcpy(data, (const char *)arg + offset, size);
	return (int64_t)size;
}

static void read_block(struct fixture *fixture, const struct nt_source *source, const struct nt_block_ref *block)
{
	struct nt_buf *raw = &fixture->raws[fixture->n_taken + fixture->n_clocks];

	assert_int_equal(nt_chunk_load(source, block, raw), 0);
	if (block->header.type == NT_BLOCK_CLOCK) {
		fixture->n_clocks++;
		assert_int_equal(nt_clock_decode(raw->data, raw->size, &fixture->clock), 0);
	} else {
		assert_int_equal(block->header.type, NT_BLOCK_PROC_SNAPSHOT);
		assert_int_equal(nt_proc_snapshot_decode(raw->data, raw->size, &fixture->taken[fixture->n_taken++]), 0);
	}
}

static void read_tape(struct fixture *fixture)
{
	struct nt_chunk_contents contents;
	char path[4 * SCRATCH_MAX];
	struct nt_source source;
	size_t size;
	char *file;

	assert_int_equal(nt_tape_writer_finish_chunk(fixture->snapshots.tape), 0);
	assert_int_equal(nt_tape_writer_wait(fixture->snapshots.tape), 0);
	snprintf(path, sizeof(path), "%s/chunk-000000.ntc", fixture->path);
	file = scratch_read(path, &size);
	source = (struct nt_source){.arg = file, .size = size, .read = read_memory};
	assert_int_equal(nt_chunk_open(&source, false, &contents), 0);
	for (size_t i = 0; i < contents.n_blocks; i++)
		read_block(fixture, &source, &contents.blocks[i]);
	nt_chunk_contents_release(&contents);
	free(file);
}

static void is_taken(const struct fixture *fixture, size_t i, const char *name, const char *text)
{
	const struct nt_proc_snapshot *snapshot = &fixture->taken[i];

	assert_true(i < fixture->n_taken);
	assert_string_equal(snapshot->name, name);
	if (snapshot->text_size != strlen(text) || memcmp(snapshot->text, text, snapshot->text_size))
		fail_msg("%s is '%.*s' and not '%s'", name, (int)snapshot->text_size, snapshot->text, text);
	assert_true(snapshot->begin_ns >= START && snapshot->begin_ns < snapshot->end_ns);
}

/* ---- clocks ---- */

/* From now on readings are counted. */
static void take_clock(struct fixture *fixture)
{
	host.now_ns = START;
	host.n_readings = 0;
	assert_int_equal(nt_proc_snapshots_clock(&fixture->snapshots), 0);
	assert_int_equal(host.n_readings, 3 * 9 + 1 + 3 * 9);
	read_tape(fixture);
	assert_int_equal(fixture->n_clocks, 1);
}

/* Of nine readings the tightest counts: the fifth of the realtime clock, the seventh of the other. */
static void reads_clocks_beside_each_other(void **state)
{
	struct fixture *fixture = *state;

	host.quick_at = 3 * 4;
	host.quick_too_at = 3 * 9 + 1 + 3 * 6;
	take_clock(fixture);
	assert_int_equal(fixture->clock.monotonic_ns, START + 1210);
	assert_int_equal(fixture->clock.realtime_ns, REALTIME + START + 1210);
	assert_int_equal(fixture->clock.tai_ns, fixture->clock.realtime_ns + 37 * SEC);
	assert_int_equal(fixture->clock.boot_ns, SUSPENDED + START + 1210);
	assert_int_equal(fixture->clock.uncertainty_ns, 30);
}

/* Of equal ones the first; TAI is whole seconds away, also where the clock was set back meanwhile. */
static void rounds_tai_to_seconds(void **state)
{
	struct fixture *fixture = *state;

	host.quick_at = 3 * 9 + 1 + 3 * 8; /* the last of the other clock */
	host.tai_ahead_ns = -400000000;
	take_clock(fixture);
	assert_int_equal(fixture->clock.monotonic_ns, START + 100);
	assert_int_equal(fixture->clock.realtime_ns, REALTIME + START + 100);
	assert_int_equal(fixture->clock.tai_ns, fixture->clock.realtime_ns);
	assert_int_equal(fixture->clock.boot_ns, SUSPENDED + START + 100);
	assert_int_equal(fixture->clock.uncertainty_ns, 200);
}

static void takes_each_clock_anew(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(nt_proc_snapshots_clock(&fixture->snapshots), 0);
	host.now_ns = START + SEC;
	assert_int_equal(nt_proc_snapshots_clock(&fixture->snapshots), 0);
	read_tape(fixture);
	assert_int_equal(fixture->n_clocks, 2);
	assert_int_equal(fixture->clock.monotonic_ns, START + SEC + 100);
}

/* ---- files ---- */

#define LONG 40000 /* more than is read at once */

static void takes_files(void **state)
{
	struct fixture *fixture = *state;
	char *text = malloc(LONG + 1);
	const struct fake_file files[] = {{"/proc/stat", text},
					  {"/proc/softirqs", NULL},
					  {"/proc/net/softnet_stat", ""},
					  {"/proc/net/snmp", "Ip: 1\n"},
					  {}};

	for (size_t i = 0; i < LONG; i++)
		text[i] = (char)('a' + i % 23);
	text[LONG] = 0;
	fake_files = files;
	close(STDIN_FILENO); /* a file gets its number */
	assert_int_equal(nt_proc_snapshots_take(&fixture->snapshots, NT_PROC_SNAPSHOTS_ALL, 99), 0);
	read_tape(fixture);
	assert_int_equal(fixture->n_taken, 6);
	is_taken(fixture, 0, "/proc/stat", text);
	is_taken(fixture, 1, "/proc/net/softnet_stat", "");
	is_taken(fixture, 2, "/proc/net/snmp", "Ip: 1\n");
	is_taken(fixture, 3, "nettape/cpus", "");
	assert_string_equal(fixture->taken[4].name, "nettape/programs");
	assert_string_equal(fixture->taken[5].name, "nettape/self");
	free(text);
}

#define CPU(n) "/sys/devices/system/cpu/cpu" #n "/topology/"

/* Energy and packages where they are wanted, and the host has a counter. */
static void takes_readings_of_probes(void **state)
{
	struct fixture *fixture = *state;
	struct nt_energy_zone zone = {.name = "package-0", .counter_uj = 5};
	struct nt_energy energy = {.zones = &zone};
	static const struct fake_file files[] = {{"/proc/stat", NULL},
						 {"/proc/softirqs", NULL},
						 {"/proc/net/softnet_stat", NULL},
						 {"/proc/net/snmp", NULL},
						 {"/proc/net/sockstat", "TCP: mem 1\n"},
						 {"/proc/pressure/cpu", "some total=1\n"},
						 {"/proc/pressure/io", NULL},
						 {"/proc/pressure/memory", ""},
						 {"/proc/pressure/irq", "full total=1\n"},
						 {"counter", "7\n"},
						 {CPU(0) "physical_package_id", "3\n"},
						 {CPU(0) "die_id", NULL},
						 {CPU(0) "core_id", NULL},
						 {CPU(1) "physical_package_id", NULL},
						 {}};

	fake_files = files;
	assert_null(nt_proc_snapshots_uncovered(&fixture->snapshots));
	assert_int_equal(nt_proc_snapshots_energy(&fixture->snapshots), 0);
	fixture->snapshots.has_memory = true;
	fixture->snapshots.energy = &energy;
	assert_non_null(strstr(nt_proc_snapshots_uncovered(&fixture->snapshots), "Pressure was not recorded"));
	assert_int_equal(nt_proc_snapshots_packages(&fixture->snapshots), 0);
	zone.fd = open("counter", O_RDONLY);
	energy.n = 1;
	assert_int_equal(nt_proc_snapshots_packages(&fixture->snapshots), 0);
	assert_int_equal(nt_proc_snapshots_energy(&fixture->snapshots), 0);
	assert_int_equal(nt_proc_snapshots_take(&fixture->snapshots, NT_PROC_SNAPSHOTS_ALL, 0), 0);
	close(zone.fd);
	read_tape(fixture);
	is_taken(fixture, 0, "/sys/devices/system/cpu", "0 package=3\n");
	is_taken(fixture, 1, "/sys/class/powercap", "package-0 2\n");
	is_taken(fixture, 2, "/proc/net/sockstat", "TCP: mem 1\n");
	is_taken(fixture, 3, "/proc/pressure/cpu", "some total=1\n");
	is_taken(fixture, 4, "/proc/pressure/memory", "");
	is_taken(fixture, 5, "/proc/pressure/irq", "full total=1\n");
	assert_int_equal(fixture->n_taken, 9);
}

static void takes_its_own_without_files(void **state)
{
	struct fixture *fixture = *state;
	static const struct fake_file files[] = {{"/proc/stat", "cpu\n"}, {}};
	char text[512];

	fake_files = files;
	assert_int_equal(nt_proc_snapshots_take(&fixture->snapshots, NT_PROC_SNAPSHOTS_OWN, 99), 0);
	snprintf(text, sizeof(text),
		 "user_ns=2000003000\nsystem_ns=4000005000\nmax_rss_kib=6\nbytes_written=%llu\nblocks=2\n"
		 "flush_lag_max_ns=99\n",
		 (unsigned long long)nt_tape_writer_bytes(fixture->snapshots.tape));
	read_tape(fixture);
	assert_int_equal(fixture->n_taken, 3);
	is_taken(fixture, 0, "nettape/cpus", "");
	assert_string_equal(fixture->taken[1].name, "nettape/programs");
	assert_string_equal(fixture->taken[2].name, "nettape/self");
	assert_non_null(memmem(fixture->taken[2].text, fixture->taken[2].text_size, text, 60));
	assert_non_null(memmem(fixture->taken[2].text, fixture->taken[2].text_size, strstr(text, "blocks="),
			       strlen(strstr(text, "blocks="))));
}

/* ---- counters ---- */

static void counts_records_by_cpu(void **state)
{
	struct fixture *fixture = *state;

	fixture->cpus[0].counts.written[NT_SWITCH][NT_PROGRAM_sched_switch] = 5;
	fixture->cpus[0].counts.written[NT_SWITCH][NT_PROGRAM_control] = 2;
	fixture->cpus[0].counts.written[1][NT_PROGRAM_control] = 4;
	fixture->cpus[1].counts.lost[NT_WAKEUP][NT_PROGRAM_COUNT - 1] = 3;
	fixture->cpus[1].counts.lost[NT_SWITCH][NT_PROGRAM_control] = 1;
	fixture->cpus[1].counts.written[NT_SWITCH][NT_PROGRAM_control] = 6;
	assert_int_equal(nt_proc_snapshots_take(&fixture->snapshots, NT_PROC_SNAPSHOTS_OWN, 0), 0);
	read_tape(fixture);
	is_taken(fixture, 0, "nettape/cpus", "0 state 4 0\n0 switch 7 0\n1 switch 6 1\n1 wakeup 0 3\n");
}

static void has_line(const struct nt_proc_snapshot *snapshot, const char *line)
{
	if (!memmem(snapshot->text, snapshot->text_size, line, strlen(line)))
		fail_msg("no '%s' in:\n%.*s", line, (int)snapshot->text_size, snapshot->text);
}

static size_t count_lines(const struct nt_proc_snapshot *snapshot)
{
	size_t n = 0;

	for (size_t i = 0; i < snapshot->text_size; i++)
		n += snapshot->text[i] == '\n';
	return n;
}

/* Packets that latency programs have left out since the last sample are counted with the others. */
static void counts_outcomes_by_program(void **state)
{
	struct fixture *fixture = *state;
	struct nt_counts *counts = &fixture->cpus[1].counts;

	counts->outcome[NT_OUTCOME_noted][NT_PROGRAM_control] = 9;
	counts->outcome[NT_OUTCOME_recorded][NT_PROGRAM_seed] = 8;
	fixture->cpus[0].counts.outcome[NT_OUTCOME_recorded][NT_PROGRAM_seed] = 80;
	counts->outcome[NT_OUTCOME_skipped_sample][NT_FIRST_LATENCY] = 3;
	counts->outcome[NT_OUTCOME_skipped_peek][NT_FIRST_LATENCY] = 1;
	fixture->cpus[1].gaps.gap[0] = 10;
	fixture->cpus[1].gaps.left[0] = 4;
	fixture->cpus[0].gaps.gap[NT_LATENCY_COUNT - 1] = 5;
	host.no_program = "nt_sched_switch";
	host.no_fd = "nt_softirq_entry";
	host.no_info = "nt_softirq_exit";
	assert_int_equal(nt_proc_snapshots_take(&fixture->snapshots, NT_PROC_SNAPSHOTS_OWN, 0), 0);
	read_tape(fixture);
	has_line(&fixture->taken[1], "nt_control recorded=0 lost=0 noted=9 runs=11 run_ns=12 misses=13\n");
	has_line(&fixture->taken[1], "\nnt_seed recorded=88 lost=0 runs=11 run_ns=12 misses=13\n");
	has_line(&fixture->taken[1], "\nnt_latency_ip_start__ip_rcv_core recorded=0 lost=0 skipped_sample=9 "
				     "skipped_peek=1 runs=11 run_ns=12 misses=13\n");
	has_line(&fixture->taken[1], "\nnt_latency_tx_started__net_dev_start_xmit recorded=0 lost=0 "
				     "skipped_sample=5 runs=11 run_ns=12 misses=13\n");
	assert_int_equal(count_lines(&fixture->taken[1]), NT_PROGRAM_COUNT - 3);
}

/* Runs left out before the first snapshot were left out before the session. */
static void counts_what_the_kernel_left_out(void **state)
{
#define X(name) +1
	const int n_spared = 0 NT_SPARED(X);
#undef X
	struct fixture *fixture = *state;
	const char *most = NULL;
	uint64_t of_most;

	assert_int_equal(nt_proc_snapshots_take(&fixture->snapshots, NT_PROC_SNAPSHOTS_OWN, 0), 0);
	assert_int_equal(nt_proc_snapshots_left_out(&fixture->snapshots, &most, &of_most), 0);
	assert_int_equal(of_most, 0);
	/* Those of three programs are not known. */
	host.no_program = "nt_sched_switch";
	host.no_fd = "nt_softirq_entry";
	host.no_info = "nt_seed";
	host.more_misses = 7;
	assert_int_equal(nt_proc_snapshots_take(&fixture->snapshots, NT_PROC_SNAPSHOTS_OWN, 0), 0);
	assert_int_equal(nt_proc_snapshots_left_out(&fixture->snapshots, &most, &of_most),
			 7 * (NT_PROGRAM_COUNT - 3 - n_spared));
	assert_int_equal(of_most, 7);
	assert_non_null(most);
}

/* The time while it recorded is that between the first snapshot and the last that took those of /proc too. */
static void splits_its_own_cost(void **state)
{
	struct fixture *fixture = *state;
	struct nt_proc_snapshots *snapshots = &fixture->snapshots;
	struct nt_own_cost cost;
	uint64_t first_ns;

	nt_proc_snapshots_own_cost(snapshots, &cost);
	assert_int_equal(cost.loading_ns + cost.recording_ns + cost.ending_ns + cost.recorded_ns, 0);
	assert_int_equal(nt_proc_snapshots_take(snapshots, NT_PROC_SNAPSHOTS_ALL, 0), 0);
	first_ns = snapshots->own_last.at_ns;
	host.more_cpu_s = 2;
	assert_int_equal(nt_proc_snapshots_take(snapshots, NT_PROC_SNAPSHOTS_ALL, 0), 0);
	nt_proc_snapshots_own_cost(snapshots, &cost);
	assert_int_equal(cost.loading_ns, 6 * SEC + 8000);
	assert_int_equal(cost.recording_ns, 2 * SEC);
	assert_int_equal(cost.recorded_ns, snapshots->own_last.at_ns - first_ns);
	assert_int_equal(cost.ending_ns, 0);
	host.more_cpu_s = 5;
	assert_int_equal(nt_proc_snapshots_take(snapshots, NT_PROC_SNAPSHOTS_OWN, 0), 0);
	nt_proc_snapshots_own_cost(snapshots, &cost);
	assert_int_equal(cost.recording_ns, 2 * SEC);
	assert_int_equal(cost.ending_ns, 3 * SEC);
	/* The last snapshot that was counted is on the tape. */
	read_tape(fixture);
	assert_int_equal(fixture->taken[fixture->n_taken - 1].end_ns, snapshots->own_last.at_ns);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(reads_clocks_beside_each_other),  TEST(rounds_tai_to_seconds),
		TEST(takes_each_clock_anew),	       TEST(takes_files),
		TEST(takes_readings_of_probes),	       TEST(takes_its_own_without_files),
		TEST(counts_records_by_cpu),	       TEST(counts_outcomes_by_program),
		TEST(counts_what_the_kernel_left_out), TEST(splits_its_own_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * session_test.c - a recording from its begin to its end, with a kernel side and a clock that are made here: what is
 * drained, what is written once a second, what ends it, what is printed, and what is left after each failure. Time goes
 * on while the recorder sleeps, and at no other moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>

#include <bpf/btf.h>
#include <linux/bpf.h>

#include "record/kernel.h"
#include "record/session.h"
#include "tests/support/chunk_dump.h"
#include "tests/support/rand.h"
#include "tests/support/heard.h"
#include "tests/support/must.h"
#include "tests/support/scratch.h"
#include "tests/support/fake_files.h"

#define MS 1000000ull
#define SEC (1000 * MS)
#define N_CPUS 3
#define START (50 * SEC) /* young enough that no process of this host is older than a second */
#define RING_SIZE 65536u

/* ---- the kernel side ---- */

struct pages {
	unsigned long consumer, producer;
	_Alignas(8) uint8_t data[2 * RING_SIZE];
};

static struct {
	struct pages pages[N_CPUS];
	struct nt_cpu cpus[N_CPUS];
	uint64_t now_ns;
	/* what a test asks for */
	void (*on_sleep)(int n); /* the recorder has gone to sleep for the n-th time */
	void (*on_flush)(void);
	void (*on_load)(void);
	int load_error, seed_error, start_error, drain_error;
	int socket_error[2]; /* of sockets at the start, and at the end */
	int write_errno; /* files cannot be written */
	unsigned int plugged; /* rings of CPUs that came */
	/* what has been seen */
	int n_sleeps, longest_sleep_ms, n_loads, n_stops, n_flushes, n_refreshes, n_follows, n_releases, n_realtime;
	uint64_t idle_ns, silent_ns, first_refresh_ns, start_ns;
	rlim_t files_allowed;
	struct nt_kernel *kernel;
} host;

static void open_ring(struct nt_kernel *kernel, uint32_t cpu)
{
	kernel->rings[cpu] = (struct nt_ring_reader){.fd = eventfd(0, EFD_CLOEXEC),
						     .size = RING_SIZE,
						     .consumer = &host.pages[cpu].consumer,
						     .producer = &host.pages[cpu].producer,
						     .data = host.pages[cpu].data};
}

int nt_kernel_load(struct nt_kernel *kernel, struct nt_record_options *options, char *message, size_t size)
{
	struct rlimit files;

	(void)options;
	host.n_loads++;
	if (host.on_load)
		host.on_load();
	host.kernel = kernel;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	host.files_allowed = files.rlim_cur;
	memset(kernel, 0, sizeof(*kernel));
	snprintf(message, size, "this is why: do that");
	if (host.load_error)
		return host.load_error;
	kernel->n_cpus = N_CPUS;
	kernel->cpus = host.cpus;
	kernel->rings = calloc(N_CPUS, sizeof(*kernel->rings));
	/* The second CPU is not there. */
	open_ring(kernel, 0);
	open_ring(kernel, 2);
	return 0;
}

int nt_kernel_seed(struct nt_kernel *kernel, struct nt_ids *ids)
{
	(void)kernel, (void)ids;
	return host.seed_error;
}

int nt_kernel_seed_memory(struct nt_kernel *kernel, nt_seed_fn *take, void *arg)
{
	(void)kernel;
	(void)take;
	(void)arg;
	return 0;
}

/* One at the start, and one that was made meanwhile. */
int nt_kernel_seed_sockets(struct nt_kernel *kernel, const struct nt_plan *plan, struct nt_ids *ids)
{
	const bool is_end = host.n_stops > 0;
	union nt_any record = {
		.as_socket = {.kind = NT_SOCKET, .socket = is_end ? 71 : 70, .cookie = is_end ? 71 : 70}};

	(void)kernel;
	assert_ptr_equal(plan->chosen[NT_PROBE_SCHED], nt_probes[NT_PROBE_SCHED].candidates);
	return host.socket_error[is_end] ? host.socket_error[is_end] : nt_ids_put(ids, &record);
}

const struct nt_flow_hash *nt_kernel_flow_hashes(const struct nt_kernel *kernel)
{
	(void)kernel;
	fail_msg("nobody counts flows");
	return NULL;
}

int nt_kernel_start(struct nt_kernel *kernel)
{
	kernel->start_ns = host.start_ns = host.now_ns;
	return host.start_error;
}

void nt_kernel_begin_generation(struct nt_kernel *kernel, uint32_t generation)
{
	(void)kernel;
	fail_msg("generation %u: a host with few ids forgets nothing", generation);
}

void nt_kernel_stop(struct nt_kernel *kernel, struct nt_plan *plan)
{
	(void)plan;
	kernel->end_ns = host.now_ns;
	host.n_stops++;
}

void nt_kernel_flush_losses(struct nt_kernel *kernel)
{
	(void)kernel;
	host.n_flushes++;
	if (host.on_flush)
		host.on_flush();
}

void nt_kernel_refresh(struct nt_kernel *kernel, uint64_t now_ns, uint64_t idle_ns, uint64_t silent_ns)
{
	(void)kernel;
	assert_int_equal(now_ns, host.now_ns);
	if (!host.n_refreshes++)
		host.first_refresh_ns = now_ns;
	host.idle_ns = idle_ns;
	host.silent_ns = silent_ns;
}

int nt_kernel_drain_batch(struct nt_kernel *kernel, uint32_t cpu, nt_ring_item_fn take, void *arg)
{
	struct nt_batch *batch = &kernel->cpus[cpu].batch;
	uint32_t end = batch->end;

	batch->end = 0;
	return end ? take(arg, (const uint8_t *)batch->data, end) : 0;
}

int nt_kernel_follow_hotplug(struct nt_kernel *kernel, size_t ring_size, unsigned int *changed)
{
	assert_int_equal(ring_size, RING_SIZE);
	host.n_follows++;
	*changed = host.plugged;
	if (host.plugged)
		open_ring(kernel, 1);
	host.plugged = 0;
	return 0;
}

void nt_kernel_release(struct nt_kernel *kernel)
{
	host.n_releases++;
	for (uint32_t cpu = 0; cpu < kernel->n_cpus; cpu++)
		if (kernel->rings[cpu].fd)
			close(kernel->rings[cpu].fd);
	free(kernel->rings);
	free(kernel->sampler.links);
}

struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *object, const char *name)
{
	(void)object, (void)name;
	return NULL;
}

struct btf *btf__load_vmlinux_btf(void)
{
	return NULL;
}

static int n_clocks_destroyed;

int bpf_link__destroy(struct bpf_link *link)
{
	n_clocks_destroyed += link != NULL;
	return 0;
}

/* ---- the rest of the host ---- */

int clock_gettime(clockid_t id, struct timespec *now)
{
	uint64_t ns = host.now_ns + (id == CLOCK_REALTIME || id == CLOCK_TAI ? 1700000000 * SEC : 0);

	*now = (struct timespec){(time_t)(ns / SEC), (long)(ns % SEC)};
	return 0;
}

int epoll_wait(int fd, struct epoll_event *events, int n, int ms)
{
	(void)fd, (void)events, (void)n;
	assert_in_range(ms, 0, 20);
	host.now_ns += ms ? (uint64_t)ms * MS : MS / 10;
	host.n_sleeps++;
	host.longest_sleep_ms = ms > host.longest_sleep_ms ? ms : host.longest_sleep_ms;
	if (host.on_sleep)
		host.on_sleep(host.n_sleeps);
	assert_true(host.n_sleeps < 10000);
	return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)left;
	host.now_ns += (uint64_t)time->tv_nsec;
	return 0;
}

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	assert_int_equal(pid, 0);
	assert_int_equal(policy, SCHED_RR | SCHED_RESET_ON_FORK);
	assert_int_equal(param->sched_priority, 1);
	host.n_realtime++;
	return 0;
}

/* Only regular files: what is said on standard error is still heard. */
ssize_t write(int fd, const void *data, size_t size)
{
	struct stat what;

	if (host.write_errno && fd != STDERR_FILENO && !fstat(fd, &what) && S_ISREG(what.st_mode)) {
		errno = host.write_errno;
		return -1;
	}
	return syscall(SYS_write, fd, data, size);
}

/* As long as it may take. */
int fdatasync(int fd)
{
	(void)fd;
	return 0;
}

static const struct fake_file files[] = {
	{"/proc/stat", "cpu  1 2 3\n"},
	{"/proc/softirqs", "CPU0\n"},
	{"/proc/net/softnet_stat", "00\n"},
	{"/proc/net/snmp", "Ip: 1\n"},
	{"/proc/interrupts", "1: x  y\n"},
	{"/proc/kallsyms", NULL},
	{"/proc/modules", ""},
	{},
};

/* ---- records in rings ---- */

static uint32_t *put_bytes(uint32_t cpu, const void *bytes, size_t size, uint32_t bits)
{
	struct pages *pages = &host.pages[cpu];
	uint32_t header[2] = {(uint32_t)size | bits, 0};
	unsigned long at = pages->producer % RING_SIZE;

	assert_true(at + size + sizeof(header) < RING_SIZE);
	memcpy(pages->data + at, header, sizeof(header));
	memcpy(pages->data + at + sizeof(header), bytes, size);
	pages->producer += (size + sizeof(header) + 7) & ~7ul;
	return (uint32_t *)(void *)(pages->data + at);
}

static union nt_any record_of(unsigned int kind)
{
	union nt_any record;

	memset(&record, 0, sizeof(record));
	record.record.kind = (uint8_t)kind;
	record.record.end_ns = host.now_ns;
	return record;
}

static uint32_t *put(uint32_t cpu, union nt_any record, uint32_t bits)
{
	return put_bytes(cpu, &record, nt_kind(record.record.kind)->size, bits);
}

static void put_state(uint32_t cpu)
{
	put(cpu, record_of(NT_STATE), 0);
}

static void put_loss(uint32_t cpu, uint8_t why, uint32_t count)
{
	union nt_any record = record_of(NT_LOSS);

	record.as_loss.why = why;
	record.as_loss.lost_kind = NT_SWITCH;
	record.as_loss.count = count;
	put(cpu, record, 0);
}

/* ---- a recording, and its tape ---- */

static struct nt_record_options options;
static char directory[SCRATCH_MAX], *dump;
static const char *said;

static int set_up(void **state)
{
	(void)state;
	memset(&host, 0, sizeof(host));
	n_clocks_destroyed = 0;
	host.now_ns = START;
	fake_files = files;
	scratch_make(directory);
	memset(&options, 0, sizeof(options));
	snprintf(options.output, sizeof(options.output), "%s/a.tape", directory);
	options.ring_size = RING_SIZE;
	options.duration_ns = 2500 * MS;
	options.program = "nettape-record";
	options.plan.on[NT_PROBE_SCHED] = true;
	options.plan.chosen[NT_PROBE_SCHED] = nt_probes[NT_PROBE_SCHED].candidates;
	return 0;
}

static int tear_down(void **state)
{
	sigset_t none;

	(void)state;
	free(dump);
	dump = NULL;
	scratch_remove(directory);
	sigemptyset(&none);
	return sigprocmask(SIG_SETMASK, &none, NULL);
}

static int run(void)
{
	int status;

	heard_begin();
	status = nt_session_run(&options);
	said = heard_end();
	return status;
}

static int64_t read_file(void *arg, uint64_t offset, void *data, size_t size)
{
	return pread(*(int *)arg, data, size, (off_t)offset);
}

/* The first chunk as text. */
static void read_tape(const char *name)
{
	char path[2 * SCRATCH_MAX];
	int fd;
	struct stat what;
	struct nt_source source;
	size_t size;
	FILE *out;

	free(dump);
	out = open_memstream(&dump, &size);
	snprintf(path, sizeof(path), "%s/a.tape/%s", directory, name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && !fstat(fd, &what));
	source = (struct nt_source){.arg = &fd, .size = (uint64_t)what.st_size, .read = read_file};
	chunk_dump(out, &source, false);
	fclose(out);
	close(fd);
}

static int count(const char *part)
{
	int n = 0;

	for (const char *at = dump; (at = strstr(at, part)); at++)
		n++;
	return n;
}

static void on_tape(const char *part)
{
	if (!strstr(dump, part))
		fail_msg("no '%s' on the tape:\n%s", part, dump);
}

static void is_said(const char *part)
{
	if (!strstr(said, part))
		fail_msg("'%s' is not said, but '%s'", part, said);
}

static bool is_there(const char *name)
{
	char path[2 * SCRATCH_MAX];
	struct stat what;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return !stat(path, &what);
}

/* ---- tests ---- */

static void records_for_a_time(void **state)
{
	(void)state;
	assert_int_equal(run(), 0);
	is_said("recording sched to ");
	is_said("a.tape: 2.500 s, 0 events, 0 lost, ");
	assert_int_equal(host.n_loads, 1);
	assert_int_equal(host.n_stops, 1);
	assert_int_equal(host.n_releases, 1);
	assert_int_equal(host.n_realtime, 1);
	assert_true(host.files_allowed >= 1024);
	/* It never sleeps longer than that, and goes on at the deadline itself. */
	assert_int_equal(host.longest_sleep_ms, 20);
	assert_in_range(host.n_sleeps, 125, 130);
	assert_int_equal(host.now_ns, START + 2500 * MS);
	/* At once, and each second. */
	assert_int_equal(host.n_refreshes, 3);
	assert_int_equal(host.n_follows, 3);
	assert_int_equal(host.first_refresh_ns, START + 20 * MS);
	assert_int_equal(host.idle_ns, 500 * MS);
	assert_int_equal(host.silent_ns, 10000 * MS);

	read_tape("chunk-000000.ntc");
	assert_int_equal(count("key=\"start_ns\" value=\"50000000000\""), 1);
	assert_int_equal(count("key=\"end_ns\" value=\"52500000000\""), 1);
	assert_int_equal(count("key=\"stop\" value=\"duration\""), 1);
	assert_int_equal(count("key=\"events\" value=\"0\""), 1);
	assert_int_equal(count("key=\"complete\" value=\"1\""), 1);
	assert_int_equal(count("key=\"uncovered\" value=\"Kernel functions"), 0);
	/* One at each of three ticks and one at the end; of our own one more, and one clock at the begin. */
	assert_int_equal(count("name=\"/proc/stat\" text=\"cpu  1 2 3\\n\""), 4);
	assert_int_equal(count("name=\"nettape/self\""), 5);
	assert_int_equal(count("  clock "), 5);
	assert_int_equal(count("  irq_name "), 12);
}

static void stop_for_a_while(int n)
{
	if (n == 60)
		host.now_ns += 3300 * MS;
}

/* A recorder that was stopped does not make up for the seconds that it missed. */
static void seconds_that_were_missed(void **state)
{
	(void)state;
	host.on_sleep = stop_for_a_while;
	options.duration_ns = 6 * SEC;
	assert_int_equal(run(), 0);
	assert_int_equal(host.n_refreshes, 4);
}

static void says_nothing_if_quiet(void **state)
{
	(void)state;
	options.quiet = options.no_realtime = true;
	assert_int_equal(run(), 0);
	assert_string_equal(said, "");
	assert_int_equal(host.n_realtime, 0);
}

static void put_now_and_then(int n)
{
	if (n == 5) {
		put_state(0);
		put_state(2);
		put_loss(2, NT_LOSS_RING_FULL, 40);
		put_loss(2, NT_LOSS_NOT_RUN, 2);
	}
	if (n == 70) {
		put_state(0);
		put_loss(0, NT_LOSS_RING_FULL, 3);
	}
}

static void drains_all_rings(void **state)
{
	(void)state;
	host.on_sleep = put_now_and_then;
	assert_int_equal(run(), NT_RECORD_LOST);
	is_said(" 6 events, 45 lost, ");
	is_said("lost: 43 records found the rings full; --ring-size 128k would have held them");
	is_said("lost: 2 context switches");
	read_tape("chunk-000000.ntc");
	assert_int_equal(count("  state "), 3);
	assert_int_equal(count("key=\"events\" value=\"6\""), 1);
	assert_int_equal(count("key=\"lost\" value=\"45\""), 1);
	/* A block waits for its age, not for the end. */
	assert_int_equal(count("type=events"), 3);
	assert_true(strstr(dump, "type=events") < strstr(dump, "begin_ns=51000000000 end_ns="));
}

/* A record that a CPU has not put into its ring, and a loss that comes during the flush. */
static void leave_rest(int n)
{
	union nt_any record = record_of(NT_STATE);

	if (n != 10)
		return;
	memcpy(host.cpus[2].batch.data, &record, sizeof(record.as_state));
	host.cpus[2].batch.end = sizeof(record.as_state);
}

static void put_late(void)
{
	put_loss(0, NT_LOSS_RING_FULL, 9);
}

static void takes_the_rest_at_the_end(void **state)
{
	(void)state;
	host.on_sleep = leave_rest;
	host.on_flush = put_late;
	assert_int_equal(run(), NT_RECORD_LOST);
	assert_int_equal(host.n_flushes, 1);
	is_said(" 2 events, 9 lost, ");
	read_tape("chunk-000000.ntc");
	assert_int_equal(count("  state "), 1);
	assert_int_equal(count("  loss "), 1);
}

/* A loss of which the CPU had told nothing yet: the ring that would have held it is larger, too. */
static void leave_loss(int n)
{
	union nt_any record = record_of(NT_LOSS);

	if (n != 10)
		return;
	record.as_loss.lost_kind = NT_SWITCH;
	record.as_loss.count = 5000;
	memcpy(host.cpus[2].batch.data, &record, sizeof(record.as_loss));
	host.cpus[2].batch.end = sizeof(record.as_loss);
}

static void knows_the_ring_for_a_late_loss(void **state)
{
	(void)state;
	host.on_sleep = leave_loss;
	assert_int_equal(run(), NT_RECORD_LOST);
	is_said("lost: 5,000 records found the rings full; --ring-size 512k would have held them");
}

/* A program that was preempted has taken room and not filled it: waited for, but not for ever. */
static void put_busy(int n)
{
	if (n != 10)
		return;
	put(0, record_of(NT_STATE), BPF_RINGBUF_BUSY_BIT);
	put_state(0);
}

static void waits_for_a_writer_a_second(void **state)
{
	(void)state;
	host.on_sleep = put_busy;
	assert_int_equal(run(), 0);
	is_said(" 0 events, ");
	assert_int_equal(host.now_ns, START + 2500 * MS + SEC);
}

static int ending;

static void end_by(int n)
{
	if (n == 3)
		raise(ending);
}

static void signal_ends_it(void **state)
{
	static char *const command[] = {"sleep", "100", NULL};

	(void)state;
	host.on_sleep = end_by;
	options.duration_ns = 0;
	for (int i = 0; i < 3; i++) {
		ending = (const int[]){SIGINT, SIGHUP, SIGTERM}[i];
		host.n_sleeps = 0;
		snprintf(options.output, sizeof(options.output), "%s/%d.tape", directory, i);
		assert_int_equal(run(), 0);
		assert_int_equal(host.n_sleeps, 3);
	}
	host.n_sleeps = 0;
	snprintf(options.output, sizeof(options.output), "%s/a.tape", directory);
	assert_int_equal(run(), 0);
	read_tape("chunk-000000.ntc");
	on_tape("key=\"stop\" value=\"signal\"");
	on_tape("key=\"complete\" value=\"1\"");
	/* A command ends with it, and its status is that of the signal. */
	host.n_sleeps = 0;
	snprintf(options.output, sizeof(options.output), "%s/b.tape", directory);
	options.command = command;
	assert_int_equal(run(), 128 + SIGTERM);
}

static int disk_error;

/* The disk is written by a thread, which gets the time to: until this part is on the tape. */
static void wait_for_disk(const char *part)
{
	for (int tries = 0; tries < 60000; tries++) {
		read_tape("chunk-000000.ntc.partial");
		if (count(part))
			return;
		poll(NULL, 0, 1);
	}
	fail_msg("'%s' does not get on the disk", part);
}

static bool is_asleep(const char *tid)
{
	char path[64], line[256] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%.20s/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return true;
	if (fgets(line, sizeof(line), file))
		MUST(strrchr(line, ')'));
	fclose(file);
	return !line[0] || !strncmp(strrchr(line, ')'), ") S", 3);
}

/* Until all other threads sleep: the one that writes the disk has done all that was queued. */
static void wait_for_threads(void)
{
	const int own = (int)syscall(SYS_gettid);
	bool are_asleep = false;

	for (int tries = 0; tries < 60000 && !are_asleep; tries++) {
		DIR *tasks = opendir("/proc/self/task");

		MUST(tasks);
		are_asleep = true;
		for (struct dirent *task; (task = readdir(tasks));)
			if (task->d_name[0] != '.' && atoi(task->d_name) != own)
				are_asleep = are_asleep && is_asleep(task->d_name);
		closedir(tasks);
		if (!are_asleep)
			poll(NULL, 0, 1);
	}
	assert_true(are_asleep);
}

static void break_disk(int n)
{
	if (n < 10)
		return;
	if (n == 10)
		wait_for_disk("key=\"start_ns\"");
	host.write_errno = disk_error;
	wait_for_threads();
}

static void break_disk_at_the_end(void)
{
	host.write_errno = disk_error;
}

static void wait_a_little(int n)
{
	(void)n;
	poll(NULL, 0, 5);
}

static unsigned char why_lost;

static void lose_some(int n)
{
	wait_a_little(n);
	/* At once: the command may end soon. */
	if (n == 1)
		put_loss(0, why_lost, 4);
}

static void lose_some_until_a_signal(int n)
{
	lose_some(n);
	end_by(n);
}

static int run_to(const char *name)
{
	host.n_sleeps = 0;
	memset(host.pages, 0, sizeof(host.pages));
	snprintf(options.output, sizeof(options.output), "%s/%s.tape", directory, name);
	return run();
}

/* Losses for want of room make an exit status of their own, where there is no other. */
static void losses_are_an_exit_status(void **state)
{
	static char *const succeeds[] = {"true", NULL}, *const fails[] = {"sh", "-c", "exit 5", NULL},
			   *const outlives[] = {"sleep", "100", NULL};

	(void)state;
	host.on_sleep = lose_some;
	why_lost = NT_LOSS_RING_FULL;
	options.duration_ns = 100 * MS;
	options.quiet = true;
	assert_int_equal(run_to("time"), 3);
	assert_string_equal(said, "lost: 4 records found the rings full; --ring-size 128k would have held them\n");
	options.command = succeeds;
	assert_int_equal(run_to("succeeds"), 3);
	options.command = fails;
	assert_int_equal(run_to("fails"), 5);
	/* A failure of ours is worse. */
	options.command = NULL;
	host.on_flush = break_disk_at_the_end;
	disk_error = EIO;
	assert_int_equal(run_to("disk"), 1);
	host.on_flush = NULL;
	host.write_errno = 0;
	/* The kernel did not run the program: no ring would have held these. */
	why_lost = NT_LOSS_NOT_RUN;
	assert_int_equal(run_to("not-run"), 0);
	assert_string_equal(said, "");

	why_lost = NT_LOSS_RING_FULL;
	options.duration_ns = 0;
	host.on_sleep = lose_some_until_a_signal;
	ending = SIGINT;
	assert_int_equal(run_to("signal"), 3);
	options.command = outlives;
	assert_int_equal(run_to("command-and-signal"), 128 + SIGINT);
}

static void command_ends_it(void **state)
{
	static char *const command[] = {"sh", "-c", "exit 3", NULL};

	(void)state;
	host.on_sleep = wait_a_little;
	options.duration_ns = 0;
	options.command = command;
	assert_int_equal(run(), 3);
	is_said(" until sh ends");
	read_tape("chunk-000000.ntc");
	on_tape("socket=1 cookie=70");
	on_tape("socket=2 cookie=71");
	on_tape("key=\"stop\" value=\"command\"");
}

static char end_of_recording[2 * SCRATCH_MAX];

static void tell_the_end(void)
{
	close(open(end_of_recording, O_CREAT | O_WRONLY, 0600));
}

/* The time is up, the command is not: it is waited for, and the recording is whole. */
static void command_outlives_the_time(void **state)
{
	static char *const command[] = {"sh", "-c", "until [ -e \"$0\" ]; do sleep 0.01; done; exit 4",
					end_of_recording, NULL};

	(void)state;
	scratch_path(end_of_recording, directory, "end");
	host.on_flush = tell_the_end;
	options.command = command;
	assert_int_equal(run(), 4);
	read_tape("chunk-000000.ntc");
	on_tape("key=\"stop\" value=\"duration\"");
}

static void leaves_nothing(int status)
{
	assert_int_equal(status, 1);
	assert_false(is_there("a.tape"));
	assert_int_equal(host.n_stops, 1);
	assert_int_equal(host.n_releases, 1);
	assert_int_equal(host.n_sleeps, 0);
	assert_null(strstr(said, "recording"));
	assert_null(strstr(said, "events"));
}

static void failed_begin_leaves_nothing(void **state)
{
	static char *const command[] = {"sh", "-c", "exit 5", NULL};

	(void)state;
	host.load_error = -EPERM;
	options.command = command;
	leaves_nothing(run());
	assert_string_equal(said, "nettape-record: this is why: do that\n");

	host.load_error = host.n_stops = host.n_releases = 0;
	host.seed_error = -ENOMEM;
	leaves_nothing(run());
	assert_string_equal(said, "nettape-record: cannot start the programs in the kernel: Cannot allocate memory\n");

	host.seed_error = host.n_stops = host.n_releases = 0;
	host.socket_error[0] = -EMFILE;
	leaves_nothing(run());
	assert_string_equal(said, "nettape-record: cannot start the programs in the kernel: Too many open files\n");

	host.socket_error[0] = host.n_stops = host.n_releases = 0;
	host.start_error = -EACCES;
	leaves_nothing(run());
	assert_string_equal(said, "nettape-record: cannot start the programs in the kernel: Permission denied\n");
}

static void directory_that_cannot_be(void **state)
{
	(void)state;
	snprintf(options.output, sizeof(options.output), "%s/a/b", directory);
	assert_int_equal(run(), 1);
	is_said("nettape-record: cannot make the directory ");
	assert_int_equal(host.n_loads, 0);
}

static void failing_disk_ends_it(void **state)
{
	(void)state;
	host.on_sleep = break_disk;
	disk_error = ENOSPC;
	assert_int_equal(run(), 1);
	is_said("nettape-record: cannot write ");
	is_said("a.tape/chunk-000000.ntc.partial: No space left on device; the part written before is whole and can be "
		"read: make room, or record elsewhere with -o\n");
	is_said(" 0 events, 0 lost");
	assert_int_equal(host.n_stops, 1);
	assert_in_range(host.n_sleeps, 10, 120);
	assert_true(is_there("a.tape/chunk-000000.ntc.partial"));

	/* The last block is not less than the others. */
	scratch_remove(directory);
	scratch_make(directory);
	snprintf(options.output, sizeof(options.output), "%s/a.tape", directory);
	host.write_errno = host.n_sleeps = 0;
	host.on_sleep = NULL;
	host.on_flush = break_disk_at_the_end;
	assert_int_equal(run(), 1);
	is_said("No space left on device");
	assert_false(is_there("a.tape/chunk-000000.ntc"));

	scratch_remove(directory);
	scratch_make(directory);
	snprintf(options.output, sizeof(options.output), "%s/a.tape", directory);
	host.write_errno = host.n_sleeps = 0;
	host.on_flush = NULL;
	host.on_sleep = break_disk;
	disk_error = EIO;
	assert_int_equal(run(), 1);
	is_said("Input/output error; the part written before is whole and can be read: record elsewhere with -o\n");
}

/* Two events and a loss reach the disk, three events do not. */
static void break_disk_between(int n)
{
	if (n == 3) {
		put_state(0);
		put_state(0);
		put_loss(0, NT_LOSS_RING_FULL, 6);
	}
	/* The first block is 250 ms old, and cut, before the disk is full. */
	if (n == 40) {
		wait_for_disk("  loss ");
		host.write_errno = ENOSPC;
		put_state(0);
		put_state(2);
		put_loss(2, NT_LOSS_RING_FULL, 100);
	}
	wait_for_threads();
}

static void disk_that_is_full_counts(void **state)
{
	char path[2 * SCRATCH_MAX], bytes[64];
	struct stat what;

	(void)state;
	host.on_sleep = break_disk_between;
	assert_int_equal(run(), 1);
	read_tape("chunk-000000.ntc.partial");
	assert_int_equal(count("  state "), 2);
	assert_int_equal(count("  loss "), 1);
	is_said("a.tape: 0.060 s, 3 events, 6 lost, ");
	is_said("lost: 6 records found the rings full");
	snprintf(path, sizeof(path), "%s/a.tape/chunk-000000.ntc.partial", directory);
	assert_int_equal(stat(path, &what), 0);
	snprintf(bytes, sizeof(bytes), "lost, %.1f kB (", (double)what.st_size / 1000);
	is_said(bytes);

	/* It was full from the start. */
	host.n_sleeps = 0;
	host.on_sleep = wait_a_little;
	snprintf(options.output, sizeof(options.output), "%s/b.tape", directory);
	assert_int_equal(run(), 1);
	is_said("b.tape/chunk-000000.ntc.partial: No space left on device; nothing was recorded: make room, or record "
		"elsewhere with -o\n");
	assert_null(strstr(said, "events"));
	assert_false(is_there("b.tape"));
}

/* A CPU that is plugged in is read as soon as it has a ring; the clock of one that was away is begun anew. */
static void plug_in(int n)
{
	union nt_any record = record_of(NT_HOTPLUG);

	if (n == 30) {
		host.plugged = 1;
		host.kernel->sampler.n_cpus = N_CPUS;
		host.kernel->sampler.links = calloc(N_CPUS, sizeof(struct bpf_link *));
		for (int cpu = 0; cpu < N_CPUS; cpu++)
			host.kernel->sampler.links[cpu] = (struct bpf_link *)&host;
		record.as_hotplug.online = 1;
		put(2, record, 0);
	}
	if (n == 60)
		put_state(1);
}

static void follows_hotplug(void **state)
{
	(void)state;
	host.on_sleep = plug_in;
	options.duration_ns = 1900 * MS;
	assert_int_equal(run(), 0);
	is_said(" 2 events, 0 lost");
	assert_int_equal(n_clocks_destroyed, 1);
	read_tape("chunk-000000.ntc");
	on_tape("type=events flags=0");
	assert_int_equal(count("  state "), 1);
	assert_non_null(strstr(dump, "cpu=1 sequence=0 count=1"));
}

static void names_of_functions(void **state)
{
	(void)state;
	options.plan.chosen[NT_PROBE_DROPS] = nt_probes[NT_PROBE_DROPS].candidates;
	assert_int_equal(run(), 0);
	read_tape("chunk-000000.ntc");
	assert_int_equal(count("key=\"uncovered\" value=\"Kernel functions"), 1);
}

static void refer_to_symbol(int n)
{
	union nt_any record = record_of(NT_DROP);

	if (n != 5)
		return;
	record.as_drop.location = 0xffffffff81000010ull;
	put(0, record, 0);
}

static void resolves_symbols(void **state)
{
	static const struct fake_file with_names[] = {
		{"/proc/kallsyms", "ffffffff81000000 T a_function\n"}, {"/proc/modules", ""}, {}};

	(void)state;
	fake_files = with_names;
	host.on_sleep = refer_to_symbol;
	options.plan.chosen[NT_PROBE_STACKS] = nt_probes[NT_PROBE_STACKS].candidates;
	assert_int_equal(run(), 0);
	read_tape("chunk-000000.ntc");
	on_tape("name=\"a_function\"");
	assert_int_equal(count("key=\"uncovered\" value=\"Kernel functions"), 0);
}

/* ---- the next chunk ---- */

#define LARGE (3u << 20)

static char large[LARGE];

/* Files that nothing makes smaller: 12 MiB at each tick, so that the sixth, after five seconds, fills a chunk. */
static const struct fake_file large_files[] = {
	{"/proc/stat", large},
	{"/proc/softirqs", large},
	{"/proc/net/softnet_stat", large},
	{"/proc/net/snmp", large},
	{"/proc/interrupts", "1: x  y\n"},
	{"/proc/kallsyms", "ffffffff81000000 T a_function\n"},
	{"/proc/modules", ""},
	{},
};

static const struct fake_file small_files[] = {
	{"/proc/stat", "cpu  1 2 3\n"},
	{"/proc/interrupts", "1: x  y\n"},
	{"/proc/kallsyms", "ffffffff81000000 T a_function\n"},
	{"/proc/modules", ""},
	{},
};

static void fill_a_chunk(int n)
{
	union nt_any record = record_of(NT_DROP);

	(void)n;
	record.as_drop.location = 0xffffffff81000010ull;
	if (host.now_ns == START + 5 * SEC || host.now_ns == START + 5200 * MS)
		put(0, record, 0);
	if (host.n_refreshes == 6)
		fake_files = small_files;
}

/* A chunk can be read without those before it: it says of itself and of ids all that the first did. */
static void begins_the_next_chunk(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};

	(void)state;
	nt_rand_bytes(&rand, large, LARGE - 1);
	for (size_t i = 0; i < LARGE - 1; i++)
		large[i] = large[i] ? large[i] : 1;
	fake_files = large_files;
	host.on_sleep = fill_a_chunk;
	options.duration_ns = 5500 * MS;
	options.plan.chosen[NT_PROBE_STACKS] = nt_probes[NT_PROBE_STACKS].candidates;
	assert_int_equal(run(), 0);
	is_said(" 2 events, 0 lost, ");
	assert_true(is_there("a.tape/chunk-000000.ntc"));
	assert_false(is_there("a.tape/chunk-000002.ntc"));
	read_tape("chunk-000001.ntc");
	assert_int_equal(count("key=\"start_ns\" value=\"50000000000\""), 1);
	assert_int_equal(count("key=\"complete\" value=\"1\""), 1);
	assert_int_equal(count("key=\"events\" value=\"2\""), 1);
	assert_int_equal(count("  irq_name "), 12);
	assert_int_equal(count("  clock "), 2);
	/* The drop that was read before is in the first. */
	assert_int_equal(count("  drop "), 1);
	on_tape("name=\"a_function\"");
}

/* ---- how much is kept ---- */

static uint64_t free_bytes = 100ull << 30;

int fstatvfs(int fd, struct statvfs *out)
{
	(void)fd;
	*out = (struct statvfs){.f_frsize = 1, .f_bavail = free_bytes, .f_blocks = 100ull << 30};
	return 0;
}

static void put_at_each_second(int n)
{
	(void)n;
	if ((host.now_ns - START) % SEC == 0)
		put(0, record_of(NT_DROP), 0);
}

/* A chunk is of one second here: what is older than two goes, and the first that is left says how much that was. */
static void keeps_the_last_seconds(void **state)
{
	(void)state;
	host.on_sleep = put_at_each_second;
	options.duration_ns = 6500 * MS;
	options.retention = (struct nt_retention_limits){.keep_ns = 2 * SEC};
	assert_int_equal(run(), 0);
	is_said(" 6 events, 0 lost, ");
	is_said("kept: the last 2.500 s, 2 events, ");
	is_said("; 4 older chunks were dropped");
	assert_false(is_there("a.tape/chunk-000003.ntc"));
	assert_true(is_there("a.tape/chunk-000004.ntc"));
	assert_true(is_there("a.tape/chunk-000006.ntc"));
	read_tape("chunk-000004.ntc");
	on_tape("key=\"keep_ns\" value=\"2000000000\"");
	on_tape("name=\"nettape/earlier\"");
	on_tape("0 drop 4 0");
	assert_int_equal(count("key=\"start_ns\" value=\"50000000000\""), 1);
}

static void take_room(int n)
{
	(void)n;
	if (host.now_ns > START + 2 * SEC)
		free_bytes = 1 << 20;
	assert_true(host.now_ns < START + 3600 * SEC);
}

/* Somebody else fills the disk: it ends in order, before there is no room for the end. */
static void leaves_room_for_others(void **state)
{
	(void)state;
	host.on_sleep = take_room;
	options.duration_ns = 0;
	options.retention.min_free_bytes = NT_MIN_FREE_USUAL;
	assert_int_equal(run(), 1);
	is_said("less than 1.1 GB are free on the disk of ");
	is_said("allow less with --min-free");
	read_tape("chunk-000000.ntc");
	on_tape("key=\"stop\" value=\"disk nearly full\"");
	on_tape("key=\"complete\" value=\"1\"");
	/* There is no begin without it, either; nor anything left of that. */
	assert_int_equal(run_to("b"), 1);
	is_said("only 1.0 MB are free on the disk of ");
	assert_false(is_there("b.tape"));
	free_bytes = 100ull << 30;
}

/* How late the reader was, of all CPUs at most. */
static void put_old(int n)
{
	union nt_any record = record_of(NT_STATE);

	if (n != 5)
		return;
	record.record.end_ns -= 7 * MS;
	put(2, record, 0);
	record.record.end_ns += 4 * MS;
	put(0, record, 0);
}

static void says_how_late_it_was(void **state)
{
	(void)state;
	host.on_sleep = put_old;
	assert_int_equal(run(), 0);
	read_tape("chunk-000000.ntc");
	on_tape("flush_lag_max_ns=7000000");
	assert_int_equal(count("flush_lag_max_ns=0\\n"), 1);
}

/* ---- snapshots ---- */

static void ask_for_snapshot(int n)
{
	if (n == 70 || n == 120)
		put(0, record_of(NT_DROP), 0);
	if (n == 80)
		raise(SIGUSR1);
}

/* Its name, beside the tape; "": there is none. */
static const char *find_snapshot(char name[NAME_MAX + 1])
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;

	name[0] = 0;
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, "a-", 2))
			snprintf(name, NAME_MAX + 1, "%s", entry->d_name);
	closedir(dir);
	return name;
}

/* What is there becomes a tape of its own, which ends there; and the recording goes on in the next chunk. */
static void links_a_snapshot(void **state)
{
	char name[NAME_MAX + 1], path[2 * SCRATCH_MAX + NAME_MAX];
	struct stat what;

	(void)state;
	host.on_sleep = ask_for_snapshot;
	options.duration_ns = 3 * SEC;
	assert_int_equal(run(), 0);
	snprintf(path, sizeof(path), "%s/%s/chunk-000000.ntc", directory, find_snapshot(name));
	assert_int_equal(stat(path, &what), 0);
	assert_int_equal(what.st_nlink, 2);
	is_said("snapshot: ");
	is_said(name);
	snprintf(path, sizeof(path), "%s/chunk-000001.ntc", name);
	assert_false(is_there(path));
	read_tape("chunk-000000.ntc");
	on_tape("key=\"stop\" value=\"snapshot\"");
	on_tape("key=\"complete\" value=\"1\"");
	assert_int_equal(count("  drop "), 1);
	read_tape("chunk-000001.ntc");
	on_tape("key=\"stop\" value=\"duration\"");
	assert_int_equal(count("  drop "), 1);
	/* Where none can be, that is said, and the recording goes on. */
	host.n_sleeps = 0;
	memset(host.pages, 0, sizeof(host.pages));
	snprintf(options.output, sizeof(options.output), "%s/b.tape", directory);
	snprintf(options.snapshots, sizeof(options.snapshots), "%s/gone", directory);
	assert_int_equal(run(), 1);
	is_said("no snapshot can be put into ");
	is_said("make it first, or choose another --snapshot");
	assert_false(is_there("b.tape"));
}

/* ---- beginning at a time ---- */

/* Sleeps; real signals wake it. */
int poll(struct pollfd *fds, nfds_t n, int ms)
{
	/* Tests wait by it, too. */
	if (!fds)
		return ppoll(NULL, n, &(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
	host.now_ns += (uint64_t)ms * MS;
	return 0;
}

static uint64_t loaded_ns;

static void note_loading(void)
{
	loaded_ns = host.now_ns;
	host.now_ns += SEC / 2 + 1; /* so long it takes */
}

static void begins_at_a_time(void **state)
{
	const uint64_t ahead_ns = 1700000000 * SEC;

	(void)state;
	host.on_load = note_loading;
	options.start_at_ns = 60 * SEC;
	options.duration_ns = SEC;
	assert_int_equal(run(), 0);
	is_said("waits until 2023-11-14 22:15:00 UTC\n");
	assert_int_equal((host.start_ns + ahead_ns) % (60 * SEC), 0);
	assert_int_equal(loaded_ns, host.start_ns - 5 * SEC);
	/* Too little time to load: at once, and at the next one after that. */
	options.start_at_ns = SEC / 4;
	assert_int_equal(run_to("b"), 0);
	assert_int_equal((host.start_ns + ahead_ns) % (SEC / 4), 0);
	assert_true(host.start_ns > loaded_ns + SEC / 2 && host.start_ns <= loaded_ns + SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(records_for_a_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(seconds_that_were_missed, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_nothing_if_quiet, set_up, tear_down),
		cmocka_unit_test_setup_teardown(drains_all_rings, set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_the_rest_at_the_end, set_up, tear_down),
		cmocka_unit_test_setup_teardown(knows_the_ring_for_a_late_loss, set_up, tear_down),
		cmocka_unit_test_setup_teardown(waits_for_a_writer_a_second, set_up, tear_down),
		cmocka_unit_test_setup_teardown(signal_ends_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(losses_are_an_exit_status, set_up, tear_down),
		cmocka_unit_test_setup_teardown(disk_that_is_full_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(command_ends_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(command_outlives_the_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(failed_begin_leaves_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(directory_that_cannot_be, set_up, tear_down),
		cmocka_unit_test_setup_teardown(failing_disk_ends_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(follows_hotplug, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_of_functions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(resolves_symbols, set_up, tear_down),
		cmocka_unit_test_setup_teardown(begins_the_next_chunk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keeps_the_last_seconds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(leaves_room_for_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(links_a_snapshot, set_up, tear_down),
		cmocka_unit_test_setup_teardown(begins_at_a_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_how_late_it_was, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

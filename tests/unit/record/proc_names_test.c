// SPDX-License-Identifier: GPL-2.0-only
/*
 * proc_names_test.c - names out of a /proc that is made here: interrupts, tasks and their processes, tasks whose pid is
 * another's by now, cgroups, and processes that the kernel hides from the programs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "record/proc_names.h"
#include "tests/support/scratch.h"
#include "tests/support/failing_memory.h"
#include "tests/support/fake_files.h"

/* ---- the host ---- */

/* It was suspended for 3.5 seconds. */
#define NOW_NS 1000200000000ull

int clock_gettime(clockid_t id, struct timespec *now)
{
	*now = id == CLOCK_BOOTTIME ? (struct timespec){1003, 700000000} : (struct timespec){1000, 200000000};
	return 0;
}

/* When a task started, by the ticks of its stat file. */
#define START_NS(ticks) ((ticks)*10000000ull - 3500000000ull)
#define STAT(name, ticks) "42 (" name ") S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 " #ticks " 20 21\n"
#define STATUS(tgid, ppid) "Name:\tx\nUmask:\t0022\nTgid:\t" #tgid "\nPid:\t1\nPPid:\t" #ppid "\n"

/* 4242 is a process with the thread 4243; of 4244 nothing but its start is to be had; two more for the bounds. */
static const struct fake_file files[] = {
	{"/proc/4242/stat", STAT("a) (b", 50000)},
	{"/proc/4242/status", STATUS(4242, 77)},
	{"/proc/4242/comm", "a) (b\n"},
	{"/proc/4243/stat", STAT("thread", 50001)},
	{"/proc/4243/status", STATUS(4242, 77)},
	{"/proc/4243/comm", "a-name-that-is-longer-than-15\n"},
	{"/proc/4244/stat", STAT("x", 50000)},
	{"/proc/4244/status", NULL},
	{"/proc/4244/comm", "x\n"},
	{"/proc/4245/stat", NULL},
	{"/proc/4246/stat", STAT("low", 38752)},
	{"/proc/4246/status", STATUS(4246, 1)},
	{"/proc/4246/comm", "low\n"},
	{"/proc/4247/stat", STAT("high", 38748)},
	{"/proc/4247/status", STATUS(4247, 1)},
	{"/proc/4247/comm", "high\n"},
	{"/proc/4248/stat", "4248 (cut) S 1 2"},
	{"/proc/4249/stat", STAT("x", 50000)},
	{"/proc/4249/status", STATUS(4249, 1)},
	{"/proc/4249/comm", NULL},
	{"/proc/interrupts", "           CPU0       CPU1\n"
			     "  0:         44          0   IO-APIC   2-edge      timer\n"
			     " 24:          1          2   PCI-MSI 512-edge      virtio0-input.0, eth 0  \n"
			     "131:          1          2   one-space handler\n"
			     "NMI:          0          0   Non-maskable interrupts\n"
			     "ERR:          0\n"},
	{"/proc/self/mounts", "proc /proc proc rw 0 0\n"},
	{},
};

static const char *const in_proc[] = {".", "..", "self", "4242", "4246", "4247", "4245", "262144", NULL};
static const char *const in_irqs[] = {".", "..", "3", "11", "12", NULL};
static const char *const *entries;

DIR *opendir(const char *path)
{
	entries = strcmp(path, "/proc") ? in_irqs : in_proc;
	if (entries == in_irqs)
		assert_string_equal(path, "/sys/kernel/irq");
	return (DIR *)entries;
}

struct dirent *readdir(DIR *directory)
{
	static struct dirent entry;

	(void)directory;
	if (!*entries)
		return NULL;
	strcpy(entry.d_name, *entries++);
	return &entry;
}

int closedir(DIR *directory)
{
	(void)directory;
	return 0;
}

static const struct nt_net_irqs no_devices;
static struct nt_ids ids;
static const struct nt_hierarchy version_2 = {.of = NT_CGROUPS_V2};
static struct nt_proc_names names;
static char scratch[SCRATCH_MAX];

static int set_up(void **state)
{
	(void)state;
	fake_files = files;
	nt_proc_names_init(&names, &version_2);
	return nt_ids_init(&ids);
}

static int tear_down(void **state)
{
	(void)state;
	nt_proc_names_release(&names);
	nt_ids_release(&ids);
	return 0;
}

/* ---- interrupts ---- */

static const struct nt_irq_name *irq(uint8_t type, uint32_t number)
{
	static union nt_any record;
	size_t offset = 0;

	while (nt_identity_next(ids.pending.data, ids.pending.size, &offset, &record) == 0)
		if (record.record.kind == NT_IRQ_NAME && record.as_irq_name.type == type &&
		    record.as_irq_name.number == number && record.as_irq_name.end_ns == 9)
			return &record.as_irq_name;
	return NULL;
}

static const char *name_of_irq(uint8_t type, uint32_t number)
{
	return irq(type, number) ? irq(type, number)->name : NULL;
}

static size_t n_irqs(void)
{
	union nt_any record;
	size_t offset = 0, n = 0;

	while (nt_identity_next(ids.pending.data, ids.pending.size, &offset, &record) == 0)
		n++;
	return n;
}

static void names_interrupts(void **state)
{
	(void)state;
	assert_int_equal(nt_proc_names_put_irqs(&ids, 9, &no_devices), 0);
	assert_string_equal(name_of_irq(NT_IRQ_DEVICE, 0), "timer");
	assert_string_equal(name_of_irq(NT_IRQ_DEVICE, 24), "virtio0-input.0, eth 0");
	assert_string_equal(name_of_irq(NT_IRQ_DEVICE, 131), "one-space handler");
	assert_string_equal(name_of_irq(NT_IRQ_VECTOR, 0xec), "local_timer");
	assert_string_equal(name_of_irq(NT_IRQ_VECTOR, 0xf4), "deferred_error_apic");
	assert_int_equal(n_irqs(), 3 + 11);
}

/* A card's interrupt is its device's, unless the card shares the line. */
static void devices_of_interrupts(void **state)
{
	static struct nt_net_irq found[] = {{24, "eth0"}, {131, "eth0"}, {0xec, "eth0"}};
	const struct nt_net_irqs net = {.irqs = found, .n = 3};

	(void)state;
	assert_int_equal(nt_proc_names_put_irqs(&ids, 9, &net), 0);
	assert_string_equal(irq(NT_IRQ_DEVICE, 131)->device, "eth0");
	assert_string_equal(irq(NT_IRQ_DEVICE, 24)->device, "");
	assert_string_equal(irq(NT_IRQ_DEVICE, 0)->device, "");
	assert_string_equal(irq(NT_IRQ_VECTOR, 0xec)->device, "");
	assert_int_equal(irq(NT_IRQ_DEVICE, 0)->flags, NT_IRQ_NAME_ASKED);
	assert_int_equal(irq(NT_IRQ_DEVICE, 131)->flags, NT_IRQ_NAME_ASKED);
}

/* A line without a space, and one that is nothing but spaces. */
static void odd_interrupts(void **state)
{
	static const struct fake_file odd[] = {{"/proc/interrupts", "1:x\n2:   \n3\n4:"}, {}};

	(void)state;
	fake_files = odd;
	assert_int_equal(nt_proc_names_put_irqs(&ids, 9, &no_devices), 0);
	assert_string_equal(name_of_irq(NT_IRQ_DEVICE, 1), "x");
	assert_string_equal(name_of_irq(NT_IRQ_DEVICE, 2), "");
	assert_null(name_of_irq(NT_IRQ_DEVICE, 3));
	assert_string_equal(name_of_irq(NT_IRQ_DEVICE, 4), "");
}

/* As on arm64: nothing in /proc/interrupts tells their numbers. */
static void interrupts_between_cpus(void **state)
{
	static const struct fake_file arm64[] = {{"/proc/interrupts",
						  " 11:   3215   3209 GIC-0  27 Level     arch_timer\n"
						  "IPI0:     99    128       Rescheduling interrupts\n"
						  "IPI1:    547    728       Function call interrupts\n"},
						 {"/sys/kernel/irq/3/actions", "IPI\n"},
						 {"/sys/kernel/irq/11/actions", "arch_timer\n"},
						 {"/sys/kernel/irq/12/actions", NULL},
						 {}};

	(void)state;
	fake_files = arm64;
	assert_int_equal(nt_proc_names_put_irqs(&ids, 9, &no_devices), 0);
	assert_string_equal(name_of_irq(NT_IRQ_DEVICE, 3), "IPI");
	assert_string_equal(name_of_irq(NT_IRQ_DEVICE, 11), "arch_timer");
	assert_int_equal(n_irqs(), 2 + 11);
}

/* ---- tasks ---- */

static const struct nt_task *task(uint64_t key)
{
	const struct nt_id_entry *entry = &ids.spaces[NT_ROLE_TASK].entries[nt_ids_get(&ids, NT_ROLE_TASK, key)];

	return entry->identity ? &entry->identity->as_task : NULL;
}

static void resolve(void)
{
	assert_int_equal(nt_proc_names_resolve(&names, &ids, 9), 0);
}

static void is_task(uint64_t key, uint64_t process, uint32_t tid, uint32_t pid, const char *comm)
{
	const struct nt_task *found = task(key);

	if (!found)
		fail_msg("task %u has not been put", tid);
	assert_int_equal(found->kind, NT_TASK);
	assert_int_equal(found->why, NT_TASK_SEED);
	assert_int_equal(found->end_ns, 9);
	assert_int_equal(found->tid, tid);
	assert_int_equal(found->pid, pid);
	assert_int_equal(found->process, process);
	assert_string_equal(found->comm, comm);
}

static void names_tasks(void **state)
{
	uint64_t thread = nt_task_key(4243, START_NS(50001)), process = nt_task_key(4242, START_NS(50000));

	(void)state;
	nt_ids_get(&ids, NT_ROLE_TASK, thread);
	resolve();
	is_task(thread, process, 4243, 4242, "a-name-that-is-");
	/* Its main thread is named with it. */
	is_task(process, process, 4242, 4242, "a) (b");
	assert_int_equal(task(process)->parent_pid, 77);
	assert_int_equal(ids.spaces[NT_ROLE_TASK].n_places, 3);
	assert_int_equal(nt_ids_take_unnamed(&ids, NT_ROLE_TASK), 0);
}

/* The main thread's key is known more exactly than /proc has it. */
static void takes_the_key_that_is_known(void **state)
{
	uint64_t thread = nt_task_key(4243, START_NS(50001)), process = nt_task_key(4242, START_NS(50000) + 7000000),
		 before = nt_task_key(4242, START_NS(40000));

	(void)state;
	nt_ids_get(&ids, NT_ROLE_TASK, before);
	nt_ids_get(&ids, NT_ROLE_TASK, process);
	nt_ids_get(&ids, NT_ROLE_TASK, thread);
	resolve();
	is_task(thread, process, 4243, 4242, "a-name-that-is-");
	is_task(process, process, 4242, 4242, "a) (b");
	/* Somebody else had this pid. */
	assert_null(task(before));
	assert_int_equal(ids.spaces[NT_ROLE_TASK].n_places, 4);
}

static void task_that_is_gone_has_no_name(void **state)
{
	uint64_t keys[] = {
		nt_task_key(4242, START_NS(50003)),
		nt_task_key(4242, START_NS(49997)),
		nt_task_key(4244, START_NS(50000)),
		nt_task_key(4245, START_NS(50000)),
		nt_task_key(4248, START_NS(50000)),
		nt_task_key(4249, START_NS(50000)),
		nt_task_key(4245, 0),
		nt_task_key(4248, 0),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		nt_ids_get(&ids, NT_ROLE_TASK, keys[i]);
	resolve();
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		assert_null(task(keys[i]));
}

/* Two clock ticks is as far as a start may differ, and not quite so far. */
static void starts_agree_to_two_ticks(void **state)
{
	uint64_t low = START_NS(38752) - 20000000, high = START_NS(38748) + 20000000, step = 1 << 14;

	(void)state;
	assert_int_equal(low % step, 0);
	assert_int_equal(high % step, 0);
	nt_ids_get(&ids, NT_ROLE_TASK, nt_task_key(4246, low));
	nt_ids_get(&ids, NT_ROLE_TASK, nt_task_key(4246, low + step));
	nt_ids_get(&ids, NT_ROLE_TASK, nt_task_key(4247, high));
	nt_ids_get(&ids, NT_ROLE_TASK, nt_task_key(4247, high - step));
	resolve();
	assert_null(task(nt_task_key(4246, low)));
	assert_non_null(task(nt_task_key(4246, low + step)));
	assert_null(task(nt_task_key(4247, high)));
	assert_non_null(task(nt_task_key(4247, high - step)));
}

/* One that the kernel side has announced is not looked up. */
static void known_tasks_stay(void **state)
{
	union nt_any record;

	(void)state;
	memset(&record, 0, sizeof(record));
	record.as_task.kind = NT_TASK;
	record.as_task.task = record.as_task.process = nt_task_key(4242, START_NS(50000));
	record.as_task.end_ns = 3;
	strcpy(record.as_task.comm, "announced");
	assert_int_equal(nt_ids_put(&ids, &record), 0);
	resolve();
	assert_string_equal(task(nt_task_key(4242, START_NS(50000)))->comm, "announced");
}

/* ---- cgroups ---- */

static const char *handle_path; /* of the one cgroup that there is, with the id 77 */

int open_by_handle_at(int mount, struct file_handle *handle, int flags)
{
	uint64_t id;

	memcpy(&id, handle->f_handle, sizeof(id));
	assert_int_equal(handle->handle_bytes, sizeof(id));
	assert_true(fcntl(mount, F_GETFD) >= 0);
	errno = ESTALE;
	return id == 77 ? open(handle_path, flags) : -1;
}

static const struct nt_cgroup *cgroup(uint64_t key)
{
	return &ids.spaces[NT_ROLE_CGROUP].entries[nt_ids_get(&ids, NT_ROLE_CGROUP, key)].identity->as_cgroup;
}

/* The name of the cgroup 77, whose directory is at this path below the mount. */
static void is_cgroup(const char *below, const char *name)
{
	char root[PATH_MAX], path[2 * PATH_MAX], mounts[2 * PATH_MAX];
	const struct fake_file mounted[] = {{"/proc/self/mounts", mounts}, {}};

	assert_non_null(realpath(scratch, root));
	snprintf(path, sizeof(path), "%s%s", root, below);
	snprintf(mounts, sizeof(mounts),
		 "proc /proc proc rw 0 0\ncgroup /c1 cgroup rw 0 0\ncgroup2 %s cgroup2 rw 0 0\n", root);
	fake_files = mounted;
	handle_path = path;
	nt_proc_names_init(&names, &version_2);
	assert_true(names.cgroup_fd >= 0);
	assert_null(nt_proc_names_uncovered(&names));
	nt_ids_get(&ids, NT_ROLE_CGROUP, 77);
	nt_ids_get(&ids, NT_ROLE_CGROUP, 78);
	resolve();
	fake_files = files;
	assert_int_equal(cgroup(77)->kernel_id, 77);
	assert_int_equal(cgroup(77)->end_ns, 9);
	assert_string_equal(cgroup(77)->path, name);
	assert_string_equal(cgroup(78)->path, "");
	assert_int_equal(nt_ids_take_unnamed(&ids, NT_ROLE_CGROUP), 0);
	nt_proc_names_release(&names);
	assert_int_equal(names.cgroup_fd, -1);
	nt_ids_release(&ids);
	assert_int_equal(nt_ids_init(&ids), 0);
}

static void make_below(const char *below)
{
	char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", scratch, below);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void names_cgroups(void **state)
{
	enum { MOST = sizeof(((struct nt_cgroup *)0)->path) - 1 };
	char below[4 * MOST] = "";

	(void)state;
	scratch_make(scratch);
	is_cgroup("", "/");
	make_below("/a");
	make_below("/a/b");
	is_cgroup("/a/b", "/a/b");
	while (strlen(below) + 20 < MOST) {
		strcat(below, "/123456789");
		make_below(below);
	}
	strcat(below, "/");
	while (strlen(below) < MOST)
		strcat(below, "x");
	make_below(below);
	assert_int_equal(strlen(below), MOST);
	is_cgroup(below, below);
	/* Of a longer path the end is kept. */
	strcat(below, "/end");
	make_below(below);
	is_cgroup(below, below + strlen(below) - MOST);
	scratch_remove(scratch);
}

static void host_without_cgroups(void **state)
{
	(void)state;
	assert_true(names.cgroup_fd < 0);
	assert_non_null(strstr(nt_proc_names_uncovered(&names), "no mount of their hierarchy"));
	nt_ids_get(&ids, NT_ROLE_CGROUP, 77);
	resolve();
	assert_string_equal(cgroup(77)->path, "");
}

/* ---- processes that the kernel hides ---- */

static const char *hidden(uint64_t seed_ns)
{
	static char text[512];

	strcpy(text, "something");
	assert_int_equal(nt_proc_names_hidden(&ids, seed_ns, text, sizeof(text)), 0);
	return text;
}

static void says_which_processes_are_hidden(void **state)
{
	char text[512];

	(void)state;
	assert_string_equal(hidden(NOW_NS),
			    "The kernel hides 3 processes (a) (b, pid 4242, and others) from the programs: while it is "
			    "on a CPU, and until the next event there, time is uncovered.");
	nt_ids_get(&ids, NT_ROLE_TASK, nt_task_key(4242, 1));
	nt_ids_get(&ids, NT_ROLE_TASK, nt_task_key(4247, 1));
	assert_string_equal(hidden(NOW_NS),
			    "The kernel hides 1 process (low, pid 4246) from the programs: while it is on a CPU, and "
			    "until the next event there, time is uncovered.");
	/* One that was born within the last second before is not hidden. */
	assert_string_equal(hidden(START_NS(38752) + 999999999), "");
	assert_string_not_equal(hidden(START_NS(38752) + 1000000000), "");
	/* A bit for each pid that there may be. */
	failing_size = (1 << 22) / 8;
	assert_int_equal(nt_proc_names_hidden(&ids, NOW_NS, text, sizeof(text)), -ENOMEM);
	failing_size = 0;
	nt_ids_get(&ids, NT_ROLE_TASK, nt_task_key(4246, 1));
	assert_string_equal(hidden(NOW_NS), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_interrupts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(devices_of_interrupts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(odd_interrupts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(interrupts_between_cpus, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_tasks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(takes_the_key_that_is_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(task_that_is_gone_has_no_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(starts_agree_to_two_ticks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(known_tasks_stay, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_cgroups, set_up, tear_down),
		cmocka_unit_test_setup_teardown(host_without_cgroups, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_which_processes_are_hidden, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

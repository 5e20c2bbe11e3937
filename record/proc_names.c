// SPDX-License-Identifier: GPL-2.0-only
/*
 * proc_names.c - see proc_names.h.
 */
#include "record/proc_names.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PID_MASK 0x3fffffull /* of a task's key: see nt_task_key */

void nt_proc_names_init(struct nt_proc_names *names, const struct nt_hierarchy *hierarchy)
{
	memset(names, 0, sizeof(*names));
	names->cgroup_fd = nt_hierarchy_open(hierarchy, names->cgroup_root, sizeof(names->cgroup_root));
}

void nt_proc_names_release(struct nt_proc_names *names)
{
	if (names->cgroup_fd >= 0)
		close(names->cgroup_fd);
	names->cgroup_fd = -1;
}

const char *nt_proc_names_uncovered(const struct nt_proc_names *names)
{
	return names->cgroup_fd >= 0 ? NULL
				     : "Cgroups have no names, and containers are not told: the recorder sees no mount "
				       "of their hierarchy (/proc/self/mounts).";
}

/* The x86 vectors that have tracepoints: arch/x86/include/asm/irq_vectors.h has had these numbers since 2.6. */
static const struct {
	uint8_t number;
	const char *name;
} vectors[] = {
	{0xec, "local_timer"},
	{0xfd, "reschedule"},
	{0xfc, "call_function"},
	{0xfb, "call_function_single"},
	{0xf6, "irq_work"},
	{0xf7, "x86_platform_ipi"},
	{0xfe, "error_apic"},
	{0xff, "spurious_apic"},
	{0xfa, "thermal_apic"},
	{0xf9, "threshold_apic"},
	{0xf4, "deferred_error_apic"},
};

static ssize_t read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, size - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	return n;
}

static int put_irq(struct nt_ids *ids, uint64_t now_ns, uint8_t type, uint32_t number, const char *name,
		   const char *device)
{
	union nt_any record;

	memset(&record, 0, sizeof(record));
	record.as_irq_name.end_ns = now_ns;
	record.as_irq_name.kind = NT_IRQ_NAME;
	record.as_irq_name.type = type;
	record.as_irq_name.number = number;
	record.as_irq_name.flags = NT_IRQ_NAME_ASKED;
	snprintf(record.as_irq_name.name, sizeof(record.as_irq_name.name), "%s", name);
	snprintf(record.as_irq_name.device, sizeof(record.as_irq_name.device), "%s", device);
	return nt_ids_put(ids, &record);
}

/* The handlers' names, which follow the counts and the chip in a line of /proc/interrupts. */
static const char *handlers(char *line)
{
	char *end = line + strlen(line);

	while (end > line && isspace((unsigned char)end[-1]))
		*--end = 0;
	/* Handlers are separated by ", ", so the name starts after the last pair of spaces. */
	while (end > line && !(end[-1] == ' ' && end - 2 >= line && end[-2] == ' '))
		end--;
	return end;
}

/* Each handler of a line that is shared has runs of its own, and nobody tells which: then it is nobody's. */
static const char *device_of(const struct nt_net_irqs *net, uint32_t number, const char *handlers)
{
	return strstr(handlers, ", ") ? "" : nt_net_irqs_device(net, number);
}

#define IRQS "/sys/kernel/irq"

/* Interrupts between CPUs: arm64 serves them as a device's, and /proc/interrupts has them under other names. */
static int put_between_cpus(struct nt_ids *ids, uint64_t now_ns)
{
	DIR *irqs = opendir(IRQS);
	struct dirent *entry;
	char path[300], handlers[16];
	int error = 0;

	while (irqs && !error && (entry = readdir(irqs))) {
		snprintf(path, sizeof(path), IRQS "/%s/actions", entry->d_name);
		if (isdigit((unsigned char)entry->d_name[0]) && read_text(path, handlers, sizeof(handlers)) > 0 &&
		    !strcmp(handlers, "IPI\n"))
			error = put_irq(ids, now_ns, NT_IRQ_DEVICE, strtoul(entry->d_name, NULL, 10), "IPI", "");
	}
	if (irqs)
		closedir(irqs);
	return error;
}

static int put_devices(struct nt_ids *ids, uint64_t now_ns, const struct nt_net_irqs *net)
{
	FILE *file = fopen("/proc/interrupts", "re");
	size_t capacity = 0;
	char *line = NULL;
	int error = 0;

	while (file && !error && getline(&line, &capacity, file) > 0) {
		char *colon = strchr(line, ':'), *end;
		unsigned long number = strtoul(line, &end, 10);
		const char *name;

		if (!strncmp(line + strspn(line, " "), "IPI0:", 5))
			error = put_between_cpus(ids, now_ns);
		if (!colon || end != colon)
			continue;
		name = handlers(colon + 1);
		error = put_irq(ids, now_ns, NT_IRQ_DEVICE, number, name, device_of(net, number, name));
	}
	free(line);
	if (file)
		fclose(file);
	return error;
}

int nt_proc_names_put_irqs(struct nt_ids *ids, uint64_t now_ns, const struct nt_net_irqs *net)
{
	int error = 0;

	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]) && !error; i++)
		error = put_irq(ids, now_ns, NT_IRQ_VECTOR, vectors[i].number, vectors[i].name, "");
	return error ? error : put_devices(ids, now_ns, net);
}

/* A line of /proc/diskstats: "254 0 vda 693624 71109 ...". Partitions have lines of their own, which nobody asks for.
 */
static int put_block_device(struct nt_ids *ids, uint64_t now_ns, const char *line)
{
	union nt_any record;
	unsigned int major, minor;

	memset(&record, 0, sizeof(record));
	if (sscanf(line, " %u %u %31s", &major, &minor, record.as_block_device.name) != 3)
		return 0;
	record.as_block_device.end_ns = now_ns;
	record.as_block_device.kind = NT_BLOCK_DEVICE;
	record.as_block_device.number = major << 20 | minor;
	return nt_ids_put(ids, &record);
}

int nt_proc_names_put_block_devices(struct nt_ids *ids, uint64_t now_ns)
{
	FILE *file = fopen("/proc/diskstats", "re");
	size_t capacity = 0;
	char *line = NULL;
	int error = 0;

	while (file && !error && getline(&line, &capacity, file) > 0)
		error = put_block_device(ids, now_ns, line);
	free(line);
	if (file)
		fclose(file);
	return error;
}

/* A field "Name:\tVALUE" of /proc/PID/status. */
static unsigned long status_field(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at ? strtoul(at + strlen(name), NULL, 10) : 0;
}

/*
 * When a task started, on CLOCK_MONOTONIC, to a clock tick: all that /proc/PID/stat says, as ticks since boot. 0 if
 * it is gone.
 */
static uint64_t start_of(uint32_t tid)
{
	uint64_t tick_ns = 1000000000ull / sysconf(_SC_CLK_TCK), suspended_ns;
	struct timespec boot, monotonic;
	char path[64], stat[1024];
	unsigned long long ticks;
	const char *at;

	snprintf(path, sizeof(path), "/proc/%u/stat", tid);
	if (read_text(path, stat, sizeof(stat)) <= 0 || !(at = strrchr(stat, ')')))
		return 0;
	if (sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		   &ticks) != 1)
		return 0;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	suspended_ns = (boot.tv_sec - monotonic.tv_sec) * 1000000000ull + boot.tv_nsec - monotonic.tv_nsec;
	return ticks * tick_ns - suspended_ns;
}

/* Whether the task that has the key's pid now is the one of the key, as far as a clock tick can tell. */
static bool is_same_task(uint64_t key, uint64_t start_ns)
{
	uint64_t key_ns = key >> 22 << 14, tick_ns = 1000000000ull / sysconf(_SC_CLK_TCK);

	return start_ns && key_ns + 2 * tick_ns > start_ns && key_ns < start_ns + 2 * tick_ns;
}

static int put_task(struct nt_ids *ids, uint64_t key, uint64_t process, const char *status, const char *comm,
		    uint64_t now_ns)
{
	union nt_any record;

	memset(&record, 0, sizeof(record));
	record.as_task.end_ns = now_ns;
	record.as_task.kind = NT_TASK;
	record.as_task.why = NT_TASK_SEED;
	record.as_task.tid = key & PID_MASK;
	record.as_task.task = key;
	record.as_task.process = process;
	record.as_task.pid = status_field(status, "\nTgid:\t");
	record.as_task.parent_pid = status_field(status, "\nPPid:\t");
	snprintf(record.as_task.comm, sizeof(record.as_task.comm), "%.15s", comm);
	return nt_ids_put(ids, &record);
}

/*
 * The key of a process's main thread: one that is known by that pid, or one made from its start to a clock tick, which
 * is as good as any as long as the thread itself does not show.
 */
static uint64_t process_key(const struct nt_ids *ids, uint32_t pid)
{
	const struct nt_id_space *tasks = &ids->spaces[NT_ROLE_TASK];
	uint64_t start_ns = start_of(pid);

	for (uint32_t id = 1; id < tasks->n_places; id++)
		if ((tasks->entries[id].key & PID_MASK) == pid && is_same_task(tasks->entries[id].key, start_ns))
			return tasks->entries[id].key;
	return nt_task_key(pid, start_ns);
}

/* Names a task from /proc, if it still lives. Its exact start is not known there: start_ns stays 0. */
static int look_up_task(struct nt_ids *ids, uint64_t key, uint64_t now_ns)
{
	uint32_t tid = key & PID_MASK, pid;
	char path[64], status[4096], comm[64];

	if (!is_same_task(key, start_of(tid)))
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	if (read_text(path, status, sizeof(status)) <= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/comm", tid);
	if (read_text(path, comm, sizeof(comm)) <= 0)
		return 0;
	comm[strcspn(comm, "\n")] = 0;
	pid = status_field(status, "\nTgid:\t");
	return put_task(ids, key, pid == tid ? key : process_key(ids, pid), status, comm, now_ns);
}

/* The path of a cgroup by its id: the id is the file handle of its directory. */
static void cgroup_path(const struct nt_proc_names *names, uint64_t kernel_id, char *path, size_t size)
{
	struct {
		struct file_handle handle;
		uint64_t id;
	} handle = {.handle = {.handle_bytes = sizeof(uint64_t), .handle_type = 0xfe /* FILEID_KERNFS */}};
	char link[64], full[4096];
	size_t root = strlen(names->cgroup_root), length;
	ssize_t n;
	int fd;

	memcpy(handle.handle.f_handle, &kernel_id, sizeof(kernel_id));
	fd = open_by_handle_at(names->cgroup_fd, &handle.handle, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, full, sizeof(full) - 1);
	close(fd);
	if (n < 0 || (size_t)n < root)
		return;
	full[n] = 0;
	length = strlen(full + root);
	if (!length)
		snprintf(path, size, "/");
	else
		snprintf(path, size, "%s", full + root + (length >= size ? length - size + 1 : 0));
}

static int look_up_cgroup(struct nt_proc_names *names, struct nt_ids *ids, uint64_t key, uint64_t now_ns)
{
	union nt_any record;

	memset(&record, 0, sizeof(record));
	record.as_cgroup.end_ns = now_ns;
	record.as_cgroup.kind = NT_CGROUP;
	record.as_cgroup.cgroup = record.as_cgroup.kernel_id = key;
	if (names->cgroup_fd >= 0)
		cgroup_path(names, key, record.as_cgroup.path, sizeof(record.as_cgroup.path));
	return nt_ids_put(ids, &record);
}

int nt_proc_names_resolve(struct nt_proc_names *names, struct nt_ids *ids, uint64_t now_ns)
{
	uint64_t key;
	int error = 0;

	/* One may add another: its main thread. */
	while (!error && (key = nt_ids_take_unnamed(ids, NT_ROLE_TASK)))
		if (!nt_ids_knows(ids, NT_ROLE_TASK, key))
			error = look_up_task(ids, key, now_ns);
	while (!error && (key = nt_ids_take_unnamed(ids, NT_ROLE_CGROUP)))
		if (!nt_ids_knows(ids, NT_ROLE_CGROUP, key))
			error = look_up_cgroup(names, ids, key, now_ns);
	return error;
}

/* The pids of all tasks that have an id, as bits. */
static uint8_t *known_pids(const struct nt_ids *ids)
{
	const struct nt_id_space *tasks = &ids->spaces[NT_ROLE_TASK];
	uint8_t *bits = calloc((PID_MASK + 1) / 8, 1);

	for (uint32_t id = 1; bits && id < tasks->n_places; id++) {
		uint32_t pid = tasks->entries[id].key & PID_MASK;

		bits[pid / 8] |= 1 << pid % 8;
	}
	return bits;
}

static void name_hidden(uint32_t pid, unsigned int count, char *text, size_t size)
{
	char path[64], comm[64];

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	if (read_text(path, comm, sizeof(comm)) <= 0)
		return;
	comm[strcspn(comm, "\n")] = 0;
	snprintf(text, size,
		 "The kernel hides %u process%s (%s, pid %u%s) from the programs: while it is on a CPU, and until the "
		 "next event there, time is uncovered.",
		 count, count == 1 ? "" : "es", comm, pid, count == 1 ? "" : ", and others");
}

int nt_proc_names_hidden(const struct nt_ids *ids, uint64_t seed_ns, char *text, size_t size)
{
	uint8_t *known = known_pids(ids);
	unsigned int count = 0, first = 0;
	struct dirent *entry;
	DIR *proc;

	text[0] = 0;
	if (!known)
		return -ENOMEM;
	proc = opendir("/proc");
	while (proc && (entry = readdir(proc))) {
		unsigned long pid = strtoul(entry->d_name, NULL, 10);
		uint64_t start_ns;

		if (!pid || pid > PID_MASK || known[pid / 8] & 1 << pid % 8)
			continue;
		/* One that was born since is not hidden. */
		start_ns = start_of(pid);
		if (!start_ns || start_ns + 1000000000ull > seed_ns)
			continue;
		first = count++ ? first : pid;
	}
	if (proc)
		closedir(proc);
	free(known);
	if (count)
		name_hidden(first, count, text, size);
	return 0;
}

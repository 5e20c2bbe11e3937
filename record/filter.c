// SPDX-License-Identifier: GPL-2.0-only
/*
 * filter.c - see filter.h.
 */
#include "record/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "record/gaps.h"
#include "record/netns.h"
#include "record/plan.h"
#include "schema/chunk.h"
#include "schema/meta_keys.h"

#define OWN_NETNS "/proc/self/ns/net"
#define CGROUP2_MAGIC 0x63677270

/* A whole decimal number from `least` to `most`. */
static bool parse_number(const char *text, unsigned long least, unsigned long most, uint32_t *number)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (end == text || *end || errno || text[0] == '-' || value < least || value > most)
		return false;
	*number = value;
	return true;
}

bool nt_filter_add_pid(struct nt_filter *filter, const char *text)
{
	return filter->n_pids < NT_FILTER_PIDS && parse_number(text, 1, INT32_MAX, &filter->pids[filter->n_pids]) &&
	       ++filter->n_pids;
}

bool nt_filter_add_device(struct nt_filter *filter, const char *name)
{
	if (filter->n_devices == NT_FILTER_DEVICES || !*name || strlen(name) >= NT_IFNAME_LEN)
		return false;
	filter->devices[filter->n_devices++] = name;
	return true;
}

bool nt_filter_set_min_queue(struct nt_filter *filter, const char *text)
{
	return parse_number(text, 0, UINT32_MAX, &filter->min_queue);
}

bool nt_filter_set_sample(struct nt_filter *filter, const char *text)
{
	filter->sample_text = text;
	return nt_gaps_parse(text, &filter->sample);
}

/* ---- what the names stand for ---- */

struct wanted_netns {
	uint32_t inode;
	char *path;
	size_t size;
};

static bool is_wanted_netns(const char *path, uint32_t inode, void *context)
{
	const struct wanted_netns *wanted = context;

	if (inode == wanted->inode)
		snprintf(wanted->path, wanted->size, "%s", path);
	return inode == wanted->inode;
}

/* Gives a path to the namespace in any case. */
static int resolve_netns(struct nt_filter *filter, char *path, size_t path_size, char *message, size_t size)
{
	const char *text = filter->netns_text;

	if (!text) {
		snprintf(path, path_size, OWN_NETNS);
		return 0;
	}
	if (parse_number(text, 1, UINT32_MAX, &filter->netns)) {
		struct wanted_netns wanted = {filter->netns, path, path_size};

		if (nt_each_netns(is_wanted_netns, &wanted) == 1)
			return 0;
		snprintf(message, size,
			 "no process and no mount has a network namespace with the inode %s: `lsns -t net` lists them; "
			 "give /proc/PID/fd/N of a process that has it open",
			 text);
		return -ENOENT;
	}
	snprintf(path, path_size, "%s", text);
	if (nt_is_netns(path, &filter->netns))
		return 0;
	snprintf(message, size,
		 "%s is not a network namespace: --netns needs a file like /run/netns/NAME or /proc/PID/ns/net, or an "
		 "inode",
		 path);
	return -EINVAL;
}

/* Names of devices are their namespace's: they are asked for in there. */
static int resolve_devices(struct nt_filter *filter, const char *netns, char *message, size_t size)
{
	int own = open(OWN_NETNS, O_RDONLY | O_CLOEXEC), error = 0;
	bool is_elsewhere = strcmp(netns, OWN_NETNS) != 0;
	struct stat found;

	if (own < 0 || stat(netns, &found) || (is_elsewhere && (error = nt_enter_netns(netns)))) {
		error = error ? error : -errno;
		snprintf(message, size, "cannot look for devices in %s: %s%s", netns, strerror(-error),
			 error == -EPERM ? ": this needs the capability CAP_SYS_ADMIN" : "");
		goto out;
	}
	for (uint32_t i = 0; i < filter->n_devices && !error; i++) {
		uint32_t ifindex = if_nametoindex(filter->devices[i]);

		filter->device_keys[i] = nt_device_key(found.st_ino, ifindex);
		if (!ifindex) {
			error = -ENODEV;
			snprintf(message, size, "there is no network device %s in %s: `ip link` lists them%s",
				 filter->devices[i], is_elsewhere ? netns : "this network namespace",
				 is_elsewhere ? "" : "; --netns chooses another namespace");
		}
	}
	if (is_elsewhere && setns(own, CLONE_NEWNET) && !error) {
		error = -errno;
		snprintf(message, size, "cannot return from %s: %s", netns, strerror(-error));
	}
out:
	if (own >= 0)
		close(own);
	return error;
}

/* How deep a directory is below the root of its hierarchy: its file system's number changes above that. */
static uint32_t level_of(const char *path)
{
	struct stat here, above;
	char up[4096];
	uint32_t level = 0;

	snprintf(up, sizeof(up), "%s", path);
	while (!stat(up, &here) && strlen(up) + 4 < sizeof(up)) {
		strcat(up, "/..");
		if (stat(up, &above) || above.st_dev != here.st_dev || above.st_ino == here.st_ino)
			break;
		level++;
	}
	return level;
}

static int resolve_cgroup(struct nt_filter *filter, char *message, size_t size)
{
	struct statfs type;
	struct stat found;

	if (!filter->cgroup_path)
		return 0;
	if (stat(filter->cgroup_path, &found) || statfs(filter->cgroup_path, &type) || !S_ISDIR(found.st_mode) ||
	    type.f_type != CGROUP2_MAGIC) {
		snprintf(message, size,
			 "%s is not a cgroup of version 2: --cgroup needs a directory of the cgroup2 hierarchy, like "
			 "/sys/fs/cgroup/system.slice; where containers are in version 1, -p takes processes",
			 filter->cgroup_path);
		return -EINVAL;
	}
	/* The id of a cgroup is its directory's inode. */
	filter->cgroup = found.st_ino;
	filter->cgroup_level = level_of(filter->cgroup_path);
	return 0;
}

/* The process that the task with this number belongs to; 0: there is no such task. */
static uint32_t process_of(uint32_t pid)
{
	char path[64], line[256];
	uint32_t tgid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	while (file && !tgid && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %" SCNu32, &tgid) != 1)
			tgid = 0;
	if (file)
		fclose(file);
	return tgid;
}

/* The programs know processes by the host's numbers: only where /proc has these can they be looked up. */
static int check_pids(const struct nt_filter *filter, char *message, size_t size)
{
	uint32_t tgid;

	if (!nt_sees_all_processes())
		return 0;
	for (uint32_t i = 0; i < filter->n_pids; i++) {
		tgid = process_of(filter->pids[i]);
		if (tgid == filter->pids[i])
			continue;
		if (tgid)
			snprintf(message, size, "%u is a thread of process %u: -p needs the process", filter->pids[i],
				 tgid);
		else
			snprintf(message, size, "there is no process %u: `ps -e` lists them", filter->pids[i]);
		return -ESRCH;
	}
	return 0;
}

int nt_filter_resolve(struct nt_filter *filter, char *message, size_t size)
{
	char netns[4096];
	int error = check_pids(filter, message, size);

	if (!error)
		error = resolve_netns(filter, netns, sizeof(netns), message, size);

	if (!error && filter->n_devices)
		error = resolve_devices(filter, netns, message, size);
	return error ? error : resolve_cgroup(filter, message, size);
}

/* ---- for the programs ---- */

unsigned int nt_filter_must_know(const struct nt_filter *filter)
{
	return (filter->n_pids || filter->cgroup_path ? NT_KNOWS_TASK : 0) | (filter->min_queue ? NT_KNOWS_QUEUE : 0);
}

bool nt_filter_is_set(const struct nt_filter *filter)
{
	return filter->n_pids || filter->n_devices || filter->netns_text || filter->cgroup_path || filter->min_queue ||
	       filter->sample_text;
}

void nt_filter_configure(const struct nt_filter *filter, struct nt_latency_config *config)
{
	config->is_filtered =
		filter->n_pids || filter->n_devices || filter->netns || filter->min_queue || filter->cgroup;
	config->by_pid = filter->n_pids != 0;
	config->by_device = filter->n_devices != 0;
	config->netns = filter->netns;
	config->min_queue = filter->min_queue;
	config->cgroup = filter->cgroup;
	config->cgroup_level = filter->cgroup_level;
	config->is_sampled = filter->sample > 0 && filter->sample < 1;
	if (config->is_sampled)
		nt_gaps_draw(filter->sample, config->gaps, nt_gaps_random, NULL);
}

void nt_filter_spread(const struct nt_latency_config *config, struct nt_cpu *cpus, uint32_t n_cpus)
{
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		for (uint32_t i = 0; i < NT_LATENCY_COUNT; i++) {
			struct nt_gaps *gaps = &cpus[cpu].gaps;

			gaps->at[i] = nt_gaps_random(NULL);
			gaps->gap[i] = gaps->left[i] = config->gaps[gaps->at[i] & (NT_GAPS - 1)];
		}
}

int nt_filter_describe(const struct nt_filter *filter, struct nt_buf *out)
{
	char line[4400];
	int error = filter->sample_text ? nt_meta_append(out, NT_META_LATENCY_SAMPLE, filter->sample_text) : 0;

	for (uint32_t i = 0; i < filter->n_pids && !error; i++) {
		snprintf(line, sizeof(line), "pid %u", filter->pids[i]);
		error = nt_meta_append(out, NT_META_LATENCY_FILTER, line);
	}
	for (uint32_t i = 0; i < filter->n_devices && !error; i++) {
		snprintf(line, sizeof(line), "device %s (index %u, network namespace %u)", filter->devices[i],
			 (uint32_t)filter->device_keys[i], (uint32_t)(filter->device_keys[i] >> 32));
		error = nt_meta_append(out, NT_META_LATENCY_FILTER, line);
	}
	if (!error && filter->netns) {
		snprintf(line, sizeof(line), "network namespace %u (%s)", filter->netns, filter->netns_text);
		error = nt_meta_append(out, NT_META_LATENCY_FILTER, line);
	}
	if (!error && filter->cgroup_path) {
		snprintf(line, sizeof(line), "cgroup %s and those below it", filter->cgroup_path);
		error = nt_meta_append(out, NT_META_LATENCY_FILTER, line);
	}
	if (!error && filter->min_queue) {
		snprintf(line, sizeof(line), "at least %u packets in the socket's queue", filter->min_queue);
		error = nt_meta_append(out, NT_META_LATENCY_FILTER, line);
	}
	return error;
}

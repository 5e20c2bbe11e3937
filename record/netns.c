// SPDX-License-Identifier: GPL-2.0-only
/* netns.c - see netns.h. */
#include "record/netns.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define NSFS_MAGIC 0x6e736673
#define FIRST_PID_NAMESPACE "pid:[4026531836]"

bool nt_is_netns(const char *path, uint32_t *inode)
{
	struct statfs type;
	struct stat found;
	bool is = false;
	int fd;

	/* Looked at first: to open a file of another kind may do something. */
	if (statfs(path, &type) || type.f_type != NSFS_MAGIC)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNET && !fstat(fd, &found)) {
		*inode = found.st_ino;
		is = true;
	}
	close(fd);
	return is;
}

int nt_enter_netns(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error;

	if (fd < 0)
		return -errno;
	error = setns(fd, CLONE_NEWNET) ? -errno : 0;
	close(fd);
	return error;
}

struct search {
	bool (*visit)(const char *path, uint32_t inode, void *context);
	void *context;
	uint32_t *seen;
	size_t n_seen, room;
	int error; /* why some cannot be told */
};

static bool is_seen(const struct search *search, uint32_t inode)
{
	for (size_t i = 0; i < search->n_seen; i++) {
		if (search->seen[i] == inode)
			return true;
	}
	return false;
}

static bool add_seen(struct search *search, uint32_t inode)
{
	if (search->n_seen == search->room) {
		size_t room = search->room ? 2 * search->room : 64;
		uint32_t *seen = realloc(search->seen, room * sizeof(*seen));

		if (!seen)
			return false;
		search->seen = seen;
		search->room = room;
	}
	search->seen[search->n_seen++] = inode;
	return true;
}

/* `inode`: the file's. Most processes have no namespace of their own. */
static bool ends_at(struct search *search, const char *path, uint32_t inode)
{
	if (is_seen(search, inode) || !nt_is_netns(path, &inode))
		return false;
	if (!add_seen(search, inode)) {
		search->error = -ENOMEM;
		return false;
	}
	return search->visit(path, inode, search->context);
}

/*
 * Whether a process is in the namespace of this one, or has ended. This may be asked also of one with more capabilities
 * than this one has: a file below /proc/PID/net is another one in each namespace.
 */
static bool is_in_own(const char *process)
{
	struct stat own, there;
	char path[300];

	snprintf(path, sizeof(path), "/proc/%s/net/dev", process);
	if (stat(path, &there))
		return errno == ENOENT || errno == ESRCH;
	return !stat("/proc/self/net/dev", &own) && own.st_ino == there.st_ino;
}

static bool ends_at_process(struct search *search)
{
	DIR *directory = opendir("/proc");
	const struct dirent *entry;
	struct stat found;
	bool ends = false;
	char path[300];

	if (!directory) {
		search->error = -errno;
		return false;
	}
	while (!ends && (entry = readdir(directory))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/ns/net", entry->d_name);
		if (!stat(path, &found))
			ends = ends_at(search, path, found.st_ino);
		else if (errno == EACCES && !is_in_own(entry->d_name))
			search->error = -EACCES;
	}
	closedir(directory);
	return ends;
}

static bool ends_at_mount(struct search *search)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct mntent *mount;
	struct stat found;
	bool ends = false;

	if (!mounts) {
		search->error = -errno;
		return false;
	}
	while (!ends && (mount = getmntent(mounts)))
		ends = !strcmp(mount->mnt_type, "nsfs") && !stat(mount->mnt_dir, &found) &&
		       ends_at(search, mount->mnt_dir, found.st_ino);
	endmntent(mounts);
	return ends;
}

int nt_each_netns(bool (*visit)(const char *path, uint32_t inode, void *context), void *context)
{
	struct search search = {.visit = visit, .context = context};
	bool ends = ends_at_process(&search) || ends_at_mount(&search);

	free(search.seen);
	return ends ? 1 : search.error;
}

bool nt_sees_all_processes(void)
{
	char namespace[64] = "";

	return readlink("/proc/self/ns/pid", namespace, sizeof(namespace) - 1) > 0 &&
	       !strcmp(namespace, FIRST_PID_NAMESPACE);
}

// SPDX-License-Identifier: GPL-2.0-only
/* hierarchy.c - see hierarchy.h. */
#include "record/hierarchy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT_INODE 1 /* of each hierarchy */

static const char *const controllers[] = {[NT_CGROUPS_OF_MEMORY] = "memory", [NT_CGROUPS_OF_CPU] = "cpu"};

const char *nt_hierarchy_controller(const struct nt_hierarchy *hierarchy)
{
	return controllers[hierarchy->of];
}

/* Whether the kernel has the controller, and the number of its hierarchy. */
static bool ask_of(const char *controller, uint32_t *number)
{
	FILE *file = fopen("/proc/cgroups", "re");
	char line[256], name[64];
	bool is_there = false;
	int is_enabled;

	while (file && !is_there && fgets(line, sizeof(line), file))
		is_there = sscanf(line, "%63s %" SCNu32 " %*u %d", name, number, &is_enabled) == 3 &&
			   !strcmp(name, controller) && is_enabled;
	if (file)
		fclose(file);
	return is_there;
}

struct nt_hierarchy nt_hierarchy_ask(void)
{
	struct nt_hierarchy hierarchy = {.of = NT_CGROUPS_OF_MEMORY};

	if (!ask_of("memory", &hierarchy.number)) {
		hierarchy.of = NT_CGROUPS_OF_CPU;
		if (!ask_of("cpu", &hierarchy.number))
			hierarchy.number = 0;
	}
	return hierarchy.number ? hierarchy : (struct nt_hierarchy){.of = NT_CGROUPS_V2};
}

static bool is_mount_of(const struct nt_hierarchy *hierarchy, const struct mntent *mount)
{
	const char *controller = nt_hierarchy_controller(hierarchy);

	if (!controller)
		return !strcmp(mount->mnt_type, "cgroup2");
	return !strcmp(mount->mnt_type, "cgroup") && hasmntopt(mount, controller);
}

bool nt_hierarchy_is_whole(int fd)
{
	struct stat status;

	return fd >= 0 && !fstat(fd, &status) && status.st_ino == ROOT_INODE;
}

int nt_hierarchy_open(const struct nt_hierarchy *hierarchy, char *where, size_t size)
{
	FILE *mounts = fopen("/proc/self/mounts", "re");
	struct mntent mount;
	char line[4096];
	int fd = -1;

	while (mounts && !nt_hierarchy_is_whole(fd) && getmntent_r(mounts, &mount, line, sizeof(line))) {
		int other;

		if (!is_mount_of(hierarchy, &mount))
			continue;
		other = open(mount.mnt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (other >= 0 && (fd < 0 || nt_hierarchy_is_whole(other))) {
			const int worse = fd;

			fd = other;
			other = worse;
			snprintf(where, size, "%s", mount.mnt_dir);
		}
		if (other >= 0)
			close(other);
	}
	if (mounts)
		fclose(mounts);
	return fd < 0 ? -ENOENT : fd;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * durable.c - see durable.h.
 */
#include "report/out/durable.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int nt_sync_directory(const char *path)
{
	char *copy = strdup(path);
	int fd = copy ? open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	/* One that may be written and not read cannot be synced: its names are as safe as the file system is. */
	int result = fd < 0 ? (copy && errno == EACCES ? 0 : -1) : fsync(fd);

	if (fd >= 0)
		close(fd);
	free(copy);
	return result;
}

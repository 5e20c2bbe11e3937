// SPDX-License-Identifier: GPL-2.0-only
/*
 * spill.c - see spill.h.
 */
#include "report/util/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/util/array.h"

#define BLOCK 4096 /* bytes that a file system gives and takes */

/* A file without a name; where the file system has none, the name is removed at once. */
static int open_in(const char *directory)
{
	char path[4096];
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 || (size_t)snprintf(path, sizeof(path), "%s/nettape.XXXXXX", directory) >= sizeof(path))
		return fd;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int open_file(struct nt_spill *spill)
{
	const char *const directories[] = {
		getenv("SQLITE_TMPDIR"), getenv("TMPDIR"), "/var/tmp", "/usr/tmp", "/tmp", "."};
	int fd = -1;

	for (size_t i = 0; i < NT_COUNT(directories) && fd < 0; i++) {
		if (directories[i])
			fd = open_in(directories[i]);
	}
	if (fd < 0)
		return -1;
	spill->fd = fd + 1;
	return 0;
}

static int fail(struct nt_spill *spill, int error)
{
	spill->error = error ? error : EIO;
	return -EIO;
}

/* All of it, or -EIO. */
static int transfer(struct nt_spill *spill, bool writes, uint64_t at, char *bytes, size_t size)
{
	while (size && !spill->error) {
		ssize_t n = writes ? pwrite(spill->fd - 1, bytes, size, (off_t)at)
				   : pread(spill->fd - 1, bytes, size, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return fail(spill, n ? errno : 0);
		bytes += n;
		at += (uint64_t)n;
		size -= (size_t)n;
	}
	return spill->error ? -EIO : 0;
}

int nt_spill_read(struct nt_spill *spill, uint64_t at, void *bytes, size_t size)
{
	return transfer(spill, false, at, bytes, size);
}

int nt_spill_change(struct nt_spill *spill, uint64_t at, const void *bytes, size_t size)
{
	return transfer(spill, true, at, (char *)(uintptr_t)bytes, size);
}

int nt_spill_append(struct nt_spill *spill, const void *bytes, size_t size)
{
	if (!spill->error && !spill->fd && open_file(spill))
		return fail(spill, errno);
	if (nt_spill_change(spill, spill->size, bytes, size))
		return -EIO;
	spill->size += size;
	return 0;
}

uint64_t nt_spill_forget(struct nt_spill *spill, uint64_t from, uint64_t to)
{
	const uint64_t begin = (from + BLOCK - 1) / BLOCK * BLOCK, end = to / BLOCK * BLOCK;

	if (!spill->fd || begin >= end)
		return from;
	fallocate(spill->fd - 1, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)begin, (off_t)(end - begin));
	return end;
}

void nt_spill_release(struct nt_spill *spill)
{
	if (spill->fd)
		close(spill->fd - 1);
	*spill = (struct nt_spill){0};
}

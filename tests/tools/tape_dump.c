// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_dump.c - prints everything that stands on a tape, for people and for tests to compare.
 *
 *   tape_dump [--scan] TAPE|CHUNK...
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/chunk_dump.h"

static int64_t read_file(void *arg, uint64_t offset, void *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(*(int *)arg, (char *)data + done, size - done, (off_t)(offset + done));

		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}

static int dump_chunk(const char *path, bool scan)
{
	const char *slash = strrchr(path, '/');
	struct nt_source source;
	struct stat stat_of;
	int fd = open(path, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0 || fstat(fd, &stat_of)) {
		perror(path);
		return -1;
	}
	source = (struct nt_source){.arg = &fd, .size = (uint64_t)stat_of.st_size, .read = read_file};
	printf("chunk %s\n", slash ? slash + 1 : path);
	err = chunk_dump(stdout, &source, scan);
	close(fd);
	return err;
}

static int is_chunk(const struct dirent *entry)
{
	return !strncmp(entry->d_name, "chunk-", 6);
}

static int dump_path(const char *path, bool scan)
{
	struct dirent **entries;
	struct stat stat_of;
	int n, err = 0;

	if (!stat(path, &stat_of) && !S_ISDIR(stat_of.st_mode))
		return dump_chunk(path, scan);
	n = scandir(path, &entries, is_chunk, alphasort);
	if (n < 0) {
		perror(path);
		return -1;
	}
	for (int i = 0; i < n; i++) {
		char below[4096];

		snprintf(below, sizeof(below), "%s/%s", path, entries[i]->d_name);
		if (dump_chunk(below, scan))
			err = -1;
		free(entries[i]);
	}
	free(entries);
	return err;
}

int main(int argc, char **argv)
{
	bool scan = argc > 1 && !strcmp(argv[1], "--scan");
	int first = scan ? 2 : 1, err = 0;

	if (first >= argc) {
		fprintf(stderr, "usage: tape_dump [--scan] TAPE|CHUNK...\n");
		return 2;
	}
	for (int i = first; i < argc; i++)
		if (dump_path(argv[i], scan))
			err = 1;
	return err;
}

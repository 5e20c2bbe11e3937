// SPDX-License-Identifier: GPL-2.0-only
/* scratch.c - see scratch.h. */
#include "tests/support/scratch.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

static void must(int done, const char *what)
{
	if (!done) {
		perror(what);
		abort();
	}
}

void scratch_make(char path[SCRATCH_MAX])
{
	const char *base = getenv("TMPDIR");

	snprintf(path, SCRATCH_MAX, "%s/nettape-test-XXXXXX", base && *base ? base : "/tmp");
	must(mkdtemp(path) != NULL, path);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status;
	(void)type;
	(void)ftw;
	return remove(path);
}

void scratch_remove(const char *path)
{
	must(!nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS), path);
}

const char *scratch_path(char to[2 * SCRATCH_MAX], const char *dir, const char *name)
{
	snprintf(to, 2 * SCRATCH_MAX, "%s/%s", dir, name);
	return to;
}

char *scratch_read(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	char *data;
	long end = 0;

	must(file && !fseek(file, 0, SEEK_END) && (end = ftell(file)) >= 0, path);
	rewind(file);
	data = malloc((size_t)end + 1);
	must(data && fread(data, 1, (size_t)end, file) == (size_t)end, path);
	data[end] = 0;
	*size = (size_t)end;
	fclose(file);
	return data;
}

void scratch_write(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "we");

	must(file && fwrite(data, 1, size, file) == size && !fclose(file), path);
}

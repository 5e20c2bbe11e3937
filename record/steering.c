// SPDX-License-Identifier: GPL-2.0-only
/* steering.c - see steering.h. */
#include "record/steering.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

/* A mask of a thousand CPUs has 288 characters. */
static bool has_mask(const char *path)
{
	FILE *file = fopen(path, "re");
	char mask[4096];
	bool has;

	if (!file)
		return false;
	has = fgets(mask, sizeof(mask), file) && strpbrk(mask, "123456789abcdef");
	fclose(file);
	return has;
}

bool nt_any_mask(const char *pattern)
{
	glob_t files = {0};
	bool found = false;

	if (!glob(pattern, 0, NULL, &files)) {
		for (size_t i = 0; i < files.gl_pathc && !found; i++)
			found = has_mask(files.gl_pathv[i]);
	}
	globfree(&files);
	return found;
}

bool nt_host_steers(void)
{
	return nt_any_mask("/sys/class/net/*/queues/rx-*/rps_cpus");
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpu_list.c - see cpu_list.h.
 */
#include "record/cpu_list.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int nt_read_cpu_list(const char *path, uint8_t *flags, uint32_t n)
{
	FILE *file = fopen(path, "re");
	unsigned int first, last;
	char separator = ',';

	if (!file)
		return -errno;
	memset(flags, 0, n);
	while (separator == ',' && fscanf(file, "%u", &first) == 1) {
		last = first;
		if (fscanf(file, "%c", &separator) != 1)
			separator = 0;
		if (separator == '-' && fscanf(file, "%u%c", &last, &separator) < 1)
			break;
		for (; first <= last && first < n; first++)
			flags[first] = 1;
	}
	fclose(file);
	return 0;
}

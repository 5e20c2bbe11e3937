// SPDX-License-Identifier: GPL-2.0-only
/* first_line.c - see first_line.h. */
#include "record/first_line.h"

#include <stdio.h>
#include <string.h>

bool nt_first_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");

	line[0] = 0;
	if (!file)
		return false;
	if (!fgets(line, (int)size, file))
		line[0] = 0;
	line[strcspn(line, "\n")] = 0;
	fclose(file);
	return line[0];
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * chunk_random.c - writes a small chunk with random records and values to standard output, the same for the same seed.
 *
 *   chunk_random SEED
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/chunk_build.h"

int main(int argc, char **argv)
{
	struct nt_rand rand = {argc == 2 ? strtoull(argv[1], NULL, 0) : 0};
	struct chunk_build build;
	size_t written;

	if (argc != 2) {
		fprintf(stderr, "usage: chunk_random SEED\n");
		return 2;
	}
	chunk_build(&build, &rand, true);
	written = fwrite(build.file.data, 1, build.file.size, stdout);
	return fflush(stdout) || written != build.file.size;
}

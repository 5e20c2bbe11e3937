// SPDX-License-Identifier: GPL-2.0-only
/*
 * program_fuzz.c - any bytes as a program: its build id, and its functions. Whatever the file says, a function that is
 * found begins at or before the place, and has a name that ends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "report/symbols/program_file.h"
#include "schema/build_id.h"
#include "tests/support/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_around(const struct nt_program *program)
{
	for (size_t i = 0; i < program->n_segments; i++) {
		const struct nt_program_segment *segment = &program->segments[i];

		for (uint64_t step = 0; step < 64; step++) {
			uint64_t behind = step * (segment->size / 64 + 1), offset = UINT64_MAX;
			const char *name = nt_program_find(program, segment->file_offset + behind, &offset);

			MUST(!name || (*name && strlen(name) < (1u << 20)));
			MUST(!name || behind >= segment->size || offset <= behind + segment->address);
		}
	}
	for (size_t i = 1; i < program->functions.n; i++)
		MUST(program->functions.ranges[i - 1].begin < program->functions.ranges[i].begin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("program", MFD_CLOEXEC);
	struct nt_program program = {0};
	uint8_t build_id[NT_BUILD_ID_LEN];

	MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (!nt_build_id_read(fd, build_id))
		memset(build_id, 0, sizeof(build_id));
	MUST(nt_program_read(&program, fd, build_id) >= 0);
	MUST(nt_program_read(&program, fd, NULL) >= 0);
	/* Facts that are known stay. */
	MUST(nt_program_read(&program, fd, NULL) >= 0);
	close(fd);
	look_around(&program);
	nt_program_release(&program);
	return 0;
}

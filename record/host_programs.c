// SPDX-License-Identifier: GPL-2.0-only
/* host_programs.c - see host_programs.h. */
#include "record/host_programs.h"

#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>

/* One that has just been unloaded is none. */
static bool may_be(bool (*is_wanted)(enum bpf_prog_type type), unsigned int id)
{
	struct bpf_prog_info info = {0};
	unsigned int size = sizeof(info);
	const int program = bpf_prog_get_fd_by_id(id);
	bool may;

	if (program < 0)
		return errno != ENOENT;
	may = bpf_obj_get_info_by_fd(program, &info, &size) || is_wanted(info.type);
	close(program);
	return may;
}

int nt_host_has_program(bool (*is_wanted)(enum bpf_prog_type type))
{
	unsigned int id = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		if (may_be(is_wanted, id))
			return 1;
	}
	return errno == ENOENT ? 0 : -errno;
}

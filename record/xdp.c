// SPDX-License-Identifier: GPL-2.0-only
/* xdp.c - see xdp.h. */
#include "record/xdp.h"

#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>

/* One that has just been unloaded is none. */
static bool is_xdp(unsigned int id)
{
	struct bpf_prog_info info = {0};
	unsigned int size = sizeof(info);
	const int program = bpf_prog_get_fd_by_id(id);
	bool is_so;

	if (program < 0)
		return errno != ENOENT;
	is_so = bpf_obj_get_info_by_fd(program, &info, &size) || info.type == BPF_PROG_TYPE_XDP;
	close(program);
	return is_so;
}

bool nt_host_may_run_xdp(void)
{
	unsigned int id = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		if (is_xdp(id))
			return true;
	}
	return errno != ENOENT;
}

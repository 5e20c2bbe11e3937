// SPDX-License-Identifier: GPL-2.0-only
/* xdp.c - see xdp.h. */
#include "record/xdp.h"

#include <errno.h>
#include <net/if.h>
#include <unistd.h>

#include <linux/if_link.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* 0 or 1, or a negative errno. One that has just been unloaded is none. */
static int is_xdp(unsigned int id)
{
	struct bpf_prog_info info = {0};
	unsigned int size = sizeof(info);
	const int program = bpf_prog_get_fd_by_id(id);
	int error;

	if (program < 0)
		return errno == ENOENT ? 0 : -errno;
	error = bpf_obj_get_info_by_fd(program, &info, &size) ? -errno : 0;
	close(program);
	return error ? error : info.type == BPF_PROG_TYPE_XDP;
}

/* The same of all programs. */
static int has_program(void)
{
	unsigned int id = 0;
	int is_one = 0;

	while (!is_one && !bpf_prog_get_next_id(id, &id))
		is_one = is_xdp(id);
	return is_one || errno == ENOENT ? is_one : -errno;
}

static bool has_device(void)
{
	struct if_nameindex *devices = if_nameindex();
	bool found = false;

	for (size_t i = 0; devices && devices[i].if_index && !found; i++) {
		LIBBPF_OPTS(bpf_xdp_query_opts, query);

		found = !bpf_xdp_query((int)devices[i].if_index, 0, &query) && query.attach_mode != XDP_ATTACHED_NONE;
	}
	if (devices)
		if_freenameindex(devices);
	return found;
}

bool nt_host_may_run_xdp(void)
{
	const int has = has_program();

	return has < 0 ? has_device() : has;
}

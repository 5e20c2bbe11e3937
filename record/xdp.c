// SPDX-License-Identifier: GPL-2.0-only
/* xdp.c - see xdp.h. */
#include "record/xdp.h"

#include <errno.h>
#include <net/if.h>
#include <unistd.h>

#include <linux/if_link.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* One that has just been unloaded is none. */
static bool may_be_xdp(unsigned int id)
{
	struct bpf_prog_info info = {0};
	unsigned int size = sizeof(info);
	const int program = bpf_prog_get_fd_by_id(id);
	bool may;

	if (program < 0)
		return errno != ENOENT;
	may = bpf_obj_get_info_by_fd(program, &info, &size) || info.type == BPF_PROG_TYPE_XDP;
	close(program);
	return may;
}

static bool may_have_xdp(unsigned int device)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, query);
	const int error = bpf_xdp_query((int)device, 0, &query);

	return error ? error != -ENODEV : query.attach_mode != XDP_ATTACHED_NONE;
}

static bool may_any_device(void)
{
	struct if_nameindex *devices = if_nameindex();
	bool may = !devices;

	for (size_t i = 0; devices && devices[i].if_index && !may; i++)
		may = may_have_xdp(devices[i].if_index);
	if (devices)
		if_freenameindex(devices);
	return may;
}

bool nt_host_may_run_xdp(void)
{
	unsigned int id = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		if (may_be_xdp(id))
			return true;
	}
	return errno == EPERM ? may_any_device() : errno != ENOENT;
}

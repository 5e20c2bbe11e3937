// SPDX-License-Identifier: GPL-2.0-only
/* xdp.c - see xdp.h. */
#include "record/xdp.h"

#include <errno.h>
#include <net/if.h>

#include <linux/if_link.h>

#include <bpf/libbpf.h>

#include "record/host_programs.h"

static bool is_xdp(enum bpf_prog_type type)
{
	return type == BPF_PROG_TYPE_XDP;
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
	int has = nt_host_has_program(is_xdp);

	return has == -EPERM ? may_any_device() : has != 0;
}

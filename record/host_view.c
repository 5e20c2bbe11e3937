// SPDX-License-Identifier: GPL-2.0-only
/* host_view.c - see host_view.h. */
#include "record/host_view.h"

#include <errno.h>
#include <stdio.h>

#include "record/netns.h"

#define CLOCKS_DIFFER_NS 10000000ull /* both read the same clock, to a small part of that */

int nt_host_view_processes(char *message, size_t size)
{
	if (nt_sees_all_processes())
		return 0;
	snprintf(message, size,
		 "in a pid namespace few of the host's processes are seen, and none by its number: record outside "
		 "of it, such as by nsenter -t 1 -p -m, docker run --pid=host, or hostPID in Kubernetes");
	return -EINVAL;
}

int nt_host_view_clock(uint64_t start_ns, uint64_t before_ns, uint64_t after_ns, char *message, size_t size)
{
	const double ahead_s = ((double)after_ns - (double)start_ns) / 1e9;

	if (start_ns + CLOCKS_DIFFER_NS >= before_ns && start_ns <= after_ns + CLOCKS_DIFFER_NS)
		return 0;
	snprintf(message, size,
		 "the monotonic clock is %.1f s %s the kernel's here, as in a time namespace: record outside of "
		 "it, such as by nsenter -T -t 1",
		 ahead_s < 0 ? -ahead_s : ahead_s, ahead_s < 0 ? "behind" : "ahead of");
	return -EINVAL;
}

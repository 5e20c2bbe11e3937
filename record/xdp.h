/* SPDX-License-Identifier: GPL-2.0-only */
/* xdp.h - whether drivers may run XDP programs here, which take packets that nobody else sees. */
#pragma once

#include <stdbool.h>

/*
 * Whether the kernel has such a program, of any network namespace, in use or not. Without CAP_SYS_ADMIN: whether a
 * device of the recorder's own namespace uses one. True if nothing tells.
 */
bool nt_host_may_run_xdp(void);

/* SPDX-License-Identifier: GPL-2.0-only */
/* xdp.h - whether drivers may run XDP programs here, which take packets that nobody else sees. */
#pragma once

#include <stdbool.h>

/*
 * Whether the kernel has such a program, of any network namespace, in use or not. Who may not ask that (CAP_SYS_ADMIN)
 * is told of those in use by the devices of the recorder's own.
 */
bool nt_host_may_run_xdp(void);

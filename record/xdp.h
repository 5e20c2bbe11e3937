/* SPDX-License-Identifier: GPL-2.0-only */
/* xdp.h - whether drivers may run XDP programs here, which take packets that nobody else sees. */
#pragma once

#include <stdbool.h>

/* Whether the kernel has such a program, of any network namespace, used or not; or does not tell (CAP_SYS_ADMIN). */
bool nt_host_may_run_xdp(void);

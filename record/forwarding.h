/* SPDX-License-Identifier: GPL-2.0-only */
/* forwarding.h - whether packets that a device receives may be sent on by another one here. */
#pragma once

#include <stdbool.h>

/*
 * Whether any network namespace of this host forwards: it routes, bridges, balances (IPVS), or has programs or rules
 * that may redirect packets. True if some of that cannot be told, so without CAP_SYS_ADMIN, and where the recorder does
 * not see all processes.
 */
bool nt_host_may_forward(void);

/* The same of the caller's own namespace, and of nothing that all namespaces share. */
bool nt_netns_may_forward(void);

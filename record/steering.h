/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * steering.h - whether devices give packets to other CPUs (RPS), by what sysfs says of the recorder's own network
 * namespace.
 */
#pragma once

#include <stdbool.h>

bool nt_host_steers(void);
/* Whether a file of this pattern, as of glob(3), has a mask of CPUs that is not empty: "00000000,00000003". */
bool nt_any_mask(const char *pattern);

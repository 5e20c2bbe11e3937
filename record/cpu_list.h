/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpu_list.h - lists of CPUs as the kernel prints them.
 */
#pragma once

#include <stdint.h>

/* The CPUs of a list like "0-3,8" in a file of /sys, as n flags. 0 or a negative errno. */
int nt_read_cpu_list(const char *path, uint8_t *flags, uint32_t n);

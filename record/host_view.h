/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * host_view.h - whether the recorder sees the host as its programs in the kernel do. These write times by the host's
 * clock and the host's numbers of processes; in a namespace of time or processes ours are others. Then nothing is
 * recorded, since what the tape said would be wrong.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* 0; or -EINVAL, and a sentence with the remedy in `message`. */
int nt_host_view_processes(char *message, size_t size);
/* The same of the clock: by it, the programs' start_ns was between two readings of ours. */
int nt_host_view_clock(uint64_t start_ns, uint64_t before_ns, uint64_t after_ns, char *message, size_t size);

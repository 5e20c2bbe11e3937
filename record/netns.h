/* SPDX-License-Identifier: GPL-2.0-only */
/* netns.h - the network namespaces of this host, and whether its processes are seen here. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whether the file is a network namespace, and which. */
bool nt_is_netns(const char *path, uint32_t *inode);

/* Moves the calling thread into the namespace of this file. 0 or a negative errno; -EPERM: it needs CAP_SYS_ADMIN. */
int nt_enter_netns(const char *path);

/*
 * Calls `visit` with a file of each network namespace, once, until that returns true: of those that a process is in,
 * and those that are mounted (`ip netns` does so). One that is held by an open file alone is not found. 1: `visit`
 * returned true; 0: it never did; a negative errno: nor that, but some cannot be told.
 */
int nt_each_netns(bool (*visit)(const char *path, uint32_t inode, void *context), void *context);

/* Whether /proc here has all processes of the host, by the host's numbers. */
bool nt_sees_all_processes(void);

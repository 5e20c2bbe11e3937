/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup_root.h - the root of the cgroup2 hierarchy, where a program sees every packet that a socket gets, of whatever
 * cgroup the socket is.
 */
#pragma once

/*
 * A descriptor of the root, which the caller closes. A host that has cgroup2 mounted nowhere gets a mount that only
 * this descriptor has. -EXDEV: only parts of the hierarchy are mounted, as in a cgroup namespace; -ENOENT: it is not
 * mounted, and cannot be; or another negative errno.
 */
int nt_cgroup_root_open(void);
/* Whether a program can be attached there: one that does nothing is, for a moment. 0, or as above. */
int nt_cgroup_root_try(void);
/* A clause that says why not. `error`: of the two above. Static, or of strerror. */
const char *nt_cgroup_root_why(int error);

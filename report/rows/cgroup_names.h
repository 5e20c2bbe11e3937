/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup_names.h - what a cgroup is called: a name that the user gave (--names FILE), or what its path says
 * (container.h). Reads the file; prints nothing.
 *
 * A line of the file is a key, blanks, and a name up to the end of the line. Empty lines and those that begin with '#'
 * are passed over. The key is
 *
 *   a container's id, or the begin of one     4f0c..., docker://4f0c..., containerd://4f0c...
 *   a pod's uid                               names its containers that have no line of their own
 *   a cgroup's path                           /system.slice/web.service; with it those below
 *
 * Keys of nothing that was recorded are no error, and no mistake: files name what runs now. Of two begins of one id,
 * the longer counts. The same key with another name is an error, and so is a begin of several ids.
 */
#pragma once

#include "report/rows/container.h"
#include "report/util/arena.h"
#include "report/util/fail.h"

#define NT_CGROUP_NAME_MAX 512 /* bytes of a name */
#define NT_CGROUP_NAMES_FILE_MAX (16u << 20) /* bytes of a file */

struct nt_cgroup_names;

/* Reads the file. 0, or -1 and a sentence in `error`; then *out is NULL. */
int nt_cgroup_names_new(struct nt_cgroup_names **out, const char *file, char error[NT_ERROR_MAX]);
void nt_cgroup_names_free(struct nt_cgroup_names *names);
/*
 * This path will be asked for. To be called with each before the first is described: -1 and a sentence in `error`
 * where the begin of an id is that of several containers.
 */
int nt_cgroup_names_meet(struct nt_cgroup_names *names, const char *path, char error[NT_ERROR_MAX]);

/* NULL: none. Texts are the path's, the names' or in the arena. */
struct nt_cgroup_words {
	const char *runtime; /* a constant */
	const char *container, *pod, *unit; /* as struct nt_container has them */
	const char *name; /* that the user gave */
	/*
	 * For people, of cgroups that differ it is another, unless the user names them alike:
	 *   NAME (first digits of the container's id), RUNTIME (the same), a unit, or the path; and what is below that.
	 */
	const char *label;
};

/* The words for a cgroup. `path` is valid UTF-8; `names` may be NULL. Without memory arena->failed is true. */
void nt_cgroup_describe(struct nt_cgroup_words *words, const struct nt_cgroup_names *names, struct nt_arena *arena,
			const char *path);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trusted_path.h - opens a directory by a path in which no other user has put a link: that would lead root to where
 * that user wants. Others than root follow all links.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "record/tape_owner.h"

/* Whether what this user has put in place may be believed: root's is, and that of the owner of the tape. */
bool nt_is_trusted(uid_t uid, const struct nt_tape_owner *owner);
/*
 * A descriptor of the directory, for paths (O_PATH); or a negative errno. -EPERM: by a link of *culprit, whose name is
 * in `link`.
 */
int nt_trusted_directory(const char *path, const struct nt_tape_owner *owner, uid_t *culprit, char link[NAME_MAX + 1]);

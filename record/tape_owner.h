/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tape_owner.h - the user that owns the tape: the caller of sudo or pkexec, or the user of --user. Files are given away
 * by descriptor and never by path, where somebody may have put a link.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct nt_tape_owner {
	bool is_other; /* than the user who runs the recorder: the tape is given away */
	bool is_asked; /* by --user: a tape that cannot be given away is an error */
	uid_t uid;
	gid_t gid; /* (gid_t)-1: not known, the group stays as it is */
};

/*
 * The user of this name or number. False: there is none, or we may give nothing away; a sentence with the remedy is in
 * `error`.
 */
bool nt_tape_owner_named(struct nt_tape_owner *owner, const char *user, char *error, size_t size);
/*
 * The user who called sudo (SUDO_UID, SUDO_GID) or pkexec (PKEXEC_UID). Only root asks these variables. One that holds
 * no number of a user is ignored, and told in `warning`; else that is "".
 */
void nt_tape_owner_of_caller(struct nt_tape_owner *owner, char *warning, size_t size);
/* Gives an open file or directory to the owner, if he is another. 0 or a negative errno. */
int nt_tape_owner_give(const struct nt_tape_owner *owner, int fd);

#define NT_USER_NAME_MAX 64
/* The user's name, or his number if he has none. Gives `name`. */
const char *nt_user_name(uid_t uid, char name[NT_USER_NAME_MAX]);

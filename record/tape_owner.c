// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_owner.c - see tape_owner.h.
 */
#include "record/tape_owner.h"

#include <errno.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Digits alone. The greatest number of all means "leave it as it is" to the kernel, and is nobody's. */
static bool parse_id(const char *text, uint32_t *id)
{
	uint64_t value = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		value = value * 10 + (unsigned int)(*text - '0');
		if (value >= UINT32_MAX)
			return false;
	}
	*id = (uint32_t)value;
	return true;
}

static void set(struct nt_tape_owner *owner, uid_t uid, gid_t gid)
{
	owner->uid = uid;
	owner->gid = gid;
	owner->is_other = uid != geteuid();
}

static gid_t primary_group(uid_t uid)
{
	const struct passwd *entry = getpwuid(uid);

	return entry ? entry->pw_gid : (gid_t)-1;
}

bool nt_tape_owner_named(struct nt_tape_owner *owner, const char *user, char *error, size_t size)
{
	const struct passwd *entry = getpwnam(user);
	uint32_t uid;

	memset(owner, 0, sizeof(*owner));
	owner->is_asked = true;
	if (entry)
		set(owner, entry->pw_uid, entry->pw_gid);
	else if (parse_id(user, &uid))
		set(owner, uid, primary_group(uid));
	else {
		snprintf(error, size,
			 "--user: there is no user '%s' on this host; give a name that 'getent passwd' lists, or a "
			 "number",
			 user);
		return false;
	}
	if (owner->is_other && geteuid()) {
		snprintf(error, size,
			 "--user: only root can give the tape to another user; run it with sudo, or leave --user out");
		return false;
	}
	return true;
}

void nt_tape_owner_of_caller(struct nt_tape_owner *owner, char *warning, size_t size)
{
	const char *variable = "SUDO_UID", *user = secure_getenv(variable), *group = secure_getenv("SUDO_GID");
	uint32_t uid, gid;

	memset(owner, 0, sizeof(*owner));
	warning[0] = 0;
	if (geteuid())
		return;
	if (!user) {
		variable = "PKEXEC_UID";
		user = secure_getenv(variable);
		group = NULL;
	}
	if (!user)
		return;
	if (parse_id(user, &uid))
		set(owner, uid, group && parse_id(group, &gid) ? gid : primary_group(uid));
	else
		snprintf(warning, size,
			 "%s is not a user's number and is ignored: the tape belongs to root; --user NAME gives it to "
			 "a user",
			 variable);
}

int nt_tape_owner_give(const struct nt_tape_owner *owner, int fd)
{
	return owner->is_other && fchown(fd, owner->uid, owner->gid) ? -errno : 0;
}

const char *nt_user_name(uid_t uid, char name[NT_USER_NAME_MAX])
{
	const struct passwd *entry = getpwuid(uid);

	if (entry)
		snprintf(name, NT_USER_NAME_MAX, "%s", entry->pw_name);
	else
		snprintf(name, NT_USER_NAME_MAX, "user %u", (unsigned int)uid);
	return name;
}

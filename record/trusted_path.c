// SPDX-License-Identifier: GPL-2.0-only
/*
 * trusted_path.c - see trusted_path.h. Walks the path part by part, as the kernel does, but looks whose each link is.
 */
#include "record/trusted_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_LINKS 40 /* as many as the kernel follows */

struct walk {
	int fd; /* where it is */
	char rest[2 * PATH_MAX]; /* what is still to go */
	unsigned int n_links;
};

bool nt_is_trusted(uid_t uid, const struct nt_tape_owner *owner)
{
	return geteuid() || !uid || (owner->is_other && uid == owner->uid);
}

static int go_to(struct walk *walk, int fd)
{
	const int error = fd < 0 ? -errno : 0;

	if (error)
		return error;
	if (walk->fd >= 0)
		close(walk->fd);
	walk->fd = fd;
	return 0;
}

/* Where the rest begins: at the root, or where the walk is. */
static int start(struct walk *walk)
{
	return walk->rest[0] == '/' ? go_to(walk, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC)) : 0;
}

/* Takes the first part off the rest. False: there is none, or -ENAMETOOLONG in *error. */
static bool take_part(struct walk *walk, char part[NAME_MAX + 1], int *error)
{
	const size_t begin = strspn(walk->rest, "/"), size = strcspn(walk->rest + begin, "/");

	if (size > NAME_MAX)
		*error = -ENAMETOOLONG;
	if (!size || *error)
		return false;
	snprintf(part, NAME_MAX + 1, "%.*s", (int)size, walk->rest + begin);
	memmove(walk->rest, walk->rest + begin + size, strlen(walk->rest + begin + size) + 1);
	return true;
}

/* The rest now begins with what the link says. Takes over its descriptor. */
static int follow(struct walk *walk, int link_fd)
{
	char target[PATH_MAX], rest[2 * PATH_MAX];
	const ssize_t size = readlinkat(link_fd, "", target, sizeof(target));
	const int error = size < 0 ? -errno : 0;
	int length;

	close(link_fd);
	if (error)
		return error;
	if (++walk->n_links > MOST_LINKS)
		return -ELOOP;
	length = snprintf(rest, sizeof(rest), "%.*s/%s", (int)size, target, walk->rest);
	if (length >= (int)sizeof(rest))
		return -ENAMETOOLONG;
	memcpy(walk->rest, rest, (size_t)length + 1);
	return start(walk);
}

static int step(struct walk *walk, const char *part, const struct nt_tape_owner *owner, uid_t *culprit)
{
	const int fd = openat(walk->fd, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat stat;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat)) {
		close(fd);
		return -EIO;
	}
	if (!S_ISLNK(stat.st_mode))
		return go_to(walk, fd);
	if (nt_is_trusted(stat.st_uid, owner))
		return follow(walk, fd);
	close(fd);
	*culprit = stat.st_uid;
	return -EPERM;
}

int nt_trusted_directory(const char *path, const struct nt_tape_owner *owner, uid_t *culprit, char link[NAME_MAX + 1])
{
	struct walk walk = {.fd = -1};
	struct stat stat;
	int error;

	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(walk.rest, path);
	error = go_to(&walk, open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
	if (!error)
		error = start(&walk);
	while (!error && take_part(&walk, link, &error))
		error = step(&walk, link, owner, culprit);
	if (!error && !fstat(walk.fd, &stat) && !S_ISDIR(stat.st_mode))
		error = -ENOTDIR;
	if (error && walk.fd >= 0)
		close(walk.fd);
	return error ? error : walk.fd;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_directory.c - see tape_directory.h.
 */
#include "record/tape_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/trusted_path.h"

/* ---- what is wrong, and what to do ---- */

struct complaint {
	const char *path;
	const char *option; /* that gave it */
	char *message;
	size_t size;
};

/* "cannot make the directory PATH: DIRECTORY belongs to OWNER (mode 0755) and USER may not REFUSED: ..." */
static void say_whose(const struct complaint *complaint, const char *directory, const struct stat *stat,
		      const char *refused)
{
	char owner[NT_USER_NAME_MAX], user[NT_USER_NAME_MAX];

	snprintf(complaint->message, complaint->size,
		 "cannot make the directory %s: %s belongs to %s (mode %04o), and %s may not %s: choose another %s%s",
		 complaint->path, strcmp(directory, ".") ? directory : "the current directory",
		 nt_user_name(stat->st_uid, owner), stat->st_mode & 07777, nt_user_name(geteuid(), user), refused,
		 complaint->option, geteuid() ? ", or use sudo" : "");
}

static void say_errno(const struct complaint *complaint, int error)
{
	snprintf(complaint->message, complaint->size, "cannot make the directory %s: %s: choose another %s",
		 complaint->path, strerror(-error), complaint->option);
}

/*
 * Why the directory above cannot be opened: goes down to the first part that is not there, or may not be entered. It is
 * a path, looked at once more: only good for words.
 */
static void explain_parent(const struct complaint *complaint, const char *parent, int error)
{
	char part[PATH_MAX], last[PATH_MAX] = ".";
	struct stat stat_of_last = {};

	if (parent[0] == '/')
		strcpy(last, "/");
	if (stat(last, &stat_of_last))
		memset(&stat_of_last, 0, sizeof(stat_of_last));
	for (size_t size = strspn(parent, "/"); error != -ENAMETOOLONG && parent[size];
	     size += strspn(parent + size, "/")) {
		struct stat stat_of_part;

		size += strcspn(parent + size, "/");
		snprintf(part, sizeof(part), "%.*s", (int)size, parent);
		if (!stat(part, &stat_of_part) && S_ISDIR(stat_of_part.st_mode)) {
			stat_of_last = stat_of_part;
			strcpy(last, part);
			continue;
		}
		if (errno == EACCES || errno == ELOOP)
			break;
		snprintf(complaint->message, complaint->size, "cannot make the directory %s: %s %s choose another %s",
			 complaint->path, part,
			 lstat(part, &stat_of_part) ? "does not exist: make it first, or" : "is not a directory:",
			 complaint->option);
		return;
	}
	if (error == -EACCES)
		say_whose(complaint, last, &stat_of_last, "enter it");
	else
		say_errno(complaint, error);
}

/* The directory above is reached by somebody's link. */
static void say_whose_link(const struct complaint *complaint, const char *link, uid_t culprit)
{
	char owner[NT_USER_NAME_MAX];

	snprintf(complaint->message, complaint->size,
		 "cannot make the directory %s: on the way the link %s belongs to %s, and root follows no link of "
		 "others: give a path without it, or choose another %s",
		 complaint->path, link, nt_user_name(culprit, owner), complaint->option);
}

/* Why nothing can be made in the directory above. */
static void explain_make(const struct complaint *complaint, int parent_fd, const char *parent, int error)
{
	struct stat of_parent;

	if ((error == -EACCES || error == -EPERM) && !fstat(parent_fd, &of_parent))
		say_whose(complaint, parent, &of_parent, "write in it");
	else
		say_errno(complaint, error);
}

/* Why something that is there already cannot be the tape's directory. */
static void explain_there(const struct complaint *complaint, const struct nt_tape_directory *directory, int error)
{
	struct stat there;

	if (fstatat(directory->parent_fd, directory->name, &there, AT_SYMLINK_NOFOLLOW))
		say_errno(complaint, error);
	else if (S_ISLNK(there.st_mode))
		snprintf(complaint->message, complaint->size,
			 "%s is a link, and links are not followed: give the path of its target, or choose another %s",
			 complaint->path, complaint->option);
	else if (!S_ISDIR(there.st_mode))
		snprintf(complaint->message, complaint->size,
			 "%s exists and is not a directory: choose another %s, or remove it", complaint->path,
			 complaint->option);
	else if (error == -EACCES)
		say_whose(complaint, complaint->path, &there, "look into it");
	else
		say_errno(complaint, error);
}

/* ---- opening ---- */

/* Parts the path into the directory above and the last name, without slashes at its end. */
static bool split(const char *path, char parent[PATH_MAX], char name[NAME_MAX + 1])
{
	size_t end = strlen(path), begin;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (begin = end; begin && path[begin - 1] != '/'; begin--)
		;
	if (end - begin > NAME_MAX || begin >= PATH_MAX)
		return false;
	snprintf(name, NAME_MAX + 1, "%.*s", (int)(end - begin), path + begin);
	while (begin > 1 && path[begin - 1] == '/')
		begin--;
	snprintf(parent, PATH_MAX, "%.*s", begin ? (int)begin : 1, begin ? path : ".");
	return true;
}

static int is_empty(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;
	int empty = 1;

	if (!dir) {
		int error = -errno;

		if (copy >= 0)
			close(copy);
		return error;
	}
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			empty = 0;
	closedir(dir);
	return empty;
}

/*
 * Between making a directory and opening it, the owner of the one above can put another in its place. It is therefore
 * checked before it is given away: it is empty (as the caller knows), ours, and nobody else may do anything with it.
 */
static int give_directory(struct nt_tape_directory *directory)
{
	struct stat stat;

	if (!directory->owner.is_other)
		return 0;
	if (fstat(directory->fd, &stat))
		return -errno;
	if (stat.st_uid != geteuid() || (stat.st_mode & 0077))
		return -EPERM;
	return nt_tape_owner_give(&directory->owner, directory->fd);
}

/* A failure to give a file away is an error if --user asks for it. Else it is remembered, and the file stays ours. */
static int forgive(struct nt_tape_directory *directory, int error)
{
	if (error && !directory->kept)
		directory->kept = error;
	return directory->owner.is_asked ? error : 0;
}

static int make(struct nt_tape_directory *directory, const char *parent, const struct complaint *complaint)
{
	int error = 0;

	/* "/" is there. */
	if (!directory->name[0])
		strcpy(directory->name, ".");
	directory->is_new = !mkdirat(directory->parent_fd, directory->name, 0700);
	if (!directory->is_new && errno != EEXIST) {
		error = -errno;
		explain_make(complaint, directory->parent_fd, parent, error);
		return error;
	}
	directory->fd = openat(directory->parent_fd, directory->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (directory->fd < 0) {
		error = -errno;
		explain_there(complaint, directory, error);
	}
	return error;
}

/* Readers that look whether a recorder writes the tape hold it for a moment. */
#define LOCK_TRIES 20
#define LOCK_PAUSE_US 5000

static int take_lock(int fd)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			return 0;
		usleep(LOCK_PAUSE_US);
	}
	return -EBUSY;
}

/* For as long as it is open. A file system may know no locks: that files are not replaced holds there, too. */
static int lock(struct nt_tape_directory *directory, const struct complaint *complaint)
{
	if (!take_lock(directory->fd))
		return 0;
	/* Whoever holds the lock needs it. */
	directory->is_new = false;
	snprintf(complaint->message, complaint->size,
		 "another nettape-record is writing %s: choose another %s, or wait until it ends", complaint->path,
		 complaint->option);
	return -EBUSY;
}

/* Whoever owns the directory can put other files in the place of the tape's. */
static int check_owner(const struct nt_tape_directory *directory, const struct complaint *complaint)
{
	char name[NT_USER_NAME_MAX];
	struct stat stat;

	if (fstat(directory->fd, &stat))
		return -errno;
	if (nt_is_trusted(stat.st_uid, &directory->owner))
		return 0;
	nt_user_name(stat.st_uid, name);
	snprintf(complaint->message, complaint->size,
		 "%s belongs to %s, who could then replace the tape: choose another %s, or give the tape to that user "
		 "(--user %u)",
		 complaint->path, name, complaint->option, (unsigned int)stat.st_uid);
	return -EPERM;
}

static int take(struct nt_tape_directory *directory, const struct complaint *complaint)
{
	int error = check_owner(directory, complaint), empty;

	if (!error)
		error = lock(directory, complaint);
	if (error)
		return error;
	empty = is_empty(directory->fd);
	if (empty < 0) {
		explain_there(complaint, directory, empty);
		return empty;
	}
	if (!empty) {
		snprintf(complaint->message, complaint->size,
			 "%s exists and is not empty: choose another %s, or remove it", complaint->path,
			 complaint->option);
		return -ENOTEMPTY;
	}
	error = directory->is_new ? forgive(directory, give_directory(directory)) : 0;
	if (error)
		snprintf(complaint->message, complaint->size,
			 "cannot give the directory %s to the user of --user: %s: leave --user out, or choose another "
			 "%s",
			 complaint->path, strerror(-error), complaint->option);
	return error;
}

/* So that a power cut leaves the tape where it is looked for. A directory that we may not read is left to the kernel.
 */
static void sync_parent(const struct nt_tape_directory *directory)
{
	const int fd = openat(directory->parent_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

int nt_tape_directory_open(struct nt_tape_directory *directory, const char *path, const struct nt_tape_owner *owner,
			   const char *option, char *message, size_t size)
{
	struct complaint complaint = {.path = path, .option = option, .message = message, .size = size};
	char parent[PATH_MAX], link[NAME_MAX + 1];
	uid_t culprit = 0;
	int error;

	*directory = (struct nt_tape_directory){.parent_fd = -1, .fd = -1, .owner = *owner};
	if (!split(path, parent, directory->name)) {
		say_errno(&complaint, -ENAMETOOLONG);
		return -ENAMETOOLONG;
	}
	directory->parent_fd = nt_trusted_directory(parent, owner, &culprit, link);
	if (directory->parent_fd < 0) {
		error = directory->parent_fd;
		if (error == -EPERM)
			say_whose_link(&complaint, link, culprit);
		else
			explain_parent(&complaint, parent, error);
		return error;
	}
	error = make(directory, parent, &complaint);
	if (!error)
		error = take(directory, &complaint);
	if (!error && directory->is_new)
		sync_parent(directory);
	return error;
}

int nt_tape_directory_create(struct nt_tape_directory *directory, const char *name)
{
	int fd = openat(directory->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), error;

	if (fd < 0)
		return -errno;
	error = forgive(directory, nt_tape_owner_give(&directory->owner, fd));
	if (error) {
		close(fd);
		return error;
	}
	return fd;
}

void nt_tape_directory_discard(struct nt_tape_directory *directory)
{
	struct stat ours, there;

	if (!directory->is_new || directory->fd < 0 || fstat(directory->fd, &ours) ||
	    fstatat(directory->parent_fd, directory->name, &there, AT_SYMLINK_NOFOLLOW))
		return;
	if (ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)
		unlinkat(directory->parent_fd, directory->name, AT_REMOVEDIR);
}

void nt_tape_directory_release(struct nt_tape_directory *directory)
{
	if (directory->fd >= 0)
		close(directory->fd);
	if (directory->parent_fd >= 0)
		close(directory->parent_fd);
	directory->fd = directory->parent_fd = -1;
}

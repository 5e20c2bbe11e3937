// SPDX-License-Identifier: GPL-2.0-only
/*
 * denied.c - see denied.h.
 */
#include "report/out/denied.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/cli/arg.h"

#define WORD_MAX 300

static bool may(const char *path, int mode)
{
	return !faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}

static bool is_directory(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

/* Whether we could change its mode; `owner` is whose it is: "root", "user 1234", "you". */
static bool is_ours(const char *path, char owner[64])
{
	const struct passwd *user;
	struct stat status;

	if (stat(path, &status)) {
		snprintf(owner, 64, "somebody else");
		return false;
	}
	if (status.st_uid == geteuid()) {
		snprintf(owner, 64, "you, with mode %04o", (unsigned int)(status.st_mode & 07777));
		return true;
	}
	user = getpwuid(status.st_uid);
	if (user)
		snprintf(owner, 64, "%s", user->pw_name);
	else
		snprintf(owner, 64, "user %u", (unsigned int)status.st_uid);
	return false;
}

/* The outermost directory above `path` that may not be entered; NULL: there is none. The caller frees it. */
static char *find_closed(const char *path)
{
	char *copy = strdup(path);

	for (size_t i = 1; copy && path[i]; i++) {
		if (path[i] != '/')
			continue;
		copy[i] = 0;
		if (is_directory(copy) && !may(copy, X_OK))
			return copy;
		copy[i] = '/';
	}
	free(copy);
	return NULL;
}

/* The first file of the directory that may not be read; NULL: there is none. The caller frees it. */
static char *find_unreadable(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;
	char *file = NULL;

	while (directory && (entry = readdir(directory))) {
		if (asprintf(&file, "%s/%s", path, entry->d_name) < 0)
			file = NULL;
		if (file && !may(file, R_OK))
			break;
		free(file);
		file = NULL;
	}
	if (directory)
		closedir(directory);
	return file;
}

static const char *say_closed(char text[NT_DENIED_MAX], const char *directory, const char *otherwise)
{
	char owner[64];
	const char *remedy = is_ours(directory, owner) ? "change that with chmod" : otherwise;

	snprintf(text, NT_DENIED_MAX, "permission denied: the directory %.*s belongs to %s; %s", WORD_MAX, directory,
		 owner, remedy);
	return text;
}

/* The remedy for `path`, of which `part`, itself or a file in it, may not be read or written. */
static const char *say_owner(char text[NT_DENIED_MAX], const char *path, const char *part, const char *otherwise)
{
	const char *all = is_directory(path) ? "-R " : "", *name = strrchr(part, '/');
	char owner[64], word[WORD_MAX];

	nt_arg_shell(word, sizeof(word), path);
	name = part == path ? "it" : name ? name + 1 : part;
	if (is_ours(part, owner))
		snprintf(text, NT_DENIED_MAX, "permission denied: %.100s belongs to %s; run `chmod %su+rwX %s`", name,
			 owner, all, word);
	else
		snprintf(text, NT_DENIED_MAX,
			 "permission denied: %.100s belongs to %s; run `sudo chown %s$USER %s`, %s", name, owner, all,
			 word, otherwise);
	return text;
}

static bool is_denied(int error)
{
	return error == EACCES || error == EPERM;
}

static const char *say_error(char text[NT_DENIED_MAX], int error)
{
	snprintf(text, NT_DENIED_MAX, "%s", strerror(error));
	return text;
}

/*
 * Another path that may be meant, as "all.tape" for "all.tap"; NULL: there is none. All names end alike, so the first
 * letter must be the same. The caller frees it.
 */
static char *find_near(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *nearest;
	char *directory = strndup(path, (size_t)(name - path)), *near = NULL;
	struct dirent **entries = NULL;
	const int n = directory ? scandir(directory[0] ? directory : ".", &entries, NULL, alphasort) : -1;
	const char **names = n > 0 ? calloc((size_t)n + 1, sizeof(*names)) : NULL;

	for (int i = 0, n_names = 0; i < n && names; i++) {
		/* A link to nowhere is there, and is missing. */
		if (entries[i]->d_name[0] == name[0] && strcmp(entries[i]->d_name, name) != 0)
			names[n_names++] = entries[i]->d_name;
	}
	nearest = names ? nt_arg_nearest(name, names) : NULL;
	if (nearest && asprintf(&near, "%s%s", directory, nearest) < 0)
		near = NULL;
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	free(names);
	free(directory);
	return near;
}

static const char *say_missing(char text[NT_DENIED_MAX], const char *path)
{
	char *near = find_near(path), word[WORD_MAX];

	if (near)
		snprintf(text, NT_DENIED_MAX, "%s; perhaps you mean %s", strerror(ENOENT),
			 nt_arg_shell(word, sizeof(word), near));
	else
		say_error(text, ENOENT);
	free(near);
	return text;
}

const char *nt_denied_read(char text[NT_DENIED_MAX], const char *path, int error)
{
	char *closed, *part = NULL;

	if (error == ENOENT)
		return say_missing(text, path);
	if (!is_denied(error))
		return say_error(text, error);
	closed = find_closed(path);
	if (closed) {
		say_closed(text, closed, "read it with sudo, or copy it to a directory of yours");
	} else {
		if (is_directory(path) && may(path, R_OK | X_OK))
			part = find_unreadable(path);
		say_owner(text, path, part ? part : path, "or read it with sudo");
	}
	free(closed);
	free(part);
	return text;
}

const char *nt_denied_make(char text[NT_DENIED_MAX], const char *path, int error)
{
	char *closed, *copy;
	const char *directory;
	struct stat status;

	if (error == EROFS || error == ENOTDIR || error == ENOENT) {
		snprintf(text, NT_DENIED_MAX, "%s: give another place for it", strerror(error));
		return text;
	}
	if (!is_denied(error))
		return say_error(text, error);
	closed = find_closed(path);
	copy = strdup(path);
	directory = copy ? dirname(copy) : ".";
	if (closed)
		say_closed(text, closed, "write to a directory of yours");
	else if (!stat(path, &status) && may(directory, W_OK | X_OK))
		say_owner(text, path, path, "or write elsewhere");
	else
		say_closed(text, directory, "write to a directory of yours");
	free(closed);
	free(copy);
	return text;
}

const char *nt_denied_change(char text[NT_DENIED_MAX], const char *path, int error)
{
	if (!is_denied(error))
		return say_error(text, error);
	if (!may(path, W_OK) && errno == EROFS) {
		snprintf(text, NT_DENIED_MAX, "it is on a read-only file system; change a copy of it");
		return text;
	}
	/* A file that may be written may stand in a directory that may not. */
	return may(path, W_OK) ? nt_denied_make(text, path, error)
			       : say_owner(text, path, path, "or change a copy of it");
}

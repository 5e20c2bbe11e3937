// SPDX-License-Identifier: GPL-2.0-only
/* token.c - see token.h. */
#include "report/serve/token.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define N_BYTES 16 /* of a new one */
#define LEAST 16 /* characters */
/* Those that a header of HTTP may have (RFC 6750). */
#define CHARACTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/="

int nt_token_new(char token[NT_TOKEN_MAX], char error[NT_ERROR_MAX])
{
	uint8_t bytes[N_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return nt_fail(error, "no random numbers for a token: %s.", strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(token + 2 * i, 3, "%02x", bytes[i]);
	return 0;
}

static int fail_read(const char *path, char error[NT_ERROR_MAX])
{
	return nt_fail(error, "the token in %s cannot be read: %s.", path, strerror(errno));
}

static int write_new(int fd, const char *path, char token[NT_TOKEN_MAX], char error[NT_ERROR_MAX])
{
	char line[NT_TOKEN_MAX + 1];
	int size;

	if (nt_token_new(token, error))
		return -1;
	size = snprintf(line, sizeof(line), "%s\n", token);
	if (write(fd, line, (size_t)size) == size)
		return 0;
	unlink(path);
	return nt_fail(error, "%s cannot be written: %s.", path, strerror(errno));
}

/* The file may be of the group, such as that of the user that Prometheus runs as. */
static int check_file(int fd, const char *path, char error[NT_ERROR_MAX])
{
	struct stat status;

	if (fstat(fd, &status))
		return fail_read(path, error);
	if (!S_ISREG(status.st_mode))
		return nt_fail(error, "%s is no file with a token.", path);
	if (status.st_uid && status.st_uid != geteuid())
		return nt_fail(error, "%s belongs to another user, who would know the token.", path);
	if (status.st_mode & (S_IROTH | S_IWOTH | S_IWGRP))
		return nt_fail(error, "others may read or change the token in %s: chmod g-w,o= %s", path, path);
	return 0;
}

static int read_line(int fd, const char *path, char token[NT_TOKEN_MAX], char error[NT_ERROR_MAX])
{
	const ssize_t n = read(fd, token, NT_TOKEN_MAX);
	size_t size = n > 0 ? (size_t)n : 0;

	if (n < 0)
		return fail_read(path, error);
	if (size && token[size - 1] == '\n')
		size--;
	if (size < NT_TOKEN_MAX)
		token[size] = 0;
	if (size < LEAST || size == NT_TOKEN_MAX || strspn(token, CHARACTERS) != size)
		return nt_fail(error,
			       "%s has no token: one line of %d to %d letters, digits and -._~+/=; without the file, "
			       "a token is made.",
			       path, LEAST, NT_TOKEN_MAX - 1);
	return 0;
}

int nt_token_of_file(const char *path, char token[NT_TOKEN_MAX], char error[NT_ERROR_MAX])
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), result;

	if (fd >= 0) {
		result = write_new(fd, path, token, error);
		close(fd);
		return result;
	}
	if (errno != EEXIST)
		return nt_fail(error, "%s cannot be made: %s.", path, strerror(errno));
	/* A pipe that nobody writes is refused below. */
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return fail_read(path, error);
	result = check_file(fd, path, error);
	if (!result)
		result = read_line(fd, path, token, error);
	close(fd);
	return result;
}

bool nt_token_is(const char *token, const char *given)
{
	const size_t size = strlen(token), n = given ? strlen(given) : 0;
	volatile unsigned char differs = size != n;

	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)(given[i] ^ token[i % size]);
	return !differs;
}

// SPDX-License-Identifier: GPL-2.0-only
/* heard.c - see heard.h. */
#include "tests/support/heard.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/must.h"

static int saved = -1;
static char said[8192];

void heard_begin(void)
{
	int fd = memfd_create("stderr", 0);

	fflush(stderr);
	MUST((saved = dup(STDERR_FILENO)) >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	close(fd);
}

const char *heard_end(void)
{
	ssize_t n;

	fflush(stderr);
	n = pread(STDERR_FILENO, said, sizeof(said) - 1, 0);
	MUST(n >= 0 && dup2(saved, STDERR_FILENO) >= 0);
	close(saved);
	said[n] = 0;
	return said;
}

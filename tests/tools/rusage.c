/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rusage - runs a command and says what it took.
 *
 *   rusage FILE COMMAND [ARGUMENT...]
 *
 * Writes one line "WALL_NS USER_NS SYSTEM_NS MAX_RSS_KIB" into FILE; exits with the command's status.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/clock.h"

static unsigned long long to_ns(struct timeval time)
{
	return (unsigned long long)time.tv_sec * 1000000000u + (unsigned long long)time.tv_usec * 1000u;
}

int main(int argc, char **argv)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), end;
	struct rusage usage;
	int status;
	FILE *out;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: rusage FILE COMMAND [ARGUMENT...]\n");
		return 2;
	}
	pid = fork();
	if (!pid) {
		execvp(argv[2], argv + 2);
		fprintf(stderr, "rusage: %s: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 1;
	end = clock_ns(CLOCK_MONOTONIC);
	out = fopen(argv[1], "w");
	if (!out ||
	    fprintf(out, "%llu %llu %llu %ld\n", (unsigned long long)(end - begin), to_ns(usage.ru_utime),
		    to_ns(usage.ru_stime), usage.ru_maxrss) < 0 ||
	    fclose(out)) {
		fprintf(stderr, "rusage: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

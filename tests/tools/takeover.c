/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * takeover - a process whose threads execute this program, each of them once.
 *
 *   takeover TIMES
 *
 * The main thread never sleeps, so that it is on a CPU when the other thread executes the program: the kernel kills it
 * there, and gives its tid to the other.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *execute(void *times)
{
	execl("/proc/self/exe", "takeover", (char *)times, NULL);
	fprintf(stderr, "takeover: %s\n", strerror(errno));
	exit(1);
}

int main(int argc, char **argv)
{
	long times = argc == 2 ? strtol(argv[1], NULL, 10) : -1;
	char left[24];
	pthread_t thread;
	int error;

	if (times < 0) {
		fprintf(stderr, "usage: takeover TIMES\n");
		return 2;
	}
	if (!times)
		return 0;
	snprintf(left, sizeof(left), "%ld", times - 1);
	error = pthread_create(&thread, NULL, execute, left);
	if (error) {
		fprintf(stderr, "takeover: %s\n", strerror(error));
		return 1;
	}
	for (;;)
		__asm__ volatile("");
}

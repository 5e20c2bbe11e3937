/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * burner - burns CPU until its own clock says enough, or SIGTERM comes, and prints what the clock says.
 *
 *   burner SECONDS NAME [pin CPU | migrate MILLISECONDS]
 *
 * The process's name becomes NAME. Pinned to one CPU, or moved to the next allowed CPU every so often, or left
 * alone. Prints "CPU_NS WALL_NS MOVES END_NS" at the end: CLOCK_PROCESS_CPUTIME_ID, which starts at the fork, and when,
 * by CLOCK_MONOTONIC, it was read for the last time: what comes after that, the exit too, is not in it.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "tests/support/clock.h"

static volatile sig_atomic_t is_told_to_end;

static void on_signal(int number)
{
	(void)number;
	is_told_to_end = 1;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		fprintf(stderr, "burner: cannot pin to CPU %d: %s\n", cpu, strerror(errno));
		exit(1);
	}
}

static int next_cpu(const cpu_set_t *allowed, int cpu)
{
	do {
		cpu = (cpu + 1) % CPU_SETSIZE;
	} while (!CPU_ISSET(cpu, allowed));
	return cpu;
}

int main(int argc, char **argv)
{
	uint64_t begin = clock_ns(CLOCK_MONOTONIC), enough, interval = 0, next, moves = 0, burnt, end;
	cpu_set_t allowed;
	int cpu = -1;

	if ((argc != 3 && argc != 5) || (argc == 5 && strcmp(argv[3], "pin") && strcmp(argv[3], "migrate"))) {
		fprintf(stderr, "usage: burner SECONDS NAME [pin CPU | migrate MILLISECONDS]\n");
		return 2;
	}
	enough = (uint64_t)(strtod(argv[1], NULL) * 1e9);
	signal(SIGTERM, on_signal);
	prctl(PR_SET_NAME, argv[2]);
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return 1;
	if (argc == 5 && !strcmp(argv[3], "pin"))
		pin(atoi(argv[4]));
	else if (argc == 5)
		interval = strtoull(argv[4], NULL, 10) * 1000000u;
	next = begin + interval;
	while (!is_told_to_end && clock_ns(CLOCK_PROCESS_CPUTIME_ID) < enough) {
		if (!interval || clock_ns(CLOCK_MONOTONIC) < next)
			continue;
		cpu = next_cpu(&allowed, cpu);
		pin(cpu);
		moves++;
		next += interval;
	}
	burnt = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	end = clock_ns(CLOCK_MONOTONIC);
	printf("%llu %llu %llu %llu\n", (unsigned long long)burnt, (unsigned long long)(end - begin),
	       (unsigned long long)moves, (unsigned long long)end);
	return 0;
}

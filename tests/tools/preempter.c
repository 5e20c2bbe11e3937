/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * preempter - a real-time task that wakes often and burns a little: it preempts whoever is on its CPU.
 *
 *   preempter SECONDS NAME CPU PERIOD_US BURN_US
 *
 * SCHED_FIFO at priority 60, over interrupt threads. Wakes every PERIOD_US (or as soon after as it can) and burns until
 * BURN_US have passed. Prints "CPU_NS WAKES" at the end: CLOCK_PROCESS_CPUTIME_ID, and how often it slept.
 */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "tests/support/clock.h"

#define PRIORITY 60

static void sleep_until(uint64_t ns)
{
	struct timespec time = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL))
		;
}

int main(int argc, char **argv)
{
	struct sched_param param = {.sched_priority = PRIORITY};
	uint64_t end, due, period, burn, wakes = 0;
	cpu_set_t set;

	if (argc != 6) {
		fprintf(stderr, "usage: preempter SECONDS NAME CPU PERIOD_US BURN_US\n");
		return 2;
	}
	period = strtoull(argv[4], NULL, 10) * 1000u;
	burn = strtoull(argv[5], NULL, 10) * 1000u;
	prctl(PR_SET_NAME, argv[2]);
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[3]), &set);
	if (sched_setaffinity(0, sizeof(set), &set) || sched_setscheduler(0, SCHED_FIFO, &param) ||
	    mlockall(MCL_CURRENT | MCL_FUTURE)) {
		perror("preempter: cannot be a real-time task on that CPU");
		return 1;
	}
	due = clock_ns(CLOCK_MONOTONIC);
	end = due + (uint64_t)(strtod(argv[1], NULL) * 1e9);
	while (due < end) {
		uint64_t until;

		due += period;
		if (due < clock_ns(CLOCK_MONOTONIC))
			due = clock_ns(CLOCK_MONOTONIC) + period;
		sleep_until(due);
		wakes++;
		until = clock_ns(CLOCK_MONOTONIC) + burn;
		while (clock_ns(CLOCK_MONOTONIC) < until)
			;
	}
	printf("%llu %llu\n", (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID), (unsigned long long)wakes);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waiter - threads that wait for a CPU, and what the kernel says of their waits.
 *
 *   waiter SECONDS CPU LEAST
 *
 * Pinned to the CPU: two threads "w-burn" that never sleep; "w-sleep", of nice 10, that sleeps a millisecond again and
 * again; and "w-pong", of nice -10, which "w-ping" on the other CPUs wakes over a pipe and is woken by, 5,000 times or
 * as often as there is time for. All live that long, on a busy machine until that was LEAST times (at most 5,000); then
 * each prints a line
 *
 *   TID BEGIN_NS END_NS RUN_DELAY_NS RUNS
 *
 * the first thing that it did and the last, by CLOCK_MONOTONIC, and what /proc said of it at END_NS: for how long it
 * had been runnable since its birth, and how often it was put on a CPU.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/clock.h"

#define ROUNDS 5000

static uint64_t end_ns;
static int least;
static atomic_int answers;
static int pinned_cpu;
static int ping[2], pong[2];

static void die(const char *what)
{
	fprintf(stderr, "waiter: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t begin_thread(const char *name)
{
	prctl(PR_SET_NAME, name);
	return clock_ns(CLOCK_MONOTONIC);
}

/* To the CPU, or to all others. */
static void pin(bool to_others)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if ((cpu == pinned_cpu) != to_others)
			CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("cannot pin a thread");
}

static void be_nice(int nice)
{
	if (setpriority(PRIO_PROCESS, (id_t)gettid(), nice))
		die("cannot be nice");
}

static bool is_over(void)
{
	return clock_ns(CLOCK_MONOTONIC) >= end_ns && answers >= least;
}

static void read_schedstat(int fd, uint64_t *delay_ns, uint64_t *runs)
{
	char text[128] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0 || sscanf(text, "%*u %" SCNu64 " %" SCNu64, delay_ns, runs) != 2)
		die("cannot read schedstat");
}

/* Reads again until no switch came in between: so the counters are those of the time that is printed. */
static void end_thread(uint64_t begin_ns)
{
	uint64_t delay_ns, runs, delay_after_ns, runs_after, read_ns;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", gettid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die(path);
	do {
		read_schedstat(fd, &delay_ns, &runs);
		read_ns = clock_ns(CLOCK_MONOTONIC);
		read_schedstat(fd, &delay_after_ns, &runs_after);
	} while (runs != runs_after);
	printf("%d %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", gettid(), begin_ns, read_ns, delay_ns, runs);
	close(fd);
}

static void *burn(void *arg)
{
	uint64_t begin_ns = begin_thread("w-burn");

	(void)arg;
	pin(false);
	while (!is_over())
		;
	end_thread(begin_ns);
	return NULL;
}

static void *sleep_often(void *arg)
{
	static const struct timespec nap = {.tv_nsec = 1000000};
	uint64_t begin_ns = begin_thread("w-sleep");

	(void)arg;
	pin(false);
	be_nice(10);
	while (!is_over())
		nanosleep(&nap, NULL);
	end_thread(begin_ns);
	return NULL;
}

static void *serve(void *arg)
{
	uint64_t begin_ns = begin_thread("w-ping");
	char byte = 0;

	(void)arg;
	pin(true);
	for (; answers < ROUNDS && !is_over(); answers++)
		if (write(ping[1], &byte, 1) != 1 || read(pong[0], &byte, 1) != 1)
			die("no answer");
	close(ping[1]);
	end_thread(begin_ns);
	return NULL;
}

static void *answer(void *arg)
{
	uint64_t begin_ns = begin_thread("w-pong");
	char byte;

	(void)arg;
	pin(false);
	be_nice(-10);
	while (read(ping[0], &byte, 1) == 1 && write(pong[1], &byte, 1) == 1)
		;
	end_thread(begin_ns);
	return NULL;
}

int main(int argc, char **argv)
{
	static void *(*const works[])(void *) = {burn, burn, sleep_often, serve, answer};
	pthread_t threads[sizeof(works) / sizeof(works[0])];
	size_t i;

	if (argc != 4 || atoi(argv[3]) > ROUNDS) {
		fprintf(stderr, "usage: waiter SECONDS CPU LEAST\n");
		return 2;
	}
	end_ns = clock_ns(CLOCK_MONOTONIC) + (uint64_t)(strtod(argv[1], NULL) * 1e9);
	pinned_cpu = atoi(argv[2]);
	least = atoi(argv[3]);
	if (pipe2(ping, O_CLOEXEC) || pipe2(pong, O_CLOEXEC))
		die("cannot make pipes");
	for (i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		if ((errno = pthread_create(&threads[i], NULL, works[i], NULL)))
			die("cannot make a thread");
	for (i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		pthread_join(threads[i], NULL);
	return 0;
}

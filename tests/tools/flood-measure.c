/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flood-measure - how much another process's network namespace received in a while.
 *
 *   flood-measure udp|tcp PID MILLISECONDS FILE
 *
 * Reads a counter of the namespace that process PID lives in, sleeps, reads it again, and appends one line
 * "RECEIVED NS" to FILE: datagrams (Udp InDatagrams of /proc/PID/net/snmp), or octets (IpExt InOctets of
 * /proc/PID/net/netstat), and the time between the readings. Does nothing else, so that it can run as the
 * command of a recorder without being a load of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/clock.h"

static void fail(const char *what)
{
	fprintf(stderr, "flood-measure: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* A line "Group: name name ..." is followed by "Group: value value ...". */
static uint64_t counter(char *text, const char *group, const char *name)
{
	char *names = strstr(text, group), *values, *save_names, *save_values, *word, *value;

	values = names ? strstr(names + 1, group) : NULL;
	if (!values)
		fail(group);
	names[strcspn(names, "\n")] = 0;
	values[strcspn(values, "\n")] = 0;
	word = strtok_r(names, " ", &save_names);
	value = strtok_r(values, " ", &save_values);
	while (word && value && strcmp(word, name)) {
		word = strtok_r(NULL, " ", &save_names);
		value = strtok_r(NULL, " ", &save_values);
	}
	if (!word || !value)
		fail(name);
	return strtoull(value, NULL, 10);
}

static uint64_t read_counter(int fd, int udp, uint64_t *at_ns)
{
	char text[16384];
	uint64_t before = clock_ns(CLOCK_MONOTONIC);
	ssize_t size = pread(fd, text, sizeof(text) - 1, 0);

	if (size <= 0)
		fail("reading counters");
	*at_ns = before + (clock_ns(CLOCK_MONOTONIC) - before) / 2;
	text[size] = 0;
	return udp ? counter(text, "Udp: ", "InDatagrams") : counter(text, "IpExt: ", "InOctets");
}

int main(int argc, char **argv)
{
	uint64_t first, last, first_ns, last_ns;
	struct timespec sleep_time;
	char path[64];
	long ms;
	int udp, fd;
	FILE *out;

	if (argc != 5 || (strcmp(argv[1], "udp") && strcmp(argv[1], "tcp"))) {
		fprintf(stderr, "usage: flood-measure udp|tcp PID MILLISECONDS FILE\n");
		return 2;
	}
	udp = !strcmp(argv[1], "udp");
	ms = strtol(argv[3], NULL, 10);
	snprintf(path, sizeof(path), "/proc/%d/net/%s", atoi(argv[2]), udp ? "snmp" : "netstat");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail(path);
	sleep_time = (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
	first = read_counter(fd, udp, &first_ns);
	nanosleep(&sleep_time, NULL);
	last = read_counter(fd, udp, &last_ns);
	out = fopen(argv[4], "a");
	if (!out ||
	    fprintf(out, "%llu %llu\n", (unsigned long long)(last - first), (unsigned long long)(last_ns - first_ns)) <
		    0 ||
	    fclose(out))
		fail(argv[4]);
	return 0;
}

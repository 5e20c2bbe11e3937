// SPDX-License-Identifier: GPL-2.0-only
/*
 * hold.c - runs hold.bpf.c, for tests/live/raise.sh: hold OBJECT N holds CPUs N times, and prints of each "CPU BEGIN
 * END", times of CLOCK_MONOTONIC. Exit status 1: it cannot be attached.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/bench/hold.h"

/* The map of the holds; below 0: it cannot be attached. It stays so for the life of this process. */
static int attach(const char *path)
{
	struct bpf_object *object = bpf_object__open(path);
	struct bpf_program *program;

	if (!object || bpf_object__load(object))
		return -1;
	bpf_object__for_each_program (program, object) {
		if (!bpf_program__attach(program))
			return -1;
	}
	return bpf_object__find_map_fd_by_name(object, "holds");
}

int main(int argc, char **argv)
{
	const int map = argc > 2 ? attach(argv[1]) : -1;
	const __u32 n = argc > 2 ? (__u32)atoi(argv[2]) : 0;
	struct hold hold;

	if (map < 0 || !n || n > HOLD_MOST) {
		fprintf(stderr, "hold: no program can be put to the timer interrupt here\n");
		return 1;
	}
	for (__u32 i = 0; i < n;) {
		if (bpf_map_lookup_elem(map, &i, &hold) || !hold.end_ns) {
			usleep(10000);
			continue;
		}
		printf("%llu %llu %llu\n", hold.cpu, hold.begin_ns, hold.end_ns);
		i++;
	}
	return 0;
}

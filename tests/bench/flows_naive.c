// SPDX-License-Identifier: GPL-2.0-only
/*
 * flows_naive.c - runs a command while one program of flows_naive.bpf.c is attached, and prints what the kernel counted
 * of it: flows_naive OBJECT PROGRAM P COMMAND [ARGUMENT...] prints "PROGRAM RUNS NANOSECONDS". P: the probability of an
 * update. Exit status: the command's, or 1 if the program cannot be attached.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/bench/flows_naive.h"

static int configure(struct bpf_object *object, double p)
{
	struct bpf_map *constants = bpf_object__find_map_by_name(object, ".rodata");
	struct naive_config config = {.draw_below = (__u64)(p * 4294967296.0)};

	if (!constants || getrandom(config.hashes, sizeof(config.hashes), 0) != sizeof(config.hashes))
		return -1;
	return bpf_map__set_initial_value(constants, &config, sizeof(config));
}

/* The one program of this name; NULL: it cannot be attached. It stays for the life of this process. */
static struct bpf_program *attach(const char *path, const char *name, double p)
{
	struct bpf_object *object = bpf_object__open(path);
	struct bpf_program *program, *wanted;

	if (!object || configure(object, p))
		return NULL;
	bpf_object__for_each_program (program, object)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), name));
	wanted = bpf_object__find_program_by_name(object, name);
	return wanted && !bpf_object__load(object) && bpf_program__attach(wanted) ? wanted : NULL;
}

int main(int argc, char **argv)
{
	struct bpf_program *program = argc > 4 ? attach(argv[1], argv[2], atof(argv[3])) : NULL;
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);
	int status = 0;

	if (!program) {
		fprintf(stderr, "flows_naive: %s cannot be attached here\n", argc > 2 ? argv[2] : "(none)");
		return 1;
	}
	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		perror("flows_naive: the kernel's statistics");
	if (!fork()) {
		execvp(argv[4], argv + 4);
		_exit(127);
	}
	wait(&status);
	if (!bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
		printf("%s %llu %llu\n", argv[2], (unsigned long long)info.run_cnt,
		       (unsigned long long)info.run_time_ns);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

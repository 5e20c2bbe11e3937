// SPDX-License-Identifier: GPL-2.0-only
/*
 * histogram.c - runs a command while the programs of histogram.bpf.c are attached, and prints what the kernel counted
 * of each: histogram OBJECT COMMAND [ARGUMENT...] prints lines "PROGRAM RUNS NANOSECONDS", and of the histograms, over
 * devices and CPUs, "sum HOOK PACKETS NANOSECONDS" with the hook's text (schema/event.h). The programs are those
 * before and after functions; where the kernel refuses these, those at tracepoints. Exit status: the command's, or 1 if
 * neither can be loaded.
 */
#include <linux/net_tstamp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/bench/histogram.h"

/* The programs of one way. NULL: this kernel does not allow it. */
static struct bpf_object *attach(const char *path, bool by_tracepoints)
{
	struct bpf_object *object = bpf_object__open(path);
	struct bpf_program *program;
	int err;

	if (!object)
		return NULL;
	bpf_object__for_each_program (program, object)
		bpf_program__set_autoload(program,
					  !strncmp(bpf_program__section_name(program), "tp_btf", 6) == by_tracepoints);
	err = bpf_object__load(object);
	if (!err)
		bpf_object__for_each_program (program, object)
			if (bpf_program__autoload(program) && !bpf_program__attach(program))
				err = -1;
	if (!err)
		return object;
	bpf_object__close(object);
	return NULL;
}

/* While this socket is open the kernel notes when packets come. */
static void ask_for_stamps(void)
{
	int flags = SOF_TIMESTAMPING_RX_SOFTWARE, fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)))
		perror("histogram: SO_TIMESTAMPING");
}

static void print_counts(struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program (program, object) {
		struct bpf_prog_info info = {};
		__u32 size = sizeof(info);

		if (bpf_program__fd(program) >= 0 && !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			printf("%s %llu %llu\n", bpf_program__name(program), (unsigned long long)info.run_cnt,
			       (unsigned long long)info.run_time_ns);
	}
}

#define MAX_CPUS 1024

/* Over all CPUs. */
static __u64 value_of(int map, const struct bucket_key *key)
{
	static __u64 values[MAX_CPUS];
	__u64 sum = 0;

	memset(values, 0, sizeof(values));
	if (libbpf_num_possible_cpus() > MAX_CPUS || bpf_map_lookup_elem(map, key, values))
		return 0;
	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		sum += values[cpu];
	return sum;
}

static void print_sums(struct bpf_object *object)
{
	struct {
		__u64 packets, ns;
	} hooks[NT_HOOK_COUNT] = {};
	int map = bpf_object__find_map_fd_by_name(object, "histogram");
	struct bucket_key key, *before = NULL;

	while (map >= 0 && !bpf_map_get_next_key(map, before, &key)) {
		__u64 value = value_of(map, &key);

		before = &key;
		if (key.hook < NT_HOOK_COUNT && key.bucket == SUM_BUCKET)
			hooks[key.hook].ns += value;
		else if (key.hook < NT_HOOK_COUNT)
			hooks[key.hook].packets += value;
	}
#define X(number, name, text)                                                                                          \
	printf("sum %s %llu %llu\n", text, (unsigned long long)hooks[number].packets,                                  \
	       (unsigned long long)hooks[number].ns);
	NT_HOOKS(X)
#undef X
}

int main(int argc, char **argv)
{
	struct bpf_object *object = argc > 2 ? attach(argv[1], false) : NULL;
	int status = 0;

	if (!object && argc > 2)
		object = attach(argv[1], true);
	if (!object) {
		fprintf(stderr, "histogram: the programs in %s cannot be attached here\n",
			argc > 1 ? argv[1] : "(none)");
		return 1;
	}
	ask_for_stamps();
	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		perror("histogram: the kernel's statistics");
	if (!fork()) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	wait(&status);
	print_counts(object);
	print_sums(object);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

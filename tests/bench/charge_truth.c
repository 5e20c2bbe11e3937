// SPDX-License-Identifier: GPL-2.0-only
/*
 * charge_truth.c - what the packets of two flows cost, by clock reads around the work on each: the reference for the
 * rule of docs/charging.md. charge_truth.sh makes the traffic, and compares.
 *
 *   charge_truth OBJECT netfilter|fentry NETNS NETNS PORT PORT COMMAND...
 *
 * Reads clocks while the command runs, for packets to these ports, in two network namespaces (files such as
 * /run/netns/NAME). Prints a line for each flow, `first`, `second` and `other`:
 *
 *   NAME packets N gro NS way NS chains NS delivery NS between NS
 *
 * `gro`: inside GRO. `way`: from there, or from the begin of IP, until it is known that the packet is for this host.
 * `chains`: nft. `delivery`: until the next event. `between`: before these, see below. And `run NS irq NS shared NS`:
 * the time of all runs, and of `way` how much is of packets that were handled together.
 *
 * Time goes to the packet at which the clock was read last. There are two exceptions. On their way to IP and to
 * routing, packets of a list are handled together, step by step: they have equal parts of it. And time after a packet
 * that is not another's yet, in the driver or at the run's begin, is the next one's, and kept apart.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/netfilter.h>

#include "tests/bench/charge_truth.h"

/* Newer than libbpf and its headers may be. */
#define PROG_TYPE_NETFILTER 32
#define ATTACH_NETFILTER 45
#define MAX_EVENTS (1u << 21) /* of a CPU, and */
#define MAX_ALL_EVENTS (1u << 24)

static void *must(void *pointer, const char *what)
{
	if (!pointer) {
		fprintf(stderr, "charge_truth: %s: %m\n", what);
		exit(1);
	}
	return pointer;
}

static void must_be(bool ok, const char *what)
{
	must(ok ? &ok : NULL, what);
}

/* ---- the kernel side ---- */

static bool has_prefix(const struct bpf_program *program, const char *prefix)
{
	return !strncmp(bpf_program__name(program), prefix, strlen(prefix));
}

static struct bpf_object *load(const char *path, const char *group, size_t n_events)
{
	struct bpf_object *object = must(bpf_object__open(path), path);
	struct bpf_program *program;

	bpf_object__for_each_program (program, object) {
		bpf_program__set_autoload(program, has_prefix(program, "run__") || has_prefix(program, "vector__") ||
							   has_prefix(program, group));
		if (has_prefix(program, "netfilter__")) {
			bpf_program__set_type(program, PROG_TYPE_NETFILTER);
			bpf_program__set_expected_attach_type(program, ATTACH_NETFILTER);
		}
	}
	must_be(!bpf_map__set_max_entries(bpf_object__find_map_by_name(object, "events"), (__u32)n_events), "events");
	must_be(!bpf_object__load(object), "load");
	return object;
}

/* Where this thread is. Nothing unlinks it: it goes with us. */
static void attach_netfilter(const struct bpf_program *program, int family)
{
	const char *name = bpf_program__name(program);
	/* As the kernel's bpf_attr has it. */
	struct {
		__u32 prog_fd, target_fd, attach_type, flags;
		__u32 family, hook;
		__s32 priority;
		__u32 hook_flags;
		char room[64];
	} attr = {.prog_fd = bpf_program__fd(program), .attach_type = ATTACH_NETFILTER, .family = family};

	attr.hook = strstr(name, "pre") ? NF_INET_PRE_ROUTING : NF_INET_LOCAL_IN;
	attr.priority = strstr(name, "chains") ? 10000 : -10000;
	must_be(syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr)) >= 0, name);
}

static void enter(const char *netns)
{
	int fd = open(netns, O_RDONLY | O_CLOEXEC);

	must_be(fd >= 0 && !setns(fd, CLONE_NEWNET), netns);
	close(fd);
}

static void attach_in(struct bpf_object *object, const char *netns)
{
	struct bpf_program *program;

	enter(netns);
	bpf_object__for_each_program (program, object)
		if (has_prefix(program, "netfilter__") && bpf_program__autoload(program)) {
			attach_netfilter(program, NFPROTO_IPV4);
			attach_netfilter(program, NFPROTO_IPV6);
		}
}

static void attach_vectors(const struct bpf_program *program, const char *end)
{
	static const char *const vectors[] = {"local_timer", "reschedule", "call_function", "call_function_single",
					      "irq_work"};

	for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s_%s", vectors[i], end);
		/* Other machines have none, and not every kernel has all. */
		bpf_program__attach_raw_tracepoint(program, name);
	}
}

static void attach(struct bpf_object *object)
{
	struct bpf_program *program;

	attach_vectors(bpf_object__find_program_by_name(object, "vector__begin"), "entry");
	attach_vectors(bpf_object__find_program_by_name(object, "vector__end"), "exit");
	bpf_object__for_each_program (program, object)
		if (bpf_program__autoload(program) && (has_prefix(program, "run__") || has_prefix(program, "fentry__")))
			must(bpf_program__attach(program), bpf_program__name(program));
}

static void share(struct bpf_object *object, struct truth_shared *shared, bool store)
{
	int map = bpf_object__find_map_fd_by_name(object, ".data.shared");
	__u32 key = 0;

	must_be(!(store ? bpf_map_update_elem(map, &key, shared, BPF_ANY) : bpf_map_lookup_elem(map, &key, shared)),
		"shared data");
}

/* ---- events ---- */

/* All that CPUs wrote, the same number for each; those that it did not need are TRUTH_NONE. */
static const struct truth_event *map_events(const struct bpf_object *object, size_t n)
{
	int map = bpf_object__find_map_fd_by_name(object, "events");
	void *events = mmap(NULL, n * sizeof(struct truth_event), PROT_READ, MAP_SHARED, map, 0);

	return must(events == MAP_FAILED ? NULL : events, "events");
}

/* ---- whose time it is ---- */

enum part { PART_GRO, PART_WAY, PART_CHAINS, PART_DELIVERY, PART_BETWEEN, PARTS };

static const char *const part_names[PARTS] = {"gro", "way", "chains", "delivery", "between"};
static const char *const flow_names[TRUTH_FLOWS] = {"other", "first", "second"};

struct truth {
	double ns[TRUTH_FLOWS][PARTS];
	unsigned long packets[TRUTH_FLOWS];
	double run_ns, shared_ns;
};

static bool is_one_by_one(__u8 kind)
{
	return kind == TRUTH_IN || kind == TRUTH_CHAINS || kind == TRUTH_OUT;
}

/* The packets that come next, one by one, had this time together. */
static void share_time(struct truth *truth, const struct truth_event *at, const struct truth_event *end, double ns)
{
	unsigned long packets[TRUTH_FLOWS] = {0}, all = 0;

	while (at < end && !is_one_by_one(at->kind))
		at++;
	for (; at < end && is_one_by_one(at->kind); at++) {
		packets[at->flow] += at->kind == TRUTH_IN;
		all += at->kind == TRUTH_IN;
	}
	for (int flow = 0; flow < TRUTH_FLOWS && all; flow++)
		truth->ns[flow][PART_WAY] += ns * (double)packets[flow] / (double)all;
	if (all > 1)
		truth->shared_ns += ns;
}

/* The flow of the first packet from `at` on, but none after the poll. */
static __u8 next_flow(const struct truth_event *at, const struct truth_event *end)
{
	for (; at < end && at->kind != TRUTH_POLL && at->kind != TRUTH_EXIT; at++)
		if (at->kind == TRUTH_GRO || at->kind == TRUTH_PRE || at->kind == TRUTH_IN)
			return at->flow;
	return TRUTH_OTHER;
}

/* The time from an event to the next one. */
static void attribute(struct truth *truth, const struct truth_event *at, const struct truth_event *end)
{
	const struct truth_event *next = at + 1;
	const double ns = (double)(next->ns - at->ns);

	switch (at->kind) {
	case TRUTH_GRO:
		if (next->kind != TRUTH_GRO_END) /* it was the last one of a list */
			return share_time(truth, next, end, ns);
		truth->ns[at->flow][PART_GRO] += ns;
		return;
	case TRUTH_LIST:
		return share_time(truth, next, end, ns);
	case TRUTH_PRE:
		if (next->kind == TRUTH_IN && next->skb != at->skb)
			return share_time(truth, next, end, ns);
		truth->ns[at->flow][PART_WAY] += ns;
		return;
	case TRUTH_IN:
		truth->packets[at->flow]++;
		truth->ns[at->flow][next->kind == TRUTH_CHAINS ? PART_CHAINS : PART_DELIVERY] += ns;
		return;
	case TRUTH_CHAINS:
		truth->ns[at->flow][PART_DELIVERY] += ns;
		return;
	default:
		truth->ns[next_flow(next, end)][PART_BETWEEN] += ns;
	}
}

static void add_run(struct truth *truth, const struct truth_event *run, const struct truth_event *end)
{
	truth->run_ns += (double)(end[-1].ns - run->ns);
	for (const struct truth_event *event = run; event < end - 1; event++)
		attribute(truth, event, end);
}

/* All events of a CPU. */
static void add_runs(struct truth *truth, const struct truth_event *event, const struct truth_event *end)
{
	const struct truth_event *run = NULL;

	for (; event < end && event->kind != TRUTH_NONE; event++) {
		if (event->kind == TRUTH_ENTRY)
			run = event;
		if (event->kind != TRUTH_EXIT || !run)
			continue;
		add_run(truth, run, event + 1);
		run = NULL;
	}
}

static void print_truth(const struct truth *truth)
{
	for (int flow = 0; flow < TRUTH_FLOWS; flow++) {
		printf("%s packets %lu", flow_names[flow], truth->packets[flow]);
		for (int part = 0; part < PARTS; part++)
			printf(" %s %.0f", part_names[part], truth->ns[flow][part]);
		putchar('\n');
	}
	printf("run %.0f shared %.0f\n", truth->run_ns, truth->shared_ns);
}

static int run_command(char **argv)
{
	pid_t pid = fork();
	int status = 1;

	if (!pid) {
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status ? 1 : 0;
}

int main(int argc, char **argv)
{
	const size_t n_cpus = (size_t)libbpf_num_possible_cpus();
	struct truth_shared shared = {.gate = 1, .max_events = (__u32)(MAX_ALL_EVENTS / n_cpus)};
	const struct truth_event *events;
	struct truth truth = {0};
	struct bpf_object *object;
	int status;

	if (argc < 8 || (strcmp(argv[2], "netfilter") && strcmp(argv[2], "fentry"))) {
		fprintf(stderr, "usage: charge_truth OBJECT netfilter|fentry NETNS NETNS PORT PORT COMMAND...\n");
		return 2;
	}
	if (shared.max_events > MAX_EVENTS)
		shared.max_events = MAX_EVENTS;
	shared.ports[TRUTH_FIRST] = htons((__u16)atoi(argv[5]));
	shared.ports[TRUTH_SECOND] = htons((__u16)atoi(argv[6]));
	object = load(argv[1], argv[2], n_cpus * shared.max_events);
	events = map_events(object, n_cpus * shared.max_events);
	share(object, &shared, true);
	attach(object);
	for (int i = 3; i <= 4; i++)
		attach_in(object, argv[i]);
	status = run_command(argv + 7);
	share(object, &shared, false);
	shared.gate = 0;
	share(object, &shared, true);
	usleep(1000);
	share(object, &shared, false);
	if (shared.lost)
		fprintf(stderr, "charge_truth: %llu events are lost\n", (unsigned long long)shared.lost);
	for (size_t cpu = 0; cpu < n_cpus; cpu++, events += shared.max_events)
		add_runs(&truth, events, events + shared.max_events);
	print_truth(&truth);
	bpf_object__close(object);
	return status || shared.lost;
}

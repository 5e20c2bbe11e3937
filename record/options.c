// SPDX-License-Identifier: GPL-2.0-only
/* options.c - see options.h. */
#include "record/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEFAULT_RING_SIZE (256u << 10)	/* small enough to stay in a CPU's second-level cache: docs/overhead.md */
#define LEAST_RING_SIZE (64u << 10)
#define GREATEST_RING_SIZE (1u << 30)
#define DEFAULT_HZ 999		/* not 1,000: in step with nothing that comes a thousand times a second */
#define GREATEST_HZ 100000

enum {
	OPT_PROBES = 256,
	OPT_PLAN,
	OPT_LIST_PROBES,
	OPT_RING_SIZE,
	OPT_BPF_STATS,
	OPT_NO_REALTIME,
	OPT_LATENCY_SAMPLE,
	OPT_STACKS,
	OPT_USER_STACKS,
	OPT_NETNS,
	OPT_CGROUP,
	OPT_MIN_QUEUE,
	OPT_HELP,
	OPT_VERSION
};

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "duration", required_argument, NULL, 'd' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "pid", required_argument, NULL, 'p' },
	{ "interface", required_argument, NULL, 'i' },
	{ "netns", required_argument, NULL, OPT_NETNS },
	{ "cgroup", required_argument, NULL, OPT_CGROUP },
	{ "min-queue", required_argument, NULL, OPT_MIN_QUEUE },
	{ "latency-sample", required_argument, NULL, OPT_LATENCY_SAMPLE },
	{ "frequency", required_argument, NULL, 'F' },
	{ "stacks", required_argument, NULL, OPT_STACKS },
	{ "user-stacks", no_argument, NULL, OPT_USER_STACKS },
	{ "probes", required_argument, NULL, OPT_PROBES },
	{ "plan", required_argument, NULL, OPT_PLAN },
	{ "list-probes", no_argument, NULL, OPT_LIST_PROBES },
	{ "ring-size", required_argument, NULL, OPT_RING_SIZE },
	{ "bpf-stats", no_argument, NULL, OPT_BPF_STATS },
	{ "no-realtime", no_argument, NULL, OPT_NO_REALTIME },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{}
};

static void usage(FILE *to)
{
	fprintf(to,
		"usage: nettape-record [-o DIR] [-d SECONDS] [--probes LIST] [--plan PLAN] [--ring-size SIZE] [-q]\n"
		"                      [-p PID] [-i NAME] [--netns WHERE] [--cgroup PATH] [--min-queue N] [--latency-sample P]\n"
		"                      [-F HZ] [--stacks WHICH] [--user-stacks]\n"
		"                      [-- COMMAND ...]\n"
		"       nettape-record --list-probes\n"
		"\n"
		"Records what the network stack costs on this host, until Ctrl-C, the end of COMMAND, or SECONDS.\n"
		"\n"
		"  -o, --output DIR     the tape, a new directory (default: nettape-DATE-TIME.tape)\n"
		"  -d, --duration SEC   stop after this long (fractions allowed)\n"
		"      --probes LIST    of: sched, softirq, irq, socket, busypoll, napi, latency, drops, retransmits, wakeups, stacks,\n"
		"                       default, all\n"
		"                       (sched is always on; default: the first four, and busypoll where net.core.busy_read or busy_poll is set)\n"
		"      --plan PLAN      record socket operations by: fentry, tracepoints (default: the first that works)\n"
		"      --list-probes    what each probe is for, and how this kernel serves it\n"
		"  -p, --pid PID        latency: only what this process reads; any number of times, as the next\n"
		"  -i, --interface NAME latency: only what came in by this network device\n"
		"      --netns WHERE    latency: only in this network namespace: a file like /run/netns/NAME, or an inode\n"
		"      --cgroup PATH    latency: only what is read in this cgroup and those below it\n"
		"      --min-queue N    latency: only with at least N packets in the socket's queue\n"
		"      --latency-sample P  latency: record a packet with this probability, and how many it stands for\n"
		"  -F, --frequency HZ   stacks: samples a second on each CPU, 1 to 100000 (default: 999)\n"
		"      --stacks WHICH   stacks: network (the default: only what is the network's) or all\n"
		"      --user-stacks    stacks: user space's too\n"
		"      --ring-size SIZE buffer per CPU, e.g. 256k (the default); rounded up to a power of two\n"
		"      --bpf-stats      also have the kernel count and time each program (costs time)\n"
		"      --no-realtime    drain the rings at normal priority; more may be lost on a busy host\n"
		"  -q, --quiet          print nothing but errors\n"
		"  -- COMMAND ...       record while COMMAND runs; exit with its status\n");
}

/* "4M", "512k", "65536" to bytes, rounded up to a power of two. 0: not a size, or out of bounds. */
static size_t parse_size(const char *text)
{
	size_t size = 1;
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (end == text || errno || text[0] == '-' || value > GREATEST_RING_SIZE)
		return 0;
	switch (*end) {
	case 'g':
	case 'G':
		value <<= 10;
		/* fall through */
	case 'm':
	case 'M':
		value <<= 10;
		/* fall through */
	case 'k':
	case 'K':
		value <<= 10;
		end++;
	}
	if (*end || value < LEAST_RING_SIZE || value > GREATEST_RING_SIZE)
		return 0;
	while (size < value)
		size *= 2;
	return size;
}

static int misuse(int *exit_status, const char *what, const char *value)
{
	fprintf(stderr, "nettape-record: %s%s%s; see nettape-record --help\n", what, *value ? ": " : "", value);
	*exit_status = 2;
	return 1;
}

/* What of the packets probe `latency` is to record. */
static int parse_filter(struct nt_filter *filter, int option, int *exit_status)
{
	switch (option) {
	case 'p':
		if (!nt_filter_add_pid(filter, optarg))
			return misuse(exit_status, "-p wants the number of a process, 1,024 times at most", optarg);
		return 0;
	case 'i':
		if (!nt_filter_add_device(filter, optarg))
			return misuse(exit_status, "-i wants the name of a network device, 256 times at most", optarg);
		return 0;
	case OPT_MIN_QUEUE:
		if (!nt_filter_set_min_queue(filter, optarg))
			return misuse(exit_status, "--min-queue wants a number of packets", optarg);
		return 0;
	case OPT_LATENCY_SAMPLE:
		if (!nt_filter_set_sample(filter, optarg))
			return misuse(exit_status, "--latency-sample wants a probability, from 0.000001 to 1", optarg);
		return 0;
	case OPT_NETNS:
		filter->netns_text = optarg;
		return 0;
	default:
		filter->cgroup_path = optarg;
		return 0;
	}
}

/* How probe `stacks` is to sample. */
static int parse_stacks(struct nt_options *options, int option, int *exit_status)
{
	unsigned long hz;
	char *end;

	options->stacks_are_set = true;
	switch (option) {
	case 'F':
		hz = strtoul(optarg, &end, 10);
		if (end == optarg || *end || optarg[0] == '-' || !hz || hz > GREATEST_HZ)
			return misuse(exit_status, "-F wants samples a second, 1 to 100000", optarg);
		options->stacks_hz = hz;
		return 0;
	case OPT_STACKS:
		options->stacks_all = !strcmp(optarg, "all");
		if (!options->stacks_all && strcmp(optarg, "network"))
			return misuse(exit_status, "--stacks wants network or all", optarg);
		return 0;
	default:
		options->user_stacks = true;
		return 0;
	}
}

static int parse_one(struct nt_options *options, int option, int *exit_status)
{
	char bad[64];
	char *end;

	switch (option) {
	case 'o':
		if (strlen(optarg) + 64 > sizeof(options->output))
			return misuse(exit_status, "this path is too long for -o", "");
		strcpy(options->output, optarg);
		return 0;
	case 'd':
		options->duration_s = strtod(optarg, &end);
		if (end == optarg || *end || !isfinite(options->duration_s) || options->duration_s <= 0)
			return misuse(exit_status, "-d wants a number of seconds above 0", optarg);
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case 'p':
	case 'i':
	case OPT_NETNS:
	case OPT_CGROUP:
	case OPT_MIN_QUEUE:
	case OPT_LATENCY_SAMPLE:
		return parse_filter(&options->filter, option, exit_status);
	case 'F':
	case OPT_STACKS:
	case OPT_USER_STACKS:
		return parse_stacks(options, option, exit_status);
	case OPT_PROBES:
		if (!nt_plan_parse(&options->plan, optarg, bad, sizeof(bad)))
			return misuse(exit_status, "no such probe (nettape-record --list-probes names them)", bad);
		return 0;
	case OPT_PLAN:
		if (!nt_plan_only(&options->plan, optarg))
			return misuse(exit_status, "--plan wants fentry or tracepoints", optarg);
		return 0;
	case OPT_LIST_PROBES:
		options->list_probes = true;
		return 0;
	case OPT_RING_SIZE:
		options->ring_size = parse_size(optarg);
		if (!options->ring_size)
			return misuse(exit_status, "--ring-size wants 64k to 1G", optarg);
		return 0;
	case OPT_BPF_STATS:
		options->bpf_stats = true;
		return 0;
	case OPT_NO_REALTIME:
		options->no_realtime = true;
		return 0;
	case OPT_HELP:
		usage(stdout);
		*exit_status = 0;
		return 1;
	case OPT_VERSION:
		printf("nettape-record %s\n", NT_VERSION);
		*exit_status = 0;
		return 1;
	default:
		*exit_status = 2;
		return 1;
	}
}

static void join_command_line(char *out, size_t size, int argc, char **argv)
{
	size_t at = 0;
	int i;

	for (i = 0; i < argc && at < size; i++)
		at += snprintf(out + at, size - at, "%s%s", i ? " " : "", argv[i]);
	/* It becomes one line of the tape's meta block. */
	for (at = 0; out[at]; at++)
		if (out[at] == '\n')
			out[at] = ' ';
}

int nt_options_parse(struct nt_options *options, int argc, char **argv, int *exit_status)
{
	char bad[1];
	int option;

	memset(options, 0, sizeof(*options));
	options->ring_size = DEFAULT_RING_SIZE;
	options->stacks_hz = DEFAULT_HZ;
	nt_plan_parse(&options->plan, "default", bad, sizeof(bad));
	join_command_line(options->command_line, sizeof(options->command_line), argc, argv);
	while ((option = getopt_long(argc, argv, "+o:d:qp:i:F:", long_options, NULL)) != -1)
		if (parse_one(options, option, exit_status))
			return 1;
	if (optind < argc && strcmp(argv[optind - 1], "--"))
		return misuse(exit_status, "write -- before the command", argv[optind]);
	if (optind < argc)
		options->command = argv + optind;
	if (nt_filter_is_set(&options->filter) && !options->plan.on[NT_PROBE_LATENCY])
		return misuse(exit_status, "-p, -i, --netns, --cgroup, --min-queue and --latency-sample are for the probe latency, which is off: --probes default,latency", "");
	if (options->stacks_are_set && !options->plan.on[NT_PROBE_STACKS])
		return misuse(exit_status, "-F, --stacks and --user-stacks are for the probe stacks, which is off: --probes default,stacks", "");
	if (!options->output[0]) {
		time_t now = time(NULL);
		struct tm local;

		strftime(options->output, sizeof(options->output), "nettape-%Y%m%d-%H%M%S.tape",
			 localtime_r(&now, &local));
	}
	return 0;
}

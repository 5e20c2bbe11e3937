// SPDX-License-Identifier: GPL-2.0-only
/* options.c - see options.h. */
#include "record/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "record/arguments.h"
#include "schema/arg.h"

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
	OPT_USER,
	OPT_VERSION
};

static const struct nt_argument known[] = {
	{ "output", 'o', "busy.tape" },
	{ "duration", 'd', "10s" },
	{ "quiet", 'q', NULL },
	{ "pid", 'p', "1234" },
	{ "interface", 'i', "eth0" },
	{ "netns", OPT_NETNS, "/run/netns/blue" },
	{ "cgroup", OPT_CGROUP, "/sys/fs/cgroup/system.slice" },
	{ "min-queue", OPT_MIN_QUEUE, "10" },
	{ "latency-sample", OPT_LATENCY_SAMPLE, "0.01" },
	{ "frequency", 'F', "999" },
	{ "stacks", OPT_STACKS, "all" },
	{ "user-stacks", OPT_USER_STACKS, NULL },
	{ "probes", OPT_PROBES, "default,latency" },
	{ "plan", OPT_PLAN, "tracepoints" },
	{ "list-probes", OPT_LIST_PROBES, NULL },
	{ "ring-size", OPT_RING_SIZE, "1M" },
	{ "user", OPT_USER, "alice" },
	{ "bpf-stats", OPT_BPF_STATS, NULL },
	{ "no-realtime", OPT_NO_REALTIME, NULL },
	{ "help", 'h', NULL },
	{ "version", OPT_VERSION, NULL },
	{}
};
_Static_assert(sizeof(known) / sizeof(known[0]) <= NT_ARGUMENTS_MAX, "NT_ARGUMENTS_MAX");

static const char help[] =
	"usage: nettape-record [OPTION ...] [-- COMMAND ...]\n"
	"       nettape-record --list-probes\n"
	"\n"
	"Records what the network stack costs on this host. The recording ends with\n"
	"Ctrl-C, after the time of -d, or with COMMAND.\n"
	"\n"
	"  -o, --output DIR      write the tape to this directory, which is made\n"
	"                        (default: nettape-DATE-TIME.tape)\n"
	"  -d, --duration TIME   stop after this long: 10s, 2m, 500ms; 10 is 10 seconds\n"
	"      --probes LIST     record these, with commas between them: sched, softirq,\n"
	"                        irq, socket, busypoll, napi, latency, drops,\n"
	"                        retransmits, wakeups, stacks, default, all\n"
	"                        (sched is always on; default: the first four, and\n"
	"                        busypoll where net.core.busy_read or busy_poll is set)\n"
	"      --list-probes     print what each probe is for, and what it attaches to\n"
	"      --plan PLAN       record socket operations by fentry or by tracepoints\n"
	"                        (default: the first that works)\n"
	"      --ring-size SIZE  buffer of each CPU, such as 1M; rounded up to a power\n"
	"                        of two (default: 256k)\n"
	"      --user NAME       give the tape to this user (default: who called sudo or\n"
	"                        pkexec)\n"
	"      --bpf-stats       have the kernel count and time each program: costs time\n"
	"      --no-realtime     drain the rings at normal priority; a busy host may\n"
	"                        then lose more\n"
	"  -q, --quiet           print errors only\n"
	"  -h, --help            print this\n"
	"      --version         print the version\n"
	"  -- COMMAND ...        record while COMMAND runs; exit with its status\n"
	"\n"
	"Of the packets that the probe latency sees, record only those\n"
	"  -p, --pid PID         that this process reads; any number of times\n"
	"  -i, --interface NAME  that came in by this device; any number of times\n"
	"      --netns WHERE     in this network namespace: a file such as\n"
	"                        /run/netns/NAME, or an inode\n"
	"      --cgroup PATH     that are read in this cgroup and those below it\n"
	"      --min-queue N     with at least N packets in the socket's queue\n"
	"      --latency-sample P\n"
	"                        that are drawn with this probability; each says how\n"
	"                        many it stands for\n"
	"\n"
	"With the probe stacks\n"
	"  -F, --frequency HZ    take so many samples a second on each CPU, 1 to 100000\n"
	"                        (default: 999)\n"
	"      --stacks WHICH    network: only where the CPU works for the network (the\n"
	"                        default); all: everywhere\n"
	"      --user-stacks     also take the stacks of user space\n";

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
static int parse_stacks(struct nt_record_options *options, int option, int *exit_status)
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

static int parse_output(struct nt_record_options *options, int *exit_status)
{
	if (!*optarg || *optarg == '-')
		return misuse(exit_status, "-o wants a directory, such as busy.tape or ./-odd.tape", optarg);
	if (strlen(optarg) + 64 > sizeof(options->output))
		return misuse(exit_status, "this path is too long for -o", "");
	strcpy(options->output, optarg);
	return 0;
}

static int parse_duration(struct nt_record_options *options, int *exit_status)
{
	int64_t ns;

	if (nt_arg_duration(optarg, &ns) || !ns)
		return misuse(exit_status, "-d wants a time above 0, such as 10s, 2m or 500ms", optarg);
	options->duration_ns = (uint64_t)ns;
	return 0;
}

static int parse_probes(struct nt_record_options *options, int *exit_status)
{
	const char *words[NT_PROBE_COUNT + 3] = { "default", "all" }, *nearest;
	char bad[64], text[256];
	int i;

	if (nt_plan_parse(&options->plan, optarg, bad, sizeof(bad)))
		return 0;
	for (i = 0; i < NT_PROBE_COUNT; i++)
		words[i + 2] = nt_probes[i].name;
	nearest = nt_arg_nearest(bad, words);
	snprintf(text, sizeof(text), "unknown probe '%s'%s%s%s: --list-probes names them", bad,
		 nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
	return misuse(exit_status, text, "");
}

static int parse_user(struct nt_record_options *options, int *exit_status)
{
	char error[256];

	return nt_tape_owner_named(&options->owner, optarg, error, sizeof(error)) ? 0 : misuse(exit_status, error, "");
}

static int parse_one(struct nt_record_options *options, int option, int *exit_status)
{
	switch (option) {
	case 'o':
		return parse_output(options, exit_status);
	case 'd':
		return parse_duration(options, exit_status);
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
		return parse_probes(options, exit_status);
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
	case OPT_USER:
		return parse_user(options, exit_status);
	case OPT_BPF_STATS:
		options->bpf_stats = true;
		return 0;
	case OPT_NO_REALTIME:
		options->no_realtime = true;
		return 0;
	case 'h':
		fputs(help, stdout);
		*exit_status = 0;
		return 1;
	default:
		printf("nettape-record %s\n", NT_VERSION);
		*exit_status = 0;
		return 1;
	}
}

/* What stands behind the options: nothing, or "--" and a command. */
static int parse_command(struct nt_record_options *options, int argc, char **argv, int *exit_status)
{
	bool has_dashes = optind > 1 && !strcmp(argv[optind - 1], "--");

	if (optind < argc && !has_dashes)
		return misuse(exit_status, "write -o before the name of a tape, and -- before a command", argv[optind]);
	if (optind == argc && has_dashes)
		return misuse(exit_status, "there is no command behind --", "");
	if (optind < argc)
		options->command = argv + optind;
	return 0;
}

/* Options of a probe that is off would do nothing. */
static int check_probes(const struct nt_record_options *options, int *exit_status)
{
	if (nt_filter_is_set(&options->filter) && !options->plan.on[NT_PROBE_LATENCY])
		return misuse(exit_status, "-p, -i, --netns, --cgroup, --min-queue and --latency-sample are for the probe latency, which is off: --probes default,latency", "");
	if (options->stacks_are_set && !options->plan.on[NT_PROBE_STACKS])
		return misuse(exit_status, "-F, --stacks and --user-stacks are for the probe stacks, which is off: --probes default,stacks", "");
	return 0;
}

static void find_owner(struct nt_record_options *options)
{
	char warning[256];

	if (options->owner.is_asked)
		return;
	nt_tape_owner_of_caller(&options->owner, warning, sizeof(warning));
	if (warning[0] && !options->quiet)
		fprintf(stderr, "nettape-record: %s\n", warning);
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

int nt_record_options_parse(struct nt_record_options *options, int argc, char **argv, int *exit_status)
{
	char text[512];
	int option;

	memset(options, 0, sizeof(*options));
	options->ring_size = DEFAULT_RING_SIZE;
	options->stacks_hz = DEFAULT_HZ;
	options->program = argc ? argv[0] : "nettape-record";
	nt_plan_parse(&options->plan, "default", text, sizeof(text));
	join_command_line(options->command_line, sizeof(options->command_line), argc, argv);
	while ((option = nt_arguments_next(argc, argv, known, text, sizeof(text))) != -1) {
		if (option == NT_ARGUMENTS_WRONG)
			return misuse(exit_status, text, "");
		if (parse_one(options, option, exit_status))
			return 1;
	}
	if (parse_command(options, argc, argv, exit_status) || check_probes(options, exit_status))
		return 1;
	if (options->list_probes)
		return 0;
	find_owner(options);
	if (!options->output[0]) {
		time_t now = time(NULL);
		struct tm local;

		strftime(options->output, sizeof(options->output), "nettape-%Y%m%d-%H%M%S.tape",
			 localtime_r(&now, &local));
	}
	return 0;
}

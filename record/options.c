// SPDX-License-Identifier: GPL-2.0-only
/* options.c - see options.h. */
#include "record/options.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "schema/cli/option.h"
#include "record/gaps.h"
#include "record/wrap.h"
#include "schema/cli/arg.h"

#define DEFAULT_RING_SIZE (256u << 10) /* small enough to stay in a CPU's second-level cache: docs/overhead.md */
#define LEAST_RING_SIZE (64u << 10)
#define GREATEST_RING_SIZE (1u << 30)
#define LEAST_KEEP_NS 1000000000ull
#define LEAST_MAX_BYTES (16ull << 20)
#define DEFAULT_HZ 999 /* not 1,000: in step with nothing that comes a thousand times a second */
#define GREATEST_HZ 100000
#define HELP_INDENT 24 /* of the text beside an option */

/* ---- where values go: each gives false if the value is not one that its row "wants" ---- */

static bool set_path(char path[NT_OUTPUT_MAX], const struct nt_option_values *values, const char *option)
{
	if (!*values->text || values->text[0] == '-')
		return false;
	if (strlen(values->text) + 64 > NT_OUTPUT_MAX) {
		snprintf(values->error, values->error_size, "this path is too long for %s", option);
		return false;
	}
	strcpy(path, values->text);
	return true;
}

static bool set_output(void *member, const struct nt_option_values *values)
{
	return set_path(member, values, "-o");
}

static bool set_snapshots(void *member, const struct nt_option_values *values)
{
	return set_path(member, values, "--snapshot");
}

static bool set_duration(void *member, const struct nt_option_values *values)
{
	int64_t ns;

	if (nt_arg_duration(values->text, &ns) || !ns)
		return false;
	*(uint64_t *)member = (uint64_t)ns;
	return true;
}

static bool set_probes(void *member, const struct nt_option_values *values)
{
	const char *known[NT_PROBE_COUNT + 3] = {"default", "all"}, *nearest;
	char bad[64];

	if (nt_plan_parse(member, values->text, bad, sizeof(bad)))
		return true;
	for (int i = 0; i < NT_PROBE_COUNT; i++)
		known[i + 2] = nt_probes[i].name;
	nearest = nt_arg_nearest(bad, known);
	snprintf(values->error, values->error_size, "unknown probe '%s'%s%s%s: --list-probes names them", bad,
		 nearest ? " (did you mean '" : "", nearest ? nearest : "", nearest ? "'?)" : "");
	return false;
}

static bool set_plan(void *member, const struct nt_option_values *values)
{
	return nt_plan_only(member, values->text);
}

/* "4M", "512k", "65536" to bytes. False: not a size, or above an int64_t. */
static bool parse_bytes(const char *text, uint64_t *bytes)
{
	static const char units[] = "kKmMgGtT"; /* two letters each, 1,024 times the one before */
	const char *unit;
	char *end;
	int shift = 0;

	errno = 0;
	*bytes = strtoull(text, &end, 10);
	if (end == text || errno || strchr(text, '-'))
		return false;
	if (*end) {
		unit = strchr(units, *end);
		if (!unit || end[1])
			return false;
		shift = 10 * (int)((unit - units) / 2 + 1);
	}
	if (*bytes > (uint64_t)INT64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

/* Rounded up to a power of two. */
static bool set_ring_size(void *member, const struct nt_option_values *values)
{
	size_t size = LEAST_RING_SIZE;
	uint64_t bytes;

	if (!parse_bytes(values->text, &bytes) || bytes < LEAST_RING_SIZE || bytes > GREATEST_RING_SIZE)
		return false;
	while (size < bytes)
		size *= 2;
	*(size_t *)member = size;
	return true;
}

static bool set_keep(void *member, const struct nt_option_values *values)
{
	return set_duration(member, values) && *(uint64_t *)member >= LEAST_KEEP_NS;
}

/* How much is too little depends on other options: check_retention(). */
static bool set_max_size(void *member, const struct nt_option_values *values)
{
	return parse_bytes(values->text, member) && *(uint64_t *)member;
}

static bool set_min_free(void *member, const struct nt_option_values *values)
{
	return parse_bytes(values->text, member);
}

static bool set_user(void *member, const struct nt_option_values *values)
{
	return nt_tape_owner_named(member, values->text, values->error, values->error_size);
}

static bool add_pid(void *member, const struct nt_option_values *values)
{
	return nt_filter_add_pid(member, values->text);
}

static bool add_device(void *member, const struct nt_option_values *values)
{
	return nt_filter_add_device(member, values->text);
}

static bool set_min_queue(void *member, const struct nt_option_values *values)
{
	return nt_filter_set_min_queue(member, values->text);
}

static bool set_sample(void *member, const struct nt_option_values *values)
{
	return nt_filter_set_sample(member, values->text);
}

/* The keys by their numbers, and behind them what is none. */
static const char *const flow_words[] = {
#define X(NAME, name, many) #name,
	NT_FLOW_KEYS(X)
#undef X
		"exact",
	NULL};

/* "src,port": also by these. */
static bool set_flows(void *member, const struct nt_option_values *values)
{
	struct nt_flows_options *flows = member;
	char list[256], *word, *rest = list;

	if (snprintf(list, sizeof(list), "%s", values->text) >= (int)sizeof(list))
		return false;
	while ((word = strsep(&rest, ","))) {
		uint32_t i = 0;

		while (flow_words[i] && strcmp(word, flow_words[i]) != 0)
			i++;
		if (!flow_words[i])
			return false;
		if (i == NT_FLOW_KEY_SORTS)
			flows->is_exact = true;
		else
			flows->keys |= 1u << i;
	}
	return true;
}

static bool set_flow_sample(void *member, const struct nt_option_values *values)
{
	return nt_gaps_parse(values->text, member);
}

static bool set_sketch(void *member, const struct nt_option_values *values)
{
	return nt_sketch_shape_parse(values->text, member);
}

static bool set_hz(void *member, const struct nt_option_values *values)
{
	char *end;
	unsigned long hz = strtoul(values->text, &end, 10);

	if (end == values->text || *end || values->text[0] == '-' || !hz || hz > GREATEST_HZ)
		return false;
	*(unsigned int *)member = (unsigned int)hz;
	return true;
}

static bool set_stacks(void *member, const struct nt_option_values *values)
{
	bool is_all = !strcmp(values->text, "all");

	*(bool *)member = is_all;
	return is_all || !strcmp(values->text, "network");
}

/* ---- values that have names ---- */

static const char *probe_choice(unsigned int i)
{
	return i < NT_PROBE_COUNT	 ? nt_probes[i].name
	       : i == NT_PROBE_COUNT	 ? "default"
	       : i == NT_PROBE_COUNT + 1 ? "all"
					 : NULL;
}

static const char *plan_choice(unsigned int i)
{
	static const char *const plans[] = {"fentry", "tracepoints", "events", "ends", NULL};

	return plans[i];
}

static const char *stacks_choice(unsigned int i)
{
	static const char *const stacks[] = {"network", "all", NULL};

	return stacks[i];
}

static const char *flow_choice(unsigned int i)
{
	return flow_words[i];
}

/* ---- the table ---- */

#define TO(set, member) NT_TO(set, struct nt_record_options, member)

#define LATENCY                                                                                                        \
	.section = "Of the packets that the probes latency and transmit see, record only those", .tag = NT_PROBE_LATENCY
#define FLOWS .section = "With the probe flows", .tag = NT_PROBE_FLOWS
#define STACKS .section = "With the probe stacks", .tag = NT_PROBE_STACKS

/* The tag of an option is the probe that must be on: without it, the option would do nothing. */
static const struct nt_option table[] = {
	NT_OPTION("output", 'o', "DIR", "busy.tape", TO(set_output, output),
		  "the directory to make for the tape (default: nettape-DATE-TIME.tape)",
		  .wants = "a directory, such as busy.tape or ./-odd.tape"),
	NT_OPTION("duration", 'd', "TIME", "10s", TO(set_duration, duration_ns),
		  "stop after this long: 10s, 2m, 500ms; 10 is 10 seconds",
		  .wants = "a time above 0, such as 10s, 2m or 500ms"),
	NT_OPTION(
		"probes", 0, "LIST", "default,latency", TO(set_probes, plan),
		"record these probes, separated by commas: " NT_PROBE_NAMES
		"default, all (sched is always on; default: the first four, deliver and nettimers, and busypoll where "
		"net.core.busy_read or busy_poll is set)",
		.choice = probe_choice),
	NT_OPTION("list-probes", 0, NULL, NULL, TO(nt_option_set_true, list_probes),
		  "print what each probe is for, and what it attaches to"),
	NT_OPTION(
		"plan", 0, "PLAN", "tracepoints", TO(set_plan, plan),
		"record socket operations by fentry or by tracepoints (default: the first that works), by perf events, "
		"or only their ends: cheaper, but their time is the task's",
		.wants = "fentry, tracepoints, events or ends", .choice = plan_choice),
	NT_OPTION("ring-size", 0, "SIZE", "1M", TO(set_ring_size, ring_size),
		  "buffer of each CPU, such as 1M; rounded up to a power of two (default: 256k)", .wants = "64k to 1G"),
	NT_OPTION("keep", 0, "TIME", "10m", TO(set_keep, retention.keep_ns),
		  "be a flight recorder: keep the last 10m, say, and drop what is older",
		  .wants = "a time of 1s or more"),
	NT_OPTION("max-size", 0, "SIZE", "2G", TO(set_max_size, retention.max_bytes),
		  "keep this much at most, and drop the oldest", .wants = "a size such as 200M or 2G"),
	NT_OPTION("min-free", 0, "SIZE", "5G", TO(set_min_free, retention.min_free_bytes),
		  "leave this much of the disk free: drop the oldest, or stop (default: 5 % of the disk, 1G at most)",
		  .wants = "a size such as 5G, or 0"),
	NT_OPTION("snapshot", 0, "DIR", "/var/spikes", TO(set_snapshots, snapshots),
		  "at SIGUSR1, link what is there now into a tape in DIR, and go on (default: beside the tape)",
		  .wants = "a directory, such as /var/spikes"),
	NT_OPTION("start-at", 0, "TIME", "10s", TO(set_duration, start_at_ns),
		  "begin at the next multiple of TIME by the clock, so that many hosts begin together",
		  .wants = "a time above 0, such as 10s or 1m"),
	NT_OPTION("user", 0, "NAME", "alice", TO(set_user, owner),
		  "give the tape to this user (default: who called sudo or pkexec)"),
	NT_OPTION("serve", 0, NULL, NULL, TO(nt_option_set_true, serves),
		  "also show it in a browser while it is recorded: starts nettape-serve, as the user of the tape, and "
		  "prints the address"),
	NT_OPTION("bpf-stats", 0, NULL, NULL, TO(nt_option_set_true, bpf_stats),
		  "let the kernel count and time each program (costs time)"),
	NT_OPTION("no-realtime", 0, NULL, NULL, TO(nt_option_set_true, no_realtime),
		  "drain the rings at normal priority; a busy host may then lose more"),
	NT_OPTION("quiet", 'q', NULL, NULL, TO(nt_option_set_true, quiet), "print errors only"),
	NT_OPTION("help", 'h', NULL, NULL, TO(nt_option_set_true, help), "print this"),
	NT_OPTION("version", 0, NULL, NULL, TO(nt_option_set_true, version), "print the version"),

	NT_OPTION("pid", 'p', "PID", "1234", TO(add_pid, filter), "that this process reads or sends; may be repeated",
		  .wants = "the number of a process, 1,024 times at most", LATENCY),
	NT_OPTION("interface", 'i', "NAME", "eth0", TO(add_device, filter),
		  "that this device received or sends; may be repeated",
		  .wants = "the name of a network device, 256 times at most", LATENCY),
	NT_OPTION("netns", 0, "WHERE", "/run/netns/blue", TO(nt_option_set_text, filter.netns_text),
		  "in this network namespace: a file such as /run/netns/NAME, or an inode", LATENCY),
	NT_OPTION("cgroup", 0, "PATH", "/sys/fs/cgroup/system.slice", TO(nt_option_set_text, filter.cgroup_path),
		  "that are read or sent in this cgroup and those below it", LATENCY),
	NT_OPTION("min-queue", 0, "N", "10", TO(set_min_queue, filter),
		  "of latency: with at least N packets in the socket's queue", .wants = "a number of packets", LATENCY),
	NT_OPTION("latency-sample", 0, "P", "0.01", TO(set_sample, filter),
		  "that are sampled with this probability; each sample says how many packets it stands for",
		  .wants = "a probability, from 0.000001 to 1", LATENCY),

	NT_OPTION("flows", 0, "LIST", "src,port", TO(set_flows, flows),
		  "count also by src, dst or port, each in a sketch of its own; exact: each packet, without a sketch",
		  .wants = "a list of flow, src, dst, port, exact", .choice = flow_choice, FLOWS),
	NT_OPTION("flow-sample", 0, "P", "0.1", TO(set_flow_sample, flows.sample),
		  "sample each update of the sketch with this probability (default: 0.01)",
		  .wants = "a probability, from 0.000001 to 1", FLOWS),
	NT_OPTION("flow-sketch", 0, "RxC", "4x2048", TO(set_sketch, flows.shape),
		  "rows and columns of the sketch (default: 4x512)",
		  .wants = "rows and columns, both powers of two: 1 to 8 rows, 64 columns or more, 32,768 cells at "
			   "most, and "
			   "128 columns with 8 rows",
		  FLOWS),

	NT_OPTION("frequency", 'F', "HZ", "999", TO(set_hz, stacks_hz),
		  "samples a second on each CPU, 1 to 100000 (default: 999)", .wants = "samples a second, 1 to 100000",
		  STACKS),
	NT_OPTION("stacks", 0, "WHICH", "all", TO(set_stacks, stacks_all),
		  "network: only where the CPU works for the network (the default); all: everywhere",
		  .wants = "network or all", .choice = stacks_choice, STACKS),
	NT_OPTION("user-stacks", 0, NULL, NULL, TO(nt_option_set_true, user_stacks),
		  "also sample the stacks of user space", STACKS),
	NT_OPTIONS_END,
};
_Static_assert(sizeof(table) / sizeof(table[0]) <= NT_OPTIONS_MAX, "NT_OPTIONS_MAX");

/* ---- help, and completion ---- */

static void print_row(const char *label, const char *text)
{
	struct nt_wrap wrap;

	if (strlen(label) >= HELP_INDENT) {
		puts(label);
		label = "";
	}
	nt_wrap_begin(&wrap, stdout, HELP_INDENT, label);
	nt_wrap_words(&wrap, text);
	nt_wrap_end(&wrap);
}

/* The rows of the table from `row` on that have its section. Gives the first one behind them. */
static const struct nt_option *print_section(const struct nt_option *row)
{
	const char *section = row->section;
	char label[64] = "  ";

	for (; row->name && row->section == section; row++) {
		nt_option_label(row, label + 2, sizeof(label) - 2);
		print_row(label, row->help);
	}
	return row;
}

static void print_help(void)
{
	const struct nt_option *row;

	puts("usage: nettape-record [OPTION ...] [-- COMMAND ...]\n"
	     "       nettape-record --list-probes\n"
	     "\n"
	     "Records what the network stack costs on this host. The recording ends with\n"
	     "Ctrl-C, after the time of -d, or with COMMAND.\n");
	row = print_section(table);
	print_row("  -- COMMAND ...", "record while COMMAND runs; exit with its status");
	while (row->name) {
		printf("\n%s\n", row->section);
		row = print_section(row);
	}
}

/* For a shell: what may become of the last of these words. */
static void complete(int n, char **words)
{
	const char *last = n ? words[n - 1] : "";
	bool is_behind;
	int at = nt_option_complete(stdout, table, true, n, words, &is_behind);

	if (!at && is_behind)
		puts(":commands");
	else if (!at)
		nt_option_complete_names(stdout, table, last);
	else if (at > 0)
		puts(":files");
}

/* ---- the command line as a whole ---- */

static int misuse(int *exit_status, const char *what, const char *value)
{
	fprintf(stderr, "nettape-record: %s%s%s; see nettape-record --help\n", what, *value ? ": " : "", value);
	*exit_status = 2;
	return 1;
}

/* Nothing stands behind the options, or "--" and a command. */
static int take_command(struct nt_record_options *options, bool has_dashes, int n, char **words, int *exit_status)
{
	if (n && !has_dashes)
		return misuse(exit_status, "write -o before the name of a tape, and -- before a command", words[0]);
	if (!n && has_dashes)
		return misuse(exit_status, "there is no command after --", "");
	if (n)
		options->command = words;
	return 0;
}

/* The filters of packets are those of two probes, but for the length of the queue that a packet is read from. */
static bool is_of_use(const struct nt_plan *plan, const struct nt_option *option)
{
	return plan->on[option->tag] || (option->tag == NT_PROBE_LATENCY && plan->on[NT_PROBE_TRANSMIT] &&
					 strcmp(option->name, "min-queue") != 0);
}

/* Options of a probe that is off would do nothing. */
static int check_probes(const struct nt_record_options *options, uint64_t given, int *exit_status)
{
	char text[256], name[64];

	for (unsigned int i = 0; table[i].name; i++) {
		if (!(given >> i & 1) || is_of_use(&options->plan, &table[i]))
			continue;
		nt_option_short(&table[i], name, sizeof(name));
		snprintf(text, sizeof(text), "%s needs the probe %s, which is off: add --probes default,%s", name,
			 nt_probes[table[i].tag].name, nt_probes[table[i].tag].name);
		return misuse(exit_status, text, "");
	}
	return 0;
}

/* What probe flows was not told. */
static int complete_flows(struct nt_flows_options *flows, int *exit_status)
{
	if (flows->is_exact && (flows->sample > 0 || flows->shape.rows))
		return misuse(exit_status,
			      "--flows exact counts each packet: leave out --flow-sample and --flow-sketch", "");
	if (!(flows->sample > 0))
		flows->sample = flows->is_exact ? 1 : 0.01;
	if (!flows->is_exact && !flows->shape.rows)
		flows->shape = (struct nt_sketch_shape){.rows = 4, .column_bits = 9};
	return 0;
}

/* What is read of the rings at once must find room in a few chunks. */
static int check_retention(const struct nt_record_options *options, int *exit_status)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	const uint64_t least = LEAST_MAX_BYTES + 2 * options->ring_size * (uint64_t)(cpus > 0 ? cpus : 1);
	char text[128];

	if (!options->retention.max_bytes || options->retention.max_bytes >= least)
		return 0;
	snprintf(text, sizeof(text), "--max-size wants %lluM or more, with this many CPUs and this --ring-size",
		 (unsigned long long)((least + (1u << 20) - 1) >> 20));
	return misuse(exit_status, text, "");
}

static int print_and_end(const struct nt_record_options *options, int *exit_status)
{
	if (options->help)
		print_help();
	else
		printf("nettape-record %s\n", NT_VERSION);
	*exit_status = 0;
	return 1;
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

/* A tape of root's can be read by root alone. */
static int check_server(const struct nt_record_options *options, int *exit_status)
{
	if (!options->serves || geteuid() || options->owner.is_other)
		return 0;
	return misuse(
		exit_status,
		"--serve never shows a tape as root: call nettape-record by sudo as another user, or name one who "
		"gets the tape by --user",
		"");
}

static void name_output(struct nt_record_options *options)
{
	time_t now = time(NULL);
	struct tm local;

	if (!options->output[0])
		strftime(options->output, sizeof(options->output), "nettape-%Y%m%d-%H%M%S.tape",
			 localtime_r(&now, &local));
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

static void set_defaults(struct nt_record_options *options, int argc, char **argv)
{
	char bad[64];

	memset(options, 0, sizeof(*options));
	options->ring_size = DEFAULT_RING_SIZE;
	options->stacks_hz = DEFAULT_HZ;
	options->retention.min_free_bytes = NT_MIN_FREE_USUAL;
	options->flows.keys = 1u << NT_FLOW_KEY_FLOW;
	options->program = argc ? argv[0] : "nettape-record";
	nt_plan_parse(&options->plan, "default", bad, sizeof(bad));
	join_command_line(options->command_line, sizeof(options->command_line), argc, argv);
}

int nt_record_options_parse(struct nt_record_options *options, int argc, char **argv, int *exit_status)
{
	char error[512];
	struct nt_option_reader reader = {
		.options = table, .into = options, .stops = true, .error = error, .error_size = sizeof(error)};
	int n;

	if (argc > 1 && !strcmp(argv[1], "--complete")) {
		complete(argc - 2, argv + 2);
		*exit_status = 0;
		return 1;
	}
	set_defaults(options, argc, argv);
	n = nt_option_read(&reader, argc, argv);
	if (options->help || options->version)
		return print_and_end(options, exit_status);
	if (n < 0)
		return misuse(exit_status, error, "");
	if (take_command(options, reader.has_dashes, n, argv + 1, exit_status) ||
	    check_probes(options, reader.given, exit_status) || complete_flows(&options->flows, exit_status) ||
	    check_retention(options, exit_status))
		return 1;
	if (options->list_probes)
		return 0;
	find_owner(options);
	name_output(options);
	return check_server(options, exit_status);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - nettape-report: finds the command, parses its options, runs it.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "report/command.h"

static const struct nt_command *const commands[] = {
	&nt_cmd_info,	&nt_cmd_check, &nt_cmd_import,	&nt_cmd_symbolize, &nt_cmd_summary, &nt_cmd_timeline,
	&nt_cmd_stages, &nt_cmd_flame, &nt_cmd_latency, &nt_cmd_export,	   &nt_cmd_query,
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *out)
{
	fputs("usage: nettape-report COMMAND ...\n\n"
	      "Says what a recording of nettape-record holds: what the kernel's network stack cost.\n\n",
	      out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-9s %-42s %s\n", commands[i]->name, commands[i]->usage, commands[i]->what);
	fputs("\n  --help   --version   and for each command: nettape-report COMMAND --help\n\n"
	      "Exit status: 0 done, 1 failed, 2 misused. nettape-report(1) says more.\n",
	      out);
}

static void print_samples_help(unsigned int takes)
{
	puts("      --by WHAT    in groups by iface, cgroup, process, socket, cpu or port\n"
	     "      --hook NAME  only this hook; may be repeated\n"
	     "      --include-hol  also reads that had to wait for a segment that came late");
	if (takes & NT_TAKES_VIEW)
		puts("      --between HOOK HOOK  the time that packets took from one hook to the other\n"
		     "      --histogram  how many packets were how late\n"
		     "      --buckets N  that finely: N buckets in each doubling (1)\n"
		     "      --over-time  a heat map, of characters\n"
		     "      --svg FILE   a heat map, as a picture");
}

static void print_selection_help(unsigned int takes)
{
	if (takes & NT_TAKES_TIME)
		puts("      --from T, --to T  only this time: since the start (2.5, 300ms, 20us), or\n"
		     "                   UTC (2026-11-21T18:00:00Z)");
	if (takes & NT_TAKES_WHO)
		puts("      --cpu LIST   only these CPUs, like 0,2-5\n"
		     "      --process P  only the process with this pid or name");
}

static void print_stages_help(unsigned int takes)
{
	if (takes & NT_TAKES_OWNER)
		puts("      --owner LIST  only these owners, like net_rx,send (network)");
	if (takes & NT_TAKES_BY)
		puts("      --by WHAT    in groups: cpu, process, cgroup, or time");
	if (takes & NT_TAKES_STAGES)
		puts("      --inclusive  each stage with all that was done inside it\n"
		     "      --other      the stacks that no stage is known of, the dearest first");
	if (takes & NT_TAKES_FLAME)
		puts("      --folded     one line a stack: functions with ; between, and nanoseconds\n"
		     "      --user       stacks of user space too, where they were recorded\n"
		     "      --diff       how the second's shares differ from the first's");
}

static void print_lanes_help(void)
{
	puts("      --worst OWNER  where most of it is: an owner, or network\n"
	     "      --window T   in windows of this length (10ms)\n"
	     "      --top N      so many of them (5), none overlapping another\n"
	     "      --each-cpu   windows of single CPUs, not of all together\n"
	     "      --cells N    cut the time into so many cells (as many as a line has room for)");
}

static void print_help(const struct nt_command *command)
{
	printf("usage: nettape-report %s %s\n\n%s.\n", command->name, command->usage, command->what);
	if (command->help[0])
		printf("\n%s", command->help);
	puts("");
	if (command->takes & NT_TAKES_OUTPUT)
		puts("  -o, --output DB  where the database is written");
	if (command->takes & NT_TAKES_APPEND)
		puts("      --append     add to a database that is there already");
	if (command->takes & NT_TAKES_OUTPUT_IF)
		puts("  -o, --output FILE  write there, not to standard output");
	print_selection_help(command->takes);
	if (command->takes & NT_TAKES_LANES)
		print_lanes_help();
	print_stages_help(command->takes);
	if (command->takes & NT_TAKES_SAMPLES)
		print_samples_help(command->takes);
	if (command->takes & NT_TAKES_SYMBOLS)
		puts("      --symbols DIR  where programs and their symbols are, beside this system; may be\n"
		     "                   given 16 times: the functions of user stacks are named by files of\n"
		     "                   the same build id");
	if (command->takes & NT_TAKES_NO_SYMBOLS)
		puts("      --no-symbols  look at no such file");
	if (command->takes & NT_TAKES_FILE)
		puts("  -f, --file FILE  read the SQL from a file");
	if (command->takes & NT_TAKES_JSON)
		puts("      --json       for programs: JSON");
	if (command->takes & NT_TAKES_CSV)
		puts("      --csv        for programs: CSV");
	puts("  -h, --help       this text");
}

static int misused(const struct nt_command *command, const char *what)
{
	fprintf(stderr, "nettape-report %s: %s.\nusage: nettape-report %s %s\n", command->name, what, command->name,
		command->usage);
	return NT_EXIT_MISUSED;
}

enum {
	OPTION_JSON = 256,
	OPTION_CSV,
	OPTION_APPEND,
	OPTION_BY,
	OPTION_HOOK,
	OPTION_FROM,
	OPTION_TO,
	OPTION_CPU,
	OPTION_PROCESS,
	OPTION_INCLUDE_HOL,
	OPTION_BETWEEN,
	OPTION_HISTOGRAM,
	OPTION_BUCKETS,
	OPTION_OVER_TIME,
	OPTION_SVG,
	OPTION_CELLS,
	OPTION_WORST,
	OPTION_WINDOW,
	OPTION_TOP,
	OPTION_EACH_CPU,
	OPTION_OWNER,
	OPTION_INCLUSIVE,
	OPTION_OTHER,
	OPTION_FOLDED,
	OPTION_USER,
	OPTION_DIFF,
	OPTION_SYMBOLS,
	OPTION_NO_SYMBOLS
};

static const struct option long_options[] = {
	{"json", no_argument, NULL, OPTION_JSON},
	{"csv", no_argument, NULL, OPTION_CSV},
	{"append", no_argument, NULL, OPTION_APPEND},
	{"by", required_argument, NULL, OPTION_BY},
	{"hook", required_argument, NULL, OPTION_HOOK},
	{"from", required_argument, NULL, OPTION_FROM},
	{"to", required_argument, NULL, OPTION_TO},
	{"cpu", required_argument, NULL, OPTION_CPU},
	{"process", required_argument, NULL, OPTION_PROCESS},
	{"include-hol", no_argument, NULL, OPTION_INCLUDE_HOL},
	{"between", required_argument, NULL, OPTION_BETWEEN},
	{"histogram", no_argument, NULL, OPTION_HISTOGRAM},
	{"buckets", required_argument, NULL, OPTION_BUCKETS},
	{"over-time", no_argument, NULL, OPTION_OVER_TIME},
	{"svg", required_argument, NULL, OPTION_SVG},
	{"cells", required_argument, NULL, OPTION_CELLS},
	{"worst", required_argument, NULL, OPTION_WORST},
	{"window", required_argument, NULL, OPTION_WINDOW},
	{"top", required_argument, NULL, OPTION_TOP},
	{"each-cpu", no_argument, NULL, OPTION_EACH_CPU},
	{"owner", required_argument, NULL, OPTION_OWNER},
	{"inclusive", no_argument, NULL, OPTION_INCLUSIVE},
	{"other", no_argument, NULL, OPTION_OTHER},
	{"folded", no_argument, NULL, OPTION_FOLDED},
	{"user", no_argument, NULL, OPTION_USER},
	{"diff", no_argument, NULL, OPTION_DIFF},
	{"symbols", required_argument, NULL, OPTION_SYMBOLS},
	{"no-symbols", no_argument, NULL, OPTION_NO_SYMBOLS},
	{"output", required_argument, NULL, 'o'},
	{"file", required_argument, NULL, 'f'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* What a command must take for an option to be allowed. */
static unsigned int needs(int option)
{
	switch (option) {
	case OPTION_JSON:
		return NT_TAKES_JSON;
	case OPTION_CSV:
		return NT_TAKES_CSV;
	case OPTION_APPEND:
		return NT_TAKES_APPEND;
	case OPTION_BY:
		return NT_TAKES_SAMPLES | NT_TAKES_BY;
	case OPTION_HOOK:
	case OPTION_INCLUDE_HOL:
		return NT_TAKES_SAMPLES;
	case OPTION_OWNER:
		return NT_TAKES_OWNER;
	case OPTION_INCLUSIVE:
	case OPTION_OTHER:
		return NT_TAKES_STAGES;
	case OPTION_FOLDED:
	case OPTION_USER:
	case OPTION_DIFF:
		return NT_TAKES_FLAME;
	case OPTION_FROM:
	case OPTION_TO:
		return NT_TAKES_TIME;
	case OPTION_CPU:
	case OPTION_PROCESS:
		return NT_TAKES_WHO;
	case OPTION_BETWEEN:
	case OPTION_HISTOGRAM:
	case OPTION_BUCKETS:
	case OPTION_OVER_TIME:
	case OPTION_SVG:
		return NT_TAKES_VIEW;
	case OPTION_CELLS:
	case OPTION_WORST:
	case OPTION_WINDOW:
	case OPTION_TOP:
	case OPTION_EACH_CPU:
		return NT_TAKES_LANES;
	case OPTION_SYMBOLS:
		return NT_TAKES_SYMBOLS;
	case OPTION_NO_SYMBOLS:
		return NT_TAKES_NO_SYMBOLS;
	case 'o':
		return NT_TAKES_OUTPUT | NT_TAKES_OUTPUT_IF;
	case 'f':
		return NT_TAKES_FILE;
	default:
		return 0;
	}
}

/* The options that choose samples. 0, or -1: it lacks a value, or was given too often. */
static int set_sample(struct nt_latency_words *words, int option, int argc, char **argv)
{
	switch (option) {
	case OPTION_BY:
		words->by = optarg;
		return 0;
	case OPTION_HOOK:
		if (words->n_hooks == NT_MAX_HOOKS)
			return -1;
		words->hooks[words->n_hooks++] = optarg;
		return 0;
	case OPTION_BETWEEN:
		/* The one option with two values: the second is taken by hand. */
		if (optind >= argc || argv[optind][0] == '-')
			return -1;
		words->between[0] = optarg;
		words->between[1] = argv[optind++];
		return 0;
	default:
		words->include_hol = true;
		return 0;
	}
}

/* The options of timeline. Always 0, as the others. */
static int set_lanes(struct nt_lanes_words *words, int option)
{
	if (option == OPTION_EACH_CPU)
		words->each_cpu = true;
	else
		*(option == OPTION_CELLS    ? &words->cells
		  : option == OPTION_WORST  ? &words->worst
		  : option == OPTION_WINDOW ? &words->window
					    : &words->top) = optarg;
	return 0;
}

/* The options of stages and flame. Always 0, as the others. */
static int set_stages(struct nt_stage_words *words, int option)
{
	if (option == OPTION_OWNER)
		words->owners = optarg;
	else
		*(option == OPTION_INCLUSIVE ? &words->inclusive
		  : option == OPTION_OTHER   ? &words->other
		  : option == OPTION_FOLDED  ? &words->folded
		  : option == OPTION_USER    ? &words->user
					     : &words->diff) = true;
	return 0;
}

/* Where programs are looked for. 0, or -1: it was given too often. */
static int set_symbols(struct nt_symbol_words *words, int option)
{
	if (option == OPTION_NO_SYMBOLS) {
		words->none = true;
		return 0;
	}
	if (words->n_dirs == NT_MAX_SYMBOL_DIRS)
		return -1;
	words->dirs[words->n_dirs++] = optarg;
	return 0;
}

static int set(struct nt_options *options, int option, int argc, char **argv)
{
	switch (option) {
	case OPTION_JSON:
		options->format = NT_FORMAT_JSON;
		return 0;
	case OPTION_CSV:
		options->format = NT_FORMAT_CSV;
		return 0;
	case OPTION_APPEND:
		options->append = true;
		return 0;
	case OPTION_FROM:
		options->selection.from = optarg;
		return 0;
	case OPTION_TO:
		options->selection.to = optarg;
		return 0;
	case OPTION_CPU:
		options->selection.cpus = optarg;
		return 0;
	case OPTION_PROCESS:
		options->selection.process = optarg;
		return 0;
	case OPTION_HISTOGRAM:
		options->histogram = true;
		return 0;
	case OPTION_BUCKETS:
		options->buckets = optarg;
		return 0;
	case OPTION_OVER_TIME:
		options->over_time = true;
		return 0;
	case OPTION_SVG:
		options->svg = optarg;
		return 0;
	case OPTION_CELLS:
	case OPTION_WORST:
	case OPTION_WINDOW:
	case OPTION_TOP:
	case OPTION_EACH_CPU:
		return set_lanes(&options->lanes, option);
	case OPTION_OWNER:
	case OPTION_INCLUSIVE:
	case OPTION_OTHER:
	case OPTION_FOLDED:
	case OPTION_USER:
	case OPTION_DIFF:
		return set_stages(&options->stages, option);
	case OPTION_SYMBOLS:
	case OPTION_NO_SYMBOLS:
		return set_symbols(&options->symbols, option);
	case 'o':
		options->output = optarg;
		return 0;
	case 'f':
		options->file = optarg;
		return 0;
	default:
		return set_sample(&options->samples, option, argc, argv);
	}
}

/* Whether what is to be written would take the place of what is to be read. */
static bool is_read(const struct nt_options *options, const char *written)
{
	struct stat to, from;

	if (!written || stat(written, &to))
		return false;
	for (int i = 0; i < options->n_args; i++) {
		if (!stat(options->args[i], &from) && from.st_dev == to.st_dev && from.st_ino == to.st_ino)
			return true;
	}
	return false;
}

static int run(const struct nt_command *command, int argc, char **argv)
{
	struct nt_options options = {.format = NT_FORMAT_TABLE};
	int option, code;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "o:f:h", long_options, NULL)) != -1) {
		if (option == 'h') {
			print_help(command);
			return NT_EXIT_DONE;
		}
		if (!(command->takes & needs(option)) || set(&options, option, argc, argv)) {
			fprintf(stderr,
				"nettape-report %s: %s is no option of this command, or lacks its value.\n"
				"usage: nettape-report %s %s\n",
				command->name, argv[optind - 1], command->name, command->usage);
			return NT_EXIT_MISUSED;
		}
	}
	options.args = argv + optind;
	options.n_args = argc - optind;
	if (options.n_args < command->min_args)
		return misused(command, "something is missing");
	if (options.n_args > command->max_args)
		return misused(command, "there are too many arguments");
	if ((command->takes & NT_TAKES_OUTPUT) && !options.output)
		return misused(command, "-o DB is missing");
	if (is_read(&options, options.output) || is_read(&options, options.svg))
		return misused(command, "what is read would be overwritten: give another file to write");
	code = command->run(&options);
	if (fflush(stdout) || ferror(stdout))
		return nt_complain("the output cannot be written: is the disk full, or the reader gone?");
	return code;
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		print_usage(stderr);
		return NT_EXIT_MISUSED;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_usage(stdout);
		return NT_EXIT_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("nettape-report " NT_VERSION);
		return NT_EXIT_DONE;
	}
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (!strcmp(argv[1], commands[i]->name))
			return run(commands[i], argc - 1, argv + 1);
	}
	fprintf(stderr, "nettape-report: there is no command '%s'.\n", argv[1]);
	print_usage(stderr);
	return NT_EXIT_MISUSED;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - nettape-report: finds the command, parses its options, runs it.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "report/command.h"

static const struct nt_command *const commands[] = {&nt_cmd_info, &nt_cmd_check, &nt_cmd_import, &nt_cmd_summary,
						    &nt_cmd_query};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_usage(FILE *out)
{
	fputs("usage: nettape-report COMMAND ...\n\n"
	      "Says what a recording of nettape-record holds: what the kernel's network stack cost.\n\n",
	      out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-8s %-42s %s\n", commands[i]->name, commands[i]->usage, commands[i]->what);
	fputs("\n  --help   --version   and for each command: nettape-report COMMAND --help\n\n"
	      "Exit status: 0 done, 1 failed, 2 misused. nettape-report(1) says more.\n",
	      out);
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

enum { OPTION_JSON = 256, OPTION_CSV, OPTION_APPEND };

static const struct option long_options[] = {
	{"json", no_argument, NULL, OPTION_JSON},
	{"csv", no_argument, NULL, OPTION_CSV},
	{"append", no_argument, NULL, OPTION_APPEND},
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
	case 'o':
		return NT_TAKES_OUTPUT;
	case 'f':
		return NT_TAKES_FILE;
	default:
		return 0;
	}
}

static void set(struct nt_options *options, int option)
{
	switch (option) {
	case OPTION_JSON:
		options->format = NT_FORMAT_JSON;
		break;
	case OPTION_CSV:
		options->format = NT_FORMAT_CSV;
		break;
	case OPTION_APPEND:
		options->append = true;
		break;
	case 'o':
		options->output = optarg;
		break;
	default:
		options->file = optarg;
	}
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
		if (!(command->takes & needs(option))) {
			fprintf(stderr,
				"nettape-report %s: %s is no option of this command, or lacks its value.\n"
				"usage: nettape-report %s %s\n",
				command->name, argv[optind - 1], command->name, command->usage);
			return NT_EXIT_MISUSED;
		}
		set(&options, option);
	}
	options.args = argv + optind;
	options.n_args = argc - optind;
	if (options.n_args < command->min_args)
		return misused(command, "something is missing");
	if (options.n_args > command->max_args)
		return misused(command, "there are too many arguments");
	if ((command->takes & NT_TAKES_OUTPUT) && !options.output)
		return misused(command, "-o DB is missing");
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

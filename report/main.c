// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - nettape-report: finds the command, has its options read, runs it; and says what is wrong with a command
 * line.
 */
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/commands.h"
#include "report/complete.h"
#include "report/help.h"
#include "report/out/complain.h"
#include "report/out/interrupt.h"
#include "schema/cli/arg.h"
#include "schema/cli/option.h"

#define MAX_COMMANDS 32

static int misused(const struct nt_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The error, a line of usage, and where there is more. `command` NULL: it is not known which one was meant. */
static int misused(const struct nt_command *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	nt_complain_list(format, args);
	va_end(args);
	nt_help_usage(stderr, command);
	fprintf(stderr, "Help: nettape-report help%s%s\n", command ? " " : "", command ? command->name : "");
	return NT_EXIT_MISUSED;
}

/* ---- the command ---- */

/* Whether some commands have two words, and this is the first of them. */
static bool is_first_word(const char *word)
{
	for (size_t i = 0; nt_command_at(i); i++) {
		if (nt_command_second(nt_command_at(i), word))
			return true;
	}
	return false;
}

static int misused_second_word(const char *first, const char *second)
{
	const char *known[MAX_COMMANDS + 1], *nearest;
	size_t n = 0;

	for (size_t i = 0; nt_command_at(i) && n < MAX_COMMANDS; i++) {
		known[n] = nt_command_second(nt_command_at(i), first);
		n += known[n] != NULL;
	}
	known[n] = NULL;
	nearest = second ? nt_arg_nearest(second, known) : NULL;
	fprintf(stderr, "nettape-report: '%s' needs a format: ", first);
	for (size_t i = 0; i < n; i++)
		fprintf(stderr, "%s%s", i ? (i + 1 == n ? " or " : ", ") : "", known[i]);
	fprintf(stderr, "%s%s%s\n", nearest ? "; did you mean '" : ".", nearest ? nearest : "", nearest ? "'?" : "");
	fprintf(stderr, "usage: nettape-report %s FORMAT TAPE|DB -o FILE\nHelp: nettape-report help %s\n", first,
		first);
	return NT_EXIT_MISUSED;
}

/* The name of the command of two words whose second is this one, or NULL. */
static const char *find_second_word(const char *word)
{
	for (size_t i = 0; nt_command_at(i); i++) {
		const char *name = nt_command_at(i)->name, *blank = strchr(name, ' ');

		if (blank && !strcmp(blank + 1, word))
			return name;
	}
	return NULL;
}

static int misused_word(const char *word)
{
	const char *known[MAX_COMMANDS + 4] = {"help", "export", "record"}, *nearest;
	size_t n = 3;

	for (size_t i = 0; nt_command_at(i) && i < MAX_COMMANDS; i++)
		known[n++] = nt_command_at(i)->name;
	known[n] = NULL;
	nearest = find_second_word(word);
	nearest = nearest ? nearest : nt_arg_nearest(word, known);
	if (nearest && !strcmp(nearest, "record"))
		return misused(NULL, "there is no command '%s'; to record, run nettape-record.", word);
	if (nearest)
		return misused(NULL, "there is no command '%s'; did you mean '%s'?", word, nearest);
	if (word[0] == '-')
		return misused(NULL, "unknown option '%s'; the command comes first.", word);
	if (!access(word, F_OK))
		return misused(NULL, "there is no command '%s'; to see what is in that file: nettape-report summary %s",
			       word, word);
	return misused(NULL, "there is no command '%s'.", word);
}

/* ---- its options: the reading is cli/'s; here is what one command knows of the others' ---- */

static bool has(const struct nt_command *command, const char *written)
{
	for (const struct nt_option *option = command->options; option->name; option++) {
		if (written[1] == '-' ? !strcmp(option->name, written + 2) : option->letter == written[1])
			return true;
	}
	return false;
}

/* If other commands have the unknown option, says which. */
static void explain_unknown(const struct nt_command *command, const char *written, char error[NT_ERROR_MAX])
{
	const struct nt_command *other;
	char list[300] = "";
	size_t at = 0;

	for (size_t i = 0; (other = nt_command_at(i)) && at < sizeof(list); i++) {
		if (has(other, written))
			at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", at ? ", " : "", other->name);
	}
	if (at)
		nt_fail(error, "option '%s' is not for '%s'; it is for %s", written, command->name, list);
}

/* Something that must be given and is not: "'import' needs -o DB: the database to make". */
static int fail_missing(const struct nt_command *command, const struct nt_option *option, char error[NT_ERROR_MAX])
{
	char name[64];

	nt_option_short(option, name, sizeof(name));
	return nt_fail(error, "'%s' needs %s %s: %s", command->name, name, option->value, option->help);
}

static int read_options(struct nt_options *options, const struct nt_command *command, int argc, char **argv,
			char error[NT_ERROR_MAX])
{
	struct nt_option_reader reader = {
		.options = command->options, .into = options, .error = error, .error_size = NT_ERROR_MAX};
	const struct nt_option *missing;

	options->args = argv + 1;
	options->n_args = nt_option_read(&reader, argc, argv);
	if (reader.unknown[0])
		explain_unknown(command, reader.unknown, error);
	if (options->n_args < 0)
		return -1;
	missing = options->help ? NULL : nt_option_missing(&reader);
	return missing ? fail_missing(command, missing, error) : 0;
}

/* ---- running it ---- */

/* The argument that is this file, or NULL. */
static const char *find_argument(const struct nt_options *options, const char *path)
{
	struct stat file, of_argument;

	if (!path || stat(path, &file))
		return NULL;
	for (int i = 0; i < options->n_args; i++) {
		if (!stat(options->args[i], &of_argument) && of_argument.st_dev == file.st_dev &&
		    of_argument.st_ino == file.st_ino)
			return options->args[i];
	}
	return NULL;
}

/* The argument that an option would have written over, or NULL. */
static const char *find_overwritten(const struct nt_command *command, const struct nt_options *options)
{
	const char *found = NULL;

	for (const struct nt_option *option = command->options; option->name && !found; option++) {
		if (option->is_written)
			found = find_argument(options, *(const char *const *)((const char *)options + option->member));
	}
	return found;
}

/* Checks the arguments as such: their number, and the files to be written. Gives an exit code. */
static int check_arguments(const struct nt_command *command, const struct nt_options *options)
{
	const char *read;

	if (options->n_args < command->min_args)
		return misused(command, "'%s' needs %s.", command->name, command->wants);
	if (options->n_args > command->max_args)
		return misused(command, "too many arguments for '%s': '%s' is the first surplus one%s.", command->name,
			       options->args[command->max_args], command->surplus ? command->surplus : "");
	if (options->limit && options->format != NT_FORMAT_TABLE)
		return misused(command, "--limit applies to tables only: JSON and CSV always have all rows.");
	read = find_overwritten(command, options);
	if (read)
		return misused(command, "'%s' is read and would be overwritten: give another file to write.", read);
	return NT_EXIT_DONE;
}

/* Whoever ends the program before it makes its file is told that there is none. A pipe may have got a part. */
static void expect_interrupts(const struct nt_command *command, const struct nt_options *options)
{
	for (const struct nt_option *option = command->options; option->name; option++) {
		const char *path =
			option->is_written ? *(const char *const *)((const char *)options + option->member) : NULL;
		struct stat file;

		if (path && (stat(path, &file) || S_ISREG(file.st_mode)))
			nt_interrupt_removes(NULL, path);
	}
}

static int run(const struct nt_command *command, int argc, char **argv)
{
	struct nt_options options = {.format = NT_FORMAT_TABLE};
	char error[NT_ERROR_MAX];
	int code;

	if (read_options(&options, command, argc, argv, error))
		return misused(command, "%s.", error);
	if (options.help) {
		nt_help_command(command);
		return NT_EXIT_DONE;
	}
	code = check_arguments(command, &options);
	if (!code) {
		expect_interrupts(command, &options);
		code = command->run(&options);
	}
	if (fflush(stdout) || ferror(stdout))
		return nt_complain("the output cannot be written completely: is the disk full, the reader gone, or no "
				   "memory left?");
	return code;
}

/* ---- help ---- */

static bool is_help(const char *word)
{
	return !strcmp(word, "--help") || !strcmp(word, "-h");
}

/* help [COMMAND] */
static int help(int argc, char **argv)
{
	const struct nt_command *command;
	int n;

	if (argc < 1) {
		nt_help_overview(stdout);
		return NT_EXIT_DONE;
	}
	command = nt_command_find(argv[0], argc > 1 ? argv[1] : NULL, &n);
	if (command)
		nt_help_command(command);
	else if (!is_first_word(argv[0]))
		return misused_word(argv[0]);
	else if (argc > 1)
		return misused_second_word(argv[0], argv[1]);
	else
		nt_help_commands(argv[0]);
	return NT_EXIT_DONE;
}

/*
 * A large buffer that is freed goes back to the system. Without this glibc raises its bound at the first one, and keeps
 * those that follow, in pieces.
 */
static void give_back_large_buffers(void)
{
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
}

int main(int argc, char **argv)
{
	const struct nt_command *command;
	int n;

	give_back_large_buffers();
	if (argc < 2) {
		nt_help_overview(stderr);
		return NT_EXIT_MISUSED;
	}
	if (is_help(argv[1]) || !strcmp(argv[1], "help"))
		return help(argc - 2, argv + 2);
	if (!strcmp(argv[1], "--complete")) {
		nt_complete(argc - 2, argv + 2);
		return NT_EXIT_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("nettape-report " NT_VERSION);
		return NT_EXIT_DONE;
	}
	command = nt_command_find(argv[1], argv[2], &n);
	if (command)
		return run(command, argc - n, argv + n);
	if (!is_first_word(argv[1]))
		return misused_word(argv[1]);
	if (!argv[2] || !is_help(argv[2]))
		return misused_second_word(argv[1], argv[2]);
	return help(1, argv + 1);
}

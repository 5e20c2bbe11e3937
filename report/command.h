/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * command.h - the commands of nettape-report, and what they share: options, exit codes, the way they complain. main.c
 * parses; each cmd_*.c is one command.
 */
#ifndef NT_REPORT_COMMAND_H
#define NT_REPORT_COMMAND_H

#include <stdbool.h>

#include "report/output.h"

enum nt_exit { NT_EXIT_DONE = 0, NT_EXIT_FAILED = 1, NT_EXIT_MISUSED = 2 };

/* What a command was given. */
struct nt_options {
	enum nt_format format; /* --json, --csv */
	const char *output; /* -o, or NULL */
	const char *file; /* -f, or NULL */
	bool append; /* --append */
	char **args; /* what is no option */
	int n_args;
};

#define NT_TAKES_JSON 0x01u
#define NT_TAKES_CSV 0x02u
#define NT_TAKES_OUTPUT 0x04u /* and needs it */
#define NT_TAKES_FILE 0x08u
#define NT_TAKES_APPEND 0x10u

struct nt_command {
	const char *name;
	const char *usage; /* behind the name */
	const char *what; /* one line */
	const char *help; /* more lines, or "" */
	unsigned int takes; /* NT_TAKES_* */
	int min_args, max_args;
	int (*run)(const struct nt_options *options); /* gives an exit code */
};

extern const struct nt_command nt_cmd_info, nt_cmd_check, nt_cmd_import, nt_cmd_summary, nt_cmd_query;

/* Prints one sentence on stderr, ahead of it the program's name. Gives NT_EXIT_FAILED. */
int nt_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif

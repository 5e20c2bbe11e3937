/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h - the options of all commands, as one table: how each is written, which commands take it, where its value
 * goes, and its line of help. A new option is one row in options.c. Prints nothing.
 */
#ifndef NT_REPORT_OPTIONS_H
#define NT_REPORT_OPTIONS_H

#include <stddef.h>

#include "report/cmd/command.h"

struct nt_option {
	const char *name; /* behind the two dashes */
	char letter; /* behind one dash; 0: it has none */
	int n_values; /* 0, 1 or 2 */
	const char *value; /* as the help calls it; NULL: it takes none */
	const char *such_as; /* a value, for messages */
	unsigned int takes; /* NT_TAKES_*: one of these bits is enough for a command to have it */
	/* Puts the values into that member of struct nt_options. 0, or -1: it was given too often. */
	int (*set)(void *member, const char *const values[2]);
	size_t member; /* its offset */
	const char *help; /* NULL: an old name that still works */
};

/* All rows in the order of the help; one name may have several, for different commands. NULL: no more. */
const struct nt_option *nt_option_at(size_t i);

/*
 * Reads options and arguments, which may stand in any order, up to "--" if there is one. argv[0] is not looked at; the
 * arguments are moved to its front. 0, or -1 and a sentence without its full stop in `error`.
 */
int nt_options_read(struct nt_options *options, const struct nt_command *command, int argc, char **argv, char *error,
		    size_t error_size);

#endif

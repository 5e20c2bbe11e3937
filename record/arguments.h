/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arguments.h - walks a command line with getopt, by one table of options, and says in our words what is wrong with it.
 * Uses getopt's globals: optind, optarg.
 */
#ifndef NT_RECORD_ARGUMENTS_H
#define NT_RECORD_ARGUMENTS_H

#include <stddef.h>

struct nt_argument {
	const char *name; /* of the long option */
	int id; /* its letter, or a number above 255 if it has none */
	const char *example; /* of its value; NULL: it takes none */
};

#define NT_ARGUMENTS_MAX 40 /* options in a table */
#define NT_ARGUMENTS_WRONG '?'

/*
 * The id of the next option, whose value is in optarg; -1 behind the last one, with optind at what follows;
 * NT_ARGUMENTS_WRONG with a sentence in `error`. `known` ends with a NULL name.
 */
int nt_arguments_next(int argc, char **argv, const struct nt_argument *known, char *error, size_t size);

#endif

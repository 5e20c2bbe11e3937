/* SPDX-License-Identifier: GPL-2.0-only */
/* options.h - reads the command line of a command by its table of options. Prints nothing. */
#ifndef NT_REPORT_OPTIONS_H
#define NT_REPORT_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "report/cmd/command.h"

/*
 * Reads options and arguments, which may stand in any order, up to "--" if there is one. argv[0] is not looked at; the
 * arguments are moved to its front. 0, or -1 and a sentence without its full stop in `error`.
 */
int nt_options_read(struct nt_options *options, const struct nt_command *command, int argc, char **argv, char *error,
		    size_t error_size);

#endif

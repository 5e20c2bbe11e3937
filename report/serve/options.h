/* SPDX-License-Identifier: GPL-2.0-only */
/* options.h - the command line of nettape-serve. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/serve/listener.h"

#define NT_SERVE_NAMES_MAX 16

struct nt_serve_options {
	const char *path; /* a tape, or a directory of tapes */
	struct nt_listener listener;
	const char *token_file; /* NULL: a new token */
	const char *names[NT_SERVE_NAMES_MAX]; /* of the host */
	size_t n_names;
	int64_t limit;
	int64_t query_ns; /* that a query may take; 0: none is answered */
	bool help, version;
};

/* False: the program ends with this exit status. What is wrong, or was asked for, has been printed. */
bool nt_serve_options_read(struct nt_serve_options *options, int argc, char **argv, int *exit_status);

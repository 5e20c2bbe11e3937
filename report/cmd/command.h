/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * command.h - the commands of nettape-report, and what they are given. Each is a file of cmd/, with the table of its
 * options, but `mcp`, which is a folder; main.c finds and runs them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/export/export.h"
#include "report/out/complain.h"
#include "report/out/output.h"
#include "report/query/cpus/choice.h"
#include "report/query/latency/choice.h"
#include "report/query/stages/choice.h"
#include "report/symbols/user_names.h"
#include "schema/cli/option.h"

/* More rows than any table has. */
#define NT_LIMIT_ALL INT32_MAX

/* The options and arguments of a command. */
struct nt_options {
	enum nt_format format; /* --json, --csv */
	const char *output; /* -o, or NULL */
	const char *file; /* -f, or NULL */
	bool append; /* --append */
	const char *tables; /* --tables, or NULL */
	bool sums; /* --sums */
	struct nt_selection_args selection; /* --from, --to, --cpu, --process */
	const char *iface; /* --iface, or NULL */
	struct nt_latency_args samples; /* --by, --hook, --include-hol, --between */
	struct nt_lanes_args lanes; /* --cells, --worst, --window, --top, --each-cpu */
	struct nt_stage_args stages; /* --owner, --inclusive, --other, --folded, --user-stacks, --diff */
	struct nt_symbol_args symbols; /* --symbols, --no-symbols */
	const char *names; /* --names, or NULL */
	int64_t limit; /* --limit: rows of a table for people; NT_LIMIT_ALL; 0: not given */
	int64_t follow_s, timeout_s; /* --follow, --timeout: seconds; 0: not given */
	bool histogram, over_time; /* --histogram, --over-time */
	const char *buckets, *svg; /* --buckets, --svg, or NULL */
	const char *sql, *of; /* of tools of mcp; NULL: not given */
	bool help; /* --help */
	char **args; /* what is no option */
	int n_args;
};

enum nt_command_group { NT_GROUP_NONE, NT_GROUP_LOOK, NT_GROUP_DEEPER, NT_GROUP_TAKE };

struct nt_command {
	const char *name; /* one word, or two: "export html" */
	enum nt_command_group group; /* in the overview of help */
	const char *usage; /* behind the name; at most 80 columns with it */
	const char *what; /* what it does, from its verb on, without a full stop */
	const char *help; /* more sentences, or "": wrapped when printed */
	const char *example; /* behind the program's name */
	const char *wants; /* its arguments: "a tape or a database" */
	const char *surplus; /* behind the surplus argument: what to do, or NULL */
	const struct nt_option *options;
	int min_args, max_args;
	int (*run)(const struct nt_options *options); /* gives an exit code */
};

/* X(name): the commands, each nt_cmd_<name> in a file <name>.c, in the order of the help: by what somebody wants to do.
 */
#define NT_COMMANDS(X)                                                                                                 \
	X(summary)                                                                                                     \
	X(timeline)                                                                                                    \
	X(info)                                                                                                        \
	X(check)                                                                                                       \
	X(stages)                                                                                                      \
	X(flame)                                                                                                       \
	X(latency)                                                                                                     \
	X(drops)                                                                                                       \
	X(retransmits)                                                                                                 \
	X(wakeups)                                                                                                     \
	X(top)                                                                                                         \
	NT_EXPORTS(X)                                                                                                  \
	X(import)                                                                                                      \
	X(query)                                                                                                       \
	X(mcp)                                                                                                         \
	X(symbolize)

#define X(name) extern const struct nt_command nt_cmd_##name;
NT_COMMANDS(X)
#undef X

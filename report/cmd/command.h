/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * command.h - the commands of nettape-report, and what they are given. Each file of cmd/ with an nt_cmd_* is
 * one command; options.c has their options, main.c finds and runs them.
 */
#ifndef NT_REPORT_CMD_COMMAND_H
#define NT_REPORT_CMD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "report/out/complain.h"
#include "report/out/output.h"
#include "report/query/cpus/choice.h"
#include "report/query/latency/choice.h"
#include "report/query/stages/choice.h"
#include "report/symbols/user_names.h"

/* What a command was given. */
struct nt_options {
	enum nt_format format; /* --json, --csv */
	const char *output; /* -o, or NULL */
	const char *file; /* -f, or NULL */
	bool append; /* --append */
	struct nt_selection_words selection; /* --from, --to, --cpu, --process */
	struct nt_latency_words samples; /* --by, --hook, --include-hol, --between */
	struct nt_lanes_words lanes; /* --cells, --worst, --window, --top, --each-cpu */
	struct nt_stage_words stages; /* --owner, --inclusive, --other, --folded, --user-stacks, --diff */
	struct nt_symbol_words symbols; /* --symbols, --no-symbols */
	bool histogram, over_time; /* --histogram, --over-time */
	const char *buckets, *svg; /* --buckets, --svg, or NULL */
	bool help; /* --help */
	char **args; /* what is no option */
	int n_args;
};

#define NT_TAKES_JSON 0x01u
#define NT_TAKES_CSV 0x02u
#define NT_TAKES_OUTPUT 0x04u /* -o DB, and needs it */
#define NT_TAKES_FILE 0x08u
#define NT_TAKES_APPEND 0x10u
#define NT_TAKES_OUTPUT_IF 0x20u /* -o FILE, else it is standard output */
#define NT_TAKES_SAMPLES 0x40u /* what chooses samples: --by, --hook, --include-hol */
#define NT_TAKES_VIEW 0x80u /* --between, --histogram, --buckets, --over-time, --svg */
#define NT_TAKES_TIME 0x100u /* --from, --to */
#define NT_TAKES_WHO 0x200u /* --cpu, --process */
#define NT_TAKES_LANES 0x400u /* --cells, --worst, --window, --top, --each-cpu */
#define NT_TAKES_OWNER 0x800u /* --owner */
#define NT_TAKES_BY 0x1000u /* --by, as for stages */
#define NT_TAKES_STAGES 0x2000u /* --inclusive, --other */
#define NT_TAKES_FLAME 0x4000u /* --folded, --user-stacks, --diff */
#define NT_TAKES_SYMBOLS 0x8000u /* --symbols */
#define NT_TAKES_NO_SYMBOLS 0x10000u /* --no-symbols */
#define NT_TAKES_OUTPUT_FILE 0x20000u /* -o FILE, and needs it */
#define NT_TAKES_GROUP 0x40000u /* --by, as for summary */
#define NT_TAKES_HELP 0x80000000u /* every command does */

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
	unsigned int takes; /* NT_TAKES_* */
	int min_args, max_args;
	int (*run)(const struct nt_options *options); /* gives an exit code */
};

extern const struct nt_command nt_cmd_info, nt_cmd_check, nt_cmd_import, nt_cmd_summary, nt_cmd_query, nt_cmd_latency,
	nt_cmd_export_html, nt_cmd_export_perfetto, nt_cmd_export_prometheus, nt_cmd_timeline, nt_cmd_stages,
	nt_cmd_flame, nt_cmd_symbolize;

/* All of them, in the order of the help. NULL: no more. */
const struct nt_command *nt_command_at(size_t i);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h - options that several commands have, as rows for their tables (schema/cli/option.h). An option of
 * one command alone stands in its own table. The rows fill struct nt_options.
 *
 * --limit is of tables for people. Programs get all rows: main.c refuses it beside --json and --csv.
 */
#pragma once

#include "report/cmd/command.h"
#include "schema/cli/option.h"

/* A row for a member: true if it is given; the text of its value. */
#define NT_FLAG(name, member, help)                                                                                    \
	NT_OPTION(name, 0, NULL, NULL, NT_TO(nt_option_set_true, struct nt_options, member), help)
#define NT_TEXT(name, value, example, member, help, ...)                                                               \
	NT_OPTION(name, 0, value, example, NT_TO(nt_option_set_text, struct nt_options, member), help, __VA_ARGS__)

#define NT_OPTION_OUTPUT(value, example, help, ...)                                                                    \
	NT_OPTION("output", 'o', value, example, NT_TO(nt_option_set_text, struct nt_options, output), help,           \
		  .is_written = true, __VA_ARGS__)
#define NT_OPTION_OUTPUT_OR_NOT NT_OPTION_OUTPUT("FILE", "busy.out", "the file to write; without it, standard output")

#define NT_OPTIONS_TIME                                                                                                \
	NT_TEXT("from", "T", "2.5s", selection.from,                                                                   \
		"begin here: a time since the start of the recording (2.5, 300ms, 20us), or UTC "                      \
		"(2026-11-21T18:00:00Z)"),                                                                             \
		NT_TEXT("to", "T", "2.5s", selection.to, "end here")
#define NT_OPTION_CPU NT_TEXT("cpu", "LIST", "0,2-5", selection.cpus, "only these CPUs, such as 0,2-5")
#define NT_OPTIONS_WHO                                                                                                 \
	NT_OPTION_CPU, NT_TEXT("process", "P", "nginx", selection.process, "only the process with this pid or name")

#define NT_OPTION_BY_COST                                                                                              \
	NT_TEXT("by", "WHAT", "program", samples.by,                                                                   \
		"one group for each program, process, port, peer, cgroup, socket or iface",                            \
		.choice = nt_choose_cost_group)
#define NT_OPTION_BY_LATENCY                                                                                           \
	NT_TEXT("by", "WHAT", "process", samples.by,                                                                   \
		"one group for each program, process, port, cgroup, socket, iface or cpu",                             \
		.choice = nt_choose_latency_group)
#define NT_OPTION_BY_STAGE                                                                                             \
	NT_TEXT("by", "WHAT", "process", samples.by,                                                                   \
		"one group for each process, payer, cgroup, cpu, or step of time", .choice = nt_choose_stage_group)
#define NT_OPTION_BY_FLAME                                                                                             \
	NT_TEXT("by", "WHAT", "process", samples.by, "one group for each process, payer, cgroup or cpu",               \
		.choice = nt_choose_flame_group)
#define NT_OPTION_BY_FLOW                                                                                              \
	NT_TEXT("by", "WHAT", "src", samples.by, "one row for each flow (default), src, dst or port",                  \
		.choice = nt_choose_flow_group)
#define NT_OPTION_OWNER                                                                                                \
	NT_TEXT("owner", "LIST", "net_rx,send", stages.owners,                                                         \
		"only the time of these owners, such as net_rx,send (network)", .choice = nt_choose_owner)

#define NT_OPTION_HOOK                                                                                                 \
	NT_OPTION("hook", 0, "NAME", "ip-start", NT_TO(nt_add_hook, struct nt_options, samples),                       \
		  "only this hook; may be repeated", .choice = nt_choose_hook)
#define NT_OPTION_INCLUDE_HOL                                                                                          \
	NT_FLAG("include-hol", samples.include_hol, "include reads that waited for a late segment (head of line)")

#define NT_OPTION_LIMIT(help)                                                                                          \
	NT_OPTION("limit", 0, "N", "20", NT_TO(nt_set_limit, struct nt_options, limit), help,                          \
		  .wants = "a number of rows from 1 on, or all", .choice = nt_choose_limit)

#define NT_OPTION_SYMBOLS                                                                                              \
	NT_OPTION("symbols", 0, "DIR", "./unpacked", NT_TO(nt_add_symbols, struct nt_options, symbols),                \
		  "look here, too, for programs and symbols of the same build id; may be repeated")
#define NT_OPTION_NO_SYMBOLS NT_FLAG("no-symbols", symbols.none, "do not look for programs and symbols")

#define NT_OPTION_NAMES                                                                                                \
	NT_TEXT("names", "FILE", "names.txt", names,                                                                   \
		"names of containers and cgroups: on each line an id, pod's uid or path, then the name")

#define NT_OPTION_JSON                                                                                                 \
	NT_OPTION("json", 0, NULL, NULL, NT_TO(nt_set_json, struct nt_options, format), "print JSON, for programs")
#define NT_OPTION_CSV                                                                                                  \
	NT_OPTION("csv", 0, NULL, NULL, NT_TO(nt_set_csv, struct nt_options, format), "print CSV, for programs")
#define NT_OPTION_HELP                                                                                                 \
	NT_OPTION("help", 'h', NULL, NULL, NT_TO(nt_option_set_true, struct nt_options, help), "show this text")

/* Where values go, beside the ways of schema/cli/option.h. */
bool nt_add_hook(void *samples, const struct nt_option_values *values);
bool nt_add_symbols(void *symbols, const struct nt_option_values *values);
bool nt_set_limit(void *limit, const struct nt_option_values *values);
bool nt_set_json(void *format, const struct nt_option_values *values);
bool nt_set_csv(void *format, const struct nt_option_values *values);

/* Values that have names: the i-th, or NULL. */
const char *nt_choose_cost_group(unsigned int i);
const char *nt_choose_latency_group(unsigned int i);
const char *nt_choose_flame_group(unsigned int i);
const char *nt_choose_stage_group(unsigned int i);
const char *nt_choose_flow_group(unsigned int i);
const char *nt_choose_owner(unsigned int i);
const char *nt_choose_hook(unsigned int i);
const char *nt_choose_table(unsigned int i);
const char *nt_choose_limit(unsigned int i);

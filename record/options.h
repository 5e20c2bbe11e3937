/* SPDX-License-Identifier: GPL-2.0-only */
/* options.h - the command line of nettape-record, by one table of options. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/filter.h"
#include "record/plan.h"
#include "record/retention.h"
#include "record/tape_owner.h"

#define NT_OUTPUT_MAX 4096

/* Of probe flows (record/flows.h). */
struct nt_flows_options {
	double sample; /* the probability of an update; 0, before all options are read: not given */
	struct nt_sketch_shape shape; /* the same of rows; then 0 if is_exact */
	uint32_t keys; /* 1 << enum nt_flow_key_sort, of each to count by */
	bool is_exact; /* each packet is counted, without a sketch */
};

struct nt_record_options {
	char output[NT_OUTPUT_MAX]; /* directory of the tape */
	uint64_t duration_ns; /* 0: until a signal or the command's end */
	size_t ring_size; /* bytes per CPU, a power of two */
	unsigned int stacks_hz; /* probe stacks: samples a second on each CPU */
	bool stacks_all, user_stacks;
	bool quiet, list_probes, serves, bpf_stats, no_realtime, help, version;
	const char *program; /* how we were called */
	char *const *command; /* NULL-terminated, or NULL */
	char command_line[1024]; /* all of it, for the tape */
	struct nt_tape_owner owner; /* of the tape */
	struct nt_plan plan;
	struct nt_filter filter;
	struct nt_flows_options flows;
	struct nt_retention_limits retention;
	char snapshots[NT_OUTPUT_MAX]; /* directory of snapshots; "": beside the tape */
	uint64_t start_at_ns; /* begin at a multiple of this, by the clock on the wall; 0: at once */
};

/* 0: go on; else *exit_status is what to exit with (help, version, misuse: messages are printed). */
int nt_record_options_parse(struct nt_record_options *options, int argc, char **argv, int *exit_status);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * payers.h - who pays for net_rx in a part of a session, by rx_cost: its exact time on each CPU, divided among the
 * groups that the payers belong to; and for a stack sample, the group that pays for its flow. Prints nothing.
 *
 * A bucket's time is divided in the proportion of what rx_cost has for the bucket. Of a whole bucket that is rx_cost,
 * to the nanosecond, and of a tape also of one that the part cuts. In a database, each payer of such a one has the same
 * share of what is left.
 *
 * Functions give 0, or -1 and a sentence in db->error, or -ENOMEM or -ERANGE as nt_split_add_time.
 */
#pragma once

#include "report/query/labels.h"
#include "report/query/session.h"
#include "report/query/stages/choice.h"
#include "report/query/stages/split.h"

#define NT_STAGE_NOT_CHOSEN UINT32_MAX /* in place of a group: the selected process does not pay */

struct nt_stage_payers {
	const struct nt_part *part;
	enum nt_by by;
	bool is_told; /* the recording tells who pays, and the command asks; else nothing below is used */
	uint64_t first_bucket; /* that is the split's first */
	struct nt_id_map groups; /* of a process that pays: its group + 1 */
	struct nt_id_map chosen; /* processes that are selected: 1 */
	uint32_t nobodys; /* group of what no process pays for */
	uint32_t of_payers[8]; /* by enum nt_payer, the same for each */
	/* Time to be divided, of each CPU; by bucket. */
	struct nt_stage_payers_cpu {
		uint32_t cpu;
		struct nt_split_cell *cells;
		size_t n, size, next;
	} * cpus;
	size_t n_cpus, cpus_size;
	struct nt_id_map by_cpu;
	/* The rows of rx_cost at hand, all of one CPU and time. */
	struct nt_stage_paid {
		uint32_t group;
		uint64_t ns;
	} * paid;
	size_t n_paid, paid_size;
	/* Those who pay for a flow. */
	struct nt_stage_flow_payer {
		uint32_t group;
		uint64_t ns;
		size_t next; /* index + 1; 0: none */
	} * flows;
	size_t n_flows, flows_size;
	struct nt_id_map by_flow; /* index + 1 of the first */
};

/* Takes time of a group; returns 0 or an error. */
typedef int (*nt_stage_paid_fn)(void *arg, uint32_t cpu, uint32_t group, const struct nt_split_cell *cell);

/* Payers get groups among those that there are already; `choice` is good as long as *payers. To be released in any
 * case. */
int nt_stage_payers_init(struct nt_stage_payers *payers, const struct nt_part *part,
			 const struct nt_stage_choice *choice, struct nt_labels *groups);
void nt_stage_payers_release(struct nt_stage_payers *payers);
/* Adds time of net_rx: so much in each of n buckets. */
int nt_stage_payers_add(struct nt_stage_payers *payers, uint32_t cpu, uint32_t bucket, uint32_t n, uint64_t ns);
/* When all is added: reads rx_cost and gives all time to those who pay, but for that of others than the chosen. */
int nt_stage_payers_divide(struct nt_stage_payers *payers, nt_stage_paid_fn give, void *arg);
/*
 * After that: the group that pays for a sample of this flow; flow -1: none is known. Where several pay for the flow,
 * one is drawn by the sample's number, in the proportion of what they pay; so is one where the flow is only among
 * those that rx_cost has together.
 */
uint32_t nt_stage_payers_of(struct nt_stage_payers *payers, int64_t flow, uint64_t number);

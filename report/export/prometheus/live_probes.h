/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live_probes.h - the part of live.h that adds up what probes recorded, from the rows of a temporary database that a
 * followed tape goes into. Each row counts once, when it is complete, and is then deleted: one with a duration is when
 * it has ended. The SQL is that of any export (parts.h): views hide what is not complete from it.
 *
 * Functions give 0, or -1 and a sentence in db->error.
 */
#pragma once

#include "report/export/prometheus/parts.h"

/* The tables whose rows are added up; and those that name what these are about. */
#define NT_LIVE_PROBES_TABLES                                                                                          \
	(NT_TABLE_BIT(NT_TABLE_SKB_LATENCY) | NT_TABLE_BIT(NT_TABLE_SKB_DROP) |                                        \
	 NT_TABLE_BIT(NT_TABLE_TCP_RETRANSMIT) | NT_TABLE_BIT(NT_TABLE_SOFTIRQ_RAISE) |                                \
	 NT_TABLE_BIT(NT_TABLE_BLOCK_IO) | NT_TABLE_BIT(NT_TABLE_PAGE_FAULT) | NT_TABLE_BIT(NT_TABLE_KMEM) |           \
	 NT_TABLE_BIT(NT_TABLE_FLOW_TOTAL))
#define NT_LIVE_PROBES_NAMES NT_TABLE_BIT(NT_TABLE_NET_DEVICE)

/* Once for each database: makes the views. */
int nt_live_probes_begin(struct nt_db *db);
/*
 * Adds the rows of `tables` that end before `until_ts` to the sheet, of which each metric is bounded. `part` is from
 * the session's begin to when its figures are complete. `told`: as nt_prometheus_latency has it.
 */
int nt_live_probes_add(const struct nt_part *part, uint64_t tables, int64_t until_ts,
		       struct nt_latency_accounting *told, struct nt_sheet *sheet);

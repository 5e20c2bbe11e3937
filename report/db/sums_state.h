/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sums_state.h - what sums.c, sums_costs.c, sums_charges.c, sums_elsewhere.c and sums_counters.c share. Private to
 * these.
 */
#pragma once

#include "report/db/sums.h"
#include "report/util/id_map.h"
#include "report/util/texts.h"

/* Times or operations of one bucket. */
struct nt_sums_cost {
	int64_t bucket;
	uint64_t place, task; /* a CPU, or a socket */
	uint32_t what; /* owner, or direction */
	uint64_t sums[6]; /* spent_ns; or those of struct nt_sock_cost, in its order */
};

/* Costs that are not put yet. */
struct nt_sums_costs {
	struct nt_sums_cost *costs;
	size_t n, size;
};

/* Those of them that are of one bucket. */
struct nt_sums_part {
	struct nt_sums_cost *costs;
	size_t n;
};

/* The threads that keep their names in a bucket. */
struct nt_sums_choice {
	bool is_made;
	unsigned int n;
	uint64_t tasks[NT_SUMS_TOP];
};

/* One payer's part of net_rx of a CPU in a minute. */
struct nt_sums_charge {
	struct nt_rx_cost cost; /* of no flow */
	enum nt_payer payer;
	uint64_t process, device; /* NT_NO_TASK, 0: none */
};

/* Charges that are not put yet. */
struct nt_sums_charges {
	struct nt_sums_charge *charges;
	size_t n, size;
	uint64_t newest_ns; /* begin of a minute */
};

/* A row that is kept; its texts are in the sums' arena. */
#define NT_SUMS_KEPT_COLUMNS 10
#define NT_SUMS_FITS(table)                                                                                            \
	_Static_assert(sizeof(struct nt_columns_of_##table) <= NT_SUMS_KEPT_COLUMNS, "columns of " #table)
NT_SUMS_FITS(process);
NT_SUMS_FITS(cgroup);
NT_SUMS_FITS(proc_counter);
NT_SUMS_FITS(self_cost);
NT_SUMS_FITS(elsewhere_cost);
struct nt_sums_kept {
	enum nt_table_id table;
	struct nt_value values[NT_SUMS_KEPT_COLUMNS];
};

/* A counter of snapshots. */
struct nt_sums_counter {
	struct nt_sums_kept row; /* read last */
	int64_t put; /* its value in the row that was put last */
	bool is_put; /* that is the one read last */
};

struct nt_sums {
	int64_t start_ts, end_ts, session_id;
	struct nt_sums_sink sink;
	struct nt_sums_costs slices, ops;
	struct nt_sums_charges charges;
	struct nt_texts elsewhere_keys;
	struct nt_sums_kept *elsewhere; /* number of the key - 1 */
	size_t elsewhere_size;
	int64_t newest; /* bucket of either */
	struct nt_id_map chosen; /* bucket: index + 1 of its choice */
	struct nt_sums_choice *choices;
	size_t n_choices, choices_size;
	struct nt_texts counter_keys;
	struct nt_sums_counter *counters; /* number of the key - 1 */
	size_t counters_size;
	struct nt_id_map tasks, sockets, processes, cgroups; /* 1: named by a row that was put */
	struct nt_sums_kept *waiting; /* processes and cgroups: not known yet whether something names them */
	size_t n_waiting, waiting_size;
	struct nt_arena texts; /* of kept rows, */
	struct nt_arena row; /* and of the row that is put now */
};

/* The value of that column, or `otherwise` where it is NULL. */
int64_t nt_sums_integer(const struct nt_row *row, const char *column, int64_t otherwise);
/* Copies a row. 0 or -ENOMEM. */
int nt_sums_keep(struct nt_sums *sums, struct nt_sums_kept *kept, const struct nt_row *row);
int nt_sums_put_kept(struct nt_sums *sums, const struct nt_sums_kept *kept);
/* Puts the row that `from` makes. */
int nt_sums_put(struct nt_sums *sums, enum nt_table_id table, const void *from);

int nt_sums_add_slice(struct nt_sums *sums, const struct nt_row *row);
int nt_sums_add_op(struct nt_sums *sums, const struct nt_row *row);
int nt_sums_finish_costs(struct nt_sums *sums);
int nt_sums_add_charge(struct nt_sums *sums, const struct nt_row *row);
int nt_sums_finish_charges(struct nt_sums *sums);
int nt_sums_add_elsewhere(struct nt_sums *sums, const struct nt_row *row);
int nt_sums_finish_elsewhere(struct nt_sums *sums);
int nt_sums_counter(struct nt_sums *sums, const struct nt_row *row);
int nt_sums_finish_counters(struct nt_sums *sums);

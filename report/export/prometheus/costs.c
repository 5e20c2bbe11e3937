// SPDX-License-Identifier: GPL-2.0-only
/*
 * costs.c - CPU time by owner, and what the network costs whom. The sums are those of `summary`, by the same SQL.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/prometheus/parts.h"
#include "report/query/groups.h"
#include "report/query/payers.h"
#include "report/util/array.h"

/* ---- sums ---- */

#define SUM_OF(column) "sum(CAST(" column " AS REAL))"

#define SPENT_SQL                                                                                                      \
	"SELECT " SUM_OF("spent_ns") " AS ns, cpu, owner FROM cpu_cost "                                               \
				     "WHERE session_id = ?1 " NT_GROUP_OF_PROCESS_SQL "GROUP BY 2, 3"

static const struct nt_prometheus_query sums[] = {
	/* Uncovered time is told before there is any: a counter that begins with its first nanoseconds hides them. */
	{NT_TABLE_CPU_COST,
	 "WITH spent AS (" SPENT_SQL ") SELECT ns, cpu, owner FROM spent "
	 "UNION ALL SELECT DISTINCT 0, cpu, 'uncovered' FROM spent WHERE ?4 IS NULL ORDER BY 2, 3",
	 1,
	 {NT_METRIC_CPU_SECONDS}},
	{NT_TABLE_RX_COST,
	 "WITH " NT_PAID_SQL "SELECT " SUM_OF("spent_ns") ", " SUM_OF("exact_ns") ", " SUM_OF(
		 "most_ns") ", payer FROM paid GROUP BY payer ORDER BY payer",
	 3,
	 {NT_METRIC_NET_RX, NT_METRIC_NET_RX_LOW, NT_METRIC_NET_RX_HIGH}},
	{NT_TABLE_SOCK_COST,
	 "SELECT " SUM_OF("ops") ", " SUM_OF("failed") ", " SUM_OF(
		 "bytes") ", op FROM sock_cost WHERE session_id = ?1 " NT_GROUP_OF_PROCESS_SQL
			  "GROUP BY op ORDER BY op",
	 3,
	 {NT_METRIC_OPERATIONS, NT_METRIC_OPERATIONS_FAILED, NT_METRIC_OPERATION_BYTES}},
};

/* ---- groups ---- */

/* Each kind of groups: its SQL, and its metrics. */
#define OF_GROUP(GROUP)                                                                                                \
	.seconds = NT_METRIC_##GROUP##_SECONDS, .rx_low = NT_METRIC_##GROUP##_NET_RX_LOW,                              \
	.rx_high = NT_METRIC_##GROUP##_NET_RX_HIGH, .operations = NT_METRIC_##GROUP##_OPERATIONS,                      \
	.bytes = NT_METRIC_##GROUP##_BYTES
static const struct kind {
	enum nt_by by;
	const char *name; /* of a group, in SQL */
	enum nt_metric seconds, rx_low, rx_high, operations, bytes;
} kinds[NT_PROMETHEUS_KINDS] = {
	{NT_BY_PROGRAM, "program", OF_GROUP(PROGRAM)},
	{NT_BY_CGROUP, "cgroup", OF_GROUP(CGROUP)},
	{NT_BY_PORT, "proto || coalesce(' ' || port, '')", OF_GROUP(PORT)},
};

enum nt_by nt_prometheus_kind(size_t kind)
{
	return kinds[kind].by;
}

void nt_prometheus_cost_add(struct nt_prometheus_cost *to, const struct nt_prometheus_cost *from)
{
	to->send_ns += from->send_ns;
	to->recv_ns += from->recv_ns;
	to->rx_ns += from->rx_ns;
	to->rx_low_ns += from->rx_low_ns;
	to->rx_high_ns += from->rx_high_ns;
	to->ops += from->ops;
	to->sent_bytes += from->sent_bytes;
	to->received_bytes += from->received_bytes;
	to->has_rx |= from->has_rx;
}

double nt_prometheus_cost_total(const struct nt_prometheus_cost *cost)
{
	return cost->send_ns + cost->recv_ns + cost->rx_ns;
}

/* The name is the first column; the others are those of FIGURES_SQL. */
static int add_group(struct nt_prometheus_groups *groups, const struct nt_sheet *sheet, sqlite3_stmt *row)
{
	const struct nt_prometheus_cost figures = {.send_ns = sqlite3_column_double(row, 1),
						   .recv_ns = sqlite3_column_double(row, 2),
						   .rx_ns = sqlite3_column_double(row, 3),
						   .rx_low_ns = sqlite3_column_double(row, 4),
						   .rx_high_ns = sqlite3_column_double(row, 5),
						   .ops = sqlite3_column_double(row, 6),
						   .sent_bytes = sqlite3_column_double(row, 7),
						   .received_bytes = sqlite3_column_double(row, 8),
						   .has_rx = sqlite3_column_type(row, 3) != SQLITE_NULL};
	struct nt_prometheus_group *group =
		nt_prometheus_group(groups, sheet, nt_db_text(row, 0), sizeof(struct nt_prometheus_cost));

	if (!group)
		return -ENOMEM;
	nt_prometheus_cost_add(group->figures, &figures);
	group->weight = nt_prometheus_cost_total(group->figures);
	return 0;
}

#define FIGURES_SQL                                                                                                    \
	"send_ns, recv_ns, rx_ns, at_least_ns - send_ns - recv_ns, at_most_ns - send_ns - recv_ns, ops_count, "        \
	"sent_bytes, received_bytes "
#define SQL_MAX 8192

static int add_groups(const struct nt_part *part, const struct kind *kind, struct nt_prometheus_groups *groups,
		      const struct nt_sheet *sheet)
{
	sqlite3_stmt *row;
	char sql[SQL_MAX];
	int error = 0;

	snprintf(sql, sizeof(sql), "WITH " NT_GROUP_SQL ", grouped AS (%s) SELECT %s, " FIGURES_SQL "FROM grouped",
		 nt_group(kind->by)->sql, kind->name);
	row = nt_db_query(part->db, sql, part->session->id);
	nt_part_bind(part, row);
	while (!error && nt_db_next(row))
		error = add_group(groups, sheet, row);
	if (nt_db_end(part->db, row, "the costs cannot be read"))
		return -1;
	return error ? nt_db_no_memory(part->db) : 0;
}

int nt_prometheus_costs(const struct nt_part *part, uint64_t tables,
			struct nt_prometheus_groups groups[NT_PROMETHEUS_KINDS], struct nt_sheet *sheet)
{
	int error = nt_prometheus_add_queries(part, tables, sums, NT_COUNT(sums), sheet);

	for (size_t i = 0; i < NT_COUNT(kinds) && !error && !(NT_PROMETHEUS_COSTS & ~tables); i++)
		error = add_groups(part, &kinds[i], &groups[i], sheet);
	return error;
}

/* ---- groups with names ---- */

struct naming {
	const struct kind *kind;
	struct nt_sheet *sheet;
};

static int name_group(void *arg, const char *name, const struct nt_prometheus_group *group)
{
	const struct naming *naming = arg;
	const struct kind *kind = naming->kind;
	const struct nt_prometheus_cost *cost = group->figures;
	const struct {
		enum nt_metric metric;
		double figure;
		const char *also, *value; /* a second label */
		bool is_of_rx;
	} all[] = {
		{kind->seconds, cost->send_ns, "owner", "send", false},
		{kind->seconds, cost->recv_ns, "owner", "recv", false},
		{kind->seconds, cost->rx_ns, "owner", "net_rx", true},
		{kind->rx_low, cost->rx_low_ns, "", NULL, true},
		{kind->rx_high, cost->rx_high_ns, "", NULL, true},
		{kind->operations, cost->ops, "", NULL, false},
		{kind->bytes, cost->sent_bytes, "op", "send", false},
		{kind->bytes, cost->received_bytes, "op", "recv", false},
	};

	for (size_t i = 0; i < NT_COUNT(all); i++) {
		if ((!all[i].is_of_rx || cost->has_rx) &&
		    nt_sheet_add(naming->sheet, all[i].metric, all[i].figure,
				 NT_LABELS({nt_by_name(kind->by), name}, {all[i].also, all[i].value})))
			return -ENOMEM;
	}
	return 0;
}

int nt_prometheus_name_costs(struct nt_prometheus_groups groups[NT_PROMETHEUS_KINDS], size_t limit,
			     struct nt_sheet *sheet)
{
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(kinds) && !error; i++) {
		struct naming naming = {&kinds[i], sheet};

		error = nt_prometheus_each_group(&groups[i], limit, sheet, name_group, &naming);
	}
	return error;
}

int nt_prometheus_name_new_costs(struct nt_prometheus_groups groups[NT_PROMETHEUS_KINDS], size_t limit,
				 struct nt_prometheus_named named[NT_PROMETHEUS_KINDS], struct nt_sheet *sheet)
{
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(kinds) && !error; i++) {
		struct naming naming = {&kinds[i], sheet};

		error = nt_prometheus_each_new(&groups[i], limit, &named[i], sheet, name_group, &naming);
	}
	return error;
}

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

#define CANNOT "the costs cannot be read"

/* ---- sums ---- */

#define SUM_OF(column) "sum(CAST(" column " AS REAL))"

static const struct sums {
	enum nt_table_id table; /* that must be there */
	const char *sql;
	struct nt_prometheus_rows rows;
} sums[] = {
	{NT_TABLE_CPU_COST,
	 "SELECT " SUM_OF("spent_ns") ", cpu, owner FROM cpu_cost WHERE session_id = ?1 " NT_GROUP_OF_PROCESS_SQL
				      "GROUP BY 2, 3 ORDER BY 2, 3",
	 {1, {NT_METRIC_CPU_SECONDS}}},
	{NT_TABLE_RX_COST,
	 "WITH " NT_PAID_SQL "SELECT " SUM_OF("spent_ns") ", " SUM_OF("exact_ns") ", " SUM_OF(
		 "most_ns") ", payer FROM paid GROUP BY payer ORDER BY payer",
	 {3, {NT_METRIC_NET_RX, NT_METRIC_NET_RX_LOW, NT_METRIC_NET_RX_HIGH}}},
	{NT_TABLE_SOCK_COST,
	 "SELECT " SUM_OF("ops") ", " SUM_OF("failed") ", " SUM_OF(
		 "bytes") ", op FROM sock_cost WHERE session_id = ?1 " NT_GROUP_OF_PROCESS_SQL
			  "GROUP BY op ORDER BY op",
	 {3, {NT_METRIC_OPERATIONS, NT_METRIC_OPERATIONS_FAILED, NT_METRIC_OPERATION_BYTES}}},
};

static int add_sums(const struct nt_part *part, const struct sums *what, struct nt_sheet *sheet)
{
	sqlite3_stmt *row = nt_db_query(part->db, what->sql, part->session->id);

	nt_part_bind(part, row);
	return nt_prometheus_add_rows(part, &what->rows, row, sheet);
}

/* ---- groups ---- */

/* The figures of a group, in the order of the columns of its SQL. */
enum figure { SEND, RECV, RX, RX_LOW, RX_HIGH, OPS, SENT, RECEIVED, FIGURES };

struct group {
	double figures[FIGURES];
	bool has_rx;
};

struct grouping {
	struct nt_labels names;
	struct group *groups; /* by their numbers */
	size_t size;
};

/* Each grouping: its SQL, and its metrics. */
#define OF_GROUP(GROUP)                                                                                                \
	.seconds = NT_METRIC_##GROUP##_SECONDS, .rx_low = NT_METRIC_##GROUP##_NET_RX_LOW,                              \
	.rx_high = NT_METRIC_##GROUP##_NET_RX_HIGH, .operations = NT_METRIC_##GROUP##_OPERATIONS,                      \
	.bytes = NT_METRIC_##GROUP##_BYTES
static const struct kind {
	enum nt_by by;
	const char *name; /* of a group, in SQL */
	enum nt_metric seconds, rx_low, rx_high, operations, bytes;
} kinds[] = {
	{NT_BY_PROGRAM, "program", OF_GROUP(PROGRAM)},
	{NT_BY_CGROUP, "cgroup", OF_GROUP(CGROUP)},
	{NT_BY_PORT, "proto || coalesce(' ' || port, '')", OF_GROUP(PORT)},
};
#define N_KINDS NT_COUNT(kinds)

struct nt_prometheus_host {
	struct grouping of[N_KINDS];
};

/* The sheet's host. NULL: out of memory. */
static struct nt_prometheus_host *find_host(struct nt_prometheus_groups *groups, const struct nt_sheet *sheet)
{
	const size_t n = groups->n;

	if (NT_ROOM(groups->of, groups->size, (size_t)sheet->host + 1))
		return NULL;
	if (sheet->host >= n) {
		memset(&groups->of[n], 0, (sheet->host + 1 - n) * sizeof(*groups->of));
		groups->n = sheet->host + 1;
	}
	return &groups->of[sheet->host];
}

static int add_group(struct grouping *grouping, sqlite3_stmt *row)
{
	const uint32_t n = grouping->names.texts.n;
	uint32_t number;
	struct group *group;

	if (NT_ROOM(grouping->groups, grouping->size, (size_t)n + 1) ||
	    nt_labels_number(&grouping->names, nt_db_text(row, 0), &number))
		return -ENOMEM;
	group = &grouping->groups[number];
	if (number == n)
		*group = (struct group){0};
	for (int figure = 0; figure < FIGURES; figure++)
		group->figures[figure] += sqlite3_column_double(row, 1 + figure);
	group->has_rx |= sqlite3_column_type(row, 1 + RX) != SQLITE_NULL;
	return 0;
}

#define FIGURES_SQL                                                                                                    \
	"send_ns, recv_ns, rx_ns, at_least_ns - send_ns - recv_ns, at_most_ns - send_ns - recv_ns, ops_count, "        \
	"sent_bytes, received_bytes "
#define SQL_MAX 8192

static int add_groups(const struct nt_part *part, const struct kind *kind, struct grouping *grouping)
{
	sqlite3_stmt *row;
	char sql[SQL_MAX];
	int error = 0;

	snprintf(sql, sizeof(sql), "WITH " NT_GROUP_SQL ", grouped AS (%s) SELECT %s, " FIGURES_SQL "FROM grouped",
		 nt_group(kind->by)->sql, kind->name);
	row = nt_db_query(part->db, sql, part->session->id);
	nt_part_bind(part, row);
	while (!error && nt_db_next(row))
		error = add_group(grouping, row);
	if (nt_db_end(part->db, row, CANNOT))
		return -1;
	return error ? nt_db_no_memory(part->db) : 0;
}

#define OF_GROUPS (NT_TABLE_BIT(NT_TABLE_CPU_COST) | NT_TABLE_BIT(NT_TABLE_SOCK_COST) | NT_TABLE_BIT(NT_TABLE_RX_COST))

int nt_prometheus_costs(const struct nt_part *part, uint64_t tables, struct nt_prometheus_groups *groups,
			struct nt_sheet *sheet)
{
	struct nt_prometheus_host *host = find_host(groups, sheet);
	int error = host ? 0 : nt_db_no_memory(part->db);

	for (size_t i = 0; i < NT_COUNT(sums) && !error; i++) {
		if (tables & NT_TABLE_BIT(sums[i].table))
			error = add_sums(part, &sums[i], sheet);
	}
	for (size_t i = 0; i < N_KINDS && !error && !(NT_PROMETHEUS_COSTS & ~tables); i++)
		error = add_groups(part, &kinds[i], &host->of[i]);
	return error;
}

/* ---- which groups have names ---- */

static double total_of(const struct group *group)
{
	return group->figures[SEND] + group->figures[RECV] + group->figures[RX];
}

/* The first is the dearest; of those that cost as much, the one that came first. */
static int compare_groups(const void *a, const void *b, void *arg)
{
	const struct grouping *grouping = arg;
	const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	const double x = total_of(&grouping->groups[first]), y = total_of(&grouping->groups[second]);

	if (x != y)
		return x > y ? -1 : 1;
	return first < second ? -1 : first > second;
}

static int write_group(struct nt_sheet *sheet, const struct kind *kind, const char *name, const struct group *group)
{
	const char *label = nt_by_name(kind->by);
	const double *figures = group->figures;
	const struct {
		enum nt_metric metric;
		enum figure figure;
		const char *also, *value; /* a second label */
		bool is_of_rx;
	} all[] = {
		{kind->seconds, SEND, "owner", "send", false}, {kind->seconds, RECV, "owner", "recv", false},
		{kind->seconds, RX, "owner", "net_rx", true},  {kind->rx_low, RX_LOW, "", NULL, true},
		{kind->rx_high, RX_HIGH, "", NULL, true},      {kind->operations, OPS, "", NULL, false},
		{kind->bytes, SENT, "op", "send", false},      {kind->bytes, RECEIVED, "op", "recv", false},
	};

	for (size_t i = 0; i < NT_COUNT(all); i++) {
		if ((!all[i].is_of_rx || group->has_rx) &&
		    nt_sheet_add(sheet, all[i].metric, figures[all[i].figure],
				 NT_LABELS({label, name}, {all[i].also, all[i].value})))
			return -ENOMEM;
	}
	return 0;
}

static int name_groups(struct grouping *grouping, const struct kind *kind, size_t limit, struct nt_sheet *sheet)
{
	const uint32_t n = grouping->names.texts.n;
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	int error = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n && order; i++)
		order[i] = i;
	if (order)
		qsort_r(order, n, sizeof(*order), compare_groups, grouping);
	for (uint32_t i = 0; i < n && !error; i++)
		error = write_group(sheet, kind,
				    i < limit ? nt_labels_text(&grouping->names, order[i]) : NT_PROMETHEUS_OTHER,
				    &grouping->groups[order[i]]);
	free(order);
	return error;
}

int nt_prometheus_name_groups(const struct nt_prometheus_groups *groups, size_t limit, struct nt_sheet *sheet)
{
	int error = 0;

	for (size_t host = 0; host < groups->n && !error; host++) {
		sheet->host = (uint32_t)host;
		for (size_t i = 0; i < N_KINDS && !error; i++)
			error = name_groups(&groups->of[host].of[i], &kinds[i], limit, sheet);
	}
	return error;
}

void nt_prometheus_release_groups(struct nt_prometheus_groups *groups)
{
	for (size_t host = 0; host < groups->n; host++) {
		for (size_t i = 0; i < N_KINDS; i++) {
			nt_labels_release(&groups->of[host].of[i].names);
			free(groups->of[host].of[i].groups);
		}
	}
	free(groups->of);
	*groups = (struct nt_prometheus_groups){0};
}

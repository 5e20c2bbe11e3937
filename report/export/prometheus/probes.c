// SPDX-License-Identifier: GPL-2.0-only
/*
 * probes.c - what probes that are off by default recorded. All of it is of all processes; flows, memory, page faults,
 * allocations and energy are of all CPUs too.
 */
#include <errno.h>
#include <string.h>

#include "report/export/prometheus/parts.h"
#include "report/query/disks.h"
#include "report/query/energy.h"
#include "report/query/flows.h"
#include "report/query/kmem.h"
#include "report/query/memory.h"
#include "report/query/waits.h"
#include "report/util/array.h"

/* ---- numbers of rows of a table, by a label ---- */

static const struct counter {
	enum nt_metric metric;
	enum nt_table_id table;
	const char *name, *label; /* the table's, and a column of it */
} counters[] = {
	{NT_METRIC_DROPS, NT_TABLE_SKB_DROP, "skb_drop", "reason"},
	{NT_METRIC_RETRANSMITS, NT_TABLE_TCP_RETRANSMIT, "tcp_retransmit", "what"},
};

static void bind_window(const struct nt_part *part, sqlite3_stmt *row)
{
	const struct nt_window window =
		nt_selection_window(part->selection, part->session->start_ts, part->session->start_realtime_ns);

	sqlite3_bind_int64(row, 2, window.from_ts);
	sqlite3_bind_int64(row, 3, window.to_ts);
}

static int add_rows(const struct nt_part *part, enum nt_metric metric, const char *sql, struct nt_sheet *sheet)
{
	sqlite3_stmt *row = nt_db_query(part->db, sql, part->session->id);

	bind_window(part, row);
	return nt_prometheus_add_rows(part, &metric, 1, row, sheet);
}

static int add_counter(const struct nt_part *part, const struct counter *counter, struct nt_sheet *sheet)
{
	char cpus[NT_CPUS_SQL_MAX], sql[sizeof(cpus) + 200];

	snprintf(sql, sizeof(sql),
		 "SELECT count(*), coalesce(%s, '-') AS %s FROM %s WHERE session_id = ?1 AND ts >= ?2 AND ts < ?3 "
		 "AND %s GROUP BY 2",
		 counter->label, counter->label, counter->name, nt_selection_cpus_sql(part->selection, cpus));
	return add_rows(part, counter->metric, sql, sheet);
}

/* ---- how long softirqs waited ---- */

struct waits {
	struct nt_prometheus_counts by_vec[NT_VEC_COUNT];
	bool is_there[NT_VEC_COUNT];
};

static void take_wait(struct waits *waits, sqlite3_stmt *row)
{
	const int64_t ns = sqlite3_column_int64(row, 1);
	const size_t vec = NT_FIRST(NT_VEC_COUNT, i, !strcmp(nt_db_text(row, 0), nt_vec_name(i)));

	if (vec == NT_VEC_COUNT || ns < 0)
		return;
	waits->is_there[vec] = true;
	nt_prometheus_count(&waits->by_vec[vec], (uint64_t)ns, 1);
}

static int add_waits(const struct nt_part *part, struct nt_sheet *sheet)
{
	struct waits waits = {0};
	sqlite3_stmt *row;
	bool are_known;

	if (nt_waits_are_known(part, &are_known))
		return -1;
	if (!are_known)
		return 0;
	row = nt_waits_query(part, "SELECT vec, dur ", "");
	while (nt_db_next(row))
		take_wait(&waits, row);
	if (nt_db_end(part->db, row, "the waits of softirqs cannot be read"))
		return -1;
	for (unsigned int vec = 0; vec < NT_VEC_COUNT; vec++) {
		if (waits.is_there[vec] && nt_sheet_add_counts(sheet, NT_METRIC_SOFTIRQ_WAIT, &waits.by_vec[vec],
							       NT_LABELS({"vec", nt_vec_name(vec)})))
			return nt_db_no_memory(part->db);
	}
	return 0;
}

/* ---- requests to block devices ---- */

/* Rows of a device and an operation follow one another: device, op, and a time. */
static const struct disk_times {
	enum nt_metric metric;
	const char *sql;
} disk_times[] = {
	{NT_METRIC_BLOCK_DEVICE,
	 "SELECT coalesce(device, '-'), op, dur FROM " NT_DISKS_OF_SQL "WHERE " NT_DISK_ISSUED_SQL "ORDER BY 1, 2"},
	{NT_METRIC_BLOCK_QUEUE,
	 "SELECT coalesce(device, '-'), op, queue_ns FROM " NT_DISKS_OF_SQL "WHERE queue_ns >= 0 ORDER BY 1, 2"},
};

/* The rows at hand. */
struct disk {
	struct nt_prometheus_counts counts;
	char device[256], op[64];
	bool has_rows;
};

static int end_disk(struct disk *disk, enum nt_metric metric, struct nt_sheet *sheet)
{
	const int error = disk->has_rows ? nt_sheet_add_counts(sheet, metric, &disk->counts,
							       NT_LABELS({"device", disk->device}, {"op", disk->op}))
					 : 0;

	*disk = (struct disk){0};
	return error;
}

static int take_request(struct disk *disk, sqlite3_stmt *row, enum nt_metric metric, struct nt_sheet *sheet)
{
	const int64_t ns = sqlite3_column_int64(row, 2);
	char device[sizeof(disk->device)], op[sizeof(disk->op)];

	snprintf(device, sizeof(device), "%s", nt_db_text(row, 0));
	snprintf(op, sizeof(op), "%s", nt_db_text(row, 1));
	if ((strcmp(device, disk->device) != 0 || strcmp(op, disk->op) != 0) && end_disk(disk, metric, sheet))
		return -ENOMEM;
	if (!disk->has_rows) {
		memcpy(disk->device, device, sizeof(device));
		memcpy(disk->op, op, sizeof(op));
	}
	disk->has_rows = true;
	nt_prometheus_count(&disk->counts, ns > 0 ? (uint64_t)ns : 0, 1);
	return 0;
}

static int add_disk_times(const struct nt_part *part, const struct disk_times *times, struct nt_sheet *sheet)
{
	struct disk disk = {0};
	sqlite3_stmt *row;
	bool are_known;
	int error = 0;

	if (nt_disks_are_known(part, &are_known))
		return -1;
	if (!are_known)
		return 0;
	row = nt_db_query(part->db, times->sql, part->session->id);
	nt_part_bind(part, row);
	while (!error && nt_db_next(row))
		error = take_request(&disk, row, times->metric, sheet);
	if (!error)
		error = end_disk(&disk, times->metric, sheet);
	if (nt_db_end(part->db, row, "the requests to block devices cannot be read"))
		return -1;
	return error ? nt_db_no_memory(part->db) : 0;
}

/* ---- disks, flows, memory and energy: numbers with labels ---- */

/* A query of a session, for add_rows. */
struct measure {
	enum nt_metric metric;
	enum nt_table_id table; /* that it is about */
	const char *sql;
	/* Whether the session has what it asks for, which is ready then. 0, or -1 and db->error. */
	int (*is_ready)(const struct nt_part *part, bool *is_ready);
};

static int flows_are_ready(const struct nt_part *part, bool *are_ready)
{
	if (nt_flows_are_known(part, are_ready))
		return -1;
	return *are_ready ? nt_flows_sum(part) : 0;
}

#define NAMED_FLOWS "20"
/* A device keeps these two labels, whatever others there are later. */
#define DEVICE_SQL(figure)                                                                                             \
	"SELECT total(t." figure "), coalesce(v.name, '-') AS device, v.netns, t.direction FROM flow_total AS t "      \
	"LEFT JOIN net_device AS v ON v.session_id = ?1 AND v.id = t.device_id "                                       \
	"WHERE t.session_id = ?1 AND t.ts >= ?2 AND t.ts < ?3 GROUP BY 2, 3, 4 ORDER BY 2, 3, 4"
#define FLOW_SQL(figure)                                                                                               \
	"WITH " NT_FLOWS_OF_ALL_SQL ", ranked AS (" NT_FLOWS_ROWS_SQL "LIMIT " NAMED_FLOWS ") SELECT sum(" figure      \
	"), coalesce(proto, '-') AS proto, coalesce(source, '-') AS source, coalesce(destination, '-') AS "            \
	"destination, coalesce(device, '-') AS device, coalesce(direction, '-') AS direction FROM ranked "             \
	"GROUP BY 2, 3, 4, 5, 6 ORDER BY 1 DESC, 2, 3, 4, 5, 6"
/* All but those flows, of the devices and directions where they were counted. */
#define REST_SQL                                                                                                       \
	"WITH " NT_FLOWS_OF_ALL_SQL                                                                                    \
	", ranked AS (SELECT device_id, direction, packets FROM flows ORDER BY packets DESC, bytes DESC, flow_id "     \
	"LIMIT " NAMED_FLOWS "), named AS (SELECT device_id, direction, sum(packets) AS packets FROM ranked "          \
	"GROUP BY 1, 2), total AS (SELECT device_id, direction, sum(packets) AS packets FROM flow_total "              \
	"WHERE session_id = ?1 AND ts >= ?2 AND ts < ?3 GROUP BY 1, 2) "                                               \
	"SELECT sum(max(t.packets - coalesce(n.packets, 0), 0)), coalesce(" NT_IFACE_SQL(                              \
		"v.") ", '-') AS device, t.direction FROM total AS t "                                                 \
		      "LEFT JOIN named AS n ON n.device_id IS t.device_id AND n.direction = t.direction "              \
		      "LEFT JOIN net_device AS v ON v.session_id = ?1 AND v.id = t.device_id GROUP BY 2, 3 ORDER BY "  \
		      "2, 3"

#define NAMED_PROGRAMS "20"
#define FAULTS_SQL(kind)                                                                                               \
	"SELECT total(" kind "), '" kind "' AS kind FROM page_fault "                                                  \
	"WHERE session_id = ?1 AND ts + dur >= ?2 AND ts + dur < ?3 GROUP BY 2"

static int energy_is_ready(const struct nt_part *part, bool *is_ready)
{
	if (nt_energy_is_known(part, is_ready))
		return -1;
	return *is_ready ? nt_energy_sum(part) : 0;
}

/* Microjoules of a zone, as joules. */
#define JOULES_SQL(figure)                                                                                             \
	"SELECT " figure " / 1e6, zone FROM temp.energy_sum WHERE session_id = ?1 AND " figure " IS NOT NULL"

#define KMEM_SQL(what)                                                                                                 \
	"SELECT CAST(total(" what ") AS INTEGER), kind, coalesce(vec, context, '-') AS context FROM kmem "             \
	"WHERE session_id = ?1 AND ts >= ?2 AND ts < ?3 GROUP BY 2, 3"

#define DISK_BYTES_SQL                                                                                                 \
	"SELECT total(bytes), coalesce(device, '-') AS device, op FROM " NT_DISKS_OF_SQL "GROUP BY 2, 3 ORDER BY 2, 3"

static const struct measure measures[] = {
	{NT_METRIC_BLOCK_BYTES, NT_TABLE_BLOCK_IO, DISK_BYTES_SQL, nt_disks_are_known},
	{NT_METRIC_DEVICE_PACKETS, NT_TABLE_FLOW_TOTAL, DEVICE_SQL("packets"), flows_are_ready},
	{NT_METRIC_DEVICE_BYTES, NT_TABLE_FLOW_TOTAL, DEVICE_SQL("bytes"), flows_are_ready},
	{NT_METRIC_FLOW_PACKETS, NT_TABLE_FLOW_SUM, FLOW_SQL("packets_count"), flows_are_ready},
	{NT_METRIC_FLOW_PACKETS_LOW, NT_TABLE_FLOW_SUM, FLOW_SQL("packets_low_count"), flows_are_ready},
	{NT_METRIC_FLOW_PACKETS_HIGH, NT_TABLE_FLOW_SUM, FLOW_SQL("packets_high_count"), flows_are_ready},
	{NT_METRIC_FLOW_REST, NT_TABLE_FLOW_SUM, REST_SQL, flows_are_ready},
	{NT_METRIC_PAGE_FAULTS, NT_TABLE_PAGE_FAULT, FAULTS_SQL("minor") " UNION ALL " FAULTS_SQL("major"),
	 nt_memory_is_known},
	{NT_METRIC_RESIDENT, NT_TABLE_MEM_RSS,
	 "WITH " NT_MEMORY_SUMS_SQL "SELECT sum(last_bytes), coalesce(name, '-') AS program FROM sums "
	 "WHERE last_bytes IS NOT NULL GROUP BY 2 ORDER BY 1 DESC, 2 LIMIT " NAMED_PROGRAMS,
	 nt_memory_is_known},
	{NT_METRIC_KMEM, NT_TABLE_KMEM, KMEM_SQL("weight"), nt_kmem_is_known},
	{NT_METRIC_KMEM_BYTES, NT_TABLE_KMEM, KMEM_SQL(NT_KMEM_BYTES_SQL), nt_kmem_is_known},
	{NT_METRIC_KMEM_FAILED, NT_TABLE_KMEM, KMEM_SQL(NT_KMEM_FAILED_SQL), nt_kmem_is_known},
	{NT_METRIC_ENERGY, NT_TABLE_PROC_COUNTER, JOULES_SQL("energy_uj"), energy_is_ready},
	{NT_METRIC_NETWORK_ENERGY, NT_TABLE_PROC_COUNTER, JOULES_SQL("network_uj"), energy_is_ready},
	{NT_METRIC_NETWORK_ENERGY_LOW, NT_TABLE_PROC_COUNTER, JOULES_SQL("at_least_uj"), energy_is_ready},
	{NT_METRIC_NETWORK_ENERGY_HIGH, NT_TABLE_PROC_COUNTER, JOULES_SQL("at_most_uj"), energy_is_ready},
};

static int add_measure(const struct nt_part *part, const struct measure *measure, struct nt_sheet *sheet)
{
	bool is_ready;

	if (measure->is_ready(part, &is_ready))
		return -1;
	return is_ready ? add_rows(part, measure->metric, measure->sql, sheet) : 0;
}

int nt_prometheus_probes(const struct nt_part *part, uint64_t tables, struct nt_sheet *sheet)
{
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(counters) && !error; i++) {
		if (tables & NT_TABLE_BIT(counters[i].table))
			error = add_counter(part, &counters[i], sheet);
	}
	if (!error && tables & NT_TABLE_BIT(NT_TABLE_SOFTIRQ_RAISE))
		error = add_waits(part, sheet);
	for (size_t i = 0; i < NT_COUNT(disk_times) && !error && tables & NT_TABLE_BIT(NT_TABLE_BLOCK_IO); i++)
		error = add_disk_times(part, &disk_times[i], sheet);
	for (size_t i = 0; i < NT_COUNT(measures) && !error; i++) {
		if (tables & NT_TABLE_BIT(measures[i].table))
			error = add_measure(part, &measures[i], sheet);
	}
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * labels.c - see labels.h. Rows refer to groups by small ids, and labels are looked up once for each id, not for each
 * row: a scan is one pass through the table.
 */
#include "report/query/labels.h"

#include "report/query/groups.h"
#include "report/query/ports.h"

#define SOURCE NT_ENDPOINT_SQL("", "src", "sport")
#define DESTINATION NT_ENDPOINT_SQL("", "dst", "dport")

#define PROCESS "coalesce(p.name, '(unknown)') || coalesce(' (' || p.pid || ')', '')"

/* All ids and their labels. */
static const char *const labels_sql[NT_BY_COUNT] = {
	[NT_BY_IFACE] = "SELECT id, " NT_IFACE_SQL("") "AS label FROM net_device WHERE session_id = ?1 ORDER BY label",
	[NT_BY_CGROUP] = "SELECT t.utid, g.label FROM thread AS t "
			 "JOIN process AS p ON p.session_id = t.session_id AND p.upid = t.upid "
			 "JOIN cgroup AS g ON g.session_id = p.session_id AND g.id = p.cgroup_id "
			 "WHERE t.session_id = ?1 ORDER BY g.label",
	[NT_BY_PROGRAM] = "SELECT t.utid, coalesce(p.name, '(unknown)') AS label "
			  "FROM thread AS t JOIN process AS p ON p.session_id = t.session_id AND p.upid = t.upid "
			  "WHERE t.session_id = ?1 ORDER BY label",
	[NT_BY_PROCESS] = "SELECT t.utid, " PROCESS " AS label "
			  "FROM thread AS t JOIN process AS p ON p.session_id = t.session_id AND p.upid = t.upid "
			  "WHERE t.session_id = ?1 ORDER BY label",
	[NT_BY_SOCKET] = "SELECT id, coalesce(proto || ' ', '') || coalesce(" SOURCE ", '-') || "
			 "coalesce(' ' || " DESTINATION ", '') AS label FROM socket "
			 "WHERE session_id = ?1 ORDER BY label",
	[NT_BY_CPU] = "SELECT DISTINCT cpu, cpu FROM skb_latency WHERE session_id = ?1 ORDER BY cpu",
	[NT_BY_PORT] = "SELECT id, proto || ' ' || port FROM " NT_PORT_OF_SOCKETS_SQL "ORDER BY proto, port",
};

int nt_groups_read(struct nt_db *db, int64_t session_id, enum nt_by by, struct nt_labels *groups)
{
	sqlite3_stmt *row;
	uint32_t none;
	int error = 0;

	*groups = (struct nt_labels){0};
	if (nt_labels_number(groups, "-", &none))
		return nt_db_no_memory(db);
	if (by == NT_BY_NONE)
		return 0;
	row = nt_db_query(db, labels_sql[by], session_id);
	while (!error && nt_db_next(row)) {
		if (sqlite3_column_type(row, 1) != SQLITE_NULL &&
		    nt_labels_set(groups, sqlite3_column_int64(row, 0), nt_db_text(row, 1)))
			error = nt_db_no_memory(db);
	}
	return nt_db_end(db, row, "the groups cannot be found") ? -1 : error;
}

int nt_groups_of_processes(struct nt_db *db, int64_t session_id, enum nt_by by, struct nt_labels *groups,
			   struct nt_id_map *by_process)
{
	sqlite3_stmt *row =
		nt_db_query(db,
			    by == NT_BY_CGROUP ? "SELECT p.upid, g.label AS label FROM process AS p JOIN cgroup AS g "
						 "ON g.session_id = p.session_id AND g.id = p.cgroup_id "
						 "WHERE p.session_id = ?1 ORDER BY label"
					       : "SELECT p.upid, " PROCESS
						 " AS label FROM process AS p WHERE p.session_id = ?1 ORDER BY label",
			    session_id);
	uint32_t number;
	int error = 0;

	while (!error && nt_db_next(row)) {
		if (sqlite3_column_type(row, 1) != SQLITE_NULL &&
		    (nt_labels_number(groups, nt_db_text(row, 1), &number) ||
		     nt_id_map_set(by_process, (uint64_t)sqlite3_column_int64(row, 0), (uint64_t)number + 1)))
			error = nt_db_no_memory(db);
	}
	return nt_db_end(db, row, "the groups cannot be found") ? -1 : error;
}

uint32_t nt_group_of_id(struct nt_labels *groups, int64_t id)
{
	uint64_t number = nt_id_map_get(&groups->ids, (uint64_t)id);

	return number ? (uint32_t)number - 1 : 0;
}

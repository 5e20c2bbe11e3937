// SPDX-License-Identifier: GPL-2.0-only
/*
 * energy.c - see energy.h.
 */
#include "report/query/energy.h"

#include "report/query/probe_rows.h"

int nt_energy_is_known(const struct nt_part *part, bool *is_known)
{
	/* Its share of busy time is that of a package, not of some CPUs or a process. */
	*is_known = false;
	return part->selection->n_cpus || part->selection->process
		       ? 0
		       : nt_probe_readings_are_known(part, "energy", NT_ENERGY_SOURCE, is_known);
}

#define CANNOT "the sums of energy cannot be made"

static int run(const struct nt_part *part, const char *sql, bool *has_row)
{
	sqlite3_stmt *statement = nt_db_query(part->db, sql, part->session->id);

	nt_part_bind(part, statement);
	*has_row = nt_db_next(statement);
	return nt_db_end(part->db, statement, CANNOT);
}

static int sum_up(const struct nt_part *part)
{
	bool has = false;

	if (run(part,
		"CREATE TEMP TABLE IF NOT EXISTS energy_sum AS SELECT 0 AS session_id, * FROM (" NT_ENERGY_SQL
		") LIMIT 0",
		&has) ||
	    run(part, "SELECT 1 FROM temp.energy_sum WHERE session_id = ?1 LIMIT 1", &has))
		return -1;
	return has ? 0 : run(part, "INSERT INTO temp.energy_sum SELECT ?1, * FROM (" NT_ENERGY_SQL ")", &has);
}

int nt_energy_sum(const struct nt_part *part)
{
	int error;

	nt_db_allow_temporary(part->db, true);
	error = sum_up(part);
	nt_db_allow_temporary(part->db, false);
	return error;
}

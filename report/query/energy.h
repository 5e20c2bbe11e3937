/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * energy.h - the energy of the host's processors and the network's part of it, for every command that shows them.
 * Prints nothing. All are of all CPUs and processes.
 */
#pragma once

#include "report/query/session.h"

#define NT_ENERGY_TITLE "Energy by zone"
#define NT_ENERGY_NOTE                                                                                                 \
	"Energy is measured, in the time between readings. The network's part of a package is estimated: the package " \
	"used it for its CPUs' busy time, each nanosecond alike, so that its idle time is paid by who was busy. "      \
	"Within this rule, the part lies between the bounds. A part of a package, such as package-0.dram, may be in "  \
	"the package's own energy too."
#define NT_ENERGY_SOURCE "/sys/class/powercap" /* of the readings, in proc_counter */

/* Each zone of session ?1: the readings that lie within the time from ?2 to ?3. */
#define NT_ENERGY_SQL                                                                                                  \
	"SELECT zone, sum(energy_uj) AS energy_uj, sum(network_uj) AS network_uj, "                                    \
	"sum(network_least_uj) AS at_least_uj, "                                                                       \
	"CASE WHEN count(network_uj) THEN sum(coalesce(network_most_uj, energy_uj)) END AS at_most_uj, "               \
	"CAST(sum(network_uj) AS REAL) / max(sum(energy_uj), 1) AS network_share, sum(dur) AS time_ns FROM energy "    \
	"WHERE session_id = ?1 AND ts - uncertainty_ns >= ?2 AND ts + dur <= ?3 GROUP BY zone ORDER BY zone"

/* Whether the session has readings of energy. 0, or -1 and db->error. */
int nt_energy_is_known(const struct nt_part *part, bool *is_known);
/*
 * These rows once, for who asks for several of their columns: from now on the temporary table energy_sum has them, and
 * the session as session_id. Nothing happens if it has them already. 0, or -1 and db->error.
 */
int nt_energy_sum(const struct nt_part *part);

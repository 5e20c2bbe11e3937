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
		       : nt_probe_readings_are_known(part, "energy", "/sys/class/powercap", is_known);
}

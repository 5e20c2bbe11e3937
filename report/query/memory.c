// SPDX-License-Identifier: GPL-2.0-only
/*
 * memory.c - see memory.h.
 */
#include "report/query/memory.h"

#include "report/query/probe_rows.h"

int nt_memory_is_known(const struct nt_part *part, bool *is_known)
{
	return nt_probe_rows_are_known(part, "memory", NT_TABLE_MEM_RSS, is_known);
}

int nt_pressure_is_known(const struct nt_part *part, bool *is_known)
{
	return nt_probe_readings_are_known(part, "memory", "/proc/pressure/*", is_known);
}

int nt_socket_memory_is_known(const struct nt_part *part, bool *is_known)
{
	return nt_probe_readings_are_known(part, "memory", "/proc/net/sockstat", is_known);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * disks.c - see disks.h.
 */
#include "report/query/disks.h"

#include "report/query/probe_rows.h"

int nt_disks_are_known(const struct nt_part *part, bool *are_known)
{
	return nt_probe_rows_are_known(part, "block", NT_TABLE_BLOCK_IO, are_known);
}

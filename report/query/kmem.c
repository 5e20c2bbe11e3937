// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmem.c - see kmem.h.
 */
#include "report/query/kmem.h"

#include "report/query/probe_rows.h"

int nt_kmem_is_known(const struct nt_part *part, bool *is_known)
{
	return nt_probe_rows_are_known(part, "kmem", NT_TABLE_KMEM, is_known);
}

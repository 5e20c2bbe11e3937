/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmem.h - memory that the kernel took, by whose time it was and by kind, for every command that shows it. Prints
 * nothing. Of all processes and CPUs.
 */
#pragma once

#include "report/query/session.h"
#include "report/rows/sql_lists.h"

#define NT_KMEM_TITLE "Memory that the kernel took"
#define NT_KMEM_NOTE                                                                                                   \
	"Not what is still in use: who gives memory back is not recorded. objects: of kmalloc and caches, which cut "  \
	"them from pages. Where there were many, the numbers are estimated from samples; error: twice the standard "   \
	"deviation of bytes. most_by took the most bytes of objects. Of all processes and CPUs."

/* Rows of kmem of session ?1 from ?2 to ?3, by whose time it was, and place. In a softirq it is no process's. */
#define NT_KMEM_PLACES_SQL                                                                                             \
	"place AS (SELECT CASE k.context WHEN 'softirq' THEN 'softirq ' || k.vec WHEN 'hardirq' THEN 'interrupts' "    \
	"ELSE coalesce(p.name, '(unknown)') END AS name, t.upid, p.pid, k.kind = 'pages' AS is_pages, k.location, "    \
	"sum(weight) AS n, total(" NT_KMEM_BYTES_SQL ") AS bytes, total(" NT_KMEM_VARIANCE_SQL ") AS variance, "       \
	"sum(" NT_KMEM_FAILED_SQL ") AS failed FROM kmem AS k "                                                        \
	"LEFT JOIN thread AS t ON t.session_id = ?1 AND t.utid = k.utid "                                              \
	"LEFT JOIN process AS p ON p.session_id = ?1 AND p.upid = t.upid "                                             \
	"WHERE k.session_id = ?1 AND k.ts >= ?2 AND k.ts < ?3 GROUP BY 1, t.upid, 3, k.location), "
/* The same by whose time it was. SQLite takes `location` of the row with the most bytes of objects. */
#define NT_KMEM_SQL                                                                                                    \
	NT_KMEM_PLACES_SQL                                                                                             \
	"part AS (SELECT name, upid, pid, location, failed, n * (NOT is_pages) AS n, "                                 \
	"bytes * (NOT is_pages) AS object_bytes, bytes * is_pages AS page_bytes, "                                     \
	"variance * (NOT is_pages) AS object_variance, "                                                               \
	"variance * is_pages AS page_variance FROM place), "                                                           \
	"taken AS (SELECT name, pid, sum(n) AS objects_count, CAST(total(object_bytes) AS INTEGER) AS object_bytes, "  \
	"CAST(2 * root(sum(object_variance)) AS INTEGER) AS error_object_bytes, "                                      \
	"CAST(total(page_bytes) AS INTEGER) AS page_bytes, "                                                           \
	"CAST(2 * root(sum(page_variance)) AS INTEGER) AS error_page_bytes, sum(failed) AS failed_count, "             \
	"location AS most_by, max(object_bytes) FROM part GROUP BY name, upid) "                                       \
	"SELECT name, pid, objects_count, object_bytes, error_object_bytes, page_bytes, error_page_bytes, "            \
	"failed_count, most_by FROM taken ORDER BY object_bytes + page_bytes DESC, name, pid"

/* Whether the session has the probe, and its database the table. 0, or -1 and db->error. */
int nt_kmem_is_known(const struct nt_part *part, bool *is_known);

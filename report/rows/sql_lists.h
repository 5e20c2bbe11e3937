/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sql_lists.h - definitions of C as parts of SQL statements. views.sql names them between two @. Each list for IN
 * begins with '', which is no name, so that every name can follow a comma.
 */
#pragma once

#include "report/timeline/timeline.h"
#include "schema/event.h"
#include "schema/meta_keys.h"

/* The kinds that are loose: a loss of these leaves no time uncovered. */
#define NT_SQL_OF_TIMELINE(name)
#define NT_SQL_OF_IDENTITY(name)
#define NT_SQL_OF_LOOSE(name) ", '" #name "'"
#define NT_SQL_OF_KIND(number, constant, name, shape, place) NT_SQL_OF_##place(name)
#define NT_LOOSE_KINDS_SQL "(''" NT_KINDS(NT_SQL_OF_KIND) ")"

/* The owners that are the network's. */
#define NT_SQL_OF_OTHER(name)
#define NT_SQL_OF_NETWORK(name) ", '" #name "'"
#define NT_SQL_OF_OWNER(number, constant, name, sort) NT_SQL_OF_##sort(name)
#define NT_NETWORK_OWNERS_SQL "(''" NT_OWNERS(NT_SQL_OF_OWNER) ")"

/* The hook of the program of a row, `program`; NULL: it is at none. */
#define NT_SQL_OF_HOOK(number, name, text) "\n        WHEN program GLOB '" NT_HOOK_PROGRAM(name) "*' THEN '" text "'"
#define NT_HOOK_SQL "CASE" NT_HOOKS(NT_SQL_OF_HOOK) " END"

/* Of rows of self_cost_last, the sum of each outcome as a column of its name; and these columns. Both follow others. */
#define NT_SQL_SUM_OF(outcome) "sum(CASE name WHEN '" outcome "' THEN value ELSE 0 END)"
#define NT_SQL_OF_OUTCOME(name, passed, looked) ",\n           " NT_SQL_SUM_OF(#name) " AS " #name
#define NT_SQL_COLUMN_OF_OUTCOME(name, passed, looked) ", " #name
#define NT_OUTCOME_SUMS_SQL NT_HOOK_OUTCOMES(NT_SQL_OF_OUTCOME)
#define NT_OUTCOME_COLUMNS_SQL NT_HOOK_OUTCOMES(NT_SQL_COLUMN_OF_OUTCOME)

/* What the session ?1 has under a key of schema/meta_keys.h. */
#define NT_META_SQL(key) "SELECT value FROM session_meta WHERE session_id = ?1 AND key = '" key "'"
/* Whether the probe was on in the session ?1: a tape that does not name its probes had it. */
#define NT_HAS_PROBE_SQL(probe) "ifnull(instr(',' || (" NT_META_SQL(NT_META_PROBES) ") || ',', '," probe ",') > 0, 1)"

/*
 * Of a row of kmem, for sums: what it stands for, and the variance of that. The first two are summed by total(), which
 * has no limit: a tape may say that there was any number of them.
 */
#define NT_KMEM_BYTES_SQL "CASE WHEN is_failed THEN 0 ELSE weight * bytes END"
#define NT_KMEM_VARIANCE_SQL "CASE WHEN is_failed THEN 0 ELSE bytes * bytes * weight * (weight - 1) END"
#define NT_KMEM_FAILED_SQL "CASE WHEN is_failed THEN weight ELSE 0 END"

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sql_lists.h - what is defined in C, as parts of SQL statements; views.sql has them as @NAME@. A list for IN begins
 * with
 * '', which nothing is called: so each of the others can follow a comma.
 */
#ifndef NT_REPORT_ROWS_SQL_LISTS_H
#define NT_REPORT_ROWS_SQL_LISTS_H

#include "report/timeline/timeline.h"
#include "schema/event.h"
#include "schema/meta_keys.h"

/* The kinds of class SAMPLE: a loss of these leaves no time uncovered. */
#define NT_SQL_OF_EVENT(name)
#define NT_SQL_OF_SPAN(name)
#define NT_SQL_OF_IDENTITY(name)
#define NT_SQL_OF_SAMPLE(name) ", '" #name "'"
#define NT_SQL_OF_KIND(number, constant, name, class) NT_SQL_OF_##class(name)
#define NT_SAMPLES_SQL "(''" NT_KINDS(NT_SQL_OF_KIND) ")"

/* The owners that are the network's. */
#define NT_SQL_OF_OTHER(name)
#define NT_SQL_OF_NETWORK(name) ", '" #name "'"
#define NT_SQL_OF_OWNER(number, constant, name, sort) NT_SQL_OF_##sort(name)
#define NT_NETWORK_OWNERS_SQL "(''" NT_OWNERS(NT_SQL_OF_OWNER) ")"

/* What the session ?1 has under a key of schema/meta_keys.h. */
#define NT_META_SQL(key) "SELECT value FROM session_meta WHERE session_id = ?1 AND key = '" key "'"

#endif

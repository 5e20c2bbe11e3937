/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * export.h - the formats of other programs, and the functions that write them. Each writes to the stream that it is
 * given and nowhere else; write errors stay in it. Functions give 0, or -1 and a sentence in db->error.
 */
#pragma once

#include <stdio.h>

#include "report/query/groups.h"
#include "report/query/latency/scan.h"

/* X(name): each format's command, in report/cmd/<name>.c, in the order of the help. */
#define NT_EXPORTS(X)                                                                                                  \
	X(export_html)                                                                                                 \
	X(export_perfetto)                                                                                             \
	X(export_prometheus)

/*
 * html/: one page for browsers; all sessions, each in a section. `by`: how costs are grouped first; the reader may
 * choose another grouping.
 */
int nt_export_html(struct nt_db *db, const struct nt_selection *selection, enum nt_by by, FILE *out);
/* Whether anything of the database is selected: 1; 0: *why says why not; -1: db->error. */
int nt_export_html_has(struct nt_db *db, const struct nt_selection *selection, const char **why);

/* perfetto/: a session as a trace; its times are not odd (nt_session_only). */
int nt_export_perfetto(struct nt_db *db, const struct nt_session *session, const struct nt_selection *selection,
		       FILE *out);

/*
 * prometheus/: all sessions as metrics; those of one host are added up. Of programs, cgroups and ports, and of the
 * groups of choice->by, the `limit` (1 at least) that cost most, or have most packets, have their names.
 */
int nt_export_prometheus(struct nt_db *db, const struct nt_latency_choice *choice, size_t limit, FILE *out);
#define NT_PROMETHEUS_NAMED 25 /* the limit, where none is asked for */
/* The tables that metrics of every recording are made of: costs, and others; and those that costs of a part of a
 * session (choice->selection) are made of in a database. */
#define NT_PROMETHEUS_COSTS                                                                                            \
	(NT_TABLE_BIT(NT_TABLE_CPU_COST) | NT_TABLE_BIT(NT_TABLE_SOCK_COST) | NT_TABLE_BIT(NT_TABLE_RX_COST))
#define NT_PROMETHEUS_TABLES                                                                                           \
	(NT_PROMETHEUS_COSTS | NT_TABLE_BIT(NT_TABLE_RECORD_COUNT) | NT_TABLE_BIT(NT_TABLE_SELF_COST))
#define NT_PROMETHEUS_PART_TABLES                                                                                      \
	(NT_TABLE_BIT(NT_TABLE_CPU_SLICE) | NT_TABLE_BIT(NT_TABLE_SOCK_OP) | NT_TABLE_BIT(NT_TABLE_RX_COST))

/* SPDX-License-Identifier: GPL-2.0-only */
/* probe_rows.h - whether a session has the rows of a probe that is off by default. Prints nothing. */
#pragma once

#include "report/query/session.h"

/* Whether the session has this probe, and its database this table of the probe's rows. 0, or -1 and db->error. */
int nt_probe_rows_are_known(const struct nt_part *part, const char *probe, enum nt_table_id table, bool *are_known);

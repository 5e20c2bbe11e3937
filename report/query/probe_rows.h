/* SPDX-License-Identifier: GPL-2.0-only */
/* probe_rows.h - whether a session has what a probe that is off by default records. Prints nothing. */
#pragma once

#include "report/query/session.h"

/* Whether the session has this probe, and its database this table of the probe's rows. 0, or -1 and db->error. */
int nt_probe_rows_are_known(const struct nt_part *part, const char *probe, enum nt_table_id table, bool *are_known);
/*
 * The same of readings: rows of proc_counter whose source this pattern of GLOB matches. Not every host has them where
 * the probe is on. Of a tape, blocks are read for it.
 */
int nt_probe_readings_are_known(const struct nt_part *part, const char *probe, const char *source, bool *are_known);

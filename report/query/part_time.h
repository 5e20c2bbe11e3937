/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * part_time.h - says to people which time of a session a part is.
 */
#pragma once

#include <stdio.h>

#include "report/out/output.h"
#include "report/query/session.h"

/* Times as --from takes them, with as many digits as they have. Each gives `text`. */
/* Seconds, "2.5". */
const char *nt_part_seconds(char text[NT_HUMAN_MAX], uint64_t ns);
/* Those since the session's start. */
const char *nt_part_since(char text[NT_HUMAN_MAX], const struct nt_session *session, int64_t ts);
/* "2023-11-14T22:13:20.2Z"; "-" where the wall's time is not known. */
const char *nt_part_utc(char text[NT_HUMAN_MAX], const struct nt_session *session, int64_t ts);
/* "from 0.2 s (2023-11-14T22:13:20.2Z) to 0.3 s: 100.0 ms, all of the recording" */
void nt_part_put_time(FILE *line, const struct nt_session *session, int64_t from_ts, int64_t to_ts);

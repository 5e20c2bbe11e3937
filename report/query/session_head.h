/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * session_head.h - the line above what is shown of a session: its host, when it began, how long it is, and what of it
 * is selected. Prints to `out`.
 */
#pragma once

#include <stdio.h>

#include "report/query/session.h"

void nt_session_head_print(FILE *out, const struct nt_session *session, const struct nt_selection *selection);

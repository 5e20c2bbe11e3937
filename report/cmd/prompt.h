/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prompt.h - SQL by hand: reads statements from a terminal and runs each when it is complete. An error or Ctrl-C ends
 * the running statement, not the session.
 */
#pragma once

#include "report/db/db.h"
#include "report/out/output.h"

/* `path` is what the database was made of, for the greeting. Prompts go to standard error. Gives an exit code. */
int nt_prompt(struct nt_db *db, struct nt_printer *printer, const char *path);

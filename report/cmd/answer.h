/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * answer.h - the answer to one query of a stranger, as JSON: {"tape", "columns", "rows", "is_cut", "problems"}. To be
 * called in a process of its own, which has bounds (util/process.h).
 */
#pragma once

#include "report/cmd/sql.h"

#define NT_ANSWER_MEMORY_MIB 512 /* the bound of that process, and of each of its temporary files */

/*
 * Runs one statement on a tape or a database, and prints the answer to standard output when all is known.
 * `names_file` as for nt_load_open. NT_EXIT_DONE; NT_EXIT_MISUSED: the query cannot be answered; NT_EXIT_FAILED: the
 * tape cannot be read, or the host has no room for temporary files. Why is on standard error.
 */
int nt_answer(const char *path, const char *names_file, const char *sql, const struct nt_sql_bounds *bounds);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * percentile.h - the SQL function percentile(value, fraction [, weight]), an aggregate and a window function.
 */
#pragma once

#include "report/db/sqlite.h"

/* Makes the function known to one connection. SQLITE_OK or SQLite's error. */
int nt_percentile_register(sqlite3 *handle);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * percentile.h - the SQL function percentile(value, fraction [, weight]), an aggregate and a window function. It also
 * goes by NT_PERCENTILE_OWN, for connections that have another percentile.
 */
#pragma once

#include "report/db/sqlite.h"

#define NT_PERCENTILE "percentile"
#define NT_PERCENTILE_OWN "nettape_percentile"

/* Makes the function known to one connection, as `name`. SQLITE_OK or SQLite's error. */
int nt_percentile_register(sqlite3 *handle, const char *name);

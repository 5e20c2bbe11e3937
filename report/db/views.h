/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * views.h - makes the views of rows/views.sql. Prints nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/db/sqlite.h"

size_t nt_views_count(void);
/* Makes, or removes, one of them in the schema `schema` ("main", "temp"). Gives SQLite's result code. */
int nt_view_make(sqlite3 *handle, const char *schema, size_t i);
int nt_view_drop(sqlite3 *handle, const char *schema, size_t i);
/* Whether one of them has this name, and `sql`, which SQLite keeps of a view, is not what makes it. */
bool nt_view_differs(const char *name, const char *sql);

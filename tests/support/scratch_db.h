/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scratch_db.h - small databases for tests, filled with SQL: what reads databases is then tested without a tape, with
 * just the rows that a test is about. Fails by abort().
 */
#pragma once

#include <stdint.h>

#include "report/db/db.h"

#define SCRATCH_DB_REALTIME_NS 1700000000000000000ll /* of every session's start */

/* An empty database with all tables and views: a file at `path`, or a temporary one if that is NULL. */
struct nt_db *scratch_db_new(const char *path);
/* Statements, as printf writes them. */
void scratch_db_run(struct nt_db *db, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The row of a session. */
void scratch_db_session(struct nt_db *db, int64_t id, int64_t start_ts, int64_t end_ts, int cpus);
/* Ends what scratch_db_new began with a path: the file is whole then. Closes it. */
void scratch_db_finish(struct nt_db *db);

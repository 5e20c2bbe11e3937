/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * labels.h - the groups of samples and stages in a session, each with its label. Prints nothing.
 */
#pragma once

#include "report/db/db.h"
#include "report/query/by.h"
#include "report/util/labels.h"

/*
 * The groups of a session, by the ids that rows refer to; 0 is all that belongs to none, with the label "-", and what
 * has that name. 0, or -1 and a sentence in db->error. To be released even on failure.
 */
int nt_groups_read(struct nt_db *db, int64_t session_id, enum nt_by by, struct nt_labels *groups);
/*
 * The same groups by process: of each that has one, the group's number + 1 at its id. By NT_BY_PROCESS or NT_BY_CGROUP.
 * Groups of further processes are added.
 */
int nt_groups_of_processes(struct nt_db *db, int64_t session_id, enum nt_by by, struct nt_labels *groups,
			   struct nt_id_map *by_process);
/* The group of an id. */
uint32_t nt_group_of_id(struct nt_labels *groups, int64_t id);

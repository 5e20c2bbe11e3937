/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * name_cgroups.h - brings a user's names of cgroups (rows/cgroup_names.h) to a tape or a database. Prints nothing.
 */
#pragma once

#include "report/db/db.h"
#include "report/rows/cgroup_names.h"
#include "report/tape/tape.h"

/*
 * Reads the file for the cgroups of a tape; *out is NULL for a file that is NULL. 0, or -1 and a sentence in `error`:
 * then *out is NULL.
 */
int nt_name_cgroups_of_tape(struct nt_cgroup_names **out, const char *file, struct nt_tape *tape,
			    char error[NT_ERROR_MAX]);
/* Several tapes may go by the same names: the cgroups of one more. */
int nt_name_cgroups_meet(struct nt_cgroup_names *names, struct nt_tape *tape, char error[NT_ERROR_MAX]);
/*
 * The same of a database that was opened for reading and is not protected yet (nt_db_forbid_writing). The file is not
 * changed: from now on `cgroup`, and all views, are temporary ones of this connection. Where the file has no name, that
 * of the import stays. NULL: nothing to do. 0, or -1 and db->error.
 */
int nt_name_cgroups_of_db(struct nt_db *db, const char *file);

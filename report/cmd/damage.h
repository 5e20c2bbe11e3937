/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * damage.h - what is missing of a recording is said by each command that shows figures of it: on standard error, before
 * the figures as far as it is known then, and after them if reading found more.
 */
#pragma once

#include <stddef.h>

#include "report/db/db.h"

/* *told: problems that have been said of this recording; 0 at first. */
void nt_damage_tell(struct nt_db *db, const char *path, size_t *told);

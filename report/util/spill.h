/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spill.h - a temporary file for numbers with weights that have no room in memory (util/weighted.h). It lies where
 * SQLite's own do (SQLITE_TMPDIR, TMPDIR, /var/tmp, ...), has no name, and is gone with the process.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct nt_spilled {
	uint64_t key;
	double weight;
};

/* Zero-initialised is empty. Owner frees with nt_spill_release. */
struct nt_spill {
	int fd; /* + 1; 0: there is no file yet */
	uint64_t n; /* records written */
	int error; /* errno of the first failure; from then on all fail */
};

/* Appends; makes the file if there is none. 0, or -EIO and spill->error. */
int nt_spill_append(struct nt_spill *spill, const struct nt_spilled *records, size_t n);
/* Records at a place, in records; to change some that are there. */
int nt_spill_read(struct nt_spill *spill, uint64_t at, struct nt_spilled *records, size_t n);
int nt_spill_change(struct nt_spill *spill, uint64_t at, const struct nt_spilled *records, size_t n);
/* These are needed no more: gives their room back, where the file system can. */
void nt_spill_forget(struct nt_spill *spill, uint64_t at, uint64_t n);
void nt_spill_release(struct nt_spill *spill);

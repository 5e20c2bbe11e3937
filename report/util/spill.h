/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * spill.h - a temporary file for what has no room in memory. It lies where SQLite's own do (SQLITE_TMPDIR, TMPDIR,
 * /var/tmp, ...), has no name, and is gone with the process.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* For people: the name of what is read, and the error's text. */
#define NT_SPILL_FAILED                                                                                                \
	"%s: samples that have no room in memory cannot be kept in a temporary file: %s. Set TMPDIR to a directory "   \
	"with room."

/* Zero-initialised is empty. Owner frees with nt_spill_release. */
struct nt_spill {
	int fd; /* + 1; 0: there is no file yet */
	uint64_t size; /* bytes written */
	int error; /* errno of the first failure; from then on all fail */
};

/* Appends; makes the file if there is none. 0, or -EIO and spill->error. */
int nt_spill_append(struct nt_spill *spill, const void *bytes, size_t size);
/* Bytes that are there already, and to change them. */
int nt_spill_read(struct nt_spill *spill, uint64_t at, void *bytes, size_t size);
int nt_spill_change(struct nt_spill *spill, uint64_t at, const void *bytes, size_t size);
/*
 * Bytes that are needed no more: gives the room of whole blocks back, where the file system can. Gives where to go on
 * when more behind them is not needed: a part of a block stays.
 */
uint64_t nt_spill_forget(struct nt_spill *spill, uint64_t from, uint64_t to);
void nt_spill_release(struct nt_spill *spill);

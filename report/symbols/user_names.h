/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_names.h - names for file offsets in programs, from files that are at hand where the tape is read: those of the
 * same build id, and no other. Looks for files and reads them (program_file.h); asks no network. Prints nothing.
 *
 * A file of build id abcdef.. and path /usr/bin/x is looked for, in each given directory DIR and then on this system:
 *
 *     DIR/usr/bin/x   DIR/x   DIR/.build-id/ab/cdef..   DIR/usr/lib/.build-id/ab/cdef..
 *
 * and what debuggers know of it, which may have been split off:
 *
 *     DIR/.build-id/ab/cdef...debug   DIR/usr/lib/debug/.build-id/ab/cdef...debug   DIR/x.debug
 *
 * and both where debuginfod's clients keep what they fetched (DEBUGINFOD_CACHE_PATH, XDG_CACHE_HOME, ~/.cache).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/util/fail.h"
#include "schema/event.h"

#define NT_MAX_SYMBOL_DIRS 16

/* As on the command line. */
struct nt_symbol_args {
	const char *dirs[NT_MAX_SYMBOL_DIRS]; /* --symbols */
	size_t n_dirs;
	bool none; /* --no-symbols: look at no file */
};

struct nt_user_names;

struct nt_user_name {
	const char *function; /* demangled; NULL: not known. Good until the next call; any bytes */
	uint64_t offset; /* of what was asked for, from the function's begin */
	const char *files[2]; /* that were used: what is loaded, what has the names; NULL: there is none. As long */
};

/* 0, or -1 and a sentence in `error`; then *out is NULL. The arguments are copied. */
int nt_user_names_new(struct nt_user_names **out, const struct nt_symbol_args *args, char error[NT_ERROR_MAX]);
void nt_user_names_free(struct nt_user_names *names);
/*
 * The function at an offset in the file of this build id; `path` may be NULL. 0 or -ENOMEM. Of each file
 * what is found is kept, or that nothing is.
 */
int nt_user_names_find(struct nt_user_names *names, const uint8_t build_id[NT_BUILD_ID_LEN], const char *path,
		       uint64_t file_offset, struct nt_user_name *name);

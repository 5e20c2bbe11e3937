/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * file_kind.h - recognises what was given instead of a tape, for the message that refuses it.
 */
#pragma once

#define NT_EMPTY_DIRECTORY "an empty directory"
#define NT_DB_APPLICATION_ID 0x6e747061 /* "ntpa", in the header of our databases */

/*
 * A clause like "a text file", or with a remedy: "an archive: unpack it first". By the first bytes, or by what a
 * directory holds. NULL: nothing that is known. A constant.
 */
const char *nt_file_kind(const char *path);

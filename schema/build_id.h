/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * build_id.h - the build id of a program or library: the tape's name for user code, compared where symbols are looked
 * for. The file may be anybody's, and may have been replaced: at most a few KiB of it are read, whatever it claims.
 * Only regular files are opened, since opening a device may do something.
 */
#pragma once

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "schema/event.h"

/*
 * Opens a regular file for reading; -1: there is none. A link at the end of the path is followed if `through_link`: a
 * mapping's path has none. To be closed by the caller.
 */
int nt_build_id_open(const char *path, bool through_link);
/* Among notes, as libelf gives them; NULL: there are none. The result is that of nt_build_id_read. */
bool nt_build_id_in_notes(Elf_Data *notes, uint8_t build_id[NT_BUILD_ID_LEN]);
/* Of a longer id the begin, a shorter one with zeroes behind it. False: the file has none, or none that was found. */
bool nt_build_id_read(int fd, uint8_t build_id[NT_BUILD_ID_LEN]);
/* Both, of a file whose path has no link at its end. */
bool nt_build_id_of_file(const char *path, uint8_t build_id[NT_BUILD_ID_LEN]);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * build_id.h - the build id of a program or library. The file is anybody's, and so is what stands at its path by now: no more than a few KiB
 * of it are read, whatever it says of itself, and what is no regular file is not even opened, since opening a device may do something. A link
 * at the end of a path is not followed: a mapping's path has none.
 */
#ifndef NT_RECORD_BUILD_ID_H
#define NT_RECORD_BUILD_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "schema/event.h"

/* Of a longer id the begin, a shorter one with zeroes behind it. False: the file has none, or none that was found. */
bool nt_build_id_of_file(const char *path, uint8_t build_id[NT_BUILD_ID_LEN]);

#endif

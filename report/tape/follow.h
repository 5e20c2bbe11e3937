/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * follow.h - a tape that is read while it is being recorded. It is open as any other (tape.h); each look finds the
 * blocks and chunks that have come since. Readers that are at the end of what there is give -EAGAIN and go on after the
 * next look (merge.h). Memory is for the chunks, some bytes for each, and the blocks of the last one.
 *
 * The tape is followed until it has its end. If it will not get one, because the recorder was killed, it ends with its
 * last record: nobody on this host has its directory locked then, as a recorder does. tape->growth is NULL from then
 * on, and the tape is what nt_tape_open gives. Until then tape->end_ns is INT64_MAX.
 *
 * For the tape's owner alone, while nobody else reads. A negative errno is an error of reading; text says why.
 */
#pragma once

#include "report/tape/tape.h"

/*
 * As nt_tape_open, of a directory. -EAGAIN: the recorder has only begun, and so far nothing says what the session is:
 * try again soon.
 */
int nt_tape_follow(struct nt_tape **out, const char *path, char error[NT_ERROR_MAX]);
/*
 * Looks for what has come. 0, also when that is nothing; -ESTALE: the host has got a CPU that the session did not have:
 * the tape must be opened anew, and read from its begin.
 */
int nt_tape_look(struct nt_tape *tape, char error[NT_ERROR_MAX]);
/* Up to when all records stand in this chunk, which has its end, or before it (but for some that came very late). */
uint64_t nt_tape_settled_by(const struct nt_tape *tape, size_t chunk);
/* Whether a recorder of this host writes the directory: one holds its lock. Where that cannot be found out just now, it
 * may. */
bool nt_tape_is_recorded(const char *path);
/* Whether more may come. */
static inline bool nt_tape_is_followed(const struct nt_tape *tape)
{
	return tape->growth;
}

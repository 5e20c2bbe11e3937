/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stacks.h - takes a stack, as the kernel side sends it when it is new, apart into the identities of the tape: one for
 * each frame that no stack before has had in that place. Most of a stack has been seen before, so a new one costs some
 * look-ups.
 */
#ifndef NT_RECORD_STACKS_H
#define NT_RECORD_STACKS_H

#include "bpf/shared.h"
#include "record/ids.h"
#include "record/user_files.h"

/* Whether an item of a ring is a stack. */
bool nt_stacks_is_message(const uint8_t *data, size_t size);
/* Puts what of it is new. 0, -ENOMEM, or -EBADMSG: it is cut, a fault of ours. */
int nt_stacks_put(struct nt_ids *ids, struct nt_user_files *files, const uint8_t *data, size_t size);

#endif

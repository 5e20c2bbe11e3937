/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stacks.h - takes a new stack from the kernel side apart into identities of the tape: one for each frame that is new
 * in its place. Most frames have been seen before, so a new stack costs a few look-ups.
 */
#pragma once

#include "bpf/shared.h"
#include "record/ids.h"
#include "record/user_files.h"

/* Whether an item of a ring is a stack. */
bool nt_stacks_is_message(const uint8_t *data, size_t size);
/* Puts what of it is new. 0, -ENOMEM, or -EBADMSG: it is cut, a fault of ours. */
int nt_stacks_put(struct nt_ids *ids, struct nt_user_files *files, const uint8_t *data, size_t size);

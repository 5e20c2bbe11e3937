/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * drop_reasons.h - the kernel's words for why it drops packets, from its type information. They are read once, before
 * the recording, and put into each chunk.
 */
#pragma once

#include "record/ids.h"

/* Zero-initialised is empty. */
struct nt_drop_reasons {
	struct nt_drop_reason *records;
	size_t n;
};

/* A kernel without reasons, or without type information, has none: that is no error. 0 or -ENOMEM. */
int nt_drop_reasons_read(struct nt_drop_reasons *reasons);
void nt_drop_reasons_release(struct nt_drop_reasons *reasons);
/* Puts all of them. 0 or -ENOMEM. */
int nt_drop_reasons_put(const struct nt_drop_reasons *reasons, struct nt_ids *ids, uint64_t now_ns);

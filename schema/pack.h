/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pack.h - groups of integers that lie near each other, in as few bits as they need. Internal to schema/.
 * docs/chunk-format.md section 6.4.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NT_PACK_GROUP 256 /* values of a group; the last of a column may have less */
#define NT_PACK_WIDTH_MAX 56 /* bits of a value; what is above stands with the exceptions */
/* Bytes of the longest group, and 8 that are written over behind it. */
#define NT_PACK_GROUP_MAX (3 + 10 + NT_PACK_GROUP * (8 + 1 + 10) + 8)

/*
 * Writes one group of n values, 1 to NT_PACK_GROUP, to at least NT_PACK_GROUP_MAX bytes. Gives how many it took, or 0
 * when the values lie too far from each other.
 */
size_t nt_pack_group(uint8_t *to, const uint64_t *values, size_t n);
/* Moves *at over one group of n values. -EBADMSG: it is not one. */
int nt_unpack_group(const uint8_t **at, const uint8_t *end, uint64_t *values, size_t n);

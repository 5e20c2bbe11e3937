/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chunk_seal.h - for fuzz targets: makes the checksums of a mutated chunk right again, so that more than checksums is
 * tested.
 */
#pragma once

#include "schema/block.h"

/* Sets the checksums of all in these bytes that looks like a header, its payload, or the trailer. */
void chunk_seal(struct nt_buf *bytes);

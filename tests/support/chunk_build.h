/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chunk_build.h - a small chunk in memory with a block of every type, and what was put into it.
 */
#pragma once

#include "schema/chunk.h"
#include "tests/support/rand.h"

#define CHUNK_BUILD_MOST 16

struct chunk_build {
	struct nt_chunk_header header;
	struct nt_buf file;
	uint64_t end_of_blocks; /* where the index begins, or would */
	struct nt_block_ref blocks[CHUNK_BUILD_MOST];
	struct nt_buf payloads[CHUNK_BUILD_MOST]; /* raw */
	size_t n;
	struct nt_source source; /* of `file` */
	struct nt_chunk_contents contents; /* what chunk_build_open found in it */
};

/* `finished`: with index and trailer. Ends the program if anything fails. */
void chunk_build(struct chunk_build *build, struct nt_rand *rand, bool finished);
void chunk_build_release(struct chunk_build *build);
/* nt_chunk_open on the file as it is now. */
int chunk_build_open(struct chunk_build *build, bool scan);
/* Whether the header that was found is the one that was built. */
bool chunk_build_header_is_right(const struct chunk_build *build);
/*
 * How many of the built blocks the opened file lists with their offset and header and gives with their payload. Ends
 * the program when a block is given that differs from what was built.
 */
size_t chunk_build_intact(const struct chunk_build *build);

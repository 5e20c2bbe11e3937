/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chunk_memory.h - chunks in memory, and random records to fill them with, for tests.
 */
#pragma once

#include "schema/chunk.h"
#include "tests/support/rand.h"

/* An nt_write_fn whose arg is a struct nt_buf. */
int chunk_memory_write(void *arg, const void *data, size_t size);
/* A source of these bytes, which must outlive it. */
struct nt_source chunk_memory_source(const struct nt_buf *bytes);
/*
 * A record of this kind with random values, extreme ones often; its end within about 1 ms of near_ns, or
 * anywhere if near_ns is 0. Bytes that belong to no field are 0.
 */
void chunk_random_record(struct nt_rand *rand, unsigned int kind, uint64_t near_ns, union nt_any *out);
/* The number of one of the kinds that are a CPU's. */
unsigned int chunk_random_event_kind(struct nt_rand *rand);

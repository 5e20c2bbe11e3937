/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rand.h - random numbers for tests: the same from the same seed everywhere (splitmix64).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct nt_rand {
	uint64_t state;
};

uint64_t nt_rand_u64(struct nt_rand *rand);
/* 0 .. below - 1; below must not be 0. */
uint64_t nt_rand_below(struct nt_rand *rand, uint64_t below);
/* A number of any length in bits, with the extreme ones often. */
uint64_t nt_rand_any(struct nt_rand *rand);
void nt_rand_bytes(struct nt_rand *rand, void *to, size_t size);
/* The seed of this run, which is printed as NT_SEED=...: NT_SEED of the environment; without it always the same in
 * continuous integration (where CI is set), and from the clock elsewhere, as with NT_SEED=random. */
uint64_t nt_rand_seed(void);

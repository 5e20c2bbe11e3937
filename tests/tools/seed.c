// SPDX-License-Identifier: GPL-2.0-only
/*
 * seed.c - prints the seed of this run for tests that are scripts (nt_rand_seed), and "NT_SEED=..." on standard error.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tests/support/rand.h"

int main(void)
{
	return printf("%" PRIu64 "\n", nt_rand_seed()) < 0;
}

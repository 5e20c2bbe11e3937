// SPDX-License-Identifier: GPL-2.0-only
/*
 * rand.c - see rand.h.
 */
#include "tests/support/rand.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t nt_rand_u64(struct nt_rand *rand)
{
	uint64_t z = (rand->state += 0x9e3779b97f4a7c15ull);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

uint64_t nt_rand_below(struct nt_rand *rand, uint64_t below)
{
	return nt_rand_u64(rand) % below;
}

uint64_t nt_rand_any(struct nt_rand *rand)
{
	unsigned int bits = (unsigned int)nt_rand_below(rand, 70);

	if (bits == 0)
		return 0;
	if (bits > 64)
		return UINT64_MAX - nt_rand_below(rand, 3);
	return nt_rand_u64(rand) >> (64 - bits);
}

void nt_rand_bytes(struct nt_rand *rand, void *to, size_t size)
{
	uint8_t *at = to;

	while (size--)
		*at++ = (uint8_t)nt_rand_u64(rand);
}

static uint64_t choose_seed(void)
{
	const char *given = getenv("NT_SEED"), *ci = getenv("CI");
	struct timespec now;

	if (given && strcmp(given, "random"))
		return strtoull(given, NULL, 0);
	if (!given && ci && *ci)
		return 0x6e65747461706531;
	/* Some unit tests have a clock of their own. */
	syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
}

uint64_t nt_rand_seed(void)
{
	static uint64_t seed;
	static bool is_chosen;

	if (!is_chosen) {
		seed = choose_seed();
		is_chosen = true;
		fprintf(stderr, "NT_SEED=%" PRIu64 "\n", seed);
	}
	return seed;
}

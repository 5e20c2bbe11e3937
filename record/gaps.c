// SPDX-License-Identifier: GPL-2.0-only
/*
 * gaps.c - see gaps.h.
 */
#include "record/gaps.h"

#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

bool nt_gaps_parse(const char *text, double *p)
{
	char *end;

	*p = strtod(text, &end);
	/* Below, the longest gap does not fit its 32 bits. */
	return end != text && !*end && *p >= 1e-6 && *p <= 1;
}

uint32_t nt_gaps_random(void *arg)
{
	uint32_t number;

	(void)arg;
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = rand();
	return number;
}

/*
 * By turning the distribution's function round: one from each of as many equal slices of what is likely, so that their
 * mean is near 1 / p, and in no order.
 */
void nt_gaps_draw(double p, uint32_t *gaps, uint32_t (*random)(void *arg), void *arg)
{
	for (uint32_t i = 0; i < NT_GAPS; i++) {
		double u = (i + random(arg) / 4294967296.0) / NT_GAPS;
		double gap = p < 1 ? ceil(log1p(-u) / log1p(-p)) : 1;

		gaps[i] = gap < 1 ? 1 : (uint32_t)gap;
	}
	for (uint32_t i = NT_GAPS - 1; i > 0; i--) {
		uint32_t other = random(arg) % (i + 1), gap = gaps[i];

		gaps[i] = gaps[other];
		gaps[other] = gap;
	}
}

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
 * -ln(1 - u) of numbers u: one from each of as many equal slices of what is likely, so that their mean is near 1, and
 * in no order.
 */
static void draw_exponentials(double drawn[NT_GAPS], uint32_t (*random)(void *arg), void *arg)
{
	for (uint32_t i = 0; i < NT_GAPS; i++)
		drawn[i] = -log1p(-(i + random(arg) / 4294967296.0) / NT_GAPS);
	for (uint32_t i = NT_GAPS - 1; i > 0; i--) {
		uint32_t other = random(arg) % (i + 1);
		double one = drawn[i];

		drawn[i] = drawn[other];
		drawn[other] = one;
	}
}

/* By turning the distribution's function round. */
void nt_gaps_draw(double p, uint32_t *gaps, uint32_t (*random)(void *arg), void *arg)
{
	double drawn[NT_GAPS];

	draw_exponentials(drawn, random, arg);
	for (uint32_t i = 0; i < NT_GAPS; i++) {
		double gap = p < 1 ? ceil(drawn[i] / -log1p(-p)) : 1;

		gaps[i] = gap < 1 ? 1 : (uint32_t)gap;
	}
}

void nt_gaps_draw_thinning(struct nt_thinning_config *config, uint32_t (*random)(void *arg), void *arg)
{
	double drawn[NT_GAPS];

	draw_exponentials(drawn, random, arg);
	for (uint32_t i = 0; i < NT_GAPS; i++)
		config->exponentials[i] = (uint32_t)(drawn[i] * 65536);
	for (uint32_t shift = 1; shift < NT_THINNING_SHIFTS; shift++)
		config->means[shift] = (uint64_t)(65536 / -log1p(-ldexp(1, -(int)shift)));
}

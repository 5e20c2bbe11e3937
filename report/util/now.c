// SPDX-License-Identifier: GPL-2.0-only
/* now.c - see now.h. */
#include "report/util/now.h"

#include <time.h>

uint64_t nt_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

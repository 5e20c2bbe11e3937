/* SPDX-License-Identifier: GPL-2.0-only */
/* now.h - how much time has passed. */
#pragma once

#include <stdint.h>

/* Milliseconds of CLOCK_MONOTONIC. */
uint64_t nt_now_ms(void);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * must.h - what must hold in a program that a test runs: else it says where that is not so, and aborts, which a fuzzer
 * and its driver notice.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define MUST(condition)                                                                                                \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                        \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * no_threads.h - a host on which no thread can be started. Fails by abort().
 */
#pragma once

#include <stdbool.h>

/* From here on pthread_create fails; or (false) no longer. */
void let_threads_fail(bool fail);

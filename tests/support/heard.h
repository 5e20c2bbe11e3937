/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * heard.h - what a test's code says on standard error. Fails by abort().
 */
#pragma once

/* From here on standard error goes into memory. */
void heard_begin(void);
/* Ends that. Returns the first 8191 bytes since then, good until the next call. */
const char *heard_end(void);

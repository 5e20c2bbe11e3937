/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * prometheus.h - pieces of the text format that Prometheus reads (version 0.0.4), in which prometheus.c writes latency,
 * drops, retransmits and flows.
 *
 * Buckets end at 2^0, 2^1 ... 2^34 ns, told in seconds. A latency that equals a bound is in the bucket of that bound,
 * as `le` (less or equal) has it. Sampled packets count with their weight.
 */
#pragma once

#include <stdio.h>

#define NT_PROMETHEUS_OCTAVES 34

/* The value of a label, without its quotes: \ " and line ends escaped, what is no UTF-8 replaced. */
void nt_prometheus_escape(FILE *out, const char *text);
/* A time in seconds, in the fewest digits that say it exactly. Gives `text`. */
const char *nt_prometheus_seconds(char text[32], double ns);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * text.h - pieces of the text format that Prometheus reads (version 0.0.4): values of labels, and numbers.
 */
#pragma once

#include <stdio.h>

/* The value of a label, without its quotes: \ " and line ends escaped, what is no UTF-8 replaced. */
void nt_prometheus_escape(FILE *out, const char *text);
/* A number in the fewest digits that say it exactly; a count without an exponent. Gives `text`. */
const char *nt_prometheus_number(char text[32], double value);
/* A time in seconds, in the same way. Gives `text`. */
const char *nt_prometheus_seconds(char text[32], double ns);

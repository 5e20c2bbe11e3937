// SPDX-License-Identifier: GPL-2.0-only
/*
 * metrics.c - prints the metrics that nettape-serve answers scrapes with: a line for each, with its name, type, unit
 * and sentence between tabs. tests/dashboard.py makes the dashboard of them.
 */
#include <stdio.h>

#include "report/export/prometheus/metrics.h"

#define LINE(constant, name, type, join, unit, help) puts(name "\t" #type "\t" #unit "\t" help);

int main(void)
{
	NT_METRICS_OF_COSTS(LINE)
	NT_METRICS_OF_PROBES(LINE)
	NT_METRICS_OF_RECORDING(LINE)
	return 0;
}

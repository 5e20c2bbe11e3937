// SPDX-License-Identifier: GPL-2.0-only
/* main.c - nettape-record: the command line, and what it leads to. */
#include <stdio.h>
#include <string.h>

#include "record/options.h"
#include "record/session.h"

static int print_uncovered(void *arg, const char *sentence)
{
	(void)arg;
	printf("         not covered: %s\n", sentence);
	return 0;
}

static void print_probe(const struct nt_plan *plan, int probe)
{
	const struct nt_candidate *chosen = plan->chosen[probe];
	int i;

	printf("%-8s %s\n", nt_probes[probe].name, nt_probes[probe].what);
	if (!chosen) {
		printf("         not available (%s). %s\n", plan->refused[probe],
		       nt_probes[probe].without ? nt_probes[probe].without : "");
		return;
	}
	printf("         by %s:", chosen->name);
	for (i = 0; chosen->points[i].program; i++)
		if (plan->has[probe][i])
			printf(" %s", chosen->points[i].point);
	printf("\n");
	if (plan->refused[probe][0])
		printf("         not by %s: %s\n", nt_probes[probe].candidates->name, plan->refused[probe]);
	nt_plan_uncovered(plan, probe, print_uncovered, NULL);
}

static int list_probes(struct nt_plan *plan)
{
	int probe;

	memset(plan->on, true, sizeof(plan->on));
	if (nt_plan_choose(plan)) {
		fprintf(stderr, "nettape-record: this kernel gives no type information (/sys/kernel/btf/vmlinux): "
				"one built with CONFIG_DEBUG_INFO_BTF=y is needed\n");
		return 1;
	}
	for (probe = 0; probe < NT_PROBE_COUNT; probe++)
		print_probe(plan, probe);
	return 0;
}

int main(int argc, char **argv)
{
	struct nt_options options;
	int status;

	if (nt_options_parse(&options, argc, argv, &status))
		return status;
	return options.list_probes ? list_probes(&options.plan) : nt_session_run(&options);
}

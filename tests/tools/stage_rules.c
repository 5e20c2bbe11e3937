// SPDX-License-Identifier: GPL-2.0-only
/*
 * stage_rules.c - prints each rule of report/symbols/stages.txt: its function, a blank, its stage. For
 * tests/vm/guest/stage_rules.sh.
 */
#include <stdio.h>

#include "report/symbols/stages.h"

static void print(void *arg, const char *function, const char *stage)
{
	(void)arg;
	printf("%s %s\n", function, stage);
}

int main(void)
{
	struct nt_stage_rules *rules = nt_stage_rules_new();

	if (!rules)
		return 1;
	nt_stage_rules_each(rules, print, NULL);
	nt_stage_rules_free(rules);
	return 0;
}

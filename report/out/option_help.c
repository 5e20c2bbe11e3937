// SPDX-License-Identifier: GPL-2.0-only
/* option_help.c - see option_help.h. */
#include "report/out/option_help.h"

#include "report/out/prose.h"
#include "schema/cli/option.h"

#define OPTION_WIDTH 22 /* of options before their help */

static void print_option(FILE *out, const struct nt_option *option)
{
	char label[64] = "  ";
	size_t size = 2 + nt_option_label(option, label + 2, sizeof(label) - 2);

	if (size + 1 >= OPTION_WIDTH) {
		fprintf(out, "%s\n", label);
		size = 0;
	}
	snprintf(label + size, sizeof(label) - size, "%*s", (int)(OPTION_WIDTH - size), "");
	nt_print_prose(out, label, "%s", option->help);
}

void nt_print_options(FILE *out, const struct nt_option *options)
{
	for (const struct nt_option *option = options; option->name; option++) {
		if (option->help)
			print_option(out, option);
	}
}

// SPDX-License-Identifier: GPL-2.0-only
/* find.c - see find.h. */
#include "schema/cli/find.h"

#include <string.h>

const struct nt_option *nt_option_find(const struct nt_option *options, const char *name, size_t size,
				       bool *is_ambiguous)
{
	const struct nt_option *found = NULL;
	int n = 0;

	*is_ambiguous = false;
	for (; options->name; options++) {
		if (strncmp(options->name, name, size) != 0)
			continue;
		if (!options->name[size])
			return options;
		if (options->help) {
			found = options;
			n++;
		}
	}
	*is_ambiguous = n > 1;
	return n == 1 ? found : NULL;
}

const struct nt_option *nt_option_find_letter(const struct nt_option *options, char letter)
{
	for (; options->name; options++) {
		if (options->letter == letter)
			return options;
	}
	return NULL;
}

int nt_option_count_values(const struct nt_option *option)
{
	if (!option->value)
		return 0;
	return strchr(option->value, ' ') ? 2 : 1;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* find.h - rows of a table of options (option.h), found by name. Private to cli/. */
#pragma once

#include "schema/cli/option.h"

/*
 * The option whose name begins so: exactly so, or as the only one. NULL: there is none; or, *is_ambiguous, there are
 * several.
 */
const struct nt_option *nt_option_find(const struct nt_option *options, const char *name, size_t size,
				       bool *is_ambiguous);
const struct nt_option *nt_option_find_letter(const struct nt_option *options, char letter);
/* 0, 1 or 2. */
int nt_option_count_values(const struct nt_option *option);

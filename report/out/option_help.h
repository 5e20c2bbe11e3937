/* SPDX-License-Identifier: GPL-2.0-only */
/* option_help.h - a table of options (schema/cli/option.h) as a program's help shows it. */
#pragma once

#include <stdio.h>

struct nt_option;

/* A paragraph for each option that has a help. */
void nt_print_options(FILE *out, const struct nt_option *options);

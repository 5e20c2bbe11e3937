/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * help.h - what nettape-report says of itself: the overview, the help of one command, and the lines below a message
 * that says what is wrong with the command line.
 */
#pragma once

#include <stdio.h>

#include "report/cmd/command.h"

void nt_help_overview(FILE *out);
void nt_help_command(const struct nt_command *command);
/* Of all commands that have this first word: `export`. */
void nt_help_commands(const char *word);
/* One line: how `command` is called, or, if that is NULL, any command. */
void nt_help_usage(FILE *out, const struct nt_command *command);

/* SPDX-License-Identifier: GPL-2.0-only */
/* commands.h - all commands, and the search for one by name. */
#pragma once

#include "report/cmd/command.h"

/* All of them, in the order of the help. NULL: no more. */
const struct nt_command *nt_command_at(size_t i);
/* The one whose name is `first`, or `first second`. *n is how many words that are. NULL: there is none. */
const struct nt_command *nt_command_find(const char *first, const char *second, int *n);
/* The second word of a command whose first one this is; NULL: it has one word, or begins with another. */
const char *nt_command_second(const struct nt_command *command, const char *first);

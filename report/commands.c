// SPDX-License-Identifier: GPL-2.0-only
/* commands.c - see commands.h. */
#include "report/commands.h"

#include <string.h>

#include "report/util/array.h"

static const struct nt_command *const commands[] = {
#define X(name) &nt_cmd_##name,
	NT_COMMANDS(X)
#undef X
};

const struct nt_command *nt_command_at(size_t i)
{
	return i < NT_COUNT(commands) ? commands[i] : NULL;
}

const struct nt_command *nt_command_find(const char *first, const char *second, int *n)
{
	const struct nt_command *command;

	for (size_t i = 0; (command = nt_command_at(i)); i++) {
		const char *its_second = nt_command_second(command, first);

		*n = its_second ? 2 : 1;
		if (its_second ? second && !strcmp(its_second, second) : !strcmp(command->name, first))
			return command;
	}
	return NULL;
}

const char *nt_command_second(const struct nt_command *command, const char *first)
{
	size_t size = strlen(first);

	return !strncmp(command->name, first, size) && command->name[size] == ' ' ? command->name + size + 1 : NULL;
}

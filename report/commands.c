// SPDX-License-Identifier: GPL-2.0-only
/* commands.c - see commands.h. The order is that of the help: by what somebody wants to do. */
#include "report/commands.h"

#include <string.h>

#include "report/util/array.h"

static const struct nt_command *const commands[] = {
	&nt_cmd_summary,     &nt_cmd_timeline,	      &nt_cmd_info,
	&nt_cmd_check,	     &nt_cmd_stages,	      &nt_cmd_flame,
	&nt_cmd_latency,

	&nt_cmd_export_html, &nt_cmd_export_perfetto, &nt_cmd_export_prometheus,
	&nt_cmd_import,	     &nt_cmd_query,	      &nt_cmd_symbolize,
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

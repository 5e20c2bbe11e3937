// SPDX-License-Identifier: GPL-2.0-only
/*
 * commands.c - all commands, in the order of the help: by what somebody wants to do.
 */
#include <stddef.h>

#include "report/cmd/command.h"

static const struct nt_command *const commands[] = {
	&nt_cmd_summary,     &nt_cmd_timeline,	      &nt_cmd_info,
	&nt_cmd_check,	     &nt_cmd_stages,	      &nt_cmd_flame,
	&nt_cmd_latency,

	&nt_cmd_export_html, &nt_cmd_export_perfetto, &nt_cmd_export_prometheus,
	&nt_cmd_import,	     &nt_cmd_query,	      &nt_cmd_symbolize,
};

const struct nt_command *nt_command_at(size_t i)
{
	return i < sizeof(commands) / sizeof(commands[0]) ? commands[i] : NULL;
}

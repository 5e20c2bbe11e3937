/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tool.h - a tool that a client may call: a command (cmd/command.h), of which it offers some options. Each of these is
 * an argument of the same name, so a command line and a call mean the same.
 */
#pragma once

#include <json-c/json_object.h>

#include "report/cmd/command.h"

struct nt_mcp_tool {
	const char *name, *title;
	const char *what; /* for a language model: sentences on what it gives, and when to call it */
	const struct nt_command *command;
	const char *offered; /* names of its options with commas between */
	const char *always; /* words in front of those of a call, with blanks between; NULL: none */
	bool is_cut; /* an answer that is too long is shown without its middle; else it is an error */
	size_t memory_bytes; /* that a call may take; 0: no bound */
};

/* The subject of calls. */
struct nt_mcp_recording {
	const char *path; /* of a tape or a database */
	const char *names; /* --names, or NULL */
};

/* Describes it: an object for tools/list. */
void nt_mcp_tool_json(const struct nt_mcp_tool *tool, struct nt_json *json);
/*
 * The words of a call: its name, then "--name=value" for each argument, then NULL. `arguments` is an object, or NULL.
 * The caller frees them with nt_mcp_words_free. NULL: they are not offered, or are no words; a sentence says
 * so, with its full stop.
 */
char **nt_mcp_tool_words(const struct nt_mcp_tool *tool, struct json_object *arguments, char error[NT_ERROR_MAX]);
void nt_mcp_words_free(char **words);
/* Runs a call, in a process of its own, for a reader of tables as wide as they are. Gives an exit code. */
int nt_mcp_tool_run(const struct nt_mcp_tool *tool, const struct nt_mcp_recording *recording, char **words);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * answers.h - what the server (server.h) writes: each answer one line, as JSON-RPC 2.0. Here are the revisions of the
 * protocol, and which of them a request is of.
 */
#pragma once

#include "report/mcp/message.h"
#include "report/mcp/server.h"

/* Where answers go: standard output. */
struct nt_mcp_output {
	const struct nt_mcp_server *server;
	bool is_gone; /* nobody reads it any more */
	const char *failed; /* no answer can be made: why; or NULL */
};

/* The text of a content; of size 0, there is none. */
struct nt_mcp_part {
	const char *text;
	size_t size;
};

/* A request of the revision in which each tells its version (modern), or of an earlier one. NT_MCP_ODD: it tells one
 * that there is not, or lacks something; that has been answered. */
enum nt_mcp_era { NT_MCP_LEGACY, NT_MCP_MODERN, NT_MCP_ODD };
enum nt_mcp_era nt_mcp_find_era(struct nt_mcp_output *output, const struct nt_mcp_message *message);

/* `id` may be NULL. `code` is of enum nt_mcp_error. */
void nt_mcp_answer_error(struct nt_mcp_output *output, struct json_object *id, int code, const char *why);
void nt_mcp_answer_initialize(struct nt_mcp_output *output, const struct nt_mcp_message *message);
void nt_mcp_answer_discover(struct nt_mcp_output *output, const struct nt_mcp_message *message);
void nt_mcp_answer_list(struct nt_mcp_output *output, const struct nt_mcp_message *message, enum nt_mcp_era era);
void nt_mcp_answer_ping(struct nt_mcp_output *output, const struct nt_mcp_message *message);
/* Of a call: ahead of what the tool found stands what it had to say beside it. */
void nt_mcp_answer_call(struct nt_mcp_output *output, struct json_object *id, enum nt_mcp_era era, bool is_error,
			struct nt_mcp_part said, struct nt_mcp_part found);

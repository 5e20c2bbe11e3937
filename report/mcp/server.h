/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * server.h - a server of the Model Context Protocol on standard input and output: one message a line, as JSON-RPC 2.0.
 * It has tools and nothing else. It speaks the revision 2026-07-28, in which each request tells its version, and
 * earlier ones, which begin with `initialize`.
 *
 * Calls run one after the other, each in a process of its own (util/process.h): one that takes too much memory or time,
 * or fails, is an answer as any other. What comes meanwhile is read and answered, so a call can be cancelled. A line
 * that is too long, or no message, is an error and nothing more. Memory has a bound, whatever the client sends; so
 * calls that wait are refused from a number on.
 */
#pragma once

#include "report/mcp/tool.h"

struct nt_mcp_server {
	const char *name, *title, *version; /* of the program */
	const char *instructions; /* for a language model: what it talks about, and where to begin */
	const struct nt_mcp_tool *const *tools; /* the last one is NULL */
	struct nt_mcp_recording recording;
	int64_t time_ns; /* for so long a call may run */
	const char *late; /* a sentence: what to do about a call that ran longer */
};

/* Serves until standard input ends and what it asked for is answered, or the client is gone. 0, or -1 and a sentence:
 * then it could not go on. */
int nt_mcp_serve(const struct nt_mcp_server *server, char error[NT_ERROR_MAX]);

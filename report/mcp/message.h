/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * message.h - the messages of a client of the Model Context Protocol (JSON-RPC 2.0), read and checked; and the words
 * of our answers. A message may be anything: json-c parses it, with a limit of depth.
 */
#pragma once

#include <json-c/json_object.h>
#include <stdbool.h>
#include <stddef.h>

#include "report/out/output.h"
#include "report/util/fail.h"

/* Codes of errors: those of JSON-RPC, and the protocol's own. */
enum nt_mcp_error {
	NT_MCP_NO_JSON = -32700,
	NT_MCP_NO_REQUEST = -32600,
	NT_MCP_NO_METHOD = -32601,
	NT_MCP_WRONG_PARAMS = -32602,
	NT_MCP_NO_VERSION = -32022
};

/* Levels of a message, arrays and objects in one another. */
#define NT_MCP_DEPTH 32

struct nt_mcp_message {
	struct json_object *whole; /* what the others are parts of; NULL: nothing could be read */
	struct json_object *id; /* a string or an integer; NULL: it wants no answer */
	struct json_object *params; /* an object; NULL: none */
	const char *method; /* NULL: it is no request and no notification, but another one's answer */
	bool is_notification; /* no answer is wanted, whatever is wrong with it */
};

/*
 * Reads a message. 0, or a code and a sentence in `error`; then the id is set if there is one to answer to. To be
 * released in either case.
 */
int nt_mcp_read(struct nt_mcp_message *message, const char *text, size_t size, char error[NT_ERROR_MAX]);
void nt_mcp_release(struct nt_mcp_message *message);

/* A member that is a string without a zero in it, or NULL. `object` may be NULL. */
const char *nt_mcp_text(struct json_object *object, const char *key);
/* A member that is an object, or NULL. `object` may be NULL. */
struct json_object *nt_mcp_object(struct json_object *object, const char *key);
/* "id": of a message; NULL: null. */
void nt_mcp_put_id(struct nt_json *json, struct json_object *id);

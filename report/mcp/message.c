// SPDX-License-Identifier: GPL-2.0-only
/* message.c - see message.h. */
#include "report/mcp/message.h"

#include <json-c/json_tokener.h>
#include <limits.h>
#include <string.h>

#include "report/util/utf8.h"

static int fail(enum nt_mcp_error code, char error[NT_ERROR_MAX], const char *why)
{
	nt_fail(error, "%s", why);
	return code;
}

static bool is_blank(const char *text, size_t size)
{
	return strspn(text, " \t\r") >= size;
}

/* ---- JSON ---- */

static int fail_to_parse(enum json_tokener_error why, char error[NT_ERROR_MAX])
{
	if (why == json_tokener_error_depth)
		nt_fail(error, "the message has more than %d levels", NT_MCP_DEPTH);
	else
		nt_fail(error, "the message is no JSON in one line: %s",
			why == json_tokener_continue ? "it ends too early" : json_tokener_error_desc(why));
	return NT_MCP_NO_JSON;
}

/* json-c takes longer forms of a character, too: they would not be given back. */
static bool is_utf8(const char *text, size_t size)
{
	size_t length = 1;

	for (size_t at = 0; at < size && length; at += length)
		length = nt_utf8_length(text + at, size - at);
	return length;
}

/* The text has a zero behind it. */
static int parse(struct nt_mcp_message *message, const char *text, size_t size, char error[NT_ERROR_MAX])
{
	struct json_tokener *tokener;
	enum json_tokener_error why;
	size_t end;

	if (!is_utf8(text, size))
		return fail(NT_MCP_NO_JSON, error, "the message is no UTF-8");
	tokener = size < INT_MAX ? json_tokener_new_ex(NT_MCP_DEPTH) : NULL;
	if (!tokener)
		return fail(NT_MCP_NO_JSON, error, "out of memory");
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	/* With the zero, which ends a number. */
	message->whole = json_tokener_parse_ex(tokener, text, (int)size + 1);
	why = json_tokener_get_error(tokener);
	end = json_tokener_get_parse_end(tokener);
	json_tokener_free(tokener);
	if (why != json_tokener_success)
		return fail_to_parse(why, error);
	if (end < size && !is_blank(text + end, size - end))
		return fail(NT_MCP_NO_JSON, error, "more than one message in a line");
	return 0;
}

const char *nt_mcp_text(struct json_object *object, const char *key)
{
	struct json_object *member;

	if (!object || !json_object_object_get_ex(object, key, &member) ||
	    !json_object_is_type(member, json_type_string) ||
	    strlen(json_object_get_string(member)) != (size_t)json_object_get_string_len(member))
		return NULL;
	return json_object_get_string(member);
}

struct json_object *nt_mcp_object(struct json_object *object, const char *key)
{
	struct json_object *member;

	if (!object || !json_object_object_get_ex(object, key, &member) ||
	    !json_object_is_type(member, json_type_object))
		return NULL;
	return member;
}

/* ---- messages ---- */

static bool has(const struct nt_mcp_message *message, const char *key)
{
	return json_object_object_get_ex(message->whole, key, NULL);
}

/* Whether the id can be given back as it came. */
static bool is_id(struct json_object *id)
{
	const int64_t number = json_object_get_int64(id);

	if (json_object_is_type(id, json_type_string))
		return true;
	/* Longer numbers end at these. */
	return json_object_is_type(id, json_type_int) && number != INT64_MAX && number != INT64_MIN;
}

static int read_id(struct nt_mcp_message *message, char error[NT_ERROR_MAX])
{
	struct json_object *id;

	if (!json_object_object_get_ex(message->whole, "id", &id))
		return 0;
	if (!is_id(id))
		return fail(NT_MCP_NO_REQUEST, error, "the id is neither a string nor an integer of 64 bits");
	message->id = id;
	return 0;
}

static int read_params(struct nt_mcp_message *message, char error[NT_ERROR_MAX])
{
	struct json_object *params;

	if (!json_object_object_get_ex(message->whole, "params", &params) || !params)
		return 0;
	message->params = nt_mcp_object(message->whole, "params");
	return message->params ? 0 : fail(NT_MCP_WRONG_PARAMS, error, "params is no object");
}

/* Of an object. */
static int read_members(struct nt_mcp_message *message, char error[NT_ERROR_MAX])
{
	const int code = read_id(message, error);
	const char *version = nt_mcp_text(message->whole, "jsonrpc");

	if (code)
		return code;
	if (!version || strcmp(version, "2.0"))
		return fail(NT_MCP_NO_REQUEST, error, "jsonrpc is not \"2.0\"");
	message->method = nt_mcp_text(message->whole, "method");
	if (!message->method && (has(message, "method") || !(has(message, "result") || has(message, "error"))))
		return fail(NT_MCP_NO_REQUEST, error, "there is no method");
	return read_params(message, error);
}

int nt_mcp_read(struct nt_mcp_message *message, const char *text, size_t size, char error[NT_ERROR_MAX])
{
	int code;

	*message = (struct nt_mcp_message){0};
	code = parse(message, text, size, error);
	if (code)
		return code;
	if (json_object_is_type(message->whole, json_type_array))
		return fail(NT_MCP_NO_REQUEST, error, "a batch: send each message in a line of its own");
	if (!json_object_is_type(message->whole, json_type_object))
		return fail(NT_MCP_NO_REQUEST, error, "the message is no object");
	code = read_members(message, error);
	message->is_notification = message->method && !has(message, "id");
	return code;
}

void nt_mcp_release(struct nt_mcp_message *message)
{
	json_object_put(message->whole);
	*message = (struct nt_mcp_message){0};
}

void nt_mcp_put_id(struct nt_json *json, struct json_object *id)
{
	struct nt_cell cell = {0};

	if (json_object_is_type(id, json_type_int))
		cell = nt_cell_integer(json_object_get_int64(id));
	else if (id)
		cell = (struct nt_cell){.type = NT_CELL_TEXT,
					.text = json_object_get_string(id),
					.size = (size_t)json_object_get_string_len(id)};
	nt_json_cell(json, "id", &cell);
}

// SPDX-License-Identifier: GPL-2.0-only
/* answers.c - see answers.h. */
#include "report/mcp/answers.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/util/array.h"

#define MODERN "2026-07-28"
/* The newest first. In 2025-03-26 a message may hold several, which none before or after it may. */
static const char *const versions[] = {MODERN, "2025-11-25", "2025-06-18", "2024-11-05"};
#define NEWEST_WITH_HANDSHAKE versions[1]

#define META "io.modelcontextprotocol/"
/* So long a client may keep what it was told: while the program runs, that does not change. */
#define LIFETIME_MS 86400000

/* ---- a line ---- */

/* One line, which is written when it is whole. */
struct answer {
	struct nt_json json;
	char *text;
	size_t size;
};

static bool begin_answer(struct nt_mcp_output *output, struct answer *answer, struct json_object *id)
{
	FILE *out;

	*answer = (struct answer){0};
	out = open_memstream(&answer->text, &answer->size);
	if (!out) {
		output->failed = "out of memory";
		return false;
	}
	answer->json = (struct nt_json){.out = out, .compact = true};
	nt_json_open(&answer->json, NULL, '{');
	nt_json_text(&answer->json, "jsonrpc", "2.0");
	nt_mcp_put_id(&answer->json, id);
	return true;
}

/* A client may have made it one that does not wait. */
static void write_all(struct nt_mcp_output *output, const char *text, size_t size)
{
	while (size && !output->is_gone) {
		const ssize_t n = write(STDOUT_FILENO, text, size);

		if (n < 0 && errno == EAGAIN)
			poll(&(struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT}, 1, -1);
		else if (n < 0 && errno != EINTR)
			output->is_gone = true;
		text += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
}

static void end_answer(struct nt_mcp_output *output, struct answer *answer)
{
	bool failed;

	nt_json_close(&answer->json, '}');
	failed = ferror(answer->json.out);
	failed |= fclose(answer->json.out) != 0;
	if (failed)
		output->failed = "out of memory";
	else
		write_all(output, answer->text, answer->size);
	free(answer->text);
}

static void put_program(const struct nt_mcp_server *server, struct nt_json *json, const char *key)
{
	nt_json_open(json, key, '{');
	nt_json_text(json, "name", server->name);
	nt_json_text(json, "title", server->title);
	nt_json_text(json, "version", server->version);
	nt_json_close(json, '}');
}

static bool begin_result(struct nt_mcp_output *output, struct answer *answer, struct json_object *id,
			 enum nt_mcp_era era)
{
	if (!begin_answer(output, answer, id))
		return false;
	nt_json_open(&answer->json, "result", '{');
	if (era != NT_MCP_MODERN)
		return true;
	nt_json_text(&answer->json, "resultType", "complete");
	nt_json_open(&answer->json, "_meta", '{');
	put_program(output->server, &answer->json, META "serverInfo");
	nt_json_close(&answer->json, '}');
	return true;
}

static void end_result(struct nt_mcp_output *output, struct answer *answer)
{
	nt_json_close(&answer->json, '}');
	end_answer(output, answer);
}

static void put_versions(struct nt_json *json, const char *key)
{
	nt_json_open(json, key, '[');
	for (size_t i = 0; i < NT_COUNT(versions); i++)
		nt_json_text(json, NULL, versions[i]);
	nt_json_close(json, ']');
}

/* `requested`: a version that there is not; else NULL. */
static void fail(struct nt_mcp_output *output, struct json_object *id, int code, const char *why, const char *requested)
{
	struct answer answer;

	if (!begin_answer(output, &answer, id))
		return;
	nt_json_open(&answer.json, "error", '{');
	nt_json_integer(&answer.json, "code", code);
	nt_json_text(&answer.json, "message", why);
	if (requested) {
		nt_json_open(&answer.json, "data", '{');
		put_versions(&answer.json, "supported");
		nt_json_text(&answer.json, "requested", requested);
		nt_json_close(&answer.json, '}');
	}
	nt_json_close(&answer.json, '}');
	end_answer(output, &answer);
}

void nt_mcp_answer_error(struct nt_mcp_output *output, struct json_object *id, int code, const char *why)
{
	fail(output, id, code, why, NULL);
}

/* ---- revisions ---- */

static bool is_with_handshake(const char *version)
{
	for (size_t i = 1; i < NT_COUNT(versions); i++) {
		if (!strcmp(version, versions[i]))
			return true;
	}
	return false;
}

enum nt_mcp_era nt_mcp_find_era(struct nt_mcp_output *output, const struct nt_mcp_message *message)
{
	struct json_object *meta = nt_mcp_object(message->params, "_meta");
	const char *version = nt_mcp_text(meta, META "protocolVersion");
	char why[NT_ERROR_MAX];

	if (!version && (!meta || !json_object_object_get_ex(meta, META "protocolVersion", NULL)))
		return NT_MCP_LEGACY;
	if (version && is_with_handshake(version))
		return NT_MCP_LEGACY;
	if (version && strcmp(version, MODERN) != 0) {
		nt_fail(why, "unsupported protocol version: %.100s", version);
		fail(output, message->id, NT_MCP_NO_VERSION, why, version);
		return NT_MCP_ODD;
	}
	if (version && nt_mcp_object(meta, META "clientCapabilities"))
		return NT_MCP_MODERN;
	nt_mcp_answer_error(output, message->id, NT_MCP_WRONG_PARAMS,
			    "_meta needs " META "protocolVersion, a string, and " META "clientCapabilities, an object");
	return NT_MCP_ODD;
}

/* ---- results ---- */

static void put_abilities(const struct nt_mcp_server *server, struct nt_json *json)
{
	nt_json_open(json, "capabilities", '{');
	nt_json_open(json, "tools", '{');
	nt_json_close(json, '}');
	nt_json_close(json, '}');
	nt_json_text(json, "instructions", server->instructions);
}

static void put_lifetime(struct nt_json *json)
{
	nt_json_integer(json, "ttlMs", LIFETIME_MS);
	nt_json_text(json, "cacheScope", "public");
}

void nt_mcp_answer_initialize(struct nt_mcp_output *output, const struct nt_mcp_message *message)
{
	const char *wanted = nt_mcp_text(message->params, "protocolVersion");
	struct answer answer;

	if (!begin_result(output, &answer, message->id, NT_MCP_LEGACY))
		return;
	nt_json_text(&answer.json, "protocolVersion",
		     wanted && is_with_handshake(wanted) ? wanted : NEWEST_WITH_HANDSHAKE);
	put_program(output->server, &answer.json, "serverInfo");
	put_abilities(output->server, &answer.json);
	end_result(output, &answer);
}

void nt_mcp_answer_discover(struct nt_mcp_output *output, const struct nt_mcp_message *message)
{
	struct answer answer;

	if (!begin_result(output, &answer, message->id, NT_MCP_MODERN))
		return;
	put_versions(&answer.json, "supportedVersions");
	put_abilities(output->server, &answer.json);
	put_lifetime(&answer.json);
	end_result(output, &answer);
}

/* All tools are on the first page. */
void nt_mcp_answer_list(struct nt_mcp_output *output, const struct nt_mcp_message *message, enum nt_mcp_era era)
{
	struct answer answer;

	if (nt_mcp_text(message->params, "cursor")) {
		nt_mcp_answer_error(output, message->id, NT_MCP_WRONG_PARAMS, "there is no page with this cursor");
		return;
	}
	if (!begin_result(output, &answer, message->id, era))
		return;
	nt_json_open(&answer.json, "tools", '[');
	for (const struct nt_mcp_tool *const *tool = output->server->tools; *tool; tool++)
		nt_mcp_tool_json(*tool, &answer.json);
	nt_json_close(&answer.json, ']');
	if (era == NT_MCP_MODERN)
		put_lifetime(&answer.json);
	end_result(output, &answer);
}

void nt_mcp_answer_ping(struct nt_mcp_output *output, const struct nt_mcp_message *message)
{
	struct answer answer;

	if (begin_result(output, &answer, message->id, NT_MCP_LEGACY))
		end_result(output, &answer);
}

static void put_part(struct nt_json *json, struct nt_mcp_part part)
{
	const struct nt_cell cell = {.type = NT_CELL_TEXT, .text = part.text, .size = part.size};

	if (!part.size)
		return;
	nt_json_open(json, NULL, '{');
	nt_json_text(json, "type", "text");
	nt_json_cell(json, "text", &cell);
	nt_json_close(json, '}');
}

void nt_mcp_answer_call(struct nt_mcp_output *output, struct json_object *id, enum nt_mcp_era era, bool is_error,
			struct nt_mcp_part said, struct nt_mcp_part found)
{
	struct answer answer;

	if (!begin_result(output, &answer, id, era))
		return;
	nt_json_open(&answer.json, "content", '[');
	put_part(&answer.json, said);
	put_part(&answer.json, found);
	nt_json_close(&answer.json, ']');
	nt_json_bool(&answer.json, "isError", is_error);
	end_result(output, &answer);
}

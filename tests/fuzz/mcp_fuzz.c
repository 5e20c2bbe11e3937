// SPDX-License-Identifier: GPL-2.0-only
/*
 * mcp_fuzz.c - any bytes as a message of a client of `nettape-report mcp`, as the arguments of each of its tools, and
 * as an answer that is too long.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/mcp/excerpt.h"
#include "report/mcp/message.h"
#include "report/mcp/tools.h"
#include "tests/support/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The id that an answer has is the message's. */
static void give_back(struct json_object *id)
{
	char *text = NULL, error[NT_ERROR_MAX];
	size_t size;
	struct nt_json json = {.out = open_memstream(&text, &size), .compact = true};
	struct nt_mcp_message again;

	nt_json_open(&json, NULL, '{');
	nt_json_text(&json, "jsonrpc", "2.0");
	nt_json_text(&json, "method", "m");
	nt_mcp_put_id(&json, id);
	nt_json_close(&json, '}');
	MUST(!fclose(json.out));
	MUST(!nt_mcp_read(&again, text, size, error));
	MUST(json_object_equal(again.id, id));
	nt_mcp_release(&again);
	free(text);
}

/* Each word is an option that the tool offers. */
static void call(const struct nt_mcp_tool *tool, struct json_object *arguments)
{
	char error[NT_ERROR_MAX] = "", **words = nt_mcp_tool_words(tool, arguments, error);

	MUST(!words == !!error[0] && strlen(error) < NT_ERROR_MAX);
	MUST(!words || !strcmp(words[0], tool->name));
	for (char **word = words; word && *word && *++word;)
		MUST(!strncmp(*word, "--", 2) && (*word)[2]);
	nt_mcp_words_free(words);
}

static void read_message(const char *text, size_t size)
{
	char error[NT_ERROR_MAX] = "";
	struct nt_mcp_message message;
	const int code = nt_mcp_read(&message, text, size, error);

	MUST(!code == !error[0]);
	if (message.id)
		give_back(message.id);
	for (const struct nt_mcp_tool *const *tool = nt_mcp_tools; !code && *tool; tool++)
		call(*tool, nt_mcp_object(message.params, "arguments"));
	nt_mcp_release(&message);
}

static void cut(const char *text, size_t size)
{
	const size_t most = size ? 4 + (uint8_t)text[0] : 4;
	size_t cut_size;
	char *cut = nt_mcp_excerpt(text, size, most, &cut_size);

	MUST(cut && cut_size <= (size <= most ? size : most + 200));
	MUST(size > most || !memcmp(cut, text, size));
	MUST(size <= most || strstr(cut, " lines are left out here, of ") || memchr(text, 0, size));
	MUST(!size || cut[0] == text[0]);
	MUST(!size || cut[cut_size - 1] == text[size - 1]);
	free(cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	MUST(text);
	memcpy(text, data, size);
	text[size] = 0;
	read_message(text, size);
	cut(text, size);
	free(text);
	return 0;
}

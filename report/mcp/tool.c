// SPDX-License-Identifier: GPL-2.0-only
/* tool.c - see tool.h. */
#include "report/mcp/tool.h"

#include <json-c/json_object_iterator.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/terminal.h"
#include "schema/cli/arg.h"

#define MAX_OFFERED 32
#define MAX_WORDS 80
#define WIDTH 160 /* columns: no table leaves any out */

/* ---- what it offers ---- */

static bool offers(const struct nt_mcp_tool *tool, const char *name)
{
	const size_t size = strlen(name);

	for (const char *at = tool->offered; *at; at += strcspn(at, ","), at += *at == ',') {
		if (strcspn(at, ",") == size && !strncmp(at, name, size))
			return true;
	}
	return false;
}

static const struct nt_option *find(const struct nt_mcp_tool *tool, const char *name)
{
	for (const struct nt_option *option = tool->command->options; option->name; option++) {
		if (!strcmp(option->name, name))
			return offers(tool, name) ? option : NULL;
	}
	return NULL;
}

/* ---- description ---- */

/* Whether no other values are taken than those that have names. */
static bool has_all_choices(const struct nt_option *option)
{
	return option->choice && !option->wants && strcmp(option->value, "LIST") != 0;
}

static void put_option(const struct nt_option *option, struct nt_json *json)
{
	const bool has_example = option->value && !strstr(option->help, option->example);
	/* As an argument it is given once. */
	const char *end = strstr(option->help, "; may be repeated");
	char text[1024];

	snprintf(text, sizeof(text), "%.*s%s%s", end ? (int)(end - option->help) : 500, option->help,
		 has_example ? "; such as " : "", has_example ? option->example : "");
	nt_json_open(json, option->name, '{');
	nt_json_text(json, "type", option->value ? "string" : "boolean");
	nt_json_text(json, "description", text);
	if (has_all_choices(option)) {
		nt_json_open(json, "enum", '[');
		for (unsigned int i = 0; option->choice(i); i++)
			nt_json_text(json, NULL, option->choice(i));
		nt_json_close(json, ']');
	}
	nt_json_close(json, '}');
}

static void put_schema(const struct nt_mcp_tool *tool, struct nt_json *json)
{
	nt_json_open(json, "inputSchema", '{');
	nt_json_text(json, "type", "object");
	nt_json_open(json, "properties", '{');
	for (const struct nt_option *option = tool->command->options; option->name; option++) {
		if (offers(tool, option->name))
			put_option(option, json);
	}
	nt_json_close(json, '}');
	nt_json_open(json, "required", '[');
	for (const struct nt_option *option = tool->command->options; option->name; option++) {
		if (option->is_needed && offers(tool, option->name))
			nt_json_text(json, NULL, option->name);
	}
	nt_json_close(json, ']');
	nt_json_bool(json, "additionalProperties", false);
	nt_json_close(json, '}');
}

void nt_mcp_tool_json(const struct nt_mcp_tool *tool, struct nt_json *json)
{
	nt_json_open(json, NULL, '{');
	nt_json_text(json, "name", tool->name);
	nt_json_text(json, "title", tool->title);
	nt_json_text(json, "description", tool->what);
	put_schema(tool, json);
	nt_json_open(json, "annotations", '{');
	nt_json_bool(json, "readOnlyHint", true);
	nt_json_bool(json, "openWorldHint", false);
	nt_json_close(json, '}');
	nt_json_close(json, '}');
}

/* ---- calls ---- */

static int fail_unknown(const struct nt_mcp_tool *tool, const char *name, char error[NT_ERROR_MAX])
{
	const char *known[MAX_OFFERED + 1], *nearest;
	size_t n = 0;

	for (const struct nt_option *option = tool->command->options; option->name && n < MAX_OFFERED; option++) {
		if (offers(tool, option->name))
			known[n++] = option->name;
	}
	known[n] = NULL;
	nearest = nt_arg_nearest(name, known);
	if (nearest)
		return nt_fail(error, "'%s' has no argument '%.60s'; did you mean '%s'?", tool->name, name, nearest);
	return nt_fail(error, "'%s' has no argument '%.60s'; it has %s.", tool->name, name, n ? tool->offered : "none");
}

/* The word of one argument: NULL if it has none, and no error: a flag that is off, or null. */
static char *make_word(const struct nt_option *option, struct json_object *value, char error[NT_ERROR_MAX])
{
	const enum json_type type = json_object_get_type(value);
	const char *text;
	char *word;
	int size;

	if (type == json_type_null || (type == json_type_boolean && !option->value && !json_object_get_boolean(value)))
		return NULL;
	if (option->value ? type != json_type_string && type != json_type_int && type != json_type_double
			  : type != json_type_boolean) {
		nt_fail(error, "'%s' takes %s.", option->name, option->value ? "a string" : "true or false");
		return NULL;
	}
	text = option->value ? json_object_get_string(value) : "";
	if (type == json_type_string && strlen(text) != (size_t)json_object_get_string_len(value)) {
		nt_fail(error, "'%s' has a zero byte in it.", option->name);
		return NULL;
	}
	size = asprintf(&word, "--%s%s%s", option->name, option->value ? "=" : "", text);
	if (size < 0)
		nt_fail(error, "out of memory.");
	return size < 0 ? NULL : word;
}

/* Adds a word, which it owns then; NULL: out of memory. 0, or -1 and an error. */
static int add(char **words, size_t *n, char *word, char error[NT_ERROR_MAX])
{
	if (!word || *n == MAX_WORDS) {
		nt_fail(error, word ? "too many arguments." : "out of memory.");
		free(word);
		return -1;
	}
	words[(*n)++] = word;
	return 0;
}

static int add_arguments(const struct nt_mcp_tool *tool, struct json_object *arguments, char **words, size_t *n,
			 char error[NT_ERROR_MAX])
{
	struct json_object_iterator at = json_object_iter_begin(arguments), end = json_object_iter_end(arguments);

	for (; !json_object_iter_equal(&at, &end); json_object_iter_next(&at)) {
		const char *name = json_object_iter_peek_name(&at);
		const struct nt_option *option = find(tool, name);
		char *word;

		if (!option)
			return fail_unknown(tool, name, error);
		word = make_word(option, json_object_iter_peek_value(&at), error);
		if (error[0] || (word && add(words, n, word, error)))
			return -1;
	}
	return 0;
}

char **nt_mcp_tool_words(const struct nt_mcp_tool *tool, struct json_object *arguments, char error[NT_ERROR_MAX])
{
	char **words = calloc(MAX_WORDS + 1, sizeof(*words));
	size_t n = 0;
	int failed;

	error[0] = 0;
	if (!words) {
		nt_fail(error, "out of memory.");
		return NULL;
	}
	failed = add(words, &n, strdup(tool->name), error);
	for (const char *at = tool->always ? tool->always : ""; *at && !failed;
	     at += strcspn(at, " "), at += *at == ' ')
		failed = add(words, &n, strndup(at, strcspn(at, " ")), error);
	if (!failed && arguments)
		failed = add_arguments(tool, arguments, words, &n, error);
	if (!failed)
		return words;
	nt_mcp_words_free(words);
	return NULL;
}

void nt_mcp_words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* ---- running ---- */

int nt_mcp_tool_run(const struct nt_mcp_tool *tool, const struct nt_mcp_recording *recording, char **words)
{
	struct nt_options options = {.format = NT_FORMAT_TABLE, .names = recording->names};
	char error[NT_ERROR_MAX] = "", *args[] = {(char *)recording->path, NULL};
	struct nt_option_reader reader = {
		.options = tool->command->options, .into = &options, .error = error, .error_size = sizeof(error)};
	const struct nt_option *missing;
	int argc = 0;

	while (words[argc])
		argc++;
	nt_complain_as(NULL);
	nt_terminal_set_width(WIDTH);
	if (nt_option_read(&reader, argc, words) < 0) {
		nt_complain("%s.", error);
		return NT_EXIT_MISUSED;
	}
	missing = nt_option_missing(&reader);
	if (missing) {
		nt_complain("'%s' needs '%s': %s.", tool->name, missing->name, missing->help);
		return NT_EXIT_MISUSED;
	}
	options.args = args;
	options.n_args = 1;
	return tool->command->run(&options);
}

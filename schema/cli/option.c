// SPDX-License-Identifier: GPL-2.0-only
/*
 * option.c - see option.h. The parser is our own and not getopt's, so that a message can tell an unknown option from
 * one that lacks its value, and name the one that was meant.
 */
#include "schema/cli/option.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "schema/cli/find.h"
#include "schema/cli/arg.h"

/* ---- where values go ---- */

bool nt_option_set_true(void *member, const struct nt_option_values *values)
{
	(void)values;
	*(bool *)member = true;
	return true;
}

bool nt_option_set_text(void *member, const struct nt_option_values *values)
{
	*(const char **)member = values->text;
	return true;
}

bool nt_option_set_both(void *member, const struct nt_option_values *values)
{
	const char **texts = member;

	texts[0] = values->text;
	texts[1] = values->second;
	return true;
}

/* ---- how they are written ---- */

size_t nt_option_label(const struct nt_option *option, char *out, size_t size)
{
	const char letter[] = {'-', option->letter, ',', 0};
	int length = snprintf(out, size, "%-3s --%s%s%s", option->letter ? letter : "", option->name,
			      option->value ? " " : "", option->value ? option->value : "");

	return (size_t)length < size ? (size_t)length : size - 1;
}

void nt_option_short(const struct nt_option *option, char *out, size_t size)
{
	if (option->letter)
		snprintf(out, size, "-%c", option->letter);
	else
		snprintf(out, size, "--%s", option->name);
}

/* ---- reading ---- */

struct parse {
	struct nt_option_reader *reader;
	int argc, at; /* the next word */
	char **argv;
};

static int fail(const struct parse *parse, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(const struct parse *parse, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(parse->reader->error, parse->reader->error_size, format, args);
	va_end(args);
	return -1;
}

/* The option begins several names: which? */
static int fail_ambiguous(const struct parse *parse, const char *written)
{
	const struct nt_option *row = parse->reader->options;
	char list[300] = "";
	size_t at = 0;

	for (; row->name; row++) {
		if (row->help && !strncmp(row->name, written + 2, strlen(written + 2)) && at < sizeof(list))
			at += (size_t)snprintf(list + at, sizeof(list) - at, "%s --%s", at ? "," : "", row->name);
	}
	return fail(parse, "option '%s' is ambiguous:%s", written, list);
}

static int fail_unknown(const struct parse *parse, const char *written)
{
	const struct nt_option *row = parse->reader->options;
	const char *known[NT_OPTIONS_MAX + 1], *nearest;
	size_t n = 0;

	snprintf(parse->reader->unknown, sizeof(parse->reader->unknown), "%s", written);
	for (; row->name; row++) {
		if (row->help && n < NT_OPTIONS_MAX)
			known[n++] = row->name;
	}
	known[n] = NULL;
	nearest = written[1] == '-' ? nt_arg_nearest(written + 2, known) : NULL;
	if (nearest)
		return fail(parse, "unknown option '%s' (did you mean '--%s'?)", written, nearest);
	return fail(parse, "unknown option '%s'", written);
}

/*
 * Takes the values of an option; the first may stand in the same word. A word that begins with two dashes is the next
 * option: such a value is given as --option=--value.
 */
static int set(struct parse *parse, const struct nt_option *option, const char *written, const char *value)
{
	struct nt_option_reader *reader = parse->reader;
	const char *texts[2] = {value, NULL};
	struct nt_option_values values = {.error = reader->error, .error_size = reader->error_size};
	int n = nt_option_count_values(option);

	for (int i = value ? 1 : 0; i < n; i++) {
		if (parse->at >= parse->argc || !strncmp(parse->argv[parse->at], "--", 2))
			return fail(parse, "option '%s' needs %s, such as %s", written,
				    n > 1 ? "two values" : "a value", option->example);
		texts[i] = parse->argv[parse->at++];
	}
	reader->given |= 1ull << (option - reader->options);
	values.text = texts[0];
	values.second = texts[1];
	if (option->set((char *)reader->into + option->member, &values))
		return 0;
	return reader->error[0] ? -1 : fail(parse, "%s wants %s: %s", written, option->wants, values.text);
}

static int read_long(struct parse *parse, const char *word)
{
	const size_t size = strcspn(word, "=");
	const char *value = word[size] ? word + size + 1 : NULL;
	const struct nt_option *option;
	bool is_ambiguous;
	char written[64];

	snprintf(written, sizeof(written), "%.*s", (int)(size < 63 ? size : 63), word);
	option = nt_option_find(parse->reader->options, word + 2, size - 2, &is_ambiguous);
	if (is_ambiguous)
		return fail_ambiguous(parse, written);
	if (!option)
		return fail_unknown(parse, written);
	snprintf(written, sizeof(written), "--%s", option->name);
	if (value && !option->value)
		return fail(parse, "option '%s' takes no value", written);
	return set(parse, option, written, value);
}

/* "-o", "-oFILE", or letters in a row: "-qo FILE". */
static int read_letters(struct parse *parse, const char *word)
{
	int result = 0;

	for (word++; *word && !result; word++) {
		const struct nt_option *option = nt_option_find_letter(parse->reader->options, *word);
		const char written[] = {'-', isprint((unsigned char)*word) ? *word : '?', 0};

		if (!option)
			return fail_unknown(parse, written);
		if (option->value)
			return set(parse, option, written, word[1] ? word + 1 : NULL);
		result = set(parse, option, written, NULL);
	}
	return result;
}

int nt_option_read(struct nt_option_reader *reader, int argc, char **argv)
{
	struct parse parse = {reader, argc, 1, argv};
	bool is_over = false;
	int n = 0, result = 0;

	reader->error[0] = 0;
	while (!result && parse.at < argc) {
		char *word = argv[parse.at++];

		if (is_over || word[0] != '-' || !word[1]) {
			argv[1 + n++] = word;
			is_over = is_over || reader->stops;
		} else if (!strcmp(word, "--")) {
			is_over = reader->has_dashes = true;
		} else {
			result = word[1] == '-' ? read_long(&parse, word) : read_letters(&parse, word);
		}
	}
	if (result)
		return -1;
	if (n < argc)
		argv[1 + n] = NULL;
	return n;
}

const struct nt_option *nt_option_missing(const struct nt_option_reader *reader)
{
	for (unsigned int i = 0; reader->options[i].name; i++) {
		if (reader->options[i].is_needed && !(reader->given >> i & 1))
			return &reader->options[i];
	}
	return NULL;
}

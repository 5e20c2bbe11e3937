// SPDX-License-Identifier: GPL-2.0-only
/*
 * complete.c - see option.h: what a word of a command line may become. It reads the words before it as option.c does,
 * but minds no mistakes.
 */
#include <string.h>

#include "schema/cli/find.h"

void nt_complete_word(FILE *out, const char *begin, const char *candidate, const char *help)
{
	if (!strncmp(candidate, begin, strlen(begin)))
		fprintf(out, "%s\t%s\n", candidate, help);
}

void nt_option_complete_names(FILE *out, const struct nt_option *options, const char *begin)
{
	char name[64];

	for (; options->name; options++) {
		snprintf(name, sizeof(name), "--%s", options->name);
		if (options->help)
			nt_complete_word(out, begin, name, options->help);
	}
}

/* Leaves files and directories to the shell, by the name that the help has for a value. */
static void leave_to_shell(FILE *out, const char *value)
{
	static const char *const kinds[][2] = {
		{"FILE", ":files"},	 {"DB", ":files"},	   {"WHERE", ":files"},
		{"DIR", ":directories"}, {"PATH", ":directories"},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(value, kinds[i][0]))
			fprintf(out, "%s\n", kinds[i][1]);
	}
}

/* `lead` is how the word begins before the value: "--by=". Of a list with commas, the last part is completed. */
static void complete_value(FILE *out, const struct nt_option *option, const char *lead, const char *begin)
{
	const char *comma = strcmp(option->value, "LIST") ? NULL : strrchr(begin, ','), *choice;
	size_t kept = comma ? (size_t)(comma + 1 - begin) : 0;

	if (!option->choice) {
		leave_to_shell(out, option->value);
		return;
	}
	for (unsigned int i = 0; (choice = option->choice(i)); i++) {
		if (!strncmp(choice, begin + kept, strlen(begin + kept)))
			fprintf(out, "%s%.*s%s\t\n", lead, (int)kept, begin, choice);
	}
}

/* The option that takes a value in this word or behind it, or NULL. *has_value: the word has the first one. */
static const struct nt_option *find_taker(const struct nt_option *options, const char *word, bool *has_value)
{
	const struct nt_option *option;
	bool is_ambiguous;

	if (word[1] == '-') {
		size_t size = strcspn(word, "=");

		*has_value = word[size];
		option = nt_option_find(options, word + 2, size - 2, &is_ambiguous);
		return option && option->value ? option : NULL;
	}
	for (word++; *word; word++) {
		*has_value = word[1];
		option = nt_option_find_letter(options, *word);
		if (option && option->value)
			return option;
	}
	return NULL;
}

/* The last word, which begins with a dash. */
static void complete_option(FILE *out, const struct nt_option *options, const char *word)
{
	const size_t size = strcspn(word, "=");
	const struct nt_option *option;
	bool has_value;
	char lead[64];

	if (!word[size]) {
		nt_option_complete_names(out, options, word);
		return;
	}
	option = find_taker(options, word, &has_value);
	snprintf(lead, sizeof(lead), "%.*s", (int)size + 1, word);
	if (option && size + 1 < sizeof(lead))
		complete_value(out, option, lead, word + size + 1);
}

int nt_option_complete(FILE *out, const struct nt_option *options, bool stops, int n, char **words, bool *is_behind)
{
	const struct nt_option *option = NULL;
	const char *last = n ? words[n - 1] : "";
	int n_args = 0, n_values = 0;
	bool is_over = false, has_value;

	*is_behind = false;
	for (int i = 0; i < n - 1; i++) {
		if (n_values) {
			n_values--;
		} else if (is_over || words[i][0] != '-' || !words[i][1]) {
			n_args++;
			is_over = is_over || stops;
		} else if (!strcmp(words[i], "--")) {
			is_over = *is_behind = true;
		} else {
			option = find_taker(options, words[i], &has_value);
			n_values = option ? nt_option_count_values(option) - has_value : 0;
		}
	}
	if (n_values)
		complete_value(out, option, "", last);
	else if (!is_over && last[0] == '-')
		complete_option(out, options, last);
	else
		return n_args;
	return -1;
}

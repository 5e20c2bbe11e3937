// SPDX-License-Identifier: GPL-2.0-only
/* complete.c - see complete.h: commands here, their options in cli/. */
#include "report/complete.h"

#include <stdio.h>
#include <string.h>

#include "report/commands.h"
#include "schema/cli/option.h"

/* A command's first word. Those that share it stand together, and it is given once. */
static void complete_first(const char *begin)
{
	const struct nt_command *command;
	char word[32], last[32] = "";

	for (size_t i = 0; (command = nt_command_at(i)); i++) {
		size_t size = strcspn(command->name, " ");

		snprintf(word, sizeof(word), "%.*s", (int)size, command->name);
		if (strcmp(word, last) != 0)
			nt_complete_word(stdout, begin, word, command->name[size] ? "write a file" : command->what);
		strcpy(last, word);
	}
	nt_complete_word(stdout, begin, "help", "show the options of a command, and an example");
}

static void complete_second(const char *first, const char *begin)
{
	for (size_t i = 0; nt_command_at(i); i++) {
		const char *second = nt_command_second(nt_command_at(i), first);

		if (second)
			nt_complete_word(stdout, begin, second, nt_command_at(i)->what);
	}
}

/* Words behind the command. Its arguments are files: tapes and databases; but for an SQL text. */
static void complete_command(const struct nt_command *command, int n, char **words)
{
	bool is_behind;
	int at = nt_option_complete(stdout, command->options, false, n, words, &is_behind);

	if (at >= 0 && at < command->max_args && !(at && command->surplus))
		puts(":files");
}

void nt_complete(int n, char **words)
{
	bool is_help = n > 1 && !strcmp(words[0], "help");
	const struct nt_command *command;
	int n_name;

	words += is_help;
	n -= is_help;
	if (n < 1)
		return;
	if (n == 1) {
		complete_first(words[0]);
		return;
	}
	command = nt_command_find(words[0], words[1], &n_name);
	if (n == 2 && (!command || n_name == 2))
		complete_second(words[0], words[1]);
	else if (command && !is_help)
		complete_command(command, n - n_name, words + n_name);
}

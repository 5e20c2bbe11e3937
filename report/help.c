// SPDX-License-Identifier: GPL-2.0-only
/*
 * help.c - see help.h. The texts of commands and of their options are theirs (cmd/).
 */
#include "report/help.h"

#include <string.h>

#include "report/commands.h"
#include "report/out/option_help.h"
#include "report/out/prose.h"

#define NAME_WIDTH 19 /* of commands in the overview */

static const char *const titles[] = {
	[NT_GROUP_LOOK] = "Look",
	[NT_GROUP_DEEPER] = "Look deeper",
	[NT_GROUP_TAKE] = "Take away",
};

void nt_help_usage(FILE *out, const struct nt_command *command)
{
	if (command)
		fprintf(out, "usage: nettape-report %s %s\n", command->name, command->usage);
	else
		fputs("usage: nettape-report COMMAND TAPE|DB [OPTION]...\n", out);
}

static void print_commands(FILE *out)
{
	enum nt_command_group group = NT_GROUP_NONE;
	const struct nt_command *command;
	char lead[64];

	for (size_t i = 0; (command = nt_command_at(i)); i++) {
		if (command->group != group)
			fprintf(out, "\n%s:\n", titles[command->group]);
		group = command->group;
		snprintf(lead, sizeof(lead), "  %-*s", NAME_WIDTH, command->name);
		nt_print_prose(out, lead, "%s", command->what);
	}
}

void nt_help_overview(FILE *out)
{
	nt_help_usage(out, NULL);
	fputs("\nShows what the Linux network stack cost, from a tape of nettape-record.\n"
	      "\nRecord, on the host to be measured:\n"
	      "  sudo nettape-record -d 10s -o busy.tape\n",
	      out);
	print_commands(out);
	fputs("\nHelp:\n"
	      "  nettape-report help COMMAND    its options, and an example\n"
	      "  nettape-report --version\n"
	      "  man nettape-report             the manual, which has a page for each command\n"
	      "\nExit status: 0 done, 1 failed, 2 misused.\n",
	      out);
}

static void print_sentence(const char *what)
{
	char sentence[200];

	snprintf(sentence, sizeof(sentence), "%s.", what);
	if (sentence[0] >= 'a' && sentence[0] <= 'z')
		sentence[0] = (char)(sentence[0] - 'a' + 'A');
	nt_print_prose(stdout, "", "%s", sentence);
}

/* The manual page of a command of two words has dashes between them. */
static void print_manual(const char *name)
{
	printf("\nManual:\n  man nettape-report-");
	for (; *name; name++)
		putchar(*name == ' ' ? '-' : *name);
	putchar('\n');
}

void nt_help_command(const struct nt_command *command)
{
	nt_help_usage(stdout, command);
	puts("");
	print_sentence(command->what);
	if (command->help[0]) {
		puts("");
		nt_print_prose(stdout, "", "%s", command->help);
	}
	puts("\nOptions:");
	nt_print_options(stdout, command->options);
	printf("\nExample:\n  nettape-report %s\n", command->example);
	print_manual(command->name);
}

void nt_help_commands(const char *word)
{
	const struct nt_command *command;

	for (size_t i = 0; (command = nt_command_at(i)); i++) {
		if (!nt_command_second(command, word))
			continue;
		nt_help_usage(stdout, command);
		nt_print_prose(stdout, "       ", "%s", command->what);
	}
	printf("\nHelp: nettape-report help %s FORMAT\n", word);
}

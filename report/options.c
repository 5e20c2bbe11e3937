// SPDX-License-Identifier: GPL-2.0-only
/* options.c - see options.h. The reading is cli/'s; here is what one command knows of the others' options. */
#include "report/options.h"

#include <stdio.h>
#include <string.h>

#include "report/commands.h"
#include "report/out/complain.h"
#include "schema/cli/option.h"

static bool has(const struct nt_command *command, const char *written)
{
	for (const struct nt_option *option = command->options; option->name; option++) {
		if (written[1] == '-' ? !strcmp(option->name, written + 2) : option->letter == written[1])
			return true;
	}
	return false;
}

/* If other commands have the unknown option, says which. */
static void explain_unknown(const struct nt_command *command, const char *written, char *error, size_t error_size)
{
	const struct nt_command *other;
	char list[300] = "";
	size_t at = 0;

	for (size_t i = 0; (other = nt_command_at(i)) && at < sizeof(list); i++) {
		if (has(other, written))
			at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", at ? ", " : "", other->name);
	}
	if (at)
		snprintf(error, error_size, "option '%s' is not for '%s'; it is for %s", written, command->name, list);
}

/* Something that must be given and is not: "'import' needs -o DB: the database to make". */
static int fail_missing(const struct nt_command *command, const struct nt_option *option, char *error,
			size_t error_size)
{
	char name[64];

	nt_option_short(option, name, sizeof(name));
	return nt_refuse(error, error_size, "'%s' needs %s %s: %s", command->name, name, option->value, option->help);
}

int nt_options_read(struct nt_options *options, const struct nt_command *command, int argc, char **argv, char *error,
		    size_t error_size)
{
	struct nt_option_reader reader = {
		.options = command->options, .into = options, .error = error, .error_size = error_size};
	const struct nt_option *missing;

	options->args = argv + 1;
	options->n_args = nt_option_read(&reader, argc, argv);
	if (reader.unknown[0])
		explain_unknown(command, reader.unknown, error, error_size);
	if (options->n_args < 0)
		return -1;
	missing = options->help ? NULL : nt_option_missing(&reader);
	return missing ? fail_missing(command, missing, error, error_size) : 0;
}

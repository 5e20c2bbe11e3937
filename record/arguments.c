// SPDX-License-Identifier: GPL-2.0-only
/* arguments.c - see arguments.h. */
#include "record/arguments.h"

#include <ctype.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "schema/arg.h"

/* What getopt wants to know. The first sign: stop at what is no option; the second: tell a missing value from an
 * unknown option. */
struct for_getopt {
	struct option longs[NT_ARGUMENTS_MAX + 1];
	char shorts[2 * NT_ARGUMENTS_MAX + 3];
};

static void prepare(struct for_getopt *to, const struct nt_argument *known)
{
	char *letter = to->shorts;
	size_t i;

	memset(to, 0, sizeof(*to));
	*letter++ = '+';
	*letter++ = ':';
	for (i = 0; known[i].name && i < NT_ARGUMENTS_MAX; i++) {
		to->longs[i] = (struct option){
			.name = known[i].name,
			.has_arg = known[i].example ? required_argument : no_argument,
			.val = known[i].id,
		};
		if (known[i].id > 255)
			continue;
		*letter++ = (char)known[i].id;
		if (known[i].example)
			*letter++ = ':';
	}
}

static const struct nt_argument *find(const struct nt_argument *known, int id)
{
	for (; known->name; known++)
		if (known->id == id)
			return known;
	return NULL;
}

/* The option of an argument, as it was written: "-d", or "--duration" without its value. */
static void written(char *out, size_t size, const char *argument, int id)
{
	if (!strncmp(argument, "--", 2))
		snprintf(out, size, "%.*s", (int)strcspn(argument, "="), argument);
	else
		snprintf(out, size, "-%c", isprint(id) ? id : '?');
}

static int lacks_value(const char *option, const struct nt_argument *argument, char *error, size_t size)
{
	snprintf(error, size, "option '%s' needs a value, such as %s", option, argument->example);
	return NT_ARGUMENTS_WRONG;
}

/* A long option that getopt did not take: one of no name, or the beginning of several. */
static void explain_long(const char *option, const struct nt_argument *known, char *error, size_t size)
{
	const char *names[NT_ARGUMENTS_MAX + 1], *name = option + 2, *nearest;
	size_t length = strlen(name), i, n = 0, at;

	at = (size_t)snprintf(error, size, "option '%s' is ambiguous:", option);
	for (i = 0; known[i].name && i < NT_ARGUMENTS_MAX; i++) {
		names[i] = known[i].name;
		if (!strncmp(known[i].name, name, length) && at < size)
			at += (size_t)snprintf(error + at, size - at, "%s --%s", n++ ? "," : "", known[i].name);
	}
	names[i] = NULL;
	if (n)
		return;
	nearest = nt_arg_nearest(name, names);
	if (nearest)
		snprintf(error, size, "unknown option '%s' (did you mean '--%s'?)", option, nearest);
	else
		snprintf(error, size, "unknown option '%s'", option);
}

static void explain(const char *option, const struct nt_argument *known, char *error, size_t size)
{
	/* getopt leaves the id of an option that takes no value, the letter of an unknown one, or 0. */
	if (optopt && find(known, optopt))
		snprintf(error, size, "option '%s' takes no value", option);
	else if (optopt)
		snprintf(error, size, "unknown option '%s'", option);
	else
		explain_long(option, known, error, size);
}

int nt_arguments_next(int argc, char **argv, const struct nt_argument *known, char *error, size_t size)
{
	struct for_getopt table;
	char option[256];
	int begin = optind ? optind : 1, id; /* 0: getopt begins anew */

	prepare(&table, known);
	opterr = 0;
	id = getopt_long(argc, argv, table.shorts, table.longs, NULL);
	if (id == -1)
		return -1;
	written(option, sizeof(option), argv[begin], id == '?' || id == ':' ? optopt : id);
	if (id == ':')
		return lacks_value(option, find(known, optopt), error, size);
	/* "-o -- COMMAND": who writes that has forgotten the value. */
	if (id != '?' && find(known, id)->example && optarg == argv[optind - 1] && !strcmp(optarg, "--"))
		return lacks_value(option, find(known, id), error, size);
	if (id == '?')
		explain(option, known, error, size);
	return id;
}

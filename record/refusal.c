// SPDX-License-Identifier: GPL-2.0-only
/*
 * refusal.c - see refusal.h. Not every program that libbpf warns of is refused: a field that does not fit spoils only
 * the instruction that reads it, which may never be reached. So the program that is named last counts, just before
 * libbpf gives up.
 */
#include "record/refusal.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

/* The callback takes no argument. */
static struct nt_refusal *listener;

/* The text up to the end of its line, without what a line of the tape cannot hold. */
static void keep_line(struct nt_refusal *refusal, const char *text)
{
	snprintf(refusal->why, sizeof(refusal->why), "%.*s", (int)strcspn(text, "\n"), text);
	for (char *at = refusal->why; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = ' ';
}

static bool begins_with(const char *text, const char *word)
{
	return !strncmp(text, word, strlen(word));
}

/*
 * The line of the verifier's log that says why: what libbpf put there for a field or type that the kernel has not, else
 * the last one before the statistics.
 */
static void keep_log(struct nt_refusal *refusal, const char *log)
{
	const char *field = strstr(log, "failed to resolve CO-RE relocation"), *last = NULL;

	for (const char *line = log; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		if (begins_with(line, "processed ") || begins_with(line, "-- END PROG LOAD LOG"))
			break;
		if (*line != '\n')
			last = line;
	}
	if (field || last)
		keep_line(refusal, field ? field : last);
}

static void take_of_program(struct nt_refusal *refusal, const char *name, const char *text)
{
	if (strcmp(refusal->program, name)) {
		memset(refusal, 0, sizeof(*refusal));
		snprintf(refusal->program, sizeof(refusal->program), "%s", name);
	}
	if (begins_with(text, "-- BEGIN PROG LOAD LOG --\n"))
		keep_log(refusal, strchr(text, '\n') + 1);
	else if (!refusal->why[0])
		keep_line(refusal, text);
}

static void take(struct nt_refusal *refusal, const char *text)
{
	char name[sizeof(refusal->program)];
	int at = 0;

	if (begins_with(text, "libbpf: "))
		text += strlen("libbpf: ");
	if (sscanf(text, "prog '%63[^']': %n", name, &at) == 1 && at)
		take_of_program(refusal, name, text + at);
	else if (!refusal->program[0] && (!refusal->why[0] || begins_with(text, "map '")))
		keep_line(refusal, text);
}

__attribute__((format(printf, 2, 0))) static int hear(enum libbpf_print_level level, const char *format, va_list args)
{
	const bool is_shown = getenv("NETTAPE_DEBUG") != NULL, is_heard = level == LIBBPF_WARN && listener;
	char *text;

	if ((!is_shown && !is_heard) || vasprintf(&text, format, args) < 0)
		return 0;
	if (is_shown)
		fputs(text, stderr);
	if (is_heard)
		take(listener, text);
	free(text);
	return 0;
}

void nt_refusal_listen(struct nt_refusal *refusal)
{
	if (refusal)
		memset(refusal, 0, sizeof(*refusal));
	listener = refusal;
	libbpf_set_print(hear);
}

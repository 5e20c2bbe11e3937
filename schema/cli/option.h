/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * option.h - the options of a program or a command as one table, a row each. A command line is read, completed and
 * explained by this table alone, so a new option is one row. Nothing here prints by itself or keeps a global state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NT_OPTIONS_MAX 64 /* rows of a table: `given` below has a bit for each */

/* The values of an option as they were given, and where to say what is wrong with them. */
struct nt_option_values {
	const char *text, *second;
	char *error;
	size_t error_size;
};

/* The last row of a table has no name. */
struct nt_option {
	const char *name; /* behind the two dashes */
	char letter; /* behind one dash; 0: it has none */
	const char *value; /* as the help calls it: "FILE"; two have a blank between them; NULL: it takes none */
	const char *example; /* of a value, for messages */
	/* Puts the values into the member. False: they are wrong; `error` may say why, else `wants` does. */
	bool (*set)(void *member, const struct nt_option_values *values);
	size_t member; /* its offset in the struct that the table fills */
	const char *help; /* NULL: an old name, which works and is not shown */
	const char *wants; /* behind "-d wants": what values set() takes; NULL: any, or set() says it */
	const char *(*choice)(unsigned int i); /* the i-th value that there is, then NULL; NULL: they have no names */
	bool is_needed; /* the command does not go without it */
	bool is_written; /* its value is a file that is written; the member is a const char * */
	const char *section; /* the line above it in the help; NULL: the first section */
	int tag; /* a meaning that the program gives it */
};

/*
 * A row. `to` is NT_TO(set, struct, member), or one of the next three. Members that are rarely set follow by their
 * names.
 */
#define NT_OPTION(name_, letter_, value_, example_, to, help_, ...)                                                    \
	{                                                                                                              \
		.name = name_, .letter = letter_, .value = value_, .example = example_, to, .help = help_, __VA_ARGS__ \
	}
#define NT_OPTIONS_END                                                                                                 \
	{                                                                                                              \
		.name = NULL                                                                                           \
	}
#define NT_TO(set_, struct_, member_) .set = set_, .member = offsetof(struct_, member_)

/* Members that are true if the option is given; the text of its value; the texts of both its values. */
bool nt_option_set_true(void *member, const struct nt_option_values *values);
bool nt_option_set_text(void *member, const struct nt_option_values *values);
bool nt_option_set_both(void *member, const struct nt_option_values *values);

/* "-o, --output FILE", with blanks for a letter that is not there. Gives its length. */
size_t nt_option_label(const struct nt_option *option, char *out, size_t size);
/* As one writes it: "-o", or "--from" if it has no letter. */
void nt_option_short(const struct nt_option *option, char *out, size_t size);

struct nt_option_reader {
	const struct nt_option *options;
	void *into; /* the struct that the table fills */
	bool stops; /* the first argument ends the options: those behind it are another command's */
	char *error; /* the sentence on what is wrong, without its full stop */
	size_t error_size;

	uint64_t given; /* found: a bit for each row */
	bool has_dashes; /* found: "--" */
	char unknown[64]; /* found: an option that is in no row, as it was written; or "" */
};

/*
 * Reads argv[1] and the words that follow. Words that belong to no option move to argv[1] and so on, with a NULL behind
 * them. Gives their number. -1: `error` says what is wrong.
 */
int nt_option_read(struct nt_option_reader *reader, int argc, char **argv);
/* The first row that must be given and is not, or NULL. */
const struct nt_option *nt_option_missing(const struct nt_option_reader *reader);

/*
 * Prints for a shell how the last word may go on: each way on a line, with a tab and its help behind it. A line
 * ":files" or ":directories" leaves it to the shell. Gives -1; or, if the last word is no option and no option's value,
 * how many such words stand before it, and prints nothing. *is_behind: a "--" is among them.
 */
int nt_option_complete(FILE *out, const struct nt_option *options, bool stops, int n, char **words, bool *is_behind);
/* The options that begin so, as above. */
void nt_option_complete_names(FILE *out, const struct nt_option *options, const char *begin);
/* One such line, if the candidate begins so. */
void nt_complete_word(FILE *out, const char *begin, const char *candidate, const char *help);

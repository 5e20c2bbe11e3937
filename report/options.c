// SPDX-License-Identifier: GPL-2.0-only
/*
 * options.c - see options.h. The table, and the parser that goes by it. The parser is our own and not getopt's, so that
 * a message can tell an unknown option from one that lacks its value and from one that other commands have.
 */
#include "report/options.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "schema/arg.h"

/* ---- where values go ---- */

static int set_true(void *member, const char *const values[2])
{
	(void)values;
	*(bool *)member = true;
	return 0;
}

static int set_text(void *member, const char *const values[2])
{
	*(const char **)member = values[0];
	return 0;
}

static int set_both(void *member, const char *const values[2])
{
	const char **texts = member;

	texts[0] = values[0];
	texts[1] = values[1];
	return 0;
}

static int set_json(void *member, const char *const values[2])
{
	(void)values;
	*(enum nt_format *)member = NT_FORMAT_JSON;
	return 0;
}

static int set_csv(void *member, const char *const values[2])
{
	(void)values;
	*(enum nt_format *)member = NT_FORMAT_CSV;
	return 0;
}

static int add_hook(void *member, const char *const values[2])
{
	struct nt_latency_words *words = member;

	if (words->n_hooks == NT_MAX_HOOKS)
		return -1;
	words->hooks[words->n_hooks++] = values[0];
	return 0;
}

static int add_symbols(void *member, const char *const values[2])
{
	struct nt_symbol_words *words = member;

	if (words->n_dirs == NT_MAX_SYMBOL_DIRS)
		return -1;
	words->dirs[words->n_dirs++] = values[0];
	return 0;
}

/* ---- the table ---- */

#define AT(member) offsetof(struct nt_options, member)
#define FLAG(member) set_true, AT(member)
#define TEXT(member) set_text, AT(member)

/* clang-format off */
static const struct nt_option table[] = {
	{"output", 'o', 1, "DB", "busy.db", NT_TAKES_OUTPUT, TEXT(output), "the database to make, or to add to"},
	{"output", 'o', 1, "FILE", "busy.out", NT_TAKES_OUTPUT_IF, TEXT(output),
	 "the file to write; without it, standard output"},
	{"output", 'o', 1, "FILE", "busy.pftrace", NT_TAKES_OUTPUT_FILE, TEXT(output), "the file to write"},
	{"append", 0, 0, NULL, NULL, NT_TAKES_APPEND, FLAG(append), "add to a database that exists already"},
	{"from", 0, 1, "T", "2.5s", NT_TAKES_TIME, TEXT(selection.from),
	 "begin here: a time since the start of the recording (2.5, 300ms, 20us), or UTC (2026-11-21T18:00:00Z)"},
	{"to", 0, 1, "T", "2.5s", NT_TAKES_TIME, TEXT(selection.to), "end here"},
	{"cpu", 0, 1, "LIST", "0,2-5", NT_TAKES_WHO, TEXT(selection.cpus), "only these CPUs, such as 0,2-5"},
	{"process", 0, 1, "P", "nginx", NT_TAKES_WHO, TEXT(selection.process),
	 "only the process with this pid or name"},
	{"worst", 0, 1, "OWNER", "net_rx", NT_TAKES_LANES, TEXT(lanes.worst),
	 "find the windows with the most time of this owner, or of network"},
	{"window", 0, 1, "T", "10ms", NT_TAKES_LANES, TEXT(lanes.window), "the length of these windows (10ms)"},
	{"top", 0, 1, "N", "5", NT_TAKES_LANES, TEXT(lanes.top), "how many windows to show (5); they never overlap"},
	{"each-cpu", 0, 0, NULL, NULL, NT_TAKES_LANES, FLAG(lanes.each_cpu),
	 "windows of single CPUs, not of all CPUs together"},
	{"cells", 0, 1, "N", "100", NT_TAKES_LANES, TEXT(lanes.cells),
	 "cut the time into N cells (as many as fit on a line)"},
	{"owner", 0, 1, "LIST", "net_rx,send", NT_TAKES_OWNER, TEXT(stages.owners),
	 "only the time of these owners, such as net_rx,send (network)"},
	{"by", 0, 1, "WHAT", "program", NT_TAKES_GROUP, TEXT(samples.by),
	 "one group for each program, process, port, peer, cgroup or socket"},
	{"by", 0, 1, "WHAT", "process", NT_TAKES_BY, TEXT(samples.by),
	 "one group for each cpu, process, cgroup, or step of time"},
	{"inclusive", 0, 0, NULL, NULL, NT_TAKES_STAGES, FLAG(stages.inclusive),
	 "count a stage with everything that was done inside it"},
	{"other", 0, 0, NULL, NULL, NT_TAKES_STAGES, FLAG(stages.other),
	 "list the stacks that belong to no stage, the most expensive first"},
	{"folded", 0, 0, NULL, NULL, NT_TAKES_FLAME, FLAG(stages.folded),
	 "one line for each stack: functions with ; between them, and nanoseconds"},
	{"user-stacks", 0, 0, NULL, NULL, NT_TAKES_FLAME, FLAG(stages.user),
	 "stacks of programs too, where they were recorded"},
	{"user", 0, 0, NULL, NULL, NT_TAKES_FLAME, FLAG(stages.user), NULL},
	{"diff", 0, 0, NULL, NULL, NT_TAKES_FLAME, FLAG(stages.diff),
	 "compare two recordings: red grew in the second, blue shrank"},
	{"by", 0, 1, "WHAT", "process", NT_TAKES_SAMPLES, TEXT(samples.by),
	 "one group for each iface, cgroup, process, socket, cpu or port"},
	{"hook", 0, 1, "NAME", "ip-start", NT_TAKES_SAMPLES, add_hook, AT(samples),
	 "only this hook; may be repeated"},
	{"include-hol", 0, 0, NULL, NULL, NT_TAKES_SAMPLES, FLAG(samples.include_hol),
	 "also reads that had to wait for a segment that came late (head of line)"},
	{"between", 0, 2, "HOOK HOOK",
	 "udp-socket-enqueued udp-socket-read", NT_TAKES_VIEW, set_both, AT(samples.between),
	 "the time that packets took from the first hook to the second"},
	{"histogram", 0, 0, NULL, NULL, NT_TAKES_VIEW, FLAG(histogram), "show how many packets were how late"},
	{"over-time", 0, 0, NULL, NULL, NT_TAKES_VIEW, FLAG(over_time),
	 "show a heat map of characters: latency over time"},
	{"buckets", 0, 1, "N", "4", NT_TAKES_VIEW, TEXT(buckets), "N buckets in each doubling of the latency (1)"},
	{"svg", 0, 1, "FILE", "busy.svg", NT_TAKES_VIEW, TEXT(svg), "write the heat map as a picture"},
	{"symbols", 0, 1, "DIR", "./unpacked", NT_TAKES_SYMBOLS, add_symbols, AT(symbols),
	 "look here too for programs and their symbols, of the same build id; may be repeated"},
	{"no-symbols", 0, 0, NULL, NULL, NT_TAKES_NO_SYMBOLS, FLAG(symbols.none), "look at no such file"},
	{"file", 'f', 1, "FILE", "busy.sql", NT_TAKES_FILE, TEXT(file), "read the SQL from this file"},
	{"json", 0, 0, NULL, NULL, NT_TAKES_JSON, set_json, AT(format), "print JSON, for programs"},
	{"csv", 0, 0, NULL, NULL, NT_TAKES_CSV, set_csv, AT(format), "print CSV, for programs"},
	{"help", 'h', 0, NULL, NULL, NT_TAKES_HELP, FLAG(help), "show this text"},
};
/* clang-format on */
#define N_ROWS (sizeof(table) / sizeof(table[0]))

const struct nt_option *nt_option_at(size_t i)
{
	return i < N_ROWS ? &table[i] : NULL;
}

/* ---- parsing ---- */

struct parse {
	struct nt_options *options;
	const struct nt_command *command;
	int argc, at; /* the next word */
	char **argv;
	char *error;
	size_t error_size;
};

static int fail(const struct parse *parse, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(const struct parse *parse, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(parse->error, parse->error_size, format, args);
	va_end(args);
	return -1;
}

static bool has(const struct nt_command *command, const struct nt_option *option)
{
	return option->takes == NT_TAKES_HELP || (command->takes & option->takes);
}

/* The command's option whose name begins so: exactly so, or as the only one. NULL: there is none, or several. */
static const struct nt_option *find_name(const struct nt_command *command, const char *name, size_t size)
{
	const struct nt_option *found = NULL;
	int n = 0;

	for (const struct nt_option *row = table; row < table + N_ROWS; row++) {
		if (!has(command, row) || strncmp(row->name, name, size) != 0)
			continue;
		if (!row->name[size])
			return row;
		if (row->help) {
			found = row;
			n++;
		}
	}
	return n == 1 ? found : NULL;
}

static const struct nt_option *find_letter(const struct nt_command *command, char letter)
{
	for (const struct nt_option *row = table; row < table + N_ROWS; row++) {
		if (row->letter == letter && has(command, row))
			return row;
	}
	return NULL;
}

/* The names of the commands that have one of `takes`, with commas between. */
static void list_commands(unsigned int takes, char *list, size_t size)
{
	size_t at = 0;

	list[0] = 0;
	for (size_t i = 0; nt_command_at(i) && at < size; i++) {
		if (nt_command_at(i)->takes & takes)
			at += (size_t)snprintf(list + at, size - at, "%s%s", at ? ", " : "", nt_command_at(i)->name);
	}
}

/* There is no such option here: another command's, or a slip? `word` is as it was written, without a value. */
static int fail_unknown(const struct parse *parse, const char *word, const char *name, char letter)
{
	const char *known[N_ROWS + 1], *nearest;
	unsigned int takes = 0;
	char list[300];
	size_t n = 0;

	for (const struct nt_option *row = table; row < table + N_ROWS; row++) {
		if (name ? !strcmp(row->name, name) : row->letter == letter)
			takes |= row->takes;
		if (has(parse->command, row) && row->help)
			known[n++] = row->name;
	}
	known[n] = NULL;
	if (takes) {
		list_commands(takes, list, sizeof(list));
		return fail(parse, "option '%s' is not for '%s'; it is for %s", word, parse->command->name, list);
	}
	nearest = name ? nt_arg_nearest(name, known) : NULL;
	if (nearest)
		return fail(parse, "unknown option '%s'; did you mean '--%s'?", word, nearest);
	return fail(parse, "unknown option '%s'", word);
}

/*
 * The values of an option; the first may stand in the same word. What begins with two dashes is the next option: a name
 * that does is given as --option=--name.
 */
static int set(struct parse *parse, const struct nt_option *option, const char *word, const char *value)
{
	const char *values[2] = {value, NULL};

	for (int i = value ? 1 : 0; i < option->n_values; i++) {
		if (parse->at >= parse->argc || !strncmp(parse->argv[parse->at], "--", 2))
			return fail(parse, "option '%s' needs %s, such as %s", word,
				    option->n_values > 1 ? "two values" : "a value", option->such_as);
		values[i] = parse->argv[parse->at++];
	}
	if (option->set((char *)parse->options + option->member, values))
		return fail(parse, "option '%s' is given too often", word);
	return 0;
}

static int read_long(struct parse *parse, const char *word)
{
	const char *value = strchr(word, '='), *name = word + 2;
	size_t size = value ? (size_t)(value - name) : strlen(name);
	const struct nt_option *option = size ? find_name(parse->command, name, size) : NULL;
	char written[100], *plain = written + 2;

	snprintf(written, sizeof(written), "--%.*s", (int)(size < 90 ? size : 90), name);
	if (!option)
		return fail_unknown(parse, written, plain, 0);
	if (value && !option->n_values)
		return fail(parse, "option '--%s' takes no value", option->name);
	snprintf(written, sizeof(written), "--%s", option->name);
	return set(parse, option, written, value ? value + 1 : NULL);
}

static int read_short(struct parse *parse, const char *word)
{
	const char written[3] = {'-', word[1], 0};
	const struct nt_option *option = find_letter(parse->command, word[1]);

	if (!option)
		return fail_unknown(parse, written, NULL, word[1]);
	if (word[2] && !option->n_values)
		return fail(parse, "option '%s' takes no value", written);
	return set(parse, option, written, word[2] ? word + 2 : NULL);
}

int nt_options_read(struct nt_options *options, const struct nt_command *command, int argc, char **argv, char *error,
		    size_t error_size)
{
	struct parse parse = {options, command, argc, 1, argv, error, error_size};
	bool is_over = false;
	int result = 0;

	options->args = argv + 1;
	while (!result && parse.at < argc) {
		char *word = argv[parse.at++];

		if (is_over || word[0] != '-' || !word[1])
			options->args[options->n_args++] = word;
		else if (!strcmp(word, "--"))
			is_over = true;
		else
			result = word[1] == '-' ? read_long(&parse, word) : read_short(&parse, word);
	}
	return result;
}

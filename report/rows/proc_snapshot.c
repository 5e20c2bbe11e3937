// SPDX-License-Identifier: GPL-2.0-only
/*
 * proc_snapshot.c - see proc_snapshot.h. One function per format, each going over lines and words by bounds, never by
 * terminators.
 */
#include "report/rows/proc_snapshot.h"

#include <stdio.h>
#include <string.h>

struct text {
	const char *at, *end;
};

struct parse {
	nt_counter_fn counter;
	void *arg;
	uint64_t *bad_lines;
};

/* Takes the next line off *text, without its end. False: there is none. */
static bool next_line(struct text *text, struct text *line)
{
	const char *newline;

	if (text->at == text->end)
		return false;
	newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
	*line = (struct text){text->at, newline ? newline : text->end};
	text->at = newline ? newline + 1 : text->end;
	return true;
}

/* Takes the next word off *line. False: there is none. */
static bool next_word(struct text *line, struct text *word)
{
	while (line->at < line->end && (*line->at == ' ' || *line->at == '\t'))
		line->at++;
	word->at = line->at;
	while (line->at < line->end && *line->at != ' ' && *line->at != '\t')
		line->at++;
	word->end = line->at;
	return word->at < word->end;
}

static size_t length(const struct text *text)
{
	return (size_t)(text->end - text->at);
}

/* Takes `prefix` off the word, if it begins so. */
static bool take(struct text *word, const char *prefix)
{
	if (length(word) < strlen(prefix) || memcmp(word->at, prefix, strlen(prefix)) != 0)
		return false;
	word->at += strlen(prefix);
	return true;
}

static int digit_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	return 99;
}

/* The whole word as a number that SQL can hold. */
static bool number(struct text word, unsigned int base, int64_t *out)
{
	bool negative = take(&word, "-");
	int64_t value = 0;

	if (word.at == word.end)
		return false;
	for (; word.at < word.end; word.at++) {
		int digit = digit_value(*word.at);

		if (digit >= (int)base || __builtin_mul_overflow(value, (int64_t)base, &value) ||
		    __builtin_add_overflow(value, (int64_t)digit, &value))
			return false;
	}
	*out = negative ? -value : value;
	return true;
}

static bool next_number(struct text *line, unsigned int base, int64_t *out)
{
	struct text word;

	return next_word(line, &word) && number(word, base, out);
}

/* "first.second", or one of them alone, as a zero-terminated name. */
static bool join(char name[NT_COUNTER_NAME_MAX], const struct text *first, const char *between,
		 const struct text *second)
{
	int size = snprintf(name, NT_COUNTER_NAME_MAX, "%.*s%s%.*s", (int)length(first), first->at, between,
			    second ? (int)length(second) : 0, second ? second->at : "");

	return size > 0 && size < NT_COUNTER_NAME_MAX;
}

static int give(const struct parse *parse, int64_t cpu, const char *program, const char *name, int64_t value)
{
	struct nt_counter counter = {.cpu = cpu, .program = program, .name = name, .value = value};

	return parse->counter(parse->arg, &counter);
}

/* The times of a line "cpu 1 2 3 ..." of /proc/stat, in clock ticks. */
static int stat_cpu_line(const struct parse *parse, int64_t cpu, struct text *line)
{
	static const char *const names[] = {"user", "nice",    "system", "idle",  "iowait",
					    "irq",  "softirq", "steal",	 "guest", "guest_nice"};
	int error = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !error; i++) {
		struct text word;
		int64_t value;

		if (!next_word(line, &word))
			break;
		if (number(word, 10, &value))
			error = give(parse, cpu, NULL, names[i], value);
		else
			++*parse->bad_lines;
	}
	return error;
}

/* /proc/stat: the lines of CPUs, and the first number (the sum) of the others. */
static int parse_stat(const struct parse *parse, struct text text)
{
	struct text line, word;
	int error = 0;

	while (!error && next_line(&text, &line)) {
		char name[NT_COUNTER_NAME_MAX];
		int64_t value = -1;

		if (!next_word(&line, &word))
			continue;
		if (take(&word, "cpu")) {
			if (!length(&word) || (number(word, 10, &value) && value >= 0))
				error = stat_cpu_line(parse, value, &line);
			else
				++*parse->bad_lines;
		} else if (next_number(&line, 10, &value) && join(name, &word, "", NULL)) {
			error = give(parse, -1, NULL, name, value);
		} else {
			++*parse->bad_lines;
		}
	}
	return error;
}

/* /proc/softirqs: a header "CPU0 CPU1 ...", then "NET_RX: 1 2 ...", a number for each CPU of the header. */
static int parse_softirqs(const struct parse *parse, struct text text)
{
	struct text header, line, word;
	int error = 0;

	if (!next_line(&text, &header))
		return 0;
	while (!error && next_line(&text, &line)) {
		struct text cpus = header, cpu_word, count;
		char name[NT_COUNTER_NAME_MAX];
		int64_t cpu, value;

		if (!next_word(&line, &word) || word.end[-1] != ':') {
			++*parse->bad_lines;
			continue;
		}
		word.end--;
		while (!error && next_word(&line, &count)) {
			if (next_word(&cpus, &cpu_word) && take(&cpu_word, "CPU") && number(cpu_word, 10, &cpu) &&
			    cpu >= 0 && number(count, 10, &value) && join(name, &word, "", NULL)) {
				error = give(parse, cpu, NULL, name, value);
			} else {
				++*parse->bad_lines;
				break;
			}
		}
	}
	return error;
}

#define SOFTNET_CPU 12 /* the column that says which CPU; kernels before 5.10 lack it, and lines are by number */

/* /proc/net/softnet_stat: a line of hexadecimal numbers for each online CPU. */
static int parse_softnet(const struct parse *parse, struct text text)
{
	static const char *const names[] = {"processed",
					    "dropped",
					    "time_squeeze",
					    NULL,
					    NULL,
					    NULL,
					    NULL,
					    NULL,
					    "cpu_collision",
					    "received_rps",
					    "flow_limit_count",
					    "backlog_len",
					    NULL,
					    "input_qlen",
					    "process_qlen"};
	enum { N = sizeof(names) / sizeof(names[0]) };
	struct text line;
	int error = 0;

	for (int64_t row = 0; !error && next_line(&text, &line); row++) {
		int64_t values[N];
		size_t n = 0;

		while (n < N && next_number(&line, 16, &values[n]))
			n++;
		if (n < 3 || (n > SOFTNET_CPU && values[SOFTNET_CPU] < 0)) {
			++*parse->bad_lines;
			continue;
		}
		for (size_t i = 0; i < n && !error; i++) {
			if (names[i])
				error = give(parse, n > SOFTNET_CPU ? values[SOFTNET_CPU] : row, NULL, names[i],
					     values[i]);
		}
	}
	return error;
}

/* /proc/net/snmp: pairs of lines, "Udp: InDatagrams ..." and "Udp: 12 ...". */
static int parse_snmp(const struct parse *parse, struct text text)
{
	struct text names, values, group, again, name_word;
	int error = 0;

	while (!error && next_line(&text, &names)) {
		if (!next_line(&text, &values) || !next_word(&names, &group) || !next_word(&values, &again) ||
		    length(&group) != length(&again) || memcmp(group.at, again.at, length(&group)) != 0 ||
		    group.end[-1] != ':') {
			++*parse->bad_lines;
			continue;
		}
		group.end--;
		while (!error && next_word(&names, &name_word)) {
			char name[NT_COUNTER_NAME_MAX];
			int64_t value;

			if (!next_number(&values, 10, &value) || !join(name, &group, ".", &name_word)) {
				++*parse->bad_lines;
				break;
			}
			error = give(parse, -1, NULL, name, value);
		}
	}
	return error;
}

/* nettape/cpus: "CPU KIND WRITTEN LOST", as the kernel side counted them. */
static int parse_cpus(const struct parse *parse, struct text text)
{
	static const struct text written = {"written", &"written"[7]}, lost = {"lost", &"lost"[4]};
	struct text line, kind;
	int error = 0;

	while (!error && next_line(&text, &line)) {
		char name[NT_COUNTER_NAME_MAX];
		int64_t cpu, n_written, n_lost;

		if (!next_number(&line, 10, &cpu) || cpu < 0 || !next_word(&line, &kind) ||
		    !next_number(&line, 10, &n_written) || !next_number(&line, 10, &n_lost) ||
		    !join(name, &kind, ".", &written)) {
			++*parse->bad_lines;
			continue;
		}
		error = give(parse, cpu, NULL, name, n_written);
		if (!error && join(name, &kind, ".", &lost))
			error = give(parse, cpu, NULL, name, n_lost);
	}
	return error;
}

static int key_value(const struct parse *parse, const char *program, struct text word)
{
	struct text key = word;
	char name[NT_COUNTER_NAME_MAX];
	int64_t value;

	key.end = memchr(word.at, '=', length(&word));
	if (key.end && key.end > key.at && number((struct text){key.end + 1, word.end}, 10, &value) &&
	    join(name, &key, "", NULL))
		return give(parse, -1, program, name, value);
	++*parse->bad_lines;
	return 0;
}

/* nettape/programs: "NAME key=value ...". */
static int parse_programs(const struct parse *parse, struct text text)
{
	struct text line, word;
	int error = 0;

	while (!error && next_line(&text, &line)) {
		char program[NT_COUNTER_NAME_MAX];

		if (!next_word(&line, &word) || !join(program, &word, "", NULL)) {
			++*parse->bad_lines;
			continue;
		}
		while (!error && next_word(&line, &word))
			error = key_value(parse, program, word);
	}
	return error;
}

/* nettape/self: lines "key=value". */
static int parse_self(const struct parse *parse, struct text text)
{
	struct text line;
	int error = 0;

	while (!error && next_line(&text, &line))
		error = key_value(parse, NULL, line);
	return error;
}

static const struct {
	const char *name;
	int (*parse)(const struct parse *parse, struct text text);
	bool is_self;
} formats[] = {
	{"/proc/stat", parse_stat, false},
	{"/proc/softirqs", parse_softirqs, false},
	{"/proc/net/softnet_stat", parse_softnet, false},
	{"/proc/net/snmp", parse_snmp, false},
	{"nettape/cpus", parse_cpus, false},
	{"nettape/programs", parse_programs, true},
	{"nettape/self", parse_self, true},
};

int nt_proc_snapshot_parse(const struct nt_proc_snapshot *snapshot, nt_counter_fn counter, void *arg,
			   uint64_t *bad_lines)
{
	const struct parse parse = {counter, arg, bad_lines};
	const struct text text = {snapshot->text, snapshot->text + snapshot->text_size};

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!strcmp(snapshot->name, formats[i].name))
			return formats[i].parse(&parse, text);
	}
	return 0;
}

bool nt_proc_snapshot_is_self(const struct nt_proc_snapshot *snapshot)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (!strcmp(snapshot->name, formats[i].name))
			return formats[i].is_self;
	}
	return false;
}

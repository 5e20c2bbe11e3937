// SPDX-License-Identifier: GPL-2.0-only
/*
 * proc_snapshot.c - see proc_snapshot.h. One function per format, each going over lines and words by bounds, never by
 * terminators.
 */
#include "report/rows/proc_snapshot.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "report/util/array.h"

struct text {
	const char *at, *end;
};

struct parse {
	nt_counter_fn counter;
	void *arg;
	int error; /* that the callback gave: it is not called again */
	uint64_t bad_lines;
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

/* The whole word as a number that SQL can hold. */
static bool number(struct text word, size_t base, int64_t *out)
{
	static const char digits[] = "0123456789abcdef";
	bool negative = take(&word, "-");
	int64_t value = 0;

	if (word.at == word.end)
		return false;
	for (; word.at < word.end; word.at++) {
		const char *digit = memchr(digits, tolower((unsigned char)*word.at), base);

		if (!digit || __builtin_mul_overflow(value, (int64_t)base, &value) ||
		    __builtin_add_overflow(value, digit - digits, &value))
			return false;
	}
	*out = negative ? -value : value;
	return true;
}

static bool next_number(struct text *line, size_t base, int64_t *out)
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

static void give(struct parse *parse, int64_t cpu, const char *program, const char *name, int64_t value)
{
	struct nt_counter counter = {.cpu = cpu, .program = program, .name = name, .value = value};

	if (!parse->error)
		parse->error = parse->counter(parse->arg, &counter);
}

/* The times of a line "cpu 1 2 3 ..." of /proc/stat, in clock ticks. */
static void stat_cpu_line(struct parse *parse, int64_t cpu, struct text *line)
{
	static const char *const names[] = {"user", "nice",    "system", "idle",  "iowait",
					    "irq",  "softirq", "steal",	 "guest", "guest_nice"};

	for (size_t i = 0; i < NT_COUNT(names); i++) {
		struct text word;
		int64_t value;

		if (!next_word(line, &word))
			break;
		if (number(word, 10, &value))
			give(parse, cpu, NULL, names[i], value);
		else
			parse->bad_lines++;
	}
}

/* /proc/stat: the lines of CPUs, and the first number (the sum) of the others. */
static void parse_stat(struct parse *parse, struct text text)
{
	struct text line, word;

	while (next_line(&text, &line)) {
		char name[NT_COUNTER_NAME_MAX];
		int64_t value = -1;

		if (!next_word(&line, &word))
			continue;
		if (take(&word, "cpu")) {
			if (!length(&word) || (number(word, 10, &value) && value >= 0))
				stat_cpu_line(parse, value, &line);
			else
				parse->bad_lines++;
		} else if (next_number(&line, 10, &value) && join(name, &word, "", NULL)) {
			give(parse, -1, NULL, name, value);
		} else {
			parse->bad_lines++;
		}
	}
}

/* /proc/softirqs: a header "CPU0 CPU1 ...", then "NET_RX: 1 2 ...", a number for each CPU of the header. */
static void parse_softirqs(struct parse *parse, struct text text)
{
	struct text header, line, word;

	if (!next_line(&text, &header))
		return;
	while (next_line(&text, &line)) {
		struct text cpus = header, cpu_word, count;
		char name[NT_COUNTER_NAME_MAX];
		int64_t cpu, value;

		if (!next_word(&line, &word) || word.end[-1] != ':') {
			parse->bad_lines++;
			continue;
		}
		word.end--;
		while (next_word(&line, &count)) {
			if (next_word(&cpus, &cpu_word) && take(&cpu_word, "CPU") && number(cpu_word, 10, &cpu) &&
			    cpu >= 0 && number(count, 10, &value) && join(name, &word, "", NULL)) {
				give(parse, cpu, NULL, name, value);
			} else {
				parse->bad_lines++;
				break;
			}
		}
	}
}

#define SOFTNET_CPU 12 /* the column that says which CPU; kernels before 5.10 lack it, and lines are by number */

/* /proc/net/softnet_stat: a line of hexadecimal numbers for each online CPU. */
static void parse_softnet(struct parse *parse, struct text text)
{
	static const char *const names[] = {
		[0] = "processed",     [1] = "dropped",	     [2] = "time_squeeze",
		[8] = "cpu_collision", [9] = "received_rps", [10] = "flow_limit_count",
		[11] = "backlog_len",  [13] = "input_qlen",  [14] = "process_qlen",
	};
	enum { N = NT_COUNT(names) };
	struct text line;

	for (int64_t row = 0; next_line(&text, &line); row++) {
		int64_t values[N];
		size_t n = 0;

		while (n < N && next_number(&line, 16, &values[n]))
			n++;
		if (n < 3 || (n > SOFTNET_CPU && values[SOFTNET_CPU] < 0)) {
			parse->bad_lines++;
			continue;
		}
		for (size_t i = 0; i < n; i++) {
			if (names[i])
				give(parse, n > SOFTNET_CPU ? values[SOFTNET_CPU] : row, NULL, names[i], values[i]);
		}
	}
}

/* /proc/net/snmp: pairs of lines, "Udp: InDatagrams ..." and "Udp: 12 ...". */
static void parse_snmp(struct parse *parse, struct text text)
{
	struct text names, values, group, again, name_word;

	while (next_line(&text, &names)) {
		if (!next_line(&text, &values) || !next_word(&names, &group) || !next_word(&values, &again) ||
		    length(&group) != length(&again) || memcmp(group.at, again.at, length(&group)) != 0 ||
		    group.end[-1] != ':') {
			parse->bad_lines++;
			continue;
		}
		group.end--;
		while (next_word(&names, &name_word)) {
			char name[NT_COUNTER_NAME_MAX];
			int64_t value;

			if (!next_number(&values, 10, &value) || !join(name, &group, ".", &name_word)) {
				parse->bad_lines++;
				break;
			}
			give(parse, -1, NULL, name, value);
		}
	}
}

/* /proc/net/sockstat: lines "TCP: inuse 4 mem 12". */
static void parse_sockstat(struct parse *parse, struct text text)
{
	struct text line, protocol, what;

	while (next_line(&text, &line)) {
		if (!next_word(&line, &protocol) || protocol.end[-1] != ':') {
			parse->bad_lines++;
			continue;
		}
		protocol.end--;
		while (next_word(&line, &what)) {
			char name[NT_COUNTER_NAME_MAX];
			int64_t value;

			if (!next_number(&line, 10, &value) || !join(name, &protocol, ".", &what)) {
				parse->bad_lines++;
				break;
			}
			give(parse, -1, NULL, name, value);
		}
	}
}

/* /proc/pressure/...: lines "some avg10=0.08 avg60=0.59 avg300=7.48 total=22389914166": the total, in microseconds. */
static void parse_pressure(struct parse *parse, struct text text)
{
	static const struct text us = {"us", &"us"[2]};
	struct text line, who, word;

	while (next_line(&text, &line)) {
		char name[NT_COUNTER_NAME_MAX];
		int64_t value;

		word = (struct text){NULL, NULL};
		if (next_word(&line, &who))
			while (next_word(&line, &word) && !take(&word, "total="))
				;
		if (word.at && number(word, 10, &value) && join(name, &who, "_", &us))
			give(parse, -1, NULL, name, value);
		else
			parse->bad_lines++;
	}
}

/* /sys/class/powercap: lines "ZONE MICROJOULES", as the recorder makes them. */
static void parse_powercap(struct parse *parse, struct text text)
{
	struct text line, zone;

	while (next_line(&text, &line)) {
		char name[NT_COUNTER_NAME_MAX];
		int64_t value;

		if (next_word(&line, &zone) && next_number(&line, 10, &value) && join(name, &zone, "", NULL))
			give(parse, -1, NULL, name, value);
		else
			parse->bad_lines++;
	}
}

/* nettape/cpus: "CPU KIND WRITTEN LOST", as the kernel side counted them. */
static void parse_cpus(struct parse *parse, struct text text)
{
	static const struct text written = {"written", &"written"[7]}, lost = {"lost", &"lost"[4]};
	struct text line, kind;

	while (next_line(&text, &line)) {
		char name[NT_COUNTER_NAME_MAX];
		int64_t cpu, n_written, n_lost;

		if (!next_number(&line, 10, &cpu) || cpu < 0 || !next_word(&line, &kind) ||
		    !next_number(&line, 10, &n_written) || !next_number(&line, 10, &n_lost) ||
		    !join(name, &kind, ".", &written)) {
			parse->bad_lines++;
			continue;
		}
		give(parse, cpu, NULL, name, n_written);
		if (join(name, &kind, ".", &lost))
			give(parse, cpu, NULL, name, n_lost);
	}
}

static void key_value(struct parse *parse, int64_t cpu, const char *program, struct text word)
{
	struct text key = word;
	char name[NT_COUNTER_NAME_MAX];
	int64_t value;

	key.end = memchr(word.at, '=', length(&word));
	if (key.end && number((struct text){key.end + 1, word.end}, 10, &value) && join(name, &key, "", NULL))
		give(parse, cpu, program, name, value);
	else
		parse->bad_lines++;
}

/* /sys/devices/system/cpu: lines "CPU key=value ...", as the recorder makes them. */
static void parse_topology(struct parse *parse, struct text text)
{
	struct text line, word;
	int64_t cpu;

	while (next_line(&text, &line)) {
		if (!next_number(&line, 10, &cpu) || cpu < 0) {
			parse->bad_lines++;
			continue;
		}
		while (next_word(&line, &word))
			key_value(parse, cpu, NULL, word);
	}
}

/* nettape/programs: "NAME key=value ...". */
static void parse_programs(struct parse *parse, struct text text)
{
	struct text line, word;

	while (next_line(&text, &line)) {
		char program[NT_COUNTER_NAME_MAX];

		if (!next_word(&line, &word) || !join(program, &word, "", NULL)) {
			parse->bad_lines++;
			continue;
		}
		while (next_word(&line, &word))
			key_value(parse, -1, program, word);
	}
}

/* nettape/self: lines "key=value". */
static void parse_self(struct parse *parse, struct text text)
{
	struct text line;

	while (next_line(&text, &line))
		key_value(parse, -1, NULL, line);
}

static const struct format {
	const char *name;
	void (*parse)(struct parse *parse, struct text text);
	bool is_self;
} formats[] = {
	{"/proc/stat", parse_stat, false},
	{"/proc/softirqs", parse_softirqs, false},
	{"/proc/net/softnet_stat", parse_softnet, false},
	{"/proc/net/snmp", parse_snmp, false},
	{"/proc/net/sockstat", parse_sockstat, false},
	{"/proc/pressure/cpu", parse_pressure, false},
	{"/proc/pressure/io", parse_pressure, false},
	{"/proc/pressure/memory", parse_pressure, false},
	{"/proc/pressure/irq", parse_pressure, false},
	{"/sys/class/powercap", parse_powercap, false},
	{"/sys/devices/system/cpu", parse_topology, false},
	{"nettape/cpus", parse_cpus, false},
	{"nettape/earlier", parse_cpus, false},
	{"nettape/programs", parse_programs, true},
	{"nettape/self", parse_self, true},
};

static const struct format *format_of(const struct nt_proc_snapshot *snapshot)
{
	size_t found = NT_FIRST(NT_COUNT(formats), i, !strcmp(snapshot->name, formats[i].name));

	return found < NT_COUNT(formats) ? &formats[found] : NULL;
}

int nt_proc_snapshot_parse(const struct nt_proc_snapshot *snapshot, nt_counter_fn counter, void *arg,
			   uint64_t *bad_lines)
{
	const struct text text = {snapshot->text, snapshot->text + snapshot->text_size};
	const struct format *format = format_of(snapshot);
	struct parse parse = {.counter = counter, .arg = arg};

	if (format)
		format->parse(&parse, text);
	*bad_lines += parse.bad_lines;
	return parse.error;
}

bool nt_proc_snapshot_is_self(const struct nt_proc_snapshot *snapshot)
{
	const struct format *format = format_of(snapshot);

	return format && format->is_self;
}

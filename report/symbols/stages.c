// SPDX-License-Identifier: GPL-2.0-only
/*
 * stages.c - see stages.h. The rules are kept sorted by function, exact ones apart from those that end in a star; the
 * longest that fits decides.
 */
#include "report/symbols/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

static const char built_in[] =
#include "text/stages_txt.h"
	;

enum rule_what { RULE_STAGE, RULE_WITHIN, RULE_CALLER, RULE_HOOK };

struct rule {
	char *function; /* without its star */
	size_t size;
	bool is_prefix;
	uint8_t what; /* enum rule_what */
	uint8_t family; /* of RULE_STAGE */
	uint16_t number; /* stage (of RULE_HOOK too), or which conditional rule */
};

struct nt_stage_rules {
	struct rule *rules;
	size_t n, size;
	size_t n_exact; /* of the sorted rules; prefixes follow */
	char *names[NT_STAGES_MAX], *texts[NT_STAGES_MAX];
	unsigned int n_stages;
	unsigned int star, star_other; /* the stage that stands for netfilter's; its name where the hook is not known */
	/* Conditional rules, by number: the stage, and how long their function is; longer ones hold first. */
	struct {
		uint16_t stage;
		size_t size;
	} conditions[64];
	unsigned int n_conditions;
	unsigned int stage; /* while reading: of the section */
};

/* ---- reading the rules ---- */

struct reading {
	struct nt_stage_rules *rules;
	const char *problem; /* NULL: none */
};

static int add_stage(struct reading *reading, const char *name, size_t size, const char *text)
{
	struct nt_stage_rules *rules = reading->rules;

	if (rules->n_stages == NT_STAGES_MAX) {
		reading->problem = "there are too many stages";
		return -1;
	}
	rules->names[rules->n_stages] = strndup(name, size);
	rules->texts[rules->n_stages] = strdup(text);
	if (!rules->names[rules->n_stages] || !rules->texts[rules->n_stages])
		reading->problem = "out of memory";
	return (int)rules->n_stages++;
}

static void add_rule(struct reading *reading, const char *word, enum rule_what what, uint8_t family,
		     unsigned int number)
{
	struct nt_stage_rules *rules = reading->rules;
	size_t size = strlen(word);
	struct rule *rule;

	if (NT_ROOM(rules->rules, rules->size, rules->n + 1)) {
		reading->problem = "out of memory";
		return;
	}
	rule = &rules->rules[rules->n];
	*rule = (struct rule){.what = (uint8_t)what, .family = family, .number = (uint16_t)number};
	rule->is_prefix = size && word[size - 1] == '*';
	rule->size = size - rule->is_prefix;
	rule->function = strndup(word, rule->size);
	if (rule->function)
		rules->n++;
	else
		reading->problem = "out of memory";
}

/* "= STAGE TEXT" */
static void read_section(struct reading *reading, char *line)
{
	struct nt_stage_rules *rules = reading->rules;
	size_t size = strcspn(line, " \t");
	int stage;

	if (!size) {
		reading->problem = "a section has no stage";
		return;
	}
	stage = add_stage(reading, line, size, line + size + strspn(line + size, " \t"));
	if (stage < 0)
		return;
	rules->stage = (unsigned int)stage;
	if (line[size - 1] != '*')
		return;
	if (rules->star) {
		reading->problem = "there are two stages with a star";
		return;
	}
	rules->star = rules->stage;
}

/* The stage of netfilter's rules at a hook. */
static int hook_stage(struct reading *reading, const char *hook)
{
	const struct nt_stage_rules *rules = reading->rules;
	const char *star = rules->star ? rules->names[rules->star] : NULL;
	char name[64];
	int stage;

	if (!star) {
		reading->problem = "a hook stands before the stage with a star";
		return -1;
	}
	snprintf(name, sizeof(name), "%.*s%s", (int)strlen(star) - 1, star, hook);
	stage = nt_stage_number(rules, name);
	return stage >= 0 ? stage : add_stage(reading, name, strlen(name), rules->texts[rules->star]);
}

/* "@ HOOK FUNCTION ..." */
static void read_hook(struct reading *reading, char *line)
{
	char *rest, *word = strtok_r(line, " \t", &rest);
	int stage = word ? hook_stage(reading, word) : -1;

	if (!word)
		reading->problem = "a hook has no name";
	while (stage >= 0 && (word = strtok_r(NULL, " \t", &rest)))
		add_rule(reading, word, RULE_HOOK, 0, (unsigned int)stage);
}

/* "FUNCTION ... < CALLER ..." */
static void read_condition(struct reading *reading, char *line, char *callers)
{
	struct nt_stage_rules *rules = reading->rules;
	char *rest;

	for (char *word = strtok_r(line, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
		unsigned int number = rules->n_conditions;
		char *copy = strdup(callers), *left;

		if (!copy || number == 64) {
			reading->problem = copy ? "there are too many rules with callers" : "out of memory";
			free(copy);
			return;
		}
		rules->conditions[number].stage = (uint16_t)rules->stage;
		rules->conditions[number].size = strlen(word);
		rules->n_conditions++;
		add_rule(reading, word, RULE_WITHIN, 0, number);
		for (char *caller = strtok_r(copy, " \t", &left); caller; caller = strtok_r(NULL, " \t", &left))
			add_rule(reading, caller, RULE_CALLER, 0, number);
		free(copy);
	}
}

static void read_functions(struct reading *reading, char *line)
{
	char *callers = strchr(line, '<'), *rest, *word;
	uint8_t family = 0;

	if (!reading->rules->stage) {
		reading->problem = "a function stands before any stage";
		return;
	}
	if (callers) {
		*callers = 0;
		read_condition(reading, line, callers + 1);
		return;
	}
	word = strtok_r(line, " \t", &rest);
	if (word && (!strcmp(word, "4") || !strcmp(word, "6"))) {
		family = (uint8_t)(word[0] - '0');
		word = strtok_r(NULL, " \t", &rest);
	}
	for (; word; word = strtok_r(NULL, " \t", &rest))
		add_rule(reading, word, RULE_STAGE, family, reading->rules->stage);
}

static void read_line(struct reading *reading, char *line)
{
	line += strspn(line, " \t");
	if (*line == '=')
		read_section(reading, line + 1 + strspn(line + 1, " \t"));
	else if (*line == '@')
		read_hook(reading, line + 1);
	else if (*line && *line != '#')
		read_functions(reading, line);
}

/* Exact rules first, by name; then prefixes, the longest first. */
static int compare_rules(const void *a, const void *b)
{
	const struct rule *left = a, *right = b;

	if (left->is_prefix != right->is_prefix)
		return left->is_prefix ? 1 : -1;
	if (left->is_prefix && left->size != right->size)
		return left->size > right->size ? -1 : 1;
	return strcmp(left->function, right->function);
}

static void settle(struct reading *reading)
{
	struct nt_stage_rules *rules = reading->rules;

	if (rules->star) {
		int stage = hook_stage(reading, "other");

		rules->star_other = stage < 0 ? 0 : (unsigned int)stage;
	}
	qsort(rules->rules, rules->n, sizeof(rules->rules[0]), compare_rules);
	while (rules->n_exact < rules->n && !rules->rules[rules->n_exact].is_prefix)
		rules->n_exact++;
}

struct nt_stage_rules *nt_stage_rules_parse(const char *text, char *error, size_t error_size)
{
	struct reading reading = {.rules = calloc(1, sizeof(struct nt_stage_rules))};
	char *copy = strdup(text), *rest = copy, *line;
	unsigned int number = 0;

	if (!reading.rules || !copy) {
		reading.problem = "out of memory";
	} else {
		add_stage(&reading, "other", 5, "none of the functions has a rule");
		while (!reading.problem && (line = strsep(&rest, "\n"))) {
			number++;
			read_line(&reading, line);
		}
		if (!reading.problem)
			settle(&reading);
	}
	free(copy);
	if (!reading.problem)
		return reading.rules;
	snprintf(error, error_size, "the rules of stages, line %u: %s.", number, reading.problem);
	nt_stage_rules_free(reading.rules);
	return NULL;
}

struct nt_stage_rules *nt_stage_rules_new(void)
{
	char error[128];

	return nt_stage_rules_parse(built_in, error, sizeof(error));
}

void nt_stage_rules_free(struct nt_stage_rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < rules->n; i++)
		free(rules->rules[i].function);
	for (unsigned int i = 0; i < rules->n_stages; i++) {
		free(rules->names[i]);
		free(rules->texts[i]);
	}
	free(rules->rules);
	free(rules);
}

/* ---- asking them ---- */

const char *nt_stage_name(const struct nt_stage_rules *rules, unsigned int stage)
{
	return stage < rules->n_stages ? rules->names[stage] : NULL;
}

const char *nt_stage_text(const struct nt_stage_rules *rules, unsigned int stage)
{
	return stage < rules->n_stages ? rules->texts[stage] : NULL;
}

int nt_stage_number(const struct nt_stage_rules *rules, const char *name)
{
	for (unsigned int i = 0; i < rules->n_stages; i++) {
		if (!strcmp(rules->names[i], name))
			return (int)i;
	}
	return -1;
}

/* What a rule adds to what is said of a function; of each kind the first that comes, which is the longest. */
static void apply(struct nt_stage_function *function, size_t *own_size, const struct rule *rule)
{
	switch (rule->what) {
	case RULE_STAGE:
		if (!function->stage) {
			function->stage = (uint16_t)(rule->number + 1);
			function->family = rule->family;
			*own_size = rule->size + rule->is_prefix;
		}
		break;
	case RULE_HOOK:
		if (!function->hook)
			function->hook = (uint8_t)rule->number;
		break;
	case RULE_WITHIN:
		function->within |= 1ull << rule->number;
		break;
	case RULE_CALLER:
		function->calls |= 1ull << rule->number;
		break;
	}
}

static int compare_name(const char *name, size_t size, const struct rule *rule)
{
	int order = memcmp(name, rule->function, size < rule->size ? size : rule->size);

	return order ? order : (size > rule->size) - (size < rule->size);
}

/* The first exact rule that is not before the name. */
static size_t find_exact(const struct nt_stage_rules *rules, const char *name, size_t size)
{
	return NT_COUNT_BEFORE(rules->n_exact, i, compare_name(name, size, &rules->rules[i]) <= 0);
}

struct nt_stage_function nt_stage_function(const struct nt_stage_rules *rules, const char *name)
{
	struct nt_stage_function function = {0};
	size_t size = strcspn(name, "."), own_size = 0;

	for (size_t i = find_exact(rules, name, size); i < rules->n_exact; i++) {
		if (compare_name(name, size, &rules->rules[i]))
			break;
		apply(&function, &own_size, &rules->rules[i]);
	}
	for (size_t i = rules->n_exact; i < rules->n; i++) {
		const struct rule *rule = &rules->rules[i];

		if (size >= rule->size && !memcmp(name, rule->function, rule->size))
			apply(&function, &own_size, rule);
	}
	/* Over a rule of its own hold only those with callers that are as particular. */
	for (unsigned int i = 0; i < rules->n_conditions; i++) {
		if (rules->conditions[i].size < own_size)
			function.within &= ~(1ull << i);
	}
	return function;
}

void nt_stage_rules_each(const struct nt_stage_rules *rules,
			 void (*visit)(void *arg, const char *function, const char *stage), void *arg)
{
	char word[256];

	for (size_t i = 0; i < rules->n; i++) {
		const struct rule *rule = &rules->rules[i];
		bool is_condition = rule->what == RULE_WITHIN || rule->what == RULE_CALLER;
		unsigned int stage = is_condition ? rules->conditions[rule->number].stage : rule->number;

		snprintf(word, sizeof(word), "%s%s", rule->function, rule->is_prefix ? "*" : "");
		visit(arg, word, rules->names[stage]);
	}
}

/* ---- walking ---- */

void nt_stage_walk_begin(struct nt_stage_walk *walk, const struct nt_stage_rules *rules)
{
	*walk = (struct nt_stage_walk){.rules = rules, .first = -1, .held = -1};
}

static void pass(struct nt_stage_walk *walk, unsigned int stage)
{
	bool is_star = walk->rules->star && stage == walk->rules->star;

	if (is_star) {
		walk->first_is_hook |= walk->first < 0;
		walk->asks_hook = true;
	} else {
		walk->stages |= 1ull << stage;
	}
	if (walk->first < 0)
		walk->first = (int)stage;
}

/* The rule of the longest name of these that holds below this caller. -1: none. */
static int condition(const struct nt_stage_rules *rules, uint64_t below, const struct nt_stage_function *caller)
{
	int best = -1;

	for (uint64_t left = below & caller->calls; left; left &= left - 1) {
		int i = __builtin_ctzll(left);

		if (best < 0 || rules->conditions[i].size > rules->conditions[best].size)
			best = i;
	}
	return best;
}

/* The stage that was held is settled by the next caller of another one, or by the end (NULL). */
static void settle_held(struct nt_stage_walk *walk, const struct nt_stage_function *caller)
{
	int below = caller ? condition(walk->rules, walk->held_below, caller) : -1;

	if (walk->held >= 0)
		pass(walk, below >= 0 ? walk->rules->conditions[below].stage : (unsigned int)walk->held);
	walk->held = -1;
	walk->held_below = 0;
}

static void answer_hook(struct nt_stage_walk *walk, unsigned int stage)
{
	walk->stages |= 1ull << stage;
	if (walk->first_is_hook)
		walk->first = (int)stage;
	walk->first_is_hook = walk->asks_hook = false;
}

/* A function that has a rule of its own. */
static void walk_known(struct nt_stage_walk *walk, const struct nt_stage_function *function)
{
	const int stage = function->stage - 1, below = condition(walk->rules, walk->below, function);

	if (walk->held != stage || below >= 0)
		settle_held(walk, function);
	if (below >= 0)
		pass(walk, walk->rules->conditions[below].stage);
	if (walk->asks_hook && function->hook)
		answer_hook(walk, function->hook);
	walk->below = 0;
	walk->held = stage;
	walk->held_below |= function->within;
	/* The first section is that of softirqs: what is outside of them was interrupted. */
	walk->done = stage == 1;
}

bool nt_stage_walk_on(struct nt_stage_walk *walk, const struct nt_stage_function *function)
{
	if (walk->done)
		return false;
	if (!walk->family)
		walk->family = function->family;
	if (function->stage) {
		walk_known(walk, function);
	} else {
		walk->below |= function->within;
		/* It may have a hook all the same. */
		if (function->hook && walk->held >= 0)
			settle_held(walk, function);
		if (walk->asks_hook && function->hook)
			answer_hook(walk, function->hook);
	}
	return !walk->done;
}

unsigned int nt_stage_walk_end(struct nt_stage_walk *walk)
{
	settle_held(walk, NULL);
	if (walk->asks_hook)
		answer_hook(walk, walk->rules->star_other);
	walk->done = true;
	if (walk->first < 0)
		walk->first = NT_STAGE_OTHER;
	if (!walk->stages)
		walk->stages = 1ull << NT_STAGE_OTHER;
	return (unsigned int)walk->first;
}

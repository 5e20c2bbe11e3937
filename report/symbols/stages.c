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

/* Functions that read give the problem with what they read; NULL: there is none. */
static const char no_memory[] = "out of memory";

static const char *add_stage(struct nt_stage_rules *rules, const char *name, size_t size, const char *text)
{
	const unsigned int stage = rules->n_stages;

	if (stage == NT_STAGES_MAX)
		return "there are too many stages";
	rules->n_stages++;
	rules->names[stage] = strndup(name, size);
	rules->texts[stage] = strdup(text);
	return rules->names[stage] && rules->texts[stage] ? NULL : no_memory;
}

static const char *add_rule(struct nt_stage_rules *rules, const char *word, enum rule_what what, uint8_t family,
			    unsigned int number)
{
	size_t size = strlen(word);
	struct rule *rule;

	if (NT_ROOM(rules->rules, rules->size, rules->n + 1))
		return no_memory;
	rule = &rules->rules[rules->n];
	*rule = (struct rule){.what = (uint8_t)what, .family = family, .number = (uint16_t)number};
	rule->is_prefix = size && word[size - 1] == '*';
	rule->size = size - rule->is_prefix;
	rule->function = strndup(word, rule->size);
	if (!rule->function)
		return no_memory;
	rules->n++;
	return NULL;
}

/* Takes the next word off *line. NULL: there is none. */
static char *next_word(char **line)
{
	char *word;

	do
		word = strsep(line, " \t");
	while (word && !*word);
	return word;
}

/* "= STAGE TEXT" */
static const char *read_section(struct nt_stage_rules *rules, char *line)
{
	size_t size = strcspn(line, " \t");
	const char *problem;

	if (!size)
		return "a section has no stage";
	problem = add_stage(rules, line, size, line + size + strspn(line + size, " \t"));
	if (problem)
		return problem;
	rules->stage = rules->n_stages - 1;
	if (line[size - 1] != '*')
		return NULL;
	if (rules->star)
		return "there are two stages with a star";
	rules->star = rules->stage;
	return NULL;
}

/* The stage of netfilter's rules at a hook. */
static const char *hook_stage(struct nt_stage_rules *rules, const char *hook, unsigned int *stage)
{
	const char *star = rules->star ? rules->names[rules->star] : NULL;
	char name[64];
	int known;

	if (!star)
		return "a hook stands before the stage with a star";
	snprintf(name, sizeof(name), "%.*s%s", (int)strlen(star) - 1, star, hook);
	known = nt_stage_number(rules, name);
	*stage = known >= 0 ? (unsigned int)known : rules->n_stages;
	return known >= 0 ? NULL : add_stage(rules, name, strlen(name), rules->texts[rules->star]);
}

/* "@ HOOK FUNCTION ..." */
static const char *read_hook(struct nt_stage_rules *rules, char *line)
{
	const char *word = next_word(&line), *problem;
	unsigned int stage;

	if (!word)
		return "a hook has no name";
	problem = hook_stage(rules, word, &stage);
	while (!problem && (word = next_word(&line)))
		problem = add_rule(rules, word, RULE_HOOK, 0, stage);
	return problem;
}

/* "FUNCTION ... < CALLER ..." */
static const char *read_condition(struct nt_stage_rules *rules, char *line, char *callers)
{
	const unsigned int first = rules->n_conditions;
	const char *word, *problem = NULL;

	while (!problem && (word = next_word(&line))) {
		if (rules->n_conditions == NT_COUNT(rules->conditions))
			return "there are too many rules with callers";
		rules->conditions[rules->n_conditions].stage = (uint16_t)rules->stage;
		rules->conditions[rules->n_conditions].size = strlen(word);
		problem = add_rule(rules, word, RULE_WITHIN, 0, rules->n_conditions++);
	}
	while (!problem && (word = next_word(&callers))) {
		for (unsigned int i = first; i < rules->n_conditions && !problem; i++)
			problem = add_rule(rules, word, RULE_CALLER, 0, i);
	}
	return problem;
}

/* "FUNCTION ...", or "4 FUNCTION ..." of one address family */
static const char *read_functions(struct nt_stage_rules *rules, char *line)
{
	char *callers = strchr(line, '<');
	const char *word, *problem = NULL;
	uint8_t family = 0;

	if (!rules->stage)
		return "a function stands before any stage";
	if (callers) {
		*callers = 0;
		return read_condition(rules, line, callers + 1);
	}
	if ((line[0] == '4' || line[0] == '6') && strchr(" \t", line[1]))
		family = (uint8_t)(*line++ - '0');
	while (!problem && (word = next_word(&line)))
		problem = add_rule(rules, word, RULE_STAGE, family, rules->stage);
	return problem;
}

static const char *read_line(struct nt_stage_rules *rules, char *line)
{
	line += strspn(line, " \t");
	if (*line == '=')
		return read_section(rules, line + 1 + strspn(line + 1, " \t"));
	if (*line == '@')
		return read_hook(rules, line + 1);
	return *line && *line != '#' ? read_functions(rules, line) : NULL;
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

static const char *settle(struct nt_stage_rules *rules)
{
	qsort(rules->rules, rules->n, sizeof(rules->rules[0]), compare_rules);
	while (rules->n_exact < rules->n && !rules->rules[rules->n_exact].is_prefix)
		rules->n_exact++;
	return rules->star ? hook_stage(rules, "other", &rules->star_other) : NULL;
}

struct nt_stage_rules *nt_stage_rules_parse(const char *text, char error[NT_ERROR_MAX])
{
	struct nt_stage_rules *rules = calloc(1, sizeof(*rules));
	char *copy = strdup(text), *rest = copy, *line;
	const char *problem =
		rules && copy ? add_stage(rules, "other", 5, "none of the functions has a rule") : no_memory;
	unsigned int number = 0;

	for (; !problem && (line = strsep(&rest, "\n")); number++)
		problem = read_line(rules, line);
	if (!problem)
		problem = settle(rules);
	free(copy);
	if (!problem)
		return rules;
	nt_fail(error, "the rules of stages, line %u: %s.", number, problem);
	nt_stage_rules_free(rules);
	return NULL;
}

struct nt_stage_rules *nt_stage_rules_new(void)
{
	char error[NT_ERROR_MAX];

	return nt_stage_rules_parse(built_in, error);
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
	size_t stage = NT_FIRST(rules->n_stages, i, !strcmp(rules->names[i], name));

	return stage < rules->n_stages ? (int)stage : -1;
}

/* Adds a rule to a function; of each kind the first rule counts, which is the longest. */
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

struct nt_stage_function nt_stage_function(const struct nt_stage_rules *rules, const char *name)
{
	struct nt_stage_function function = {0};
	size_t size = strcspn(name, ".+"), own_size = 0;
	size_t at = NT_COUNT_BEFORE(rules->n_exact, i, compare_name(name, size, &rules->rules[i]) <= 0);

	for (; at < rules->n_exact && !compare_name(name, size, &rules->rules[at]); at++)
		apply(&function, &own_size, &rules->rules[at]);
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

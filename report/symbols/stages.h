/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stages.h - the stage of the network stack of a stack of functions, by the rules of report/symbols/stages.txt (which
 * says how they are read). Pure: names in, numbers out; no I/O, no globals but the rules' text.
 *
 * A stack has one stage, one address family or none, and the set of all stages that it passes through. Only functions
 * inside its innermost softirq count: the rest was interrupted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/util/fail.h"

#define NT_STAGES_MAX 64 /* a set of them is a number */
#define NT_STAGE_OTHER 0 /* none of the rules holds */

/* The rules for one function, whatever the stack. All zero: none. */
struct nt_stage_function {
	uint16_t stage; /* + 1; 0: none */
	uint8_t family; /* 4, 6, or 0 */
	uint8_t hook; /* netfilter's rules below it are asked at this: number of a stage; 0: none */
	uint64_t within; /* rules that hold only below some callers: those that fit it */
	uint64_t calls; /* those that it is such a caller of */
};

struct nt_stage_rules;

/* The built-in rules. NULL: out of memory. */
struct nt_stage_rules *nt_stage_rules_new(void);
/* Rules of this text. NULL, and a sentence in `error`: it is not well formed, or memory ran out. */
struct nt_stage_rules *nt_stage_rules_parse(const char *text, char error[NT_ERROR_MAX]);
void nt_stage_rules_free(struct nt_stage_rules *rules);

/* Stages have numbers from 0 (`other`) on, in the order of the file. NULL: there is no such number. */
const char *nt_stage_name(const struct nt_stage_rules *rules, unsigned int stage);
const char *nt_stage_text(const struct nt_stage_rules *rules, unsigned int stage);
/* The number of a name, or -1. */
int nt_stage_number(const struct nt_stage_rules *rules, const char *name);
/*
 * The rules for a function. A suffix of its name behind a dot is the compiler's, and one behind a plus is an offset:
 * both are left out.
 */
struct nt_stage_function nt_stage_function(const struct nt_stage_rules *rules, const char *name);

/* Each rule, for who wants to know whether they fit anything: gives its function (which may end in *) and its stage. */
void nt_stage_rules_each(const struct nt_stage_rules *rules,
			 void (*visit)(void *arg, const char *function, const char *stage), void *arg);

/* ---- a stack, function by function, the innermost first ---- */

struct nt_stage_walk {
	const struct nt_stage_rules *rules;
	uint64_t below; /* rules that fit a function since the last one that had a rule of its own */
	int held; /* the stage of the last ones that had: it may be another below some callers; -1: none */
	uint64_t held_below; /* rules that say so */
	int first; /* the stage; -1: none yet */
	uint8_t family;
	bool asks_hook; /* a rule of netfilter's was passed, and its hook is not known yet */
	bool first_is_hook; /* and it is the first */
	bool done;
	uint64_t stages; /* 1 << stage for each that was passed */
};

void nt_stage_walk_begin(struct nt_stage_walk *walk, const struct nt_stage_rules *rules);
/* False: what comes next does not count any more. */
bool nt_stage_walk_on(struct nt_stage_walk *walk, const struct nt_stage_function *function);
/* After the last: the stage. Then walk->family (0: not told) and walk->stages hold too. */
unsigned int nt_stage_walk_end(struct nt_stage_walk *walk);

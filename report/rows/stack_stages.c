// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack_stages.c - see stack_stages.h.
 */
#include "report/rows/stack_stages.h"

#include <errno.h>
#include <stdlib.h>

#include "report/util/array.h"

void nt_stack_stages_release(struct nt_stack_stages *stages)
{
	nt_stage_rules_free(stages->rules);
	free(stages->functions);
	nt_id_map_release(&stages->by_symbol);
	nt_id_map_release(&stages->by_stack);
}

/* NULL: out of memory. Good until the next call. */
static const struct nt_stage_function *find_function(struct nt_stack_stages *stages, struct nt_identities *ids,
						     uint64_t symbol)
{
	uint64_t *index = nt_id_map_at(&stages->by_symbol, symbol);
	const char *name = nt_identities_symbol(ids, symbol);

	if (!index)
		return NULL;
	if (*index)
		return &stages->functions[*index - 1];
	if (NT_ROOM(stages->functions, stages->functions_size, stages->n_functions + 1))
		return NULL;
	stages->functions[stages->n_functions] = nt_stage_function(stages->rules, name ? name : "");
	*index = ++stages->n_functions;
	return &stages->functions[*index - 1];
}

/* A damaged tape's stack may have no end: no more than NT_STACK_MAX_FRAMES count. */
static int work_out(struct nt_stack_stages *stages, struct nt_identities *ids, uint64_t stack, uint64_t *known)
{
	struct nt_stage_walk walk;
	unsigned int stage;

	nt_stage_walk_begin(&walk, stages->rules);
	for (int depth = 0; stack && depth < NT_STACK_MAX_FRAMES; depth++) {
		const struct nt_stage_function *function;
		uint64_t symbol;

		stack = nt_identities_unwind(ids, stack, &symbol);
		function = find_function(stages, ids, symbol);
		if (!function)
			return -ENOMEM;
		if (!nt_stage_walk_on(&walk, function))
			break;
	}
	stage = nt_stage_walk_end(&walk);
	*known = ((uint64_t)stage << 8 | walk.family) + 1;
	return 0;
}

int nt_stack_stage(struct nt_stack_stages *stages, struct nt_identities *ids, uint64_t stack, const char **stage,
		   uint8_t *family)
{
	uint64_t *known;

	if (!stages->rules)
		stages->rules = nt_stage_rules_new();
	known = stages->rules ? nt_id_map_at(&stages->by_stack, stack) : NULL;
	if (!known || (!*known && work_out(stages, ids, stack, known)))
		return -ENOMEM;
	*stage = nt_stage_name(stages->rules, (unsigned int)((*known - 1) >> 8));
	*family = (uint8_t)(*known - 1);
	return 0;
}

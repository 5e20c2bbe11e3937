/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack_stages.h - the stages (symbols/stages.h) of a tape's stacks, each worked out once. Memory: for functions and
 * for stacks that were asked for. No I/O.
 */
#pragma once

#include "report/symbols/stages.h"
#include "report/tape/identities.h"

/* Zero-initialise; owner frees with nt_stack_stages_release. */
struct nt_stack_stages {
	struct nt_stage_rules *rules; /* made with the first stack */
	struct nt_stage_function *functions;
	size_t n_functions, functions_size;
	struct nt_id_map by_symbol; /* index in functions + 1 */
	struct nt_id_map by_stack; /* (stage << 8 | family) + 1 */
};

void nt_stack_stages_release(struct nt_stack_stages *stages);
/* The stage's name, and the address family (4, 6, 0: not told) of a stack of the kernel's. 0 or -ENOMEM. */
int nt_stack_stage(struct nt_stack_stages *stages, struct nt_identities *ids, uint64_t stack, const char **stage,
		   uint8_t *family);

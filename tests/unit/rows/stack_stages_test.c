// SPDX-License-Identifier: GPL-2.0-only
/*
 * stack_stages_test.c - the stage of a tape's stack, frame by frame; of stacks as long as any may be, and of those that
 * a damaged tape makes longer, or without an end; and where memory ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "report/rows/stack_stages.h"
#include "tests/support/failing_memory.h"

#define NOTHING 1 /* symbols: a function without a rule, */
#define GRO 2 /* and one that has a stage and a family */
#define FIRST_SLOTS (32 * sizeof(uint32_t)) /* of a map of ids */
#define FIRST_FUNCTIONS (16 * sizeof(struct nt_stage_function))

static struct nt_stack_stages stages;
static struct nt_identities ids;

static void learn_symbol(uint64_t symbol, const char *name)
{
	union nt_any record = {.as_symbol = {.kind = NT_SYMBOL, .symbol = symbol}};

	strcpy(record.as_symbol.name, name);
	assert_int_equal(nt_identities_learn(&ids, &record), 0);
}

static void learn_stack(uint64_t stack, uint64_t parent, uint64_t symbol)
{
	union nt_any record = {.as_stack = {.kind = NT_STACK, .stack = stack, .parent = parent, .symbol = symbol}};

	assert_int_equal(nt_identities_learn(&ids, &record), 0);
}

static int set_up(void **state)
{
	(void)state;
	learn_symbol(NOTHING, "nobody_knows_this");
	learn_symbol(GRO, "tcp4_gro_receive");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	nt_stack_stages_release(&stages);
	nt_identities_release(&ids);
	memset(&stages, 0, sizeof(stages));
	return 0;
}

static void expect(uint64_t stack, const char *stage, uint8_t family)
{
	const char *got;
	uint8_t got_family;

	/* The second answer is the one that was kept. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(nt_stack_stage(&stages, &ids, stack, &got, &got_family), 0);
		assert_string_equal(got, stage);
		assert_int_equal(got_family, family);
	}
}

static void finds_the_innermost_that_has_a_rule(void **state)
{
	(void)state;
	learn_stack(10, 11, NOTHING);
	learn_stack(11, 12, GRO);
	learn_stack(12, 0, NOTHING);
	expect(10, "gro", 4);
	expect(11, "gro", 4);
	expect(12, "other", 0);
	expect(0, "other", 0);
	/* Nothing is known of its function, or of itself. */
	learn_stack(13, 11, 99);
	expect(13, "gro", 4);
	expect(77, "other", 0);
}

/* Of the frame at this depth alone something is known. */
static void learn_deep(uint64_t first, uint64_t depth)
{
	for (uint64_t i = 0; i < depth; i++)
		learn_stack(first + i, first + i + 1, NOTHING);
	learn_stack(first + depth, 0, GRO);
}

static void looks_no_deeper_than_a_stack_can_be(void **state)
{
	(void)state;
	learn_deep(1000, NT_STACK_MAX_FRAMES - 1);
	learn_deep(2000, NT_STACK_MAX_FRAMES);
	expect(1000, "gro", 4);
	expect(2000, "other", 0);
	learn_stack(5000, 5000, NOTHING);
	expect(5000, "other", 0);
}

static void expect_no_memory(uint64_t stack)
{
	const char *stage;
	uint8_t family;

	assert_int_equal(nt_stack_stage(&stages, &ids, stack, &stage, &family), -ENOMEM);
}

/* Memory ends for the stack, then for its functions. A stage that could not be told is told later. */
static void says_that_memory_ends(void **state)
{
	(void)state;
	learn_stack(10, 0, GRO);
	failing_size = FIRST_SLOTS;
	expect_no_memory(0);
	failing_size = 0;
	expect(0, "other", 0);
	failing_size = FIRST_SLOTS;
	expect_no_memory(10);
	failing_size = FIRST_FUNCTIONS;
	expect_no_memory(10);
	failing_size = 0;
	expect(10, "gro", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_the_innermost_that_has_a_rule, set_up, tear_down),
		cmocka_unit_test_setup_teardown(looks_no_deeper_than_a_stack_can_be, set_up, tear_down),
		cmocka_unit_test_setup_teardown(says_that_memory_ends, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

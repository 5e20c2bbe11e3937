// SPDX-License-Identifier: GPL-2.0-only
/*
 * texts_test.c - numbers of texts: the same text the same number, different ones different numbers, in the order of
 * their first use; also after a reset. And no order in which they come makes one hard to find.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <search.h>
#include <stdio.h>
#include <string.h>

#include "report/util/texts.h"

#define MANY 20000

static void ask(struct nt_texts *texts, const char *text, uint32_t number, bool is_new)
{
	bool was_new;

	assert_int_equal(nt_texts_number(texts, text, &was_new), number);
	assert_int_equal(was_new, is_new);
}

static void ask_many(struct nt_texts *texts, bool is_new)
{
	char text[64];

	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "%s %u", i % 3 ? "tcp 10.0.0.1:80 to" : "", i);
		ask(texts, text, i + 1, is_new);
	}
}

static void numbers_texts(void **state)
{
	struct nt_texts texts = {0};

	(void)state;
	ask(&texts, "", 1, true);
	ask(&texts, "send", 2, true);
	ask(&texts, "", 1, false);
	ask(&texts, "sen", 3, true);
	ask(&texts, "send", 2, false);
	nt_texts_reset(&texts);
	ask_many(&texts, true);
	ask_many(&texts, false);
	nt_texts_reset(&texts);
	ask(&texts, "send", 1, true);
	nt_texts_release(&texts);
	nt_texts_release(&texts);
}

static int deepest;

static void note_depth(const void *node, VISIT visit, int depth)
{
	(void)node;
	(void)visit;
	deepest = depth > deepest ? depth : deepest;
}

/* In their own order, the worst for a tree: 20,000 texts stand within twice the 15 levels that they need. */
static void depth_is_bounded(void **state)
{
	struct nt_texts texts = {0};
	char text[32];

	(void)state;
	for (uint32_t i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "function_%06u", i);
		ask(&texts, text, i + 1, true);
	}
	twalk(texts.tree, note_depth);
	assert_in_range(deepest, 10, 30);
	for (uint32_t i = 0; i < MANY; i += 999) {
		snprintf(text, sizeof(text), "function_%06u", i);
		assert_string_equal(nt_texts_text(&texts, i + 1), text);
	}
	nt_texts_release(&texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_texts), cmocka_unit_test(depth_is_bounded)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

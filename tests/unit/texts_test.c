// SPDX-License-Identifier: GPL-2.0-only
/*
 * texts_test.c - numbers of texts: the same text the same number, different ones different numbers, in the order of
 * their first use; also after a reset. And where they are looked for is nobody's choice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
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

/* Each set has a hash of its own, and keeps it through a reset; all bytes of a text count. */
static void keys_are_drawn(void **state)
{
	struct nt_texts one = {0}, other = {0};
	uint64_t key[2];
	char text[20] = "";

	(void)state;
	ask(&one, "send", 1, true);
	ask(&other, "send", 1, true);
	assert_int_not_equal(one.entries[0].hash, other.entries[0].hash);
	memcpy(key, one.key, sizeof(key));
	nt_texts_reset(&one);
	ask(&one, "", 1, true);
	assert_memory_equal(key, one.key, sizeof(key));
	for (uint32_t i = 0; i + 1 < sizeof(text); i++) {
		text[i] = 'a';
		ask(&one, text, 2 * i + 2, true);
		text[i] = 'b';
		ask(&one, text, 2 * i + 3, true);
		assert_int_not_equal(one.entries[2 * i + 1].hash, one.entries[2 * i + 2].hash);
	}
	nt_texts_release(&one);
	nt_texts_release(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_texts), cmocka_unit_test(keys_are_drawn)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

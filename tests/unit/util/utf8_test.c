// SPDX-License-Identifier: GPL-2.0-only
/*
 * utf8_test.c - report/util/utf8.c beside a model that decodes a character and writes it anew; and the arena that holds
 * such texts: its pieces do not lie on each other, and after a reset it takes no new memory for the same.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "report/util/arena.h"
#include "report/util/utf8.h"
#include "tests/support/rand.h"

/* ---- characters ---- */

/* Gives the length of the code point as UTF-8 has it. */
static size_t encode(uint32_t code, unsigned char to[4])
{
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; code >>= 6)
		to[i] = (unsigned char)(0x80 | (code & 0x3f));
	to[0] = (unsigned char)(n == 1 ? code : (0xf00u >> n & 0xf0) | code);
	return n;
}

/* Each code point, but for surrogates; and one that is cut is none. */
static void each_character_has_its_length(void **state)
{
	(void)state;
	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		unsigned char bytes[4];
		size_t n = encode(code, bytes), wanted = code >= 0xd800 && code <= 0xdfff ? 0 : n;

		if (nt_utf8_length((const char *)bytes, n) != wanted)
			fail_msg("U+%X is no character of %zu bytes", code, wanted);
		if (n > 1 && nt_utf8_length((const char *)bytes, n - 1))
			fail_msg("U+%X lacks a byte", code);
		if (wanted && nt_utf8_code((const char *)bytes, n) != code)
			fail_msg("U+%X is taken for U+%X", code, nt_utf8_code((const char *)bytes, n));
	}
}

/* By Unicode's categories: all of Cc, and those of Cf, Zl and Zp that turn or hide text. Neighbours are letters. */
static void knows_what_hides(void **state)
{
	static const uint32_t hide[] = {0,	0x1b,	0x1f,	0x7f,	0x80,	0x9b,	0x9f,	0x61c,	0x200b, 0x200e,
					0x200f, 0x2028, 0x202a, 0x202e, 0x2066, 0x2069, 0xfeff, 0xfff9, 0xfffb},
			      show[] = {0x20,	0x7e,	0xa0,	0xe9,	0x61b,	0x61d,	0x200a, 0x2010,
					0x2027, 0x202f, 0x205f, 0x2070, 0xfefe, 0xff00, 0xfffc, 0x1f600};

	(void)state;
	for (size_t i = 0; i < sizeof(hide) / sizeof(hide[0]); i++)
		if (!nt_utf8_is_control(hide[i]))
			fail_msg("U+%X is shown", hide[i]);
	for (size_t i = 0; i < sizeof(show) / sizeof(show[0]); i++)
		if (nt_utf8_is_control(show[i]))
			fail_msg("U+%X is not shown", show[i]);
}

/* The code point that these bytes would stand for if nothing were forbidden. */
static uint32_t decode(const unsigned char *bytes, size_t n)
{
	uint32_t code = n == 1 ? bytes[0] : bytes[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		code = code << 6 | (bytes[i] & 0x3f);
	return code;
}

/* Valid are those bytes that decoding and encoding leave as they are. */
static void nothing_else_is_a_character(void **state)
{
	static const unsigned char thirds[] = {0x00, 0x7f, 0x80, 0xbf, 0xc0, 0xff};

	(void)state;
	for (uint32_t i = 0; i < 256 * 256 * sizeof(thirds) * sizeof(thirds); i++) {
		const unsigned char bytes[4] = {(unsigned char)(i & 0xff), (unsigned char)(i >> 8 & 0xff),
						thirds[(i >> 16) % sizeof(thirds)], thirds[(i >> 16) / sizeof(thirds)]};
		size_t n = nt_utf8_length((const char *)bytes, 4), wanted = 0;

		for (size_t length = 1; length <= 4; length++) {
			unsigned char again[4];
			uint32_t code = decode(bytes, length);

			if (code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) && encode(code, again) == length &&
			    !memcmp(bytes, again, length))
				wanted = length;
		}
		if (n != wanted)
			fail_msg("%02x %02x %02x %02x: %zu and not %zu", bytes[0], bytes[1], bytes[2], bytes[3], n,
				 wanted);
	}
}

static void copies_are_valid(void **state)
{
	struct nt_arena arena = {0};

	(void)state;
	assert_string_equal(nt_arena_clean(&arena, "a\xc3\xa9z", 4), "a\xc3\xa9z");
	assert_string_equal(nt_arena_clean(&arena, "a\xc3\xa9z", 2), "a\xef\xbf\xbd");
	assert_string_equal(nt_arena_clean(&arena, "a\0b", 3), "a");
	assert_string_equal(nt_arena_clean(&arena, "", 0), "");
	assert_string_equal(nt_arena_clean(&arena, "\xff\xf4\x90\x80\x80", 5),
			    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	nt_arena_release(&arena);
}

/* ---- the arena ---- */

#define PIECES 400

struct piece {
	char *at;
	size_t size;
};

static void take_pieces(struct nt_arena *arena, struct piece *pieces)
{
	for (size_t i = 0; i < PIECES; i++) {
		pieces[i].at = nt_arena_get(arena, pieces[i].size);
		assert_non_null(pieces[i].at);
		memset(pieces[i].at, (int)(i % 251), pieces[i].size);
	}
	for (size_t i = 0; i < PIECES; i++) {
		for (size_t k = 0; k < pieces[i].size; k++)
			assert_int_equal((unsigned char)pieces[i].at[k], i % 251);
	}
}

static void pieces_are_apart_and_used_again(void **state)
{
	struct nt_rand rand = {3};
	struct piece pieces[PIECES], again[PIECES];
	struct nt_arena arena = {0};

	(void)state;
	/* Among them of the size of a part, 16384, and a little less and more. */
	for (size_t i = 0; i < PIECES; i++)
		pieces[i].size = i % 10 ? nt_rand_below(&rand, 1000) : 16383 + nt_rand_below(&rand, 3);
	take_pieces(&arena, pieces);
	for (int round = 0; round < 3; round++) {
		nt_arena_reset(&arena);
		memcpy(again, pieces, sizeof(again));
		take_pieces(&arena, again);
		assert_memory_equal(again, pieces, sizeof(again));
	}
	/* One that no part has room for comes between them. */
	nt_arena_reset(&arena);
	again[0].size = 100000;
	take_pieces(&arena, again);
	nt_arena_reset(&arena);
	take_pieces(&arena, pieces);
	assert_false(arena.failed);
	nt_arena_release(&arena);
	assert_null(arena.first);
	nt_arena_release(&arena);
}

/* Memory that there cannot be is refused by the sanitizer as it is by libc. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void says_that_memory_ran_out(void **state)
{
	struct nt_arena arena = {0};

	(void)state;
	assert_null(nt_arena_get(&arena, SIZE_MAX / 2));
	assert_true(arena.failed);
	assert_non_null(nt_arena_get(&arena, 1));
	assert_true(arena.failed);
	nt_arena_release(&arena);
}

static void formats_texts(void **state)
{
	struct nt_arena arena = {0};
	const char *first, *none, *second;
	char filled[600];

	(void)state;
	first = nt_arena_get(&arena, 10);
	assert_ptr_equal(nt_arena_get(&arena, 5), first + 10);
	first = nt_arena_format(&arena, "%d of %s", 7, "nine");
	none = nt_arena_format(&arena, "%s", "");
	second = nt_arena_format(&arena, "%-600s|", "long");
	snprintf(filled, sizeof(filled), "%-511s", "long");
	assert_string_equal(first, "7 of nine");
	assert_string_equal(none, "");
	assert_string_equal(second, filled);
	nt_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_character_has_its_length),
		cmocka_unit_test(knows_what_hides),
		cmocka_unit_test(nothing_else_is_a_character),
		cmocka_unit_test(copies_are_valid),
		cmocka_unit_test(pieces_are_apart_and_used_again),
		cmocka_unit_test(says_that_memory_ran_out),
		cmocka_unit_test(formats_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * places_test.c - a set of places, against a list: what is noted is found until it is taken out, or has made room,
 * which the one with the least age does. Ages are those of bios: one that is issued stays before all that are not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/places.h"
#include "tests/support/rand.h"

#define STEPS 200000
#define N_KEYS 24 /* three times as many as there are places */

static struct nt_rand rnd;

/* What the set is to have, by key - 1. */
struct listed {
	bool is_there;
	uint64_t age;
};

static size_t count(const struct listed list[N_KEYS])
{
	size_t n = 0;

	for (size_t i = 0; i < N_KEYS; i++)
		n += list[i].is_there;
	return n;
}

/* The one that is to make room. */
static struct listed *next_to_go(struct listed list[N_KEYS])
{
	struct listed *next = NULL;

	for (size_t i = 0; i < N_KEYS; i++)
		if (list[i].is_there && (!next || list[i].age < next->age))
			next = &list[i];
	return next;
}

static void note(struct nt_bio_set *set, struct listed list[N_KEYS], uint64_t key, uint64_t age)
{
	const uint32_t way = nt_places_take(set->keys, set->ways, sizeof(set->ways[0]), key);

	assert_true(way < NT_PLACES);
	set->ways[way].age = age;
	if (!list[key - 1].is_there && count(list) == NT_PLACES)
		next_to_go(list)->is_there = false;
	list[key - 1] = (struct listed){true, age};
}

static void check(const struct nt_bio_set *set, const struct listed list[N_KEYS])
{
	for (uint64_t key = 1; key <= N_KEYS; key++) {
		const uint32_t way = nt_places_find(set->keys, key);

		assert_int_equal(way < NT_PLACES, list[key - 1].is_there);
		if (way < NT_PLACES)
			assert_int_equal(set->ways[way].age, list[key - 1].age);
	}
}

static void keeps_what_a_list_keeps(void **state)
{
	struct listed list[N_KEYS] = {};
	struct nt_bio_set set = {};

	(void)state;
	rnd.state = nt_rand_seed();
	for (uint64_t now_ns = 1; now_ns <= STEPS; now_ns++) {
		const uint64_t key = 1 + nt_rand_below(&rnd, N_KEYS);
		const uint32_t way = nt_places_find(set.keys, key);

		switch (way < NT_PLACES ? nt_rand_below(&rnd, 4) : 0) {
		case 0:
			note(&set, list, key, now_ns);
			break;
		case 1:
		case 2:
			list[key - 1].age = set.ways[way].age |= NT_BIO_IS_ISSUED;
			break;
		default:
			set.keys[way] = 0;
			list[key - 1].is_there = false;
		}
		check(&set, list);
	}
}

/* Addresses that lie as far apart as the kernel's packets and bios do fill the sets evenly. */
static void spreads_keys(void **state)
{
	static uint32_t n[NT_BIO_SETS];
	uint32_t most = 0;

	(void)state;
	for (uint64_t step = 64; step <= 4096; step *= 2) {
		memset(n, 0, sizeof(n));
		for (uint64_t i = 0; i < NT_BIO_SETS; i++) {
			uint32_t *of_set = &n[nt_places_set_of(0xffff888100000000ull + i * step, NT_BIO_SETS)];

			(*of_set)++;
			most = *of_set > most ? *of_set : most;
		}
	}
	assert_true(most < NT_PLACES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_a_list_keeps),
		cmocka_unit_test(spreads_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * bios_test.c - the places of noted bios, against a list: what is noted is found until it is taken out, or has made
 * room. Room is made by what has waited longest for its issue; by an issued one only where all are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/bios.h"
#include "tests/support/rand.h"

#define STEPS 200000
#define N_KEYS 24 /* three times as many as there are places */

static struct nt_rand rnd;

/* What the set is to have, by key - 1. */
struct listed {
	bool is_there;
	uint64_t queue_ns, issue_ns;
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

	for (int are_issued = 0; are_issued < 2 && !next; are_issued++)
		for (size_t i = 0; i < N_KEYS; i++)
			if (list[i].is_there && !list[i].issue_ns == !are_issued &&
			    (!next || list[i].queue_ns < next->queue_ns))
				next = &list[i];
	return next;
}

static void queue(struct nt_bio_set *set, struct listed list[N_KEYS], uint64_t key, uint64_t now_ns)
{
	const uint32_t way = nt_bio_place(set, key);

	assert_true(way < NT_BIO_WAYS);
	set->ways[way] = (struct nt_noted_bio){.queue_ns = now_ns};
	if (!list[key - 1].is_there && count(list) == NT_BIO_WAYS)
		next_to_go(list)->is_there = false;
	list[key - 1] = (struct listed){true, now_ns, 0};
}

static void check(const struct nt_bio_set *set, const struct listed list[N_KEYS])
{
	for (uint64_t key = 1; key <= N_KEYS; key++) {
		const uint32_t way = nt_bio_find(set, key);
		const struct listed *listed = &list[key - 1];

		assert_int_equal(way < NT_BIO_WAYS, listed->is_there);
		if (!listed->is_there)
			continue;
		assert_int_equal(set->ways[way].queue_ns, listed->queue_ns);
		assert_int_equal(set->ways[way].issue_ns, listed->issue_ns);
	}
}

static void keeps_what_a_list_keeps(void **state)
{
	struct nt_bio_set set = {};
	struct listed list[N_KEYS] = {};

	(void)state;
	rnd.state = nt_rand_seed();
	for (uint64_t now_ns = 1; now_ns <= STEPS; now_ns++) {
		const uint64_t key = 1 + nt_rand_below(&rnd, N_KEYS);
		const uint32_t way = nt_bio_find(&set, key);

		switch (way < NT_BIO_WAYS ? nt_rand_below(&rnd, 4) : 0) {
		case 0:
			queue(&set, list, key, now_ns);
			break;
		case 1:
		case 2:
			set.ways[way].issue_ns = list[key - 1].issue_ns = now_ns;
			break;
		default:
			set.keys[way] = 0;
			list[key - 1].is_there = false;
		}
		check(&set, list);
	}
}

/* Addresses that lie as far apart as the kernel's bios do fill the sets evenly. */
static void spreads_keys(void **state)
{
	static uint32_t n[NT_BIO_SETS];
	uint32_t most = 0;

	(void)state;
	for (uint64_t step = 64; step <= 4096; step *= 2) {
		memset(n, 0, sizeof(n));
		for (uint64_t i = 0; i < NT_BIO_SETS; i++) {
			uint32_t *of_set = &n[nt_bio_set_of(0xffff888100000000ull + i * step)];

			(*of_set)++;
			most = *of_set > most ? *of_set : most;
		}
	}
	assert_true(most < NT_BIO_WAYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_a_list_keeps),
		cmocka_unit_test(spreads_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * flow_test.c - keys of flows, their places, and how many new ones may be written, against what they are for: two flows
 * have one key if, and only if, they are counted as one; flows that go on keep their places, whatever comes between; no
 * second has more than its number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/socket.h>

#include "bpf/flow.h"
#include "tests/support/rand.h"

#define N_FLOWS 2000
#define N_NEW 20000

static struct nt_rand rnd;

static void draw_hashes(struct nt_flow_hash hashes[2])
{
	for (int i = 0; i < 2; i++) {
		hashes[i].addend = nt_rand_u64(&rnd);
		for (size_t word = 0; word < NT_FLOW_WORDS; word++)
			hashes[i].factors[word] = nt_rand_u64(&rnd);
	}
}

/* One of two values, far apart, near or in another half. */
static uint64_t one_of_two(unsigned int bits)
{
	return nt_rand_below(&rnd, 2) ? 1ull << nt_rand_below(&rnd, bits) : 0;
}

/* Flows differ in few fields each, and many are the same. */
static void draw_tuple(struct nt_flow_tuple *tuple)
{
	const bool is_v6 = nt_rand_below(&rnd, 2);

	memset(tuple, 0, sizeof(*tuple));
	if (!nt_rand_below(&rnd, 8)) {
		tuple->ethertype = 0x0806 + (uint16_t)one_of_two(3);
		tuple->device = 1;
		return;
	}
	tuple->family = is_v6 ? AF_INET6 : AF_INET;
	tuple->ethertype = is_v6 ? 0x86dd : 0x0800;
	tuple->protocol = nt_rand_below(&rnd, 2) ? 6 : 17;
	tuple->device = 1 + one_of_two(2) + (nt_rand_below(&rnd, 2) << 32);
	tuple->ports = (uint32_t)(one_of_two(2) + (one_of_two(2) << 16));
	tuple->src[0] = one_of_two(is_v6 ? 64 : 32) & (is_v6 ? UINT64_MAX : 7);
	tuple->dst[0] = one_of_two(is_v6 ? 64 : 32) & (is_v6 ? UINT64_MAX : 7);
	if (is_v6) {
		tuple->src[1] = one_of_two(64);
		tuple->dst[1] = one_of_two(64);
	}
}

/* The same number, with the bytes of a port in the host's order. */
static uint64_t port_at(uint32_t ports, int half)
{
	return ntohs((uint16_t)(ports >> 16 * half));
}

static bool is_port_of_src(const struct nt_flow_tuple *tuple)
{
	const uint64_t src = port_at(tuple->ports, 0), dst = port_at(tuple->ports, 1);

	return src < dst || (src == dst && (tuple->src[0] < tuple->dst[0] ||
					    (tuple->src[0] == tuple->dst[0] && tuple->src[1] < tuple->dst[1])));
}

/* The fields that count, the others 0. */
static struct nt_flow_tuple reduced(const struct nt_flow_tuple *tuple, enum nt_many many)
{
	struct nt_flow_tuple out = *tuple;

	if (many >= NT_MANY_SRC && tuple->family)
		out.ethertype = 0;
	if (many == NT_MANY_SRC || many == NT_MANY_DST) {
		memset(many == NT_MANY_SRC ? out.dst : out.src, 0, sizeof(out.src));
		out.ports = out.protocol = 0;
	}
	if (many == NT_MANY_PORT) {
		memset(out.src, 0, sizeof(out.src));
		memset(out.dst, 0, sizeof(out.dst));
		out.ports &= is_port_of_src(tuple) ? 0xffff : 0xffff0000;
		out.family = 0;
	}
	if (many == NT_MANY_LOCAL || many == NT_MANY_DEVICE) {
		out.src[0] = out.src[1] = 0;
		out.ports &= 0xffff0000;
	}
	if (many == NT_MANY_DEVICE)
		out = (struct nt_flow_tuple){.device = tuple->device};
	return out;
}

static void test_keys(void **state)
{
	static struct nt_flow_tuple tuples[N_FLOWS];
	static enum nt_many many[N_FLOWS];
	static uint64_t keys[N_FLOWS];
	struct nt_flow_hash hashes[2], others[2];
	struct nt_flow_tuple reduced_one;
	size_t n_same = 0;

	(void)state;
	draw_hashes(hashes);
	draw_hashes(others);
	for (size_t i = 0; i < N_FLOWS; i++) {
		draw_tuple(&tuples[i]);
		many[i] = (enum nt_many)nt_rand_below(&rnd, NT_MANY_PORT + 1);
		reduced_one = reduced(&tuples[i], many[i]);
		if (many[i] >= NT_MANY_SRC) {
			const struct nt_flow_tuple flow = tuples[i];

			nt_flow_take_key(NT_FLOW_KEY_SRC + many[i] - NT_MANY_SRC, &flow, &tuples[i]);
			assert_memory_equal(&tuples[i], &reduced_one, sizeof(reduced_one));
		}
		keys[i] = nt_flow_key(hashes, &tuples[i], many[i]);
		tuples[i] = reduced_one;
		assert_int_not_equal(keys[i], 0);
		assert_int_not_equal(keys[i], nt_flow_key(others, &tuples[i], many[i]));
	}
	for (size_t i = 0; i < N_FLOWS; i++) {
		for (size_t j = 0; j < i; j++) {
			const bool is_same = many[i] == many[j] && !memcmp(&tuples[i], &tuples[j], sizeof(tuples[i]));

			assert_int_equal(keys[i] == keys[j], is_same);
			n_same += is_same;
		}
	}
	assert_true(n_same);
}

/* As a program does at a packet of the flow. False: it was to be written. */
static bool see(struct nt_flow_set *set, uint64_t key)
{
	struct nt_seen_flow *seen = nt_flow_find(set, key);

	if (seen) {
		nt_flow_use(seen);
		return true;
	}
	seen = nt_flow_victim(set);
	assert_true(seen >= set->ways && seen < set->ways + NT_FLOW_WAYS);
	seen->flow = key;
	return false;
}

/*
 * All of one set: some flows go on, and between two rounds of their packets comes one of few packets. Gives how often
 * one of those that go on has lost its place, when they have been there for some time.
 */
static size_t misses(size_t n_hot, size_t n_packets)
{
	struct nt_flow_set set = {};
	uint64_t hot[NT_FLOW_WAYS];
	size_t n_missed = 0;

	/* Those that were there before have ended. */
	for (size_t i = 0; i < NT_FLOW_WAYS; i++)
		set.ways[i] = (struct nt_seen_flow){.flow = i + 1, .uses = NT_FLOW_MAX_USES};
	for (size_t i = 0; i < n_hot; i++)
		hot[i] = nt_rand_u64(&rnd) | 1;
	for (size_t i = 0; i < N_NEW; i++) {
		const uint64_t new = nt_rand_u64(&rnd) | 1;

		for (size_t j = 0; j < n_hot; j++)
			n_missed += !see(&set, hot[j]) && i > N_NEW / 100;
		for (size_t j = 0; j < n_packets; j++)
			see(&set, new);
		assert_int_equal(nt_flow_find(&set, new)->flow, new);
	}
	return n_missed;
}

static void test_places(void **state)
{
	(void)state;
	for (size_t n_hot = 1; n_hot < NT_FLOW_WAYS; n_hot++)
		assert_int_equal(misses(n_hot, 1), 0);
	for (size_t n_hot = 1; n_hot < NT_FLOW_WAYS - 1; n_hot++)
		assert_int_equal(misses(n_hot, 2), 0);
}

static void test_budget(void **state)
{
	struct nt_flow_budget budget = {};
	uint64_t now_ns = nt_rand_u64(&rnd) >> 8, second = 0;
	uint32_t n_flows = 0, n_local = 0;

	(void)state;
	for (size_t i = 0; i < N_NEW; i++) {
		now_ns += nt_rand_below(&rnd, 1u << 20);
		if (now_ns >> 30 != second)
			n_flows = n_local = 0;
		second = now_ns >> 30;
		assert_int_equal(nt_flow_may_add(&budget, now_ns, &budget.n_flows, 1000), n_flows < 1000);
		n_flows += n_flows < 1000;
		if (nt_rand_below(&rnd, 2))
			continue;
		assert_int_equal(nt_flow_may_add(&budget, now_ns, &budget.n_local, 100), n_local < 100);
		n_local += n_local < 100;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_budget),
	};

	rnd.state = nt_rand_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * endpoints_test.c - which socket a flow's packets go to (report/tape/endpoints.h), by hand, and for random sockets
 * beside a search through all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>

#include "report/tape/endpoints.h"
#include "tests/support/rand.h"

#define TCP 6
#define UDP 17
#define MANY 64

static struct nt_endpoints endpoints;
static uint64_t found[MANY];

static int teardown(void **state)
{
	(void)state;
	nt_endpoints_release(&endpoints);
	return 0;
}

/* Addresses are 192.0.2.N, or 2001:db8::N; 0: none. */
static void set(uint8_t *address, uint8_t family, uint8_t last)
{
	static const uint8_t v4[] = {192, 0, 2}, v6[] = {0x20, 0x01, 0x0d, 0xb8};

	if (!last)
		return;
	memcpy(address, family == AF_INET ? v4 : v6, family == AF_INET ? sizeof(v4) : sizeof(v6));
	address[family == AF_INET ? 3 : 15] = last;
}

static void add_socket(uint64_t id, uint8_t family, uint16_t protocol, uint8_t src, uint16_t sport, uint8_t dst,
		       uint16_t dport, uint64_t since)
{
	struct nt_socket socket = {.end_ns = since,
				   .family = family,
				   .netns = 1,
				   .socket = id,
				   .protocol = protocol,
				   .src_port = sport,
				   .dst_port = dport};

	set(socket.src, family, src);
	set(socket.dst, family, dst);
	assert_int_equal(nt_endpoints_add_socket(&endpoints, &socket), 0);
}

static void add_flow(uint64_t id, uint8_t family, uint8_t protocol, uint8_t src, uint16_t sport, uint8_t dst,
		     uint16_t dport)
{
	struct nt_flow flow = {.flow = id,
			       .family = family,
			       .protocol = protocol,
			       .netns = 1,
			       .src_port = sport,
			       .dst_port = dport,
			       .device = 100 + id};

	set(flow.src, family, src);
	set(flow.dst, family, dst);
	assert_int_equal(nt_endpoints_add_flow(&endpoints, &flow), 0);
}

static size_t find(uint64_t flow, uint64_t at)
{
	memset(found, 0, sizeof(found));
	return nt_endpoints_sockets(&endpoints, flow, at, found, MANY);
}

static void expect(uint64_t flow, uint64_t at, uint64_t socket)
{
	assert_int_equal(find(flow, at), socket ? 1 : 0);
	assert_int_equal(found[0], socket);
}

static void test_nearest(void **state)
{
	(void)state;
	assert_int_equal(find(1, 0), 0);
	assert_int_equal(nt_endpoints_protocol(&endpoints, 1), 255);
	add_flow(1, AF_INET, TCP, 9, 40000, 1, 80);
	expect(1, 0, 0);
	add_socket(10, AF_INET, TCP, 0, 80, 0, 0, 5);
	expect(1, 0, 10);
	add_socket(11, AF_INET, TCP, 1, 80, 0, 0, 5);
	expect(1, 0, 11);
	add_socket(12, AF_INET, TCP, 1, 80, 9, 40000, 5);
	expect(1, 0, 12);
	/* Of other ports, addresses, protocols, namespaces; and of none. */
	add_flow(2, AF_INET, TCP, 9, 40001, 1, 80);
	add_flow(3, AF_INET, TCP, 8, 40000, 2, 80);
	add_flow(4, AF_INET, UDP, 9, 40000, 1, 80);
	add_flow(5, AF_INET, TCP, 9, 40000, 1, 0);
	add_flow(6, AF_INET6, TCP, 9, 40000, 1, 80);
	add_flow(7, AF_INET, TCP, 9, 40000, 1, 81);
	expect(2, 0, 11);
	expect(3, 0, 10);
	expect(4, 0, 0);
	expect(5, 0, 0);
	expect(6, 0, 10); /* bound to no address: of either family */
	expect(7, 0, 0);
	expect(99, 0, 0);
	assert_int_equal(nt_endpoints_device(&endpoints, 3), 103);
	assert_int_equal(nt_endpoints_device(&endpoints, 99), 0);
	assert_int_equal(nt_endpoints_protocol(&endpoints, 4), UDP);
	assert_int_equal(nt_endpoints_protocol(&endpoints, 99), 255);
}

static void test_namespaces(void **state)
{
	struct nt_flow flow = {.flow = 1, .family = AF_INET, .protocol = UDP, .netns = 2, .dst_port = 53};

	(void)state;
	set(flow.dst, AF_INET, 1);
	add_socket(10, AF_INET, UDP, 1, 53, 0, 0, 5);
	assert_int_equal(nt_endpoints_add_flow(&endpoints, &flow), 0);
	expect(1, 0, 0);
}

static void connect_in(uint32_t netns, uint64_t id, uint64_t since)
{
	struct nt_socket socket = {.family = AF_INET,
				   .netns = netns,
				   .socket = id,
				   .end_ns = since,
				   .protocol = TCP,
				   .src_port = 80,
				   .dst_port = 40000};

	set(socket.src, AF_INET, 1);
	set(socket.dst, AF_INET, 9);
	assert_int_equal(nt_endpoints_add_socket(&endpoints, &socket), 0);
}

/* A connection in another namespace than the device's is found if there is one only; one in the device's comes first.
 */
static void test_connected_elsewhere(void **state)
{
	(void)state;
	add_flow(1, AF_INET, TCP, 9, 40000, 1, 80);
	add_flow(2, AF_INET, TCP, 9, 40001, 1, 80);
	connect_in(7, 20, 100);
	connect_in(7, 21, 200);
	expect(1, 150, 20);
	expect(1, 250, 21);
	expect(2, 150, 0);
	connect_in(8, 30, 100);
	expect(1, 150, 0);
	connect_in(1, 40, 300);
	expect(1, 150, 40);
}

/* A socket of IPv6 that is bound to no address, or connected to a mapped one, receives packets of IPv4. */
static void test_mapped(void **state)
{
	struct nt_socket socket = {.family = AF_INET6,
				   .netns = 1,
				   .socket = 20,
				   .protocol = TCP,
				   .src_port = 443,
				   .dst_port = 50000,
				   .src = {[10] = 0xff, 0xff, 192, 0, 2, 1},
				   .dst = {[10] = 0xff, 0xff, 192, 0, 2, 9}};

	(void)state;
	assert_int_equal(nt_endpoints_add_socket(&endpoints, &socket), 0);
	add_socket(21, AF_INET6, TCP, 0, 443, 0, 0, 5);
	add_flow(1, AF_INET, TCP, 9, 50000, 1, 443);
	add_flow(2, AF_INET, TCP, 9, 50001, 1, 443);
	expect(1, 0, 20);
	expect(2, 0, 21);
}

/* A socket that is no internet socket, or has no port, gets nothing. A packet that is not IP goes to none. */
static void test_others(void **state)
{
	const struct nt_flow arp = {.flow = 1, .ethertype = 0x0806, .dst_port = 80};

	(void)state;
	add_socket(10, AF_UNIX, 0, 0, 80, 0, 0, 5);
	add_socket(11, AF_INET, UDP, 1, 0, 0, 0, 5);
	assert_int_equal(endpoints.n_sockets, 0);
	assert_int_equal(nt_endpoints_add_flow(&endpoints, &arp), 0);
	add_socket(12, AF_INET, 0, 0, 80, 0, 0, 5);
	endpoints.sockets[0].at.netns = 0;
	expect(1, 0, 0);
	assert_int_equal(nt_endpoints_protocol(&endpoints, 1), 255);
}

/* One connection after the other between the same ports: the last that there was by then, or the first of all. */
static void test_times(void **state)
{
	(void)state;
	add_flow(1, AF_INET, TCP, 9, 40000, 1, 80);
	add_socket(32, AF_INET, TCP, 1, 80, 9, 40000, 200);
	add_socket(31, AF_INET, TCP, 1, 80, 9, 40000, 100);
	add_socket(33, AF_INET, TCP, 1, 80, 9, 40000, 300);
	expect(1, 50, 31);
	expect(1, 100, 31);
	expect(1, 199, 31);
	expect(1, 200, 32);
	expect(1, 299, 32);
	expect(1, 10000, 33);
}

/* Several share a bound address, each once, and no more than there is room for. */
static void test_shared(void **state)
{
	(void)state;
	add_flow(1, AF_INET, UDP, 9, 40000, 1, 53);
	for (uint64_t id = 3; id; id--) {
		add_socket(id, AF_INET, UDP, 1, 53, 0, 0, 10 * id);
		add_socket(id, AF_INET, UDP, 1, 53, 0, 0, 10 * id + 5);
	}
	assert_int_equal(find(1, 0), 3);
	assert_true(found[0] == 1 && found[1] == 2 && found[2] == 3);
	assert_int_equal(nt_endpoints_sockets(&endpoints, 1, 0, found, 2), 2);
	assert_int_equal(nt_endpoints_sockets(&endpoints, 1, 0, found, 0), 0);
}

/* ---- beside a search through all ---- */

#define N 200

struct one {
	uint64_t id, since;
	uint8_t protocol, src, dst;
	uint16_t sport, dport;
};

static size_t search(const struct one *sockets, const struct one *flow, uint64_t at, uint64_t *out)
{
	/* Connected; bound to the address; to the port. */
	for (int nearness = 0; nearness < 3; nearness++) {
		const struct one *best = NULL, *first = NULL;
		size_t n = 0;

		for (int i = 0; i < N; i++) {
			const struct one *s = &sockets[i];
			const uint8_t dst = nearness ? 0 : flow->src, src = nearness == 2 ? 0 : flow->dst;
			bool is_new = true;

			if (s->protocol != flow->protocol || s->sport != flow->dport || s->src != src ||
			    s->dst != dst || s->dport != (nearness ? 0 : flow->sport))
				continue;
			if (!first || s->since < first->since)
				first = s;
			if (s->since <= at && (!best || s->since > best->since))
				best = s;
			for (size_t k = 0; k < n; k++)
				is_new = is_new && out[k] != s->id;
			if (is_new)
				out[n++] = s->id;
		}
		if (!nearness && first)
			out[0] = best ? best->id : first->id;
		if (n)
			return nearness ? n : 1;
	}
	return 0;
}

static bool has(const uint64_t *list, size_t n, uint64_t id)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i] == id)
			return true;
	}
	return false;
}

static void test_random(void **state)
{
	const uint64_t seed = nt_rand_seed();
	struct nt_rand rand = {seed};
	uint64_t wanted[N], got[N], n_found[3] = {0};
	struct one sockets[N];

	(void)state;
	for (int i = 0; i < N; i++) {
		const bool is_bound = nt_rand_below(&rand, 2);

		/* Each has a time of its own: so there is one answer. */
		sockets[i] = (struct one){.id = 1 + nt_rand_below(&rand, N),
					  .since = 1000 * nt_rand_below(&rand, 10) + (uint64_t)i,
					  .protocol = nt_rand_below(&rand, 2) ? TCP : UDP,
					  .src = (uint8_t)nt_rand_below(&rand, 3),
					  .sport = (uint16_t)(1 + nt_rand_below(&rand, 8))};
		if (!is_bound) {
			sockets[i].dst = (uint8_t)(1 + nt_rand_below(&rand, 2));
			sockets[i].dport = (uint16_t)(1 + nt_rand_below(&rand, 3));
		}
		add_socket(sockets[i].id, AF_INET, sockets[i].protocol, sockets[i].src, sockets[i].sport,
			   sockets[i].dst, sockets[i].dport, sockets[i].since);
	}
	for (uint64_t id = 1; id <= 2000; id++) {
		const struct one flow = {.protocol = nt_rand_below(&rand, 2) ? TCP : UDP,
					 .src = (uint8_t)(1 + nt_rand_below(&rand, 3)),
					 .sport = (uint16_t)(1 + nt_rand_below(&rand, 4)),
					 .dst = (uint8_t)(1 + nt_rand_below(&rand, 2)),
					 .dport = (uint16_t)(1 + nt_rand_below(&rand, 9))};
		const uint64_t at = nt_rand_below(&rand, 11000);
		size_t n;

		add_flow(id, AF_INET, flow.protocol, flow.src, flow.sport, flow.dst, flow.dport);
		n = search(sockets, &flow, at, wanted);
		if (nt_endpoints_sockets(&endpoints, id, at, got, N) != n)
			fail_msg("seed %" PRIu64 ", flow %" PRIu64, seed, id);
		for (size_t i = 0; i < n; i++)
			assert_true(has(got, n, wanted[i]));
		n_found[n < 2 ? n : 2]++;
	}
	assert_true(n_found[0] && n_found[1] && n_found[2]);
}

/* A later row without one says nothing of it. */
/* The delivery of the flow that was the last by then, or the first of all, by a search through all. */
static uint64_t model_delivered(const struct nt_flow *flows, size_t n, uint64_t flow, uint64_t at_ns)
{
	const struct nt_flow *last = NULL, *first = NULL;

	for (size_t i = 0; i < n; i++) {
		if (flows[i].flow != flow || (!flows[i].socket && !(flows[i].flags & NT_FLOW_SCATTERED)))
			continue;
		if (flows[i].end_ns <= at_ns && (!last || flows[i].end_ns > last->end_ns))
			last = &flows[i];
		if (!first || flows[i].end_ns < first->end_ns)
			first = &flows[i];
	}
	return last ? last->socket : first ? first->socket : 0;
}

/* Even flows are many. */
static bool model_is_of_one(const struct nt_flow *flows, size_t n, uint64_t flow)
{
	const struct nt_flow *first = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!(flow % 2) && flows[i].flow == flow && flows[i].flags & NT_FLOW_PARTLY)
			return false;
		if (flow % 2 || flows[i].flow != flow || (!flows[i].socket && !(flows[i].flags & NT_FLOW_SCATTERED)))
			continue;
		if (!flows[i].socket || (first && first->socket != flows[i].socket))
			return false;
		first = &flows[i];
	}
	return flow % 2 || first;
}

#define N_DELIVERIES 60
#define N_TO 8 /* flows; the first go to few sockets */

/* A flow may be delivered to a socket, to too many, and to another; at its time each counts, told once or twice. */
static void test_deliveries(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};
	struct nt_flow flows[N_DELIVERIES];

	(void)state;
	assert_int_equal(nt_endpoints_delivered_to(&endpoints, 1, 5), 0);
	for (size_t i = 0; i < N_DELIVERIES; i++) {
		flows[i] = (struct nt_flow){.end_ns = i * 37 % N_DELIVERIES,
					    .family = AF_INET,
					    .protocol = UDP,
					    .flow = 1 + nt_rand_below(&rand, N_TO)};
		flows[i].socket = nt_rand_below(&rand, flows[i].flow);
		if (!flows[i].socket && !nt_rand_below(&rand, flows[i].flow))
			flows[i].flags = NT_FLOW_SCATTERED;
		if (flows[i].flow % 2 == 0)
			flows[i].flags |= NT_FLOW_MANY | (nt_rand_below(&rand, 30) ? 0 : NT_FLOW_PARTLY);
		for (uint64_t n = nt_rand_below(&rand, 2) + 1; n; n--)
			assert_int_equal(nt_endpoints_add_flow(&endpoints, &flows[i]), 0);
		if (!nt_rand_below(&rand, 10))
			nt_endpoints_delivered_to(&endpoints, 1, 1);
	}
	for (uint64_t flow = 1; flow <= N_TO; flow++) {
		assert_int_equal(nt_endpoints_is_of_one(&endpoints, flow), model_is_of_one(flows, N_DELIVERIES, flow));
		for (uint64_t at = 0; at <= N_DELIVERIES; at++)
			assert_int_equal(nt_endpoints_delivered_to(&endpoints, flow, at),
					 model_delivered(flows, N_DELIVERIES, flow, at));
	}
}

/*
 * Where the kernel tells of deliveries, a port alone is no answer, but for packets that several get, and where packets
 * for the same address were delivered.
 */
static void test_port_alone(void **state)
{
	struct nt_flow told = {.flow = 9, .family = AF_INET, .netns = 2, .protocol = UDP, .socket = 8};
	struct nt_flow flow = {
		.flow = 2, .family = AF_INET, .netns = 1, .protocol = UDP, .src_port = 7, .dst_port = 53};

	(void)state;
	add_socket(1, AF_INET, UDP, 0, 53, 0, 0, 0);
	add_flow(1, AF_INET, UDP, 9, 40000, 1, 53);
	memcpy(flow.dst, "\xe0\0\0\xfb", 4);
	assert_int_equal(nt_endpoints_add_flow(&endpoints, &flow), 0);
	memcpy(flow.dst, "\xff\xff\xff\xff", 4);
	flow.flow = 3;
	assert_int_equal(nt_endpoints_add_flow(&endpoints, &flow), 0);
	memcpy(flow.dst, "\xff\2\0\0\0\0\0\0\0\0\0\0\0\0\0\1", 16);
	flow.flow = 4;
	flow.family = AF_INET6;
	assert_int_equal(nt_endpoints_add_flow(&endpoints, &flow), 0);
	for (uint64_t id = 1; id <= 4; id++)
		expect(id, 0, 1);
	set(told.dst, AF_INET, 1);
	assert_int_equal(nt_endpoints_add_flow(&endpoints, &told), 0);
	expect(1, 0, 0);
	for (uint64_t id = 2; id <= 4; id++)
		expect(id, 0, 1);
	told.flow = 10;
	told.netns = 1;
	assert_int_equal(nt_endpoints_add_flow(&endpoints, &told), 0);
	expect(1, 0, 1);
}

static void test_holder(void **state)
{
	struct nt_socket socket = {.family = AF_INET, .protocol = UDP, .src_port = 53, .socket = 7};

	(void)state;
	assert_true(nt_endpoints_holder(&endpoints, 7) == NT_NO_TASK);
	for (uint64_t process = 0; process < 3; process++) {
		socket.process = process;
		assert_int_equal(nt_endpoints_add_socket(&endpoints, &socket), 0);
		assert_true(nt_endpoints_holder(&endpoints, 7) == (process ? process : NT_NO_TASK));
	}
	socket.process = 0;
	assert_int_equal(nt_endpoints_add_socket(&endpoints, &socket), 0);
	assert_int_equal(nt_endpoints_holder(&endpoints, 7), 2);
	assert_true(nt_endpoints_holder(&endpoints, 8) == NT_NO_TASK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_nearest, teardown),
		cmocka_unit_test_teardown(test_namespaces, teardown),
		cmocka_unit_test_teardown(test_connected_elsewhere, teardown),
		cmocka_unit_test_teardown(test_mapped, teardown),
		cmocka_unit_test_teardown(test_others, teardown),
		cmocka_unit_test_teardown(test_times, teardown),
		cmocka_unit_test_teardown(test_shared, teardown),
		cmocka_unit_test_teardown(test_deliveries, teardown),
		cmocka_unit_test_teardown(test_port_alone, teardown),
		cmocka_unit_test_teardown(test_holder, teardown),
		cmocka_unit_test_teardown(test_random, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

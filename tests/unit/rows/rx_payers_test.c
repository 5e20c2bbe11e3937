// SPDX-License-Identifier: GPL-2.0-only
/* rx_payers_test.c - who pays what a flow is charged for (report/rows/rx_payers.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "report/rows/rx_payers.h"
#include "report/util/array.h"
#include "tests/support/rand.h"

#define MAX_PAID 5000

/* One part that was paid. */
struct part {
	enum nt_payer payer;
	uint64_t socket, process, device;
	uint32_t reason;
	struct nt_rx_cost cost;
};

static struct nt_endpoints endpoints;
static struct nt_socket_users users;
static struct part paid[MAX_PAID];
static size_t n_paid, fail_at; /* this part is refused; 0: none */
static bool is_last;
static uint64_t delivered_to; /* as the kernel told; 0: it did not */

static int teardown(void **state)
{
	(void)state;
	nt_endpoints_release(&endpoints);
	nt_socket_users_release(&users);
	fail_at = delivered_to = 0;
	is_last = false;
	return 0;
}

static int on_paid(void *arg, const struct nt_rx_paid *part)
{
	assert_ptr_equal(arg, paid);
	assert_true(n_paid < MAX_PAID);
	paid[n_paid++] =
		(struct part){part->payer, part->socket, part->process, part->device, part->reason, *part->cost};
	return n_paid == fail_at ? -EIO : 0;
}

/* Flow 1 goes to port 53, to which these sockets are bound, and came by device 4. Flow 2 goes to port 54. */
static void bind_sockets(uint64_t n)
{
	const struct nt_flow one = {.flow = 1, .family = AF_INET, .protocol = 17, .dst_port = 53, .device = 4};
	const struct nt_flow two = {.flow = 2, .family = AF_INET, .protocol = 17, .dst_port = 54, .device = 5};

	for (uint64_t id = 1; id <= n; id++) {
		const struct nt_socket socket = {.family = AF_INET, .protocol = 17, .src_port = 53, .socket = id};

		assert_int_equal(nt_endpoints_add_socket(&endpoints, &socket), 0);
	}
	assert_int_equal(nt_endpoints_add_flow(&endpoints, &one), 0);
	assert_int_equal(nt_endpoints_add_flow(&endpoints, &two), 0);
}

static void use(uint64_t socket, uint64_t process, uint64_t received)
{
	assert_int_equal(nt_socket_users_add(&users, socket, process, 0, received), 0);
}

static const struct nt_rx_cost whole = {.ts_ns = 100,
					.dur_ns = 1000,
					.cpu = 3,
					.flow = 1,
					.packets = 10,
					.segments = 20,
					.bytes = 1000,
					.spent_ns = 401,
					.exact_ns = 301,
					.most_ns = 501};

static int pay(uint64_t flow)
{
	struct nt_rx_cost cost = whole;

	cost.flow = flow;
	cost.socket = delivered_to;
	n_paid = 0;
	return nt_rx_pay(&(struct nt_rx_flows){.endpoints = &endpoints, .users = &users}, &cost, is_last, on_paid,
			 paid);
}

/* The part's payer, socket, process and device. */
static void expect(size_t part, enum nt_payer payer, uint64_t socket, uint64_t process, uint64_t device)
{
	assert_true(part < n_paid);
	assert_int_equal(paid[part].payer, payer);
	assert_int_equal(paid[part].socket, socket);
	assert_int_equal(paid[part].process, process);
	assert_int_equal(paid[part].device, device);
}

/* All of a cost goes to one. */
static void expect_whole(uint64_t flow, enum nt_payer payer, uint64_t socket, uint64_t process, uint64_t device)
{
	const struct nt_rx_cost *cost = &paid[0].cost;

	assert_int_equal(pay(flow), 0);
	assert_int_equal(n_paid, 1);
	expect(0, payer, socket, process, device);
	assert_true(cost->ts_ns == 100 && cost->dur_ns == 1000 && cost->cpu == 3 && cost->flow == flow);
	assert_true(cost->packets == 10 && cost->segments == 20 && cost->bytes == 1000);
	assert_true(cost->spent_ns == 401 && cost->most_ns == 501);
	/* A socket is guessed by addresses. */
	assert_int_equal(cost->exact_ns, payer == NT_PAYER_SOCKET && !delivered_to ? 0 : 301);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(nt_payer_name(NT_PAYER_SOCKET), "socket");
	assert_string_equal(nt_payer_name(NT_PAYER_FORWARDED), "forwarded");
	assert_string_equal(nt_payer_name(NT_PAYER_DROPPED), "dropped");
	assert_string_equal(nt_payer_name(NT_PAYER_OTHER), "other");
	assert_string_equal(nt_payer_name(NT_PAYER_UNATTRIBUTED), "unattributed");
}

static void test_one(void **state)
{
	(void)state;
	bind_sockets(2);
	expect_whole(0, NT_PAYER_UNATTRIBUTED, 0, NT_NO_TASK, 0);
	expect_whole(2, NT_PAYER_OTHER, 0, NT_NO_TASK, 5);
	expect_whole(99, NT_PAYER_OTHER, 0, NT_NO_TASK, 0);
	/* Nobody used a socket; then one did; then others, who received nothing either; then one received. */
	assert_int_equal(pay(1), NT_RX_LATER);
	assert_int_equal(n_paid, 0);
	is_last = true;
	expect_whole(1, NT_PAYER_SOCKET, 1, NT_NO_TASK, 4);
	is_last = false;
	use(2, 70, 0);
	expect_whole(1, NT_PAYER_SOCKET, 2, 70, 4);
	use(2, 71, 0);
	use(2, 70, 0);
	expect_whole(1, NT_PAYER_SOCKET, 2, 70, 4);
	use(2, 71, 5);
	expect_whole(1, NT_PAYER_SOCKET, 2, 71, 4);
}

/* The socket that the kernel delivered to pays, whatever the addresses say; so do its users, and else its holder. */
static void test_delivered(void **state)
{
	const struct nt_socket listener = {
		.family = AF_INET, .protocol = 6, .src_port = 80, .socket = 5, .process = 95, .netns = 1};
	struct nt_socket accepted = {.family = AF_INET,
				     .protocol = 6,
				     .src = {10, 0, 0, 1},
				     .src_port = 80,
				     .dst_port = 4000,
				     .socket = 6,
				     .netns = 1};

	(void)state;
	bind_sockets(2);
	use(1, 70, 5);
	use(2, 71, 5);
	delivered_to = 2;
	expect_whole(1, NT_PAYER_SOCKET, 2, 71, 4);
	expect_whole(2, NT_PAYER_SOCKET, 2, 71, 5);
	/* One of which nothing else is known. */
	is_last = true;
	delivered_to = 9;
	expect_whole(1, NT_PAYER_SOCKET, 9, NT_NO_TASK, 4);
	/* A connection that nobody accepted is the listener's; not one of another namespace's. */
	assert_int_equal(nt_endpoints_add_socket(&endpoints, &listener), 0);
	assert_int_equal(nt_endpoints_add_socket(&endpoints, &accepted), 0);
	accepted.socket = 7;
	accepted.netns = 2;
	assert_int_equal(nt_endpoints_add_socket(&endpoints, &accepted), 0);
	delivered_to = 6;
	expect_whole(1, NT_PAYER_SOCKET, 6, 95, 4);
	delivered_to = 7;
	expect_whole(1, NT_PAYER_SOCKET, 7, NT_NO_TASK, 4);
}

/* Of many flows that were counted as one, nothing is exact unless all went to one socket. */
static void test_many(void **state)
{
	struct nt_flow many = {.flow = 3, .family = AF_INET, .protocol = 17, .dst_port = 55, .flags = NT_FLOW_MANY};

	(void)state;
	use(2, 71, 5);
	assert_int_equal(nt_endpoints_add_flow(&endpoints, &many), 0);
	assert_int_equal(pay(3), 0);
	assert_int_equal(paid[0].payer, NT_PAYER_OTHER);
	assert_int_equal(paid[0].cost.exact_ns, 0);
	many.socket = delivered_to = 2;
	assert_int_equal(nt_endpoints_add_flow(&endpoints, &many), 0);
	expect_whole(3, NT_PAYER_SOCKET, 2, 71, 0);
}

/* Pays for packets of this fate. Only the kernel's reason 3 is that no socket has their port. */
static int pay_fate(uint64_t flow, uint32_t fate)
{
	const struct nt_rx_flows flows = {.endpoints = &endpoints, .users = &users, .has_refusal = true, .refusal = 3};
	struct nt_rx_cost cost = whole;

	cost.flow = flow;
	cost.fate = fate;
	n_paid = 0;
	return nt_rx_pay(&flows, &cost, is_last, on_paid, paid);
}

static void expect_fate(uint64_t flow, uint32_t fate, enum nt_payer payer, uint64_t socket, uint32_t reason)
{
	assert_int_equal(pay_fate(flow, fate), 0);
	assert_int_equal(n_paid, 1);
	assert_int_equal(paid[0].payer, payer);
	assert_int_equal(paid[0].socket, socket);
	assert_int_equal(paid[0].reason, reason);
	assert_int_equal(paid[0].cost.spent_ns, 401);
}

static void test_fates(void **state)
{
	(void)state;
	bind_sockets(1);
	use(1, 70, 1);
	expect_fate(0, NT_RX_FATE_FORWARDED, NT_PAYER_UNATTRIBUTED, 0, 0);
	expect_fate(NT_RX_DRIVER, NT_RX_FATE_NONE, NT_PAYER_DRIVER, 0, 0);
	assert_int_equal(paid[0].cost.flow, 0);
	expect_fate(1, NT_RX_FATE_NONE, NT_PAYER_SOCKET, 1, 0);
	expect_fate(1, NT_RX_FATE_FORWARDED, NT_PAYER_FORWARDED, 0, 0);
	expect_fate(1, NT_RX_FATE_DROPPED, NT_PAYER_SOCKET, 1, 0);
	expect_fate(1, NT_RX_FATE_DROPPED + 2, NT_PAYER_SOCKET, 1, 0);
	expect_fate(1, NT_RX_FATE_DROPPED + 3, NT_PAYER_DROPPED, 0, 3);
	expect_fate(2, NT_RX_FATE_NONE, NT_PAYER_OTHER, 0, 0);
	expect_fate(2, NT_RX_FATE_FORWARDED, NT_PAYER_FORWARDED, 0, 0);
	expect_fate(2, NT_RX_FATE_DROPPED, NT_PAYER_DROPPED, 0, 0);
	expect_fate(2, NT_RX_FATE_DROPPED + 9, NT_PAYER_DROPPED, 0, 9);
	assert_int_equal(paid[0].device, 5);
	expect_fate(2, UINT32_MAX, NT_PAYER_DROPPED, 0, UINT32_MAX - NT_RX_FATE_DROPPED);
}

/* Where nobody has used a socket, its holder pays; of several sockets at one address, all holders alike. */
static void test_holders(void **state)
{
	struct nt_socket socket = {.family = AF_INET, .protocol = 17, .src_port = 53, .socket = 2, .process = 90};

	(void)state;
	bind_sockets(1);
	assert_int_equal(nt_endpoints_add_socket(&endpoints, &socket), 0);
	assert_int_equal(pay(1), NT_RX_LATER);
	is_last = true;
	expect_whole(1, NT_PAYER_SOCKET, 2, 90, 4);
	socket.socket = 3;
	socket.process = 91;
	assert_int_equal(nt_endpoints_add_socket(&endpoints, &socket), 0);
	assert_int_equal(pay(1), 0);
	assert_int_equal(n_paid, 2);
	expect(0, NT_PAYER_SOCKET, 2, 90, 4);
	expect(1, NT_PAYER_SOCKET, 3, 91, 4);
	assert_true(paid[0].cost.spent_ns == 200 && paid[1].cost.spent_ns == 201);
	assert_true(paid[0].cost.exact_ns == 0 && paid[1].cost.most_ns == 501);
	/* One who used any of them comes first. */
	is_last = false;
	use(1, 70, 0);
	expect_whole(1, NT_PAYER_SOCKET, 1, 70, 4);
}

static void test_shares(void **state)
{
	(void)state;
	bind_sockets(2);
	use(1, 70, 100);
	use(2, 80, 50);
	use(1, 71, 200);
	use(1, 70, 50);
	use(2, 81, 0);
	assert_int_equal(pay(1), 0);
	/* 150, 200 and 50 of 400. */
	assert_int_equal(n_paid, 3);
	expect(0, NT_PAYER_SOCKET, 1, 70, 4);
	expect(1, NT_PAYER_SOCKET, 1, 71, 4);
	expect(2, NT_PAYER_SOCKET, 2, 80, 4);
	assert_int_equal(paid[0].cost.spent_ns, 150);
	assert_int_equal(paid[1].cost.spent_ns, 200);
	assert_int_equal(paid[2].cost.spent_ns, 51);
	for (size_t i = 0; i < 3; i++) {
		/* No share is exact, and any may be all. */
		assert_int_equal(paid[i].cost.exact_ns, 0);
		assert_int_equal(paid[i].cost.most_ns, 501);
		assert_true(paid[i].cost.ts_ns == 100 && paid[i].cost.dur_ns == 1000 && paid[i].cost.cpu == 3);
	}
	assert_true(paid[0].cost.packets == 3 && paid[1].cost.packets == 5 && paid[2].cost.packets == 2);
	assert_true(paid[0].cost.segments == 7 && paid[1].cost.segments == 10 && paid[2].cost.segments == 3);
	assert_true(paid[0].cost.bytes == 375 && paid[1].cost.bytes == 500 && paid[2].cost.bytes == 125);
}

/*
 * Received bytes count half for each 100 ms that passed since, and nothing after a second: a server that was replaced
 * soon pays nothing. Where nobody received for a second, whoever did last pays.
 */
static void test_ages(void **state)
{
	const struct nt_rx_flows flows = {.endpoints = &endpoints, .users = &users};
	struct nt_rx_cost cost = whole;

	(void)state;
	bind_sockets(1);
	cost.flow = 1;
	cost.spent_ns = 1000;
	assert_int_equal(nt_socket_users_add(&users, 1, 70, 0, 3000), 0);
	assert_int_equal(nt_socket_users_add(&users, 1, 71, NT_BUCKET_NS + 5, 500), 0);
	assert_int_equal(nt_socket_users_add(&users, 1, 71, 99, 2000), 0); /* late: counts half, too */
	cost.ts_ns = NT_BUCKET_NS;
	n_paid = 0;
	assert_int_equal(nt_rx_pay(&flows, &cost, false, on_paid, paid), 0);
	assert_int_equal(n_paid, 2);
	assert_true(paid[0].cost.spent_ns == 500 && paid[1].cost.spent_ns == 500);
	/* Ten buckets later one of them received again; the other counts 1500 / 1024, and in the next bucket nothing.
	 */
	assert_int_equal(nt_socket_users_add(&users, 1, 71, 11 * NT_BUCKET_NS, 998), 0);
	cost.ts_ns = 10 * NT_BUCKET_NS;
	n_paid = 0;
	assert_int_equal(nt_rx_pay(&flows, &cost, false, on_paid, paid), 0);
	assert_true(paid[0].cost.spent_ns == 1 || paid[0].cost.spent_ns == 2);
	for (cost.ts_ns = 11 * NT_BUCKET_NS; cost.ts_ns <= 1011 * NT_BUCKET_NS; cost.ts_ns += 1000 * NT_BUCKET_NS) {
		cost.socket = 1;
		n_paid = 0;
		assert_int_equal(nt_rx_pay(&flows, &cost, false, on_paid, paid), 0);
		assert_int_equal(n_paid, 1);
		assert_int_equal(paid[0].process, 71);
		/* That the same process receives next is a guess. */
		assert_int_equal(paid[0].cost.exact_ns, 0);
	}
}

/* However many share, and whatever the numbers, all is paid once. More than 64 sockets, or users of one, pay nothing.
 */
/* ---- forgetting ---- */

#define N_USES 100
#define N_OF_EACH 6 /* sockets, and processes */

struct use {
	uint64_t socket, process, at_ns, received;
};

/* Some sockets are used early only. */
static void draw_use(struct nt_rand *rand, struct use *use)
{
	use->socket = nt_rand_below(rand, N_OF_EACH);
	use->process = nt_rand_below(rand, N_OF_EACH);
	use->at_ns = nt_rand_below(rand, 20 * NT_BUCKET_NS) / (1 + use->socket);
	use->received = nt_rand_below(rand, 3);
}

static void note_use(struct nt_socket_users *of, const struct use *use)
{
	assert_int_equal(nt_socket_users_add(of, use->socket, use->process, use->at_ns, use->received), 0);
}

/* When this process used this socket last: the begin of that bucket. */
static uint64_t last_use(const struct use *uses, const struct use *of)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < N_USES; i++) {
		if (uses[i].socket == of->socket && uses[i].process == of->process && uses[i].at_ns > last_ns)
			last_ns = uses[i].at_ns;
	}
	return last_ns / NT_BUCKET_NS * NT_BUCKET_NS;
}

static void compare_users(struct nt_socket_users *left, struct nt_socket_users *right, uint64_t socket)
{
	size_t at = nt_id_map_get(&left->first, socket), as = nt_id_map_get(&right->first, socket);

	for (; at && as; at = left->users[at - 1].next, as = right->users[as - 1].next) {
		assert_int_equal(left->users[at - 1].process, right->users[as - 1].process);
		assert_int_equal(left->users[at - 1].received, right->users[as - 1].received);
		assert_int_equal(left->users[at - 1].bucket, right->users[as - 1].bucket);
	}
	assert_int_equal(at, as);
}

/* It is as if the users that are forgotten had never been. */
static void test_forgets(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};

	(void)state;
	for (int round = 0; round < 200; round++) {
		const uint64_t before_ns = nt_rand_below(&rand, 20 * NT_BUCKET_NS);
		struct nt_socket_users expected = {0};
		struct use uses[N_USES];

		for (size_t i = 0; i < N_USES; i++) {
			draw_use(&rand, &uses[i]);
			note_use(&users, &uses[i]);
		}
		for (size_t i = 0; i < N_USES; i++) {
			if (last_use(uses, &uses[i]) >= before_ns)
				note_use(&expected, &uses[i]);
		}
		assert_int_equal(nt_socket_users_forget(&users, before_ns), 0);
		assert_int_equal(users.n, expected.n);
		for (uint64_t socket = 0; socket < N_OF_EACH; socket++)
			compare_users(&users, &expected, socket);
		nt_socket_users_release(&users);
		nt_socket_users_release(&expected);
	}
}

static void test_sums(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};

	(void)state;
	bind_sockets(70);
	for (int i = 0; i < 9000; i++)
		use(1 + nt_rand_below(&rand, 70), 100 + nt_rand_below(&rand, 200), nt_rand_below(&rand, 1u << 31));
	assert_int_equal(pay(1), 0);
	assert_int_equal(n_paid, 64 * 64);
	for (size_t i = 1; i < n_paid; i++) {
		paid[0].cost.packets += paid[i].cost.packets;
		paid[0].cost.segments += paid[i].cost.segments;
		paid[0].cost.bytes += paid[i].cost.bytes;
		paid[0].cost.spent_ns += paid[i].cost.spent_ns;
	}
	assert_int_equal(paid[0].cost.packets, 10);
	assert_int_equal(paid[0].cost.segments, 20);
	assert_int_equal(paid[0].cost.bytes, 1000);
	assert_int_equal(paid[0].cost.spent_ns, 401);
}

static void test_refused(void **state)
{
	(void)state;
	bind_sockets(1);
	use(1, 70, 1);
	use(1, 71, 1);
	for (fail_at = 1; fail_at <= 2; fail_at++) {
		assert_int_equal(pay(1), -EIO);
		assert_int_equal(n_paid, fail_at);
	}
	fail_at = 1;
	assert_int_equal(pay(0), -EIO);
	assert_int_equal(pay(2), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test_teardown(test_one, teardown),
		cmocka_unit_test_teardown(test_delivered, teardown),
		cmocka_unit_test_teardown(test_many, teardown),
		cmocka_unit_test_teardown(test_fates, teardown),
		cmocka_unit_test_teardown(test_holders, teardown),
		cmocka_unit_test_teardown(test_shares, teardown),
		cmocka_unit_test_teardown(test_ages, teardown),
		cmocka_unit_test_teardown(test_forgets, teardown),
		cmocka_unit_test_teardown(test_sums, teardown),
		cmocka_unit_test_teardown(test_refused, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

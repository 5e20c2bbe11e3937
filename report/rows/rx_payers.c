// SPDX-License-Identifier: GPL-2.0-only
/* rx_payers.c - see rx_payers.h. */
#include "report/rows/rx_payers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/util/array.h"

/* Of one flow, and of one socket: more share nothing. */
#define MAX_SOCKETS 64
#define MAX_USERS 64
#define RECENT_BUCKETS (1000 * 1000 * 1000 / NT_BUCKET_NS)

/* One who pays for a flow. */
struct payer {
	uint64_t socket, process, weight;
};

struct payers {
	struct payer payers[MAX_SOCKETS * MAX_USERS];
	size_t n;
	size_t n_receivers; /* of the sockets, ever */
	uint64_t device;
};

static const char *const names[] = {
#define X(number, constant, name) [number] = #name,
	NT_PAYERS(X)
#undef X
};

const char *nt_payer_name(enum nt_payer payer)
{
	return names[payer];
}

enum nt_payer nt_payer_number(const char *name)
{
	const size_t payer = NT_FIRST(NT_COUNT(names), i, !strcmp(name, names[i]));

	return payer < NT_COUNT(names) ? (enum nt_payer)payer : NT_PAYER_UNATTRIBUTED;
}

void nt_socket_users_release(struct nt_socket_users *users)
{
	nt_id_map_release(&users->first);
	free(users->users);
	*users = (struct nt_socket_users){0};
}

/* Bytes received `buckets` ago, as they count now. A user that ever received keeps at least 1. */
static uint64_t aged(uint64_t received, uint64_t buckets)
{
	const uint64_t left = buckets < 64 ? received >> buckets : 0;

	return received && !left ? 1 : left;
}

static void receive(struct nt_socket_user *user, uint64_t bucket, uint64_t received)
{
	if (bucket > user->bucket) {
		user->received = aged(user->received, bucket - user->bucket);
		user->bucket = bucket;
	}
	user->received += aged(received, user->bucket - bucket);
}

/* Behind the socket's others: `*first` is where the number of its first stands, `last` the number of its last. */
static int append(struct nt_socket_users *users, uint64_t *first, size_t last, const struct nt_socket_user *user)
{
	if (NT_ROOM(users->users, users->size, users->n + 1))
		return -ENOMEM;
	users->users[users->n] = *user;
	users->users[users->n++].next = 0;
	if (last)
		users->users[last - 1].next = users->n;
	else
		*first = users->n;
	return 0;
}

int nt_socket_users_add(struct nt_socket_users *users, uint64_t socket, uint64_t process, uint64_t at_ns,
			uint64_t received)
{
	const uint64_t bucket = at_ns / NT_BUCKET_NS;
	const struct nt_socket_user new = {.process = process, .received = received, .bucket = bucket};
	uint64_t *first = nt_id_map_at(&users->first, socket);
	size_t n = 0, last = 0;

	if (!first)
		return -ENOMEM;
	for (size_t at = *first; at; at = users->users[at - 1].next, n++) {
		if (users->users[at - 1].process == process) {
			receive(&users->users[at - 1], bucket, received);
			return 0;
		}
		last = at;
	}
	return n == MAX_USERS ? 0 : append(users, first, last, &new);
}

struct forgetting {
	const struct nt_socket_users *from;
	struct nt_socket_users kept;
	uint64_t bucket; /* users since then are kept */
};

static int keep_users(void *arg, uint64_t socket, uint64_t first)
{
	struct forgetting *forgetting = arg;
	const struct nt_socket_user *users = forgetting->from->users;
	uint64_t *first_kept;
	size_t last = 0;

	for (size_t at = first; at; at = users[at - 1].next) {
		if (users[at - 1].bucket < forgetting->bucket)
			continue;
		first_kept = nt_id_map_at(&forgetting->kept.first, socket);
		if (!first_kept || append(&forgetting->kept, first_kept, last, &users[at - 1]))
			return -ENOMEM;
		last = forgetting->kept.n;
	}
	return 0;
}

int nt_socket_users_forget(struct nt_socket_users *users, uint64_t before_ns)
{
	struct forgetting forgetting = {.from = users, .bucket = (before_ns + NT_BUCKET_NS - 1) / NT_BUCKET_NS};
	int error = nt_id_map_each(&users->first, keep_users, &forgetting);

	nt_socket_users_release(error ? &forgetting.kept : users);
	if (!error)
		*users = forgetting.kept;
	return error;
}

/* A process pays if it received in this bucket or later: a second before, or when anybody did last if that is longer
 * ago. */
static uint64_t paying_since(const struct nt_socket_users *users, size_t first, uint64_t bucket)
{
	const uint64_t recent = bucket > RECENT_BUCKETS ? bucket - RECENT_BUCKETS : 0;
	uint64_t last = 0;

	for (size_t at = first; at; at = users->users[at - 1].next) {
		const struct nt_socket_user *user = &users->users[at - 1];

		if (user->received && user->bucket > last)
			last = user->bucket;
	}
	return last < recent ? last : recent;
}

/* The socket's users, with what each has received, as it counted at that time or when it received last. */
static void add_users(struct payers *payers, struct nt_socket_users *users, uint64_t socket, uint64_t at_ns)
{
	const uint64_t bucket = at_ns / NT_BUCKET_NS;
	const size_t first = nt_id_map_get(&users->first, socket);
	const uint64_t since = paying_since(users, first, bucket);

	for (size_t at = first; at; at = users->users[at - 1].next) {
		const struct nt_socket_user *user = &users->users[at - 1];
		const uint64_t age = bucket > user->bucket ? bucket - user->bucket : 0;
		const uint64_t weight = user->bucket >= since ? aged(user->received, age) : 0;

		payers->payers[payers->n++] = (struct payer){socket, user->process, weight};
		payers->n_receivers += user->received > 0;
	}
}

/* Where nobody has used any of the sockets: those that hold them, of each one. */
static void add_holders(struct payers *payers, struct nt_endpoints *endpoints, const uint64_t *sockets, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint64_t process = nt_endpoints_holder(endpoints, sockets[i]);

		payers->payers[payers->n++] = (struct payer){sockets[i], process, process != NT_NO_TASK};
	}
}

/* Where nobody has a weight, the first pays. */
static void settle(struct payers *payers)
{
	size_t n = 0;

	for (size_t i = 0; i < payers->n; i++) {
		if (payers->payers[i].weight)
			payers->payers[n++] = payers->payers[i];
	}
	if (!n)
		payers->payers[0].weight = 1;
	payers->n = n ? n : 1;
}

static void find_payers(struct payers *payers, struct nt_socket_users *users, const uint64_t *sockets, size_t n,
			uint64_t at_ns)
{
	payers->n = payers->n_receivers = 0;
	for (size_t i = 0; i < n; i++)
		add_users(payers, users, sockets[i], at_ns);
}

/* The share of `whole` that ends at this weight of all, less what was given before. */
static uint64_t share(uint64_t whole, unsigned __int128 from, unsigned __int128 to, unsigned __int128 all)
{
	return (uint64_t)(whole * to / all) - (uint64_t)(whole * from / all);
}

/* Nothing is exact of what is divided, or guessed; nor where others received from the socket, too, if long ago. */
static int give_shares(const struct payers *payers, const struct nt_rx_cost *cost,
		       int (*give)(void *arg, const struct nt_rx_paid *paid), void *arg)
{
	unsigned __int128 all = 0, from = 0, to;
	int error = 0;

	for (size_t i = 0; i < payers->n; i++)
		all += payers->payers[i].weight;
	for (size_t i = 0; i < payers->n && !error; i++, from = to) {
		const struct payer *payer = &payers->payers[i];
		struct nt_rx_cost part = *cost;
		const struct nt_rx_paid paid = {.cost = &part,
						.payer = NT_PAYER_SOCKET,
						.socket = payer->socket,
						.process = payer->process,
						.device = payers->device};

		to = from + payer->weight;
		part.packets = share(cost->packets, from, to, all);
		part.segments = share(cost->segments, from, to, all);
		part.bytes = share(cost->bytes, from, to, all);
		part.spent_ns = share(cost->spent_ns, from, to, all);
		part.exact_ns = payers->n == 1 && payers->n_receivers <= 1 && cost->socket ? cost->exact_ns : 0;
		error = give(arg, &paid);
	}
	return error;
}

/* The payer for packets that no socket pays. */
static enum nt_payer payer_by_fate(uint32_t fate)
{
	if (fate == NT_RX_FATE_NONE)
		return NT_PAYER_OTHER;
	return fate == NT_RX_FATE_FORWARDED ? NT_PAYER_FORWARDED : NT_PAYER_DROPPED;
}

static bool is_refused(const struct nt_rx_flows *flows, uint32_t fate)
{
	return flows->has_refusal && fate >= NT_RX_FATE_DROPPED && fate - NT_RX_FATE_DROPPED == flows->refusal;
}

/* The sockets that the flow's packets went to, or may have; gives how many. */
static size_t find_sockets(const struct nt_rx_flows *flows, const struct nt_rx_cost *cost, uint64_t *sockets)
{
	if (!cost->socket)
		return nt_endpoints_sockets(flows->endpoints, cost->flow, cost->ts_ns + cost->dur_ns, sockets,
					    MAX_SOCKETS);
	sockets[0] = cost->socket;
	return 1;
}

/* No flow has the driver's time. */
static int pay_driver(const struct nt_rx_cost *cost, int (*give)(void *arg, const struct nt_rx_paid *paid), void *arg)
{
	struct nt_rx_cost flowless = *cost;
	const struct nt_rx_paid paid = {.cost = &flowless, .payer = NT_PAYER_DRIVER, .process = NT_NO_TASK};

	flowless.flow = 0;
	return give(arg, &paid);
}

int nt_rx_pay(const struct nt_rx_flows *flows, const struct nt_rx_cost *cost, enum nt_rx_unused unused,
	      int (*give)(void *arg, const struct nt_rx_paid *paid), void *arg)
{
	struct nt_rx_cost known = *cost;
	struct nt_rx_paid nobody = {.cost = &known, .payer = NT_PAYER_UNATTRIBUTED, .process = NT_NO_TASK};
	uint64_t sockets[MAX_SOCKETS];
	struct payers payers;
	size_t n = 0;

	if (cost->flow == NT_RX_DRIVER)
		return pay_driver(cost, give, arg);
	if (!cost->flow)
		return give(arg, &nobody);
	if (!nt_endpoints_is_of_one(flows->endpoints, cost->flow))
		known.exact_ns = 0;
	payers.device = nobody.device = nt_endpoints_device(flows->endpoints, cost->flow);
	nobody.payer = payer_by_fate(cost->fate);
	nobody.has_reason = nobody.payer == NT_PAYER_DROPPED;
	nobody.reason = nobody.has_reason ? cost->fate - NT_RX_FATE_DROPPED : 0;
	if (nobody.payer != NT_PAYER_FORWARDED && !is_refused(flows, cost->fate))
		n = find_sockets(flows, cost, sockets);
	if (!n)
		return give(arg, &nobody);
	find_payers(&payers, flows->users, sockets, n, cost->ts_ns);
	if (!payers.n && unused == NT_RX_WAIT)
		return NT_RX_LATER;
	if (!payers.n) {
		add_holders(&payers, flows->endpoints, sockets, n);
		if (unused == NT_RX_HOLDERS && !NT_ANY(payers.n, i, payers.payers[i].weight))
			return NT_RX_LATER;
	}
	settle(&payers);
	return give_shares(&payers, &known, give, arg);
}

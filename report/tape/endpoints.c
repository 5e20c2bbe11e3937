// SPDX-License-Identifier: GPL-2.0-only
/*
 * endpoints.c - see endpoints.h. Added endpoints are sorted at the first question.
 */
#include "report/tape/endpoints.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "report/util/array.h"
#include "report/util/lot.h"

#define NO_PROTOCOL 255
#define MAX_LISTENERS 64 /* of one address that are looked at */

_Static_assert(sizeof(struct nt_endpoint) == 4 + 4 * 2 + 2 * 16, "compared as bytes");

void nt_endpoints_release(struct nt_endpoints *endpoints)
{
	free(endpoints->sockets);
	free(endpoints->connected);
	free(endpoints->accepted);
	free(endpoints->flows);
	free(endpoints->deliveries);
	nt_id_map_release(&endpoints->by_flow);
	nt_id_map_release(&endpoints->local);
	nt_id_map_release(&endpoints->holders);
	*endpoints = (struct nt_endpoints){0};
}

/* Sockets of IPv6 receive packets of IPv4 too: both have one form. No address stays none. */
static void set_address(uint8_t out[16], uint8_t family, const uint8_t *address)
{
	static const uint8_t none[4];

	memset(out, 0, 16);
	if (family == AF_INET6) {
		memcpy(out, address, 16);
	} else if (memcmp(address, none, 4) != 0) {
		out[10] = out[11] = 0xff;
		memcpy(out + 12, address, 4);
	}
}

int nt_endpoints_add_socket(struct nt_endpoints *endpoints, const struct nt_socket *socket)
{
	struct nt_socket_at *new;

	if ((socket->family != AF_INET && socket->family != AF_INET6) || !socket->src_port)
		return 0;
	if (socket->process && nt_id_map_set(&endpoints->holders, socket->socket, socket->process))
		return -ENOMEM;
	if (NT_ROOM(endpoints->sockets, endpoints->sockets_size, endpoints->n_sockets + 1) ||
	    NT_ROOM(endpoints->connected, endpoints->connected_size, endpoints->n_sockets + 1) ||
	    NT_ROOM(endpoints->accepted, endpoints->accepted_size, endpoints->n_sockets + 1))
		return -ENOMEM;
	new = &endpoints->sockets[endpoints->n_sockets++];
	*new = (struct nt_socket_at){.since_ns = socket->end_ns, .socket = socket->socket};
	new->at.netns = socket->netns;
	new->at.protocol = socket->protocol;
	new->at.port = socket->src_port;
	new->at.peer_port = socket->dst_port;
	set_address(new->at.address, socket->family, socket->src);
	set_address(new->at.peer, socket->family, socket->dst);
	endpoints->is_sorted = false;
	return 0;
}

/* Of several words, one after the other. */
static uint64_t hash(uint64_t so_far, uint64_t word)
{
	return nt_lot(so_far ^ word, 1);
}

/* Never 0. Two of one hash are taken for one: among a million that is not likely, and it makes no charge exact. */
static uint64_t hash_of_address(const struct nt_endpoint *at)
{
	uint64_t words[2];

	memcpy(words, at->address, sizeof(words));
	return hash(hash(hash(0, at->netns), words[0]), words[1]) | 1;
}

/* Each chunk tells again of the flow's newest. */
static bool is_newest(const struct nt_endpoints *endpoints, const struct nt_flow *flow, const struct nt_flow_to *to)
{
	const struct nt_delivery *newest = to->newest ? &endpoints->deliveries[to->newest - 1] : NULL;

	return newest && newest->since_ns == flow->end_ns && newest->socket == flow->socket;
}

static int add_delivery(struct nt_endpoints *endpoints, const struct nt_flow *flow, struct nt_flow_to *to)
{
	if (is_newest(endpoints, flow, to))
		return 0;
	if (NT_ROOM(endpoints->deliveries, endpoints->deliveries_size, endpoints->n_deliveries + 1))
		return -ENOMEM;
	endpoints->deliveries[endpoints->n_deliveries++] = (struct nt_delivery){flow->flow, flow->end_ns, flow->socket};
	to->newest = endpoints->n_deliveries;
	endpoints->is_sorted = false;
	return nt_id_map_set(&endpoints->local, hash_of_address(&to->to), 1);
}

static void set_flow(struct nt_flow_to *to, const struct nt_flow *flow)
{
	*to = (struct nt_flow_to){.flow = flow->flow, .device = flow->device};
	to->is_inet = flow->family == AF_INET || flow->family == AF_INET6;
	to->is_many = flow->flags & NT_FLOW_MANY;
	to->protocol = to->is_inet ? flow->protocol : NO_PROTOCOL;
	to->to.netns = flow->netns;
	to->to.protocol = flow->protocol;
	to->to.port = flow->dst_port;
	to->to.peer_port = flow->src_port;
	set_address(to->to.address, flow->family, flow->dst);
	set_address(to->to.peer, flow->family, flow->src);
}

int nt_endpoints_add_flow(struct nt_endpoints *endpoints, const struct nt_flow *flow)
{
	uint64_t *index;

	/* A flow that leaves goes to no socket of the host. */
	if (!flow->flow || flow->flags & NT_FLOW_SENT)
		return 0;
	index = nt_id_map_at(&endpoints->by_flow, flow->flow);
	if (!index)
		return -ENOMEM;
	if (!*index) {
		if (NT_ROOM(endpoints->flows, endpoints->flows_size, endpoints->n_flows + 1))
			return -ENOMEM;
		set_flow(&endpoints->flows[endpoints->n_flows], flow);
		*index = ++endpoints->n_flows;
	}
	if (flow->flags & NT_FLOW_PARTLY) {
		endpoints->flows[*index - 1].is_partly = true;
		endpoints->is_sorted = false;
	}
	if (!flow->socket && !(flow->flags & NT_FLOW_SCATTERED))
		return 0;
	return add_delivery(endpoints, flow, &endpoints->flows[*index - 1]);
}

static int by_address(const void *a, const void *b)
{
	const struct nt_socket_at *left = a, *right = b;
	int order = memcmp(&left->at, &right->at, sizeof(left->at));

	if (!order)
		order = left->since_ns < right->since_ns ? -1 : left->since_ns > right->since_ns;
	return order ? order : left->socket < right->socket ? -1 : left->socket > right->socket;
}

/* The fields behind the network namespace begin here. */
#define IN_NETNS offsetof(struct nt_endpoint, protocol)

static int compare_anywhere(const struct nt_endpoint *left, const struct nt_endpoint *right)
{
	return memcmp((const char *)left + IN_NETNS, (const char *)right + IN_NETNS, sizeof(*left) - IN_NETNS);
}

static int by_address_anywhere(const void *a, const void *b)
{
	const struct nt_socket_at *left = *(const struct nt_socket_at *const *)a;
	const struct nt_socket_at *right = *(const struct nt_socket_at *const *)b;
	const int order = compare_anywhere(&left->at, &right->at);

	return order ? order : by_address(left, right);
}

static int by_socket(const void *a, const void *b)
{
	const uint64_t left = (*(const struct nt_socket_at *const *)a)->socket;
	const uint64_t right = (*(const struct nt_socket_at *const *)b)->socket;

	return left < right ? -1 : left > right;
}

static int by_flow_and_time(const void *a, const void *b)
{
	const struct nt_delivery *left = a, *right = b;

	if (left->flow != right->flow)
		return left->flow < right->flow ? -1 : 1;
	if (left->since_ns != right->since_ns)
		return left->since_ns < right->since_ns ? -1 : 1;
	return left->socket < right->socket ? -1 : left->socket > right->socket;
}

/* Several CPUs tell of a flow, and so one that is not the newest may be told again. */
static void drop_repeated(struct nt_endpoints *endpoints)
{
	struct nt_delivery *deliveries = endpoints->deliveries;
	size_t n = 0;

	for (size_t i = 0; i < endpoints->n_deliveries; i++) {
		if (!n || by_flow_and_time(&deliveries[i], &deliveries[n - 1]) != 0)
			deliveries[n++] = deliveries[i];
	}
	endpoints->n_deliveries = n;
}

/* Each flow's deliveries stand together. */
static void sort_deliveries(struct nt_endpoints *endpoints)
{
	const struct nt_delivery *deliveries = endpoints->deliveries;
	size_t n;

	if (endpoints->n_deliveries)
		qsort(endpoints->deliveries, endpoints->n_deliveries, sizeof(*deliveries), by_flow_and_time);
	drop_repeated(endpoints);
	for (size_t i = 0; i < endpoints->n_deliveries; i += n) {
		struct nt_flow_to *to = &endpoints->flows[nt_id_map_get(&endpoints->by_flow, deliveries[i].flow) - 1];

		to->is_of_one = to->is_inet && !to->is_partly && deliveries[i].socket;
		n = 1;
		while (i + n < endpoints->n_deliveries && deliveries[i + n].flow == deliveries[i].flow) {
			to->is_of_one &= deliveries[i + n].socket == deliveries[i].socket;
			n++;
		}
		to->first_delivery = i;
		to->n_deliveries = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
		to->newest = i + n;
	}
}

static void sort(struct nt_endpoints *endpoints)
{
	endpoints->n_connected = endpoints->n_accepted = 0;
	if (endpoints->n_sockets)
		qsort(endpoints->sockets, endpoints->n_sockets, sizeof(*endpoints->sockets), by_address);
	for (size_t i = 0; i < endpoints->n_sockets; i++) {
		struct nt_socket_at *socket = &endpoints->sockets[i];

		if (!socket->at.peer_port)
			continue;
		endpoints->connected[endpoints->n_connected++] = socket;
		if (!nt_id_map_get(&endpoints->holders, socket->socket))
			endpoints->accepted[endpoints->n_accepted++] = socket;
	}
	if (endpoints->n_connected)
		qsort(endpoints->connected, endpoints->n_connected, sizeof(*endpoints->connected), by_address_anywhere);
	if (endpoints->n_accepted)
		qsort(endpoints->accepted, endpoints->n_accepted, sizeof(*endpoints->accepted), by_socket);
	sort_deliveries(endpoints);
	endpoints->is_sorted = true;
}

static const struct nt_flow_to *find_flow(struct nt_endpoints *endpoints, uint64_t flow)
{
	const uint64_t index = flow ? nt_id_map_get(&endpoints->by_flow, flow) : 0;

	if (index && !endpoints->is_sorted)
		sort(endpoints);
	return index ? &endpoints->flows[index - 1] : NULL;
}

uint64_t nt_endpoints_delivered_to(struct nt_endpoints *endpoints, uint64_t flow, uint64_t at_ns)
{
	const struct nt_flow_to *to = find_flow(endpoints, flow);
	const struct nt_delivery *deliveries;
	size_t by_then;

	if (!to || !to->n_deliveries)
		return 0;
	deliveries = endpoints->deliveries + to->first_delivery;
	by_then = NT_COUNT_BEFORE(to->n_deliveries, i, deliveries[i].since_ns > at_ns);
	return deliveries[by_then ? by_then - 1 : 0].socket;
}

/* The sockets that had the address, from the first on. */
static size_t count_at(const struct nt_endpoints *endpoints, const struct nt_endpoint *at,
		       const struct nt_socket_at **first)
{
	const size_t from =
		NT_COUNT_BEFORE(endpoints->n_sockets, i, memcmp(&endpoints->sockets[i].at, at, sizeof(*at)) >= 0);
	const size_t to =
		NT_COUNT_BEFORE(endpoints->n_sockets, i, memcmp(&endpoints->sockets[i].at, at, sizeof(*at)) > 0);

	*first = from < to ? &endpoints->sockets[from] : NULL;
	return to - from;
}

/* Of those that were connected so, one after the other, the last that was by then; the first, if none was. */
static size_t connected(const struct nt_endpoints *endpoints, const struct nt_endpoint *at, uint64_t at_ns,
			uint64_t *socket)
{
	const struct nt_socket_at *sockets;
	const size_t n = count_at(endpoints, at, &sockets);
	const size_t by_then = NT_COUNT_BEFORE(n, i, sockets[i].since_ns > at_ns);

	if (n)
		*socket = sockets[by_then ? by_then - 1 : 0].socket;
	return n > 0;
}

/* The same where only one network namespace has had such a connection, whichever that is. */
static size_t connected_anywhere(const struct nt_endpoints *endpoints, const struct nt_endpoint *at, uint64_t at_ns,
				 uint64_t *socket)
{
	const size_t n = endpoints->n_connected;
	const size_t from = NT_COUNT_BEFORE(n, i, compare_anywhere(&endpoints->connected[i]->at, at) >= 0);
	const size_t to = NT_COUNT_BEFORE(n, i, compare_anywhere(&endpoints->connected[i]->at, at) > 0);
	struct nt_endpoint there = *at;

	if (from == to || endpoints->connected[from]->at.netns != endpoints->connected[to - 1]->at.netns)
		return 0;
	there.netns = endpoints->connected[from]->at.netns;
	return connected(endpoints, &there, at_ns, socket);
}

static size_t bound(const struct nt_endpoints *endpoints, const struct nt_endpoint *at, uint64_t *out, size_t size)
{
	const struct nt_socket_at *sockets;
	const size_t n = count_at(endpoints, at, &sockets);
	size_t found = 0;

	for (size_t i = 0; i < n && found < size; i++) {
		const uint64_t socket = sockets[i].socket;

		if (!NT_ANY(found, j, out[j] == socket))
			out[found++] = socket;
	}
	return found;
}

/* Multicast, and the broadcast to all: a network's own is not known. */
static bool is_for_several(const uint8_t address[16])
{
	static const uint8_t to_all[4] = {255, 255, 255, 255};

	if (address[0] == 0xff)
		return true;
	return address[0] == 0 && (address[12] >> 4 == 14 || !memcmp(address + 12, to_all, 4));
}

static bool counts_by_port(struct nt_endpoints *endpoints, const struct nt_endpoint *at)
{
	return !endpoints->n_deliveries || is_for_several(at->address) ||
	       nt_id_map_get(&endpoints->local, hash_of_address(at));
}

size_t nt_endpoints_sockets(struct nt_endpoints *endpoints, uint64_t flow, uint64_t at_ns, uint64_t *sockets,
			    size_t size)
{
	const struct nt_flow_to *to = find_flow(endpoints, flow);
	struct nt_endpoint at;
	size_t n;

	if (!to || !to->is_inet || !to->to.port || !size)
		return 0;
	at = to->to;
	n = at.peer_port ? connected(endpoints, &at, at_ns, sockets) : 0;
	if (!n && at.peer_port)
		n = connected_anywhere(endpoints, &at, at_ns, sockets);
	at.peer_port = 0;
	memset(at.peer, 0, sizeof(at.peer));
	if (!n)
		n = bound(endpoints, &at, sockets, size);
	if (n || !counts_by_port(endpoints, &at))
		return n;
	memset(at.address, 0, sizeof(at.address));
	return bound(endpoints, &at, sockets, size);
}

/* At its address and port, else at its port, is a socket that a process holds; 0: there is none. */
static uint64_t holder_of_listener(struct nt_endpoints *endpoints, const struct nt_socket_at *accepted)
{
	const struct nt_socket_at *sockets;
	struct nt_endpoint at = accepted->at;
	uint64_t process = 0;

	at.peer_port = 0;
	memset(at.peer, 0, sizeof(at.peer));
	for (int is_any = 0; is_any < 2 && !process; is_any++) {
		const size_t n = count_at(endpoints, &at, &sockets);

		for (size_t i = 0; i < n && i < MAX_LISTENERS && !process; i++)
			process = nt_id_map_get(&endpoints->holders, sockets[i].socket);
		memset(at.address, 0, sizeof(at.address));
	}
	return process;
}

uint64_t nt_endpoints_holder(struct nt_endpoints *endpoints, uint64_t socket)
{
	struct nt_socket_at at = {.socket = socket};
	const struct nt_socket_at *const key = &at, *const * found;
	uint64_t process = nt_id_map_get(&endpoints->holders, socket);

	if (!process && endpoints->n_sockets) {
		if (!endpoints->is_sorted)
			sort(endpoints);
		found = bsearch(&key, endpoints->accepted, endpoints->n_accepted, sizeof(key), by_socket);
		process = found ? holder_of_listener(endpoints, *found) : 0;
	}
	return process ? process : NT_NO_TASK;
}

uint8_t nt_endpoints_protocol(struct nt_endpoints *endpoints, uint64_t flow)
{
	const struct nt_flow_to *to = find_flow(endpoints, flow);

	return to ? to->protocol : NO_PROTOCOL;
}

bool nt_endpoints_is_of_one(struct nt_endpoints *endpoints, uint64_t flow)
{
	const struct nt_flow_to *to = find_flow(endpoints, flow);

	return !to || !to->is_many || to->is_of_one;
}

uint64_t nt_endpoints_device(struct nt_endpoints *endpoints, uint64_t flow)
{
	const struct nt_flow_to *to = find_flow(endpoints, flow);

	return to ? to->device : 0;
}

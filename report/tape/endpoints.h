/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * endpoints.h - which socket a flow's packets go to: as the kernel was seen to deliver them, else by addresses and
 * ports, a guess: to the one connected to their sender, else to those bound to their address and port, else to the port
 * alone. A connection may also be in another network namespace than the device, as behind macvlan, or where a program
 * hands packets to a container: if only one has it, that is the one. Pure. Memory: some 100 bytes for each flow, and 80
 * for each address that a socket had; 30 for each socket that a flow was delivered to.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/util/id_map.h"
#include "schema/event.h"

/* One end of a connection as its socket sees it; with nothing of the other end: a bound address. Without padding. */
struct nt_endpoint {
	uint32_t netns;
	uint16_t protocol;
	uint16_t port, peer_port, zero;
	uint8_t address[16], peer[16]; /* IPv4 as IPv6 has it, ::ffff:192.0.2.1 */
};

struct nt_socket_at {
	struct nt_endpoint at;
	uint64_t since_ns, socket;
};

struct nt_flow_to {
	uint64_t flow, device;
	struct nt_endpoint to;
	uint8_t protocol;
	bool is_inet;
	bool is_many; /* flows: their senders are not known */
	bool is_partly; /* of many: not all packets went to the sockets */
	bool is_of_one; /* once they are sorted: see nt_endpoints_is_of_one */
	size_t first_delivery; /* index, once they are sorted, of as many: */
	uint32_t n_deliveries;
	size_t newest; /* index + 1 of the delivery that was added last, or is the last of these; 0: none */
};

/* From then on the flow's packets went to this socket; 0: to too many. */
struct nt_delivery {
	uint64_t flow, since_ns, socket;
};

/* Zero-initialised is empty. */
struct nt_endpoints {
	struct nt_socket_at *sockets;
	size_t n_sockets, sockets_size;
	struct nt_socket_at **connected; /* those of them that are, by address without the namespace */
	struct nt_socket_at **accepted; /* the same that no process is known to hold, by the socket */
	size_t n_connected, connected_size, n_accepted, accepted_size;
	struct nt_flow_to *flows;
	size_t n_flows, flows_size;
	struct nt_id_map by_flow; /* index + 1 in `flows` */
	struct nt_delivery *deliveries;
	size_t n_deliveries, deliveries_size;
	struct nt_id_map local; /* where some flow was delivered: hashes of namespace and address */
	struct nt_id_map holders; /* of sockets: the process */
	bool is_sorted;
};

void nt_endpoints_release(struct nt_endpoints *endpoints);
/* Each gives 0 or -ENOMEM. Of a socket that comes again, the last process that holds it counts. */
int nt_endpoints_add_socket(struct nt_endpoints *endpoints, const struct nt_socket *socket);
int nt_endpoints_add_flow(struct nt_endpoints *endpoints, const struct nt_flow *flow);
/*
 * The socket that the kernel was seen to deliver the flow's packets to, last by that time, or first, if it was to none
 * by then; 0: it was seen by none, or went to too many.
 */
uint64_t nt_endpoints_delivered_to(struct nt_endpoints *endpoints, uint64_t flow, uint64_t at_ns);
/*
 * The sockets that the flow's packets may have gone to at that time by their addresses: one connected to the sender, or
 * as many as share the address. The port alone counts for packets to several receivers (multicast, broadcast), and
 * where the address is known to be the host's own, since packets were delivered there; or if the kernel told of no
 * delivery in the whole recording. Up to `size` of them. Gives how many; 0: no socket is known, or the flow is not.
 */
size_t nt_endpoints_sockets(struct nt_endpoints *endpoints, uint64_t flow, uint64_t at_ns, uint64_t *sockets,
			    size_t size);
/*
 * The process that holds a socket, or made it; of a connection that nobody accepted, the one that holds the listener.
 * NT_NO_TASK: none is known.
 */
uint64_t nt_endpoints_holder(struct nt_endpoints *endpoints, uint64_t socket);
/*
 * Whether what is known of the flow holds for all of its packets. Where flows are too many the recorder counts them as
 * one: then only if all of those to an address and port went to one socket.
 */
bool nt_endpoints_is_of_one(struct nt_endpoints *endpoints, uint64_t flow);
/* The device that received the flow's packets; 0: not known. */
uint64_t nt_endpoints_device(struct nt_endpoints *endpoints, uint64_t flow);
/* The flow's protocol above IP; 255: it has none, or is not known. */
uint8_t nt_endpoints_protocol(struct nt_endpoints *endpoints, uint64_t flow);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * endpoints.h - which socket a flow's packets go to, by addresses and ports: to the one connected to their sender, else
 * to those bound to their address and port, else to the port alone. A connection may also be in another network
 * namespace than the device, as behind macvlan, or where a program hands packets to a container: if only one has it,
 * that is the one. Pure. Memory: some 80 bytes for each flow, and for each address that a socket had.
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
};

/* Zero-initialised is empty. */
struct nt_endpoints {
	struct nt_socket_at *sockets;
	size_t n_sockets, sockets_size;
	struct nt_socket_at **connected; /* those of them that are, by address without the namespace */
	size_t n_connected, connected_size;
	struct nt_flow_to *flows;
	size_t n_flows, flows_size;
	struct nt_id_map holders; /* of sockets: the process */
	bool is_sorted;
};

void nt_endpoints_release(struct nt_endpoints *endpoints);
/* Each gives 0 or -ENOMEM. Of a socket that comes again, the last process that holds it counts. */
int nt_endpoints_add_socket(struct nt_endpoints *endpoints, const struct nt_socket *socket);
int nt_endpoints_add_flow(struct nt_endpoints *endpoints, const struct nt_flow *flow);
/*
 * The sockets that the flow's packets went to at that time, one connected to the sender, or as many as share the
 * address. Up to `size` of them. Gives how many; 0: no socket is known, or the flow is not.
 */
size_t nt_endpoints_sockets(struct nt_endpoints *endpoints, uint64_t flow, uint64_t at_ns, uint64_t *sockets,
			    size_t size);
/* The process that holds a socket, or made it; NT_NO_TASK: none is known. */
uint64_t nt_endpoints_holder(struct nt_endpoints *endpoints, uint64_t socket);
/* The device that received the flow's packets; 0: not known. */
uint64_t nt_endpoints_device(struct nt_endpoints *endpoints, uint64_t flow);
/* The flow's protocol above IP; 255: it has none, or is not known. */
uint8_t nt_endpoints_protocol(struct nt_endpoints *endpoints, uint64_t flow);

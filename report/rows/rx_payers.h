/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rx_payers.h - who pays what a flow is charged for (docs/charging.md, from flow to payer): the socket that the kernel
 * delivered its packets to, else those that its addresses name, which is a guess and so never exact; of each socket the
 * processes that received from it within a second before, by their bytes; else the one that received last; else the one
 * that used it first; else the one that holds it; else none, and then the socket's cgroup tells more. Pure. Memory:
 * some 40 bytes for each socket and process that used it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/rows/rollup.h"
#include "report/tape/endpoints.h"
#include "report/util/id_map.h"

/*
 * X(NUMBER, CONSTANT, name): who pays, or what became of packets. Numbers are this program's own; the names are in
 * databases.
 */
#define NT_PAYERS(X)                                                                                                   \
	X(0, SOCKET, socket)                                                                                           \
	X(1, FORWARDED, forwarded)                                                                                     \
	X(2, DROPPED, dropped)                                                                                         \
	X(3, OTHER, other)                                                                                             \
	X(4, DRIVER, driver)                                                                                           \
	X(5, UNATTRIBUTED, unattributed)

enum nt_payer {
#define X(number, constant, name) NT_PAYER_##constant = number,
	NT_PAYERS(X)
#undef X
};

const char *nt_payer_name(enum nt_payer payer);
/* NT_PAYER_UNATTRIBUTED: none has this name. */
enum nt_payer nt_payer_number(const char *name);

/* A part of what a flow was charged for: cost has the payer's share of the times and numbers. */
struct nt_rx_paid {
	const struct nt_rx_cost *cost;
	enum nt_payer payer;
	uint64_t socket; /* 0: none */
	uint64_t process; /* NT_NO_TASK: none is known */
	uint64_t device; /* that the packets came in by; 0: not known */
	bool has_reason; /* why they were dropped: */
	uint32_t reason; /* the kernel's number of it */
	const char *reason_name; /* its word, for the caller to fill in; NULL: not known */
};

/* The knowledge about flows. */
struct nt_rx_flows {
	struct nt_endpoints *endpoints;
	struct nt_socket_users *users;
	bool has_refusal; /* the kernel's number for "no socket has this port" is known, and is */
	uint32_t refusal;
};

/* Zero-initialised is empty. */
struct nt_socket_users {
	struct nt_id_map first; /* of a socket: the index of its first user + 1 */
	struct nt_socket_user {
		/* Bytes, and the bucket of time when it received last: what is older counts half for each bucket. */
		uint64_t process, received, bucket;
		size_t next; /* index + 1; 0: none */
	} * users;
	size_t n, size;
};

void nt_socket_users_release(struct nt_socket_users *users);
/* Notes that the process used the socket then, and received so much. 0 or -ENOMEM. */
int nt_socket_users_add(struct nt_socket_users *users, uint64_t socket, uint64_t process, uint64_t at_ns,
			uint64_t received);
/* Forgets those that used a socket last before that time. 0 or -ENOMEM, and then it knows all that it knew. */
int nt_socket_users_forget(struct nt_socket_users *users, uint64_t before_ns);

/*
 * The socket that the cost names pays; if it names none, the sockets by the flow's addresses, and nothing of that is
 * exact. Forwarded packets are not paid by a socket, nor are those that the kernel dropped because no socket has their
 * port; other packets are paid by their socket, whatever became of them.
 *
 * Calls `give` with each payer's part of the cost. A result other than 0 ends that, and is given. The parts add up to
 * the cost, but for most_ns: each payer's part of that is bounded by all of it where several pay. NT_RX_LATER: it is
 * not paid.
 */
#define NT_RX_LATER 1
/* If nobody has used any of the sockets. */
enum nt_rx_unused {
	NT_RX_WAIT, /* nobody pays now */
	NT_RX_PAY, /* whoever holds them pays, or nobody */
	NT_RX_HOLDERS /* whoever holds them pays; if that is not known, nobody pays now */
};
int nt_rx_pay(const struct nt_rx_flows *flows, const struct nt_rx_cost *cost, enum nt_rx_unused unused,
	      int (*give)(void *arg, const struct nt_rx_paid *paid), void *arg);

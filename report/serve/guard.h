/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * guard.h - whether a request is answered. A tape tells names and addresses, and every user of the host reaches a local
 * port: so a request must know the token. Pages of others reach it too, through a browser (DNS rebinding): so the name
 * that the client knows the server by must be one of ours. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct nt_guard {
	const char *token; /* NULL: only its owner reaches the socket, by no name. No request is refused. */
	const char *const *names; /* of hosts, beside addresses and localhost */
	size_t n_names;
};

/* What it says of itself; NULL: nothing. */
struct nt_request {
	const char *host; /* the header: "localhost:9477" */
	const char *authorization; /* the header: "Bearer TOKEN" */
	const char *token; /* in the URL */
};

/* The status of HTTP that refuses it: 403 for the name, 401 for the token. 0: it is to be answered. */
unsigned int nt_guard_refuses(const struct nt_guard *guard, const struct nt_request *request);

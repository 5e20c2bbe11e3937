/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * http.h - answers requests, by libmicrohttpd, on a thread of its own: with the metrics that were published last, with
 * the live page, or with what the page shows, out of the history. So a request costs no pass over a tape, and waits for
 * none; but for a query, which rests until queries.h has its answer. Pages of others may not show, frame or read what
 * is answered.
 *
 * Memory is for the answer, and some kilobytes for each of at most NT_HTTP_CONNECTIONS_MAX connections. Each
 * ends with its answer, or after ten seconds, however slowly its client goes on; the time of a query does not count.
 * Eight queries may wait, run, or have an answer that is not yet sent.
 */
#pragma once

#include <stddef.h>

#include "report/serve/guard.h"
#include "report/serve/history.h"
#include "report/serve/queries.h"
#include "report/util/fail.h"

#define NT_HTTP_CONNECTIONS_MAX 512

struct nt_http;

/* Answers what comes in at `listener`, a socket that stays the caller's, as `guard` says. Guard, history and queries
 * must outlive it. `queries` NULL: none are answered. NULL and a sentence. Signals come to the caller's thread. */
struct nt_http *nt_http_start(int listener, const struct nt_guard *guard, struct nt_history *history,
			      struct nt_queries *queries, char error[NT_ERROR_MAX]);
/* Ends queries, too. Safe on NULL. */
void nt_http_stop(struct nt_http *http);
/*
 * From now on, /metrics is this text, with a status of HTTP. Takes the text, which is malloc's, in any case. 0, or -1:
 * out of memory; the answer stays what it was.
 */
int nt_http_publish(struct nt_http *http, unsigned int status, char *text, size_t size);
/* Ends the connections that have taken too long. To be called each second or so. */
void nt_http_end_late(struct nt_http *http);

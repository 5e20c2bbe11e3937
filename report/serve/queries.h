/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * queries.h - runs queries on the tape that is followed, one after the other, each in a process of its own
 * (util/process.h, cmd/answer.h). That process has bounds: time, memory, temporary files, and the size of its answer.
 * It gets less of a busy host than others do, and ends when its client has gone.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "report/util/fail.h"

/* nettape-serve's first argument in this process, which reads the SQL from standard input; the tape is the second. */
#define NT_QUERY_ARGUMENT "--answer"
/* These end a result, beside the bounds of the process. */
#define NT_QUERY_ROWS 10000
#define NT_QUERY_BYTES (4u << 20)
#define NT_QUERY_ANSWER_MIB 8

struct nt_queries;

/* One query. From nt_queries_ask until `done` is called it must stay where it is, with its SQL and its client. */
struct nt_query {
	const char *sql;
	size_t size;
	int client; /* a socket: when its other end is closed, no answer is needed */
	/* The answer is there. Called once, on any thread. */
	void (*done)(struct nt_query *query);
	unsigned int status; /* of HTTP: 200 and JSON, else a sentence */
	char *text; /* its owner's to free; NULL: out of memory */
	size_t text_size;
	struct nt_query *next;
};

/* Signals come to the caller's thread. NULL and a sentence. `time_ns`: for so long a query may run. */
struct nt_queries *nt_queries_start(int64_t time_ns, char error[NT_ERROR_MAX]);
/* Those that wait, and those that come from now on, are told that the server ends. Both are safe on NULL, and may be
 * called after it. */
void nt_queries_end(struct nt_queries *queries);
void nt_queries_free(struct nt_queries *queries);
/* From now on they are of this tape; NULL: there is none. 0, or -1: out of memory. */
int nt_queries_set_tape(struct nt_queries *queries, const char *path);
/* Its turn comes behind those that wait: they have no bound here. */
void nt_queries_ask(struct nt_queries *queries, struct nt_query *query);
/* Those that wait and whose clients have left wait no more. To be called each second or so. */
void nt_queries_end_left(struct nt_queries *queries);

// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - nettape-serve: follows a tape while it is recorded, and answers requests with what it costs. This thread
 * follows, another one answers (http.h).
 */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/cmd/answer.h"
#include "report/out/complain.h"
#include "report/out/interrupt.h"
#include "report/serve/follower.h"
#include "report/serve/guard.h"
#include "report/serve/http.h"
#include "report/serve/listener.h"
#include "report/serve/options.h"
#include "report/serve/queries.h"
#include "report/serve/tape_choice.h"
#include "report/serve/token.h"

static int out_of_memory(void)
{
	return nt_complain("out of memory.");
}

static int follow(struct nt_follower *follower, struct nt_http *http, struct nt_queries *queries)
{
	struct nt_page page;
	bool is_behind;

	while (!nt_interrupted()) {
		/* The tape comes first: whoever has seen figures of it may ask for more. */
		if (nt_follower_look(follower, &page, &is_behind) ||
		    (queries && nt_queries_set_tape(queries, nt_follower_tape(follower))) ||
		    (page.text && nt_http_publish(http, page.status, page.text, page.size)))
			return out_of_memory();
		nt_http_end_late(http);
		if (!is_behind)
			nt_interrupt_sleep();
	}
	return NT_EXIT_DONE;
}

/* Where it is, and what a request needs. A journal that others read does not get a token that is kept. */
static void tell(const struct nt_serve_options *options, const char *token)
{
	const char *sql = options->query_ns ? "; SQL: /api/query" : "";
	char name[NT_LISTENER_NAME_MAX];

	nt_listener_name(&options->listener, name);
	if (nt_listener_is_unix(&options->listener))
		printf("nettape-serve: curl --unix-socket %s http://localhost/metrics%s\n", name, sql);
	else if (options->token_file)
		printf("nettape-serve: http://%s/?token=... (the token is in %s); for Prometheus: /metrics%s\n", name,
		       options->token_file, sql);
	else
		printf("nettape-serve: http://%s/?token=%s (a page; for Prometheus: /metrics%s)\n", name, token, sql);
	if (!nt_listener_is_local(&options->listener))
		nt_complain("other hosts reach %s, and on the way to them token and figures can be read: "
			    "a proxy with TLS before 127.0.0.1 keeps them secret.",
			    name);
}

/* While it follows, another thread answers. */
static int answer(struct nt_serve_options *options, const struct nt_guard *guard, struct nt_follower *follower,
		  struct nt_history *history, struct nt_queries *queries)
{
	char error[NT_ERROR_MAX];
	struct nt_http *http;
	int code;

	/* A reader of our output that is gone ends nothing. */
	signal(SIGPIPE, SIG_IGN);
	/* Threads that answer have signals blocked, and this one notes them. */
	nt_interrupt_waits();
	http = nt_http_start(options->listener.fd, guard, history, queries, error);
	if (http)
		tell(options, guard->token);
	code = http ? follow(follower, http, queries) : nt_complain("%s", error);
	/* While this one still answers, so that the next one takes it for no socket that was left. */
	nt_listener_close(&options->listener);
	nt_http_stop(http);
	return code;
}

static int answer_queries_too(struct nt_serve_options *options, const struct nt_guard *guard,
			      struct nt_follower *follower, struct nt_history *history)
{
	char error[NT_ERROR_MAX];
	struct nt_queries *queries = nt_queries_start(options->query_ns, error);
	int code;

	if (!queries)
		return nt_complain("%s", error);
	code = answer(options, guard, follower, history, queries);
	nt_queries_free(queries);
	return code;
}

static int serve(struct nt_serve_options *options, const struct nt_guard *guard)
{
	struct nt_history *history = nt_history_new();
	struct nt_follower *follower = history ? nt_follower_new(options->path, (size_t)options->limit, history) : NULL;
	int code;

	if (!follower)
		code = out_of_memory();
	else if (options->query_ns)
		code = answer_queries_too(options, guard, follower, history);
	else
		code = answer(options, guard, follower, history, NULL);
	nt_follower_free(follower);
	nt_history_free(history);
	return code;
}

/* Requests by a Unix socket need none. */
static int choose_token(const struct nt_serve_options *options, struct nt_guard *guard, char token[NT_TOKEN_MAX],
			char error[NT_ERROR_MAX])
{
	if (nt_listener_is_unix(&options->listener))
		return 0;
	guard->token = token;
	return options->token_file ? nt_token_of_file(options->token_file, token, error) : nt_token_new(token, error);
}

static int open_and_serve(struct nt_serve_options *options)
{
	char error[NT_ERROR_MAX], token[NT_TOKEN_MAX];
	struct nt_guard guard = {.names = options->names, .n_names = options->n_names};
	int code;

	if (nt_tape_choice_check(options->path, error) || nt_listener_open(&options->listener, error) ||
	    choose_token(options, &guard, token, error))
		code = nt_complain("%s", error);
	else
		code = serve(options, &guard);
	nt_listener_close(&options->listener);
	return code;
}

/* The process of one query. */
static int answer_query(const char *tape)
{
	static const struct nt_sql_bounds bounds = {.rows = NT_QUERY_ROWS, .bytes = NT_QUERY_BYTES};
	char *sql;
	int code;

	/* Its sentences go to whoever asked. */
	nt_complain_as(NULL);
	sql = nt_sql_read(stdin, "the query");
	code = sql ? nt_answer(tape, NULL, sql, &bounds) : NT_EXIT_MISUSED;
	free(sql);
	return code;
}

int main(int argc, char **argv)
{
	struct nt_serve_options options;
	int exit_status;

	if (argc == 3 && !strcmp(argv[1], NT_QUERY_ARGUMENT))
		return answer_query(argv[2]);
	nt_complain_as("nettape-serve");
	/* As nettape-report: large buffers go back to the system. */
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	/* Lines go out at once, also into a pipe or a journal. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	return nt_serve_options_read(&options, argc, argv, &exit_status) ? open_and_serve(&options) : exit_status;
}

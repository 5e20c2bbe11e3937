// SPDX-License-Identifier: GPL-2.0-only
/* queries.c - see queries.h. */
#include "report/serve/queries.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/cmd/answer.h"
#include "report/out/complain.h"
#include "report/util/process.h"

#define OK 200
#define BAD_REQUEST 400
#define FAILED 500
#define UNAVAILABLE 503
#define MIB (1UL << 20)
#define SENTENCE_MAX 16384u /* an unknown column is answered with those that there are */
#define NICE 5 /* a third of the weight of others, so that a busy host answers, too */
#define NS_IN_S 1000000000

struct nt_queries {
	int64_t time_ns;
	pthread_t thread;
	int end; /* an eventfd: it can be read when queries are to end */
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t has_come;
	struct nt_query *first, **behind; /* those that wait */
	char *tape; /* NULL: there is none */
	bool has_ended;
};

/* ---- answers ---- */

static void fail(struct nt_query *query, unsigned int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void fail(struct nt_query *query, unsigned int status, const char *format, ...)
{
	va_list args;
	int size;

	query->status = status;
	va_start(args, format);
	size = vasprintf(&query->text, format, args);
	va_end(args);
	if (size < 0)
		query->text = NULL;
	query->text_size = query->text ? (size_t)size : 0;
}

/* ---- the process ---- */

/* How a query ended. */
enum outcome { AS_PROCESS, CLIENT_LEFT, SERVER_ENDS };

/* In the new process: no lock that another thread may hold is taken here. */
static int become_answer(void *tape)
{
	char name[] = "nettape-serve", argument[] = NT_QUERY_ARGUMENT;

	execv("/proc/self/exe", (char *const[]){name, argument, tape, NULL});
	return NT_EXIT_FAILED;
}

/* A file in memory that holds the SQL; -1: errno. */
static int file_of(const struct nt_query *query)
{
	const int fd = memfd_create("nettape query", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, query->sql, query->size) == (ssize_t)query->size && !lseek(fd, 0, SEEK_SET))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* 0, or -1: errno. */
static int start_process(struct nt_process *process, const struct nt_query *query, char *tape, int64_t time_ns)
{
	const struct nt_process_bounds bounds = {
		.time_ns = time_ns,
		.memory_bytes = NT_ANSWER_MEMORY_MIB * MIB,
		.out_bytes = NT_QUERY_ANSWER_MIB * MIB,
		.err_bytes = SENTENCE_MAX,
		.nice = NICE,
	};
	const int sql = file_of(query);
	int error;

	if (sql < 0)
		return -1;
	error = nt_process_start(process, &bounds, sql, become_answer, tape);
	close(sql);
	return error;
}

/* Takes what it writes, until it ends, or is to be ended. */
static enum outcome collect(struct nt_process *process, const struct nt_query *query, int end)
{
	while (process->state == NT_PROCESS_RUNS) {
		struct pollfd polled[NT_PROCESS_FDS + 2];
		struct pollfd *const client = polled + NT_PROCESS_FDS, *const ends = client + 1;

		nt_process_poll(process, polled);
		*client = (struct pollfd){.fd = query->client, .events = POLLRDHUP};
		*ends = (struct pollfd){.fd = end, .events = POLLIN};
		if (poll(polled, NT_PROCESS_FDS + 2, nt_process_left_ms(process)) < 0)
			continue;
		if (ends->revents)
			return SERVER_ENDS;
		if (client->revents)
			return CLIENT_LEFT;
		nt_process_take(process, polled);
	}
	return AS_PROCESS;
}

/* ---- one query ---- */

/* It has said why. */
static void fail_as_said(struct nt_query *query, unsigned int status, const struct nt_process_stream *said)
{
	if (said->size)
		fail(query, status, "%.*s", (int)said->size, said->text);
	else
		fail(query, FAILED, "The query's process cannot be started.\n");
}

static void fail_by_signal(struct nt_query *query, int signal)
{
	if (signal == SIGXFSZ)
		fail(query, BAD_REQUEST, "The query needs a temporary file of more than %d MiB.\n",
		     NT_ANSWER_MEMORY_MIB);
	else
		fail(query, FAILED, "The query's process was ended by signal %d, %s.\n", signal, strsignal(signal));
}

/* Of a process that has ended by itself. The answer takes the text. */
static void answer_by_status(struct nt_query *query, struct nt_process *process, int status)
{
	if (WIFSIGNALED(status)) {
		fail_by_signal(query, WTERMSIG(status));
	} else if (WEXITSTATUS(status) == NT_EXIT_DONE) {
		query->status = OK;
		query->text = process->out.text;
		query->text_size = process->out.size;
		process->out.text = NULL;
	} else {
		fail_as_said(query, WEXITSTATUS(status) == NT_EXIT_MISUSED ? BAD_REQUEST : UNAVAILABLE, &process->err);
	}
}

static void answer_by_process(struct nt_query *query, struct nt_process *process, int status, int64_t time_ns)
{
	switch (process->state) {
	case NT_PROCESS_RUNS:
	case NT_PROCESS_ENDED:
		answer_by_status(query, process, status);
		break;
	case NT_PROCESS_LATE:
		fail(query, UNAVAILABLE,
		     "The query took more than %.10g s: nettape-serve --queries allows more. "
		     "A shorter time (WHERE ts > ...) takes less.\n",
		     (double)time_ns / NS_IN_S);
		break;
	case NT_PROCESS_TOO_LONG:
		fail(query, BAD_REQUEST,
		     "The answer is longer than %d MiB, in spite of the bound on its rows: "
		     "one row of it is too long.\n",
		     NT_QUERY_ANSWER_MIB);
		break;
	case NT_PROCESS_NO_MEMORY:
		query->status = FAILED;
		break;
	}
}

static void refuse_left(struct nt_query *query)
{
	/* It may still read. */
	fail(query, BAD_REQUEST, "The client has closed its end, and with it its query.\n");
}

static void refuse_at_end(struct nt_query *query)
{
	fail(query, UNAVAILABLE, "The server ends.\n");
}

static void run(struct nt_queries *queries, struct nt_query *query, char *tape)
{
	struct nt_process process;
	enum outcome outcome;
	int status;

	if (start_process(&process, query, tape, queries->time_ns)) {
		fail(query, FAILED, "The query's process cannot be started: %s.\n", strerror(errno));
		return;
	}
	outcome = collect(&process, query, queries->end);
	status = nt_process_end(&process);
	if (outcome == CLIENT_LEFT)
		refuse_left(query);
	else if (outcome == SERVER_ENDS)
		refuse_at_end(query);
	else
		answer_by_process(query, &process, status, queries->time_ns);
	nt_process_release(&process);
}

/* ---- one after the other ---- */

/* Waits for one. *tape is a copy, the caller's to free; NULL: there is no tape, or *is_short of memory. NULL: they are
 * to end, and none waits. */
static struct nt_query *next(struct nt_queries *queries, char **tape, bool *is_short)
{
	struct nt_query *query;

	pthread_mutex_lock(&queries->lock);
	while (!queries->first && !queries->has_ended)
		pthread_cond_wait(&queries->has_come, &queries->lock);
	query = queries->first;
	*tape = NULL;
	if (query) {
		queries->first = query->next;
		if (!queries->first)
			queries->behind = &queries->first;
		*tape = queries->tape ? strdup(queries->tape) : NULL;
	}
	*is_short = queries->tape && !*tape;
	pthread_mutex_unlock(&queries->lock);
	return query;
}

static void *run_all(void *arg)
{
	struct nt_queries *queries = arg;
	struct nt_query *query;
	bool is_short;
	char *tape;

	while ((query = next(queries, &tape, &is_short))) {
		if (tape)
			run(queries, query, tape);
		else if (is_short)
			fail(query, FAILED, "The server has no memory for the query.\n");
		else
			fail(query, UNAVAILABLE, "There is no tape yet: /metrics says why.\n");
		free(tape);
		query->done(query);
	}
	return NULL;
}

void nt_queries_ask(struct nt_queries *queries, struct nt_query *query)
{
	bool has_ended;

	query->next = NULL;
	pthread_mutex_lock(&queries->lock);
	has_ended = queries->has_ended;
	if (!has_ended) {
		*queries->behind = query;
		queries->behind = &query->next;
		pthread_cond_signal(&queries->has_come);
	}
	pthread_mutex_unlock(&queries->lock);
	if (!has_ended)
		return;
	refuse_at_end(query);
	query->done(query);
}

/* Takes those from the list whose clients have left. */
static struct nt_query *take_left(struct nt_queries *queries)
{
	struct nt_query *left = NULL, **at = &queries->first, *query;

	while ((query = *at)) {
		if (poll(&(struct pollfd){.fd = query->client, .events = POLLRDHUP}, 1, 0) > 0) {
			*at = query->next;
			query->next = left;
			left = query;
		} else {
			at = &query->next;
		}
	}
	queries->behind = at;
	return left;
}

void nt_queries_end_left(struct nt_queries *queries)
{
	struct nt_query *left, *query;

	pthread_mutex_lock(&queries->lock);
	left = take_left(queries);
	pthread_mutex_unlock(&queries->lock);
	while ((query = left)) {
		left = query->next;
		refuse_left(query);
		query->done(query);
	}
}

int nt_queries_set_tape(struct nt_queries *queries, const char *path)
{
	char *before = NULL, *copy;

	/* No other thread changes it. */
	if (path && queries->tape ? !strcmp(path, queries->tape) : path == queries->tape)
		return 0;
	copy = path ? strdup(path) : NULL;
	if (path && !copy)
		return -1;
	pthread_mutex_lock(&queries->lock);
	before = queries->tape;
	queries->tape = copy;
	pthread_mutex_unlock(&queries->lock);
	free(before);
	return 0;
}

/* ---- begin and end ---- */

static int start_thread(struct nt_queries *queries)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	error = pthread_create(&queries->thread, NULL, run_all, queries);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

struct nt_queries *nt_queries_start(int64_t time_ns, char error[NT_ERROR_MAX])
{
	struct nt_queries *queries = calloc(1, sizeof(*queries));
	int why = ENOMEM;

	/* Whoever started us may have left it ignored: then the status of a process is lost. */
	signal(SIGCHLD, SIG_DFL);
	if (queries) {
		queries->time_ns = time_ns;
		queries->behind = &queries->first;
		pthread_mutex_init(&queries->lock, NULL);
		pthread_cond_init(&queries->has_come, NULL);
		queries->end = eventfd(0, EFD_CLOEXEC);
		why = queries->end < 0 ? errno : start_thread(queries);
	}
	if (!why)
		return queries;
	nt_fail(error, "no queries can be answered: %s.", strerror(why));
	if (queries)
		queries->has_ended = true; /* there is no thread */
	nt_queries_free(queries);
	return NULL;
}

void nt_queries_end(struct nt_queries *queries)
{
	if (!queries || queries->has_ended)
		return;
	pthread_mutex_lock(&queries->lock);
	queries->has_ended = true;
	pthread_cond_signal(&queries->has_come);
	pthread_mutex_unlock(&queries->lock);
	eventfd_write(queries->end, 1);
	pthread_join(queries->thread, NULL);
}

void nt_queries_free(struct nt_queries *queries)
{
	if (!queries)
		return;
	nt_queries_end(queries);
	if (queries->end >= 0)
		close(queries->end);
	pthread_cond_destroy(&queries->has_come);
	pthread_mutex_destroy(&queries->lock);
	free(queries->tape);
	free(queries);
}

// SPDX-License-Identifier: GPL-2.0-only
/* queries.c - see queries.h. */
#include "report/serve/queries.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/out/complain.h"
#include "report/serve/answer.h"
#include "report/util/array.h"
#include "report/util/now.h"

#define OK 200
#define BAD_REQUEST 400
#define FAILED 500
#define UNAVAILABLE 503
#define MIB (1UL << 20)
#define SENTENCE_MAX 16384u /* an unknown column is answered with those that there are */
#define NICE 5 /* a third of the weight of others, so that a busy host answers, too */
#define STEP 65536u
#define NS_IN_MS 1000000
#define NS_IN_S 1000000000

#if defined(__SANITIZE_ADDRESS__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false /* true: there is memory that the bound would count, and the query does not have */
#endif

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

/* What a process writes. */
struct stream {
	int fd;
	char *text;
	size_t size, room, most;
};

enum outcome { ENDED, LATE, TOO_LONG, CLIENT_LEFT, SERVER_ENDS, NO_MEMORY };

struct process {
	pid_t pid;
	struct stream out, err;
};

static void limit(int resource, rlim_t most)
{
	const struct rlimit value = {.rlim_cur = most, .rlim_max = most};

	setrlimit(resource, &value);
}

/* In the new process: no lock that another thread may hold is taken here. */
static void become_answer(char *const *words, const int fds[3], int64_t time_ns)
{
	/* That nothing which is left ignored stops it from ending. */
	static const int ending[] = {SIGPIPE, SIGXCPU, SIGXFSZ};
	sigset_t none;

	for (int fd = 0; fd < 3; fd++)
		dup2(fds[fd], fd);
	syscall(SYS_close_range, 3u, ~0u, 0u);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; i < NT_COUNT(ending); i++)
		signal(ending[i], SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpriority(PRIO_PROCESS, 0, NICE);
	limit(RLIMIT_CORE, 0);
	/* Should nobody be there any more who ends it. Threads of it read ahead. */
	limit(RLIMIT_CPU, (rlim_t)(time_ns / NS_IN_S + 1) * 4);
	limit(RLIMIT_FSIZE, NT_QUERY_MEMORY_MIB * MIB);
	if (!IS_SANITIZED)
		limit(RLIMIT_DATA, NT_QUERY_MEMORY_MIB * MIB);
	execv("/proc/self/exe", words);
	_exit(NT_EXIT_FAILED);
}

static void close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
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
static int start_process(struct process *process, const struct nt_query *query, char *tape, int64_t time_ns)
{
	char name[] = "nettape-serve", argument[] = NT_ANSWER_ARGUMENT;
	char *const words[] = {name, argument, tape, NULL};
	/* Its own three, and our ends of two. */
	int fds[] = {file_of(query), -1, -1, -1, -1};
	int out[2], err[2];

	if (fds[0] >= 0 && !pipe2(out, O_CLOEXEC)) {
		fds[1] = out[1];
		fds[3] = out[0];
		if (!pipe2(err, O_CLOEXEC)) {
			fds[2] = err[1];
			fds[4] = err[0];
		}
	}
	process->pid = fds[4] >= 0 ? fork() : -1;
	if (!process->pid)
		become_answer(words, fds, time_ns);
	close_all(fds, process->pid > 0 ? 3 : 5);
	process->out = (struct stream){.fd = fds[3], .most = NT_QUERY_ANSWER_MIB * MIB};
	process->err = (struct stream){.fd = fds[4], .most = SENTENCE_MAX};
	return process->pid > 0 ? 0 : -1;
}

static enum outcome grow(struct stream *stream)
{
	const size_t room = stream->room ? 2 * stream->room : STEP;
	char *text = realloc(stream->text, room);

	if (!text)
		return NO_MEMORY;
	stream->text = text;
	stream->room = room;
	return ENDED;
}

/* Takes what is there. ENDED: all is well. At its end the stream has no descriptor. */
static enum outcome take(struct stream *stream)
{
	ssize_t size;

	if (stream->size == stream->room && grow(stream) != ENDED)
		return NO_MEMORY;
	size = read(stream->fd, stream->text + stream->size, stream->room - stream->size);
	if (size > 0)
		stream->size += (size_t)size;
	else if (!size || errno != EINTR) {
		close(stream->fd);
		stream->fd = -1;
	}
	return stream->size > stream->most ? TOO_LONG : ENDED;
}

static int left_ms(uint64_t end_ms)
{
	const uint64_t now = nt_now_ms();

	return now < end_ms ? (int)(end_ms - now) : 0;
}

/* Reads what it writes, until it ends, or is to be ended. */
static enum outcome collect(struct process *process, const struct nt_query *query, int end, int64_t time_ns)
{
	const uint64_t end_ms = nt_now_ms() + (uint64_t)(time_ns + NS_IN_MS - 1) / NS_IN_MS;
	struct stream *const streams[] = {&process->out, &process->err};
	enum outcome outcome = ENDED;

	while ((process->out.fd >= 0 || process->err.fd >= 0) && outcome == ENDED) {
		/* One without a descriptor is passed over. */
		struct pollfd polled[] = {{.fd = process->out.fd, .events = POLLIN},
					  {.fd = process->err.fd, .events = POLLIN},
					  {.fd = query->client, .events = POLLRDHUP},
					  {.fd = end, .events = POLLIN}};
		const int n = poll(polled, NT_COUNT(polled), left_ms(end_ms));

		if (!n)
			return LATE;
		if (n < 0)
			continue;
		if (polled[3].revents)
			return SERVER_ENDS;
		if (polled[2].revents)
			return CLIENT_LEFT;
		for (int i = 0; i < 2 && outcome == ENDED; i++) {
			if (polled[i].revents)
				outcome = take(streams[i]);
		}
	}
	return outcome;
}

/* ---- one query ---- */

/* It has said why. */
static void fail_as_said(struct nt_query *query, unsigned int status, const struct stream *said)
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
		     NT_QUERY_MEMORY_MIB);
	else
		fail(query, FAILED, "The query's process was ended by signal %d, %s.\n", signal, strsignal(signal));
}

/* Of a process that has ended by itself. The answer takes the text. */
static void answer_by_status(struct nt_query *query, struct process *process, int status)
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

static void answer(struct nt_query *query, struct process *process, enum outcome outcome, int status, int64_t time_ns)
{
	switch (outcome) {
	case ENDED:
		answer_by_status(query, process, status);
		break;
	case LATE:
		fail(query, UNAVAILABLE,
		     "The query took more than %.10g s: nettape-serve --queries allows more. "
		     "A shorter time (WHERE ts > ...) takes less.\n",
		     (double)time_ns / NS_IN_S);
		break;
	case TOO_LONG:
		fail(query, BAD_REQUEST,
		     "The answer is longer than %d MiB, in spite of the bound on its rows: "
		     "one row of it is too long.\n",
		     NT_QUERY_ANSWER_MIB);
		break;
	case NO_MEMORY:
		query->status = FAILED;
		break;
	case CLIENT_LEFT:
		/* It may still read. */
		fail(query, BAD_REQUEST, "The client has closed its end, and with it its query.\n");
		break;
	case SERVER_ENDS:
		fail(query, UNAVAILABLE, "The server ends.\n");
		break;
	}
}

static void run(struct nt_queries *queries, struct nt_query *query, char *tape)
{
	struct process process;
	enum outcome outcome;
	int status = W_EXITCODE(NT_EXIT_FAILED, 0);

	if (start_process(&process, query, tape, queries->time_ns)) {
		fail(query, FAILED, "The query's process cannot be started: %s.\n", strerror(errno));
		return;
	}
	outcome = collect(&process, query, queries->end, queries->time_ns);
	if (outcome != ENDED)
		kill(process.pid, SIGKILL);
	while (waitpid(process.pid, &status, 0) < 0 && errno == EINTR)
		;
	answer(query, &process, outcome, status, queries->time_ns);
	close_all((const int[]){process.out.fd, process.err.fd}, 2);
	free(process.out.text);
	free(process.err.text);
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
	answer(query, NULL, SERVER_ENDS, 0, queries->time_ns);
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
		answer(query, NULL, CLIENT_LEFT, 0, queries->time_ns);
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

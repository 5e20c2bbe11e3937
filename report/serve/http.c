// SPDX-License-Identifier: GPL-2.0-only
/* http.c - see http.h. */
#include "report/serve/http.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "report/util/array.h"
#include "report/util/now.h"

#define BEGIN "the tape is being opened.\n"
#define FILES_OF_TAPE 64
#define FILES_WANTED (NT_HTTP_CONNECTIONS_MAX + FILES_OF_TAPE)
#define MEMORY_OF_CONNECTION 16384u /* for a request's head */
#define LATE_MS 10000u /* as long as Prometheus waits unless told otherwise */

/* A connection. */
struct peer {
	struct peer *next, **at; /* where it hangs in the list */
	int fd;
	uint64_t since_ms; /* it began then */
};

struct nt_http {
	struct MHD_Daemon *daemon;
	const struct nt_guard *guard;
	pthread_mutex_t lock; /* of what follows */
	struct MHD_Response *metrics;
	unsigned int metrics_status;
	struct peer *peers;
};

/* ---- answers ---- */

/* With the headers that all have. Takes a text that is to be freed. NULL: out of memory. */
static struct MHD_Response *make_response(const char *text, size_t size, enum MHD_ResponseMemoryMode mode)
{
	static const char *const headers[][2] = {
		{MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8"},
		{MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
		/* Not every version of the library ends the connection by itself. */
		{MHD_HTTP_HEADER_CONNECTION, "close"},
		{"Content-Security-Policy",
		 "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"X-Content-Type-Options", "nosniff"},
		/* The URL may have the token. */
		{"Referrer-Policy", "no-referrer"},
	};
	struct MHD_Response *response = MHD_create_response_from_buffer(size, (void *)(uintptr_t)text, mode);
	bool is_whole = response;

	for (size_t i = 0; i < NT_COUNT(headers) && is_whole; i++)
		is_whole = MHD_add_response_header(response, headers[i][0], headers[i][1]) == MHD_YES;
	if (is_whole)
		return response;
	if (response)
		MHD_destroy_response(response);
	else if (mode == MHD_RESPMEM_MUST_FREE)
		free((void *)(uintptr_t)text);
	return NULL;
}

static const char *sentence_of(unsigned int status)
{
	switch (status) {
	case MHD_HTTP_UNAUTHORIZED:
		return "The token is missing or wrong: Authorization: Bearer TOKEN, or ?token=TOKEN in the URL.\n";
	case MHD_HTTP_FORBIDDEN:
		return "This server is not known by that name: nettape-serve --host NAME allows one.\n";
	case MHD_HTTP_METHOD_NOT_ALLOWED:
		return "Only GET and HEAD are answered.\n";
	default:
		return "There is only /metrics here.\n";
	}
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned int status)
{
	const char *text = sentence_of(status);
	struct MHD_Response *response = make_response(text, strlen(text), MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result = response ? MHD_YES : MHD_NO;

	if (result == MHD_YES && status == MHD_HTTP_UNAUTHORIZED)
		result = MHD_add_response_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (result == MHD_YES && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		result = MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	if (result == MHD_YES)
		result = MHD_queue_response(connection, status, response);
	if (response)
		MHD_destroy_response(response);
	return result;
}

/* 0: it gets the metrics. */
static unsigned int refuses(const struct nt_http *http, struct MHD_Connection *connection, const char *path,
			    const char *method)
{
	const struct nt_request request = {
		.host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST),
		.authorization =
			MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION),
		.token = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token"),
	};
	const unsigned int status = nt_guard_refuses(http->guard, &request);

	if (status)
		return status;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	return strcmp(path, "/metrics") != 0 ? MHD_HTTP_NOT_FOUND : 0;
}

/* Answers when the head is there. So no body is read, and the connection ends with the answer. */
static enum MHD_Result answer(void *arg, struct MHD_Connection *connection, const char *path, const char *method,
			      const char *version, const char *body, size_t *body_size, void **context)
{
	struct nt_http *http = arg;
	const unsigned int status = refuses(http, connection, path, method);
	enum MHD_Result result;

	(void)version;
	(void)body;
	(void)body_size;
	(void)context;
	if (status)
		return refuse(connection, status);
	pthread_mutex_lock(&http->lock);
	/* It stays as long as somebody reads it, also where another one is published. */
	result = MHD_queue_response(connection, http->metrics_status, http->metrics);
	pthread_mutex_unlock(&http->lock);
	return result;
}

int nt_http_publish(struct nt_http *http, unsigned int status, char *text, size_t size)
{
	struct MHD_Response *response = make_response(text, size, MHD_RESPMEM_MUST_FREE), *before;

	if (!response)
		return -1;
	pthread_mutex_lock(&http->lock);
	before = http->metrics;
	http->metrics = response;
	http->metrics_status = status;
	pthread_mutex_unlock(&http->lock);
	if (before)
		MHD_destroy_response(before);
	return 0;
}

/* ---- connections ---- */

static void add_peer(struct nt_http *http, struct MHD_Connection *connection, void **context)
{
	struct peer *peer = calloc(1, sizeof(*peer));

	*context = peer;
	if (!peer)
		return;
	peer->fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	peer->since_ms = nt_now_ms();
	pthread_mutex_lock(&http->lock);
	peer->next = http->peers;
	peer->at = &http->peers;
	if (peer->next)
		peer->next->at = &peer->next;
	http->peers = peer;
	pthread_mutex_unlock(&http->lock);
}

static void remove_peer(struct nt_http *http, struct peer *peer)
{
	pthread_mutex_lock(&http->lock);
	*peer->at = peer->next;
	if (peer->next)
		peer->next->at = peer->at;
	pthread_mutex_unlock(&http->lock);
	free(peer);
}

/* When a connection is accepted, and before its socket is closed. */
static void note_connection(void *arg, struct MHD_Connection *connection, void **context,
			    enum MHD_ConnectionNotificationCode what)
{
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		add_peer(arg, connection, context);
	else if (*context)
		remove_peer(arg, *context);
}

void nt_http_end_late(struct nt_http *http)
{
	const uint64_t now = nt_now_ms();

	pthread_mutex_lock(&http->lock);
	for (struct peer *peer = http->peers; peer; peer = peer->next) {
		if (now - peer->since_ms > LATE_MS)
			shutdown(peer->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&http->lock);
}

/* ---- begin and end ---- */

/* The rest of the files that may be open are for the tape. */
static unsigned int connections_max(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return 1;
	if (files.rlim_cur < FILES_WANTED && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max < FILES_WANTED ? files.rlim_max : FILES_WANTED;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (files.rlim_cur >= FILES_WANTED)
		return NT_HTTP_CONNECTIONS_MAX;
	return files.rlim_cur > FILES_OF_TAPE ? (unsigned int)(files.rlim_cur - FILES_OF_TAPE) : 1;
}

static struct MHD_Daemon *start_daemon(struct nt_http *http, int listener)
{
	/* The daemon closes what it listens on. */
	const int own = fcntl(listener, F_DUPFD_CLOEXEC, 0);
	sigset_t all, before;
	struct MHD_Daemon *daemon;

	if (own < 0)
		return NULL;
	/* ITC: else a daemon that has all its connections waits for one of them to end, when it is to stop. */
	/* The thread has the mask of the one that starts it. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, answer, http,
				  MHD_OPTION_LISTEN_SOCKET, own, MHD_OPTION_CONNECTION_LIMIT, connections_max(),
				  MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_OF_CONNECTION,
				  MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION, note_connection, http,
				  MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return daemon;
}

struct nt_http *nt_http_start(int listener, const struct nt_guard *guard, char error[NT_ERROR_MAX])
{
	struct nt_http *http = calloc(1, sizeof(*http));

	if (!http) {
		nt_fail(error, "out of memory.");
		return NULL;
	}
	http->guard = guard;
	pthread_mutex_init(&http->lock, NULL);
	if (nt_http_publish(http, MHD_HTTP_SERVICE_UNAVAILABLE, strdup(BEGIN), strlen(BEGIN)))
		nt_fail(error, "out of memory.");
	else if ((http->daemon = start_daemon(http, listener)))
		return http;
	else
		nt_fail(error, "no requests can be answered: %s.", strerror(errno));
	nt_http_stop(http);
	return NULL;
}

void nt_http_stop(struct nt_http *http)
{
	if (!http)
		return;
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	if (http->metrics)
		MHD_destroy_response(http->metrics);
	pthread_mutex_destroy(&http->lock);
	free(http);
}

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

#include "report/export/html/parts.h"
#include "report/serve/page.h"
#include "report/util/array.h"
#include "report/util/now.h"

#define BEGIN "the tape is being opened.\n"
#define FILES_OF_TAPE 64
#define FILES_WANTED (NT_HTTP_CONNECTIONS_MAX + FILES_OF_TAPE)
#define MEMORY_OF_CONNECTION 16384u /* for a request's head */
#define TOO_LARGE 413u /* its name in the library changed */
#define LATE_MS 10000u /* as long as Prometheus waits unless told otherwise */

/* A connection. */
struct peer {
	struct peer *next, **at; /* where it hangs in the list */
	int fd;
	uint64_t since_ms; /* it began then, or its query was answered */
	bool is_held; /* its query waits or runs, and has a bound of its own */
};

struct nt_http {
	struct MHD_Daemon *daemon;
	const struct nt_guard *guard;
	struct nt_history *history;
	struct nt_queries *queries; /* NULL: none are answered */
	pthread_mutex_t lock; /* of what follows */
	struct MHD_Response *metrics;
	unsigned int metrics_status;
	struct peer *peers;
	size_t n_asks; /* queries that have no answer yet, or one that is still to be sent */
};

/* ---- answers ---- */

#define TEXT "text/plain; charset=utf-8"
#define METRICS "text/plain; version=0.0.4; charset=utf-8"
#define HTML "text/html; charset=utf-8"
#define JSON "application/json"

/* What is answered, and what a browser may do with it. */
struct body {
	const char *text;
	size_t size;
	const char *type;
	const char *policy;
};

/* With the headers that all have. Takes a text that is to be freed. NULL: out of memory. */
static struct MHD_Response *make_response(const struct body *body, enum MHD_ResponseMemoryMode mode)
{
	const char *const headers[][2] = {
		{MHD_HTTP_HEADER_CONTENT_TYPE, body->type},
		{MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
		/* Not every version of the library ends the connection by itself. */
		{MHD_HTTP_HEADER_CONNECTION, "close"},
		{"Content-Security-Policy", body->policy ? body->policy : NT_PAGE_NO_POLICY},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"X-Content-Type-Options", "nosniff"},
		/* The URL may have the token. */
		{"Referrer-Policy", "no-referrer"},
	};
	char *const text = (void *)(uintptr_t)body->text;
	struct MHD_Response *response = MHD_create_response_from_buffer(body->size, text, mode);
	bool is_whole = response;

	for (size_t i = 0; i < NT_COUNT(headers) && is_whole; i++)
		is_whole = MHD_add_response_header(response, headers[i][0], headers[i][1]) == MHD_YES;
	if (is_whole)
		return response;
	if (response)
		MHD_destroy_response(response);
	else if (mode == MHD_RESPMEM_MUST_FREE)
		free(text);
	return NULL;
}

/* Takes the response; NULL: out of memory. */
static enum MHD_Result respond(struct MHD_Connection *connection, unsigned int status, struct MHD_Response *response)
{
	enum MHD_Result result = response ? MHD_queue_response(connection, status, response) : MHD_NO;

	if (response)
		MHD_destroy_response(response);
	return result;
}

/* ---- refusals ---- */

static const char *sentence_of(unsigned int status)
{
	switch (status) {
	case MHD_HTTP_UNAUTHORIZED:
		return "The token is missing or wrong: Authorization: Bearer TOKEN, or ?token=TOKEN in the URL.\n";
	case MHD_HTTP_FORBIDDEN:
		return "This server is not known by that name: nettape-serve --host NAME allows one.\n";
	case MHD_HTTP_METHOD_NOT_ALLOWED:
		return "Only GET and HEAD are answered, and GET and POST at /api/query.\n";
	case MHD_HTTP_BAD_REQUEST:
		return "The query is missing: ?sql=SELECT... in the URL, or SQL as the body of a POST.\n";
	case TOO_LARGE:
		return "The query is longer than 16 KiB.\n";
	case MHD_HTTP_TOO_MANY_REQUESTS:
		return "Too many queries wait: ask again when one of them has its answer.\n";
	default:
		return "There are / and /metrics here, and /api/query with nettape-serve --queries.\n";
	}
}

/* With a header of its own. */
static enum MHD_Result refuse_with(struct MHD_Connection *connection, unsigned int status, const char *header,
				   const char *value)
{
	const char *text = sentence_of(status);
	struct MHD_Response *response =
		make_response(&(struct body){text, strlen(text), TEXT, NULL}, MHD_RESPMEM_PERSISTENT);

	if (response && header)
		MHD_add_response_header(response, header, value);
	return respond(connection, status, response);
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned int status)
{
	const bool wants_token = status == MHD_HTTP_UNAUTHORIZED;

	return refuse_with(connection, status, wants_token ? MHD_HTTP_HEADER_WWW_AUTHENTICATE : NULL, "Bearer");
}

static enum MHD_Result refuse_method(struct MHD_Connection *connection, bool is_query)
{
	return refuse_with(connection, MHD_HTTP_METHOD_NOT_ALLOWED, MHD_HTTP_HEADER_ALLOW,
			   is_query ? "GET, POST" : "GET, HEAD");
}

/* 0: it may know. */
static unsigned int refuses(const struct nt_http *http, struct MHD_Connection *connection)
{
	const struct nt_request request = {
		.host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST),
		.authorization =
			MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION),
		.token = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "token"),
	};

	return nt_guard_refuses(http->guard, &request);
}

/* ---- what there is ---- */

static enum MHD_Result answer_metrics(struct nt_http *http, struct MHD_Connection *connection)
{
	enum MHD_Result result;

	pthread_mutex_lock(&http->lock);
	/* It stays as long as somebody reads it, also where another one is published. */
	result = MHD_queue_response(connection, http->metrics_status, http->metrics);
	pthread_mutex_unlock(&http->lock);
	return result;
}

static enum MHD_Result answer_page(struct nt_http *http, struct MHD_Connection *connection)
{
	const struct body body = {nt_page, nt_page_size, HTML, nt_page_policy};

	(void)http;
	return respond(connection, MHD_HTTP_OK, make_response(&body, MHD_RESPMEM_PERSISTENT));
}

/* The window as JSON, whose text is the caller's to free, or NULL: out of memory. 200, or 503 and a sentence. */
static unsigned int write_window(struct nt_http *http, size_t window, struct body *body, char **text)
{
	FILE *out = open_memstream(text, &body->size);
	int result = out ? nt_history_write(http->history, window, out) : -1;

	body->type = result == 1 ? JSON : TEXT;
	if (!result)
		fprintf(out, "There are no figures yet, or the host has more than %d CPUs.\n", NT_HTML_MAX_CPUS);
	if ((out && fclose(out)) || result < 0) {
		free(*text);
		*text = NULL;
	}
	body->text = *text;
	return result == 1 ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
}

/* What is published, where that is no figures: so the page says why. False: there are figures. */
static bool answer_why_not(struct nt_http *http, struct MHD_Connection *connection, enum MHD_Result *result)
{
	bool has_figures;

	pthread_mutex_lock(&http->lock);
	has_figures = http->metrics_status == MHD_HTTP_OK;
	if (!has_figures)
		*result = MHD_queue_response(connection, http->metrics_status, http->metrics);
	pthread_mutex_unlock(&http->lock);
	return !has_figures;
}

static enum MHD_Result answer_live(struct nt_http *http, struct MHD_Connection *connection)
{
	const char *seconds = MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "window");
	struct body body = {.text = NULL};
	enum MHD_Result result;
	unsigned int status;
	char *text = NULL;
	size_t window;

	if (!nt_history_window(seconds, &window))
		return refuse(connection, MHD_HTTP_NOT_FOUND);
	if (answer_why_not(http, connection, &result))
		return result;
	status = write_window(http, window, &body, &text);
	return respond(connection, status, text ? make_response(&body, MHD_RESPMEM_MUST_FREE) : NULL);
}

/* ---- queries ---- */

#define QUERY_MAX 16384u
/* They wait or run, or their answers are on their way: so these take no more memory than that. */
#define ASKS_MAX 8

/* A request that is a query. */
struct ask {
	struct nt_query query; /* first: `done` is given it alone */
	struct nt_http *http;
	struct MHD_Connection *connection;
	char *sql;
	size_t size, room;
	unsigned int refused; /* the status of HTTP; 0: it is not */
	bool is_in_url; /* so no body is */
	bool is_counted, is_asked;
};

static struct peer *peer_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* While it is held it is not late, and behind has as long as any other. */
static void hold(struct nt_http *http, struct MHD_Connection *connection, bool is_held)
{
	struct peer *peer = peer_of(connection);

	pthread_mutex_lock(&http->lock);
	if (peer) {
		peer->is_held = is_held;
		peer->since_ms = nt_now_ms();
	}
	pthread_mutex_unlock(&http->lock);
}

static bool count_ask(struct ask *ask)
{
	pthread_mutex_lock(&ask->http->lock);
	ask->is_counted = ask->http->n_asks < ASKS_MAX;
	ask->http->n_asks += ask->is_counted;
	pthread_mutex_unlock(&ask->http->lock);
	return ask->is_counted;
}

/* When the request ends, however it does. */
static void end_ask(void *arg, struct MHD_Connection *connection, void **context, enum MHD_RequestTerminationCode why)
{
	struct nt_http *http = arg;
	struct ask *ask = *context;

	(void)connection;
	(void)why;
	if (!ask)
		return;
	pthread_mutex_lock(&http->lock);
	http->n_asks -= ask->is_counted;
	pthread_mutex_unlock(&http->lock);
	free(ask->query.text);
	free(ask->sql);
	free(ask);
	*context = NULL;
}

static bool add_sql(struct ask *ask, const char *text, size_t size)
{
	if (size > QUERY_MAX - ask->size) {
		ask->refused = TOO_LARGE;
		return true;
	}
	if (NT_ROOM(ask->sql, ask->room, ask->size + size))
		return false;
	if (size)
		memcpy(ask->sql + ask->size, text, size);
	ask->size += size;
	return true;
}

/* Begins to read it. The library goes on with its body, or with none. */
static enum MHD_Result begin_ask(struct nt_http *http, struct MHD_Connection *connection, bool is_get, void **context)
{
	struct ask *ask = calloc(1, sizeof(*ask));
	const char *sql = NULL;
	size_t size = 0;

	*context = ask;
	if (!ask)
		return MHD_NO;
	ask->http = http;
	ask->connection = connection;
	ask->is_in_url = is_get;
	if (is_get)
		MHD_lookup_connection_value_n(connection, MHD_GET_ARGUMENT_KIND, "sql", 3, &sql, &size);
	return add_sql(ask, sql, size) ? MHD_YES : MHD_NO;
}

/* On any thread: it wakes the library's. */
static void go_on_with_answer(struct nt_query *query)
{
	MHD_resume_connection(((struct ask *)query)->connection);
}

/* The library lets the connection rest until there is an answer. */
static void put_query(struct ask *ask)
{
	ask->is_asked = true;
	ask->query = (struct nt_query){
		.sql = ask->sql,
		.size = ask->size,
		.client = MHD_get_connection_info(ask->connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
		.done = go_on_with_answer};
	hold(ask->http, ask->connection, true);
	MHD_suspend_connection(ask->connection);
	nt_queries_ask(ask->http->queries, &ask->query);
}

static enum MHD_Result answer_ask(struct ask *ask)
{
	struct body body = {.text = ask->query.text, .size = ask->query.text_size};

	hold(ask->http, ask->connection, false);
	body.type = ask->query.status == MHD_HTTP_OK ? JSON : TEXT;
	ask->query.text = NULL;
	return respond(ask->connection, ask->query.status,
		       body.text ? make_response(&body, MHD_RESPMEM_MUST_FREE) : NULL);
}

/* The library calls this for each part of the body, behind it, and when there is an answer. */
static enum MHD_Result go_on(struct ask *ask, const char *body, size_t *body_size)
{
	if (*body_size) {
		const bool has_room = ask->refused || ask->is_in_url || add_sql(ask, body, *body_size);

		*body_size = 0;
		return has_room ? MHD_YES : MHD_NO;
	}
	if (ask->is_asked)
		return answer_ask(ask);
	if (!ask->refused && !ask->size)
		ask->refused = MHD_HTTP_BAD_REQUEST;
	if (!ask->refused && !count_ask(ask))
		ask->refused = MHD_HTTP_TOO_MANY_REQUESTS;
	if (ask->refused)
		return refuse(ask->connection, ask->refused);
	put_query(ask);
	return MHD_YES;
}

/* ---- requests ---- */

static const struct {
	const char *path;
	enum MHD_Result (*answer)(struct nt_http *http, struct MHD_Connection *connection);
} places[] = {{"/metrics", answer_metrics}, {"/", answer_page}, {"/live.json", answer_live}};

static enum MHD_Result begin(struct nt_http *http, struct MHD_Connection *connection, const char *path,
			     const char *method, void **context)
{
	const size_t i = NT_FIRST(NT_COUNT(places), k, !strcmp(path, places[k].path));
	const bool is_query = http->queries && !strcmp(path, "/api/query"),
		   is_get = !strcmp(method, MHD_HTTP_METHOD_GET);

	if (!is_query && i == NT_COUNT(places))
		return refuse(connection, MHD_HTTP_NOT_FOUND);
	if (!is_get && strcmp(method, is_query ? MHD_HTTP_METHOD_POST : MHD_HTTP_METHOD_HEAD) != 0)
		return refuse_method(connection, is_query);
	return is_query ? begin_ask(http, connection, is_get, context) : places[i].answer(http, connection);
}

/* Answers when the head is there, but for queries. So no other body is read, and the connection ends with the answer.
 */
static enum MHD_Result answer(void *arg, struct MHD_Connection *connection, const char *path, const char *method,
			      const char *version, const char *body, size_t *body_size, void **context)
{
	struct nt_http *http = arg;
	unsigned int status;

	(void)version;
	if (*context)
		return go_on(*context, body, body_size);
	status = refuses(http, connection);
	return status ? refuse(connection, status) : begin(http, connection, path, method, context);
}

int nt_http_publish(struct nt_http *http, unsigned int status, char *text, size_t size)
{
	struct MHD_Response *response = make_response(&(struct body){text, size, METRICS, NULL}, MHD_RESPMEM_MUST_FREE);
	struct MHD_Response *before;

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
		if (!peer->is_held && now - peer->since_ms > LATE_MS)
			shutdown(peer->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&http->lock);
	if (http->queries)
		nt_queries_end_left(http->queries);
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
	daemon = MHD_start_daemon(MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_ITC | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL,
				  answer, http, MHD_OPTION_LISTEN_SOCKET, own, MHD_OPTION_CONNECTION_LIMIT,
				  connections_max(), MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_OF_CONNECTION,
				  MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_CONNECTION, note_connection, http,
				  MHD_OPTION_NOTIFY_COMPLETED, end_ask, http, MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return daemon;
}

struct nt_http *nt_http_start(int listener, const struct nt_guard *guard, struct nt_history *history,
			      struct nt_queries *queries, char error[NT_ERROR_MAX])
{
	struct nt_http *http = calloc(1, sizeof(*http));

	if (!http) {
		nt_fail(error, "out of memory.");
		return NULL;
	}
	http->guard = guard;
	http->history = history;
	http->queries = queries;
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
	/* The library does not end while a connection rests. */
	nt_queries_end(http->queries);
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	if (http->metrics)
		MHD_destroy_response(http->metrics);
	pthread_mutex_destroy(&http->lock);
	free(http);
}

// SPDX-License-Identifier: GPL-2.0-only
/* server.c - see server.h. */
#include "report/mcp/server.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/mcp/excerpt.h"
#include "report/mcp/message.h"
#include "report/util/array.h"
#include "report/util/process.h"

#define NS_IN_S 1000000000
#define LINE_MAX_BYTES (256u << 10) /* of a message; json-c needs up to 300 times as much memory for it */
#define READ_STEP 65536u
#define TRIM_BYTES 16384u /* of a message that leaves much memory behind */
#define CALLS_MAX 64 /* that wait; more are refused */
#define OUTPUT_BYTES (8u << 20) /* of a process, before it is cut */
#define ANSWER_BYTES 32768u /* of its output, in an answer */
#define UNCUT_BYTES 131072u /* of one that is not cut */
#define SENTENCES_BYTES 16384u /* of its standard error */

#define MODERN "2026-07-28"
/* The newest first. In 2025-03-26 a message may hold several, which none before or after it may. */
static const char *const versions[] = {MODERN, "2025-11-25", "2025-06-18", "2024-11-05"};
#define NEWEST_WITH_HANDSHAKE versions[1]

#define META "io.modelcontextprotocol/"

/* A call that waits or runs. */
struct call {
	struct call *next;
	struct json_object *id; /* has a reference of its own */
	const struct nt_mcp_tool *tool;
	char **words;
	bool is_modern;
};

struct serving {
	const struct nt_mcp_server *server;
	char *input; /* LINE_MAX_BYTES of it, and a zero */
	size_t size; /* that is there */
	size_t searched; /* of that, without an end of line */
	bool is_too_long; /* the line at hand: its rest is passed over */
	bool has_ended; /* standard input */
	bool is_gone; /* nobody reads standard output any more */
	int nothing; /* /dev/null: a call reads nothing */
	struct call *first, **behind; /* those that wait */
	size_t n_calls; /* how many */
	struct call *running; /* NULL: none; its process: */
	struct nt_process process;
	const char *failed; /* it cannot go on: why */
};

/* ---- answers ---- */

/* One line, which is written when it is whole. */
struct answer {
	struct nt_json json;
	char *text;
	size_t size;
};

static bool begin_answer(struct serving *serving, struct answer *answer, struct json_object *id)
{
	FILE *out;

	*answer = (struct answer){0};
	out = open_memstream(&answer->text, &answer->size);
	if (!out) {
		serving->failed = "out of memory";
		return false;
	}
	answer->json = (struct nt_json){.out = out, .compact = true};
	nt_json_open(&answer->json, NULL, '{');
	nt_json_text(&answer->json, "jsonrpc", "2.0");
	nt_mcp_put_id(&answer->json, id);
	return true;
}

/* A client may have made it one that does not wait. */
static void write_all(struct serving *serving, const char *text, size_t size)
{
	while (size && !serving->is_gone) {
		const ssize_t n = write(STDOUT_FILENO, text, size);

		if (n < 0 && errno == EAGAIN)
			poll(&(struct pollfd){.fd = STDOUT_FILENO, .events = POLLOUT}, 1, -1);
		else if (n < 0 && errno != EINTR)
			serving->is_gone = true;
		text += n > 0 ? n : 0;
		size -= n > 0 ? (size_t)n : 0;
	}
}

static void end_answer(struct serving *serving, struct answer *answer)
{
	bool failed;

	nt_json_close(&answer->json, '}');
	failed = ferror(answer->json.out);
	failed |= fclose(answer->json.out) != 0;
	if (failed)
		serving->failed = "out of memory";
	else
		write_all(serving, answer->text, answer->size);
	free(answer->text);
}

static void put_program(const struct nt_mcp_server *server, struct nt_json *json, const char *key)
{
	nt_json_open(json, key, '{');
	nt_json_text(json, "name", server->name);
	nt_json_text(json, "title", server->title);
	nt_json_text(json, "version", server->version);
	nt_json_close(json, '}');
}

static bool begin_result(struct serving *serving, struct answer *answer, struct json_object *id, bool is_modern)
{
	if (!begin_answer(serving, answer, id))
		return false;
	nt_json_open(&answer->json, "result", '{');
	if (!is_modern)
		return true;
	nt_json_text(&answer->json, "resultType", "complete");
	nt_json_open(&answer->json, "_meta", '{');
	put_program(serving->server, &answer->json, META "serverInfo");
	nt_json_close(&answer->json, '}');
	return true;
}

static void end_result(struct serving *serving, struct answer *answer)
{
	nt_json_close(&answer->json, '}');
	end_answer(serving, answer);
}

static void put_versions(struct nt_json *json, const char *key)
{
	nt_json_open(json, key, '[');
	for (size_t i = 0; i < NT_COUNT(versions); i++)
		nt_json_text(json, NULL, versions[i]);
	nt_json_close(json, ']');
}

/* `requested`: a version that there is not; else NULL. */
static void answer_error(struct serving *serving, struct json_object *id, int code, const char *why,
			 const char *requested)
{
	struct answer answer;

	if (!begin_answer(serving, &answer, id))
		return;
	nt_json_open(&answer.json, "error", '{');
	nt_json_integer(&answer.json, "code", code);
	nt_json_text(&answer.json, "message", why);
	if (requested) {
		nt_json_open(&answer.json, "data", '{');
		put_versions(&answer.json, "supported");
		nt_json_text(&answer.json, "requested", requested);
		nt_json_close(&answer.json, '}');
	}
	nt_json_close(&answer.json, '}');
	end_answer(serving, &answer);
}

/* ---- requests that are answered at once ---- */

static void put_abilities(const struct nt_mcp_server *server, struct nt_json *json)
{
	nt_json_open(json, "capabilities", '{');
	nt_json_open(json, "tools", '{');
	nt_json_close(json, '}');
	nt_json_close(json, '}');
	nt_json_text(json, "instructions", server->instructions);
}

/* How long a client may keep it: while the program runs, nothing of it changes. */
static void put_lifetime(struct nt_json *json)
{
	nt_json_integer(json, "ttlMs", 86400000);
	nt_json_text(json, "cacheScope", "public");
}

static void answer_initialize(struct serving *serving, const struct nt_mcp_message *message)
{
	const char *wanted = nt_mcp_text(message->params, "protocolVersion"), *version = NEWEST_WITH_HANDSHAKE;
	struct answer answer;

	for (size_t i = 1; wanted && i < NT_COUNT(versions); i++) {
		if (!strcmp(wanted, versions[i]))
			version = versions[i];
	}
	if (!begin_result(serving, &answer, message->id, false))
		return;
	nt_json_text(&answer.json, "protocolVersion", version);
	put_program(serving->server, &answer.json, "serverInfo");
	put_abilities(serving->server, &answer.json);
	end_result(serving, &answer);
}

static void answer_discover(struct serving *serving, const struct nt_mcp_message *message)
{
	struct answer answer;

	if (!begin_result(serving, &answer, message->id, true))
		return;
	put_versions(&answer.json, "supportedVersions");
	put_abilities(serving->server, &answer.json);
	put_lifetime(&answer.json);
	end_result(serving, &answer);
}

/* All tools are on the first page. */
static void answer_list(struct serving *serving, const struct nt_mcp_message *message, bool is_modern)
{
	struct answer answer;

	if (nt_mcp_text(message->params, "cursor")) {
		answer_error(serving, message->id, NT_MCP_WRONG_PARAMS, "there is no page with this cursor", NULL);
		return;
	}
	if (!begin_result(serving, &answer, message->id, is_modern))
		return;
	nt_json_open(&answer.json, "tools", '[');
	for (const struct nt_mcp_tool *const *tool = serving->server->tools; *tool; tool++)
		nt_mcp_tool_json(*tool, &answer.json);
	nt_json_close(&answer.json, ']');
	if (is_modern)
		put_lifetime(&answer.json);
	end_result(serving, &answer);
}

static void answer_ping(struct serving *serving, const struct nt_mcp_message *message)
{
	struct answer answer;

	if (begin_result(serving, &answer, message->id, false))
		end_result(serving, &answer);
}

/* ---- calls ---- */

static void put_text(struct nt_json *json, const char *text, size_t size)
{
	nt_json_open(json, NULL, '{');
	nt_json_text(json, "type", "text");
	nt_json_cell(json, "text", &(struct nt_cell){.type = NT_CELL_TEXT, .text = text, .size = size});
	nt_json_close(json, '}');
}

/* Ahead of what a tool found stands what it had to say beside it. Either may be empty. */
static void answer_call(struct serving *serving, const struct call *call, bool is_error, const char *said,
			size_t said_size, const char *found, size_t found_size)
{
	struct answer answer;

	if (!begin_result(serving, &answer, call->id, call->is_modern))
		return;
	nt_json_open(&answer.json, "content", '[');
	if (said_size)
		put_text(&answer.json, said, said_size);
	if (found_size)
		put_text(&answer.json, found, found_size);
	nt_json_close(&answer.json, ']');
	nt_json_bool(&answer.json, "isError", is_error);
	end_result(serving, &answer);
}

static void fail_call(struct serving *serving, const struct call *call, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void fail_call(struct serving *serving, const struct call *call, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int size;

	va_start(args, format);
	size = vasprintf(&text, format, args);
	va_end(args);
	if (size < 0)
		serving->failed = "out of memory";
	else
		answer_call(serving, call, true, text, (size_t)size, NULL, 0);
	free(size < 0 ? NULL : text);
}

static void answer_output(struct serving *serving, const struct call *call, int code)
{
	const struct nt_process *process = &serving->process;
	char *found = NULL;
	size_t size = 0;

	if (!call->tool->is_cut && process->out.size > UNCUT_BYTES) {
		fail_call(serving, call, "The answer is longer than %u bytes: ask for less.", UNCUT_BYTES);
		return;
	}
	found = nt_mcp_excerpt(process->out.text, process->out.size, call->tool->is_cut ? ANSWER_BYTES : UNCUT_BYTES,
			       &size);
	if (!found)
		serving->failed = "out of memory";
	else if (code && !process->err.size && !size)
		fail_call(serving, call, "It failed without a word, with exit code %d.", code);
	else
		answer_call(serving, call, code != 0, process->err.text, process->err.size, found, size);
	free(found);
}

/* Of a call whose process has ended, with the status of waitpid. */
static void answer_ended(struct serving *serving, const struct call *call, int status)
{
	switch (serving->process.state) {
	case NT_PROCESS_RUNS:
	case NT_PROCESS_ENDED:
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXFSZ)
			fail_call(serving, call, "It needs a temporary file of more than %zu MiB.",
				  call->tool->memory_bytes >> 20);
		else if (WIFSIGNALED(status))
			fail_call(serving, call, "The process of this call was ended by signal %d, %s.",
				  WTERMSIG(status), strsignal(WTERMSIG(status)));
		else
			answer_output(serving, call, WEXITSTATUS(status));
		break;
	case NT_PROCESS_LATE:
		fail_call(serving, call, "The answer took more than %.10g s. %s",
			  (double)serving->server->time_ns / NS_IN_S, serving->server->late);
		break;
	case NT_PROCESS_TOO_LONG:
		fail_call(serving, call, "The answer is far too long to read: ask for less.");
		break;
	case NT_PROCESS_NO_MEMORY:
		serving->failed = "out of memory";
		break;
	}
}

static void free_call(struct call *call)
{
	json_object_put(call->id);
	nt_mcp_words_free(call->words);
	free(call);
}

struct running {
	const struct nt_mcp_server *server;
	const struct call *call;
};

/* In the new process. */
static int run_tool(void *arg)
{
	const struct running *running = arg;
	const struct call *call = running->call;
	const int code = nt_mcp_tool_run(call->tool, &running->server->recording, call->words);

	return fflush(stdout) || ferror(stdout) ? 1 : code;
}

static void end_call(struct serving *serving)
{
	nt_process_release(&serving->process);
	free_call(serving->running);
	serving->running = NULL;
}

static void start_next(struct serving *serving)
{
	struct call *call = serving->first;
	const struct nt_process_bounds bounds = {
		.time_ns = serving->server->time_ns,
		.memory_bytes = call->tool->memory_bytes,
		.out_bytes = OUTPUT_BYTES,
		.err_bytes = SENTENCES_BYTES,
	};
	struct running running = {serving->server, call};

	serving->first = call->next;
	serving->n_calls--;
	if (!serving->first)
		serving->behind = &serving->first;
	if (!nt_process_start(&serving->process, &bounds, serving->nothing, run_tool, &running)) {
		serving->running = call;
		return;
	}
	fail_call(serving, call, "The process of this call cannot be started: %s.", strerror(errno));
	free_call(call);
}

/* Adds a call to those that wait. */
static void take_call(struct serving *serving, const struct nt_mcp_message *message, const struct nt_mcp_tool *tool,
		      bool is_modern)
{
	struct call *call = calloc(1, sizeof(*call));
	char error[NT_ERROR_MAX];

	if (!call) {
		serving->failed = "out of memory";
		return;
	}
	call->id = json_object_get(message->id);
	call->tool = tool;
	call->is_modern = is_modern;
	if (serving->n_calls < CALLS_MAX)
		call->words = nt_mcp_tool_words(tool, nt_mcp_object(message->params, "arguments"), error);
	else
		nt_fail(error, "%d calls wait already: ask again when they are answered.", CALLS_MAX);
	if (!call->words) {
		fail_call(serving, call, "%s", error);
		free_call(call);
		return;
	}
	*serving->behind = call;
	serving->behind = &call->next;
	serving->n_calls++;
}

static const struct nt_mcp_tool *find_tool(const struct nt_mcp_server *server, const char *name)
{
	const struct nt_mcp_tool *const *tool = server->tools;

	while (*tool && strcmp((*tool)->name, name) != 0)
		tool++;
	return *tool;
}

/* Whether the arguments of a call are an object, or there are none. */
static bool are_arguments(struct json_object *params)
{
	struct json_object *arguments;

	return !json_object_object_get_ex(params, "arguments", &arguments) || !arguments ||
	       json_object_is_type(arguments, json_type_object);
}

static void ask_call(struct serving *serving, const struct nt_mcp_message *message, bool is_modern)
{
	const char *name = nt_mcp_text(message->params, "name");
	const struct nt_mcp_tool *tool = name ? find_tool(serving->server, name) : NULL;
	char why[NT_ERROR_MAX];

	if (tool && are_arguments(message->params)) {
		take_call(serving, message, tool, is_modern);
		return;
	}
	if (tool)
		nt_fail(why, "the arguments of a call are no object");
	else if (name)
		nt_fail(why, "there is no tool '%.100s'", name);
	else
		nt_fail(why, "the call names no tool");
	answer_error(serving, message->id, NT_MCP_WRONG_PARAMS, why, NULL);
}

/* The client wants no answer to a call any more. */
static void cancel(struct serving *serving, struct json_object *id)
{
	struct call **at = &serving->first, *call;

	if (serving->running && json_object_equal(serving->running->id, id)) {
		nt_process_end(&serving->process);
		end_call(serving);
		return;
	}
	while ((call = *at) && !json_object_equal(call->id, id))
		at = &call->next;
	if (!call)
		return;
	*at = call->next;
	if (serving->behind == &call->next)
		serving->behind = at;
	serving->n_calls--;
	free_call(call);
}

/* ---- messages ---- */

static void take_notification(struct serving *serving, const struct nt_mcp_message *message)
{
	struct json_object *id;

	if (!strcmp(message->method, "notifications/cancelled") && message->params &&
	    json_object_object_get_ex(message->params, "requestId", &id) && id)
		cancel(serving, id);
}

/* Whether the request tells its version, as it must by 2026-07-28. -1: not as it must; that has been answered. */
static int find_era(struct serving *serving, const struct nt_mcp_message *message)
{
	struct json_object *meta = nt_mcp_object(message->params, "_meta");
	const char *version = nt_mcp_text(meta, META "protocolVersion");
	char why[NT_ERROR_MAX];

	for (size_t i = 1; version && i < NT_COUNT(versions); i++) {
		if (!strcmp(version, versions[i]))
			return false;
	}
	if (version && strcmp(version, MODERN) != 0) {
		nt_fail(why, "unsupported protocol version: %.100s", version);
		answer_error(serving, message->id, NT_MCP_NO_VERSION, why, version);
		return -1;
	}
	if (!version && (!meta || !json_object_object_get_ex(meta, META "protocolVersion", NULL)))
		return false;
	if (version && nt_mcp_object(meta, META "clientCapabilities"))
		return true;
	answer_error(serving, message->id, NT_MCP_WRONG_PARAMS,
		     "_meta needs " META "protocolVersion, a string, and " META "clientCapabilities, an object", NULL);
	return -1;
}

static void take_request(struct serving *serving, const struct nt_mcp_message *message)
{
	const int is_modern = find_era(serving, message);
	char why[NT_ERROR_MAX];

	if (is_modern < 0)
		return;
	if (!strcmp(message->method, "server/discover")) {
		answer_discover(serving, message);
	} else if (!strcmp(message->method, "tools/list")) {
		answer_list(serving, message, is_modern);
	} else if (!strcmp(message->method, "tools/call")) {
		ask_call(serving, message, is_modern);
	} else if (!is_modern && !strcmp(message->method, "initialize")) {
		answer_initialize(serving, message);
	} else if (!is_modern && !strcmp(message->method, "ping")) {
		answer_ping(serving, message);
	} else {
		nt_fail(why, "there is no method %.100s", message->method);
		answer_error(serving, message->id, NT_MCP_NO_METHOD, why, NULL);
	}
}

static void take_line(struct serving *serving, const char *line, size_t size)
{
	struct nt_mcp_message message;
	char error[NT_ERROR_MAX];
	int code;

	if (strspn(line, " \t\r") >= size)
		return;
	code = nt_mcp_read(&message, line, size, error);
	if (code && !message.is_notification)
		answer_error(serving, message.id, code, error, NULL);
	else if (!code && message.is_notification)
		take_notification(serving, &message);
	else if (!code && message.method)
		take_request(serving, &message);
	nt_mcp_release(&message);
	/* So much was needed for this one. */
	if (size > TRIM_BYTES)
		malloc_trim(0);
}

/* ---- standard input ---- */

/* Removes what is in front of `rest`. */
static void keep(struct serving *serving, const char *rest)
{
	serving->size -= (size_t)(rest - serving->input);
	memmove(serving->input, rest, serving->size);
	serving->searched = 0;
}

/* The line that is not whole has no room: it is passed over, to its end. */
static void pass_over(struct serving *serving)
{
	char why[NT_ERROR_MAX];

	nt_fail(why, "the message is longer than %u bytes", LINE_MAX_BYTES);
	if (!serving->is_too_long)
		answer_error(serving, NULL, NT_MCP_NO_JSON, why, NULL);
	serving->is_too_long = true;
	serving->size = serving->searched = 0;
}

/* Takes the lines that are there. */
static void take_lines(struct serving *serving)
{
	char *line = serving->input, *end;

	while (!serving->failed && !serving->is_gone) {
		char *const from = line == serving->input ? line + serving->searched : line;

		end = memchr(from, '\n', (size_t)(serving->input + serving->size - from));
		/* The last one may have no end. */
		if (!end && serving->has_ended && line < serving->input + serving->size)
			end = serving->input + serving->size;
		if (!end)
			break;
		*end = 0;
		if (!serving->is_too_long)
			take_line(serving, line, (size_t)(end - line));
		serving->is_too_long = false;
		line = end < serving->input + serving->size ? end + 1 : end;
	}
	keep(serving, line);
	serving->searched = serving->size;
	if (serving->searched == LINE_MAX_BYTES)
		pass_over(serving);
}

static void read_input(struct serving *serving)
{
	const size_t room = LINE_MAX_BYTES - serving->size;
	const ssize_t size = read(STDIN_FILENO, serving->input + serving->size, room < READ_STEP ? room : READ_STEP);

	if (size > 0)
		serving->size += (size_t)size;
	else if (!size || (errno != EINTR && errno != EAGAIN))
		serving->has_ended = true;
}

/* ---- the loop ---- */

static void wait_for_more(struct serving *serving)
{
	enum { IN, OUT, PROCESS, N = PROCESS + NT_PROCESS_FDS };
	struct pollfd polled[N] = {
		/* One of -1 is passed over. Of standard output, only that nobody reads it is told. */
		[IN] = {.fd = serving->has_ended ? -1 : STDIN_FILENO, .events = POLLIN},
		[OUT] = {.fd = STDOUT_FILENO},
		[PROCESS] = {.fd = -1},
		[PROCESS + 1] = {.fd = -1},
	};

	if (serving->running)
		nt_process_poll(&serving->process, polled + PROCESS);
	if (poll(polled, N, serving->running ? nt_process_left_ms(&serving->process) : -1) < 0)
		return;
	if (polled[OUT].revents)
		serving->is_gone = true;
	if (serving->running)
		nt_process_take(&serving->process, polled + PROCESS);
	if (polled[IN].revents)
		read_input(serving);
}

static void end_running(struct serving *serving)
{
	answer_ended(serving, serving->running, nt_process_end(&serving->process));
	end_call(serving);
}

static void serve(struct serving *serving)
{
	while (!serving->failed && !serving->is_gone) {
		take_lines(serving);
		if (serving->running && serving->process.state != NT_PROCESS_RUNS)
			end_running(serving);
		else if (!serving->running && serving->first)
			start_next(serving);
		else if (serving->running || !serving->has_ended)
			wait_for_more(serving);
		else if (!serving->size)
			break;
	}
}

static void release(struct serving *serving)
{
	struct call *call;

	if (serving->running) {
		nt_process_end(&serving->process);
		end_call(serving);
	}
	while ((call = serving->first)) {
		serving->first = call->next;
		free_call(call);
	}
	if (serving->nothing >= 0)
		close(serving->nothing);
	free(serving->input);
}

int nt_mcp_serve(const struct nt_mcp_server *server, char error[NT_ERROR_MAX])
{
	struct serving serving = {.server = server};

	serving.behind = &serving.first;
	serving.input = malloc(LINE_MAX_BYTES + 1);
	serving.nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (!serving.input)
		serving.failed = "out of memory";
	else if (serving.nothing < 0)
		serving.failed = "/dev/null cannot be opened";
	signal(SIGPIPE, SIG_IGN);
	/* Whoever started us may have left it ignored: then the status of a process is lost. */
	signal(SIGCHLD, SIG_DFL);
	if (!serving.failed)
		serve(&serving);
	release(&serving);
	return serving.failed ? nt_fail(error, "%s", serving.failed) : 0;
}

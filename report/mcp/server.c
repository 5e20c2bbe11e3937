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

#include "report/mcp/answers.h"
#include "report/mcp/excerpt.h"
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

/* A call that waits or runs. */
struct call {
	struct call *next;
	struct json_object *id; /* has a reference of its own */
	const struct nt_mcp_tool *tool;
	char **words;
	enum nt_mcp_era era;
};

struct serving {
	char *input; /* LINE_MAX_BYTES of it, and a zero */
	size_t size; /* that is there */
	size_t searched; /* of that, without an end of line */
	bool is_too_long; /* the line at hand: its rest is passed over */
	bool has_ended; /* standard input */
	struct nt_mcp_output output;
	int nothing; /* /dev/null: a call reads nothing */
	struct call *first, **behind; /* those that wait */
	size_t n_calls; /* how many */
	struct call *running; /* NULL: none; its process: */
	struct nt_process process;
};

/* ---- calls ---- */

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
		serving->output.failed = "out of memory";
	else
		nt_mcp_answer_call(&serving->output, call->id, call->era, true,
				   (struct nt_mcp_part){text, (size_t)size}, (struct nt_mcp_part){0});
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
		serving->output.failed = "out of memory";
	else if (code && !process->err.size && !size)
		fail_call(serving, call, "It failed without a word, with exit code %d.", code);
	else
		nt_mcp_answer_call(&serving->output, call->id, call->era, code != 0,
				   (struct nt_mcp_part){process->err.text, process->err.size},
				   (struct nt_mcp_part){found, size});
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
			  (double)serving->output.server->time_ns / NS_IN_S, serving->output.server->late);
		break;
	case NT_PROCESS_TOO_LONG:
		fail_call(serving, call, "The answer is far too long to read: ask for less.");
		break;
	case NT_PROCESS_NO_MEMORY:
		serving->output.failed = "out of memory";
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
		.time_ns = serving->output.server->time_ns,
		.memory_bytes = call->tool->memory_bytes,
		.out_bytes = OUTPUT_BYTES,
		.err_bytes = SENTENCES_BYTES,
	};
	struct running running = {serving->output.server, call};

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
		      enum nt_mcp_era era)
{
	struct call *call = calloc(1, sizeof(*call));
	char error[NT_ERROR_MAX];

	if (!call) {
		serving->output.failed = "out of memory";
		return;
	}
	call->id = json_object_get(message->id);
	call->tool = tool;
	call->era = era;
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

static void ask_call(struct serving *serving, const struct nt_mcp_message *message, enum nt_mcp_era era)
{
	const char *name = nt_mcp_text(message->params, "name");
	const struct nt_mcp_tool *tool = name ? find_tool(serving->output.server, name) : NULL;
	char why[NT_ERROR_MAX];

	if (tool && are_arguments(message->params)) {
		take_call(serving, message, tool, era);
		return;
	}
	if (tool)
		nt_fail(why, "the arguments of a call are no object");
	else if (name)
		nt_fail(why, "there is no tool '%.100s'", name);
	else
		nt_fail(why, "the call names no tool");
	nt_mcp_answer_error(&serving->output, message->id, NT_MCP_WRONG_PARAMS, why);
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

static void take_request(struct serving *serving, const struct nt_mcp_message *message)
{
	struct nt_mcp_output *output = &serving->output;
	const enum nt_mcp_era era = nt_mcp_find_era(output, message);
	char why[NT_ERROR_MAX];

	if (era == NT_MCP_ODD)
		return;
	if (!strcmp(message->method, "server/discover")) {
		nt_mcp_answer_discover(output, message);
	} else if (!strcmp(message->method, "tools/list")) {
		nt_mcp_answer_list(output, message, era);
	} else if (!strcmp(message->method, "tools/call")) {
		ask_call(serving, message, era);
	} else if (era == NT_MCP_LEGACY && !strcmp(message->method, "initialize")) {
		nt_mcp_answer_initialize(output, message);
	} else if (era == NT_MCP_LEGACY && !strcmp(message->method, "ping")) {
		nt_mcp_answer_ping(output, message);
	} else {
		nt_fail(why, "there is no method %.100s", message->method);
		nt_mcp_answer_error(output, message->id, NT_MCP_NO_METHOD, why);
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
		nt_mcp_answer_error(&serving->output, message.id, code, error);
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
		nt_mcp_answer_error(&serving->output, NULL, NT_MCP_NO_JSON, why);
	serving->is_too_long = true;
	serving->size = serving->searched = 0;
}

/* Takes the lines that are there. */
static void take_lines(struct serving *serving)
{
	char *line = serving->input, *end;

	while (!serving->output.failed && !serving->output.is_gone) {
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
		serving->output.is_gone = true;
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
	while (!serving->output.failed && !serving->output.is_gone) {
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
	struct serving serving = {.output = {.server = server}};

	serving.behind = &serving.first;
	serving.input = malloc(LINE_MAX_BYTES + 1);
	serving.nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (!serving.input)
		serving.output.failed = "out of memory";
	else if (serving.nothing < 0)
		serving.output.failed = "/dev/null cannot be opened";
	signal(SIGPIPE, SIG_IGN);
	/* Whoever started us may have left it ignored: then the status of a process is lost. */
	signal(SIGCHLD, SIG_DFL);
	if (!serving.output.failed)
		serve(&serving);
	release(&serving);
	return serving.output.failed ? nt_fail(error, "%s", serving.output.failed) : 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/* process.c - see process.h. */
#include "report/util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/util/array.h"
#include "report/util/now.h"

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
#define IS_SANITIZED false /* true: there is memory that the bound would count, and the function does not have */
#endif

/* ---- the new process ---- */

static void limit(int resource, rlim_t most)
{
	const struct rlimit value = {.rlim_cur = most, .rlim_max = most};

	setrlimit(resource, &value);
}

/* No lock that another thread may hold is taken here. */
static void become(const int fds[3], const struct nt_process_bounds *bounds, pid_t parent)
{
	/* That nothing which is left ignored stops it from ending. */
	static const int ending[] = {SIGPIPE, SIGXFSZ, SIGALRM};
	sigset_t none;

	for (int fd = 0; fd < 3; fd++)
		dup2(fds[fd], fd);
	syscall(SYS_close_range, 3u, ~0u, 0u);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (size_t i = 0; i < NT_COUNT(ending); i++)
		signal(ending[i], SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + bounds->nice);
	limit(RLIMIT_CORE, 0);
	/* Should its caller be kept from ending it in time. */
	alarm((unsigned int)(bounds->time_ns / NS_IN_S) + 2);
	if (bounds->memory_bytes)
		limit(RLIMIT_FSIZE, bounds->memory_bytes);
	if (bounds->memory_bytes && !IS_SANITIZED)
		limit(RLIMIT_DATA, bounds->memory_bytes);
}

static void close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

int nt_process_start(struct nt_process *process, const struct nt_process_bounds *bounds, int in, int (*run)(void *arg),
		     void *arg)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1};
	const pid_t self = getpid();
	pid_t pid = -1;

	if (!pipe2(out, O_CLOEXEC) && !pipe2(err, O_CLOEXEC))
		pid = fork();
	if (!pid) {
		become((const int[]){in, out[1], err[1]}, bounds, self);
		_exit(run(arg));
	}
	close_all((const int[]){out[1], err[1]}, 2);
	if (pid < 0) {
		close_all((const int[]){out[0], err[0]}, 2);
		return -1;
	}
	*process = (struct nt_process){
		.pid = pid,
		.end_ms = nt_now_ms() + (uint64_t)(bounds->time_ns + NS_IN_MS - 1) / NS_IN_MS,
		.out = {.fd = out[0], .most = bounds->out_bytes},
		.err = {.fd = err[0], .most = bounds->err_bytes, .is_cut = true},
	};
	return 0;
}

/* ---- its caller ---- */

static enum nt_process_state grow(struct nt_process_stream *stream)
{
	const size_t room = stream->room ? 2 * stream->room : STEP;
	char *text = realloc(stream->text, room);

	if (!text)
		return NT_PROCESS_NO_MEMORY;
	stream->text = text;
	stream->room = room;
	return NT_PROCESS_RUNS;
}

/* Takes what is there. At its end the stream has no descriptor. */
static enum nt_process_state take(struct nt_process_stream *stream)
{
	ssize_t size;

	if (stream->size == stream->room && grow(stream) != NT_PROCESS_RUNS)
		return NT_PROCESS_NO_MEMORY;
	size = read(stream->fd, stream->text + stream->size, stream->room - stream->size);
	if (size > 0)
		stream->size += (size_t)size;
	else if (!size || errno != EINTR) {
		close(stream->fd);
		stream->fd = -1;
	}
	if (stream->size <= stream->most)
		return NT_PROCESS_RUNS;
	if (!stream->is_cut)
		return NT_PROCESS_TOO_LONG;
	stream->size = stream->most;
	return NT_PROCESS_RUNS;
}

int nt_process_left_ms(const struct nt_process *process)
{
	const uint64_t now = nt_now_ms(), left = now < process->end_ms ? process->end_ms - now : 0;

	return left < INT_MAX ? (int)left : INT_MAX;
}

void nt_process_poll(const struct nt_process *process, struct pollfd fds[NT_PROCESS_FDS])
{
	/* One without a descriptor is passed over. */
	fds[0] = (struct pollfd){.fd = process->out.fd, .events = POLLIN};
	fds[1] = (struct pollfd){.fd = process->err.fd, .events = POLLIN};
}

void nt_process_take(struct nt_process *process, const struct pollfd fds[NT_PROCESS_FDS])
{
	struct nt_process_stream *const streams[NT_PROCESS_FDS] = {&process->out, &process->err};

	for (int i = 0; i < NT_PROCESS_FDS && process->state == NT_PROCESS_RUNS; i++) {
		if (fds[i].revents)
			process->state = take(streams[i]);
	}
	if (process->state == NT_PROCESS_RUNS && process->out.fd < 0 && process->err.fd < 0)
		process->state = NT_PROCESS_ENDED;
	else if (process->state == NT_PROCESS_RUNS && !nt_process_left_ms(process))
		process->state = NT_PROCESS_LATE;
}

int nt_process_end(struct nt_process *process)
{
	int status = 0;

	if (process->state != NT_PROCESS_ENDED)
		kill(process->pid, SIGKILL);
	while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		process->state = NT_PROCESS_LATE;
	close_all((const int[]){process->out.fd, process->err.fd}, 2);
	process->out.fd = process->err.fd = -1;
	return status;
}

void nt_process_release(struct nt_process *process)
{
	free(process->out.text);
	free(process->err.text);
	process->out.text = process->err.text = NULL;
}

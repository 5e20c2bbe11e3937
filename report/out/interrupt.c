// SPDX-License-Identifier: GPL-2.0-only
/*
 * interrupt.c - see interrupt.h.
 */
#include "report/out/interrupt.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/util/array.h"

/* Those that end a program which does not expect them, and tell of no fault in it. */
static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXCPU, SIGXFSZ};

static struct {
	char partial[PATH_MAX]; /* "": there is nothing to remove */
	char message[PATH_MAX + 100];
	volatile sig_atomic_t noted; /* 0: none */
} state;

static void remove_and_end(int signal)
{
	int saved = errno;

	if ((!state.partial[0] || !unlink(state.partial)) &&
	    write(STDERR_FILENO, state.message, strlen(state.message)) < 0)
		errno = saved;
	errno = saved;
	/* The handler is the system's again (SA_RESETHAND), and the signal comes when this one returns. */
	raise(signal);
}

static void note(int signal)
{
	state.noted = signal;
}

static void handle(void (*handler)(int signal))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND | SA_RESTART}, before;

	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < NT_COUNT(signals); i++) {
		/* A signal that is ignored, as under nohup, stays so. */
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
	}
}

void nt_interrupt_removes(const char *partial, const char *path)
{
	/* A path that was cut would be another file's. */
	if (partial && strlen(partial) >= sizeof(state.partial))
		return;
	snprintf(state.partial, sizeof(state.partial), "%s", partial ? partial : "");
	snprintf(state.message, sizeof(state.message), "%snettape-report: interrupted: %s was not written.\n",
		 isatty(STDERR_FILENO) ? "\n" : "", path);
	handle(remove_and_end);
}

void nt_interrupt_waits(void)
{
	state.noted = 0;
	handle(note);
}

bool nt_interrupted(void)
{
	return state.noted != 0;
}

void nt_interrupt_sleep(void)
{
	const struct timespec second = {.tv_sec = 1};

	nanosleep(&second, NULL);
}

void nt_interrupt_end(void)
{
	int signal = state.noted;

	handle(SIG_DFL);
	state.noted = 0;
	if (signal)
		raise(signal);
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * child.h - a program that runs beside the recorder, such as the command that is recorded: started early, so that its
 * process exists, released when the recording has begun, waited for at the end.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct nt_child {
	pid_t pid; /* 0: there is none */
	int go_fd; /* a byte written here lets it go */
	bool ended;
	int status; /* as a shell gives it: exit status, or 128 + signal; 127, 126: could not be run */
};

/* In the child, right before it becomes the program. False, and it has said why: the child ends with 126. */
typedef bool nt_child_set_up_fn(void *arg);

/*
 * `signals` are those blocked here, which the program gets back. `set_up` may be NULL. Where we end before
 * nt_child_go(), the child does. 0 or a negative errno.
 */
int nt_child_prepare(struct nt_child *child, char *const *argv, const sigset_t *signals, nt_child_set_up_fn *set_up,
		     void *arg);
void nt_child_go(struct nt_child *child);
/* Whether it has ended, without waiting. */
bool nt_child_has_ended(struct nt_child *child);
/*
 * Waits until it has ended, or one of these signals comes, which are blocked; SIGCHLD is one of them. Gives the signal;
 * 0: it has ended, or there is none.
 */
int nt_child_wait(struct nt_child *child, const sigset_t *signals);
/* Passes a signal on, unless it is 0, and waits half a second at most until it has ended. */
void nt_child_end(struct nt_child *child, int signal_number);

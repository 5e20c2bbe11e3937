/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * child.h - the command that is recorded: started early, so that its process exists, released when the recording has
 * begun, waited for at the end.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct nt_child {
	pid_t pid; /* 0: there is none */
	int go_fd; /* closing it lets it go */
	bool ended;
	int status; /* as a shell gives it: exit status, or 128 + signal; 127, 126: could not be run */
};

/* `signals` are those blocked here, which the command gets back. 0 or a negative errno. */
int nt_child_prepare(struct nt_child *child, char *const *argv, const sigset_t *signals);
void nt_child_go(struct nt_child *child);
/* Whether it has ended, without waiting. */
bool nt_child_has_ended(struct nt_child *child);
/*
 * Waits until it has ended, or one of these signals comes, which are blocked; SIGCHLD is one of them. Gives the signal;
 * 0: it has ended, or there is none.
 */
int nt_child_wait(struct nt_child *child, const sigset_t *signals);
/* Passes a signal on and waits half a second at most until it has ended. */
void nt_child_end(struct nt_child *child, int signal_number);

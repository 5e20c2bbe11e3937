/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * command.h - the command that a recording is made of: started early, so that its process is there, let go
 * when the recording has begun, waited for at the end.
 */
#ifndef NT_RECORD_COMMAND_H
#define NT_RECORD_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct nt_command {
	pid_t pid;		/* 0: there is none */
	int go_fd;		/* closing it lets it go */
	bool ended;
	int status;		/* as a shell gives it: exit status, or 128 + signal; 127, 126: could not be run */
};

/* `signals` are those blocked here, which the command gets back. 0 or a negative errno. */
int nt_command_prepare(struct nt_command *command, char *const *argv, const sigset_t *signals);
void nt_command_go(struct nt_command *command);
/* Whether it has ended, without waiting. */
bool nt_command_has_ended(struct nt_command *command);
/* Passes a signal on and waits until it has ended; at most half a second, if it was a signal that ended us. */
void nt_command_end(struct nt_command *command, int signal_number);

#endif

// SPDX-License-Identifier: GPL-2.0-only
/* command.c - see command.h. */
#include "record/command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void run(char *const *argv, int wait_fd, const sigset_t *signals)
{
	char byte;

	sigprocmask(SIG_UNBLOCK, signals, NULL);
	if (read(wait_fd, &byte, 1) < 0)
		_exit(126);
	execvp(argv[0], argv);
	fprintf(stderr, "nettape-record: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

int nt_command_prepare(struct nt_command *command, char *const *argv, const sigset_t *signals)
{
	int fds[2];

	memset(command, 0, sizeof(*command));
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	command->pid = fork();
	if (command->pid < 0)
		return -errno;
	if (!command->pid) {
		close(fds[1]);
		run(argv, fds[0], signals);
	}
	close(fds[0]);
	command->go_fd = fds[1];
	return 0;
}

void nt_command_go(struct nt_command *command)
{
	if (command->pid && command->go_fd)
		close(command->go_fd);
	command->go_fd = 0;
}

static bool reap(struct nt_command *command, int flags)
{
	int status;

	if (command->ended || waitpid(command->pid, &status, flags) != command->pid)
		return command->ended;
	command->ended = true;
	command->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return true;
}

bool nt_command_has_ended(struct nt_command *command)
{
	return command->pid && reap(command, WNOHANG);
}

void nt_command_end(struct nt_command *command, int signal_number)
{
	struct timespec pause = { .tv_nsec = 10000000 };
	int tries;

	if (!command->pid)
		return;
	if (!signal_number) {
		reap(command, 0);
		return;
	}
	kill(command->pid, signal_number);
	for (tries = 0; tries < 50 && !reap(command, WNOHANG); tries++)
		nanosleep(&pause, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * child.c - see child.h.
 */
#include "record/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct program {
	char *const *argv;
	const sigset_t *signals;
	nt_child_set_up_fn *set_up;
	void *arg;
};

static void run(const struct program *program, int wait_fd)
{
	char *const *argv = program->argv;
	char byte;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, program->signals, NULL);
	if (read(wait_fd, &byte, 1) != 1 || (program->set_up && !program->set_up(program->arg)))
		_exit(126);
	execvp(argv[0], argv);
	fprintf(stderr, "nettape-record: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

int nt_child_prepare(struct nt_child *child, char *const *argv, const sigset_t *signals, nt_child_set_up_fn *set_up,
		     void *arg)
{
	const struct program program = {.argv = argv, .signals = signals, .set_up = set_up, .arg = arg};
	int fds[2], error;
	pid_t pid;

	memset(child, 0, sizeof(*child));
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = fork();
	error = pid < 0 ? -errno : 0;
	if (!pid) {
		close(fds[1]);
		run(&program, fds[0]);
	}
	close(fds[0]);
	if (error) {
		close(fds[1]);
		return error;
	}
	/* Only a process that there is: signals to -1 reach all of the host. */
	*child = (struct nt_child){.pid = pid, .go_fd = fds[1]};
	return 0;
}

void nt_child_go(struct nt_child *child)
{
	if (!child->pid || !child->go_fd)
		return;
	/* Fails only if the child is gone, which its status will tell. */
	(void)!write(child->go_fd, "", 1);
	close(child->go_fd);
	child->go_fd = 0;
}

static bool reap(struct nt_child *child, int flags)
{
	int status;

	if (child->ended || waitpid(child->pid, &status, flags) != child->pid)
		return child->ended;
	child->ended = true;
	child->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return true;
}

bool nt_child_has_ended(struct nt_child *child)
{
	return child->pid && reap(child, WNOHANG);
}

int nt_child_wait(struct nt_child *child, const sigset_t *signals)
{
	int number;

	while (child->pid && !reap(child, WNOHANG)) {
		number = sigwaitinfo(signals, NULL);
		if (number > 0 && number != SIGCHLD)
			return number;
	}
	return 0;
}

void nt_child_end(struct nt_child *child, int signal_number)
{
	struct timespec pause = {.tv_nsec = 10000000};

	if (!child->pid || child->ended)
		return;
	kill(child->pid, signal_number);
	/* One that still waits to be let go ends by this. */
	if (child->go_fd)
		close(child->go_fd);
	child->go_fd = 0;
	for (int tries = 0; tries < 50 && !reap(child, WNOHANG); tries++)
		nanosleep(&pause, NULL);
}

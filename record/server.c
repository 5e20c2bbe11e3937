// SPDX-License-Identifier: GPL-2.0-only
/* server.c - see server.h. */
#include "record/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "schema/cli/arg.h"
#include "schema/cli/listen.h"

#define BACKLOG 128
#define NO_GROUP 65534 /* the kernel's for those that have none here: nothing belongs to it */

/* ---- in the child ---- */

static bool complain(const char *what)
{
	fprintf(stderr, "nettape-record: --serve: %s: %s\n", what, strerror(errno));
	return false;
}

/* All that we may do is gone with this, also for programs that it starts. */
static bool become(const struct nt_tape_owner *owner)
{
	const gid_t gid = owner->gid == (gid_t)-1 ? NO_GROUP : owner->gid;

	if (owner->is_other &&
	    (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(owner->uid, owner->uid, owner->uid)))
		return complain("cannot become the user of the tape");
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return complain("cannot give up rights");
	return true;
}

/* Nothing of what root has open, or in its environment, is for that user. */
static bool pass_on(const struct nt_server *server)
{
	const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	char pid[16];

	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(server->its_said_fd, STDOUT_FILENO) < 0 ||
	    dup2(server->its_said_fd, STDERR_FILENO) < 0)
		return complain("cannot open its standard output");
	if (server->listener == NT_LISTEN_PASSED_FD ? fcntl(NT_LISTEN_PASSED_FD, F_SETFD, 0) < 0
						    : dup2(server->listener, NT_LISTEN_PASSED_FD) < 0)
		return complain("cannot pass on its socket");
	/* Kernels before 5.9 do not know it. */
	close_range(NT_LISTEN_PASSED_FD + 1, UINT_MAX, 0);
	snprintf(pid, sizeof(pid), "%d", getpid());
	return !clearenv() && !setenv("LISTEN_PID", pid, 1) && !setenv("LISTEN_FDS", "1", 1);
}

/*
 * Ctrl-C on the terminal is for the recorder, which then ends the server. Should it be killed, the kernel does: that is
 * asked for last, for another user's process forgets it.
 */
static bool set_up(void *arg)
{
	const struct nt_server *server = arg;

	return !setpgid(0, 0) && pass_on(server) && become(&server->options->owner) &&
	       !prctl(PR_SET_PDEATHSIG, SIGTERM);
}

/* ---- making it ready ---- */

/* The program beside ours: of the same version, and no other user's. */
static int find(char path[PATH_MAX], char *message, size_t size)
{
	const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
	static const char name[] = "nettape-serve";
	char *last;

	path[n < 0 ? 0 : n] = 0;
	last = strrchr(path, '/');
	if (!last || last + sizeof(name) >= path + PATH_MAX)
		return -ENOENT;
	strcpy(last + 1, name);
	if (!access(path, X_OK))
		return 0;
	snprintf(message, size,
		 "--serve needs %s: %s; where nettape is built, it needs libmicrohttpd (make deps): install it, or "
		 "leave --serve out",
		 path, strerror(errno));
	return -errno;
}

static int bind_port(int fd, uint16_t port)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};

	return bind(fd, (const struct sockaddr *)&address, sizeof(address));
}

/* The usual port. Where another server has it, any that is free: the server prints which. */
static int listen_locally(struct nt_server *server)
{
	const int yes = 1;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	server->listener = fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind_port(fd, NT_LISTEN_PORT) && (errno != EADDRINUSE || bind_port(fd, 0)))
		return -errno;
	return listen(fd, BACKLOG) ? -errno : 0;
}

static int open_files(struct nt_server *server)
{
	int said[2];

	if (pipe2(said, O_CLOEXEC))
		return -errno;
	server->said_fd = said[0];
	server->its_said_fd = said[1];
	if (fcntl(server->said_fd, F_SETFL, O_NONBLOCK))
		return -errno;
	return listen_locally(server);
}

static void close_one(int *fd)
{
	if (*fd)
		close(*fd);
	*fd = 0;
}

int nt_server_prepare(struct nt_server *server, const struct nt_record_options *options, const sigset_t *signals,
		      char *message, size_t size)
{
	char path[PATH_MAX];
	char *const argv[] = {path, (char *)options->output, NULL};
	int error;

	*server = (struct nt_server){.options = options, .recorder = getpid()};
	error = find(path, message, size);
	if (error)
		return error;
	error = open_files(server);
	if (!error)
		error = nt_child_prepare(&server->child, argv, signals, set_up, server);
	if (error)
		snprintf(message, size, "--serve: no server can be started: %s", strerror(-error));
	close_one(&server->listener);
	close_one(&server->its_said_fd);
	return error;
}

/* ---- while it runs ---- */

void nt_server_go(struct nt_server *server)
{
	nt_child_go(&server->child);
}

/* A terminal that is stopped takes nothing, and the recorder has other things to do. */
static bool can_print(void)
{
	struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&out, 1, 0) == 1;
}

static void tell_end(struct nt_server *server)
{
	char tape[4 * NT_OUTPUT_MAX + 4];

	close_one(&server->said_fd);
	fprintf(stderr,
		"nettape-record: nettape-serve has ended with status %d; the recording goes on, and nettape-serve %s "
		"shows it again\n",
		server->child.status, nt_arg_shell(tape, sizeof(tape), server->options->output));
}

void nt_server_print(struct nt_server *server, struct nt_status *status)
{
	char text[4096];
	ssize_t n;

	if (!server->said_fd || !can_print())
		return;
	n = read(server->said_fd, text, sizeof(text));
	if (n < 0 || (!n && !nt_child_has_ended(&server->child)))
		return;
	nt_status_hide(status);
	if (n)
		fwrite(text, 1, (size_t)n, stderr);
	else
		tell_end(server);
}

void nt_server_release(struct nt_server *server)
{
	nt_child_end(&server->child, SIGTERM);
	nt_child_end(&server->child, SIGKILL);
	close_one(&server->said_fd);
}

// SPDX-License-Identifier: GPL-2.0-only
/* server.c - see server.h. */
#include "record/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "schema/cli/arg.h"
#include "schema/cli/listen.h"

#define BACKLOG 128
#define NO_GROUP 65534 /* the kernel's for those that have none here */
#define SIGNALLED 128 /* a status above it is that of a signal */

/* ---- in the child: nothing that the recorder has is left for another user ---- */

static bool complain(const char *what)
{
	fprintf(stderr, "nettape-record: --serve: %s: %s\n", what, strerror(errno));
	return false;
}

static bool pass_files(const struct nt_server *server)
{
	if (dup2(server->its_end_fd, STDIN_FILENO) < 0 || dup2(server->its_said_fd, STDOUT_FILENO) < 0 ||
	    dup2(server->its_said_fd, STDERR_FILENO) < 0)
		return complain("cannot pass on its output");
	if (server->listener == NT_LISTEN_PASSED_FD ? fcntl(NT_LISTEN_PASSED_FD, F_SETFD, 0) < 0
						    : dup2(server->listener, NT_LISTEN_PASSED_FD) < 0)
		return complain("cannot pass on its socket");
	if (close_range(NT_LISTEN_PASSED_FD + 1, UINT_MAX, 0))
		return complain("cannot close files");
	return true;
}

static bool pass_environment(void)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	if (clearenv() || setenv("LISTEN_PID", pid, 1) || setenv("LISTEN_FDS", "1", 1))
		return complain("cannot set its environment");
	return true;
}

/* A terminal could be written to, or typed into; and Ctrl-C there is for the recorder alone. */
static bool leave(void)
{
	if (setsid() < 0 || chdir("/"))
		return complain("cannot leave the terminal and the directory");
	/* Where keys are not for us, they are not for it either. */
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS && errno != EPERM)
		return complain("cannot leave the keyring");
	return true;
}

/* The recorder may have been given more than is usual. */
static bool be_ordinary(void)
{
	const struct sched_param ordinary = {.sched_priority = 0};
	const int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;

	if ((policy == SCHED_FIFO || policy == SCHED_RR) && sched_setscheduler(0, SCHED_OTHER, &ordinary))
		return complain("cannot leave its priority");
	if (getpriority(PRIO_PROCESS, 0) < 0 && setpriority(PRIO_PROCESS, 0, 0))
		return complain("cannot leave its priority");
	return true;
}

/* With this, all that we may do is gone, also for programs that it starts. */
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

/*
 * The kernel sends it SIGTERM when the recorder closes the pipe, or ends in any other way. A recorder without CAP_KILL
 * could not, and the signal of a parent's death takes that, too.
 */
static bool end_with_pipe(void)
{
	struct pollfd pipe = {.fd = STDIN_FILENO};

	signal(SIGTERM, SIG_DFL);
	if (fcntl(STDIN_FILENO, F_SETOWN, getpid()) || fcntl(STDIN_FILENO, F_SETSIG, SIGTERM) ||
	    fcntl(STDIN_FILENO, F_SETFL, O_ASYNC))
		return complain("cannot be told of the end");
	/* It may have been closed before. */
	return poll(&pipe, 1, 0) == 0;
}

static bool set_up(void *arg)
{
	const struct nt_server *server = arg;

	return pass_files(server) && pass_environment() && leave() && be_ordinary() &&
	       become(&server->options->owner) && end_with_pipe();
}

/* ---- making it ready ---- */

/* The program beside ours, which is of the same version. */
static int find(char path[PATH_MAX], char *message, size_t size)
{
	static const char name[] = "nettape-serve";
	const ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - sizeof(name));
	int error;

	path[n < 0 ? 0 : n] = 0;
	strcpy(strrchr(path, '/') ? strrchr(path, '/') + 1 : path, name);
	if (!access(path, X_OK))
		return 0;
	error = -errno;
	snprintf(message, size,
		 "--serve needs %s: %s; it is built where libmicrohttpd is (make deps): install it, or leave --serve "
		 "out",
		 path, strerror(-error));
	return error;
}

static int name_tape(struct nt_server *server)
{
	const char *output = server->options->output;
	char directory[NT_OUTPUT_MAX] = "";

	if (output[0] != '/' && !getcwd(directory, sizeof(directory)))
		return -errno;
	snprintf(server->tape, sizeof(server->tape), "%s%s%s", directory, directory[0] ? "/" : "", output);
	return 0;
}

static int open_pipe(int *read_fd, int *write_fd)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	*read_fd = fds[0];
	*write_fd = fds[1];
	return 0;
}

static void close_one(int *fd)
{
	if (*fd)
		close(*fd);
	*fd = 0;
}

static int listen_at(struct nt_server *server, uint16_t port)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(port)};
	const int yes = 1;
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	server->listener = fd;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	return bind(fd, (const struct sockaddr *)&address, sizeof(address)) || listen(fd, BACKLOG) ? -errno : 0;
}

/* The usual port. Where another server has it, any that is free: the server prints which. */
static int open_listener(struct nt_server *server)
{
	const int error = listen_at(server, NT_LISTEN_PORT);

	if (error != -EADDRINUSE)
		return error;
	close_one(&server->listener);
	return listen_at(server, 0);
}

static int open_files(struct nt_server *server)
{
	int error = open_pipe(&server->said_fd, &server->its_said_fd);

	if (!error && fcntl(server->said_fd, F_SETFL, O_NONBLOCK))
		error = -errno;
	if (!error)
		error = open_pipe(&server->its_end_fd, &server->end_fd);
	return error ? error : open_listener(server);
}

int nt_server_prepare(struct nt_server *server, const struct nt_record_options *options, const sigset_t *signals,
		      char *message, size_t size)
{
	char path[PATH_MAX];
	char *const argv[] = {path, server->tape, NULL};
	int error;

	*server = (struct nt_server){.options = options};
	error = find(path, message, size);
	if (error)
		return error;
	error = name_tape(server);
	if (!error)
		error = open_files(server);
	if (!error)
		error = nt_child_prepare(&server->child, argv, signals, set_up, server);
	if (error)
		snprintf(message, size, "--serve: no server can be started: %s; leave --serve out", strerror(-error));
	close_one(&server->listener);
	close_one(&server->its_said_fd);
	close_one(&server->its_end_fd);
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

/* It is another user's: what it says must not move the cursor of this one. */
static void print_said(struct nt_server *server, char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		const unsigned char byte = (unsigned char)text[i];
		/* Also those that UTF-8 has in two bytes, U+0080 to U+009F, of which the first may have come before. */
		const bool is_control = (byte < ' ' && byte != '\n') || byte == 0x7f ||
					(server->last_said == 0xc2 && byte >= 0x80 && byte < 0xa0);

		server->last_said = byte;
		if (is_control)
			text[i] = '?';
	}
	fwrite(text, 1, size, stderr);
}

static void print_end(struct nt_server *server)
{
	char tape[4 * sizeof(server->tape) + 4];

	close_one(&server->said_fd);
	fprintf(stderr, "nettape-record: nettape-serve has ended with status %d; the recording goes on without it",
		server->child.status);
	/* It did not refuse: somebody ended it. */
	if (server->child.status > SIGNALLED)
		fprintf(stderr, ", and nettape-serve %s shows it again",
			nt_arg_shell(tape, sizeof(tape), server->tape));
	fputc('\n', stderr);
}

void nt_server_print(struct nt_server *server, struct nt_status *status, bool goes_on)
{
	char text[1024];
	ssize_t n;

	if (!server->said_fd || !can_print())
		return;
	n = read(server->said_fd, text, sizeof(text));
	if (n < 0 || (!n && !(goes_on && nt_child_has_ended(&server->child))))
		return;
	nt_status_hide(status);
	if (n)
		print_said(server, text, (size_t)n);
	else
		print_end(server);
}

void nt_server_release(struct nt_server *server)
{
	close_one(&server->end_fd);
	nt_child_end(&server->child, 0);
	nt_child_end(&server->child, SIGKILL);
	close_one(&server->said_fd);
}

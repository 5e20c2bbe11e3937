// SPDX-License-Identifier: GPL-2.0-only
/*
 * stamps.c - see stamps.h. A worker thread of the kernel switches timestamps on, and may be late on a crowded host. So
 * the socket sends itself a byte until that byte has a timestamp.
 */
#include "record/stamps.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define TRIES 500
#define PAUSE_NS 10000000

/* Whether there is a loopback device to be sent through: else there is no way to ask. */
static bool talks_to_itself(int fd)
{
	struct sockaddr_in self = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(self);

	return !bind(fd, (struct sockaddr *)&self, size) && !getsockname(fd, (struct sockaddr *)&self, &size) &&
	       !connect(fd, (struct sockaddr *)&self, size);
}

/* The packet that comes carries a time, or none comes. */
static bool is_stamped(int fd)
{
	union {
		struct cmsghdr header;
		char room[256];
	} control;
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	char byte = 0;
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};

	if (send(fd, &byte, 1, MSG_DONTWAIT) != 1 || poll(&ready, 1, 100) != 1 ||
	    recvmsg(fd, &message, MSG_DONTWAIT) != 1)
		return true;
	for (struct cmsghdr *at = CMSG_FIRSTHDR(&message); at; at = CMSG_NXTHDR(&message, at))
		if (at->cmsg_level == SOL_SOCKET && at->cmsg_type == SCM_TIMESTAMPING)
			return true;
	return false;
}

/* Whether a signal is waiting that will end the recording: the recorder takes these when it can. */
static bool is_interrupted(void)
{
	sigset_t waiting;

	return !sigpending(&waiting) &&
	       (sigismember(&waiting, SIGINT) || sigismember(&waiting, SIGTERM) || sigismember(&waiting, SIGHUP));
}

int nt_stamps_open(bool *come)
{
	int flags = SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE, error;
	struct timespec pause = {.tv_nsec = PAUSE_NS};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags))) {
		error = -errno;
		close(fd);
		return error;
	}
	*come = !talks_to_itself(fd);
	for (int tries = 0; tries < TRIES && !*come && !is_interrupted(); tries++) {
		*come = is_stamped(fd);
		if (!*come)
			nanosleep(&pause, NULL);
	}
	return fd;
}

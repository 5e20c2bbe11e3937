// SPDX-License-Identifier: GPL-2.0-only
/*
 * stamps_test.c - waiting until the kernel timestamps packets: it does at once, late or never; there is no loopback
 * device to ask with; a signal ends the wait. The sockets are real, what they are told and what they say is made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "record/stamps.h"

static struct {
	/* what a test asks for */
	int refused_family, refused_option; /* errno */
	bool no_ipv6, no_bind, no_name, no_connect, no_send, no_poll, no_receive;
	int stamped_from; /* the n-th byte has a time, and those after it */
	int level, type; /* of what comes with the others */
	int signal_at, signal; /* it waits after so many bytes */
	bool no_signals; /* they cannot be asked for */
	/* what has been seen */
	int fd, family, n_sent, n_slept, flags;
	long slept_ns;
} host;

int socket(int family, int type, int protocol)
{
	(void)protocol;
	assert_int_equal(type, SOCK_DGRAM | SOCK_CLOEXEC);
	if (host.refused_family && (family == AF_INET || host.no_ipv6)) {
		errno = host.refused_family;
		return -1;
	}
	host.family = family;
	return host.fd = memfd_create("socket", MFD_CLOEXEC);
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	assert_int_equal(fd, host.fd);
	assert_int_equal(level, SOL_SOCKET);
	assert_int_equal(name, SO_TIMESTAMPING);
	assert_int_equal(size, sizeof(host.flags));
	memcpy(&host.flags, value, size);
	errno = host.refused_option;
	return host.refused_option ? -1 : 0;
}

int bind(int fd, __CONST_SOCKADDR_ARG address, socklen_t size)
{
	const struct sockaddr_in *self = address.__sockaddr_in__;

	assert_int_equal(fd, host.fd);
	assert_int_equal(size, sizeof(*self));
	assert_int_equal(self->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	assert_int_equal(self->sin_port, 0);
	return host.no_bind ? -1 : 0;
}

int getsockname(int fd, __SOCKADDR_ARG address, socklen_t *restrict size)
{
	assert_int_equal(fd, host.fd);
	assert_int_equal(*size, sizeof(struct sockaddr_in));
	address.__sockaddr_in__->sin_port = htons(4711);
	return host.no_name ? -1 : 0;
}

int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t size)
{
	(void)size;
	assert_int_equal(fd, host.fd);
	assert_int_equal(address.__sockaddr_in__->sin_port, htons(4711));
	return host.no_connect ? -1 : 0;
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	(void)data;
	assert_int_equal(fd, host.fd);
	assert_int_equal(size, 1);
	assert_int_equal(flags, MSG_DONTWAIT);
	host.n_sent++;
	return host.no_send ? -1 : 1;
}

int poll(struct pollfd *ready, nfds_t n, int ms)
{
	assert_int_equal(n, 1);
	assert_int_equal(ready->fd, host.fd);
	assert_int_equal(ready->events, POLLIN);
	assert_int_equal(ms, 100);
	return host.no_poll ? 0 : 1;
}

static struct cmsghdr *put_control(struct cmsghdr *at, int level, int type)
{
	*at = (struct cmsghdr){.cmsg_len = CMSG_LEN(8), .cmsg_level = level, .cmsg_type = type};
	return (struct cmsghdr *)(void *)((uint8_t *)at + CMSG_SPACE(8));
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	struct cmsghdr *at = message->msg_control;

	assert_int_equal(fd, host.fd);
	assert_int_equal(flags, MSG_DONTWAIT);
	assert_int_equal(message->msg_iovlen, 1);
	assert_int_equal(message->msg_iov->iov_len, 1);
	assert_true(message->msg_controllen >= 2 * CMSG_SPACE(8));
	if (host.type)
		at = put_control(at, host.level, host.type);
	if (host.stamped_from && host.n_sent >= host.stamped_from)
		at = put_control(at, SOL_SOCKET, SCM_TIMESTAMPING);
	message->msg_controllen = (size_t)((uint8_t *)at - (uint8_t *)message->msg_control);
	return host.no_receive ? -1 : 1;
}

int sigpending(sigset_t *waiting)
{
	sigemptyset(waiting);
	if (host.signal && host.n_sent >= host.signal_at)
		sigaddset(waiting, host.signal);
	return host.no_signals ? -1 : 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	(void)left;
	assert_int_equal(time->tv_sec, 0);
	host.slept_ns += time->tv_nsec;
	host.n_slept++;
	return 0;
}

/* ---- tests ---- */

static int set_up(void **state)
{
	(void)state;
	memset(&host, 0, sizeof(host));
	return 0;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* Whether they come. The socket is given, and stays open. */
static bool opens(void)
{
	bool come = false;
	int fd = nt_stamps_open(&come);

	assert_true(fd >= 0);
	assert_int_equal(fd, host.fd);
	assert_true(is_open(fd));
	assert_int_equal(host.flags, SOF_TIMESTAMPING_RX_SOFTWARE | SOF_TIMESTAMPING_SOFTWARE);
	close(fd);
	return come;
}

static void stamps_come(void **state)
{
	(void)state;
	host.stamped_from = 1;
	assert_true(opens());
	assert_int_equal(host.family, AF_INET);
	assert_int_equal(host.n_sent, 1);
	assert_int_equal(host.n_slept, 0);
}

/* Other control messages with a byte are no time. */
static void stamps_come_late(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		memset(&host, 0, sizeof(host));
		host.stamped_from = 4;
		host.level = i == 1 ? SOL_IP : SOL_SOCKET;
		host.type = i == 0 ? 0 : i == 1 ? SCM_TIMESTAMPING : SCM_TIMESTAMPING + 1;
		assert_true(opens());
		assert_int_equal(host.n_sent, 4);
		assert_int_equal(host.n_slept, 3);
		assert_int_equal(host.slept_ns, 30000000);
	}
}

static void stamps_never_come(void **state)
{
	(void)state;
	assert_false(opens());
	assert_int_equal(host.n_sent, 500);
	assert_int_equal(host.slept_ns, 5000000000);
}

static void without_a_loopback_there_is_no_way_to_ask(void **state)
{
	bool *const missing[] = {&host.no_bind, &host.no_name, &host.no_connect};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		memset(&host, 0, sizeof(host));
		*missing[i] = true;
		assert_true(opens());
		assert_int_equal(host.n_sent, 0);
	}
}

static void what_does_not_come_has_no_time(void **state)
{
	bool *const missing[] = {&host.no_send, &host.no_poll, &host.no_receive};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		memset(&host, 0, sizeof(host));
		*missing[i] = true;
		assert_true(opens());
		assert_int_equal(host.n_sent, 1);
		assert_int_equal(host.n_slept, 0);
	}
}

static void a_signal_ends_the_wait(void **state)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		memset(&host, 0, sizeof(host));
		host.signal = signals[i];
		host.signal_at = 2;
		host.stamped_from = 6;
		assert_int_equal(opens(), signals[i] == SIGUSR1);
		assert_int_equal(host.n_sent, signals[i] == SIGUSR1 ? 6 : 2);
	}
	host.signal = SIGINT;
	host.n_sent = 0;
	host.no_signals = true;
	assert_true(opens());
}

static void sockets_may_be_refused(void **state)
{
	bool come;

	(void)state;
	host.refused_family = EAFNOSUPPORT;
	host.stamped_from = 1;
	assert_true(opens());
	assert_int_equal(host.family, AF_INET6);
	host.no_ipv6 = true;
	assert_int_equal(nt_stamps_open(&come), -EAFNOSUPPORT);
	host.refused_family = 0;
	host.refused_option = EPERM;
	assert_int_equal(nt_stamps_open(&come), -EPERM);
	assert_false(is_open(host.fd));
}

/* Whoever has closed standard input gets its number. */
static void the_socket_may_be_number_0(void **state)
{
	(void)state;
	close(STDIN_FILENO);
	host.stamped_from = 1;
	assert_true(opens());
	assert_int_equal(host.fd, 0);
	assert_int_equal(host.family, AF_INET);
	host.refused_family = EAFNOSUPPORT;
	assert_true(opens());
	assert_int_equal(host.fd, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(stamps_come, set_up),
		cmocka_unit_test_setup(stamps_come_late, set_up),
		cmocka_unit_test_setup(stamps_never_come, set_up),
		cmocka_unit_test_setup(without_a_loopback_there_is_no_way_to_ask, set_up),
		cmocka_unit_test_setup(what_does_not_come_has_no_time, set_up),
		cmocka_unit_test_setup(a_signal_ends_the_wait, set_up),
		cmocka_unit_test_setup(sockets_may_be_refused, set_up),
		cmocka_unit_test_setup(the_socket_may_be_number_0, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * churn.c - churn SOCKETS EVERY: so many UDP sockets, one after the other, each used once, and a process at every so
 * many of them. A socket sends one byte to another of this program's, which stays open all the time; it is read before
 * the next. That one and a third, old one, which sends first and last, tell whether what stays is still known. Prints
 * "cookies RECEIVER OLD", as `ss -e` shows them.
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static int udp_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	if (fd < 0)
		give_up("socket");
	return fd;
}

static void pass_one(int from, int to, const struct sockaddr_in *at)
{
	char byte = 0;

	if (sendto(from, &byte, 1, 0, (const struct sockaddr *)at, sizeof(*at)) != 1)
		give_up("sendto");
	if (recv(to, &byte, 1, 0) != 1)
		give_up("recv");
}

static unsigned long long cookie_of(int fd)
{
	uint64_t cookie;
	socklen_t size = sizeof(cookie);

	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size))
		give_up("SO_COOKIE");
	return cookie;
}

static void run_one(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		give_up("vfork");
}

int main(int argc, char **argv)
{
	const long sockets = argc > 1 ? atol(argv[1]) : 0, every = argc > 2 ? atol(argv[2]) : 1;
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int receiver = udp_socket(), old = udp_socket();
	socklen_t size = sizeof(at);

	prctl(PR_SET_NAME, "churn");
	if (bind(receiver, (struct sockaddr *)&at, sizeof(at)) || getsockname(receiver, (struct sockaddr *)&at, &size))
		give_up("bind");
	pass_one(old, receiver, &at);
	for (long i = 0; i < sockets; i++) {
		int fd = udp_socket();

		pass_one(fd, receiver, &at);
		close(fd);
		if (i % every == 0)
			run_one();
	}
	pass_one(old, receiver, &at);
	printf("cookies %llu %llu\n", cookie_of(receiver), cookie_of(old));
	return 0;
}

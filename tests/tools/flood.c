/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flood - network load from plain loops, as much as goes, until a signal ends it, or by itself after five minutes.
 *
 *   flood udp-send ADDRESS PORT SIZE [RATE]   one sendto a datagram; RATE a second, in bursts of a millisecond
 *   flood udp-recv ADDRESS PORT [USECS [CALL]]   one recvfrom a datagram; USECS of busy polling (SO_BUSY_POLL), in
 *                                             recvfrom itself or before it in CALL: epoll or poll; CALL nap takes
 *                                             what is there once in a millisecond
 *   flood tcp-send ADDRESS PORT SIZE          one write of SIZE bytes after another
 *   flood tcp-recv ADDRESS PORT               takes one connection, reads all
 *
 * IPv4 or IPv6. Meant for network namespaces and loopback.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef SO_BUSY_POLL_BUDGET
#define SO_BUSY_POLL_BUDGET 70
#endif
#define MAX_SIZE (1u << 20)
#define MAX_SECONDS 300

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

static int die(const char *what)
{
	fprintf(stderr, "flood: %s: %s\n", what, strerror(errno));
	return 1;
}

/* Ends a burst: sleeps until the next millisecond that is due. */
static void pace(struct timespec *due)
{
	due->tv_nsec += 1000000;
	if (due->tv_nsec >= 1000000000) {
		due->tv_nsec -= 1000000000;
		due->tv_sec++;
	}
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, due, NULL);
}

static int udp_send(int fd, const union address *to, const char *data, size_t size, unsigned long rate)
{
	unsigned long burst = (rate + 999) / 1000, sent = 0;
	struct timespec due;

	clock_gettime(CLOCK_MONOTONIC, &due);
	for (;;) {
		if (burst && sent++ % burst == 0)
			pace(&due);
		/* Nobody listening yet, or no room just now: neither ends a flood. */
		if (sendto(fd, data, size, 0, &to->any, sizeof(*to)) < 0 && errno != ECONNREFUSED && errno != ENOBUFS)
			return die("sendto");
	}
}

/* Takes what is there every millisecond: with busy polling, the device is polled then, and only then. */
static int drain_and_nap(int fd, char *data)
{
	struct timespec due;

	clock_gettime(CLOCK_MONOTONIC, &due);
	for (;;) {
		while (recvfrom(fd, data, MAX_SIZE, MSG_DONTWAIT, NULL, NULL) >= 0)
			;
		if (errno != EAGAIN)
			return die("recvfrom");
		pace(&due);
	}
}

static int poll_busily(int fd, int usecs)
{
	int budget = 64;

	if (setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &usecs, sizeof(usecs)))
		return die("SO_BUSY_POLL");
	if (setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL_BUDGET, &budget, sizeof(budget)))
		return die("SO_BUSY_POLL_BUDGET");
	return 0;
}

/* `call`: what waits for a datagram. */
static int udp_recv(int fd, const union address *at, char *data, int busy_usecs, const char *call)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct pollfd ready = {.fd = fd, .events = POLLIN};
	int epoll = epoll_create1(0);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		return die("epoll");
	if (busy_usecs && poll_busily(fd, busy_usecs))
		return 1;
	if (bind(fd, &at->any, sizeof(*at)))
		return die("bind");
	if (!strcmp(call, "nap"))
		return drain_and_nap(fd, data);
	for (;;) {
		if ((!strcmp(call, "epoll") && epoll_wait(epoll, &event, 1, -1) < 0) ||
		    (!strcmp(call, "poll") && poll(&ready, 1, -1) < 0))
			return die(call);
		if (recvfrom(fd, data, MAX_SIZE, 0, NULL, NULL) < 0)
			return die("recvfrom");
	}
}

static int tcp_send(int fd, const union address *to, const char *data, size_t size)
{
	const struct timespec nap = {.tv_nsec = 10000000};

	for (int tries = 0; connect(fd, &to->any, sizeof(*to)); tries++) {
		if (errno != ECONNREFUSED || tries > 500)
			return die("connect");
		nanosleep(&nap, NULL);
	}
	for (;;) {
		if (write(fd, data, size) < 0)
			return die("write");
	}
}

static int tcp_recv(int fd, const union address *at, char *data)
{
	ssize_t got;
	int from;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int)) || bind(fd, &at->any, sizeof(*at)) ||
	    listen(fd, 1))
		return die("listen");
	from = accept(fd, NULL, NULL);
	if (from < 0)
		return die("accept");
	do {
		got = read(from, data, MAX_SIZE);
	} while (got > 0);
	return got < 0 ? die("read") : 0;
}

static bool parse_address(const char *host, const char *port, union address *address)
{
	if (inet_pton(AF_INET6, host, &address->six.sin6_addr) == 1) {
		address->six.sin6_family = AF_INET6;
		address->six.sin6_port = htons((uint16_t)atoi(port));
		return true;
	}
	address->four.sin_family = AF_INET;
	address->four.sin_port = htons((uint16_t)atoi(port));
	return inet_pton(AF_INET, host, &address->four.sin_addr) == 1;
}

int main(int argc, char **argv)
{
	static char data[MAX_SIZE];
	union address address = {.any = {AF_UNSPEC}};
	bool sends = argc > 1 && (!strcmp(argv[1], "udp-send") || !strcmp(argv[1], "tcp-send"));
	bool udp = argc > 1 && !strncmp(argv[1], "udp-", 4);
	size_t size = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
	unsigned long rate = argc > 5 ? strtoul(argv[5], NULL, 10) : 0;
	int fd;

	if (argc < (sends ? 5 : 4) ||
	    argc > (udp	    ? 6
		    : sends ? 5
			    : 4) ||
	    size > MAX_SIZE || !parse_address(argv[2], argv[3], &address)) {
		fprintf(stderr, "usage: flood udp-send|udp-recv|tcp-send|tcp-recv ADDRESS PORT [SIZE [RATE]]\n"
				"       flood udp-recv ADDRESS PORT USECS [recv|epoll|poll|nap]\n");
		return 2;
	}
	alarm(MAX_SECONDS);
	fd = socket(address.any.sa_family, udp ? SOCK_DGRAM : SOCK_STREAM, 0);
	if (fd < 0)
		return die("socket");
	if (sends)
		return udp ? udp_send(fd, &address, data, size, rate) : tcp_send(fd, &address, data, size);
	return udp ? udp_recv(fd, &address, data, argc > 4 ? atoi(argv[4]) : 0, argc > 5 ? argv[5] : "recv")
		   : tcp_recv(fd, &address, data);
}

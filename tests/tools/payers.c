// SPDX-License-Identifier: GPL-2.0-only
/*
 * payers - traffic of which is known who should pay for receiving it.
 *
 *   payers send ADDRESS PORT ROUNDS   each round: one datagram to PORT, three to PORT + 1, all of 200 bytes
 *   payers rows ADDRESS PORT ROUNDS   to PORT, PORT + 1, + 2 and + 3 so many each, 20 to one and then 20 to the next:
 *                                     packets of all cost the same, whatever the first one to a socket does
 *   payers shout ADDRESS PORT COUNT   so many datagrams of 200 bytes, whether anybody is there or not
 *   payers bury ADDRESS PORT COUNT    the same, each after 40 datagrams of 1,000 bytes
 *   payers apart ADDRESS PORT COUNT   the same as bury, but half a millisecond before and after each small one
 *   payers pose ADDRESS PORT COUNT    the same as shout, each from another address and port; PORT 0: also to another
 *                                     port
 *   payers hold ADDRESS PORT [COUNT]  lets datagrams wait, of so many ports (1); reads them all when its input ends,
 * and prints how many. Several may hold one port, and share what comes payers ask ADDRESS PORT COUNT     a TCP
 * connection: so many requests of 50 bytes, each answered before the next payers answer ADDRESS PORT COUNT  the other
 * end payers visit ADDRESS PORT COUNT   so many TCP connections, one after the other: one request, one answer on each
 *   payers serve ADDRESS PORT COUNT   the other end
 *   payers knock ADDRESS PORT COUNT   so many TCP connections on which nothing is sent or received
 *   payers stay ADDRESS PORT          one of these, until its input ends
 *   payers listen ADDRESS PORT        their other end: accepts none, until its input ends
 *
 * A fifth argument `mptcp` makes the connections those of MPTCP. A receiver, and one that stays, says "ready" first.
 * IPv4.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/socket.h>
#include <unistd.h>

#define DATAGRAM 200
#define LARGE_DATAGRAM 1000
#define LARGE_BEFORE_SMALL 40
#define ROW 20
#define REQUEST 50
#define BUFFER (64 << 20) /* bytes that may wait */
#define BACKLOG 4096 /* connections that may wait */

static int stream_protocol = IPPROTO_TCP;

static int die(const char *what)
{
	fprintf(stderr, "payers: %s: %s\n", what, strerror(errno));
	return 1;
}

static void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

static struct sockaddr_in port_behind(const struct sockaddr_in *first, int by)
{
	struct sockaddr_in address = *first;

	address.sin_port = htons((uint16_t)(ntohs(first->sin_port) + by));
	return address;
}

/* `row`: so many to one port, and then to the next. `n_ports`: what is left of each four goes to the last. */
static int send_rounds(const struct sockaddr_in *to, unsigned long rounds, unsigned int row, unsigned int n_ports)
{
	static const char datagram[DATAGRAM];
	int fds[4];

	for (unsigned int i = 0; i < n_ports; i++) {
		const struct sockaddr_in address = port_behind(to, (int)i);

		fds[i] = socket(AF_INET, SOCK_DGRAM, 0);
		if (connect(fds[i], (const struct sockaddr *)&address, sizeof(address)))
			return die("connect");
	}
	for (unsigned long i = 0; i < 4 * rounds; i++) {
		const unsigned int turn = i / row % 4;

		if (send(fds[turn < n_ports ? turn : n_ports - 1], datagram, sizeof(datagram), 0) < 0)
			return die("send");
	}
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void be_busy(uint64_t ns)
{
	const uint64_t begin_ns = now_ns();

	while (ns && now_ns() - begin_ns < ns)
		;
}

/*
 * Nobody is connected: so nobody is told that the port is closed. `n_large`: so many large datagrams before each small
 * one; `apart_ns`: so long before and after that one the CPU is kept busy.
 */
static int shout(const struct sockaddr_in *to, unsigned long count, unsigned int n_large, uint64_t apart_ns)
{
	static const char datagram[LARGE_DATAGRAM];
	const int fd = socket(AF_INET, SOCK_DGRAM, 0);

	for (unsigned long i = 0; i < count * (n_large + 1); i++) {
		const bool is_small = i % (n_large + 1) == n_large;

		if (is_small)
			be_busy(apart_ns);
		if (sendto(fd, datagram, is_small ? DATAGRAM : LARGE_DATAGRAM, 0, (const struct sockaddr *)to,
			   sizeof(*to)) < 0)
			return die("sendto");
		if (is_small)
			be_busy(apart_ns);
	}
	return 0;
}

/* As the network has them. */
struct posed {
	struct iphdr ip;
	struct udphdr udp;
	char data[DATAGRAM];
};

/* Each from another address of 10.0.0.0/8; the port changes with it. */
static int pose(const struct sockaddr_in *to, unsigned long count)
{
	struct posed packet = {
		.ip = {.version = 4, .ihl = 5, .ttl = 64, .protocol = IPPROTO_UDP, .daddr = to->sin_addr.s_addr},
		.udp = {.dest = to->sin_port, .len = htons(sizeof(struct udphdr) + DATAGRAM)},
	};
	const int fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);

	for (unsigned long i = 0; i < count; i++) {
		const uint32_t number = (uint32_t)i * 0x9e3779b1u; /* odd: no two are the same */

		packet.ip.saddr = htonl(0x0a000000 | number >> 8);
		packet.udp.source = htons((uint16_t)(number | 1));
		packet.udp.dest = to->sin_port ? to->sin_port : packet.udp.source;
		if (sendto(fd, &packet, sizeof(packet), 0, (const struct sockaddr *)to, sizeof(*to)) < 0)
			return die("sendto");
	}
	return 0;
}

static int holding_socket(const struct sockaddr_in *at)
{
	const int fd = socket(AF_INET, SOCK_DGRAM, 0), size = BUFFER, one = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)at, sizeof(*at))) {
		die("bind");
		exit(1);
	}
	return fd;
}

static int hold(const struct sockaddr_in *at, unsigned long n_ports)
{
	unsigned long n = 0;
	int fds[4];
	char datagram[DATAGRAM];

	for (unsigned long i = 0; i < n_ports && i < 4; i++) {
		const struct sockaddr_in address = port_behind(at, (int)i);

		fds[i] = holding_socket(&address);
	}
	say_ready();
	while (getchar() != EOF)
		;
	for (unsigned long i = 0; i < n_ports && i < 4; i++) {
		while (recv(fds[i], datagram, sizeof(datagram), MSG_DONTWAIT) > 0)
			n++;
	}
	printf("%lu\n", n);
	return 0;
}

static int read_all(int fd, char *to, size_t size)
{
	for (size_t at = 0; at < size;) {
		const ssize_t n = read(fd, to + at, size - at);

		if (n <= 0)
			return die("read");
		at += (size_t)n;
	}
	return 0;
}

static int exchange(int fd, unsigned long count, int is_asking)
{
	char request[REQUEST] = "";
	const int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (unsigned long i = 0; i < count; i++) {
		if (is_asking && write(fd, request, sizeof(request)) != sizeof(request))
			return die("write");
		if (read_all(fd, request, sizeof(request)))
			return 1;
		if (!is_asking && write(fd, request, sizeof(request)) != sizeof(request))
			return die("write");
	}
	return 0;
}

static int connection_to(const struct sockaddr_in *to)
{
	const int fd = socket(AF_INET, SOCK_STREAM, stream_protocol);

	return connect(fd, (const struct sockaddr *)to, sizeof(*to)) ? -die("connect") : fd;
}

static int listener_at(const struct sockaddr_in *at)
{
	const int fd = socket(AF_INET, SOCK_STREAM, stream_protocol), one = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (const struct sockaddr *)at, sizeof(*at)) || listen(fd, BACKLOG))
		return -die("listen");
	return fd;
}

static int stay(int fd)
{
	if (fd < 0)
		return 1;
	say_ready();
	while (getchar() != EOF)
		;
	return 0;
}

/* So many connections, each with so many requests. */
static int ask(const struct sockaddr_in *to, unsigned long connections, unsigned long count)
{
	int fd, error = 0;

	for (unsigned long i = 0; i < connections && !error; i++) {
		fd = connection_to(to);
		error = fd < 0 ? 1 : exchange(fd, count, 1);
		if (fd >= 0)
			close(fd);
	}
	return error;
}

static int answer(const struct sockaddr_in *at, unsigned long connections, unsigned long count)
{
	const int listener = listener_at(at);
	int fd, error = listener < 0;

	if (!error)
		say_ready();
	for (unsigned long i = 0; i < connections && !error; i++) {
		fd = accept(listener, NULL, NULL);
		error = fd < 0 ? die("accept") : exchange(fd, count, 0);
		if (fd >= 0)
			close(fd);
	}
	return error;
}

static int run(const char *what, struct sockaddr_in *address, unsigned long count)
{
	if (!strcmp(what, "send"))
		return send_rounds(address, count, 1, 2);
	if (!strcmp(what, "rows"))
		return send_rounds(address, count, ROW, 4);
	if (!strcmp(what, "shout"))
		return shout(address, count, 0, 0);
	if (!strcmp(what, "bury"))
		return shout(address, count, LARGE_BEFORE_SMALL, 0);
	if (!strcmp(what, "apart"))
		return shout(address, count, LARGE_BEFORE_SMALL, 500000);
	if (!strcmp(what, "pose"))
		return pose(address, count);
	if (!strcmp(what, "hold"))
		return hold(address, count ? count : 1);
	if (!strcmp(what, "ask"))
		return ask(address, 1, count);
	if (!strcmp(what, "answer"))
		return answer(address, 1, count);
	if (!strcmp(what, "visit"))
		return ask(address, count, 1);
	if (!strcmp(what, "serve"))
		return answer(address, count, 1);
	if (!strcmp(what, "knock"))
		return ask(address, count, 0);
	if (!strcmp(what, "stay"))
		return stay(connection_to(address));
	if (!strcmp(what, "listen"))
		return stay(listener_at(address));
	fprintf(stderr, "payers: %s is no kind of traffic\n", what);
	return 2;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	const unsigned long count = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;

	if (argc < 4 || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1) {
		fprintf(stderr,
			"usage: payers send|rows|shout|bury|apart|pose|hold|ask|answer|visit|serve|knock|stay|listen "
			"ADDRESS PORT [COUNT [mptcp]]\n");
		return 2;
	}
	address.sin_port = htons((uint16_t)atoi(argv[3]));
	if (argc > 5 && !strcmp(argv[5], "mptcp"))
		stream_protocol = IPPROTO_MPTCP;
	return run(argv[1], &address, count);
}

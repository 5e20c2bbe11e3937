/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * caller - sends datagrams to this host's port 9 from functions that call one another, and computes in between, until
 * so many seconds are over: for tests of names of functions. Built so that its stacks can be walked, and without a
 * table that calls go through, where a sample has no function (see Makefile).
 *
 *   caller SECONDS
 *
 *     main -> demo::Proxy::forward (as C++ names it) -> send_all -> libc's sendto
 *     main -> compute
 */
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#ifdef __clang__ /* which never clones */
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noinline, noclone))
#endif

static int fd;
static struct sockaddr_in to;

/* Fills each datagram by itself, so that samples meet it too. */
static APART int send_all(int n)
{
	volatile char data[2048];
	int sent = 0;

	for (int i = 0; i < n; i++) {
		for (size_t at = 0; at < sizeof(data); at++)
			data[at] = (char)((size_t)i + at);
		sent += sendto(fd, (const char *)data, 64, 0, (const struct sockaddr *)&to, sizeof(to)) > 0;
	}
	return sent;
}

int forward(int n) __asm__("_ZN4demo5Proxy7forwardEi");
APART int forward(int n)
{
	return send_all(n) + 1;
}

static APART unsigned int compute(unsigned int n)
{
	volatile unsigned int sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += i * i;
	return sum;
}

int main(int argc, char **argv)
{
	struct timespec now;
	unsigned int sum = 0;
	time_t end;

	if (argc != 2) {
		fprintf(stderr, "usage: caller SECONDS\n");
		return 2;
	}
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0) {
		perror("caller: socket");
		return 1;
	}
	to.sin_family = AF_INET;
	to.sin_port = htons(9);
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	clock_gettime(CLOCK_MONOTONIC, &now);
	end = now.tv_sec + atoi(argv[1]);
	while (now.tv_sec < end) {
		sum += (unsigned int)forward(4) + compute(40000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	}
	printf("%u\n", sum);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * messages - a known number of messages from one end to the other, with a pause before each, and what the ends counted.
 *
 *   messages udp-send|tcp-send ADDRESS PORT COUNT SIZE PAUSE_US        a pause before each send
 *   messages raw-send ADDRESS PORT COUNT SIZE PAUSE_US                 the same as TCP segments of no connection
 *   messages udp-recv|tcp-recv ADDRESS PORT COUNT SIZE PAUSE_US        a pause before each receive
 *
 * A receiver pauses when there is something to take. It takes COUNT messages (of TCP: as many bytes), or what comes
 * until nothing came for three seconds; for the first it waits a minute. Each prints "CALLS BYTES" of the calls that
 * moved something; the receiver of TCP also "SEGMENTS", those with data that came in, by the kernel's count (TCP_INFO).
 * IPv4 or IPv6.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_SIZE 65536
#define BUFFER (64 << 20) /* bytes that may wait for a receiver of datagrams that waits for its turn itself */
#define FIRST_PATIENCE_MS 60000
#define PATIENCE_MS 3000

struct task {
	int fd;
	unsigned long count, size, pause_us, calls, bytes;
};

static int die(const char *what)
{
	fprintf(stderr, "messages: %s: %s\n", what, strerror(errno));
	return 1;
}

static void wait_us(unsigned long us)
{
	struct timespec pause = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000};

	if (us)
		nanosleep(&pause, NULL);
}

static char message[MAX_SIZE]; /* what is sent */

static int send_all(struct task *task)
{
	ssize_t sent;

	while (task->calls < task->count) {
		wait_us(task->pause_us);
		sent = send(task->fd, message, task->size, MSG_NOSIGNAL);
		/* Nobody listening yet is the test's mistake, and shows in the counts. */
		if (sent < 0 && errno != ECONNREFUSED)
			return die("send");
		task->calls++;
		task->bytes += sent > 0 ? sent : 0;
	}
	return 0;
}

static int receive_all(struct task *task, bool is_stream)
{
	struct pollfd ready = {.fd = task->fd, .events = POLLIN};
	static char data[MAX_SIZE];
	ssize_t got;

	while (is_stream ? task->bytes < task->count * task->size : task->calls < task->count) {
		if (poll(&ready, 1, task->calls ? PATIENCE_MS : FIRST_PATIENCE_MS) <= 0)
			break;
		wait_us(task->pause_us);
		got = recv(task->fd, data, sizeof(data), 0);
		if (got < 0)
			return die("recv");
		if (!got)
			break;
		task->calls++;
		task->bytes += got;
	}
	return 0;
}

/* Prints how many segments with data came in at a TCP socket. */
static int print_segments(int fd)
{
	struct tcp_info info = {};
	socklen_t size = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
		return die("TCP_INFO");
	printf(" %u", info.tcpi_data_segs_in);
	return 0;
}

static int accept_one(int listener)
{
	struct pollfd ready = {.fd = listener, .events = POLLIN};
	int fd;

	if (listen(listener, 1) || poll(&ready, 1, FIRST_PATIENCE_MS) <= 0)
		return -1;
	fd = accept(listener, NULL, NULL);
	close(listener);
	return fd;
}

/*
 * Segments that nobody's TCP has made, to a port of IPv4: unlike those of a connection they carry no time of their
 * sending. Their checksum is none, so TCP looks at them and drops them.
 */
static int open_raw(const char *address, unsigned short port)
{
	struct tcphdr header = {.dest = htons(port), .doff = sizeof(header) / 4};
	struct sockaddr_in name = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_TCP);

	memcpy(message, &header, sizeof(header));
	if (fd < 0 || inet_pton(AF_INET, address, &name.sin_addr) != 1)
		return -1;
	return connect(fd, (struct sockaddr *)&name, sizeof(name)) ? -1 : fd;
}

static int open_end(const char *address, unsigned short port, bool is_stream, bool is_receiver)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
	bool is_six = inet_pton(AF_INET6, address, &six.sin6_addr) == 1;
	struct sockaddr *name = is_six ? (struct sockaddr *)&six : (struct sockaddr *)&four;
	socklen_t size = is_six ? sizeof(six) : sizeof(four);
	int fd, on = 1, buffer = BUFFER;

	if (!is_six && inet_pton(AF_INET, address, &four.sin_addr) != 1) {
		errno = EINVAL;
		return -1;
	}
	fd = socket(name->sa_family, is_stream ? SOCK_STREAM : SOCK_DGRAM, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)))
		return -1;
	if (is_receiver && !is_stream && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof(buffer)))
		return -1;
	if (is_receiver)
		return bind(fd, name, size) ? -1 : is_stream ? accept_one(fd) : fd;
	if (is_stream && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		return -1;
	return connect(fd, name, size) ? -1 : fd;
}

int main(int argc, char **argv)
{
	bool is_stream = argc > 1 && !strncmp(argv[1], "tcp-", 4), is_receiver = argc > 1 && strstr(argv[1], "-recv");
	bool is_raw = argc > 1 && !strcmp(argv[1], "raw-send");
	struct task task = {};
	int status;

	if (argc != 7 || (!is_stream && !is_raw && strncmp(argv[1], "udp-", 4))) {
		fprintf(stderr, "usage: messages udp-send|tcp-send|raw-send|udp-recv|tcp-recv ADDRESS PORT COUNT SIZE "
				"PAUSE_US\n");
		return 2;
	}
	task.count = strtoul(argv[4], NULL, 10);
	task.size = strtoul(argv[5], NULL, 10);
	task.pause_us = strtoul(argv[6], NULL, 10);
	if (task.size > MAX_SIZE)
		task.size = MAX_SIZE;
	task.fd = is_raw ? open_raw(argv[2], strtoul(argv[3], NULL, 10))
			 : open_end(argv[2], strtoul(argv[3], NULL, 10), is_stream, is_receiver);
	if (task.fd < 0)
		return die(argv[1]);
	status = is_receiver ? receive_all(&task, is_stream) : send_all(&task);
	printf("%lu %lu", task.calls, task.bytes);
	if (is_receiver && is_stream && print_segments(task.fd))
		status = 1;
	putchar('\n');
	return status;
}

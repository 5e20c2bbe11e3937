/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * openloop - requests to a server at times that do not depend on its answers, and how long the answers took.
 *
 *   openloop redis|http ADDRESS PORT CONNECTIONS RATE SECONDS
 *
 * RATE requests a second, at random times (exponential gaps, always the same ones). A request's latency counts from the
 * time when it was due, also if all connections were busy then: so a server that stands still is seen in each request
 * that it kept waiting. RATE 0: each connection asks again at once, which tells what the server can do.
 *
 * Prints: answers a second, then the latencies' median, 90, 99 and 99.9 % quantiles and maximum in microseconds. The
 * first tenth of the time is not counted. Requests that are still due at the end, and have no answer for a second, are
 * an error. Redis is asked for the key `small`, an http server for `/`. IPv4.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/clock.h"
#include "tests/support/rand.h"

#define MAX_CONNECTIONS 1000
#define MAX_DUE (1u << 20) /* requests that wait for a connection */
#define PATIENCE_NS 1000000000ull
#define TIMER MAX_CONNECTIONS /* in place of a connection's number */

struct protocol {
	const char *name, *request;
	/* Whether the first n bytes are a whole answer. */
	bool (*is_whole)(const char *data, size_t n);
};

struct connection {
	int fd;
	uint64_t due_ns; /* of the request under way; 0: none */
	size_t n; /* bytes of its answer */
	char answer[65536];
};

struct load {
	const struct protocol *protocol;
	struct connection *connections;
	unsigned int n_connections, n_idle, idle[MAX_CONNECTIONS];
	double gap_ns; /* mean; 0: none */
	uint64_t *due; /* those that wait, from first on */
	size_t first, n_due;
	uint64_t next_ns, timer_ns, count_from_ns, end_ns;
	uint64_t *latencies;
	size_t n_latencies, room;
	struct nt_rand rand;
	int epoll_fd, timer_fd;
};

static void die(const char *what)
{
	fprintf(stderr, "openloop: %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool is_whole_redis(const char *data, size_t n)
{
	const char *line = memchr(data, '\n', n);

	return line && data[0] == '$' && n >= (size_t)(line + 1 - data) + strtoul(data + 1, NULL, 10) + 2;
}

static bool is_whole_http(const char *data, size_t n)
{
	const char *end = memmem(data, n, "\r\n\r\n", 4), *length;

	if (!end)
		return false;
	length = memmem(data, (size_t)(end - data), "Content-Length: ", 16);
	return n >= (size_t)(end + 4 - data) + (length ? strtoul(length + 16, NULL, 10) : 0);
}

static const struct protocol protocols[] = {
	{"redis", "*2\r\n$3\r\nGET\r\n$5\r\nsmall\r\n", is_whole_redis},
	{"http", "GET / HTTP/1.1\r\nHost: nettape\r\n\r\n", is_whole_http},
};

/* The same ones in each run. */
static double random_gap(struct load *load)
{
	return -log(((double)(nt_rand_u64(&load->rand) >> 11) + 1) / 9007199254740993.0) * load->gap_ns;
}

static void ask(struct load *load, unsigned int number, uint64_t due_ns)
{
	struct connection *connection = &load->connections[number];
	const size_t size = strlen(load->protocol->request);

	connection->due_ns = due_ns;
	connection->n = 0;
	if (write(connection->fd, load->protocol->request, size) != (ssize_t)size)
		die("write");
}

/* An idle connection asks at once; else the request waits for one. */
static void issue(struct load *load, uint64_t due_ns)
{
	if (load->n_idle) {
		ask(load, load->idle[--load->n_idle], due_ns);
		return;
	}
	if (load->n_due == MAX_DUE) {
		fprintf(stderr, "openloop: a million requests wait: the rate is more than the server can do\n");
		exit(1);
	}
	load->due[(load->first + load->n_due++) % MAX_DUE] = due_ns;
}

static void issue_due(struct load *load)
{
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	while (load->gap_ns > 0 && load->next_ns <= now_ns && load->next_ns < load->end_ns) {
		issue(load, load->next_ns);
		load->next_ns += (uint64_t)random_gap(load) + 1;
	}
}

/* The next request's time, absolutely. */
static void set_timer(struct load *load)
{
	const uint64_t at_ns = load->gap_ns > 0 && load->next_ns < load->end_ns ? load->next_ns : load->end_ns;
	const struct itimerspec timer = {
		.it_value = {.tv_sec = (time_t)(at_ns / 1000000000), .tv_nsec = (long)(at_ns % 1000000000)}};

	if (at_ns == load->timer_ns)
		return;
	load->timer_ns = at_ns;
	if (timerfd_settime(load->timer_fd, TFD_TIMER_ABSTIME, &timer, NULL))
		die("timerfd_settime");
}

static void note_latency(struct load *load, uint64_t due_ns)
{
	if (due_ns < load->count_from_ns)
		return;
	if (load->n_latencies == load->room) {
		load->room = load->room ? load->room * 2 : 1 << 20;
		load->latencies = realloc(load->latencies, load->room * sizeof(*load->latencies));
		if (!load->latencies)
			die("realloc");
	}
	load->latencies[load->n_latencies++] = clock_ns(CLOCK_MONOTONIC) - due_ns;
}

static void next_request(struct load *load, unsigned int number)
{
	if (load->n_due) {
		ask(load, number, load->due[load->first]);
		load->first = (load->first + 1) % MAX_DUE;
		load->n_due--;
	} else if (!(load->gap_ns > 0) && clock_ns(CLOCK_MONOTONIC) < load->end_ns) {
		ask(load, number, clock_ns(CLOCK_MONOTONIC));
	} else {
		load->idle[load->n_idle++] = number;
	}
}

static void take_answer(struct load *load, unsigned int number)
{
	struct connection *connection = &load->connections[number];
	ssize_t n =
		read(connection->fd, connection->answer + connection->n, sizeof(connection->answer) - connection->n);

	if (n < 0 && errno == EAGAIN)
		return;
	if (n <= 0)
		die("the server closed the connection");
	connection->n += (size_t)n;
	if (!load->protocol->is_whole(connection->answer, connection->n)) {
		if (connection->n == sizeof(connection->answer))
			die("an answer is longer than 64 KiB");
		return;
	}
	note_latency(load, connection->due_ns);
	next_request(load, number);
}

static void watch(const struct load *load, int fd, uint32_t number)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = number};

	if (epoll_ctl(load->epoll_fd, EPOLL_CTL_ADD, fd, &event))
		die("epoll_ctl");
}

static void connect_all(struct load *load, const char *address, const char *port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
	const int yes = 1;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		die(address);
	for (unsigned int i = 0; i < load->n_connections; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) ||
		    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)))
			die("connect");
		load->connections[i].fd = fd;
		load->idle[load->n_idle++] = i;
		watch(load, fd, i);
	}
	watch(load, load->timer_fd, TIMER);
}

static bool is_over(const struct load *load)
{
	return clock_ns(CLOCK_MONOTONIC) >= load->end_ns && load->n_idle == load->n_connections && !load->n_due;
}

static void run(struct load *load)
{
	struct epoll_event events[64];
	uint64_t ticks;

	if (!(load->gap_ns > 0))
		for (unsigned int i = 0; i < load->n_connections; i++)
			next_request(load, load->idle[--load->n_idle]);
	set_timer(load);
	while (!is_over(load)) {
		int n = epoll_wait(load->epoll_fd, events, 64, 100);

		for (int i = 0; i < n; i++) {
			if (events[i].data.u32 != TIMER) {
				take_answer(load, events[i].data.u32);
				continue;
			}
			if (read(load->timer_fd, &ticks, sizeof(ticks)) < 0 && errno != EAGAIN)
				die("read");
		}
		issue_due(load);
		if (clock_ns(CLOCK_MONOTONIC) < load->end_ns)
			set_timer(load);
		else if (clock_ns(CLOCK_MONOTONIC) > load->end_ns + PATIENCE_NS) {
			fprintf(stderr, "openloop: requests are still waiting a second after the end\n");
			exit(1);
		}
	}
}

static int by_size(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static double quantile_us(const struct load *load, double q)
{
	return (double)load->latencies[(size_t)((double)(load->n_latencies - 1) * q)] / 1000;
}

static void print(struct load *load)
{
	if (!load->n_latencies) {
		fprintf(stderr, "openloop: no answers\n");
		exit(1);
	}
	qsort(load->latencies, load->n_latencies, sizeof(*load->latencies), by_size);
	printf("%.0f %.1f %.1f %.1f %.1f %.1f\n",
	       (double)load->n_latencies / (double)(load->end_ns - load->count_from_ns) * 1e9, quantile_us(load, 0.5),
	       quantile_us(load, 0.9), quantile_us(load, 0.99), quantile_us(load, 0.999), quantile_us(load, 1));
}

int main(int argc, char **argv)
{
	static struct load load;
	double seconds;

	for (size_t i = 0; argc == 7 && i < sizeof(protocols) / sizeof(*protocols); i++)
		if (!strcmp(argv[1], protocols[i].name))
			load.protocol = &protocols[i];
	load.n_connections = load.protocol ? (unsigned int)atoi(argv[4]) : 0;
	if (!load.n_connections || load.n_connections > MAX_CONNECTIONS) {
		fprintf(stderr, "usage: openloop redis|http ADDRESS PORT CONNECTIONS RATE SECONDS\n");
		return 2;
	}
	load.gap_ns = atof(argv[5]) > 0 ? 1e9 / atof(argv[5]) : 0;
	seconds = atof(argv[6]);
	load.connections = calloc(load.n_connections, sizeof(*load.connections));
	load.due = calloc(MAX_DUE, sizeof(*load.due));
	load.epoll_fd = epoll_create1(0);
	load.timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
	if (!load.connections || !load.due || load.epoll_fd < 0 || load.timer_fd < 0)
		die("cannot begin");
	connect_all(&load, argv[2], argv[3]);
	load.next_ns = clock_ns(CLOCK_MONOTONIC);
	load.count_from_ns = load.next_ns + (uint64_t)(seconds * 1e8);
	load.end_ns = load.next_ns + (uint64_t)(seconds * 1e9);
	run(&load);
	print(&load);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sockmatrix - sends and receives by every call over TCP and UDP, IPv4 and IPv6, blocking and not, and prints as
 * JSON how many operations it made, from its own return values.
 *
 *   sockmatrix [ROUNDS]
 *
 * One lane for each family, protocol and blocking mode: a sender and a receiver thread ("m-udp4-b-send",
 * "m-tcp6-n-recv", ...). For each way to send with its way to receive, a lane passes ROUNDS windows of messages;
 * the receiver acknowledges each window, so that nothing is ever dropped. Reads and writes of files, pipes and
 * Unix sockets stand in between: they are no operations of a network socket. Another thread sends a file.
 * Uses loopback only.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/support/opcount.h"

#define WINDOW 32u
#define MESSAGE 200u
#define FILE_SIZE (1u << 20)
#define FILE_TIMES 4

struct lane {
	struct opcount_end ends[2];
	unsigned int rounds;
	char name[12];
	bool nonblocking;
	pthread_t threads[2];
	pthread_barrier_t barrier; /* both threads, before each way of sending */
};

/* Descriptors that must not be counted: each is used by the very calls that are counted on sockets. */
struct noise {
	int file, pipe[2], local[2];
};

static void noise_open(struct noise *noise)
{
	noise->file = memfd_create("sockmatrix", 0);
	if (noise->file < 0 || ftruncate(noise->file, 4096) || pipe(noise->pipe) ||
	    socketpair(AF_UNIX, SOCK_DGRAM, 0, noise->local))
		opcount_die("file, pipe and socket pair: %s", strerror(errno));
}

static void noise_make(const struct noise *noise)
{
	char data[64] = {0};
	struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};

	if (pread(noise->file, data, sizeof(data), 0) != sizeof(data) || lseek(noise->file, 0, SEEK_SET) != 0 ||
	    read(noise->file, data, sizeof(data)) != sizeof(data) || writev(noise->file, &iov, 1) != sizeof(data) ||
	    readv(noise->file, &iov, 1) != sizeof(data) || write(noise->pipe[1], data, sizeof(data)) != sizeof(data) ||
	    read(noise->pipe[0], data, sizeof(data)) != sizeof(data) ||
	    sendto(noise->local[0], data, sizeof(data), 0, NULL, 0) != sizeof(data) ||
	    recvfrom(noise->local[1], data, sizeof(data), 0, NULL, NULL) != sizeof(data))
		opcount_die("file, pipe and socket pair: %s", strerror(errno));
}

static void noise_close(const struct noise *noise)
{
	const int fds[] = {noise->file, noise->pipe[0], noise->pipe[1], noise->local[0], noise->local[1]};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		close(fds[i]);
}

/* ---- lanes ---- */

static void send_window(const struct lane *lane, enum opcount_call call)
{
	unsigned int sent = 0;

	while (sent < WINDOW) {
		unsigned int messages = call == OPCOUNT_SENDMMSG ? WINDOW - sent : 1;
		ssize_t done = opcount_send(&lane->ends[0], call, MESSAGE, messages, 0);

		if (done == -EAGAIN)
			opcount_wait(&lane->ends[0], true);
		else if (done <= 0)
			opcount_die("%s: send: %s", lane->name, strerror((int)-done));
		else
			sent += call == OPCOUNT_SENDMMSG ? (unsigned int)done : 1;
	}
}

static void recv_bytes(const struct lane *lane, const struct opcount_end *end, enum opcount_call call, size_t size,
		       size_t expected)
{
	size_t received = 0, bytes;

	while (received < expected) {
		unsigned int messages = call == OPCOUNT_RECVMMSG ? WINDOW : 1;
		int flags = call == OPCOUNT_RECVMMSG ? MSG_WAITFORONE : 0;
		ssize_t done = opcount_recv(end, call, size, messages, flags, &bytes);

		if (done == -EAGAIN)
			opcount_wait(end, false);
		else if (done <= 0)
			opcount_die("%s: receive: %s", lane->name, strerror((int)-done));
		received += bytes;
	}
}

static void *send_side(void *arg)
{
	struct lane *lane = arg;
	struct noise noise;
	char name[24];

	snprintf(name, sizeof(name), "%s-send", lane->name);
	opcount_thread(name);
	noise_open(&noise);
	for (int way = 0; way < OPCOUNT_SENDS; way++) {
		pthread_barrier_wait(&lane->barrier);
		for (unsigned int i = 0; i < lane->rounds; i++) {
			send_window(lane, (enum opcount_call)way);
			noise_make(&noise);
			recv_bytes(lane, &lane->ends[0], OPCOUNT_RECVFROM, 1, 1);
		}
	}
	noise_close(&noise);
	return NULL;
}

static void *recv_side(void *arg)
{
	struct lane *lane = arg;
	const struct opcount_end *end = &lane->ends[1];
	struct noise noise;
	char name[24];

	snprintf(name, sizeof(name), "%s-recv", lane->name);
	opcount_thread(name);
	noise_open(&noise);
	for (int way = 0; way < OPCOUNT_SENDS; way++) {
		enum opcount_call call = (enum opcount_call)(OPCOUNT_RECVFROM + way);

		/* Nothing was sent yet: each call fails once for certain where it must not wait. */
		if (lane->nonblocking && opcount_recv(end, call, MESSAGE, WINDOW, 0, NULL) != -EAGAIN)
			opcount_die("%s: received what was not sent", lane->name);
		pthread_barrier_wait(&lane->barrier);
		for (unsigned int i = 0; i < lane->rounds; i++) {
			recv_bytes(lane, end, call, MESSAGE, WINDOW * MESSAGE);
			noise_make(&noise);
			if (opcount_send(end, OPCOUNT_SENDTO, 1, 1, 0) != 1)
				opcount_die("%s: acknowledgement not sent", lane->name);
		}
	}
	noise_close(&noise);
	return NULL;
}

static void lane_start(struct lane *lane, int family, int protocol, bool nonblocking, unsigned int rounds)
{
	snprintf(lane->name, sizeof(lane->name), "m-%s%d-%c", protocol == IPPROTO_TCP ? "tcp" : "udp",
		 family == AF_INET ? 4 : 6, nonblocking ? 'n' : 'b');
	lane->rounds = rounds;
	lane->nonblocking = nonblocking;
	opcount_pair(lane->ends, family, protocol, nonblocking);
	if (pthread_barrier_init(&lane->barrier, NULL, 2) || pthread_create(&lane->threads[0], NULL, send_side, lane) ||
	    pthread_create(&lane->threads[1], NULL, recv_side, lane))
		opcount_die("cannot start the threads of %s", lane->name);
}

static void lane_end(struct lane *lane)
{
	for (int i = 0; i < 2; i++) {
		pthread_join(lane->threads[i], NULL);
		close(lane->ends[i].fd);
	}
	pthread_barrier_destroy(&lane->barrier);
}

/* ---- sendfile and splice: bytes are exact, operations are as many as the kernel makes ---- */

static void *read_all(void *arg)
{
	const struct opcount_end *end = arg;
	size_t bytes;

	opcount_thread("m-file-recv");
	do {
		if (opcount_recv(end, OPCOUNT_READ, 65536, 1, 0, &bytes) < 0)
			opcount_die("reading a sent file: %s", strerror(errno));
	} while (bytes);
	return NULL;
}

static void send_file(const struct opcount_end *end, int file)
{
	off_t offset = 0;
	ssize_t done;

	while (offset < FILE_SIZE) {
		done = sendfile(end->fd, file, &offset, FILE_SIZE - (size_t)offset);
		if (done <= 0)
			opcount_die("sendfile: %s", strerror(errno));
		opcount_note_bytes(end, OPCOUNT_SENDFILE, done);
	}
}

static void splice_file(const struct opcount_end *end, int file, const int pipes[2])
{
	off_t offset = 0;
	ssize_t in, out;

	while (offset < FILE_SIZE) {
		in = splice(file, &offset, pipes[1], NULL, 65536, 0);
		if (in <= 0)
			opcount_die("splice from a file: %s", strerror(errno));
		for (; in > 0; in -= out) {
			out = splice(pipes[0], NULL, end->fd, NULL, (size_t)in, 0);
			if (out <= 0)
				opcount_die("splice to a socket: %s", strerror(errno));
			opcount_note_bytes(end, OPCOUNT_SPLICE, out);
		}
	}
}

static void *send_files(void *arg)
{
	int family = *(const int *)arg;
	int file = memfd_create("sockmatrix", 0), pipes[2];
	struct opcount_end ends[2];
	pthread_t reader;

	opcount_thread(family == AF_INET ? "m-file4-send" : "m-file6-send");
	if (file < 0 || ftruncate(file, FILE_SIZE) || pipe(pipes))
		opcount_die("file and pipe: %s", strerror(errno));
	opcount_pair(ends, family, IPPROTO_TCP, false);
	if (pthread_create(&reader, NULL, read_all, &ends[1]))
		opcount_die("cannot start a thread");
	for (int i = 0; i < FILE_TIMES; i++) {
		send_file(&ends[0], file);
		splice_file(&ends[0], file, pipes);
	}
	close(ends[0].fd);
	pthread_join(reader, NULL);
	close(ends[1].fd);
	close(file);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 20;
	static const int families[] = {AF_INET, AF_INET6};
	static const int protocols[] = {IPPROTO_TCP, IPPROTO_UDP};
	static struct lane lanes[8];
	pthread_t files[2];

	if (argc > 2 || !rounds) {
		fprintf(stderr, "usage: sockmatrix [ROUNDS]\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	for (unsigned int i = 0; i < 8; i++)
		lane_start(&lanes[i], families[i & 1], protocols[i >> 1 & 1], i >> 2, rounds);
	for (int i = 0; i < 2; i++) {
		if (pthread_create(&files[i], NULL, send_files, (void *)&families[i]))
			opcount_die("cannot start a thread");
	}
	for (int i = 0; i < 8; i++)
		lane_end(&lanes[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(files[i], NULL);
	opcount_print(stdout);
	return 0;
}

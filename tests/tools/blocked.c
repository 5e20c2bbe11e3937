/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blocked - threads that wait in a receive until told to go on.
 *
 *   blocked [COUNT]
 *
 * Starts COUNT (20) threads named "b-recv", each blocked in one receive on a socket of its own, by each call and
 * over TCP and UDP in turn. Prints "blocked" when all of them sleep there. Then reads one line from standard input,
 * sends to one after the other (thread "b-send", 5 ms between), prints "received" when all have it, and
 * reads another line before it ends. Standard input at its end: goes on without waiting. Uses loopback only.
 *
 * Beside them sleep threads named "b-none" in what only looks like a receive: a read from a pipe, a receive on a Unix
 * socket, an accept. They end with the program.
 */
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/opcount.h"

#define SIZE 100u

struct receiver {
	struct opcount_end ends[2];
	enum opcount_call call;
	atomic_int tid;
	pthread_t thread;
};

static void *receive(void *arg)
{
	struct receiver *receiver = arg;

	opcount_thread("b-recv");
	atomic_store(&receiver->tid, gettid());
	if (opcount_recv(&receiver->ends[1], receiver->call, SIZE, 1, 0, NULL) <= 0)
		opcount_die("a receive failed");
	return NULL;
}

static int decoy_fd[3]; /* a pipe, a Unix socket, a listening socket */

static void *decoy(void *arg)
{
	int *fd = arg;
	char data[SIZE];

	opcount_thread("b-none");
	if (fd == &decoy_fd[0] && read(*fd, data, sizeof(data)) < 0)
		opcount_die("a read from a pipe failed");
	if (fd == &decoy_fd[1] && recv(*fd, data, sizeof(data), 0) < 0)
		opcount_die("a receive on a Unix socket failed");
	if (fd == &decoy_fd[2] && accept(*fd, NULL, NULL) < 0)
		opcount_die("an accept failed");
	return NULL;
}

static void decoys_start(void)
{
	static int pipes[2], local[2]; /* their other ends stay open as long as the program */
	pthread_t thread;

	decoy_fd[2] = opcount_open(AF_INET, IPPROTO_TCP, true).fd;
	if (pipe(pipes) || socketpair(AF_UNIX, SOCK_DGRAM, 0, local) || listen(decoy_fd[2], 1))
		opcount_die("cannot make the decoys");
	decoy_fd[0] = pipes[0];
	decoy_fd[1] = local[0];
	for (int i = 0; i < 3; i++) {
		if (pthread_create(&thread, NULL, decoy, &decoy_fd[i]))
			opcount_die("cannot start a thread");
	}
}

static void receiver_start(struct receiver *receiver, unsigned int number)
{
	receiver->call = (enum opcount_call)(OPCOUNT_RECVFROM + number % (OPCOUNT_SENDFILE - OPCOUNT_RECVFROM));
	opcount_pair(receiver->ends, AF_INET, number & 1 ? IPPROTO_TCP : IPPROTO_UDP, false);
	if (pthread_create(&receiver->thread, NULL, receive, receiver))
		opcount_die("cannot start a thread");
}

static void read_line(void)
{
	int c;

	do {
		c = getchar();
	} while (c != EOF && c != '\n');
}

int main(int argc, char **argv)
{
	const struct timespec nap = {.tv_nsec = 5000000};
	unsigned int count = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 20;
	struct receiver *receivers;

	if (argc > 2 || !count || count > 1000) {
		fprintf(stderr, "usage: blocked [COUNT]\n");
		return 2;
	}
	opcount_thread("b-send");
	receivers = calloc(count, sizeof(*receivers));
	if (!receivers)
		opcount_die("out of memory");
	decoys_start();
	for (unsigned int i = 0; i < count; i++)
		receiver_start(&receivers[i], i);
	for (unsigned int i = 0; i < count; i++) {
		while (!atomic_load(&receivers[i].tid))
			nanosleep(&nap, NULL);
		opcount_wait_blocked(receivers[i].tid, receivers[i].ends[1].fd);
	}
	puts("blocked");
	fflush(stdout);
	read_line();
	for (unsigned int i = 0; i < count; i++) {
		if (opcount_send(&receivers[i].ends[0], OPCOUNT_SENDTO, SIZE, 1, 0) != SIZE)
			opcount_die("a send failed");
		pthread_join(receivers[i].thread, NULL);
		nanosleep(&nap, NULL);
	}
	puts("received");
	fflush(stdout);
	read_line();
	free(receivers);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sockodd - socket operations that fail, are broken off, or only look like operations, each by every call for
 * which it makes sense; prints as JSON how many operations that should be (see tests/support/opcount.h).
 *
 *   sockodd [ROUNDS]
 *
 * One thread a case and family: "o-epipe4", "o-signal6", ... A thread does not note its calls that must not count as
 * operations (a closed descriptor, a file, a zero-length read, a refused header).
 * Uses loopback only.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/opcount.h"

#define SIZE 100u
#define FOR_SENDS(call) for (enum opcount_call call = OPCOUNT_SENDTO; call < OPCOUNT_SENDS; call++)
#define FOR_RECVS(call) for (enum opcount_call call = OPCOUNT_RECVFROM; call < OPCOUNT_SENDFILE; call++)

static void expect(const char *what, ssize_t result, ssize_t expected)
{
	if (result != expected)
		opcount_die("%s gave %zd, not %zd", what, result, expected);
}

static void expect_errno(const char *what, ssize_t result, int expected)
{
	if (result != -1 || errno != expected)
		opcount_die("%s gave %zd (%s), not %s", what, result, strerror(errno), strerror(expected));
}

static void close_pair(const struct opcount_end ends[2])
{
	close(ends[0].fd);
	close(ends[1].fd);
}

/* A connection ended by its own side, then seen to end by the other. */
static void case_epipe(int family)
{
	struct opcount_end ends[2];

	opcount_pair(ends, family, IPPROTO_TCP, false);
	shutdown(ends[0].fd, SHUT_WR);
	FOR_SENDS(call)
	expect("send after shutdown", opcount_send(&ends[0], call, SIZE, 3, 0), -EPIPE);
	FOR_RECVS(call)
	{
		if (call != OPCOUNT_RECVMMSG)
			expect("receive at the end", opcount_recv(&ends[1], call, SIZE, 1, 0, NULL), 0);
	}
	close_pair(ends);
}

static void case_reset(int family)
{
	struct linger hard = {.l_onoff = 1};
	struct opcount_end ends[2];

	FOR_RECVS(call)
	{
		opcount_pair(ends, family, IPPROTO_TCP, false);
		setsockopt(ends[1].fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
		close(ends[1].fd);
		opcount_wait(&ends[0], false);
		/* recvmmsg asks the socket for its error first, and gives that without asking the protocol. */
		if (call == OPCOUNT_RECVMMSG)
			expect("recvmmsg after a reset", opcount_recv_uncounted(&ends[0], call, SIZE), -ECONNRESET);
		else
			expect("receive after a reset", opcount_recv(&ends[0], call, SIZE, 1, 0, NULL), -ECONNRESET);
		close(ends[0].fd);
	}
}

/* Sockets in no state to do it, and payloads that cannot be. */
static void case_refused(int family)
{
	char *hole = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct opcount_end udp = opcount_open(family, IPPROTO_UDP, true);
	struct opcount_end tcp = opcount_open(family, IPPROTO_TCP, false);
	struct opcount_end ends[2];

	FOR_SENDS(call)
	{
		expect("send without a peer", opcount_send(&tcp, call, SIZE, 2, 0), -EPIPE);
		expect("send to nobody", opcount_send(&udp, call, SIZE, 2, 0), -EDESTADDRREQ);
	}
	FOR_RECVS(call)
	expect("receive without a peer", opcount_recv(&tcp, call, SIZE, 2, 0, NULL), -ENOTCONN);
	close(udp.fd);
	close(tcp.fd);
	opcount_pair(ends, family, IPPROTO_UDP, false);
	FOR_SENDS(call)
	expect("send too much", opcount_send(&ends[0], call, 70000, 1, 0), -EMSGSIZE);
	expect_errno("send of no memory", write(ends[0].fd, hole, SIZE), EFAULT);
	opcount_note(&ends[0], OPCOUNT_WRITE, -EFAULT, 0);
	expect("send", opcount_send(&ends[0], OPCOUNT_WRITE, SIZE, 1, 0), SIZE);
	expect_errno("receive to no memory", read(ends[1].fd, hole, SIZE), EFAULT);
	opcount_note(&ends[1], OPCOUNT_READ, -EFAULT, 0);
	close_pair(ends);
	munmap(hole, 4096);
}

/* A datagram to a closed port: the first is sent, the answer fails the second. */
static void case_unreachable(int family)
{
	struct opcount_end ends[2];

	FOR_SENDS(call)
	{
		opcount_pair(ends, family, IPPROTO_UDP, false);
		close(ends[1].fd);
		opcount_send(&ends[0], OPCOUNT_SENDTO, SIZE, 1, 0);
		opcount_wait(&ends[0], false);
		expect("send after ICMP", opcount_send(&ends[0], call, SIZE, 2, 0), -ECONNREFUSED);
		close(ends[0].fd);
	}
}

static void case_peek(int family)
{
	struct opcount_end ends[2];
	static const int protocols[] = {IPPROTO_TCP, IPPROTO_UDP};

	for (int i = 0; i < 2; i++) {
		opcount_pair(ends, family, protocols[i], false);
		expect("peek", opcount_recv(&ends[1], OPCOUNT_RECVFROM, SIZE, 1, MSG_PEEK | MSG_DONTWAIT, NULL),
		       -EAGAIN);
		expect("send", opcount_send(&ends[0], OPCOUNT_SENDTO, SIZE, 1, 0), SIZE);
		opcount_wait(&ends[1], false);
		expect("peek", opcount_recv(&ends[1], OPCOUNT_RECVFROM, SIZE, 1, MSG_PEEK, NULL), SIZE);
		expect("peek", opcount_recv(&ends[1], OPCOUNT_RECVMSG, SIZE, 1, MSG_PEEK, NULL), SIZE);
		expect("peek", opcount_recv(&ends[1], OPCOUNT_RECVMMSG, SIZE, 3, MSG_PEEK, NULL), 3);
		expect("errqueue", opcount_recv(&ends[1], OPCOUNT_RECVMSG, SIZE, 1, MSG_ERRQUEUE, NULL), -EAGAIN);
		expect("receive", opcount_recv(&ends[1], OPCOUNT_RECVMSG, SIZE, 1, 0, NULL), SIZE);
		close_pair(ends);
	}
}

/* A wait that runs out, a wait refused, and room that runs out. */
static void case_timeout(int family)
{
	struct timeval timeout = {.tv_usec = 10000};
	struct opcount_end ends[2];

	opcount_pair(ends, family, IPPROTO_UDP, false);
	setsockopt(ends[1].fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	FOR_RECVS(call)
	expect("receive with a timeout", opcount_recv(&ends[1], call, SIZE, 2, 0, NULL), -EAGAIN);
	expect("receive", opcount_recv(&ends[1], OPCOUNT_RECVFROM, SIZE, 1, MSG_DONTWAIT, NULL), -EAGAIN);
	close_pair(ends);
	FOR_SENDS(call)
	{
		ssize_t sent;

		opcount_pair(ends, family, IPPROTO_TCP, true);
		do {
			sent = opcount_send(&ends[0], call, 65536, 1, 0);
		} while (sent > 0);
		expect("send without room", sent, -EAGAIN);
		close_pair(ends);
	}
}

/* Nothing here is an operation, but for the empty datagrams. */
static void case_none(int family)
{
	char data[SIZE];
	struct iovec iov = {.iov_base = data, .iov_len = sizeof(data)};
	struct msghdr bad = {.msg_iov = &iov, .msg_iovlen = UIO_MAXIOV + 1};
	struct opcount_end ends[2];
	int fd;

	opcount_pair(ends, family, IPPROTO_UDP, false);
	fd = dup(ends[0].fd);
	close(fd);
	expect_errno("send to a closed descriptor", sendto(fd, data, SIZE, 0, NULL, 0), EBADF);
	expect_errno("write to a closed descriptor", write(fd, data, SIZE), EBADF);
	expect_errno("receive from a closed descriptor", recv(fd, data, SIZE, 0), EBADF);
	expect_errno("read from a closed descriptor", readv(fd, &iov, 1), EBADF);
	fd = memfd_create("sockodd", 0);
	expect_errno("send to a file", sendto(fd, data, SIZE, 0, NULL, 0), ENOTSOCK);
	expect_errno("receive from a file", recvmsg(fd, &(struct msghdr){.msg_iov = &iov, .msg_iovlen = 1}, 0),
		     ENOTSOCK);
	expect("read a file", read(fd, data, SIZE), 0);
	expect("write a file", write(fd, data, SIZE), SIZE);
	close(fd);
	expect_errno("send of a bad header", sendmsg(ends[0].fd, &bad, 0), EMSGSIZE);
	expect_errno("receive of a bad header", recvmsg(ends[1].fd, &bad, MSG_DONTWAIT), EMSGSIZE);
	expect_errno("seek on a socket", pread(ends[1].fd, data, SIZE, 0), ESPIPE);
	expect("empty datagram", opcount_send(&ends[0], OPCOUNT_SENDTO, 0, 1, 0), 0);
	expect("read of nothing", read(ends[1].fd, data, 0), 0);
	expect("empty datagram", opcount_recv(&ends[1], OPCOUNT_RECVFROM, SIZE, 1, 0, NULL), 0);
	close_pair(ends);
}

/* ---- a descriptor that another thread closes ---- */

struct closed {
	struct opcount_end end;
	enum opcount_call call;
	atomic_int tid;
};

static void *receive_closed(void *arg)
{
	struct closed *closed = arg;

	opcount_thread("o-closed");
	atomic_store(&closed->tid, gettid());
	expect("receive", opcount_recv(&closed->end, closed->call, SIZE, 1, 0, NULL),
	       closed->call == OPCOUNT_RECVMMSG ? 1 : SIZE);
	return NULL;
}

/* A receive sleeps while its descriptor is closed, and gets its message after that: in a thread of its own each. */
static void case_closed(int family)
{
	static const int protocols[] = {IPPROTO_TCP, IPPROTO_UDP};
	struct opcount_end ends[2];
	pthread_t thread;

	for (int i = 0; i < 2; i++) {
		FOR_RECVS(call)
		{
			struct closed closed = {.call = call};

			opcount_pair(ends, family, protocols[i], false);
			closed.end = ends[1];
			if (pthread_create(&thread, NULL, receive_closed, &closed))
				opcount_die("cannot start a thread");
			while (!atomic_load(&closed.tid))
				sched_yield();
			opcount_wait_blocked(closed.tid, ends[1].fd);
			close(ends[1].fd);
			expect("send", opcount_send(&ends[0], OPCOUNT_SENDTO, SIZE, 1, 0), SIZE);
			pthread_join(thread, NULL);
			close(ends[0].fd);
		}
	}
}

/* ---- a batch that sleeps after its last message ---- */

#define PAGE 4096u
#define MESSAGES 2u

struct batch {
	const struct opcount_end *end;
	enum opcount_call call;
	struct mmsghdr *messages;
};

static void *make_batch(void *arg)
{
	const struct batch *batch = arg;
	struct mmsghdr *messages = batch->messages;
	int done;

	opcount_thread("o-batch");
	done = batch->call == OPCOUNT_SENDMMSG ? sendmmsg(batch->end->fd, messages, MESSAGES, 0)
					       : recvmmsg(batch->end->fd, messages, MESSAGES, 0, NULL);
	expect("batch", done, MESSAGES);
	for (unsigned int i = 0; i < MESSAGES; i++)
		opcount_note(batch->end, batch->call, messages[i].msg_len, 0);
	return NULL;
}

/* Whoever touches the page sleeps until give_page. */
static int make_absent(char *page)
{
	int uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register part = {.range = {(unsigned long)page, PAGE}, .mode = UFFDIO_REGISTER_MODE_MISSING};

	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api) || ioctl(uffd, UFFDIO_REGISTER, &part))
		opcount_die("userfaultfd: %s", strerror(errno));
	return uffd;
}

/* Waits until somebody touches it, and some time more. */
static void give_page(int uffd, char *page)
{
	struct uffdio_zeropage zero = {.range = {(unsigned long)page, PAGE}};
	struct uffd_msg event;

	expect("fault", read(uffd, &event, sizeof(event)), sizeof(event));
	usleep(2000);
	if (ioctl(uffd, UFFDIO_ZEROPAGE, &zero))
		opcount_die("UFFDIO_ZEROPAGE: %s", strerror(errno));
}

/*
 * The call waits for the page into which the kernel writes the last message's length: the message is done, the call is
 * not. In a thread of its own.
 */
static void sleep_in_batch(const struct opcount_end *end, enum opcount_call call)
{
	char data[SIZE] = {0},
	     *pages = mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec iov = {.iov_base = data, .iov_len = SIZE};
	struct batch batch = {end, call, NULL};
	pthread_t thread;
	int uffd;

	if (pages == MAP_FAILED)
		opcount_die("mmap: %s", strerror(errno));
	batch.messages = (struct mmsghdr *)(pages + PAGE - offsetof(struct mmsghdr, msg_len)) - (MESSAGES - 1);
	for (unsigned int i = 0; i < MESSAGES; i++)
		batch.messages[i].msg_hdr = (struct msghdr){.msg_iov = &iov, .msg_iovlen = 1};
	uffd = make_absent(pages + PAGE);
	if (pthread_create(&thread, NULL, make_batch, &batch))
		opcount_die("cannot start a thread");
	give_page(uffd, pages + PAGE);
	pthread_join(thread, NULL);
	close(uffd);
	munmap(pages, 2 * (size_t)PAGE);
}

static void case_batch(int family)
{
	struct opcount_end ends[2];

	opcount_pair(ends, family, IPPROTO_UDP, false);
	sleep_in_batch(&ends[0], OPCOUNT_SENDMMSG);
	sleep_in_batch(&ends[1], OPCOUNT_RECVMMSG);
	close_pair(ends);
}

/* ---- signals ---- */

static atomic_int handled;

static void on_signal(int number)
{
	(void)number;
	atomic_fetch_add(&handled, 1);
}

struct blocked {
	struct opcount_end end;
	atomic_int tid;
	enum opcount_call call;
	int signals; /* how many to send */
	const struct opcount_end *sender;
};

static void *signaller(void *arg)
{
	struct blocked *blocked = arg;
	const struct timespec nap = {.tv_nsec = 200000};

	opcount_thread("o-signaller");
	for (int i = 0; i < blocked->signals; i++) {
		int before = atomic_load(&handled);

		opcount_wait_blocked(blocked->tid, blocked->end.fd);
		syscall(SYS_tgkill, getpid(), blocked->tid, SIGUSR1);
		while (atomic_load(&handled) == before)
			nanosleep(&nap, NULL);
	}
	if (blocked->sender) {
		opcount_wait_blocked(blocked->tid, blocked->end.fd);
		expect("send", opcount_send(blocked->sender, OPCOUNT_SENDTO, SIZE, 1, 0), SIZE);
	}
	return NULL;
}

/*
 * A receive that signals break off: with SA_RESTART the kernel makes it again, so that the one call is as many
 * operations as signals, and one; without it, it returns EINTR, which to the protocol is the same; with
 * a timeout the protocol itself says EINTR. Run in the main thread alone: signal actions are the process's.
 */
static void signalled(int family, int protocol, enum opcount_call call, int sa_flags, bool timed)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = sa_flags};
	struct timeval timeout = {.tv_sec = 100};
	struct opcount_end ends[2];
	bool restarts = sa_flags & SA_RESTART;
	struct blocked blocked = {.tid = gettid(), .call = call, .signals = restarts ? 3 : 1};
	pthread_t thread;
	ssize_t done;

	sigaction(SIGUSR1, &action, NULL);
	opcount_pair(ends, family, protocol, false);
	if (timed)
		setsockopt(ends[1].fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
	blocked.end = ends[1];
	blocked.sender = restarts ? &ends[0] : NULL;
	if (pthread_create(&thread, NULL, signaller, &blocked))
		opcount_die("cannot start a thread");
	if (restarts) {
		done = opcount_recv(&ends[1], call, SIZE, 1, 0, NULL);
		expect("restarted receive", done, call == OPCOUNT_RECVMMSG ? 1 : SIZE);
		for (int i = 0; i < blocked.signals; i++)
			opcount_note(&ends[1], call, OPCOUNT_RESTARTED, 0);
	} else {
		done = opcount_recv_uncounted(&ends[1], call, SIZE);
		expect("interrupted receive", done, -EINTR);
		opcount_note(&ends[1], call, timed ? -EINTR : OPCOUNT_RESTARTED, 0);
	}
	pthread_join(thread, NULL);
	close_pair(ends);
}

static void case_signal(int family)
{
	FOR_RECVS(call)
	{
		signalled(family, IPPROTO_UDP, call, SA_RESTART, false);
		signalled(family, IPPROTO_TCP, call, SA_RESTART, false);
		signalled(family, IPPROTO_UDP, call, 0, false);
		signalled(family, IPPROTO_TCP, call, 0, true);
	}
}

/* ---- all ---- */

static const struct {
	const char *name;
	void (*run)(int family);
} cases[] = {
	{"epipe", case_epipe},	   {"reset", case_reset},   {"refused", case_refused}, {"unreach", case_unreachable},
	{"timeout", case_timeout}, {"peek", case_peek},	    {"none", case_none},       {"closed", case_closed},
	{"batch", case_batch},	   {"signal", case_signal},
};

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 3;
	char name[24];

	if (argc > 2 || !rounds) {
		fprintf(stderr, "usage: sockodd [ROUNDS]\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	for (unsigned int i = 0; i < 2 * rounds; i++) {
		for (size_t j = 0; j < sizeof(cases) / sizeof(cases[0]); j++) {
			snprintf(name, sizeof(name), "o-%s%d", cases[j].name, i & 1 ? 6 : 4);
			opcount_thread(name);
			cases[j].run(i & 1 ? AF_INET6 : AF_INET);
		}
	}
	opcount_print(stdout);
	return 0;
}

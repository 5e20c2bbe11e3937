/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * opcount.c - see opcount.h.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/opcount.h"

#define MAX_MESSAGE (128u << 10)
#define MAX_ROWS 1024

struct row {
	char thread[16];
	int family, protocol;
	enum opcount_call call;
	int error; /* 0, or a negative errno */
	int flags; /* MSG_PEEK and MSG_ERRQUEUE */
	bool counted; /* false: `ops` is not known */
	unsigned long long ops, bytes;
};

static const char *const call_names[OPCOUNT_CALLS] = {"sendto",	  "sendmsg",  "sendmmsg", "write",    "writev",
						      "pwritev2", "recvfrom", "recvmsg",  "recvmmsg", "read",
						      "readv",	  "preadv2",  "sendfile", "splice"};

static struct {
	pthread_mutex_t lock;
	size_t n_rows;
	struct row rows[MAX_ROWS];
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread char thread_name[16];
static __thread char *scratch; /* MAX_MESSAGE bytes, kept for the life of the thread */

void opcount_die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(1);
}

void opcount_thread(const char *name)
{
	snprintf(thread_name, sizeof(thread_name), "%s", name);
	if (prctl(PR_SET_NAME, thread_name))
		opcount_die("PR_SET_NAME: %s", strerror(errno));
}

/* ---- counting ---- */

static bool same_key(const struct row *a, const struct row *b)
{
	return !strcmp(a->thread, b->thread) && a->family == b->family && a->protocol == b->protocol &&
	       a->call == b->call && a->error == b->error && a->flags == b->flags && a->counted == b->counted;
}

static void add(struct row key)
{
	size_t i;

	snprintf(key.thread, sizeof(key.thread), "%s", thread_name);
	pthread_mutex_lock(&table.lock);
	for (i = 0; i < table.n_rows && !same_key(&table.rows[i], &key); i++)
		;
	if (i == MAX_ROWS)
		opcount_die("more than %d kinds of operation", MAX_ROWS);
	if (i == table.n_rows) {
		table.rows[table.n_rows++] = key;
	} else {
		table.rows[i].ops += key.ops;
		table.rows[i].bytes += key.bytes;
	}
	pthread_mutex_unlock(&table.lock);
}

void opcount_note(const struct opcount_end *end, enum opcount_call call, ssize_t result, int flags)
{
	flags &= MSG_PEEK | MSG_ERRQUEUE;
	add((struct row){.family = end->family,
			 .protocol = end->protocol,
			 .call = call,
			 .error = result < 0 ? (int)result : 0,
			 .flags = flags,
			 .counted = true,
			 .ops = 1,
			 .bytes = result > 0 && !flags ? (unsigned long long)result : 0});
}

void opcount_note_bytes(const struct opcount_end *end, enum opcount_call call, ssize_t bytes)
{
	add((struct row){
		.family = end->family, .protocol = end->protocol, .call = call, .bytes = (unsigned long long)bytes});
}

static const char *result_name(int error)
{
	if (!error)
		return "ok";
	if (error == OPCOUNT_RESTARTED)
		return "restarted";
	return strerrorname_np(-error);
}

static const char *flag_name(int flags)
{
	if (flags & MSG_PEEK)
		return "peek";
	return flags & MSG_ERRQUEUE ? "errqueue" : "";
}

void opcount_print(FILE *out)
{
	pthread_mutex_lock(&table.lock);
	for (size_t i = 0; i < table.n_rows; i++) {
		const struct row *row = &table.rows[i];
		bool receives = row->call >= OPCOUNT_SENDS && row->call < OPCOUNT_SENDFILE;

		fprintf(out,
			"%s{\"thread\":\"%s\",\"op\":\"%s\",\"syscall\":\"%s\",\"family\":\"%s\",\"proto\":\"%s\",",
			i ? ",\n" : "[", row->thread, receives ? "recv" : "send", call_names[row->call],
			row->family == AF_INET ? "inet" : "inet6", row->protocol == IPPROTO_TCP ? "tcp" : "udp");
		fprintf(out, "\"result\":\"%s\",\"flag\":\"%s\",\"counted\":%d,\"ops\":%llu,\"bytes\":%llu}",
			result_name(row->error), flag_name(row->flags), row->counted, row->ops, row->bytes);
	}
	fputs(table.n_rows ? "]\n" : "[]\n", out);
	pthread_mutex_unlock(&table.lock);
}

/* ---- calls ---- */

static char *buffer(size_t size)
{
	if (size > MAX_MESSAGE)
		opcount_die("a message of %zu bytes is too long for this program", size);
	if (!scratch)
		scratch = calloc(1, MAX_MESSAGE);
	if (!scratch)
		opcount_die("out of memory");
	return scratch;
}

/* All messages of a batch share one buffer: what is in them does not matter. */
static void batch_fill(struct mmsghdr *batch, struct iovec *iov, unsigned int messages)
{
	memset(batch, 0, OPCOUNT_BATCH * sizeof(*batch));
	for (unsigned int i = 0; i < messages; i++) {
		batch[i].msg_hdr.msg_iov = iov;
		batch[i].msg_hdr.msg_iovlen = 1;
	}
}

/*
 * A batch that ended early met an error on the message after the last one taken, and that was an operation too.
 * Its errno is not told; on these sockets it can only be that it would have to wait. Not so when a stream took
 * a part of the last message: then the kernel stops there.
 */
static void note_batch(const struct opcount_end *end, enum opcount_call call, const struct mmsghdr *batch, int done,
		       unsigned int messages, size_t whole, int flags)
{
	for (int i = 0; i < done; i++)
		opcount_note(end, call, batch[i].msg_len, flags);
	if ((unsigned int)done < messages && (!whole || batch[done - 1].msg_len == whole))
		opcount_note(end, call, -EAGAIN, flags);
}

/* The bare call. Gives what it gave, or a negative errno. */
static ssize_t make(const struct opcount_end *end, enum opcount_call call, struct mmsghdr *batch, unsigned int messages,
		    int flags)
{
	struct iovec *iov = batch[0].msg_hdr.msg_iov;
	ssize_t done = -1;

	switch (call) {
	case OPCOUNT_SENDTO:
		done = sendto(end->fd, iov->iov_base, iov->iov_len, flags, NULL, 0);
		break;
	case OPCOUNT_SENDMSG:
		done = sendmsg(end->fd, &batch[0].msg_hdr, flags);
		break;
	case OPCOUNT_SENDMMSG:
		done = sendmmsg(end->fd, batch, messages, flags);
		break;
	case OPCOUNT_WRITE:
		done = write(end->fd, iov->iov_base, iov->iov_len);
		break;
	case OPCOUNT_WRITEV:
		done = writev(end->fd, iov, 1);
		break;
	case OPCOUNT_PWRITEV2:
		done = pwritev2(end->fd, iov, 1, -1, 0);
		break;
	case OPCOUNT_RECVFROM:
		done = recvfrom(end->fd, iov->iov_base, iov->iov_len, flags, NULL, NULL);
		break;
	case OPCOUNT_RECVMSG:
		done = recvmsg(end->fd, &batch[0].msg_hdr, flags);
		break;
	case OPCOUNT_RECVMMSG:
		done = recvmmsg(end->fd, batch, messages, flags, NULL);
		break;
	case OPCOUNT_READ:
		done = read(end->fd, iov->iov_base, iov->iov_len);
		break;
	case OPCOUNT_READV:
		done = readv(end->fd, iov, 1);
		break;
	case OPCOUNT_PREADV2:
		done = preadv2(end->fd, iov, 1, -1, 0);
		break;
	default:
		opcount_die("call %d is made by hand", call);
	}
	return done < 0 ? -errno : done;
}

ssize_t opcount_send(const struct opcount_end *end, enum opcount_call call, size_t size, unsigned int messages,
		     int flags)
{
	struct iovec iov = {.iov_base = buffer(size), .iov_len = size};
	struct mmsghdr batch[OPCOUNT_BATCH];
	ssize_t done;

	batch_fill(batch, &iov, messages);
	done = make(end, call, batch, messages, flags);
	if (call == OPCOUNT_SENDMMSG && done > 0)
		note_batch(end, call, batch, (int)done, messages, size, flags);
	else
		opcount_note(end, call, done, flags);
	return done;
}

ssize_t opcount_recv(const struct opcount_end *end, enum opcount_call call, size_t size, unsigned int messages,
		     int flags, size_t *bytes)
{
	struct iovec iov = {.iov_base = buffer(size), .iov_len = size};
	struct mmsghdr batch[OPCOUNT_BATCH];
	size_t sum = 0;
	ssize_t done;

	batch_fill(batch, &iov, messages);
	done = make(end, call, batch, messages, flags);
	if (call == OPCOUNT_RECVMMSG && done > 0)
		note_batch(end, call, batch, (int)done, messages, 0, flags);
	else
		opcount_note(end, call, done, flags);
	for (ssize_t i = 0; call == OPCOUNT_RECVMMSG && i < done; i++)
		sum += batch[i].msg_len;
	if (call != OPCOUNT_RECVMMSG && done > 0)
		sum = (size_t)done;
	if (bytes)
		*bytes = sum;
	return done;
}

ssize_t opcount_recv_uncounted(const struct opcount_end *end, enum opcount_call call, size_t size)
{
	struct iovec iov = {.iov_base = buffer(size), .iov_len = size};
	struct mmsghdr batch[OPCOUNT_BATCH];

	batch_fill(batch, &iov, 1);
	return make(end, call, batch, 1, 0);
}

/* ---- sockets ---- */

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

static socklen_t loopback(union address *address, int family)
{
	memset(address, 0, sizeof(*address));
	address->any.sa_family = (sa_family_t)family;
	if (family == AF_INET)
		address->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		address->in6.sin6_addr = in6addr_loopback;
	return family == AF_INET ? sizeof(address->in) : sizeof(address->in6);
}

struct opcount_end opcount_open(int family, int protocol, bool bound)
{
	struct opcount_end end = {.family = family, .protocol = protocol};
	union address address;
	socklen_t length = loopback(&address, family);

	end.fd = socket(family, protocol == IPPROTO_TCP ? SOCK_STREAM : SOCK_DGRAM, protocol);
	if (end.fd < 0)
		opcount_die("socket: %s", strerror(errno));
	if (bound && bind(end.fd, &address.any, length))
		opcount_die("bind to loopback: %s", strerror(errno));
	return end;
}

static void connect_to(const struct opcount_end *from, const struct opcount_end *to)
{
	union address address;
	socklen_t length = sizeof(address);

	if (getsockname(to->fd, &address.any, &length) || connect(from->fd, &address.any, length))
		opcount_die("connect over loopback: %s", strerror(errno));
}

void opcount_pair(struct opcount_end ends[2], int family, int protocol, bool nonblocking)
{
	struct opcount_end listener;

	ends[0] = opcount_open(family, protocol, true);
	if (protocol == IPPROTO_TCP) {
		listener = opcount_open(family, protocol, true);
		if (listen(listener.fd, 1))
			opcount_die("listen: %s", strerror(errno));
		connect_to(&ends[0], &listener);
		ends[1] = ends[0];
		ends[1].fd = accept(listener.fd, NULL, NULL);
		if (ends[1].fd < 0)
			opcount_die("accept: %s", strerror(errno));
		close(listener.fd);
	} else {
		ends[1] = opcount_open(family, protocol, true);
		connect_to(&ends[0], &ends[1]);
		connect_to(&ends[1], &ends[0]);
	}
	for (int i = 0; protocol == IPPROTO_TCP && i < 2; i++) {
		if (setsockopt(ends[i].fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int)))
			opcount_die("TCP_NODELAY: %s", strerror(errno));
	}
	for (int i = 0; nonblocking && i < 2; i++) {
		if (ioctl(ends[i].fd, FIONBIO, &(int){1}))
			opcount_die("FIONBIO: %s", strerror(errno));
	}
}

void opcount_wait(const struct opcount_end *end, bool to_write)
{
	struct pollfd wait = {.fd = end->fd, .events = to_write ? POLLOUT : POLLIN};

	while (poll(&wait, 1, -1) < 0) {
		if (errno != EINTR)
			opcount_die("poll: %s", strerror(errno));
	}
}

void opcount_wait_blocked(int tid, int fd)
{
	const struct timespec nap = {.tv_nsec = 200000};
	unsigned long first;
	char path[64], line[256];
	int fields = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	while (fields != 1 || first != (unsigned long)fd) {
		FILE *file = fopen(path, "r");

		if (!file)
			opcount_die("%s: %s", path, strerror(errno));
		fields = fgets(line, sizeof(line), file) ? sscanf(line, "%*u %lx", &first) : 0;
		fclose(file); /* a thread that runs has the one word "running" there */
		nanosleep(&nap, NULL);
	}
}

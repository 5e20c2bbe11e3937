/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * opcount.h - makes socket operations and counts them from their return values, as nettape should count
 * them: one message handed to, or asked of, a socket's protocol, failures included. For test programs that
 * say how many operations they made (tests/tools/sock*.c); knows nothing of nettape's own code.
 *
 * Every count is kept by thread name, call, family, protocol, result and flag. A thread names itself once with
 * opcount_thread(); all functions may be called from any number of threads.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/* One end of a connection, or any socket. */
struct opcount_end {
	int fd;
	int family; /* AF_INET or AF_INET6 */
	int protocol; /* IPPROTO_TCP or IPPROTO_UDP */
};

enum opcount_call {
	OPCOUNT_SENDTO,
	OPCOUNT_SENDMSG,
	OPCOUNT_SENDMMSG,
	OPCOUNT_WRITE,
	OPCOUNT_WRITEV,
	OPCOUNT_PWRITEV2,
	OPCOUNT_SENDS, /* how many ways to send */
	OPCOUNT_RECVFROM = OPCOUNT_SENDS,
	OPCOUNT_RECVMSG,
	OPCOUNT_RECVMMSG,
	OPCOUNT_READ,
	OPCOUNT_READV,
	OPCOUNT_PREADV2,
	OPCOUNT_SENDFILE, /* noted by hand: opcount_send and opcount_recv do not make these */
	OPCOUNT_SPLICE,
	OPCOUNT_CALLS
};

#define OPCOUNT_BATCH 32u /* greatest number of messages in one call */

/* The result of an operation that a signal broke off: the kernel's -ERESTARTSYS, which user space never sees. */
#define OPCOUNT_RESTARTED (-512)

/* Names the calling thread, for the kernel too; at most 15 characters. */
void opcount_thread(const char *name);

/* Counts one operation with this result: bytes, or a negative errno. MSG_PEEK and MSG_ERRQUEUE in flags are noted. */
void opcount_note(const struct opcount_end *end, enum opcount_call call, ssize_t result, int flags);
/* Counts bytes sent in a number of operations that only the kernel knows. */
void opcount_note_bytes(const struct opcount_end *end, enum opcount_call call, ssize_t bytes);

/*
 * One system call: hands over `messages` messages of `size` bytes each (only sendmmsg takes more than one; for
 * the others pass 1), and counts the operations. `flags` is for calls that have flags. Gives the messages taken
 * (sendmmsg) or bytes (others), or a negative errno.
 */
ssize_t opcount_send(const struct opcount_end *end, enum opcount_call call, size_t size, unsigned int messages,
		     int flags);
/* The same for receiving into buffers of `size` bytes. *bytes, if not NULL, gets the sum of bytes received. */
ssize_t opcount_recv(const struct opcount_end *end, enum opcount_call call, size_t size, unsigned int messages,
		     int flags, size_t *bytes);

/* One message, and counts nothing: for a caller that knows better what its result means. */
ssize_t opcount_recv_uncounted(const struct opcount_end *end, enum opcount_call call, size_t size);

/*
 * Prints all counts as a JSON array of objects, one a line: thread op syscall family proto result flag counted ops
 * bytes, in the words of nettape's tables. counted 0: `ops` is not known.
 */
void opcount_print(FILE *out);

/* ---- sockets ---- */

/* Ends the program with a message: for what must not fail in a test program. */
__attribute__((noreturn, format(printf, 1, 2))) void opcount_die(const char *format, ...);
/* Two ends joined over loopback, both connected. */
void opcount_pair(struct opcount_end ends[2], int family, int protocol, bool nonblocking);
/* A socket that is not connected, bound to loopback if `bound`. */
struct opcount_end opcount_open(int family, int protocol, bool bound);
/* Waits until there is something to read (or room to write). */
void opcount_wait(const struct opcount_end *end, bool to_write);
/* Waits until another thread of this process sleeps inside a system call whose first argument is `fd`. */
void opcount_wait_blocked(int tid, int fd);

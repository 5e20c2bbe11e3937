// SPDX-License-Identifier: GPL-2.0-only
/*
 * ways.c - the less usual ways into sockets, each made a fixed number of times, by a process named after it.
 *
 *   ways ADDRESS [DEVICE]    ADDRESS: of this network namespace, for TCP and UDP. DEVICE: for packet sockets
 *
 * For each way prints a line "NAME OP OPS BYTES", what a recording should have of the process NAME and the operation
 * OP: OPS "-" where their number is the kernel's affair, 0 where none can be seen; or "NAME skip REASON".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/errqueue.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <linux/io_uring.h>
#include <linux/tls.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 20
#define SIZE 1000
#define ETHERTYPE 0x88b5 /* for experiments */
#ifndef TCP_ULP
#define TCP_ULP 31
#endif
#ifndef SOL_TLS
#define SOL_TLS 282
#endif

/* Two ends of a connection: `near` is the way's own, `far` nobody reads or has been written to before. */
struct ends {
	int near, far;
	const char *device;
};

static char data[ROUNDS * SIZE];

static void die(const char *what)
{
	fprintf(stderr, "ways: %s: %s\n", what, strerror(errno));
	exit(1);
}

#define MUST(condition)                                                                                                \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			die(#condition);                                                                               \
	} while (0)

static void expect(const char *name, const char *op, int ops, long bytes)
{
	if (ops < 0)
		printf("%s %s - %ld\n", name, op, bytes);
	else
		printf("%s %s %d %ld\n", name, op, ops, bytes);
	fflush(stdout);
}

static void skip(const char *name, const char *why)
{
	printf("%s skip %s\n", name, why);
	fflush(stdout);
	exit(0);
}

/* ---- io_uring, by its system calls ---- */

struct uring {
	int fd;
	unsigned int *sq_tail, *sq_mask, *sq_array, *sq_flags, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static void *map_ring(int fd, size_t size, off_t at)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, at);

	MUST(map != MAP_FAILED);
	return map;
}

static void uring_open(struct uring *ring, const char *name, unsigned int flags)
{
	struct io_uring_params params = {.flags = flags, .sq_thread_idle = 50};
	char *sq, *cq;

	ring->fd = syscall(SYS_io_uring_setup, 8, &params);
	if (ring->fd < 0)
		skip(name, errno == ENOSYS ? "this kernel has no io_uring" : "io_uring is not allowed");
	sq = map_ring(ring->fd, params.sq_off.array + params.sq_entries * sizeof(unsigned int), IORING_OFF_SQ_RING);
	cq = map_ring(ring->fd, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
		      IORING_OFF_CQ_RING);
	ring->sqes = map_ring(ring->fd, params.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	ring->sq_tail = (unsigned int *)(sq + params.sq_off.tail);
	ring->sq_mask = (unsigned int *)(sq + params.sq_off.ring_mask);
	ring->sq_array = (unsigned int *)(sq + params.sq_off.array);
	ring->sq_flags = (unsigned int *)(sq + params.sq_off.flags);
	ring->cq_head = (unsigned int *)(cq + params.cq_off.head);
	ring->cq_tail = (unsigned int *)(cq + params.cq_off.tail);
	ring->cq_mask = (unsigned int *)(cq + params.cq_off.ring_mask);
	ring->cqes = (struct io_uring_cqe *)(cq + params.cq_off.cqes);
}

/* One request from beginning to end; gives its result. */
static int uring_do(struct uring *ring, const struct io_uring_sqe *sqe, bool sqpoll)
{
	unsigned int tail = *ring->sq_tail, place = tail & *ring->sq_mask, flags = IORING_ENTER_GETEVENTS;
	int result;

	ring->sqes[place] = *sqe;
	ring->sq_array[place] = place;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_SEQ_CST);
	if (sqpoll)
		flags |= IORING_ENTER_SQ_WAKEUP;
	while (*ring->cq_head == __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE)) {
		bool submitted = __atomic_load_n(ring->sq_tail, __ATOMIC_RELAXED) == tail + 1 && !sqpoll;

		if (syscall(SYS_io_uring_enter, ring->fd, submitted, 1, flags, NULL, 0) < 0 && errno != EINTR)
			die("io_uring_enter");
	}
	result = ring->cqes[*ring->cq_head & *ring->cq_mask].res;
	__atomic_store_n(ring->cq_head, *ring->cq_head + 1, __ATOMIC_RELEASE);
	return result;
}

static void uring_way(const char *name, struct ends *ends, uint8_t opcode, unsigned int setup, uint8_t sqe_flags)
{
	struct io_uring_sqe sqe = {
		.opcode = opcode, .flags = sqe_flags, .fd = ends->near, .addr = (uintptr_t)data, .len = SIZE};
	struct uring ring;
	long bytes = 0;
	int i, got;

	uring_open(&ring, name, setup);
	for (i = 0; i < ROUNDS; i++) {
		got = uring_do(&ring, &sqe, setup & IORING_SETUP_SQPOLL);
		if (got < 0) {
			errno = -got;
			die(name);
		}
		bytes += got;
	}
	expect(name, opcode == IORING_OP_SEND ? "send" : "recv", ROUNDS, bytes);
}

static void uring_send(const char *name, struct ends *ends)
{
	uring_way(name, ends, IORING_OP_SEND, 0, 0);
}

static void uring_recv(const char *name, struct ends *ends)
{
	uring_way(name, ends, IORING_OP_RECV, 0, 0);
}

static void uring_worker_send(const char *name, struct ends *ends)
{
	uring_way(name, ends, IORING_OP_SEND, 0, IOSQE_ASYNC);
}

static void uring_worker_recv(const char *name, struct ends *ends)
{
	uring_way(name, ends, IORING_OP_RECV, 0, IOSQE_ASYNC);
}

static void uring_sqpoll_send(const char *name, struct ends *ends)
{
	uring_way(name, ends, IORING_OP_SEND, IORING_SETUP_SQPOLL, 0);
}

static void uring_sqpoll_recv(const char *name, struct ends *ends)
{
	uring_way(name, ends, IORING_OP_RECV, IORING_SETUP_SQPOLL, 0);
}

/* ---- splice and sendfile ---- */

static void splice_to(const char *name, struct ends *ends)
{
	int pipes[2], i;
	long bytes = 0;

	MUST(!pipe(pipes));
	for (i = 0; i < ROUNDS; i++) {
		MUST(write(pipes[1], data, SIZE) == SIZE);
		bytes += splice(pipes[0], NULL, ends->near, NULL, SIZE, 0);
	}
	expect(name, "send", -1, bytes);
}

static void splice_from(const char *name, struct ends *ends)
{
	int pipes[2];
	long bytes = 0;

	MUST(!pipe(pipes));
	while (bytes < ROUNDS * SIZE) {
		ssize_t got = splice(ends->near, NULL, pipes[1], NULL, SIZE, 0);

		MUST(got > 0);
		MUST(read(pipes[0], data, got) == got);
		bytes += got;
	}
	/* No kernel tells of these. */
	expect(name, "recv", 0, 0);
}

static void send_file(const char *name, struct ends *ends)
{
	int file = open(".", O_TMPFILE | O_RDWR, 0600);
	long bytes = 0;
	off_t at = 0;

	if (file < 0)
		skip(name, "no temporary file here");
	MUST(write(file, data, sizeof(data)) == sizeof(data));
	while (at < (off_t)sizeof(data))
		bytes += sendfile(ends->near, file, &at, 4096);
	expect(name, "send", -1, bytes);
}

/* ---- without copying ---- */

static void zerocopy_send(const char *name, struct ends *ends)
{
	char control[512];
	struct msghdr note = {.msg_control = control};
	long bytes = 0;
	int i, told;

	if (setsockopt(ends->near, SOL_SOCKET, SO_ZEROCOPY, &(int){1}, sizeof(int)))
		skip(name, "no SO_ZEROCOPY");
	for (i = 0; i < ROUNDS; i++)
		bytes += send(ends->near, data, SIZE, MSG_ZEROCOPY);
	/* Loopback copies when it delivers, and tells all or some at a time. */
	for (i = told = 0; i < 200 && told < ROUNDS; i++) {
		struct sock_extended_err *range;

		note.msg_controllen = sizeof(control);
		if (recvmsg(ends->near, &note, MSG_ERRQUEUE) < 0) {
			usleep(1000);
			continue;
		}
		range = (struct sock_extended_err *)CMSG_DATA(CMSG_FIRSTHDR(&note));
		told += (int)(range->ee_data - range->ee_info) + 1;
	}
	expect(name, "send", ROUNDS, bytes);
}

/* As in the kernel's <linux/tcp.h>, which the libc's own tcp.h excludes and is older than. */
struct zerocopy_receive {
	uint64_t address;
	uint32_t length, recv_skip_hint, inq;
	int32_t err;
	uint64_t copybuf_address;
	int32_t copybuf_len;
	uint32_t flags;
};

static void zerocopy_recv(const char *name, struct ends *ends)
{
	void *map = mmap(NULL, 65536, PROT_READ, MAP_SHARED, ends->near, 0);
	long bytes = 0;
	int tries;

	if (map == MAP_FAILED)
		skip(name, "a TCP socket cannot be mapped");
	for (tries = 0; bytes < ROUNDS * SIZE && tries < 1000; tries++) {
		struct zerocopy_receive ask = {
			.address = (uintptr_t)map,
			.length = 65536,
			.copybuf_address = (uintptr_t)data,
			.copybuf_len = sizeof(data),
		};
		socklen_t size = sizeof(ask);

		if (getsockopt(ends->near, IPPROTO_TCP, TCP_ZEROCOPY_RECEIVE, &ask, &size))
			skip(name, "no TCP_ZEROCOPY_RECEIVE");
		bytes += ask.length + (ask.copybuf_len > 0 ? ask.copybuf_len : 0);
	}
	if (bytes != ROUNDS * SIZE)
		skip(name, "the kernel gave another number of bytes");
	/* It is no receive of the socket layer: a getsockopt. */
	expect(name, "recv", 0, 0);
}

static void peek(const char *name, struct ends *ends)
{
	int i;

	for (i = 0; i < ROUNDS; i++)
		MUST(recv(ends->near, data, SIZE, MSG_PEEK) == SIZE);
	expect(name, "recv", ROUNDS, 0);
}

/* ---- packet sockets ---- */

static int packet_socket(const char *name, const struct ends *ends, struct sockaddr_ll *at, uint16_t type)
{
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(type));

	if (fd < 0 || !ends->device)
		skip(name, "no packet sockets, or no device named");
	*at = (struct sockaddr_ll){.sll_family = AF_PACKET,
				   .sll_protocol = htons(ETHERTYPE),
				   .sll_ifindex = (int)if_nametoindex(ends->device),
				   .sll_halen = 6,
				   .sll_addr = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	return fd;
}

static void packet_send(const char *name, struct ends *ends)
{
	struct sockaddr_ll to;
	int fd = packet_socket(name, ends, &to, 0), i;
	long bytes = 0;

	for (i = 0; i < ROUNDS; i++)
		bytes += sendto(fd, data, SIZE, 0, (struct sockaddr *)&to, sizeof(to));
	expect(name, "send", ROUNDS, bytes);
}

static void packet_recv(const char *name, struct ends *ends)
{
	struct sockaddr_ll at;
	int fd = packet_socket(name, ends, &at, 0), in = packet_socket(name, ends, &at, ETHERTYPE), i;
	long bytes = 0;

	/* A listener on a device sees the packets that are sent through it. */
	at.sll_protocol = htons(ETH_P_ALL);
	MUST(!bind(in, (struct sockaddr *)&at, sizeof(at)));
	at.sll_protocol = htons(ETHERTYPE);
	for (i = 0; i < ROUNDS; i++) {
		MUST(sendto(fd, data, SIZE, 0, (struct sockaddr *)&at, sizeof(at)) == SIZE);
		do
			MUST(recvfrom(in, data, SIZE, 0, (struct sockaddr *)&at, &(socklen_t){sizeof(at)}) > 0);
		while (ntohs(at.sll_protocol) != ETHERTYPE || at.sll_pkttype != PACKET_OUTGOING);
		memset(at.sll_addr, 0xff, 6);
		bytes += SIZE;
	}
	expect(name, "send", ROUNDS, bytes);
	/* Others may use the device too: at least these. */
	expect(name, "recv", -1, -bytes);
}

static void packet_ring(const char *name, struct ends *ends)
{
	struct tpacket_req request = {
		.tp_block_size = 65536, .tp_block_nr = 1, .tp_frame_size = 2048, .tp_frame_nr = 32};
	struct sockaddr_ll to;
	int fd = packet_socket(name, ends, &to, 0), i;
	char *ring;

	if (setsockopt(fd, SOL_PACKET, PACKET_VERSION, &(int){TPACKET_V2}, sizeof(int)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_TX_RING, &request, sizeof(request)))
		skip(name, "no PACKET_TX_RING");
	ring = map_ring(fd, 65536, 0);
	MUST(!bind(fd, (struct sockaddr *)&to, sizeof(to)));
	for (i = 0; i < ROUNDS; i++) {
		struct tpacket2_hdr *frame = (struct tpacket2_hdr *)(ring + i * 2048);

		memset(ring + i * 2048 + TPACKET2_HDRLEN - sizeof(struct sockaddr_ll), 1, SIZE);
		frame->tp_len = SIZE;
		frame->tp_status = TP_STATUS_SEND_REQUEST;
	}
	/* One system call, one operation, whose result is the bytes of all frames. */
	MUST(sendto(fd, NULL, 0, 0, (struct sockaddr *)&to, sizeof(to)) == ROUNDS * SIZE);
	expect(name, "send", 1, ROUNDS * SIZE);
}

/* ---- kernel TLS ---- */

static void tls_end(const char *name, int fd, int direction)
{
	struct tls12_crypto_info_aes_gcm_128 info = {
		.info = {.version = TLS_1_2_VERSION, .cipher_type = TLS_CIPHER_AES_GCM_128}};

	if (setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", 4))
		skip(name, "this kernel has no TLS");
	if (setsockopt(fd, SOL_TLS, direction, &info, sizeof(info)))
		skip(name, "kernel TLS takes no key");
}

static void tls(const char *name, struct ends *ends)
{
	long sent = 0, received = 0;
	int sends, calls = 0;

	tls_end(name, ends->far, TLS_TX);
	tls_end(name, ends->near, TLS_RX);
	for (sends = 0; sends < ROUNDS; sends++)
		sent += send(ends->far, data, SIZE, 0);
	while (received < sent) {
		ssize_t got = recv(ends->near, data, SIZE, 0);

		MUST(got > 0);
		received += got;
		calls++;
	}
	expect(name, "send", sends, sent);
	expect(name, "recv", calls, received);
}

/* ---- AF_XDP, with copies, as every device can ---- */

#define XDP_FRAME 2048
#define XDP_RING 64 /* places in each of its rings, a power of two; frames in its memory */

struct xdp {
	int fd;
	char *memory; /* the frames */
	char *rx, *tx, *fill; /* rings */
	struct xdp_mmap_offsets at;
};

static char *xdp_ring(int fd, int option, off_t page, const struct xdp_ring_offset *at, size_t entry)
{
	MUST(!setsockopt(fd, SOL_XDP, option, &(int){XDP_RING}, sizeof(int)));
	/* The offsets are the same for any number of places. */
	return map_ring(fd, at->desc + XDP_RING * entry, page);
}

static void xdp_open(struct xdp *xdp, const char *name, const char *device)
{
	struct xdp_umem_reg memory = {.len = XDP_RING * XDP_FRAME, .chunk_size = XDP_FRAME};
	struct sockaddr_xdp to = {.sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY};

	xdp->fd = socket(AF_XDP, SOCK_RAW, 0);
	if (xdp->fd < 0)
		skip(name, "this kernel has no AF_XDP");
	xdp->memory = mmap(NULL, memory.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	MUST(xdp->memory != MAP_FAILED);
	memory.addr = (uintptr_t)xdp->memory;
	if (setsockopt(xdp->fd, SOL_XDP, XDP_UMEM_REG, &memory, sizeof(memory)))
		skip(name, "AF_XDP is not allowed");
	MUST(!getsockopt(xdp->fd, SOL_XDP, XDP_MMAP_OFFSETS, &xdp->at, &(socklen_t){sizeof(xdp->at)}));
	xdp->rx = xdp_ring(xdp->fd, XDP_RX_RING, XDP_PGOFF_RX_RING, &xdp->at.rx, sizeof(struct xdp_desc));
	xdp->tx = xdp_ring(xdp->fd, XDP_TX_RING, XDP_PGOFF_TX_RING, &xdp->at.tx, sizeof(struct xdp_desc));
	xdp->fill = xdp_ring(xdp->fd, XDP_UMEM_FILL_RING, XDP_UMEM_PGOFF_FILL_RING, &xdp->at.fr, sizeof(uint64_t));
	xdp_ring(xdp->fd, XDP_UMEM_COMPLETION_RING, XDP_UMEM_PGOFF_COMPLETION_RING, &xdp->at.cr, sizeof(uint64_t));
	to.sxdp_ifindex = if_nametoindex(device);
	if (bind(xdp->fd, (struct sockaddr *)&to, sizeof(to)))
		skip(name, "AF_XDP does not take the device");
}

static uint32_t *word(char *ring, uint64_t offset)
{
	return (uint32_t *)(ring + offset);
}

static void xdp_send(const char *name, struct ends *ends)
{
	struct xdp_desc *descriptors;
	struct xdp xdp;
	int i, calls = 0;

	if (!ends->device)
		skip(name, "no device named");
	xdp_open(&xdp, name, ends->device);
	descriptors = (struct xdp_desc *)(xdp.tx + xdp.at.tx.desc);
	for (i = 0; i < ROUNDS; i++) {
		struct ether_header *header = (struct ether_header *)(xdp.memory + i * XDP_FRAME);

		memset(header, 0xff, sizeof(*header));
		header->ether_type = htons(ETHERTYPE);
		descriptors[i] = (struct xdp_desc){.addr = (uint64_t)i * XDP_FRAME, .len = SIZE};
	}
	__atomic_store_n(word(xdp.tx, xdp.at.tx.producer), ROUNDS, __ATOMIC_RELEASE);
	while (__atomic_load_n(word(xdp.tx, xdp.at.tx.consumer), __ATOMIC_ACQUIRE) != ROUNDS) {
		MUST(calls++ < 1000);
		MUST(!sendto(xdp.fd, NULL, 0, MSG_DONTWAIT, NULL, 0) || errno == EAGAIN);
	}
	/* A call is an operation, without bytes: what it sends is in the ring. */
	expect(name, "send", calls, 0);
}

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* A program on the loopback device that gives all its packets to the socket; gives the link that holds it. */
static int xdp_attach(const struct xdp *xdp, const char *name)
{
	union bpf_attr map = {.map_type = BPF_MAP_TYPE_XSKMAP, .key_size = 4, .value_size = 4, .max_entries = 1};
	union bpf_attr program = {.prog_type = BPF_PROG_TYPE_XDP, .insn_cnt = 6, .license = (uintptr_t) "GPL"};
	union bpf_attr element = {.value = (uintptr_t)&xdp->fd}, link = {.link_create = {.attach_type = BPF_XDP}};
	struct bpf_insn instructions[6] = {
		{.code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD},
		{.code = 0},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = XDP_PASS},
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map},
		{.code = BPF_JMP | BPF_EXIT},
	};
	int fd = (int)bpf(BPF_MAP_CREATE, &map);

	if (fd < 0)
		skip(name, "no map of AF_XDP sockets");
	element.map_fd = fd;
	element.key = (uintptr_t) & (uint32_t){0};
	MUST(!bpf(BPF_MAP_UPDATE_ELEM, &element));
	instructions[0].imm = fd;
	program.insns = (uintptr_t)instructions;
	fd = (int)bpf(BPF_PROG_LOAD, &program);
	MUST(fd >= 0);
	link.link_create.prog_fd = (uint32_t)fd;
	link.link_create.target_ifindex = if_nametoindex("lo");
	link.link_create.flags = 1u << 1; /* XDP_FLAGS_SKB_MODE */
	fd = (int)bpf(BPF_LINK_CREATE, &link);
	if (fd < 0)
		skip(name, "no XDP program on lo");
	return fd;
}

static void xdp_recv(const char *name, struct ends *ends)
{
	uint64_t *frames;
	struct xdp xdp;
	int i, link;

	xdp_open(&xdp, name, "lo");
	frames = (uint64_t *)(xdp.fill + xdp.at.fr.desc);
	for (i = 0; i < XDP_RING; i++)
		frames[i] = (uint64_t)i * XDP_FRAME;
	__atomic_store_n(word(xdp.fill, xdp.at.fr.producer), XDP_RING, __ATOMIC_RELEASE);
	link = xdp_attach(&xdp, name);
	for (i = 0; i < ROUNDS; i++)
		MUST(send(ends->far, data, SIZE, 0) == SIZE);
	for (i = 0; __atomic_load_n(word(xdp.rx, xdp.at.rx.producer), __ATOMIC_ACQUIRE) < ROUNDS; i++) {
		MUST(i < 1000);
		usleep(1000);
	}
	close(link);
	expect(name, "send", ROUNDS, ROUNDS * SIZE);
	/* The packets are in memory: no call received them. */
	expect(name, "recv", 0, 0);
}

/* ---- all of them ---- */

struct way {
	const char *name; /* at most 15 characters: the process's name too */
	void (*run)(const char *name, struct ends *ends);
	bool udp;
	bool fed; /* the far end has sent before */
};

static const struct way ways[] = {
	{"w-uring-send", uring_send, false, false},
	{"w-uring-recv", uring_recv, true, true},
	{"w-uring-wsend", uring_worker_send, false, false},
	{"w-uring-wrecv", uring_worker_recv, true, true},
	{"w-uring-qsend", uring_sqpoll_send, false, false},
	{"w-uring-qrecv", uring_sqpoll_recv, true, true},
	{"w-splice-to", splice_to, false, false},
	{"w-splice-from", splice_from, false, true},
	{"w-sendfile", send_file, false, false},
	{"w-zc-send", zerocopy_send, false, false},
	{"w-zc-recv", zerocopy_recv, false, true},
	{"w-peek", peek, true, true},
	{"w-packet-send", packet_send, true, false},
	{"w-packet-recv", packet_recv, true, false},
	{"w-packet-ring", packet_ring, true, false},
	{"w-tls", tls, false, false},
	{"w-xdp-send", xdp_send, true, false},
	{"w-xdp-recv", xdp_recv, true, false},
};

static int bound(int type, struct sockaddr_in *at)
{
	int fd = socket(AF_INET, type, 0);

	MUST(fd >= 0);
	at->sin_port = 0;
	MUST(!bind(fd, (struct sockaddr *)at, sizeof(*at)));
	MUST(!getsockname(fd, (struct sockaddr *)at, &(socklen_t){sizeof(*at)}));
	return fd;
}

static void connect_ends(struct ends *ends, struct sockaddr_in at, bool udp)
{
	struct sockaddr_in near = at;
	int listener;

	if (udp) {
		ends->near = bound(SOCK_DGRAM, &near);
		ends->far = bound(SOCK_DGRAM, &at);
		MUST(!connect(ends->near, (struct sockaddr *)&at, sizeof(at)));
		MUST(!connect(ends->far, (struct sockaddr *)&near, sizeof(near)));
		return;
	}
	listener = bound(SOCK_STREAM, &at);
	MUST(!listen(listener, 1));
	ends->near = socket(AF_INET, SOCK_STREAM, 0);
	MUST(!connect(ends->near, (struct sockaddr *)&at, sizeof(at)));
	ends->far = accept(listener, NULL, NULL);
	MUST(ends->far >= 0);
	close(listener);
}

static void run(const struct way *way, struct sockaddr_in at, const char *device)
{
	struct ends ends = {.device = device};
	int i, status;
	pid_t child;

	connect_ends(&ends, at, way->udp);
	for (i = 0; way->fed && i < ROUNDS; i++)
		MUST(send(ends.far, data, SIZE, 0) == SIZE);
	if (way->fed)
		usleep(20000);
	child = fork();
	MUST(child >= 0);
	if (!child) {
		prctl(PR_SET_NAME, way->name);
		alarm(60);
		way->run(way->name, &ends);
		exit(0);
	}
	MUST(waitpid(child, &status, 0) == child);
	if (status)
		printf("%s failed\n", way->name);
	close(ends.near);
	close(ends.far);
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = {.sin_family = AF_INET};
	size_t i;

	if (argc < 2 || inet_pton(AF_INET, argv[1], &at.sin_addr) != 1) {
		fprintf(stderr, "usage: ways ADDRESS [DEVICE]\n");
		return 2;
	}
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		run(&ways[i], at, argc > 2 ? argv[2] : NULL);
	return 0;
}

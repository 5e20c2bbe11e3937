// SPDX-License-Identifier: GPL-2.0-only
/*
 * ring.c - see ring.h. The page layout is the kernel's contract, in linux/bpf.h at BPF_MAP_TYPE_RINGBUF.
 */
#include "record/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

/* Room is given back after this many bytes, so that a long drain does not keep a writer waiting. */
#define GIVE_BACK_BYTES 65536

int nt_ring_reader_init(struct nt_ring_reader *ring, size_t size)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *map;

	memset(ring, 0, sizeof(*ring));
	ring->size = size;
	ring->fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "nt_ring", 0, 0, size, NULL);
	if (ring->fd < 0)
		return ring->fd;
	map = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (map == MAP_FAILED)
		goto fail;
	ring->consumer = map;
	ring->producer_map_size = page + 2 * size;
	map = mmap(NULL, ring->producer_map_size, PROT_READ, MAP_SHARED, ring->fd, page);
	if (map == MAP_FAILED)
		goto fail;
	ring->producer = map;
	ring->data = (const uint8_t *)map + page;
	return 0;
fail:
	size = errno;
	nt_ring_reader_release(ring);
	return -(int)size;
}

void nt_ring_reader_release(struct nt_ring_reader *ring)
{
	if (ring->consumer)
		munmap(ring->consumer, sysconf(_SC_PAGESIZE));
	if (ring->producer)
		munmap((void *)(uintptr_t)ring->producer, ring->producer_map_size);
	if (ring->fd > 0)
		close(ring->fd);
	memset(ring, 0, sizeof(*ring));
}

int nt_ring_reader_drain(struct nt_ring_reader *ring, nt_ring_item_fn take, void *arg)
{
	unsigned long end = __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
	unsigned long at = *ring->consumer, given = at;
	int result = 0;

	while (at < end && !result) {
		const uint8_t *header = ring->data + (at & (ring->size - 1));
		uint32_t length = __atomic_load_n((const uint32_t *)header, __ATOMIC_ACQUIRE);
		size_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (length & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(length & BPF_RINGBUF_DISCARD_BIT))
			result = take(arg, header + BPF_RINGBUF_HDR_SZ, size);
		at += (size + BPF_RINGBUF_HDR_SZ + 7) & ~7ul;
		if (at - given >= GIVE_BACK_BYTES) {
			__atomic_store_n(ring->consumer, at, __ATOMIC_RELEASE);
			given = at;
		}
	}
	__atomic_store_n(ring->consumer, at, __ATOMIC_RELEASE);
	return result;
}

bool nt_ring_reader_is_empty(const struct nt_ring_reader *ring)
{
	return *ring->consumer == __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE);
}

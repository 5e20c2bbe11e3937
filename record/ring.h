/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.h - reads one CPU's BPF ring buffer through its shared pages. libbpf's reader gives room back record by record,
 * so the writing CPU misses its cache on every record. This one gives room back in batches. It can stop at a bound, so
 * that the last drain ends under any load.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nt_ring_reader {
	int fd; /* of the map; owned */
	size_t size; /* bytes of data, a power of two */
	unsigned long *consumer; /* shared with the kernel: read up to here */
	const unsigned long *producer; /* written up to here */
	const uint8_t *data; /* mapped twice in a row, so that no item is split */
	size_t producer_map_size;
};

/* Makes a ring buffer map of `size` bytes (a power of two, whole pages). 0 or a negative errno. */
int nt_ring_reader_init(struct nt_ring_reader *ring, size_t size);
/* Safe on a zeroed or half-made one. */
void nt_ring_reader_release(struct nt_ring_reader *ring);

/* One item: one or more records in a row, or a stack. Non-zero stops the drain, which gives that number. */
typedef int (*nt_ring_item_fn)(void *arg, const uint8_t *data, size_t size);

/*
 * Gives all items that were there when it was called. An item that is reserved and not yet
 * submitted ends the drain. 0, or what the callback gave (the item that it refused counts as read).
 */
int nt_ring_reader_drain(struct nt_ring_reader *ring, nt_ring_item_fn take, void *arg);
/* Whether all that was written has been read. */
bool nt_ring_reader_is_empty(const struct nt_ring_reader *ring);

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * retention.h - how much of a tape is kept: a flight recorder drops its oldest chunks, and any recorder leaves room on
 * the disk for others. For the one thread that writes the tape's files, in the order of what it writes: so the bounds
 * hold at every moment. Only finished chunks are dropped, the oldest first: the rest is a valid tape.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NT_CHUNK_NAME_MAX 32
#define NT_MIN_FREE_USUAL UINT64_MAX /* 5 % of the file system or 1 GiB, whichever is less */

struct nt_retention_limits {
	uint64_t keep_ns; /* what is older may go; 0: nothing is old */
	uint64_t max_bytes; /* of all files; 0: no bound */
	uint64_t min_free_bytes; /* that others find free; 0: none; or NT_MIN_FREE_USUAL */
};

/* A finished chunk. */
struct nt_kept_chunk {
	uint32_t number;
	uint64_t bytes, events;
	uint64_t end_ns; /* when it was closed, CLOCK_MONOTONIC: no record of it ended later */
};

struct nt_retention {
	struct nt_retention_limits limits;
	int directory_fd;
	struct nt_kept_chunk *chunks; /* from `first` on, `n` of them, the oldest first */
	size_t first, n, size;
	uint64_t bytes; /* of all files, what is open included */
	uint64_t dropped_chunks, dropped_bytes, dropped_events;
	uint64_t dropped_until_ns; /* end_ns of the last one dropped; 0: none was */
	/* As of the last looks at the disk: */
	bool is_low; /* less than min_free_bytes is free, and stays so */
	unsigned int vain; /* so many found it low, and no better than before */
	uint64_t free_before; /* what was free before chunks were dropped for it; 0: none were */
};

/* Whether chunks are dropped: with bounds of time or size. */
static inline bool nt_retention_drops(const struct nt_retention_limits *limits)
{
	return limits->keep_ns || limits->max_bytes;
}
/* The longest that a chunk may be open, in bytes and in nanoseconds (UINT64_MAX: for ever). */
uint64_t nt_retention_chunk_bytes(const struct nt_retention_limits *limits);
uint64_t nt_retention_chunk_ns(const struct nt_retention_limits *limits);

const char *nt_chunk_name(char name[NT_CHUNK_NAME_MAX], uint32_t number, const char *suffix);

/*
 * Of a directory that stays open. Settles min_free_bytes. 0; -ENOSPC: less is free already, *free_bytes; or another
 * negative errno of asking the file system, where nothing but that bound is lost.
 */
int nt_retention_init(struct nt_retention *retention, const struct nt_retention_limits *limits, int directory_fd,
		      uint64_t *free_bytes);
/*
 * Before so many bytes more are written: drops chunks until they fit. -E2BIG: nothing is left to drop; or the negative
 * errno of a file that cannot be removed.
 */
int nt_retention_make_room(struct nt_retention *retention, uint64_t bytes);
/* So many bytes were written. */
void nt_retention_wrote(struct nt_retention *retention, uint64_t bytes);
/*
 * A chunk has its end, and the tape's last record ended at last_ns. Drops the chunks that are too old then: what ended
 * up to keep_ns before stays. A negative errno, as above or -ENOMEM.
 */
int nt_retention_finished(struct nt_retention *retention, const struct nt_kept_chunk *chunk, uint64_t last_ns);
/*
 * Looks how much is free, and drops as many chunks as should make it enough. Room may come back later, and not at all
 * from a file that somebody has open or has linked: where three looks in a row find it no better, no more go, and
 * is_low is set. A negative errno, as above.
 */
int nt_retention_leave_free(struct nt_retention *retention);
/* Drops the oldest chunk. 1: there was none left, or it is no flight recorder's; or a negative errno, as above. */
int nt_retention_drop(struct nt_retention *retention);
void nt_retention_release(struct nt_retention *retention);

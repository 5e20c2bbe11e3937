// SPDX-License-Identifier: GPL-2.0-only
/*
 * retention.c - see retention.h.
 */
#include "record/retention.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define CHUNK_BYTES (64ull << 20)
#define PARTS 10 /* a chunk is at most such a part of what is kept: so much more, or less, may be there */
#define LEAST_CHUNK_NS 1000000000ull
#define USUAL_FREE_BYTES (1ull << 30)
#define USUAL_FREE_PART 20 /* 5 % */
#define PATIENCE 3 /* looks */

uint64_t nt_retention_chunk_bytes(const struct nt_retention_limits *limits)
{
	const uint64_t part = limits->max_bytes / PARTS;

	return part && part < CHUNK_BYTES ? part : CHUNK_BYTES;
}

uint64_t nt_retention_chunk_ns(const struct nt_retention_limits *limits)
{
	const uint64_t part = limits->keep_ns / PARTS;

	if (!limits->keep_ns)
		return UINT64_MAX;
	return part > LEAST_CHUNK_NS ? part : LEAST_CHUNK_NS;
}

const char *nt_chunk_name(char name[NT_CHUNK_NAME_MAX], uint32_t number, const char *suffix)
{
	snprintf(name, NT_CHUNK_NAME_MAX, "chunk-%06u.ntc%s", number, suffix);
	return name;
}

/* Free to users other than root, for whom a part may be reserved. */
static int ask_free(const struct nt_retention *retention, uint64_t *free_bytes, uint64_t *all_bytes)
{
	struct statvfs system;

	if (fstatvfs(retention->directory_fd, &system))
		return -errno;
	*free_bytes = (uint64_t)system.f_bavail * system.f_frsize;
	*all_bytes = (uint64_t)system.f_blocks * system.f_frsize;
	return 0;
}

int nt_retention_init(struct nt_retention *retention, const struct nt_retention_limits *limits, int directory_fd,
		      uint64_t *free_bytes)
{
	uint64_t all_bytes = 0, *min = &retention->limits.min_free_bytes;
	int error;

	*retention = (struct nt_retention){.limits = *limits, .directory_fd = directory_fd};
	if (!*min)
		return 0;
	error = ask_free(retention, free_bytes, &all_bytes);
	/* One that does not say how large it is, is not of a disk. */
	if (error || !all_bytes) {
		*min = 0;
		return error;
	}
	if (*min == NT_MIN_FREE_USUAL)
		*min = all_bytes / USUAL_FREE_PART < USUAL_FREE_BYTES ? all_bytes / USUAL_FREE_PART : USUAL_FREE_BYTES;
	return *free_bytes < *min ? -ENOSPC : 0;
}

int nt_retention_drop(struct nt_retention *retention)
{
	const struct nt_kept_chunk *oldest;
	char name[NT_CHUNK_NAME_MAX];

	if (!retention->n || !nt_retention_drops(&retention->limits))
		return 1;
	oldest = &retention->chunks[retention->first];
	/* Somebody may have removed it. */
	if (unlinkat(retention->directory_fd, nt_chunk_name(name, oldest->number, ""), 0) && errno != ENOENT)
		return -errno;
	retention->first++;
	retention->n--;
	retention->bytes -= oldest->bytes;
	retention->dropped_chunks++;
	retention->dropped_bytes += oldest->bytes;
	retention->dropped_events += oldest->events;
	retention->dropped_until_ns = oldest->end_ns;
	return 0;
}

int nt_retention_make_room(struct nt_retention *retention, uint64_t bytes)
{
	const uint64_t max = retention->limits.max_bytes;
	int error = 0;

	while (!error && max && retention->bytes + bytes > max)
		error = nt_retention_drop(retention);
	return error == 1 ? -E2BIG : error;
}

void nt_retention_wrote(struct nt_retention *retention, uint64_t bytes)
{
	retention->bytes += bytes;
}

/* Puts the chunks at the begin of their room again, or makes more. */
static int make_room_for_one(struct nt_retention *retention)
{
	struct nt_kept_chunk *chunks = retention->chunks;
	const size_t size = 2 * retention->size + 16;

	if (retention->first + retention->n < retention->size)
		return 0;
	if (retention->first > retention->size / 2) {
		memmove(chunks, &chunks[retention->first], retention->n * sizeof(*chunks));
		retention->first = 0;
		return 0;
	}
	chunks = reallocarray(chunks, size, sizeof(*chunks));
	if (!chunks)
		return -ENOMEM;
	retention->chunks = chunks;
	retention->size = size;
	return 0;
}

static bool is_old(const struct nt_retention *retention, uint64_t last_ns)
{
	const uint64_t keep_ns = retention->limits.keep_ns;

	return keep_ns && retention->n && last_ns >= keep_ns &&
	       retention->chunks[retention->first].end_ns <= last_ns - keep_ns;
}

int nt_retention_finished(struct nt_retention *retention, const struct nt_kept_chunk *chunk, uint64_t last_ns)
{
	int error = 0;

	error = make_room_for_one(retention);
	if (error)
		return error;
	retention->chunks[retention->first + retention->n++] = *chunk;
	while (!error && is_old(retention, last_ns))
		error = nt_retention_drop(retention);
	return error;
}

/* Gives 1 where nothing was left to drop before that was enough. */
static int drop_for(struct nt_retention *retention, uint64_t missing)
{
	const uint64_t enough = retention->dropped_bytes + missing;
	int error = 0;

	while (!error && retention->dropped_bytes < enough)
		error = nt_retention_drop(retention);
	return error;
}

int nt_retention_leave_free(struct nt_retention *retention)
{
	const uint64_t min = retention->limits.min_free_bytes, dropped = retention->dropped_chunks;
	uint64_t free_bytes = 0, all_bytes = 0;
	int error = 1;

	if (!min || ask_free(retention, &free_bytes, &all_bytes))
		return 0;
	if (free_bytes >= min) {
		retention->vain = 0;
		retention->free_before = 0;
		return 0;
	}
	/* What was dropped the last time has given something, or nothing was. */
	if (!retention->free_before || free_bytes > retention->free_before)
		error = drop_for(retention, min - free_bytes);
	if (retention->dropped_chunks > dropped) {
		retention->vain = 0;
		retention->free_before = free_bytes;
	} else {
		retention->is_low |= ++retention->vain >= PATIENCE;
	}
	return error == 1 ? 0 : error;
}

void nt_retention_release(struct nt_retention *retention)
{
	free(retention->chunks);
	retention->chunks = NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * follow.c - see follow.h. A chunk grows at its end until it gets its final name. The recorder begins the next one
 * before, since its disk may be slow: what is behind the one that grows waits for that.
 */
#include "report/tape/follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/tape/open.h"
#include "schema/meta_keys.h"

/*
 * A record is on the tape so long after its end at the latest: once a second the recorder asks CPUs that hold records
 * back for longer than half a second, and it keeps none for longer than a quarter. Where it is late, its blocks say so.
 */
#define ON_TAPE_AFTER_NS 2500000000ull
#define AFTER_LAG_NS 500000000ull

struct nt_tape_growth {
	struct nt_tape_opening opening;
};

void nt_tape_growth_free(struct nt_tape_growth *growth)
{
	if (growth)
		nt_tape_opening_release(&growth->opening);
	free(growth);
}

bool nt_tape_is_recorded(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_locked = fd >= 0 ? flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK
				 : errno == EMFILE || errno == ENFILE || errno == ENOMEM;

	if (fd >= 0)
		close(fd);
	return is_locked;
}

static struct nt_tape_chunk *growing(const struct nt_tape *tape)
{
	struct nt_tape_chunk *last = tape->n_chunks ? &tape->chunks[tape->n_chunks - 1] : NULL;

	return last && last->grows ? last : NULL;
}

/* The same chunk was listed by its final name too: it got that just now. */
static bool is_listed_twice(const struct nt_tape *tape, size_t at)
{
	const struct nt_tape_chunk *chunk = &tape->chunks[at];

	return chunk->partial && at && chunk[-1].number == chunk->number;
}

/* Of the chunks from `at` on, which were listed just now, the first that has no final name grows, and stays open. */
static void let_grow(struct nt_tape *tape, size_t at)
{
	for (; at < tape->n_chunks; at++) {
		while (at < tape->n_chunks && is_listed_twice(tape, at))
			nt_tape_remove_chunk(tape, at);
		if (at == tape->n_chunks || !tape->chunks[at].partial)
			continue;
		tape->chunks[at].grows = true;
		tape->chunks[at].holds = 1;
		while (tape->n_chunks > at + 1)
			nt_tape_remove_chunk(tape, tape->n_chunks - 1);
	}
}

/* ---- the last chunk ---- */

static int measure(struct nt_tape_chunk *chunk)
{
	struct stat status;

	if (fstat(chunk->fd, &status))
		return -errno;
	/* A recorder that finds the disk full takes back a part of a block. */
	chunk->size = (uint64_t)status.st_size;
	if (chunk->size < chunk->grown_to)
		chunk->size = chunk->grown_to;
	return 0;
}

/* Reads what it has got. */
static int grow(struct nt_tape_opening *opening, struct nt_tape_chunk *chunk)
{
	struct nt_source source;
	int error = measure(chunk);

	source = nt_tape_chunk_source(chunk);
	if (!error)
		error = nt_chunk_grow(&source, &chunk->grown_to, chunk->contents);
	/* It became shorter just now. */
	if (error == -EBADMSG)
		error = 0;
	return error ? error : nt_tape_go_over_new(opening, opening->tape->n_chunks - 1);
}

/* The chunk grows no more: what is not whole is damage now. `is_named`: it has got its final name. */
static int finish(struct nt_tape_opening *opening, struct nt_tape_chunk *chunk, bool is_named)
{
	struct nt_tape *tape = opening->tape;
	struct nt_source source;
	int error = measure(chunk);

	if (!error && is_named)
		error = nt_tape_take_final_name(chunk);
	source = nt_tape_chunk_source(chunk);
	if (!error)
		error = nt_chunk_grown(&source, chunk->grown_to, chunk->contents);
	if (!error)
		error = nt_tape_go_over_new(opening, tape->n_chunks - 1);
	if (!error)
		error = nt_tape_note_end(opening, chunk);
	chunk->grows = false;
	nt_tape_keep_file(tape, chunk);
	nt_tape_drop(tape, tape->n_chunks - 1);
	return error;
}

static bool has_final_name(const struct nt_tape *tape, const struct nt_tape_chunk *chunk)
{
	char name[NT_CHUNK_NAME_MAX];
	const int fd = nt_tape_chunk_fd(tape, nt_tape_final_name(chunk, name));

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* It was finished, and dropped, since the last look. */
static bool has_gone(const struct nt_tape_chunk *chunk)
{
	struct stat status;

	return !fstat(chunk->fd, &status) && !status.st_nlink;
}

/* ---- looking ---- */

/* All records that ended so long before something stand before it; `lag_ns`: the blocks about it say so. */
static uint64_t on_tape_after(uint64_t lag_ns)
{
	if (lag_ns <= ON_TAPE_AFTER_NS - AFTER_LAG_NS)
		return ON_TAPE_AFTER_NS;
	return lag_ns < INT64_MAX ? lag_ns + AFTER_LAG_NS : INT64_MAX;
}

uint64_t nt_tape_settled_by(const struct nt_tape *tape, size_t chunk)
{
	const struct nt_tape_chunk *at = &tape->chunks[chunk];
	const uint64_t after_ns = on_tape_after(tape->lag_max_ns);
	uint64_t last_ns = 0;

	for (uint32_t cpu = 0; cpu < at->n_cpus; cpu++) {
		if (at->cpus[cpu].has && at->cpus[cpu].last_end_ns > last_ns)
			last_ns = at->cpus[cpu].last_end_ns;
	}
	return last_ns > after_ns ? last_ns - after_ns : 0;
}

static void note_settled(struct nt_tape_opening *opening)
{
	struct nt_tape *tape = opening->tape;
	const uint64_t after_ns = on_tape_after(opening->lag_ns);

	if (opening->clock_ns > after_ns && opening->clock_ns - after_ns > tape->settled_ns)
		tape->settled_ns = opening->clock_ns - after_ns;
}

static int look_at_last(struct nt_tape_opening *opening)
{
	struct nt_tape_chunk *chunk = growing(opening->tape);

	if (!chunk)
		return 0;
	if (has_final_name(opening->tape, chunk) || has_gone(chunk))
		return finish(opening, chunk, true);
	return grow(opening, chunk);
}

/* Chunks that are behind those known. */
static int look_for_more(struct nt_tape_opening *opening, bool is_recorded)
{
	struct nt_tape *tape = opening->tape;
	const size_t n = tape->n_chunks;
	int error;

	if (n && tape->chunks[n - 1].number == UINT32_MAX)
		return 0;
	error = nt_tape_list_chunks(tape, n ? tape->chunks[n - 1].number + 1 : 0);
	if (!error && is_recorded)
		let_grow(tape, n);
	return error ? error : nt_tape_go_over_chunks(opening, n);
}

/* Nothing more will come: from now on it is as any other. */
static int end(struct nt_tape *tape)
{
	struct nt_tape_opening *opening = &tape->growth->opening;
	struct nt_tape_chunk *last = growing(tape);
	int error = last ? finish(opening, last, false) : 0;

	if (!error)
		error = look_for_more(opening, false);
	if (!error)
		error = nt_tape_settle_end(opening);
	tape->settled_ns = UINT64_MAX;
	nt_tape_growth_free(tape->growth);
	tape->growth = NULL;
	return error;
}

static bool is_of_snapshot(const struct nt_buf *closing)
{
	const char *key, *value;
	size_t offset = 0, key_size, size;

	while (!nt_meta_next(closing->data, closing->size, &offset, &key, &key_size, &value, &size)) {
		if (key_size == strlen(NT_META_STOP) && !memcmp(key, NT_META_STOP, key_size))
			return size == strlen(NT_STOP_SNAPSHOT) && !memcmp(value, NT_STOP_SNAPSHOT, size);
	}
	return false;
}

/* The session's end is in the last chunk, which has its final name then. Behind that of a snapshot more may come. */
static bool has_end(const struct nt_tape_opening *opening)
{
	const struct nt_tape *tape = opening->tape;

	return !growing(tape) && opening->closing.size && opening->closing_chunk == tape->n_chunks - 1 &&
	       !is_of_snapshot(&opening->closing);
}

static int look(struct nt_tape *tape)
{
	struct nt_tape_opening *opening = &tape->growth->opening;
	/* First: what was written before the recorder ended is then found. */
	const bool was_recorded = nt_tape_is_recorded(tape->path);
	int error = look_at_last(opening);

	while (!error && !growing(tape) && !has_end(opening)) {
		const size_t n = tape->n_chunks;

		error = look_for_more(opening, was_recorded);
		if (tape->n_chunks == n)
			break;
	}
	if (error)
		return error;
	note_settled(opening);
	return was_recorded && !has_end(opening) ? 0 : end(tape);
}

int nt_tape_look(struct nt_tape *tape, char error_text[NT_ERROR_MAX])
{
	int error = tape->growth ? look(tape) : 0;

	if (error == -ESTALE)
		nt_fail(error_text, "'%s' has got a CPU that was not there: read it anew.", tape->path);
	else if (error)
		nt_fail(error_text, "the rest of '%s' cannot be read: %s.", tape->path, nt_tape_error_text(error));
	return error;
}

/* ---- opening ---- */

/* Opens the tape as far as it is there. -EAGAIN: that is too little. */
static int open_what_there_is(struct nt_tape_opening *opening)
{
	struct nt_tape *tape = opening->tape;
	const bool was_recorded = nt_tape_is_recorded(tape->path);
	int error = nt_tape_find_chunks(opening);

	if (!error && tape->is_file)
		error = -ENOTDIR;
	if (!error && was_recorded)
		let_grow(tape, 0);
	if (!error)
		error = nt_tape_go_over_chunks(opening, 0);
	/* Chunks went just now: soon there is a tape again. */
	if (error == -ESTALE || (!error && !tape->meta.size && was_recorded))
		error = -EAGAIN;
	if (!error && !tape->n_chunks)
		error = -EPROTO;
	if (!error)
		error = nt_tape_settle_begin(opening);
	if (error)
		return error;
	tape->settled_ns = 0;
	tape->end_ns = INT64_MAX;
	return look(tape);
}

int nt_tape_follow(struct nt_tape **out, const char *path, char error_text[NT_ERROR_MAX])
{
	struct nt_tape_growth *growth = calloc(1, sizeof(*growth));
	struct nt_tape *tape;
	int error = growth ? nt_tape_opening_begin(&growth->opening, path) : -ENOMEM;

	*out = NULL;
	if (error) {
		free(growth);
		nt_fail(error_text, "'%s' cannot be read: %s.", path, strerror(-error));
		return error;
	}
	tape = growth->opening.tape;
	tape->growth = growth;
	error = open_what_there_is(&growth->opening);
	if (!error) {
		*out = tape;
		return 0;
	}
	if (error == -EAGAIN)
		nt_fail(error_text, "'%s': nothing has been recorded yet.", path);
	else if (error == -ENOTDIR)
		nt_fail(error_text, "'%s' is a file: give the directory that nettape-record writes.", path);
	else if (tape->growth)
		nt_tape_say_why(&tape->growth->opening, error, error_text);
	else
		nt_fail(error_text, "'%s' cannot be read: %s.", path, nt_tape_error_text(error));
	nt_tape_close(tape);
	return error;
}

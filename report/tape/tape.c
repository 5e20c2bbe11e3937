// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape.c - the part of tape.h that works on an open tape: holding chunks, loading blocks, meta lines, problems.
 * open.c opens one.
 */
#include "report/tape/tape.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/tape/follow.h"
#include "report/tape/open.h"
#include "report/util/array.h"
#include "report/util/words.h"
#include "schema/meta_keys.h"

#define MAX_PROBLEMS 1000 /* then one sentence says that there are more */

static int64_t read_file(void *arg, uint64_t offset, void *data, size_t size)
{
	const struct nt_tape_chunk *chunk = arg;
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(chunk->fd, (char *)data + done, size - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}

struct nt_source nt_tape_chunk_source(struct nt_tape_chunk *chunk)
{
	return (struct nt_source){.arg = chunk, .size = chunk->size, .read = read_file};
}

int nt_tape_take_final_name(struct nt_tape_chunk *chunk)
{
	char name[NT_CHUNK_NAME_MAX], *copy = strdup(nt_tape_final_name(chunk, name));

	if (!copy)
		return -ENOMEM;
	free(chunk->name);
	chunk->name = copy;
	chunk->partial = false;
	return 0;
}

/* By the name that it was listed by, or that the recorder has given it since. What is known of it stays as it is. */
static int open_file(const struct nt_tape *tape, struct nt_tape_chunk *chunk)
{
	int fd = chunk->kept_fd >= 0 ? fcntl(chunk->kept_fd, F_DUPFD_CLOEXEC, 0) : nt_tape_chunk_fd(tape, chunk->name);
	char name[NT_CHUNK_NAME_MAX];

	if (chunk->kept_fd >= 0)
		return fd < 0 ? -errno : fd;
	if (fd != -ENOENT || !chunk->partial || chunk->grows)
		return fd;
	fd = nt_tape_chunk_fd(tape, nt_tape_final_name(chunk, name));
	if (fd < 0 || chunk->is_sized || !nt_tape_take_final_name(chunk))
		return fd;
	close(fd);
	return -ENOMEM;
}

int nt_tape_chunk_open(const struct nt_tape *tape, struct nt_tape_chunk *chunk)
{
	struct nt_source source;
	struct stat status;
	int error = 0;

	chunk->fd = open_file(tape, chunk);
	if (chunk->fd < 0)
		return chunk->fd;
	if (fstat(chunk->fd, &status))
		error = -errno;
	else if (!S_ISREG(status.st_mode))
		error = -EPROTO;
	if (!error) {
		/* A chunk that grows is read as far as it went when it was opened first. */
		if (!chunk->is_sized || (uint64_t)status.st_size < chunk->size)
			chunk->size = (uint64_t)status.st_size;
		chunk->is_sized = true;
		source = nt_tape_chunk_source(chunk);
		error = chunk->grows ? nt_chunk_grow(&source, &chunk->grown_to, chunk->contents)
				     : nt_chunk_open(&source, false, chunk->contents);
		/* Of a recorder that was killed before it wrote anything: a chunk without blocks. */
		if ((error == -EPROTO || error == -EBADMSG) && chunk->partial && nt_chunk_is_begun(&source) == 1)
			error = 0;
	}
	if (error)
		nt_tape_chunk_close(chunk);
	return error;
}

void nt_tape_chunk_close(struct nt_tape_chunk *chunk)
{
	if (chunk->contents)
		nt_chunk_contents_release(chunk->contents);
	if (chunk->fd >= 0)
		close(chunk->fd);
	chunk->fd = -1;
}

#define MANY_FILES 256 /* that a process may have open besides others */

void nt_tape_keep_file(struct nt_tape *tape, struct nt_tape_chunk *chunk)
{
	if (!tape->drops || tape->n_kept >= MANY_FILES || chunk->kept_fd >= 0 || !nt_tape_is_recorded(tape->path))
		return;
	chunk->kept_fd = fcntl(chunk->fd, F_DUPFD_CLOEXEC, 0);
	tape->n_kept += chunk->kept_fd >= 0;
}

static void let_go(struct nt_tape_chunk *chunk)
{
	if (chunk->kept_fd >= 0)
		close(chunk->kept_fd);
	chunk->kept_fd = -1;
}

void nt_tape_let_go(struct nt_tape *tape, uint64_t until_ns)
{
	for (size_t i = 0; i < tape->n_chunks && tape->n_kept; i++) {
		struct nt_tape_chunk *chunk = &tape->chunks[i];

		if (chunk->kept_fd < 0 ||
		    NT_ANY(chunk->n_cpus, cpu, chunk->cpus[cpu].has && chunk->cpus[cpu].last_end_ns >= until_ns))
			continue;
		let_go(chunk);
		tape->n_kept--;
	}
}

void nt_tape_chunk_release(struct nt_tape_chunk *chunk)
{
	nt_tape_chunk_close(chunk);
	let_go(chunk);
	free(chunk->contents);
	free(chunk->name);
	free(chunk->cpus);
}

int nt_tape_hold(struct nt_tape *tape, size_t chunk, const struct nt_chunk_contents **out)
{
	int error;

	pthread_mutex_lock(&tape->lock);
	error = tape->chunks[chunk].holds ? 0 : nt_tape_chunk_open(tape, &tape->chunks[chunk]);
	tape->chunks[chunk].holds += !error;
	pthread_mutex_unlock(&tape->lock);
	if (!error && out)
		*out = tape->chunks[chunk].contents;
	return error;
}

void nt_tape_drop(struct nt_tape *tape, size_t chunk)
{
	pthread_mutex_lock(&tape->lock);
	if (!--tape->chunks[chunk].holds)
		nt_tape_chunk_close(&tape->chunks[chunk]);
	pthread_mutex_unlock(&tape->lock);
}

int nt_tape_read(struct nt_tape *tape, size_t chunk, const struct nt_block_ref *block, struct nt_buf *raw)
{
	struct nt_source source = nt_tape_chunk_source(&tape->chunks[chunk]);

	return nt_chunk_load(&source, block, raw);
}

int nt_tape_load(struct nt_tape *tape, size_t chunk, const struct nt_block_ref *block, struct nt_buf *raw)
{
	int error = nt_tape_read(tape, chunk, block, raw);

	if (error == -EBADMSG && nt_tape_damaged_block(tape, chunk, block->offset))
		return -ENOMEM;
	return error;
}

int nt_tape_meta(const struct nt_tape *tape, const char *key, char *value, size_t size)
{
	const char *line_key, *line_value;
	size_t offset = 0, key_size, value_size;

	while (!nt_meta_next(tape->meta.data, tape->meta.size, &offset, &line_key, &key_size, &line_value,
			     &value_size)) {
		if (key_size != strlen(key) || memcmp(line_key, key, key_size) != 0)
			continue;
		if (value_size >= size)
			value_size = size - 1;
		memcpy(value, line_value, value_size);
		value[value_size] = 0;
		return 0;
	}
	return -ENOENT;
}

uint64_t nt_tape_meta_number(const struct nt_tape *tape, const char *key, uint64_t otherwise)
{
	char text[32], *end;
	unsigned long long number;

	if (nt_tape_meta(tape, key, text, sizeof(text)) || text[0] < '0' || text[0] > '9')
		return otherwise;
	errno = 0;
	number = strtoull(text, &end, 10);
	return errno || *end || number > INT64_MAX ? otherwise : number;
}

uint64_t nt_tape_dropped_ns(const struct nt_tape *tape)
{
	const uint64_t start_ns = nt_tape_meta_number(tape, NT_META_START_NS, tape->start_ns);

	return tape->n_dropped && start_ns < tape->start_ns ? tape->start_ns - start_ns : 0;
}

bool nt_tape_has_probe(const struct nt_tape *tape, const char *probe)
{
	char probes[1024];

	return !nt_tape_meta(tape, NT_META_PROBES, probes, sizeof(probes)) && nt_has_word(probes, probe);
}

static int add_problem(struct nt_tape *tape, char *text)
{
	const bool is_known = NT_ANY(tape->n_problems, i, !strcmp(tape->problems[i].text, text));

	if (is_known || NT_ROOM(tape->problems, tape->problems_size, tape->n_problems + 1)) {
		free(text);
		return is_known ? 0 : -ENOMEM;
	}
	tape->problems[tape->n_problems++].text = text;
	return 0;
}

int nt_tape_problem(struct nt_tape *tape, const char *format, ...)
{
	va_list args;
	char *text;
	int size;

	if (tape->n_problems >= MAX_PROBLEMS) {
		text = strdup("There are more problems than are listed.");
		return text ? add_problem(tape, text) : -ENOMEM;
	}
	va_start(args, format);
	size = vasprintf(&text, format, args);
	va_end(args);
	return size < 0 ? -ENOMEM : add_problem(tape, text);
}

size_t nt_tape_problem_at(const struct nt_tape *tape, size_t at, char text[NT_ERROR_MAX])
{
	snprintf(text, NT_ERROR_MAX, "%s", at < tape->n_problems ? tape->problems[at].text : "");
	return tape->n_problems;
}

int nt_tape_damaged_block(struct nt_tape *tape, size_t chunk, uint64_t offset)
{
	return nt_tape_problem(tape, "%s: the block at byte %llu is damaged.", tape->chunks[chunk].name,
			       (unsigned long long)offset);
}

int nt_tape_bad_block(struct nt_tape *tape, size_t chunk, uint64_t offset)
{
	return nt_tape_problem(tape, "%s: the block at byte %llu does not hold what the chunk format says.",
			       tape->chunks[chunk].name, (unsigned long long)offset);
}

const char *nt_tape_error_text(int error)
{
	switch (error) {
	case -EPROTO:
		return "not a nettape chunk";
	case -ENOTSUP:
		return "a chunk format of another version than this program reads";
	case -EBADMSG:
		return "damaged";
	case -ENOENT:
		return "a chunk has gone: a flight recorder drops its oldest, or somebody removed it; read it anew";
	default:
		return strerror(-error);
	}
}

void nt_tape_close(struct nt_tape *tape)
{
	if (!tape)
		return;
	for (size_t i = 0; i < tape->n_chunks; i++)
		nt_tape_chunk_release(&tape->chunks[i]);
	nt_tape_growth_free(tape->growth);
	for (size_t i = 0; i < tape->n_problems; i++)
		free(tape->problems[i].text);
	free(tape->chunks);
	free(tape->problems);
	nt_buf_release(&tape->meta);
	free(tape->present);
	free(tape->online);
	free(tape->path);
	pthread_mutex_destroy(&tape->lock);
	free(tape);
}

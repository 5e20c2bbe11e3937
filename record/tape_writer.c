// SPDX-License-Identifier: GPL-2.0-only
/* tape_writer.c - see tape_writer.h. */
#include "record/tape_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

/* The thread that waits for the disk, and what it is asked. */
struct syncer {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool running;			/* the thread exists */
	bool busy, stop;
	int sync_fd;			/* to be synced, or -1 */
	int finish_fd;			/* to be synced, closed and renamed, or -1 */
	char from[PATH_MAX], to[PATH_MAX];
	int directory_fd;
	int error;			/* the first failure not yet told */
};

struct nt_tape_writer {
	char *directory;
	int directory_fd;
	struct nt_chunk_header header;
	struct nt_chunk_writer *chunk;
	int fd;
	char path[PATH_MAX];
	uint64_t file_size;		/* whole blocks in the open file */
	uint64_t finished_bytes, blocks;
	struct syncer syncer;
};

static int finish_file(struct syncer *syncer, int fd)
{
	int err = fdatasync(fd) ? -errno : 0;

	close(fd);
	if (!err && (rename(syncer->from, syncer->to) || fsync(syncer->directory_fd)))
		err = -errno;
	return err;
}

/* Does one thing that is asked for, with the lock released meanwhile. False if there is none. */
static bool sync_once(struct syncer *syncer)
{
	int finish = syncer->finish_fd, fd = finish >= 0 ? finish : syncer->sync_fd, err;

	if (fd < 0)
		return false;
	syncer->busy = true;
	if (finish < 0)
		syncer->sync_fd = -1;
	pthread_mutex_unlock(&syncer->lock);
	err = finish >= 0 ? finish_file(syncer, fd) : fdatasync(fd) ? -errno : 0;
	pthread_mutex_lock(&syncer->lock);
	if (finish >= 0)
		syncer->finish_fd = -1;
	if (err && !syncer->error)
		syncer->error = err;
	syncer->busy = false;
	pthread_cond_broadcast(&syncer->changed);
	return true;
}

static void *sync_loop(void *arg)
{
	struct syncer *syncer = arg;

	pthread_mutex_lock(&syncer->lock);
	while (sync_once(syncer) || !syncer->stop)
		if (!syncer->stop && syncer->sync_fd < 0 && syncer->finish_fd < 0)
			pthread_cond_wait(&syncer->changed, &syncer->lock);
	pthread_mutex_unlock(&syncer->lock);
	return NULL;
}

static int syncer_start(struct syncer *syncer, int directory_fd)
{
	int err;

	syncer->sync_fd = syncer->finish_fd = -1;
	syncer->directory_fd = directory_fd;
	pthread_mutex_init(&syncer->lock, NULL);
	pthread_cond_init(&syncer->changed, NULL);
	err = pthread_create(&syncer->thread, NULL, sync_loop, syncer);
	syncer->running = !err;
	return -err;
}

static void syncer_stop(struct syncer *syncer)
{
	if (!syncer->running)
		return;
	pthread_mutex_lock(&syncer->lock);
	syncer->stop = true;
	pthread_cond_broadcast(&syncer->changed);
	pthread_mutex_unlock(&syncer->lock);
	pthread_join(syncer->thread, NULL);
	syncer->running = false;
}

/* Waits until nothing is asked for or being done; gives and forgets its error. Takes and holds the lock. */
static int syncer_lock_idle(struct syncer *syncer)
{
	int err;

	pthread_mutex_lock(&syncer->lock);
	while (syncer->busy || syncer->sync_fd >= 0 || syncer->finish_fd >= 0)
		pthread_cond_wait(&syncer->changed, &syncer->lock);
	err = syncer->error;
	syncer->error = 0;
	return err;
}

static int directory_is_empty(int fd)
{
	DIR *dir = fdopendir(dup(fd));
	struct dirent *entry;
	int empty = 1;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			empty = 0;
	closedir(dir);
	return empty;
}

static int open_directory(struct nt_tape_writer *tape)
{
	int empty;

	if (mkdir(tape->directory, 0700) && errno != EEXIST)
		return -errno;
	tape->directory_fd = open(tape->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tape->directory_fd < 0)
		return -errno;
	empty = directory_is_empty(tape->directory_fd);
	return empty < 0 ? empty : empty ? 0 : -ENOTEMPTY;
}

int nt_tape_writer_new(struct nt_tape_writer **out, const char *directory, const struct nt_chunk_header *header)
{
	struct nt_tape_writer *tape = calloc(1, sizeof(*tape));
	int err;

	if (!tape)
		return -ENOMEM;
	tape->fd = tape->directory_fd = -1;
	tape->header = *header;
	tape->directory = strdup(directory);
	err = tape->directory ? open_directory(tape) : -ENOMEM;
	if (!err)
		err = syncer_start(&tape->syncer, tape->directory_fd);
	if (err) {
		nt_tape_writer_free(tape);
		return err;
	}
	*out = tape;
	return 0;
}

/* All bytes or none: what could not be written whole is cut off again. */
static int write_block(void *arg, const void *data, size_t size)
{
	struct nt_tape_writer *tape = arg;
	size_t done = 0;

	while (done < size) {
		ssize_t n = write(tape->fd, (const char *)data + done, size - done);
		int err = n < 0 ? -errno : 0;

		if (err == -EINTR)
			continue;
		if (err) {
			if (ftruncate(tape->fd, tape->file_size))
				return err;
			lseek(tape->fd, tape->file_size, SEEK_SET);
			return err;
		}
		done += n;
	}
	tape->file_size += size;
	return 0;
}

static void chunk_path(const struct nt_tape_writer *tape, char *path, size_t size, const char *suffix)
{
	snprintf(path, size, "%s/chunk-%06u.ntc%s", tape->directory, tape->header.number, suffix);
}

int nt_tape_writer_begin_chunk(struct nt_tape_writer *tape)
{
	chunk_path(tape, tape->path, sizeof(tape->path), ".partial");
	tape->fd = open(tape->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (tape->fd < 0)
		return -errno;
	tape->file_size = 0;
	return nt_chunk_writer_new(&tape->chunk, &tape->header, write_block, tape);
}

int nt_tape_writer_block(struct nt_tape_writer *tape, struct nt_block_header *header, const void *raw, size_t size)
{
	tape->blocks++;
	return nt_chunk_writer_block(tape->chunk, header, raw, size);
}

int nt_tape_writer_finish_chunk(struct nt_tape_writer *tape)
{
	struct syncer *syncer = &tape->syncer;
	int err = nt_chunk_writer_finish(tape->chunk), earlier;

	if (err)
		return err;
	earlier = syncer_lock_idle(syncer);
	memcpy(syncer->from, tape->path, sizeof(syncer->from));
	chunk_path(tape, syncer->to, sizeof(syncer->to), "");
	syncer->finish_fd = tape->fd;
	pthread_cond_broadcast(&syncer->changed);
	pthread_mutex_unlock(&syncer->lock);
	tape->fd = -1;
	tape->finished_bytes += tape->file_size;
	tape->file_size = 0;
	tape->header.number++;
	nt_chunk_writer_free(tape->chunk);
	tape->chunk = NULL;
	return earlier;
}

int nt_tape_writer_sync(struct nt_tape_writer *tape)
{
	struct syncer *syncer = &tape->syncer;
	int err;

	pthread_mutex_lock(&syncer->lock);
	syncer->sync_fd = tape->fd;
	err = syncer->error;
	syncer->error = 0;
	pthread_cond_broadcast(&syncer->changed);
	pthread_mutex_unlock(&syncer->lock);
	return err;
}

int nt_tape_writer_wait(struct nt_tape_writer *tape)
{
	int err = syncer_lock_idle(&tape->syncer);

	pthread_mutex_unlock(&tape->syncer.lock);
	return err;
}

uint64_t nt_tape_writer_chunk_size(const struct nt_tape_writer *tape)
{
	return tape->file_size;
}

uint64_t nt_tape_writer_bytes(const struct nt_tape_writer *tape)
{
	return tape->finished_bytes + tape->file_size;
}

uint64_t nt_tape_writer_blocks(const struct nt_tape_writer *tape)
{
	return tape->blocks;
}

uint32_t nt_tape_writer_number(const struct nt_tape_writer *tape)
{
	return tape->header.number;
}

const char *nt_tape_writer_path(const struct nt_tape_writer *tape)
{
	return tape->path;
}

void nt_tape_writer_free(struct nt_tape_writer *tape)
{
	if (!tape)
		return;
	syncer_stop(&tape->syncer);
	nt_chunk_writer_free(tape->chunk);
	if (tape->fd >= 0)
		close(tape->fd);
	if (tape->directory_fd >= 0)
		close(tape->directory_fd);
	free(tape->directory);
	free(tape);
}

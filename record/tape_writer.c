// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_writer.c - see tape_writer.h.
 */
#include "record/tape_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/tape_directory.h"

#define QUEUE_MAX_BYTES (64u << 20) /* the disk may fall this far behind; then the recording waits for it */

/* The thread's jobs, which it does in order. */
enum job_type { JOB_BEGIN, JOB_WRITE, JOB_SYNC, JOB_FINISH };

struct job {
	struct job *next;
	enum job_type type;
	int fd; /* FINISH closes it */
	uint32_t chunk; /* FINISH gives the file of this number its name */
	struct nt_tape_totals adds; /* WRITE: to what is on the disk */
	size_t size;
	char data[]; /* WRITE */
};

/* The thread that waits for the disk. After a failure it does no more writes, so that files end with a whole block. */
struct disk {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool running, busy, stop;
	struct job *first, **last;
	size_t queued_bytes;
	int directory_fd;
	int error; /* the first failure */
	struct nt_tape_totals written;
};

struct nt_tape_writer {
	char *path_of_directory; /* for messages */
	struct nt_tape_directory directory;
	struct nt_chunk_header header;
	struct nt_chunk_writer *chunk;
	int fd;
	char path[PATH_MAX]; /* for messages */
	uint64_t file_size; /* whole blocks in the open file */
	uint64_t finished_bytes, blocks;
	struct nt_tape_totals next; /* what the next block adds */
	struct disk disk;
};

#define CHUNK_NAME_MAX 32

static const char *chunk_name(char name[CHUNK_NAME_MAX], uint32_t number, const char *suffix)
{
	snprintf(name, CHUNK_NAME_MAX, "chunk-%06u.ntc%s", number, suffix);
	return name;
}

/* All bytes or none: what could not be written whole is cut off again. */
static int write_whole(int fd, const char *data, size_t size)
{
	off_t start = lseek(fd, 0, SEEK_CUR);
	size_t done = 0;

	while (done < size) {
		ssize_t n = write(fd, data + done, size - done);
		int error = n < 0 ? -errno : 0;

		if (error == -EINTR)
			continue;
		if (error)
			return ftruncate(fd, start) ? error : error;
		done += n;
	}
	return 0;
}

/* Nothing is replaced, whoever put it there. A file system may not know how: then we look first. */
static int rename_new(int directory_fd, const char *from, const char *to)
{
	struct stat there;

	if (!renameat2(directory_fd, from, directory_fd, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (!fstatat(directory_fd, to, &there, AT_SYMLINK_NOFOLLOW))
		return -EEXIST;
	return renameat(directory_fd, from, directory_fd, to) ? -errno : 0;
}

/* Within the directory that is held open: whoever owns it, nothing is renamed anywhere else. */
static int give_name(int directory_fd, uint32_t chunk)
{
	char from[CHUNK_NAME_MAX], to[CHUNK_NAME_MAX];
	int error;

	chunk_name(from, chunk, ".partial");
	chunk_name(to, chunk, "");
	error = rename_new(directory_fd, from, to);
	return !error && fsync(directory_fd) ? -errno : error;
}

static int do_job(struct disk *disk, const struct job *job, bool failed)
{
	int error = 0;

	if (job->type == JOB_WRITE)
		return failed ? 0 : write_whole(job->fd, job->data, job->size);
	/* So that a power cut leaves the file under its name. */
	if (job->type == JOB_BEGIN)
		return !failed && fsync(disk->directory_fd) ? -errno : 0;
	if (!failed && fdatasync(job->fd))
		error = -errno;
	if (job->type == JOB_FINISH) {
		close(job->fd);
		if (!failed && !error)
			error = give_name(disk->directory_fd, job->chunk);
	}
	return error;
}

static void add_totals(struct nt_tape_totals *to, const struct nt_tape_totals *adds)
{
	to->bytes += adds->bytes;
	to->events += adds->events;
	to->lost += adds->lost;
	to->missed += adds->missed;
	if (adds->last_end_ns > to->last_end_ns)
		to->last_end_ns = adds->last_end_ns;
}

static void *disk_loop(void *arg)
{
	struct disk *disk = arg;

	pthread_mutex_lock(&disk->lock);
	while (disk->first || !disk->stop) {
		struct job *job = disk->first;
		bool failed = disk->error;
		int error;

		if (!job) {
			pthread_cond_wait(&disk->changed, &disk->lock);
			continue;
		}
		disk->first = job->next;
		if (!disk->first)
			disk->last = &disk->first;
		disk->busy = true;
		pthread_mutex_unlock(&disk->lock);
		error = do_job(disk, job, failed);
		pthread_mutex_lock(&disk->lock);
		disk->busy = false;
		disk->queued_bytes -= job->size;
		if (!failed && !error)
			add_totals(&disk->written, &job->adds);
		free(job);
		if (error && !disk->error)
			disk->error = error;
		pthread_cond_broadcast(&disk->changed);
	}
	pthread_mutex_unlock(&disk->lock);
	return NULL;
}

static int disk_start(struct disk *disk, int directory_fd)
{
	int error;

	disk->last = &disk->first;
	disk->directory_fd = directory_fd;
	pthread_mutex_init(&disk->lock, NULL);
	pthread_cond_init(&disk->changed, NULL);
	error = pthread_create(&disk->thread, NULL, disk_loop, disk);
	disk->running = !error;
	return -error;
}

/* Does what is queued first. */
static void disk_stop(struct disk *disk)
{
	if (!disk->running)
		return;
	pthread_mutex_lock(&disk->lock);
	disk->stop = true;
	pthread_cond_broadcast(&disk->changed);
	pthread_mutex_unlock(&disk->lock);
	pthread_join(disk->thread, NULL);
	disk->running = false;
}

/* Queues a job (takes it; NULL: out of memory) and gives the first error so far. */
static int disk_add(struct disk *disk, struct job *job)
{
	int error;

	if (!job)
		return -ENOMEM;
	pthread_mutex_lock(&disk->lock);
	while (disk->queued_bytes > QUEUE_MAX_BYTES && !disk->error)
		pthread_cond_wait(&disk->changed, &disk->lock);
	*disk->last = job;
	disk->last = &job->next;
	disk->queued_bytes += job->size;
	error = disk->error;
	pthread_cond_broadcast(&disk->changed);
	pthread_mutex_unlock(&disk->lock);
	return error;
}

static struct job *new_job(enum job_type type, int fd, const void *data, size_t size)
{
	struct job *job = malloc(sizeof(*job) + size);

	if (!job)
		return NULL;
	*job = (struct job){.type = type, .fd = fd, .size = size};
	if (size)
		memcpy(job->data, data, size);
	return job;
}

int nt_tape_writer_new(struct nt_tape_writer **out, const char *path, const struct nt_tape_owner *owner,
		       const struct nt_chunk_header *header, char *message, size_t size)
{
	struct nt_tape_writer *tape = calloc(1, sizeof(*tape));
	int error;

	snprintf(message, size, "cannot begin the tape: %s", strerror(ENOMEM));
	if (!tape)
		return -ENOMEM;
	tape->fd = -1;
	tape->header = *header;
	tape->path_of_directory = strdup(path);
	error = nt_tape_directory_open(&tape->directory, path, owner, message, size);
	if (!error && !tape->path_of_directory)
		error = -ENOMEM;
	if (!error) {
		error = disk_start(&tape->disk, tape->directory.fd);
		if (error)
			snprintf(message, size, "cannot start the thread that writes the tape: %s", strerror(-error));
	}
	if (error) {
		nt_tape_writer_discard(tape);
		nt_tape_writer_free(tape);
		return error;
	}
	*out = tape;
	return 0;
}

static int write_block(void *arg, const void *data, size_t size)
{
	struct nt_tape_writer *tape = arg;
	struct job *job = new_job(JOB_WRITE, tape->fd, data, size);

	if (job) {
		job->adds = tape->next;
		job->adds.bytes = size;
	}
	tape->file_size += size;
	return disk_add(&tape->disk, job);
}

int nt_tape_writer_begin_chunk(struct nt_tape_writer *tape)
{
	char name[CHUNK_NAME_MAX];
	int fd, error;

	chunk_name(name, tape->header.number, ".partial");
	snprintf(tape->path, sizeof(tape->path), "%s/%s", tape->path_of_directory, name);
	fd = nt_tape_directory_create(&tape->directory, name);
	if (fd < 0)
		return fd;
	tape->fd = fd;
	tape->file_size = 0;
	error = disk_add(&tape->disk, new_job(JOB_BEGIN, fd, NULL, 0));
	return error ? error : nt_chunk_writer_new(&tape->chunk, &tape->header, write_block, tape);
}

int nt_tape_writer_block(struct nt_tape_writer *tape, struct nt_block_header *header, const void *raw, size_t size)
{
	tape->blocks++;
	return nt_chunk_writer_block(tape->chunk, header, raw, size);
}

int nt_tape_writer_events(struct nt_tape_writer *tape, struct nt_block_header *header, const void *raw, size_t size,
			  uint64_t lost, uint64_t missed)
{
	int error;

	tape->next = (struct nt_tape_totals){
		.events = header->count, .lost = lost, .missed = missed, .last_end_ns = header->last_end_ns};
	error = nt_tape_writer_block(tape, header, raw, size);
	/* A block that is refused before it is written adds nothing to the next one. */
	tape->next = (struct nt_tape_totals){0};
	return error;
}

int nt_tape_writer_finish_chunk(struct nt_tape_writer *tape)
{
	int error = nt_chunk_writer_finish(tape->chunk);
	struct job *job;

	if (error)
		return error;
	job = new_job(JOB_FINISH, tape->fd, NULL, 0);
	if (!job)
		return -ENOMEM;
	job->chunk = tape->header.number;
	error = disk_add(&tape->disk, job);
	tape->fd = -1;
	tape->finished_bytes += tape->file_size;
	tape->file_size = 0;
	tape->header.number++;
	nt_chunk_writer_free(tape->chunk);
	tape->chunk = NULL;
	return error;
}

int nt_tape_writer_sync(struct nt_tape_writer *tape)
{
	return disk_add(&tape->disk, new_job(JOB_SYNC, tape->fd, NULL, 0));
}

int nt_tape_writer_wait(struct nt_tape_writer *tape)
{
	struct disk *disk = &tape->disk;
	int error;

	pthread_mutex_lock(&disk->lock);
	while (disk->busy || disk->first)
		pthread_cond_wait(&disk->changed, &disk->lock);
	error = disk->error;
	pthread_mutex_unlock(&disk->lock);
	return error;
}

uint64_t nt_tape_writer_chunk_size(const struct nt_tape_writer *tape)
{
	return tape->file_size;
}

uint64_t nt_tape_writer_bytes(const struct nt_tape_writer *tape)
{
	return tape->finished_bytes + tape->file_size;
}

void nt_tape_writer_written(struct nt_tape_writer *tape, struct nt_tape_totals *out)
{
	pthread_mutex_lock(&tape->disk.lock);
	*out = tape->disk.written;
	pthread_mutex_unlock(&tape->disk.lock);
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

int nt_tape_writer_kept(const struct nt_tape_writer *tape)
{
	return tape->directory.kept;
}

/* Of a disk that was full before anything was written. By its name: what another has put there stays. */
static void remove_empty_chunk(const struct nt_tape_writer *tape)
{
	struct stat ours, there;
	char name[CHUNK_NAME_MAX];

	if (tape->fd < 0 || tape->header.number || !tape->directory.is_new || fstat(tape->fd, &ours) || ours.st_size)
		return;
	chunk_name(name, 0, ".partial");
	if (!fstatat(tape->directory.fd, name, &there, AT_SYMLINK_NOFOLLOW) && there.st_ino == ours.st_ino &&
	    there.st_dev == ours.st_dev)
		unlinkat(tape->directory.fd, name, 0);
}

void nt_tape_writer_discard(struct nt_tape_writer *tape)
{
	if (!tape)
		return;
	remove_empty_chunk(tape);
	nt_tape_directory_discard(&tape->directory);
}

void nt_tape_writer_free(struct nt_tape_writer *tape)
{
	if (!tape)
		return;
	disk_stop(&tape->disk);
	nt_chunk_writer_free(tape->chunk);
	if (tape->fd >= 0)
		close(tape->fd);
	nt_tape_directory_release(&tape->directory);
	free(tape->path_of_directory);
	free(tape);
}

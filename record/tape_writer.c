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
#include <time.h>
#include <unistd.h>

#include "record/tape_directory.h"
#include "record/text.h"

#define QUEUE_MAX_BYTES (64u << 20) /* the disk may fall this far behind; then the recording waits for it */

/* The thread's jobs, which it does in order. */
enum job_type { JOB_BEGIN, JOB_WRITE, JOB_SYNC, JOB_FINISH, JOB_SNAPSHOT };

struct job {
	struct job *next;
	enum job_type type;
	int fd; /* FINISH closes it */
	struct nt_kept_chunk chunk; /* FINISH: gives the file of this number its name */
	struct nt_tape_totals adds; /* WRITE: to what is on the disk */
	struct nt_snapshot *snapshot; /* SNAPSHOT */
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
	int error; /* the first failure */
	struct nt_tape_totals written;
	struct nt_snapshot *snapshot; /* that is done, and has not been taken */
	struct nt_retention retention; /* the thread's own; it has the directory */
};

struct nt_tape_writer {
	char *path_of_directory; /* for messages */
	struct nt_tape_directory directory;
	struct nt_chunk_header header;
	struct nt_chunk_writer *chunk;
	int fd;
	char path[PATH_MAX]; /* for messages */
	uint64_t file_size, file_events; /* of whole blocks in the open file */
	uint64_t finished_bytes, blocks;
	struct nt_tape_totals next; /* what the next block adds */
	struct disk disk;
};

/* All bytes or none: what could not be written whole is cut off again, and the next go to the same place. */
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
			return ftruncate(fd, start) || lseek(fd, start, SEEK_SET) != start ? error : error;
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
	char from[NT_CHUNK_NAME_MAX], to[NT_CHUNK_NAME_MAX];
	int error;

	nt_chunk_name(from, chunk, ".partial");
	nt_chunk_name(to, chunk, "");
	error = rename_new(directory_fd, from, to);
	return !error && fsync(directory_fd) ? -errno : error;
}

#define WAIT_TRIES 10
#define WAIT_NS 100000000

static bool is_full(int error)
{
	return error == -ENOSPC || error == -EDQUOT;
}

/*
 * A disk that is full may have room when old chunks are gone, at once or a little later. But not where somebody has
 * them open or linked: so no more go than should do.
 */
static int write_job(struct nt_retention *retention, const struct job *job)
{
	const uint64_t enough = retention->dropped_bytes + 2 * job->size;
	const uint64_t dropped_before = retention->dropped_chunks;
	int error = nt_retention_make_room(retention, job->size), dropped = 0;

	if (error)
		return error;
	for (int tries = 0; is_full(error = write_whole(job->fd, job->data, job->size)) && dropped >= 0;) {
		if (!dropped && retention->dropped_bytes < enough) {
			dropped = nt_retention_drop(retention);
			continue;
		}
		if (retention->dropped_chunks == dropped_before || tries++ == WAIT_TRIES)
			return error;
		nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
	}
	if (dropped < 0)
		return dropped;
	if (!error)
		nt_retention_wrote(retention, job->size);
	return error;
}

static int finish_job(struct disk *disk, const struct job *job)
{
	struct nt_retention *retention = &disk->retention;
	int error = fdatasync(job->fd) ? -errno : 0;

	close(job->fd);
	if (!error)
		error = give_name(retention->directory_fd, job->chunk.number);
	return error ? error : nt_retention_finished(retention, &job->chunk, disk->written.last_end_ns);
}

static int sync_job(struct nt_retention *retention, const struct job *job)
{
	return fdatasync(job->fd) ? -errno : nt_retention_leave_free(retention);
}

static int do_job(struct disk *disk, const struct job *job)
{
	struct nt_retention *retention = &disk->retention;

	switch (job->type) {
	case JOB_BEGIN:
		/* So that a power cut leaves the file under its name. */
		return fsync(retention->directory_fd) ? -errno : 0;
	case JOB_WRITE:
		return write_job(retention, job);
	case JOB_SYNC:
		return sync_job(retention, job);
	case JOB_FINISH:
		return finish_job(disk, job);
	case JOB_SNAPSHOT:
		/* That there is none is no reason to end the recording. */
		nt_snapshot_link(job->snapshot, retention);
		return 0;
	}
	return 0;
}

/* After a failure nothing more is written. */
static void skip_job(const struct job *job, int error)
{
	if (job->type == JOB_SNAPSHOT)
		nt_snapshot_fail(job->snapshot, error);
	if (job->type == JOB_FINISH)
		close(job->fd);
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

/* As the retention knows them. */
static void tell_dropped(struct disk *disk)
{
	const struct nt_retention *retention = &disk->retention;

	disk->written.dropped_chunks = retention->dropped_chunks;
	disk->written.dropped_bytes = retention->dropped_bytes;
	disk->written.dropped_events = retention->dropped_events;
	disk->written.dropped_until_ns = retention->dropped_until_ns;
	disk->written.is_low = retention->is_low;
}

static void *disk_loop(void *arg)
{
	struct disk *disk = arg;

	pthread_mutex_lock(&disk->lock);
	while (disk->first || !disk->stop) {
		struct job *job = disk->first;
		const int failed = disk->error;
		int error = 0;

		if (!job) {
			pthread_cond_wait(&disk->changed, &disk->lock);
			continue;
		}
		disk->first = job->next;
		if (!disk->first)
			disk->last = &disk->first;
		disk->busy = true;
		pthread_mutex_unlock(&disk->lock);
		if (failed)
			skip_job(job, failed);
		else
			error = do_job(disk, job);
		pthread_mutex_lock(&disk->lock);
		disk->busy = false;
		disk->queued_bytes -= job->size;
		if (!failed && !error)
			add_totals(&disk->written, &job->adds);
		tell_dropped(disk);
		if (job->type == JOB_SNAPSHOT)
			disk->snapshot = job->snapshot;
		free(job);
		if (error && !disk->error)
			disk->error = error;
		pthread_cond_broadcast(&disk->changed);
	}
	pthread_mutex_unlock(&disk->lock);
	return NULL;
}

static int disk_start(struct disk *disk)
{
	int error;

	disk->last = &disk->first;
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

/* How much of it is kept; whether others have room besides. */
static int set_retention(struct nt_tape_writer *tape, const struct nt_retention_limits *limits, char *message,
			 size_t size)
{
	struct nt_retention *retention = &tape->disk.retention;
	char free_text[NT_TEXT_MAX], min_text[NT_TEXT_MAX];
	uint64_t free_bytes;

	/* Of a file system that does not tell, nobody can say how much is free: that is no reason not to record. */
	if (nt_retention_init(retention, limits, tape->directory.fd, &free_bytes) != -ENOSPC)
		return 0;
	snprintf(message, size,
		 "only %s are free on the disk of %s, less than the %s to leave free: make room, choose another -o, or "
		 "allow less with --min-free",
		 nt_bytes_text(free_text, free_bytes), tape->path_of_directory,
		 nt_bytes_text(min_text, retention->limits.min_free_bytes));
	return -ENOSPC;
}

static int start(struct nt_tape_writer *tape, char *message, size_t size)
{
	int error = disk_start(&tape->disk);

	if (error)
		snprintf(message, size, "cannot start the thread that writes the tape: %s", strerror(-error));
	return error;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Of the next chunk: it begins where the one before it ends. */
static void set_begin(struct nt_tape_writer *tape)
{
	tape->header.created_monotonic_ns = clock_ns(CLOCK_MONOTONIC);
	tape->header.created_realtime_ns = clock_ns(CLOCK_REALTIME);
}

int nt_tape_writer_new(struct nt_tape_writer **out, const char *path, const struct nt_tape_owner *owner,
		       const struct nt_retention_limits *limits, const struct nt_chunk_header *header, char *message,
		       size_t size)
{
	struct nt_tape_writer *tape = calloc(1, sizeof(*tape));
	int error;

	snprintf(message, size, "cannot begin the tape: %s", strerror(ENOMEM));
	if (!tape)
		return -ENOMEM;
	tape->fd = -1;
	tape->header = *header;
	if (nt_retention_drops(limits))
		tape->header.flags |= NT_CHUNK_DROPS;
	tape->path_of_directory = strdup(path);
	error = nt_tape_directory_open(&tape->directory, path, owner, "-o", message, size);
	if (!error && !tape->path_of_directory)
		error = -ENOMEM;
	if (!error)
		error = set_retention(tape, limits, message, size);
	if (!error)
		error = start(tape, message, size);
	if (error) {
		nt_tape_writer_discard(tape);
		nt_tape_writer_free(tape);
		return error;
	}
	set_begin(tape);
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
	tape->file_events += tape->next.events;
	return disk_add(&tape->disk, job);
}

int nt_tape_writer_begin_chunk(struct nt_tape_writer *tape)
{
	char name[NT_CHUNK_NAME_MAX];
	int fd, error;

	nt_chunk_name(name, tape->header.number, ".partial");
	snprintf(tape->path, sizeof(tape->path), "%s/%s", tape->path_of_directory, name);
	fd = nt_tape_directory_create(&tape->directory, name);
	if (fd < 0)
		return fd;
	tape->fd = fd;
	tape->file_size = tape->file_events = 0;
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
	set_begin(tape);
	job->chunk = (struct nt_kept_chunk){
		.number = tape->header.number,
		.bytes = tape->file_size,
		.events = tape->file_events,
		.end_ns = tape->header.created_monotonic_ns,
	};
	error = disk_add(&tape->disk, job);
	tape->fd = -1;
	tape->finished_bytes += tape->file_size;
	tape->file_size = tape->file_events = 0;
	tape->header.number++;
	nt_chunk_writer_free(tape->chunk);
	tape->chunk = NULL;
	return error;
}

int nt_tape_writer_snapshot(struct nt_tape_writer *tape, struct nt_snapshot *snapshot)
{
	struct job *job = new_job(JOB_SNAPSHOT, -1, NULL, 0);

	if (!job) {
		nt_snapshot_free(snapshot);
		return -ENOMEM;
	}
	job->snapshot = snapshot;
	return disk_add(&tape->disk, job);
}

struct nt_snapshot *nt_tape_writer_take_snapshot(struct nt_tape_writer *tape)
{
	struct nt_snapshot *snapshot;

	pthread_mutex_lock(&tape->disk.lock);
	snapshot = tape->disk.snapshot;
	tape->disk.snapshot = NULL;
	pthread_mutex_unlock(&tape->disk.lock);
	return snapshot;
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

uint64_t nt_tape_writer_min_free(const struct nt_tape_writer *tape)
{
	return tape->disk.retention.limits.min_free_bytes;
}

int nt_tape_writer_kept(const struct nt_tape_writer *tape)
{
	return tape->directory.kept;
}

/* Of a disk that was full before anything was written. By its name: what another has put there stays. */
static void remove_empty_chunk(const struct nt_tape_writer *tape)
{
	struct stat ours, there;
	char name[NT_CHUNK_NAME_MAX];

	if (tape->fd < 0 || tape->header.number || !tape->directory.is_new || fstat(tape->fd, &ours) || ours.st_size)
		return;
	nt_chunk_name(name, 0, ".partial");
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
	nt_retention_release(&tape->disk.retention);
	nt_snapshot_free(tape->disk.snapshot);
	nt_tape_directory_release(&tape->directory);
	free(tape->path_of_directory);
	free(tape);
}

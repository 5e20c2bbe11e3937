// SPDX-License-Identifier: GPL-2.0-only
/*
 * retention_test.c - which chunks of a tape go, and when: random chunks and limits, against a list that is gone over
 * anew each time. The file system's answer, how much is free, is made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "record/retention.h"
#include "tests/support/rand.h"
#include "tests/support/scratch.h"

#define MANY 400
#define MIB (1ull << 20)

static struct {
	uint64_t free_bytes, all_bytes;
	int error;
} disk;

int fstatvfs(int fd, struct statvfs *out)
{
	assert_true(fd >= 0);
	*out = (struct statvfs){.f_frsize = 1, .f_bavail = disk.free_bytes, .f_blocks = disk.all_bytes};
	errno = disk.error;
	return disk.error ? -1 : 0;
}

/* ---- the slow way ---- */

struct model {
	struct nt_kept_chunk chunks[MANY]; /* all that were finished */
	size_t n, n_gone; /* of these, the first so many have gone */
	uint64_t open_bytes;
	uint64_t dropped_bytes, dropped_events;
	uint64_t free_before; /* the last look at the disk that dropped something found so much free */
	bool has_dropped; /* it did, and the disk was not seen to be free enough since */
	int vain;
};

static uint64_t bytes_of(const struct model *model)
{
	uint64_t bytes = model->open_bytes;

	for (size_t i = model->n_gone; i < model->n; i++)
		bytes += model->chunks[i].bytes;
	return bytes;
}

static void drop(struct model *model)
{
	model->dropped_bytes += model->chunks[model->n_gone].bytes;
	model->dropped_events += model->chunks[model->n_gone].events;
	model->n_gone++;
}

/* ---- both ---- */

static char directory[SCRATCH_MAX];

static bool is_there(uint32_t number)
{
	char name[NT_CHUNK_NAME_MAX], path[2 * SCRATCH_MAX];

	scratch_path(path, directory, nt_chunk_name(name, number, ""));
	return !access(path, F_OK);
}

static void make_file(uint32_t number)
{
	char name[NT_CHUNK_NAME_MAX], path[2 * SCRATCH_MAX];

	scratch_write(scratch_path(path, directory, nt_chunk_name(name, number, "")), "", 0);
}

static void compare(const struct nt_retention *retention, const struct model *model)
{
	for (size_t i = 0; i < model->n; i++)
		assert_int_equal(is_there((uint32_t)i), i >= model->n_gone);
	assert_int_equal(retention->bytes, bytes_of(model));
	assert_int_equal(retention->dropped_chunks, model->n_gone);
	assert_int_equal(retention->dropped_bytes, model->dropped_bytes);
	assert_int_equal(retention->dropped_events, model->dropped_events);
	assert_int_equal(retention->dropped_until_ns, model->n_gone ? model->chunks[model->n_gone - 1].end_ns : 0);
}

/* Gives false where no chunk is left to drop. */
static bool write_some(struct nt_retention *retention, struct model *model, uint64_t bytes)
{
	const uint64_t max = retention->limits.max_bytes;
	const int error = nt_retention_make_room(retention, bytes);

	while (max && model->n_gone < model->n && bytes_of(model) + bytes > max)
		drop(model);
	if (max && bytes_of(model) + bytes > max) {
		assert_int_equal(error, -E2BIG);
		return false;
	}
	assert_int_equal(error, 0);
	nt_retention_wrote(retention, bytes);
	model->open_bytes += bytes;
	assert_true(!max || retention->bytes <= max);
	return true;
}

static void finish_chunk(struct nt_retention *retention, struct model *model, uint64_t now_ns, uint64_t last_ns)
{
	const struct nt_kept_chunk chunk = {
		.number = (uint32_t)model->n, .bytes = model->open_bytes, .events = model->n, .end_ns = now_ns};

	make_file(chunk.number);
	assert_int_equal(nt_retention_finished(retention, &chunk, last_ns), 0);
	model->chunks[model->n++] = chunk;
	model->open_bytes = 0;
	/* All of keep_ns before the last record is there, and no chunk that ended before. */
	while (retention->limits.keep_ns && model->n_gone < model->n &&
	       model->chunks[model->n_gone].end_ns + retention->limits.keep_ns <= last_ns)
		drop(model);
}

/* What is missing goes, but only where that has helped before; and at the third look in vain there is no hope. */
static void look_at_disk(struct nt_retention *retention, struct model *model, struct nt_rand *rand)
{
	const uint64_t min = retention->limits.min_free_bytes;
	const size_t n_gone = model->n_gone;
	uint64_t room = disk.free_bytes = nt_rand_below(rand, 2) ? nt_rand_below(rand, 2 * MIB) : disk.free_bytes;

	assert_int_equal(nt_retention_leave_free(retention), 0);
	if (room >= min) {
		model->has_dropped = false;
		model->vain = 0;
		return;
	}
	while ((!model->has_dropped || disk.free_bytes > model->free_before) && room < min &&
	       model->n_gone < model->n) {
		room += model->chunks[model->n_gone].bytes;
		drop(model);
	}
	model->vain = model->n_gone > n_gone ? 0 : model->vain + 1;
	if (model->n_gone > n_gone) {
		model->has_dropped = true;
		model->free_before = disk.free_bytes;
	}
	assert_int_equal(retention->is_low, model->vain >= 3);
	retention->is_low = false;
}

static void run(uint64_t seed)
{
	struct nt_rand rand = {seed};
	const struct nt_retention_limits limits = {
		.keep_ns = nt_rand_below(&rand, 2) ? 1 + nt_rand_below(&rand, 100) : 0,
		.max_bytes = nt_rand_below(&rand, 2) ? 8 * MIB + nt_rand_below(&rand, 8 * MIB) : 0,
		.min_free_bytes = nt_rand_below(&rand, 3) ? nt_rand_below(&rand, MIB) : 0};
	static struct model model;
	struct nt_retention retention;
	uint64_t now_ns = 1000, free_bytes;
	int fd;

	memset(&model, 0, sizeof(model));
	scratch_make(directory);
	fd = open(directory, O_RDONLY | O_DIRECTORY);
	disk.all_bytes = disk.free_bytes = 100 * MIB;
	assert_int_equal(nt_retention_init(&retention, &limits, fd, &free_bytes), 0);
	/* No other tape drops anything, nor remembers what it has written. */
	for (int i = 0; i < 2000 && model.n < MANY && nt_retention_drops(&limits); i++) {
		now_ns += nt_rand_below(&rand, 4);
		if (!write_some(&retention, &model, nt_rand_below(&rand, MIB)))
			break;
		if (!nt_rand_below(&rand, 6))
			finish_chunk(&retention, &model, now_ns, now_ns - nt_rand_below(&rand, 4));
		if (!nt_rand_below(&rand, 9))
			look_at_disk(&retention, &model, &rand);
		compare(&retention, &model);
	}
	nt_retention_release(&retention);
	close(fd);
	scratch_remove(directory);
}

static void equals_the_slow_way(void **state)
{
	const uint64_t seed = nt_rand_seed();

	(void)state;
	for (uint64_t i = 0; i < 12; i++)
		run(seed + i);
}

/* ---- cases ---- */

static int begin(struct nt_retention *retention, uint64_t min_free_bytes, uint64_t *free_bytes)
{
	const struct nt_retention_limits limits = {.min_free_bytes = min_free_bytes};

	return nt_retention_init(retention, &limits, 0, free_bytes);
}

static void settles_what_is_usual(void **state)
{
	struct nt_retention retention;
	uint64_t free_bytes;

	(void)state;
	disk.all_bytes = disk.free_bytes = 2000 * MIB;
	assert_int_equal(begin(&retention, NT_MIN_FREE_USUAL, &free_bytes), 0);
	assert_int_equal(retention.limits.min_free_bytes, 100 * MIB);
	disk.all_bytes = MIB << 20;
	disk.free_bytes = 1024 * MIB - 1;
	assert_int_equal(begin(&retention, NT_MIN_FREE_USUAL, &free_bytes), -ENOSPC);
	assert_int_equal(retention.limits.min_free_bytes, 1024 * MIB);
	assert_int_equal(free_bytes, disk.free_bytes);
	assert_int_equal(begin(&retention, 0, &free_bytes), 0);
	/* A file system that does not tell is no reason not to record. */
	disk.all_bytes = 0;
	assert_int_equal(begin(&retention, NT_MIN_FREE_USUAL, &free_bytes), 0);
	assert_int_equal(retention.limits.min_free_bytes, 0);
	disk.error = EIO;
	assert_int_equal(begin(&retention, NT_MIN_FREE_USUAL, &free_bytes), -EIO);
	disk.error = 0;
	assert_int_equal(nt_retention_leave_free(&retention), 0);
}

/* A chunk may be gone already; one that stays is told, and the recording must end. */
static void says_what_cannot_be_dropped(void **state)
{
	const struct nt_retention_limits limits = {.keep_ns = 5};
	const struct nt_kept_chunk first = {.number = 0, .bytes = 1, .end_ns = 10};
	struct nt_kept_chunk next = {.number = 1, .bytes = 1, .end_ns = 20};
	struct nt_retention retention;
	uint64_t free_bytes;
	char path[2 * SCRATCH_MAX];

	(void)state;
	scratch_make(directory);
	assert_int_equal(nt_retention_init(&retention, &limits, open(directory, O_RDONLY | O_DIRECTORY), &free_bytes),
			 0);
	assert_int_equal(nt_retention_finished(&retention, &first, 10), 0);
	assert_int_equal(nt_retention_finished(&retention, &next, 15), 0);
	assert_int_equal(retention.dropped_chunks, 1);
	assert_int_equal(mkdir(scratch_path(path, directory, "chunk-000001.ntc"), 0700), 0);
	next.number = 2;
	next.end_ns = 30;
	assert_int_equal(nt_retention_finished(&retention, &next, 25), -EISDIR);
	close(retention.directory_fd);
	nt_retention_release(&retention);
	scratch_remove(directory);
}

static void divides_into_chunks(void **state)
{
	const struct nt_retention_limits none = {0}, small = {.keep_ns = 2000000000, .max_bytes = 100 * MIB},
					 large = {.keep_ns = 600000000000, .max_bytes = 10000 * MIB};

	(void)state;
	assert_int_equal(nt_retention_chunk_bytes(&none), 64 * MIB);
	assert_true(nt_retention_chunk_ns(&none) == UINT64_MAX);
	assert_int_equal(nt_retention_chunk_bytes(&small), 10 * MIB);
	assert_int_equal(nt_retention_chunk_ns(&small), 1000000000);
	assert_int_equal(nt_retention_chunk_bytes(&large), 64 * MIB);
	assert_int_equal(nt_retention_chunk_ns(&large), 60000000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equals_the_slow_way),
		cmocka_unit_test(settles_what_is_usual),
		cmocka_unit_test(says_what_cannot_be_dropped),
		cmocka_unit_test(divides_into_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

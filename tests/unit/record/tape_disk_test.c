// SPDX-License-Identifier: GPL-2.0-only
/*
 * tape_disk_test.c - a tape being written, with a disk that fails: what is there then ends with a whole block and is
 * named as not finished; nothing is called finished before it is on the disk. The calls that wait for the disk are
 * counted, and refused, by functions of this program that stand in for the C library's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/tape_writer.h"
#include "schema/chunk_format.h"
#include "tests/support/chunk_memory.h"
#include "tests/support/scratch.h"

static char directory[SCRATCH_MAX], tape_path[2 * SCRATCH_MAX];
static struct nt_tape_writer *tape;
static const struct nt_tape_owner nobody_else;
static const struct nt_retention_limits all_is_kept;
static char error[1024];

/* ---- the disk ---- */

static int data_syncs, directory_syncs, failing_sync;

int fdatasync(int fd)
{
	(void)fd;
	data_syncs++;
	if (failing_sync)
		errno = failing_sync;
	return failing_sync ? -1 : 0;
}

int fsync(int fd)
{
	struct stat what;

	directory_syncs += !fstat(fd, &what) && S_ISDIR(what.st_mode);
	return 0;
}

static int no_replace_errno; /* as of a file system that knows no RENAME_NOREPLACE; 0: it does */

int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned int flags)
{
	assert_int_equal(flags, RENAME_NOREPLACE);
	if (no_replace_errno) {
		errno = no_replace_errno;
		return -1;
	}
	return (int)syscall(SYS_renameat2, from_fd, from, to_fd, to, flags);
}

static uint64_t capacity; /* of the disk, which has the tape alone; 0: no bound */
static int capacity_errno = ENOSPC;
static uint64_t bytes_on_disk(void);

ssize_t write(int fd, const void *data, size_t size)
{
	const uint64_t used = capacity ? bytes_on_disk() : 0;

	if (capacity && used >= capacity) {
		errno = capacity_errno;
		return -1;
	}
	/* The last bytes find room. */
	return syscall(SYS_write, fd, data, capacity && capacity - used < size ? capacity - used : size);
}

/* No file grows beyond this. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* ---- a tape ---- */

static int set_up(void **state)
{
	const struct nt_chunk_header header = {.version = NT_CHUNK_VERSION};

	(void)state;
	scratch_make(directory);
	scratch_path(tape_path, directory, "a.tape");
	data_syncs = directory_syncs = failing_sync = no_replace_errno = 0;
	return nt_tape_writer_new(&tape, tape_path, &nobody_else, &all_is_kept, &header, error, sizeof(error)) ||
	       nt_tape_writer_begin_chunk(tape);
}

static int tear_down(void **state)
{
	(void)state;
	nt_tape_writer_free(tape);
	tape = NULL;
	scratch_remove(directory);
	return 0;
}

#define BLOCK_BYTES 5000

/* A block that cannot be compressed. */
static int add_block(unsigned int seed)
{
	struct nt_block_header header = {.type = NT_BLOCK_IDENTITIES};
	struct nt_rand rand = {.state = seed};
	uint8_t bytes[BLOCK_BYTES];

	nt_rand_bytes(&rand, bytes, sizeof(bytes));
	return nt_tape_writer_block(tape, &header, bytes, sizeof(bytes));
}

/* A block of events, which declare losses and end at that time. */
static int add_events(unsigned int seed, uint32_t count, uint64_t lost, uint64_t end_ns)
{
	struct nt_block_header header = {.type = NT_BLOCK_EVENTS, .count = count, .last_end_ns = end_ns};
	struct nt_rand rand = {.state = seed};
	uint8_t bytes[BLOCK_BYTES];

	nt_rand_bytes(&rand, bytes, sizeof(bytes));
	return nt_tape_writer_events(tape, &header, bytes, sizeof(bytes), lost, lost ? 1 : 0);
}

static void has_written(uint64_t bytes, uint64_t events, uint64_t lost, uint64_t missed, uint64_t last_end_ns)
{
	struct nt_tape_totals written;

	nt_tape_writer_written(tape, &written);
	assert_int_equal(written.bytes, bytes);
	assert_int_equal(written.events, events);
	assert_int_equal(written.lost, lost);
	assert_int_equal(written.missed, missed);
	assert_int_equal(written.last_end_ns, last_end_ns);
}

/* Size of a file of the tape, or -1. */
static int64_t size_of(const char *name)
{
	char path[3 * SCRATCH_MAX];
	struct stat what;

	snprintf(path, sizeof(path), "%s/%s", tape_path, name);
	return stat(path, &what) ? -1 : (int64_t)what.st_size;
}

/* How many whole blocks a file of the tape holds; it must hold nothing else. */
static size_t blocks_of(const char *name)
{
	char path[3 * SCRATCH_MAX];
	struct nt_chunk_contents contents;
	struct nt_buf bytes = {0};
	struct nt_source source;
	size_t size, n;

	snprintf(path, sizeof(path), "%s/%s", tape_path, name);
	bytes.data = (uint8_t *)scratch_read(path, &size);
	bytes.size = size;
	source = chunk_memory_source(&bytes);
	assert_int_equal(nt_chunk_open(&source, true, &contents), 0);
	assert_int_equal(contents.n_damage, 0);
	n = contents.n_blocks;
	nt_chunk_contents_release(&contents);
	nt_buf_release(&bytes);
	return n;
}

static uint64_t bytes_on_disk(void)
{
	uint64_t bytes = 0;

	for (int number = 0; number < 100; number++) {
		char name[2][NT_CHUNK_NAME_MAX];
		const int64_t sizes[] = {size_of(nt_chunk_name(name[0], (uint32_t)number, "")),
					 size_of(nt_chunk_name(name[1], (uint32_t)number, ".partial"))};

		for (int i = 0; i < 2; i++)
			bytes += sizes[i] > 0 ? (uint64_t)sizes[i] : 0;
	}
	return bytes;
}

/* ---- tests ---- */

static void finishes_chunks(void **state)
{
	struct stat what;
	uint64_t bytes;

	(void)state;
	assert_int_equal(nt_tape_writer_number(tape), 0);
	assert_int_equal(add_block(1), 0);
	assert_int_equal(add_block(2), 0);
	assert_int_equal(nt_tape_writer_sync(tape), 0);
	assert_int_equal(nt_tape_writer_wait(tape), 0);
	assert_int_equal(data_syncs, 1);
	/* The directory above, which has the tape's; and that one, which has the file. */
	assert_int_equal(directory_syncs, 2);
	assert_int_equal(size_of("chunk-000000.ntc"), -1);
	assert_int_equal(size_of("chunk-000000.ntc.partial"), nt_tape_writer_chunk_size(tape));
	assert_int_equal(nt_tape_writer_finish_chunk(tape), 0);
	assert_int_equal(nt_tape_writer_wait(tape), 0);
	assert_int_equal(data_syncs, 2);
	assert_int_equal(directory_syncs, 3);
	assert_int_equal(size_of("chunk-000000.ntc.partial"), -1);
	bytes = (uint64_t)size_of("chunk-000000.ntc");
	assert_int_equal(nt_tape_writer_begin_chunk(tape), 0);
	assert_int_equal(nt_tape_writer_number(tape), 1);
	assert_int_equal(add_block(3), 0);
	assert_int_equal(nt_tape_writer_finish_chunk(tape), 0);
	assert_int_equal(nt_tape_writer_wait(tape), 0);
	assert_int_equal(nt_tape_writer_bytes(tape), bytes + (uint64_t)size_of("chunk-000001.ntc"));
	assert_int_equal(nt_tape_writer_blocks(tape), 3);
	assert_int_equal(blocks_of("chunk-000000.ntc"), 2);
	assert_int_equal(blocks_of("chunk-000001.ntc"), 1);
	/* Names and addresses are on it: nobody else's business. */
	assert_int_equal(stat(tape_path, &what), 0);
	assert_int_equal(what.st_mode & 07777, 0700);
}

/* The disk is full in the middle of a block: that block is cut off again, and no more are written behind it. */
static void ends_with_a_whole_block(void **state)
{
	(void)state;
	assert_int_equal(add_block(1), 0);
	assert_int_equal(add_block(2), 0);
	assert_int_equal(nt_tape_writer_wait(tape), 0);
	limit_files((rlim_t)nt_tape_writer_chunk_size(tape) + BLOCK_BYTES / 2);
	add_block(3);
	assert_int_equal(nt_tape_writer_wait(tape), -EFBIG);
	limit_files(RLIM_INFINITY);
	/* There is room again: a block behind the hole would be of no use to anybody. */
	add_block(4);
	assert_int_equal(nt_tape_writer_wait(tape), -EFBIG);
	nt_tape_writer_finish_chunk(tape);
	assert_int_equal(nt_tape_writer_wait(tape), -EFBIG);
	assert_int_equal(size_of("chunk-000000.ntc"), -1);
	assert_int_equal(blocks_of("chunk-000000.ntc.partial"), 2);
}

/* Totals count what is on the disk: not the block that found it full, nor what was queued behind it. */
static void counts_what_is_on_the_disk(void **state)
{
	uint64_t finished;

	(void)state;
	assert_int_equal(add_events(1, 10, 5, 700), 0);
	assert_int_equal(add_events(2, 20, 0, 600), 0);
	assert_int_equal(add_block(3), 0);
	assert_int_equal(nt_tape_writer_finish_chunk(tape), 0);
	assert_int_equal(nt_tape_writer_wait(tape), 0);
	finished = (uint64_t)size_of("chunk-000000.ntc");
	has_written(finished, 30, 5, 1, 700);
	assert_int_equal(nt_tape_writer_begin_chunk(tape), 0);
	assert_int_equal(add_events(4, 40, 7, 900), 0);
	assert_int_equal(nt_tape_writer_wait(tape), 0);
	has_written(finished + (uint64_t)size_of("chunk-000001.ntc.partial"), 70, 12, 2, 900);
	limit_files((rlim_t)nt_tape_writer_chunk_size(tape) + BLOCK_BYTES / 2);
	add_events(5, 80, 9, 1000);
	add_events(6, 160, 9, 1100);
	assert_int_equal(nt_tape_writer_wait(tape), -EFBIG);
	limit_files(RLIM_INFINITY);
	add_events(7, 320, 9, 1200);
	nt_tape_writer_wait(tape);
	has_written(finished + (uint64_t)size_of("chunk-000001.ntc.partial"), 70, 12, 2, 900);
	assert_true(nt_tape_writer_bytes(tape) > finished + (uint64_t)size_of("chunk-000001.ntc.partial"));
}

/* A block with too high a CPU number is refused before it is written, and counts nowhere. */
static void counts_no_block_that_is_refused(void **state)
{
	struct nt_block_header header = {.type = NT_BLOCK_EVENTS, .count = 50, .cpu = NT_CHUNK_MAX_CPUS};
	const char bytes[8] = {0};

	(void)state;
	assert_int_equal(nt_tape_writer_events(tape, &header, bytes, sizeof(bytes), 3, 0), -EINVAL);
	assert_int_equal(add_block(1), 0);
	assert_int_equal(nt_tape_writer_wait(tape), 0);
	has_written((uint64_t)size_of("chunk-000000.ntc.partial"), 0, 0, 0, 0);
}

static void is_not_finished_before_it_is_on_the_disk(void **state)
{
	(void)state;
	assert_int_equal(add_block(1), 0);
	failing_sync = EIO;
	nt_tape_writer_finish_chunk(tape);
	assert_int_equal(nt_tape_writer_wait(tape), -EIO);
	assert_int_equal(size_of("chunk-000000.ntc"), -1);
	assert_int_equal(blocks_of("chunk-000000.ntc.partial"), 1);
}

static void tells_of_a_failed_sync(void **state)
{
	(void)state;
	assert_int_equal(add_block(1), 0);
	failing_sync = ENOSPC;
	nt_tape_writer_sync(tape);
	assert_int_equal(nt_tape_writer_wait(tape), -ENOSPC);
	/* By the next call at the latest. */
	assert_int_equal(add_block(2), -ENOSPC);
}

static void tells_of_a_failed_rename(void **state)
{
	char path[3 * SCRATCH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s/chunk-000000.ntc", tape_path);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(add_block(1), 0);
	nt_tape_writer_finish_chunk(tape);
	assert_int_equal(nt_tape_writer_wait(tape), -EEXIST);
	assert_int_equal(blocks_of("chunk-000000.ntc.partial"), 1);
}

/* A file of the chunk's name, whoever made it, is left as it is. */
static void replaces_nothing(void **state)
{
	char path[3 * SCRATCH_MAX];

	(void)state;
	snprintf(path, sizeof(path), "%s/chunk-000000.ntc", tape_path);
	scratch_write(path, "theirs", 6);
	assert_int_equal(add_block(1), 0);
	nt_tape_writer_finish_chunk(tape);
	assert_int_equal(nt_tape_writer_wait(tape), -EEXIST);
	assert_int_equal(size_of("chunk-000000.ntc"), 6);
	assert_int_equal(blocks_of("chunk-000000.ntc.partial"), 1);
}

static void replaces_nothing_by_looking_first(void **state)
{
	no_replace_errno = EINVAL;
	replaces_nothing(state);
}

static void renames_where_it_must_look_first(void **state)
{
	(void)state;
	no_replace_errno = EINVAL;
	assert_int_equal(add_block(1), 0);
	nt_tape_writer_finish_chunk(tape);
	assert_int_equal(nt_tape_writer_wait(tape), 0);
	assert_int_equal(blocks_of("chunk-000000.ntc"), 1);
	/* Any other failure is one. */
	assert_int_equal(nt_tape_writer_begin_chunk(tape), 0);
	no_replace_errno = EIO;
	nt_tape_writer_finish_chunk(tape);
	assert_int_equal(nt_tape_writer_wait(tape), -EIO);
	assert_true(size_of("chunk-000001.ntc.partial") > 0);
}

/* ---- a flight recorder ---- */

static void begin_anew(const struct nt_retention_limits *limits)
{
	const struct nt_chunk_header header = {.version = NT_CHUNK_VERSION};

	nt_tape_writer_free(tape);
	scratch_path(tape_path, directory, "flight.tape");
	assert_int_equal(nt_tape_writer_new(&tape, tape_path, &nobody_else, limits, &header, error, sizeof(error)), 0);
}

/* Two blocks of events, which are whole on the disk. */
static int put_chunk(void)
{
	int failed = nt_tape_writer_begin_chunk(tape);

	for (unsigned int i = 0; i < 2 && !failed; i++)
		failed = add_events(i, 10, 0, 0);
	if (!failed)
		failed = nt_tape_writer_finish_chunk(tape);
	return failed ? failed : nt_tape_writer_wait(tape);
}

static void is_a_tape_from(int first, int end)
{
	for (int number = 0; number < end; number++) {
		char name[NT_CHUNK_NAME_MAX];

		nt_chunk_name(name, (uint32_t)number, "");
		assert_int_equal(size_of(name) >= 0, number >= first);
		if (number >= first)
			assert_int_equal(blocks_of(name), 2);
	}
}

/* So that three chunks of two blocks have room, and the fourth has not. */
#define ROOM (7 * BLOCK_BYTES)

static void stays_within(const struct nt_retention_limits *limits)
{
	struct nt_tape_totals written;

	begin_anew(limits);
	for (int number = 0; number < 20; number++) {
		assert_int_equal(put_chunk(), 0);
		assert_true(bytes_on_disk() <= ROOM);
		is_a_tape_from(number > 2 ? number - 2 : 0, number + 1);
	}
	nt_tape_writer_written(tape, &written);
	assert_int_equal(written.dropped_chunks, 17);
	assert_int_equal(written.dropped_events, 17 * 20);
	assert_int_equal(written.events, 20 * 20);
	assert_int_equal(written.bytes - written.dropped_bytes, bytes_on_disk());
	assert_int_equal(nt_tape_writer_bytes(tape), written.bytes);
}

static void keeps_to_a_size(void **state)
{
	const struct nt_retention_limits limits = {.max_bytes = ROOM};

	(void)state;
	stays_within(&limits);
	/* A block that is larger than all of it. */
	assert_int_equal(nt_tape_writer_begin_chunk(tape), 0);
	for (unsigned int i = 0; i < 7; i++)
		add_block(i);
	assert_int_equal(nt_tape_writer_wait(tape), -E2BIG);
	assert_int_equal(blocks_of("chunk-000020.ntc.partial"), 6);
	assert_true(bytes_on_disk() <= ROOM);
}

/* Others have filled the disk: what is oldest makes room, and when there is no more of it, the recording ends. */
static void makes_room_on_a_full_disk(void **state)
{
	const struct nt_retention_limits limits = {.keep_ns = INT64_MAX};

	(void)state;
	capacity = ROOM;
	stays_within(&limits);
	/* No chunk that goes makes room here: so not all of them do. */
	capacity = BLOCK_BYTES / 2;
	assert_int_equal(put_chunk(), -ENOSPC);
	assert_int_equal(size_of("chunk-000017.ntc"), -1);
	assert_int_equal(blocks_of("chunk-000019.ntc"), 2);
	capacity = 0;
}

static void makes_room_within_a_quota(void **state)
{
	capacity_errno = EDQUOT;
	(void)state;
	capacity = ROOM;
	stays_within(&(struct nt_retention_limits){.keep_ns = INT64_MAX});
	capacity = 0;
	capacity_errno = ENOSPC;
}

/* Each chunk says when it was begun: a tape without those before it begins then. */
static void knows_when_chunks_began(void **state)
{
	uint64_t last_ns = 0;

	(void)state;
	for (uint32_t number = 0; number < 3; number++) {
		char name[NT_CHUNK_NAME_MAX], path[3 * SCRATCH_MAX];
		struct nt_chunk_header header;
		size_t size, head_size;
		char *bytes;

		assert_int_equal(nt_tape_writer_finish_chunk(tape), 0);
		assert_int_equal(nt_tape_writer_begin_chunk(tape), 0);
		assert_int_equal(nt_tape_writer_wait(tape), 0);
		snprintf(path, sizeof(path), "%s/%s", tape_path, nt_chunk_name(name, number, ""));
		bytes = scratch_read(path, &size);
		assert_int_equal(nt_chunk_head_parse((uint8_t *)bytes, size, &header, &head_size), 0);
		assert_true(header.created_monotonic_ns > last_ns);
		assert_true(header.created_realtime_ns > 1700000000000000000);
		last_ns = header.created_monotonic_ns;
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finishes_chunks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ends_with_a_whole_block, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counts_what_is_on_the_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counts_no_block_that_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(is_not_finished_before_it_is_on_the_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tells_of_a_failed_sync, set_up, tear_down),
		cmocka_unit_test_setup_teardown(tells_of_a_failed_rename, set_up, tear_down),
		cmocka_unit_test_setup_teardown(replaces_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(replaces_nothing_by_looking_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(renames_where_it_must_look_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(keeps_to_a_size, set_up, tear_down),
		cmocka_unit_test_setup_teardown(makes_room_on_a_full_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(makes_room_within_a_quota, set_up, tear_down),
		cmocka_unit_test_setup_teardown(knows_when_chunks_began, set_up, tear_down),
	};

	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

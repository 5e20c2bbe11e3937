// SPDX-License-Identifier: GPL-2.0-only
/*
 * deflater_test.c - batches that a thread deflates stand in the file as they were given and in their order, also where
 * no thread can be started; a batch that failed is an error at the end; the thread stops wherever its user is; and a
 * closed pipe ends the program.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "report/export/perfetto/deflater.h"
#include "tests/support/no_threads.h"

#define BATCHES 50 /* many times those that may wait */
#define BATCH_BYTES 100000

static uint8_t byte_of(uint32_t batch, uint32_t i)
{
	return (uint8_t)(batch * 7 + i / 100 + i * i % 11);
}

static void put_batch(struct nt_deflater *deflater, struct nt_proto *batch, uint32_t number)
{
	assert_true(nt_proto_room(batch, BATCH_BYTES));
	for (uint32_t i = 0; i < BATCH_BYTES; i++)
		batch->data[batch->size++] = byte_of(number, i);
	nt_deflater_put(deflater, batch);
	assert_int_equal(batch->size, 0);
}

/* The number at *at, which is behind it then. */
static uint64_t read_number(const uint8_t **at)
{
	uint64_t number = 0;
	int shift = 0;

	for (; **at & 0x80; shift += 7)
		number |= (uint64_t)(*(*at)++ & 0x7f) << shift;
	return number | (uint64_t) * (*at)++ << shift;
}

/* A packet of one field, the deflated batch. Gives its end. */
static const uint8_t *expect_batch(const uint8_t *at, uint32_t number)
{
	static uint8_t bytes[BATCH_BYTES];
	uLongf length = sizeof(bytes);
	uint64_t size;

	assert_int_equal(read_number(&at), 1 << 3 | 2);
	read_number(&at);
	assert_int_equal(read_number(&at), 50 << 3 | 2);
	size = read_number(&at);
	assert_int_equal(uncompress(bytes, &length, at, size), Z_OK);
	assert_int_equal(length, BATCH_BYTES);
	for (uint32_t i = 0; i < BATCH_BYTES; i++)
		assert_int_equal(bytes[i], byte_of(number, i));
	return at + size;
}

static void expect_order(void)
{
	struct nt_proto batch = {0};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct nt_deflater *deflater = nt_deflater_open(out);
	const uint8_t *at;

	assert_non_null(deflater);
	for (uint32_t i = 0; i < BATCHES; i++)
		put_batch(deflater, &batch, i);
	assert_int_equal(nt_deflater_finish(deflater), 0);
	nt_deflater_close(deflater);
	fclose(out);
	at = (const uint8_t *)text;
	for (uint32_t i = 0; i < BATCHES; i++)
		at = expect_batch(at, i);
	assert_ptr_equal(at, text + size);
	nt_proto_release(&batch);
	free(text);
}

static void batches_keep_their_order(void **state)
{
	(void)state;
	expect_order();
}

static void a_failed_batch_is_an_error(void **state)
{
	struct nt_proto batch = {0};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct nt_deflater *deflater = nt_deflater_open(out);

	(void)state;
	assert_non_null(deflater);
	put_batch(deflater, &batch, 0);
	batch.failed = true;
	nt_deflater_put(deflater, &batch);
	put_batch(deflater, &batch, 1);
	assert_int_equal(nt_deflater_finish(deflater), -1);
	nt_deflater_close(deflater);
	fclose(out);
	assert_ptr_equal(expect_batch((const uint8_t *)text, 0), text + size);
	nt_proto_release(&batch);
	free(text);
}

static void without_a_thread(void **state)
{
	(void)state;
	let_threads_fail(true);
	expect_order();
	a_failed_batch_is_an_error(NULL);
	let_threads_fail(false);
}

static void it_stops_wherever_its_user_is(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 6; n++) {
		struct nt_proto batch = {0};
		FILE *out = fopen("/dev/null", "w");
		struct nt_deflater *deflater = nt_deflater_open(out);

		assert_non_null(deflater);
		for (uint32_t i = 0; i < n; i++)
			put_batch(deflater, &batch, i);
		nt_deflater_close(deflater);
		nt_proto_release(&batch);
		fclose(out);
	}
	nt_deflater_close(NULL);
}

/* As where nobody reads a pipe any more. */
static void write_to_nobody(void)
{
	struct nt_proto batch = {0};
	int ends[2];
	struct nt_deflater *deflater;

	signal(SIGPIPE, SIG_DFL);
	if (pipe(ends) || close(ends[0]))
		_exit(2);
	deflater = nt_deflater_open(fdopen(ends[1], "w"));
	for (uint32_t i = 0; i < BATCHES; i++)
		put_batch(deflater, &batch, i);
	nt_deflater_finish(deflater);
	_exit(1);
}

static void a_closed_pipe_ends_the_program(void **state)
{
	const pid_t child = fork();
	int status;

	(void)state;
	if (!child)
		write_to_nobody();
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(batches_keep_their_order),
		cmocka_unit_test(a_failed_batch_is_an_error),
		cmocka_unit_test(without_a_thread),
		cmocka_unit_test(it_stops_wherever_its_user_is),
		cmocka_unit_test(a_closed_pipe_ends_the_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * info_test.c - `info` of tapes that cannot be read to their end: whatever fails, or comes damaged, is said, and the
 * exit status says it too. (tests/cli/outputs has what it prints of whole tapes.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "report/cmd/command.h"

#define TAPE "tests/golden/v1-samples.tape"

/* The fault of one open or read, after so many. */
static enum { NOTHING, OPEN_FAILS, READ_FAILS, READ_IS_DAMAGED } what;
static unsigned int opens, reads, after;

int open(const char *path, int flags, ...)
{
	const bool fails = strstr(path, TAPE "/chunk") && opens++ == after && what == OPEN_FAILS;

	errno = EIO;
	return fails ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0);
}

/* The damage is in a block's payload, not in its header. */
ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
	unsigned char *bytes = data;
	ssize_t n = syscall(SYS_pread64, fd, data, size, offset);
	bool is_it = false;

	if (what == READ_FAILS || bytes[1] != 'N')
		is_it = reads++ == after;
	if (is_it && what == READ_IS_DAMAGED)
		bytes[n / 2] ^= 0x10;
	errno = EIO;
	return is_it && what == READ_FAILS ? -1 : n;
}

struct answer {
	char *out, *err;
	size_t out_size, err_size;
	int code;
};

static struct answer info(void)
{
	char path[] = TAPE, *args[] = {path, NULL};
	const struct nt_options options = {.args = args, .n_args = 1};
	FILE *const out = stdout, *const err = stderr;
	struct answer answer;

	opens = reads = 0;
	stdout = open_memstream(&answer.out, &answer.out_size);
	stderr = open_memstream(&answer.err, &answer.err_size);
	answer.code = nt_cmd_info.run(&options);
	fclose(stdout);
	fclose(stderr);
	stdout = out;
	stderr = err;
	return answer;
}

static void release(struct answer *answer)
{
	free(answer->out);
	free(answer->err);
}

/*
 * It fails and says why; or it tells what is left, and that there are problems; or nothing is missing: blocks are found
 * without their index.
 */
static void expect_said(const struct answer *answer, const char *whole, const char *why)
{
	if (answer->code == NT_EXIT_DONE) {
		assert_string_equal(answer->err, "");
		if (!strstr(answer->out, "\nproblems:\n"))
			assert_string_equal(answer->out, whole);
		return;
	}
	assert_int_equal(answer->code, NT_EXIT_FAILED);
	assert_string_equal(answer->out, "");
	if (!strstr(answer->err, TAPE) || !strstr(answer->err, why))
		fail_msg("'%s' is not said: %s", why, answer->err);
}

/* Once for each open or read to which it happens. Gives how often it failed. */
static unsigned int expect_always_said(int happens, const char *why)
{
	struct answer whole = info();
	unsigned int n = 0;
	bool is_over = false;

	assert_int_equal(whole.code, NT_EXIT_DONE);
	assert_null(strstr(whole.out, "problems"));
	what = happens;

	for (after = 0; !is_over; after++) {
		struct answer answer = info();

		is_over = (what == OPEN_FAILS ? opens : reads) <= after;
		if (!is_over)
			expect_said(&answer, whole.out, why);
		n += answer.code == NT_EXIT_FAILED;
		release(&answer);
	}
	what = NOTHING;
	release(&whole);
	return n;
}

static void says_that_a_chunk_cannot_be_opened(void **state)
{
	(void)state;
	/* When the tape is opened, and when its events are counted. */
	assert_true(expect_always_said(OPEN_FAILS, "Input/output error") > 1);
}

static void says_that_a_chunk_cannot_be_read(void **state)
{
	(void)state;
	assert_true(expect_always_said(READ_FAILS, "Input/output error") > 1);
}

static void says_that_a_chunk_is_damaged(void **state)
{
	(void)state;
	expect_always_said(READ_IS_DAMAGED, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_that_a_chunk_cannot_be_opened),
		cmocka_unit_test(says_that_a_chunk_cannot_be_read),
		cmocka_unit_test(says_that_a_chunk_is_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

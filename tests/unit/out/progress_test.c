// SPDX-License-Identifier: GPL-2.0-only
/*
 * progress_test.c - the line of progress on a terminal, by a clock that goes on a second at each look: of itself, and
 * while a tape is imported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/db/load.h"
#include "report/out/progress.h"
#include "tests/support/heard.h"
#include "tests/support/scratch.h"
#include "tests/support/scratch_db.h"
#include "tests/support/tape_gen.h"

static bool is_terminal;
static time_t step_s;

int isatty(int fd)
{
	return fd == STDERR_FILENO && is_terminal;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	static time_t seconds = 1000;

	(void)clock;
	*now = (struct timespec){.tv_sec = seconds += step_s};
	return 0;
}

static const char *show(time_t step, bool on_terminal)
{
	struct nt_progress progress;

	step_s = step;
	is_terminal = on_terminal;
	heard_begin();
	nt_progress_begin(&progress, "a.tape");
	nt_progress_show(&progress, 125, 1000);
	nt_progress_end(&progress);
	return heard_end();
}

static void shows_what_takes_a_second(void **state)
{
	(void)state;
	assert_string_equal(show(1, true), "\ra.tape:  12 %, 1,000 rows\033[K\r\033[K");
	assert_string_equal(show(0, true), "");
	assert_string_equal(show(1, false), "");
}

static void record(const char *path)
{
	struct tape_gen *gen = tape_gen_new(&(struct tape_gen_config){.dir = path, .n_cpus = 1});

	gen_state(gen, 0, 0, 1, 0, 0);
	for (uint64_t i = 1; i <= 10000; i++)
		gen_irq(gen, 0, 1000 * i, 1000 * i + 10, NT_IRQ_VECTOR, 236);
	tape_gen_finish(gen, GEN_START_NS + 20000000, true);
}

static void shows_how_an_import_goes(void **state)
{
	char dir[SCRATCH_MAX], path[2 * SCRATCH_MAX], error[NT_ERROR_MAX];
	struct nt_db *db = scratch_db_new(NULL);
	struct nt_tape *tape;
	const char *said;

	(void)state;
	scratch_make(dir);
	record(scratch_path(path, dir, "a.tape"));
	assert_int_equal(nt_tape_open(&tape, path, error), 0);
	step_s = 1;
	is_terminal = true;
	heard_begin();
	assert_int_equal(nt_load(db, tape, NULL, NULL, NULL), 0);
	said = heard_end();
	assert_non_null(strstr(said, "a.tape:"));
	assert_non_null(strstr(said, " %, "));
	nt_tape_close(tape);
	nt_db_close(db);
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_what_takes_a_second),
		cmocka_unit_test(shows_how_an_import_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

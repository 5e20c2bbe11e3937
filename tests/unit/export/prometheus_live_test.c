// SPDX-License-Identifier: GPL-2.0-only
/*
 * prometheus_live_test.c - following a recording with very many connections and programs: what nothing needs any more
 * is forgotten, and the sums are those that the operations of the recording add up to.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "report/export/prometheus/live.h"
#include "report/util/array.h"
#include "tests/support/scratch.h"
#include "tests/support/tape_gen.h"

#define MS 1000000ull
#define S 1000000000ull
#define N_CHUNKS 7
#define CHUNK_NS (40 * S)
#define N_NEW 20000 /* threads of a process, and sockets, that only one chunk has */
#define N_OPS 100 /* of that process, each on a socket of its own */
#define STAYS 1 /* a process that stays, and its socket */
#define NEW(chunk) (1000 + (uint64_t)(chunk)*N_NEW)

/* Of the sanitizer, in which all unit tests run. */
size_t __sanitizer_get_current_allocated_bytes(void);

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static void put_identities(struct tape_gen *gen, unsigned int chunk)
{
	const uint64_t first = NEW(chunk);
	char name[16];

	tape_gen_forget(gen);
	gen_task(gen, 0, GEN_BEFORE, STAYS, STAYS, STAYS, STAYS, 0, NT_TASK_SEED, "stays");
	gen_socket(gen, STAYS, 6, "10.0.0.1", 9, "10.0.0.2", 443);
	snprintf(name, sizeof(name), "p%u", chunk);
	for (uint64_t i = 0; i < N_NEW; i++) {
		gen_task(gen, 0, GEN_BEFORE, first + i, first, (uint32_t)(first + i), (uint32_t)first, 0, NT_TASK_SEED,
			 name);
		gen_socket(gen, first + i, 6, "10.0.0.1", 80 + chunk, "10.0.0.2", 1024 + (unsigned int)i);
	}
}

/* One operation of the task within a ms, and the CPU is idle again. */
static void put_op(struct tape_gen *gen, uint64_t at, uint64_t task, uint64_t socket)
{
	gen_switch(gen, 0, at, 0, 0, task, 0);
	gen_op(gen, 0, at + 1000, at + MS / 2, NT_SEND, NT_CALL_sendto, socket, 7, 0);
	gen_switch(gen, 0, at + MS, task, 1, 0, 0);
}

static void look(struct nt_prometheus_live *live, int expected)
{
	char error[NT_ERROR_MAX];

	assert_int_equal(nt_prometheus_live_look(live, error), expected);
	assert_true(nt_prometheus_live_sum(live, error) >= 0);
}

static void record_chunk(struct tape_gen *gen, unsigned int chunk, struct nt_prometheus_live *live)
{
	const uint64_t begin = chunk * CHUNK_NS;

	for (uint64_t i = 0; i < N_OPS; i++) {
		const uint64_t at = begin + 10 * MS + i * CHUNK_NS / N_OPS;

		put_op(gen, at, NEW(chunk) + i * 7, NEW(chunk) + i);
		put_op(gen, at + 10 * MS, STAYS, STAYS);
		if (i % 49)
			continue;
		tape_gen_flush(gen, 0);
		tape_gen_clock(gen, GEN_START_NS + at + 20 * MS);
		look(live, 0);
	}
}

static double value_of(const char *text, const char *series)
{
	const char *line = strstr(text, series);

	if (!line)
		fail_msg("no %s", series);
	return strtod(line + strlen(series), NULL);
}

static void check(const char *text)
{
	char series[128];

	assert_true(value_of(text, "nettape_program_operations_total{host=\"testhost\",program=\"stays\"} ") ==
		    N_CHUNKS * N_OPS);
	assert_true(value_of(text, "nettape_port_operations_total{host=\"testhost\",port=\"tcp 9\"} ") ==
		    N_CHUNKS * N_OPS);
	for (unsigned int chunk = 0; chunk < N_CHUNKS; chunk++) {
		snprintf(series, sizeof(series), "nettape_program_operations_total{host=\"testhost\",program=\"p%u\"} ",
			 chunk);
		assert_true(value_of(text, series) == N_OPS);
		snprintf(series, sizeof(series), "nettape_port_operations_total{host=\"testhost\",port=\"tcp %u\"} ",
			 80 + chunk);
		assert_true(value_of(text, series) == N_OPS);
	}
}

/* Records all chunks; and how much memory is in use after each. */
static void record(const char *dir, struct nt_prometheus_live *live, size_t bytes[N_CHUNKS])
{
	const struct tape_gen_config config = {.dir = dir, .n_cpus = 1};
	struct tape_gen *gen = tape_gen_new(&config);
	int lock_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* as a recorder has it */

	assert_int_equal(flock(lock_fd, LOCK_EX | LOCK_NB), 0);
	for (unsigned int chunk = 0; chunk < N_CHUNKS; chunk++) {
		put_identities(gen, chunk);
		if (!chunk)
			gen_state(gen, 0, 0, 0, NT_STATE_START, 0);
		record_chunk(gen, chunk, live);
		bytes[chunk] = __sanitizer_get_current_allocated_bytes();
		if (chunk + 1 < N_CHUNKS)
			tape_gen_next_chunk(gen);
	}
	gen_state(gen, 0, N_CHUNKS * CHUNK_NS, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + N_CHUNKS * CHUNK_NS, true);
	close(lock_fd);
}

static void test_forgets(void **state)
{
	const struct nt_prometheus_choice choice = {.limit = 25, .names_host = true, .is_stopped = never};
	char dir[SCRATCH_MAX], *text;
	struct nt_prometheus_live *live;
	size_t bytes[N_CHUNKS], size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	scratch_make(dir);
	live = nt_prometheus_live_new(dir, &choice);
	record(dir, live, bytes);
	look(live, 1);
	nt_prometheus_live_write(live, out);
	fclose(out);
	check(text);
	/* Since the first time that something was forgotten. */
	assert_true(bytes[N_CHUNKS - 1] < bytes[2] + bytes[2] / 10);
	free(text);
	nt_prometheus_live_free(live);
	scratch_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forgets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

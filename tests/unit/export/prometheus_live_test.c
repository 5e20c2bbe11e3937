// SPDX-License-Identifier: GPL-2.0-only
/*
 * prometheus_live_test.c - following a recording with very many connections and programs: what nothing needs any more
 * is forgotten, and the sums are those that the operations of the recording add up to. Each record of other probes
 * counts when it has ended, once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "report/export/prometheus/live.h"
#include "report/export/prometheus/sheet.h"
#include "report/util/array.h"
#include "tests/support/rand.h"
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

/* As a recorder has the tape. */
static int lock(const char *dir)
{
	const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
	return fd;
}

/* Records all chunks; and how much memory is in use after each. */
static void record(const char *dir, struct nt_prometheus_live *live, size_t bytes[N_CHUNKS])
{
	const struct tape_gen_config config = {.dir = dir, .n_cpus = 1};
	struct tape_gen *gen = tape_gen_new(&config);
	const int lock_fd = lock(dir);

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

/* ---- probes ---- */

#define N_RECORDS 6000
#define END_NS (2 * (N_RECORDS + 1) * MS)
#define N_REASONS 700 /* more than get series */

/* What was recorded so far, as it is on the tape. */
struct recorded {
	uint64_t drop_at[N_RECORDS], wait_end[N_RECORDS + 1];
	double wait_ns[N_RECORDS + 1];
	size_t n_drops, n_waits;
	unsigned int n_no_stamp; /* packets, as a program has counted them */
	struct nt_rand rand;
};

static void put_drop(struct tape_gen *gen, uint64_t at, struct recorded *recorded)
{
	const struct nt_drop drop = {.end_ns = GEN_START_NS + at,
				     .kind = NT_DROP,
				     .reason = (uint32_t)nt_rand_below(&recorded->rand, N_REASONS)};

	tape_gen_event(gen, 0, &drop);
	recorded->drop_at[recorded->n_drops++] = drop.end_ns;
}

/* It may last longer than the time between two looks. */
static void put_wait(struct tape_gen *gen, uint64_t at, struct recorded *recorded)
{
	const uint64_t dur_ns = nt_rand_below(&recorded->rand, 1 + (nt_rand_below(&recorded->rand, 8) ? MS : at));
	const struct nt_raise wait = {
		.end_ns = GEN_START_NS + at, .kind = NT_RAISE, .vec = NT_VEC_NET_RX, .dur_ns = dur_ns};

	tape_gen_event(gen, 0, &wait);
	recorded->wait_end[recorded->n_waits] = wait.end_ns;
	recorded->wait_ns[recorded->n_waits++] = (double)dur_ns;
}

/* Each reading tells the packets since the begin. */
static void put_no_stamp(struct tape_gen *gen, uint64_t at, struct recorded *recorded)
{
	char text[64];

	recorded->n_no_stamp += (unsigned int)nt_rand_below(&recorded->rand, 100);
	snprintf(text, sizeof(text), "nt_latency_ip_start__x no_stamp=%u\n", recorded->n_no_stamp);
	tape_gen_proc_snapshot(gen, GEN_START_NS + at, GEN_START_NS + at + 1, "nettape/programs", text);
}

static double sum_of(const char *text, const char *metric, size_t *n)
{
	double sum = 0;

	*n = 0;
	for (const char *at = text; (at = strstr(at, metric)); at++, ++*n)
		sum += strtod(strchr(at, '}') + 2, NULL);
	return sum;
}

/* Each record that had ended by the time that is told counts, and no other. */
static void check_probes(const struct recorded *recorded, const char *text, bool is_over)
{
	const double until = value_of(text, "nettape_complete_until_seconds{host=\"testhost\"} ");
	const uint64_t until_ns = GEN_START_NS + (uint64_t)lround((until - GEN_REALTIME_NS / 1e9) * 10) * 100 * MS;
	double drops = 0, waits = 0, waited_ns = 0;
	size_t n;

	for (size_t i = 0; i < recorded->n_drops; i++)
		drops += is_over || recorded->drop_at[i] < until_ns;
	for (size_t i = 0; i < recorded->n_waits; i++) {
		if (!is_over && recorded->wait_end[i] >= until_ns)
			continue;
		waits++;
		waited_ns += recorded->wait_ns[i];
	}
	assert_true(sum_of(text, "\nnettape_skb_drops_total{", &n) == drops);
	assert_true(n <= NT_SHEET_SERIES + 1);
	assert_true(value_of(text, "nettape_skb_latency_rejected_total{host=\"testhost\",hook=\"ip-start\","
				   "reason=\"no_stamp\"} ") == recorded->n_no_stamp);
	assert_true(sum_of(text, "\nnettape_softirq_wait_seconds_count{", &n) == waits);
	assert_true(fabs(sum_of(text, "\nnettape_softirq_wait_seconds_sum{", &n) * 1e9 - waited_ns) < 1000);
}

/* Whether there were figures. */
static bool look_at_probes(struct nt_prometheus_live *live, const struct recorded *recorded, bool is_over)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	look(live, is_over);
	nt_prometheus_live_write(live, out);
	fclose(out);
	if (size)
		check_probes(recorded, text, is_over);
	free(text);
	return size;
}

static void test_probes(void **state)
{
	const struct nt_prometheus_choice choice = {.limit = 25, .names_host = true, .is_stopped = never};
	char dir[SCRATCH_MAX];
	const struct tape_gen_config config = {.dir = dir, .n_cpus = 1, .probes = "sched,socket,drops,raise,latency"};
	struct recorded *recorded = calloc(1, sizeof(*recorded));
	struct nt_prometheus_live *live;
	struct tape_gen *gen;
	unsigned int n_looks = 0;
	int lock_fd;

	(void)state;
	recorded->rand.state = nt_rand_seed();
	scratch_make(dir);
	live = nt_prometheus_live_new(dir, &choice);
	gen = tape_gen_new(&config);
	lock_fd = lock(dir);
	gen_task(gen, 0, GEN_BEFORE, STAYS, STAYS, STAYS, STAYS, 0, NT_TASK_SEED, "stays");
	gen_socket(gen, STAYS, 6, "10.0.0.1", 9, "10.0.0.2", 443);
	gen_state(gen, 0, 0, 0, NT_STATE_START, 0);
	for (uint64_t i = 1; i <= N_RECORDS; i++) {
		put_op(gen, 2 * i * MS, STAYS, STAYS);
		if (nt_rand_below(&recorded->rand, 2))
			put_drop(gen, (2 * i + 1) * MS, recorded);
		else
			put_wait(gen, (2 * i + 1) * MS, recorded);
		if (nt_rand_below(&recorded->rand, 100))
			continue;
		tape_gen_flush(gen, 0);
		put_no_stamp(gen, (2 * i + 1) * MS, recorded);
		tape_gen_clock(gen, GEN_START_NS + (2 * i + 1) * MS);
		n_looks += look_at_probes(live, recorded, false);
	}
	/* As the recording ends. */
	put_wait(gen, END_NS, recorded);
	gen_state(gen, 0, END_NS, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + END_NS, true);
	close(lock_fd);
	assert_true(n_looks > 10);
	assert_true(look_at_probes(live, recorded, true));
	nt_prometheus_live_free(live);
	scratch_remove(dir);
	free(recorded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forgets),
		cmocka_unit_test(test_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

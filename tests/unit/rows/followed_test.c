// SPDX-License-Identifier: GPL-2.0-only
/*
 * followed_test.c - a tape that is read while it is recorded gives the sums that it gives when it is whole, and at each
 * time the sums up to then. The slow, obvious way is to read the whole tape, slice by slice.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "report/rows/rows.h"
#include "report/tape/follow.h"
#include "report/util/array.h"
#include "tests/support/rand.h"
#include "tests/support/random_host.h"
#include "tests/support/scratch.h"

#define MS 1000000ull
#define S 1000000000ull
#define N_CPUS RANDOM_HOST_CPUS
#define N_SUMS 4096
#define N_VALUES 6
#define LOWER_BOUND 5 /* the last value, of operations */

/* ---- sums by their keys ---- */

struct sum {
	char key[96];
	uint64_t values[N_VALUES];
};

struct sums {
	struct sum sums[N_SUMS];
	size_t n;
};

static struct sum *sum_of(struct sums *sums, const char *key)
{
	size_t at = NT_FIRST(sums->n, i, !strcmp(sums->sums[i].key, key));

	if (at == sums->n) {
		assert_true(sums->n < N_SUMS);
		sums->n++;
		snprintf(sums->sums[at].key, sizeof(sums->sums[at].key), "%s", key);
	}
	return &sums->sums[at];
}

static uint64_t number(const struct nt_row *row, const char *name)
{
	const struct nt_table *table = nt_table(row->table);
	const size_t column = NT_FIRST(table->n_columns, i, !strcmp(table->columns[i].name, name));

	assert_true(column < table->n_columns);
	return (uint64_t)nt_integer(&row->values[column], 0);
}

static const char *text(const struct nt_row *row, const char *name)
{
	const struct nt_table *table = nt_table(row->table);
	const size_t column = NT_FIRST(table->n_columns, i, !strcmp(table->columns[i].name, name));

	assert_true(column < table->n_columns);
	return nt_text(&row->values[column], "-");
}

/* Who pays for a flow depends on what was known then: that is the same only in sum. */
static const char *of_payer(const char *payer)
{
	return strcmp(payer, "unattributed") && strcmp(payer, "driver") ? "flows" : payer;
}

static void key_of(const struct nt_row *row, char key[96])
{
	switch (row->table) {
	case NT_TABLE_CPU_COST:
		snprintf(key, 96, "cpu %llu %s %llu", (unsigned long long)number(row, "cpu"), text(row, "owner"),
			 (unsigned long long)number(row, "utid"));
		break;
	case NT_TABLE_SOCK_COST:
		snprintf(key, 96, "op %llu %s %llu", (unsigned long long)number(row, "utid"), text(row, "op"),
			 (unsigned long long)number(row, "socket_id"));
		break;
	case NT_TABLE_RX_COST:
		snprintf(key, 96, "rx %llu %s", (unsigned long long)number(row, "cpu"), of_payer(text(row, "payer")));
		break;
	case NT_TABLE_ELSEWHERE_COST:
		snprintf(key, 96, "elsewhere %llu", (unsigned long long)number(row, "cpu"));
		break;
	case NT_TABLE_RECORD_COUNT:
		snprintf(key, 96, "records %llu %s", (unsigned long long)number(row, "cpu"), text(row, "kind"));
		break;
	default:
		snprintf(key, 96, "loss %llu %s", (unsigned long long)number(row, "cpu"), text(row, "why"));
	}
}

static void add(struct sums *sums, const struct nt_row *row)
{
	static const char *const names[][N_VALUES] = {
		[NT_TABLE_CPU_COST] = {"spent_ns"},
		[NT_TABLE_SOCK_COST] = {"ops", "failed", "bytes", "cpu_ns", "untimed", "lower_bound"},
		[NT_TABLE_RX_COST] = {"spent_ns", "packets", "segments", "bytes"},
		[NT_TABLE_ELSEWHERE_COST] = {"spent_ns"},
		[NT_TABLE_RECORD_COUNT] = {"records", "lost"},
		[NT_TABLE_LOSS] = {"dur"},
	};
	char key[96];
	struct sum *sum;

	key_of(row, key);
	sum = sum_of(sums, key);
	for (size_t i = 0; i < N_VALUES && names[row->table][i]; i++)
		sum->values[i] += number(row, names[row->table][i]);
}

#define TABLES                                                                                                         \
	(NT_TABLE_BIT(NT_TABLE_CPU_COST) | NT_TABLE_BIT(NT_TABLE_SOCK_COST) | NT_TABLE_BIT(NT_TABLE_RX_COST) |         \
	 NT_TABLE_BIT(NT_TABLE_ELSEWHERE_COST) | NT_TABLE_BIT(NT_TABLE_RECORD_COUNT) | NT_TABLE_BIT(NT_TABLE_LOSS))

/* ---- following ---- */

/* The sums of a CPU's owners, and of its charges, up to a time. */
struct look {
	uint64_t until_ns;
	uint64_t owners[N_CPUS][NT_OWNER_COUNT], charged[N_CPUS];
};

struct following {
	struct nt_tape *tape;
	struct nt_row_iter *rows;
	char path[2 * SCRATCH_MAX];
	int lock_fd; /* as a recorder has it */
	struct nt_rand rand;
	uint64_t since_ns; /* somebody looks */
	uint64_t flush_ns, clock_ns; /* when next */
	struct sums sums;
	struct kept {
		uint32_t cpu;
		int owner; /* -1: charged */
		uint64_t ts_ns, dur_ns, spent_ns;
	} * kept;
	size_t n_kept, kept_size;
	struct look *looks;
	size_t n_looks, looks_size;
	size_t n_advanced, n_behind; /* looks after which more was known; and those that were cut short */
	bool forgets; /* identities that nothing needs, as often as it can */
	bool has_thread[RANDOM_HOST_TASKS]; /* as rows since then tell */
	size_t n_forgotten; /* times */
};

static void keep(struct following *following, const struct nt_row *row)
{
	const bool is_slice = row->table == NT_TABLE_CPU_COST;

	/* Names are there before the sums that speak of them. */
	if (following->forgets && is_slice && number(row, "utid") < RANDOM_HOST_TASKS)
		assert_true(following->has_thread[number(row, "utid")]);
	add(&following->sums, row);
	if (!is_slice && row->table != NT_TABLE_RX_COST)
		return;
	assert_int_equal(NT_ROOM(following->kept, following->kept_size, following->n_kept + 1), 0);
	following->kept[following->n_kept++] = (struct kept){
		.cpu = (uint32_t)number(row, "cpu"),
		.owner = is_slice ? (int)nt_owner_number(text(row, "owner")) : -1,
		.ts_ns = number(row, "ts"),
		.dur_ns = number(row, "dur"),
		.spent_ns = number(row, "spent_ns"),
	};
}

/* Rows of several buckets are one owner's all the time. */
static uint64_t part_until(const struct kept *kept, uint64_t until_ns)
{
	if (kept->ts_ns >= until_ns)
		return 0;
	if (kept->ts_ns + kept->dur_ns <= until_ns)
		return kept->spent_ns;
	return (uint64_t)((double)kept->spent_ns * (double)(until_ns - kept->ts_ns) / (double)kept->dur_ns);
}

/* What is known now may not change any more. */
static void note_known(struct following *following)
{
	const uint64_t until_ns = nt_rows_known_until(following->rows);
	const size_t n = following->n_looks;
	struct look *look;

	assert_int_equal(NT_ROOM(following->looks, following->looks_size, n + 1), 0);
	look = &following->looks[following->n_looks++];
	*look = (struct look){.until_ns = until_ns};
	if (n)
		assert_true(until_ns >= look[-1].until_ns);
	following->n_advanced += n && until_ns > look[-1].until_ns;
	for (size_t i = 0; i < following->n_kept; i++) {
		const struct kept *kept = &following->kept[i];
		uint64_t *sum = kept->owner < 0 ? &look->charged[kept->cpu] : &look->owners[kept->cpu][kept->owner];

		*sum += part_until(kept, until_ns);
	}
}

static int read_rows(struct following *following)
{
	const struct nt_row *row;
	int error;

	while (!(error = nt_row_next(following->rows, &row))) {
		if (NT_TABLE_BIT(row->table) & TABLES)
			keep(following, row);
		else if (row->table == NT_TABLE_THREAD && number(row, "utid") < RANDOM_HOST_TASKS)
			following->has_thread[number(row, "utid")] = true;
	}
	note_known(following);
	return error;
}

#define KEPT_NS (2 * S) /* no state of a CPU is on the tape for longer */

static bool forget(struct following *following)
{
	const int result = nt_rows_forget(following->rows, nt_rows_known_until(following->rows) - KEPT_NS);

	assert_in_range(result, 0, 1);
	if (result)
		memset(following->has_thread, 0, sizeof(following->has_thread));
	return result;
}

/* True: the rows have ended. */
static bool look(struct following *following)
{
	const struct nt_rows_want want = {.tables = NT_ALL_TABLES, .order = NT_ROWS_FOLLOWED, .events_a_round = 2000};
	char error[NT_ERROR_MAX];
	int code = following->tape ? nt_tape_look(following->tape, error)
				   : nt_tape_follow(&following->tape, following->path, error);

	if (code == -EAGAIN)
		return false;
	if (code)
		fail_msg("%s", error);
	if (!following->rows)
		assert_int_equal(nt_rows_open(&following->rows, following->tape, NULL, 1, &want), 0);
	do {
		code = read_rows(following);
		assert_true(code == 1 || code == -EAGAIN);
		following->n_behind += nt_rows_is_behind(following->rows);
		if (following->forgets && nt_rows_known_until(following->rows) > KEPT_NS)
			following->n_forgotten += forget(following);
	} while (code != 1 && nt_rows_is_behind(following->rows));
	return code == 1;
}

/* Blocks are cut, and the clock is read, as the recorder does it; and somebody looks now and then. */
static void see(void *arg, struct tape_gen *gen, uint64_t now)
{
	struct following *following = arg;

	if (following->lock_fd < 0) {
		following->lock_fd = open(following->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_int_equal(flock(following->lock_fd, LOCK_EX | LOCK_NB), 0);
	}
	if (now >= following->flush_ns) {
		for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
			tape_gen_flush(gen, cpu);
		following->flush_ns = now + 250 * MS;
	}
	if (now >= following->clock_ns) {
		tape_gen_clock(gen, GEN_START_NS + now);
		following->clock_ns = now + 200 * MS;
	}
	/* Some come late, and have much to read at once. */
	if (now >= following->since_ns && !nt_rand_below(&following->rand, 100))
		assert_false(look(following));
}

static void release(struct following *following)
{
	nt_row_close(following->rows);
	nt_tape_close(following->tape);
	free(following->kept);
	free(following->looks);
	free(following);
}

/* ---- the whole tape ---- */

static void read_whole(const char *path, struct sums *sums, struct look *looks, size_t n_looks)
{
	const struct nt_rows_want want = {.tables = TABLES | NT_TABLE_BIT(NT_TABLE_CPU_SLICE)};
	char error[NT_ERROR_MAX];
	const struct nt_row *row;
	struct nt_row_iter *rows;
	struct nt_tape *tape;
	int code;

	if (nt_tape_open(&tape, path, error))
		fail_msg("%s", error);
	assert_int_equal(nt_rows_open(&rows, tape, NULL, 1, &want), 0);
	while (!(code = nt_row_next(rows, &row))) {
		const uint64_t from_ns = row->table == NT_TABLE_CPU_SLICE ? number(row, "ts") : 0;

		if (row->table != NT_TABLE_CPU_SLICE) {
			add(sums, row);
			continue;
		}
		for (size_t i = 0; i < n_looks; i++) {
			const uint64_t to_ns = from_ns + number(row, "dur"), until_ns = looks[i].until_ns;

			if (from_ns < until_ns)
				looks[i].owners[number(row, "cpu")][nt_owner_number(text(row, "owner"))] +=
					(to_ns < until_ns ? to_ns : until_ns) - from_ns;
		}
	}
	assert_int_equal(code, 1);
	nt_row_close(rows);
	nt_tape_close(tape);
}

/* That an operation may have had time in a loss may be told after the operation. */
static bool same_sum(const struct sum *seen, const struct sum *whole)
{
	return !memcmp(seen->values, whole->values, LOWER_BOUND * sizeof(seen->values[0])) &&
	       seen->values[LOWER_BOUND] <= whole->values[LOWER_BOUND];
}

static void compare_sums(struct sums *seen, struct sums *whole, uint64_t seed)
{
	for (size_t i = 0; i < whole->n; i++)
		sum_of(seen, whole->sums[i].key);
	for (size_t i = 0; i < seen->n; i++) {
		const struct sum *one = &seen->sums[i], *other = sum_of(whole, one->key);

		if (!same_sum(one, other))
			fail_msg("seed %llu: %s: %llu, %llu and not %llu, %llu", (unsigned long long)seed, one->key,
				 (unsigned long long)one->values[0], (unsigned long long)one->values[1],
				 (unsigned long long)other->values[0], (unsigned long long)other->values[1]);
	}
}

static void compare_looks(const struct look *seen, const struct look *whole, uint64_t seed)
{
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++) {
		for (int owner = 0; owner < NT_OWNER_COUNT; owner++) {
			if (seen->owners[cpu][owner] != whole->owners[cpu][owner])
				fail_msg("seed %llu, until %llu, CPU %u, %s: %llu and not %llu",
					 (unsigned long long)seed, (unsigned long long)seen->until_ns, cpu,
					 nt_owner_name((enum nt_owner)owner),
					 (unsigned long long)seen->owners[cpu][owner],
					 (unsigned long long)whole->owners[cpu][owner]);
		}
		/* Each row of several buckets may be rounded. */
		assert_in_range(whole->owners[cpu][NT_OWNER_NET_RX] - seen->charged[cpu] + 100, 0, 200);
	}
}

/* ---- tests ---- */

static int setup(void **state)
{
	char *dir = malloc(SCRATCH_MAX);

	scratch_make(dir);
	*state = dir;
	return 0;
}

static int teardown(void **state)
{
	scratch_remove(*state);
	free(*state);
	return 0;
}

/* All that was seen is what the whole tape says of that time. */
static void compare_with_whole(struct following *following, uint64_t seed)
{
	struct sums *whole = calloc(1, sizeof(*whole));
	struct look *looks = calloc(following->n_looks, sizeof(*looks));

	for (size_t i = 0; i < following->n_looks; i++)
		looks[i].until_ns = following->looks[i].until_ns;
	read_whole(following->path, whole, looks, following->n_looks);
	compare_sums(&following->sums, whole, seed);
	for (size_t i = 0; i < following->n_looks; i++)
		compare_looks(&following->looks[i], &looks[i], seed);
	/* No record came later than it may. */
	assert_int_equal(following->tape->n_problems, 0);
	free(looks);
	free(whole);
}

/* What the looks of several recordings have met. */
struct met {
	size_t n_advanced, n_behind, n_forgotten;
};

static void follow(const char *dir, uint64_t seed, struct met *met)
{
	struct following *following = calloc(1, sizeof(*following));
	const struct tape_gen_config config = {.dir = following->path,
					       .n_cpus = N_CPUS,
					       .block_events = 50 + seed * 37 % 400,
					       .probes = RANDOM_HOST_PROBES,
					       .samples = seed % 2 ? seed : 0};
	const struct random_host_eye eye = {following, see};

	following->lock_fd = -1;
	following->rand = (struct nt_rand){seed};
	following->since_ns = seed % 3 ? 0 : 15 * S;
	following->forgets = seed % 4 > 1;
	snprintf(following->path, sizeof(following->path), "%s/%llu", dir, (unsigned long long)seed);
	random_host_record(&config, seed, 15000, &eye);
	close(following->lock_fd);
	while (!look(following))
		;
	compare_with_whole(following, seed);
	met->n_advanced += following->n_advanced;
	met->n_behind += following->n_behind;
	met->n_forgotten += following->n_forgotten;
	release(following);
}

static void test_random_hosts(void **state)
{
	struct met met = {0};

	for (uint64_t seed = 1; seed <= 15; seed++)
		follow(*state, seed, &met);
	assert_true(met.n_advanced > 70);
	assert_true(met.n_behind > 3);
	assert_true(met.n_forgotten > 20);
}

/* ---- by hand ---- */

/* A tape of two CPUs, of which the first n have recorded nothing but their begin, and others are offline. */
static struct following *begin_with(const char *dir, uint32_t n, struct tape_gen **gen)
{
	struct following *following = calloc(1, sizeof(*following));
	const struct tape_gen_config config = {.dir = following->path, .n_cpus = 2, .online = n == 2 ? "0-1" : "0"};

	snprintf(following->path, sizeof(following->path), "%s/hand", dir);
	*gen = tape_gen_new(&config);
	for (uint32_t cpu = 0; cpu < n; cpu++) {
		gen_state(*gen, cpu, 0, 0, NT_STATE_START, 0);
		tape_gen_flush(*gen, cpu);
	}
	following->lock_fd = open(following->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(following->lock_fd, LOCK_EX | LOCK_NB), 0);
	return following;
}

static struct following *begin(const char *dir, struct tape_gen **gen)
{
	return begin_with(dir, 2, gen);
}

/* The recorder ends: all is as the whole tape says. */
static void finish(struct following *following, struct tape_gen *gen, uint64_t end)
{
	tape_gen_finish(gen, GEN_START_NS + end, true);
	close(following->lock_fd);
	while (!look(following))
		;
	compare_with_whole(following, 0);
	release(following);
}

static uint64_t known_s(const struct following *following)
{
	return (following->looks[following->n_looks - 1].until_ns - GEN_START_NS) / S;
}

/* An idle CPU holds up the figures of all, but not one that is offline. */
static void test_offline(void **state)
{
	union nt_any offline = {.as_hotplug = {.end_ns = GEN_START_NS + 2 * S, .kind = NT_HOTPLUG}};
	struct tape_gen *gen;
	struct following *following = begin(*state, &gen);

	for (uint64_t at = 1; at <= 10; at++) {
		gen_state(gen, 0, at * S, 0, NT_STATE_PERIODIC, 0);
		tape_gen_flush(gen, 0);
		tape_gen_clock(gen, GEN_START_NS + at * S);
	}
	assert_false(look(following));
	assert_int_equal(known_s(following), 0);
	tape_gen_event(gen, 1, &offline);
	tape_gen_flush(gen, 1);
	assert_false(look(following));
	assert_int_equal(known_s(following), 7);
	finish(following, gen, 11 * S);
}

/*
 * Who comes late does not know at once what only later chunks speak of, also where a CPU has hardly any records in
 * them. At the end what was forgotten stays forgotten, and no reading has come twice.
 */
static void test_late(void **state)
{
	struct tape_gen *gen;
	struct following *following = begin(*state, &gen);
	const struct nt_rows_want want = {.tables = NT_ALL_TABLES, .order = NT_ROWS_FOLLOWED, .events_a_round = 200};
	char error[NT_ERROR_MAX];
	const struct nt_row *row;
	size_t most = 0, n_forgotten = 0, n_clocks = 0;
	int code;

	for (uint64_t at = 1; at <= 2000; at++) {
		if (at % 100 == 0) {
			tape_gen_clock(gen, GEN_START_NS + at * S);
			tape_gen_next_chunk(gen);
			tape_gen_forget(gen);
		}
		gen_task(gen, 0, GEN_BEFORE, at, at, (uint32_t)at, (uint32_t)at, 0, NT_TASK_SEED, "task");
		gen_state(gen, 0, at * S, at, NT_STATE_PERIODIC, 0);
		if (at % 10 == 0)
			gen_state(gen, 1, at * S, at, NT_STATE_PERIODIC, 0);
	}
	assert_int_equal(nt_tape_follow(&following->tape, following->path, error), 0);
	assert_int_equal(nt_rows_open(&following->rows, following->tape, NULL, 1, &want), 0);
	do {
		if (!nt_rows_is_behind(following->rows) && nt_rows_known_until(following->rows)) {
			assert_int_equal(nt_rows_known_until(following->rows), GEN_START_NS + 1990 * S);
			tape_gen_finish(gen, GEN_START_NS + 2001 * S, true);
			close(following->lock_fd);
			assert_int_equal(nt_tape_look(following->tape, error), 0);
		}
		while (!(code = nt_row_next(following->rows, &row)))
			n_clocks += row->table == NT_TABLE_CLOCK_SNAPSHOT;
		if (nt_rows_n_identities(following->rows) > most)
			most = nt_rows_n_identities(following->rows);
		if (nt_rows_known_until(following->rows) > KEPT_NS)
			n_forgotten += forget(following);
	} while (code != 1);
	assert_in_range(most, 100, 500);
	assert_in_range(n_forgotten, 10, 20);
	assert_int_equal(n_clocks, 20);
	release(following);
}

/* Each ms the CPU goes on to the task, or from it. */
static void put_switches(struct tape_gen *gen, uint64_t task, uint64_t from, uint64_t to)
{
	gen_task(gen, from * MS, GEN_BEFORE, task, task, (uint32_t)task, (uint32_t)task, 0, NT_TASK_SEED, "task");
	for (uint64_t at = from; at < to; at++)
		gen_switch(gen, 0, at * MS, at % 2 ? 0 : task, 0, at % 2 ? task : 0, 0);
	gen_state(gen, 1, to * MS, 0, NT_STATE_PERIODIC, 0);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		tape_gen_flush(gen, cpu);
	tape_gen_clock(gen, GEN_START_NS + (to + 4000) * MS);
}

/* The tape grows while a reader is behind: names that have come are there before sums that speak of them. */
static void test_grows_while_behind(void **state)
{
	const struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_THREAD) | NT_TABLE_BIT(NT_TABLE_CPU_COST),
					  .order = NT_ROWS_FOLLOWED,
					  .events_a_round = 200};
	struct tape_gen *gen;
	struct following *following = begin(*state, &gen);
	char error[NT_ERROR_MAX];
	const struct nt_row *row;
	bool has_name[3] = {true}, has_cost = false;
	int code;

	put_switches(gen, 1, 1, 1001);
	assert_int_equal(nt_tape_follow(&following->tape, following->path, error), 0);
	assert_int_equal(nt_rows_open(&following->rows, following->tape, NULL, 1, &want), 0);
	for (bool grows = true; grows || nt_rows_is_behind(following->rows);) {
		while (!(code = nt_row_next(following->rows, &row))) {
			const uint64_t utid = number(row, "utid");

			assert_in_range(utid, 0, 2);
			if (row->table == NT_TABLE_THREAD)
				has_name[utid] = true;
			else
				assert_true(has_name[utid]);
			has_cost |= row->table == NT_TABLE_CPU_COST && utid == 2;
		}
		assert_int_equal(code, -EAGAIN);
		if (grows) {
			assert_true(nt_rows_is_behind(following->rows));
			put_switches(gen, 2, 1001, 2001);
			assert_int_equal(nt_tape_look(following->tape, error), 0);
		}
		grows = false;
	}
	assert_true(has_cost);
	gen_state(gen, 0, 3 * S, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 3 * S, true);
	close(following->lock_fd);
	release(following);
}

/* Of two records in the wrong order the second may come with a later block. */
static void test_order_over_blocks(void **state)
{
	static const uint64_t ends[] = {1000, 3000 * MS, 2000 * MS};
	const struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_IRQ_SLICE), .order = NT_ROWS_FOLLOWED};
	struct tape_gen *gen;
	struct following *following = begin(*state, &gen);
	char error[NT_ERROR_MAX];
	const struct nt_row *row;
	uint64_t last = 0;
	int code;

	for (size_t i = 0; i < NT_COUNT(ends); i++) {
		gen_irq(gen, 0, ends[i] - 10, ends[i], NT_IRQ_VECTOR, 236);
		tape_gen_flush(gen, 0);
		tape_gen_clock(gen, GEN_START_NS + 3600 * MS);
		if (!i)
			assert_int_equal(nt_tape_follow(&following->tape, following->path, error), 0);
		assert_int_equal(nt_tape_look(following->tape, error), 0);
		if (!i)
			assert_int_equal(nt_rows_open(&following->rows, following->tape, NULL, 1, &want), 0);
		while (!(code = nt_row_next(following->rows, &row)))
			;
		assert_int_equal(code, -EAGAIN);
	}
	gen_state(gen, 0, 4000 * MS, 0, NT_STATE_STOP, 0);
	tape_gen_finish(gen, GEN_START_NS + 4000 * MS, true);
	close(following->lock_fd);
	assert_int_equal(nt_tape_look(following->tape, error), 0);
	while (!(code = nt_row_next(following->rows, &row))) {
		assert_true(number(row, "ts") >= last);
		last = number(row, "ts");
	}
	assert_int_equal(code, 1);
	assert_int_equal(last, GEN_START_NS + ends[1] - 10);
	release(following);
}

/* The next chunk begins before the last one has its final name. */
static void test_two_partial_chunks(void **state)
{
	char whole[3 * SCRATCH_MAX], partial[sizeof(whole) + 8];
	struct tape_gen *gen;
	struct following *following = begin(*state, &gen);

	snprintf(whole, sizeof(whole), "%s/chunk-000000.ntc", following->path);
	snprintf(partial, sizeof(partial), "%s.partial", whole);
	tape_gen_next_chunk(gen);
	assert_int_equal(rename(whole, partial), 0);
	for (uint64_t at = 1; at <= 10; at++) {
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			gen_state(gen, cpu, at * S, 0, NT_STATE_PERIODIC, 0);
			tape_gen_flush(gen, cpu);
		}
		tape_gen_clock(gen, GEN_START_NS + at * S);
	}
	assert_false(look(following));
	assert_int_equal(following->tape->n_chunks, 1);
	assert_false(look(following));
	assert_int_equal(known_s(following), 0);
	assert_int_equal(rename(partial, whole), 0);
	assert_false(look(following));
	assert_int_equal(following->tape->n_chunks, 2);
	assert_int_equal(known_s(following), 7);
	finish(following, gen, 11 * S);
}

/* A recorder that has much to write at its end tells late when the end was. */
static void test_slow_end(void **state)
{
	struct tape_gen *gen;
	struct following *following = begin(*state, &gen);

	for (uint64_t at = 1; at <= 10; at++) {
		for (uint32_t cpu = 0; cpu < 2; cpu++)
			gen_switch(gen, cpu, at * S + 30 * MS + cpu, at % 2 ? 0 : 1 + cpu, 0, at % 2 ? 1 + cpu : 0, 0);
	}
	gen_state(gen, 0, 10550 * MS, 0, NT_STATE_STOP, 0);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		tape_gen_flush(gen, cpu);
	tape_gen_clock(gen, GEN_START_NS + 20 * S);
	assert_false(look(following));
	assert_false(look(following));
	assert_int_equal(known_s(following), 10);
	/* Nothing that comes behind the end is late. */
	gen_switch(gen, 1, 10560 * MS, 0, 0, 2, 0);
	gen_state(gen, 1, 10570 * MS, 2, NT_STATE_STOP, 0);
	finish(following, gen, 10550 * MS);
}

/* The host gets a CPU: the tape must be read anew. */
static void test_new_cpu(void **state)
{
	union nt_any online = {.as_hotplug = {.end_ns = GEN_START_NS + 2 * S, .kind = NT_HOTPLUG, .online = 1}};
	struct tape_gen *gen;
	struct following *following = begin_with(*state, 1, &gen);
	char error[NT_ERROR_MAX], path[sizeof(following->path)];
	int lock_fd = following->lock_fd;

	gen_state(gen, 0, 1 * S, 0, NT_STATE_PERIODIC, 0);
	tape_gen_flush(gen, 0);
	assert_false(look(following));
	tape_gen_event(gen, 1, &online);
	gen_state(gen, 1, 2 * S, 0, NT_STATE_RESYNC, 0);
	tape_gen_flush(gen, 1);
	assert_int_equal(nt_tape_look(following->tape, error), -ESTALE);
	memcpy(path, following->path, sizeof(path));
	release(following);
	following = calloc(1, sizeof(*following));
	memcpy(following->path, path, sizeof(path));
	following->lock_fd = lock_fd;
	assert_false(look(following));
	gen_state(gen, 0, 3 * S, 0, NT_STATE_STOP, 0);
	gen_state(gen, 1, 3 * S, 0, NT_STATE_STOP, 0);
	finish(following, gen, 3 * S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_random_hosts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_offline, setup, teardown),
		cmocka_unit_test_setup_teardown(test_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_grows_while_behind, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order_over_blocks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_partial_chunks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_slow_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_new_cpu, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

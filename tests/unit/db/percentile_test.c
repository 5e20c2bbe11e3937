// SPDX-License-Identifier: GPL-2.0-only
/*
 * percentile_test.c - report/util/weighted.c and the SQL function percentile, beside a model that sorts with qsort and
 * counts rank by rank.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "report/db/percentile.h"
#include "report/util/weighted.h"
#include "tests/support/rand.h"

struct pair {
	int64_t value;
	int64_t weight;
};

static int compare(const void *a, const void *b)
{
	const struct pair *one = a, *two = b;

	return (one->value > two->value) - (one->value < two->value);
}

/* The quantile of thousandths, in whole numbers only. `pairs` are sorted by it. */
static int64_t model(struct pair *pairs, size_t n, int64_t thousandths)
{
	int64_t whole = 0, sum = 0;

	qsort(pairs, n, sizeof(*pairs), compare);
	for (size_t i = 0; i < n; i++)
		whole += pairs[i].weight;
	for (size_t i = 0; i < n; i++) {
		sum += pairs[i].weight;
		if (pairs[i].weight && sum * 1000 >= thousandths * whole)
			return pairs[i].value;
	}
	fail();
	return 0;
}

static int64_t any_value(struct nt_rand *rand, unsigned int shape)
{
	switch (shape) {
	case 0:
		return (int64_t)nt_rand_below(rand, 10); /* many the same */
	case 1:
		return (int64_t)nt_rand_any(rand); /* the whole range, negative too */
	case 2:
		return (int64_t)nt_rand_below(rand, 1u << 20);
	default:
		return 1000;
	}
}

static void test_samples_against_the_model(void **state)
{
	struct nt_rand rand = {1};
	struct pair pairs[600];

	(void)state;
	for (unsigned int round = 0; round < 400; round++) {
		size_t n = 1 + nt_rand_below(&rand, round % 10 ? 40 : 600);
		bool weighted = round % 2;
		struct nt_samples samples = {0};

		for (size_t i = 0; i < n; i++) {
			pairs[i].value = any_value(&rand, round / 2 % 4);
			pairs[i].weight = weighted ? (int64_t)nt_rand_below(&rand, 5) + (i == 0) : 1;
			assert_int_equal(nt_samples_add(&samples, pairs[i].value, (double)pairs[i].weight), 0);
		}
		for (int64_t thousandths = 0; thousandths <= 1000; thousandths += thousandths % 100 ? 1 : 33)
			assert_int_equal(nt_samples_quantile(&samples, (double)thousandths / 1000),
					 model(pairs, n, thousandths));
		for (size_t i = 1; i < samples.n; i++)
			assert_true(nt_samples_value(&samples, i - 1) <= nt_samples_value(&samples, i));
		nt_samples_release(&samples);
	}
}

/* ---- samples that have no room in memory ---- */

#define SERIES 3

/* Of the same numbers, in memory and in a pool: the first is what the model was compared with. */
struct twins {
	struct nt_samples kept[SERIES], pooled[SERIES];
	struct nt_samples_pool pool;
};

static void add_to_both(struct twins *twins, unsigned int series, int64_t value, double weight)
{
	assert_int_equal(nt_samples_add(&twins->kept[series], value, weight), 0);
	assert_int_equal(nt_samples_add(&twins->pooled[series], value, weight), 0);
	assert_true(twins->pool.n <= twins->pool.most);
}

static void compare_both(struct nt_samples *kept, struct nt_samples *pooled)
{
	double of_kept = 0, of_pooled = 0;

	assert_int_equal(kept->n, pooled->n);
	assert_true(kept->weight == pooled->weight);
	if (!kept->n)
		return;
	for (unsigned int i = 0; i <= 20; i++)
		assert_int_equal(nt_samples_quantile(kept, i / 20.0), nt_samples_quantile(pooled, i / 20.0));
	for (size_t i = 0; i < kept->n; i++) {
		of_kept += nt_samples_weight(kept, i);
		of_pooled += nt_samples_weight(pooled, i);
		assert_int_equal(nt_samples_value(kept, i), nt_samples_value(pooled, i));
	}
	assert_true(of_kept == of_pooled);
}

static int64_t halved(int64_t value)
{
	return value / 2;
}

static void fill(struct twins *twins, struct nt_rand *rand, unsigned int round)
{
	const size_t n = nt_rand_below(rand, round % 8 ? 400 : 40000);
	const size_t weights_from = round % 3 ? nt_rand_below(rand, n + 1) : n;

	for (size_t i = 0; i < n; i++) {
		/* One has most of them, and one has few. */
		const unsigned int series = (unsigned int)nt_rand_below(rand, 100);
		const double weight = i < weights_from ? 1 : (double)nt_rand_below(rand, 4);

		add_to_both(twins, series < 90 ? 0 : series < 99 ? 1 : 2, any_value(rand, round % 4), weight);
	}
}

static void test_a_pool_against_memory(void **state)
{
	struct nt_rand rand = {2};

	(void)state;
	for (unsigned int round = 0; round < 64; round++) {
		struct twins twins = {.pool.most = 1 + nt_rand_below(&rand, round % 2 ? 10 : 1000)};

		for (unsigned int i = 0; i < SERIES; i++)
			twins.pooled[i].pool = &twins.pool;
		fill(&twins, &rand, round);
		for (unsigned int i = 0; i < SERIES && round % 4 == 3; i++) {
			nt_samples_change(&twins.kept[i], halved);
			nt_samples_change(&twins.pooled[i], halved);
		}
		for (unsigned int i = 0; i < SERIES; i++)
			compare_both(&twins.kept[i], &twins.pooled[i]);
		/* More of them after that are sorted in. */
		fill(&twins, &rand, round + 1);
		for (unsigned int i = SERIES; i-- > 0;)
			compare_both(&twins.kept[i], &twins.pooled[i]);
		assert_int_equal(twins.pool.spill.error, 0);
		for (unsigned int i = 0; i < SERIES; i++) {
			nt_samples_release(&twins.kept[i]);
			nt_samples_release(&twins.pooled[i]);
		}
		assert_int_equal(twins.pool.n, 0);
		assert_null(twins.pool.first);
		nt_samples_pool_release(&twins.pool);
	}
}

#define MANY 20000
#define ROUNDS 24

/* The room grows with their number: else few numbers of each would be written at a time, after a long search. */
static void test_many_samples_share_a_pool(void **state)
{
	struct nt_samples *many = calloc(MANY, sizeof(*many));
	struct nt_samples_pool pool = {0};
	size_t n_runs = 0;

	(void)state;
	assert_non_null(many);
	for (size_t i = 0; i < ROUNDS * MANY; i++) {
		many[i % MANY].pool = &pool;
		assert_int_equal(nt_samples_add(&many[i % MANY], (int64_t)(i / MANY), 1), 0);
		assert_true(pool.n <= (size_t)NT_POOL_EACH * MANY);
	}
	for (size_t i = 0; i < MANY; i++) {
		n_runs += many[i].n_runs;
		assert_int_equal(nt_samples_quantile(&many[i], 0.5), ROUNDS / 2 - 1);
		assert_int_equal(nt_samples_quantile(&many[i], 1), ROUNDS - 1);
		nt_samples_release(&many[i]);
	}
	assert_int_equal(n_runs, MANY);
	assert_int_equal(pool.n, 0);
	assert_null(pool.first);
	nt_samples_pool_release(&pool);
	free(many);
}

static void test_samples_that_are_to_stay_leave_the_pool(void **state)
{
	struct nt_samples_pool pool = {.most = 4};
	struct nt_samples one = {.pool = &pool}, two = {.pool = &pool};

	(void)state;
	for (int64_t i = 0; i < 3; i++)
		assert_int_equal(nt_samples_add(&one, 3 - i, 1), 0);
	nt_samples_keep(&one);
	assert_int_equal(pool.n, 0);
	for (int64_t i = 0; i < 20; i++) {
		assert_int_equal(nt_samples_add(&one, i, 1), 0);
		assert_int_equal(nt_samples_add(&two, i, 1), 0);
	}
	assert_true(nt_samples_are_kept(&one));
	assert_false(nt_samples_are_kept(&two));
	assert_int_equal(nt_samples_value(&one, 0), 3);
	nt_samples_keep(&two); /* too late */
	assert_int_equal(nt_samples_quantile(&two, 1), 19);
	nt_samples_release(&one);
	nt_samples_release(&two);
	nt_samples_pool_release(&pool);
}

/* Its size on the disk, of which merging gives back what it has read; 0: this file system cannot give anything back. */
static uint64_t room_on_disk(const struct nt_spill *spill)
{
	const int hole = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	struct stat stat;

	if (fallocate(spill->fd - 1, hole, (off_t)spill->size, 4096))
		return 0;
	assert_int_equal(fstat(spill->fd - 1, &stat), 0);
	return (uint64_t)stat.st_blocks * 512;
}

static void test_merged_runs_take_no_room(void **state)
{
	struct nt_samples_pool pool = {.most = 10001};
	struct nt_samples samples = {.pool = &pool};
	const int64_t n = 200000;

	(void)state;
	for (int64_t i = 0; i < n; i++)
		assert_int_equal(nt_samples_add(&samples, -i, 1), 0);
	nt_samples_sort(&samples);
	assert_int_equal(nt_samples_value(&samples, 0), 1 - n);
	assert_true(pool.spill.size > 2 * (uint64_t)n * sizeof(struct nt_spilled));
	assert_true(room_on_disk(&pool.spill) < (uint64_t)n * sizeof(struct nt_spilled) * 11 / 10);
	nt_samples_release(&samples);
	nt_samples_pool_release(&pool);
}

/* Adds until it fails, with room for four in memory. Gives how often it did not. */
static size_t add_until_error(struct nt_samples_pool *pool, size_t most)
{
	struct nt_samples samples = {.pool = pool};
	size_t n = 0;
	int error = 0;

	pool->most = 4;
	while (!error && n < most) {
		error = nt_samples_add(&samples, (int64_t)n, 1);
		n += !error;
	}
	assert_int_equal(error, n < most ? -EIO : 0);
	nt_samples_sort(&samples);
	nt_samples_release(&samples);
	return n;
}

static void with_limit(__rlimit_resource_t what, rlim_t limit, int error)
{
	struct rlimit before, less;
	struct nt_samples_pool pool = {0};
	size_t n;

	assert_int_equal(getrlimit(what, &before), 0);
	less = before;
	less.rlim_cur = limit;
	assert_int_equal(setrlimit(what, &less), 0);
	n = add_until_error(&pool, 100000);
	assert_int_equal(setrlimit(what, &before), 0);
	assert_in_range(n, 4, 99999);
	assert_int_equal(pool.spill.error, error);
	nt_samples_pool_release(&pool);
}

static void test_a_file_that_fails_is_told(void **state)
{
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	with_limit(RLIMIT_NOFILE, 0, EMFILE);
	with_limit(RLIMIT_FSIZE, 0, EFBIG);
	with_limit(RLIMIT_FSIZE, 1000, EFBIG);
}

static void test_reals_keep_their_order(void **state)
{
	static const double reals[] = {-INFINITY, -1e300, -1, -1e-310, 0, 1e-310, 0.5, 1, 1e300, INFINITY};

	(void)state;
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
		assert_true(nt_ordered_to_real(nt_real_to_ordered(reals[i])) == reals[i]);
		assert_true(!i || nt_real_to_ordered(reals[i - 1]) < nt_real_to_ordered(reals[i]));
	}
	assert_int_equal(nt_real_to_ordered(-0.0), nt_real_to_ordered(0.0));
}

/* ---- in SQL ---- */

static int open_db(void **state)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(nt_percentile_register(db, NT_PERCENTILE), SQLITE_OK);
	*state = db;
	return 0;
}

static int close_db(void **state)
{
	return sqlite3_close(*state) == SQLITE_OK ? 0 : -1;
}

/* All rows of the answer as text, with spaces between, or the error. */
static void expect(sqlite3 *db, const char *sql, const char *wanted)
{
	char text[512] = "";
	sqlite3_stmt *statement;
	int step;

	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	while ((step = sqlite3_step(statement)) == SQLITE_ROW) {
		const char *value = (const char *)sqlite3_column_text(statement, 0);

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", text[0] ? " " : "",
			 value ? value : "NULL");
	}
	if (step != SQLITE_DONE)
		snprintf(text, sizeof(text), "%s", sqlite3_errmsg(db));
	sqlite3_finalize(statement);
	assert_string_equal(text, wanted);
}

#define TEN "WITH v(x) AS (VALUES (10),(20),(30),(40),(50),(60),(70),(80),(90),(100)) "

static void test_sql_values(void **state)
{
	sqlite3 *db = *state;

	expect(db, TEN "SELECT percentile(x, 0) FROM v", "10");
	expect(db, TEN "SELECT percentile(x, 0.1) FROM v", "10");
	expect(db, TEN "SELECT percentile(x, 0.101) FROM v", "20");
	expect(db, TEN "SELECT percentile(x, 0.5) FROM v", "50");
	expect(db, TEN "SELECT percentile(x, 0.7) FROM v", "70");
	expect(db, TEN "SELECT percentile(x, 1) FROM v", "100");
	expect(db, TEN "SELECT percentile(nullif(x, 10), 0) FROM v", "20");
	expect(db, TEN "SELECT percentile(x, 0.5) FROM v WHERE x > 100", "NULL");
	expect(db, TEN "SELECT percentile(NULL, 0.5) FROM v", "NULL");
	expect(db, TEN "SELECT percentile(x, 0.5, CASE x WHEN 90 THEN 100 ELSE 1 END) FROM v", "90");
	expect(db, TEN "SELECT percentile(x, 0.5, CASE x WHEN 90 THEN 1 END) FROM v", "90");
	expect(db, TEN "SELECT percentile(x, 0, CASE WHEN x < 30 THEN 0 ELSE 0.25 END) FROM v", "30");
	expect(db, TEN "SELECT percentile(x / 4.0, 0.5) FROM v", "12.5");
	expect(db, TEN "SELECT percentile(CASE x WHEN 100 THEN -0.5 ELSE x END, 0.2) FROM v", "10.0");
	expect(db, TEN "SELECT percentile(x, 0.5) FROM v GROUP BY x > 50", "30 80");
	expect(db, "SELECT percentile(9223372036854775807, 0.5)", "9223372036854775807");
}

static void test_sql_errors(void **state)
{
	sqlite3 *db = *state;
	static const char *const fraction = "percentile: the fraction must be a number from 0 to 1";
	static const char *const weight = "percentile: the weight must be a number, and not negative";

	expect(db, TEN "SELECT percentile(x, 99) FROM v", fraction);
	expect(db, TEN "SELECT percentile(x, -0.1) FROM v", fraction);
	expect(db, TEN "SELECT percentile(x, NULL) FROM v", fraction);
	expect(db, TEN "SELECT percentile(x, 'half') FROM v", fraction);
	expect(db, TEN "SELECT percentile(x, x / 100.0) FROM v",
	       "percentile: the fraction must be the same for all rows");
	expect(db, TEN "SELECT percentile('late', 0.5) FROM v", "percentile: the values must be numbers");
	expect(db, TEN "SELECT percentile(x'00', 0.5) FROM v", "percentile: the values must be numbers");
	expect(db, TEN "SELECT percentile(x, 0.5, -1) FROM v", weight);
	expect(db, TEN "SELECT percentile(x, 0.5, 9e999) FROM v", weight);
	expect(db, TEN "SELECT percentile(x, 0.5, 'much') FROM v", weight);
}

static void test_sql_windows(void **state)
{
	sqlite3 *db = *state;

	expect(db, TEN "SELECT percentile(x, 0.5) OVER (ORDER BY x ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) FROM v",
	       "10 10 20 30 40 50 60 70 80 90");
	expect(db, TEN "SELECT percentile(x, 1, nullif(x, 50)) OVER (ORDER BY -x ROWS 1 PRECEDING) FROM v",
	       "100 100 90 80 70 60 40 40 30 20");
	expect(db, TEN "SELECT percentile(x, 0.5) OVER (PARTITION BY x > 30) FROM v", "20 20 20 70 70 70 70 70 70 70");
}

/* A table of random rows, asked in groups, beside the model. */
static void test_sql_against_the_model(void **state)
{
	sqlite3 *db = *state;
	struct nt_rand rand = {7};
	struct pair pairs[300];

	for (unsigned int round = 0; round < 40; round++) {
		size_t n = 1 + nt_rand_below(&rand, 300);
		int64_t thousandths = (int64_t)nt_rand_below(&rand, 1001);
		char sql[200], wanted[32];

		sqlite3_exec(db, "DROP TABLE IF EXISTS t; CREATE TABLE t(x, w)", NULL, NULL, NULL);
		for (size_t i = 0; i < n; i++) {
			pairs[i] = (struct pair){any_value(&rand, round % 4), 1 + (int64_t)nt_rand_below(&rand, 9)};
			snprintf(sql, sizeof(sql), "INSERT INTO t VALUES(%lld, %lld)", (long long)pairs[i].value,
				 (long long)pairs[i].weight);
			sqlite3_exec(db, sql, NULL, NULL, NULL);
		}
		snprintf(wanted, sizeof(wanted), "%lld", (long long)model(pairs, n, thousandths));
		snprintf(sql, sizeof(sql), "SELECT percentile(x, %lld / 1000.0, w) FROM t", (long long)thousandths);
		expect(db, sql, wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_against_the_model),
		cmocka_unit_test(test_a_pool_against_memory),
		cmocka_unit_test(test_many_samples_share_a_pool),
		cmocka_unit_test(test_merged_runs_take_no_room),
		cmocka_unit_test(test_samples_that_are_to_stay_leave_the_pool),
		cmocka_unit_test(test_a_file_that_fails_is_told),
		cmocka_unit_test(test_reals_keep_their_order),
		cmocka_unit_test_setup_teardown(test_sql_values, open_db, close_db),
		cmocka_unit_test_setup_teardown(test_sql_errors, open_db, close_db),
		cmocka_unit_test_setup_teardown(test_sql_windows, open_db, close_db),
		cmocka_unit_test_setup_teardown(test_sql_against_the_model, open_db, close_db),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

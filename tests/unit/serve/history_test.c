// SPDX-License-Identifier: GPL-2.0-only
/*
 * history_test.c - the last minutes of a recording, as the live page gets them, against a model that keeps all: each
 * step of each CPU and owner, and the costs of programs, after random sums of random lengths.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/export/prometheus/parts.h"
#include "report/serve/history.h"
#include "report/timeline/timeline.h"
#include "report/util/array.h"
#include "tests/support/rand.h"
#include "tests/support/scratch_db.h"

#define BUCKET_NS 100000000ll
#define START_TS 1234567890123ll
#define MOST_BUCKETS 60000 /* of a recording */
#define MOST_NEWS 100
#define MOST_CPUS 20
#define NAMES 30

static const int64_t spans_s[] = {60, 300, 3600};
static struct nt_rand random_numbers;

/* What was told, all of it. */
static struct {
	struct nt_session session;
	int64_t n_buckets; /* so far */
	uint32_t n_cpus;
	uint32_t ns[MOST_BUCKETS][MOST_CPUS][NT_OWNER_COUNT];
	size_t n_news;
	struct news {
		int64_t to_ns;
		double total_ns[NAMES], records;
	} news[MOST_NEWS];
} told;

static uint64_t below(uint64_t n)
{
	return nt_rand_below(&random_numbers, n);
}

/* ---- what comes ---- */

static void put_row(struct nt_db *db, uint32_t cpu, int64_t bucket, int64_t n, uint64_t owner, int64_t spent_ns)
{
	scratch_db_run(db,
		       "INSERT INTO cpu_cost(session_id, ts, dur, cpu, utid, owner, spent_ns) "
		       "VALUES (1, %lld, %lld, %u, %llu, '%s', %lld)",
		       (long long)(START_TS + bucket * BUCKET_NS), (long long)(n * BUCKET_NS), cpu,
		       (unsigned long long)below(1000), nt_owner_name((enum nt_owner)owner), (long long)spent_ns);
	for (int64_t i = 0; i < n; i++)
		told.ns[bucket + i][cpu][owner] += (uint32_t)(spent_ns / n);
}

/* One owner for long, or several in a bucket. */
static void fill_cpu(struct nt_db *db, uint32_t cpu, int64_t from, int64_t to)
{
	while (from < to) {
		const int64_t left = to - from;
		int64_t n = below(4) ? 1 : 1 + (int64_t)below((uint64_t)left);
		int64_t part_ns = n > 1 ? 0 : (int64_t)below(BUCKET_NS + 1);
		const uint64_t owner = below(NT_OWNER_COUNT - 1);

		/* Of a long time few rows: they are slow to make. */
		if (left > 20 && n == 1)
			n = left / 4, part_ns = 0;
		if (part_ns)
			put_row(db, cpu, from, n, owner, part_ns);
		if (n * BUCKET_NS - part_ns)
			put_row(db, cpu, from, n, owner + 1, n * BUCKET_NS - part_ns);
		from += n;
	}
}

static void put_groups(struct nt_prometheus_groups *groups, struct news *news)
{
	static const struct nt_sheet sheet;

	for (uint64_t i = below(NAMES); i > 0; i--) {
		const uint64_t name = below(NAMES), ns = below(1000000000);
		struct nt_prometheus_group *group;
		char text[16];

		snprintf(text, sizeof(text), "n%llu", (unsigned long long)name);
		group = nt_prometheus_group(groups, &sheet, text, sizeof(struct nt_prometheus_cost));
		nt_prometheus_cost_add(group->figures, &(struct nt_prometheus_cost){.send_ns = (double)ns});
		group->weight = nt_prometheus_cost_total(group->figures);
		news->total_ns[name] += (double)ns;
	}
}

static void tell(struct nt_history *history, struct nt_db *db, int64_t buckets)
{
	static const struct nt_selection all;
	const struct nt_part part = {.db = db,
				     .session = &told.session,
				     .selection = &all,
				     .from_ts = START_TS,
				     .to_ts = START_TS + (told.n_buckets + buckets) * BUCKET_NS};
	struct nt_prometheus_groups groups[NT_PROMETHEUS_KINDS] = {0};
	struct news *news = &told.news[told.n_news++];

	*news = (struct news){.to_ns = (told.n_buckets + buckets) * BUCKET_NS, .records = (double)below(1000)};
	scratch_db_run(db,
		       "DELETE FROM cpu_cost; DELETE FROM record_count; "
		       "INSERT INTO record_count(session_id, cpu, kind, records, lost) VALUES (1, 0, 'switch', %g, 1)",
		       news->records);
	for (uint32_t cpu = 0; cpu < told.n_cpus; cpu++)
		fill_cpu(db, cpu, told.n_buckets, told.n_buckets + buckets);
	put_groups(&groups[0], news);
	assert_int_equal(nt_history_add(history, &(struct nt_prometheus_news){&part, groups, told.n_news == 1}), 0);
	nt_prometheus_release_groups(&groups[0], NULL);
	told.n_buckets += buckets;
}

/* ---- what is shown ---- */

/* The rows of what ?1 has. */
static sqlite3_stmt *look(struct nt_db *db, const char *json, const char *sql)
{
	sqlite3_stmt *row = nt_db_query(db, sql, 0);

	assert_int_equal(sqlite3_bind_text(row, 1, json, -1, SQLITE_STATIC), SQLITE_OK);
	return row;
}

static int64_t ask(struct nt_db *db, const char *json, const char *sql)
{
	sqlite3_stmt *row = look(db, json, sql);
	int64_t value;

	assert_true(nt_db_next(row));
	value = sqlite3_column_int64(row, 0);
	assert_int_equal(nt_db_end(db, row, "it"), 0);
	return value;
}

static int64_t wanted_ns(int64_t from_ns, int64_t step_ns, int64_t step, uint32_t cpu, uint64_t owner)
{
	const int64_t first = (from_ns + step * step_ns) / BUCKET_NS, n = step_ns / BUCKET_NS;
	int64_t sum = 0;

	for (int64_t i = first; i < first + n && i < told.n_buckets; i++)
		sum += told.ns[i][cpu][owner];
	return sum;
}

/* The sums of an owner on a CPU, or none. SQL would read all of the text for each. */
static const char *find_sums(const char *json, uint32_t cpu, uint64_t owner)
{
	char start[32], name[32];
	const char *at, *found;

	snprintf(start, sizeof(start), "{\"cpu\":%u,\"ns\":", cpu);
	snprintf(name, sizeof(name), "\"%s\":[", nt_owner_name((enum nt_owner)owner));
	at = strstr(json, start);
	assert_non_null(at);
	found = strstr(at, name);
	return found && found < strstr(at, "}}") ? found + strlen(name) : NULL;
}

static int64_t check_owner(const char *json, uint32_t cpu, uint64_t owner, const int64_t times_ns[3])
{
	const int64_t from_ns = times_ns[0], to_ns = times_ns[1], step_ns = times_ns[2];
	const char *at = find_sums(json, cpu, owner);
	int64_t sum_ns = 0;

	for (int64_t step = 0; from_ns + step * step_ns < to_ns; step++) {
		char *end = NULL;
		const int64_t ns = at ? strtoll(at, &end, 10) : 0;

		assert_int_equal(ns, wanted_ns(from_ns, step_ns, step, cpu, owner));
		sum_ns += ns;
		at = at ? end + 1 : NULL;
	}
	assert_true(!at || at[-1] == ']');
	return sum_ns;
}

static void check_costs(struct nt_db *db, const char *json, int64_t span_ns)
{
	const int64_t times_ns[] = {ask(db, json, "SELECT json_extract(?1, '$.live.costs.from_ns')"),
				    ask(db, json, "SELECT json_extract(?1, '$.live.costs.to_ns')"),
				    ask(db, json, "SELECT json_extract(?1, '$.live.costs.step_ns')")};
	const int64_t from_ns = times_ns[0], to_ns = times_ns[1], step_ns = times_ns[2];

	assert_int_equal(to_ns, told.n_buckets * BUCKET_NS);
	assert_int_equal(from_ns % step_ns, 0);
	assert_true(from_ns <= (to_ns > span_ns ? to_ns - span_ns : 0));
	assert_true(to_ns - from_ns <= span_ns + step_ns);
	assert_true(span_ns / step_ns * told.n_cpus <= NT_HISTORY_CELLS || span_ns / step_ns == 60);
	for (uint32_t cpu = 0; cpu < told.n_cpus; cpu++) {
		int64_t sum_ns = 0;

		for (uint64_t owner = 0; owner < NT_OWNER_COUNT; owner++)
			sum_ns += check_owner(json, cpu, owner, times_ns);
		/* Each nanosecond has its owner. */
		assert_int_equal(sum_ns, to_ns - from_ns);
	}
}

static void check_programs(struct nt_db *db, const char *json, int64_t span_ns)
{
	const int64_t from_ns = ask(db, json, "SELECT json_extract(?1, '$.live.tables_from_ns')");
	const int64_t to_ns = told.n_buckets * BUCKET_NS;
	double wanted[NAMES] = {0}, records = 0;
	sqlite3_stmt *row;

	assert_true(from_ns <= (to_ns > span_ns ? to_ns - span_ns : 0));
	for (size_t i = 0; i < told.n_news; i++) {
		const bool counts = told.news[i].to_ns > from_ns;

		for (size_t name = 0; name < NAMES && counts; name++)
			wanted[name] += told.news[i].total_ns[name];
		records += counts ? told.news[i].records : 0;
	}
	assert_true(ask(db, json, "SELECT json_extract(?1, '$.live.records_count')") == (int64_t)records);
	row = look(db, json,
		   "SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM "
		   "json_each(?1, '$.live.tables[0].rows')");
	while (nt_db_next(row)) {
		double *name = &wanted[strtoul(nt_db_text(row, 0) + 1, NULL, 10)];

		assert_true(sqlite3_column_double(row, 1) == *name);
		*name = 0;
	}
	assert_int_equal(nt_db_end(db, row, "it"), 0);
	for (size_t name = 0; name < NAMES; name++)
		assert_true(wanted[name] == 0);
}

static void check(struct nt_history *history, struct nt_db *db)
{
	for (size_t i = 0; i < NT_COUNT(spans_s); i++) {
		char seconds[16], *json;
		size_t window, size;
		FILE *out = open_memstream(&json, &size);

		snprintf(seconds, sizeof(seconds), "%lld", (long long)spans_s[i]);
		assert_true(nt_history_window(seconds, &window));
		assert_int_equal(nt_history_write(history, window, out), 1);
		assert_int_equal(fclose(out), 0);
		check_costs(db, json, spans_s[i] * 1000000000);
		check_programs(db, json, spans_s[i] * 1000000000);
		free(json);
	}
}

/* ---- tests ---- */

static int take_session(void *arg, const struct nt_session *session)
{
	*(struct nt_session *)arg = *session;
	return 0;
}

/* A recording of which nothing was told yet. */
static void begin(struct nt_db *db, uint32_t n_cpus, unsigned int uuid)
{
	memset(&told, 0, sizeof(told));
	told.n_cpus = n_cpus;
	scratch_db_run(db, "UPDATE session SET uuid = '%032x'", uuid);
	assert_int_equal(nt_session_each(db, take_session, &told.session), 0);
}

static int64_t some_buckets(void)
{
	return below(6) ? 1 + (int64_t)below(30) : 1 + (int64_t)below(5000);
}

static void test_against_model(void **state)
{
	static const uint32_t cpus[] = {2, 1, MOST_CPUS};
	struct nt_history *history = nt_history_new();
	struct nt_db *db = scratch_db_new(NULL);

	(void)state;
	scratch_db_session(db, 1, START_TS, INT64_MAX / 2, 2);
	for (unsigned int uuid = 0; uuid < NT_COUNT(cpus); uuid++) {
		begin(db, cpus[uuid], uuid);
		for (int i = 0; i < (cpus[uuid] > 2 ? 15 : 60); i++) {
			/* Now and then nothing has become complete, but there were records. */
			tell(history, db, i && !below(3) ? 0 : some_buckets());
			if (!below(8) || i < 2)
				check(history, db);
		}
		check(history, db);
	}
	/* The same recording, read anew: at once farther than before. */
	begin(db, cpus[NT_COUNT(cpus) - 1], NT_COUNT(cpus) - 1);
	tell(history, db, MOST_BUCKETS - 1);
	check(history, db);
	nt_db_close(db);
	nt_history_free(history);
}

/* Names beyond what memory is for are one. */
static void test_many_names(void **state)
{
	static const struct nt_sheet sheet;
	static const struct nt_selection all;
	struct nt_history *history = nt_history_new();
	struct nt_db *db = scratch_db_new(NULL);
	char *json;
	size_t size;
	FILE *out;

	(void)state;
	scratch_db_session(db, 1, START_TS, INT64_MAX / 2, 1);
	begin(db, 1, 9);
	for (int n = 0; n < 10; n++) {
		const struct nt_part part = {.db = db,
					     .session = &told.session,
					     .selection = &all,
					     .from_ts = START_TS,
					     .to_ts = START_TS + (n + 1) * BUCKET_NS};
		struct nt_prometheus_groups groups[NT_PROMETHEUS_KINDS] = {0};

		scratch_db_run(db, "DELETE FROM cpu_cost");
		put_row(db, 0, n, 1, NT_OWNER_IDLE, BUCKET_NS);
		for (int i = 0; i < 1000; i++) {
			struct nt_prometheus_group *group;
			char text[16];

			snprintf(text, sizeof(text), "n%d", n * 1000 + i);
			group = nt_prometheus_group(&groups[2], &sheet, text, sizeof(struct nt_prometheus_cost));
			nt_prometheus_cost_add(group->figures, &(struct nt_prometheus_cost){.recv_ns = 7});
			group->weight = 7;
		}
		assert_int_equal(nt_history_add(history, &(struct nt_prometheus_news){&part, groups, n == 0}), 0);
		nt_prometheus_release_groups(&groups[2], NULL);
	}
	out = open_memstream(&json, &size);
	assert_int_equal(nt_history_write(history, 0, out), 1);
	fclose(out);
	assert_int_equal(ask(db, json,
			     "SELECT json_extract(?1, '$.live.tables[2].rest[1]') + (SELECT "
			     "sum(json_extract(value, '$[1]')) FROM json_each(?1, '$.live.tables[2].rows'))"),
			 7 * 10000);
	/* 256 names and `other`, of which forty have rows. */
	assert_int_equal(ask(db, json,
			     "SELECT json_extract(?1, '$.live.tables[2].rest_rows') + "
			     "json_array_length(?1, '$.live.tables[2].rows')"),
			 257);
	free(json);
	nt_db_close(db);
	nt_history_free(history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_model),
		cmocka_unit_test(test_many_names),
	};

	random_numbers.state = nt_rand_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

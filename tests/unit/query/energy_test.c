// SPDX-License-Identifier: GPL-2.0-only
/*
 * energy_test.c - the network's part of a package's energy lies between the bounds of the view `energy`, whoever had
 * the uncovered time and whenever a counter had its value. The truth is made of slices; the view has their sums in
 * buckets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/rand.h"
#include "tests/support/scratch_db.h"

#define DRAWS 16
#define MS 1000000ll
#define START (5000 * MS)
#define BUCKET (100 * MS)
#define N_BUCKETS 14
#define LENGTH (N_BUCKETS * BUCKET - 37 * MS)
#define N_CPUS 4
#define N_PACKAGES 2 /* even CPUs and odd ones */
#define MAX_SLICES 2000
#define MAX_READINGS 400

static const char *const owners[] = {"net_rx", "send", "task", "hardirq", "idle", "uncovered"};
enum { NET_RX, SEND, TASK, HARDIRQ, IDLE, UNCOVERED, N_OWNERS };

struct slice {
	int64_t ts, end;
	int owner, truly; /* TASK or SEND, if it is uncovered; else the owner */
};

static struct world {
	struct nt_rand rand;
	struct slice slices[N_CPUS][MAX_SLICES];
	size_t n_slices[N_CPUS];
	struct reading {
		int64_t begin, end, truly; /* when the counter had the value */
		int64_t value;
	} readings[MAX_READINGS];
	size_t n_readings;
	bool is_orderly; /* no idle or uncovered time, and readings where buckets begin */
} world;

static int64_t below(int64_t limit)
{
	return (int64_t)nt_rand_below(&world.rand, (uint64_t)limit);
}

static void draw_slices(uint32_t cpu)
{
	const int64_t longest = 1 + below(below(2) ? 60 * MS : 600 * MS);
	size_t n = 0;

	for (int64_t ts = START; ts < START + LENGTH; n++) {
		struct slice *slice = &world.slices[cpu][n];

		assert_true(n < MAX_SLICES);
		slice->ts = ts;
		ts += 1 * MS + below(longest);
		slice->end = ts < START + LENGTH ? ts : START + LENGTH;
		slice->owner = (int)below(world.is_orderly ? IDLE : N_OWNERS);
		slice->truly = slice->owner != UNCOVERED ? slice->owner : below(2) ? TASK : SEND;
	}
	world.n_slices[cpu] = n;
}

static void draw_readings(void)
{
	size_t n = 0;

	for (int64_t at = START + (world.is_orderly ? 2 : -200) * MS; at < START + LENGTH + 300 * MS; n++) {
		struct reading *reading = &world.readings[n];

		assert_true(n < MAX_READINGS);
		reading->begin = at;
		reading->end = at + below(MS / 5);
		reading->truly = reading->begin - MS + below(reading->end - reading->begin + MS + 1);
		reading->value = (n ? world.readings[n - 1].value : 0) + below(3000000);
		at = world.is_orderly || below(3) ? START + (at - START + BUCKET) / BUCKET * BUCKET + below(MS)
						  : reading->end + MS + below(150 * MS);
	}
	world.n_readings = n;
}

/* How much of a slice lies in the time. */
static int64_t within(const struct slice *slice, int64_t from, int64_t to)
{
	const int64_t ts = slice->ts > from ? slice->ts : from, end = slice->end < to ? slice->end : to;

	return end > ts ? end - ts : 0;
}

static void put_cost(struct nt_db *db, uint32_t cpu, int64_t ts, int64_t end, int owner, int64_t ns)
{
	scratch_db_run(db,
		       "INSERT INTO cpu_cost(session_id, ts, dur, cpu, owner, utid, spent_ns) VALUES (1, %lld, %lld, "
		       "%u, '%s', 1, %lld)",
		       (long long)ts, (long long)(end - ts), cpu, owners[owner], (long long)ns);
}

/* A slice that fills several buckets in a row is one row there. */
static int64_t put_long(struct nt_db *db, uint32_t cpu, int64_t ts)
{
	for (size_t i = 0; i < world.n_slices[cpu]; i++) {
		const struct slice *slice = &world.slices[cpu][i];
		const int64_t end = slice->end - (slice->end - START) % BUCKET;

		if (slice->ts > ts || end < ts + 2 * BUCKET)
			continue;
		put_cost(db, cpu, ts, end, slice->owner, end - ts);
		return end;
	}
	return ts;
}

static void put_costs(struct nt_db *db, uint32_t cpu)
{
	for (int64_t ts = START, end; ts < START + LENGTH; ts = end) {
		int64_t sums[N_OWNERS] = {0};

		end = put_long(db, cpu, ts);
		if (end > ts)
			continue;
		end = ts + BUCKET < START + LENGTH ? ts + BUCKET : START + LENGTH;
		for (size_t i = 0; i < world.n_slices[cpu]; i++)
			sums[world.slices[cpu][i].owner] += within(&world.slices[cpu][i], ts, end);
		for (int owner = 0; owner < N_OWNERS; owner++)
			if (sums[owner])
				put_cost(db, cpu, ts, end, owner, sums[owner]);
	}
}

#define PUT_COUNTER                                                                                                    \
	"INSERT INTO proc_counter(session_id, ts_begin, ts_end, source, cpu, name, value) VALUES (1, %lld, %lld, "

static void put_readings(struct nt_db *db)
{
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		scratch_db_run(db, PUT_COUNTER "'/sys/devices/system/cpu', %u, 'package', %u)", START, START, cpu,
			       cpu % N_PACKAGES);
	for (size_t i = 0; i < world.n_readings; i++) {
		const struct reading *reading = &world.readings[i];

		for (uint32_t package = 0; package < N_PACKAGES; package++)
			scratch_db_run(db, PUT_COUNTER "'/sys/class/powercap', NULL, 'package-%u', %lld)",
				       (long long)reading->begin, (long long)reading->end, package,
				       (long long)reading->value);
		scratch_db_run(db, PUT_COUNTER "'/sys/class/powercap', NULL, 'package-0.dram', 1)",
			       (long long)reading->begin, (long long)reading->end);
	}
}

/* The network's part of what the package used between the two readings. */
static double truth(uint32_t package, const struct reading *from, const struct reading *to)
{
	int64_t network = 0, busy = 0;

	for (uint32_t cpu = package; cpu < N_CPUS; cpu += N_PACKAGES)
		for (size_t i = 0; i < world.n_slices[cpu]; i++) {
			const struct slice *slice = &world.slices[cpu][i];
			const int64_t ns = within(slice, from->truly, to->truly);

			network += slice->truly <= SEND ? ns : 0;
			busy += slice->truly != IDLE ? ns : 0;
		}
	return busy ? (double)(to->value - from->value) * (double)network / (double)busy : 0;
}

static void judge(sqlite3_stmt *row, size_t at, uint32_t package, bool is_part)
{
	const struct reading *from = &world.readings[at - 1], *to = &world.readings[at];
	const int64_t energy = sqlite3_column_int64(row, 2), least = sqlite3_column_int64(row, 4),
		      most = sqlite3_column_int64(row, 5);
	const double is = truth(package, from, to);

	assert_int_equal(sqlite3_column_int64(row, 0), from->end);
	assert_int_equal(sqlite3_column_int64(row, 1), to->end - from->end);
	assert_int_equal(sqlite3_column_type(row, 3) == SQLITE_NULL, is_part || to->end - from->end < 50 * MS ||
									     from->begin - MS < START ||
									     to->end > START + LENGTH);
	if (sqlite3_column_type(row, 3) == SQLITE_NULL)
		return;
	assert_int_equal(energy, to->value - from->value);
	assert_true(sqlite3_column_int64(row, 6) >= from->end - from->truly);
	if ((double)least > is || is > (double)most)
		fail_msg("the network used %f uJ of package-%u, and not from %lld to %lld", is, package,
			 (long long)least, (long long)most);
	assert_true(least <= sqlite3_column_int64(row, 3) && sqlite3_column_int64(row, 3) <= most);
	/* Two edges of 2.2 ms each may be anybody's. */
	if (world.is_orderly && to->end - from->end >= 97 * MS)
		assert_true(most - least <= energy / 10 + 2);
}

static void bounds_hold(void **state)
{
	static const char *const zones[] = {"package-0", "package-1", "package-0.dram"};

	(void)state;
	world.rand = (struct nt_rand){nt_rand_seed()};
	for (int draw = 0; draw < DRAWS; draw++) {
		struct nt_db *db = scratch_db_new(NULL);

		world.is_orderly = draw % 2;
		scratch_db_session(db, 1, START, START + LENGTH, N_CPUS);
		for (uint32_t cpu = 0; cpu < N_CPUS; cpu++) {
			draw_slices(cpu);
			put_costs(db, cpu);
		}
		draw_readings();
		put_readings(db);
		for (uint32_t zone = 0; zone < 3; zone++) {
			sqlite3_stmt *row = nt_db_query(
				db,
				"SELECT ts, dur, energy_uj, network_uj, network_least_uj, network_most_uj, "
				"uncertainty_ns FROM energy WHERE session_id = ?1 AND zone = ?2 ORDER BY ts",
				1);
			size_t at = 1;

			sqlite3_bind_text(row, 2, zones[zone], -1, SQLITE_STATIC);
			for (; nt_db_next(row); at++)
				judge(row, at, zone, zone == 2);
			assert_int_equal(nt_db_end(db, row, "the view cannot be read"), 0);
			assert_int_equal(at, world.n_readings);
		}
		nt_db_close(db);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(bounds_hold)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * lanes_test.c - lanes.c beside a model that looks at each nanosecond by itself; and pictures of lanes, by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/query/cpus/lanes.h"
#include "report/query/cpus/result.h"
#include "tests/support/rand.h"
#include "tests/support/scratch_db.h"

#define MAX_SPAN 400
#define MAX_CPUS 4
#define MAX_UTIDS 5

/* Of each nanosecond of the stretch. */
struct model {
	int64_t from_ts, to_ts;
	uint32_t columns, n_cpus;
	struct {
		unsigned int kind; /* NT_LANE_KINDS: no slice has it */
		int64_t utid;
	} at[MAX_CPUS][MAX_SPAN];
};

/* Cuts each CPU's time into slices, from somewhat before the stretch to somewhat behind it, now and then with a gap. */
static void any_slices(struct nt_rand *rand, struct model *model, struct nt_lanes *lanes)
{
	for (uint32_t i = 0; i < MAX_CPUS * MAX_SPAN; i++)
		model->at[i / MAX_SPAN][i % MAX_SPAN].kind = NT_LANE_KINDS;
	for (uint32_t cpu = 0; cpu < model->n_cpus; cpu++) {
		for (int64_t ts = model->from_ts - 20; ts < model->to_ts + 20;) {
			struct nt_lane_slice slice = {
				.ts = ts,
				.dur = (int64_t)nt_rand_below(rand, nt_rand_below(rand, 5) ? 12 : 150),
				.cpu = 7 * (model->n_cpus - cpu),
				.kind = (unsigned int)nt_rand_below(rand, NT_LANE_KINDS),
				.utid = (int64_t)nt_rand_below(rand, MAX_UTIDS) - 1,
			};

			ts += slice.dur;
			if (!nt_rand_below(rand, 20))
				continue;
			assert_int_equal(nt_lanes_add(lanes, &slice), 0);
			for (int64_t at = slice.ts; at < ts; at++) {
				if (at < model->from_ts || at >= model->to_ts)
					continue;
				model->at[cpu][at - model->from_ts].kind = slice.kind;
				model->at[cpu][at - model->from_ts].utid = slice.utid;
			}
		}
	}
}

/* The column of a nanosecond: the last whose begin, rounded down, is not after it. */
static uint32_t model_column(const struct model *model, uint64_t since)
{
	uint64_t span = (uint64_t)(model->to_ts - model->from_ts);
	uint32_t column = model->columns - 1;

	while (span * column / model->columns > since)
		column--;
	return column;
}

static void compare_lane(const struct model *model, uint32_t cpu, const struct nt_lane *lane)
{
	static uint64_t cells[MAX_SPAN][NT_LANE_KINDS];
	uint64_t total[NT_LANE_KINDS] = {0};

	memset(cells, 0, sizeof(cells));
	for (uint64_t since = 0; since < (uint64_t)(model->to_ts - model->from_ts); since++) {
		unsigned int kind = model->at[cpu][since].kind;

		if (kind == NT_LANE_KINDS)
			continue;
		cells[model_column(model, since)][kind]++;
		total[kind]++;
	}
	assert_memory_equal(total, lane->total, sizeof(total));
	for (uint32_t column = 0; column < model->columns; column++)
		assert_memory_equal(cells[column], &lane->cells[column * NT_LANE_KINDS], sizeof(cells[0]));
}

static void compare_who(const struct model *model, const struct nt_lanes *lanes)
{
	uint64_t ns[MAX_UTIDS][NT_LANE_KINDS] = {0}, before = UINT64_MAX;

	for (uint32_t cpu = 0; cpu < model->n_cpus; cpu++) {
		for (int64_t i = 0; i < model->to_ts - model->from_ts; i++) {
			unsigned int kind = model->at[cpu][i].kind;

			if (kind < NT_LANE_OTHER && model->at[cpu][i].utid >= 0)
				ns[model->at[cpu][i].utid][kind]++;
		}
	}
	for (size_t i = 0; i < lanes->n_who; i++) {
		uint64_t ran = nt_lane_who_ran(&lanes->who[i]);

		assert_in_range(lanes->who[i].utid, 0, MAX_UTIDS - 1);
		assert_memory_equal(ns[lanes->who[i].utid], lanes->who[i].ns, sizeof(ns[0]));
		memset(ns[lanes->who[i].utid], 0, sizeof(ns[0]));
		assert_true(ran <= before);
		before = ran;
	}
	for (int64_t utid = 0; utid < MAX_UTIDS; utid++)
		assert_int_equal(nt_lane_sum(ns[utid], ~0u), 0);
}

static void test_against_the_model(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};
	static struct model model;

	(void)state;
	for (unsigned int round = 0; round < 400; round++) {
		struct nt_lanes lanes;

		model.from_ts = (int64_t)nt_rand_below(&rand, 2) * 1000000 + (int64_t)nt_rand_below(&rand, 100);
		model.to_ts = model.from_ts + 1 + (int64_t)nt_rand_below(&rand, MAX_SPAN);
		model.n_cpus = 1 + (uint32_t)nt_rand_below(&rand, MAX_CPUS);
		nt_lanes_init(&lanes, model.from_ts, model.to_ts, 1 + (uint32_t)nt_rand_below(&rand, 100));
		model.columns = lanes.columns;
		assert_true(lanes.columns <= model.to_ts - model.from_ts);
		any_slices(&rand, &model, &lanes);
		nt_lanes_order(&lanes);
		for (uint32_t cpu = 0; cpu < model.n_cpus; cpu++) {
			for (size_t i = 0; i < lanes.n; i++) {
				assert_true(!i || lanes.lanes[i].cpu > lanes.lanes[i - 1].cpu);
				if (lanes.lanes[i].cpu == 7 * (model.n_cpus - cpu))
					compare_lane(&model, cpu, &lanes.lanes[i]);
			}
		}
		compare_who(&model, &lanes);
		nt_lanes_release(&lanes);
	}
}

static void test_the_longest_time(void **state)
{
	struct nt_lane_slice slice = {.ts = 0, .dur = INT64_MAX, .kind = NT_OWNER_SEND, .utid = 1};
	struct nt_lanes lanes;
	uint64_t sum = 0;

	(void)state;
	nt_lanes_init(&lanes, 0, INT64_MAX, 1000);
	assert_int_equal(nt_lanes_add(&lanes, &slice), 0);
	for (uint32_t column = 0; column < 1000; column++) {
		int64_t begin = nt_lanes_column_ts(&lanes, column), end = nt_lanes_column_ts(&lanes, column + 1);

		assert_int_equal(nt_lane_cell(&lanes.lanes[0], column, ~0u), end - begin);
		assert_int_equal(nt_lanes_column_of(&lanes, begin), column);
		assert_int_equal(nt_lanes_column_of(&lanes, end - 1), column);
		sum += nt_lane_cell(&lanes.lanes[0], column, NT_NETWORK_OWNERS);
	}
	assert_int_equal(sum, INT64_MAX);
	nt_lanes_release(&lanes);
}

static void test_too_many_cpus(void **state)
{
	struct nt_lane_slice slice = {.ts = 0, .dur = 1, .kind = NT_OWNER_TASK, .utid = -1};
	struct nt_lanes lanes;
	int error = 0;

	(void)state;
	nt_lanes_init(&lanes, 0, 1, 5);
	assert_int_equal(lanes.columns, 1);
	for (; slice.cpu <= NT_LANE_MAX_CPUS && !error; slice.cpu++)
		error = nt_lanes_add(&lanes, &slice);
	assert_int_equal(error, -ERANGE);
	assert_int_equal(lanes.n, NT_LANE_MAX_CPUS);
	assert_int_equal(lanes.n_who, 0);
	nt_lanes_release(&lanes);
}

/* Threads that ran equally long are in the order of their numbers, in whichever they came. */
static void test_who_is_first(void **state)
{
	static const int64_t came[] = {3, 1, 4, 2, 5}, wanted[] = {4, 1, 2, 3, 5};
	struct nt_lane_slice slice = {.kind = NT_OWNER_TASK};
	struct nt_lanes lanes;

	(void)state;
	nt_lanes_init(&lanes, 0, 1000, 1);
	for (size_t i = 0; i < 5; i++) {
		slice.utid = came[i];
		slice.dur = came[i] == 4 ? 20 : 10;
		assert_int_equal(nt_lanes_add(&lanes, &slice), 0);
		slice.ts += slice.dur;
	}
	nt_lanes_order(&lanes);
	assert_int_equal(lanes.n_who, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(lanes.who[i].utid, wanted[i]);
	nt_lanes_release(&lanes);
}

/* ---- drawing ---- */

static void expect_line(const struct nt_lanes *lanes, const struct nt_terminal *terminal, const char *line)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	nt_lanes_draw(lanes, out, 0, terminal);
	fclose(out);
	if (!strstr(text, line))
		fail_msg("'%s' is not in:\n%s", line, text);
	free(text);
}

/* Cells of a microsecond each, with so much of the network, before and behind every bound of a look. */
static void test_drawing_of_shares(void **state)
{
	static const int64_t parts[] = {0,   1,	  9,   10,  20,	 21,  49,  50,	51,  99,  100, 120,
					121, 199, 200, 250, 251, 500, 501, 750, 751, 999, 1000};
	const uint32_t n = sizeof(parts) / sizeof(parts[0]);
	struct nt_lanes lanes;

	(void)state;
	nt_lanes_init(&lanes, 0, n * 1000, n);
	for (uint32_t i = 0; i < n; i++) {
		struct nt_lane_slice net = {.ts = i * 1000, .dur = parts[i], .kind = NT_OWNER_NET_RX, .utid = -1};
		struct nt_lane_slice rest = {.ts = i * 1000 + parts[i], .dur = 1000 - parts[i], .utid = -1};

		rest.kind = NT_OWNER_TASK;
		assert_int_equal(nt_lanes_add(&lanes, &net), 0);
		assert_int_equal(nt_lanes_add(&lanes, &rest), 0);
	}
	nt_lanes_order(&lanes);
	expect_line(&lanes, &(struct nt_terminal){.width = 80}, "    net | ..----+++111122255779#|\n");
	expect_line(&lanes, &(struct nt_terminal){.width = 80, .utf8 = true}, "    net | ▁▁▁▁▂▂▂▃▃▃▃▄▄▄▄▅▅▆▆▇▇█|\n");
	expect_line(&lanes, &(struct nt_terminal){.width = 80}, "  CPU 0 |tttttttttttttttttRRRRRR|\n");
	/* A label that has no room is left out. */
	expect_line(&lanes, &(struct nt_terminal){.width = 80},
		    "        +|----|----|----|----|--+\n"
		    "      s  0    0.000005  0.000015\n");
	nt_lanes_release(&lanes);
}

/* The owner that a cell shows: the network stack counts as one. */
static void test_most(void **state)
{
	uint64_t cell[NT_LANE_KINDS] = {0};
	struct nt_lane lane = {.cells = cell};

	(void)state;
	assert_int_equal(nt_lane_most(&lane, 0), NT_LANE_KINDS);
	cell[NT_OWNER_TASK] = 40;
	cell[NT_OWNER_IDLE] = 20;
	assert_int_equal(nt_lane_most(&lane, 0), NT_OWNER_TASK);
	cell[NT_OWNER_SEND] = 15;
	cell[NT_OWNER_NET_RX] = 24;
	assert_int_equal(nt_lane_most(&lane, 0), NT_OWNER_TASK);
	cell[NT_OWNER_RECV] = 1;
	assert_int_equal(nt_lane_most(&lane, 0), NT_OWNER_NET_RX);
	cell[NT_LANE_OTHER] = 41;
	assert_int_equal(nt_lane_most(&lane, 0), NT_LANE_OTHER);
}

static void test_words(void **state)
{
	(void)state;
	assert_int_equal(nt_lane_kinds_of("network"), nt_lane_kinds_of("send") | nt_lane_kinds_of("recv") |
							      nt_lane_kinds_of("net_rx") | nt_lane_kinds_of("net_tx"));
	assert_int_equal(nt_lane_kinds_of("uncovered"), 1u << NT_OWNER_UNCOVERED);
	assert_int_equal(nt_lane_kinds_of("other"), 0);
	assert_int_equal(nt_lane_kinds_of(""), 0);
}

/* SQLite takes no text as long: that is said. */
static void test_sums_that_sqlite_refuses(void **state)
{
	struct nt_lanes_softirq softirqs[20] = {};
	const struct nt_session session = {.id = 1};
	struct nt_db *db = scratch_db_new(NULL);
	struct nt_lanes_beside beside = {
		.part = {.db = db, .session = &session}, .softirqs = softirqs, .n_softirqs = 20};
	uint32_t text;
	bool is_new;

	(void)state;
	text = nt_texts_number(&beside.texts, "NET_RX", &is_new);
	for (unsigned int i = 0; i < 20; i++)
		softirqs[i].vec = softirqs[i].context = text;
	sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, 500);
	assert_null(nt_lanes_softirqs(&beside));
	assert_non_null(strstr(db->error, "memory"));
	nt_db_close(db);
	nt_texts_release(&beside.texts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_the_model),
		cmocka_unit_test(test_the_longest_time),
		cmocka_unit_test(test_too_many_cpus),
		cmocka_unit_test(test_who_is_first),
		cmocka_unit_test(test_drawing_of_shares),
		cmocka_unit_test(test_most),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_sums_that_sqlite_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * window_test.c - rows of a window in time and of some CPUs are those of the whole tape that lie in it, and few blocks
 * are opened for them. The slow, obvious way is to read everything and keep what lies in the window.
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
#include <unistd.h>

#include "report/db/load.h"
#include "report/rows/rows.h"
#include "report/util/array.h"
#include "tests/support/rand.h"
#include "tests/support/random_host.h"
#include "tests/support/scratch.h"
#include "tests/support/traffic.h"

#define US 1000ull
#define MS 1000000ull
#define S 1000000000ull
#define N_CPUS RANDOM_HOST_CPUS
#define PROBES RANDOM_HOST_PROBES

struct fixture {
	char dir[SCRATCH_MAX];
	char path[2 * SCRATCH_MAX];
	struct nt_tape *tape;
	struct nt_learned *learned;
	uint64_t end; /* of the session, since its start */
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	scratch_make(fixture->dir);
	*state = fixture;
	return 0;
}

static void close_tape(struct fixture *fixture)
{
	nt_learned_free(fixture->learned);
	nt_tape_close(fixture->tape);
	fixture->learned = NULL;
	fixture->tape = NULL;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	close_tape(fixture);
	scratch_remove(fixture->dir);
	free(fixture);
	return 0;
}

static void open_tape(struct fixture *fixture)
{
	char error[NT_ERROR_MAX];

	if (nt_tape_open(&fixture->tape, fixture->path, error))
		fail_msg("%s", error);
	assert_int_equal(nt_learned_new(&fixture->learned, fixture->tape), 0);
}

/* ---- rows ---- */

struct kept_row {
	enum nt_table_id table;
	int64_t cpu; /* -1: its table has none */
	bool has_ts;
	uint64_t ts, dur;
	uint64_t stack, user_stack; /* of a sample or a frame; 0: none */
	bool has_tid;
	char *text; /* without these times */
};

struct kept {
	struct kept_row *rows;
	size_t n, size;
};

static void release(struct kept *kept)
{
	for (size_t i = 0; i < kept->n; i++)
		free(kept->rows[i].text);
	free(kept->rows);
	*kept = (struct kept){.n = 0};
}

/* A flow that is drawn depends on what packets cost before: more of that is known of the whole tape. */
static bool is_drawn(const struct nt_row *row, uint32_t column)
{
	return row->table == NT_TABLE_STACK_SAMPLE && column == NT_COLUMN(stack_sample, flow_id) &&
	       !nt_integer(NT_VALUE(row, stack_sample, flow_is_exact), 1);
}

static char *text_of(const struct nt_row *row)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, "%s", nt_table(row->table)->name);
	for (uint32_t i = 1; i < row->n; i++) {
		const char *name = nt_table(row->table)->columns[i].name;

		if (!strcmp(name, "ts") || (!strcmp(name, "dur") && row->values[i].type == NT_VALUE_INTEGER))
			continue;
		if (is_drawn(row, i))
			fprintf(out, " drawn");
		else if (row->values[i].type == NT_VALUE_INTEGER)
			fprintf(out, " %lld", (long long)row->values[i].integer);
		else
			fprintf(out, " %s", row->values[i].type == NT_VALUE_TEXT ? row->values[i].text : "-");
	}
	fclose(out);
	return text;
}

static void keep(struct kept *kept, const struct nt_row *row)
{
	const struct nt_table *table = nt_table(row->table);
	struct kept_row *to;

	assert_int_equal(NT_ROOM(kept->rows, kept->size, kept->n + 1), 0);
	to = &kept->rows[kept->n++];
	*to = (struct kept_row){.table = row->table, .cpu = -1, .text = text_of(row)};
	for (uint32_t i = 1; i < row->n; i++) {
		const bool is_known = row->values[i].type == NT_VALUE_INTEGER;
		const uint64_t value = is_known ? (uint64_t)row->values[i].integer : 0;

		if (!strcmp(table->columns[i].name, "ts")) {
			to->has_ts = true;
			to->ts = value;
		}
		if (!strcmp(table->columns[i].name, "dur"))
			to->dur = value;
		if (!strcmp(table->columns[i].name, "stack_id"))
			to->stack = value;
		if (!strcmp(table->columns[i].name, "user_stack_id"))
			to->user_stack = value;
		if (!strcmp(table->columns[i].name, "tid"))
			to->has_tid = is_known;
		if (!strcmp(table->columns[i].name, "cpu"))
			to->cpu = is_known ? (int64_t)value : UINT32_MAX;
	}
}

static void read_rows(const struct fixture *fixture, const struct nt_rows_want *wanted, struct kept *kept)
{
	struct nt_rows_want want = *wanted;
	const struct nt_row *row;
	struct nt_row_iter *rows;
	int result;

	want.learned = fixture->learned;
	assert_int_equal(nt_rows_open(&rows, fixture->tape, NULL, 1, &want), 0);
	while (!(result = nt_row_next(rows, &row)))
		keep(kept, row);
	assert_int_equal(result, 1);
	nt_row_close(rows);
}

/* ---- the slow way ---- */

static struct nt_view_time time_of(const struct fixture *fixture, const struct nt_view *view)
{
	return nt_view_time(view, fixture->tape->start_ns, fixture->tape->end_ns);
}

static bool is_in_time(const struct fixture *fixture, const struct kept_row *row, const struct nt_rows_want *want)
{
	const uint64_t from_ns = want->view.from_ns, to_ns = want->view.to_ns;
	const struct nt_view_time time = time_of(fixture, &want->view);

	if (want->begun_within)
		return from_ns <= row->ts && row->ts < to_ns;
	if (nt_tables_of(NT_FROM(BLOCKS)) >> row->table & 1)
		return true;
	if (row->table == NT_TABLE_SOCK_OP && nt_view_has(&time, row->ts + row->dur))
		return true;
	if (row->table == NT_TABLE_SOCK_OP && !want->all_ops)
		return false;
	return row->ts < to_ns && (row->dur ? row->ts + row->dur > from_ns : row->ts >= from_ns);
}

/* Sums are other rows, and the session has other times. */
static bool is_in(const struct fixture *fixture, const struct kept_row *row, const struct nt_rows_want *want)
{
	const uint64_t others = nt_tables_of(NT_FROM(SUMS) | NT_FROM(CHARGES)) | NT_TABLE_BIT(NT_TABLE_SESSION);

	if (!(want->tables & NT_TABLE_BIT(row->table)) || others >> row->table & 1)
		return false;
	if (want->view.cpus && row->cpu != -1 && (row->cpu >= N_CPUS || !want->view.cpus[row->cpu]))
		return false;
	return !row->has_ts || !nt_view_is_timed(&want->view) || is_in_time(fixture, row, want);
}

/* The row as the view has it: it begins and ends with a slice. */
static char *text_in(const struct fixture *fixture, const struct kept_row *row, const struct nt_rows_want *want)
{
	const struct nt_view_time time = time_of(fixture, &want->view);
	uint64_t ts = row->ts, dur = row->dur;
	char *text;

	if (row->table == NT_TABLE_CPU_SLICE && !want->begun_within)
		nt_view_clip(&time, &ts, &dur);
	assert_true(asprintf(&text, "%s at %llu for %llu", row->text, (unsigned long long)ts, (unsigned long long)dur) >
		    0);
	return text;
}

/* The next row of a table and CPU, from *at on, that lies in the window; NULL: none. The caller frees it. */
static char *next_of(const struct fixture *fixture, const struct kept *kept, size_t *at, enum nt_table_id table,
		     int64_t cpu, const struct nt_rows_want *want)
{
	while (*at < kept->n) {
		const struct kept_row *row = &kept->rows[(*at)++];

		if (row->table == table && row->cpu == cpu && is_in(fixture, row, want))
			return text_in(fixture, row, want);
	}
	return NULL;
}

/* The same rows in the same order, of each table that is wanted and each CPU. */
static void compare_events(const struct fixture *fixture, const char *name, const struct kept *all,
			   const struct kept *some, const struct nt_rows_want *want)
{
	for (int table = 0; table < NT_TABLE_COUNT; table++) {
		for (int64_t cpu = -1; cpu < N_CPUS && want->tables >> table & 1; cpu++) {
			size_t in_all = 0, in_some = 0;
			bool has_more;

			do {
				char *expected = next_of(fixture, all, &in_all, (enum nt_table_id)table, cpu, want);
				char *text = next_of(fixture, some, &in_some, (enum nt_table_id)table, cpu, want);

				if (!expected != !text || (text && strcmp(text, expected) != 0))
					fail_msg("%s: CPU %lld, %llu to %llu: \"%s\" and not \"%s\"", name,
						 (long long)cpu, (unsigned long long)want->view.from_ns,
						 (unsigned long long)want->view.to_ns, text ? text : "no row",
						 expected ? expected : "no row");
				has_more = text;
				free(expected);
				free(text);
			} while (has_more);
		}
	}
}

/* And no others. */
static void compare(const struct fixture *fixture, const char *name, const struct kept *all, const struct kept *some,
		    const struct nt_rows_want *want)
{
	compare_events(fixture, name, all, some, want);
	for (size_t i = 0; i < some->n; i++) {
		const uint64_t is_row = ~nt_tables_of(NT_FROM(SUMS) | NT_FROM(CHARGES) | NT_FROM(ALL));

		if (is_row >> some->rows[i].table & 1 && !is_in(fixture, &some->rows[i], want))
			fail_msg("%s: \"%s\" is not in the window %llu to %llu", name, some->rows[i].text,
				 (unsigned long long)want->view.from_ns, (unsigned long long)want->view.to_ns);
	}
}

/* ---- windows ---- */

static void choose_window(const struct fixture *fixture, struct nt_rand *rand, uint8_t cpus[N_CPUS],
			  struct nt_rows_want *want)
{
	uint64_t length = nt_rand_below(rand, 2) ? nt_rand_below(rand, 20 * MS) : nt_rand_below(rand, fixture->end);

	want->view.from_ns = GEN_START_NS + nt_rand_below(rand, fixture->end);
	/* About the session's start, with which operations begin that were open before it. */
	if (!nt_rand_below(rand, 4))
		want->view.from_ns = nt_rand_below(rand, 2) ? GEN_START_NS - nt_rand_below(rand, 2) : 0;
	want->view.to_ns =
		nt_rand_below(rand, 8) ? (want->view.from_ns ? want->view.from_ns : GEN_START_NS) + length : UINT64_MAX;
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		cpus[cpu] = (uint8_t)nt_rand_below(rand, 2);
	want->view.cpus = nt_rand_below(rand, 2) ? cpus : NULL;
	want->begun_within = nt_rand_below(rand, 2);
	want->all_ops = nt_rand_below(rand, 2);
}

/* All tables; some together; and each of those that a window saves work for alone. 0: there are no more. */
static uint64_t table_set(size_t i)
{
	uint64_t alone = nt_tables_of(NT_FROM(LOOSE) | NT_FROM(SPANS) | NT_FROM(LOSSES) | NT_FROM(SLICES) |
				      NT_FROM(SAMPLES) | NT_FROM(STAYS) | NT_FROM(OPERATIONS));

	if (i < 2)
		return i ? NT_TABLE_BIT(NT_TABLE_CPU_SLICE) | NT_TABLE_BIT(NT_TABLE_SCHED_SLICE) |
				       NT_TABLE_BIT(NT_TABLE_LOSS) | NT_TABLE_BIT(NT_TABLE_STACK_SAMPLE) |
				       NT_TABLE_BIT(NT_TABLE_PROCESS) | NT_TABLE_BIT(NT_TABLE_CLOCK_SNAPSHOT)
			 : NT_ALL_TABLES;
	while (i-- > 2)
		alone &= alone - 1;
	return alone & -alone;
}

/* ---- names of what is in a window ---- */

static bool has_row(const struct kept *kept, const struct kept_row *row)
{
	return NT_ANY(kept->n, i,
		      kept->rows[i].table == row->table && kept->rows[i].ts == row->ts &&
			      kept->rows[i].dur == row->dur && !strcmp(kept->rows[i].text, row->text));
}

static bool is_sampled(const struct kept *some, uint64_t stack)
{
	return NT_ANY(some->n, i,
		      some->rows[i].table == NT_TABLE_STACK_SAMPLE &&
			      (some->rows[i].stack == stack || some->rows[i].user_stack == stack));
}

/* Whatever the window's samples and rows can be named by is there, and is what the whole tape says. */
static void check_names(const struct fixture *fixture, const char *name, const struct kept *all,
			const struct nt_rows_want *wanted)
{
	struct nt_rows_want want = *wanted;
	struct kept some = {.n = 0};

	want.tables = NT_TABLE_BIT(NT_TABLE_STACK_SAMPLE) | NT_TABLE_BIT(NT_TABLE_LOSS) |
		      NT_TABLE_BIT(NT_TABLE_CPU_SLICE) | NT_TABLE_BIT(NT_TABLE_THREAD) | NT_TABLE_BIT(NT_TABLE_FRAME);
	want.names_within = true;
	read_rows(fixture, &want, &some);
	for (size_t i = 0; i < all->n; i++) {
		const struct kept_row *row = &all->rows[i];
		const bool is_needed = (row->table == NT_TABLE_THREAD && row->has_tid) ||
				       (row->table == NT_TABLE_FRAME && is_sampled(&some, row->stack));

		if (is_needed && !has_row(&some, row))
			fail_msg("%s: no \"%s\"", name, row->text);
	}
	for (size_t i = 0; i < some.n; i++) {
		const bool is_name = !some.rows[i].has_ts;

		if (is_name && !has_row(all, &some.rows[i]))
			fail_msg("%s: \"%s\" is of no tape", name, some.rows[i].text);
	}
	want.tables &= ~(NT_TABLE_BIT(NT_TABLE_THREAD) | NT_TABLE_BIT(NT_TABLE_FRAME));
	compare_events(fixture, name, all, &some, &want);
	release(&some);
}

static int64_t number(const struct nt_row *row, const char *column)
{
	return nt_row_value(row, column)->integer;
}

/* The charges on each CPU are the time of net_rx there, and all packets count. Of some samples the flow is told. */
static void check_charges(const struct fixture *fixture, const char *name)
{
	const struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_CPU_COST) | NT_TABLE_BIT(NT_TABLE_RX_COST) |
						    NT_TABLE_BIT(NT_TABLE_RX_STRETCH) |
						    NT_TABLE_BIT(NT_TABLE_STACK_SAMPLE),
					  .learned = fixture->learned};
	int64_t ns[N_CPUS] = {0}, packets[N_CPUS] = {0}, charged = 0, told = 0;
	const struct nt_row *row;
	struct nt_row_iter *rows;

	assert_int_equal(nt_rows_open(&rows, fixture->tape, NULL, 1, &want), 0);
	while (!nt_row_next(rows, &row)) {
		const int64_t cpu = number(row, "cpu");

		if (row->table == NT_TABLE_CPU_COST) {
			ns[cpu] += strcmp(nt_row_value(row, "owner")->text, "net_rx") ? 0 : number(row, "spent_ns");
		} else if (row->table == NT_TABLE_RX_COST) {
			ns[cpu] -= number(row, "spent_ns");
			packets[cpu] -= number(row, "packets");
			charged += number(row, "exact_ns");
		} else if (row->table == NT_TABLE_STACK_SAMPLE) {
			told += nt_integer(NT_VALUE(row, stack_sample, flow_is_exact), 0);
		} else if (!number(row, "is_steered")) {
			packets[cpu] += number(row, "packets");
		}
	}
	nt_row_close(rows);
	for (int cpu = 0; cpu < N_CPUS; cpu++) {
		if (ns[cpu] || packets[cpu])
			fail_msg("%s: CPU %d: charged are %lld ns too few, and %lld packets", name, cpu,
				 (long long)ns[cpu], (long long)packets[cpu]);
	}
	assert_true(charged > 0);
	assert_true(told > 0);
}

/* ---- sums of a view ---- */

#define MAX_SUMS 2000

struct sum {
	char key[100];
	int64_t ns, ops, bytes;
};

struct sums {
	struct sum sums[MAX_SUMS];
	size_t n;
};

static struct sum *find_sum(struct sums *sums, const char *key)
{
	const size_t i = NT_FIRST(sums->n, k, !strcmp(sums->sums[k].key, key));

	assert_true(i < MAX_SUMS);
	if (i == sums->n)
		snprintf(sums->sums[sums->n++].key, sizeof(sums->sums[0].key), "%s", key);
	return &sums->sums[i];
}

static int64_t id(const struct nt_row *row, const char *column)
{
	return nt_integer(nt_row_value(row, column), -1);
}

static const char *word(const struct nt_row *row, const char *column)
{
	return nt_row_value(row, column)->text;
}

/* Of an owner's time, and of net_rx again, as what is charged there. */
static void add_time(struct sums *sums, const struct nt_row *row, const char *owner, int64_t ns)
{
	char key[100];

	if (row->table != NT_TABLE_RX_COST) {
		snprintf(key, sizeof(key), "CPU %lld: %s of %lld", (long long)id(row, "cpu"), owner,
			 (long long)id(row, "utid"));
		find_sum(sums, key)->ns += ns;
	}
	snprintf(key, sizeof(key), "CPU %lld: charged", (long long)id(row, "cpu"));
	if (row->table != NT_TABLE_CPU_COST && !strcmp(owner, "net_rx"))
		find_sum(sums, key)->ns += ns;
}

static void add_op(struct sums *sums, const struct nt_row *row, int64_t ops, int64_t bytes)
{
	char key[100];
	struct sum *sum;

	snprintf(key, sizeof(key), "%s of %lld on %lld", word(row, "op"), (long long)id(row, "utid"),
		 (long long)id(row, "socket_id"));
	sum = find_sum(sums, key);
	sum->ops += ops;
	sum->bytes += bytes;
	sum->ns += nt_integer(nt_row_value(row, "cpu_ns"), 0);
}

static void add_packets(struct sums *sums, const struct nt_row *row, int64_t packets)
{
	char key[100];

	snprintf(key, sizeof(key), "CPU %lld: charged", (long long)id(row, "cpu"));
	if (packets)
		find_sum(sums, key)->ops += packets;
}

/* Of an operation: what a peek, or one that failed, had is none. */
static int64_t moved_bytes(const struct nt_row *row)
{
	const char *flags = nt_text(NT_VALUE(row, sock_op, flags), "");

	return strstr(flags, "peek") || strstr(flags, "errqueue") ? 0 : nt_integer(NT_VALUE(row, sock_op, bytes), 0);
}

/* The slow way: a row of the whole tape, as far as it lies in the view. */
static void add_of_whole(struct sums *sums, const struct nt_row *row, const struct nt_view *view,
			 const struct nt_view_time *time)
{
	uint64_t ts = (uint64_t)id(row, "ts"), dur = 0;

	if (view->cpus && !view->cpus[id(row, "cpu")])
		return;
	if (row->table != NT_TABLE_RX_STRETCH)
		dur = (uint64_t)nt_integer(nt_row_value(row, "dur"), 0);
	if (row->table == NT_TABLE_CPU_SLICE && nt_view_clip(time, &ts, &dur))
		add_time(sums, row, word(row, "owner"), (int64_t)dur);
	else if (row->table == NT_TABLE_SOCK_OP && nt_view_has(time, ts + dur))
		add_op(sums, row, 1, moved_bytes(row));
	else if (row->table == NT_TABLE_RX_STRETCH && nt_view_has(time, ts) && !id(row, "is_steered"))
		add_packets(sums, row, id(row, "packets"));
}

static void add_of_view(struct sums *sums, const struct nt_row *row, const struct nt_view_time *time)
{
	const uint64_t ts = (uint64_t)id(row, "ts"), end = ts + (uint64_t)id(row, "dur");
	const uint64_t first = (ts - time->buckets_ns) / NT_BUCKET_NS,
		       last = (end - 1 - time->buckets_ns) / NT_BUCKET_NS;

	if (ts < time->from_ns || end > time->to_ns || (first != last && (ts - time->buckets_ns) % NT_BUCKET_NS))
		fail_msg("%s: a row from %llu to %llu", nt_table(row->table)->name, (unsigned long long)ts,
			 (unsigned long long)end);
	if (row->table == NT_TABLE_SOCK_COST)
		add_op(sums, row, id(row, "ops"), id(row, "bytes"));
	else
		add_time(sums, row, row->table == NT_TABLE_RX_COST ? "net_rx" : word(row, "owner"),
			 id(row, "spent_ns"));
	if (row->table == NT_TABLE_RX_COST)
		add_packets(sums, row, id(row, "packets"));
}

static void read_sums(const struct fixture *fixture, const struct nt_rows_want *wanted, const struct nt_view *view,
		      struct sums *sums)
{
	struct nt_view_time time = time_of(fixture, view);
	struct nt_rows_want want = *wanted;
	const struct nt_row *row;
	struct nt_row_iter *rows;

	if (want.buckets_of_recording)
		time.buckets_ns = fixture->tape->start_ns;
	want.learned = fixture->learned;
	sums->n = 0;
	memset(sums->sums, 0, sizeof(sums->sums));
	assert_int_equal(nt_rows_open(&rows, fixture->tape, NULL, 1, &want), 0);
	while (!nt_row_next(rows, &row)) {
		if (nt_view_is_part(&want.view))
			add_of_view(sums, row, &time);
		else
			add_of_whole(sums, row, view, &time);
	}
	nt_row_close(rows);
}

static void compare_sums(const char *name, const struct nt_view *view, struct sums *got, struct sums *expected)
{
	for (size_t i = 0; i < got->n; i++)
		find_sum(expected, got->sums[i].key);
	for (size_t i = 0; i < expected->n; i++) {
		const struct sum *want = &expected->sums[i], *is = find_sum(got, want->key);

		if (is->ns != want->ns || is->ops != want->ops || is->bytes != want->bytes)
			fail_msg("%s, %llu to %llu: %s: %lld ns, %lld, %lld bytes, and not %lld ns, %lld, %lld bytes",
				 name, (unsigned long long)view->from_ns, (unsigned long long)view->to_ns, want->key,
				 (long long)is->ns, (long long)is->ops, (long long)is->bytes, (long long)want->ns,
				 (long long)want->ops, (long long)want->bytes);
	}
}

static int by_text(const void *one, const void *two)
{
	const struct kept_row *a = one, *b = two;
	const int order = strcmp(a->text, b->text);

	return order ? order : (a->ts > b->ts) - (a->ts < b->ts);
}

/* The next row of these tables; NULL: there are no more. */
static const struct kept_row *next_cost(const struct kept *kept, size_t *at, uint64_t tables)
{
	while (*at < kept->n && !(tables >> kept->rows[*at].table & 1))
		++*at;
	return *at < kept->n ? &kept->rows[(*at)++] : NULL;
}

/* Each row of costs is the same, whatever else is read, and so however much of the tape is. */
static void check_costs(const struct fixture *fixture, const char *name, const struct nt_view *view, uint64_t tables)
{
	const uint64_t costs = nt_tables_of(NT_FROM(SUMS) | NT_FROM(CHARGES)) & tables;
	struct kept all = {.n = 0}, some = {.n = 0};
	const struct kept_row *a, *b;
	size_t at = 0, in = 0;

	read_rows(fixture, &(struct nt_rows_want){.tables = NT_ALL_TABLES, .view = *view}, &all);
	read_rows(fixture, &(struct nt_rows_want){.tables = tables, .view = *view}, &some);
	qsort(all.rows, all.n, sizeof(*all.rows), by_text);
	if (some.n)
		qsort(some.rows, some.n, sizeof(*some.rows), by_text);
	do {
		a = next_cost(&all, &at, costs);
		b = next_cost(&some, &in, costs);
		if (!a != !b || (a && (by_text(a, b) || a->dur != b->dur)))
			fail_msg("%s, %llu to %llu: \"%s\" and not \"%s\"", name, (unsigned long long)view->from_ns,
				 (unsigned long long)view->to_ns, b ? b->text : "no row", a ? a->text : "no row");
	} while (a);
	release(&all);
	release(&some);
}

/* The sums of a view are those of what lies in it. */
static void check_sums(const struct fixture *fixture, const char *name, const struct nt_view *view,
		       bool buckets_of_recording)
{
	const struct nt_rows_want whole = {.tables = NT_TABLE_BIT(NT_TABLE_CPU_SLICE) | NT_TABLE_BIT(NT_TABLE_SOCK_OP) |
						     NT_TABLE_BIT(NT_TABLE_RX_STRETCH)};
	const struct nt_rows_want part = {.tables = NT_TABLE_BIT(NT_TABLE_CPU_COST) | NT_TABLE_BIT(NT_TABLE_SOCK_COST) |
						    NT_TABLE_BIT(NT_TABLE_RX_COST),
					  .view = *view,
					  .buckets_of_recording = buckets_of_recording};
	static struct sums expected, got;

	read_sums(fixture, &whole, view, &expected);
	read_sums(fixture, &part, view, &got);
	compare_sums(name, view, &got, &expected);
	check_costs(fixture, name, view, part.tables);
	check_costs(fixture, name, view, NT_TABLE_BIT(NT_TABLE_RX_COST));
}

static void check_windows(const struct fixture *fixture, const char *name, uint64_t seed, unsigned int n)
{
	struct nt_rand rand = {seed};
	struct kept all = {.n = 0};

	read_rows(fixture, &(struct nt_rows_want){.tables = NT_ALL_TABLES}, &all);
	for (unsigned int i = 0; i < n; i++) {
		struct nt_rows_want want = {.order = NT_ROWS_EVENTS_FIRST};
		uint8_t cpus[N_CPUS];

		choose_window(fixture, &rand, cpus, &want);
		for (size_t set = 0; (want.tables = table_set(set)); set++) {
			struct kept some = {.n = 0};

			read_rows(fixture, &want, &some);
			compare(fixture, name, &all, &some, &want);
			release(&some);
		}
		check_names(fixture, name, &all, &want);
		check_sums(fixture, name, &want.view, i % 2);
	}
	release(&all);
}

/* Breaks some bytes of a chunk, or takes it away. */
static void damage(struct fixture *fixture, uint64_t seed)
{
	struct nt_rand rand = {seed};
	size_t chunk = nt_rand_below(&rand, fixture->tape->n_chunks), size;
	char path[4 * SCRATCH_MAX];
	char *bytes;

	snprintf(path, sizeof(path), "%s/%s", fixture->path, fixture->tape->chunks[chunk].name);
	if (fixture->tape->n_chunks > 2 && chunk && !nt_rand_below(&rand, 3)) {
		assert_int_equal(unlink(path), 0);
		return;
	}
	bytes = scratch_read(path, &size);
	for (int i = 0; i < 3; i++)
		bytes[nt_rand_below(&rand, size)] ^= 0x55;
	scratch_write(path, bytes, size);
	free(bytes);
}

static void equals_the_slow_way(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct tape_gen_config config = {
			.n_cpus = N_CPUS, .dir = fixture->path, .probes = PROBES, .all_loose = true};
		char name[64];

		snprintf(name, sizeof(name), "seed %llu", (unsigned long long)seed);
		scratch_path(fixture->path, fixture->dir, name);
		config.block_events = seed % 4 ? 30 * seed : 5;
		config.samples = seed % 2 ? seed : 0;
		config.drop = seed % 3 ? 0 : 2 + seed;
		fixture->end = random_host_record(&config, seed, 3000, NULL);
		open_tape(fixture);
		if (seed % 5 > 2) {
			damage(fixture, seed);
			close_tape(fixture);
			open_tape(fixture);
		}
		check_charges(fixture, name);
		check_windows(fixture, name, seed, 3);
		close_tape(fixture);
	}
}

static void equals_the_slow_way_in_traffic(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t seed = 1; seed <= 2; seed++) {
		const struct traffic_config traffic = {.seed = seed,
						       .dur_ns = 80 * MS,
						       .n_tasks = 6,
						       .snapshot_ns = 20 * MS,
						       .lose_from_ns = 30 * MS,
						       .lose_to_ns = (30 + 5 * (seed % 2)) * MS,
						       .chunk_ns = 25 * MS};
		struct tape_gen_config config = {
			.n_cpus = 2, .dir = fixture->path, .block_events = 300, .probes = PROBES, .all_loose = true};
		struct tape_gen *gen;
		char name[64];

		snprintf(name, sizeof(name), "traffic %llu", (unsigned long long)seed);
		scratch_path(fixture->path, fixture->dir, name);
		config.samples = seed;
		gen = tape_gen_new(&config);
		traffic_record(gen, 2, &traffic);
		tape_gen_finish(gen, GEN_START_NS + traffic.dur_ns, true);
		fixture->end = traffic.dur_ns;
		open_tape(fixture);
		check_charges(fixture, name);
		check_windows(fixture, name, seed, 2);
		close_tape(fixture);
	}
}

/* ---- what a flight recorder has kept ---- */

/* Of such a CPU the generator's later chunks say that it is there. */
static bool has_offline(const struct kept *all)
{
	return NT_ANY(all->n, i, strstr(all->rows[i].text, "offline"));
}

static bool is_uncovered(const struct kept_row *row)
{
	return strstr(row->text, "uncovered");
}

/*
 * The slices fill the CPUs' time, and are of the same owners as in all of the recording. But where that has lost
 * records more may be known: a block says who was on the CPU when it began.
 */
static void compare_owners(const struct fixture *fixture, const char *name, const struct kept *all,
			   const struct kept *some)
{
	uint64_t filled_ns[N_CPUS] = {0};
	size_t first[N_CPUS] = {0}; /* of each CPU, the first that is not over before the row */

	for (size_t i = 0; i < some->n; i++) {
		const struct kept_row *row = &some->rows[i], *one = &all->rows[first[row->cpu]];

		filled_ns[row->cpu] += row->dur;
		while (one->cpu != row->cpu || one->ts + one->dur <= row->ts)
			one++;
		first[row->cpu] = (size_t)(one - all->rows);
		for (; one < &all->rows[all->n] && (one->cpu != row->cpu || one->ts < row->ts + row->dur); one++) {
			if (one->cpu == row->cpu && !is_uncovered(one) && strcmp(one->text, row->text) != 0)
				fail_msg("%s: at %llu: \"%s\", and not \"%s\"", name, (unsigned long long)row->ts,
					 row->text, one->text);
		}
	}
	for (uint32_t cpu = 0; cpu < N_CPUS; cpu++)
		assert_int_equal(filled_ns[cpu], fixture->tape->end_ns - fixture->tape->start_ns);
}

static void drop_chunk(struct fixture *fixture, size_t number)
{
	char path[4 * SCRATCH_MAX];

	snprintf(path, sizeof(path), "%s/chunk-%06zu.ntc", fixture->path, number);
	assert_int_equal(unlink(path), 0);
	close_tape(fixture);
	open_tape(fixture);
}

/* Each chunk in turn is the first that is there: from its begin on, time is whose it is in all of the recording. */
static unsigned int check_ends(struct fixture *fixture, const char *name, const struct kept *all)
{
	const struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_CPU_SLICE)};
	const size_t n = fixture->tape->n_chunks;

	for (size_t chunk = 1; chunk < n; chunk++) {
		struct kept some = {.n = 0};

		drop_chunk(fixture, chunk - 1);
		assert_true(nt_tape_is_complete(fixture->tape));
		assert_int_equal(fixture->tape->n_dropped, chunk);
		assert_int_equal(fixture->tape->start_realtime_ns - GEN_REALTIME_NS,
				 fixture->tape->start_ns - GEN_START_NS);
		read_rows(fixture, &want, &some);
		compare_owners(fixture, name, all, &some);
		release(&some);
	}
	return (unsigned int)n - 1;
}

static void keeps_the_end(void **state)
{
	struct fixture *fixture = *state;
	unsigned int n_ends = 0;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		const struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_CPU_SLICE)};
		struct tape_gen_config config = {
			.n_cpus = N_CPUS, .dir = fixture->path, .probes = PROBES, .keeps = true};
		struct kept all = {.n = 0};
		char name[64];

		snprintf(name, sizeof(name), "kept %llu", (unsigned long long)seed);
		scratch_path(fixture->path, fixture->dir, name);
		config.block_events = seed % 4 ? 30 * seed : 5;
		fixture->end = random_host_record(&config, seed, 9000, NULL);
		open_tape(fixture);
		read_rows(fixture, &want, &all);
		if (!has_offline(&all))
			n_ends += check_ends(fixture, name, &all);
		release(&all);
		close_tape(fixture);
	}
	assert_true(n_ends > 10);
}

/* ---- cases ---- */

static struct tape_gen *new_tape_of(struct fixture *fixture, uint32_t n_cpus, size_t block_events, uint64_t drop)
{
	const struct tape_gen_config config = {
		.dir = fixture->path, .n_cpus = n_cpus, .block_events = block_events, .drop = drop};

	scratch_path(fixture->path, fixture->dir, "t.tape");
	return tape_gen_new(&config);
}

static struct tape_gen *new_tape(struct fixture *fixture, size_t block_events, uint64_t drop)
{
	return new_tape_of(fixture, 1, block_events, drop);
}

static void finish(struct fixture *fixture, struct tape_gen *gen, uint64_t end)
{
	tape_gen_finish(gen, GEN_START_NS + end, true);
	open_tape(fixture);
}

/* The tables' rows of [from, to) are as many, and those of the slow way. */
static void expect_rows(const struct fixture *fixture, uint64_t tables, uint64_t from, uint64_t to, size_t n)
{
	const struct nt_rows_want want = {
		.tables = tables, .view.from_ns = GEN_START_NS + from, .view.to_ns = GEN_START_NS + to};
	struct kept all = {.n = 0}, some = {.n = 0};

	read_rows(fixture, &(struct nt_rows_want){.tables = NT_ALL_TABLES}, &all);
	read_rows(fixture, &want, &some);
	assert_int_equal(some.n, n);
	compare(fixture, "window", &all, &some, &want);
	release(&all);
	release(&some);
}

/* The idle task came long before the window, and state records since then say no more than that it is there. */
static void reads_back_to_where_a_slice_begins(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 5, 0);

	gen_state(gen, 0, 0, 1, NT_STATE_START, 0);
	gen_switch(gen, 0, 10 * MS, 1, 1, 0, 0);
	for (uint64_t at = 50 * MS; at < 3000 * MS; at += 50 * MS)
		gen_state(gen, 0, at, 0, NT_STATE_PERIODIC, 0);
	gen_switch(gen, 0, 3000 * MS, 0, 0, 1, 0);
	finish(fixture, gen, 3100 * MS);
	expect_rows(fixture, NT_TABLE_BIT(NT_TABLE_CPU_SLICE), 2000 * MS, 2000 * MS + 1, 1);
	expect_rows(fixture, NT_TABLE_BIT(NT_TABLE_SCHED_SLICE), 2000 * MS, 2000 * MS + 1, 1);
}

/*
 * A task came to CPU 0 long before the window, by clocks before it left CPU 1: it came when it had left. Nothing since
 * then tells of that, on either CPU.
 */
static void reads_back_to_where_a_task_came_from(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape_of(fixture, 2, 5, 0);

	gen_state(gen, 0, 0, 0, NT_STATE_START, 0);
	gen_state(gen, 1, 0, 1, NT_STATE_START, 0);
	gen_switch(gen, 0, 1000 * MS, 0, 0, 1, 0);
	gen_switch(gen, 1, 1000 * MS + 700, 1, 1, 0, 0);
	for (uint64_t at = 1010 * MS; at < 2000 * MS; at += 10 * MS) {
		gen_state(gen, 0, at, 1, NT_STATE_PERIODIC, 0);
		gen_switch(gen, 1, at, at / (10 * MS) % 2 ? 0 : 2, 0, at / (10 * MS) % 2 ? 2 : 0, 0);
	}
	finish(fixture, gen, 2000 * MS);
	expect_rows(fixture, NT_TABLE_BIT(NT_TABLE_SCHED_SLICE), 1805 * MS, 1806 * MS, 2);
}

/* No record tells of a softirq that the recording ends in, but state records list it. */
static void waits_for_what_is_open_at_the_end(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 2, 0);

	gen_state(gen, 0, 0, 1, NT_STATE_START, 0);
	for (uint64_t at = 60 * MS; at <= 100 * MS; at += 10 * MS) {
		gen_open(gen, 0, at, NT_OPEN_SOFTIRQ, NT_VEC_NET_RX, NT_SOFTIRQ_IRQ_EXIT, 50 * MS, 0);
		gen_state(gen, 0, at, 1, at < 100 * MS ? NT_STATE_PERIODIC : NT_STATE_STOP, 1);
	}
	finish(fixture, gen, 100 * MS);
	expect_rows(fixture, NT_TABLE_BIT(NT_TABLE_SOFTIRQ_SLICE), 40 * MS, 55 * MS, 1);
}

/* A sample may stand behind events that ended after it. */
static void waits_for_late_samples(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 10, 0);
	const struct nt_drop drop = {.end_ns = GEN_START_NS + 500 * US - 1, .kind = NT_DROP};

	gen_state(gen, 0, 0, 1, NT_STATE_START, 0);
	for (uint64_t at = 1; at < 1000; at++) {
		gen_irq(gen, 0, at * US, at * US + 10, NT_IRQ_VECTOR, 236);
		if (at == 800)
			tape_gen_event(gen, 0, &drop);
	}
	finish(fixture, gen, 1000 * US);
	expect_rows(fixture, NT_TABLE_BIT(NT_TABLE_SKB_DROP), 400 * US, 500 * US, 1);
	expect_rows(fixture, NT_TABLE_BIT(NT_TABLE_SKB_DROP), 500 * US, 600 * US, 0);
}

/* A block of long spans is missing. So the whole time of the block that it belongs to is uncovered. */
static void knows_that_long_spans_are_missing(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 1000, 3);

	gen_state(gen, 0, 0, 1, NT_STATE_START, 0);
	for (uint64_t at = 50 * MS; at <= 4000 * MS; at += 50 * MS) {
		if (at == 2200 * MS)
			gen_op(gen, 0, 900 * MS, at, NT_RECV, NT_CALL_read, 1, 5, 0);
		gen_switch(gen, 0, at, at / (50 * MS) % 2, 0, !(at / (50 * MS) % 2), 0);
		if (at % (1000 * MS) == 0)
			tape_gen_flush(gen, 0);
	}
	finish(fixture, gen, 4000 * MS);
	for (uint64_t from = 1900 * MS; from < 3400 * MS; from += 130 * MS)
		expect_rows(fixture, NT_TABLE_BIT(NT_TABLE_CPU_SLICE), from, from + 10, 1);
}

/* A receive began in uncovered time. The first that tells of it is a state record long after, and it never ends. */
static void waits_for_operations_hidden_by_loss(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 2, 0);
	struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_SOCK_OP), .begun_within = true};
	struct kept some = {.n = 0};

	gen_state(gen, 0, 0, 1, NT_STATE_START, 0);
	gen_loss(gen, 0, 12 * MS, NT_SWITCH, 2, 11 * MS, 11 * MS, 11 * MS);
	gen_state(gen, 0, 12 * MS, 0, NT_STATE_RESYNC, 0);
	for (uint64_t at = 20 * MS; at < 90 * MS; at += 5 * MS)
		gen_state(gen, 0, at, 0, NT_STATE_PERIODIC, 0);
	gen_switch(gen, 0, 90 * MS, 0, 0, 1, 0);
	gen_open(gen, 0, 95 * MS, NT_OPEN_OP, NT_RECV, NT_CALL_read, 10 * MS, 7);
	gen_switch(gen, 0, 95 * MS, 1, 1, 0, 1);
	gen_state(gen, 0, 100 * MS, 0, NT_STATE_STOP, 0);
	finish(fixture, gen, 100 * MS);
	want.view.from_ns = GEN_START_NS + 9 * MS;
	want.view.to_ns = GEN_START_NS + 12 * MS;
	read_rows(fixture, &want, &some);
	assert_int_equal(some.n, 1);
	release(&some);
}

/* A receive of before the recording begins with it. Nothing tells of it until its task wakes. */
static void waits_for_operations_of_before(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 2, 0);
	const uint64_t begins[] = {0, GEN_START_NS - 1, GEN_START_NS};

	gen_state(gen, 0, 0, 0, NT_STATE_START, 0);
	for (uint64_t at = 5 * MS; at < 900 * MS; at += 5 * MS)
		gen_state(gen, 0, at, 0, NT_STATE_PERIODIC, 0);
	gen_switch(gen, 0, 900 * MS, 0, 0, 1, 0);
	gen_op(gen, 0, 901 * MS, 901 * MS, NT_RECV, NT_CALL_read, 1, 5, NT_OP_BEFORE);
	gen_state(gen, 0, 1000 * MS, 1, NT_STATE_STOP, 0);
	finish(fixture, gen, 1000 * MS);
	for (size_t i = 0; i < NT_COUNT(begins); i++) {
		struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_SOCK_OP),
					    .begun_within = true,
					    .view.from_ns = begins[i],
					    .view.to_ns = GEN_START_NS + 10 * MS};
		struct kept some = {.n = 0};

		read_rows(fixture, &want, &some);
		assert_int_equal(some.n, 1);
		release(&some);
	}
}

/* A receive sleeps until the recording ends, and nothing of the window tells of it. It ends with the recording. */
static void counts_what_ends_with_the_recording(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 2, 0);
	const struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_SOCK_COST),
					  .view = {GEN_START_NS + 900 * MS, GEN_START_NS + 1000 * MS, NULL}};
	struct kept some = {.n = 0};

	gen_state(gen, 0, 0, 1, NT_STATE_START, 0);
	gen_open(gen, 0, 11 * MS, NT_OPEN_OP, NT_RECV, NT_CALL_read, 10 * MS, 5);
	gen_switch(gen, 0, 11 * MS, 1, 1, 0, 1);
	for (uint64_t at = 15 * MS; at < 1000 * MS; at += 5 * MS)
		gen_state(gen, 0, at, 0, NT_STATE_PERIODIC, 0);
	gen_state(gen, 0, 1000 * MS, 0, NT_STATE_STOP, 0);
	finish(fixture, gen, 1000 * MS);
	read_rows(fixture, &want, &some);
	assert_int_equal(some.n, 1);
	release(&some);
}

/* Breaks all blocks of events but those of CPU 0 that are so near the window. Gives how many. */
static unsigned int break_others(struct fixture *fixture, uint64_t from_ns, uint64_t to_ns, uint64_t margin_ns)
{
	unsigned int n = 0;

	for (size_t chunk = 0; chunk < fixture->tape->n_chunks; chunk++) {
		const struct nt_chunk_contents *contents;
		char path[4 * SCRATCH_MAX];
		int fd;

		snprintf(path, sizeof(path), "%s/%s", fixture->path, fixture->tape->chunks[chunk].name);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		assert_int_equal(nt_tape_hold(fixture->tape, chunk, &contents), 0);
		for (size_t i = 0; i < contents->n_blocks; i++) {
			const struct nt_block_ref *block = &contents->blocks[i];

			/* Whether the rare long spans matter is found by reading them. */
			if (block->header.type != NT_BLOCK_EVENTS || block->header.flags & NT_BLOCK_LONG ||
			    (!block->header.cpu && block->header.last_end_ns >= from_ns - margin_ns &&
			     block->header.first_end_ns <= to_ns + margin_ns))
				continue;
			assert_int_equal(pwrite(fd, "broken", 6, (off_t)(block->offset + 90)), 6);
			n++;
		}
		nt_tape_drop(fixture->tape, chunk);
		close(fd);
	}
	return n;
}

/* So many of the table's rows begin in the window. */
static size_t count_begun(const struct kept *all, enum nt_table_id table, uint64_t from_ns, uint64_t to_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += all->rows[i].table == table && from_ns <= all->rows[i].ts && all->rows[i].ts < to_ns;
	return n;
}

/* SQL finds them, too, and meets no broken block. */
static void sql_opens_few_blocks(const struct fixture *fixture, const struct kept *all, uint64_t from_ns,
				 uint64_t to_ns)
{
	char error[NT_ERROR_MAX], sql[200];
	struct nt_db *db;

	if (nt_load_open(&db, fixture->path, NULL, NULL, NULL, error))
		fail_msg("%s", error);
	for (size_t set = 2; table_set(set); set++) {
		const enum nt_table_id id = (enum nt_table_id)__builtin_ctzll(table_set(set));
		sqlite3_stmt *statement;

		/* That one is small: all of it is read at once, and kept. */
		if (id == NT_TABLE_LOSS)
			continue;
		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s WHERE ts >= %llu AND ts < %llu", nt_table(id)->name,
			 (unsigned long long)from_ns, (unsigned long long)to_ns);
		statement = nt_db_prepare(db, sql, NULL);
		assert_true(nt_db_next(statement));
		assert_int_equal(sqlite3_column_int64(statement, 0), count_begun(all, id, from_ns, to_ns));
		sqlite3_finalize(statement);
	}
	assert_int_equal(nt_load_problem_at(db, 0, error), 0);
	nt_db_close(db);
}

static void opens_few_blocks(void **state)
{
	struct fixture *fixture = *state;
	const struct traffic_config traffic = {.seed = 7, .dur_ns = 900 * MS, .n_tasks = 2, .chunk_ns = 200 * MS};
	const struct tape_gen_config config = {.dir = fixture->path,
					       .n_cpus = 1,
					       .block_events = 200,
					       .probes = PROBES,
					       .samples = 7,
					       .all_loose = true,
					       .longest_ns = 1 * MS};
	struct tape_gen *gen;
	struct nt_rows_want want = {.view.from_ns = GEN_START_NS + 500 * MS, .view.to_ns = GEN_START_NS + 502 * MS};
	struct kept all = {.n = 0};

	scratch_path(fixture->path, fixture->dir, "t.tape");
	gen = tape_gen_new(&config);
	traffic_record(gen, 1, &traffic);
	/* A query for spans that begin in the window need not wait for earlier spans to end, nor for other kinds. */
	gen_loose_span(gen, 0, 400 * (int64_t)MS - 1000000000, 899 * MS);
	finish(fixture, gen, traffic.dur_ns);
	read_rows(fixture, &(struct nt_rows_want){.tables = NT_ALL_TABLES}, &all);
	assert_true(break_others(fixture, want.view.from_ns, want.view.to_ns, 250 * MS) > 50);
	for (size_t set = 1; (want.tables = table_set(set)); set++) {
		struct kept some = {.n = 0};

		/* All operations cost all blocks; those that begin in the window do not. */
		want.begun_within =
			want.tables == NT_TABLE_BIT(NT_TABLE_SOCK_OP) || want.tables & nt_tables_of(NT_FROM(LOOSE));
		read_rows(fixture, &want, &some);
		compare(fixture, "few blocks", &all, &some, &want);
		assert_true(some.n || !(want.tables & nt_tables_of(NT_FROM(LOOSE))));
		release(&some);
	}
	check_names(fixture, "few blocks", &all, &want);
	assert_int_equal(fixture->tape->n_problems, 0);
	sql_opens_few_blocks(fixture, &all, want.view.from_ns, want.view.to_ns);
	release(&all);
}

/* How far it is, is told of the window, of which a tenth of the tape is much. */
static void progress_is_of_the_window(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 5, 0);
	struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_IRQ_SLICE),
				    .view.from_ns = GEN_START_NS + 500 * MS,
				    .view.to_ns = GEN_START_NS + 600 * MS};
	unsigned int permille = 0, first = 1000;
	const struct nt_row *row;
	struct nt_row_iter *rows;

	gen_state(gen, 0, 0, 1, NT_STATE_START, 0);
	for (uint64_t at = 1 * MS; at < 1000 * MS; at += MS) {
		gen_irq(gen, 0, at - 10, at, NT_IRQ_VECTOR, 236);
		gen_state(gen, 0, at, 1, NT_STATE_PERIODIC, 0);
	}
	finish(fixture, gen, 1000 * MS);
	want.learned = fixture->learned;
	assert_int_equal(nt_rows_open(&rows, fixture->tape, NULL, 1, &want), 0);
	while (!nt_row_next(rows, &row)) {
		assert_in_range(nt_row_progress(rows), permille, 1000);
		permille = nt_row_progress(rows);
		first = permille < first ? permille : first;
	}
	assert_in_range(first, 0, 50);
	assert_in_range(permille, 950, 1000);
	nt_row_close(rows);
}

/* A stay that ends where the window begins is not in it: where it began need not be known. */
static void looks_for_no_begin_of_what_ends_before(void **state)
{
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape(fixture, 5, 0);
	const struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_SCHED_SLICE),
					  .view.from_ns = GEN_START_NS + 2000 * MS,
					  .view.to_ns = GEN_START_NS + 2010 * MS};
	struct kept some = {.n = 0};

	gen_state(gen, 0, 0, 1, NT_STATE_START, 0);
	for (uint64_t at = 10 * MS; at < 2000 * MS; at += 10 * MS)
		gen_state(gen, 0, at, 1, NT_STATE_PERIODIC, 0);
	gen_switch(gen, 0, 2000 * MS, 1, 1, 0, 0);
	gen_switch(gen, 0, 2020 * MS, 0, 0, 1, 0);
	finish(fixture, gen, 2100 * MS);
	assert_true(break_others(fixture, want.view.from_ns, want.view.to_ns, 200 * MS) > 20);
	read_rows(fixture, &want, &some);
	assert_int_equal(some.n, 1);
	assert_int_equal(fixture->tape->n_problems, 0);
	release(&some);
}

/* ---- some CPUs ---- */

static void opens_no_blocks_of_other_cpus(void **state)
{
	static const uint8_t first[] = {1, 0};
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape_of(fixture, 2, 5, 0);
	struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_CPU_SLICE), .view.cpus = first};

	for (uint64_t at = 0; at < 1000 * MS; at += 10 * MS) {
		gen_state(gen, 0, at, 1, NT_STATE_PERIODIC, 0);
		gen_state(gen, 1, at, 2, NT_STATE_PERIODIC, 0);
	}
	finish(fixture, gen, 1000 * MS);
	assert_true(break_others(fixture, GEN_START_NS, GEN_START_NS + 1000 * MS, 0) > 10);
	for (unsigned int in_time = 0; in_time < 2; in_time++) {
		struct kept some = {.n = 0};

		want.view.from_ns = in_time ? GEN_START_NS + 500 * MS : 0;
		want.view.to_ns = in_time ? GEN_START_NS + 600 * MS : 0;
		read_rows(fixture, &want, &some);
		assert_int_equal(some.n, in_time ? 1 : 2);
		assert_int_equal(some.rows[0].cpu, 0);
		assert_int_equal(fixture->tape->n_problems, 0);
		release(&some);
	}
}

/* Counters may be of CPUs that the tape has no records of, or of none. */
static void leaves_out_counters_of_other_cpus(void **state)
{
	static const char text[] = "cpu 1\ncpu0 2\ncpu1 3\ncpu2 4\n";
	struct fixture *fixture = *state;
	struct tape_gen *gen = new_tape_of(fixture, 2, 5, 0);
	const uint8_t second[] = {0, 1};
	const struct nt_rows_want want = {.tables = NT_TABLE_BIT(NT_TABLE_PROC_COUNTER), .view.cpus = second};
	struct kept some = {.n = 0};

	gen_state(gen, 0, 0, 1, NT_STATE_START, 0);
	gen_state(gen, 1, 0, 1, NT_STATE_START, 0);
	tape_gen_proc_snapshot(gen, GEN_START_NS + 1, GEN_START_NS + 2, "/proc/stat", text);
	finish(fixture, gen, 1000 * MS);
	read_rows(fixture, &want, &some);
	assert_int_equal(some.n, 1);
	assert_int_equal(some.rows[0].cpu, 1);
	release(&some);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(equals_the_slow_way),
		TEST(equals_the_slow_way_in_traffic),
		TEST(keeps_the_end),
		TEST(reads_back_to_where_a_slice_begins),
		TEST(reads_back_to_where_a_task_came_from),
		TEST(waits_for_what_is_open_at_the_end),
		TEST(waits_for_late_samples),
		TEST(knows_that_long_spans_are_missing),
		TEST(waits_for_operations_hidden_by_loss),
		TEST(waits_for_operations_of_before),
		TEST(counts_what_ends_with_the_recording),
		TEST(opens_few_blocks),
		TEST(looks_for_no_begin_of_what_ends_before),
		TEST(progress_is_of_the_window),
		TEST(opens_no_blocks_of_other_cpus),
		TEST(leaves_out_counters_of_other_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

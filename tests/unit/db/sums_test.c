// SPDX-License-Identifier: GPL-2.0-only
/*
 * sums_test.c - a tape's rows condensed: sums stay exact, the largest keep their names, which a model in SQL knows too,
 * and an hour fits a megabyte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/db/db.h"
#include "report/db/sums.h"
#include "report/util/array.h"
#include "tests/support/rand.h"
#include "tests/support/scratch.h"
#include "tests/support/scratch_db.h"

#define START 1000000000000ll
#define MINUTE NT_SUMS_BUCKET_NS
#define CPUS 8
#define THREADS 200
#define SOCKETS 1000
#define OTHERS ((uint64_t)NT_SUMS_OTHERS)

/* The output, for the tables that tests examine. */
struct out {
	struct nt_sums *sums;
	struct nt_db *db; /* or NULL: where it goes too */
	struct nt_arena arena; /* of the row that goes in */
	int64_t spent[3][CPUS][NT_OWNER_COUNT]; /* by minute */
	unsigned int named[3], cost_rows; /* rows of cpu_cost with a thread of its own */
	int64_t others_ns, least_named_ns, ops, bytes;
	unsigned int named_ops;
	unsigned int rows[NT_TABLE_COUNT];
	char text[4096]; /* rows of identities and counters, one a line */
};

static int64_t integer(const struct nt_row *row, const char *column)
{
	const struct nt_value *value = nt_row_value(row, column);

	return value->type == NT_VALUE_INTEGER ? value->integer : -1;
}

static void take_cost(struct out *out, const struct nt_row *row)
{
	const int64_t minute = (integer(row, "ts") - START) / MINUTE, utid = integer(row, "utid");
	const int64_t spent_ns = integer(row, "spent_ns");

	assert_int_equal((integer(row, "ts") - START) % MINUTE, 0);
	if (minute < 3)
		out->spent[minute][integer(row, "cpu")][nt_owner_number(nt_row_value(row, "owner")->text)] += spent_ns;
	if (utid == NT_SUMS_OTHERS)
		out->others_ns += spent_ns;
	else if (utid > 0 && minute < 3) {
		out->named[minute]++;
		out->least_named_ns = spent_ns < out->least_named_ns ? spent_ns : out->least_named_ns;
	}
}

static void take_text(struct out *out, const struct nt_row *row)
{
	size_t at = strlen(out->text);

	at += (size_t)snprintf(out->text + at, sizeof(out->text) - at, "%s", nt_table(row->table)->name);
	for (uint32_t i = 1; i < row->n; i++) {
		if (row->values[i].type == NT_VALUE_INTEGER)
			at += (size_t)snprintf(out->text + at, sizeof(out->text) - at, " %lld",
					       (long long)row->values[i].integer);
		else
			at += (size_t)snprintf(out->text + at, sizeof(out->text) - at, " %s",
					       row->values[i].type == NT_VALUE_TEXT ? row->values[i].text : "-");
	}
	snprintf(out->text + at, sizeof(out->text) - at, "\n");
}

static int put(void *arg, const struct nt_row *row)
{
	struct out *out = arg;

	out->rows[row->table]++;
	if (row->table == NT_TABLE_CPU_COST) {
		take_cost(out, row);
	} else if (row->table == NT_TABLE_SOCK_COST) {
		out->ops += integer(row, "ops");
		out->bytes += integer(row, "bytes");
		out->named_ops += integer(row, "socket_id") > 0;
	} else if (!out->db) {
		take_text(out, row);
	}
	return out->db ? nt_db_insert(out->db, row) : 0;
}

static struct out *new_out(int64_t minutes)
{
	struct out *out = calloc(1, sizeof(*out));
	const struct nt_sums_sink sink = {out, put};

	out->least_named_ns = INT64_MAX;
	out->sums = nt_sums_new(START, START + minutes * MINUTE, &sink);
	assert_non_null(out->sums);
	return out;
}

static void free_out(struct out *out)
{
	nt_sums_free(out->sums);
	nt_arena_release(&out->arena);
	free(out);
}

static void give(struct out *out, enum nt_table_id table, const void *from)
{
	struct nt_row row;

	nt_arena_reset(&out->arena);
	assert_int_equal(nt_table_fill(&row, &out->arena, table, 1, from), 0);
	assert_int_equal(nt_sums_row(out->sums, &row), 0);
}

static void give_cost(struct out *out, int64_t at, int64_t dur, uint32_t cpu, enum nt_owner owner, uint64_t task,
		      int64_t spent)
{
	const struct nt_cpu_cost cost = {.ts_ns = (uint64_t)(START + at),
					 .dur_ns = (uint64_t)dur,
					 .cpu = cpu,
					 .owner = owner,
					 .task = task,
					 .spent_ns = (uint64_t)spent};

	give(out, NT_TABLE_CPU_COST, &cost);
}

static void give_thread(struct out *out, uint64_t task, uint64_t process, const char *name)
{
	const struct nt_thread_info thread = {.task = task, .tid = 1, .known = true, .process = process, .name = name};

	give(out, NT_TABLE_THREAD, &thread);
}

/* ---- tests ---- */

/* Of 200 threads on 8 CPUs, those keep their names whose rows have room, and these are the largest. */
static void sums_are_exact(void **state)
{
	struct out *out = new_out(3);
	int64_t spent[3][CPUS][NT_OWNER_COUNT] = {0};

	(void)state;
	for (int64_t at = 0; at < 3 * MINUTE; at += MINUTE / 4) {
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			for (uint64_t task = 1; task <= THREADS; task++) {
				const int64_t ns = (int64_t)(task * 100 + cpu);
				const enum nt_owner owner = task % 2 ? NT_OWNER_SEND : NT_OWNER_NET_RX;

				give_cost(out, at, 100000000, cpu, owner, task, ns);
				spent[at / MINUTE][cpu][owner] += ns;
			}
		}
	}
	assert_int_equal(nt_sums_finish(out->sums), 0);
	assert_memory_equal(out->spent, spent, sizeof(spent));
	for (int minute = 0; minute < 3; minute++)
		assert_int_equal(out->named[minute], NT_SUMS_ROWS);
	/* Those of odd number are ranked: 199, 197, ... on all CPUs. */
	assert_int_equal(out->least_named_ns, 4 * 185 * 100);
	assert_true(out->others_ns > 0);
	assert_int_equal(out->rows[NT_TABLE_CPU_COST], 3 * (NT_SUMS_ROWS + 2 * CPUS));
	free_out(out);
}

/* However many threads compute longer, those that send keep their names. */
static void who_computes_is_no_rival(void **state)
{
	struct out *out = new_out(1);

	(void)state;
	for (uint64_t task = 1; task <= THREADS; task++)
		give_cost(out, 0, 100000000, 0, NT_OWNER_TASK, task, 1000000);
	give_cost(out, 0, 100000000, 0, NT_OWNER_SEND, THREADS + 1, 7);
	assert_int_equal(nt_sums_finish(out->sums), 0);
	assert_int_equal(out->named[0], NT_SUMS_TOP + 1);
	assert_int_equal(out->least_named_ns, 7);
	free_out(out);
}

/* A damaged tape may claim to last for centuries. */
static void a_forged_session_is_few_rows(void **state)
{
	struct out *out = new_out(1ll << 26);

	(void)state;
	give_cost(out, MINUTE / 2, (1ll << 26) * MINUTE - MINUTE / 2, 0, NT_OWNER_UNCOVERED, NT_NO_TASK,
		  (1ll << 26) * MINUTE - MINUTE / 2);
	assert_int_equal(nt_sums_finish(out->sums), 0);
	assert_int_equal(out->rows[NT_TABLE_CPU_COST], 2);
	free_out(out);
}

/* A CPU that idles through minutes is told of at their end, in one row. */
static void long_rows_are_taken_apart(void **state)
{
	struct out *out = new_out(3);

	(void)state;
	give_cost(out, 2 * MINUTE, 100000000, 1, NT_OWNER_TASK, 5, 7);
	give_cost(out, MINUTE / 2, 2 * MINUTE, 0, NT_OWNER_IDLE, 0, 2 * MINUTE);
	assert_int_equal(nt_sums_finish(out->sums), 0);
	assert_int_equal(out->spent[0][0][NT_OWNER_IDLE], MINUTE / 2);
	assert_int_equal(out->spent[1][0][NT_OWNER_IDLE], MINUTE);
	assert_int_equal(out->spent[2][0][NT_OWNER_IDLE], MINUTE / 2);
	assert_int_equal(out->spent[2][1][NT_OWNER_TASK], 7);
	free_out(out);
}

/* Names are given to what rows speak of: a thread, its process, that one's cgroup, its socket. */
static void only_what_is_named(void **state)
{
	struct out *out = new_out(1);
	const struct nt_process_info processes[] = {
		{.process = 1, .pid = 10, .has_pid = true, .name = "web", .cgroup = 3},
		{.process = 2, .pid = 20, .has_pid = true, .name = "cron", .cgroup = 4}};
	const struct nt_cgroup records[] = {{.cgroup = 3}, {.cgroup = 4}};
	const struct nt_cgroup_info cgroups[] = {{.record = &records[0], .path = "/web", .words = {.label = "/web"}},
						 {.record = &records[1], .path = "/cron", .words = {.label = "/cron"}}};
	const struct nt_socket sockets[] = {{.socket = 8, .family = 1, .type = 1},
					    {.socket = 9, .family = 1, .type = 1}};
	const struct nt_sock_cost op = {
		.ts_ns = START, .dur_ns = MINUTE, .task = 11, .socket = 9, .ops = 2, .bytes = 5};

	(void)state;
	give_cost(out, 0, 100000000, 0, NT_OWNER_SEND, 11, 100);
	give(out, NT_TABLE_SOCK_COST, &op);
	for (size_t i = 0; i < 2; i++) {
		give(out, NT_TABLE_CGROUP, &cgroups[i]);
		give(out, NT_TABLE_PROCESS, &processes[i]);
		give(out, NT_TABLE_SOCKET, &sockets[i]);
	}
	give_thread(out, 11, 1, "web1");
	give_thread(out, 12, 2, "cron");
	assert_int_equal(nt_sums_finish(out->sums), 0);
	assert_string_equal(out->text, "socket 9 unix stream 0 - - - - - - - -\n"
				       "thread 11 1 1 web1 - - 0\n"
				       "process 1 10 0 web 3 - -\n"
				       "cgroup 3 /web 0 - - - - - /web\n");
	assert_int_equal(out->ops, 2);
	assert_int_equal(out->bytes, 5);
	free_out(out);
}

static void give_counter(struct out *out, enum nt_table_id table, int64_t at, int64_t cpu, const char *source,
			 int64_t value)
{
	const struct nt_counter_info info = {.begin_ns = (uint64_t)(START + at),
					     .end_ns = (uint64_t)(START + at + 1),
					     .source = source,
					     .cpu = cpu,
					     .name = "n",
					     .value = value};

	give(out, table, &info);
}

/* Of each the first and the last; of the host's and the recorder's own the last of each minute. */
static void counters_are_few(void **state)
{
	struct out *out = new_out(3);

	(void)state;
	for (int64_t at = 0; at < 3 * MINUTE; at += MINUTE / 2) {
		const int64_t value = at / (MINUTE / 2);

		give_counter(out, NT_TABLE_PROC_COUNTER, at, -1, "snmp", value);
		give_counter(out, NT_TABLE_PROC_COUNTER, at, 0, "stat", 10 * value);
		give_counter(out, NT_TABLE_PROC_COUNTER, at, -1, "same", 7);
		give_counter(out, NT_TABLE_SELF_COST, at, -1, NULL, 100 + value);
		give_counter(out, NT_TABLE_SELF_COST, at, -1, "bpf", 200 + value);
	}
	assert_int_equal(nt_sums_finish(out->sums), 0);
	assert_string_equal(out->text, "proc_counter 1000000000000 1000000000001 snmp - n 0\n"
				       "proc_counter 1000000000000 1000000000001 stat 0 n 0\n"
				       "proc_counter 1000000000000 1000000000001 same - n 7\n"
				       "self_cost 1000000000001 - n 100\n"
				       "self_cost 1000000000001 bpf n 200\n"
				       "proc_counter 1030000000000 1030000000001 snmp - n 1\n"
				       "self_cost 1030000000001 - n 101\n"
				       "proc_counter 1090000000000 1090000000001 snmp - n 3\n"
				       "self_cost 1090000000001 - n 103\n"
				       "proc_counter 1150000000000 1150000000001 snmp - n 5\n"
				       "proc_counter 1150000000000 1150000000001 stat 0 n 50\n"
				       "self_cost 1150000000001 - n 105\n"
				       "self_cost 1150000000001 bpf n 205\n");
	free_out(out);
}

/* ---- a model in SQL ---- */

#define MODEL_MINUTES 12
#define STRING(number) #number
#define TEXT_OF(number) STRING(number)
#define OTHERS_TEXT "9223372036854775807"

/* The threads that keep their names in a minute: chosen(minute, utid). */
#define CHOSEN                                                                                                         \
	"WITH cell AS (SELECT minute, cpu, owner, utid, sum(ns) AS ns FROM raw_cpu WHERE owner IN ('send', 'recv') "   \
	"GROUP BY minute, cpu, owner, utid), both AS (SELECT minute, utid, ns, 1 AS rows FROM cell UNION ALL "         \
	"SELECT minute, utid, ns, 0 FROM raw_sock), thread AS (SELECT minute, utid, sum(ns) AS ns, sum(rows) AS rows " \
	"FROM both GROUP BY minute, utid), ranked AS (SELECT minute, utid, row_number() OVER w AS at, sum(rows) OVER " \
	"w AS rows FROM thread WINDOW w AS (PARTITION BY minute ORDER BY ns DESC, utid)), chosen AS (SELECT minute, "  \
	"utid FROM ranked WHERE at = 1 OR at <= " TEXT_OF(NT_SUMS_TOP) " AND rows <= " TEXT_OF(NT_SUMS_ROWS) ") "

#define NAME "CASE WHEN (minute, utid) IN (SELECT * FROM chosen) THEN utid ELSE " OTHERS_TEXT " END AS who"
#define MINUTE_OF "(ts - 1000000000000) / 60000000000 AS minute"

static int64_t number_of(struct nt_db *db, const char *sql)
{
	sqlite3_stmt *query = nt_db_query(db, sql, 1);
	int64_t number;

	assert_true(nt_db_next(query));
	number = sqlite3_column_int64(query, 0);
	assert_int_equal(nt_db_end(db, query, "it"), 0);
	return number;
}

/* No row of one is not in the other. */
static void same_rows(struct nt_db *db, const char *wanted, const char *given)
{
	char sql[4000];

	for (int i = 0; i < 2; i++) {
		snprintf(sql, sizeof(sql),
			 CHOSEN "SELECT count(*), ?1 FROM (SELECT * FROM (%s) EXCEPT SELECT * FROM (%s))",
			 i ? given : wanted, i ? wanted : given);
		if (number_of(db, sql))
			fail_msg("not the same: %s", sql);
	}
}

static void give_random(struct out *out, struct nt_rand *rand, struct nt_db *db, int64_t newest)
{
	static const enum nt_owner owners[] = {NT_OWNER_SEND, NT_OWNER_RECV, NT_OWNER_TASK};
	/* Some are known late. */
	const int64_t minute = newest && !nt_rand_below(rand, 4) ? newest - 1 : newest;
	/* In some minutes there are many threads, each on few CPUs; in others few, each on many. */
	const uint64_t task = 1 + nt_rand_below(rand, minute % 2 ? 60 : 9), ns = nt_rand_below(rand, 1000000000);

	if (nt_rand_below(rand, 2)) {
		const uint32_t cpu = (uint32_t)nt_rand_below(rand, minute % 2 ? 2 : 16) % CPUS;
		const enum nt_owner owner = owners[nt_rand_below(rand, 3)];

		give_cost(out, minute * MINUTE, 100000000, cpu, owner, task, (int64_t)ns + 1);
		scratch_db_run(db, "INSERT INTO raw_cpu VALUES(%lld, %u, '%s', %llu, %llu)", (long long)minute, cpu,
			       nt_owner_name(owner), (unsigned long long)task, (unsigned long long)ns + 1);
	} else {
		const struct nt_sock_cost op = {.ts_ns = (uint64_t)(START + minute * MINUTE),
						.dur_ns = 100000000,
						.task = task,
						.dir = NT_SEND,
						.socket = 1 + nt_rand_below(rand, 20),
						.ops = 1,
						.cpu_ns = ns};

		give(out, NT_TABLE_SOCK_COST, &op);
		scratch_db_run(db, "INSERT INTO raw_sock VALUES(%lld, %llu, %llu, %llu)", (long long)minute,
			       (unsigned long long)op.socket, (unsigned long long)task, (unsigned long long)ns);
	}
}

/* The same threads keep their names in both tables: those with the most time by both. */
static void both_tables_name_the_same(void **state)
{
	struct nt_rand rand = {nt_rand_seed()};
	struct nt_db *db = scratch_db_new(NULL);
	struct out *out = new_out(MODEL_MINUTES);

	(void)state;
	out->db = db;
	scratch_db_run(db, "CREATE TABLE raw_cpu(minute, cpu, owner, utid, ns)");
	scratch_db_run(db, "CREATE TABLE raw_sock(minute, socket_id, utid, ns)");
	for (int64_t minute = 0; minute < MODEL_MINUTES; minute++) {
		for (uint64_t i = 0, n = nt_rand_below(&rand, 1500); i < n; i++)
			give_random(out, &rand, db, minute);
	}
	assert_int_equal(nt_sums_finish(out->sums), 0);
	same_rows(db, "SELECT minute, cpu, owner, " NAME ", sum(ns) FROM cell GROUP BY minute, cpu, owner, who",
		  "SELECT " MINUTE_OF ", cpu, owner, utid, sum(spent_ns) FROM cpu_cost WHERE owner <> 'task' "
		  "GROUP BY minute, cpu, owner, utid");
	same_rows(db, "SELECT minute, " NAME ", count(*), sum(ns) FROM raw_sock GROUP BY minute, who",
		  "SELECT " MINUTE_OF ", utid, sum(ops), sum(cpu_ns) FROM sock_cost GROUP BY minute, utid");
	/* Of their rows the largest keep their sockets. */
	same_rows(
		db,
		"SELECT minute, socket_id, utid, ns FROM (SELECT *, row_number() OVER (PARTITION BY minute ORDER BY ns "
		"DESC) AS at FROM (SELECT minute, socket_id, utid, sum(ns) AS ns FROM raw_sock WHERE (minute, utid) IN "
		"(SELECT * FROM chosen) GROUP BY minute, socket_id, utid)) WHERE at <= " TEXT_OF(NT_SUMS_TOP),
		"SELECT " MINUTE_OF ", socket_id, utid, cpu_ns FROM sock_cost WHERE socket_id IS NOT NULL");
	nt_db_close(db);
	free_out(out);
}

/* ---- an hour ---- */

static void give_minute(struct out *out, int64_t minute)
{
	static const enum nt_owner own[] = {NT_OWNER_SEND, NT_OWNER_RECV, NT_OWNER_TASK};
	static const enum nt_owner others[] = {NT_OWNER_HARDIRQ, NT_OWNER_NET_RX, NT_OWNER_NET_TX, NT_OWNER_SOFTIRQ,
					       NT_OWNER_IDLE};
	const int64_t at = minute * MINUTE;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		for (size_t i = 0; i < NT_COUNT(others); i++)
			give_cost(out, at, 100000000, cpu, others[i], 0, 123456789);
		for (uint64_t task = 1; task <= THREADS; task++) {
			for (size_t i = 0; i < 3; i++)
				give_cost(out, at, 100000000, cpu, own[i], task,
					  (int64_t)(10000019 * task + (uint64_t)minute + cpu));
		}
	}
	/* Connections come and go: 250 of them in a minute, and of the most expensive ones 12. */
	for (uint64_t i = 0; i < SOCKETS; i++) {
		const struct nt_sock_cost op = {.ts_ns = (uint64_t)(START + at),
						.dur_ns = 100000000,
						.task = i % THREADS + 1,
						.dir = i % 2 ? NT_SEND : NT_RECV,
						.socket = (i % 4 ? 0 : (uint64_t)minute) * SOCKETS + i + 1,
						.ops = 1000 + i,
						.bytes = 1000000 + i,
						.cpu_ns = 5000000 + i};

		give(out, NT_TABLE_SOCK_COST, &op);
	}
}

static void give_identities(struct out *out, int64_t minutes)
{
	for (uint64_t task = 1; task <= THREADS; task++) {
		const struct nt_process_info process = {
			.process = task, .pid = 1000, .has_pid = true, .name = "some-program", .cgroup = task};
		const struct nt_cgroup record = {.cgroup = task};
		char path[64];
		const struct nt_cgroup_info cgroup = {.record = &record, .path = path, .words = {.label = path + 14}};

		snprintf(path, sizeof(path), "/system.slice/some-service-%d.service", (int)task);
		give_thread(out, task, task, "some-program");
		give(out, NT_TABLE_PROCESS, &process);
		give(out, NT_TABLE_CGROUP, &cgroup);
	}
	for (uint64_t socket = 1; socket <= (uint64_t)minutes * SOCKETS; socket++) {
		const struct nt_socket row = {.socket = socket,
					      .family = 2,
					      .type = 1,
					      .protocol = 6,
					      .src = {192, 168, 100, 1},
					      .dst = {192, 168, 100, 2},
					      .src_port = 40000,
					      .dst_port = 443,
					      .netns = 4026531840,
					      .cookie = socket};

		give(out, NT_TABLE_SOCKET, &row);
	}
}

static void give_counters(struct out *out, int64_t minutes)
{
	char name[32];

	for (int64_t at = 0; at < minutes * MINUTE; at += MINUTE / 4) {
		for (int i = 0; i < 400; i++) {
			const struct nt_counter_info info = {.begin_ns = (uint64_t)(START + at),
							     .end_ns = (uint64_t)(START + at + 50000),
							     .source = "/proc/net/snmp",
							     .cpu = i < 60 ? -1 : i % CPUS,
							     .name = name,
							     .value = at * i};

			snprintf(name, sizeof(name), "Udp.InDatagrams%d", i);
			give(out, NT_TABLE_PROC_COUNTER, &info);
		}
	}
}

static void an_hour_fits_a_megabyte(void **state)
{
	struct out *out = new_out(60);
	char dir[SCRATCH_MAX], path[2 * SCRATCH_MAX];
	struct stat status;

	(void)state;
	scratch_make(dir);
	assert_int_equal(nt_db_open(&out->db, scratch_path(path, dir, "hour.db"), NT_DB_NEW), 0);
	assert_int_equal(nt_db_leave_out(out->db, NT_ALL_TABLES & ~nt_tables_kept(NT_KEPT_WITH_SUMS)), 0);
	assert_int_equal(nt_db_begin(out->db), 0);
	for (int64_t minute = 0; minute < 60; minute++)
		give_minute(out, minute);
	give_identities(out, 60);
	give_counters(out, 60);
	assert_int_equal(nt_sums_finish(out->sums), 0);
	assert_int_equal(nt_db_finish(out->db), 0);
	nt_db_close(out->db);
	assert_int_equal(stat(path, &status), 0);
	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		if (out->rows[id])
			print_message("%s: %u rows\n", nt_table((enum nt_table_id)id)->name, out->rows[id]);
	}
	print_message("%lld bytes\n", (long long)status.st_size);
	assert_true(status.st_size <= 1000000);
	scratch_remove(dir);
	free_out(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_exact),
		cmocka_unit_test(who_computes_is_no_rival),
		cmocka_unit_test(a_forged_session_is_few_rows),
		cmocka_unit_test(long_rows_are_taken_apart),
		cmocka_unit_test(only_what_is_named),
		cmocka_unit_test(counters_are_few),
		cmocka_unit_test(both_tables_name_the_same),
		cmocka_unit_test(an_hour_fits_a_megabyte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

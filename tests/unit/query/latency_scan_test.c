// SPDX-License-Identifier: GPL-2.0-only
/*
 * latency_scan_test.c - which samples of a database a choice takes, and the Prometheus export of them: at the bounds of
 * time and of buckets, with flags of any text, and where packets were held back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "report/export/export.h"
#include "report/export/prometheus/sheet.h"
#include "report/export/prometheus/text.h"
#include "report/query/latency/scan.h"
#include "tests/support/scratch_db.h"

#define START 1000000
#define MOST 16

struct fixture {
	struct nt_db *db;
	struct nt_latency_choice choice;
	struct nt_latency_sample samples[MOST];
	size_t n;
	struct nt_latency_alone alone;
	char *text; /* of the last export */
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fixture->db = scratch_db_new(NULL);
	scratch_db_session(fixture->db, 1, START, START + 10000, 2);
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	nt_db_close(fixture->db);
	free(fixture->text);
	free(fixture);
	return 0;
}

/* A sample so many nanoseconds after the start, of the packet with that stamp. */
static void sample(struct fixture *fixture, int64_t at, const char *hook, int64_t ns, int stamp, int weight,
		   const char *flags)
{
	scratch_db_run(
		fixture->db,
		"INSERT INTO skb_latency(session_id, ts, cpu, hook, latency_ns, stamp_ns, queue_len, weight, flags) "
		"VALUES (1, %lld, 0, '%s', %lld, %d, 0, %d, '%s')",
		START + (long long)at, hook, (long long)ns, stamp, weight, flags);
}

static void choose(struct fixture *fixture, const char *between[2], const char *from, const char *to, bool include_hol)
{
	const struct nt_selection_args selection = {.from = from, .to = to};
	struct nt_latency_args args = {.include_hol = include_hol};
	char error[NT_ERROR_MAX];

	if (between)
		memcpy(args.between, between, sizeof(args.between));
	if (nt_latency_choose(&args, &selection, &fixture->choice, error))
		fail_msg("%s", error);
}

static int keep(void *arg, const struct nt_latency_sample *sample)
{
	struct fixture *fixture = arg;

	assert_true(fixture->n < MOST);
	fixture->samples[fixture->n++] = *sample;
	return 0;
}

static void scan(struct fixture *fixture)
{
	const struct nt_session session = {
		.id = 1, .start_ts = START, .end_ts = START + 10000, .start_realtime_ns = SCRATCH_DB_REALTIME_NS};
	struct nt_labels groups;

	fixture->n = 0;
	assert_int_equal(nt_groups_read(fixture->db, 1, NT_BY_NONE, &groups), 0);
	assert_int_equal(
		nt_latency_scan(fixture->db, &session, &fixture->choice, &groups, keep, fixture, &fixture->alone), 0);
	nt_labels_release(&groups);
}

/* The scan gives samples of these times, in this order; -1 ends the list. */
static void expect_times(struct fixture *fixture, const int *times)
{
	scan(fixture);
	for (size_t i = 0; times[i] >= 0 || i < fixture->n; i++) {
		if (i >= fixture->n || times[i] < 0 || fixture->samples[i].ts - START != times[i])
			fail_msg("sample %zu of %zu is at %lld and not at %d", i, fixture->n,
				 i < fixture->n ? (long long)fixture->samples[i].ts - START : -1, times[i]);
	}
}
#define TIMES(...) expect_times(fixture, (const int[]){__VA_ARGS__})

/* ---- which samples ---- */

/* From the one bound on, and before the other. */
static void takes_samples_of_the_time(void **state)
{
	struct fixture *fixture = *state;

	for (int at = 99; at <= 201; at++)
		if (at < 102 || at > 198)
			sample(fixture, at, "ip-start", 5, 0, 1, "");
	choose(fixture, NULL, "100ns", "200ns", false);
	TIMES(100, 101, 199, -1);
	choose(fixture, NULL, "200ns", NULL, false);
	TIMES(200, 201, -1);
	choose(fixture, NULL, NULL, "100ns", false);
	TIMES(99, -1);
}

static const char *between[2] = {"udp-socket-enqueued", "udp-socket-read"};

/* A pair is of the time of its second sample; the first may lie before the bound. */
static void takes_pairs_of_the_time(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 4; i++) {
		static const int reads[] = {99, 100, 199, 200};

		sample(fixture, 50 + i, between[0], 5, i, 1, "");
		sample(fixture, reads[i], between[1], 5, i, 1, "");
	}
	choose(fixture, between, "100ns", "200ns", false);
	TIMES(100, 199, -1);
	assert_int_equal(fixture->samples[0].ns, 49);
	assert_int_equal(fixture->alone.first, 0);
	assert_int_equal(fixture->alone.second, 0);
	choose(fixture, between, NULL, NULL, false);
	TIMES(99, 100, 199, 200, -1);
}

/* Of those that have no other, what lies before the bound does not count: it is there for the sake of pairs only. */
static void counts_who_is_alone_in_the_time(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 4; i++) {
		static const int times[] = {99, 100, 199, 200};

		sample(fixture, times[i], between[0], 5, 10 + i, 1, "");
		sample(fixture, times[i], between[1], 5, 20 + i, 1, "");
	}
	choose(fixture, between, "100ns", "200ns", false);
	TIMES(-1);
	assert_int_equal(fixture->alone.first, 2);
	assert_int_equal(fixture->alone.second, 2);
}

static void pairs_what_has_one_stamp(void **state)
{
	struct fixture *fixture = *state;

	/* At one time: the first hook's comes first, however they stand in the table. */
	sample(fixture, 100, between[1], 5, 1, 3, "");
	sample(fixture, 100, between[0], 5, 1, 7, "");
	/* Read before it came. */
	sample(fixture, 150, between[1], 5, 2, 1, "");
	sample(fixture, 151, between[0], 5, 2, 1, "");
	/* Another hook is none of them. */
	sample(fixture, 160, "ip-start", 5, 3, 1, "");
	sample(fixture, 161, between[1], 5, 3, 1, "");
	choose(fixture, between, NULL, NULL, false);
	TIMES(100, -1);
	assert_int_equal(fixture->samples[0].ns, 0);
	assert_true(fixture->samples[0].is_known);
	assert_true(fixture->samples[0].weight == 21.0);
	assert_int_equal(fixture->alone.first, 1);
	assert_int_equal(fixture->alone.second, 2);
	/* Without a stamp nothing has another. */
	scratch_db_run(fixture->db, "UPDATE skb_latency SET stamp_ns = NULL");
	TIMES(-1);
	assert_int_equal(fixture->alone.first, 0);
}

/* A packet that was held back at one of the two hooks was so between them. */
static void a_pair_is_held_back_if_either_is(void **state)
{
	static const char *const flags[4][2] = {{"", ""}, {"hol", ""}, {"", "ipv6,hol"}, {"hol", "hol"}};
	struct fixture *fixture = *state;

	for (int i = 0; i < 4; i++) {
		sample(fixture, 100 + i, between[0], 5, i, 1, flags[i][0]);
		sample(fixture, 200 + i, between[1], 5, i, 1, flags[i][1]);
	}
	choose(fixture, between, NULL, NULL, false);
	TIMES(200, 201, 202, 203, -1);
	for (int i = 0; i < 4; i++) {
		if (fixture->samples[i].is_hol != (i > 0))
			fail_msg("a pair of '%s' and '%s' is %sheld back", flags[i][0], flags[i][1],
				 fixture->samples[i].is_hol ? "" : "not ");
	}
}

static void give_up(int signal)
{
	static const char why[] = "ERROR: a flag is looked for without end\n";

	(void)signal;
	(void)!write(STDERR_FILENO, why, sizeof(why) - 1);
	_exit(1);
}

/* A flag is a word between commas, and no part of another: a database may be anybody's. */
static void flags_are_whole_words(void **state)
{
	static const struct {
		const char *flags;
		bool is_hol;
	} cases[] = {{"hol", true},	 {"hol,ipv6", true},  {"ipv6,hol", true}, {"ipv6,hol,future", true},
		     {"", false},	 {"holy", false},     {"whol", false},	  {"holy,hol", true},
		     {"whol,hol", true}, {"hol hol", false},  {"holhol", false},  {"holhol,hol", true},
		     {"ho,l", false},	 {"holy,whol", false}};
	struct fixture *fixture = *state;
	struct itimerval limit = {.it_value.tv_sec = 60}; /* of its own CPU time: whatever else runs */

	signal(SIGVTALRM, give_up);
	setitimer(ITIMER_VIRTUAL, &limit, NULL);
	choose(fixture, NULL, NULL, NULL, false);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		scratch_db_run(fixture->db, "DELETE FROM skb_latency");
		sample(fixture, 100, "ip-start", 5, 0, 1, cases[i].flags);
		TIMES(100, -1);
		if (fixture->samples[0].is_hol != cases[i].is_hol)
			fail_msg("flags '%s': %sheld back", cases[i].flags, cases[i].is_hol ? "not " : "");
	}
	limit.it_value.tv_sec = 0;
	setitimer(ITIMER_VIRTUAL, &limit, NULL);
	assert_false(fixture->samples[0].is_future);
	scratch_db_run(fixture->db, "UPDATE skb_latency SET flags = 'step,future', latency_ns = NULL");
	TIMES(100, -1);
	assert_true(fixture->samples[0].is_future && !fixture->samples[0].is_known && !fixture->samples[0].is_hol);
}

/* Of a weight that no recorder writes, one packet is known. */
static void weights_are_those_of_a_recorder(void **state)
{
	static const struct {
		long long weight;
		double used;
	} cases[] = {{1, 1}, {2, 2}, {UINT32_MAX, UINT32_MAX}, {0, 1}, {-3, 1}, {UINT32_MAX + 1ll, 1}};
	struct fixture *fixture = *state;

	sample(fixture, 100, "ip-start", 5, 0, 1, "");
	choose(fixture, NULL, NULL, NULL, false);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		scratch_db_run(fixture->db, "UPDATE skb_latency SET weight = %lld", cases[i].weight);
		TIMES(100, -1);
		if (fixture->samples[0].weight != cases[i].used)
			fail_msg("a weight of %lld counts as %g", cases[i].weight, fixture->samples[0].weight);
	}
}

static int refuse(void *arg, const struct nt_latency_sample *sample)
{
	(void)sample;
	++*(size_t *)arg;
	return 1;
}

/* A receiver of samples returns non-zero where memory runs out: it gets no more, and the scan says why. */
static void a_scan_stops_when_memory_runs_out(void **state)
{
	const struct nt_session session = {.id = 1, .start_ts = START, .end_ts = START + 10000};
	struct nt_labels groups;
	struct fixture *fixture = *state;

	for (int i = 0; i < 3; i++) {
		sample(fixture, 100 + i, between[0], 5, i, 1, "");
		sample(fixture, 200 + i, between[1], 5, i, 1, "");
	}
	assert_int_equal(nt_groups_read(fixture->db, 1, NT_BY_NONE, &groups), 0);
	for (int with_pairs = 0; with_pairs < 2; with_pairs++) {
		size_t n = 0;

		choose(fixture, with_pairs ? between : NULL, NULL, NULL, false);
		fixture->db->error[0] = 0;
		assert_int_equal(nt_latency_scan(fixture->db, &session, &fixture->choice, &groups, refuse, &n, NULL),
				 -1);
		assert_non_null(strstr(fixture->db->error, ": out of memory."));
		assert_int_equal(n, 1);
	}
	nt_labels_release(&groups);
}

/* As many groups as there are, each with its label; what belongs to none is in the first. */
static void samples_have_groups(void **state)
{
	struct nt_labels groups;
	struct fixture *fixture = *state;

	for (int cpu = 0; cpu < 100; cpu++)
		scratch_db_run(fixture->db,
			       "INSERT INTO skb_latency(session_id, ts, cpu, hook, queue_len, weight, flags) VALUES "
			       "(1, 5, %d, 'ip-start', "
			       "0, 1, '')",
			       1000 + cpu);
	assert_int_equal(nt_groups_read(fixture->db, 1, NT_BY_CPU, &groups), 0);
	assert_int_equal(groups.texts.n, 101);
	assert_string_equal(nt_labels_text(&groups, 0), "-");
	for (int cpu = 0; cpu < 100; cpu++) {
		assert_int_equal(strtol(nt_labels_text(&groups, (uint32_t)cpu + 1), NULL, 10), 1000 + cpu);
		assert_int_equal(nt_group_of_id(&groups, 1000 + cpu), cpu + 1);
	}
	nt_labels_release(&groups);
}

/* Labels that are shown alike are one group. */
static void groups_of_one_label_are_one(void **state)
{
	static const struct {
		const char *text, *label;
		uint32_t number;
	} cases[] = {{"eth0", "eth0", 1},
		     {"a\xff", "a\xef\xbf\xbd", 2},
		     {"eth0", "eth0", 1},
		     {"a\xfe", "a\xef\xbf\xbd", 2},
		     {"-", "-", 0},
		     {"", "", 3},
		     {"\xc3\xa9", "\xc3\xa9", 4}};
	struct nt_labels groups;
	struct fixture *fixture = *state;
	uint32_t number;

	assert_int_equal(nt_groups_read(fixture->db, 1, NT_BY_NONE, &groups), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(nt_labels_number(&groups, cases[i].text, &number), 0);
		assert_int_equal(number, cases[i].number);
		assert_string_equal(nt_labels_text(&groups, number), cases[i].label);
	}
	assert_int_equal(groups.texts.n, 5);
	nt_labels_release(&groups);
}

static int take_session(void *arg, const struct nt_session *session)
{
	struct nt_session **next = arg;

	*(*next)++ = *session;
	return session->id == 4 ? 7 : 0;
}

static int each_session(struct fixture *fixture, struct nt_session sessions[8])
{
	struct nt_session *next = sessions;

	memset(sessions, 0, 8 * sizeof(*sessions));
	return nt_session_each(fixture->db, take_session, &next);
}

/* A database may be anybody's: what no clock shows and no host has is made such that it can be calculated with. */
static void sessions_have_times_of_a_clock(void **state)
{
	struct nt_session sessions[8];
	struct fixture *fixture = *state;

	scratch_db_session(fixture->db, 3, 5, 4, 65535);
	scratch_db_session(fixture->db, 2, -5, 0, 65536);
	scratch_db_run(fixture->db, "UPDATE session SET start_realtime_ns = -1, cpus = -1 WHERE session_id = 2");
	assert_int_equal(each_session(fixture, sessions), 0);
	assert_int_equal(sessions[0].id, 1);
	assert_int_equal(sessions[0].start_ts, START);
	assert_int_equal(sessions[0].end_ts, START + 10000);
	assert_int_equal(sessions[0].start_realtime_ns, SCRATCH_DB_REALTIME_NS);
	assert_int_equal(sessions[0].cpus, 2);
	assert_int_equal(sessions[1].id, 2);
	assert_int_equal(sessions[1].start_ts, 0);
	assert_int_equal(sessions[1].start_realtime_ns, 0);
	assert_int_equal(sessions[1].cpus, 1);
	assert_int_equal(sessions[2].start_ts, 5);
	assert_int_equal(sessions[2].end_ts, 5);
	assert_int_equal(sessions[2].cpus, 65535);
	scratch_db_run(fixture->db, "UPDATE session SET cpus = 65536 WHERE session_id = 3");
	each_session(fixture, sessions);
	assert_int_equal(sessions[2].cpus, 1);
	/* The callback may stop it. */
	scratch_db_session(fixture->db, 4, 5, 6, 1);
	scratch_db_session(fixture->db, 5, 5, 6, 1);
	assert_int_equal(each_session(fixture, sessions), 7);
	assert_int_equal(sessions[3].id, 4);
	assert_int_equal(sessions[4].id, 0);
}

/* ---- the export ---- */

static void export(struct fixture *fixture)
{
	size_t size;
	FILE *out;

	scratch_db_run(fixture->db, "UPDATE session SET host = ''");
	free(fixture->text);
	out = open_memstream(&fixture->text, &size);
	assert_int_equal(nt_export_prometheus(fixture->db, &fixture->choice, 25, out), 0);
	fclose(out);
}

/* There is a line that begins so, and it goes on so. */
static void expect_line(struct fixture *fixture, const char *name, const char *value)
{
	const char *at = strstr(fixture->text, name);

	if (!at || strncmp(at + strlen(name), value, strlen(value)) || at[strlen(name) + strlen(value)] != '\n')
		fail_msg("not '%s%s' but '%.*s'", name, value, at ? (int)strcspn(at, "\n") : 0, at ? at : "");
}
#define HOST "{host=\"-\","
#define BUCKET "nettape_skb_latency_seconds_bucket" HOST "hook=\"ip-start\",le="

/* A value equal to a bound is in its bucket; a value above the last bound is in the one for all. */
static void buckets_end_at_powers_of_two(void **state)
{
	struct fixture *fixture = *state;

	choose(fixture, NULL, NULL, NULL, false);
	for (int octave = 0; octave <= NT_PROMETHEUS_OCTAVES; octave++) {
		char below[100], bound[100], seconds[32];

		scratch_db_run(fixture->db, "DELETE FROM skb_latency");
		sample(fixture, 100, "ip-start", 1ll << octave, 0, 1, "");
		sample(fixture, 101, "ip-start", (1ll << octave) + 1, 0, 10, "");
		export(fixture);
		snprintf(bound, sizeof(bound), BUCKET "\"%s\"} ",
			 nt_prometheus_seconds(seconds, (double)(1ll << octave)));
		expect_line(fixture, bound, "1");
		if (octave) {
			snprintf(below, sizeof(below), BUCKET "\"%s\"} ",
				 nt_prometheus_seconds(seconds, (double)(1ll << (octave - 1))));
			expect_line(fixture, below, "0");
		}
		if (octave < NT_PROMETHEUS_OCTAVES) {
			snprintf(bound, sizeof(bound), BUCKET "\"%s\"} ",
				 nt_prometheus_seconds(seconds, (double)(1ll << (octave + 1))));
			expect_line(fixture, bound, "11");
		}
		expect_line(fixture, BUCKET "\"+Inf\"} ", "11");
	}
	/* All above the last bound are in one, up to the longest that a database can hold; below the first bound too.
	 */
	for (int octave = NT_PROMETHEUS_OCTAVES + 1; octave <= 62; octave++) {
		scratch_db_run(fixture->db, "DELETE FROM skb_latency");
		sample(fixture, 100, "ip-start", 1ll << octave, 0, 1, "");
		export(fixture);
		expect_line(fixture, BUCKET "\"17.179869184\"} ", "0");
		expect_line(fixture, BUCKET "\"+Inf\"} ", "1");
	}
	scratch_db_run(fixture->db, "DELETE FROM skb_latency");
	sample(fixture, 100, "ip-start", INT64_MAX, 0, 1, "");
	sample(fixture, 100, "ip-start", -5, 0, 10, "");
	export(fixture);
	expect_line(fixture, BUCKET "\"1e-09\"} ", "10");
	expect_line(fixture, BUCKET "\"17.179869184\"} ", "10");
	expect_line(fixture, BUCKET "\"+Inf\"} ", "11");
	expect_line(fixture, "nettape_skb_latency_seconds_count" HOST "hook=\"ip-start\"} ", "11");
}

static void what_is_held_back_is_in_no_bucket(void **state)
{
	struct fixture *fixture = *state;

	sample(fixture, 100, "tcp-socket-read", 5, 0, 1, "");
	sample(fixture, 101, "tcp-socket-read", 500, 0, 1, "hol");
	scratch_db_run(fixture->db,
		       "INSERT INTO skb_latency(session_id, ts, cpu, hook, stamp_ns, queue_len, weight, flags) VALUES "
		       "(1, 1000102, 0, 'tcp-socket-read', 0, 0, 1, 'hol,future'), (1, 1000103, 0, 'tcp-socket-read', "
		       "0, 0, 1, 'step')");
	choose(fixture, NULL, NULL, NULL, false);
	export(fixture);
	expect_line(fixture, "seconds_count" HOST "hook=\"tcp-socket-read\"} ", "1");
	expect_line(fixture, "seconds_sum" HOST "hook=\"tcp-socket-read\"} ", "5e-09");
	expect_line(fixture, "rejected_total" HOST "hook=\"tcp-socket-read\",reason=\"head_of_line\"} ", "1");
	expect_line(fixture, "rejected_total" HOST "hook=\"tcp-socket-read\",reason=\"future\"} ", "1");
	expect_line(fixture, "rejected_total" HOST "hook=\"tcp-socket-read\",reason=\"unknown\"} ", "1");
	choose(fixture, NULL, NULL, NULL, true);
	export(fixture);
	expect_line(fixture, "seconds_count" HOST "hook=\"tcp-socket-read\"} ", "2");
	expect_line(fixture, "rejected_total" HOST "hook=\"tcp-socket-read\",reason=\"head_of_line\"} ", "0");
	expect_line(fixture, "rejected_total" HOST "hook=\"tcp-socket-read\",reason=\"future\"} ", "1");
}

static void counters_are_of_the_time(void **state)
{
	struct fixture *fixture = *state;

	for (int i = 0; i < 4; i++) {
		static const int times[] = {99, 100, 199, 200};

		scratch_db_run(
			fixture->db,
			"INSERT INTO skb_drop(session_id, ts, cpu, reason, location, length) VALUES (1, %d, 0, 'at "
			"%d', "
			"'f', 1);"
			"INSERT INTO tcp_retransmit(session_id, ts, cpu, what, length) VALUES (1, %d, 0, 'at %d', 1)",
			START + times[i], times[i], START + times[i], times[i]);
	}
	choose(fixture, NULL, "100ns", "200ns", false);
	export(fixture);
	for (int i = 0; i < 2; i++) {
		const char *name =
			i ? "nettape_tcp_retransmits_total" HOST "what=" : "nettape_skb_drops_total" HOST "reason=";
		char line[100];

		snprintf(line, sizeof(line), "%s\"at 100\"} ", name);
		expect_line(fixture, line, "1");
		snprintf(line, sizeof(line), "%s\"at 199\"} ", name);
		expect_line(fixture, line, "1");
		snprintf(line, sizeof(line), "%s\"at 99\"} ", name);
		assert_null(strstr(fixture->text, line));
		snprintf(line, sizeof(line), "%s\"at 200\"} ", name);
		assert_null(strstr(fixture->text, line));
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(takes_samples_of_the_time),
		TEST(takes_pairs_of_the_time),
		TEST(counts_who_is_alone_in_the_time),
		TEST(pairs_what_has_one_stamp),
		TEST(a_pair_is_held_back_if_either_is),
		TEST(flags_are_whole_words),
		TEST(weights_are_those_of_a_recorder),
		TEST(sessions_have_times_of_a_clock),
		TEST(samples_have_groups),
		TEST(a_scan_stops_when_memory_runs_out),
		TEST(groups_of_one_label_are_one),
		TEST(buckets_end_at_powers_of_two),
		TEST(what_is_held_back_is_in_no_bucket),
		TEST(counters_are_of_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

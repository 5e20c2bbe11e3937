// SPDX-License-Identifier: GPL-2.0-only
/*
 * export_prometheus.c - see export_prometheus.h. Memory is for the series, not for the samples.
 */
#include "report/export_prometheus.h"

#include <stdlib.h>
#include <string.h>

#include "report/histogram.h"
#include "report/words.h"
#include "schema/kind.h"

#define N_BUCKETS (NT_PROMETHEUS_OCTAVES + 2) /* from up to 1 ns to up to 2^34 ns, and all above */

struct counts {
	double packets[N_BUCKETS];
	double sum_ns;
};

struct export
{
	struct nt_db *db;
	const struct nt_latency_choice *choice;
	FILE *out;
	bool several; /* sessions */
	struct nt_latency_groups groups; /* of the session at hand */
	struct counts **by_hook[NT_HOOK_COUNT]; /* by group; NULL: none */
};

/* ---- pieces of the format ---- */

void nt_prometheus_escape(FILE *out, const char *text)
{
	size_t size = strlen(text);

	for (size_t i = 0; i < size;) {
		size_t n = nt_utf8_length(text + i, size - i);

		if (!n)
			fputs("\xef\xbf\xbd", out);
		else if (text[i] == '\\' || text[i] == '"')
			fprintf(out, "\\%c", text[i]);
		else if (text[i] == '\n')
			fputs("\\n", out);
		else
			fwrite(text + i, 1, n, out);
		i += n ? n : 1;
	}
}

/* 17 digits would do, but a tenth would be 0.10000000000000001 with them: the fewest that say this number and no other.
 */
const char *nt_prometheus_seconds(char text[32], double ns)
{
	double seconds = ns / 1e9;

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, 32, "%.*g", digits, seconds);
		if (strtod(text, NULL) == seconds)
			break;
	}
	return text;
}

static void write_head(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_label(FILE *out, const char *before, const char *name, const char *value)
{
	fprintf(out, "%s%s=\"", before, name);
	nt_prometheus_escape(out, value);
	fputc('"', out);
}

static void write_session(const struct export *export, int64_t session_id)
{
	if (export->several)
		fprintf(export->out, ",session_id=\"%lld\"", (long long)session_id);
}

/* ---- the histogram ---- */

static void release_counts(struct export *export)
{
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		for (uint32_t group = 0; export->by_hook[hook] && group < export->groups.n; group++)
			free(export->by_hook[hook][group]);
		free(export->by_hook[hook]);
		export->by_hook[hook] = NULL;
	}
	nt_latency_groups_release(&export->groups);
}

static int init_counts(struct export *export)
{
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		export->by_hook[hook] = calloc(export->groups.n, sizeof(*export->by_hook[hook]));
		if (!export->by_hook[hook])
			return -1;
	}
	return 0;
}

static int count_sample(void *arg, const struct nt_latency_sample *sample)
{
	struct export *export = arg;
	struct counts **counts = &export->by_hook[sample->hook][sample->group];
	uint32_t bucket;

	if (!sample->is_known || (sample->is_hol && !export->choice->include_hol))
		return 0;
	if (!*counts)
		*counts = calloc(1, sizeof(**counts));
	if (!*counts)
		return -1;
	bucket = nt_bucket_of(1, sample->ns);
	(*counts)->packets[bucket < N_BUCKETS ? bucket : N_BUCKETS - 1] += sample->weight;
	(*counts)->sum_ns += (double)sample->ns * sample->weight;
	return 0;
}

static void write_labels(const struct export *export, int64_t session_id, enum nt_hook hook, uint32_t group)
{
	fputc('{', export->out);
	write_label(export->out, "", "hook", nt_hook_name(hook));
	if (export->choice->by)
		write_label(export->out, ",", nt_by_name(export->choice->by), export->groups.labels[group]);
	write_session(export, session_id);
}

static void write_series(const struct export *export, int64_t session_id, enum nt_hook hook, uint32_t group)
{
	const struct counts *counts = export->by_hook[hook][group];
	double upto = 0;
	char seconds[32];

	for (unsigned int bucket = 0; bucket < N_BUCKETS; bucket++) {
		bool is_last = bucket == N_BUCKETS - 1;

		upto += counts->packets[bucket];
		fputs("nettape_skb_latency_seconds_bucket", export->out);
		write_labels(export, session_id, hook, group);
		fprintf(export->out, ",le=\"%s\"} %.0f\n",
			is_last ? "+Inf" : nt_prometheus_seconds(seconds, (double)(1ull << bucket)), upto);
	}
	fputs("nettape_skb_latency_seconds_sum", export->out);
	write_labels(export, session_id, hook, group);
	fprintf(export->out, "} %s\nnettape_skb_latency_seconds_count", nt_prometheus_seconds(seconds, counts->sum_ns));
	write_labels(export, session_id, hook, group);
	fprintf(export->out, "} %.0f\n", upto);
}

static int write_histograms(void *arg, const struct nt_latency_session *session)
{
	struct export *export = arg;
	struct nt_db *db = export->db;
	int error = nt_latency_groups(db, session->id, export->choice->by, &export->groups);

	if (!error && init_counts(export)) {
		snprintf(db->error, sizeof(db->error), "out of memory.");
		error = -1;
	}
	if (!error)
		error = nt_latency_scan(db, session, export->choice, &export->groups, count_sample, export, NULL);
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT && !error; hook++) {
		for (uint32_t group = 0; group < export->groups.n; group++) {
			if (export->by_hook[hook][group])
				write_series(export, session->id, (enum nt_hook)hook, group);
		}
	}
	release_counts(export);
	return error;
}

/* ---- counters: each is one query that gives session_id, a count, then labels ---- */

struct counter {
	const char *table; /* that must be there */
	const char *name, *help;
	const char *sql;
};

static const struct counter counters[] = {
	{"latency_hook", "nettape_skb_latency_rejected_total",
	 "Packets at a hook that are in no bucket, by reason, over the whole recording.",
	 "SELECT session_id, no_stamp, hook, 'no_stamp' AS reason FROM latency_hook "
	 "UNION ALL SELECT session_id, transmit_stamp, hook, 'transmit_stamp' FROM latency_hook "
	 "UNION ALL SELECT session_id, future, hook, 'future' FROM latency_hook "
	 "UNION ALL SELECT session_id, count(*), hook, 'unknown' FROM skb_latency "
	 "WHERE latency_ns IS NULL AND ',' || flags || ',' NOT LIKE '%,future,%' GROUP BY session_id, hook "
	 "UNION ALL SELECT session_id, skipped_filter, hook, 'filter' FROM latency_hook "
	 "ORDER BY session_id, hook, reason"},
	{"latency_hook", "nettape_skb_latency_lost_total", "Samples at a hook that could not be recorded.",
	 "SELECT session_id, lost, hook FROM latency_hook ORDER BY session_id, hook"},
	{"skb_latency", "nettape_skb_latency_head_of_line_total",
	 "Packets whose read had to wait for a segment that came late, over the whole recording.",
	 "SELECT session_id, sum(weight), hook FROM skb_latency WHERE ',' || flags || ',' LIKE '%,hol,%' "
	 "GROUP BY session_id, hook"},
	{"skb_drop", "nettape_skb_drops_total", "Packets that the kernel freed and did not deliver, by its reason.",
	 "SELECT session_id, count(*), coalesce(reason, '-') AS reason FROM skb_drop GROUP BY session_id, 3"},
	{"tcp_retransmit", "nettape_tcp_retransmits_total", "Segments that TCP sent again.",
	 "SELECT session_id, count(*), coalesce(what, '-') AS what FROM tcp_retransmit GROUP BY session_id, 3"},
};

static void write_count(const struct export *export, const struct counter *counter, sqlite3_stmt *row)
{
	if (sqlite3_column_type(row, 1) == SQLITE_NULL)
		return; /* the tape does not say */
	fprintf(export->out, "%s", counter->name);
	for (int i = 2; i < sqlite3_column_count(row); i++)
		write_label(export->out, i == 2 ? "{" : ",", sqlite3_column_name(row, i), nt_db_text(row, i));
	write_session(export, sqlite3_column_int64(row, 0));
	fprintf(export->out, "} %lld\n", (long long)sqlite3_column_int64(row, 1));
}

static int write_counter(const struct export *export, const struct counter *counter)
{
	sqlite3_stmt *statement;
	int step;

	if (!nt_latency_has(export->db, counter->table))
		return 0;
	statement = nt_db_prepare(export->db, counter->sql, NULL);
	if (!statement)
		return -1;
	write_head(export->out, counter->name, "counter", counter->help);
	while ((step = sqlite3_step(statement)) == SQLITE_ROW)
		write_count(export, counter, statement);
	sqlite3_finalize(statement);
	return step == SQLITE_DONE ? 0 : nt_db_fail(export->db, "the counts cannot be read");
}

static int count_sessions(void *arg, const struct nt_latency_session *session)
{
	unsigned int *n = arg;

	(void)session;
	++*n;
	return 0;
}

int nt_export_prometheus(struct nt_db *db, const struct nt_latency_choice *choice, FILE *out)
{
	struct export export = {.db = db, .choice = choice, .out = out};
	unsigned int sessions = 0;
	int error = nt_latency_each_session(db, count_sessions, &sessions);

	export.several = sessions > 1;
	if (!error && nt_latency_has(db, "skb_latency")) {
		write_head(out, "nettape_skb_latency_seconds", "histogram",
			   "How long after a packet was received by the host it came to a hook on its way up.");
		error = nt_latency_each_session(db, write_histograms, &export);
	}
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]) && !error; i++)
		error = write_counter(&export, &counters[i]);
	return error;
}

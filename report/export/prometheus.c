// SPDX-License-Identifier: GPL-2.0-only
/*
 * prometheus.c - see prometheus.h. Memory is for the series, not for the samples.
 */
#include "report/export/prometheus.h"

#include <stdlib.h>
#include <string.h>

#include "report/export/export.h"
#include "report/query/flows.h"
#include "report/query/latency/result.h"
#include "report/query/energy.h"
#include "report/query/kmem.h"
#include "report/query/memory.h"
#include "report/query/disks.h"
#include "report/query/waits.h"
#include "report/query/whole.h"
#include "report/util/array.h"
#include "report/util/histogram.h"
#include "report/util/utf8.h"
#include "schema/kind.h"

#define N_BUCKETS (NT_PROMETHEUS_OCTAVES + 2) /* from up to 1 ns to up to 2^34 ns, and all above */

struct counts {
	double n[N_BUCKETS]; /* packets, or waits */
	double sum_ns;
};

/* Samples of a session at each hook that are in no bucket. */
struct left_out {
	int64_t session_id;
	bool has_samples[NT_HOOK_COUNT]; /* of any kind */
	int64_t hol[NT_HOOK_COUNT], future[NT_HOOK_COUNT], unknown[NT_HOOK_COUNT];
};

struct writer {
	struct nt_db *db;
	const struct nt_latency_choice *choice;
	FILE *out;
	int64_t n_sessions; /* as they were counted first */
	struct left_out *left_out; /* of each session so far, the one at hand last */
	size_t n_left_out, left_out_size;
	struct nt_labels groups; /* of the session at hand */
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

#define SESSION_LABEL_MAX 40

/* ",session_id=..." where there are several; gives `text`. */
static const char *session_label(const struct writer *writer, int64_t session_id, char text[SESSION_LABEL_MAX])
{
	text[0] = 0;
	if (writer->n_sessions > 1)
		snprintf(text, SESSION_LABEL_MAX, ",session_id=\"%lld\"", (long long)session_id);
	return text;
}

static void write_session(const struct writer *writer, FILE *out, int64_t session_id)
{
	char text[SESSION_LABEL_MAX];

	fputs(session_label(writer, session_id, text), out);
}

/* ---- histograms ---- */

static void add_to_bucket(struct counts *counts, uint64_t ns, double weight)
{
	const uint32_t bucket = nt_bucket_of(1, ns);

	counts->n[bucket < N_BUCKETS ? bucket : N_BUCKETS - 1] += weight;
	counts->sum_ns += (double)ns * weight;
}

/* `labels`: all but `le`, without braces. */
static void write_histogram(FILE *out, const char *name, const char *labels, const struct counts *counts)
{
	double upto = 0;
	char seconds[32];

	for (unsigned int bucket = 0; bucket < N_BUCKETS; bucket++) {
		const bool is_last = bucket == N_BUCKETS - 1;

		upto += counts->n[bucket];
		fprintf(out, "%s_bucket{%s,le=\"%s\"} %.0f\n", name, labels,
			is_last ? "+Inf" : nt_prometheus_seconds(seconds, (double)(1ull << bucket)), upto);
	}
	fprintf(out, "%s_sum{%s} %s\n%s_count{%s} %.0f\n", name, labels, nt_prometheus_seconds(seconds, counts->sum_ns),
		name, labels, upto);
}

/* ---- how late packets are ---- */

static void release_counts(struct writer *writer)
{
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		for (uint32_t group = 0; writer->by_hook[hook] && group < writer->groups.texts.n; group++)
			free(writer->by_hook[hook][group]);
		free(writer->by_hook[hook]);
		writer->by_hook[hook] = NULL;
	}
	nt_labels_release(&writer->groups);
}

static int init_counts(struct writer *writer)
{
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		writer->by_hook[hook] = calloc(writer->groups.texts.n, sizeof(*writer->by_hook[hook]));
		if (!writer->by_hook[hook])
			return -1;
	}
	return 0;
}

static int add_left_out(struct writer *writer, int64_t session_id)
{
	if (NT_ROOM(writer->left_out, writer->left_out_size, writer->n_left_out + 1))
		return -1;
	writer->left_out[writer->n_left_out++] = (struct left_out){.session_id = session_id};
	return 0;
}

static void count_left_out(struct left_out *left_out, const struct nt_latency_sample *sample)
{
	if (sample->is_known)
		left_out->hol[sample->hook]++;
	else if (sample->is_future)
		left_out->future[sample->hook]++;
	else
		left_out->unknown[sample->hook]++;
}

static int count_sample(void *arg, const struct nt_latency_sample *sample)
{
	struct writer *writer = arg;
	struct left_out *left_out = &writer->left_out[writer->n_left_out - 1];
	struct counts **counts = &writer->by_hook[sample->hook][sample->group];

	if (sample->is_other)
		return 0;
	left_out->has_samples[sample->hook] = true;
	if (!sample->is_known || (sample->is_hol && !writer->choice->include_hol)) {
		count_left_out(left_out, sample);
		return 0;
	}
	if (!*counts)
		*counts = calloc(1, sizeof(**counts));
	if (!*counts)
		return -1;
	add_to_bucket(*counts, sample->ns, sample->weight);
	return 0;
}

static void write_labels(const struct writer *writer, FILE *out, int64_t session_id, enum nt_hook hook, uint32_t group)
{
	write_label(out, "", "hook", nt_hook_name(hook));
	if (writer->choice->by)
		write_label(out, ",", nt_by_name(writer->choice->by), nt_labels_text(&writer->groups, group));
	write_session(writer, out, session_id);
}

static int write_series(const struct writer *writer, int64_t session_id, enum nt_hook hook, uint32_t group)
{
	char *labels = NULL;
	size_t size;
	FILE *out = open_memstream(&labels, &size);
	int error;

	if (!out)
		return nt_db_no_memory(writer->db);
	write_labels(writer, out, session_id, hook, group);
	error = fclose(out) ? nt_db_no_memory(writer->db) : 0;
	if (!error)
		write_histogram(writer->out, "nettape_skb_latency_seconds", labels, writer->by_hook[hook][group]);
	free(labels);
	return error;
}

static int write_histograms(void *arg, const struct nt_session *session)
{
	struct writer *writer = arg;
	struct nt_db *db = writer->db;
	int error = nt_session_limit(db, session, &writer->choice->selection);

	if (!error)
		error = nt_groups_read(db, session->id, writer->choice->by, &writer->groups);
	if (!error && (add_left_out(writer, session->id) || init_counts(writer)))
		error = nt_db_no_memory(db);
	if (!error)
		error = nt_latency_scan(db, session, writer->choice, &writer->groups, count_sample, writer, NULL);
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT && !error; hook++) {
		for (uint32_t group = 0; group < writer->groups.texts.n && !error; group++) {
			if (writer->by_hook[hook][group])
				error = write_series(writer, session->id, (enum nt_hook)hook, group);
		}
	}
	release_counts(writer);
	return error;
}

/* ---- what is in no bucket ---- */

#define REJECTED "nettape_skb_latency_rejected_total"

static void write_rejected(const struct writer *writer, int64_t session_id, unsigned int hook, const char *reason,
			   int64_t count)
{
	fprintf(writer->out, REJECTED "{hook=\"%s\",reason=\"%s\"", nt_hook_name(hook), reason);
	write_session(writer, writer->out, session_id);
	fprintf(writer->out, "} %lld\n", (long long)count);
}

static void write_hook(const struct writer *writer, const struct left_out *left_out,
		       const struct nt_latency_accounting *accounting, unsigned int hook)
{
	static const char *const reasons[NT_REASON_COUNT] = {
		[NT_REASON_NO_STAMP] = "no_stamp",
		[NT_REASON_TRANSMIT_STAMP] = "transmit_stamp",
		[NT_REASON_FILTER] = "filter",
		[NT_REASON_LOST] = "lost",
	};

	if (!accounting->is_there[hook] && !left_out->has_samples[hook])
		return;
	for (unsigned int i = 0; i < NT_REASON_COUNT; i++) {
		if (reasons[i] && accounting->is_there[hook])
			write_rejected(writer, left_out->session_id, hook, reasons[i], accounting->counts[hook][i]);
	}
	write_rejected(writer, left_out->session_id, hook, "future", left_out->future[hook]);
	write_rejected(writer, left_out->session_id, hook, "unknown", left_out->unknown[hook]);
	write_rejected(writer, left_out->session_id, hook, "head_of_line", left_out->hol[hook]);
}

static int write_left_out(const struct writer *writer)
{
	int error = 0;

	write_head(writer->out, REJECTED, "counter",
		   "Packets at a hook that are in no bucket, by reason, as counted: not scaled where packets were "
		   "sampled. no_stamp, transmit_stamp, filter and lost are of the whole recording, also where only a "
		   "part of its time was asked for.");
	for (size_t i = 0; i < writer->n_left_out && !error; i++) {
		struct nt_latency_accounting accounting;

		error = nt_latency_accounting(writer->db, writer->left_out[i].session_id, &accounting);
		for (unsigned int hook = NT_HOOK_NONE + 1; hook < NT_HOOK_COUNT && !error; hook++) {
			if (writer->choice->hooks & 1u << hook)
				write_hook(writer, &writer->left_out[i], &accounting, hook);
		}
	}
	return error;
}

/* ---- counters: numbers of rows of a table, by a label ---- */

struct counter {
	const char *table; /* that must be there */
	const char *name, *help;
	const char *label; /* its name */
	const char *value; /* of the label, in SQL */
};

static const struct counter counters[] = {
	{"skb_drop", "nettape_skb_drops_total", "Packets that the kernel freed and did not deliver, by its reason.",
	 "reason", "coalesce(reason, '-')"},
	{"tcp_retransmit", "nettape_tcp_retransmits_total", "Segments that TCP sent again.", "what",
	 "coalesce(what, '-')"},
};

struct counting {
	const struct writer *writer;
	const struct counter *counter;
};

/* Labels that would be written alike are one. */
struct tally {
	struct nt_labels labels;
	int64_t *counts;
	size_t size;
};

static int add_count(struct tally *tally, sqlite3_stmt *row)
{
	uint32_t before = tally->labels.texts.n, number;

	if (NT_ROOM(tally->counts, tally->size, (size_t)before + 1) ||
	    nt_labels_number(&tally->labels, nt_db_text(row, 1), &number))
		return -1;
	if (number == before)
		tally->counts[number] = 0;
	tally->counts[number] += sqlite3_column_int64(row, 0);
	return 0;
}

static void write_tally(const struct counting *counting, int64_t session_id, const struct tally *tally)
{
	FILE *out = counting->writer->out;

	for (uint32_t i = 0; i < tally->labels.texts.n; i++) {
		fprintf(out, "%s", counting->counter->name);
		write_label(out, "{", counting->counter->label, nt_labels_text(&tally->labels, i));
		write_session(counting->writer, out, session_id);
		fprintf(out, "} %lld\n", (long long)tally->counts[i]);
	}
}

static sqlite3_stmt *prepare_counts(const struct counting *counting, const struct nt_session *session)
{
	const struct nt_selection *selection = &counting->writer->choice->selection;
	const struct nt_window window = nt_selection_window(selection, session->start_ts, session->start_realtime_ns);
	char cpus[NT_CPUS_SQL_MAX], sql[sizeof(cpus) + 200];
	sqlite3_stmt *statement;

	snprintf(sql, sizeof(sql),
		 "SELECT count(*), %s FROM %s WHERE session_id = ?1 AND ts >= ?2 AND ts < ?3 AND %s GROUP BY 2",
		 counting->counter->value, counting->counter->table, nt_selection_cpus_sql(selection, cpus));
	statement = nt_db_query(counting->writer->db, sql, session->id);
	sqlite3_bind_int64(statement, 2, window.from_ts);
	sqlite3_bind_int64(statement, 3, window.to_ts);
	return statement;
}

static int write_counts(void *arg, const struct nt_session *session)
{
	const struct counting *counting = arg;
	struct nt_db *db = counting->writer->db;
	sqlite3_stmt *statement = prepare_counts(counting, session);
	struct tally tally = {0};
	int error = 0;

	while (!error && nt_db_next(statement))
		error = add_count(&tally, statement) ? nt_db_no_memory(db) : 0;
	if (nt_db_end(db, statement, "the counts cannot be read"))
		error = -1;
	if (!error)
		write_tally(counting, session->id, &tally);
	nt_labels_release(&tally.labels);
	free(tally.counts);
	return error;
}

static int write_counter(const struct writer *writer, const struct counter *counter)
{
	struct counting counting = {writer, counter};
	bool has;

	if (nt_db_has(writer->db, counter->table, &has))
		return -1;
	if (!has)
		return 0;
	write_head(writer->out, counter->name, "counter", counter->help);
	return nt_session_each(writer->db, write_counts, &counting);
}

static int write_latency(struct writer *writer)
{
	int error;

	write_head(writer->out, "nettape_skb_latency_seconds", "histogram",
		   "Time since the host received a packet, at a hook on its way up; on its way down, since its send.");
	error = nt_session_each(writer->db, write_histograms, writer);
	if (!error)
		error = write_left_out(writer);
	free(writer->left_out);
	return error;
}

/* ---- how long softirqs waited ---- */

static const char waits_name[] = "nettape_softirq_wait_seconds";

struct waits {
	const struct writer *writer;
	bool has_head;
	struct counts by_vec[NT_VEC_COUNT];
	bool is_there[NT_VEC_COUNT];
};

static void write_waits_of_session(struct waits *waits, int64_t session_id)
{
	char labels[80], session[SESSION_LABEL_MAX];

	session_label(waits->writer, session_id, session);
	for (unsigned int vec = 0; vec < NT_VEC_COUNT; vec++) {
		if (!waits->is_there[vec])
			continue;
		if (!waits->has_head)
			write_head(waits->writer->out, waits_name, "histogram",
				   "Time that a softirq waited on a CPU, from its raise to its run.");
		waits->has_head = true;
		snprintf(labels, sizeof(labels), "vec=\"%s\"%s", nt_vec_name(vec), session);
		write_histogram(waits->writer->out, waits_name, labels, &waits->by_vec[vec]);
	}
}

static void take_wait(struct waits *waits, sqlite3_stmt *row)
{
	const int64_t ns = sqlite3_column_int64(row, 1);
	const size_t vec = NT_FIRST(NT_VEC_COUNT, i, !strcmp(nt_db_text(row, 0), nt_vec_name(i)));

	if (vec == NT_VEC_COUNT || ns < 0)
		return;
	waits->is_there[vec] = true;
	add_to_bucket(&waits->by_vec[vec], (uint64_t)ns, 1);
}

static int write_waits(void *arg, const struct nt_session *session)
{
	struct waits *waits = arg;
	struct nt_db *db = waits->writer->db;
	struct nt_part part = {.db = db, .session = session, .selection = &waits->writer->choice->selection};
	char why_not[NT_ERROR_MAX];
	sqlite3_stmt *row;
	bool are_known;

	nt_part_choose(&part, why_not);
	if (nt_waits_are_known(&part, &are_known))
		return -1;
	if (!are_known || why_not[0])
		return 0;
	memset(waits->by_vec, 0, sizeof(waits->by_vec));
	memset(waits->is_there, 0, sizeof(waits->is_there));
	row = nt_waits_query(&part, "SELECT vec, dur ", "");
	while (nt_db_next(row))
		take_wait(waits, row);
	if (nt_db_end(db, row, "the waits of softirqs cannot be read"))
		return -1;
	write_waits_of_session(waits, session->id);
	return 0;
}

/* ---- requests to block devices ---- */

/* Rows of a device and an operation follow one another. `sql`: device, op, and a figure, before the rows' place. */
static const struct disk_metric {
	const char *name, *type, *help;
	const char *sql;
} disk_metrics[] = {
	{"nettape_block_device_seconds", "histogram",
	 "Time of a request from its issue to the device to its completion.",
	 "SELECT coalesce(device, '-'), op, dur FROM " NT_DISKS_OF_SQL "WHERE " NT_DISK_ISSUED_SQL "ORDER BY 1, 2"},
	{"nettape_block_queue_seconds", "histogram",
	 "Time of a request from its queueing to its issue, if it is known.",
	 "SELECT coalesce(device, '-'), op, queue_ns FROM " NT_DISKS_OF_SQL "WHERE queue_ns >= 0 ORDER BY 1, 2"},
	{"nettape_block_bytes_total", "counter", "Bytes that requests moved or discarded.",
	 "SELECT coalesce(device, '-'), op, sum(bytes) FROM " NT_DISKS_OF_SQL "GROUP BY 1, 2 ORDER BY 1, 2"},
};

struct disks {
	const struct writer *writer;
	const struct disk_metric *metric;
	bool has_head;
	char *labels; /* of the rows at hand; NULL: none have come */
	struct counts counts;
};

/* All but `le`, without braces; the caller's to free. NULL: out of memory. */
static char *disk_labels(const struct writer *writer, sqlite3_stmt *row, int64_t session_id)
{
	char *labels = NULL;
	size_t size;
	FILE *out = open_memstream(&labels, &size);

	if (!out)
		return NULL;
	write_label(out, "", "device", nt_db_text(row, 0));
	write_label(out, ",", "op", nt_db_text(row, 1));
	write_session(writer, out, session_id);
	if (fclose(out)) {
		free(labels);
		return NULL;
	}
	return labels;
}

static void end_disk_series(struct disks *disks)
{
	if (disks->labels)
		write_histogram(disks->writer->out, disks->metric->name, disks->labels, &disks->counts);
	free(disks->labels);
	disks->labels = NULL;
	disks->counts = (struct counts){0};
}

static int take_disk_row(struct disks *disks, sqlite3_stmt *row, int64_t session_id)
{
	const struct disk_metric *metric = disks->metric;
	const int64_t figure = sqlite3_column_int64(row, 2);
	char *labels = disk_labels(disks->writer, row, session_id);

	if (!labels)
		return nt_db_no_memory(disks->writer->db);
	if (!disks->has_head)
		write_head(disks->writer->out, metric->name, metric->type, metric->help);
	disks->has_head = true;
	if (!strcmp(metric->type, "counter")) {
		fprintf(disks->writer->out, "%s{%s} %lld\n", metric->name, labels, (long long)figure);
		free(labels);
		return 0;
	}
	if (disks->labels && strcmp(disks->labels, labels) != 0)
		end_disk_series(disks);
	free(disks->labels);
	disks->labels = labels;
	add_to_bucket(&disks->counts, figure > 0 ? (uint64_t)figure : 0, 1);
	return 0;
}

static int write_disk_metric(void *arg, const struct nt_session *session)
{
	struct disks *disks = arg;
	struct nt_db *db = disks->writer->db;
	struct nt_part part = {.db = db, .session = session, .selection = &disks->writer->choice->selection};
	char why_not[NT_ERROR_MAX];
	sqlite3_stmt *row;
	bool are_known;
	int error = 0;

	nt_part_choose(&part, why_not);
	if (nt_disks_are_known(&part, &are_known))
		return -1;
	if (!are_known || why_not[0])
		return 0;
	row = nt_db_query(db, disks->metric->sql, session->id);
	nt_part_bind(&part, row);
	while (!error && nt_db_next(row))
		error = take_disk_row(disks, row, session->id);
	end_disk_series(disks);
	return nt_db_end(db, row, "the requests to block devices cannot be read") || error ? -1 : 0;
}

static int write_disks(const struct writer *writer)
{
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(disk_metrics) && !error; i++) {
		struct disks disks = {.writer = writer, .metric = &disk_metrics[i]};

		error = nt_session_each(writer->db, write_disk_metric, &disks);
	}
	return error;
}

/* ---- flows, memory and energy: numbers with labels ---- */

/* A query of a session: the first column is the number, the others are labels by their names. */
struct measure {
	const char *name, *type, *help;
	const char *sql;
	/* Whether the session has what it asks for, which is ready then. 0, or -1 and db->error. */
	int (*is_ready)(const struct nt_part *part, bool *is_ready);
};

static int flows_are_ready(const struct nt_part *part, bool *are_ready)
{
	if (nt_flows_are_known(part, are_ready))
		return -1;
	return *are_ready ? nt_flows_sum(part) : 0;
}

#define NAMED_FLOWS "20"
#define DEVICE_SQL                                                                                                     \
	"coalesce(" NT_IFACE_SQL(                                                                                      \
		"v.") ", '-') AS device, t.direction FROM flow_total AS t "                                            \
		      "LEFT JOIN net_device AS v ON v.session_id = ?1 AND v.id = t.device_id "                         \
		      "WHERE t.session_id = ?1 AND t.ts >= ?2 AND t.ts < ?3 GROUP BY 2, 3 ORDER BY 2, 3"
#define FLOW_SQL(figure)                                                                                               \
	"WITH " NT_FLOWS_OF_ALL_SQL ", ranked AS (" NT_FLOWS_ROWS_SQL "LIMIT " NAMED_FLOWS ") SELECT sum(" figure      \
	"), coalesce(proto, '-') AS proto, coalesce(source, '-') AS source, coalesce(destination, '-') AS "            \
	"destination, coalesce(device, '-') AS device, coalesce(direction, '-') AS direction FROM ranked "             \
	"GROUP BY 2, 3, 4, 5, 6 ORDER BY 1 DESC, 2, 3, 4, 5, 6"
#define FLOW_HELP "of each of the " NAMED_FLOWS " flows with the most packets, at one device that saw it: "
/* All but those flows, of the devices and directions where they were counted. */
#define REST_SQL                                                                                                       \
	"WITH " NT_FLOWS_OF_ALL_SQL                                                                                    \
	", ranked AS (SELECT device_id, direction, packets FROM flows ORDER BY packets DESC, bytes DESC, flow_id "     \
	"LIMIT " NAMED_FLOWS "), named AS (SELECT device_id, direction, sum(packets) AS packets FROM ranked "          \
	"GROUP BY 1, 2), total AS (SELECT device_id, direction, sum(packets) AS packets FROM flow_total "              \
	"WHERE session_id = ?1 AND ts >= ?2 AND ts < ?3 GROUP BY 1, 2) "                                               \
	"SELECT sum(max(t.packets - coalesce(n.packets, 0), 0)), coalesce(" NT_IFACE_SQL(                              \
		"v.") ", '-') AS device, t.direction FROM total AS t "                                                 \
		      "LEFT JOIN named AS n ON n.device_id IS t.device_id AND n.direction = t.direction "              \
		      "LEFT JOIN net_device AS v ON v.session_id = ?1 AND v.id = t.device_id GROUP BY 2, 3 ORDER BY "  \
		      "2, 3"

#define NAMED_PROGRAMS "20"
#define FAULTS_OF_SQL "page_fault WHERE session_id = ?1 AND ts + dur >= ?2 AND ts + dur < ?3"

static int energy_is_ready(const struct nt_part *part, bool *is_ready)
{
	if (nt_energy_is_known(part, is_ready))
		return -1;
	return *is_ready ? nt_energy_sum(part) : 0;
}

/* Microjoules of a zone, as joules. */
#define JOULES_SQL(figure)                                                                                             \
	"SELECT " figure " / 1e6, zone FROM temp.energy_sum WHERE session_id = ?1 AND " figure " IS NOT NULL"
#define ENERGY_HELP "the network's part of its energy, by its share of busy time: "

#define KMEM_SQL(what)                                                                                                 \
	"SELECT CAST(total(" what ") AS INTEGER), kind, coalesce(vec, context, '-') AS context FROM kmem "             \
	"WHERE session_id = ?1 AND ts >= ?2 AND ts < ?3 GROUP BY 2, 3"

static const struct measure measures[] = {
	{"nettape_device_packets_total", "counter", "Packets of the wire that a device received or sent, exactly.",
	 "SELECT sum(t.packets), " DEVICE_SQL, flows_are_ready},
	{"nettape_device_bytes_total", "counter", "Their bytes, with one link header for each buffer.",
	 "SELECT sum(t.bytes), " DEVICE_SQL, flows_are_ready},
	{"nettape_flow_packets", "gauge", "Packets " FLOW_HELP "an estimate.", FLOW_SQL("packets_count"),
	 flows_are_ready},
	{"nettape_flow_packets_low", "gauge", "Packets " FLOW_HELP "at least (99 %).", FLOW_SQL("packets_low_count"),
	 flows_are_ready},
	{"nettape_flow_packets_high", "gauge", "Packets " FLOW_HELP "at most (99 %).", FLOW_SQL("packets_high_count"),
	 flows_are_ready},
	{"nettape_flow_rest_packets", "gauge", "Packets of a device that are not of these flows there: an estimate.",
	 REST_SQL, flows_are_ready},
	{"nettape_page_faults_total", "counter", "Page faults; a major one waited for its page to be read.",
	 "SELECT n, kind FROM (SELECT sum(minor) AS n, 'minor' AS kind FROM " FAULTS_OF_SQL
	 " UNION ALL SELECT sum(major), 'major' FROM " FAULTS_OF_SQL ") WHERE n IS NOT NULL",
	 nt_memory_is_known},
	{"nettape_resident_bytes", "gauge",
	 "Resident memory of the " NAMED_PROGRAMS " programs with the most, as of all their processes last.",
	 "WITH " NT_MEMORY_SUMS_SQL "SELECT sum(last_bytes), coalesce(name, '-') AS program FROM sums "
	 "WHERE last_bytes IS NOT NULL GROUP BY 2 ORDER BY 1 DESC, 2 LIMIT " NAMED_PROGRAMS,
	 nt_memory_is_known},
	{"nettape_kernel_allocations_total", "counter",
	 "Allocations of the kernel, an estimate where there were many. Pages are also what the other kinds are of.",
	 KMEM_SQL("weight"), nt_kmem_is_known},
	{"nettape_kernel_allocated_bytes_total", "counter", "Their bytes, an estimate where there were many.",
	 KMEM_SQL(NT_KMEM_BYTES_SQL), nt_kmem_is_known},
	{"nettape_kernel_allocations_failed_total", "counter", "Of these allocations, those without memory.",
	 KMEM_SQL(NT_KMEM_FAILED_SQL), nt_kmem_is_known},
	{"nettape_energy_joules_total", "counter", "Energy that a zone of the host used between readings.",
	 JOULES_SQL("energy_uj"), energy_is_ready},
	{"nettape_network_energy_joules", "gauge", "Of a package, " ENERGY_HELP "an estimate.",
	 JOULES_SQL("network_uj"), energy_is_ready},
	{"nettape_network_energy_joules_low", "gauge", "Of a package, " ENERGY_HELP "at least.",
	 JOULES_SQL("at_least_uj"), energy_is_ready},
	{"nettape_network_energy_joules_high", "gauge", "Of a package, " ENERGY_HELP "at most.",
	 JOULES_SQL("at_most_uj"), energy_is_ready},
};

struct measuring {
	const struct writer *writer;
	const struct measure *measure;
	bool has_head;
};

static void write_measured(struct measuring *measuring, int64_t session_id, sqlite3_stmt *row)
{
	const struct writer *writer = measuring->writer;

	if (!measuring->has_head)
		write_head(writer->out, measuring->measure->name, measuring->measure->type, measuring->measure->help);
	measuring->has_head = true;
	fputs(measuring->measure->name, writer->out);
	for (int i = 1; i < sqlite3_column_count(row); i++)
		write_label(writer->out, i == 1 ? "{" : ",", sqlite3_column_name(row, i), nt_db_text(row, i));
	write_session(writer, writer->out, session_id);
	if (sqlite3_column_type(row, 0) == SQLITE_FLOAT)
		fprintf(writer->out, "} %.15g\n", sqlite3_column_double(row, 0));
	else
		fprintf(writer->out, "} %lld\n", (long long)sqlite3_column_int64(row, 0));
}

static int write_measure(void *arg, const struct nt_session *session)
{
	struct measuring *measuring = arg;
	const struct writer *writer = measuring->writer;
	const struct nt_selection *selection = &writer->choice->selection;
	const struct nt_window window = nt_selection_window(selection, session->start_ts, session->start_realtime_ns);
	struct nt_part part = {.db = writer->db, .session = session, .selection = selection};
	char why_not[NT_ERROR_MAX];
	sqlite3_stmt *row;
	bool is_ready;

	nt_part_choose(&part, why_not);
	if (why_not[0])
		return 0;
	if (measuring->measure->is_ready(&part, &is_ready))
		return -1;
	if (!is_ready)
		return 0;
	row = nt_db_query(writer->db, measuring->measure->sql, session->id);
	sqlite3_bind_int64(row, 2, window.from_ts);
	sqlite3_bind_int64(row, 3, window.to_ts);
	while (nt_db_next(row))
		write_measured(measuring, session->id, row);
	return nt_db_end(writer->db, row, "the rows cannot be read");
}

static int write_measures(const struct writer *writer)
{
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(measures) && !error; i++) {
		struct measuring measuring = {writer, &measures[i], false};

		error = nt_session_each(writer->db, write_measure, &measuring);
	}
	return error;
}

/* ---- whether the recording is whole ---- */

/* A metric of each session. */
struct gauge {
	const char *name, *help;
	/* The number as text; NULL: it is not known. */
	const char *(*value)(char text[32], const struct nt_whole *whole);
};

static const char *whole_value(char text[32], const struct nt_whole *whole)
{
	snprintf(text, 32, "%d", whole->is_whole);
	return text;
}

static const char *problems_value(char text[32], const struct nt_whole *whole)
{
	snprintf(text, 32, "%lld", (long long)whole->n_problems);
	return text;
}

static const char *touched_value(char text[32], const struct nt_whole *whole)
{
	if (!whole->is_whole && !whole->has_touched)
		return NULL;
	return nt_prometheus_seconds(text, (double)whole->touched_ns);
}

static const struct gauge gauges[] = {
	{"nettape_recording_whole", "1: nothing is known to be missing. 0: damaged, cut, or without all its chunks.",
	 whole_value},
	{"nettape_recording_problems", "Known problems of the recording.", problems_value},
	{"nettape_recording_touched_seconds", "CPU time in which records are missing because of them, if it is known.",
	 touched_value},
};

struct gauging {
	const struct writer *writer;
	const struct gauge *gauge;
	bool has_head;
};

static int write_gauge(void *arg, const struct nt_session *session)
{
	struct gauging *gauging = arg;
	const struct writer *writer = gauging->writer;
	const struct gauge *gauge = gauging->gauge;
	struct nt_whole whole;
	const char *value;
	char text[32];

	if (nt_whole_find(writer->db, session, &writer->choice->selection, &whole))
		return -1;
	value = gauge->value(text, &whole);
	if (!value)
		return 0;
	if (!gauging->has_head)
		write_head(writer->out, gauge->name, "gauge", gauge->help);
	gauging->has_head = true;
	fputs(gauge->name, writer->out);
	if (writer->n_sessions > 1)
		fprintf(writer->out, "{session_id=\"%lld\"}", (long long)session->id);
	fprintf(writer->out, " %s\n", value);
	return 0;
}

/* At the end: then all that is read of a tape has been. */
static int write_gauges(const struct writer *writer)
{
	int error = 0;

	for (size_t i = 0; i < NT_COUNT(gauges) && !error; i++) {
		struct gauging gauging = {writer, &gauges[i], false};

		error = nt_session_each(writer->db, write_gauge, &gauging);
	}
	return error;
}

int nt_export_prometheus(struct nt_db *db, const struct nt_latency_choice *choice, FILE *out)
{
	struct writer writer = {.db = db, .choice = choice, .out = out};
	struct waits waits = {.writer = &writer};
	int error = nt_session_count(db, &writer.n_sessions);
	bool has = false;

	if (!error)
		error = nt_db_has(db, "skb_latency", &has);
	if (!error && has)
		error = write_latency(&writer);
	for (size_t i = 0; i < NT_COUNT(counters) && !error; i++)
		error = write_counter(&writer, &counters[i]);
	if (!error)
		error = nt_session_each(db, write_waits, &waits);
	if (!error)
		error = write_disks(&writer);
	if (!error)
		error = write_measures(&writer);
	return error ? error : write_gauges(&writer);
}

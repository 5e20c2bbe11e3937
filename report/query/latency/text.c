// SPDX-License-Identifier: GPL-2.0-only
/*
 * text.c - the part of result.h that is for people: tables, bars, heat maps of characters.
 */
#include <stdio.h>
#include <string.h>

#include "report/out/prose.h"
#include "report/query/latency/result.h"
#include "report/query/ports.h"
#include "report/query/session_head.h"
#include "report/query/uncovered.h"
#include "report/util/array.h"
#include "report/util/histogram.h"
#include "schema/kind.h"

#define BESIDE_BAR 47 /* characters of a line of a histogram that are no bar */
#define LONGEST_BAR 100
#define RANGE_MAX (2 * NT_HUMAN_MAX + 16)

/* ---- what is shown ---- */

/* Texts that the tape has of itself. */
static sqlite3_stmt *texts(const struct nt_latency_result *result, const char *sql)
{
	return nt_db_query(result->db, sql, result->session->id);
}

static int end_texts(const struct nt_latency_result *result, sqlite3_stmt *statement)
{
	return nt_db_end(result->db, statement, "what the tape says of itself cannot be read");
}

/* The texts that a query gives, in one sentence behind `lead` and `first`; nothing if there are none. */
static int print_joined(const struct nt_latency_result *result, const char *sql, const char *lead, const char *first,
			const char *end)
{
	sqlite3_stmt *statement = texts(result, sql);
	const char *before = first;
	struct nt_prose prose;
	int n = 0;

	while (nt_db_next(statement)) {
		const char *text = nt_db_text(statement, 0);

		if (!n++)
			nt_prose_begin(&prose, result->out);
		fputs(before, prose.line);
		nt_print_clean(prose.line, text, strlen(text));
		before = ", ";
	}
	if (n) {
		fputs(end, prose.line);
		nt_prose_end(&prose, lead);
	}
	return end_texts(result, statement);
}

static int print_head(const struct nt_latency_result *result)
{
	nt_session_head_print(result->out, result->session, &result->choice->selection);
	return print_joined(result, NT_META_SQL(NT_META_LATENCY_SAMPLE), "", "Recorded with the probability ", "") ||
			       print_joined(result, NT_META_SQL(NT_META_LATENCY_FILTER) " ORDER BY rowid", "",
					    "Recorded by the filter: ", "")
		       ? -1
		       : 0;
}

/* ---- figures ---- */

/* The texts of a series' hook and group. */
struct key {
	char hook[64], others[NT_HUMAN_MAX];
};

static const char *group_text(const struct nt_latency_result *result, const struct nt_series *series, struct key *key)
{
	return nt_series_is_of_others(&result->set, series) ? nt_human_others(key->others, series->of_groups)
							    : nt_labels_text(&result->groups, series->group);
}

static void put_key(struct nt_line *line, const struct nt_latency_result *result, const struct nt_series *series,
		    struct key *key)
{
	nt_latency_put_key(line, result->choice, nt_latency_hook_text(result->choice, series->hook, key->hook),
			   group_text(result, series, key));
}

static int print_figures(struct nt_latency_result *result, struct nt_printer *printer, bool *is_sampled)
{
	static const char *const names[NT_FIGURES] = {"packets_count", "samples_count", "min_ns",   "mean_ns", "p50_ns",
						      "p90_ns",	       "p99_ns",	"p99.9_ns", "max_ns"};

	nt_printer_leave_out(printer, "samples_count,min_ns,p90_ns,mean_ns,max_ns,p99.9_ns");
	for (size_t i = 0; i < result->set.n; i++) {
		struct nt_line line = {0};
		struct nt_figures figures;
		struct key key;

		nt_series_figures(&result->set, result->set.all[i], &figures);
		*is_sampled |= figures.is_sampled;
		put_key(&line, result, result->set.all[i], &key);
		nt_latency_put_figures(&line, names, &figures);
		if (nt_printer_line(printer, &line))
			return nt_db_no_memory(result->db);
	}
	nt_printer_end(printer);
	return 0;
}

/* ---- how far off ---- */

static const char *range(char out[RANGE_MAX], const struct nt_interval *interval)
{
	char low[NT_HUMAN_MAX], high[NT_HUMAN_MAX];

	nt_human_ns(low, interval->low > 0 ? (uint64_t)interval->low : 0);
	nt_human_ns(high, interval->high > 0 ? (uint64_t)interval->high : 0);
	if (interval->has_low && interval->has_high)
		snprintf(out, RANGE_MAX, "%s .. %s", low, high);
	else if (interval->has_low)
		snprintf(out, RANGE_MAX, "%s or more", low);
	else if (interval->has_high)
		snprintf(out, RANGE_MAX, "at most %s", high);
	else
		snprintf(out, RANGE_MAX, "not known");
	return out;
}

static int print_error(struct nt_latency_result *result, struct nt_printer *printer, struct nt_series *series)
{
	static const char *const names[NT_QUANTILES] = {"p50", "p90", "p99", "p99.9"};
	char count[NT_HUMAN_MAX + 4], mean[NT_HUMAN_MAX + 4], ranges[NT_QUANTILES][RANGE_MAX];
	char number[NT_HUMAN_MAX];
	struct nt_line line = {0};
	struct nt_figures figures;
	struct key key;

	nt_series_figures(&result->set, series, &figures);
	if (!figures.is_sampled)
		return 0;
	put_key(&line, result, series, &key);
	snprintf(count, sizeof(count), "+- %s", nt_human_count(number, nt_round(figures.packets_error)));
	snprintf(mean, sizeof(mean), "+- %s", nt_human_ns(number, (uint64_t)nt_round(figures.mean_error)));
	nt_line_put(&line, "packets", nt_cell_label(count));
	nt_line_put(&line, "mean", nt_cell_label(figures.has_mean_error ? mean : "not known"));
	for (unsigned int i = 0; i < NT_QUANTILES; i++)
		nt_line_put(&line, names[i], nt_cell_label(range(ranges[i], &figures.intervals[i])));
	return nt_printer_line(printer, &line) ? nt_db_no_memory(result->db) : 0;
}

static int print_errors(struct nt_latency_result *result, struct nt_printer *printer)
{
	int error = 0;

	nt_print_heading(result->out, "\nErrors, because only some packets were sampled: one standard error, and 95 %% "
				      "intervals of quantiles");
	nt_printer_leave_out(printer, "packets,mean,p90,p50,p99.9");
	for (size_t i = 0; i < result->set.n && !error; i++)
		error = print_error(result, printer, result->set.all[i]);
	nt_printer_end(printer);
	return error;
}

/* The meaning of the groups, and a note if there are more. */
static void print_notes(const struct nt_latency_result *result)
{
	const struct nt_series_set *set = &result->set;

	if (result->choice->by == NT_BY_PORT)
		nt_print_prose(result->out, "", NT_PORT_NOTE);
	if (NT_ANY(set->n, i, nt_series_is_of_others(set, set->all[i])))
		nt_print_prose(result->out, "",
			       "Others are groups with no more packets than these, together; --limit all shows each.");
}

/* ---- what is left out ---- */

struct left_out {
	bool has_series;
	uint64_t hol, future, unknown;
};

static void sum_left_out(const struct nt_series_set *set, struct left_out hooks[NT_HOOK_COUNT])
{
	memset(hooks, 0, NT_HOOK_COUNT * sizeof(*hooks));
	for (size_t i = 0; i < set->n; i++) {
		struct left_out *hook = &hooks[set->all[i]->hook];

		hook->has_series = true;
		hook->hol += set->all[i]->hol;
		hook->future += set->all[i]->future;
		hook->unknown += set->all[i]->unknown;
	}
}

/* A packet that sampling left out was not looked at: it may be any of those that the table counts. */
static void print_shares(const struct nt_latency_result *result)
{
	int64_t sum = 0;

	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		if (result->choice->hooks & 1u << hook)
			sum |= result->accounting.counts[hook][NT_REASON_SAMPLE];
	}
	if (sum)
		nt_print_prose(result->out, "",
			       "Packets that sampling left out are of all these kinds, too: samples stand for their "
			       "share of them.");
}

static bool is_there(const struct nt_latency_accounting *accounting, const struct left_out hooks[NT_HOOK_COUNT],
		     unsigned int hook)
{
	return accounting->is_there[hook] || hooks[hook].has_series;
}

/* Hooks that this kernel has not. A way of which no hook is there was not asked for. */
static void print_absent(const struct nt_latency_result *result, const struct nt_latency_accounting *accounting,
			 const struct left_out hooks[NT_HOOK_COUNT])
{
	const char *before = "This recording has no program at: ";
	struct nt_prose prose;

	nt_prose_begin(&prose, result->out);
	for (unsigned int hook = NT_HOOK_NONE + 1; hook < NT_HOOK_COUNT; hook++) {
		if (is_there(accounting, hooks, hook) || !(result->choice->hooks & 1u << hook) ||
		    !NT_ANY(NT_HOOK_COUNT, i,
			    NT_HOOK_IS_OF_SENDING(i) == NT_HOOK_IS_OF_SENDING(hook) && is_there(accounting, hooks, i)))
			continue;
		fprintf(prose.line, "%s%s", before, nt_hook_name(hook));
		before = ", ";
	}
	if (before[0] == ',') {
		fputc('.', prose.line);
		nt_prose_end(&prose, "\n");
	} else {
		nt_prose_drop(&prose);
	}
}

/* The place of each hook on this kernel, in the recorder's words, and the packets that it leaves out. */
static int print_hooks(struct nt_latency_result *result)
{
	static const char attached[] =
		"WITH line AS (SELECT rowid AS place, substr(value, length('latency ') + 1) AS rest FROM session_meta "
		"WHERE session_id = ?1 AND key = '" NT_META_ATTACH "' AND value GLOB 'latency ?* ?*'), "
		"at AS (SELECT place, substr(rest, 1, instr(rest, ' ') - 1) AS program, "
		"substr(rest, instr(rest, ' ') + 1) AS point FROM line) "
		"SELECT " NT_HOOK_SQL " || ' by ' || point FROM at WHERE " NT_HOOK_SQL " IS NOT NULL ORDER BY place";
	static const char uncovered[] = "value LIKE '%latency%' OR value LIKE '%-start%' OR value LIKE '%-socket-%'";

	return print_joined(result, attached, "\n", "The hooks of this kernel: ", ".") ||
			       nt_uncovered_print(result->out, result->db, result->session->id, uncovered,
						  "these hooks")
		       ? -1
		       : 0;
}

static int print_left_out(struct nt_latency_result *result, struct nt_printer *printer)
{
	static const char *const reasons[NT_REASON_COUNT] = {"no stamp_count", "transmit stamp_count", "filter_count",
							     "sampling_count", "lost_count"};
	const struct nt_latency_accounting *accounting = &result->accounting;
	struct left_out hooks[NT_HOOK_COUNT];
	bool any = false;

	sum_left_out(&result->set, hooks);
	nt_print_heading(
		result->out,
		"\nPackets left out of these figures: as counted, not scaled; from `no stamp` on, of the whole "
		"recording");
	nt_printer_leave_out(printer, "future stamp_count,head-of-line_count,transmit stamp_count,unknown_count");
	for (unsigned int hook = NT_HOOK_NONE + 1; hook < NT_HOOK_COUNT; hook++) {
		struct nt_line line = {0};

		if (!(result->choice->hooks & 1u << hook) || !is_there(accounting, hooks, hook))
			continue;
		nt_line_put(&line, "hook", nt_cell_label(nt_hook_name(hook)));
		nt_line_put(&line, "head-of-line_count", nt_cell_integer((int64_t)hooks[hook].hol));
		nt_line_put(&line, "future stamp_count", nt_cell_integer((int64_t)hooks[hook].future));
		nt_line_put(&line, "unknown_count", nt_cell_integer((int64_t)hooks[hook].unknown));
		for (unsigned int i = 0; i < NT_REASON_COUNT; i++)
			nt_line_put(&line, reasons[i],
				    nt_cell_if(accounting->is_there[hook], accounting->counts[hook][i]));
		if (nt_printer_line(printer, &line))
			return nt_db_no_memory(result->db);
		any = true;
	}
	nt_printer_end(printer);
	print_shares(result);
	if (any)
		print_absent(result, accounting, hooks);
	return print_hooks(result);
}

static void print_alone(const struct nt_latency_result *result)
{
	char first[NT_HUMAN_MAX], second[NT_HUMAN_MAX], late[NT_HUMAN_MAX];
	struct left_out hooks[NT_HOOK_COUNT];

	sum_left_out(&result->set, hooks);
	nt_print_prose(result->out, "\n",
		       "Not in these figures: %s samples of %s and %s of %s whose packet was not sampled at the other "
		       "hook, and %s pairs that waited for a segment that came late.",
		       nt_human_count(first, (int64_t)result->alone.first), nt_hook_name(result->choice->first),
		       nt_human_count(second, (int64_t)result->alone.second), nt_hook_name(result->choice->second),
		       nt_human_count(late, (int64_t)hooks[result->choice->second].hol));
}

/* ---- histograms ---- */

/* A bar of eighths of a character; on a terminal with block characters, else with # for each whole one. */
static void print_bar(const struct nt_latency_view *view, FILE *out, double share)
{
	static const char *const parts[8] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	unsigned int room = view->terminal.width > BESIDE_BAR + 10 ? view->terminal.width - BESIDE_BAR : 10;
	unsigned int eighths = (unsigned int)(share * (room < LONGEST_BAR ? room : LONGEST_BAR) * 8 + 0.5);

	if (!view->terminal.is_terminal) {
		for (unsigned int i = 0; i < (eighths + 4) / 8; i++)
			fputc('#', out);
		return;
	}
	for (unsigned int i = 0; i < eighths / 8; i++)
		fputs("█", out);
	fputs(parts[eighths % 8], out);
}

/* The weight of the samples from *at on that are in a bucket; *at goes behind them. The samples are sorted. */
static double take_bucket(const struct nt_samples *samples, size_t *at, int64_t upper)
{
	double weight = 0;

	for (; *at < samples->n && nt_samples_value(samples, *at) <= upper; ++*at)
		weight += nt_samples_weight(samples, *at);
	return weight;
}

static double fullest(const struct nt_samples *samples, uint32_t per_octave)
{
	double most = 0;

	for (size_t at = 0; at < samples->n;) {
		uint32_t bucket = nt_bucket_of(per_octave, nt_samples_value(samples, at));
		double weight = take_bucket(samples, &at, nt_bucket_upper(per_octave, bucket));

		most = weight > most ? weight : most;
	}
	return most;
}

static void print_bucket(const struct nt_latency_view *view, FILE *out, uint32_t per_octave, uint32_t bucket,
			 double weight, double whole, double most)
{
	char from[NT_HUMAN_MAX], to[NT_HUMAN_MAX], count[NT_HUMAN_MAX];

	fprintf(out, "%9s .. %9s %12s %7.2f %% |", nt_human_ns(from, (uint64_t)nt_bucket_lower(per_octave, bucket)),
		nt_human_ns(to, (uint64_t)nt_bucket_upper(per_octave, bucket)), nt_human_count(count, nt_round(weight)),
		100 * weight / whole);
	print_bar(view, out, weight / most);
	fputc('\n', out);
}

/* Its figures were printed before: the samples are sorted since. */
static void print_histogram(const struct nt_latency_result *result, const struct nt_samples *samples)
{
	uint32_t per_octave = result->view->per_octave ? result->view->per_octave : 1;
	uint32_t bucket, last;
	double most;
	size_t at = 0;

	most = fullest(samples, per_octave);
	bucket = nt_bucket_of(per_octave, nt_samples_value(samples, 0));
	last = nt_bucket_of(per_octave, nt_samples_value(samples, samples->n - 1));
	for (; bucket <= last; bucket++) {
		int64_t upper = nt_bucket_upper(per_octave, bucket);

		if (bucket && upper == nt_bucket_lower(per_octave, bucket))
			continue;
		print_bucket(result->view, result->out, per_octave, bucket, take_bucket(samples, &at, upper),
			     samples->weight, most);
	}
}

static void print_title(const struct nt_latency_result *result, const char *what, enum nt_hook hook, const char *group)
{
	char name[64];

	fputc('\n', result->out);
	if (group)
		nt_print_heading(result->out, "%s%s, %s %s", what, nt_latency_hook_text(result->choice, hook, name),
				 nt_by_name(result->choice->by), group);
	else
		nt_print_heading(result->out, "%s%s", what, nt_latency_hook_text(result->choice, hook, name));
}

static void print_histograms(const struct nt_latency_result *result)
{
	for (size_t i = 0; i < result->set.n; i++) {
		const struct nt_series *series = result->set.all[i];
		struct key key;

		if (!series->samples.n)
			continue;
		print_title(result, "", series->hook, result->choice->by ? group_text(result, series, &key) : NULL);
		print_histogram(result, &series->samples);
	}
}

static void print_maps(const struct nt_latency_result *result)
{
	for (unsigned int hook = 0; hook < NT_HOOK_COUNT; hook++) {
		if (!result->maps[hook].cells)
			continue;
		print_title(result, "Over time: ", (enum nt_hook)hook, NULL);
		nt_heatmap_print(&result->maps[hook], result->out, result->session->start_ts,
				 result->view->terminal.colour);
	}
}

/* ---- all ---- */

static int print_tables(struct nt_latency_result *result, struct nt_printer *printer)
{
	bool is_sampled = false;

	nt_print_heading(result->out, "\n%s",
			 result->choice->first ? "How long packets took between two hooks" : "How late packets were");
	if (print_figures(result, printer, &is_sampled) || (is_sampled && print_errors(result, printer)))
		return -1;
	if (result->choice->by)
		print_notes(result);
	if (result->choice->first)
		print_alone(result);
	else if (print_left_out(result, printer))
		return -1;
	nt_printer_say_left_out(printer, "\n", "--json has");
	return 0;
}

int nt_latency_text(struct nt_latency_result *result, struct nt_printer *printer)
{
	if (print_head(result) || print_tables(result, printer))
		return -1;
	if (result->view->histogram)
		print_histograms(result);
	if (result->view->over_time)
		print_maps(result);
	return 0;
}

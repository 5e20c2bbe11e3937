// SPDX-License-Identifier: GPL-2.0-only
/*
 * tracing.c - see tracing.h.
 */
#include "report/query/stages/tracing.h"

#include <math.h>
#include <string.h>

#include "report/out/prose.h"
#include "report/query/stages/show.h"
#include "report/rows/rollup.h"

/* All that an owner spent on tracing, as one part with bounds. */
static struct nt_stage_part part_of(const struct nt_stage_result *result, uint32_t whole)
{
	struct nt_stage_part sum = {.whole = whole};
	const char *family;

	for (size_t i = 0; i < result->n_parts; i++) {
		const struct nt_stage_part *part = &result->parts[i];

		if (part->whole == whole && !strcmp(nt_stage_part_name(result, part, &family), "tracing"))
			sum.ns += part->ns;
	}
	nt_stage_bounds(&sum, &result->wholes[whole]);
	return sum;
}

static double square(double value)
{
	return value * value;
}

static uint64_t no_more(double ns, uint64_t most_ns)
{
	return ns < (double)most_ns ? (uint64_t)ceil(ns) : most_ns;
}

/*
 * Owners are sampled independently, so the distances from their bounds add up as deviations do, by squares (Zou,
 * Donner: Construction of confidence limits about effect measures, Stat. in Medicine 27, 2008). Time that was not
 * sampled is in each upper bound in full.
 */
struct nt_tracing nt_tracing_of(const struct nt_stage_result *result)
{
	struct nt_tracing tracing = {.is_known = true, .is_short = nt_stage_any_short(result)};
	double below = 0, above = 0;
	uint64_t sampled_ns, unsampled_ns = 0;

	for (uint32_t i = 0; i < result->n_wholes; i++) {
		const struct nt_stage_whole *whole = &result->wholes[i];
		const struct nt_stage_part part = part_of(result, i);
		const uint64_t least_high_ns = part.ns + whole->unsampled_ns;

		tracing.network_ns += whole->ns;
		tracing.ns += part.ns;
		unsampled_ns += whole->unsampled_ns;
		below += square((double)(part.ns - part.low_ns));
		if (part.high_ns > least_high_ns)
			above += square((double)(part.high_ns - least_high_ns));
	}
	sampled_ns = tracing.network_ns - unsampled_ns;
	tracing.low_ns = tracing.ns - no_more(sqrt(below), tracing.ns);
	tracing.high_ns = tracing.ns + no_more(sqrt(above), sampled_ns - tracing.ns) + unsampled_ns;
	return tracing;
}

/*
 * Whether there may be samples, without looking for one: a tape would be read to its end for that. Sums of minutes, and
 * imports of some tables, may lack one of these tables.
 */
static int may_have_samples(struct nt_db *db, int64_t session_id, bool *may_have)
{
	sqlite3_stmt *row =
		nt_db_query(db,
			    "SELECT (SELECT count(*) FROM sqlite_master WHERE name IN ('cpu_slice', 'cpu_cost', "
			    "'stack_sample')) = 3 AND " NT_HAS_PROBE_SQL("stacks"),
			    session_id);

	*may_have = nt_db_next(row) && sqlite3_column_int(row, 0);
	return nt_db_end(db, row, "the probes cannot be read");
}

static int read_stages(struct nt_stage_result *result, bool is_whole)
{
	const bool has_sums = is_whole && result->part.session->bucket_ns == NT_BUCKET_NS;
	int error;

	if (nt_stage_find_begin(result))
		return -1;
	error = has_sums ? nt_stage_reading_scan_sums(result->reading) : nt_stage_reading_scan(result->reading);
	return nt_stage_find_end(result, error);
}

int nt_tracing_find(struct nt_db *db, const struct nt_session *session, const struct nt_selection *selection,
		    struct nt_tracing *tracing)
{
	const struct nt_stage_choice choice = {.selection = *selection, .owners = NT_NETWORK_OWNERS};
	struct nt_stage_result result = {.choice = &choice};
	char why_not[NT_ERROR_MAX];
	bool may_have;
	int error;

	*tracing = (struct nt_tracing){0};
	if (may_have_samples(db, session->id, &may_have))
		return -1;
	if (!may_have)
		return 0;
	error = nt_stage_part_of(db, session, &choice.selection, &result.part, why_not);
	if (!error && !why_not[0]) {
		error = read_stages(&result, !nt_selection_is_given(selection));
		if (!error)
			*tracing = nt_tracing_of(&result);
	}
	nt_stage_result_release(&result);
	return error;
}

void nt_tracing_print(const struct nt_tracing *tracing)
{
	char time[NT_HUMAN_MAX], whole[NT_HUMAN_MAX], share[NT_HUMAN_MAX], low[NT_HUMAN_MAX], high[NT_HUMAN_MAX];

	if (!tracing->is_known)
		return;
	nt_print_prose(stdout, "",
		       "Tracing took %s of %s in the network stack, %s (%s to %s with 95 %% confidence%s). `stages` "
		       "says where.",
		       nt_human_ns(time, tracing->ns), nt_human_ns(whole, tracing->network_ns),
		       nt_human_share(share, tracing->ns, tracing->network_ns),
		       nt_human_share(low, tracing->low_ns, tracing->network_ns),
		       nt_human_share(high, tracing->high_ns, tracing->network_ns),
		       tracing->is_short ? ", of the time that was sampled" : "");
}

static void put_times(const struct nt_tracing *tracing, struct nt_line *line)
{
	nt_line_put(line, "network_ns", nt_cell_integer((int64_t)tracing->network_ns));
	nt_line_put(line, "spent_ns", nt_cell_integer((int64_t)tracing->ns));
	nt_line_put(line, "low_ns", nt_cell_integer((int64_t)tracing->low_ns));
	nt_line_put(line, "high_ns", nt_cell_integer((int64_t)tracing->high_ns));
}

void nt_tracing_json(const struct nt_tracing *tracing, struct nt_json *json)
{
	struct nt_line line = {.n = 0};

	nt_json_open(json, "tracing", '{');
	if (tracing->is_known) {
		put_times(tracing, &line);
		nt_json_line(json, &line);
		nt_json_bool(json, "too_few", tracing->is_short);
	}
	nt_json_close(json, '}');
}

void nt_tracing_line(const struct nt_tracing *tracing, struct nt_line *line)
{
	line->n = 0;
	if (!tracing->is_known)
		return;
	put_times(tracing, line);
	nt_line_put(line, "too_few", nt_cell_integer(tracing->is_short));
}

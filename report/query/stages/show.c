// SPDX-License-Identifier: GPL-2.0-only
/*
 * show.c - see show.h. All formats show the same rows.
 */
#include "report/query/stages/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/load.h"
#include "report/out/prose.h"

/* ---- the part ---- */

int nt_stage_part_of(struct nt_db *db, const struct nt_session *session, const struct nt_selection *selection,
		     struct nt_part *part, char why_not[NT_ERROR_MAX])
{
	bool has;

	*part = (struct nt_part){.db = db, .session = session, .selection = selection};
	nt_part_choose(part, why_not);
	if (why_not[0])
		return 0;
	if (nt_db_has_rows(db, "stack_sample", session->id, &has))
		return -1;
	if (!has) {
		nt_session_lacks(session, &nt_need_stacks, why_not);
		return 0;
	}
	if (nt_lanes_check_process(part, why_not))
		return -1;
	return why_not[0] ? 0 : nt_lanes_check_cpus(part, why_not);
}

/* ---- rows ---- */

static struct nt_cell number_cell(uint64_t number)
{
	return nt_cell_integer((int64_t)number);
}

static struct nt_cell share_cell(uint64_t part, uint64_t whole)
{
	return (struct nt_cell){.type = NT_CELL_REAL, .real = whole ? (double)part / (double)whole : 0};
}

/* "net_rx;net_rx_action;...": the outermost function first. NULL: out of memory. To be freed. */
static char *stack_text(const struct nt_stage_result *result, const struct nt_stage_part *part)
{
	struct nt_frames *frames = (struct nt_frames *)(uintptr_t)&result->frames;
	struct nt_frames_stack stack = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (part->category != NT_SPLIT_UNSAMPLED)
		stack = nt_frames_of(frames, result->data.categories[part->category].stack_id);
	for (size_t i = stack.n; i > 0; i--)
		fprintf(out, "%s%s", i < stack.n ? ";" : "", nt_frames_name(frames, stack.numbers[i - 1]));
	fclose(out);
	return text;
}

static const char *by_column(enum nt_by by)
{
	return by == NT_BY_TIME ? "since_start_ns" : nt_by_name(by);
}

static struct nt_cell group_cell(const struct nt_stage_result *result, const struct nt_stage_whole *whole)
{
	uint64_t number;
	const char *label = nt_stage_group(result, whole, &number);

	return label ? nt_cell_text(label) : number_cell(number);
}

/* The one place that says which columns there are. `part` NULL: only their names count. */
static void make_row(bool is_table, const struct nt_stage_choice *choice, const struct nt_stage_result *result,
		     const struct nt_stage_part *part, const char *stack, struct nt_line *row)
{
	const struct nt_stage_whole none = {0}, *whole = part ? &result->wholes[part->whole] : &none;
	const struct nt_stage_part nothing = {0}, *shown = part ? part : &nothing;
	const char *family = NULL, *stage = part ? nt_stage_part_name(result, part, &family) : NULL;
	const char *by = nt_by_name(choice->by);

	row->n = 0;
	if (!is_table)
		nt_line_put(row, "session_id", number_cell(part ? (uint64_t)result->part.session->id : 0));
	if (by)
		nt_line_put(row, by_column(choice->by),
			    part ? group_cell(result, whole) : (struct nt_cell){.type = NT_CELL_NULL});
	nt_line_put(row, "owner", nt_cell_text(nt_owner_name(whole->owner)));
	nt_line_put(row, "stage", nt_cell_text(stage));
	if (!choice->inclusive)
		nt_line_put(row, "family", nt_cell_text(family));
	nt_line_put(row, "spent_ns", number_cell(shown->ns));
	nt_line_put(row, is_table ? "of_owner_share" : "share", share_cell(shown->ns, whole->ns));
	if (is_table) {
		nt_line_put(row, "at_least_share", share_cell(shown->low_ns, whole->ns));
		nt_line_put(row, "at_most_share", share_cell(shown->high_ns, whole->ns));
	} else {
		nt_line_put(row, "low_ns", number_cell(shown->low_ns));
		nt_line_put(row, "high_ns", number_cell(shown->high_ns));
	}
	nt_line_put(row, "samples", number_cell(shown->samples));
	if (choice->other)
		nt_line_put(row, "stack", nt_cell_text(stack));
}

/* With --other, only stacks without a stage are shown. */
static bool is_shown(const struct nt_stage_result *result, const struct nt_stage_part *part)
{
	const char *stage, *family;

	if (!result->choice->other)
		return true;
	stage = nt_stage_part_name(result, part, &family);
	return part->samples && (!strcmp(stage, "other") || !strcmp(stage, "no_stack"));
}

/* Functions that take rows give 0 or -ENOMEM. */
static int json_row(void *arg, const struct nt_line *row)
{
	nt_json_record(arg, row);
	return 0;
}

static int printer_row(void *arg, const struct nt_line *row)
{
	return nt_printer_row(arg, row->cells);
}

static int one_row(const struct nt_stage_result *result, const struct nt_stage_part *part, bool is_table,
		   int (*take)(void *arg, const struct nt_line *row), void *arg)
{
	char *stack = NULL;
	struct nt_line row;
	int error;

	if (result->choice->other) {
		stack = stack_text(result, part);
		if (!stack)
			return nt_db_no_memory(result->part.db);
	}
	make_row(is_table, result->choice, result, part, stack, &row);
	error = take(arg, &row) ? nt_db_no_memory(result->part.db) : 0;
	free(stack);
	return error;
}

static int each_row(const struct nt_stage_result *result, int (*take)(void *arg, const struct nt_line *row), void *arg)
{
	for (size_t i = 0; i < result->n_parts; i++) {
		if (is_shown(result, &result->parts[i]) && one_row(result, &result->parts[i], false, take, arg))
			return -1;
	}
	return 0;
}

/* ---- people ---- */

static int begin_columns(const struct nt_stage_choice *choice, bool is_table, struct nt_printer *printer)
{
	struct nt_line row;

	make_row(is_table, choice, NULL, NULL, NULL, &row);
	return nt_printer_begin(printer, row.n, row.names);
}

/* Each owner's exact time, and how many samples tell what it was spent on, of how many that should. */
static void print_owners(FILE *out, const struct nt_stage_result *result)
{
	char text[NT_HUMAN_MAX];

	for (unsigned int i = 0; i < NT_OWNER_COUNT; i++) {
		const struct nt_stage_owner *owner = &result->owners[i];

		if (!owner->is_there)
			continue;
		fprintf(out, "%-8s %10s, ", nt_owner_name(i), nt_human_ns(text, owner->ns));
		fprintf(out, "%s samples", nt_human_count(text, (int64_t)owner->samples));
		if (owner->has_due)
			fprintf(out, " of %s due", nt_human_count(text, (int64_t)owner->due));
		fputc('\n', out);
	}
}

/* The owners with too few samples, and the meaning of the shares then. */
static void print_short(FILE *out, const struct nt_stage_result *result)
{
	char samples[NT_HUMAN_MAX], due[NT_HUMAN_MAX], share[NT_HUMAN_MAX];
	const char *between = "Too few samples: ";
	struct nt_prose prose;

	if (!nt_stage_any_short(result))
		return;
	nt_prose_begin(&prose, out);
	for (unsigned int i = 0; i < NT_OWNER_COUNT; i++) {
		const struct nt_stage_owner *owner = &result->owners[i];

		if (!owner->is_short)
			continue;
		fprintf(prose.line, "%s%s has %s of %s due (%s)", between, nt_owner_name(i),
			nt_human_count(samples, (int64_t)owner->samples), nt_human_count(due, (int64_t)owner->due),
			nt_human_share(share, owner->samples, owner->due));
		between = ", ";
	}
	fputs(". Clock ticks were skipped or lost, as in a virtual machine whose CPUs are often idle. Or they came "
	      "late, where interrupts were off, and sampled the next owner. The bounds do not cover time that was not "
	      "sampled.",
	      prose.line);
	nt_prose_end(&prose, "\n");
}

/* To people a stack is no cell of a table: it stands below the figures, and wraps between its functions. */
static int print_stack(void *arg, const struct nt_line *row)
{
	FILE *out = arg;
	char time[NT_HUMAN_MAX], count[NT_HUMAN_MAX];
	struct nt_prose prose;

	nt_prose_begin(&prose, out);
	for (size_t i = 0; i < row->n; i++) {
		const struct nt_cell *cell = &row->cells[i];
		const char *name = row->names[i];

		if (!strcmp(name, "stack") || cell->type == NT_CELL_NULL)
			continue;
		if (!strcmp(name, "spent_ns"))
			fprintf(prose.line, "%s, ", nt_human_ns(time, (uint64_t)cell->integer));
		else if (!strcmp(name, "of_owner_share"))
			fprintf(prose.line, "%.2f %% of it, ", 100 * cell->real);
		else if (!strcmp(name, "samples"))
			fprintf(prose.line, "%s samples", nt_human_count(count, cell->integer));
		else if (cell->type == NT_CELL_TEXT) {
			nt_print_clean(prose.line, cell->text, cell->size);
			fputs(", ", prose.line);
		} else if (cell->type == NT_CELL_INTEGER) {
			fprintf(prose.line, "%s %lld, ", name, (long long)cell->integer);
		}
	}
	nt_prose_end(&prose, "");
	nt_prose_begin(&prose, out);
	for (const char *at = row->cells[row->n - 1].text; at && *at;) {
		size_t size = strcspn(at, ";");

		nt_print_clean(prose.line, at, size);
		fputs(at[size] ? "; " : "", prose.line);
		at += size + (at[size] == ';');
	}
	nt_prose_end(&prose, "    ");
	return 0;
}

/* The parts that people get, and what the others have together. */
struct first {
	const struct nt_stage_part **parts;
	size_t n;
	uint64_t others, others_ns, others_samples;
};

/* The order of the result. */
static int compare_places(const void *a, const void *b)
{
	const struct nt_stage_part *left = *(const struct nt_stage_part *const *)a;
	const struct nt_stage_part *right = *(const struct nt_stage_part *const *)b;

	return (left > right) - (left < right);
}

static int compare_times(const void *a, const void *b)
{
	const struct nt_stage_part *left = *(const struct nt_stage_part *const *)a;
	const struct nt_stage_part *right = *(const struct nt_stage_part *const *)b;

	if (left->ns != right->ns)
		return left->ns > right->ns ? -1 : 1;
	return compare_places(a, b);
}

/* Those with the most time: stacks the dearest first, stages as they stand in the result. To be freed: first->parts. */
static int choose_first(const struct nt_stage_result *result, size_t limit, struct first *first)
{
	size_t n = 0;

	*first = (struct first){.parts = calloc(result->n_parts + 1, sizeof(const struct nt_stage_part *))};
	if (!first->parts)
		return nt_db_no_memory(result->part.db);
	for (size_t i = 0; i < result->n_parts; i++) {
		if (is_shown(result, &result->parts[i]))
			first->parts[n++] = &result->parts[i];
	}
	qsort(first->parts, n, sizeof(const struct nt_stage_part *), compare_times);
	first->n = n < limit ? n : limit;
	for (size_t i = first->n; i < n; i++) {
		first->others++;
		first->others_ns += first->parts[i]->ns;
		first->others_samples += first->parts[i]->samples;
	}
	if (!result->choice->other)
		qsort(first->parts, first->n, sizeof(const struct nt_stage_part *), compare_places);
	return 0;
}

static int print_stacks(FILE *out, const struct nt_stage_result *result, const struct first *first)
{
	char others[NT_HUMAN_MAX], time[NT_HUMAN_MAX];

	for (size_t i = 0; i < first->n; i++) {
		if (one_row(result, first->parts[i], true, print_stack, out))
			return -1;
	}
	if (!first->n)
		fputs("none\n", out);
	if (first->others)
		fprintf(out, "%s, %s\n", nt_human_others(others, (int64_t)first->others),
			nt_human_ns(time, first->others_ns));
	return 0;
}

/* Their time and samples. With --inclusive these are in several stages, and have no sum. */
static int print_others(struct nt_printer *printer, const struct nt_stage_result *result, const struct first *first)
{
	char others[NT_HUMAN_MAX];
	struct nt_line row;

	make_row(true, result->choice, result, NULL, NULL, &row);
	for (size_t i = 0; i < row.n; i++)
		row.cells[i] = nt_cell_figure("");
	row.cells[0] = nt_cell_label(nt_human_others(others, (int64_t)first->others));
	row.cells[0].is_right = result->choice->by == NT_BY_CPU || result->choice->by == NT_BY_TIME;
	for (size_t i = 0; i < row.n && !result->choice->inclusive; i++) {
		if (!strcmp(row.names[i], "spent_ns"))
			row.cells[i] = number_cell(first->others_ns);
		else if (!strcmp(row.names[i], "samples"))
			row.cells[i] = number_cell(first->others_samples);
	}
	return nt_printer_row(printer, row.cells) ? nt_db_no_memory(result->part.db) : 0;
}

static int print_table(struct nt_printer *printer, const struct nt_stage_result *result, const struct first *first)
{
	int error = 0;

	nt_printer_leave_out(printer, "samples,family,at_least_share&at_most_share");
	if (begin_columns(result->choice, true, printer))
		return nt_db_no_memory(result->part.db);
	for (size_t i = 0; i < first->n && !error; i++)
		error = one_row(result, first->parts[i], true, printer_row, printer);
	if (!error && first->others)
		error = print_others(printer, result, first);
	nt_printer_end(printer);
	return error;
}

/* Gives how many there are behind those that are printed; or -1. */
static int64_t print_rows(FILE *out, struct nt_printer *printer, const struct nt_stage_result *result, size_t limit)
{
	struct first first;
	int error = choose_first(result, limit, &first);

	if (!error)
		error = result->choice->other ? print_stacks(out, result, &first)
					      : print_table(printer, result, &first);
	free(first.parts);
	return error ? -1 : (int64_t)first.others;
}

int nt_stage_print(const struct nt_stage_result *result, FILE *out, struct nt_printer *printer, size_t limit)
{
	char length[NT_HUMAN_MAX];
	int64_t others;

	fprintf(out, "session %lld, %s on %lld CPUs\n", (long long)result->part.session->id,
		nt_human_ns(length, (uint64_t)result->part.to_ts - (uint64_t)result->part.from_ts),
		(long long)result->part.session->cpus);
	print_owners(out, result);
	fputc('\n', out);
	others = print_rows(out, printer, result, limit);
	if (others < 0)
		return -1;
	if (result->choice->other)
		nt_print_prose(out, "\n",
			       "The most expensive stacks without a stage. To give a stack a stage, add its function "
			       "to report/symbols/stages.txt.");
	else
		nt_print_prose(out, "\n",
			       "Each owner's time is exact. The shares come from samples: with 95 %% confidence each "
			       "lies between at_least and at_most. %s",
			       result->choice->inclusive
				       ? "Each stage counts all that passes through it: shares sum to more than 100 %."
				       : "Stages are exclusive: those of an owner sum to its time.");
	if (others)
		nt_print_prose(out, "", "Others are rows with no more time than these; --limit all shows each.");
	print_short(out, result);
	nt_printer_say_left_out(printer, "\n", "--json and --csv have");
	return 0;
}

/* ---- programs ---- */

int nt_stage_csv_begin(const struct nt_stage_choice *choice, struct nt_printer *printer)
{
	return begin_columns(choice, false, printer);
}

int nt_stage_csv(const struct nt_stage_result *result, struct nt_printer *printer)
{
	return each_row(result, printer_row, printer);
}

static void json_owners(const struct nt_stage_result *result, struct nt_json *json)
{
	nt_json_open(json, "owners", '[');
	for (unsigned int i = 0; i < NT_OWNER_COUNT; i++) {
		const struct nt_stage_owner *owner = &result->owners[i];

		if (!owner->is_there)
			continue;
		nt_json_open(json, NULL, '{');
		nt_json_text(json, "owner", nt_owner_name(i));
		nt_json_integer(json, "spent_ns", (int64_t)owner->ns);
		nt_json_integer(json, "samples", (int64_t)owner->samples);
		nt_json_if(json, "samples_due", owner->has_due, (int64_t)owner->due);
		nt_json_bool(json, "too_few", owner->is_short);
		nt_json_close(json, '}');
	}
	nt_json_close(json, ']');
}

int nt_stage_json(const struct nt_stage_result *result, struct nt_json *json)
{
	int error;

	nt_json_integer(json, "session_id", result->part.session->id);
	nt_json_integer(json, "from_ts", result->part.from_ts);
	nt_json_integer(json, "to_ts", result->part.to_ts);
	nt_json_real(json, "confidence", 0.95);
	nt_json_if(json, "rate_hz", result->clock.rate_hz, result->clock.rate_hz);
	json_owners(result, json);
	nt_json_open(json, "stages", '[');
	error = each_row(result, json_row, json);
	nt_json_close(json, ']');
	return error;
}

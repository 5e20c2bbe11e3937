// SPDX-License-Identifier: GPL-2.0-only
/*
 * result.c - see result.h.
 */
#include "report/query/stages/result.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/rollup.h"
#include "report/util/array.h"

#define COLUMNS_MAX 30 /* by time */

void nt_stage_result_release(struct nt_stage_result *result)
{
	nt_stage_reading_free(result->reading);
	nt_stage_data_release(&result->data);
	nt_frames_release(&result->frames);
	free(result->wholes);
	free(result->group_ns);
	free(result->parts);
	nt_id_map_release(&result->by_whole);
	nt_id_map_release(&result->by_part);
}

/* ---- summing up ---- */

static uint32_t group_of(const struct nt_stage_result *result, const struct nt_stage_series *series, uint32_t bucket)
{
	switch (result->choice->by) {
	case NT_BY_CPU:
		return series->cpu;
	case NT_BY_TIME:
		return (uint32_t)((result->data.first_bucket % result->step + bucket) / result->step);
	default:
		return series->group;
	}
}

/* The index of a whole, or -1. */
static int64_t find_whole(struct nt_stage_result *result, uint32_t group, unsigned int owner)
{
	return NT_INDEX(&result->by_whole, (uint64_t)group << 4 | owner, result->wholes, result->wholes_size,
			result->n_wholes, {.group = group, .owner = owner});
}

static struct nt_stage_part *find_part(struct nt_stage_result *result, uint32_t whole, uint32_t category)
{
	int64_t i = NT_INDEX(&result->by_part, (uint64_t)whole << 32 | category, result->parts, result->parts_size,
			     result->n_parts, {.whole = whole, .category = category});

	return i < 0 ? NULL : &result->parts[i];
}

/* Adds to the part that a category is; with --inclusive, to all stages that its stack passes through. */
static int add_to_parts(struct nt_stage_result *result, uint32_t whole, uint32_t category, uint64_t ns,
			uint64_t samples)
{
	uint64_t stages = 0;

	if (result->choice->inclusive && category != NT_SPLIT_UNSAMPLED)
		stages = nt_frames_stages(&result->frames, result->data.categories[category].stack_id);
	do {
		uint32_t number = stages ? (uint32_t)__builtin_ctzll(stages) : category;
		struct nt_stage_part *part = find_part(result, whole, number);

		if (!part)
			return -ENOMEM;
		part->ns += ns;
		part->samples += samples;
		stages &= stages - 1;
	} while (stages);
	return 0;
}

static void end_run(struct nt_stage_whole *whole)
{
	nt_split_worth_add(&whole->worth, (double)whole->run_ns, (double)whole->run_samples);
	whole->run_ns = 0;
}

/* A part whose buckets are all of one group. */
static int add_to_group(struct nt_stage_result *result, const struct nt_split_part *part)
{
	const uint64_t ns = part->ns * part->n;
	const struct nt_stage_series *series = &result->data.series[part->series];
	int64_t index = find_whole(result, group_of(result, series, part->bucket), series->owner);
	struct nt_stage_whole *whole;

	if (index < 0)
		return -ENOMEM;
	whole = &result->wholes[index];
	whole->ns += ns;
	if (part->category == NT_SPLIT_UNSAMPLED) {
		whole->unsampled_ns += ns;
	} else if (part->is_lent) {
		nt_split_worth_lend(&whole->worth, (double)ns, (double)part->run_samples);
	} else {
		if (whole->run != part->run)
			end_run(whole);
		whole->run = part->run;
		whole->run_samples = part->run_samples;
		whole->run_ns += ns;
	}
	return add_to_parts(result, (uint32_t)index, part->category, ns, 0);
}

/* How many buckets there are from this one to the end of its column. */
static uint32_t left_in_column(const struct nt_stage_result *result, uint32_t bucket)
{
	return result->step - (uint32_t)((result->data.first_bucket % result->step + bucket) % result->step);
}

static int add_time(void *arg, const struct nt_split_part *part)
{
	struct nt_stage_result *result = arg;
	struct nt_split_part piece = *part;
	uint32_t left = part->n;
	int error = 0;

	for (; left && !error; left -= piece.n, piece.bucket += piece.n) {
		piece.n = left;
		if (result->choice->by == NT_BY_TIME && left > left_in_column(result, piece.bucket))
			piece.n = left_in_column(result, piece.bucket);
		error = add_to_group(result, &piece);
	}
	return error;
}

static int count_samples(struct nt_stage_result *result)
{
	for (size_t i = 0; i < result->data.split.n_samples; i++) {
		const struct nt_split_sample *sample = &result->data.split.samples[i];
		const struct nt_stage_series *series = &result->data.series[sample->series];
		int64_t whole = find_whole(result, group_of(result, series, sample->bucket), series->owner);

		if (whole < 0 || add_to_parts(result, (uint32_t)whole, sample->category, 0, 1))
			return -ENOMEM;
		result->wholes[whole].samples++;
	}
	return 0;
}

static void sum_owners(struct nt_stage_result *result)
{
	for (size_t i = 0; i < result->n_wholes; i++) {
		result->owners[result->wholes[i].owner].ns += result->wholes[i].ns;
		result->owners[result->wholes[i].owner].samples += result->wholes[i].samples;
	}
	for (unsigned int i = 0; i < NT_OWNER_COUNT; i++) {
		struct nt_stage_owner *owner = &result->owners[i];

		owner->is_there = owner->ns || owner->samples;
		owner->has_due = owner->is_there && nt_stage_clock_tells(&result->clock, i);
		owner->due = owner->has_due ? nt_stage_due(&result->clock, owner->ns) : 0;
		owner->is_short = owner->has_due && nt_stage_is_short(owner->samples, owner->due);
	}
}

bool nt_stage_any_short(const struct nt_stage_result *result)
{
	return NT_ANY(NT_OWNER_COUNT, i, result->owners[i].is_short);
}

/* ---- how sure it is ---- */

/* Unsampled time may all have been spent there, or none of it. */
void nt_stage_bounds(struct nt_stage_part *part, const struct nt_stage_whole *whole)
{
	double sampled = (double)(whole->ns - whole->unsampled_ns);
	double share = sampled > 0 ? (double)part->ns / sampled : 0;
	struct nt_split_bounds bounds = nt_split_interval(share, nt_split_worth(&whole->worth));

	if (part->category == NT_SPLIT_UNSAMPLED) {
		part->low_ns = part->high_ns = part->ns;
		return;
	}
	part->low_ns = (uint64_t)floor(bounds.low * sampled);
	part->high_ns = (uint64_t)ceil(bounds.high * sampled) + whole->unsampled_ns;
	if (part->low_ns > part->ns)
		part->low_ns = part->ns;
	if (part->high_ns < part->ns)
		part->high_ns = part->ns;
	if (part->high_ns > whole->ns)
		part->high_ns = whole->ns;
}

static int compare_groups(const struct nt_stage_result *result, uint32_t left, uint32_t right)
{
	if (result->group_ns && result->group_ns[left] != result->group_ns[right])
		return result->group_ns[left] > result->group_ns[right] ? -1 : 1;
	return left < right ? -1 : 1;
}

static int compare_parts(const void *a, const void *b, void *arg)
{
	const struct nt_stage_part *left = a, *right = b;
	const struct nt_stage_result *result = arg;
	const struct nt_stage_whole *one = &result->wholes[left->whole], *other = &result->wholes[right->whole];

	if (one->group != other->group)
		return compare_groups(result, one->group, other->group);
	if (one->owner != other->owner)
		return one->owner < other->owner ? -1 : 1;
	if (left->ns != right->ns)
		return left->ns > right->ns ? -1 : 1;
	return (left->category > right->category) - (left->category < right->category);
}

static int sum_groups(struct nt_stage_result *result)
{
	uint32_t last = 0;

	if (!nt_stage_by_is_labelled(result->choice->by))
		return 0;
	for (size_t i = 0; i < result->n_wholes; i++)
		last = result->wholes[i].group > last ? result->wholes[i].group : last;
	result->group_ns = calloc((size_t)last + 1, sizeof(*result->group_ns));
	for (size_t i = 0; result->group_ns && i < result->n_wholes; i++)
		result->group_ns[result->wholes[i].group] += result->wholes[i].ns;
	return result->group_ns ? 0 : -ENOMEM;
}

/* As many buckets as make COLUMNS_MAX columns at most, in steps that are easy to read. */
static uint32_t choose_step(const struct nt_stage_data *data)
{
	static const uint32_t digits[] = {1, 2, 5};
	for (uint32_t tens = 1;; tens *= 10) {
		for (unsigned int i = 0; i < 3; i++) {
			if (data->n_buckets / (digits[i] * tens) < COLUMNS_MAX)
				return digits[i] * tens;
		}
	}
}

static int sum_up(struct nt_stage_result *result)
{
	int error;

	result->step = choose_step(&result->data);
	error = nt_split_each(&result->data.split, add_time, result);
	if (!error)
		error = count_samples(result);
	if (!error)
		error = sum_groups(result);
	if (error)
		return nt_stage_fail(&result->part, error);
	for (size_t i = 0; i < result->n_wholes; i++)
		end_run(&result->wholes[i]);
	sum_owners(result);
	for (size_t i = 0; i < result->n_parts; i++)
		nt_stage_bounds(&result->parts[i], &result->wholes[result->parts[i].whole]);
	if (result->n_parts)
		qsort_r(result->parts, result->n_parts, sizeof(result->parts[0]), compare_parts, result);
	return 0;
}

static bool has_stacks(const struct nt_stage_choice *choice)
{
	return choice->inclusive || choice->other;
}

int nt_stage_find_begin(struct nt_stage_result *result)
{
	if (nt_stage_clock_read(result->part.db, result->part.session->id, &result->clock))
		return -1;
	return nt_stage_reading_begin(&result->reading, &result->part, result->choice, has_stacks(result->choice),
				      &result->data);
}

int nt_stage_find_end(struct nt_stage_result *result, int error)
{
	if (nt_stage_reading_end(result->reading, error))
		return -1;
	nt_stage_reading_free(result->reading);
	result->reading = NULL;
	if (has_stacks(result->choice) && nt_frames_read(result->part.db, result->part.session->id, &result->frames))
		return -1;
	return sum_up(result);
}

int nt_stage_find(struct nt_stage_result *result)
{
	return nt_stage_find_begin(result) ? -1 : nt_stage_find_end(result, nt_stage_reading_scan(result->reading));
}

/* ---- names ---- */

const char *nt_stage_part_name(const struct nt_stage_result *result, const struct nt_stage_part *part,
			       const char **family)
{
	const struct nt_stage_category *category;

	*family = NULL;
	if (part->category == NT_SPLIT_UNSAMPLED)
		return "unsampled";
	if (result->choice->inclusive)
		return nt_stage_name(result->frames.stages, part->category);
	category = &result->data.categories[part->category];
	*family = category->family[0] ? category->family : NULL;
	return category->stage;
}

const char *nt_stage_group(const struct nt_stage_result *result, const struct nt_stage_whole *whole, uint64_t *number)
{
	const enum nt_by by = result->choice->by;

	*number = whole->group;
	if (by == NT_BY_TIME)
		*number = (result->data.first_bucket / result->step + whole->group) * result->step * NT_BUCKET_NS;
	if (!nt_stage_by_is_labelled(by))
		return NULL;
	return whole->group < result->data.groups.texts.n ? nt_labels_text(&result->data.groups, whole->group) : "-";
}

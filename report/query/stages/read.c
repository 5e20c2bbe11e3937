// SPDX-License-Identifier: GPL-2.0-only
/*
 * read.c - see read.h.
 */
#include "report/query/stages/read.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/output.h"
#include "report/query/stages/payers.h"
#include "report/rows/rollup.h"
#include "report/util/array.h"
#include "report/util/spill.h"

/* A category that samples had, while they are read. */
struct met {
	struct nt_stage_category category; /* first: what the tree compares */
	uint32_t number; /* in the order in which they came */
};

#define SAMPLES 8192 /* in memory */

/* One whose series is not known yet. */
struct sample {
	unsigned int owner;
	uint32_t cpu, bucket, category; /* struct met's number */
	int64_t who; /* the task; of net_rx, where payers are told, the flow: -1: none */
};

struct nt_stage_reading {
	const struct nt_part *part;
	const struct nt_stage_choice *choice;
	struct nt_stage_data *data;
	bool by_stack; /* categories are stacks, else stages */
	struct nt_lanes_filter filter;
	struct nt_lanes_reading slices;
	struct nt_stage_payers payers;
	uint64_t n_added; /* samples that have been added to the split */
	struct nt_id_map by_key; /* of a series: its number + 1 */
	void *tree; /* of struct met, see tsearch(3) */
	struct met *last;
	uint32_t n_met;
	uint32_t *places; /* by number: index in the categories, which are in order */
	/* A page of them; full ones are in the file. */
	struct sample samples[SAMPLES];
	size_t n_samples;
	struct nt_spill spill;
};

void nt_stage_data_release(struct nt_stage_data *data)
{
	nt_split_release(&data->split);
	free(data->series);
	for (size_t i = 0; i < data->n_categories; i++) {
		free(data->categories[i].stage);
		free(data->categories[i].family);
	}
	free(data->categories);
	nt_labels_release(&data->groups);
}

int nt_stage_fail(const struct nt_part *part, int error)
{
	return nt_lanes_fail(part, error, "slices or samples");
}

/* ---- series ---- */

/* Whether the time of this owner is that of its payers, and not that of tasks. */
static bool is_paid(const struct nt_stage_reading *reading, unsigned int owner)
{
	return owner == NT_OWNER_NET_RX && reading->payers.is_told;
}

/* Softirqs and interrupts are not the task's that happens to be on the CPU. */
static uint32_t group_of(struct nt_stage_reading *reading, unsigned int owner, int64_t utid)
{
	bool is_told = owner == NT_OWNER_SEND || owner == NT_OWNER_RECV || owner == NT_OWNER_TASK;

	if (!nt_stage_by_is_labelled(reading->choice->by))
		return 0;
	return is_told && utid >= 0 ? nt_group_of_id(&reading->data->groups, utid) : 0;
}

/* 0, -ENOMEM, -ERANGE. */
static int find_series(struct nt_stage_reading *reading, unsigned int owner, uint32_t cpu, uint32_t group,
		       uint32_t *number)
{
	struct nt_stage_data *data = reading->data;
	int64_t i;

	if (cpu >= NT_LANE_MAX_CPUS || group >= 1u << 28)
		return -ERANGE;
	i = NT_INDEX(&reading->by_key, (uint64_t)group << 17 | cpu << 4 | owner, data->series, data->series_size,
		     data->n_series, {owner, cpu, group});
	/* Processes lend each other nothing; CPUs do. */
	if (i < 0 ||
	    (data->n_series > data->split.n_series && nt_split_new_series(&data->split, group << 4 | owner) < 0))
		return -ENOMEM;
	*number = (uint32_t)i;
	return 0;
}

static uint64_t since_start(const struct nt_part *part, int64_t ts)
{
	return (uint64_t)ts - (uint64_t)part->session->start_ts;
}

/* The number of buckets is checked before anything is read, so those of times within the part are in range. */
static uint32_t bucket_of(const struct nt_stage_reading *reading, int64_t ts)
{
	return (uint32_t)(since_start(reading->part, ts) / NT_BUCKET_NS - reading->data->first_bucket);
}

static int set_buckets(const struct nt_part *part, struct nt_stage_data *data)
{
	uint64_t first = since_start(part, part->from_ts) / NT_BUCKET_NS;
	uint64_t n = since_start(part, part->to_ts - 1) / NT_BUCKET_NS - first + 1;
	struct nt_db *db = part->db;
	char length[NT_HUMAN_MAX];

	if (n > NT_SPLIT_BUCKETS_MAX) {
		return nt_db_refuse(
			db, "%s: session %lld: %s are too long to be split at once: choose less with --from and --to.",
			db->path[0] ? db->path : "the tape", (long long)part->session->id,
			nt_human_ns(length, (uint64_t)part->to_ts - (uint64_t)part->from_ts));
	}
	data->first_bucket = first;
	data->n_buckets = (uint32_t)n;
	return 0;
}

/* ---- time ---- */

static int add_slice(void *arg, const struct nt_lane_slice *slice)
{
	struct nt_stage_reading *reading = arg;
	const struct nt_part *part = reading->part;
	int64_t ts = slice->ts > part->from_ts ? slice->ts : part->from_ts;
	int64_t end = slice->ts + slice->dur < part->to_ts ? slice->ts + slice->dur : part->to_ts;
	uint32_t series = 0;
	int error = 0;

	if (slice->kind >= NT_OWNER_COUNT || !(reading->choice->owners >> slice->kind & 1) || ts >= end)
		return 0;
	if (!is_paid(reading, slice->kind))
		error = find_series(reading, slice->kind, slice->cpu, group_of(reading, slice->kind, slice->utid),
				    &series);
	while (!error && ts < end) {
		uint64_t left = NT_BUCKET_NS - since_start(part, ts) % NT_BUCKET_NS;
		uint64_t ns = (uint64_t)end - (uint64_t)ts;
		/* All buckets that it fills are added as one, however long it is. */
		uint64_t n = left == NT_BUCKET_NS && ns >= left ? ns / NT_BUCKET_NS : 1;

		ns = ns < left ? ns : left;
		if (is_paid(reading, slice->kind))
			error = nt_stage_payers_add(&reading->payers, slice->cpu, bucket_of(reading, ts), (uint32_t)n,
						    ns);
		else
			error = nt_split_add_time(&reading->data->split, series, bucket_of(reading, ts), (uint32_t)n,
						  ns);
		ts += (int64_t)(n * ns);
	}
	return error;
}

/* The same out of the sums of each 100 ms, where no group is asked for. */
static int take_cost(void *arg, const struct nt_row *row)
{
	struct nt_stage_reading *reading = arg;
	const struct nt_part *part = reading->part;
	const unsigned int owner = nt_owner_number(nt_text(NT_VALUE(row, cpu_cost, owner), ""));
	const int64_t ts = nt_integer(NT_VALUE(row, cpu_cost, ts), -1),
		      cpu = nt_integer(NT_VALUE(row, cpu_cost, cpu), -1),
		      dur = nt_integer(NT_VALUE(row, cpu_cost, dur), -1),
		      ns = nt_integer(NT_VALUE(row, cpu_cost, spent_ns), -1);
	/* One slice may fill several. */
	const int64_t n = dur > (int64_t)NT_BUCKET_NS ? dur / (int64_t)NT_BUCKET_NS : 1;
	uint32_t series;
	int error;

	if (owner >= NT_OWNER_COUNT || !(reading->choice->owners >> owner & 1))
		return 0;
	if (cpu < 0 || cpu >= NT_LANE_MAX_CPUS || ns < 0 || ts < part->from_ts || ts >= part->to_ts || n > UINT32_MAX)
		return -ERANGE;
	error = find_series(reading, owner, (uint32_t)cpu, 0, &series);
	return error ? error
		     : nt_split_add_time(&reading->data->split, series, bucket_of(reading, ts), (uint32_t)n,
					 (uint64_t)(ns / n));
}

/* Time of net_rx that a group pays for. */
static int add_paid(void *arg, uint32_t cpu, uint32_t group, const struct nt_split_cell *cell)
{
	struct nt_stage_reading *reading = arg;
	uint32_t series;
	int error = find_series(reading, NT_OWNER_NET_RX, cpu, group, &series);

	return error ? error : nt_split_add_time(&reading->data->split, series, cell->bucket, cell->n, cell->ns);
}

/* ---- categories ---- */

static int compare_categories(const void *a, const void *b)
{
	const struct nt_stage_category *left = a, *right = b;
	int order;

	if (left->stack_id != right->stack_id)
		return left->stack_id < right->stack_id ? -1 : 1;
	if (left->user_stack_id != right->user_stack_id)
		return left->user_stack_id < right->user_stack_id ? -1 : 1;
	order = strcmp(left->stage, right->stage);
	return order ? order : strcmp(left->family, right->family);
}

/* The texts are the row's. */
static struct nt_stage_category category_of(const struct nt_stage_reading *reading, const struct nt_row *row)
{
	const bool by_user = reading->by_stack && reading->choice->user;

	return (struct nt_stage_category){
		.stage = (char *)(uintptr_t)nt_text(NT_VALUE(row, stack_sample, stage), "no_stack"),
		.family = (char *)(uintptr_t)nt_text(NT_VALUE(row, stack_sample, family), ""),
		.stack_id = reading->by_stack ? nt_integer(NT_VALUE(row, stack_sample, stack_id), -1) : -1,
		.user_stack_id = by_user ? nt_integer(NT_VALUE(row, stack_sample, user_stack_id), -1) : -1,
	};
}

static void free_met(void *met)
{
	free(((struct met *)met)->category.stage);
	free(((struct met *)met)->category.family);
	free(met);
}

/* A category that is new; NULL: out of memory. */
static struct met *add_category(struct nt_stage_reading *reading, const struct nt_stage_category *category)
{
	struct met *met = calloc(1, sizeof(*met));

	if (!met)
		return NULL;
	met->category = *category;
	met->category.stage = strdup(category->stage);
	met->category.family = strdup(category->family);
	met->number = reading->n_met;
	if (met->category.stage && met->category.family && tsearch(met, &reading->tree, compare_categories)) {
		reading->n_met++;
		return met;
	}
	free_met(met);
	return NULL;
}

/* The number of a category in the order in which they come, or -ENOMEM. */
static int64_t find_category(struct nt_stage_reading *reading, const struct nt_row *row)
{
	const struct nt_stage_category category = category_of(reading, row);
	struct met **found;

	if (reading->last && !compare_categories(&reading->last->category, &category))
		return reading->last->number;
	found = tfind(&category, &reading->tree, compare_categories);
	reading->last = found ? *found : add_category(reading, &category);
	return reading->last ? (int64_t)reading->last->number : -ENOMEM;
}

static void take_category(const void *node, VISIT visit, void *arg)
{
	struct nt_stage_reading *reading = arg;
	struct met *met = *(struct met *const *)node;

	if (visit != postorder && visit != leaf)
		return;
	reading->places[met->number] = (uint32_t)reading->data->n_categories;
	reading->data->categories[reading->data->n_categories++] = met->category;
	met->category = (struct nt_stage_category){0};
}

/* From the tree into an array in their order; `places` then has where in it each is. */
static int order_categories(struct nt_stage_reading *reading)
{
	if (!reading->n_met)
		return 0;
	reading->places = calloc(reading->n_met, sizeof(*reading->places));
	if (!reading->places || NT_ROOM(reading->data->categories, reading->data->categories_size, reading->n_met))
		return -ENOMEM;
	twalk_r(reading->tree, take_category, reading);
	return 0;
}

/* ---- samples ---- */

static int spill_samples(struct nt_stage_reading *reading)
{
	const size_t size = reading->n_samples * sizeof(reading->samples[0]);

	reading->n_samples = 0;
	return nt_spill_append(&reading->spill, reading->samples, size);
}

/* Samples count only of the part. */
static int take_sample(void *arg, const struct nt_row *row)
{
	struct nt_stage_reading *reading = arg;
	const struct nt_part *part = reading->part;
	const char *name = nt_text(NT_VALUE(row, stack_sample, owner), NULL);
	const struct nt_value *utid = NT_VALUE(row, stack_sample, utid);
	const int64_t ts = nt_integer(NT_VALUE(row, stack_sample, ts), -1),
		      cpu = nt_integer(NT_VALUE(row, stack_sample, cpu), -1);
	enum nt_owner owner;
	int64_t category;

	if (!name || ts < part->from_ts || ts >= part->to_ts ||
	    !nt_lanes_has_cpu(part, NT_VALUE(row, stack_sample, cpu)))
		return 0;
	owner = nt_owner_number(name);
	if (!is_paid(reading, owner) && !nt_lanes_has_thread(&reading->filter, utid))
		return 0;
	if (owner == NT_OWNER_COUNT || cpu < 0 || cpu >= NT_LANE_MAX_CPUS)
		return -ERANGE;
	if (!(reading->choice->owners >> owner & 1))
		return 0;
	category = find_category(reading, row);
	if (category < 0)
		return (int)category;
	if (reading->n_samples == SAMPLES && spill_samples(reading))
		return -EIO;
	reading->samples[reading->n_samples++] = (struct sample){
		owner, (uint32_t)cpu, bucket_of(reading, ts), (uint32_t)category,
		is_paid(reading, owner) ? nt_integer(NT_VALUE(row, stack_sample, flow_id), -1) : nt_integer(utid, -1)};
	return 0;
}

static int add_page(struct nt_stage_reading *reading)
{
	int error = 0;

	for (size_t i = 0; i < reading->n_samples && !error; i++) {
		const struct sample *sample = &reading->samples[i];
		const uint32_t group = is_paid(reading, sample->owner)
					       ? nt_stage_payers_of(&reading->payers, sample->who, reading->n_added)
					       : group_of(reading, sample->owner, sample->who);
		uint32_t series;

		reading->n_added++;
		if (group == NT_STAGE_NOT_CHOSEN)
			continue;
		error = find_series(reading, sample->owner, sample->cpu, group, &series);
		if (!error)
			error = nt_split_add_sample(&reading->data->split, series, sample->bucket,
						    reading->places[sample->category]);
	}
	return error;
}

/* Those in the file, in the order in which they came. */
static int add_spilled(struct nt_stage_reading *reading)
{
	const uint64_t end = reading->spill.size;
	int error = 0;

	for (uint64_t at = 0; at < end && !error; at += sizeof(reading->samples)) {
		const uint64_t left = end - at;
		const size_t size = left < sizeof(reading->samples) ? (size_t)left : sizeof(reading->samples);

		reading->n_samples = size / sizeof(reading->samples[0]);
		error = nt_spill_read(&reading->spill, at, reading->samples, size);
		if (!error)
			error = add_page(reading);
	}
	return error;
}

/* They follow the slices: series are in the order in which these come. */
static int add_samples(struct nt_stage_reading *reading)
{
	int error = order_categories(reading);

	if (error || !reading->spill.size)
		return error ? error : add_page(reading);
	error = spill_samples(reading);
	return error ? error : add_spilled(reading);
}

static int read_groups(struct nt_stage_reading *reading)
{
	const enum nt_by by = reading->choice->by;

	if (nt_stage_by_is_labelled(by) &&
	    nt_groups_read(reading->part->db, reading->part->session->id,
			   by == NT_BY_CGROUP ? NT_BY_CGROUP : NT_BY_PROCESS, &reading->data->groups))
		return -1;
	return nt_stage_payers_init(&reading->payers, reading->part, reading->choice, &reading->data->groups);
}

int nt_stage_reading_begin(struct nt_stage_reading **out, const struct nt_part *part,
			   const struct nt_stage_choice *choice, bool by_stack, struct nt_stage_data *data)
{
	struct nt_stage_reading *reading = calloc(1, sizeof(*reading));

	*data = (struct nt_stage_data){0};
	*out = reading;
	if (!reading)
		return nt_db_no_memory(part->db);
	reading->part = part;
	reading->choice = choice;
	reading->data = data;
	reading->by_stack = by_stack;
	reading->slices = (struct nt_lanes_reading){&reading->filter, add_slice, reading};
	if (set_buckets(part, data) || read_groups(reading) || nt_lanes_filter_init(&reading->filter, part))
		return -1;
	reading->filter.of_all = reading->payers.is_told ? 1u << NT_OWNER_NET_RX : 0;
	return 0;
}

void nt_stage_readers(struct nt_stage_reading *reading, struct nt_scan_reader readers[NT_STAGE_READERS])
{
	readers[0] = nt_lanes_reader(&reading->slices);
	readers[1] = (struct nt_scan_reader){NT_TABLE_STACK_SAMPLE, 0, take_sample, reading};
}

int nt_stage_reading_scan(struct nt_stage_reading *reading)
{
	const struct nt_part *part = reading->part;
	/* Frames, costs, and what is missing (query/whole.h) come out of the same pass. */
	const uint64_t small = NT_TABLE_BIT(NT_TABLE_LOSS) | (reading->by_stack ? NT_TABLE_BIT(NT_TABLE_FRAME) : 0) |
			       (reading->payers.is_told ? NT_TABLE_BIT(NT_TABLE_RX_COST) : 0);
	struct nt_scan_reader readers[NT_STAGE_READERS];

	nt_stage_readers(reading, readers);
	return nt_scan_all(part->db, part->session->id, small, readers, NT_STAGE_READERS);
}

int nt_stage_reading_scan_sums(struct nt_stage_reading *reading)
{
	const struct nt_part *part = reading->part;
	const struct nt_scan_reader samples = {NT_TABLE_STACK_SAMPLE, 0, take_sample, reading},
				    costs = {NT_TABLE_CPU_COST, 0, take_cost, reading};
	/* All that is small comes out of the same pass. */
	const int error = nt_scan_all(part->db, part->session->id, NT_ALL_TABLES, &samples, 1);

	return error ? error : nt_scan_all(part->db, part->session->id, 0, &costs, 1);
}

int nt_stage_reading_end(struct nt_stage_reading *reading, int error)
{
	if (!error && reading->payers.is_told)
		error = nt_stage_payers_divide(&reading->payers, add_paid, reading);
	if (!error)
		error = add_samples(reading);
	if (reading->spill.error)
		return nt_db_refuse(reading->part->db, NT_SPILL_FAILED, reading->part->db->name,
				    strerror(reading->spill.error));
	return error ? nt_stage_fail(reading->part, error) : 0;
}

void nt_stage_reading_free(struct nt_stage_reading *reading)
{
	if (!reading)
		return;
	tdestroy(reading->tree, free_met);
	free(reading->places);
	nt_spill_release(&reading->spill);
	nt_id_map_release(&reading->by_key);
	nt_lanes_filter_release(&reading->filter);
	nt_stage_payers_release(&reading->payers);
	free(reading);
}

int nt_stage_read(const struct nt_part *part, const struct nt_stage_choice *choice, bool by_stack,
		  struct nt_stage_data *data)
{
	struct nt_stage_reading *reading;
	int error = nt_stage_reading_begin(&reading, part, choice, by_stack, data);

	if (!error)
		error = nt_stage_reading_end(reading, nt_stage_reading_scan(reading));
	nt_stage_reading_free(reading);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * read.c - see read.h.
 */
#include "report/query/stages/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/out/output.h"
#include "report/rows/rollup.h"
#include "report/util/array.h"

struct reading {
	const struct nt_part *part;
	const struct nt_stage_choice *choice;
	struct nt_stage_data *data;
	struct nt_id_map by_key; /* of a series: its number + 1 */
	bool by_stack;
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

/*
 * Receiving is not the task's that happens to be on the CPU: only send and receive are told apart by process.
 */
static uint32_t group_of(struct reading *reading, unsigned int owner, int64_t utid)
{
	bool is_told = owner == NT_OWNER_SEND || owner == NT_OWNER_RECV || owner == NT_OWNER_TASK;

	if (reading->choice->by != NT_STAGE_BY_PROCESS && reading->choice->by != NT_STAGE_BY_CGROUP)
		return 0;
	return is_told && utid >= 0 ? nt_group_of_id(&reading->data->groups, utid) : 0;
}

/* 0, -ENOMEM, -ERANGE. */
static int find_series(struct reading *reading, unsigned int owner, uint32_t cpu, int64_t utid, uint32_t *number)
{
	struct nt_stage_data *data = reading->data;
	const uint32_t group = group_of(reading, owner, utid);
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
static uint32_t bucket_of(const struct reading *reading, int64_t ts)
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
	struct reading *reading = arg;
	const struct nt_part *part = reading->part;
	int64_t ts = slice->ts > part->from_ts ? slice->ts : part->from_ts;
	int64_t end = slice->ts + slice->dur < part->to_ts ? slice->ts + slice->dur : part->to_ts;
	uint32_t series;
	int error;

	if (slice->kind >= NT_OWNER_COUNT || !(reading->choice->owners >> slice->kind & 1) || ts >= end)
		return 0;
	error = find_series(reading, slice->kind, slice->cpu, slice->utid, &series);
	while (!error && ts < end) {
		uint64_t left = NT_BUCKET_NS - since_start(part, ts) % NT_BUCKET_NS;
		uint64_t ns = (uint64_t)end - (uint64_t)ts;
		/* All buckets that it fills are added as one, however long it is. */
		uint64_t n = left == NT_BUCKET_NS && ns >= left ? ns / NT_BUCKET_NS : 1;

		ns = ns < left ? ns : left;
		error = nt_split_add_time(&reading->data->split, series, bucket_of(reading, ts), (uint32_t)n, ns);
		ts += (int64_t)(n * ns);
	}
	return error;
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

/* The columns of samples from `stage` on. The texts are the statement's. */
static struct nt_stage_category category_of(const struct reading *reading, sqlite3_stmt *row, int column)
{
	struct nt_stage_category category = {
		.stage = (char *)(uintptr_t)nt_db_text(row, column),
		.family = (char *)(uintptr_t)nt_db_text(row, column + 1),
		.stack_id = reading->by_stack ? sqlite3_column_int64(row, column + 2) : -1,
		.user_stack_id =
			reading->by_stack && reading->choice->user ? sqlite3_column_int64(row, column + 3) : -1,
	};

	return category;
}

static int add_category(struct reading *reading, const struct nt_stage_category *category)
{
	struct nt_stage_data *data = reading->data;
	struct nt_stage_category *added;

	if (NT_ROOM(data->categories, data->categories_size, data->n_categories + 1))
		return -ENOMEM;
	added = &data->categories[data->n_categories];
	*added = *category;
	added->stage = strdup(category->stage);
	added->family = strdup(category->family);
	if (added->stage && added->family) {
		data->n_categories++;
		return 0;
	}
	free(added->stage);
	free(added->family);
	return -ENOMEM;
}

/* All categories of the session: the same whatever part of it is asked about. */
static int read_categories(struct reading *reading)
{
	static const char *const sql[] = {
		"SELECT DISTINCT coalesce(stage, 'no_stack'), coalesce(family, '') FROM stack_sample WHERE session_id "
		"= ?1 AND owner "
		"IS NOT NULL",
		"SELECT DISTINCT coalesce(stage, 'no_stack'), coalesce(family, ''), coalesce(stack_id, -1) FROM "
		"stack_sample WHERE "
		"session_id = ?1 AND owner IS NOT NULL",
		"SELECT DISTINCT coalesce(stage, 'no_stack'), coalesce(family, ''), coalesce(stack_id, -1), "
		"coalesce(user_stack_id, -1) "
		"FROM stack_sample WHERE session_id = ?1 AND owner IS NOT NULL",
	};
	struct nt_db *db = reading->part->db;
	sqlite3_stmt *row =
		nt_db_query(db, sql[reading->by_stack ? 1 + reading->choice->user : 0], reading->part->session->id);
	int error = 0;

	while (!error && nt_db_next(row)) {
		struct nt_stage_category category = category_of(reading, row, 0);

		error = add_category(reading, &category);
	}
	if (nt_db_end(db, row, "the samples cannot be read"))
		return -1;
	if (error)
		return nt_stage_fail(reading->part, error);
	if (reading->data->n_categories)
		qsort(reading->data->categories, reading->data->n_categories, sizeof(struct nt_stage_category),
		      compare_categories);
	return 0;
}

/* ---- samples ---- */

static int add_sample(struct reading *reading, sqlite3_stmt *row)
{
	const struct nt_stage_category category = category_of(reading, row, 4), *found;
	struct nt_stage_data *data = reading->data;
	unsigned int owner = 0, kinds = nt_lane_kinds_of(nt_db_text(row, 2));
	int64_t cpu = sqlite3_column_int64(row, 0), ts = sqlite3_column_int64(row, 1);
	uint32_t series;
	int error;

	while (owner < NT_OWNER_COUNT && kinds != 1u << owner)
		owner++;
	if (owner == NT_OWNER_COUNT || cpu < 0 || cpu >= NT_LANE_MAX_CPUS)
		return -ERANGE;
	if (!(reading->choice->owners >> owner & 1))
		return 0;
	found = data->n_categories
			? bsearch(&category, data->categories, data->n_categories, sizeof(category), compare_categories)
			: NULL;
	if (!found)
		return -ERANGE;
	error = find_series(reading, owner, (uint32_t)cpu,
			    sqlite3_column_type(row, 3) == SQLITE_NULL ? -1 : sqlite3_column_int64(row, 3), &series);
	return error ? error
		     : nt_split_add_sample(&data->split, series, bucket_of(reading, ts),
					   (uint32_t)(found - data->categories));
}

static int read_samples(struct reading *reading)
{
	sqlite3_stmt *row = nt_lanes_samples(reading->part);
	int error = 0;

	while (!error && nt_db_next(row))
		error = add_sample(reading, row);
	if (nt_db_end(reading->part->db, row, "the samples cannot be read"))
		return -1;
	return error ? nt_stage_fail(reading->part, error) : 0;
}

static int read_groups(struct reading *reading)
{
	enum nt_stage_by by = reading->choice->by;

	if (by != NT_STAGE_BY_PROCESS && by != NT_STAGE_BY_CGROUP)
		return 0;
	return nt_groups_read(reading->part->db, reading->part->session->id,
			      by == NT_STAGE_BY_PROCESS ? NT_BY_PROCESS : NT_BY_CGROUP, &reading->data->groups);
}

int nt_stage_read(const struct nt_part *part, const struct nt_stage_choice *choice, bool by_stack,
		  struct nt_stage_data *data)
{
	struct reading reading = {.part = part, .choice = choice, .data = data, .by_stack = by_stack};
	int error;

	*data = (struct nt_stage_data){0};
	if (set_buckets(part, data))
		return -1;
	error = read_groups(&reading) || read_categories(&reading) || nt_lanes_scan(part, add_slice, &reading) ||
				read_samples(&reading)
			? -1
			: 0;
	nt_id_map_release(&reading.by_key);
	return error;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * flow_rows.c - the part of rows.h that makes rows of what probe flows counts: estimates of each time, and sums.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/rows/state.h"
#include "schema/meta_keys.h"

/* The numbers that hashes are made with, as `flow_hash` has them. False: they are not there. */
static bool read_hashes(const struct nt_tape *tape, struct nt_flow_hash hashes[2])
{
	uint64_t *words = (uint64_t *)hashes;
	char text[512], word[17] = "", *end;

	if (nt_tape_meta(tape, NT_META_FLOW_HASH, text, sizeof(text)) ||
	    strlen(text) != 2 * sizeof(*hashes) / sizeof(*words) * 16)
		return false;
	for (size_t i = 0; text[16 * i]; i++) {
		memcpy(word, text + 16 * i, 16);
		words[i] = strtoull(word, &end, 16);
		if (*end)
			return false;
	}
	return true;
}

int nt_flow_rows_open(struct nt_rows *rows)
{
	const uint64_t estimated = NT_TABLE_BIT(NT_TABLE_FLOW_COUNT) | NT_TABLE_BIT(NT_TABLE_FLOW_SUM);
	char sample[64], sketch[64];
	int error;

	if (!(rows->want.tables & estimated) || nt_tape_meta(rows->tape, NT_META_FLOW_SAMPLE, sample, sizeof(sample)) ||
	    nt_tape_meta(rows->tape, NT_META_FLOW_SKETCH, sketch, sizeof(sketch)))
		return 0;
	rows->has_hashes = read_hashes(rows->tape, rows->hashes);
	error = nt_flow_times_init(&rows->flows, sample, sketch);
	rows->has_estimates = !error;
	return error == -ENOMEM ? error : 0;
}

/* Whether what began then counts in the sums. */
static bool counts(const struct nt_rows *rows, uint64_t end_ns, uint64_t dur_ns)
{
	return rows->want.tables & NT_TABLE_BIT(NT_TABLE_FLOW_SUM) && nt_view_has(&rows->time, end_ns - dur_ns);
}

int nt_flow_rows_sketch(struct nt_rows *rows, uint32_t cpu, const union nt_any *record)
{
	const struct nt_flow_sketch *sketch = &record->as_flow_sketch;

	if (rows->has_estimates)
		nt_flow_times_begin(&rows->flows, sketch, counts(rows, sketch->end_ns, sketch->dur_ns));
	return nt_rows_push_record(rows, &(struct nt_cpu_record){cpu, NT_NO_TASK, record});
}

int nt_flow_rows_cell(struct nt_rows *rows, uint32_t cpu, const union nt_any *record)
{
	if (rows->has_estimates)
		nt_flow_times_cell(&rows->flows, &record->as_flow_cell);
	return nt_rows_push_record(rows, &(struct nt_cpu_record){cpu, NT_NO_TASK, record});
}

/* 0: it is not known. */
static uint64_t hash_of(struct nt_rows *rows, const struct nt_flow_count *count)
{
	enum nt_flow_key_sort sort;
	struct nt_flow_tuple tuple;

	if (!rows->has_hashes || !nt_identities_flow_tuple(&rows->learned->ids, count->flow, &sort, &tuple) ||
	    sort != count->flags)
		return 0;
	return nt_sketch_hash(nt_flow_key(rows->hashes, &tuple, nt_flow_many(sort)));
}

int nt_flow_rows_count(struct nt_rows *rows, const struct nt_flow_count *count)
{
	struct nt_flow_count_info info = {.count = count, .is_known = rows->has_estimates};
	int error = 0;

	if (info.is_known) {
		info.hash = hash_of(rows, count);
		error = nt_flow_times_count(&rows->flows, count, info.hash, counts(rows, count->end_ns, count->dur_ns),
					    &info.estimate);
		info.is_known = error != -EINVAL;
		error = error == -EINVAL ? 0 : error;
	}
	return error ? error : nt_rows_push(rows, NT_TABLE_FLOW_COUNT, &info);
}

int nt_flow_rows_step(struct nt_rows *rows)
{
	struct nt_flow_sum_info info;

	if (rows->has_estimates && !rows->next_flow)
		nt_flow_times_finish(&rows->flows);
	if (rows->next_flow == rows->flows.n)
		return 1;
	info.flow = rows->flows.flows[rows->next_flow].flow;
	info.sort = rows->flows.flows[rows->next_flow].sort;
	nt_flow_times_of(&rows->flows, rows->next_flow++, &info.estimate);
	return nt_rows_push(rows, NT_TABLE_FLOW_SUM, &info);
}

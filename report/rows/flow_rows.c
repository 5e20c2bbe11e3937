// SPDX-License-Identifier: GPL-2.0-only
/*
 * flow_rows.c - the part of rows.h that makes rows of what probe flows counts: of each count of a flow its estimate, by
 * the sketch that came before it.
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
	char sample[64], sketch[64];
	int error;

	if (!(rows->want.tables & NT_TABLE_BIT(NT_TABLE_FLOW_COUNT)) ||
	    nt_tape_meta(rows->tape, NT_META_FLOW_SAMPLE, sample, sizeof(sample)) ||
	    nt_tape_meta(rows->tape, NT_META_FLOW_SKETCH, sketch, sizeof(sketch)))
		return 0;
	rows->has_hashes = read_hashes(rows->tape, rows->hashes);
	error = nt_flow_estimates_init(&rows->flows, sample, sketch);
	return error == -ENOMEM ? error : 0;
}

int nt_flow_rows_sketch(struct nt_rows *rows, uint32_t cpu, const union nt_any *record)
{
	nt_flow_estimates_clear(&rows->flows);
	rows->sketch = record->as_flow_sketch;
	return nt_rows_push_record(rows, &(struct nt_cpu_record){cpu, NT_NO_TASK, record});
}

int nt_flow_rows_cell(struct nt_rows *rows, uint32_t cpu, const union nt_any *record)
{
	const struct nt_flow_cell *cell = &record->as_flow_cell;

	if (cell->end_ns == rows->sketch.end_ns && rows->sketch.cells &&
	    nt_flow_estimates_add(&rows->flows, cell->cell, cell->packets, cell->bytes))
		rows->sketch.cells--;
	return nt_rows_push_record(rows, &(struct nt_cpu_record){cpu, NT_NO_TASK, record});
}

/* 0: it is not known. */
static uint64_t hash_of(struct nt_rows *rows, uint64_t flow)
{
	struct nt_flow_tuple tuple;

	if (!rows->has_hashes || !nt_identities_flow_tuple(&rows->learned->ids, flow, &tuple))
		return 0;
	return nt_sketch_hash(nt_flow_key(rows->hashes, &tuple, NT_MANY_NOT));
}

/* Where a cell was lost with a part of the tape, only the flow's own samples tell. */
int nt_flow_rows_count(struct nt_rows *rows, const struct nt_flow_count *count)
{
	const bool is_whole = count->end_ns == rows->sketch.end_ns && !rows->sketch.cells;
	struct nt_flow_count_info info = {.count = count, .is_known = rows->flows.cells != NULL};

	if (info.is_known)
		nt_flow_estimates_of(&rows->flows, is_whole ? hash_of(rows, count->flow) : 0, count, &info.estimate);
	return nt_rows_push(rows, NT_TABLE_FLOW_COUNT, &info);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * sums.c - see sums.h. Costs are added up (sums_costs.c) until the first identity comes; then it is known which tasks
 * and sockets rows speak of, and only these get a name.
 */
#include "report/db/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/db/sums_state.h"

struct nt_sums *nt_sums_new(int64_t start_ts, int64_t end_ts, const struct nt_sums_sink *sink)
{
	struct nt_sums *sums = calloc(1, sizeof(*sums));

	if (!sums)
		return NULL;
	sums->start_ts = start_ts;
	sums->end_ts = end_ts;
	sums->sink = *sink;
	return sums;
}

void nt_sums_free(struct nt_sums *sums)
{
	if (!sums)
		return;
	free(sums->slices.costs);
	free(sums->ops.costs);
	free(sums->charges.charges);
	nt_texts_release(&sums->elsewhere_keys);
	free(sums->elsewhere);
	nt_id_map_release(&sums->chosen);
	free(sums->choices);
	nt_texts_release(&sums->counter_keys);
	free(sums->counters);
	nt_id_map_release(&sums->tasks);
	nt_id_map_release(&sums->sockets);
	nt_id_map_release(&sums->processes);
	nt_id_map_release(&sums->cgroups);
	free(sums->waiting);
	nt_arena_release(&sums->texts);
	nt_arena_release(&sums->row);
	free(sums);
}

int64_t nt_sums_integer(const struct nt_row *row, const char *column, int64_t otherwise)
{
	const struct nt_value *value = nt_row_value(row, column);

	return value && value->type == NT_VALUE_INTEGER ? value->integer : otherwise;
}

/* ---- rows that are kept, and rows that are made ---- */

int nt_sums_keep(struct nt_sums *sums, struct nt_sums_kept *kept, const struct nt_row *row)
{
	kept->table = row->table;
	memcpy(kept->values, row->values, row->n * sizeof(*row->values));
	return nt_values_own(kept->values, row->n, &sums->texts);
}

int nt_sums_put_kept(struct nt_sums *sums, const struct nt_sums_kept *kept)
{
	struct nt_row row = {.table = kept->table, .n = nt_table(kept->table)->n_columns};

	memcpy(row.values, kept->values, row.n * sizeof(*row.values));
	return sums->sink.put(sums->sink.arg, &row);
}

int nt_sums_put(struct nt_sums *sums, enum nt_table_id table, const void *from)
{
	struct nt_row row;
	int error;

	nt_arena_reset(&sums->row);
	error = nt_table_fill(&row, &sums->row, table, sums->session_id, from);
	/* A tape may claim more bytes than SQL can hold; rows.h leaves such rows out, too. */
	if (error)
		return error == -EBADMSG ? 0 : error;
	return sums->sink.put(sums->sink.arg, &row);
}

/* ---- who is who ---- */

static bool is_named(struct nt_id_map *map, const struct nt_row *row, const char *column)
{
	const int64_t id = nt_sums_integer(row, column, -1);

	return id >= 0 && nt_id_map_get(map, (uint64_t)id);
}

/* The row that this id refers to is kept, too. */
static int name(struct nt_id_map *map, int64_t id)
{
	return id < 0 ? 0 : nt_id_map_set(map, (uint64_t)id, 1);
}

static int add_thread(struct nt_sums *sums, const struct nt_row *row)
{
	if (!is_named(&sums->tasks, row, "utid"))
		return 0;
	if (name(&sums->processes, nt_sums_integer(row, "upid", -1)))
		return -ENOMEM;
	return sums->sink.put(sums->sink.arg, row);
}

static int let_wait(struct nt_sums *sums, const struct nt_row *row)
{
	if (NT_ROOM(sums->waiting, sums->waiting_size, sums->n_waiting + 1))
		return -ENOMEM;
	return nt_sums_keep(sums, &sums->waiting[sums->n_waiting++], row);
}

static int put_process(struct nt_sums *sums, const struct nt_row *row)
{
	if (!is_named(&sums->processes, row, "upid"))
		return 0;
	if (name(&sums->cgroups, nt_sums_integer(row, "cgroup_id", -1)))
		return -ENOMEM;
	return sums->sink.put(sums->sink.arg, row);
}

/* First the processes: they name cgroups. */
static int put_waiting(struct nt_sums *sums, enum nt_table_id table)
{
	int error = 0;

	for (size_t i = 0; i < sums->n_waiting && !error; i++) {
		const struct nt_sums_kept *kept = &sums->waiting[i];
		struct nt_row row = {.table = table, .n = nt_table(table)->n_columns};

		if (kept->table != table)
			continue;
		memcpy(row.values, kept->values, row.n * sizeof(*row.values));
		if (table == NT_TABLE_PROCESS)
			error = put_process(sums, &row);
		else if (is_named(&sums->cgroups, &row, "id"))
			error = sums->sink.put(sums->sink.arg, &row);
	}
	return error;
}

/* The thread and the process of the rest, if there is a rest. */
static int put_others(struct nt_sums *sums)
{
	const struct nt_thread_info thread = {
		.task = NT_SUMS_OTHERS, .known = true, .process = NT_SUMS_OTHERS, .name = "others"};
	const struct nt_process_info process = {.process = NT_SUMS_OTHERS, .name = "others"};
	int error;

	if (!nt_id_map_get(&sums->tasks, NT_SUMS_OTHERS))
		return 0;
	error = nt_sums_put(sums, NT_TABLE_THREAD, &thread);
	return error ? error : nt_sums_put(sums, NT_TABLE_PROCESS, &process);
}

/* ---- rows ---- */

static int put_session(struct nt_sums *sums, const struct nt_row *row)
{
	struct nt_row changed = *row;

	nt_row_value(&changed, "bucket_ns")->integer = NT_SUMS_BUCKET_NS;
	return sums->sink.put(sums->sink.arg, &changed);
}

/* Identities come when all costs are known. */
static int add_identity(struct nt_sums *sums, const struct nt_row *row)
{
	int error = nt_sums_finish_costs(sums);

	if (!error)
		error = nt_sums_finish_charges(sums);
	if (error)
		return error;
	if (row->table == NT_TABLE_THREAD)
		return add_thread(sums, row);
	if (row->table == NT_TABLE_SOCKET)
		return is_named(&sums->sockets, row, "id") ? sums->sink.put(sums->sink.arg, row) : 0;
	return let_wait(sums, row);
}

int nt_sums_row(struct nt_sums *sums, const struct nt_row *row)
{
	sums->session_id = row->values[0].integer;
	switch (row->table) {
	case NT_TABLE_CPU_COST:
		return nt_sums_add_slice(sums, row);
	case NT_TABLE_SOCK_COST:
		return nt_sums_add_op(sums, row);
	case NT_TABLE_RX_COST:
		return nt_sums_add_charge(sums, row);
	case NT_TABLE_ELSEWHERE_COST:
		return nt_sums_add_elsewhere(sums, row);
	case NT_TABLE_THREAD:
	case NT_TABLE_SOCKET:
	case NT_TABLE_PROCESS:
	case NT_TABLE_CGROUP:
		return add_identity(sums, row);
	case NT_TABLE_PROC_COUNTER:
	case NT_TABLE_SELF_COST:
		return nt_sums_counter(sums, row);
	case NT_TABLE_SESSION:
		return put_session(sums, row);
	default:
		return sums->sink.put(sums->sink.arg, row);
	}
}

int nt_sums_finish(struct nt_sums *sums)
{
	int error = nt_sums_finish_costs(sums);

	if (!error)
		error = nt_sums_finish_charges(sums);
	if (!error)
		error = put_waiting(sums, NT_TABLE_PROCESS);
	if (!error)
		error = put_waiting(sums, NT_TABLE_CGROUP);
	if (!error)
		error = put_others(sums);
	if (!error)
		error = nt_sums_finish_elsewhere(sums);
	return error ? error : nt_sums_finish_counters(sums);
}

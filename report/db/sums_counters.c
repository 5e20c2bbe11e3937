// SPDX-License-Identifier: GPL-2.0-only
/*
 * sums_counters.c - the part of sums.h that keeps few of the counters' rows: of each its first and its last, and of
 * those of no single CPU the last of each bucket, where it is not as in the row before.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "report/db/sums_state.h"

#define MAX_COUNTERS 65536 /* no host has so many; the rows of more are put as they come */

#define MAX_KEY 1024

static const char *text_of(const struct nt_row *row, const char *column)
{
	const struct nt_value *value = nt_row_value(row, column);

	return value && value->type == NT_VALUE_TEXT ? value->text : "";
}

/* The counter's number; 0: out of memory. */
static uint32_t number_of(struct nt_sums *sums, const struct nt_row *row, bool *is_new)
{
	char key[MAX_KEY];

	snprintf(key, sizeof(key), "%d %lld %s%s\n%s", (int)row->table, (long long)nt_sums_integer(row, "cpu", -1),
		 text_of(row, "source"), text_of(row, "program"), text_of(row, "name"));
	return nt_texts_number(&sums->counter_keys, key, is_new);
}

/* The whole host's, or the recorder's own. */
static bool is_over_time(const struct nt_row *row)
{
	return row->table == NT_TABLE_SELF_COST ? !text_of(row, "program")[0] : nt_sums_integer(row, "cpu", -1) < 0;
}

static int64_t bucket_of(const struct nt_sums *sums, int64_t ts)
{
	/* A tape may claim any time. */
	return (int64_t)((uint64_t)ts - (uint64_t)sums->start_ts) / NT_SUMS_BUCKET_NS;
}

static struct nt_value *value_of(struct nt_sums_kept *kept, const char *column)
{
	const struct nt_table *table = nt_table(kept->table);

	return &kept->values[NT_FIRST(table->n_columns, i, !strcmp(table->columns[i].name, column))];
}

static const char *time_column(enum nt_table_id table)
{
	return table == NT_TABLE_SELF_COST ? "ts" : "ts_end";
}

/* Those of the recorder, and of a pressure: a row says something also if its value is the same. */
static bool belongs_to_others(const struct nt_sums_kept *kept)
{
	static const char pressure[] = "/proc/pressure/";
	const struct nt_table *table = nt_table(kept->table);
	const size_t source = NT_FIRST(table->n_columns, i, !strcmp(table->columns[i].name, "source"));

	return kept->table == NT_TABLE_SELF_COST || (kept->values[source].type == NT_VALUE_TEXT &&
						     !strncmp(kept->values[source].text, pressure, strlen(pressure)));
}

/* The row read last, if it says anything that the row put last does not. */
static int put_last(struct nt_sums *sums, struct nt_sums_counter *counter)
{
	const int64_t value = value_of(&counter->row, "value")->integer;

	if (counter->is_put || (counter->put == value && !belongs_to_others(&counter->row)))
		return 0;
	counter->put = value;
	counter->is_put = true;
	return nt_sums_put_kept(sums, &counter->row);
}

static int add_counter(struct nt_sums *sums, const struct nt_row *row)
{
	struct nt_sums_counter *counter;

	if (NT_ROOM(sums->counters, sums->counters_size, sums->counter_keys.n))
		return -ENOMEM;
	counter = &sums->counters[sums->counter_keys.n - 1];
	*counter = (struct nt_sums_counter){.is_put = true, .put = nt_sums_integer(row, "value", 0)};
	return nt_sums_keep(sums, &counter->row, row) ? -ENOMEM : sums->sink.put(sums->sink.arg, row);
}

/* Its texts are those of the row before. */
static void update(struct nt_sums_counter *counter, const struct nt_row *row)
{
	for (uint32_t i = 0; i < row->n; i++) {
		if (row->values[i].type == NT_VALUE_INTEGER)
			counter->row.values[i] = row->values[i];
	}
	counter->is_put = false;
}

int nt_sums_counter(struct nt_sums *sums, const struct nt_row *row)
{
	const int64_t ts = nt_sums_integer(row, time_column(row->table), 0);
	struct nt_sums_counter *counter;
	bool is_new;
	uint32_t number;
	int error = 0;

	if (sums->counter_keys.n >= MAX_COUNTERS)
		return sums->sink.put(sums->sink.arg, row);
	number = number_of(sums, row, &is_new);
	if (!number)
		return -ENOMEM;
	if (is_new)
		return add_counter(sums, row);
	counter = &sums->counters[number - 1];
	if (is_over_time(row) &&
	    bucket_of(sums, ts) != bucket_of(sums, value_of(&counter->row, time_column(row->table))->integer))
		error = put_last(sums, counter);
	update(counter, row);
	return error;
}

int nt_sums_finish_counters(struct nt_sums *sums)
{
	int error = 0;

	for (uint32_t i = 0; i < sums->counter_keys.n && !error; i++)
		error = put_last(sums, &sums->counters[i]);
	return error;
}

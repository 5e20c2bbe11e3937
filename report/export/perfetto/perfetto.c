// SPDX-License-Identifier: GPL-2.0-only
/*
 * perfetto.c - a session as a Perfetto trace. One pass over its rows; memory for the CPUs and for identities, not for
 * the length of the recording. Gives each row to the file that handles its table, and knows the selection. All of a
 * tape is read for it, as operations are drawn that overlap it: one may have begun at any time, and its record may be
 * the tape's last. state.h has the list of the others.
 */
#include "report/export/export.h"

#include <stdlib.h>
#include <string.h>

#include "report/db/scan.h"
#include "report/export/perfetto/state.h"
#include "report/util/array.h"

int nt_perfetto_nomem(struct nt_perfetto *trace)
{
	return nt_fail(trace->error, "out of memory.");
}

int nt_perfetto_disorder(struct nt_perfetto *trace, const char *table)
{
	return nt_fail(trace->error,
		       "rows of %s overlap or are not in order of time, which nettape-report did not write: import "
		       "the tape again, into a new database.",
		       table);
}

/* ---- what was asked for ---- */

/*
 * The state of a CPU. 0: *cpu is set; 1: it was not asked for; -1: an error, also for a number that Perfetto does not
 * take.
 */
static int find_cpu(struct nt_perfetto *trace, const struct nt_value *number, struct nt_perfetto_cpu **cpu)
{
	const int64_t n = nt_integer(number, -1);

	if (n >= 0 && n < NT_PERFETTO_MAX_CPUS && trace->cpus[n]) {
		*cpu = trace->cpus[n];
		return 0;
	}
	if (n >= 0 && n <= UINT32_MAX && !nt_selection_has_cpu(trace->selection, (uint32_t)n))
		return 1;
	if (n < 0 || n >= NT_PERFETTO_MAX_CPUS)
		return nt_fail(trace->error,
			       "there is a CPU %lld, and Perfetto takes none above %d: choose with --cpu.",
			       (long long)n, NT_PERFETTO_MAX_CPUS - 1);
	trace->cpus[n] = calloc(1, sizeof(*trace->cpus[n]));
	if (!trace->cpus[n])
		return nt_perfetto_nomem(trace);
	*cpu = trace->cpus[n];
	(*cpu)->number = (uint32_t)n;
	(*cpu)->sched.at_ts = (*cpu)->owners.at_ts = trace->from_ts;
	(*cpu)->owners.bucket = -1;
	(*cpu)->events.id = NT_SEQUENCE_EVENTS + (*cpu)->number;
	return 0;
}

bool nt_perfetto_clip(const struct nt_perfetto *trace, int64_t ts, int64_t dur, int64_t *begin, int64_t *end)
{
	if (ts < 0 || dur < 0 || __builtin_add_overflow(ts, dur, end))
		return false;
	*begin = ts < trace->from_ts ? trace->from_ts : ts;
	if (*end > trace->to_ts)
		*end = trace->to_ts;
	/* An event without duration at the end belongs to a session, but not to a stretch of it. */
	return *begin < *end ||
	       (*begin == *end && ts == *begin && (ts < trace->to_ts || trace->to_ts == trace->session->end_ts));
}

bool nt_perfetto_has(const struct nt_perfetto *trace, int64_t ts)
{
	const struct nt_session *session = trace->session;
	const bool is_early = trace->from_ts == session->start_ts && ts < session->start_ts;
	const bool is_late = trace->to_ts == session->end_ts && ts >= session->end_ts;

	if (is_early || is_late)
		return ts >= 0 && ts >= session->start_ts - NT_PERFETTO_NEAR_NS &&
		       ts <= session->end_ts + NT_PERFETTO_NEAR_NS;
	return ts >= trace->from_ts && ts < trace->to_ts;
}

static int set_window(struct nt_perfetto *trace)
{
	const struct nt_session *session = trace->session;
	const struct nt_window window =
		nt_selection_within(trace->selection, session->start_ts, session->end_ts, session->start_realtime_ns);

	trace->from_ts = window.from_ts;
	trace->to_ts = window.to_ts;
	if (trace->from_ts <= trace->to_ts && (trace->from_ts < trace->to_ts || session->start_ts == session->end_ts))
		return 0;
	return nt_fail(trace->error, "nothing of the recording lies between --from and --to: it is %.9g s long.",
		       (double)(session->end_ts - session->start_ts) / 1e9);
}

/* ---- groups of tracks ---- */

void nt_perfetto_group(struct nt_perfetto *trace, enum nt_perfetto_track group)
{
	static const char *const names[] = {
		[NT_TRACK_OF_OWNERS] = "Who had each CPU",
		[NT_TRACK_OF_SHARES] = "Network's share of each CPU",
		[NT_TRACK_OF_PACKETS] = "Packets",
		[NT_TRACK_OF_LOSSES] = "Lost by the recording",
		[NT_TRACK_OF_COUNTERS] = "Counters of the host",
		[NT_TRACK_OF_PAYERS] = "Who pays for net_rx",
		[NT_TRACK_OF_MISSING] = "Missing from the tape",
		[NT_TRACK_OF_WAITS] = "Softirqs that wait",
		[NT_TRACK_OF_DISKS] = "Block devices",
	};

	if (trace->described & 1u << group)
		return;
	trace->described |= 1u << group;
	nt_track(&trace->packets, group, 0, names[group], group);
}

uint64_t nt_cpu_track(struct nt_perfetto *trace, struct nt_perfetto_cpu *cpu, enum nt_perfetto_track track)
{
	static const struct {
		enum nt_perfetto_track track, group;
		const char *name; /* behind the CPU's */
		uint32_t rank; /* + the CPU; 0: a counter */
		const char *unit; /* of the counter; NULL: a number */
	} tracks[] = {
		{NT_TRACK_OWNER, NT_TRACK_OF_OWNERS, "", 1, NULL},
		{NT_TRACK_SHARE, NT_TRACK_OF_SHARES, "", 0, "%"},
		{NT_TRACK_SAMPLES, NT_TRACK_OF_PACKETS, "", 1, NULL},
		{NT_TRACK_LOST, NT_TRACK_OF_LOSSES, ": records", 0, NULL},
		{NT_TRACK_NO_THREAD, NT_TRACK_OF_PACKETS, ": operations of no known thread", NT_PERFETTO_MAX_CPUS + 1,
		 NULL},
	};
	const uint64_t uuid = track + cpu->number;
	char name[64];
	size_t i = 0;

	while (tracks[i].track != track)
		i++;
	if (cpu->described & 1u << i)
		return uuid;
	cpu->described |= 1u << i;
	nt_perfetto_group(trace, tracks[i].group);
	snprintf(name, sizeof(name), "CPU %u%s", cpu->number, tracks[i].name);
	if (tracks[i].rank)
		nt_track(&trace->packets, uuid, tracks[i].group, name, tracks[i].rank + cpu->number);
	else
		nt_counter_track(&trace->packets, uuid, tracks[i].group, name, tracks[i].unit);
	return uuid;
}

/* ---- rows ---- */

/* A reader, and where its columns are in the rows of its table. */
struct taker {
	struct nt_perfetto *trace;
	const struct nt_perfetto_reader *reader; /* NULL: the table is nobody's */
	uint32_t n;
	uint8_t at[NT_MAX_TAKEN], cpu;
	bool is_name;
};

/* False: the table has no such column. */
static bool find_column(const struct nt_table *table, const char *name, uint8_t *at)
{
	*at = (uint8_t)NT_FIRST(table->n_columns, i, !strcmp(table->columns[i].name, name));
	return *at < table->n_columns;
}

static bool find_columns(struct taker *taker, const struct nt_table *table)
{
	for (taker->n = 0; taker->reader->columns[taker->n]; taker->n++) {
		if (!find_column(table, taker->reader->columns[taker->n], &taker->at[taker->n]))
			return false;
	}
	return !taker->reader->take_of_cpu || find_column(table, "cpu", &taker->cpu);
}

/* Tables that this program does not have are nobody's. */
static void find_readers(struct taker takers[NT_TABLE_COUNT])
{
	static const struct nt_perfetto_reader *const lists[] = {
		nt_names_readers,  nt_sched_readers,	   nt_owners_readers, nt_ops_readers,	nt_marks_readers,
		nt_payers_readers, nt_stacks_name_readers, nt_stacks_readers, nt_disks_readers, nt_memory_readers};

	memset(takers, 0, NT_TABLE_COUNT * sizeof(*takers));
	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		const struct nt_table *table = nt_table((enum nt_table_id)id);

		for (size_t i = 0; i < NT_COUNT(lists); i++) {
			for (const struct nt_perfetto_reader *reader = lists[i]; reader->table; reader++) {
				if (strcmp(reader->table, table->name))
					continue;
				takers[id].reader = reader;
				takers[id].is_name = lists[i] == nt_names_readers || lists[i] == nt_stacks_name_readers;
				if (!find_columns(&takers[id], table))
					takers[id].reader = NULL;
			}
		}
	}
}

static uint32_t columns_of(const struct taker *taker)
{
	uint32_t columns = taker->reader->take_of_cpu ? 1u << taker->cpu : 0;

	for (uint32_t i = 0; i < taker->n; i++)
		columns |= 1u << taker->at[i];
	return columns;
}

/* Names are settled and told before the first row that is none. -1: what was asked for is not among them. */
static int write_head(struct nt_perfetto *trace)
{
	struct nt_names *names = &trace->names;

	if (!nt_names_settle(trace))
		return nt_fail(trace->error,
			       "there is no process %.100s: nettape-report query lists those in the table process.",
			       trace->selection->process);
	nt_head_write(trace);
	trace->has_head = true;
	for (size_t i = 0; i < names->n_threads; i++) {
		const struct nt_perfetto_thread *thread = names->threads[i];
		const struct nt_perfetto_process *process = nt_process_of(trace, thread->upid);
		const bool is_main = thread->tid == thread->tgid;

		if (thread->start_ts > trace->from_ts && thread->start_ts < trace->to_ts && thread->is_selected)
			nt_sched_life(trace, thread,
				      !is_main ? thread->tgid
				      : process && process->ppid > 0 && process->ppid < NT_TID_UNCOVERED
					      ? (uint32_t)process->ppid
					      : 0);
	}
	return 0;
}

static int take_row(void *arg, const struct nt_row *row)
{
	const struct taker *taker = arg;
	struct nt_perfetto *trace = taker->trace;
	const struct nt_value *values[NT_MAX_TAKEN];
	struct nt_perfetto_cpu *cpu = NULL;
	int result;

	if (!taker->is_name && !trace->has_head && write_head(trace))
		return -1;
	for (uint32_t i = 0; i < taker->n; i++)
		values[i] = &row->values[taker->at[i]];
	if (taker->reader->take)
		return taker->reader->take(trace, values);
	result = find_cpu(trace, &row->values[taker->cpu], &cpu);
	if (result)
		return result < 0 ? -1 : 0;
	return taker->reader->take_of_cpu(trace, cpu, values);
}

static int take_rows(struct nt_perfetto *trace, struct nt_db *db)
{
	const struct nt_scan_want want = {.names_first = true, .strict = true};
	struct nt_scan_reader readers[NT_TABLE_COUNT];
	struct taker takers[NT_TABLE_COUNT];
	size_t n = 0;

	find_readers(takers);
	for (int id = 0; id < NT_TABLE_COUNT; id++) {
		takers[id].trace = trace;
		if (takers[id].reader)
			readers[n++] = (struct nt_scan_reader){(enum nt_table_id)id, columns_of(&takers[id]), take_row,
							       &takers[id]};
	}
	return nt_scan_within(db, trace->session->id, &want, readers, n);
}

static int finish(struct nt_perfetto *trace)
{
	bool has_cpu = !trace->selection->n_cpus;

	if (!trace->has_head && write_head(trace))
		return -1;
	for (uint32_t cpu = 0; cpu < NT_PERFETTO_MAX_CPUS; cpu++) {
		if (trace->cpus[cpu]) {
			has_cpu = true;
			nt_sched_finish(trace, trace->cpus[cpu]);
			nt_owners_finish(trace, trace->cpus[cpu]);
		}
	}
	if (!has_cpu)
		return nt_fail(trace->error, "the recording has none of these CPUs: it had %lld.",
			       (long long)trace->session->cpus);
	if (nt_payers_finish(trace) || nt_marks_finish(trace))
		return -1;
	return nt_packets_finish(&trace->packets) ? nt_perfetto_nomem(trace) : 0;
}

/* ---- all of it ---- */

static void release_cpu(struct nt_perfetto_cpu *cpu)
{
	if (!cpu)
		return;
	nt_bundle_release(&cpu->sched.bundle);
	nt_sequence_release(&cpu->owners.lane);
	nt_sequence_release(&cpu->events);
	free(cpu);
}

static void release(struct nt_perfetto *trace)
{
	for (uint32_t cpu = 0; cpu < NT_PERFETTO_MAX_CPUS; cpu++)
		release_cpu(trace->cpus[cpu]);
	nt_sequence_release(&trace->marks);
	nt_disks_release(&trace->disks);
	nt_texts_release(&trace->mark_names);
	free(trace->mark_tracks);
	free(trace->missing);
	nt_names_release(&trace->names);
	nt_payers_release(&trace->payers);
	nt_stacks_release(&trace->stacks);
	nt_packets_release(&trace->packets);
	free(trace);
}

int nt_export_perfetto(struct nt_db *db, const struct nt_session *session, const struct nt_selection *selection,
		       FILE *out)
{
	struct nt_perfetto *trace = calloc(1, sizeof(*trace));
	int result;

	if (!trace)
		return nt_db_no_memory(db);
	trace->session = session;
	trace->selection = selection;
	trace->boot_uncertainty_ns = INT64_MAX;
	trace->marks.id = NT_SEQUENCE_MARKS;
	result = nt_packets_init(&trace->packets, out) ? nt_perfetto_nomem(trace) : set_window(trace);
	if (!result)
		result = take_rows(trace, db);
	if (!result)
		result = finish(trace);
	/* Else the rows could not be read, and db->error says so already. */
	if (result && trace->error[0])
		nt_db_refuse(db, "%s: %s", db->name, trace->error);
	release(trace);
	return result;
}
